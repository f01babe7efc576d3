// SPDX-License-Identifier: BSD-3-Clause
// The messages of I/O forwarding, and what output looks like when it is marked. The first byte of the input
// chooses the message and the kind of buffer, the second the marks. A readable message can be written, and
// reads as the same.

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/iof/messages.hpp"
#include "framework/base/output_format.hpp"
#include "tests/fuzz/codec.hpp"

namespace {

using namespace muster;

void pull(Unpacker& in) {
    PullRequest request;
    if (!request.read(in)) return;
    Packer out(in.format());
    request.write(out);
    require(out.error() == PMIX_SUCCESS);
    PullRequest again;
    Unpacker written(in.format(), out.view());
    require(again.read(written) && again.procs.size() == request.procs.size() &&
            again.channels == request.channels && again.reference == request.reference);
}

void output(Unpacker& in, uint8_t marks) {
    OutputPiece piece;
    size_t reference = 0;
    if (!read_output(in, piece, reference)) return;
    Packer out(in.format());
    write_output(out, piece, reference, {});
    require(out.error() == PMIX_SUCCESS);
    OutputPiece again;
    Unpacker written(in.format(), out.view());
    require(read_output(written, again, reference) && again.bytes.size() == piece.bytes.size() &&
            again.channel == piece.channel);

    OutputStyle style;
    style.tag = (marks & 1) != 0;
    style.xml = (marks & 2) != 0;
    style.raw = (marks & 4) != 0;
    style.rank = (marks & 8) != 0;
    style.directory = "dir";
    const std::string_view text(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
    // However the bytes come, the same is shown.
    std::string whole, parts;
    LineFormatter one(style, piece.source, piece.channel, nullptr);
    one.feed(text, whole);
    one.finish(whole);
    LineFormatter two(style, piece.source, piece.channel, nullptr);
    two.feed(text.substr(0, text.size() / 2), parts);
    two.feed(text.substr(text.size() / 2), parts);
    two.finish(parts);
    require(whole == parts || (style.xml && style.raw));
    if (!style.marks()) require(whole == text);
    const std::string path = style.path_for(piece.source, piece.channel, {});
    require(path.rfind("dir/", 0) == 0 && path.find("/../") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) return 0;
    const WireFormat format{&codec(),
                            (data[0] & 1) != 0 ? BufferType::FullyDescribed : BufferType::NonDescribed};
    Unpacker in(format, ByteView(data + 2, size - 2));
    switch ((data[0] >> 1) & 7) {
        case 0:
            pull(in);
            break;
        case 1: {
            PushRequest request;
            request.read(in);
            break;
        }
        case 2: {
            DeregisterRequest request;
            request.read(in);
            break;
        }
        case 4: {
            FlowControl control;
            control.read(in);
            break;
        }
        default:
            output(in, data[1]);
            break;
    }
    return 0;
}
