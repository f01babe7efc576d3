// SPDX-License-Identifier: BSD-3-Clause
// Items of every type in both kinds of buffer. Every readable item must be writable, and must read as the
// same. The first byte of the input is the type, the lowest bit of the second the kind of buffer, the rest
// items.

#include <cstdlib>
#include <cstring>
#include <string>

#include "framework/base/element.hpp"
#include "tests/fuzz/codec.hpp"
#include "tests/unit/components/bfrops/next_type.hpp"

namespace {

using namespace muster;

/// Whether the input stands where it stood after a failure.
void require_unmoved(const ByteReader& in, size_t position) {
    require(in.position() == position);
}

/// Reads the next item as pairs and gives it written again; false where it is none.
bool rewrite_pair(ByteReader& in, BufferType kind, Bytes& out) {
    std::string_view key;
    KeyValue pair;
    if (codec().unpack_kval(in, kind, &key, &pair.value) != PMIX_SUCCESS) return false;
    std::string copy(key);
    pair.key = copy.data();
    require(codec().pack(out, kind, &pair, 1, PMIX_KVAL) == PMIX_SUCCESS);
    data_destruct_elements(&pair.value, 1, PMIX_VALUE);
    return true;
}

bool rewrite_buffer(ByteReader& in, BufferType kind, Bytes& out) {
    PackedBuffer buffer;
    ByteView view;
    if (codec().unpack_buffer(in, kind, &buffer.type, &view) != PMIX_SUCCESS) return false;
    buffer.content = {const_cast<char*>(reinterpret_cast<const char*>(view.data())), view.size()};
    require(codec().pack(out, kind, &buffer, 1, PMIX_BUFFER) == PMIX_SUCCESS);
    return true;
}

bool rewrite_regexes(ByteReader& in, BufferType kind, Bytes& out) {
    char* regexes[4];
    int32_t n = 4;
    const pmix_status_t status = codec().unpack(in, kind, regexes, &n, PMIX_REGEX);
    if (status == PMIX_SUCCESS) {
        require(codec().pack(out, kind, regexes, n, PMIX_REGEX) == PMIX_SUCCESS);
    }
    for (int32_t i = 0; i < n; ++i) {
        std::free(regexes[i]);
    }
    return status == PMIX_SUCCESS;
}

/// With too little room the first values are read and nothing else changes.
void read_with_little_room(ByteReader& in, BufferType kind, pmix_data_type_t type) {
    alignas(16) uint8_t room[2 * sizeof(pmix_pdata_t)];
    const ByteReader before = in;
    int32_t n = 1;
    const pmix_status_t status = codec().unpack(in, kind, room, &n, type);
    require(n == 0 || n == 1);
    if (status == PMIX_SUCCESS || status == PMIX_ERR_UNPACK_INADEQUATE_SPACE) {
        data_destruct_elements(room, static_cast<size_t>(n), type);
    } else {
        require(n == 0);
    }
    if (status == PMIX_SUCCESS) {
        in = before;
    } else {
        require_unmoved(in, before.position());
    }
}

bool rewrite(ByteReader& in, BufferType kind, pmix_data_type_t type, Bytes& out) {
    switch (type) {
        case PMIX_KVAL:
            return rewrite_pair(in, kind, out);
        case PMIX_BUFFER:
            return rewrite_buffer(in, kind, out);
        case PMIX_REGEX:
            return rewrite_regexes(in, kind, out);
        default:
            break;
    }
    if (data_type_size(type) != 0) read_with_little_room(in, kind, type);
    void* values = nullptr;
    int32_t n = 0;
    if (codec().unpack_array(in, kind, &values, &n, type) != PMIX_SUCCESS) {
        require(values == nullptr && n == 0);
        return false;
    }
    static const char kNothing = 0;
    require(codec().pack(out, kind, values == nullptr ? &kNothing : values, n, type) == PMIX_SUCCESS);
    data_free_elements(values, static_cast<size_t>(n), type);
    return true;
}

/// Reads all items of an input and writes them again; `memory`: what they took beyond their bytes.
bool rewrite_all(ByteView input, BufferType kind, pmix_data_type_t type, Bytes& out, size_t& memory) {
    ByteReader in(input);
    while (!in.at_end()) {
        const size_t position = in.position();
        if (!rewrite(in, kind, kind == BufferType::FullyDescribed ? test::type_of_next(codec(), in) : type,
                     out)) {
            require_unmoved(in, position);
            return false;
        }
    }
    memory = in.memory_taken();
    return true;
}

/// The memory that a message of that length may take, at least.
size_t allowance(size_t length) {
    return (size_t{256} << 10) + 128 * length;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    const pmix_data_type_t type = data[0];
    const BufferType kind = (data[1] & 1) != 0 ? BufferType::FullyDescribed : BufferType::NonDescribed;
    const ByteView input(data + 2, size - 2);

    Bytes first;
    size_t memory = 0;
    if (!rewrite_all(input, kind, type, first, memory)) return 0;
    // Written by us it may be shorter, and so be worth less memory.
    if (memory > allowance(first.size())) return 0;
    Bytes second;
    require(rewrite_all(first.view(), kind, type, second, memory));
    require(first.size() == second.size());
    require(first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0);
    return 0;
}
