// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation in memory: answers in every order, refusals, time
// limits, substitutes, context ids, members and leaders that die at each step,
// and leaving.
#include "core/groups/invitation.hpp"

#include <pmix/muster.h>

#include "core/groups/invitation_watch.hpp"
#include "tests/unit/core/in_memory/groups.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

class InvitationTest : public GroupsInMemory {
  protected:
    /// Rank 0 invites the others.
    Call invite_all(const std::string& id, Info info = {}) {
        return invite(process(0), id, all(), std::move(info));
    }
    Call accept(pmix_rank_t rank, const std::string& id, Info info = {}) {
        return join(process(rank), id, proc(0), true, std::move(info));
    }
    Call decline(pmix_rank_t rank, const std::string& id) { return join(process(rank), id, proc(0), false); }
    Calls of(const std::vector<std::pair<pmix_rank_t, Call>>& list) {
        return Calls(list.begin(), list.end());
    }
    /// The processes whose answer a server still expects.
    size_t awaited(const std::string& id) {
        size_t count = 0;
        cluster_->at(0, [&](auto& node) {
            node.on_loop([&] {
                Info qualifiers, found;
                qualifiers.add(PMIX_GROUP_ID, id.c_str());
                auto& watch = node.server().queries().group_server().invitation_watch();
                if (!watch.answer(0, MUSTER_GROUPS_INVITED, qualifiers, found)) return;
                std::vector<pmix_proc_t> procs;
                append_procs(found[0].value, procs);
                count = procs.size();
            });
        });
        return count;
    }
};

TEST_F(InvitationTest, CompletesInAnyOrderOfAnswers) {
    for (const int nodes : {1, 2}) {
        start(4, nodes);
        std::vector<pmix_rank_t> order = {1, 2, 3};
        int round = 0;
        do {
            const std::string id = "g" + std::to_string(++round);
            Calls calls = of({{0, invite_all(id)}});
            // The first answers before the invitation can have arrived.
            for (const pmix_rank_t rank : order) {
                calls[rank] = accept(rank, id);
                cluster_->settle(2);
                cluster_->carry();
            }
            ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks())) << id;
            ASSERT_NE(known(id, nodes - 1), nullptr);
            EXPECT_TRUE(nothing_is_left());
        } while (std::next_permutation(order.begin(), order.end()));
        ASSERT_TRUE(all_have(destruct_all("g1"), PMIX_SUCCESS));
    }
}

TEST_F(InvitationTest, TheServerKnowsWhoHasNotAnswered) {
    start(3);
    Calls calls = of({{0, invite_all("g")}});
    cluster_->settle();
    EXPECT_EQ(awaited("g"), 2U);
    EXPECT_EQ(awaited("other"), 0U);
    calls[1] = accept(1, "g");
    cluster_->settle();
    EXPECT_EQ(awaited("g"), 1U);
    EXPECT_EQ(cluster_->waits().size(), 2U);
    calls[2] = accept(2, "g");
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
    EXPECT_EQ(awaited("g"), 0U);
}

TEST_F(InvitationTest, AnswersWithoutALeaderGoToTheLastOneWhoInvited) {
    start(3);
    Listener& invited = listen(1, {PMIX_GROUP_INVITED});
    const Call first = invite(process(0), "g", procs_of("job", {0, 1}));
    cluster_->settle();
    ASSERT_EQ(invited.heard.size(), 1U);
    EXPECT_STREQ(invited.heard[0].info.view().string(PMIX_GROUP_ID), "g");
    ASSERT_TRUE(all_have(of({{1, join(process(1), "none", std::nullopt)}}), PMIX_ERR_NOT_FOUND));
    const Call joined = join(process(1), "g", std::nullopt);
    ASSERT_TRUE(all_have(of({{0, first}, {1, joined}}), PMIX_SUCCESS, {0, 1}));
}

