// SPDX-License-Identifier: BSD-3-Clause
// Processes that finalize and initialise again while others of their job are ahead or behind.
#include <gtest/gtest.h>
#include <pmix.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::Process;

std::string count_of_cycles() {
    const char* wanted = getenv("MUSTER_REINIT_CYCLES");
    return wanted == nullptr ? "200" : wanted;
}

std::vector<Process> start_all(Host& host, const Host::Job& job, const std::vector<std::string>& words,
                               const std::vector<std::string>& more = {}) {
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(host.start_program(job, rank, REINIT_CLIENT, words, more));
    return processes;
}

class Reinit : public testing::TestWithParam<const char*> {};

TEST_P(Reinit, FencesOfAllCyclesComplete) {
    Host host;
    const auto job = host.start_job(4);
    auto processes = start_all(host, job, {"cycles", count_of_cycles()}, {GetParam()});
    for (Process& process : processes) {
        EXPECT_EQ(process.line(120), "cycles: " + count_of_cycles());
        EXPECT_EQ(process.wait(), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(By, Reinit,
                         testing::Values("PMIX_MCA_ptl=usock", "PMIX_MCA_ptl=tcp", "PMIX_MCA_gds=hash"),
                         [](const auto& each) {
                             const std::string setting = each.param;
                             return setting.substr(setting.find('=') + 1);
                         });

TEST(ReinitDeparture, AFenceFailsWhenTheHostDeregistersAFinalizedProcess) {
    Host host;
    const auto job = host.start_job(3);
    auto processes = start_all(host, job, {"leaves"});
    EXPECT_EQ(processes[0].wait(), 0);
    EXPECT_EQ(processes[1].line(0.2), "") << "the fence has to wait: the process may initialise again";
    host.deregister_client(job, 0);
    for (size_t rank = 1; rank < 3; ++rank) {
        EXPECT_EQ(processes[rank].line(), PMIx_Error_string(PMIX_ERR_LOST_CONNECTION));
        EXPECT_EQ(processes[rank].wait(), 0);
    }
}

}  // namespace
