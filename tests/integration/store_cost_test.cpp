// SPDX-License-Identifier: BSD-3-Clause
// The savings of the shared store (docs/explanation/store.md): messages, system calls, allocations, files,
// memory; and data fetched by one process are available to the others. Its client is store/cost_client.cpp.
#include <gtest/gtest.h>
#include <malloc.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "core/exchange/command.hpp"
#include "framework/base/value.hpp"
#include "framework/packer.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace {

using integration::Host;
using integration::Process;
using integration::RawPeer;
using muster::Packer;

/// Selects the store before the host is created, which reads the selection.
struct WithSharedStore {
    WithSharedStore() { setenv("PMIX_MCA_gds", "shmem", 1); }
};

class StoreCost : public testing::Test, private WithSharedStore {
  protected:
    Process start(const Host::Job& job, pmix_rank_t rank, const std::vector<std::string>& words,
                  const std::vector<std::string>& more = {}) {
        return host.start_program(job, rank, COST_CLIENT, words, more);
    }
    /// Returns the output of both processes of a job of two, which must succeed.
    std::vector<std::string> run_two(const std::string& what, const std::vector<std::string>& more = {}) {
        const auto job = host.start_job(2);
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0])
            processes.push_back(start(job, rank, {what}, more));
        std::vector<std::string> said;
        for (Process& process : processes) {
            const int status = process.wait(60);
            said.push_back(process.line(0));
            EXPECT_EQ(status, 0) << said.back();
        }
        return said;
    }
    static Packer packer() { return Packer({&muster::test::codec(), muster::BufferType::NonDescribed}); }

    Host host;
};

TEST_F(StoreCost, InitIsOneRoundTrip) {
    run_two("init");
}

TEST_F(StoreCost, AGetMakesNoSystemCallAndAllocatesOnlyItsValue) {
    run_two("gets");
}

