// SPDX-License-Identifier: BSD-3-Clause
// The server part of groups: its members, and the services of the server that they need. Belongs to the loop.
#pragma once

#include "core/collective/collectives.hpp"
#include "core/exchange/exchange.hpp"
#include "core/exchange/request.hpp"
#include "core/groups/end_reports.hpp"
#include "core/groups/invitation_watch.hpp"
#include "core/groups/meetings.hpp"
#include "core/groups/process_sets.hpp"

namespace muster {

class EventRouter;
class Events;
class GroupConstruct;
class GroupDestruct;
class Modex;
class Namespaces;
class Peers;

class GroupServer {
  public:
    /// The services that groups need. All of them outlive the loop.
    struct Services {
        Exchange& exchange;
        Host& host;
        Namespaces& namespaces;
        Peers& peers;
        Collectives& collectives;
        Modex& modex;
        EventRouter& router;
        Events& events;
    };

    /// Enters the construction and destruction of groups into the collectives.
    explicit GroupServer(const Services& services);
    GroupServer(const GroupServer&) = delete;
    GroupServer& operator=(const GroupServer&) = delete;

    Runtime& runtime() { return services_.exchange.runtime(); }
    Log& log() { return services_.exchange.log(); }
    GroupTable& groups() { return services_.exchange.groups(); }
    const Gds& store() { return services_.exchange.store(); }
    Host& host() { return services_.host; }
    Namespaces& namespaces() { return services_.namespaces; }
    Peers& peers() { return services_.peers; }
    Collectives& collectives() { return services_.collectives; }
    Modex& modex() { return services_.modex; }
    EventRouter& router() { return services_.router; }
    Events& events() { return services_.events; }

    Meetings& meetings() { return meetings_; }
    ProcessSets& process_sets() { return process_sets_; }
    InvitationWatch& invitation_watch() { return invitation_watch_; }
    EndReports& end_reports() { return end_reports_; }
    /// Whether an event comes from the server of another node, rather than from a process.
    bool is_other_server(const pmix_proc_t& source);

    GroupConstruct& group_construct() { return *construct_; }
    GroupDestruct& group_destruct() { return *destruct_; }

    /// A namespace was registered, or goes away.
    void registered(const char* nspace) { meetings_.registered(nspace); }
    void deregistered(const char* nspace);
    /// A process of this node has ended, or has finalized (not `lost`): called before, and after, the
    /// collectives process it.
    void departing(const pmix_proc_t& proc) { meetings_.call_in(proc.nspace); }
    void departed(const pmix_proc_t& proc, bool lost);
    /// The host has deregistered a process.
    void exited(const pmix_proc_t& proc) { end_reports_.exited(proc); }
    /// A process of this node begins, perhaps another life.
    void began(const pmix_proc_t& proc) { end_reports_.began(proc); }

  private:
    Services services_;
    Meetings meetings_{*this};
    ProcessSets process_sets_{*this};
    EndReports end_reports_{*this};
    InvitationWatch invitation_watch_{*this};
    GroupConstruct* construct_ = nullptr;  // the collectives'
    GroupDestruct* destruct_ = nullptr;    // likewise
};

/// Enters the requests of clients about groups.
void serve_groups(CommandTable& commands, GroupServer& server);

}  // namespace muster
