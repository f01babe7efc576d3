// SPDX-License-Identifier: BSD-3-Clause
// A server's watch over groups by invitation: see invitation_watch.hpp.
#include "core/groups/invitation_watch.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <unordered_set>

#include "core/events/event_router.hpp"
#include "core/events/events.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/leave.hpp"

namespace muster {
namespace {

/// Invitations of one user under way that a server watches, and processes in them; of more the oldest are
/// watched no longer.
constexpr size_t kMaxWatched = 4096;
constexpr size_t kMaxParticipants = size_t{1} << 18;
/// Time for processes that have not answered to offer to lead, if no waiting process does.
constexpr std::chrono::milliseconds kClaimTime{2000};

}  // namespace

InvitationWatch::Participant* InvitationWatch::Watched::find(const pmix_proc_t& proc) {
    const auto found =
        std::ranges::find_if(others, [&](const Participant& one) { return proc_is(one.proc, proc); });
    return found == others.end() ? nullptr : &*found;
}

std::vector<pmix_proc_t> InvitationWatch::Watched::alive() const {
    std::vector<pmix_proc_t> procs;
    for (const Participant& one : others) {
        if (one.state != State::Gone) procs.push_back(one.proc);
    }
    return procs;
}

InvitationWatch::InvitationWatch(GroupServer& server)
    : server_(server), next_round_(first_invitation_round()) {
    for (const pmix_status_t code :
         {PMIX_GROUP_INVITED, PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,
          PMIX_GROUP_INVITE_FAILED, PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_CONSTRUCT_COMPLETE,
          PMIX_GROUP_CONSTRUCT_ABORT, PMIX_GROUP_LEADER_SELECTED, PMIX_GROUP_LEFT}) {
        server.events().observe(code, [this](const EventPtr& event) {
            on_event(event);
            check_led();
            forget_the_empty();
            return EventEngine::OnEnd();
        });
    }
}

InvitationWatch::~InvitationWatch() = default;

void InvitationWatch::on_event(const EventPtr& seen) {
    const Event& event = *seen;
    const auto read = GroupEvent::read(event, server_.store());
    if (!read) return;
    const GroupEvent& said = *read;
    if (is_strangers(event, said)) return;
    switch (event.status) {
        case PMIX_GROUP_INVITED:
            return invited(seen, said);
        case PMIX_GROUP_INVITE_ACCEPTED:
        case PMIX_GROUP_INVITE_DECLINED:
            return answered(event, said);
        case PMIX_GROUP_INVITE_FAILED:
        case PMIX_GROUP_MEMBER_FAILED:
            if (said.affected) gone(*said.affected, said);
            if (event.status == PMIX_GROUP_MEMBER_FAILED) member_failed(event, said);
            return;
        case PMIX_GROUP_CONSTRUCT_COMPLETE:
            return completed(event, said);
        case PMIX_GROUP_CONSTRUCT_ABORT:
            return aborted(event, said);
        case PMIX_GROUP_LEADER_SELECTED:
            return said.vote ? voted(event, said) : leader_selected(said);
        case PMIX_GROUP_LEFT:
            return left(event, said);
        default:
            return;
    }
}

/// Whether a process names a group that has members of other users.
bool InvitationWatch::is_strangers(const Event& event, const GroupEvent& said) const {
    if (!event.user || is_master(*event.user)) return false;
    const auto is_others = [&](std::string_view nspace) {
        return !server_.namespaces().may_use(*event.user, make_proc(nspace, PMIX_RANK_WILDCARD));
    };
    const Group* group = server_.groups().find(said.id);
    if (group != nullptr && std::ranges::any_of(group->nspaces, is_others)) return true;
    return std::ranges::any_of(said.members,
                               [&](const pmix_proc_t& proc) { return is_others(nspace_view(proc.nspace)); });
}

InvitationWatch::Watched* InvitationWatch::find(const GroupEvent& said, const pmix_proc_t& leader) {
    const auto found = std::ranges::find_if(watched_, [&](const Watched& one) {
        return one.id == said.id && said.same_round(one.round) && proc_is(one.leader, leader);
    });
    return found == watched_.end() ? nullptr : &*found;
}

bool InvitationWatch::has_gone(const pmix_proc_t& proc) const {
    Namespace* const nspace = server_.namespaces().find(proc.nspace);
    if (nspace == nullptr) return false;
    const LocalClient* client = nspace->client(proc.rank);
    return nspace->removed.contains(proc.rank) || (client != nullptr && client->lost);
}

bool InvitationWatch::cannot_lead(const pmix_proc_t& proc) const {
    const LocalClient* client = server_.namespaces().client(proc);
    return has_gone(proc) || (client != nullptr && client->finalized);
}

void InvitationWatch::forget_the_empty() {
    watched_.remove_if([](const Watched& one) { return one.alive().empty() && !one.led; });
}

void InvitationWatch::tell(pmix_status_t code, const std::vector<pmix_proc_t>& targets, const std::string& id,
                           Info info) {
    if (targets.empty()) return;
    auto event = make_group_event(code, server_.runtime().self(), targets, id, std::move(info));
    // Posted: it may be an event that leads to this one.
    server_.runtime().loop().post([this, event] { server_.router().from_host(event, [](pmix_status_t) {}); });
}

/// Reports the end of a process, with the host's items about it.
void InvitationWatch::tell_end(pmix_status_t code, const std::vector<pmix_proc_t>& targets,
                               const std::string& id, const pmix_proc_t& proc,
                               std::optional<uint64_t> round) {
    if (targets.empty()) return;
    server_.end_reports().when_reported(proc, [this, code, targets, id, proc, round] {
        Info info = server_.end_reports().about(proc);
        if (round) info.add(MUSTER_GROUP_ROUND, Value::uint64(*round));
        tell(code, targets, id, std::move(info));
    });
}

void InvitationWatch::abort(const std::string& id, uint64_t round, const std::vector<pmix_proc_t>& targets) {
    tell(PMIX_GROUP_CONSTRUCT_ABORT, targets, id, round_info(round));
}

// --- an invitation and its answers ---

void InvitationWatch::invited(const EventPtr& invitation, const GroupEvent& said) {
    const Event& event = *invitation;
    Watched* watched = find(said, event.source);
    if (watched == nullptr) {
        Watched fresh;
        fresh.id = said.id;
        fresh.round = said.round.value_or(0);
        fresh.leader = event.source;
        fresh.user = event.user;
        watched_.push_front(std::move(fresh));
        watched = &watched_.front();
    }
    std::unordered_set<Proc> known;
    for (const Participant& one : watched->others)
        known.emplace(one.proc);
    // A leader on OpenPMIx may invite a job as a whole.
    std::vector<pmix_proc_t> targets = event.targets;
    if (!expand_wildcards(server_.store(), targets)) targets = event.targets;
    for (const pmix_proc_t& proc : targets) {
        if (proc.rank == PMIX_RANK_WILDCARD || proc_is(proc, watched->leader)) continue;
        if (known.emplace(proc).second)
            watched->others.push_back({proc, take_early_answer(*watched, proc), false});
        // It will never answer.
        if (has_gone(proc)) member_lost(*watched, proc);
    }
    // Its end may have been known before its event was processed.
    if (!watched->leader_lost && cannot_lead(watched->leader)) leader_lost(*watched);
    watched->invitation = invitation;
    forget_the_oldest(event.user);
}

/// The state of a process that is invited: its answer may have passed the invitation on the way.
InvitationWatch::State InvitationWatch::take_early_answer(const Watched& watched, const pmix_proc_t& proc) {
    const size_t taken = std::erase_if(late_, [&](const Late& one) {
        return one.id == watched.id && (one.round == 0 || one.round == watched.round) &&
               proc_is(one.leader, watched.leader) && proc_is(one.from, proc);
    });
    return taken == 0 ? State::Invited : State::Accepted;
}

void InvitationWatch::forget_the_oldest(std::optional<uint32_t> user) {
    size_t invitations = 0, participants = 0;
    watched_.remove_if([&](const Watched& one) {
        if (one.user != user) return false;
        participants += one.others.size();
        return ++invitations > kMaxWatched || participants > kMaxParticipants;
    });
}

void InvitationWatch::answered(const Event& event, const GroupEvent& said) {
    if (said.id.empty()) return answered_unnamed(event);
    if (event.targets.size() != 1) return;
    const pmix_proc_t& leader = event.targets.front();
    const bool accepted = event.status == PMIX_GROUP_INVITE_ACCEPTED;
    if (Watched* watched = find(said, leader)) {
        // The sender's end may have been known before its event was processed: it is not awaited again.
        if (Participant* one = watched->find(event.source); one != nullptr && one->state != State::Gone)
            one->state = accepted ? State::Accepted : State::Gone;
        if (watched->leader_lost) count_votes(*watched);
        return;
    }
    // Another process leads by now, which the sender does not know yet: it answers again then.
    const bool goes_on = std::ranges::any_of(
        watched_, [&](const Watched& one) { return one.id == said.id && said.same_round(one.round); });
    if (accepted && !goes_on) late_answer(event, said, leader);
}

/// An answer of OpenPMIx: to the earliest invitation that its sender has not answered.
void InvitationWatch::answered_unnamed(const Event& event) {
    for (auto watched = watched_.rbegin(); watched != watched_.rend(); ++watched) {
        if (!event.targets.empty() && !among(event.targets, watched->leader)) continue;
        Participant* const one = watched->find(event.source);
        if (one == nullptr || one->state != State::Invited) continue;
        one->state = event.status == PMIX_GROUP_INVITE_ACCEPTED ? State::Accepted : State::Gone;
        if (watched->leader_lost) count_votes(*watched);
        return;
    }
}

void InvitationWatch::late_answer(const Event& event, const GroupEvent& said, const pmix_proc_t& leader) {
    const uint64_t round = said.round.value_or(0);
    // The leader has ended and cannot complete the group.
    if (cannot_lead(leader)) return abort(said.id, round, {event.source});
    const bool told = std::ranges::any_of(given_up_, [&](const GivenUp& one) {
        return one.id == said.id && said.same_round(one.round) && proc_is(one.leader, leader) &&
               among(one.told, event.source);
    });
    if (told) return;
    late_.push_back({said.id, round, leader, event.source});
    if (late_.size() > kMaxWatched) late_.pop_front();
}

void InvitationWatch::gone(const pmix_proc_t& proc, const GroupEvent& said) {
    for (Watched& watched : watched_) {
        if (watched.id != said.id || !said.same_round(watched.round)) continue;
        if (Participant* one = watched.find(proc)) one->state = State::Gone;
        if (watched.leader_lost) return count_votes(watched);
    }
}

void InvitationWatch::completed(const Event& event, const GroupEvent& said) {
    late_.remove_if([&](const Late& one) {
        return one.id == said.id && proc_is(one.leader, event.source) && among(said.members, one.from);
    });
    std::vector<pmix_proc_t> withdrawn;  // their word and the leader's have crossed
    if (const Watched* watched = find(said, event.source)) {
        for (const Participant& one : watched->others) {
            if (one.state == State::Gone && !has_gone(one.proc) && server_.namespaces().is_local(one.proc))
                withdrawn.push_back(one.proc);
        }
    }
    watched_.remove_if([&](const Watched& one) {
        return one.id == said.id && said.same_round(one.round) && proc_is(one.leader, event.source);
    });
    const bool has_local = std::ranges::any_of(
        said.members, [&](const pmix_proc_t& proc) { return server_.namespaces().is_local(proc); });
    // Only a member can announce a group, and not one that exists.
    GroupTable& groups = server_.groups();
    if (!has_local || !among(said.members, event.source) || groups.find(said.id) != nullptr) return;
    // One that was invited to in order has been refused before.
    if (!server_.group_construct().has_room(event.source, said.id, said.members.size())) return;
    Group group;
    group.id = said.id;
    group.payer = server_.group_construct().payer(event.source);
    group.set_members(said.members);
    group.leader = event.source;
    group.context_id = said.context_id;
    group.notify_termination = event.info.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION);
    groups.add(std::move(group));
    tell_of_losses(said.id);
    for (const pmix_proc_t& proc : withdrawn)
        leave_finalized(server_, said.id, proc);
}

