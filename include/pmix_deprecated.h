// SPDX-License-Identifier: BSD-3-Clause
//
// Names that only older sources need: macros of which pmix_common.h has the functions, names that the Standard
// has dropped or replaced, and statistics structures' support. All of it is kept and works. pmix_common.h
// includes this file; there is no need to name it.

#ifndef PMIX_DEPRECATED_H
#define PMIX_DEPRECATED_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------
// Status codes and other constants that are no longer given out

#define PMIX_ERR_SILENT                    -2   // an error that is not to be reported
#define PMIX_ERR_DEBUGGER_RELEASE          -3   // now PMIX_DEBUGGER_RELEASE
#define PMIX_ERR_PROC_ABORTED              -7   // a process aborted
#define PMIX_ERR_PROC_ABORTING             -9   // a process is aborting
#define PMIX_ERR_SERVER_FAILED_REQUEST     -10  // the server failed
#define PMIX_EXISTS                        -11  // now PMIX_ERR_EXISTS
#define PMIX_ERR_HANDSHAKE_FAILED          -13  // the connection was refused
#define PMIX_ERR_READY_FOR_HANDSHAKE       -14  // the credential is good, go on
#define PMIX_ERR_PROC_ENTRY_NOT_FOUND      -17  // no such process
#define PMIX_ERR_PACK_MISMATCH             -22  // not the value that the type says
#define PMIX_ERR_IN_ERRNO                  -26  // see errno
#define PMIX_ERR_DATA_VALUE_NOT_FOUND      -30  // no such data
#define PMIX_ERR_INVALID_ARG               -33
#define PMIX_ERR_INVALID_KEY               -34
#define PMIX_ERR_INVALID_KEY_LENGTH        -35
#define PMIX_ERR_INVALID_VAL               -36
#define PMIX_ERR_INVALID_VAL_LENGTH        -37
#define PMIX_ERR_INVALID_LENGTH            -38
#define PMIX_ERR_INVALID_NUM_ARGS          -39
#define PMIX_ERR_INVALID_ARGS              -40
#define PMIX_ERR_INVALID_NUM_PARSED        -41
#define PMIX_ERR_INVALID_KEYVALP           -42
#define PMIX_ERR_INVALID_SIZE              -43
#define PMIX_ERR_INVALID_NAMESPACE         -44
#define PMIX_ERR_SERVER_NOT_AVAIL          -45  // no server
#define PMIX_ERR_NOT_IMPLEMENTED           -48
#define PMIX_DEBUG_WAITING_FOR_NOTIFY      -58  // now PMIX_READY_FOR_DEBUG
#define PMIX_ERR_FATAL                     -63
#define PMIX_ERR_VALUE_OUT_OF_BOUNDS       -65
#define PMIX_ERR_FILE_OPEN_FAILURE         -67
#define PMIX_ERR_FILE_READ_FAILURE         -68
#define PMIX_ERR_FILE_WRITE_FAILURE        -69
#define PMIX_ERR_SYS_LIMITS_PIPES          -70
#define PMIX_ERR_SYS_LIMITS_CHILDREN       -71
#define PMIX_ERR_PIPE_SETUP_FAILURE        -72
#define PMIX_ERR_EXE_NOT_ACCESSIBLE        -73
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE   -74
#define PMIX_ERR_SYS_LIMITS_FILES          -75
#define PMIX_ERR_LOST_CONNECTION_TO_SERVER -101  // the server is gone
#define PMIX_ERR_LOST_PEER_CONNECTION      -102  // a peer is gone
#define PMIX_ERR_LOST_CONNECTION_TO_CLIENT -103  // a client is gone
#define PMIX_NOTIFY_ALLOC_COMPLETE         -105  // a request for an allocation was answered
#define PMIX_ERR_INVALID_TERMINATION       -112  // ended without finalizing
#define PMIX_ERR_JOB_TERMINATED            -145  // now PMIX_EVENT_JOB_END
#define PMIX_ERR_UPDATE_ENDPOINTS          -146  // now PMIX_FABRIC_UPDATE_ENDPOINTS
#define PMIX_GDS_ACTION_COMPLETE           -148  // the store is done
#define PMIX_PROC_HAS_CONNECTED            -149  // a process has connected
#define PMIX_CONNECT_REQUESTED             -150  // a process asks for a connection
#define PMIX_ERR_SYS_BASE                  PMIX_EVENT_SYS_BASE
#define PMIX_ERR_NODE_DOWN                 -231  // now PMIX_EVENT_NODE_DOWN
#define PMIX_ERR_NODE_OFFLINE              -232  // now PMIX_EVENT_NODE_OFFLINE
#define PMIX_ERR_SYS_OTHER                 PMIX_EVENT_SYS_OTHER

#define PMIX_BUFFER            26  // internal, no longer used
#define PMIX_JOB_STATE_PREPPED 1   // ready to be started

// ---------------------------------------------------------------------------------------------------------
// Attributes that others have replaced

