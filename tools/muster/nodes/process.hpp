// SPDX-License-Identifier: BSD-3-Clause
// Starting one process, and ending the remaining ones.
#pragma once

#include <pmix_common.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace muster::launcher {

/// Our exit status where a job has reached its time limit, as timeout(1) has it.
inline constexpr int kTimeoutStatus = 124;

struct ProcessSpec {
    std::string program;  ///< without a slash it is looked up in env's PATH, then in wdir; empty: argv[0]
    std::vector<std::string> argv;
    std::vector<std::string> env;  ///< "NAME=VALUE"
    std::string wdir;
    std::vector<unsigned> cpus;  ///< empty: not bound
    bool with_stdin = false;     ///< a pipe; else /dev/null
    bool merge_stderr = false;   ///< standard error is written to the pipe of standard output
    bool stop_on_exec = false;   ///< it is stopped before its first instruction, until SIGCONT
};

/// Files that the program's name may mean, in the order in which they are tried; relative ones are below
/// wdir.
std::vector<std::string> program_files(const ProcessSpec& spec);

/// Why a process could not be started.
struct StartFailure {
    int status = 1;                                ///< as a shell gives it: 127 not found, 126 not executable
    int32_t code = PMIX_ERR_JOB_FAILED_TO_LAUNCH;  ///< as PMIx gives it
    std::string text;                              ///< a sentence
};

/// A started process; the caller owns the descriptors, -1 if there is none.
struct Process {
    pid_t pid = -1;
    int stdin_fd = -1;
    int stdout_fd = -1;
    int stderr_fd = -1;
    StartFailure failure;  ///< when pid is -1
};

/// Starts a process in its own process group, which dies with the calling thread. Its signal mask is that at
/// the call of remember_signals(). Waits until the program runs or could not be executed.
Process start_process(const ProcessSpec& spec);

/// Stores the signal mask and the open-files limit for started processes. Call first in main().
void remember_signals();

/// Makes them so again. In a child that is about to execute another program.
void restore_signals();

/// Makes orphans below this process its children, so that none escapes.
void adopt_orphans();

/// Ends all processes that are children of this one (ranks and adopted orphans), with the ranks' own process
/// groups, and their descendants: by SIGTERM first, unless `at_once`. Returns when none is left; SIGCHLD is
/// blocked in the caller. Gives up after some seconds on processes that cannot be killed.
void end_children(bool at_once);

/// "signal 11 (Segmentation fault)".
std::string signal_text(int signal);

}  // namespace muster::launcher
