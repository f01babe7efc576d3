// SPDX-License-Identifier: BSD-3-Clause
// Listens on the transports and reads connect requests, without ever waiting for a peer: one that is slow,
// silent or sends rubbish costs a descriptor until its time limit, and delays no other peer.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/runtime.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

class Acceptor {
  public:
    /// `early` are bytes received after the request.
    using OnRequest = std::function<void(Socket socket, ConnectRequest request, Bytes early)>;

    Acceptor(Runtime& runtime, OnRequest on_request);
    ~Acceptor();

    /// Opens one listener on each transport that can be used, or `single`: on the first of these. Fails when
    /// there is none.
    Result<void> open(const ListenOptions& options, bool single);

    /// Transport parts of the URIs, in the order of the transports' priority.
    std::vector<std::string> uris() const;

  private:
    struct Pending;
    struct Open {
        std::unique_ptr<Listener> listener;
        std::unique_ptr<Watch> watch;
        std::unique_ptr<Watch> resume;  ///< of accepting, after a pause
    };
    void accept_all(Open& open);
    /// Whether more bytes are expected: otherwise the connection is handed over, or closed.
    bool read(Pending& pending);
    void drop(Pending& pending, const std::string& reason);

    Runtime& runtime_;
    OnRequest on_request_;
    std::list<Open> open_;  ///< the watches point at the elements
    std::list<std::unique_ptr<Pending>> pending_;
};

}  // namespace muster
