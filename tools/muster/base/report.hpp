// SPDX-License-Identifier: BSD-3-Clause
// The times of a run, for --report: when the servers ran, ranks were started, came through PMIx_Init, ended;
// how long the fences took that crossed the host.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {

class Report {
  public:
    using Clock = std::chrono::steady_clock;

    Report() : begin_(Clock::now()) {}
    void servers_ready() { servers_ = Clock::now(); }
    void rank_started() { started_.push_back(Clock::now()); }
    void rank_connected() { connected_.push_back(Clock::now()); }
    void rank_finalized() { finalized_.push_back(Clock::now()); }
    void rank_ended() { ended_.push_back(Clock::now()); }
    /// One fence, from the first node's part to the answer.
    void fence(Clock::duration time, size_t bytes) {
        fences_.push_back(time);
        fence_bytes_ += bytes;
    }
    /// The table, in milliseconds since the launcher began.
    std::string text(size_t ranks, size_t nodes) const;

  private:
    Clock::time_point begin_;
    std::optional<Clock::time_point> servers_;
    std::vector<Clock::time_point> started_, connected_, finalized_, ended_;
    std::vector<Clock::duration> fences_;
    size_t fence_bytes_ = 0;
};

}  // namespace muster::launcher
