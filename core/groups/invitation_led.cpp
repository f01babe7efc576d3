// SPDX-License-Identifier: BSD-3-Clause
// Invitations that a server leads for its clients on OpenPMIx 7.0, which leave the inviting, the gathering of
// answers and the announcement to it. See invitation_watch.hpp.
#include <algorithm>

#include "core/events/event_router.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peer.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/context_id.hpp"
#include "core/groups/group_server.hpp"
#include "core/groups/invitation_watch.hpp"

namespace muster {

InvitationWatch::Watched* InvitationWatch::led_in(uint64_t round) {
    const auto found =
        std::ranges::find_if(watched_, [&](const Watched& one) { return one.led && one.round == round; });
    return found == watched_.end() ? nullptr : &*found;
}

void InvitationWatch::lead(LedInvitation wanted, OnStatus done) {
    std::vector<pmix_proc_t>& members = wanted.members;
    const std::string id = wanted.id;
    const pmix_proc_t leader = wanted.leader;
    if (!valid_group_id(id.c_str()) || members.empty() || !expand_wildcards(server_.store(), members))
        return done(PMIX_ERR_BAD_PARAM);
    if (!std::ranges::all_of(members, [&](const pmix_proc_t& proc) {
            return server_.namespaces().may_use(wanted.user, proc);
        }))
        return done(PMIX_ERR_NO_PERMISSIONS);
    const bool leads = std::ranges::any_of(
        watched_, [&](const Watched& one) { return one.id == id && proc_is(one.leader, leader); });
    if (leads || server_.groups().find(id) != nullptr) return done(PMIX_ERR_EXISTS);
    if (!among(members, leader)) members.insert(members.begin(), leader);
    if (!server_.group_construct().has_room(leader, id, members.size()))
        return done(PMIX_ERR_OUT_OF_RESOURCE);

    Watched fresh;
    fresh.id = id;
    fresh.round = next_round_++;
    fresh.leader = leader;
    fresh.user = wanted.user;
    std::vector<pmix_proc_t> others;
    for (const pmix_proc_t& proc : members) {
        if (proc_is(proc, leader)) continue;
        fresh.others.push_back({proc, take_early_answer(fresh, proc), false});
        others.push_back(proc);
    }
    Info info = round_info(fresh.round);
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(members));
    if (wanted.optional) info.add(PMIX_GROUP_OPTIONAL, true);
    fresh.led = std::make_unique<Led>();
    const uint64_t round = fresh.round;
    if (wanted.limit.count() > 0) {
        fresh.led->time_limit = server_.runtime().loop().after(wanted.limit, [this, round] {
            Watched* const late = led_in(round);
            if (late == nullptr || late->led->finishing) return;
            for (Participant& one : late->others) {
                if (one.state == State::Invited) one.state = State::Gone;
            }
            check_led();
        });
    }
    const std::optional<uint32_t> user = fresh.user;
    fresh.led->wanted = std::move(wanted);
    const auto event = make_group_event(PMIX_GROUP_INVITED, leader, others, id, std::move(info));
    event->user = user;
    watched_.push_front(std::move(fresh));
    const auto forget = [this, round] {
        watched_.remove_if([&](const Watched& one) { return one.led && one.round == round; });
    };
    try {
        server_.runtime().loop().post([this] { check_led(); });
        if (others.empty()) return done(PMIX_SUCCESS);
        server_.router().from_client(event, [&forget, &done](pmix_status_t status) {
            if (status != PMIX_SUCCESS) forget();
            done(status);
        });
    } catch (const std::bad_alloc&) {
        // Otherwise the leader's next invitation of this id would get PMIX_ERR_EXISTS.
        forget();
        throw;
    }
}

