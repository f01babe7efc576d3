// SPDX-License-Identifier: BSD-3-Clause
// The upcalls connect and disconnect.
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/collectives.hpp"

namespace muster::launcher {
namespace {

using Kind = Collectives::Request::Kind;

pmix_status_t ask(Kind kind, const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                  size_t info_count, pmix_op_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        const std::optional<uint32_t> seconds = timeout_of(info, info_count);
        if (procs == nullptr || count == 0 || !seconds) return PMIX_ERR_BAD_PARAM;
        ask_launcher(Topic::Connect, pack(Collectives::Request{kind, names_of(procs, count), *seconds, {}}),
                     done_op(callback, data));
        return PMIX_SUCCESS;
    });
}

pmix_status_t connect(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                      pmix_op_cbfunc_t callback, void* data) {
    return ask(Kind::Connect, procs, count, info, info_count, callback, data);
}

pmix_status_t disconnect(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                         pmix_op_cbfunc_t callback, void* data) {
    return ask(Kind::Disconnect, procs, count, info, info_count, callback, data);
}

}  // namespace

void add_connect_upcalls(pmix_server_module_t& module) {
    module.connect = connect;
    module.disconnect = disconnect;
}

}  // namespace muster::launcher
