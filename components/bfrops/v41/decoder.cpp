// SPDX-License-Identifier: BSD-3-Clause
// The longer members of the Decoder.

#include "components/bfrops/v41/decoder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "framework/base/decimal.hpp"
#include "framework/base/words.hpp"

namespace muster::v41 {
namespace {

/// Length up to and including the first NUL, 0 if there is none.
size_t terminated_length(ByteView bytes) {
    if (bytes.empty()) return 0;
    const auto* nul = static_cast<const uint8_t*>(std::memchr(bytes.data(), 0, bytes.size()));
    return nul == nullptr ? 0 : static_cast<size_t>(nul - bytes.data()) + 1;
}

}  // namespace

size_t min_wire_size(pmix_data_type_t type) {
    switch (type) {
        // A run of these is one byte, however many there are.
        case PMIX_POINTER:
            return 0;
        case PMIX_KVAL:
        case PMIX_BUFFER:
        case PMIX_PROC:
        case PMIX_QUERY:
        case PMIX_COORD:
        case PMIX_TIMEVAL:
        case PMIX_RESOURCE_UNIT:
        case PMIX_REGEX2:
            return 2;
        case PMIX_INFO:
        case PMIX_ENVAR:
        case PMIX_DEVICE:
        case PMIX_ENDPOINT:
            return 3;
        case PMIX_PDATA:
        case PMIX_REGATTR:
        case PMIX_GEOMETRY:
        case PMIX_NODE_PID:
            return 4;
        case PMIX_DEVICE_DIST:
            return 5;
        case PMIX_APP:
            return 6;
        case PMIX_PROC_INFO:
        case PMIX_NET_STATS:
            return 7;
        case PMIX_DISK_STATS:
            return 12;
        case PMIX_NODE_STATS:
            return 16;
        case PMIX_PROC_STATS:
            return 18;
        default:
            return 1;
    }
}

inline bool Decoder::take(size_t count, ByteView& view) {
    if (count > remaining()) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    view = {at_, count};
    at_ += count;
    return true;
}

bool Decoder::plausible(size_t count, size_t min_size) {
    if (min_size != 0 && count > remaining() / min_size) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    return true;
}

bool Decoder::charge(size_t bytes) {
    if (bytes > credit_) return fail(PMIX_ERR_UNPACK_FAILURE);
    credit_ -= bytes;
    return true;
}

bool Decoder::allocate(size_t count, pmix_data_type_t type, void** block) {
    *block = nullptr;
    const size_t size = data_type_size(type);
    if (size == 0) return fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
    if (count == 0) return true;
    if (!plausible(count, min_wire_size(type))) return false;
    if (count > credit_ / size || !charge(count * size)) return fail(PMIX_ERR_UNPACK_FAILURE);
    *block = std::calloc(count, size);
    return *block != nullptr || fail(PMIX_ERR_NOMEM);
}

inline bool Decoder::duplicate(ByteView view, char*& copy) {
    auto* block = static_cast<char*>(std::malloc(view.size()));
    if (block == nullptr) return fail(PMIX_ERR_NOMEM);
    std::memcpy(block, view.data(), view.size());
    copy = block;
    return true;
}

bool Decoder::raw(void* elements, size_t n) {
    ByteView view;
    if (!take(n, view)) return false;
    if (n > 0) std::memcpy(elements, view.data(), n);
    return true;
}

bool Decoder::booleans(void* elements, size_t n) {
    ByteView view;
    if (!take(n, view)) return false;
    bool* values = static_cast<bool*>(elements);
    for (size_t i = 0; i < n; ++i) {
        values[i] = view[i] != 0;
    }
    return true;
}

bool Decoder::pids(void* elements, size_t n) {
    pmix_data_type_t tag = PMIX_UNDEF;
    if (!number(tag)) return false;
    if (tag != PMIX_UINT32) return fail(PMIX_ERR_UNPACK_FAILURE);
    return numbers<uint32_t>(elements, n);
}

bool Decoder::pointers(void*, size_t) {
    uint8_t sentinel = 0;
    return number(sentinel);
}

inline bool Decoder::terminated(ByteView& view) {
    int32_t length = 0;
    if (!number(length)) return false;
    if (length < 0) return fail(PMIX_ERR_UNPACK_FAILURE);
    if (!take(static_cast<size_t>(length), view)) return false;
    return terminated_length(view) == view.size() || fail(PMIX_ERR_UNPACK_FAILURE);
}

bool Decoder::text_view(ByteView& view) {
    if (!terminated(view)) return false;
    view = view.empty() ? ByteView() : view.first(view.size() - 1);
    return true;
}

bool Decoder::bytes_view(ByteView& view) {
    size_t size = 0;
    return number(size) && take(size, view);
}

bool Decoder::text(char*& value) {
    ByteView view;
    return terminated(view) && (view.empty() || duplicate(view, value));
}

bool Decoder::name(char* value, size_t max_length) {
    ByteView view;
    if (!text_view(view)) return false;
    if (view.size() > max_length) return fail(PMIX_ERR_UNPACK_FAILURE);
    if (!view.empty()) std::memcpy(value, view.data(), view.size());
    return true;
}

bool Decoder::strings(void* elements, size_t n) {
    auto* values = static_cast<char**>(elements);
    for (size_t i = 0; i < n; ++i) {
        if (!text(values[i])) return false;
    }
    return true;
}

bool Decoder::texts(char**& values) {
    int32_t count = 0;
    if (!number(count)) return false;
    if (count == 0) return true;
    if (count < 0) return fail(PMIX_ERR_UNPACK_FAILURE);
    // Each has a length byte and a terminator: a null one would end the array before its time.
    if (!plausible(static_cast<size_t>(count), 2)) return false;
    values = static_cast<char**>(std::calloc(static_cast<size_t>(count) + 1, sizeof(char*)));
    if (values == nullptr) return fail(PMIX_ERR_NOMEM);
    for (int32_t i = 0; i < count; ++i) {
        if (!text(values[i])) return false;
        if (values[i] == nullptr) return fail(PMIX_ERR_UNPACK_FAILURE);
    }
    return true;
}

template <class Real>
bool Decoder::real(Real& value) {
    char text[352];
    ByteView view;
    if (!text_view(view)) return false;
    if (view.size() > sizeof text) return fail(PMIX_ERR_UNPACK_FAILURE);
    if (view.empty()) return true;
    // A peer with such a locale writes a comma.
    std::replace_copy(view.begin(), view.end(), text, ',', '.');
    const std::optional<Real> read = read_decimal<Real>({text, view.size()});
    if (!read) return fail(PMIX_ERR_UNPACK_FAILURE);
    value = *read;
    return true;
}
template bool Decoder::real(float&);
template bool Decoder::real(double&);

bool Decoder::bytes(char*& data, size_t& size) {
    ByteView view;
    if (!bytes_view(view)) return false;
    if (view.empty()) return true;
    if (!duplicate(view, data)) return false;
    size = view.size();
    return true;
}

bool Decoder::array(void* member, void* count, pmix_data_type_t type) {
    size_t n = 0;
    void* block = nullptr;
    if (!number(n) || !allocate(n, type, &block)) return false;
    store(member, block);
    store(count, n);
    return run(*this, block, n, type);
}

bool Decoder::buffer_type(BufferType& type) {
    uint8_t byte = 0;
    if (!number(byte)) return false;
    type = static_cast<BufferType>(byte);
    return type == BufferType::NonDescribed || type == BufferType::FullyDescribed ||
           fail(PMIX_ERR_UNPACK_FAILURE);
}

bool Decoder::data_buffer(pmix_data_buffer_t& value) {
    ByteView view;
    if (!bytes_view(view)) return false;
    if (view.empty()) return true;
    if (!duplicate(view, value.base_ptr)) return false;
    value.bytes_allocated = value.bytes_used = view.size();
    value.pack_ptr = value.base_ptr + view.size();
    value.unpack_ptr = value.base_ptr;
    return true;
}

bool Decoder::regex_view(ByteView& view) {
    // Plain forms end at their terminator. The compressed one is "blob:", "component=NAME:", "size=N:" with a
    // terminator each, and N bytes; regex_length() reads it by the same rule.
    const ByteView input(at_, end_);
    size_t length = 0;
    const auto next_text = [&](std::string_view& text) {
        const ByteView rest = input.subspan(length);
        const size_t size = terminated_length(rest);
        if (size == 0) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
        text = {reinterpret_cast<const char*>(rest.data()), size - 1};
        length += size;
        return true;
    };
    constexpr std::string_view kSize = "size=";
    std::string_view text;
    if (!next_text(text)) return false;
    if (text == "blob:") {
        if (!next_text(text)) return false;
        if (!text.starts_with("component=")) return fail(PMIX_ERR_UNPACK_FAILURE);
        if (!next_text(text)) return false;
        if (!text.starts_with(kSize) || text.back() != ':') return fail(PMIX_ERR_UNPACK_FAILURE);
        const auto size = number_of<size_t>(text.substr(kSize.size(), text.size() - kSize.size() - 1));
        if (!size) return fail(PMIX_ERR_UNPACK_FAILURE);
        if (*size > input.size() - length) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
        length += *size;
    }
    return take(length, view);
}

bool Decoder::regex(char*& value, size_t& length) {
    ByteView view;
    if (!regex_view(view) || !duplicate(view, value)) return false;
    length = view.size();
    return true;
}

bool Decoder::regexes(void* elements, size_t n) {
    auto* values = static_cast<char**>(elements);
    for (size_t i = 0; i < n; ++i) {
        size_t length = 0;
        if (!regex(values[i], length)) return false;
    }
    return true;
}

bool Decoder::value(pmix_value_t& value) {
    pmix_data_type_t number_of_type = PMIX_UNDEF;
    if (!number(number_of_type)) return false;
    if (number_of_type == PMIX_UNDEF) return true;
    const DataType* type = find_data_type(number_of_type);
    if (type == nullptr || type->storage == ValueStorage::kNone) return fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
    value.type = number_of_type;
    if (number_of_type == PMIX_REGEX) return regex(value.data.bo.bytes, value.data.bo.size);
    if (type->storage == ValueStorage::kInline) return run(*this, &value.data, 1, number_of_type);
    if (!allocate(1, number_of_type, &value.data.ptr)) return false;
    return run(*this, value.data.ptr, 1, number_of_type);
}

bool Decoder::data_array(pmix_data_array_t& value) {
    pmix_data_type_t type = PMIX_UNDEF;
    if (!number(type)) return false;
    if (type == PMIX_UNDEF) {
        // Some write a count of zero after this type and some write nothing. Otherwise the length of a string
        // or the count of an item follows, which is not zero.
        if (at_ != end_ && *at_ == 0) ++at_;
        return true;
    }
    size_t count = 0;
    if (!number(count)) return false;
    if (depth_ == kMaxNesting) return fail(PMIX_ERR_UNPACK_FAILURE);
    if (!allocate(count, type, &value.array)) return false;
    value.type = type;
    if (count == 0) return true;
    value.size = count;
    if (type == PMIX_REGEX) {
        auto* objects = static_cast<pmix_byte_object_t*>(value.array);
        for (size_t i = 0; i < count; ++i) {
            if (!regex(objects[i].bytes, objects[i].size)) return false;
        }
        return true;
    }
    ++depth_;
    const bool good = run(*this, value.array, count, type);
    --depth_;
    return good;
}

}  // namespace muster::v41
