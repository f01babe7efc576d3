// SPDX-License-Identifier: BSD-3-Clause
// The hash with a key private to this process: the hashed members, and a different hash in another process.
#include "framework/base/keyed_hash.hpp"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <unordered_set>

namespace muster {
namespace {

TEST(KeyedHash, EachCharacterAndTheLengthCount) {
    std::unordered_set<size_t> seen;
    std::string text;
    size_t texts = 0;
    for (int length = 0; length < 40; ++length) {
        for (int at = 0; at < length; ++at) {
            std::string other = text;
            other[static_cast<size_t>(at)] ^= 1;
            seen.insert(TextHash()(other));
            ++texts;
        }
        seen.insert(TextHash()(text));
        ++texts;
        text.push_back('\0');
    }
    EXPECT_EQ(seen.size(), texts);
}

TEST(KeyedHash, IsDeterministic) {
    for (size_t length : {0, 1, 7, 8, 9, 16, 500}) {
        const std::string text(length, 'x'), apart = "12345" + text;
        EXPECT_EQ(TextHash()(text), TextHash()(std::string_view(apart).substr(5))) << length;
    }
}

TEST(KeyedHash, SeparatesItsParts) {
    EXPECT_NE(KeyedHash().add("ab").add("c").end(), KeyedHash().add("a").add("bc").end());
    EXPECT_NE(KeyedHash().add(1).add(2).end(), KeyedHash().add(2).add(1).end());
    EXPECT_NE(KeyedHash().add("").end(), KeyedHash().end());
}

constexpr const char* kAsked = "MUSTER_TEST_SAYS_HASH";

TEST(KeyedHash, DiffersBetweenProcesses) {
    if (getenv(kAsked) != nullptr) {
        printf("hash=%zu\n", TextHash()("key"));
        return;
    }
    setenv(kAsked, "1", 1);
    FILE* other = popen("exec /proc/$PPID/exe --gtest_filter=KeyedHash.DiffersBetweenProcesses", "r");
    unsetenv(kAsked);
    ASSERT_NE(other, nullptr);
    size_t hash = 0;
    bool told = false;
    char line[256];
    while (fgets(line, sizeof line, other) != nullptr)
        told = sscanf(line, "hash=%zu", &hash) == 1 || told;
    EXPECT_EQ(pclose(other), 0);
    EXPECT_TRUE(told);
    EXPECT_NE(hash, TextHash()("key"));
}

}  // namespace
}  // namespace muster
