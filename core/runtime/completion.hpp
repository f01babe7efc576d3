// SPDX-License-Identifier: BSD-3-Clause
// Exactly one answer of each call, even if the task that should answer is lost. A blocking call
// waits for the loop: that is decided here once, for processes with a progress thread (the waiting thread may
// drive in its place), and for those whose host drives progress (then the waiting thread drives).
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/runtime/runtime.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

/// The answer to a call whose task was lost for lack of memory.
template <class T>
T lost_answer() {
    if constexpr (requires(T answer) { answer.status = PMIX_ERR_NOMEM; }) {
        T answer{};
        answer.status = PMIX_ERR_NOMEM;
        return answer;
    } else if constexpr (std::is_same_v<T, bool>) {
        return false;
    } else {
        static_assert(std::is_same_v<T, pmix_status_t>);
        return PMIX_ERR_NOMEM;
    }
}

/// A value that the loop delivers once. Lives while the call waits, or something may still deliver.
template <class T>
class Completion {
  public:
    /// Delivers; passed to the answering code. If the last copy is destroyed and nothing was delivered, the
    /// call gets lost_answer().
    class Deliver {
      public:
        explicit Deliver(std::shared_ptr<Completion> to) : to_(to.get()) { to_->self_ = std::move(to); }
        Deliver(const Deliver& other) : to_(other.to_) {
            if (to_ != nullptr) to_->deliverers_.fetch_add(1, std::memory_order_relaxed);
        }
        Deliver(Deliver&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
        Deliver& operator=(const Deliver&) = delete;
        Deliver& operator=(Deliver&&) = delete;
        ~Deliver() {
            if (to_ != nullptr && to_->deliverers_.fetch_sub(1, std::memory_order_acq_rel) == 1)
                to_->release();
        }
        /// Any thread; the first delivery counts.
        void operator()(T value) const { to_->deliver(std::move(value)); }

      private:
        Completion* to_;
    };

    explicit Completion(Runtime& runtime) : runtime_(runtime) {}

    bool ready() const { return delivered_.load(std::memory_order_acquire); }

    /// Waits for the value. Not on the loop's own thread.
    T wait() {
        if (runtime_.host_drives()) runtime_.callers()->run_until([this] { return ready(); });
        MutexLock lock(lock_);
        while (!value_)
            lock.wait(arrived_);
        return std::move(*value_);
    }

  private:
    void deliver(T value) {
        {
            const MutexLock lock(lock_);
            if (value_) return;
            value_ = std::move(value);
            delivered_.store(true, std::memory_order_release);
        }
        // Not under the lock, which the waiter would wake up to find taken.
        arrived_.notify_all();
        if (LoopCallers* callers = runtime_.callers()) callers->wake();
    }

    void release() {
        const std::shared_ptr<Completion> self = std::move(self_);
        if (!ready()) deliver(lost_answer<T>());
    }

    Runtime& runtime_;
    std::atomic<int> deliverers_{1};
    std::shared_ptr<Completion> self_;  // while there are deliverers
    std::atomic<bool> delivered_{false};
    Mutex lock_;
    std::condition_variable arrived_;
    std::optional<T> value_ MUSTER_GUARDED_BY(lock_);
};

/// Runs `start(deliver)` on the loop and waits for the delivered answer; lost_answer() if it throws, or if
/// all copies of `deliver` are destroyed before. On the loop itself, and on a stopped loop
/// (PMIx_Progress_thread_stop), a wait would never end: `refused` is returned at once (PMIX_ERR_WOULD_BLOCK
/// at the API).
template <class T, class Start>
T call_and_wait(Runtime& runtime, T refused, Start start) {
    EventLoop& loop = runtime.loop();
    if (loop.on_loop() || loop.stopped()) return refused;
    auto completion = std::make_shared<Completion<T>>(runtime);
    Task task = [deliver = typename Completion<T>::Deliver(completion), start = std::move(start)]() mutable {
        start(std::move(deliver));
    };
    LoopCallers* beside = runtime.host_drives() ? nullptr : runtime.callers();
    const auto ready = [&completion] { return completion->ready(); };
    if (beside == nullptr || !beside->run_borrowed(task, ready)) loop.post(std::move(task));
    return completion->wait();
}

/// A callback of the program, to be called on the loop exactly once: by the first answer, or with
/// lost_answer() and no more when the last copy is destroyed unanswered. Copies are one callback. It begins
/// when the call has nothing left to do but return (docs/decisions/0041).
template <class Function, class Status, class... More>
class Once {
  public:
    explicit Once(Function function) : state_(std::make_shared<State>(std::move(function))) {}
    Once(const Once& other) : state_(other.state_) { ++state_->copies; }
    Once(Once&& other) noexcept = default;
    Once& operator=(const Once&) = delete;
    ~Once() {
        if (state_ && --state_->copies == 0) state_->lose();
    }

    /// The call that was to bring this about has begun: from now on there is an answer. Not before the call
    /// has been posted, which may fail.
    void begin() const { state_->owed = true; }
    /// To be set by the call when it has posted its task, and returns. It is no copy: the call does not
    /// hold the callback, which would begin inside the call if all others were destroyed meanwhile.
    std::shared_ptr<std::atomic<bool>> left() const { return {state_, &state_->left}; }
    void operator()(Status status, More... more) const {
        // If the call throws bad_alloc, an answer stays owed.
        if (!std::exchange(state_->owed, false)) return;
        state_->let_leave();
        try {
            state_->function(std::move(status), std::move(more)...);
        } catch (const std::bad_alloc&) {
            state_->owed = true;
            throw;
        }
    }

  private:
    struct State {
        explicit State(Function wanted) : function(std::move(wanted)) {}
        /// The last copy is destroyed. Not the destructor: the call keeps this for left().
        void lose() {
            if (!owed) return;
            let_leave();
            try {
                function(lost_answer<Status>(), More{}...);
            } catch (...) {  // the program's own
                owed = false;
            }
        }
        /// A call that runs has less to do than it takes to wake this thread. One that waits for this
        /// processor gets it by a yield or a sleep. One that is stopped, or of lower priority, is not waited
        /// for.
        void let_leave() const {
            constexpr int kYields = 20, kSleeps = 10;
            for (int looks = 0; !left && looks < kYields + kSleeps; ++looks) {
                if (looks < kYields)
                    sched_yield();
                else
                    std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
        Function function;
        bool owed = false;
        std::atomic<bool> left{false};
        // Not wider: with the next size of malloc's blocks, the threads meet at its lock (output forwarded in
        // pieces of 4 KiB takes 4 us a piece instead of 3).
        std::atomic<uint32_t> copies{1};
    };
    std::shared_ptr<State> state_;
};

}  // namespace muster
