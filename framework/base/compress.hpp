// SPDX-License-Identifier: BSD-3-Clause
// The wire format of compressed data (docs/reference/wire.md 5.5): the uncompressed length as four bytes,
// least significant first, then a zlib stream.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <optional>

#include "framework/base/bytes.hpp"
#include "framework/base/zlib_stream.hpp"

namespace muster {

/// `level`: of write_zlib, or -1 for kUsualLevel; others are the fastest. Nothing if the result would not
/// be smaller, or the input is 4 GiB or more. Throws std::bad_alloc.
std::optional<Bytes> zlib_compress(ByteView input, int level = kFastestLevel);

/// The exact inverse. Nothing for bytes that are no such block, that do not give exactly the length they
/// announce, or that announce more than `limit`. A length that no zlib stream of that size could give is
/// refused before memory is asked for. Throws std::bad_alloc.
std::optional<Bytes> zlib_decompress(ByteView input, std::size_t limit = SIZE_MAX);

/// Turns a PMIX_COMPRESSED_STRING into PMIX_STRING and a PMIX_COMPRESSED_BYTE_OBJECT into PMIX_BYTE_OBJECT,
/// in place; other types are unchanged. Values from peers that compress must be converted before any use.
/// `room`: the permitted number of bytes, reduced by those used. Null: any.
/// @return PMIX_SUCCESS, PMIX_ERR_UNPACK_FAILURE for malformed bytes or too little room (the value is
/// unchanged), PMIX_ERR_NOMEM.
pmix_status_t value_decompress(pmix_value_t* value, std::size_t* room = nullptr);

}  // namespace muster
