// SPDX-License-Identifier: BSD-3-Clause
// The upcalls by service: each function enters those of one file into the table. An upcall copies its
// arguments, posts them to the node's loop and returns; the answer is sent from there.
#pragma once

#include <pmix_server.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/host/node.hpp"
#include "tools/muster/services/groups.hpp"

namespace muster::launcher {

/// The table for PMIx_server_init. The library refuses requests whose upcall is not in it. The upcalls are
/// for this_node().
pmix_server_module_t* host_module();

template <auto work>
struct Upcall;
template <class... Arguments, pmix_status_t (*work)(Arguments...)>
struct Upcall<work> {
    static pmix_status_t call(Arguments... arguments) {
        return guarded([&] { return work(arguments...); });
    }
};
/// `work` as an entry of the table: no exception reaches the library.
template <auto work>
constexpr auto upcall = &Upcall<work>::call;

/// Posts `work` to the node's loop. For upcalls, on the library's thread.
inline void on_loop(Task work) {
    this_node().loop().post(std::move(work));
}
/// Posts a question to the launcher.
inline void ask_launcher(Topic topic, Buffer body, Link::Done done) {
    on_loop([topic, body = std::move(body), done = std::move(done)] {
        this_node().link().ask(topic, body, done);
    });
}
/// An answer that has only a status, for a callback of the library; null callbacks are left out.
Link::Done done_op(pmix_op_cbfunc_t callback, void* data);

/// Passes attributes to a callback of the library, which releases them.
void give_infos(pmix_info_cbfunc_t callback, void* data, pmix_status_t status, InfoList infos);

void add_process_upcalls(pmix_server_module_t& module);
void add_collective_upcalls(pmix_server_module_t& module);
void add_publish_upcalls(pmix_server_module_t& module);
void add_spawn_upcalls(pmix_server_module_t& module);
void add_group_upcalls(pmix_server_module_t& module);
void add_event_upcalls(pmix_server_module_t& module);
void add_query_upcalls(pmix_server_module_t& module);
void add_control_upcalls(pmix_server_module_t& module);
void add_log_upcalls(pmix_server_module_t& module);
void add_forward_upcalls(pmix_server_module_t& module);

/// Calls `done` once with the groups of all nodes; with nothing if the launcher has ended. On the loop.
void list_groups(std::function<void(std::vector<KnownGroup> groups)> done);

/// Connects to the scheduler at `uri`, which later gets the launcher's requests. Returns a message on
/// failure, otherwise "". After PMIx_server_init; blocks.
std::string join_scheduler(const std::string& uri);

/// From here on broken connections of tools are detected. After PMIx_server_init.
void watch_tools();
/// From here on the output of a job that a tool has spawned is sent to it, until it disconnects. On the loop.
void forward_unasked(const ProcName& tool, const std::string& nspace, uint32_t channels);
void stop_forwarding(const ProcName& tool);
/// A process has left the server: the launcher removes the state of a tool. On the loop.
void tool_left(const ProcName& name);

}  // namespace muster::launcher