void InvitationWatch::pass_answer(const Peer& peer, const std::string& id, pmix_status_t code,
                                  const std::optional<pmix_proc_t>& leader, const OnStatus& done) {
    if (!valid_group_id(id.c_str()) ||
        (code != PMIX_GROUP_INVITE_ACCEPTED && code != PMIX_GROUP_INVITE_DECLINED))
        return done(PMIX_ERR_BAD_PARAM);
    const auto known = std::ranges::find_if(watched_, [&](Watched& one) {
        return one.id == id && (leader ? proc_is(one.leader, *leader) : one.find(peer.proc) != nullptr);
    });
    Info info;
    if (known != watched_.end()) info = round_info(known->round);
    std::shared_ptr<Event> event;
    if (leader || known != watched_.end()) {
        const pmix_proc_t target = leader ? *leader : known->leader;
        event = make_group_event(code, peer.proc, {target}, id, std::move(info));
    } else {
        event = make_event(code, peer.proc, PMIX_RANGE_SESSION);
        event->info.add(PMIX_GROUP_ID, id.c_str());
        if (const pmix_status_t read = event->read_directives(); read != PMIX_SUCCESS) return done(read);
    }
    event->user = peer.uid;
    server_.router().from_client(event, done);
}

void InvitationWatch::check_led() {
    for (Watched& watched : watched_) {
        if (!watched.led || watched.led->finishing || watched.leader_lost) continue;
        const bool waits = std::ranges::any_of(
            watched.others, [](const Participant& one) { return one.state == State::Invited; });
        if (waits) continue;
        watched.led->finishing = true;
        watched.led->time_limit.reset();
        // Posted: another event is being delivered, or the list is being traversed.
        server_.runtime().loop().post([this, round = watched.round] {
            if (Watched* const all_in = led_in(round)) finish_led(*all_in);
        });
    }
}

void InvitationWatch::finish_led(Watched& watched) {
    const LedInvitation& wanted = watched.led->wanted;
    const bool missing = std::ranges::any_of(
        watched.others, [](const Participant& one) { return one.state != State::Accepted; });
    if (missing && !wanted.optional) return abort_led(watched);
    if (!wanted.wants_context_id) return announce_led(watched, std::nullopt);
    ask_for_context_id(server_.host(), watched.leader, watched.id, {},
                       [this, round = watched.round](const HostAnswer& answer) {
                           const Watched* const still = led_in(round);
                           if (still == nullptr) return;
                           const auto id = answer.info.view().number<size_t>(PMIX_GROUP_CONTEXT_ID);
                           answer.status == PMIX_SUCCESS&& id ? announce_led(*still, id) : abort_led(*still);
                       });
}

void InvitationWatch::announce_led(const Watched& watched, std::optional<size_t> context_id) {
    std::vector<pmix_proc_t> others;
    for (const Participant& one : watched.others) {
        if (one.state == State::Accepted) others.push_back(one.proc);
    }
    std::vector<pmix_proc_t> members = watched.led->wanted.members;
    std::erase_if(members, [&](const pmix_proc_t& proc) {
        return !proc_is(proc, watched.leader) && !among(others, proc);
    });
    Info info = round_info(watched.round);
    info.add(PMIX_GROUP_MEMBERSHIP, procs_value(members));
    if (context_id) info.add(PMIX_GROUP_CONTEXT_ID, *context_id);
    tell_led(watched, PMIX_GROUP_CONSTRUCT_COMPLETE, others, info);
}

void InvitationWatch::abort_led(const Watched& watched) {
    tell_led(watched, PMIX_GROUP_CONSTRUCT_ABORT, watched.alive(), round_info(watched.round));
}

/// Sends to the others in the leader's name, and to the leader by the server: a process gets no own events.
void InvitationWatch::tell_led(const Watched& watched, pmix_status_t code,
                               const std::vector<pmix_proc_t>& others, const Info& info) {
    const std::vector<pmix_proc_t> leader{watched.leader};
    auto to_leader = Info::copy_of(info);
    auto to_others = Info::copy_of(info);
    if (!to_leader || !to_others) return;
    // Servers learn of the group by this event: it is sent even without other members.
    auto event = make_group_event(code, watched.leader, others.empty() ? leader : others, watched.id,
                                  std::move(*to_others));
    event->user = watched.user;
    const uint64_t round = watched.round;
    server_.runtime().loop().post([this, event, round] {
        try {
            server_.router().from_client(event, [](pmix_status_t) {});
        } catch (const std::bad_alloc&) {
            MUSTER_LOG(server_.log(), Error,
                       "group %s: no memory to tell its members of its end or completion",
                       event->info.view().string(PMIX_GROUP_ID));
        }
        watched_.remove_if([&](const Watched& one) { return one.led && one.round == round; });
    });
    tell(code, leader, watched.id, std::move(*to_leader));
}

}  // namespace muster
