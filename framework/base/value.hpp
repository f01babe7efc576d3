// SPDX-License-Identifier: BSD-3-Clause
// pmix_value_t as it is in C, with deep operations, checked reading, and an owner. Everything is safe on any
// thread as long as no two threads touch the same value and one of them writes.
#pragma once

#include <pmix_common.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "framework/base/bytes.hpp"
#include "framework/base/element.hpp"
#include "framework/base/proc.hpp"

namespace muster {

/// The bytes of a byte object or a regex, as long as the value lives; none for a null value, another type, or
/// a count without data.
inline ByteView value_as_bytes(const pmix_value_t* value) {
    if (value == nullptr || (value->type != PMIX_BYTE_OBJECT && value->type != PMIX_REGEX)) return {};
    const pmix_byte_object_t& bytes = value->data.bo;
    if (bytes.bytes == nullptr) return {};
    return {reinterpret_cast<const uint8_t*>(bytes.bytes), bytes.size};
}

/// Deep copy into raw memory; dst is untouched on failure. Errors as data_copy_elements, and
/// PMIX_ERR_NOT_SUPPORTED for a type that a value cannot hold.
pmix_status_t value_copy(pmix_value_t* dst, const pmix_value_t* src);

/// Frees the memory of the value and makes it UNDEF.
void value_destruct(pmix_value_t* value);

/// Copies data into raw memory; dst is untouched on failure. `data` is a char* for PMIX_STRING and
/// PMIX_REGEX, the pointer itself for PMIX_POINTER, else the address of an element. Null data gives a zero
/// value (PMIX_BOOL: true, for an attribute that is there without a value means true).
pmix_status_t value_load(pmix_value_t* value, const void* data, pmix_data_type_t type);

/// Copies the data out. A scalar, namespace or process goes into *data; everything else is malloc'ed. Strings
/// and byte objects give their bytes, a null struct gives null and size 0.
/// @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE for UNDEF; PMIX_ERR_BAD_PARAM for a scalar, namespace or
/// process where *data is null; PMIX_ERR_NOMEM.
pmix_status_t value_unload(const pmix_value_t* value, void** data, std::size_t* size);

/// PMIX_EQUAL, the greater one, or the reason why they cannot be compared.
pmix_value_cmp_t value_compare(const pmix_value_t* a, const pmix_value_t* b);

/// Bytes of the payload with all that it owns (a string: its length and terminator).
pmix_status_t value_size(const pmix_value_t* value, std::size_t* size);

/// True, false, or nothing if it is neither. UNDEF means true; strings count as people write them (yes,
/// no, enabled, 0, ...), and an empty string means true.
std::optional<bool> value_as_bool(const pmix_value_t* value);

/// The text of a PMIX_STRING, otherwise null.
const char* value_as_string(const pmix_value_t* value);

/// Converts to the numeric type, exactly or not at all (PMIx_Value_get_number).
/// @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if one of them is no number; PMIX_ERR_LOST_PRECISION;
/// PMIX_ERR_CHANGE_SIGN.
pmix_status_t value_get_number(const pmix_value_t* value, void* dest, pmix_data_type_t type);

namespace detail {
struct Integer {
    bool negative;
    std::uint64_t magnitude_or_bits;  ///< two's complement when negative
};
std::optional<Integer> value_integer(const pmix_value_t* value);
}  // namespace detail

/// The number in any integer type, if it fits; for floating-point T also that of float and double.
template <class T>
requires std::is_arithmetic_v<T> std::optional<T> value_as_number(const pmix_value_t* value) {
    if (value == nullptr) return std::nullopt;
    if constexpr (std::floating_point<T>) {
        if (value->type == PMIX_FLOAT) return static_cast<T>(value->data.fval);
        if (value->type == PMIX_DOUBLE) return static_cast<T>(value->data.dval);
    }
    const auto fitting = [](auto exact) -> std::optional<T> {
        if constexpr (std::integral<T>) {
            if (!std::in_range<T>(exact)) return std::nullopt;
        }
        return static_cast<T>(exact);
    };
    // Fast path: most of a host's data of processes have these types.
    if (value->type == PMIX_UINT32) return fitting(value->data.uint32);
    if (value->type == PMIX_PROC_RANK) return fitting(value->data.rank);
    if (value->type == PMIX_UINT16) return fitting(value->data.uint16);
    const std::optional<detail::Integer> number = detail::value_integer(value);
    if (!number) return std::nullopt;
    return number->negative ? fitting(static_cast<std::int64_t>(number->magnitude_or_bits))
                            : fitting(number->magnitude_or_bits);
}

/// Owner of one pmix_value_t. Move-only; copies are asked for. The makers throw std::bad_alloc.
class Value {
  public:
    Value() = default;
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    Value(Value&& other) noexcept : value_(other.release()) {}
    Value& operator=(Value&& other) noexcept {
        if (this != &other) {
            value_destruct(&value_);
            value_ = other.release();
        }
        return *this;
    }
    ~Value() { value_destruct(&value_); }

