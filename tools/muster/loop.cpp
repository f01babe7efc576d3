// SPDX-License-Identifier: BSD-3-Clause
// The event loop on libevent. The back end is poll rather than epoll, as the launcher's standard input may be
// a regular file, which epoll does not take.
#include "tools/muster/loop.hpp"

#include <event2/event.h>
#include <event2/util.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

namespace muster {

struct Watch::Impl {
    event* handle = nullptr;
    bool enabled = true;
    // Shared, so that a task may destroy its own watch while it runs.
    std::shared_ptr<Loop::Task> task;
};

void Watch::Drop::operator()(Impl* impl) const {
    if (impl == nullptr) return;
    event_free(impl->handle);
    delete impl;
}

void Watch::enable(bool on) {
    if (!impl_ || impl_->enabled == on) return;
    impl_->enabled = on;
    if (on) {
        event_add(impl_->handle, nullptr);
    } else {
        event_del(impl_->handle);
    }
}

namespace {

void on_event(evutil_socket_t, short, void* data) {
    auto task = *static_cast<std::shared_ptr<Loop::Task>*>(data);
    (*task)();
}

}  // namespace

Loop::Loop() {
    event_config* config = event_config_new();
    event_config_avoid_method(config, "epoll");
    base_ = event_base_new_with_config(config);
    event_config_free(config);
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (base_ == nullptr || wake_fd_ < 0) throw std::runtime_error("cannot create the event loop");
    wake_ = on_readable(wake_fd_, [this] { run_posted(); });
}

Loop::~Loop() {
    wake_.cancel();
    if (base_ != nullptr) event_base_free(base_);
    if (wake_fd_ >= 0) close(wake_fd_);
}

void Loop::run() {
    event_base_dispatch(base_);
}

void Loop::quit() {
    event_base_loopbreak(base_);
}

Watch Loop::add(int fd, short what, Task task) {
    Watch watch;
    watch.impl_.reset(new Watch::Impl);
    watch.impl_->task = std::make_shared<Task>(std::move(task));
    watch.impl_->handle = event_new(base_, fd, what, on_event, &watch.impl_->task);
    if (watch.impl_->handle == nullptr) throw std::bad_alloc();
    return watch;
}

Watch Loop::on_readable(int fd, Task task) {
    Watch watch = add(fd, EV_READ | EV_PERSIST, std::move(task));
    event_add(watch.impl_->handle, nullptr);
    return watch;
}

Watch Loop::on_writable(int fd, Task task) {
    Watch watch = add(fd, EV_WRITE | EV_PERSIST, std::move(task));
    event_add(watch.impl_->handle, nullptr);
    return watch;
}

Watch Loop::after(std::chrono::milliseconds delay, Task task) {
    Watch watch = add(-1, 0, std::move(task));
    timeval time{};
    time.tv_sec = static_cast<time_t>(delay.count() / 1000);
    time.tv_usec = static_cast<suseconds_t>(delay.count() % 1000 * 1000);
    event_add(watch.impl_->handle, &time);
    return watch;
}

void Loop::post(Task task) {
    {
        std::lock_guard guard(posted_lock_);
        posted_.push_back(std::move(task));
    }
    const uint64_t one = 1;
    [[maybe_unused]] ssize_t written = write(wake_fd_, &one, sizeof one);
}

void Loop::run_posted() {
    uint64_t count = 0;
    [[maybe_unused]] ssize_t got = read(wake_fd_, &count, sizeof count);
    std::vector<Task> tasks;
    {
        std::lock_guard guard(posted_lock_);
        tasks.swap(posted_);
    }
    for (Task& task : tasks)
        task();
}

}  // namespace muster
