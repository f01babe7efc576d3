// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping, where processors are to spare: to wake one that has gone idle takes several times
// as long as most answers do (docs/decisions/0038).
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>

namespace muster {

/// Used by the thread that drives a loop, but for allow().
class Polling {
  public:
    using Clock = std::chrono::steady_clock;

    /// Polls at most so long at a time; zero: never.
    explicit Polling(std::chrono::microseconds limit) : limit_(limit) {}

    /// Whether fewer processes are at work than there are processors. At first there are not. Any thread.
    void allow(bool on) { allowed_ = on; }
    bool allowed() const { return limit_.count() > 0 && allowed_; }

    /// Calls `look` until it returns true or the time is over, and lets others run in between. Else false.
    template <class Look>
    bool poll(const Look& look) const {
        if (!allowed()) return false;
        const Clock::time_point end = Clock::now() + limit_;
        do {
            if (look()) return true;
            sched_yield();
        } while (Clock::now() < end);
        return false;
    }

  private:
    const std::chrono::microseconds limit_;
    std::atomic<bool> allowed_{false};
};

}  // namespace muster
