// SPDX-License-Identifier: BSD-3-Clause
// Usage reports requested by PMIx_Process_monitor: once, or periodically by an event. Belongs to the loop;
// /proc is read on another thread.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/monitor/usage.hpp"
#include "framework/base/loop.hpp"

namespace muster {

class FileWorker;
struct Event;

/// Raises an event in the name of its source; the callback has the host's status.
using RaiseEvent = std::function<void(const std::shared_ptr<Event>&, std::function<void(pmix_status_t)>)>;

class UsageMonitors {
  public:
    UsageMonitors(Runtime& runtime, Namespaces& namespaces, const Peers& peers, FileWorker& files,
                  RaiseEvent raise)
        : runtime_(runtime),
          namespaces_(namespaces),
          peers_(peers),
          files_(files),
          raise_(std::move(raise)) {}

    /// Whether the targets among the directives are on this node, and on others. Without targets it
    /// is this node alone. PMIX_ERR_BAD_PARAM for targets of the wrong type.
    struct Scope {
        pmix_status_t status = PMIX_SUCCESS;
        bool here = false;
        bool elsewhere = false;
    };
    Scope scope_of(const Caller& caller, InfoView directives);

    /// Measures this node, and answers; with PMIX_MONITOR_RESOURCE_RATE also periodically, by events with the
    /// code `error` to only the requestor. Processes without access for the caller are omitted.
    void request(const Caller& caller, const pmix_info_t& what, pmix_status_t error, InfoView directives,
                 HostDone done);
    /// How many reports of that name a process had asked for; without a name, all of them.
    size_t cancel(const pmix_proc_t& requestor, const char* id);
    void departed(const pmix_proc_t& requestor) { cancel(requestor, nullptr); }

  private:
    struct Report : std::enable_shared_from_this<Report> {
        pmix_proc_t requestor{};
        uint32_t uid = 0;
        std::string id;
        pmix_status_t code = PMIX_MONITOR_RESUSAGE_UPDATE;
        std::chrono::seconds period{0};
        UsageRequest usage;
        std::unique_ptr<Watch> timer;
    };

    pmix_status_t choose_processes(const Caller& caller, InfoView directives, UsageRequest& usage);
    pid_t pid_of(const Peer& peer) const;
    bool is_own_node(const char* hostname) const;
    std::optional<uint32_t> own_node_id(const char* nspace) const;
    void arm(Report& report);
    void raise(const Report& report, Info samples);

    Runtime& runtime_;
    Namespaces& namespaces_;
    const Peers& peers_;
    FileWorker& files_;
    RaiseEvent raise_;
    std::list<std::shared_ptr<Report>> reports_;
};

}  // namespace muster
