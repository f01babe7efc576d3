// SPDX-License-Identifier: BSD-3-Clause
// Requests, replies and unasked messages of one connection: see connection.hpp.
#include "core/client/connection.hpp"

#include "core/exchange/command.hpp"

namespace muster {
namespace {

/// Code that waits for unsolicited messages of a server calls EventLoop::need_driver(). An answer may have
/// the maximal length; memory is allocated as the answer arrives.
Channel::Limits limits() {
    Channel::Limits limits;
    limits.max_payload = Channel::kMaxPayload;
    limits.can_wait = true;
    return limits;
}

}  // namespace

Connection::Connection(Runtime& runtime, Greeted greeted, WireFormat format)
    : runtime_(runtime),
      server_(greeted.server),
      version_(greeted.version),
      uri_(std::move(greeted.uri)),
      format_(format),
      peer_index_(greeted.peer_index),
      max_payload_(greeted.max_payload),
      channel_(std::make_unique<Channel>(runtime.loop(), std::move(greeted.socket), limits())),
      asked_job_data_(greeted.asked_job_data),
      last_tag_(asked_job_data_ ? kJobDataTag : tag::kFirstDynamic) {}
Connection::~Connection() = default;

void Connection::start(OnMessage on_message, OnLost on_lost) {
    on_message_ = std::move(on_message);
    on_lost_ = std::move(on_lost);
    channel_->start([this](Frame frame) { on_frame(std::move(frame)); },
                    [this](const std::string& reason) { on_closed(reason); });
}

uint32_t Connection::next_tag() {
    if (++last_tag_ < tag::kFirstDynamic) last_tag_ = tag::kFirstDynamic + 1;  // wrapped
    return last_tag_;
}

bool Connection::too_long(size_t length) const {
    if (length <= max_payload_) return false;
    MUSTER_LOG(
        runtime_.log(), Error,
        "a message of %zu bytes is not sent: server %s takes %zu (its parameter server_base_max_payload)",
        length, proc_text(server_).c_str(), max_payload_);
    return true;
}

pmix_status_t Connection::sendable(const Packer& message) const {
    if (message.error() != PMIX_SUCCESS) return message.error();
    return too_long(message.length()) ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

void Connection::request(Packer&& message, OnReply done) {
    if (!open_) return done(nullptr);
    if (const pmix_status_t error = sendable(message); error != PMIX_SUCCESS) {
        Unpacker refused = Unpacker::failed_with(format_, error);
        return done(&refused);
    }
    const uint32_t number = next_tag();
    const auto pending = pending_.emplace(number, std::move(done)).first;
    try {
        // Several that the program asks for at once go with one write.
        channel_->send_soon(peer_index_, number, message.take());
    } catch (const std::bad_alloc&) {
        pending_.erase(pending);  // there will be no reply
        throw;
    }
}

void Connection::request_job_data(Packer&& message, OnReply done) {
    if (!std::exchange(asked_job_data_, false)) return request(std::move(message), std::move(done));
    if (!open_) return done(nullptr);
    pending_.emplace(kJobDataTag, std::move(done));
    if (job_data_.tag == kJobDataTag) on_frame(std::move(job_data_));
}

void Connection::send(Packer&& message) {
    if (open_ && sendable(message) == PMIX_SUCCESS) channel_->send(peer_index_, next_tag(), message.take());
}

void Connection::send_parts(const Packer& message) {
    if (open_ && message.error() == PMIX_SUCCESS)
        channel_->send_parts(peer_index_, next_tag(), message.parts());
}

bool Connection::leave(Packer&& goodbye) {
    // TCP may lose sent data if the sender closes with unread input; a local socket does not. Only a local
    // socket has the credentials of its peer.
    const bool reads_all = version_.can(Capability::ReadsToTheEnd) && channel_->credentials().has_value();
    if (!open_ || !reads_all || awaits_replies() || heard_unasked_ || backed_up()) return false;
    send(std::move(goodbye));
    return !backed_up();
}

bool Connection::backed_up() const {
    return channel_->queued() != 0;
}

void Connection::send_heartbeat() {
    if (open_) channel_->send(peer_index_, tag::kHeartbeat, {});
}

void Connection::pause(bool on) {
    if (channel_) channel_->pause(on);
}

void Connection::on_frame(Frame frame) {
    const uint32_t number = frame.tag;
    try {
        take(std::move(frame));
    } catch (const std::bad_alloc&) {
        // A request whose reply is lost in this way is answered when it is destroyed.
        MUSTER_LOG(runtime_.log(), Error, "a message of server %s:%u (tag %u) is lost: memory is short",
                   server_.nspace, server_.rank, number);
    }
}

void Connection::take(Frame frame) {
    if (frame.tag < tag::kFirstDynamic) {
        heard_unasked_ = true;
        if (frame.lost) throw std::bad_alloc();
        return on_message_(std::move(frame));
    }
    if (asked_job_data_ && frame.tag == kJobDataTag) {
        job_data_ = std::move(frame);
        return;
    }
    auto node = pending_.extract(frame.tag);
    if (node.empty()) {
        MUSTER_LOG(runtime_.log(), Error, "server %s answered a request that was not made (tag %u)",
                   proc_text(server_).c_str(), frame.tag);
        return;
    }
    if (frame.payload.empty() && !frame.lost)
        return node.mapped()(nullptr);  // the protocol's sign of a lost connection
    Unpacker reply =
        frame.lost ? Unpacker::failed_with(format_, PMIX_ERR_NOMEM) : Unpacker(format_, frame.payload.view());
    try {
        node.mapped()(&reply);
    } catch (const std::bad_alloc&) {
        Unpacker none = Unpacker::failed_with(format_, PMIX_ERR_NOMEM);
        node.mapped()(&none);
    }
}

void Connection::answer_pending() {
    auto pending = std::move(pending_);
    pending_.clear();
    for (auto& [number, done] : pending) {
        try {
            done(nullptr);
        } catch (const std::bad_alloc&) {
            continue;  // its requests are answered when it is destroyed
        }
    }
}

void Connection::on_closed(const std::string& reason) {
    if (!open_) return;
    open_ = false;
    MUSTER_LOG(runtime_.log(), Error, "lost the connection to server %s: %s", proc_text(server_).c_str(),
               reason.c_str());
    answer_pending();
    if (on_lost_) on_lost_(reason);
}

void Connection::close() {
    open_ = false;
    answer_pending();
    channel_->close();
}

}  // namespace muster
