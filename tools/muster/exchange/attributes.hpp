// SPDX-License-Identifier: BSD-3-Clause
// The attributes of the C API: reading, building and packing them.
#pragma once

#include <pmix_common.h>

#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// Runs `work` of an upcall; no exception reaches the library.
template <typename Work>
pmix_status_t guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    } catch (...) {
        return PMIX_ERROR;
    }
}

std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count);

/// A number of any integer type that PMIx has; nothing for other types.
std::optional<int64_t> integer_of(const pmix_value_t& value);

/// A boolean attribute: true also where it has no value.
bool is_true(const pmix_info_t& info);

/// The text of a string value, "" for anything else.
std::string text_of(const pmix_value_t& value);
/// "" for null.
inline std::string text_of(const char* text) {
    return text != nullptr ? text : "";
}

/// The processes of a value that holds one or an array of them; none for anything else.
std::vector<ProcName> procs_of(const pmix_value_t& value);

/// Whether the attribute is one of these.
bool is_any_of(const pmix_info_t& info, std::initializer_list<const char*> keys);

/// Attributes with another owner.
class Infos {
  public:
    Infos() = default;
    Infos(const pmix_info_t* data, size_t size) : data_(data), size_(data != nullptr ? size : 0) {}

    /// The array that a value holds; nothing for any other value.
    static std::optional<Infos> of(const pmix_value_t& value);

    const pmix_info_t* begin() const { return data_; }
    const pmix_info_t* end() const { return data_ + size_; }
    size_t size() const { return size_; }
    const pmix_info_t& operator[](size_t i) const { return data_[i]; }

    /// The attribute of that key, or null.
    const pmix_info_t* find(const char* key) const;
    /// Whether the attribute is present and true.
    bool is_true(const char* key) const;
    /// As the functions for values; of an attribute that is not there: nothing, "", no processes.
    std::optional<int64_t> integer(const char* key) const;
    std::string text(const char* key) const;
    std::vector<ProcName> procs(const char* key) const;
    /// PMIX_TIMEOUT in seconds, 0 if there is none; nothing if it is not a valid number.
    std::optional<uint32_t> timeout() const;

  private:
    const pmix_info_t* data_ = nullptr;
    size_t size_ = 0;
};

/// An info array under construction; frees its contents.
class InfoList {
  public:
    InfoList() = default;
    InfoList(InfoList&&) = default;
    InfoList(const InfoList&) = delete;
    InfoList& operator=(const InfoList&) = delete;
    ~InfoList();

    InfoList& text(const char* key, const std::string& value) { return add(key, value.c_str(), PMIX_STRING); }
    InfoList& u16(const char* key, uint32_t value);
    InfoList& u32(const char* key, uint32_t value) { return add(key, &value, PMIX_UINT32); }
    InfoList& rank(const char* key, uint32_t value) { return add(key, &value, PMIX_PROC_RANK); }
    InfoList& u64(const char* key, uint64_t value) { return add(key, &value, PMIX_UINT64); }
    InfoList& flag(const char* key, bool value) { return add(key, &value, PMIX_BOOL); }
    InfoList& add(const char* key, const void* value, pmix_data_type_t type);
    InfoList& array(const char* key, const InfoList& elements);
    InfoList& array(const char* key, const void* elements, size_t count, pmix_data_type_t type);
    InfoList& proc(const char* key, const ProcName& name);
    InfoList& procs(const char* key, const std::vector<ProcName>& names);
    InfoList& copy(const pmix_info_t& info);
    InfoList& copy(const Infos& infos);

    pmix_info_t* data() { return list_.data(); }
    size_t size() const { return list_.size(); }
    operator Infos() const { return {list_.data(), list_.size()}; }

  private:
    std::vector<pmix_info_t> list_;
};

/// PMIx elements in packed form, for another node's library.
std::string packed(const void* elements, size_t count, pmix_data_type_t type);

/// Attributes that were read from such bytes; frees them.
class UnpackedInfo {
  public:
    explicit UnpackedInfo(std::string_view bytes);
    ~UnpackedInfo();
    UnpackedInfo(const UnpackedInfo&) = delete;
    UnpackedInfo& operator=(const UnpackedInfo&) = delete;
    bool ok() const { return ok_; }
    pmix_info_t* data() { return data_; }
    size_t size() const { return size_; }
    operator Infos() const { return {data_, size_}; }

  private:
    pmix_info_t* data_ = nullptr;
    size_t size_ = 0;
    bool ok_ = false;
};

}  // namespace muster::launcher
