// SPDX-License-Identifier: BSD-3-Clause
// Other users at a root server: limits on the data that it keeps for them, and access only to their own data.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>

#include <array>
#include <atomic>
#include <set>

#include "tests/integration/strangers.hpp"

namespace {

using namespace strangers;

constexpr uint8_t kSaid[] = {'s', 'a', 'i', 'd'};

TEST_F(Strangers, HaveABoundedNumberOfMonitors) {
    Host host;
    const auto job = job_of(host, kStranger);
    const auto environment = host.environment(job, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, job, 0);
                     if (!client.accepted()) return 1;
                     constexpr int kTries = 3000;
                     for (int i = 0; i < kTries; ++i) {
                         Packer message = command(Command::Monitor);
                         Info what, directives;
                         what.add(PMIX_MONITOR_HEARTBEAT, true);
                         directives.add(PMIX_MONITOR_HEARTBEAT_TIME, uint32_t{3600});
                         message.info(what[0]).status(PMIX_SUCCESS).infos(directives);
                         client.say(std::move(message));
                     }
                     int refused = 0;
                     for (int i = 0; i < kTries; ++i)
                         refused += client.heard() == PMIX_ERR_OUT_OF_RESOURCE ? 1 : 0;
                     return refused > 0 && refused < kTries ? 0 : 2;
                 }),
              0);
}

TEST_F(Strangers, AreNotToldTheUsageOfOthers) {
    Host host;
    const auto job = job_of(host, kStranger), other = job_of(host, kOther);
    const auto environment = host.environment(job, 0), others = host.environment(other, 0);
    std::array<int, 2> connected{}, over{};
    ASSERT_TRUE(pipe(connected.data()) == 0 && pipe(over.data()) == 0);
    OtherUser beside(kOther, [&] {
        Client client(others, other, 0, RawPeer::Way::Local);
        char byte = 0;
        close(over[1]);
        const bool said = write(connected[1], &byte, 1) == 1;
        return client.accepted() && said && read(over[0], &byte, 1) == 0 ? 0 : 1;
    });
    char byte = 0;
    EXPECT_EQ(read(connected[0], &byte, 1), 1);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, job, 0, RawPeer::Way::Local);
                     return client.accepted() && client.measured_processes() == 1 ? 0 : 1;
                 }),
              0);
    // The host may see processes of all users; one is still connected.
    pmix_info_t all{}, *results = nullptr;
    size_t count = 0;
    PMIx_Info_load(&all, PMIX_MONITOR_PROC_RESOURCE_USAGE, nullptr, PMIX_UNDEF);
    EXPECT_EQ(PMIx_Process_monitor(&all, PMIX_SUCCESS, nullptr, 0, &results, &count), PMIX_SUCCESS);
    EXPECT_EQ(count, 1U);
    PMIx_Info_free(results, count);
    close(over[1]);
    EXPECT_EQ(beside.status(), 0);
    for (const int fd : {connected[0], connected[1], over[0]})
        close(fd);
}

TEST_F(Strangers, HaveABoundedNumberOfFilesRemoved) {
    Host host;
    const auto job = job_of(host, kStranger);
    const auto environment = host.environment(job, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, job, 0);
                     if (!client.accepted()) return 1;
                     const auto add = [&](const char* key, int count) {
                         std::string paths;
                         for (int i = 0; i < count; ++i)
                             paths += std::string(i == 0 ? "" : ",") + "/no such folder/" + std::to_string(i);
                         Packer message = command(Command::JobControl);
                         Info what;
                         what.add(key, paths.c_str());
                         message.procs(nullptr, 0).infos(what);
                         return client.ask(std::move(message));
                     };
                     if (add(PMIX_REGISTER_CLEANUP, 70000) != PMIX_ERR_OUT_OF_RESOURCE) return 2;
                     if (add(PMIX_REGISTER_CLEANUP, 40000) != PMIX_SUCCESS) return 3;
                     // Paths of all kinds count together.
                     if (add(PMIX_REGISTER_CLEANUP_DIR, 30000) != PMIX_ERR_OUT_OF_RESOURCE) return 4;
                     return add(PMIX_REGISTER_CLEANUP_DIR, 20000) == PMIX_SUCCESS ? 0 : 5;
                 }),
              0);
}

