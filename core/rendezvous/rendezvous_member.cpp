// SPDX-License-Identifier: BSD-3-Clause
// Waiting, leaving, and falling back to the server: see rendezvous_member.hpp.
#include "core/rendezvous/rendezvous_member.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace muster {
namespace {

/// How often the processor is left to others before a thread sleeps. The yields are not timed: to read the
/// clock twice takes as long as a yield (docs/decisions/0055).
constexpr int kYields = 4;
/// A sleeper checks again after that time, in case the process that should have woken it was killed or is
/// malicious.
constexpr std::chrono::milliseconds kLongestSleep{1000};

}  // namespace

bool RendezvousMember::wait() {
    std::atomic<uint64_t>& word = page_->word();
    std::optional<std::chrono::steady_clock::time_point> until;  // since the first sleep
    int yields = 0;
    bool slept = false;
    for (;;) {
        uint64_t now = word.load(std::memory_order_acquire);
        if (page_number(now) != number_) {
            if (slept) page_->wake_on();  // others may sleep, too
            return true;
        }
        if (page_shut(now) || closed_) return false;
        if (page_released(now)) {
            // The server reads nothing here, so it is a process that begins the next rendezvous: the word
            // shows whether the gate was shut meanwhile.
            if (page_arrived(now) != size_) return false;
            if (word.compare_exchange_weak(now, page_next(now), std::memory_order_acq_rel)) return true;
        } else if (yields < kYields) {
            ++yields;
            sched_yield();
        } else {
            slept = true;
            const auto when = std::chrono::steady_clock::now();
            if (!until) until = when + patience_;
            if (when >= *until) return !page_->call_in(number_);
            page_->wait(page_gate(now), std::min(kLongestSleep, patience_));
        }
    }
}

void RendezvousMember::shut() {
    page_->word().fetch_or(kPageShut, std::memory_order_acq_rel);
    page_->wake_all();
}

bool RendezvousMember::leave(bool through) {
    const MutexLock lock(lock_);
    inside_ = false;
    return !std::exchange(called_, false) && through;
}

RendezvousMember::Away RendezvousMember::by_server() {
    // Holds this object, and counts for as long as it is held itself.
    Away away(static_cast<void*>(this), [self = shared_from_this()](void*) {
        const MutexLock lock(self->lock_);
        --self->away_;
    });
    const MutexLock lock(lock_);
    ++away_;
    if (inside_ && !called_) called_ = page_->call_in(number_);
    return away;
}

void RendezvousMember::close() {
    closed_ = true;
    shut();
}

Barrier::Passage Barrier::pass(bool posted, const TellServer& tell) {
    bool last = false;
    const Entry entry = enter([&](uint64_t now) {
        last = page_arrived(now) + 1 == size();
        const uint64_t with_us = (now + 1) | (posted ? kPagePosted : 0);
        return last && !page_posted(with_us) ? page_next(now) : with_us;
    });
    if (entry == Entry::Refused) return Passage::AskServer;
    if (entry == Entry::Through) {
        page().wake_on();
        return Passage::Passed;
    }
    if (last && !tell()) shut();
    const bool through = wait();
    if (leave(through)) return Passage::Passed;
    return page().ended() ? Passage::Ended : Passage::AskServer;
}

}  // namespace muster
