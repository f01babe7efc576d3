// SPDX-License-Identifier: BSD-3-Clause
// The event loop: see loop.hpp. Posted tasks travel through a vector that is swapped out whole, so that a
// burst costs one lock and one wake-up.
#include "framework/base/loop.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "framework/base/loop_mirror.hpp"
#include "framework/base/unique_fd.hpp"
#include "framework/base/waiter.hpp"

namespace muster {
namespace {

/// Runs one callback. An exception (memory that ran short) ends this callback alone: it must not cross
/// libevent's C frames, and the host's process continues. A caller that waits for the callback has a time
/// limit, or its peer.
template <class Callback>
void contained(Callback&& callback) noexcept {
    try {
        callback();
    } catch (...) {
        return;
    }
}

}  // namespace

Watch::Impl::~Impl() {
    if (destroyed != nullptr) *destroyed = true;
    if (waiter != nullptr) waiter->remove(*this);
    interest = 0;
    show();
    if (first != nullptr) (previous != nullptr ? previous->next : *first) = next;
    if (next != nullptr) next->previous = previous;
}

void Watch::Impl::show() const {
    if (mirror != nullptr && *mirror != nullptr && fd >= 0) (*mirror)->show(fd, interest);
}

void Watch::Impl::arm() {
    show();
    waiter->set(*this);
}

void Watch::Impl::ask(short what, bool on) {
    const auto wanted = static_cast<short>(on ? interest | what : interest & ~what);
    if (wanted == interest) return;
    interest = wanted;
    arm();
}

void Watch::Impl::fire(short ready) {
    bool gone = false;
    destroyed = &gone;
    *ran = true;
    if (on_ready) *busy = true;
    // The callback may destroy the watch, and with it the function object it is running in.
    if (on_time) {
        auto callback = std::move(on_time);
        contained(callback);
    } else {
        auto callback = std::move(on_ready);
        contained([&] { callback({(ready & POLLIN) != 0, (ready & POLLOUT) != 0}); });
        if (!gone) on_ready = std::move(callback);
    }
    if (!gone) destroyed = nullptr;
}

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Watch::~Watch() = default;

void Watch::let_wait() {
    impl_->can_wait = true;
}

void Watch::look_at_times() {
    impl_->doubted = true;
}

void Watch::want_write(bool on) {
    impl_->ask(POLLOUT, on);
}

void Watch::want_read(bool on) {
    impl_->ask(POLLIN, on);
}

EventLoop::EventLoop(On on, std::chrono::microseconds poll_limit) : on_(on), polling_(poll_limit) {
    wake_fd_ = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_fd_ < 0) throw std::bad_alloc();
    if (on_ == On::Libevent) waiter_ = make_libevent_waiter();
    if (!waiter_) waiter_ = make_poll_waiter();
    wake_watch_ = watch(wake_fd_, [this](Ready) { on_wake(); });
    wake_watch_->let_wait();
    if (on_ == On::Poll) wake_watch_->look_at_times();
}

EventLoop::~EventLoop() {
    running_.clear();
    turn_end_.clear();
    posted_.clear();
    wake_watch_.reset();
    waiter_.reset();
    if (wakes(wake_fd_)) ::close(wake_fd_);
}

std::span<uint8_t> EventLoop::scratch() {
    constexpr size_t kSize = size_t{16} << 10;  // most messages
    // Not std::make_unique: unused pages must not be touched.
    if (!scratch_) scratch_.reset(new uint8_t[kSize]);
    return {scratch_.get(), kSize};
}

bool EventLoop::take(std::chrono::milliseconds limit) {
    MutexLock lock(drive_lock_);
    if (driven_ && limit.count() > 0) lock.wait_until(drive_free_, Clock::now() + limit);
    if (driven_) return false;
    driven_ = true;
    driver_ = std::this_thread::get_id();
    return true;
}

void EventLoop::wait_to_take() {
    while (!take(std::chrono::minutes(1)))
        continue;
}

