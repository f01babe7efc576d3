// SPDX-License-Identifier: BSD-3-Clause
// preg/compress: long lists compressed by zlib, in the form that OpenPMIx writes, and reads from 6.1 on.
#include <zlib.h>

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
        uLongf length = static_cast<uLongf>(list.size());
        if (uncompress(reinterpret_cast<Bytef*>(list.data()), &length, stream.data(),
                       static_cast<uLong>(stream.size())) != Z_OK)
            return false;
        list.resize(length);
        return true;
    }

    bool wanted() const { return generates_; }
    pmix_status_t wrap(std::string_view list, std::string& out) const {
        if (list.size() < min_size_ || list.size() > max_size() || list.size() > UINT32_MAX)
            return PMIX_ERR_NOT_SUPPORTED;
        uLongf size = compressBound(static_cast<uLong>(list.size()));
        std::string stream(size, '\0');
        if (compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                      reinterpret_cast<const Bytef*>(list.data()), static_cast<uLong>(list.size()),
                      Z_BEST_SPEED) != Z_OK)
            return PMIX_ERR_NOT_SUPPORTED;
        uint8_t length[kBlockLengthSize];
        store_le32(length, static_cast<uint32_t>(list.size()));
        out = blob_head(sizeof length + size);
        out.append(reinterpret_cast<const char*>(length), sizeof length);
        out.append(stream, 0, size);
        return PMIX_SUCCESS;
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
