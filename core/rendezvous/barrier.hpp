// SPDX-License-Identifier: BSD-3-Clause
// A process's part in the barrier in memory (docs/explanation/barrier.md): it arrives and waits there, or is
// told that this fence goes by the server. Never two ways at once: while one of its fences over the whole job
// is with the server, all of them are. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "core/rendezvous/barrier_memory.hpp"

namespace muster {

class Barrier : public std::enable_shared_from_this<Barrier> {
  public:
    enum class Passage {
        Passed,     ///< all have arrived
        AskServer,  ///< this fence goes by the server
        Ended       ///< the namespace has been deregistered meanwhile
    };

    /// `size`: how many processes the job has.
    Barrier(std::unique_ptr<BarrierMemory> memory, uint32_t size,
            std::chrono::milliseconds patience = BarrierMemory::kPatience)
        : memory_(std::move(memory)), size_(size), patience_(patience) {}

    /// Tells the server that all have arrived, so that it lets them go; false where it cannot be told.
    using TellServer = std::function<bool()>;
    /// Arrives, and waits for all others. `posted`: we have sent something to the server since the last time,
    /// so that nobody is to go on before it has it; the last one of such a barrier calls `tell`, on this
    /// thread.
    Passage pass(bool posted, const TellServer& tell);

    /// As long as one of these lives, a fence over the whole job is on its way by the server.
    using Away = std::shared_ptr<void>;
    /// Before such a fence is sent. A thread that waits in memory will ask the server, too.
    Away by_server();

    /// From now on everything goes by the server; who waits in memory is woken.
    void close();

  private:
    enum class Place {
        AskServer,   ///< the gate is shut
        Among,       ///< we wait
        LastPosted,  ///< we wait, and nobody else comes
        Last         ///< the others go on
    };
    Place arrive(bool posted);
    void call_all();
    bool wait();

    const std::unique_ptr<BarrierMemory> memory_;
    const uint32_t size_;
    const std::chrono::milliseconds patience_;
    std::atomic<bool> closed_{false};
    std::mutex lock_;      // guards what follows
    size_t away_ = 0;      ///< fences over the whole job that are with the server
    bool inside_ = false;  ///< a thread waits in memory
    bool called_ = false;  ///< that thread has to ask the server, whatever it sees
    uint32_t number_ = 0;  ///< of the barrier where it waits
};

}  // namespace muster
