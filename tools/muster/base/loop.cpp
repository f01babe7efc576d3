// SPDX-License-Identifier: BSD-3-Clause
// Driving the loop: see loop.hpp.
#include "tools/muster/base/loop.hpp"

#include <utility>

namespace muster::launcher {

void Watch::enable(bool on) {
    if (!watch_) return;
    writes_ ? watch_->want_write(on) : watch_->want_read(on);
}

void Loop::run() {
    Task nothing = [] {};
    callers_.run_borrowed(nothing, [this] { return over_; });
}

Watch Loop::on_readable(int fd, Callback callback) {
    return {loop_.watch(fd, [callback = std::move(callback)](EventLoop::Ready) { callback(); }), false};
}

Watch Loop::on_writable(int fd, Callback callback) {
    auto watch = loop_.watch(fd, [callback = std::move(callback)](EventLoop::Ready) { callback(); });
    watch->want_read(false);
    watch->want_write(true);
    return {std::move(watch), true};
}

Watch Loop::after(std::chrono::milliseconds delay, Callback callback) {
    return {loop_.after(delay, std::move(callback)), false};
}

}  // namespace muster::launcher
