// SPDX-License-Identifier: BSD-3-Clause
// Runs slow file system work (removing trees, examining files) on one thread beside the loop, in order. The
// thread exists only while there is work. All members are called on the loop, or while no loop runs.
#pragma once

#include <deque>
#include <memory>
#include <thread>

#include "framework/base/loop.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/task.hpp"

namespace muster {

class FileWorker {
  public:
    explicit FileWorker(EventLoop& loop) : loop_(loop) {}
    /// As finish().
    ~FileWorker() { finish(); }
    FileWorker(const FileWorker&) = delete;

    /// Runs `task` on the thread (at once and here, if no thread can be started), then `done` on the loop.
    void run(Task task, Task done = {});
    /// Calls `done` when all that was given until now is done: at once, where it is.
    void settled(Task done);
    /// Waits for all submitted work, and runs its callbacks.
    void finish();

  private:
    struct Job {
        Task task;
        Task done;
    };
    void work();
    void deliver();

    EventLoop& loop_;
    std::thread thread_;
    Mutex lock_;
    std::deque<Job> jobs_ MUSTER_GUARDED_BY(lock_);
    std::deque<Task> done_ MUSTER_GUARDED_BY(lock_);
    bool working_ MUSTER_GUARDED_BY(lock_) = false;  // the thread will look at jobs_ once more
    std::shared_ptr<FileWorker*> self_ = std::make_shared<FileWorker*>(this);  // for what the loop is asked
};

}  // namespace muster