void InvitationWatch::aborted(const Event& event, const GroupEvent& said) {
    // A program's word names no round, and means the invitation that its process leads.
    const Watched* const meant = find(said, event.source);
    const uint64_t round = said.round.value_or(meant != nullptr ? meant->round : 0);
    std::vector<pmix_proc_t> reached = event.targets;
    if (event.range != PMIX_RANGE_CUSTOM && meant != nullptr) {
        // The leader's library notifies those that such a range does not reach.
        for (const Participant& one : meant->others)
            reached.push_back(one.proc);
    }
    late_.remove_if([&](const Late& one) {
        return one.id == said.id && (one.round == round || one.round == 0) &&
               proc_is(one.leader, event.source) && among(reached, one.from);
    });
    if (server_.namespaces().is_local(event.source)) {
        // Longer lists of recipients are not kept.
        if (reached.size() <= kMaxParticipants / kMaxGivenUp)
            given_up_.push_back({said.id, round, event.source, std::move(reached)});
        if (given_up_.size() > kMaxGivenUp) given_up_.pop_front();
    }
    for (Watched& watched : watched_) {
        if (watched.id != said.id || !said.same_round(watched.round)) continue;
        const bool by_leader = proc_is(watched.leader, event.source);
        if (!said.round && !by_leader) continue;
        // An event to a single process may answer its late reply.
        for (Participant& one : watched.others) {
            const bool told = event.range == PMIX_RANGE_CUSTOM ? among(event.targets, one.proc) : by_leader;
            if (told) one.state = State::Gone;
        }
    }
}

