// SPDX-License-Identifier: BSD-3-Clause
// Encoding and decoding of lists: see regex2.hpp.
#include "framework/preg/regex2.hpp"

#include <cstring>
#include <new>
#include <string>

#include "framework/preg/blob.hpp"

namespace muster {
namespace {

constexpr char kRaw[] = "raw";
constexpr char kCompress[] = "compress";

/// The name may be followed by a colon and more.
std::string_view type_of(const pmix_regex2_t& regex) {
    const std::string_view type = regex.type;
    return type.substr(0, type.find(':'));
}

bool is_compressed(const pmix_regex2_t& regex) {
    return regex.type != nullptr && regex.bytes != nullptr && regex.len > 0 && type_of(regex) == kCompress;
}

}  // namespace

Result<pmix_regex2_t> generate_regex2(std::string_view list) {
    Bytes bytes;
    bytes.append(list.data(), list.size());
    bytes.push_back(0);
    pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
    regex.type = strdup(kRaw);
    if (regex.type == nullptr) throw std::bad_alloc();
    regex.len = bytes.size();
    regex.bytes = bytes.release();
    return regex;
}

Result<std::string> regex2_as_map(const pmix_regex2_t& regex) {
    if (!is_compressed(regex)) return parse_regex2(regex, nullptr);
    return preg::blob_head(regex.len).append(reinterpret_cast<const char*>(regex.bytes), regex.len);
}

Result<std::string> parse_regex2(const pmix_regex2_t& regex, Decompress decompress) {
    if (regex.type == nullptr || regex.bytes == nullptr || regex.len == 0)
        return Error{PMIX_ERR_BAD_PARAM, "the encoded list is empty"};
    const std::string_view type = type_of(regex);
    std::string list;
    if (type == kRaw) {
        list.assign(reinterpret_cast<const char*>(regex.bytes), regex.len);
    } else if (type == kCompress) {
        const std::optional<Bytes> plain = decompress({regex.bytes, regex.len}, preg::kBlobMaxSize);
        if (!plain) return Error{PMIX_ERR_BAD_PARAM, "the compressed list cannot be read"};
        list.assign(reinterpret_cast<const char*>(plain->data()), plain->size());
    } else {
        return Error{PMIX_ERR_NOT_SUPPORTED, "unknown encoding '" + std::string(type) + "' of a list"};
    }
    if (!list.empty() && list.back() == '\0') list.pop_back();
    if (list.find('\0') != std::string::npos) return Error{PMIX_ERR_BAD_PARAM, "the encoded list is no text"};
    return list;
}

}  // namespace muster
