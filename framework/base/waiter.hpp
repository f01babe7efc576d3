// SPDX-License-Identifier: BSD-3-Clause
// The waiters for descriptors and times of an event loop, and their view of a watch. For the loop and its
// drivers only. All state here belongs to the driver.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "framework/base/loop.hpp"

struct event;

namespace muster {

class Waiter;

struct Watch::Impl {
    Impl** first = nullptr;  // EventLoop::watches_ or times_
    Impl* next = nullptr;    // in that list
    Impl* previous = nullptr;
    Waiter* waiter = nullptr;  // once it knows us
    event* handle = nullptr;   // of libevent's waiter
    int fd = -1;
    LoopMirror* const* mirror = nullptr;             // EventLoop::mirror_
    short interest = 0;                              // POLLIN and POLLOUT, as asked for
    bool can_wait = false;                           // Watch::let_wait()
    bool doubted = false;                            // Watch::look_at_times()
    std::chrono::steady_clock::time_point deadline;  // if there is on_time, which is called once
    std::function<void(EventLoop::Ready)> on_ready;
    std::function<void()> on_time;
    bool* destroyed = nullptr;  // set while a callback runs
    bool* ran = nullptr;        // EventLoop::ran_ and busy_
    bool* busy = nullptr;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    /// Waits for nothing any more.
    ~Impl();

    /// Sets the waiter, and the mirror, to the current request. bad_alloc, at the first time.
    void arm();
    /// Updates the mirror with the requested events.
    void show() const;
    /// Asks for POLLIN or POLLOUT, or no longer.
    void ask(short what, bool on);
    /// Calls back, because of `ready` (POLLIN, POLLOUT) or of the time. May destroy the watch.
    void fire(short ready);
};

/// First interval between checks of a doubted descriptor. Each check without a result doubles it, so that a
/// process that computes for hours is hardly ever woken.
constexpr std::chrono::seconds kFirstSilence{1};
constexpr std::chrono::seconds kLongestSilence{64};

class Waiter {
  public:
    Waiter() = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    virtual ~Waiter() = default;

    /// From now on waits for what `watch` asks for now. bad_alloc, at the first time for a watch.
    virtual void set(Watch::Impl& watch) = 0;
    /// Forgets it; it is not fired any more, not even where that is due already.
    virtual void remove(Watch::Impl& watch) noexcept = 0;
    /// Fires ready watches; `wait`: sleeps until one is ready, or a signal arrives.
    virtual void turn(bool wait) = 0;
    /// Fires doubtful watches, if this kind tracks them.
    virtual void look() {}
};

/// On poll(2), for a few descriptors, which pay more for opening libevent than for waiting. bad_alloc.
std::unique_ptr<Waiter> make_poll_waiter();
/// On libevent, for any number; null if that cannot be opened. bad_alloc.
std::unique_ptr<Waiter> make_libevent_waiter();

}  // namespace muster
