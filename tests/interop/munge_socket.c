/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into processes that ask munged at its usual socket only (OpenPMIx's psec/munge): they ask the
 * munged whose socket INTEROP_MUNGE_SOCKET names.
 */
#include <dlfcn.h>
#include <munge.h>
#include <stdlib.h>

static munge_ctx_t context_of(munge_ctx_t given) {
    munge_ctx_t context = given == NULL ? munge_ctx_create() : munge_ctx_copy(given);
    const char* socket = getenv("INTEROP_MUNGE_SOCKET");
    if (context != NULL && socket != NULL) munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
    return context;
}

munge_err_t munge_encode(char** cred, munge_ctx_t given, const void* payload, int length) {
    munge_err_t (*next)(char**, munge_ctx_t, const void*, int) = dlsym(RTLD_NEXT, "munge_encode");
    munge_ctx_t context = context_of(given);
    munge_err_t error = next(cred, context, payload, length);
    munge_ctx_destroy(context);
    return error;
}

munge_err_t munge_decode(const char* cred, munge_ctx_t given, void** payload, int* length, uid_t* uid,
                         gid_t* gid) {
    munge_err_t (*next)(const char*, munge_ctx_t, void**, int*, uid_t*, gid_t*) =
        dlsym(RTLD_NEXT, "munge_decode");
    munge_ctx_t context = context_of(given);
    munge_err_t error = next(cred, context, payload, length, uid, gid);
    munge_ctx_destroy(context);
    return error;
}
