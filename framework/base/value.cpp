// SPDX-License-Identifier: BSD-3-Clause
// pmix_value_t: copy, load, unload, checked reading; comparison is in compare.cpp.

#include "framework/base/value.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "framework/base/unaligned.hpp"

namespace muster {
namespace {

// A number of any type, read exactly.
struct Number {
    std::optional<double> real;  // of a floating-point type; else it is
    detail::Integer integer{};
};

std::optional<Number> read_number(const void* where, const DataType& type) {
    switch (type.form) {
        case TypeForm::kSigned: {
            const std::int64_t number = signed_at(where, type.size);
            return Number{std::nullopt, {number < 0, static_cast<std::uint64_t>(number)}};
        }
        case TypeForm::kUnsigned:
            return Number{std::nullopt, {false, unsigned_at(where, type.size)}};
        case TypeForm::kFloat:
            return Number{type.size == sizeof(float) ? load<float>(where) : load<double>(where)};
        default:
            return std::nullopt;
    }
}

// The integer; also of a real that is a whole number in the range of 64-bit integers.
std::optional<detail::Integer> whole(const Number& number) {
    if (!number.real) return number.integer;
    const double real = *number.real;
    if (!(std::trunc(real) == real) || real < -0x1p63 || real >= 0x1p64) return std::nullopt;
    if (real < 0) return detail::Integer{true, static_cast<std::uint64_t>(static_cast<std::int64_t>(real))};
    return detail::Integer{false, static_cast<std::uint64_t>(real)};
}

pmix_status_t write_integer(const Number& number, void* dest, const DataType& type) {
    const std::optional<detail::Integer> integer = whole(number);
    if (!integer) return PMIX_ERR_LOST_PRECISION;
    const bool is_signed = type.form == TypeForm::kSigned;
    if (integer->negative && !is_signed) return PMIX_ERR_CHANGE_SIGN;
    // A negative number and its complement take the same number of bits, and one for the sign.
    const std::uint64_t positive =
        integer->negative ? ~integer->magnitude_or_bits : integer->magnitude_or_bits;
    const std::size_t bits = 8 * type.size - (is_signed ? 1 : 0);
    if (bits < 64 && positive >> bits != 0) return PMIX_ERR_LOST_PRECISION;
    std::memcpy(dest, &integer->magnitude_or_bits,
                type.size);  // little end first on every platform we support
    return PMIX_SUCCESS;
}

template <class Real>
pmix_status_t write_real(const Number& number, void* dest) {
    const std::uint64_t natural = number.integer.magnitude_or_bits;
    Real real = 0;
    bool exact = false;
    if (number.real) {
        real = static_cast<Real>(*number.real);
        exact = static_cast<double>(real) == *number.real || std::isnan(*number.real);
    } else if (number.integer.negative) {
        const auto integer = static_cast<std::int64_t>(natural);
        real = static_cast<Real>(integer);
        exact = static_cast<std::int64_t>(real) == integer;
    } else {
        real = static_cast<Real>(natural);
        exact = real < static_cast<Real>(0x1p64) && static_cast<std::uint64_t>(real) == natural;
    }
    if (!exact) return PMIX_ERR_LOST_PRECISION;
    std::memcpy(dest, &real, sizeof real);
    return PMIX_SUCCESS;
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

/// Null bytes give null.
pmix_status_t unload_bytes(const void* bytes, std::size_t n, std::size_t reported, void** data,
                           std::size_t* size) {
    void* copy = bytes != nullptr ? malloc(n) : nullptr;
    if (copy == nullptr && bytes != nullptr) return PMIX_ERR_NOMEM;
    if (copy != nullptr) std::memcpy(copy, bytes, n);
    *data = copy;
    *size = reported;
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t value_copy(pmix_value_t* dst, const pmix_value_t* src) {
    pmix_value_t copy;
    // Most are numbers. The rest of the union is not copied: it may be uninitialized.
    const DataType* type = find_data_type(src->type);
    if (type != nullptr && type->storage == ValueStorage::kInline && !type->owning) {
        copy = {};
        std::memcpy(&copy.data, &src->data, type->size);
        copy.type = src->type;
        *dst = copy;
        return PMIX_SUCCESS;
    }
    const pmix_status_t status = detail::copy_value(&copy, src, 0);
    if (status == PMIX_SUCCESS) *dst = copy;
    return status;
}

void value_destruct(pmix_value_t* value) {
    const DataType* type = find_data_type(value->type);
    if (type != nullptr && (type->owning || type->storage == ValueStorage::kBoxed)) {
        data_destruct_elements(value, 1, PMIX_VALUE);
    } else {
        *value = {};
    }
}

pmix_status_t value_load(pmix_value_t* value, const void* data, pmix_data_type_t type) {
    pmix_value_t loaded = {};
    if (type != PMIX_UNDEF) {
        const DataType* row = find_data_type(type);
        if (row == nullptr) return PMIX_ERR_UNKNOWN_DATA_TYPE;
        if (row->storage == ValueStorage::kNone) return PMIX_ERR_NOT_SUPPORTED;
        pmix_status_t status = PMIX_SUCCESS;
        if (data == nullptr) {
            loaded.data.flag = type == PMIX_BOOL;
        } else if (type == PMIX_STRING) {
            loaded.data.string = strdup(static_cast<const char*>(data));
            if (loaded.data.string == nullptr) status = PMIX_ERR_NOMEM;
        } else if (type == PMIX_POINTER) {
            loaded.data.ptr = const_cast<void*>(data);
        } else if (type == PMIX_REGEX) {
            const auto* regex = static_cast<const char*>(data);
            pmix_byte_object_t bytes = {const_cast<char*>(regex), regex_length(regex)};
            status = data_copy_elements(&loaded.data, &bytes, 1, type);
        } else if (row->storage == ValueStorage::kInline) {
            status = data_copy_elements(&loaded.data, data, 1, type);
        } else {
            void* box = malloc(row->size);
            status = box == nullptr ? PMIX_ERR_NOMEM : data_copy_elements(box, data, 1, type);
            if (status == PMIX_SUCCESS) {
                loaded.data.ptr = box;
            } else {
                free(box);
            }
        }
        if (status != PMIX_SUCCESS) return status;
        loaded.type = type;
    }
    *value = loaded;
    return PMIX_SUCCESS;
}

pmix_status_t value_unload(const pmix_value_t* value, void** data, std::size_t* size) {
    const DataType* type = find_data_type(value->type);
    if (type == nullptr || type->storage == ValueStorage::kNone) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    const void* element = detail::value_element(value, *type);
    if (type->form == TypeForm::kString) {
        const std::size_t length = value->data.string == nullptr ? 0 : strlen(value->data.string);
        return unload_bytes(value->data.string, length + 1, length, data, size);
    }
    if (type->form == TypeForm::kPointer) {
        *data = value->data.ptr;
        *size = sizeof(void*);
        return PMIX_SUCCESS;
    }
    if (value->type == PMIX_BYTE_OBJECT || value->type == PMIX_COMPRESSED_STRING ||
        value->type == PMIX_COMPRESSED_BYTE_OBJECT || value->type == PMIX_REGEX) {
        const pmix_byte_object_t& bytes = value->data.bo;
        const bool empty = bytes.bytes == nullptr || bytes.size == 0;
        return unload_bytes(empty ? nullptr : bytes.bytes, bytes.size, empty ? 0 : bytes.size, data, size);
    }
    // Values that own no memory go into the caller's buffer. Callers of OpenPMIx rely on the error for a
    // missing one.
    const bool into_callers_room = !type->owning && value->type != PMIX_RESOURCE_UNIT;
    if (into_callers_room && *data == nullptr) return PMIX_ERR_BAD_PARAM;
    if (element == nullptr) return unload_bytes(nullptr, 0, 0, data, size);
    void* room = into_callers_room ? *data : malloc(type->size);
    if (room == nullptr) return PMIX_ERR_NOMEM;
    const pmix_status_t status = data_copy_elements(room, element, 1, value->type);
    if (status != PMIX_SUCCESS) {
        if (!into_callers_room) free(room);
        return status;
    }
    *data = room;
    *size =
        type->form == TypeForm::kNspace ? nspace_view(static_cast<const char*>(element)).size() : type->size;
    return PMIX_SUCCESS;
}

pmix_status_t value_size(const pmix_value_t* value, std::size_t* size) {
    return detail::size_of_value(value, size, 0);
}

std::optional<bool> value_as_bool(const pmix_value_t* value) {
    if (value == nullptr) return std::nullopt;
    if (value->type == PMIX_UNDEF) return true;
    if (value->type == PMIX_BOOL) return load<unsigned char>(&value->data) != 0;
    if (value->type != PMIX_STRING) return std::nullopt;
    const char* text = value->data.string;
    while (text != nullptr && isspace(static_cast<unsigned char>(*text)) != 0)
        ++text;
    if (text == nullptr || *text == '\0') return true;
    if (isdigit(static_cast<unsigned char>(*text)) != 0) return strtol(text, nullptr, 10) != 0;
    const auto begins = [&](const char* word) { return strncasecmp(text, word, strlen(word)) == 0; };
    const auto equals = [&](const char* word) { return strcasecmp(text, word) == 0; };
    if (begins("yes") || begins("true") || begins("enable") || equals("y") || equals("t") || equals("on")) {
        return true;
    }
    if (begins("no") || begins("false") || begins("disable") || equals("n") || equals("f") || equals("off")) {
        return false;
    }
    return std::nullopt;
}

const char* value_as_string(const pmix_value_t* value) {
    return value != nullptr && value->type == PMIX_STRING ? value->data.string : nullptr;
}

pmix_status_t value_get_number(const pmix_value_t* value, void* dest, pmix_data_type_t type) {
    const DataType* from = find_data_type(value->type);
    const DataType* to = find_data_type(type);
    if (from == nullptr || to == nullptr) return PMIX_ERR_BAD_PARAM;
    const std::optional<Number> number = read_number(&value->data, *from);
    if (!number) return PMIX_ERR_BAD_PARAM;
    switch (to->form) {
        case TypeForm::kSigned:
        case TypeForm::kUnsigned:
            return write_integer(*number, dest, *to);
        case TypeForm::kFloat:
            return to->size == sizeof(float) ? write_real<float>(*number, dest)
                                             : write_real<double>(*number, dest);
        default:
            return PMIX_ERR_BAD_PARAM;
    }
}

namespace detail {

std::optional<Integer> value_integer(const pmix_value_t* value) {
    const DataType* type = find_data_type(value->type);
    if (type == nullptr) return std::nullopt;
    const std::optional<Number> number = read_number(&value->data, *type);
    return number && !number->real ? std::optional(number->integer) : std::nullopt;
}

}  // namespace detail

std::optional<Value> Value::copy_of(const pmix_value_t* value) {
    Value owner;
    if (value_copy(&owner.value_, value) != PMIX_SUCCESS) return std::nullopt;
    return owner;
}

Value Value::of(pmix_data_type_t type, const void* data) {
    Value owner;
    if (value_load(&owner.value_, data, type) == PMIX_ERR_NOMEM) throw std::bad_alloc();
    return owner;
}

Value Value::from(std::string_view value) {
    char* text = static_cast<char*>(malloc(value.size() + 1));
    if (text == nullptr) throw std::bad_alloc();
    if (!value.empty()) std::memcpy(text, value.data(), value.size());
    text[value.size()] = '\0';
    Value owner;
    owner.value_.type = PMIX_STRING;
    owner.value_.data.string = text;
    return owner;
}

Value Value::array(const void* elements, std::size_t n, pmix_data_type_t type) {
    pmix_data_array_t array = {type, n, const_cast<void*>(elements)};
    return of(PMIX_DATA_ARRAY, &array);
}

Value Value::adopt_array(void* elements, std::size_t n, pmix_data_type_t type) {
    auto* array = static_cast<pmix_data_array_t*>(malloc(sizeof(pmix_data_array_t)));
    if (array == nullptr) {
        data_free_elements(elements, n, type);
        throw std::bad_alloc();
    }
    *array = {type, n, elements};
    Value owner;
    owner.value_.type = PMIX_DATA_ARRAY;
    owner.value_.data.darray = array;
    return owner;
}

Value Value::copy() const {
    std::optional<Value> copied = copy_of(&value_);
    if (!copied) throw std::bad_alloc();
    return *std::move(copied);
}

}  // namespace muster
