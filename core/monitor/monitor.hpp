// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Process_monitor (Standard: Job Management): heartbeats and files of the processes of this node are
// watched by their server, which raises an event, and usage of this node is measured by it; all else is the
// host's. Belongs to the loop.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "core/exchange/exchange.hpp"
#include "core/monitor/usage_monitors.hpp"
#include "framework/base/loop.hpp"

namespace muster {

class Monitors {
  public:
    Monitors(Runtime& runtime, Host& host, Namespaces& namespaces, const Peers& peers, FileWorker& files,
             const RaiseEvent& raise)
        : runtime_(runtime),
          host_(host),
          files_(files),
          raise_(raise),
          usage_(runtime, namespaces, peers, files, raise) {}

    /// Nothing is watched here: requests are the host's alone (PMIX_SERVER_ENABLE_MONITORING is false).
    void leave_to_host() { enabled_ = false; }

    /// A request of a process (or of the host).
    void request(const Caller& caller, Info monitor, pmix_status_t error, Info directives, HostDone done);
    /// A heartbeat has arrived.
    void beat(const pmix_proc_t& proc);
    /// Stops the monitors that this process requested.
    void departed(const pmix_proc_t& proc);

  private:
    struct Monitor : std::enable_shared_from_this<Monitor> {
        pmix_proc_t requestor{};
        uint32_t uid = 0;  ///< the requestor's user
        uint32_t gid = 0;
        std::string id;
        pmix_status_t error = PMIX_SUCCESS;  ///< code of the event; PMIX_SUCCESS: the usual one
        pmix_data_range_t range = PMIX_RANGE_UNDEF;
        std::chrono::seconds period{0};
        uint32_t drops = 0;   ///< periods without a sign before the event
        uint32_t missed = 0;  ///< periods without a sign so far
        bool reported = false;
        std::string path;  ///< of the file; empty: heartbeats
        bool beaten = false;
        enum class Sign : uint8_t { Size, Access, Modification } sign = Sign::Size;
        int64_t last_sign = -1;
        std::unique_ptr<Watch> timer;
    };

    pmix_status_t start(const Caller& caller, const pmix_info_t& what, pmix_status_t error,
                        InfoView directives);
    void cancel(const Caller& caller, Info monitor, Info directives, HostDone done);
    void arm(Monitor& monitor);
    void look(Monitor& monitor);
    void look_at_file(Monitor& monitor);
    void judge(Monitor& monitor, bool alive);
    void alert(const Monitor& monitor);
    void report_usage(const Caller& caller, Info monitor, pmix_status_t error, Info directives,
                      HostDone done);
    void ask_host(const Caller& caller, Info monitor, pmix_status_t error, Info directives, HostDone done);

    Runtime& runtime_;
    Host& host_;
    FileWorker& files_;
    bool enabled_ = true;
    RaiseEvent raise_;
    std::list<std::shared_ptr<Monitor>> active_;
    UsageMonitors usage_;
};

/// The call of this process: to its server, otherwise to `own`, the service of its own server role (or null).
void monitor_process(Exchange& exchange, Monitors* own, Info monitor, pmix_status_t error, Info directives,
                     HostDone done);

/// Registers the handler of a server: Monitor.
void serve_monitors(CommandTable& commands, Monitors& monitors);

}  // namespace muster
