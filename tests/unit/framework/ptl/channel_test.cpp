// SPDX-License-Identifier: BSD-3-Clause
// Framing over socket pairs: fragments, limits, back-pressure, ends, and callbacks that destroy the channel.
#include "framework/ptl/channel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/endian.hpp"
#include "framework/base/loop_callers.hpp"
#include "framework/base/loop_thread.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

Bytes bytes_of(const std::string& text) {
    Bytes bytes;
    bytes.append(text.data(), text.size());
    return bytes;
}

std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string wire_frame(uint32_t pindex, uint32_t tag, const std::string& payload) {
    std::string frame(16, '\0');
    auto* at = reinterpret_cast<uint8_t*>(frame.data());
    store_be32(at, pindex);
    store_be32(at + 4, tag);
    store_be32(at + 8, static_cast<uint32_t>(payload.size()));
    return frame + payload;
}

/// A pattern that reveals lost, duplicated and swapped bytes.
std::string pattern(size_t size) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>((i * 2654435761U) >> 13);
    return text;
}

/// Leaves far less than a GiB of address space while it lives. No effect with sanitizers, which need address
/// space.
class LittleMemory {
  public:
    LittleMemory() {
        getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit little = before_;
        little.rlim_cur = pages * static_cast<size_t>(getpagesize()) + (64U << 20);
        EXPECT_EQ(setrlimit(RLIMIT_AS, &little), 0);
#endif
    }
    ~LittleMemory() {
        setrlimit(RLIMIT_AS, &before_);
    }

  private:
    rlimit before_{};
};

/// A channel over one end of a socket pair; the test has the other end. The test's thread drives the loop.
class ChannelTest : public testing::Test {
  protected:
    struct Received {
        uint32_t pindex, tag;
        std::string payload;
    };

