// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by all roles: constants, structures, callback types, attribute keys, and the functions that make,
// fill, copy and free the structures.
//
// Every number, size and offset in this file is compiled into programs and frozen: new members and values are
// only ever added where the old ones do not move. Memory that crosses the interface is malloc memory in both
// directions; an array is one block, and whoever is said to own it gives it back to free().

#ifndef PMIX_COMMON_H
#define PMIX_COMMON_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <pmix_version.h>

#define PMIX_HAVE_VISIBILITY 1
#define PMIX_EXPORT          __attribute__((__visibility__("default")))

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------
// Names and ranks

// Longest namespace and key, in characters, without the terminating zero.
#define PMIX_MAX_NSLEN  255
#define PMIX_MAX_KEYLEN 511

typedef char pmix_nspace_t[PMIX_MAX_NSLEN + 1];
typedef char pmix_key_t[PMIX_MAX_KEYLEN + 1];

// A process is a namespace and a rank in it. Ranks above PMIX_RANK_VALID are no processes but words.
typedef uint32_t pmix_rank_t;

#define PMIX_RANK_VALID       (UINT32_MAX - 50)  // ranks below it are processes
#define PMIX_RANK_LOCAL_PEERS (UINT32_MAX - 4)   // all of the namespace on this node
#define PMIX_RANK_INVALID     (UINT32_MAX - 3)   // no rank
#define PMIX_RANK_LOCAL_NODE  (UINT32_MAX - 2)   // all processes on this node
#define PMIX_RANK_WILDCARD    (UINT32_MAX - 1)   // all ranks of the namespace
#define PMIX_RANK_UNDEF       UINT32_MAX         // data of the job as a whole
#define PMIX_APP_WILDCARD     UINT32_MAX         // all applications of a job

#define PMIX_RANK_IS_VALID(r) ((r) < PMIX_RANK_VALID)

// ---------------------------------------------------------------------------------------------------------
// Status codes
//
// Zero is success, errors and events are negative. Some numbers carry two names; the string functions answer
// with the one that the Standard has today. Codes at and below PMIX_EXTERNAL_ERR_BASE are the users' own.

typedef int pmix_status_t;

#define PMIX_SUCCESS 0  // also: a request was taken and will be answered

// General errors
#define PMIX_ERROR                              -1   // no more is known
#define PMIX_DEBUGGER_RELEASE                   -3   // the debugger lets the process go on
#define PMIX_ERR_PROC_RESTART                   -4   // a process was restarted
#define PMIX_ERR_PROC_CHECKPOINT                -5   // a checkpoint is asked for
#define PMIX_ERR_PROC_MIGRATE                   -6   // a process shall move
#define PMIX_ERR_PROC_REQUESTED_ABORT           -8   // a process asked to abort
#define PMIX_ERR_EXISTS                         -11  // it is there already
#define PMIX_ERR_INVALID_CRED                   -12  // the credential is refused
#define PMIX_ERR_WOULD_BLOCK                    -15  // this cannot be done without waiting
#define PMIX_ERR_UNKNOWN_DATA_TYPE              -16  // data of an unknown type
#define PMIX_ERR_TYPE_MISMATCH                  -18  // not the type that was expected
#define PMIX_ERR_UNPACK_INADEQUATE_SPACE        -19  // more values than there is room for
#define PMIX_ERR_UNPACK_FAILURE                 -20  // damaged data
#define PMIX_ERR_PACK_FAILURE                   -21  // cannot be packed
#define PMIX_ERR_NO_PERMISSIONS                 -23  // not allowed
#define PMIX_ERR_TIMEOUT                        -24  // the time is over
#define PMIX_ERR_UNREACH                        -25  // not connected, or no way there
#define PMIX_ERR_BAD_PARAM                      -27  // an argument is wrong
#define PMIX_ERR_RESOURCE_BUSY                  -28  // try again later
#define PMIX_ERR_OUT_OF_RESOURCE                -29  // nothing left
#define PMIX_ERR_INIT                           -31  // not initialised
#define PMIX_ERR_NOMEM                          -32  // no memory
#define PMIX_ERR_NOT_FOUND                      -46  // it is not there
#define PMIX_ERR_NOT_SUPPORTED                  -47  // not supported, here or by the host
#define PMIX_ERR_COMM_FAILURE                   -49  // the connection failed
#define PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER -50  // no more data
#define PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES -51  // cleaning up was asked for in ways that exclude each other
#define PMIX_ERR_PARTIAL_SUCCESS                -52  // some of it was done
#define PMIX_ERR_DUPLICATE_KEY                  -53  // the key was published already
#define PMIX_PROCESS_SET_DEFINE                 -55  // a process set was made
#define PMIX_PROCESS_SET_DELETE                 -56  // a process set was deleted
#define PMIX_READY_FOR_DEBUG                    -58  // a process waits for the debugger
#define PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED      -59  // an attribute's value is not supported
#define PMIX_ERR_EMPTY                          -60  // there is nothing in it
#define PMIX_ERR_LOST_CONNECTION                -61  // a connection is gone
#define PMIX_ERR_EXISTS_OUTSIDE_SCOPE           -62  // it is there, but in another scope
#define PMIX_ERR_NOT_AVAILABLE                  -64  // it cannot be had now
#define PMIX_ERR_NOT_A_MEMBER                   -66  // the process is not in the group
#define PMIX_ERR_OUTDATED                       -76  // the peer's library is too old to be served

// Connections, monitoring and job control
#define PMIX_QUERY_PARTIAL_SUCCESS     -104  // some of the answers were found
#define PMIX_JCTRL_CHECKPOINT          -106  // make a checkpoint now
#define PMIX_JCTRL_CHECKPOINT_COMPLETE -107  // the checkpoint is made
#define PMIX_JCTRL_PREEMPT_ALERT       -108  // the job will be preempted
#define PMIX_MONITOR_HEARTBEAT_ALERT   -109  // heartbeats are missing
#define PMIX_MONITOR_FILE_ALERT        -110  // a file does not change
#define PMIX_PROC_TERMINATED           -111  // a process has ended
#define PMIX_FABRIC_UPDATE_ENDPOINTS   -113  // addresses on the fabric have changed
#define PMIX_MONITOR_RESUSAGE_UPDATE   -114  // a report of usage has come

// Events and results of operations
#define PMIX_ERR_EVENT_REGISTRATION       -144  // the handler could not be registered
#define PMIX_EVENT_JOB_END                -145  // a job has ended
#define PMIX_MODEL_DECLARED               -147  // a programming model is in use
#define PMIX_MODEL_RESOURCES              -151  // a model uses other resources now
#define PMIX_OPENMP_PARALLEL_ENTERED      -152  // a parallel region begins
#define PMIX_OPENMP_PARALLEL_EXITED       -153  // a parallel region ends
#define PMIX_LAUNCHER_READY               -155  // the launcher waits for directives
#define PMIX_OPERATION_IN_PROGRESS        -156  // it was asked for already
#define PMIX_OPERATION_SUCCEEDED          -157  // done; the callback will not be called
#define PMIX_ERR_INVALID_OPERATION        -158  // not in this state
#define PMIX_GROUP_INVITED                -159  // an invitation
#define PMIX_GROUP_LEFT                   -160  // a member has left
#define PMIX_GROUP_INVITE_ACCEPTED        -161  // an invitation was accepted
#define PMIX_GROUP_INVITE_DECLINED        -162  // an invitation was declined
#define PMIX_GROUP_INVITE_FAILED          -163  // an invited process ended before it answered
#define PMIX_GROUP_MEMBERSHIP_UPDATE      -164  // the members are others now
#define PMIX_GROUP_CONSTRUCT_ABORT        -165  // the group will not be made
#define PMIX_GROUP_CONSTRUCT_COMPLETE     -166  // the group is made
#define PMIX_GROUP_LEADER_SELECTED        -167  // there is a new leader
#define PMIX_GROUP_LEADER_FAILED          -168  // the leader has ended
#define PMIX_GROUP_CONTEXT_ID_ASSIGNED    -169  // the group has its number
#define PMIX_GROUP_MEMBER_FAILED          -170  // a member has ended
#define PMIX_ERR_REPEAT_ATTR_REGISTRATION -171  // the function's attributes are registered already
#define PMIX_ERR_IOF_FAILURE              -172  // input or output could not be passed on
#define PMIX_ERR_IOF_COMPLETE             -173  // input or output has ended
#define PMIX_LAUNCH_COMPLETE              -174  // a job has started
#define PMIX_FABRIC_UPDATED               -175  // the fabric's data was updated
#define PMIX_FABRIC_UPDATE_PENDING        -176  // the fabric's data is being updated

// Ends of jobs
#define PMIX_ERR_JOB_APP_NOT_EXECUTABLE    -177  // a program is not executable
#define PMIX_ERR_JOB_NO_EXE_SPECIFIED      -178  // no program was named
#define PMIX_ERR_JOB_FAILED_TO_MAP         -179  // no places could be found
#define PMIX_ERR_JOB_CANCELED              -180  // cancelled
#define PMIX_ERR_JOB_FAILED_TO_LAUNCH      -181  // it could not be started
#define PMIX_ERR_JOB_ABORTED               -182  // a process aborted
#define PMIX_ERR_JOB_KILLED_BY_CMD         -183  // ended by command
#define PMIX_ERR_JOB_ABORTED_BY_SIG        -184  // a process died of a signal
#define PMIX_ERR_JOB_TERM_WO_SYNC          -185  // a process ended without finalizing
#define PMIX_ERR_JOB_SENSOR_BOUND_EXCEEDED -186  // a limit was passed
#define PMIX_ERR_JOB_NON_ZERO_TERM         -187  // a process ended with an exit code
#define PMIX_ERR_JOB_ALLOC_FAILED          -188  // no allocation
#define PMIX_ERR_JOB_ABORTED_BY_SYS_EVENT  -189  // ended for an event of the system
#define PMIX_ERR_JOB_EXE_NOT_FOUND         -190  // a program does not exist
#define PMIX_EVENT_JOB_START               -191  // a job has started
#define PMIX_EVENT_SESSION_START           -192  // a session has started
#define PMIX_EVENT_SESSION_END             -193  // a session has ended
#define PMIX_ALLOC_TIMEOUT_WARNING         -194  // an allocation will end soon
#define PMIX_DVM_IS_READY                  -195  // the resource manager's daemons have grown or shrunk as asked
#define PMIX_ERR_DVM_MOD                   -196  // they could not
#define PMIX_ERR_PROC_TERM_WO_SYNC         -200  // ended without finalizing
#define PMIX_EVENT_PROC_TERMINATED         -201  // a process has ended
#define PMIX_ERR_PROC_KILLED_BY_RELEASE    -204  // a process ended since its node was given back

// Results of reading a number (PMIx_Value_get_number)
#define PMIX_ERR_LOST_PRECISION -202  // it was rounded
#define PMIX_ERR_CHANGE_SIGN    -203  // its sign does not fit

// Ends of processes
#define PMIX_ERR_PROC_KILLED_BY_CMD         -400  // ended by command
#define PMIX_ERR_PROC_FAILED_TO_START       -401  // could not be started
#define PMIX_ERR_PROC_ABORTED_BY_SIG        -402  // died of a signal
#define PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED -403  // a limit was passed
#define PMIX_ERR_EXIT_NONZERO_TERM          -404  // ended with an exit code
#define PMIX_ERR_IOF_XOFF                   -405  // the input was taken; send no more until it is resumed

// Events of the system: what lies between the two bounds
#define PMIX_EVENT_SYS_BASE                 -230  // first of them
#define PMIX_EVENT_NODE_DOWN                -231  // a node is down
#define PMIX_EVENT_NODE_OFFLINE             -232  // a node was taken out
#define PMIX_ERR_JOB_WDIR_NOT_FOUND         -233  // no such working directory
#define PMIX_ERR_JOB_INSUFFICIENT_RESOURCES -234  // too few resources for the job
#define PMIX_ERR_JOB_SYS_OP_FAILED          -235  // a system call failed
#define PMIX_ERR_JOB_KILLED_BY_RELEASE      -236  // the job ended since its nodes were given back
#define PMIX_EVENT_SYS_OTHER                -330  // last of them
#define PMIX_SYSTEM_EVENT(code)             ((code) <= PMIX_EVENT_SYS_BASE && (code) >= PMIX_EVENT_SYS_OTHER)

// Answers of an event handler to the chain
#define PMIX_EVENT_NO_ACTION_TAKEN      -331  // nothing done
#define PMIX_EVENT_PARTIAL_ACTION_TAKEN -332  // something done; ask the others too
#define PMIX_EVENT_ACTION_DEFERRED      -333  // will be done later
#define PMIX_EVENT_ACTION_COMPLETE      -334  // done; ask no others

// First code that PMIx will never use
#define PMIX_EXTERNAL_ERR_BASE -3000  // the users' codes are below

// ---------------------------------------------------------------------------------------------------------
// Data types: the number that says what a pmix_value_t, an array or a packed item holds

typedef uint16_t pmix_data_type_t;

#define PMIX_UNDEF                  0    // nothing
#define PMIX_BOOL                   1    // bool
#define PMIX_BYTE                   2    // uint8_t
#define PMIX_STRING                 3    // char*
#define PMIX_SIZE                   4    // size_t
#define PMIX_PID                    5    // pid_t
#define PMIX_INT                    6    // int
#define PMIX_INT8                   7    // int8_t
#define PMIX_INT16                  8    // int16_t
#define PMIX_INT32                  9    // int32_t
#define PMIX_INT64                  10   // int64_t
#define PMIX_UINT                   11   // unsigned int
#define PMIX_UINT8                  12   // uint8_t
#define PMIX_UINT16                 13   // uint16_t
#define PMIX_UINT32                 14   // uint32_t
#define PMIX_UINT64                 15   // uint64_t
#define PMIX_FLOAT                  16   // float
#define PMIX_DOUBLE                 17   // double
#define PMIX_TIMEVAL                18   // struct timeval
#define PMIX_TIME                   19   // time_t
#define PMIX_STATUS                 20   // pmix_status_t
#define PMIX_VALUE                  21   // pmix_value_t
#define PMIX_PROC                   22   // pmix_proc_t
#define PMIX_APP                    23   // pmix_app_t
#define PMIX_INFO                   24   // pmix_info_t
#define PMIX_PDATA                  25   // pmix_pdata_t
#define PMIX_BYTE_OBJECT            27   // pmix_byte_object_t
#define PMIX_KVAL                   28   // internal: a key with its value
#define PMIX_PERSIST                30   // pmix_persistence_t
#define PMIX_POINTER                31   // void*
#define PMIX_SCOPE                  32   // pmix_scope_t
#define PMIX_DATA_RANGE             33   // pmix_data_range_t
#define PMIX_COMMAND                34   // internal: a command
#define PMIX_INFO_DIRECTIVES        35   // pmix_info_directives_t
#define PMIX_DATA_TYPE              36   // pmix_data_type_t
#define PMIX_PROC_STATE             37   // pmix_proc_state_t
#define PMIX_PROC_INFO              38   // pmix_proc_info_t
#define PMIX_DATA_ARRAY             39   // pmix_data_array_t
#define PMIX_PROC_RANK              40   // pmix_rank_t
#define PMIX_QUERY                  41   // pmix_query_t
#define PMIX_COMPRESSED_STRING      42   // pmix_byte_object_t: a compressed string
#define PMIX_ALLOC_DIRECTIVE        43   // pmix_alloc_directive_t
#define PMIX_IOF_CHANNEL            45   // pmix_iof_channel_t
#define PMIX_ENVAR                  46   // pmix_envar_t
#define PMIX_COORD                  47   // pmix_coord_t
#define PMIX_REGATTR                48   // pmix_regattr_t
#define PMIX_REGEX                  49   // pmix_byte_object_t: a string of PMIx_generate_regex
#define PMIX_JOB_STATE              50   // pmix_job_state_t
#define PMIX_LINK_STATE             51   // pmix_link_state_t
#define PMIX_PROC_CPUSET            52   // pmix_cpuset_t
#define PMIX_GEOMETRY               53   // pmix_geometry_t
#define PMIX_DEVICE_DIST            54   // pmix_device_distance_t
#define PMIX_ENDPOINT               55   // pmix_endpoint_t
#define PMIX_TOPO                   56   // pmix_topology_t
#define PMIX_DEVTYPE                57   // pmix_device_type_t
#define PMIX_LOCTYPE                58   // pmix_locality_t
#define PMIX_COMPRESSED_BYTE_OBJECT 59   // pmix_byte_object_t: compressed bytes
#define PMIX_PROC_NSPACE            60   // pmix_nspace_t
#define PMIX_PROC_STATS             61   // pmix_proc_stats_t
#define PMIX_DISK_STATS             62   // pmix_disk_stats_t
#define PMIX_NET_STATS              63   // pmix_net_stats_t
#define PMIX_NODE_STATS             64   // pmix_node_stats_t
#define PMIX_DATA_BUFFER            65   // pmix_data_buffer_t
#define PMIX_STOR_MEDIUM            66   // pmix_storage_medium_t
#define PMIX_STOR_ACCESS            67   // pmix_storage_accessibility_t
#define PMIX_STOR_PERSIST           68   // pmix_storage_persistence_t
#define PMIX_STOR_ACCESS_TYPE       69   // pmix_storage_access_type_t
#define PMIX_DEVICE                 70   // pmix_device_t
#define PMIX_RESBLOCK_DIRECTIVE     71   // pmix_resource_block_directive_t
#define PMIX_RESOURCE_UNIT          72   // pmix_resource_unit_t
#define PMIX_NODE_PID               73   // pmix_node_pid_t
#define PMIX_REGEX2                 74   // pmix_regex2_t
#define PMIX_ALLOC_INHERIT          75   // pmix_alloc_inheritance_t
#define PMIX_DATA_TYPE_MAX          500  // the users' own types are above

// ---------------------------------------------------------------------------------------------------------
// States

typedef uint8_t pmix_proc_state_t;

#define PMIX_PROC_STATE_UNDEF                 0   // not known
#define PMIX_PROC_STATE_PREPPED               1   // ready to be started
#define PMIX_PROC_STATE_LAUNCH_UNDERWAY       2   // being started
#define PMIX_PROC_STATE_RESTART               3   // to be restarted
#define PMIX_PROC_STATE_TERMINATE             4   // to be ended
#define PMIX_PROC_STATE_RUNNING               5   // running
#define PMIX_PROC_STATE_CONNECTED             6   // connected with its server
#define PMIX_PROC_STATE_UNTERMINATED          15  // lower states are alive
#define PMIX_PROC_STATE_TERMINATED            20  // ended
#define PMIX_PROC_STATE_ERROR                 50  // higher states are failures
#define PMIX_PROC_STATE_KILLED_BY_CMD         51  // ended by command
#define PMIX_PROC_STATE_ABORTED               52  // aborted
#define PMIX_PROC_STATE_FAILED_TO_START       53  // could not be started
#define PMIX_PROC_STATE_ABORTED_BY_SIG        54  // died of a signal
#define PMIX_PROC_STATE_TERM_WO_SYNC          55  // ended without finalizing
#define PMIX_PROC_STATE_COMM_FAILED           56  // its connection failed
#define PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED 57  // passed a limit
#define PMIX_PROC_STATE_CALLED_ABORT          58  // called PMIx_Abort
#define PMIX_PROC_STATE_HEARTBEAT_FAILED      59  // its heartbeats stopped
#define PMIX_PROC_STATE_MIGRATING             60  // moving to other resources
#define PMIX_PROC_STATE_CANNOT_RESTART        61  // cannot be restarted
#define PMIX_PROC_STATE_TERM_NON_ZERO         62  // ended with an exit code
#define PMIX_PROC_STATE_FAILED_TO_LAUNCH      63  // the launch failed
#define PMIX_PROC_STATE_KILLED_BY_RELEASE     64  // its node was given back

