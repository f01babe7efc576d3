// SPDX-License-Identifier: BSD-3-Clause
// The table of groups: members and ranks, translation of ids, names and queries.
#include "core/exchange/group_table.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

class Groups : public ::testing::Test {
  protected:
    Group group(const char* id, std::initializer_list<pmix_rank_t> ranks) {
        Group made;
        made.id = id;
        std::vector<pmix_proc_t> procs;
        for (const pmix_rank_t rank : ranks)
            procs.push_back(make_proc("job", rank));
        made.set_members(procs);
        return made;
    }
    std::string text(const std::vector<pmix_proc_t>& procs) {
        std::string all;
        for (const pmix_proc_t& proc : procs)
            all += proc_text(proc) + " ";
        return all;
    }
    std::string expanded(std::vector<pmix_proc_t> procs) {
        return table.expand(procs) ? text(procs) : "none";
    }
    GroupTable table;
};

TEST_F(Groups, AWholeGroupIsExpandedOnce) {
    table.add(group("g", {7, 3, 5}));
    table.add(group("h", {1, 2}));
    const pmix_proc_t g = make_proc("g", PMIX_RANK_WILDCARD), h = make_proc("h", PMIX_RANK_WILDCARD);
    EXPECT_EQ(expanded({g, g, h, g, make_proc("g", 1), h}), "job:7 job:3 job:5 job:1 job:2 job:3 ");
}

TEST_F(Groups, MemoryIsCountedUntilRemoval) {
    const auto of = [&](const char* payer, const char* id, std::initializer_list<pmix_rank_t> ranks) {
        Group made = group(id, ranks);
        made.payer = payer;
        table.add(std::move(made));
    };
    of("", "nobody's", {1});
    EXPECT_EQ(table.memory(""), 0U);
    of("one", "g", {1, 2, 3});
    const size_t first = table.memory("one");
    EXPECT_GE(first, GroupTable::memory_of("g", 3));
    of("one", "h", {1});
    EXPECT_GT(table.memory("one"), first);
    EXPECT_EQ(table.memory("other"), 0U);
    // In place of an existing one.
    of("other", "g", {1, 2, 3});
    EXPECT_EQ(table.memory("other"), first);
    EXPECT_TRUE(table.remove_member("h", make_proc("job", 1)));
    EXPECT_EQ(table.memory("one"), 0U);
    EXPECT_TRUE(table.remove_member("g", make_proc("job", 1)));
    EXPECT_EQ(table.memory("other"), first);
    EXPECT_TRUE(table.remove("g"));
    EXPECT_EQ(table.memory("other"), 0U);
}

TEST_F(Groups, IdsAreTranslatedToProcesses) {
    covers("GRP-21");
    table.add(group("g", {7, 3, 5}));
    pmix_proc_t proc = make_proc("g", 1);
    EXPECT_TRUE(table.translate(proc));
    EXPECT_EQ(proc_text(proc), "job:3");
    proc = make_proc("g", 3);
    EXPECT_FALSE(table.translate(proc));
    proc = make_proc("other", 3);
    EXPECT_TRUE(table.translate(proc));
    EXPECT_EQ(proc_text(proc), "other:3");
    EXPECT_EQ(expanded({make_proc("job", 9), make_proc("g", PMIX_RANK_WILDCARD)}),
              "job:9 job:7 job:3 job:5 ");
    EXPECT_EQ(expanded({make_proc("g", 2), make_proc("job", PMIX_RANK_WILDCARD)}), "job:5 job:* ");
    EXPECT_EQ(expanded({make_proc("g", 3)}), "none");
}

