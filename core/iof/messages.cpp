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

namespace {

void write_all_but_bytes(Packer& out, const OutputPiece& piece, size_t reference, InfoView more) {
    out.proc(piece.source).items(&piece.channel, 1, PMIX_IOF_CHANNEL).size(reference);
    if (more.empty()) {
        out.infos(piece.info);
    } else {
        Info all;
        all.add_copies(piece.info);
        all.add_copies(more);
        out.infos(all);
    }
}

}  // namespace

void write_output(Packer& out, const OutputPiece& piece, size_t reference, InfoView more) {
    write_all_but_bytes(out, piece, reference, more);
    out.bytes(piece.bytes);
}

void write_output_in_place(Packer& out, const OutputPiece& piece, size_t reference, InfoView more) {
    write_all_but_bytes(out, piece, reference, more);
    out.bytes_in_place(piece.bytes);
}

}  // namespace muster
