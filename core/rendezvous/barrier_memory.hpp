// SPDX-License-Identifier: BSD-3-Clause
// The memory in which the processes of a job on one node meet (docs/explanation/barrier.md): made by their
// server, written by all of them, so that nobody believes a byte of it. It is one word of 64 bits: how many
// have arrived, whether they have posted something, and the gate, which is the number of the barrier, whether
// it is shut (then the server makes it), and whether the server lets them go on. Behind it stands whether the
// namespace was deregistered.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

/// Some of those who have arrived have posted something: the server lets them go, when it has all of it.
constexpr uint64_t kBarrierPosted = uint64_t{1} << 31;
constexpr uint64_t kBarrierShut = uint64_t{1} << 32;
/// The server has it.
constexpr uint64_t kBarrierReleased = uint64_t{1} << 33;

/// The parts of the word.
constexpr uint32_t barrier_arrived(uint64_t word) {
    return static_cast<uint32_t>(word & (kBarrierPosted - 1));
}
constexpr bool barrier_posted(uint64_t word) {
    return (word & kBarrierPosted) != 0;
}
constexpr uint32_t barrier_gate(uint64_t word) {
    return static_cast<uint32_t>(word >> 32);
}
constexpr bool barrier_shut(uint64_t word) {
    return (word & kBarrierShut) != 0;
}
constexpr bool barrier_released(uint64_t word) {
    return (word & kBarrierReleased) != 0;
}
constexpr uint32_t barrier_number(uint64_t word) {
    return barrier_gate(word) >> 2;
}
/// The word of the next barrier, open, with nobody there; numbers begin anew after 2^30.
constexpr uint64_t barrier_next(uint64_t word) {
    return static_cast<uint64_t>((barrier_number(word) + 1) << 2) << 32;
}

class BarrierMemory {
  public:
    /// The server's: number 0, shut. `name` is what the system shows of it.
    static Result<std::unique_ptr<BarrierMemory>> create(const std::string& name);
    /// A client's, from a descriptor that a server gave, which is closed. Refused where it could shrink, or
    /// belongs to another user than `owner`.
    static Result<std::unique_ptr<BarrierMemory>> attach(UniqueFd fd, std::optional<uid_t> owner);
    ~BarrierMemory();
    BarrierMemory(const BarrierMemory&) = delete;
    BarrierMemory& operator=(const BarrierMemory&) = delete;

    // --- the server: the kernel does it, so nothing that clients do to the memory can stop or kill it ---

    /// To be handed to clients; stays ours.
    int descriptor() const { return fd_.get(); }
    /// Shuts the gate and wakes those who wait, of whom there are no more than `most`.
    void shut(int most);
    /// Begins the next barrier with an open gate. It must be shut, and nobody wait there.
    void open();
    /// As shut(), and tells them that the job is known here no more.
    void end(int most);
    /// Lets those go on who have all arrived, if the gate is open, and wakes them, at most as many as that.
    void release(int most);

    // --- clients ---

    bool ended() const {
        return std::atomic_ref<uint32_t>(*ended_word()).load(std::memory_order_acquire) != 0;
    }

    std::atomic<uint64_t>& word() { return *static_cast<std::atomic<uint64_t>*>(base_); }
    /// Waits until the gate is another one, somebody wakes us, or the time is over.
    void wait(uint32_t gate, std::chrono::milliseconds limit);
    /// Called when that time is over, by whoever waited.
    void on_long_wait(std::function<void()> listener) { long_wait_ = std::move(listener); }
    void wake_all();
    /// How long a process waits here until it asks the server instead, and so do the others: what keeps it
    /// waiting may be one that has spoilt the memory.
    static constexpr std::chrono::milliseconds kPatience{10000};
    /// Everybody in the barrier of that number is to ask the server; false where that one is over.
    bool call_in(uint32_t number);
    /// Wakes two of those who wait, those who came first, each of whom does the same when it sees that the
    /// barrier is over: so many wake sooner than one could wake them, and the kernel, which sees each of them
    /// run, spreads them over the processors. Who stands still between the two keeps others waiting for as
    /// long as they sleep at most; when it dies, the server shuts the gate, and wakes them.
    void wake_on();

  private:
    BarrierMemory() = default;
    uint32_t* gate() const;
    uint32_t* arrived() const;
    uint32_t* ended_word() const { return static_cast<uint32_t*>(base_) + 2; }

    UniqueFd fd_;
    void* base_ = nullptr;
    std::function<void()> long_wait_;
};

}  // namespace muster
