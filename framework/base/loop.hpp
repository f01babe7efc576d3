// SPDX-License-Identifier: BSD-3-Clause
// The event loop of a process: it watches descriptors and times, keeps posted tasks, and runs both on the
// thread that drives it ("on the loop"), to which the state of the roles belongs. It has two drivers: the
// library's thread (loop_thread.hpp) and callers (loop_callers.hpp).
#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/mutex.hpp"
#include "framework/base/polling.hpp"
#include "framework/base/task.hpp"

namespace muster {

class EventLoop;
class LoopMirror;
class Waiter;

/// Watches a descriptor or a time. Destruction, on the loop or while no thread drives it, cancels. The
/// callback may destroy its own watch.
class Watch {
  public:
    Watch(Watch&&) = delete;
    ~Watch();

    /// Descriptors: ask also (or no longer) for "writable".
    void want_write(bool on);
    /// Descriptors: stop (or resume) asking for "readable", for back-pressure.
    void want_read(bool on);
    /// Descriptors: readability does not start a deferred thread; it waits for another reason to drive.
    void let_wait();
    /// Descriptors that the program may close without a notice (On::Poll): the callback is also called, as
    /// if the descriptor were readable, after a second in which nothing came.
    void look_at_times();

    struct Impl;

  private:
    friend class EventLoop;
    explicit Watch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Held by the thread that drives a loop.
class MUSTER_CAPABILITY("loop") OnLoop {};

class EventLoop {
  public:
    enum class On {
        Libevent,  ///< for any number of descriptors
        Poll       ///< poll(2), for a few, which the program may close (docs/decisions/0023, 0026)
    };
    struct Ready {
        bool readable = false;
        bool writable = false;
    };
    using Condition = std::function<bool()>;
    using Clock = std::chrono::steady_clock;

    /// Work that can be posted without an allocation.
    struct Errand {
        virtual ~Errand() = default;
        virtual void run() = 0;

      private:
        friend class EventLoop;
        std::shared_ptr<Errand> next_;
    };

    /// A driver that is not there yet. begin() is false if it cannot be had now.
    struct Standby {
        virtual ~Standby() = default;
        virtual bool begin() noexcept = 0;
    };

    /// `poll_limit`: a driver that expects an event soon polls for that long before it sleeps, while
    /// polling() allows that. bad_alloc.
    explicit EventLoop(On on = On::Libevent, std::chrono::microseconds poll_limit = {});
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;
    /// Tasks that were posted and not run are destroyed, not run.
    ~EventLoop();

    // Any thread.
    /// Runs `task` on the loop, after all that was posted before.
    void post(Task task);
    /// As post(), for tasks that must not be lost; also without memory, but then perhaps later than the next
    /// posted tasks. Never throws bad_alloc.
    void post_surely(std::shared_ptr<Errand> errand) noexcept;
    /// Whether something was posted that has not begun.
    bool has_posted() const { return any_posted_; }
    /// Runs `task` when all posted tasks, or all callbacks, that are due in this turn have run, so that their
    /// follow-up work is done once. Not on the loop: as post().
    void at_turn_end(Task task) { on_loop() ? turn_end_.push_back(std::move(task)) : post(std::move(task)); }
    /// Whether the calling thread drives the loop.
    bool on_loop() const { return driver_.load() == std::this_thread::get_id(); }
    /// For functions that run on the loop, or before it has a driver.
    void assert_on_loop() const MUSTER_ASSERTS(here) {
        assert(on_loop() || driver_.load() == std::thread::id());
    }
    /// Events may arrive for which no caller waits: from now on the loop needs a driver without a caller.
    /// False if there is none now; the loop tries again whenever a caller has driven it.
    bool need_driver() noexcept;
    /// The loop was ended, and not begun again since. Posted tasks wait.
    bool stopped() const { return stopped_; }
    /// Ends the wait of the driver, which checks its condition again.
    void wake();
    /// How the driver polls before it sleeps.
    Polling& polling() { return polling_; }
    /// The time by which the loop measures.
    Clock::time_point now() const { return Clock::now() + skipped_.load(); }

