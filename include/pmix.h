// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of clients, which servers and tools may also call once they are initialised.
//
// Rules for all functions, unless their comments differ:
//   * Any thread may call. A call that waits must not be made from a callback of the library: it would wait for
//     itself. With PMIX_EXTERNAL_PROGRESS, a call that waits drives the library meanwhile.
//   * A call ending in _nb takes the arguments of the same call without it, which must stay as they are until the
//     callback. PMIX_SUCCESS means that the callback will be called, once, from the progress thread,
//     never by the calling thread inside the call (the program's line after the call may run later all the same);
//     PMIX_OPERATION_SUCCEEDED that it is done and the callback is not called; all else is an error, and the
//     callback is not called either.
//   * Arguments stay the caller's. An info that is marked as required and that nobody honours makes the call fail
//     with PMIX_ERR_NOT_SUPPORTED; others are ignored where they are not known.
//   * Errors of all: PMIX_ERR_INIT before initialisation, PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM, PMIX_ERR_UNREACH
//     where a server is needed and there is none, PMIX_ERR_LOST_CONNECTION when it goes away meanwhile,
//     PMIX_ERR_NOT_SUPPORTED where the host does not do it.

#ifndef PMIX_H
#define PMIX_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------
// Beginning and end

/**
 * Make the calling process a client. May be called again; only the first call does something, and each needs its PMIx_Finalize.
 * Without a server the process becomes a job of its own (a singleton).
 * @param proc   receives the process's name; may be NULL
 * @param info   ninfo attributes, such as PMIX_EXTERNAL_PROGRESS; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH if the server that the environment names cannot be reached, PMIX_ERR_INVALID_CRED or
 *         PMIX_ERR_NO_PERMISSIONS if it refuses the process
 * (Standard 5.0, 4.3)
 */
PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo);

/**
 * Whether the process is a client, server or tool now. May be called at any time.
 * @return 1 or 0
 * (Standard 5.0, 4.1)
 */
PMIX_EXPORT int PMIx_Initialized(void);

/**
 * End being a client, with the last of as many calls as there were of PMIx_Init. Waits for the server's answer. Pointers that
 * the library has given are not valid afterwards.
 * @param info   ninfo attributes, such as PMIX_EMBED_BARRIER; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_INIT
 * (Standard 5.0, 4.4)
 */
PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo);

/**
 * Ask the host to end processes. Whether and how it does so is its affair; the call may return.
 * @param status  exit code to report
 * @param msg     words for a person; may be NULL
 * @param procs   nprocs processes to end, ranks may be wildcards; NULL is the whole job
 * @return PMIX_SUCCESS if the host will do it; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_UNREACH
 * (Standard 5.0, 12.1.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[], size_t nprocs);

/**
 * The library's name and version. May be called at any time.
 * @return a string, the library's
 * (Standard 5.0, 4.2)
 */
PMIX_EXPORT const char* PMIx_Get_version(void);

/**
 * Work off what is to be done; for processes that said PMIX_EXTERNAL_PROGRESS. Callbacks run in here. Without that it does
 * nothing. (Standard 5.0, 4.5)
 */
PMIX_EXPORT void PMIx_Progress(void);

/**
 * Stop the progress thread, for good; what needs it does not work from then on. Not from a callback.
 * @param info   ninfo attributes: PMIX_PROGRESS_THREAD_NAME, PMIX_PROGRESS_THREAD_FLUSH; may be NULL
 */
PMIX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t* info, size_t ninfo);

// ---------------------------------------------------------------------------------------------------------
// Data of processes and jobs

/**
 * Keep a value for others. They see it after PMIx_Commit, and for certain after a fence. A scope of PMIX_DEL_LOCAL and so on
 * deletes the key instead: at once for this process, for others of the node with the commit, and for those of other nodes with
 * the next fence that collects data, or with their next request. A key that one commit deletes and puts exists afterwards. A
 * pointer of PMIX_GET_POINTER_VALUES to a deleted value is invalid.
 * @param scope  who may get it, or is not to get it any more
 * @param key    not beginning with "pmix"
 * @param val    the value, copied; of a deletion NULL or anything
 * @return PMIX_SUCCESS, also for the deletion of a key that is not there; PMIX_ERR_BAD_PARAM, also for a reserved key;
 *         PMIX_ERR_NOT_SUPPORTED for a deletion where the server is older than OpenPMIx 7.0
 * (Standard 5.0, 5.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t* val);

/**
 * Hand what was put since the last time to the server. Does not wait for others.
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH
 * (Standard 5.0, 5.2.3)
 */
