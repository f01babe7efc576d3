// SPDX-License-Identifier: BSD-3-Clause
// Registration of a large job by its host: time of PMIx_server_register_nspace, the memory that it leaves in
// use, and the time to find single facts after it. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/compare -p).
//
//   registration [-n RANKS] [-p RANKS_PER_NODE] [-a | -k] [-r ROUNDS]
//
// The job is described by a node map and a process map; with -a besides by an array for each process (rank,
// local rank, node rank, node id, host name), as launchers do; with -k by arrays of nine keys for each
// process and an array for each node, as PRRTE and Slurm do. Prints one line a round; times in microseconds,
// memory in kilobytes (peak_kb: how far the call itself went beyond what the host's description takes).
#include <iterator>

#include "bench/host.hpp"

namespace {

using namespace bench;

struct Sizes {
    uint32_t ranks = 100000;
    uint32_t each = 100;
    bool arrays = false;
    bool whole = false;  ///< nine keys for each process, and an array for each node
    int rounds = 1;
    uint32_t nodes() const { return (ranks + each - 1) / each; }
};

long resident_kb() {
    long size = 0, resident = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == nullptr || fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (file != nullptr) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/// The peak of the resident memory since start_peak().
long peak_kb() {
    long peak = 0;
    FILE* file = fopen("/proc/self/status", "r");
    char line[256];
    while (file != nullptr && fgets(line, sizeof line, file) != nullptr)
        sscanf(line, "VmHWM: %ld", &peak);
    if (file != nullptr) fclose(file);
    return peak;
}

void start_peak() {
    FILE* file = fopen("/proc/self/clear_refs", "w");
    if (file == nullptr) return;
    fputs("5", file);
    fclose(file);
}

std::string node_name(uint32_t node) {
    return "node" + std::to_string(node);
}

pmix_info_t map(const char* key, const std::string& list, pmix_status_t (*shorten)(const char*, char**)) {
    char* text = nullptr;
    check(key, shorten(list.c_str(), &text));
    const pmix_info_t made = info(key, text, PMIX_REGEX);
    free(text);
    return made;
}

pmix_info_t node_of(const Sizes& sizes, uint32_t node) {
    const uint32_t first = node * sizes.each, last = std::min(first + sizes.each, sizes.ranks) - 1;
    const uint32_t size = last - first + 1;
    std::string peers;
    for (uint32_t rank = first; rank <= last; ++rank)
        peers += (rank == first ? "" : ",") + std::to_string(rank);
    pmix_info_t facts[5];
    facts[0] = info(PMIX_HOSTNAME, node_name(node).c_str(), PMIX_STRING);
    facts[1] = info(PMIX_NODEID, &node, PMIX_UINT32);
    facts[2] = info(PMIX_LOCAL_SIZE, &size, PMIX_UINT32);
    facts[3] = info(PMIX_LOCALLDR, &first, PMIX_PROC_RANK);
    facts[4] = info(PMIX_LOCAL_PEERS, peers.c_str(), PMIX_STRING);
    return array_of(PMIX_NODE_INFO_ARRAY, facts, std::size(facts));
}

std::vector<pmix_info_t> describe(const Sizes& sizes) {
    std::string names, ranks;
    for (uint32_t node = 0; node < sizes.nodes(); ++node) {
        names += (node == 0 ? "" : ",") + node_name(node);
        const uint32_t first = node * sizes.each, last = std::min(first + sizes.each, sizes.ranks) - 1;
        ranks += (node == 0 ? "" : ";") + std::to_string(first) + "-" + std::to_string(last);
    }
    std::vector<pmix_info_t> all;
    all.push_back(map(PMIX_NODE_MAP, names, PMIx_generate_regex));
    all.push_back(map(PMIX_PROC_MAP, ranks, PMIx_generate_ppn));
    all.push_back(info(PMIX_JOB_SIZE, &sizes.ranks, PMIX_UINT32));
    all.push_back(info(PMIX_UNIV_SIZE, &sizes.ranks, PMIX_UINT32));
    all.push_back(info(PMIX_MAX_PROCS, &sizes.ranks, PMIX_UINT32));
    for (uint32_t node = 0; sizes.whole && node < sizes.nodes(); ++node)
        all.push_back(node_of(sizes, node));
    for (uint32_t rank = 0; (sizes.arrays || sizes.whole) && rank < sizes.ranks; ++rank)
        all.push_back(process_array(rank, static_cast<uint16_t>(rank % sizes.each), rank / sizes.each,
                                    node_name(rank / sizes.each).c_str(), sizes.whole));
    return all;
}

/// A fact of each of some ranks over the whole job; how many there were.
uint32_t find_some(const Sizes& sizes, const char* nspace) {
    constexpr uint32_t kWanted = 1000;
    uint32_t found = 0;
    for (uint32_t i = 0; i < kWanted; ++i) {
        pmix_proc_t proc;
        memset(&proc, 0, sizeof proc);
        snprintf(proc.nspace, sizeof proc.nspace, "%s", nspace);
        proc.rank = static_cast<pmix_rank_t>(uint64_t{i} * sizes.ranks / kWanted);
        pmix_info_t optional = info(PMIX_OPTIONAL, nullptr, PMIX_BOOL);
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&proc, PMIX_LOCAL_RANK, &optional, 1, &value) == PMIX_SUCCESS) {
            ++found;
            PMIx_Value_destruct(value);
            free(value);
        }
    }
    return found;
}

