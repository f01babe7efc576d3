// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes frames: see channel.hpp.
#include "framework/ptl/channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "framework/ptl/out_frame.hpp"

namespace muster {
namespace {

// Read for one channel before others have their turn.
constexpr size_t kReadTurn = size_t{1} << 20;
// Processing time of its frames before other peers are served: few bytes may cause much work.
constexpr std::chrono::milliseconds kTurnTime{5};
// Turns in one call, for a caller that needs all received data.
constexpr int kMostTurns = 16;
// Bytes read from a peer that accepts no more data, but may have sent some.
constexpr size_t kMostReadLast = 16 * kReadTurn;
constexpr size_t kFramesPerWrite = 64;
// Bytes of frames that wait for the end of the turn, at most.
constexpr size_t kMostGathered = size_t{256} << 10;

// Maximum number of parts of a frame that are written in place, including its header.
constexpr size_t kPartsAtOnce = 32;

}  // namespace

class Channel::Impl : public std::enable_shared_from_this<Channel::Impl> {
  public:
    Impl(EventLoop& loop, Socket socket, Limits limits)
        : loop_(loop), socket_(std::move(socket)), limits_(limits), reader_(limits.max_payload) {
        // Only through a full buffer of the kernel is a frame ever partly written; a blocking socket would
        // stop the loop.
        const int flags = fcntl(socket_.fd.get(), F_GETFL);
        if (flags >= 0 && (flags & O_NONBLOCK) == 0) fcntl(socket_.fd.get(), F_SETFL, flags | O_NONBLOCK);
    }

    void start(OnFrame on_frame, OnClosed on_closed, ByteView early) {
        if (!open_ || finishing_ || started_) return;
        started_ = true;
        on_frame_ = std::make_shared<OnFrame>(std::move(on_frame));
        on_closed_ = std::move(on_closed);
        reader_.add(early);
        watch().want_read(!paused_);
        if (reader_.holds()) deliver_later();
    }

    /// `sent`: bytes already written of a frame that is the first of the queue.
    bool send(uint32_t pindex, uint32_t tag, Bytes own, KeptBytes kept, bool soon, size_t sent = 0) {
        if (!open_ || finishing_ || write_failed_) return false;
        const size_t payload_size = own.size() + kept.bytes.size();
        if (payload_size > max_sent()) return false;
        const auto full = [&] {
            return queued_ != 0 && (queued_ >= limits_.max_queued ||
                                    kHeaderSize + payload_size > limits_.max_queued - queued_);
        };
        if (full()) flush();  // only bytes that it does not accept count
        if (write_failed_) return false;
        if (full()) {
            if (limits_.close_when_full) give_up(&Impl::report_full);
            return false;
        }
        OutFrame& frame = queue_.emplace_back();
        write_header(frame.header, pindex, tag, payload_size);
        frame.own = std::move(own);
        frame.kept = std::move(kept);
        const bool waits = queued_ != 0 && !gathering_;  // the loop writes when the socket takes more
        queued_ += frame.size() - sent;
        if (sent != 0) front_sent_ = sent;
        if (waits || (soon && queued_ < kMostGathered && gather())) return true;
        write_now();
        return true;
    }

    bool send_parts(uint32_t pindex, uint32_t tag, std::span<const ByteView> payload) {
        size_t size = 0;
        for (const ByteView part : payload)
            size += part.size();
        flush();
        FrameHeader header;
        if (size > max_sent()) return false;
        write_header(header, pindex, tag, size);
        size_t sent = 0;
        if (open_ && !finishing_ && !write_failed_ && queue_.empty() && payload.size() < kPartsAtOnce) {
            std::array<iovec, kPartsAtOnce> parts;
            parts[0] = {header.data(), header.size()};
            for (size_t i = 0; i < payload.size(); ++i)
                parts[i + 1] = {const_cast<uint8_t*>(payload[i].data()), payload[i].size()};
            const ssize_t result = write_parts(parts.data(), payload.size() + 1);
            if (result == static_cast<ssize_t>(kHeaderSize + size)) return true;
            // An error is found again, and dealt with, when the rest is written.
            if (result > 0) sent = static_cast<size_t>(result);
        }
        try {
            Bytes rest;
            rest.reserve(size);
            for (const ByteView part : payload)
                rest.append(part);
            return send(pindex, tag, std::move(rest), {}, false, sent);
        } catch (const std::bad_alloc&) {
            // Nothing can follow half a frame.
            if (sent != 0) {
                write_error_ = ENOMEM;
                give_up(&Impl::report_write_failure);
            }
            throw;
        }
    }

    void flush() {
        if (open_ && gathering_) write_now();
    }

    void on_drained(std::function<void()> callback) {
        if (!open_ || finishing_ || write_failed_) return;
        drained_.push_back(std::move(callback));
        if (queue_.empty()) later(&Impl::tell_drained);
    }

