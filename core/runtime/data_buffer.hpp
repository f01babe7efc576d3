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
/// on failure the buffer holds what it held.
pmix_status_t data_pack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                        const void* src, int32_t n, pmix_data_type_t type);

/// Reads the next item into `dest`, which has room for `*max` values; `*max` becomes how many were read.
/// Arguments and errors as PMIx_Data_unpack (Standard 5.0, 11.3.2). When the item holds more, the first
/// `*max` are read, the result is PMIX_ERR_UNPACK_INADEQUATE_SPACE, and the buffer still stands before the
/// item.
pmix_status_t data_unpack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                          void* dest, int32_t* max, pmix_data_type_t type);

/// Appends to `dest` what was not unpacked yet of `src`, which stays as it is; both may be the same (11.3.5).
pmix_status_t data_copy_payload(pmix_data_buffer_t* dest, const pmix_data_buffer_t* src);

/// How to speak to a process of the namespace of `target` (null: one like the caller). Nothing where the
/// library is not initialised. Defined by the runtime. Any thread.
std::optional<WireFormat> runtime_wire_format(const pmix_proc_t* target);

}  // namespace muster
