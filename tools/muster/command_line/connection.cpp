// SPDX-License-Identifier: BSD-3-Clause
// Connecting with a muster and asking it: see connection.hpp.
#include "tools/muster/command_line/connection.hpp"

#include <fmt/format.h>
#include <pmix/muster.h>
#include <pmix_tool.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {

std::optional<int> positive_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
    return value;
}

void check(pmix_status_t status, const std::string& what) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw std::runtime_error(fmt::format("{}: {}", what, PMIx_Error_string(status)));
}

Connection::Connection(const std::string& server) {
    if (server.starts_with('-')) throw std::invalid_argument(fmt::format("unknown option '{}'", server));
    InfoList info;
    const int seconds = 10;  // for a server that does not answer, as one that is stopped
    info.add(PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (const std::optional<int> pid = positive_number(server)) {
        const auto value = static_cast<pid_t>(*pid);
        info.add(PMIX_SERVER_PIDINFO, &value, PMIX_PID);
    } else if (!server.empty()) {
        info.text(PMIX_SERVER_URI, server);
    }
    char* why = nullptr;
    info.add(MUSTER_ERROR_TEXT, &why, PMIX_POINTER);
    const pmix_status_t status = PMIx_tool_init(&self_, info.data(), info.size());
    const std::unique_ptr<char, decltype(&free)> text(why, free);
    std::string what = server.empty() ? "no muster is found; say its process ID or URI"
                                      : fmt::format("cannot connect with muster '{}'", server);
    if (text) what += fmt::format(" ({})", text.get());
    check(status, what);
}

Connection::~Connection() {
    PMIx_tool_finalize();
}

Found::~Found() {
    if (info != nullptr) PMIX_INFO_FREE(info, count);
}

pmix_status_t query(const char* key, const std::string& nspace, Found& found) {
    pmix_query_t question;
    PMIX_QUERY_CONSTRUCT(&question);
    PMIx_Argv_append_nosize(&question.keys, key);
    if (!nspace.empty()) {
        PMIX_QUERY_QUALIFIERS_CREATE(&question, 1);
        PMIX_INFO_LOAD(&question.qualifiers[0], PMIX_NSPACE, nspace.c_str(), PMIX_STRING);
    }
    const pmix_status_t status = PMIx_Query_info(&question, 1, &found.info, &found.count);
    PMIX_QUERY_DESTRUCT(&question);
    return status;
}

std::vector<std::string> jobs() {
    Found found;
    check(query(PMIX_QUERY_NAMESPACES, "", found), "the jobs cannot be queried");
    const std::string list = found.count > 0 ? text_of(found.info[0].value) : "";
    return list.empty() ? std::vector<std::string>() : split(list, ',');
}

void for_each_process(const std::string& nspace, const std::function<void(const pmix_proc_info_t&)>& visit) {
    Found found;
    if (query(PMIX_QUERY_PROC_TABLE, nspace, found) != PMIX_SUCCESS || found.count == 0) return;
    const pmix_value_t& value = found.info[0].value;
    if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr ||
        value.data.darray->type != PMIX_PROC_INFO)
        return;
    const auto* table = static_cast<const pmix_proc_info_t*>(value.data.darray->array);
    for (size_t i = 0; i < value.data.darray->size; ++i)
        visit(table[i]);
}

}  // namespace muster::launcher
