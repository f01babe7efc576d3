// SPDX-License-Identifier: BSD-3-Clause
// Time to shorten and to read lists of node names and ranks, by their length: linear, whatever the form.

#include <benchmark/benchmark.h>

#include <string>

#include "framework/gds/job_map.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace {

using namespace muster;

std::string node_names(int64_t count) {
    std::string list;
    for (int64_t i = 0; i < count; ++i) {
        if (i != 0) list += ',';
        list += "node" + std::to_string(i) + ".cluster.org";
    }
    return list;
}

std::string rack_names(int64_t count) {
    std::string list;
    for (int64_t i = 0; i < count; ++i) {
        if (i != 0) list += ',';
        list += "rack" + std::to_string(i / 32) + "node" + std::to_string(i % 32);
    }
    return list;
}

std::string block_ranks(int64_t nodes, int64_t each) {
    std::string list;
    for (int64_t i = 0; i < nodes; ++i) {
        if (i != 0) list += ';';
        list += std::to_string(i * each) + '-' + std::to_string(i * each + each - 1);
    }
    return list;
}

std::string cyclic_ranks(int64_t nodes, int64_t each) {
    std::string list;
    for (int64_t i = 0; i < nodes; ++i) {
        if (i != 0) list += ';';
        for (int64_t k = 0; k < each; ++k)
            list += (k != 0 ? "," : "") + std::to_string(k * nodes + i);
    }
    return list;
}

void generate_regex(benchmark::State& state, std::string (*names)(int64_t)) {
    const std::string list = names(state.range(0));
    std::string out;
    for (auto _ : state) {
        out.clear();
        benchmark::DoNotOptimize(preg::shorten_names(list, out));
    }
    state.counters["bytes"] = static_cast<double>(out.size());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void generate_ppn(benchmark::State& state) {
    const std::string list = block_ranks(state.range(0), 8);
    std::string out;
    for (auto _ : state) {
        out.clear();
        benchmark::DoNotOptimize(preg::shorten_ranks(list, out));
    }
    state.counters["bytes"] = static_cast<double>(out.size());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void parse_regex(benchmark::State& state) {
    std::string regex;
    preg::shorten_names(node_names(state.range(0)), regex);
    size_t count = 0;
    const muster_preg_name_sink_t sink = {&count, [](void* data, const char*, size_t) -> pmix_status_t {
                                              ++*static_cast<size_t*>(data);
                                              return PMIX_SUCCESS;
                                          }};
    for (auto _ : state)
        benchmark::DoNotOptimize(preg::parse_names(regex, preg::kDefaultLimit, sink));
    state.SetItemsProcessed(static_cast<int64_t>(count));
}

/// From both maps to what can be asked, with 100 ranks a node in rounds.
void build_map(benchmark::State& state) {
    const std::string nodes = node_names(state.range(0));
    const std::string ranks = cyclic_ranks(state.range(0), 100);
    const auto view = [](const std::string& text) {
        return ByteView(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    };
    size_t memory = 0;
    for (auto _ : state) {
        JobMapBuilder builder;
        if (!builder.read_maps({}, view(nodes), view(ranks))) state.SkipWithError("the maps were refused");
        const JobMap map = std::move(builder).build();
        memory = map.memory();
    }
    state.counters["KiB"] = static_cast<double>(memory) / 1024;
    state.SetItemsProcessed(state.iterations() * state.range(0) * 100);
}

BENCHMARK_CAPTURE(generate_regex, nodes, node_names)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generate_regex, racks, rack_names)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(generate_ppn)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(parse_regex)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(build_map)->RangeMultiplier(10)->Range(10, 10000)->Unit(benchmark::kMillisecond);

}  // namespace
