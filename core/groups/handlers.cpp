// SPDX-License-Identifier: BSD-3-Clause
// Requests of clients that construct and destruct groups (docs/wire.md, commands 24 and 28; the replies have
// a form for each family of libraries).
#include "core/server/handlers.hpp"

#include <algorithm>

#include "core/events/event.hpp"
#include "core/groups/construct.hpp"
#include "core/server/server.hpp"

namespace muster {
namespace {

/// The job data of namespaces that are new to this peer (only our own clients look for it).
void add_jobs(Server& server, const Peer& peer, const std::vector<pmix_proc_t>& members, Packer& reply) {
    std::vector<std::string_view> told{nspace_view(peer.proc.nspace)};
    for (const pmix_proc_t& member : members) {
        const std::string_view view = nspace_view(member.nspace);
        if (std::find(told.begin(), told.end(), view) != told.end()) continue;
        told.push_back(view);
        const std::string name(view);
        if (const SharedBytes job = packed_job_info(server, name.c_str(), peer)) {
            reply.bytes(job->view());
            continue;
        }
        Packer job = peer.packer();
        job.string(name);
        if (server.runtime().store().pack_job(name.c_str(), job, false) == PMIX_SUCCESS)
            reply.bytes(job.view());
    }
}

void write_construct(Server& server, const Peer& peer, const Outcome& outcome, bool brief, Packer& reply) {
    const InfoView info = outcome.info;
    std::vector<pmix_proc_t> members;
    if (const pmix_value_t* value = info.value(PMIX_GROUP_MEMBERSHIP)) append_procs(*value, members);
    const auto context_id = info.number<size_t>(PMIX_GROUP_CONTEXT_ID);
    const PeerVersion& version = peer.version;
    if (!knows_group_members(version)) {
        reply.size(context_id.value_or(0));
        return;
    }
    reply.procs(members.data(), brief ? 0 : members.size());
    if (version.muster == 0 && !version.at_least(6, 0)) {
        if (context_id) reply.size(*context_id);
        return;
    }
    reply.boolean(context_id.has_value());
    if (context_id) reply.size(*context_id);
    std::vector<const pmix_info_t*> told;
    for (const pmix_info_t& one : info) {
        if (key_is(one.key, PMIX_GROUP_INFO)) told.push_back(&one);
    }
    reply.size(told.size());
    for (const pmix_info_t* one : told)
        reply.info(*one);
    if (version.muster == 0) return;
    Info more;
    for (const char* key : {PMIX_GROUP_LEADER, PMIX_GROUP_NOTIFY_TERMINATION}) {
        if (const pmix_info_t* one = info.find(key)) more.add_copy(*one);
    }
    reply.infos(more);
    add_jobs(server, peer, members, reply);
}

std::function<void(const Outcome&)> construct_reply(Server& server, const Request& request,
                                                    const MemberListPtr& members) {
    return [&server, ref = PeerRef(request.peer), tag = request.tag, members](const Outcome& outcome) {
        const PeerPtr peer = ref.lock();
        if (!peer) return;
        if (outcome.status != PMIX_SUCCESS && outcome.status != PMIX_ERR_PARTIAL_SUCCESS)
            return peer->reply_status(tag, outcome.status);
        // Who is in it as it said itself need not be told.
        const bool brief = peer->version.muster != 0 && members != nullptr && members == outcome.members;
        if (!outcome.packed || !outcome.packed->serves(*peer, brief)) {
            Packer reply = peer->packer();
            reply.status(outcome.status);
            write_construct(server, *peer, outcome, brief, reply);
            if (reply.error() != PMIX_SUCCESS) return peer->reply_status(tag, reply.error());
            outcome.packed = {peer->format, peer->version, std::string(nspace_view(peer->proc.nspace)),
                              std::make_shared<const Bytes>(reply.take()), brief};
        }
        peer->reply_shared(tag, outcome.packed->bytes);
    };
}

/// Whether a group of this name can be made here.
pmix_status_t check_new_id(Server& server, const std::string& id) {
    if (!valid_group_id(id.c_str()) || server.namespaces().find(id.c_str()) != nullptr ||
        server.runtime().store().knows(id.c_str())) {
        return PMIX_ERR_BAD_PARAM;
    }
    const Group* group = server.runtime().groups().find(id);
    return group != nullptr && group->state != GroupState::Failed ? PMIX_ERR_EXISTS : PMIX_SUCCESS;
}

/// The destruct of a group has ended for one member. A group that cannot be ended in order, as a member has
/// failed, is over all the same: it stays until all its members here have heard so.
void end_for(Server& server, const std::string& id, const pmix_proc_t& proc, pmix_status_t status) {
    GroupTable& groups = server.runtime().groups();
    bool over = status == PMIX_SUCCESS;
    groups.change(id, [&](Group& group) {
        if (status != PMIX_GROUP_MEMBER_FAILED) {
            group.state = GroupState::Ready;
            return;
        }
        group.state = GroupState::Failed;
        group.remove(proc);
        over = std::none_of(group.members.begin(), group.members.end(), [&](const GroupMember& one) {
            const LocalClient* client = server.namespaces().client(group.proc(one));
            return client != nullptr && !client->gone();
        });
    });
    if (over) groups.remove(id);
}

/// The members in the order that a directive of the newest headers gives: those that it names first.
void apply_order(InfoView info, std::vector<pmix_proc_t>& order) {
    const pmix_value_t* value = info.value(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER);
    std::vector<pmix_proc_t> wanted;
    if (value == nullptr || !append_procs(*value, wanted)) return;
    std::unordered_map<Proc, size_t> place;
    for (const pmix_proc_t& proc : wanted)
        place.emplace(proc, place.size());
    const auto key = [&](const pmix_proc_t& proc) {
        const auto found = place.find(Proc(proc));
        return found == place.end() ? place.size() : found->second;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const pmix_proc_t& a, const pmix_proc_t& b) { return key(a) < key(b); });
}

/// Whether the bytes that come next are those that another participant sent; passes over them then.
bool repeats(Unpacker& in, const MemberList& list) {
    return in.format().bfrops == list.format.bfrops && in.format().buffer_type == list.format.buffer_type &&
           !list.packed.empty() && in.skip(list.packed.view());
}

}  // namespace

