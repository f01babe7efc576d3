// SPDX-License-Identifier: BSD-3-Clause
// When a thread that waits for a message had better look for it again and again for a moment than sleep: to
// wake a processor that has gone idle takes several times as long as most answers do. Never at the cost of
// others: decision 0019.
#pragma once

#include <atomic>
#include <chrono>

namespace muster {

/// One a loop, of whoever drives it, but for allow().
class Polling {
  public:
    using Clock = std::chrono::steady_clock;

    /// What it needs of the machine; tests have one of their own.
    struct Machine {
        Clock::time_point (*now)();
        /// Lets others run who wait for this processor.
        void (*yield)();
        /// How often this thread has left its processor to another one.
        long (*switches)();
    };
    static const Machine kMachine;

    /// Polls at most so long at a time, not counting what other threads run meanwhile where it looks; zero:
    /// never.
    explicit Polling(std::chrono::microseconds limit, const Machine& machine = kMachine)
        : machine_(machine), limit_(limit) {}

    /// Whether there is a processor to spare. At first there is none. Any thread.
    void allow(bool on) { allowed_ = on; }

    /// Begins, or says that this time it is better to sleep: nobody allowed it, it was of no use several
    /// times, or this thread was in the way of another one not long ago.
    bool begin();
    /// Whether to look once more. Lets others first who wait for this processor, as the peer may be among
    /// them; where one of them stays for longer than an answer takes, or somebody has run at each of the
    /// last looks, the next one is the last.
    bool go_on();
    /// The end of what begin() has begun; `found`: something has come.
    void end(bool found);

  private:
    static constexpr int kMaxMisses = 4;
    static constexpr int kPassedOver = 16;
    static constexpr std::chrono::milliseconds kShortestPause{1}, kLongestPause{20};
    /// What it takes to yield where nobody else wants to run.
    static constexpr std::chrono::microseconds kUndisturbed{2};
    /// Where so many looks in a row, and then so many more, let somebody else run, that is another one who
    /// polls: this processor stays awake without us, and each of us takes twice as long to see what has come.
    static constexpr int kVisits = 4, kMoreVisits = 2;
    /// Who runs no longer than this mostly is one of those that the message comes from, or goes to, or
    /// several of them in turn, or the kernel: a processor that is awake for them is what they need. Who
    /// computes does not let go of it before a slice of the scheduler's has passed, which is 0.7 ms at least;
    /// processes that begin or end, of which a job's come all at once, do after some 0.2 ms.
    static constexpr std::chrono::microseconds kShortVisit{100};

    const Machine& machine_;
    const std::chrono::microseconds limit_;
    std::atomic<bool> allowed_{false};
    Clock::time_point end_{}, not_before_{};
    bool crowded_ = false;  ///< somebody else wants to run here for longer
    bool shared_ = false;   ///< somebody else polls here
    int visits_ = 0;        ///< looks in a row at which others have run, or the machine stood still
    std::chrono::milliseconds pause_ = kShortestPause;
    long switches_ = 0;  ///< of this thread to another one, when it had let kVisits run
    int misses_ = 0;     ///< in a row
    int pass_over_ = 0;  ///< times
};

}  // namespace muster
