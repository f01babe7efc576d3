// SPDX-License-Identifier: BSD-3-Clause
// Starting processes, and connecting them (Standard: Process Management).
#include <pmix.h>
#include <unistd.h>

#include "core/api/call.hpp"
#include "core/spawn/connect.hpp"
#include "core/spawn/spawn.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto spawning(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[], size_t napps) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        std::shared_ptr<Info> info;
        if (const pmix_status_t bad = keep_directives(caller, Function::Spawn, job_info, ninfo, info);
            bad != PMIX_SUCCESS)
            return bad;
        const auto kept = std::make_shared<Apps>();
        if (const pmix_status_t status = Apps::copy_of(apps, napps, *kept); status != PMIX_SUCCESS)
            return status;
        for (size_t i = 0; i < napps; ++i) {
            if (const pmix_status_t bad = check(caller, Function::Spawn, {apps[i].info, apps[i].ninfo});
                bad != PMIX_SUCCESS)
                return bad;
        }
        // Here, because the environment does not change while the caller's thread is in the call.
        kept->forward_environment(*info, environ);
        start.run = [info, kept](Process& process, HostDone done) {
            spawn(process.exchange(), process.forwarding(), own(process, &Server::local_jobs),
                  std::move(*info), std::move(*kept), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

using Collective = void (*)(Exchange&, std::vector<pmix_proc_t>, Info, HostDone);

auto joining(Function function, Collective operation, const pmix_proc_t procs[], size_t nprocs,
             const pmix_info_t info[], size_t ninfo) {
    return [=](Process& process, Start& start) -> pmix_status_t {
        if (procs == nullptr || nprocs == 0) return PMIX_ERR_BAD_PARAM;
        const auto work = [operation, all = std::vector<pmix_proc_t>(procs, procs + nprocs)](
                              Process& on_loop, Info kept, HostDone done) {
            operation(on_loop.exchange(), all, std::move(kept), std::move(done));
        };
        const pmix_status_t status = keep_and_start(process, start, function, info, ninfo, work);
        const bool reachable = process.exchange().upstream() != nullptr;
        return status == PMIX_SUCCESS && !reachable ? PMIX_ERR_UNREACH : status;
    };
}

}  // namespace

pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[], size_t napps,
                         pmix_nspace_t nspace) {
    if (nspace != nullptr) nspace_load(nspace, "");
    HostAnswer answer;
    const pmix_status_t status = call(answer, spawning(job_info, ninfo, apps, napps));
    if (nspace != nullptr) nspace_load(nspace, answer.nspace);
    return status;
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[], size_t napps,
                            pmix_spawn_cbfunc_t cbfunc, void* cbdata) {
    return launch(
        [cbfunc, cbdata](const HostAnswer& answer) {
            pmix_nspace_t nspace;
            nspace_load(nspace, answer.nspace);
            if (cbfunc != nullptr) cbfunc(answer.status, nspace, cbdata);
        },
        spawning(job_info, ninfo, apps, napps));
}

pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo) {
    HostAnswer answer;
    return call(answer, joining(Function::Connect, connect, procs, nprocs, info, ninfo));
}

pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata),
                  joining(Function::Connect, connect, procs, nprocs, info, ninfo));
}

pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo) {
    HostAnswer answer;
    return call(answer, joining(Function::Disconnect, disconnect, procs, nprocs, info, ninfo));
}

pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata),
                  joining(Function::Disconnect, disconnect, procs, nprocs, info, ninfo));
}