// The library and its connections
#define PMIX_EVENT_BASE           "pmix.evbase"         // struct event_base*: event loop to use instead of an own thread
#define PMIX_USOCK_DISABLE        "pmix.usock.disable"  // bool: no local sockets of old servers
#define PMIX_SOCKET_MODE          "pmix.sockmode"       // uint32_t: permissions of the socket
#define PMIX_SINGLE_LISTENER      "pmix.sing.listnr"    // bool: listen in one way only
#define PMIX_RECONNECT_SERVER     "pmix.cnct.recon"     // bool: the tool changes its server
#define PMIX_GDS_MODULE           "pmix.gds.mod"        // char*: stores to use, by comma
#define PMIX_BFROPS_MODULE        "pmix.bfrops.mod"     // char*: packing that the namespace uses
#define PMIX_PNET_SETUP_APP       "pmix.pnet.setapp"    // pmix_byte_object_t: what the networks have set up
#define PMIX_DSTPATH              "pmix.dstpath"        // char*: directory of a former store
#define PMIX_COLLECTIVE_ALGO      "pmix.calgo"          // char*: algorithms, by comma
#define PMIX_COLLECTIVE_ALGO_REQD "pmix.calreqd"        // bool: no other algorithm will do

// Topology
#define PMIX_TOPOLOGY           "pmix.topo"        // hwloc_topology_t: the topology of hwloc
#define PMIX_TOPOLOGY_FILE      "pmix.topo.file"   // char*: file of the topology in XML
#define PMIX_TOPOLOGY_SIGNATURE "pmix.toposig"     // char*: the topology in short
#define PMIX_TOPOLOGY_XML       "pmix.topo.xml"    // char*: the topology in XML
#define PMIX_LOCAL_TOPO         "pmix.ltopo"       // char*: the node's topology in XML
#define PMIX_LOCALITY           "pmix.loc"         // pmix_locality_t: where two processes are to each other
#define PMIX_HWLOC_HOLE_KIND    "pmix.hwlocholek"  // char*: gap in the address space to use
#define PMIX_HWLOC_SHARE_TOPO   "pmix.hwlocsh"     // bool: share the topology
#define PMIX_HWLOC_SHMEM_ADDR   "pmix.hwlocaddr"   // size_t: address of the shared topology
#define PMIX_HWLOC_SHMEM_FILE   "pmix.hwlocfile"   // char*: file of the shared topology
#define PMIX_HWLOC_SHMEM_SIZE   "pmix.hwlocsize"   // size_t: size of the shared topology
#define PMIX_HWLOC_XML_V1       "pmix.hwlocxml1"   // char*: the topology in XML of hwloc 1
#define PMIX_HWLOC_XML_V2       "pmix.hwlocxml2"   // char*: the topology in XML of hwloc 2
#define PMIX_ARCH               "pmix.arch"        // uint32_t: architecture of the data

// Jobs and their processes
#define PMIX_PROC_BLOB                 "pmix.pblob"            // pmix_byte_object_t: packed facts about processes
#define PMIX_PROC_DATA                 "pmix.pdata"            // pmix_data_array_t*: facts about one process
#define PMIX_PROC_URI                  "pmix.puri"             // char*: address of a process
#define PMIX_MAPPER                    "pmix.mapper"           // char*: how processes are mapped
#define PMIX_MAP_BLOB                  "pmix.mblob"            // pmix_byte_object_t: packed map
#define PMIX_NON_PMI                   "pmix.nonpmi"           // bool: the processes will not call PMIx_Init
#define PMIX_NOTIFY_LAUNCH             "pmix.note.lnch"        // bool: tell when the job has started
#define PMIX_ALLOC_NETWORK             "pmix.alloc.net"        // pmix_data_array_t*: now PMIX_ALLOC_FABRIC
#define PMIX_ALLOC_NETWORK_ENDPTS      "pmix.alloc.endpts"     // size_t: now PMIX_ALLOC_FABRIC_ENDPTS
#define PMIX_ALLOC_NETWORK_ENDPTS_NODE "pmix.alloc.endpts.nd"  // size_t: now PMIX_ALLOC_FABRIC_ENDPTS_NODE
#define PMIX_ALLOC_NETWORK_ID          "pmix.alloc.netid"      // char*: now PMIX_ALLOC_FABRIC_ID
#define PMIX_ALLOC_NETWORK_PLANE       "pmix.alloc.netplane"   // char*: now PMIX_ALLOC_FABRIC_PLANE
#define PMIX_ALLOC_NETWORK_QOS         "pmix.alloc.netqos"     // char*: now PMIX_ALLOC_FABRIC_QOS
#define PMIX_ALLOC_NETWORK_SEC_KEY     "pmix.alloc.nsec"       // pmix_byte_object_t: now PMIX_ALLOC_FABRIC_SEC_KEY
#define PMIX_ALLOC_NETWORK_TYPE        "pmix.alloc.nettype"    // char*: now PMIX_ALLOC_FABRIC_TYPE

// Debuggers and events
#define PMIX_DEBUG_APP_DIRECTIVES   "pmix.dbg.adirs"  // pmix_data_array_t*: for the applications to debug
#define PMIX_DEBUG_JOB              "pmix.dbg.job"    // char*: job to debug
#define PMIX_DEBUG_JOB_DIRECTIVES   "pmix.dbg.jdirs"  // pmix_data_array_t*: for the job to debug
#define PMIX_EVENT_NO_TERMINATION   "pmix.evnoterm"   // bool: the handler sees no need to end
#define PMIX_EVENT_WANT_TERMINATION "pmix.evterm"     // bool: the handler wants the program ended
#define PMIX_DEBUG_WAIT_FOR_NOTIFY  PMIX_DEBUG_STOP_IN_APP

