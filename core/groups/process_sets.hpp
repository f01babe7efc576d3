// SPDX-License-Identifier: BSD-3-Clause
// Process sets: names that the host gives to lists of processes (Standard: Process Sets and Groups). Keeps
// the sets, their members, and the events about them. Belongs to the loop of a server.
#pragma once

#include <pmix_common.h>

#include <string>
#include <vector>

#include "framework/base/info.hpp"

namespace muster {

class GroupServer;

struct ProcessSet {
    std::string name;
    std::vector<pmix_proc_t> members;  ///< as the host gave them; wildcards stay. Never changes
};

class ProcessSets {
  public:
    explicit ProcessSets(GroupServer& server) : server_(server) {}

    /// Notifies all local clients that have registered, also later ones.
    /// @return PMIX_ERR_BAD_PARAM for no members or a name that cannot be one; PMIX_ERR_EXISTS.
    pmix_status_t define(const std::string& name, std::vector<pmix_proc_t> members);
    /// @return PMIX_ERR_NOT_FOUND.
    pmix_status_t remove(const std::string& name);

    /// In the order of their definition.
    const std::vector<ProcessSet>& all() const { return sets_; }
    /// Null if there is no such set.
    const ProcessSet* find(const std::string& name) const;
    /// The names of the sets that a process is in.
    std::vector<std::string> names_of(const pmix_proc_t& proc) const;
    /// The same as the value of PMIX_PSET_NAMES; UNDEF if it is in none.
    Value names_value(const pmix_proc_t& proc) const;

    /// Answers PMIX_QUERY_NUM_PSETS, _PSET_NAMES and _PSET_MEMBERSHIP (of the set that PMIX_PSET_NAME among
    /// `qualifiers` names), of the sets that concern processes of this user. PMIX_RANGE_LOCAL limits number
    /// and names to sets with a member on this node. No sets: 0, and an empty array. False for other keys and
    /// for a set that is not known here.
    bool answer(uint32_t uid, const char* key, InfoView qualifiers, Info& found) const;

  private:
    void tell(pmix_status_t code, const ProcessSet& set);
    bool has_local_member(const ProcessSet& set) const;

    GroupServer& server_;
    std::vector<ProcessSet> sets_;
};

}  // namespace muster
