// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation among processes of this library and of OpenPMIx, whose events carry less information:
// its answers name no group, and its leaders before 6.0 do not list the members.
#include <unistd.h>

#include <functional>

#include "core/exchange/peer.hpp"
#include "core/groups/invitation.hpp"
#include "core/groups/invitation_watch.hpp"
#include "tests/unit/core/in_memory/groups.hpp"

namespace muster::testing_in_memory {
namespace {

class PlainInvitationsTest : public GroupsInMemory {
  protected:
    /// A member on OpenPMIx answers: to the leader, or without one to all.
    void answers(pmix_rank_t rank, pmix_status_t code, const pmix_proc_t* leader) {
        Info info;
        if (leader != nullptr) info.add(PMIX_EVENT_CUSTOM_RANGE, *leader);
        const pmix_data_range_t range = leader != nullptr ? PMIX_RANGE_CUSTOM : PMIX_RANGE_SESSION;
        const Call said = notify(process(rank), code, range, std::move(info));
        cluster_->settle();
    }
    /// A leader on OpenPMIx sends an event about its group.
    void leads(pmix_status_t code, const std::string& id, const std::vector<pmix_proc_t>& procs,
               bool lists_members) {
        Info info;
        info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(procs));
        if (lists_members) info.add(PMIX_GROUP_MEMBERSHIP, procs_value(procs));
        info.add(PMIX_EVENT_NON_DEFAULT, true);
        info.add(PMIX_GROUP_ID, id.c_str());
        const Call said = notify(process(0), code, PMIX_RANGE_CUSTOM, std::move(info));
        cluster_->settle();
    }
};

TEST_F(PlainInvitationsTest, AnswersThatNameNoGroupCount) {
    for (const int nodes : {1, 2}) {
        start(3, nodes);
        const pmix_proc_t leader = proc(0);
        const Call invited = invite(process(0), "g", all());
        cluster_->settle();
        answers(1, PMIX_GROUP_INVITE_ACCEPTED, &leader);
        EXPECT_EQ(invited.answers(), 0);
        answers(2, PMIX_GROUP_INVITE_ACCEPTED, nullptr);
        ASSERT_TRUE(all_have({{0, invited}}, PMIX_SUCCESS, ranks()));
        ASSERT_NE(known("g", nodes - 1), nullptr);
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(PlainInvitationsTest, AnAnswerCountsForTheEarliestInvitationThatItsSenderHasNotAnswered) {
    start(3);
    const pmix_proc_t leader = proc(0);
    const Call first = invite(process(0), "first", all());
    const Call second = invite(process(0), "second", procs_of("job", {0, 2}));
    cluster_->settle();
    answers(2, PMIX_GROUP_INVITE_DECLINED, &leader);
    answers(2, PMIX_GROUP_INVITE_ACCEPTED, &leader);
    ASSERT_TRUE(all_have({{0, second}}, PMIX_SUCCESS, {0, 2}));
    EXPECT_EQ(first.answers(), 0);
    // An answer without an invitation is ignored, and ends no wait.
    answers(2, PMIX_GROUP_INVITE_ACCEPTED, &leader);
    EXPECT_EQ(first.answers(), 0);
    answers(1, PMIX_GROUP_INVITE_ACCEPTED, &leader);
    ASSERT_TRUE(all_have({{0, first}}, PMIX_ERR_PARTIAL_SUCCESS, {0, 1}));
}

TEST_F(PlainInvitationsTest, LeadersNeedNotListTheMembers) {
    const auto whole_job = std::vector<pmix_proc_t>{make_proc("job", PMIX_RANK_WILDCARD)};
    for (const int nodes : {1, 2}) {
        for (const bool lists_members : {false, true}) {
            for (const bool whole : {false, true}) {
                SCOPED_TRACE(std::to_string(nodes) + (lists_members ? " listed" : "") +
                             (whole ? " whole" : ""));
                start(3, nodes);
                const auto procs = whole ? whole_job : all();
                leads(PMIX_GROUP_INVITED, "g", procs, false);
                const Call joined = join(process(1), "g", proc(0), true);
                cluster_->settle();
                EXPECT_EQ(joined.answers(), 0);
                answers(2, PMIX_GROUP_INVITE_ACCEPTED, nullptr);
                leads(PMIX_GROUP_CONSTRUCT_COMPLETE, "g", procs, lists_members);
                ASSERT_TRUE(all_have({{1, joined}}, PMIX_SUCCESS, ranks()));
                for (int node = 0; node < nodes; ++node) {
                    ASSERT_NE(known("g", node), nullptr);
                    EXPECT_EQ(known("g", node)->procs().size(), 3U);
                }
            }
        }
    }
}

TEST_F(PlainInvitationsTest, AnnouncementsForNobodyMakeNoGroup) {
    start(2);
    Info info;
    info.add(PMIX_GROUP_ID, "g");
    const Call said = notify(process(0), PMIX_GROUP_CONSTRUCT_COMPLETE, PMIX_RANGE_SESSION, std::move(info));
    cluster_->settle();
    EXPECT_EQ(known("g"), nullptr);
}

/// A server that leads an invitation for its client, as clients of OpenPMIx 7.0 request it.
class LedInvitationsTest : public PlainInvitationsTest {
  protected:
    /// The status of the request.
    pmix_status_t lead(const std::string& id, bool optional = false, std::chrono::seconds limit = {}) {
        LedInvitation wanted;
        wanted.id = id;
        wanted.leader = proc(0);
        wanted.user = geteuid();
        wanted.members = all();
        wanted.optional = optional;
        wanted.limit = limit;
        pmix_status_t begun = PMIX_ERROR;
        on_watch([&](InvitationWatch& watch) {
            watch.lead(wanted, [&](pmix_status_t status) { begun = status; });
        });
        cluster_->settle();
        return begun;
    }
    /// A client of the same node answers through its server.
    pmix_status_t pass_answer(pmix_rank_t rank, const std::string& id, pmix_status_t code,
                              const std::optional<pmix_proc_t>& leader) {
        Peer peer;
        peer.proc = proc(rank);
        peer.uid = geteuid();
        pmix_status_t passed = PMIX_ERROR;
        on_watch([&](InvitationWatch& watch) {
            watch.pass_answer(peer, id, code, leader, [&](pmix_status_t status) { passed = status; });
        });
        cluster_->settle();
        return passed;
    }
    Listener& outcomes() { return listen(0, {PMIX_GROUP_CONSTRUCT_COMPLETE, PMIX_GROUP_CONSTRUCT_ABORT}); }

  private:
    void on_watch(const std::function<void(InvitationWatch&)>& what) {
        cluster_->at(0, [&](auto& node) {
            node.on_loop([&] { what(node.server().queries().group_server().invitation_watch()); });
        });
    }
};

TEST_F(LedInvitationsTest, TheGroupIsAnnouncedToAllWhenAllHaveAccepted) {
    for (const int nodes : {1, 2}) {
        start(4, nodes);
        Listener& heard = outcomes();
        ASSERT_EQ(lead("g"), PMIX_SUCCESS);
        EXPECT_EQ(lead("g"), PMIX_ERR_EXISTS);
        ASSERT_EQ(pass_answer(1, "g", PMIX_GROUP_INVITE_ACCEPTED, std::nullopt), PMIX_SUCCESS);
        const Call second = join(process(2), "g", proc(0), true);
        cluster_->settle();
        EXPECT_EQ(heard.heard.size(), 0U);
        const Call third = join(process(3), "g", proc(0), true);
        ASSERT_TRUE(all_have({{2, second}, {3, third}}, PMIX_SUCCESS, ranks()));
        ASSERT_EQ(heard.heard.size(), 1U);
        EXPECT_EQ(heard.heard[0].status, PMIX_GROUP_CONSTRUCT_COMPLETE);
        EXPECT_STREQ(heard.heard[0].info.view().string(PMIX_GROUP_ID), "g");
        for (int node = 0; node < nodes; ++node)
            ASSERT_NE(known("g", node), nullptr);
        EXPECT_EQ(lead("g"), PMIX_ERR_EXISTS);
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(LedInvitationsTest, OneWhoDeclinesEndsItUnlessThatIsOptional) {
    for (const bool optional : {false, true}) {
        start(3);
        Listener& heard = outcomes();
        ASSERT_EQ(lead("g", optional), PMIX_SUCCESS);
        const Call member = join(process(2), "g", proc(0), true);
        cluster_->settle();
        ASSERT_EQ(pass_answer(1, "g", PMIX_GROUP_INVITE_DECLINED, proc(0)), PMIX_SUCCESS);
        if (optional) {
            ASSERT_TRUE(all_have({{2, member}}, PMIX_SUCCESS, {0, 2}));
        } else {
            ASSERT_TRUE(all_have({{2, member}}, PMIX_GROUP_CONSTRUCT_ABORT));
        }
        ASSERT_EQ(heard.heard.size(), 1U);
        EXPECT_EQ(heard.heard[0].status,
                  optional ? PMIX_GROUP_CONSTRUCT_COMPLETE : PMIX_GROUP_CONSTRUCT_ABORT);
        EXPECT_EQ(known("g") != nullptr, optional);
    }
}

TEST_F(LedInvitationsTest, TheLeaderHearsOfItsEndWhenNobodyIsLeft) {
    for (const bool optional : {false, true}) {
        start(2);
        Listener& heard = outcomes();
        ASSERT_EQ(lead("g", optional), PMIX_SUCCESS);
        ASSERT_EQ(pass_answer(1, "g", PMIX_GROUP_INVITE_DECLINED, proc(0)), PMIX_SUCCESS);
        cluster_->finish();
        ASSERT_EQ(heard.heard.size(), 1U);
        EXPECT_EQ(heard.heard[0].status,
                  optional ? PMIX_GROUP_CONSTRUCT_COMPLETE : PMIX_GROUP_CONSTRUCT_ABORT);
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(LedInvitationsTest, ItEndsWithItsTimeLimitAndWithAMember) {
    for (const bool dies : {false, true}) {
        start(3);
        Listener& heard = outcomes();
        ASSERT_EQ(lead("g", false, std::chrono::seconds(60)), PMIX_SUCCESS);
        const Call member = join(process(2), "g", proc(0), true);
        cluster_->settle();
        if (dies) {
            cluster_->kill("job", 1);
        } else {
            cluster_->pass(std::chrono::seconds(61));
        }
        ASSERT_TRUE(all_have({{2, member}}, PMIX_GROUP_CONSTRUCT_ABORT));
        ASSERT_EQ(heard.heard.size(), 1U);
        EXPECT_EQ(heard.heard[0].status, PMIX_GROUP_CONSTRUCT_ABORT);
        EXPECT_TRUE(nothing_is_left());
    }
}

TEST_F(LedInvitationsTest, WrongAnswersAndNamesAreRefused) {
    start(2);
    EXPECT_EQ(lead(""), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pass_answer(1, "g", PMIX_SUCCESS, proc(0)), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pass_answer(1, "", PMIX_GROUP_INVITE_ACCEPTED, proc(0)), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster::testing_in_memory