// Output
#define PMIX_IOF_STOP            "pmix.iof.stop"     // bool: forward the channel no longer
#define PMIX_MERGE_STDERR_STDOUT "pmix.mergeerrout"  // bool: now PMIX_IOF_MERGE_STDERR_STDOUT
#define PMIX_OUTPUT_NOCOPY       "pmix.nocopy"       // bool: now PMIX_IOF_FILE_ONLY
#define PMIX_OUTPUT_TO_DIRECTORY "pmix.outdir"       // char*: now PMIX_IOF_OUTPUT_TO_DIRECTORY
#define PMIX_OUTPUT_TO_FILE      "pmix.outfile"      // char*: now PMIX_IOF_OUTPUT_TO_FILE
#define PMIX_TAG_OUTPUT          "pmix.tagout"       // bool: now PMIX_IOF_TAG_OUTPUT
#define PMIX_TIMESTAMP_OUTPUT    "pmix.tsout"        // bool: now PMIX_IOF_TIMESTAMP_OUTPUT

// ---------------------------------------------------------------------------------------------------------
// Calls

/**
 * Leave the server and connect to another; PMIx_tool_attach_to_server has replaced it.
 * @param proc   receives the tool's name there; may be NULL
 * @param info   ninfo attributes that say to which
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH and other errors
 */
PMIX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo);

// Statistics structures; construct, destruct, create and free are as in pmix_common.h
PMIX_EXPORT void PMIx_Proc_stats_construct(pmix_proc_stats_t* p);
PMIX_EXPORT void PMIx_Proc_stats_destruct(pmix_proc_stats_t* p);
PMIX_EXPORT pmix_proc_stats_t* PMIx_Proc_stats_create(size_t n);
PMIX_EXPORT void PMIx_Proc_stats_free(pmix_proc_stats_t* p, size_t n);

PMIX_EXPORT void PMIx_Disk_stats_construct(pmix_disk_stats_t* p);
PMIX_EXPORT void PMIx_Disk_stats_destruct(pmix_disk_stats_t* p);
PMIX_EXPORT pmix_disk_stats_t* PMIx_Disk_stats_create(size_t n);
PMIX_EXPORT void PMIx_Disk_stats_free(pmix_disk_stats_t* p, size_t n);

PMIX_EXPORT void PMIx_Net_stats_construct(pmix_net_stats_t* p);
PMIX_EXPORT void PMIx_Net_stats_destruct(pmix_net_stats_t* p);
PMIX_EXPORT pmix_net_stats_t* PMIx_Net_stats_create(size_t n);
PMIX_EXPORT void PMIx_Net_stats_free(pmix_net_stats_t* p, size_t n);

PMIX_EXPORT void PMIx_Node_stats_construct(pmix_node_stats_t* p);
PMIX_EXPORT void PMIx_Node_stats_destruct(pmix_node_stats_t* p);
PMIX_EXPORT pmix_node_stats_t* PMIx_Node_stats_create(size_t n);
PMIX_EXPORT void PMIx_Node_stats_free(pmix_node_stats_t* p, size_t n);

// ---------------------------------------------------------------------------------------------------------
// Macros. Macros with a result assign it to their first argument; FREE and RELEASE set the pointer that they
// were given to NULL.

// Keys, namespaces, process names

#define PMIX_LOAD_KEY(key, str)              PMIx_Load_key((key), (const char*)(str))
#define PMIX_CHECK_KEY(info, str)            PMIx_Check_key((info)->key, (str))
#define PMIX_CHECK_RESERVED_KEY(key)         PMIx_Check_reserved_key(key)
#define PMIX_LOAD_NSPACE(nspace, str)        PMIx_Load_nspace((nspace), (str))
#define PMIX_CHECK_NSPACE(a, b)              PMIx_Check_nspace((a), (b))
#define PMIX_CHECK_NSPACE_STRICT(a, b)       PMIx_Check_nspace_strict((a), (b))
#define PMIX_NSPACE_INVALID(nspace)          PMIx_Nspace_invalid(nspace)
#define PMIX_LOAD_PROCID(proc, nspace, rank) PMIx_Load_procid((proc), (nspace), (rank))
#define PMIX_XFER_PROCID(dest, src)          PMIx_Xfer_procid((dest), (src))
#define PMIX_PROCID_XFER(dest, src)          PMIX_XFER_PROCID(dest, src)
#define PMIX_CHECK_PROCID(a, b)              PMIx_Check_procid((a), (b))
#define PMIX_CHECK_PROCID_STRICT(a, b)       PMIx_Check_procid_strict((a), (b))
#define PMIX_PROCID_INVALID(proc)            PMIx_Procid_invalid(proc)
#define PMIX_CHECK_RANK(a, b)                PMIx_Check_rank((a), (b))
#define PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(target, cluster, nspace) \
    PMIx_Multicluster_nspace_construct((target), (cluster), (nspace))
#define PMIX_MULTICLUSTER_NSPACE_PARSE(target, cluster, nspace) PMIx_Multicluster_nspace_parse((target), (cluster), (nspace))

