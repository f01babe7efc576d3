// SPDX-License-Identifier: BSD-3-Clause
// Our thread as the driver of a loop: see loop_thread.hpp.
#include "framework/base/loop_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "framework/base/waiter.hpp"

namespace muster {

LoopThread::~LoopThread() {
    stop();
    drop_gate();
}

void LoopThread::start(const char* name) {
    {
        const MutexLock lock(lock_);
        if (started_) return;
        std::strncpy(name_, name, sizeof name_ - 1);
        started_ = deferred_ = true;
        loop_.set_standby(this);
        loop_.stop(false);
    }
    if ((!shared_ || loop_.needs_driver()) && !begin()) throw std::bad_alloc();
    if (!loop_.has_standby()) return;
    // Something may be left from before.
    loop_.wait_to_take();
    loop_.give();
}

/// Not a std::thread: malloc makes no arena for a thread that neither allocates nor frees.
bool LoopThread::begin() noexcept {
    const MutexLock lock(lock_);
    if (!deferred_) return true;
    pthread_t thread{};
    const auto body = [](void* self) -> void* {
        static_cast<LoopThread*>(self)->run();
        return nullptr;
    };
    int error = EAGAIN;
    pthread_attr_t attributes;
    if (bound_to_ && pthread_attr_init(&attributes) == 0) {
        error = pthread_attr_setaffinity_np(&attributes, sizeof *bound_to_, &*bound_to_);
        if (error == 0) error = pthread_create(&thread, &attributes, body, this);
        pthread_attr_destroy(&attributes);
    }
    // A thread that cannot be bound is better than none.
    if (error != 0) error = pthread_create(&thread, nullptr, body, this);
    if (error != 0) {
        errno = error;
        return false;
    }
    thread_ = thread;
    deferred_ = false;
    loop_.set_standby(nullptr);
    return true;
}

void LoopThread::stop(Task last) {
    std::optional<pthread_t> thread;
    {
        const MutexLock lock(lock_);
        if (!started_) return;
        started_ = deferred_ = false;
        loop_.set_standby(nullptr);
        loop_.stop(true);
        thread = std::exchange(thread_, std::nullopt);
    }
    loop_.wake();
    if (thread) pthread_join(*thread, nullptr);
    // Here, as it needs no memory.
    loop_.wait_to_take();
    loop_.run_posted();
    if (last) loop_.run(last);
    loop_.give();
}

void LoopThread::run() {
    pthread_setname_np(pthread_self(), name_);
    if (shared_) return run_shared();
    loop_.wait_to_take();
    while (!loop_.stopped())
        loop_.wait_turn();
    loop_.run_posted();
    loop_.give();
}

/// Processes events while no caller drives; stop() processes the rest at the end. Without descriptors for a
/// gate the thread keeps the loop for itself.
void LoopThread::run_shared() {
    std::chrono::seconds silence = kFirstSilence;
    loop_.wait_to_take();
    if (!gate_) build_gate();
    while (!loop_.stopped()) {
        if (!gate_) {
            loop_.wait_turn();
            continue;
        }
        loop_.give();
        const bool came = gate_->wait(silence);
        if (loop_.stopped()) return;
        silence = came ? kFirstSilence : std::min(2 * silence, kLongestSilence);
        loop_.wait_to_take();
        if (!came) {
            // The program may have closed the loop's descriptors: a wait for them would never end.
            loop_.look();
            if (!gate_->holds(loop_.wake_fd())) build_gate();
        }
        loop_.turn(false);
    }
    loop_.give();
}

void LoopThread::build_gate() {
    drop_gate();
    if (!gate_.emplace(true).ok()) return gate_.reset();
    loop_.show_in(&*gate_);
}

/// Closes only descriptors that certainly belong to the library.
void LoopThread::drop_gate() {
    if (!gate_) return;
    if (!gate_->holds(loop_.wake_fd())) gate_->abandon();
    loop_.show_in(nullptr);
    gate_.reset();
}

}  // namespace muster
