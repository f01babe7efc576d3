// SPDX-License-Identifier: BSD-3-Clause
//
// For the host: the resource manager's daemon that serves the processes of its node through the library. It gives
// the library a table of functions that the library calls (upcalls), and calls the functions below.
//
// A call that has a callback returns PMIX_SUCCESS when the callback will be called, and PMIX_OPERATION_SUCCEEDED when
// it is done and the callback will not be called; without a callback it waits, and returns the latter. The arguments
// stay the host's, and as they are until then. The rules of pmix.h for all calls apply here too.

#ifndef PMIX_SERVER_H
#define PMIX_SERVER_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------
// Upcalls
//
// They run on the library's progress thread and must return soon. PMIX_SUCCESS means that the host will answer
// through the callback, from any thread, exactly once; PMIX_OPERATION_SUCCEEDED that it is done and will not
// call it; anything else is an error and the callback is not called. Arguments stay valid until the callback.
// A NULL in the table means that the host does not support the operation.

// Callbacks that the host is given

/**
 * A connection that the host has accepted for the library.
 * @param incoming_sd  the socket
 * @param cbdata       what came with the upcall
 * (Standard 5.0, 17.3.17.1)
 */
typedef void (*pmix_connection_cbfunc_t)(int incoming_sd, void* cbdata);

/**
 * The host's word about a tool.
 * @param status  PMIX_SUCCESS to let it in, else why not
 * @param proc    name that the tool shall have
 * @param cbdata  what came with the upcall
 * (Standard 5.0, 17.3.19.2)
 */
typedef void (*pmix_tool_connection_cbfunc_t)(pmix_status_t status, pmix_proc_t* proc, void* cbdata);

// Clients come and go

/**
 * A client has connected. Former form: hosts now have client_connected2.
 * @param proc           the client
 * @param server_object  what PMIx_server_register_client was given for it
 * (Standard 5.0, 17.3.2)
 */
typedef pmix_status_t (*pmix_server_client_connected_fn_t)(const pmix_proc_t* proc, void* server_object, pmix_op_cbfunc_t cbfunc,
                                                           void* cbdata);

/**
 * A client has connected and waits in PMIx_Init for the answer.
 * @param proc           the client
 * @param server_object  what PMIx_server_register_client was given for it
 * @param info           ninfo facts about the connection
 * (Standard 5.0, 17.3.3)
 */
typedef pmix_status_t (*pmix_server_client_connected2_fn_t)(const pmix_proc_t* proc, void* server_object, pmix_info_t info[],
                                                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * A client waits in PMIx_Finalize for the answer.
 * @param proc           the client
 * @param server_object  what PMIx_server_register_client was given for it
 * (Standard 5.0, 17.3.4)
 */
typedef pmix_status_t (*pmix_server_client_finalized_fn_t)(const pmix_proc_t* proc, void* server_object, pmix_op_cbfunc_t cbfunc,
                                                           void* cbdata);

/**
 * A client asks to end processes.
 * @param proc           the client
 * @param server_object  what PMIx_server_register_client was given for it
 * @param status         exit code to report
 * @param msg            words for a person; may be NULL
 * @param procs          nprocs processes to end; NULL for the client's whole job
 * (Standard 5.0, 17.3.5)
 */
typedef pmix_status_t (*pmix_server_abort_fn_t)(const pmix_proc_t* proc, void* server_object, int status, const char msg[],
                                                pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc, void* cbdata);

// Data

/**
 * All local participants of a fence have arrived: take their data to the other servers, and bring back that of all.
 * @param procs   nprocs participants; ranks may be wildcards
 * @param info    ninfo attributes, such as PMIX_COLLECT_DATA and PMIX_TIMEOUT
 * @param data    ndata bytes of the local participants, the host's from now on (free)
 * @param cbfunc  receives the bytes of all, one behind the other
 * (Standard 5.0, 17.3.6)
 */
typedef pmix_status_t (*pmix_server_fencenb_fn_t)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                                  char* data, size_t ndata, pmix_modex_cbfunc_t cbfunc, void* cbdata);

