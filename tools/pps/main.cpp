// SPDX-License-Identifier: BSD-3-Clause
// pps: the jobs that a server knows, their nodes and processes.
#include <fmt/core.h>
#include <pmix.h>

#include <utility>

#include "tools/session/session.hpp"
#include "tools/session/standard_descriptors.hpp"
#include "tools/session/values.hpp"

namespace {

using namespace muster::tools;

/// One query for one key about one namespace (or none); the infos of the answer as JSON values by key.
pmix_status_t ask(const char* key, const std::string& nspace, nlohmann::json& answer) {
    pmix_query_t query;
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (!nspace.empty()) {
        PMIx_Query_qualifiers_create(&query, 1);
        PMIx_Info_load(&query.qualifiers[0], PMIX_NSPACE, nspace.c_str(), PMIX_STRING);
    }
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    PMIx_Query_destruct(&query);
    if (status == PMIX_SUCCESS && count > 0) answer = to_json(results[0].value);
    PMIx_Info_free(results, count);
    return status;
}

std::string node_list(const std::string& nspace) {
    pmix_proc_t job;
    PMIx_Load_procid(&job, nspace.c_str(), PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&job, PMIX_NODE_LIST, nullptr, 0, &value) != PMIX_SUCCESS) return "";
    std::string list = value->type == PMIX_STRING && value->data.string != nullptr ? value->data.string : "";
    PMIx_Value_free(value, 1);
    return list;
}

void print_processes(const nlohmann::json& processes) {
    fmt::print("    {:>6} {:>9} {:<20} {:<20} {}\n", "rank", "pid", "node", "executable", "state");
    for (const auto& one : processes) {
        fmt::print("    {:>6} {:>9} {:<20} {:<20} {}\n", one.value("rank", 0U), one.value("pid", 0),
                   one.value("host", ""), one.value("executable", ""), one.value("state", ""));
    }
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    CommandLine line{"Jobs and processes that a PMIx server knows", "pps"};
    SessionOptions options;
    bool nodes = false;
    define_session_options(line, options);
    line.flag("--nodes", nodes, "Show the nodes of each job");
    if (const auto status = line.parse(argc, argv)) return *status;
    const Session session("pps", options, Otherwise::SystemFirst);
    if (!session.ok()) return 1;

    nlohmann::json answer;
    if (const pmix_status_t status = ask(PMIX_QUERY_NAMESPACES, "", answer); status != PMIX_SUCCESS)
        return session.failed("the server does not list its namespaces", status);
    const std::string list = answer.is_string() ? answer.get<std::string>() : "";
    if (!options.json) fmt::print("Active nspaces: {}\n", list);
    nlohmann::json jobs = nlohmann::json::array();
    for (const std::string& nspace : split(list, ',')) {
        nlohmann::json job = {{"nspace", nspace}};
        if (nodes) job["nodes"] = split(node_list(nspace), ',');
        nlohmann::json processes;
        if ((options.verbose || options.json) &&
            ask(PMIX_QUERY_PROC_TABLE, nspace, processes) == PMIX_SUCCESS && processes.is_array())
            job["processes"] = processes;
        if (!options.json && (nodes || job.contains("processes"))) {
            fmt::print("{}\n", nspace);
            if (nodes) fmt::print("    nodes: {}\n", node_list(nspace));
            if (job.contains("processes")) print_processes(job["processes"]);
        }
        jobs.push_back(std::move(job));
    }
    if (options.json) fmt::print("{}\n", nlohmann::json{{"jobs", jobs}}.dump(2));
    return 0;
}
