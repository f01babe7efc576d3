// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Job_control (Standard: Job Management): the server library cleans up after the end of a process, the
// host executes all other requests. On the loop.
#pragma once

#include <vector>

#include "core/exchange/exchange.hpp"

namespace muster {

class Cleanups;
class GroupTable;
class Log;
class Namespaces;

/// The server's part.
class JobControl {
  public:
    JobControl(Host& host, Namespaces& namespaces, Cleanups& cleanups)
        : host_(host), namespaces_(namespaces), cleanups_(cleanups) {}

    /// A request of a process, or of the host. No targets: the caller's own job.
    void request(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives, HostDone done);

  private:
    pmix_status_t register_cleanup(const Caller& caller, const std::vector<pmix_proc_t>& targets,
                                   InfoView directives);

    Host& host_;
    Namespaces& namespaces_;
    Cleanups& cleanups_;
};

/// The call of this process: to its server, otherwise to `own`, the service of its own server role (or null).
void control_job(Exchange& exchange, JobControl* own, std::vector<pmix_proc_t> targets, Info directives,
                 HostDone done);

/// Registers the handler of a server: JobControl.
void serve_job_control(CommandTable& commands, JobControl& control, const GroupTable& groups, const Log& log);

}  // namespace muster
