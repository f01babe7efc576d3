// SPDX-License-Identifier: BSD-3-Clause
// Monitoring of processes, on both sides of the wire: see monitor.hpp.
#include "core/monitor/monitor.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "core/attribute/directives.hpp"
#include "core/control/file_rights.hpp"
#include "core/control/file_worker.hpp"
#include "core/events/event.hpp"
#include "core/events/events.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Monitors of one process: each checks periodically, and at each heartbeat.
constexpr size_t kMaxMonitors = 1024;

}  // namespace

pmix_status_t Monitors::start(const Caller& caller, const pmix_info_t& what, pmix_status_t error,
                              InfoView directives) {
    const bool file = key_is(what.key, PMIX_MONITOR_FILE);
    auto monitor = std::make_shared<Monitor>();
    monitor->requestor = caller.proc;
    monitor->uid = caller.uid;
    monitor->gid = caller.gid;
    monitor->error = error;
    if (const char* id = directives.string(PMIX_MONITOR_ID)) monitor->id = id;
    monitor->range = directives.number<pmix_data_range_t>(PMIX_RANGE).value_or(PMIX_RANGE_NAMESPACE);
    if (const pmix_value_t* range = directives.value(PMIX_RANGE); range && range->type == PMIX_DATA_RANGE)
        monitor->range = range->data.range;
    const auto seconds =
        directives.number<uint32_t>(file ? PMIX_MONITOR_FILE_CHECK_TIME : PMIX_MONITOR_HEARTBEAT_TIME);
    if (!seconds || *seconds == 0) return PMIX_ERR_BAD_PARAM;
    monitor->period = std::chrono::seconds(*seconds);
    monitor->drops =
        directives.number<uint32_t>(file ? PMIX_MONITOR_FILE_DROPS : PMIX_MONITOR_HEARTBEAT_DROPS)
            .value_or(0);
    if (file) {
        const char* path = value_as_string(&what.value);
        if (path == nullptr || *path != '/') return PMIX_ERR_BAD_PARAM;
        monitor->path = path;
        if (directives.is_true(PMIX_MONITOR_FILE_SIZE)) {
            monitor->sign = Monitor::Sign::Size;
        } else if (directives.has(PMIX_MONITOR_FILE_ACCESS)) {
            monitor->sign = Monitor::Sign::Access;
        } else if (directives.has(PMIX_MONITOR_FILE_MODIFY)) {
            monitor->sign = Monitor::Sign::Modification;
        } else {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    const auto has = std::ranges::count_if(
        active_, [&](const auto& other) { return proc_is(other->requestor, caller.proc); });
    if (static_cast<size_t>(has) >= kMaxMonitors) return PMIX_ERR_OUT_OF_RESOURCE;
    arm(*monitor);
    active_.push_back(std::move(monitor));
    return PMIX_SUCCESS;
}

void Monitors::arm(Monitor& monitor) {
    monitor.timer = runtime_.loop().after(monitor.period, [this, &monitor] { look(monitor); });
}

void Monitors::look(Monitor& monitor) {
    if (monitor.path.empty()) {
        judge(monitor, std::exchange(monitor.beaten, false));
    } else {
        look_at_file(monitor);
    }
}

void Monitors::look_at_file(Monitor& monitor) {
    struct Look {
        std::string path;
        uint32_t uid, gid;
        Monitor::Sign sign;
        std::optional<int64_t> seen;
    };
    const auto one =
        std::make_shared<Look>(Look{monitor.path, monitor.uid, monitor.gid, monitor.sign, std::nullopt});
    const auto task = [one] {
        // Whether and when files change that it could not look at itself is not for the requestor to know.
        const FileRights rights(one->uid, one->gid);
        struct stat status {};
        if (!rights.good() || stat(one->path.c_str(), &status) != 0) return;
        const timespec& time = one->sign == Monitor::Sign::Access ? status.st_atim : status.st_mtim;
        one->seen = one->sign == Monitor::Sign::Size ? status.st_size
                                                     : int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
    };
    files_.run(task, [this, one, weak = monitor.weak_from_this()] {
        const auto asked = weak.lock();  // it may have been cancelled meanwhile
        if (!asked) return;
        const bool changed = one->seen && *one->seen != asked->last_sign;
        if (changed) asked->last_sign = *one->seen;
        judge(*asked, changed);
    });
}

void Monitors::judge(Monitor& monitor, bool alive) {
    arm(monitor);
    if (alive) {
        monitor.missed = 0;
        monitor.reported = false;
        return;
    }
    if (++monitor.missed <= monitor.drops || monitor.reported) return;
    monitor.reported = true;
    alert(monitor);
}

void Monitors::alert(const Monitor& monitor) {
    const bool file = !monitor.path.empty();
    const pmix_status_t usual = file ? PMIX_MONITOR_FILE_ALERT : PMIX_MONITOR_HEARTBEAT_ALERT;
    auto event = std::make_shared<Event>();
    event->status = monitor.error == PMIX_SUCCESS ? usual : monitor.error;
    event->range = monitor.range;
    event->user = monitor.uid;
    event->info.add(PMIX_EVENT_AFFECTED_PROC, monitor.requestor);
    if (!monitor.id.empty()) event->info.add(PMIX_MONITOR_ID, monitor.id.c_str());
    if (file) {
        // The server is the source, because a process does not receive its own events, and must get this one.
        event->source = runtime_.self();
        event->info.add(PMIX_MONITOR_FILE, monitor.path.c_str());
        if (monitor.range == PMIX_RANGE_NAMESPACE) {
            event->range = PMIX_RANGE_CUSTOM;
            event->info.add(PMIX_EVENT_CUSTOM_RANGE,
                            make_proc(nspace_view(monitor.requestor.nspace), PMIX_RANK_WILDCARD));
        }
    } else {
        event->source = monitor.requestor;
    }
    if (const pmix_status_t status = event->read_directives(); status != PMIX_SUCCESS) {
        MUSTER_LOG(runtime_.log(), Error, "the event of a monitor of %s cannot be raised: %s",
                   proc_text(monitor.requestor).c_str(), status_text(status));
        return;
    }
    // For those on this node and the host, which carries it to other nodes in range (notify_event).
    raise_(event, [this, &monitor](pmix_status_t status) {
        if (status != PMIX_SUCCESS)
            MUSTER_LOG(runtime_.log(), Error, "the event of a monitor of %s reaches no other node: %s",
                       proc_text(monitor.requestor).c_str(), status_text(status));
    });
}

void Monitors::cancel(const Caller& caller, Info monitor, Info directives, HostDone done) {
    const char* id = value_as_string(&monitor[0].value);
    const size_t watched = active_.remove_if([&](const auto& other) {
        return proc_is(other->requestor, caller.proc) && (id == nullptr || other->id == id);
    });
    const size_t reported = usage_.cancel(caller.proc, id);
    const bool good = watched != 0 || reported != 0 || id == nullptr;
    // Other nodes may report under the same name, and a name that is not known here may be the host's.
    const bool here_only = watched != 0 && reported == 0 && id != nullptr;
    if (here_only || host_.module().monitor == nullptr)
        return done(answer_of(good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND));
    ask_host(caller, std::move(monitor), PMIX_SUCCESS, std::move(directives),
             [good, done = std::move(done)](HostAnswer answer) {
                 if (good) answer.status = PMIX_SUCCESS;
                 done(std::move(answer));
             });
}

void Monitors::request(const Caller& caller, Info monitor, pmix_status_t error, Info directives,
                       HostDone done) {
    if (monitor.empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
    const pmix_info_t& what = monitor[0];
    if (!enabled_ || needs_host(Function::ProcessMonitor, monitor) ||
        needs_host(Function::ProcessMonitor, directives))
        return ask_host(caller, std::move(monitor), error, std::move(directives), std::move(done));
    if (key_is(what.key, PMIX_SEND_HEARTBEAT)) {
        beat(caller.proc);
        return done({});
    }
    if (key_is(what.key, PMIX_MONITOR_HEARTBEAT) || key_is(what.key, PMIX_MONITOR_FILE))
        return done(answer_of(start(caller, what, error, directives)));
    if (asks_for_usage(what.key))
        return report_usage(caller, std::move(monitor), error, std::move(directives), std::move(done));
    if (key_is(what.key, PMIX_MONITOR_CANCEL))
        return cancel(caller, std::move(monitor), std::move(directives), std::move(done));
    ask_host(caller, std::move(monitor), error, std::move(directives), std::move(done));
}

void Monitors::report_usage(const Caller& caller, Info monitor, pmix_status_t error, Info directives,
                            HostDone done) {
    const UsageMonitors::Scope scope = usage_.scope_of(caller, directives);
    if (scope.status != PMIX_SUCCESS) return done(answer_of(scope.status));
    if (scope.elsewhere && host_.module().monitor == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    if (!scope.here)
        return ask_host(caller, std::move(monitor), error, std::move(directives), std::move(done));
    if (!scope.elsewhere) return usage_.request(caller, monitor[0], error, directives, std::move(done));
    struct Rest {
        Info monitor, directives;
        HostDone done;
    };
    const auto rest =
        std::make_shared<Rest>(Rest{std::move(monitor), std::move(directives), std::move(done)});
    usage_.request(caller, rest->monitor[0], error, rest->directives, [=, this](const HostAnswer& own) {
        if (own.status != PMIX_SUCCESS) return rest->done(answer_of(own.status));
        const auto samples = std::make_shared<Info>();
        if (samples->add_copies(own.info) != PMIX_SUCCESS) return rest->done(answer_of(PMIX_ERR_NOMEM));
        ask_host(caller, std::move(rest->monitor), error, std::move(rest->directives),
                 [rest, samples](const HostAnswer& others) {
                     HostAnswer all = answer_of(others.status);
                     all.info = std::move(*samples);
                     if (!is_good(others.status)) all.status = PMIX_ERR_PARTIAL_SUCCESS;
                     if (all.info.add_copies(others.info) != PMIX_SUCCESS) all = answer_of(PMIX_ERR_NOMEM);
                     rest->done(std::move(all));
                 });
    });
}

void Monitors::ask_host(const Caller& caller, Info monitor, pmix_status_t error, Info directives,
                        HostDone done) {
    struct MonitorRequest : HostRequest {
        Info monitor;
    };
    const auto upcall = host_.module().monitor;
    muster::ask_host(host_, caller, "monitor", "monitor", upcall,
                     MonitorRequest{{std::move(directives)}, std::move(monitor)}, std::move(done),
                     [&](MonitorRequest& asked, void* cbdata) {
                         return upcall(&asked.proc, asked.monitor.data(), error, asked.info.data(),
                                       asked.info.size(), Host::on_info, cbdata);
                     });
}

void Monitors::beat(const pmix_proc_t& proc) {
    for (const auto& monitor : active_) {
        if (monitor->path.empty() && proc_is(monitor->requestor, proc)) monitor->beaten = true;
    }
}

void Monitors::departed(const pmix_proc_t& proc) {
    active_.remove_if([&](const auto& monitor) { return proc_is(monitor->requestor, proc); });
    usage_.departed(proc);
}

void monitor_process(Exchange& exchange, Monitors* own, Info monitor, pmix_status_t error, Info directives,
                     HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        if (key_is(monitor[0].key, PMIX_SEND_HEARTBEAT) &&
            !needs_host(Function::ProcessMonitor, directives)) {
            upstream->send_heartbeat();
            return done({});
        }
        Packer message = upstream->packer(Command::Monitor);
        message.info(monitor[0]).status(error).infos(directives);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (own != nullptr) {
        own->request(Caller::host(exchange.runtime()), std::move(monitor), error, std::move(directives),
                     std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void serve_monitors(CommandTable& commands, Monitors& monitors) {
    commands.add(Command::Monitor, [&monitors](const Request& request) {
        Info monitor, directives;
        pmix_status_t error = PMIX_SUCCESS;
        if (!request.in.info(monitor) || !request.in.status(error) || !request.in.infos(directives))
            return request.malformed();
        monitors.request(Caller::of(*request.peer), std::move(monitor), error, std::move(directives),
                         reply_to(request, write_infos));
    });
}

}  // namespace muster
