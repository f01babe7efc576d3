// SPDX-License-Identifier: BSD-3-Clause
// Arriving, waiting, and leaving for the server: see barrier.hpp.
#include "core/barrier/barrier.hpp"

#include <sched.h>

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

/// Counts us in. False where the gate is shut.
bool Barrier::arrive(bool& last) {
    const std::lock_guard lock(lock_);
    if (closed_ || inside_ || away_ > 0) return false;
    std::atomic<uint64_t>& word = memory_->word();
    uint64_t now = word.load(std::memory_order_acquire);
    for (int i = 0; i < kTries; ++i) {
        if (barrier_shut(now) || barrier_arrived(now) >= size_) return false;
        last = barrier_arrived(now) + 1 == size_;
        if (word.compare_exchange_weak(now, last ? barrier_next(now) : now + 1, std::memory_order_acq_rel)) {
            number_ = barrier_number(now);
            inside_ = !last;
            return true;
        }
    }
    return false;
}

/// False where the gate was shut before all had arrived.
bool Barrier::wait() {
    for (int i = 0;; ++i) {
        const uint64_t now = memory_->word().load(std::memory_order_acquire);
        if (barrier_number(now) != number_) return true;
        if (barrier_shut(now) || closed_) return false;
        if (i < kYields) {
            sched_yield();
        } else {
            memory_->wait(barrier_gate(now), kLongestSleep);
        }
    }
}

Barrier::Passage Barrier::pass() {
    bool last = false;
    if (!arrive(last)) return Passage::AskServer;
    if (last) {
        memory_->wake_all();
        return Passage::Passed;
    }
    const bool passed = wait();  // nobody else changes number_ as long as we are inside
    const std::lock_guard lock(lock_);
    inside_ = false;
    return std::exchange(called_, false) || !passed ? Passage::AskServer : Passage::Passed;
}

Barrier::Away Barrier::by_server() {
    // Holds the barrier, and counts for as long as it is held itself.
    Away away(static_cast<void*>(this), [self = shared_from_this()](void*) {
        const std::lock_guard lock(self->lock_);
        --self->away_;
    });
    const std::lock_guard lock(lock_);
    ++away_;
    if (inside_ && !called_) {
        const uint64_t was = memory_->word().fetch_or(kBarrierShut, std::memory_order_acq_rel);
        if (barrier_number(was) == number_) {
            called_ = true;
            memory_->wake_all();
        }
    }
    return away;
}

void Barrier::close() {
    closed_ = true;
    memory_->word().fetch_or(kBarrierShut, std::memory_order_acq_rel);
    memory_->wake_all();
}

}  // namespace muster
