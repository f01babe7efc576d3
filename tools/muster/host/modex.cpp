// SPDX-License-Identifier: BSD-3-Clause
// The upcalls fence_nb and direct_modex.
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/collectives.hpp"

namespace muster::launcher {
namespace {

/// The attributes of a fence or a modex: a time limit, and nothing else that is required.
pmix_status_t read_directives(const pmix_info_t info[], size_t count, uint32_t& seconds) {
    const std::optional<uint32_t> limit = timeout_of(info, count);
    if (!limit) return PMIX_ERR_BAD_PARAM;
    seconds = *limit;
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_INFO_IS_REQUIRED(&info[i]) && !PMIX_CHECK_KEY(&info[i], PMIX_TIMEOUT) &&
            !PMIX_CHECK_KEY(&info[i], PMIX_COLLECT_DATA) && !PMIX_CHECK_KEY(&info[i], PMIX_REQUIRED_KEY)) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return PMIX_SUCCESS;
}

/// The callback of either, called with a copy of the bytes.
Link::Done answer_with(pmix_modex_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, Buffer& in) {
        if (callback == nullptr) return;
        auto bytes = std::make_unique<std::string>();
        if (status == PMIX_SUCCESS && !in.unpack(*bytes)) status = PMIX_ERR_UNPACK_FAILURE;
        if (status != PMIX_SUCCESS || bytes->empty())
            return callback(status, nullptr, 0, data, nullptr, nullptr);
        std::string* copy = bytes.release();
        callback(
            status, copy->data(), copy->size(), data,
            [](void* owned) { delete static_cast<std::string*>(owned); }, copy);
    };
}

pmix_status_t fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                       char* bytes, size_t size, pmix_modex_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        if (procs == nullptr || count == 0) return PMIX_ERR_BAD_PARAM;
        uint32_t seconds = 0;
        const pmix_status_t status = read_directives(info, info_count, seconds);
        if (status != PMIX_SUCCESS) return status;
        Collectives::Request request{Collectives::Request::Kind::Fence, names_of(procs, count), seconds, {}};
        if (bytes != nullptr) request.bytes.assign(bytes, size);
        ask_launcher(Topic::Fence, pack(request), answer_with(callback, data));
        return PMIX_SUCCESS;
    });
}

pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t info[], size_t count,
                           pmix_modex_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        uint32_t seconds = 0;
        const pmix_status_t status = read_directives(info, count, seconds);
        if (status != PMIX_SUCCESS) return status;
        ask_launcher(Topic::Modex, pack(name_of(*proc), seconds), answer_with(callback, data));
        return PMIX_SUCCESS;
    });
}

}  // namespace

void add_modex_upcalls(pmix_server_module_t& module) {
    module.fence_nb = fence_nb;
    module.direct_modex = direct_modex;
}

}  // namespace muster::launcher
