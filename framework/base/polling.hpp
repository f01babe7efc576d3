// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping, if processors are idle: the wake-up of an idle one takes several times as long as
// most answers do (docs/decisions/0038, 0055).
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace muster {

/// Whether a loop polls before it sleeps (docs/decisions/0055): not where others have lately computed, as a
/// yield leaves the processor to them for a slice of the scheduler. Used by one thread at a time.
class Yielding {
  public:
    /// Whether the wait that begins now may yield: not after long yields.
    bool begin() {
        if (skipped_ == 0) return true;
        --skipped_;
        return false;
    }
    /// A yield took so long. False: this thread sleeps now.
    bool goes_on(std::chrono::nanoseconds took) {
        if (took < kLong) return true;
        skipped_ = skip_next_;
        skip_next_ = std::min(2 * skip_next_, kMostSkipped);
        return false;
    }
    /// The wait has ended without a sleep.
    void succeeded() { skip_next_ = std::max(skip_next_ / 2, 1U); }

  private:
    /// Less than a slice of the scheduler, more than a process runs that only answers.
    static constexpr std::chrono::microseconds kLong{100};
    static constexpr uint32_t kMostSkipped = 64;

    uint32_t skipped_ = 0;    ///< waits that sleep at once
    uint32_t skip_next_ = 1;  ///< as many after the next long yield
};

/// Used by the thread that drives a loop, but for allow().
class Polling {
  public:
    using Clock = std::chrono::steady_clock;

    /// Polls at most so long at a time; zero: never.
    explicit Polling(std::chrono::microseconds limit) : limit_(limit) {}

    /// Whether fewer processes are at work than there are processors. At first there are not. Any thread.
    void allow(bool on) { allowed_ = on; }
    bool allowed() const { return limit_.count() > 0 && allowed_; }

    /// Calls `look` until it returns true or the time limit, and lets others run in between. Else false,
    /// and without a look where those others have lately computed.
    template <class Look>
    bool poll(const Look& look) {
        if (!allowed() || !yielding_.begin()) return false;
        Clock::time_point now = Clock::now();
        const Clock::time_point end = now + limit_;
        do {
            if (look()) {
                yielding_.succeeded();
                return true;
            }
            const Clock::time_point before = Clock::now();
            sched_yield();
            now = Clock::now();
            if (!yielding_.goes_on(now - before)) return look();
        } while (now < end);
        return false;
    }

  private:
    const std::chrono::microseconds limit_;
    std::atomic<bool> allowed_{false};
    Yielding yielding_;
};

}  // namespace muster
