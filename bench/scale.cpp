// SPDX-License-Identifier: BSD-3-Clause
// A job that is larger than the machine: one real node of it, with a real server and one real process, and
// all other nodes simulated by the bytes that their servers would send (docs/explanation/scale.md has the
// model). On this build's library only, since the bytes are made with its encoder.
//
//   scale [-n NODES] [-p RANKS_PER_NODE] [-b BYTES] [-d]
//
// The job has 1 + (NODES - 1) * RANKS_PER_NODE ranks (10000 nodes of 100) that post BYTES bytes (64) each.
// Measured: its registration by maps, look-ups by the server, PMIx_Init of the process, the fence over the
// whole job with the data of all, gets of random ranks after it; the memory of server and process after each
// step. With -d the fence collects nothing: the servers of all other nodes have called it at the same moment,
// and each asks this one for the data of its process, by direct modex, before the fence ends. Prints one line
// a step.
#include <malloc.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>

#include <pmix/sdk/component.h>
#include "bench/host.hpp"

#include "framework/bfrops.hpp"
#include "framework/packer.hpp"

extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace {

using namespace bench;

constexpr int kGets = 2000;

struct Sizes {
    uint32_t nodes = 10000;
    uint32_t each = 100;
    size_t bytes = 64;
    bool direct = false;
    uint32_t ranks() const { return 1 + (nodes - 1) * each; }
};

pmix_rank_t random_rank(uint32_t& state, uint32_t end) {
    state = state * 1664525 + 1013904223;
    return static_cast<pmix_rank_t>((uint64_t{state} * end) >> 32);
}

double get_ns(const char* nspace, const char* key, uint32_t ranks, int count) {
    uint32_t state = 1;
    const int64_t begin = nanoseconds();
    for (int i = 0; i < count; ++i) {
        const pmix_proc_t proc = proc_of(nspace, random_rank(state, ranks));
        pmix_value_t* got = nullptr;
        check(key, PMIx_Get(&proc, key, nullptr, 0, &got));
        release(got);
    }
    return static_cast<double>(nanoseconds() - begin) / count;
}

// --- the process ---

int client(const Sizes& sizes) {
    pmix_proc_t self;
    const int64_t cpu = processor_time(RUSAGE_SELF);
    int64_t begin = nanoseconds();
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    const int64_t init = nanoseconds() - begin;
    printf("scale step=init us=%.1f cpu_us=%lld private_kb=%lld\n", static_cast<double>(init) / 1000,
           static_cast<long long>(processor_time(RUSAGE_SELF) - cpu),
           static_cast<long long>(memory_in_use().private_kb));
    printf("scale step=client_look_up ns=%.0f\n", get_ns(self.nspace, PMIX_NODEID, sizes.ranks(), kGets));

    std::string data(sizes.bytes, 'x');
    pmix_value_t value = bytes_value(data);
    check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "bench.data", &value));
    check("PMIx_Commit", PMIx_Commit());
    const pmix_info_t collect = flag(PMIX_COLLECT_DATA, !sizes.direct);
    const pmix_proc_t all = proc_of(self.nspace, PMIX_RANK_WILDCARD);
    begin = nanoseconds();
    check("PMIx_Fence", PMIx_Fence(&all, 1, &collect, 1));
    const int64_t fence = nanoseconds() - begin;
    printf("scale step=fence ms=%.1f ns_per_rank=%.1f client_private_kb=%lld\n",
           static_cast<double>(fence) / 1e6, static_cast<double>(fence) / sizes.ranks(),
           static_cast<long long>(memory_in_use().private_kb));
    if (sizes.direct) {
        check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
        return 0;
    }
    const double first = get_ns(self.nspace, "bench.data", sizes.ranks(), kGets);
    const double again = get_ns(self.nspace, "bench.data", sizes.ranks(), kGets);
    printf("scale step=get first_ns=%.0f again_ns=%.0f client_private_kb=%lld\n", first, again,
           static_cast<long long>(memory_in_use().private_kb));
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

// --- the host ---

/// The contributions of the other nodes' servers to the fence.
std::vector<uint8_t> others;

