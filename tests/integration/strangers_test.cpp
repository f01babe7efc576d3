// SPDX-License-Identifier: BSD-3-Clause
// Other users at a root server: they cannot obtain another identity in any way.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <pmix.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/covers.hpp"
#include "tests/integration/strangers.hpp"

namespace {

using namespace strangers;

pmix_info_t external_progress() {
    pmix_info_t info;
    std::memset(&info, 0, sizeof info);
    const bool yes = true;
    EXPECT_EQ(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL), PMIX_SUCCESS);
    return info;
}

TEST_F(Strangers, AreRefusedWhenTheyDisconnectBeforeTheKernelIsAsked) {
    covers("SRV-30");
    // Driven by hand: the server checks only after the peer has disconnected.
    Host host({}, {external_progress()});
    const auto job = host.start_job(1);
    const auto request = build_connect_request(claim(job, 0, geteuid(), getegid()));
    const auto environment = host.environment(job, 0);
    ASSERT_EQ(as(kStranger,
                 [&] {
                     RawPeer raw(environment, RawPeer::Way::Tcp);
                     if (!raw.connected()) return 1;
                     return raw.say(request.view()) ? 0 : 2;
                 }),
              0);
    for (int i = 0; i < 50; ++i)
        host.progress(0.01);
    EXPECT_TRUE(host.upcalls("connected").empty()) << "a stranger has passed for root's process";
}

/// Runs `body` in a separate process, in which the kernel does not report the owner of a connection.
bool well_without_sock_diag(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        sock_filter program[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog filter = {std::size(program), program};
        EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

TEST(TcpWithoutSockDiag, BothPeersNameTheMissingProofOfIdentity) {
    EXPECT_TRUE(well_without_sock_diag([] {
        setenv("PMIX_MCA_ptl_base_verbose", "1", 1);
        setenv("PMIX_MCA_client_base_verbose", "1", 1);
        setenv("PMIX_MCA_psec", "native", 1);
        testing::internal::CaptureStderr();
        {
            Host host;
            const auto job = host.start_job(1);
            setenv("PMIX_MCA_ptl", "tcp", 1);
            auto client = host.start(job, 0, {"init"});
            EXPECT_NE(client.wait(), 0);
            EXPECT_TRUE(host.upcalls("connected").empty());
        }
        const std::string log = testing::internal::GetCapturedStderr();
        for (const char* said : {"the kernel does not say whose process is at the other end",
                                 "does not accept", "psec/native proves something over TCP only where"})
            EXPECT_NE(log.find(said), std::string::npos) << said << " is not in: " << log;
        for (const char* remedy : {"psec/munge", "PMIX_MCA_psec_native_trust_claims=1"}) {
            const size_t first = log.find(remedy);
            ASSERT_NE(first, std::string::npos) << log;
            EXPECT_NE(log.find(remedy, first + 1), std::string::npos) << "one end does not say so: " << log;
        }
    }));
    // A local socket needs none of this.
    EXPECT_TRUE(well_without_sock_diag([] {
        Host host;
        auto client = host.start(host.start_job(1), 0, {"init"});
        EXPECT_EQ(client.line(), "INIT");
        client.go_on();
        EXPECT_EQ(client.wait(), 0);
    }));
}

TEST_F(Strangers, CannotReadDataOfOtherUsers) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto environment = host.environment(theirs, 0);
    const auto get = [](const Host::Job& job, pmix_rank_t rank) {
        Packer message = command(Command::Get);
        message.string(job.nspace).rank(rank).infos({});
        return message;
    };
    const auto refresh = [](const Host::Job& job) {
        Packer message = command(Command::RefreshCache);
        message.string(job.nspace).rank(PMIX_RANK_WILDCARD);
        return message;
    };
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, theirs, 0);
                     if (!client.accepted()) return 1;
                     if (client.ask(get(theirs, PMIX_RANK_WILDCARD)) != PMIX_SUCCESS) return 2;
                     if (client.ask(get(others, PMIX_RANK_WILDCARD)) != PMIX_ERR_NO_PERMISSIONS) return 3;
                     if (client.ask(get(others, 0)) != PMIX_ERR_NO_PERMISSIONS) return 4;
                     if (client.ask(refresh(theirs)) != PMIX_SUCCESS) return 5;
                     if (client.ask(refresh(others)) != PMIX_ERR_NO_PERMISSIONS) return 6;
                     return 0;
                 }),
              0);
}

