// SPDX-License-Identifier: BSD-3-Clause
// Upcalls: copy what was given, post it to the node's loop, return at once.
#include "tools/muster/host.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace muster {
namespace {

// The C interface forces these: set before PMIx_server_init, never changed after.
Loop* host_loop = nullptr;
HostDuties* host_duties = nullptr;

ProcName name_of(const pmix_proc_t& proc) {
    return {std::string(proc.nspace, strnlen(proc.nspace, PMIX_MAX_NSLEN)), proc.rank};
}

std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count) {
    std::vector<ProcName> names;
    for (size_t i = 0; procs != nullptr && i < count; ++i)
        names.push_back(name_of(procs[i]));
    return names;
}

/// Runs `work` of an upcall; no exception reaches the library.
template <typename Work>
pmix_status_t guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    } catch (...) {
        return PMIX_ERROR;
    }
}

std::optional<int64_t> integer(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_INT:
            return value.data.integer;
        case PMIX_INT32:
            return value.data.int32;
        case PMIX_UINT32:
            return value.data.uint32;
        case PMIX_UINT:
            return value.data.uint;
        case PMIX_INT64:
            return value.data.int64;
        case PMIX_UINT64:
            return static_cast<int64_t>(value.data.uint64);
        default:
            return std::nullopt;
    }
}

/// The attributes of a fence or a modex: a time limit, and nothing else that is required.
pmix_status_t read_directives(const pmix_info_t info[], size_t count, uint32_t& seconds) {
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_TIMEOUT)) {
            const std::optional<int64_t> value = integer(info[i].value);
            if (!value || *value < 0 || *value > INT32_MAX) return PMIX_ERR_BAD_PARAM;
            seconds = static_cast<uint32_t>(*value);
        } else if (PMIX_INFO_IS_REQUIRED(&info[i]) && !PMIX_CHECK_KEY(&info[i], PMIX_COLLECT_DATA) &&
                   !PMIX_CHECK_KEY(&info[i], PMIX_REQUIRED_KEY)) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t[], size_t, pmix_op_cbfunc_t,
                               void*) {
    return guarded([&] {
        host_loop->post([name = name_of(*proc)] { host_duties->client_connected(name); });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    return guarded([&] {
        host_loop->post([name = name_of(*proc)] { host_duties->client_finalized(name); });
        return PMIX_OPERATION_SUCCEEDED;
    });
}

pmix_status_t abort_upcall(const pmix_proc_t* proc, void*, int status, const char text[], pmix_proc_t procs[],
                           size_t count, pmix_op_cbfunc_t callback, void* data) {
    return guarded([&] {
        host_loop->post([name = name_of(*proc), status, text = std::string(text != nullptr ? text : ""),
                         targets = names_of(procs, count), callback, data] {
            host_duties->abort(name, status, text, targets, {callback, data});
        });
        return PMIX_SUCCESS;
    });
}

pmix_status_t fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                       char* bytes, size_t size, pmix_modex_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        if (procs == nullptr || count == 0) return PMIX_ERR_BAD_PARAM;
        uint32_t seconds = 0;
        const pmix_status_t status = read_directives(info, info_count, seconds);
        if (status != PMIX_SUCCESS) return status;
        host_loop->post([names = names_of(procs, count), seconds,
                         body = bytes != nullptr ? std::string(bytes, size) : std::string(), callback,
                         data]() mutable {
            host_duties->fence(std::move(names), seconds, std::move(body), {callback, data});
        });
        return PMIX_SUCCESS;
    });
}

pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t info[], size_t count,
                           pmix_modex_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        uint32_t seconds = 0;
        const pmix_status_t status = read_directives(info, count, seconds);
        if (status != PMIX_SUCCESS) return status;
        host_loop->post([name = name_of(*proc), seconds, callback, data] {
            host_duties->direct_modex(name, seconds, {callback, data});
        });
        return PMIX_SUCCESS;
    });
}

}  // namespace

void DataAnswer::operator()(pmix_status_t status, std::string_view bytes) const {
    if (callback == nullptr) return;
    if (bytes.empty()) {
        callback(status, nullptr, 0, data, nullptr, nullptr);
        return;
    }
    auto* copy = new std::string(bytes);
    callback(
        status, copy->data(), copy->size(), data,
        [](void* owned) { delete static_cast<std::string*>(owned); }, copy);
}

pmix_server_module_t* host_module(Loop& loop, HostDuties& duties) {
    static pmix_server_module_t module;
    host_loop = &loop;
    host_duties = &duties;
    std::memset(&module, 0, sizeof module);
    module.client_connected2 = client_connected;
    module.client_finalized = client_finalized;
    module.abort = abort_upcall;
    module.fence_nb = fence_nb;
    module.direct_modex = direct_modex;
    return &module;
}

}  // namespace muster
