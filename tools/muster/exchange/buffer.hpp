// SPDX-License-Identifier: BSD-3-Clause
// The body of a message between launcher and nodes: a pmix_data_buffer_t, packed and unpacked by the library.
// A struct travels when it names its members in `fields`: the same list packs and unpacks it.
#pragma once

#include <pmix.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::launcher {

/// A process of a job that this launcher started: the job's number (1 is the first) and the rank in it.
struct ProcId {
    uint32_t job = 0;
    uint32_t rank = 0;
    auto operator<=>(const ProcId&) const = default;
    static auto fields(auto& self) { return std::tie(self.job, self.rank); }
};

/// In a ProcId: all ranks of the job.
constexpr uint32_t kAllRanks = UINT32_MAX;

/// A process as PMIx names it; the rank may be PMIX_RANK_WILDCARD.
struct ProcName {
    std::string nspace;
    uint32_t rank = 0;
    auto operator<=>(const ProcName&) const = default;
};

/// A block of bytes that malloc() gave: large data that is unpacked and passed on without another copy.
class Bytes {
  public:
    Bytes() = default;
    Bytes(char* data, size_t size) : data_(data), size_(size) {}
    operator std::string_view() const { return {data_.get(), size_}; }
    size_t size() const { return size_; }
    /// The block, which is the caller's to free().
    char* release() { return data_.release(); }

  private:
    struct Free {
        void operator()(char* data) const { free(data); }
    };
    std::unique_ptr<char, Free> data_;
    size_t size_ = 0;
};

ProcName name_of(const pmix_proc_t& proc);
pmix_proc_t to_pmix(const ProcName& name);
std::vector<pmix_proc_t> to_pmix(const std::vector<ProcName>& names);

class Buffer {
  public:
    Buffer() = default;
    /// Holds a copy of `bytes`, to be unpacked.
    explicit Buffer(std::string_view bytes);
    /// Holds `bytes`, to be unpacked.
    explicit Buffer(Bytes bytes) noexcept;
    Buffer(const Buffer& other) : Buffer(other.rest()) { ok_ = other.ok_; }
    Buffer(Buffer&& other) noexcept : buffer_(std::exchange(other.buffer_, {})), ok_(other.ok_) {}
    Buffer& operator=(Buffer other) noexcept {
        std::swap(buffer_, other.buffer_);
        ok_ = other.ok_;
        return *this;
    }
    ~Buffer() { PMIx_Data_buffer_destruct(&buffer_); }

    /// Appends values: numbers, texts, bytes, names of processes, structs with `fields`, and optionals, pairs
    /// and ranges of these.
    template <typename... T>
    Buffer& pack(const T&... values) {
        (put(values), ...);
        return *this;
    }
    /// Appends `count` elements of a PMIx type, after their number.
    Buffer& pack_array(const void* elements, size_t count, pmix_data_type_t type);
    /// Reads values; false, from then on, if one of them is incomplete. The values must not be used then.
    template <typename... T>
    bool unpack(T&... values) {
        (get(values), ...);
        return ok_;
    }
    /// Reads up to `room` elements of a PMIx type; returns their number.
    size_t unpack_array(void* elements, size_t room, pmix_data_type_t type);
    /// False when something could not be packed or unpacked.
    bool ok() const { return ok_; }
    /// The bytes that are not unpacked; they live as long as the buffer is not changed.
    std::string_view rest() const;

  private:
    template <typename T>
    static constexpr pmix_data_type_t kType = std::is_signed_v<T>
                                                  ? (sizeof(T) == 8 ? PMIX_INT64 : PMIX_INT32)
                                                  : (sizeof(T) == 8 ? PMIX_UINT64 : PMIX_UINT32);

    template <typename T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char> || std::is_enum_v<T>) {
            put(static_cast<uint32_t>(value));
        } else if constexpr (std::is_integral_v<T>) {
            static_assert(sizeof(T) >= 4);
            put_item(&value, kType<T>);
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            put_text(value);
        } else if constexpr (std::is_same_v<T, ProcName>) {
            const pmix_proc_t proc = to_pmix(value);
            put_item(&proc, PMIX_PROC);
        } else if constexpr (requires { T::fields(value); }) {
            std::apply([this](const auto&... members) { this->pack(members...); }, T::fields(value));
        } else if constexpr (requires { value.has_value(); }) {
            put(value.has_value());
            if (value) put(*value);
        } else if constexpr (requires { value.first; }) {
            pack(value.first, value.second);
        } else {
            put(static_cast<uint32_t>(value.size()));
            for (const auto& element : value)
                put(element);
        }
    }

    template <typename T>
    void get(T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char> || std::is_enum_v<T>) {
            uint32_t number = 0;
            get(number);
            value = static_cast<T>(number);
        } else if constexpr (std::is_integral_v<T>) {
            get_item(&value, kType<T>);
        } else if constexpr (std::is_same_v<T, Bytes>) {
            value = get_bytes();
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = std::string_view(get_bytes());
        } else if constexpr (std::is_same_v<T, ProcName>) {
            pmix_proc_t proc{};
            get_item(&proc, PMIX_PROC);
            value = name_of(proc);
        } else if constexpr (requires { T::fields(value); }) {
            std::apply([this](auto&... members) { this->unpack(members...); }, T::fields(value));
        } else if constexpr (requires { value.has_value(); }) {
            bool there = false;
            get(there);
            // Not read into an emplaced value: gcc 14 and 16 warn of the optional's storage then.
            typename T::value_type read{};
            if (there) get(read);
            value = there ? std::make_optional(std::move(read)) : std::nullopt;
        } else if constexpr (requires { value.first; }) {
            unpack(value.first, value.second);
        } else {
            value.clear();
            for (uint32_t left = get_count(); left > 0 && ok_; --left) {
                typename T::value_type element{};
                get(element);
                if (ok_) value.insert(value.end(), std::move(element));
            }
        }
    }

    void put_item(const void* value, pmix_data_type_t type);
    void put_text(std::string_view text);
    void get_item(void* value, pmix_data_type_t type);
    Bytes get_bytes();
    /// A number of elements, each of which takes at least a byte.
    uint32_t get_count();

    pmix_data_buffer_t buffer_ = PMIX_DATA_BUFFER_STATIC_INIT;
    bool ok_ = true;
};

/// A buffer with these values.
template <typename... T>
Buffer pack(const T&... values) {
    return std::move(Buffer().pack(values...));
}

}  // namespace muster::launcher
