// SPDX-License-Identifier: BSD-3-Clause
// A key among several.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "framework/base/proc.hpp"

namespace muster {

/// Whether the key is one of these.
inline bool key_is_any(const char* key, std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* one) { return key_is(key, one); });
}

}  // namespace muster
