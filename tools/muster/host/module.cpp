// SPDX-License-Identifier: BSD-3-Clause
// The table of upcalls.
#include "tools/muster/host/upcalls.hpp"

#include <cstring>

namespace muster::launcher {

pmix_server_module_t* host_module() {
    static pmix_server_module_t module;
    std::memset(&module, 0, sizeof module);
    add_process_upcalls(module);
    add_collective_upcalls(module);
    add_publish_upcalls(module);
    add_spawn_upcalls(module);
    add_group_upcalls(module);
    add_event_upcalls(module);
    add_query_upcalls(module);
    add_control_upcalls(module);
    add_log_upcalls(module);
    add_forward_upcalls(module);
    return &module;
}

Link::Done done_op(pmix_op_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, Buffer&) {
        if (callback != nullptr) callback(status, data);
    };
}

void give_infos(pmix_info_cbfunc_t callback, void* data, pmix_status_t status, InfoList infos) {
    if (infos.size() == 0) return callback(status, nullptr, 0, data, nullptr, nullptr);
    auto* kept = new InfoList(std::move(infos));
    callback(
        status, kept->data(), kept->size(), data, [](void* owned) { delete static_cast<InfoList*>(owned); },
        kept);
}

}  // namespace muster::launcher