TEST_F(Strangers, GetNoCachedDataOfOtherUsers) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther), roots = host.start_job(1);
    const auto environment_of = [&](const Host::Job& job) { return host.environment(job, 0); };
    const auto their_environment = environment_of(theirs), environment = environment_of(others);
    const auto get = [] {
        Packer message = command(Command::Get);  // of a process of which only the host knows the owner
        message.string("elsewhere").rank(0).infos({}).string("strangers.key");
        return message;
    };
    const auto refresh = [] {
        Packer message = command(Command::RefreshCache);
        message.string("elsewhere").rank(0);
        return message;
    };
    Packer values(format());
    values.kval("strangers.key", *muster::Value::from("secret"));
    const auto bytes = values.view();
    host.answer_modex(PMIX_SUCCESS, std::string(bytes.begin(), bytes.end()));
    const auto asks_twice = [&](const std::vector<std::string>& where, const Host::Job& job,
                                pmix_status_t expected) {
        Client client(where, job, 0);
        if (!client.accepted()) return 1;
        for (int i = 0; i < 2; ++i) {
            if (client.ask(get()) != expected) return 2 + i;
        }
        return client.ask(refresh()) == (expected == PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS)
                   ? 0
                   : 4;
    };
    EXPECT_EQ(as(kStranger, [&] { return asks_twice(their_environment, theirs, PMIX_SUCCESS); }), 0);
    ASSERT_EQ(host.upcalls("modex").size(), 1U) << "what was given is kept for the user";
    host.answer_modex(PMIX_ERR_NO_PERMISSIONS, "");
    EXPECT_EQ(as(kOther, [&] { return asks_twice(environment, others, PMIX_ERR_NO_PERMISSIONS); }), 0);
    const auto asked = host.upcalls("modex");
    ASSERT_EQ(asked.size(), 3U) << "each time it is the host's decision";
    EXPECT_EQ(asked[0].status, static_cast<int>(kStranger));
    EXPECT_EQ(asked[1].status, static_cast<int>(kOther));
    EXPECT_EQ(as(kStranger, [&] { return asks_twice(their_environment, theirs, PMIX_SUCCESS); }), 0);
    Client root(host.environment(roots, 0), roots, 0);
    ASSERT_TRUE(root.accepted());
    EXPECT_EQ(root.ask(get()), PMIX_SUCCESS) << "the server's own user may everything";
    EXPECT_EQ(host.upcalls("modex").size(), 3U);
}

TEST_F(Strangers, ConcurrentRequestsOfTwoUsersAreAnsweredSeparately) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto their_environment = host.environment(theirs, 0), environment = host.environment(others, 0);
    const auto get = [] {
        Packer message = command(Command::Get);
        message.string("elsewhere").rank(0).infos({}).string("strangers.key");
        return message;
    };
    Packer values(format());
    values.kval("strangers.key", *muster::Value::from("secret"));
    const auto bytes = values.view();
    host.answer_modex(PMIX_SUCCESS, std::string(bytes.begin(), bytes.end()));
    host.hold("modex");
    const auto asks = [&](const std::vector<std::string>& where, const Host::Job& job,
                          pmix_status_t expected) {
        Client client(where, job, 0);
        return client.accepted() && client.ask(get()) == expected ? 0 : 1;
    };
    OtherUser first(kStranger, [&] { return asks(their_environment, theirs, PMIX_SUCCESS); });
    ASSERT_TRUE(host.wait_for("modex", 1));
    host.answer_modex(PMIX_ERR_NO_PERMISSIONS, "");
    OtherUser second(kOther, [&] { return asks(environment, others, PMIX_ERR_NO_PERMISSIONS); });
    ASSERT_TRUE(integration::until_waiting(2));
    host.release("modex");
    EXPECT_EQ(first.status(), 0);
    EXPECT_EQ(second.status(), 0);
    const auto asked = host.upcalls("modex");
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[1].status, static_cast<int>(kOther));
}

