// SPDX-License-Identifier: BSD-3-Clause
// A process's part in the barrier in memory (docs/explanation/barrier.md): a fence of the whole job. Any
// thread.
#pragma once

#include <functional>

#include "core/rendezvous/rendezvous_member.hpp"

namespace muster {

class Barrier : public RendezvousMember {
  public:
    enum class Passage {
        Passed,     ///< all have arrived
        AskServer,  ///< this fence goes by the server
        Ended       ///< the namespace has been deregistered meanwhile
    };

    /// `size`: how many processes the job has.
    Barrier(std::unique_ptr<RendezvousPage> page, uint32_t size,
            std::chrono::milliseconds patience = RendezvousPage::kPatience)
        : RendezvousMember(std::move(page), size, patience) {}

    /// Sends the server the notice that all have arrived, so that it releases them; false if it cannot.
    using TellServer = std::function<bool()>;
    /// Arrives, and waits for all others. `posted`: this process has sent something to the server since the
    /// last time, so that no process may continue before the server has it; the last one of such a barrier
    /// calls `tell`, on this thread.
    Passage pass(bool posted, const TellServer& tell);
};

}  // namespace muster
