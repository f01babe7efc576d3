// SPDX-License-Identifier: BSD-3-Clause
// Requests of clients that construct and destruct groups (docs/reference/wire.md, commands 24 and 28; the
// replies have a form for each family of libraries).

#include <algorithm>
#include <string_view>

#include "core/exchange/namespaces.hpp"
#include "core/exchange/proc_list.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/context_id.hpp"
#include "core/groups/group_call.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/leave.hpp"
#include "core/groups/meeting.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {
namespace {

/// The job data of namespaces that are new to this peer (only our own clients look for it).
void add_jobs(GroupServer& server, const Peer& peer, const std::vector<pmix_proc_t>& members, Packer& reply) {
    ViewSet told{nspace_view(peer.proc.nspace)};
    for (const pmix_proc_t& member : members) {
        const std::string_view view = nspace_view(member.nspace);
        if (!told.insert(view).second) continue;
        const std::string name(view);
        if (const SharedBytes job =
                packed_job_info(server.runtime(), server.namespaces(), name.c_str(), peer)) {
            reply.bytes(job->view());
            continue;
        }
        Packer job = peer.packer();
        job.string(name);
        if (server.runtime().store().pack_job(name.c_str(), job, false) == PMIX_SUCCESS)
            reply.bytes(job.view());
    }
}

void write_construct(GroupServer& server, const Peer& peer, const Outcome& outcome, bool brief,
                     Packer& reply) {
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
    if (!version.can(Capability::GroupDetails) && !version.at_least(6, 0)) {
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
    if (!version.can(Capability::GroupDetails)) return;
    Info more;
    for (const char* key : {PMIX_GROUP_LEADER, PMIX_GROUP_NOTIFY_TERMINATION}) {
        if (const pmix_info_t* one = info.find(key)) more.add_copy(*one);
    }
    reply.infos(more);
    add_jobs(server, peer, members, reply);
}

std::function<void(const Outcome&)> construct_reply(GroupServer& server, const Request& request,
                                                    const MemberListPtr& members) {
    return [&server, ref = request.asker(), tag = request.tag, members](const Outcome& outcome) {
        const PeerPtr peer = ref.lock();
        if (!peer) return;
        if (!is_good(outcome.status)) return peer->reply_status(tag, outcome.status);
        GroupOutcome& told = group_outcome(outcome);
        // The reply omits the members if they are those that the caller named.
        const bool brief =
            peer->version.can(Capability::GroupDetails) && members != nullptr && members == told.members;
        if (!told.packed || !told.packed->serves(*peer, brief)) {
            Packer reply = peer->packer();
            reply.status(outcome.status);
            write_construct(server, *peer, outcome, brief, reply);
            if (reply.error() != PMIX_SUCCESS) return peer->reply_status(tag, reply.error());
            told.packed = {peer->format, peer->version, std::string(nspace_view(peer->proc.nspace)),
                           std::make_shared<const Bytes>(reply.take()), brief};
        }
        peer->reply_shared(tag, told.packed->bytes);
    };
}

/// Whether a group of this name can be made here.
pmix_status_t check_new_id(GroupServer& server, const std::string& id, const pmix_proc_t& caller) {
    if (!valid_group_id(id.c_str()) || server.namespaces().find(id.c_str()) != nullptr ||
        server.runtime().store().knows(id.c_str())) {
        return PMIX_ERR_BAD_PARAM;
    }
    const Group* group = server.groups().find(id);
    if (group == nullptr || group->state == GroupState::Failed) return PMIX_SUCCESS;
    // It was in that group in a former life; the others may be about to finalize, too.
    return among(group->finalized, caller) ? PMIX_SUCCESS : PMIX_ERR_EXISTS;
}

/// The destruct of a group has ended for one member. A group with a failed member also ends: it stays until
/// all its local members have received the failure.
void end_for(GroupServer& server, const std::string& id, const pmix_proc_t& proc, pmix_status_t status) {
    GroupTable& groups = server.groups();
    bool over = status == PMIX_SUCCESS;
    groups.change(id, [&](Group& group) {
        if (status != PMIX_GROUP_MEMBER_FAILED) {
            group.state = GroupState::Ready;
            return;
        }
        group.state = GroupState::Failed;
        group.remove(proc);
        over = std::ranges::none_of(group.members, [&](const GroupMember& one) {
            return server.namespaces().is_alive(group.proc(one));
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
    std::ranges::stable_sort(order,
                             [&](const pmix_proc_t& a, const pmix_proc_t& b) { return key(a) < key(b); });
}

/// Whether the next bytes are those that another participant sent; skips them then.
bool repeats(Unpacker& in, std::string_view nspace, const MemberList& list) {
    return in.format().bfrops == list.format.bfrops && in.format().buffer_type == list.format.buffer_type &&
           list.nspace == nspace && !list.packed.empty() && in.skip(list.packed.view());
}

/// The members, each by name, or as ranks of this namespace.
bool read_members(GroupServer& server, Unpacker& in, std::string_view nspace,
                  std::vector<pmix_proc_t>& procs) {
    if (nspace.empty()) return in.procs(procs);
    const std::string name(nspace);
    const auto size = server.runtime().store().job_size(name.c_str());
    std::vector<RankRun> runs;
    if (!size || !unpack_runs(in, *size, runs)) return false;
    procs = ProcList(name, std::move(runs)).procs();
    return true;
}

using OnOutcome = std::function<void(const Outcome&)>;

/// One asks for all processes of its job, which met in memory: `own` is its call, and the others' get the
/// replies that `reply_of` makes.
template <class ReplyOf>
void arrive_together(GroupServer& server, CollectiveKind kind, const std::string& id, uint32_t number,
                     const std::vector<pmix_proc_t>& procs, Arrival own, ReplyOf reply_of) {
    Collectives& collectives = server.collectives();
    const pmix_proc_t self = own.proc;
    const auto call = std::make_shared<GroupCall>(group_call(own));
    call->met = true;
    own.data = call;
    own.reply = [&server, kind, id, number, self, reply = std::move(own.reply)](const Outcome& outcome) {
        server.meetings().keep(self.nspace, kind, id, number, outcome);
        reply(outcome);
    };
    collectives.arrive(kind, id, procs, std::move(own));
    const auto collective = collectives.find(kind, id);
    for (const pmix_proc_t& proc : procs) {
        if (!collective || !collectives.is_active(collective)) return;  // a participant has ended
        if (proc_is(proc, self)) continue;
        Arrival other;
        other.proc = proc;
        other.data = call;
        other.reply = reply_of(proc);
        collectives.arrive_too(collective, other);
    }
}

/// The reply to a process that was in a meeting, had to leave it, and sends its own request: the meeting's
/// result, which may arrive later. False if the meeting had none.
bool answered_by_meeting(GroupServer& server, const Request& request, CollectiveKind kind,
                         const std::string& id, uint32_t number,
                         const std::function<OnOutcome(const MemberListPtr&)>& reply_to) {
    const pmix_proc_t& proc = request.peer->proc;
    if (const auto active = server.collectives().find(kind, id)) {
        const std::vector<Arrival>& arrivals = active->arrivals();
        const bool met = std::ranges::any_of(
            arrivals, [&](const Arrival& one) { return group_call(one).met && proc_is(one.proc, proc); });
        if (met)
            return Collectives::answer_instead(active, proc, reply_to(group_call(arrivals.front()).members));
    }
    const auto outcome = server.meetings().kept(proc.nspace, kind, id, number);
    if (!outcome) return false;
    reply_to(group_outcome(*outcome).members)(*outcome);
    return true;
}

void construct(GroupServer& server, const Request& request, bool by_runs) {
    const std::string_view nspace = by_runs ? nspace_view(request.peer->proc.nspace) : std::string_view();
    std::string id;
    if (!request.in.string(id)) return request.malformed();
    Collectives& collectives = server.collectives();
    // Most callers send the same bytes: one check holds for all of them.
    const auto first = collectives.find(CollectiveKind::GroupConstruct, id);
    MemberListPtr members = first ? group_call(first->arrivals().front()).members : nullptr;
    if (members && !repeats(request.in, nspace, *members)) members.reset();
    std::vector<pmix_proc_t> procs;
    const ByteView begin = request.in.rest();
    if (!members && !read_members(server, request.in, nspace, procs)) return request.malformed();
    const ByteView packed = begin.subspan(0, begin.size() - request.in.rest().size());
    Arrival arrival;
    const auto call = std::make_shared<GroupCall>();
    arrival.data = call;
    MeetingNote note;
    if (!request.in.infos(arrival.info)) return request.malformed();
    if (by_runs && !MeetingNote::read(request.in, note)) return request.malformed();
    arrival.proc = request.peer->proc;
    call->maps_meeting = note.maps;
    call->asker = request.peer;
    const auto refuse = [&](pmix_status_t status) { request.peer->reply_status(request.tag, status); };
    const auto reply_to = [&](const MemberListPtr& list) { return construct_reply(server, request, list); };
    if (note.number && !note.together &&
        answered_by_meeting(server, request, CollectiveKind::GroupConstruct, id, *note.number, reply_to)) {
        return;
    }
    if (note.together && first) return refuse(kEachForItself);
    if (const pmix_status_t status = check_new_id(server, id, arrival.proc); status != PMIX_SUCCESS)
        return refuse(status);
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
            if (!server.groups().expand(procs)) return refuse(PMIX_ERR_BAD_PARAM);
            own->packed = Bytes(packed);
            own->format = request.in.format();
            own->nspace = nspace;
        }
        if (procs.empty() || arrival.info.view().has(PMIX_GROUP_BOOTSTRAP)) {
            arrival.reply = construct_reply(server, request, nullptr);
            return bootstrap_group(server, id, std::move(procs), std::move(arrival));
        }
        std::vector<pmix_proc_t> order = procs;
        if (!expand_wildcards(server.runtime().store(), order)) return refuse(PMIX_ERR_INVALID_NAMESPACE);
        apply_order(arrival.info, order);
        request.keeps(order.size());
        own->as_sent = same_procs(own->order, order);
        own->order = std::move(order);
        members = std::move(own);
    }
    arrival.reply = construct_reply(server, request, members);
    call->members = members;
    if (note.together) {
        if (!server.meetings().are_all(arrival.proc.nspace, members->order)) return refuse(kEachForItself);
        return arrive_together(server, CollectiveKind::GroupConstruct, id, *note.number, members->order,
                               std::move(arrival), [](const pmix_proc_t&) { return [](const Outcome&) {}; });
    }
    if (arrival.info.view().is_true(PMIX_GROUP_LEADER))
        server.group_construct().leader_calls(id, arrival.proc, members->order);
    if (same && collectives.arrive_too(first, arrival)) return;
    if (same) procs = first->as_given();
    collectives.arrive(CollectiveKind::GroupConstruct, id, std::move(procs), std::move(arrival));
}

void take_decision(GroupServer& server, const Request& request) {
    std::string id;
    pmix_proc_t gone{};
    bool abort = false, lead = false;
    // There is no reply: a malformed message has no effect.
    if (!request.in.string(id) || !request.in.proc(gone) || !request.in.boolean(abort) ||
        !request.in.boolean(lead)) {
        return;
    }
    server.group_construct().decided(id, request.peer->proc, gone, abort, lead);
}

/// OpenPMIx 7.0: the server must invite, and complete the group.
void lead_for(GroupServer& server, const Request& request) {
    LedInvitation wanted;
    uint32_t seconds = 0;
    if (!request.in.string(wanted.id) || !request.in.procs(wanted.members) || !request.in.uint32(seconds) ||
        !request.in.boolean(wanted.optional) || !request.in.boolean(wanted.wants_context_id))
        return request.malformed();
    if (!request.expand(server.groups(), server.log(), wanted.members)) return;
    wanted.leader = request.peer->proc;
    wanted.user = request.peer->uid;
    wanted.limit = std::chrono::seconds(seconds);
    server.invitation_watch().lead(std::move(wanted), answer_later(request));
}

/// OpenPMIx 7.0: the client's answer to an invitation, for the server to pass on.
void answer_for(GroupServer& server, const Request& request) {
    std::string id;
    pmix_status_t code = PMIX_SUCCESS;
    std::vector<pmix_proc_t> leader;
    if (!request.in.string(id) || !request.in.status(code) || !request.in.procs(leader) || leader.size() > 1)
        return request.malformed();
    server.invitation_watch().pass_answer(
        *request.peer, id, code, leader.empty() ? std::nullopt : std::optional(leader.front()),
        [&request](pmix_status_t status) { request.peer->reply_status(request.tag, status); });
}

void destruct(GroupServer& server, const Request& request) {
    std::string id;
    std::vector<pmix_proc_t> procs;
    Arrival arrival;
    const auto call = std::make_shared<GroupCall>();
    arrival.data = call;
    if (!request.in.string(id)) return request.malformed();
    if (knows_group_members(request.peer->version) && !request.in.procs(procs)) return request.malformed();
    MeetingNote note;
    if (!request.in.infos(arrival.info)) return request.malformed();
    const PeerPtr& peer = request.peer;
    if (peer->version.can(Capability::GroupDetails) && !MeetingNote::read(request.in, note))
        return request.malformed();
    const auto end = [&server, id](const pmix_proc_t& proc) {
        return [&server, id, proc](const Outcome& outcome) { end_for(server, id, proc, outcome.status); };
    };
    OnOutcome reply = [end_it = end(peer->proc), ref = request.asker(),
                       tag = request.tag](const Outcome& outcome) {
        end_it(outcome);
        const PeerPtr caller = ref.lock();
        if (!caller) return;
        Packer packer = caller->packer();
        packer.status(outcome.status);
        // Its readers use one function for both replies.
        if (!knows_group_members(caller->version)) packer.size(0);
        caller->reply(tag, std::move(packer));
    };
    if (note.number && !note.together &&
        answered_by_meeting(server, request, CollectiveKind::GroupDestruct, id, *note.number,
                            [&](const MemberListPtr&) { return reply; })) {
        return;
    }
    const Group* group = server.groups().find(id);
    if (group == nullptr) return peer->reply_status(request.tag, PMIX_ERR_NOT_FOUND);
    if (!group->has(peer->proc)) {
        const bool over = group->state == GroupState::Failed;
        return peer->reply_status(request.tag, over ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM);
    }
    const auto first = server.collectives().find(CollectiveKind::GroupDestruct, id);
    const bool all_ask = note.together && group->state == GroupState::Ready && !first;
    if (note.together && (!all_ask || !server.meetings().are_all(peer->proc.nspace, group->procs())))
        return peer->reply_status(request.tag, kEachForItself);
    if (group->state == GroupState::Ready)
        server.groups().change(id, [](Group& one) { one.state = GroupState::Destructing; });
    arrival.proc = peer->proc;
    call->maps_meeting = note.maps;
    arrival.reply = reply;
    if (group->state == GroupState::Failed) return arrival.reply({PMIX_GROUP_MEMBER_FAILED, {}});
    Collectives& collectives = server.collectives();
    if (note.together)
        return arrive_together(server, CollectiveKind::GroupDestruct, id, *note.number, group->procs(),
                               std::move(arrival), end);
    // A process that leaves the group leaves both.
    if (first && first->as_given().size() == group->members.size() && collectives.arrive_too(first, arrival))
        return;
    request.keeps(group->members.size());
    collectives.arrive(CollectiveKind::GroupDestruct, id, group->procs(), std::move(arrival));
}

}  // namespace

void serve_groups(CommandTable& commands, GroupServer& server) {
    commands.add(Command::GroupConstruct,
                 [&server](const Request& request) { construct(server, request, false); });
    commands.add(Command::ConstructRuns,
                 [&server](const Request& request) { construct(server, request, true); });
    commands.add(Command::GroupDestruct, [&server](const Request& request) { destruct(server, request); });
    // These two have another meaning where a client of OpenPMIx sends them.
    const auto is_plain = [](const Request& request) {
        return !request.peer->version.can(Capability::GroupInvitations);
    };
    commands.add(
        Command::GroupJoin,
        [&server, is_plain](const Request& request) {
            is_plain(request) ? answer_for(server, request) : take_decision(server, request);
        },
        AnswerTime::AtOnce);
    commands.add(Command::GroupInvite, [&server, is_plain](const Request& request) {
        is_plain(request) ? lead_for(server, request) : serve_context_id(server.host(), request);
    });
    commands.add(Command::GroupLeave, [&server](const Request& request) { leave_group(server, request); });
}

}  // namespace muster
