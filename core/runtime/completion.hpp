// SPDX-License-Identifier: BSD-3-Clause
// How a blocking call waits for the loop: decided here once, for processes with a progress thread of ours
// (which the waiting thread may stand in for), and for those whose host drives progress (then the waiting
// thread drives).
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <utility>

#include "core/runtime/runtime.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

/// A value that the loop will deliver once. Shared (std::shared_ptr) between the waiting call and the
/// callback: each finds it alive when the other one has gone.
template <class T>
class Completion {
  public:
    explicit Completion(Runtime& runtime) : runtime_(runtime) {}

    /// Any thread; the first delivery counts.
    void deliver(T value) {
        {
            const MutexLock lock(lock_);
            if (value_) return;
            value_ = std::move(value);
        }
        // Not under the lock, which the waiter would wake up to find taken.
        arrived_.notify_all();
        if (LoopCallers* callers = runtime_.callers()) callers->wake();
    }

    bool ready() {
        const MutexLock lock(lock_);
        return value_.has_value();
    }

    /// Waits for the value. Not on the loop's own thread.
    T wait() {
        if (runtime_.host_drives()) runtime_.callers()->run_until([this] { return ready(); });
        MutexLock lock(lock_);
        while (!value_)
            lock.wait(arrived_);
        return std::move(*value_);
    }

  private:
    Runtime& runtime_;
    Mutex lock_;
    std::condition_variable arrived_;
    std::optional<T> value_ MUSTER_GUARDED_BY(lock_);
};

/// Runs `start(deliver)` on the loop and waits for what it delivers. On the loop itself a wait would never
/// end, and neither would it on a loop that was stopped (PMIx_Progress_thread_stop): `refused` is returned at
/// once (PMIX_ERR_WOULD_BLOCK at the API).
template <class T, class Start>
T call_and_wait(Runtime& runtime, T refused, Start start) {
    EventLoop& loop = runtime.loop();
    if (loop.on_loop() || loop.stopped()) return refused;
    auto completion = std::make_shared<Completion<T>>(runtime);
    EventLoop::Task task = [completion, start = std::move(start)]() mutable {
        start([completion](T value) { completion->deliver(std::move(value)); });
    };
    LoopCallers* beside = runtime.host_drives() ? nullptr : runtime.callers();
    const auto ready = [&completion] { return completion->ready(); };
    if (beside == nullptr || !beside->run_borrowed(task, ready)) loop.post(std::move(task));
    return completion->wait();
}

}  // namespace muster
