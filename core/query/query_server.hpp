// SPDX-License-Identifier: BSD-3-Clause
// The services of a server that know the answers to queries.
#pragma once

#include "core/exchange/exchange.hpp"
#include "core/exchange/request.hpp"

namespace muster {

class Barriers;
class Collectives;
class Events;
class Forwarder;
class Forwarding;
class GroupServer;
class HostAttributes;
class Modex;
class Namespaces;

/// References only: their objects outlive the loop.
class QueryServer {
  public:
    struct Services {
        Exchange& exchange;
        Host& host;
        Namespaces& namespaces;
        Modex& modex;
        Collectives& collectives;
        Barriers& barriers;
        GroupServer& groups;
        HostAttributes& host_attributes;
        Events& events;
        Forwarder& forwarder;
        Forwarding& forwarding;
    };
    explicit QueryServer(const Services& services) : services_(services) {}
    QueryServer(const QueryServer&) = delete;
    QueryServer& operator=(const QueryServer&) = delete;

    Exchange& exchange() { return services_.exchange; }
    Runtime& runtime() { return services_.exchange.runtime(); }
    Log& log() { return services_.exchange.log(); }
    GroupTable& groups() { return services_.exchange.groups(); }
    Host& host() { return services_.host; }
    Namespaces& namespaces() { return services_.namespaces; }
    Modex& modex() { return services_.modex; }
    Collectives& collectives() { return services_.collectives; }
    Barriers& barriers() { return services_.barriers; }
    GroupServer& group_server() { return services_.groups; }
    HostAttributes& host_attributes() { return services_.host_attributes; }
    Events& events() { return services_.events; }
    Forwarder& forwarder() { return services_.forwarder; }
    Forwarding& forwarding() { return services_.forwarding; }

  private:
    Services services_;
};

/// Enters the queries of clients.
void serve_queries(CommandTable& commands, QueryServer& server);

}  // namespace muster
