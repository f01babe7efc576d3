// SPDX-License-Identifier: BSD-3-Clause
// A server's part in the barriers in memory (docs/explanation/barrier.md): it opens the page of a job when
// all its processes have declared in one fence that they map it, and shuts it whenever the server receives a
// fence of such a job. Belongs to the loop.
#pragma once

#include <string>

#include "core/collective/collectives.hpp"
#include "core/rendezvous/rendezvous_pages.hpp"

namespace muster {

class Barriers : public RendezvousPages {
  public:
    Barriers(Runtime& runtime, Namespaces& namespaces, Collectives& collectives)
        : RendezvousPages(runtime, namespaces, "barrier", "fences", UINT32_MAX), collectives_(collectives) {}

    /// The descriptor for a process of this namespace that connects; -1 if there is none.
    int offer(const Namespace& nspace);
    /// A process has called a fence at the server.
    void joined(const Collective& fence);
    /// A fence has ended; the participants have not been answered yet.
    void ended(const Collective& fence, const Outcome& outcome);
    /// All processes of the namespace have arrived in memory, and have posted something: they are let go when
    /// everything has been taken that they had sent.
    void all_arrived(const char* nspace);

  private:
    bool called_at_server(const char* nspace) const;
    void release_arrived();
    bool take_what_was_sent(const std::string& nspace);

    Collectives& collectives_;
    TextMap<uint32_t> arrived_;  ///< namespaces whose processes have all arrived, and at which opening
    bool releases_ = false;      ///< at the end of this turn
};

}  // namespace muster
