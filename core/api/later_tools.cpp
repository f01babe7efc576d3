// SPDX-License-Identifier: BSD-3-Clause
// Forwarded I/O: not part of this version yet. Each call returns PMIX_ERR_NOT_SUPPORTED, as the
// Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

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
