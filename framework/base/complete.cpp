// SPDX-License-Identifier: BSD-3-Clause
// Values that can be sent: see complete.hpp.
#include "framework/base/complete.hpp"

#include <cstring>

#include "framework/base/element.hpp"
#include "framework/base/unaligned.hpp"

namespace muster {
namespace {

pmix_status_t check(const void* elements, std::size_t n, pmix_data_type_t number, int depth);

pmix_status_t check_value(const pmix_value_t& value, int depth) {
    if (value.type == PMIX_UNDEF) return PMIX_SUCCESS;
    const DataType* type = find_data_type(value.type);
    if (type == nullptr) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (type->storage == ValueStorage::kNone) return PMIX_ERR_NOT_SUPPORTED;
    const void* element = detail::value_element(&value, *type);
    // Without an array it is an empty one.
    if (element == nullptr) return value.type == PMIX_DATA_ARRAY ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    return check(element, 1, value.type, depth);
}

pmix_status_t check_fields(const void* element, const DataType& type, int depth) {
    for (const Field& field : type.fields) {
        const void* member = at(element, field.offset);
        pmix_status_t status = PMIX_SUCCESS;
        if (field.form == FieldForm::kMember) {
            status = check(member, 1, field.type, depth);
        } else if (field.form == FieldForm::kArray) {
            // A count without an array is copied as none.
            const void* block = load<const void*>(member);
            if (block != nullptr)
                status = check(block, load<std::size_t>(at(element, field.count_offset)), field.type, depth);
        }
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t check_one(const void* element, pmix_data_type_t number, const DataType& type, int depth) {
    // Its end is found by its content.
    if (number == PMIX_REGEX) {
        const auto& regex = *as<pmix_byte_object_t>(element);
        const bool ends = regex.bytes != nullptr && std::memchr(regex.bytes, 0, regex.size) != nullptr;
        return ends && regex_length(regex.bytes) <= regex.size ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    switch (type.form) {
        case TypeForm::kStruct:
        case TypeForm::kInfo:
            return check_fields(element, type, depth);
        case TypeForm::kValue:
            return check_value(*as<pmix_value_t>(element), depth);
        case TypeForm::kDataArray: {
            const auto& array = *as<pmix_data_array_t>(element);
            if (depth + 1 > kMaxNesting) return PMIX_ERR_BAD_PARAM;
            if (array.array == nullptr || array.size == 0) return PMIX_SUCCESS;
            return check(array.array, array.size, array.type, depth + 1);
        }
        case TypeForm::kCpuset:
            return as<pmix_cpuset_t>(element)->source != nullptr ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
        case TypeForm::kTopology:
            return as<pmix_topology_t>(element)->source != nullptr ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
        default:
            return PMIX_SUCCESS;
    }
}

pmix_status_t check(const void* elements, std::size_t n, pmix_data_type_t number, int depth) {
    const DataType* type = find_data_type(number);
    if (type == nullptr || type->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (!type->owning) return PMIX_SUCCESS;
    for (std::size_t i = 0; i < n; ++i) {
        const pmix_status_t status = check_one(at(elements, i * type->size), number, *type, depth);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t value_complete(const pmix_value_t& value) {
    return check_value(value, 0);
}

pmix_status_t elements_complete(const void* elements, std::size_t n, pmix_data_type_t type) {
    return elements == nullptr || n == 0 ? PMIX_SUCCESS : check(elements, n, type, 0);
}

}  // namespace muster
