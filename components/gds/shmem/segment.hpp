// SPDX-License-Identifier: BSD-3-Clause
// The memory of a segment: made and grown by the server, mapped read-only by clients. A client trusts no byte
// of it, and none of its pages can be removed (docs/explanation/store.md).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/bytes.hpp"
#include "framework/base/descriptor_claim.hpp"
#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster::gds::shmem {

class Segment {
  public:
    /// The server's, empty. `limit`: its maximum size in bytes; that much address space is reserved, and
    /// memory only by grow(). `name` is its name in the system.
    static Result<std::unique_ptr<Segment>> create(uint64_t limit, const std::string& name);
    /// A client's, from a descriptor that a server gave. Refused where it could shrink or lose pages, where
    /// others could write to it, or where it belongs to another user than `owner`.
    static Result<std::unique_ptr<Segment>> attach(UniqueFd fd, std::optional<uid_t> owner);
    /// Bytes of this process, for reading; they outlive the segment, and a zero byte follows them.
    static std::unique_ptr<Segment> over(ByteView bytes);

    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    /// Passed to clients, which cannot write through it.
    int descriptor() const { return shared_fd_ ? shared_fd_.get() : fd_.get(); }
    uint64_t limit() const { return limit_; }
    /// Bytes that have memory.
    uint64_t reached() const { return reached_.load(std::memory_order_relaxed); }

    /// Server: allocates memory for everything up to `end`. The error names the exhausted resource.
    Result<void> grow(uint64_t end);
    uint8_t* base() { return base_; }

    /// `length` bytes from `offset` on, or null if they are not all there. Any thread.
    const uint8_t* at(uint64_t offset, uint64_t length) const {
        if (offset > limit_ || length > limit_ - offset) return nullptr;
        if (offset + length > reached() && !reach(offset + length)) return nullptr;
        return base_ + offset;
    }
    /// The same for an object, or an array.
    template <class T>
    const T* at(uint64_t offset, uint64_t count = 1) const {
        if (offset == 0 || offset % alignof(T) != 0 || count > limit_ / sizeof(T)) return nullptr;
        return reinterpret_cast<const T*>(at(offset, count * sizeof(T)));
    }

  private:
    Segment() = default;
    bool reach(uint64_t end) const;

    UniqueFd fd_;
    DescriptorClaim claim_;  ///< to it, of a client, which may be a program that closes unknown descriptors
    UniqueFd shared_fd_;
    uint8_t* base_ = nullptr;
    uint64_t limit_ = 0;
    uint64_t mapped_ = 0;  ///< 0: the memory is not ours
    mutable std::atomic<uint64_t> reached_{0};
};

}  // namespace muster::gds::shmem
