// SPDX-License-Identifier: BSD-3-Clause
// A key among several.
#pragma once

#include <pmix/muster.h>

#include <algorithm>
#include <initializer_list>

#include "framework/base/proc.hpp"

namespace muster {

/// Whether the key is one of these.
inline bool key_is_any(const char* key, std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* one) { return key_is(key, one); });
}

/// Whether libraries exchange data by this key that no event handler may see.
inline bool is_internal_key(const char* key) {
    return key_is_any(key, {MUSTER_GROUP_CONSTRUCT, MUSTER_GROUP_ROUND, MUSTER_GROUP_VOTE});
}

}  // namespace muster
