// SPDX-License-Identifier: BSD-3-Clause
// "Before" and "after" among handlers of one category.
#include "core/events/event_engine.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace {

using namespace muster;

bool met(const std::vector<size_t>& order, size_t self, const OrderWish& wish) {
    const auto at = [&](size_t i) { return std::find(order.begin(), order.end(), i); };
    return wish.other >= order.size() || (at(self) < at(wish.other)) == wish.before;
}

TEST(HandlerOrder, IsStable) {
    covers("EVT-13");
    const OrderWish none{SIZE_MAX, false};
    EXPECT_EQ(order_by_wishes({none, none, none}), (std::vector<size_t>{0, 1, 2}));
    EXPECT_EQ(order_by_wishes({none, {0, false}, none}), (std::vector<size_t>{0, 1, 2}));
}

TEST(HandlerOrder, SatisfiesAnyTreeOfConstraints) {
    covers("EVT-12");
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        const size_t n = 1 + random() % 12;
        std::vector<size_t> label(n);
        for (size_t i = 0; i < n; ++i)
            label[i] = i;
        std::shuffle(label.begin(), label.end(), random);
        std::vector<OrderWish> wishes(n, OrderWish{SIZE_MAX, false});
        for (size_t i = 1; i < n; ++i) {
            if (random() % 4 != 0) wishes[label[i]] = {label[random() % i], random() % 2 == 0};
        }
        const auto order = order_by_wishes(wishes);
        ASSERT_TRUE(std::is_permutation(order.begin(), order.end(), label.begin(), label.end()));
        for (size_t i = 0; i < n; ++i)
            ASSERT_TRUE(met(order, i, wishes[i])) << "round " << round << ", handler " << i;
    }
}

TEST(HandlerOrder, EndsForCyclicConstraints) {
    EXPECT_EQ(order_by_wishes({{1, true}, {0, true}}).size(), 2u);
    EXPECT_EQ(order_by_wishes({{0, true}}).size(), 1u);
}

}  // namespace
