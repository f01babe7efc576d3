// SPDX-License-Identifier: BSD-3-Clause
// A process that is connected to this server: its identity, its protocol, and its channel.
// Belongs to the loop. Code that keeps a peer beyond a call keeps a weak reference: the peer may disconnect.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "framework/base/log.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// Counts the unanswered requests of a process, or of all tools of one user, since tools choose their own
/// names: it bounds the memory that they can make a server keep, whatever number of connections they open.
class Unanswered {
  public:
    struct Limits {
        size_t requests = SIZE_MAX;
        size_t memory = SIZE_MAX;  ///< bytes that they may take together
    };
    Limits limits;

    bool full() const { return requests_ >= limits.requests || memory_ >= limits.memory; }
    size_t size() const { return requests_; }
    size_t memory() const { return memory_; }
    /// Whether this is the first refusal since it last was within its limit: only this one is logged.
    bool first_refusal() { return !std::exchange(refusing_, true); }

  private:
    friend class OpenRequest;
    size_t requests_ = 0;
    size_t memory_ = 0;
    bool refusing_ = false;
};

class Peer;

/// A request that waits: whatever will answer it, or may, holds this, and it counts for as long as it is
/// held, even when the connection that it came by has ended. One that nothing holds any more, and that was
/// not answered, was lost for lack of memory, and is answered so.
class OpenRequest {
  public:
    OpenRequest(const std::shared_ptr<Peer>& peer, uint32_t tag);
    OpenRequest(const OpenRequest&) = delete;
    OpenRequest& operator=(const OpenRequest&) = delete;
    ~OpenRequest();
    /// The peer, or null.
    std::shared_ptr<Peer> peer() const { return peer_.lock(); }
    /// The request counts from now on, with these bytes.
    void count(size_t memory);
    /// More is kept for it, while or before it counts. False: those of its process take more than they may.
    bool grow(size_t memory);

  private:
    const std::shared_ptr<Unanswered> all_;
    const std::weak_ptr<Peer> peer_;
    const uint32_t tag_;
    bool counts_ = false;
    size_t memory_ = 0;
};

class Peer {
  public:
    pmix_proc_t proc{};
    PeerKind kind = PeerKind::Client;
    PeerVersion version;
    WireFormat format;
    uint32_t index = 0;  ///< assigned by the handshake
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool finalized = false;
    bool shares = false;     ///< it maps the shared store
    std::string server_uri;  ///< of a tool that is also a server: its URI, as reported by the tool
    std::unique_ptr<Channel> channel;
    const Log* log = nullptr;                ///< of the server; null: nothing is written
    std::shared_ptr<Unanswered> unanswered;  ///< its process's, or its user's; never null once it is accepted
    size_t max_decoded = SIZE_MAX;           ///< memory that one message may take once it is read

    /// Why nothing is read from it for a while.
    enum class Pause : unsigned { Answers = 1, Input = 2, Query = 4 };
    void pause(Pause why, bool on) {
        const unsigned before = paused_;
        paused_ = on ? before | static_cast<unsigned>(why) : before & ~static_cast<unsigned>(why);
        if (channel && (paused_ != 0) != (before != 0)) channel->pause(paused_ != 0);
    }

    Packer packer() const { return Packer(format); }

    /// A request with this tag has arrived and needs an answer. False without memory to record it: it is
    /// answered.
    bool owe(uint32_t request_tag) noexcept;
    bool owes(uint32_t request_tag) const { return owed_.contains(request_tag); }
    /// The answer has been sent, or the request has none.
    void settle(uint32_t request_tag) {
        if (const auto found = owed_.find(request_tag); found != owed_.end()) owed_.erase(found);
    }
    /// Nothing is left that could answer the request: unless it was answered, memory was short.
    void answer_lost(uint32_t request_tag) noexcept;

    /// Answers the request with this tag. A message that could not be packed is answered by its status alone;
    /// one that is longer than a message can be, by PMIX_ERR_OUT_OF_RESOURCE.
    void reply(uint32_t request_tag, Packer&& message) {
        if (message.error() != PMIX_SUCCESS) {
            reply_status(request_tag, message.error());
            return;
        }
        if (!takes(request_tag, message.length())) return;
        send(request_tag, message.take());
        settle(request_tag);
    }
    void reply_shared(uint32_t request_tag, SharedBytes payload) {
        if (!channel || !takes(request_tag, payload->size())) return;
        channel->send_shared(0, request_tag, std::move(payload));
        settle(request_tag);
    }
    void reply_status(uint32_t request_tag, pmix_status_t status) {
        send(request_tag, packed_status(status));
        settle(request_tag);
    }
    /// Together with other frames of this turn of the loop.
    void reply_status_soon(uint32_t request_tag, pmix_status_t status) {
        send_soon(request_tag, packed_status(status));
        settle(request_tag);
    }
    void send(uint32_t frame_tag, Bytes payload) {
        if (channel) channel->send(0, frame_tag, std::move(payload));
    }
    /// Together with other frames of this turn of the loop.
    void send_soon(uint32_t frame_tag, Bytes payload) {
        if (channel) channel->send_soon(0, frame_tag, std::move(payload));
    }
    std::string text() const { return proc_text(proc); }

  private:
    void answer_no_memory(uint32_t request_tag) noexcept;
    bool takes(uint32_t request_tag, size_t length) {
        if (!channel || length <= channel->max_sent()) return true;
        if (log != nullptr) {
            MUSTER_LOG(
                *log, Error,
                "the answer to a request of %s is not sent: it has %zu bytes, and a message %zu at most",
                text().c_str(), length, channel->max_sent());
        }
        reply_status(request_tag, PMIX_ERR_OUT_OF_RESOURCE);
        return false;
    }
    Bytes packed_status(pmix_status_t status) const {
        Packer message(format);
        message.status(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
        if (message.error() != PMIX_SUCCESS) throw std::bad_alloc();  // the only reason that there can be
        return message.take();
    }

    unsigned paused_ = 0;  // of Pause
    // The tags of requests without an answer; many wait in some programs. A peer chooses its tags: no hash.
    std::multiset<uint32_t> owed_;
};

inline bool Peer::owe(uint32_t request_tag) noexcept {
    try {
        owed_.insert(request_tag);
        return true;
    } catch (const std::bad_alloc&) {
        answer_no_memory(request_tag);
        return false;
    }
}

inline void Peer::answer_lost(uint32_t request_tag) noexcept {
    if (owes(request_tag)) answer_no_memory(request_tag);
}

inline void Peer::answer_no_memory(uint32_t request_tag) noexcept {
    try {
        reply_status(request_tag, PMIX_ERR_NOMEM);
    } catch (const std::bad_alloc&) {
        // It will find the connection lost, and so shall we.
        if (channel && channel->is_open()) ::shutdown(channel->fd(), SHUT_RDWR);
        settle(request_tag);
    }
}

using PeerPtr = std::shared_ptr<Peer>;
using PeerRef = std::weak_ptr<Peer>;

/// The sender of a request, kept until the reply. The peer may disconnect before; the request is counted.
class Asker {
  public:
    explicit Asker(std::shared_ptr<OpenRequest> request) : request_(std::move(request)) {}
    /// The peer, or null.
    PeerPtr lock() const { return request_->peer(); }
    /// Counts further memory until the answer. False if it exceeds the limit (OpenRequest::grow()).
    bool keeps(size_t memory) const { return request_->grow(memory); }

  private:
    std::shared_ptr<OpenRequest> request_;
};

}  // namespace muster