    // On the loop, or while no thread drives it.
    /// Watches `fd`, which stays the caller's.
    std::unique_ptr<Watch> watch(int fd, std::function<void(Ready)> on_ready);
    /// Calls once after `delay`.
    std::unique_ptr<Watch> after(std::chrono::milliseconds delay, std::function<void()> on_time);
    /// For tests: the clock of the loop jumps ahead. Due timers run in the next turn.
    void skip(std::chrono::milliseconds time);

    // On the loop. Runs the tasks posted so far.
    void run_posted();
    /// Whether the driving caller has its result, and should return.
    bool should_yield() const { return awaited_ != nullptr && (*awaited_)(); }
    /// Memory to read into, one for all watches; its content lasts as long as the callback.
    std::span<uint8_t> scratch();

    // For drivers.
    OnLoop here;
    /// Takes the right to drive; waits at most `limit` for it. False where another thread keeps it.
    bool take(std::chrono::milliseconds limit = {}) MUSTER_TRY_ACQUIRE(true, here);
    /// Waits for the right to drive, and takes it.
    void wait_to_take() MUSTER_ACQUIRE(here);
    /// Gives the right back, and wakes or starts the driver for the remaining work.
    void give() MUSTER_RELEASE(here);
    /// Calls ready watches, and runs their follow-up tasks; `wait`: sleeps until one is ready.
    void turn(bool wait) MUSTER_REQUIRES(here);
    /// A turn that waits until something happens, or has polled without success.
    void wait_turn() MUSTER_REQUIRES(here);
    /// Runs `task`, and the tasks that it defers to the end of the turn.
    void run(Task& task) MUSTER_REQUIRES(here);
    /// The condition that the driver waits for, likely for a short time; null: none.
    void await(const Condition* condition) MUSTER_REQUIRES(here) {
        awaited_ = condition;
        busy_ = busy_ || condition != nullptr;
    }
    /// From now on `mirror` (null: none) reflects the watches.
    void show_in(LoopMirror* mirror);
    int wake_fd() const { return wake_fd_; }
    void look() MUSTER_REQUIRES(here);
    /// Ends or allows all waits; the driver must be woken.
    void stop(bool on) { stopped_ = on; }
    /// `standby` is started when there is work that no caller drives; null: none. Any thread.
    void set_standby(Standby* standby) { standby_ = standby; }
    bool has_standby() const { return standby_ != nullptr; }
    bool needs_driver() const { return needed_; }

  private:
    std::unique_ptr<Watch> add(std::unique_ptr<Watch::Impl> impl, Watch::Impl*& all);
    void end_turn() MUSTER_REQUIRES(here);
    void poll() MUSTER_REQUIRES(here);
    void run_turn_end();
    bool leaves_something() const;
    void show_next_time();
    void on_wake();
    bool wakes(int fd) const;

    const On on_;
    std::unique_ptr<Waiter> waiter_;
    std::atomic<int> wake_fd_{-1};
    std::unique_ptr<Watch> wake_watch_;
    std::atomic<bool> wake_pending_{false};  // the loop is awake, or will be: no write to wake_fd_ is needed
    Mutex posted_lock_;
    std::vector<Task> posted_ MUSTER_GUARDED_BY(posted_lock_);
    std::shared_ptr<Errand> errands_ MUSTER_GUARDED_BY(posted_lock_);  // the last one first
    std::atomic<bool> any_posted_{false};  // there are some of either; changed under the lock
    std::atomic<bool> stopped_{false};
    Mutex drive_lock_;
    std::condition_variable drive_free_;
    bool driven_ MUSTER_GUARDED_BY(drive_lock_) = false;
    std::atomic<std::thread::id> driver_{};
    std::atomic<Standby*> standby_{nullptr};
    std::atomic<bool> needed_{false};
    Polling polling_;
    std::atomic<Clock::duration> skipped_{Clock::duration::zero()};
    // The driver's.
    std::vector<Task> running_;  // memory of run_posted()
    std::vector<Task> turn_end_;
    std::unique_ptr<uint8_t[]> scratch_;
    Watch::Impl* watches_ = nullptr;  // all of descriptors that live
    Watch::Impl* times_ = nullptr;    // all of times
    LoopMirror* mirror_ = nullptr;
    const Condition* awaited_ = nullptr;
    bool ran_ = false;   // a callback, in this turn
    bool busy_ = false;  // a request was served or sent, and more is likely to arrive soon
};

}  // namespace muster
