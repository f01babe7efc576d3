/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Muster's own keys that hosts, tools and programs may use with its library (docs/reference/keys.md). Other
 * PMIx libraries ignore them.
 */
#ifndef MUSTER_H
#define MUSTER_H

/* (char**, as PMIX_POINTER) Directive of PMIx_Init, PMIx_server_init and PMIx_tool_init: where the library
 * puts one sentence that says why the call has failed: what happened, to what, and what to do. The text is
 * allocated by malloc and belongs to the caller. It is set to NULL when the call succeeds, and when there is
 * no memory for it. */
#define MUSTER_ERROR_TEXT "muster.error.text"

/* (char*) Directive of PMIx_server_init and PMIx_tool_init: the names of parameters, separated by commas,
 * that the caller's user gave. The library reports on standard error which of these and of those in files
 * are unknown, and which values cannot be used. */
#define MUSTER_CHECK_PARAMETERS "muster.check.params"

/* (int) Key of a process's own rank, in a process that was initialised with PMIX_EXTERNAL_PROGRESS: the
 * descriptor that polls readable when the process should call PMIx_Progress. */
#define MUSTER_PROGRESS_FD "muster.progress.fd"

/* --- queries (PMIx_Query_info) --- */

/* (pmix_data_array_t) One PMIX_PROC_INFO_ARRAY for each process of the server that waits in a collective, for
 * a group that it was invited to, or for data, with PMIX_PROCID and MUSTER_WAIT. Qualifier: PMIX_NSPACE.
 * Users get the processes of their own; the host and root get all. */
#define MUSTER_WAITS "muster.waits"
/* (char*) The wait of the process: "fence: 3 of 4 are in, not job:3". */
#define MUSTER_WAIT "muster.wait"
/* (pmix_data_array_t) One MUSTER_GROUP for each group that has members on the node of the server. For hosts
 * that answer for several servers. */
#define MUSTER_GROUPS "muster.groups"
/* (pmix_data_array_t) PMIX_GROUP_ID, and PMIX_GROUP_MEMBERSHIP by rank. */
#define MUSTER_GROUP "muster.group"
/* (pmix_data_array_t of pmix_proc_t) The processes whose answer to an invitation is missing. Qualifier:
 * PMIX_GROUP_ID. */
#define MUSTER_GROUPS_INVITED "muster.groups.invited"
/* (size_t) Events that the server gave up for lack of room: before all processes that might want them had
 * registered (parameter pmix_event_cache_size), or because a process did not take them (parameter
 * pmix_event_queue_size). */
#define MUSTER_EVENTS_DROPPED "muster.events.dropped"
/* (size_t) Bytes of forwarded output or pushed input that the server or process gave up for lack of room.
 * Also with a piece of output: the bytes that the same registration lost directly before the piece. */
#define MUSTER_IOF_DROPPED "muster.iof.dropped"

/* --- directives of upcalls, for hosts --- */

/* (bool) To spawn: the requester takes the output that it wants forwarded from the start, without
 * PMIx_IOF_pull. */
#define MUSTER_IOF_UNASKED "muster.iof.unasked"
/* (bool) To group: the server takes part in a destruct for members that have left or ended, and nothing waits
 * for the answer. A host that learns of departures in another way may ignore the call. */
#define MUSTER_GROUP_STANDIN "muster.grp.standin"
/* (pmix_byte_object_t) The inventory of a node, from PMIx_server_collect_inventory to
 * PMIx_server_deliver_inventory. It is a byte object because some hosts carry no arrays. */
#define MUSTER_INVENTORY "muster.inventory"

/* --- in events and job data --- */

/* (uint16_t) In PMIX_ERR_IOF_FAILURE and PMIX_ERR_IOF_COMPLETE: the channel. */
#define MUSTER_IOF_CHANNEL "muster.iof.channel"
/* (bool) In events about a construction of a group that is under way. The process that gets the event answers
 * with the decision of its handlers (docs/reference/wire.md, command 25). */
#define MUSTER_GROUP_CONSTRUCT "muster.grp.construct"
/* (uint64_t) In events about an invitation: distinguishes two invitations of one name by one process. */
#define MUSTER_GROUP_ROUND "muster.grp.round"
/* (uint8_t) In PMIX_GROUP_LEADER_SELECTED: the wish of a participant whose leader failed (0 not me, 1 me,
 * 2 abort). */
#define MUSTER_GROUP_VOTE "muster.grp.vote"
/* (pmix_status_t) Job data of debugger daemons that `muster` started: the event that releases their
 * targets. */
#define MUSTER_DEBUG_RELEASE "muster.debug.release"

#endif
