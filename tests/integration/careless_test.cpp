// SPDX-License-Identifier: BSD-3-Clause
// The effects of programs that are unaware of the library. integration_careless_client does the work.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;

void run_one(const std::vector<std::string>& words, uint32_t ranks = 1) {
    Host host;
    auto job = host.start_job(ranks);  // the others never call
    job.nodes[0] = {0};
    auto process = host.start_program(job, 0, INTEGRATION_CARELESS_CLIENT, words);
    const std::string said = process.line(80);
    EXPECT_EQ(process.wait(80), 0) << said;
}

TEST(Careless, ForksWhileOtherThreadsCall) {
    run_one({"forks"});
}

TEST(Careless, ForksWhileAnotherThreadInitializes) {
    run_one({"first"});
}

TEST(Careless, ForksWhileAnotherThreadConnectsOverTcp) {
    run_one({"first", "tcp"});
}

#ifndef __SANITIZE_ADDRESS__  // includes the undefined sanitizer, which tests memory through a pipe
                              // and reports a missing pipe as a finding
TEST(Careless, HasNoDescriptorLeftAndNoThread) {
    run_one({"full", "idle"}, 2);
}

TEST(Careless, HasNoDescriptorLeftAndAThread) {
    run_one({"full", "thread"}, 2);
}
#endif

/// The new kind of the library's descriptors, and the library's activity when it loses them.
class CarelessCloser : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CarelessCloser, LosesOnlyTheConnectionToItsServer) {
    const auto [kind, when] = GetParam();
    run_one({"closed", kind, when}, 2);
}

// A program that closes a descriptor on which another thread waits is a race for the thread sanitizer.
#ifdef __SANITIZE_THREAD__
const auto moments = ::testing::Values("idle");
#else
const auto moments = ::testing::Values("idle", "thread", "waiting");
#endif

INSTANTIATE_TEST_SUITE_P(Descriptors, CarelessCloser,
                         ::testing::Combine(::testing::Values("nothing", "files", "sockets", "pipes"),
                                            moments),
                         [](const auto& test) {
                             return std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param);
                         });

}  // namespace
