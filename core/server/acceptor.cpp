// SPDX-License-Identifier: BSD-3-Clause
// Reading connect requests: see acceptor.hpp.
#include "core/server/acceptor.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "framework/ptl/channel.hpp"

namespace muster {

namespace {
/// Connections that may be in their handshake at once. Beyond the limit the oldest is closed: a correct peer
/// needs microseconds.
constexpr size_t kMaxPending = 1024;
/// The part of this process's descriptors that they may have, all together.
constexpr size_t kShareOfFiles = 8;
/// The pause of accepting after the process ran out of descriptors or memory.
constexpr std::chrono::milliseconds kPause{200};
/// Connections that are accepted in a row, so that a storm of them does not keep the loop from all else.
constexpr int kMostAtOnce = 64;

size_t max_pending() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMaxPending;
    return std::clamp<size_t>(files.rlim_cur / kShareOfFiles, 1, kMaxPending);
}

}  // namespace

struct Acceptor::Pending {
    Socket socket;
    Bytes received;
    size_t wanted = Channel::kHeaderSize;  ///< expected bytes of the request, with the header
    bool header_read = false;
    std::unique_ptr<Watch> readable;
    std::unique_ptr<Watch> time_limit;
    std::list<std::unique_ptr<Pending>>::iterator self;
};

Acceptor::Acceptor(Runtime& runtime, OnRequest on_request)
    : runtime_(runtime), on_request_(std::move(on_request)) {}
Acceptor::~Acceptor() = default;

Result<void> Acceptor::open(const ListenOptions& options, bool single) {
    std::string failures;
    for (Ptl* transport : runtime_.registry().ptls()) {
        auto listener = transport->listen(options);
        if (!listener) {
            const std::string& why = listener.error().text;
            // An impossible setting is a user's error; an address in use may be harmless.
            if (listener.status() == PMIX_ERR_BAD_PARAM) {
                MUSTER_LOG(runtime_.registry().log("ptl"), Error, "ptl/%s does not listen: %s",
                           transport->name(), why.c_str());
            } else {
                MUSTER_LOG(runtime_.registry().log("ptl"), Info, "%s: %s", transport->name(), why.c_str());
            }
            failures += (failures.empty() ? "" : "; ") + std::string(transport->name()) + ": " + why;
            continue;
        }
        Open& open = open_.emplace_back();
        open.listener = std::move(*listener);
        open.watch =
            runtime_.loop().watch(open.listener->fd(), [this, &open](EventLoop::Ready) { accept_all(open); });
        if (single) break;
    }
    if (open_.empty()) {
        return Error{PMIX_ERR_NOT_AVAILABLE,
                     "no transport can be listened on: " +
                         (failures.empty() ? runtime_.registry().why_none("ptl") : failures)};
    }
    return {};
}

std::vector<std::string> Acceptor::uris() const {
    std::vector<std::string> uris;
    for (const Open& open : open_)
        uris.push_back(open.listener->uri());
    return uris;
}

void Acceptor::accept_all(Open& open) {
    int failures = 0;
    for (int i = 0; i < kMostAtOnce; ++i) {
        auto socket = open.listener->accept();
        if (!socket) {
            if (socket.status() == PMIX_ERR_NOT_FOUND) return;
            MUSTER_LOG(runtime_.registry().log("ptl"), Error, "%s", socket.error().text.c_str());
            // An error may concern one connection. If every attempt fails, the cause is the call itself.
            if (socket.status() != PMIX_ERR_OUT_OF_RESOURCE && ++failures < kMostAtOnce) continue;
            // Connections wait in the kernel's backlog; an immediate retry would only keep the loop busy.
            open.watch->want_read(false);
            open.resume = runtime_.loop().after(kPause, [&open] { open.watch->want_read(true); });
            return;
        }
        if (!pending_.empty() && pending_.size() >= max_pending())
            drop(*pending_.front(), "too many others wait");
        pending_.push_back(std::make_unique<Pending>());
        Pending& pending = *pending_.back();
        pending.self = std::prev(pending_.end());
        pending.socket = std::move(*socket);
        // A peer usually sends its request together with the connection.
        if (!read(pending)) continue;
        const auto limit = std::chrono::milliseconds(
            static_cast<int64_t>(runtime_.parameters().seconds("server_base_handshake_timeout") * 1000));
        pending.time_limit =
            runtime_.loop().after(limit, [this, &pending] { drop(pending, "it said nothing in time"); });
        pending.readable = runtime_.loop().watch(pending.socket.fd.get(),
                                                 [this, &pending](EventLoop::Ready) { read(pending); });
    }
}

void Acceptor::drop(Pending& pending, const std::string& reason) {
    MUSTER_LOG(runtime_.registry().log("ptl"), Error,
               "dropped a connection of %s before its handshake was complete: %s",
               pending.socket.peer.c_str(), reason.c_str());
    pending_.erase(pending.self);
}

bool Acceptor::read(Pending& pending) {
    const auto dropped = [&](const std::string& reason) {
        drop(pending, reason);
        return false;
    };
    for (;;) {
        uint8_t chunk[4096];
        const ssize_t got = ::recv(pending.socket.fd.get(), chunk, sizeof chunk, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
            return dropped(std::strerror(errno));
        }
        if (got == 0) return dropped("it closed the connection");
        pending.received.append(chunk, static_cast<size_t>(got));
        const ByteView so_far = pending.received.view();
        if (!pending.header_read && so_far.size() >= Channel::kHeaderSize) {
            const auto length = parse_connect_header(so_far.first(Channel::kHeaderSize));
            if (!length) return dropped(length.error().text);
            pending.wanted += *length;
            pending.header_read = true;
        }
        if (!pending.header_read || so_far.size() < pending.wanted) continue;

        auto request = parse_connect_request(
            so_far.subspan(Channel::kHeaderSize, pending.wanted - Channel::kHeaderSize));
        if (!request) return dropped(request.error().text);
        Bytes early(so_far.subspan(pending.wanted));
        Socket socket = std::move(pending.socket);
        pending_.erase(pending.self);
        on_request_(std::move(socket), std::move(*request), std::move(early));
        return false;
    }
}

}  // namespace muster
