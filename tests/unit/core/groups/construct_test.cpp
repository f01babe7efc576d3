// SPDX-License-Identifier: BSD-3-Clause
// Groups that all members construct and destruct together, on one node and two: orders of arrival, context
// ids, data of members, bootstrap, wrong calls, time limits, and late or failed answers of the host.
#include "core/groups/construct.hpp"

#include <numeric>

#include "tests/covers.hpp"
#include "tests/unit/core/in_memory/groups.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

class ConstructTest : public GroupsInMemory {
  protected:
    static Info number(const char* key, int value) {
        Info info;
        info.add(key, value);
        return info;
    }
    /// A directive that holds others.
    static Info nested(const char* key, Info inner) {
        Info info;
        info.add(key, std::move(inner).to_value());
        return info;
    }
    std::string stored(Gds& store, pmix_rank_t owner, const char* key) {
        return stored(store, proc(owner), key);
    }
    static std::string stored(Gds& store, const pmix_proc_t& owner, const char* key) {
        std::string text;
        Lookup lookup;
        lookup.nspace = owner.nspace;
        lookup.rank = owner.rank;
        lookup.key = key;
        store.find(lookup, [&](const Found& found) {
            if (const char* value = value_as_string(&found.value)) text = value;
        });
        return text;
    }
};

TEST_F(ConstructTest, SucceedsInAnyOrderOfArrivalAndSoDoesDestruct) {
    start(4, 2);
    std::vector<pmix_rank_t> order = ranks();
    int round = 0;
    do {
        const std::string id = "order" + std::to_string(++round);
        Calls calls, ends;
        for (const pmix_rank_t rank : order) {
            calls[rank] = construct(process(rank), id, all());
            cluster_->settle(3);
        }
        ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks())) << id;
        ASSERT_NE(known(id, 0), nullptr);
        ASSERT_NE(known(id, 1), nullptr);
        for (const pmix_rank_t rank : order) {
            ends[rank] = destruct(process(rank), id);
            cluster_->settle(3);
        }
        ASSERT_TRUE(all_have(ends, PMIX_SUCCESS)) << id;
        EXPECT_EQ(known(id, 0), nullptr);
        EXPECT_EQ(known(id, 1), nullptr);
        EXPECT_TRUE(nothing_is_left());
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(ConstructTest, NeedsNoHostWhereAllMembersAreOfOneNode) {
    start(3);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS, ranks()));
    ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
    EXPECT_EQ(cluster_->host().count("group"), 0U);
    // The host decides on directives that the library does not act upon.
    cluster_->host().returns["group"] = PMIX_ERR_NOT_SUPPORTED;
    ASSERT_TRUE(all_have(construct_all("r", with_required("muster.test.unknown")), PMIX_ERR_NOT_SUPPORTED));
    EXPECT_EQ(cluster_->host().count("group"), 1U);
    cluster_->host().returns.clear();
    // Only the host assigns context ids.
    const Calls calls = construct_all("h", with(PMIX_GROUP_ASSIGN_CONTEXT_ID));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
    EXPECT_EQ(calls.at(0).context_id(), calls.at(2).context_id());
    EXPECT_TRUE(calls.at(0).context_id().has_value());
    EXPECT_EQ(cluster_->host().count("group"), 2U);
}

TEST_F(ConstructTest, GivesAContextIdToAllWhereOneMemberWantsIt) {
    start(4, 2);
    Calls calls = construct_all("g", {0, 1, 2});
    calls[3] = construct(process(3), "g", all(), with(PMIX_GROUP_ASSIGN_CONTEXT_ID));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
    for (const auto& [rank, one] : calls)
        EXPECT_EQ(one.context_id(), std::optional<size_t>(1)) << rank;
    ASSERT_NE(known("g"), nullptr);
    EXPECT_EQ(known("g")->context_id, std::optional<size_t>(1));
}

TEST_F(ConstructTest, TakesTheOrderOfTheFirstMemberByName) {
    start(4, 2);
    Calls calls;
    for (const pmix_rank_t rank : {3U, 2U, 1U})
        calls[rank] = construct(process(rank), "g", all());
    calls[0] = construct(process(0), "g", procs_of("job", {2, 0, 3, 1}));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {2, 0, 3, 1}));
    Info last;
    last.add(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, procs_value(procs_of("job", {3, 1})));
    ASSERT_TRUE(all_have(construct_all("h", last), PMIX_SUCCESS, {3, 1, 0, 2}));
}

