// SPDX-License-Identifier: BSD-3-Clause
// The messages of I/O forwarding: see messages.hpp.
#include "core/iof/messages.hpp"

namespace muster {

bool PullRequest::read(Unpacker& in) {
    return in.procs(procs) && in.infos(directives) && in.item(&channels, PMIX_IOF_CHANNEL) &&
           in.size(reference);
}

void PullRequest::write(Packer& out) const {
    out.procs(procs.data(), procs.size()).infos(directives).items(&channels, 1, PMIX_IOF_CHANNEL);
    out.size(reference);
}

bool PushRequest::read(Unpacker& in) {
    if (!in.procs(targets) || !in.infos(directives)) return false;
    bytes = {};
    // Some omit the bytes at the end of the input.
    return in.at_end() || in.bytes(bytes);
}

bool DeregisterRequest::read(Unpacker& in) {
    return in.infos(directives) && in.size(reference);
}

bool FlowControl::read(Unpacker& in) {
    return in.proc(source) && in.item(&channels, PMIX_IOF_CHANNEL) && in.boolean(suspend) &&
           in.infos(directives);
}

bool read_output(Unpacker& in, OutputPiece& piece, size_t& reference) {
    if (!in.proc(piece.source) || !in.item(&piece.channel, PMIX_IOF_CHANNEL) || !in.size(reference) ||
        !in.infos(piece.own_info) || !in.bytes(piece.bytes))
        return false;
    piece.info = piece.own_info;
    return true;
}

void write_output(Packer& out, const OutputPiece& piece, size_t reference, InfoView more, bool in_place) {
    out.proc(piece.source).items(&piece.channel, 1, PMIX_IOF_CHANNEL).size(reference);
    if (more.empty()) {
        out.infos(piece.info);
    } else {
        Info all;
        all.add_copies(piece.info);
        all.add_copies(more);
        out.infos(all);
    }
    if (in_place)
        out.bytes_in_place(piece.bytes);
    else
        out.bytes(piece.bytes);
}

}  // namespace muster