/// A tool of the calling user that has completed its handshake, and the answer.
std::pair<std::unique_ptr<RawPeer>, pmix_status_t> tool(const std::vector<std::string>& environment,
                                                        int number, gid_t group = getegid()) {
    auto raw = std::make_unique<RawPeer>(environment, RawPeer::Way::Tcp);
    ConnectRequest request = claim({}, 0, geteuid(), group);
    request.kind = muster::PeerKind::ToolGivenId;
    request.euid = geteuid();
    request.egid = group;
    request.nspace = "tool." + std::to_string(geteuid()) + "." + std::to_string(number);
    raw->say(build_connect_request(request).view());
    const auto reply = raw->hear(4);
    const pmix_status_t status = reply.size() < 4
                                     ? PMIX_ERR_LOST_CONNECTION
                                     : static_cast<pmix_status_t>(muster::load_be32(reply.data()));
    return {std::move(raw), status};
}

std::vector<pmix_info_t> open_to_tools() {
    std::vector<pmix_info_t> directives;
    for (const char* key : {PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_ALLOW_FOREIGN_TOOLS}) {
        const bool yes = true;
        directives.emplace_back();
        EXPECT_EQ(PMIx_Info_load(&directives.back(), key, &yes, PMIX_BOOL), PMIX_SUCCESS);
    }
    return directives;
}

std::atomic<gid_t> group_of_tool{0};

TEST_F(Strangers, HaveNoGroupWhereNothingProvesIt) {
    const auto note_group = [](pmix_server_module_t& module) {
        module.tool_connected = [](pmix_info_t* info, size_t count, pmix_tool_connection_cbfunc_t done,
                                   void* context) {
            for (size_t i = 0; i < count; ++i) {
                if (PMIx_Check_key(info[i].key, PMIX_GRPID)) group_of_tool = info[i].value.data.uint32;
            }
            done(PMIX_SUCCESS, nullptr, context);
        };
    };
    Host host(note_group, open_to_tools());
    const auto job = host.start_job(1);
    const auto environment = host.environment(job, 0);
    constexpr gid_t kWithoutRights = 65534;
    int number = 0;
    for (const auto& [user, claimed, served] : std::vector<std::array<gid_t, 3>>{
             {kStranger, 0, kWithoutRights}, {kStranger, kStranger, kWithoutRights}, {0, 1, 1}}) {
        ++number;
        EXPECT_EQ(as(user,
                     [&, group = claimed] {
                         return tool(environment, number, group).second == PMIX_SUCCESS ? 0 : 1;
                     }),
                  0);
        EXPECT_EQ(group_of_tool, served) << "user " << user << ", group " << claimed;
    }
}

TEST_F(Strangers, HaveABoundedNumberOfTools) {
    const auto let_in = [](pmix_server_module_t& module) {
        module.tool_connected = [](pmix_info_t*, size_t, pmix_tool_connection_cbfunc_t done, void* context) {
            done(PMIX_SUCCESS, nullptr, context);
        };
    };
    Host host(let_in, open_to_tools());
    const auto job = host.start_job(1);
    const auto environment = host.environment(job, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     constexpr size_t kTools = 256;
                     std::vector<std::unique_ptr<RawPeer>> all;
                     pmix_status_t status = PMIX_SUCCESS;
                     int number = 0;
                     while (all.size() < kTools + 1) {
                         auto [one, said] = tool(environment, ++number);
                         status = said;
                         if (said != PMIX_SUCCESS) break;
                         all.push_back(std::move(one));
                     }
                     if (all.size() != kTools || status != PMIX_ERR_OUT_OF_RESOURCE) return 1;
                     // When one has disconnected, another is accepted as soon as the server has detected it.
                     all.pop_back();
                     for (int i = 0; i < 2000 && status != PMIX_SUCCESS; ++i) {
                         usleep(10000);
                         status = tool(environment, ++number).second;
                     }
                     return status == PMIX_SUCCESS ? 0 : 2;
                 }),
              0);
    EXPECT_EQ(as(kOther, [&] { return tool(environment, 0).second == PMIX_SUCCESS ? 0 : 1; }), 0);
}

