// SPDX-License-Identifier: BSD-3-Clause
// Members that die or leave at each step of a construction, on one node and two: the events, the decisions of
// handlers, and the results of the other members.
#include "core/groups/construct.hpp"
#include "tests/unit/core/in_memory/groups.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

class ConstructLossesTest : public GroupsInMemory {
  protected:
    static Info leading(Info info = with(PMIX_GROUP_NOTIFY_TERMINATION)) {
        info.add(PMIX_GROUP_LEADER, true);
        return info;
    }
    /// The host of the node reports how the process has ended.
    void report(pmix_rank_t rank) {
        Process& server = cluster_->server_process(cluster_->node_of(rank));
        server.loop().post([&server, rank] {
            auto event = std::make_shared<Event>();
            event->status = PMIX_ERR_EXIT_NONZERO_TERM;
            event->source = server.runtime().self();
            event->range = PMIX_RANGE_PROC_LOCAL;
            event->info.add(PMIX_EVENT_AFFECTED_PROC, proc(rank));
            event->info.add(PMIX_EXIT_CODE, 3);
            event->info.add(PMIX_EVENT_STAYS_LOCAL, true);
            EXPECT_EQ(event->read_directives(), PMIX_SUCCESS);
            server.events().notify(event, [](pmix_status_t) {});
        });
    }
    static Info notify_info() { return with(PMIX_GROUP_NOTIFY_TERMINATION); }
};

TEST_F(ConstructLossesTest, FailsWhenAMemberDiesBeforeItHasCalled) {
    for (const int nodes : {1, 2}) {
        start(4, nodes);
        const Calls calls = construct_all("g", {0, 2});
        cluster_->settle();
        cluster_->kill("job", 3);
        const Calls late = construct_all("g", {1});
        if (nodes == 1) {
            ASSERT_TRUE(all_have(calls, PMIX_GROUP_MEMBER_FAILED));
            ASSERT_TRUE(all_have(late, PMIX_GROUP_MEMBER_FAILED));
        } else {
            // The other node learns it from the data that the servers exchange.
            ASSERT_TRUE(all_have(late, PMIX_GROUP_MEMBER_FAILED));
            ASSERT_TRUE(all_have(calls, PMIX_GROUP_MEMBER_FAILED));
        }
        EXPECT_EQ(known("g"), nullptr);
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(ConstructLossesTest, DoesNotCountTheCallOfAMemberThatDiesBeforeAllAreIn) {
    start(3);
    const Call lost = construct(process(1), "g", all());
    cluster_->settle();
    cluster_->kill("job", 1);
    cluster_->settle();
    ASSERT_TRUE(all_have(construct_all("g", {0}), PMIX_GROUP_MEMBER_FAILED));
    EXPECT_FALSE(lost.there());
}

TEST_F(ConstructLossesTest, AFinalizedMemberHasGoneWhenTheHostSaysThatItHasExited) {
    start(3);
    const Calls calls = construct_all("g", {0, 1});
    cluster_->settle();
    const Call left = cluster_->finalize("job", 2);
    EXPECT_TRUE(nobody_answered(calls));
    EXPECT_EQ(left.status(), PMIX_SUCCESS);
    cluster_->exited("job", 2);
    ASSERT_TRUE(all_have(calls, PMIX_GROUP_MEMBER_FAILED));
}

TEST_F(ConstructLossesTest, CountsAMemberThatDiesWhileTheHostIsAskedAndTellsOfItAfterwards) {
    for (const bool notify_all : {false, true}) {
        start(4, 2);
        Listener& near = listen(0, {PMIX_GROUP_MEMBER_FAILED});
        Listener& far = listen(1, {PMIX_GROUP_MEMBER_FAILED});
        Calls calls = construct_all("g", notify_all ? notify_info() : Info());
        cluster_->settle();
        cluster_->kill("job", 2);
        calls.erase(2);
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
        ASSERT_EQ(near.heard.size(), notify_all ? 1U : 0U);
        EXPECT_EQ(far.heard.size(), notify_all ? 1U : 0U);
        if (notify_all) {
            EXPECT_EQ(affected_by(near.heard[0]), 2U);
        }
    }
}

TEST_F(ConstructLossesTest, TheEventOfALostMemberWaitsForTheHostsReportAndCarriesIt) {
    const ParameterScope waits("pmix_group_report_time", "5");
    for (const int nodes : {1, 2}) {
        for (const bool constructed : {false, true}) {
            for (const char* end : {"reported", "exited", "silent"}) {
                SCOPED_TRACE(std::string(end) + (constructed ? " in the group" : " before") + ", nodes " +
                             std::to_string(nodes));
                start(4, nodes);
                Listener& failures = listen(0, {PMIX_GROUP_MEMBER_FAILED});
                Calls calls = construct_all("g", constructed ? ranks() : std::vector<pmix_rank_t>{0, 1, 3},
                                            notify_info());
                cluster_->finish();
                cluster_->kill("job", 2);
                cluster_->finish();
                EXPECT_EQ(failures.heard.size(), 0U);
                EXPECT_EQ(calls[0].there(), constructed);
                if (end == std::string("reported")) {
                    report(2);
                } else if (end == std::string("exited")) {
                    cluster_->exited("job", 2);
                } else {
                    cluster_->pass(std::chrono::seconds(6));
                }
                cluster_->finish();
                ASSERT_EQ(failures.heard.size(), 1U);
                const InfoView heard = failures.heard[0].info;
                EXPECT_EQ(affected_by(failures.heard[0]), 2U);
                const auto code = heard.number<int>(PMIX_EXIT_CODE);
                EXPECT_EQ(code.value_or(0), end == std::string("reported") ? 3 : 0);
                EXPECT_FALSE(heard.has(PMIX_EVENT_STAYS_LOCAL));
                EXPECT_FALSE(heard.has(MUSTER_GROUP_CONSTRUCT));
                if (!constructed) {
                    calls.erase(2);
                    ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 1, 3}));
                }
            }
        }
    }
}

