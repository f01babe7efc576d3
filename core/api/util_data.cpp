// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Data_array_*, PMIx_Data_buffer_*, PMIx_Data_load, _unload, _embed, _copy, _print, _compress and
// _decompress. Packing and unpacking, which need an encoding, are elsewhere.

#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "core/api/guard.hpp"
#include "core/api/instance.hpp"
#include "core/runtime/api_components.hpp"
#include "framework/base/bytes.hpp"
#include "framework/base/compress.hpp"
#include "framework/base/print.hpp"
#include "framework/base/value.hpp"
#include "framework/base/words.hpp"

using namespace muster;

// ---- arrays -------------------------------------------------------------------------------------------

void PMIx_Data_array_init(pmix_data_array_t* p, pmix_data_type_t type) {
    if (p != nullptr) *p = {type, 0, nullptr};
}

void PMIx_Data_array_construct(pmix_data_array_t* p, size_t num, pmix_data_type_t type) {
    if (p == nullptr) return;
    void* array = data_create_elements(num, type);
    *p = {type, array == nullptr ? 0 : num, array};
}

void PMIx_Data_array_destruct(pmix_data_array_t* d) {
    if (d != nullptr) data_destruct_elements(d, 1, PMIX_DATA_ARRAY);
}

pmix_data_array_t* PMIx_Data_array_create(size_t n, pmix_data_type_t type) {
    if (n == 0) return nullptr;
    auto* array = static_cast<pmix_data_array_t*>(malloc(sizeof(pmix_data_array_t)));
    if (array != nullptr) PMIx_Data_array_construct(array, n, type);
    return array;
}

void PMIx_Data_array_free(pmix_data_array_t* p) {
    data_free_elements(p, 1, PMIX_DATA_ARRAY);
}

// ---- buffers ------------------------------------------------------------------------------------------

void PMIx_Data_buffer_construct(pmix_data_buffer_t* b) {
    if (b != nullptr) *b = {};
}

void PMIx_Data_buffer_destruct(pmix_data_buffer_t* b) {
    if (b != nullptr) data_destruct_elements(b, 1, PMIX_DATA_BUFFER);
}

pmix_data_buffer_t* PMIx_Data_buffer_create(void) {
    return static_cast<pmix_data_buffer_t*>(data_create_elements(1, PMIX_DATA_BUFFER));
}

void PMIx_Data_buffer_release(pmix_data_buffer_t* b) {
    data_free_elements(b, 1, PMIX_DATA_BUFFER);
}

void PMIx_Data_buffer_load(pmix_data_buffer_t* b, char* bytes, size_t sz) {
    pmix_byte_object_t payload = {bytes, sz};
    PMIx_Data_load(b, &payload);
}

void PMIx_Data_buffer_unload(pmix_data_buffer_t* b, char** bytes, size_t* sz) {
    if (bytes == nullptr || sz == nullptr) return;
    pmix_byte_object_t payload = {};
    PMIx_Data_unload(b, &payload);
    *bytes = payload.bytes;
    *sz = payload.size;
}

