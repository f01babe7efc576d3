// SPDX-License-Identifier: BSD-3-Clause
// Arrays of strings and environments.

#include "framework/base/argv.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace muster {
namespace {

std::vector<std::string> take(char** argv) {
    std::vector<std::string> strings;
    for (char** each = argv; each != nullptr && *each != nullptr; ++each)
        strings.emplace_back(*each);
    argv_free(argv);
    return strings;
}

using Strings = std::vector<std::string>;

TEST(Argv, Splits) {
    EXPECT_EQ(take(argv_split("a,b,c", ',', false)), (Strings{"a", "b", "c"}));
    EXPECT_EQ(take(argv_split(",a,,b,", ',', false)), (Strings{"a", "b"}));
    EXPECT_EQ(take(argv_split(",a,,b,", ',', true)), (Strings{"", "a", "", "b"}));
    EXPECT_EQ(argv_split("", ',', true), nullptr);
    EXPECT_EQ(argv_split(",,", ',', false), nullptr);
    EXPECT_EQ(argv_split(nullptr, ',', false), nullptr);
    const std::string longer(2000, 'x');
    EXPECT_EQ(take(argv_split((longer + ":y").c_str(), ':', false)), (Strings{longer, "y"}));
}

TEST(Argv, GrowsAtBothEnds) {
    char** argv = nullptr;
    EXPECT_EQ(argv_append(&argv, "b"), PMIX_SUCCESS);
    EXPECT_EQ(argv_append(&argv, "c"), PMIX_SUCCESS);
    EXPECT_EQ(argv_prepend(&argv, "a"), PMIX_SUCCESS);
    EXPECT_EQ(argv_append_unique(&argv, "b"), PMIX_SUCCESS);
    EXPECT_EQ(argv_append_unique(&argv, "d"), PMIX_SUCCESS);
    EXPECT_EQ(argv_count(argv), 4U);
    char* joined = argv_join(argv, '-');
    EXPECT_STREQ(joined, "a-b-c-d");
    free(joined);
    EXPECT_EQ(take(argv_copy(argv)), (Strings{"a", "b", "c", "d"}));
    argv_free(argv);
    joined = argv_join(nullptr, ',');
    EXPECT_STREQ(joined, "");
    free(joined);
    EXPECT_EQ(argv_copy(nullptr), nullptr);
    EXPECT_EQ(argv_count(nullptr), 0U);
}

TEST(Env, SetsAndReplaces) {
    char** env = nullptr;
    EXPECT_EQ(env_set(&env, "A", "1", false), PMIX_SUCCESS);
    EXPECT_EQ(env_set(&env, "AB", "2", false), PMIX_SUCCESS);
    EXPECT_EQ(env_set(&env, "A", "3", false), PMIX_ERR_EXISTS);
    EXPECT_EQ(env_set(&env, "A", "4", true), PMIX_SUCCESS);
    EXPECT_EQ(env_set(&env, "AB", nullptr, true), PMIX_SUCCESS);
    EXPECT_EQ(take(env), (Strings{"A=4", "AB="}));
}

TEST(Env, SetsManyInTheirOrder) {
    char** env = nullptr;
    EXPECT_EQ(env_set_all(&env, {{"A", "1"}, {"AB", "2"}, {"A", "3"}}), PMIX_SUCCESS);
    EXPECT_EQ(env_set_all(&env, {}), PMIX_SUCCESS);
    EXPECT_EQ(env_set_all(&env, {{"C", ""}, {"AB", "long=er"}}), PMIX_SUCCESS);
    EXPECT_EQ(take(env), (Strings{"A=3", "AB=long=er", "C="}));

    // Ignores entries without a value, and other names with the same prefix.
    env = nullptr;
    for (const char* entry : {"ABC", "AB", "=odd", "A"})
        EXPECT_EQ(argv_append(&env, entry), PMIX_SUCCESS);
    EXPECT_EQ(env_set_all(&env, {{"A", "1"}, {"AB", "2"}}), PMIX_SUCCESS);
    EXPECT_EQ(take(env), (Strings{"ABC", "AB", "=odd", "A", "A=1", "AB=2"}));
}

}  // namespace
}  // namespace muster