TEST_F(ConstructTest, NamesOfGroupsStandForTheirMembers) {
    start(4);
    Calls calls;
    for (const pmix_rank_t rank : {1U, 3U})
        calls[rank] = construct(process(rank), "odd", procs_of("job", {3, 1}));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {3, 1}));
    Calls nested_calls;
    for (const pmix_rank_t rank : {1U, 2U, 3U}) {
        nested_calls[rank] =
            construct(process(rank), "more", {make_proc("odd", PMIX_RANK_WILDCARD), make_proc("job", 2)});
    }
    ASSERT_TRUE(all_have(nested_calls, PMIX_SUCCESS, {3, 1, 2}));
    const Call none = construct(process(1), "none", {make_proc("odd", 7)});
    Calls one;
    one[1] = none;
    ASSERT_TRUE(all_have(one, PMIX_ERR_BAD_PARAM));
    // A fence over the group's name is one of its members.
    Calls fences;
    for (const pmix_rank_t rank : {1U, 3U})
        fences[rank] = fence(process(rank), {make_proc("odd", PMIX_RANK_WILDCARD)});
    ASSERT_TRUE(all_have(fences, PMIX_SUCCESS));
}

TEST_F(ConstructTest, SharesWhatItsMembersTell) {
    start(2, 2);
    Calls calls;
    for (const pmix_rank_t rank : {0U, 1U}) {
        Info told;
        told.add("endpoint", ("at " + std::to_string(rank)).c_str());
        Info info = nested(PMIX_GROUP_INFO, std::move(told));
        info.add(PMIX_GROUP_ASSIGN_CONTEXT_ID, true);
        info.add(PMIX_GROUP_LOCAL_CID, size_t{rank + 40});
        calls[rank] = construct(process(rank), "g", all(), std::move(info));
    }
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
    for (const pmix_rank_t owner : {0U, 1U}) {
        const std::string wanted = "at " + std::to_string(owner);
        EXPECT_EQ(stored(process(1 - owner).store(), owner, "endpoint"), wanted);
        EXPECT_EQ(stored(cluster_->server(0).store(), owner, "endpoint"), wanted);
        EXPECT_EQ(stored(cluster_->server(1).store(), owner, "endpoint"), wanted);
    }
}

TEST_F(ConstructTest, GivesMembersTheJobDataAndThePostedDataOfTheOthers) {
    covers("GRP-29", "GRP-88");
    start(2, 2);
    // A job that is unknown to the server of node 0.
    cluster_->at(1, [](auto& node) {
        node.add_job("other", 2, "node0,node1", "0;1", 1);
        node.register_client("other", 1);
        node.add_client("other", 1);
    });
    Process& other = cluster_->process("other", 1);
    Client& client = *other.client();
    ASSERT_TRUE(cluster_->until([&] { return client.connected(); }));
    ASSERT_EQ(client.put(PMIX_GLOBAL, "posted", *Value::from("by the other")), PMIX_SUCCESS);
    ASSERT_EQ(client.put(PMIX_LOCAL, "local", *Value::from("to its node")), PMIX_SUCCESS);
    cluster_->at(1, [&](auto& node) { node.on_loop([&] { client.commit([](pmix_status_t) {}); }); });
    cluster_->settle();
    ASSERT_FALSE(process(0).store().job_size("other"));
    const std::vector<pmix_proc_t> members{make_proc("job", 0), make_proc("other", 1)};
    Calls calls;
    calls[0] = construct(process(0), "g", members);
    calls[1] = construct(other, "g", members);
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {0, 1}));
    EXPECT_EQ(process(0).store().job_size("other"), std::optional<uint32_t>(2)) << "of the client";
    EXPECT_EQ(cluster_->server(0).store().job_size("other"), std::optional<uint32_t>(2));
    EXPECT_EQ(cluster_->process("other", 1).store().job_size("job"), std::optional<uint32_t>(2));
    EXPECT_EQ(stored(cluster_->server(0).store(), make_proc("other", 1), "posted"), "by the other");
    EXPECT_EQ(stored(cluster_->server(0).store(), make_proc("other", 1), "local"), "");
}

