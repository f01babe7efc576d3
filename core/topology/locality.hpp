// SPDX-License-Identifier: BSD-3-Clause
// Locality strings: which packages, caches, cores, threads and NUMA nodes a process is bound to, as
// "hwloc:SK0:L30:L20:L10:CR0:HT0-1:NM0" (PMIX_LOCALITY_STRING), and what two processes share.
#pragma once

#include <pmix_common.h>

#include <string>
#include <string_view>

#include "framework/base/result.hpp"

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace muster {

/// The locality of a process bound to `units` on `topology`. Each part is two letters and the logical numbers
/// of the objects of that kind that the units touch, in hwloc's list form. Empty when `units` is null or
/// without bounds: a process that is not bound has no locality.
Result<std::string> locality_string(hwloc_topology* topology, const hwloc_bitmap_s* units);

/// Returns the resources that two processes of one node share, from their locality strings. The leading
/// "hwloc:" is optional, since some launchers omit it. PMIX_ERR_NOT_SUPPORTED for a string of another source,
/// PMIX_ERR_BAD_PARAM for a malformed one.
Result<pmix_locality_t> relative_locality(std::string_view one, std::string_view other);

}  // namespace muster