TEST_F(InvitationTest, RefusesWrongCalls) {
    start(2);
    ASSERT_TRUE(all_have(of({{0, join(process(0), "g", proc(0))}}), PMIX_ERR_BAD_PARAM));
    ASSERT_TRUE(all_have(of({{0, invite(process(0), "g", {make_proc("unknown", PMIX_RANK_WILDCARD)})}}),
                         PMIX_ERR_BAD_PARAM));
    const Call waiting = invite_all("g");
    cluster_->settle();
    ASSERT_TRUE(all_have(of({{0, invite_all("g")}}), PMIX_ERR_EXISTS));
    const Call joined = accept(1, "g");
    const Call twice = accept(1, "g");
    ASSERT_TRUE(all_have(of({{0, waiting}, {1, joined}}), PMIX_SUCCESS));
    EXPECT_EQ(twice.status(), PMIX_ERR_EXISTS);
    ASSERT_TRUE(all_have(of({{0, invite_all("g")}}), PMIX_ERR_EXISTS));
}

TEST_F(InvitationTest, GoesOnWithoutThoseWhoDecline) {
    start(3);
    Listener& declined = listen(0, {PMIX_GROUP_INVITE_DECLINED, PMIX_GROUP_INVITE_ACCEPTED});
    const Call leader = invite_all("g");
    cluster_->settle();
    ASSERT_TRUE(all_have(of({{1, decline(1, "g")}}), PMIX_SUCCESS));
    const Call member = accept(2, "g");
    ASSERT_TRUE(all_have(of({{0, leader}}), PMIX_ERR_PARTIAL_SUCCESS, {0, 2}));
    ASSERT_TRUE(all_have(of({{2, member}}), PMIX_SUCCESS, {0, 2}));
    EXPECT_EQ(declined.heard.size(), 2U);
}

TEST_F(InvitationTest, AHandlerOfTheLeaderAbortsOrInvitesSubstitutes) {
    start(4);
    Listener& declined = listen(0, {PMIX_GROUP_INVITE_DECLINED});
    declined.adds.add(PMIX_GROUP_ADD_MEMBERS, procs_value(procs_of("job", {3})));
    const Call leader = invite(process(0), "g", procs_of("job", {0, 1, 2}));
    cluster_->settle();
    const Call second = accept(2, "g");
    const Call no = decline(1, "g");
    cluster_->settle();
    EXPECT_FALSE(leader.there());
    const Call substitute = accept(3, "g");
    // The substitute takes the rank of the process that it replaces.
    ASSERT_TRUE(all_have(of({{0, leader}, {2, second}, {3, substitute}}), PMIX_SUCCESS, {0, 3, 2}));
    declined.adds = Info();
    declined.returns = PMIX_GROUP_CONSTRUCT_ABORT;
    const Call other = invite_all("h");
    cluster_->settle();
    const Call waits = accept(2, "h");
    cluster_->settle();
    const Call refuses = decline(1, "h");
    ASSERT_TRUE(all_have(of({{0, other}, {2, waits}}), PMIX_GROUP_CONSTRUCT_ABORT));
    ASSERT_TRUE(all_have(of({{3, accept(3, "h")}}), PMIX_GROUP_CONSTRUCT_ABORT));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(InvitationTest, EndsWithTheTimeLimitOfTheLeader) {
    start(3);
    const Call leader = invite_all("g", with_timeout(60));
    const Call member = accept(1, "g");
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(59));
    EXPECT_FALSE(leader.there());
    cluster_->pass(std::chrono::seconds(2));
    ASSERT_TRUE(all_have(of({{0, leader}}), PMIX_ERR_TIMEOUT));
    ASSERT_TRUE(all_have(of({{1, member}}), PMIX_GROUP_CONSTRUCT_ABORT));
    ASSERT_TRUE(all_have(of({{2, accept(2, "g")}}), PMIX_GROUP_CONSTRUCT_ABORT));
    EXPECT_TRUE(nothing_is_left());
    const Call partial = invite_all("h", with_timeout(60, with(PMIX_GROUP_OPTIONAL)));
    const Call in = accept(1, "h");
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(61));
    ASSERT_TRUE(all_have(of({{0, partial}}), PMIX_ERR_PARTIAL_SUCCESS, {0, 1}));
    ASSERT_TRUE(all_have(of({{1, in}}), PMIX_SUCCESS, {0, 1}));
    // They have continued without it.
    ASSERT_TRUE(all_have(of({{2, accept(2, "h")}}), PMIX_GROUP_CONSTRUCT_ABORT));
}