TEST_F(ConstructTest, RefusesWrongCalls) {
    covers("GRP-59");
    start(3);
    const auto refused = [&](const char* id, std::vector<pmix_proc_t> procs, Info info = {}) {
        Calls calls;
        calls[0] = construct(process(0), id, std::move(procs), std::move(info));
        cluster_->finish();
        return calls[0].status();
    };
    EXPECT_EQ(refused("job", all()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused("", all()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused("g", procs_of("job", {1, 2})), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused("g", {make_proc("unknown", PMIX_RANK_WILDCARD)}), PMIX_ERR_INVALID_NAMESPACE);
    const Calls first = construct_all("g", {1});
    cluster_->settle();
    EXPECT_EQ(refused("g", procs_of("job", {0, 1})), PMIX_ERR_BAD_PARAM);
    const Calls twice = construct_all("g", {1});
    ASSERT_TRUE(all_have(twice, PMIX_ERR_EXISTS));
    ASSERT_TRUE(all_have(construct_all("g", {0, 2}), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(first, PMIX_SUCCESS));
    EXPECT_EQ(refused("g", all()), PMIX_ERR_EXISTS);
    // Members that must be on one node but are not.
    start(2, 2);
    Calls calls = construct_all("far", with(PMIX_GROUP_LOCAL_ONLY));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_BAD_PARAM));
}

TEST_F(ConstructTest, EndsWithItsTimeLimitAndTellsTheHost) {
    start(3, 2);
    const Calls calls = construct_all("g", {0, 1}, with_timeout(60));
    cluster_->finish();
    cluster_->pass(std::chrono::seconds(59));
    EXPECT_TRUE(nobody_answered(calls));
    cluster_->pass(std::chrono::seconds(4));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_TIMEOUT));
    EXPECT_EQ(known("g"), nullptr);
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(ConstructTest, GoesOnAfterItsTimeLimitWhereMembersAreOptional) {
    start(4);
    Info info = with_timeout(60, with(PMIX_GROUP_OPTIONAL));
    const Calls calls = construct_all("g", {0, 1, 3}, info);
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(61));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_PARTIAL_SUCCESS, {0, 1, 3}));
    const Calls late = construct_all("g", {2});
    ASSERT_TRUE(all_have(late, PMIX_ERR_EXISTS));
}

TEST_F(ConstructTest, GivesTheHostTwoSecondsBeyondTheTimeLimit) {
    start(2, 2);
    const Calls calls = construct_all("g", {0}, with_timeout(60));
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    cluster_->pass(std::chrono::seconds(61));
    EXPECT_TRUE(nobody_answered(calls));
    cluster_->pass(std::chrono::seconds(2));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_TIMEOUT));
    // The host is notified of the failure; its later answer is ignored.
    EXPECT_EQ(cluster_->host().count("group"), 2U);
    asked->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
    EXPECT_EQ(known("g"), nullptr);
    EXPECT_EQ(calls.at(0).answers(), 1);
}

TEST_F(ConstructTest, PassesTheErrorOfTheHostOn) {
    start(2, 2);
    cluster_->host().returns["group"] = PMIX_ERR_NO_PERMISSIONS;
    ASSERT_TRUE(all_have(construct_all("g", {0}), PMIX_ERR_NO_PERMISSIONS));
    cluster_->host().returns.clear();
    const Calls calls = construct_all("g", {0});
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->number, PMIX_GROUP_CONSTRUCT);
    EXPECT_EQ(asked->text, "g");
    EXPECT_EQ(asked->procs.size(), 2U);
    EXPECT_TRUE(asked->info.view().has(PMIX_GROUP_ENDPT_DATA));
    asked->answer(answer_of(PMIX_ERR_OUT_OF_RESOURCE));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_OUT_OF_RESOURCE));
    EXPECT_EQ(known("g"), nullptr);
}

