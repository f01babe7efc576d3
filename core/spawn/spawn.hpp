// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Spawn: the request to the host, and the job data of the started job in the reply (Standard: Process
// Management). On the loop.
#pragma once

#include <pmix_common.h>

#include <cstddef>

#include "core/exchange/exchange.hpp"
#include "framework/base/element.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

/// The applications of a spawn.
class Apps : public Elements<pmix_app_t, PMIX_APP> {
  public:
    /// A deep copy with omitted fields filled in: a command without arguments gets its own name as the first,
    /// arguments without a command provide the command. PMIX_ERR_BAD_PARAM if both are missing.
    static pmix_status_t copy_of(const pmix_app_t* apps, size_t size, Apps& out);
    /// Gives the applications for which PMIX_FWD_ENVIRONMENT holds, among `job_info` or their own infos, the
    /// variables of this process that their own environment does not have; not its identity (PMIX_*,
    /// MUSTER_*), nor what depends on its directory. Nothing if the caller has done it
    /// (PMIX_ENVARS_HARVESTED). Throws std::bad_alloc.
    void forward_environment(InfoView job_info, char** environment);
    /// Reads `*APP` of the protocol.
    static bool read(Unpacker& in, Apps& out);
};

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
