// SPDX-License-Identifier: BSD-3-Clause
// Posted functions: small ones in the task itself, large ones behind a pointer.
#include "framework/base/task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

using namespace muster;

namespace {

TEST(Task, CallsWhatItIsGiven) {
    int calls = 0;
    Task task = [&calls] { ++calls; };
    ASSERT_TRUE(task);
    task();
    task();
    EXPECT_EQ(calls, 2);
}

TEST(Task, IsEmptyWithoutAFunction) {
    EXPECT_FALSE(Task());
    EXPECT_FALSE(Task(nullptr));
    Task task = [] {};
    task = nullptr;
    EXPECT_FALSE(task);
}

int alive = 0;

/// Counts the objects of its type, also those that were moved from.
template <size_t Size>
struct Counted {
    Counted() { ++alive; }
    Counted(const Counted&) noexcept { ++alive; }
    ~Counted() { --alive; }
    std::array<char, Size> room{};
};

/// What a task keeps is destroyed once, with the task that has it last.
template <size_t Size>
void keeps_until_the_last() {
    auto kept = std::make_shared<int>(0);
    {
        Task first = [kept, counted = Counted<Size>()] { ++*kept; };
        EXPECT_EQ(kept.use_count(), 2);
        Task second = std::move(first);
        EXPECT_FALSE(first);
        EXPECT_EQ(kept.use_count(), 2);
        second();
        Task third = [] {};
        third = std::move(second);
        EXPECT_FALSE(second);
        third();
        EXPECT_EQ(*kept, 2);
        EXPECT_EQ(kept.use_count(), 2);
        third = nullptr;
        EXPECT_EQ(kept.use_count(), 1);
        EXPECT_EQ(alive, 0);
        second = [counted = Counted<Size>()] {};
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Task, KeepsASmallFunctionUntilTheLast) {
    keeps_until_the_last<1>();
}

TEST(Task, KeepsALargeFunctionUntilTheLast) {
    keeps_until_the_last<1000>();
}

TEST(Task, MayReplaceItselfWhileItIsDestroyed) {
    Task task;
    auto at_end = std::shared_ptr<void>(nullptr, [&task](void*) { EXPECT_FALSE(task); });
    task = [at_end = std::move(at_end)] {};
    task = nullptr;
    EXPECT_FALSE(task);
}

}  // namespace
