/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmdl: programming models. Adds the variables by which a model's runtime library recognises its launch,
 * besides those of PMIx. A component's `create` (pmix/sdk/component.h) returns a muster_pmdl_t. All
 * components are asked for each process, since a server does not know a program's model.
 */
#ifndef PMIX_SDK_PMDL_H
#define PMIX_SDK_PMDL_H

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table below: muster_component_t::interface_version. */
#define MUSTER_PMDL_INTERFACE 1

/* A number of muster_pmdl_process_t that the server was not told. */
#define MUSTER_PMDL_UNKNOWN UINT32_MAX

/* The process that is about to be started. The host's, valid during the call. */
typedef struct muster_pmdl_process {
    size_t struct_size;
    const char* nspace;
    pmix_rank_t rank;
    uint32_t job_size;
    uint32_t universe_size;
    uint32_t local_size; /* processes of the job on this node */
    uint32_t local_rank;
    uint32_t node_rank;
    uint32_t appnum;
    const char* const* env; /* what the host gives it ("NAME=VALUE", ended by NULL); NULL: nothing */
} muster_pmdl_process_t;

/* Sets a variable in the environment of the process, instead of what it has there. Copies both strings. */
typedef void (*muster_pmdl_set_fn_t)(void* to, const char* name, const char* value);

/* The operations. The component's; valid until `destroy`. Called by one thread at a time: the one in which
 * the host calls PMIx_server_setup_fork, or the progress thread. Must not block. */
typedef struct muster_pmdl {
    size_t struct_size;
    void* context; /* the component's, first argument of each function */
    /* PMIx_server_setup_fork: calls `set(to, name, value)` for each variable. On failure the process is
     * started without, and `reason`, an array of 256 characters of the host's, is logged. */
    pmix_status_t (*setup_fork)(void* context, const muster_pmdl_process_t* process, muster_pmdl_set_fn_t set,
                                void* to, char* reason);
} muster_pmdl_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PMDL_H */
