// SPDX-License-Identifier: BSD-3-Clause
// Groups by invitation, as one process takes part in them (Standard: PMIx_Group_invite, PMIx_Group_join): as
// the one that invites, as one that is invited, and as one that becomes the leader when that one fails.
// All communication uses events between the processes; their servers watch (invitation_watch.hpp).
// docs/explanation/invitations.md has the states. Belongs to the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "core/events/event_engine.hpp"
#include "core/exchange/exchange.hpp"
#include "core/groups/group_event.hpp"

namespace muster {

class Events;

class Invitations {
  public:
    Invitations(Exchange& exchange, Events& events);
    ~Invitations();
    Invitations(const Invitations&) = delete;
    Invitations& operator=(const Invitations&) = delete;

    /// PMIx_Group_invite. The answer's infos are the results: PMIX_GROUP_ID, PMIX_GROUP_MEMBERSHIP and, where
    /// one was asked for, PMIX_GROUP_CONTEXT_ID. PMIX_ERR_PARTIAL_SUCCESS: some invited processes are not in
    /// it.
    void invite(const std::string& id, std::vector<pmix_proc_t> procs, Info directives, HostDone done);
    /// PMIx_Group_join; the results are those of invite(). No `leader`: the last inviter to this group.
    void join(const std::string& id, const std::optional<pmix_proc_t>& leader, bool accept, Info directives,
              HostDone done);
    /// Whether this process waits for the group to be complete: it cannot leave it now.
    bool under_way(const std::string& id) const;
    /// The server is lost: no further event can arrive.
    void lost();

  private:
    enum class State : uint8_t { Invited, Accepted, Declined, Failed, Dropped };
    struct Invitee {
        pmix_proc_t proc{};
        State state = State::Invited;
        bool counts() const { return state == State::Invited || state == State::Accepted; }
    };

    /// A group that this process leads to its completion.
    struct Invitation {
        std::string id;
        uint64_t round = 0;
        std::vector<Invitee> members;  ///< by group rank; the leader is one of them
        Info terms;                    ///< directives that all know
        bool optional = false;         ///< PMIX_GROUP_OPTIONAL or PMIX_GROUP_FT_COLLECTIVE
        bool wants_context_id = false;
        bool partial = false;    ///< a member is missing, without a substitute
        size_t undecided = 0;    ///< handlers without a decision yet
        bool finishing = false;  ///< all have answered
        bool announced = false;  ///< the others know of the group; what remains cannot be stopped
        std::unique_ptr<Watch> time_limit;
        HostDone done;  ///< null if the leader was invited itself
    };
    using InvitationPtr = std::shared_ptr<Invitation>;
    using InvitationRef = std::weak_ptr<Invitation>;

    /// An invitation received by this process.
    struct Received {
        std::string id;
        std::optional<uint64_t> round;
        pmix_proc_t inviter{};  ///< the inviter, as the program knows it
        pmix_proc_t leader{};   ///< the present leader
        std::vector<pmix_proc_t> members;
        Info terms;
        bool claimed = false;               ///< we offered to lead
        std::vector<pmix_proc_t> early;     ///< accepted us as the leader before we knew
        std::optional<HostAnswer> outcome;  ///< its final status, for a later join
        // The answer of this process.
        bool joining = false;
        HostDone done;
        std::unique_ptr<Watch> time_limit;
    };

    EventEngine::OnEnd on_event(const EventPtr& event);
    void invited(const Event& event, const GroupEvent& said);
    EventEngine::OnEnd answered(const Event& event, const GroupEvent& said);
    EventEngine::OnEnd member_gone(const pmix_proc_t& proc, const GroupEvent& said);
    void some_process_ended(const Event& event);
    void completed(const Event& event, const GroupEvent& said);
    void aborted(const Event& event, const GroupEvent& said);
    EventEngine::OnEnd leader_failed(const Event& event, const GroupEvent& said);
    void leader_selected(const Event& event, const GroupEvent& said);

    // As the leader.
    /// Runs a step of an invitation, and ends the invitation where memory is short: otherwise its id would
    /// stay in use, and the call would wait forever.
    template <class Step>
    void attempt(const InvitationPtr& invitation, Step step) {
        try {
            return step();
        } catch (const std::bad_alloc&) {
            end_without_memory(invitation);
        }
    }
    void end_without_memory(const InvitationPtr& invitation);
    void begin(const InvitationPtr& invitation);
    void send_invitations(const InvitationPtr& invitation, const std::vector<pmix_proc_t>& to);
    EventEngine::OnEnd decide_later(const InvitationPtr& invitation, std::optional<pmix_proc_t> missing,
                                    bool declined);
    void decide(const InvitationPtr& invitation, const std::optional<pmix_proc_t>& missing, bool declined,
                const GroupDecision& decision);
    void check(const InvitationPtr& invitation);
    void finish(const InvitationPtr& invitation);
    void announce(const InvitationPtr& invitation, std::optional<size_t> context_id);
    /// Aborts it, unless the group has been announced. Processes in `told` get no notification.
    void give_up(const InvitationPtr& invitation, pmix_status_t status,
                 const std::vector<pmix_proc_t>& told = {});
    void time_is_over(const InvitationPtr& invitation);
    void end(const InvitationPtr& invitation, HostAnswer answer);
    InvitationPtr leading(const std::string& id) const;
    /// The earliest that this process has not answered.
    InvitationPtr unanswered_by(const pmix_proc_t& proc) const;
    static Invitee* invitee(Invitation& invitation, const pmix_proc_t& proc);

    // As one that is invited.
    Received* received(const GroupEvent& said, const pmix_proc_t& leader);
    Received* received(const std::string& id, const std::optional<pmix_proc_t>& inviter);
    Received& note(Received received);
    /// The invitation of this round, led by `leader` until that failed.
    Received& note_leader(const GroupEvent& said, const pmix_proc_t& leader);
    void answer_leader(const Received& received, pmix_status_t code, HostDone done);
    void conclude(Received& received, HostAnswer answer);
    /// Runs a step of a join, and ends the join where memory is short.
    template <class Step>
    void attempt(Received& received, Step step) {
        try {
            return step();
        } catch (const std::bad_alloc&) {
            conclude(received, answer_of(PMIX_ERR_NOMEM));
        }
    }
    /// Sends the acceptance and waits for the group until the time limit.
    void wait_for_group(Received& received, std::optional<std::chrono::milliseconds> limit);

    void send(std::shared_ptr<Event> event, HostDone done = nullptr);
    void add_group(const std::string& id, const std::vector<pmix_proc_t>& members, const pmix_proc_t& leader,
                   std::optional<size_t> context_id, bool notify_termination);

    Exchange& exchange_;
    Events& events_;
    uint64_t next_round_;
    std::list<InvitationPtr> leading_;
    struct GivenUp {
        uint64_t round;
        std::vector<pmix_proc_t> told;  ///< processes whose answers may cross the notification
    };
    std::deque<GivenUp> given_up_;  ///< the latest last; bounded
    std::list<Received> received_;  ///< the latest first; bounded
};

}  // namespace muster