pmix_status_t PMIx_Data_load(pmix_data_buffer_t* buffer, pmix_byte_object_t* payload) {
    if (buffer == nullptr) return PMIX_ERR_BAD_PARAM;
    PMIx_Data_buffer_destruct(buffer);
    if (payload == nullptr || payload->bytes == nullptr) return PMIX_SUCCESS;
    buffer->base_ptr = payload->bytes;
    buffer->unpack_ptr = payload->bytes;
    buffer->pack_ptr = payload->bytes + payload->size;
    buffer->bytes_allocated = payload->size;
    buffer->bytes_used = payload->size;
    *payload = {};
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_embed(pmix_data_buffer_t* buffer, const pmix_byte_object_t* payload) {
    if (buffer == nullptr) return PMIX_ERR_BAD_PARAM;
    pmix_byte_object_t copy = {};
    if (payload != nullptr) {
        const pmix_status_t status = data_copy_elements(&copy, payload, 1, PMIX_BYTE_OBJECT);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIx_Data_load(buffer, &copy);
}

pmix_status_t PMIx_Data_unload(pmix_data_buffer_t* buffer, pmix_byte_object_t* payload) {
    if (buffer == nullptr || payload == nullptr) return PMIX_ERR_BAD_PARAM;
    *payload = {};
    if (buffer->base_ptr == nullptr || buffer->bytes_used == 0) return PMIX_SUCCESS;
    const auto consumed = static_cast<size_t>(buffer->unpack_ptr - buffer->base_ptr);
    if (consumed > buffer->bytes_used) return PMIX_ERR_BAD_PARAM;
    if (consumed == buffer->bytes_used) {
        PMIx_Data_buffer_destruct(buffer);
        return PMIX_SUCCESS;
    }
    // The caller frees the block, so the bytes must be at its beginning.
    payload->bytes = buffer->base_ptr;
    payload->size = buffer->bytes_used - consumed;
    if (consumed > 0) std::memmove(payload->bytes, payload->bytes + consumed, payload->size);
    *buffer = {};
    return PMIX_SUCCESS;
}

// ---- copy and print -----------------------------------------------------------------------------------

pmix_status_t PMIx_Data_copy(void** dest, void* src, pmix_data_type_t type) {
    if (dest != nullptr) *dest = nullptr;
    if (dest == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    const size_t size = type == PMIX_STRING  ? strlen(static_cast<const char*>(src)) + 1
                        : type == PMIX_REGEX ? regex_length(static_cast<const char*>(src))
                                             : data_type_size(type);
    if (size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    void* copy = malloc(size);
    if (copy == nullptr) return PMIX_ERR_OUT_OF_RESOURCE;
    if (type == PMIX_STRING || type == PMIX_REGEX) {
        std::memcpy(copy, src, size);
    } else {
        const pmix_status_t status = data_copy_elements(copy, src, 1, type);
        if (status != PMIX_SUCCESS) {
            free(copy);
            return status == PMIX_ERR_NOMEM ? PMIX_ERR_OUT_OF_RESOURCE : status;
        }
    }
    *dest = copy;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_print(char** output, char* prefix, void* src, pmix_data_type_t type) {
    if (output != nullptr) *output = nullptr;
    if (output == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        std::string text;
        const pmix_status_t status = print_element(text, prefix == nullptr ? " " : prefix, src, type);
        if (status != PMIX_SUCCESS) return status;
        char* copy = strdup(text.c_str());
        if (copy == nullptr) return PMIX_ERR_NOMEM;
        *output = copy;
        return PMIX_SUCCESS;
    });
}

// ---- compression --------------------------------------------------------------------------------------

namespace {

bool give(std::optional<Bytes> bytes, uint8_t** outbytes, size_t* nbytes) {
    if (!bytes) return false;
    *nbytes = bytes->size();
    *outbytes = bytes->release();
    return true;
}

/// According to the parameter of pcompress/zlib, if there are parameters.
int compression_level() {
    const Use use;
    const auto text = use ? use->runtime().parameters().raw("pcompress_zlib_level") : std::nullopt;
    return text ? muster::number_of<int>(*text).value_or(kFastestLevel) : kFastestLevel;
}

bool has_arguments(const uint8_t* inbytes, uint8_t** outbytes, size_t* nbytes) {
    if (outbytes == nullptr || nbytes == nullptr) return false;
    *outbytes = nullptr;
    *nbytes = 0;
    return inbytes != nullptr;
}

}  // namespace

bool PMIx_Data_compress(const uint8_t* inbytes, size_t size, uint8_t** outbytes, size_t* nbytes) {
    if (!has_arguments(inbytes, outbytes, nbytes)) return false;
    return guard(
        [&] {
            return give(zlib_compress({inbytes, size}, compression_level()), outbytes, nbytes);
        },
        false);
}

bool PMIx_Data_decompress(const uint8_t* inbytes, size_t size, uint8_t** outbytes, size_t* nbytes) {
    if (!has_arguments(inbytes, outbytes, nbytes)) return false;
    return guard(
        [&] {
            return give(decompress_block(pcompress_for_api, {inbytes, size}, SIZE_MAX), outbytes, nbytes);
        },
        false);
}
