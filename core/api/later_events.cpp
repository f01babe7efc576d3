// SPDX-License-Identifier: BSD-3-Clause
// Event notification: not part of this version yet. Each call returns PMIX_ERR_NOT_SUPPORTED, as the Standard
// lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t[], size_t, pmix_info_t[], size_t,
                                                      pmix_notification_fn_t, pmix_hdlr_reg_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t, const pmix_proc_t*, pmix_data_range_t,
                                            const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}

}  // extern "C"
