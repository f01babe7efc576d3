// SPDX-License-Identifier: BSD-3-Clause
// Event notification of a process, whatever its roles: joins its handlers (EventEngine) with its server or,
// where it is a server itself, with its clients and its host (EventRouter). Belongs to the loop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/events/event_engine.hpp"
#include "core/exchange/upstream.hpp"

namespace muster {

class EventRouter;
class Namespaces;
class Packer;
class Runtime;
enum class Command : uint8_t;
struct Frame;

class Events {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;
    using OnRegistered = std::function<void(pmix_status_t status, size_t id)>;

    /// The library's own reaction to an event, before all handlers. A returned function runs at the end of
    /// the chain.
    using Observer = std::function<EventEngine::OnEnd(const EventPtr& event)>;

    explicit Events(Runtime& runtime);

    /// Every event of this code that this process gets or reports itself is shown to `observer`; in a server
    /// each that passes. Before the first event, or on the loop.
    void observe(pmix_status_t code, Observer observer);
    /// Registers these codes at the server, without a handler. The server replays held events.
    void listen(const std::vector<pmix_status_t>& codes);

    /// From now on `client` delivers events, and its lost connection is one. Before it connects.
    void attach(Upstream& client);
    /// This process is a server: events pass through `router`. Before the first event, or on the loop.
    void serve(EventRouter& router, Namespaces& namespaces);

    /// PMIx_Register_event_handler. The handler gets no event before `done` has returned. `info` are the
    /// directives that `spec` was read from; registrations that need the server are sent to it.
    void register_handler(HandlerSpec spec, Info info, OnRegistered done);
    /// PMIx_Deregister_event_handler; PMIX_ERR_BAD_PARAM for an unknown number.
    void deregister_handler(size_t id, const OnStatus& done);
    /// PMIx_Notify_event: for this process, and through the server or the host for others.
    void notify(EventPtr event, const OnStatus& done);
    /// The same, complete on return, for an event that the server always accepts. It calls no handler, so
    /// that the reporter's thread may drive the loop. False, without effect, if notify() must be called: the
    /// event may be refused, this process has a handler, or many events arrive at once, which are better sent
    /// together and answered. `waits`: the reporter waits, so that no other event can be sent together with
    /// it.
    bool report(const EventPtr& event, bool waits);
    /// Runs the handlers of this process alone.
    void raise(EventPtr event);

    /// The handlers of this process.
    const EventEngine& engine() const { return engine_; }

    /// Events dropped for lack of space: in this process, and as a server for its clients.
    size_t dropped();

  private:
    EventEngine::OnEnd observed(const EventPtr& event);
    bool is_observed(pmix_status_t code) const;
    Packer packed(const Event& event, Command command) const;
    bool concerns_us(const Event& event) const;
    /// The client role where it has a server to ask.
    Upstream* upstream() const;
    bool source_in_range(const HandlerSpec& handler, const pmix_proc_t& source) const;
    /// Registers the codes of the handlers at the new primary server.
    void tell_primary();
    /// Registers the library's own events with the server.
    void tell_listened(const std::vector<pmix_status_t>& fresh);
    void receive(const Frame& frame);
    void lost(const pmix_proc_t& server);
    void withdraw(const std::vector<pmix_status_t>& codes);

    Runtime& runtime_;
    Upstream* client_ = nullptr;
    Namespaces* namespaces_ = nullptr;  ///< of the server role
    std::atomic<EventRouter*> router_{
        nullptr};  ///< likewise; null while there is none. Set after namespaces_
    EventEngine engine_;
    std::map<pmix_status_t, size_t> wanted_;   ///< how many handlers have each code
    size_t wanted_defaults_ = 0;               ///< and how many have all
    std::multiset<pmix_status_t> unanswered_;  ///< codes for which the server has still to agree
    std::set<pmix_status_t> listened_;         ///< codes that the library itself has asked for
    std::vector<std::pair<pmix_status_t, Observer>> observers_;  ///< few, and asked once an event
    std::chrono::steady_clock::time_point reported_{};           ///< when report() was last asked
};

}  // namespace muster
