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

    // Four bytes say that 128 KiB of contents are one repeated byte; nothing is shorter.
    static constexpr size_t kMaxRatio = 32768;

    static bool knows(std::string_view stream) { return stream.starts_with("\x28\xb5\x2f\xfd"); }

    static bool inflate(std::string_view stream, std::string& list) {
        const size_t length = ZSTD_decompress(list.data(), list.size(), stream.data(), stream.size());
        if (ZSTD_isError(length) != 0) return false;
        list.resize(length);
        return true;
    }

    static pmix_status_t wrap(std::string_view, std::string&) { return PMIX_ERR_NOT_SUPPORTED; }
};

constexpr muster_param_t kParameters[] = {kMaxEntries, kMaxSize};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, zstd) {
    static const muster_component_t descriptor = muster::preg::form_component<muster::preg::ZstdForm>(
        muster::own_component("zstd", 35, muster::preg::kParameters));
    return &descriptor;
}
