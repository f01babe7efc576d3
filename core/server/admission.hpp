// SPDX-License-Identifier: BSD-3-Clause
// A process that has asked to be let in and waits for the decision.
#pragma once

#include "core/server/server.hpp"

namespace muster {

struct Server::Admission {
    Socket socket;
    ConnectRequest request;
    Bytes early;
    PeerPtr peer = std::make_shared<Peer>();
    Info info;                      ///< what the peer said of itself
    bool registered = false;        ///< the host has registered it as a client
    Proc held_as;                   ///< under which name it is counted in held_, while the host decides
    bool held = false;              ///< the host decides
    std::unique_ptr<Watch> leaves;  ///< where it takes its time: whether the peer goes away meanwhile

    std::string text() const {
        if (!is_tool(request.kind)) return "client " + peer->text();
        return peer->proc.nspace[0] == '\0' ? "a tool" : "tool " + peer->text();
    }
};

}  // namespace muster
