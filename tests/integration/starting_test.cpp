// SPDX-License-Identifier: BSD-3-Clause
// The start of processes by a host: it registers each (PMIx_server_register_client) and gets its environment
// (PMIx_server_setup_fork), whatever the progress thread does at that time.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/endian.hpp"
#include "tests/covers.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"

namespace {

using integration::Host;
using integration::RawPeer;
using muster::PeerKind;

pmix_proc_t process_of(const Host::Job& job, pmix_rank_t rank) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", job.nspace.c_str());
    proc.rank = rank;
    return proc;
}

/// The lock that a host holds in its own calls, and that its upcalls take: the interpreter's lock in a Python
/// server.
struct Interpreter {
    std::mutex lock;
    std::atomic<bool> waits{false};
    std::atomic<int> stuck{0};
} interpreter;

TEST(Starting, AHostMayHoldTheLockThatAnUpcallNeeds) {
    covers("SRV-28", "SRV-34");
    interpreter.waits = false;
    interpreter.stuck = 0;
    Host host([](pmix_server_module_t& module) {
        module.client_connected2 = [](const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t,
                                      void*) -> pmix_status_t {
            interpreter.waits = true;
            bool taken = false;
            for (int i = 0; i < 1000 && !taken; ++i) {
                taken = interpreter.lock.try_lock();
                if (!taken) usleep(10000);
            }
            if (taken) {
                interpreter.lock.unlock();
            } else {
                ++interpreter.stuck;
            }
            return PMIX_OPERATION_SUCCEEDED;
        };
    });
    const auto job = host.start_job(3);
    std::vector<integration::Process> processes;
    {
        const std::lock_guard calls(interpreter.lock);
        processes.push_back(host.start(job, 0, {"init"}));
        for (int i = 0; i < 2000 && !interpreter.waits; ++i)
            usleep(10000);
        ASSERT_TRUE(interpreter.waits);
        for (const pmix_rank_t rank : {1U, 2U}) {
            const pmix_proc_t proc = process_of(job, rank);
            EXPECT_EQ(PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr),
                      PMIX_OPERATION_SUCCEEDED);
            processes.push_back(host.start(job, rank, {"init"}));
        }
    }
    for (auto& process : processes) {
        EXPECT_EQ(process.line(), "INIT");
        process.go_on();
        EXPECT_EQ(process.wait(), 0);
    }
    EXPECT_EQ(interpreter.stuck, 0);
}

/// The identification of a process that the host has started.
class ConnectsAtOnce : public testing::TestWithParam<PeerKind> {};

TEST_P(ConnectsAtOnce, AProcessMayConnectAsSoonAsItIsRegistered) {
    covers("SRV-28");
    Host host;
    const auto job = host.start_job(1);
    const auto environment = host.environment(job, 0);
    for (pmix_rank_t rank = 1; rank <= 1000; ++rank) {
        const pmix_proc_t proc = process_of(job, rank);
        ASSERT_EQ(PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr),
                  PMIX_OPERATION_SUCCEEDED);
        RawPeer peer(environment);
        ASSERT_TRUE(peer.connected());
        auto request = integration::claim(job.nspace, rank, geteuid(), getegid());
        request.kind = GetParam();
        request.euid = geteuid();
        request.egid = getegid();
        peer.say(build_connect_request(request).view());
        const auto verdict = peer.hear(4);
        ASSERT_EQ(verdict.size(), 4U) << "refused, rank " << rank;
        ASSERT_EQ(static_cast<pmix_status_t>(muster::load_be32(verdict.data())), PMIX_SUCCESS) << rank;
    }
}

INSTANTIATE_TEST_SUITE_P(Starting, ConnectsAtOnce,
                         testing::Values(PeerKind::Client, PeerKind::ToolClient, PeerKind::LauncherClient),
                         [](const auto& kind) -> std::string {
                             switch (kind.param) {
                                 case PeerKind::ToolClient:
                                     return "Tool";
                                 case PeerKind::LauncherClient:
                                     return "Launcher";
                                 default:
                                     return "Client";
                             }
                         });

TEST(Starting, SetupForkSeesPendingLocalSupport) {
    covers("SRV-34");
    Host host;
    const auto job = host.start_job(2);
    host.environment(job, 0);
    std::atomic<int> answers{0};
    const auto count = [](pmix_status_t, void* answers_of) { ++*static_cast<std::atomic<int>*>(answers_of); };
    std::vector<pmix_info_t> given(200);  // each lent until the answer
    for (int round = 0; round < 200; ++round) {
        pmix_info_t& info = given[static_cast<size_t>(round)];
        const std::string value = std::to_string(round);
        pmix_envar_t variable{const_cast<char*>("STARTING_ROUND"), const_cast<char*>(value.c_str()), ':'};
        memset(&info, 0, sizeof info);
        ASSERT_EQ(PMIx_Info_load(&info, PMIX_SET_ENVAR, &variable, PMIX_ENVAR), PMIX_SUCCESS);
        // Without waiting for the answer.
        ASSERT_EQ(PMIx_server_setup_local_support(job.nspace.c_str(), &info, 1, count, &answers),
                  PMIX_SUCCESS);
        const auto environment = host.environment(job, 1);
        EXPECT_EQ(std::count(environment.begin(), environment.end(), "STARTING_ROUND=" + value), 1) << round;
    }
    for (int i = 0; i < 2000 && answers < 200; ++i)
        usleep(10000);
    EXPECT_EQ(answers, 200);
    for (pmix_info_t& info : given)
        PMIx_Info_destruct(&info);
}

TEST(Starting, SetupForkMayRunOnAnyThreadWhileJobsChange) {
    covers("SRV-34");
    Host host;
    const auto job = host.start_job(8);
    const auto expected = host.environment(job, 3);
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            while (!over)
                EXPECT_EQ(host.environment(job, 3), expected);
        });
    }
    for (int round = 0; round < 100; ++round) {
        const auto other = host.start_job(4);
        pmix_envar_t variable{const_cast<char*>("STARTING_OTHER"), const_cast<char*>("1"), ':'};
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        EXPECT_EQ(PMIx_Info_load(&info, PMIX_SET_ENVAR, &variable, PMIX_ENVAR), PMIX_SUCCESS);
        EXPECT_EQ(PMIx_server_setup_local_support(other.nspace.c_str(), &info, 1, nullptr, nullptr),
                  PMIX_OPERATION_SUCCEEDED);
        PMIx_Info_destruct(&info);
        host.deregister_job(other);
    }
    over = true;
    for (auto& thread : threads)
        thread.join();
}

}  // namespace
