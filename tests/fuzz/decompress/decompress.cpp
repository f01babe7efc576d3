// SPDX-License-Identifier: BSD-3-Clause
// Compressed blocks and compressed values as a peer may send them. An accepted block has exactly the
// announced length; an accepted string has no NUL inside.

#include <cstdlib>
#include <cstring>
#include <string>

#include "framework/base/compress.hpp"
#include "framework/base/value.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr size_t kLimit = size_t{64} << 20;
    const std::optional<muster::Bytes> plain = muster::zlib_decompress({data, size}, kLimit);
    uint32_t announced = 0;
    if (size >= sizeof announced) std::memcpy(&announced, data, sizeof announced);
    if (plain && plain->size() != announced) abort();

    if (announced > kLimit) return 0;
    for (const pmix_data_type_t type : {PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_BYTE_OBJECT}) {
        std::string bytes(reinterpret_cast<const char*>(data), size);
        const pmix_byte_object_t object = {bytes.data(), bytes.size()};
        muster::Value value = muster::Value::of(type, &object);
        const pmix_status_t status = muster::value_decompress(value.get());
        if (status != PMIX_SUCCESS) {
            if (value.type() != type) abort();
        } else if (type == PMIX_COMPRESSED_STRING) {
            if (!plain || std::strlen(muster::value_as_string(value.get())) != announced) abort();
        } else if (!plain || value->data.bo.size != announced) {
            abort();
        }
    }
    return 0;
}
