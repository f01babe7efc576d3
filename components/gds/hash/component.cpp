// SPDX-License-Identifier: BSD-3-Clause
// gds/hash: the descriptor.
#include <pmix/sdk/component.h>

#include "components/gds/hash/hash_store.hpp"

namespace {

pmix_status_t create(const muster_host_t* /*host*/, void** instance, char* /*reason*/) {
    try {
        *instance = static_cast<muster::Gds*>(new muster::gds::HashStore());
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

void destroy(void* instance) {
    delete static_cast<muster::Gds*>(instance);
}

}  // namespace

MUSTER_COMPONENT(gds, hash) {
    static const muster_component_t component = {sizeof(muster_component_t),
                                                 MUSTER_SDK_MAJOR,
                                                 MUSTER_SDK_MINOR,
                                                 "gds",
                                                 1,
                                                 "hash",
                                                 MUSTER_VERSION,
                                                 "Muster",
                                                 MUSTER_COMPONENT_HOSTILE_INPUT,
                                                 10,
                                                 nullptr,
                                                 0,
                                                 &create,
                                                 &destroy};
    return &component;
}
