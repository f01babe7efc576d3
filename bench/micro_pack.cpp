// SPDX-License-Identifier: BSD-3-Clause
// Time to write and to read items in the encoding of the wire, an element.

#include <benchmark/benchmark.h>
#include <pmix/sdk/component.h>

#include <cstdio>
#include <string>
#include <vector>

#include "framework/packer.hpp"

extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace {

using namespace muster;

const Bfrops& codec() {
    static const Bfrops* const instance = [] {
        void* made = nullptr;
        char reason[256];
        muster_component_bfrops_v41()->create(nullptr, &made, reason);
        return static_cast<const Bfrops*>(made);
    }();
    return *instance;
}

const WireFormat& format() {
    static const WireFormat plain{&codec(), BufferType::NonDescribed};
    return plain;
}

/// Attributes as a job's description has them, numbers and strings in turns.
Info make_infos(size_t n) {
    Info infos;
    for (size_t i = 0; i < n; ++i) {
        const std::string key = "pmix.key." + std::to_string(i);
        if (i % 2 == 0) {
            infos.add(key.c_str(), static_cast<uint32_t>(i * 77));
        } else {
            infos.add(key.c_str(), "some value of a string");
        }
    }
    return infos;
}

void per_element(benchmark::State& state, size_t n) {
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(n));
}

void pack_infos(benchmark::State& state) {
    const Info infos = make_infos(static_cast<size_t>(state.range(0)));
    for (auto _ : state) {
        Packer out(format());
        out.infos(infos);
        benchmark::DoNotOptimize(out.view().data());
    }
    per_element(state, infos.size());
}
BENCHMARK(pack_infos)->Arg(4)->Arg(10000);

void unpack_infos(benchmark::State& state) {
    const Info infos = make_infos(static_cast<size_t>(state.range(0)));
    Packer out(format());
    out.infos(infos);
    for (auto _ : state) {
        Unpacker in(format(), out.view());
        Info read;
        if (!in.infos(read)) state.SkipWithError("unreadable");
        benchmark::DoNotOptimize(read.data());
    }
    per_element(state, infos.size());
}
BENCHMARK(unpack_infos)->Arg(4)->Arg(10000);

void pack_kvals(benchmark::State& state) {
    const Info infos = make_infos(1000);
    for (auto _ : state) {
        Packer out(format());
        for (const pmix_info_t& info : infos) {
            out.kval(info.key, info.value);
        }
        benchmark::DoNotOptimize(out.view().data());
    }
    per_element(state, infos.size());
}
BENCHMARK(pack_kvals);

void unpack_kvals(benchmark::State& state) {
    const Info infos = make_infos(1000);
    Packer out(format());
    for (const pmix_info_t& info : infos) {
        out.kval(info.key, info.value);
    }
    for (auto _ : state) {
        Unpacker in(format(), out.view());
        std::string_view key;
        Value value;
        while (!in.at_end()) {
            if (!in.kval(key, value)) {
                state.SkipWithError("unreadable");
                break;
            }
        }
        benchmark::DoNotOptimize(key.data());
    }
    per_element(state, infos.size());
}
BENCHMARK(unpack_kvals);

void pack_numbers(benchmark::State& state) {
    std::vector<uint32_t> numbers(100000);
    for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<uint32_t>(i * 37);
    }
    for (auto _ : state) {
        Packer out(format());
        out.items(numbers.data(), numbers.size(), PMIX_UINT32);
        benchmark::DoNotOptimize(out.view().data());
    }
    per_element(state, numbers.size());
}
BENCHMARK(pack_numbers);

void unpack_numbers(benchmark::State& state) {
    const std::vector<uint32_t> numbers(100000, 70000);
    Packer out(format());
    out.items(numbers.data(), numbers.size(), PMIX_UINT32);
    for (auto _ : state) {
        Unpacker in(format(), out.view());
        void* values = nullptr;
        size_t n = 0;
        if (!in.items(&values, n, PMIX_UINT32)) state.SkipWithError("unreadable");
        benchmark::DoNotOptimize(values);
        data_free_elements(values, n, PMIX_UINT32);
    }
    per_element(state, numbers.size());
}
BENCHMARK(unpack_numbers);

}  // namespace
