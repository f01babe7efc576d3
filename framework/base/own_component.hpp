// SPDX-License-Identifier: BSD-3-Clause
// The descriptors of the components of this library. Instances of ptl, gds and bfrops are C++ objects, which
// are locked to the version of the library. Components of the open frameworks use pmix/sdk/component.hpp.
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

/// A component of `framework` whose instances come from `make(sdk::Host)`. The function returns a unique_ptr
/// to the framework's interface, and throws sdk::Failure where the component cannot be used.
template <auto make>
muster_component_t object_component(const char* framework, uint16_t interface_version,
                                    const sdk::Identity& identity) {
    using Interface = typename decltype(make(sdk::Host(nullptr)))::element_type;
    return {
        .struct_size = sizeof(muster_component_t),
        .sdk_major = MUSTER_SDK_MAJOR,
        .sdk_minor = MUSTER_SDK_MINOR,
        .framework = framework,
        .interface_version = interface_version,
        .name = identity.name,
        .version = identity.version,
        .vendor = identity.vendor,
        .flags = identity.flags,
        .priority = identity.priority,
        .params = identity.params.data(),
        .nparams = identity.params.size(),
        .create = [](const muster_host_t* host, void** instance, char* reason) -> pmix_status_t {
            return sdk::guarded(reason, [&] { *instance = make(sdk::Host(host)).release(); });
        },
        .destroy = [](void* instance) { delete static_cast<Interface*>(instance); },
        .attributes = identity.attributes.data(),
        .nattributes = identity.attributes.size(),
    };
}

}  // namespace muster
