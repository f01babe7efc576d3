// SPDX-License-Identifier: BSD-3-Clause
// Groups over the nodes.
#include "tools/muster/services/groups.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

/// The servers have the same time limit; their calls after its expiry still count.
constexpr std::chrono::seconds kServersTime{1};

}  // namespace

int32_t Groups::expand(const std::vector<ProcName>& names, std::set<ProcName>& procs) const {
    for (const ProcName& name : names) {
        const JobRecord* record = hub_.jobs.find(name.nspace);
        if (record == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        const std::vector<uint32_t> ranks = record->job.ranks_meant(name.rank);
        if (ranks.empty()) return PMIX_ERR_BAD_PARAM;
        for (uint32_t rank : ranks)
            procs.insert({name.nspace, rank});
    }
    return PMIX_SUCCESS;
}

bool Groups::ended(const ProcName& proc) const {
    const RankState* state = hub_.jobs.find(proc);
    return state == nullptr || state->ended || gone_.contains(node_of(proc));
}

/// Whether it ended normally, and thus has left its groups, even if the nodes have not reported this yet.
bool Groups::left(const ProcName& proc) const {
    const RankState* state = hub_.jobs.find(proc);
    return state != nullptr && state->ended && state->finalized && !gone_.contains(node_of(proc));
}

uint32_t Groups::node_of(const ProcName& proc) const {
    const JobRecord* record = hub_.jobs.find(proc.nspace);
    return record == nullptr ? UINT32_MAX : record->job.places[proc.rank].node;
}

void Groups::asked(Asker asker, Buffer& in) {
    GroupRequest request;
    int32_t status = PMIX_ERR_BAD_PARAM;
    if (in.unpack(request) && request.operation <= GroupRequest::Operation::Destruct) {
        if (request.local_status != PMIX_SUCCESS && request.local_status != PMIX_ERR_PARTIAL_SUCCESS)
            return fail(asker, request);
        const bool bootstrap = (request.flags & (GroupRequest::Bootstrap | GroupRequest::Added)) != 0;
        status = bootstrap ? add_bootstrap(asker, request) : add(asker, request);
    }
    if (status != PMIX_SUCCESS) hub_.answer(asker, status);
}

Groups::Place Groups::find(GroupRequest::Operation kind, const std::string& id) {
    return std::ranges::find_if(operations_,
                                [&](const Operation& one) { return one.kind == kind && one.id == id; });
}

/// Each node that has asked reports it after its request, if that names the process: no state is needed.
void Groups::told(uint32_t, Buffer& in) {
    GroupDeparture departure;
    if (!in.unpack(departure)) return;
    const Place place = find(GroupRequest::Operation::Destruct, departure.id);
    if (place != operations_.end() && place->procs.erase(departure.proc) != 0) check(place);
}

Groups::Place Groups::start(GroupRequest& request) {
    Place found = find(request.operation, request.id);
    if (found == operations_.end()) {
        found = operations_.emplace(operations_.end());
        found->kind = request.operation;
        found->id = request.id;
    }
    if (request.seconds > 0 && !found->timer) {
        found->timer = hub_.loop.after(std::chrono::seconds(request.seconds) + kServersTime,
                                       [this, found] { expire(found); });
    }
    return found;
}

int32_t Groups::add(Asker asker, GroupRequest& request) {
    std::set<ProcName> procs;
    if (const int32_t status = expand(request.procs, procs); status != PMIX_SUCCESS) return status;
    if (procs.empty()) return PMIX_ERR_BAD_PARAM;
    const bool construct = request.operation == GroupRequest::Operation::Construct;
    if (!construct) missed_.erase({Kind::Construct, request.id});
    if (const auto status = too_late(asker.node, request.operation, request.id, procs)) {
        hub_.answer(asker, *status);
        return PMIX_SUCCESS;  // and so answered
    }
    const Place place = start(request);
    Operation& operation = *place;
    if (operation.nodes_in.contains(asker.node)) return PMIX_ERR_EXISTS;
    operation.parts.emplace_back(asker, std::move(request.data));
    operation.nodes_in.insert(asker.node);
    operation.flags |= request.flags;
    if (operation.parts.size() == 1) {
        operation.procs = std::move(procs);
    } else if (operation.procs != procs) {
        if (construct || operation.leaders != 0) {
            finish(place, PMIX_ERR_BAD_PARAM);
            return PMIX_SUCCESS;  // and so answered
        }
        // Some nodes know before others that a member has left.
        std::erase_if(operation.procs, [&](const ProcName& proc) { return !procs.contains(proc); });
    }
    check(place);
    return PMIX_SUCCESS;
}

/// The status for a node that takes part when the operation has ended without it.
std::optional<int32_t> Groups::too_late(uint32_t node, Kind kind, const std::string& id,
                                        const std::set<ProcName>& procs) {
    const auto missed = missed_.find({kind, id});
    if (missed == missed_.end()) return std::nullopt;
    const bool same = missed->second.procs.empty() || missed->second.procs == procs;
    const bool late = missed->second.nodes.erase(node) != 0 && same;
    const int32_t status = missed->second.status;
    // A node that was in that destruct ends another group.
    if (missed->second.nodes.empty() || (kind == Kind::Destruct && !late)) missed_.erase(missed);
    return late ? std::optional(status) : std::nullopt;
}

/// An operation that fails at one node fails at all. Nodes that ask later cannot know, unless they see that a
/// process ended or have the same time limit.
void Groups::fail(Asker asker, const GroupRequest& request) {
    std::set<ProcName> procs;
    const bool known = expand(request.procs, procs) == PMIX_SUCCESS;
    // An operation that failed without this node is over: others may be trying again by now.
    if (known && too_late(asker.node, request.operation, request.id, procs))
        return hub_.answer(asker, request.local_status);
    const Place found = find(request.operation, request.id);
    if (known && request.local_status == PMIX_GROUP_CONSTRUCT_ABORT) {
        Missed missed{{}, request.local_status, {}};
        for (const ProcName& proc : procs) {
            const uint32_t node = node_of(proc);
            const bool in = found != operations_.end() && found->nodes_in.contains(node);
            if (node != asker.node && !in && !ended(proc)) missed.nodes.insert(node);
        }
        if (!missed.nodes.empty()) missed_[{Kind::Construct, request.id}] = std::move(missed);
    }
    if (found != operations_.end()) finish(found, request.local_status);
    hub_.answer(asker, request.local_status);
}

/// An operation has failed because a member ended: nodes that join later get the same status. They may count
/// that member as departed, or as present.
void Groups::miss(const Operation& operation, int32_t status) {
    Missed missed{{}, status, {}};
    if (operation.kind == Kind::Construct) missed.procs = operation.procs;
    for (const ProcName& proc : operation.procs) {
        const uint32_t node = node_of(proc);
        if (!operation.nodes_in.contains(node)) missed.nodes.insert(node);
    }
    if (!missed.nodes.empty()) missed_[{operation.kind, operation.id}] = std::move(missed);
}

void Groups::check(Place place) {
    const Operation& operation = *place;
    bool waiting = false, without_some = false;
    for (const ProcName& proc : operation.procs) {
        if (operation.nodes_in.contains(node_of(proc))) continue;
        if (!ended(proc)) {
            waiting = true;
        } else if (operation.kind == Kind::Destruct && left(proc)) {
            without_some = true;
        } else if ((operation.flags & GroupRequest::Tolerant) == 0) {
            miss(operation, PMIX_GROUP_MEMBER_FAILED);
            return finish(place, PMIX_GROUP_MEMBER_FAILED);
        }
    }
    // Its node may still take part for it.
    if (!waiting && without_some) miss(operation, PMIX_SUCCESS);
    if (!waiting) finish(place, PMIX_SUCCESS);
}

int32_t Groups::add_bootstrap(Asker asker, GroupRequest& request) {
    std::set<ProcName> self, added;
    if (const int32_t status = expand(request.procs, self); status != PMIX_SUCCESS) return status;
    if (const int32_t status = expand(request.added, added); status != PMIX_SUCCESS) return status;
    if (self.size() != 1 || request.operation != GroupRequest::Operation::Construct)
        return PMIX_ERR_BAD_PARAM;
    const bool leads = (request.flags & GroupRequest::Bootstrap) != 0;
    if (leads && request.leaders == 0) return PMIX_ERR_BAD_PARAM;
    const Place place = start(request);
    Operation& operation = *place;
    const ProcName& who = *self.begin();
    const bool conflict =
        (!operation.parts.empty() && operation.leaders == 0 && operation.added_in.empty()) ||
        (leads && operation.leaders != 0 && operation.leaders != request.leaders);
    if (operation.lead.contains(who) || operation.added_in.contains(who)) return PMIX_ERR_EXISTS;
    operation.parts.emplace_back(asker, std::move(request.data));
    operation.flags |= request.flags;
    if (conflict) {
        finish(place, PMIX_ERR_BAD_PARAM);
        return PMIX_SUCCESS;
    }
    if (leads) {
        operation.leaders = request.leaders;
        operation.lead.insert(who);
        operation.added.merge(added);
    } else {
        operation.added_in.insert(who);
    }
    check_bootstrap(place);
    return PMIX_SUCCESS;
}

void Groups::check_bootstrap(Place place) {
    Operation& operation = *place;
    const bool tolerant = (operation.flags & GroupRequest::Tolerant) != 0;
    operation.procs = operation.lead;
    bool waiting = operation.leaders == 0 || operation.lead.size() < operation.leaders;
    for (const ProcName& proc : operation.added) {
        if (operation.lead.contains(proc)) continue;
        if (operation.added_in.contains(proc)) {
            operation.procs.insert(proc);
        } else if (!ended(proc)) {
            waiting = true;
        } else if (!tolerant) {
            return finish(place, PMIX_GROUP_MEMBER_FAILED);
        }
    }
    if (waiting) return;
    // A process that no leader adds cannot belong to it.
    const bool stranger = std::ranges::any_of(
        operation.added_in, [&](const ProcName& proc) { return !operation.added.contains(proc); });
    finish(place, stranger ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS);
}

void Groups::expire(Place place) {
    if ((place->flags & GroupRequest::Optional) == 0 || place->leaders != 0 || !place->added_in.empty())
        return finish(place, PMIX_ERR_TIMEOUT);
    Missed& missed = missed_[{Kind::Construct, place->id}];
    missed.status = PMIX_ERR_EXISTS;
    for (const ProcName& proc : place->procs) {
        if (!place->nodes_in.contains(node_of(proc))) missed.nodes.insert(node_of(proc));
    }
    finish(place, PMIX_SUCCESS);
}

void Groups::finish(Place place, int32_t status) {
    std::list<Operation> finished;
    finished.splice(finished.end(), operations_, place);
    const Operation& operation = finished.front();
    Buffer body;
    if (status == PMIX_SUCCESS && operation.kind == GroupRequest::Operation::Construct) {
        missed_.erase({Kind::Destruct, operation.id});
        GroupAnswer answer;
        if ((operation.flags & GroupRequest::AssignId) != 0) answer.context_id = next_context_id_++;
        for (const ProcName& proc : operation.procs) {
            const bool bootstrap = operation.leaders != 0;
            if (bootstrap || operation.nodes_in.contains(node_of(proc))) answer.members.push_back(proc);
        }
        for (const auto& [asker, data] : operation.parts)
            answer.data += data;
        body.pack(answer);
    }
    for (const auto& [asker, data] : operation.parts)
        hub_.answer(asker, status, body);
}

void Groups::check_all() {
    for (auto operation = operations_.begin(); operation != operations_.end();) {
        const auto next = std::next(operation);
        if (operation->leaders != 0 || !operation->added_in.empty()) {
            check_bootstrap(operation);
        } else {
            check(operation);
        }
        operation = next;
    }
}

void Groups::proc_ended(JobRecord&, uint32_t) {
    check_all();
}

void Groups::node_gone(uint32_t node) {
    gone_.insert(node);
    check_all();
}

void KnownGroups::asked(Asker asker, Buffer&) {
    // Shared by the answers of the nodes; the last one completes the question.
    struct Found {
        size_t left;
        std::map<std::string, KnownGroup> groups;
    };
    const auto found = std::make_shared<Found>(Found{hub_.nodes.size(), {}});
    const auto take = [this, asker, found](pmix_status_t status, Buffer& in) {
        std::vector<KnownGroup> groups;
        if (status == PMIX_SUCCESS && in.unpack(groups)) {
            for (KnownGroup& group : groups)
                found->groups.try_emplace(group.id, group);
        }
        if (--found->left > 0) return;
        groups.clear();
        for (auto& [id, group] : found->groups)
            groups.push_back(std::move(group));
        hub_.answer(asker, PMIX_SUCCESS, pack(groups));
    };
    for (uint32_t node = 0; node < hub_.nodes.size(); ++node)
        hub_.ask(node, Topic::KnownGroups, {}, take);
}

}  // namespace muster::launcher
