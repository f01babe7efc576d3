// SPDX-License-Identifier: BSD-3-Clause
// Meeting in memory: see meeting.hpp.
#include "core/groups/meeting.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

namespace muster {
namespace {

/// As in the barrier.
constexpr int kYields = 4;
constexpr int kTries = 10000;
constexpr std::chrono::milliseconds kLongestSleep{1000};

/// Bits of a note on the wire.
constexpr uint8_t kMaps = 1, kTogether = 2, kNumber = 4;

}  // namespace

void MeetingNote::pack(Packer& out) const {
    out.byte(static_cast<uint8_t>((maps ? kMaps : 0) | (together ? kTogether : 0) | (number ? kNumber : 0)));
    if (number) out.uint32(*number);
}

bool MeetingNote::read(Unpacker& in, MeetingNote& note) {
    if (in.at_end()) return true;
    uint8_t bits = 0;
    uint32_t number = 0;
    if (!in.byte(bits) || ((bits & kNumber) != 0 && !in.uint32(number))) return false;
    note.maps = (bits & kMaps) != 0;
    note.together = (bits & kTogether) != 0;
    if ((bits & kNumber) != 0) note.number = number;
    return !note.together || note.number;
}

/// Nobody believes a byte of it: whoever lies here harms its own job.
struct Meeting::Page {
    std::atomic<uint64_t> word;  ///< as in the barrier
    // What whoever asked for all has heard, of the meeting before the one that the word names.
    alignas(64) std::atomic<int32_t> status;
    std::atomic<uint32_t> has_context_id;
    std::atomic<uint64_t> context_id;
    alignas(64) std::atomic<uint64_t> calls[kMost];  ///< by rank; written before it arrives
};

Meeting::Meeting(std::unique_ptr<BarrierMemory> memory, uint32_t size, pmix_rank_t rank,
                 std::chrono::milliseconds patience)
    : memory_(std::move(memory)), size_(size), rank_(rank), patience_(patience) {
    static_assert(sizeof(Page) <= 4096, "it has to fit into the smallest page");
}

Meeting::Page& Meeting::page() {
    return *reinterpret_cast<Page*>(&memory_->word());
}

/// Counts us in. False where the gate is shut.
bool Meeting::enter(uint64_t call, bool& last) {
    const std::lock_guard lock(lock_);
    if (closed_ || inside_ || away_ > 0) return false;
    std::atomic<uint64_t>& word = page().word;
    uint64_t now = word.load(std::memory_order_acquire);
    if (barrier_shut(now)) return false;
    page().calls[rank_].store(call, std::memory_order_relaxed);
    for (int i = 0; i < kTries; ++i) {
        if (barrier_shut(now) || barrier_arrived(now) >= size_) return false;
        last = barrier_arrived(now) + 1 == size_;
        if (word.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) {
            number_ = barrier_number(now);
            inside_ = true;
            return true;
        }
    }
    return false;
}

/// False where the gate was shut before anything was told.
bool Meeting::wait() {
    std::optional<std::chrono::steady_clock::time_point> until;  // since we first sleep
    for (int i = 0;; ++i) {
        const uint64_t now = page().word.load(std::memory_order_acquire);
        if (barrier_number(now) != number_) {
            if (i > kYields) memory_->wake_on();  // we slept, as others may
            return true;
        }
        if (barrier_shut(now) || closed_) return false;
        if (i < kYields) {
            sched_yield();
        } else {
            const auto when = std::chrono::steady_clock::now();
            if (!until) until = when + patience_;
            if (when >= *until) return !memory_->call_in(number_);
            memory_->wait(barrier_gate(now), std::min(kLongestSleep, patience_));
        }
    }
}

void Meeting::shut() {
    page().word.fetch_or(kBarrierShut, std::memory_order_acq_rel);
    memory_->wake_all();
}

void Meeting::leave(Visit& visit, bool told) {
    const std::lock_guard lock(lock_);
    inside_ = false;
    visit.turn = std::exchange(called_, false) || !told ? Turn::AskServer : Turn::Told;
}

Meeting::Visit Meeting::meet(uint64_t call) {
    Visit visit;
    bool last = false;
    if (!enter(call, last)) return visit;
    visit.number = number_;  // nobody else changes it as long as we are inside
    if (last) {
        const auto* calls = page().calls;
        const bool same = std::all_of(calls, calls + size_, [call](const std::atomic<uint64_t>& other) {
            return other.load(std::memory_order_relaxed) == call;
        });
        if (same) {
            visit.turn = Turn::AskForAll;
        } else {
            call_off();
        }
        return visit;
    }
    const bool told = wait();
    visit.result.status = page().status.load(std::memory_order_relaxed);
    if (page().has_context_id.load(std::memory_order_relaxed) != 0)
        visit.result.context_id = page().context_id.load(std::memory_order_relaxed);
    leave(visit, told);
    return visit;
}

void Meeting::tell(const Result& result) {
    Page& all = page();
    all.status.store(result.status, std::memory_order_relaxed);
    all.has_context_id.store(result.context_id ? 1 : 0, std::memory_order_relaxed);
    all.context_id.store(result.context_id.value_or(0), std::memory_order_relaxed);
    uint64_t now = all.word.load(std::memory_order_acquire);
    bool told = false;
    // Where the gate was shut meanwhile, they ask the server, which knows.
    while (!told && !barrier_shut(now) && barrier_number(now) == number_)
        told = all.word.compare_exchange_weak(now, barrier_next(now), std::memory_order_acq_rel);
    if (told) memory_->wake_on();
    Visit visit;
    leave(visit, told);
}

void Meeting::call_off() {
    shut();
    Visit visit;
    leave(visit, false);
}

Meeting::Away Meeting::by_server() {
    // Holds the meeting, and counts for as long as it is held itself.
    Away away(static_cast<void*>(this), [self = shared_from_this()](void*) {
        const std::lock_guard lock(self->lock_);
        --self->away_;
    });
    const std::lock_guard lock(lock_);
    ++away_;
    if (inside_ && !called_) called_ = memory_->call_in(number_);
    return away;
}

void Meeting::close() {
    closed_ = true;
    shut();
}

void CallDigest::add(uint64_t value) {
    for (int i = 0; i < 2; ++i) {
        state_ = (state_ ^ value) * 0x9e3779b97f4a7c15;
        state_ ^= state_ >> 32;
        value = (value >> 32) + static_cast<uint64_t>(i) + 1;
    }
}

void CallDigest::add(std::string_view text) {
    add(text.size());
    for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
        uint64_t part = 0;
        std::memcpy(&part, text.data() + at, std::min(sizeof part, text.size() - at));
        add(part);
    }
}

}  // namespace muster
