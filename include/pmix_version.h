// SPDX-License-Identifier: BSD-3-Clause
//
// The version that these headers claim. Sources written for OpenPMIx choose their code by it, so it names the
// level of the interface (OpenPMIx 7.0), not the release of Muster; PMIx_Get_version() tells the latter.

#ifndef PMIX_VERSION_H
#define PMIX_VERSION_H

#define PMIX_VERSION_MAJOR   7L
#define PMIX_VERSION_MINOR   0L
#define PMIX_VERSION_RELEASE 0L

// Two hexadecimal digits each for major, minor and release.
#define PMIX_NUMERIC_VERSION 0x00070000

// A capability is tested with #ifdef: its number means nothing. Only what this library does is defined here.
#define PMIX_CAP_BASE                 0
#define PMIX_CAP_UPCALLS2             3   // upcalls client_connected2, tool_connected2 and log2
#define PMIX_CAP_STOP_PRGTHRD         4   // PMIx_Progress_thread_stop
#define PMIX_CAP_GET_NUMBER_FN        5   // PMIx_Value_get_number is a function
#define PMIX_CAP_REGEX2               6   // pmix_regex2_t and its functions
#define PMIX_CAP_IOF_FILE_PATTERN     9   // %n, %r, %R, %h and %% of PMIX_IOF_FILE_PATTERN
#define PMIX_CAP_TOOL_FINALIZED       11  // the upcall client_finalized comes for tools, too
#define PMIX_CAP_IOF_DELIVER_LOCAL    12  // PMIX_IOF_LOCAL_OUTPUT as a directive of PMIx_server_IOF_deliver
#define PMIX_CAP_GROUP_JOIN_COMPLETES 13  // PMIx_Group_join ends when the group is made
#define PMIX_CAP_IOF_FLOW_CONTROL     14  // PMIx_server_IOF_flow_control
#define PMIX_CAP_DATA_DELETE          17  // PMIX_DEL_LOCAL and so on as scopes of PMIx_Put
#define PMIX_CAP_GET_NUMBER_ENUMS     18  // PMIx_Value_get_number reads enumerations
#define PMIX_CAP_SESSION_REGISTRATION 19  // PMIx_server_register_session, PMIx_server_deregister_session
#define PMIX_CAP_DEVICE_DIST_ORIGIN   20  // PMIX_DEVICE_DIST_ORIGIN

// The capabilities as one word, for sources of the time when they were bits. No bit of that time is ours.
#define PMIX_CAPABILITIES (PMIX_CAP_BASE)

#endif
