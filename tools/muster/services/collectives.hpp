// SPDX-License-Identifier: BSD-3-Clause
// Fence, connect and disconnect over the nodes: each node that has one of the processes contributes one part,
// then all get all parts. Operations of one kind over the same processes are distinguished by their order.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Collectives final : public Service {
  public:
    /// The question: this, and bytes, which are the part of a node. The answer: the bytes of all parts, by
    /// node.
    struct Request {
        enum class Kind : uint32_t { Fence, Connect, Disconnect };
        Kind kind{};
        std::vector<ProcName> procs;
        uint32_t seconds = 0;  ///< time limit; 0: none
        static auto fields(auto& self) { return std::tie(self.kind, self.procs, self.seconds); }
    };
    /// An operation that began at this time has succeeded and gathered that many bytes.
    using Clock = std::chrono::steady_clock;
    using OnDone = std::function<void(const Request& request, Clock::time_point begin, size_t size)>;

    Collectives(Hub& hub, OnDone on_done) : Service(hub), on_done_(std::move(on_done)) {}
    void asked(Asker asker, Buffer& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

  private:
    struct Part {
        uint64_t question = 0;
        Bytes bytes;
    };
    struct Operation {
        Request request;                 ///< of the first part; its processes are sorted
        std::set<uint32_t> nodes;        ///< that take part
        std::map<uint32_t, Part> parts;  ///< by node
        Clock::time_point begin;
        Watch timer;
    };
    using Iterator = std::list<Operation>::iterator;

    int32_t nodes_of(const std::vector<ProcName>& procs, std::set<uint32_t>& nodes) const;
    int32_t add(Asker asker, Request request, Bytes bytes);
    bool hopeless(const Operation& operation) const;
    void fail_hopeless();
    void finish(Iterator place, int32_t status);

    OnDone on_done_;
    std::list<Operation> operations_;
    std::set<uint32_t> gone_;  ///< nodes
};

/// The jobs of these processes fail with each other from here on, or no longer.
void link_jobs(JobTable& jobs, const Collectives::Request& request);

}  // namespace muster::launcher
