// SPDX-License-Identifier: BSD-3-Clause
// The wire messages of I/O forwarding (docs/reference/wire.md, commands 22, 23 and 29, tags 2 and 3), read
// from untrusted bytes.
#pragma once

#include <vector>

#include "core/iof/piece.hpp"
#include "framework/packer.hpp"

namespace muster {

/// A process asks for output.
struct PullRequest {
    std::vector<pmix_proc_t> procs;
    Info directives;
    pmix_iof_channel_t channels = 0;
    size_t reference = 0;  ///< the number that the process gave its handler

    bool read(Unpacker& in);
    void write(Packer& out) const;
};

/// A process passes on input. `bytes` is viewed in place.
struct PushRequest {
    std::vector<pmix_proc_t> targets;
    Info directives;
    ByteView bytes;  ///< none: the end of the input

    bool read(Unpacker& in);
};

struct DeregisterRequest {
    Info directives;
    size_t reference = 0;  ///< the number that the server gave

    bool read(Unpacker& in);
};

/// A server suspends or resumes the producers that match `source` (flow control of input).
struct FlowControl {
    pmix_proc_t source{};
    pmix_iof_channel_t channels = 0;
    bool suspend = false;
    Info directives;

    bool read(Unpacker& in);
};

/// A piece of output on its way to the handler with that number; the piece's bytes are viewed in place.
bool read_output(Unpacker& in, OutputPiece& piece, size_t& reference);
/// `in_place`: large bytes of the piece are not copied (Packer::tail()).
void write_output(Packer& out, const OutputPiece& piece, size_t reference, InfoView more,
                  bool in_place = false);

}  // namespace muster
