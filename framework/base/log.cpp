// SPDX-License-Identifier: BSD-3-Clause
// Log lines: see log.hpp.
#include "framework/base/log.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "framework/base/uncancelled.hpp"

namespace muster {

void Log::write(LogLevel level, const char* format, ...) const {
    if (!enabled(level)) return;
    const Uncancelled uncancelled;  // write() may be where a thread ends
    char line[2048];
    int used = std::snprintf(line, sizeof line, "[pmix:%s:%d] ", name_, static_cast<int>(getpid()));
    va_list arguments;
    va_start(arguments, format);
    const int more =
        std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, arguments);
    va_end(arguments);
    if (more < 0) return;
    used += more;
    if (used > static_cast<int>(sizeof line) - 2) used = static_cast<int>(sizeof line) - 2;
    // Bytes of a peer may be in the message: a terminal must not act on them.
    for (int i = 0; i < used; ++i) {
        const auto byte = static_cast<unsigned char>(line[i]);
        if (byte < 0x20 || byte == 0x7f) line[i] = '?';
    }
    line[used++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, static_cast<size_t>(used));
}

}  // namespace muster