void InvitationWatch::left(const Event& event, const GroupEvent& said) {
    const Group* group = server_.groups().find(said.id);
    // It may have left an earlier group of this name.
    const bool other = group != nullptr && said.context_id && said.context_id != group->context_id;
    const bool member = group != nullptr && !other && group->has(event.source);
    if (member) goes_on_without(said.id, event.source);
}

void InvitationWatch::goes_on_without(const std::string& id, const pmix_proc_t& proc, bool tell) {
    shrink(id, proc, tell);
    server_.collectives().left(CollectiveKind::GroupDestruct, id, proc);
    server_.group_destruct().left(id, proc);
}

void InvitationWatch::member_failed(const Event& event, const GroupEvent& said) {
    const Group* group = server_.groups().find(said.id);
    // Only servers report deaths.
    if (!said.affected || group == nullptr || !group->usable() || event.user || group->has(event.source) ||
        !group->has(*said.affected))
        return;
    // During its destruct the collective handles those of this node.
    if (group->state == GroupState::Destructing && server_.namespaces().is_local(*said.affected)) return;
    goes_on_without(said.id, *said.affected);
}

void InvitationWatch::shrink(const std::string& id, const pmix_proc_t& proc, bool tell_members) {
    GroupTable& groups = server_.groups();
    if (!groups.remove_member(id, proc)) return;
    const Group* group = groups.find(id);
    if (group == nullptr) return;
    std::vector<pmix_proc_t> local;
    for (const pmix_proc_t& member : group->procs()) {
        if (server_.namespaces().is_local(member)) local.push_back(member);
    }
    // Each server notifies its own processes.
    if (local.empty()) {
        groups.remove(id);
        return;
    }
    if (!tell_members) return;
    Info info;
    info.add(PMIX_GROUP_MEMBERSHIP, group->membership());
    info.add(PMIX_EVENT_STAYS_LOCAL, true);
    tell(PMIX_GROUP_MEMBERSHIP_UPDATE, local, id, std::move(info));
}

