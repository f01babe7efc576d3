/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcompress: compression of blocks of bytes. A component's `create` (pmix/sdk/component.h) returns a
 * muster_pcompress_t. The input of decompression comes from untrusted peers.
 */
#ifndef PMIX_SDK_PCOMPRESS_H
#define PMIX_SDK_PCOMPRESS_H

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table below: muster_component_t::interface_version. */
#define MUSTER_PCOMPRESS_INTERFACE 1

/* The operations. The component's; valid until `destroy`. Called on any thread, several at once.
 * `reason` is an array of 256 characters of the host's for one sentence, used on failure. */
typedef struct muster_pcompress {
    size_t struct_size;
    void* context; /* the component's, first argument of each function */
    /* PMIX_SUCCESS: `*out` was allocated with the host table's `allocate`, holds `*out_length` bytes and
     * becomes the host's. PMIX_ERR_NOT_AVAILABLE when the result would not be smaller. The input is the
     * host's. */
    pmix_status_t (*compress)(void* context, const void* in, size_t in_length, void** out, size_t* out_length,
                              char* reason);
    /* The reverse. PMIX_ERR_UNPACK_FAILURE for bytes that compress() does not make, PMIX_ERR_OUT_OF_RESOURCE
     * when the result would be longer than `limit` bytes; no more than that is ever allocated. */
    pmix_status_t (*decompress)(void* context, const void* in, size_t in_length, size_t limit, void** out,
                                size_t* out_length, char* reason);
} muster_pcompress_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PCOMPRESS_H */
