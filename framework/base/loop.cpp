// SPDX-License-Identifier: BSD-3-Clause
// The event loop: see loop.hpp. Posted tasks travel through a vector that is swapped out whole, so that a
// burst costs one lock and one wake-up.
#include "framework/base/loop.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "framework/base/polling.hpp"
#include "framework/base/unique_fd.hpp"
#include "framework/base/waiter.hpp"

namespace muster {

namespace {

/// For how long who has something short to do waits for the loop: less than to wake our thread for it takes.
constexpr std::chrono::microseconds kSoon{30};

/// Enough for most messages whole; of what is longer the rest goes where it belongs.
constexpr size_t kScratchSize = size_t{16} << 10;

/// Runs one callback. What it throws (memory that ran short) ends it alone: it must not cross libevent's C
/// frames, and the host's process goes on. Whoever waits for what the callback would have done has a time
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
    mirror();
    if (first != nullptr) (previous != nullptr ? previous->next : *first) = next;
    if (next != nullptr) next->previous = previous;
}

void Watch::Impl::enlist(Impl*& all) {
    first = &all;
    next = all;
    if (next != nullptr) next->previous = this;
    all = this;
}

bool Watch::Impl::presses() const {
    if (on_ready == nullptr) return on_time != nullptr;
    return (interest & (can_wait ? POLLOUT : POLLIN | POLLOUT)) != 0;
}

void Watch::Impl::arm() {
    mirror();
    waiter->set(*this);
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
    const auto interest = static_cast<short>(on ? impl_->interest | POLLOUT : impl_->interest & ~POLLOUT);
    if (interest == impl_->interest) return;
    impl_->interest = interest;
    impl_->arm();
}

void Watch::want_read(bool on) {
    const auto interest = static_cast<short>(on ? impl_->interest | POLLIN : impl_->interest & ~POLLIN);
    if (interest == impl_->interest) return;
    impl_->interest = interest;
    impl_->arm();
}

EventLoop::EventLoop(Drive drive) : drive_(drive) {
    wake_fd_ = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake_fd_ < 0) throw std::bad_alloc();
    if (drive_ == Drive::External && !make_mirror()) throw std::bad_alloc();
    if (drive_ == Drive::External) waiter();
}

std::span<uint8_t> EventLoop::scratch() {
    // Not std::make_unique: of pages that nothing is read into none is to be touched.
    if (!scratch_) scratch_.reset(new uint8_t[kScratchSize]);
    return {scratch_.get(), kScratchSize};
}

/// What waits for us, and wakes whoever drives. Chosen when it is first asked for, which is before anybody
/// drives.
Waiter& EventLoop::waiter() {
    if (waiter_) return *waiter_;
    if (!shared_) waiter_ = make_libevent_waiter();
    if (!waiter_) waiter_ = make_poll_waiter();
    // Not among watches_: nobody need drive the loop for it.
    wake_watch_ = new_watch();
    wake_watch_->fd = wake_fd_;
    wake_watch_->interest = POLLIN;
    wake_watch_->doubted = shared_;
    wake_watch_->on_ready = [this](Ready) {
        drain_wake();
        run_posted();
    };
    wake_watch_->arm();
    return *waiter_;
}

void EventLoop::share() {
    if (drive_ != Drive::Thread) return;
    shared_ = true;
    waiter();
}

EventLoop::~EventLoop() {
    stop();
    running_.clear();
    turn_end_.clear();
    posted_.clear();
    wake_watch_.reset();
    waiter_.reset();
    if (gate_fd_ >= 0) drop_gate();
    for (const int fd : {poll_fd_, timer_fd_}) {
        if (fd >= 0) ::close(fd);
    }
    if (wakes(wake_fd_)) ::close(wake_fd_);
}

void EventLoop::start(const char* name) {
    if (drive_ != Drive::Thread) return;
    need_thread();
    start_when_needed(name);
}

void EventLoop::start_when_needed(const char* name) {
    if (drive_ != Drive::Thread) return;
    {
        const std::lock_guard lock(thread_lock_);
        if (started_) return;
        waiter();
        std::strncpy(name_, name, sizeof name_ - 1);
        stopping_ = false;
        if ((!shared_ || needed_) && !launch()) throw std::bad_alloc();
        put_off_ = !thread_;
        started_ = true;
    }
    if (!put_off_) return;
    // Something may be left from before.
    wait_for_drive();
    give_drive();
}

