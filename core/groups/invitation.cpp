// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation, the invited process's part, and what both parts share: see invitation.hpp;
// the leader's part is in invitation_leader.cpp.
#include "core/groups/invitation.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <iterator>

#include "core/events/events.hpp"
#include "core/groups/group_client.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/keys.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {
namespace {

/// Invitations that are remembered until they are answered.
constexpr size_t kMaxReceived = 256;

/// The directives that all invited processes know.
Info terms_of(const Event& event) {
    Info terms;
    for (const pmix_info_t& one : event.info) {
        if (key_is_any(one.key, {PMIX_GROUP_OPTIONAL, PMIX_GROUP_FT_COLLECTIVE, PMIX_GROUP_NOTIFY_TERMINATION,
                                 PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_TIMEOUT}))
            terms.add_copy(one);
    }
    return terms;
}

}  // namespace

Invitations::Invitations(Exchange& exchange, Events& events)
    : exchange_(exchange), events_(events), next_round_(first_invitation_round()) {
    for (const pmix_status_t code :
         {PMIX_GROUP_INVITED, PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,
          PMIX_GROUP_INVITE_FAILED, PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_CONSTRUCT_COMPLETE,
          PMIX_GROUP_CONSTRUCT_ABORT, PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEADER_SELECTED, PMIX_GROUP_LEFT})
        events.observe(code, [this](const EventPtr& event) { return on_event(event); });
    for (const pmix_status_t code : {PMIX_PROC_TERMINATED, PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_PROC_ABORTED,
                                     PMIX_ERR_PROC_TERM_WO_SYNC}) {
        events.observe(code, [this](const EventPtr& event) {
            some_process_ended(*event);
            return EventEngine::OnEnd();
        });
    }
    events.observe(PMIX_ERR_LOST_CONNECTION, [this](const EventPtr&) {
        if (exchange_.host() == nullptr) lost();
        return EventEngine::OnEnd();
    });
}

Invitations::~Invitations() = default;

EventEngine::OnEnd Invitations::on_event(const EventPtr& event) {
    const auto read = GroupEvent::read(*event, exchange_.store());
    if (!read) return nullptr;
    const GroupEvent& said = *read;
    const bool from_self = proc_is(event->source, exchange_.self());
    // A server sees those of its clients, too.
    const bool for_us = event->range != PMIX_RANGE_CUSTOM || among(event->targets, exchange_.self());
    switch (event->status) {
        case PMIX_GROUP_INVITED:
            if (for_us && !from_self) invited(*event, said);
            return nullptr;
        case PMIX_GROUP_INVITE_ACCEPTED:
        case PMIX_GROUP_INVITE_DECLINED:
            return for_us && !from_self ? answered(*event, said) : nullptr;
        case PMIX_GROUP_INVITE_FAILED:
        case PMIX_GROUP_MEMBER_FAILED:
            return said.affected && for_us ? member_gone(*said.affected, said) : nullptr;
        case PMIX_GROUP_CONSTRUCT_COMPLETE:
            if (for_us && !from_self) completed(*event, said);
            return nullptr;
        case PMIX_GROUP_CONSTRUCT_ABORT:
            aborted(*event, said);
            return nullptr;
        case PMIX_GROUP_LEADER_FAILED:
            return for_us ? leader_failed(*event, said) : nullptr;
        case PMIX_GROUP_LEADER_SELECTED:
            if (for_us && !said.vote) leader_selected(*event, said);
            return nullptr;
        case PMIX_GROUP_LEFT:
            // A server removes members in its InvitationWatch; leave_group() handles our own departure.
            if (exchange_.host() == nullptr && !from_self)
                exchange_.groups().remove_member(said.id, event->source);
            return nullptr;
        default:
            return nullptr;
    }
}

// --- shared by both parts ---

void Invitations::send(std::shared_ptr<Event> event, HostDone done) {
    events_.notify(std::move(event), [done = std::move(done)](pmix_status_t status) {
        if (done) done(answer_of(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status));
    });
}