    ChannelTest() {
        int fds[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        ours_.fd.reset(fds[0]);
        ours_.peer = "pid 17";
        other_.reset(fds[1]);
    }

    void make(Channel::Limits limits = {}) {
        channel_ = std::make_unique<Channel>(loop_, std::move(ours_), limits);
    }
    void make_and_start(Channel::Limits limits = {}) {
        make(limits);
        start();
    }
    void start(const std::string& early = {}) {
        const Bytes bytes = bytes_of(early);
        channel_->start(
            [this](Frame frame) {
                frames_.push_back({frame.pindex, frame.tag, text_of(frame.payload)});
                if (on_frame_) on_frame_();
            },
            [this](const std::string& reason) {
                ++closed_;
                reason_ = reason;
                if (on_closed_) on_closed_();
            },
            bytes.view());
    }

    /// Runs the loop until the condition holds; false after ten seconds.
    template <class Condition>
    bool runs_until(Condition&& condition, std::chrono::milliseconds limit = 10s) {
        bool expired = false;
        const auto timer = loop_.after(limit, [&] { expired = true; });
        callers_.run_until([&] { return condition() || expired; });
        return condition();
    }
    /// Processes all events that are ready now.
    void settle() {
        for (int i = 0; i < 20; ++i)
            callers_.progress();
    }

    void write_other(const std::string& bytes) {
        ASSERT_EQ(::write(other_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    /// Returns the unread bytes at the other end.
    std::string read_other() {
        std::string all;
        char part[65536];
        for (ssize_t got; (got = ::read(other_.get(), part, sizeof part)) > 0;)
            all.append(part, static_cast<size_t>(got));
        return all;
    }
    /// The same until there are so many; drives the loop.
    std::string read_other(size_t size) {
        std::string all;
        EXPECT_TRUE(runs_until([&] {
            all += read_other();
            loop_.wake();
            return all.size() >= size;
        }));
        return all;
    }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    Socket ours_;
    UniqueFd other_;
    std::unique_ptr<Channel> channel_;
    std::vector<Received> frames_;
    std::function<void()> on_frame_, on_closed_;
    int closed_ = 0;
    std::string reason_;
};

TEST_F(ChannelTest, SendsTheHeaderInNetworkOrder) {
    make_and_start();
    EXPECT_TRUE(channel_->send(0x01020304, 101, bytes_of("hello")));
    EXPECT_EQ(read_other(), std::string("\1\2\3\4\0\0\0\x65\0\0\0\5\0\0\0\0hello", 21));
    EXPECT_TRUE(channel_->send(0, 2, Bytes()));
    EXPECT_EQ(read_other(), wire_frame(0, 2, ""));
    EXPECT_EQ(channel_->queued(), 0U);
}

TEST_F(ChannelTest, BatchesDeferredFramesUntilTheEndOfTheTurn) {
    make_and_start();
    const std::string two = wire_frame(0, 1, "a") + wire_frame(0, 2, "b");
    int drained = 0;
    EXPECT_TRUE(channel_->send_soon(0, 1, bytes_of("a")));
    EXPECT_TRUE(channel_->send_shared_soon(0, 2, std::make_shared<const Bytes>(bytes_of("b"))));
    channel_->on_drained([&] { ++drained; });
    EXPECT_EQ(channel_->queued(), two.size());
    EXPECT_EQ(read_other(), "");
    ASSERT_TRUE(runs_until([&] { return drained == 1; }));
    EXPECT_EQ(read_other(), two);
    EXPECT_EQ(channel_->queued(), 0U);
    // A frame without gathering flushes them, in order.
    EXPECT_TRUE(channel_->send_soon(0, 1, bytes_of("a")));
    EXPECT_TRUE(channel_->send(0, 2, bytes_of("b")));
    EXPECT_EQ(read_other(), two);
    // A large amount is not gathered.
    EXPECT_TRUE(channel_->send_soon(0, 1, bytes_of(pattern(size_t{300} << 10))));
    EXPECT_NE(read_other(), "");
    while (channel_->queued() > 0) {
        callers_.progress();
        read_other();
    }
    // Gathered frames are written before the end.
    EXPECT_TRUE(channel_->send_soon(0, 1, bytes_of("a")));
    EXPECT_TRUE(channel_->send_soon(0, 2, bytes_of("b")));
    channel_->close();
    settle();
    EXPECT_EQ(read_other(), two);
}

TEST_F(ChannelTest, WritesAllQueuedFramesWithOneCall) {
    // A socket that keeps the data of one call together.
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    ours_.fd.reset(fds[0]);
    other_.reset(fds[1]);
    make();
    std::string all;
    for (uint32_t i = 0; i < 20; ++i) {
        const std::string text = pattern(100 * i);
        if (i % 2 == 0) {
            EXPECT_TRUE(channel_->send_soon(0, i, bytes_of(text)));
        } else {
            EXPECT_TRUE(channel_->send_shared_soon(0, i, std::make_shared<const Bytes>(bytes_of(text))));
        }
        all += wire_frame(0, i, text);
    }
    ASSERT_TRUE(runs_until([&] { return channel_->queued() == 0; }));
    char got[65536];
    const ssize_t size = ::read(other_.get(), got, sizeof got);
    EXPECT_EQ(size, static_cast<ssize_t>(all.size())) << "it came in pieces";
    EXPECT_TRUE(size > 0 && std::string(got, static_cast<size_t>(size)) == all);
    const Bytes head = bytes_of("head"), body = bytes_of("body");
    const std::array<ByteView, 2> parts{head.view(), body.view()};
    EXPECT_TRUE(channel_->send_parts(0, 1, parts));
    EXPECT_EQ(::read(other_.get(), got, sizeof got),
              static_cast<ssize_t>(wire_frame(0, 1, "headbody").size()));
}

TEST_F(ChannelTest, ReceivesByteByByte) {
    make_and_start();
    for (const char byte : wire_frame(3, 101, "abc") + wire_frame(3, 1, "") + wire_frame(3, 102, "de")) {
        write_other({byte});
        settle();
    }
    ASSERT_EQ(frames_.size(), 3U);
    EXPECT_EQ(frames_[0].pindex, 3U);
    EXPECT_EQ(frames_[0].tag, 101U);
    EXPECT_EQ(frames_[0].payload, "abc");
    EXPECT_EQ(frames_[1].tag, 1U);
    EXPECT_EQ(frames_[1].payload, "");
    EXPECT_EQ(frames_[2].payload, "de");
    EXPECT_EQ(closed_, 0);
}

TEST_F(ChannelTest, ReceivesManyFramesInPiecesOfAnySize) {
    make_and_start();
    std::string stream;
    std::vector<std::string> sent;
    for (size_t i = 0; i < 300; ++i) {
        sent.push_back(pattern(i * i % 9001));
        stream += wire_frame(0, static_cast<uint32_t>(100 + i), sent.back());
    }
    size_t piece = 1;
    for (size_t at = 0; at < stream.size();) {
        const size_t size = std::min(piece, stream.size() - at);
        const ssize_t wrote = ::write(other_.get(), stream.data() + at, size);
        if (wrote > 0) at += static_cast<size_t>(wrote);
        piece = piece * 7 % 40009 + 1;
        callers_.progress();
    }
    ASSERT_TRUE(runs_until([&] { return frames_.size() == sent.size(); }));
    for (size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(frames_[i].tag, 100 + i);
        EXPECT_TRUE(frames_[i].payload == sent[i]) << i;
    }
}

TEST_F(ChannelTest, CarriesLargePayloadsBothWays) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    make_and_start();
    // The other end is a channel too, on the same loop.
    Socket socket;
    socket.fd = std::move(other_);
    Channel echo(loop_, std::move(socket), {});
    echo.start([&](Frame frame) { echo.send(frame.pindex, frame.tag, std::move(frame.payload)); },
               [](const std::string&) {});
    const std::vector<size_t> sizes = {0, 1, 16383, 16384, 65535, 65536, 65537, 1 << 20, (5 << 20) + 3, 7};
    for (const size_t size : sizes)
        ASSERT_TRUE(channel_->send(9, static_cast<uint32_t>(size), bytes_of(pattern(size))));
    ASSERT_TRUE(runs_until([&] { return frames_.size() == sizes.size(); }));
    for (size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(frames_[i].pindex, 9U);
        EXPECT_TRUE(frames_[i].payload == pattern(sizes[i])) << sizes[i];
    }
    ::close(fds[0]);
    ::close(fds[1]);
}

TEST_F(ChannelTest, SharedPayloadsAreNotCopied) {
    make_and_start();
    auto payload = std::make_shared<const Bytes>(bytes_of(pattern(4 << 20)));
    ASSERT_TRUE(channel_->send_shared(0, 2, payload));
    EXPECT_EQ(payload.use_count(), 2);  // it waits
    EXPECT_TRUE(read_other(payload->size() + 16) == wire_frame(0, 2, text_of(*payload)));
    settle();
    EXPECT_EQ(payload.use_count(), 1);
    EXPECT_EQ(channel_->queued(), 0U);
}

TEST_F(ChannelTest, ReleasesKeptEndsWhenTheyAreWritten) {
    make_and_start();
    const auto small = std::make_shared<const Bytes>(bytes_of("end"));
    EXPECT_TRUE(channel_->send_kept_soon(0, 1, bytes_of("begin, "), KeptBytes::all_of(small)));
    EXPECT_TRUE(channel_->send_kept_soon(0, 2, bytes_of("alone"), {}));
    EXPECT_EQ(small.use_count(), 2);
    channel_->flush();
    EXPECT_EQ(small.use_count(), 1);
    EXPECT_EQ(read_other(), wire_frame(0, 1, "begin, end") + wire_frame(0, 2, "alone"));

    // A large one waits. Its owner sends the next frame when it is released.
    const std::string text = pattern(4 << 20);
    const Bytes memory = bytes_of(text);
    std::shared_ptr<const void> owner(
        &memory, [this](const void*) { EXPECT_TRUE(channel_->send(0, 5, bytes_of("released"))); });
    EXPECT_TRUE(channel_->send_kept_soon(0, 3, bytes_of("large: "), {memory.view(), owner}));
    EXPECT_TRUE(channel_->send(0, 4, bytes_of("behind")));
    const std::weak_ptr<const void> waiting = owner;
    owner.reset();
    EXPECT_FALSE(waiting.expired());
    const std::string want =
        wire_frame(0, 3, "large: " + text) + wire_frame(0, 4, "behind") + wire_frame(0, 5, "released");
    EXPECT_TRUE(read_other(want.size()) == want);
    EXPECT_TRUE(waiting.expired());

    // Nothing is kept for a peer that is gone.
    const auto lost = std::make_shared<const Bytes>(bytes_of(text));
    EXPECT_TRUE(channel_->send_kept_soon(0, 6, Bytes(), KeptBytes::all_of(lost)));
    EXPECT_EQ(lost.use_count(), 2);
    channel_->close();
    EXPECT_EQ(lost.use_count(), 1);
    EXPECT_FALSE(channel_->send_kept_soon(0, 7, Bytes(), KeptBytes::all_of(lost)));
    EXPECT_EQ(lost.use_count(), 1);
}

TEST_F(ChannelTest, SendsPartsWithoutCopying) {
    make_and_start();
    const std::string a = pattern(3000), b = pattern(5120), whole = a + b + a;
    const std::vector<Bytes> owners = [&] {
        std::vector<Bytes> made;
        for (const std::string& text : {a, b, a})
            made.push_back(bytes_of(text));
        return made;
    }();
    std::vector<ByteView> parts;
    for (const Bytes& owner : owners)
        parts.push_back(owner.view());
    EXPECT_TRUE(channel_->send_parts(7, 101, parts));
    EXPECT_TRUE(channel_->send_parts(7, 102, {}));
    EXPECT_TRUE(read_other() == wire_frame(7, 101, whole) + wire_frame(7, 102, ""));
    // Frames that wait for the end of the turn are sent before it.
    EXPECT_TRUE(channel_->send_soon(7, 103, bytes_of("soon")));
    EXPECT_TRUE(channel_->send_parts(7, 104, parts));
    EXPECT_TRUE(read_other() == wire_frame(7, 103, "soon") + wire_frame(7, 104, whole));
    EXPECT_EQ(channel_->queued(), 0U);
    // More of them than fit into one call.
    const std::vector<ByteView> many(500, parts[0]);
    EXPECT_TRUE(channel_->send_parts(7, 105, many));
    std::string want;
    for (size_t i = 0; i < many.size(); ++i)
        want += a;
    want = wire_frame(7, 105, want);
    EXPECT_TRUE(read_other(want.size()) == want);
}

TEST_F(ChannelTest, QueuesPartsThatTheSocketDoesNotAccept) {
    make_and_start();
    std::string got, want;
    for (uint32_t i = 0; i < 40; ++i) {
        // The socket accepts a part of one frame; later frames wait whole.
        Bytes head = bytes_of(pattern(100)), body = bytes_of(pattern(30000));
        const std::array<ByteView, 2> parts{head.view(), body.view()};
        ASSERT_TRUE(channel_->send_parts(i, i, parts));
        std::memset(head.data(), 0, head.size());
        std::memset(body.data(), 0, body.size());
        want += wire_frame(i, i, pattern(100) + pattern(30000));
    }
    EXPECT_GT(channel_->queued(), 0U);
    EXPECT_LT(channel_->queued(), want.size());
    ASSERT_TRUE(runs_until([&] {
        got += read_other();
        loop_.wake();
        return got.size() >= want.size();
    }));
    EXPECT_TRUE(got == want);
    EXPECT_EQ(channel_->queued(), 0U);
    other_.reset();
    const Bytes lost = bytes_of("lost");
    const ByteView part = lost.view();
    channel_->send_parts(0, 1, {&part, 1});
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_FALSE(channel_->send_parts(0, 1, {&part, 1}));
}

TEST_F(ChannelTest, DeliversBytesReceivedWithTheHandshake) {
    make();
    const std::string second = wire_frame(0, 102, "second");
    start(wire_frame(0, 101, pattern(50000)) + second.substr(0, 7));
    EXPECT_TRUE(frames_.empty());  // never inside start()
    write_other(second.substr(7));
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 2; }));
    EXPECT_TRUE(frames_[0].payload == pattern(50000));
    EXPECT_EQ(frames_[1].payload, "second");
}

