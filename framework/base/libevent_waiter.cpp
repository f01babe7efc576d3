// SPDX-License-Identifier: BSD-3-Clause
// A waiter on libevent: see waiter.hpp.
#include <event2/event.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <new>

#include "framework/base/unique_fd.hpp"
#include "framework/base/waiter.hpp"

namespace muster {
namespace {

class LibeventWaiter : public Waiter {
  public:
    explicit LibeventWaiter(event_base* base) : base_(base) {}
    ~LibeventWaiter() override { event_base_free(base_); }

    void set(Watch::Impl& watch) override {
        if (watch.on_time) {
            set_time(watch);
            return;
        }
        short what = EV_PERSIST;
        if ((watch.interest & POLLIN) != 0) what |= EV_READ;
        if ((watch.interest & POLLOUT) != 0) what |= EV_WRITE;
        if (watch.handle == nullptr) {
            watch.handle = event_new(base_, watch.fd, what, &fired, &watch);
            if (watch.handle == nullptr) throw std::bad_alloc();
        } else {
            event_del(watch.handle);
            event_assign(watch.handle, base_, watch.fd, what, &fired, &watch);
        }
        if (watch.interest != 0 && event_add(watch.handle, nullptr) != 0) throw std::bad_alloc();
    }

    void remove(Watch::Impl& watch) noexcept override {
        if (watch.handle != nullptr) event_free(watch.handle);
        watch.handle = nullptr;
    }

    void turn(bool wait) override {
        event_base_loop(base_, wait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }

  private:
    void set_time(Watch::Impl& watch) {
        using namespace std::chrono;
        if (watch.handle == nullptr) watch.handle = event_new(base_, -1, 0, &fired, &watch);
        if (watch.handle == nullptr) throw std::bad_alloc();
        const auto left =
            std::max(duration_cast<microseconds>(watch.deadline - steady_clock::now()), microseconds::zero());
        const timeval delay{duration_cast<seconds>(left).count(), (left % seconds(1)).count()};
        if (event_add(watch.handle, &delay) != 0) throw std::bad_alloc();
    }

    static void fired(evutil_socket_t, short what, void* watch) {
        int ready = 0;
        if ((what & EV_READ) != 0) ready |= POLLIN;
        if ((what & EV_WRITE) != 0) ready |= POLLOUT;
        static_cast<Watch::Impl*>(watch)->fire(static_cast<short>(ready));
    }

    event_base* base_;
};

}  // namespace

/// As many as it takes when it is made: where it does not get them it ends the process.
static bool has_room_for_libevent() {
    UniqueFd taken[4];
    for (UniqueFd& one : taken) {
        one = UniqueFd(eventfd(0, EFD_CLOEXEC));
        if (!one) return false;
    }
    return true;
}

std::unique_ptr<Waiter> make_libevent_waiter() {
    if (!has_room_for_libevent()) return nullptr;
    // libevent's own locking stays off: only the thread that drives the loop touches it.
    event_config* config = event_config_new();
    if (config == nullptr) return nullptr;
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
    event_config_require_features(config, EV_FEATURE_O1);
    // It keeps its own descriptors.
    const StandardDescriptorsHeld held;
    event_base* base = event_base_new_with_config(config);
    event_config_free(config);
    return base == nullptr ? nullptr : std::make_unique<LibeventWaiter>(base);
}

}  // namespace muster
