// SPDX-License-Identifier: BSD-3-Clause
// The engine of collectives in memory: participants of one node arrive, finalize, are lost, in every order; a
// fake operation takes the place of the host.
#include "core/collective/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/exchange/namespaces.hpp"
#include "framework/base/loop_callers.hpp"

namespace muster {
namespace {

/// Keeps each collective passed to the host, until the test answers for the host.
class FakeOperation : public CollectiveOperation {
  public:
    void all_local_in(const std::shared_ptr<Collective>& collective) override {
        handed_over.push_back(collective);
    }
    bool tolerates_departure(const Collective&, const pmix_proc_t&) override { return tolerates; }
    void goes_on_without(const Collective&, const pmix_proc_t& proc) override {
        without.push_back(proc.rank);
    }
    bool forgets_departed() const override { return forgets; }
    void ended(const Collective&, const Outcome& outcome) override { ends.push_back(outcome.status); }

    bool tolerates = false;
    bool forgets = false;
    std::vector<std::shared_ptr<Collective>> handed_over;
    std::vector<pmix_rank_t> without;
    std::vector<pmix_status_t> ends;
};

class CollectivesTest : public testing::Test {
  protected:
    static constexpr pmix_rank_t kLocal = 4;

    CollectivesTest() {
        for (int kind = 0; kind < 5; ++kind) {
            auto operation = std::make_unique<FakeOperation>();
            if (kind == 0) fences_ = operation.get();
            if (kind == 3) groups_ = operation.get();
            collectives_.set_operation(static_cast<CollectiveKind>(kind), std::move(operation));
        }
        Namespace& job = namespaces_.get_or_add("job");
        job.registered = true;
        job.nlocal = kLocal;
        for (pmix_rank_t rank = 0; rank < kLocal; ++rank)
            job.clients[rank].proc = make_proc("job", rank);
    }

    static std::vector<pmix_proc_t> whole_job() { return {make_proc("job", PMIX_RANK_WILDCARD)}; }

