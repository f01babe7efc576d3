// SPDX-License-Identifier: BSD-3-Clause
// The groups that a process knows: as a client those it is a member of, as a server those with members on
// its node (Standard: Process Sets and Groups). Holds their members and ranks, and translates group ids into
// the names that the host knows. Written on the loop; translation and reading by copy on any thread.
#pragma once

#include <pmix_common.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/exchange/proc_list.hpp"
#include "framework/base/info.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/proc.hpp"

namespace muster {

class Gds;

/// The state of a group (docs/explanation/groups.md has the table of states).
enum class GroupState : uint8_t {
    Constructing,  ///< its members are being gathered by PMIx_Group_construct
    Inviting,      ///< its members are being gathered by PMIx_Group_invite
    Ready,         ///< complete; its id can be used
    Destructing,   ///< members have begun to call PMIx_Group_destruct
    Failed         ///< a member failed meanwhile; waits for the members that must still get the failure
};

/// One member, as the host knows it: never a wildcard, never a group's name.
struct GroupMember {
    uint32_t nspace = 0;  ///< which of the group's namespaces
    pmix_rank_t proc_rank = PMIX_RANK_UNDEF;
    pmix_rank_t rank = PMIX_RANK_UNDEF;
};

struct Group {
    std::string id;
    std::vector<std::string> nspaces;  ///< of the members, each once: a C name takes 260 bytes
    std::vector<GroupMember> members;  ///< by group rank, ascending; never reused
    GroupState state = GroupState::Ready;
    std::optional<size_t> context_id;
    std::optional<pmix_proc_t> leader;
    bool notify_termination = false;     ///< PMIX_GROUP_NOTIFY_TERMINATION at construction
    Info info;                           ///< further data of the construction (PMIX_GROUP_INFO ...)
    std::vector<pmix_rank_t> lost;       ///< a server's: members whose end is reported to the others
    std::vector<pmix_proc_t> finalized;  ///< a server's: members of its node that left it by PMIx_Finalize
    std::string payer;   ///< a server's: charged for its memory (GroupTable::memory()); empty elsewhere
    size_t counted = 0;  ///< the table's: counted memory

    /// Ranks 0, 1, ... in the order given.
    void set_members(const std::vector<pmix_proc_t>& procs);
    void set_members(const ProcList& list);
    pmix_proc_t proc(const GroupMember& member) const {
        return make_proc(nspaces[member.nspace], member.proc_rank);
    }
    /// The one with this rank in the group, or null.
    const GroupMember* member(pmix_rank_t rank) const;
    std::vector<pmix_proc_t> procs() const;
    bool has(const pmix_proc_t& proc) const;
    /// The others keep their ranks. False if it was no member.
    bool remove(const pmix_proc_t& proc);
    /// The value of PMIX_GROUP_MEMBERSHIP.
    Value membership() const;
    /// Whether its id can be used.
    bool usable() const { return state == GroupState::Ready || state == GroupState::Destructing; }
};

/// The value of PMIX_GROUP_NAMES and PMIX_QUERY_GROUP_NAMES.
Value texts_value(const std::vector<std::string>& names);

/// Whether a text can name a group: 1 to PMIX_MAX_NSLEN bytes.
bool valid_group_id(const char* id);

class GroupTable {
  public:
    // --- on the loop ---

    /// Null if there is no such group. Valid until the next change.
    const Group* find(const std::string& id) const;
    /// An existing group with this id is replaced.
    const Group& add(Group group);
    /// False if there was none.
    bool remove(const std::string& id);
    /// Changes a group in place: `change(Group&)`. False if there is none.
    template <class Change>
    bool change(const std::string& id, Change change) {
        const WriteLock guard(lock_);
        const auto found = groups_.find(id);
        if (found == groups_.end()) return false;
        change(found->second);
        return true;
    }
    /// The others keep their ranks; a group without members is removed. False if it was not a member.
    bool remove_member(const std::string& id, const pmix_proc_t& proc);
    /// Returns the memory of that payer's groups, in bytes.
    size_t memory(const std::string& payer) const;
    /// Returns the bytes of a group with `members` members, without the names of their jobs.
    static size_t memory_of(const std::string& id, size_t members);
    /// All groups, by id. Valid until the next change.
    const std::map<std::string, Group>& all() const { return groups_; }
    /// The ids of the groups that are ready for use, in order.
    std::vector<std::string> names() const;
    /// Returns the ids of the groups that have this process as a member.
    std::vector<std::string> names_of(const pmix_proc_t& proc) const;

    /// Answers PMIX_QUERY_NUM_GROUPS, _GROUP_NAMES and _GROUP_MEMBERSHIP (of the group that PMIX_GROUP_ID
    /// among `qualifiers` names). False for other keys and for a group that is not known here.
    bool answer(const char* key, InfoView qualifiers, Info& found) const;

    // --- any thread ---

    /// Whether this is the id of a group that can be used.
    bool is_group(const char* nspace) const;
    /// Whether this group can be used, and its members are all ranks of a job of `size` processes.
    bool is_job(const std::string& id, std::string_view nspace, uint32_t size) const;
    /// {group, group rank} becomes the member; {group, WILDCARD} and names that are not groups are unchanged.
    /// False for a rank that the group does not have.
    bool translate(pmix_proc_t& proc) const {
        // Fast path: most jobs have no group. A caller learns of a group only after its insertion.
        return !any_.load(std::memory_order_acquire) || translate_by_groups(proc);
    }
    /// Replaces each entry of a group by its members, {group, WILDCARD} by all of them in the order of their
    /// ranks. False for a rank that a group does not have; `procs` is unchanged then.
    bool expand(std::vector<pmix_proc_t>& procs) const;
    /// How many processes that gives.
    size_t expanded_size(const std::vector<pmix_proc_t>& procs) const;
    /// The same within directives that name processes: PMIX_EVENT_CUSTOM_RANGE, PMIX_EVENT_AFFECTED_PROC(S),
    /// PMIX_PROCID. PMIX_ERR_BAD_PARAM where expand() gives false; PMIX_ERR_OUT_OF_RESOURCE if the lists
    /// that are put in take more than `room` bytes, which they are taken off from: many directives may name
    /// one group. Some may be translated then.
    pmix_status_t expand(Info& directives, size_t& room) const;
    pmix_status_t expand(Info& directives) const {
        size_t room = SIZE_MAX;
        return expand(directives, room);
    }
    /// The value of PMIX_GROUP_NAMES; UNDEF if the process is in none.
    Value names_value(const pmix_proc_t& proc) const;

  private:
    const Group* ready(const char* nspace) const;
    bool translate_by_groups(pmix_proc_t& proc) const;

    mutable SharedLock lock_;  // guards groups_ against readers on other threads; the loop alone writes
    std::map<std::string, Group> groups_;
    std::atomic<bool> any_{false};          // whether there are groups; written under the lock
    std::map<std::string, size_t> memory_;  // by payer; the loop's

    void uncount(const Group& group);
};

/// Replaces {namespace, WILDCARD} by all processes of the namespace, and drops repetitions, keeping the order
/// of first mention. False when the size of a namespace is not known; `procs` is unchanged then.
bool expand_wildcards(const Gds& store, std::vector<pmix_proc_t>& procs);

}  // namespace muster