/// Returns the expected list of opened component files; linked-in components have no file.
std::vector<std::string> files_of(const std::vector<std::string>& components) {
    const std::string opened = "," MUSTER_TEST_OPENED ",";
    std::vector<std::string> files;
    for (const std::string& component : components) {
        if (opened.find(",mca_" + component + ",") != std::string::npos)
            files.push_back("mca_" + component + ".so");
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> files_said(const std::string& said) {
    std::istringstream words(said);
    std::string word;
    EXPECT_TRUE(words >> word && word == "FILES") << said;
    std::vector<std::string> files;
    while (words >> word)
        files.push_back(word);
    std::sort(files.begin(), files.end());
    return files;
}

TEST_F(StoreCost, AProcessOpensOnlyTheComponentsThatItUses) {
    for (const std::string& said : run_two("files"))
        EXPECT_EQ(files_said(said),
                  files_of({"ptl_usock", "gds_hash", "gds_shmem", "bfrops_v41", "psec_native"}));
    for (const std::string& said : run_two("files", {"PMIX_MCA_ptl=tcp"}))
        EXPECT_EQ(files_said(said),
                  files_of({"ptl_tcp", "gds_hash", "gds_shmem", "bfrops_v41", "psec_native"}));
}

TEST_F(StoreCost, MemoryOfAClientDoesNotGrowWithTheJob) {
    std::vector<long> used;
    for (const uint32_t elsewhere : {2U, 20000U}) {
        const auto job = host.start_job(2, elsewhere);
        auto client = start(job, 0, {"memory", std::to_string(job.size())});
        const std::string said = client.line(60);
        EXPECT_EQ(client.wait(), 0);
        ASSERT_EQ(said.rfind("USES ", 0), 0U) << said;
        used.push_back(std::atol(said.c_str() + 5));
    }
    // Less than a byte of a rank.
    EXPECT_LT(used[1] - used[0], 16 * 1024) << used[0] << " and " << used[1];
}

TEST_F(StoreCost, RemoteDataOfAFenceIsSharedByAllLocalClients) {
    const auto job = host.start_job(2, 1);
    // As the server of the other node would contribute it.
    Packer values = packer(), object = packer(), body = packer(), envelope = packer(), all = packer();
    values.kval("cost.far", *muster::Value::from("from afar"));
    object.proc(muster::make_proc(job.nspace, 2)).raw(values.view());
    body.byte(1).bytes(object.view());
    envelope.boolean(false).bytes(body.view());
    all.bytes(envelope.view());
    const auto blob = all.view();
    host.answer_fence(PMIX_SUCCESS, std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(start(job, rank, {"seek", "2", "cost.far", "fence"}));
    for (Process& process : processes) {
        EXPECT_EQ(process.line(), "INIT");
        process.go_on();
    }
    for (Process& process : processes) {
        EXPECT_EQ(process.line(), "GOT from afar");
        process.go_on();
        EXPECT_EQ(process.wait(), 0);
    }
    EXPECT_TRUE(host.upcalls("modex").empty());
}

TEST_F(StoreCost, DataFetchedForOneClientIsSharedByAll) {
    const auto job = host.start_job(2, 1);
    Packer values = packer();
    values.kval("cost.far", *muster::Value::from("from afar"));
    const auto blob = values.view();
    host.answer_modex(PMIX_SUCCESS, std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
    auto other = start(job, 1, {"seek", "2", "cost.far", "look"});
    auto asking = start(job, 0, {"seek", "2", "cost.far", "ask"});
    EXPECT_EQ(other.line(), "INIT");
    EXPECT_EQ(asking.line(), "INIT");
    asking.go_on();
    EXPECT_EQ(asking.line(), "GOT from afar");
    other.go_on();
    EXPECT_EQ(other.line(), "GOT from afar") << "without asking anybody";
    EXPECT_EQ(host.upcalls("modex").size(), 1U);
    for (Process* process : {&other, &asking}) {
        process->go_on();
        EXPECT_EQ(process->wait(), 0);
    }
}

/// All clients that are sent their job data get the same one copy.
TEST_F(StoreCost, AServerKeepsOnePackedCopyOfJobData) {
    constexpr pmix_rank_t kPeers = 32;
    constexpr size_t kMuch = size_t{2} << 20;
    const auto job = host.start_job(kPeers, 0, [](void* list) {
        const std::string much(kMuch, 'x');
        PMIx_Info_list_add(list, "cost.much", much.c_str(), PMIX_STRING);
    });
    std::vector<RawPeer> peers;
    for (pmix_rank_t rank = 0; rank < kPeers; ++rank) {
        peers.emplace_back(host.environment(job, rank));
        const auto request = integration::claim(job.nspace, rank, geteuid(), getegid());
        ASSERT_TRUE(peers.back().say(muster::build_connect_request(request).view())) << rank;
        ASSERT_EQ(peers.back().hear(8).size(), 8U);
    }
    Packer ask = packer();
    ask.command(static_cast<uint8_t>(muster::Command::JobInfo));
    const auto used = [] {
        const struct mallinfo2 now = mallinfo2();
        return now.uordblks + now.hblkhd;
    };
    // The first causes the packing. The others stop reading, so their data wait in the server.
    ASSERT_TRUE(peers[0].say_frame(100, ask.view()));
    EXPECT_GT(peers[0].hear_frame().size(), kMuch);
    const size_t before = used();
    for (pmix_rank_t rank = 1; rank < kPeers; ++rank)
        ASSERT_TRUE(peers[rank].say_frame(100, ask.view()));
    for (pmix_rank_t rank = 1; rank < kPeers; ++rank)
        ASSERT_EQ(peers[rank].hear(16).size(), 16U) << rank;  // it is under way
    const size_t after = used();
    EXPECT_LT(after, before + 4 * kMuch) << "it has copies for " << kPeers << " processes";
}

}  // namespace