// Processes

#define PMIX_PROC_CONSTRUCT(m)          PMIx_Proc_construct(m)
#define PMIX_PROC_DESTRUCT(m)           PMIx_Proc_destruct(m)
#define PMIX_PROC_CREATE(m, n)          (m) = PMIx_Proc_create(n)
#define PMIX_PROC_LOAD(m, nspace, rank) PMIx_Proc_load((m), (nspace), (rank))
#define PMIX_PROC_FREE(m, n)      \
    do {                          \
        PMIx_Proc_free((m), (n)); \
        (m) = NULL;               \
    } while (0)
#define PMIX_PROC_RELEASE(m)    \
    do {                        \
        PMIx_Proc_free((m), 1); \
        (m) = NULL;             \
    } while (0)
#define PMIX_PROC_INFO_CONSTRUCT(m) PMIx_Proc_info_construct(m)
#define PMIX_PROC_INFO_DESTRUCT(m)  PMIx_Proc_info_destruct(m)
#define PMIX_PROC_INFO_CREATE(m, n) (m) = PMIx_Proc_info_create(n)
#define PMIX_PROC_INFO_FREE(m, n)      \
    do {                               \
        PMIx_Proc_info_free((m), (n)); \
        (m) = NULL;                    \
    } while (0)
#define PMIX_PROC_INFO_RELEASE(m)    \
    do {                             \
        PMIx_Proc_info_free((m), 1); \
        (m) = NULL;                  \
    } while (0)

// Values

#define PMIX_VALUE_CONSTRUCT(m) PMIx_Value_construct(m)
#define PMIX_VALUE_DESTRUCT(m)  PMIx_Value_destruct(m)
#define PMIX_VALUE_CREATE(m, n) (m) = PMIx_Value_create(n)
#define PMIX_VALUE_FREE(m, n)      \
    do {                           \
        PMIx_Value_free((m), (n)); \
        (m) = NULL;                \
    } while (0)
#define PMIX_VALUE_RELEASE(m)    \
    do {                         \
        PMIx_Value_free((m), 1); \
        (m) = NULL;              \
    } while (0)
#define PMIX_VALUE_LOAD(v, data, type)       PMIx_Value_load((v), (data), (type))
#define PMIX_VALUE_UNLOAD(r, v, data, size)  (r) = PMIx_Value_unload((v), (data), (size))
#define PMIX_VALUE_XFER_DIRECT(r, dest, src) (r) = PMIx_Value_xfer((dest), (src))
#define PMIX_VALUE_XFER(r, dest, src)                                           \
    do {                                                                        \
        if (NULL == (dest)) {                                                   \
            (dest) = PMIx_Value_create(1);                                      \
        }                                                                       \
        (r) = NULL == (dest) ? PMIX_ERR_NOMEM : PMIx_Value_xfer((dest), (src)); \
    } while (0)
#define PMIX_CHECK_TRUE(v) (PMIX_BOOL_TRUE == PMIx_Value_true(v))
#define PMIX_CHECK_BOOL(v) (PMIX_NON_BOOL != PMIx_Value_true(v))

// Any number in a value, converted to a C type as a cast does it. PMIx_Value_get_number also tells what was lost.
#define PMIX_VALUE_GET_NUMBER(r, v, number, ctype)     \
    do {                                               \
        (r) = PMIX_SUCCESS;                            \
        switch ((v)->type) {                           \
            case PMIX_SIZE:                            \
                (number) = (ctype)((v)->data.size);    \
                break;                                 \
            case PMIX_INT:                             \
                (number) = (ctype)((v)->data.integer); \
                break;                                 \
            case PMIX_INT8:                            \
                (number) = (ctype)((v)->data.int8);    \
                break;                                 \
            case PMIX_INT16:                           \
                (number) = (ctype)((v)->data.int16);   \
                break;                                 \
            case PMIX_INT32:                           \
                (number) = (ctype)((v)->data.int32);   \
                break;                                 \
            case PMIX_INT64:                           \
                (number) = (ctype)((v)->data.int64);   \
                break;                                 \
            case PMIX_UINT:                            \
                (number) = (ctype)((v)->data.uint);    \
                break;                                 \
            case PMIX_UINT8:                           \
                (number) = (ctype)((v)->data.uint8);   \
                break;                                 \
            case PMIX_UINT16:                          \
                (number) = (ctype)((v)->data.uint16);  \
                break;                                 \
            case PMIX_UINT32:                          \
                (number) = (ctype)((v)->data.uint32);  \
                break;                                 \
            case PMIX_UINT64:                          \
                (number) = (ctype)((v)->data.uint64);  \
                break;                                 \
            case PMIX_FLOAT:                           \
                (number) = (ctype)((v)->data.fval);    \
                break;                                 \
            case PMIX_DOUBLE:                          \
                (number) = (ctype)((v)->data.dval);    \
                break;                                 \
            case PMIX_PID:                             \
                (number) = (ctype)((v)->data.pid);     \
                break;                                 \
            case PMIX_PROC_RANK:                       \
                (number) = (ctype)((v)->data.rank);    \
                break;                                 \
            case PMIX_STATUS:                          \
                (number) = (ctype)((v)->data.status);  \
                break;                                 \
            default:                                   \
                (r) = PMIX_ERR_BAD_PARAM;              \
        }                                              \
    } while (0)

