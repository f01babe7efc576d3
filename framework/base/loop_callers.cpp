// SPDX-License-Identifier: BSD-3-Clause
// Callers as the drivers of a loop: see loop_callers.hpp.
#include "framework/base/loop_callers.hpp"

#include <chrono>
#include <new>

namespace muster {

LoopCallers::~LoopCallers() {
    if (mirror_) loop_.show_in(nullptr);
}

bool LoopCallers::run_borrowed(Task& task, const Condition& done) {
    if (loop_.stopped() || !loop_.take()) return false;
    driving_ = true;
    loop_.await(&done);
    loop_.run_posted();
    loop_.run(task);
    if (!done() && !loop_.stopped()) {
        if (thread_ != nullptr) thread_->hold_back(true);
        do {
            loop_.wait_turn();
        } while (!done() && !loop_.stopped());
        if (thread_ != nullptr) thread_->hold_back(false);
    }
    loop_.await(nullptr);
    driving_ = false;
    if (loop_.stopped()) loop_.wake();  // the library's thread must see it, too
    loop_.give();
    return true;
}

bool LoopCallers::run_here(Task& task) {
    if (loop_.stopped() || !loop_.take()) return false;
    const bool free = !loop_.has_posted();
    if (free) loop_.run(task);
    loop_.give();
    return free;
}

bool LoopCallers::poll_for(const Condition& found) {
    if (loop_.stopped() || !loop_.polling().allowed() || !loop_.take()) return false;
    bool has = false;
    loop_.polling().poll([&] {
        has = found();
        return has || loop_.stopped();
    });
    loop_.give();
    return has;
}

bool LoopCallers::progress() {
    if (!loop_.take()) return false;
    loop_.turn(false);
    loop_.give();
    return true;
}

void LoopCallers::run_until(const Condition& done) {
    while (!done()) {
        // The driver wakes for every completion, and leaves when its own condition holds. The others check
        // again after a short wait, so that none depends on the order in which the drivers leave.
        if (!loop_.take(std::chrono::milliseconds(1))) continue;
        driving_ = true;
        while (!done())
            loop_.wait_turn();
        driving_ = false;
        loop_.give();
    }
}

int LoopCallers::poll_fd() {
    if (!mirror_) {
        if (!mirror_.emplace(false).ok()) throw std::bad_alloc();
        loop_.show_in(&*mirror_);
    }
    return mirror_->fd();
}

}  // namespace muster
