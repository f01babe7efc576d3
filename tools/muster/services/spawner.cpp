// SPDX-License-Identifier: BSD-3-Clause
// Spawn in the launcher.
#include "tools/muster/services/spawner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace muster::launcher {
namespace {

/// The names in a file of nodes: one a line, whatever follows; '#' begins a comment.
std::vector<std::string> read_hostfile(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw JobError(fmt::format("the file of nodes '{}' cannot be read", path));
    std::vector<std::string> names;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name;
        if (words >> name) names.push_back(name);
    }
    return names;
}

}  // namespace

/// The nodes that a program may use; empty when it may use all.
std::vector<uint32_t> Spawner::nodes_of(const SpawnRequest& request, const AppSpec& app) {
    std::vector<std::string> wanted = app.hosts;
    if (!app.hostfile.empty()) {
        const std::vector<std::string> more = read_hostfile(app.hostfile);
        wanted.insert(wanted.end(), more.begin(), more.end());
    }
    const std::vector<std::string>& names = hub_.nodes;
    std::vector<uint32_t> numbers;
    for (const std::string& text : wanted) {
        const std::string name = text.substr(0, text.find(':'));  // "node:slots"
        auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end() && names.size() == 1 && name == "localhost") found = names.begin();
        if (found == names.end()) throw JobError(fmt::format("there is no node '{}'", name));
        const auto number = static_cast<uint32_t>(found - names.begin());
        if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
    }
    if (request.not_on_head) {
        for (uint32_t node = 0; wanted.empty() && node < names.size(); ++node)
            numbers.push_back(node);
        std::erase(numbers, 0U);
        if (numbers.empty()) throw JobError("there is no node but the first");
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/// The node of each daemon: so many on each node, or for each process, of what they are to debug. Nothing
/// where only a number of daemons was asked for.
std::vector<uint32_t> Spawner::daemon_nodes(const DaemonPolicy& policy, const AppSpec& app,
                                            const Job* target) const {
    if (app.ranks && policy.per_node == 0 && policy.per_proc == 0) return {};
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
        std::sort(daemons.begin(), daemons.end());
        return daemons;
    }
    for (const uint32_t node : nodes)
        daemons.insert(daemons.end(), std::max(policy.per_node, 1U), node);
    return daemons;
}

/// Those of the programs that are debugger daemons, or that are not. `started`: the job that was spawned with
/// them, which is what daemons debug unless they say otherwise.
Job Spawner::lay_out(const SpawnRequest& request, bool daemons, const Job* started) {
    Options options;
    for (const AppSpec& app : request.apps) {
        if (app.daemons.daemon == daemons) options.apps.push_back(app);
    }
    options.input = request.input;
    options.output = request.output;
    options.no_oversubscribe = request.no_oversubscribe;
    if (!request.map_by.empty()) options.map = read_map_policy(request.map_by);
    if (request.cpus_per_proc > 0) options.map.cpus = request.cpus_per_proc;
    if (!request.bind_to.empty()) options.bind = read_bind_policy(request.bind_to);
    std::optional<ProcName> target;
    if (daemons) {
        options.input.target = InputPolicy::Target::None;
        options.no_oversubscribe = false;
        for (AppSpec& app : options.apps) {
            DaemonPolicy& policy = app.daemons;
            if (!policy.target && started != nullptr) policy.target = {started->nspace, PMIX_RANK_WILDCARD};
            const Job* job = started;
            if (policy.target && (job == nullptr || policy.target->nspace != job->nspace)) {
                const JobRecord* record = hub_.jobs.find(policy.target->nspace);
                job = record != nullptr ? &record->job : nullptr;
            }
            app.node_of = daemon_nodes(policy, app, job);
            if (!app.node_of.empty()) app.ranks = static_cast<uint32_t>(app.node_of.size());
            if (!target) target = policy.target;
        }
    }
    for (AppSpec& app : options.apps)
        app.nodes = nodes_of(request, app);
    Job job = make_job(options, hub_.next_nspace(), hub_.nodes);
    job.parent = request.parent;
    job.attributes = request.attributes;
    job.debugger = daemons;
    job.target = target;
    return job;
}

/// One of the jobs of a spawn: lays it out and has it launched.
void Spawner::start(const std::shared_ptr<Spawn>& spawn, bool daemons) {
    const SpawnRequest& request = spawn->request;
    const JobRecord* started = hub_.jobs.find(spawn->nspace);
    Job job;
    try {
        job = lay_out(request, daemons, started != nullptr ? &started->job : nullptr);
    } catch (const std::exception& error) {
        return finish(spawn, PMIX_ERR_JOB_FAILED_TO_MAP);
    }
    const uint32_t number = hub_.jobs.next_number();
    // Who asks gets the name of the application; that of its debugger is to be queried.
    if (spawn->nspace.empty()) spawn->nspace = job.nspace;
    const bool more = !daemons && std::any_of(request.apps.begin(), request.apps.end(),
                                              [](const AppSpec& app) { return app.daemons.daemon; });
    JobRecord& record =
        hub_.launch(std::move(job), request.output,
                    [this, spawn, more](JobRecord& launched, int32_t status, const std::string&) {
                        spawn_limits_.erase(launched.job.number);
                        if (status == PMIX_SUCCESS && more) return start(spawn, true);
                        if (status != PMIX_SUCCESS && launched.job.nspace == spawn->nspace)
                            spawn->nspace.clear();
                        finish(spawn, status);
                    });
    record.wishes = request.wishes;
    if (!spawn->allocation.empty()) allocations_[number] = spawn->allocation;
    if (daemons) {
        // Their end is not that of what they look at, nor counts their failure.
        record.wishes.separate = record.wishes.report_separately = true;
    }
    auto end_later = [this, number](uint32_t seconds, int32_t status) {
        return hub_.loop.after(std::chrono::seconds(seconds), [this, number, status] {
            if (JobRecord* late = hub_.jobs.find(number)) hub_.end_job(*late, status, false);
        });
    };
    if (request.spawn_seconds > 0) spawn_limits_[number] = end_later(request.spawn_seconds, PMIX_ERR_TIMEOUT);
    if (request.job_seconds > 0) limits_[number] = end_later(request.job_seconds, PMIX_ERR_TIMEOUT);
}