// Info

#define PMIX_INFO_CONSTRUCT(m) PMIx_Info_construct(m)
#define PMIX_INFO_DESTRUCT(m)  PMIx_Info_destruct(m)
#define PMIX_INFO_CREATE(m, n) (m) = PMIx_Info_create(n)
#define PMIX_INFO_FREE(m, n)      \
    do {                          \
        PMIx_Info_free((m), (n)); \
        (m) = NULL;               \
    } while (0)
#define PMIX_INFO_LOAD(m, key, data, type) (void)PMIx_Info_load((m), (key), (data), (type))
#define PMIX_INFO_XFER(dest, src)          (void)PMIx_Info_xfer((dest), (src))
#define PMIX_INFO_TRUE(m)                  (PMIX_BOOL_TRUE == PMIx_Info_true(m))
#define PMIX_INFO_REQUIRED(m)              PMIx_Info_required(m)
#define PMIX_INFO_OPTIONAL(m)              PMIx_Info_optional(m)
#define PMIX_INFO_IS_REQUIRED(m)           PMIx_Info_is_required(m)
#define PMIX_INFO_IS_OPTIONAL(m)           PMIx_Info_is_optional(m)
#define PMIX_INFO_PROCESSED(m)             PMIx_Info_processed(m)
#define PMIX_INFO_WAS_PROCESSED(m)         PMIx_Info_was_processed(m)
#define PMIX_INFO_SET_END(m)               PMIx_Info_set_end(m)
#define PMIX_INFO_IS_END(m)                PMIx_Info_is_end(m)
#define PMIX_INFO_SET_QUALIFIER(m)         PMIx_Info_qualifier(m)
#define PMIX_INFO_IS_QUALIFIER(m)          PMIx_Info_is_qualifier(m)
#define PMIX_INFO_SET_PERSISTENT(m)        PMIx_Info_persistent(m)
#define PMIX_INFO_IS_PERSISTENT(m)         PMIx_Info_is_persistent(m)

#define PMIX_INFO_LIST_START(list)                       (list) = PMIx_Info_list_start()
#define PMIX_INFO_LIST_ADD(r, list, key, data, type)     (r) = PMIx_Info_list_add((list), (key), (data), (type))
#define PMIX_INFO_LIST_PREPEND(r, list, key, data, type) (r) = PMIx_Info_list_prepend((list), (key), (data), (type))
#define PMIX_INFO_LIST_INSERT(r, list, info)             (r) = PMIx_Info_list_insert((list), (info))
#define PMIX_INFO_LIST_XFER(r, list, info)               (r) = PMIx_Info_list_xfer((list), (info))
#define PMIX_INFO_LIST_CONVERT(r, list, array)           (r) = PMIx_Info_list_convert((list), (array))
#define PMIX_INFO_LIST_RELEASE(list)                     PMIx_Info_list_release(list)

// Arrays and bytes

#define PMIX_DATA_ARRAY_INIT(m, type)         PMIx_Data_array_init((m), (type))
#define PMIX_DATA_ARRAY_CONSTRUCT(m, n, type) PMIx_Data_array_construct((m), (n), (type))
#define PMIX_DATA_ARRAY_DESTRUCT(m)           PMIx_Data_array_destruct(m)
#define PMIX_DATA_ARRAY_CREATE(m, n, type)    (m) = PMIx_Data_array_create((n), (type))
#define PMIX_DATA_ARRAY_FREE(m)  \
    do {                         \
        PMIx_Data_array_free(m); \
        (m) = NULL;              \
    } while (0)

#define PMIX_BYTE_OBJECT_CONSTRUCT(m) PMIx_Byte_object_construct(m)
#define PMIX_BYTE_OBJECT_DESTRUCT(m)  PMIx_Byte_object_destruct(m)
#define PMIX_BYTE_OBJECT_CREATE(m, n) (m) = PMIx_Byte_object_create(n)
#define PMIX_BYTE_OBJECT_FREE(m, n)      \
    do {                                 \
        PMIx_Byte_object_free((m), (n)); \
        (m) = NULL;                      \
    } while (0)
// The object takes the bytes over, so the caller's pointer and size are cleared.
#define PMIX_BYTE_OBJECT_LOAD(m, data, size)               \
    do {                                                   \
        PMIx_Byte_object_load((m), (char*)(data), (size)); \
        (data) = NULL;                                     \
        (size) = 0;                                        \
    } while (0)

#define PMIX_DATA_BUFFER_CONSTRUCT(m) PMIx_Data_buffer_construct(m)
#define PMIX_DATA_BUFFER_DESTRUCT(m)  PMIx_Data_buffer_destruct(m)
#define PMIX_DATA_BUFFER_CREATE(m)    (m) = PMIx_Data_buffer_create()
#define PMIX_DATA_BUFFER_RELEASE(m)  \
    do {                             \
        PMIx_Data_buffer_release(m); \
        (m) = NULL;                  \
    } while (0)
