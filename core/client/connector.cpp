// SPDX-License-Identifier: BSD-3-Clause
// The way to a server: see connector.hpp.
#include "core/client/connector.hpp"

#include <poll.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "framework/base/endian.hpp"
#include "framework/base/status.hpp"
#include "framework/psec.hpp"
#include "framework/ptl/transports.hpp"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

/// The environment variables that begin with PMIX_, found in one pass: about twenty are looked up, and the
/// environment may be large. Empty in a process with raised privileges (as secure_getenv()).
class Environment {
  public:
    Environment() {
        if (getauxval(AT_SECURE) != 0) return;
        entries_.reserve(32);
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            const std::string_view text = *entry;
            if (text.starts_with(kPrefix)) entries_.push_back(text.substr(kPrefix.size()));
        }
    }

    /// The value of PMIX_<name>; empty if it is not set.
    std::string operator()(std::string_view name) const {
        for (const std::string_view entry : entries_) {
            if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
                return std::string(entry.substr(name.size() + 1));
        }
        return {};
    }

  private:
    static constexpr std::string_view kPrefix = "PMIX_";
    std::vector<std::string_view> entries_;
};

/// The variables with a server's address, in the order in which they are tried, and whether this library
/// supports their protocol.
constexpr std::pair<std::string_view, bool> kUriNames[] = {
    {"MUSTER_URI", true},    {"SERVER_URI61", true},  {"SERVER_URI51", true},
    {"SERVER_URI41", true},  {"SERVER_URI4", true},   {"SERVER_URI3", false},
    {"SERVER_URI21", false}, {"SERVER_URI20", false}, {"SERVER_URI2", false}};

/// Waits until the socket is ready for `events`.
Result<void> await(const Socket& socket, short events, Clock::time_point until) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0)
            return Error{PMIX_ERR_TIMEOUT, "the server at " + socket.peer + " did not answer in time"};
        pollfd entry{socket.fd.get(), events, 0};
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min<long>(left, 1 << 30)));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return Error{PMIX_ERR_UNREACH, std::strerror(errno)};
    }
}

Result<void> send_all(const Socket& socket, ByteView bytes, Clock::time_point until) {
    while (!bytes.empty()) {
        // By the call that the channel makes later: the dynamic linker looks for it once.
        iovec part{const_cast<uint8_t*>(bytes.data()), bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        const ssize_t sent = ::sendmsg(socket.fd.get(), &message, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<size_t>(sent));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (auto ready = await(socket, POLLOUT, until); !ready) return ready;
        } else if (errno != EINTR) {
            return Error{PMIX_ERR_UNREACH,
                         "writing to the server at " + socket.peer + ": " + std::strerror(errno)};
        }
    }
    return {};
}

}  // namespace

Result<std::optional<ServerContact>> ServerContact::from_environment() {
    const Environment environment;
    ServerContact contact;
    contact.nspace = environment("NAMESPACE");
    if (contact.nspace.empty()) return std::optional<ServerContact>();
    if (contact.nspace.size() > PMIX_MAX_NSLEN) {
        return Error{PMIX_ERR_BAD_PARAM, "PMIX_NAMESPACE in the environment has more than 255 characters"};
    }
    contact.version = environment("VERSION");
    // The local transport of Muster's server first; then the transports of every server, newest name first.
    bool speaks = false;
    for (const auto& [name, spoken] : kUriNames) {
        std::string uri = environment(name);
        if (uri.empty()) continue;
        speaks |= spoken;
        bool known = false;
        for (const std::string& other : contact.uris)
            known = known || other == uri;
        if (!known) contact.uris.push_back(std::move(uri));
    }
    if (contact.uris.empty()) return std::optional<ServerContact>();
    // Servers of 4.0 and later offer the names of earlier versions, too.
    if (!speaks) {
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     "the server at " + contact.uris.front() + " runs OpenPMIx " +
                         (contact.version.empty() ? "3 or earlier" : contact.version) +
                         ", whose protocol this library does not speak; use a host on OpenPMIx 4.0 or later"};
    }
    const std::string rank = environment("RANK");
    const auto parsed = std::from_chars(rank.data(), rank.data() + rank.size(), contact.rank);
    if (parsed.ec != std::errc() || parsed.ptr != rank.data() + rank.size()) {
        return Error{PMIX_ERR_DATA_VALUE_NOT_FOUND,
                     "PMIX_RANK in the environment is not a number: '" + rank + "'"};
    }
    contact.security = environment("SECURITY_MODE");
    contact.stores = environment("GDS_MODULE");
    contact.shared_form = environment("MUSTER_STORE");
    if (contact.version.empty()) contact.version = "4.1.0";  // servers without it are that old
    // A server that states no limit accepts every length that a frame can express.
    const std::string takes = environment("MUSTER_MAX_PAYLOAD");
    size_t most = 0;
    if (std::from_chars(takes.data(), takes.data() + takes.size(), most).ec == std::errc() && most != 0)
        contact.max_payload = std::min(most, Channel::kMaxPayload);
    if (environment("BFROP_BUFFER_TYPE") == "PMIX_BFROP_BUFFER_FULLY_DESC") {
        contact.buffer_type = BufferType::FullyDescribed;
    }
    return std::optional<ServerContact>(std::move(contact));
}

