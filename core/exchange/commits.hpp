// SPDX-License-Identifier: BSD-3-Clause
// How many commits a process has sent to its server, and how many of them the server is known to have taken
// in. A process that meets others in memory must not pass them while a commit of its own is on the way.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace muster {

/// The counts of one process. Any thread.
class Commits {
  public:
    size_t sent() const { return sent_; }
    size_t settled() const { return settled_; }
    bool all_settled() const { return sent_ == settled_; }
    /// The last commit that the socket did not take at once; 0 where there was none.
    size_t behind() const { return behind_; }

    /// One more was sent; `backed_up`: the socket has not taken it yet. On the loop.
    void count(bool backed_up) {
        if (backed_up) behind_ = sent_ + 1;
        ++sent_;
    }
    /// The server has taken in the first `commits` of them.
    void settle(size_t commits) { settled_ = std::max(settled_.load(), commits); }

  private:
    std::atomic<size_t> sent_{0};
    std::atomic<size_t> behind_{0};
    std::atomic<size_t> settled_{0};
};

}  // namespace muster