TEST_F(ConstructTest, LivesWithAHostThatDoesNotCarryTheDataOfServers) {
    start(3, 2);
    const Calls calls = construct_all("g", {0, 2});
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    HostAnswer answer = answer_of(PMIX_SUCCESS);
    answer.info.add(PMIX_GROUP_MEMBERSHIP, procs_value(all()));
    answer.info.add(PMIX_GROUP_CONTEXT_ID, size_t{9});
    Info told;
    told.add(PMIX_PROCID, proc(1));
    told.add("endpoint", "far away");
    answer.info.add(PMIX_GROUP_INFO, std::move(told).to_value());
    const char garbage[] = "no part of ours";
    const pmix_byte_object_t object{const_cast<char*>(garbage), sizeof garbage};
    answer.info.add(PMIX_GROUP_ENDPT_DATA, Value::from(object));
    asked->answer(answer);
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, ranks()));
    EXPECT_EQ(calls.at(0).context_id(), std::optional<size_t>(9));
    EXPECT_EQ(stored(cluster_->server(0).store(), 1, "endpoint"), "far away");
}

TEST_F(ConstructTest, TakesInMembersThatTheHostAdds) {
    start(3, 2);
    Calls calls;
    calls[0] = construct(process(0), "g", procs_of("job", {0, 1}));
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    HostAnswer answer = answer_of(PMIX_SUCCESS);
    answer.info.add(PMIX_GROUP_MEMBERSHIP, procs_value(procs_of("job", {0, 1, 2})));
    asked->answer(answer);
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {0, 1, 2}));
}

TEST_F(ConstructTest, EndsWhenTheNamespaceIsDeregisteredAndWhenTheServerCloses) {
    start(2);
    const Call waiting = construct(process(0), "g", all());
    cluster_->settle();
    cluster_->deregister("job");
    ASSERT_TRUE(cluster_->until([&] { return waiting.there(); }));
    EXPECT_EQ(waiting.answers(), 1);
    EXPECT_FALSE(waiting.good());
    start(2);
    const Call other = construct(process(0), "g", all());
    cluster_->settle();
    cluster_->at(0, [](auto& node) { node.on_loop([&] { node.server().close(); }); });
    ASSERT_TRUE(cluster_->until([&] { return other.there(); }));
    EXPECT_EQ(other.status(), PMIX_ERR_LOST_CONNECTION);
}

TEST_F(ConstructTest, HasALimitForEachJob) {
    const ParameterScope limit("server_base_max_group_memory", "3000");
    start(2);
    cluster_->start("other", 1);
    int made = 0;
    pmix_status_t last = PMIX_SUCCESS;
    while (last == PMIX_SUCCESS && made < 1000) {
        const Calls calls = construct_all("group number " + std::to_string(made));
        cluster_->settle(10);
        ASSERT_TRUE(cluster_->until([&] { return calls.at(0).there() && calls.at(1).there(); }));
        last = calls.at(0).status();
        EXPECT_EQ(calls.at(1).status(), last);
        if (last == PMIX_SUCCESS) ++made;
    }
    EXPECT_EQ(last, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_GT(made, 0);
    // Another job has its own limit, and destructed groups free space.
    Calls other;
    other[0] = construct(cluster_->process("other", 0), "another", procs_of("other", {0}));
    ASSERT_TRUE(all_have(other, PMIX_SUCCESS));
    ASSERT_TRUE(all_have(destruct_all("group number 0"), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(construct_all("group number 0"), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(construct_all("one more"), PMIX_ERR_OUT_OF_RESOURCE));
}

// --- bootstrap and added members ---

TEST_F(ConstructTest, AsksTheHostForEachLeaderOfABootstrap) {
    start(4, 2);
    Info info = number(PMIX_GROUP_BOOTSTRAP, 2);
    info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
    Calls calls;
    for (const pmix_rank_t rank : {0U, 2U})
        calls[rank] = construct(process(rank), "g", procs_of("job", {rank}), copy(info));
    // An added member passes no members.
    calls[1] = construct(process(1), "g", {});
    cluster_->settle();
    EXPECT_EQ(cluster_->host(0).count("group"), 2U);
    std::vector<std::shared_ptr<Upcall>> asked = {
        cluster_->host(0).take("group"), cluster_->host(0).take("group"), cluster_->host(1).take("group")};
    HostAnswer whole = answer_of(PMIX_SUCCESS);
    for (const auto& one : asked) {
        ASSERT_TRUE(one);
        ASSERT_NE(one->info.view().proc(PMIX_PROCID), nullptr);
        for (const pmix_info_t& part : one->info) {
            if (key_is(part.key, PMIX_GROUP_ENDPT_DATA)) whole.info.add_copy(part);
        }
    }
    whole.info.add(PMIX_GROUP_CONTEXT_ID, size_t{5});
    for (const auto& one : asked)
        one->answer(whole);
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS, {0, 1, 2}));
    EXPECT_EQ(calls[1].context_id(), std::optional<size_t>(5));
    ASSERT_NE(known("g", 0), nullptr);
    EXPECT_TRUE(known("g", 0)->notify_termination);
    ASSERT_TRUE(known("g", 1)->leader.has_value());
    ASSERT_TRUE(all_have(destruct_all("g", {0, 1, 2}), PMIX_SUCCESS));
}

TEST_F(ConstructTest, EndsABootstrapWithItsTimeLimitOrTheErrorOfTheHost) {
    start(2);
    Info info = with_timeout(60, number(PMIX_GROUP_BOOTSTRAP, 2));
    Calls calls;
    calls[0] = construct(process(0), "g", procs_of("job", {0}), copy(info));
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    cluster_->pass(std::chrono::seconds(62));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_TIMEOUT));
    asked->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
    EXPECT_EQ(known("g"), nullptr);
    cluster_->host().returns["group"] = PMIX_ERR_NOT_AVAILABLE;
    calls[0] = construct(process(0), "g", procs_of("job", {0}), copy(info));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_NOT_AVAILABLE));
    // A leader calls only for itself.
    calls[0] = construct(process(0), "g", procs_of("job", {0, 1}), copy(info));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_BAD_PARAM));
}

