// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups, as a client asks its server for them. On the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/exchange/exchange.hpp"
#include "core/exchange/proc_list.hpp"
#include "core/groups/meeting.hpp"

namespace muster {

/// PMIx_Group_construct. None `asked` for: the caller is added by the leaders of a bootstrap. The answer's
/// infos are the results: PMIX_GROUP_ID, PMIX_GROUP_MEMBERSHIP and, where one was assigned,
/// PMIX_GROUP_CONTEXT_ID; none after a failure. `plain`, if given, is set to whether the server said no more
/// than a status and a context id.
void group_construct(Runtime& runtime, const std::string& id, ProcListPtr asked, Info info, MeetingNote note,
                     HostDone done, std::shared_ptr<bool> plain = nullptr);
/// Those results.
Info group_results(const std::string& id, const ProcList& members, std::optional<size_t> context_id);

/// From now on the server hears what the handlers of this process decide about a construction in which a
/// participant has failed. Before the client connects.
void watch_constructions(Runtime& runtime);

/// Whether a destruct that was answered so leaves no group behind.
bool ends_group(pmix_status_t status);
/// PMIx_Group_destruct.
void group_destruct(Runtime& runtime, const std::string& id, Info info, MeetingNote note, HostDone done);

/// The same with the other processes of the job in memory, where this call may be one of that kind and all of
/// them come there (docs/explanation/groups.md). Nothing where the server has to be asked; `note` says then
/// what it has to know. They block, so not on the loop.
std::optional<HostAnswer> construct_in_memory(Runtime& runtime, const std::string& id,
                                              const ProcListPtr& asked, InfoView directives,
                                              MeetingNote& note);
std::optional<HostAnswer> destruct_in_memory(Runtime& runtime, const std::string& id, InfoView directives,
                                             MeetingNote& note);

}  // namespace muster
