// SPDX-License-Identifier: BSD-3-Clause
// Spawn in the launcher.
#include "tools/muster/services/spawner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/services/timeout_report.hpp"

namespace muster::launcher {
/// The node of each daemon: a given number on each node, or for each process, of their target. Nothing if
/// only a number of daemons was requested.
std::vector<uint32_t> Spawner::daemon_nodes(const App& app, const Job* target) const {
    const DaemonPolicy& policy = app.daemons;
    if (app.ranks > 0 && policy.per_node == 0 && policy.per_proc == 0) return {};
    if (target == nullptr) throw JobError("debugger daemons for a job that there is not (PMIX_DEBUG_TARGET)");
    const auto meant = [&](uint32_t rank) {
        return !policy.target || policy.target->rank >= target->size() || policy.target->rank == rank;
    };
    std::vector<uint32_t> daemons;
    std::set<uint32_t> nodes;
    for (uint32_t rank = 0; rank < target->size(); ++rank) {
        if (!meant(rank)) continue;
        nodes.insert(target->places[rank].node);
        daemons.insert(daemons.end(), policy.per_proc, target->places[rank].node);
    }
    if (policy.per_proc > 0) {
        std::ranges::sort(daemons);
        return daemons;
    }
    for (const uint32_t node : nodes)
        daemons.insert(daemons.end(), std::max(policy.per_node, 1U), node);
    return daemons;
}

/// Some of the programs as a placed job. `started`: the first job of the spawn, the default target of
/// daemons.
Job Spawner::part_of(const Job& request, const std::vector<App>& programs, const Job* started) {
    Job job = request;
    job.apps = programs;
    if (job.debugger()) {
        job.input.target = InputPolicy::Target::None;
        job.no_oversubscribe = false;
        // Their end does not end their target, and their failure does not count.
        job.wishes.separate = job.wishes.report_separately = true;
        for (App& app : job.apps) {
            DaemonPolicy& policy = app.daemons;
            if (!policy.target && started != nullptr) policy.target = {started->nspace, PMIX_RANK_WILDCARD};
            const Job* target = started;
            if (policy.target && (target == nullptr || policy.target->nspace != target->nspace)) {
                const JobRecord* record = hub_.jobs.find(policy.target->nspace);
                target = record != nullptr ? &record->job : nullptr;
            }
            app.node_of = daemon_nodes(app, target);
            if (!app.node_of.empty()) app.ranks = static_cast<uint32_t>(app.node_of.size());
        }
    }
    lay_out(job, hub_.next_nspace(), hub_.nodes, hub_.jobs.busy());
    return job;
}

/// One of the jobs of a spawn: lays it out and has it launched.
void Spawner::start(const std::shared_ptr<Spawn>& spawn, size_t part) {
    const JobRecord* started = hub_.jobs.find(spawn->nspace);
    Job job;
    try {
        job = part_of(spawn->job, spawn->parts[part], started != nullptr ? &started->job : nullptr);
    } catch (const JobError& error) {
        return refuse(spawn, error.code, error.what());
    } catch (const std::exception& error) {
        return refuse(spawn, PMIX_ERR_JOB_FAILED_TO_MAP, error.what());
    }
    const uint32_t number = hub_.jobs.next_number();
    // The spawner gets the name of the application; it must query that of the debugger.
    if (spawn->nspace.empty()) spawn->nspace = job.nspace;
    spawn->numbers.push_back(number);
    hub_.launch(std::move(job), [this, spawn, part](JobRecord& launched, int32_t status, const std::string&) {
        spawn_limits_.erase(launched.job.number);
        if (status == PMIX_SUCCESS && part + 1 < spawn->parts.size()) return start(spawn, part + 1);
        if (status != PMIX_SUCCESS) std::erase(spawn->numbers, launched.job.number);
        finish(spawn, status);
    });
    if (!spawn->allocation.empty()) hub_.allocations.use(number, spawn->allocation);
    auto end_later = [this, number](uint32_t seconds) {
        return hub_.loop.after(std::chrono::seconds(seconds), [this, number] {
            if (JobRecord* late = hub_.jobs.find(number)) end_late(*late);
        });
    };
    if (spawn->job.spawn_seconds > 0) spawn_limits_[number] = end_later(spawn->job.spawn_seconds);
    if (spawn->job.job_seconds > 0) limits_[number] = end_later(spawn->job.job_seconds);
}

/// The job's time is over.
void Spawner::end_late(JobRecord& record) {
    if (record.ended()) return;
    report_timeout(hub_, {&record}, record.job.on_timeout,
                   [this, &record] { hub_.end_job(record, PMIX_ERR_TIMEOUT, false); });
}

/// The spawner gets a status, so the sentence is for the user of muster.
void Spawner::refuse(const std::shared_ptr<Spawn>& spawn, int32_t status, const std::string& why) {
    hub_.show(true, fmt::format("muster: a spawn is refused: {}\n", why));
    finish(spawn, status);
}

void Spawner::finish(const std::shared_ptr<Spawn>& spawn, int32_t status) {
    hub_.answer(spawn->asker, status, pack(status == PMIX_SUCCESS ? spawn->nspace : std::string()));
    if (status == PMIX_SUCCESS) return;
    release(spawn->allocation);
    // Started jobs of a failed spawn have no use, or would wait for a debugger that does not come.
    for (const uint32_t number : spawn->numbers) {
        JobRecord* record = hub_.jobs.find(number);
        if (record != nullptr && !record->ended()) hub_.end_job(*record, PMIX_ERR_JOB_CANCELED, false);
    }
}

void Spawner::asked(Asker asker, Buffer& in) {
    auto spawn = std::make_shared<Spawn>();
    spawn->asker = asker;
    Job& request = spawn->job;
    if (!in.unpack(request) || !request.consistent()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    // The directory of the spawner is the default.
    const ProcName name = request.parent.value_or(ProcName());
    if (const JobRecord* parent = hub_.jobs.find(name.nspace)) {
        const bool known = name.rank < parent->job.size();
        const App& app = parent->job.apps[known ? parent->job.places[name.rank].app : 0];
        for (App& spec : request.apps) {
            if (spec.wdir.empty()) spec.wdir = app.wdir;
            if (spec.wdir[0] != '/') spec.wdir = app.wdir + "/" + spec.wdir;
            spec.env.insert(spec.env.begin(), app.env.begin(), app.env.end());
        }
    }
    for (const App& spec : request.apps) {
        if (collides_with_jobs(spec.pset, hub_.next_nspace())) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
        if (hub_.jobs.has_set(spec.pset)) return hub_.answer(asker, PMIX_ERR_EXISTS);
    }
    if (request.allocation.empty() || !hub_.has_scheduler) {
        if (request.needs_allocation) return hub_.answer(asker, PMIX_ERR_NOT_SUPPORTED);
        return begin(spawn);
    }
    waiting_.insert(spawn);
    const UnpackedInfo attributes(request.allocation);
    spawn->request = &hub_.allocations.request(Infos(attributes).text(PMIX_ALLOC_REQ_ID));
    hub_.ask(0, Topic::Spawn, pack(Request::Allocate, request.allocation),
             [this, spawn](pmix_status_t status, Buffer& answer) { allocated(spawn, status, answer); });
}

void Spawner::told(uint32_t, Buffer& in) {
    ProcName tool;
    if (!in.unpack(tool)) return;
    const auto ends = [&](const Job& job) {
        return job.wishes.ends_with_tool && job.wishes.requestor == tool;
    };
    for (const std::shared_ptr<Spawn>& spawn : waiting_)
        spawn->abandoned |= ends(spawn->job);
    for (const auto& [number, record] : hub_.jobs.all()) {
        if (!record->ended() && ends(record->job)) hub_.end_job(*record, PMIX_ERR_JOB_CANCELED, false);
    }
}

/// The scheduler's answer.
void Spawner::allocated(const std::shared_ptr<Spawn>& spawn, int32_t status, Buffer& in) {
    std::string names;
    waiting_.erase(spawn);
    if (status == PMIX_SUCCESS && !in.unpack(spawn->allocation, names)) status = PMIX_ERROR;
    Allocation& request = *std::exchange(spawn->request, nullptr);
    if (status == PMIX_SUCCESS) {
        hub_.allocations.grant(request, spawn->allocation, names);
    } else {
        hub_.allocations.refuse(request);
    }
    if (status == PMIX_SUCCESS && spawn->abandoned) status = PMIX_ERR_JOB_CANCELED;
    if (status != PMIX_SUCCESS) return finish(spawn, status);
    std::istringstream list(names);
    std::vector<std::string> nodes;
    for (std::string name; std::getline(list, name, ',');)
        nodes.push_back(name);
    for (App& app : spawn->job.apps) {
        if (nodes.empty()) break;
        if (app.hosts.empty() && app.hostfile.empty()) app.hosts = nodes;
        for (const std::string& host : app.hosts) {
            const std::string name = host.substr(0, host.find(':'));
            if (std::ranges::find(nodes, name) == nodes.end())
                return finish(spawn, PMIX_ERR_JOB_FAILED_TO_MAP);
        }
    }
    begin(spawn);
}

/// Gives the allocation back when no job has it any more.
void Spawner::release(const std::string& allocation) {
    if (!hub_.allocations.release(allocation)) return;
    hub_.ask(0, Topic::Spawn, pack(Request::Release, allocation), [](pmix_status_t, Buffer&) {});
}

void Spawner::begin(const std::shared_ptr<Spawn>& spawn) {
    std::vector<App> application, daemons;
    std::vector<std::vector<App>>& parts = spawn->parts;
    for (const App& app : spawn->job.apps) {
        if (app.daemons.daemon) {
            daemons.push_back(app);
        } else if (app.disconnected) {
            parts.push_back({app});
        } else {
            application.push_back(app);
        }
    }
    if (!application.empty()) parts.insert(parts.begin(), application);
    if (!daemons.empty()) parts.push_back(daemons);
    start(spawn, 0);
}

void Spawner::job_ended(JobRecord& job) {
    limits_.erase(job.job.number);
    spawn_limits_.erase(job.job.number);
    release(hub_.allocations.leave(job.job.number));
}

}  // namespace muster::launcher
