// SPDX-License-Identifier: BSD-3-Clause
// Upcalls about a process's life: it has called PMIx_Init, PMIx_Finalize, PMIx_Abort.
#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t[], size_t, pmix_op_cbfunc_t,
                               void*) {
    return guarded([&] {
        on_loop([name = name_of(*proc)] { bridge().client_connected(name); });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    return guarded([&] {
        on_loop([name = name_of(*proc)] {
            bridge().client_finalized(name);
            tool_left(name);
        });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

pmix_status_t abort_upcall(const pmix_proc_t* proc, void*, int status, const char text[], pmix_proc_t procs[],
                           size_t count, pmix_op_cbfunc_t callback, void* data) {
    return guarded([&] {
        on_loop([name = name_of(*proc), status, text = std::string(text != nullptr ? text : ""),
                 targets = names_of(procs, count), callback, data] {
            bridge().abort(name, status, text, targets);
            if (callback != nullptr) callback(PMIX_SUCCESS, data);
        });
        return PMIX_SUCCESS;
    });
}

}  // namespace

void add_process_upcalls(pmix_server_module_t& module) {
    module.client_connected2 = client_connected;
    module.client_finalized = client_finalized;
    module.abort = abort_upcall;
}

}  // namespace muster::launcher
