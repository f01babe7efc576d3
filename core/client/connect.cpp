// SPDX-License-Identifier: BSD-3-Clause
// The way of a client to its server: what the environment says, the connection, the handshake, the job data.
#include "core/client/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/runtime/completion.hpp"
#include "framework/base/status.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

std::string environment(const char* name) {
    const char* value = secure_getenv(name);
    return value == nullptr ? "" : value;
}

/// Splits "nspace.rank;transport". The namespace ends at the last dot before the semicolon.
bool split_uri(const std::string& uri, pmix_proc_t& server, std::string& transport) {
    const size_t semicolon = uri.find(';');
    if (semicolon == std::string::npos) return false;
    const size_t dot = uri.rfind('.', semicolon);
    if (dot == std::string::npos || dot == 0 || dot > PMIX_MAX_NSLEN) return false;
    uint32_t rank = 0;
    const char* end = uri.data() + semicolon;
    const auto parsed = std::from_chars(uri.data() + dot + 1, end, rank);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    server = make_proc(std::string_view(uri).substr(0, dot), rank);
    transport = uri.substr(semicolon + 1);
    return !transport.empty();
}

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
        const ssize_t sent = ::send(socket.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
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
    ServerContact contact;
    contact.nspace = environment("PMIX_NAMESPACE");
    if (contact.nspace.empty()) return std::optional<ServerContact>();
    if (contact.nspace.size() > PMIX_MAX_NSLEN) {
        return Error{PMIX_ERR_BAD_PARAM, "PMIX_NAMESPACE in the environment is too long"};
    }
    // Our own server's local transport first; then what every server offers, newest name first.
    for (const char* name : {"PMIX_MUSTER_URI", "PMIX_SERVER_URI61", "PMIX_SERVER_URI51", "PMIX_SERVER_URI41",
                             "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21", "PMIX_SERVER_URI20",
                             "PMIX_SERVER_URI2"}) {
        std::string uri = environment(name);
        if (uri.empty()) continue;
        bool known = false;
        for (const std::string& other : contact.uris)
            known = known || other == uri;
        if (!known) contact.uris.push_back(std::move(uri));
    }
    if (contact.uris.empty()) return std::optional<ServerContact>();
    const std::string rank = environment("PMIX_RANK");
    const auto parsed = std::from_chars(rank.data(), rank.data() + rank.size(), contact.rank);
    if (parsed.ec != std::errc() || parsed.ptr != rank.data() + rank.size()) {
        return Error{PMIX_ERR_DATA_VALUE_NOT_FOUND,
                     "PMIX_RANK in the environment is not a number: '" + rank + "'"};
    }
    contact.security = environment("PMIX_SECURITY_MODE");
    contact.stores = environment("PMIX_GDS_MODULE");
    contact.version = environment("PMIX_VERSION");
    if (contact.version.empty()) contact.version = "4.1.0";  // servers that say nothing are that old
    if (environment("PMIX_BFROP_BUFFER_TYPE") == "PMIX_BFROP_BUFFER_FULLY_DESC") {
        contact.buffer_type = BufferType::FullyDescribed;
    }
    return std::optional<ServerContact>(std::move(contact));
}

Result<Socket> Client::open_connection(const ServerContact& contact, std::chrono::milliseconds limit) {
    std::string failures;
    for (const std::string& uri : contact.uris) {
        pmix_proc_t server{};
        std::string transport;
        if (!split_uri(uri, server, transport)) {
            failures += "; '" + uri + "' is no URI of a server";
            continue;
        }
        for (Ptl* ptl : runtime_.registry().ptls()) {
            if (!ptl->accepts(transport)) continue;
            auto socket = ptl->connect(transport, limit);
            if (socket) {
                server_ = server;
                return socket;
            }
            failures += "; " + socket.error().text;
        }
    }
    return Error{PMIX_ERR_UNREACH, "no server can be reached" + failures};
}

Result<Bytes> Client::handshake(Socket& socket, const ServerContact& contact,
                                std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    ConnectRequest request;
    const auto modules = runtime_.registry().psecs(contact.security);
    if (modules.empty()) {
        return Error{PMIX_ERR_NOT_AVAILABLE, "the server asks for security module '" + contact.security +
                                                 "', which is not active here"};
    }
    request.psec = modules.front()->name();
    auto credential = modules.front()->create_credential({});
    if (!credential) return credential.error();
    request.credential = std::move(*credential);
    request.kind = PeerKind::Client;
    request.nspace = contact.nspace;
    request.rank = contact.rank;
    request.version = own_wire_version();
    request.bfrops = format_.bfrops->name();
    request.buffer_type = static_cast<uint8_t>(format_.buffer_type);
    request.gds = runtime_.store().name();
    if (auto sent = send_all(socket, build_connect_request(request).view(), until); !sent)
        return sent.error();

    ReplyParser parser;
    Bytes received;
    for (;;) {
        const size_t wanted = parser.wanted(received.view());
        if (wanted == 0) break;
        uint8_t chunk[1024];
        const ssize_t got = ::recv(socket.fd.get(), chunk, std::min(wanted, sizeof chunk), 0);
        if (got > 0) {
            received.append(chunk, static_cast<size_t>(got));
        } else if (got == 0) {
            return Error{PMIX_ERR_UNREACH, "server " + proc_text(server_) + " at " + socket.peer +
                                               " refused " + contact.nspace + ":" +
                                               std::to_string(contact.rank) +
                                               " (its log, ptl_base_verbose, says why)"};
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (auto ready = await(socket, POLLIN, until); !ready) return ready.error();
        } else if (errno != EINTR) {
            return Error{PMIX_ERR_UNREACH,
                         "reading from the server at " + socket.peer + ": " + std::strerror(errno)};
        }
    }
    const auto parsed = parser.parse(received.view());
    if (!parsed) return parsed.error();
    if (parsed->tool.status != PMIX_SUCCESS) {
        return Error{parsed->tool.status, "server " + proc_text(server_) + " does not accept " +
                                              contact.nspace + ":" + std::to_string(contact.rank)};
    }
    peer_index_ = parsed->peer_index;
    return Bytes();
}

