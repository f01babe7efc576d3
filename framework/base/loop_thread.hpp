// SPDX-License-Identifier: BSD-3-Clause
// The driver of an event loop that is a thread of ours: for the loop alone, or between the callers that drive
// a shared loop, and then perhaps only once there is something to do for it.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <optional>

#include "framework/base/loop.hpp"
#include "framework/base/loop_mirror.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

class LoopThread : private EventLoop::Standby {
  public:
    enum class Beside { Nobody, Callers };  ///< further drivers of the loop (loop_callers.hpp)

    LoopThread(EventLoop& loop, Beside beside) : loop_(loop), shared_(beside == Beside::Callers) {}
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;
    /// Stops the thread.
    ~LoopThread() override;

    /// The thread runs only on these processors, if possible (can_bind_to()). Before start().
    void bind(const cpu_set_t& processors) { bound_to_ = processors; }
    /// Starts the thread under `name` (at most 15 characters are kept). With callers it starts only when
    /// there is work that no caller drives: a task that another thread posts, work that a caller leaves
    /// behind (tasks, timers, and descriptors that cannot wait), or EventLoop::need_driver(). bad_alloc.
    void start(const char* name);
    /// Ends the loop after the tasks already posted, joins the thread, and runs `last` (may be null) and the
    /// rest of a shared loop's tasks on the calling thread. Not on the loop.
    void stop(Task last = nullptr);
    /// While on, ready descriptors do not wake the thread, because a caller drives the loop. On the loop.
    void hold_back(bool on) const {
        if (gate_) gate_->open(!on);
    }

  private:
    bool begin() noexcept override;
    void run();
    void run_shared();
    void build_gate();
    void drop_gate();

    EventLoop& loop_;
    const bool shared_;
    std::optional<cpu_set_t> bound_to_;  // fixed before start
    Mutex lock_;
    bool started_ MUSTER_GUARDED_BY(lock_) = false;
    bool deferred_ MUSTER_GUARDED_BY(lock_) = false;  // started, but there is no thread yet
    std::optional<pthread_t> thread_ MUSTER_GUARDED_BY(lock_);
    char name_[16] = "";              // fixed before the thread
    std::optional<LoopMirror> gate_;  // where a shared loop's thread waits while it does not drive
};

}  // namespace muster
