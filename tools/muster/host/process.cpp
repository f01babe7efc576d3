// SPDX-License-Identifier: BSD-3-Clause
// Upcalls about a process's life: it has called PMIx_Init, PMIx_Finalize, PMIx_Abort.
#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

void tell(const RankEvent& event) {
    this_node().link().tell(Topic::Rank, pack(event));
}

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t[], size_t, pmix_op_cbfunc_t,
                               void*) {
    return guarded([&] {
        on_loop([name = name_of(*proc)] {
            LocalRanks::Rank* rank = this_node().ranks().find(name);
            if (rank == nullptr) return;
            rank->connected = true;
            tell({RankEvent::Kind::Connected, rank->id});
        });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    return guarded([&] {
        on_loop([name = name_of(*proc)] {
            if (LocalRanks::Rank* rank = this_node().ranks().find(name)) {
                tell({RankEvent::Kind::Finalized, rank->id});
                this_node().ranks().finalized(*rank);
            }
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
            if (const LocalRanks::Rank* rank = this_node().ranks().find(name))
                tell({RankEvent::Kind::Aborted, rank->id, status, 0, text, targets});
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
