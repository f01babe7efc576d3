// SPDX-License-Identifier: BSD-3-Clause
// pmix_data_buffer_t, the packed data of applications and hosts: one malloc'ed block, and the positions of
// packing and unpacking in it. These work on the caller's struct, on any thread, as long as only one works on
// it at a time.
#pragma once

#include <pmix_common.h>

#include <optional>

#include "framework/packer.hpp"

namespace muster {

/// Appends one item of `n` values of `type`. Arguments and errors as PMIx_Data_pack (Standard 5.0, 11.3.1);
/// on failure the buffer is unchanged.
pmix_status_t data_pack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                        const void* src, int32_t n, pmix_data_type_t type);

/// Reads the next item into `dest`, which has room for `*max` values; `*max` becomes the number of values
/// read. Arguments and errors as PMIx_Data_unpack (Standard 5.0, 11.3.2). When the item holds more, the first
/// `*max` are read, the result is PMIX_ERR_UNPACK_INADEQUATE_SPACE, and the buffer position stays before the
/// item.
pmix_status_t data_unpack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                          void* dest, int32_t* max, pmix_data_type_t type);

/// Appends the not yet unpacked part of `src` to `dest`; `src` is unchanged; both may be the same (11.3.5).
pmix_status_t data_copy_payload(pmix_data_buffer_t* dest, const pmix_data_buffer_t* src);

/// The protocol of processes of the namespace of `target` (null: that of the caller). Nothing if the library
/// is not initialised. Defined by the runtime. Any thread.
std::optional<WireFormat> runtime_wire_format(const pmix_proc_t* target);

}  // namespace muster