TEST_F(InvitationTest, AJoinThatTimesOutWithdraws) {
    start(3);
    const Call leader = invite_all("g");
    const Call member = accept(1, "g", with_timeout(30));
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(31));
    ASSERT_TRUE(all_have(of({{1, member}}), PMIX_ERR_TIMEOUT));
    ASSERT_TRUE(all_have(of({{2, accept(2, "g")}}), PMIX_SUCCESS, {0, 2}));
    ASSERT_TRUE(all_have(of({{0, leader}}), PMIX_ERR_PARTIAL_SUCCESS, {0, 2}));
}

TEST_F(InvitationTest, AsksTheHostForAContextId) {
    start(3);
    Listener& assigned = listen(1, {PMIX_GROUP_CONTEXT_ID_ASSIGNED});
    Calls calls = of({{0, invite_all("g", with(PMIX_GROUP_ASSIGN_CONTEXT_ID))}});
    calls[1] = accept(1, "g");
    calls[2] = accept(2, "g");
    cluster_->settle();
    EXPECT_TRUE(nobody_answered(calls));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
    for (const auto& [rank, one] : calls)
        EXPECT_EQ(one.context_id(), std::optional<size_t>(1)) << rank;
    EXPECT_EQ(assigned.heard.size(), 1U);
}