Result<void> Client::connect(const ServerContact& contact) {
    runtime_.set_self(make_proc(contact.nspace, contact.rank));
    format_ = {runtime_.own_format().bfrops, contact.buffer_type};
    runtime_.set_own_format(format_);
    server_version_ = parse_version(contact.version);
    const auto limit = std::chrono::milliseconds(
        static_cast<int64_t>(runtime_.parameters().seconds("client_base_connect_timeout") * 1000));
    auto socket = open_connection(contact, limit);
    if (!socket) return socket.error();
    if (auto greeted = handshake(*socket, contact, limit); !greeted) return greeted.error();

    auto shared = std::make_shared<Socket>(std::move(*socket));
    const pmix_status_t started =
        call_and_wait<pmix_status_t>(runtime_.loop(), PMIX_ERR_WOULD_BLOCK, [this, shared](auto deliver) {
            channel_ = std::make_unique<Channel>(runtime_.loop(), std::move(*shared), Channel::Limits());
            connected_.store(true, std::memory_order_release);
            channel_->start([this](Frame frame) { on_frame(std::move(frame)); },
                            [this](const std::string& reason) { on_closed(reason); });
            deliver(PMIX_SUCCESS);
        });
    if (started != PMIX_SUCCESS) return Error{started, "init was called on the progress thread"};
    return fetch_job_data();
}

Result<void> Client::fetch_job_data() {
    auto complaint = std::make_shared<std::string>();
    const pmix_status_t status =
        call_and_wait<pmix_status_t>(runtime_.loop(), PMIX_ERR_WOULD_BLOCK, [this, complaint](auto deliver) {
            request(packer(Command::JobInfo), [this, deliver, complaint](Unpacker* reply) {
                if (reply == nullptr) return deliver(PMIX_ERR_LOST_CONNECTION);
                std::string nspace;
                if (!reply->string(nspace)) return deliver(reply->error());
                if (nspace != runtime_.self().nspace) {
                    *complaint = "the server sent job data of another namespace, '" + nspace + "'";
                    return deliver(PMIX_ERR_INVALID_NAMESPACE);
                }
                auto taken = runtime_.store().unpack_job(runtime_.self().nspace, *reply);
                if (!taken) *complaint = taken.error().text;
                deliver(taken.status());
            });
        });
    if (status == PMIX_SUCCESS) return {};
    return Error{status, "job data of " + std::string(runtime_.self().nspace) + " from server " +
                             proc_text(server_) + ": " +
                             (complaint->empty() ? status_text(status) : *complaint)};
}

void Client::become_singleton() {
    const std::string& host = runtime_.hostname();
    std::string nspace = "singleton." + host + "." + std::to_string(getpid());
    if (nspace.size() > PMIX_MAX_NSLEN) nspace = "singleton." + std::to_string(getpid());
    runtime_.set_self(make_proc(nspace, 0));
    format_ = runtime_.own_format();

    Info job;
    for (const char* key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE,
                            PMIX_NUM_NODES, PMIX_JOB_NUM_APPS}) {
        job.add(key, uint32_t{1});
    }
    job.add(PMIX_JOBID, nspace.c_str());
    job.add(PMIX_NODE_LIST, host.c_str());
    Info node;
    node.add(PMIX_HOSTNAME, host.c_str());
    node.add(PMIX_NODEID, uint32_t{0});
    node.add(PMIX_LOCAL_SIZE, uint32_t{1});
    node.add(PMIX_LOCAL_PEERS, "0");
    node.add(PMIX_LOCALLDR, Value::rank(0));
    job.add(PMIX_NODE_INFO_ARRAY, std::move(node).to_value());
    Info proc;
    proc.add(PMIX_RANK, Value::rank(0));
    for (const char* key : {PMIX_GLOBAL_RANK, PMIX_APP_RANK})
        proc.add(key, Value::rank(0));
    for (const char* key : {PMIX_LOCAL_RANK, PMIX_NODE_RANK})
        proc.add(key, uint16_t{0});
    proc.add(PMIX_APPNUM, uint32_t{0});
    proc.add(PMIX_NODEID, uint32_t{0});
    proc.add(PMIX_HOSTNAME, host.c_str());
    job.add(PMIX_PROC_INFO_ARRAY, std::move(proc).to_value());
    if (auto stored = runtime_.store().register_job(nspace.c_str(), 1, job); !stored) {
        MUSTER_LOG(runtime_.log(), Error, "%s", stored.error().text.c_str());
    }
}

}  // namespace muster
