// SPDX-License-Identifier: BSD-3-Clause
// Sets of processing units: the text form "hwloc:0-3,8" of PMIX_CPUSET, and where this process is bound.
#pragma once

#include <pmix_common.h>

#include <memory>
#include <string>
#include <string_view>

#include "framework/base/result.hpp"

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace muster {

struct BitmapDeleter {
    void operator()(hwloc_bitmap_s* bitmap) const;
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

/// Reads hwloc's list form: "0-3,8", "4-" (all from 4 on), or nothing. Numbers are bounded (kMaxUnit), so
/// that a text cannot make us allocate at will.
Result<Bitmap> parse_unit_list(std::string_view text);
constexpr unsigned kMaxUnit = 1U << 20;

/// "hwloc:" and the list form. The set must be hwloc's: PMIX_ERR_NOT_SUPPORTED for another maker's,
/// PMIX_ERR_BAD_PARAM when it has no bitmap or names no maker.
Result<std::string> cpuset_string(const pmix_cpuset_t& cpuset);

/// The reverse. A text of another maker is PMIX_ERR_NOT_SUPPORTED, a malformed one PMIX_ERR_BAD_PARAM.
Result<Bitmap> parse_cpuset_string(std::string_view text);

/// Returns the binding of this process (all of its threads), or of the calling thread. PMIX_ERR_BAD_PARAM for
/// an unknown envelope, PMIX_ERR_NOT_FOUND if the system does not report it.
Result<Bitmap> current_binding(hwloc_topology* topology, pmix_bind_envelope_t envelope);

}  // namespace muster
