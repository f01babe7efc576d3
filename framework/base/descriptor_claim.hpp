// SPDX-License-Identifier: BSD-3-Clause
// A descriptor of the library in a program that may close unknown descriptors (closefrom(3), daemons) and
// reuse their numbers, and that may fork, where the child must not keep the descriptor.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <ctime>
#include <utility>

#include "framework/base/unique_fd.hpp"

struct stat;

namespace muster {

/// Tests whether a number still refers to the same file as when it was claimed. Owns nothing.
class DescriptorClaim {
  public:
    DescriptorClaim() = default;
    /// One system call. A descriptor that is not open is not claimed.
    explicit DescriptorClaim(int fd);
    /// The same with the result of an earlier fstat().
    DescriptorClaim(int fd, const struct stat& facts);
    DescriptorClaim(DescriptorClaim&& other) noexcept : claimed_(std::exchange(other.claimed_, {})) {}
    DescriptorClaim& operator=(DescriptorClaim&& other) noexcept {
        drop();
        claimed_ = std::exchange(other.claimed_, {});
        return *this;
    }
    ~DescriptorClaim() { drop(); }

    /// Whether there is one.
    explicit operator bool() const { return claimed_.fd >= 0; }
    /// Asks the kernel.
    bool holds() const;
    /// The same for frequent callers: at most one system call in 10 ms. Once false, it stays false.
    bool held_lately() {
        if (claimed_.lost) return false;
        const long now = milliseconds();
        if (now - claimed_.looked < kTrust) return true;
        claimed_.looked = now;
        claimed_.lost = !holds();
        return !claimed_.lost;
    }
    /// Closes the descriptor where it is still ours, else lets go of it.
    void close(UniqueFd& fd);

    /// While one of these lives, a descriptor is being made that is not claimed yet. A fork() waits for it,
    /// if not for long.
    class Making {
      public:
        Making();
        ~Making();
        Making(const Making&) = delete;
        Making& operator=(const Making&) = delete;
    };
    /// Before and after a fork(), in the process that makes it.
    static void before_fork();
    static void after_fork();
    /// In the child: closes the claimed descriptors. Safe there.
    static void close_all_in_child();

  private:
    /// A descriptor that a child of fork() must close.
    struct Entry {
        std::atomic<int> fd;
        dev_t device;
        ino_t inode;
    };
    static constexpr size_t kEntries = 64;  ///< more are not closed in children
    static constexpr long kTrust = 10;      ///< milliseconds
    static Entry entries_[kEntries];

    static long milliseconds() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        return now.tv_sec * 1000 + now.tv_nsec / 1000000;
    }
    void drop() {
        if (claimed_.entry != nullptr) claimed_.entry->fd.store(kFree, std::memory_order_release);
        claimed_ = {};
    }

    static constexpr int kFree = 0;  ///< standard input is never claimed; so the table needs no start value
    static constexpr int kTaken = -1;

    struct Claimed {
        int fd = -1;
        dev_t device = 0;
        ino_t inode = 0;
        long looked = 0;  ///< milliseconds()
        bool lost = false;
        Entry* entry = nullptr;
    };
    Claimed claimed_;
};

}  // namespace muster
