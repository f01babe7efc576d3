// SPDX-License-Identifier: BSD-3-Clause
// Many clients of one server at once: all connect before the server has answered any, and all send requests
// before it has answered any; and complete runs of many real processes.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/exchange/command.hpp"
#include "framework/packer.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace {

using integration::Host;
using integration::Process;
using integration::RawPeer;

constexpr uint32_t kMany = 512;

TEST(ManyClients, FiveHundredAndTwelveConnectAndQueryConcurrently) {
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_max < 3 * kMany) GTEST_SKIP() << "this process may not have as many files open";

    Host host;
    const auto job = host.start_job(kMany);
    std::vector<RawPeer> peers;
    for (pmix_rank_t rank = 0; rank < kMany; ++rank) {
        peers.emplace_back(host.environment(job, rank));
        ASSERT_TRUE(peers.back().connected()) << rank;
    }
    for (pmix_rank_t rank = 0; rank < kMany; ++rank) {
        const muster::ConnectRequest request = integration::claim(job.nspace, rank, geteuid(), getegid());
        ASSERT_TRUE(peers[rank].say(muster::build_connect_request(request).view())) << rank;
    }
    for (RawPeer& peer : peers) {
        const auto reply = peer.hear(8, 60);
        ASSERT_EQ(reply.size(), 8U);
        EXPECT_EQ(std::vector<uint8_t>(reply.begin(), reply.begin() + 4), std::vector<uint8_t>(4, 0));
    }
    muster::Packer ask({&muster::test::codec(), muster::BufferType::NonDescribed});
    ask.command(static_cast<uint8_t>(muster::Command::JobInfo));
    for (RawPeer& peer : peers)
        ASSERT_TRUE(peer.say_frame(100, ask.view()));
    std::vector<uint8_t> first;
    for (RawPeer& peer : peers) {
        const auto reply = peer.hear_frame(60);
        ASSERT_GT(reply.size(), job.nspace.size());
        if (first.empty()) first = reply;
        EXPECT_EQ(reply, first) << "all are told the same";
    }
}

/// MUSTER_CLIENTS=512 is the long form.
TEST(ManyClients, RunConcurrently) {
    const char* given = std::getenv("MUSTER_CLIENTS");
    const auto count = given != nullptr ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : 12;
    const char* stores = std::getenv("PMIX_MCA_gds");
    const bool shared = stores == nullptr || std::string(stores) != "hash";
    Host host;
    const auto job = host.start_job(count);
    std::vector<Process> processes;
    for (pmix_rank_t rank = 0; rank < count; ++rank) {
        processes.push_back(host.start_program(
            job, rank, STORE_CLIENT, {"life", std::to_string(count), "100", shared ? "mapped" : "sent"}));
    }
    for (Process& process : processes) {
        const int status = process.wait(100);
        EXPECT_EQ(status, 0) << process.line(0);
    }
}

}  // namespace
