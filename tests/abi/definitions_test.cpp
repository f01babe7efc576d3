// SPDX-License-Identifier: BSD-3-Clause
//
// The requirements that only say that a name exists, with which signature or value. A function must be
// declared so and be exported by the library, which is opened as a program would find it: by its file, given
// by the build.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pmix_tool.h>

#include <type_traits>

#include "tests/covers.hpp"

namespace {

void* library() {
    static void* const handle = dlopen(MUSTER_LIBPMIX, RTLD_LAZY | RTLD_LOCAL);
    return handle;
}

template <typename Declared, typename Wanted>
void expect_function(const char* name) {
    EXPECT_TRUE((std::is_same_v<Declared, Wanted>)) << name << " is declared otherwise";
    ASSERT_NE(library(), nullptr) << dlerror();
    EXPECT_NE(dlsym(library(), name), nullptr) << name << " is not exported";
}

#define EXPECT_FUNCTION(name, ...) expect_function<decltype(&name), pmix_status_t (*)(__VA_ARGS__)>(#name)
#define EXPECT_PROCEDURE(name, ...) expect_function<decltype(&name), void (*)(__VA_ARGS__)>(#name)
#define EXPECT_TYPE(name, result, ...) \
    EXPECT_TRUE((std::is_same_v<name, result (*)(__VA_ARGS__)>)) << #name " is declared otherwise"

using Procs = const pmix_proc_t*;
using Infos = const pmix_info_t*;

TEST(Definitions, GenerateRegex) {
    covers("SRV-02");
    EXPECT_FUNCTION(PMIx_generate_regex, const char*, char**);
}

TEST(Definitions, GeneratePpn) {
    covers("SRV-05");
    EXPECT_FUNCTION(PMIx_generate_ppn, const char*, char**);
}

TEST(Definitions, RegisterNspace) {
    covers("SRV-07");
    EXPECT_FUNCTION(PMIx_server_register_nspace, const char*, int, pmix_info_t*, size_t, pmix_op_cbfunc_t,
                    void*);
}

TEST(Definitions, DeregisterNspace) {
    covers("SRV-26");
    EXPECT_PROCEDURE(PMIx_server_deregister_nspace, const char*, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, RegisterClient) {
    covers("SRV-28");
    EXPECT_FUNCTION(PMIx_server_register_client, Procs, uid_t, gid_t, void*, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, DeregisterClient) {
    covers("SRV-32");
    EXPECT_PROCEDURE(PMIx_server_deregister_client, Procs, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, SetupFork) {
    covers("SRV-34");
    EXPECT_FUNCTION(PMIx_server_setup_fork, Procs, char***);
}

TEST(Definitions, DmodexRequest) {
    covers("SRV-37");
    EXPECT_FUNCTION(PMIx_server_dmodex_request, Procs, pmix_dmodex_response_fn_t, void*);
}

TEST(Definitions, SetupLocalSupport) {
    covers("SRV-43");
    EXPECT_FUNCTION(PMIx_server_setup_local_support, const char*, pmix_info_t*, size_t, pmix_op_cbfunc_t,
                    void*);
}

TEST(Definitions, FirstMembersOfTheModule) {
    covers("SRV-47");
#define EXPECT_MEMBER(position, member) \
    EXPECT_EQ(offsetof(pmix_server_module_t, member), (position) * sizeof(void*)) << #member
    EXPECT_MEMBER(0, client_connected);
    EXPECT_MEMBER(1, client_finalized);
    EXPECT_MEMBER(2, abort);
    EXPECT_MEMBER(3, fence_nb);
    EXPECT_MEMBER(4, direct_modex);
    EXPECT_MEMBER(5, publish);
    EXPECT_MEMBER(6, lookup);
    EXPECT_MEMBER(7, unpublish);
    EXPECT_MEMBER(8, spawn);
    EXPECT_MEMBER(9, connect);
    EXPECT_MEMBER(10, disconnect);
    EXPECT_MEMBER(11, register_events);
    EXPECT_MEMBER(12, deregister_events);
    EXPECT_MEMBER(13, listener);
    EXPECT_MEMBER(14, notify_event);
    EXPECT_MEMBER(15, query);
    EXPECT_MEMBER(16, tool_connected);
    EXPECT_MEMBER(17, log);
    EXPECT_MEMBER(18, allocate);
    EXPECT_MEMBER(19, job_control);
    EXPECT_MEMBER(20, monitor);
#undef EXPECT_MEMBER
}

// The types themselves are compared with the table (data/callbacks.tsv) while this program compiles; here
// each is the type of its member.
#define EXPECT_MEMBER_TYPE(member, type) \
    EXPECT_TRUE((std::is_same_v<decltype(pmix_server_module_t::member), type>)) << #member

TEST(Definitions, Types1To4) {
    covers("SRV-48");
    EXPECT_MEMBER_TYPE(client_connected, pmix_server_client_connected_fn_t);
    EXPECT_MEMBER_TYPE(client_finalized, pmix_server_client_finalized_fn_t);
    EXPECT_MEMBER_TYPE(abort, pmix_server_abort_fn_t);
    EXPECT_MEMBER_TYPE(fence_nb, pmix_server_fencenb_fn_t);
}

TEST(Definitions, Types5To8) {
    covers("SRV-49");
    EXPECT_MEMBER_TYPE(direct_modex, pmix_server_dmodex_req_fn_t);
    EXPECT_MEMBER_TYPE(publish, pmix_server_publish_fn_t);
    EXPECT_MEMBER_TYPE(lookup, pmix_server_lookup_fn_t);
    EXPECT_MEMBER_TYPE(unpublish, pmix_server_unpublish_fn_t);
}

TEST(Definitions, Types9To11) {
    covers("SRV-50");
    EXPECT_MEMBER_TYPE(spawn, pmix_server_spawn_fn_t);
    EXPECT_MEMBER_TYPE(connect, pmix_server_connect_fn_t);
    EXPECT_MEMBER_TYPE(disconnect, pmix_server_disconnect_fn_t);
}

TEST(Definitions, Types12To14) {
    covers("SRV-51");
    EXPECT_MEMBER_TYPE(register_events, pmix_server_register_events_fn_t);
    EXPECT_MEMBER_TYPE(deregister_events, pmix_server_deregister_events_fn_t);
    EXPECT_MEMBER_TYPE(listener, pmix_server_listener_fn_t);
}

TEST(Definitions, Types15To18) {
    covers("SRV-52");
    EXPECT_MEMBER_TYPE(notify_event, pmix_server_notify_event_fn_t);
    EXPECT_MEMBER_TYPE(query, pmix_server_query_fn_t);
    EXPECT_MEMBER_TYPE(tool_connected, pmix_server_tool_connection_fn_t);
    EXPECT_MEMBER_TYPE(log, pmix_server_log_fn_t);
}

TEST(Definitions, Types19To21) {
    covers("SRV-53");
    EXPECT_MEMBER_TYPE(allocate, pmix_server_alloc_fn_t);
    EXPECT_MEMBER_TYPE(job_control, pmix_server_job_control_fn_t);
    EXPECT_MEMBER_TYPE(monitor, pmix_server_monitor_fn_t);
}

TEST(Definitions, GroupConstruct) {
    covers("GRP-63", "GRP-64");
    EXPECT_FUNCTION(PMIx_Group_construct, const char*, Procs, size_t, Infos, size_t, pmix_info_t**, size_t*);
    EXPECT_FUNCTION(PMIx_Group_construct_nb, const char*, Procs, size_t, Infos, size_t, pmix_info_cbfunc_t,
                    void*);
}

TEST(Definitions, GroupDestruct) {
    covers("GRP-90", "GRP-91");
    EXPECT_FUNCTION(PMIx_Group_destruct, const char*, Infos, size_t);
    EXPECT_FUNCTION(PMIx_Group_destruct_nb, const char*, Infos, size_t, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, GroupInvite) {
    covers("GRP-99", "GRP-100");
    EXPECT_FUNCTION(PMIx_Group_invite, const char*, Procs, size_t, Infos, size_t, pmix_info_t**, size_t*);
    EXPECT_FUNCTION(PMIx_Group_invite_nb, const char*, Procs, size_t, Infos, size_t, pmix_info_cbfunc_t,
                    void*);
}

TEST(Definitions, GroupJoin) {
    covers("GRP-117", "GRP-118");
    EXPECT_FUNCTION(PMIx_Group_join, const char*, Procs, pmix_group_opt_t, Infos, size_t, pmix_info_t**,
                    size_t*);
    EXPECT_FUNCTION(PMIx_Group_join_nb, const char*, Procs, pmix_group_opt_t, Infos, size_t,
                    pmix_info_cbfunc_t, void*);
}

TEST(Definitions, GroupOptions) {
    covers("GRP-119");
    pmix_group_opt_t option = PMIX_GROUP_DECLINE;
    EXPECT_EQ(static_cast<int>(option), 0);
    option = PMIX_GROUP_ACCEPT;
    EXPECT_EQ(static_cast<int>(option), 1);
}

TEST(Definitions, GroupLeave) {
    covers("GRP-128", "GRP-129");
    EXPECT_FUNCTION(PMIx_Group_leave, const char*, Infos, size_t);
    EXPECT_FUNCTION(PMIx_Group_leave_nb, const char*, Infos, size_t, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, RegisterEventHandler) {
    covers("EVT-20");
    EXPECT_FUNCTION(PMIx_Register_event_handler, pmix_status_t*, size_t, pmix_info_t*, size_t,
                    pmix_notification_fn_t, pmix_hdlr_reg_cbfunc_t, void*);
}

TEST(Definitions, TypesOfHandlers) {
    covers("EVT-21");
    EXPECT_TYPE(pmix_notification_fn_t, void, size_t, pmix_status_t, Procs, pmix_info_t*, size_t,
                pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t, void*);
    EXPECT_TYPE(pmix_evhdlr_reg_cbfunc_t, void, pmix_status_t, size_t, void*);
}

TEST(Definitions, DeregisterEventHandler) {
    covers("EVT-38");
    EXPECT_FUNCTION(PMIx_Deregister_event_handler, size_t, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, NotifyEvent) {
    covers("EVT-43");
    EXPECT_FUNCTION(PMIx_Notify_event, pmix_status_t, Procs, pmix_data_range_t, Infos, size_t,
                    pmix_op_cbfunc_t, void*);
}

TEST(Definitions, Channels) {
    covers("IOF-12", "IOF-13", "IOF-14");
    EXPECT_TRUE((std::is_same_v<pmix_iof_channel_t, uint16_t>));
    EXPECT_EQ(PMIX_FWD_NO_CHANNELS, 0x0000);
    EXPECT_EQ(PMIX_FWD_STDIN_CHANNEL, 0x0001);
    EXPECT_EQ(PMIX_FWD_STDOUT_CHANNEL, 0x0002);
    EXPECT_EQ(PMIX_FWD_STDERR_CHANNEL, 0x0004);
    EXPECT_EQ(PMIX_FWD_STDDIAG_CHANNEL, 0x0008);
    EXPECT_EQ(PMIX_FWD_ALL_CHANNELS, 0x00ff);
}

TEST(Definitions, IofPull) {
    covers("TLO-24");
    EXPECT_FUNCTION(PMIx_IOF_pull, Procs, size_t, Infos, size_t, pmix_iof_channel_t, pmix_iof_cbfunc_t,
                    pmix_hdlr_reg_cbfunc_t, void*);
}

TEST(Definitions, IofDeregister) {
    covers("TLO-29");
    EXPECT_FUNCTION(PMIx_IOF_deregister, size_t, Infos, size_t, pmix_op_cbfunc_t, void*);
}

TEST(Definitions, IofPush) {
    covers("TLO-35");
    EXPECT_FUNCTION(PMIx_IOF_push, Procs, size_t, pmix_byte_object_t*, Infos, size_t, pmix_op_cbfunc_t,
                    void*);
}

TEST(Definitions, TypesOfOutputHandlers) {
    covers("TLO-40");
    EXPECT_TYPE(pmix_iof_cbfunc_t, void, size_t, pmix_iof_channel_t, pmix_proc_t*, pmix_byte_object_t*,
                pmix_info_t*, size_t);
    EXPECT_TYPE(pmix_hdlr_reg_cbfunc_t, void, pmix_status_t, size_t, void*);
}

}  // namespace