    void arrive(pmix_rank_t rank, std::vector<pmix_proc_t> procs = whole_job(),
                CollectiveKind kind = CollectiveKind::Fence, const std::string& id = "") {
        Arrival arrival;
        arrival.proc = make_proc("job", rank);
        arrival.reply = [this, rank](const Outcome& outcome) { answers_[rank].push_back(outcome.status); };
        collectives_.arrive(kind, id, std::move(procs), std::move(arrival));
    }
    void lose(pmix_rank_t rank) {
        namespaces_.client(make_proc("job", rank))->lost = true;
        collectives_.departed(make_proc("job", rank));
    }
    void finish(pmix_status_t status = PMIX_SUCCESS) {
        for (const auto& collective : std::exchange(fences_->handed_over, {})) {
            Outcome outcome;
            outcome.status = status;
            collectives_.finish(collective, outcome);
        }
    }
    size_t answers_of(pmix_rank_t rank) { return answers_[rank].size(); }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    Log log_{"test"};
    Namespaces namespaces_;
    uint32_t job_size_ = kLocal;
    Collectives collectives_{loop_, namespaces_, [this](const char*) { return std::optional(job_size_); },
                             log_};
    FakeOperation* fences_ = nullptr;
    FakeOperation* groups_ = nullptr;
    std::map<pmix_rank_t, std::vector<pmix_status_t>> answers_;
};

TEST_F(CollectivesTest, HandsOverWhenTheLastLocalParticipantArrives) {
    for (const pmix_rank_t rank : {2U, 0U, 3U}) {
        arrive(rank);
        EXPECT_TRUE(fences_->handed_over.empty());
    }
    arrive(1);
    ASSERT_EQ(fences_->handed_over.size(), 1U);
    EXPECT_TRUE(fences_->handed_over[0]->all_local());
    EXPECT_TRUE(answers_.empty());
    finish();
    for (pmix_rank_t rank = 0; rank < kLocal; ++rank)
        EXPECT_EQ(answers_[rank], std::vector<pmix_status_t>({PMIX_SUCCESS}));
    EXPECT_TRUE(collectives_.active().empty());
}

TEST_F(CollectivesTest, IsNotLocalForAJobWithRemoteRanks) {
    job_size_ = kLocal + 1;
    for (pmix_rank_t rank = 0; rank < kLocal; ++rank)
        arrive(rank);
    ASSERT_EQ(fences_->handed_over.size(), 1U);
    EXPECT_FALSE(fences_->handed_over[0]->all_local());
}

TEST_F(CollectivesTest, FailsForAllWhenALocalParticipantIsLost) {
    arrive(0);
    arrive(1);
    lose(2);
    arrive(3);
    for (const pmix_rank_t rank : {0U, 1U, 3U})
        EXPECT_EQ(answers_[rank], std::vector<pmix_status_t>({PMIX_ERR_LOST_CONNECTION})) << rank;
    EXPECT_TRUE(fences_->handed_over.empty());
}

TEST_F(CollectivesTest, CompletesWithoutADepartedMemberWhenTolerated) {
    fences_->tolerates = true;
    arrive(0);
    lose(2);
    arrive(1);
    EXPECT_TRUE(fences_->handed_over.empty());
    arrive(3);
    ASSERT_EQ(fences_->handed_over.size(), 1U);
    EXPECT_EQ(fences_->without, std::vector<pmix_rank_t>({2}));
    finish();
    EXPECT_EQ(answers_of(0), 1U);
}

TEST_F(CollectivesTest, AFinalizedProcessStaysExpectedUntilItIsLost) {
    arrive(0);
    arrive(1);
    arrive(3);
    namespaces_.client(make_proc("job", 2))->finalized = true;
    collectives_.finalized(make_proc("job", 2));
    EXPECT_EQ(answers_of(0), 0U);
    lose(2);
    EXPECT_EQ(answers_[0], std::vector<pmix_status_t>({PMIX_ERR_LOST_CONNECTION}));
}

TEST_F(CollectivesTest, ACallThatIsForgottenEndsWithFinalizeAndItsProcessStaysExpected) {
    groups_->forgets = true;
    const auto call = [this](pmix_rank_t rank) {
        arrive(rank, whole_job(), CollectiveKind::GroupConstruct, "g");
    };
    for (const pmix_rank_t rank : {0U, 1U, 2U})
        call(rank);
    collectives_.finalized(make_proc("job", 2));
    call(3);
    EXPECT_TRUE(groups_->handed_over.empty());
    call(2);
    EXPECT_EQ(groups_->handed_over.size(), 1U);
    EXPECT_EQ(answers_of(2), 0U);
}

TEST_F(CollectivesTest, AProcessMayBeginTheNextFenceBeforeTheLastCompletes) {
    for (const pmix_rank_t rank : {0U, 0U, 1U, 1U, 2U, 2U, 3U})
        arrive(rank);
    ASSERT_EQ(fences_->handed_over.size(), 1U);
    finish();
    EXPECT_EQ(collectives_.active().size(), 1U);
    arrive(3);
    finish();
    for (pmix_rank_t rank = 0; rank < kLocal; ++rank)
        EXPECT_EQ(answers_of(rank), 2U);
}

TEST_F(CollectivesTest, FencesOfDifferentListsAreIndependent) {
    const std::vector<pmix_proc_t> pair = {make_proc("job", 0), make_proc("job", 1)};
    const std::vector<pmix_proc_t> turned = {make_proc("job", 1), make_proc("job", 0)};
    arrive(0, pair);
    arrive(2);
    arrive(1, turned);
    ASSERT_EQ(fences_->handed_over.size(), 1U);
    EXPECT_EQ(fences_->handed_over[0]->participants().size(), 2U);
    EXPECT_EQ(collectives_.active().size(), 2U);
}

TEST_F(CollectivesTest, RefusesANameThatIsInUseWithOtherParticipants) {
    const std::vector<pmix_proc_t> pair = {make_proc("job", 0), make_proc("job", 1)};
    const std::vector<pmix_proc_t> other = {make_proc("job", 2), make_proc("job", 3)};
    const auto construct = [&](pmix_rank_t rank, const std::vector<pmix_proc_t>& procs) {
        Arrival arrival;
        arrival.proc = make_proc("job", rank);
        arrival.reply = [this, rank](const Outcome& outcome) { answers_[rank].push_back(outcome.status); };
        collectives_.arrive(CollectiveKind::GroupConstruct, "g", procs, std::move(arrival));
    };
    construct(0, pair);
    construct(2, other);
    EXPECT_EQ(answers_[2], std::vector<pmix_status_t>({PMIX_ERR_BAD_PARAM}));
    construct(0, pair);
    EXPECT_EQ(answers_[0], std::vector<pmix_status_t>({PMIX_ERR_EXISTS}));
    construct(1, pair);
    EXPECT_EQ(groups_->handed_over.size(), 1U);
}

TEST_F(CollectivesTest, WaitsForClientsNotYetRegistered) {
    Namespace& late = namespaces_.get_or_add("late");
    Arrival arrival;
    arrival.proc = make_proc("job", 0);
    arrival.reply = [this](const Outcome& outcome) { answers_[0].push_back(outcome.status); };
    collectives_.arrive(CollectiveKind::Fence, "", {make_proc("job", 0), make_proc("late", 0)},
                        std::move(arrival));
    late.registered = true;
    late.nlocal = 1;
    late.clients[0].proc = make_proc("late", 0);
    collectives_.registered("late");
    EXPECT_EQ(answers_of(0), 0U);
    namespaces_.remove("late");
    collectives_.deregistered("late");
    EXPECT_EQ(answers_[0], std::vector<pmix_status_t>({PMIX_ERR_INVALID_NAMESPACE}));
}

TEST_F(CollectivesTest, FailsAllWhenTheServerCloses) {
    arrive(0);
    collectives_.close();
    EXPECT_EQ(answers_[0], std::vector<pmix_status_t>({PMIX_ERR_LOST_CONNECTION}));
    arrive(1);
    EXPECT_EQ(answers_[1], std::vector<pmix_status_t>({PMIX_ERR_LOST_CONNECTION}));
}

/// Any order of arrivals, losses and answers of the host: each call gets one answer, and no state remains.
TEST_F(CollectivesTest, AnswersEachCallOnceInAnyOrder) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        std::mt19937 random(seed);
        Namespaces namespaces;
        Namespace& job = namespaces.get_or_add("job");
        job.registered = true;
        job.nlocal = kLocal;
        for (pmix_rank_t rank = 0; rank < kLocal; ++rank)
            job.clients[rank].proc = make_proc("job", rank);
        Collectives collectives(
            loop_, namespaces, [](const char*) { return std::optional<uint32_t>(kLocal); }, log_);
        auto owned = std::make_unique<FakeOperation>();
        FakeOperation* fences = owned.get();
        fences->tolerates = random() % 2 == 0;
        collectives.set_operation(CollectiveKind::Fence, std::move(owned));
        size_t calls = 0;
        size_t answers = 0;
        std::vector<bool> lost(kLocal);
        std::vector<bool> inside(kLocal);
        for (int step = 0; step < 40; ++step) {
            const pmix_rank_t rank = random() % kLocal;
            switch (random() % 8) {
                case 0:
                    if (lost[rank] || random() % 4 != 0) break;
                    lost[rank] = true;
                    job.clients[rank].lost = true;
                    collectives.departed(make_proc("job", rank));
                    break;
                case 1:
                case 2:
                    for (const auto& collective : std::exchange(fences->handed_over, {})) {
                        if (collectives.is_active(collective)) collectives.finish(collective, {});
                    }
                    break;
                default:
                    if (lost[rank] || inside[rank]) break;
                    ++calls;
                    inside[rank] = true;
                    Arrival arrival;
                    arrival.proc = make_proc("job", rank);
                    arrival.reply = [&answers, &inside, rank](const Outcome&) {
                        ++answers;
                        inside[rank] = false;
                    };
                    collectives.arrive(CollectiveKind::Fence, "", whole_job(), std::move(arrival));
            }
        }
        collectives.close();
        EXPECT_EQ(answers, calls) << "seed " << seed;
        EXPECT_TRUE(collectives.active().empty()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace muster