// --- destruct ---

TEST_F(ConstructTest, DestructIsForMembersOfAGroupThatIsThere) {
    start(3);
    Calls calls;
    for (const pmix_rank_t rank : {0U, 1U})
        calls[rank] = construct(process(rank), "pair", procs_of("job", {0, 1}));
    ASSERT_TRUE(all_have(calls, PMIX_SUCCESS));
    ASSERT_TRUE(all_have(destruct_all("pair", {2}), PMIX_ERR_BAD_PARAM));
    ASSERT_TRUE(all_have(destruct_all("none", {2}), PMIX_ERR_NOT_FOUND));
    Calls first = destruct_all("pair", {0});
    cluster_->settle();
    ASSERT_TRUE(all_have(destruct_all("pair", {0}), PMIX_ERR_EXISTS));
    ASSERT_TRUE(all_have(destruct_all("pair", {1}), PMIX_SUCCESS));
    ASSERT_TRUE(all_have(first, PMIX_SUCCESS));
}

TEST_F(ConstructTest, ADestructThatTimesOutLeavesTheGroup) {
    start(2);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
    const Calls calls = destruct_all("g", {0}, with_timeout(60));
    cluster_->settle();
    cluster_->pass(std::chrono::seconds(61));
    ASSERT_TRUE(all_have(calls, PMIX_ERR_TIMEOUT));
    ASSERT_NE(known("g"), nullptr);
    EXPECT_EQ(known("g")->state, GroupState::Ready);
    ASSERT_TRUE(all_have(destruct_all("g"), PMIX_SUCCESS));
}

TEST_F(ConstructTest, ADestructHasTheHostsAnswerOrItsTimeLimit) {
    start(2, 2);
    ASSERT_TRUE(all_have(construct_all("g"), PMIX_SUCCESS));
    const Calls late = destruct_all("g", {0}, with_timeout(60));
    cluster_->settle();
    const auto asked = cluster_->host().take("group");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->number, PMIX_GROUP_DESTRUCT);
    cluster_->pass(std::chrono::seconds(61));
    EXPECT_TRUE(nobody_answered(late));
    cluster_->pass(std::chrono::seconds(2));
    ASSERT_TRUE(cluster_->until([&] { return late.at(0).there(); }));
    EXPECT_EQ(late.at(0).status(), PMIX_ERR_TIMEOUT);
    asked->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
    EXPECT_EQ(late.at(0).answers(), 1);
    ASSERT_NE(known("g"), nullptr);
    EXPECT_EQ(known("g")->state, GroupState::Ready);
    cluster_->host().returns["group"] = PMIX_ERR_NO_PERMISSIONS;
    ASSERT_TRUE(all_have(destruct_all("g", {0}), PMIX_ERR_NO_PERMISSIONS));
    EXPECT_NE(known("g"), nullptr);
}

}  // namespace
}  // namespace muster::testing_in_memory
