// SPDX-License-Identifier: BSD-3-Clause
// Programs that know nothing of the library, and what they do to it. The work is done by
// integration_careless_client.
#include <gtest/gtest.h>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;

void run_one(const std::vector<std::string>& words) {
    Host host;
    auto process = host.start_program(host.start_job(1), 0, INTEGRATION_CARELESS_CLIENT, words);
    const std::string said = process.line(80);
    EXPECT_EQ(process.wait(80), 0) << said;
}

TEST(Careless, ForksWhileOtherThreadsCall) {
    run_one({"forks"});
}

TEST(Careless, ForksWhileAnotherThreadInitialisesFirst) {
    run_one({"first"});
}

TEST(Careless, ForksWhileAnotherThreadConnectsOverTcp) {
    run_one({"first", "tcp"});
}

}  // namespace
