// SPDX-License-Identifier: BSD-3-Clause
// gds/hash: the descriptor.
#include "components/gds/hash/hash_store.hpp"
#include "framework/base/own_component.hpp"

static std::unique_ptr<muster::Gds> make(muster::sdk::Host) {
    return std::make_unique<muster::gds::HashStore>();
}

MUSTER_COMPONENT(gds, hash) {
    static const muster_component_t descriptor =
        muster::object_component<make>("gds", 1, muster::own_component("hash", 10));
    return &descriptor;
}
