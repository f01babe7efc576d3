// SPDX-License-Identifier: BSD-3-Clause
//
// A host compiled on these headers, linked with a stand-in for the library: with SIZED one that has the entry
// points that are told a size, without it one that has the plain ones only, as every other library. It fails
// when the call goes to the wrong one or with the wrong size.

#define PMIX_SERVER_MODULE_UNSIZED
#include <pmix_tool.h>
#undef PMIX_SERVER_MODULE_UNSIZED

static int plain_calls = 0;

pmix_status_t PMIx_server_init(pmix_server_module_t* module, pmix_info_t info[], size_t ninfo) {
    ++plain_calls;
    return NULL == module && NULL == info && 0 == ninfo ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t* module) {
    ++plain_calls;
    return NULL == module ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

int host_starts(void);
int plain_names_stay_plain(void);

#ifdef SIZED
static size_t size_told = 0;

pmix_status_t PMIx_server_init_sized(pmix_server_module_t* module, size_t module_size, pmix_info_t info[],
                                     size_t ninfo) {
    size_told = module_size;
    return NULL == module && NULL == info && 0 == ninfo ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

pmix_status_t PMIx_tool_set_server_module_sized(pmix_server_module_t* module, size_t module_size) {
    size_told += module_size;
    return NULL == module ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static int called_as_expected(void) {
    return 0 == plain_calls && 2 * sizeof(pmix_server_module_t) == size_told;
}
#else
static int called_as_expected(void) {
    return 2 == plain_calls;
}
#endif

int main(void) {
    if (!host_starts()) {
        fprintf(stderr, "a call of the host returned an error\n");
        return 1;
    }
    if (!called_as_expected()) {
        fprintf(stderr, "the host's calls went to the wrong function, or with the wrong size\n");
        return 1;
    }
    plain_calls = 0;
    if (!plain_names_stay_plain() || 2 != plain_calls) {
        fprintf(stderr, "the address of a plain name is not the plain function\n");
        return 1;
    }
    return 0;
}
