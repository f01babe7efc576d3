// SPDX-License-Identifier: BSD-3-Clause
// Local calls of one process, many times: getting, putting, packing. Public API only, and only functions that
// every libpmix.so.2 since 4.2 has: run it on another library with LD_LIBRARY_PATH to compare.
//
//   calls [--line] [GOOGLE BENCHMARK'S OPTIONS]
//
// With --line it prints one line, `calls NAME=NANOSECONDS ...`, as the other benchmarks do.
#include <benchmark/benchmark.h>
#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace {

pmix_proc_t self;

void check(const char* what, pmix_status_t status) {
    if (status == PMIX_SUCCESS) return;
    fprintf(stderr, "calls: %s: %s\n", what, PMIx_Error_string(status));
    exit(1);
}

/// A key that the process has put itself: found without anybody's help, on the caller's thread.
void get_own(benchmark::State& state) {
    pmix_value_t value = {};
    value.type = PMIX_UINT32;
    value.data.uint32 = 7;
    check("put", PMIx_Put(PMIX_GLOBAL, "bench.own", &value));
    for (auto _ : state) {
        pmix_value_t* found = nullptr;
        check("get", PMIx_Get(&self, "bench.own", nullptr, 0, &found));
        benchmark::DoNotOptimize(found);
        free(found);
    }
}
BENCHMARK(get_own);

/// A key of the job.
void get_job_size(benchmark::State& state) {
    pmix_proc_t job = self;
    job.rank = PMIX_RANK_WILDCARD;
    for (auto _ : state) {
        pmix_value_t* found = nullptr;
        check("get", PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &found));
        benchmark::DoNotOptimize(found);
        free(found);
    }
}
BENCHMARK(get_job_size);

/// A key that is not there, and that nobody is asked for.
void get_absent(benchmark::State& state) {
    pmix_info_t optional = {};
    snprintf(optional.key, sizeof optional.key, "%s", PMIX_OPTIONAL);
    optional.value.type = PMIX_BOOL;
    optional.value.data.flag = true;
    for (auto _ : state) {
        pmix_value_t* found = nullptr;
        benchmark::DoNotOptimize(PMIx_Get(&self, "bench.absent", &optional, 1, &found));
    }
}
BENCHMARK(get_absent);

void put(benchmark::State& state) {
    std::string text(static_cast<size_t>(state.range(0)), 'x');
    pmix_value_t value = {};
    value.type = PMIX_STRING;
    value.data.string = text.data();
    for (auto _ : state)
        check("put", PMIx_Put(PMIX_GLOBAL, "bench.put", &value));
}
BENCHMARK(put)->Arg(16)->Arg(4096);

/// A buffer of 64 numbers, and back.
void pack_numbers(benchmark::State& state) {
    uint32_t numbers[64];
    for (uint32_t i = 0; i < 64; ++i)
        numbers[i] = i * 2654435761U;
    for (auto _ : state) {
        pmix_data_buffer_t buffer = {};
        check("pack", PMIx_Data_pack(nullptr, &buffer, numbers, 64, PMIX_UINT32));
        uint32_t back[64];
        int32_t n = 64;
        check("unpack", PMIx_Data_unpack(nullptr, &buffer, back, &n, PMIX_UINT32));
        benchmark::DoNotOptimize(back);
        free(buffer.base_ptr);
    }
}
BENCHMARK(pack_numbers);

void pack_strings(benchmark::State& state) {
    char text[] = "an address of an endpoint, some forty characters";
    char* strings[16];
    for (char*& one : strings)
        one = text;
    for (auto _ : state) {
        pmix_data_buffer_t buffer = {};
        check("pack", PMIx_Data_pack(nullptr, &buffer, strings, 16, PMIX_STRING));
        char* back[16];
        int32_t n = 16;
        check("unpack", PMIx_Data_unpack(nullptr, &buffer, back, &n, PMIX_STRING));
        for (char* one : back)
            free(one);
        free(buffer.base_ptr);
    }
}
BENCHMARK(pack_strings);

