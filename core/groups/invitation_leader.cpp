// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation, the part of the leader: see invitation.hpp.
#include <algorithm>

#include "core/events/events.hpp"
#include "core/groups/context_id.hpp"
#include "core/groups/group_client.hpp"
#include "core/groups/invitation.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/keys.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {
Invitations::InvitationPtr Invitations::leading(const std::string& id) const {
    const auto found =
        std::ranges::find_if(leading_, [&](const InvitationPtr& one) { return one->id == id; });
    return found == leading_.end() ? nullptr : *found;
}

Invitations::InvitationPtr Invitations::unanswered_by(const pmix_proc_t& proc) const {
    const auto found = std::ranges::find_if(leading_, [&](const InvitationPtr& one) {
        const Invitee* const invited = invitee(*one, proc);
        return invited != nullptr && invited->state == State::Invited && !one->finishing;
    });
    return found == leading_.end() ? nullptr : *found;
}

Invitations::Invitee* Invitations::invitee(Invitation& invitation, const pmix_proc_t& proc) {
    const auto found =
        std::ranges::find_if(invitation.members, [&](const Invitee& one) { return proc_is(one.proc, proc); });
    return found == invitation.members.end() ? nullptr : &*found;
}

void Invitations::invite(const std::string& id, std::vector<pmix_proc_t> procs, Info directives,
                         HostDone done) {
    if (!exchange_.groups().expand(procs) || !expand_wildcards(exchange_.store(), procs))
        return done(answer_of(PMIX_ERR_BAD_PARAM));
    if (leading(id) != nullptr || exchange_.groups().find(id) != nullptr)
        return done(answer_of(PMIX_ERR_EXISTS));
    if (!among(procs, exchange_.self())) procs.insert(procs.begin(), exchange_.self());
    auto invitation = std::make_shared<Invitation>();
    invitation->id = id;
    invitation->round = next_round_++;
    for (const pmix_proc_t& proc : procs)
        invitation->members.push_back({proc, State::Invited});
    for (const pmix_info_t& one : directives) {
        if (key_is_any(one.key, {PMIX_GROUP_OPTIONAL, PMIX_GROUP_FT_COLLECTIVE, PMIX_GROUP_NOTIFY_TERMINATION,
                                 PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_RANGE, PMIX_TIMEOUT}))
            invitation->terms.add_copy(one);
    }
    invitation->done = std::move(done);
    attempt(invitation, [&] {
        begin(invitation);
        send_invitations(invitation, procs);
    });
}

void Invitations::end_without_memory(const InvitationPtr& invitation) {
    // Events are sent whole or not at all, so nobody knows of the group yet.
    if (std::exchange(invitation->announced, false) && exchange_.host() == nullptr)
        exchange_.groups().remove(invitation->id);
    try {
        give_up(invitation, PMIX_ERR_NOMEM);
    } catch (const std::bad_alloc&) {
        MUSTER_LOG(exchange_.log(), Error,
                   "group %s: no memory to tell the invited processes that the invitation is withdrawn; "
                   "their time limits end it",
                   invitation->id.c_str());
    }
    end(invitation, answer_of(PMIX_ERR_NOMEM));
}

void Invitations::begin(const InvitationPtr& invitation) {
    const InfoView terms = invitation->terms;
    invitation->optional = terms.is_true(PMIX_GROUP_OPTIONAL) || terms.is_true(PMIX_GROUP_FT_COLLECTIVE);
    invitation->wants_context_id = terms.is_true(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    if (Invitee* self = invitee(*invitation, exchange_.self())) self->state = State::Accepted;
    if (const auto limit = read_timeout(terms)) {
        invitation->time_limit = exchange_.loop().after(*limit, [this, ref = InvitationRef(invitation)] {
            if (const InvitationPtr late = ref.lock()) attempt(late, [&] { time_is_over(late); });
        });
    }
    std::vector<pmix_status_t> codes = {PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,
                                        PMIX_GROUP_INVITE_FAILED, PMIX_GROUP_MEMBER_FAILED};
    const Upstream* client = exchange_.attached();
    if (client != nullptr && !client->server_version().can(Capability::GroupInvitations)) {
        // Such a server does not watch invitations: its host's events about ended processes are used instead.
        codes.insert(codes.end(), {PMIX_PROC_TERMINATED, PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_PROC_ABORTED,
                                   PMIX_ERR_PROC_TERM_WO_SYNC});
    }
    events_.listen(codes);
    leading_.push_back(invitation);
    check(invitation);
}

void Invitations::send_invitations(const InvitationPtr& invitation, const std::vector<pmix_proc_t>& to) {
    std::vector<pmix_proc_t> targets;
    for (const pmix_proc_t& proc : to) {
        if (!proc_is(proc, exchange_.self())) targets.push_back(proc);
    }
    if (targets.empty()) return;
    std::vector<pmix_proc_t> members;
    for (const Invitee& one : invitation->members) {
        if (one.counts()) members.push_back(one.proc);
    }
    Info info = round_info(invitation->round);
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(members));
    info.add_copies(invitation->terms);
    send(make_group_event(PMIX_GROUP_INVITED, exchange_.self(), targets, invitation->id, std::move(info)),
         [this, ref = InvitationRef(invitation)](const HostAnswer& answer) {
             const InvitationPtr sent = ref.lock();
             if (sent && answer.status != PMIX_SUCCESS) give_up(sent, answer.status);
         });
}

