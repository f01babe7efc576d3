// SPDX-License-Identifier: BSD-3-Clause
// Tools and forwarded I/O: not part of this version yet. Each call returns PMIX_ERR_NOT_SUPPORTED, as the
// Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#undef PMIx_tool_set_server_module

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t*, pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_finalize(void) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT bool PMIx_tool_is_connected(void) {
    return false;
}
PMIX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t*, pmix_proc_t*, pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t*[], size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t*, pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t*, pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module_sized(pmix_server_module_t*, size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t[], size_t, const pmix_info_t[], size_t,
                                        pmix_iof_channel_t, pmix_iof_cbfunc_t, pmix_hdlr_reg_cbfunc_t,
                                        void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t[], size_t, pmix_byte_object_t*, const pmix_info_t[],
                                        size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t*, pmix_iof_channel_t,
                                                  const pmix_byte_object_t*, const pmix_info_t[], size_t,
                                                  pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}

}  // extern "C"