TEST_F(ChannelTest, AnAnnouncedLengthAllocatesNothing) {
    make_and_start();
    const std::string header = wire_frame(0, 101, "");
    std::string huge = header;
    store_be32(reinterpret_cast<uint8_t*>(huge.data()) + 8, 1 << 30);
    write_other(huge + std::string(100, 'x'));
    {
        const LittleMemory left;
        settle();
        write_other("y");  // read straight into the payload
        settle();
    }
    EXPECT_EQ(closed_, 0);
    other_.reset();
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_NE(reason_.find("middle of a message"), std::string::npos) << reason_;
}

TEST_F(ChannelTest, ClosesOnALengthPastTheLimit) {
    make_and_start({.max_payload = 10});
    write_other(wire_frame(0, 101, "0123456789"));
    write_other(wire_frame(0, 102, "0123456789A"));
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_EQ(frames_.size(), 1U);
    EXPECT_EQ(reason_, "pid 17 announced a message of 11 bytes, more than the limit of 10");
    EXPECT_FALSE(channel_->is_open());
    EXPECT_FALSE(channel_->send(0, 101, Bytes()));
    char byte;
    EXPECT_EQ(::read(other_.get(), &byte, 1), 0);
}

TEST_F(ChannelTest, DistinguishesAnOrderlyEndFromOneInAMessage) {
    make_and_start();
    write_other(wire_frame(0, 101, "last words"));
    other_.reset();
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_EQ(frames_.size(), 1U);
    EXPECT_EQ(reason_, "pid 17 closed the connection");
    settle();
    EXPECT_EQ(closed_, 1);
}

TEST_F(ChannelTest, DetectsAnEndInsideAHeader) {
    make_and_start();
    write_other(wire_frame(0, 101, "").substr(0, 15));
    other_.reset();
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_TRUE(frames_.empty());
    EXPECT_NE(reason_.find("middle of a message"), std::string::npos) << reason_;
}

TEST_F(ChannelTest, ReportsALostPeerAfterSendReturns) {
    make_and_start();
    write_other(wire_frame(0, 101, "last words"));
    other_.reset();
    (void)channel_->send(0, 101, bytes_of("anyone there?"));
    EXPECT_EQ(closed_, 0);
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    ASSERT_EQ(frames_.size(), 1U);  // was delivered before the end
    settle();
    EXPECT_EQ(closed_, 1);
    EXPECT_FALSE(channel_->send(0, 102, Bytes()));
}

TEST_F(ChannelTest, ReportsALostPeerWhilePaused) {
    make_and_start();
    channel_->pause(true);
    other_.reset();
    settle();
    EXPECT_EQ(closed_, 0);
    (void)channel_->send(0, 101, bytes_of("anyone there?"));
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
}

TEST_F(ChannelTest, MayBeDestroyedInItsFrameCallback) {
    make_and_start();
    on_frame_ = [&] { channel_.reset(); };
    write_other(wire_frame(0, 101, "a") + wire_frame(0, 102, "b"));
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 1; }));
    settle();
    EXPECT_EQ(frames_.size(), 1U);
    EXPECT_EQ(closed_, 0);
    char byte;
    EXPECT_LE(::read(other_.get(), &byte, 1), 0);
}