#define PMIX_DATA_BUFFER_LOAD(m, data, size) PMIx_Data_buffer_load((m), (char*)(data), (size))
// By way of variables of the right types, because the caller's may be another pointer and another integer.
#define PMIX_DATA_BUFFER_UNLOAD(m, data, size)                   \
    do {                                                         \
        char* pmix_bytes_ = NULL;                                \
        size_t pmix_size_ = 0;                                   \
        PMIx_Data_buffer_unload((m), &pmix_bytes_, &pmix_size_); \
        memcpy(&(data), &pmix_bytes_, sizeof(pmix_bytes_));      \
        (size) = pmix_size_;                                     \
    } while (0)

// Published data, programs, queries, descriptions of attributes

#define PMIX_PDATA_CONSTRUCT(m) PMIx_Pdata_construct(m)
#define PMIX_PDATA_DESTRUCT(m)  PMIx_Pdata_destruct(m)
#define PMIX_PDATA_CREATE(m, n) (m) = PMIx_Pdata_create(n)
#define PMIX_PDATA_FREE(m, n)      \
    do {                           \
        PMIx_Pdata_free((m), (n)); \
        (m) = NULL;                \
    } while (0)
#define PMIX_PDATA_RELEASE(m)    \
    do {                         \
        PMIx_Pdata_free((m), 1); \
        (m) = NULL;              \
    } while (0)
#define PMIX_PDATA_LOAD(m, proc, key, data, type) PMIx_Pdata_load((m), (proc), (key), (data), (type))
#define PMIX_PDATA_XFER(dest, src)                PMIx_Pdata_xfer((dest), (src))

#define PMIX_APP_CONSTRUCT(m) PMIx_App_construct(m)
#define PMIX_APP_DESTRUCT(m)  PMIx_App_destruct(m)
#define PMIX_APP_CREATE(m, n) (m) = PMIx_App_create(n)
#define PMIX_APP_FREE(m, n)      \
    do {                         \
        PMIx_App_free((m), (n)); \
        (m) = NULL;              \
    } while (0)
#define PMIX_APP_RELEASE(m)    \
    do {                       \
        PMIx_App_free((m), 1); \
        (m) = NULL;            \
    } while (0)
#define PMIX_APP_INFO_CREATE(m, n) PMIx_App_info_create((m), (n))

#define PMIX_QUERY_CONSTRUCT(m) PMIx_Query_construct(m)
#define PMIX_QUERY_DESTRUCT(m)  PMIx_Query_destruct(m)
#define PMIX_QUERY_CREATE(m, n) (m) = PMIx_Query_create(n)
#define PMIX_QUERY_FREE(m, n)      \
    do {                           \
        PMIx_Query_free((m), (n)); \
        (m) = NULL;                \
    } while (0)
#define PMIX_QUERY_RELEASE(m)  \
    do {                       \
        PMIx_Query_release(m); \
        (m) = NULL;            \
    } while (0)
#define PMIX_QUERY_QUALIFIERS_CREATE(m, n) PMIx_Query_qualifiers_create((m), (n))

#define PMIX_REGATTR_CONSTRUCT(m) PMIx_Regattr_construct(m)
#define PMIX_REGATTR_DESTRUCT(m)  PMIx_Regattr_destruct(m)
#define PMIX_REGATTR_CREATE(m, n) (m) = PMIx_Regattr_create(n)
#define PMIX_REGATTR_FREE(m, n)      \
    do {                             \
        PMIx_Regattr_free((m), (n)); \
        (m) = NULL;                  \
    } while (0)
#define PMIX_REGATTR_LOAD(m, name, key, type, text) PMIx_Regattr_load((m), (name), (key), (type), (text))
#define PMIX_REGATTR_XFER(dest, src)                PMIx_Regattr_xfer((dest), (src))

// Hardware and fabrics

#define PMIX_TOPOLOGY_CONSTRUCT(m) PMIx_Topology_construct(m)
#define PMIX_TOPOLOGY_DESTRUCT(m)  PMIx_Topology_destruct(m)
#define PMIX_TOPOLOGY_CREATE(m, n) (m) = PMIx_Topology_create(n)
#define PMIX_TOPOLOGY_FREE(m, n)      \
    do {                              \
        PMIx_Topology_free((m), (n)); \
        (m) = NULL;                   \
    } while (0)
#define PMIX_CPUSET_CONSTRUCT(m) PMIx_Cpuset_construct(m)
#define PMIX_CPUSET_DESTRUCT(m)  PMIx_Cpuset_destruct(m)
#define PMIX_CPUSET_CREATE(m, n) (m) = PMIx_Cpuset_create(n)
#define PMIX_CPUSET_FREE(m, n)      \
    do {                            \
        PMIx_Cpuset_free((m), (n)); \
        (m) = NULL;                 \
    } while (0)
#define PMIX_COORD_CONSTRUCT(m) PMIx_Coord_construct(m)
#define PMIX_COORD_DESTRUCT(m)  PMIx_Coord_destruct(m)
// n coordinates of dims dimensions each. OpenPMIx 4.2 gives the two other names, but uses them so.
#define PMIX_COORD_CREATE(m, n, dims) (m) = PMIx_Coord_create((dims), (n))
#define PMIX_COORD_FREE(m, n)      \
    do {                           \
        PMIx_Coord_free((m), (n)); \
        (m) = NULL;                \
    } while (0)