typedef uint8_t pmix_job_state_t;

#define PMIX_JOB_STATE_UNDEF                 0   // not known
#define PMIX_JOB_STATE_AWAITING_ALLOC        1   // waits for resources
#define PMIX_JOB_STATE_LAUNCH_UNDERWAY       2   // being started
#define PMIX_JOB_STATE_RUNNING               3   // all processes run
#define PMIX_JOB_STATE_SUSPENDED             4   // suspended
#define PMIX_JOB_STATE_CONNECTED             5   // all processes are connected
#define PMIX_JOB_STATE_UNTERMINATED          15  // lower states are alive
#define PMIX_JOB_STATE_TERMINATED            20  // ended
#define PMIX_JOB_STATE_TERMINATED_WITH_ERROR 50  // ended with an error

typedef uint8_t pmix_link_state_t;

#define PMIX_LINK_STATE_UNKNOWN 0  // not known, or there is none
#define PMIX_LINK_DOWN          1
#define PMIX_LINK_UP            2

// ---------------------------------------------------------------------------------------------------------
// Visibility and lifetime of data

// The processes that may get a put value
typedef uint8_t pmix_scope_t;

#define PMIX_SCOPE_UNDEF 0  // not said
#define PMIX_LOCAL       1  // processes on the same node
#define PMIX_REMOTE      2  // processes on other nodes
#define PMIX_GLOBAL      3  // all
#define PMIX_INTERNAL    4  // the process itself

// In the place of a scope: PMIx_Put takes back what was put under the key (PMIX_CAP_DATA_DELETE)
#define PMIX_DEL_LOCAL    5  // from the processes on the same node
#define PMIX_DEL_REMOTE   6  // from those on other nodes
#define PMIX_DEL_GLOBAL   7  // from all
#define PMIX_DEL_INTERNAL 8  // from the process itself

// The processes that may look up published data, or that receive an event
typedef uint8_t pmix_data_range_t;

#define PMIX_RANGE_UNDEF      0  // not said
#define PMIX_RANGE_RM         1  // the resource manager
#define PMIX_RANGE_LOCAL      2  // processes on this node
#define PMIX_RANGE_NAMESPACE  3  // processes of the same namespace
#define PMIX_RANGE_SESSION    4  // processes of the same session
#define PMIX_RANGE_GLOBAL     5  // all
#define PMIX_RANGE_CUSTOM     6  // those whom an attribute names
#define PMIX_RANGE_PROC_LOCAL 7  // the process itself
#define PMIX_RANGE_INVALID    UINT8_MAX

// How long published data stays
typedef uint8_t pmix_persistence_t;

#define PMIX_PERSIST_INDEF      0  // until it is unpublished
#define PMIX_PERSIST_FIRST_READ 1  // until it is read
#define PMIX_PERSIST_PROC       2  // until its publisher ends
#define PMIX_PERSIST_APP        3  // until the application ends
#define PMIX_PERSIST_SESSION    4  // until the session ends
#define PMIX_PERSIST_NSPACE     5  // until the publisher's namespace ends
#define PMIX_PERSIST_INVALID    UINT8_MAX

// ---------------------------------------------------------------------------------------------------------
// Directives and choices

// Bits in pmix_info_t.flags
typedef uint32_t pmix_info_directives_t;

#define PMIX_INFO_REQD           0x00000001  // must be honoured, or the call fails
#define PMIX_INFO_ARRAY_END      0x00000002  // last of its array
#define PMIX_INFO_REQD_PROCESSED 0x00000004  // required, and was honoured
#define PMIX_INFO_QUALIFIER      0x00000008  // qualifies the key before it
#define PMIX_INFO_PERSISTENT     0x00000010  // the value is another's; do not free it
#define PMIX_INFO_DIR_RESERVED   0xffff0000  // for the implementation

typedef uint8_t pmix_alloc_directive_t;

#define PMIX_ALLOC_NEW        1    // a new allocation
#define PMIX_ALLOC_EXTEND     2    // more time or resources
#define PMIX_ALLOC_RELEASE    3    // give back some or all
#define PMIX_ALLOC_REAQUIRE   4    // take back what was lent
#define PMIX_ALLOC_REQ_CANCEL 5    // cancel the request
#define PMIX_ALLOC_ACTIVATE   6    // make use of nodes that are held already
#define PMIX_ALLOC_EXTERNAL   128  // the users' own from here on

// The fate of an allocation when its namespace ends
typedef uint8_t pmix_alloc_inheritance_t;

#define PMIX_ALLOC_INHERIT_NONE          1  // it is released
#define PMIX_ALLOC_INHERIT_CHILD         2  // it stays until the last namespace spawned from it ends
#define PMIX_ALLOC_INHERIT_DEFAULT       3  // it becomes unreserved and stays with the session
#define PMIX_ALLOC_INHERIT_CHILD_DEFAULT 4  // it becomes unreserved when the last spawned namespace ends

typedef uint8_t pmix_resource_block_directive_t;

#define PMIX_RESOURCE_BLOCK_DEFINE   1    // make a block
#define PMIX_RESOURCE_BLOCK_EXTEND   2    // add to it
#define PMIX_RESOURCE_BLOCK_REMOVE   3    // take from it
#define PMIX_RESOURCE_BLOCK_DELETE   4    // delete it
#define PMIX_RESOURCE_BLOCK_EXTERNAL 128  // the users' own from here on

// Streams of a process that can be forwarded; the values are bits
typedef uint16_t pmix_iof_channel_t;

#define PMIX_FWD_NO_CHANNELS     0x0000
#define PMIX_FWD_STDIN_CHANNEL   0x0001
#define PMIX_FWD_STDOUT_CHANNEL  0x0002
#define PMIX_FWD_STDERR_CHANNEL  0x0004
#define PMIX_FWD_STDDIAG_CHANNEL 0x0008
#define PMIX_FWD_ALL_CHANNELS    0x00ff

// Answer to an invitation to a group
typedef enum { PMIX_GROUP_DECLINE = 0, PMIX_GROUP_ACCEPT = 1 } pmix_group_opt_t;

typedef enum {
    PMIX_GROUP_CONSTRUCT = 0,
    PMIX_GROUP_DESTRUCT = 1,
    PMIX_GROUP_NONE = 2,
    PMIX_GROUP_CANCEL = 3
} pmix_group_operation_t;

typedef enum { PMIX_FABRIC_REQUEST_INFO = 0, PMIX_FABRIC_UPDATE_INFO = 1 } pmix_fabric_operation_t;

// Result of comparing two values
typedef enum {
    PMIX_EQUAL = 0,
    PMIX_VALUE1_GREATER = 1,
    PMIX_VALUE2_GREATER = 2,
    PMIX_VALUE_TYPE_DIFFERENT = 3,
    PMIX_VALUE_INCOMPATIBLE_OBJECTS = 4,
    PMIX_VALUE_COMPARISON_NOT_AVAIL = 5
} pmix_value_cmp_t;

// Result of reading a value as a truth value. Note that true is zero.
typedef enum { PMIX_BOOL_TRUE = 0, PMIX_BOOL_FALSE = 1, PMIX_NON_BOOL = 2 } pmix_boolean_t;

// ---------------------------------------------------------------------------------------------------------
// Hardware

typedef uint8_t pmix_coord_view_t;

#define PMIX_COORD_VIEW_UNDEF    0x00  // not said
#define PMIX_COORD_LOGICAL_VIEW  0x01  // as the fabric sees itself
#define PMIX_COORD_PHYSICAL_VIEW 0x02  // as the machine is built

typedef uint8_t pmix_bind_envelope_t;

#define PMIX_CPUBIND_PROCESS 0  // binding of the process
#define PMIX_CPUBIND_THREAD  1  // binding of the calling thread

// The resources that two processes share; the values are bits
typedef uint16_t pmix_locality_t;

#define PMIX_LOCALITY_UNKNOWN        0x0000  // not known
#define PMIX_LOCALITY_SHARE_HWTHREAD 0x0001
#define PMIX_LOCALITY_SHARE_CORE     0x0002
#define PMIX_LOCALITY_SHARE_L1CACHE  0x0004
#define PMIX_LOCALITY_SHARE_L2CACHE  0x0008
#define PMIX_LOCALITY_SHARE_L3CACHE  0x0010
#define PMIX_LOCALITY_SHARE_PACKAGE  0x0020
#define PMIX_LOCALITY_SHARE_NUMA     0x0040
#define PMIX_LOCALITY_SHARE_NODE     0x4000
#define PMIX_LOCALITY_NONLOCAL       0x8000  // not on the same node

// Kinds of devices; the values are bits, so that a request can name several
typedef uint64_t pmix_device_type_t;

#define PMIX_DEVTYPE_UNKNOWN     0x000  // not known
#define PMIX_DEVTYPE_BLOCK       0x001  // disks and the like
#define PMIX_DEVTYPE_GPU         0x002
#define PMIX_DEVTYPE_NETWORK     0x004  // network interfaces
#define PMIX_DEVTYPE_OPENFABRICS 0x008  // OpenFabrics interfaces
#define PMIX_DEVTYPE_DMA         0x010  // DMA engines
#define PMIX_DEVTYPE_COPROC      0x020  // coprocessors
#define PMIX_DEVTYPE_MEMORY      0x040
#define PMIX_DEVTYPE_CORE        0x080
#define PMIX_DEVTYPE_HWT         0x100  // hardware threads
#define PMIX_DEVTYPE_CPU         0x200
#define PMIX_DEVTYPE_NODE        0x400

// ---------------------------------------------------------------------------------------------------------
// Storage systems; the values are bits

typedef uint64_t pmix_storage_medium_t;

#define PMIX_STORAGE_MEDIUM_UNKNOWN 0x01
#define PMIX_STORAGE_MEDIUM_TAPE    0x02
#define PMIX_STORAGE_MEDIUM_HDD     0x04
#define PMIX_STORAGE_MEDIUM_SSD     0x08
#define PMIX_STORAGE_MEDIUM_NVME    0x10
#define PMIX_STORAGE_MEDIUM_PMEM    0x20  // persistent memory
#define PMIX_STORAGE_MEDIUM_RAM     0x40

typedef uint64_t pmix_storage_accessibility_t;

#define PMIX_STORAGE_ACCESSIBILITY_NODE    0x01  // from the node
#define PMIX_STORAGE_ACCESSIBILITY_SESSION 0x02  // from the session's nodes
#define PMIX_STORAGE_ACCESSIBILITY_JOB     0x04  // from the job's nodes
#define PMIX_STORAGE_ACCESSIBILITY_RACK    0x08  // from the rack
#define PMIX_STORAGE_ACCESSIBILITY_CLUSTER 0x10  // from the cluster
#define PMIX_STORAGE_ACCESSIBILITY_REMOTE  0x20  // from elsewhere

typedef uint64_t pmix_storage_persistence_t;

#define PMIX_STORAGE_PERSISTENCE_TEMPORARY 0x01  // may be gone at any time
#define PMIX_STORAGE_PERSISTENCE_NODE      0x02  // with the node
#define PMIX_STORAGE_PERSISTENCE_SESSION   0x04  // with the session
#define PMIX_STORAGE_PERSISTENCE_JOB       0x08  // with the job
#define PMIX_STORAGE_PERSISTENCE_SCRATCH   0x10  // until it is cleaned up
#define PMIX_STORAGE_PERSISTENCE_PROJECT   0x20  // with the project
#define PMIX_STORAGE_PERSISTENCE_ARCHIVE   0x40  // for good

typedef uint16_t pmix_storage_access_type_t;

#define PMIX_STORAGE_ACCESS_RD   0x0001
#define PMIX_STORAGE_ACCESS_WR   0x0002
#define PMIX_STORAGE_ACCESS_RDWR 0x0003

// ---------------------------------------------------------------------------------------------------------
// Structures
//
// Each has an initialiser for a variable that is not on the heap. They name no members, so that they are valid
// in C and in every C++; nothing they set has to be freed.

typedef struct pmix_coord {
    pmix_coord_view_t view;
    uint32_t* coord;  // owned, dims long
    size_t dims;
} pmix_coord_t;

#define PMIX_COORD_STATIC_INIT \
    { PMIX_COORD_VIEW_UNDEF, NULL, 0 }

// Processing units, in the form of the library that source names (hwloc:...).
typedef struct {
    char* source;  // owned
    void* bitmap;  // owned, opaque
} pmix_cpuset_t;

#define PMIX_CPUSET_STATIC_INIT \
    { NULL, NULL }

typedef struct {
    char* source;    // owned; which library made it, and its version
    void* topology;  // opaque; owned by the structure when PMIx_Load_topology filled it
} pmix_topology_t;

#define PMIX_TOPOLOGY_STATIC_INIT \
    { NULL, NULL }

// The position of a device on a fabric
typedef struct pmix_geometry {
    size_t fabric;
    char* uuid;                 // owned
    char* osname;               // owned
    pmix_coord_t* coordinates;  // owned, one a view, ncoords long
    size_t ncoords;
} pmix_geometry_t;

#define PMIX_GEOMETRY_STATIC_INIT \
    { 0, NULL, NULL, NULL, 0 }

typedef struct pmix_device {
    char* uuid;    // owned
    char* osname;  // owned
    pmix_device_type_t type;
} pmix_device_t;

#define PMIX_DEVICE_STATIC_INIT \
    { NULL, NULL, PMIX_DEVTYPE_UNKNOWN }

// A number of devices of one kind
typedef struct pmix_resource_unit {
    pmix_device_type_t type;
    size_t count;
} pmix_resource_unit_t;

#define PMIX_RESOURCE_UNIT_STATIC_INIT \
    { PMIX_DEVTYPE_UNKNOWN, 0 }

// How far a device is from the processing units of a process; the unit is relative, UINT16_MAX is unknown.
typedef struct pmix_device_distance {
    char* uuid;    // owned
    char* osname;  // owned
    pmix_device_type_t type;
    uint16_t mindist;
    uint16_t maxdist;
} pmix_device_distance_t;

#define PMIX_DEVICE_DIST_STATIC_INIT \
    { NULL, NULL, PMIX_DEVTYPE_UNKNOWN, 0, 0 }

// A process of the operating system: named by node, not by namespace
typedef struct pmix_node_pid {
    char* hostname;  // owned
    uint32_t nodeid;
    pid_t pid;
} pmix_node_pid_t;

#define PMIX_NODE_PID_STATIC_INIT \
    { NULL, UINT32_MAX, -1 }

typedef struct pmix_byte_object {
    char* bytes;  // owned, size long, not terminated
    size_t size;
} pmix_byte_object_t;

#define PMIX_BYTE_OBJECT_STATIC_INIT \
    { NULL, 0 }

// A list in an encoded form, as PMIx_generate_regex2 gives it
typedef struct pmix_regex2 {
    char* type;      // owned, the name of the encoding
    uint8_t* bytes;  // owned, len long, terminated only where the encoding says so
    size_t len;
} pmix_regex2_t;

#define PMIX_REGEX2_STATIC_INIT \
    { NULL, NULL, 0 }

// Address of a process on a device of a fabric
typedef struct pmix_endpoint {
    char* uuid;    // owned
    char* osname;  // owned
    pmix_byte_object_t endpt;
} pmix_endpoint_t;

#define PMIX_ENDPOINT_STATIC_INIT \
    { NULL, NULL, PMIX_BYTE_OBJECT_STATIC_INIT }

// An environment variable, and what separates its parts where something is added to it
typedef struct {
    char* envar;  // owned
    char* value;  // owned
    char separator;
} pmix_envar_t;

#define PMIX_ENVAR_STATIC_INIT \
    { NULL, NULL, '\0' }

// Packed data: one block that grows. pack_ptr and unpack_ptr point into it.
typedef struct pmix_data_buffer {
    char* base_ptr;  // owned
    char* pack_ptr;
    char* unpack_ptr;
    size_t bytes_allocated;
    size_t bytes_used;
} pmix_data_buffer_t;

#define PMIX_DATA_BUFFER_STATIC_INIT \
    { NULL, NULL, NULL, 0, 0 }

typedef struct pmix_proc {
    pmix_nspace_t nspace;
    pmix_rank_t rank;
} pmix_proc_t;

#define PMIX_PROC_STATIC_INIT \
    { {0}, PMIX_RANK_UNDEF }

typedef struct pmix_proc_info {
    pmix_proc_t proc;
    char* hostname;         // owned
    char* executable_name;  // owned
    pid_t pid;
    int exit_code;
    pmix_proc_state_t state;
} pmix_proc_info_t;

#define PMIX_PROC_INFO_STATIC_INIT \
    { PMIX_PROC_STATIC_INIT, NULL, NULL, 0, 0, PMIX_PROC_STATE_UNDEF }

// An array of one type: size elements of what type says, in one block (owned)
typedef struct pmix_data_array {
    pmix_data_type_t type;
    size_t size;
    void* array;
} pmix_data_array_t;

#define PMIX_DATA_ARRAY_STATIC_INIT \
    { PMIX_UNDEF, 0, NULL }

// Statistics of processes, disks, networks and nodes as OpenPMIx 4 and 5 have them; 6 reports the same facts by
// attributes (PMIX_PROC_RESOURCE_USAGE and its kin). Memory is in MB, percent_cpu in per cent of one unit.
typedef struct pmix_proc_stats {
    char* node;  // owned
    pmix_proc_t proc;
    pid_t pid;
    char* cmd;  // owned
    char state;
    struct timeval time;
    float percent_cpu;
    int32_t priority;
    uint16_t num_threads;
    float pss;
    float vsize;
    float rss;
    float peak_vsize;
    uint16_t processor;
    struct timeval sample_time;
} pmix_proc_stats_t;

#define PMIX_PROC_STATS_STATIC_INIT                                                                  \
    {                                                                                                \
        NULL, PMIX_PROC_STATIC_INIT, 0, NULL, '\0', {0, 0}, 0.0f, 0, 0, 0.0f, 0.0f, 0.0f, 0.0f, 0, { \
            0, 0                                                                                     \
        }                                                                                            \
    }

typedef struct {
    char* disk;  // owned
    uint64_t num_reads_completed;
    uint64_t num_reads_merged;
    uint64_t num_sectors_read;
    uint64_t milliseconds_reading;
    uint64_t num_writes_completed;
    uint64_t num_writes_merged;
    uint64_t num_sectors_written;
    uint64_t milliseconds_writing;
    uint64_t num_ios_in_progress;
    uint64_t milliseconds_io;
    uint64_t weighted_milliseconds_io;
} pmix_disk_stats_t;

