// SPDX-License-Identifier: BSD-3-Clause
// Supported functions and attributes: see support.hpp. tests/structure/functions compares the lists of
// functions with the headers.
#include "core/query/support.hpp"

#include <algorithm>
#include <cstring>

#include "core/attribute/directives.hpp"
#include "core/attribute/function.hpp"
#include "framework/base/proc.hpp"

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

constexpr std::string_view kClientFunctions =
    "PMIx_Init PMIx_Initialized PMIx_Finalize PMIx_Abort PMIx_Get_version PMIx_Progress "
    "PMIx_Progress_thread_stop PMIx_Put PMIx_Commit PMIx_Store_internal PMIx_Get PMIx_Get_nb PMIx_Fence "
    "PMIx_Fence_nb PMIx_Publish PMIx_Publish_nb PMIx_Lookup PMIx_Lookup_nb PMIx_Unpublish PMIx_Unpublish_nb "
    "PMIx_Spawn PMIx_Spawn_nb PMIx_Connect PMIx_Connect_nb PMIx_Disconnect PMIx_Disconnect_nb "
    "PMIx_Resolve_peers PMIx_Resolve_nodes PMIx_Register_event_handler PMIx_Deregister_event_handler "
    "PMIx_Notify_event PMIx_Query_info PMIx_Query_info_nb PMIx_Log PMIx_Log_nb PMIx_Allocation_request "
    "PMIx_Allocation_request_nb PMIx_Resource_block PMIx_Resource_block_nb PMIx_Job_control "
    "PMIx_Job_control_nb PMIx_Session_control PMIx_Process_monitor PMIx_Process_monitor_nb PMIx_Heartbeat "
    "PMIx_Get_credential PMIx_Get_credential_nb PMIx_Validate_credential PMIx_Validate_credential_nb "
    "PMIx_Group_construct PMIx_Group_construct_nb PMIx_Group_invite PMIx_Group_invite_nb PMIx_Group_join "
    "PMIx_Group_join_nb PMIx_Group_leave PMIx_Group_leave_nb PMIx_Group_destruct PMIx_Group_destruct_nb "
    "PMIx_Load_topology PMIx_Get_cpuset PMIx_Parse_cpuset_string PMIx_Get_relative_locality "
    "PMIx_Compute_distances PMIx_Compute_distances_nb PMIx_Fabric_register PMIx_Fabric_register_nb "
    "PMIx_Fabric_update PMIx_Fabric_update_nb PMIx_Fabric_deregister PMIx_Fabric_deregister_nb "
    "PMIx_Data_pack PMIx_Data_unpack PMIx_Data_copy PMIx_Data_print PMIx_Data_copy_payload PMIx_Data_load "
    "PMIx_Data_unload PMIx_Data_embed PMIx_Data_compress PMIx_Data_decompress";

constexpr std::string_view kToolFunctions =
    "PMIx_tool_init PMIx_tool_finalize PMIx_tool_is_connected PMIx_tool_attach_to_server "
    "PMIx_tool_disconnect PMIx_tool_get_servers PMIx_tool_set_server PMIx_tool_set_server_module "
    "PMIx_IOF_pull PMIx_IOF_deregister PMIx_IOF_push";

constexpr std::string_view kServerFunctions =
    "PMIx_server_init PMIx_server_finalize PMIx_server_setup_application PMIx_server_setup_local_support "
    "PMIx_server_register_nspace PMIx_server_deregister_nspace PMIx_server_register_session "
    "PMIx_server_deregister_session PMIx_server_register_client PMIx_server_deregister_client "
    "PMIx_server_setup_fork PMIx_server_dmodex_request PMIx_server_collect_job_info PMIx_server_IOF_deliver "
    "PMIx_server_IOF_flow_control PMIx_server_register_resources PMIx_server_deregister_resources "
    "PMIx_server_collect_inventory PMIx_server_deliver_inventory PMIx_server_define_process_set "
    "PMIx_server_delete_process_set PMIx_Register_attributes PMIx_generate_regex PMIx_generate_ppn "
    "PMIx_generate_regex2 PMIx_parse_regex2 PMIx_server_generate_locality_string "
    "PMIx_server_generate_cpuset_string PMIx_server_generate_cpuset";

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

std::string_view functions_of_level(const char* level) {
    if (key_is(level, PMIX_CLIENT_FUNCTIONS)) return kClientFunctions;
    if (key_is(level, PMIX_TOOL_FUNCTIONS)) return kToolFunctions;
    return key_is(level, PMIX_SERVER_FUNCTIONS) ? kServerFunctions : std::string_view{};
}

std::vector<std::string> functions_of_host(const pmix_server_module_t& module) {
    const std::pair<const char*, bool> upcalls[] = {
        {"direct_modex", module.direct_modex != nullptr},
        {"fence_nb", module.fence_nb != nullptr},
        {"abort", module.abort != nullptr},
        {"publish", module.publish != nullptr},
        {"lookup", module.lookup != nullptr},
        {"unpublish", module.unpublish != nullptr},
        {"spawn", module.spawn != nullptr},
        {"connect", module.connect != nullptr},
        {"disconnect", module.disconnect != nullptr},
        {"register_events", module.register_events != nullptr},
        {"deregister_events", module.deregister_events != nullptr},
        {"notify_event", module.notify_event != nullptr},
        {"query", module.query != nullptr},
        {"log", module.log != nullptr || module.log2 != nullptr},
        {"allocate", module.allocate != nullptr},
        {"job_control", module.job_control != nullptr},
        {"session_control", module.session_control != nullptr},
        {"resource_block", module.resource_block != nullptr},
        {"monitor", module.monitor != nullptr},
        {"get_credential", module.get_credential != nullptr},
        {"validate_credential", module.validate_credential != nullptr},
        {"iof_pull", module.iof_pull != nullptr},
        {"push_stdin", module.push_stdin != nullptr},
        {"group", module.group != nullptr},
        {"fabric", module.fabric != nullptr},
    };
    std::vector<std::string> names;
    for (const auto& [upcall, given] : upcalls) {
        const auto function = given ? function_of_upcall(upcall) : std::nullopt;
        if (function) names.emplace_back(function_name(*function));
    }
    if (module.group != nullptr) names.emplace_back(function_name(Function::GroupDestruct));
    return names;
}

}  // namespace muster