TEST_F(ConstructLossesTest, GoesOnWithoutAMemberWhereADirectiveSaysSo) {
    for (const char* key : {PMIX_GROUP_OPTIONAL, PMIX_GROUP_FT_COLLECTIVE, PMIX_GROUP_NOTIFY_TERMINATION}) {
        for (const int nodes : {1, 2}) {
            for (const bool calls_first : {false, true}) {
                SCOPED_TRACE(std::string(key) + ", nodes " + std::to_string(nodes));
                start(4, nodes);
                Listener& failures = listen(0, {PMIX_GROUP_MEMBER_FAILED});
                if (calls_first) construct(process(2), "g", all(), with(key));
                cluster_->settle();
                Calls calls;
                if (!calls_first) calls = construct_all("g", {0, 1}, with(key));
                cluster_->settle();
                cluster_->kill("job", 2);
                cluster_->finish();
                if (calls_first) calls = construct_all("g", {0, 1}, with(key));
                calls[3] = construct(process(3), "g", all(), with(key));
                ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 1, 3}));
                const bool notify_them = std::string(key) == PMIX_GROUP_NOTIFY_TERMINATION;
                EXPECT_EQ(failures.heard.size(), notify_them ? 1U : 0U);
                ASSERT_TRUE(all_have(destruct_all("g", {0, 1, 3}), PMIX_SUCCESS));
                EXPECT_TRUE(nothing_is_left());
            }
        }
    }
}

TEST_F(ConstructLossesTest, AsksTheLeaderAndWaitsForIt) {
    for (const int nodes : {1, 2}) {
        for (const pmix_status_t decision : {PMIX_EVENT_ACTION_COMPLETE, PMIX_GROUP_CONSTRUCT_ABORT}) {
            SCOPED_TRACE("nodes " + std::to_string(nodes));
            start(4, nodes);
            Listener& leader = listen(0, {PMIX_GROUP_MEMBER_FAILED});
            Listener& member = listen(1, {PMIX_GROUP_MEMBER_FAILED});
            Listener& aborts = listen(3, {PMIX_GROUP_CONSTRUCT_ABORT});
            leader.holds = true;
            leader.returns = decision;
            Calls calls = construct_all("g", {0}, leading());
            cluster_->finish();
            cluster_->kill("job", 2);
            cluster_->finish();
            ASSERT_EQ(leader.held(), 1U);
            EXPECT_EQ(affected_by(leader.heard[0]), 2U);
            EXPECT_EQ(member.heard.size(), 0U);
            for (const pmix_rank_t rank : {1U, 3U})
                calls[rank] = construct(process(rank), "g", all(), notify_info());
            cluster_->finish();
            EXPECT_TRUE(nobody_answered(calls));
            if (nodes == 1) {
                ASSERT_EQ(cluster_->waits().size(), 3U);
                EXPECT_NE(cluster_->waits()[0].find("not decided by job:0"), std::string::npos);
            }
            leader.complete();
            if (decision == PMIX_GROUP_CONSTRUCT_ABORT) {
                ASSERT_TRUE(all_have(calls, PMIX_GROUP_CONSTRUCT_ABORT));
                EXPECT_EQ(aborts.heard.size(), 1U);
            } else {
                ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 1, 3}));
            }
            EXPECT_TRUE(nothing_is_left());
        }
    }
}

