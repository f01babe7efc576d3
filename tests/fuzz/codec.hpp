// SPDX-License-Identifier: BSD-3-Clause
// The encoding of all versions, for targets that read messages: they link mca_bfrops_v41_objects.
#pragma once

#include <pmix/sdk/component.h>

#include "framework/bfrops.hpp"
#include "tests/fuzz/require.hpp"

extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace muster {

inline const Bfrops& codec() {
    static const Bfrops* const instance = [] {
        void* made = nullptr;
        char reason[256];
        require(muster_component_bfrops_v41()->create(nullptr, &made, reason) == PMIX_SUCCESS);
        return static_cast<const Bfrops*>(made);
    }();
    return *instance;
}

/// The type of the next item of a fully described buffer: the first one that is not taken for another.
inline pmix_data_type_t type_of_next(ByteReader in) {
    for (pmix_data_type_t type = PMIX_BOOL; type <= PMIX_ALLOC_INHERIT; ++type) {
        int32_t none = 0;
        const pmix_status_t status = codec().unpack(in, BufferType::FullyDescribed, nullptr, &none, type);
        if (status != PMIX_ERR_PACK_MISMATCH && status != PMIX_ERR_UNKNOWN_DATA_TYPE) return type;
    }
    return PMIX_UNDEF;
}

}  // namespace muster
