// SPDX-License-Identifier: BSD-3-Clause
// The event loop of the launcher and of each node daemon, on libevent. All state of either belongs to the
// thread that runs the loop; the library's upcalls come on another thread and are posted over.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

struct event;
struct event_base;

namespace muster {

/// One registration with the loop (a descriptor, or a time); its destruction cancels it. The callback may
/// destroy the registration that it was called for.
class Watch {
  public:
    Watch() = default;
    Watch(Watch&& other) noexcept = default;
    Watch& operator=(Watch&& other) noexcept = default;
    ~Watch() = default;

    explicit operator bool() const { return impl_ != nullptr; }
    void cancel() { impl_.reset(); }
    /// Descriptors: stops and goes on being called, for back-pressure.
    void enable(bool on);

  private:
    friend class Loop;
    struct Impl;
    struct Drop {
        void operator()(Impl* impl) const;
    };
    std::unique_ptr<Impl, Drop> impl_;
};

class Loop {
  public:
    using Task = std::function<void()>;

    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// Runs callbacks until quit().
    void run();
    void quit();

    /// Calls while `fd` (which stays the caller's) is readable or at its end.
    Watch on_readable(int fd, Task task);
    /// Calls while `fd` can be written.
    Watch on_writable(int fd, Task task);
    /// Calls once after `delay`.
    Watch after(std::chrono::milliseconds delay, Task task);
    /// Runs `task` on the loop, in the order of posting. Any thread.
    void post(Task task);
    /// Runs what was posted up to now. On the loop.
    void run_posted();

  private:
    Watch add(int fd, short what, Task task);

    event_base* base_ = nullptr;
    int wake_fd_ = -1;
    Watch wake_;
    std::mutex posted_lock_;  // guards posted_
    std::vector<Task> posted_;
};

}  // namespace muster
