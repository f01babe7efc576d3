// SPDX-License-Identifier: BSD-3-Clause
// pcompress/zstd: round trips, OpenPMIx's form, and blocks with a false header.
#include <gtest/gtest.h>

#include "framework/pcompress.hpp"
#include "framework/registry.hpp"

MUSTER_COMPONENT(pcompress, zstd);

namespace muster {
namespace {

class ZstdTest : public ::testing::Test {
  protected:
    static constexpr size_t kMost = size_t{1} << 24;
    static constexpr ComponentEntry kEntries[] = {muster_component_pcompress_zstd, nullptr};

    void SetUp() override { build({}); }
    void build(std::vector<std::pair<std::string, std::string>> program) {
        registry_.reset();
        parameters_ =
            std::make_unique<Parameters>(Parameters::Sources{.environment = false, .program = program});
        registry_ = std::make_unique<Registry>(*parameters_, Registry::Options{.linked = kEntries});
        const auto all = registry_->pcompress();
        zstd_ = all.empty() ? nullptr : all[0];
    }
    static std::vector<uint8_t> letters(size_t size) {
        std::vector<uint8_t> out(size);
        for (size_t i = 0; i < size; ++i)
            out[i] = static_cast<uint8_t>('a' + i % 7);
        return out;
    }

    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Registry> registry_;
    Pcompress* zstd_ = nullptr;
};

TEST_F(ZstdTest, RoundTrips) {
    ASSERT_NE(zstd_, nullptr);
    const auto in = letters(100000);
    Result<Bytes> small = zstd_->compress(in);
    ASSERT_TRUE(small.ok()) << small.error().text;
    EXPECT_LT(small->size(), in.size() / 10);
    Result<Bytes> back = zstd_->decompress(small->view(), kMost);
    ASSERT_TRUE(back.ok()) << back.error().text;
    EXPECT_TRUE(std::ranges::equal(back->view(), in));
}

TEST_F(ZstdTest, OutputIsALengthAndAFrame) {
    Result<Bytes> small = zstd_->compress(letters(5000));
    ASSERT_TRUE(small.ok());
    const uint8_t wanted[] = {0x88, 0x13, 0, 0, 0x28, 0xb5, 0x2f, 0xfd};
    ASSERT_GT(small->size(), sizeof wanted);
    EXPECT_TRUE(std::equal(std::begin(wanted), std::end(wanted), small->data()));
}

TEST_F(ZstdTest, DeclinesInputThatDoesNotShrink) {
    EXPECT_EQ(zstd_->compress(letters(100)).status(), PMIX_ERR_NOT_AVAILABLE);
    build({{"pcompress_zstd_min_size", "50"}});
    EXPECT_TRUE(zstd_->compress(letters(100)).ok());
}

TEST_F(ZstdTest, AWrongLengthIsDetected) {
    Result<Bytes> small = zstd_->compress(letters(5000));
    ASSERT_TRUE(small.ok());
    for (const uint32_t length : {4999U, 5001U, 0U}) {
        Bytes changed(small->view());
        for (size_t i = 0; i < 4; ++i)
            changed.data()[i] = static_cast<uint8_t>(length >> (8 * i));
        EXPECT_EQ(zstd_->decompress(changed.view(), kMost).status(), PMIX_ERR_UNPACK_FAILURE) << length;
    }
    EXPECT_EQ(zstd_->decompress(small->view(), 4999).status(), PMIX_ERR_OUT_OF_RESOURCE);
}

TEST_F(ZstdTest, BrokenBlocksAreRefused) {
    Result<Bytes> small = zstd_->compress(letters(5000));
    ASSERT_TRUE(small.ok());
    for (size_t length = 0; length < small->size(); ++length)
        EXPECT_EQ(zstd_->decompress(small->view().subspan(0, length), kMost).status(),
                  PMIX_ERR_UNPACK_FAILURE)
            << length;
}

TEST_F(ZstdTest, ALevelThatZstdDoesNotHaveIsRefused) {
    build({{"pcompress_zstd_level", "100"}});
    EXPECT_EQ(zstd_, nullptr);
    EXPECT_NE(registry_->why_none("pcompress").find("from 1 to"), std::string::npos);
}

}  // namespace
}  // namespace muster
