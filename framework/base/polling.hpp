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

/// Whether a thread that waits yields the processor before it sleeps (docs/decisions/0055): the other threads
/// can run, and no wake-up is needed. A process that computes keeps the processor for a slice of the
/// scheduler, and the yielding thread waits behind it. Used by one thread at a time.
class Yielding {
  public:
    /// `processes`: how many may run before this one has its turn again.
    /// `skipped`: waits that sleep at once at first.
    explicit Yielding(uint32_t processes, uint32_t skipped = 0)
        : long_(kSlice + kTurn * processes), skipped_(skipped) {}

    /// Whether the wait that begins now may yield: not after long yields.
    bool begin() {
        if (skipped_ == 0) return true;
        --skipped_;
        return false;
    }
    /// A yield took so long. False: this thread sleeps now.
    bool goes_on(std::chrono::nanoseconds took) {
        if (took < long_) return true;
        skipped_ = skip_next_;
        skip_next_ = std::min(2 * skip_next_, kMostSkipped);
        return false;
    }
    /// The wait has ended without a sleep.
    void succeeded() { skip_next_ = std::max(skip_next_ / 2, 1U); }

  private:
    static constexpr std::chrono::microseconds kSlice{1000};  ///< less than the scheduler's
    static constexpr std::chrono::microseconds kTurn{20};     ///< of a process that puts, commits and arrives
    static constexpr uint32_t kMostSkipped = 64;

    const std::chrono::nanoseconds long_;
    uint32_t skipped_;        ///< waits that sleep at once
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
    Yielding yielding_{1};
};

}  // namespace muster