TEST_F(ChannelTest, MayBeDestroyedInItsClosedCallback) {
    make_and_start();
    on_closed_ = [&] { channel_.reset(); };
    write_other(wire_frame(0, 101, "a"));
    other_.reset();
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    settle();
    EXPECT_EQ(frames_.size(), 1U);
}

TEST_F(ChannelTest, MayBeDestroyedInItsDrainedCallback) {
    make_and_start();
    bool first = false, second = false;
    channel_->on_drained([&] {
        first = true;
        channel_.reset();
    });
    channel_->on_drained([&] { second = true; });
    EXPECT_FALSE(first);
    ASSERT_TRUE(runs_until([&] { return first; }));
    settle();
    EXPECT_FALSE(second);
}

TEST_F(ChannelTest, DestroyedBeforeItsEarlyBytesAreDelivered) {
    make();
    start(wire_frame(0, 101, "a"));
    channel_.reset();
    settle();
    EXPECT_TRUE(frames_.empty());
}

TEST_F(ChannelTest, MakesNoCallbackAfterClose) {
    make_and_start();
    on_frame_ = [&] {
        channel_->close();
        EXPECT_FALSE(channel_->is_open());
    };
    channel_->on_drained([] { ADD_FAILURE(); });
    channel_->on_drained([] { ADD_FAILURE(); });
    write_other(wire_frame(0, 101, "a") + wire_frame(0, 102, "b"));
    on_frame_();
    other_.reset();
    settle();
    EXPECT_TRUE(frames_.empty());
    EXPECT_EQ(closed_, 0);
}

