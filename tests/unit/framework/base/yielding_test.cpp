// SPDX-License-Identifier: BSD-3-Clause
// The yields of a waiting thread before it sleeps.
#include "framework/base/polling.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Number of waits that sleep at once before the next one that may yield.
int skipped(Yielding& yielding) {
    int count = 0;
    while (!yielding.begin())
        ++count;
    return count;
}

TEST(Yielding, SleepsAtOnceInAsManyWaitsAsGiven) {
    Yielding yielding(2, 1);
    EXPECT_FALSE(yielding.begin());
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(yielding.begin());
}

TEST(Yielding, GoesOnAfterShortYields) {
    Yielding yielding(2);
    EXPECT_TRUE(yielding.goes_on(microseconds(100)));
    EXPECT_EQ(skipped(yielding), 0);
}

TEST(Yielding, SkipsTwiceAsManyWaitsAfterEachLongYield) {
    Yielding yielding(2);
    skipped(yielding);
    int last = 0;
    for (int wanted : {1, 2, 4, 8, 16, 32, 64, 64, 64}) {
        EXPECT_FALSE(yielding.goes_on(milliseconds(4)));
        last = skipped(yielding);
        EXPECT_EQ(last, wanted);
    }
}

TEST(Yielding, WaitsForTheTurnsOfAllProcessesOfALargeJob) {
    Yielding few(2), many(256);
    EXPECT_FALSE(few.goes_on(milliseconds(4)));
    EXPECT_TRUE(many.goes_on(milliseconds(4)));
}

TEST(Yielding, SkipsFewAgainWhereYieldsSucceed) {
    Yielding yielding(2);
    skipped(yielding);
    for (int i = 0; i < 6; ++i) {
        yielding.goes_on(milliseconds(4));
        skipped(yielding);
    }
    for (int i = 0; i < 10; ++i)
        yielding.succeeded();
    EXPECT_FALSE(yielding.goes_on(milliseconds(4)));
    EXPECT_EQ(skipped(yielding), 1);
}

}  // namespace
}  // namespace muster