void Invitations::add_group(const std::string& id, const std::vector<pmix_proc_t>& members,
                            const pmix_proc_t& leader, std::optional<size_t> context_id,
                            bool notify_termination) {
    // In a server the watch has done it, for its clients as well.
    if (exchange_.host() != nullptr) return;
    Group group;
    group.id = id;
    group.set_members(members);
    group.leader = leader;
    group.context_id = context_id;
    group.notify_termination = notify_termination;
    exchange_.groups().add(std::move(group));
    events_.listen({PMIX_GROUP_LEFT});
}

bool Invitations::under_way(const std::string& id) const {
    return leading(id) != nullptr ||
           std::ranges::any_of(received_, [&](const Received& one) { return one.joining && one.id == id; });
}

void Invitations::lost() {
    while (!leading_.empty())
        end(leading_.front(), answer_of(PMIX_ERR_LOST_CONNECTION));
    std::list<Received> all = std::move(received_);
    received_.clear();
    for (Received& one : all) {
        if (one.done) std::exchange(one.done, nullptr)(answer_of(PMIX_ERR_LOST_CONNECTION));
    }
}

// --- being invited ---

Invitations::Received* Invitations::received(const GroupEvent& said, const pmix_proc_t& leader) {
    const auto found = std::ranges::find_if(received_, [&](const Received& one) {
        return one.id == said.id && (!one.round || said.same_round(*one.round)) &&
               (proc_is(one.leader, leader) || proc_is(one.inviter, leader));
    });
    return found == received_.end() ? nullptr : &*found;
}

Invitations::Received* Invitations::received(const std::string& id,
                                             const std::optional<pmix_proc_t>& inviter) {
    const auto found = std::ranges::find_if(received_, [&](const Received& one) {
        return one.id == id && (!inviter || proc_is(one.inviter, *inviter) || proc_is(one.leader, *inviter));
    });
    return found == received_.end() ? nullptr : &*found;
}

Invitations::Received& Invitations::note(Received received) {
    received_.push_front(std::move(received));
    if (received_.size() > kMaxReceived) {
        for (auto oldest = std::prev(received_.end()); oldest != received_.begin(); --oldest) {
            if (oldest->joining) continue;
            received_.erase(oldest);
            break;
        }
    }
    return received_.front();
}

void Invitations::invited(const Event& event, const GroupEvent& said) {
    Received* known = received(said, event.source);
    // Others may have been invited since, or the program has joined before the invitation came.
    if (known != nullptr && !known->outcome && (known->joining || known->round == said.round)) {
        known->round = said.round;
        if (!said.members.empty()) known->members = said.members;
        if (known->terms.size() == 0) known->terms = terms_of(event);
        return;
    }
    Received fresh;
    fresh.id = said.id;
    fresh.round = said.round;
    fresh.inviter = fresh.leader = event.source;
    fresh.members = said.members.empty() ? event.targets : said.members;
    fresh.terms = terms_of(event);
    note(std::move(fresh));
}

void Invitations::join(const std::string& id, const std::optional<pmix_proc_t>& leader, bool accept,
                       Info directives, HostDone done) {
    if (leader && proc_is(*leader, exchange_.self()) && !received(id, leader))
        return done(answer_of(PMIX_ERR_BAD_PARAM));
    const auto limit = read_timeout(directives);
    Received* found = received(id, leader);
    if (found == nullptr) {
        if (!leader) return done(answer_of(PMIX_ERR_NOT_FOUND));
        // The invitation may be on its way.
        Received fresh;
        fresh.id = id;
        fresh.inviter = fresh.leader = *leader;
        found = &note(std::move(fresh));
    }
    if (found->joining) return done(answer_of(PMIX_ERR_EXISTS));
    if (found->outcome) {
        HostAnswer outcome = std::move(*found->outcome);
        received_.remove_if([&](const Received& one) { return &one == found; });
        // It may be in the group by now: a process that offered to lead has accepted.
        if (!accept)
            outcome = answer_of(outcome.status == PMIX_SUCCESS ? PMIX_ERR_INVALID_OPERATION : PMIX_SUCCESS);
        return done(std::move(outcome));
    }
    events_.listen({PMIX_GROUP_INVITED, PMIX_GROUP_CONSTRUCT_COMPLETE, PMIX_GROUP_CONSTRUCT_ABORT,
                    PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEADER_SELECTED});
    const bool we_lead = proc_is(found->leader, exchange_.self());
    if (!accept) {
        if (const InvitationPtr invitation = we_lead ? leading(id) : nullptr) {
            give_up(invitation, PMIX_GROUP_CONSTRUCT_ABORT);
            done(answer_of(PMIX_SUCCESS));
        } else {
            answer_leader(*found, PMIX_GROUP_INVITE_DECLINED, std::move(done));
        }
        received_.remove_if([&](const Received& one) { return &one == found; });
        return;
    }
    found->joining = true;
    found->done = std::move(done);
    attempt(*found, [&] { wait_for_group(*found, limit); });
}

