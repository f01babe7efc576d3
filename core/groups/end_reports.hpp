// SPDX-License-Identifier: BSD-3-Clause
// The host's reports about processes that have ended. A connection breaks before the host has reaped its
// process, so the events of groups about a lost member wait a moment for the report. Belongs to the loop.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>

#include "core/events/event.hpp"
#include "framework/base/loop.hpp"

namespace muster {

class GroupServer;

class EndReports {
  public:
    explicit EndReports(GroupServer& server);
    ~EndReports();
    EndReports(const EndReports&) = delete;
    EndReports& operator=(const EndReports&) = delete;

    /// Calls `then` once: immediately if the host has reported on this process or no report is awaited, else
    /// with the report or after group_report_time. Never if the server ends first.
    void when_reported(const pmix_proc_t& proc, std::function<void()> then);
    /// Whether when_reported() would wait.
    bool is_expected(const pmix_proc_t& proc) const;
    /// Content of an event about the end of this process: PMIX_EVENT_AFFECTED_PROC, then the host's items.
    Info about(const pmix_proc_t& proc) const;

    /// The host has deregistered the process, or its namespace: no report follows.
    void exited(const pmix_proc_t& proc);
    void deregistered(const char* nspace);
    /// The process has another life.
    void began(const pmix_proc_t& proc);

  private:
    struct Waiting {
        pmix_proc_t proc{};
        std::function<void()> then;
        std::unique_ptr<Watch> limit;
    };

    void reported(const Event& event);
    void call(const std::function<bool(const pmix_proc_t&)>& meant);

    GroupServer& server_;
    const std::chrono::milliseconds time_;
    std::unordered_map<Proc, Info> reports_;
    std::list<Proc> order_;  ///< of the reports; bounded
    std::list<Waiting> waiting_;
};

}  // namespace muster
