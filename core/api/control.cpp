// SPDX-License-Identifier: BSD-3-Clause
// Job management and reporting (Standard: Job Management; PMIx_Log; sessions and resource blocks).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/client/client.hpp"
#include "core/control/allocation.hpp"
#include "core/control/job_control.hpp"
#include "core/log/log.hpp"
#include "core/monitor/monitor.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto logging(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[], size_t ndirs) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        std::shared_ptr<Info> entries, options;
        if (ndata == 0) return PMIX_ERR_BAD_PARAM;
        pmix_status_t status = keep_directives(caller, Function::Log, data, ndata, entries);
        if (status == PMIX_SUCCESS)
            status = keep_directives(caller, Function::Log, directives, ndirs, options);
        if (status != PMIX_SUCCESS) return status;
        start.alone = true;
        start.run = [entries, options](Process& process, HostDone done) {
            log_data(process.exchange(), std::move(*entries), std::move(*options), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

auto allocating(pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo) {
    return with_infos(Function::AllocationRequest, true, info, ninfo,
                      [directive](Process& process, Info kept, HostDone done) {
                          request_allocation(process.exchange(), directive, std::move(kept), std::move(done));
                      });
}

auto controlling(const pmix_proc_t targets[], size_t ntargets, const pmix_info_t directives[], size_t ndirs) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        if (ndirs == 0 || (ntargets > 0 && targets == nullptr)) return PMIX_ERR_BAD_PARAM;
        std::vector<pmix_proc_t> all;
        if (targets != nullptr) all.assign(targets, targets + ntargets);
        const auto work = [all = std::move(all)](Process& process, Info kept, HostDone done) {
            control_job(process.exchange(), own(process, &Server::job_control), all, std::move(kept),
                        std::move(done));
        };
        return keep_and_start(caller, start, Function::JobControl, directives, ndirs, work);
    };
}

auto controlling_session(uint32_t session, const pmix_info_t directives[], size_t ndirs) {
    return with_infos(Function::SessionControl, true, directives, ndirs,
                      [session](Process& process, Info kept, HostDone done) {
                          control_session(process.exchange(), session, std::move(kept), std::move(done));
                      });
}

auto blocking_resources(pmix_resource_block_directive_t directive, const char* block,
                        const pmix_resource_unit_t* units, size_t nunits, const pmix_info_t* info,
                        size_t ninfo) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        if (block == nullptr || (nunits > 0 && units == nullptr)) return PMIX_ERR_BAD_PARAM;
        ResourceUnits all;
        if (units != nullptr) all.assign(units, units + nunits);
        const auto work = [directive, name = std::string(block), all = std::move(all)](
                              Process& process, Info kept, HostDone done) {
            request_resource_block(process.exchange(), directive, name, all, std::move(kept),
                                   std::move(done));
        };
        return keep_and_start(caller, start, Function::ResourceBlock, info, ninfo, work);
    };
}

auto monitoring(const pmix_info_t* monitor, pmix_status_t error, const pmix_info_t directives[],
                size_t ndirs) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        std::shared_ptr<Info> what, kept;
        pmix_status_t status = keep_directives(caller, Function::ProcessMonitor, monitor, 1, what);
        if (status == PMIX_SUCCESS)
            status = keep_directives(caller, Function::ProcessMonitor, directives, ndirs, kept);
        if (status != PMIX_SUCCESS) return status;
        start.run = [what, error, kept](Process& process, HostDone done) {
            monitor_process(process.exchange(), own(process, &Server::monitors), std::move(*what), error,
                            std::move(*kept), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

}  // namespace

pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[], size_t ndirs) {
    HostAnswer answer;
    return call(answer, logging(data, ndata, directives, ndirs));
}

pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                          size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), logging(data, ndata, directives, ndirs));
}

pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo,
                                      pmix_info_t** results, size_t* nresults) {
    return call_for_results(allocating(directive, info, ninfo), results, nresults);
}

pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo,
                                         pmix_info_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), allocating(directive, info, ninfo));
}

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets, const pmix_info_t directives[],
                               size_t ndirs, pmix_info_t** results, size_t* nresults) {
    return call_for_results(controlling(targets, ntargets, directives, ndirs), results, nresults);
}

pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                  void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), controlling(targets, ntargets, directives, ndirs));
}

pmix_status_t PMIx_Session_control(uint32_t session, const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc, void* cbdata) {
    if (cbfunc != nullptr)
        return launch(to_callback(cbfunc, cbdata), controlling_session(session, directives, ndirs));
    // Without a callback the call blocks; its results are discarded.
    HostAnswer answer;
    const pmix_status_t status = call(answer, controlling_session(session, directives, ndirs));
    return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
}

pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive, char* block,
                                  const pmix_resource_unit_t* units, size_t nunits, const pmix_info_t* info,
                                  size_t ninfo) {
    HostAnswer answer;
    return call(answer, blocking_resources(directive, block, units, nunits, info, ninfo));
}

pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive, char* block,
                                     const pmix_resource_unit_t* units, size_t nunits,
                                     const pmix_info_t* info, size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void* cbdata) {
    return launch(to_callback(cbfunc, cbdata),
                  blocking_resources(directive, block, units, nunits, info, ninfo));
}

pmix_status_t PMIx_Process_monitor(const pmix_info_t* monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs, pmix_info_t** results,
                                   size_t* nresults) {
    return call_for_results(monitoring(monitor, error, directives, ndirs), results, nresults);
}

pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t* monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                      void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), monitoring(monitor, error, directives, ndirs));
}

void PMIx_Heartbeat(void) {
    with_process([&](const Use& use) -> pmix_status_t {
        Task beat = [client = use->client()] {
            if (client != nullptr) client->send_heartbeat();
        };
        if (!use->runtime().run_here(beat)) use->loop().post(std::move(beat));
        return PMIX_SUCCESS;
    });
}
