// SPDX-License-Identifier: BSD-3-Clause
// The event loop of the launcher and of each node daemon: the library's (framework/base/loop.hpp), driven by
// the main thread. All state of either belongs to the thread that runs the loop; the library's upcalls run on
// another thread and are posted.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "framework/base/loop.hpp"
#include "framework/base/loop_callers.hpp"

namespace muster::launcher {

/// One registration with the loop (a descriptor, or a time); its destruction cancels it. The callback may
/// destroy the registration that it was called for.
class Watch {
  public:
    Watch() = default;

    explicit operator bool() const { return watch_ != nullptr; }
    void cancel() { watch_.reset(); }
    /// Descriptors: pauses and resumes the calls, for back-pressure.
    void enable(bool on);

  private:
    friend class Loop;
    Watch(std::unique_ptr<muster::Watch> watch, bool writes) : watch_(std::move(watch)), writes_(writes) {}
    std::unique_ptr<muster::Watch> watch_;
    bool writes_ = false;
};

class Loop {
  public:
    using Callback = std::function<void()>;

    Loop() = default;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// Runs callbacks until quit().
    void run();
    void quit() { over_ = true; }

    /// Calls while `fd` (which stays the caller's) is readable or at its end.
    Watch on_readable(int fd, Callback callback);
    /// Calls while `fd` can be written.
    Watch on_writable(int fd, Callback callback);
    /// Calls once after `delay`.
    Watch after(std::chrono::milliseconds delay, Callback callback);
    /// Runs `task` on the loop, in the order of posting. Any thread.
    void post(Task task) { loop_.post(std::move(task)); }
    /// Runs the tasks posted so far. On the loop.
    void run_posted() { loop_.run_posted(); }

  private:
    EventLoop loop_{EventLoop::On::Poll};
    LoopCallers callers_{loop_};
    bool over_ = false;
};

}  // namespace muster::launcher