namespace {

struct Reached {
    Socket socket;
    pmix_proc_t server{};
    std::string uri;
};

Result<Reached> open_connection(Runtime& runtime, const std::vector<std::string>& uris,
                                Clock::time_point until) {
    std::string failures;
    pmix_status_t status = PMIX_ERR_UNREACH;
    for (const std::string& uri : uris) {
        Reached reached;
        std::string transport;
        if (!split_server_uri(uri, reached.server, transport)) {
            failures += "; '" + uri.substr(0, 256) + "' is no URI of a server";
            continue;
        }
        bool known = false;
        for (Ptl* ptl : transports_for(runtime.registry(), transport)) {
            known = true;
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
            const DescriptorClaim::Making making;
            auto socket = ptl->connect(transport, std::max(left, std::chrono::milliseconds(1)));
            if (socket) {
                socket->claim = DescriptorClaim(socket->fd.get());
                reached.socket = std::move(*socket);
                reached.uri = uri;
                return reached;
            }
            if (socket.status() == PMIX_ERR_TIMEOUT) status = PMIX_ERR_TIMEOUT;
            failures += "; " + socket.error().text;
        }
        if (!known) failures += "; no transport here understands '" + transport.substr(0, 256) + "'";
    }
    return Error{status, "no server can be reached" + failures};
}

/// A local socket, which only our own servers have: a descriptor can be passed through it.
bool passes_descriptors(const Socket& socket) {
    // The kernel provides credentials for local sockets only.
    return socket.credentials.has_value();
}

/// recv() that keeps the passed descriptors. `lost` is set if a descriptor did not fit.
ssize_t receive(const Socket& socket, uint8_t* into, size_t size, std::vector<UniqueFd>& passed, bool& lost) {
    iovec part = {into, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 3)] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = CMSG_LEN(sizeof(int) * 3);  // not the padding, where there is any
    const ssize_t got = ::recvmsg(socket.fd.get(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    lost = lost || (message.msg_flags & MSG_CTRUNC) != 0;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
            passed.emplace_back(fd);
        }
    }
    return got;
}

/// Returns the remedy for a rejected credential of this kind, or "".
std::string about_proof(const Psec& proof, const Socket& socket, pmix_status_t status) {
    const std::string remedy = proof.remedy();
    if (status != PMIX_ERR_INVALID_CRED || remedy.empty() || passes_descriptors(socket)) return "";
    return "; " + remedy;
}

/// Appends a frame, because there is no channel yet. The peer index in a tool's header is 0.
void append_job_data_question(Bytes& hello, WireFormat format) {
    Packer question(format);
    question.command(static_cast<uint8_t>(Command::JobInfo));
    const Bytes payload = question.take();
    uint8_t* header = hello.extend(Channel::kHeaderSize);
    std::memset(header, 0, Channel::kHeaderSize);
    store_be32(header + 4, kJobDataTag);
    store_be32(header + 8, static_cast<uint32_t>(payload.size()));
    hello.append(payload.view());
}

/// Makes the credential of this process, and returns the component that made it. The server accepts each
/// component of its list, so they are opened one by one, in the order of the list, until one succeeds.
Result<const Psec*> make_credential(Registry& registry, const std::string& security,
                                    ConnectRequest& request) {
    std::optional<Error> failure;
    for (std::string_view rest = security;;) {
        const size_t comma = std::min(rest.find(','), rest.size());
        const bool skip = comma == 0 && !security.empty();  // nothing between two commas
        for (Psec* module : skip ? std::vector<Psec*>() : registry.psecs(rest.substr(0, comma))) {
            auto credential = module->create_credential({});
            if (credential) {
                request.psec = module->name();
                request.credential = std::move(*credential);
                return module;
            }
            MUSTER_LOG(registry.log("psec"), Warning, "%s", credential.error().text.c_str());
            if (!failure) failure = credential.error();
        }
        if (comma == rest.size()) break;
        rest.remove_prefix(comma + 1);
    }
    if (failure) return *failure;
    return Error{PMIX_ERR_NOT_AVAILABLE, registry.why_none("psec", security)};
}

}  // namespace

