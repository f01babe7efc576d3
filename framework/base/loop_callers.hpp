// SPDX-License-Identifier: BSD-3-Clause
// The driver of an event loop that is its callers: a host that drives progress, and calls that wait, which
// run the loop themselves in place of a thread of ours. Not on the loop, but for wake().
#pragma once

#include <atomic>
#include <optional>

#include "framework/base/loop.hpp"
#include "framework/base/loop_mirror.hpp"
#include "framework/base/loop_thread.hpp"

namespace muster {

class LoopCallers {
  public:
    using Condition = EventLoop::Condition;

    /// `thread`: drives the loop between the callers; null: none.
    explicit LoopCallers(EventLoop& loop, LoopThread* thread = nullptr) : loop_(loop), thread_(thread) {}
    LoopCallers(const LoopCallers&) = delete;
    LoopCallers& operator=(const LoopCallers&) = delete;
    ~LoopCallers();

    /// Runs posted tasks, `task`, and then the loop, until `done()` holds (called under no lock) or the loop
    /// is stopped, without a change of threads. False, without effect, if another thread drives.
    bool run_borrowed(Task& task, const Condition& done);
    /// Runs `task` now on this thread, for tasks that send and neither wait nor call the application.
    /// False, with nothing done, if another thread drives, or tasks are posted. That thread is awake: it is
    /// not waited for, so that it can send what several calls post in one message.
    bool run_here(Task& task);
    /// Polls for a condition that the loop does not watch for as long as the loop may poll. False, perhaps
    /// without a check, if the caller should sleep. `found` neither waits nor uses the loop.
    bool poll_for(const Condition& found);
    /// Processes ready events, without waiting; false if another thread drives.
    bool progress();
    /// Runs until `done()` holds; callers on several threads take turns. `done` is called under no lock.
    void run_until(const Condition& done);
    /// A descriptor that polls readable when there is something to progress. Made by the first call, while
    /// no thread drives. bad_alloc.
    int poll_fd();

    /// Lets a caller that drives look at its condition again. Any thread.
    void wake() {
        if (driving_ && !loop_.on_loop()) loop_.wake();
    }

  private:
    EventLoop& loop_;
    LoopThread* const thread_;
    std::atomic<bool> driving_{false};  // a caller waits in the loop
    std::optional<LoopMirror> mirror_;
};

}  // namespace muster
