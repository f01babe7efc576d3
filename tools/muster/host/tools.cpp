// SPDX-License-Identifier: BSD-3-Clause
// The upcall tool_connected2: tools of the user who runs muster are let in, and named where they have no
// name.
#include <pmix.h>
#include <unistd.h>

#include "tools/muster/host/upcalls.hpp"

namespace muster {
namespace {

pmix_status_t tool_connected(pmix_info_t* info, size_t count, pmix_tool_connection_cbfunc_t callback,
                             void* data) {
    return guarded([&]() -> pmix_status_t {
        const pmix_info_t* user = find_info(info, count, PMIX_USERID);
        const std::optional<int64_t> uid = user != nullptr ? integer_of(user->value) : std::nullopt;
        const bool ours = uid && static_cast<uid_t>(*uid) == geteuid();
        ProcName name;
        if (const pmix_info_t* given = find_info(info, count, PMIX_NSPACE))
            name.nspace = text_of(given->value);
        if (const pmix_info_t* given = find_info(info, count, PMIX_RANK))
            name.rank = static_cast<uint32_t>(integer_of(given->value).value_or(0));
        on_loop([ours, name, callback, data]() mutable {
            if (name.nspace.empty()) name = bridge().name_of_tool();
            pmix_proc_t proc = to_pmix(name);
            if (callback != nullptr) callback(ours ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, &proc, data);
        });
        return PMIX_SUCCESS;
    });
}

}  // namespace

void add_tool_upcalls(pmix_server_module_t& module) {
    module.tool_connected2 = tool_connected;
}

}  // namespace muster