PMIX_EXPORT pmix_status_t PMIx_Commit(void);

/**
 * Keep a value in this process only, as if the other process had put it.
 * @param proc  whose value it is
 * @param key   any key
 * @param val   the value, copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * (Standard 5.0, 5.2.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[], pmix_value_t* val);

/**
 * Get a value: what a process has put, or a fact about a process, job, application, node or session. A value at hand is returned
 * at once; else the server is asked, which waits for the data.
 * @param proc   whose value; rank PMIX_RANK_WILDCARD for a job's, NULL for the caller's
 * @param key    the key; NULL for all that the process has put
 * @param info   ninfo attributes that say where to look, what to return and how long to wait; may be NULL
 * @param val    receives the value, the caller's (PMIx_Value_free), and NULL on failure; with PMIX_GET_STATIC_VALUES *val is the
 * caller's place for it, with PMIX_GET_POINTER_VALUES it stays the library's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND, PMIX_ERR_EXISTS_OUTSIDE_SCOPE, PMIX_ERR_TIMEOUT, PMIX_ERR_BAD_PARAM
 * (Standard 5.0, 5.4)
 */
PMIX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t ninfo,
                                   pmix_value_t** val);

/**
 * The same without waiting.
 * @param proc    as for PMIx_Get
 * @param key     as for PMIx_Get
 * @param info    as for PMIx_Get; kept by the caller until the callback
 * @param cbfunc  receives the value
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 5.4.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t ninfo,
                                      pmix_value_cbfunc_t cbfunc, void* cbdata);

/**
 * Wait until all processes named have called this. With PMIX_COLLECT_DATA, what they have committed is exchanged.
 * @param procs   nprocs processes; all must name the same. NULL is the caller's job, as is a wildcard rank
 * @param info    ninfo attributes, such as PMIX_COLLECT_DATA and PMIX_TIMEOUT; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_TIMEOUT, PMIX_ERR_LOST_CONNECTION if one of them ended, PMIX_ERR_BAD_PARAM
 * (Standard 5.0, 8.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 8.2) */
PMIX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Publish and lookup

/**
 * Publish values for PMIx_Lookup.
 * @param info   ninfo keys with values; among them PMIX_RANGE (default: the session) and PMIX_PERSISTENCE (default: the
 *               application), which hold for all
 * @return PMIX_SUCCESS; PMIX_ERR_DUPLICATE_KEY if a key is published already in that range
 * (Standard 5.0, 9.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 9.2) */
PMIX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Look published values up.
 * @param data   ndata structures with keys; receive process and value, or the type PMIX_UNDEF where nothing was found. To be
 *               destructed by the caller
 * @param info   ninfo attributes, such as PMIX_WAIT, PMIX_TIMEOUT and PMIX_RANGE; may be NULL
 * @return PMIX_SUCCESS if all were found; PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_NOT_FOUND, PMIX_ERR_TIMEOUT,
 *         PMIX_ERR_NO_PERMISSIONS
 * (Standard 5.0, 9.6)
 */
PMIX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[], size_t ninfo);

/**
 * The same without waiting.
 * @param keys    the keys, ended by NULL
 * @param info    ninfo attributes; may be NULL
 * @param cbfunc  receives what was found
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 9.7)
 */
PMIX_EXPORT pmix_status_t PMIx_Lookup_nb(char** keys, const pmix_info_t info[], size_t ninfo, pmix_lookup_cbfunc_t cbfunc,
                                         void* cbdata);

/**
 * Take back what this process has published.
 * @param keys   the keys, ended by NULL; NULL for all
 * @param info   ninfo attributes, such as PMIX_RANGE; may be NULL
 * @return PMIX_SUCCESS
 * (Standard 5.0, 9.9)
 */
