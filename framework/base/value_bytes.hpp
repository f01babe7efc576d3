// SPDX-License-Identifier: BSD-3-Clause
// The bytes that a value holds, as they may be read: a host or peer may count bytes that are not there.
#pragma once

#include <pmix_common.h>

#include "framework/base/bytes.hpp"

namespace muster {

/// The bytes of a byte object or a regex, as long as the value lives; none for a null value, another type, or
/// where there is nothing behind the count.
inline ByteView value_as_bytes(const pmix_value_t* value) {
    if (value == nullptr || (value->type != PMIX_BYTE_OBJECT && value->type != PMIX_REGEX)) return {};
    const pmix_byte_object_t& bytes = value->data.bo;
    if (bytes.bytes == nullptr) return {};
    return {reinterpret_cast<const uint8_t*>(bytes.bytes), bytes.size};
}

}  // namespace muster