// --- deaths ---

void InvitationWatch::departed(const pmix_proc_t& proc, bool lost) {
    for (Watched& watched : watched_) {
        if (proc_is(watched.leader, proc)) {
            leader_lost(watched);
        } else if (Participant* one = watched.find(proc); one != nullptr && one->state != State::Gone) {
            lost ? member_lost(watched, proc) : member_finalized(watched, *one);
        }
    }
    check_led();
    forget_the_empty();
    late_.remove_if([&](const Late& one) {
        if (proc_is(one.leader, proc)) abort(one.id, one.round, {one.from});
        return proc_is(one.leader, proc) || proc_is(one.from, proc);
    });
    // A process that finalizes has not failed.
    if (!lost) return;
    for (const auto& [id, group] : server_.groups().all()) {
        if (group.state == GroupState::Ready) tell_of_loss(id, proc);
    }
}

void InvitationWatch::tell_of_loss(const std::string& id, const pmix_proc_t& proc) {
    std::vector<pmix_proc_t> others;
    server_.groups().change(id, [&](Group& group) {
        const auto lost = std::ranges::find_if(
            group.members, [&](const GroupMember& one) { return proc_is(group.proc(one), proc); });
        if (!group.notify_termination || lost == group.members.end()) return;
        if (std::ranges::find(group.lost, lost->rank) != group.lost.end()) return;
        group.lost.push_back(lost->rank);
        others = group.procs();
    });
    std::erase_if(others, [&](const pmix_proc_t& one) { return proc_is(one, proc); });
    tell_end(PMIX_GROUP_MEMBER_FAILED, others, id, proc, std::nullopt);
}

