// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups by a server: see construct.hpp. The requests of clients are in
// handlers.cpp.
#include "core/groups/construct.hpp"
#include "core/groups/group_call.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/attribute/directives.hpp"
#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/leave.hpp"
#include "core/modex/modex.hpp"
#include "core/runtime/keys.hpp"
#include "framework/base/value.hpp"

namespace muster {
namespace {

/// Extra time for the host's answer when our limit expires: the host has the same limit.
constexpr std::chrono::seconds kGrace{2};

bool proc_less(const pmix_proc_t& a, const pmix_proc_t& b) {
    return Proc(a) < Proc(b);
}

using ProcSet = std::unordered_set<Proc>;

ProcSet set_of(const std::vector<pmix_proc_t>& procs) {
    ProcSet set;
    for (const pmix_proc_t& proc : procs)
        set.emplace(proc);
    return set;
}

/// The process to which the group's memory is charged.
const pmix_proc_t& maker_of(const Collective& collective) {
    return collective.arrivals().empty() ? collective.participants().front()
                                         : collective.arrivals().front().proc;
}

/// True for a member's own contribution, false for a directive that all members must give alike.
bool is_contribution(const pmix_info_t& info) {
    return key_is_any(info.key, {PMIX_GROUP_INFO, PMIX_GROUP_LOCAL_CID, PMIX_PROC_DATA, PMIX_GROUP_LEADER});
}

/// Packs the group info of one member as one PMIX_GROUP_INFO; it starts with the member's own name.
void add_group_info(const Arrival& arrival, Info& out) {
    Info told;
    for (const pmix_info_t& info : arrival.info) {
        if (key_is(info.key, PMIX_GROUP_LOCAL_CID)) {
            told.add_copy(info);
        } else if (key_is(info.key, PMIX_GROUP_INFO)) {
            for (const pmix_info_t& one : value_as_infos(&info.value)) {
                if (!key_is(one.key, PMIX_PROCID)) told.add_copy(one);
            }
        }
    }
    if (told.empty()) return;
    Info whole;
    whole.add(PMIX_PROCID, arrival.proc);
    for (size_t i = 0; i < told.size(); ++i)
        whole.add_move(told[i]);
    out.add(PMIX_GROUP_INFO, std::move(whole).to_value());
}

/// Whether the group info of local members can be stored. It stays with its member after the group ends.
/// If there is a context id, it is stored both with and without this id.
bool can_keep(GroupServer& server, const Info& told) {
    for (const pmix_info_t& one : told) {
        const InfoView values = value_as_infos(&one.value);
        const pmix_proc_t* owner = values.proc(PMIX_PROCID);
        if (owner == nullptr) continue;
        if (!server.modex().charge(*owner, values, 2)) return false;
    }
    return true;
}

/// The directives for the host: those of the first participant, and those that others add.
Info directives_for_host(const Collective& collective) {
    Info info;
    for (const Arrival& arrival : collective.arrivals()) {
        add_group_info(arrival, info);
        for (const pmix_info_t& one : arrival.info) {
            const bool first = !is_contribution(one) && !info.view().has(one.key);
            if (first || key_is(one.key, PMIX_PROC_DATA)) info.add_copy(one);
        }
    }
    for (const char* key : {PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_GROUP_OPTIONAL, PMIX_GROUP_NOTIFY_TERMINATION,
                            PMIX_GROUP_FT_COLLECTIVE}) {
        if (!collective.any_true(key) || info.view().is_true(key)) continue;
        Info kept;
        for (size_t i = 0; i < info.size(); ++i) {
            if (!key_is(info[i].key, key)) kept.add_move(info[i]);
        }
        kept.add(key, true);
        info = std::move(kept);
    }
    if (!info.view().has(PMIX_LOCAL_COLLECTIVE_STATUS))
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(collective.local_status()));
    collective.add_unmet(Function::GroupConstruct, info);
    return info;
}

/// Processes of a PMIX_DATA_ARRAY of PMIX_PROC; none for anything else.
std::vector<pmix_proc_t> procs_of(const pmix_value_t* value) {
    std::vector<pmix_proc_t> procs;
    if (value != nullptr) append_procs(*value, procs);
    return procs;
}

/// Stores the members' posted data that a host returns as PMIX_PROC_DATA (clients of OpenPMIx).
void store_posted(GroupServer& server, const pmix_info_t& info) {
    const InfoView posted = value_as_infos(&info.value);
    const pmix_proc_t* owner = posted.proc(PMIX_PROCID);
    if (owner == nullptr || server.namespaces().is_local(*owner)) return;
    for (const pmix_info_t& one : posted) {
        if (!key_is_reserved(one.key)) server.runtime().store().post_remote(*owner, one.key, one.value);
    }
}

void store_job(GroupServer& server, const Bytes& bytes) {
    Unpacker job(server.runtime().own_format(), bytes.view());
    std::string nspace;
    if (!job.string(nspace)) return;
    if (server.namespaces().find(nspace.c_str()) != nullptr || server.runtime().store().knows(nspace.c_str()))
        return;
    if (const auto stored = server.runtime().store().unpack_job(nspace.c_str(), job); !stored)
        MUSTER_LOG(server.log(), Error, "job data of %s: %s", nspace.c_str(), stored.error().text.c_str());
}

}  // namespace

