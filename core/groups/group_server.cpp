// SPDX-License-Identifier: BSD-3-Clause
// The parts of groups on a server: see group_server.hpp.
#include "core/groups/group_server.hpp"

#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/leave.hpp"

namespace muster {

GroupServer::GroupServer(const Services& services) : services_(services) {
    auto construct = std::make_unique<GroupConstruct>(*this);
    construct_ = construct.get();
    collectives().set_operation(CollectiveKind::GroupConstruct, std::move(construct));
    auto destruct = std::make_unique<GroupDestruct>(*this);
    destruct_ = destruct.get();
    collectives().set_operation(CollectiveKind::GroupDestruct, std::move(destruct));
}

bool GroupServer::is_other_server(const pmix_proc_t& source) {
    return !proc_is(source, runtime().self()) && namespaces().find(source.nspace) == nullptr;
}

void GroupServer::deregistered(const char* nspace) {
    meetings_.deregistered(nspace);
    end_reports_.deregistered(nspace);
    invitation_watch_.deregistered(nspace);
}

void GroupServer::departed(const pmix_proc_t& proc, bool lost) {
    if (!lost) leave_groups(*this, proc);
    invitation_watch_.departed(proc, lost);
    construct_->departed(proc);
    destruct_->departed();
}

}  // namespace muster
