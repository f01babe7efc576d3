// SPDX-License-Identifier: BSD-3-Clause
// Construction, deep copy, destruction and measuring of elements of any PMIx data type, by the table of
// data_type.hpp. The members of a struct are processed by their description; only types that are not plain
// structs (values, data arrays, buffers, hwloc's objects) have separate code.

#include "framework/base/element.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "framework/base/argv.hpp"
#include "framework/base/hwloc_object.hpp"
#include "framework/base/unaligned.hpp"

namespace muster {
namespace {

// ---- destruction --------------------------------------------------------------------------------------

// Frees nested arrays depth first; arrays nested deeper than kMaxNesting wait in a list, so that the stack
// stays bounded whatever a caller has built.
class Destructor {
  public:
    void run(void* elements, std::size_t n, const DataType& type) {
        destruct(elements, n, type, 0);
        while (!deferred_.empty()) {
            pmix_data_array_t array = deferred_.back();
            deferred_.pop_back();
            free_contents(&array, 0);
        }
    }

  private:
    void destruct(void* elements, std::size_t n, const DataType& type, int depth) {
        if (elements == nullptr) return;
        if (type.owning) {
            for (std::size_t i = 0; i < n; ++i) {
                one(at(elements, i * type.size), type, depth);
            }
        }
        std::memset(elements, 0, n * type.size);
    }

    void one(void* element, const DataType& type, int depth) {
        switch (type.form) {
            case TypeForm::kString:
                free(load<char*>(element));
                break;
            case TypeForm::kStruct:
                fields(element, type, depth);
                break;
            case TypeForm::kInfo: {
                auto* info = as<pmix_info_t>(element);
                if ((info->flags & PMIX_INFO_PERSISTENT) == 0) value(&info->value, depth);
                break;
            }
            case TypeForm::kValue:
                value(as<pmix_value_t>(element), depth);
                break;
            case TypeForm::kDataArray:
                contents(as<pmix_data_array_t>(element), depth + 1);
                break;
            case TypeForm::kDataBuffer:
                free(as<pmix_data_buffer_t>(element)->base_ptr);
                break;
            case TypeForm::kCpuset:
                cpuset_destruct(as<pmix_cpuset_t>(element));
                break;
            case TypeForm::kTopology:
                topology_destruct(as<pmix_topology_t>(element));
                break;
            default:
                break;
        }
    }

    void fields(void* element, const DataType& type, int depth) {
        for (const Field& field : type.fields) {
            void* member = at(element, field.offset);
            const DataType* member_type = find_data_type(field.type);
            switch (field.form) {
                case FieldForm::kMember:
                    if (member_type->owning) one(member, *member_type, depth);
                    break;
                case FieldForm::kKey:
                    break;
                case FieldForm::kArgv:
                    argv_free(load<char**>(member));
                    break;
                case FieldForm::kArray: {
                    void* block = load<void*>(member);
                    destruct(block, load<std::size_t>(at(element, field.count_offset)), *member_type, depth);
                    free(block);
                    break;
                }
            }
        }
    }

    void value(pmix_value_t* value, int depth) {
        const DataType* type = find_data_type(value->type);
        if (type == nullptr || !(type->owning || type->storage == ValueStorage::kBoxed)) return;
        if (type->storage == ValueStorage::kInline) {
            one(&value->data, *type, depth);
        } else if (type->storage == ValueStorage::kBoxed && value->data.ptr != nullptr) {
            one(value->data.ptr, *type, depth);
            free(value->data.ptr);
        }
    }

    void contents(pmix_data_array_t* array, int depth) {
        if (depth > kMaxNesting) {
            try {
                deferred_.push_back(*array);
                return;
            } catch (const std::bad_alloc&) {
                // No memory for the list: use the stack.
            }
        }
        free_contents(array, depth);
    }

    void free_contents(pmix_data_array_t* array, int depth) {
        const DataType* type = find_data_type(array->type);
        if (type != nullptr) destruct(array->array, array->size, *type, depth);
        free(array->array);
    }

