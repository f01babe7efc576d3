// SPDX-License-Identifier: BSD-3-Clause
// Supported attributes: see attribute_support.hpp.
#include "core/query/attribute_support.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/attribute/directives.hpp"

namespace muster {
namespace {

bool wanted(std::string_view list, std::string_view function) {
    while (!list.empty()) {
        const size_t comma = list.find(',');
        const std::string_view one = list.substr(0, comma);
        if (one == function || one == "all") return true;
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return false;
}

void add_function(const char* function, const std::vector<Attribute>& attributes, Info& functions) {
    auto* entries = static_cast<pmix_regattr_t*>(
        data_create_elements(std::max<size_t>(attributes.size(), 1), PMIX_REGATTR));
    if (entries == nullptr) return;
    for (size_t i = 0; i < attributes.size(); ++i) {
        entries[i].name = strdup(attributes[i].name);
        key_load(entries[i].string, attributes[i].key);
        entries[i].type = attributes[i].type;
    }
    functions.add(function, Value::adopt_array(entries, attributes.size(), PMIX_REGATTR));
}

/// As a host has registered them, by name.
std::vector<Attribute> attributes_of(const std::vector<std::string>& names) {
    std::vector<Attribute> attributes;
    for (const std::string& name : names) {
        // PRRTE uses this text for a function without attributes.
        if (name == "NONE" || name == "N/A") continue;
        const auto known = find_attribute_by_name(name.c_str());
        attributes.push_back(known ? *known : Attribute{name.c_str(), name.c_str(), PMIX_UNDEF, 0});
    }
    return attributes;
}

}  // namespace

pmix_status_t HostAttributes::add(const std::string& function, const std::vector<std::string>& names) {
    return by_function_.emplace(function, names).second ? PMIX_SUCCESS : PMIX_ERR_REPEAT_ATTR_REGISTRATION;
}

bool add_attribute_support(const char* level, const char* functions, const HostAttributes* host,
                           Info& found) {
    const std::string_view list = functions == nullptr || *functions == '\0' ? "all" : functions;
    Info entries;
    if (key_is(level, PMIX_HOST_ATTRIBUTES)) {
        if (host == nullptr) return false;
        for (const auto& [upcall, names] : host->all()) {
            // Attributes are listed under the API function, not the upcall.
            const auto known = function_of_upcall(upcall);
            const char* function = known ? function_name(*known) : upcall.c_str();
            if (wanted(list, function) || wanted(list, upcall))
                add_function(function, attributes_of(names), entries);
        }
    } else {
        const Actor actor = key_is(level, PMIX_TOOL_ATTRIBUTES)     ? kTool
                            : key_is(level, PMIX_SERVER_ATTRIBUTES) ? kServer
                                                                    : kClient;
        for (size_t i = 0; i < kFunctions; ++i) {
            const auto function = static_cast<Function>(i);
            if (!wanted(list, function_name(function))) continue;
            std::vector<Attribute> attributes;
            for_each_use(function, actor, [&](const Attribute& one) { attributes.push_back(one); });
            if (!attributes.empty()) add_function(function_name(function), attributes, entries);
        }
    }
    if (entries.empty()) return false;
    found.add(level, std::move(entries).to_value());
    return true;
}

}  // namespace muster
