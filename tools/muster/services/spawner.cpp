// SPDX-License-Identifier: BSD-3-Clause
// Spawn in the launcher.
#include "tools/muster/services/spawner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace muster {
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
    const std::vector<std::string>& names = hub_.nodes();
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

Job Spawner::lay_out(const SpawnRequest& request) {
    Options options;
    options.apps = request.apps;
    options.input = request.input;
    options.output = request.output;
    options.no_oversubscribe = request.no_oversubscribe;
    if (!request.map_by.empty()) options.map = read_map_policy(request.map_by);
    if (request.cpus_per_proc > 0) options.map.cpus = request.cpus_per_proc;
    if (!request.bind_to.empty()) options.bind = read_bind_policy(request.bind_to);
    for (AppSpec& app : options.apps)
        app.nodes = nodes_of(request, app);
    Job job = make_job(options, hub_.next_nspace(), hub_.nodes());
    job.parent = request.parent;
    job.attributes = request.attributes;
    return job;
}

void Spawner::asked(Asker asker, Reader& in) {
    SpawnRequest request;
    if (!read_spawn(in, request)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    Job job;
    try {
        // Where the spawner works, unless it says otherwise.
        if (const JobRecord* parent = hub_.jobs().find(request.parent.nspace)) {
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
            if (collides_with_jobs(spec.pset, hub_.next_nspace()))
                return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
            if (hub_.jobs().has_set(spec.pset)) return hub_.answer(asker, PMIX_ERR_EXISTS);
        }
        job = lay_out(request);
    } catch (const std::exception& error) {
        return hub_.answer(asker, PMIX_ERR_JOB_FAILED_TO_MAP);
    }
    const uint32_t number = hub_.jobs().next_number();
    JobRecord& record = hub_.launch(
        std::move(job), request.output,
        [this, asker](JobRecord& launched, int32_t status, const std::string&) {
            spawn_limits_.erase(launched.job.number);
            hub_.answer(asker, status, status == PMIX_SUCCESS ? launched.job.nspace : std::string());
        });
    record.wishes = request.wishes;
    auto end_later = [this, number](uint32_t seconds, int32_t status) {
        return hub_.loop().after(std::chrono::seconds(seconds), [this, number, status] {
            if (JobRecord* late = hub_.jobs().find(number)) hub_.end_job(*late, status, false);
        });
    };
    if (request.spawn_seconds > 0) spawn_limits_[number] = end_later(request.spawn_seconds, PMIX_ERR_TIMEOUT);
    if (request.job_seconds > 0) limits_[number] = end_later(request.job_seconds, PMIX_ERR_TIMEOUT);
}

void Spawner::job_ended(JobRecord& job) {
    limits_.erase(job.job.number);
    spawn_limits_.erase(job.job.number);
}

}  // namespace muster