bool knows_group_members(const PeerVersion& version) {
    return version.can(Capability::GroupDetails) || version.at_least(4, 3) ||
           (version.major == 4 && version.minor == 2 && version.release >= 4);
}

void store_group_info(Gds& store, const pmix_info_t& info, std::optional<size_t> context_id) {
    const InfoView told = value_as_infos(&info.value);
    const pmix_proc_t* owner = told.proc(PMIX_PROCID);
    if (owner == nullptr) return;
    for (const pmix_info_t& one : told) {
        if (key_is(one.key, PMIX_PROCID)) continue;
        if (context_id) {
            Info qualified;
            qualified.add_copy(one);
            qualified.add(PMIX_GROUP_CONTEXT_ID, *context_id);
            qualified[1].flags |= PMIX_INFO_QUALIFIER;
            const Value value = std::move(qualified).to_value();
            store.post(*owner, PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, *value);
        }
        // A process must not change reserved keys, which the host defines.
        if (!key_is_reserved(one.key) || key_is(one.key, PMIX_GROUP_LOCAL_CID))
            store.post(*owner, PMIX_GLOBAL, one.key, one.value);
    }
}

void ask_host_for_group(Host& host, pmix_group_operation_t operation, const std::string& id,
                        std::vector<pmix_proc_t> procs, Info info, HostDone done) {
    const auto upcall = host.module().group;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    struct Arguments {
        std::string id;
        std::vector<pmix_proc_t> procs;
        Info info;
    };
    const auto kept = std::make_shared<Arguments>(Arguments{id, std::move(procs), std::move(info)});
    mark_processed("group", kept->info);
    host.upcall("group", kept, std::move(done), [&](void* cbdata) {
        return upcall(operation, kept->id.data(), kept->procs.empty() ? nullptr : kept->procs.data(),
                      kept->procs.size(), kept->info.data(), kept->info.size(), Host::on_info, cbdata);
    });
}

