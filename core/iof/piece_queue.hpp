// SPDX-License-Identifier: BSD-3-Clause
// Pieces of output that wait for a reader, in order, with the limit of each channel and the effect of
// exceeding it. Belongs to the loop.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "core/iof/piece.hpp"

namespace muster {

/// The policy of PMIX_IOF_CACHE_SIZE, _DROP_OLDEST and _DROP_NEWEST.
struct OverflowPolicy {
    enum class When : uint8_t {
        Wait,        ///< nothing is lost: the deliverer keeps a piece until there is space
        DropOldest,  ///< the oldest bytes are dropped
        DropNewest   ///< new bytes are dropped until there is space
    };
    When when = When::Wait;
    size_t limit = 0;  ///< bytes for each channel; with Wait without meaning

    /// PMIX_ERR_BAD_PARAM for values of the wrong type, or both ways of dropping at once. `default_limit`
    /// holds where dropping is asked for without a size.
    pmix_status_t read(InfoView directives, size_t default_limit);
};

class PieceQueue {
  public:
    explicit PieceQueue(OverflowPolicy policy) : policy_(policy) {}

    /// With Wait the piece itself is kept; else a copy of the part that fits.
    void push(const PiecePtr& piece);
    /// The oldest piece; null if there is none.
    PiecePtr pop();
    bool empty() const { return count_ == 0; }
    const OverflowPolicy& policy() const { return policy_; }
    size_t bytes() const { return bytes_; }
    /// Bytes that were dropped.
    uint64_t dropped() const { return dropped_; }

  private:
    /// More pieces than this on one channel: overflow, too, so that tiny ones do not cost much.
    static constexpr size_t kMostPieces = 65536;

    struct Waiting {
        uint64_t number;
        PiecePtr piece;
    };
    struct Lane {
        std::deque<Waiting> pieces;
        size_t bytes = 0;
    };
    Lane& lane(pmix_iof_channel_t channel);
    void drop_oldest(Lane& lane, size_t bytes);
    void append(Lane& lane, PiecePtr piece);

    OverflowPolicy policy_;
    std::array<Lane, 4> lanes_;  ///< by the lowest bit of the channel; the last for all that is unknown
    size_t count_ = 0;
    size_t bytes_ = 0;
    uint64_t next_number_ = 0;
    uint64_t dropped_ = 0;
};

}  // namespace muster
