// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping: see polling.hpp.
#include "framework/base/polling.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

namespace muster {
namespace {

/// Had to leave it, or yielded it. While it polls it does not block.
long switches() {
    rusage usage{};
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw + usage.ru_nvcsw : 0;
}

}  // namespace

const Polling::Machine Polling::kMachine{&Clock::now, [] { sched_yield(); }, &switches};

bool Polling::begin() {
    if (limit_.count() == 0 || !allowed_.load(std::memory_order_relaxed)) return false;
    if (pass_over_ > 0) {
        --pass_over_;
        return false;
    }
    const Clock::time_point now = machine_.now();
    if (now < not_before_) return false;
    // In nobody's way for longer than it has paused: what was there has ended.
    if (now - not_before_ > 4 * pause_) pause_ = kShortestPause;
    end_ = now + limit_;
    crowded_ = shared_ = false;
    visits_ = 0;
    return true;
}

bool Polling::go_on() {
    if (crowded_ || shared_) return false;
    const Clock::time_point before = machine_.now();
    machine_.yield();
    const Clock::time_point now = machine_.now();
    const auto away = now - before;
    if (away <= kUndisturbed) {
        visits_ = 0;
        return now < end_;
    }
    crowded_ = away > kShortVisit;
    ++visits_;
    // Others have made use of it, unless it is to yield that takes so long here.
    if (visits_ < kVisits + kMoreVisits) end_ += away;
    // What it takes to ask is as much as another look: not before somebody seems to be there each time.
    if (visits_ == kVisits) switches_ = machine_.switches();
    if (visits_ == kVisits + kMoreVisits) shared_ = machine_.switches() - switches_ >= kMoreVisits;
    return now < end_;  // once more where others have run, whoever they are
}

void Polling::end(bool found) {
    // Says nothing about whether it would have been of use.
    if (shared_) return;
    if (crowded_) {
        not_before_ = machine_.now() + pause_;
        pause_ = std::min(2 * pause_, kLongestPause);
        return;
    }
    if (found) pause_ = std::max(pause_ / 2, kShortestPause);
    misses_ = found ? 0 : misses_ + 1;
    if (misses_ >= kMaxMisses) pass_over_ = kPassedOver;
}

}  // namespace muster
