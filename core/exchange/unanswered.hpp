// SPDX-License-Identifier: BSD-3-Clause
// Counts the unanswered requests of a process, to bound the memory that it can make a server keep, whatever
// number of connections it opens. Belongs to the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace muster {

/// The count for one process, or for all tools of one user, since tools choose their own names.
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

}  // namespace muster
