// SPDX-License-Identifier: BSD-3-Clause
// The host services (publish, spawn, query and their company): not part of this version yet. Each call
// returns PMIX_ERR_NOT_SUPPORTED, as the Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t, pmix_info_t*, size_t, pmix_info_t**,
                                                  size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t, pmix_info_t*, size_t,
                                                     pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t*, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t*, const pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t*, const pmix_info_t[], size_t,
                                                  pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t*, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t[], size_t, pmix_byte_object_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t[], size_t, pmix_credential_cbfunc_t,
                                                 void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT void PMIx_Heartbeat(void) {}
PMIX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t[], size_t, const pmix_info_t[], size_t,
                                           pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t[], size_t, const pmix_info_t[], size_t,
                                              pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t[], size_t, const pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t[], size_t, const pmix_info_t[], size_t,
                                      pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t*, pmix_status_t, const pmix_info_t[], size_t,
                                               pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t*, pmix_status_t, const pmix_info_t[],
                                                  size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t[], size_t, pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t[], size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char*, char*[]) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t, char*,
                                              const pmix_resource_unit_t*, size_t, const pmix_info_t*,
                                              size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t, char*,
                                                 const pmix_resource_unit_t*, size_t, const pmix_info_t*,
                                                 size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Session_control(uint32_t, const pmix_info_t[], size_t, pmix_info_cbfunc_t,
                                               void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t*, const pmix_info_t[], size_t,
                                                   pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t*, const pmix_info_t[], size_t,
                                                      pmix_validation_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t[], size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t*, size_t, pmix_data_buffer_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t[], size_t, pmix_info_t[], size_t,
                                                        pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_setup_application(const pmix_nspace_t, pmix_info_t[], size_t,
                                                        pmix_setup_application_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t, pmix_info_t[], size_t,
                                                          pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}

}  // extern "C"
