// SPDX-License-Identifier: BSD-3-Clause
// Laying out a job: sizes of its programs, a node for each rank, processors for each rank.
#include "tools/muster/jobs/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "tools/muster/jobs/topology.hpp"

namespace muster::launcher {
namespace {

/// Node of each rank. By slot: even blocks, as if each node had just enough slots. By node, or by the parts
/// of one: in turn. ppr: as many as said on each.
uint32_t node_of(uint32_t rank, uint32_t size, uint32_t nodes, const MapPolicy& map, uint32_t per_node) {
    if (per_node > 0) return rank / per_node;
    if (map.level == Level::Node) return rank % nodes;
    return static_cast<uint32_t>(uint64_t{rank} * nodes / size);
}

/// The choices of all programs as one of the job's ranks: a program that says "all" means its own.
RankChoice join(const Options& options, const Job& job, RankChoice StopPoints::*point) {
    RankChoice joined;
    joined.all = std::all_of(options.apps.begin(), options.apps.end(),
                             [&](const AppSpec& spec) { return (spec.stops.*point).all; });
    for (size_t a = 0; a < job.apps.size() && !joined.all; ++a) {
        const RankChoice& own = options.apps[a].stops.*point;
        const App& app = job.apps[a];
        for (uint32_t rank = app.first_rank; own.all && rank < app.first_rank + app.ranks; ++rank)
            joined.ranks.push_back(rank);
        for (const uint32_t rank : own.ranks) {
            if (rank < job.size() && !joined.means(rank)) joined.ranks.push_back(rank);
        }
    }
    return joined;
}

StopPoints stops_of(const Options& options, const Job& job) {
    return {join(options, job, &StopPoints::on_exec), join(options, job, &StopPoints::in_init),
            join(options, job, &StopPoints::in_app)};
}

std::string absolute(const std::string& wdir) {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (wdir.empty()) {
        // The shell's idea of where we are, unless it is stale: it keeps the names of symbolic links.
        const char* shown = getenv("PWD");
        if (shown != nullptr && shown[0] == '/' && std::filesystem::equivalent(shown, here, error))
            return shown;
        return here.string();
    }
    return std::filesystem::path(wdir).is_absolute() ? wdir : (here / wdir).string();
}

}  // namespace

std::vector<uint32_t> Job::ranks_on(uint32_t node) const {
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < size(); ++rank) {
        if (places[rank].node == node) ranks.push_back(rank);
    }
    return ranks;
}

std::vector<uint32_t> Job::used_nodes() const {
    std::vector<bool> used(nodes.size(), false);
    for (const Place& place : places)
        used[place.node] = true;
    std::vector<uint32_t> numbers;
    for (uint32_t node = 0; node < nodes.size(); ++node) {
        if (used[node]) numbers.push_back(node);
    }
    return numbers;
}

bool Job::consistent() const {
    return std::all_of(places.begin(), places.end(), [&](const Place& place) {
        return place.app < apps.size() && place.node < nodes.size();
    });
}

std::vector<std::string> node_names(unsigned nodes, const std::string& hostname) {
    if (nodes == 1) return {hostname};
    std::vector<std::string> names;
    for (unsigned node = 0; node < nodes; ++node)
        names.push_back(fmt::format("node{}", node));
    return names;
}

bool collides_with_jobs(const std::string& set, const std::string& nspace) {
    const std::string launcher = nspace.substr(0, nspace.rfind('@'));
    return set == launcher || set.starts_with(launcher + "@");
}

Job make_job(const Options& options, const std::string& nspace, const std::vector<std::string>& nodes,
             const std::vector<uint32_t>& usable) {
    Job job;
    job.nspace = nspace;
    job.nodes = nodes;
    job.input = options.input;
    job.merge_output = options.output.merge;
    std::vector<uint32_t> numbers = usable;
    for (uint32_t node = 0; usable.empty() && node < nodes.size(); ++node)
        numbers.push_back(node);
    const auto count = static_cast<uint32_t>(numbers.size());
    job.map_by = options.map.text;
    job.bind_to = options.bind.text;
    // Reading the topology takes milliseconds: only for those who ask.
    std::optional<Topology> topology;
    auto machine = [&]() -> Topology& {
        if (!topology) topology.emplace();
        return *topology;
    };
    uint32_t per_node = 0;
    if (options.map.per_resource > 0)
        per_node = options.map.per_resource * machine().count(options.map.level);

    uint32_t size = 0;
    for (const AppSpec& spec : options.apps) {
        App app;
        app.program = spec.program;
        app.argv = spec.argv;
        app.session_wdir = spec.session_wdir;
        app.index_argv = spec.index_argv;
        app.env = options.parameters;
        app.env.insert(app.env.end(), spec.env.begin(), spec.env.end());
        app.env_changes = spec.env_changes;
        app.wdir = absolute(spec.wdir);
        if (!spec.pset.empty() && collides_with_jobs(spec.pset, nspace)) {
            throw JobError(fmt::format(
                "--pset {}: the names of this launcher's jobs begin so; choose another", spec.pset));
        }
        app.pset = spec.pset;
        app.agents = spec.agents;
        app.first_rank = size;
        if (spec.ranks) {
            app.ranks = *spec.ranks;
        } else if (options.apps.size() > 1) {
            throw JobError(
                fmt::format("with several programs each needs its -n; '{}' has none", spec.argv[0]));
        } else {
            app.ranks = per_node > 0 ? per_node * count : machine().count(Level::Core) * count;
        }
        size += app.ranks;
        job.apps.push_back(std::move(app));
    }
    if (per_node > 0 && size > per_node * count) {
        throw JobError(fmt::format("--map-by {} has room for {} ranks, not for {}", options.map.text,
                                   per_node * count, size));
    }
    if (options.input.target == InputPolicy::Target::One && options.input.rank >= size) {
        throw JobError(fmt::format("--stdin {}: the ranks are 0 to {}", options.input.rank, size - 1));
    }

    // So few ranks stand on the first nodes, not on some in between.
    const uint32_t spread = std::min(count, size);
    std::vector<uint32_t> used(nodes.size(), 0);
    job.places.resize(size);
    for (uint32_t a = 0; a < job.apps.size(); ++a) {
        const App& app = job.apps[a];
        for (uint32_t rank = app.first_rank; rank < app.first_rank + app.ranks; ++rank) {
            Place& place = job.places[rank];
            place.app = a;
            if (!options.apps[a].node_of.empty()) {
                place.node = options.apps[a].node_of[rank - app.first_rank];
            } else if (options.apps[a].nodes.empty()) {
                place.node = numbers[node_of(rank, size, spread, options.map, per_node)];
            } else {
                const std::vector<uint32_t>& own = options.apps[a].nodes;
                const auto most = std::min(static_cast<uint32_t>(own.size()), app.ranks);
                const uint32_t at = node_of(rank - app.first_rank, app.ranks, most, options.map, per_node);
                if (at >= own.size()) throw JobError("the nodes named have too few places for all ranks");
                place.node = own[at];
            }
            place.local_rank = used[place.node]++;
            place.node_rank = place.local_rank;
            if (options.bind.level != Level::None) {
                place.cpus = machine().place(place.local_rank, options.map, options.bind);
            }
        }
    }
    job.stops = stops_of(options, job);
    if (options.no_oversubscribe) {
        const uint32_t cores = machine().count(Level::Core);
        if (*std::max_element(used.begin(), used.end()) > cores)
            throw JobError(fmt::format("there are more ranks than the {} cores of a node", cores));
    }
    return job;
}

}  // namespace muster::launcher
