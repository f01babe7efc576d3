// SPDX-License-Identifier: BSD-3-Clause
// What one process does alone, many times: getting what it has, putting, packing. Public API only, and only
// functions that every libpmix.so.2 since 4.2 has: run it on another library with LD_LIBRARY_PATH to compare.
#include <benchmark/benchmark.h>
#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <string>

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

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    // Started by no server it is told so, and can do all that follows.
    const pmix_status_t started = PMIx_Init(&self, nullptr, 0);
    if (started != PMIX_ERR_UNREACH) check("init", started);
    benchmark::RunSpecifiedBenchmarks();
    check("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}