void InvitationWatch::tell_of_losses(const std::string& id) {
    const Group* group = server_.groups().find(id);
    if (group == nullptr) return;
    for (const pmix_proc_t& proc : group->procs()) {
        if (has_gone(proc)) tell_of_loss(id, proc);
    }
}

void InvitationWatch::deregistered(const char* nspace) {
    late_.remove_if([&](const Late& one) {
        return nspace_is(one.leader.nspace, nspace) || nspace_is(one.from.nspace, nspace);
    });
    watched_.remove_if([&](const Watched& one) {
        return nspace_is(one.leader.nspace, nspace) ||
               std::ranges::all_of(one.others, [&](const Participant& other) {
                   return nspace_is(other.proc.nspace, nspace);
               });
    });
}

void InvitationWatch::member_lost(Watched& watched, const pmix_proc_t& proc) {
    Participant* one = watched.find(proc);
    const bool answered = one->state == State::Accepted;
    one->state = State::Gone;
    // If the leader has failed, its server receives this, and continues without this participant.
    tell_end(answered ? PMIX_GROUP_MEMBER_FAILED : PMIX_GROUP_INVITE_FAILED, {watched.leader}, watched.id,
             proc, watched.round);
}

/// Its acceptance ends with it; an invitation that it has not answered waits for its next life.
void InvitationWatch::member_finalized(Watched& watched, Participant& one) {
    if (one.state == State::Accepted) {
        one.state = State::Gone;
        Info info;
        info.add(MUSTER_GROUP_ROUND, Value::uint64(watched.round));
        auto event = make_group_event(PMIX_GROUP_INVITE_DECLINED, one.proc, {watched.leader}, watched.id,
                                      std::move(info));
        server_.runtime().loop().post([this, event] { server_.router().from_client(event, [](auto) {}); });
        return;
    }
    if (!server_.router().had_before(one.proc, watched.invitation)) return;
    Info info;
    for (const pmix_info_t& said : watched.invitation->info) {
        if (!key_is(said.key, PMIX_GROUP_ID) && !key_is(said.key, PMIX_EVENT_CUSTOM_RANGE) &&
            !key_is(said.key, PMIX_EVENT_NON_DEFAULT)) {
            info.add_copy(said);
        }
    }
    auto event =
        make_group_event(PMIX_GROUP_INVITED, watched.leader, {one.proc}, watched.id, std::move(info));
    event->user = watched.user;
    server_.router().to_clients(event);
    watched.invitation = event;
}

void InvitationWatch::leader_lost(Watched& watched) {
    watched.leader_lost = true;
    watched.decided = false;
    const std::vector<pmix_proc_t> participants = watched.alive();
    Info info = round_info(watched.round);
    info.add(PMIX_EVENT_AFFECTED_PROC, watched.leader);
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(participants));
    tell(PMIX_GROUP_LEADER_FAILED, participants, watched.id, std::move(info));
}

// --- choice of the leader ---

