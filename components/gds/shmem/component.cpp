// SPDX-License-Identifier: BSD-3-Clause
// gds/shmem: the descriptor.
#include "components/gds/shmem/shmem_store.hpp"
#include "framework/base/own_component.hpp"

namespace {

constexpr muster_param_t kParameters[] = {
    {"limit", MUSTER_PARAM_SIZE, "1g", "bytes",
     "Maximum size of the segment of a namespace. The server and each of its processes reserve this much "
     "address space; memory is used only for the content. 0: no segment.",
     nullptr, nullptr},
};

std::unique_ptr<muster::Gds> make(muster::sdk::Host host) {
    const auto limit = static_cast<uint64_t>(host.integer("limit"));
    if (limit > muster::gds::shmem::kOffsetMask) {
        throw muster::sdk::Failure(PMIX_ERR_NOT_AVAILABLE,
                                   "gds_shmem_limit is more than this machine can map");
    }
    auto log = [host](int level, const std::string& line) { host.log(level, line); };
    return std::make_unique<muster::gds::shmem::ShmemStore>(limit, std::move(log));
}

}  // namespace

MUSTER_COMPONENT(gds, shmem) {
    static const muster_component_t descriptor =
        muster::object_component<make>("gds", 1, muster::own_component("shmem", 20, kParameters));
    return &descriptor;
}