TEST_F(ChannelTest, CloseInACallbackEndsDelivery) {
    make_and_start();
    on_frame_ = [&] { channel_->close(); };
    write_other(wire_frame(0, 101, "a") + wire_frame(0, 102, "b"));
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 1; }));
    settle();
    EXPECT_EQ(frames_.size(), 1U);
    EXPECT_EQ(closed_, 0);
}

TEST_F(ChannelTest, ReadsNothingWhilePaused) {
    make_and_start();
    on_frame_ = [&] {
        if (frames_.size() == 2) channel_->pause(true);
    };
    std::string stream;
    for (uint32_t tag = 101; tag < 106; ++tag)
        stream += wire_frame(0, tag, "x");
    write_other(stream);
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 2; }));
    write_other(wire_frame(0, 106, "x"));
    settle();
    EXPECT_EQ(frames_.size(), 2U);
    EXPECT_TRUE(channel_->holds_back());
    channel_->pause(false);
    EXPECT_TRUE(channel_->holds_back());  // what was read before
    EXPECT_EQ(frames_.size(), 2U);        // never inside pause()
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 6; }));
    for (size_t i = 0; i < 6; ++i)
        EXPECT_EQ(frames_[i].tag, 101 + i);
    EXPECT_FALSE(channel_->holds_back());
}

TEST_F(ChannelTest, PausedBeforeItsStart) {
    make();
    channel_->pause(true);
    start(wire_frame(0, 101, "x"));
    write_other(wire_frame(0, 102, "x"));
    settle();
    EXPECT_TRUE(frames_.empty());
    channel_->pause(false);
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 2; }));
}

TEST_F(ChannelTest, RefusesFramesBeyondTheQueueLimit) {
    make_and_start({.max_queued = 1 << 20});
    // An empty queue takes any frame.
    ASSERT_TRUE(channel_->send(0, 101, bytes_of(pattern(3 << 20))));
    ASSERT_GT(channel_->queued(), size_t{1} << 20);
    EXPECT_FALSE(channel_->send(0, 102, bytes_of("x")));
    EXPECT_TRUE(channel_->is_open());
    bool drained = false;
    channel_->on_drained([&] { drained = true; });
    std::string got;
    ASSERT_TRUE(runs_until([&] {
        got += read_other();
        return drained;
    }));
    EXPECT_TRUE(channel_->send(0, 103, bytes_of("y")));
    got += read_other();
    EXPECT_TRUE(got == wire_frame(0, 101, pattern(3 << 20)) + wire_frame(0, 103, "y"));
}

TEST_F(ChannelTest, OnlyUnsentBytesCountForTheQueueLimit) {
    make_and_start({.max_queued = 1 << 10, .close_when_full = true});
    std::string want;
    for (uint32_t i = 0; i < 100; ++i) {
        ASSERT_TRUE(channel_->send_soon(0, i, bytes_of(pattern(100))));
        want += wire_frame(0, i, pattern(100));
    }
    settle();
    EXPECT_EQ(read_other(), want);
    EXPECT_EQ(closed_, 0);
    EXPECT_TRUE(channel_->send_soon(0, 1, bytes_of("a")));
    channel_->flush();
    EXPECT_EQ(read_other(), wire_frame(0, 1, "a"));
}

TEST_F(ChannelTest, ClosesAtTheQueueLimitWhenConfigured) {
    make_and_start({.max_queued = 1 << 20, .close_when_full = true});
    // A single frame may be of any length.
    ASSERT_TRUE(channel_->send(0, 101, bytes_of(pattern(3 << 20))));
    ASSERT_GT(channel_->queued(), size_t{1} << 20);
    EXPECT_FALSE(channel_->send(0, 102, bytes_of("x")));
    EXPECT_EQ(closed_, 0) << "inside send()";
    EXPECT_EQ(channel_->queued(), 0U) << "its memory is kept";
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_NE(reason_.find("does not read"), std::string::npos) << reason_;
    EXPECT_FALSE(channel_->is_open());
}

