// SPDX-License-Identifier: BSD-3-Clause
// A server's part in the meetings in memory (docs/explanation/groups.md): it opens and shuts their pages by
// the rules of docs/explanation/barrier.md, and keeps the outcome of the last meeting, for processes that had
// to leave it. Belongs to the loop.
#pragma once

#include <memory>
#include <string>

#include "core/collective/collectives.hpp"
#include "core/rendezvous/rendezvous_pages.hpp"

namespace muster {

class GroupServer;
struct Namespace;

class Meetings : public RendezvousPages {
  public:
    explicit Meetings(GroupServer& server);

    /// The descriptor for a process of this namespace that connects; -1 if there is none.
    int offer(const Namespace& nspace);
    /// Whether these are all processes of a job that has a meeting, each once.
    bool are_all(const char* nspace, const std::vector<pmix_proc_t>& procs);
    /// A process has called for itself.
    void joined(const Collective& collective);
    /// An operation of a group has ended; the participants have not been answered yet.
    void ended(const Collective& collective, const Outcome& outcome);
    /// A process asked for all in this meeting, and this is the outcome.
    void keep(const char* nspace, CollectiveKind kind, const std::string& id, uint32_t number,
              const Outcome& outcome);
    /// That outcome, for a process that was in this meeting; else null.
    std::shared_ptr<Outcome> kept(const char* nspace, CollectiveKind kind, const std::string& id,
                                  uint32_t number) const;
    void deregistered(const char* nspace);

  private:
    struct Last {
        CollectiveKind kind{};
        std::string id;
        uint32_t number = 0;
        std::shared_ptr<Outcome> outcome;
    };

    GroupServer& server_;
    TextMap<Last> last_;  ///< by namespace
};

}  // namespace muster
