// SPDX-License-Identifier: BSD-3-Clause
// Members of groups that finalize and initialise again while others are ahead or behind
// (docs/decisions/0040).
#include "core/groups/construct.hpp"
#include "tests/unit/core/in_memory/groups.hpp"

namespace muster::testing_in_memory {
namespace {

class LivesTest : public GroupsInMemory {
  protected:
    /// Runs `body` on one node, and on two.
    void on_each(const std::function<void()>& body) {
        for (const int nodes : {1, 2}) {
            SCOPED_TRACE("nodes " + std::to_string(nodes));
            start(4, nodes);
            body();
            EXPECT_TRUE(nothing_is_left());
            if (HasFatalFailure()) return;
        }
    }
    void finalize(const std::vector<pmix_rank_t>& those) {
        for (const pmix_rank_t rank : those)
            cluster_->finalize("job", rank);
        cluster_->settle();
    }
    void restart(const std::vector<pmix_rank_t>& those) {
        for (const pmix_rank_t rank : those)
            cluster_->restart("job", rank);
    }
    Call accept(pmix_rank_t rank) { return join(process(rank), "g", proc(0), true); }
    /// Messages between servers that wait for a host may take that long.
    void let_servers_tell() {
        cluster_->finish();
        cluster_->pass(std::chrono::seconds(2));
        cluster_->finish();
    }
};

TEST_F(LivesTest, AConstructWaitsForTheNextLifeOfItsMembers) {
    on_each([&] {
        ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
        ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
        finalize({0, 1});
        restart({0, 1});
        Calls calls = construct_all("g", {0, 1});
        EXPECT_TRUE(nobody_answered(calls));
        finalize({2, 3});
        EXPECT_TRUE(nobody_answered(calls));
        restart({2, 3});
        calls.merge(construct_all("g", {2, 3}));
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
        ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
    });
}

TEST_F(LivesTest, ANameIsFreeOnceAllMembersHaveFinalized) {
    on_each([&] {
        for (int cycle = 0; cycle < 3; ++cycle) {
            Calls calls = construct_all("g", {0, 1});
            calls.merge(construct_all("g", {2, 3}));
            ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
            finalize({0, 1});
            restart({0, 1});
            calls = construct_all("g", {0, 1});  // the others are still in the former one
            EXPECT_TRUE(nobody_answered(calls));
            finalize({2, 3});
            restart({2, 3});
            calls.merge(construct_all("g", {2, 3}));
            ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
            ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
        }
    });
}

TEST_F(LivesTest, AConstructFailsWhileSomebodyElseIsInTheFormerGroup) {
    start(3);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
    finalize({0, 1});
    restart({0, 1});
    Calls calls;
    for (const pmix_rank_t rank : {0U, 1U})
        calls[rank] = construct(process(rank), "g", procs_of("job", {0, 1}));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_EXISTS));
    ASSERT_TRUE(all_have(destruct_all("g", {2}), PMIX_SUCCESS));
}

TEST_F(LivesTest, AFinalizedMemberHasLeft) {
    on_each([&] {
        Listener& told = listen(2, {PMIX_GROUP_LEFT, PMIX_GROUP_MEMBER_FAILED});
        ASSERT_TRUE(all_have(construct_all("g", with(PMIX_GROUP_NOTIFY_TERMINATION)), PMIX_SUCCESS));
        finalize({1});
        cluster_->finish();
        restart({1});
        ASSERT_EQ(told.heard.size(), 1U);
        EXPECT_EQ(told.heard[0].status, PMIX_GROUP_LEFT);
        EXPECT_EQ(affected_by(told.heard[0]), 1U);
        for (int node = 0; node < cluster_->nodes(); ++node) {
            ASSERT_NE(known("g", node), nullptr);
            EXPECT_FALSE(known("g", node)->has(proc(1)));
        }
        EXPECT_EQ(destruct_all("g", {1}).size(), 1U);
        ASSERT_TRUE(all_have(destruct_all("g", {0, 2, 3}), PMIX_SUCCESS));
        EXPECT_EQ(told.heard.size(), 1U);
    });
}

TEST_F(LivesTest, ADestructDoesNotWaitForAMemberThatFinalizes) {
    on_each([&] {
        ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
        const Calls calls = destruct_all("g", {0, 2, 3});
        EXPECT_TRUE(nobody_answered(calls));
        finalize({1});
        let_servers_tell();
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        EXPECT_EQ(known("g"), nullptr);
    });
}

