// SPDX-License-Identifier: BSD-3-Clause
// Packing data for another process (Standard: Data Packing and Unpacking). The work is in
// core/runtime/data_buffer.hpp.
#include <pmix.h>

#include "core/api/instance.hpp"
#include "core/client/client.hpp"
#include "core/runtime/data_buffer.hpp"
#include "core/server/server.hpp"

namespace muster {

std::optional<WireFormat> runtime_wire_format(const pmix_proc_t* target) {
    const Use use;
    if (!use) return std::nullopt;
    // Peers of one encoding read each other's buffers; a server may have peers that want described ones.
    if (target != nullptr && use->server() != nullptr) {
        if (const auto format = use->server()->peers().format_of(*target)) return format;
    }
    return use->runtime().own_format();
}

}  // namespace muster

using namespace muster;

pmix_status_t PMIx_Data_pack(const pmix_proc_t* target, pmix_data_buffer_t* buffer, void* src,
                             int32_t num_vals, pmix_data_type_t type) {
    return guard([&]() -> pmix_status_t {
        const auto format = runtime_wire_format(target);
        if (!format) return PMIX_ERR_INIT;
        return data_pack(*format->bfrops, format->buffer_type, buffer, src, num_vals, type);
    });
}

pmix_status_t PMIx_Data_unpack(const pmix_proc_t* source, pmix_data_buffer_t* buffer, void* dest,
                               int32_t* max_num_values, pmix_data_type_t type) {
    return guard([&]() -> pmix_status_t {
        const auto format = runtime_wire_format(source);
        if (!format) return PMIX_ERR_INIT;
        return data_unpack(*format->bfrops, format->buffer_type, buffer, dest, max_num_values, type);
    });
}

pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t* dest, pmix_data_buffer_t* src) {
    return guard([&]() -> pmix_status_t { return data_copy_payload(dest, src); });
}
