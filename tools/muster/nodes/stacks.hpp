// SPDX-License-Identifier: BSD-3-Clause
// Stack traces of processes of a node, by a program of the system: gstack, eu-stack or gdb.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/jobs/job.hpp"
#include "tools/muster/nodes/process.hpp"

namespace muster::launcher {

/// Traces processes one after the other; lives until it has called `done`. On the node's loop.
class Stacks : public std::enable_shared_from_this<Stacks> {
  public:
    using Traces = std::vector<std::pair<ProcId, std::string>>;
    /// `problem`: a sentence where nothing could be traced, else "".
    using Done = std::function<void(const std::string& problem, const Traces& traces)>;

    /// Traces the processes with these IDs. `done` is called once, from the loop or from here.
    static void trace(Loop& loop, std::vector<std::pair<ProcId, pid_t>> procs, Done done);

  private:
    Stacks(Loop& loop, std::vector<std::pair<ProcId, pid_t>> procs, Done done);
    void next();
    void read_some();
    void finish_one();

    Loop& loop_;
    const std::vector<std::pair<ProcId, pid_t>> procs_;
    Done done_;
    std::vector<std::string> command_;
    Traces traces_;
    std::string text_;  ///< of the process that is being traced
    Process tracer_;
    Watch readable_, limit_;
};

}  // namespace muster::launcher
