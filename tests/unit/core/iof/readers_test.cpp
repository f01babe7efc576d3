// SPDX-License-Identifier: BSD-3-Clause
// Readers that are slow, that have a cache with a limit, that die or stop at any moment: the time of the
// host's callbacks, and the order of arrival.
#include <algorithm>
#include <map>

#include "tests/unit/core/in_memory/output.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

constexpr size_t kBlock = size_t{256} << 10;

class ReadersInMemory : public OutputInMemory {
  protected:
    static std::string block(int number) { return std::string(kBlock, static_cast<char>('a' + number)); }
    static Info cache(const char* drop, uint32_t size) {
        Info info = with(drop);
        info.add(PMIX_IOF_CACHE_SIZE, size);
        return info;
    }
};

TEST_F(ReadersInMemory, KeepTheHostWaitingWhileTheyDoNotRead) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    std::vector<std::shared_ptr<int>> released;
    std::string all;
    for (int i = 0; i < 16; ++i) {
        all += block(i);
        released.push_back(deliver(1, block(i)));
    }
    serve();
    EXPECT_EQ(*released.back(), 0);
    EXPECT_TRUE(hears(reader, all));
    settle();
    for (const auto& one : released)
        EXPECT_EQ(*one, 1);
    EXPECT_EQ(reader.lost(), 0U);
    EXPECT_EQ(dropped(), 0U);
}

TEST_F(ReadersInMemory, KeepTheHostsMemoryUntilTheyHaveIt) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    std::vector<std::shared_ptr<int>> released;
    for (int i = 0; i < 16; ++i)
        released.push_back(deliver(1, block(i)));
    serve();
    size_t queued = 0;
    node.on_loop([&] {
        for (const PeerPtr& peer : node.server().peers().all())
            if (peer->channel) queued = std::max(queued, peer->channel->queued());
    });
    EXPECT_GT(queued, 2 * kBlock);
    EXPECT_LT(queued, 8 * kBlock);
    // The channel writes from there, also for a reader that is gone by then.
    const Call stopped = reader.stop(node.client(0));
    node.client(0).runtime().progress();
    serve();
    EXPECT_EQ(*released[3], 0);
    EXPECT_EQ(*released.back(), 1);
    settle();
    for (const auto& one : released)
        EXPECT_EQ(*one, 1);
    EXPECT_EQ(status_of(stopped), PMIX_SUCCESS);
}

TEST_F(ReadersInMemory, FreeTheHostWhenTheyDie) {
    start(3);
    OutputReader dies, lives;
    ASSERT_EQ(pull(dies, node.client(0), all_of("job")), PMIX_SUCCESS);
    ASSERT_EQ(pull(lives, node.client(2), one_of("job", 0)), PMIX_SUCCESS);
    std::vector<std::shared_ptr<int>> released;
    for (int i = 0; i < 16; ++i)
        released.push_back(deliver(1, block(i)));
    serve();
    EXPECT_EQ(*released.back(), 0);
    node.kill("job", 0);
    settle();
    for (const auto& one : released)
        EXPECT_EQ(*one, 1);
    deliver(0, "text");
    EXPECT_TRUE(hears(lives, "text"));
}

TEST_F(ReadersInMemory, FreeTheHostWhenTheyStop) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    const Call stopped = reader.stop(node.client(0));
    node.client(0).runtime().progress();  // the request is in flight
    std::vector<std::shared_ptr<int>> released;
    for (int i = 0; i < 16; ++i)
        released.push_back(deliver(1, block(i)));
    serve();
    for (const auto& one : released)
        EXPECT_EQ(*one, 1);
    EXPECT_EQ(status_of(stopped), PMIX_SUCCESS);
}

TEST_F(ReadersInMemory, FreeTheHostWhenTheyFinalize) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    std::vector<std::shared_ptr<int>> released;
    for (int i = 0; i < 16; ++i)
        released.push_back(deliver(1, block(i)));
    serve();
    const Call leaves = call(node.client(0), [&](HostDone done) {
        node.client(0).client()->finalize(std::chrono::seconds(2), false,
                                          [done](pmix_status_t status) { done(answer_of(status)); });
    });
    EXPECT_EQ(status_of(leaves), PMIX_SUCCESS);
    settle();
    for (const auto& one : released)
        EXPECT_EQ(*one, 1);
    EXPECT_NE(*deliver(1, "behind"), 2);
}

TEST_F(ReadersInMemory, DoNotSlowOneThatReads) {
    start(3);
    OutputReader slow, fast;
    ASSERT_EQ(pull(slow, node.client(0), all_of("job")), PMIX_SUCCESS);
    ASSERT_EQ(pull(fast, node.client(2), all_of("job")), PMIX_SUCCESS);
    std::string all;
    for (int i = 0; i < 12; ++i) {
        all += block(i);
        deliver(1, block(i));
    }
    // Only one of them is driven.
    ASSERT_TRUE(until([&] {
        for (int turn = 0; turn < 200 && fast.text() != all; ++turn) {
            serve(1);
            node.client(2).runtime().progress();
        }
        return fast.text() == all;
    }));
    EXPECT_LT(slow.text().size(), all.size());
    EXPECT_TRUE(hears(slow, all));
}

TEST_F(ReadersInMemory, WithACacheLoseTheOldestAndAreTold) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job"), cache(PMIX_IOF_DROP_OLDEST, 2 * kBlock)),
              PMIX_SUCCESS);
    std::string all;
    for (int i = 0; i < 20; ++i) {
        all += block(i);
        EXPECT_EQ(*deliver(1, block(i)), 1) << "the host does not wait for this reader";
    }
    EXPECT_EQ(*deliver(1, "", PMIX_FWD_STDOUT_CHANNEL), 1);
    ASSERT_TRUE(until([&] { return reader.ends() == 1; }));
    const std::string text = reader.text();
    EXPECT_LT(text.size(), all.size());
    EXPECT_EQ(text.size() + reader.lost(), all.size());
    EXPECT_EQ(text.substr(text.size() - 2 * kBlock), block(18) + block(19));
    EXPECT_EQ(dropped(), reader.lost());
}

