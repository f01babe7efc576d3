/* SPDX-License-Identifier: BSD-3-Clause
 *
 * preg: short forms of the list of a job's nodes and of the list of ranks on each node (PMIx_generate_regex,
 * PMIx_generate_ppn, and what PMIx_server_register_nspace reads from PMIX_NODE_MAP and PMIX_PROC_MAP).
 * A component knows one form. `create` (component.h) returns the address of a muster_preg_t, which lives
 * until `destroy`. All functions may be called on any thread. Input is not trusted.
 */
#ifndef PMIX_SDK_PREG_H
#define PMIX_SDK_PREG_H

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_PREG_INTERFACE 1

/* Receives the names of a list, in order. `name` is not terminated and valid during the call. Anything but
 * PMIX_SUCCESS ends the parsing, which returns it. */
typedef struct {
    void* data;
    pmix_status_t (*name)(void* data, const char* name, size_t length);
} muster_preg_name_sink_t;

/* Receives the ranks of each node, in order: ranks() for each run first..last (first <= last) of the current
 * node, then next_node() once, also for a node without processes. Anything but PMIX_SUCCESS ends the parsing.
 */
typedef struct {
    void* data;
    pmix_status_t (*ranks)(void* data, uint32_t first, uint32_t last);
    pmix_status_t (*next_node)(void* data);
} muster_preg_rank_sink_t;

/* Receives many names at once where they form a row: prefix, a number with zeros in front up to `width`
 * digits, suffix, for each number from `first` on, `count` (1 or more) of them; else through `names`. */
typedef struct {
    muster_preg_name_sink_t names;
    pmix_status_t (*row)(void* data, const char* prefix, size_t prefix_length, uint64_t first, uint64_t count,
                         size_t width, const char* suffix, size_t suffix_length);
} muster_preg_name_row_sink_t;

/* Receives many nodes at once where they form a row: `count` (1 or more) nodes, the current one and those
 * behind it, each with the ranks from its first one to `span` above it; the first one of each node is `step`
 * above that of the node before it, and `first` of the first node. Else through `ranks`. */
typedef struct {
    muster_preg_rank_sink_t ranks;
    pmix_status_t (*row)(void* data, uint64_t count, uint32_t first, uint32_t span, uint32_t step);
} muster_preg_rank_row_sink_t;

typedef struct {
    size_t struct_size;
    void* context; /* first argument of every function */

    /* Short form of a comma-separated list of names (which may hold ranges in brackets), and of a
     * semicolon-separated list of comma-separated ranks and ranges of ranks. `list` has `length` bytes. The
     * result, with its terminator if it has one, is one block made with the host's allocate(), of *size
     * bytes, the caller's. Order is kept. PMIX_ERR_NOT_SUPPORTED: this form does not fit the list. */
    pmix_status_t (*generate_nodes)(void* context, const char* list, size_t length, char** result,
                                    size_t* size);
    pmix_status_t (*generate_ppn)(void* context, const char* list, size_t length, char** result,
                                  size_t* size);

    /* Reads `size` bytes of a short form (a terminator at the end may be there or not).
     * PMIX_ERR_NOT_SUPPORTED: not of this form, nothing was given to the sink. PMIX_ERR_BAD_PARAM: of this
     * form, but broken. PMIX_ERR_OUT_OF_RESOURCE: it would expand to more than the component's limit. */
    pmix_status_t (*parse_nodes)(void* context, const char* regex, size_t size,
                                 const muster_preg_name_sink_t* sink);
    pmix_status_t (*parse_ppn)(void* context, const char* regex, size_t size,
                               const muster_preg_rank_sink_t* sink);

    /* Since 1.2; NULL: as above only. The same, to a sink that takes rows. */
    pmix_status_t (*parse_node_rows)(void* context, const char* regex, size_t size,
                                     const muster_preg_name_row_sink_t* sink);
    pmix_status_t (*parse_ppn_rows)(void* context, const char* regex, size_t size,
                                    const muster_preg_rank_row_sink_t* sink);
} muster_preg_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PREG_H */
