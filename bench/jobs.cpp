// SPDX-License-Identifier: BSD-3-Clause
// The jobs of an hour on one server, without the time between them: each is registered by arrays as PRRTE and
// Slurm do, gets the environment of its processes, is looked at, and goes. Public API only, and only
// functions that every libpmix.so.2 since 4.2 has.
//
//   jobs [-n JOBS] [-p RANKS]
//
// JOBS (60,000: 1,000 a minute) of RANKS (16) processes each. Prints the private memory of the server after a
// tenth of the jobs and after all of them, and microseconds a job.
#include "bench/host.hpp"

namespace {

using namespace bench;

struct Sizes {
    int jobs = 60000;
    uint32_t ranks = 16;
};

std::vector<pmix_info_t> describe(uint32_t ranks) {
    char *nodes = nullptr, *procs = nullptr;
    check("PMIx_generate_regex", PMIx_generate_regex(own_hostname().c_str(), &nodes));
    const std::string all = ranks > 1 ? "0-" + std::to_string(ranks - 1) : "0";
    check("PMIx_generate_ppn", PMIx_generate_ppn(all.c_str(), &procs));
    std::vector<pmix_info_t> job = {
        info(PMIX_JOB_SIZE, &ranks, PMIX_UINT32), info(PMIX_UNIV_SIZE, &ranks, PMIX_UINT32),
        info(PMIX_MAX_PROCS, &ranks, PMIX_UINT32), info(PMIX_NODE_MAP, nodes, PMIX_REGEX),
        info(PMIX_PROC_MAP, procs, PMIX_REGEX)};
    for (uint32_t rank = 0; rank < ranks; ++rank)
        job.push_back(process_array(rank, static_cast<uint16_t>(rank), 0, own_hostname().c_str(), true));
    free(nodes);
    free(procs);
    return job;
}

void live(const std::string& nspace, std::vector<pmix_info_t>& job, uint32_t ranks) {
    Answer registered;
    registered.wait("PMIx_server_register_nspace",
                    PMIx_server_register_nspace(nspace.c_str(), static_cast<int>(ranks), job.data(),
                                                job.size(), Answer::arrived, &registered));
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const pmix_proc_t proc = proc_of(nspace.c_str(), rank);
        register_client(proc);
        char** environment = nullptr;
        check("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &environment));
        for (char** variable = environment; variable != nullptr && *variable != nullptr; ++variable)
            free(*variable);
        free(environment);
    }
    const pmix_proc_t last = proc_of(nspace.c_str(), ranks - 1);
    pmix_value_t* found = nullptr;
    check("PMIx_Get", PMIx_Get(&last, PMIX_LOCAL_RANK, nullptr, 0, &found));
    release(found);
    deregister_job(nspace.c_str());
}

int run(const Sizes& sizes) {
    static pmix_server_module_t module;
    pmix_info_t share = flag(PMIX_SERVER_SHARE_TOPOLOGY);
    check("PMIx_server_init", PMIx_server_init(&module, &share, 1));
    std::vector<pmix_info_t> job = describe(sizes.ranks);
    int64_t early_kb = 0;
    const int64_t begin = nanoseconds();
    for (int i = 0; i < sizes.jobs; ++i) {
        live("job-" + std::to_string(i), job, sizes.ranks);
        if (i == sizes.jobs / 10) early_kb = memory_in_use().private_kb;
    }
    const int64_t took = nanoseconds() - begin;
    const int64_t late_kb = memory_in_use().private_kb;
    printf("jobs n=%d ranks=%u job_us=%.1f early_kb=%lld late_kb=%lld growth_kb=%lld\n", sizes.jobs,
           sizes.ranks, static_cast<double>(took) / 1000 / sizes.jobs, static_cast<long long>(early_kb),
           static_cast<long long>(late_kb), static_cast<long long>(late_kb - early_kb));
    for (pmix_info_t& one : job)
        PMIx_Value_destruct(&one.value);
    check("PMIx_server_finalize", PMIx_server_finalize());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    program = "jobs";
    Sizes sizes;
    for (int option; (option = getopt(argc, argv, "n:p:")) != -1;) {
        const long number = strtol(optarg != nullptr ? optarg : "", nullptr, 10);
        if (number <= 0) return 2;
        if (option == 'n') sizes.jobs = static_cast<int>(number);
        if (option == 'p') sizes.ranks = static_cast<uint32_t>(number);
    }
    return run(sizes);
}
