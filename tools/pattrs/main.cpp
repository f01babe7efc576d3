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
    std::string functions;  ///< whose attributes are wanted
    bool list = false;      ///< only the functions
};

/// One level's answer: an object of functions, each an array of attributes.
pmix_status_t ask(const Level& level, nlohmann::json& functions) {
    pmix_query_t query;
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&query, 1);
    PMIx_Info_load(&query.qualifiers[0], level.key, level.list ? "all" : level.functions.c_str(),
                   PMIX_STRING);
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    PMIx_Query_destruct(&query);
    for (size_t i = 0; i < count; ++i) {
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
    if (!level.list) {
        fmt::print("{:<36} {:<26} {}\n", "NAME", "STRING", "TYPE");
        fmt::print("{:-<36} {:-<26} {:-<20}\n", "", "", "");
    }
    for (const auto& [function, attributes] : functions.items()) {
        fmt::print("{}{}\n", function, level.list ? "" : ":");
        if (level.list) continue;
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
    Level levels[] = {{"client", "CLIENT", PMIX_CLIENT_ATTRIBUTES, {}},
                      {"server", "SERVER", PMIX_SERVER_ATTRIBUTES, {}},
                      {"tool", "TOOL", PMIX_TOOL_ATTRIBUTES, {}},
                      {"host", "HOST", PMIX_HOST_ATTRIBUTES, {}}};
    define_session_options(line, options);
    line.flag("--do-not-connect", options.do_not_connect, "Ask this library alone");
    for (Level& level : levels) {
        line.option("--" + std::string(level.option), level.functions,
                    "Functions (comma list, or all) whose attributes at this level to show");
        line.flag("--" + std::string(level.option) + "-fns", level.list,
                  "The functions that have attributes at this level");
    }
    if (const auto status = line.parse(argc, argv)) return *status;
    const Session session("pattrs", options, Otherwise::Optional);
    if (!session.ok()) return 1;
    nlohmann::json all = nlohmann::json::object();
    int outcome = 0;
    for (const Level& level : levels) {
        if (level.functions.empty() && !level.list) continue;
        nlohmann::json functions = nlohmann::json::object();
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