#define PMIX_GEOMETRY_CONSTRUCT(m) PMIx_Geometry_construct(m)
#define PMIX_GEOMETRY_DESTRUCT(m)  PMIx_Geometry_destruct(m)
#define PMIX_GEOMETRY_CREATE(m, n) (m) = PMIx_Geometry_create(n)
#define PMIX_GEOMETRY_FREE(m, n)      \
    do {                              \
        PMIx_Geometry_free((m), (n)); \
        (m) = NULL;                   \
    } while (0)
#define PMIX_DEVICE_CONSTRUCT(m) PMIx_Device_construct(m)
#define PMIX_DEVICE_DESTRUCT(m)  PMIx_Device_destruct(m)
#define PMIX_DEVICE_CREATE(m, n) (m) = PMIx_Device_create(n)
#define PMIX_DEVICE_FREE(m, n)      \
    do {                            \
        PMIx_Device_free((m), (n)); \
        (m) = NULL;                 \
    } while (0)
#define PMIX_DEVICE_DIST_CONSTRUCT(m) PMIx_Device_distance_construct(m)
#define PMIX_DEVICE_DIST_DESTRUCT(m)  PMIx_Device_distance_destruct(m)
#define PMIX_DEVICE_DIST_CREATE(m, n) (m) = PMIx_Device_distance_create(n)
#define PMIX_DEVICE_DIST_FREE(m, n)          \
    do {                                     \
        PMIx_Device_distance_free((m), (n)); \
        (m) = NULL;                          \
    } while (0)
#define PMIX_RESOURCE_UNIT_CONSTRUCT(m) PMIx_Resource_unit_construct(m)
#define PMIX_RESOURCE_UNIT_DESTRUCT(m)  PMIx_Resource_unit_destruct(m)
#define PMIX_RESOURCE_UNIT_CREATE(m, n) (m) = PMIx_Resource_unit_create(n)
#define PMIX_RESOURCE_UNIT_FREE(m, n)      \
    do {                                   \
        PMIx_Resource_unit_free((m), (n)); \
        (m) = NULL;                        \
    } while (0)
#define PMIX_ENDPOINT_CONSTRUCT(m) PMIx_Endpoint_construct(m)
#define PMIX_ENDPOINT_DESTRUCT(m)  PMIx_Endpoint_destruct(m)
#define PMIX_ENDPOINT_CREATE(m, n) (m) = PMIx_Endpoint_create(n)
#define PMIX_ENDPOINT_FREE(m, n)      \
    do {                              \
        PMIx_Endpoint_free((m), (n)); \
        (m) = NULL;                   \
    } while (0)
#define PMIX_FABRIC_CONSTRUCT(m) memset((m), 0, sizeof(pmix_fabric_t))

// Statistics

#define PMIX_PROC_STATS_CONSTRUCT(m) PMIx_Proc_stats_construct(m)
#define PMIX_PROC_STATS_DESTRUCT(m)  PMIx_Proc_stats_destruct(m)
#define PMIX_PROC_STATS_CREATE(m, n) (m) = PMIx_Proc_stats_create(n)
#define PMIX_PROC_STATS_FREE(m, n)      \
    do {                                \
        PMIx_Proc_stats_free((m), (n)); \
        (m) = NULL;                     \
    } while (0)
#define PMIX_PROC_STATS_RELEASE(m)    \
    do {                              \
        PMIx_Proc_stats_free((m), 1); \
        (m) = NULL;                   \
    } while (0)
#define PMIX_DISK_STATS_CONSTRUCT(m) PMIx_Disk_stats_construct(m)
#define PMIX_DISK_STATS_DESTRUCT(m)  PMIx_Disk_stats_destruct(m)
#define PMIX_DISK_STATS_CREATE(m, n) (m) = PMIx_Disk_stats_create(n)
#define PMIX_DISK_STATS_FREE(m, n)      \
    do {                                \
        PMIx_Disk_stats_free((m), (n)); \
        (m) = NULL;                     \
    } while (0)
#define PMIX_DISK_STATS_RELEASE(m)    \
    do {                              \
        PMIx_Disk_stats_free((m), 1); \
        (m) = NULL;                   \
    } while (0)
#define PMIX_NET_STATS_CONSTRUCT(m) PMIx_Net_stats_construct(m)
#define PMIX_NET_STATS_DESTRUCT(m)  PMIx_Net_stats_destruct(m)
#define PMIX_NET_STATS_CREATE(m, n) (m) = PMIx_Net_stats_create(n)
#define PMIX_NET_STATS_FREE(m, n)      \
    do {                               \
        PMIx_Net_stats_free((m), (n)); \
        (m) = NULL;                    \
    } while (0)
#define PMIX_NET_STATS_RELEASE(m)    \
    do {                             \
        PMIx_Net_stats_free((m), 1); \
        (m) = NULL;                  \
    } while (0)
#define PMIX_NODE_STATS_CONSTRUCT(m) PMIx_Node_stats_construct(m)
#define PMIX_NODE_STATS_DESTRUCT(m)  PMIx_Node_stats_destruct(m)
#define PMIX_NODE_STATS_CREATE(m, n) (m) = PMIx_Node_stats_create(n)
#define PMIX_NODE_STATS_FREE(m, n)      \
    do {                                \
        PMIx_Node_stats_free((m), (n)); \
        (m) = NULL;                     \
    } while (0)
