// SPDX-License-Identifier: BSD-3-Clause
// Blocks around streams of zlib.

#include "framework/base/compress.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "framework/base/endian.hpp"
#include "framework/base/value.hpp"

namespace muster {
namespace {

constexpr std::size_t kPrefix = sizeof(std::uint32_t);

// deflate cannot do better than about 1032:1, so a larger claim is false.
constexpr std::size_t kBestRatio = 1032;

// With space for one terminator after the data.
std::optional<Bytes> inflate(ByteView input, std::size_t limit, bool terminate) {
    if (input.size() < kPrefix) return std::nullopt;
    const std::size_t length = load_le32(input.data());
    const ByteView stream = input.subspan(kPrefix);
    if (length > limit || length / kBestRatio > stream.size()) return std::nullopt;
    Bytes output;
    output.extend(length + (terminate ? 1 : 0));
    if (terminate) output.data()[length] = 0;
    std::uint8_t nothing = 0;
    const auto read = read_zlib(stream, {length == 0 ? &nothing : output.data(), length});
    if (!read || read->produced != length || read->consumed != stream.size()) return std::nullopt;
    return output;
}

}  // namespace

std::optional<Bytes> zlib_compress(ByteView input, int level) {
    if (input.size() <= kPrefix || input.size() >= UINT32_MAX) return std::nullopt;
    if (level == -1) level = kUsualLevel;
    if (level < kFastestLevel || level > kSmallestLevel) level = kFastestLevel;
    Bytes output;
    output.extend(input.size() - 1);
    const std::size_t produced = write_zlib(input, {output.data() + kPrefix, output.size() - kPrefix}, level);
    if (produced == 0) return std::nullopt;
    store_le32(output.data(), static_cast<std::uint32_t>(input.size()));
    output.resize(kPrefix + produced);
    return output;
}

std::optional<Bytes> zlib_decompress(ByteView input, std::size_t limit) {
    return inflate(input, limit, false);
}

pmix_status_t value_decompress(pmix_value_t* value, std::size_t* room) {
    if (value->type != PMIX_COMPRESSED_STRING && value->type != PMIX_COMPRESSED_BYTE_OBJECT) {
        return PMIX_SUCCESS;
    }
    const bool is_string = value->type == PMIX_COMPRESSED_STRING;
    const pmix_byte_object_t& packed = value->data.bo;
    const ByteView view(reinterpret_cast<const std::uint8_t*>(packed.bytes),
                        packed.bytes == nullptr ? 0 : packed.size);
    try {
        std::optional<Bytes> plain = inflate(view, room == nullptr ? SIZE_MAX : *room, is_string);
        if (!plain) return PMIX_ERR_UNPACK_FAILURE;
        // A string with a NUL inside would silently lose its rest.
        if (is_string && std::memchr(plain->data(), 0, plain->size()) != plain->data() + plain->size() - 1) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        const std::size_t size = plain->size();
        if (room != nullptr) *room -= std::min(size, *room);
        value_destruct(value);
        if (is_string) {
            value->data.string = reinterpret_cast<char*>(plain->release());
            value->type = PMIX_STRING;
        } else {
            value->data.bo = {reinterpret_cast<char*>(plain->release()), size};
            value->type = PMIX_BYTE_OBJECT;
        }
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

}  // namespace muster
