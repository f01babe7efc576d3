// SPDX-License-Identifier: BSD-3-Clause
// The longer members of the Encoder.

#include "components/bfrops/v41/encoder.hpp"

#include <algorithm>

#include "framework/base/decimal.hpp"
#include "framework/base/element.hpp"

namespace muster::v41 {

bool Encoder::booleans(const void* elements, size_t n) {
    const bool* values = static_cast<const bool*>(elements);
    uint8_t* at = out_.extend(n);
    for (size_t i = 0; i < n; ++i) {
        at[i] = values[i] ? 1 : 0;
    }
    return true;
}

bool Encoder::pids(const void* elements, size_t n) {
    static_assert(sizeof(pid_t) == sizeof(uint32_t));
    number(pmix_data_type_t{PMIX_UINT32});
    const auto* values = static_cast<const pid_t*>(elements);
    for (size_t i = 0; i < n; ++i) {
        number(static_cast<uint32_t>(values[i]));
    }
    return true;
}

bool Encoder::text(const char* value, size_t length) {
    if (length >= INT32_MAX) return fail(PMIX_ERR_BAD_PARAM);
    uint8_t* at = out_.extend(max_flex_size(sizeof(int32_t)) + length + 1);
    at = put_flex(at, to_wire(static_cast<int32_t>(length + 1)));
    std::memcpy(at, value, length);
    at += length;
    *at++ = 0;
    finish(at);
    return true;
}

/// Each as text(), but space is reserved for many of them at once.
bool Encoder::strings(const void* elements, size_t n) {
    constexpr size_t kAtOnce = 64;
    const auto* values = static_cast<const char* const*>(elements);
    while (n > 0) {
        const size_t count = std::min(n, kAtOnce);
        size_t sizes[kAtOnce];  // with their terminators
        size_t all = 0;
        for (size_t i = 0; i < count; ++i) {
            sizes[i] = values[i] == nullptr ? 0 : strlen(values[i]) + 1;
            if (sizes[i] > INT32_MAX) return fail(PMIX_ERR_BAD_PARAM);
            all += max_flex_size(sizeof(int32_t)) + sizes[i];
        }
        uint8_t* at = out_.extend(all);
        for (size_t i = 0; i < count; ++i) {
            at = put_flex(at, to_wire(static_cast<int32_t>(sizes[i])));
            if (sizes[i] != 0) std::memcpy(at, values[i], sizes[i]);
            at += sizes[i];
        }
        finish(at);
        values += count;
        n -= count;
    }
    return true;
}

bool Encoder::texts(char* const* values) {
    int32_t count = 0;
    if (values != nullptr) {
        while (values[count] != nullptr) {
            if (++count == INT32_MAX) return fail(PMIX_ERR_BAD_PARAM);
        }
    }
    number(count);
    for (int32_t i = 0; i < count; ++i) {
        if (!text(values[i])) return false;
    }
    return true;
}

bool Encoder::real(double value) {
    char digits[kDecimalSize];
    return text(digits, write_decimal(value, digits));
}

bool Encoder::bytes(const void* data, size_t size) {
    if (data == nullptr && size > 0) return fail(PMIX_ERR_BAD_PARAM);
    return number(size) && raw(data, size);
}

bool Encoder::regex(const char* value) {
    if (value == nullptr) return fail(PMIX_ERR_BAD_PARAM);
    return raw(value, regex_length(value));
}

bool Encoder::regexes(const void* elements, size_t n) {
    const auto* values = static_cast<const char* const*>(elements);
    for (size_t i = 0; i < n; ++i) {
        if (!regex(values[i])) return false;
    }
    return true;
}

bool Encoder::array(const void* member, const void* count, pmix_data_type_t type) {
    const void* elements = load<const void*>(member);
    const auto n = load<size_t>(count);
    if (elements == nullptr && n > 0) return fail(PMIX_ERR_BAD_PARAM);
    return number(n) && run(*this, elements, n, type);
}

bool Encoder::value(const pmix_value_t& value) {
    number(value.type);
    if (value.type == PMIX_UNDEF) return true;
    const DataType* type = find_data_type(value.type);
    if (type == nullptr) return fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
    switch (type->storage) {
        case ValueStorage::kInline:
            return run(*this, &value.data, 1, value.type);
        case ValueStorage::kBoxed:
            if (value.data.ptr != nullptr) return run(*this, value.data.ptr, 1, value.type);
            if (value.type == PMIX_DATA_ARRAY) return data_array(PMIX_DATA_ARRAY_STATIC_INIT);
            return fail(PMIX_ERR_BAD_PARAM);
        case ValueStorage::kNone:
            break;
    }
    return fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
}

bool Encoder::data_array(const pmix_data_array_t& value) {
    if (value.type == PMIX_UNDEF || value.size == 0) {
        // Without a type, versions disagree on how many bytes there are.
        number(value.type == PMIX_UNDEF ? pmix_data_type_t{PMIX_INFO} : value.type);
        return number(size_t{0});
    }
    if (value.array == nullptr || depth_ == kMaxNesting) return fail(PMIX_ERR_BAD_PARAM);
    number(value.type);
    number(value.size);
    if (value.type == PMIX_REGEX) {
        const auto* objects = static_cast<const pmix_byte_object_t*>(value.array);
        for (size_t i = 0; i < value.size; ++i) {
            if (!regex(objects[i].bytes)) return false;
        }
        return true;
    }
    ++depth_;
    const bool good = run(*this, value.array, value.size, value.type);
    --depth_;
    return good;
}

}  // namespace muster::v41
