// SPDX-License-Identifier: BSD-3-Clause
//
// The host's side of module_size_main.c: what a program on these headers writes.

#include <pmix_tool.h>

int host_starts(void);
int plain_names_stay_plain(void);

int host_starts(void) {
    return PMIX_SUCCESS == PMIx_server_init(NULL, NULL, 0) &&
           PMIX_SUCCESS == PMIx_tool_set_server_module(NULL);
}

int plain_names_stay_plain(void) {
    pmix_status_t (*const init)(pmix_server_module_t*, pmix_info_t[], size_t) = PMIx_server_init;
    return PMIX_SUCCESS == init(NULL, NULL, 0) && PMIX_SUCCESS == (PMIx_tool_set_server_module)(NULL);
}