#define PMIX_DISK_STATS_STATIC_INIT \
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct {
    char* net_interface;  // owned
    uint64_t num_bytes_recvd;
    uint64_t num_packets_recvd;
    uint64_t num_recv_errs;
    uint64_t num_bytes_sent;
    uint64_t num_packets_sent;
    uint64_t num_send_errs;
} pmix_net_stats_t;

#define PMIX_NET_STATS_STATIC_INIT \
    { NULL, 0, 0, 0, 0, 0, 0 }

typedef struct {
    char* node;  // owned
    float la;
    float la5;
    float la15;
    float total_mem;
    float free_mem;
    float buffers;
    float cached;
    float swap_cached;
    float swap_total;
    float swap_free;
    float mapped;
    struct timeval sample_time;
    pmix_disk_stats_t* diskstats;  // owned, ndiskstats long
    size_t ndiskstats;
    pmix_net_stats_t* netstats;  // owned, nnetstats long
    size_t nnetstats;
} pmix_node_stats_t;

#define PMIX_NODE_STATS_STATIC_INIT \
    { NULL, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, {0, 0}, NULL, 0, NULL, 0 }

// A value of any type. The value owns the memory of its pointers, except for PMIX_POINTER.
typedef struct pmix_value {
    pmix_data_type_t type;
    union {
        // First because it is the widest: an initialiser without names reaches only the first member, and by
        // this one it clears the whole union.
        pmix_envar_t envar;
        bool flag;
        uint8_t byte;
        char* string;
        size_t size;
        pid_t pid;
        int integer;
        int8_t int8;
        int16_t int16;
        int32_t int32;
        int64_t int64;
        unsigned int uint;
        uint8_t uint8;
        uint16_t uint16;
        uint32_t uint32;
        uint64_t uint64;
        float fval;
        double dval;
        struct timeval tv;
        time_t time;
        pmix_status_t status;
        pmix_rank_t rank;
        pmix_nspace_t* nspace;
        pmix_proc_t* proc;
        pmix_byte_object_t bo;
        pmix_persistence_t persist;
        pmix_scope_t scope;
        pmix_data_range_t range;
        pmix_proc_state_t state;
        pmix_proc_info_t* pinfo;
        pmix_data_array_t* darray;
        void* ptr;
        pmix_alloc_directive_t adir;
        pmix_resource_block_directive_t rbdir;
        pmix_alloc_inheritance_t inheritance;
        pmix_coord_t* coord;
        pmix_link_state_t linkstate;
        pmix_job_state_t jstate;
        pmix_topology_t* topo;
        pmix_cpuset_t* cpuset;
        pmix_locality_t locality;
        pmix_geometry_t* geometry;
        pmix_device_type_t devtype;
        pmix_device_t* device;
        pmix_device_distance_t* devdist;
        pmix_endpoint_t* endpoint;
        pmix_data_buffer_t* dbuf;
        pmix_resource_unit_t* resunit;
        pmix_node_pid_t* nodepid;
        pmix_regex2_t* regex2;
        pmix_proc_stats_t* pstats;
        pmix_disk_stats_t* dkstats;
        pmix_net_stats_t* netstats;
        pmix_node_stats_t* ndstats;
    } data;
} pmix_value_t;

#define PMIX_VALUE_STATIC_INIT     \
    {                              \
        PMIX_UNDEF, {              \
            PMIX_ENVAR_STATIC_INIT \
        }                          \
    }

// A key with its value: how everything optional is passed
typedef struct pmix_info {
    pmix_key_t key;
    pmix_info_directives_t flags;
    pmix_value_t value;
} pmix_info_t;

#define PMIX_INFO_STATIC_INIT \
    { {0}, 0, PMIX_VALUE_STATIC_INIT }

// A looked-up value and who published it
typedef struct pmix_pdata {
    pmix_proc_t proc;
    pmix_key_t key;
    pmix_value_t value;
} pmix_pdata_t;

#define PMIX_LOOKUP_STATIC_INIT \
    { PMIX_PROC_STATIC_INIT, {0}, PMIX_VALUE_STATIC_INIT }

// One program of a job that is to be spawned
typedef struct pmix_app {
    char* cmd;          // owned
    char** argv;        // owned, ended by NULL; begins with the command's own name
    char** env;         // owned, ended by NULL; "NAME=value"
    char* cwd;          // owned
    int maxprocs;       // how many processes to start
    pmix_info_t* info;  // owned, ninfo long
    size_t ninfo;
} pmix_app_t;

#define PMIX_APP_STATIC_INIT \
    { NULL, NULL, NULL, NULL, 0, NULL, 0 }

typedef struct pmix_query {
    char** keys;              // owned, ended by NULL
    pmix_info_t* qualifiers;  // owned, nqual long; they hold for every key
    size_t nqual;
} pmix_query_t;

#define PMIX_QUERY_STATIC_INIT \
    { NULL, NULL, 0 }

// Description of an attribute that someone supports
typedef struct pmix_regattr_t {
    char* name;         // owned; the constant's name, such as PMIX_TIMEOUT
    pmix_key_t string;  // its key, such as pmix.timeout
    pmix_data_type_t type;
    char** description;  // owned, ended by NULL
} pmix_regattr_t;

#define PMIX_REGATTR_STATIC_INIT \
    { NULL, {0}, PMIX_UNDEF, NULL }

typedef struct pmix_fabric_s {
    char* name;         // the caller's; which fabric is meant
    size_t index;       // given by the library at registration
    pmix_info_t* info;  // the library's, ninfo long; replaced by PMIx_Fabric_update
    size_t ninfo;
    void* module;  // the library's, opaque
} pmix_fabric_t;

#define PMIX_FABRIC_STATIC_INIT \
    { NULL, 0, NULL, 0, NULL }

// ---------------------------------------------------------------------------------------------------------
// Callbacks
//
// They run on the library's progress thread (or in PMIx_Progress) unless said otherwise: they must not block,
// and must not call a blocking function of PMIx. Their arguments belong to the library and end with the call,
// or with the call of the release function passed with them.

/**
 * Called by the receiver of data to say that it has finished with it.
 * @param cbdata  what came with this function
 * (Standard 5.0, 3.4.1)
 */
typedef void (*pmix_release_cbfunc_t)(void* cbdata);

/**
 * The end of an operation that returns nothing but its status.
 * @param status  PMIX_SUCCESS or the error
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 3.4.2)
 */
typedef void (*pmix_op_cbfunc_t)(pmix_status_t status, void* cbdata);

/**
 * The answer of PMIx_Get_nb.
 * @param status  PMIX_SUCCESS or the error
 * @param kv      the value, the library's; NULL on error
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 3.4.3)
 */
typedef void (*pmix_value_cbfunc_t)(pmix_status_t status, pmix_value_t* kv, void* cbdata);

/**
 * The answer of an operation that returns infos.
 * @param status          PMIX_SUCCESS or the error; with PMIX_ERR_PARTIAL_SUCCESS and its like there is info too
 * @param info            array of ninfo, the sender's until release_fn is called
 * @param cbdata          what the caller gave with the request
 * @param release_fn      to be called by the receiver when it needs info no more; NULL if there is nothing to release
 * @param release_cbdata  to be handed to release_fn
 * (Standard 5.0, 3.4.4)
 */
typedef void (*pmix_info_cbfunc_t)(pmix_status_t status, pmix_info_t* info, size_t ninfo, void* cbdata,
                                   pmix_release_cbfunc_t release_fn, void* release_cbdata);

/**
 * Collected data that a host returns from a fence or a direct modex.
 * @param status          PMIX_SUCCESS or the error
 * @param data            ndata bytes, the host's until release_fn is called
 * @param cbdata          what the library gave with the upcall
 * @param release_fn      called by the library when it needs data no more; may be NULL
 * @param release_cbdata  handed to release_fn
 * (Standard 5.0, 17.3.6.1)
 */
typedef void (*pmix_modex_cbfunc_t)(pmix_status_t status, const char* data, size_t ndata, void* cbdata,
                                    pmix_release_cbfunc_t release_fn, void* release_cbdata);

/**
 * The end of a spawn.
 * @param status  PMIX_SUCCESS or the error
 * @param nspace  namespace of the new job
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 12.2.5.2)
 */
typedef void (*pmix_spawn_cbfunc_t)(pmix_status_t status, pmix_nspace_t nspace, void* cbdata);

/**
 * The answer of a lookup.
 * @param status  PMIX_SUCCESS, PMIX_ERR_NOT_FOUND, or another error
 * @param data    array of ndata found values with their publishers; the sender's
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 9.7.2)
 */
typedef void (*pmix_lookup_cbfunc_t)(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void* cbdata);

/**
 * The end of a registration.
 * @param status  PMIX_SUCCESS or the error
 * @param refid   number by which the handler is deregistered
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 3.4.5)
 */
typedef void (*pmix_hdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid, void* cbdata);

/** The same under its former name. */
typedef void (*pmix_evhdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid, void* cbdata);

/**
 * An event handler calls this when it is done, to hand the event on to the next handler. It must be called exactly once, from
 * the handler or later, from any thread.
 * @param status               what the handler did: one of PMIX_EVENT_NO_ACTION_TAKEN to PMIX_EVENT_ACTION_COMPLETE; the last
 *                             ends the chain
 * @param results              nresults infos for the handlers that follow; the handler's until cbfunc is called; may be NULL
 * @param cbfunc               called when results are needed no more; may be NULL
 * @param thiscbdata           handed to cbfunc
 * @param notification_cbdata  the cbdata that the handler was given
 * (Standard 5.0, 10.1.9)
 */
typedef void (*pmix_event_notification_cbfunc_fn_t)(pmix_status_t status, pmix_info_t* results, size_t nresults,
                                                    pmix_op_cbfunc_t cbfunc, void* thiscbdata, void* notification_cbdata);

/**
 * An event handler. It must not block, and must call cbfunc once, when it is done.
 * @param evhdlr_registration_id  number of this handler
 * @param status                  the event
 * @param source                  who raised it
 * @param info                    ninfo infos of the event; PMIX_EVENT_RETURN_OBJECT is among them if it was registered
 * @param results                 nresults infos from the handlers before this one
 * @param cbfunc                  see pmix_event_notification_cbfunc_fn_t; NULL if no answer is expected
 * @param cbdata                  to be handed to cbfunc
 * (Standard 5.0, 10.1.6)
 */
typedef void (*pmix_notification_fn_t)(size_t evhdlr_registration_id, pmix_status_t status, const pmix_proc_t* source,
                                       pmix_info_t info[], size_t ninfo, pmix_info_t* results, size_t nresults,
                                       pmix_event_notification_cbfunc_fn_t cbfunc, void* cbdata);

/**
 * The answer of a request for a credential.
 * @param status      PMIX_SUCCESS or the error
 * @param credential  the credential, the sender's
 * @param info        ninfo infos about it, such as PMIX_CRED_TYPE; the sender's
 * @param cbdata      what the caller gave with the request
 * (Standard 5.0, 17.3.24.1)
 */
typedef void (*pmix_credential_cbfunc_t)(pmix_status_t status, pmix_byte_object_t* credential, pmix_info_t info[], size_t ninfo,
                                         void* cbdata);

/**
 * The answer of a request to check a credential.
 * @param status  PMIX_SUCCESS if it is good, else why it is not
 * @param info    ninfo infos about its owner, such as PMIX_USERID and PMIX_GRPID; the sender's
 * @param cbdata  what the caller gave with the request
 * (Standard 5.0, 17.3.26)
 */
typedef void (*pmix_validation_cbfunc_t)(pmix_status_t status, pmix_info_t info[], size_t ninfo, void* cbdata);

/**
 * The answer of PMIx_Compute_distances_nb.
 * @param status          PMIX_SUCCESS or the error
 * @param dist            array of ndist distances, the library's until release_fn is called
 * @param cbdata          what the caller gave with the request
 * @param release_fn      to be called by the receiver when it needs dist no more
 * @param release_cbdata  to be handed to release_fn
 * (Standard 5.0, 12.4.7)
 */
typedef void (*pmix_device_dist_cbfunc_t)(pmix_status_t status, pmix_device_distance_t* dist, size_t ndist, void* cbdata,
                                          pmix_release_cbfunc_t release_fn, void* release_cbdata);

// ---------------------------------------------------------------------------------------------------------
// Attributes
//
// The comment gives the type of the value first. If programs and the Standard do not agree on a type, both
// are accepted. A few keys have two names: the call decides the meaning.

// The empty attribute
#define PMIX_ATTR_UNDEF "pmix.undef"  // NULL: no attribute

// How the library is initialised
#define PMIX_EXTERNAL_PROGRESS          "pmix.evext"           // bool: the host drives the library by PMIx_Progress
#define PMIX_EXTERNAL_AUX_EVENT_BASE    "pmix.evaux"           // void*: the host's event base for signals and timers
#define PMIX_BIND_PROGRESS_THREAD       "pmix.bind.pt"         // char*: CPUs for the progress thread, such as 0-3,8
#define PMIX_BIND_REQUIRED              "pmix.bind.reqd"       // bool: fail if the progress thread cannot be bound
#define PMIX_PROGRESS_THREAD_NAME       "pmix.pthrdnm"         // char*: which thread to stop; absent: all
#define PMIX_PROGRESS_THREAD_FLUSH      "pmix.evflush"         // bool: work off what is queued before stopping
#define PMIX_HOMOGENEOUS_SYSTEM         "pmix.homo"            // bool: all nodes have the same hardware
#define PMIX_SINGLETON                  "pmix.singleton"       // char*: "nspace.rank" of the process that the server is for
#define PMIX_SERVER_ALLOW_FOREIGN_TOOLS "pmix.srvr.ftools"     // bool: let tools of other users connect
#define PMIX_SERVER_ATTRIBUTES          "pmix.srvr.attrs"      // bool or char*: what the server library supports, by function
#define PMIX_SERVER_ENABLE_MONITORING   "pmix.srv.monitor"     // bool: the server watches its clients
#define PMIX_SERVER_FUNCTIONS           "pmix.srvr.fns"        // bool or char*: functions that the server library supports
#define PMIX_SERVER_GATEWAY             "pmix.srv.gway"        // bool: the server is on a gateway node
#define PMIX_SERVER_HOSTNAME            "pmix.srvr.host"       // char*: node where the server runs
#define PMIX_SERVER_INFO_ARRAY          "pmix.srv.arr"         // pmix_data_array_t*: facts about one server
#define PMIX_SERVER_NSPACE              "pmix.srv.nspace"      // char*: the server's own namespace
#define PMIX_SERVER_PIDINFO             "pmix.srvr.pidinfo"    // pid_t: process ID of the server to attach to
#define PMIX_SERVER_RANK                "pmix.srv.rank"        // pmix_rank_t: the server's own rank
#define PMIX_SERVER_REMOTE_CONNECTIONS  "pmix.srvr.remote"     // bool: accept tools from other nodes
#define PMIX_SERVER_SCHEDULER           "pmix.srv.sched"       // bool: the server is the scheduler's
#define PMIX_SERVER_SESSION_SUPPORT     "pmix.srvr.sess"       // bool: offer tools a rendezvous for the session
#define PMIX_SERVER_SHARE_TOPOLOGY      "pmix.srvr.share"      // bool: share the topology with the clients
#define PMIX_SERVER_START_TIME          "pmix.srv.strtime"     // char*: when the server started
#define PMIX_SERVER_SYSTEM_SUPPORT      "pmix.srvr.sys"        // bool: offer tools the rendezvous of the node
#define PMIX_SERVER_SYS_CONTROLLER      "pmix.srv.ctrlr"       // bool: the server is the system controller's
#define PMIX_SERVER_TMPDIR              "pmix.srvr.tmpdir"     // char*: where the server's files go
#define PMIX_SERVER_TOOL_SUPPORT        "pmix.srvr.tool"       // bool: accept tools
#define PMIX_SERVER_URI                 "pmix.srvr.uri"        // char*: address of the server
#define PMIX_SERVER_ALT_URIS            "pmix.srvr.alturis"    // char*: further addresses of that server, by commas
#define PMIX_MYSERVER_ALT_URIS          "pmix.mysrvr.alturis"  // char*: further addresses of this process's listener
#define PMIX_HOSTNAME_KEEP_FQDN         "pmix.fqdn"            // bool: host names keep their domain
#define PMIX_ALLOW_CLIENT_CLONES        "pmix.allow.clones"    // bool: accept connections of a client's forks
#define PMIX_NODE_INFO_ARRAY            "pmix.node.arr"        // pmix_data_array_t*: facts about one node
#define PMIX_SESSION_INFO_ARRAY         "pmix.ssn.arr"         // pmix_data_array_t*: facts about one session
#define PMIX_JOB_INFO_ARRAY             "pmix.job.arr"         // pmix_data_array_t*: facts about one job
#define PMIX_APP_INFO_ARRAY             "pmix.app.arr"         // pmix_data_array_t*: facts about one application
#define PMIX_PROC_INFO_ARRAY            "pmix.pdata"           // pmix_data_array_t*: facts about one process, its rank first

// Tools and their connections
#define PMIX_TOOL_ATTACHMENT_FILE      "pmix.tool.attach"         // char*: file that says how to attach to the server
#define PMIX_TOOL_ATTRIBUTES           "pmix.tool.attrs"          // bool or char*: what the tool library supports, by function
#define PMIX_TOOL_CONNECT_OPTIONAL     "pmix.tool.conopt"         // bool: go on when no server can be reached
#define PMIX_TOOL_DO_NOT_CONNECT       "pmix.tool.nocon"          // bool: do not look for a server
#define PMIX_TOOL_FUNCTIONS            "pmix.tool.fns"            // bool or char*: functions that the tool library supports
#define PMIX_TOOL_NSPACE               "pmix.tool.nspace"         // char*: namespace that the tool shall have
#define PMIX_TOOL_RANK                 "pmix.tool.rank"           // uint32_t: rank that the tool shall have
#define PMIX_LAUNCHER_DAEMON           "pmix.lnch.dmn"            // char*: program to use for the launcher's daemons
#define PMIX_LAUNCHER_RENDEZVOUS_FILE  "pmix.tool.lncrnd"         // char*: where the launcher writes its address
#define PMIX_LAUNCHER_RNDZ_FILE        "PMIX_LAUNCHER_RNDZ_FILE"  // environment: file for the launcher's address
#define PMIX_LAUNCHER_RNDZ_URI         "PMIX_LAUNCHER_RNDZ_URI"   // environment: whom the launcher shall call back
#define PMIX_LAUNCHER                  "pmix.tool.launcher"       // bool: the tool starts processes
#define PMIX_CONNECT_MAX_RETRIES       "pmix.tool.mretries"       // uint32_t: attempts to connect before giving up
#define PMIX_CONNECT_RETRY_DELAY       "pmix.tool.retry"          // uint32_t: seconds between two attempts
#define PMIX_CONNECT_SYSTEM_FIRST      "pmix.cnct.sys.first"      // bool: try the node's server first
#define PMIX_CONNECT_TO_SCHEDULER      "pmix.cnct.sched"          // bool: the scheduler's server only
#define PMIX_CONNECT_TO_SYSTEM         "pmix.cnct.sys"            // bool: the node's server only
#define PMIX_CONNECT_TO_SYS_CONTROLLER "pmix.cnct.ctrlr"          // bool: the system controller's server only
#define PMIX_CONNECTION_ORDER          "pmix.cnct.ord"            // char*: connection attributes, tried in this order
#define PMIX_WAIT_FOR_CONNECTION       "pmix.wait.conn"           // bool: wait until the server to be set has connected
#define PMIX_PRIMARY_SERVER            "pmix.pri.srvr"            // bool: make the new server the primary one
#define PMIX_MYSERVER_URI              "pmix.mysrvr.uri"          // char*: address where this process listens
#define PMIX_KEEPALIVE_PIPE            "PMIX_KEEPALIVE_PIPE"      // environment: pipe that closes when the parent ends
#define PMIX_REQUESTOR                 "pmix.requestor"           // pmix_proc_t*: who asks, when one relays for another
#define PMIX_REQUESTOR_IS_CLIENT       "pmix.req.client"          // bool: who asks is a client
#define PMIX_REQUESTOR_IS_TOOL         "pmix.req.tool"            // bool: who asks is a tool

