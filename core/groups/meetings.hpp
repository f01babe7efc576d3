// SPDX-License-Identifier: BSD-3-Clause
// A server's part in the meetings in memory (docs/explanation/groups.md): it makes one for each job that is
// on this node whole, opens and shuts it by the rules of docs/explanation/barrier.md, and keeps what the last
// one came to, for those who had to leave it. Belongs to the loop.
#pragma once

#include <memory>
#include <string>

#include "core/collective/collectives.hpp"
#include "core/rendezvous/barrier_memory.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class GroupServer;
struct Namespace;

class Meetings {
  public:
    explicit Meetings(GroupServer& server) : server_(server) {}

    /// The descriptor for a process of this namespace that connects; -1 where there is none.
    int offer(const Namespace& nspace);
    /// Whether these are all processes of a job that has a meeting, each once.
    bool are_all(const char* nspace, const std::vector<pmix_proc_t>& procs) const;
    /// A process has called for itself.
    void joined(const Collective& collective);
    /// An operation of a group has ended; those who called have not been answered yet.
    void ended(const Collective& collective, const Outcome& outcome);
    /// One asked for all in this meeting, and this is what came of it.
    void keep(const char* nspace, CollectiveKind kind, const std::string& id, uint32_t number,
              const Outcome& outcome);
    /// What came of it, for a process that was in this meeting; else null.
    std::shared_ptr<Outcome> kept(const char* nspace, CollectiveKind kind, const std::string& id,
                                  uint32_t number) const;
    /// Whoever waits in memory is to ask the server: a process of the namespace has gone.
    void call_in(const char* nspace);
    /// The same of all namespaces: somebody wants to know who waits.
    void call_in_all();
    /// More is known of the namespace.
    void registered(const char* nspace);
    void deregistered(const char* nspace);

  private:
    struct Last {
        CollectiveKind kind{};
        std::string id;
        uint32_t number = 0;
        std::shared_ptr<Outcome> outcome;
    };
    struct Shared {
        std::unique_ptr<BarrierMemory> memory;  ///< null where it could not be made
        uint32_t size = 0;                      ///< processes of the job
        bool open = false;                      ///< as far as we know: processes may have shut it
        Last last;
    };
    static void call_in(Shared& shared);
    uint32_t size_of(const Namespace& nspace) const;

    GroupServer& server_;
    TextMap<Shared> shared_;
};

}  // namespace muster
