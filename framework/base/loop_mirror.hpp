// SPDX-License-Identifier: BSD-3-Clause
// An epoll set that mirrors the watched descriptors of a loop, for a host that drives the loop: the waiter's
// own descriptors are private. The thread of a shared loop has a gate, which is open or closed to all of the
// set. Belongs to the driver, except for wait().
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "framework/base/unique_fd.hpp"

namespace muster {

class LoopMirror {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    explicit LoopMirror(bool gate) : set_(::epoll_create1(EPOLL_CLOEXEC)) {
        // All timers share one descriptor, created at once: later there may be none left.
        timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        ok_ = change(set_, timer_.get(), POLLIN, EPOLL_CTL_ADD);
        if (gate) gate_.reset(::epoll_create1(EPOLL_CLOEXEC));
        if (gate) ok_ = ok_ && change(gate_, fd(), POLLIN, EPOLL_CTL_ADD);
    }
    /// False if descriptors are short.
    bool ok() const { return ok_; }
    /// The set, readable while something shown is ready.
    int fd() const { return set_.get(); }

    /// Shows `fd` for `interest` (POLLIN, POLLOUT; 0: no longer).
    void show(int fd, short interest) const {
        if (interest == 0)
            change(set_, fd, 0, EPOLL_CTL_DEL);
        else if (!change(set_, fd, interest))
            change(set_, fd, interest, EPOLL_CTL_ADD);
    }
    /// The set is readable from `time` on.
    void show_time(Clock::time_point time) {
        if (time == time_) return;
        constexpr long kSecond = 1000000000;
        const auto at = std::chrono::nanoseconds(time.time_since_epoch()).count();
        itimerspec spec{};
        if (time != kNever) spec.it_value = {at / kSecond, at % kSecond};
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
        time_ = time;
    }
    Clock::time_point time() const { return time_; }
    /// An expired timer keeps the set readable.
    bool time_is_over() const { return time_ != kNever && time_ <= Clock::now(); }

    void open(bool on) const { change(gate_, fd(), on ? POLLIN : 0); }
    /// Waits until something shown is ready while the gate is open; false when nothing was for `limit`.
    bool wait(std::chrono::milliseconds limit) const {
        epoll_event event{};
        const int ready = ::epoll_wait(gate_.get(), &event, 1, static_cast<int>(limit.count()));
        return ready > 0 || (ready < 0 && errno == EINTR);
    }
    /// Whether all, including `shown`, still have their numbers, each set containing the next one: the
    /// program may have closed any of them, and reused the numbers.
    bool holds(int shown) const {
        return (!gate_ || change(gate_, fd())) && change(set_, shown) && change(set_, timer_.get());
    }
    /// Closes nothing at the end.
    void abandon() {
        for (UniqueFd* fd : {&set_, &timer_, &gate_})
            fd->release();
    }

  private:
    static bool change(const UniqueFd& set, int fd, short interest = POLLIN, int how = EPOLL_CTL_MOD) {
        static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT);
        epoll_event wanted{};
        wanted.events = static_cast<uint16_t>(interest);
        return ::epoll_ctl(set.get(), how, fd, &wanted) == 0;
    }

    UniqueFd set_, timer_, gate_;
    Clock::time_point time_ = kNever;
    bool ok_ = false;
};

}  // namespace muster
