// SPDX-License-Identifier: BSD-3-Clause
// Targets, intervals and recipients of measurements: see usage_monitors.hpp.
#include "core/monitor/usage_monitors.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "core/control/file_worker.hpp"
#include "core/events/event.hpp"
#include "core/runtime/lookup.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Reports of one process: each reads files once a second.
constexpr size_t kMaxReports = 64;

/// The elements of an array of one type; nothing for a value of another type.
template <class T>
std::optional<std::span<const T>> elements(const pmix_value_t& value, pmix_data_type_t type) {
    if (value.type != PMIX_DATA_ARRAY) return std::nullopt;
    const pmix_data_array_t* array = value.data.darray;
    if (array == nullptr || array->array == nullptr || array->size == 0) return std::span<const T>();
    if (array->type != type) return std::nullopt;
    return std::span<const T>(static_cast<const T*>(array->array), array->size);
}

/// Whether `proc` is meant by one of `named`, among which wildcards count.
bool is_named(std::span<const pmix_proc_t> named, const pmix_proc_t& proc) {
    return std::ranges::any_of(named, [&](const pmix_proc_t& one) {
        return nspace_is(one.nspace, proc.nspace) &&
               (one.rank == proc.rank || one.rank == PMIX_RANK_WILDCARD);
    });
}

}  // namespace

bool UsageMonitors::is_own_node(const char* hostname) const {
    return hostname != nullptr && runtime_.hostname() == hostname;
}

std::optional<uint32_t> UsageMonitors::own_node_id(const char* nspace) const {
    Lookup lookup = lookup_of(nspace, PMIX_RANK_UNDEF, PMIX_NODEID);
    lookup.realm = Lookup::Realm::Node;
    std::optional<uint32_t> id;
    runtime_.store().find(lookup, [&](const Found& found) { id = value_as_number<uint32_t>(&found.value); });
    return id;
}

UsageMonitors::Scope UsageMonitors::scope_of(const Caller& caller, InfoView directives) {
    Scope scope;
    bool targets = false;
    // An empty list means everything everywhere.
    const auto look = [&](const auto& list, const auto& is_here) {
        targets = true;
        if (!list) {
            scope.status = PMIX_ERR_BAD_PARAM;
            return;
        }
        if (list->empty()) scope.here = scope.elsewhere = true;
        for (const auto& one : *list)
            (is_here(one) ? scope.here : scope.elsewhere) = true;
    };
    const std::optional<uint32_t> own_id = own_node_id(caller.proc.nspace);
    for (const pmix_info_t& directive : directives) {
        const pmix_value_t& value = directive.value;
        if (key_is(directive.key, PMIX_MONITOR_LOCAL_ONLY) && value_as_bool(&value).value_or(false))
            return {PMIX_SUCCESS, true, false};
        if (key_is(directive.key, PMIX_MONITOR_TARGET_NODES))
            look(elements<char*>(value, PMIX_STRING), [&](const char* name) { return is_own_node(name); });
        if (key_is(directive.key, PMIX_MONITOR_TARGET_NODEIDS))
            look(elements<uint32_t>(value, PMIX_UINT32), [&](uint32_t id) { return own_id == id; });
        if (key_is(directive.key, PMIX_MONITOR_TARGET_PIDS))
            look(elements<pmix_node_pid_t>(value, PMIX_NODE_PID), [&](const pmix_node_pid_t& one) {
                return one.hostname != nullptr ? is_own_node(one.hostname) : own_id == one.nodeid;
            });
        if (key_is(directive.key, PMIX_MONITOR_TARGET_PROCS))
            look(elements<pmix_proc_t>(value, PMIX_PROC), [&](const pmix_proc_t& proc) {
                if (proc.rank != PMIX_RANK_WILDCARD) return namespaces_.client(proc) != nullptr;
                const Namespace* job = namespaces_.find(proc.nspace);
                const size_t local = job == nullptr ? 0 : job->clients.size();
                if (local != 0) scope.here = true;
                return local != 0 && runtime_.store().job_size(proc.nspace).value_or(0) <= local;
            });
    }
    if (!targets) scope.here = true;
    return scope;
}

pid_t UsageMonitors::pid_of(const Peer& peer) const {
    if (peer.channel && peer.channel->credentials() && peer.channel->credentials()->pid > 0)
        return peer.channel->credentials()->pid;
    const auto said = stored_number(runtime_.store(), peer.proc.nspace, peer.proc.rank, PMIX_PROC_PID);
    return static_cast<pid_t>(said.value_or(0));
}