void Invitations::wait_for_group(Received& joined, std::optional<std::chrono::milliseconds> limit) {
    const bool we_lead = proc_is(joined.leader, exchange_.self());
    if (limit) {
        // The timer is destroyed with the entry.
        joined.time_limit = exchange_.loop().after(*limit, [this, found = &joined] {
            attempt(*found, [&] {
                if (!proc_is(found->leader, exchange_.self()))
                    answer_leader(*found, PMIX_GROUP_INVITE_DECLINED, nullptr);
                conclude(*found, answer_of(PMIX_ERR_TIMEOUT));
            });
        });
    }
    if (we_lead) return;
    answer_leader(joined, PMIX_GROUP_INVITE_ACCEPTED,
                  [this, id = joined.id, inviter = joined.inviter](const HostAnswer& answer) {
                      if (answer.status == PMIX_SUCCESS) return;
                      Received* waiting = received(id, inviter);
                      if (waiting != nullptr && waiting->joining)
                          conclude(*waiting, answer_of(answer.status));
                  });
}

void Invitations::answer_leader(const Received& received, pmix_status_t code, HostDone done) {
    Info info;
    if (received.round) info = round_info(*received.round);
    // A leader that has invited listens; one that is still to invite finds the answer held.
    if (code == PMIX_GROUP_INVITE_ACCEPTED && received.round) info.add(PMIX_EVENT_DO_NOT_CACHE, true);
    send(make_group_event(code, exchange_.self(), {received.leader}, received.id, std::move(info)),
         std::move(done));
}

void Invitations::conclude(Received& received, HostAnswer answer) {
    if (!received.joining) {
        received.outcome = std::move(answer);
        return;
    }
    const HostDone done = std::move(received.done);
    received_.remove_if([&](const Received& one) { return &one == &received; });
    if (done) done(std::move(answer));
}

void Invitations::completed(const Event& event, const GroupEvent& said) {
    Received* const ours = received(said, event.source);
    if (ours == nullptr || !proc_is(ours->leader, event.source)) return;
    if (!among(said.members, exchange_.self())) {
        // The group was completed without this process.
        return conclude(*ours, answer_of(PMIX_GROUP_CONSTRUCT_ABORT));
    }
    HostAnswer answer;
    try {
        answer.info = group_results(said.id, ProcList(said.members), said.context_id);
        add_group(said.id, said.members, event.source, said.context_id,
                  event.info.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION));
    } catch (const std::bad_alloc&) {
        answer = answer_of(PMIX_ERR_NOMEM);
    }
    conclude(*ours, std::move(answer));
}

void Invitations::aborted(const Event& event, const GroupEvent& said) {
    if (proc_is(event.source, exchange_.self())) {
        // Muster's own events name the round; the program's do not, and refer to the group that this process
        // leads.
        const InvitationPtr invitation = said.round ? nullptr : leading(said.id);
        if (!invitation) return;
        std::vector<pmix_proc_t> told = event.targets;
        const bool all_told = event.range == PMIX_RANGE_NAMESPACE || event.range == PMIX_RANGE_SESSION ||
                              event.range == PMIX_RANGE_GLOBAL;
        if (all_told) {
            for (const Invitee& one : invitation->members)
                told.push_back(one.proc);
        }
        return give_up(invitation, PMIX_GROUP_CONSTRUCT_ABORT, told);
    }
    for (Received& one : received_) {
        if (one.id != said.id) continue;
        // A server answers an acceptance without a round in this way, if its invitation was still to come.
        const bool unnamed = said.round == uint64_t{0} && one.joining;
        if (!unnamed && one.round && !said.same_round(*one.round)) continue;
        if (!said.round && !proc_is(one.leader, event.source)) continue;
        return conclude(one, answer_of(PMIX_GROUP_CONSTRUCT_ABORT));
    }
}

