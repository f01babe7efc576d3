/* SPDX-License-Identifier: BSD-3-Clause
 *
 * psec: proof of identity. A component's `create` (pmix/sdk/component.h) returns a muster_psec_t.
 * Credentials come from peers that nobody vouches for: check every length.
 */
#ifndef PMIX_SDK_PSEC_H
#define PMIX_SDK_PSEC_H

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table below: muster_component_t::interface_version. */
#define MUSTER_PSEC_INTERFACE 1

/* The claim to prove, and the kernel's credentials of the peer. The host's, valid during the call. */
typedef struct muster_psec_claim {
    size_t struct_size;
    uint32_t uid;      /* the peer must turn out to be this user ... */
    uint32_t gid;      /* ... and group */
    bool kernel_known; /* the connection's kernel told who the peer is: */
    uint32_t kernel_uid;
    uint32_t kernel_gid; /* UINT32_MAX: not known */
    int64_t kernel_pid;  /* 0: not known */
} muster_psec_claim_t;

/* The owner that a credential itself names. Filled in by the component. */
typedef struct muster_psec_owner {
    size_t struct_size; /* set by the host */
    uint32_t uid;
    uint32_t gid;
} muster_psec_owner_t;

/* The operations. The component's; valid until `destroy`. Called on any thread, several at once.
 * `reason` is an array of 256 characters of the host's for one sentence, used on failure. */
typedef struct muster_psec {
    size_t struct_size;
    void* context; /* the component's, first argument of each function */
    /* Our own credential. `directives` (the host's, valid during the call) come from PMIx_Get_credential;
     * none at a handshake. The bytes are allocated with the host table's `allocate` and become the host's;
     * none: NULL and 0. */
    pmix_status_t (*create_credential)(void* context, const pmix_info_t* directives, size_t ndirectives,
                                       pmix_byte_object_t* credential, char* reason);
    /* PMIX_SUCCESS when the bytes (the host's, valid during the call) prove the claim, else
     * PMIX_ERR_INVALID_CRED or another code. */
    pmix_status_t (*validate_credential)(void* context, const void* credential, size_t length,
                                         const muster_psec_claim_t* claim, char* reason);
    /* Since 1.1; may be NULL. Returns the owner of a credential that proves it by itself, for any bearer: for
     * PMIx_Validate_credential. NULL where a credential means nothing without its connection. */
    pmix_status_t (*identify_credential)(void* context, const void* credential, size_t length,
                                         muster_psec_owner_t* owner, char* reason);
    /* Since 1.3; may be NULL. Advice to the user whose credential a server has refused on a connection that
     * is no local socket; it follows the message of the failure. */
    const char* remedy;
} muster_psec_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PSEC_H */
