// SPDX-License-Identifier: BSD-3-Clause
// Frames out of a stream: see frame_reader.hpp. A frame is copied directly from the read buffer into its
// payload, so that a connection has no buffer of its own unless a read ends within a header or brings several
// frames.
#include "framework/ptl/frame_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/base/endian.hpp"

namespace muster {
namespace {

// Storage of a payload before anything of it has arrived, at most: enough for a piece of output of 64 KiB,
// the size of a pipe, with the preceding fields.
constexpr size_t kFirstStorage = size_t{96} << 10;

}  // namespace

/// False if the payload under way is lost.
bool FrameReader::make_room(size_t capacity) {
    try {
        if (!frame_.lost) frame_.payload.reserve(capacity);
    } catch (const std::bad_alloc&) {
        frame_.lost = true;
        frame_.payload = Bytes();
    }
    return !frame_.lost;
}

std::span<iovec> FrameReader::room(std::span<uint8_t> spare) {
    const size_t missing = in_payload_ ? payload_size_ - have_ : 0;
    into_payload_ = std::min(missing, std::max(kFirstStorage, have_));
    if (into_payload_ != 0 && !make_room(have_ + into_payload_)) into_payload_ = 0;
    // Nothing else can follow an incomplete payload.
    spare_ = frame_.lost || into_payload_ == missing ? spare : std::span<uint8_t>();
    size_t count = 0;
    if (into_payload_ != 0) {
        parts_[count++] = {frame_.payload.extend(into_payload_), into_payload_};
    }
    if (!spare_.empty()) parts_[count++] = {spare_.data(), spare_.size()};
    return std::span(parts_).first(count);
}

void FrameReader::took(size_t got) {
    const size_t paid = std::min(got, into_payload_);
    frame_.payload.resize(frame_.payload.size() - (into_payload_ - paid));
    have_ += paid;
    ByteView rest = spare_.first(got - paid);
    if (buffer_.empty() && !complete()) take(rest);
    if (rest.empty()) return;
    // Usually part of a header is left of the previous read.
    const size_t left = buffer_.size() - at_;
    if (at_ != 0 && left != 0) std::memmove(buffer_.data(), buffer_.data() + at_, left);
    buffer_.resize(left);
    at_ = 0;
    buffer_.reserve(left + rest.size());
    buffer_.append(rest);
}

/// Continues the frame under way, or begins one, as far as these bytes reach, and leaves the rest of
/// the bytes.
void FrameReader::take(ByteView& bytes) {
    if (!in_payload_) {
        if (bytes.size() < Frame::kHeaderSize || too_long_) return;
        frame_.pindex = load_be32(&bytes[0]);
        frame_.tag = load_be32(&bytes[4]);
        payload_size_ = load_be32(&bytes[8]);
        too_long_ = payload_size_ > max_payload_;
        if (too_long_) return;
        bytes = bytes.subspan(Frame::kHeaderSize);
        in_payload_ = true;
    }
    const size_t more = std::min(payload_size_ - have_, bytes.size());
    if (more == 0) return;
    if (make_room(std::min(payload_size_, std::max(have_ + more, kFirstStorage))))
        frame_.payload.append(bytes.first(more));
    have_ += more;
    bytes = bytes.subspan(more);
}

FrameReader::Next FrameReader::next(Frame& frame) {
    if (!complete()) {
        ByteView rest = buffer_.view().subspan(at_);
        take(rest);
        at_ = buffer_.size() - rest.size();
        if (at_ == buffer_.size()) {
            buffer_.clear();
            at_ = 0;
        }
    }
    if (too_long_) return Next::TooLong;
    if (!complete()) return Next::None;
    in_payload_ = false;
    have_ = 0;
    frame = std::exchange(frame_, {});
    return Next::Frame;
}

}  // namespace muster
