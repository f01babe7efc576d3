// SPDX-License-Identifier: BSD-3-Clause
// Fences in memory mixed with fences through the server: processes that choose their path at random, that
// post before they arrive, that die or are deregistered.
#include "core/rendezvous/barriers.hpp"

#include <random>

#include "tests/unit/core/in_memory/threaded_job.hpp"

namespace muster::testing_in_memory {
namespace {

class BarriersInMemory : public ThreadedJob {
  protected:
    std::string stored(pmix_rank_t owner, const char* key) {
        std::string text;
        Lookup lookup;
        lookup.nspace = "job";
        lookup.rank = owner;
        lookup.key = key;
        node_.on_loop([&] {
            node_.server().store().find(lookup, [&](const Found& found) {
                if (const char* value = value_as_string(&found.value)) text = value;
            });
        });
        return text;
    }
};

TEST_F(BarriersInMemory, ProcessesMeetWithoutTheServer) {
    start(3);
    for (int round = 0; round < 10; ++round)
        together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(fence(rank), PMIX_SUCCESS); });
    EXPECT_GT(in_memory_, 0U);
}

TEST_F(BarriersInMemory, WhatWasPostedBeforeIsThereBehindIt) {
    start(2);
    for (int round = 0; round < 10; ++round) {
        const std::string text = std::to_string(round);
        together(ranks(), [&](pmix_rank_t rank) {
            post(rank, "port", text.c_str());
            EXPECT_EQ(fence(rank), PMIX_SUCCESS);
        });
        for (const pmix_rank_t rank : ranks())
            EXPECT_EQ(stored(rank, "port"), text);
    }
}

TEST_F(BarriersInMemory, WaysThatEachChoosesByChanceAreNotMixed) {
    start(3);
    for (unsigned seed = 1; seed <= 60; ++seed) {
        std::mt19937 random(seed);
        std::vector<bool> by_server(size());
        for (size_t rank = 0; rank < size(); ++rank)
            by_server[rank] = random() % 3 == 0;
        together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(fence(rank, by_server[rank]), PMIX_SUCCESS); });
    }
    EXPECT_GT(in_memory_, 0U);
}

TEST_F(BarriersInMemory, OneThatDiesSendsTheOthersToTheServer) {
    start(3);
    together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(fence(rank), PMIX_SUCCESS); });
    pmix_status_t results[2] = {PMIX_SUCCESS, PMIX_SUCCESS};
    std::vector<Running> waiting;
    for (const pmix_rank_t rank : {0U, 1U})
        waiting.push_back(begin([&, rank] { results[rank] = fence(rank); }));
    // The third ends without PMIx_Finalize.
    node_.on_loop([&] { node_.server().deregister_client(make_proc("job", 2), [] {}); });
    for (Running& one : waiting)
        wait(std::move(one));
    EXPECT_EQ(results[0], PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(results[1], PMIX_ERR_LOST_CONNECTION);
}

TEST_F(BarriersInMemory, ItEndsWithTheNamespace) {
    start(2);
    together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(fence(rank), PMIX_SUCCESS); });
    pmix_status_t result = PMIX_SUCCESS;
    Running waiting = begin([&] { result = fence(0); });
    EXPECT_TRUE(until([&] { return true; }));
    node_.on_loop([&] { node_.server().deregister_nspace("job", [] {}); });
    wait(std::move(waiting));
    EXPECT_NE(result, PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster::testing_in_memory
