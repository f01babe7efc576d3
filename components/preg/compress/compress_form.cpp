// SPDX-License-Identifier: BSD-3-Clause
// preg/compress: long lists as streams of zlib, in the form that OpenPMIx writes, and reads from 6.1 on.
#include "framework/base/zlib_stream.hpp"
#include "framework/preg/blob.hpp"

namespace muster::preg {
namespace {

class CompressForm : public BlobForm<CompressForm> {
  public:
    explicit CompressForm(sdk::Host host)
        : BlobForm(host),
          generates_(host.boolean("generate")),
          min_size_(number("min_size", kDefaultMinSize)) {}

    static constexpr size_t kDefaultMinSize = 512;
    static constexpr const char* kLibrary = "zlib";
    static constexpr size_t kMaxRatio = kZlibMaxRatio;

    /// A broken stream counts as zlib's, so that its error is reported.
    static bool knows(std::span<const uint8_t> stream) { return !is_zstd(stream); }

    static bool inflate(std::span<const uint8_t> stream, std::string& list) {
        const auto read = read_zlib(stream, {reinterpret_cast<uint8_t*>(list.data()), list.size()});
        if (read) list.resize(read->produced);
        return read.has_value();
    }

    bool wanted() const { return generates_; }
    pmix_status_t wrap(std::string_view list, const Output& out) const {
        if (list.size() < min_size_ || list.size() > max_size() || list.size() > UINT32_MAX)
            return PMIX_ERR_NOT_SUPPORTED;
        std::string stream(list.size(), '\0');
        const size_t size =
            write_zlib({reinterpret_cast<const uint8_t*>(list.data()), list.size()},
                       {reinterpret_cast<uint8_t*>(stream.data()), stream.size()}, kFastestLevel);
        if (size == 0) return PMIX_ERR_NOT_SUPPORTED;
        uint8_t length[kBlockLengthSize];
        store_le32(length, static_cast<uint32_t>(list.size()));
        return out.write({blob_head(sizeof length + size),
                          {reinterpret_cast<const char*>(length), sizeof length},
                          {stream.data(), size}});
    }

  private:
    bool generates_;
    size_t min_size_;
};

constexpr muster_param_t kParameters[] = {
    kMaxEntries,
    {"generate", MUSTER_PARAM_BOOL, "false", nullptr,
     "Compress long lists of nodes and ranks: all servers are of Muster, or of OpenPMIx 6.1 and newer.",
     nullptr, nullptr},
    kMaxSize,
    {"min_size", MUSTER_PARAM_UNSIGNED, "512", "bytes", "Shorter lists are left to the other components.",
     nullptr, nullptr},
};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, compress) {
    static const muster_component_t descriptor = muster::preg::form_component<muster::preg::CompressForm>(
        muster::own_component("compress", 40, muster::preg::kParameters));
    return &descriptor;
}
