// SPDX-License-Identifier: BSD-3-Clause
// preg/compress: long lists compressed by zlib, in the form that OpenPMIx writes, and reads from 6.1 on:
// "blob:" NUL "component=zlib:" NUL "size=N:" NUL and N bytes, which are the list's length (four bytes, least
// significant first) and a zlib stream.
#include <zlib.h>

#include "framework/base/endian.hpp"
#include "framework/preg/form.hpp"
#include "framework/preg/number.hpp"

namespace muster::preg {
namespace {

constexpr size_t kLengthSize = 4;

/// Takes text off the front up to and with its NUL; a colon at its end does not count.
bool take_string(std::string_view& bytes, std::string_view& text) {
    const size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return false;
    text = bytes.substr(0, end);
    if (text.ends_with(':')) text.remove_suffix(1);
    bytes.remove_prefix(end + 1);
    return true;
}

class CompressForm : public ListForm<CompressForm> {
  public:
    explicit CompressForm(sdk::Host host)
        : ListForm(host),
          generates_(host.boolean("generate")),
          max_size_(number("max_size", kDefaultMaxSize)),
          min_size_(number("min_size", kDefaultMinSize)) {}

    static constexpr size_t kDefaultMaxSize = size_t{256} << 20;
    static constexpr size_t kDefaultMinSize = 512;

    pmix_status_t wrap(std::string_view list, std::string& out) const {
        if (!generates_ || list.size() < min_size_ || list.size() > max_size_ || list.size() > UINT32_MAX) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        uLongf size = compressBound(static_cast<uLong>(list.size()));
        std::string stream(size, '\0');
        if (compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                      reinterpret_cast<const Bytef*>(list.data()), static_cast<uLong>(list.size()),
                      Z_BEST_SPEED) != Z_OK) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        using namespace std::string_view_literals;
        out = "blob:\0component=zlib:\0size="sv;
        append_number(out, kLengthSize + size);
        out += ":\0"sv;
        uint8_t length[kLengthSize];
        store_le32(length, static_cast<uint32_t>(list.size()));
        out.append(reinterpret_cast<const char*>(length), sizeof length);
        out.append(stream, 0, size);
        return PMIX_SUCCESS;
    }

    pmix_status_t unwrap(std::string_view& bytes, std::string& list) const {
        std::string_view tag, component, size_text;
        if (!bytes.starts_with("blob") || !take_string(bytes, tag) || tag != "blob")
            return PMIX_ERR_NOT_SUPPORTED;
        if (!take_string(bytes, component)) return PMIX_ERR_BAD_PARAM;
        if (component != "component=zlib") return PMIX_ERR_NOT_SUPPORTED;
        if (!take_string(bytes, size_text)) return PMIX_ERR_BAD_PARAM;
        if (!size_text.starts_with("size=") && !size_text.starts_with("size:")) return PMIX_ERR_BAD_PARAM;
        size_text.remove_prefix(5);
        const std::string_view digits = take_digits(size_text);
        if (digits.empty() || digits.size() > kMaxDigits || !size_text.empty()) return PMIX_ERR_BAD_PARAM;
        const uint64_t size = value_of(digits);
        if (size < kLengthSize || size > bytes.size()) return PMIX_ERR_BAD_PARAM;

        const size_t length = load_le32(reinterpret_cast<const uint8_t*>(bytes.data()));
        if (length > max_size_) return PMIX_ERR_OUT_OF_RESOURCE;
        // zlib cannot expand to more than about 1032 times; a length past that is a lie, found before
        // allocating.
        if (length / 1040 > size) return PMIX_ERR_BAD_PARAM;
        list.resize(length);
        uLongf expanded = static_cast<uLongf>(length);
        if (uncompress(reinterpret_cast<Bytef*>(list.data()), &expanded,
                       reinterpret_cast<const Bytef*>(bytes.data()) + kLengthSize,
                       static_cast<uLong>(size - kLengthSize)) != Z_OK) {
            return PMIX_ERR_BAD_PARAM;
        }
        list.resize(expanded);
        while (!list.empty() && list.back() == '\0')
            list.pop_back();
        bytes = list;
        return list.find('\0') == std::string::npos ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }

  private:
    bool generates_;
    size_t max_size_;
    size_t min_size_;
};

constexpr muster_param_t kParameters[] = {
    kMaxEntries,
    {"generate", MUSTER_PARAM_BOOL, "false", nullptr,
     "Compress long lists of nodes and ranks, for hosts whose servers are all of Muster or of OpenPMIx 6.1 "
     "and "
     "newer.",
     nullptr, nullptr},
    {"max_size", MUSTER_PARAM_UNSIGNED, "268435456", "bytes",
     "Longest list, in its plain form, that is compressed or expanded.", nullptr, nullptr},
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