// TCP
#define PMIX_TCP_DISABLE_IPV4 "pmix.tcp.disipv4"    // bool: no IPv4
#define PMIX_TCP_DISABLE_IPV6 "pmix.tcp.disipv6"    // bool: no IPv6
#define PMIX_TCP_IF_EXCLUDE   "pmix.tcp.ifexclude"  // char*: interfaces or subnets not to use
#define PMIX_TCP_IF_INCLUDE   "pmix.tcp.ifinclude"  // char*: interfaces or subnets to use
#define PMIX_TCP_IPV4_PORT    "pmix.tcp.ipv4"       // int: port to listen on
#define PMIX_TCP_IPV6_PORT    "pmix.tcp.ipv6"       // int: port to listen on
#define PMIX_TCP_REPORT_URI   "pmix.tcp.repuri"     // char*: print the address: -, + or a file
#define PMIX_TCP_URI          "pmix.tcp.uri"        // char*: address of the server to connect to

// Temporary directories
#define PMIX_TMPDIR        "pmix.tmpdir"        // char*: top of the job's temporary directories
#define PMIX_SYSTEM_TMPDIR "pmix.sys.tmpdir"    // char*: temporary directory of the node
#define PMIX_NSDIR         "pmix.nsdir"         // char*: temporary directory of the namespace
#define PMIX_PROCDIR       "pmix.pdir"          // char*: temporary directory of the process
#define PMIX_TDIR_RMCLEAN  "pmix.tdir.rmclean"  // bool: the resource manager removes them

// The identity, user and model of a process
#define PMIX_USERID                "pmix.euid"         // uint32_t: effective user
#define PMIX_GRPID                 "pmix.egid"         // uint32_t: effective group
#define PMIX_REALUID               "pmix.ruid"         // uint32_t: real user
#define PMIX_REALGID               "pmix.rgid"         // uint32_t: real group
#define PMIX_NSPACE                "pmix.nspace"       // char*: namespace of a job
#define PMIX_JOBID                 "pmix.jobid"        // char*: the scheduler's name of the job
#define PMIX_APPNUM                "pmix.appnum"       // uint32_t: number of the application in its job
#define PMIX_RANK                  "pmix.rank"         // pmix_rank_t: rank in the job
#define PMIX_GLOBAL_RANK           "pmix.grank"        // pmix_rank_t: rank over all jobs of the session
#define PMIX_APP_RANK              "pmix.apprank"      // pmix_rank_t: rank in the application
#define PMIX_NPROC_OFFSET          "pmix.offset"       // pmix_rank_t: global rank of the job's first process
#define PMIX_LOCAL_RANK            "pmix.lrank"        // uint16_t: rank among the job's processes on the node
#define PMIX_NODE_RANK             "pmix.nrank"        // uint16_t: rank among all processes on the node
#define PMIX_PACKAGE_RANK          "pmix.pkgrank"      // uint16_t: rank among the job's processes on the package
#define PMIX_LOCALLDR              "pmix.lldr"         // pmix_rank_t: lowest rank of the job on the node
#define PMIX_APPLDR                "pmix.aldr"         // pmix_rank_t: lowest rank of the application
#define PMIX_PROC_PID              "pmix.ppid"         // pid_t: process ID
#define PMIX_SESSION_ID            "pmix.session.id"   // uint32_t: number of the session
#define PMIX_CLUSTER_ID            "pmix.clid"         // char*: name of the cluster
#define PMIX_HOSTNAME              "pmix.hname"        // char*: name of a node
#define PMIX_HOSTNAME_ALIASES      "pmix.alias"        // char*: other names of the node
#define PMIX_NODEID                "pmix.nodeid"       // uint32_t: number of a node
#define PMIX_PROCID                "pmix.procid"       // pmix_proc_t*: a process
#define PMIX_PARENT_ID             "pmix.parent"       // pmix_proc_t*: process that spawned this job
#define PMIX_SPAWNED               "pmix.spawned"      // bool: the job was started by PMIx_Spawn
#define PMIX_SPAWN_TREE_ROOT       "pmix.spwn.root"    // char*: namespace from which the job descends by spawns
#define PMIX_SPAWN_TREE_ACTIVE     "pmix.spwn.actv"    // uint32_t: jobs of that descent that run besides the one reported
#define PMIX_REINCARNATION         "pmix.reinc"        // uint32_t: how often the process was restarted
#define PMIX_EXIT_CODE             "pmix.exit.code"    // int: exit code of a process
#define PMIX_CMD_LINE              "pmix.cmd.line"     // char*: command line of a namespace
#define PMIX_APP_ARGV              "pmix.app.argv"     // char*: command line of an application
#define PMIX_PROGRAMMING_MODEL     "pmix.pgm.model"    // char*: model in use, such as MPI
#define PMIX_MODEL_AFFINITY_POLICY "pmix.mdl.tap"      // char*: how its threads are placed: master, close, spread
#define PMIX_MODEL_CPU_TYPE        "pmix.mdl.cputype"  // char*: what it counts as a CPU: hwthread, core ...
#define PMIX_MODEL_LIBRARY_NAME    "pmix.mdl.name"     // char*: library behind the model
#define PMIX_MODEL_LIBRARY_VERSION "pmix.mld.vrs"      // char*: its version
#define PMIX_MODEL_NUM_CPUS        "pmix.mdl.ncpu"     // uint64_t: CPUs that the model uses
#define PMIX_MODEL_NUM_THREADS     "pmix.mdl.nthrds"   // uint64_t: threads that the model uses
#define PMIX_MODEL_PHASE_NAME      "pmix.mdl.phase"    // char*: name of the present phase of work
#define PMIX_MODEL_PHASE_TYPE      "pmix.mdl.ptype"    // char*: kind of phase, such as compute or storage
#define PMIX_THREADING_MODEL       "pmix.threads"      // char*: threads in use, such as pthreads
#define PMIX_RM_NAME               "pmix.rm.name"      // char*: name of the resource manager
#define PMIX_RM_VERSION            "pmix.rm.version"   // char*: its version
#define PMIX_VERSION_INFO          "pmix.version"      // char*: version of the library that was used
#define PMIX_VERSION_NUMERIC       "pmix.vers.num"     // uint32_t: the same as a number

// How large a job is and where its processes are
#define PMIX_UNIV_SIZE               "pmix.univ.size"    // uint32_t: slots in the session
#define PMIX_JOB_SIZE                "pmix.job.size"     // uint32_t: processes in the job
#define PMIX_JOB_NUM_APPS            "pmix.job.napps"    // uint32_t: applications in the job
#define PMIX_APP_SIZE                "pmix.app.size"     // uint32_t: processes in the application
#define PMIX_LOCAL_SIZE              "pmix.local.size"   // uint32_t: processes of the job on the node
#define PMIX_NODE_SIZE               "pmix.node.size"    // uint32_t: processes of all jobs on the node
#define PMIX_MAX_PROCS               "pmix.max.size"     // uint32_t: processes that fit
#define PMIX_NUM_SLOTS               "pmix.num.slots"    // uint32_t: slots
#define PMIX_NUM_NODES               "pmix.num.nodes"    // uint32_t: nodes that have processes
#define PMIX_NUM_ALLOCATED_NODES     "pmix.num.anodes"   // uint32_t: nodes of the allocation, used or not
#define PMIX_NODE_LIST               "pmix.nlist"        // char*: nodes that have processes, by comma
#define PMIX_ALLOCATED_NODELIST      "pmix.alist"        // char*: nodes of the allocation
#define PMIX_NODE_MAP                "pmix.nmap"         // char*: nodes of the job, as a regex
#define PMIX_NODE_MAP_RAW            "pmix.nmap.raw"     // char*: nodes of the job, by comma
#define PMIX_PROC_MAP                "pmix.pmap"         // char*: ranks on each node, as a regex
#define PMIX_PROC_MAP_RAW            "pmix.pmap.raw"     // char*: ranks on each node: commas, and semicolons between nodes
#define PMIX_ANL_MAP                 "pmix.anlmap"       // char*: the map in the form of PMI-1 and PMI-2
#define PMIX_APP_MAP_REGEX           "pmix.apmap.regex"  // char*: where it was mapped to
#define PMIX_APP_MAP_TYPE            "pmix.apmap.type"   // char*: how the application was mapped, such as cyclic
#define PMIX_LOCAL_COLLECTIVE_STATUS "pmix.loc.col.st"   // pmix_status_t: how the operation ended locally
#define PMIX_LOCAL_PARTICIPANTS      "pmix.lcl.part"     // pmix_data_array_t*: local processes that took part in a collective
#define PMIX_LOCAL_CPUSETS           "pmix.lcpus"        // pmix_data_array_t* or char*: CPUs of the peers on the node, by colon
#define PMIX_LOCAL_PEERS             "pmix.lpeers"       // char*: ranks of the job on the node, by comma
#define PMIX_LOCAL_PROCS             "pmix.lprocs"       // pmix_data_array_t*: processes of all jobs on the node
#define PMIX_NODE_OVERSUBSCRIBED     "pmix.ndosub"       // bool: more processes than slots on the node
#define PMIX_AVAIL_PHYS_MEMORY       "pmix.pmem"         // uint64_t: physical memory of the node
#define PMIX_DAEMON_MEMORY           "pmix.dmn.mem"      // float: memory of the daemon in MB
#define PMIX_CLIENT_AVG_MEMORY       "pmix.cl.mem.avg"   // float: mean memory of the clients in MB
#define PMIX_MAPBY                   "pmix.mapby"        // char*: how processes are laid out
#define PMIX_RANKBY                  "pmix.rankby"       // char*: how ranks are given
#define PMIX_BINDTO                  "pmix.bindto"       // char*: to what processes are bound
#define PMIX_HOSTFILE                "pmix.hostfile"     // char*: file of the nodes to use

// Processing units, topology and devices
#define PMIX_CPUSET             "pmix.cpuset"           // char*: CPUs of a process as a string
#define PMIX_CPUSET_BITMAP      "pmix.bitmap"           // pmix_cpuset_t*: CPUs of a process as a bitmap
#define PMIX_CPU_LIST           "pmix.cpulist"          // char*: CPUs to use
#define PMIX_LOCALITY_STRING    "pmix.locstr"           // char*: where a process sits, for comparing
#define PMIX_TOPOLOGY2          "pmix.topo2"            // pmix_topology_t*: the node's topology
#define PMIX_TOPOLOGY_INDEX     "pmix.topo.index"       // int: position in the array of topologies
#define PMIX_DEVICE_DISTANCES   "pmix.dev.dist"         // pmix_data_array_t*: how far the devices are
#define PMIX_DEVICE_DIST_ORIGIN "pmix.dev.dist.origin"  // char*: device from which distances count (PMIx_Compute_distances)
#define PMIX_DEVICE_ID          "pmix.dev.id"           // char*: uuid or name of a device
#define PMIX_DEVICE_TYPE        "pmix.dev.type"         // pmix_device_type_t: kinds of devices that are meant
#define PMIX_GPU_SUPPORT        "pmix.gpu.support"      // bool: switch the program's GPU support on or off

// Requests for data: where to look and what to return
#define PMIX_COLLECT_DATA               "pmix.collect"        // bool: exchange what was put
#define PMIX_COLLECT_GENERATED_JOB_INFO "pmix.collect.gen"    // bool: exchange what the servers found out
#define PMIX_ALL_CLONES_PARTICIPATE     "pmix.clone.part"     // bool: forks take part too
#define PMIX_EMBED_BARRIER              "pmix.embed.barrier"  // bool: a fence comes first
#define PMIX_IMMEDIATE                  "pmix.immediate"      // bool: ask the server now, and do not wait for data to come
#define PMIX_OPTIONAL                   "pmix.optional"       // bool: do not ask the server
#define PMIX_WAIT                       "pmix.wait"           // int: wait for so many values; 0 is all
#define PMIX_TIMEOUT                    "pmix.timeout"        // int: seconds; 0 is for ever
#define PMIX_TIMEOUT_REPORT_STATE       "pmix.tim.state"      // bool: on time-out, report the processes' states
#define PMIX_TIMEOUT_STACKTRACES        "pmix.tim.stack"      // bool: on time-out, get stack traces
#define PMIX_GET_POINTER_VALUES         "pmix.get.pntrs"      // bool: return pointers into the library's store
#define PMIX_GET_REFRESH_CACHE          "pmix.get.refresh"    // bool: fetch anew what changed
#define PMIX_GET_STATIC_VALUES          "pmix.get.static"     // bool: the caller provides the place for the value
#define PMIX_DATA_SCOPE                 "pmix.scope"          // pmix_scope_t: look in this scope only
#define PMIX_REQUIRED_KEY               "pmix.req.key"        // char*: answer when this key is there
#define PMIX_QUALIFIED_VALUE            "pmix.qual.val"       // pmix_data_array_t*: a key with its qualifiers behind it
#define PMIX_SESSION_INFO               "pmix.ssn.info"       // bool: the key is of a session
#define PMIX_JOB_INFO                   "pmix.job.info"       // bool: the key is of a job
#define PMIX_APP_INFO                   "pmix.app.info"       // bool: the key is of an application
#define PMIX_NODE_INFO                  "pmix.node.info"      // bool: the key is of a node
#define PMIX_SORTED_PROC_ARRAY          "pmix.sorted.parr"    // bool: the array of processes is sorted
#define PMIX_REGISTER_NODATA            "pmix.reg.nodata"     // bool: register the name only

// Publish and lookup
#define PMIX_RANGE              "pmix.range"    // pmix_data_range_t: who may see it
#define PMIX_PERSISTENCE        "pmix.persist"  // pmix_persistence_t: how long it stays
#define PMIX_ACCESS_GRPIDS      "pmix.agids"    // pmix_data_array_t*: effective groups who may
#define PMIX_ACCESS_PERMISSIONS "pmix.aperms"   // pmix_data_array_t*: who may access it
#define PMIX_ACCESS_USERIDS     "pmix.auids"    // pmix_data_array_t*: effective users who may

// Process sets and groups
#define PMIX_PSET_MEMBERS                 "pmix.pset.mems"   // pmix_data_array_t*: processes of the set
#define PMIX_PSET_NAME                    "pmix.pset.nm"     // char*: name of a process set
#define PMIX_PSET_NAMES                   "pmix.pset.nms"    // pmix_data_array_t*: sets that a process belongs to
#define PMIX_GROUP_ADD_MEMBERS            "pmix.grp.add"     // pmix_data_array_t*: members that do not call
#define PMIX_GROUP_ASSIGN_CONTEXT_ID      "pmix.grp.actxid"  // bool: the host gives the group a number
#define PMIX_GROUP_BOOTSTRAP              "pmix.grp.btstrp"  // size_t: how many callers there are, when they do not know each other
#define PMIX_GROUP_CONTEXT_ID             "pmix.grp.ctxid"   // size_t: number of the group
#define PMIX_GROUP_ENDPT_DATA             "pmix.grp.endpt"   // pmix_byte_object_t: data for all members
#define PMIX_GROUP_FINAL_MEMBERSHIP_ORDER "pmix.grp.finord"  // pmix_data_array_t*: order of the members
#define PMIX_GROUP_FT_COLLECTIVE          "pmix.grp.ftcoll"  // bool: go on without the processes that ended
#define PMIX_GROUP_ID                     "pmix.grp.id"      // char*: name of the group
#define PMIX_GROUP_INFO                   "pmix.grp.info"    // pmix_data_array_t*: infos for all members, the giver first
#define PMIX_GROUP_INFO_ARRAY             "pmix.grp.infoarray"  // pmix_data_array_t*: PMIX_GROUP_INFO of all members
#define PMIX_GROUP_JOB_INFO               "pmix.grp.jinfo"      // pmix_byte_object_t: facts of the members' jobs
#define PMIX_GROUP_LEADER                 "pmix.grp.ldr"        // bool: this process leads
#define PMIX_GROUP_LOCAL_CID              "pmix.grp.lclid"      // size_t: the member's own number for the group
#define PMIX_GROUP_LOCAL_ONLY             "pmix.grp.lcl"        // bool: all members are on this node
#define PMIX_GROUP_MEMBERSHIP             "pmix.grp.mbrs"       // pmix_data_array_t*: the members
#define PMIX_GROUP_NAMES                  "pmix.pgrp.nm"        // pmix_data_array_t*: groups that the process belongs to
#define PMIX_GROUP_NOTIFY_TERMINATION     "pmix.grp.notterm"    // bool: tell when a member ends without leaving
#define PMIX_GROUP_OPTIONAL               "pmix.grp.opt"        // bool: go on without those who decline

// Events
#define PMIX_EVENT_ACTION_TIMEOUT         "pmix.evtimeout"     // int: seconds until the RM acts on the event
#define PMIX_EVENT_AFFECTED_PROC          "pmix.evproc"        // pmix_proc_t*: process that it concerns
#define PMIX_EVENT_AFFECTED_PROCS         "pmix.evaffected"    // pmix_data_array_t*: processes that it concerns
#define PMIX_EVENT_CUSTOM_RANGE           "pmix.evrange"       // pmix_data_array_t*: processes that shall hear of it
#define PMIX_EVENT_DO_NOT_CACHE           "pmix.evnocache"     // bool: not for handlers that come later
#define PMIX_EVENT_HDLR_AFTER             "pmix.evafter"       // char*: after the handler of this name
#define PMIX_EVENT_HDLR_APPEND            "pmix.evappend"      // bool: last so far of its kind
#define PMIX_EVENT_HDLR_BEFORE            "pmix.evbefore"      // char*: before the handler of this name
#define PMIX_EVENT_HDLR_FIRST             "pmix.evfirst"       // bool: before all others
#define PMIX_EVENT_HDLR_FIRST_IN_CATEGORY "pmix.evfirstcat"    // bool: first of its kind
#define PMIX_EVENT_HDLR_LAST              "pmix.evlast"        // bool: after all others
#define PMIX_EVENT_HDLR_LAST_IN_CATEGORY  "pmix.evlastcat"     // bool: last of its kind
#define PMIX_EVENT_HDLR_NAME              "pmix.evname"        // char*: the handler's name
#define PMIX_EVENT_HDLR_PREPEND           "pmix.evprepend"     // bool: first so far of its kind
#define PMIX_EVENT_NON_DEFAULT            "pmix.evnondef"      // bool: not for handlers of every code
#define PMIX_EVENT_ONESHOT                "pmix.evone"         // bool: the handler runs once
#define PMIX_EVENT_PROXY                  "pmix.evproxy"       // pmix_proc_t*: server that passed it on
#define PMIX_EVENT_RETURN_OBJECT          "pmix.evobject"      // void*: what the handler is given as cbdata
#define PMIX_EVENT_SILENT_TERMINATION     "pmix.evsilentterm"  // bool: end without a report
#define PMIX_EVENT_STAYS_LOCAL            "pmix.evlocal"       // bool: not for the host
#define PMIX_EVENT_TERMINATE_JOB          "pmix.evterm.job"    // bool: the RM will end the job
#define PMIX_EVENT_TERMINATE_NODE         "pmix.evterm.node"   // bool: the RM will end what is on the node
#define PMIX_EVENT_TERMINATE_PROC         "pmix.evterm.proc"   // bool: the RM will end the process
#define PMIX_EVENT_TERMINATE_SESSION      "pmix.evterm.sess"   // bool: the RM will end the session
#define PMIX_EVENT_TEXT_MESSAGE           "pmix.evtext"        // char*: words for a person
#define PMIX_EVENT_TIMESTAMP              "pmix.evtstamp"      // time_t: when it happened

