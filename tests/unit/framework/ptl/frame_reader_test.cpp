// SPDX-License-Identifier: BSD-3-Clause
// FrameReader: frames that arrive whole, in pieces, several at once, or with an excessive length.
#include "framework/ptl/frame_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/endian.hpp"

namespace muster {
namespace {

constexpr size_t kMaxPayload = 200000;

std::string wire(uint32_t tag, const std::string& payload) {
    uint8_t header[Frame::kHeaderSize] = {};
    store_be32(header, 7);
    store_be32(header + 4, tag);
    store_be32(header + 8, static_cast<uint32_t>(payload.size()));
    return std::string(reinterpret_cast<const char*>(header), sizeof header) + payload;
}

struct FrameReaderTest : ::testing::Test {
    /// One read of as much as fits; the rest remains in `stream`.
    void read(std::string& stream, size_t most = SIZE_MAX) {
        size_t got = 0;
        for (const iovec& part : reader_.room(spare_)) {
            const size_t size = std::min({part.iov_len, stream.size() - got, most - got});
            std::memcpy(part.iov_base, stream.data() + got, size);
            got += size;
        }
        reader_.took(got);
        stream.erase(0, got);
        std::fill(spare_.begin(), spare_.end(), uint8_t{0xee});  // it belongs to the receiver now
    }
    std::vector<std::string> frames() {
        std::vector<std::string> out;
        Frame frame;
        while (reader_.next(frame) == FrameReader::Next::Frame) {
            EXPECT_EQ(frame.pindex, 7U);
            out.push_back(
                std::to_string(frame.tag) + ":" +
                std::string(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()));
        }
        return out;
    }

    std::vector<uint8_t> spare_ = std::vector<uint8_t>(256);
    FrameReader reader_{kMaxPayload};
};

TEST_F(FrameReaderTest, ReadsASingleFrame) {
    EXPECT_FALSE(reader_.holds());
    std::string stream = wire(1, "hello");
    read(stream);
    EXPECT_TRUE(reader_.holds());
    EXPECT_TRUE(reader_.in_frame());
    EXPECT_EQ(frames(), std::vector<std::string>{"1:hello"});
    EXPECT_FALSE(reader_.holds());
    EXPECT_FALSE(reader_.in_frame());
}

TEST_F(FrameReaderTest, ReadsSeveralFramesAndPartOfTheNext) {
    std::string stream = wire(1, "a") + wire(2, "") + wire(3, "ccc") + wire(4, "dddd").substr(0, 18);
    read(stream);
    EXPECT_EQ(frames(), (std::vector<std::string>{"1:a", "2:", "3:ccc"}));
    EXPECT_FALSE(reader_.holds());
    EXPECT_TRUE(reader_.in_frame());
    stream = "dd" + wire(5, "e");
    read(stream);
    EXPECT_EQ(frames(), (std::vector<std::string>{"4:dddd", "5:e"}));
}

TEST_F(FrameReaderTest, ReadsByteByByte) {
    std::string stream = wire(1, "one") + wire(2, "") + wire(3, "three");
    std::vector<std::string> all;
    while (!stream.empty()) {
        read(stream, 1);
        for (std::string& one : frames())
            all.push_back(std::move(one));
    }
    EXPECT_EQ(all, (std::vector<std::string>{"1:one", "2:", "3:three"}));
}

TEST_F(FrameReaderTest, ReadsLongFramesInPlace) {
    const std::string large(150000, 'x');
    std::string stream = wire(1, large) + wire(2, "behind") + wire(3, "that");
    std::vector<std::string> all;
    size_t reads = 0;
    while (!stream.empty()) {
        read(stream);
        ++reads;
        for (std::string& one : frames())
            all.push_back(std::move(one));
    }
    EXPECT_EQ(all, (std::vector<std::string>{"1:" + large, "2:behind", "3:that"}));
    EXPECT_LE(reads, 4U);  // received data doubles the buffer
}

TEST_F(FrameReaderTest, ReadsBytesReceivedWithTheHandshake) {
    std::string stream = wire(1, "early") + wire(2, "late");
    reader_.add({reinterpret_cast<const uint8_t*>(stream.data()), 25});
    stream.erase(0, 25);
    EXPECT_TRUE(reader_.holds());
    EXPECT_EQ(frames(), std::vector<std::string>{"1:early"});
    read(stream);
    EXPECT_EQ(frames(), std::vector<std::string>{"2:late"});
}

TEST_F(FrameReaderTest, DetectsAnExcessiveLengthInTheHeader) {
    std::string bad = wire(2, "x");
    store_be32(reinterpret_cast<uint8_t*>(&bad[8]), kMaxPayload + 1);
    std::string stream = wire(1, "good") + bad;
    read(stream);
    Frame frame;
    EXPECT_EQ(reader_.next(frame), FrameReader::Next::Frame);
    EXPECT_EQ(reader_.next(frame), FrameReader::Next::TooLong);
    EXPECT_EQ(reader_.announces(), kMaxPayload + 1);
    EXPECT_EQ(reader_.next(frame), FrameReader::Next::TooLong);
    EXPECT_EQ(frame.payload.size(), 4U);  // the good one's: nothing was allocated for the other
}

TEST_F(FrameReaderTest, AFailedReadChangesNothing) {
    std::string stream = wire(1, std::string(1000, 'x'));
    read(stream, 100);
    reader_.room(spare_);
    reader_.took(0);
    while (!stream.empty())
        read(stream);
    EXPECT_EQ(frames(), std::vector<std::string>{"1:" + std::string(1000, 'x')});
}

}  // namespace
}  // namespace muster
