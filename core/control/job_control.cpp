// SPDX-License-Identifier: BSD-3-Clause
// Job control, on both sides of the wire: see job_control.hpp.
#include "core/control/job_control.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/client/client.hpp"
#include "core/server/server.hpp"

namespace muster {
namespace {

/// Registers the cleanup that `directives` ask for; nothing where they ask for none.
pmix_status_t register_cleanup(Server& server, const Caller& caller, const std::vector<pmix_proc_t>& targets,
                               InfoView directives) {
    std::unordered_set<Proc> ends;
    for (const pmix_proc_t& target : targets)
        ends.emplace(target);
    if (ends.empty()) ends.emplace(make_proc(caller.proc.nspace, PMIX_RANK_WILDCARD));
    std::vector<Proc> seen;
    for (const Proc& one : ends) {
        const pmix_proc_t end = one.to_c();
        // The end of a process elsewhere is seen by its own server, that of an unknown job by nobody.
        const bool here = end.rank == PMIX_RANK_WILDCARD ? nspace_is(end.nspace, caller.proc.nspace) ||
                                                               server.namespaces().find(end.nspace) != nullptr
                                                         : server.namespaces().is_local(end);
        if (here) seen.push_back(one);
    }
    return server.cleanups().add(seen, caller.uid, caller.gid, directives);
}

void control_by_host(Server& server, const Caller& caller, std::vector<pmix_proc_t> targets, Info directives,
                     HostDone done) {
    const auto cleanups = std::count_if(directives.begin(), directives.end(), Cleanups::is_directive);
    if (cleanups > 0) {
        const pmix_status_t status = register_cleanup(server, caller, targets, directives);
        if (status != PMIX_SUCCESS || static_cast<size_t>(cleanups) == directives.size())
            return done(answer_of(status));
    }
    const auto upcall = server.host().module().job_control;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    struct Arguments {
        pmix_proc_t proc;
        std::vector<pmix_proc_t> targets;
        Info directives;
    };
    const auto kept =
        std::make_shared<Arguments>(Arguments{caller.proc, std::move(targets), std::move(directives)});
    caller.add_identity(kept->directives);
    server.host().upcall(
        "job_control", kept, bounded(server, "job control", caller, kept->directives, std::move(done)),
        [&](void* cbdata) {
            return upcall(&kept->proc, kept->targets.empty() ? nullptr : kept->targets.data(),
                          kept->targets.size(), kept->directives.data(), kept->directives.size(),
                          Host::on_info, cbdata);
        });
}

}  // namespace

void control_job(Runtime& runtime, std::vector<pmix_proc_t> targets, Info directives, HostDone done) {
    if (Client* client = connected_client(runtime)) {
        Packer message = client->packer(Command::JobControl);
        message.procs(targets.data(), targets.size()).infos(directives);
        ask(*client, std::move(message), read_infos, std::move(done));
    } else if (Server* server = runtime.server()) {
        control_by_host(*server, Caller::host(runtime), std::move(targets), std::move(directives),
                        std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void handle::job_control(Server& server, const Request& request) {
    std::vector<pmix_proc_t> targets;
    Info directives;
    if (!request.in.procs(targets) || !request.in.infos(directives)) return request.malformed();
    if (!request.expand(server, targets)) return;
    control_by_host(server, Caller::of(*request.peer), std::move(targets), std::move(directives),
                    reply_to(request, write_infos));
}

}  // namespace muster
