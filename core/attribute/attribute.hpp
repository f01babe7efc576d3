// SPDX-License-Identifier: BSD-3-Clause
// The attributes that the Standard and the headers define.
#pragma once

#include <pmix_common.h>

#include <span>

namespace muster {

struct Attribute {
    const char* name;       ///< "PMIX_TIMEOUT"
    const char* key;        ///< "pmix.timeout"
    pmix_data_type_t type;  ///< of its value; PMIX_UNDEF where that depends on the use
};

/// All of them, current names before former ones.
std::span<const Attribute> all_attributes();

/// By name or by key, in any case of letters; null where there is none. Any thread.
const Attribute* find_attribute_by_name(const char* name);
const Attribute* find_attribute_by_key(const char* key);

}  // namespace muster
