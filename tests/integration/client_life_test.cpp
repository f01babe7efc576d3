// SPDX-License-Identifier: BSD-3-Clause
// The life of a client: any sequence of init and finalize, progress driven by the process, every form of get,
// fences, threads. integration_core_client does the work.
#include <gtest/gtest.h>
#include <pmix.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::Process;

/// Runs one process per rank of a job with these words; all must succeed.
void run_job(Host& host, const Host::Job& job, const std::vector<std::string>& words, double seconds = 60) {
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(host.start_program(job, rank, INTEGRATION_CORE_CLIENT, words));
    for (Process& process : processes) {
        std::string said, last;
        const int status = process.wait(seconds);
        while (!(last = process.line(0)).empty())
            said += last + "\n";
        EXPECT_EQ(status, 0) << said;
    }
}

TEST(Init, IsReferenceCounted) {
    Host host;
    run_job(host, host.start_job(1), {"counted"});
    EXPECT_EQ(host.upcalls("connected").size(), 1U);
    EXPECT_EQ(host.upcalls("finalized").size(), 1U);
}

TEST(Init, CanBeRepeatedWithoutLeaks) {
    Host host;
    run_job(host, host.start_job(1), {"cycles", "100"});
    EXPECT_EQ(host.upcalls("finalized").size(), 100U);
}

TEST(Init, CanBeRepeatedWithExternalProgress) {
    Host host;
    run_job(host, host.start_job(1), {"cycles", "40", "external"});
    EXPECT_EQ(host.upcalls("finalized").size(), 40U);
}

TEST(Init, ForkedChildrenInitializeAgainWithTheSameIdentity) {
    Host host;
    run_job(host, host.start_job(1), {"forked"});
    EXPECT_EQ(host.upcalls("finalized").size(), 1U) << "only the process itself has finalized";
}

TEST(Init, CreatesASingletonWithoutAServer) {
    const pid_t child = fork();
    if (child == 0) {
        for (const char* name :
             {"PMIX_NAMESPACE", "PMIX_RANK", "PMIX_MUSTER_URI", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
              "PMIX_SERVER_URI3", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21"})
            unsetenv(name);
        execl(INTEGRATION_CORE_CLIENT, INTEGRATION_CORE_CLIENT, "singleton", nullptr);
        _exit(127);
    }
    Process process(child, -1, -1);
    EXPECT_EQ(process.wait(), 0);
}

TEST(Get, ReturnsNoValueWhenItFails) {
    Host host;
    run_job(host, host.start_job(1), {"outputs"});
}

TEST(Put, RefusesAValueWithANullPointer) {
    Host host;
    run_job(host, host.start_job(2), {"hollow"});
}

TEST(Finalize, FailsCallsOfOtherThreads) {
    Host host;
    auto job = host.start_job(2);
    job.nodes[0] = {0};  // the other one never calls
    run_job(host, job, {"inflight"});
}

TEST(Finalize, NotifiesTheServerAfterTheProgressThreadWasStopped) {
    Host host;
    run_job(host, host.start_job(1), {"stopped"});
    EXPECT_EQ(host.upcalls("finalized").size(), 1U);
}

TEST(ExternalProgress, DrivesAClientByDescriptorAndByBlockingCalls) {
    Host host;
    run_job(host, host.start_job(2), {"external", "2"});
}

TEST(ExternalProgress, DrivesAServerByPollingAlone) {
    pmix_info_t external;
    memset(&external, 0, sizeof external);
    bool yes = true;
    ASSERT_EQ(PMIx_Info_load(&external, PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL), PMIX_SUCCESS);
    Host host({}, {external});
    const auto job = host.start_job(2);  // blocking forms of the host's calls drive by themselves
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(host.start_program(job, rank, INTEGRATION_CORE_CLIENT, {"refresh"}));
    for (int i = 0; i < 2000 && host.upcalls("finalized").size() < 2; ++i)
        host.progress(0.01);
    // The answers to the finalize requests are still unsent.
    for (int i = 0; i < 100; ++i)
        host.progress(0.01);
    for (Process& process : processes)
        EXPECT_EQ(process.wait(), 0);
}

TEST(Get, SupportsEveryFormOfTheStandard) {
    covers("SRV-39", "SRV-19");
    Host host;
    run_job(host, host.start_job(2), {"gets", "2", "2"});
}

TEST(Get, KnowsNodesAndProcessesElsewhere) {
    Host host;
    host.answer_modex(PMIX_ERR_NOT_FOUND, "");
    run_job(host, host.start_job(2, 3), {"gets", "5", "2"});
}

TEST(Get, RefreshReturnsChangedData) {
    Host host;
    run_job(host, host.start_job(2), {"refresh"});
}

TEST(Commit, LargeCommitsArriveInOrder) {
    Host host;
    run_job(host, host.start_job(2), {"commits"});
}

TEST(Commit, ALargerCommitThanTheServerAcceptsFailsWithoutLosingData) {
    setenv("PMIX_MCA_server_base_max_payload", "64k", 1);
    {
        Host host;
        run_job(host, host.start_job(2), {"toolong"});
    }
    unsetenv("PMIX_MCA_server_base_max_payload");
}

TEST(Get, DistinguishesQualifiedValues) {
    Host host;
    run_job(host, host.start_job(2), {"qualified"});
}

TEST(Fence, SupportsSubsetsAndConcurrentFences) {
    covers("SRV-65");
    Host host;
    run_job(host, host.start_job(4), {"fences", "4"});
}

TEST(Threads, MayCallAllFunctionsConcurrently) {
    Host host;
    run_job(host, host.start_job(3), {"threads", "3"});
}

}  // namespace