namespace {

pmix_status_t add_part(GroupServer& server, const GroupPart& part, Info& info) {
    Bytes packed;
    const pmix_status_t status = pack_group_part(server.runtime().own_format(), part, packed);
    if (status != PMIX_SUCCESS) return status;
    const pmix_byte_object_t object{reinterpret_cast<char*>(packed.data()), packed.size()};
    info.add(PMIX_GROUP_ENDPT_DATA, Value::from(object));
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t add_failure(GroupServer& server, pmix_status_t failed, Info& info) {
    info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(failed));
    GroupPart part;
    part.status = failed;
    return add_part(server, part, info);
}

namespace {

void tell_host_of_failure(GroupServer& server, pmix_group_operation_t operation, const Collective& collective,
                          pmix_status_t status) {
    if (collective.all_local() || server.host().module().group == nullptr) return;
    // The host has ended these collectives itself.
    if (status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_INVALID_NAMESPACE) return;
    Info info;
    if (add_failure(server, status, info) != PMIX_SUCCESS) return;
    ask_host_for_group(server.host(), operation, collective.id(), collective.participants(), std::move(info),
                       [](const HostAnswer&) {});
}

/// The time limit expired while the host has the operation. Its result must come first, so that all nodes
/// agree. True: the host gets extra time; false: it has used it.
bool wait_for_host(Collectives& collectives, const std::shared_ptr<Collective>& collective) {
    if (collective->extended()) return false;
    collectives.extend(collective, kGrace);
    return true;
}

}  // namespace

// --- construct ---

GroupConstruct::GroupConstruct(GroupServer& server) : server_(server) {
    watch_others();
}

GroupPart GroupConstruct::local_part(const Collective& collective) const {
    GroupPart part;
    part.notify_termination = collective.any_true(PMIX_GROUP_NOTIFY_TERMINATION);
    for (const Arrival& arrival : collective.arrivals()) {
        part.present.push_back(arrival.proc);
        if (arrival.info.view().is_true(PMIX_GROUP_LEADER)) part.leaders.push_back(arrival.proc);
        add_group_info(arrival, part.infos);
    }
    // Members that see another order are in the wrong; the word of the first by name counts everywhere.
    const auto first = std::ranges::min_element(
        collective.arrivals(), [](const Arrival& a, const Arrival& b) { return proc_less(a.proc, b.proc); });
    part.order = group_call(*first).members->order;
    return part;
}

bool GroupConstruct::tolerates_departure(const Collective& collective, const pmix_proc_t&) {
    return collective.any_true(PMIX_GROUP_OPTIONAL) || collective.any_true(PMIX_GROUP_FT_COLLECTIVE) ||
           collective.any_true(PMIX_GROUP_NOTIFY_TERMINATION);
}

void GroupConstruct::joined(const Collective& collective) {
    server_.meetings().joined(collective);
}

void GroupConstruct::ended(const Collective& collective, const Outcome& outcome) {
    server_.meetings().ended(collective, outcome);
    if (collective.arrivals().empty() && keep_for_others(collective)) return;
    const bool settled = states_[collective.id()].settled;
    states_.erase(collective.id());
    elsewhere_.erase(collective.id());
    // Memory may be exhausted after the entry into the table.
    if (settled && outcome.status == PMIX_ERR_NOMEM) server_.groups().remove(collective.id());
    if (!is_good(outcome.status) && !settled)
        tell_host_of_failure(server_, PMIX_GROUP_CONSTRUCT, collective, outcome.status);
}

bool GroupConstruct::expired(const std::shared_ptr<Collective>& collective) {
    Collectives& collectives = server_.collectives();
    if (collective->handed_over()) return wait_for_host(collectives, collective);
    if (!collective->any_true(PMIX_GROUP_OPTIONAL)) return false;
    collectives.extend(collective, kGrace);
    collectives.proceed(collective);
    return true;
}

namespace {

/// The members by rank: the present processes of `order`, then other processes that the host added.
std::vector<pmix_proc_t> final_members(const Collective& collective, const std::vector<GroupPart>& parts,
                                       const std::vector<pmix_proc_t>& by_host,
                                       const std::vector<pmix_proc_t>& lost, bool tolerant) {
    const GroupPart* first = nullptr;
    const pmix_proc_t* lowest = nullptr;
    ProcSet present;
    for (const GroupPart& part : parts) {
        for (const pmix_proc_t& proc : part.present) {
            if (tolerant) present.emplace(proc);
            if (lowest != nullptr && !proc_less(proc, *lowest)) continue;
            lowest = &proc;
            first = &part;
        }
    }
    std::vector<pmix_proc_t> order;
    if (first != nullptr && !first->order.empty()) {
        order = first->order;
    } else {
        order = group_call(collective.arrivals().front()).members->order;
        std::ranges::sort(order, proc_less);
    }
    if (!tolerant && same_procs(order, by_host)) return order;
    const ProcSet asked = set_of(order);
    if (tolerant && (parts.size() > 1 || collective.all_local())) {
        std::erase_if(order, [&](const pmix_proc_t& proc) { return present.count(Proc(proc)) == 0; });
    } else if (tolerant) {
        // The host does not deliver the others' parts: its own list, and the list of this server.
        const ProcSet named = set_of(by_host);
        ProcSet missing = set_of(collective.missing());
        missing.merge(set_of(lost));
        std::erase_if(order, [&](const pmix_proc_t& proc) {
            return (!named.empty() && named.count(Proc(proc)) == 0) || missing.count(Proc(proc)) != 0;
        });
    }
    for (const pmix_proc_t& proc : by_host) {
        if (asked.count(Proc(proc)) == 0) order.push_back(proc);
    }
    return order;
}

/// The parts of all servers, as the host brought them; `own` alone where it did not, or brought something
/// else.
std::vector<GroupPart> parts_of(GroupServer& server, const std::string& id, const HostAnswer& answer,
                                GroupPart own) {
    std::vector<GroupPart> parts;
    for (const pmix_info_t& one : answer.info) {
        if (!key_is(one.key, PMIX_GROUP_ENDPT_DATA) || one.value.type != PMIX_BYTE_OBJECT) continue;
        const ByteView bytes = value_as_bytes(&one.value);
        if (unpack_group_parts(server.runtime().own_format(), bytes, parts) == PMIX_SUCCESS) continue;
        MUSTER_LOG(server.log(), Error,
                   "the data of group %s that the host brought cannot be read (%zu bytes); do all servers of "
                   "the job run this library?",
                   id.c_str(), bytes.size());
        parts.clear();
        break;
    }
    if (parts.empty()) parts.push_back(std::move(own));
    return parts;
}

/// Stores what all servers sent, and adds the group to the table. Returns the members' result.
Outcome enter(GroupServer& server, Group group, size_t wanted, const HostAnswer& answer,
              std::vector<GroupPart> parts) {
    Gds& store = server.runtime().store();
    Outcome outcome;
    outcome.status = group.members.size() < wanted ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
    group.context_id = answer.info.view().number<size_t>(PMIX_GROUP_CONTEXT_ID);
    bool told = false;
    for (GroupPart& part : parts) {
        group.notify_termination |= part.notify_termination;
        if (!group.leader && !part.leaders.empty()) group.leader = part.leaders.front();
        for (const Bytes& job : part.jobs)
            store_job(server, job);
        if (!part.posted.empty()) server.modex().accept_contributions(part.posted.view());
        if (parts.size() > 1 || !answer.info.view().has(PMIX_GROUP_INFO)) {
            for (size_t i = 0; i < part.infos.size(); ++i)
                outcome.info.add_move(part.infos[i]);
            told = true;
        }
    }
    for (const pmix_info_t& one : answer.info) {
        if (key_is(one.key, PMIX_PROC_DATA)) store_posted(server, one);
        // A host that carries these instead of our own parts.
        if (!told && key_is(one.key, PMIX_GROUP_INFO)) outcome.info.add_copy(one);
        if (parts.size() == 1 && key_is(one.key, PMIX_GROUP_INFO_ARRAY)) {
            for (const pmix_info_t& nested : value_as_infos(&one.value))
                outcome.info.add_copy(PMIX_GROUP_INFO, nested.value);
        }
    }
    for (const pmix_info_t& info : outcome.info) {
        store_group_info(store, info, group.context_id);
        const InfoView values = value_as_infos(&info.value);
        if (const pmix_proc_t* owner = values.proc(PMIX_PROCID)) server.modex().told(*owner, values);
    }
    outcome.info.add(PMIX_GROUP_MEMBERSHIP, group.membership());
    if (group.context_id) outcome.info.add(PMIX_GROUP_CONTEXT_ID, *group.context_id);
    if (group.leader) outcome.info.add(PMIX_GROUP_LEADER, *group.leader);
    if (group.notify_termination) outcome.info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
    server.group_destruct().constructed(group);
    const std::string id = group.id;
    server.groups().add(std::move(group));
    server.invitation_watch().tell_of_losses(id);
    return outcome;
}

/// The first failure that another server reports.
pmix_status_t failure_among(const std::vector<GroupPart>& parts) {
    for (const GroupPart& part : parts) {
        if (part.status != PMIX_SUCCESS) return part.status;
    }
    return PMIX_SUCCESS;
}

/// Whether the life of `proc` that asked has finalized. The process may have initialised again.
bool has_finalized(GroupServer& server, const PeerRef& asker, const pmix_proc_t& proc) {
    if (const PeerPtr peer = asker.lock()) return peer->finalized;
    Namespace* nspace = server.namespaces().find(proc.nspace);
    if (nspace == nullptr) return false;
    const LocalClient* client = nspace->client(proc.rank);
    return client != nullptr ? !client->lost : nspace->removed_in_order.contains(proc.rank);
}

}  // namespace

void GroupConstruct::all_local_in(const std::shared_ptr<Collective>& collective) {
    State& state = states_[collective->id()];
    state.local_in = true;
    for (Loss& loss : state.losses) {
        if (!loss.told) tell(*collective, loss);
    }
    go_on(collective->id());
}

void GroupConstruct::hand_over(const std::shared_ptr<Collective>& collective) {
    State& state = states_[collective->id()];
    if (state.asked) return;
    state.asked = true;
    if (server_.groups().find(collective->id()) != nullptr) {
        // The callers were members in a former life, and the group still has other members.
        return server_.collectives().finish(collective, {PMIX_ERR_EXISTS, {}});
    }
    const bool wants_id = collective->any_true(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    const bool local_only = collective->all_local();
    if (!local_only && collective->any_true(PMIX_GROUP_LOCAL_ONLY))
        return server_.collectives().finish(collective, {PMIX_ERR_BAD_PARAM, {}});
    // All callers get the same status, here and on other nodes.
    if (!has_room(maker_of(*collective), collective->id(), collective->participants().size()))
        return server_.collectives().finish(collective, {PMIX_ERR_OUT_OF_RESOURCE, {}});
    GroupPart part = local_part(*collective);
    if (!can_keep(server_, part.infos))
        return server_.collectives().finish(collective, {PMIX_ERR_OUT_OF_RESOURCE, {}});
    if (state.new_leader) part.leaders.assign(1, *state.new_leader);
    if (local_only && !wants_id && !collective->needs_host(Function::GroupConstruct)) {
        std::vector<GroupPart> parts;
        parts.push_back(std::move(part));
        return complete(collective, {}, std::move(parts));
    }

    Info info = directives_for_host(*collective);
    if (!local_only) {
        part.posted = server_.modex().contribution(part.present);
        // Servers that have a job's data send it to those that lack it.
        const char* nspace = collective->participants().front().nspace;
        const bool several = std::ranges::any_of(collective->participants(), [&](const pmix_proc_t& proc) {
            return !nspace_is(proc.nspace, nspace);
        });
        ProcSet told;
        for (const pmix_proc_t& proc : part.present) {
            if (!several || !told.emplace(proc.nspace, PMIX_RANK_WILDCARD).second) continue;
            Packer job(server_.runtime().own_format());
            job.string(proc.nspace);
            if (server_.runtime().store().pack_job(proc.nspace, job, false) == PMIX_SUCCESS &&
                job.error() == PMIX_SUCCESS) {
                part.jobs.push_back(job.take());
            }
        }
        // The default order is not sent.
        if (std::is_sorted(part.order.begin(), part.order.end(), proc_less)) part.order.clear();
        if (const pmix_status_t status = add_part(server_, part, info); status != PMIX_SUCCESS)
            return server_.collectives().finish(collective, {status, {}});
    }
    auto own = std::make_shared<GroupPart>(std::move(part));
    ask_host_for_group(server_.host(), PMIX_GROUP_CONSTRUCT, collective->id(), collective->participants(),
                       std::move(info), [this, collective, own](const HostAnswer& answer) {
                           auto parts = parts_of(server_, collective->id(), answer, std::move(*own));
                           complete(collective, answer, std::move(parts));
                       });
}

void GroupConstruct::complete(const std::shared_ptr<Collective>& collective, const HostAnswer& answer,
                              std::vector<GroupPart> parts) {
    Collectives& collectives = server_.collectives();
    if (!collectives.is_active(collective)) return;  // its time limit was over
    states_[collective->id()].settled = true;
    if (!is_good(answer.status)) return collectives.finish(collective, {answer.status, {}});
    if (const pmix_status_t failed = failure_among(parts); failed != PMIX_SUCCESS)
        return collectives.finish(collective, {failed, {}});
    std::vector<pmix_proc_t> by_host = procs_of(answer.info.view().value(PMIX_GROUP_MEMBERSHIP));
    if (!expand_wildcards(server_.runtime().store(), by_host)) by_host.clear();
    const bool tolerant = tolerates_departure(*collective, {}) || answer.status == PMIX_ERR_PARTIAL_SUCCESS;
    const std::vector<pmix_proc_t> members =
        final_members(*collective, parts, by_host, elsewhere_[collective->id()].lost, tolerant);
    Group group;
    group.id = collective->id();
    group.payer = payer(maker_of(*collective));
    group.set_members(members);
    const MemberListPtr named = group_call(collective->arrivals().front()).members;
    tell_of_missing(*collective, members, parts);
    Outcome outcome = enter(server_, std::move(group), named->order.size(), answer, std::move(parts));
    if (named->as_sent && same_procs(named->order, members)) group_outcome(outcome).members = named;
    collectives.finish(collective, outcome);
    for (const Arrival& arrival : collective->arrivals()) {
        const GroupCall& call = group_call(arrival);
        if (!call.met && has_finalized(server_, call.asker, arrival.proc))
            leave_finalized(server_, collective->id(), arrival.proc);
    }
}

void bootstrap_group(GroupServer& server, const std::string& id, std::vector<pmix_proc_t> procs,
                     Arrival arrival) {
    const bool others =
        std::ranges::any_of(procs, [&](const pmix_proc_t& proc) { return !proc_is(proc, arrival.proc); });
    if (others) return arrival.reply({PMIX_ERR_BAD_PARAM, {}});
    if (!server.group_construct().has_room(arrival.proc, id, procs.size()))
        return arrival.reply({PMIX_ERR_OUT_OF_RESOURCE, {}});
    GroupPart part;
    part.present.push_back(arrival.proc);
    part.notify_termination = arrival.info.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION);
    if (!procs.empty()) part.leaders.push_back(arrival.proc);
    add_group_info(arrival, part.infos);
    if (!can_keep(server, part.infos)) return arrival.reply({PMIX_ERR_OUT_OF_RESOURCE, {}});
    part.posted = server.modex().contribution(part.present);
    Info info;
    info.add_copies(part.infos);
    for (const pmix_info_t& one : arrival.info) {
        if (!key_is_any(one.key, {PMIX_GROUP_INFO, PMIX_GROUP_LOCAL_CID, PMIX_PROCID})) info.add_copy(one);
    }
    // Nothing else names the caller of an add-member call.
    info.add(PMIX_PROCID, arrival.proc);
    info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(PMIX_SUCCESS));
    if (const pmix_status_t status = add_part(server, part, info); status != PMIX_SUCCESS)
        return arrival.reply({status, {}});
    auto own = std::make_shared<GroupPart>(std::move(part));
    HostDone done = server.host().bounded(
        "construction of a group", arrival.proc, arrival.info,
        [&server, id, own, self = arrival.proc, asker = group_call(arrival).asker,
         reply = arrival.reply](const HostAnswer& answer) {
            if (!is_good(answer.status)) return reply({answer.status, {}});
            std::vector<GroupPart> parts = parts_of(server, id, answer, std::move(*own));
            std::vector<pmix_proc_t> members = procs_of(answer.info.view().value(PMIX_GROUP_MEMBERSHIP));
            if (!expand_wildcards(server.runtime().store(), members) || members.empty()) {
                for (const GroupPart& one : parts)
                    members.insert(members.end(), one.present.begin(), one.present.end());
                std::ranges::sort(members, proc_less);
            }
            Group group;
            group.id = id;
            group.payer = server.group_construct().payer(self);
            group.set_members(members);
            reply(enter(server, std::move(group), 0, answer, std::move(parts)));
            if (has_finalized(server, asker, self)) leave_finalized(server, id, self);
        });
    ask_host_for_group(server.host(), PMIX_GROUP_CONSTRUCT, id, std::move(procs), std::move(info),
                       std::move(done));
}

