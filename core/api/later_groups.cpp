// SPDX-License-Identifier: BSD-3-Clause
// Groups: not part of this version yet. Each call returns PMIX_ERR_NOT_SUPPORTED, as the
// Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Group_invite(const char[], const pmix_proc_t[], size_t, const pmix_info_t[],
                                            size_t, pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char[], const pmix_proc_t[], size_t, const pmix_info_t[],
                                               size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Group_join(const char[], const pmix_proc_t*, pmix_group_opt_t,
                                          const pmix_info_t[], size_t, pmix_info_t**, size_t*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Group_join_nb(const char[], const pmix_proc_t*, pmix_group_opt_t,
                                             const pmix_info_t[], size_t, pmix_info_cbfunc_t, void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Group_leave(const char[], const pmix_info_t[], size_t) {
    return PMIX_ERR_NOT_SUPPORTED;
}
PMIX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char[], const pmix_info_t[], size_t, pmix_op_cbfunc_t,
                                              void*) {
    return PMIX_ERR_NOT_SUPPORTED;
}

}  // extern "C"
