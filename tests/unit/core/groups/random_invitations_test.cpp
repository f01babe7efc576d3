// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation, driven by seeds: members that accept, decline, stay silent, die or time out, leaders
// that die or abort, handlers that decide late, and a host that is late, in any order.
#include <random>

#include "core/groups/invitation.hpp"
#include "tests/unit/core/in_memory/groups.hpp"

namespace muster::testing_in_memory {
namespace {

class RandomInvitations : public GroupsInMemory {
  protected:
    static constexpr uint32_t kSize = 4;
    enum class Part { Accepts, Declines, Silent, DiesAtOnce, DiesInvited, DiesAccepted };

    struct Round {
        std::string nspace, id;
        pmix_rank_t leader = 0;
        bool optional = false, tolerant = false, notify = false, wants_id = false;
        bool leader_dies = false, leader_aborts = false;
        std::map<pmix_rank_t, Part> parts;
        std::list<Listener> handlers;
        std::map<pmix_rank_t, Listener*> handler_of;
        Calls calls;
    };

    Round plan(unsigned seed, std::mt19937& random) {
        Round round;
        round.nspace = "job" + std::to_string(seed);
        round.id = "group" + std::to_string(seed);
        round.leader = random() % kSize;
        round.optional = random() % 3 == 0;
        round.tolerant = random() % 3 == 0;
        round.notify = random() % 3 == 0;
        round.wants_id = random() % 3 == 0;
        round.leader_dies = random() % 4 == 0;
        round.leader_aborts = !round.leader_dies && random() % 8 == 0;
        int may_die = 1;
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            if (rank == round.leader) continue;
            const unsigned draw = random() % 16;
            Part part = Part::Accepts;
            if (draw == 0) part = Part::Declines;
            if (draw == 1) part = Part::Silent;
            if (draw >= 2 && draw <= 4 && may_die-- > 0)
                part = draw == 2 ? Part::DiesAtOnce : draw == 3 ? Part::DiesInvited : Part::DiesAccepted;
            round.parts[rank] = part;
        }
        return round;
    }
    void add_handlers(Round& round, std::mt19937& random) {
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            if (random() % 3 == 0) continue;
            Listener& one = round.handlers.emplace_back();
            round.handler_of[rank] = &one;
            one.listen(cluster_->process(round.nspace, rank),
                       {PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_INVITE_FAILED});
            one.holds = random() % 2 == 0;
            if (random() % 2 == 0) one.adds.add(PMIX_GROUP_LEADER, true);
            if (random() % 10 == 0) one.returns = PMIX_GROUP_CONSTRUCT_ABORT;
            if (random() % 4 == 0) one.returns = PMIX_EVENT_ACTION_COMPLETE;
        }
    }
    void complete(Round& round, pmix_rank_t rank) {
        const auto handler = round.handler_of.find(rank);
        if (handler == round.handler_of.end() || !cluster_->alive(round.nspace, rank)) return;
        if (handler->second->held() > 0) handler->second->complete();
    }
    void begin(Round& round) {
        Info info = with_timeout(100);
        if (round.optional) info.add(PMIX_GROUP_OPTIONAL, true);
        if (round.tolerant) info.add(PMIX_GROUP_FT_COLLECTIVE, true);
        if (round.notify) info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
        if (round.wants_id) info.add(PMIX_GROUP_ASSIGN_CONTEXT_ID, true);
        round.calls[round.leader] = invite(cluster_->process(round.nspace, round.leader), round.id,
                                           procs_of(round.nspace.c_str(), {0, 1, 2, 3}), std::move(info));
    }
    void abort(Round& round) {
        Info info;
        info.add(PMIX_GROUP_ID, round.id.c_str());
        info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(procs_of(round.nspace.c_str(), {0, 1, 2, 3})));
        notify(cluster_->process(round.nspace, round.leader), PMIX_GROUP_CONSTRUCT_ABORT, PMIX_RANGE_CUSTOM,
               std::move(info));
    }
    /// One step of a process, if its part has one now.
    void step(Round& round, pmix_rank_t rank, std::mt19937& random) {
        if (!cluster_->alive(round.nspace, rank)) return;
        const bool called = round.calls.count(rank) != 0;
        if (rank == round.leader) {
            if (!called) return begin(round);
            if (round.leader_dies && random() % 4 == 0) return cluster_->kill(round.nspace, rank);
            if (!round.leader_aborts || random() % 4 != 0) return;
            round.leader_aborts = false;
            return abort(round);
        }
        const bool invited = round.calls.count(round.leader) != 0;
        Process& process = cluster_->process(round.nspace, rank);
        const pmix_proc_t leader = make_proc(round.nspace, round.leader);
        switch (round.parts.at(rank)) {
            case Part::Silent:
                return;
            case Part::DiesAtOnce:
                return cluster_->kill(round.nspace, rank);
            case Part::DiesInvited:
                if (invited) cluster_->kill(round.nspace, rank);
                return;
            case Part::DiesAccepted:
                if (called) return cluster_->kill(round.nspace, rank);
                [[fallthrough]];
            case Part::Accepts:
                if (!called && invited) round.calls[rank] = join(process, round.id, leader);
                return;
            case Part::Declines:
                if (!called && invited) round.calls[rank] = join(process, round.id, leader, false);
        }
    }
    static std::string text_of(const Round& round) {
        std::string text = "leader " + std::to_string(round.leader) + (round.leader_dies ? " dies" : "");
        for (const auto& [rank, part] : round.parts)
            text += ", " + std::to_string(rank) + " plays " + std::to_string(static_cast<int>(part));
        for (const auto& [rank, handler] : round.handler_of) {
            text += ", handler of " + std::to_string(rank) + " offers " +
                    std::to_string(handler->adds.size()) + " returns " + std::to_string(handler->returns) +
                    " holds " + std::to_string(handler->held()) + " heard";
            for (const auto& one : handler->heard)
                text += " " + std::to_string(one.status) + "/" + std::to_string(affected_by(one));
        }
        for (const auto& [rank, one] : round.calls)
            text += ", " + std::to_string(rank) + " got " + std::to_string(one.status());
        return text;
    }
    void check(const Round& round) {
        const Call* first = nullptr;
        for (const auto& [rank, one] : round.calls) {
            if (!cluster_->alive(round.nspace, rank)) continue;
            EXPECT_EQ(one.answers(), 1) << "rank " << rank << " of " << text_of(round);
            if (rank != round.leader && round.parts.at(rank) == Part::Declines) continue;
            const pmix_status_t status = one.status();
            const bool allowed = one.good() || status == PMIX_GROUP_CONSTRUCT_ABORT ||
                                 status == PMIX_GROUP_LEADER_FAILED || status == PMIX_GROUP_MEMBER_FAILED ||
                                 status == PMIX_ERR_TIMEOUT;
            EXPECT_TRUE(allowed) << "rank " << rank << " has " << status;
            if (!one.good()) continue;
            const std::vector<pmix_rank_t> members = one.ranks();
            EXPECT_NE(std::find(members.begin(), members.end(), rank), members.end()) << "rank " << rank;
            if (first == nullptr) first = &one;
            EXPECT_EQ(members, first->ranks()) << "rank " << rank;
            EXPECT_EQ(one.context_id(), first->context_id()) << "rank " << rank;
        }
        if (first == nullptr) return;
        // All living members know of the group. A process that offered to lead is a member without a call.
        for (const pmix_rank_t rank : first->ranks()) {
            const auto found = round.calls.find(rank);
            const auto handler = round.handler_of.find(rank);
            const bool offered = handler != round.handler_of.end() && handler->second->adds.size() > 0 &&
                                 handler->second->count(PMIX_GROUP_LEADER_FAILED) > 0;
            EXPECT_TRUE(!cluster_->alive(round.nspace, rank) || offered ||
                        (found != round.calls.end() && found->second.good()))
                << "rank " << rank;
        }
    }
    void play(unsigned seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        Round round = plan(seed, random);
        cluster_->start(round.nspace, kSize);
        add_handlers(round, random);
        cluster_->settle(10);
        for (int turn = 0; turn < 60; ++turn) {
            const pmix_rank_t rank = random() % kSize;
            if (random() % 3 == 0)
                complete(round, rank);
            else
                step(round, rank, random);
            cluster_->settle(static_cast<int>(random() % 4));
            cluster_->carry(&random);
        }
        if (round.calls.count(round.leader) == 0 && cluster_->alive(round.nspace, round.leader)) begin(round);
        for (int turn = 0; turn < 3; ++turn) {
            cluster_->finish();
            for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
                step(round, rank, random);
                complete(round, rank);
                cluster_->settle(2);
                complete(round, rank);
            }
        }
        cluster_->finish();
        // Members without an answer may offer to lead for two seconds; then the leader's time limit passes.
        for (int turn = 0; turn < 3; ++turn) {
            cluster_->pass(std::chrono::seconds(3));
            for (pmix_rank_t rank = 0; rank < kSize; ++rank)
                complete(round, rank);
            cluster_->finish();
        }
        for (int turn = 0; turn < 2; ++turn) {
            cluster_->pass(std::chrono::seconds(101));
            for (pmix_rank_t rank = 0; rank < kSize; ++rank)
                complete(round, rank);
            cluster_->finish();
        }
        check(round);
        EXPECT_TRUE(nothing_is_left());
        cluster_->end(round.nspace, kSize);
        EXPECT_TRUE(nothing_is_left());
    }
};

TEST_F(RandomInvitations, AgreeOnOneNode) {
    cluster_.emplace(1);
    for (unsigned seed = 1; seed <= 100; ++seed)
        play(seed);
}

TEST_F(RandomInvitations, AgreeOnTwoNodes) {
    cluster_.emplace(2);
    for (unsigned seed = 1; seed <= 100; ++seed)
        play(seed);
}

}  // namespace
}  // namespace muster::testing_in_memory
