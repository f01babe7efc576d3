// SPDX-License-Identifier: BSD-3-Clause
// Data as text, by the table of data types: scalars in words where the API has words for them, structs member
// by member, arrays element by element.

#include "framework/base/print.hpp"

#include <cinttypes>
#include <cstdio>
#include <ctime>

#include "framework/base/hwloc_object.hpp"
#include "framework/base/names.hpp"
#include "framework/base/status.hpp"
#include "framework/base/unaligned.hpp"
#include "framework/base/value.hpp"

namespace muster {
namespace {

template <class T>
std::string formatted(const char* format, T value) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    return text;
}

std::string quoted(const char* text) {
    return text == nullptr ? "NULL" : std::string("\"").append(text).append("\"");
}

std::string time_text(std::time_t seconds) {
    std::tm parts = {};
    char text[64];
    if (gmtime_r(&seconds, &parts) == nullptr ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        return std::to_string(seconds);
    }
    return text;
}

std::string unsigned_text(const void* element, pmix_data_type_t type, std::size_t size) {
    const std::uint64_t number = unsigned_at(element, size);
    switch (type) {
        case PMIX_BYTE:
            return formatted("0x%" PRIx64, number);
        case PMIX_INFO_DIRECTIVES:
            return info_directives_text(static_cast<pmix_info_directives_t>(number));
        case PMIX_DATA_TYPE:
            return data_type_name(static_cast<pmix_data_type_t>(number));
        case PMIX_PROC_RANK:
            return rank_text(static_cast<pmix_rank_t>(number));
        default:
            return number_text(type, number);
    }
}

std::string signed_text(const void* element, pmix_data_type_t type, std::size_t size) {
    const std::int64_t number = signed_at(element, size);
    switch (type) {
        case PMIX_STATUS: {
            const char* name = status_name(static_cast<pmix_status_t>(number));
            return name == nullptr ? std::to_string(number) : name;
        }
        case PMIX_TIME:
            return time_text(static_cast<std::time_t>(number));
        default:
            return std::to_string(number);
    }
}

std::string element_text(const void* element, pmix_data_type_t type, int depth);

std::string array_text(const void* elements, std::size_t n, pmix_data_type_t type, int depth) {
    if (elements == nullptr) n = 0;
    if (type == PMIX_BYTE) return std::to_string(n) + " bytes";
    const std::size_t size = data_type_size(type);
    std::string text = "[";
    for (std::size_t i = 0; i < n && size > 0; ++i) {
        if (i > 0) text += ", ";
        text += element_text(at(elements, i * size), type, depth);
    }
    return text + "]";
}

std::string field_text(const void* element, const Field& field, int depth) {
    const void* member = at(element, field.offset);
    switch (field.form) {
        case FieldForm::kMember:
            return element_text(member, field.type, depth);
        case FieldForm::kKey:
            return std::string(key_view(static_cast<const char*>(member)));
        case FieldForm::kArgv: {
            std::string text = "[";
            char* const* argv = load<char* const*>(member);
            for (; argv != nullptr && *argv != nullptr; ++argv) {
                if (text.size() > 1) text += ", ";
                text += quoted(*argv);
            }
            return text + "]";
        }
        case FieldForm::kArray:
            return array_text(load<const void*>(member), load<std::size_t>(at(element, field.count_offset)),
                              field.type, depth);
    }
    return {};
}

std::string struct_text(const void* element, const DataType& type, int depth) {
    std::string text = "{";
    for (const Field& field : type.fields) {
        if (text.size() > 1) text += ", ";
        text += std::string(field.name) + ": " + field_text(element, field, depth);
    }
    return text + "}";
}

std::string held_text(const pmix_value_t* value, int depth) {
    const DataType* type = find_data_type(value->type);
    if (type == nullptr || type->storage == ValueStorage::kNone) return "none";
    const void* element = detail::value_element(value, *type);
    return element == nullptr ? "NULL" : element_text(element, value->type, depth);
}

// One element within a line.
std::string element_text(const void* element, pmix_data_type_t type, int depth) {
    const DataType* row = find_data_type(type);
    if (row == nullptr || row->size == 0) return "?";
    switch (row->form) {
        case TypeForm::kNone:
            return "?";
        case TypeForm::kBool:
            return load<unsigned char>(element) != 0 ? "TRUE" : "FALSE";
        case TypeForm::kSigned:
            return signed_text(element, type, row->size);
        case TypeForm::kUnsigned:
            return unsigned_text(element, type, row->size);
        case TypeForm::kFloat:
            return row->size == sizeof(float) ? formatted("%f", static_cast<double>(load<float>(element)))
                                              : formatted("%f", load<double>(element));
        case TypeForm::kTimeval: {
            const auto time = load<timeval>(element);
            return std::to_string(time.tv_sec) + "." + formatted("%06ld", static_cast<long>(time.tv_usec));
        }
        case TypeForm::kPointer:
            return formatted("%p", load<const void*>(element));
        case TypeForm::kNspace:
            return std::string(nspace_view(static_cast<const char*>(element)));
        case TypeForm::kString:
            return quoted(load<const char*>(element));
        case TypeForm::kInfo:
        case TypeForm::kStruct:
            if (type == PMIX_PROC) {
                const auto* proc = as<pmix_proc_t>(element);
                return std::string(nspace_view(proc->nspace)) + ":" + rank_text(proc->rank);
            }
            return struct_text(element, *row, depth);
        case TypeForm::kValue: {
            const auto* value = as<pmix_value_t>(element);
            return std::string(data_type_name(value->type)) + " " + held_text(value, depth);
        }
        case TypeForm::kDataArray: {
            const auto* array = as<pmix_data_array_t>(element);
            if (depth >= kMaxNesting) return "[nested too deeply]";
            return array_text(array->array, array->size, array->type, depth + 1);
        }
        case TypeForm::kDataBuffer:
            return std::to_string(as<pmix_data_buffer_t>(element)->bytes_used) + " bytes used";
        case TypeForm::kCpuset: {
            const auto* cpuset = as<pmix_cpuset_t>(element);
            return cpuset->bitmap == nullptr ? "not bound" : cpuset_list(cpuset);
        }
        case TypeForm::kTopology:
            return topology_summary(as<pmix_topology_t>(element));
    }
    return "?";
}

std::string heading(const std::string& prefix, pmix_data_type_t type) {
    return prefix + "Data type: " + data_type_name(type);
}

void print_lines(std::string& out, const std::string& prefix, const void* element, pmix_data_type_t type,
                 int depth);

void print_value(std::string& out, const std::string& prefix, const pmix_value_t* value, int depth) {
    const DataType* type = find_data_type(value->type);
    if (type == nullptr || type->storage == ValueStorage::kNone) {
        out += heading(prefix, value->type);
        if (value->type != PMIX_UNDEF) out += "\tValue: none";
        return;
    }
    const void* element = detail::value_element(value, *type);
    if (type->form == TypeForm::kString || type->form == TypeForm::kPointer) element = value->data.ptr;
    if (value->type == PMIX_REGEX) element = value->data.bo.bytes;
    if (element == nullptr) {
        out += heading(prefix, value->type) + "\tValue: NULL";
        return;
    }
    print_lines(out, prefix, element, value->type, depth);
}

void print_array(std::string& out, const std::string& prefix, const pmix_data_array_t* array, int depth) {
    out += heading(prefix, PMIX_DATA_ARRAY) + "\tType: " + data_type_name(array->type) +
           "\tSize: " + std::to_string(array->size);
    if (depth >= kMaxNesting) {
        out += "\tnested too deeply";
        return;
    }
    const DataType* type = find_data_type(array->type);
    if (type == nullptr || array->array == nullptr) return;
    for (std::size_t i = 0; i < array->size; ++i) {
        const void* element = at(array->array, i * type->size);
        const bool by_content = type->form == TypeForm::kString || type->form == TypeForm::kPointer;
        if (by_content) element = load<const void*>(element);
        if (array->type == PMIX_REGEX) element = as<pmix_byte_object_t>(element)->bytes;
        out += '\n';
        print_lines(out, prefix + "\t", element, array->type, depth + 1);
    }
}

void print_lines(std::string& out, const std::string& prefix, const void* element, pmix_data_type_t type,
                 int depth) {
    switch (type) {
        case PMIX_STRING:
        case PMIX_REGEX:
            out += heading(prefix, type) +
                   "\tValue: " + (element == nullptr ? "NULL" : static_cast<const char*>(element));
            return;
        case PMIX_POINTER:
            out += heading(prefix, type) + "\tAddress: " + formatted("%p", element);
            return;
        case PMIX_VALUE:
            print_value(out, prefix, as<pmix_value_t>(element), depth);
            return;
        case PMIX_INFO: {
            const auto* info = as<pmix_info_t>(element);
            out += prefix + "Key: " + std::string(key_view(info->key)) +
                   "\tDirectives: " + info_directives_text(info->flags) + "\n";
            print_value(out, prefix + "\t", &info->value, depth);
            return;
        }
        case PMIX_DATA_ARRAY:
            print_array(out, prefix, as<pmix_data_array_t>(element), depth);
            return;
        default:
            out += heading(prefix, type) + "\tValue: " + element_text(element, type, depth);
            return;
    }
}

}  // namespace

pmix_status_t print_element(std::string& out, const std::string& prefix, const void* element,
                            pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    if (row == nullptr || row->size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
    print_lines(out, prefix, element, type, 0);
    return PMIX_SUCCESS;
}

std::string value_text(const pmix_value_t* value) {
    std::string text;
    print_value(text, "", value, 0);
    return text;
}

std::string value_brief(const pmix_value_t* value) {
    if (value->type == PMIX_DATA_ARRAY && value->data.darray != nullptr) {
        const pmix_data_array_t& array = *value->data.darray;
        return "[" + std::to_string(array.size) + " x " + data_type_name(array.type) + "]";
    }
    return held_text(value, 0);
}

}  // namespace muster
