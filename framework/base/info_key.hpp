// SPDX-License-Identifier: BSD-3-Clause
// The key of an entry against a literal, without a call: for arrays of many thousands of entries.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <cstring>

namespace muster {

/// Whether the entry has that key. Reads no more of its key than the literal is long.
template <std::size_t N>
bool info_is(const pmix_info_t& info, const char (&key)[N]) {
    static_assert(N <= sizeof info.key);
    return std::memcmp(info.key, key, N) == 0;
}

}  // namespace muster
