// SPDX-License-Identifier: BSD-3-Clause
// Whether a loop polls before it sleeps.
#include "framework/base/polling.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::microseconds;

/// Number of waits that sleep at once before the next one that may yield.
int skipped(Yielding& yielding) {
    int count = 0;
    while (!yielding.begin())
        ++count;
    return count;
}

TEST(Yielding, GoesOnAfterShortYields) {
    Yielding yielding;
    EXPECT_TRUE(yielding.goes_on(microseconds(99)));
    EXPECT_EQ(skipped(yielding), 0);
}

TEST(Yielding, SkipsTwiceAsManyWaitsAfterEachLongYield) {
    Yielding yielding;
    skipped(yielding);
    int last = 0;
    for (int wanted : {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
        EXPECT_FALSE(yielding.goes_on(microseconds(100)));
        last = skipped(yielding);
        EXPECT_EQ(last, wanted);
    }
}

TEST(Yielding, SkipsFewAgainWhereYieldsSucceed) {
    Yielding yielding;
    skipped(yielding);
    for (int i = 0; i < 6; ++i) {
        yielding.goes_on(microseconds(100));
        skipped(yielding);
    }
    for (int i = 0; i < 10; ++i)
        yielding.succeeded();
    EXPECT_FALSE(yielding.goes_on(microseconds(100)));
    EXPECT_EQ(skipped(yielding), 1);
}

}  // namespace
}  // namespace muster
