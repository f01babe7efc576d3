// SPDX-License-Identifier: BSD-3-Clause
// The host's calls (Standard: Server-Specific Interfaces).

// This file defines the function, so the header must not replace it by the function with the module's size.
#define PMIX_SERVER_MODULE_UNSIZED
#include <pmix_server.h>

#include <cstddef>
#include <cstdlib>

#include "core/api/call.hpp"
#include "core/api/topology.hpp"
#include "framework/base/argv.hpp"
#include "framework/base/descriptor_table.hpp"
#include "framework/base/status.hpp"

using namespace muster;

namespace {

/// The size of the module in the oldest supported headers: 28 members. Later members are read only if the
/// host passes the size of its module (docs/decisions/0001-server-module-size.md).
constexpr size_t kOldestModuleSize = offsetof(pmix_server_module_t, client_connected2) + sizeof(void*);

pmix_status_t init(const pmix_server_module_t* module, size_t module_size, pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        const InfoView directives{info, ninfo};
        const auto make = [&]() -> Result<std::unique_ptr<Process>> {
            // Each process of a job has a connection, and of most hosts three pipes: some hundred processes.
            make_room_for_descriptors(2048);
            auto process = Process::create_server(module, module_size, directives);
            if (!process) return process;
            // A topology of another hwloc cannot be read: this machine is read instead, at the first
            // request.
            if (auto used = api::use_topology_of_host(directives); !used)
                MUSTER_LOG((*process)->log(), Warning, "%s", used.error().text.c_str());
            api::describe_node_to_clients((*process)->server()->node_description(),
                                          (*process)->runtime().parameters(), directives);
            (*process)->runtime().start();
            return process;
        };
        return instance::initialize(make, directives);
    });
}

/// Runs `work(server, done)` on the loop and answers through the callback; without one, waits and returns
/// PMIX_OPERATION_SUCCEEDED in place of success, as the Standard requires for these calls. On the loop
/// itself, unfinished work continues after the call.
template <class Work>
pmix_status_t start_on_server(pmix_op_cbfunc_t cbfunc, void* cbdata, Work work) {
    return with_server([&](const Use& use) -> pmix_status_t {
        Server* server = use->server();
        using Deliver = std::function<void(pmix_status_t)>;
        const auto run = [server, work](const Deliver& deliver) {
            const pmix_status_t failed = guard([&] {
                work(*server, deliver);
                return PMIX_SUCCESS;
            });
            if (failed != PMIX_SUCCESS) deliver(failed);
        };
        if (cbfunc != nullptr) {
            return api::answer_by<pmix_status_t>(
                use, api::status_to(cbfunc, cbdata),
                [run, open = server->request()](const auto& done) { run(done); });
        }
        pmix_status_t status = PMIX_SUCCESS;
        if (use->loop().on_loop()) {
            const auto result = std::make_shared<pmix_status_t>(PMIX_SUCCESS);
            run([result](pmix_status_t code) { *result = code; });
            status = *result;
        } else {
            status = call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK,
                                                  [&](auto deliver) { run(deliver); });
        }
        return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
    });
}

/// The same for work that is complete when `work(server)` returns.
template <class Work>
pmix_status_t on_server(pmix_op_cbfunc_t cbfunc, void* cbdata, Work work) {
    return start_on_server(cbfunc, cbdata, [work](Server& server, const auto& done) { done(work(server)); });
}

/// For functions that return nothing: the callback is the only way to report that the work was not begun.
void report_failure(pmix_status_t status, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED && cbfunc != nullptr)
        cbfunc(status, cbdata);
}

/// For operations that cannot fail and whose completion is not observable: the host does not wait, because it
/// may hold a lock for which an upcall on the progress thread waits (the interpreter lock of a Python
/// server).
template <class Work>
pmix_status_t do_soon(Work work) {
    return with_server([&](const Use& use) -> pmix_status_t {
        EventLoop& loop = use->loop();
        if (loop.on_loop() || loop.stopped() || use->runtime().host_drives() || use->server()->has_refused())
            return on_server(nullptr, nullptr, work);
        loop.post([server = use->server(), work] {
            const pmix_status_t status = guard([&] { return work(*server); });
            if (status != PMIX_SUCCESS)
                MUSTER_LOG(server->log(), Error, "a process was not registered: %s", status_text(status));
        });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

}  // namespace

pmix_status_t PMIx_server_init(pmix_server_module_t* module, pmix_info_t info[], size_t ninfo) {
    return init(module, kOldestModuleSize, info, ninfo);
}

pmix_status_t PMIx_server_init_sized(pmix_server_module_t* module, size_t module_size, pmix_info_t info[],
                                     size_t ninfo) {
    return init(module, module_size, info, ninfo);
}

pmix_status_t PMIx_server_finalize(void) {
    return guard([] { return instance::finalize(); });
}

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs, pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (!valid_nspace(nspace) || (ninfo > 0 && info == nullptr)) return PMIX_ERR_BAD_PARAM;
    const pmix_status_t bad = with_server([&](const Use& use) {
        return api::check(*use, Function::ServerRegisterNspace, {info, ninfo});
    });
    if (bad != PMIX_SUCCESS) return bad;
    return guard([&] {
        // The array is read where it is: it stays the host's, which keeps it until the callback.
        const auto work = [name = std::string(nspace), nlocalprocs, info, ninfo](Server& server) {
            return server.register_nspace(name.c_str(), nlocalprocs, {info, ninfo});
        };
        return on_server(cbfunc, cbdata, work);
    });
}

void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    if (valid_nspace(nspace)) {
        status = guard([&] {
            const auto work = [name = std::string(nspace)](Server& server, auto done) {
                server.deregister_nspace(name.c_str(), [done] { done(PMIX_SUCCESS); });
            };
            return start_on_server(cbfunc, cbdata, work);
        });
    }
    report_failure(status, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_session(uint32_t sessionID, pmix_info_t info[], size_t ninfo,
                                           pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (sessionID == UINT32_MAX || (ninfo > 0 && info == nullptr)) return PMIX_ERR_BAD_PARAM;
    return on_server(cbfunc, cbdata, [sessionID, info, ninfo](Server& server) {
        return server.register_session(sessionID, {info, ninfo});
    });
}

void PMIx_server_deregister_session(uint32_t sessionID, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    const pmix_status_t status = on_server(cbfunc, cbdata, [sessionID](Server& server) {
        server.deregister_session(sessionID);
        return PMIX_SUCCESS;
    });
    report_failure(status, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t* proc, uid_t uid, gid_t gid, void* server_object,
                                          pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (proc == nullptr || !valid_nspace(proc->nspace) || proc->rank >= PMIX_RANK_VALID)
        return PMIX_ERR_BAD_PARAM;
    const auto work = [client = *proc, uid, gid, server_object](Server& server) {
        return server.register_client(client, uid, gid, server_object);
    };
    return cbfunc == nullptr ? do_soon(work) : on_server(cbfunc, cbdata, work);
}

void PMIx_server_deregister_client(const pmix_proc_t* proc, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    if (proc != nullptr && valid_nspace(proc->nspace)) {
        status = start_on_server(cbfunc, cbdata, [client = *proc](Server& server, auto done) {
            server.deregister_client(client, [done] { done(PMIX_SUCCESS); });
        });
    }
    report_failure(status, cbfunc, cbdata);
}

pmix_status_t PMIx_server_setup_fork(const pmix_proc_t* proc, char*** env) {
    if (proc == nullptr || env == nullptr || !valid_nspace(proc->nspace)) return PMIX_ERR_BAD_PARAM;
    std::vector<std::pair<std::string, std::string>> variables;
    const pmix_status_t status = guard([&]() -> pmix_status_t {
        if (!instance::initialized()) {
            // Slurm asks in the child, between fork and exec.
            Server* const parent = instance::inherited_server();
            if (parent == nullptr) return PMIX_ERR_INIT;
            variables = parent->fork_environment().of_in_child(*proc, *env);
            return PMIX_OPERATION_SUCCEEDED;
        }
        const Use use;
        if (!use || use->server() == nullptr) return PMIX_ERR_INIT;
        if (!use->server()->has_requests() && !use->server()->has_refused()) {
            if (auto found = use->server()->fork_environment().of_beside_loop(*proc, *env)) {
                variables = std::move(*found);
                return PMIX_OPERATION_SUCCEEDED;
            }
        }
        return on_server(nullptr, nullptr, [client = *proc, given = *env, out = &variables](Server& server) {
            const pmix_status_t refused = server.refusal(client.nspace);
            if (refused != PMIX_SUCCESS) return refused;
            *out = server.fork_environment().of(client, given);
            return PMIX_SUCCESS;
        });
    });
    if (status != PMIX_OPERATION_SUCCEEDED) return status;
    return guard([&] { return env_set_all(env, variables); });
}

pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                             void* cbdata) {
    if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
    return on_server(cbfunc, cbdata, [info, ninfo](Server& server) {
        return server.register_resources({info, ninfo});
    });
}

pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                               void* cbdata) {
    if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
    return on_server(cbfunc, cbdata, [info, ninfo](Server& server) {
        server.deregister_resources({info, ninfo});
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t* proc, pmix_dmodex_response_fn_t cbfunc,
                                         void* cbdata) {
    if (proc == nullptr || cbfunc == nullptr || !valid_nspace(proc->nspace)) return PMIX_ERR_BAD_PARAM;
    return with_server([&](const Use& use) {
        return api::answer_by<pmix_status_t, Bytes>(
            use,
            [cbfunc, cbdata](pmix_status_t status, Bytes blob) {
                cbfunc(status, reinterpret_cast<char*>(blob.data()), blob.size(), cbdata);
            },
            [server = use->server(), target = *proc](const auto& done) {
                server->modex().requested(target, done);
            });
    });
}
