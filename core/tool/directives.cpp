// SPDX-License-Identifier: BSD-3-Clause
// Parsing the directives of a tool: see directives.hpp.
#include "core/tool/directives.hpp"

#include "core/client/connector.hpp"
#include "core/runtime/get_directives.hpp"

namespace muster {
namespace {

Error wrong(const char* key) {
    return {PMIX_ERR_BAD_PARAM, std::string("the value of ") + key + " is of the wrong type"};
}

/// A text attribute; an error if it is present and not a text.
Result<void> read_text(InfoView info, const char* key, std::string& out) {
    const pmix_value_t* value = info.value(key);
    if (value == nullptr) return {};
    const char* text = value->type == PMIX_PROC_NSPACE && value->data.nspace != nullptr
                           ? *value->data.nspace
                           : value_as_string(value);
    if (text == nullptr || *text == '\0') return wrong(key);
    out.assign(text, strnlen(text, 65536));
    return {};
}

}  // namespace

Result<ToolDirectives> ToolDirectives::read(Runtime& runtime, InfoView info) {
    ToolDirectives wanted;
    const Parameters& parameters = runtime.parameters();
    const auto milliseconds = [](double seconds) {
        return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    };
    wanted.session_directory = runtime.session_directory();
    wanted.system_directory = runtime.system_directory();
    wanted.attempts = static_cast<uint32_t>(parameters.integer("tool_base_connect_attempts"));
    wanted.delay = milliseconds(parameters.seconds("tool_base_connect_delay"));
    wanted.limit = milliseconds(parameters.seconds("client_base_connect_timeout"));

    std::string tcp;
    const std::pair<const char*, std::string*> texts[] = {
        {PMIX_TOOL_ATTACHMENT_FILE, &wanted.attachment_file},
        {PMIX_SERVER_URI, &wanted.uri},
        {PMIX_TCP_URI, &tcp},
        {PMIX_SERVER_NSPACE, &wanted.server_nspace},
        {PMIX_SERVER_HOSTNAME, &wanted.host},
        {PMIX_SERVER_TMPDIR, &wanted.session_directory},
        {PMIX_SYSTEM_TMPDIR, &wanted.system_directory}};
    for (const auto& [key, out] : texts) {
        if (auto read = read_text(info, key, *out); !read) return read.error();
    }
    if (!tcp.empty()) {
        if (!wanted.uri.empty())
            return Error{PMIX_ERR_BAD_PARAM, "PMIX_SERVER_URI and PMIX_TCP_URI exclude each other"};
        wanted.uri = tcp;
        wanted.tcp_only = true;
    }
    if (const pmix_value_t* pid = info.value(PMIX_SERVER_PIDINFO)) {
        const auto number =
            pid->type == PMIX_PID ? std::optional<pid_t>(pid->data.pid) : value_as_number<pid_t>(pid);
        if (!number || *number <= 0) return wrong(PMIX_SERVER_PIDINFO);
        wanted.server_pid = *number;
    }
    wanted.system_only = info.is_true(PMIX_CONNECT_TO_SYSTEM);
    wanted.system_first = info.is_true(PMIX_CONNECT_SYSTEM_FIRST);
    wanted.primary = info.is_true(PMIX_PRIMARY_SERVER);
    wanted.optional = info.is_true(PMIX_TOOL_CONNECT_OPTIONAL);
    wanted.do_not_connect = info.is_true(PMIX_TOOL_DO_NOT_CONNECT);
    if (info.has(PMIX_CONNECT_MAX_RETRIES)) {
        const auto attempts = info.number<uint32_t>(PMIX_CONNECT_MAX_RETRIES);
        if (!attempts) return wrong(PMIX_CONNECT_MAX_RETRIES);
        wanted.attempts = *attempts;
    }
    if (wanted.attempts == 0) wanted.attempts = 1;
    if (info.has(PMIX_CONNECT_RETRY_DELAY)) {
        const auto delay = info.number<uint32_t>(PMIX_CONNECT_RETRY_DELAY);
        if (!delay) return wrong(PMIX_CONNECT_RETRY_DELAY);
        wanted.delay = std::chrono::seconds(*delay);
    }
    if (const auto limit = read_timeout(info)) wanted.limit = *limit;
    return wanted;
}

PeerKind ToolIdentity::kind() const {
    if (scheduler) return PeerKind::Scheduler;
    if (from_environment) return launcher ? PeerKind::LauncherClient : PeerKind::ToolClient;
    if (nspace.empty()) return launcher ? PeerKind::LauncherNeedsId : PeerKind::ToolNeedsId;
    return launcher ? PeerKind::LauncherGivenId : PeerKind::ToolGivenId;
}

Result<ToolIdentity> ToolIdentity::read(InfoView info) {
    ToolIdentity identity;
    identity.launcher = info.is_true(PMIX_LAUNCHER);
    identity.scheduler = info.is_true(PMIX_SERVER_SCHEDULER);
    if (auto read = read_text(info, PMIX_TOOL_NSPACE, identity.nspace); !read) return read.error();
    if (identity.nspace.size() > PMIX_MAX_NSLEN)
        return Error{PMIX_ERR_BAD_PARAM,
                     "PMIX_TOOL_NSPACE is longer than " + std::to_string(PMIX_MAX_NSLEN) + " characters"};
    if (info.has(PMIX_TOOL_RANK)) {
        const auto rank = info.number<uint32_t>(PMIX_TOOL_RANK);
        if (!rank) return wrong(PMIX_TOOL_RANK);
        if (*rank >= PMIX_RANK_VALID)
            return Error{PMIX_ERR_BAD_PARAM,
                         "PMIX_TOOL_RANK is " + std::to_string(*rank) + ", which is the rank of no process"};
        if (identity.nspace.empty())
            return Error{PMIX_ERR_BAD_PARAM, "PMIX_TOOL_RANK needs PMIX_TOOL_NSPACE"};
        identity.rank = *rank;
    } else if (!identity.nspace.empty()) {
        identity.rank = 0;
    }
    if (!identity.nspace.empty()) return identity;
    auto environment = ServerContact::from_environment();
    if (!environment) return environment.error();
    if (*environment) {
        identity.from_environment = true;
        identity.nspace = (*environment)->nspace;
        identity.rank = (*environment)->rank;
    }
    return identity;
}

}  // namespace muster
