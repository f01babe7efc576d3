// SPDX-License-Identifier: BSD-3-Clause
// Groups that are constructed and destructed, driven by seeds, on one node and two.
#include <random>

#include "core/groups/construct.hpp"
#include "tests/unit/core/in_memory/groups.hpp"

namespace muster::testing_in_memory {
namespace {

/// Members that die or finalize and exit, leaders, handlers that decide late, and late answers of the host,
/// in any order: each call is answered once, all members get the same group, and no state remains.
class RandomConstruct : public GroupsInMemory {
  protected:
    static constexpr uint32_t kSize = 4;

    void play(unsigned seed) {
        std::mt19937 random(seed);
        const std::string nspace = "job" + std::to_string(seed), id = "group" + std::to_string(seed);
        cluster_->start(nspace, kSize);
        std::vector<pmix_proc_t> procs = procs_of(nspace.c_str(), {0, 1, 2, 3});
        const unsigned kind = random() % 4;
        const char* tolerant = kind == 1   ? PMIX_GROUP_OPTIONAL
                               : kind == 2 ? PMIX_GROUP_FT_COLLECTIVE
                                           : PMIX_GROUP_NOTIFY_TERMINATION;
        const pmix_rank_t leader = random() % (2 * kSize);
        std::list<Listener> handlers;
        std::vector<Listener*> of(kSize);
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            if (random() % 4 == 0) continue;
            of[rank] = &handlers.emplace_back();
            of[rank]->listen(cluster_->process(nspace, rank),
                             {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED});
            of[rank]->holds = random() % 2 == 0;
            if (random() % 3 == 0) of[rank]->adds.add(PMIX_GROUP_LEADER, true);
            if (random() % 12 == 0) of[rank]->returns = PMIX_GROUP_CONSTRUCT_ABORT;
        }
        cluster_->settle(10);
        const auto arrive = [&](pmix_rank_t rank) {
            Info info;
            if (kind != 3) info.add(tolerant, true);
            if (rank == leader) info.add(PMIX_GROUP_LEADER, true);
            if (random() % 4 == 0) info.add(PMIX_GROUP_ASSIGN_CONTEXT_ID, true);
            return construct(cluster_->process(nspace, rank), id, procs, std::move(info));
        };
        Calls calls;
        int may_go = static_cast<int>(random() % 3);
        const auto complete_one = [&](pmix_rank_t rank) {
            if (of[rank] != nullptr && cluster_->alive(nspace, rank) && of[rank]->held() > 0)
                of[rank]->complete();
        };
        for (int step = 0; step < 40; ++step) {
            const pmix_rank_t rank = random() % kSize;
            const unsigned what = random() % 10;
            if (what == 0 && may_go > 0 && cluster_->alive(nspace, rank)) {
                --may_go;
                if (random() % 3 == 0) {
                    cluster_->finalize(nspace, rank);
                    cluster_->settle(static_cast<int>(random() % 4));
                    cluster_->exited(nspace, rank);
                } else
                    cluster_->kill(nspace, rank);
            } else if (what < 4) {
                complete_one(rank);
            } else if (what < 6 && cluster_->alive(nspace, rank) && calls.count(rank) == 0) {
                calls[rank] = arrive(rank);
            }
            cluster_->settle(static_cast<int>(random() % 4));
            cluster_->carry(&random);
        }
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            if (cluster_->alive(nspace, rank) && calls.count(rank) == 0) calls[rank] = arrive(rank);
        }
        for (int round = 0; round < 4; ++round) {
            cluster_->finish();
            for (pmix_rank_t rank = 0; rank < kSize; ++rank)
                complete_one(rank);
        }
        // The wait for decisions of ended processes is at most ten seconds.
        cluster_->pass(std::chrono::seconds(11));
        cluster_->finish();
        std::vector<std::pair<pmix_rank_t, Call>> good;
        for (const auto& [rank, one] : calls) {
            if (!cluster_->alive(nspace, rank)) continue;
            EXPECT_EQ(one.answers(), 1) << "rank " << rank;
            if (one.good()) {
                good.emplace_back(rank, one);
            } else {
                EXPECT_TRUE(one.status() == PMIX_GROUP_MEMBER_FAILED ||
                            one.status() == PMIX_GROUP_CONSTRUCT_ABORT)
                    << "rank " << rank << " has " << one.status();
            }
        }
        for (const auto& [rank, one] : good) {
            EXPECT_EQ(one.status(), good.front().second.status()) << "rank " << rank;
            EXPECT_EQ(one.ranks(), good.front().second.ranks()) << "rank " << rank;
            EXPECT_EQ(one.context_id(), good.front().second.context_id()) << "rank " << rank;
            const auto members = one.ranks();
            EXPECT_NE(std::find(members.begin(), members.end(), rank), members.end()) << "rank " << rank;
        }
        size_t alive_now = 0;
        for (pmix_rank_t rank = 0; rank < kSize; ++rank)
            alive_now += cluster_->alive(nspace, rank) ? 1 : 0;
        EXPECT_TRUE(good.empty() || good.size() == alive_now) << good.size() << " of " << alive_now;
        EXPECT_TRUE(nothing_is_left());
        if (!good.empty()) end_group(nspace, id, random);
        cluster_->end(nspace, kSize);
        EXPECT_TRUE(nothing_is_left());
    }