TEST_F(ConstructLossesTest, DoesNotWaitForALeaderThatDiesBeforeItHasDecided) {
    start(4);
    Listener& leader = listen(0, {PMIX_GROUP_MEMBER_FAILED});
    Listener& failures = listen(1, {PMIX_GROUP_MEMBER_FAILED});
    leader.holds = true;
    Calls calls = construct_all("g", {0}, leading());
    calls[1] = construct(process(1), "g", all(), notify_info());
    calls[3] = construct(process(3), "g", all(), notify_info());
    cluster_->settle();
    cluster_->kill("job", 2);
    cluster_->settle();
    EXPECT_EQ(leader.held(), 1U);
    cluster_->kill("job", 0);
    calls.erase(0);
    // All had called, so the leader is a member, and the others get an event about its end.
    ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 1, 3}));
    ASSERT_EQ(failures.heard.size(), 1U);
    EXPECT_EQ(affected_by(failures.heard[0]), 0U);
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(ConstructLossesTest, SelectsTheFirstThatOffersToLead) {
    for (const int nodes : {1, 2}) {
        SCOPED_TRACE("nodes " + std::to_string(nodes));
        start(4, nodes);
        std::map<pmix_rank_t, Listener*> listeners;
        for (const pmix_rank_t rank : {1U, 2U, 3U})
            listeners[rank] = &listen(rank, {PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEADER_SELECTED});
        listeners[3]->adds.add(PMIX_GROUP_LEADER, true);
        Calls calls = construct_all("g", {0}, leading());
        for (const pmix_rank_t rank : {1U, 2U, 3U})
            calls[rank] =
                nodes == 1 && rank == 1 ? Call() : construct(process(rank), "g", all(), notify_info());
        cluster_->finish();
        if (nodes == 2) {
            // All had called, and the host had the construction: it continues.
            cluster_->finish();
            EXPECT_EQ(calls[1].status(), PMIX_SUCCESS);
            continue;
        }
        cluster_->kill("job", 0);
        calls.erase(0);
        cluster_->finish();
        calls[1] = construct(process(1), "g", all(), notify_info());
        ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {1, 2, 3}));
        for (const auto& [rank, one] : listeners) {
            EXPECT_EQ(one->count(PMIX_GROUP_LEADER_FAILED), 1U) << rank;
            ASSERT_EQ(one->count(PMIX_GROUP_LEADER_SELECTED), 1U) << rank;
            EXPECT_EQ(affected_by(*one->last(PMIX_GROUP_LEADER_SELECTED)), 3U) << rank;
        }
        ASSERT_TRUE(known("g")->leader.has_value());
        EXPECT_EQ(known("g")->leader->rank, 3U);
    }
}

TEST_F(ConstructLossesTest, TellsAllWhereNobodyOffersToLead) {
    start(3);
    Listener& one = listen(1, {PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEADER_SELECTED});
    Calls calls = construct_all("g", {1}, notify_info());
    const Call leader = construct(process(0), "g", all(), leading());
    cluster_->settle();
    cluster_->kill("job", 0);
    calls[2] = construct(process(2), "g", all(), notify_info());
    ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {1, 2}));
    ASSERT_EQ(one.count(PMIX_GROUP_LEADER_SELECTED), 1U);
    EXPECT_TRUE(one.last(PMIX_GROUP_LEADER_SELECTED)->info.view().has(PMIX_JOB_TERM_STATUS));
}

