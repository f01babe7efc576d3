// SPDX-License-Identifier: BSD-3-Clause
// The progress thread of a client, and no lost work without it. integration_thread_client does the work.
#include <gtest/gtest.h>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::Process;

void run_two(const std::string& behaviour, const std::vector<std::string>& more = {}) {
    Host host;
    const auto job = host.start_job(2);
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(host.start_program(job, rank, INTEGRATION_THREAD_CLIENT, {behaviour}, more));
    for (Process& process : processes) {
        const std::string said = process.line(60);
        EXPECT_EQ(process.wait(60), 0) << said;
    }
}

TEST(ClientThread, IsNotStartedForBlockingCalls) {
    run_two("blocking");
}

TEST(ClientThread, IsNotStartedForBlockingCallsThatWaitForTheServer) {
    run_two("blocking", {"PMIX_MCA_pmix_shared_barrier=0"});
}

TEST(ClientThread, WritesTheRestOfAPartialWrite) {
    run_two("large");
}

TEST(ClientThread, SendsACompleteValueWhileAnotherThreadReplacesIt) {
    run_two("anew");
}

TEST(ClientThread, RunsCallbacksWhileTheProgramComputes) {
    run_two("nonblocking");
}

TEST(ClientThread, DeliversEventsWhileTheProgramComputes) {
    run_two("handler");
}

TEST(ClientThread, ServesASecondBlockingCall) {
    run_two("drivers");
}

TEST(ClientThread, EndsWithOutstandingRequests) {
    run_two("outstanding");
}

TEST(ClientThread, MayBeStoppedBeforeItIsStarted) {
    run_two("stopped");
}

TEST(ClientThread, TakesOverWhenAWaitingThreadIsCancelled) {
    run_two("cancelled");
}

TEST(ClientThread, IsBoundByAnAttribute) {
    run_two("bound");
}

TEST(ClientThread, RunsUnboundWhenBindingFailsAndIsOptional) {
    run_two("unbound");
}

TEST(ClientThread, IsBoundByParameters) {
    run_two("parameters");
}

}  // namespace
