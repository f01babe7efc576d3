// SPDX-License-Identifier: BSD-3-Clause
// The event loop of a process, on libevent, or on poll(2) where callers mostly drive it: one progress thread,
// perhaps only once it is needed, or none where the host drives it (PMIX_EXTERNAL_PROGRESS). State of the
// roles belongs to whoever runs the loop.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "framework/base/polling.hpp"

namespace muster {

class EventLoop;
class Waiter;

/// Watches a descriptor or a time on the loop. Destroyed on the loop thread (or before the loop starts
/// or after it stopped); destruction cancels. The callback may destroy its own watch.
class Watch {
  public:
    Watch(Watch&&) = delete;
    ~Watch();

    /// Readiness watches: ask also (or no longer) for "writable".
    void want_write(bool on);
    /// Readiness watches: stop (or go on) asking for "readable", for back-pressure.
    void want_read(bool on);
    /// Readiness watches: what can be read there is no reason to start the thread of a loop that has put that
    /// off. It is read when somebody drives the loop for another reason.
    void let_wait();
    /// Readiness watches of a shared loop: the program may close the descriptor, of which nobody is told. So
    /// the callback is also called, as if something could be read, where for a second nothing has come.
    void look_at_times();

    struct Impl;

  private:
    friend class EventLoop;
    explicit Watch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class EventLoop {
  public:
    enum class Drive {
        Thread,   ///< a progress thread of our own
        External  ///< the host calls progress(); blocking calls of ours drive the loop themselves
    };
    struct Ready {
        bool readable = false;
        bool writable = false;
    };
    using Task = std::function<void()>;
    using Clock = std::chrono::steady_clock;

    explicit EventLoop(Drive drive);
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;
    /// Stops and joins the thread. Tasks that were posted and not run are destroyed, not run.
    ~EventLoop();

    /// Drive::Thread: from now on blocking calls drive the loop themselves while they wait (run_borrowed()),
    /// and the thread does so between them: a request and its reply cost no change of threads. Before
    /// start().
    void share();
    /// Drive::Thread: a thread that waits for what is likely to come soon (a call for its reply, the progress
    /// thread of a loop that is not shared for what follows what it has just served) looks for it so long
    /// before it sleeps, while may_poll() allows it. Before start().
    void poll_first(std::chrono::microseconds limit);
    /// Whether there is a processor to spare for that; at first there is none. Any thread.
    void may_poll(bool on);

    /// Takes the loop from a thread of ours that waits for work: runs what is posted, `task`, and then the
    /// loop, until `done()` holds or the loop is to stop. False, with nothing done, when the loop is not
    /// shared or somebody drives it now. `done` is called under no lock. Not on the loop.
    bool run_borrowed(Task& task, const std::function<bool()>& done);
    /// Runs `task` now, on this thread, in the place of a thread of ours that waits for work: for what sends
    /// something and neither waits nor calls the application. False, with nothing done, when the loop is not
    /// shared, somebody drives it for longer than some microseconds, or something is posted, which comes
    /// first. Not on the loop.
    bool run_here(Task& task);
    /// For a caller that waits for something which the loop does not watch: looks for it (`found`) again and
    /// again for as long as it may poll, in the place of a thread of ours that waits for work, and says
    /// whether it was found. False, where one had better sleep, perhaps without a look. `found` neither waits
    /// nor uses the loop. Not on the loop.
    bool poll_for(const std::function<bool()>& found);
    /// Of a loop that has no thread yet: runs what is ready now, for whoever asks for what it would have
    /// brought. Nothing, where there is a thread or somebody drives the loop.
    void catch_up();
    /// On the loop: whether whoever has borrowed it has what it waits for, so that the rest is better left to
    /// our thread.
    bool should_yield() const { return borrower_ != nullptr && (*borrower_)(); }
    /// Lets a borrower look at its condition again. Any thread.
    void wake_borrower() {
        if (borrowed_ && !on_loop()) wake();
    }

    /// The thread runs on these processors only, where that can be had (can_bind_to()). Before start().
    void bind_thread(const cpu_set_t& processors) { bound_to_ = processors; }
    /// Starts the thread (Drive::Thread) under `name` (at most 15 characters are kept).
    void start(const char* name);
    /// A shared loop: as start(), but the thread begins only when there is something that nobody drives: a
    /// task that another thread posts, or what whoever drove the loop leaves behind (tasks, times, and what
    /// is watched and cannot wait), or need_thread(). Calls that wait drive the loop themselves, and want
    /// none.
    void start_when_needed(const char* name);
    /// From now on there must be a thread: something may come unasked. Any thread; before start, too. False
    /// where it cannot be had now: it is tried again whenever somebody has driven the loop.
    bool need_thread() noexcept;
    /// Ends the loop after the tasks already posted, and `last` (may be null) behind them, and joins the
    /// thread. What a shared loop has left to do runs on the caller's thread. Not from the loop's own thread.
    void stop(Task last = nullptr);

    Drive drive() const { return drive_; }
    /// Drive::Thread: stop() was called, and start() not since. What is posted waits for start().
    bool stopped() const { return drive_ == Drive::Thread && stopping_; }
    /// True on the thread that is running the loop's callbacks now.
    bool on_loop() const;

    /// Runs `task` on the loop, after all that was posted before. Any thread.
    void post(Task task);
    /// Whether something was posted that has not begun. Any thread.
    bool has_posted() const { return any_posted_; }
    /// Runs what was posted up to now. On the loop.
    void run_posted();
    /// Runs `task` at once when on the loop, else posts it.
    void dispatch(Task task);

    /// Runs `task` when all posted tasks, or all callbacks, that are due in this turn of the loop have run,
    /// so that what they leave behind is done once. On the loop; elsewhere as post().
    void at_turn_end(Task task);

    /// Memory to read into, one for all that is watched; what is in it lasts as long as the callback. On the
    /// loop.
    std::span<uint8_t> scratch();

    /// Watches `fd` (which stays the caller's). On the loop, or before start().
    std::unique_ptr<Watch> watch(int fd, std::function<void(Ready)> on_ready);
    /// Calls once after `delay`. On the loop, or before start().
    std::unique_ptr<Watch> after(std::chrono::milliseconds delay, std::function<void()> on_time);

    /// The time by which the loop measures. Any thread.
    Clock::time_point now() const { return Clock::now() + skipped_.load(); }
    /// For tests: the clock of the loop jumps ahead. What is due by then is called in the next turn. On the
    /// loop, or while nobody drives it.
    void skip(std::chrono::milliseconds time);

    /// Drive::External: runs what is ready now, without waiting; false when another thread drives it already.
    bool progress();
    /// Drive::External: runs until `done()` holds. Used by blocking calls of a process without our thread;
    /// callers on several threads take turns. `done` is called under no lock.
    void run_until(const std::function<bool()>& done);
    /// Drive::External: a descriptor that polls readable when there is something to progress. Else -1.
    int poll_fd() const { return drive_ == Drive::External ? poll_fd_ : -1; }
    /// Wakes a run_until() so that it looks at its condition again. Any thread.
    void wake();

  private:
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    Waiter& waiter();
    std::unique_ptr<Watch::Impl> new_watch();
    void turn(bool wait);
    void end_turn();
    void wait_turn();
    void poll();
    void run_turn_end();
    void drain_wake();
    bool wakes(int fd) const;
    void renew_wake();
    void run_shared();
    void look_again();
    bool gate_holds();
    void drop_gate();
    /// Whether our thread is to be woken by what happens.
    void open_gate(bool open) const;
    bool make_mirror();
    void show_next_time();
    void show_time(Clock::time_point time);
    bool build_gate();
    bool launch() noexcept;
    void run_alone();
    bool leaves_something();
    /// The right to drive, of a loop without thread or a shared one; take_drive() waits at most `limit` for
    /// it, take_drive_soon() for some microseconds.
    bool take_drive_soon();
    bool take_drive(std::chrono::milliseconds limit);
    void wait_for_drive();
    void give_drive();

    const Drive drive_;
    std::unique_ptr<Waiter> waiter_;
    std::atomic<int> wake_fd_{-1};
    int poll_fd_ = -1;   // what is watched once more, where others than waiter_ have to wait for it
    int timer_fd_ = -1;  // the next of all times, there
    std::unique_ptr<Watch::Impl> wake_watch_;
    std::mutex posted_lock_;  // guards posted_
    std::vector<Task> posted_;
    std::atomic<bool> any_posted_{false};    // whether posted_ has some; changed under its lock
    std::vector<Task> running_;              // memory of run_posted(); the driver's
    std::atomic<bool> wake_pending_{false};  // the loop is awake, or will be: nobody need write to wake_fd_
    std::atomic<bool> stopping_{false};
    std::mutex drive_lock_;  // guards driven_
    std::condition_variable drive_free_;
    bool driven_ = false;
    std::atomic<std::thread::id> driver_{};
    std::mutex thread_lock_;  // guards what follows; what is atomic is read without it
    bool started_ = false;    // by start() or start_when_needed(), and not stopped since
    std::optional<pthread_t> thread_;
    std::optional<cpu_set_t> bound_to_;  // fixed before start
    char name_[16] = "";
    std::atomic<bool> put_off_{false};  // there is no thread yet
    std::atomic<bool> needed_{false};   // need_thread() was called
    // Of a shared loop.
    bool shared_ = false;
    int gate_fd_ = -1;  // where our thread waits for poll_fd_; the driver's, as are the following
    std::atomic<bool> borrowed_{false};
    const std::function<bool()>* borrower_ = nullptr;  // what the borrower waits for; the driver's

    Watch::Impl* watches_ = nullptr;         // all of descriptors that live, of whoever runs the loop
    Watch::Impl* times_ = nullptr;           // likewise, of times
    Clock::time_point shown_time_ = kNever;  // what timer_fd_ is set to
    std::atomic<Clock::duration> skipped_{Clock::duration::zero()};  // by skip()
    std::vector<Task> turn_end_;                                     // likewise
    std::unique_ptr<uint8_t[]> scratch_;                             // likewise
    std::unique_ptr<Polling> polling_;
    bool ran_ = false;   // a callback, in this turn; whoever runs the loop sets it
    bool busy_ = false;  // something was served, or asked for, and more is likely to come soon
};

}  // namespace muster
