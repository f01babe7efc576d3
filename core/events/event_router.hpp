// SPDX-License-Identifier: BSD-3-Clause
// The events of a server: the registrations of clients, the range of an event, the events that are held
// for later registrations, and the exchange with the host. Belongs to the loop.
//
// Handlers' own restrictions (source range, affected processes) are applied where the handlers are, in the
// receiving process; here codes and ranges count.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/events/event.hpp"
#include "core/events/event_store.hpp"
#include "core/exchange/peer.hpp"
#include "core/exchange/request.hpp"

namespace muster {

class GroupTable;
class Host;
class Namespaces;
class Runtime;

class EventRouter {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;

    struct Limits {
        size_t held_bytes = 0;    ///< limit of cached events
        size_t queued_bytes = 0;  ///< of events queued for one client; further events are dropped
        size_t codes = 0;         ///< that one client may have registered
    };
    /// Gives an event to the handlers of this process.
    using Raise = std::function<void(EventPtr)>;

    EventRouter(Runtime& runtime, Host& host, Namespaces& namespaces, Raise raise, const Limits& limits);
    ~EventRouter();

    /// A client registers codes (none: all). `done` answers it; then it gets its cached events, in order.
    void register_codes(const PeerPtr& peer, std::vector<pmix_status_t> codes, Info info, OnStatus done);
    void deregister_codes(const PeerPtr& peer, const std::vector<pmix_status_t>& codes);

    /// Environment events are requested from the host while a client has registered them: other codes are
    /// ignored. PMIX_ERR_NOT_SUPPORTED from a host that has no such upcall.
    void want_environment(const std::vector<pmix_status_t>& codes, Info info, OnStatus done);
    void forget_environment(const std::vector<pmix_status_t>& codes);

    /// Whether a client has registered this code (default handlers do not count).
    bool wants(const Peer& peer, pmix_status_t code) const;

    /// An event that a client of ours reports.
    void from_client(EventPtr event, const OnStatus& done);
    /// An event that the host passes down, or reports itself.
    void from_host(EventPtr event, const OnStatus& done);
    /// To the clients of this node, and to those that register later.
    void to_clients(const EventPtr& event);

    /// The connection of a client broke: the host gets an event from the server's process.
    void lost(const pmix_proc_t& proc);
    /// A process has finalized or ended; a process has ended for good; a namespace was deregistered.
    void departed();
    void exited(const pmix_proc_t& proc) { former_.erase(Proc(proc)); }
    void deregistered(const char* nspace);

    /// Whether a life of this process that has finalized had an event; so it counts when that is not held
    /// any more.
    bool had_before(const pmix_proc_t& proc, const EventPtr& event) const;

    /// Events dropped from the cache, or not sent to a client that does not read, for lack of space.
    size_t dropped() const { return held_.dropped() + unsent_; }

  private:
    /// When a registration began and ended, in numbers of events.
    struct Span {
        uint64_t since = 0;
        uint64_t until = UINT64_MAX;
        bool active() const { return until == UINT64_MAX; }
    };
    struct Registration {
        PeerRef peer;
        uint32_t index = 0;
        pmix_proc_t proc{};
        bool refused = false;  ///< some codes, for lack of space: this is logged
        std::map<pmix_status_t, Span> codes;
        bool has_defaults = false;
        Span defaults;
        uint64_t served = UINT64_MAX;  ///< number of the last event that was checked for it
    };
    using RegistrationPtr = std::shared_ptr<Registration>;

    class PackedEvent;

    bool has_room(const Peer& peer, const std::vector<pmix_status_t>& codes);
    void pass(PackedEvent& event, Peer& peer);
    bool in_range(const Event& event, const pmix_proc_t& proc) const;
    bool reaches_beyond(const Event& event, bool& surely) const;
    bool concerns(const Event& event, const pmix_proc_t& proc) const;
    bool had(const Registration& registration, const EventStore::Held& held) const;
    void replay(const Registration& before, const PeerPtr& peer, const std::vector<pmix_status_t>& codes);
    RegistrationPtr add_peer(const PeerPtr& client);
    void end(const RegistrationPtr& registration, pmix_status_t code);
    void forget(const RegistrationPtr& registration);
    void end(const RegistrationPtr& registration);
    pmix_status_t tell_host(const EventPtr& event);

    Runtime& runtime_;
    Host& host_;
    Namespaces& namespaces_;
    Raise raise_;
    uint64_t next_number_ = 0;
    EventStore held_;
    const size_t max_queued_;
    const size_t max_codes_;
    size_t unsent_ = 0;
    std::unordered_map<uint32_t, RegistrationPtr> by_peer_;  ///< by the peer's index
    std::unordered_map<pmix_status_t, std::vector<RegistrationPtr>> by_code_;
    std::vector<RegistrationPtr> defaults_;
    /// The registrations of processes that have finalized. After a new init the process gets no event twice.
    std::unordered_map<Proc, RegistrationPtr> former_;
    /// A registration that waits for the host's answer to another one, which asks for a code of it.
    struct WaitingWant {
        std::vector<pmix_status_t> codes;
        Info info;
        OnStatus done;
    };
    std::map<pmix_status_t, size_t> environment_;  ///< codes at the host, and their users
    std::set<pmix_status_t> unanswered_;           ///< of these: the host has not agreed yet
    std::list<WaitingWant> waiting_wants_;
};

/// Whether this server has space for the consequences of an event that a client reports (invitations to
/// groups).
using Admits = std::function<bool(const Event&)>;

/// Registers the handlers of a server: RegisterEvents, DeregisterEvents, Notify, Report.
void serve_events(CommandTable& commands, Runtime& runtime, EventRouter& router, const GroupTable& groups,
                  Admits admits);

}  // namespace muster
