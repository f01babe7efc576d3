// SPDX-License-Identifier: BSD-3-Clause
// Limits the memory of the groups that a server keeps for a job, so that other jobs have space
// (construct.hpp).
#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_server.hpp"

namespace muster {

std::string GroupConstruct::payer(const pmix_proc_t& maker) const {
    const Namespace* nspace = server_.namespaces().find(maker.nspace);
    if (nspace != nullptr && !nspace->synthetic) return nspace->name;
    // Tools choose their own names.
    if (const auto user = server_.namespaces().owner_of(maker)) return "user " + std::to_string(*user);
    return "other nodes";
}

bool GroupConstruct::has_room(const pmix_proc_t& maker, const std::string& id, size_t members) {
    const size_t limit = server_.runtime().parameters().size("server_base_max_group_memory");
    const GroupTable& groups = server_.groups();
    const std::string who = payer(maker);
    const size_t taken = groups.memory(who), wanted = GroupTable::memory_of(id, members);
    if (taken <= limit && wanted <= limit - taken) {
        if (!refused_.empty() && taken <= limit / 2) refused_.erase(who);
        return true;
    }
    // Entries of ended jobs are removed.
    if (!refused_.contains(who))
        std::erase_if(refused_, [&](const std::string& one) { return groups.memory(one) == 0; });
    if (refused_.insert(who).second) {
        MUSTER_LOG(server_.log(), Error,
                   "the groups that %s has made take %zu bytes: more are refused, as %s of %zu members "
                   "(server_base_max_group_memory)",
                   who.c_str(), taken, id.c_str(), members);
    }
    return false;
}

}  // namespace muster