    void pause(bool on) {
        if (!open_ || finishing_ || paused_ == on) return;
        paused_ = on;
        if (!started_) return;
        watch().want_read(!on);
        if (!on && reader_.holds()) deliver_later();
    }

    bool read_now() {
        auto self = shared_from_this();
        for (int turn = 0; turn < kMostTurns && open_ && started_ && !paused_ && !finishing_; ++turn) {
            if (!read_turn() && !cut_) return !paused_ && !finishing_ && !loop_.should_yield();
        }
        return !open_;
    }

    void finish() {
        if (!open_ || finishing_) return;
        flush();
        if (queue_.empty()) return close();
        finishing_ = true;
        forget_callbacks();
        watch().want_read(true);
        finish_limit_ = loop_.after(kFinishLimit, [this] {
            auto self = shared_from_this();
            close();
        });
    }

    /// Writes without waiting, for an owner that is destroyed after finish().
    void abandon() {
        if (open_ && finishing_) write_queue();
        close();
    }

    void close() {
        if (!open_) return;
        if (std::exchange(gathering_, false)) write_queue();
        open_ = false;
        watch_.reset();
        finish_limit_.reset();
        socket_.claim.close(socket_.fd);
        queue_.clear();
        queued_ = 0;
        forget_callbacks();
    }

    bool holds_back() const { return !started_ || paused_ || reader_.holds(); }
    bool is_open() const { return open_; }
    size_t queued() const { return queued_; }
    size_t max_sent() const { return std::min(limits_.max_sent, kMaxPayload); }
    const Socket& socket() const { return socket_; }

  private:
    Watch& watch() {
        if (!watch_) {
            watch_ = loop_.watch(socket_.fd.get(), [this](EventLoop::Ready ready) { on_ready(ready); });
            if (limits_.can_wait) watch_->let_wait();
            if (socket_.claim) watch_->look_at_times();
            if (!started_ || paused_) watch_->want_read(false);
        }
        return *watch_;
    }

    /// Calls the member from the loop, if the channel is still there and open then.
    void later(void (Impl::*member)()) {
        loop_.post([weak = weak_from_this(), member] {
            if (auto self = weak.lock(); self && self->open_) (self.get()->*member)();
        });
    }

    /// Running callbacks are kept by their callers.
    void forget_callbacks() {
        on_frame_.reset();
        on_closed_ = nullptr;
        drained_.clear();
    }

    void fail(const std::string& what) {
        if (!open_) return;
        OnClosed on_closed = std::move(on_closed_);
        close();
        if (on_closed) on_closed(socket_.peer.empty() ? "the peer " + what : socket_.peer + " " + what);
    }

    /// There is no memory for the next bytes of the input.
    void fail_without_memory() {
        if (!open_) return;
        std::string reason;
        try {
            reason = socket_.peer + " sent a message for which there is not enough memory";
        } catch (const std::bad_alloc&) {
            reason = "out of memory";  // which needs none
        }
        OnClosed on_closed = std::move(on_closed_);
        close();
        if (on_closed) on_closed(reason);
    }

    void on_ready(EventLoop::Ready ready) {
        auto self = shared_from_this();
        if (ready.writable) on_writable();
        if (ready.readable && open_) on_readable();
    }

    /// False, and errno, if the program has closed the socket: the file that has its number now must not be
    /// used.
    bool has_socket() {
        if (!socket_.claim || socket_.claim.held_lately()) return true;
        errno = EBADF;
        return false;
    }

    // Writing.