pmix_status_t UsageMonitors::choose_processes(const Caller& caller, InfoView directives,
                                              UsageRequest& usage) {
    std::optional<std::span<const pmix_proc_t>> procs;
    std::optional<std::span<const pmix_node_pid_t>> pids;
    bool targets = false;
    for (const pmix_info_t& directive : directives) {
        const bool by_name = key_is(directive.key, PMIX_MONITOR_TARGET_PROCS);
        const bool by_pid = key_is(directive.key, PMIX_MONITOR_TARGET_PIDS);
        if (!by_name && !by_pid) continue;
        if (by_name) procs = elements<pmix_proc_t>(directive.value, PMIX_PROC);
        if (by_pid) pids = elements<pmix_node_pid_t>(directive.value, PMIX_NODE_PID);
        if (by_name ? !procs : !pids) return PMIX_ERR_BAD_PARAM;
        targets |= by_name ? !procs->empty() : !pids->empty();
    }
    for (const PeerPtr& peer : peers_.all()) {
        const pid_t pid = pid_of(*peer);
        if (pid <= 0 || !namespaces_.may_use(caller.uid, peer->proc)) continue;
        const auto is_pid = [&](const pmix_node_pid_t& one) { return one.pid == pid; };
        if (targets && !(procs && is_named(*procs, peer->proc)) &&
            !(pids && std::ranges::any_of(*pids, is_pid)))
            continue;
        usage.processes.push_back({peer->proc, pid});
    }
    return PMIX_SUCCESS;
}

void UsageMonitors::request(const Caller& caller, const pmix_info_t& what, pmix_status_t error,
                            InfoView directives, HostDone done) {
    auto report = std::make_shared<Report>();
    report->requestor = caller.proc;
    report->uid = caller.uid;
    report->usage.hostname = runtime_.hostname();
    if (const char* id = directives.string(PMIX_MONITOR_ID)) report->id = id;
    if (error != PMIX_SUCCESS) report->code = error;
    if (directives.has(PMIX_MONITOR_PROXY)) {
        const pmix_proc_t* proxy = directives.proc(PMIX_MONITOR_PROXY);
        if (proxy == nullptr) return done(answer_of(PMIX_ERR_BAD_PARAM));
        if (!is_master(caller.uid)) return done(answer_of(PMIX_ERR_NO_PERMISSIONS));
        report->requestor = *proxy;
    }
    if (directives.has(PMIX_MONITOR_RESOURCE_RATE)) {
        const auto seconds = directives.number<uint32_t>(PMIX_MONITOR_RESOURCE_RATE);
        if (!seconds) return done(answer_of(PMIX_ERR_BAD_PARAM));
        report->period = std::chrono::seconds(*seconds);
    }
    pmix_status_t status = read_usage_request(what, directives, report->usage);
    if (status == PMIX_SUCCESS && report->usage.subject == UsageRequest::Subject::Processes)
        status = choose_processes(caller, directives, report->usage);
    if (status != PMIX_SUCCESS) return done(answer_of(status));
    if (report->period.count() != 0) {
        const auto has = std::ranges::count_if(
            reports_, [&](const auto& other) { return proc_is(other->requestor, report->requestor); });
        if (static_cast<size_t>(has) >= kMaxReports) return done(answer_of(PMIX_ERR_OUT_OF_RESOURCE));
        reports_.push_back(report);
        arm(*report);
    }
    const auto answer = std::make_shared<HostAnswer>();
    files_.run([report, answer] { answer->info = measure(report->usage); },
               [answer, done = std::move(done)] { done(std::move(*answer)); });
}

void UsageMonitors::arm(Report& report) {
    report.timer = runtime_.loop().after(report.period, [this, &report] {
        const auto samples = std::make_shared<Info>();
        files_.run([samples, kept = report.shared_from_this()] { *samples = measure(kept->usage); },
                   [this, samples, weak = report.weak_from_this()] {
                       const auto asked = weak.lock();  // it may have been cancelled meanwhile
                       if (!asked) return;
                       arm(*asked);
                       if (!samples->empty()) raise(*asked, std::move(*samples));
                   });
    });
}

void UsageMonitors::raise(const Report& report, Info samples) {
    auto event = make_event(report.code, runtime_.self(), PMIX_RANGE_CUSTOM);
    event->user = report.uid;
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    event->info.add(PMIX_EVENT_CUSTOM_RANGE, report.requestor);
    if (!report.id.empty()) event->info.add(PMIX_MONITOR_ID, report.id.c_str());
    for (pmix_info_t& sample : std::span(samples.data(), samples.size()))
        event->info.add_move(sample);
    const pmix_status_t status = event->read_directives();
    const auto tell = [this, requestor = report.requestor](pmix_status_t result) {
        if (result != PMIX_SUCCESS)
            MUSTER_LOG(runtime_.log(), Error, "a report of usage does not reach %s: %s",
                       proc_text(requestor).c_str(), status_text(result));
    };
    if (status != PMIX_SUCCESS) return tell(status);
    raise_(event, tell);
}

size_t UsageMonitors::cancel(const pmix_proc_t& requestor, const char* id) {
    return reports_.remove_if([&](const auto& report) {
        return proc_is(report->requestor, requestor) && (id == nullptr || report->id == id);
    });
}

}  // namespace muster
