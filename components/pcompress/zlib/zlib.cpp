// SPDX-License-Identifier: BSD-3-Clause
// pcompress/zlib: the length of the contents (four bytes, least significant first) and a zlib stream.
#include <zlib.h>

#include <pmix/sdk/component.hpp>

#include "framework/base/compressed_block.hpp"
#include "framework/base/own_component.hpp"

namespace {

namespace sdk = muster::sdk;

constexpr size_t kLengthSize = muster::kBlockLengthSize;

class Zlib {
  public:
    explicit Zlib(sdk::Host host)
        : host_(host),
          level_(static_cast<int>(host.integer("level"))),
          min_size_(static_cast<size_t>(host.integer("min_size"))) {
        if (level_ < -1 || level_ > 9) {
            throw sdk::Failure(PMIX_ERR_BAD_PARAM, "pcompress_zlib_level must be from -1 to 9");
        }
    }

    std::optional<sdk::Buffer> compress(std::span<const uint8_t> in) const {
        if (in.size() < min_size_ || in.size() > UINT32_MAX) return std::nullopt;
        uLongf length = compressBound(static_cast<uLong>(in.size()));
        sdk::Buffer out(host_, kLengthSize + length);
        muster::store_le32(out.data(), static_cast<uint32_t>(in.size()));
        const int status =
            compress2(out.data() + kLengthSize, &length, in.data(), static_cast<uLong>(in.size()), level_);
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        if (status != Z_OK || kLengthSize + length >= in.size()) return std::nullopt;
        out.shrink(kLengthSize + length);
        return out;
    }

    sdk::Buffer decompress(std::span<const uint8_t> in, size_t limit) const {
        const auto [length, stream] = muster::open_block(in, limit, muster::kZlibMaxRatio, "zlib");
        // One byte more than is claimed, so that a longer stream is found out.
        sdk::Buffer out(host_, length + 1);
        uLongf got = static_cast<uLongf>(length + 1);
        const int status = uncompress(out.data(), &got, stream.data(), static_cast<uLong>(stream.size()));
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        // OpenPMIx counts the end of some strings and not of others, so the stream may be shorter.
        if (status != Z_OK || got > length) throw muster::broken_block("zlib");
        out.shrink(got);
        return out;
    }

  private:
    sdk::Host host_;
    int level_;
    size_t min_size_;
};

constexpr muster_param_t kParameters[] = {
    {"level", MUSTER_PARAM_INT, "1", nullptr,
     "How hard to try, also in PMIx_Data_compress: 1 fastest, 9 smallest, -1 zlib's choice.", nullptr,
     nullptr},
    {"min_size", MUSTER_PARAM_SIZE, "4096", "bytes", "Smaller blocks are left as they are.", nullptr,
     "pcompress_base_limit"},
};

}  // namespace

MUSTER_COMPONENT(pcompress, zlib) {
    static const muster_component_t descriptor =
        sdk::pcompress_component<Zlib>(muster::own_component("zlib", 50, kParameters));
    return &descriptor;
}