// Spawn: what is started, where and how
#define PMIX_PERSONALITY                      "pmix.pers"          // char*: programming model or language of the program
#define PMIX_HOST                             "pmix.host"          // char*: nodes to use, by comma
#define PMIX_ADD_HOST                         "pmix.addhost"       // char*: nodes to add
#define PMIX_ADD_HOSTFILE                     "pmix.addhostfile"   // char*: file of nodes to add
#define PMIX_PREFIX                           "pmix.prefix"        // char*: where the program's installation is
#define PMIX_WDIR                             "pmix.wdir"          // char*: working directory
#define PMIX_WDIR_USER_SPECIFIED              "pmix.wdir.user"     // bool: the user chose the working directory
#define PMIX_PRELOAD_BIN                      "pmix.preloadbin"    // bool: copy the program to the nodes first
#define PMIX_PRELOAD_FILES                    "pmix.preloadfiles"  // char*: files to copy to the nodes first
#define PMIX_PPR                              "pmix.ppr"           // char*: processes per resource, such as 2:node
#define PMIX_INDEX_ARGV                       "pmix.indxargv"      // bool: append the rank to the program's name
#define PMIX_CPUS_PER_PROC                    "pmix.cpuperproc"    // uint32_t: CPUs of one process
#define PMIX_NO_PROCS_ON_HEAD                 "pmix.nolocal"       // bool: none on the launcher's node
#define PMIX_NO_OVERSUBSCRIBE                 "pmix.noover"        // bool: not more processes than slots
#define PMIX_REPORT_BINDINGS                  "pmix.repbind"       // bool: print the bindings
#define PMIX_REPORT_CHILD_SEP                 "pmix.rptchildsep"   // bool: exit status of children apart from the parent's
#define PMIX_REPORT_PHYSICAL_CPUS             "pmix.repphys.cpus"  // bool: print bindings by physical CPU
#define PMIX_SET_SESSION_CWD                  "pmix.ssncwd"        // bool: work in the session's directory
#define PMIX_DISPLAY_ALLOCATION               "pmix.dispalloc"     // bool: print the allocation
#define PMIX_DISPLAY_MAP                      "pmix.dispmap"       // bool: print the map
#define PMIX_DISPLAY_MAP_DETAILED             "pmix.dispmapdet"    // bool: print the map with all details
#define PMIX_DISPLAY_PARSEABLE_OUTPUT         "pmix.dispparse"     // bool: print for programs, not for people
#define PMIX_DISPLAY_PROCESSORS               "pmix.dispcpus"      // char*: print the CPUs of these hosts
#define PMIX_DISPLAY_TOPOLOGY                 "pmix.disptopo"      // char*: print the topology of these hosts
#define PMIX_DO_NOT_LAUNCH                    "pmix.dnl"           // bool: prepare everything, start nothing
#define PMIX_SHOW_LAUNCH_PROGRESS             "pmix.showprog"      // bool: print how far the launch is
#define PMIX_RUNTIME_OPTIONS                  "pmix.runopt"        // char*: options for the runtime
#define PMIX_EXEC_AGENT                       "pmix.exec.agnt"     // char*: program that the daemons start instead
#define PMIX_FORKEXEC_AGENT                   "pmix.fe.agnt"       // char*: program that starts the processes
#define PMIX_SPAWN_CHILD_SEP                  "pmix.spchildsep"    // bool: the child does not end with the parent
#define PMIX_SPAWN_PTY                        "pmix.spawn.pty"     // bool: give it a pseudo-terminal
#define PMIX_SPAWN_TIMEOUT                    "pmix.sp.time"       // int: seconds that the spawn may take
#define PMIX_SPAWN_TOOL                       "pmix.spwn.tool"     // bool: what is spawned is a tool
#define PMIX_SPAWN_TARGET                     "pmix.spwn.tgt"      // char* or pmix_data_array_t*: allocations to use
#define PMIX_SPAWN_ALLOC                      "pmix.spwn.alloc"    // pmix_data_array_t*: what to allocate before the start
#define PMIX_COSPAWN_APP                      "pmix.cospawn"       // bool: the application is apart from the job
#define PMIX_COLOCATE_NPERNODE                "pmix.colnum.node"   // uint16_t: how many on the node of each
#define PMIX_COLOCATE_NPERPROC                "pmix.colnum.proc"   // uint16_t: how many beside each
#define PMIX_COLOCATE_PROCS                   "pmix.colproc"       // pmix_data_array_t*: processes beside which to start
#define PMIX_JOB_CONTINUOUS                   "pmix.continuous"    // bool: restart failed processes at once
#define PMIX_JOB_RECOVERABLE                  "pmix.recover"       // bool: the job survives failed processes
#define PMIX_MAX_RESTARTS                     "pmix.maxrestarts"   // uint32_t: restarts at most
#define PMIX_JOB_TIMEOUT                      "pmix.job.time"      // int: seconds that the job may take
#define PMIX_ABORT_NON_ZERO_TERM              "pmix.abnz"          // bool: an exit code other than 0 ends the job
#define PMIX_NOHUP                            "pmix.nohup"         // bool: live on when the session ends
#define PMIX_NOTIFY_COMPLETION                "pmix.notecomp"      // bool: tell when the job has ended
#define PMIX_NOTIFY_JOB_EVENTS                "pmix.note.jev"      // bool: tell of launch, end and the like
#define PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION "pmix.noteabproc"    // bool: tell when a process fails
#define PMIX_NOTIFY_PROC_TERMINATION          "pmix.noteproc"      // bool: tell when a process ends
#define PMIX_AGGREGATE_HELP                   "pmix.agg.help"      // bool: equal help messages once
#define PMIX_FWD_ENVIRONMENT                  "pmix.fwdenv"        // bool: pass the environment on
#define PMIX_PTY_TERMIO                       "pmix.pty.termio"    // pmix_byte_object_t: a struct termios
#define PMIX_PTY_WSIZE                        "pmix.pty.wsize"     // pmix_byte_object_t: a struct winsize
#define PMIX_ENVARS_HARVESTED                 "pmix.evar.hvstd"    // bool: the spawner has already collected the environment
#define PMIX_MEM_ALLOC_KIND                   "pmix.alloc.mkind"   // char*: kinds of memory, such as system,mpi

// Environment of what is started
#define PMIX_SET_ENVAR           "pmix.envar.set"     // pmix_envar_t*: set
#define PMIX_UNSET_ENVAR         "pmix.envar.unset"   // char*: unset the one of this name
#define PMIX_ADD_ENVAR           "pmix.envar.add"     // pmix_envar_t*: set unless it is set
#define PMIX_PREPEND_ENVAR       "pmix.envar.prepnd"  // pmix_envar_t*: put in front of it
#define PMIX_APPEND_ENVAR        "pmix.envar.appnd"   // pmix_envar_t*: put behind it
#define PMIX_FIRST_ENVAR         "pmix.envar.first"   // pmix_envar_t*: keep this in front
#define PMIX_SETUP_APP_ALL       "pmix.setup.all"     // bool: everything
#define PMIX_SETUP_APP_ENVARS    "pmix.setup.env"     // bool: environment variables only
#define PMIX_SETUP_APP_NONENVARS "pmix.setup.nenv"    // bool: everything but environment variables

// Debuggers
#define PMIX_DEBUGGER_DAEMONS       "pmix.debugger"    // bool: what is spawned are debugger daemons
#define PMIX_DEBUG_DAEMONS_PER_NODE "pmix.dbg.dpnd"    // uint16_t: so many on each node
#define PMIX_DEBUG_DAEMONS_PER_PROC "pmix.dbg.dpproc"  // uint16_t: so many for each process
#define PMIX_DEBUG_STOP_IN_APP      "pmix.dbg.notify"  // bool, or ranks: stop where the program chooses to
#define PMIX_DEBUG_STOP_IN_INIT     "pmix.dbg.init"    // bool, or ranks: stop in PMIx_Init
#define PMIX_DEBUG_STOP_ON_EXEC     "pmix.dbg.exec"    // bool, or ranks: stop at the first instruction
#define PMIX_DEBUG_TARGET           "pmix.dbg.tgt"     // pmix_proc_t*: process or job to debug
#define PMIX_BREAKPOINT             "pmix.brkpnt"      // char*: where it waits
#define PMIX_LAUNCH_DIRECTIVES      "pmix.lnch.dirs"   // pmix_data_array_t*: the tool's wishes for the launcher

// Forwarding of input and output
#define PMIX_FWD_STDDIAG             "pmix.fwd.stddiag"  // bool: pass the diagnostic stream on
#define PMIX_FWD_STDERR              "pmix.fwd.stderr"   // bool: pass standard error on
#define PMIX_FWD_STDIN               "pmix.fwd.stdin"    // bool or pmix_rank_t: pass standard input on, or to whom
#define PMIX_FWD_STDOUT              "pmix.fwd.stdout"   // bool: pass standard output on
#define PMIX_STDIN_TGT               "pmix.stdin"        // uint32_t or pmix_proc_t*: who gets standard input
#define PMIX_IOF_BUFFERING_SIZE      "pmix.iof.bsize"    // uint32_t: bytes to collect before the callback
#define PMIX_IOF_BUFFERING_TIME      "pmix.iof.btime"    // uint32_t: seconds to collect before the callback
#define PMIX_IOF_CACHE_SIZE          "pmix.iof.csize"    // uint32_t: bytes that the server keeps
#define PMIX_IOF_COMPLETE            "pmix.iof.cmp"      // bool: the channel has ended
#define PMIX_IOF_COPY                "pmix.iof.cpy"      // bool: a copy; the output goes on as before
#define PMIX_IOF_INHERIT             "pmix.iof.inhrt"    // bool: false: readers of the parent's output do not get this job's
#define PMIX_IOF_DROP_NEWEST         "pmix.iof.new"      // bool: when full, lose the newest
#define PMIX_IOF_DROP_OLDEST         "pmix.iof.old"      // bool: when full, lose the oldest
#define PMIX_IOF_FILE_ONLY           "pmix.iof.fonly"    // bool: to files only
#define PMIX_IOF_FILE_PATTERN        "pmix.iof.fpt"      // bool: the file name is a pattern
#define PMIX_IOF_LOCAL_OUTPUT        "pmix.iof.local"    // bool: write it here
#define PMIX_IOF_MERGE_STDERR_STDOUT "pmix.iof.mrg"      // bool: standard error goes with standard output
#define PMIX_IOF_OUTPUT_RAW          "pmix.iof.raw"      // bool: as it comes, not by lines
#define PMIX_IOF_OUTPUT_TO_DIRECTORY "pmix.iof.dir"      // char*: write DIR/JOB/rank.RANK/stdout and stderr
#define PMIX_IOF_OUTPUT_TO_FILE      "pmix.iof.file"     // char*: write FILE.RANK
#define PMIX_IOF_PUSH_STDIN          "pmix.iof.stdin"    // bool: take this process's standard input
#define PMIX_IOF_RANK_OUTPUT         "pmix.iof.rank"     // bool: mark lines with the rank
#define PMIX_IOF_REDIRECT            "pmix.iof.redir"    // bool: take the output away from where it goes
#define PMIX_IOF_TAG_DETAILED_OUTPUT "pmix.iof.tagdet"   // bool: mark lines with job, rank, host and process ID
#define PMIX_IOF_TAG_FULLNAME_OUTPUT "pmix.iof.tagfull"  // bool: mark lines with namespace and rank
#define PMIX_IOF_TAG_OUTPUT          "pmix.iof.tag"      // bool: mark lines with job, rank and channel
#define PMIX_IOF_TIMESTAMP_OUTPUT    "pmix.iof.ts"       // bool: mark lines with the time
#define PMIX_IOF_XML_OUTPUT          "pmix.iof.xml"      // bool: write XML

// Queries: the questions, and qualifiers of them
#define PMIX_QUERY_ALLOCATION              "pmix.query.allc"        // pmix_data_array_t*: nodes that the server knows
#define PMIX_QUERY_ALLOC_STATUS            "pmix.query.alloc"       // char*: state of a request for an allocation
#define PMIX_QUERY_ALLOC_IDS               "pmix.query.alloc.ids"   // pmix_data_array_t*: PMIX_ALLOC_ID of each allocation known
#define PMIX_QUERY_ALLOC_PROPERTIES        "pmix.query.alloc.prop"  // pmix_data_array_t*: infos about one allocation
#define PMIX_QUERY_ATTRIBUTE_SUPPORT       "pmix.qry.attrs"         // bool or pmix_data_array_t*: attributes by function
#define PMIX_QUERY_AUTHORIZATIONS          "pmix.qry.auths"         // bool or pmix_data_array_t*: what the caller may do
#define PMIX_QUERY_AVAILABLE_SLOTS         "pmix.qry.aslots"        // uint32_t: free slots at this moment
#define PMIX_QUERY_AVAIL_SERVERS           "pmix.qry.asrvrs"        // pmix_data_array_t*: servers that one can connect to
#define PMIX_QUERY_DEBUG_SUPPORT           "pmix.qry.debug"         // bool or char*: what debuggers are offered
#define PMIX_QUERY_DEVICES                 "pmix.qry.dev"           // pmix_data_array_t*: devices of the node
#define PMIX_QUERY_GROUP_MEMBERSHIP        "pmix.qry.pgrpmems"      // pmix_data_array_t*: members of a group
#define PMIX_QUERY_GROUP_NAMES             "pmix.qry.pgrp"          // pmix_data_array_t*: all groups
#define PMIX_QUERY_JOB_STATUS              "pmix.qry.jst"           // pmix_status_t: state of a job
#define PMIX_QUERY_LOCAL_ONLY              "pmix.qry.local"         // bool: do not ask beyond the local server
#define PMIX_QUERY_LOCAL_PROC_TABLE        "pmix.qry.lptable"       // char* or pmix_data_array_t*: processes of a job on this node
#define PMIX_QUERY_MEMORY_USAGE            "pmix.qry.mem"           // bool or pmix_data_array_t*: memory in use
#define PMIX_QUERY_MIN_ALLOC_UNIT          "pmix.qry.minau"         // pmix_data_array_t*: the least that can be allocated
#define PMIX_QUERY_NAMESPACES              "pmix.qry.ns"            // char*: all jobs, by comma
#define PMIX_QUERY_NAMESPACE_INFO          "pmix.qry.nsinfo"        // pmix_data_array_t*: all jobs with their commands
#define PMIX_QUERY_NODE_RESOURCE_USAGE     "pmix.qry.nres"          // char*: usage of a node
#define PMIX_QUERY_NUM_GROUPS              "pmix.qry.pgrpnum"       // size_t: how many groups there are
#define PMIX_QUERY_NUM_PSETS               "pmix.qry.psetnum"       // size_t: how many process sets there are
#define PMIX_QUERY_PROC_RESOURCE_USAGE     "pmix.qry.pres"          // pmix_proc_t*: usage of a process
#define PMIX_QUERY_PROC_TABLE              "pmix.qry.ptable"        // char* or pmix_data_array_t*: processes of a job
#define PMIX_QUERY_PROVISIONAL_ABI_VERSION "pmix.qry.prabiver"      // char*: provisional ABI that is supported
#define PMIX_QUERY_PSET_MEMBERSHIP         "pmix.qry.pmems"         // pmix_data_array_t*: members of a process set
#define PMIX_QUERY_PSET_NAMES              "pmix.qry.psets"         // pmix_data_array_t* or char*: all process sets
#define PMIX_QUERY_QUALIFIERS              "pmix.qry.quals"         // pmix_data_array_t*: qualifiers that the results belong to
#define PMIX_QUERY_QUEUE_LIST              "pmix.qry.qlst"          // char*: the scheduler's queues
#define PMIX_QUERY_QUEUE_STATUS            "pmix.qry.qst"           // char* or pmix_data_array_t*: state of a queue
#define PMIX_QUERY_REFRESH_CACHE           "pmix.qry.rfsh"          // bool: ask anew
#define PMIX_QUERY_REPORT_AVG              "pmix.qry.avg"           // bool: mean values only
#define PMIX_QUERY_REPORT_MINMAX           "pmix.qry.minmax"        // bool: least and greatest values only
#define PMIX_QUERY_RESOLVE_NODE            "pmix.qry.node"          // char*: nodes of a job
#define PMIX_QUERY_RESOLVE_PEERS           "pmix.qry.peers"         // pmix_data_array_t*: processes of a job on a node
#define PMIX_QUERY_RESULTS                 "pmix.qry.res"           // pmix_data_array_t*: results of one query
#define PMIX_QUERY_RES_BLOCKS              "pmix.qry.resblks"       // pmix_data_array_t*: all resource blocks
#define PMIX_QUERY_RES_BLOCK_DEF           "pmix.qry.resdef"        // pmix_data_array_t*: what a resource block consists of
#define PMIX_QUERY_SPAWN_SUPPORT           "pmix.qry.spawn"         // bool or char*: attributes that spawn supports
#define PMIX_QUERY_STABLE_ABI_VERSION      "pmix.qry.stabiver"      // char*: stable ABI that is supported
#define PMIX_QUERY_STORAGE_LIST            "pmix.strg.list"         // char*: storage systems
#define PMIX_QUERY_SUPPORTED_KEYS          "pmix.qry.keys"          // char*: keys that can be asked for
#define PMIX_QUERY_SUPPORTED_QUALIFIERS    "pmix.qry.supqual"       // char* or bool: qualifiers that can be given
#define PMIX_CLIENT_FUNCTIONS              "pmix.client.fns"        // bool or char*: functions that the client library supports
#define PMIX_CLIENT_ATTRIBUTES             "pmix.client.attrs"      // bool or char*: what the client library supports, by function
#define PMIX_HOST_FUNCTIONS                "pmix.host.fns"          // bool or char*: functions that the host supports
#define PMIX_HOST_ATTRIBUTES               "pmix.host.attrs"        // bool or char*: what the host supports, by function
#define PMIX_PROC_STATE_STATUS             "pmix.proc.state"        // pmix_proc_state_t: state of a process
#define PMIX_PROC_TERM_STATUS              "pmix.proc.term.status"  // pmix_status_t: how a process ended
#define PMIX_JOB_TERM_STATUS               "pmix.job.term.status"   // pmix_status_t: how a job ended
#define PMIX_TIME_REMAINING                "pmix.time.remaining"    // char* or uint32_t: seconds left of the allocation
#define PMIX_MAX_VALUE                     "pmix.descr.maxval"      // varies: greatest value that is valid
#define PMIX_MIN_VALUE                     "pmix.descr.minval"      // varies: least value that is valid
#define PMIX_ENUM_VALUE                    "pmix.descr.enum"        // char*: all values that are valid, by comma

