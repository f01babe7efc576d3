// SPDX-License-Identifier: BSD-3-Clause
// Whether a thread that waits yields the processor before it sleeps (docs/decisions/0055): the other threads
// can run, and no wake-up is needed. A process that computes keeps the processor for a slice of the
// scheduler, and the yielding thread waits behind it. Used by one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace muster {

class Yielding {
  public:
    /// `processes`: how many may run before this one has its turn again.
    /// `skipped`: waits that sleep at once at first.
    explicit Yielding(uint32_t processes, uint32_t skipped = 0)
        : long_(kSlice + kTurn * processes), skipped_(skipped) {}

    /// Whether the wait that begins now may yield: not after long yields.
    bool begin() {
        if (skipped_ == 0) return true;
        --skipped_;
        return false;
    }
    /// A yield took so long. False: this thread sleeps now.
    bool goes_on(std::chrono::nanoseconds took) {
        if (took < long_) return true;
        skipped_ = skip_next_;
        skip_next_ = std::min(2 * skip_next_, kMostSkipped);
        return false;
    }
    /// The wait has ended without a sleep.
    void succeeded() { skip_next_ = std::max(skip_next_ / 2, 1U); }

  private:
    static constexpr std::chrono::microseconds kSlice{1000};  ///< less than the scheduler's
    static constexpr std::chrono::microseconds kTurn{20};     ///< of a process that puts, commits and arrives
    static constexpr uint32_t kMostSkipped = 64;

    const std::chrono::nanoseconds long_;
    uint32_t skipped_;        ///< waits that sleep at once
    uint32_t skip_next_ = 1;  ///< as many after the next long yield
};

}  // namespace muster
