// SPDX-License-Identifier: BSD-3-Clause
// The component under test, and bytes as hex.
#pragma once

#include <pmix/sdk/component.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/bfrops.hpp"

extern "C" const muster_component_t* muster_component_bfrops_v41(void);

namespace muster::test {

/// The component's instance, made as the registry makes it.
inline const Bfrops& codec() {
    static const Bfrops* const instance = [] {
        void* made = nullptr;
        char reason[256] = "";
        const muster_component_t* component = muster_component_bfrops_v41();
        return component->create(nullptr, &made, reason) == PMIX_SUCCESS ? static_cast<Bfrops*>(made)
                                                                         : nullptr;
    }();
    return *instance;
}

inline std::string to_hex(ByteView bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * bytes.size());
    for (const uint8_t byte : bytes) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

inline std::vector<uint8_t> from_hex(std::string_view hex) {
    std::vector<uint8_t> bytes;
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
    }
    return bytes;
}

}  // namespace muster::test
