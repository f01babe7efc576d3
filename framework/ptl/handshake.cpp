// SPDX-License-Identifier: BSD-3-Clause
// The handshake's bytes: see handshake.hpp and docs/reference/wire.md. One quirk is kept on purpose: the
// length in the connect header is in the sender's host order, unlike every later frame.
#include "framework/ptl/handshake.hpp"

#include <algorithm>
#include <cstring>

#include "framework/base/endian.hpp"
#include "framework/ptl/channel.hpp"

namespace muster {
namespace {

/// The capabilities of each level.
constexpr uint16_t kLevel1 = (1 << 12) - 1;
constexpr uint16_t kLevel2 = kLevel1 | static_cast<uint16_t>(Capability::DataDelete);

constexpr size_t kNspaceField = sizeof(pmix_nspace_t);

void put_string(Bytes& out, const std::string& text) {
    out.append(text.c_str(), std::strlen(text.c_str()) + 1);
}

void put_u32(Bytes& out, uint32_t value) {
    store_be32(out.extend(4), value);
}

void put_proc(Bytes& out, const pmix_proc_t& proc) {
    uint8_t* field = out.extend(kNspaceField);
    std::memset(field, 0, kNspaceField);
    std::memcpy(field, proc.nspace, strnlen(proc.nspace, PMIX_MAX_NSLEN));
    put_u32(out, proc.rank);
}

bool get_u32(ByteReader& in, uint32_t& out) {
    ByteView bytes;
    if (!in.read(4, bytes)) return false;
    out = load_be32(bytes.data());
    return true;
}

/// A string that ends inside the body.
bool get_string(ByteReader& in, std::string& out) {
    const ByteView rest = in.rest();
    const auto end = std::find(rest.begin(), rest.end(), uint8_t{0});
    if (end == rest.end()) return false;
    const auto length = static_cast<size_t>(end - rest.begin());
    ByteView bytes;
    if (!in.read(length + 1, bytes)) return false;
    out.assign(reinterpret_cast<const char*>(bytes.data()), length);
    return true;
}

bool get_proc(ByteReader& in, pmix_proc_t& proc) {
    ByteView field;
    if (!in.read(kNspaceField, field) || std::find(field.begin(), field.end(), uint8_t{0}) == field.end()) {
        return false;
    }
    std::memcpy(proc.nspace, field.data(), kNspaceField);
    return get_u32(in, proc.rank);
}

Error malformed(const char* what) {
    return {PMIX_ERR_BAD_PARAM, std::string("the connect request is malformed: ") + what};
}

Error bad_reply(const char* what) {
    return {PMIX_ERR_BAD_PARAM,
            std::string("the server's answer to the connect request is malformed: ") + what};
}

/// Reads decimal digits from the front of `text`; more than fits stays at the largest value.
uint16_t take_number(std::string_view& text) {
    uint32_t value = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        value = std::min<uint32_t>(value * 10 + static_cast<uint32_t>(text.front() - '0'), UINT16_MAX);
        text.remove_prefix(1);
    }
    return static_cast<uint16_t>(value);
}

}  // namespace

bool carries_identity(PeerKind kind) {
    return !needs_identity(kind) && kind != PeerKind::LegacyTool && kind != PeerKind::LegacyLauncher;
}

bool needs_identity(PeerKind kind) {
    return kind == PeerKind::ToolNeedsId || kind == PeerKind::LauncherNeedsId;
}

bool is_tool(PeerKind kind) {
    return kind != PeerKind::Client && kind != PeerKind::Singleton;
}

PeerVersion parse_version(std::string_view text) {
    PeerVersion version;
    if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
    for (uint16_t* part : {&version.major, &version.minor, &version.release}) {
        *part = take_number(text);
        if (part == &version.release || text.empty() || text.front() != '.') break;
        text.remove_prefix(1);
    }
    constexpr std::string_view kMark = "muster";
    if (const size_t at = text.find(kMark); at != std::string_view::npos) {
        text.remove_prefix(at + kMark.size());
        const uint16_t level = take_number(text);
        if (level >= 1) version.capabilities = level == 1 ? kLevel1 : kLevel2;
    }
    return version;
}

// OpenPMIx (4.2 to 7.0, in the request, the rendezvous file and PMIX_VERSION) reads each part with strtoul
// and stops at the first character that is no digit, so what follows the release is harmless there.
const char* own_wire_version() {
    return "7.0.0muster2";
}

Bytes build_connect_request(const ConnectRequest& request) {
    Bytes out;
    out.reserve(256 + request.credential.size() + request.info_blob.size());
    std::memset(out.extend(Channel::kHeaderSize), 0, Channel::kHeaderSize);
    put_string(out, request.psec);
    put_u32(out, static_cast<uint32_t>(request.credential.size()));
    out.append(request.credential.view());
    out.push_back(static_cast<uint8_t>(request.kind));
    if (request.kind != PeerKind::Client) {
        put_u32(out, request.euid);
        put_u32(out, request.egid);
    }
    if (carries_identity(request.kind)) {
        put_string(out, request.nspace);
        put_u32(out, request.rank);
    }
    put_string(out, request.version);
    put_string(out, request.bfrops);
    out.push_back(request.buffer_type);
    put_string(out, request.gds);
    out.append(request.info_blob.view());

    std::memset(out.data(), 0xff, 8);
    const auto length = static_cast<uint32_t>(out.size() - Channel::kHeaderSize);
    std::memcpy(out.data() + 8, &length, sizeof length);
    return out;
}

