// SPDX-License-Identifier: BSD-3-Clause
// The usual look-ups in the store: one key of a process.
#pragma once

#include <optional>

#include "framework/gds.hpp"

namespace muster {

/// Without a key: all that is known. With rank WILDCARD it is the job's.
inline Lookup lookup_of(const char* nspace, pmix_rank_t rank, const char* key = nullptr) {
    Lookup lookup;
    lookup.nspace = nspace;
    lookup.rank = rank;
    lookup.key = key;
    return lookup;
}

inline std::optional<uint32_t> stored_number(const Gds& store, const char* nspace, pmix_rank_t rank,
                                             const char* key) {
    std::optional<uint32_t> number;
    store.find(lookup_of(nspace, rank, key),
               [&](const Found& found) { number = value_as_number<uint32_t>(&found.value); });
    return number;
}

}  // namespace muster
