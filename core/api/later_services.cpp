// SPDX-License-Identifier: BSD-3-Clause
// The host services (publish, spawn, query and their company): not part of this version yet. Each call
// returns PMIX_ERR_NOT_SUPPORTED, as the Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

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
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t*, pmix_status_t, const pmix_info_t[], size_t,
                                               pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t*, pmix_status_t, const pmix_info_t[],
                                                  size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char*, char*[]) {
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
