// SPDX-License-Identifier: BSD-3-Clause
// Supported attributes: see attribute_support.hpp.
#include "core/query/attribute_support.hpp"

#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/attribute/attribute.hpp"

namespace muster {
namespace {

/// What the library itself makes something of, in each of its functions. What it only passes on belongs to
/// the host's level.
struct Supported {
    const char* function;
    std::initializer_list<const char*> names;
};

constexpr Supported kClient[] = {
    {"PMIx_Init",
     {"PMIX_EXTERNAL_PROGRESS", "PMIX_BIND_PROGRESS_THREAD", "PMIX_BIND_REQUIRED",
      "PMIX_DEBUG_STOP_IN_INIT"}},
    {"PMIx_Get",
     {"PMIX_OPTIONAL", "PMIX_IMMEDIATE", "PMIX_DATA_SCOPE", "PMIX_SESSION_INFO", "PMIX_SESSION_ID",
      "PMIX_JOB_INFO", "PMIX_APP_INFO", "PMIX_APPNUM", "PMIX_NODE_INFO", "PMIX_NODEID", "PMIX_HOSTNAME",
      "PMIX_GET_STATIC_VALUES", "PMIX_GET_POINTER_VALUES", "PMIX_GET_REFRESH_CACHE", "PMIX_TIMEOUT"}},
    {"PMIx_Query_info",
     {"PMIX_QUERY_REFRESH_CACHE", "PMIX_SESSION_INFO", "PMIX_JOB_INFO", "PMIX_APP_INFO", "PMIX_NODE_INFO",
      "PMIX_PROC_INFO", "PMIX_PROCID", "PMIX_NSPACE", "PMIX_RANK", "PMIX_QUERY_ATTRIBUTE_SUPPORT",
      "PMIX_CLIENT_ATTRIBUTES", "PMIX_QUERY_AVAIL_SERVERS", "PMIX_QUERY_STABLE_ABI_VERSION",
      "PMIX_QUERY_PROVISIONAL_ABI_VERSION"}},
    {"PMIx_Log",
     {"PMIX_LOG_STDERR", "PMIX_LOG_STDOUT", "PMIX_LOG_SYSLOG", "PMIX_LOG_LOCAL_SYSLOG", "PMIX_LOG_SYSLOG_PRI",
      "PMIX_LOG_SOURCE", "PMIX_LOG_TIMESTAMP", "PMIX_LOG_GENERATE_TIMESTAMP", "PMIX_LOG_TAG_OUTPUT",
      "PMIX_LOG_TIMESTAMP_OUTPUT", "PMIX_LOG_XML_OUTPUT", "PMIX_LOG_ONCE"}},
    {"PMIx_Process_monitor", {"PMIX_SEND_HEARTBEAT"}},
    {"PMIx_Get_credential", {"PMIX_CRED_TYPE"}},
    {"PMIx_Validate_credential", {"PMIX_CRED_TYPE"}},
};

constexpr Supported kTool[] = {
    {"PMIx_tool_init",
     {"PMIX_TOOL_NSPACE",
      "PMIX_TOOL_RANK",
      "PMIX_TOOL_DO_NOT_CONNECT",
      "PMIX_TOOL_CONNECT_OPTIONAL",
      "PMIX_TOOL_ATTACHMENT_FILE",
      "PMIX_SERVER_URI",
      "PMIX_TCP_URI",
      "PMIX_SERVER_PIDINFO",
      "PMIX_SERVER_NSPACE",
      "PMIX_CONNECT_TO_SYSTEM",
      "PMIX_CONNECT_SYSTEM_FIRST",
      "PMIX_SERVER_HOSTNAME",
      "PMIX_CONNECT_RETRY_DELAY",
      "PMIX_CONNECT_MAX_RETRIES",
      "PMIX_TIMEOUT",
      "PMIX_SERVER_TMPDIR",
      "PMIX_SYSTEM_TMPDIR",
      "PMIX_LAUNCHER",
      "PMIX_LAUNCHER_RENDEZVOUS_FILE",
      "PMIX_TCP_REPORT_URI",
      "PMIX_TCP_IF_INCLUDE",
      "PMIX_TCP_IF_EXCLUDE",
      "PMIX_TCP_IPV4_PORT",
      "PMIX_TCP_IPV6_PORT",
      "PMIX_TCP_DISABLE_IPV4",
      "PMIX_TCP_DISABLE_IPV6",
      "PMIX_DEBUG_STOP_IN_INIT",
      "PMIX_EXTERNAL_PROGRESS",
      "PMIX_BIND_PROGRESS_THREAD",
      "PMIX_BIND_REQUIRED"}},
    {"PMIx_tool_attach_to_server",
     {"PMIX_TOOL_ATTACHMENT_FILE", "PMIX_SERVER_URI", "PMIX_TCP_URI", "PMIX_SERVER_PIDINFO",
      "PMIX_SERVER_NSPACE", "PMIX_CONNECT_TO_SYSTEM", "PMIX_CONNECT_SYSTEM_FIRST", "PMIX_SERVER_HOSTNAME",
      "PMIX_CONNECT_RETRY_DELAY", "PMIX_CONNECT_MAX_RETRIES", "PMIX_TIMEOUT", "PMIX_SERVER_TMPDIR",
      "PMIX_SYSTEM_TMPDIR", "PMIX_PRIMARY_SERVER"}},
    {"PMIx_tool_set_server", {"PMIX_WAIT_FOR_CONNECTION", "PMIX_TIMEOUT"}},
};

constexpr Supported kServer[] = {
    {"PMIx_Fence", {"PMIX_COLLECT_DATA", "PMIX_TIMEOUT"}},
    {"PMIx_Get", {"PMIX_IMMEDIATE", "PMIX_TIMEOUT"}},
    {"PMIx_Publish", {"PMIX_TIMEOUT"}},
    {"PMIx_Lookup", {"PMIX_TIMEOUT"}},
    {"PMIx_Unpublish", {"PMIX_TIMEOUT"}},
    {"PMIx_Spawn", {"PMIX_TIMEOUT"}},
    {"PMIx_Connect", {"PMIX_TIMEOUT"}},
    {"PMIx_Disconnect", {"PMIX_TIMEOUT"}},
    {"PMIx_Query_info",
     {"PMIX_QUERY_NAMESPACES", "PMIX_PROCID", "PMIX_NSPACE", "PMIX_RANK", "PMIX_QUERY_REFRESH_CACHE",
      "PMIX_QUERY_ATTRIBUTE_SUPPORT", "PMIX_SERVER_ATTRIBUTES", "PMIX_HOST_ATTRIBUTES", "PMIX_TIMEOUT"}},
    {"PMIx_Job_control",
     {"PMIX_REGISTER_CLEANUP", "PMIX_REGISTER_CLEANUP_DIR", "PMIX_CLEANUP_RECURSIVE", "PMIX_CLEANUP_EMPTY",
      "PMIX_CLEANUP_IGNORE", "PMIX_CLEANUP_LEAVE_TOPDIR", "PMIX_TIMEOUT"}},
    {"PMIx_Process_monitor",
     {"PMIX_MONITOR_ID", "PMIX_MONITOR_CANCEL", "PMIX_MONITOR_HEARTBEAT", "PMIX_MONITOR_HEARTBEAT_TIME",
      "PMIX_MONITOR_HEARTBEAT_DROPS", "PMIX_MONITOR_FILE", "PMIX_MONITOR_FILE_SIZE",
      "PMIX_MONITOR_FILE_ACCESS", "PMIX_MONITOR_FILE_MODIFY", "PMIX_MONITOR_FILE_CHECK_TIME",
      "PMIX_MONITOR_FILE_DROPS", "PMIX_RANGE"}},
    {"PMIx_server_init",
     {"PMIX_SERVER_TOOL_SUPPORT", "PMIX_SERVER_SYSTEM_SUPPORT", "PMIX_SERVER_SESSION_SUPPORT",
      "PMIX_SERVER_REMOTE_CONNECTIONS", "PMIX_SERVER_NSPACE", "PMIX_SERVER_RANK", "PMIX_SERVER_TMPDIR",
      "PMIX_SYSTEM_TMPDIR", "PMIX_LAUNCHER_RENDEZVOUS_FILE", "PMIX_EXTERNAL_PROGRESS", "PMIX_TCP_REPORT_URI",
      "PMIX_TCP_IF_INCLUDE", "PMIX_TCP_IF_EXCLUDE", "PMIX_TCP_IPV4_PORT", "PMIX_TCP_IPV6_PORT",
      "PMIX_TCP_DISABLE_IPV4", "PMIX_TCP_DISABLE_IPV6", "PMIX_BIND_PROGRESS_THREAD", "PMIX_BIND_REQUIRED"}},
    {"PMIx_server_register_nspace", {"PMIX_REGISTER_NODATA"}},
    {"PMIx_Fabric_register",
     {"PMIX_FABRIC_PLANE", "PMIX_FABRIC_IDENTIFIER", "PMIX_FABRIC_DEVICE_TYPE", "PMIX_TIMEOUT"}},
    {"PMIx_server_setup_application",
     {"PMIX_SETUP_APP_ENVARS", "PMIX_SETUP_APP_NONENVARS", "PMIX_SETUP_APP_ALL", "PMIX_ALLOC_FABRIC",
      "PMIX_ALLOC_FABRIC_ID", "PMIX_ALLOC_FABRIC_TYPE", "PMIX_ALLOC_FABRIC_PLANE", "PMIX_ALLOC_FABRIC_ENDPTS",
      "PMIX_ALLOC_FABRIC_ENDPTS_NODE", "PMIX_ALLOC_FABRIC_SEC_KEY", "PMIX_NODE_MAP", "PMIX_PROC_MAP"}},
};

/// The user's functions that lead to an upcall: attributes are told by what users call.
const char* user_function(const std::string& upcall) {
    static constexpr const char* kFunctions[][2] = {{"fence_nb", "PMIx_Fence"},
                                                    {"direct_modex", "PMIx_Get"},
                                                    {"publish", "PMIx_Publish"},
                                                    {"lookup", "PMIx_Lookup"},
                                                    {"unpublish", "PMIx_Unpublish"},
                                                    {"spawn", "PMIx_Spawn"},
                                                    {"connect", "PMIx_Connect"},
                                                    {"disconnect", "PMIx_Disconnect"},
                                                    {"register_events", "PMIx_Register_event_handler"},
                                                    {"deregister_events", "PMIx_Deregister_event_handler"},
                                                    {"notify_event", "PMIx_Notify_event"},
                                                    {"query", "PMIx_Query_info"},
                                                    {"log", "PMIx_Log"},
                                                    {"log2", "PMIx_Log"},
                                                    {"allocate", "PMIx_Allocation_request"},
                                                    {"job_control", "PMIx_Job_control"},
                                                    {"monitor", "PMIx_Process_monitor"},
                                                    {"get_credential", "PMIx_Get_credential"},
                                                    {"validate_credential", "PMIx_Validate_credential"},
                                                    {"iof_pull", "PMIx_IOF_pull"},
                                                    {"push_stdin", "PMIx_IOF_push"},
                                                    {"group", "PMIx_Group_construct"},
                                                    {"fabric", "PMIx_Fabric_register"},
                                                    {"abort", "PMIx_Abort"}};
    for (const auto& [name, function] : kFunctions) {
        if (upcall == name) return function;
    }
    return upcall.c_str();
}

bool wanted(std::string_view list, std::string_view function) {
    while (!list.empty()) {
        const size_t comma = list.find(',');
        const std::string_view one = list.substr(0, comma);
        if (one == function || one == "all") return true;
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return false;
}

template <class Names>
void add_function(const char* function, const Names& names, Info& functions) {
    auto* attributes = static_cast<pmix_regattr_t*>(data_create_elements(names.size(), PMIX_REGATTR));
    if (attributes == nullptr) return;
    size_t count = 0;
    for (const auto& given : names) {
        const std::string name(given);
        // As PRRTE says that a function takes none.
        if (name == "NONE" || name == "N/A") continue;
        const std::optional<Attribute> attribute = find_attribute_by_name(name.c_str());
        pmix_regattr_t& entry = attributes[count++];
        entry.name = strdup(attribute ? attribute->name : name.c_str());
        key_load(entry.string, attribute ? attribute->key : name.c_str());
        entry.type = attribute ? attribute->type : PMIX_UNDEF;
    }
    functions.add(function, Value::adopt_array(attributes, count, PMIX_REGATTR));
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
            const char* function = user_function(upcall);
            if (wanted(list, function) || wanted(list, upcall)) add_function(function, names, entries);
        }
    } else {
        std::span<const Supported> table = kClient;
        if (key_is(level, PMIX_TOOL_ATTRIBUTES)) table = kTool;
        if (key_is(level, PMIX_SERVER_ATTRIBUTES)) table = kServer;
        for (const Supported& one : table) {
            if (wanted(list, one.function)) add_function(one.function, one.names, entries);
        }
    }
    if (entries.empty()) return false;
    found.add(level, std::move(entries).to_value());
    return true;
}

}  // namespace muster
