// SPDX-License-Identifier: BSD-3-Clause
// The short list of numbers that a server keeps for each rank.
#include "components/gds/shmem/key_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <vector>

#include "tests/bounded_time.hpp"

namespace muster::gds::shmem {
namespace {

std::vector<uint64_t> all_of(const KeyList& list) {
    return {list.begin(), list.end()};
}

TEST(KeyList, OfOneKeyTakesNoMemory) {
    static_assert(sizeof(KeyList) == 8);
    KeyList list;
    EXPECT_FALSE(list.has(8));
    list.add(8);
    EXPECT_EQ(all_of(list), (std::vector<uint64_t>{8}));
    list.remove(16);
    EXPECT_TRUE(list.has(8));
    list.remove(8);
    EXPECT_TRUE(all_of(list).empty());
    list.add(24);
    list.add(32);
    KeyList other(std::move(list));
    EXPECT_EQ(all_of(other), (std::vector<uint64_t>{24, 32}));
    list = std::move(other);
    EXPECT_EQ(all_of(list), (std::vector<uint64_t>{24, 32}));
}

TEST(KeyList, BehavesLikeAVector) {
    std::minstd_rand random(1);
    for (const unsigned most : {1U, 2U, 4U, 40U}) {
        KeyList list;
        std::vector<uint64_t> vector;
        for (int i = 0; i < 2000; ++i) {
            const uint64_t key = 8 * (1 + random() % most);
            ASSERT_EQ(list.has(key), std::find(vector.begin(), vector.end(), key) != vector.end());
            if (!list.has(key)) {
                list.add(key);
                vector.push_back(key);
            } else if (random() % 2 == 0) {
                list.remove(key);
                std::erase(vector, key);
            }
            ASSERT_EQ(all_of(list), vector);
        }
    }
}

TEST(KeyList, BehavesLikeASetAtAnySize) {
    std::minstd_rand random(1);
    for (const unsigned most : {60U, 70U, 130U, 3000U}) {
        KeyList list;
        std::set<uint64_t> set;
        // It grows, then shrinks.
        for (const unsigned removed_of_eight : {2U, 6U}) {
            for (int i = 0; i < 10000; ++i) {
                const uint64_t key = 8 * (1 + random() % most);
                ASSERT_EQ(list.has(key), set.count(key) != 0);
                if (random() % 8 < removed_of_eight) {
                    list.remove(key);
                    set.erase(key);
                } else if (set.insert(key).second) {
                    list.add(key);
                }
                if (i % 50 != 0) continue;
                const auto all = all_of(list);
                ASSERT_EQ(all.size(), set.size());
                ASSERT_EQ(std::set<uint64_t>(all.begin(), all.end()), set);
            }
        }
    }
}

TEST(KeyList, RemoveErasesAllDuplicatesOfAKey) {
    KeyList list;
    for (uint64_t i = 0; i < 200; ++i)
        list.add(8 * (1 + i % 50));
    list.remove(8);
    EXPECT_FALSE(list.has(8));
    EXPECT_EQ(all_of(list).size(), 196U);
}

TEST(KeyList, IsSearchedInConstantTimeAtAnySize) {
    const auto begin = std::chrono::steady_clock::now();
    constexpr uint64_t kKeys = 400000;
    KeyList list;
    for (uint64_t i = 1; i <= kKeys; ++i)
        list.add(8 * i);
    for (uint64_t i = kKeys; i > 0; --i) {
        ASSERT_TRUE(list.has(8 * i));
        list.remove(8 * i);
    }
    EXPECT_TRUE(all_of(list).empty());
    tests::expect_within(std::chrono::seconds(10), begin);
}

}  // namespace
}  // namespace muster::gds::shmem
