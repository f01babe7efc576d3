// SPDX-License-Identifier: BSD-3-Clause
// pmix_regex2_t: lists with the name of their encoding. Two encodings exist, which OpenPMIx reads and writes
// too: "raw", the list with its terminator, and "compress", the list as framework/base/compress.hpp writes
// it, or as zstd does (OpenPMIx 7.0).
#pragma once

#include <pmix_common.h>

#include <optional>
#include <string>
#include <string_view>

#include "framework/base/bytes.hpp"
#include "framework/base/result.hpp"

namespace muster {

/// The list as it is, which every OpenPMIx reads. The members of the result belong to the caller. Throws
/// std::bad_alloc.
Result<pmix_regex2_t> generate_regex2(std::string_view list);

/// The list in a form that the preg components read. The errors are those of parse_regex2().
Result<std::string> regex2_as_map(const pmix_regex2_t& regex);

/// Returns the contents of a compressed block, limited in size.
using Decompress = std::optional<Bytes> (*)(ByteView block, size_t limit);

/// The list as it was given to generate_regex2(). PMIX_ERR_NOT_SUPPORTED for another encoding,
/// PMIX_ERR_BAD_PARAM for bytes that are not of the encoding. Throws std::bad_alloc.
Result<std::string> parse_regex2(const pmix_regex2_t& regex, Decompress decompress);

}  // namespace muster