TEST_F(Strangers, CannotNotifyProcessesOfOtherUsers) {
    constexpr pmix_status_t kCode = PMIX_ERR_PROC_ABORTED;
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther), roots = host.start_job(1);
    const auto their_environment = host.environment(theirs, 0), environment = host.environment(others, 0);
    const auto notify = [] {
        Packer message = command(Command::Notify);
        const pmix_data_range_t range = PMIX_RANGE_LOCAL;
        message.status(kCode).items(&range, 1, PMIX_DATA_RANGE).infos({});
        return message;
    };
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    OtherUser listener(kOther, [&] {
        close(ready[0]);
        Client client(environment, others, 0);
        Packer message = command(Command::RegisterEvents);
        message.counted(&kCode, 1, PMIX_STATUS).infos({});
        if (!client.accepted() || client.ask(std::move(message)) != PMIX_SUCCESS) return 1;
        if (write(ready[1], "r", 1) != 1) return 2;
        return client.heard_event() == roots.nspace ? 0 : 3;
    });
    close(ready[1]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(their_environment, theirs, 0);
                     return client.accepted() && client.ask(notify()) == PMIX_SUCCESS ? 0 : 1;
                 }),
              0);
    // Root's event is the first that it gets.
    Client root(host.environment(roots, 0), roots, 0);
    ASSERT_TRUE(root.accepted());
    EXPECT_EQ(root.ask(notify()), PMIX_SUCCESS);
    EXPECT_EQ(listener.status(), 0);
}

TEST_F(Strangers, SeeNoSetsAndGroupsOfOtherUsers) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto their_environment = host.environment(theirs, 0), environment = host.environment(others, 0);
    const auto define = [](const char* name, std::vector<pmix_proc_t> members) {
        EXPECT_EQ(PMIx_server_define_process_set(members.data(), members.size(), name), PMIX_SUCCESS);
    };
    const pmix_proc_t their = muster::make_proc(theirs.nspace, PMIX_RANK_WILDCARD);
    const pmix_proc_t other = muster::make_proc(others.nspace, 0);
    define("set of others", {other});
    define("set of both", {other, their});
    // A group of others.
    int made[2], looked[2];
    ASSERT_EQ(pipe(made), 0);
    ASSERT_EQ(pipe(looked), 0);
    OtherUser owner(kOther, [&] {
        close(looked[1]);
        Client client(environment, others, 0);
        Packer message = command(Command::Notify);
        const pmix_data_range_t range = PMIX_RANGE_LOCAL;
        Info info;
        info.add(PMIX_GROUP_ID, "group of others");
        info.add(PMIX_GROUP_MEMBERSHIP, muster::Value::array(&other, 1, PMIX_PROC));
        info.add(PMIX_EVENT_AFFECTED_PROC, other);
        message.status(PMIX_GROUP_CONSTRUCT_COMPLETE).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        if (!client.accepted() || client.ask(std::move(message)) != PMIX_SUCCESS) return 1;
        char byte = 'm';
        if (write(made[1], &byte, 1) != 1 || read(looked[0], &byte, 1) != 1) return 2;
        const auto [sets, groups] = client.names();
        return sets == "set of others,set of both," && groups == "group of others," ? 0 : 3;
    });
    close(made[1]);
    char byte = 0;
    ASSERT_EQ(read(made[0], &byte, 1), 1);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    OtherUser stranger(kStranger, [&] {
        close(ready[0]);
        Client client(their_environment, theirs, 0);
        if (!client.accepted()) return 1;
        const auto [sets, groups] = client.names();
        if (sets != "set of both," || !groups.empty()) return 2;
        Packer message = command(Command::RegisterEvents);
        const pmix_status_t code = PMIX_PROCESS_SET_DELETE;
        message.counted(&code, 1, PMIX_STATUS).infos({});
        if (client.ask(std::move(message)) != PMIX_SUCCESS) return 3;
        if (write(ready[1], "r", 1) != 1) return 4;
        // The first that it gets.
        return client.heard_set() == "set of both" ? 0 : 5;
    });
    close(ready[1]);
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    for (const char* name : {"set of others", "set of both"})
        EXPECT_EQ(PMIx_server_delete_process_set(const_cast<char*>(name)), PMIX_SUCCESS);
    EXPECT_EQ(stranger.status(), 0);
    define("set of others", {other});
    define("set of both", {other, their});
    ASSERT_EQ(write(looked[1], &byte, 1), 1);
    EXPECT_EQ(owner.status(), 0);
    for (const int fd : {made[0], looked[0], looked[1], ready[0]})
        close(fd);
}

