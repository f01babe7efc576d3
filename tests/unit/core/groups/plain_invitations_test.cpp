// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation among processes of this library and of OpenPMIx, whose events say less: its answers
// name no group, and its leaders before 6.0 do not list the members.
#include "core/groups/invitation.hpp"
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
    /// A leader on OpenPMIx says something about its group.
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
    // An answer to nothing is none, and ends no wait.
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

}  // namespace
}  // namespace muster::testing_in_memory
