// SPDX-License-Identifier: BSD-3-Clause
// C entry points for the short forms of node and process maps. They work on the caller's thread, and before
// PMIx_Init.
#include <pmix_server.h>

#include <cstring>

#include "core/api/guard.hpp"
#include "core/api/instance.hpp"
#include "core/runtime/api_components.hpp"
#include "framework/preg/regex2.hpp"

namespace muster {
namespace {

using Generate = Result<Bytes> (*)(PregSet, std::string_view);

pmix_status_t generate(const char* input, char** output, Generate shorten) {
    return guard([&]() -> pmix_status_t {
        if (input == nullptr || output == nullptr) return PMIX_ERR_BAD_PARAM;
        *output = nullptr;
        const Use use;
        const bool ours = use && !use->runtime().pregs().empty();
        Result<Bytes> result = shorten(ours ? use->runtime().pregs() : preg_for_api(), input);
        if (!result) return result.status();
        *output = reinterpret_cast<char*>((*result).release());
        return PMIX_SUCCESS;
    });
}

std::optional<Bytes> decompress(ByteView block, size_t limit) {
    return decompress_block(pcompress_for_api, block, limit);
}

}  // namespace
}  // namespace muster

pmix_status_t PMIx_generate_regex(const char* input, char** regex) {
    return muster::generate(input, regex, &muster::generate_node_regex);
}

pmix_status_t PMIx_generate_ppn(const char* input, char** ppn) {
    return muster::generate(input, ppn, &muster::generate_ppn_regex);
}

pmix_status_t PMIx_generate_regex2(const char* input, pmix_info_t[], size_t, pmix_regex2_t* regex) {
    return muster::guard([&]() -> pmix_status_t {
        if (input == nullptr || regex == nullptr) return PMIX_ERR_BAD_PARAM;
        *regex = PMIX_REGEX2_STATIC_INIT;
        const muster::Result<pmix_regex2_t> encoded = muster::generate_regex2(input);
        if (!encoded) return encoded.status();
        *regex = *encoded;
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_parse_regex2(const pmix_regex2_t* regex, pmix_info_t[], size_t, char** output) {
    return muster::guard([&]() -> pmix_status_t {
        if (output != nullptr) *output = nullptr;
        if (regex == nullptr || output == nullptr) return PMIX_ERR_BAD_PARAM;
        const muster::Result<std::string> list = muster::parse_regex2(*regex, muster::decompress);
        if (!list) return list.status();
        *output = strdup(list->c_str());
        return *output == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
    });
}