PMIX_EXPORT pmix_status_t PMIx_Unpublish(char** keys, const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 9.10) */
PMIX_EXPORT pmix_status_t PMIx_Unpublish_nb(char** keys, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                            void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Other processes: start them, connect with them, find them

/**
 * Start a job.
 * @param job_info  ninfo attributes of the whole job; may be NULL
 * @param apps      napps programs
 * @param nspace    receives the job's namespace; may be NULL
 * @return PMIX_SUCCESS if all processes were started; an error of the PMIX_ERR_JOB_ family, PMIX_ERR_NOT_SUPPORTED,
 *         PMIX_ERR_TIMEOUT
 * (Standard 5.0, 12.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[], size_t napps,
                                     pmix_nspace_t nspace);

/** The same without waiting. (Standard 5.0, 12.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t apps[], size_t napps,
                                        pmix_spawn_cbfunc_t cbfunc, void* cbdata);

/**
 * Make processes, also of several jobs, one community: each has the facts of all their jobs afterwards, and the host treats
 * them as one when one fails. Waits for all.
 * @param procs   nprocs processes; all must name the same
 * @param info    ninfo attributes, such as PMIX_TIMEOUT; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_INVALID_OPERATION if they are connected, PMIX_ERR_TIMEOUT, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 12.3.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 12.3.2) */
PMIX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * End such a community. Waits for all.
 * @param procs   nprocs processes, as they connected
 * @param info    ninfo attributes; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_INVALID_OPERATION if they are not connected, PMIX_ERR_TIMEOUT, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 12.3.3)
 */
PMIX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 12.3.4) */
PMIX_EXPORT pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t ranges[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Which processes of a job are on a node.
 * @param nodename  the node; NULL is the caller's
 * @param nspace    the job; NULL for all jobs
 * @param procs     receives an array of nprocs, the caller's (PMIx_Proc_free); NULL if there are none
 * @param nprocs    receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if the node is not known
 * (Standard 5.0, 7.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Resolve_peers(const char* nodename, const pmix_nspace_t nspace, pmix_proc_t** procs, size_t* nprocs);

/**
 * On which nodes a job has processes.
 * @param nspace    the job; NULL for all jobs
 * @param nodelist  receives their names by comma, the caller's; NULL if there are none
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 7.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char** nodelist);

// ---------------------------------------------------------------------------------------------------------
// Events

/**
 * Have a function called at events. Without cbfunc the call waits until it is registered.
 * @param codes   ncodes events; NULL for all that no other handler has asked for
 * @param info    ninfo attributes: name, place in the order, whom it concerns; may be NULL
 * @param evhdlr  the handler
 * @param cbfunc  receives its number; may be NULL
 * @param cbdata  handed to cbfunc
 * @return PMIX_SUCCESS if cbfunc will be called; without cbfunc the number itself, not negative; PMIX_ERR_EVENT_REGISTRATION
 * (Standard 5.0, 10.1.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[], size_t ninfo,
                                                      pmix_notification_fn_t evhdlr, pmix_hdlr_reg_cbfunc_t cbfunc, void* cbdata);

/**
 * Have it called no more. Without cbfunc the call waits.
 * @param evhdlr_ref  its number
 * @param cbfunc      called when it is done; may be NULL
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 10.1.7)
 */
PMIX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Raise an event. The caller's own handlers are called too, unless the range forbids.
 * @param status  the event
 * @param source  who raises it; NULL for the caller
 * @param range   who shall hear of it
 * @param info    ninfo infos for the handlers; may be NULL
 * @param cbfunc  called when info is needed no more, which is not when all have heard; NULL: the call waits for that
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * (Standard 5.0, 10.1.8)
 */
PMIX_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t* source, pmix_data_range_t range,
                                            const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Queries and logs

/**
 * Ask for facts about the system.
 * @param queries   nqueries queries: keys and their qualifiers
 * @param results   receives an array of nresults infos, the caller's (PMIx_Info_free); may be NULL
 * @param nresults  receives its length
 * @return PMIX_SUCCESS if all are answered; PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 7.1.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries, pmix_info_t** results, size_t* nresults);

/** The same without waiting. (Standard 5.0, 7.1.3) */
PMIX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Write into logs.
 * @param data        ndata infos: the channel as key, what to write as value
 * @param directives  ndirs attributes, such as PMIX_LOG_ONCE; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if no channel can be served, PMIX_ERR_PARTIAL_SUCCESS
 * (Standard 5.0, 13.4.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[], size_t ndirs);

/** The same without waiting. (Standard 5.0, 13.4.2) */
PMIX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Resources, jobs, sessions

/**
 * Ask for resources, or change what there is.
 * @param directive  what to do
 * @param info       ninfo attributes that describe the resources
 * @param results    receives an array of nresults infos, among them PMIX_ALLOC_ID, the caller's; may be NULL
 * @param nresults   receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_JOB_ALLOC_FAILED
 * (Standard 5.0, 13.1.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo,
                                                  pmix_info_t** results, size_t* nresults);

/** The same without waiting. (Standard 5.0, 13.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive, pmix_info_t* info, size_t ninfo,
                                                     pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Define a named set of resources for later requests, or change one. Not in Standard 5.0.
 * @param directive  what to do
 * @param block      its name
 * @param res        nres units to add or take away; may be NULL
 * @param info       ninfo attributes; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_EXISTS, PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED
 */
PMIX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive, char* block,
                                              const pmix_resource_unit_t* res, size_t nres, const pmix_info_t* info, size_t ninfo);

/** The same without waiting. */
PMIX_EXPORT pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive, char* block,
                                                 const pmix_resource_unit_t* res, size_t nres, const pmix_info_t* info,
                                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Pause, end, signal, checkpoint or otherwise steer processes.
 * @param targets     ntargets processes, ranks may be wildcards; NULL is the caller's job
 * @param directives  ndirs attributes: what to do
 * @param results     receives an array of nresults infos, the caller's; may be NULL
 * @param nresults    receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NO_PERMISSIONS
 * (Standard 5.0, 13.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets, const pmix_info_t directives[],
                                           size_t ndirs, pmix_info_t** results, size_t* nresults);

/** The same without waiting. (Standard 5.0, 13.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets, const pmix_info_t directives[],
                                              size_t ndirs, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Steer a session as a whole. Not in Standard 5.0.
 * @param sessionID   its number
 * @param directives  ndirs attributes: what to do
 * @param cbfunc      receives the answer; NULL: the call waits
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NO_PERMISSIONS
 */
PMIX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID, const pmix_info_t directives[], size_t ndirs,
                                               pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Have processes or files watched, or the usage of resources reported.
 * @param monitor     what to watch, such as PMIX_MONITOR_HEARTBEAT or PMIX_MONITOR_NODE_RESOURCE_USAGE
 * @param error       event to raise when the watch says so, or with each further report
 * @param directives  ndirs attributes: how often, how many misses, which targets; may be NULL
 * @param results     receives an array of nresults infos, the caller's: the first report; may be NULL
 * @param nresults    receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if other nodes did not report, PMIX_ERR_BAD_PARAM,
 *         PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_NOT_SUPPORTED if a host would have to do it
 * (Standard 5.0, 13.3.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t* monitor, pmix_status_t error, const pmix_info_t directives[],
                                               size_t ndirs, pmix_info_t** results, size_t* nresults);

/** The same without waiting. (Standard 5.0, 13.3.2) */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t* monitor, pmix_status_t error, const pmix_info_t directives[],
                                                  size_t ndirs, pmix_info_cbfunc_t cbfunc, void* cbdata);

