/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of the frameworks of OpenPMIx, which Open MPI 5 and 6 read to tell parameters of the PMIx library
 * (PMIX_MCA_ptl...) from their own. This header is included as "src/include/pmix_frameworks.h"; pmix.pc has
 * the folder for that. Not part of the PMIx Standard.
 */
#ifndef PMIX_FRAMEWORKS_H
#define PMIX_FRAMEWORKS_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ended by NULL. Owned by the library; read only. */
PMIX_EXPORT extern char* pmix_framework_names[];

#ifdef __cplusplus
}
#endif

#endif
