// SPDX-License-Identifier: BSD-3-Clause
// Gathering the nodes' parts.
#include "tools/muster/services/collectives.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {

void Collectives::asked(Asker asker, Buffer& in) {
    Request request;
    Bytes bytes;
    int32_t status = PMIX_ERR_BAD_PARAM;
    if (in.unpack(request, bytes)) status = add(asker, std::move(request), std::move(bytes));
    if (status != PMIX_SUCCESS) hub_.answer(asker, status);
}

int32_t Collectives::nodes_of(const std::vector<ProcName>& procs, std::set<uint32_t>& nodes) const {
    for (const ProcName& proc : procs) {
        const JobRecord* record = hub_.jobs.find(proc.nspace);
        if (record == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        const std::vector<uint32_t> ranks = record->job.ranks_meant(proc.rank);
        if (ranks.empty()) return PMIX_ERR_BAD_PARAM;
        for (uint32_t rank : ranks)
            nodes.insert(record->job.places[rank].node);
    }
    return procs.empty() ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

/// Takes the part of a node. A part that is refused, which is not PMIX_SUCCESS, belongs to no operation.
int32_t Collectives::add(Asker asker, Request request, Bytes bytes) {
    std::ranges::sort(request.procs);  // members name them in any order
    std::set<uint32_t> nodes;
    if (const int32_t status = nodes_of(request.procs, nodes); status != PMIX_SUCCESS) return status;
    if (!nodes.contains(asker.node)) return PMIX_ERR_BAD_PARAM;
    const uint32_t seconds = request.seconds;
    // A node that has given its part already means the next operation over the same processes.
    auto found = std::ranges::find_if(operations_, [&](const Operation& one) {
        return one.request.kind == request.kind && one.request.procs == request.procs &&
               !one.parts.contains(asker.node);
    });
    if (found == operations_.end()) {
        found = operations_.emplace(operations_.end());
        found->request = std::move(request);
        found->nodes = std::move(nodes);
        found->begin = Clock::now();
    }
    found->parts[asker.node] = {asker.id, std::move(bytes)};
    if (found->parts.size() == found->nodes.size()) {
        finish(found, PMIX_SUCCESS);
    } else if (hopeless(*found)) {
        finish(found, PMIX_ERR_LOST_CONNECTION);
    } else if (seconds > 0 && !found->timer) {
        found->timer = hub_.loop.after(std::chrono::seconds(seconds),
                                       [this, found] { finish(found, PMIX_ERR_TIMEOUT); });
    }
    return PMIX_SUCCESS;
}

void Collectives::finish(Iterator place, int32_t status) {
    std::list<Operation> finished;
    finished.splice(finished.end(), operations_, place);
    const Operation& operation = finished.front();
    Buffer body;
    if (status == PMIX_SUCCESS) {
        std::string together;
        for (const auto& [node, part] : operation.parts)
            together += std::string_view(part.bytes);
        body.pack(together);
        on_done_(operation.request, operation.begin, together.size());
    }
    for (const auto& [node, part] : operation.parts)
        hub_.answer({node, part.question}, status, body);
}

/// Some member has ended, so that its node will never give its part.
bool Collectives::hopeless(const Operation& operation) const {
    auto missing = [&](const JobRecord& record, uint32_t rank) {
        const uint32_t node = record.job.places[rank].node;
        return !operation.parts.contains(node) && (record.ranks[rank].ended || gone_.contains(node));
    };
    return std::ranges::any_of(operation.request.procs, [&](const ProcName& proc) {
        const JobRecord* record = hub_.jobs.find(proc.nspace);
        return record == nullptr ||
               std::ranges::any_of(record->job.ranks_meant(proc.rank),
                                   [&](uint32_t rank) { return missing(*record, rank); });
    });
}

void Collectives::fail_hopeless() {
    for (auto operation = operations_.begin(); operation != operations_.end();) {
        const auto next = std::next(operation);
        if (hopeless(*operation)) finish(operation, PMIX_ERR_LOST_CONNECTION);
        operation = next;
    }
}

void Collectives::proc_ended(JobRecord&, uint32_t) {
    fail_hopeless();
}

void Collectives::node_gone(uint32_t node) {
    gone_.insert(node);
    fail_hopeless();
}

void link_jobs(JobTable& jobs, const Collectives::Request& request) {
    std::set<JobRecord*> linked;
    for (const ProcName& proc : request.procs) {
        if (JobRecord* record = jobs.find(proc.nspace)) linked.insert(record);
    }
    for (JobRecord* one : linked) {
        for (const JobRecord* other : linked) {
            if (one == other) continue;
            if (request.kind == Collectives::Request::Kind::Connect) {
                one->linked.insert(other->job.number);
            } else if (const auto link = one->linked.find(other->job.number); link != one->linked.end()) {
                one->linked.erase(link);
            }
        }
    }
}

}  // namespace muster::launcher