#define PMIX_NODE_STATS_RELEASE(m)    \
    do {                              \
        PMIx_Node_stats_free((m), 1); \
        (m) = NULL;                   \
    } while (0)

// Environment variables

#define PMIX_ENVAR_CONSTRUCT(m) PMIx_Envar_construct(m)
#define PMIX_ENVAR_DESTRUCT(m)  PMIx_Envar_destruct(m)
#define PMIX_ENVAR_CREATE(m, n) (m) = PMIx_Envar_create(n)
#define PMIX_ENVAR_FREE(m, n)      \
    do {                           \
        PMIx_Envar_free((m), (n)); \
        (m) = NULL;                \
    } while (0)
// The strings are copied, so constant ones will do; the way over an integer keeps -Wcast-qual quiet about them.
#define PMIX_ENVAR_LOAD(m, name, value, separator) \
    PMIx_Envar_load((m), (char*)(uintptr_t)(name), (char*)(uintptr_t)(value), (separator))
#define PMIX_SETENV(r, name, value, env) (r) = PMIx_Setenv((name), (value), true, (env))

// Arrays of strings

#define PMIX_ARGV_COUNT(r, argv)        (r) = PMIx_Argv_count(argv)
#define PMIX_ARGV_APPEND(r, argv, str)  (r) = PMIx_Argv_append_nosize((char***)&(argv), (str))
#define PMIX_ARGV_PREPEND(r, argv, str) (r) = PMIx_Argv_prepend_nosize((char***)&(argv), (str))
// Unlike the two above it is given the array's address.
#define PMIX_ARGV_APPEND_UNIQUE(r, argv, str) (r) = PMIx_Argv_append_unique_nosize((argv), (str))
#define PMIX_ARGV_SPLIT(argv, str, delimiter) (argv) = PMIx_Argv_split((str), (delimiter))
#define PMIX_ARGV_JOIN(str, argv, delimiter)  (str) = PMIx_Argv_join((argv), (delimiter))
#define PMIX_ARGV_COPY(dest, src)             (dest) = PMIx_Argv_copy(src)
#define PMIX_ARGV_FREE(argv)  \
    do {                      \
        PMIx_Argv_free(argv); \
        (argv) = NULL;        \
    } while (0)

// ---------------------------------------------------------------------------------------------------------
// Names of OpenPMIx 4 in small letters

#define pmix_argv_append_nosize(argv, str)         PMIx_Argv_append_nosize((argv), (str))
#define pmix_argv_prepend_nosize(argv, str)        PMIx_Argv_prepend_nosize((argv), (str))
#define pmix_argv_append_unique_nosize(argv, str)  PMIx_Argv_append_unique_nosize((argv), (str))
#define pmix_argv_split(str, delimiter)            PMIx_Argv_split((str), (delimiter))
#define pmix_argv_split_with_empty(str, delimiter) PMIx_Argv_split_with_empty((str), (delimiter))
#define pmix_argv_join(argv, delimiter)            PMIx_Argv_join((argv), (delimiter))
#define pmix_argv_count(argv)                      PMIx_Argv_count(argv)
#define pmix_argv_copy(argv)                       PMIx_Argv_copy(argv)
#define pmix_argv_free(argv)                       PMIx_Argv_free(argv)
#define pmix_setenv(name, value, overwrite, env)   PMIx_Setenv((name), (value), (overwrite), (env))

static inline char** pmix_argv_split_inter(const char* src_string, int delimiter, bool include_empty) {
    return PMIx_Argv_split_inter(src_string, delimiter, include_empty);
}

static inline pmix_boolean_t pmix_check_true(const pmix_value_t* value) {
    return PMIx_Value_true(value);
}

// These free what the elements own, but not the array itself.

static inline void pmix_app_free(pmix_app_t* ap, size_t n) {
    size_t i;
    for (i = 0; NULL != ap && i < n; ++i) {
        PMIx_App_destruct(&ap[i]);
    }
}

static inline void pmix_pdata_free(pmix_pdata_t* pd, size_t n) {
    size_t i;
    for (i = 0; NULL != pd && i < n; ++i) {
        PMIx_Pdata_destruct(&pd[i]);
    }
}

static inline void pmix_proc_stats_free(pmix_proc_stats_t* ps, size_t n) {
    size_t i;
    for (i = 0; NULL != ps && i < n; ++i) {
        PMIx_Proc_stats_destruct(&ps[i]);
    }
}

static inline void pmix_disk_stats_free(pmix_disk_stats_t* d, size_t n) {
    size_t i;
    for (i = 0; NULL != d && i < n; ++i) {
        PMIx_Disk_stats_destruct(&d[i]);
    }
}

static inline void pmix_net_stats_free(pmix_net_stats_t* nst, size_t n) {
    size_t i;
    for (i = 0; NULL != nst && i < n; ++i) {
        PMIx_Net_stats_destruct(&nst[i]);
    }
}

static inline void pmix_node_stats_free(pmix_node_stats_t* nd, size_t n) {
    size_t i;
    for (i = 0; NULL != nd && i < n; ++i) {
        PMIx_Node_stats_destruct(&nd[i]);
    }
}

#ifdef __cplusplus
}
#endif

#endif
