// SPDX-License-Identifier: BSD-3-Clause
// Compressed lists as OpenPMIx writes them: "blob:" NUL "component=zlib:" NUL "size=N:" NUL and N bytes,
// which are the list's length (four bytes, least significant first) and the compressed list. The name is
// zlib's also if OpenPMIx 7.0 has compressed with zstd.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "framework/base/compressed_block.hpp"
#include "framework/preg/form.hpp"
#include "framework/preg/number.hpp"

namespace muster::preg {

inline constexpr std::string_view kBlobHead("blob:\0component=zlib:\0size=", 27);
inline constexpr size_t kBlobMaxSize = size_t{256} << 20;

inline constexpr muster_param_t kMaxSize = {
    "max_size",
    MUSTER_PARAM_UNSIGNED,
    "268435456",
    "bytes",
    "Longest list, in its plain form, that is compressed or expanded.",
    nullptr,
    nullptr};

/// Takes text off the front up to and with its NUL; a colon at its end does not count.
inline bool take_string(std::string_view& bytes, std::string_view& text) {
    const size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return false;
    text = bytes.substr(0, end);
    if (text.ends_with(':')) text.remove_suffix(1);
    bytes.remove_prefix(end + 1);
    return true;
}

/// Leaves the N bytes of a hostile blob.
/// @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if it is not a blob; PMIX_ERR_BAD_PARAM if it is malformed.
inline pmix_status_t open_blob(std::string_view& bytes) {
    std::string_view tag, component, size_text;
    if (!bytes.starts_with("blob") || !take_string(bytes, tag) || tag != "blob")
        return PMIX_ERR_NOT_SUPPORTED;
    if (!take_string(bytes, component)) return PMIX_ERR_BAD_PARAM;
    if (component != "component=zlib") return PMIX_ERR_NOT_SUPPORTED;
    if (!take_string(bytes, size_text)) return PMIX_ERR_BAD_PARAM;
    if (!size_text.starts_with("size=") && !size_text.starts_with("size:")) return PMIX_ERR_BAD_PARAM;
    size_text.remove_prefix(5);
    const std::optional<uint64_t> size = take_number(size_text);
    if (!size || !size_text.empty() || *size > bytes.size()) return PMIX_ERR_BAD_PARAM;
    bytes = bytes.substr(0, *size);
    return PMIX_SUCCESS;
}

/// Returns the header of a blob of `size` bytes.
inline std::string blob_head(size_t size) {
    std::string head(kBlobHead);
    append_number(head, size);
    return head.append(":\0", 2);
}

/// Whether zstd has made a stream, and not zlib.
inline bool is_zstd(std::span<const uint8_t> stream) {
    constexpr uint8_t kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return stream.size() >= sizeof kMagic && std::equal(std::begin(kMagic), std::end(kMagic), stream.begin());
}

/// A form that reads lists in blobs. Beside what ListForm wants, `Codec` has
///   static constexpr const char* kLibrary;
///   static constexpr size_t kMaxRatio;
/// the library's name, and how many times its size a stream expands to, at most;
///   static bool knows(std::span<const uint8_t> stream);
/// whether the stream is the library's; and
///   static bool inflate(std::span<const uint8_t> stream, std::string& list);
/// which fills `list`, as long as the blob says, and cuts it to the decoded length.
template <class Codec>
class BlobForm : public ListForm<Codec> {
  public:
    explicit BlobForm(sdk::Host host)
        : ListForm<Codec>(host), max_size_(this->number("max_size", kBlobMaxSize)) {}

    pmix_status_t unwrap(std::string_view& bytes, std::string& list) const {
        if (const pmix_status_t status = open_blob(bytes); status != PMIX_SUCCESS) return status;
        const std::span<const uint8_t> block(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
        if (block.size() < kBlockLengthSize) return PMIX_ERR_BAD_PARAM;
        if (!Codec::knows(block.subspan(kBlockLengthSize))) return PMIX_ERR_NOT_SUPPORTED;
        try {
            const CompressedBlock opened = open_block(block, max_size_, Codec::kMaxRatio, Codec::kLibrary);
            list.resize(opened.length);
            if (!Codec::inflate(opened.stream, list)) return PMIX_ERR_BAD_PARAM;
        } catch (const sdk::Failure& failure) {
            return failure.code() == PMIX_ERR_OUT_OF_RESOURCE ? failure.code() : PMIX_ERR_BAD_PARAM;
        }
        while (!list.empty() && list.back() == '\0')
            list.pop_back();
        bytes = list;
        return list.find('\0') == std::string::npos ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }

  protected:
    size_t max_size() const { return max_size_; }

  private:
    size_t max_size_;
};

}  // namespace muster::preg
