// SPDX-License-Identifier: BSD-3-Clause
// One end of the socket pair between the launcher and a node daemon: sends and receives whole frames on the
// loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/muster/exchange/message.hpp"
#include "tools/muster/loop.hpp"

namespace muster::launcher {

class Link {
  public:
    using OnMessage = std::function<void(Kind kind, uint64_t id, std::string_view body)>;
    using OnClosed = std::function<void()>;

    /// Owns `fd` from now on. `on_closed` is called once, at the end of the peer or when it sent what is no
    /// frame.
    Link(Loop& loop, int fd, OnMessage on_message, OnClosed on_closed);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Sends or queues one frame; what is queued when the peer dies is lost. False when the body is larger
    /// than a frame can be (1 GiB); nothing is sent then. On the loop.
    bool send(Kind kind, uint64_t id, const Writer& body);
    bool send(Kind kind, const Writer& body = {}) { return send(kind, 0, body); }
    /// Waits until all that was queued is written (or the peer is gone). For the last words of a process.
    void flush();

  private:
    void read_some();
    void write_some();
    void close();

    int fd_;
    OnMessage on_message_;
    OnClosed on_closed_;
    std::string in_;
    size_t in_done_ = 0;  ///< bytes of in_ that were handled
    std::string out_;
    size_t out_done_ = 0;
    Watch readable_;
    Watch writable_;
};

}  // namespace muster::launcher
