// SPDX-License-Identifier: BSD-3-Clause
// Locks that clang's thread-safety analysis understands: MUSTER_GUARDED_BY names the lock of a member,
// MUSTER_REQUIRES the lock that a function's caller holds. The tidy stage of ./check reports each access
// without it.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

// The annotations of the analysis; nothing for other compilers.
#if defined(__clang__)
#define MUSTER_THREAD_SAFETY(x) __attribute__((x))
#else
#define MUSTER_THREAD_SAFETY(x)
#endif

/// A class whose objects can be held.
#define MUSTER_CAPABILITY(name) MUSTER_THREAD_SAFETY(capability(name))
#define MUSTER_SCOPED_CAPABILITY MUSTER_THREAD_SAFETY(scoped_lockable)
/// A member that is used while this is held only.
#define MUSTER_GUARDED_BY(x) MUSTER_THREAD_SAFETY(guarded_by(x))
/// A function whose caller holds this.
#define MUSTER_REQUIRES(...) MUSTER_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// A function that takes this, gives it back, or tries to take it.
#define MUSTER_ACQUIRE(...) MUSTER_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define MUSTER_ACQUIRE_SHARED(...) MUSTER_THREAD_SAFETY(acquire_shared_capability(__VA_ARGS__))
#define MUSTER_RELEASE(...) MUSTER_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define MUSTER_RELEASE_SHARED(...) MUSTER_THREAD_SAFETY(release_shared_capability(__VA_ARGS__))
#define MUSTER_TRY_ACQUIRE(...) MUSTER_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
/// A function that checks at run time that this is held.
#define MUSTER_ASSERTS(x) MUSTER_THREAD_SAFETY(assert_capability(x))
/// A function that the analysis cannot follow; a comment there explains why it is correct.
#define MUSTER_NO_THREAD_SAFETY_ANALYSIS MUSTER_THREAD_SAFETY(no_thread_safety_analysis)

namespace muster {

/// For WriteLock and ReadLock: std::shared_mutex, but a waiting writer precedes new readers, so that readers
/// in a loop cannot starve it (as with glibc's default). Not recursive, not for reading either: a reader that
/// locks again while a writer waits would wait for itself.
class MUSTER_CAPABILITY("shared lock") SharedLock {
  public:
    SharedLock() {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&lock_, &attributes);
        pthread_rwlockattr_destroy(&attributes);
    }
    ~SharedLock() { pthread_rwlock_destroy(&lock_); }
    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;

    void lock() MUSTER_ACQUIRE() { checked(pthread_rwlock_wrlock(&lock_)); }
    void unlock() MUSTER_RELEASE() { pthread_rwlock_unlock(&lock_); }
    void lock_shared() MUSTER_ACQUIRE_SHARED() { checked(pthread_rwlock_rdlock(&lock_)); }
    void unlock_shared() MUSTER_RELEASE_SHARED() { pthread_rwlock_unlock(&lock_); }

  private:
    /// Only a mistake of ours (a lock taken twice) can fail.
    static void checked(int error) {
        if (error != 0) std::abort();
    }

    pthread_rwlock_t lock_;
};

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
