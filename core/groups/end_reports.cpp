// SPDX-License-Identifier: BSD-3-Clause
// The host's reports about ended processes: see end_reports.hpp.
#include "core/groups/end_reports.hpp"

#include <pmix_deprecated.h>

#include <algorithm>
#include <iterator>

#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/group_event.hpp"
#include "core/groups/group_server.hpp"

namespace muster {
namespace {

/// Cached reports; the oldest are dropped.
constexpr size_t kMaxReports = 4096;

constexpr pmix_status_t kEndCodes[] = {
    PMIX_PROC_TERMINATED,       PMIX_EVENT_PROC_TERMINATED,         PMIX_ERR_PROC_ABORTED,
    PMIX_ERR_PROC_ABORTING,     PMIX_ERR_PROC_ABORTED_BY_SIG,       PMIX_ERR_PROC_REQUESTED_ABORT,
    PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_KILLED_BY_CMD,        PMIX_ERR_PROC_KILLED_BY_RELEASE,
    PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED};

}  // namespace

EndReports::EndReports(GroupServer& server)
    : server_(server),
      time_(static_cast<int64_t>(server.runtime().parameters().seconds("pmix_group_report_time") * 1000)) {
    for (const pmix_status_t code : kEndCodes) {
        server.events().observe(code, [this](const EventPtr& event) {
            // An event of a process is no report of the host.
            if (!event->user) reported(*event);
            return EventEngine::OnEnd();
        });
    }
}

EndReports::~EndReports() = default;

void EndReports::reported(const Event& event) {
    for (const pmix_proc_t& proc : event.affected) {
        if (proc.rank == PMIX_RANK_WILDCARD) continue;
        const auto [report, fresh] = reports_.try_emplace(Proc(proc));
        if (fresh) order_.emplace_back(proc);
        add_report(event.info, report->second);
    }
    while (order_.size() > kMaxReports) {
        reports_.erase(order_.front());
        order_.pop_front();
    }
    call([&](const pmix_proc_t& proc) { return among(event.affected, proc); });
}

/// Calls those that wait for a report about a process that `meant` selects.
void EndReports::call(const std::function<bool(const pmix_proc_t&)>& meant) {
    std::list<Waiting> due;
    for (auto one = waiting_.begin(); one != waiting_.end();) {
        const auto next = std::next(one);
        if (meant(one->proc)) due.splice(due.end(), waiting_, one);
        one = next;
    }
    for (const Waiting& one : due)
        one.then();
}

bool EndReports::is_expected(const pmix_proc_t& proc) const {
    if (time_.count() == 0 || reports_.contains(Proc(proc))) return false;
    const Namespace* nspace = server_.namespaces().find(proc.nspace);
    return nspace != nullptr && !nspace->removed.contains(proc.rank);
}

void EndReports::when_reported(const pmix_proc_t& proc, std::function<void()> then) {
    if (!is_expected(proc)) return then();
    waiting_.push_back({proc, std::move(then), nullptr});
    const auto entry = std::prev(waiting_.end());
    entry->limit = server_.runtime().loop().after(time_, [this, entry] {
        std::list<Waiting> due;
        due.splice(due.end(), waiting_, entry);
        due.front().then();
    });
}

Info EndReports::about(const pmix_proc_t& proc) const {
    Info info;
    info.add(PMIX_EVENT_AFFECTED_PROC, proc);
    if (const auto report = reports_.find(Proc(proc)); report != reports_.end())
        info.add_copies(report->second);
    return info;
}

void EndReports::exited(const pmix_proc_t& proc) {
    call([&](const pmix_proc_t& one) { return proc_is(one, proc); });
}

void EndReports::deregistered(const char* nspace) {
    call([&](const pmix_proc_t& one) { return nspace_is(one.nspace, nspace); });
    std::erase_if(reports_, [&](const auto& one) { return one.first.nspace() == nspace_view(nspace); });
    order_.remove_if([&](const Proc& one) { return one.nspace() == nspace_view(nspace); });
}

void EndReports::began(const pmix_proc_t& proc) {
    if (reports_.erase(Proc(proc)) != 0) order_.remove(Proc(proc));
}

}  // namespace muster
