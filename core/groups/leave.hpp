// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Group_leave: one process leaves a group, and all others are notified. On the loop.
#pragma once

#include <string>

#include "core/exchange/exchange.hpp"
#include "core/exchange/request.hpp"

namespace muster {

class Events;
class GroupServer;
class Invitations;

/// `done` gets PMIX_SUCCESS once the event is on its way (not when the others have it); PMIX_ERR_NOT_FOUND
/// where this process knows no such group or is not in it; PMIX_ERR_INVALID_OPERATION while the group is
/// being made.
void leave_group(Exchange& exchange, Events& events, const Invitations& invitations, const std::string& id,
                 HostDone done);

/// The same as a connected process asks for it.
void leave_group(GroupServer& server, const Request& request);

/// Removes a finalized process of this node from its groups, and notifies the others
/// (docs/decisions/0040).
void leave_groups(GroupServer& server, const pmix_proc_t& proc);
/// The same of one group that was complete only then.
void leave_finalized(GroupServer& server, const std::string& id, const pmix_proc_t& proc);

}  // namespace muster