    /// Takes over the memory of the struct.
    static Value adopt(const pmix_value_t& value) {
        Value owner;
        owner.value_ = value;
        return owner;
    }
    /// A deep copy, or nothing if it cannot be copied.
    static std::optional<Value> copy_of(const pmix_value_t* value);
    /// Any type, from the address that value_load takes; UNDEF if the type cannot be held.
    static Value of(pmix_data_type_t type, const void* data);

    static Value from(bool value) { return of(PMIX_BOOL, &value); }
    static Value from(int value) { return of(PMIX_INT, &value); }
    static Value from(std::int64_t value) { return of(PMIX_INT64, &value); }
    static Value from(std::uint8_t value) { return of(PMIX_UINT8, &value); }
    static Value from(std::uint16_t value) { return of(PMIX_UINT16, &value); }
    static Value from(std::uint32_t value) { return of(PMIX_UINT32, &value); }
    static Value from(std::size_t value) { return of(PMIX_SIZE, &value); }
    static Value from(float value) { return of(PMIX_FLOAT, &value); }
    static Value from(double value) { return of(PMIX_DOUBLE, &value); }
    static Value from(std::string_view value);
    static Value from(const char* value) { return of(PMIX_STRING, value); }
    static Value from(const pmix_proc_t& value) { return of(PMIX_PROC, &value); }
    static Value from(const Proc& value) { return from(value.to_c()); }
    static Value from(const pmix_byte_object_t& value) { return of(PMIX_BYTE_OBJECT, &value); }
    static Value rank(pmix_rank_t value) { return of(PMIX_PROC_RANK, &value); }
    static Value status(pmix_status_t value) { return of(PMIX_STATUS, &value); }
    static Value uint64(std::uint64_t value) { return of(PMIX_UINT64, &value); }
    static Value pid(pid_t value) { return of(PMIX_PID, &value); }
    static Value pointer(void* value) { return of(PMIX_POINTER, value); }
    /// A data array of n elements, deeply copied.
    static Value array(const void* elements, std::size_t n, pmix_data_type_t type);
    /// A data array that takes over a malloc'ed block of n elements.
    static Value adopt_array(void* elements, std::size_t n, pmix_data_type_t type);

    /// A deep copy; throws std::bad_alloc, also if the adopted value cannot be copied (see copy_of).
    Value copy() const;

    const pmix_value_t* get() const { return &value_; }
    pmix_value_t* get() { return &value_; }
    const pmix_value_t& operator*() const { return value_; }
    const pmix_value_t* operator->() const { return &value_; }
    pmix_data_type_t type() const { return value_.type; }

    /// Gives the contents away and is UNDEF then.
    pmix_value_t release() noexcept { return std::exchange(value_, pmix_value_t{}); }

  private:
    pmix_value_t value_ = {};
};

}  // namespace muster
