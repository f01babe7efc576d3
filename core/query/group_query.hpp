// SPDX-License-Identifier: BSD-3-Clause
// A server's answers about groups: its own have members on its node, its host may know others. On the
// loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/exchange/exchange.hpp"

namespace muster {

class Queries;
class QueryServer;
class QueryTurns;

using NamesDone = std::function<void(std::vector<std::string> names)>;

/// The names of the groups of a process, or, for null, of all groups: those known here, together
/// with the host's answer to the query of PMIX_GROUP_NAMES with PMIX_PROCID, or PMIX_QUERY_GROUP_NAMES. Not
/// asked is a host without queries, one that asks itself, and where PMIX_QUERY_LOCAL_ONLY or the range
/// local is among `directives` or all groups of the process are known here. PMIX_TIMEOUT among them bounds
/// the waiting.
void group_names(QueryServer& server, const Caller& caller, const pmix_proc_t* of, InfoView directives,
                 NamesDone done);

/// Takes the queries about numbers and names of groups out of `queries` and answers them, in these turns.
/// `done` gets the answers, immediately if nothing else was asked, or nothing if they are too large. It is
/// not called if the asker has ended.
void answer_about_groups(QueryServer& server, const Caller& caller, Queries& queries,
                         const std::shared_ptr<QueryTurns>& turns,
                         std::function<void(std::optional<Info> found)> done);

/// Answers MUSTER_GROUPS; false for other keys.
bool answer_groups(QueryServer& server, const Caller& caller, const char* key, Info& found);

/// Whether the caller may see this group: one of its user's processes is a member, or no owner is known.
bool sees_group(QueryServer& server, const Caller& caller, const std::string& id);

}  // namespace muster
