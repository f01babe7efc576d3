// SPDX-License-Identifier: BSD-3-Clause
// Connect requests and the replies to them. A readable one is built again, and must read as the same. The
// first byte of the input says what it is, the second the kind of process for a reply.

#include "framework/ptl/handshake.hpp"

#include <cstring>

#include "tests/fuzz/require.hpp"

namespace {

using namespace muster;

bool same(ByteView a, ByteView b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void try_request(ByteView body) {
    auto request = parse_connect_request(body);
    if (!request.ok()) return;
    require(!carries_identity(request->kind) || !request->nspace.empty());
    require(request->nspace.size() <= PMIX_MAX_NSLEN);
    (void)parse_version(request->version);
    // A request of version 2.0 ends early, and is not one that we build.
    if (request->buffer_type == 1 && request->bfrops.empty()) return;
    const Bytes built = build_connect_request(*request);
    auto length = parse_connect_header(built.view());
    require(length.ok() && *length == built.size() - 16);
    auto again = parse_connect_request(built.view().subspan(16));
    require(again.ok());
    require(same(build_connect_request(*again).view(), built.view()));
}

void try_reply(ByteView bytes, const ReplyParser& parser) {
    // Byte by byte: what is wanted only becomes less, or the reply is complete.
    for (size_t size = 0; size <= bytes.size(); ++size) {
        const Bytes so_far(bytes.first(size));
        const size_t wanted = parser.wanted(so_far.view());
        auto parsed = parser.parse(so_far.view());
        require(wanted == 0 || !parsed.ok());
        if (!parsed.ok()) continue;
        const Bytes built = parser.tool_form ? build_tool_reply(parsed->tool)
                                             : build_client_reply(parsed->tool.status, parsed->peer_index);
        require(built.size() <= size);
        auto again = parser.parse(built.view());
        require(again.ok() && again->tool.status == parsed->tool.status &&
                again->peer_index == parsed->peer_index);
        return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) return 0;
    const ByteView input(data + 2, size - 2);
    switch (data[0] % 4) {
        case 0:
            try_request(input);
            break;
        case 1: {
            auto length = parse_connect_header(input);
            if (!length.ok()) break;
            require(*length >= 1 && *length <= kMaxConnectRequest);
            if (input.size() - 16 >= *length) try_request(input.subspan(16, *length));
            break;
        }
        default:
            try_reply(input, {static_cast<PeerKind>(data[1] % 11), data[0] % 4 == 3});
    }
    return 0;
}
