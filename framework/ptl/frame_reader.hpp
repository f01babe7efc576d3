// SPDX-License-Identifier: BSD-3-Clause
// Extracts frames from the untrusted byte stream of a peer: a length is compared with the limit before
// anything is allocated, and storage grows with the received bytes.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <span>

#include "framework/base/bytes.hpp"

namespace muster {

/// One message as it travels.
struct Frame {
    static constexpr size_t kHeaderSize = 16;

    uint32_t pindex = 0;
    uint32_t tag = 0;
    Bytes payload;
    bool lost = false;  ///< there was no memory for the payload, which is not here
};

/// The reader of one connection; used by one thread at a time. If memory is short for more than one payload,
/// it throws std::bad_alloc and is unusable afterwards.
class FrameReader {
  public:
    enum class Next { None, Frame, TooLong };

    explicit FrameReader(size_t max_payload) : max_payload_(max_payload) {}

    /// Appends bytes that were read elsewhere.
    void add(ByteView bytes) { buffer_.append(bytes); }

    /// Returns the buffers of the next read: the current payload, then the caller's `spare`, which must be
    /// valid until took(). Both are called for each read.
    std::span<iovec> room(std::span<uint8_t> spare);
    /// Bytes that fit.
    size_t asked() const { return into_payload_ + spare_.size(); }
    /// That many bytes were read.
    void took(size_t got);

    /// The next complete frame. TooLong: a header announces() more than the limit, and nothing follows it.
    Next next(Frame& frame);
    size_t announces() const { return payload_size_; }

    /// Whether next() may have something without another read.
    bool holds() const { return at_ < buffer_.size() || complete(); }
    /// Whether the stream must not end here.
    bool in_frame() const { return in_payload_ || at_ < buffer_.size(); }

  private:
    bool complete() const { return in_payload_ && have_ == payload_size_; }
    void take(ByteView& bytes);
    bool make_room(size_t capacity);

    const size_t max_payload_;
    Bytes buffer_;  // read and, from at_ on, not yet looked at
    size_t at_ = 0;
    Frame frame_;  // under way
    size_t payload_size_ = 0;
    size_t have_ = 0;  // of these
    bool in_payload_ = false;
    bool too_long_ = false;
    // The read under way.
    std::array<iovec, 2> parts_{};
    size_t into_payload_ = 0;
    std::span<uint8_t> spare_;
};

}  // namespace muster