void handle::group_construct(Server& server, const Request& request) {
    std::string id;
    if (!request.in.string(id)) return request.malformed();
    Collectives& collectives = server.collectives();
    // Most send the same bytes: what was found out about them counts for all.
    const auto first = collectives.find(CollectiveKind::GroupConstruct, id);
    MemberListPtr members = first ? first->arrivals().front().members : nullptr;
    if (members && !repeats(request.in, *members)) members.reset();
    std::vector<pmix_proc_t> procs;
    const ByteView begin = request.in.rest();
    if (!members && !request.in.procs(procs)) return request.malformed();
    const ByteView packed = begin.subspan(0, begin.size() - request.in.rest().size());
    Arrival arrival;
    if (!request.in.infos(arrival.info)) return request.malformed();
    arrival.proc = request.peer->proc;
    const auto refuse = [&](pmix_status_t status) { request.peer->reply_status(request.tag, status); };
    if (const pmix_status_t status = check_new_id(server, id); status != PMIX_SUCCESS) return refuse(status);
    if (server.group_construct().came_too_late(id, arrival.proc)) return refuse(PMIX_GROUP_CONSTRUCT_ABORT);
    const auto orders = [](InfoView info) {
        return info.has(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER) || info.has(PMIX_GROUP_BOOTSTRAP);
    };
    const bool same = members && !orders(arrival.info) && !orders(first->directives());
    if (!same) {
        auto own = std::make_shared<MemberList>();
        if (members) {
            procs = first->as_given();
        } else {
            own->order = procs;
            if (!server.runtime().groups().expand(procs)) return refuse(PMIX_ERR_BAD_PARAM);
            own->packed = Bytes(packed);
            own->format = request.in.format();
        }
        if (procs.empty() || arrival.info.view().has(PMIX_GROUP_BOOTSTRAP)) {
            arrival.reply = construct_reply(server, request, nullptr);
            return bootstrap_group(server, id, std::move(procs), std::move(arrival));
        }
        std::vector<pmix_proc_t> order = procs;
        if (!expand_wildcards(server.runtime().store(), order)) return refuse(PMIX_ERR_INVALID_NAMESPACE);
        apply_order(arrival.info, order);
        own->as_sent = same_procs(own->order, order);
        own->order = std::move(order);
        members = std::move(own);
    }
    arrival.reply = construct_reply(server, request, members);
    arrival.members = members;
    if (arrival.info.view().is_true(PMIX_GROUP_LEADER))
        server.group_construct().leader_calls(id, arrival.proc, members->order);
    if (same && collectives.arrive_too(first, arrival)) return;
    if (same) procs = first->as_given();
    collectives.arrive(CollectiveKind::GroupConstruct, id, std::move(procs), std::move(arrival));
}

void handle::group_decision(Server& server, const Request& request) {
    std::string id;
    pmix_proc_t gone{};
    bool abort = false, lead = false;
    // There is no reply: what cannot be read decides nothing.
    if (!request.in.string(id) || !request.in.proc(gone) || !request.in.boolean(abort) ||
        !request.in.boolean(lead)) {
        return;
    }
    server.group_construct().decided(id, request.peer->proc, gone, abort, lead);
}

void handle::group_destruct(Server& server, const Request& request) {
    std::string id;
    std::vector<pmix_proc_t> procs;
    Arrival arrival;
    if (!request.in.string(id)) return request.malformed();
    if (knows_group_members(request.peer->version) && !request.in.procs(procs)) return request.malformed();
    if (!request.in.infos(arrival.info)) return request.malformed();
    const PeerPtr& peer = request.peer;
    const Group* group = server.runtime().groups().find(id);
    if (group == nullptr) return peer->reply_status(request.tag, PMIX_ERR_NOT_FOUND);
    if (!group->has(peer->proc)) {
        const bool over = group->state == GroupState::Failed;
        return peer->reply_status(request.tag, over ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM);
    }
    if (group->state == GroupState::Ready)
        server.runtime().groups().change(id, [](Group& one) { one.state = GroupState::Destructing; });
    arrival.proc = peer->proc;
    arrival.reply = [&server, id, proc = peer->proc, ref = PeerRef(peer),
                     tag = request.tag](const Outcome& outcome) {
        end_for(server, id, proc, outcome.status);
        const PeerPtr caller = ref.lock();
        if (!caller) return;
        Packer reply = caller->packer();
        reply.status(outcome.status);
        // Its readers use one function for both replies.
        if (!knows_group_members(caller->version)) reply.size(0);
        caller->reply(tag, std::move(reply));
    };
    if (group->state == GroupState::Failed) return arrival.reply({PMIX_GROUP_MEMBER_FAILED, {}, 0});
    Collectives& collectives = server.collectives();
    // Whoever leaves the group leaves both.
    const auto first = collectives.find(CollectiveKind::GroupDestruct, id);
    if (first && first->as_given().size() == group->members.size() && collectives.arrive_too(first, arrival))
        return;
    collectives.arrive(CollectiveKind::GroupDestruct, id, group->procs(), std::move(arrival));
}

}  // namespace muster
