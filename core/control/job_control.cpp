// SPDX-License-Identifier: BSD-3-Clause
// Job control, on both sides of the wire: see job_control.hpp.
#include "core/control/job_control.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/control/cleanup.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/namespaces.hpp"

namespace muster {

/// Registers the cleanup in `directives`, if any.
pmix_status_t JobControl::register_cleanup(const Caller& caller, const std::vector<pmix_proc_t>& targets,
                                           InfoView directives) {
    std::unordered_set<Proc> ends;
    for (const pmix_proc_t& target : targets)
        ends.emplace(target);
    if (ends.empty()) ends.emplace(make_proc(caller.proc.nspace, PMIX_RANK_WILDCARD));
    std::vector<Proc> seen;
    for (const Proc& one : ends) {
        const pmix_proc_t end = one.to_c();
        // The end of a process on another node is detected by its own server, that of an unknown job by none.
        const bool here = end.rank == PMIX_RANK_WILDCARD ? nspace_is(end.nspace, caller.proc.nspace) ||
                                                               namespaces_.find(end.nspace) != nullptr
                                                         : namespaces_.is_local(end);
        if (here) seen.push_back(one);
    }
    return cleanups_.add(seen, caller.uid, caller.gid, directives);
}

void JobControl::request(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives,
                         HostDone done) {
    const auto cleanups = std::ranges::count_if(directives, Cleanups::is_directive);
    if (cleanups > 0) {
        const pmix_status_t status = register_cleanup(caller, targets, directives);
        if (status != PMIX_SUCCESS || static_cast<size_t>(cleanups) == directives.size())
            return done(answer_of(status));
    }
    struct ControlRequest : HostRequest {
        std::vector<pmix_proc_t> targets;
    };
    const auto upcall = host_.module().job_control;
    ask_host(host_, caller, "job_control", "job control", upcall,
             ControlRequest{{std::move(directives)}, std::move(targets)}, std::move(done),
             [&](ControlRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.targets.empty() ? nullptr : asked.targets.data(),
                               asked.targets.size(), asked.info.data(), asked.info.size(), Host::on_info,
                               cbdata);
             });
}

void control_job(Exchange& exchange, JobControl* own, std::vector<pmix_proc_t> targets, Info directives,
                 HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::JobControl);
        message.procs(targets.data(), targets.size()).infos(directives);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (own != nullptr) {
        own->request(Caller::host(exchange.runtime()), std::move(targets), std::move(directives),
                     std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void serve_job_control(CommandTable& commands, JobControl& control, const GroupTable& groups,
                       const Log& log) {
    commands.add(Command::JobControl, [&](const Request& request) {
        std::vector<pmix_proc_t> targets;
        Info directives;
        if (!request.in.procs(targets) || !request.in.infos(directives)) return request.malformed();
        if (!request.expand(groups, log, targets)) return;
        control.request(Caller::of(*request.peer), std::move(targets), std::move(directives),
                        reply_to(request, write_infos));
    });
}

}  // namespace muster