TEST_F(InvitationTest, FailsWithTheHostThatHasNoContextId) {
    for (const int how : {0, 1, 2}) {  // refused, no id in the answer, no answer in time
        SCOPED_TRACE(how);
        start(2);
        if (how == 0) cluster_->host().returns["group"] = PMIX_ERR_NO_PERMISSIONS;
        const Call leader = invite_all("g", with_timeout(60, with(PMIX_GROUP_ASSIGN_CONTEXT_ID)));
        const Call member = accept(1, "g");
        cluster_->settle();
        const auto asked = cluster_->host().take("group");
        EXPECT_EQ(asked != nullptr, how != 0);
        if (how == 1) asked->answer(answer_of(PMIX_SUCCESS));
        if (how == 2) cluster_->pass(std::chrono::seconds(61));
        const pmix_status_t expected[] = {PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_TIMEOUT};
        ASSERT_TRUE(all_have(of({{0, leader}}), expected[how]));
        ASSERT_TRUE(all_have(of({{1, member}}), PMIX_GROUP_CONSTRUCT_ABORT));
        if (how == 2) {
            HostAnswer late = answer_of(PMIX_SUCCESS);
            late.info.add(PMIX_GROUP_CONTEXT_ID, size_t{3});
            asked->answer(late);
            cluster_->settle();
            EXPECT_EQ(leader.answers(), 1);
            EXPECT_EQ(known("g"), nullptr);
        }
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(InvitationTest, TheProgramOfTheLeaderMayAbort) {
    for (const pmix_data_range_t range : {PMIX_RANGE_CUSTOM, PMIX_RANGE_NAMESPACE}) {
        start(3);
        const Call leader = invite_all("g");
        const Call member = accept(1, "g");
        cluster_->settle();
        Info info;
        info.add(PMIX_GROUP_ID, "g");
        if (range == PMIX_RANGE_CUSTOM) info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(procs_of("job", {1})));
        const Call said = notify(process(0), PMIX_GROUP_CONSTRUCT_ABORT, range, std::move(info));
        ASSERT_TRUE(all_have(of({{0, leader}, {1, member}}), PMIX_GROUP_CONSTRUCT_ABORT));
        ASSERT_TRUE(all_have(of({{2, accept(2, "g")}}), PMIX_GROUP_CONSTRUCT_ABORT));
        EXPECT_TRUE(nothing_is_left());
    }
}

// --- members that die ---

TEST_F(InvitationTest, FailsWhenAMemberDiesAndNobodyMinds) {
    for (const int nodes : {1, 2}) {
        for (const bool accepted : {false, true}) {
            for (const bool early : {false, true}) {
                SCOPED_TRACE("nodes " + std::to_string(nodes) + (accepted ? ", accepted" : "") +
                             (early ? ", early" : ""));
                start(4, nodes);
                Listener& failures = listen(0, {PMIX_GROUP_INVITE_FAILED, PMIX_GROUP_MEMBER_FAILED});
                if (early) {
                    cluster_->kill("job", 1);
                    cluster_->settle();
                }
                const Call leader = invite_all("g");
                const Call member = accept(2, "g");
                cluster_->finish();
                if (accepted && !early) {
                    accept(1, "g");
                    cluster_->finish();
                }
                if (!early) cluster_->kill("job", 1);
                ASSERT_TRUE(all_have(of({{0, leader}}), PMIX_GROUP_MEMBER_FAILED));
                ASSERT_TRUE(all_have(of({{2, member}}), PMIX_GROUP_CONSTRUCT_ABORT));
                ASSERT_EQ(failures.heard.size(), 1U);
                EXPECT_EQ(affected_by(failures.heard[0]), 1U);
                EXPECT_EQ(failures.heard[0].status,
                          accepted && !early ? PMIX_GROUP_MEMBER_FAILED : PMIX_GROUP_INVITE_FAILED);
                EXPECT_TRUE(nothing_is_left());
            }
        }
    }
}

TEST_F(InvitationTest, GoesOnWithoutADeadMemberWhereThatIsWanted) {
    for (const int how : {0, 1, 2}) {  // optional, fault tolerant, a handler took action
        SCOPED_TRACE(how);
        start(4, 2);
        Info info;
        if (how == 0) info.add(PMIX_GROUP_OPTIONAL, true);
        if (how == 1) info.add(PMIX_GROUP_FT_COLLECTIVE, true);
        if (how == 2) listen(0, {PMIX_GROUP_MEMBER_FAILED}).returns = PMIX_EVENT_ACTION_COMPLETE;
        const Call leader = invite_all("g", std::move(info));
        accept(1, "g");
        cluster_->finish();
        cluster_->kill("job", 1);
        cluster_->finish();
        const Calls members = of({{2, accept(2, "g")}, {3, accept(3, "g")}});
        ASSERT_TRUE(all_have(members, PMIX_SUCCESS, {0, 2, 3}));
        ASSERT_TRUE(all_have(of({{0, leader}}), PMIX_ERR_PARTIAL_SUCCESS, {0, 2, 3}));
    }
}

TEST_F(InvitationTest, TellsOfAMemberThatDiesWhenTheGroupIsThere) {
    for (const bool notify_all : {false, true}) {
        start(4, 2);
        Listener& failures = listen(0, {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_MEMBERSHIP_UPDATE});
        Info info;
        if (notify_all) info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
        Calls calls = of({{0, invite_all("g", std::move(info))}});
        for (const pmix_rank_t rank : {1U, 2U, 3U})
            calls[rank] = accept(rank, "g");
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
        cluster_->kill("job", 3);
        cluster_->finish();
        EXPECT_EQ(failures.count(PMIX_GROUP_MEMBER_FAILED), notify_all ? 1U : 0U);
        ASSERT_NE(known("g"), nullptr);
        EXPECT_EQ(known("g")->members.size(), notify_all ? 3U : 4U);
    }
}

// --- the leader dies ---

TEST_F(InvitationTest, SelectsANewLeaderWhenTheLeaderDies) {
    for (const int nodes : {1, 2}) {
        SCOPED_TRACE(nodes);
        start(4, nodes);
        Listener& claims = listen(2, {PMIX_GROUP_LEADER_FAILED});
        claims.adds.add(PMIX_GROUP_LEADER, true);
        Listener& selected = listen(1, {PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEADER_SELECTED});
        invite_all("g");
        cluster_->finish();
        Calls calls;
        for (const pmix_rank_t rank : {1U, 2U})
            calls[rank] = accept(rank, "g");
        cluster_->finish();
        cluster_->kill("job", 0);
        cluster_->finish();
        EXPECT_EQ(selected.count(PMIX_GROUP_LEADER_FAILED), 1U);
        ASSERT_EQ(selected.count(PMIX_GROUP_LEADER_SELECTED), 1U);
        EXPECT_EQ(affected_by(*selected.last(PMIX_GROUP_LEADER_SELECTED)), 2U);
        EXPECT_TRUE(nobody_answered(calls));
        calls[3] = accept(3, "g");
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {1, 2, 3}));
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(InvitationTest, ANewLeaderKeepsTheTermsOfAnInvitationThatItAnsweredBeforeItCame) {
    for (const int nodes : {1, 2}) {
        start(3, nodes);
        listen(1, {PMIX_GROUP_LEADER_FAILED}).adds.add(PMIX_GROUP_LEADER, true);
        Calls calls;
        Info info = with(PMIX_GROUP_ASSIGN_CONTEXT_ID);
        info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
        invite_all("g", std::move(info));
        calls[1] = accept(1, "g");
        process(0).runtime().progress();  // the invitation is in flight
        cluster_->finish();
        cluster_->kill("job", 0);
        cluster_->finish();
        calls[2] = accept(2, "g");
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {1, 2}));
        EXPECT_TRUE(calls[1].context_id().has_value());
        ASSERT_NE(known("g", 0), nullptr);
        EXPECT_TRUE(known("g", 0)->notify_termination);
    }
}

