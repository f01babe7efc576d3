// SPDX-License-Identifier: BSD-3-Clause
// The common form of a block of all pcompress components: the length of the contents (four bytes, least
// significant first), then the output of the compression library.
#pragma once

#include <pmix/sdk/component.hpp>
#include <span>
#include <string>

#include "framework/base/endian.hpp"

namespace muster {

inline constexpr size_t kBlockLengthSize = 4;

/// No zlib stream expands to more than this many times its size.
inline constexpr size_t kZlibMaxRatio = 1040;
/// The same of zstd: four bytes say that 128 KiB of contents are one repeated byte, and nothing is shorter.
inline constexpr size_t kZstdMaxRatio = 32768;

/// A block as it was received.
struct CompressedBlock {
    size_t length;  ///< of the contents, as the block claims
    std::span<const uint8_t> stream;
};

/// The failure of a block that is not one of `library`'s ("zlib").
inline sdk::Failure broken_block(const char* library) {
    return {PMIX_ERR_UNPACK_FAILURE,
            std::string("a compressed block is broken or is not one of ") + library + "'s"};
}

/// Splits a hostile block, before memory is asked for.
/// @param limit     bytes that the contents may have
/// @param most      how many times its size a stream of the library can expand to
/// @return its parts. Throws sdk::Failure: PMIX_ERR_OUT_OF_RESOURCE beyond the limit, else
/// PMIX_ERR_UNPACK_FAILURE.
inline CompressedBlock open_block(std::span<const uint8_t> in, size_t limit, size_t most,
                                  const char* library) {
    if (in.size() < kBlockLengthSize) throw broken_block(library);
    const size_t length = load_le32(in.data());
    if (length > limit) {
        throw sdk::Failure(PMIX_ERR_OUT_OF_RESOURCE, "a compressed block holds " + std::to_string(length) +
                                                         " bytes, at most " + std::to_string(limit) +
                                                         " are accepted");
    }
    const std::span<const uint8_t> stream = in.subspan(kBlockLengthSize);
    if (length / most > stream.size()) throw broken_block(library);
    return {length, stream};
}

}  // namespace muster