/** Send one heartbeat to the server. Does not wait, and does nothing without a server. (Standard 5.0, 13.3.3) */
PMIX_EXPORT void PMIx_Heartbeat(void);

// ---------------------------------------------------------------------------------------------------------
// Credentials

/**
 * Get a proof of who the caller is.
 * @param info        ninfo attributes, such as PMIX_CRED_TYPE; may be NULL
 * @param credential  receives it, the caller's (PMIx_Byte_object_destruct)
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 16.1.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo, pmix_byte_object_t* credential);

/** The same without waiting. (Standard 5.0, 16.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo, pmix_credential_cbfunc_t cbfunc,
                                                 void* cbdata);

/**
 * Check such a proof.
 * @param cred      the proof
 * @param info      ninfo attributes; may be NULL
 * @param results   receives an array of nresults infos about its owner, the caller's; may be NULL
 * @param nresults  receives its length
 * @return PMIX_SUCCESS if it is good; PMIX_ERR_INVALID_CRED, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 16.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t* cred, const pmix_info_t info[], size_t ninfo,
                                                   pmix_info_t** results, size_t* nresults);

/** The same without waiting. (Standard 5.0, 16.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t* cred, const pmix_info_t info[], size_t ninfo,
                                                      pmix_validation_cbfunc_t cbfunc, void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Groups

/**
 * Make a group of processes under a name. Waits for all members.
 * @param grp         its name
 * @param procs       nprocs members; all must name the same
 * @param directives  ndirs attributes, such as PMIX_GROUP_ASSIGN_CONTEXT_ID and PMIX_TIMEOUT; may be NULL
 * @param results     receives an array of nresults infos, such as PMIX_GROUP_CONTEXT_ID and PMIX_GROUP_MEMBERSHIP, the
 *                    caller's; may be NULL
 * @param nresults    receives its length
 * @return PMIX_SUCCESS; PMIX_GROUP_CONSTRUCT_ABORT, PMIX_ERR_EXISTS, PMIX_ERR_TIMEOUT, PMIX_ERR_LOST_CONNECTION
 * (Standard 5.0, 14.2.6)
 */