    std::vector<pmix_data_array_t> deferred_;
};

// ---- copy ---------------------------------------------------------------------------------------------

pmix_status_t copy_elements(void* dst, const void* src, std::size_t n, const DataType& type, int depth);

pmix_status_t copy_block(void** dst, const void* src, std::size_t n, const DataType& type, int depth) {
    *dst = nullptr;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(n, type.size, &bytes)) return PMIX_ERR_BAD_PARAM;
    void* block = malloc(bytes);
    if (block == nullptr) return PMIX_ERR_NOMEM;
    const pmix_status_t status = copy_elements(block, src, n, type, depth);
    if (status == PMIX_SUCCESS) {
        *dst = block;
    } else {
        free(block);
    }
    return status;
}

pmix_status_t copy_array(pmix_data_array_t* dst, const pmix_data_array_t* src, int depth) {
    *dst = {src->type, 0, nullptr};
    if (depth > kMaxNesting) return PMIX_ERR_BAD_PARAM;
    if (src->size == 0 || src->array == nullptr) return PMIX_SUCCESS;
    const DataType* type = find_data_type(src->type);
    if (type == nullptr || type->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    const pmix_status_t status = copy_block(&dst->array, src->array, src->size, *type, depth);
    if (status == PMIX_SUCCESS) dst->size = src->size;
    return status;
}

pmix_status_t copy_buffer(pmix_data_buffer_t* dst, const pmix_data_buffer_t* src) {
    *dst = {};
    if (src->base_ptr == nullptr || src->bytes_used == 0) return PMIX_SUCCESS;
    dst->base_ptr = static_cast<char*>(malloc(src->bytes_used));
    if (dst->base_ptr == nullptr) return PMIX_ERR_NOMEM;
    std::memcpy(dst->base_ptr, src->base_ptr, src->bytes_used);
    dst->bytes_allocated = src->bytes_used;
    dst->bytes_used = src->bytes_used;
    dst->pack_ptr = dst->base_ptr + src->bytes_used;
    const std::size_t consumed =
        src->unpack_ptr == nullptr ? 0 : static_cast<std::size_t>(src->unpack_ptr - src->base_ptr);
    dst->unpack_ptr = dst->base_ptr + std::min(consumed, src->bytes_used);
    return PMIX_SUCCESS;
}

pmix_status_t copy_field(void* dst, const void* src, const Field& field, int depth) {
    void* to = at(dst, field.offset);
    const void* from = at(src, field.offset);
    switch (field.form) {
        case FieldForm::kMember:
            return copy_elements(to, from, 1, *find_data_type(field.type), depth);
        case FieldForm::kKey:
            std::memcpy(to, from, sizeof(pmix_key_t));
            return PMIX_SUCCESS;
        case FieldForm::kArgv: {
            char** const original = load<char**>(from);
            if (original == nullptr) return PMIX_SUCCESS;
            char** const copy = argv_copy(original);
            store(to, copy);
            return copy == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
        }
        case FieldForm::kArray: {
            const void* block = load<const void*>(from);
            const auto count = load<std::size_t>(at(src, field.count_offset));
            if (block == nullptr || count == 0) return PMIX_SUCCESS;
            void* copy = nullptr;
            const pmix_status_t status = copy_block(&copy, block, count, *find_data_type(field.type), depth);
            if (status != PMIX_SUCCESS) return status;
            store(to, copy);
            store(at(dst, field.count_offset), count);
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
}

pmix_status_t copy_one(void* dst, const void* src, const DataType& type, int depth) {
    switch (type.form) {
        case TypeForm::kString: {
            const char* text = load<const char*>(src);
            char* copy = text == nullptr ? nullptr : strdup(text);
            store(dst, copy);
            return text != nullptr && copy == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
        }
        case TypeForm::kStruct:
            std::memset(dst, 0, type.size);
            for (const Field& field : type.fields) {
                const pmix_status_t status = copy_field(dst, src, field, depth);
                if (status != PMIX_SUCCESS) {
                    Destructor().run(dst, 1, type);
                    return status;
                }
            }
            return PMIX_SUCCESS;
        case TypeForm::kInfo: {
            auto* to = as<pmix_info_t>(dst);
            const auto* from = as<pmix_info_t>(src);
            std::memcpy(to->key, from->key, sizeof to->key);
            // The copy owns its value, even if the original does not.
            to->flags = from->flags & ~static_cast<pmix_info_directives_t>(PMIX_INFO_PERSISTENT);
            return detail::copy_value(&to->value, &from->value, depth);
        }
        case TypeForm::kValue:
            return detail::copy_value(as<pmix_value_t>(dst), as<pmix_value_t>(src), depth);
        case TypeForm::kDataArray:
            return copy_array(as<pmix_data_array_t>(dst), as<pmix_data_array_t>(src), depth + 1);
        case TypeForm::kDataBuffer:
            return copy_buffer(as<pmix_data_buffer_t>(dst), as<pmix_data_buffer_t>(src));
        case TypeForm::kCpuset:
            return cpuset_copy(as<pmix_cpuset_t>(dst), as<pmix_cpuset_t>(src));
        case TypeForm::kTopology:
            return topology_copy(as<pmix_topology_t>(dst), as<pmix_topology_t>(src));
        default:
            std::memcpy(dst, src, type.size);
            return PMIX_SUCCESS;
    }
}

pmix_status_t copy_elements(void* dst, const void* src, std::size_t n, const DataType& type, int depth) {
    if (!type.owning) {
        std::memcpy(dst, src, n * type.size);
        return PMIX_SUCCESS;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const pmix_status_t status = copy_one(at(dst, i * type.size), at(src, i * type.size), type, depth);
        if (status != PMIX_SUCCESS) {
            Destructor().run(dst, i, type);
            return status;
        }
    }
    return PMIX_SUCCESS;
}

// ---- size ---------------------------------------------------------------------------------------------

pmix_status_t size_elements(const void* elements, std::size_t n, const DataType& type, std::size_t* size,
                            int depth);

// Adds the memory that the element owns beyond its own sizeof, which the caller has counted.
pmix_status_t size_owned(const void* element, const DataType& type, std::size_t* size, int depth) {
    switch (type.form) {
        case TypeForm::kString: {
            const char* text = load<const char*>(element);
            if (text != nullptr) *size += strlen(text) + 1;
            return PMIX_SUCCESS;
        }
        case TypeForm::kStruct:
        case TypeForm::kInfo:
            for (const Field& field : type.fields) {
                const void* member = at(element, field.offset);
                pmix_status_t status = PMIX_SUCCESS;
                if (field.form == FieldForm::kMember) {
                    status = size_owned(member, *find_data_type(field.type), size, depth);
                } else if (field.form == FieldForm::kArgv) {
                    char** const argv = load<char**>(member);
                    for (std::size_t i = 0; argv != nullptr && argv[i] != nullptr; ++i) {
                        *size += sizeof(char*) + strlen(argv[i]) + 1;
                    }
                } else if (field.form == FieldForm::kArray) {
                    const void* block = load<const void*>(member);
                    const auto count = load<std::size_t>(at(element, field.count_offset));
                    if (block != nullptr) {
                        status = size_elements(block, count, *find_data_type(field.type), size, depth);
                    }
                }
                if (status != PMIX_SUCCESS) return status;
            }
            return PMIX_SUCCESS;
        case TypeForm::kValue: {
            const auto* value = as<pmix_value_t>(element);
            const DataType* held = find_data_type(value->type);
            if (held == nullptr) return PMIX_ERR_UNKNOWN_DATA_TYPE;
            const void* inside = detail::value_element(value, *held);
            if (inside == nullptr) return PMIX_SUCCESS;
            return held->storage == ValueStorage::kInline ? size_owned(inside, *held, size, depth)
                                                          : size_elements(inside, 1, *held, size, depth);
        }
        case TypeForm::kDataArray: {
            const auto* array = as<pmix_data_array_t>(element);
            if (depth + 1 > kMaxNesting) return PMIX_ERR_BAD_PARAM;
            if (array->array == nullptr || array->size == 0) return PMIX_SUCCESS;
            const DataType* member_type = find_data_type(array->type);
            if (member_type == nullptr || member_type->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
            return size_elements(array->array, array->size, *member_type, size, depth + 1);
        }
        case TypeForm::kDataBuffer:
            *size += as<pmix_data_buffer_t>(element)->bytes_used;
            return PMIX_SUCCESS;
        case TypeForm::kCpuset:
            *size += cpuset_payload_size(as<pmix_cpuset_t>(element));
            return PMIX_SUCCESS;
        case TypeForm::kTopology:
            *size += topology_payload_size(as<pmix_topology_t>(element));
            return PMIX_SUCCESS;
        default:
            return PMIX_SUCCESS;
    }
}

pmix_status_t size_elements(const void* elements, std::size_t n, const DataType& type, std::size_t* size,
                            int depth) {
    *size += n * type.size;
    if (!type.owning) return PMIX_SUCCESS;
    for (std::size_t i = 0; i < n; ++i) {
        const pmix_status_t status = size_owned(at(elements, i * type.size), type, size, depth);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

}  // namespace

namespace detail {

const void* value_element(const pmix_value_t* value, const DataType& type) {
    if (type.storage == ValueStorage::kInline) return &value->data;
    return type.storage == ValueStorage::kBoxed ? value->data.ptr : nullptr;
}

pmix_status_t copy_value(pmix_value_t* dst, const pmix_value_t* src, int depth) {
    std::memset(dst, 0, sizeof *dst);
    if (src->type == PMIX_UNDEF) return PMIX_SUCCESS;
    const DataType* type = find_data_type(src->type);
    if (type == nullptr) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (type->storage == ValueStorage::kNone) return PMIX_ERR_NOT_SUPPORTED;
    const void* element = value_element(src, *type);
    pmix_status_t status = PMIX_SUCCESS;
    if (type->storage == ValueStorage::kInline) {
        status = copy_elements(&dst->data, element, 1, *type, depth);
    } else if (element != nullptr) {
        status = copy_block(&dst->data.ptr, element, 1, *type, depth);
    }
    if (status == PMIX_SUCCESS) dst->type = src->type;
    return status;
}

pmix_status_t size_of_value(const pmix_value_t* value, std::size_t* size, int depth) {
    *size = 0;
    const DataType* type = find_data_type(value->type);
    if (type == nullptr || type->storage == ValueStorage::kNone) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    const void* element = value_element(value, *type);
    if (element == nullptr) return PMIX_SUCCESS;
    if (type->form == TypeForm::kString) return size_owned(element, *type, size, depth);
    return size_elements(element, 1, *type, size, depth);
}

}  // namespace detail

pmix_status_t data_construct_elements(void* dst, std::size_t n, pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    if (row == nullptr || row->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    std::memset(dst, 0, n * row->size);
    for (std::size_t i = 0; i < n; ++i) {
        if (type == PMIX_DEVICE_DIST) {
            as<pmix_device_distance_t>(dst)[i].mindist = UINT16_MAX;
            as<pmix_device_distance_t>(dst)[i].maxdist = UINT16_MAX;
        } else if (type == PMIX_NODE_PID) {
            as<pmix_node_pid_t>(dst)[i].nodeid = UINT32_MAX;
            as<pmix_node_pid_t>(dst)[i].pid = -1;
        } else {
            break;
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t data_copy_elements(void* dst, const void* src, std::size_t n, pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    std::size_t bytes = 0;
    if (row == nullptr || row->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (__builtin_mul_overflow(n, row->size, &bytes)) return PMIX_ERR_BAD_PARAM;
    return n == 0 ? PMIX_SUCCESS : copy_elements(dst, src, n, *row, 0);
}

void data_destruct_elements(void* elements, std::size_t n, pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    if (row != nullptr && n > 0) Destructor().run(elements, n, *row);
}

pmix_status_t data_size_elements(const void* elements, std::size_t n, pmix_data_type_t type,
                                 std::size_t* size) {
    *size = 0;
    const DataType* row = find_data_type(type);
    if (row == nullptr || row->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    return size_elements(elements, n, *row, size, 0);
}

void* data_create_elements(std::size_t n, pmix_data_type_t type) {
    std::size_t bytes = 0;
    const std::size_t size = data_type_size(type);
    if (n == 0 || size == 0 || __builtin_mul_overflow(n, size, &bytes)) return nullptr;
    void* block = malloc(bytes);
    if (block != nullptr) data_construct_elements(block, n, type);
    return block;
}

void data_free_elements(void* elements, std::size_t n, pmix_data_type_t type) {
    if (elements == nullptr) return;
    data_destruct_elements(elements, n, type);
    free(elements);
}

std::size_t regex_length(const char* regex) {
    // "blob:", "component=NAME:", "size=DECIMAL:" with a terminator each, then that many bytes (the form of
    // the compressing component). Anything else is text; each part is read only after a valid one.
    const std::size_t text_length = strlen(regex) + 1;
    static constexpr std::string_view kComponent = "component=";
    static constexpr std::string_view kSize = "size=";
    if (strcmp(regex, "blob:") != 0) return text_length;
    const char* component = regex + text_length;
    if (strncmp(component, kComponent.data(), kComponent.size()) != 0) return text_length;
    const char* size = component + strlen(component) + 1;
    if (strncmp(size, kSize.data(), kSize.size()) != 0) return text_length;
    const char* data = size + strlen(size) + 1;
    const unsigned long long bytes = strtoull(size + kSize.size(), nullptr, 10);
    return static_cast<std::size_t>(data - regex) + static_cast<std::size_t>(bytes);
}

}  // namespace muster
