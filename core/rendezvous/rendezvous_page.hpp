// SPDX-License-Identifier: BSD-3-Clause
// The page of shared memory in which the processes of a job on one node synchronise
// (docs/explanation/barrier.md). The server makes it and all processes write it, so that its content is never
// trusted. It begins with one word of 64 bits: the number of processes that have arrived, whether they have
// posted data, and the gate. The gate is the number of the rendezvous, whether it is shut (then the server
// does it), and whether the server releases the processes. The word is followed by a flag for a deregistered
// namespace, and the data that the processes of a meeting exchange.
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

/// Some arrivals have posted something: the server releases all, when it has all of it.
constexpr uint64_t kPagePosted = uint64_t{1} << 31;
constexpr uint64_t kPageShut = uint64_t{1} << 32;
/// The server has it.
constexpr uint64_t kPageReleased = uint64_t{1} << 33;

/// The parts of the word.
constexpr uint32_t page_arrived(uint64_t word) {
    return static_cast<uint32_t>(word & (kPagePosted - 1));
}
constexpr bool page_posted(uint64_t word) {
    return (word & kPagePosted) != 0;
}
constexpr uint32_t page_gate(uint64_t word) {
    return static_cast<uint32_t>(word >> 32);
}
constexpr bool page_shut(uint64_t word) {
    return (word & kPageShut) != 0;
}
constexpr bool page_released(uint64_t word) {
    return (word & kPageReleased) != 0;
}
constexpr uint32_t page_number(uint64_t word) {
    return page_gate(word) >> 2;
}
/// The word of the next barrier, open, without arrivals; numbers wrap after 2^30.
constexpr uint64_t page_next(uint64_t word) {
    return static_cast<uint64_t>((page_number(word) + 1) << 2) << 32;
}

class RendezvousPage {
  public:
    /// The server's: number 0, shut. `name` is its name in the system.
    static Result<std::unique_ptr<RendezvousPage>> create(const std::string& name);
    /// A client's, from a descriptor that a server gave, which is closed. Refused where it could shrink, or
    /// belongs to another user than `owner`.
    static Result<std::unique_ptr<RendezvousPage>> attach(UniqueFd fd, std::optional<uid_t> owner);
    ~RendezvousPage();
    RendezvousPage(const RendezvousPage&) = delete;
    RendezvousPage& operator=(const RendezvousPage&) = delete;

    // --- the server: the kernel does it, so nothing that clients do to the memory can stop or kill it ---

    /// To be handed to clients; stays ours.
    int descriptor() const { return fd_.get(); }
    /// Shuts the gate and wakes the waiting processes, at most `most`.
    void shut(int most);
    /// Begins the next barrier with an open gate. The gate must be shut, and no process wait there.
    void open();
    /// As shut(), and marks the job as deregistered.
    void end(int most);
    /// If the gate is open and all have arrived, releases and wakes them, at most as many as that.
    void release(int most);

    // --- clients ---

    bool ended() const {
        return std::atomic_ref<uint32_t>(*ended_word()).load(std::memory_order_acquire) != 0;
    }

    std::atomic<uint64_t>& word() { return *static_cast<std::atomic<uint64_t>*>(base_); }
    /// Waits until the gate changes, a wake-up, or a time-out.
    void wait(uint32_t gate, std::chrono::milliseconds limit);
    /// Called by a waiter after its time-out.
    void on_long_wait(std::function<void()> listener) { long_wait_ = std::move(listener); }
    void wake_all();
    /// The time after which a waiting process falls back to the server, and makes the others fall back: a
    /// process may have corrupted the page.
    static constexpr std::chrono::milliseconds kPatience{10000};
    /// Makes all in the barrier of that number ask the server; false if that barrier is over.
    bool call_in(uint32_t number);
    /// Wakes the two oldest waiters; each calls this when it sees the end of the barrier. A tree of wake-ups
    /// is faster than one process that wakes all, and lets the kernel spread the processes over the
    /// processors. A process that stops in between delays others by their longest sleep; if it dies, the
    /// server shuts the gate and wakes them.
    void wake_on();

  private:
    RendezvousPage() = default;
    uint32_t* gate() const;
    uint32_t* arrived() const;
    uint32_t* ended_word() const { return static_cast<uint32_t*>(base_) + 2; }

    UniqueFd fd_;
    void* base_ = nullptr;
    std::function<void()> long_wait_;
};

}  // namespace muster