TEST_F(ConstructLossesTest, KeepsTheFailureOfALeaderThatWasTheOnlyOneToCall) {
    start(3);
    Listener& one = listen(1, {PMIX_GROUP_LEADER_FAILED});
    one.adds.add(PMIX_GROUP_LEADER, true);
    const Call leader = construct(process(0), "g", all(), leading());
    cluster_->settle();
    cluster_->kill("job", 0);
    cluster_->settle();
    EXPECT_EQ(one.heard.size(), 1U);
    ASSERT_TRUE(all_have(construct_all("g", {1, 2}, notify_info()), PMIX_ERR_PARTIAL_SUCCESS, {1, 2}));
    EXPECT_EQ(one.heard.size(), 1U);
    ASSERT_TRUE(known("g")->leader.has_value());
    EXPECT_EQ(known("g")->leader->rank, 1U);
}

TEST_F(ConstructLossesTest, TheServerOfALostLeaderWaitsForTheOtherNode) {
    for (const int how : {0, 1, 2}) {  // one of the other node leads, aborts, or never calls
        SCOPED_TRACE(how);
        start(4, 2);
        Listener& far = listen(3, {PMIX_GROUP_LEADER_FAILED});
        Listener& near = listen(2, {PMIX_GROUP_LEADER_SELECTED});
        if (how == 0) far.adds.add(PMIX_GROUP_LEADER, true);
        if (how == 1) far.returns = PMIX_GROUP_CONSTRUCT_ABORT;
        if (how == 2) far.holds = true;
        const Call leader = construct(process(0), "g", all(), leading());
        Calls calls;
        for (const pmix_rank_t rank : {1U, 3U})
            calls[rank] = construct(process(rank), "g", all(), notify_info());
        cluster_->settle();
        cluster_->kill("job", 0);
        cluster_->finish();
        ASSERT_EQ(far.heard.size(), 1U);
        calls[2] = construct(process(2), "g", all(), notify_info());
        if (how == 2) {
            cluster_->finish();
            EXPECT_TRUE(nobody_answered(calls));
            cluster_->pass(std::chrono::seconds(11));
        }
        if (how == 1) {
            ASSERT_TRUE(all_have(calls, PMIX_GROUP_CONSTRUCT_ABORT));
        } else {
            ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {1, 2, 3}));
            ASSERT_EQ(near.heard.size(), 1U);
            EXPECT_EQ(affected_by(near.heard[0]), how == 0 ? 3U : PMIX_RANK_UNDEF);
        }
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(ConstructLossesTest, AParticipantMayGiveUpForAll) {
    for (const int nodes : {1, 2}) {
        SCOPED_TRACE("nodes " + std::to_string(nodes));
        start(4, nodes);
        const Calls calls = construct_all("g", {0, 1});
        cluster_->finish();
        Info info;
        info.add(PMIX_GROUP_ID, "g");
        info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(all()));
        const Call said = notify(process(2), PMIX_GROUP_CONSTRUCT_ABORT, PMIX_RANGE_CUSTOM, std::move(info));
        ASSERT_TRUE(all_have(calls, PMIX_GROUP_CONSTRUCT_ABORT));
        // A member that has not called yet gets the abort once; its next call is another construction.
        ASSERT_TRUE(all_have(construct_all("g", {2}), PMIX_GROUP_CONSTRUCT_ABORT));
        if (nodes == 1) {
            ASSERT_TRUE(all_have(construct_all("g", {3}), PMIX_GROUP_CONSTRUCT_ABORT));
            ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
        }
    }
}

TEST_F(ConstructLossesTest, AStrangerCannotGiveUpForTheMembers) {
    start(2);
    cluster_->start("other", 1);
    const Calls calls = construct_all("g", {0});
    cluster_->settle();
    Info info;
    info.add(PMIX_GROUP_ID, "g");
    info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(all()));
    const Call said =
        notify(cluster_->process("other", 0), PMIX_GROUP_CONSTRUCT_ABORT, PMIX_RANGE_CUSTOM, std::move(info));
    EXPECT_TRUE(nobody_answered(calls));
    ASSERT_TRUE(all_have(construct_all("g", {1}), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
}

TEST_F(ConstructLossesTest, TellsOfMembersWhoseNodeNeverCalled) {
    start(3, 2);
    Listener& failures = listen(0, {PMIX_GROUP_MEMBER_FAILED});
    cluster_->kill("job", 1);
    cluster_->finish();
    const Calls calls = construct_all("g", {0, 2}, notify_info());
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    HostAnswer answer = answer_of(PMIX_ERR_PARTIAL_SUCCESS);
    answer.info.add(PMIX_GROUP_MEMBERSHIP, procs_value(procs_of("job", {0, 2})));
    asked->answer(answer);
    ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 2}));
    ASSERT_EQ(failures.heard.size(), 1U);
    EXPECT_EQ(affected_by(failures.heard[0]), 1U);
}