/// Not analysed, as the capability is no lock.
void EventLoop::give() MUSTER_NO_THREAD_SAFETY_ANALYSIS {
    if (Standby* standby = standby_; standby != nullptr && (needed_ || leaves_something())) standby->begin();
    // Posted from the loop, which is left now.
    if (any_posted_) wake();
    {
        const MutexLock lock(drive_lock_);
        driver_ = std::thread::id();
        driven_ = false;
    }
    drive_free_.notify_all();
}

/// Whether there is a reason to drive the loop.
bool EventLoop::leaves_something() const {
    for (const Watch::Impl* watch = watches_; watch != nullptr; watch = watch->next)
        if ((watch->interest & (watch->can_wait ? POLLOUT : POLLIN | POLLOUT)) != 0) return true;
    for (const Watch::Impl* watch = times_; watch != nullptr; watch = watch->next)
        if (watch->on_time) return true;
    return any_posted_;
}

bool EventLoop::need_driver() noexcept {
    needed_ = true;
    Standby* standby = standby_;
    return standby == nullptr || standby->begin();
}

void EventLoop::post(Task task) {
    // First: posted tasks must not wait for a thread that cannot be created.
    if (standby_ != nullptr && !on_loop() && !need_driver()) throw std::bad_alloc();
    {
        const MutexLock lock(posted_lock_);
        posted_.push_back(std::move(task));
        any_posted_ = true;
    }
    // The driver checks it before it waits, and before it gives the loop back.
    if (!on_loop()) wake();
}

void EventLoop::post_surely(std::shared_ptr<Errand> errand) noexcept {
    try {
        return post([errand] { errand->run(); });
    } catch (const std::bad_alloc&) {
        const MutexLock lock(posted_lock_);
        errand->next_ = std::move(errands_);
        errands_ = std::move(errand);
        any_posted_ = true;
    }
    wake();
}

void EventLoop::turn(bool wait) {
    waiter_->turn(wait);
    end_turn();
}

void EventLoop::end_turn() {
    // An expired one must not keep the mirror readable.
    if (mirror_ != nullptr && mirror_->time_is_over()) show_next_time();
    run_turn_end();
    // Also tasks that the callbacks have posted, unless the driving caller should leave by now.
    if (!any_posted_ || should_yield()) return;
    ran_ = busy_ = true;
    run_posted();
}

void EventLoop::wait_turn() {
    // Tasks that tasks have posted: events that have arrived meanwhile are processed first.
    if (any_posted_) return turn(false);
    if (!std::exchange(busy_, false) || !polling_.allowed()) return turn(true);
    poll();
}

void EventLoop::poll() {
    ran_ = false;
    // A thread that posts need not wake a polling thread. If the flag is set, another thread has woken this
    // one.
    const bool quiet = !wake_pending_.exchange(true);
    polling_.poll([this]() MUSTER_NO_THREAD_SAFETY_ANALYSIS {
        // Runs posted work first, which most waits are for; descriptors are checked in the next turn.
        any_posted_ ? end_turn() : turn(false);
        return ran_ || stopped_ || should_yield();
    });
    // By exchange: tasks posted without a wake-up are visible here, and run in the next turn.
    if (quiet && wake_pending_.exchange(false) && any_posted_) busy_ = true;
}

void EventLoop::look() {
    waiter_->look();
}

void EventLoop::run(Task& task) {
    contained(task);
    run_turn_end();
}

void EventLoop::run_turn_end() {
    while (!turn_end_.empty()) {
        for (Task& task : std::exchange(turn_end_, {}))
            contained(task);
    }
}

void EventLoop::run_posted() {
    assert_on_loop();
    // A task may call this again.
    std::vector<Task> running = std::exchange(running_, {});
    std::shared_ptr<Errand> errands, last;
    {
        const MutexLock lock(posted_lock_);
        running.swap(posted_);
        last = std::move(errands_);
        any_posted_ = false;
    }
    for (Task& task : running) {
        Task current = std::move(task);
        contained(current);
    }
    running.clear();
    running_ = std::move(running);
    while (last) {
        std::swap(errands, last->next_);
        std::swap(errands, last);
    }
    for (; errands; errands = std::move(errands->next_))
        contained([&] { errands->run(); });
    run_turn_end();  // the requested event does not wait for other events
}

