// SPDX-License-Identifier: BSD-3-Clause
// What a debugger may ask of a job: where its processes stop and wait, which jobs are debugger daemons and
// of whom, and what is started in place of a process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// Some of the ranks of a job.
struct RankChoice {
    bool all = false;
    std::vector<uint32_t> ranks;

    static auto fields(auto& self) { return std::tie(self.all, self.ranks); }
    bool any() const { return all || !ranks.empty(); }
    bool means(uint32_t rank) const {
        return all || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    }
};

/// Where processes wait for a debugger.
struct StopPoints {
    RankChoice on_exec;  ///< before the first instruction, stopped by a signal
    RankChoice in_init;  ///< within PMIx_Init
    RankChoice in_app;   ///< where the program itself sees fit
    static auto fields(auto& self) { return std::tie(self.on_exec, self.in_init, self.in_app); }
    bool any() const { return on_exec.any() || in_init.any() || in_app.any(); }
};

/// That a program is a debugger's daemon, and how many of it there are.
struct DaemonPolicy {
    bool daemon = false;
    uint32_t per_node = 0;           ///< on each node that has a process of the target; 0: not said
    uint32_t per_proc = 0;           ///< for each process of the target; 0: not said
    std::optional<ProcName> target;  ///< the job, or the process
    static auto fields(auto& self) {
        return std::tie(self.daemon, self.per_node, self.per_proc, self.target);
    }
};

/// What is started in place of a program.
struct Agents {
    std::string exec;  ///< gets the program's command line behind its own, and becomes the program
    std::string fork;  ///< comes back as a tool, is told what to start, and starts it
    static auto fields(auto& self) { return std::tie(self.exec, self.fork); }
};

/// The words of an agent's command: one where it is a file's name, else what blanks separate.
std::vector<std::string> words_of(const std::string& command);

/// Key of ours in the job data of debugger daemons: the event (pmix_status_t) that lets their targets go on.
inline constexpr const char* kReleaseKey = "muster.debug.release";

/// PMIX_BREAKPOINT of a process that waits before its first instruction.
inline constexpr const char* kExecBreakpoint = "exec";

}  // namespace muster::launcher