// --- while a group is destructed ---

TEST_F(ConstructLossesTest, ADestructFailsForAllWithoutADirectiveAndTheGroupGoesWithTheLastThatHears) {
    for (const int last : {0, 1, 2}) {  // the last member calls, leaves or dies
        SCOPED_TRACE(last);
        start(4);
        ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
        const Calls calls = destruct_all("g", {0, 1});
        cluster_->settle();
        cluster_->kill("job", 3);
        ASSERT_TRUE(all_have(calls, PMIX_GROUP_MEMBER_FAILED));
        ASSERT_NE(known("g"), nullptr);
        EXPECT_EQ(known("g")->state, GroupState::Failed);
        ASSERT_TRUE(all_have(destruct_all("g", {0}), PMIX_ERR_NOT_FOUND));
        if (last == 0) {
            ASSERT_TRUE(all_have(destruct_all("g", {2}), PMIX_GROUP_MEMBER_FAILED));
        }
        if (last == 1) leave(process(2), "g");
        if (last == 2) cluster_->kill("job", 2);
        cluster_->finish();
        EXPECT_EQ(known("g"), nullptr);
    }
}

TEST_F(ConstructLossesTest, ADestructGoesOnWhereTheGroupOrTheCallToleratesLosses) {
    for (const bool by_group : {true, false}) {
        start(4, 2);
        ASSERT_TRUE(all_have(construct_all("g", by_group ? notify_info() : Info()), PMIX_SUCCESS));
        Listener& failures = listen(0, {PMIX_GROUP_MEMBER_FAILED});
        const Info info = by_group ? Info() : with(PMIX_GROUP_FT_COLLECTIVE);
        Calls calls = destruct_all("g", {0}, info);
        cluster_->settle();
        cluster_->kill("job", 2);
        cluster_->finish();
        for (const pmix_rank_t rank : {1U, 3U})
            calls[rank] = destruct(process(rank), "g", copy(info));
        // Node 1 may have named the members without the lost one: the servers detect that in time.
        for (int second = 0; second < 3; ++second) {
            cluster_->finish();
            cluster_->pass(std::chrono::seconds(1));
        }
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        EXPECT_EQ(failures.heard.size(), by_group ? 1U : 0U);
    }
}

TEST_F(ConstructLossesTest, ADestructWhoseCallersHaveAllGoneLeavesTheGroup) {
    start(3);
    ASSERT_TRUE(all_have(construct_all("g", notify_info()), PMIX_SUCCESS));
    destruct_all("g", {1});
    cluster_->settle();
    cluster_->kill("job", 1);
    cluster_->finish();
    ASSERT_NE(known("g"), nullptr);
    EXPECT_EQ(known("g")->state, GroupState::Ready);
    ASSERT_TRUE(all_have(destruct_all("g", {0, 2}), PMIX_SUCCESS));
}

TEST_F(ConstructLossesTest, AServerTakesPartForMembersThatHaveAllEnded) {
    for (const bool notify_all : {true, false}) {
        start(4, 2);
        ASSERT_TRUE(all_have(construct_all("g", notify_all ? notify_info() : Info()), PMIX_SUCCESS));
        Calls calls = destruct_all("g", {0, 2});
        cluster_->settle();
        for (const pmix_rank_t rank : {1U, 3U})
            cluster_->kill("job", rank);
        cluster_->settle();
        // This host does not count the processes of node 1 itself.
        const auto asked = cluster_->host(0).take("group");
        ASSERT_TRUE(asked);
        cluster_->pass(std::chrono::milliseconds(1600));
        cluster_->carry();
        cluster_->settle();
        // The construct, and the server's participation in the destruct.
        EXPECT_EQ(cluster_->host(1).count("group"), 2U);
        asked->answer(answer_of(PMIX_SUCCESS));
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        EXPECT_EQ(known("g", 1), nullptr);
    }
}

}  // namespace
}  // namespace muster::testing_in_memory
