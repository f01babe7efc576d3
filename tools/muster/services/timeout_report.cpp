// SPDX-License-Identifier: BSD-3-Clause
// The report of a time limit.
#include "tools/muster/services/timeout_report.hpp"

#include <fmt/format.h>
#include <pmix.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tools/muster/services/job_status.hpp"

namespace muster::launcher {
namespace {

/// For all stacks of a node.
constexpr std::chrono::seconds kStacksLimit{30};

std::string name_of(const Hub& hub, const JobRecord& record, uint32_t rank) {
    return fmt::format("rank {} on {} (pid {})", rank, hub.nodes[record.job.places[rank].node],
                       record.ranks[rank].pid);
}

std::string states_text(const Hub& hub, const JobRecord& record) {
    std::string text = fmt::format("State of job {}\n", record.job.nspace);
    for (uint32_t rank = 0; rank < record.job.size(); ++rank) {
        const auto state = static_cast<pmix_proc_state_t>(state_of(record, record.ranks[rank]));
        text += fmt::format("  {}: {}\n", name_of(hub, record, rank), PMIx_Proc_state_string(state));
    }
    return text;
}

/// The stacks that are still missing.
struct Wait {
    size_t left = 0;  ///< nodes
    Watch limit;
    std::function<void()> done;

    void over() {
        limit.cancel();
        if (done) std::exchange(done, nullptr)();
    }
};

/// A node's stacks: the reason why there are none, or one of each process.
void note_stacks(Hub& hub, uint32_t node, const std::vector<ProcId>& procs, Buffer& in) {
    std::string problem;
    std::vector<std::pair<ProcId, std::string>> traces;
    if (!in.unpack(problem, traces)) problem = "the node gives no answer";
    const JobRecord* any = hub.jobs.find(procs.front().job);
    if (!problem.empty() && any != nullptr)
        hub.note(*any, fmt::format("No stack traces of node {}: {}\n", hub.nodes[node], problem));
    for (const auto& [proc, text] : traces) {
        const JobRecord* record = hub.jobs.find(proc.job);
        if (record == nullptr || proc.rank >= record->job.size()) continue;
        const std::string end = text.ends_with('\n') ? "" : "\n";
        hub.note(*record, fmt::format("Stack trace of {} of job {}\n{}{}", name_of(hub, *record, proc.rank),
                                      record->job.nspace, text, end));
    }
}

}  // namespace

void report_timeout(Hub& hub, const std::vector<const JobRecord*>& jobs, const TimeoutWishes& wishes,
                    std::function<void()> done) {
    std::map<uint32_t, std::vector<ProcId>> procs;  // by node
    for (const JobRecord* record : jobs) {
        if (wishes.states) hub.note(*record, states_text(hub, *record));
        for (uint32_t rank = 0; wishes.stacks && rank < record->job.size(); ++rank) {
            const RankState& state = record->ranks[rank];
            if (state.started && !state.ended && !state.restarting)
                procs[record->job.places[rank].node].push_back({record->job.number, rank});
        }
    }
    if (procs.empty()) return done();
    const auto wait = std::make_shared<Wait>();
    wait->left = procs.size();
    wait->done = std::move(done);
    wait->limit = hub.loop.after(kStacksLimit, [wait] { wait->over(); });
    for (const auto& [number, meant] : procs) {
        hub.ask(number, Topic::Stacks, pack(meant),
                [&hub, wait, node = number, ranks = meant](pmix_status_t, Buffer& in) {
                    if (wait->done) note_stacks(hub, node, ranks, in);
                    if (--wait->left == 0) wait->over();
                });
    }
}

}  // namespace muster::launcher
