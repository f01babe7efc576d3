// SPDX-License-Identifier: BSD-3-Clause
// The functions, in the order of Function; for directives.cpp alone.
#pragma once

#include "core/attribute/function_row.hpp"

namespace muster {

inline constexpr FunctionRow kFunctionRows[kFunctions] = {
    {"PMIx_Init", Takes::Parameters, {}},
    {"PMIx_Finalize", Takes::Own, {}},
    {"PMIx_Get", Takes::Own, "direct_modex"},
    {"PMIx_Fence", Takes::Directives, "fence_nb"},
    {"PMIx_Publish", Takes::Mixed, "publish"},
    {"PMIx_Lookup", Takes::Directives, "lookup"},
    {"PMIx_Unpublish", Takes::Directives, "unpublish"},
    {"PMIx_Spawn", Takes::Directives, "spawn"},
    {"PMIx_Connect", Takes::Directives, "connect"},
    {"PMIx_Disconnect", Takes::Directives, "disconnect"},
    {"PMIx_Query_info", Takes::Directives, "query"},
    {"PMIx_Log", Takes::Directives, "log"},
    {"PMIx_Allocation_request", Takes::Directives, "allocate"},
    {"PMIx_Job_control", Takes::Directives, "job_control"},
    {"PMIx_Session_control", Takes::Directives, "session_control"},
    {"PMIx_Resource_block", Takes::Directives, "resource_block"},
    {"PMIx_Process_monitor", Takes::Directives, "monitor"},
    {"PMIx_Get_credential", Takes::Directives, "get_credential"},
    {"PMIx_Validate_credential", Takes::Directives, "validate_credential"},
    {"PMIx_Register_event_handler", Takes::Directives, "register_events"},
    {"PMIx_Deregister_event_handler", Takes::Own, "deregister_events"},
    {"PMIx_Notify_event", Takes::Mixed, "notify_event"},
    {"PMIx_IOF_pull", Takes::Directives, "iof_pull"},
    {"PMIx_IOF_push", Takes::Directives, "push_stdin"},
    {"PMIx_IOF_deregister", Takes::Directives, {}},
    {"PMIx_Group_construct", Takes::Directives, "group"},
    {"PMIx_Group_destruct", Takes::Directives, {}},
    {"PMIx_Group_invite", Takes::Own, {}},
    {"PMIx_Group_join", Takes::Own, {}},
    {"PMIx_Group_leave", Takes::Own, {}},
    {"PMIx_Fabric_register", Takes::Directives, "fabric"},
    {"PMIx_Compute_distances", Takes::Own, {}},
    {"PMIx_Abort", Takes::Own, "abort"},
    {"PMIx_tool_init", Takes::Parameters, {}},
    {"PMIx_tool_attach_to_server", Takes::Own, {}},
    {"PMIx_tool_set_server", Takes::Own, {}},
    {"PMIx_server_init", Takes::Parameters, {}},
    {"PMIx_server_register_nspace", Takes::HostData, {}},
    {"PMIx_server_register_resources", Takes::HostData, {}},
    {"PMIx_server_setup_application", Takes::Own, {}},
    {"PMIx_server_setup_local_support", Takes::HostData, {}},
    {"PMIx_server_collect_inventory", Takes::Own, {}},
    {"PMIx_server_deliver_inventory", Takes::Own, {}},
    {"PMIx_server_IOF_deliver", Takes::HostData, {}},
    {"PMIx_server_IOF_flow_control", Takes::Own, {}},
};

}  // namespace muster