std::unique_ptr<Watch> EventLoop::add(std::unique_ptr<Watch::Impl> impl, Watch::Impl*& all) {
    assert_on_loop();
    impl->waiter = waiter_.get();
    impl->mirror = &mirror_;
    impl->ran = &ran_;
    impl->busy = &busy_;
    impl->arm();
    impl->first = &all;
    impl->next = all;
    if (all != nullptr) all->previous = impl.get();
    all = impl.get();
    return std::unique_ptr<Watch>(new Watch(std::move(impl)));
}

std::unique_ptr<Watch> EventLoop::watch(int fd, std::function<void(Ready)> on_ready) {
    auto impl = std::make_unique<Watch::Impl>();
    impl->fd = fd;
    impl->interest = POLLIN;
    impl->on_ready = std::move(on_ready);
    return add(std::move(impl), watches_);
}

std::unique_ptr<Watch> EventLoop::after(std::chrono::milliseconds delay, std::function<void()> on_time) {
    auto impl = std::make_unique<Watch::Impl>();
    impl->on_time = std::move(on_time);
    const auto deadline = impl->deadline = Clock::now() + delay;
    auto watch = add(std::move(impl), times_);
    if (mirror_ != nullptr && deadline < mirror_->time()) mirror_->show_time(deadline);
    return watch;
}

void EventLoop::skip(std::chrono::milliseconds time) {
    assert_on_loop();
    skipped_ = skipped_.load() + time;
    for (Watch::Impl* watch = times_; watch != nullptr; watch = watch->next) {
        if (!watch->on_time) continue;  // it was called
        watch->deadline -= time;
        watch->arm();
    }
    if (mirror_ != nullptr) show_next_time();
}

void EventLoop::show_in(LoopMirror* mirror) {
    mirror_ = mirror;
    if (mirror_ == nullptr) return;
    for (const Watch::Impl* watch = watches_; watch != nullptr; watch = watch->next) {
        if (watch->interest != 0) watch->show();
    }
    show_next_time();
}

void EventLoop::show_next_time() {
    Clock::time_point next = LoopMirror::kNever;
    for (const Watch::Impl* watch = times_; watch != nullptr; watch = watch->next) {
        if (watch->on_time) next = std::min(next, watch->deadline);
    }
    mirror_->show_time(next);
}

void EventLoop::wake() {
    if (wake_pending_.exchange(true)) return;
    // Without the descriptor the driver polls periodically. A write can only fail if the counter is full, and
    // then the driver is already awake.
    if (const int fd = wake_fd_; wakes(fd)) ::eventfd_write(fd, 1);
}

void EventLoop::on_wake() {
    eventfd_t count = 0;
    if (wakes(wake_fd_)) {
        ::eventfd_read(wake_fd_, &count);
    } else {
        // A mirror made meanwhile has the program's file under this number, perhaps one that stays readable.
        if (mirror_ != nullptr) mirror_->show(wake_fd_, 0);
        wake_fd_ = wake_watch_->impl_->fd = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        wake_watch_->impl_->show();
    }
    wake_pending_ = false;
    run_posted();
}

/// Whether this is the wake-up descriptor, or a file of the program under the number of a descriptor that it
/// has closed: such a file must not be written or read.
bool EventLoop::wakes(int fd) const {
    if (on_ == On::Libevent) return fd >= 0;
    struct stat facts {};
    // Anonymous descriptors look the same: eventfds, timerfds, and epoll sets.
    return fd >= 0 && ::fstat(fd, &facts) == 0 && (facts.st_mode & S_IFMT) == 0;
}

}  // namespace muster