/**
 * A client needs what a process of another node has put: ask that node's host, whose server has it
 * (PMIx_server_dmodex_request).
 * @param proc    the process
 * @param info    ninfo attributes, such as PMIX_REQUIRED_KEY and PMIX_TIMEOUT
 * @param cbfunc  receives the bytes
 * (Standard 5.0, 17.3.7)
 */
typedef pmix_status_t (*pmix_server_dmodex_req_fn_t)(const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo,
                                                     pmix_modex_cbfunc_t cbfunc, void* cbdata);

/**
 * A client publishes.
 * @param proc   the client
 * @param info   ninfo keys with values, and attributes such as PMIX_RANGE and PMIX_PERSISTENCE
 * (Standard 5.0, 17.3.8)
 */
typedef pmix_status_t (*pmix_server_publish_fn_t)(const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo,
                                                  pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * A client looks up.
 * @param proc    the client
 * @param keys    the keys, ended by NULL
 * @param info    ninfo attributes, such as PMIX_WAIT and PMIX_RANGE
 * @param cbfunc  receives what was found
 * (Standard 5.0, 17.3.9)
 */
typedef pmix_status_t (*pmix_server_lookup_fn_t)(const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t ninfo,
                                                 pmix_lookup_cbfunc_t cbfunc, void* cbdata);

/**
 * A client takes back what it has published.
 * @param proc  the client
 * @param keys  the keys, ended by NULL; NULL for all
 * @param info  ninfo attributes, such as PMIX_RANGE
 * (Standard 5.0, 17.3.10)
 */
typedef pmix_status_t (*pmix_server_unpublish_fn_t)(const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t ninfo,
                                                    pmix_op_cbfunc_t cbfunc, void* cbdata);

// Processes

/**
 * A client or tool starts a job. The namespace must be registered before the callback is called.
 * @param proc      who asks
 * @param job_info  ninfo attributes of the job
 * @param apps      napps programs
 * @param cbfunc    receives the namespace
 * (Standard 5.0, 17.3.11)
 */
typedef pmix_status_t (*pmix_server_spawn_fn_t)(const pmix_proc_t* proc, const pmix_info_t job_info[], size_t ninfo,
                                                const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc, void* cbdata);

/**
 * All local participants of a connect have arrived; call back when those of all nodes have.
 * @param procs  nprocs participants; ranks may be wildcards
 * @param info   ninfo attributes
 * (Standard 5.0, 17.3.12)
 */
typedef pmix_status_t (*pmix_server_connect_fn_t)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                                  pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * All local participants of a disconnect have arrived; call back when those of all nodes have.
 * @param procs  nprocs participants; ranks may be wildcards
 * @param info   ninfo attributes
 * (Standard 5.0, 17.3.13)
 */
typedef pmix_status_t (*pmix_server_disconnect_fn_t)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                                     size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

// Events

/**
 * A local process wants to hear of events.
 * @param codes  ncodes events; NULL for all
 * @param info   ninfo attributes, such as PMIX_EVENT_AFFECTED_PROC
 * (Standard 5.0, 17.3.14)
 */
typedef pmix_status_t (*pmix_server_register_events_fn_t)(pmix_status_t* codes, size_t ncodes, const pmix_info_t info[],
                                                          size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * No local process wants to hear of these events any more.
 * @param codes  ncodes events; NULL for all
 * (Standard 5.0, 17.3.15)
 */
typedef pmix_status_t (*pmix_server_deregister_events_fn_t)(pmix_status_t* codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                                            void* cbdata);

/**
 * A local process has raised an event: tell the other servers that the range reaches.
 * @param code    the event
 * @param source  who raised it
 * @param range   who shall hear of it
 * @param info    ninfo infos of the event
 * (Standard 5.0, 17.3.16)
 */
typedef pmix_status_t (*pmix_server_notify_event_fn_t)(pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t range,
                                                       pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * The library asks the host to watch its listening socket, accept, and hand the connections to cbfunc.
 * @param listening_sd  the socket
 * @param cbfunc        receives the connections
 * @param cbdata        handed to it
 * @return PMIX_SUCCESS; anything else: the library does it itself
 * (Standard 5.0, 17.3.17)
 */
typedef pmix_status_t (*pmix_server_listener_fn_t)(int listening_sd, pmix_connection_cbfunc_t cbfunc, void* cbdata);

// Tools, queries, logs

/**
 * Questions that the server library cannot answer by itself.
 * @param proct    who asks
 * @param queries  nqueries queries
 * @param cbfunc   receives the answers
 * (Standard 5.0, 17.3.18)
 */
typedef pmix_status_t (*pmix_server_query_fn_t)(pmix_proc_t* proct, pmix_query_t* queries, size_t nqueries,
                                                pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * A tool wants to connect. Former form, which cannot return an error: hosts now have tool_connected2.
 * @param info    ninfo facts about the tool, such as PMIX_USERID
 * @param cbfunc  receives whether it may, and its name
 * (Standard 5.0, 17.3.19)
 */
typedef void (*pmix_server_tool_connection_fn_t)(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                                                 void* cbdata);

/**
 * A tool wants to connect.
 * @param info    ninfo facts about the tool, such as PMIX_USERID
 * @param cbfunc  receives whether it may, and its name
 */
typedef pmix_status_t (*pmix_server_tool_connection2_fn_t)(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                                                           void* cbdata);

/**
 * A client logs on a channel of the host. Former form, which cannot return an error: hosts now have log2.
 * @param client      the client
 * @param data        ndata infos to log
 * @param directives  ndirs attributes
 * (Standard 5.0, 17.3.20)
 */
typedef void (*pmix_server_log_fn_t)(const pmix_proc_t* client, const pmix_info_t data[], size_t ndata,
                                     const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * A client logs on a channel of the host.
 * @param client      the client
 * @param data        ndata infos to log
 * @param directives  ndirs attributes
 */
typedef pmix_status_t (*pmix_server_log2_fn_t)(const pmix_proc_t* client, const pmix_info_t data[], size_t ndata,
                                               const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata);

// Resources, jobs, sessions

/**
 * A client asks for resources.
 * @param client     the client
 * @param directive  what to do
 * @param data       ndata attributes that describe the resources
 * @param cbfunc     receives the answer
 * (Standard 5.0, 17.3.21)
 */
typedef pmix_status_t (*pmix_server_alloc_fn_t)(const pmix_proc_t* client, pmix_alloc_directive_t directive,
                                                const pmix_info_t data[], size_t ndata, pmix_info_cbfunc_t cbfunc, void* cbdata);

/**
 * A client defines or changes a named set of resources.
 * @param requestor  the client
 * @param directive  what to do
 * @param block      its name
 * @param units      nunit units
 * @param info       ninfo attributes
 */
typedef pmix_status_t (*pmix_server_resource_block_fn_t)(const pmix_proc_t* requestor, pmix_resource_block_directive_t directive,
                                                         const char* block, const pmix_resource_unit_t* units, size_t nunit,
                                                         const pmix_info_t* info, size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                         void* cbdata);

/**
 * A client steers processes.
 * @param requestor   the client
 * @param targets     ntargets processes
 * @param directives  ndirs attributes: what to do
 * @param cbfunc      receives the answer
 * (Standard 5.0, 17.3.22)
 */
typedef pmix_status_t (*pmix_server_job_control_fn_t)(const pmix_proc_t* requestor, const pmix_proc_t targets[], size_t ntargets,
                                                      const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                      void* cbdata);

/**
 * A client steers a session.
 * @param requestor   the client
 * @param sessionID   its number
 * @param directives  ndirs attributes: what to do
 * @param cbfunc      receives the answer
 */
typedef pmix_status_t (*pmix_server_session_control_fn_t)(const pmix_proc_t* requestor, uint32_t sessionID,
                                                          const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                          void* cbdata);

/**
 * A client wants something watched that the server library cannot watch.
 * @param requestor   the client
 * @param monitor     what to watch
 * @param error       event to raise
 * @param directives  ndirs attributes
 * @param cbfunc      receives the answer
 * (Standard 5.0, 17.3.23)
 */
typedef pmix_status_t (*pmix_server_monitor_fn_t)(const pmix_proc_t* requestor, const pmix_info_t* monitor, pmix_status_t error,
                                                  const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                  void* cbdata);

// Credentials, input and output, groups, fabrics

/**
 * A client needs a credential.
 * @param proc        the client
 * @param directives  ndirs attributes
 * @param cbfunc      receives it
 * (Standard 5.0, 17.3.24)
 */
typedef pmix_status_t (*pmix_server_get_cred_fn_t)(const pmix_proc_t* proc, const pmix_info_t directives[], size_t ndirs,
                                                   pmix_credential_cbfunc_t cbfunc, void* cbdata);

/**
 * A client wants a credential checked.
 * @param proc        the client
 * @param cred        the credential
 * @param directives  ndirs attributes
 * @param cbfunc      receives the answer
 * (Standard 5.0, 17.3.25)
 */
typedef pmix_status_t (*pmix_server_validate_cred_fn_t)(const pmix_proc_t* proc, const pmix_byte_object_t* cred,
                                                        const pmix_info_t directives[], size_t ndirs,
                                                        pmix_validation_cbfunc_t cbfunc, void* cbdata);

/**
 * Output of processes is wanted here: pass it to PMIx_server_IOF_deliver from now on, or no longer.
 * @param procs       nprocs processes whose output it is
 * @param directives  ndirs attributes
 * @param channels    which channels; none ends it
 * (Standard 5.0, 17.3.27)
 */
typedef pmix_status_t (*pmix_server_iof_fn_t)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
                                              size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Standard input for processes of any node.
 * @param source      where it comes from
 * @param targets     ntargets processes
 * @param directives  ndirs attributes
 * @param bo          the bytes; none at the end
 * (Standard 5.0, 17.3.28)
 */
typedef pmix_status_t (*pmix_server_stdin_fn_t)(const pmix_proc_t* source, const pmix_proc_t targets[], size_t ntargets,
                                                const pmix_info_t directives[], size_t ndirs, const pmix_byte_object_t* bo,
                                                pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * All local participants of a group operation have arrived; call back when those of all nodes have.
 * @param op          construct or destruct
 * @param grp         name of the group
 * @param procs       nprocs participants
 * @param directives  ndirs attributes, such as PMIX_GROUP_ASSIGN_CONTEXT_ID
 * @param cbfunc      receives infos for the members, such as PMIX_GROUP_CONTEXT_ID
 * (Standard 5.0, 17.3.29)
 */
typedef pmix_status_t (*pmix_server_grp_fn_t)(pmix_group_operation_t op, char grp[], const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                              void* cbdata);

/**
 * A client needs data of a fabric.
 * @param requestor   the client
 * @param op          first request or update
 * @param directives  ndirs attributes
 * @param cbfunc      receives the data
 * (Standard 5.0, 17.3.30)
 */
typedef pmix_status_t (*pmix_server_fabric_fn_t)(const pmix_proc_t* requestor, pmix_fabric_operation_t op,
                                                 const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                 void* cbdata);

/**
 * The table of upcalls. Members are only ever added at the end, and which of them a host has depends on the
 * headers that it was compiled with: 28 (up to client_connected2) with OpenPMIx 4.2, 29 with 5.0, where slot 28
 * was session_control, 32 with 6.1 and with these.
 */
typedef struct pmix_server_module_4_0_0_t {
    pmix_server_client_connected_fn_t client_connected;
    pmix_server_client_finalized_fn_t client_finalized;
    pmix_server_abort_fn_t abort;
    pmix_server_fencenb_fn_t fence_nb;
    pmix_server_dmodex_req_fn_t direct_modex;
    pmix_server_publish_fn_t publish;
    pmix_server_lookup_fn_t lookup;
    pmix_server_unpublish_fn_t unpublish;
    pmix_server_spawn_fn_t spawn;
    pmix_server_connect_fn_t connect;
    pmix_server_disconnect_fn_t disconnect;
    pmix_server_register_events_fn_t register_events;
    pmix_server_deregister_events_fn_t deregister_events;
    pmix_server_listener_fn_t listener;
    pmix_server_notify_event_fn_t notify_event;
    pmix_server_query_fn_t query;
    pmix_server_tool_connection_fn_t tool_connected;
    pmix_server_log_fn_t log;
    pmix_server_alloc_fn_t allocate;
    pmix_server_job_control_fn_t job_control;
    pmix_server_monitor_fn_t monitor;
    pmix_server_get_cred_fn_t get_credential;
    pmix_server_validate_cred_fn_t validate_credential;
    pmix_server_iof_fn_t iof_pull;
    pmix_server_stdin_fn_t push_stdin;
    pmix_server_grp_fn_t group;
    pmix_server_fabric_fn_t fabric;
    pmix_server_client_connected2_fn_t client_connected2;
    // not in OpenPMIx 4.2
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_session_control_fn_t session_control;
    pmix_server_resource_block_fn_t resource_block;
} pmix_server_module_t;

// ---------------------------------------------------------------------------------------------------------
// Beginning and end

/**
 * Make the calling process a server. May be called again; only the first call does something, and each needs its
 * PMIx_server_finalize.
 * @param module  the host's upcalls; may be NULL. The library keeps a copy of the members that it may read
 * @param info    ninfo attributes, such as PMIX_SERVER_TMPDIR; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_INIT and other errors
 * (Standard 5.0, 17.1.1)
 */
PMIX_EXPORT pmix_status_t PMIx_server_init(pmix_server_module_t* module, pmix_info_t info[], size_t ninfo);

/**
 * End being a server, with the last of as many calls as there were of PMIx_server_init. Clients still connected are cut off;
 * the server's files are removed.
 * @return PMIX_SUCCESS; PMIX_ERR_INIT
 * (Standard 5.0, 17.1.2)
 */
PMIX_EXPORT pmix_status_t PMIx_server_finalize(void);

// The table has no field for its size, and its size differs between headers. So the plain PMIx_server_init reads
// only the 28 members that every host has, and what is compiled on these headers says the size: the macro below
// calls PMIx_server_init_sized where the library at run time has it, and the plain function elsewhere (another
// library, which has its own rules). It is weak, so that a program need not have it to start. The address of
// PMIx_server_init, and (PMIx_server_init)(...), still are the plain function. A source that needs the plain name
// alone, such as one that defines it, says PMIX_SERVER_MODULE_UNSIZED before it includes this file.

#ifdef PMIX_SERVER_MODULE_UNSIZED
#define PMIX_SERVER_WEAK
#else
#define PMIX_SERVER_WEAK __attribute__((__weak__))
#endif

/**
 * PMIx_server_init for a host that says how large its table is.
 * @param module       the host's upcalls; may be NULL
 * @param module_size  its size in bytes; what the library knows beyond it counts as NULL
 * @param info         ninfo attributes; may be NULL
 * @return as PMIx_server_init
 */
PMIX_EXPORT pmix_status_t PMIx_server_init_sized(pmix_server_module_t* module, size_t module_size, pmix_info_t info[],
                                                 size_t ninfo) PMIX_SERVER_WEAK;

#ifndef PMIX_SERVER_MODULE_UNSIZED
static inline pmix_status_t pmix_server_init_this_size(pmix_server_module_t* module, pmix_info_t info[], size_t ninfo) {
    if (NULL != PMIx_server_init_sized) {
        return PMIx_server_init_sized(module, sizeof(pmix_server_module_t), info, ninfo);
    }
    return PMIx_server_init(module, info, ninfo);
}
#define PMIx_server_init(...) pmix_server_init_this_size(__VA_ARGS__)
#endif

// ---------------------------------------------------------------------------------------------------------
// Jobs and their processes

/**
 * Receive the data that all nodes need before a job starts.
 * @param status           PMIX_SUCCESS or the error
 * @param info             array of ninfo for PMIx_server_setup_local_support, the library's until cbfunc is called
 * @param provided_cbdata  what the host gave with the request
 * @param cbfunc           to be called by the host when it needs info no more
 * @param cbdata           to be handed to cbfunc
 * (Standard 5.0, 17.2.11.1)
 */
typedef void (*pmix_setup_application_cbfunc_t)(pmix_status_t status, pmix_info_t info[], size_t ninfo, void* provided_cbdata,
                                                pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Receive the values that a local process has put.
 * @param status  PMIX_SUCCESS or the error
 * @param data    sz bytes, the library's
 * @param cbdata  what the host gave with the request
 * (Standard 5.0, 17.2.10.1)
 */
typedef void (*pmix_dmodex_response_fn_t)(pmix_status_t status, char* data, size_t sz, void* cbdata);

/**
 * Prepare a job, once, where it is launched: environment, fabrics.
 * @param nspace  the job; "" where it has no name yet: its environment only
 * @param info    ninfo attributes: its maps and what to set up; kept by the host until the callback
 * @param cbfunc  receives what must go to all nodes
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.11)
 */
PMIX_EXPORT pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
                                                        pmix_setup_application_cbfunc_t cbfunc, void* cbdata);

/**
 * Prepare a node for a job, with what PMIx_server_setup_application has given, before its first process starts.
 * @param nspace  the job
 * @param info    ninfo infos; kept by the host until the callback
 * @param cbfunc  called when it is done; NULL: the call waits
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.13)
 */
PMIX_EXPORT pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
                                                          pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Tell the library of a job: how large it is, where its processes are, what else is to be known. Must be done before its first
 * client connects; may be done again to add facts.
 * @param nspace       the job
 * @param nlocalprocs  how many of its processes will run on this node; PMIX_REGISTER_NODATA with info and no processes is only
 *                     a name
 * @param info         ninfo facts; kept by the host until the callback
 * @param cbfunc       called when it is done; NULL: the call waits
 * @param cbdata       handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it is done
 * (Standard 5.0, 17.2.3)
 */
PMIX_EXPORT pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs, pmix_info_t info[], size_t ninfo,
                                                      pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * The job has ended: forget it and all that its processes have left.
 * @param nspace  the job
 * @param cbfunc  called when it is done; NULL: the call waits
 * @param cbdata  handed to it
 * (Standard 5.0, 17.2.4)
 */
PMIX_EXPORT void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Tell the library of a session: the resources that a workload manager has given to a user, in which jobs come and go. A job
 * that names a session (PMIX_SESSION_INFO_ARRAY) makes it known, too. A session stays known until it is deregistered, whether
 * or not there is a job in it. Nothing changes where it is known already. Clients read what is said of it with
 * PMIX_SESSION_INFO, and with PMIX_SESSION_ID where their job is not in it.
 * @param sessionID  its number; not UINT32_MAX
 * @param info       ninfo facts, also of its nodes (PMIX_NODE_INFO_ARRAY); kept by the host until the callback
 * @param cbfunc     called when it is done; NULL: the call waits
 * @param cbdata     handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it is done; PMIX_ERR_BAD_PARAM where a fact cannot
 *         be read, or names another session
 * (OpenPMIx 7.0)
 */
PMIX_EXPORT pmix_status_t PMIx_server_register_session(uint32_t sessionID, pmix_info_t info[], size_t ninfo,
                                                       pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * The session has ended: forget what is known of it. Jobs in it stay registered.
 * @param sessionID  its number
 * @param cbfunc     called when it is done; NULL: the call waits
 * @param cbdata     handed to it
 * (OpenPMIx 7.0)
 */
PMIX_EXPORT void PMIx_server_deregister_session(uint32_t sessionID, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Tell the library of a process that will connect. Only a process of this user and group is accepted.
 * @param proc           its name
 * @param uid            its user
 * @param gid            its group
 * @param server_object  handed to the upcalls that concern it; stays the host's
 * @param cbfunc         called when it is done; NULL: the call waits
 * @param cbdata         handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it is done
 * (Standard 5.0, 17.2.7)
 */
PMIX_EXPORT pmix_status_t PMIx_server_register_client(const pmix_proc_t* proc, uid_t uid, gid_t gid, void* server_object,
                                                      pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * The process will not connect, or has ended.
 * @param proc    its name
 * @param cbfunc  called when it is done; NULL: the call waits
 * @param cbdata  handed to it
 * (Standard 5.0, 17.2.8)
 */
PMIX_EXPORT void PMIx_server_deregister_client(const pmix_proc_t* proc, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Add to the environment of a process what it needs to connect.
 * @param proc  its name
 * @param env   address of the environment, an array of strings; the caller's, and may move
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 * (Standard 5.0, 17.2.9)
 */
PMIX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t* proc, char*** env);

/**
 * Get what a local process has put, for a host of another node that asks for it. If the process has not committed yet, the
 * answer waits until it has.
 * @param proc    the process
 * @param cbfunc  receives the bytes
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.10)
 */
PMIX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t* proc, pmix_dmodex_response_fn_t cbfunc, void* cbdata);

/**
 * Pack the facts of jobs for another server. Not in Standard 5.0.
 * @param procs   nprocs processes, whose jobs are meant
 * @param dbuf    a constructed buffer; receives them
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 */
PMIX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t* procs, size_t nprocs, pmix_data_buffer_t* dbuf);

/**
 * Hand output that has come from another node to the local processes and tools that want it.
 * @param source   whose output it is
 * @param channel  which channel
 * @param bo       the bytes; kept by the host until the callback
 * @param info     ninfo attributes, such as PMIX_IOF_COMPLETE; may be NULL
 * @param cbfunc   called when it is done
 * @param cbdata   handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it is done
 * (Standard 5.0, 17.2.14)
 */
PMIX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t* source, pmix_iof_channel_t channel,
                                                  const pmix_byte_object_t* bo, const pmix_info_t info[], size_t ninfo,
                                                  pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Suspend or resume the processes that send input to the host. While a process is suspended, the host is handed none of
 * its input: the process waits for the answer to its push, and reads no more of its own stdin. No byte is lost.
 * A host that answers the upcall push_stdin with PMIX_ERR_IOF_XOFF has taken the bytes, and suspends their sender.
 * Output channels are Muster's addition: output of a suspended process that the host delivers is not forwarded. The callback
 * of PMIx_server_IOF_deliver comes when it is resumed; without a callback that call returns PMIX_ERR_IOF_XOFF, and nothing is
 * taken.
 * @param source      whose input or output; NULL, PMIX_RANK_WILDCARD or an empty namespace for all that match
 * @param channel     PMIX_FWD_STDIN_CHANNEL and the channels of output, any of them
 * @param xoff        true: suspend; false: resume
 * @param directives  ndirs directives; none is defined
 * @param cbfunc      called when it is done; NULL: the call waits
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it is done; PMIX_ERR_NOT_SUPPORTED for no channel that
 * there is
 */
PMIX_EXPORT pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t* source, pmix_iof_channel_t channel, bool xoff,
                                                       const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                                       void* cbdata);

// ---------------------------------------------------------------------------------------------------------
// Resources and process sets

/**
 * Tell the library of resources that do not belong to a job.
 * @param info    ninfo facts; kept by the host until the callback
 * @param cbfunc  called when it is done; NULL: the call waits
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.5)
 */
PMIX_EXPORT pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Forget such resources, also in jobs that run: a client that has a copy drops it.
 * @param info    ninfo infos that say which. The key selects all that was registered under it. A value that is an array of infos
 *                narrows that: PMIX_HOSTNAME and PMIX_NODEID to one node, other entries to the elements of that key and value
 *                (such as PMIX_FABRIC_DEVICE_NAME), or that have such an element inside
 * @param cbfunc  called when it is done; NULL: the call waits
 * @param cbdata  handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.6)
 */
PMIX_EXPORT pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Find out what the node has: devices, topology.
 * @param directives  ndirs attributes; may be NULL
 * @param cbfunc      receives the inventory
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.15)
 */
PMIX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                        void* cbdata);

/**
 * Give the library the inventories of nodes, for later calls of PMIx_server_setup_application.
 * @param info        ninfo infos from PMIx_server_collect_inventory; kept by the host until the callback
 * @param directives  ndirs attributes; may be NULL
 * @param cbfunc      called when it is done; NULL: the call waits
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS if cbfunc will be called
 * (Standard 5.0, 17.2.16)
 */
PMIX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo, pmix_info_t directives[], size_t ndirs,
                                                        pmix_op_cbfunc_t cbfunc, void* cbdata);

/**
 * Tell the library of a process set; local members receive the event PMIX_PROCESS_SET_DEFINE.
 * @param members    nmembers processes
 * @param nmembers   how many
 * @param pset_name  its name
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 * (Standard 5.0, 17.2.19)
 */
PMIX_EXPORT pmix_status_t PMIx_server_define_process_set(const pmix_proc_t* members, size_t nmembers, const char* pset_name);

/**
 * Forget a process set; local members receive the event PMIX_PROCESS_SET_DELETE.
 * @param pset_name  its name
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 17.2.20)
 */
PMIX_EXPORT pmix_status_t PMIx_server_delete_process_set(char* pset_name);

/**
 * Say which attributes the host supports for a function, for queries. The Standard passes an array of pmix_regattr_t; programs
 * are compiled with this form.
 * @param function  name of the function
 * @param attrs     names of the attributes, ended by NULL
 * @return PMIX_SUCCESS; PMIX_ERR_REPEAT_ATTR_REGISTRATION
 * (Standard 5.0, 17.2.12)
 */
PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char* function, char* attrs[]);

// ---------------------------------------------------------------------------------------------------------
// Strings that describe nodes, processes and binding

/**
 * Make a short form of a list of nodes, for PMIX_NODE_MAP.
 * @param input  names, by comma
 * @param regex  receives it, the caller's. It may contain zeros: only the library can tell its length
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM
 * (Standard 5.0, 17.2.1)
 */
PMIX_EXPORT pmix_status_t PMIx_generate_regex(const char* input, char** regex);

/**
 * Make a short form of a list of ranks on each node, for PMIX_PROC_MAP.
 * @param input  ranks by comma, nodes by semicolon; ranges as 0-3 are understood
 * @param ppn    receives it, the caller's. It may contain zeros: only the library can tell its length
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM
 * (Standard 5.0, 17.2.2)
 */
PMIX_EXPORT pmix_status_t PMIx_generate_ppn(const char* input, char** ppn);

/**
 * Encode a list, for PMIX_NODE_MAP and PMIX_PROC_MAP as a value of type PMIX_REGEX2.
 * @param input  the list: names by comma, or ranks by comma and nodes by semicolon. It is kept as it is
 * @param info   ninfo directives; none is defined
 * @param regex  receives the encoded list, to be released by PMIx_Regex2_destruct. It is not read
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM
 */
PMIX_EXPORT pmix_status_t PMIx_generate_regex2(const char* input, pmix_info_t info[], size_t ninfo, pmix_regex2_t* regex);

/**
 * Decode what PMIx_generate_regex2 gave, here or in a library of OpenPMIx.
 * @param regex   the encoded list
 * @param info    ninfo directives; none is defined
 * @param output  receives the list, the caller's; NULL on failure
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for an unknown encoding; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM
 */
PMIX_EXPORT pmix_status_t PMIx_parse_regex2(const pmix_regex2_t* regex, pmix_info_t info[], size_t ninfo, char** output);

/**
 * Describe where a process sits, for PMIX_LOCALITY_STRING.
 * @param cpuset    its processing units
 * @param locality  receives the string, the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 17.2.17)
 */
PMIX_EXPORT pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t* cpuset, char** locality);

/**
 * Describe processing units, for PMIX_CPUSET.
 * @param cpuset         the units
 * @param cpuset_string  receives the string, the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 17.2.18)
 */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t* cpuset, char** cpuset_string);

/**
 * Read such a string. Not in Standard 5.0.
 * @param cpuset_string  the string
 * @param cpuset         receives the units, to be given to PMIx_Cpuset_destruct
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset(const char* cpuset_string, pmix_cpuset_t* cpuset);

#ifdef __cplusplus
}
#endif

#endif