TEST_F(ChannelTest, WritesQueuedFramesInOrder) {
    make_and_start();
    std::string want;
    for (uint32_t i = 0; i < 2000; ++i) {
        const std::string payload = pattern(i % 700);
        ASSERT_TRUE(channel_->send(i, i, bytes_of(payload)));
        want += wire_frame(i, i, payload);
    }
    EXPECT_GT(channel_->queued(), 0U);
    EXPECT_TRUE(read_other(want.size()) == want);
}

TEST_F(ChannelTest, FinishFlushesTheQueueAndCloses) {
    make_and_start();
    const std::string payload = pattern(3 << 20);
    ASSERT_TRUE(channel_->send(0, 101, bytes_of(payload)));
    channel_->on_drained([] { ADD_FAILURE(); });
    channel_->finish();
    EXPECT_TRUE(channel_->is_open());
    EXPECT_FALSE(channel_->send(0, 102, Bytes()));
    write_other(wire_frame(0, 101, "ignored"));
    std::string got;
    ASSERT_TRUE(runs_until([&] {
        got += read_other();
        return !channel_->is_open();
    }));
    got += read_other();
    EXPECT_TRUE(got == wire_frame(0, 101, payload));
    EXPECT_TRUE(frames_.empty());
    EXPECT_EQ(closed_, 0);
}

TEST_F(ChannelTest, FinishWithAnEmptyQueueClosesAtOnce) {
    make_and_start();
    channel_->finish();
    EXPECT_FALSE(channel_->is_open());
}

TEST_F(ChannelTest, FinishEndsWhenThePeerIsLost) {
    make_and_start();
    ASSERT_TRUE(channel_->send(0, 101, bytes_of(pattern(3 << 20))));
    channel_->finish();
    other_.reset();
    ASSERT_TRUE(runs_until([&] { return !channel_->is_open(); }));
    EXPECT_EQ(closed_, 0);
}

TEST_F(ChannelTest, FinishInACallbackThatDestroys) {
    make_and_start();
    on_frame_ = [&] {
        channel_->send(0, 101, bytes_of("bye"));
        channel_->finish();
        channel_.reset();
    };
    write_other(wire_frame(0, 101, "a") + wire_frame(0, 102, "b"));
    ASSERT_TRUE(runs_until([&] { return frames_.size() == 1; }));
    EXPECT_EQ(read_other(), wire_frame(0, 101, "bye"));
}

