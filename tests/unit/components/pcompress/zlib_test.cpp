// SPDX-License-Identifier: BSD-3-Clause
// pcompress/zlib: round trips, OpenPMIx's form, and blocks with a false header.
#include <gtest/gtest.h>
#include <zlib.h>

#include "framework/pcompress.hpp"
#include "framework/registry.hpp"

MUSTER_COMPONENT(pcompress, zlib);

namespace muster {
namespace {

constexpr size_t kLimit = size_t{1} << 24;

class ZlibTest : public ::testing::Test {
  protected:
    void SetUp() override { build({}); }
    void build(std::vector<std::pair<std::string, std::string>> program) {
        static constexpr ComponentEntry entries[] = {muster_component_pcompress_zlib, nullptr};
        registry_.reset();
        parameters_ =
            std::make_unique<Parameters>(Parameters::Sources{.environment = false, .program = program});
        registry_ = std::make_unique<Registry>(*parameters_, Registry::Options{.linked = entries});
        const auto all = registry_->pcompress();
        zlib_ = all.empty() ? nullptr : all[0];
    }
    static std::vector<uint8_t> text(size_t size) {
        std::vector<uint8_t> out(size);
        for (size_t i = 0; i < size; ++i)
            out[i] = static_cast<uint8_t>('a' + i % 7);
        return out;
    }
    static std::string str(ByteView bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Registry> registry_;
    Pcompress* zlib_ = nullptr;
};

TEST_F(ZlibTest, RoundTrips) {
    ASSERT_NE(zlib_, nullptr);
    const auto in = text(100000);
    Result<Bytes> small = zlib_->compress(in);
    ASSERT_TRUE(small.ok()) << small.error().text;
    EXPECT_LT(small->size(), in.size() / 10);
    Result<Bytes> back = zlib_->decompress(small->view(), kLimit);
    ASSERT_TRUE(back.ok()) << back.error().text;
    EXPECT_EQ(str(back->view()), str(in));
}

TEST_F(ZlibTest, OutputIsALengthAndAZlibStream) {
    const auto in = text(5000);
    Result<Bytes> small = zlib_->compress(in);
    ASSERT_TRUE(small.ok());
    const uint8_t* bytes = small->data();
    EXPECT_EQ(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24, 5000);
    std::vector<uint8_t> out(5000);
    uLongf length = out.size();
    ASSERT_EQ(uncompress(out.data(), &length, bytes + 4, small->size() - 4), Z_OK);
    EXPECT_EQ(out, in);
}

TEST_F(ZlibTest, DeclinesInputThatDoesNotShrink) {
    EXPECT_EQ(zlib_->compress(text(100)).status(), PMIX_ERR_NOT_AVAILABLE);
    std::vector<uint8_t> noise(8192);
    uint32_t state = 1;
    for (uint8_t& byte : noise) {
        state = state * 1664525 + 1013904223;
        byte = static_cast<uint8_t>(state >> 24);
    }
    EXPECT_EQ(zlib_->compress(noise).status(), PMIX_ERR_NOT_AVAILABLE);
    build({{"pcompress_base_limit", "50"}});
    EXPECT_TRUE(zlib_->compress(text(100)).ok()) << "the former name of pcompress_zlib_min_size";
}

TEST_F(ZlibTest, AWrongLengthIsDetected) {
    Result<Bytes> small = zlib_->compress(text(5000));
    ASSERT_TRUE(small.ok());
    const auto with_length = [&](uint32_t length) {
        Bytes changed(small->view());
        for (size_t i = 0; i < 4; ++i)
            changed.data()[i] = static_cast<uint8_t>(length >> (8 * i));
        return zlib_->decompress(changed.view(), kLimit).status();
    };
    EXPECT_EQ(with_length(5000), PMIX_SUCCESS);
    EXPECT_EQ(with_length(4999), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(with_length(5001), PMIX_SUCCESS) << "OpenPMIx counts the end of a string or does not";
    EXPECT_EQ(with_length(kLimit), PMIX_ERR_UNPACK_FAILURE) << "no stream of this size holds that much";
    EXPECT_EQ(with_length(UINT32_MAX), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(zlib_->decompress(small->view(), 4999).status(), PMIX_ERR_OUT_OF_RESOURCE);
}

TEST_F(ZlibTest, BrokenBlocksAreRefused) {
    Result<Bytes> small = zlib_->compress(text(5000));
    ASSERT_TRUE(small.ok());
    for (size_t length = 0; length < small->size(); ++length) {
        EXPECT_EQ(zlib_->decompress(small->view().subspan(0, length), kLimit).status(),
                  PMIX_ERR_UNPACK_FAILURE)
            << length;
    }
    Bytes changed(small->view());
    changed.data()[changed.size() - 1] ^= 1;
    EXPECT_EQ(zlib_->decompress(changed.view(), kLimit).status(), PMIX_ERR_UNPACK_FAILURE);
}

TEST_F(ZlibTest, ALevelThatThereIsNotIsRefused) {
    build({{"pcompress_zlib_level", "13"}});
    EXPECT_EQ(zlib_, nullptr);
    EXPECT_NE(registry_->why_none("pcompress").find("from 1 to 12"), std::string::npos);
}

}  // namespace
}  // namespace muster
