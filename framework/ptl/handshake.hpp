// SPDX-License-Identifier: BSD-3-Clause
// The bytes exchanged right after a connection is made (docs/reference/wire.md, handshake): building and
// parsing only, no I/O and no decision. Parsing is over hostile bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "framework/base/bytes.hpp"
#include "framework/base/result.hpp"
#include "framework/base/value.hpp"
#include "framework/bfrops.hpp"

namespace muster {

/// The kind of the connecting process; the numbers are the wire's.
enum class PeerKind : uint8_t {
    Client = 0,
    LegacyTool = 1,
    LegacyLauncher = 2,
    ToolNeedsId = 3,
    ToolGivenId = 4,
    ToolClient = 5,
    LauncherNeedsId = 6,
    LauncherGivenId = 7,
    LauncherClient = 8,
    Singleton = 9,
    Scheduler = 10
};
/// The request names the namespace and rank of its sender.
bool carries_identity(PeerKind kind);
/// The server's answer gives the sender a namespace and rank.
bool needs_identity(PeerKind kind);
/// Any kind but clients and singletons: launchers and schedulers are tools too.
bool is_tool(PeerKind kind);

/// The word of the handshake for job data that a server sends in a reply. Peers of all libraries accept it,
/// and every store of this library sends and reads such replies.
inline constexpr const char* kWireStore = "hash";

/// Extensions of the protocol that only peers of this library support.
enum class Capability : uint16_t {
    GroupNames = 1 << 0,        ///< server: translates names of groups in lists, and answers about them
    GroupDetails = 1 << 1,      ///< constructions and destructions of groups: ranks, notes, leader, job data
    GroupInvitations = 1 << 2,  ///< watches invitations, assigns context ids, sends the decisions of handlers
    SilentCommit = 1 << 3,      ///< server: takes commits without an answer, and values of PMIX_GLOBAL once
    SilentReport = 1 << 4,      ///< server: takes events without an answer
    CompactJobData = 1 << 5,    ///< derives the facts that job data implies
    EarlyQuestion = 1 << 6,     ///< server: keeps bytes after the request to connect until it has decided
    BarrierNote = 1 << 7,       ///< a fence carries a flag: its process maps the barrier
    AnswersAtOnce = 1 << 8,     ///< server: does not wait for reserved keys that never come
    AskedOutput = 1 << 9,       ///< sends the output of a spawned job only to a tool that asks for it
    OwnAttributes = 1 << 10,    ///< answers queries of attributes for this library
    ReadsToTheEnd = 1 << 11,    ///< server: reads the rest of a local socket that its peer has closed
    DataDelete = 1 << 12,       ///< takes deletions of posted keys: server, in commits; client, tag::kDelete
};

/// A peer's version, "6.1.0" and the like. A process that runs this library adds "muster<level>" after the
/// number. The level gives its capabilities; OpenPMIx ignores the text after the number.
struct PeerVersion {
    uint16_t major = 0;
    uint16_t minor = 0;
    uint16_t release = 0;
    uint16_t capabilities = 0;  ///< of Capability
    bool can(Capability one) const { return (capabilities & static_cast<uint16_t>(one)) != 0; }
    bool at_least(uint16_t want_major, uint16_t want_minor) const {
        return major != want_major ? major > want_major : minor >= want_minor;
    }
};
PeerVersion parse_version(std::string_view text);
/// Returns this library's version on the wire.
const char* own_wire_version();

struct ConnectRequest {
    std::string psec;
    Bytes credential;
    PeerKind kind = PeerKind::Client;
    uint32_t euid = 0, egid = 0;  ///< kinds other than Client
    std::string nspace;           ///< kinds that carry an identity
    uint32_t rank = 0;
    std::string version;
    std::string bfrops;
    uint8_t buffer_type = 1;
    std::string gds;
    /// Packed `*INFO`, empty for none. A parsed one may have one zero byte too many at its end
    /// (versions 4.2).
    Bytes info_blob;
};

/// Largest body of a connect request that is accepted, in bytes.
constexpr size_t kMaxConnectRequest = 131072;

/// Header and body, ready to be written.
Bytes build_connect_request(const ConnectRequest& request);
/// Length of the body that follows these 16 bytes (1 to kMaxConnectRequest), or an error where they are no
/// connect header.
Result<size_t> parse_connect_header(ByteView header);
/// The body, whole. All errors are PMIX_ERR_BAD_PARAM with a sentence. A request of version 2.0, which ends
/// after the version, has empty names of encoding and store.
Result<ConnectRequest> parse_connect_request(ByteView body);

/// Replies of the server.
Bytes build_client_reply(pmix_status_t status, uint32_t peer_index);
struct ToolReply {
    pmix_status_t status = PMIX_SUCCESS;
    std::optional<pmix_proc_t> assigned;  ///< kinds that need an identity
    pmix_proc_t server{};
    pmix_status_t credential_status = PMIX_SUCCESS;
};
Bytes build_tool_reply(const ToolReply& reply);

/// The reply is read in pieces: how many bytes are needed for the whole (0: complete), given those read so
/// far.
struct ReplyParser {
    PeerKind kind = PeerKind::Client;
    bool tool_form = false;  ///< tools, and singletons against 4.x servers

    /// Feeds all bytes read so far; returns how many more are wanted at least, 0 when complete.
    size_t wanted(ByteView so_far) const;
    /// Number of further bytes of a server that accepts us; it sends nothing more without a request.
    size_t expected(ByteView so_far) const;
    /// Valid once wanted() is 0. For the client form only status and peer_index are set.
    struct Parsed {
        ToolReply tool;
        uint32_t peer_index = 0;
    };
    Result<Parsed> parse(ByteView bytes) const;
};

}  // namespace muster
