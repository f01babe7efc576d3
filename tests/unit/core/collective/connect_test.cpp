// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect through servers in memory: the arguments of the host, the job data that participants
// get of each other, and participants that die, time out or are deregistered.
#include "core/spawn/connect.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/core/in_memory/cluster.hpp"

namespace muster::testing_in_memory {
namespace {

class ConnectTest : public testing::Test {
  protected:
    /// Two jobs of two processes each.
    void start(int nodes = 1) {
        cluster_.emplace(nodes);
        cluster_->start("left", 2);
        cluster_->start("right", 2);
    }
    static std::vector<pmix_proc_t> both() {
        return {make_proc("left", PMIX_RANK_WILDCARD), make_proc("right", PMIX_RANK_WILDCARD)};
    }
    using Named = std::map<std::string, Call>;
    Named all(bool connects,
              std::vector<std::pair<std::string, pmix_rank_t>> callers = {{"left", 0},
                                                                          {"left", 1},
                                                                          {"right", 0},
                                                                          {"right", 1}},
              int seconds = 0) {
        Named calls;
        for (const auto& [nspace, rank] : callers) {
            Process& process = cluster_->process(nspace, rank);
            Info info = seconds > 0 ? with_timeout(seconds) : Info();
            calls[nspace + std::to_string(rank)] = connects
                                                       ? connect_procs(process, both(), std::move(info))
                                                       : disconnect_procs(process, both(), std::move(info));
        }
        return calls;
    }
    ::testing::AssertionResult all_have(const Named& calls, pmix_status_t status) {
        cluster_->finish();
        for (const auto& [name, one] : calls) {
            if (one.status() != status || one.answers() != 1)
                return ::testing::AssertionFailure() << name << " has " << one.status();
        }
        return ::testing::AssertionSuccess();
    }

    std::optional<Cluster> cluster_;
};

TEST_F(ConnectTest, AsksTheHostOnceAndTeachesTheJobsToEachOther) {
    start();
    EXPECT_FALSE(cluster_->process("left", 0).store().job_size("right").has_value());
    const Named calls = all(true);
    cluster_->settle();
    EXPECT_EQ(cluster_->host().count("connect"), 1U);
    EXPECT_FALSE(calls.at("left0").there());
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
    EXPECT_EQ(cluster_->process("left", 0).store().job_size("right"), std::optional<uint32_t>(2));
    EXPECT_EQ(cluster_->process("right", 1).store().job_size("left"), std::optional<uint32_t>(2));
    ASSERT_TRUE(all_have(all(false), PMIX_SUCCESS));
    EXPECT_EQ(cluster_->host().count("disconnect"), 1U);
    EXPECT_TRUE(cluster_->waits().empty());
}

TEST_F(ConnectTest, WorksAcrossNodes) {
    start(2);
    ASSERT_TRUE(all_have(all(true), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(all(false), PMIX_SUCCESS));
    EXPECT_EQ(cluster_->incomplete(), 0U);
}

TEST_F(ConnectTest, DisconnectsOnlyThoseThatAreConnected) {
    start();
    ASSERT_TRUE(all_have(all(false), PMIX_ERR_INVALID_OPERATION));
    EXPECT_EQ(cluster_->host().count("disconnect"), 0U);
    ASSERT_TRUE(all_have(all(true), PMIX_SUCCESS));
    cluster_->host().returns["disconnect"] = PMIX_ERR_NOT_AVAILABLE;
    ASSERT_TRUE(all_have(all(false), PMIX_ERR_NOT_AVAILABLE));
    // They are still connected.
    cluster_->host().returns.clear();
    ASSERT_TRUE(all_have(all(false), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(all(false), PMIX_ERR_INVALID_OPERATION));
}

TEST_F(ConnectTest, FailsWithTheHostAndLeavesNobodyConnected) {
    start();
    cluster_->host().returns["connect"] = PMIX_ERR_NO_PERMISSIONS;
    ASSERT_TRUE(all_have(all(true), PMIX_ERR_NO_PERMISSIONS));
    EXPECT_FALSE(cluster_->process("left", 0).store().job_size("right").has_value());
    ASSERT_TRUE(all_have(all(false), PMIX_ERR_INVALID_OPERATION));
}

TEST_F(ConnectTest, RefusesAListWithoutItsCaller) {
    start();
    Named calls;
    calls["left0"] = connect_procs(cluster_->process("left", 0), {make_proc("right", 0)});
    calls["left1"] = connect_procs(cluster_->process("left", 1), {});
    ASSERT_TRUE(all_have(calls, PMIX_ERR_BAD_PARAM));
}

TEST_F(ConnectTest, FailsWhenAParticipantDiesBeforeItHasCalled) {
    start();
    const Named calls = all(true, {{"left", 0}, {"left", 1}, {"right", 0}});
    cluster_->settle();
    cluster_->kill("right", 1);
    ASSERT_TRUE(all_have(calls, PMIX_ERR_LOST_CONNECTION));
    EXPECT_EQ(cluster_->host().count("connect"), 0U);
    EXPECT_TRUE(cluster_->waits().empty());
}

TEST_F(ConnectTest, CountsAParticipantThatDiesAfterItHasCalled) {
    start();
    all(true, {{"right", 1}});
    cluster_->settle();
    cluster_->kill("right", 1);
    cluster_->settle();
    ASSERT_TRUE(all_have(all(true, {{"left", 0}, {"left", 1}, {"right", 0}}), PMIX_SUCCESS));
}

TEST_F(ConnectTest, EndsWithItsTimeLimit) {
    start();
    const Named calls = all(true, {{"left", 0}, {"right", 0}}, 60);
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(61));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_TIMEOUT));
    // A host that does not answer gets one more second; a later answer has no effect.
    const Named others = all(true, {{"left", 0}, {"left", 1}, {"right", 0}, {"right", 1}}, 60);
    cluster_->settle();
    const auto asked = cluster_->host().take("connect");
    ASSERT_TRUE(asked);
    cluster_->pass(std::chrono::milliseconds(60500));
    EXPECT_FALSE(others.at("left0").there());
    cluster_->pass(std::chrono::seconds(1));
    ASSERT_TRUE(all_have(others, PMIX_ERR_TIMEOUT));
    asked->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
    EXPECT_EQ(others.at("left0").answers(), 1);
}

TEST_F(ConnectTest, EndsWhenOneOfTheJobsIsDeregistered) {
    start();
    const Named calls = all(true, {{"left", 0}, {"left", 1}});
    cluster_->settle();
    cluster_->deregister("right");
    ASSERT_TRUE(all_have(calls, PMIX_ERR_INVALID_NAMESPACE));
}

TEST_F(ConnectTest, ForgetsSetsWhoseJobsHaveGone) {
    start();
    ASSERT_TRUE(all_have(all(true), PMIX_SUCCESS));
    cluster_->end("left", 2);
    cluster_->end("right", 2);
    cluster_->start("left", 2);
    cluster_->start("right", 2);
    cluster_->start("third", 1);
    Named one;
    one["third"] = connect_procs(cluster_->process("third", 0), {make_proc("third", PMIX_RANK_WILDCARD)});
    ASSERT_TRUE(all_have(one, PMIX_SUCCESS));
}

}  // namespace
}  // namespace muster::testing_in_memory
