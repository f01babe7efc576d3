// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of ptl/usock.
#include "components/ptl/usock/usock.hpp"
#include "framework/object_component.hpp"

static std::unique_ptr<muster::Ptl> make(muster::sdk::Host) {
    return std::make_unique<muster::usock::Usock>();
}

MUSTER_COMPONENT(ptl, usock) {
    static const muster_component_t descriptor =
        muster::object_component<make>("ptl", muster::kPtlInterface, muster::own_component("usock", 50));
    return &descriptor;
}
