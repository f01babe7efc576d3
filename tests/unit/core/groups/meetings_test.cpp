// SPDX-License-Identifier: BSD-3-Clause
// Groups of a whole job, constructed and destructed in shared memory: one process sends the request for all.
// Random paths of each process, calls that differ, and members that die meanwhile.
#include "core/groups/meetings.hpp"

#include <pmix/muster.h>
#include <algorithm>
#include <random>

#include "core/query/query_server.hpp"
#include "core/query/waits.hpp"
#include "tests/unit/core/in_memory/threaded_job.hpp"

namespace muster::testing_in_memory {
namespace {

class MeetingsInMemory : public ThreadedJob {
  protected:
    static std::vector<pmix_rank_t> ranks_of(const HostAnswer& answer) {
        std::vector<pmix_proc_t> procs;
        if (const pmix_value_t* value = answer.info.view().value(PMIX_GROUP_MEMBERSHIP))
            append_procs(*value, procs);
        std::vector<pmix_rank_t> members;
        for (const pmix_proc_t& proc : procs)
            members.push_back(proc.rank);
        return members;
    }
    bool known(const std::string& id) { return node_.process().groups().find(id) != nullptr; }
    static Info wants_id() {
        Info info;
        info.add(PMIX_GROUP_ASSIGN_CONTEXT_ID, true);
        return info;
    }
    /// Answers the upcalls of the host until all these calls have returned.
    void answer_all(std::vector<Running> calls, size_t context_id) {
        EXPECT_TRUE(until([&] {
            while (const auto asked = node_.host.take("group")) {
                HostAnswer answer = answer_of(PMIX_SUCCESS);
                answer.info.add(PMIX_GROUP_CONTEXT_ID, context_id);
                asked->answer(answer);
            }
            return std::all_of(calls.begin(), calls.end(), [](auto& one) { return one.over->load(); });
        }));
        for (Running& one : calls)
            one.thread.join();
    }
};

TEST_F(MeetingsInMemory, MakeAndEndGroupsOfAllProcesses) {
    start(3);
    for (int round = 0; round < 6; ++round) {
        const std::string id = "g" + std::to_string(round);
        together(ranks(), [&](pmix_rank_t rank) {
            const HostAnswer answer = construct(rank, id, ranks());
            EXPECT_EQ(answer.status, PMIX_SUCCESS);
            EXPECT_EQ(ranks_of(answer), ranks());
            EXPECT_TRUE(process(rank).groups().is_group(id.c_str()));
        });
        EXPECT_TRUE(known(id));
        together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(destruct(rank, id).status, PMIX_SUCCESS); });
        EXPECT_FALSE(known(id));
    }
    // The first one goes through the server, which opens the meeting for the next.
    EXPECT_GE(in_memory_, 3U * 8);
}

TEST_F(MeetingsInMemory, TellTheContextIdToAll) {
    start(3);
    for (size_t round = 1; round <= 4; ++round) {
        const std::string id = "g" + std::to_string(round);
        std::vector<HostAnswer> answers(size());
        std::vector<Running> calls;
        for (const pmix_rank_t rank : ranks())
            calls.push_back(begin([&, rank] { answers[rank] = construct(rank, id, ranks(), wants_id()); }));
        answer_all(std::move(calls), round);
        for (const HostAnswer& one : answers) {
            EXPECT_EQ(one.status, PMIX_SUCCESS);
            EXPECT_EQ(one.info.view().number<size_t>(PMIX_GROUP_CONTEXT_ID), std::optional<size_t>(round));
        }
    }
    EXPECT_EQ(node_.host.count("group"), 4U);
}

TEST_F(MeetingsInMemory, ErrorsOfTheServerAreForAll) {
    start(2);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "g", ranks()); });
    together(ranks(),
             [&](pmix_rank_t rank) { EXPECT_EQ(construct(rank, "g", ranks()).status, PMIX_ERR_EXISTS); });
    together(ranks(), [&](pmix_rank_t rank) {
        EXPECT_EQ(construct(rank, "job", ranks()).status, PMIX_ERR_BAD_PARAM);
    });
    together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(destruct(rank, "g").status, PMIX_SUCCESS); });
    together(ranks(), [&](pmix_rank_t rank) { EXPECT_EQ(destruct(rank, "g").status, PMIX_ERR_NOT_FOUND); });
}

TEST_F(MeetingsInMemory, CallsThatDifferAllGoToTheServer) {
    start(2);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "first", ranks()); });
    // Another order of the same members is allowed: the order of the first member by name applies.
    together(ranks(), [&](pmix_rank_t rank) {
        const HostAnswer answer =
            construct(rank, "g", rank == 0 ? std::vector<pmix_rank_t>{1, 0} : std::vector<pmix_rank_t>{0, 1});
        EXPECT_EQ(answer.status, PMIX_SUCCESS);
        EXPECT_EQ(ranks_of(answer), std::vector<pmix_rank_t>({1, 0}));
    });
}