/// Packs 16 infos of several types, as in a modex or an event.
void pack_infos(benchmark::State& state) {
    char text[] = "an address of an endpoint, some forty characters";
    char bytes[256] = {};
    pmix_info_t infos[16] = {};
    for (size_t i = 0; i < 16; ++i) {
        snprintf(infos[i].key, sizeof infos[i].key, "bench.info.%zu", i);
        pmix_value_t& value = infos[i].value;
        if (i % 4 == 0) {
            value.type = PMIX_STRING;
            value.data.string = text;
        } else if (i % 4 == 1) {
            value.type = PMIX_BYTE_OBJECT;
            value.data.bo = {bytes, sizeof bytes};
        } else if (i % 4 == 2) {
            value.type = PMIX_UINT32;
            value.data.uint32 = static_cast<uint32_t>(i);
        } else {
            value.type = PMIX_BOOL;
            value.data.flag = true;
        }
    }
    for (auto _ : state) {
        pmix_data_buffer_t buffer = {};
        check("pack", PMIx_Data_pack(nullptr, &buffer, infos, 16, PMIX_INFO));
        pmix_info_t back[16] = {};
        int32_t n = 16;
        check("unpack", PMIx_Data_unpack(nullptr, &buffer, back, &n, PMIX_INFO));
        for (pmix_info_t& one : back)
            PMIx_Value_destruct(&one.value);
        free(buffer.base_ptr);
    }
}
BENCHMARK(pack_infos);

/// 1 MiB of what configurations and logs look like.
const std::string& some_text() {
    static const std::string text = [] {
        constexpr const char* kWords[] = {"the",    "node",      "rank",     "PMIX_HOSTNAME",
                                          "value",  "127.0.0.1", "exchange", "of",
                                          "socket", "data",      "is",       "processor"};
        std::string all;
        for (uint64_t state = 7; all.size() < (1U << 20);) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            all += kWords[(state >> 33) % std::size(kWords)];
            all += ' ' + std::to_string((state >> 40) % 1000) + ' ';
        }
        all.resize(1U << 20);
        return all;
    }();
    return text;
}

void compress_text(benchmark::State& state) {
    const std::string& text = some_text();
    for (auto _ : state) {
        uint8_t* packed = nullptr;
        size_t size = 0;
        if (!PMIx_Data_compress(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &packed, &size)) {
            // OpenPMIx 4.2.2 does here.
            state.SkipWithError("PMIx_Data_compress refuses");
            break;
        }
        free(packed);
    }
}
BENCHMARK(compress_text);

void decompress_text(benchmark::State& state) {
    const std::string& text = some_text();
    uint8_t* packed = nullptr;
    size_t packed_size = 0;
    if (!PMIx_Data_compress(reinterpret_cast<const uint8_t*>(text.data()), text.size(), &packed,
                            &packed_size)) {
        state.SkipWithError("PMIx_Data_compress refuses");
    }
    for (auto _ : state) {
        uint8_t* plain = nullptr;
        size_t size = 0;
        if (packed == nullptr || !PMIx_Data_decompress(packed, packed_size, &plain, &size)) {
            state.SkipWithError("PMIx_Data_decompress refuses");
            break;
        }
        free(plain);
    }
    free(packed);
}
BENCHMARK(decompress_text);

/// One line of names and nanoseconds.
class Line : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override {
        printf("calls");
        return true;
    }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            // It ended with an error. The flag that says so has different names in the library's versions.
            if (run.real_accumulated_time == 0) continue;
            std::string name = run.benchmark_name();
            for (char& c : name)
                if (c == '/') c = '_';
            printf(" %s=%.1f", name.c_str(), run.GetAdjustedRealTime());
        }
    }
    void Finalize() override { printf("\n"); }
};

}  // namespace

int main(int argc, char** argv) {
    bool line = false;
    if (argc > 1 && strcmp(argv[1], "--line") == 0) {
        line = true;
        for (int i = 1; i < argc; ++i)
            argv[i] = argv[i + 1];
        --argc;
    }
    benchmark::Initialize(&argc, argv);
    // Started by no server it is told so, and can do all that follows.
    const pmix_status_t started = PMIx_Init(&self, nullptr, 0);
    if (started != PMIX_ERR_UNREACH) check("init", started);
    Line reporter;
    if (line)
        benchmark::RunSpecifiedBenchmarks(&reporter);
    else
        benchmark::RunSpecifiedBenchmarks();
    check("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}
