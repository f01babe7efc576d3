/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pnet: networks ("fabrics") as jobs use them. On the node that launches a job a component reserves what the
 * job asks for; the host carries what it says to all nodes, where it is turned into variables and data of the
 * processes. A component's `create` (pmix/sdk/component.h) returns a muster_pnet_t. All components are asked,
 * best first. Data of other nodes (setup_local, deliver_inventory) are not trusted: check every length and
 * type.
 */
#ifndef PMIX_SDK_PNET_H
#define PMIX_SDK_PNET_H

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table below: muster_component_t::interface_version. */
#define MUSTER_PNET_INTERFACE 1

/* Node of a rank that nobody knows. */
#define MUSTER_PNET_UNKNOWN UINT32_MAX

/* Requests to setup_application besides a fabric (PMIX_ALLOC_FABRIC among the directives). */
#define MUSTER_PNET_ENVARS                                                          \
    0x1u /* PMIX_SETUP_APP_ENVARS, or _ALL: variables of this process's environment \
          */
#define MUSTER_PNET_NONENVARS 0x2u /* PMIX_SETUP_APP_NONENVARS, or _ALL: whatever else a job needs */

/* A job and where its processes run. The host's, valid during the call. */
typedef struct muster_pnet_job {
    size_t struct_size;
    const char* nspace;
    const char* hostname;     /* of this node */
    const char* const* nodes; /* names, in the order of the job's node map */
    size_t nnodes;
    const uint32_t* node_of; /* by rank: index into nodes, or MUSTER_PNET_UNKNOWN */
    size_t size;             /* of node_of; 0 where the maps are not known */
} muster_pnet_job_t;

/* Takes an entry; a deep copy is made. */
typedef void (*muster_pnet_add_fn_t)(void* to, const pmix_info_t* info);
/* Sets a variable in the environment of a process, instead of what it has there. Copies both strings. */
typedef void (*muster_pnet_set_fn_t)(void* to, const char* name, const char* value);

/* The operations. The component's; valid until `destroy`. Any may be NULL. Called on the progress thread:
 * must not block for long. `reason` is an array of 256 characters of the host's for one sentence, used on
 * failure. Entries given to a call are the host's, valid during it; what was added before a failure is thrown
 * away. PMIX_ERR_NOT_AVAILABLE: this is not for me; the next component is asked. */
typedef struct muster_pnet {
    size_t struct_size;
    void* context; /* the component's, first argument of each function */
    /* PMIx_server_setup_application: adds what each node has to know, best as one PMIX_BYTE_OBJECT under a
     * key of the component's own, since some hosts carry simple types only. `what`: MUSTER_PNET_. */
    pmix_status_t (*allocate)(void* context, const muster_pnet_job_t* job, const pmix_info_t* directives,
                              size_t ndirectives, uint32_t what, muster_pnet_add_fn_t add, void* to,
                              char* reason);
    /* PMIx_server_setup_local_support, on each node, with all that setup_application gave. Adds
     * PMIX_SET_ENVAR and PMIX_ADD_ENVAR for the job's processes; every other entry becomes data of the job,
     * as for PMIx_server_register_nspace (PMIX_PROC_INFO_ARRAY for what belongs to a rank). */
    pmix_status_t (*setup_local)(void* context, const muster_pnet_job_t* job, const pmix_info_t* info,
                                 size_t ninfo, muster_pnet_add_fn_t add, void* to, char* reason);
    /* PMIx_server_setup_fork: variables of one process. */
    pmix_status_t (*setup_fork)(void* context, const pmix_proc_t* proc, muster_pnet_set_fn_t set, void* to,
                                char* reason);
    /* The job has ended: what was reserved for it is free. Also called for jobs that were never asked about.
     */
    void (*deregister)(void* context, const char* nspace);
    /* PMIx_server_collect_inventory: adds what this node has (PMIX_FABRIC_DEVICES, for example). */
    pmix_status_t (*collect_inventory)(void* context, const pmix_info_t* directives, size_t ndirectives,
                                       muster_pnet_add_fn_t add, void* to, char* reason);
    /* PMIx_server_deliver_inventory: what a node has, as the components there collected it. */
    pmix_status_t (*deliver_inventory)(void* context, const char* node, const pmix_info_t* info, size_t ninfo,
                                       char* reason);
    /* PMIx_Fabric_register and _update, where the host does not answer itself: adds what describes the fabric
     * that the directives select. The entry PMIX_FABRIC_INDEX is added by the host. */
    pmix_status_t (*describe_fabric)(void* context, const pmix_info_t* directives, size_t ndirectives,
                                     muster_pnet_add_fn_t add, void* to, char* reason);
} muster_pnet_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PNET_H */
