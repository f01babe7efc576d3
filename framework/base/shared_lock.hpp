// SPDX-License-Identifier: BSD-3-Clause
// A lock for one rare writer and many readers: std::shared_mutex, but a waiting writer goes before new
// readers, so that readers in a loop cannot keep it out for ever (glibc's default lets them).
#pragma once

#include <pthread.h>

#include <cstdlib>

#include "framework/base/thread_safety.hpp"

namespace muster {

/// For WriteLock and ReadLock (mutex.hpp). Not recursive, not for reading either: a reader that locks
/// again while a writer waits would wait for itself.
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

}  // namespace muster
