// SPDX-License-Identifier: BSD-3-Clause
// The server's part in groups by invitation: it watches the events that the processes exchange, reports
// deaths, decides the new leader when a leader of its node has failed, and knows the completed groups.
// For all groups: it knows the members that left and those that ended (docs/explanation/invitations.md).
// Belongs to the loop.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/events/event_engine.hpp"
#include "core/groups/group_event.hpp"
#include "framework/base/info.hpp"
#include "framework/base/loop.hpp"

namespace muster {

class GroupServer;
class Peer;

/// An invitation under way, as far as this server knows.
struct OpenInvitation {
    std::string id;
    pmix_proc_t leader{};
    bool leader_lost = false;           ///< and no process leads in its place yet
    std::vector<pmix_proc_t> answered;  ///< have accepted, and are alive
    std::vector<pmix_proc_t> awaited;   ///< have not answered
};

/// An invitation that a server leads for a client, which only waits for its end (OpenPMIx 7.0).
struct LedInvitation {
    std::string id;
    pmix_proc_t leader{};
    uint32_t user = 0;
    std::vector<pmix_proc_t> members;  ///< by group rank; once it has begun, the leader is one of them
    std::chrono::seconds limit{};      ///< 0: none
    bool optional = false;             ///< the group consists of the processes that accept
    bool wants_context_id = false;
};

class InvitationWatch {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;

    explicit InvitationWatch(GroupServer& server);
    ~InvitationWatch();

    /// A process of this node has finalized, or has ended (`lost`).
    void departed(const pmix_proc_t& proc, bool lost);
    void deregistered(const char* nspace);

    // invitation_led.cpp
    /// Invites, and announces the group or its failure to all, the leader included. `done`: once the
    /// invitation is on its way, or it cannot be.
    void lead(LedInvitation wanted, OnStatus done);
    /// A client's answer to an invitation. `leader`: the inviter; none if the client does not name it.
    void pass_answer(const Peer& peer, const std::string& id, pmix_status_t code,
                     const std::optional<pmix_proc_t>& leader, const OnStatus& done);

    /// A local member of a complete group has ended: notifies the others, once, if they asked for
    /// notifications.
    void tell_of_loss(const std::string& id, const pmix_proc_t& proc);
    /// The same of a group that is complete, for each member that ended too late to be left out.
    void tell_of_losses(const std::string& id);
    /// A process has left a group, or has failed in one that continues. A destruct that the others have begun
    /// no longer waits for it. `tell`: local members are notified.
    void goes_on_without(const std::string& id, const pmix_proc_t& proc, bool tell = true);

    /// Adds to `found` (MUSTER_GROUPS_INVITED) the processes that have not answered. False for other keys
    /// and if there is no invitation to the group that PMIX_GROUP_ID among `qualifiers` names.
    bool answer(uint32_t uid, const char* key, InfoView qualifiers, Info& found) const;
    std::vector<OpenInvitation> open() const;

  private:
    enum class State : uint8_t { Invited, Accepted, Gone };
    struct Participant {
        pmix_proc_t proc{};
        State state = State::Invited;
        bool voted = false;  ///< does not want to lead
    };
    struct Led {
        LedInvitation wanted;
        bool finishing = false;  ///< all have answered
        std::unique_ptr<Watch> time_limit;
    };
    struct Watched {
        std::string id;
        uint64_t round = 0;
        pmix_proc_t leader{};
        std::optional<uint32_t> user;  ///< whose process invited, where that is of this node
        EventPtr invitation;           ///< the latest
        std::vector<Participant> others;
        bool leader_lost = false;           ///< and it was of this node: we decide
        bool decided = false;               ///< a leader is chosen, or none is possible
        std::unique_ptr<Watch> last_claim;  ///< end of the time for offers to lead
        std::unique_ptr<Led> led;           ///< where this server leads it

        Participant* find(const pmix_proc_t& proc);
        std::vector<pmix_proc_t> alive() const;
    };

    /// An answer to an invitation that is unknown here: it is over, or still on its way. Its leader
    /// answers, unless it ends first.
    struct Late {
        std::string id;
        uint64_t round = 0;
        pmix_proc_t leader{};
        pmix_proc_t from{};
    };
    /// A leader's abort and its recipients: their answers may have crossed it.
    struct GivenUp {
        std::string id;
        uint64_t round = 0;
        pmix_proc_t leader{};
        std::vector<pmix_proc_t> told;
    };

    void on_event(const EventPtr& seen);
    void invited(const EventPtr& invitation, const GroupEvent& said);
    void answered(const Event& event, const GroupEvent& said);
    void answered_unnamed(const Event& event);
    void gone(const pmix_proc_t& proc, const GroupEvent& said);
    void completed(const Event& event, const GroupEvent& said);
    State take_early_answer(const Watched& watched, const pmix_proc_t& proc);
    void late_answer(const Event& event, const GroupEvent& said, const pmix_proc_t& leader);
    void aborted(const Event& event, const GroupEvent& said);
    void leader_selected(const GroupEvent& said);
    void voted(const Event& event, const GroupEvent& said);
    void left(const Event& event, const GroupEvent& said);
    void member_failed(const Event& event, const GroupEvent& said);
    void shrink(const std::string& id, const pmix_proc_t& proc, bool tell_members);

    void check_led();
    void finish_led(Watched& watched);
    void announce_led(const Watched& watched, std::optional<size_t> context_id);
    void abort_led(const Watched& watched);
    void tell_led(const Watched& watched, pmix_status_t code, const std::vector<pmix_proc_t>& others,
                  const Info& info);
    Watched* led_in(uint64_t round);

    void leader_lost(Watched& watched);
    void member_lost(Watched& watched, const pmix_proc_t& proc);
    void member_finalized(Watched& watched, Participant& one);
    void count_votes(Watched& watched);
    void select(Watched& watched, const pmix_proc_t* leader);
    void abort(const std::string& id, uint64_t round, const std::vector<pmix_proc_t>& targets);
    void tell(pmix_status_t code, const std::vector<pmix_proc_t>& targets, const std::string& id, Info info);
    void tell_end(pmix_status_t code, const std::vector<pmix_proc_t>& targets, const std::string& id,
                  const pmix_proc_t& proc, std::optional<uint64_t> round);
    bool is_strangers(const Event& event, const GroupEvent& said) const;
    Watched* find(const GroupEvent& said, const pmix_proc_t& leader);
    bool has_gone(const pmix_proc_t& proc) const;
    /// Whether an invitation of this process is over: another life of the process does not lead it.
    bool cannot_lead(const pmix_proc_t& proc) const;
    void forget_the_empty();
    void forget_the_oldest(std::optional<uint32_t> user);

    GroupServer& server_;
    uint64_t next_round_;          ///< of those that this server leads
    std::list<Watched> watched_;   ///< the latest first; bounded for each user
    std::list<Late> late_;         ///< bounded
    std::list<GivenUp> given_up_;  ///< the latest last; bounded
};

}  // namespace muster
