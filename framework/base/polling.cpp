// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping: see polling.hpp.
#include "framework/base/polling.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// How often this thread left its processor to another one: had to, or yielded it. While it polls it does not
/// block.
long switches() {
    rusage usage{};
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw + usage.ru_nvcsw : 0;
}

}  // namespace

bool Polling::begin() {
    if (limit_.count() == 0 || !allowed_.load(std::memory_order_relaxed)) return false;
    if (pass_over_ > 0) {
        --pass_over_;
        return false;
    }
    const Clock::time_point now = Clock::now();
    if (now < not_before_) return false;
    // In nobody's way for longer than it has paused: what was there has ended.
    if (now - not_before_ > 4 * pause_) pause_ = kShortestPause;
    looked_ = now;
    end_ = now + limit_;
    crowded_ = false;
    switches_ = switches();
    return true;
}

bool Polling::go_on() {
    if (crowded_) return false;
    sched_yield();
    const Clock::time_point now = Clock::now();
    const auto away = now - std::exchange(looked_, now);
    if (away > kUndisturbed) {
        const long before = std::exchange(switches_, switches());
        crowded_ = away > kShortVisit && switches_ != before;
    }
    return crowded_ || now < end_;
}

void Polling::end(bool found) {
    if (crowded_) {
        not_before_ = Clock::now() + pause_;
        pause_ = std::min(2 * pause_, kLongestPause);
    } else if (found) {
        pause_ = std::max(pause_ / 2, kShortestPause);
    }
    misses_ = found ? 0 : misses_ + 1;
    if (misses_ >= kMaxMisses) pass_over_ = kPassedOver;
}

}  // namespace muster
