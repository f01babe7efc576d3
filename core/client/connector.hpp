// SPDX-License-Identifier: BSD-3-Clause
// Connecting to a server: its address and protocol, the connection, and the handshake.
// Blocks, so it runs on the caller's thread, never on the loop.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/rendezvous_file.hpp"
#include "core/exchange/command.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/bytes.hpp"
#include "framework/gds.hpp"
#include "framework/packer.hpp"
#include "framework/ptl.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// The address of a server, its protocol settings, and the identity of this process.
struct ServerContact {
    PeerKind kind = PeerKind::Client;
    std::string nspace;                  ///< this process; empty if the server assigns the name
    pmix_rank_t rank = PMIX_RANK_UNDEF;  ///< ours
    std::vector<std::string> uris;       ///< the server's, best first: "nspace.rank;transport"
    std::string security;                ///< comma list; empty: whatever is active here
    std::string stores;                  ///< comma list
    std::string shared_form;             ///< the form of the store that Muster's server shares; empty: none
    std::string version;                 ///< the server's
    size_t max_payload = Channel::kMaxPayload;  ///< of a message that the server takes
    BufferType buffer_type = BufferType::NonDescribed;
    Bytes about_us;  ///< packed `*INFO` for the server's host, in the encoding that we offer; may be empty
    /// A server of ours is asked for our job's data in the connect request.
    bool asks_job_data = false;

    /// From the environment; nothing if no server started us. An error if the variables are
    /// malformed.
    static Result<std::optional<ServerContact>> from_environment();
};

/// The first request of a connection.
constexpr uint32_t kJobDataTag = tag::kFirstDynamic + 1;

/// A server that has accepted us.
struct Greeted {
    Socket socket;
    pmix_proc_t server{};
    pmix_proc_t self{};  ///< as the server calls us
    std::string uri;     ///< the one that led there
    PeerVersion version;
    uint32_t peer_index = 0;
    size_t max_payload = Channel::kMaxPayload;  ///< of a message that the server takes
    bool asked_job_data = false;                ///< with kJobDataTag; the answer is pending
    SegmentOffer segment;  ///< of the job data; without a descriptor if they must be requested
    UniqueFd barrier;      ///< of the job's shared-memory barrier; only with a segment, and of the same owner
    UniqueFd meeting;      ///< likewise, of its meeting for groups; only with a barrier
};

/// How far one attempt came.
struct ConnectAttempt {
    bool answered = false;  ///< a server was there at all
    std::string security;   ///< psec component whose credential was sent
};

/// Connects to the first of the contact's URIs that answers, offers `format`, and is accepted or refused.
/// PMIX_ERR_UNREACH if no server is reached or it closes without an answer, PMIX_ERR_TIMEOUT after `limit`,
/// PMIX_ERR_INVALID_CRED if it refuses the credential; otherwise the server's own code for the refusal.
Result<Greeted> connect_to_server(Runtime& runtime, const ServerContact& contact, WireFormat format,
                                  std::chrono::milliseconds limit, ConnectAttempt* attempt = nullptr);

}  // namespace muster
