// SPDX-License-Identifier: BSD-3-Clause
// When a client has a progress thread, and that nothing is missed while it has none. The work is done by
// integration_thread_client.
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

TEST(ClientThread, IsNotThereForCallsThatWait) {
    run_two("blocking");
}

TEST(ClientThread, IsNotThereForCallsThatWaitForTheServer) {
    run_two("blocking", {"PMIX_MCA_pmix_shared_barrier=0"});
}

TEST(ClientThread, WritesWhatTheServerDoesNotTakeAtOnce) {
    run_two("large");
}

TEST(ClientThread, SendsAWholeValueWhileAnotherPutsItAnew) {
    run_two("anew");
}

TEST(ClientThread, CallsBackWhileTheProgramComputes) {
    run_two("nonblocking");
}

TEST(ClientThread, BringsEventsWhileTheProgramComputes) {
    run_two("handler");
}

TEST(ClientThread, ServesASecondCallThatWaits) {
    run_two("drivers");
}

TEST(ClientThread, EndsWithWhatIsOutstanding) {
    run_two("outstanding");
}

TEST(ClientThread, MayBeStoppedBeforeItIsThere) {
    run_two("stopped");
}

TEST(ClientThread, IsMissedByNobodyWhenOneThatWaitsIsCancelled) {
    run_two("cancelled");
}

TEST(ClientThread, IsBoundAsTheProgramSays) {
    run_two("bound");
}

TEST(ClientThread, IsNotBoundWhereThatCannotBeAndNeedNot) {
    run_two("unbound");
}

TEST(ClientThread, IsBoundAsParametersSay) {
    run_two("parameters");
}

}  // namespace
