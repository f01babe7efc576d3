// SPDX-License-Identifier: BSD-3-Clause
// A stream of frames as a peer may send it, in pieces, to a channel that is also paused and closed on the
// way. The delivered frames are compared with a reading of the whole stream at once. The first four bytes of
// the input say how long the pieces are, how many bytes came with the handshake, what the callback does and
// at which frame.

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/endian.hpp"
#include "framework/base/loop_callers.hpp"
#include "framework/ptl/channel.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace muster;

constexpr size_t kMaxPayload = 100000;

struct Expected {
    uint32_t pindex, tag;
    ByteView payload;
};

/// The frames of a whole stream. `broken` when a length in it is too large.
std::vector<Expected> frames_of(ByteView stream, bool& broken) {
    std::vector<Expected> frames;
    broken = false;
    while (stream.size() >= Channel::kHeaderSize) {
        const size_t length = load_be32(&stream[8]);
        broken = length > kMaxPayload;
        if (broken || stream.size() - Channel::kHeaderSize < length) break;
        frames.push_back(
            {load_be32(&stream[0]), load_be32(&stream[4]), stream.subspan(Channel::kHeaderSize, length)});
        stream = stream.subspan(Channel::kHeaderSize + length);
    }
    return frames;
}

enum class Action { None, Pause, Close, Destroy, Finish, Answer };

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 4) return 0;
    const size_t piece = size_t{data[0]} * 7 + 1;
    const auto action = static_cast<Action>(data[2] % 6);
    const size_t action_at = data[3] % 8;
    const ByteView stream(data + 4, size - 4);
    const ByteView early = stream.first(std::min<size_t>(data[1], stream.size()));
    bool broken = false;
    const std::vector<Expected> expected = frames_of(stream, broken);

    EventLoop loop;
    LoopCallers callers(loop);
    int fds[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    Socket socket;
    socket.fd.reset(fds[0]);
    UniqueFd other(fds[1]);
    auto channel =
        std::make_unique<Channel>(loop, std::move(socket), Channel::Limits{.max_payload = kMaxPayload});
    size_t delivered = 0;
    bool stopped = false, closed = false;
    channel->start(
        [&](Frame frame) {
            require(!stopped && !closed && delivered < expected.size());
            const Expected& want = expected[delivered];
            require(frame.pindex == want.pindex && frame.tag == want.tag &&
                    frame.payload.size() == want.payload.size() &&
                    (want.payload.empty() ||
                     std::memcmp(frame.payload.data(), want.payload.data(), want.payload.size()) == 0));
            if (delivered++ != action_at) return;
            stopped = action == Action::Close || action == Action::Destroy || action == Action::Finish;
            if (action == Action::Pause) channel->pause(true);
            if (action == Action::Close) channel->close();
            if (action == Action::Destroy) channel.reset();
            if (action == Action::Finish) channel->finish();
            if (action == Action::Answer) require(channel->send(1, frame.tag, std::move(frame.payload)));
        },
        [&](const std::string& reason) {
            require(!closed && !stopped && !reason.empty());
            closed = true;
        },
        early);
    const auto turn = [&] {
        require(callers.progress());
        if (channel && action == Action::Pause) channel->pause(false);
    };

    ByteView rest = stream.subspan(early.size());
    while (!rest.empty()) {
        const ByteView part = rest.first(std::min(piece, rest.size()));
        const ssize_t wrote = ::send(other.get(), part.data(), part.size(), MSG_NOSIGNAL);
        if (wrote > 0) rest = rest.subspan(static_cast<size_t>(wrote));
        turn();
        if (wrote < 0 && (closed || stopped)) break;
    }
    // Its end says that all has been delivered, wherever the stream stops. A channel that answers may not get
    // rid of the answer then.
    if (!stopped && action != Action::Answer) {
        require(shutdown(other.get(), SHUT_WR) == 0);
        for (int i = 0; i < 100 && !closed && !stopped; ++i) {
            turn();
        }
        require(stopped || closed);
        require(stopped || delivered == expected.size());
    } else {
        for (int i = 0; i < 100; ++i) {
            turn();
        }
        require(stopped || closed == broken);
    }
    return 0;
}
