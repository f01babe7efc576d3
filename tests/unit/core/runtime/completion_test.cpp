// SPDX-License-Identifier: BSD-3-Clause
// Calls are answered once, even if the object that should answer is lost.
#include "core/runtime/completion.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <vector>

#include "framework/base/info.hpp"

namespace muster {
namespace {

using OnStatus = std::function<void(pmix_status_t)>;

class Answers : public testing::TestWithParam<bool> {
  protected:
    Answers() {
        Info info;
        if (GetParam()) info.add(PMIX_EXTERNAL_PROGRESS, true);
        Runtime::Options options;
        options.info = info;
        auto made = Runtime::create(options);
        EXPECT_TRUE(made) << made.error().text;
        runtime_ = std::move(*made);
        runtime_->start();
    }
    pmix_status_t call(const std::function<void(OnStatus)>& start) {
        return call_and_wait<pmix_status_t>(*runtime_, PMIX_ERR_WOULD_BLOCK,
                                            [&](auto deliver) { start(std::move(deliver)); });
    }

    std::unique_ptr<Runtime> runtime_;
};

TEST_P(Answers, AreWhatIsDeliveredFirst) {
    EXPECT_EQ(call([](const OnStatus& done) {
                  done(PMIX_ERR_NOT_FOUND);
                  done(PMIX_SUCCESS);
              }),
              PMIX_ERR_NOT_FOUND);
}

TEST_P(Answers, AreNoMemoryWhereTheTaskThrows) {
    EXPECT_EQ(call([](const OnStatus&) { throw std::bad_alloc(); }), PMIX_ERR_NOMEM);
}

TEST_P(Answers, AreNoMemoryWhereAllCopiesGo) {
    std::vector<OnStatus> kept;
    EXPECT_EQ(call([&](const OnStatus& done) {
                  kept = {done, done};
                  runtime_->loop().post([&] { kept.pop_back(); });
                  runtime_->loop().post([&] { kept.pop_back(); });
              }),
              PMIX_ERR_NOMEM);
}

TEST_P(Answers, ComeFromTheLastCopy) {
    OnStatus kept;
    EXPECT_EQ(call([&](OnStatus done) {
                  kept = std::move(done);
                  runtime_->loop().post([&] { std::exchange(kept, nullptr)(PMIX_ERR_EXISTS); });
              }),
              PMIX_ERR_EXISTS);
}

INSTANTIATE_TEST_SUITE_P(Completion, Answers, testing::Bool(),
                         [](const auto& one) { return one.param ? "HostDrives" : "OwnThread"; });

using Statuses = std::vector<pmix_status_t>;

TEST(OnceCallback, IsNotCalledForACallThatWasNotPosted) {
    Statuses statuses;
    const auto add = [&](pmix_status_t status) { statuses.push_back(status); };
    { const Once<decltype(add), pmix_status_t> done(add); }
    EXPECT_EQ(statuses, Statuses{});
}

TEST(OnceCallback, IsCalledOnceByTheFirstAnswer) {
    Statuses statuses;
    const auto add = [&](pmix_status_t status) { statuses.push_back(status); };
    {
        const Once<decltype(add), pmix_status_t> done(add);
        const auto copy = done;
        done.begin();
        *done.left() = true;
        copy(PMIX_ERR_EXISTS);
        done(PMIX_SUCCESS);
    }
    EXPECT_EQ(statuses, Statuses{PMIX_ERR_EXISTS});
}

TEST(OnceCallback, IsToldNoMemoryWhereNothingAnswersOrTheAnswerCannotBeTaken) {
    Statuses statuses;
    const auto add = [&](pmix_status_t status, size_t) {
        if (status == PMIX_SUCCESS) throw std::bad_alloc();
        statuses.push_back(status);
    };
    for (const bool answered : {false, true}) {
        const Once<decltype(add), pmix_status_t, size_t> done(add);
        done.begin();
        if (answered) {
            EXPECT_THROW(done(PMIX_SUCCESS, 1), std::bad_alloc);
        }
    }
    EXPECT_EQ(statuses, (Statuses{PMIX_ERR_NOMEM, PMIX_ERR_NOMEM}));
}

TEST(OnceCallback, IsNotHeldByTheCall) {
    Statuses statuses;
    const auto add = [&](pmix_status_t status) { statuses.push_back(status); };
    std::optional<Once<decltype(add), pmix_status_t>> done(add);
    done->begin();
    const auto left = done->left();
    *left = true;
    done.reset();
    EXPECT_EQ(statuses, Statuses{PMIX_ERR_NOMEM});
}

TEST(OnceCallback, WaitsForACallThatHasNotLeft) {
    using Clock = std::chrono::steady_clock;
    Statuses statuses;
    const auto add = [&](pmix_status_t status) { statuses.push_back(status); };
    const Once<decltype(add), pmix_status_t> done(add);
    done.begin();
    const auto begin = Clock::now();
    done(PMIX_SUCCESS);
    // Ten sleeps of 20 us: a call that is stopped is not waited for.
    EXPECT_GE(Clock::now() - begin, std::chrono::microseconds(200));
    EXPECT_EQ(statuses, Statuses{PMIX_SUCCESS});
}

}  // namespace
}  // namespace muster