EventEngine::OnEnd Invitations::answered(const Event& event, const GroupEvent& said) {
    const bool accepted = event.status == PMIX_GROUP_INVITE_ACCEPTED;
    // Members on OpenPMIx do not name the invitation.
    const InvitationPtr invitation = said.id.empty() ? unanswered_by(event.source) : leading(said.id);
    Invitee* const one = invitation && said.same_round(invitation->round) && !invitation->finishing
                             ? invitee(*invitation, event.source)
                             : nullptr;
    if (one != nullptr && one->counts()) {
        if (accepted && one->state == State::Accepted) return nullptr;
        one->state = accepted ? State::Accepted : State::Declined;
        return decide_later(invitation, accepted ? std::nullopt : std::optional(event.source), !accepted);
    }
    if (!accepted || said.id.empty()) return nullptr;
    for (Received& other : received_) {
        if (other.id == said.id && other.claimed && (!other.round || said.same_round(*other.round))) {
            other.early.push_back(event.source);
            return nullptr;
        }
    }
    for (const GivenUp& ended : given_up_) {
        if (said.same_round(ended.round) && among(ended.told, event.source)) return nullptr;
    }
    // Late or uninvited: without this answer the sender would hang.
    if (event.range == PMIX_RANGE_CUSTOM) {
        send(make_group_event(PMIX_GROUP_CONSTRUCT_ABORT, exchange_.self(), {event.source}, said.id,
                              said.round ? round_info(*said.round) : Info()));
    }
    return nullptr;
}

EventEngine::OnEnd Invitations::member_gone(const pmix_proc_t& proc, const GroupEvent& said) {
    const InvitationPtr invitation = leading(said.id);
    if (!invitation || !said.same_round(invitation->round) || invitation->finishing) return nullptr;
    Invitee* const one = invitee(*invitation, proc);
    if (one == nullptr || !one->counts()) return nullptr;
    one->state = State::Failed;
    return decide_later(invitation, proc, false);
}

void Invitations::some_process_ended(const Event& event) {
    for (const pmix_proc_t& proc : event.affected) {
        const std::list<InvitationPtr> all = leading_;
        for (const InvitationPtr& invitation : all) {
            const Invitee* one = invitee(*invitation, proc);
            if (one == nullptr || !one->counts()) continue;
            Info info = round_info(invitation->round);
            info.add(PMIX_EVENT_AFFECTED_PROC, proc);
            add_report(event.info, info);
            const bool answered = one->state == State::Accepted;
            const auto failed =
                make_group_event(answered ? PMIX_GROUP_MEMBER_FAILED : PMIX_GROUP_INVITE_FAILED,
                                 exchange_.self(), {exchange_.self()}, invitation->id, std::move(info));
            // Posted: another event is being delivered.
            exchange_.loop().post([this, failed] { events_.raise(failed); });
        }
    }
}

EventEngine::OnEnd Invitations::decide_later(const InvitationPtr& invitation,
                                             std::optional<pmix_proc_t> missing, bool declined) {
    EventEngine::OnEnd on_end;
    attempt(invitation, [&] {
        on_end = [this, ref = InvitationRef(invitation), missing, declined](const Info& results, bool) {
            const InvitationPtr still = ref.lock();
            if (!still || still->finishing) return;
            --still->undecided;
            attempt(still, [&] { decide(still, missing, declined, GroupDecision::of(results)); });
        };
        ++invitation->undecided;
    });
    return on_end;
}

void Invitations::decide(const InvitationPtr& invitation, const std::optional<pmix_proc_t>& missing,
                         bool declined, const GroupDecision& decision) {
    if (decision.abort) return give_up(invitation, PMIX_GROUP_CONSTRUCT_ABORT);
    if (missing) {
        std::vector<pmix_proc_t> replacements = decision.replacements;
        std::erase_if(replacements, [&](const pmix_proc_t& proc) {
            return proc.rank == PMIX_RANK_WILDCARD || invitee(*invitation, proc) != nullptr;
        });
        if (!replacements.empty()) {
            // The first replacement gets the place, and so the rank, of the missing process.
            auto place = std::ranges::find_if(
                invitation->members, [&](const Invitee& one) { return proc_is(one.proc, *missing); });
            for (const pmix_proc_t& proc : replacements)
                place = invitation->members.insert(place, {proc, State::Invited}) + 1;
            return send_invitations(invitation, replacements);
        }
        if (!declined && !invitation->optional && !decision.handled)
            return give_up(invitation, PMIX_GROUP_MEMBER_FAILED);
        invitation->partial = true;
    }
    check(invitation);
}

