// SPDX-License-Identifier: BSD-3-Clause
// The segment of gds/shmem with one writer and many readers in one process, so that the thread sanitizer
// checks both. MUSTER_STRESS_SECONDS sets the duration.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "components/gds/shmem/reader.hpp"
#include "components/gds/shmem/writer.hpp"

namespace muster {
namespace {

using namespace gds::shmem;

constexpr uint32_t kRanks = 50;
constexpr int kReaders = 8;

std::string key_name(uint32_t number) {
    return "stress.key." + std::to_string(number);
}

/// A value in which tearing is visible: one character, repeated as often as its number.
Value value_of(uint32_t round) {
    return Value::from(std::string(1 + round % 90, static_cast<char>('a' + round % 26)));
}

bool whole(const pmix_value_t& value) {
    if (value.type != PMIX_STRING) return false;
    const std::string_view text = value.data.string;
    return !text.empty() && text.find_first_not_of(text[0]) == text.npos;
}

TEST(SegmentTest, EightReadersSeeConsistentDataWhileItGrows) {
    const char* given = std::getenv("MUSTER_STRESS_SECONDS");
    const auto until =
        std::chrono::steady_clock::now() +
        std::chrono::milliseconds(given != nullptr ? std::strtol(given, nullptr, 10) * 1000 : 300);
    size_t segments = 0;
    std::atomic<size_t> reads{0}, wrong{0};
    // A segment is full after about a second; then the next one is used.
    do {
        auto segment = Segment::create(16 << 20, "stress");
        ASSERT_TRUE(segment.ok()) << segment.error().text;
        Writer writer(**segment, {});
        ASSERT_TRUE(writer.begin("job").ok());
        // Written entries are found in all later rounds.
        std::atomic<uint32_t> written{0};
        std::atomic<bool> done{false};
        std::vector<std::thread> readers;
        for (int i = 0; i < kReaders; ++i) {
            readers.emplace_back([&, i] {
                const Reader reader(**segment, {});
                uint32_t next = static_cast<uint32_t>(i);
                size_t mine = 0, mistakes = 0;
                while (!done.load(std::memory_order_relaxed) || mine < 200) {
                    ++mine;
                    const uint32_t known = written.load(std::memory_order_acquire);
                    next = next * 1664525 + 1013904223;
                    Item item;
                    const uint32_t at = (next >> 8) % (known + 1);
                    const bool found = reader.find(Kind::Posted, at % kRanks, key_name(at / kRanks), item);
                    if (found ? !whole(item.value) : at < known) ++mistakes;
                    Map map;
                    if (reader.map(map) && reader.node_of(map, 3) > 1) ++mistakes;
                }
                reads += mine;
                wrong += mistakes;
            });
        }
        Result<void> result;
        uint32_t round = 0;
        for (; result && writer.used() < (6 << 20) && std::chrono::steady_clock::now() < until; ++round) {
            // Every third write is a new value of an existing key.
            const uint32_t known = written.load(std::memory_order_relaxed);
            const uint32_t at = round % 3 == 2 ? round % known : known;
            result = writer.put(Kind::Posted, at % kRanks, key_name(at / kRanks), *value_of(round));
            if (result && at == known) written.store(known + 1, std::memory_order_release);
            if (result && round % 64 == 0) {
                JobMapBuilder builder;
                for (pmix_rank_t rank = 0; rank < 8; ++rank)
                    builder.place(rank, builder.node(rank % (1 + round % 3) == 0 ? "a" : "b"));
                result = writer.put_map(std::move(builder).build(), 0);
            }
        }
        done = true;
        for (std::thread& reader : readers)
            reader.join();
        ++segments;
        ASSERT_TRUE(result.ok()) << result.error().text;
    } while (std::chrono::steady_clock::now() < until);
    EXPECT_EQ(wrong, 0u);
    EXPECT_GE(reads, size_t{kReaders} * 200);
    RecordProperty("reads", std::to_string(reads));
    RecordProperty("segments", std::to_string(segments));
}

/// Keys of rank 1 that hash to `places` of 8,192 slots, half of them the last ones, half the first.
std::vector<std::string> keys_upon(uint64_t places, size_t count) {
    constexpr uint64_t kPlaces = 8192;
    std::vector<std::string> keys;
    for (uint32_t i = 0; keys.size() < count; ++i) {
        const std::string key = "alike." + std::to_string(i);
        const uint64_t place = hash_of(hash_of(key), Kind::Posted, 1) + places / 2;
        if ((place & (kPlaces - 1)) < places) keys.push_back(key);
    }
    return keys;
}

TEST(SegmentTest, CollidingKeysAreBounded) {
    // Keys that a hostile process may post to make all lookups linear.
    for (const uint64_t places : {1u, 8u, 700u}) {
        auto segment = Segment::create(16 << 20, "alike");
        ASSERT_TRUE(segment.ok()) << segment.error().text;
        Writer writer(**segment, {});
        ASSERT_TRUE(writer.begin("job").ok());
        const auto put = [&](const std::string& key) {
            return writer.put(Kind::Posted, 1, key, *Value::from(key.c_str())).status();
        };
        std::vector<std::string> kept, refused;
        for (const std::string& key : keys_upon(places, kMostProbes + 2 * places)) {
            const pmix_status_t status = put(key);
            ASSERT_TRUE(status == PMIX_SUCCESS || status == PMIX_ERR_OUT_OF_RESOURCE) << status;
            (status == PMIX_SUCCESS ? kept : refused).push_back(key);
        }
        EXPECT_GE(kept.size(), kMostProbes) << places;
        ASSERT_FALSE(refused.empty()) << places;
        // The other keys get a slot, except the few that collide with those; none is lost when the table
        // grows.
        const Reader reader(**segment, {});
        Item item;
        size_t others = 0;
        for (uint32_t i = 0; i < 5000; ++i) {
            if (put(key_name(i)) == PMIX_SUCCESS) {
                kept.push_back(key_name(i));
                ++others;
            }
            if (i % 100 != 0) continue;
            for (const std::string& key : kept) {
                ASSERT_TRUE(reader.find(Kind::Posted, 1, key, item)) << key << " of " << i;
                EXPECT_STREQ(item.value.data.string, key.c_str());
            }
        }
        EXPECT_GE(others, 4000u);
        for (const std::string& key : refused)
            EXPECT_FALSE(reader.find(Kind::Posted, 1, key, item)) << key;
        // Free slots are used again.
        for (const std::string& key : kept)
            writer.remove(Kind::Posted, 1, key);
        for (const std::string& key : refused) {
            ASSERT_EQ(put(key), PMIX_SUCCESS) << key;
            EXPECT_TRUE(reader.find(Kind::Posted, 1, key, item)) << key;
        }
    }
}

TEST(SegmentTest, ARepostedKeyReusesItsSlot) {
    auto segment = Segment::create(16 << 20, "again");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    for (uint32_t i = 0; i < 5000; ++i)  // a table that it does not fill
        ASSERT_TRUE(writer.put(Kind::Posted, 1, key_name(i), *Value::from("other")).ok());
    for (uint64_t i = 0; i < 2 * kMostProbes; ++i) {
        ASSERT_TRUE(writer.put(Kind::Posted, 2, "key", *Value::from("value")).ok()) << i;
        writer.remove(Kind::Posted, 2, "key");
    }
}

TEST(SegmentTest, ValuesPutAgainAndAgainTakeNoNewRoom) {
    auto segment = Segment::create(64 << 20, "again");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    const Reader reader(**segment, {});
    const auto put_all = [&] {
        for (uint32_t i = 0; i < 20000; ++i) {
            const std::string text(1 + i * 7919 % 5000, static_cast<char>('a' + i % 26));
            ASSERT_TRUE(writer.put(Kind::Posted, i % 3, "again", *Value::from(text)).ok());
            Item item;
            ASSERT_TRUE(reader.find(Kind::Posted, i % 3, "again", item));
            ASSERT_EQ(item.value.data.string, text);
        }
    };
    put_all();
    const uint64_t used = writer.used();
    EXPECT_LT(used, 1U << 20);
    put_all();
    EXPECT_EQ(writer.used(), used);
    // Removed values free their memory, too.
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(writer.put(Kind::Posted, 1, "again", *Value::from("short")).ok());
        writer.remove_all(Kind::Posted, 1);
    }
    EXPECT_LT(writer.used(), used + 1024);
}

TEST(SegmentTest, ReadersFindAValueThatIsReplacedAllTheTime) {
    auto segment = Segment::create(16 << 20, "replaced");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    for (uint32_t rank = 0; rank < 3; ++rank)
        ASSERT_TRUE(writer.put(Kind::Posted, rank, "replaced", *value_of(rank)).ok());
    std::atomic<bool> done{false};
    std::atomic<size_t> missed{0}, torn{0}, changes{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; ++i) {
        readers.emplace_back([&] {
            const Reader reader(**segment, {});
            std::string last;
            for (uint32_t read = 0; !done.load(std::memory_order_relaxed) || read < 2000; ++read) {
                Item item;
                if (!reader.find(Kind::Posted, read % 3, "replaced", item)) {
                    ++missed;
                } else if (!whole(item.value)) {
                    ++torn;
                } else if (read % 3 == 0 && last != item.value.data.string) {
                    last = item.value.data.string;
                    ++changes;
                }
            }
        });
    }
    for (uint32_t round = 0; round < 50000; ++round)
        ASSERT_TRUE(writer.put(Kind::Posted, round % 3, "replaced", *value_of(round)).ok());
    done = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_EQ(missed, 0U);
    EXPECT_EQ(torn, 0U);
    EXPECT_GE(changes, size_t{kReaders});
    EXPECT_LT(writer.used(), 1U << 20);
}

TEST(SegmentTest, AKeyNameIsStoredOnce) {
    auto segment = Segment::create(16 << 20, "names");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    const std::string key(400, 'k');
    const auto taken = [&](const std::string& name) {
        const uint64_t before = writer.used();
        for (uint32_t rank = 0; rank < 50; ++rank)  // too few for another table
            EXPECT_TRUE(writer.put(Kind::Posted, rank, name, *Value::from(rank)).ok());
        return writer.used() - before;
    };
    const uint64_t with_short_name = taken("k"), with_long_name = taken(key);
    EXPECT_LE(with_long_name, with_short_name + key.size());
}

TEST(SegmentTest, ACyclicMapIsNotFollowed) {
    auto segment = Segment::create(1 << 20, "circle");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    JobMapBuilder builder;
    for (const pmix_rank_t rank : {0u, 1u, 2u, 3u})
        builder.place(rank, builder.node(rank == 1 ? "b" : "a"));
    ASSERT_TRUE(writer.put_map(std::move(builder).build(), 0).ok());
    const Reader reader(**segment, {});
    Map map;
    ASSERT_TRUE(reader.map(map));
    const Column position{Column::Rule::Position, 0, 0};
    ASSERT_EQ(reader.of_rank(map, position, 2), 1u);
    map.node_of = position;
    EXPECT_EQ(reader.of_rank(map, position, 2), kNone);
    EXPECT_EQ(reader.node_of(map, 2), kNone);
}

TEST(SegmentTest, AMapOfMoreRanksThanAJobHasIsRefused) {
    struct {
        Header header{};
        Map map{};
    } memory;
    memory.header.map = offsetof(decltype(memory), map);
    memory.map.node_count = 1;
    memory.map.node_of = {Column::Rule::Block, UINT32_MAX, 0};
    const auto segment = Segment::over({reinterpret_cast<uint8_t*>(&memory), sizeof memory});
    const Reader reader(*segment, {});
    Map read;
    for (const uint32_t ranks : {1u, 1u << 24}) {
        memory.map.rank_end = ranks;
        ASSERT_TRUE(reader.map(read)) << ranks;
        EXPECT_EQ(reader.ranks_on(read, 0), ranks);
    }
    for (const uint32_t ranks : {(1u << 24) + 1, UINT32_MAX}) {
        memory.map.rank_end = ranks;
        EXPECT_FALSE(reader.map(read)) << ranks;
    }
}

TEST(SegmentTest, PublishedDataSurvivesAWriterThatDies) {
    auto segment = Segment::create(1 << 20, "dies");
    ASSERT_TRUE(segment.ok()) << segment.error().text;
    Writer writer(**segment, {});
    ASSERT_TRUE(writer.begin("job").ok());
    ASSERT_TRUE(writer.put(Kind::Posted, 1, "key", *Value::from("first")).ok());
    const uint64_t published = writer.used();
    const Reader reader(**segment, {});
    Item item;
    // A partial entry after the last one, as a killed writer would leave it.
    std::memset((*segment)->base() + published, 0xff, 100);
    ASSERT_TRUE(reader.find(Kind::Posted, 1, "key", item));
    EXPECT_STREQ(item.value.data.string, "first");
    EXPECT_FALSE(reader.find(Kind::Posted, 1, "other", item));
    std::memset((*segment)->base() + published, 0, 100);
    // The writer is killed in each step of an insertion: with any part of the new bytes, readers get the old
    // value.
    std::vector<uint8_t> before((*segment)->base(), (*segment)->base() + 64 * 1024);
    ASSERT_TRUE(writer.put(Kind::Posted, 1, "key", *Value::from("second")).ok());
    std::vector<uint8_t> after((*segment)->base(), (*segment)->base() + 64 * 1024);
    for (uint64_t written = published; written <= writer.used(); ++written) {
        std::vector<uint64_t> memory(before.size() / 8 + 1);
        auto* bytes = reinterpret_cast<uint8_t*>(memory.data());
        std::memcpy(bytes, before.data(), before.size());
        std::memcpy(bytes + published, after.data() + published, written - published);
        const auto left = Segment::over({bytes, before.size()});
        const Reader survivor(*left, {});
        ASSERT_TRUE(survivor.find(Kind::Posted, 1, "key", item));
        EXPECT_STREQ(item.value.data.string, "first");
    }
    ASSERT_TRUE(reader.find(Kind::Posted, 1, "key", item));
    EXPECT_STREQ(item.value.data.string, "second");
}

TEST(SegmentTest, CompletedWritesSurviveAWriterThatIsKilled) {
    struct Told {
        std::atomic<uint32_t> written{0};
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    uint32_t rounds = 0;
    for (; rounds < 3 || std::chrono::steady_clock::now() < until; ++rounds) {
        auto segment = Segment::create(16 << 20, "killed");
        ASSERT_TRUE(segment.ok()) << segment.error().text;
        void* page = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(page, MAP_FAILED);
        auto* told = new (page) Told();
        const pid_t child = fork();
        if (child == 0) {
            Writer writer(**segment, {});
            if (!writer.begin("job")) _exit(1);
            // It grows, its table is replaced by larger ones, and every third value by a new one.
            for (uint32_t round = 0, known = 0; writer.used() < (12 << 20); ++round) {
                const uint32_t at = round % 3 == 2 ? round % known : known;
                if (!writer.put(Kind::Posted, at % kRanks, key_name(at / kRanks), *value_of(round))) _exit(1);
                if (at == known) told->written.store(++known, std::memory_order_release);
            }
            _exit(0);
        }
        // A separate reader, like a client, which reads as long as the writer lives.
        auto mapped = Segment::attach(UniqueFd(dup((*segment)->descriptor())), getuid());
        ASSERT_TRUE(mapped.ok()) << mapped.error().text;
        const Reader reader(**mapped, {});
        uint32_t next = rounds;
        size_t wrong = 0;
        const auto look = [&](uint32_t at, uint32_t known) {
            Item item;
            const bool found = reader.find(Kind::Posted, at % kRanks, key_name(at / kRanks), item);
            if (found ? !whole(item.value) : at < known) ++wrong;
        };
        const uint32_t enough = 500 + rounds * 997 % 4000;
        for (uint32_t known = 0; known < enough && waitpid(child, nullptr, WNOHANG) == 0;) {
            known = told->written.load(std::memory_order_acquire);
            next = next * 1664525 + 1013904223;
            look((next >> 8) % (known + 1), known);
        }
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        const uint32_t known = told->written.load(std::memory_order_acquire);
        EXPECT_GE(known, enough);
        for (uint32_t at = 0; at <= known + 1; ++at)
            look(at, known);
        EXPECT_EQ(wrong, 0U) << "in round " << rounds;
        munmap(page, sizeof(Told));
    }
    RecordProperty("rounds", std::to_string(rounds));
}

}  // namespace
}  // namespace muster
