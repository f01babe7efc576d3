// SPDX-License-Identifier: BSD-3-Clause
// Staged keys: each once per scope, in order, for few and for many keys.
#include "core/client/staged_keys.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

namespace muster {
namespace {

std::string key_name(int number) {
    return "key." + std::to_string(number);
}

TEST(StagedKeys, KeepsEachKeyOnceInOrder) {
    StagedKeys staged;
    for (const int count : {1, 5, 32, 33, 34, 1000}) {
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < count; ++i)
                staged.add(PMIX_GLOBAL, key_name(i));
        }
        int next = 0;
        for (const auto& [scope, key] : staged) {
            EXPECT_EQ(scope, PMIX_GLOBAL);
            EXPECT_EQ(key, key_name(next++));
        }
        EXPECT_EQ(next, count);
        staged.clear();
        EXPECT_EQ(staged.begin(), staged.end());
    }
}

TEST(StagedKeys, KeepsEachKeyOncePerScope) {
    StagedKeys staged;
    for (int i = 0; i < 100; ++i) {
        for (const pmix_scope_t scope : {PMIX_LOCAL, PMIX_REMOTE, PMIX_LOCAL})
            staged.add(scope, key_name(i));
    }
    EXPECT_EQ(std::distance(staged.begin(), staged.end()), 200);
}

}  // namespace
}  // namespace muster
