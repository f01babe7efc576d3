// SPDX-License-Identifier: BSD-3-Clause
// The first processes of a large job: what PMIx_Init takes in them when the host has registered a job of many
// nodes, with maps and with an array for each process. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so that the same binary runs on Muster and on OpenPMIx (bench/compare -p).
//
//   joining [-n RANKS] [-p RANKS_PER_NODE] [-c CLIENTS] [-r ROUNDS]
//
// CLIENTS (8) of the RANKS (100,000), all on this node, are started one after the other; each calls
// PMIx_Init, looks up the job's size, and finalizes. Prints one line a round, in microseconds: join_first is
// PMIx_Init of the first one, for which a server may have to prepare something; join, join_cpu and
// join_private_kb (memory) are medians.
#include <sys/wait.h>

#include "bench/host.hpp"

namespace {

using namespace bench;

struct Sizes {
    uint32_t ranks = 100000;
    uint32_t each = 100;
    uint32_t clients = 8;
    int rounds = 1;
};

struct Report {
    int64_t join = 0, cpu = 0;
    Memory memory;
};

int client(const Sizes& sizes, int to_host) {
    Report report;
    pmix_proc_t self;
    const int64_t cpu = processor_time(RUSAGE_SELF);
    const int64_t begin = microseconds();
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    report.join = microseconds() - begin;
    report.cpu = processor_time(RUSAGE_SELF) - cpu;
    report.memory = memory_in_use();
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* size = nullptr;
    check("PMIx_Get", PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &size));
    if (size->type != PMIX_UINT32 || size->data.uint32 != sizes.ranks)
        die("the job's size", PMIX_ERR_BAD_PARAM);
    release(size);
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    return write(to_host, &report, sizeof report) == static_cast<ssize_t>(sizeof report) ? 0 : 1;
}

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

bool round(const Sizes& sizes, int number) {
    const std::string nspace = "joining-" + std::to_string(getpid()) + "-" + std::to_string(number);
    Layout layout;
    for (uint32_t first = 0; first < sizes.ranks; first += sizes.each) {
        layout.nodes.push_back(first == 0 ? own_hostname() : "node" + std::to_string(first / sizes.each));
        layout.processes.push_back(std::min(sizes.each, sizes.ranks - first));
    }
    register_job(nspace.c_str(), layout, 0);
    const std::vector<std::string> words{
        "joining", "-n", std::to_string(sizes.ranks), "-p", std::to_string(sizes.each), "-w"};
    std::vector<int64_t> joins, times, memories;
    bool good = true;
    for (uint32_t rank = 0; rank < sizes.clients && good; ++rank) {
        const pmix_proc_t proc = proc_of(nspace.c_str(), rank);
        register_client(proc);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return false;
        std::vector<std::string> all = words;
        all.push_back(std::to_string(ends[1]));
        const pid_t child = start(proc, all, {ends[1]});
        close(ends[1]);
        Report report;
        good = read(ends[0], &report, sizeof report) == static_cast<ssize_t>(sizeof report);
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        joins.push_back(report.join);
        times.push_back(report.cpu);
        memories.push_back(report.memory.private_kb);
    }
    if (!good) {
        fprintf(stderr, "joining: a client failed\n");
    } else {
        printf("joining ranks=%u join_first=%lld join=%lld join_cpu=%lld join_private_kb=%lld\n", sizes.ranks,
               static_cast<long long>(joins.front()), static_cast<long long>(median(joins)),
               static_cast<long long>(median(times)), static_cast<long long>(median(memories)));
    }
    deregister_job(nspace.c_str());
    return good;
}

int host(const Sizes& sizes) {
    static pmix_server_module_t module;
    module.client_connected = on_client;
    module.client_finalized = on_client;
    check("PMIx_server_init", PMIx_server_init(&module, nullptr, 0));
    bool good = true;
    for (int i = 0; i < sizes.rounds && good; ++i)
        good = round(sizes, i);
    check("PMIx_server_finalize", PMIx_server_finalize());
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    program = "joining";
    Sizes sizes;
    int report = -1;
    for (int option; (option = getopt(argc, argv, "n:p:c:r:w:")) != -1;) {
        const auto number = optarg == nullptr ? 0 : static_cast<uint32_t>(strtoul(optarg, nullptr, 10));
        switch (option) {
            case 'n':
                sizes.ranks = number;
                break;
            case 'p':
                sizes.each = number;
                break;
            case 'c':
                sizes.clients = number;
                break;
            case 'r':
                sizes.rounds = static_cast<int>(number);
                break;
            case 'w':
                report = static_cast<int>(number);  // of a host: where to write what was measured
                break;
            default:
                fprintf(stderr, "usage: joining [-n RANKS] [-p RANKS_PER_NODE] [-c CLIENTS] [-r ROUNDS]\n");
                return 2;
        }
    }
    if (sizes.ranks == 0 || sizes.each == 0 || sizes.clients == 0 ||
        sizes.clients > std::min(sizes.each, sizes.ranks))
        return 2;
    return report >= 0 ? client(sizes, report) : host(sizes);
}
