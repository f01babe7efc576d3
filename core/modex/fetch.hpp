// SPDX-License-Identifier: BSD-3-Clause
// The data of a process that this one does not have: asked of the server, and kept in the store.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

/// Asks the server for `key` of `target` (null: all of it). When `done` gets PMIX_SUCCESS, the store has what
/// the server knows; PMIX_ERR_NOT_FOUND without a server, PMIX_ERR_LOST_CONNECTION where it ends first.
/// `refresh`: the store's own copy of the value may be stale. It is removed once the server has answered,
/// even if the answer is that there is no such value. On the loop; `done` runs there, once.
void fetch(Exchange& exchange, const pmix_proc_t& target, const char* key, InfoView info,
           Upstream::OnStatus done, bool refresh = false);

/// Has this process drop its copies of values whose owners have deleted them, as the server says.
void follow_deletions(Exchange& exchange, Upstream& upstream);

}  // namespace muster
