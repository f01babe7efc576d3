// SPDX-License-Identifier: BSD-3-Clause
// gds/shmem: the descriptor.
#include <pmix/sdk/component.h>

#include <cstdio>
#include <cstdlib>

#include "components/gds/shmem/shmem_store.hpp"

namespace {

constexpr muster_param_t kParameters[] = {
    {"limit", MUSTER_PARAM_SIZE, "1g", "bytes",
     "How large the segment of a namespace may become: that much address space is taken in the server and in "
     "each of its processes, and memory only for what is in it. 0: there is none.",
     nullptr, nullptr},
};

/// The text was checked; k, m and g may follow the number.
uint64_t bytes_of(const char* text, uint64_t otherwise) {
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    switch (*end) {
        case 'k':
        case 'K':
            return number << 10;
        case 'm':
        case 'M':
            return number << 20;
        case 'g':
        case 'G':
            return number << 30;
        default:
            return number;
    }
}

pmix_status_t create(const muster_host_t* host, void** instance, char* reason) {
    try {
        const uint64_t limit = bytes_of(host->parameter(host->context, "limit"), uint64_t{1} << 30);
        if (limit > muster::gds::shmem::kOffsetMask) {
            std::snprintf(reason, 256, "gds_shmem_limit is more than this machine can map");
            return PMIX_ERR_NOT_AVAILABLE;
        }
        auto log = [host](int level, const std::string& line) {
            host->log(host->context, level, line.c_str());
        };
        *instance = static_cast<muster::Gds*>(new muster::gds::shmem::ShmemStore(limit, std::move(log)));
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

void destroy(void* instance) {
    delete static_cast<muster::Gds*>(instance);
}

}  // namespace

MUSTER_COMPONENT(gds, shmem) {
    static const muster_component_t component = {sizeof(muster_component_t),
                                                 MUSTER_SDK_MAJOR,
                                                 MUSTER_SDK_MINOR,
                                                 "gds",
                                                 1,
                                                 "shmem",
                                                 MUSTER_VERSION,
                                                 "Muster",
                                                 MUSTER_COMPONENT_HOSTILE_INPUT,
                                                 20,
                                                 kParameters,
                                                 sizeof kParameters / sizeof kParameters[0],
                                                 &create,
                                                 &destroy};
    return &component;
}
