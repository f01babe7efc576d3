// SPDX-License-Identifier: BSD-3-Clause
// Locks that clang's thread-safety analysis understands: a member says by MUSTER_GUARDED_BY which lock guards
// it, a function by MUSTER_REQUIRES which one its caller holds. The tidy stage of ./check reports each access
// without it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "framework/base/shared_lock.hpp"
#include "framework/base/thread_safety.hpp"

namespace muster {

class MUSTER_CAPABILITY("mutex") Mutex {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;
    void lock() MUSTER_ACQUIRE() { mutex_.lock(); }
    void unlock() MUSTER_RELEASE() { mutex_.unlock(); }
    bool try_lock() MUSTER_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

  private:
    friend class MutexLock;
    std::mutex mutex_;
};

/// Holds a mutex, and waits with it for a condition.
class MUSTER_SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) MUSTER_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
    ~MutexLock() MUSTER_RELEASE() {}  // NOLINT(modernize-use-equals-default): carries the annotation
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void wait(std::condition_variable& changed) { changed.wait(lock_); }
    /// False when the time limit expires.
    template <class Clock, class Duration>
    bool wait_until(std::condition_variable& changed, const std::chrono::time_point<Clock, Duration>& limit) {
        return changed.wait_until(lock_, limit) == std::cv_status::no_timeout;
    }

  private:
    std::unique_lock<std::mutex> lock_;
};

/// Holds a SharedLock for a writer.
class MUSTER_SCOPED_CAPABILITY WriteLock {
  public:
    explicit WriteLock(SharedLock& lock) MUSTER_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
    ~WriteLock() MUSTER_RELEASE() { lock_.unlock(); }
    WriteLock(const WriteLock&) = delete;
    WriteLock& operator=(const WriteLock&) = delete;

  private:
    SharedLock& lock_;
};

/// Holds a SharedLock for a reader.
class MUSTER_SCOPED_CAPABILITY ReadLock {
  public:
    explicit ReadLock(SharedLock& lock) MUSTER_ACQUIRE_SHARED(lock) : lock_(lock) { lock_.lock_shared(); }
    ~ReadLock() MUSTER_RELEASE() { lock_.unlock_shared(); }
    ReadLock(const ReadLock&) = delete;
    ReadLock& operator=(const ReadLock&) = delete;

  private:
    SharedLock& lock_;
};

}  // namespace muster
