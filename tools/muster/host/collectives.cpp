// SPDX-License-Identifier: BSD-3-Clause
// The upcalls fence_nb, direct_modex, connect and disconnect.
#include <cstdlib>
#include <string_view>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/collectives.hpp"

namespace muster::launcher {
namespace {

using Kind = Collectives::Request::Kind;

/// The time limit of an operation.
pmix_status_t read_directives(std::string_view upcall, const Infos& directives, uint32_t& seconds) {
    const std::optional<uint32_t> limit = directives.timeout();
    if (!limit) return PMIX_ERR_BAD_PARAM;
    seconds = *limit;
    return check_required(upcall, directives);
}

/// The callback of either, which gets the bytes to free.
Link::Done answer_with(pmix_modex_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, Buffer& in) {
        if (callback == nullptr) return;
        Bytes bytes;
        if (status == PMIX_SUCCESS && !in.unpack(bytes)) status = PMIX_ERR_UNPACK_FAILURE;
        if (status != PMIX_SUCCESS || bytes.size() == 0)
            return callback(status, nullptr, 0, data, nullptr, nullptr);
        const size_t size = bytes.size();
        char* block = bytes.release();
        callback(status, block, size, data, free, block);
    };
}

pmix_status_t fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                       char* bytes, size_t size, pmix_modex_cbfunc_t callback, void* data) {
    if (procs == nullptr || count == 0) return PMIX_ERR_BAD_PARAM;
    uint32_t seconds = 0;
    const pmix_status_t status = read_directives("fence_nb", {info, info_count}, seconds);
    if (status != PMIX_SUCCESS) return status;
    ask_launcher(Topic::Fence,
                 pack(Collectives::Request{Kind::Fence, names_of(procs, count), seconds},
                      std::string_view(bytes, bytes != nullptr ? size : 0)),
                 answer_with(callback, data));
    return PMIX_SUCCESS;
}

pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t info[], size_t count,
                           pmix_modex_cbfunc_t callback, void* data) {
    uint32_t seconds = 0;
    const pmix_status_t status = read_directives("direct_modex", {info, count}, seconds);
    if (status != PMIX_SUCCESS) return status;
    ask_launcher(Topic::Modex, pack(name_of(*proc), seconds), answer_with(callback, data));
    return PMIX_SUCCESS;
}

pmix_status_t ask(Kind kind, const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                  size_t info_count, pmix_op_cbfunc_t callback, void* data) {
    if (procs == nullptr || count == 0) return PMIX_ERR_BAD_PARAM;
    uint32_t seconds = 0;
    const pmix_status_t status =
        read_directives(kind == Kind::Connect ? "connect" : "disconnect", {info, info_count}, seconds);
    if (status != PMIX_SUCCESS) return status;
    ask_launcher(Topic::Connect, pack(Collectives::Request{kind, names_of(procs, count), seconds}, ""),
                 done_op(callback, data));
    return PMIX_SUCCESS;
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

void add_collective_upcalls(pmix_server_module_t& module) {
    module.fence_nb = upcall<fence_nb>;
    module.direct_modex = upcall<direct_modex>;
    module.connect = upcall<connect>;
    module.disconnect = upcall<disconnect>;
}

}  // namespace muster::launcher
