// SPDX-License-Identifier: BSD-3-Clause
// Arrays of pmix_info_t: a view of someone else's, and an owner that grows and can be given to C callers.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "framework/base/value.hpp"

namespace muster {

/// Deep copy into raw memory; dst is untouched on failure. The copy owns its value even where the original is
/// marked PMIX_INFO_PERSISTENT. Errors as value_copy.
pmix_status_t info_copy(pmix_info_t* dst, const pmix_info_t* src);

/// Frees the value unless it is borrowed (PMIX_INFO_PERSISTENT), and clears the rest.
void info_destruct(pmix_info_t* info);

/// The flags of an entry as its caller has set them. Bits that no version defines are uninitialised memory
/// (the Python module of OpenPMIx 4.2 sets none): all flags of such an entry are ignored.
inline pmix_info_directives_t flags_of(const pmix_info_t& info) {
    constexpr pmix_info_directives_t kDefined = PMIX_INFO_REQD | PMIX_INFO_ARRAY_END |
                                                PMIX_INFO_REQD_PROCESSED | PMIX_INFO_QUALIFIER |
                                                PMIX_INFO_PERSISTENT | PMIX_INFO_DIR_RESERVED;
    return (info.flags & ~kDefined) == 0 ? info.flags : 0;
}

/// An array that someone else owns.
struct InfoView {
    const pmix_info_t* data = nullptr;
    std::size_t size = 0;

    const pmix_info_t* begin() const { return data; }
    const pmix_info_t* end() const { return data + size; }
    bool empty() const { return size == 0; }
    const pmix_info_t& operator[](std::size_t i) const { return data[i]; }

    /// The first entry of the key, or null.
    const pmix_info_t* find(const char* key) const;
    /// The value of the first entry of the key, or null.
    const pmix_value_t* value(const char* key) const;
    bool has(const char* key) const { return find(key) != nullptr; }
    /// Whether the key exists and its value means true.
    bool is_true(const char* key) const;
    /// The text of a string entry, or null.
    const char* string(const char* key) const { return value_as_string(value(key)); }
    /// The number in an entry of any integer type, if the entry exists and fits.
    template <class T>
    std::optional<T> number(const char* key) const {
        return value_as_number<T>(value(key));
    }
    /// The process of a PMIX_PROC entry, or null.
    const pmix_proc_t* proc(const char* key) const;
    /// The elements of a PMIX_DATA_ARRAY entry of infos, as a view; empty if there are none.
    InfoView infos(const char* key) const;
};

/// The infos in a PMIX_DATA_ARRAY value; empty for anything else.
InfoView value_as_infos(const pmix_value_t* value);

/// Owner of a growing array of pmix_info_t in one malloc'ed block. Move-only. Adding throws std::bad_alloc.
class Info {
  public:
    Info() = default;
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    Info(Info&& other) noexcept { swap(other); }
    Info& operator=(Info&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Info() { clear(); }

    /// Takes over a malloc'ed array.
    static Info adopt(pmix_info_t* data, std::size_t size);
    /// Deep copy; nothing if an entry cannot be copied.
    static std::optional<Info> copy_of(const pmix_info_t* data, std::size_t size);
    static std::optional<Info> copy_of(InfoView view) { return copy_of(view.data, view.size); }

    /// Adds an entry: add(key, true), add(key, 3), add(key, "text"), add(key, proc), add(key,
    /// Value::rank(0)).
    void add(const char* key, Value value);
    template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Value>) void add(const char* key, const T& value) {
        add(key, Value::from(value));
    }
    /// Adds an entry of any type, from the address that value_load takes.
    pmix_status_t add(const char* key, const void* data, pmix_data_type_t type);
    /// Adds a deep copy of an entry.
    pmix_status_t add_copy(const pmix_info_t& info);
    /// Adds deep copies of a value under a key.
    pmix_status_t add_copy(const char* key, const pmix_value_t& value);
    pmix_status_t add_copies(InfoView infos);
    /// Takes over the memory of an entry, which is empty then.
    void add_move(pmix_info_t& info);
    void reserve(std::size_t capacity);

    const pmix_info_t* data() const { return data_; }
    pmix_info_t* data() { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const pmix_info_t* begin() const { return data_; }
    const pmix_info_t* end() const { return data_ + size_; }
    pmix_info_t& operator[](std::size_t i) { return data_[i]; }
    const pmix_info_t& operator[](std::size_t i) const { return data_[i]; }
    InfoView view() const { return {data_, size_}; }
    operator InfoView() const { return view(); }  // NOLINT(google-explicit-constructor)
    const pmix_info_t* find(const char* key) const { return view().find(key); }

    void clear();
    /// Gives the block away, null if it is empty; the caller frees it (PMIx_Info_free).
    std::pair<pmix_info_t*, std::size_t> release();
    /// Turns the entries into a data array value.
    Value to_value() &&;

  private:
    void swap(Info& other) noexcept;
    pmix_info_t* extend();

    pmix_info_t* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// Whether the entry has that key, without a call: for arrays of many thousands of entries. Reads at most the
/// length of the literal from its key.
template <std::size_t N>
bool info_is(const pmix_info_t& info, const char (&key)[N]) {
    static_assert(N <= sizeof info.key);
    return std::memcmp(info.key, key, N) == 0;
}

}  // namespace muster
