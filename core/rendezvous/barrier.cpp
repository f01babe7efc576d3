// SPDX-License-Identifier: BSD-3-Clause
// Arriving, waiting, and leaving for the server: see barrier.hpp.
#include "core/rendezvous/barrier.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>

namespace muster {
namespace {

/// How often the processor is left to others before we sleep: where they share it, that is what they need to
/// arrive, and nobody has to be woken.
constexpr int kYields = 4;
/// How often a change that somebody else makes at the same time is borne: an honest job needs few.
constexpr int kTries = 10000;
/// A sleeper looks again after that time, in case whoever should have woken it was killed, or would not.
constexpr std::chrono::milliseconds kLongestSleep{1000};

}  // namespace

/// Counts us in.
Barrier::Place Barrier::arrive(bool posted) {
    const std::lock_guard lock(lock_);
    if (closed_ || inside_ || away_ > 0) return Place::AskServer;
    std::atomic<uint64_t>& word = memory_->word();
    uint64_t now = word.load(std::memory_order_acquire);
    for (int i = 0; i < kTries; ++i) {
        if (barrier_shut(now) || barrier_released(now) || barrier_arrived(now) >= size_)
            return Place::AskServer;
        const bool last = barrier_arrived(now) + 1 == size_;
        const uint64_t with_us = (now + 1) | (posted ? kBarrierPosted : 0);
        const bool waits = !last || barrier_posted(with_us);
        if (word.compare_exchange_weak(now, waits ? with_us : barrier_next(now), std::memory_order_acq_rel)) {
            number_ = barrier_number(now);
            inside_ = waits;
            if (!last) return Place::Among;
            return waits ? Place::LastPosted : Place::Last;
        }
    }
    return Place::AskServer;
}

/// False where the gate was shut before all had arrived, or before the server had what was posted.
bool Barrier::wait() {
    std::atomic<uint64_t>& word = memory_->word();
    std::optional<std::chrono::steady_clock::time_point> until;  // since we first sleep
    for (int i = 0;; ++i) {
        uint64_t now = word.load(std::memory_order_acquire);
        if (barrier_number(now) != number_) {
            if (i > kYields) memory_->wake_on();  // we slept, as others may
            return true;
        }
        if (barrier_shut(now) || closed_) return false;
        if (barrier_released(now)) {
            // The server reads nothing here, so it is one of us who begins the next one: the word shows
            // whether the gate was shut meanwhile.
            if (barrier_arrived(now) != size_) return false;
            if (word.compare_exchange_weak(now, barrier_next(now), std::memory_order_acq_rel)) return true;
        } else if (i < kYields) {
            sched_yield();
        } else {
            const auto when = std::chrono::steady_clock::now();
            if (!until) until = when + patience_;
            if (when >= *until) return !memory_->call_in(number_);
            memory_->wait(barrier_gate(now), std::min(kLongestSleep, patience_));
        }
    }
}

/// They are to ask the server, and so are we.
void Barrier::call_all() {
    memory_->word().fetch_or(kBarrierShut, std::memory_order_acq_rel);
    memory_->wake_all();
}

Barrier::Passage Barrier::pass(bool posted, const TellServer& tell) {
    const Place place = arrive(posted);
    if (place == Place::AskServer) return Passage::AskServer;
    if (place == Place::Last) {
        memory_->wake_on();
        return Passage::Passed;
    }
    if (place == Place::LastPosted && !tell()) call_all();
    const bool passed = wait();  // nobody else changes number_ as long as we are inside
    const std::lock_guard lock(lock_);
    inside_ = false;
    if (!std::exchange(called_, false) && passed) return Passage::Passed;
    return memory_->ended() ? Passage::Ended : Passage::AskServer;
}

Barrier::Away Barrier::by_server() {
    // Holds the barrier, and counts for as long as it is held itself.
    Away away(static_cast<void*>(this), [self = shared_from_this()](void*) {
        const std::lock_guard lock(self->lock_);
        --self->away_;
    });
    const std::lock_guard lock(lock_);
    ++away_;
    if (inside_ && !called_) called_ = memory_->call_in(number_);
    return away;
}

void Barrier::close() {
    closed_ = true;
    call_all();
}

}  // namespace muster
