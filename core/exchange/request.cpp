// SPDX-License-Identifier: BSD-3-Clause
// Requests that name groups: see request.hpp.
#include "core/exchange/request.hpp"

#include "core/exchange/group_table.hpp"

namespace muster {
namespace {

pmix_status_t too_many_members(const Log& log, const Peer& peer, const char* parameter) {
    MUSTER_LOG(log, Error,
               "the members of the groups that a request of %s names would take too much memory: it is "
               "refused (%s)",
               peer.text().c_str(), parameter);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

}  // namespace

bool Request::expand(const GroupTable& groups, const Log& log, std::vector<pmix_proc_t>& procs) const {
    const size_t most = peer->max_decoded / sizeof(pmix_proc_t);
    pmix_status_t status = PMIX_SUCCESS;
    if (!groups.all().empty() && groups.expanded_size(procs) > most) {
        status = too_many_members(log, *peer, "server_base_max_decoded");
    } else if (!groups.expand(procs)) {
        status = PMIX_ERR_BAD_PARAM;
    }
    if (status != PMIX_SUCCESS) {
        peer->reply_status(tag, status);
        return false;
    }
    keeps(procs.size());
    return true;
}

pmix_status_t Request::expand_infos(const Log& log, size_t room,
                                    const std::function<pmix_status_t(size_t& room)>& expand) const {
    const pmix_status_t status = expand(room);
    if (status != PMIX_ERR_OUT_OF_RESOURCE) return status;
    return too_many_members(log, *peer, "server_base_max_request_memory");
}

std::function<void(pmix_status_t)> answer_later(const Request& request) {
    return [ref = request.asker(), tag = request.tag](pmix_status_t status) {
        if (const PeerPtr peer = ref.lock()) peer->reply_status(tag, status);
    };
}

}  // namespace muster
