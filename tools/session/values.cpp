// SPDX-License-Identifier: BSD-3-Clause
// Names of attributes, and values as text and as JSON: see values.hpp.
#include "tools/session/values.hpp"

#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace muster::tools {

std::string name_of_key(const std::string& key) {
    const char* name = PMIx_Get_attribute_name(key.c_str());
    return name == nullptr ? key : name;
}

std::string key_of_name(const std::string& name) {
    if (name.compare(0, 5, "PMIX_") != 0) return name;
    const char* key = PMIx_Get_attribute_string(name.c_str());
    return key == nullptr || key == name ? std::string() : key;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string to_text(const pmix_value_t& value) {
    const std::unique_ptr<char, decltype(&std::free)> text(PMIx_Value_string(&value), std::free);
    return text == nullptr ? "NULL" : text.get();
}

namespace {

std::string text_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

template <class T>
T number(const pmix_value_t& value, pmix_data_type_t type) {
    T result{};
    PMIx_Value_get_number(&value, &result, type);
    return result;
}

nlohmann::json proc_json(const pmix_proc_t& proc) {
    return {{"nspace", proc.nspace}, {"rank", proc.rank}};
}

nlohmann::json array_json(const pmix_data_array_t* array) {
    nlohmann::json list = nlohmann::json::array();
    if (array == nullptr) return list;
    for (size_t i = 0; i < array->size; ++i) {
        switch (array->type) {
            case PMIX_INFO: {
                const pmix_info_t& info = static_cast<const pmix_info_t*>(array->array)[i];
                list.push_back({{"key", name_of_key(info.key)}, {"value", to_json(info.value)}});
                break;
            }
            case PMIX_PROC:
                list.push_back(proc_json(static_cast<const pmix_proc_t*>(array->array)[i]));
                break;
            case PMIX_STRING:
                list.push_back(text_or_empty(static_cast<char* const*>(array->array)[i]));
                break;
            case PMIX_UINT32:
                list.push_back(static_cast<const uint32_t*>(array->array)[i]);
                break;
            case PMIX_PROC_INFO: {
                const pmix_proc_info_t& proc = static_cast<const pmix_proc_info_t*>(array->array)[i];
                list.push_back({{"nspace", proc.proc.nspace},
                                {"rank", proc.proc.rank},
                                {"host", text_or_empty(proc.hostname)},
                                {"executable", text_or_empty(proc.executable_name)},
                                {"pid", proc.pid},
                                {"exit_code", proc.exit_code},
                                {"state", PMIx_Proc_state_string(proc.state)}});
                break;
            }
            case PMIX_REGATTR: {
                const pmix_regattr_t& attribute = static_cast<const pmix_regattr_t*>(array->array)[i];
                list.push_back({{"name", text_or_empty(attribute.name)},
                                {"key", attribute.string},
                                {"type", PMIx_Data_type_string(attribute.type)}});
                break;
            }
            default:
                return {{"type", PMIx_Data_type_string(array->type)}, {"size", array->size}};
        }
    }
    return list;
}

}  // namespace

nlohmann::json to_json(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_UNDEF:
            return nullptr;
        case PMIX_BOOL:
            return value.data.flag;
        case PMIX_STRING:
            return text_or_empty(value.data.string);
        case PMIX_PID:
        case PMIX_INT:
        case PMIX_INT8:
        case PMIX_INT16:
        case PMIX_INT32:
        case PMIX_INT64:
            return number<int64_t>(value, PMIX_INT64);
        case PMIX_BYTE:
        case PMIX_SIZE:
        case PMIX_UINT:
        case PMIX_UINT8:
        case PMIX_UINT16:
        case PMIX_UINT32:
        case PMIX_UINT64:
        case PMIX_PROC_RANK:
            return number<uint64_t>(value, PMIX_UINT64);
        case PMIX_FLOAT:
        case PMIX_DOUBLE:
            return number<double>(value, PMIX_DOUBLE);
        case PMIX_PROC:
            return value.data.proc == nullptr ? nlohmann::json() : proc_json(*value.data.proc);
        case PMIX_DATA_ARRAY:
            return array_json(value.data.darray);
        default:
            return to_text(value);
    }
}

}  // namespace muster::tools