void InvitationWatch::voted(const Event& event, const GroupEvent& said) {
    Watched* watched = event.targets.empty() ? nullptr : find(said, event.targets.front());
    if (watched == nullptr || !watched->leader_lost || watched->decided) return;
    Participant* const voter = watched->find(event.source);
    if (voter == nullptr || voter->state == State::Gone) return;
    switch (*said.vote) {
        case LeaderVote::Me:
            return select(*watched, &event.source);
        case LeaderVote::Abort: {
            watched->decided = true;
            return abort(watched->id, watched->round, watched->alive());
        }
        case LeaderVote::NotMe:
            voter->voted = true;
            return count_votes(*watched);
    }
}

void InvitationWatch::count_votes(Watched& watched) {
    if (watched.decided) return;
    bool anybody_waits = false;
    bool all_voted = true;
    for (const Participant& one : watched.others) {
        if (one.state == State::Gone) continue;
        anybody_waits |= one.state == State::Accepted;
        // Waiting processes always vote; the others may never vote.
        if (one.state == State::Accepted && !one.voted) return;
        all_voted &= one.voted;
    }
    if (!anybody_waits) return;
    if (all_voted) return select(watched, nullptr);
    if (watched.last_claim) return;
    watched.last_claim = server_.runtime().loop().after(kClaimTime, [this, &watched] {
        // The timer is destroyed with the invitation.
        if (!watched.decided) select(watched, nullptr);
    });
}

void InvitationWatch::select(Watched& watched, const pmix_proc_t* leader) {
    watched.decided = true;
    const std::vector<pmix_proc_t> participants = watched.alive();
    Info info = round_info(watched.round);
    if (leader != nullptr) {
        info.add(PMIX_EVENT_AFFECTED_PROC, *leader);
        info.add(PMIX_GROUP_LEADER, *leader);
        info.add(PMIX_GROUP_MEMBERSHIP, procs_value(participants));
    } else {
        info.add(PMIX_JOB_TERM_STATUS, Value::status(PMIX_ERR_NOT_FOUND));
    }
    tell(PMIX_GROUP_LEADER_SELECTED, participants, watched.id, std::move(info));
}

void InvitationWatch::leader_selected(const GroupEvent& said) {
    if (!said.affected) {
        watched_.remove_if(
            [&](const Watched& one) { return one.id == said.id && said.same_round(one.round); });
        return;
    }
    for (Watched& watched : watched_) {
        if (watched.id != said.id || !said.same_round(watched.round)) continue;
        watched.leader = *said.affected;
        watched.leader_lost = false;
        watched.last_claim.reset();
        std::erase_if(watched.others, [&](const Participant& one) {
            return proc_is(one.proc, watched.leader) || !among(said.members, one.proc);
        });
        // All answer once more, to the new one.
        for (Participant& one : watched.others) {
            one.state = State::Invited;
            one.voted = false;
            if (has_gone(one.proc)) member_lost(watched, one.proc);
        }
        if (cannot_lead(watched.leader)) leader_lost(watched);
        return;
    }
}

std::vector<OpenInvitation> InvitationWatch::open() const {
    std::vector<OpenInvitation> all;
    for (const Watched& watched : watched_) {
        OpenInvitation one{watched.id, watched.leader, watched.leader_lost, {}, {}};
        for (const Participant& other : watched.others) {
            if (other.state == State::Accepted) one.answered.push_back(other.proc);
            if (other.state == State::Invited) one.awaited.push_back(other.proc);
        }
        all.push_back(std::move(one));
    }
    return all;
}

bool InvitationWatch::answer(uint32_t uid, const char* key, InfoView qualifiers, Info& found) const {
    if (!key_is(key, MUSTER_GROUPS_INVITED)) return false;
    const char* id = qualifiers.string(PMIX_GROUP_ID);
    std::vector<pmix_proc_t> awaited;
    for (const Watched& watched : watched_) {
        if (id == nullptr || watched.id != id || !server_.namespaces().may_use(uid, watched.leader)) continue;
        for (const Participant& one : watched.others) {
            if (one.state == State::Invited) awaited.push_back(one.proc);
        }
    }
    if (awaited.empty()) return false;
    found.add(key, procs_value(awaited));
    return true;
}

}  // namespace muster
