// SPDX-License-Identifier: BSD-3-Clause
// The memory in which the processes of a job on one node meet (docs/barrier.md): made by their server,
// written by all of them, so that nobody believes a byte of it. It is one word of 64 bits: how many have
// arrived, and the gate, which is the number of the barrier and whether it is shut (then the server makes
// it).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

/// The parts of the word.
constexpr uint32_t barrier_arrived(uint64_t word) {
    return static_cast<uint32_t>(word);
}
constexpr uint32_t barrier_gate(uint64_t word) {
    return static_cast<uint32_t>(word >> 32);
}
constexpr bool barrier_shut(uint64_t word) {
    return (barrier_gate(word) & 1) != 0;
}
constexpr uint32_t barrier_number(uint64_t word) {
    return barrier_gate(word) >> 1;
}
/// The word of the next barrier, open, with nobody there; numbers begin anew after 2^31.
constexpr uint64_t barrier_next(uint64_t word) {
    return static_cast<uint64_t>((barrier_number(word) + 1) << 1) << 32;
}
constexpr uint64_t kBarrierShut = uint64_t{1} << 32;

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

    // --- clients ---

    std::atomic<uint64_t>& word() { return *static_cast<std::atomic<uint64_t>*>(base_); }
    /// Waits until the gate is another one, somebody wakes us, or the time is over.
    void wait(uint32_t gate, std::chrono::milliseconds limit);
    void wake_all();

  private:
    BarrierMemory() = default;
    uint32_t* gate() const;
    uint32_t* arrived() const;

    UniqueFd fd_;
    void* base_ = nullptr;
};

}  // namespace muster
