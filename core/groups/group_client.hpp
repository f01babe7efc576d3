// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups, as a client asks its server for them. On the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/service/exchange.hpp"

namespace muster {

/// A list of processes that nobody changes: copies of it would be long.
using SharedProcs = std::shared_ptr<const std::vector<pmix_proc_t>>;

/// PMIx_Group_construct. None `asked` for: the caller is added by the leaders of a bootstrap. The answer's
/// infos are the results: PMIX_GROUP_ID, PMIX_GROUP_MEMBERSHIP and, where one was assigned,
/// PMIX_GROUP_CONTEXT_ID; none after a failure.
void group_construct(Runtime& runtime, const std::string& id, SharedProcs asked, Info info, HostDone done);

/// From now on the server hears what the handlers of this process decide about a construction in which a
/// participant has failed. Before the client connects.
void watch_constructions(Runtime& runtime);

/// PMIx_Group_destruct.
void group_destruct(Runtime& runtime, const std::string& id, Info info, HostDone done);

}  // namespace muster
