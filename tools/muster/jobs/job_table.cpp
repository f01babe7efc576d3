// SPDX-License-Identifier: BSD-3-Clause
// The table of jobs.
#include "tools/muster/jobs/job_table.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {

JobRecord& JobTable::add(Job job) {
    auto record = std::make_unique<JobRecord>();
    job.number = next_++;
    if (!job.debugger()) {
        job.offset = processes_;
        processes_ += job.size();
        if (on_node_.size() < job.nodes.size()) on_node_.resize(job.nodes.size(), 0);
        for (Place& place : job.places)
            place.node_rank = on_node_[place.node]++;
    }
    record->ranks.resize(job.size());
    record->ranks_left = record->ranks_to_start = job.size();
    record->job = std::move(job);
    JobRecord& kept = *record;
    jobs_.emplace(kept.job.number, std::move(record));
    return kept;
}

JobRecord* JobTable::find(uint32_t number) {
    const auto found = jobs_.find(number);
    return found != jobs_.end() ? found->second.get() : nullptr;
}

JobRecord* JobTable::find(std::string_view nspace) {
    for (auto& [number, record] : jobs_) {
        if (record->job.nspace == nspace) return record.get();
    }
    return nullptr;
}

RankState* JobTable::find(ProcId proc) {
    JobRecord* record = find(proc.job);
    return record != nullptr && proc.rank < record->ranks.size() ? &record->ranks[proc.rank] : nullptr;
}

RankState* JobTable::find(const ProcName& proc) {
    JobRecord* record = find(proc.nspace);
    return record != nullptr && proc.rank < record->ranks.size() ? &record->ranks[proc.rank] : nullptr;
}

bool JobTable::has_set(std::string_view name) const {
    if (name.empty()) return false;
    if (sets_.contains(name)) return true;
    return std::ranges::any_of(jobs_, [&](const auto& entry) {
        const JobRecord& record = *entry.second;
        return record.state != JobRecord::State::Ended &&
               std::ranges::any_of(record.job.apps, [&](const App& app) { return app.pset == name; });
    });
}

std::vector<uint32_t> JobTable::busy() const {
    std::vector<uint32_t> nodes(on_node_.size(), 0);
    for (const auto& [number, record] : jobs_) {
        const bool counts = !record->job.debugger() && record->state != JobRecord::State::Ended;
        for (uint32_t rank = 0; counts && rank < record->ranks.size(); ++rank) {
            if (!record->ranks[rank].ended) ++nodes[record->job.places[rank].node];
        }
    }
    return nodes;
}

bool JobTable::all_ended() const {
    return std::ranges::all_of(
        jobs_, [](const auto& entry) { return entry.second->state == JobRecord::State::Ended; });
}

}  // namespace muster::launcher
