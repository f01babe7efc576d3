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

}  // namespace muster
