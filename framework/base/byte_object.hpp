// SPDX-License-Identifier: BSD-3-Clause
// Owner of one pmix_byte_object_t.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace muster {

/// Move-only; the bytes are one malloc'ed block.
class ByteObject {
  public:
    ByteObject() = default;
    ByteObject(const ByteObject&) = delete;
    ByteObject& operator=(const ByteObject&) = delete;
    ByteObject(ByteObject&& other) noexcept : object_(other.release()) {}
    ByteObject& operator=(ByteObject&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~ByteObject() { free(object_.bytes); }

    /// Takes over a malloc'ed block.
    static ByteObject adopt(pmix_byte_object_t object) {
        ByteObject owner;
        owner.object_ = object;
        return owner;
    }
    /// Copies; throws std::bad_alloc.
    static ByteObject copy_of(const void* bytes, std::size_t size) {
        ByteObject owner;
        if (size == 0) return owner;
        owner.object_.bytes = static_cast<char*>(malloc(size));
        if (owner.object_.bytes == nullptr) throw std::bad_alloc();
        std::memcpy(owner.object_.bytes, bytes, size);
        owner.object_.size = size;
        return owner;
    }

    const char* data() const { return object_.bytes; }
    std::size_t size() const { return object_.size; }
    bool empty() const { return object_.size == 0; }
    const pmix_byte_object_t* get() const { return &object_; }
    pmix_byte_object_t* get() { return &object_; }

    /// Gives the block away and is empty then.
    pmix_byte_object_t release() noexcept { return std::exchange(object_, pmix_byte_object_t{}); }

  private:
    pmix_byte_object_t object_ = {};
};

}  // namespace muster