TEST_F(Strangers, CannotChangeGroupsOfOtherUsers) {
    Host host;
    const auto theirs = job_of(host, kStranger), others = job_of(host, kOther);
    const auto their_environment = host.environment(theirs, 0), environment = host.environment(others, 0);
    const pmix_proc_t member = muster::make_proc(others.nspace, 0);
    const auto notify = [&](pmix_status_t code) {
        Packer message = command(Command::Notify);
        const pmix_data_range_t range = PMIX_RANGE_LOCAL;
        Info info;
        info.add(PMIX_GROUP_ID, "group of others");
        info.add(PMIX_GROUP_MEMBERSHIP, muster::Value::array(&member, 1, PMIX_PROC));
        info.add(PMIX_EVENT_AFFECTED_PROC, member);
        message.status(code).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        return message;
    };
    int made[2], tried[2];
    ASSERT_EQ(pipe(made), 0);
    ASSERT_EQ(pipe(tried), 0);
    OtherUser owner(kOther, [&] {
        close(tried[1]);
        Client client(environment, others, 0);
        if (!client.accepted() || client.ask(notify(PMIX_GROUP_CONSTRUCT_COMPLETE)) != PMIX_SUCCESS) return 1;
        char byte = 'm';
        if (write(made[1], &byte, 1) != 1 || read(tried[0], &byte, 1) != 1) return 2;
        // A member may destruct the group; afterwards no process may.
        Packer message = command(Command::GroupLeave);
        message.string("group of others").infos({});
        return client.ask(std::move(message)) == PMIX_SUCCESS ? 0 : 3;
    });
    close(made[1]);
    char byte = 0;
    ASSERT_EQ(read(made[0], &byte, 1), 1);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(their_environment, theirs, 0);
                     if (!client.accepted()) return 1;
                     for (const pmix_status_t code : {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEFT})
                         client.ask(notify(code));
                     return 0;
                 }),
              0);
    ASSERT_EQ(write(tried[1], &byte, 1), 1);
    EXPECT_EQ(owner.status(), 0);
    for (const int fd : {made[0], tried[0], tried[1]})
        close(fd);
}

TEST_F(Strangers, CleanupRemovesOnlyFilesThatTheUserMayRemove) {
    char scratch[] = "/tmp/strangers-XXXXXX";  // below TMPDIR others may reach nothing
    ASSERT_NE(mkdtemp(scratch), nullptr);
    const std::string top(scratch), theirs = top + "/theirs", roots = top + "/roots";
    ASSERT_EQ(chmod(scratch, 0755), 0);
    const auto make_file = [](const std::string& path) {
        std::ofstream(path) << "x";
        EXPECT_EQ(chown(path.c_str(), kStranger, kStranger), 0);
    };
    // They own a file in each directory, but only one of the directories.
    for (const std::string& folder : {theirs, roots}) {
        ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
        make_file(folder + "/file");
    }
    ASSERT_EQ(chown(theirs.c_str(), kStranger, kStranger), 0);
    Host host;
    const auto job = job_of(host, kStranger);
    const auto environment = host.environment(job, 0);
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, job, 0);
                     Packer message = command(Command::JobControl);
                     Info files;
                     files.add(PMIX_REGISTER_CLEANUP, (theirs + "/file," + roots + "/file").c_str());
                     message.procs(nullptr, 0).infos(files);
                     return client.accepted() && client.ask(std::move(message)) == PMIX_SUCCESS ? 0 : 1;
                 }),
              0);
    host.deregister_job(job);
    EXPECT_FALSE(std::filesystem::exists(theirs + "/file"));
    EXPECT_TRUE(std::filesystem::exists(roots + "/file")) << "a stranger has used root's rights";
    // The rights are restored.
    std::ofstream(roots + "/of root") << "x";
    EXPECT_TRUE(std::filesystem::exists(roots + "/of root"));
    std::filesystem::remove_all(top);
}

TEST_F(Strangers, CannotLogAsOtherUsers) {
    Host host;
    const auto job = job_of(host, kStranger), others = job_of(host, kOther);
    const auto environment = host.environment(job, 0);
    const auto log = [](const Host::Job& source) {
        Packer message = command(Command::Log);
        Info data, directives;
        const time_t now = 0;
        data.add("no.such.channel", "text");
        directives.add(PMIX_LOG_SOURCE, muster::make_proc(source.nspace, 0));
        message.items(&now, 1, PMIX_TIME).infos(data).infos(directives);
        return message;
    };
    EXPECT_EQ(as(kStranger,
                 [&] {
                     Client client(environment, job, 0);
                     if (!client.accepted()) return 1;
                     if (client.ask(log(others)) != PMIX_ERR_NO_PERMISSIONS) return 2;
                     return client.ask(log(job)) != PMIX_ERR_NO_PERMISSIONS ? 0 : 3;
                 }),
              0);
}

}  // namespace
