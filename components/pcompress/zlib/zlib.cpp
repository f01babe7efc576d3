// SPDX-License-Identifier: BSD-3-Clause
// pcompress/zlib: the length of the contents (four bytes, least significant first) and a zlib stream.
#include <pmix/sdk/component.hpp>

#include "framework/base/compressed_block.hpp"
#include "framework/base/own_component.hpp"
#include "framework/base/zlib_stream.hpp"

namespace {

namespace sdk = muster::sdk;

constexpr size_t kLengthSize = muster::kBlockLengthSize;

class Zlib {
  public:
    explicit Zlib(sdk::Host host)
        : host_(host),
          level_(static_cast<int>(host.integer("level"))),
          min_size_(static_cast<size_t>(host.integer("min_size"))) {
        if (level_ == -1) level_ = muster::kUsualLevel;
        if (level_ < muster::kFastestLevel || level_ > muster::kSmallestLevel) {
            throw sdk::Failure(PMIX_ERR_BAD_PARAM, "pcompress_zlib_level must be from 1 to 12, or -1");
        }
    }

    std::optional<sdk::Buffer> compress(std::span<const uint8_t> in) const {
        if (in.size() < min_size_ || in.size() <= kLengthSize || in.size() > UINT32_MAX) return std::nullopt;
        // Space for a result smaller than the input.
        const size_t room = in.size() - kLengthSize - 1;
        sdk::Buffer out(host_, kLengthSize + room);
        muster::store_le32(out.data(), static_cast<uint32_t>(in.size()));
        const size_t length = muster::write_zlib(in, {out.data() + kLengthSize, room}, level_);
        if (length == 0) return std::nullopt;
        out.shrink(kLengthSize + length);
        return out;
    }

    sdk::Buffer decompress(std::span<const uint8_t> in, size_t limit) const {
        const auto [length, stream] = muster::open_block(in, limit, muster::kZlibMaxRatio, "zlib");
        // One byte more than is claimed, so that a longer stream is found out.
        sdk::Buffer out(host_, length + 1);
        const auto read = muster::read_zlib(stream, {out.data(), length + 1});
        // OpenPMIx counts the end of some strings and not of others, so the stream may be shorter.
        if (!read || read->produced > length) throw muster::broken_block("zlib");
        out.shrink(read->produced);
        return out;
    }

  private:
    sdk::Host host_;
    int level_;
    size_t min_size_;
};

constexpr muster_param_t kParameters[] = {
    {"level", MUSTER_PARAM_INT, "1", nullptr,
     "How hard to try, also in PMIx_Data_compress: 1 fastest, 12 smallest, -1 libdeflate's usual 6.", nullptr,
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
