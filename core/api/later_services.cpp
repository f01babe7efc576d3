// SPDX-License-Identifier: BSD-3-Clause
// The host services (publish, spawn, query and their company): not part of this version yet. Each call
// returns PMIX_ERR_NOT_SUPPORTED, as the Standard lets a library that lacks a feature; a test lists them.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char*, char*[]) {
    return PMIX_ERR_NOT_SUPPORTED;
}

}  // extern "C"
