/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plog: the channels of PMIx_Log. A component's `create` (pmix/sdk/component.h) returns a muster_plog_t.
 * Messages come from application processes: they may hold line ends and control characters.
 */
#ifndef PMIX_SDK_PLOG_H
#define PMIX_SDK_PLOG_H

#include <time.h>

#include <pmix/sdk/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table below: muster_component_t::interface_version. */
#define MUSTER_PLOG_INTERFACE 1

/* How the message is to be shown, by the directives of PMIx_Log. */
#define MUSTER_PLOG_TAG 0x1u       /* PMIX_LOG_TAG_OUTPUT: name the source and the channel */
#define MUSTER_PLOG_TIMESTAMP 0x2u /* PMIX_LOG_TIMESTAMP_OUTPUT: show the time */
#define MUSTER_PLOG_XML 0x4u       /* PMIX_LOG_XML_OUTPUT */

/* One message for one channel. The host's, valid during the call. */
typedef struct muster_plog_record {
    size_t struct_size;
    const char* channel; /* key of the attribute, for example PMIX_LOG_STDERR */
    const char* message; /* text with a NUL after its `length` bytes; NULL where the value is not text */
    size_t length;
    const pmix_value_t* value;     /* the value as it was given, for channels that take more than text */
    int severity;                  /* as syslog(3) numbers them, 0 emergency to 7 debug; -1: not given */
    time_t timestamp;              /* when it happened; 0: not given */
    const pmix_proc_t* source;     /* who logs it; NULL: this process */
    uint32_t flags;                /* MUSTER_PLOG_ */
    const pmix_info_t* directives; /* all directives of the call, for a channel's own */
    size_t ndirectives;
} muster_plog_record_t;

/* The operations. The component's; valid until `destroy`. Called on the progress thread: must not block for
 * long. */
typedef struct muster_plog {
    size_t struct_size;
    void* context;        /* the component's, first argument of each function */
    const char* channels; /* comma list of the keys that it takes, or "*" for every key */
    /* PMIX_SUCCESS when the message was handed on, PMIX_ERR_NOT_AVAILABLE when this message is not for it.
     * `reason` is an array of 256 characters of the host's for one sentence, used on failure. */
    pmix_status_t (*write)(void* context, const muster_plog_record_t* record, char* reason);
} muster_plog_t;

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_PLOG_H */
