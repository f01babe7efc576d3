// SPDX-License-Identifier: BSD-3-Clause
// A row of the lists of attributes, from which attribute.cpp builds its tables.
#pragma once

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <cstdint>
#include <string_view>

namespace muster {

/// In place of a version of the Standard: its unreleased main branch, or the library that alone has the
/// attribute.
constexpr uint8_t kOpenPmix = 0;
constexpr uint8_t kMuster = 254;
constexpr uint8_t kMaster = 255;

struct AttributeRow {
    std::string_view name;
    std::string_view key;
    pmix_data_type_t type;
    uint8_t since;  ///< the first version of the Standard: 21 is 2.1
};

}  // namespace muster

#define MUSTER_ATTRIBUTE(NAME, TYPE, SINCE) \
    { #NAME, NAME, TYPE, SINCE }
