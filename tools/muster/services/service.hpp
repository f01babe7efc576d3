// SPDX-License-Identifier: BSD-3-Clause
// The services of the host that span several nodes: they are in the launcher, one object per topic. A node
// sends questions and notices to a service, and a service to nodes.
#pragma once

#include <pmix_common.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/exchange/link.hpp"
#include "tools/muster/jobs/job_table.hpp"
#include "tools/muster/services/allocations.hpp"

namespace muster::launcher {

class Report;

/// A question: the node that asks, and its number there.
struct Asker {
    uint32_t node = 0;
    uint64_t id = 0;
};

/// Time between SIGTERM and SIGKILL to ranks that are being terminated.
inline constexpr std::chrono::milliseconds kEndPatience{2000};

/// No node: the source of the launcher's own output, or of output that is acknowledged in another way.
inline constexpr uint32_t kNobody = UINT32_MAX;

/// The launcher, as its services see it. The launcher sets the functions.
struct Hub {
    Loop& loop;
    JobTable& jobs;
    ProcName launcher;               ///< the source of the launcher's own events
    std::vector<std::string> nodes;  ///< host names, by number
    bool has_scheduler = false;      ///< the first node can ask a scheduler for resources

    std::function<void(uint32_t node, Topic topic, const Buffer& body, Link::Done done)> ask;
    std::function<void(uint32_t node, Topic topic, const Buffer& body)> tell;
    /// Answers a question; to be called once for each.
    std::function<void(Asker asker, int32_t status, const Buffer& body)> give_answer;
    /// Accepts a job, makes the nodes register and start it. `launched` is called once: when all of its ranks
    /// have been started, or with the reason of a failure.
    using Launched = std::function<void(JobRecord& job, int32_t status, const std::string& why)>;
    std::function<JobRecord&(Job job, Launched launched)> launch;
    /// Ends a whole job by command, at once or by SIGTERM first; `term_status` is its final status.
    std::function<void(JobRecord& job, int32_t term_status, bool at_once)> end_job;
    /// Shows output of a process (none: its end) as the job's; `node`, if given, gets the acknowledgement.
    /// Without `shown`, only the job's files get the output.
    std::function<void(std::optional<uint32_t> node, ProcId proc, uint32_t channel, std::string_view bytes,
                       bool shown)>
        show_output;
    /// Writes a message about a job, to the tool that requests its standard error, otherwise to muster's own.
    std::function<void(const JobRecord& job, std::string_view text)> note;
    /// Writes to muster's own standard output or error.
    std::function<void(bool error, std::string_view text)> show;
    std::list<Watch> forced_ends{};  ///< for ranks that do not end by themselves
    Allocations allocations{};       ///< of the scheduler

    void answer(Asker asker, int32_t status, const Buffer& body = {}) { give_answer(asker, status, body); }
    void tell_all(Topic topic, const Buffer& body) {
        for (uint32_t node = 0; node < nodes.size(); ++node)
            tell(node, topic, body);
    }
    /// The namespace of the job that is launched next.
    std::string next_nspace() const;
    /// Sends a signal to ranks, kAllRanks for a whole job; to all if none is named. `last`: no further
    /// process of their jobs is started.
    void signal(int number, const std::vector<ProcId>& procs, bool last = false) {
        tell_all(Topic::Signal, pack(number, procs, last));
    }
    /// Ends some ranks; their job continues.
    void end_ranks(const std::vector<ProcId>& procs, bool at_once);
    /// That much of the output of this node (kNobody: none) has been written: it may send more.
    void output_taken(uint32_t node, uint64_t bytes) {
        if (node != kNobody) tell(node, Topic::Output, pack(bytes));
    }
    /// Input for a process; none: its end.
    void give_input(ProcId proc, std::string_view bytes);
};

class Service {
  public:
    virtual ~Service() = default;
    /// A question of a node. A question that cannot be unpacked is also answered.
    virtual void asked(Asker asker, Buffer& in);
    /// A notice of a node.
    virtual void told(uint32_t, Buffer&) {}
    /// The first process of a job has been started.
    virtual void job_begun(JobRecord&) {}
    /// All processes of a job have been started.
    virtual void job_started(JobRecord&) {}
    /// A process has ended; its job's record has its status.
    virtual void proc_ended(JobRecord&, uint32_t) {}
    /// All processes of a job have ended; its record stays.
    virtual void job_ended(JobRecord&) {}
    /// A node has ended, and sends no further questions and answers.
    virtual void node_gone(uint32_t) {}

  protected:
    explicit Service(Hub& hub) : hub_(hub) {}
    Hub& hub_;
};

/// Whether one of `procs` is the process, or its job as a whole.
bool names(const std::vector<ProcName>& procs, const ProcName& proc);

/// One object for each topic with a service. `hub` and `report` outlive them.
std::map<Topic, std::unique_ptr<Service>> make_services(Hub& hub, Report& report);

}  // namespace muster::launcher
