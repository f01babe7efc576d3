// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Spawn: the request to the host, and the job data of what was started on the way back (Standard:
// Process Management). On the loop.
#pragma once

#include "core/exchange/exchange.hpp"
#include "core/spawn/apps.hpp"

namespace muster {

class Forwarder;
class Forwarding;
class LocalJobs;

/// Asks our server, or our own host. The answer holds the new namespace; its job data is in the store as far
/// as the server knew it.
/// `local`: starts the jobs of a launcher that has neither a server nor a host with that upcall; null in
/// other processes.
void spawn(Exchange& exchange, Forwarding& forwarding, LocalJobs* local, Info job_info, Apps apps,
           HostDone done);

/// Enters the requests of clients.
void serve_spawns(CommandTable& commands, Exchange& exchange, Host& host, Forwarder& forwarder);

}  // namespace muster
