// SPDX-License-Identifier: BSD-3-Clause
// Time of the store's operations: look-ups of posted, job-level and derived values, posting, registering
// large jobs, and the reply that a client gets.

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <pmix/sdk/component.h>

#include <memory>
#include <string>

#include "framework/gds.hpp"

extern "C" const muster_component_t* muster_component_gds_hash(void);
extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace {

using namespace muster;

struct DestroyStore {
    void operator()(Gds* store) const { muster_component_gds_hash()->destroy(store); }
};
using Store = std::unique_ptr<Gds, DestroyStore>;

Store make_store() {
    void* made = nullptr;
    char reason[256];
    muster_component_gds_hash()->create(nullptr, &made, reason);
    Store store(static_cast<Gds*>(made));
    store->set_context({"node0", {}, 0, {}, {}});
    return store;
}

const Bfrops& codec() {
    static const Bfrops* const instance = [] {
        void* made = nullptr;
        char reason[256];
        muster_component_bfrops_v41()->create(nullptr, &made, reason);
        return static_cast<const Bfrops*>(made);
    }();
    return *instance;
}

/// Maps of `ranks` processes, 100 a node.
Info maps(int64_t ranks) {
    std::string nodes, procs;
    for (int64_t node = 0; node * 100 < ranks; ++node) {
        nodes += (node != 0 ? ",node" : "node") + std::to_string(node);
        procs += (node != 0 ? ";" : "") + std::to_string(node * 100) + "-" + std::to_string(node * 100 + 99);
    }
    Info info;
    info.add(PMIX_JOB_SIZE, static_cast<uint32_t>(ranks));
    info.add(PMIX_NODE_MAP, nodes.c_str());
    info.add(PMIX_PROC_MAP, procs.c_str());
    return info;
}

/// The same with an array for each process, as hosts give them.
Info arrays(int64_t ranks) {
    Info info = maps(ranks);
    for (int64_t i = 0; i < ranks; ++i) {
        const auto rank = static_cast<pmix_rank_t>(i);
        Info proc;
        proc.add(PMIX_RANK, Value::rank(rank));
        proc.add(PMIX_LOCAL_RANK, static_cast<uint16_t>(rank % 100));
        proc.add(PMIX_NODE_RANK, static_cast<uint16_t>(rank % 100));
        proc.add(PMIX_NODEID, uint32_t{rank / 100});
        proc.add(PMIX_APPNUM, uint32_t{0});
        proc.add(PMIX_GLOBAL_RANK, Value::rank(rank));
        proc.add(PMIX_APP_RANK, Value::rank(rank));
        proc.add(PMIX_HOSTNAME, ("node" + std::to_string(rank / 100)).c_str());
        info.add(PMIX_PROC_INFO_ARRAY, std::move(proc).to_value());
    }
    return info;
}

void look_up(benchmark::State& state, const char* key, bool job_level) {
    static const Store store = [] {
        Store made = make_store();
        [[maybe_unused]] const Result<void> registered = made->register_job("job", 100, maps(100000));
        for (pmix_rank_t rank = 0; rank < 100000; ++rank) {
            made->post(make_proc("job", rank), PMIX_GLOBAL, "app.key", *Value::from(uint32_t{rank}).get());
        }
        return made;
    }();
    uint32_t seed = 1;
    Lookup lookup;
    lookup.nspace = "job";
    lookup.key = key;
    for (auto _ : state) {
        seed = seed * 1664525u + 1013904223u;
        lookup.rank = job_level ? PMIX_RANK_WILDCARD : seed % 100000;
        uint64_t got = 0;
        const pmix_status_t status =
            store->find(lookup, [&](const Found& found) { got += found.value.data.uint64; });
        if (status != PMIX_SUCCESS) state.SkipWithError("the key is not there");
        benchmark::DoNotOptimize(got);
    }
}

void post(benchmark::State& state) {
    const Store store = make_store();
    uint32_t n = 0;
    for (auto _ : state) {
        const uint32_t rank = n++ % 10000;
        store->post(make_proc("job", rank), PMIX_GLOBAL, "app.key", *Value::from(n).get());
    }
}

void register_job(benchmark::State& state, Info (*make)(int64_t)) {
    const Info info = make(state.range(0));
    size_t kept = 0;
    for (auto _ : state) {
        const size_t before = mallinfo2().uordblks;
        const Store store = make_store();
        if (!store->register_job("job", 100, info)) state.SkipWithError("the job was refused");
        kept = mallinfo2().uordblks - before;
    }
    state.counters["KiB"] = static_cast<double>(kept) / 1024;
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void reply(benchmark::State& state, bool compact) {
    const Store store = make_store();
    if (!store->register_job("job", 100, maps(state.range(0)))) state.SkipWithError("the job was refused");
    size_t size = 0;
    for (auto _ : state) {
        Packer packer({&codec(), BufferType::NonDescribed});
        if (store->pack_job("job", packer, compact) != PMIX_SUCCESS) state.SkipWithError("no reply");
        size = packer.length();
    }
    state.counters["bytes"] = static_cast<double>(size);
}

BENCHMARK_CAPTURE(look_up, posted, "app.key", false)->ThreadRange(1, 4);
BENCHMARK_CAPTURE(look_up, local_rank, PMIX_LOCAL_RANK, false)->ThreadRange(1, 4);
BENCHMARK_CAPTURE(look_up, hostname, PMIX_HOSTNAME, false);
BENCHMARK_CAPTURE(look_up, job_size, PMIX_JOB_SIZE, true);
BENCHMARK(post);
BENCHMARK_CAPTURE(register_job, maps, maps)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(register_job, arrays, arrays)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reply, for_openpmix, false)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reply, compact, true)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
