/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Muster's own keys that hosts, tools and programs may use with its library. Other PMIx libraries ignore
 * them.
 */
#ifndef MUSTER_H
#define MUSTER_H

/* (char**, as PMIX_POINTER) Directive of PMIx_Init, PMIx_server_init and PMIx_tool_init: where the library
 * puts one sentence that says why the call has failed: what happened, to what, and what to do. The text is
 * allocated by malloc and belongs to the caller. It is set to NULL when the call succeeds, and when there is
 * no memory for it. */
#define MUSTER_ERROR_TEXT "muster.error.text"

#endif
