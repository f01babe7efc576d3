// SPDX-License-Identifier: BSD-3-Clause
// Fence: see fence.hpp.
#include "core/rendezvous/fence.hpp"

#include <algorithm>

#include "core/attribute/directives.hpp"
#include "core/exchange/exchange.hpp"
#include "core/modex/modex.hpp"
#include "core/rendezvous/barriers.hpp"

namespace muster {

void FenceOperation::all_local_in(const std::shared_ptr<Collective>& collective) {
    // A host that is asked on one node gives the answer that it gives on several.
    if (collective->all_local() && !collective->needs_host(Function::Fence)) {
        // This server, the only one, has all committed values in its store.
        collectives_.finish(collective, {});
        return;
    }
    // Job info that servers generate for the participants includes the posted values.
    const bool collect =
        collective->any_true(PMIX_COLLECT_DATA) || collective->any_true(PMIX_COLLECT_GENERATED_JOB_INFO);
    // A fence without collection also carries data, which the host need not keep: Slurm 22.05 treats a fence
    // without data as local to each node (docs/decisions).
    std::vector<pmix_proc_t> local;
    if (collect) {
        for (const Arrival& arrival : collective->arrivals())
            local.push_back(arrival.proc);
    }
    Bytes data = modex_.contribution(local, collect, collective->participants());
    Info info;
    pmix_info_directives_t flags = 0;
    for (const pmix_info_t& directive : collective->directives()) {
        if (key_is(directive.key, PMIX_COLLECT_DATA)) {
            flags = directive.flags;
            continue;
        }
        if (const pmix_status_t status = info.add_copy(directive); status != PMIX_SUCCESS) {
            Outcome failed;
            failed.status = status;
            return collectives_.finish(collective, failed);
        }
    }
    info.add(PMIX_COLLECT_DATA, collect);
    info[info.size() - 1].flags = flags;
    if (const pmix_status_t status = collective->add_unmet(Function::Fence, info); status != PMIX_SUCCESS)
        return collectives_.finish(collective, {status, {}});
    mark_processed("fence_nb", info);
    if (!info.view().has(PMIX_LOCAL_COLLECTIVE_STATUS)) {
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(collective->local_status()));
    }
    host_.fence(
        collective->participants(), std::move(info), std::move(data),
        [this, collective, collect](HostAnswer answer) {
            Outcome outcome;
            outcome.status = answer.status;
            if (answer.status == PMIX_SUCCESS && collect) {
                outcome.status = modex_.accept_contributions(answer.data.view(), collective->participants());
                if (outcome.status != PMIX_SUCCESS) {
                    MUSTER_LOG(host_.log(), Error,
                               "the data of a fence over %zu entries, first %s, cannot be read (%zu "
                               "bytes)",
                               collective->participants().size(),
                               proc_text(collective->participants().front()).c_str(), answer.data.size());
                }
            }
            collectives_.finish(collective, outcome);
        });
}

void FenceOperation::joined(const Collective& collective) {
    barriers_.joined(collective);
}

void FenceOperation::ended(const Collective& collective, const Outcome& outcome) {
    barriers_.ended(collective, outcome);
}

// A fence of other processes of the caller's job: it waits for none of them, and none of them waits for it.
// Programs rely on that (docs/decisions/0027). Other names may be a mistake: of a former group, of a set.
pmix_status_t FenceOperation::status_of_stranger(const std::vector<pmix_proc_t>& participants,
                                                 const pmix_proc_t& caller) const {
    const bool all_of_job = std::ranges::all_of(participants, [&](const pmix_proc_t& other) {
        return nspace_view(other.nspace) == nspace_view(caller.nspace);
    });
    return all_of_job ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

bool FenceOperation::tolerates_departure(const Collective&, const pmix_proc_t&) {
    return false;
}

void serve_fences(CommandTable& commands, Exchange& exchange, Collectives& collectives, Barriers& barriers) {
    commands.add(Command::Fence, [&exchange, &collectives](const Request& request) {
        std::vector<pmix_proc_t> procs;
        Arrival arrival;
        const auto call = std::make_shared<FenceCall>();
        if (!request.in.procs(procs) || !request.in.infos(arrival.info)) return request.malformed();
        if (request.peer->version.can(Capability::BarrierNote) && !request.in.at_end() &&
            !request.in.boolean(call->maps_barrier))
            return request.malformed();
        if (procs.empty()) procs.push_back(make_proc(request.peer->proc.nspace, PMIX_RANK_WILDCARD));
        if (!request.expand(exchange.groups(), exchange.log(), procs)) return;
        arrival.proc = request.peer->proc;
        arrival.data = call;
        arrival.reply = [answer = answer_later(request)](const Outcome& outcome) { answer(outcome.status); };
        collectives.arrive(CollectiveKind::Fence, "", std::move(procs), std::move(arrival));
    });
    commands.add(
        Command::AllArrived,
        [&barriers](const Request& request) { barriers.all_arrived(request.peer->proc.nspace); },
        AnswerTime::Never);
}

}  // namespace muster