TEST_F(LivesTest, ADestructEndsThoughTheNextGroupOfThatNameIsBegunElsewhere) {
    start(4, 2);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
    const Calls destructs = destruct_all("g", {0, 2});  // node 0: the host has it
    cluster_->settle();
    cluster_->carry();
    finalize({1, 3});
    restart({1, 3});
    Calls next = construct_all("g", {1, 3});
    let_servers_tell();
    ASSERT_TRUE(all_have(destructs, PMIX_SUCCESS));
    next.merge(construct_all("g", {0, 2}));
    ASSERT_TRUE(all_have(next, PMIX_SUCCESS, ranks()));
    ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(LivesTest, ACallOfAFormerLifeIsNone) {
    on_each([&] {
        construct(process(1), "g", all());
        cluster_->settle();
        finalize({1});
        restart({1});
        Calls calls = construct_all("g", {0, 2, 3});
        EXPECT_TRUE(nobody_answered(calls));
        calls.merge(construct_all("g", {1}));
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
        ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
    });
}

TEST_F(LivesTest, AMemberThatFinalizesWhileTheHostIsAskedIsInNoGroup) {
    on_each([&] {
        Listener& told = listen(2, {PMIX_GROUP_LEFT});
        Calls calls = construct_all("g", with(PMIX_GROUP_ASSIGN_CONTEXT_ID));
        cluster_->settle();
        finalize({1});
        restart({1});
        calls.erase(1);
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        EXPECT_EQ(told.heard.size(), 1U);
        ASSERT_NE(known("g"), nullptr);
        EXPECT_FALSE(known("g")->has(proc(1)));
        ASSERT_TRUE(all_have(destruct_all("g", {0, 2, 3}), PMIX_SUCCESS));
    });
}

TEST_F(LivesTest, AMemberThatFinalizesAndExitsWhileTheHostIsAskedHasLeft) {
    on_each([&] {
        Listener& told = listen(2, {PMIX_GROUP_LEFT});
        Listener& lost = listen(2, {PMIX_GROUP_MEMBER_FAILED});
        Calls calls = construct_all("g", with(PMIX_GROUP_ASSIGN_CONTEXT_ID));
        cluster_->settle();
        finalize({1});
        cluster_->exited("job", 1);
        calls.erase(1);
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        EXPECT_EQ(told.heard.size(), 1U);
        EXPECT_TRUE(lost.heard.empty());
        ASSERT_NE(known("g"), nullptr);
        EXPECT_FALSE(known("g")->has(proc(1)));
        ASSERT_TRUE(all_have(destruct_all("g", {0, 2, 3}), PMIX_SUCCESS));
    });
}

TEST_F(LivesTest, AnInvitationWaitsForTheNextLifeOfAProcessThatHasNotAnswered) {
    for (const int nodes : {1, 2}) {
        for (const bool had_it : {false, true}) {
            SCOPED_TRACE("nodes " + std::to_string(nodes) + (had_it ? ", had it" : ""));
            start(4, nodes);
            if (had_it) listen(1, {PMIX_GROUP_INVITED});
            Calls calls = Calls({{0, invite(process(0), "g", all())}, {2, accept(2)}, {3, accept(3)}});
            cluster_->finish();
            cluster_->finalize("job", 1);
            EXPECT_TRUE(nobody_answered(calls));
            cluster_->restart("job", 1);
            const Listener& next = listen(1, {PMIX_GROUP_INVITED});
            cluster_->finish();
            ASSERT_EQ(next.heard.size(), 1U);
            calls[1] = accept(1);
            ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
        }
    }
}

TEST_F(LivesTest, AnAnsweredInvitationIsNotGivenToTheNextLife) {
    start(2);
    listen(1, {PMIX_GROUP_INVITED});
    ASSERT_TRUE(all_have(Calls({{0, invite(process(0), "g", all())}, {1, accept(1)}}), PMIX_SUCCESS));
    cluster_->finalize("job", 1);
    cluster_->settle();
    cluster_->restart("job", 1);
    const Listener& next = listen(1, {PMIX_GROUP_INVITED});
    cluster_->finish();
    EXPECT_TRUE(next.heard.empty());
}

TEST_F(LivesTest, AnAcceptanceEndsWithFinalize) {
    for (const int nodes : {1, 2}) {
        SCOPED_TRACE("nodes " + std::to_string(nodes));
        start(3, nodes);
        Calls calls = Calls({{0, invite(process(0), "g", all())}});
        accept(1);
        cluster_->finish();
        cluster_->finalize("job", 1);
        cluster_->finish();
        const Call other = accept(2);
        ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 2}));
        ASSERT_TRUE(all_have(Calls({{2, other}}), PMIX_SUCCESS, {0, 2}));
    }
}

TEST_F(LivesTest, AFinalizedProcessThatExitsHasFailed) {
    start(3);
    const Calls calls = Calls({{0, invite(process(0), "g", all())}});
    cluster_->finish();
    cluster_->finalize("job", 1);
    EXPECT_TRUE(nobody_answered(calls));
    cluster_->exited("job", 1);
    ASSERT_TRUE(all_have(calls, PMIX_GROUP_MEMBER_FAILED));
}

}  // namespace
}  // namespace muster::testing_in_memory
