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
#define PMIX_CAP_GET_NUMBER_FN        5   // PMIx_Value_get_number is a function
#define PMIX_CAP_REGEX2               6   // pmix_regex2_t and its functions
#define PMIX_CAP_IOF_FLOW_CONTROL     14  // PMIx_server_IOF_flow_control
#define PMIX_CAP_DATA_DELETE          17  // PMIX_DEL_LOCAL and so on as scopes of PMIx_Put
#define PMIX_CAP_SESSION_REGISTRATION 19  // PMIx_server_register_session, PMIx_server_deregister_session

// The capabilities as one word, for sources of the time when they were bits. No bit of that time is ours.
#define PMIX_CAPABILITIES (PMIX_CAP_BASE)

#endif
