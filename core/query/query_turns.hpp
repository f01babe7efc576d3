// SPDX-License-Identifier: BSD-3-Clause
// What one query may take of a server: each key may take it milliseconds, and ask for much in a few bytes. A
// peer's query is looked at in turns, between which others are served, and what is found for it has an end.
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
    /// `asker`: none for the host, which nobody else waits behind.
    QueryTurns(QueryServer& server, const Caller& caller, std::optional<Asker> asker);

    /// A turn begins.
    void begin();
    /// Others have their turn now: later() is to be called.
    bool is_over() const;
    /// Runs `next` when others have had their turn; nothing more is read from the peer until then. False
    /// where it has gone: it is not run.
    bool later(std::function<void()> next);
    /// The query is done with, or waits for the host.
    void end();
    /// Whether nobody waits for the answer any more.
    bool has_gone() const;

    /// Counts what has been found, until the query is answered.
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
