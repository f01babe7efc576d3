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
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Sizes {
    uint32_t ranks = 100000;
    uint32_t each = 100;
    bool arrays = false;
    bool whole = false;  ///< nine keys for each process, and an array for each node
    int rounds = 1;
    uint32_t nodes() const { return (ranks + each - 1) / each; }
};

int64_t now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

[[noreturn]] void die(const char* what, pmix_status_t status) {
    fprintf(stderr, "registration: %s: %s\n", what, PMIx_Error_string(status));
    _exit(1);
}

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

class Waiter {
  public:
    static void done(pmix_status_t status, void* self) {
        auto* waiter = static_cast<Waiter*>(self);
        std::lock_guard lock(waiter->guard_);
        waiter->status_ = status;
        waiter->done_ = true;
        waiter->changed_.notify_one();
    }
    /// The end of an operation that the call has begun with `status`.
    pmix_status_t wait(pmix_status_t status) {
        if (status != PMIX_SUCCESS) return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
        std::unique_lock lock(guard_);
        changed_.wait(lock, [this] { return done_; });
        return status_;
    }

  private:
    std::mutex guard_;
    std::condition_variable changed_;
    bool done_ = false;
    pmix_status_t status_ = PMIX_SUCCESS;
};

std::string node_name(uint32_t node) {
    return "node" + std::to_string(node);
}

pmix_info_t info(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t made;
    memset(&made, 0, sizeof made);
    const pmix_status_t status = PMIx_Info_load(&made, key, value, type);
    if (status != PMIX_SUCCESS) die("PMIx_Info_load", status);
    return made;
}

pmix_info_t map(const char* key, const std::string& list, pmix_status_t (*shorten)(const char*, char**)) {
    char* text = nullptr;
    const pmix_status_t status = shorten(list.c_str(), &text);
    if (status != PMIX_SUCCESS) die(key, status);
    const pmix_info_t made = info(key, text, PMIX_REGEX);
    free(text);
    return made;
}

/// An array of infos as one info; the infos are destructed.
pmix_info_t array_of(const char* key, pmix_info_t* facts, size_t count) {
    pmix_data_array_t array;
    array.type = PMIX_INFO;
    array.size = count;
    array.array = facts;
    const pmix_info_t made = info(key, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < count; ++i)
        PMIx_Value_destruct(&facts[i].value);
    return made;
}

pmix_info_t process(const Sizes& sizes, uint32_t rank) {
    const uint32_t node = rank / sizes.each;
    const auto local = static_cast<uint16_t>(rank % sizes.each);
    pmix_info_t facts[9];
    size_t count = 0;
    facts[count++] = info(PMIX_RANK, &rank, PMIX_PROC_RANK);
    facts[count++] = info(PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    facts[count++] = info(PMIX_NODE_RANK, &local, PMIX_UINT16);
    facts[count++] = info(PMIX_NODEID, &node, PMIX_UINT32);
    facts[count++] = info(PMIX_HOSTNAME, node_name(node).c_str(), PMIX_STRING);
    if (sizes.whole) {
        const uint32_t zero = 0;
        facts[count++] = info(PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
        facts[count++] = info(PMIX_APPNUM, &zero, PMIX_UINT32);
        facts[count++] = info(PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
        facts[count++] = info(PMIX_REINCARNATION, &zero, PMIX_UINT32);
    }
    return array_of(PMIX_PROC_INFO_ARRAY, facts, count);
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
        all.push_back(process(sizes, rank));
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
        const int64_t begin = now();
        const pmix_status_t status = PMIx_Resolve_nodes(nspace, &nodes);
        times.push_back(now() - begin);
        if (status != PMIX_SUCCESS) die("PMIx_Resolve_nodes", status);
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
    const int64_t begin = now();
    Waiter registered;
    const pmix_status_t status = registered.wait(
        PMIx_server_register_nspace(nspace.c_str(), 0, all.data(), all.size(), Waiter::done, &registered));
    const int64_t end = now();
    if (status != PMIX_SUCCESS) die("PMIx_server_register_nspace", status);
    const long left = resident_kb() - memory, peak = peak_kb() - memory;
    const int64_t asked = now();
    const uint32_t found = find_some(sizes, nspace.c_str());
    printf("registration ranks=%u register=%lld resident_kb=%ld peak_kb=%ld get_1000=%lld found=%u\n",
           sizes.ranks, static_cast<long long>(end - begin), left, peak,
           static_cast<long long>(now() - asked), found);
    resolve(nspace.c_str());
    Waiter gone;
    PMIx_server_deregister_nspace(nspace.c_str(), Waiter::done, &gone);
    gone.wait(PMIX_SUCCESS);
    for (pmix_info_t& entry : all)
        PMIx_Value_destruct(&entry.value);
}

}  // namespace

int main(int argc, char** argv) {
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
    pmix_info_t directive = info(PMIX_SERVER_SHARE_TOPOLOGY, &share, PMIX_BOOL);
    const pmix_status_t status = PMIx_server_init(&module, &directive, share ? 1 : 0);
    if (status != PMIX_SUCCESS) die("PMIx_server_init", status);
    for (int i = 0; i < sizes.rounds; ++i)
        round(sizes, i);
    PMIx_server_finalize();
    return 0;
}