    /// The survivors destruct the group, while one of them may leave it or die.
    void end_group(const std::string& nspace, const std::string& id, std::mt19937& random) {
        Calls calls;
        std::map<pmix_rank_t, Call> leaves;
        bool may_go = random() % 2 == 0, may_leave = random() % 2 == 0;
        const bool tolerant = random() % 2 == 0;
        const auto arrive = [&](pmix_rank_t rank) {
            return destruct(cluster_->process(nspace, rank), id,
                            tolerant ? with(PMIX_GROUP_FT_COLLECTIVE) : Info());
        };
        for (int step = 0; step < 30; ++step) {
            const pmix_rank_t rank = random() % kSize;
            const bool idle =
                cluster_->alive(nspace, rank) && calls.count(rank) == 0 && leaves.count(rank) == 0;
            switch (random() % 8) {
                case 0:
                    if (!may_go || !cluster_->alive(nspace, rank)) break;
                    may_go = false;
                    cluster_->kill(nspace, rank);
                    break;
                case 1:
                    if (!may_leave || !idle) break;
                    may_leave = false;
                    leaves[rank] = leave(cluster_->process(nspace, rank), id);
                    break;
                case 2:
                case 3:
                    if (idle) calls[rank] = arrive(rank);
                    break;
                default:
                    break;
            }
            cluster_->settle(static_cast<int>(random() % 4));
            cluster_->carry(&random);
        }
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            if (cluster_->alive(nspace, rank) && calls.count(rank) == 0 && leaves.count(rank) == 0)
                calls[rank] = arrive(rank);
        }
        // The servers' exchange about departed members takes up to 1.5 seconds.
        for (int round = 0; round < 4; ++round) {
            cluster_->finish();
            cluster_->pass(std::chrono::seconds(1));
        }
        cluster_->finish();
        for (const auto& [rank, one] : calls) {
            if (!cluster_->alive(nspace, rank)) continue;
            EXPECT_EQ(one.answers(), 1) << "destruct, rank " << rank;
            EXPECT_TRUE(one.status() == PMIX_SUCCESS || one.status() == PMIX_GROUP_MEMBER_FAILED ||
                        one.status() == PMIX_ERR_NOT_FOUND)
                << "destruct, rank " << rank << " has " << one.status();
        }
        for (const auto& [rank, one] : leaves)
            EXPECT_TRUE(one.answers() == 1 || !cluster_->alive(nspace, rank)) << "leave, rank " << rank;
        for (int node = 0; node < cluster_->nodes(); ++node) {
            // A server whose members have all ended knows the group until their job is deregistered.
            const Group* left = known(id, node);
            if (left == nullptr) continue;
            EXPECT_EQ(left->state, GroupState::Ready) << "node " << node;
            for (const pmix_proc_t& member : left->procs()) {
                EXPECT_FALSE(cluster_->node_of(member.rank) == node && cluster_->alive(nspace, member.rank))
                    << "node " << node << " still has rank " << member.rank;
            }
        }
        EXPECT_TRUE(nothing_is_left()) << "after destruct";
    }
};

TEST_F(RandomConstruct, AgreesOnOneNode) {
    cluster_.emplace(1);
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        play(seed);
    }
}

TEST_F(RandomConstruct, AgreesOnTwoNodes) {
    cluster_.emplace(2);
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        play(seed);
    }
}

}  // namespace
}  // namespace muster::testing_in_memory
