// SPDX-License-Identifier: BSD-3-Clause
// The cost of a reader that does not read, counted drops of output, no other loss or duplicate, and hostile
// peers.
#include <pmix_tool.h>

#include <csignal>
#include <cstdlib>

#include "tests/covers.hpp"
#include "tests/integration/iof/iof_host.hpp"

namespace {

using namespace integration;

constexpr pmix_iof_channel_t kOut = PMIX_FWD_STDOUT_CHANNEL;

uint64_t hash_more(uint64_t hash, const std::string& text) {
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

class IofLimits : public ::testing::Test {
  protected:
    IofLimits() : host_(IofUpcalls::into), job_(host_.start_job(2)), other_(host_.start_job(2)) {}
    Process pull(const std::vector<std::string>& directives) {
        std::vector<std::string> words{"pull", other_.nspace, "*", "oe"};
        words.insert(words.end(), directives.begin(), directives.end());
        auto client = host_.start_program(job_, 0, IOF_CLIENT, words);
        EXPECT_EQ(client.line(), "PULLED SUCCESS");
        return client;
    }
    IofUpcalls upcalls_;
    Host host_;
    Host::Job job_, other_;
};

TEST_F(IofLimits, NothingIsLostOrDuplicated) {
    // Long form: MUSTER_IOF_BYTES=1073741824 (tests/README.md).
    const char* asked = std::getenv("MUSTER_IOF_BYTES");
    const size_t total = asked != nullptr ? std::strtoull(asked, nullptr, 10) : size_t{16} << 20;
    auto client = pull({"sum"});
    uint64_t hashes[2] = {14695981039346656037U, 14695981039346656037U};
    uint64_t bytes[2] = {};
    Deliveries deliveries;
    uint32_t state = 1;
    for (size_t sent = 0; sent < total;) {
        state = state * 1664525U + 1013904223U;
        const size_t size = 1 + (state >> 8) % 60000;
        const pmix_rank_t rank = state >> 31;
        std::string text(size, '\0');
        for (size_t i = 0; i < size; i += 64)
            text[i] = static_cast<char>((state >> (i % 23)) + i);
        hashes[rank] = hash_more(hashes[rank], text);
        bytes[rank] += size;
        sent += size;
        deliveries.send(other_, rank, kOut, std::move(text));
        if (deliveries.sent() <= 200) continue;
        ASSERT_TRUE(deliveries.wait(deliveries.sent() - 200));
    }
    for (const pmix_rank_t rank : {0U, 1U}) {
        deliver(other_, rank, kOut, "");
        EXPECT_EQ(client.line(60), "SUM " + std::to_string(rank) + " 2 " + std::to_string(bytes[rank]) + " " +
                                       std::to_string(hashes[rank]));
    }
    client.go_on();
    client.go_on();
    EXPECT_EQ(client.line(), "DROPPED 0");
}

TEST_F(IofLimits, ASlowReaderSlowsTheWriter) {
    auto client = pull({"sum", "stall"});
    Deliveries deliveries;
    const std::string block(size_t{64} << 10, 'x');
    for (int i = 0; i < 200; ++i)
        deliveries.send(other_, 0, kOut, block);
    // The window and the sockets hold some; the host keeps the rest.
    EXPECT_FALSE(deliveries.wait(200, 0.3));
    const size_t taken = deliveries.done();
    EXPECT_LT(taken, 100u);
    client.go_on();
    EXPECT_TRUE(deliveries.wait(200));
    deliver(other_, 0, kOut, "");
    EXPECT_EQ(client.line().rfind("SUM 0 2 " + std::to_string(200 * block.size()) + " ", 0), 0u);
}

TEST_F(IofLimits, AFullCacheDropsTheRequestedEnd) {
    covers("IOF-20", "IOF-21", "IOF-22", "TLO-26");
    for (const std::string way : {"oldest", "newest"}) {
        auto client = pull({"sum", "stall", "cache=100000", way});
        const std::string block(size_t{64} << 10, 'x');
        // The writer never waits.
        for (int i = 0; i < 300; ++i)
            EXPECT_EQ(deliver(other_, 0, kOut, block), PMIX_OPERATION_SUCCEEDED);
        deliver(other_, 0, kOut, "");
        client.go_on();
        const std::string line = client.line();
        ASSERT_EQ(line.rfind("SUM 0 2 ", 0), 0u) << line;
        const size_t got = std::strtoull(line.c_str() + 8, nullptr, 10);
        EXPECT_LT(got, 200 * block.size());
        EXPECT_GE(got, 100000u);
        client.go_on();
        const std::string dropped = client.line();
        ASSERT_EQ(dropped.rfind("DROPPED ", 0), 0u) << dropped;
        EXPECT_GE(std::strtoull(dropped.c_str() + 8, nullptr, 10), 300 * block.size() - got);
        EXPECT_EQ(client.line(), "DEREGISTERED SUCCESS");
        EXPECT_EQ(client.wait(), 0);
    }
}

size_t dropped() {
    char key[] = "muster.iof.dropped";
    char* keys[] = {key, nullptr};
    pmix_query_t query{keys, nullptr, 0};
    pmix_info_t* results = nullptr;
    size_t count = 0;
    EXPECT_EQ(PMIx_Query_info(&query, 1, &results, &count), PMIX_SUCCESS);
    const size_t found = count == 1 ? results[0].value.data.size : SIZE_MAX;
    PMIx_Info_free(results, count);
    return found;
}

TEST_F(IofLimits, InputThatTheHostRefusesIsDroppedAsRequested) {
    covers("TLO-37");
    constexpr size_t kBlock = size_t{100} << 10;
    constexpr size_t kBlocks = 20;
    const uint32_t cache = 100000;
    pmix_proc_t target{};
    std::snprintf(target.nspace, sizeof target.nspace, "%s", other_.nspace.c_str());
    size_t dropped_before = 0;
    for (const char* way : {PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST}) {
        pmix_info_t directives[2]{};
        PMIx_Info_load(&directives[0], PMIX_IOF_CACHE_SIZE, &cache, PMIX_UINT32);
        PMIx_Info_load(&directives[1], way, nullptr, PMIX_BOOL);
        const size_t before = upcalls_.pushes().size();
        upcalls_.hold();
        std::atomic<size_t> answered{0};
        std::vector<std::string> texts;
        std::vector<pmix_byte_object_t> objects(kBlocks);
        for (size_t i = 0; i < kBlocks; ++i)
            texts.emplace_back(kBlock, static_cast<char>('a' + i));
        for (size_t i = 0; i < kBlocks; ++i) {
            objects[i] = {texts[i].data(), texts[i].size()};
            const auto done = [](pmix_status_t, void* count) { ++*static_cast<std::atomic<size_t>*>(count); };
            EXPECT_EQ(PMIx_IOF_push(&target, 1, &objects[i], directives, 2, done, &answered), PMIX_SUCCESS);
        }
        // The query comes after them. Two are at the host, and no more waits than fits into the cache.
        const size_t lost = dropped() - dropped_before;
        dropped_before += lost;
        EXPECT_EQ(lost, (kBlocks - 2) * kBlock - cache);
        EXPECT_EQ(upcalls_.pushes().size(), before + 2);
        upcalls_.release();
        ASSERT_TRUE(upcalls_.wait_for_pushes(before + 3));
        const std::string last = upcalls_.pushes()[before + 2].bytes;
        const bool oldest = std::strcmp(way, PMIX_IOF_DROP_OLDEST) == 0;
        EXPECT_TRUE(last == std::string(cache, static_cast<char>('a' + (oldest ? kBlocks - 1 : 2))));
        for (int i = 0; i < 20000 && answered < kBlocks; ++i)
            usleep(1000);
        EXPECT_EQ(answered, kBlocks);
        EXPECT_EQ(upcalls_.pushes().size(), before + 3);
    }
}

TEST_F(IofLimits, AReaderThatDiesFreesTheWriter) {
    auto client = pull({"sum", "stall"});
    Deliveries deliveries;
    for (int i = 0; i < 200; ++i)
        deliveries.send(other_, 0, kOut, std::string(size_t{64} << 10, 'x'));
    EXPECT_FALSE(deliveries.wait(200, 0.1));
    client.signal(SIGKILL);
    EXPECT_TRUE(deliveries.wait(200));
}

/// A tool spawns jobs one after the other and shows their output; returns the growth of its memory in the
/// second half.
long growth_of_spawner(IofUpcalls& upcalls, Host& host, const Host::Job& job, int count,
                       const std::vector<std::string>& directives) {
    std::vector<std::string> words{"spawn", std::to_string(count)};
    words.insert(words.end(), directives.begin(), directives.end());
    Host::Job next = host.start_job(1);
    upcalls.answer_spawn(next);
    // All counted memory is in one arena then.
    auto tool = host.start_program(job, 0, IOF_CLIENT, words, {"MALLOC_ARENA_MAX=1"});
    for (int i = 0; i < count; ++i) {
        EXPECT_EQ(tool.line(), "SPAWNED SUCCESS");
        deliver(next, 0, kOut, "shown\n");
        deliver(next, 0, kOut, "");
        deliver(next, 0, PMIX_FWD_STDERR_CHANNEL, "");
        const std::string line = tool.line();
        if (line.size() < 5 || line.substr(line.size() - 5) != "shown") {
            ADD_FAILURE() << "of job " << i << " came '" << line << "'";
            return -1;
        }
        host.deregister_job(next);
        next = host.start_job(1);
        upcalls.answer_spawn(next);
        tool.go_on();
    }
    const std::string line = tool.line();
    EXPECT_EQ(line.rfind("GREW ", 0), 0u) << line;
    EXPECT_EQ(tool.wait(), 0);
    return std::strtol(line.c_str() + 5, nullptr, 10);
}

TEST(IofSpawner, FinishedJobsAreNotCounted) {
    IofUpcalls upcalls;
    setenv("PMIX_MCA_pmix_iof_max_registrations", "2", 1);
    Host host(IofUpcalls::into);
    unsetenv("PMIX_MCA_pmix_iof_max_registrations");
    const Host::Job job = host.start_job(1);
    constexpr int kJobs = 200;
    const long plain = growth_of_spawner(upcalls, host, job, kJobs, {});
    const long marked = growth_of_spawner(upcalls, host, job, kJobs, {"tag"});
    EXPECT_LT(marked, plain + 100 * kJobs);
}

TEST_F(IofLimits, RequestsAreBounded) {
    auto client = host_.start_program(job_, 0, IOF_CLIENT, {"often", other_.nspace, "0", "o"});
    EXPECT_EQ(client.line(60), "PULLS 1024");
    EXPECT_EQ(client.wait(60), 0);
    // They were freed with the process.
    auto second = host_.start_program(job_, 1, IOF_CLIENT, {"pull", other_.nspace, "0", "o"});
    EXPECT_EQ(second.line(), "PULLED SUCCESS");
}

}  // namespace