void Invitations::check(const InvitationPtr& invitation) {
    const bool waiting = std::ranges::any_of(invitation->members,
                                             [](const Invitee& one) { return one.state == State::Invited; });
    if (!waiting && invitation->undecided == 0 && !invitation->finishing) finish(invitation);
}

void Invitations::time_is_over(const InvitationPtr& invitation) {
    if (!invitation->optional || invitation->finishing) return give_up(invitation, PMIX_ERR_TIMEOUT);
    for (Invitee& one : invitation->members) {
        if (one.state != State::Invited) continue;
        one.state = State::Dropped;
        invitation->partial = true;
    }
    finish(invitation);
}

void Invitations::finish(const InvitationPtr& invitation) {
    invitation->finishing = true;
    if (!invitation->wants_context_id) return announce(invitation, std::nullopt);
    assign_context_id(exchange_, invitation->id, invitation->terms,
                      [this, ref = InvitationRef(invitation)](const HostAnswer& answer) {
                          const InvitationPtr still = ref.lock();
                          if (!still) return;
                          const auto id = answer.info.view().number<size_t>(PMIX_GROUP_CONTEXT_ID);
                          if (answer.status == PMIX_SUCCESS && id)
                              return attempt(still, [&] { announce(still, id); });
                          give_up(still,
                                  answer.status == PMIX_SUCCESS ? PMIX_ERR_NOT_SUPPORTED : answer.status);
                      });
}

void Invitations::announce(const InvitationPtr& invitation, std::optional<size_t> context_id) {
    // From here on the others have the group: neither a time limit nor the program can stop it.
    invitation->time_limit.reset();
    invitation->announced = true;
    std::vector<pmix_proc_t> members;
    std::vector<pmix_proc_t> others;
    for (const Invitee& one : invitation->members) {
        if (one.state != State::Accepted) continue;
        members.push_back(one.proc);
        if (!proc_is(one.proc, exchange_.self())) others.push_back(one.proc);
    }
    // Servers learn of the group by this event: it is sent even without other members.
    if (others.empty()) others.push_back(exchange_.self());
    if (context_id) {
        Info info = round_info(invitation->round);
        info.add(PMIX_GROUP_CONTEXT_ID, *context_id);
        send(make_group_event(PMIX_GROUP_CONTEXT_ID_ASSIGNED, exchange_.self(), others, invitation->id,
                              std::move(info)));
    }
    Info info = round_info(invitation->round);
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(members));
    if (context_id) info.add(PMIX_GROUP_CONTEXT_ID, *context_id);
    const bool notify = invitation->terms.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION);
    if (notify) info.add(PMIX_GROUP_NOTIFY_TERMINATION, true);
    add_group(invitation->id, members, exchange_.self(), context_id, notify);
    send(make_group_event(PMIX_GROUP_CONSTRUCT_COMPLETE, exchange_.self(), others, invitation->id,
                          std::move(info)),
         [this, ref = InvitationRef(invitation), members, context_id](const HostAnswer& sent) {
             const InvitationPtr complete = ref.lock();
             if (!complete) return;
             if (sent.status != PMIX_SUCCESS) {
                 // The event reached no process.
                 if (exchange_.host() == nullptr) exchange_.groups().remove(complete->id);
                 return end(complete, answer_of(sent.status));
             }
             HostAnswer answer = answer_of(complete->partial ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
             answer.info = group_results(complete->id, ProcList(members), context_id);
             end(complete, std::move(answer));
         });
}

void Invitations::give_up(const InvitationPtr& invitation, pmix_status_t status,
                          const std::vector<pmix_proc_t>& told) {
    if (invitation->announced) return;
    std::vector<pmix_proc_t> targets;
    given_up_.push_back({invitation->round, told});
    for (const Invitee& one : invitation->members) {
        if (!one.counts() || proc_is(one.proc, exchange_.self()) || among(told, one.proc)) continue;
        targets.push_back(one.proc);
        given_up_.back().told.push_back(one.proc);
    }
    if (given_up_.size() > kMaxGivenUp) given_up_.pop_front();
    const std::string id = invitation->id;
    const uint64_t round = invitation->round;
    end(invitation, answer_of(status));
    if (!targets.empty()) {
        send(make_group_event(PMIX_GROUP_CONSTRUCT_ABORT, exchange_.self(), targets, id, round_info(round)));
    }
}

void Invitations::end(const InvitationPtr& invitation, HostAnswer answer) {
    const InvitationPtr kept = invitation;  // the argument may be an element of the list
    leading_.remove(kept);
    kept->finishing = true;
    kept->time_limit.reset();
    if (const HostDone done = std::exchange(kept->done, nullptr)) done(std::move(answer));
}

}  // namespace muster
