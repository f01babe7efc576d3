// SPDX-License-Identifier: BSD-3-Clause
// The services of the host that know more than one node: they live in the launcher, one object a topic. A
// node asks (and is answered once), or tells; a service may tell nodes in turn (host/bridge.hpp).
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/exchange/message.hpp"
#include "tools/muster/jobs/job_table.hpp"
#include "tools/muster/loop.hpp"

namespace muster::launcher {

/// Who asked: the node, and its number for the question.
struct Asker {
    uint32_t node = 0;
    uint64_t id = 0;
};

/// What the launcher offers to its services.
class Hub {
  public:
    virtual ~Hub() = default;
    virtual Loop& loop() = 0;
    virtual JobTable& jobs() = 0;
    /// The name that the launcher's own events come from.
    virtual ProcName launcher() const = 0;
    /// Host names of the nodes, by number.
    virtual const std::vector<std::string>& nodes() const = 0;
    /// Whether the first node can ask somebody for resources.
    virtual bool has_scheduler() const = 0;
    /// Answers a question; to be called once for each.
    virtual void answer(Asker asker, int32_t status, std::string_view bytes = {}) = 0;
    virtual void tell(uint32_t node, Topic topic, const Writer& body) = 0;
    void tell_all(Topic topic, const Writer& body) {
        for (uint32_t node = 0; node < nodes().size(); ++node)
            tell(node, topic, body);
    }

    /// Takes in a job, has the nodes register and start it. `launched` is called once: when all of its ranks
    /// have been started, or with the reason why not.
    using Launched = std::function<void(JobRecord& job, int32_t status, const std::string& why)>;
    virtual JobRecord& launch(Job job, const OutputPolicy& output, Launched launched) = 0;
    /// The namespace of the job that is launched next.
    virtual std::string next_nspace() const = 0;
    /// Sends a signal; rank kAllRanks names a whole job.
    virtual void signal(int number, const std::vector<ProcId>& procs) = 0;
    /// Ends a whole job by command, at once or politely; `term_status` says how it ended.
    virtual void end_job(JobRecord& job, int32_t term_status, bool at_once) = 0;
    /// Ends some ranks; their job goes on.
    virtual void end_ranks(const std::vector<ProcId>& procs, bool at_once) = 0;
    /// So much of the output that this node sent has been taken: it may send more.
    virtual void output_taken(uint32_t node, uint64_t bytes) = 0;
    /// Shows output of a process as the job's; `node` hears that it was taken, unless nothing is there.
    virtual void show_output(std::optional<uint32_t> node, ProcId proc, uint32_t channel,
                             std::string_view bytes) = 0;
    /// Input for a process; none: its end.
    virtual void give_input(ProcId proc, std::string_view bytes) = 0;
    /// Writes to muster's own standard output or error.
    virtual void show(bool error, std::string_view text) = 0;
};

class Service {
  public:
    virtual ~Service() = default;
    /// A node wants an answer. What `in` lacks shows in in.ok().
    virtual void asked(Asker asker, Reader& in) = 0;
    /// A node says something.
    virtual void told(uint32_t node, Reader& in);
    /// All processes of a job have been started.
    virtual void job_started(JobRecord& job);
    /// A process has ended; its job's record says how.
    virtual void proc_ended(JobRecord& job, uint32_t rank);
    /// All processes of a job have ended; its record stays.
    virtual void job_ended(JobRecord& job);
    /// A node is gone, and asks and answers no more.
    virtual void node_gone(uint32_t node);
};

}  // namespace muster::launcher
