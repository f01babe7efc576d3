// SPDX-License-Identifier: BSD-3-Clause
// muster's standard input, for the ranks that are to read it: read no faster than they take it, and not at
// all from a terminal that muster is in the background of.
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "tools/muster/base/loop.hpp"

namespace muster::launcher {

class Input {
  public:
    /// `send(rank, bytes)` passes bytes on; an empty string says that this was all.
    Input(Loop& loop, std::set<uint32_t> readers,
          std::function<void(uint32_t rank, std::string_view bytes)> send);

    void start();
    /// Ranks have taken (or dropped) so many bytes.
    void taken(uint64_t bytes);
    /// This rank reads no more.
    void refused(uint32_t rank);
    /// muster came back to the foreground, perhaps.
    void resume();

  private:
    void read_some();

    Loop& loop_;
    std::set<uint32_t> readers_;
    std::function<void(uint32_t, std::string_view)> send_;
    Watch readable_;
    uint64_t in_flight_ = 0;
    bool ended_ = false;
};

}  // namespace muster::launcher
