// SPDX-License-Identifier: BSD-3-Clause
// psec/none: no credential, and no check. Its negative priority excludes it unless it is requested by name.
#include <pmix/sdk/component.hpp>

#include "framework/base/own_component.hpp"

namespace {

class None {
  public:
    explicit None(muster::sdk::Host) {}
    muster::sdk::Buffer create_credential(std::span<const pmix_info_t>) const { return {}; }
    void validate_credential(std::span<const uint8_t>, const muster_psec_claim_t&) const {}
};

}  // namespace

MUSTER_COMPONENT(psec, none) {
    static const muster_component_t descriptor =
        muster::sdk::psec_component<None>(muster::own_component("none", -1));
    return &descriptor;
}
