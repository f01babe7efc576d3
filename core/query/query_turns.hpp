// SPDX-License-Identifier: BSD-3-Clause
// Limits of one query at a server: each key may take milliseconds, and a few bytes may cause much work. A
// peer's query is processed in turns, between which others are served, and its answer is limited in size.
// On the loop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "core/exchange/exchange.hpp"

namespace muster {

class QueryServer;

class QueryTurns {
  public:
    /// `asker`: empty for the host, behind which no peer waits.
    QueryTurns(QueryServer& server, const Caller& caller, std::optional<Asker> asker);

    /// A turn begins.
    void begin();
    /// Others are served now: later() must be called.
    bool is_over() const;
    /// Runs `next` when others have had their turn; nothing more is read from the peer until then. False
    /// if the peer has ended: `next` is not run.
    bool later(std::function<void()> next);
    /// The query is done with, or waits for the host.
    void end();
    /// Whether the asker has ended.
    bool has_gone() const;

    /// Counts the results of the query until it is answered.
    void count(InfoView found);
    /// Whether that is more than may be.
    bool is_too_much() const;
    /// Answers that it is.
    void refuse(const HostDone& done) const;

  private:
    QueryServer& server_;
    const Caller caller_;
    std::optional<Asker> asker_;
    size_t left_;  ///< bytes that may still be found
    bool too_much_ = false;
    bool paused_ = false;
    std::chrono::steady_clock::time_point until_{};
};

}  // namespace muster
