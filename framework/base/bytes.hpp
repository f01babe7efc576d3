// SPDX-License-Identifier: BSD-3-Clause
// Byte sequences: a view, a bounds-checked reader over hostile input, and a growing writer whose storage
// can be handed to C callers (malloc).
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace muster {

using ByteView = std::span<const uint8_t>;

/// An owned, growing sequence of bytes in malloc storage. Move-only.
/// Throws std::bad_alloc when memory is short; the C boundary turns that into PMIX_ERR_NOMEM.
class Bytes {
  public:
    Bytes() = default;
    explicit Bytes(ByteView from) { append(from); }
    Bytes(Bytes&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Bytes& operator=(Bytes&& other) noexcept {
        if (this != &other) {
            std::free(data_);
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
            capacity_ = std::exchange(other.capacity_, 0);
        }
        return *this;
    }
    ~Bytes() { std::free(data_); }

    /// Takes over a malloc block of `size` bytes.
    static Bytes adopt(void* block, size_t size) { return adopt(block, size, size); }
    /// Takes over a malloc block of `capacity` bytes, `size` of which are in use.
    static Bytes adopt(void* block, size_t size, size_t capacity) {
        Bytes bytes;
        bytes.data_ = static_cast<uint8_t*>(block);
        bytes.size_ = size;
        bytes.capacity_ = capacity;
        return bytes;
    }
    /// Gives the malloc block away; the caller frees it. Empty: nullptr.
    uint8_t* release() {
        size_ = capacity_ = 0;
        return std::exchange(data_, nullptr);
    }

    uint8_t* data() { return data_; }
    const uint8_t* data() const { return data_; }
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
    ByteView view() const { return {data_, size_}; }
    void clear() { size_ = 0; }

    void reserve(size_t capacity) {
        if (capacity <= capacity_) return;
        void* grown = std::realloc(data_, capacity);
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<uint8_t*>(grown);
        capacity_ = capacity;
    }
    /// Room for `count` more bytes at the end, not initialised; size grows.
    uint8_t* extend(size_t count) {
        if (count > capacity_ - size_) {
            if (count > SIZE_MAX / 2 - size_) throw std::bad_alloc();
            const size_t wanted = size_ + count;
            reserve(wanted < 64 ? 64 : wanted + wanted / 2);
        }
        uint8_t* at = data_ + size_;
        size_ += count;
        return at;
    }
    void append(ByteView bytes) {
        if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
    }
    void append(const void* from, size_t count) { append({static_cast<const uint8_t*>(from), count}); }
    void push_back(uint8_t byte) { *extend(1) = byte; }
    void resize(size_t size) {
        if (size > size_) {
            const size_t more = size - size_;
            std::memset(extend(more), 0, more);
        }
        size_ = size;
    }

  private:
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

/// Reads forward through untrusted bytes. Every access is checked; a read past the end fails and consumes
/// nothing. Owns nothing: the bytes must outlive it.
class ByteReader {
  public:
    ByteReader() = default;
    explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

    size_t remaining() const { return bytes_.size() - at_; }
    size_t position() const { return at_; }
    bool at_end() const { return at_ == bytes_.size(); }

    bool read_byte(uint8_t& out) {
        if (at_end()) return false;
        out = bytes_[at_++];
        return true;
    }
    /// A view of the next `count` bytes.
    bool read(size_t count, ByteView& out) {
        if (count > remaining()) return false;
        out = bytes_.subspan(at_, count);
        at_ += count;
        return true;
    }
    ByteView rest() const { return bytes_.subspan(at_); }

    size_t size() const { return bytes_.size(); }
    /// The memory of decoded values beyond their bytes, as the decoder counts it, and its limit. All items of
    /// a message share it.
    size_t memory_taken() const { return memory_taken_; }
    size_t memory_limit() const { return memory_limit_; }
    void take_memory(size_t bytes) { memory_taken_ += bytes; }
    void limit_memory(size_t bytes) { memory_limit_ = bytes; }

  private:
    ByteView bytes_;
    size_t at_ = 0;
    size_t memory_taken_ = 0;
    size_t memory_limit_ = SIZE_MAX;
};

}  // namespace muster
