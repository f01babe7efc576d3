// SPDX-License-Identifier: BSD-3-Clause
// Lends the block of a pmix_data_buffer_t to the types that can pack and unpack.

#include "core/runtime/data_buffer.hpp"

#include <algorithm>

namespace muster {
namespace {

/// The number of unpacked bytes; nothing if the pointers of the buffer are inconsistent.
std::optional<size_t> consumed(const pmix_data_buffer_t& buffer) {
    if (buffer.base_ptr == nullptr) {
        if (buffer.bytes_used != 0) return std::nullopt;
        return 0;
    }
    if (buffer.unpack_ptr == nullptr) return 0;
    if (buffer.unpack_ptr < buffer.base_ptr || buffer.unpack_ptr > buffer.base_ptr + buffer.bytes_used) {
        return std::nullopt;
    }
    return static_cast<size_t>(buffer.unpack_ptr - buffer.base_ptr);
}

/// Returns the bytes that are not unpacked yet.
ByteView rest(const pmix_data_buffer_t& buffer, size_t from) {
    if (buffer.base_ptr == nullptr) return {};
    return ByteView(reinterpret_cast<const uint8_t*>(buffer.base_ptr), buffer.bytes_used).subspan(from);
}

Bytes take_block(pmix_data_buffer_t& buffer) {
    // A buffer that was filled by hand may have an allocated size of 0.
    return Bytes::adopt(buffer.base_ptr, buffer.bytes_used,
                        std::max(buffer.bytes_allocated, buffer.bytes_used));
}

void give_block(pmix_data_buffer_t& buffer, Bytes&& bytes, size_t unpacked) {
    buffer.bytes_used = bytes.size();
    buffer.bytes_allocated = bytes.capacity();
    buffer.base_ptr = reinterpret_cast<char*>(bytes.release());
    buffer.pack_ptr = buffer.base_ptr == nullptr ? nullptr : buffer.base_ptr + buffer.bytes_used;
    buffer.unpack_ptr = buffer.base_ptr == nullptr ? nullptr : buffer.base_ptr + unpacked;
}

/// The Standard's status for it in this chapter.
pmix_status_t out_of_resource(pmix_status_t status) {
    return status == PMIX_ERR_NOMEM ? PMIX_ERR_OUT_OF_RESOURCE : status;
}

}  // namespace

pmix_status_t data_pack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                        const void* src, int32_t n, pmix_data_type_t type) {
    if (buffer == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    const std::optional<size_t> unpacked = consumed(*buffer);
    if (!unpacked) return PMIX_ERR_BAD_PARAM;
    Bytes bytes = take_block(*buffer);
    const pmix_status_t status = bfrops.pack(bytes, buffer_type, src, n, type);
    give_block(*buffer, std::move(bytes), *unpacked);
    return out_of_resource(status);
}

pmix_status_t data_unpack(const Bfrops& bfrops, BufferType buffer_type, pmix_data_buffer_t* buffer,
                          void* dest, int32_t* max, pmix_data_type_t type) {
    if (buffer == nullptr || dest == nullptr || max == nullptr) return PMIX_ERR_BAD_PARAM;
    const std::optional<size_t> unpacked = consumed(*buffer);
    if (!unpacked) return PMIX_ERR_BAD_PARAM;
    ByteReader in(rest(*buffer, *unpacked));
    const pmix_status_t status = bfrops.unpack_trusted(in, buffer_type, dest, max, type);
    if (buffer->base_ptr != nullptr) buffer->unpack_ptr = buffer->base_ptr + *unpacked + in.position();
    return out_of_resource(status);
}

pmix_status_t data_copy_payload(pmix_data_buffer_t* dest, const pmix_data_buffer_t* src) {
    if (dest == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    const std::optional<size_t> unpacked_of_src = consumed(*src);
    const std::optional<size_t> unpacked = consumed(*dest);
    if (!unpacked_of_src || !unpacked) return PMIX_ERR_BAD_PARAM;
    const size_t count = rest(*src, *unpacked_of_src).size();
    if (count == 0) return PMIX_SUCCESS;
    Bytes bytes = take_block(*dest);
    pmix_status_t status = PMIX_SUCCESS;
    try {
        uint8_t* at = bytes.extend(count);
        // If both buffers are the same, the block may have moved, with its content.
        const char* from = dest == src ? reinterpret_cast<const char*>(bytes.data()) : src->base_ptr;
        std::memcpy(at, from + *unpacked_of_src, count);
    } catch (const std::bad_alloc&) {
        status = PMIX_ERR_OUT_OF_RESOURCE;
    }
    give_block(*dest, std::move(bytes), *unpacked);
    return status;
}

}  // namespace muster
