// SPDX-License-Identifier: BSD-3-Clause
// Upcalls about a process's life: PMIx_Init, PMIx_Finalize, PMIx_Abort. Tools of the user of muster may
// connect, and get a name if they have none.
#include <pmix.h>
#include <unistd.h>

#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

void tell(const RankEvent& event) {
    this_node().link().tell(Topic::Rank, pack(event));
}

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t[], size_t, pmix_op_cbfunc_t,
                               void*) {
    on_loop([name = name_of(*proc)] {
        LocalRanks::Rank* rank = this_node().ranks().find(name);
        if (rank == nullptr) return;
        rank->connected = true;
        tell({RankEvent::Kind::Connected, rank->id});
    });
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    on_loop([name = name_of(*proc)] {
        if (LocalRanks::Rank* rank = this_node().ranks().find(name)) {
            tell({RankEvent::Kind::Finalized, rank->id});
            this_node().ranks().finalized(*rank);
        }
        tool_left(name);
    });
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t abort_upcall(const pmix_proc_t* proc, void*, int status, const char text[], pmix_proc_t procs[],
                           size_t count, pmix_op_cbfunc_t callback, void* data) {
    on_loop([name = name_of(*proc), status, text = text_of(text), targets = names_of(procs, count), callback,
             data] {
        if (const LocalRanks::Rank* rank = this_node().ranks().find(name))
            tell({RankEvent::Kind::Aborted, rank->id, status, 0, text, targets});
        if (callback != nullptr) callback(PMIX_SUCCESS, data);
    });
    return PMIX_SUCCESS;
}

pmix_status_t tool_connected(pmix_info_t* info, size_t count, pmix_tool_connection_cbfunc_t callback,
                             void* data) {
    const Infos given(info, count);
    const std::optional<int64_t> uid = given.integer(PMIX_USERID);
    const bool ours = uid && static_cast<uid_t>(*uid) == geteuid();
    ProcName name{given.text(PMIX_NSPACE), static_cast<uint32_t>(given.integer(PMIX_RANK).value_or(0))};
    on_loop([ours, name, callback, data]() mutable {
        if (name.nspace.empty()) name = this_node().name_of_tool();
        pmix_proc_t proc = to_pmix(name);
        if (callback != nullptr) callback(ours ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, &proc, data);
    });
    return PMIX_SUCCESS;
}

void connection_lost(size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t[], size_t, pmix_info_t[],
                     size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
    if (source != nullptr) {
        guarded([&]() -> pmix_status_t {
            on_loop([name = name_of(*source)] { tool_left(name); });
            return PMIX_SUCCESS;
        });
    }
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

}  // namespace

void watch_tools() {
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    PMIx_Register_event_handler(&code, 1, nullptr, 0, connection_lost, nullptr, nullptr);
}

void tool_left(const ProcName& name) {
    stop_forwarding(name);
    // The launcher learns of processes of its own jobs by Topic::Rank.
    if (this_node().ranks().job_of(name.nspace) != nullptr) return;
    this_node().link().tell(Topic::Publish, pack(name));
    this_node().link().tell(Topic::Spawn, pack(name));
}

void add_process_upcalls(pmix_server_module_t& module) {
    module.client_connected2 = upcall<client_connected>;
    module.client_finalized = upcall<client_finalized>;
    module.abort = upcall<abort_upcall>;
    module.tool_connected2 = upcall<tool_connected>;
}

}  // namespace muster::launcher
