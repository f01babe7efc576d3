// SPDX-License-Identifier: BSD-3-Clause
// Long queries: processed in turns between which other peers are served, with a limit on the results, and
// cancelled when the requestor has disconnected.
#include <gtest/gtest.h>

#include "core/query/query.hpp"
#include "core/query/query_server.hpp"
#include "core/query/query_turns.hpp"
#include "framework/base/argv.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {
namespace {

/// That many queries of a few keys.
Queries many(size_t count, std::vector<std::string> keys, const Info& qualifiers = {}) {
    std::vector<pmix_query_t> list(count);
    std::vector<char*> names;
    for (std::string& key : keys)
        names.push_back(key.data());
    names.push_back(nullptr);
    for (pmix_query_t& one : list)
        one = {names.data(), const_cast<pmix_info_t*>(qualifiers.data()), qualifiers.size()};
    Queries made;
    EXPECT_EQ(Queries::copy_of(list.data(), list.size(), made), PMIX_SUCCESS);
    return made;
}

/// The keys of all queries, in order: "a b;c".
std::string keys_of(const Queries& queries) {
    std::string text;
    for (const pmix_query_t& query : queries) {
        if (!text.empty()) text += ';';
        for (size_t k = 0; query.keys[k] != nullptr; ++k)
            text += (k == 0 ? "" : " ") + std::string(query.keys[k]);
    }
    return text;
}

Queries three() {
    pmix_query_t list[3] = {};
    list[0].keys = argv_split("a,b", ',', false);
    list[1].keys = argv_split("c", ',', false);
    list[2].keys = argv_split("d,e,f", ',', false);
    Queries made;
    EXPECT_EQ(Queries::copy_of(list, 3, made), PMIX_SUCCESS);
    for (pmix_query_t& one : list)
        argv_free(one.keys);
    return made;
}

TEST(Queries, KeepTheKeysThatAreNotKnown) {
    Queries queries = three();
    EXPECT_EQ(queries.keys(), 6U);
    queries.answer([](const char* key, InfoView) { return *key == 'b' || *key == 'c' || *key == 'e'; });
    EXPECT_EQ(keys_of(queries), "a;d f");
    queries.answer([](const char*, InfoView) { return true; });
    EXPECT_EQ(queries.size(), 0U);
    EXPECT_EQ(queries.keys(), 0U);
}

TEST(Queries, AreGoneThroughOnceInAnyNumberOfTurns) {
    // The known keys, and the number of keys processed in a turn.
    for (unsigned known = 0; known < 64; ++known) {
        for (unsigned each = 1; each <= 7; ++each) {
            SCOPED_TRACE(std::to_string(known) + " by " + std::to_string(each));
            Queries queries = three();
            Queries::Place at;
            std::string seen, left;
            for (int turn = 0;; ++turn) {
                ASSERT_LT(turn, 10);
                unsigned looked = 0;
                const bool over = queries.answer(
                    [&](const char* key, InfoView) {
                        seen += key;
                        ++looked;
                        return (known >> (*key - 'a') & 1U) != 0;
                    },
                    at, [&] { return looked >= each; });
                if (over) break;
            }
            EXPECT_EQ(seen, "abcdef");
            for (const char c : std::string("abcdef"))
                if ((known >> (c - 'a') & 1U) == 0) left += c;
            std::string kept = keys_of(queries);
            std::erase_if(kept, [](char c) { return c == ' ' || c == ';'; });
            EXPECT_EQ(kept, left);
        }
    }
}

class LongQueries : public ServicesInMemory {
  protected:
    Call ask(uint32_t rank, Queries queries) {
        Process& client = node.client(rank);
        return call(client, [&client, kept = std::move(queries)](const HostDone& done) mutable {
            query(client.exchange(), nullptr, std::move(kept), done);
        });
    }
};

TEST_F(LongQueries, AreAnsweredWholeInTheEnd) {
    start(1);
    // The server does not know the versions of Muster's keys; the client may ask it nevertheless.
    const Call one = ask(0, many(3000, {"muster.iof.dropped", "muster.waits"}));
    ASSERT_TRUE(until([&] { return one.there(); }));
    EXPECT_EQ(one.status(), PMIX_SUCCESS);
    EXPECT_EQ(one.info().size(), 6000U);
    EXPECT_EQ(one.answers(), 1);
}

TEST_F(LongQueries, AboutGroupsAreAnsweredWholeInTheEnd) {
    start(1);
    Info local = with(PMIX_QUERY_LOCAL_ONLY);
    const Call one = ask(0, many(2000, {PMIX_QUERY_NUM_GROUPS, PMIX_QUERY_GROUP_NAMES}, local));
    ASSERT_TRUE(until([&] { return one.there(); }));
    EXPECT_EQ(one.status(), PMIX_SUCCESS);
    EXPECT_EQ(one.info().size(), 4000U);
}

TEST_F(LongQueries, LetOthersHaveTheirTurn) {
    start(2);
    for (const char* key : {"muster.waits", PMIX_QUERY_NUM_GROUPS}) {
        Info local = with(PMIX_QUERY_LOCAL_ONLY);
        const Call large = ask(0, many(20000, {key}, local));
        // The server has read the long query: it answers the short one meanwhile, or was finished in one
        // turn.
        for (int turn = 0; turn < 3; ++turn) {
            node.client(0).runtime().progress();
            serve(1);
        }
        const Call small = ask(1, many(1, {"muster.iof.dropped"}));
        ASSERT_TRUE(until([&] { return small.there(); }));
        EXPECT_EQ(small.status(), PMIX_SUCCESS);
        ASSERT_TRUE(until([&] { return large.there(); }));
        EXPECT_EQ(large.status(), PMIX_SUCCESS);
        EXPECT_EQ(large.answers(), 1);
    }
}

TEST_F(LongQueries, AreGivenUpWhenTheirAskerDies) {
    start(2);
    for (const char* key : {"muster.waits", PMIX_QUERY_NUM_GROUPS}) {
        Info local = with(PMIX_QUERY_LOCAL_ONLY);
        node.add_job("asks", 1);
        Process& asker = node.add_client("asks", 0);
        auto queries = many(20000, {key}, local);
        call(asker, [&asker, kept = std::move(queries)](const HostDone& done) mutable {
            query(asker.exchange(), nullptr, std::move(kept), done);
        });
        for (int turn = 0; turn < 3; ++turn) {
            asker.runtime().progress();
            serve(1);
        }
        node.kill("asks", 0);
        const Call small = ask(1, many(1, {"muster.iof.dropped"}));
        EXPECT_EQ(status_of(small), PMIX_SUCCESS);
        node.on_loop([&] { node.server().deregister_nspace("asks", [] {}); });
    }
}

struct LittleMemory {
    ParameterScope memory{"server_base_max_request_memory", "100k"};
};
class SmallQueries : private LittleMemory, public LongQueries {};

TEST_F(SmallQueries, ThatFindTooMuchAreRefused) {
    start(2);
    // The message fits into its own memory limit.
    EXPECT_EQ(status_of(ask(0, many(100, {"muster.iof.dropped"}))), PMIX_SUCCESS);
    EXPECT_EQ(status_of(ask(0, many(2000, {"muster.iof.dropped"}))), PMIX_ERR_OUT_OF_RESOURCE);
    Info local = with(PMIX_QUERY_LOCAL_ONLY);
    EXPECT_EQ(status_of(ask(0, many(2000, {PMIX_QUERY_NUM_GROUPS}, local))), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(status_of(ask(1, many(1, {"muster.iof.dropped"}))), PMIX_SUCCESS) << "others may ask";
    EXPECT_EQ(status_of(ask(0, many(100, {"muster.iof.dropped"}))), PMIX_SUCCESS) << "and so may this one";
}

TEST_F(SmallQueries, ThatWaitForTheHostCountTogether) {
    start(1);
    std::vector<Call> calls;
    for (int i = 0; i < 3; ++i)
        calls.push_back(ask(0, many(1, {"vendor.key"})));
    std::vector<std::shared_ptr<Upcall>> open;
    for (int i = 0; i < 3; ++i)
        open.push_back(asked("query"));
    for (const auto& upcall : open)
        upcall->answer(answer_of(PMIX_ERR_NOT_FOUND));
    for (const Call& each : calls)
        EXPECT_EQ(status_of(each), PMIX_ERR_NOT_FOUND);
}

}  // namespace
}  // namespace muster::testing_in_memory