TEST_F(Groups, DirectivesAreTranslatedForTheHost) {
    covers("GRP-22");
    table.add(group("g", {7, 3}));
    const pmix_proc_t all = make_proc("g", PMIX_RANK_WILDCARD);
    Info info;
    info.add(PMIX_EVENT_CUSTOM_RANGE, Value::array(&all, 1, PMIX_PROC));
    info.add(PMIX_EVENT_AFFECTED_PROC, make_proc("g", 1));
    info.add(PMIX_PROCID, make_proc("g", 0));
    info.add("of.the.application", all);
    ASSERT_EQ(table.expand(info), PMIX_SUCCESS);
    ASSERT_EQ(info[0].value.type, PMIX_DATA_ARRAY);
    EXPECT_EQ(info[0].value.data.darray->size, 2U);
    EXPECT_EQ(proc_text(*info[1].value.data.proc), "job:3");
    EXPECT_EQ(proc_text(*info[2].value.data.proc), "job:7");
    EXPECT_EQ(proc_text(*info[3].value.data.proc), "g:*");
    Info wrong;
    wrong.add(PMIX_EVENT_AFFECTED_PROC, make_proc("g", 2));
    EXPECT_EQ(table.expand(wrong), PMIX_ERR_BAD_PARAM);
}

TEST_F(Groups, RemainingMembersKeepTheirRanks) {
    covers("GRP-24");
    table.add(group("g", {7, 3, 5}));
    EXPECT_FALSE(table.remove_member("g", make_proc("job", 4)));
    EXPECT_TRUE(table.remove_member("g", make_proc("job", 3)));
    pmix_proc_t proc = make_proc("g", 2);
    EXPECT_TRUE(table.translate(proc));
    EXPECT_EQ(proc_text(proc), "job:5");
    proc = make_proc("g", 1);
    EXPECT_FALSE(table.translate(proc));
    EXPECT_TRUE(table.remove_member("g", make_proc("job", 7)));
    EXPECT_TRUE(table.remove_member("g", make_proc("job", 5)));
    EXPECT_EQ(table.find("g"), nullptr);
}

TEST_F(Groups, AreListedByQueries) {
    covers("GRP-48", "GRP-49", "GRP-50");
    table.add(group("g", {7, 3}));
    table.add(group("h", {3}));
    Group growing = group("later", {3});
    growing.state = GroupState::Inviting;
    table.add(std::move(growing));
    Info found;
    EXPECT_TRUE(table.answer(PMIX_QUERY_NUM_GROUPS, {}, found));
    EXPECT_TRUE(table.answer(PMIX_QUERY_GROUP_NAMES, {}, found));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].value.type, PMIX_SIZE);
    EXPECT_EQ(found[0].value.data.size, 2U);
    EXPECT_EQ(found[1].value.data.darray->size, 2U);
    EXPECT_EQ(found[1].value.data.darray->type, PMIX_STRING);
    EXPECT_FALSE(table.answer(PMIX_QUERY_GROUP_MEMBERSHIP, {}, found));
    for (const char* unknown : {"later", "none"}) {
        Info qualifiers;
        qualifiers.add(PMIX_GROUP_ID, unknown);
        EXPECT_FALSE(table.answer(PMIX_QUERY_GROUP_MEMBERSHIP, qualifiers, found));
    }
    Info qualifiers;
    qualifiers.add(PMIX_GROUP_ID, "g");
    EXPECT_TRUE(table.answer(PMIX_QUERY_GROUP_MEMBERSHIP, qualifiers, found));
    EXPECT_EQ(found[2].value.data.darray->size, 2U);
    EXPECT_EQ(table.names_of(make_proc("job", 3)), (std::vector<std::string>{"g", "h"}));
    EXPECT_EQ(table.names_value(make_proc("job", 9)).type(), PMIX_UNDEF);
}

TEST_F(Groups, AFailedGroupIsNotUsable) {
    table.add(group("g", {7, 3}));
    table.change("g", [](Group& one) { one.state = GroupState::Failed; });
    EXPECT_FALSE(table.is_group("g"));
    EXPECT_TRUE(table.names_of(make_proc("job", 3)).empty());
    EXPECT_EQ(expanded({make_proc("g", 0)}), "g:0 ");
}

TEST_F(Groups, IdsAreLimitedInLength) {
    covers("GRP-27");
    const std::string longest(PMIX_MAX_NSLEN, 'x');
    EXPECT_TRUE(valid_group_id(longest.c_str()));
    EXPECT_FALSE(valid_group_id((longest + "x").c_str()));
    EXPECT_FALSE(valid_group_id(""));
    EXPECT_FALSE(valid_group_id(nullptr));
}

}  // namespace
}  // namespace muster
