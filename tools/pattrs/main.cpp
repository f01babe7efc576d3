// SPDX-License-Identifier: BSD-3-Clause
// pattrs: the attributes that this library, a server and its host support, by function.
#include <fmt/core.h>
#include <pmix.h>

#include "tools/session/session.hpp"
#include "tools/session/standard_descriptors.hpp"
#include "tools/session/values.hpp"

namespace {

using namespace muster::tools;

struct Level {
    const char* option;
    const char* title;
    const char* key;
    const char* list_key;
    std::string functions;  ///< whose attributes are requested
    bool list = false;      ///< only the functions
};

/// The names in a list of functions: the text itself, or that in an array of infos, as servers of OpenPMIx
/// answer.
void add_names(const pmix_value_t& value, nlohmann::json& names) {
    if (value.type == PMIX_STRING && value.data.string != nullptr) {
        for (const std::string& name : split(value.data.string, ','))
            names.push_back(name);
    } else if (value.type == PMIX_DATA_ARRAY && value.data.darray != nullptr &&
               value.data.darray->type == PMIX_INFO) {
        const auto* infos = static_cast<const pmix_info_t*>(value.data.darray->array);
        for (size_t i = 0; i < value.data.darray->size; ++i)
            add_names(infos[i].value, names);
    }
}

/// One level's answer: an object of functions, each an array of attributes; or the array of the functions.
pmix_status_t ask(const Level& level, nlohmann::json& functions) {
    pmix_query_t query;
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&query, 1);
    if (level.list) {
        PMIx_Info_load(&query.qualifiers[0], level.list_key, nullptr, PMIX_BOOL);
    } else {
        PMIx_Info_load(&query.qualifiers[0], level.key, level.functions.c_str(), PMIX_STRING);
    }
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    PMIx_Query_destruct(&query);
    for (size_t i = 0; i < count; ++i) {
        if (level.list) {
            add_names(results[i].value, functions);
            continue;
        }
        for (const auto& function : to_json(results[i].value)) {
            if (function.is_object() && function.contains("key"))
                functions[function["key"]] = function["value"];
        }
    }
    PMIx_Info_free(results, count);
    return status;
}

void print(const Level& level, const nlohmann::json& functions) {
    fmt::print("{} SUPPORTED {}: \n", level.title, level.list ? "FUNCTIONS" : "ATTRIBUTES");
    if (level.list) {
        for (const auto& function : functions)
            fmt::print("{}\n", function.get<std::string>());
        return;
    }
    fmt::print("{:<36} {:<26} {}\n", "NAME", "STRING", "TYPE");
    fmt::print("{:-<36} {:-<26} {:-<20}\n", "", "", "");
    for (const auto& [function, attributes] : functions.items()) {
        fmt::print("{}:\n", function);
        if (attributes.empty()) fmt::print("NONE\n");
        for (const auto& one : attributes)
            fmt::print("{:<36} {:<26} {}\n", one.value("name", ""), one.value("key", ""),
                       one.value("type", ""));
    }
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    CommandLine line{"Attributes and functions that are supported", "pattrs"};
    SessionOptions options;
    Level levels[] = {{"client", "CLIENT", PMIX_CLIENT_ATTRIBUTES, PMIX_CLIENT_FUNCTIONS, {}},
                      {"server", "SERVER", PMIX_SERVER_ATTRIBUTES, PMIX_SERVER_FUNCTIONS, {}},
                      {"tool", "TOOL", PMIX_TOOL_ATTRIBUTES, PMIX_TOOL_FUNCTIONS, {}},
                      {"host", "HOST", PMIX_HOST_ATTRIBUTES, PMIX_HOST_FUNCTIONS, {}}};
    define_session_options(line, options);
    line.flag("--do-not-connect", options.do_not_connect, "Ask this library alone");
    for (Level& level : levels) {
        line.option("--" + std::string(level.option), level.functions,
                    "Functions (comma list, or all) whose attributes at this level to show");
        line.flag("--" + std::string(level.option) + "-fns", level.list,
                  "The functions that are supported at this level");
    }
    if (const auto status = line.parse(argc, argv)) return *status;
    const Session session("pattrs", options, Otherwise::Optional);
    if (!session.ok()) return 1;
    nlohmann::json all = nlohmann::json::object();
    int outcome = 0;
    for (const Level& level : levels) {
        if (level.functions.empty() && !level.list) continue;
        nlohmann::json functions = level.list ? nlohmann::json::array() : nlohmann::json::object();
        const pmix_status_t status = ask(level, functions);
        if (status != PMIX_SUCCESS && status != PMIX_ERR_NOT_FOUND)
            outcome = session.failed(level.option, status);
        if (options.json) {
            all[level.option] = functions;
        } else {
            print(level, functions);
        }
    }
    if (options.json) fmt::print("{}\n", all.dump(2));
    return outcome;
}
