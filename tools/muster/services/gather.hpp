// SPDX-License-Identifier: BSD-3-Clause
// A collective operation over the nodes: each node that has one of the processes gives one part, then all
// parts are handed over. Operations of the same name over the same processes are told apart by their order.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/muster/exchange/message.hpp"
#include "tools/muster/jobs/job_table.hpp"
#include "tools/muster/loop.hpp"

namespace muster::launcher {

class Gather {
  public:
    using Clock = std::chrono::steady_clock;
    struct Part {
        uint64_t id;  ///< the node's, for its answer
        std::string bytes;
    };
    struct Operation {
        std::string name;
        std::vector<ProcName> procs;  ///< sorted: members may name them in any order
        std::set<uint32_t> nodes;     ///< that take part
        std::map<uint32_t, Part> parts;
        Clock::time_point begin;
        Watch timer;
    };
    /// All parts are in (PMIX_SUCCESS), or it failed: PMIX_ERR_TIMEOUT, or PMIX_ERR_LOST_CONNECTION when a
    /// member ended before its part. The nodes in `parts` want an answer.
    using OnDone = std::function<void(int32_t status, const Operation& operation)>;

    Gather(Loop& loop, JobTable& jobs, OnDone on_done);

    /// Takes the part of a node. `seconds`: time limit, 0 for none. What is not PMIX_SUCCESS was refused and
    /// is not part of any operation.
    int32_t add(const std::string& name, std::vector<ProcName> procs, uint32_t seconds, uint32_t node,
                Part part);
    /// A process has ended: operations that wait for it fail.
    void proc_ended();
    void node_gone(uint32_t node);

  private:
    int32_t nodes_of(const std::vector<ProcName>& procs, std::set<uint32_t>& nodes) const;
    bool hopeless(const Operation& operation) const;
    void finish(std::list<Operation>::iterator operation, int32_t status);

    Loop& loop_;
    JobTable& jobs_;
    OnDone on_done_;
    std::list<Operation> operations_;
    std::set<uint32_t> gone_;  ///< nodes
};

}  // namespace muster::launcher
