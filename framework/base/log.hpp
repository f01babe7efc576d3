// SPDX-License-Identifier: BSD-3-Clause
// The log of the library: silent unless enabled by the verbosity parameter of a framework
// (PMIX_MCA_<framework>_base_verbose), one line a message, on standard error.
#pragma once

#include <atomic>

namespace muster {

/// Levels as users of MCA know them: a message is shown when its level is at most the verbosity.
enum class LogLevel : int {
    Error = 1,  ///< something was refused, dropped or lost; shown from verbosity 1 on
    Warning = 2,
    Info = 5,    ///< selections and their reasons
    Debug = 10,  ///< each step
    Trace = 40   ///< each message
};

/// The log of one framework or service. Any thread. Cheap when not shown: test enabled() before formatting.
class Log {
  public:
    /// `name` is shown in each line; a literal.
    explicit Log(const char* name) : name_(name) {}

    void set_verbosity(int verbosity) { verbosity_ = verbosity; }
    int verbosity() const { return verbosity_; }
    bool enabled(LogLevel level) const {
        return static_cast<int>(level) <= verbosity_.load(std::memory_order_relaxed);
    }

    /// printf-like; one line, written with one system call.
    void write(LogLevel level, const char* format, ...) const __attribute__((format(printf, 3, 4)));

  private:
    const char* name_;
    std::atomic<int> verbosity_{0};
};

}  // namespace muster

/// Formats only when the level is shown.
#define MUSTER_LOG(log, level, ...)                                                                        \
    do {                                                                                                   \
        if ((log).enabled(::muster::LogLevel::level)) (log).write(::muster::LogLevel::level, __VA_ARGS__); \
    } while (0)
