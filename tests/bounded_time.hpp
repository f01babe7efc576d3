// SPDX-License-Identifier: BSD-3-Clause
// Bounds on the time of what a peer has a server do: a cost that grows with the square of its input takes
// minutes, and one that does not well below a second.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

namespace tests {

/// Expects that less than `limit` has passed since `begin`. Not with a sanitizer, where all takes up to
/// twenty times as long, and as much more as the machine has else to do: the time would say nothing of the
/// code.
inline void expect_within([[maybe_unused]] std::chrono::seconds limit,
                          [[maybe_unused]] std::chrono::steady_clock::time_point begin) {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limit);
#endif
}

}  // namespace tests