PMIX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                               const pmix_info_t directives[], size_t ndirs, pmix_info_t** results,
                                               size_t* nresults);

/** The same without waiting. (Standard 5.0, 14.2.7) */
PMIX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                                  const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Make a group by asking: the processes receive the event PMIX_GROUP_INVITED and answer by PMIx_Group_join. Waits for the
 * answers.
 * @param grp       its name
 * @param procs     nprocs processes to invite
 * @param info      ninfo attributes, such as PMIX_TIMEOUT; may be NULL
 * @param results   receives an array of nresults infos, the caller's; may be NULL
 * @param nresult   receives its length
 * @return PMIX_SUCCESS; PMIX_GROUP_CONSTRUCT_ABORT, PMIX_ERR_TIMEOUT
 * (Standard 5.0, 14.2.10)
 */
PMIX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                            size_t ninfo, pmix_info_t** results, size_t* nresult);

/** The same without waiting. (Standard 5.0, 14.2.11) */
PMIX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                               size_t ninfo, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Answer an invitation, and wait until the group is made.
 * @param grp       its name
 * @param leader    who leads it
 * @param opt       whether to join
 * @param info      ninfo attributes; may be NULL
 * @param results   receives an array of nresults infos, the caller's; may be NULL
 * @param nresult   receives its length
 * @return PMIX_SUCCESS; PMIX_GROUP_CONSTRUCT_ABORT, PMIX_ERR_TIMEOUT
 * (Standard 5.0, 14.2.12)
 */
PMIX_EXPORT pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t* leader, pmix_group_opt_t opt,
                                          const pmix_info_t info[], size_t ninfo, pmix_info_t** results, size_t* nresult);

/** The same without waiting. It may be called from the handler of the invitation. (Standard 5.0, 14.2.13) */
PMIX_EXPORT pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t* leader, pmix_group_opt_t opt,
                                             const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * Leave a group; the others receive the event PMIX_GROUP_LEFT. Returns when they have been told, not when they have heard.
 * @param grp    its name
 * @param info   ninfo attributes; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 14.2.14)
 */
PMIX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 14.2.15) */
PMIX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                              void* cbdata);

/**
 * End a group. Waits for all members.
 * @param grp    its name
 * @param info   ninfo attributes, such as PMIX_TIMEOUT; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND, PMIX_ERR_TIMEOUT
 * (Standard 5.0, 14.2.8)
 */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[], size_t ninfo);

/** The same without waiting. (Standard 5.0, 14.2.9) */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                 void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Hardware and fabrics

/**
 * Get the node's topology.
 * @param topo  its source says which form is wanted (NULL: any); receives the topology, to be given to PMIx_Topology_destruct
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if that form cannot be had
 * (Standard 5.0, 12.4.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t* topo);

/**
 * Get the processing units to which the process or the calling thread is bound.
 * @param cpuset  receives them, to be given to PMIx_Cpuset_destruct
 * @param ref     process or thread
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 12.4.4)
 */
PMIX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t* cpuset, pmix_bind_envelope_t ref);

/**
 * Read what is got by the key PMIX_CPUSET.
 * @param cpuset_string  the string
 * @param cpuset         receives the units, to be given to PMIx_Cpuset_destruct
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 12.4.3)
 */
PMIX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char* cpuset_string, pmix_cpuset_t* cpuset);

