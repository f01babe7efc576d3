// SPDX-License-Identifier: BSD-3-Clause
// Streams of zlib (RFC 1950), written and read by libdeflate: two to three times as fast as zlib itself, for
// data that is in memory as a whole (docs/decisions/0054).
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>

namespace muster {

/// Levels of compression: the fastest, what libdeflate takes by itself, and the smallest result.
inline constexpr int kFastestLevel = 1, kUsualLevel = 6, kSmallestLevel = 12;

/// Compresses `in` into `out`.
/// @param level  kFastestLevel to kSmallestLevel
/// @return bytes written; 0 if the stream is longer than `out`. Throws std::bad_alloc.
inline size_t write_zlib(std::span<const uint8_t> in, std::span<uint8_t> out, int level) {
    const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
        libdeflate_alloc_compressor(level), libdeflate_free_compressor);
    if (compressor == nullptr) throw std::bad_alloc();
    return libdeflate_zlib_compress(compressor.get(), in.data(), in.size(), out.data(), out.size());
}

/// A stream that was read: its bytes in the input, and the length of its contents.
struct ZlibStream {
    size_t consumed;
    size_t produced;
};

/// Expands the stream at the beginning of `in`, which may be hostile.
/// @return nothing for a broken stream and for one whose contents are longer than `out`.
/// Throws std::bad_alloc.
inline std::optional<ZlibStream> read_zlib(std::span<const uint8_t> in, std::span<uint8_t> out) {
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    if (decompressor == nullptr) throw std::bad_alloc();
    ZlibStream stream{};
    if (libdeflate_zlib_decompress_ex(decompressor.get(), in.data(), in.size(), out.data(), out.size(),
                                      &stream.consumed, &stream.produced) != LIBDEFLATE_SUCCESS)
        return std::nullopt;
    return stream;
}

}  // namespace muster
