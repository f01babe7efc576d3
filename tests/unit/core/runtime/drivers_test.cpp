// SPDX-License-Identifier: BSD-3-Clause
// The drivers that the loop of each kind of process has.
#include <gtest/gtest.h>
#include <sched.h>

#include "core/runtime/runtime.hpp"
#include "framework/base/info.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster {
namespace {

std::unique_ptr<Runtime> make(Runtime::Role role, bool external) {
    Info info;
    if (external) info.add(PMIX_EXTERNAL_PROGRESS, true);
    Runtime::Options options;
    options.role = role;
    options.info = info;
    auto made = Runtime::create(options);
    EXPECT_TRUE(made) << made.error().text;
    return made ? std::move(*made) : nullptr;
}

TEST(Drivers, NoCallerDrivesTheLoopOfAServer) {
    const auto server = make(Runtime::Role::Server, false);
    ASSERT_NE(server, nullptr);
    server->start();
    EXPECT_FALSE(server->host_drives());
    EXPECT_EQ(server->callers(), nullptr);
    Task task = [] { FAIL(); };
    EXPECT_FALSE(server->run_here(task));
    EXPECT_FALSE(server->progress());
    server->catch_up();
}

TEST(Drivers, CallersDriveTheLoopOfAClientBesideItsThread) {
    const auto client = make(Runtime::Role::Client, false);
    ASSERT_NE(client, nullptr);
    client->start();
    EXPECT_FALSE(client->host_drives());
    bool ran = false;
    Task task = [&] { ran = true; };
    EXPECT_TRUE(client->run_here(task));
    EXPECT_TRUE(ran);
    EXPECT_FALSE(client->progress());
    client->stop();
    EXPECT_FALSE(client->run_here(task));
}

TEST(Drivers, ALoopPollsIfThereIsAProcessorForEachProcess) {
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    const auto processors = static_cast<size_t>(CPU_COUNT(&mine));
    const auto client = make(Runtime::Role::Client, false);
    ASSERT_NE(client, nullptr);
    EXPECT_FALSE(client->loop().polling().allowed());
    client->set_company(processors);
    EXPECT_TRUE(client->loop().polling().allowed());
    client->set_company(processors + 1);
    EXPECT_FALSE(client->loop().polling().allowed());
}

TEST(Drivers, AServerPollsIfItHasASecondProcessor) {
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    const testing_in_memory::TemporaryFolder folder;
    const pmix_server_module_t module{};
    Info directives;
    directives.add(PMIX_SERVER_TMPDIR, folder.path());
    directives.add(PMIX_SYSTEM_TMPDIR, folder.path());
    auto server = Process::create_server(&module, sizeof module, directives);
    ASSERT_TRUE(server) << server.error().text;
    (*server)->runtime().start();
    EXPECT_EQ((*server)->runtime().loop().polling().allowed(), CPU_COUNT(&mine) > 1);
    (*server)->say_goodbye();
}

TEST(Drivers, AHostDrivesAloneWithExternalProgress) {
    for (const auto role : {Runtime::Role::Client, Runtime::Role::Server}) {
        const auto driven = make(role, true);
        ASSERT_NE(driven, nullptr);
        driven->start();
        EXPECT_TRUE(driven->host_drives());
        EXPECT_GE(driven->callers()->poll_fd(), 0);
        bool ran = false;
        Task task = [&] { ran = true; };
        EXPECT_FALSE(driven->run_here(task)) << "what a call sends waits for the host";
        driven->loop().post(std::move(task));
        EXPECT_FALSE(ran);
        EXPECT_TRUE(driven->progress());
        EXPECT_TRUE(ran);
        driven->stop();
        EXPECT_FALSE(driven->loop().stopped());
    }
}

}  // namespace
}  // namespace muster
