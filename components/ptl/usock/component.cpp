// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of ptl/usock.
#include <pmix/sdk/component.h>

#include <cstdio>
#include <new>

#include "components/ptl/usock/usock.hpp"

namespace {

using muster::Ptl;

pmix_status_t create(const muster_host_t*, void** instance, char* reason) {
    auto* made = new (std::nothrow) muster::usock::Usock;
    if (made == nullptr) {
        std::snprintf(reason, 256, "out of memory");
        return PMIX_ERR_NOMEM;
    }
    *instance = static_cast<Ptl*>(made);
    return PMIX_SUCCESS;
}

}  // namespace

MUSTER_COMPONENT(ptl, usock) {
    static const muster_component_t descriptor = {
        .struct_size = sizeof(muster_component_t),
        .sdk_major = MUSTER_SDK_MAJOR,
        .sdk_minor = MUSTER_SDK_MINOR,
        .framework = "ptl",
        .interface_version = muster::kPtlInterface,
        .name = "usock",
        .version = MUSTER_VERSION,
        .vendor = "Muster",
        .flags = MUSTER_COMPONENT_HOSTILE_INPUT,
        .priority = 50,
        .params = nullptr,
        .nparams = 0,
        .create = create,
        .destroy = [](void* instance) { delete static_cast<Ptl*>(instance); },
    };
    return &descriptor;
}
