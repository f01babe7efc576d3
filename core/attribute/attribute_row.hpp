// SPDX-License-Identifier: BSD-3-Clause
// A row of the lists of attributes: what attribute.cpp makes its tables of.
#pragma once

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <string_view>

namespace muster {

struct AttributeRow {
    std::string_view name;
    std::string_view key;
    pmix_data_type_t type;
};

}  // namespace muster

#define MUSTER_ATTRIBUTE(NAME, TYPE) \
    { #NAME, NAME, TYPE }