// --- when the leader fails ---

Invitations::Received& Invitations::note_leader(const GroupEvent& said, const pmix_proc_t& leader) {
    const auto known = std::ranges::find_if(
        received_, [&](const Received& one) { return one.id == said.id && one.round == said.round; });
    if (known != received_.end()) {
        known->leader = leader;
        return *known;
    }
    Received fresh;
    fresh.id = said.id;
    fresh.round = said.round;
    fresh.inviter = fresh.leader = leader;
    fresh.members = said.members;
    return note(std::move(fresh));
}

EventEngine::OnEnd Invitations::leader_failed(const Event&, const GroupEvent& said) {
    Received* ours = said.affected ? received(said, *said.affected) : nullptr;
    // This process is invited, and may have no handler for invitations, or none for the selection of a
    // leader. A later join needs what happens now.
    if (ours == nullptr && said.affected && said.round) ours = &note_leader(said, *said.affected);
    if (ours == nullptr || ours->outcome || !proc_is(ours->leader, *said.affected)) return nullptr;
    if (!ours->round) ours->round = said.round;
    if (ours->members.empty()) ours->members = said.members;
    // Each process sends its vote; the server of the failed leader decides.
    return [this, said](const Info& results, bool) {
        Received* const now = received(said, *said.affected);
        if (now == nullptr || !proc_is(now->leader, *said.affected)) return;
        const GroupDecision decision = GroupDecision::of(results);
        LeaderVote vote = LeaderVote::NotMe;
        if (decision.lead) vote = LeaderVote::Me;
        if (decision.abort) vote = LeaderVote::Abort;
        if (vote == LeaderVote::Me) {
            now->claimed = true;
            events_.listen({PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED, PMIX_GROUP_INVITE_FAILED,
                            PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_CONSTRUCT_ABORT,
                            PMIX_GROUP_LEADER_SELECTED});
        }
        Info info;
        if (now->round) info = round_info(*now->round);
        info.add(MUSTER_GROUP_VOTE, Value::from(static_cast<uint8_t>(vote)));
        info.add(PMIX_EVENT_DO_NOT_CACHE, true);
        send(make_group_event(PMIX_GROUP_LEADER_SELECTED, exchange_.self(), {now->leader}, now->id,
                              std::move(info)));
    };
}

void Invitations::leader_selected(const Event&, const GroupEvent& said) {
    const auto found = std::ranges::find_if(received_, [&](const Received& one) {
        return one.id == said.id && (!one.round || said.same_round(*one.round));
    });
    if (found == received_.end()) return;
    Received& ours = *found;
    if (!said.affected) return conclude(ours, answer_of(PMIX_GROUP_LEADER_FAILED));
    ours.leader = *said.affected;
    if (!said.members.empty()) ours.members = said.members;
    if (!proc_is(ours.leader, exchange_.self())) {
        if (ours.joining) attempt(ours, [&] { answer_leader(ours, PMIX_GROUP_INVITE_ACCEPTED, nullptr); });
        return;
    }
    auto invitation = std::make_shared<Invitation>();
    invitation->id = ours.id;
    invitation->round = ours.round.value_or(next_round_++);
    // The former leader is missing, and perhaps others.
    invitation->partial = true;
    for (const pmix_proc_t& proc : ours.members)
        invitation->members.push_back({proc, among(ours.early, proc) ? State::Accepted : State::Invited});
    if (auto terms = Info::copy_of(ours.terms)) invitation->terms = std::move(*terms);
    GroupEvent led;
    led.id = ours.id;
    led.round = invitation->round;
    // Prepared here, because the end may be due to lack of memory.
    invitation->done = [this, about = std::move(led)](HostAnswer answer) {
        if (Received* mine = received(about, exchange_.self())) {
            // Our own call gets the same status as those of the others.
            if (answer.status == PMIX_ERR_PARTIAL_SUCCESS) answer.status = PMIX_SUCCESS;
            conclude(*mine, std::move(answer));
        }
    };
    ours.early.clear();
    attempt(invitation, [&] { begin(invitation); });
}

}  // namespace muster