bool EventLoop::need_thread() noexcept {
    needed_ = true;
    if (!put_off_) return true;
    const std::lock_guard lock(thread_lock_);
    if (!put_off_) return true;
    if (!launch()) return false;
    put_off_ = false;
    return true;
}

/// A thread that allocates and frees nothing is given no arena by malloc, which would be made and unmade for
/// it: hence not a std::thread.
bool EventLoop::launch() noexcept {
    pthread_t thread{};
    const auto body = [](void* self) -> void* {
        auto* loop = static_cast<EventLoop*>(self);
        pthread_setname_np(pthread_self(), loop->name_);
        if (loop->shared_) {
            loop->run_shared();
        } else {
            loop->run_alone();
        }
        return nullptr;
    };
    bool made = false;
    pthread_attr_t attributes;
    if (bound_to_ && pthread_attr_init(&attributes) == 0) {
        made = pthread_attr_setaffinity_np(&attributes, sizeof *bound_to_, &*bound_to_) == 0 &&
               pthread_create(&thread, &attributes, body, this) == 0;
        pthread_attr_destroy(&attributes);
    }
    // A thread that cannot be where it was wanted is better than none.
    if (!made && pthread_create(&thread, nullptr, body, this) != 0) return false;
    thread_ = thread;
    return true;
}

/// Our thread of a loop that nobody shares.
void EventLoop::run_alone() {
    driver_ = std::this_thread::get_id();
    while (!stopping_)
        wait_turn();
    run_posted();
    driver_ = std::thread::id();
}

/// Whether there is something that somebody has to drive the loop for. The driver's.
bool EventLoop::leaves_something() {
    for (const Watch::Impl* first : {watches_, times_}) {
        for (const Watch::Impl* watch = first; watch != nullptr; watch = watch->next) {
            if (watch->presses()) return true;
        }
    }
    const std::lock_guard lock(posted_lock_);
    return !posted_.empty();
}

bool EventLoop::run_borrowed(Task& task, const std::function<bool()>& done) {
    if (!shared_ || stopping_ || !take_drive(std::chrono::milliseconds(0))) return false;
    borrowed_ = true;
    borrower_ = &done;
    run_posted();
    contained(task);
    run_turn_end();
    const bool waits = !done() && !stopping_;
    if (waits) {
        open_gate(false);
        busy_ = true;
        do {
            wait_turn();
        } while (!done() && !stopping_);
    }
    borrower_ = nullptr;
    borrowed_ = false;
    if (stopping_) wake();  // our thread is to see it, too
    if (waits) open_gate(true);
    give_drive();
    return true;
}

/// Our thread mostly is at something short; who has borrowed the loop may wait there for long.
bool EventLoop::take_drive_soon() {
    if (take_drive(std::chrono::milliseconds(0))) return true;
    const Clock::time_point end = Clock::now() + kSoon;
    while (!borrowed_ && Clock::now() < end) {
        sched_yield();
        if (take_drive(std::chrono::milliseconds(0))) return true;
    }
    return false;
}

bool EventLoop::run_here(Task& task) {
    if (!shared_ || stopping_ || !take_drive_soon()) return false;
    bool free = false;
    {
        std::lock_guard lock(posted_lock_);
        free = posted_.empty();
    }
    if (free) {
        contained(task);
        run_turn_end();
    }
    give_drive();
    return free;
}

void EventLoop::catch_up() {
    if (!put_off_ || !take_drive(std::chrono::milliseconds(0))) return;
    turn(false);
    give_drive();
}

void EventLoop::stop(Task last) {
    std::optional<pthread_t> thread;
    {
        const std::lock_guard lock(thread_lock_);
        if (!started_) return;
        started_ = false;
        put_off_ = false;
        stopping_ = true;
        thread = std::exchange(thread_, std::nullopt);
    }
    if (last) {
        const std::lock_guard lock(posted_lock_);
        posted_.push_back(std::move(last));
        any_posted_ = true;
    }
    if (thread || borrowed_) wake();
    if (thread) pthread_join(*thread, nullptr);
    if (!shared_) return;
    wait_for_drive();
    run_posted();
    give_drive();
}

