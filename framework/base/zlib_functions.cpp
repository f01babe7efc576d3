// SPDX-License-Identifier: BSD-3-Clause
// The functions of zlib that compress.cpp uses: they open it at the first call (late_library.hpp).
#include <zlib.h>

#include "framework/base/late_library.hpp"

namespace {
constinit muster::LateLibrary zlib(MUSTER_ZLIB_NAME);
}  // namespace

MUSTER_LATE_FUNCTION(zlib, uLong, compressBound, (uLong size), (size), size + 64)
MUSTER_LATE_FUNCTION(zlib, int, compress2,
                     (Bytef * packed, uLongf* packed_size, const Bytef* plain, uLong plain_size, int level),
                     (packed, packed_size, plain, plain_size, level), Z_VERSION_ERROR)
MUSTER_LATE_FUNCTION(zlib, int, uncompress2,
                     (Bytef * plain, uLongf* plain_size, const Bytef* packed, uLong* packed_size),
                     (plain, plain_size, packed, packed_size), Z_VERSION_ERROR)
