// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Spawn: the request to the host, and the job data of the started job in the reply (Standard: Process
// Management). On the loop.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <utility>

#include "core/exchange/exchange.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

/// Owner of an array of pmix_app_t in one malloc'ed block. Move-only.
class Apps {
  public:
    Apps() = default;
    Apps(Apps&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Apps& operator=(Apps&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Apps();

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

    const pmix_app_t* data() const { return data_; }
    size_t size() const { return size_; }

  private:
    pmix_app_t* data_ = nullptr;
    size_t size_ = 0;
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