// Logs
#define PMIX_LOG_AGG                       "pmix.log.agg"       // bool: equal messages once
#define PMIX_LOG_COMPLETION                "pmix.logcomp"       // bool: log the end of the job
#define PMIX_LOG_EMAIL                     "pmix.log.email"     // pmix_data_array_t*: send by email
#define PMIX_LOG_EMAIL_ADDR                "pmix.log.emaddr"    // char*: to whom, by comma
#define PMIX_LOG_EMAIL_MSG                 "pmix.log.emmsg"     // char*: the text
#define PMIX_LOG_EMAIL_SENDER_ADDR         "pmix.log.emfaddr"   // char*: from whom
#define PMIX_LOG_EMAIL_SERVER              "pmix.log.esrvr"     // char*: mail server
#define PMIX_LOG_EMAIL_SRVR_PORT           "pmix.log.esrvrprt"  // int32_t: its port
#define PMIX_LOG_EMAIL_SUBJECT             "pmix.log.emsub"     // char*: the subject
#define PMIX_LOG_GENERATE_TIMESTAMP        "pmix.log.gtstmp"    // bool: take the time of the call
#define PMIX_LOG_GLOBAL_DATASTORE          "pmix.log.gstore"    // bool: into the data base of the system
#define PMIX_LOG_GLOBAL_SYSLOG             "pmix.log.gsys"      // char*: into the syslog of the system
#define PMIX_LOG_JOB_EVENTS                "pmix.log.jev"       // bool: log the events of the job
#define PMIX_LOG_JOB_RECORD                "pmix.log.jrec"      // bool: into the job's record
#define PMIX_LOG_KEY                       "pmix.log.key"       // char*: key of a message
#define PMIX_LOG_LOCAL_SYSLOG              "pmix.log.lsys"      // char*: into the syslog of this node
#define PMIX_LOG_MSG                       "pmix.log.msg"       // pmix_byte_object_t: the bytes to log
#define PMIX_LOG_ONCE                      "pmix.log.once"      // bool: into the first of the channels that works
#define PMIX_LOG_PROC_ABNORMAL_TERMINATION "pmix.logabproc"     // bool: log when a process fails
#define PMIX_LOG_PROC_TERMINATION          "pmix.logproc"       // bool: log when a process ends
#define PMIX_LOG_SOURCE                    "pmix.log.source"    // pmix_proc_t*: whose message it is
#define PMIX_LOG_STDERR                    "pmix.log.stderr"    // char*: to standard error
#define PMIX_LOG_STDOUT                    "pmix.log.stdout"    // char*: to standard output
#define PMIX_LOG_SYSLOG                    "pmix.log.syslog"    // char*: into the syslog
#define PMIX_LOG_SYSLOG_PRI                "pmix.log.syspri"    // int: priority in the syslog
#define PMIX_LOG_TAG_OUTPUT                "pmix.log.tag"       // bool: mark lines with the source
#define PMIX_LOG_TIMESTAMP                 "pmix.log.tstmp"     // time_t: when it happened
#define PMIX_LOG_TIMESTAMP_OUTPUT          "pmix.log.tsout"     // bool: mark lines with the time
#define PMIX_LOG_VAL                       "pmix.log.val"       // char*: value of a message
#define PMIX_LOG_XML_OUTPUT                "pmix.log.xml"       // bool: write XML

// Allocations and resource blocks
#define PMIX_ALLOC_BANDWIDTH          "pmix.alloc.bw"          // float: Mbit/s
#define PMIX_ALLOC_BEGIN              "pmix.alloc.begin"       // char*: not before this time
#define PMIX_ALLOC_CHILD_SEP          "pmix.alloc.sep"         // bool: it does not end with its parent
#define PMIX_ALLOC_CPU_LIST           "pmix.alloc.cpulist"     // char*: CPUs, as a regex
#define PMIX_ALLOC_DEPENDENCY         "pmix.alloc.depend"      // char*: what must have ended well before
#define PMIX_ALLOC_EXCLUDE            "pmix.alloc.exclude"     // char*: nodes not to take, as a regex
#define PMIX_ALLOC_FABRIC             "pmix.alloc.net"         // pmix_data_array_t*: what is wanted of a fabric
#define PMIX_ALLOC_FABRIC_ENDPTS      "pmix.alloc.endpts"      // size_t: endpoints per process
#define PMIX_ALLOC_FABRIC_ENDPTS_NODE "pmix.alloc.endpts.nd"   // size_t: endpoints per node
#define PMIX_ALLOC_FABRIC_ID          "pmix.alloc.netid"       // char*: name of the request for a fabric
#define PMIX_ALLOC_FABRIC_PLANE       "pmix.alloc.netplane"    // char*: plane of the fabric
#define PMIX_ALLOC_FABRIC_QOS         "pmix.alloc.netqos"      // char*: quality of service
#define PMIX_ALLOC_FABRIC_SEC_KEY     "pmix.alloc.nsec"        // pmix_byte_object_t: security key
#define PMIX_ALLOC_FABRIC_TYPE        "pmix.alloc.nettype"     // char*: kind of transport
#define PMIX_ALLOC_ID                 "pmix.alloc.id"          // char*: the host's name of the allocation
#define PMIX_ALLOC_REQ_DIRECTIVE      "pmix.alloc.dir"         // pmix_alloc_directive_t: the directive of a request that is data
#define PMIX_ALLOC_PROPERTY           "pmix.alloc.property"    // char*: name of one property
#define PMIX_ALLOC_RELEASABLE         "pmix.alloc.releasable"  // bool: all of it may be given back
#define PMIX_ALLOC_SEQUENCE           "pmix.alloc.seq"         // uint32_t: in which order allocations were made
#define PMIX_ALLOC_WARN_TIMEOUT       "pmix.alloc.wtmo"        // uint32_t: seconds before its end at which to warn
#define PMIX_ALLOC_STATUS             "pmix.alloc.status"      // pmix_status_t: the result of a request
#define PMIX_ALLOC_TARGET             "pmix.alloc.tgt"         // char*: namespace that it is for
#define PMIX_ALLOC_IMAGE              "pmix.alloc.image"       // char*: image that the nodes shall run
#define PMIX_ALLOC_INHERITANCE        "pmix.alloc.inhrt"       // pmix_alloc_inheritance_t: what becomes of it when its owner ends
#define PMIX_ALLOC_LEND               "pmix.alloc.lend"        // char*: time until what is lent comes back
#define PMIX_ALLOC_MAU                "pmix.alloc.mau"         // pmix_data_array_t*: the least that can be allocated
#define PMIX_ALLOC_MEM_SIZE           "pmix.alloc.msize"       // float: memory in MB
#define PMIX_ALLOC_NODE_LIST          "pmix.alloc.nlist"       // char*: nodes, as a regex
#define PMIX_ALLOC_NOSHELL            "pmix.alloc.noshell"     // bool: allocate and run nothing
#define PMIX_ALLOC_NOT_WAITING        "pmix.alloc.notwait"     // bool: the caller does not wait; start the job when it can
#define PMIX_ALLOC_NUM_BLOCKS         "pmix.alloc.nblks"       // uint64_t: how many blocks
#define PMIX_ALLOC_NUM_CPUS           "pmix.alloc.ncpus"       // uint64_t: how many CPUs
#define PMIX_ALLOC_NUM_CPU_LIST       "pmix.alloc.ncpulist"    // char*: how many CPUs on each node
#define PMIX_ALLOC_NUM_NODES          "pmix.alloc.nnodes"      // uint64_t: how many nodes
#define PMIX_ALLOC_PREEMPTIBLE        "pmix.alloc.preempt"     // bool: it may be taken away
#define PMIX_ALLOC_QUEUE              "pmix.alloc.queue"       // char*: queue
#define PMIX_ALLOC_REQ_ID             "pmix.alloc.reqid"       // char*: the caller's name of the request
#define PMIX_ALLOC_RES_BLOCK          "pmix.alloc.blk"         // char*: name of a resource block
#define PMIX_ALLOC_SHARE              "pmix.alloc.share"       // bool: others may share it
#define PMIX_ALLOC_TIME               "pmix.alloc.time"  // char* or uint32_t: how long: seconds, or months:days:hours:minutes:seconds
#define PMIX_ALLOC_WAIT_ALL_NODES     "pmix.alloc.waitall"  // bool: start when all nodes are there
#define PMIX_RESOURCE_BLOCK_NAME      "pmix.resblkname"     // char*: the block that is asked about

// Control of jobs and sessions, cleaning up
#define PMIX_JOB_CTRL_CANCEL             "pmix.jctrl.cancel"    // char*: cancel the request of this name; NULL: all
#define PMIX_JOB_CTRL_CHECKPOINT         "pmix.jctrl.ckpt"      // char*: checkpoint under this name
#define PMIX_JOB_CTRL_CHECKPOINT_EVENT   "pmix.jctrl.ckptev"    // bool: by an event
#define PMIX_JOB_CTRL_CHECKPOINT_METHOD  "pmix.jctrl.ckmethod"  // pmix_data_array_t*: ways that the program knows
#define PMIX_JOB_CTRL_CHECKPOINT_SIGNAL  "pmix.jctrl.ckptsig"   // int: by this signal
#define PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT "pmix.jctrl.ckpttime"  // int: seconds that it may take
#define PMIX_JOB_CTRL_DEFINE_PSET        "pmix.jctrl.defpset"   // char*: make the targets a process set
#define PMIX_JOB_CTRL_ID                 "pmix.jctrl.id"        // char*: name of this request
#define PMIX_JOB_CTRL_KILL               "pmix.jctrl.kill"      // bool: end at once
#define PMIX_JOB_CTRL_PAUSE              "pmix.jctrl.pause"     // bool: pause
#define PMIX_JOB_CTRL_PREEMPTIBLE        "pmix.jctrl.preempt"   // bool: the job may be preempted
#define PMIX_JOB_CTRL_PROVISION          "pmix.jctrl.pvn"       // char*: nodes to prepare, as a regex
#define PMIX_JOB_CTRL_PROVISION_IMAGE    "pmix.jctrl.pvnimg"    // char*: image to prepare them with
#define PMIX_JOB_CTRL_RESTART            "pmix.jctrl.restart"   // char*: restart from this checkpoint
#define PMIX_JOB_CTRL_RESUME             "pmix.jctrl.resume"    // bool: go on
#define PMIX_JOB_CTRL_SEP                "pmix.jctrl.sep"       // bool: it does not end with its parent
#define PMIX_JOB_CTRL_SIGNAL             "pmix.jctrl.sig"       // int: send this signal
#define PMIX_JOB_CTRL_TERMINATE          "pmix.jctrl.term"      // bool: end in order
#define PMIX_SESSION_APP                 "pmix.ssn.app"         // pmix_data_array_t*: programs to run in it
#define PMIX_SESSION_COMPLETE            "pmix.ssn.complete"    // bool: it has ended and its resources are free
#define PMIX_SESSION_CTRL_ID             "pmix.ssnctrl.id"      // char*: name of this request
#define PMIX_SESSION_EXTEND              "pmix.ssn.xtend"       // bool: more time or resources
#define PMIX_SESSION_INSTANTIATE         "pmix.ssn.inst"        // bool: start it
#define PMIX_SESSION_JOB                 "pmix.ssn.job"         // pmix_data_array_t*: job info for PMIX_SESSION_APP
#define PMIX_SESSION_PAUSE               "pmix.ssn.pause"       // bool: pause its jobs
#define PMIX_SESSION_PREEMPT             "pmix.ssn.preempt"     // bool: stop jobs and take their resources
#define PMIX_SESSION_PROVISION           "pmix.ssn.pvn"         // pmix_data_array_t*: nodes to prepare, and with what
#define PMIX_SESSION_PROVISION_IMAGE     "pmix.ssn.pvnimg"      // char*: image to prepare them with
#define PMIX_SESSION_PROVISION_NODES     "pmix.ssn.pvnnds"      // char*: nodes to prepare, as a regex
#define PMIX_SESSION_RESOURCES           "pmix.ssn.res"         // pmix_data_array_t*: what it consists of
#define PMIX_SESSION_RESTORE             "pmix.ssn.restore"     // bool: give preempted jobs their resources back
#define PMIX_SESSION_RESUME              "pmix.ssn.resume"      // bool: its jobs go on
#define PMIX_SESSION_SEP                 "pmix.ssn.sep"         // bool: it does not end with its parent
#define PMIX_SESSION_SIGNAL              "pmix.ssn.sig"         // int: send its processes this signal
#define PMIX_SESSION_TERMINATE           "pmix.ssn.terminate"   // bool: end it and all in it
#define PMIX_REGISTER_CLEANUP            "pmix.reg.cleanup"     // char*: files to remove at the end, by comma
#define PMIX_REGISTER_CLEANUP_DIR        "pmix.reg.cleanupdir"  // char*: directories to remove at the end, by comma
#define PMIX_CLEANUP_EMPTY               "pmix.clnup.empty"     // bool: empty directories only
#define PMIX_CLEANUP_IGNORE              "pmix.clnup.ignore"    // char*: files to leave, by comma
#define PMIX_CLEANUP_LEAVE_TOPDIR        "pmix.clnup.lvtop"     // bool: but not the directory itself
#define PMIX_CLEANUP_RECURSIVE           "pmix.clnup.recurse"   // bool: with all below

// Monitoring, and what it reports
#define PMIX_MONITOR_APP_CONTROL         "pmix.monitor.appctrl"    // bool: the program decides what follows
#define PMIX_MONITOR_CANCEL              "pmix.monitor.cancel"     // char*: cancel the monitor of this name; NULL: all
#define PMIX_MONITOR_DISK_RESOURCE_USAGE "pmix.monitor.dkresuse"   // pmix_data_array_t*: what of disks to report
#define PMIX_MONITOR_FILE                "pmix.monitor.fmon"       // char*: watch this file
#define PMIX_MONITOR_FILE_ACCESS         "pmix.monitor.faccess"    // char*: when it was read
#define PMIX_MONITOR_FILE_CHECK_TIME     "pmix.monitor.ftime"      // uint32_t: seconds between looks
#define PMIX_MONITOR_FILE_DROPS          "pmix.monitor.fdrop"      // uint32_t: looks without a change before the event
#define PMIX_MONITOR_FILE_MODIFY         "pmix.monitor.fmod"       // char*: when it was written
#define PMIX_MONITOR_FILE_SIZE           "pmix.monitor.fsize"      // bool: whether it grows
#define PMIX_MONITOR_HEARTBEAT           "pmix.monitor.mbeat"      // bool: watch the caller's heartbeat
#define PMIX_MONITOR_HEARTBEAT_DROPS     "pmix.monitor.bdrop"      // uint32_t: beats missed before the event
#define PMIX_MONITOR_HEARTBEAT_TIME      "pmix.monitor.btime"      // uint32_t: seconds between beats
#define PMIX_MONITOR_ID                  "pmix.monitor.id"         // char*: name of this monitor
#define PMIX_MONITOR_LOCAL_ONLY          "pmix.monitor.local"      // bool: this node only
#define PMIX_MONITOR_NET_RESOURCE_USAGE  "pmix.monitor.netresuse"  // pmix_data_array_t*: what of networks to report
#define PMIX_MONITOR_NODE_RESOURCE_USAGE "pmix.monitor.ndresuse"   // pmix_data_array_t*: what of nodes to report
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"    // pmix_data_array_t*: what of processes to report
#define PMIX_MONITOR_PROXY               "pmix.monitor.proxy"      // pmix_proc_t*: for whom, if not for the caller
#define PMIX_MONITOR_RESOURCE_RATE       "pmix.monitor.resrate"    // uint32_t: seconds between reports
#define PMIX_MONITOR_TARGET_DISKS        "pmix.monitor.tgtdks"     // pmix_data_array_t*: which disks
#define PMIX_MONITOR_TARGET_NETS         "pmix.monitor.tgtnets"    // pmix_data_array_t*: which networks
#define PMIX_MONITOR_TARGET_NODEIDS      "pmix.monitor.tgtndids"   // pmix_data_array_t*: which nodes, by number
#define PMIX_MONITOR_TARGET_NODES        "pmix.monitor.tgtnode"    // pmix_data_array_t*: which nodes, by name
#define PMIX_MONITOR_TARGET_PIDS         "pmix.monitor.tgtpid"     // pmix_data_array_t*: which processes, by node and process ID
#define PMIX_MONITOR_TARGET_PROCS        "pmix.monitor.tgtproc"    // pmix_data_array_t*: which processes
#define PMIX_SEND_HEARTBEAT              "pmix.monitor.beat"       // bool: one beat
#define PMIX_PROC_CPU                    "pmix.proc.cpu"           // uint16_t: CPU that it last ran on
#define PMIX_PROC_NUM_THREADS            "pmix.proc.nthr"          // uint16_t: threads
#define PMIX_PROC_OS_STATE               "pmix.proc.osstate"       // char*: state in the operating system
#define PMIX_PROC_PEAK_VSIZE             "pmix.proc.pkvsize"       // float: greatest virtual size in MB
#define PMIX_PROC_PERCENT_CPU            "pmix.proc.pcpu"          // float: per cent of one CPU
#define PMIX_PROC_PRIORITY               "pmix.proc.pri"           // int32_t: priority
#define PMIX_PROC_PSS                    "pmix.proc.pss"           // float: proportional share of memory in MB
#define PMIX_PROC_RESOURCE_USAGE         "pmix.proc.res"           // pmix_data_array_t*: all of a process
#define PMIX_PROC_RSS                    "pmix.proc.rss"           // float: resident size in MB
#define PMIX_PROC_SAMPLE_TIME            "pmix.proc.samptime"      // time_t: when it was measured
#define PMIX_PROC_TIME                   "pmix.proc.time"          // struct timeval: CPU time
#define PMIX_PROC_VSIZE                  "pmix.proc.vsize"         // float: virtual size in MB
#define PMIX_NODE_LOAD_AVG               "pmix.node.la"            // float: mean load of a minute
#define PMIX_NODE_LOAD_AVG15             "pmix.node.la15"          // float: of 15 minutes
#define PMIX_NODE_LOAD_AVG5              "pmix.node.la5"           // float: of 5 minutes
#define PMIX_NODE_MEM_BUFFERS            "pmix.node.mbuf"          // float: MB in buffers
#define PMIX_NODE_MEM_CACHED             "pmix.node.mcache"        // float: MB cached
#define PMIX_NODE_MEM_FREE               "pmix.node.mfree"         // float: MB free
#define PMIX_NODE_MEM_MAPPED             "pmix.node.mmap"          // float: MB mapped
#define PMIX_NODE_MEM_SWAP_CACHED        "pmix.node.mswpc"         // float: MB of swap cached
#define PMIX_NODE_MEM_SWAP_FREE          "pmix.node.mswpfree"      // float: MB of swap free
#define PMIX_NODE_MEM_TOTAL              "pmix.node.mtot"          // float: MB of memory
#define PMIX_NODE_RESOURCE_USAGE         "pmix.node.res"           // pmix_data_array_t*: all of a node
#define PMIX_NODE_SAMPLE_TIME            "pmix.node.samptime"      // time_t: when it was measured
#define PMIX_NODE_SWAP_TOTAL             "pmix.node.mswpt"         // float: MB of swap
#define PMIX_DISK_ID                     "pmix.disk.id"            // char*: name of a disk
#define PMIX_DISK_IO_IN_PROGRESS         "pmix.disk.ios"           // uint64_t: operations under way
#define PMIX_DISK_IO_MILLISEC            "pmix.disk.ioms"          // uint64_t: ms with operations under way
#define PMIX_DISK_IO_WEIGHTED            "pmix.disk.iowght"        // uint64_t: ms times operations under way
#define PMIX_DISK_READ_COMPLETED         "pmix.disk.rdscomp"       // uint64_t: reads
#define PMIX_DISK_READ_MERGED            "pmix.disk.rdsmrgd"       // uint64_t: reads that were merged
#define PMIX_DISK_READ_MILLISEC          "pmix.disk.rdms"          // uint64_t: ms in reads
#define PMIX_DISK_READ_SECTORS           "pmix.disk.rdsct"         // uint64_t: sectors read
#define PMIX_DISK_RESOURCE_USAGE         "pmix.disk.res"           // pmix_data_array_t*: all of a disk
#define PMIX_DISK_SAMPLE_TIME            "pmix.disk.samptime"      // time_t: when it was measured
#define PMIX_DISK_WRITE_COMPLETED        "pmix.disk.wtscomp"       // uint64_t: writes
#define PMIX_DISK_WRITE_MERGED           "pmix.disk.wtsmrgd"       // uint64_t: writes that were merged
#define PMIX_DISK_WRITE_MILLISEC         "pmix.disk.wtms"          // uint64_t: ms in writes
#define PMIX_DISK_WRITE_SECTORS          "pmix.disk.wtsct"         // uint64_t: sectors written
#define PMIX_NETWORK_ID                  "pmix.net.id"             // char*: name of an interface
#define PMIX_NETWORK_RESOURCE_USAGE      "pmix.net.res"            // pmix_data_array_t*: all of an interface
#define PMIX_NET_RECVD_BYTES             "pmix.net.rcb"            // uint64_t: bytes received
#define PMIX_NET_RECVD_ERRS              "pmix.net.rcerr"          // uint64_t: errors in receiving
#define PMIX_NET_RECVD_PCKTS             "pmix.net.rcp"            // uint64_t: packets received
#define PMIX_NET_SAMPLE_TIME             "pmix.net.samptime"       // time_t: when it was measured
#define PMIX_NET_SENT_BYTES              "pmix.net.sntb"           // uint64_t: bytes sent
#define PMIX_NET_SENT_ERRS               "pmix.net.snterr"         // uint64_t: errors in sending
#define PMIX_NET_SENT_PCKTS              "pmix.net.sntp"           // uint64_t: packets sent

