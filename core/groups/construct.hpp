// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups as collective operations of a server (Standard: Process Groups;
// docs/explanation/groups.md has the states). On the loop.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/exchange/exchange.hpp"
#include "core/exchange/group_table.hpp"
#include "core/groups/group_part.hpp"

namespace muster {

class GroupServer;

struct Event;

/// Event of our own, for servers alone: a member that leads (source) has called.
inline constexpr pmix_status_t kLeaderCallsCode = -0x6d757301;

/// Event of our own, for servers only: a destruct has been handed to the host with these participants
/// (PMIX_GROUP_MEMBERSHIP), and one of them has left, or some have not called for a while.
inline constexpr pmix_status_t kDestructCallsCode = -0x6d757302;
/// Muster's own answer to a request for all in a meeting (docs/reference/wire.md, 6.1): each must send its
/// own request.
inline constexpr pmix_status_t kEachForItself = -0x6d757303;

class GroupConstruct : public CollectiveOperation {
  public:
    explicit GroupConstruct(GroupServer& server);
    void joined(const Collective& collective) override;
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    void goes_on_without(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool limits_host() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;
    void ended(const Collective& collective, const Outcome& outcome) override;

    /// Decision of a participant's handlers about the end of `gone`: abort, lead from now on, or (neither)
    /// continue.
    void decided(const std::string& id, const pmix_proc_t& by, const pmix_proc_t& gone, bool abort,
                 bool lead);
    /// A process of this node has ended: no decision of it is awaited any more.
    void departed(const pmix_proc_t& proc);
    /// Whether the construct was aborted before `proc` called: this is reported to `proc` once.
    bool came_too_late(const std::string& id, const pmix_proc_t& proc);
    /// Participants that must decide about another one's end and have not; the construct waits for them.
    std::vector<pmix_proc_t> undecided(const std::string& id) const;
    // group_room.cpp
    /// Whether there is room for one more group of `maker`: the memory of the groups of a job, or of
    /// the tools of a user, is limited.
    bool has_room(const pmix_proc_t& maker, const std::string& id, size_t members);
    /// The job, or the user of tools, to which such a group is charged.
    std::string payer(const pmix_proc_t& maker) const;
    /// A process of this node calls and leads: servers of other members must be notified.
    void leader_calls(const std::string& id, const pmix_proc_t& leader,
                      const std::vector<pmix_proc_t>& members);

  private:
    /// A participant that has ended.
    struct Loss {
        pmix_proc_t proc{};
        bool led = false;
        bool told = false;
        bool awaits_report = false;          ///< waits for the host's report before notifying
        std::vector<pmix_proc_t> undecided;  ///< notified, without a decision yet
        std::unique_ptr<Watch> limit;        ///< for the answers of other nodes
    };
    /// State of a construct that the collective engine does not keep.
    struct State {
        std::list<Loss> losses;
        std::vector<pmix_proc_t> order;  ///< all members, set at the first notification
        std::optional<pmix_proc_t> new_leader;
        bool local_in = false;  ///< all local participants are in
        bool asked = false;     ///< the host has been asked
        bool settled = false;   ///< and has answered
    };

    /// State of a construct as other servers report it.
    struct Elsewhere {
        std::vector<pmix_proc_t> leaders;  ///< leaders of other nodes
        std::vector<pmix_proc_t> lost;     ///< whose end all concerned processes know
    };
    /// Votes of this node's processes about a participant that ended on another node, whose server waits for
    /// the result.
    struct Ballot {
        std::string id;
        pmix_proc_t gone{};
        std::vector<pmix_proc_t> voters;     ///< of this node, notified or not
        std::vector<pmix_proc_t> undecided;  ///< notified, without a decision yet
        std::optional<pmix_proc_t> leader;   ///< the first one that offers to lead
        bool abort = false;
    };

    // construct_losses.cpp
    void watch_others();
    void tell(const Collective& collective, Loss& loss);
    void tell(const std::string& id, Loss& loss, const std::vector<pmix_proc_t>& hearers);
    void tell_of_member(const std::string& id, Loss& loss, const std::vector<pmix_proc_t>& hearers);
    /// All callers ended before any other local participant called. True: the state stays for later callers.
    bool keep_for_others(const Collective& collective);
    /// `by` have decided about `gone` (null: about all), or cannot decide any more.
    void answered(const std::string& id, const pmix_proc_t* gone, const std::vector<pmix_proc_t>& by);
    void go_on(const std::string& id);
    /// `leader` offers to replace `gone` as the leader.
    static void claim(State& state, const pmix_proc_t& gone, const pmix_proc_t& leader);
    /// The server of another node reports the end of a participant there.
    void lost_elsewhere(const Event& event);
    /// The decisions about a participant of this node come from the server of other nodes.
    void voted(const Event& event);
    void decide_ballots(const std::function<void(Ballot&)>& change);
    void give_up(const std::string& id);
    /// Ends the construct here; those of `all` that have yet to call get the failure then.
    void given_up(const std::string& id, const std::vector<pmix_proc_t>& all);
    /// Reports the end of members that no server counted and no notification named.
    void tell_of_missing(const Collective& collective, const std::vector<pmix_proc_t>& members,
                         const std::vector<GroupPart>& parts);
    /// The `hearers` that are connected here, want this event, and have a library that sends decisions.
    std::vector<pmix_proc_t> deciding(const std::vector<pmix_proc_t>& hearers, pmix_status_t code) const;
    Elsewhere& elsewhere(const std::string& id);

    void announce_leader(const std::string& id, const State& state);
    void hand_over(const std::shared_ptr<Collective>& collective);
    GroupPart local_part(const Collective& collective) const;
    void complete(const std::shared_ptr<Collective>& collective, const HostAnswer& answer,
                  std::vector<GroupPart> parts);

    GroupServer& server_;
    std::map<std::string, State> states_;
    std::map<std::string, Elsewhere> elsewhere_;
    std::list<Ballot> ballots_;
    std::map<std::string, std::vector<pmix_proc_t>> late_;  ///< callers that must still get the failure
    std::set<std::string> refused_;                         ///< payers whose refusal is logged
};

class GroupDestruct : public CollectiveOperation {
  public:
    explicit GroupDestruct(GroupServer& server);
    void joined(const Collective& collective) override;
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    void goes_on_without(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool limits_host() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;
    void ended(const Collective& collective, const Outcome& outcome) override;

    /// A member, of any node, has left a group, or has failed in a group that continues without it.
    void left(const std::string& id, const pmix_proc_t& proc);
    /// A process of this node has ended.
    void departed();
    /// A namespace has been deregistered: groups without local members end, and their names become free.
    void deregistered();
    /// There is a new group of this name.
    void constructed(const Group& group);

  private:
    /// A server's request to its host.
    struct Call {
        std::string id;
        std::vector<pmix_proc_t> procs;
        bool tolerant = false;  ///< continues without ended members (PMIX_GROUP_FT_COLLECTIVE)
    };
    struct Asked {
        Call call;
        std::unique_ptr<Watch> reminder;  ///< notifies the other servers if the host has not answered by then
    };

    // destruct_departures.cpp
    /// Whether a process of this node may still call.
    bool has_members_here(const std::string& id) const;
    /// The same, where it may be that the group is only being made.
    bool may_be_ended_here(const std::string& id) const;
    /// Removes a group whose destruct has failed, once all local members have got the failure.
    void forget_failed(const std::string& id);
    std::vector<pmix_proc_t> participants_for_host(const Collective& collective);
    std::vector<Call> take_calls(const std::string& id);
    void tell_call(const Call& call);
    void called_elsewhere(Call call);
    /// Takes part for those that have left or ended; false if this node has no part in it, or has taken
    /// it.
    bool join(const Call& call);
    void took_part(Call call);

    GroupServer& server_;
    std::set<std::string> settled_;       ///< destructs that the host has answered
    std::map<std::string, Asked> asked_;  ///< requests at the host
    std::list<Call> calls_;               ///< of other servers, for later; bounded
    std::list<Call> joined_;              ///< in which this server takes or took part; bounded
    std::list<std::string> over_here_;    ///< groups that the last member of this node has left; bounded
};

/// The upcall for groups. `keep` owns the arguments. NOT_SUPPORTED if the host has no such upcall.
void ask_host_for_group(Host& host, pmix_group_operation_t operation, const std::string& id,
                        std::vector<pmix_proc_t> procs, Info info, HostDone done);

/// Makes a failure on one node fail on all nodes: adds it for the host (PMIX_LOCAL_COLLECTIVE_STATUS), and
/// for the servers that share a host which ignores this attribute.
pmix_status_t add_failure(GroupServer& server, pmix_status_t failed, Info& info);

/// A leader of a bootstrap (PMIX_GROUP_BOOTSTRAP) or one that it adds (no `procs`): only the host knows the
/// members, so each call is a separate upcall.
void bootstrap_group(GroupServer& server, const std::string& id, std::vector<pmix_proc_t> procs,
                     Arrival arrival);

/// Whether a peer's messages about groups have the members: not before OpenPMIx 4.2.4
/// (docs/reference/wire.md, 6.1).
bool knows_group_members(const PeerVersion& version);

/// Stores PMIX_GROUP_INFO of one member ([PMIX_PROCID, then its infos]): with the context id as qualifier
/// where there is one, and, keys of applications and PMIX_GROUP_LOCAL_CID, without. Malformed data is
/// skipped.
void store_group_info(Gds& store, const pmix_info_t& info, std::optional<size_t> context_id);

}  // namespace muster
