// SPDX-License-Identifier: BSD-3-Clause
// A framed, non-blocking connection to one peer over a connected socket (wire format:
// docs/reference/wire.md). Belongs to the loop: every member is called there, unless noted otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/bytes.hpp"
#include "framework/base/loop.hpp"
#include "framework/ptl.hpp"
#include "framework/ptl/frame_reader.hpp"

namespace muster {

/// A payload that is sent to several peers without a copy each.
using SharedBytes = std::shared_ptr<const Bytes>;

/// Bytes that are sent from where they are. The channel releases the owner when they are written, or will not
/// be.
struct KeptBytes {
    ByteView bytes;
    std::shared_ptr<const void> owner;

    static KeptBytes all_of(SharedBytes payload) {
        const ByteView bytes = payload->view();
        return {bytes, std::move(payload)};
    }
};

class Channel {
  public:
    using OnFrame = std::function<void(Frame)>;
    /// Called once, when the peer closed, broke the framing rules, or sent more than the limit. `reason` is a
    /// sentence for the log. The channel may be destroyed inside.
    using OnClosed = std::function<void(const std::string& reason)>;

    static constexpr size_t kHeaderSize = Frame::kHeaderSize;
    /// The longest payload that a header can describe; a longer one is not sent.
    static constexpr size_t kMaxPayload = UINT32_MAX;
    /// How long finish() waits for a peer that does not read.
    static constexpr std::chrono::milliseconds kFinishLimit{5000};

    struct Limits {
        size_t max_payload = size_t{1} << 30;  ///< a longer frame closes the channel before it is allocated
        size_t max_sent = kMaxPayload;         ///< the longest payload that is sent
        /// Bytes waiting to be sent, headers included; a frame that would go past it is refused. An empty
        /// queue takes any frame, so that one frame can always go out.
        size_t max_queued = SIZE_MAX;
        /// A refused message closes the channel: the peer does not read, and would not get a later message.
        bool close_when_full = false;
        /// Unsolicited messages can wait until a caller drives the loop (Watch::let_wait()).
        bool can_wait = false;
    };

    /// Takes the socket over, which must be non-blocking.
    Channel(EventLoop& loop, Socket socket, Limits limits);
    /// As close(). Unwritten data of finish() are lost: keep the channel while is_open().
    ~Channel();

    /// From now on frames are read. `early` are bytes of frames that were read with the handshake. No
    /// callback is made inside this call. Callbacks may call any member, and destroy the channel.
    void start(OnFrame on_frame, OnClosed on_closed, ByteView early = {});

    /// Queues a frame; it is written at once if the socket accepts it. False when it was not queued (closed,
    /// longer than max_sent(), or the limit of queued bytes reached). `pindex` comes from the handshake (0
    /// towards clients). No callback is made inside this call: a closed peer is reported later.
    bool send(uint32_t pindex, uint32_t tag, Bytes payload);
    bool send_shared(uint32_t pindex, uint32_t tag, SharedBytes payload);
    /// The same for a payload in parts, which the caller owns: bytes that the socket does not accept at once
    /// are copied. Throws std::bad_alloc without memory for that; nothing is queued then.
    bool send_parts(uint32_t pindex, uint32_t tag, std::span<const ByteView> payload);

    /// The same for one message of many: it is written with the others at the end of the loop's turn, or
    /// earlier, with the next frame that does not wait.
    bool send_soon(uint32_t pindex, uint32_t tag, Bytes payload);
    bool send_shared_soon(uint32_t pindex, uint32_t tag, SharedBytes payload) {
        return send_kept_soon(pindex, tag, Bytes(), KeptBytes::all_of(std::move(payload)));
    }
    /// The same for a payload whose end stays where it is.
    bool send_kept_soon(uint32_t pindex, uint32_t tag, Bytes payload, KeptBytes end);
    /// Writes frames that wait for the end of the turn now, as far as the peer accepts them.
    void flush();

    /// Bytes that wait to be sent.
    size_t queued() const;
    /// The longest payload that is sent.
    size_t max_sent() const;
    /// Called when the queue has become empty (soon, if it is empty now), once per call of this function;
    /// never inside it. Dropped when the channel closes.
    void on_drained(std::function<void()> callback);
    /// Stops (or resumes) reading, for back-pressure. While paused no frame is delivered, and a closed peer
    /// is detected only when writing to it.
    void pause(bool on);
    /// Reads and delivers the bytes that have arrived so far. True if that is complete, or the channel has
    /// closed; false if reading is paused, or the peer sends so much that other peers must be served. Not
    /// from a callback of this channel.
    bool read_now();
    /// Whether read_now() must be called even if nothing has arrived: read bytes are not delivered yet, or it
    /// is not time to read.
    bool holds_back() const;
    /// Closes after the queue has been written (or has failed, or kFinishLimit has passed); no callback
    /// afterwards. Input is discarded. is_open() turns false at the end.
    void finish();
    /// Closes now; no callback afterwards.
    void close();

    bool is_open() const;
    const std::optional<PeerCredentials>& credentials() const;
    const std::string& peer() const;
    int fd() const;

  private:
    class Impl;
    std::shared_ptr<Impl> impl_;  // shared with a callback that is running
};

}  // namespace muster