/**
 * Get the resources that two processes share.
 * @param locality1  the PMIX_LOCALITY_STRING of one
 * @param locality2  and of the other
 * @param locality   receives the PMIX_LOCALITY_SHARE_ bits
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * (Standard 5.0, 12.4.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char* locality1, const char* locality2, pmix_locality_t* locality);

/**
 * How far the devices of the node are from processing units.
 * @param topo       the topology; NULL for the node's
 * @param cpuset     the units; NULL for those of the process
 * @param info       ninfo attributes, such as PMIX_DEVICE_TYPE; may be NULL
 * @param distances  receives an array of ndist, the caller's (PMIx_Device_distance_free)
 * @param ndist      receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 12.4.5)
 */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances(pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[], size_t ninfo,
                                                 pmix_device_distance_t* distances[], size_t* ndist);

/** The same without waiting. (Standard 5.0, 12.4.6) */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[], size_t ninfo,
                                                    pmix_device_dist_cbfunc_t cbfunc, void* cbdata);

/**
 * Get the data of a fabric, such as costs from device to device.
 * @param fabric      says which (name, or NULL for any); receives index and infos. The caller's, and in use until it is
 *                    deregistered
 * @param directives  ndirs attributes, such as PMIX_FABRIC_PLANE; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 15.4.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t* fabric, const pmix_info_t directives[], size_t ndirs);

/** The same without waiting. (Standard 5.0, 15.4.2) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t* fabric, const pmix_info_t directives[], size_t ndirs,
                                                  pmix_op_cbfunc_t cbfunc, void* cbdata);

/** Bring the data up to date; the infos may be others afterwards. (Standard 5.0, 15.4.3) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t* fabric);

/** The same without waiting. (Standard 5.0, 15.4.4) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t* fabric, pmix_op_cbfunc_t cbfunc, void* cbdata);

/** Give the data back. (Standard 5.0, 15.4.5) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t* fabric);

/** The same without waiting. (Standard 5.0, 15.4.6) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t* fabric, pmix_op_cbfunc_t cbfunc, void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Packing and compressing

/**
 * Append values to a buffer.
 * @param target    who will unpack it, which decides the form; NULL for a process like the caller
 * @param buffer    a constructed buffer
 * @param src       num_vals values of the type, one behind the other
 * @param num_vals  how many
 * @param type      their type
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_PACK_MISMATCH, PMIX_ERR_NOMEM
 * (Standard 5.0, 11.3.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t* target, pmix_data_buffer_t* buffer, void* src, int32_t num_vals,
                                         pmix_data_type_t type);

/**
 * Take values from a buffer.
 * @param source          who has packed it; NULL for a process like the caller
 * @param buffer          the buffer
 * @param dest            room for *max_num_values values of the type; what they own is the caller's
 * @param max_num_values  how many there is room for; receives how many were taken
 * @param type            their type
 * @return PMIX_SUCCESS; PMIX_ERR_UNPACK_INADEQUATE_SPACE if there are more (dest is filled, the buffer is as it was),
 *         PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER, PMIX_ERR_PACK_MISMATCH, PMIX_ERR_UNPACK_FAILURE
 * (Standard 5.0, 11.3.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t* source, pmix_data_buffer_t* buffer, void* dest,
                                           int32_t* max_num_values, pmix_data_type_t type);

/**
 * Copy a value of any type.
 * @param dest  receives the copy, the caller's
 * @param src   the value
 * @param type  its type
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOMEM
 * (Standard 5.0, 11.3.3)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_copy(void** dest, void* src, pmix_data_type_t type);

/**
 * Show a value of any type to people.
 * @param output  receives the text, the caller's
 * @param prefix  put before each line; may be NULL
 * @param src     the value
 * @param type    its type
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOMEM
 * (Standard 5.0, 11.3.4)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_print(char** output, char* prefix, void* src, pmix_data_type_t type);

/**
 * Append what was not unpacked yet of one buffer to another; the first stays as it is.
 * @param dest  receives it
 * @param src   has it
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 * (Standard 5.0, 11.3.5)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t* dest, pmix_data_buffer_t* src);

/**
 * Hand packed bytes over to a buffer, which loses what it had.
 * @param buffer   the buffer; owns the bytes afterwards
 * @param payload  the bytes; is empty afterwards
 * @return PMIX_SUCCESS
 * (Standard 5.0, 11.3.6)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_load(pmix_data_buffer_t* buffer, pmix_byte_object_t* payload);

/**
 * Take out what was not unpacked yet; the buffer is empty afterwards.
 * @param buffer   the buffer
 * @param payload  receives the bytes, the caller's
 * @return PMIX_SUCCESS
 * (Standard 5.0, 11.3.7)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_unload(pmix_data_buffer_t* buffer, pmix_byte_object_t* payload);

/**
 * As PMIx_Data_load, but the bytes are copied and stay the caller's.
 * @param buffer   the buffer
 * @param payload  the bytes
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 * (Standard 5.0, 11.3.10)
 */
