// SPDX-License-Identifier: BSD-3-Clause
// Compression: round trips, and hostile headers.

#include "framework/base/compress.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "framework/base/value.hpp"

namespace muster {
namespace {

ByteView bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Compress, RoundTrips) {
    const std::string text(100000, 'a');
    std::optional<Bytes> packed = zlib_compress(bytes_of(text));
    ASSERT_TRUE(packed.has_value());
    EXPECT_LT(packed->size(), text.size() / 100);
    EXPECT_EQ(packed->data()[0], 100000 & 0xff) << "the length stands first, least significant byte first";
    EXPECT_EQ(packed->data()[2], 100000 >> 16);
    std::optional<Bytes> plain = zlib_decompress(packed->view());
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(std::string(reinterpret_cast<char*>(plain->data()), plain->size()), text);
    EXPECT_FALSE(zlib_decompress(packed->view(), 99999).has_value()) << "beyond the limit";
}

TEST(Compress, EveryLevelIsReadByAll) {
    std::string text;
    for (int i = 0; i < 20000; ++i)
        text += "key" + std::to_string(i * 7919 % 1000) + " ";
    std::vector<size_t> sizes;
    for (const int level : {1, 6, 12, 0, 100, -1}) {
        const std::optional<Bytes> packed = zlib_compress(bytes_of(text), level);
        ASSERT_TRUE(packed.has_value()) << level;
        sizes.push_back(packed->size());
        const std::optional<Bytes> plain = zlib_decompress(packed->view());
        ASSERT_TRUE(plain.has_value()) << level;
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(plain->data()), plain->size()), text) << level;
    }
    EXPECT_LT(sizes[1], sizes[0]);
    EXPECT_LE(sizes[2], sizes[1]);
    EXPECT_EQ(sizes[3], sizes[0]) << "no level: the fastest";
    EXPECT_EQ(sizes[4], sizes[0]);
    EXPECT_EQ(sizes[5], sizes[1]) << "libdeflate's usual level";
}

TEST(Compress, DeclinesInputThatDoesNotShrink) {
    EXPECT_FALSE(zlib_compress(bytes_of("abc")).has_value());
    EXPECT_FALSE(zlib_compress({}).has_value());
}

TEST(Decompress, RefusesWrongLengths) {
    const std::string text(5000, 'b');
    std::optional<Bytes> packed = zlib_compress(bytes_of(text));
    ASSERT_TRUE(packed.has_value());
    const std::string good(reinterpret_cast<char*>(packed->data()), packed->size());
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_FALSE(zlib_decompress(bytes_of(good.substr(0, length))).has_value()) << length;
    }
    std::string longer = good;
    longer[0] = static_cast<char>(longer[0] + 1);
    EXPECT_FALSE(zlib_decompress(bytes_of(longer)).has_value());
    std::string shorter = good;
    shorter[0] = static_cast<char>(shorter[0] - 1);
    EXPECT_FALSE(zlib_decompress(bytes_of(shorter)).has_value());
    std::string huge = good;
    std::memset(huge.data(), 0xff, 4);
    EXPECT_FALSE(zlib_decompress(bytes_of(huge)).has_value());
    EXPECT_FALSE(zlib_decompress(bytes_of(good + "x")).has_value());
}

TEST(Decompress, OfValuesKeepsToItsLimit) {
    const std::string text(5000, 'c');
    std::optional<Bytes> packed = zlib_compress(bytes_of(text));
    ASSERT_TRUE(packed.has_value());
    const pmix_byte_object_t object = {reinterpret_cast<char*>(packed->data()), packed->size()};
    std::size_t room = 12000;
    for (const std::size_t left : {7000U, 2000U}) {
        Value value = Value::of(PMIX_COMPRESSED_BYTE_OBJECT, &object);
        EXPECT_EQ(value_decompress(value.get(), &room), PMIX_SUCCESS);
        EXPECT_EQ(room, left);
    }
    Value value = Value::of(PMIX_COMPRESSED_BYTE_OBJECT, &object);
    EXPECT_EQ(value_decompress(value.get(), &room), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(room, 2000U);
}

TEST(Decompress, OfValuesReplacesCompressedTypes) {
    const std::string text(5000, 'c');
    std::optional<Bytes> packed = zlib_compress(bytes_of(text));
    ASSERT_TRUE(packed.has_value());
    const pmix_byte_object_t object = {reinterpret_cast<char*>(packed->data()), packed->size()};

    Value string = Value::of(PMIX_COMPRESSED_STRING, &object);
    ASSERT_EQ(value_decompress(string.get()), PMIX_SUCCESS);
    EXPECT_EQ(std::string(value_as_string(string.get())), text);

    Value bytes = Value::of(PMIX_COMPRESSED_BYTE_OBJECT, &object);
    ASSERT_EQ(value_decompress(bytes.get()), PMIX_SUCCESS);
    ASSERT_EQ(bytes.type(), PMIX_BYTE_OBJECT);
    EXPECT_EQ(bytes->data.bo.size, text.size());

    const pmix_byte_object_t broken = {object.bytes, object.size - 1};
    Value bad = Value::of(PMIX_COMPRESSED_STRING, &broken);
    EXPECT_EQ(value_decompress(bad.get()), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(bad.type(), PMIX_COMPRESSED_STRING);

    std::string with_nul = text;
    with_nul[10] = '\0';
    packed = zlib_compress(bytes_of(with_nul));
    const pmix_byte_object_t hidden = {reinterpret_cast<char*>(packed->data()), packed->size()};
    Value cut = Value::of(PMIX_COMPRESSED_STRING, &hidden);
    EXPECT_EQ(value_decompress(cut.get()), PMIX_ERR_UNPACK_FAILURE);

    Value other = Value::from(3);
    EXPECT_EQ(value_decompress(other.get()), PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster
