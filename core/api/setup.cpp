// SPDX-License-Identifier: BSD-3-Clause
// The host's calls around the start of a job (Standard: Server-Specific Interfaces).
#include <pmix_server.h>

#include "core/api/call.hpp"
#include "core/api/topology.hpp"
#include "core/server/server.hpp"
#include "core/setup/application.hpp"

using namespace muster;
using namespace muster::api;

namespace {

/// Work of the server that is done at once, on the loop.
template <class Work>
auto on_server(Work work) {
    return [work](Process& process, Start& start) -> pmix_status_t {
        if (process.server() == nullptr) return PMIX_ERR_INIT;
        start.run = [work, open = process.server()->request()](Process& on_loop, const HostDone& done) {
            HostAnswer answer;
            answer.status = guard([&] { return work(on_loop, answer); });
            done(std::move(answer));
        };
        return PMIX_SUCCESS;
    };
}

/// Blocks if there is no callback, as these calls do.
template <class Work>
pmix_status_t complete(pmix_op_cbfunc_t cbfunc, void* cbdata, Work work) {
    const pmix_status_t status = call_or_launch(cbfunc, cbdata, on_server(work));
    return status == PMIX_SUCCESS && cbfunc == nullptr ? PMIX_OPERATION_SUCCEEDED : status;
}

}  // namespace

pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc, void* cbdata) {
    // A launcher requests the environment of jobs before it knows their names (PRRTE's prun).
    const bool named = nspace != nullptr && (*nspace == '\0' || valid_nspace(nspace));
    if (!named || cbfunc == nullptr || (ninfo > 0 && info == nullptr)) return PMIX_ERR_BAD_PARAM;
    const auto give = [cbfunc, cbdata](HostAnswer answer) {
        if (answer.status == PMIX_ERR_NOMEM)
            return cbfunc(
                answer.status, nullptr, 0, cbdata, [](pmix_status_t, void*) {}, nullptr);
        // The host reports when it has copied the data.
        auto* kept = new Info(std::move(answer.info));
        cbfunc(
            answer.status, kept->data(), kept->size(), cbdata,
            [](pmix_status_t, void* infos) { delete static_cast<Info*>(infos); }, kept);
    };
    return guard([&] {
        return launch(
            give, on_server([name = std::string(nspace), info, ninfo](Process& process, HostAnswer& answer) {
                if (const pmix_status_t bad = check(process, Function::ServerSetupApplication, {info, ninfo});
                    bad != PMIX_SUCCESS)
                    return bad;
                return setup_application(process.runtime(), process.server()->job_networks(), name.c_str(),
                                         {info, ninfo}, answer.info);
            }));
    });
}

pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (!valid_nspace(nspace) || (ninfo > 0 && info == nullptr)) return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        const auto work = [name = std::string(nspace), info, ninfo](Process& process, HostAnswer&) {
            return setup_local_support(process.runtime(), process.server()->job_environments(),
                                       process.server()->job_networks(), name.c_str(), {info, ninfo});
        };
        return complete(cbfunc, cbdata, work);
    });
}

pmix_status_t PMIx_Register_attributes(char* function, char* attrs[]) {
    if (function == nullptr || *function == '\0') return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        const auto work = [name = std::string(function), keys = keep_keys(attrs)](Process& process,
                                                                                  HostAnswer&) {
            return process.server()->host_attributes().add(name, keys);
        };
        HostAnswer answer;
        return call(answer, on_server(work));
    });
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                            void* cbdata) {
    if (cbfunc == nullptr || (ndirs > 0 && directives == nullptr)) return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        // Here, as looking at the machine takes some milliseconds, which would hold up the loop.
        std::string topology;
        if (auto xml = node_topology().xml()) topology = std::move(*xml);
        const auto work = [directives, ndirs, topology](Process& process, HostAnswer& answer) {
            if (const pmix_status_t bad =
                    check(process, Function::ServerCollectInventory, {directives, ndirs});
                bad != PMIX_SUCCESS)
                return bad;
            return collect_inventory(process.runtime(), {directives, ndirs}, topology, answer.info);
        };
        return launch(to_callback(cbfunc, cbdata), on_server(work));
    });
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo, pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if ((ninfo > 0 && info == nullptr) || (ndirs > 0 && directives == nullptr)) return PMIX_ERR_BAD_PARAM;
    return complete(cbfunc, cbdata, [info, ninfo, directives, ndirs](Process& process, HostAnswer&) {
        if (const pmix_status_t bad = check(process, Function::ServerDeliverInventory, {directives, ndirs});
            bad != PMIX_SUCCESS)
            return bad;
        return deliver_inventory(process.runtime(), {info, ninfo});
    });
}

pmix_status_t PMIx_server_collect_job_info(pmix_proc_t* procs, size_t nprocs, pmix_data_buffer_t* dbuf) {
    if (procs == nullptr || nprocs == 0 || dbuf == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&]() -> pmix_status_t {
        HostAnswer answer;
        const std::vector<pmix_proc_t> all(procs, procs + nprocs);
        const auto work = [&all](Process& process, HostAnswer& packed) {
            return collect_job_info(process.runtime(), all, packed.data);
        };
        const pmix_status_t status = call(answer, on_server(work));
        if (status != PMIX_SUCCESS) return status;
        pmix_byte_object_t bytes{reinterpret_cast<char*>(answer.data.data()), answer.data.size()};
        answer.data.release();
        return PMIx_Data_load(dbuf, &bytes);
    });
}
