// SPDX-License-Identifier: BSD-3-Clause
// A host that answers from a thread of its own, as resource managers do: an upcall enqueues the request and
// returns, and the thread, which sleeps while it has nothing to do, answers it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

class Answering {
  public:
    using Task = std::function<void()>;

    Answering() : thread_([this] { run(); }) {}
    Answering(const Answering&) = delete;
    ~Answering() {
        enqueue(nullptr);
        thread_.join();
    }
    /// Any thread. The tasks run in this order.
    void enqueue(Task task) {
        {
            const std::lock_guard lock(lock_);
            tasks_.push_back(std::move(task));
        }
        signal_.notify_one();
    }

  private:
    void run() {
        for (;;) {
            std::unique_lock lock(lock_);
            signal_.wait(lock, [this] { return !tasks_.empty(); });
            const Task task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            if (!task) return;
            task();
        }
    }

    std::mutex lock_;  // guards tasks_
    std::condition_variable signal_;
    std::deque<Task> tasks_;
    std::thread thread_;
};

}  // namespace bench
