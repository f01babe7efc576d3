// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping, if processors are idle: the wake-up of an idle one takes several times as long as
// most answers do (docs/decisions/0038, 0055).
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>

#include "framework/base/yielding.hpp"

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
