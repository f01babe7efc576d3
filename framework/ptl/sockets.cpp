// SPDX-License-Identifier: BSD-3-Clause
// Stream sockets: see sockets.hpp.
#include "framework/ptl/sockets.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace muster {
namespace {

pmix_status_t status_of(int error) {
    switch (error) {
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            return PMIX_ERR_OUT_OF_RESOURCE;
        case ETIMEDOUT:
            return PMIX_ERR_TIMEOUT;
        case EACCES:
        case EPERM:
            return PMIX_ERR_NO_PERMISSIONS;
        case ECONNREFUSED:
        case ECONNRESET:
        case ENOENT:
        case EHOSTUNREACH:
        case ENETUNREACH:
        case EADDRNOTAVAIL:
            return PMIX_ERR_UNREACH;
        default:
            return PMIX_ERROR;
    }
}

Error none_waits() {
    return {PMIX_ERR_NOT_FOUND, "no connection waits"};
}

/// Connects a non-blocking socket, waiting at most `limit`.
Result<void> connect_within(int fd, const sockaddr* address, socklen_t length,
                            std::chrono::milliseconds limit, const std::string& peer) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + limit;
    const auto left = [&] {
        return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                        std::chrono::milliseconds(0));
    };
    const std::string what = "cannot connect to " + peer;
    for (;;) {
        if (::connect(fd, address, length) == 0 || errno == EISCONN) return {};
        if (errno == EAGAIN) {
            // A local socket whose queue is full: there is nothing to wait on, so retry soon.
            if (left().count() == 0) return system_error(what, ETIMEDOUT);
            ::poll(nullptr, 0, static_cast<int>(std::min<int64_t>(left().count(), 5)));
        } else if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) {
            break;
        } else {
            return system_error(what, errno);
        }
    }
    pollfd waiting{fd, POLLOUT, 0};
    for (;;) {
        const auto wait = static_cast<int>(std::min<int64_t>(left().count(), INT32_MAX));
        const int ready = ::poll(&waiting, 1, wait);
        if (ready > 0) break;
        if (ready < 0 && errno != EINTR) return system_error(what, errno);
        if (ready == 0 && left().count() == 0) return system_error(what, ETIMEDOUT);
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return system_error(what, error);
    return {};
}

}  // namespace

Error system_error(const std::string& what, int error) {
    const char* text = strerrordesc_np(error);
    return {status_of(error), what + ": " + (text != nullptr ? text : "unknown error")};
}

Result<UniqueFd> stream_socket(int family) {
    UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return system_error("cannot make a socket", errno);
    return fd;
}

Result<Socket> connect_stream(const sockaddr* address, socklen_t length, std::chrono::milliseconds limit,
                              const std::string& peer) {
    auto fd = stream_socket(address->sa_family);
    if (!fd) return fd.error();
    if (auto done = connect_within(fd->get(), address, length, limit, peer); !done) return done.error();
    Socket socket;
    socket.fd = std::move(*fd);
    socket.peer = peer;
    return socket;
}

namespace {

/// If a system call filter refuses accept4, its two flags are set afterwards.
UniqueFd accept_one(int listener) {
    UniqueFd accepted(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted || (errno != ENOSYS && errno != EPERM)) return accepted;
    accepted.reset(::accept(listener, nullptr, nullptr));
    if (accepted &&
        (fcntl(accepted.get(), F_SETFD, FD_CLOEXEC) != 0 || fcntl(accepted.get(), F_SETFL, O_NONBLOCK) != 0))
        accepted.reset();
    return accepted;
}

}  // namespace

StreamListener::StreamListener(UniqueFd fd, std::string uri) : fd_(std::move(fd)), uri_(std::move(uri)) {
    fill_reserve();
}

void StreamListener::fill_reserve() {
    if (!reserve_) reserve_.reset(::open("/", O_PATH | O_CLOEXEC));
}

Result<UniqueFd> StreamListener::next() {
    fill_reserve();
    for (;;) {
        UniqueFd accepted = accept_one(fd_.get());
        if (accepted) return accepted;
        switch (const int error = errno) {
            case EINTR:
            case ECONNABORTED:
            case EPROTO:
                continue;
            case EAGAIN:
                return none_waits();
            case EMFILE:
            case ENFILE: {
                // The kernel reports this before it checks for a waiting connection.
                if (!reserve_)
                    return system_error("a connection may have to wait; raise the limit of open files",
                                        error);
                reserve_.reset();
                UniqueFd refused = accept_one(fd_.get());
                const int outcome = refused ? 0 : errno;
                refused.reset();
                fill_reserve();
                if (outcome == EAGAIN) return none_waits();
                return system_error("a connection was refused; raise the limit of open files", error);
            }
            // Errors of the network under way belong to the one connection.
            case ENETDOWN:
            case ENOPROTOOPT:
            case EHOSTDOWN:
            case ENONET:
            case EHOSTUNREACH:
            case ENETUNREACH:
                continue;
            default:
                return system_error("a connection could not be accepted", error);
        }
    }
}

}  // namespace muster
