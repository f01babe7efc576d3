// SPDX-License-Identifier: BSD-3-Clause
// The identity of the components of this library.
#pragma once

#include <pmix/sdk/component.hpp>

#include <span>

namespace muster {

/// A component that may face bytes of peers, as most do.
constexpr sdk::Identity own_component(const char* name, int priority,
                                      std::span<const muster_param_t> params = {},
                                      std::span<const muster_param_attribute_t> attributes = {}) {
    return {.name = name,
            .version = MUSTER_VERSION,
            .vendor = "Muster",
            .priority = priority,
            .flags = MUSTER_COMPONENT_HOSTILE_INPUT,
            .params = params,
            .attributes = attributes};
}

}  // namespace muster
