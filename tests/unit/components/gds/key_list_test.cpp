// SPDX-License-Identifier: BSD-3-Clause
// The short list of numbers that a server keeps for each rank.
#include "components/gds/shmem/key_list.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

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

TEST(KeyList, IsAsAVectorIs) {
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

}  // namespace
}  // namespace muster::gds::shmem
