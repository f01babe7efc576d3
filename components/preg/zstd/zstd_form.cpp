// SPDX-License-Identifier: BSD-3-Clause
// preg/zstd: long lists that OpenPMIx 7.0 has compressed by zstd. They are read only: older versions of
// OpenPMIx do not know them.
#include <zstd.h>

#include "framework/preg/blob.hpp"

namespace muster::preg {
namespace {

class ZstdForm : public BlobForm<ZstdForm> {
  public:
    using BlobForm::BlobForm;

    static constexpr const char* kLibrary = "zstd";
    static constexpr size_t kMaxRatio = kZstdMaxRatio;

    static bool knows(std::span<const uint8_t> stream) { return is_zstd(stream); }

    static bool inflate(std::span<const uint8_t> stream, std::string& list) {
        const size_t length = ZSTD_decompress(list.data(), list.size(), stream.data(), stream.size());
        if (ZSTD_isError(length) != 0) return false;
        list.resize(length);
        return true;
    }
};

constexpr muster_param_t kParameters[] = {kMaxEntries, kMaxSize};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, zstd) {
    static const muster_component_t descriptor = muster::preg::form_component<muster::preg::ZstdForm>(
        muster::own_component("zstd", 35, muster::preg::kParameters));
    return &descriptor;
}