TEST_F(ChannelTest, OneBusyPeerDoesNotStarveTheLoop) {
    make_and_start();
    // More data waits than one turn reads; another watch is served in between.
    int size = 8 << 20;
    setsockopt(other_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    std::string stream;
    while (stream.size() < (6U << 20))
        stream += wire_frame(0, 101, pattern(8000));
    const ssize_t wrote = ::write(other_.get(), stream.data(), stream.size());
    if (wrote < (4 << 20)) GTEST_SKIP() << "the kernel's buffer is too small";
    ASSERT_TRUE(callers_.progress());
    EXPECT_LT(frames_.size() * 8016, size_t{3} << 20);
    ASSERT_TRUE(runs_until([&] { return frames_.size() == static_cast<size_t>(wrote) / 8016; }));
}

TEST_F(ChannelTest, SlowFramesDoNotStarveTheLoop) {
    make_and_start();
    // A few bytes cause much work: other peers are served meanwhile.
    constexpr size_t kFrames = 1000;
    size_t before_others = kFrames;
    on_frame_ = [&] {
        if (frames_.size() == 1) loop_.post([&] { before_others = frames_.size(); });
        const auto until = std::chrono::steady_clock::now() + 1ms;
        while (std::chrono::steady_clock::now() < until) {
        }
    };
    std::string stream;
    for (size_t i = 0; i < kFrames; ++i)
        stream += wire_frame(0, static_cast<uint32_t>(i), "");
    write_other(stream);
    ASSERT_TRUE(runs_until([&] { return frames_.size() == kFrames; }, 60s));
    EXPECT_LT(before_others, kFrames / 10);
    for (size_t i = 0; i < kFrames; ++i)
        EXPECT_EQ(frames_[i].tag, i);
}

TEST_F(ChannelTest, DeliversAllFramesSentBeforeTheEnd) {
    make_and_start();
    on_frame_ = [&] {
        // Longer than the turn of a channel, as on a loaded machine.
        const auto until = std::chrono::steady_clock::now() + 6ms;
        while (std::chrono::steady_clock::now() < until) {
        }
    };
    std::string stream;
    for (uint32_t i = 0; i < 50; ++i)
        stream += wire_frame(0, i, "");
    write_other(stream);
    other_.reset();
    // It accepts no more data, which is detected first.
    ASSERT_TRUE(channel_->send(0, 101, bytes_of("to nobody")));
    ASSERT_TRUE(runs_until([&] { return closed_ == 1; }));
    EXPECT_EQ(frames_.size(), 50U);
}

// Two processes, each with its own loop and thread: one sends, the other answers.

TEST(ChannelShared, LeavesLaterFramesToTheThreadOfTheLoop) {
    EventLoop loop(EventLoop::On::Poll);
    LoopThread thread(loop, LoopThread::Beside::Callers);
    LoopCallers callers(loop, &thread);
    loop.need_driver();
    thread.start("shared");
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    Socket socket;
    socket.fd.reset(fds[0]);
    const UniqueFd other(fds[1]);
    std::vector<std::thread::id> who;
    std::promise<void> second;
    auto all = second.get_future();
    std::unique_ptr<Channel> channel;
    const std::string both = wire_frame(0, 101, "reply") + wire_frame(0, 102, "event");
    Task task = [&] {
        channel = std::make_unique<Channel>(loop, std::move(socket), Channel::Limits());
        channel->start(
            [&](const Frame&) {
                who.push_back(std::this_thread::get_id());
                if (who.size() == 2) second.set_value();
            },
            [](const std::string&) {});
        ASSERT_EQ(::write(other.get(), both.data(), both.size()), static_cast<ssize_t>(both.size()));
    };
    const std::function<bool()> first = [&] { return !who.empty(); };
    while (!callers.run_borrowed(task, first))
        std::this_thread::yield();
    ASSERT_EQ(all.wait_for(10s), std::future_status::ready);
    EXPECT_EQ(who[0], std::this_thread::get_id());
    EXPECT_NE(who[1], std::this_thread::get_id());
    thread.stop();
}

TEST(ChannelProcesses, ExchangeFrames) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(30);
        ::close(fds[0]);
        bool over = false;
        EventLoop loop;
        LoopCallers callers(loop);
        Socket socket;
        socket.fd.reset(fds[1]);
        Channel channel(loop, std::move(socket), {});
        channel.start(
            [&](Frame frame) { channel.send(frame.pindex + 1, frame.tag, std::move(frame.payload)); },
            [&](const std::string&) { over = true; });
        callers.run_until([&] { return over; });
        _exit(0);
    }
    ::close(fds[1]);
    EventLoop loop;
    LoopCallers callers(loop);
    Socket socket;
    socket.fd.reset(fds[0]);
    Channel channel(loop, std::move(socket), {});
    constexpr uint32_t kRounds = 500;
    uint32_t answered = 0;
    bool expired = false, lost = false;
    const auto limit = loop.after(30s, [&] { expired = true; });
    channel.start(
        [&](Frame frame) {
            EXPECT_EQ(frame.pindex, 1U);
            EXPECT_EQ(frame.tag, answered);
            EXPECT_TRUE(text_of(frame.payload) == pattern(answered * 31));
            if (++answered < kRounds) channel.send(0, answered, bytes_of(pattern(answered * 31)));
        },
        [&](const std::string&) { lost = true; });
    ASSERT_TRUE(channel.send(0, 0, Bytes()));
    callers.run_until([&] { return answered == kRounds || expired || lost; });
    EXPECT_EQ(answered, kRounds);
    channel.close();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace muster