// Security
#define PMIX_CREDENTIAL "pmix.cred"       // char*: a credential
#define PMIX_CRED_TYPE  "pmix.sec.ctype"  // char*: kinds in order of preference, or the kind that it is
#define PMIX_CRYPTO_KEY "pmix.sec.key"    // pmix_byte_object_t: key for a cipher

// Fabrics
#define PMIX_FABRIC_COORDINATES        "pmix.fab.coord"        // pmix_data_array_t*: coordinates of a process's devices
#define PMIX_FABRIC_COST_MATRIX        "pmix.fab.cm"           // void*: cost from each device to each, uint16_t
#define PMIX_FABRIC_DEVICE             "pmix.fabdev"           // pmix_data_array_t*: facts about one device
#define PMIX_FABRIC_DEVICES            "pmix.fab.devs"         // pmix_data_array_t*: devices of a node
#define PMIX_FABRIC_DEVICE_ADDRESS     "pmix.fabdev.addr"      // char*: address, such as MAC or GUID
#define PMIX_FABRIC_DEVICE_BUS_TYPE    "pmix.fabdev.btyp"      // char*: bus that it is on
#define PMIX_FABRIC_DEVICE_COORDINATES "pmix.fabdev.coord"     // pmix_geometry_t*: coordinates of the device
#define PMIX_FABRIC_DEVICE_DRIVER      "pmix.fabdev.driver"    // char*: driver
#define PMIX_FABRIC_DEVICE_FIRMWARE    "pmix.fabdev.fmwr"      // char*: firmware
#define PMIX_FABRIC_DEVICE_INDEX       "pmix.fabdev.idx"       // uint32_t: number of the device on the fabric
#define PMIX_FABRIC_DEVICE_MTU         "pmix.fabdev.mtu"       // size_t: bytes in a packet at most
#define PMIX_FABRIC_DEVICE_NAME        "pmix.fabdev.nm"        // char*: name that the operating system gives
#define PMIX_FABRIC_DEVICE_PCI_DEVID   "pmix.fabdev.pcidevid"  // char*: PCI address
#define PMIX_FABRIC_DEVICE_SPEED       "pmix.fabdev.speed"     // size_t: bits per second
#define PMIX_FABRIC_DEVICE_STATE       "pmix.fabdev.state"     // pmix_link_state_t: whether its link is up
#define PMIX_FABRIC_DEVICE_TYPE        "pmix.fabdev.type"      // char*: kind of fabric
#define PMIX_FABRIC_DEVICE_VENDOR      "pmix.fabdev.vndr"      // char*: vendor
#define PMIX_FABRIC_DEVICE_VENDORID    "pmix.fabdev.vendid"    // char*: the vendor's number
#define PMIX_FABRIC_DIMS               "pmix.fab.dims"         // uint32_t: how many dimensions it has
#define PMIX_FABRIC_ENDPT              "pmix.fab.endpt"        // pmix_data_array_t*: endpoints of a process
#define PMIX_FABRIC_GROUPS             "pmix.fab.grps"         // char*: nodes of each group: 0:n0,n2;1:n1,n3
#define PMIX_FABRIC_IDENTIFIER         "pmix.fab.id"           // char*: name of the fabric
#define PMIX_FABRIC_INDEX              "pmix.fab.idx"          // size_t: number of the fabric
#define PMIX_FABRIC_NUM_DEVICES        "pmix.fab.nverts"       // size_t: devices on it
#define PMIX_FABRIC_PLANE              "pmix.fab.plane"        // char*: name of a plane
#define PMIX_FABRIC_SHAPE              "pmix.fab.shape"        // pmix_data_array_t*: size of each dimension
#define PMIX_FABRIC_SHAPE_STRING       "pmix.fab.shapestr"     // char*: the same as a string: 10x12x2
#define PMIX_FABRIC_SWITCH             "pmix.fab.switch"       // char*: name of a switch
#define PMIX_FABRIC_VENDOR             "pmix.fab.vndr"         // char*: vendor
#define PMIX_SWITCH_PEERS              "pmix.speers"           // pmix_data_array_t* or char*: ranks on the same switch

// Storage
#define PMIX_STORAGE_ACCESSIBILITY       "pmix.strg.access"   // pmix_storage_accessibility_t: from where it can be reached
#define PMIX_STORAGE_ACCESS_TYPE         "pmix.strg.atype"    // pmix_storage_access_type_t: read, write or both
#define PMIX_STORAGE_BW_CUR              "pmix.strg.bwcur"    // double: bytes/s at this moment
#define PMIX_STORAGE_BW_MAX              "pmix.strg.bwmax"    // double: bytes/s at most
#define PMIX_STORAGE_CAPACITY_LIMIT      "pmix.strg.cap"      // double or uint64_t: bytes that fit
#define PMIX_STORAGE_CAPACITY_USED       "pmix.strg.capuse"   // double: bytes in use
#define PMIX_STORAGE_ID                  "pmix.strg.id"       // char*: name of a storage system
#define PMIX_STORAGE_IOPS_CUR            "pmix.strg.iopscur"  // double: operations/s at this moment
#define PMIX_STORAGE_IOPS_MAX            "pmix.strg.iopsmax"  // double: operations/s at most
#define PMIX_STORAGE_MEDIUM              "pmix.strg.medium"   // pmix_storage_medium_t: media that it uses
#define PMIX_STORAGE_MINIMAL_XFER_SIZE   "pmix.strg.minxfer"  // double: bytes below which it is slow
#define PMIX_STORAGE_OBJECTS_USED        "pmix.strg.objuse"   // uint64_t: objects in use
#define PMIX_STORAGE_OBJECT_LIMIT        "pmix.strg.obj"      // uint64_t: objects that fit
#define PMIX_STORAGE_PATH                "pmix.strg.path"     // char*: where it is mounted
#define PMIX_STORAGE_PERSISTENCE         "pmix.strg.persist"  // pmix_storage_persistence_t: how long data stays
#define PMIX_STORAGE_SUGGESTED_XFER_SIZE "pmix.strg.sxfer"    // double: bytes at which it is fastest
#define PMIX_STORAGE_TYPE                "pmix.strg.type"     // char*: kind, such as lustre
#define PMIX_STORAGE_VERSION             "pmix.strg.ver"      // char*: its version

// ---------------------------------------------------------------------------------------------------------
// Memory and bounded strings, for sources that use them by these names

static inline void* pmix_malloc(size_t n) {
    return malloc(n);
}

static inline void* pmix_calloc(size_t n, size_t m) {
    return calloc(n, m);
}

static inline void pmix_free(void* m) {
    free(m);
}

// Length of a string that is at most max long and may lack its terminator; NULL counts as empty.
static inline size_t pmix_bounded_len(const char* src, size_t max) {
    size_t n = 0;
    while (NULL != src && n < max && '\0' != src[n]) {
        ++n;
    }
    return n;
}

// Copies at most len characters and a terminator, so dest holds at least len + 1. A source of len characters or
// more need not be terminated.
static inline void pmix_strncpy(char* dest, const char* src, size_t len) {
    const size_t n = pmix_bounded_len(src, len);
    if (0 != n) {
        memcpy(dest, src, n);
    }
    dest[n] = '\0';
}

static inline size_t pmix_keylen(const char* src) {
    return pmix_bounded_len(src, PMIX_MAX_KEYLEN + 1);
}

static inline size_t pmix_nslen(const char* src) {
    return pmix_bounded_len(src, PMIX_MAX_NSLEN + 1);
}

// ---------------------------------------------------------------------------------------------------------
// Functions on the structures
//
// They work without PMIx_Init and in any thread, as long as no other thread changes the same structure. Each
// family has the same four:
//   construct  sets up one structure that the caller has room for; nothing is freed
//   destruct   frees what it owns and leaves it empty; the structure itself stays the caller's
//   create     returns an array of n constructed ones in one block, the caller's; NULL for 0 or without memory
//   free       destructs n of them and frees the block; NULL does nothing

// Keys, namespaces, process names

/** Fill a key: at most PMIX_MAX_KEYLEN characters of src, the rest zero. NULL gives an empty key. */
PMIX_EXPORT void PMIx_Load_key(pmix_key_t key, const char* src);

/** Whether a key is str. */
PMIX_EXPORT bool PMIx_Check_key(const char* key, const char* str);

/** Whether a key begins with "pmix" and so belongs to the Standard. */
PMIX_EXPORT bool PMIx_Check_reserved_key(const char* key);

/** Fill a namespace: at most PMIX_MAX_NSLEN characters of str, the rest zero. NULL gives an empty namespace. */
PMIX_EXPORT void PMIx_Load_nspace(pmix_nspace_t nspace, const char* str);

/** Whether two namespaces are the same; an empty one or NULL matches any. */
PMIX_EXPORT bool PMIx_Check_nspace(const char* key1, const char* key2);

/** Whether two namespaces are the same; an empty one or NULL matches none. */
PMIX_EXPORT bool PMIx_Check_nspace_strict(const char* key1, const char* key2);

/** Whether a namespace is NULL or empty. */
PMIX_EXPORT bool PMIx_Nspace_invalid(const char* nspace);

/** Set namespace and rank of a process name. */
PMIX_EXPORT void PMIx_Load_procid(pmix_proc_t* p, const char* ns, pmix_rank_t rk);

/** Copy a process name. */
PMIX_EXPORT void PMIx_Xfer_procid(pmix_proc_t* dst, const pmix_proc_t* src);

/** Whether two process names match: namespaces as for PMIx_Check_nspace, ranks as for PMIx_Check_rank. */
PMIX_EXPORT bool PMIx_Check_procid(const pmix_proc_t* a, const pmix_proc_t* b);

/** Whether two process names are the same: an empty namespace matches none, and PMIX_RANK_WILDCARD only itself. */
PMIX_EXPORT bool PMIx_Check_procid_strict(const pmix_proc_t* a, const pmix_proc_t* b);

/** Whether the namespace is empty or the rank PMIX_RANK_INVALID. */
PMIX_EXPORT bool PMIx_Procid_invalid(const pmix_proc_t* p);

/** Whether two ranks are the same; PMIX_RANK_WILDCARD matches any. */
PMIX_EXPORT bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b);

/** Whether a rank is that of a process, and none of the PMIX_RANK_ words. */
PMIX_EXPORT bool PMIx_Rank_valid(pmix_rank_t a);

/**
 * Make "cluster:nspace". If that does not fit, target becomes empty.
 * @param target   receives the name
 * @param cluster  name of the cluster
 * @param nspace   namespace on it
 */
PMIX_EXPORT void PMIx_Multicluster_nspace_construct(pmix_nspace_t target, pmix_nspace_t cluster, pmix_nspace_t nspace);

/**
 * Take "cluster:nspace" apart.
 * @param target   the name
 * @param cluster  receives what is before the first colon
 * @param nspace   receives what is behind it
 */
PMIX_EXPORT void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t cluster, pmix_nspace_t nspace);

// Processes

PMIX_EXPORT void PMIx_Proc_construct(pmix_proc_t* p);
PMIX_EXPORT void PMIx_Proc_destruct(pmix_proc_t* p);
PMIX_EXPORT pmix_proc_t* PMIx_Proc_create(size_t n);
PMIX_EXPORT void PMIx_Proc_free(pmix_proc_t* p, size_t n);

/** Set namespace and rank of a process name, after clearing it. */
PMIX_EXPORT void PMIx_Proc_load(pmix_proc_t* p, const char* nspace, pmix_rank_t rank);

PMIX_EXPORT void PMIx_Proc_info_construct(pmix_proc_info_t* p);
PMIX_EXPORT void PMIx_Proc_info_destruct(pmix_proc_info_t* p);
PMIX_EXPORT pmix_proc_info_t* PMIx_Proc_info_create(size_t n);
PMIX_EXPORT void PMIx_Proc_info_free(pmix_proc_info_t* p, size_t n);

PMIX_EXPORT void PMIx_Node_pid_construct(pmix_node_pid_t* d);
PMIX_EXPORT void PMIx_Node_pid_destruct(pmix_node_pid_t* d);
PMIX_EXPORT pmix_node_pid_t* PMIx_Node_pid_create(size_t n);
PMIX_EXPORT void PMIx_Node_pid_free(pmix_node_pid_t* d, size_t n);

PMIX_EXPORT void PMIx_Regex2_construct(pmix_regex2_t* d);
PMIX_EXPORT void PMIx_Regex2_destruct(pmix_regex2_t* d);
PMIX_EXPORT pmix_regex2_t* PMIx_Regex2_create(size_t n);
PMIX_EXPORT void PMIx_Regex2_free(pmix_regex2_t* d, size_t n);

// Values

PMIX_EXPORT void PMIx_Value_construct(pmix_value_t* val);
PMIX_EXPORT void PMIx_Value_destruct(pmix_value_t* val);
PMIX_EXPORT pmix_value_t* PMIx_Value_create(size_t n);
PMIX_EXPORT void PMIx_Value_free(pmix_value_t* v, size_t n);

/**
 * Read a value as a boolean: a bool; a string, such as "true", "t", "yes", "1" and their opposites; an empty string, NULL or
 * PMIX_UNDEF are yes, because a key alone says so. Other types, numbers too, say neither.
 * @return PMIX_BOOL_TRUE (which is 0), PMIX_BOOL_FALSE, or PMIX_NON_BOOL if it says neither
 */
PMIX_EXPORT pmix_boolean_t PMIx_Value_true(const pmix_value_t* v);

/**
 * Copy data into a value.
 * @param val   the value; what it held is neither looked at nor freed. It owns the copy
 * @param data  where the data is: for strings the string itself, for all other types a pointer to one of that type. NULL gives
 *              a value of the type that is empty; for PMIX_BOOL it means true
 * @param type  its type
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.8.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Value_load(pmix_value_t* val, const void* data, pmix_data_type_t type);

/**
 * Copy data out of a value.
 * @param val   the value; keeps what it has
 * @param data  for types of fixed size *data is where the copy goes and must be large enough; for all others *data receives the
 *              copy, the caller's
 * @param sz    receives its size in bytes
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if there is no place to copy to, PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.8.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Value_unload(pmix_value_t* val, void** data, size_t* sz);

/**
 * Copy a value with all that it owns.
 * @param dest  receives the copy and owns it; what it held is neither looked at nor freed
 * @param src   the value to copy
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.8.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Value_xfer(pmix_value_t* dest, const pmix_value_t* src);

/**
 * Compare two values.
 * @return PMIX_EQUAL, which of them is greater, or why they cannot be compared
 */
PMIX_EXPORT pmix_value_cmp_t PMIx_Value_compare(pmix_value_t* v1, pmix_value_t* v2);

/**
 * Read a number of any type as another.
 * @param value  the value
 * @param dest   receives the number; must hold one of type
 * @param type   the type that is wanted
 * @return PMIX_SUCCESS; PMIX_ERR_LOST_PRECISION or PMIX_ERR_CHANGE_SIGN if the number does not fit, PMIX_ERR_BAD_PARAM if the
 *         value is no number or type is none
 */
PMIX_EXPORT pmix_status_t PMIx_Value_get_number(const pmix_value_t* value, void* dest, pmix_data_type_t type);

/**
 * Bytes that a value takes, with all that it owns.
 * @param val   the value
 * @param size  receives the number
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE
 */
PMIX_EXPORT pmix_status_t PMIx_Value_get_size(const pmix_value_t* val, size_t* size);

// Info

PMIX_EXPORT void PMIx_Info_construct(pmix_info_t* p);
PMIX_EXPORT void PMIx_Info_destruct(pmix_info_t* p);
PMIX_EXPORT pmix_info_t* PMIx_Info_create(size_t n);
PMIX_EXPORT void PMIx_Info_free(pmix_info_t* p, size_t n);