TEST_F(ReadersInMemory, WithACacheLoseTheNewestAndAreTold) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job"), cache(PMIX_IOF_DROP_NEWEST, 2 * kBlock)),
              PMIX_SUCCESS);
    std::string all;
    for (int i = 0; i < 20; ++i) {
        all += block(i);
        EXPECT_EQ(*deliver(1, block(i)), 1);
    }
    EXPECT_EQ(*deliver(1, "", PMIX_FWD_STDOUT_CHANNEL), 1);
    ASSERT_TRUE(until([&] { return reader.ends() == 1; }));
    const std::string text = reader.text();
    EXPECT_EQ(text, all.substr(0, text.size()));
    EXPECT_EQ(text.size() + reader.lost(), all.size());
}

TEST_F(ReadersInMemory, GetTheOutputOfAJobTheyHaveSpawnedAlongWithWhatTheyPulled) {
    start(2);
    // The peer object of a tool that takes output unasked.
    PeerPtr peer;
    node.on_loop([&] {
        for (const PeerPtr& one : node.server().peers().all()) {
            if (one->proc.rank == 0) peer = one;
        }
        node.server().forwarder().spawned(peer, "child", PMIX_FWD_STDOUT_CHANNEL);
        node.server().forwarder().spawned(peer, "", PMIX_FWD_STDOUT_CHANNEL);
    });
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("child")), PMIX_SUCCESS);
    deliver(make_proc("child", 0), "text");
    EXPECT_TRUE(hears(reader, "text"));
    settle();
    EXPECT_EQ(reader.pieces.size(), 1U);
}

TEST_F(ReadersInMemory, SeeEveryPieceOnceAndInOrderWhateverHappens) {
    start(4);
    with_seeds(200, [&](std::mt19937& random) {
        struct One {
            OutputReader reader;
            pmix_rank_t rank = 0;
            bool stopped = false;
            bool caches = false;
            Call stop;
        };
        std::vector<std::unique_ptr<One>> readers;
        std::vector<std::shared_ptr<int>> released;
        std::map<pmix_rank_t, int> written;
        node.host.agreeable.erase("iof_pull");
        const auto some = [&](uint32_t most) { return random() % most; };
        for (int step = 0; step < 40; ++step) {
            switch (some(7)) {
                case 0:
                    if (readers.size() == 4) break;
                    readers.push_back(std::make_unique<One>());
                    readers.back()->rank = some(4);
                    readers.back()->caches = some(2) == 0;
                    readers.back()->reader.pull(
                        node.client(readers.back()->rank), all_of("job"),
                        readers.back()->caches ? cache(PMIX_IOF_DROP_OLDEST, 64) : Info());
                    break;
                case 1:
                    if (const auto upcall = node.host.take("iof_pull"))
                        upcall->answer(answer_of(some(8) == 0 ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS));
                    break;
                case 2: {
                    if (readers.empty()) break;
                    One& one = *readers[some(static_cast<uint32_t>(readers.size()))];
                    if (one.reader.status != PMIX_SUCCESS || one.stopped) break;
                    one.stopped = true;
                    one.stop = one.reader.stop(node.client(one.rank));
                    break;
                }
                case 3:
                    node.process().runtime().progress();
                    break;
                case 4:
                    node.client(some(4)).runtime().progress();
                    break;
                default: {
                    const pmix_rank_t rank = some(4);
                    const std::string text = "<" + std::to_string(written[rank]++) + ";";
                    released.push_back(deliver(rank, std::string(some(20), ' ') + text));
                }
            }
        }
        // The host answers all open upcalls, and everything is read.
        for (int round = 0; round < 10; ++round) {
            while (const auto upcall = node.host.take("iof_pull"))
                upcall->answer({});
            settle();
        }
        for (const auto& piece : released)
            EXPECT_EQ(*piece, 1);
        for (const auto& one : readers) {
            EXPECT_EQ(one->reader.answers, 1);
            EXPECT_EQ(one->stop.answers(), one->stopped ? 1 : 0);
            std::map<pmix_rank_t, int> last;
            for (const auto& piece : one->reader.pieces) {
                // A cache may have dropped the beginning.
                const size_t at = piece.bytes.find('<');
                if (at == std::string::npos) continue;
                const int number = std::stoi(piece.bytes.substr(at + 1));
                auto [before, first] = last.try_emplace(piece.source.rank, -1);
                EXPECT_GT(number, before->second) << "twice, or out of order";
                before->second = number;
            }
            if (one->stopped || one->reader.status != PMIX_SUCCESS) continue;
            EXPECT_EQ(status_of(one->reader.stop(node.client(one->rank))), PMIX_SUCCESS);
        }
        while (const auto upcall = node.host.take("iof_pull"))
            upcall->answer({});
        // A separate reader drains the pieces that no reader requested.
        node.host.agreeable.insert("iof_pull");
        OutputReader rest;
        EXPECT_EQ(pull(rest, node.client(0), all_of("job"), {}, PMIX_FWD_ALL_CHANNELS), PMIX_SUCCESS);
        settle();
        EXPECT_EQ(status_of(rest.stop(node.client(0))), PMIX_SUCCESS);
        settle();
    });
}

}  // namespace
}  // namespace muster::testing_in_memory