// --- destruct ---

bool GroupDestruct::tolerates_departure(const Collective& collective, const pmix_proc_t&) {
    const Group* group = server_.groups().find(collective.id());
    return (group != nullptr && group->notify_termination) || collective.any_true(PMIX_GROUP_FT_COLLECTIVE);
}

bool GroupDestruct::expired(const std::shared_ptr<Collective>& collective) {
    return collective->handed_over() && wait_for_host(server_.collectives(), collective);
}

void GroupDestruct::all_local_in(const std::shared_ptr<Collective>& collective) {
    if (collective->all_local() && !collective->needs_host(Function::GroupDestruct))
        return server_.collectives().finish(collective, {});
    Info info;
    info.add_copies(collective->directives());
    collective->add_unmet(Function::GroupDestruct, info);
    if (tolerates_departure(*collective, {}) && !info.view().has(PMIX_GROUP_NOTIFY_TERMINATION))
        info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
    if (!info.view().has(PMIX_LOCAL_COLLECTIVE_STATUS))
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(collective->local_status()));
    std::vector<pmix_proc_t> procs = participants_for_host(*collective);
    ask_host_for_group(server_.host(), PMIX_GROUP_DESTRUCT, collective->id(), std::move(procs),
                       std::move(info), [this, collective](const HostAnswer& answer) {
                           if (!server_.collectives().is_active(collective)) return;
                           settled_.insert(collective->id());
                           pmix_status_t status = answer.status;
                           if (status == PMIX_SUCCESS)
                               status = failure_among(parts_of(server_, collective->id(), answer, {}));
                           server_.collectives().finish(collective, {status, {}});
                       });
}

void GroupDestruct::joined(const Collective& collective) {
    server_.meetings().joined(collective);
}

void GroupDestruct::ended(const Collective& collective, const Outcome& outcome) {
    server_.meetings().ended(collective, outcome);
    const bool settled = settled_.erase(collective.id()) != 0;
    asked_.erase(collective.id());
    // All callers have ended: the group stays as it is.
    if (collective.arrivals().empty())
        server_.groups().change(collective.id(), [](Group& one) { one.state = GroupState::Ready; });
    if (outcome.status == PMIX_SUCCESS || settled) return;
    tell_host_of_failure(server_, PMIX_GROUP_DESTRUCT, collective, outcome.status);
    if (!collective.all_local()) took_part({collective.id(), collective.participants()});
}

}  // namespace muster
