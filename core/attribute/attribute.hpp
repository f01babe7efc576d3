// SPDX-License-Identifier: BSD-3-Clause
// The attributes that the Standard and the headers define.
#pragma once

#include <pmix_common.h>

#include <optional>

namespace muster {

struct Attribute {
    const char* name;       ///< "PMIX_TIMEOUT"
    const char* key;        ///< "pmix.timeout"
    pmix_data_type_t type;  ///< of its value; PMIX_UNDEF if that depends on the use
    uint8_t since;          ///< the first version of the Standard: 21 is 2.1 (attribute_row.hpp)
};

/// By name or by key, in any case of letters. Any thread; the texts stay.
std::optional<Attribute> find_attribute_by_name(const char* name);
std::optional<Attribute> find_attribute_by_key(const char* key);

}  // namespace muster
