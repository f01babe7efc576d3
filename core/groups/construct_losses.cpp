// SPDX-License-Identifier: BSD-3-Clause
// Participants that end while a group is constructed: the notifications, the decisions, and how
// the servers of several nodes agree on it (see construct.hpp; docs/explanation/groups.md has the states).
#include <pmix/muster.h>

#include <algorithm>

#include "core/events/event_router.hpp"
#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_call.hpp"
#include "core/groups/group_event.hpp"
#include "core/groups/group_server.hpp"

namespace muster {
namespace {

/// How long a server waits for the decisions of other nodes. Their servers answer when their processes have
/// decided; those of other libraries never do.
constexpr std::chrono::seconds kVoteTime{10};
/// Limit of entries about constructs that have not begun here.
constexpr size_t kMaxElsewhere = 4096;

void send(GroupServer& server, pmix_status_t code, const std::vector<pmix_proc_t>& targets,
          const std::string& id, Info info) {
    auto event = make_group_event(code, server.runtime().self(), targets, id, std::move(info));
    server.router().from_client(event, [](pmix_status_t) {});
}

Info about(GroupServer& server, const pmix_proc_t& affected) {
    Info info = server.end_reports().about(affected);
    info.add(MUSTER_GROUP_CONSTRUCT, true);
    return info;
}

}  // namespace

GroupConstruct::Elsewhere& GroupConstruct::elsewhere(const std::string& id) {
    if (elsewhere_.size() >= kMaxElsewhere && !elsewhere_.contains(id)) elsewhere_.erase(elsewhere_.begin());
    return elsewhere_[id];
}

void GroupConstruct::watch_others() {
    Events& events = server_.events();
    events.observe(PMIX_GROUP_CONSTRUCT_ABORT, [this](const EventPtr& event) -> EventEngine::OnEnd {
        const char* id = event->info.view().string(PMIX_GROUP_ID);
        if (id == nullptr || proc_is(event->source, server_.runtime().self())) return nullptr;
        const auto collective = server_.collectives().find(CollectiveKind::GroupConstruct, id);
        const bool by_server = server_.is_other_server(event->source);
        // A participant, or the server of one, which may send the first notice of the construct here.
        const bool entitled = collective ? by_server || among(collective->participants(), event->source)
                                         : by_server && event->info.view().is_true(MUSTER_GROUP_CONSTRUCT);
        if (entitled) given_up(id, event->targets);
        return nullptr;
    });
    for (const pmix_status_t code : {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED}) {
        events.observe(code, [this](const EventPtr& event) -> EventEngine::OnEnd {
            if (event->info.view().is_true(MUSTER_GROUP_CONSTRUCT) && server_.is_other_server(event->source))
                lost_elsewhere(*event);
            return nullptr;
        });
    }
    events.observe(PMIX_GROUP_LEADER_SELECTED, [this](const EventPtr& event) -> EventEngine::OnEnd {
        if (event->info.view().is_true(MUSTER_GROUP_CONSTRUCT) && server_.is_other_server(event->source))
            voted(*event);
        return nullptr;
    });
    events.observe(kLeaderCallsCode, [this](const EventPtr& event) -> EventEngine::OnEnd {
        const char* id = event->info.view().string(PMIX_GROUP_ID);
        const pmix_proc_t* leader = event->info.view().proc(PMIX_GROUP_LEADER);
        if (id == nullptr || leader == nullptr || !server_.is_other_server(event->source)) return nullptr;
        if (!among(elsewhere(id).leaders, *leader)) elsewhere(id).leaders.push_back(*leader);
        return nullptr;
    });
}

void GroupConstruct::leader_calls(const std::string& id, const pmix_proc_t& leader,
                                  const std::vector<pmix_proc_t>& members) {
    std::vector<pmix_proc_t> others = members;
    std::erase_if(others, [&](const pmix_proc_t& proc) { return server_.namespaces().is_local(proc); });
    if (others.empty()) return;
    Info info;
    info.add(PMIX_GROUP_LEADER, leader);
    send(server_, kLeaderCallsCode, others, id, std::move(info));
}

// --- at the server of the ended participant ---

bool GroupConstruct::keep_for_others(const Collective& collective) {
    const std::vector<Arrival>& gone = collective.withdrawn();
    const auto led = std::ranges::find_if(gone, [](const Arrival& arrival) {
        const InfoView info = arrival.info;
        return info.is_true(PMIX_GROUP_LEADER) && info.is_true(PMIX_GROUP_NOTIFY_TERMINATION) &&
               !info.is_true(PMIX_GROUP_OPTIONAL);
    });
    if (led == gone.end() || states_.size() > kMaxElsewhere) return false;
    State& state = states_[collective.id()];
    state.losses.emplace_back();
    Loss& loss = state.losses.back();
    loss.proc = led->proc;
    loss.led = true;
    tell(collective.id(), loss, group_call(*led).members->order);
    return true;
}

void GroupConstruct::goes_on_without(const Collective& collective, const pmix_proc_t& proc) {
    State& state = states_[collective.id()];
    if (!collective.any_true(PMIX_GROUP_NOTIFY_TERMINATION) || collective.any_true(PMIX_GROUP_OPTIONAL))
        return;
    // It led, and was the only one here.
    if (std::ranges::any_of(state.losses, [&](const Loss& loss) { return proc_is(loss.proc, proc); })) {
        return;
    }
    const auto called = std::ranges::find_if(
        collective.withdrawn(), [&](const Arrival& arrival) { return proc_is(arrival.proc, proc); });
    state.losses.emplace_back();
    Loss& loss = state.losses.back();
    loss.proc = proc;
    loss.led = called != collective.withdrawn().end() && called->info.view().is_true(PMIX_GROUP_LEADER);
    const auto known = elsewhere_.find(collective.id());
    const bool leader_is_known = (known != elsewhere_.end() && !known->second.leaders.empty()) ||
                                 std::ranges::any_of(collective.arrivals(), [](const Arrival& arrival) {
                                     return arrival.info.view().is_true(PMIX_GROUP_LEADER);
                                 });
    // Otherwise the recipients are known when all have called.
    if (leader_is_known || loss.led) tell(collective, loss);
}

std::vector<pmix_proc_t> GroupConstruct::deciding(const std::vector<pmix_proc_t>& hearers,
                                                  pmix_status_t code) const {
    std::vector<pmix_proc_t> result;
    // Processes with other libraries send no decision.
    for (const PeerPtr& peer : server_.peers().all()) {
        if (peer->version.can(Capability::GroupInvitations) && !peer->finalized &&
            among(hearers, peer->proc) && !among(result, peer->proc) && server_.router().wants(*peer, code)) {
            result.push_back(peer->proc);
        }
    }
    return result;
}

void GroupConstruct::tell(const Collective& collective, Loss& loss) {
    std::vector<pmix_proc_t> hearers;
    if (!loss.led) {
        for (const Arrival& arrival : collective.arrivals()) {
            if (arrival.info.view().is_true(PMIX_GROUP_LEADER)) hearers.push_back(arrival.proc);
        }
        if (const auto known = elsewhere_.find(collective.id()); known != elsewhere_.end()) {
            for (const pmix_proc_t& leader : known->second.leaders) {
                if (among(collective.participants(), leader)) hearers.push_back(leader);
            }
        }
    }
    if (hearers.empty()) hearers = group_call(collective.arrivals().front()).members->order;
    tell(collective.id(), loss, hearers);
}

void GroupConstruct::tell(const std::string& id, Loss& loss, const std::vector<pmix_proc_t>& hearers) {
    const pmix_status_t code = loss.led ? PMIX_GROUP_LEADER_FAILED : PMIX_GROUP_MEMBER_FAILED;
    loss.told = true;
    if (loss.led) states_[id].order = hearers;
    loss.undecided = deciding(hearers, code);
    const size_t here = loss.undecided.size();
    const auto known = elsewhere_.find(id);
    for (const pmix_proc_t& proc : hearers) {
        const bool lost = known != elsewhere_.end() && among(known->second.lost, proc);
        if (!server_.namespaces().is_local(proc) && !lost) loss.undecided.push_back(proc);
    }
    if (loss.undecided.size() > here) {
        loss.limit = server_.runtime().loop().after(kVoteTime, [this, id, gone = loss.proc] {
            const auto state = states_.find(id);
            if (state == states_.end()) return;
            std::vector<pmix_proc_t> late;
            for (const Loss& one : state->second.losses) {
                for (const pmix_proc_t& proc : one.undecided) {
                    if (proc_is(one.proc, gone) && !server_.namespaces().is_local(proc)) late.push_back(proc);
                }
            }
            answered(id, &gone, late);
            go_on(id);
        });
    }
    if (!loss.led) return tell_of_member(id, loss, hearers);
    send(server_, code, hearers, id, about(server_, loss.proc));
}

/// Servers of other nodes get the loss before the membership: the construct waits meanwhile.
void GroupConstruct::tell_of_member(const std::string& id, Loss& loss,
                                    const std::vector<pmix_proc_t>& hearers) {
    if (!server_.end_reports().is_expected(loss.proc))
        return send(server_, PMIX_GROUP_MEMBER_FAILED, hearers, id, about(server_, loss.proc));
    loss.awaits_report = true;
    server_.end_reports().when_reported(loss.proc, [this, id, proc = loss.proc, hearers] {
        send(server_, PMIX_GROUP_MEMBER_FAILED, hearers, id, about(server_, proc));
        const auto state = states_.find(id);
        if (state == states_.end()) return;
        for (Loss& one : state->second.losses) {
            if (proc_is(one.proc, proc)) one.awaits_report = false;
        }
        go_on(id);
    });
}

void GroupConstruct::announce_leader(const std::string& id, const State& state) {
    Info info;
    if (state.new_leader) {
        info.add(PMIX_GROUP_LEADER, *state.new_leader);
        info.add(PMIX_EVENT_AFFECTED_PROC, *state.new_leader);
    } else {
        info.add(PMIX_JOB_TERM_STATUS, Value::status(PMIX_ERR_NOT_FOUND));
    }
    send(server_, PMIX_GROUP_LEADER_SELECTED, state.order, id, std::move(info));
}

void GroupConstruct::answered(const std::string& id, const pmix_proc_t* gone,
                              const std::vector<pmix_proc_t>& by) {
    const auto state = states_.find(id);
    if (state == states_.end()) return;
    for (Loss& loss : state->second.losses) {
        if (gone != nullptr && !proc_is(loss.proc, *gone)) continue;
        const size_t before = loss.undecided.size();
        std::erase_if(loss.undecided, [&](const pmix_proc_t& one) { return among(by, one); });
        if (before == 0 || !loss.undecided.empty()) continue;
        loss.limit.reset();
        if (loss.led) announce_leader(id, state->second);
    }
}

std::vector<pmix_proc_t> GroupConstruct::undecided(const std::string& id) const {
    std::vector<pmix_proc_t> procs;
    const auto state = states_.find(id);
    if (state == states_.end()) return procs;
    for (const Loss& loss : state->second.losses) {
        for (const pmix_proc_t& proc : loss.undecided) {
            if (!among(procs, proc)) procs.push_back(proc);
        }
    }
    return procs;
}

void GroupConstruct::go_on(const std::string& id) {
    const auto state = states_.find(id);
    if (state == states_.end() || !state->second.local_in) return;
    const bool waiting = std::ranges::any_of(
        state->second.losses, [](const Loss& loss) { return !loss.undecided.empty() || loss.awaits_report; });
    if (waiting) return;
    if (const auto collective = server_.collectives().find(CollectiveKind::GroupConstruct, id))
        hand_over(collective);
}

void GroupConstruct::given_up(const std::string& id, const std::vector<pmix_proc_t>& all) {
    const auto collective = server_.collectives().find(CollectiveKind::GroupConstruct, id);
    std::vector<pmix_proc_t> late = collective ? collective->missing() : all;
    std::erase_if(late, [&](const pmix_proc_t& proc) {
        const LocalClient* client = server_.namespaces().client(proc);
        return client != nullptr ? client->lost : collective == nullptr;
    });
    if (!late.empty() && late_.size() < kMaxElsewhere) late_[id] = std::move(late);
    states_.erase(id);
    elsewhere_.erase(id);
    if (collective) server_.collectives().finish(collective, {PMIX_GROUP_CONSTRUCT_ABORT, {}});
}

bool GroupConstruct::came_too_late(const std::string& id, const pmix_proc_t& proc) {
    const auto found = late_.find(id);
    if (found == late_.end()) return false;
    const bool late =
        std::erase_if(found->second, [&](const pmix_proc_t& one) { return proc_is(one, proc); }) != 0;
    if (found->second.empty()) late_.erase(found);
    return late;
}

void GroupConstruct::give_up(const std::string& id) {
    const auto collective = server_.collectives().find(CollectiveKind::GroupConstruct, id);
    std::vector<pmix_proc_t> all;
    if (collective) {
        all = group_call(collective->arrivals().front()).members->order;
    } else if (const auto state = states_.find(id); state != states_.end()) {
        all = state->second.order;
    }
    given_up(id, all);
    if (all.empty()) return;
    // Participants that have not called yet, and those on other nodes, shall not wait.
    Info info;
    info.add(MUSTER_GROUP_CONSTRUCT, true);
    send(server_, PMIX_GROUP_CONSTRUCT_ABORT, all, id, std::move(info));
}

void GroupConstruct::claim(State& state, const pmix_proc_t& gone, const pmix_proc_t& leader) {
    for (const Loss& loss : state.losses) {
        // Only one can lead.
        if (proc_is(loss.proc, gone) && loss.led && !state.new_leader && among(loss.undecided, leader))
            state.new_leader = leader;
    }
}

void GroupConstruct::voted(const Event& event) {
    const InfoView info = event.info;
    const char* id = info.string(PMIX_GROUP_ID);
    const pmix_proc_t* gone = info.proc(PMIX_EVENT_AFFECTED_PROC);
    const auto vote = info.number<uint8_t>(MUSTER_GROUP_VOTE);
    std::vector<pmix_proc_t> voters;
    if (id == nullptr || gone == nullptr || !vote || info.value(PMIX_GROUP_MEMBERSHIP) == nullptr ||
        !append_procs(*info.value(PMIX_GROUP_MEMBERSHIP), voters)) {
        return;
    }
    const auto state = states_.find(id);
    if (state == states_.end()) return;
    if (*vote == static_cast<uint8_t>(LeaderVote::Abort)) return give_up(id);
    if (const pmix_proc_t* leader = info.proc(PMIX_GROUP_LEADER)) claim(state->second, *gone, *leader);
    answered(id, gone, voters);
    go_on(id);
}

// --- at the servers of the others ---

void GroupConstruct::lost_elsewhere(const Event& event) {
    const InfoView info = event.info;
    const char* id = info.string(PMIX_GROUP_ID);
    const pmix_proc_t* gone = info.proc(PMIX_EVENT_AFFECTED_PROC);
    if (id == nullptr || gone == nullptr) return;
    Elsewhere& said = elsewhere(id);
    if (!among(said.lost, *gone)) said.lost.push_back(*gone);
    std::erase_if(said.leaders, [&](const pmix_proc_t& one) { return proc_is(one, *gone); });
    Ballot ballot;
    ballot.id = id;
    ballot.gone = *gone;
    for (const pmix_proc_t& proc : event.targets) {
        if (server_.namespaces().is_local(proc)) ballot.voters.push_back(proc);
    }
    ballot.undecided = deciding(ballot.voters, event.status);
    if (!ballot.voters.empty()) ballots_.push_back(std::move(ballot));
    if (ballots_.size() > kMaxElsewhere) ballots_.pop_front();
    // It decides nothing any more, either.
    answered(id, nullptr, {*gone});
    go_on(id);
    decide_ballots([](Ballot&) {});
}

void GroupConstruct::decide_ballots(const std::function<void(Ballot&)>& change) {
    std::list<Ballot> decided;
    for (auto ballot = ballots_.begin(); ballot != ballots_.end();) {
        const auto next = std::next(ballot);
        change(*ballot);
        if (ballot->abort || ballot->undecided.empty()) decided.splice(decided.end(), ballots_, ballot);
        ballot = next;
    }
    for (const Ballot& ballot : decided) {
        Info info = about(server_, ballot.gone);
        LeaderVote vote = ballot.leader ? LeaderVote::Me : LeaderVote::NotMe;
        if (ballot.abort) vote = LeaderVote::Abort;
        info.add(MUSTER_GROUP_VOTE, Value::from(static_cast<uint8_t>(vote)));
        info.add(PMIX_GROUP_MEMBERSHIP, procs_value(ballot.voters));
        if (ballot.leader) info.add(PMIX_GROUP_LEADER, *ballot.leader);
        // Posted: it may be an event that leads to this one.
        server_.runtime().loop().post(
            [this, gone = ballot.gone, id = ballot.id, kept = std::make_shared<Info>(std::move(info))] {
                send(server_, PMIX_GROUP_LEADER_SELECTED, {gone}, id, std::move(*kept));
            });
    }
}

// --- decisions of this node's processes ---

void GroupConstruct::decided(const std::string& id, const pmix_proc_t& by, const pmix_proc_t& gone,
                             bool abort, bool lead) {
    decide_ballots([&](Ballot& ballot) {
        if (ballot.id != id || !proc_is(ballot.gone, gone) || !among(ballot.undecided, by)) return;
        std::erase_if(ballot.undecided, [&](const pmix_proc_t& one) { return proc_is(one, by); });
        ballot.abort |= abort;
        if (lead && !ballot.leader) ballot.leader = by;
    });
    const auto collective = server_.collectives().find(CollectiveKind::GroupConstruct, id);
    if (collective && !among(collective->participants(), by)) return;
    const auto state = states_.find(id);
    if (abort && (collective || state != states_.end())) return give_up(id);
    if (state == states_.end()) return;
    if (lead) claim(state->second, gone, by);
    answered(id, &gone, {by});
    go_on(id);
}

void GroupConstruct::departed(const pmix_proc_t& proc) {
    decide_ballots([&](Ballot& ballot) {
        std::erase_if(ballot.undecided, [&](const pmix_proc_t& one) { return proc_is(one, proc); });
    });
    std::vector<std::string> ids;  // going on changes the map
    for (const auto& [id, state] : states_)
        ids.push_back(id);
    for (const std::string& id : ids) {
        answered(id, nullptr, {proc});
        go_on(id);
    }
}

// --- members that no server counted ---

void GroupConstruct::tell_of_missing(const Collective& collective, const std::vector<pmix_proc_t>& members,
                                     const std::vector<GroupPart>& parts) {
    bool notify = false, optional = collective.any_true(PMIX_GROUP_OPTIONAL);
    std::vector<pmix_proc_t> leaders;
    for (const GroupPart& part : parts) {
        notify |= part.notify_termination;
        leaders.insert(leaders.end(), part.leaders.begin(), part.leaders.end());
    }
    if (!notify || optional) return;
    std::vector<pmix_proc_t> hearers;
    for (const Arrival& arrival : collective.arrivals()) {
        if (leaders.empty() || among(leaders, arrival.proc)) hearers.push_back(arrival.proc);
    }
    if (hearers.empty()) return;
    const auto known = elsewhere_.find(collective.id());
    const State& state = states_[collective.id()];
    for (const pmix_proc_t& proc : group_call(collective.arrivals().front()).members->order) {
        const bool in = among(members, proc);
        const bool told =
            (known != elsewhere_.end() && among(known->second.lost, proc)) ||
            std::ranges::any_of(state.losses, [&](const Loss& loss) { return proc_is(loss.proc, proc); });
        // No process of its node called, so its server has no such construct.
        if (in || told) continue;
        server_.end_reports().when_reported(proc, [this, hearers, proc, id = collective.id()] {
            send(server_, PMIX_GROUP_MEMBER_FAILED, hearers, id, server_.end_reports().about(proc));
        });
    }
}

}  // namespace muster
