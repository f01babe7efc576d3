// SPDX-License-Identifier: BSD-3-Clause
// Meeting in memory: see meeting.hpp.
#include "core/groups/meeting.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace muster {
namespace {

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

/// The whole page. Its content is never trusted: a process that writes false data harms only its own job.
struct Meeting::Content {
    std::atomic<uint64_t> word;  ///< the page's
    std::atomic<uint32_t> ended;
    // The result that the process that asked for all got for the meeting before the word's number.
    alignas(64) std::atomic<int32_t> status;
    std::atomic<uint32_t> has_context_id;
    std::atomic<uint64_t> context_id;
    alignas(64) std::atomic<uint64_t> calls[kMost];  ///< by rank; written before it arrives
};

Meeting::Content& Meeting::content() const {
    static_assert(sizeof(Content) <= 4096, "it has to fit into the smallest page");
    return *reinterpret_cast<Content*>(&page().word());
}

Meeting::Visit Meeting::meet(uint64_t call) {
    Visit visit;
    bool last = false;
    const Entry entry = enter([&](uint64_t now) {
        content().calls[rank_].store(call, std::memory_order_relaxed);
        last = page_arrived(now) + 1 == size();
        return now + 1;
    });
    if (entry == Entry::Refused) return visit;
    visit.number = number();
    if (last) {
        const auto* calls = content().calls;
        const bool same = std::all_of(calls, calls + size(), [call](const std::atomic<uint64_t>& other) {
            return other.load(std::memory_order_relaxed) == call;
        });
        if (same)
            visit.turn = Turn::AskForAll;
        else
            call_off();
        return visit;
    }
    const bool told = wait();
    visit.result.status = content().status.load(std::memory_order_relaxed);
    if (content().has_context_id.load(std::memory_order_relaxed) != 0)
        visit.result.context_id = content().context_id.load(std::memory_order_relaxed);
    if (leave(told)) visit.turn = Turn::Told;
    return visit;
}

void Meeting::tell(const Result& result) {
    Content& all = content();
    all.status.store(result.status, std::memory_order_relaxed);
    all.has_context_id.store(result.context_id ? 1 : 0, std::memory_order_relaxed);
    all.context_id.store(result.context_id.value_or(0), std::memory_order_relaxed);
    uint64_t now = all.word.load(std::memory_order_acquire);
    bool told = false;
    // If the gate was shut meanwhile, the others ask the server, which has the result.
    while (!told && !page_shut(now) && page_number(now) == number())
        told = all.word.compare_exchange_weak(now, page_next(now), std::memory_order_acq_rel);
    if (told) page().wake_on();
    leave(told);
}

void Meeting::call_off() {
    shut();
    leave(false);
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