bool EventLoop::on_loop() const {
    return driver_.load() == std::this_thread::get_id();
}

void EventLoop::post(Task task) {
    // First: what was posted must not wait for a thread that cannot be had.
    if (put_off_ && !on_loop() && !need_thread()) throw std::bad_alloc();
    {
        std::lock_guard lock(posted_lock_);
        posted_.push_back(std::move(task));
        any_posted_ = true;
    }
    // Whoever runs the loop looks for it before it waits, and before it lets go of the loop.
    if (drive_ == Drive::Thread && on_loop()) return;
    wake();
}

void EventLoop::at_turn_end(Task task) {
    if (!on_loop()) return post(std::move(task));
    turn_end_.push_back(std::move(task));
}

void EventLoop::turn(bool wait) {
    waiter_->turn(wait);
    end_turn();
}

/// What follows what the waiter has fired.
void EventLoop::end_turn() {
    // One that has come must not keep the mirror readable.
    if (shown_time_ != kNever && shown_time_ <= Clock::now()) show_next_time();
    run_turn_end();
    // What the callbacks have posted, too, unless a borrower has better left by now.
    if (drive_ != Drive::Thread || !any_posted_ || should_yield()) return;
    ran_ = busy_ = true;
    run_posted();
}

/// A turn that waits until something happens, or has looked for it in vain: the caller looks at its own
/// condition, too, and comes again.
void EventLoop::wait_turn() {
    // Tasks that tasks have posted: what has come meanwhile has its turn before them.
    if (any_posted_) return turn(false);
    const bool likely = std::exchange(busy_, false);
    if (!likely || !polling_ || !polling_->allowed()) return turn(true);
    poll();
}

void EventLoop::poll() {
    ran_ = false;
    // A thread that posts need not wake one that looks anyway. Where the flag is set already, somebody writes
    // or has written.
    const bool quiet = !wake_pending_.exchange(true);
    polling_->poll([this] {
        // What was posted is mostly what is waited for; the descriptors have their look in the next turn.
        if (any_posted_)
            end_turn();
        else
            turn(false);
        return ran_ || stopping_ || should_yield();
    });
    // By exchange: what came with a wake that was left out is seen here, and runs in the next turn.
    if (quiet && wake_pending_.exchange(false) && any_posted_) busy_ = true;
}

bool EventLoop::poll_for(const std::function<bool()>& found) {
    if (!shared_ || stopping_ || !polling_ || !take_drive(std::chrono::milliseconds(0))) return false;
    bool has = false;
    polling_->poll([&] {
        has = found();
        return has || stopping_;
    });
    give_drive();
    return has;
}

void EventLoop::poll_first(std::chrono::microseconds limit) {
    if (drive_ == Drive::Thread && limit.count() > 0) polling_ = std::make_unique<Polling>(limit);
}

void EventLoop::may_poll(bool on) {
    if (polling_) polling_->allow(on);
}

void EventLoop::run_turn_end() {
    while (!turn_end_.empty()) {
        for (Task& task : std::exchange(turn_end_, {}))
            contained(task);
    }
}

void EventLoop::dispatch(Task task) {
    if (on_loop()) {
        task();
    } else {
        post(std::move(task));
    }
}

std::unique_ptr<Watch::Impl> EventLoop::new_watch() {
    auto impl = std::make_unique<Watch::Impl>();
    impl->waiter = &waiter();
    impl->ran = &ran_;
    impl->busy = &busy_;
    return impl;
}

std::unique_ptr<Watch> EventLoop::watch(int fd, std::function<void(Ready)> on_ready) {
    auto impl = new_watch();
    impl->fd = fd;
    impl->interest = POLLIN;
    impl->on_ready = std::move(on_ready);
    impl->mirror_fd = &poll_fd_;
    impl->arm();
    impl->enlist(watches_);
    return std::unique_ptr<Watch>(new Watch(std::move(impl)));
}

