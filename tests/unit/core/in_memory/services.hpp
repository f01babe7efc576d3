// SPDX-License-Identifier: BSD-3-Clause
// A job in memory whose processes use services: waits for the host's upcalls and for answers, and runs a test
// in many orders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/in_memory/calls.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {

class ServicesInMemory : public JobInMemory {
  protected:
    using JobInMemory::JobInMemory;

    /// Drives all loops until the host has such an upcall, and removes it.
    std::shared_ptr<Upcall> asked(const std::string& name) {
        std::shared_ptr<Upcall> upcall;
        EXPECT_TRUE(until([&] { return (upcall = node.host.take(name)) != nullptr; }))
            << "the host is not asked for " << name;
        if (upcall) return upcall;
        upcall = std::make_shared<Upcall>();
        upcall->answer = [](const HostAnswer&) {};
        return upcall;
    }
    /// Waits for the answer of a call, and checks that there is only one.
    pmix_status_t status_of(const Call& call) {
        EXPECT_TRUE(until([&] { return call.there(); })) << "a call is not answered";
        for (int turn = 0; turn < 5; ++turn)
            node.turn();
        EXPECT_EQ(call.answers(), 1);
        return call.status();
    }
    /// Drives the server alone: its clients do not read.
    void serve(int turns = 20) {
        for (int turn = 0; turn < turns; ++turn)
            node.process().runtime().progress();
    }
    /// The user passed to the host, as text.
    static std::string user_in(const Upcall& upcall) {
        const auto user = upcall.info.view().number<uint32_t>(PMIX_USERID);
        return user ? std::to_string(*user) : "none";
    }
    static std::string own_user() { return std::to_string(::geteuid()); }
};

/// Runs `body` with each order of `steps` steps.
inline void in_every_order(size_t steps, const std::function<void(const std::vector<size_t>& order)>& body) {
    std::vector<size_t> order(steps);
    std::iota(order.begin(), order.end(), size_t{0});
    do {
        std::string text;
        for (const size_t step : order)
            text += std::to_string(step) + " ";
        SCOPED_TRACE("order " + text);
        body(order);
        if (testing::Test::HasFailure()) return;
    } while (std::next_permutation(order.begin(), order.end()));
}

/// Runs `body` with that many seeds.
inline void with_seeds(uint32_t seeds, const std::function<void(std::mt19937& random)>& body) {
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        body(random);
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace muster::testing_in_memory
