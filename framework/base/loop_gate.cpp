// SPDX-License-Identifier: BSD-3-Clause
// Where a loop is waited for by others than its waiter: a set of descriptors that mirrors what is watched,
// for a host that drives the loop, and the gate at which our thread of a shared loop waits. See loop.hpp.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "framework/base/loop.hpp"
#include "framework/base/unique_fd.hpp"
#include "framework/base/waiter.hpp"

namespace muster {

void Watch::Impl::mirror() {
    if (mirror_fd == nullptr || *mirror_fd < 0 || fd < 0 || (interest == 0 && !mirrored)) return;
    epoll_event wanted{};
    wanted.events = ((interest & POLLIN) != 0 ? unsigned{EPOLLIN} : 0U) |
                    ((interest & POLLOUT) != 0 ? unsigned{EPOLLOUT} : 0U);
    if (interest == 0) {
        epoll_ctl(*mirror_fd, EPOLL_CTL_DEL, fd, nullptr);
    } else if (epoll_ctl(*mirror_fd, mirrored ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted) != 0) {
        epoll_ctl(*mirror_fd, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted);
    }
    mirrored = interest != 0;
}

/// A waiter shows its descriptor to nobody, so what it watches is mirrored in a set of our own. All times
/// have one descriptor there, made with it: later there may be none left.
bool EventLoop::make_mirror() {
    poll_fd_ = above_standard(epoll_create1(EPOLL_CLOEXEC));
    if (poll_fd_ >= 0)
        timer_fd_ = above_standard(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    return timer_fd_ >= 0 && epoll_ctl(poll_fd_, EPOLL_CTL_ADD, wake_fd_, &wanted) == 0 &&
           epoll_ctl(poll_fd_, EPOLL_CTL_ADD, timer_fd_, &wanted) == 0;
}

/// Lets the mirror show the next time, or none.
void EventLoop::show_next_time() {
    Clock::time_point next = kNever;
    for (const Watch::Impl* watch = times_; watch != nullptr; watch = watch->next) {
        if (watch->on_time) next = std::min(next, watch->deadline);
    }
    show_time(next);
}

void EventLoop::show_time(Clock::time_point time) {
    if (timer_fd_ < 0 || time == shown_time_) return;
    itimerspec spec{};
    if (time != kNever) {
        const auto since_boot = time.time_since_epoch();
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
        spec.it_value.tv_sec = seconds.count();
        spec.it_value.tv_nsec = std::chrono::nanoseconds(since_boot - seconds).count();
    }
    timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
    shown_time_ = time;
}

/// What our thread of a shared loop waits at. Without descriptors for it that thread has the loop for itself.
bool EventLoop::build_gate() {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (make_mirror()) gate_fd_ = above_standard(epoll_create1(EPOLL_CLOEXEC));
    if (gate_fd_ < 0 || epoll_ctl(gate_fd_, EPOLL_CTL_ADD, poll_fd_, &wanted) != 0) {
        for (int* fd : {&gate_fd_, &timer_fd_, &poll_fd_}) {
            if (*fd >= 0) ::close(*fd);
            *fd = -1;
        }
        return false;
    }
    for (Watch::Impl* watch = watches_; watch != nullptr; watch = watch->next)
        watch->mirror();
    show_next_time();
    return true;
}

void EventLoop::open_gate(bool open) const {
    if (gate_fd_ < 0) return;
    epoll_event wanted{};
    wanted.events = open ? unsigned{EPOLLIN} : 0U;
    epoll_ctl(gate_fd_, EPOLL_CTL_MOD, poll_fd_, &wanted);
}

/// Our thread's part of a shared loop: what comes while nobody has borrowed it. What is left at the end is
/// done by whoever ends it.
void EventLoop::run_shared() {
    std::chrono::seconds silence = kFirstSilence;
    wait_for_drive();
    if (gate_fd_ < 0) build_gate();
    while (!stopping_) {
        if (gate_fd_ < 0) {
            wait_turn();
            continue;
        }
        give_drive();
        epoll_event event{};
        const int ready =
            epoll_wait(gate_fd_, &event, 1, static_cast<int>(std::chrono::milliseconds(silence).count()));
        const bool silent = ready == 0 || (ready < 0 && errno != EINTR);
        if (stopping_) return;
        silence = silent ? std::min(2 * silence, kLongestSilence) : kFirstSilence;
        wait_for_drive();
        if (silent) look_again();
        turn(false);
    }
    give_drive();
}

/// The program may have closed what we have: what waits for it would wait for ever.
void EventLoop::look_again() {
    waiter_->look();
    if (gate_holds()) return;
    drop_gate();
    build_gate();
}

/// Whether our numbers still are what we made: each set has the next one in it.
bool EventLoop::gate_holds() {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    return epoll_ctl(gate_fd_, EPOLL_CTL_MOD, poll_fd_, &wanted) == 0 &&
           epoll_ctl(poll_fd_, EPOLL_CTL_MOD, wake_fd_, &wanted) == 0 &&
           epoll_ctl(poll_fd_, EPOLL_CTL_MOD, timer_fd_, &wanted) == 0;
}

/// Closes what is certainly ours.
void EventLoop::drop_gate() {
    const bool ours = gate_holds();
    for (int* fd : {&gate_fd_, &timer_fd_, &poll_fd_}) {
        if (ours) ::close(*fd);
        *fd = -1;
    }
    shown_time_ = kNever;
    for (Watch::Impl* watch = watches_; watch != nullptr; watch = watch->next)
        watch->mirrored = false;
}

}  // namespace muster
