// SPDX-License-Identifier: BSD-3-Clause
// Fence: see fence.hpp.
#include "core/collective/fence.hpp"

#include "core/server/server.hpp"

namespace muster {

void FenceOperation::all_local_in(const std::shared_ptr<Collective>& collective) {
    if (collective->all_local()) {
        // What the participants committed is in the store of this server, the only one there is.
        server_.collectives().finish(collective, {});
        return;
    }
    const bool collect = collective->any_true(PMIX_COLLECT_DATA);
    Bytes data;
    if (collect) {
        std::vector<pmix_proc_t> local;
        for (const Arrival& arrival : collective->arrivals())
            local.push_back(arrival.proc);
        data = server_.modex().contribution(local);
    }
    Info info;
    if (info.add_copies(collective->directives()) != PMIX_SUCCESS) info.clear();
    if (!info.view().has(PMIX_LOCAL_COLLECTIVE_STATUS)) {
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(collective->local_status()));
    }
    server_.host().fence(
        collective->participants(), std::move(info), std::move(data),
        [this, collective, collect](HostAnswer answer) {
            Outcome outcome;
            outcome.status = answer.status;
            if (answer.status == PMIX_SUCCESS && collect) {
                outcome.status = server_.modex().accept_contributions(answer.data.view());
                if (outcome.status != PMIX_SUCCESS) {
                    MUSTER_LOG(server_.log(), Error,
                               "the data of a fence over %zu entries, first %s, cannot be read (%zu "
                               "bytes); do all servers of the job run this library?",
                               collective->participants().size(),
                               proc_text(collective->participants().front()).c_str(), answer.data.size());
                }
            }
            server_.collectives().finish(collective, outcome);
        });
}

bool FenceOperation::tolerates_departure(const Collective&, const pmix_proc_t&) {
    return false;
}

}  // namespace muster