std::atomic<int> tools_asked{0};

bool until(const std::function<bool()>& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i)
        usleep(10000);
    return holds();
}

TEST_F(Strangers, WaitingToolsDoNotShutOutThoseOfOthers) {
    const auto let_wait = [](pmix_server_module_t& module) {
        module.tool_connected = [](pmix_info_t*, size_t, pmix_tool_connection_cbfunc_t, void*) {
            ++tools_asked;
        };
    };
    Host host(let_wait, open_to_tools());
    const auto job = host.start_job(1);
    const auto environment = host.environment(job, 0);
    const auto nameless = [&] {
        RawPeer raw(environment, RawPeer::Way::Tcp);
        ConnectRequest request = claim({}, 0, geteuid(), getegid());
        request.kind = muster::PeerKind::ToolNeedsId;
        request.euid = geteuid();
        request.egid = getegid();
        raw.say(build_connect_request(request).view());
        return raw;
    };
    int pipe_of[2], go_on[2];
    ASSERT_EQ(pipe(pipe_of), 0);
    ASSERT_EQ(pipe(go_on), 0);
    const auto stay = [&] {
        char end;
        return read(pipe_of[0], &end, 1) == 0 ? 0 : 2;
    };
    OtherUser greedy(kStranger, [&] {
        close(pipe_of[1]);
        close(go_on[1]);
        std::vector<RawPeer> all;
        for (int i = 0; i < 64; ++i)
            all.push_back(nameless());
        char byte;
        if (read(go_on[0], &byte, 1) != 0) return 3;
        // The last is refused, and the others wait.
        return nameless().dropped() ? stay() : 1;
    });
    EXPECT_TRUE(until([] { return tools_asked == 64; }));
    close(go_on[1]);
    OtherUser modest(kOther, [&] {
        close(pipe_of[1]);
        const RawPeer one = nameless();
        return stay();
    });
    EXPECT_TRUE(until([] { return tools_asked == 65; }));
    close(pipe_of[1]);
    EXPECT_EQ(greedy.status(), 0);
    EXPECT_EQ(modest.status(), 0);
    close(pipe_of[0]);
    close(go_on[0]);
}

TEST_F(Strangers, RequestsOfThreeWaitingUsersReachTheHostSeparately) {
    Host host;
    constexpr uid_t kThird = 12347;
    const uid_t users[] = {kStranger, kOther, kThird};
    const auto get = [] {
        Packer message = command(Command::Get);
        message.string("elsewhere").rank(0).infos({}).string("strangers.key");
        return message;
    };
    host.answer_modex(PMIX_ERR_NO_PERMISSIONS, "");
    host.hold("modex");
    std::vector<std::unique_ptr<OtherUser>> asking;
    for (const uid_t user : users) {
        const auto job = job_of(host, user);
        const auto environment = host.environment(job, 0);
        asking.push_back(std::make_unique<OtherUser>(user, [&] {
            Client client(environment, job, 0);
            return client.accepted() && client.ask(get()) == PMIX_ERR_NO_PERMISSIONS ? 0 : 1;
        }));
        // The other two connect while the upcall for the first is pending.
        ASSERT_TRUE(integration::until_waiting(asking.size()));
    }
    host.release("modex");
    for (const auto& one : asking)
        EXPECT_EQ(one->status(), 0);
    std::set<int> asked_for;
    for (const auto& upcall : host.upcalls("modex"))
        asked_for.insert(upcall.status);
    EXPECT_EQ(asked_for, std::set<int>(std::begin(users), std::end(users)));
}

TEST_F(Strangers, SeeNoJobsOfOtherUsers) {
    // The server's own answers, for a host without queries.
    Host host([](pmix_server_module_t& module) { module.query = nullptr; });
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto environment = host.environment(theirs, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, theirs, 0);
                     if (!client.accepted()) return 1;
                     return client.job_names() == theirs.nspace ? 0 : 2;
                 }),
              0);
    const auto roots = host.start_job(1);
    Client root(host.environment(roots, 0), roots, 0);
    ASSERT_TRUE(root.accepted());
    for (const auto* job : {&theirs, &others, &roots})
        EXPECT_NE(root.job_names().find(job->nspace), std::string::npos) << "root is not told of all";
}

