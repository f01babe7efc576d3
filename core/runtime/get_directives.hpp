// SPDX-License-Identifier: BSD-3-Clause
// The directives of PMIx_Get, read once into the form for the store and the roles (Standard: PMIx_Get).
#pragma once

#include <chrono>
#include <optional>

#include "framework/gds.hpp"

namespace muster {

struct GetDirectives {
    bool optional = false;                             ///< look here only
    bool immediate = false;                            ///< ask no further than our server
    bool refresh = false;                              ///< our copy may be stale: fetch it again
    bool pointer = false;                              ///< give a pointer to the stored value
    bool static_value = false;                         ///< fill the caller's storage
    std::optional<std::chrono::milliseconds> timeout;  ///< nothing: wait as long as it takes

    /// The value goes into the storage that the caller lends.
    bool fills_storage() const { return static_value && !pointer; }
};

/// Fills realm, identifiers, scope and qualifiers of `lookup` from `info`, which must outlive it. Returns
/// PMIX_ERR_BAD_PARAM for a directive whose value has the wrong type.
pmix_status_t read_get_directives(InfoView info, Lookup& lookup, GetDirectives& directives);

/// PMIX_TIMEOUT in any integer type, in seconds; zero and absence mean none.
std::optional<std::chrono::milliseconds> read_timeout(InfoView info);

}  // namespace muster
