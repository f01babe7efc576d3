// SPDX-License-Identifier: BSD-3-Clause
// Standard input.
#include "tools/muster/jobs/input.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace muster::launcher {
namespace {

constexpr uint64_t kWindow = 256 * 1024;
constexpr size_t kReadSize = 16 * 1024;

bool in_background() {
    return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) != getpgrp();
}

}  // namespace

Input::Input(Loop& loop, std::set<uint32_t> readers, std::function<void(uint32_t, std::string_view)> send)
    : loop_(loop), readers_(std::move(readers)), send_(std::move(send)) {}

void Input::start() {
    if (readers_.empty()) return;
    readable_ = loop_.on_readable(STDIN_FILENO, [this] { read_some(); });
    resume();
}

void Input::resume() {
    readable_.enable(!ended_ && in_flight_ < kWindow && !in_background());
}

void Input::read_some() {
    // Put into the background since: SIGTTIN would stop us.
    if (in_background()) return readable_.enable(false);
    char buffer[kReadSize];
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) {
        ended_ = true;
        readable_.enable(false);
    }
    const std::string_view bytes(buffer, n > 0 ? static_cast<size_t>(n) : 0);
    for (uint32_t rank : readers_) {
        in_flight_ += bytes.size();
        send_(rank, bytes);
    }
    if (in_flight_ >= kWindow) readable_.enable(false);
}

void Input::taken(uint64_t bytes) {
    in_flight_ -= std::min(bytes, in_flight_);
    resume();
}

void Input::refused(uint32_t rank) {
    readers_.erase(rank);
    if (readers_.empty()) {
        ended_ = true;
        readable_.enable(false);
    }
}

}  // namespace muster::launcher