std::unique_ptr<Watch> EventLoop::after(std::chrono::milliseconds delay, std::function<void()> on_time) {
    auto impl = new_watch();
    impl->on_time = std::move(on_time);
    impl->deadline = Clock::now() + delay;
    impl->arm();
    impl->enlist(times_);
    if (impl->deadline < shown_time_) show_time(impl->deadline);
    return std::unique_ptr<Watch>(new Watch(std::move(impl)));
}

void EventLoop::skip(std::chrono::milliseconds time) {
    skipped_ = skipped_.load() + time;
    for (Watch::Impl* watch = times_; watch != nullptr; watch = watch->next) {
        if (!watch->on_time) continue;  // it was called
        watch->deadline -= time;
        watch->arm();
    }
    show_next_time();
}

bool EventLoop::take_drive(std::chrono::milliseconds limit) {
    std::unique_lock lock(drive_lock_);
    if (driven_ && limit.count() > 0) drive_free_.wait_for(lock, limit);
    if (driven_) return false;
    driven_ = true;
    driver_ = std::this_thread::get_id();
    return true;
}

void EventLoop::wait_for_drive() {
    std::unique_lock lock(drive_lock_);
    drive_free_.wait(lock, [this] { return !driven_; });
    driven_ = true;
    driver_ = std::this_thread::get_id();
}

void EventLoop::give_drive() {
    if (put_off_ && (needed_ || leaves_something())) need_thread();
    // Posted from the loop, which is left now.
    if (drive_ == Drive::Thread && any_posted_) wake();
    {
        std::lock_guard lock(drive_lock_);
        driver_ = std::thread::id();
        driven_ = false;
    }
    drive_free_.notify_all();
}

bool EventLoop::progress() {
    if (drive_ != Drive::External || on_loop()) return false;
    if (!take_drive(std::chrono::milliseconds(0))) return false;
    turn(false);
    give_drive();
    return true;
}

void EventLoop::run_until(const std::function<bool()>& done) {
    while (!done()) {
        // The driver wakes for every completion, and hands over when its own condition holds; the others look
        // again after a short wait, so that none depends on the one before it leaving in a given order.
        if (!take_drive(std::chrono::milliseconds(1))) continue;
        while (!done())
            turn(true);
        give_drive();
    }
}

void EventLoop::wake() {
    if (wake_pending_.exchange(true)) return;
    const uint64_t one = 1;
    const int fd = wake_fd_;
    // Whoever drives looks again by itself, where there is nothing to be woken by.
    if (!wakes(fd)) return;
    // Can only fail when the counter is full, and then the loop is awake already.
    [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

void EventLoop::drain_wake() {
    uint64_t count = 0;
    if (wakes(wake_fd_)) {
        [[maybe_unused]] const ssize_t got = ::read(wake_fd_, &count, sizeof count);
    } else {
        renew_wake();
    }
    wake_pending_ = false;
}

/// Whether this is what wakes us, or else something that the program has got after it has closed that: a file
/// must not be written to, or read. Only who shares his loop is in a program that may do so.
bool EventLoop::wakes(int fd) const {
    if (!shared_) return fd >= 0;
    struct stat facts {};
    // All that has no other type looks the same: descriptors for events, times, and sets of them.
    return fd >= 0 && ::fstat(fd, &facts) == 0 && (facts.st_mode & S_IFMT) == 0;
}

/// On the loop. Without a descriptor for it the driver looks from time to time.
void EventLoop::renew_wake() {
    wake_fd_ = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    wake_watch_->fd = wake_fd_;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (poll_fd_ >= 0 && wake_fd_ >= 0) epoll_ctl(poll_fd_, EPOLL_CTL_ADD, wake_fd_, &wanted);
}

void EventLoop::run_posted() {
    // A task may call this again.
    std::vector<Task> running = std::exchange(running_, {});
    {
        std::lock_guard lock(posted_lock_);
        running.swap(posted_);
        any_posted_ = false;
    }
    for (Task& task : running) {
        Task current = std::move(task);
        contained(current);
    }
    running.clear();
    running_ = std::move(running);
    run_turn_end();  // what was asked for does not wait for what else has come
}

}  // namespace muster
