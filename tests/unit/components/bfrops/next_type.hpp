// SPDX-License-Identifier: BSD-3-Clause
// The type of an item in a fully described buffer; only tests need it.
#pragma once

#include "framework/bfrops.hpp"

namespace muster::test {

/// The type of the next item: the first one that unpacking does not reject as another.
inline pmix_data_type_t type_of_next(const Bfrops& codec, ByteReader in) {
    for (pmix_data_type_t type = PMIX_BOOL; type <= PMIX_ALLOC_INHERIT; ++type) {
        int32_t none = 0;
        const pmix_status_t status = codec.unpack(in, BufferType::FullyDescribed, nullptr, &none, type);
        if (status != PMIX_ERR_PACK_MISMATCH && status != PMIX_ERR_UNKNOWN_DATA_TYPE) return type;
    }
    return PMIX_UNDEF;
}

}  // namespace muster::test
