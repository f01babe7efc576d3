// SPDX-License-Identifier: BSD-3-Clause
// One piece of forwarded output: the bytes that one process wrote to one channel, unchanged. Shared by all
// that still use it. Belongs to the loop.
#pragma once

#include <pmix_common.h>

#include <memory>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/base/proc.hpp"
#include "framework/base/task.hpp"

namespace muster {

/// The channels that output can come on.
inline constexpr pmix_iof_channel_t kOutputChannels =
    PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL | PMIX_FWD_STDDIAG_CHANNEL;

/// The channels on which the output of a job spawned with these directives comes without a pull: those that
/// they do not refuse.
inline pmix_iof_channel_t unasked_channels(InfoView directives) {
    const auto wanted = [&](const char* key, pmix_iof_channel_t channel) -> pmix_iof_channel_t {
        return !directives.has(key) || directives.is_true(key) ? channel : 0;
    };
    return wanted(PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL) |
           wanted(PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL) |
           wanted(PMIX_FWD_STDDIAG, PMIX_FWD_STDDIAG_CHANNEL);
}

struct OutputPiece {
    OutputPiece() = default;
    OutputPiece(const OutputPiece&) = delete;
    OutputPiece& operator=(const OutputPiece&) = delete;
    ~OutputPiece() {
        if (released) released();
    }

    pmix_proc_t source{};
    pmix_iof_channel_t channel = 0;
    InfoView info;
    ByteView bytes;  ///< none: the source has closed the channel

    // The memory of the views, if the piece owns it.
    Info own_info;
    Bytes own_bytes;
    /// Called when the piece is no longer needed. On the loop.
    Task released;

    /// Whether nothing follows on this channel.
    bool completes() const { return bytes.empty() || info.is_true(PMIX_IOF_COMPLETE); }
};

using PiecePtr = std::shared_ptr<const OutputPiece>;

/// A piece that owns the part of `piece` from `begin` on, at most `size` bytes.
std::shared_ptr<OutputPiece> copy_piece(const OutputPiece& piece, size_t begin, size_t size);

}  // namespace muster