void Spawner::finish(const std::shared_ptr<Spawn>& spawn, int32_t status) {
    hub_.answer(spawn->asker, status, pack(status == PMIX_SUCCESS ? spawn->nspace : std::string()));
    if (status == PMIX_SUCCESS) return;
    release(spawn->allocation);
    // The application that was started already would wait for a debugger that does not come.
    JobRecord* record = hub_.jobs.find(spawn->nspace);
    if (record != nullptr && !record->ended()) hub_.end_job(*record, PMIX_ERR_JOB_CANCELED, false);
}

void Spawner::asked(Asker asker, Buffer& in) {
    auto spawn = std::make_shared<Spawn>();
    spawn->asker = asker;
    SpawnRequest& request = spawn->request;
    if (!in.unpack(request)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    // Where the spawner works, unless it says otherwise.
    if (const JobRecord* parent = hub_.jobs.find(request.parent.nspace)) {
        const ProcName& name = request.parent;
        const bool known = name.rank < parent->job.size();
        const App& app = parent->job.apps[known ? parent->job.places[name.rank].app : 0];
        for (AppSpec& spec : request.apps) {
            if (spec.wdir.empty()) spec.wdir = app.wdir;
            if (spec.wdir[0] != '/') spec.wdir = app.wdir + "/" + spec.wdir;
            spec.env.insert(spec.env.begin(), app.env.begin(), app.env.end());
        }
    }
    for (const AppSpec& spec : request.apps) {
        if (collides_with_jobs(spec.pset, hub_.next_nspace())) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
        if (hub_.jobs.has_set(spec.pset)) return hub_.answer(asker, PMIX_ERR_EXISTS);
    }
    if (request.allocation.empty() || !hub_.has_scheduler) {
        if (request.needs_allocation) return hub_.answer(asker, PMIX_ERR_NOT_SUPPORTED);
        return begin(spawn);
    }
    hub_.ask(0, Topic::Spawn, pack(Request::Allocate, request.allocation),
             [this, spawn](pmix_status_t status, Buffer& answer) { allocated(spawn, status, answer); });
}

/// The scheduler's answer.
void Spawner::allocated(const std::shared_ptr<Spawn>& spawn, int32_t status, Buffer& in) {
    std::string names;
    if (status == PMIX_SUCCESS && !in.unpack(spawn->allocation, names)) status = PMIX_ERROR;
    if (status != PMIX_SUCCESS) return finish(spawn, status);
    std::istringstream list(names);
    std::vector<std::string> nodes;
    for (std::string name; std::getline(list, name, ',');)
        nodes.push_back(name);
    for (AppSpec& app : spawn->request.apps) {
        if (nodes.empty()) break;
        if (app.hosts.empty() && app.hostfile.empty()) app.hosts = nodes;
        for (const std::string& host : app.hosts) {
            const std::string name = host.substr(0, host.find(':'));
            if (std::find(nodes.begin(), nodes.end(), name) == nodes.end())
                return finish(spawn, PMIX_ERR_JOB_FAILED_TO_MAP);
        }
    }
    begin(spawn);
}

/// Gives the allocation back when no job has it any more.
void Spawner::release(const std::string& allocation) {
    const bool used = std::any_of(allocations_.begin(), allocations_.end(),
                                  [&](const auto& entry) { return entry.second == allocation; });
    if (allocation.empty() || used) return;
    hub_.ask(0, Topic::Spawn, pack(Request::Release, allocation), [](pmix_status_t, Buffer&) {});
}

void Spawner::begin(const std::shared_ptr<Spawn>& spawn) {
    const SpawnRequest& request = spawn->request;
    const bool daemons_alone = std::all_of(request.apps.begin(), request.apps.end(),
                                           [](const AppSpec& app) { return app.daemons.daemon; });
    start(spawn, daemons_alone);
}

void Spawner::job_ended(JobRecord& job) {
    limits_.erase(job.job.number);
    spawn_limits_.erase(job.job.number);
    const auto found = allocations_.find(job.job.number);
    if (found == allocations_.end()) return;
    const std::string allocation = found->second;
    allocations_.erase(found);
    release(allocation);
}

}  // namespace muster::launcher