TEST_F(Strangers, CannotQueryOtherUsers) {
    Host host([](pmix_server_module_t& module) { module.query = nullptr; });
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto environment = host.environment(theirs, 0);
    const auto ask = [](Client& client, const Host::Job& job) {
        char* argv[] = {const_cast<char*>(PMIX_JOB_SIZE), nullptr};
        Info subject;
        subject.add(PMIX_PROCID, muster::make_proc(job.nspace, PMIX_RANK_WILDCARD));
        const pmix_query_t query = {argv, &subject[0], 1};
        Packer message = command(Command::Query);
        message.counted(&query, 1, PMIX_QUERY);
        return client.ask(std::move(message));
    };
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, theirs, 0);
                     if (!client.accepted()) return 1;
                     if (ask(client, theirs) != PMIX_SUCCESS) return 2;
                     return ask(client, others) != PMIX_SUCCESS ? 0 : 3;
                 }),
              0);
}

TEST_F(Strangers, CannotForwardInputAndOutputOfOtherUsers) {
    Host host([](pmix_server_module_t& module) {
        module.iof_pull = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_iof_channel_t,
                             pmix_op_cbfunc_t, void*) -> pmix_status_t { return PMIX_OPERATION_SUCCEEDED; };
        module.push_stdin = [](const pmix_proc_t*, const pmix_proc_t*, size_t, const pmix_info_t*, size_t,
                               const pmix_byte_object_t*, pmix_op_cbfunc_t,
                               void*) -> pmix_status_t { return PMIX_OPERATION_SUCCEEDED; };
    });
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto environment = host.environment(theirs, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, theirs, 0);
                     if (!client.accepted()) return 1;
                     const auto push = [&](const Host::Job& job) {
                         const pmix_proc_t target = muster::make_proc(job.nspace, 0);
                         Packer message = command(Command::IofPush);
                         message.procs(&target, 1).infos({}).bytes({kSaid, sizeof kSaid});
                         return client.ask(std::move(message));
                     };
                     const auto pull = [&](const Host::Job& job) {
                         const pmix_proc_t source = muster::make_proc(job.nspace, 0);
                         const pmix_iof_channel_t channels = PMIX_FWD_STDOUT_CHANNEL;
                         Packer message = command(Command::IofPull);
                         message.procs(&source, 1).infos({}).items(&channels, 1, PMIX_IOF_CHANNEL).size(1);
                         return client.ask(std::move(message));
                     };
                     if (push(theirs) != PMIX_SUCCESS || pull(theirs) != PMIX_SUCCESS) return 2;
                     if (push(others) != PMIX_ERR_NO_PERMISSIONS) return 3;
                     return pull(others) == PMIX_ERR_NO_PERMISSIONS ? 0 : 4;
                 }),
              0);
}

TEST_F(Strangers, CannotAddProcessesOfOtherUsersToAGroup) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto their_environment = host.environment(theirs, 0), environment = host.environment(others, 0);
    const auto announces = [](const std::vector<std::string>& where, const Host::Job& job,
                              const std::vector<pmix_proc_t>& members) {
        Client client(where, job, 0);
        Packer message = command(Command::Notify);
        const pmix_data_range_t range = PMIX_RANGE_LOCAL;
        Info info;
        info.add(PMIX_GROUP_ID, members.size() == 1 ? "group of one" : "group of two");
        info.add(PMIX_GROUP_MEMBERSHIP, muster::Value::array(members.data(), members.size(), PMIX_PROC));
        message.status(PMIX_GROUP_CONSTRUCT_COMPLETE).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        if (!client.accepted() || client.ask(std::move(message)) != PMIX_SUCCESS) return std::string("?");
        return client.names().second;
    };
    const pmix_proc_t their = muster::make_proc(theirs.nspace, 0),
                      other = muster::make_proc(others.nspace, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     return announces(their_environment, theirs, {their, other}).empty() ? 0 : 1;
                 }),
              0);
    EXPECT_EQ(as(kOther, [&] { return announces(environment, others, {other}) == "group of one," ? 0 : 1; }),
              0)
        << "a group of its own is one, and the only one";
}

}  // namespace