void append(std::vector<uint8_t>& to, muster::ByteView bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// As docs/reference/wire.md describes the data of a fence: for each server an envelope, in it a process and
/// its values each.
void simulate_others(const char* nspace, const Sizes& sizes, const muster::Bfrops* bfrops) {
    using muster::Packer;
    const muster::WireFormat format{bfrops, muster::BufferType::NonDescribed};
    std::string data(sizes.bytes, 'x');
    const pmix_value_t value = bytes_value(data);
    pmix_rank_t rank = 1;
    for (uint32_t node = 1; node < sizes.nodes; ++node) {
        Packer body(format);
        body.byte(1);
        for (uint32_t i = 0; i < sizes.each; ++i, ++rank) {
            Packer object(format);
            object.proc(proc_of(nspace, rank));
            object.kval("bench.data", value);
            body.bytes(object.view());
        }
        Packer envelope(format);
        envelope.boolean(false);
        envelope.bytes(body.view());
        Packer out(format);
        out.bytes(envelope.view());
        append(others, out.view());
    }
}

/// The requests of the other servers, all at once.
struct Direct {
    uint32_t asked = 0;
    std::atomic<uint32_t> answered = 0, failed = 0;
    int64_t begin = 0;
    std::atomic<int64_t> end = 0;
} direct;

void on_direct(pmix_status_t status, char*, size_t size, void*) {
    if (status != PMIX_SUCCESS || size == 0) ++direct.failed;
    if (++direct.answered == direct.asked) direct.end = nanoseconds();
}

void ask_for_all(const pmix_proc_t& proc) {
    direct.begin = nanoseconds();
    for (uint32_t i = 0; i < direct.asked; ++i)
        check("PMIx_server_dmodex_request", PMIx_server_dmodex_request(&proc, on_direct, nullptr));
}

pmix_status_t on_fence(const pmix_proc_t* procs, size_t, const pmix_info_t*, size_t, char* data, size_t size,
                       pmix_modex_cbfunc_t answer, void* context) {
    if (direct.asked > 0) ask_for_all(proc_of(procs[0].nspace, 0));
    auto* all = static_cast<char*>(malloc(size + others.size()));
    if (size > 0) memcpy(all, data, size);
    if (!others.empty()) memcpy(all + size, others.data(), others.size());
    free(data);
    answer(PMIX_SUCCESS, all, size + others.size(), context, free, all);
    return PMIX_SUCCESS;
}

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

void register_by_maps(const char* nspace, const Sizes& sizes) {
    std::string names, ranks;
    pmix_rank_t rank = 0;
    for (uint32_t node = 0; node < sizes.nodes; ++node) {
        const uint32_t count = node == 0 ? 1 : sizes.each;
        names += (node == 0 ? "" : ",") + std::string("node") + std::to_string(node);
        ranks += (node == 0 ? "" : ";") + std::to_string(rank) +
                 (count > 1 ? "-" + std::to_string(rank + count - 1) : std::string());
        rank += count;
    }
    char *nodes = nullptr, *procs = nullptr;
    int64_t begin = nanoseconds();
    check("PMIx_generate_regex", PMIx_generate_regex(names.c_str(), &nodes));
    check("PMIx_generate_ppn", PMIx_generate_ppn(ranks.c_str(), &procs));
    printf("scale step=regex ms=%.2f\n", static_cast<double>(nanoseconds() - begin) / 1e6);
    List job;
    job.add(PMIX_JOB_SIZE, &rank, PMIX_UINT32);
    job.add(PMIX_UNIV_SIZE, &rank, PMIX_UINT32);
    job.add(PMIX_NODE_MAP, nodes, PMIX_REGEX);
    job.add(PMIX_PROC_MAP, procs, PMIX_REGEX);
    pmix_data_array_t& array = job.array();
    const Memory before = memory_in_use();
    begin = nanoseconds();
    Answer answer;
    answer.wait("PMIx_server_register_nspace",
                PMIx_server_register_nspace(nspace, 1, static_cast<pmix_info_t*>(array.array), array.size,
                                            Answer::arrived, &answer));
    const int64_t end = nanoseconds();
    const int64_t kept = memory_in_use().private_kb - before.private_kb;
    printf("scale step=register ranks=%u ms=%.2f ns_per_rank=%.1f server_kb=%lld bytes_per_rank=%.1f\n", rank,
           static_cast<double>(end - begin) / 1e6, static_cast<double>(end - begin) / rank,
           static_cast<long long>(kept), static_cast<double>(kept) * 1024 / rank);
    free(nodes);
    free(procs);
}

int host(const Sizes& sizes) {
    static pmix_server_module_t module;
    module.client_connected = on_client;
    module.client_finalized = on_client;
    module.fence_nb = on_fence;
    List directives;
    directives.add(PMIX_HOSTNAME, "node0", PMIX_STRING);
    pmix_data_array_t& array = directives.array();
    check("PMIx_server_init", PMIx_server_init(&module, static_cast<pmix_info_t*>(array.array), array.size));
    const std::string nspace = "scale-" + std::to_string(getpid());
    register_by_maps(nspace.c_str(), sizes);
    printf("scale step=server_look_up ns=%.0f\n",
           get_ns(nspace.c_str(), PMIX_LOCAL_RANK, sizes.ranks(), kGets));

    if (sizes.direct) {
        direct.asked = sizes.nodes - 1;
    } else {
        const muster_component_t* component = muster_component_bfrops_v41();
        void* encoder = nullptr;
        check("bfrops/v41", component->create(nullptr, &encoder, nullptr));
        simulate_others(nspace.c_str(), sizes, static_cast<const muster::Bfrops*>(encoder));
        component->destroy(encoder);
        printf("scale step=simulated bytes=%zu bytes_per_rank=%.1f\n", others.size(),
               static_cast<double>(others.size()) / sizes.ranks());
    }
    fflush(stdout);

    const pmix_proc_t proc = proc_of(nspace.c_str(), 0);
    register_client(proc);
    const Memory before = memory_in_use();
    const int64_t cpu = processor_time(RUSAGE_SELF);
    std::vector<std::string> words{"scale",
                                   "-n",
                                   std::to_string(sizes.nodes),
                                   "-p",
                                   std::to_string(sizes.each),
                                   "-b",
                                   std::to_string(sizes.bytes),
                                   "--client"};
    if (sizes.direct) words.emplace_back("-d");
    int status = 0;
    waitpid(start(proc, words, {}), &status, 0);
    if (sizes.direct) {
        printf("scale step=direct requests=%u answered=%u failed=%u ms=%.1f us_per_request=%.2f\n",
               direct.asked, direct.answered.load(), direct.failed.load(),
               static_cast<double>(direct.end - direct.begin) / 1e6,
               static_cast<double>(direct.end - direct.begin) / 1e3 / direct.asked);
    }
    malloc_trim(0);
    const int64_t kept = memory_in_use().private_kb - before.private_kb;
    printf(
        "scale step=server_after_fence server_kb=%lld bytes_per_rank=%.1f cpu_ms=%.1f cpu_ns_per_rank=%.1f\n",
        static_cast<long long>(kept), static_cast<double>(kept) * 1024 / sizes.ranks(),
        static_cast<double>(processor_time(RUSAGE_SELF) - cpu) / 1000,
        static_cast<double>(processor_time(RUSAGE_SELF) - cpu) * 1000 / sizes.ranks());
    deregister_job(nspace.c_str());
    check("PMIx_server_finalize", PMIx_server_finalize());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    program = "scale";
    Sizes sizes;
    bool is_client = false;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--client") {
            is_client = true;
            continue;
        }
        if (option == "-d") {
            sizes.direct = true;
            continue;
        }
        const long number = i + 1 < argc ? strtol(argv[++i], nullptr, 10) : 0;
        if (option == "-n" && number > 1) {
            sizes.nodes = static_cast<uint32_t>(number);
        } else if (option == "-p" && number > 0) {
            sizes.each = static_cast<uint32_t>(number);
        } else if (option == "-b" && number > 0) {
            sizes.bytes = static_cast<size_t>(number);
        } else {
            fprintf(stderr, "usage: scale [-n NODES] [-p RANKS_PER_NODE] [-b BYTES] [-d]\n");
            return 2;
        }
    }
    const int result = is_client ? client(sizes) : host(sizes);
    fflush(stdout);
    return result;
}
