// SPDX-License-Identifier: BSD-3-Clause
// The events by which groups are made by invitation and left (docs/explanation/invitations.md): writes them,
// and reads those of other libraries, which have fewer infos.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/events/event.hpp"

namespace muster {

class Gds;

/// Limit of recently aborted invitations whose recipients are kept.
constexpr size_t kMaxGivenUp = 64;

enum class LeaderVote : uint8_t { NotMe = 0, Me = 1, Abort = 2 };

/// Content of an event of the protocol.
struct GroupEvent {
    std::string id;  ///< empty: an answer of OpenPMIx, which names no group
    std::optional<uint64_t> round;
    std::optional<pmix_proc_t> affected;
    std::optional<LeaderVote> vote;
    /// PMIX_GROUP_MEMBERSHIP. A leader on OpenPMIx may not give it: then the processes that its event is for.
    std::vector<pmix_proc_t> members;
    std::optional<size_t> context_id;

    /// Nothing if it names no group and is no answer. `store`: knows the sizes of jobs.
    static std::optional<GroupEvent> read(const Event& event, const Gds& store);
    /// Whether both belong to one invitation, as far as they say.
    bool same_round(uint64_t other) const { return !round || *round == other; }
};

/// An event for `targets` (not empty), not for default handlers. `info` has its infos in addition to the
/// group's name.
std::shared_ptr<Event> make_group_event(pmix_status_t code, const pmix_proc_t& source,
                                        const std::vector<pmix_proc_t>& targets, const std::string& id,
                                        Info info);

/// The round of the first invitation that a process leads: not the same as another process's, nor as an
/// earlier one's of this name.
uint64_t first_invitation_round();

/// The first infos of each event of this invitation.
Info round_info(uint64_t round);

/// Adds to `info` what the host's event about the end of a process contains and `info` lacks, without its
/// recipients and actions.
void add_report(InfoView event, Info& info);

/// The value of PMIX_GROUP_MEMBERSHIP.
Value procs_value(const std::vector<pmix_proc_t>& procs);

/// Decisions of the handlers of an event about an invitation (Standard: PMIx_Group_invite).
struct GroupDecision {
    bool abort = false;                     ///< some handler returned PMIX_GROUP_CONSTRUCT_ABORT
    bool handled = false;                   ///< some handler took action
    bool lead = false;                      ///< PMIX_GROUP_LEADER among the results
    std::vector<pmix_proc_t> replacements;  ///< PMIX_GROUP_ADD_MEMBERS or PMIX_GROUP_MEMBERSHIP among them

    static GroupDecision of(InfoView results);
};

}  // namespace muster