    ssize_t write_parts(iovec* parts, size_t count) {
        if (!has_socket()) return -1;
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = count;
        return ::sendmsg(socket_.fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

    /// The queue waits for the end of the turn from now on; false if it cannot be asked for.
    bool gather() {
        if (gathering_) return true;
        try {
            loop_.at_turn_end([weak = weak_from_this()] {
                auto self = weak.lock();
                if (!self || !self->open_) return;
                self->flush();
                // Not from here: their data would prolong this turn.
                if (self->queue_.empty() && !self->drained_.empty()) self->later(&Impl::tell_drained);
            });
        } catch (const std::bad_alloc&) {
            return false;
        }
        gathering_ = true;
        return true;
    }

    void write_now() {
        gathering_ = false;
        write_queue();
        if (!queue_.empty()) watch().want_write(true);
    }

    void on_writable() {
        write_queue();
        if (!queue_.empty()) return;
        if (finishing_) return close();
        watch().want_write(false);
        tell_drained();
    }

    /// Writes the bytes that the socket accepts now. After a failure the queue is empty and write_failed_
    /// set.
    void write_queue() {
        while (!queue_.empty()) {
            std::array<iovec, 3 * kFramesPerWrite> parts;
            size_t count = 0;
            size_t skip = front_sent_;
            for (const OutFrame& frame : queue_) {
                if (count + 3 > parts.size()) break;
                for (const ByteView part : frame.parts()) {
                    const size_t done = std::min(skip, part.size());
                    skip -= done;
                    if (done == part.size()) continue;
                    parts[count++] = {const_cast<uint8_t*>(part.data()) + done, part.size() - done};
                }
            }
            const ssize_t sent = write_parts(parts.data(), count);
            if (sent >= 0) {
                consume_queue(static_cast<size_t>(sent));
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                return;
            } else if (errno != EINTR) {
                write_error_ = errno;
                give_up(&Impl::report_write_failure);
            }
        }
    }

    void consume_queue(size_t sent) {
        queued_ -= sent;
        front_sent_ += sent;
        while (!queue_.empty() && front_sent_ >= queue_.front().size()) {
            front_sent_ -= queue_.front().size();
            // The owner of its bytes may call back when it is released, after it has left the queue.
            const OutFrame written = std::move(queue_.front());
            queue_.pop_front();
        }
    }

    /// Nothing more can be sent; calls `report` from the loop.
    void give_up(void (Impl::*report)()) {
        write_failed_ = true;
        queue_.clear();
        queued_ = front_sent_ = 0;
        drained_.clear();
        try {
            later(report);
        } catch (const std::bad_alloc&) {
            if (has_socket()) ::shutdown(socket_.fd.get(), SHUT_RDWR);  // the end is read then
        }
    }

    void report_full() {
        auto self = shared_from_this();
        fail("does not read: more than " + std::to_string(limits_.max_queued) + " bytes wait for it");
    }

    void report_write_failure() {
        auto self = shared_from_this();
        // The peer may have answered before it closed: its last frames are delivered first, and others are
        // served meanwhile.
        if (open_ && started_ && !paused_ && !finishing_ && read_last_ < kMostReadLast &&
            (read_turn() || cut_ || delivers_later_)) {
            return later(&Impl::report_write_failure);
        }
        if (open_) fail(std::string("takes no more messages: ") + strerrordesc_np(write_error_));
    }

    void tell_drained() {
        auto self = shared_from_this();
        if (!queue_.empty()) return;
        for (auto& callback : std::exchange(drained_, {})) {
            if (!open_ || finishing_) return;
            callback();
        }
    }

    // Reading.

    void on_readable() {
        if (finishing_) {
            discard();
        } else if (started_ && !paused_) {
            read_turn();
        }
    }

    void begin_turn() {
        cut_ = false;
        turn_began_.reset();
    }

    /// Whether the frames of this turn have taken so long that others come first. It is not called for a
    /// single frame, and counts from the first call.
    bool cut_turn() {
        const auto now = std::chrono::steady_clock::now();
        if (!turn_began_) turn_began_ = now;
        return cut_ = now - *turn_began_ > kTurnTime;
    }

    /// Reads and delivers up to one turn's bytes; false when there is no more now (or ever), or, with cut_,
    /// when the turn has taken too long.
    bool read_turn() {
        begin_turn();
        try {
            for (size_t taken = 0; taken < kReadTurn;) {
                if (!deliver() || paused_ || (taken != 0 && cut_turn())) return false;
                const ssize_t got = read_some();
                if (got == 0) {
                    fail(reader_.in_frame() ? "closed the connection in the middle of a message"
                                            : "closed the connection");
                    return false;
                }
                if (got < 0) {
                    if (errno == EINTR) continue;
                    if (errno != EAGAIN && errno != EWOULDBLOCK) {
                        fail(std::string("is lost: ") + strerrordesc_np(errno));
                    }
                    return false;
                }
                taken += static_cast<size_t>(got);
                if (static_cast<size_t>(got) < reader_.asked()) {
                    deliver();
                    return false;
                }
            }
            return deliver();
        } catch (const std::bad_alloc&) {
            fail_without_memory();
            return false;
        }
    }

    void deliver_later() {
        if (delivers_later_) return;
        later(&Impl::deliver_buffered);
        delivers_later_ = true;
    }

    void deliver_buffered() {
        auto self = shared_from_this();
        delivers_later_ = false;
        if (finishing_ || paused_) return;
        begin_turn();
        try {
            deliver();
        } catch (const std::bad_alloc&) {
            fail_without_memory();
        }
    }

    ssize_t read_some() {
        const std::span<iovec> parts = reader_.room(loop_.scratch());
        // Not by a call that would read from a file, too.
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        const ssize_t got = has_socket() ? ::recvmsg(socket_.fd.get(), &message, 0) : -1;
        reader_.took(got > 0 ? static_cast<size_t>(got) : 0);
        if (write_failed_ && got > 0) read_last_ += static_cast<size_t>(got);
        return got;
    }

    /// Hands over every frame that is complete; false when the channel was closed or paused on the way.
    bool deliver() {
        while (open_ && !paused_ && !finishing_) {
            Frame frame;
            const FrameReader::Next next = reader_.next(frame);
            if (next == FrameReader::Next::None) break;
            if (next == FrameReader::Next::TooLong) {
                fail("announced a message of " + std::to_string(reader_.announces()) +
                     " bytes, more than the limit of " + std::to_string(limits_.max_payload));
                return false;
            }
            // The callback may close this channel, and with that drop the member.
            const std::shared_ptr<OnFrame> on_frame = on_frame_;
            (*on_frame)(std::move(frame));
            // A call that has driven the loop for this frame returns; the others are our thread's.
            if (reader_.holds() && open_ && (loop_.should_yield() || cut_turn())) {
                deliver_later();
                return false;
            }
        }
        return open_ && !paused_ && !finishing_;
    }

    /// While finishing: with unread bytes at the close the kernel would discard data that the peer has not
    /// read yet.
    void discard() {
        std::array<uint8_t, 4096> nowhere;
        for (int i = 0; i < 64; ++i) {
            const ssize_t got =
                has_socket() ? ::recv(socket_.fd.get(), nowhere.data(), nowhere.size(), MSG_DONTWAIT) : -1;
            if (got > 0 || (got < 0 && errno == EINTR)) continue;
            if (got == 0) {
                // It may have closed its sending side only.
                watch().want_read(false);
            } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
                close();
            }
            return;
        }
    }

    EventLoop& loop_;
    Socket socket_;
    const Limits limits_;
    std::unique_ptr<Watch> watch_;
    std::unique_ptr<Watch> finish_limit_;
    std::shared_ptr<OnFrame> on_frame_;
    OnClosed on_closed_;
    std::vector<std::function<void()>> drained_;

    std::deque<OutFrame> queue_;
    size_t queued_ = 0;      // bytes of queue_ that are not written
    size_t front_sent_ = 0;  // bytes of its first frame that are
    int write_error_ = 0;

    FrameReader reader_;
    std::optional<std::chrono::steady_clock::time_point> turn_began_;
    bool cut_ = false;  // the turn that was the last
    bool delivers_later_ = false;
    size_t read_last_ = 0;  // since write_failed_

    bool open_ = true;
    bool started_ = false;
    bool paused_ = false;
    bool finishing_ = false;
    bool write_failed_ = false;
    bool gathering_ = false;  // the queue waits for the end of the turn, not for the socket
};

Channel::Channel(EventLoop& loop, Socket socket, Limits limits)
    : impl_(std::make_shared<Impl>(loop, std::move(socket), limits)) {}

Channel::~Channel() {
    impl_->abandon();
}

void Channel::start(OnFrame on_frame, OnClosed on_closed, ByteView early) {
    impl_->start(std::move(on_frame), std::move(on_closed), early);
}

bool Channel::send(uint32_t pindex, uint32_t tag, Bytes payload) {
    return impl_->send(pindex, tag, std::move(payload), {}, false);
}

bool Channel::send_shared(uint32_t pindex, uint32_t tag, SharedBytes payload) {
    return impl_->send(pindex, tag, Bytes(), KeptBytes::all_of(std::move(payload)), false);
}

bool Channel::send_parts(uint32_t pindex, uint32_t tag, std::span<const ByteView> payload) {
    return impl_->send_parts(pindex, tag, payload);
}

bool Channel::send_soon(uint32_t pindex, uint32_t tag, Bytes payload) {
    return impl_->send(pindex, tag, std::move(payload), {}, true);
}

bool Channel::send_kept_soon(uint32_t pindex, uint32_t tag, Bytes payload, KeptBytes end) {
    return impl_->send(pindex, tag, std::move(payload), std::move(end), true);
}

void Channel::flush() {
    impl_->flush();
}

size_t Channel::queued() const {
    return impl_->queued();
}
size_t Channel::max_sent() const {
    return impl_->max_sent();
}
void Channel::on_drained(std::function<void()> callback) {
    impl_->on_drained(std::move(callback));
}
void Channel::pause(bool on) {
    impl_->pause(on);
}
bool Channel::read_now() {
    return impl_->read_now();
}
bool Channel::holds_back() const {
    return impl_->holds_back();
}
void Channel::finish() {
    impl_->finish();
}
void Channel::close() {
    impl_->close();
}
bool Channel::is_open() const {
    return impl_->is_open();
}
const std::optional<PeerCredentials>& Channel::credentials() const {
    return impl_->socket().credentials;
}
const std::string& Channel::peer() const {
    return impl_->socket().peer;
}
int Channel::fd() const {
    return impl_->socket().fd.get();
}

}  // namespace muster
