// SPDX-License-Identifier: BSD-3-Clause
// vfork and exec with all data prepared: until exec the child runs in this process's memory, so that it may
// call only async-signal-safe functions. (fork would copy the page tables of this process for each process of
// a job: two thirds of the time of a start.)
#include "tools/muster/nodes/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

sigset_t original_mask;
rlimit original_files{};

enum class Stage : int { Directory, Bind, Trace, Execute };

struct Failure {
    Stage stage;
    int error;
};

const std::string& program_of(const ProcessSpec& spec) {
    return spec.program.empty() ? spec.argv[0] : spec.program;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> list;
    list.reserve(strings.size() + 1);
    for (const std::string& text : strings)
        list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

/// All that the child does; nothing here allocates, locks, or writes to memory that outlives it.
struct Child {
    const char* wdir;
    const cpu_set_t* cpus;
    size_t cpus_size;
    char* const* files;
    char* const* argv;
    char* const* shell_argv;  ///< "/bin/sh", a place for the file, the arguments
    char* const* env;
    int in, out, err, report;
    pid_t parent;
    bool traced;

    [[noreturn]] void fail(Stage stage, int error) const {
        const Failure failure{stage, error};
        [[maybe_unused]] ssize_t written = write(report, &failure, sizeof failure);
        _exit(127);
    }

    [[noreturn]] void run() const {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        struct sigaction standard;
        std::memset(&standard, 0, sizeof standard);
        standard.sa_handler = SIG_DFL;
        for (int number = 1; number < NSIG; ++number)
            sigaction(number, &standard, nullptr);
        sigprocmask(SIG_SETMASK, &original_mask, nullptr);
        if (original_files.rlim_cur != 0) setrlimit(RLIMIT_NOFILE, &original_files);
        dup2(in, 0);
        dup2(out, 1);
        dup2(err, 2);
        if (chdir(wdir) != 0) fail(Stage::Directory, errno);
        if (cpus != nullptr && sched_setaffinity(0, cpus_size, cpus) != 0) fail(Stage::Bind, errno);
        if (traced && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) fail(Stage::Trace, errno);
        int error = ENOENT;
        for (char* const* file = files; *file != nullptr; ++file) {
            execve(*file, argv, env);
            if (errno == ENOEXEC) {
                // A script without "#!" is the shell's, as everywhere.
                const_cast<char**>(shell_argv)[1] = *file;
                execve("/bin/sh", shell_argv, env);
            }
            if (errno != ENOENT && errno != ENOTDIR) error = errno;
        }
        fail(Stage::Execute, error);
    }
};

/// The child's pid; -1 with errno. Returns when the child has called exec or has ended.
[[gnu::noinline]] pid_t start_child(const Child& child) {
    // A handler of ours that ran in the child would write to our memory: the child lets signals in when all
    // have their standard effect again.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (pid == 0) child.run();
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return pid;
}

StartFailure describe(const ProcessSpec& spec, const Failure& failure) {
    const char* reason = strerror(failure.error);
    const std::string& name = program_of(spec);
    switch (failure.stage) {
        case Stage::Directory:
            return {1, PMIX_ERR_JOB_WDIR_NOT_FOUND,
                    fmt::format("cannot work in directory '{}': {}", spec.wdir, reason)};
        case Stage::Bind:
            return {1, PMIX_ERR_JOB_FAILED_TO_LAUNCH,
                    fmt::format("cannot be bound to its processors: {}", reason)};
        case Stage::Trace:
            return {1, PMIX_ERR_NOT_SUPPORTED,
                    fmt::format("cannot be stopped at its start, ptrace is not allowed: {}", reason)};
        case Stage::Execute:
            break;
    }
    struct stat info;
    const std::string file = name[0] == '/' ? name : spec.wdir + "/" + name;
    StartFailure found{127, PMIX_ERR_JOB_EXE_NOT_FOUND, {}};
    if (failure.error == ENOENT && name.find('/') == std::string::npos) {
        found.text = fmt::format("program '{}' not found in PATH or in '{}'", name, spec.wdir);
    } else if (failure.error == ENOENT && stat(file.c_str(), &info) == 0) {
        found.text = fmt::format("cannot execute '{}': its interpreter is not there", name);
    } else if (failure.error == ENOENT || failure.error == ENOTDIR) {
        found.text = name[0] == '/' ? fmt::format("program '{}' not found", name)
                                    : fmt::format("program '{}' not found in '{}'", name, spec.wdir);
    } else {
        found = {126, PMIX_ERR_JOB_APP_NOT_EXECUTABLE, fmt::format("cannot execute '{}': {}", name, reason)};
    }
    return found;
}

/// The process has been stopped by its exec for us, its tracer: it stays stopped for the debugger. SIGCONT
/// continues it.
void stay_stopped(pid_t pid) {
    int status = 0;
    // Peeked at (WNOWAIT), so that the waiting code still gets the status of a process that has ended early.
    const auto changed = [pid](int changes) {
        siginfo_t info{};
        while (waitid(P_PID, static_cast<id_t>(pid), &info, changes | WEXITED | WNOWAIT) != 0 &&
               errno == EINTR) {
        }
        return info.si_code;
    };
    const int first = changed(WSTOPPED);
    if (first != CLD_TRAPPED && first != CLD_STOPPED) return;
    waitpid(pid, &status, 0);
    ptrace(PTRACE_DETACH, pid, nullptr, reinterpret_cast<void*>(static_cast<intptr_t>(SIGSTOP)));
    // It runs for a moment before it stops again: a process must be stopped when it is announced as stopped.
    changed(WSTOPPED | WCONTINUED);
}

void close_both(int (&pair)[2]) {
    for (int& fd : pair) {
        if (fd >= 0) close(fd);
        fd = -1;
    }
}

}  // namespace

