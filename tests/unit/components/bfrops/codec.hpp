// SPDX-License-Identifier: BSD-3-Clause
// The component under test, bytes as hex, and reading and writing of one value.
#pragma once

#include <gtest/gtest.h>
#include <pmix/sdk/component.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/element.hpp"
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

inline constexpr auto kPlain = BufferType::NonDescribed;
inline constexpr auto kDescribed = BufferType::FullyDescribed;

template <class T>
std::string packed(const T& value, pmix_data_type_t type, BufferType buffer_type = kPlain) {
    Bytes out;
    const pmix_status_t status = codec().pack(out, buffer_type, &value, 1, type);
    return status == PMIX_SUCCESS ? to_hex(out.view()) : "status " + std::to_string(status);
}

/// Reads one value; only the status matters.
inline pmix_status_t reading(const std::string& hex, pmix_data_type_t type, BufferType buffer_type = kPlain) {
    const std::vector<uint8_t> bytes = from_hex(hex);
    ByteReader in(bytes);
    alignas(16) uint8_t memory[4096];
    int32_t n = 1;
    const pmix_status_t status = codec().unpack(in, buffer_type, memory, &n, type);
    if (status == PMIX_SUCCESS) {
        EXPECT_TRUE(in.at_end());
        if (type != PMIX_REGEX) data_destruct_elements(memory, 1, type);
    } else {
        EXPECT_EQ(in.position(), 0u);
        EXPECT_EQ(n, 0);
    }
    return status;
}

/// Reads the written value and compares it with the original.
template <class T>
void expect_round_trip(const T& value, pmix_data_type_t type) {
    for (const BufferType buffer_type : {kPlain, kDescribed}) {
        Bytes out;
        ASSERT_EQ(codec().pack(out, buffer_type, &value, 1, type), PMIX_SUCCESS);
        ByteReader in(out.view());
        T copy;
        int32_t n = 1;
        ASSERT_EQ(codec().unpack(in, buffer_type, &copy, &n, type), PMIX_SUCCESS);
        EXPECT_TRUE(in.at_end());
        EXPECT_EQ(data_compare_elements(&value, &copy, 1, type), PMIX_EQUAL);
        data_destruct_elements(&copy, 1, type);

        // Truncated at any position, it is refused and nothing leaks.
        for (size_t length = 0; length < out.size(); ++length) {
            ByteReader cut(out.view().first(length));
            n = 1;
            EXPECT_NE(codec().unpack(cut, buffer_type, &copy, &n, type), PMIX_SUCCESS) << length;
            EXPECT_EQ(cut.position(), 0u);
        }
    }
}

inline char* literal(const char* text) {
    return const_cast<char*>(text);
}

}  // namespace muster::test