TEST_F(MeetingsInMemory, WaysThatEachChoosesByChanceAreNotMixed) {
    start(3);
    for (unsigned seed = 1; seed <= 60; ++seed) {
        std::mt19937 random(seed);
        std::vector<bool> makes(size()), ends(size());
        for (size_t rank = 0; rank < size(); ++rank) {
            makes[rank] = random() % 4 == 0;
            ends[rank] = random() % 4 == 0;
        }
        const std::string id = "g" + std::to_string(seed);
        together(ranks(), [&](pmix_rank_t rank) {
            const HostAnswer answer = construct(rank, id, ranks(), {}, makes[rank]);
            EXPECT_EQ(answer.status, PMIX_SUCCESS) << "seed " << seed;
            EXPECT_EQ(ranks_of(answer), ranks());
            EXPECT_EQ(destruct(rank, id, ends[rank]).status, PMIX_SUCCESS) << "seed " << seed;
        });
        EXPECT_FALSE(known(id));
    }
    EXPECT_GT(in_memory_, 0U);
}

TEST_F(MeetingsInMemory, AMemberThatDiesSendsTheOthersToTheServer) {
    start(3);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "first", ranks()); });
    pmix_status_t results[2] = {PMIX_SUCCESS, PMIX_SUCCESS};
    std::vector<Running> waiting;
    for (const pmix_rank_t rank : {0U, 1U})
        waiting.push_back(begin([&, rank] { results[rank] = construct(rank, "g", ranks()).status; }));
    node_.on_loop([&] { node_.server().deregister_client(make_proc("job", 2), [] {}); });
    for (Running& one : waiting)
        wait(std::move(one));
    EXPECT_EQ(results[0], PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(results[1], PMIX_GROUP_MEMBER_FAILED);
    EXPECT_FALSE(known("g"));
}

TEST_F(MeetingsInMemory, TheEndOfTheOneThatAsksLosesNothing) {
    start(3);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "first", ranks()); });
    std::vector<HostAnswer> answers(size());
    std::vector<Running> calls;
    for (const pmix_rank_t rank : ranks())
        calls.push_back(begin([&, rank] { answers[rank] = construct(rank, "g", ranks(), wants_id()); }));
    std::shared_ptr<Upcall> asked;
    EXPECT_TRUE(until([&] { return asked != nullptr || (asked = node_.host.take("group")) != nullptr; }));
    // Rank 2 is deregistered during the upcall, whether it has sent the request for all or waits.
    node_.on_loop([&] { node_.server().deregister_client(make_proc("job", 2), [] {}); });
    EXPECT_TRUE(until([&] { return calls[2].over->load(); }));
    HostAnswer answer = answer_of(PMIX_SUCCESS);
    answer.info.add(PMIX_GROUP_CONTEXT_ID, size_t{7});
    asked->answer(answer);
    answer_all(std::move(calls), 8);
    for (const pmix_rank_t rank : {0U, 1U}) {
        EXPECT_EQ(answers[rank].status, PMIX_SUCCESS) << rank;
        EXPECT_EQ(answers[rank].info.view().number<size_t>(PMIX_GROUP_CONTEXT_ID), std::optional<size_t>(7));
    }
    EXPECT_TRUE(known("g"));
}

TEST_F(MeetingsInMemory, AQueryForThoseWhoWaitSeesThem) {
    start(3);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "first", ranks()); });
    std::vector<Running> calls;
    for (const pmix_rank_t rank : {0U, 1U})
        calls.push_back(begin([&, rank] { EXPECT_EQ(construct(rank, "g", ranks()).status, PMIX_SUCCESS); }));
    size_t waiting = 0;
    EXPECT_TRUE(until([&] {
        node_.on_loop([&] {
            Caller caller = Caller::host(node_.process().runtime());
            caller.uid = 0;
            Info found;
            answer_waits(node_.server().queries(), caller, MUSTER_WAITS, {}, found);
            waiting = value_as_infos(&found[0].value).size;
        });
        return waiting == 2;
    }));
    calls.push_back(begin([&] { EXPECT_EQ(construct(2, "g", ranks()).status, PMIX_SUCCESS); }));
    for (Running& one : calls)
        wait(std::move(one));
    EXPECT_TRUE(known("g"));
}

TEST_F(MeetingsInMemory, GroupsOfAPartOfTheJobGoByTheServer) {
    start(3);
    together(ranks(), [&](pmix_rank_t rank) { construct(rank, "first", ranks()); });
    in_memory_ = 0;
    together({0, 1}, [&](pmix_rank_t rank) {
        EXPECT_EQ(construct(rank, "pair", {0, 1}).status, PMIX_SUCCESS);
        EXPECT_EQ(destruct(rank, "pair").status, PMIX_SUCCESS);
    });
    EXPECT_EQ(in_memory_, 0U);
}

}  // namespace
}  // namespace muster::testing_in_memory