/**
 * Set key and value of an info; the flags become 0.
 * @param info  the info; what it held is neither looked at nor freed. It owns the copy
 * @param key   the key
 * @param data  as for PMIx_Value_load; NULL with PMIX_BOOL means true
 * @param type  its type
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM without a key, and the errors of PMIx_Value_load
 * (Standard 5.0, 3.2.9.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Info_load(pmix_info_t* info, const char* key, const void* data, pmix_data_type_t type);

/**
 * Copy an info with all that it owns. The value of a persistent info is shared and not copied.
 * @param dest  receives the copy and owns it; what it held is neither looked at nor freed
 * @param src   the info to copy
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.9.1)
 */
PMIX_EXPORT pmix_status_t PMIx_Info_xfer(pmix_info_t* dest, const pmix_info_t* src);

/** As PMIx_Value_true for the value of an info. */
PMIX_EXPORT pmix_boolean_t PMIx_Info_true(const pmix_info_t* p);

/**
 * Bytes that an info takes, with all that it owns.
 * @param val   the info
 * @param size  receives the number
 * @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE
 */
PMIX_EXPORT pmix_status_t PMIx_Info_get_size(const pmix_info_t* val, size_t* size);

/** Mark an info: the call must fail if nobody honours it. */
PMIX_EXPORT void PMIx_Info_required(pmix_info_t* p);

/** Take that mark away. */
PMIX_EXPORT void PMIx_Info_optional(pmix_info_t* p);

/** Whether it is marked as required. */
PMIX_EXPORT bool PMIx_Info_is_required(const pmix_info_t* p);

/** Whether it is not marked as required. */
PMIX_EXPORT bool PMIx_Info_is_optional(const pmix_info_t* p);

/** Mark a required info as honoured. */
PMIX_EXPORT void PMIx_Info_processed(pmix_info_t* p);

/** Whether it was honoured. */
PMIX_EXPORT bool PMIx_Info_was_processed(const pmix_info_t* p);

/** Mark an info as the last of its array. */
PMIX_EXPORT void PMIx_Info_set_end(pmix_info_t* p);

/** Whether it is the last of its array. */
PMIX_EXPORT bool PMIx_Info_is_end(const pmix_info_t* p);

/** Mark an info as qualifier of the key before it. */
PMIX_EXPORT void PMIx_Info_qualifier(pmix_info_t* p);

/** Whether it is a qualifier. */
PMIX_EXPORT bool PMIx_Info_is_qualifier(const pmix_info_t* p);

/** Mark an info: its value is another's and is not freed with it. */
PMIX_EXPORT void PMIx_Info_persistent(pmix_info_t* p);

/** Whether its value is another's. */
PMIX_EXPORT bool PMIx_Info_is_persistent(const pmix_info_t* p);

// Lists of info, when the number is not known beforehand

/**
 * Begin a list.
 * @return the list, to be given to PMIx_Info_list_release; NULL without memory
 * (Standard 5.0, 3.2.9.2)
 */
PMIX_EXPORT void* PMIx_Info_list_start(void);

/**
 * Append a key and a copy of a value.
 * @param ptr    the list
 * @param key    the key
 * @param value  as for PMIx_Value_load
 * @param type   its type
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM, and the errors of PMIx_Info_load
 * (Standard 5.0, 3.2.9.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_add(void* ptr, const char* key, const void* value, pmix_data_type_t type);

/**
 * The same, if the list does not have the key yet.
 * @param ptr        the list
 * @param key        the key
 * @param value      as for PMIx_Value_load
 * @param type       its type
 * @param overwrite  whether a value that is there is replaced or left
 * @return PMIX_SUCCESS, also if it was left; the errors of PMIx_Info_list_add
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_unique(void* ptr, const char* key, const void* value, pmix_data_type_t type,
                                                    bool overwrite);

/**
 * Append a key and a copy of a value that is in a pmix_value_t.
 * @param ptr    the list
 * @param key    the key
 * @param value  the value to copy
 * @return as PMIx_Info_list_add
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_value(void* ptr, const char* key, const pmix_value_t* value);

/**
 * The same, if the list does not have the key yet.
 * @param ptr        the list
 * @param key        the key
 * @param value      the value to copy
 * @param overwrite  whether a value that is there is replaced or left
 * @return as PMIx_Info_list_add_unique
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_add_value_unique(void* ptr, const char* key, const pmix_value_t* value, bool overwrite);

/** As PMIx_Info_list_add, but in front. */
PMIX_EXPORT pmix_status_t PMIx_Info_list_prepend(void* ptr, const char* key, const void* value, pmix_data_type_t type);

/**
 * Append an info as it is: what it points to is shared, stays the caller's, and must live as long as the list and what it is
 * converted to.
 * @param ptr   the list
 * @param info  the info
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_insert(void* ptr, pmix_info_t* info);

/**
 * Append a copy of an info.
 * @param ptr   the list
 * @param info  the info to copy
 * @return PMIX_SUCCESS; PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.9.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_xfer(void* ptr, const pmix_info_t* info);

/**
 * The same, if the list does not have the key yet.
 * @param ptr        the list
 * @param info       the info to copy
 * @param overwrite  whether a value that is there is replaced or left
 * @return as PMIx_Info_list_add_unique
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_xfer_unique(void* ptr, const pmix_info_t* info, bool overwrite);

/**
 * Make an array of the list, which stays as it is.
 * @param ptr  the list
 * @param par  receives an array of PMIX_INFO, to be given to PMIx_Data_array_destruct
 * @return PMIX_SUCCESS; PMIX_ERR_EMPTY if the list has nothing in it, PMIX_ERR_NOMEM
 * (Standard 5.0, 3.2.9.2)
 */
PMIX_EXPORT pmix_status_t PMIx_Info_list_convert(void* ptr, pmix_data_array_t* par);

/**
 * Walk through a list.
 * @param ptr   the list
 * @param prev  what the last call gave in next; NULL for the first
 * @param next  receives the place behind; NULL at the end
 * @return the info, the list's; NULL if the list is empty
 */
PMIX_EXPORT pmix_info_t* PMIx_Info_list_get_info(void* ptr, void* prev, void** next);

/** How many infos are in the list. */
PMIX_EXPORT size_t PMIx_Info_list_get_size(void* ptr);

/**
 * Free a list and all in it.
 * @param ptr  the list; NULL does nothing
 * (Standard 5.0, 3.2.9.2)
 */
PMIX_EXPORT void PMIx_Info_list_release(void* ptr);

// Arrays and bytes

/** Make an array of a type that has no elements. */
PMIX_EXPORT void PMIx_Data_array_init(pmix_data_array_t* p, pmix_data_type_t type);

/**
 * Make an array of num elements of a type, each constructed.
 * @param p     the array; its array is NULL if memory or the type is wanting
 * @param num   number of elements
 * @param type  their type
 */
PMIX_EXPORT void PMIx_Data_array_construct(pmix_data_array_t* p, size_t num, pmix_data_type_t type);

PMIX_EXPORT void PMIx_Data_array_destruct(pmix_data_array_t* d);

/**
 * The same on the heap.
 * @return the array, to be given to PMIx_Data_array_free
 */
PMIX_EXPORT pmix_data_array_t* PMIx_Data_array_create(size_t n, pmix_data_type_t type);

PMIX_EXPORT void PMIx_Data_array_free(pmix_data_array_t* p);

PMIX_EXPORT void PMIx_Byte_object_construct(pmix_byte_object_t* b);
PMIX_EXPORT void PMIx_Byte_object_destruct(pmix_byte_object_t* g);
PMIX_EXPORT pmix_byte_object_t* PMIx_Byte_object_create(size_t n);
PMIX_EXPORT void PMIx_Byte_object_free(pmix_byte_object_t* g, size_t n);

/**
 * Hand bytes over to a byte object.
 * @param b   the object; owns d afterwards
 * @param d   malloc memory
 * @param sz  its size in bytes
 */
PMIX_EXPORT void PMIx_Byte_object_load(pmix_byte_object_t* b, char* d, size_t sz);

PMIX_EXPORT void PMIx_Data_buffer_construct(pmix_data_buffer_t* b);
PMIX_EXPORT void PMIx_Data_buffer_destruct(pmix_data_buffer_t* b);

/**
 * A new, empty buffer.
 * @return the buffer, to be given to PMIx_Data_buffer_release
 */
PMIX_EXPORT pmix_data_buffer_t* PMIx_Data_buffer_create(void);

/** Free a buffer and what is in it. */
PMIX_EXPORT void PMIx_Data_buffer_release(pmix_data_buffer_t* b);

/**
 * Hand packed bytes over to a buffer, for unpacking.
 * @param b      the buffer; owns bytes afterwards
 * @param bytes  malloc memory
 * @param sz     its size in bytes
 */
PMIX_EXPORT void PMIx_Data_buffer_load(pmix_data_buffer_t* b, char* bytes, size_t sz);

/**
 * Take out what was not unpacked yet; the buffer is empty afterwards.
 * @param b      the buffer
 * @param bytes  receives the bytes, the caller's
 * @param sz     receives their number
 */
PMIX_EXPORT void PMIx_Data_buffer_unload(pmix_data_buffer_t* b, char** bytes, size_t* sz);

// Published data, programs, queries, descriptions of attributes

PMIX_EXPORT void PMIx_Pdata_construct(pmix_pdata_t* p);
PMIX_EXPORT void PMIx_Pdata_destruct(pmix_pdata_t* p);
PMIX_EXPORT pmix_pdata_t* PMIx_Pdata_create(size_t n);
PMIX_EXPORT void PMIx_Pdata_free(pmix_pdata_t* p, size_t n);

/**
 * Set process, key and value.
 * @param dest  receives the copies and owns them; what it held is neither looked at nor freed
 * @param p     the publisher
 * @param key   the key
 * @param data  as for PMIx_Value_load
 * @param type  its type
 */
PMIX_EXPORT void PMIx_Pdata_load(pmix_pdata_t* dest, const pmix_proc_t* p, const char* key, const void* data,
                                 pmix_data_type_t type);

/**
 * Copy, with all that it owns.
 * @param dest  receives the copies and owns them; what it held is neither looked at nor freed
 * @param src   the one to copy
 */
PMIX_EXPORT void PMIx_Pdata_xfer(pmix_pdata_t* dest, pmix_pdata_t* src);

PMIX_EXPORT void PMIx_App_construct(pmix_app_t* p);
PMIX_EXPORT void PMIx_App_destruct(pmix_app_t* p);
PMIX_EXPORT pmix_app_t* PMIx_App_create(size_t n);

/** Give a program n constructed infos, which it owns. */
PMIX_EXPORT void PMIx_App_info_create(pmix_app_t* p, size_t n);

PMIX_EXPORT void PMIx_App_free(pmix_app_t* p, size_t n);

/** Destruct one program of the heap and free it. */
PMIX_EXPORT void PMIx_App_release(pmix_app_t* p);

PMIX_EXPORT void PMIx_Query_construct(pmix_query_t* p);
PMIX_EXPORT void PMIx_Query_destruct(pmix_query_t* p);
PMIX_EXPORT pmix_query_t* PMIx_Query_create(size_t n);

/** Give a query n constructed qualifiers, which it owns. */
PMIX_EXPORT void PMIx_Query_qualifiers_create(pmix_query_t* p, size_t n);

PMIX_EXPORT void PMIx_Query_free(pmix_query_t* p, size_t n);

/** Destruct one query of the heap and free it. */
PMIX_EXPORT void PMIx_Query_release(pmix_query_t* p);

PMIX_EXPORT void PMIx_Regattr_construct(pmix_regattr_t* p);
PMIX_EXPORT void PMIx_Regattr_destruct(pmix_regattr_t* p);
PMIX_EXPORT pmix_regattr_t* PMIx_Regattr_create(size_t n);
PMIX_EXPORT void PMIx_Regattr_free(pmix_regattr_t* p, size_t n);

/**
 * Set a description; strings are copied.
 * @param info         a constructed, empty structure
 * @param name         the constant's name, such as PMIX_TIMEOUT
 * @param key          its key
 * @param type         type of its values
 * @param description  one line
 */
PMIX_EXPORT void PMIx_Regattr_load(pmix_regattr_t* info, const char* name, const char* key, pmix_data_type_t type,
                                   const char* description);

/** Copy, with all that it owns. */
PMIX_EXPORT void PMIx_Regattr_xfer(pmix_regattr_t* dest, const pmix_regattr_t* src);

// Hardware and fabrics

PMIX_EXPORT void PMIx_Topology_construct(pmix_topology_t* t);
PMIX_EXPORT void PMIx_Topology_destruct(pmix_topology_t* topo);
PMIX_EXPORT pmix_topology_t* PMIx_Topology_create(size_t n);
PMIX_EXPORT void PMIx_Topology_free(pmix_topology_t* t, size_t n);

PMIX_EXPORT void PMIx_Cpuset_construct(pmix_cpuset_t* cpuset);
PMIX_EXPORT void PMIx_Cpuset_destruct(pmix_cpuset_t* cpuset);
PMIX_EXPORT pmix_cpuset_t* PMIx_Cpuset_create(size_t n);
PMIX_EXPORT void PMIx_Cpuset_free(pmix_cpuset_t* c, size_t n);

PMIX_EXPORT void PMIx_Coord_construct(pmix_coord_t* m);
PMIX_EXPORT void PMIx_Coord_destruct(pmix_coord_t* m);

/**
 * Coordinates with room for their values.
 * @param dims    dimensions of each
 * @param number  how many
 * @return array of number, to be given to PMIx_Coord_free
 */
PMIX_EXPORT pmix_coord_t* PMIx_Coord_create(size_t dims, size_t number);

PMIX_EXPORT void PMIx_Coord_free(pmix_coord_t* m, size_t number);

PMIX_EXPORT void PMIx_Geometry_construct(pmix_geometry_t* g);
PMIX_EXPORT void PMIx_Geometry_destruct(pmix_geometry_t* g);
PMIX_EXPORT pmix_geometry_t* PMIx_Geometry_create(size_t n);
PMIX_EXPORT void PMIx_Geometry_free(pmix_geometry_t* g, size_t n);

PMIX_EXPORT void PMIx_Device_construct(pmix_device_t* d);
PMIX_EXPORT void PMIx_Device_destruct(pmix_device_t* d);
PMIX_EXPORT pmix_device_t* PMIx_Device_create(size_t n);
PMIX_EXPORT void PMIx_Device_free(pmix_device_t* d, size_t n);

PMIX_EXPORT void PMIx_Device_distance_construct(pmix_device_distance_t* d);
PMIX_EXPORT void PMIx_Device_distance_destruct(pmix_device_distance_t* d);
PMIX_EXPORT pmix_device_distance_t* PMIx_Device_distance_create(size_t n);
PMIX_EXPORT void PMIx_Device_distance_free(pmix_device_distance_t* d, size_t n);

PMIX_EXPORT void PMIx_Resource_unit_construct(pmix_resource_unit_t* d);
PMIX_EXPORT void PMIx_Resource_unit_destruct(pmix_resource_unit_t* d);
PMIX_EXPORT pmix_resource_unit_t* PMIx_Resource_unit_create(size_t n);
PMIX_EXPORT void PMIx_Resource_unit_free(pmix_resource_unit_t* d, size_t n);

PMIX_EXPORT void PMIx_Endpoint_construct(pmix_endpoint_t* e);
PMIX_EXPORT void PMIx_Endpoint_destruct(pmix_endpoint_t* e);
PMIX_EXPORT pmix_endpoint_t* PMIx_Endpoint_create(size_t n);
PMIX_EXPORT void PMIx_Endpoint_free(pmix_endpoint_t* e, size_t n);

/** Clear a fabric structure. */
PMIX_EXPORT void PMIx_Fabric_construct(pmix_fabric_t* p);

// Environment variables

PMIX_EXPORT void PMIx_Envar_construct(pmix_envar_t* e);
PMIX_EXPORT void PMIx_Envar_destruct(pmix_envar_t* e);
PMIX_EXPORT pmix_envar_t* PMIx_Envar_create(size_t n);
PMIX_EXPORT void PMIx_Envar_free(pmix_envar_t* e, size_t n);

/** Set name, value and separator; the strings are copied. */
PMIX_EXPORT void PMIx_Envar_load(pmix_envar_t* e, char* var, char* value, char separator);

/**
 * Set a variable in an environment.
 * @param name       its name
 * @param value      its value; NULL removes it from the process's own environment, and makes it empty in another
 * @param overwrite  whether a value that is there is replaced
 * @param env        address of an array of strings, which may be NULL and may move; if the array is environ, the process's own
 *                   is changed
 * @return PMIX_SUCCESS; PMIX_ERR_EXISTS if it is there and stays, PMIX_ERR_BAD_PARAM, PMIX_ERR_OUT_OF_RESOURCE
 */
PMIX_EXPORT pmix_status_t PMIx_Setenv(const char* name, const char* value, bool overwrite, char*** env);

// Arrays of strings, ended by NULL

/** Number of strings; 0 for NULL. */
PMIX_EXPORT int PMIx_Argv_count(char** a);

/**
 * Append a copy of a string.
 * @param argv  address of the array, which may be NULL and may move
 * @param arg   the string
 * @return PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 */
PMIX_EXPORT pmix_status_t PMIx_Argv_append_nosize(char*** argv, const char* arg);

/**
 * Put a copy of a string in front.
 * @param argv  address of the array, which may be NULL and may move
 * @param arg   the string
 * @return PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 */
PMIX_EXPORT pmix_status_t PMIx_Argv_prepend_nosize(char*** argv, const char* arg);

/**
 * Append a copy of a string unless it is there already.
 * @param argv  address of the array, which may be NULL and may move
 * @param arg   the string
 * @return PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 */
PMIX_EXPORT pmix_status_t PMIx_Argv_append_unique_nosize(char*** argv, const char* arg);

/**
 * Cut a string at a delimiter, and leave out empty parts.
 * @return the array, the caller's; NULL if there is no part
 */
PMIX_EXPORT char** PMIx_Argv_split(const char* src_string, int delimiter);

/**
 * Cut a string at a delimiter, and keep empty parts but one at the end.
 * @return the array, the caller's; NULL for an empty string
 */
PMIX_EXPORT char** PMIx_Argv_split_with_empty(const char* src_string, int delimiter);

/**
 * Either of the two.
 * @param src_string     the string
 * @param delimiter      where to cut
 * @param include_empty  whether empty parts are kept
 * @return the array, the caller's; NULL if there is no part
 */
PMIX_EXPORT char** PMIx_Argv_split_inter(const char* src_string, int delimiter, bool include_empty);

/**
 * Put the strings together.
 * @param argv       the array
 * @param delimiter  what to put between them
 * @return the string, the caller's; an empty one for no strings
 */
PMIX_EXPORT char* PMIx_Argv_join(char** argv, int delimiter);

/**
 * Copy array and strings.
 * @return the copy, the caller's; NULL for NULL
 */
PMIX_EXPORT char** PMIx_Argv_copy(char** argv);

/** Free array and strings. NULL does nothing. */
PMIX_EXPORT void PMIx_Argv_free(char** argv);

#ifdef __cplusplus
}
#endif

// The macros for all of this, and names that are kept for older sources
#include <pmix_deprecated.h>

#endif