std::vector<std::string> program_files(const ProcessSpec& spec) {
    const std::string& name = program_of(spec);
    if (name.find('/') != std::string::npos) return {name};
    std::vector<std::string> files;
    std::string path = "/usr/local/bin:/usr/bin:/bin";
    for (const std::string& variable : spec.env) {
        if (variable.starts_with("PATH=")) path = variable.substr(5);
    }
    for (const std::string& folder : split(path, ':'))
        files.push_back((folder.empty() ? "." : folder) + "/" + name);
    files.push_back("./" + name);
    return files;
}

void remember_signals() {
    sigprocmask(SIG_SETMASK, nullptr, &original_mask);
    if (getrlimit(RLIMIT_NOFILE, &original_files) == 0) {
        rlimit most = original_files;
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &most);
    }
}

void restore_signals() {
    ::signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &original_mask, nullptr);
    setrlimit(RLIMIT_NOFILE, &original_files);
}

Process start_process(const ProcessSpec& spec) {
    Process process;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
    const bool piped = pipe2(out, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0 &&
                       (spec.merge_stderr || pipe2(err, O_CLOEXEC) == 0) &&
                       (spec.with_stdin ? pipe2(in, O_CLOEXEC) == 0
                                        : (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
    if (!piped) {
        process.failure.text = fmt::format("cannot make pipes for its output: {}", strerror(errno));
        for (auto* pair : {&in, &out, &err, &report})
            close_both(*pair);
        return process;
    }

    std::vector<std::string> files = program_files(spec);
    std::vector<char*> file_list = pointers(files), argv = pointers(spec.argv), env = pointers(spec.env);
    std::vector<char*> shell_argv = argv;
    char shell[] = "/bin/sh";
    shell_argv.insert(shell_argv.begin(), shell);
    unsigned most = 0;
    for (unsigned cpu : spec.cpus)
        most = std::max(most, cpu);
    const size_t cpus_size = CPU_ALLOC_SIZE(most + 1);
    cpu_set_t* cpus = nullptr;
    if (!spec.cpus.empty()) {
        cpus = CPU_ALLOC(most + 1);
        CPU_ZERO_S(cpus_size, cpus);
        for (unsigned cpu : spec.cpus)
            CPU_SET_S(cpu, cpus_size, cpus);
    }
    const Child child{spec.wdir.c_str(),
                      cpus,
                      cpus_size,
                      file_list.data(),
                      argv.data(),
                      shell_argv.data(),
                      env.data(),
                      in[0],
                      out[1],
                      spec.merge_stderr ? out[1] : err[1],
                      report[1],
                      getpid(),
                      spec.stop_on_exec};
    const pid_t pid = start_child(child);
    const int fork_error = errno;
    if (cpus != nullptr) CPU_FREE(cpus);
    close(in[0]);
    close(out[1]);
    if (err[1] >= 0) close(err[1]);
    close(report[1]);

    Failure failure{};
    ssize_t got = 0;
    if (pid > 0) {
        setpgid(pid, pid);  // in whichever of the two comes first
        do {
            got = read(report[0], &failure, sizeof failure);
        } while (got < 0 && errno == EINTR);
    }
    close(report[0]);
    if (pid > 0 && got == 0) {
        if (spec.stop_on_exec) stay_stopped(pid);
        process.pid = pid;
        process.stdin_fd = in[1];
        process.stdout_fd = out[0];
        process.stderr_fd = err[0];
        return process;
    }
    if (in[1] >= 0) close(in[1]);
    close(out[0]);
    if (err[0] >= 0) close(err[0]);
    if (pid < 0) {
        process.failure.text = fmt::format("cannot start a process: {}", strerror(fork_error));
        return process;
    }
    waitpid(pid, nullptr, 0);
    process.failure = describe(spec, failure);
    return process;
}

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

namespace {

struct ChildProcess {
    pid_t pid;
    pid_t group;
};

std::vector<ChildProcess> children() {
    std::vector<ChildProcess> found;
    DIR* folder = opendir("/proc");
    if (folder == nullptr) return found;
    while (dirent* entry = readdir(folder)) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        std::ifstream file(std::string("/proc/") + entry->d_name + "/stat");
        std::string line;
        std::getline(file, line);
        // "pid (name) state parent group ...", and the name may contain anything.
        const size_t end = line.rfind(')');
        if (end == std::string::npos) continue;
        char state = 0;
        int parent = 0, group = 0;
        if (sscanf(line.c_str() + end + 1, " %c %d %d", &state, &parent, &group) == 3 && parent == getpid()) {
            found.push_back({atoi(entry->d_name), group});
        }
    }
    closedir(folder);
    return found;
}

}  // namespace

void end_children(bool at_once) {
    constexpr int kSteps = 500;  // of 10 ms
    constexpr int kPoliteSteps = 100;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    for (int step = 0; step < kSteps; ++step) {
        pid_t pid = 0;
        do {
            pid = waitpid(-1, nullptr, WNOHANG);
        } while (pid > 0);
        if (pid < 0) return;  // no child is left
        const bool force = at_once || step >= kPoliteSteps;
        if (step == 0 || force) {
            for (const ChildProcess& child : children()) {
                // A group that it leads may hold processes that are not our children yet. Another group is
                // not touched as a whole: it may be someone else's.
                const pid_t target = child.group == child.pid ? -child.group : child.pid;
                kill(target, force ? SIGKILL : SIGTERM);
                if (!force) kill(target, SIGCONT);
            }
        }
        const timespec wait{0, 10'000'000};
        sigtimedwait(&wanted, nullptr, &wait);
    }
}

std::string signal_text(int signal) {
    const char* text = sigdescr_np(signal);
    return text != nullptr ? fmt::format("signal {} ({})", signal, text) : fmt::format("signal {}", signal);
}

}  // namespace muster::launcher
