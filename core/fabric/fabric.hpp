// SPDX-License-Identifier: BSD-3-Clause
// The fabric's data as applications register for it (Standard: Fabric): from the host, otherwise from the
// networks (pnet). On the loop.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class JobNetworks;

/// The server's part: the host is asked first, then the networks.
class Fabrics {
  public:
    Fabrics(Host& host, JobNetworks& networks) : host_(host), networks_(networks) {}

    /// The answer's infos describe the fabric that the directives select.
    void request(const Caller& caller, Info directives, HostDone done);
    /// `index`: the number that the registration gave (PMIX_FABRIC_INDEX).
    void update(const Caller& caller, size_t index, HostDone done);

  private:
    void ask_host(const Caller& caller, pmix_fabric_operation_t operation, Info directives, HostDone done);

    Host& host_;
    JobNetworks& networks_;
};

/// The calls of this process: to its server, otherwise to `own`, the service of its own server role (or
/// null).
void register_fabric(Exchange& exchange, Fabrics* own, Info directives, HostDone done);
void update_fabric(Exchange& exchange, Fabrics* own, size_t index, HostDone done);

/// Registers the handlers of a server: FabricRegister, FabricUpdate.
void serve_fabrics(CommandTable& commands, Fabrics& fabrics);

}  // namespace muster
