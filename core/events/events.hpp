// SPDX-License-Identifier: BSD-3-Clause
// Event notification of a process, whatever its roles: joins its handlers (EventEngine) with its server or,
// where it is a server itself, with its clients and its host (EventRouter). Belongs to the loop.
#pragma once

#include <functional>
#include <map>

#include "core/events/event_engine.hpp"

namespace muster {

class Client;
class Runtime;
struct Frame;

/// Key of a query of ours: how many events a server gave up for lack of room before all who might have wanted
/// them had registered (PMIX_SIZE; parameter pmix_event_cache_size).
inline constexpr const char* kDroppedEventsKey = "muster.events.dropped";

class Events {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;
    using OnRegistered = std::function<void(pmix_status_t status, size_t id)>;

    explicit Events(Runtime& runtime);

    /// From now on `client` delivers events, and its lost connection is one. Before it connects.
    void attach(Client& client);

    /// PMIx_Register_event_handler. The handler gets no event before `done` has returned. `info` are the
    /// directives that `spec` was read from; what handlers cannot serve alone goes to the server.
    void register_handler(HandlerSpec spec, Info info, OnRegistered done);
    /// PMIx_Deregister_event_handler; PMIX_ERR_BAD_PARAM for an unknown number.
    void deregister_handler(size_t id, const OnStatus& done);
    /// PMIx_Notify_event: for this process, and through the server or the host for others.
    void notify(EventPtr event, const OnStatus& done);
    /// Runs the handlers of this process alone.
    void raise(EventPtr event);

    /// Events that were given up for lack of room: in this process, and as a server for its clients.
    size_t dropped();

  private:
    void receive(const Frame& frame);
    void lost();
    void withdraw(const std::vector<pmix_status_t>& codes);

    Runtime& runtime_;
    Client* client_ = nullptr;
    EventEngine engine_;
    std::map<pmix_status_t, size_t> wanted_;  ///< how many handlers have each code
    size_t wanted_defaults_ = 0;              ///< and how many have all
};

}  // namespace muster
