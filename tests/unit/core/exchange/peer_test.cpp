// SPDX-License-Identifier: BSD-3-Clause
// Replies to a peer: results and errors.
#include "core/exchange/peer.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "framework/base/endian.hpp"
#include "framework/base/loop_callers.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

constexpr size_t kMaxSent = 1000;

/// A peer over one end of a socket pair, to which little can be sent at a time; the test has the other end.
class PeerReplies : public testing::Test {
  protected:
    PeerReplies() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
        Socket socket;
        socket.fd.reset(ends[0]);
        other_.reset(ends[1]);
        peer_.format = {&test::codec(), BufferType::NonDescribed};
        peer_.channel =
            std::make_unique<Channel>(loop_, std::move(socket), Channel::Limits{.max_sent = kMaxSent});
    }
    /// The payload of the only frame sent with this tag; nothing if there was none.
    std::optional<std::vector<uint8_t>> sent(uint32_t frame_tag) {
        std::array<uint8_t, 4 * kMaxSent> bytes;
        const ssize_t got = ::read(other_.get(), bytes.data(), bytes.size());
        if (got < static_cast<ssize_t>(Channel::kHeaderSize)) return std::nullopt;
        EXPECT_EQ(load_be32(&bytes[4]), frame_tag);
        EXPECT_EQ(load_be32(&bytes[8]), static_cast<size_t>(got) - Channel::kHeaderSize);
        return std::vector<uint8_t>(bytes.begin() + Channel::kHeaderSize, bytes.begin() + got);
    }
    pmix_status_t status_sent(uint32_t frame_tag) {
        const auto payload = sent(frame_tag);
        if (!payload) return PMIX_ERR_TIMEOUT;
        Unpacker in(peer_.format, *payload);
        pmix_status_t status = PMIX_ERROR;
        EXPECT_TRUE(in.status(status));
        EXPECT_TRUE(in.at_end());
        return status;
    }
    static Bytes of_length(size_t length) {
        Bytes bytes;
        bytes.resize(length);
        return bytes;
    }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    UniqueFd other_;
    Peer peer_;
};

TEST_F(PeerReplies, FailWhenTheyExceedTheMessageLimit) {
    Packer fits(peer_.format), too_long(peer_.format);
    fits.raw(of_length(kMaxSent).view());
    too_long.raw(of_length(kMaxSent + 1).view());
    peer_.reply(101, std::move(fits));
    const auto whole = sent(101);
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->size(), kMaxSent);
    peer_.reply(102, std::move(too_long));
    EXPECT_EQ(status_sent(102), PMIX_ERR_OUT_OF_RESOURCE);
    peer_.reply_shared(103, std::make_shared<const Bytes>(of_length(kMaxSent + 1)));
    EXPECT_EQ(status_sent(103), PMIX_ERR_OUT_OF_RESOURCE);
    // The connection continues.
    peer_.reply_status(104, PMIX_SUCCESS);
    EXPECT_EQ(status_sent(104), PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster
