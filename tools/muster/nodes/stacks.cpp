// SPDX-License-Identifier: BSD-3-Clause
// Stack traces: runs the available program for each process and reads its output.
#include "tools/muster/nodes/stacks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// For one process.
constexpr std::chrono::seconds kTraceLimit{10};
constexpr size_t kMostText = 256 * 1024;

/// The words of each program in front of the process ID, in the order in which they are tried.
const std::vector<std::vector<std::string>> kTracers = {
    {"gstack"}, {"eu-stack", "-p"}, {"gdb", "-nx", "-batch", "-ex", "thread apply all bt", "-p"}};

/// The command whose program is in PATH, with the program's path; empty if there is none.
std::vector<std::string> find_tracer() {
    const char* path = getenv("PATH");
    for (std::vector<std::string> command : kTracers) {
        for (const std::string& dir : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
            const std::string file = dir + "/" + command[0];
            if (dir.empty() || access(file.c_str(), X_OK) != 0) continue;
            command[0] = file;
            return command;
        }
    }
    return {};
}

}  // namespace

void Stacks::trace(Loop& loop, std::vector<std::pair<ProcId, pid_t>> procs, Done done) {
    const std::shared_ptr<Stacks> stacks(new Stacks(loop, std::move(procs), std::move(done)));
    stacks->next();
}

Stacks::Stacks(Loop& loop, std::vector<std::pair<ProcId, pid_t>> procs, Done done)
    : loop_(loop), procs_(std::move(procs)), done_(std::move(done)), command_(find_tracer()) {}

void Stacks::next() {
    if (command_.empty()) return done_("none of gstack, eu-stack and gdb is in PATH", {});
    if (traces_.size() == procs_.size()) return done_({}, traces_);
    ProcessSpec spec;
    spec.argv = command_;
    spec.argv.push_back(std::to_string(procs_[traces_.size()].second));
    for (char** variable = environ; *variable != nullptr; ++variable)
        spec.env.emplace_back(*variable);
    spec.wdir = "/";
    spec.merge_stderr = true;
    text_.clear();
    tracer_ = start_process(spec);
    if (tracer_.pid < 0) {
        text_ = tracer_.failure.text + "\n";
        return finish_one();
    }
    fcntl(tracer_.stdout_fd, F_SETFL, O_NONBLOCK);
    // Either keeps this alive.
    readable_ = loop_.on_readable(tracer_.stdout_fd, [self = shared_from_this()] { self->read_some(); });
    limit_ = loop_.after(kTraceLimit, [self = shared_from_this()] {
        kill(-self->tracer_.pid, SIGKILL);
        self->text_ += "(the trace took too long)\n";
        self->finish_one();
    });
}

void Stacks::read_some() {
    char buffer[16 * 1024];
    const ssize_t got = read(tracer_.stdout_fd, buffer, sizeof buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return finish_one();
    if (text_.size() < kMostText) text_.append(buffer, static_cast<size_t>(got));
}

/// The node waits for the tracer as for any of its children.
void Stacks::finish_one() {
    const std::shared_ptr<Stacks> self = shared_from_this();
    readable_.cancel();
    limit_.cancel();
    if (tracer_.stdout_fd >= 0) close(tracer_.stdout_fd);
    tracer_ = {};
    traces_.emplace_back(procs_[traces_.size()].first, std::exchange(text_, {}));
    loop_.post([self] { self->next(); });
}

}  // namespace muster::launcher