Result<Greeted> connect_to_server(Runtime& runtime, const ServerContact& contact, WireFormat format,
                                  std::chrono::milliseconds limit, ConnectAttempt* attempt) {
    const auto until = Clock::now() + limit;
    ConnectRequest request;
    // Before the connection: so the server, once awake, finds the request with it.
    const auto proven = make_credential(runtime.registry(), contact.security, request);
    auto reached = open_connection(runtime, contact.uris, until);
    if (attempt != nullptr) *attempt = {reached.ok(), {}};
    if (!reached) return reached.error();
    const Socket& socket = reached->socket;
    const std::string server = "server " + proc_text(reached->server) + " at " + socket.peer;
    const std::string us =
        contact.nspace.empty() ? "this tool" : contact.nspace + ":" + std::to_string(contact.rank);

    if (!proven) return proven.error();
    if (attempt != nullptr) attempt->security = request.psec;
    request.kind = contact.kind;
    request.euid = geteuid();
    request.egid = getegid();
    request.nspace = contact.nspace;
    request.rank = contact.rank;
    request.version = own_wire_version();
    request.bfrops = format.bfrops->name();
    request.buffer_type = static_cast<uint8_t>(format.buffer_type);
    // Every store accepts the data that a server sends; Muster's needs less.
    const std::string shared_form = runtime.store().shared_form();
    const bool shares = contact.kind == PeerKind::Client && !shared_form.empty() &&
                        shared_form == contact.shared_form && passes_descriptors(socket);
    request.gds = shares ? shared_form : kWireStore;
    request.info_blob.append(contact.about_us.view());
    Bytes hello = build_connect_request(request);
    // Muster servers keep data that follows the request until they have decided on the request.
    const bool asks = contact.asks_job_data && parse_version(contact.version).can(Capability::EarlyQuestion);
    if (asks) append_job_data_question(hello, format);
    if (auto sent = send_all(socket, hello.view(), until); !sent) return sent.error();

    std::vector<UniqueFd> passed;  // the segment of the store, the barrier, and the meeting
    bool lost = false;             // one of them
    ReplyParser parser;
    parser.kind = contact.kind;
    parser.tool_form = is_tool(contact.kind);
    Bytes received;
    while (parser.wanted(received.view()) != 0) {
        uint8_t chunk[1024];
        ssize_t got = -1;
        int failure = EAGAIN;
        const auto look = [&] {
            const size_t room = std::min(parser.expected(received.view()), sizeof chunk);
            got = receive(socket, chunk, room, passed, lost);
            failure = got < 0 ? errno : 0;
            return failure != EAGAIN && failure != EWOULDBLOCK;
        };
        if (LoopCallers* callers = runtime.callers(); !look() && callers != nullptr) callers->poll_for(look);
        if (got > 0) {
            received.append(chunk, static_cast<size_t>(got));
        } else if (got == 0) {
            // OpenPMIx's servers ask their host first, and close where they cannot check a credential.
            const bool welcome =
                parser.tool_form && received.size() >= 4 && load_be32(received.view().data()) == 0;
            return Error{welcome ? PMIX_ERR_INVALID_CRED : PMIX_ERR_UNREACH,
                         server + " refused " + us + " (its log, ptl_base_verbose, says why)"};
        } else if (failure == EAGAIN || failure == EWOULDBLOCK) {
            if (auto ready = await(socket, POLLIN, until); !ready) return ready.error();
        } else if (failure != EINTR) {
            return Error{PMIX_ERR_UNREACH,
                         "reading from the server at " + socket.peer + ": " + std::strerror(failure)};
        }
    }
    const auto parsed = parser.parse(received.view());
    if (!parsed) return parsed.error();
    for (const pmix_status_t status : {parsed->tool.status, parsed->tool.credential_status}) {
        if (status != PMIX_SUCCESS)
            return Error{status, server + " does not accept " + us + ": " + status_text(status) +
                                     about_proof(**proven, socket, status)};
    }
    if (lost) {
        MUSTER_LOG(runtime.log(), Warning, "no descriptor is left for %s that %s shares (ulimit -n); %s",
                   passed.empty() ? "the segment" : "the barrier", server.c_str(),
                   passed.empty() ? "asking for job data" : "fences go by the server");
    }
    Greeted greeted;
    if (shares && !passed.empty()) {
        greeted.segment.fd = std::move(passed[0]);
        if (passed.size() > 1) greeted.barrier = std::move(passed[1]);
        if (passed.size() > 2) greeted.meeting = std::move(passed[2]);
        if (socket.credentials) greeted.segment.owner = socket.credentials->uid;
    }
    greeted.socket = std::move(reached->socket);
    greeted.uri = std::move(reached->uri);
    greeted.server = parser.tool_form ? parsed->tool.server : reached->server;
    greeted.self = parsed->tool.assigned.value_or(make_proc(contact.nspace, contact.rank));
    greeted.segment.self = greeted.self;
    greeted.version = parse_version(contact.version);
    greeted.peer_index = parsed->peer_index;
    greeted.max_payload = contact.max_payload;
    greeted.asked_job_data = asks;
    return greeted;
}

}  // namespace muster
