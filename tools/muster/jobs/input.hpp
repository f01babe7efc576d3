// SPDX-License-Identifier: BSD-3-Clause
// muster's standard input, for the ranks that read it: read no faster than they consume it, and not at all
// from a terminal while muster is in the background.
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "tools/muster/base/loop.hpp"

namespace muster::launcher {

class Input {
  public:
    /// `send(rank, bytes)` passes bytes on; an empty string is the end of the input.
    Input(Loop& loop, std::set<uint32_t> readers,
          std::function<void(uint32_t rank, std::string_view bytes)> send);

    void start();
    /// Ranks have consumed (or dropped) that many bytes.
    void taken(uint64_t bytes);
    /// This rank has stopped reading.
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
