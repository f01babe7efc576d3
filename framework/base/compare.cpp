// SPDX-License-Identifier: BSD-3-Clause
// Ordering of values and elements: member by member as the table describes them, shorter arrays before longer
// ones, null before anything.

#include <cstring>

#include "framework/base/hwloc_object.hpp"
#include "framework/base/unaligned.hpp"
#include "framework/base/value.hpp"

namespace muster {
namespace {

template <class T>
pmix_value_cmp_t order(const T& a, const T& b) {
    if (a < b) return PMIX_VALUE2_GREATER;
    if (b < a) return PMIX_VALUE1_GREATER;
    return a == b ? PMIX_EQUAL : PMIX_VALUE_COMPARISON_NOT_AVAIL;  // the latter: not a number
}

template <class T>
pmix_value_cmp_t order_at(const void* a, const void* b) {
    return order(load<T>(a), load<T>(b));
}

pmix_value_cmp_t order_text(const char* a, const char* b) {
    if (a == nullptr || b == nullptr) return order(a != nullptr, b != nullptr);
    return order(strcmp(a, b), 0);
}

pmix_value_cmp_t compare_elements(const void* a, const void* b, std::size_t n, const DataType& type,
                                  int depth);

pmix_value_cmp_t compare_blocks(const void* a, std::size_t a_count, const void* b, std::size_t b_count,
                                const DataType& type, int depth) {
    if (a == nullptr) a_count = 0;
    if (b == nullptr) b_count = 0;
    if (a_count != b_count) return order(a_count, b_count);
    if (type.size == 1 && a_count > 0) return order(std::memcmp(a, b, a_count), 0);
    return compare_elements(a, b, a_count, type, depth);
}

pmix_value_cmp_t compare_argv(char* const* a, char* const* b) {
    if (a == nullptr || b == nullptr) return order(a != nullptr, b != nullptr);
    for (; *a != nullptr && *b != nullptr; ++a, ++b) {
        const pmix_value_cmp_t result = order_text(*a, *b);
        if (result != PMIX_EQUAL) return result;
    }
    return order(*a != nullptr, *b != nullptr);
}

pmix_value_cmp_t compare_field(const void* a, const void* b, const Field& field, int depth) {
    const void* left = at(a, field.offset);
    const void* right = at(b, field.offset);
    switch (field.form) {
        case FieldForm::kMember:
            return compare_elements(left, right, 1, *find_data_type(field.type), depth);
        case FieldForm::kKey:
            return order(
                strncmp(static_cast<const char*>(left), static_cast<const char*>(right), PMIX_MAX_KEYLEN), 0);
        case FieldForm::kArgv:
            return compare_argv(load<char* const*>(left), load<char* const*>(right));
        case FieldForm::kArray:
            return compare_blocks(load<const void*>(left), load<std::size_t>(at(a, field.count_offset)),
                                  load<const void*>(right), load<std::size_t>(at(b, field.count_offset)),
                                  *find_data_type(field.type), depth);
    }
    return PMIX_VALUE_COMPARISON_NOT_AVAIL;
}

pmix_value_cmp_t compare_integers(const void* a, const void* b, const DataType& type) {
    if (type.form == TypeForm::kSigned) return order(signed_at(a, type.size), signed_at(b, type.size));
    return order(unsigned_at(a, type.size), unsigned_at(b, type.size));
}

pmix_value_cmp_t compare_arrays(const pmix_data_array_t* a, const pmix_data_array_t* b, int depth) {
    if (depth > kMaxNesting) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    if (a->type != b->type) return PMIX_VALUE_TYPE_DIFFERENT;
    const DataType* type = find_data_type(a->type);
    if (type == nullptr || type->size == 0) {
        return a->size == 0 && b->size == 0 ? PMIX_EQUAL : PMIX_VALUE_COMPARISON_NOT_AVAIL;
    }
    return compare_blocks(a->array, a->size, b->array, b->size, *type, depth);
}

pmix_value_cmp_t compare_buffers(const pmix_data_buffer_t* a, const pmix_data_buffer_t* b) {
    const std::size_t a_size = a->base_ptr == nullptr ? 0 : a->bytes_used;
    const std::size_t b_size = b->base_ptr == nullptr ? 0 : b->bytes_used;
    if (a_size != b_size || a_size == 0) return order(a_size, b_size);
    return order(std::memcmp(a->base_ptr, b->base_ptr, a_size), 0);
}

// Coordinates of different views, and of different fabrics, have no order.
bool is_incompatible(const void* a, const void* b, const DataType& type) {
    if (&type == find_data_type(PMIX_COORD)) {
        return as<pmix_coord_t>(a)->view != as<pmix_coord_t>(b)->view;
    }
    if (&type == find_data_type(PMIX_GEOMETRY)) {
        return as<pmix_geometry_t>(a)->fabric != as<pmix_geometry_t>(b)->fabric;
    }
    return false;
}

pmix_value_cmp_t compare_one(const void* a, const void* b, const DataType& type, int depth) {
    switch (type.form) {
        case TypeForm::kNone:
            return PMIX_VALUE_COMPARISON_NOT_AVAIL;
        case TypeForm::kBool:
            return order(load<unsigned char>(a) != 0, load<unsigned char>(b) != 0);
        case TypeForm::kSigned:
        case TypeForm::kUnsigned:
            return compare_integers(a, b, type);
        case TypeForm::kFloat:
            return type.size == sizeof(float) ? order_at<float>(a, b) : order_at<double>(a, b);
        case TypeForm::kTimeval: {
            const auto left = load<timeval>(a);
            const auto right = load<timeval>(b);
            const pmix_value_cmp_t seconds = order(left.tv_sec, right.tv_sec);
            return seconds != PMIX_EQUAL ? seconds : order(left.tv_usec, right.tv_usec);
        }
        case TypeForm::kPointer:
            return order_at<std::uintptr_t>(a, b);
        case TypeForm::kNspace:
            return order(strncmp(static_cast<const char*>(a), static_cast<const char*>(b), PMIX_MAX_NSLEN),
                         0);
        case TypeForm::kString:
            return order_text(load<const char*>(a), load<const char*>(b));
        case TypeForm::kInfo: {
            const auto* left = as<pmix_info_t>(a);
            const auto* right = as<pmix_info_t>(b);
            const pmix_value_cmp_t keys = order(strncmp(left->key, right->key, PMIX_MAX_KEYLEN), 0);
            return keys != PMIX_EQUAL ? keys : detail::compare_value(&left->value, &right->value, depth);
        }
        case TypeForm::kStruct: {
            if (is_incompatible(a, b, type)) return PMIX_VALUE_INCOMPATIBLE_OBJECTS;
            for (const Field& field : type.fields) {
                const pmix_value_cmp_t result = compare_field(a, b, field, depth);
                if (result != PMIX_EQUAL) return result;
            }
            return PMIX_EQUAL;
        }
        case TypeForm::kValue:
            return detail::compare_value(as<pmix_value_t>(a), as<pmix_value_t>(b), depth);
        case TypeForm::kDataArray:
            return compare_arrays(as<pmix_data_array_t>(a), as<pmix_data_array_t>(b), depth + 1);
        case TypeForm::kDataBuffer:
            return compare_buffers(as<pmix_data_buffer_t>(a), as<pmix_data_buffer_t>(b));
        case TypeForm::kCpuset:
            return cpuset_compare(as<pmix_cpuset_t>(a), as<pmix_cpuset_t>(b));
        case TypeForm::kTopology:
            return topology_compare(as<pmix_topology_t>(a), as<pmix_topology_t>(b));
    }
    return PMIX_VALUE_COMPARISON_NOT_AVAIL;
}

pmix_value_cmp_t compare_elements(const void* a, const void* b, std::size_t n, const DataType& type,
                                  int depth) {
    for (std::size_t i = 0; i < n; ++i) {
        const pmix_value_cmp_t result = compare_one(at(a, i * type.size), at(b, i * type.size), type, depth);
        if (result != PMIX_EQUAL) return result;
    }
    return PMIX_EQUAL;
}

}  // namespace

namespace detail {

pmix_value_cmp_t compare_value(const pmix_value_t* a, const pmix_value_t* b, int depth) {
    if (a->type != b->type) return PMIX_VALUE_TYPE_DIFFERENT;
    if (a->type == PMIX_UNDEF) return PMIX_EQUAL;
    const DataType* type = find_data_type(a->type);
    if (type == nullptr || type->storage == ValueStorage::kNone) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    const void* left = value_element(a, *type);
    const void* right = value_element(b, *type);
    if (left == nullptr || right == nullptr) return order(left != nullptr, right != nullptr);
    return compare_one(left, right, *type, depth);
}

}  // namespace detail

pmix_value_cmp_t data_compare_elements(const void* a, const void* b, std::size_t n, pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    if (row == nullptr || row->size == 0) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return compare_elements(a, b, n, *row, 0);
}

pmix_value_cmp_t value_compare(const pmix_value_t* a, const pmix_value_t* b) {
    return detail::compare_value(a, b, 0);
}

}  // namespace muster
