// SPDX-License-Identifier: BSD-3-Clause
// A server's part in the barriers in memory (docs/explanation/barrier.md): it makes one for each job that is
// on this node whole, opens it when all its processes have said in one fence that they map it, and shuts it
// whenever a fence of such a job comes to it. Belongs to the loop.
#pragma once

#include <memory>
#include <string>

#include "core/collective/collectives.hpp"
#include "core/rendezvous/barrier_memory.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class Namespaces;
class Runtime;
struct Namespace;

class Barriers {
  public:
    Barriers(Runtime& runtime, Namespaces& namespaces, Collectives& collectives)
        : runtime_(runtime), namespaces_(namespaces), collectives_(collectives) {}

    /// The descriptor for a process of this namespace that connects; -1 where there is none.
    int offer(const Namespace& nspace);
    /// A process has called a fence at the server.
    void joined(const Collective& fence);
    /// A fence has ended; those who called have not been answered yet.
    void ended(const Collective& fence, const Outcome& outcome);
    /// How many processes the job has, when all of them are here, and they are more than one; else 0.
    uint32_t size_of(const Namespace& nspace) const;
    /// All processes of the namespace have arrived in memory, and have posted something: they are let go when
    /// everything has been taken that they had sent.
    void all_arrived(const char* nspace);
    /// Whoever waits in memory is to ask the server: a process of the namespace has gone.
    void call_in(const char* nspace);
    /// The same of all namespaces: somebody wants to know who waits.
    void call_in_all();
    /// More is known of the namespace.
    void registered(const char* nspace);
    void deregistered(const char* nspace);

  private:
    struct Shared {
        std::unique_ptr<BarrierMemory> memory;  ///< null where it could not be made
        uint32_t size = 0;                      ///< processes of the job
        bool open = false;                      ///< as far as we know: processes may have shut it
        bool arrived = false;                   ///< all have, and are to be let go
    };
    static void open(Shared& shared);
    static void call_in(Shared& shared);
    bool called_at_server(const char* nspace) const;
    void release_arrived();
    bool take_what_was_sent(const std::string& nspace);

    Runtime& runtime_;
    Namespaces& namespaces_;
    Collectives& collectives_;
    TextMap<Shared> shared_;
    bool releases_ = false;  ///< at the end of this turn
};

}  // namespace muster
