// SPDX-License-Identifier: BSD-3-Clause
// Contributions of other nodes' servers to a fence, in the forms of all versions. An accepted one names
// participants, or processes in full, and each value has a key.

#include "core/modex/contribution.hpp"

#include <cstring>

#include "framework/base/compress.hpp"
#include "tests/fuzz/codec.hpp"

using namespace muster;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    CountedProcesses counted;
    counted.add("goldns", 2);
    counted.add("second", 3);
    ContributorsSeen seen;
    const auto visit = [&](const pmix_proc_t& proc, const char* key, const pmix_value_t&) {
        require(key != nullptr && std::strlen(key) <= PMIX_MAX_KEYLEN);
        require(std::strlen(proc.nspace) <= PMIX_MAX_NSLEN);
        return PMIX_SUCCESS;
    };
    read_contributions({&codec(), BufferType::NonDescribed}, {data, size}, counted, zlib_decompress, visit,
                       seen);
    return 0;
}
