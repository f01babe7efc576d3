// SPDX-License-Identifier: BSD-3-Clause
// A frame on its way to a peer.
#pragma once

#include <array>
#include <cstdint>

#include "framework/base/bytes.hpp"
#include "framework/base/endian.hpp"
#include "framework/ptl/channel.hpp"

namespace muster {

/// The header of a frame: its destination, its tag, and the size of its payload.
using FrameHeader = std::array<uint8_t, Channel::kHeaderSize>;

inline void write_header(FrameHeader& header, uint32_t pindex, uint32_t tag, size_t payload_size) {
    store_be32(&header[0], pindex);
    store_be32(&header[4], tag);
    store_be32(&header[8], static_cast<uint32_t>(payload_size));
    store_be32(&header[12], 0);
}

/// A frame in a channel's queue; its payload is its own and what others keep for it.
struct OutFrame {
    FrameHeader header;
    Bytes own;
    KeptBytes kept;

    std::array<ByteView, 3> parts() const { return {ByteView(header), own.view(), kept.bytes}; }
    size_t size() const { return header.size() + own.size() + kept.bytes.size(); }
};

}  // namespace muster
