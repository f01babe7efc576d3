// SPDX-License-Identifier: BSD-3-Clause
// What servers of other nodes contribute to a fence, in the forms of all versions. What is accepted names
// participants, or processes in full, and each value has a key.

#include "core/modex/contribution.hpp"

#include <pmix/sdk/component.h>

#include <cstring>

#include "framework/base/compress.hpp"
#include "framework/bfrops.hpp"
#include "tests/fuzz/require.hpp"

extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace {

using namespace muster;

const Bfrops& codec() {
    static const Bfrops* const instance = [] {
        void* made = nullptr;
        char reason[256];
        require(muster_component_bfrops_v41()->create(nullptr, &made, reason) == PMIX_SUCCESS);
        return static_cast<const Bfrops*>(made);
    }();
    return *instance;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    CountedProcesses counted;
    counted.add("goldns", 2);
    counted.add("second", 3);
    bool older = false;
    const auto visit = [&](const pmix_proc_t& proc, const char* key, const pmix_value_t&) {
        require(key != nullptr && std::strlen(key) <= PMIX_MAX_KEYLEN);
        require(std::strlen(proc.nspace) <= PMIX_MAX_NSLEN);
        return PMIX_SUCCESS;
    };
    read_contributions({&codec(), BufferType::NonDescribed}, {data, size}, counted, zlib_decompress, visit,
                       older);
    return 0;
}
