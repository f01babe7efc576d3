// SPDX-License-Identifier: BSD-3-Clause
// Gathering the nodes' parts.
#include "tools/muster/services/gather.hpp"

#include <pmix_common.h>

#include <algorithm>
#include <utility>

namespace muster::launcher {

Gather::Gather(Loop& loop, JobTable& jobs, OnDone on_done)
    : loop_(loop), jobs_(jobs), on_done_(std::move(on_done)) {}

int32_t Gather::nodes_of(const std::vector<ProcName>& procs, std::set<uint32_t>& nodes) const {
    for (const ProcName& proc : procs) {
        const JobRecord* record = jobs_.find(proc.nspace);
        if (record == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        if (proc.rank < record->job.size()) {
            nodes.insert(record->job.places[proc.rank].node);
        } else if (proc.rank == PMIX_RANK_WILDCARD) {
            for (const Place& place : record->job.places)
                nodes.insert(place.node);
        } else {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    return procs.empty() ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

int32_t Gather::add(const std::string& name, std::vector<ProcName> procs, uint32_t seconds, uint32_t node,
                    Part part) {
    std::sort(procs.begin(), procs.end());
    std::set<uint32_t> nodes;
    if (const int32_t status = nodes_of(procs, nodes); status != PMIX_SUCCESS) return status;
    if (!nodes.contains(node)) return PMIX_ERR_BAD_PARAM;
    // A node that has given its part already means the next operation over the same processes.
    auto found = std::find_if(operations_.begin(), operations_.end(), [&](const Operation& operation) {
        return operation.name == name && operation.procs == procs && !operation.parts.contains(node);
    });
    if (found == operations_.end()) {
        found = operations_.emplace(operations_.end());
        found->name = name;
        found->procs = std::move(procs);
        found->nodes = std::move(nodes);
        found->begin = Clock::now();
    }
    found->parts[node] = std::move(part);
    if (found->parts.size() == found->nodes.size()) {
        finish(found, PMIX_SUCCESS);
    } else if (hopeless(*found)) {
        finish(found, PMIX_ERR_LOST_CONNECTION);
    } else if (seconds > 0 && !found->timer) {
        found->timer =
            loop_.after(std::chrono::seconds(seconds), [this, found] { finish(found, PMIX_ERR_TIMEOUT); });
    }
    return PMIX_SUCCESS;
}

void Gather::finish(std::list<Operation>::iterator operation, int32_t status) {
    std::list<Operation> finished;
    finished.splice(finished.end(), operations_, operation);
    on_done_(status, finished.front());
}

/// Some member has ended, so that its node will never give its part.
bool Gather::hopeless(const Operation& operation) const {
    auto missing = [&](const JobRecord& record, uint32_t rank) {
        const uint32_t node = record.job.places[rank].node;
        return !operation.parts.contains(node) && (record.ranks[rank].ended || gone_.contains(node));
    };
    for (const ProcName& proc : operation.procs) {
        const JobRecord* record = jobs_.find(proc.nspace);
        if (record == nullptr) return true;
        if (proc.rank != PMIX_RANK_WILDCARD) {
            if (missing(*record, proc.rank)) return true;
        } else {
            for (uint32_t rank = 0; rank < record->job.size(); ++rank) {
                if (missing(*record, rank)) return true;
            }
        }
    }
    return false;
}

void Gather::proc_ended() {
    for (auto operation = operations_.begin(); operation != operations_.end();) {
        const auto next = std::next(operation);
        if (hopeless(*operation)) finish(operation, PMIX_ERR_LOST_CONNECTION);
        operation = next;
    }
}

void Gather::node_gone(uint32_t node) {
    gone_.insert(node);
    proc_ended();
}

}  // namespace muster::launcher