PMIX_EXPORT pmix_status_t PMIx_Data_embed(pmix_data_buffer_t* buffer, const pmix_byte_object_t* payload);

/**
 * Compress bytes without loss.
 * @param inbytes   size bytes
 * @param size      how many
 * @param outbytes  receives the compressed bytes, the caller's
 * @param nbytes    receives how many
 * @return true; false if they would not get smaller, or compressing is not possible
 * (Standard 5.0, 11.3.8)
 */
PMIX_EXPORT bool PMIx_Data_compress(const uint8_t* inbytes, size_t size, uint8_t** outbytes, size_t* nbytes);

/**
 * The reverse.
 * @param inbytes   size compressed bytes
 * @param size      how many
 * @param outbytes  receives the bytes, the caller's
 * @param nbytes    receives how many
 * @return true; false if they are damaged
 * (Standard 5.0, 11.3.9)
 */
PMIX_EXPORT bool PMIx_Data_decompress(const uint8_t* inbytes, size_t size, uint8_t** outbytes, size_t* nbytes);

// ---------------------------------------------------------------------------------------------------------
// Names of values
//
// They work without PMIx_Init. These return a string of the library's, also for a value that they do not know.
// (Standard 5.0, 3.5)

PMIX_EXPORT const char* PMIx_Error_string(pmix_status_t status);

/**
 * The status of a name such as PMIX_ERR_TIMEOUT.
 * @return the status; INT32_MIN if there is none of that name. Capital and small letters are the same
 */
PMIX_EXPORT pmix_status_t PMIx_Error_code(const char* errname);

PMIX_EXPORT const char* PMIx_Proc_state_string(pmix_proc_state_t state);
PMIX_EXPORT const char* PMIx_Job_state_string(pmix_job_state_t state);
PMIX_EXPORT const char* PMIx_Scope_string(pmix_scope_t scope);
PMIX_EXPORT const char* PMIx_Persistence_string(pmix_persistence_t persist);
PMIX_EXPORT const char* PMIx_Data_range_string(pmix_data_range_t range);
PMIX_EXPORT const char* PMIx_Data_type_string(pmix_data_type_t type);
PMIX_EXPORT const char* PMIx_Alloc_directive_string(pmix_alloc_directive_t directive);
PMIX_EXPORT const char* PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance);
PMIX_EXPORT const char* PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive);
PMIX_EXPORT const char* PMIx_IOF_channel_string(pmix_iof_channel_t channel);
PMIX_EXPORT const char* PMIx_Link_state_string(pmix_link_state_t state);
PMIX_EXPORT const char* PMIx_Device_type_string(pmix_device_type_t type);
PMIX_EXPORT const char* PMIx_Value_comparison_string(pmix_value_cmp_t cmp);
PMIX_EXPORT const char* PMIx_Group_operation_string(pmix_group_operation_t op);

/**
 * The name of a key: for "pmix.timeout", PMIX_TIMEOUT.
 * @return a string, the library's; the argument itself if it is not known
 * (Standard 5.0, 3.5)
 */
PMIX_EXPORT const char* PMIx_Get_attribute_name(const char* attrstring);

/**
 * The key of a name: for "PMIX_TIMEOUT", pmix.timeout.
 * @return a string, the library's; the argument itself if it is not known
 * (Standard 5.0, 3.5)
 */
PMIX_EXPORT const char* PMIx_Get_attribute_string(const char* attribute);

// These return a new string, the caller's, for people to read.

PMIX_EXPORT char* PMIx_Info_directives_string(pmix_info_directives_t directives);
PMIX_EXPORT char* PMIx_Info_string(const pmix_info_t* info);
PMIX_EXPORT char* PMIx_Value_string(const pmix_value_t* value);
PMIX_EXPORT char* PMIx_Proc_string(const pmix_proc_t* proc);
PMIX_EXPORT char* PMIx_App_string(const pmix_app_t* app);
PMIX_EXPORT char* PMIx_Resource_unit_string(const pmix_resource_unit_t* unit);

#ifdef __cplusplus
}
#endif

#endif