Result<size_t> parse_connect_header(ByteView header) {
    if (header.size() < Channel::kHeaderSize) return malformed("its header is cut short");
    for (size_t i = 0; i < 8; ++i) {
        if (header[i] != 0xff) return malformed("these bytes are no connect header");
    }
    uint32_t length = load_le32(header.data() + 8);
    if (length > kMaxConnectRequest) length = load_be32(header.data() + 8);
    if (length == 0 || length > kMaxConnectRequest) return malformed("its length is out of range");
    return size_t{length};
}

Result<ConnectRequest> parse_connect_request(ByteView body) {
    ConnectRequest request;
    ByteReader in(body);
    if (body.size() > kMaxConnectRequest) return malformed("it is too long");
    if (!get_string(in, request.psec)) return malformed("the security module's name has no end");
    uint32_t credential_size = 0;
    ByteView credential;
    if (!get_u32(in, credential_size) || !in.read(credential_size, credential)) {
        return malformed("the credential is longer than the request");
    }
    request.credential = Bytes(credential);
    uint8_t kind = 0;
    if (!in.read_byte(kind) || kind > static_cast<uint8_t>(PeerKind::Scheduler)) {
        return malformed("the kind of process is unknown");
    }
    request.kind = static_cast<PeerKind>(kind);
    if (request.kind != PeerKind::Client && (!get_u32(in, request.euid) || !get_u32(in, request.egid))) {
        return malformed("user and group are missing");
    }
    if (carries_identity(request.kind)) {
        if (!get_string(in, request.nspace) || !get_u32(in, request.rank)) {
            return malformed("the namespace or rank is missing");
        }
        if (request.nspace.empty() || request.nspace.size() > PMIX_MAX_NSLEN) {
            return malformed("the namespace is empty or longer than 255 characters");
        }
    }
    if (!get_string(in, request.version)) return malformed("the version has no end");
    // Version 2.0 sent nothing more. The empty names identify such a peer.
    if (in.at_end()) return request;
    if (!get_string(in, request.bfrops)) return malformed("the encoding's name has no end");
    if (!in.read_byte(request.buffer_type) ||
        (request.buffer_type != static_cast<uint8_t>(BufferType::NonDescribed) &&
         request.buffer_type != static_cast<uint8_t>(BufferType::FullyDescribed))) {
        return malformed("the type of buffer is unknown");
    }
    if (!get_string(in, request.gds)) return malformed("the store's name has no end");
    // Versions 4.2 end every request with a zero byte too many: alone it is no blob.
    if (in.remaining() > 1) request.info_blob = Bytes(in.rest());
    return request;
}

Bytes build_client_reply(pmix_status_t status, uint32_t peer_index) {
    Bytes out;
    put_u32(out, static_cast<uint32_t>(status));
    if (status == PMIX_SUCCESS) put_u32(out, peer_index);
    return out;
}

Bytes build_tool_reply(const ToolReply& reply) {
    Bytes out;
    out.reserve(8 + 2 * (kNspaceField + 4));
    put_u32(out, static_cast<uint32_t>(reply.status));
    if (reply.status != PMIX_SUCCESS) return out;
    if (reply.assigned) put_proc(out, *reply.assigned);
    put_proc(out, reply.server);
    put_u32(out, static_cast<uint32_t>(reply.credential_status));
    return out;
}

size_t ReplyParser::expected(ByteView so_far) const {
    const size_t total = 4 + (tool_form ? (needs_identity(kind) ? 2 : 1) * (kNspaceField + 4) + 4 : 4);
    return so_far.size() >= total ? 0 : total - so_far.size();
}

size_t ReplyParser::wanted(ByteView so_far) const {
    if (so_far.size() < 4) return 4 - so_far.size();
    return load_be32(so_far.data()) == 0 ? expected(so_far) : 0;
}

Result<ReplyParser::Parsed> ReplyParser::parse(ByteView bytes) const {
    if (wanted(bytes) != 0) return bad_reply("it is cut short");
    Parsed parsed;
    ByteReader in(bytes);
    uint32_t number = 0;
    if (!get_u32(in, number)) return bad_reply("it is cut short");
    parsed.tool.status = static_cast<pmix_status_t>(number);
    if (parsed.tool.status != PMIX_SUCCESS) return parsed;
    if (!tool_form) {
        if (!get_u32(in, parsed.peer_index)) return bad_reply("it is cut short");
        return parsed;
    }
    if (needs_identity(kind) && !get_proc(in, parsed.tool.assigned.emplace())) {
        return bad_reply("the namespace given to this process has no end");
    }
    if (!get_proc(in, parsed.tool.server)) return bad_reply("the server's namespace has no end");
    if (!get_u32(in, number)) return bad_reply("it is cut short");
    parsed.tool.credential_status = static_cast<pmix_status_t>(number);
    return parsed;
}

}  // namespace muster
