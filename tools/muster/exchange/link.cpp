// SPDX-License-Identifier: BSD-3-Clause
// Frames over a socket pair.
#include "tools/muster/exchange/link.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace muster::launcher {
namespace {

/// No frame is larger: the most that one fence of one job brings together.
constexpr uint32_t kLargestBody = 1u << 30;
constexpr size_t kReadSize = 256 * 1024;

}  // namespace

Link::Link(Loop& loop, int fd, OnMessage on_message, OnClosed on_closed)
    : fd_(fd), on_message_(std::move(on_message)), on_closed_(std::move(on_closed)) {
    fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
    fcntl(fd_, F_SETFD, FD_CLOEXEC);
    readable_ = loop.on_readable(fd_, [this] { read_some(); });
    writable_ = loop.on_writable(fd_, [this] { write_some(); });
    writable_.enable(false);
}

Link::~Link() {
    readable_.cancel();
    writable_.cancel();
    if (fd_ >= 0) ::close(fd_);
}

void Link::close() {
    if (fd_ < 0) return;
    readable_.cancel();
    writable_.cancel();
    ::close(fd_);
    fd_ = -1;
    give_up();
    on_closed_();
}

void Link::give_up() {
    Buffer none;
    for (const auto& [id, done] : std::exchange(open_, {}))
        done(PMIX_ERR_LOST_CONNECTION, none);
}

void Link::ask(Topic topic, const Buffer& body, Done done) {
    Buffer none;
    if (fd_ < 0) return done(PMIX_ERR_LOST_CONNECTION, none);
    const uint64_t id = next_id_++;
    if (!send(Kind::Ask, topic, id, PMIX_SUCCESS, body)) return done(PMIX_ERR_OUT_OF_RESOURCE, none);
    open_.emplace(id, std::move(done));
}

void Link::answer(uint64_t question, pmix_status_t status, const Buffer& body) {
    if (!send(Kind::Answer, {}, question, status, body))
        send(Kind::Answer, {}, question, PMIX_ERR_OUT_OF_RESOURCE, {});
}

/// False when the body is damaged or too large; nothing is sent then.
bool Link::send(Kind kind, Topic topic, uint64_t id, pmix_status_t status, const Buffer& body) {
    const std::string_view bytes = body.rest();
    if (!body.ok() || bytes.size() > kLargestBody) return false;
    if (fd_ < 0) return true;
    const Header header{static_cast<uint32_t>(bytes.size()), kind, topic, id, status, 0};
    const bool idle = out_.empty();
    out_.append(reinterpret_cast<const char*>(&header), sizeof header);
    out_.append(bytes);
    if (idle) write_some();
    return true;
}

/// False for a damaged frame.
bool Link::receive(const Header& header, Buffer& body) {
    switch (header.kind) {
        case Kind::Ask:
            if (header.id == 0) return false;
            on_message_(header.topic, header.id, body);
            return body.ok();
        case Kind::Tell:
            on_message_(header.topic, 0, body);
            return body.ok();
        case Kind::Answer: {
            auto found = open_.extract(header.id);
            if (found.empty()) return false;
            found.mapped()(header.status, body);
            return body.ok();
        }
    }
    return false;
}

void Link::write_some() {
    while (out_done_ < out_.size()) {
        const ssize_t n = ::send(fd_, out_.data() + out_done_, out_.size() - out_done_, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            if (out_done_ > kReadSize) {
                out_.erase(0, out_done_);
                out_done_ = 0;
            }
            writable_.enable(true);
            return;
        }
        if (n < 0) break;  // the peer has closed; reading detects its end
        out_done_ += static_cast<size_t>(n);
    }
    out_.clear();
    out_done_ = 0;
    writable_.enable(false);
}

void Link::flush() {
    while (fd_ >= 0 && out_done_ < out_.size()) {
        write_some();
        if (out_.empty()) return;
        pollfd ready{fd_, POLLOUT, 0};
        poll(&ready, 1, -1);
    }
}

void Link::read_some() {
    // All links of a thread share it.
    thread_local const auto scratch = std::make_unique_for_overwrite<char[]>(kReadSize);
    // The rest of a large body is read to its place.
    char* const to = body_ ? body_.get() + body_size_ : scratch.get();
    const ssize_t n = recv(fd_, to, body_ ? header_.length - body_size_ : kReadSize, 0);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return close();
    if (n < 0) return;
    if (body_) {
        body_size_ += static_cast<size_t>(n);
        return deliver();
    }
    in_.append(scratch.get(), static_cast<size_t>(n));
    size_t at = 0;
    while (fd_ >= 0 && !body_ && in_.size() - at >= sizeof(Header)) {
        std::memcpy(&header_, in_.data() + at, sizeof header_);
        at += sizeof header_;
        if (header_.length > kLargestBody) return close();
        body_.reset(static_cast<char*>(malloc(std::max<size_t>(header_.length, 1))));
        if (!body_) throw std::bad_alloc();
        body_size_ = std::min<size_t>(header_.length, in_.size() - at);
        std::memcpy(body_.get(), in_.data() + at, body_size_);
        at += body_size_;
        deliver();
    }
    in_.erase(0, at);
}

/// Hands the body over when it is whole.
void Link::deliver() {
    if (body_size_ < header_.length) return;
    Buffer body(Bytes(body_.release(), header_.length));
    if (!receive(header_, body)) close();
}

}  // namespace muster::launcher