/// PMIx_Resolve_nodes of the job: the first time, and the median of some further ones.
void resolve(const char* nspace) {
    std::vector<int64_t> times;
    for (int i = 0; i < 21; ++i) {
        char* nodes = nullptr;
        const int64_t begin = microseconds();
        const pmix_status_t status = PMIx_Resolve_nodes(nspace, &nodes);
        times.push_back(microseconds() - begin);
        check("PMIx_Resolve_nodes", status);
        free(nodes);
    }
    const int64_t first = times.front();
    std::sort(times.begin() + 1, times.end());
    printf("resolve=%lld resolve_again=%lld\n", static_cast<long long>(first),
           static_cast<long long>(times[1 + times.size() / 2]));
}

void round(const Sizes& sizes, int number) {
    const std::string nspace = "job" + std::to_string(number);
    std::vector<pmix_info_t> all = describe(sizes);
    const long memory = resident_kb();
    start_peak();
    const int64_t begin = microseconds();
    Answer registered;
    registered.wait(
        "PMIx_server_register_nspace",
        PMIx_server_register_nspace(nspace.c_str(), 0, all.data(), all.size(), Answer::arrived, &registered));
    const int64_t end = microseconds();
    const long left = resident_kb() - memory, peak = peak_kb() - memory;
    const int64_t asked = microseconds();
    const uint32_t found = find_some(sizes, nspace.c_str());
    printf("registration ranks=%u register=%lld resident_kb=%ld peak_kb=%ld get_1000=%lld found=%u\n",
           sizes.ranks, static_cast<long long>(end - begin), left, peak,
           static_cast<long long>(microseconds() - asked), found);
    resolve(nspace.c_str());
    deregister_job(nspace.c_str());
    for (pmix_info_t& entry : all)
        PMIx_Value_destruct(&entry.value);
}

}  // namespace

int main(int argc, char** argv) {
    program = "registration";
    Sizes sizes;
    for (int option; (option = getopt(argc, argv, "n:p:akr:")) != -1;) {
        switch (option) {
            case 'n':
                sizes.ranks = static_cast<uint32_t>(strtoul(optarg, nullptr, 10));
                break;
            case 'p':
                sizes.each = static_cast<uint32_t>(strtoul(optarg, nullptr, 10));
                break;
            case 'a':
                sizes.arrays = true;
                break;
            case 'k':
                sizes.whole = true;
                break;
            case 'r':
                sizes.rounds = atoi(optarg);
                break;
            default:
                fprintf(stderr, "usage: registration [-n RANKS] [-p RANKS_PER_NODE] [-a | -k] [-r ROUNDS]\n");
                return 2;
        }
    }
    if (sizes.ranks == 0 || sizes.each == 0) return 2;
    static pmix_server_module_t module;
    // Such hosts have the library give the topology to their processes, too.
    const bool share = sizes.whole;
    pmix_info_t directive = flag(PMIX_SERVER_SHARE_TOPOLOGY, share);
    check("PMIx_server_init", PMIx_server_init(&module, &directive, share ? 1 : 0));
    for (int i = 0; i < sizes.rounds; ++i)
        round(sizes, i);
    PMIx_server_finalize();
    return 0;
}