TEST_F(InvitationTest, AnAnswerThatPassesItsInvitationCountsWhenTheLeaderDies) {
    for (const int nodes : {1, 2}) {
        start(3, nodes);
        invite_all("g");
        process(0).runtime().progress();
        Calls calls;
        calls[1] = accept(1, "g");
        // The answer of rank 1 is read first, then the invitation.
        process(1).runtime().progress();
        process(1).runtime().progress();
        cluster_->finish();
        cluster_->kill("job", 0);
        cluster_->finish();
        cluster_->pass(std::chrono::milliseconds(2100));
        ASSERT_TRUE(all_have(calls, PMIX_GROUP_LEADER_FAILED));
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(InvitationTest, AnAnswerThatComesBeforeTheLeaderListensIsHeldForIt) {
    for (const int nodes : {1, 2}) {
        start(3, nodes);
        Calls calls;
        calls[1] = accept(1, "g");
        cluster_->finish();
        calls[0] = invite_all("g");
        cluster_->finish();
        calls[2] = accept(2, "g");
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(InvitationTest, EndsWhereNobodyWantsToLead) {
    start(3);
    invite_all("g");
    Calls calls;
    calls[1] = accept(1, "g");
    cluster_->settle();
    cluster_->kill("job", 0);
    cluster_->settle();
    // Rank 2, which has not answered its invitation, has two seconds.
    EXPECT_TRUE(nobody_answered(calls));
    cluster_->pass(std::chrono::milliseconds(2100));
    ASSERT_TRUE(all_have(calls, PMIX_GROUP_LEADER_FAILED));
    EXPECT_TRUE(nothing_is_left());
    const Call late = accept(2, "g");
    cluster_->finish();
    EXPECT_TRUE(late.there());
    EXPECT_FALSE(late.good());
}

TEST_F(InvitationTest, AnyParticipantMayAbortWhenTheLeaderDies) {
    start(4);
    Listener& aborts = listen(3, {PMIX_GROUP_LEADER_FAILED});
    aborts.returns = PMIX_GROUP_CONSTRUCT_ABORT;
    invite_all("g");
    Calls calls;
    for (const pmix_rank_t rank : {1U, 2U})
        calls[rank] = accept(rank, "g");
    cluster_->settle();
    cluster_->kill("job", 0);
    ASSERT_TRUE(all_have(calls, PMIX_GROUP_CONSTRUCT_ABORT));
    ASSERT_TRUE(all_have(of({{3, accept(3, "g")}}), PMIX_GROUP_CONSTRUCT_ABORT));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(InvitationTest, RepeatsTheElectionWhenTheNewLeaderDies) {
    start(4, 2);
    for (const pmix_rank_t rank : {1U, 2U, 3U})
        listen(rank, {PMIX_GROUP_LEADER_FAILED}).adds.add(PMIX_GROUP_LEADER, true);
    invite_all("g");
    cluster_->finish();
    Calls calls;
    for (const pmix_rank_t rank : {1U, 2U})
        calls[rank] = accept(rank, "g");
    cluster_->finish();
    Listener& selected = listen(3, {PMIX_GROUP_LEADER_SELECTED});
    cluster_->kill("job", 0);
    cluster_->finish();
    ASSERT_EQ(selected.count(PMIX_GROUP_LEADER_SELECTED), 1U);
    const pmix_rank_t first = affected_by(selected.heard.back());
    if (first == 3) GTEST_SKIP() << "rank 3 was the first to offer";
    cluster_->kill("job", first);
    calls.erase(first);
    cluster_->finish();
    ASSERT_EQ(selected.count(PMIX_GROUP_LEADER_SELECTED), 2U);
    calls[3] = accept(3, "g");
    std::vector<pmix_rank_t> left = {1, 2, 3};
    std::erase(left, first);
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, left));
}

TEST_F(InvitationTest, AnswersALateJoinInThePlaceOfALeaderThatHasGone) {
    start(3);
    const Call leader = invite_all("g", with_timeout(60));
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(61));
    ASSERT_TRUE(leader.there());
    cluster_->kill("job", 0);
    cluster_->settle();
    const Call late = join(process(1), "other", proc(0));
    ASSERT_TRUE(all_have(of({{1, late}}), PMIX_GROUP_CONSTRUCT_ABORT));
}

TEST_F(InvitationTest, EndsWithTheConnectionToTheServer) {
    start(3);
    Calls calls = of({{0, invite_all("g")}});
    calls[1] = accept(1, "g");
    cluster_->settle();
    cluster_->at(0, [](auto& node) { node.on_loop([&] { node.server().close(); }); });
    ASSERT_TRUE(cluster_->until([&] { return calls[0].there() && calls[1].there(); }));
    EXPECT_EQ(calls[0].status(), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(calls[1].status(), PMIX_ERR_LOST_CONNECTION);
}

TEST_F(InvitationTest, AJoinHearsOfALeaderThatHasGoneBeforeItsInvitationCame) {
    start(3);
    listen(1, {PMIX_GROUP_LEADER_FAILED});
    invite(process(0), "g", procs_of("job", {0, 1}));
    cluster_->settle();
    cluster_->kill("job", 0);
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(3));
    const Call late = accept(1, "g");
    cluster_->finish();
    cluster_->pass(std::chrono::seconds(3));
    ASSERT_EQ(late.answers(), 1);
    EXPECT_FALSE(late.good());
    EXPECT_TRUE(nothing_is_left());
}

// --- leaving ---

TEST_F(InvitationTest, AMemberLeavesAndTheOthersKeepTheirRanks) {
    for (const int nodes : {1, 2}) {
        start(4, nodes);
        ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
        Listener& heard = listen(0, {PMIX_GROUP_LEFT, PMIX_GROUP_MEMBERSHIP_UPDATE});
        ASSERT_TRUE(all_have(of({{1, leave(process(1), "g")}}), PMIX_SUCCESS));
        EXPECT_EQ(heard.count(PMIX_GROUP_LEFT), 1U);
        EXPECT_EQ(heard.count(PMIX_GROUP_MEMBERSHIP_UPDATE), 1U);
        for (int node = 0; node < nodes; ++node) {
            ASSERT_NE(known("g", node), nullptr);
            EXPECT_EQ(known("g", node)->members.size(), 3U);
            EXPECT_EQ(known("g", node)->member(1), nullptr);
            ASSERT_NE(known("g", node)->member(2), nullptr);
        }
        ASSERT_TRUE(all_have(of({{1, leave(process(1), "g")}}), PMIX_ERR_NOT_FOUND));
        ASSERT_TRUE(all_have(destruct_all("g", {0, 2, 3}), PMIX_SUCCESS));
    }
}

TEST_F(InvitationTest, AGroupThatIsMadeCannotBeLeft) {
    start(2);
    const Call leader = invite_all("g");
    cluster_->settle();
    ASSERT_TRUE(all_have(of({{0, leave(process(0), "g")}}), PMIX_ERR_INVALID_OPERATION));
    const Call member = accept(1, "g");
    ASSERT_TRUE(all_have(of({{0, leader}, {1, member}}), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(of({{0, leave(process(0), "g")}, {1, leave(process(1), "g")}}), PMIX_SUCCESS));
    EXPECT_EQ(known("g"), nullptr);
}

TEST_F(InvitationTest, ARequestToLeaveOfAnotherLibraryIsServed) {
    start(3);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
    const auto asks = [&](const char* id) {
        Process& from = process(1);
        return call(from, [&from, id](HostDone done) {
            Packer message = from.client()->packer(Command::GroupLeave);
            message.string(id).infos({});
            from.client()->request_status(std::move(message),
                                          [done](pmix_status_t status) { done(answer_of(status)); });
        });
    };
    ASSERT_TRUE(all_have(of({{1, asks("none")}}), PMIX_ERR_NOT_FOUND));
    ASSERT_TRUE(all_have(of({{1, asks("g")}}), PMIX_SUCCESS));
    ASSERT_NE(known("g"), nullptr);
    EXPECT_EQ(known("g")->members.size(), 2U);
}

TEST_F(InvitationTest, MembersThatLeaveOrEndAreNotWaitedForByADestruct) {
    for (const bool leaves : {true, false}) {
        for (const bool asked_first : {true, false}) {
            SCOPED_TRACE(std::string(leaves ? "leaves" : "dies") + (asked_first ? " after" : " before"));
            start(4, 2);
            ASSERT_TRUE(all_have(construct_all("g", with(PMIX_GROUP_NOTIFY_TERMINATION)), PMIX_SUCCESS));
            Calls calls;
            const auto node_0_calls = [&] {
                calls[0] = destruct(process(0), "g");
                calls[2] = destruct(process(2), "g");
                cluster_->settle();
                cluster_->carry();
            };
            if (asked_first) node_0_calls();
            // Both members of the other node leave.
            for (const pmix_rank_t rank : {1U, 3U}) {
                if (leaves)
                    leave(process(rank), "g");
                else
                    cluster_->kill("job", rank);
                cluster_->finish();
            }
            if (!asked_first) node_0_calls();
            cluster_->finish();
            for (int second = 0; second < 3; ++second)
                cluster_->pass(std::chrono::seconds(1));
            ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
            EXPECT_EQ(known("g", 0), nullptr);
            EXPECT_EQ(known("g", 1), nullptr);
            EXPECT_TRUE(nothing_is_left());
        }
    }
}

}  // namespace
}  // namespace muster::testing_in_memory
