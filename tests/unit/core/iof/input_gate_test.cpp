// SPDX-License-Identifier: BSD-3-Clause
// The suspended producers of input, and the continuation of their steps.
#include "core/iof/input_gate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "framework/base/proc.hpp"

namespace muster {
namespace {

const pmix_proc_t kAll = make_proc("", PMIX_RANK_WILDCARD);
const pmix_proc_t kJob = make_proc("job", PMIX_RANK_WILDCARD);
const pmix_proc_t kZero = make_proc("job", 0), kOne = make_proc("job", 1), kTool = make_proc("tool", 0);

class Gate : public testing::Test {
  protected:
    void hold(const pmix_proc_t& producer, const char* name) {
        gate_.hold(producer, [this, name](pmix_status_t status) {
            went_ += status == PMIX_SUCCESS ? name : std::string("!") + name;
        });
    }
    InputGate gate_;
    std::string went_;
};

TEST_F(Gate, TheLatestMatchingCallDecides) {
    EXPECT_FALSE(gate_.suspended(kZero));
    gate_.apply(kAll, true);
    EXPECT_TRUE(gate_.suspended(kZero));
    EXPECT_TRUE(gate_.suspended(kTool));
    gate_.apply(kJob, false);
    EXPECT_FALSE(gate_.suspended(kZero));
    EXPECT_TRUE(gate_.suspended(kTool));
    gate_.apply(kOne, true);
    EXPECT_FALSE(gate_.suspended(kZero));
    EXPECT_TRUE(gate_.suspended(kOne));
    gate_.apply(make_proc("", 1), false);
    EXPECT_FALSE(gate_.suspended(kOne));
    EXPECT_TRUE(gate_.suspended(kTool));
    gate_.apply(kAll, false);
    EXPECT_FALSE(gate_.suspended(kTool));
}

TEST_F(Gate, ResumesMatchingSourcesInOrder) {
    gate_.apply(kAll, true);
    hold(kZero, "a");
    hold(kTool, "b");
    hold(kZero, "c");
    hold(kOne, "d");
    gate_.apply(kZero, false);
    EXPECT_EQ(went_, "ac");
    gate_.apply(kAll, false);
    EXPECT_EQ(went_, "acbd");
}

TEST_F(Gate, CancelsHeldStepsOfEndedSources) {
    gate_.apply(kAll, true);
    hold(kZero, "a");
    hold(kTool, "b");
    gate_.forget(kZero);
    EXPECT_EQ(went_, "!a");
    gate_.close();
    EXPECT_EQ(went_, "!a!b");
    EXPECT_FALSE(gate_.suspended(kTool));
}

TEST_F(Gate, AStepMaySuspendAgain) {
    gate_.apply(kZero, true);
    gate_.hold(kZero, [this](pmix_status_t) {
        went_ += "a";
        gate_.apply(kZero, true);
        hold(kZero, "b");
    });
    gate_.apply(kZero, false);
    EXPECT_EQ(went_, "a");
    gate_.apply(kZero, false);
    EXPECT_EQ(went_, "ab");
}

}  // namespace
}  // namespace muster
