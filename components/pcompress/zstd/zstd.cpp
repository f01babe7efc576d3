// SPDX-License-Identifier: BSD-3-Clause
// pcompress/zstd: the length of the contents (four bytes, least significant first) and a frame of Zstandard.
#include <zstd.h>

#include <pmix/sdk/component.hpp>

#include "framework/base/compressed_block.hpp"
#include "framework/base/own_component.hpp"

namespace {

namespace sdk = muster::sdk;

constexpr size_t kLengthSize = muster::kBlockLengthSize;

class Zstd {
  public:
    explicit Zstd(sdk::Host host)
        : host_(host),
          level_(static_cast<int>(host.integer("level"))),
          min_size_(static_cast<size_t>(host.integer("min_size"))) {
        if (level_ < 1 || level_ > ZSTD_maxCLevel()) {
            throw sdk::Failure(PMIX_ERR_BAD_PARAM,
                               "pcompress_zstd_level must be from 1 to " + std::to_string(ZSTD_maxCLevel()));
        }
    }

    std::optional<sdk::Buffer> compress(std::span<const uint8_t> in) const {
        if (in.size() < min_size_ || in.size() > UINT32_MAX) return std::nullopt;
        const size_t bound = ZSTD_compressBound(in.size());
        sdk::Buffer out(host_, kLengthSize + bound);
        muster::store_le32(out.data(), static_cast<uint32_t>(in.size()));
        const size_t length = ZSTD_compress(out.data() + kLengthSize, bound, in.data(), in.size(), level_);
        if (ZSTD_isError(length) || kLengthSize + length >= in.size()) return std::nullopt;
        out.shrink(kLengthSize + length);
        return out;
    }

    sdk::Buffer decompress(std::span<const uint8_t> in, size_t limit) const {
        const auto [length, frame] = muster::open_block(in, limit, muster::kZstdMaxRatio, "zstd");
        // A frame of OpenPMIx contains its decompressed size.
        if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != length)
            throw muster::broken_block("zstd");
        sdk::Buffer out(host_, length);
        if (ZSTD_decompress(out.data(), length, frame.data(), frame.size()) != length)
            throw muster::broken_block("zstd");
        return out;
    }

  private:
    sdk::Host host_;
    int level_;
    size_t min_size_;
};

constexpr muster_param_t kParameters[] = {
    {"level", MUSTER_PARAM_INT, "3", nullptr, "How hard to try: 1 fastest, 19 and more smallest.", nullptr,
     nullptr},
    {"min_size", MUSTER_PARAM_SIZE, "4096", "bytes", "Smaller blocks are left as they are.", nullptr,
     nullptr},
};

}  // namespace

MUSTER_COMPONENT(pcompress, zstd) {
    static const muster_component_t descriptor =
        sdk::pcompress_component<Zstd>(muster::own_component("zstd", 40, kParameters));
    return &descriptor;
}
