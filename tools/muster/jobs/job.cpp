// SPDX-License-Identifier: BSD-3-Clause
// Laying out a job: sizes of its programs, a node for each rank, processors for each rank.
#include "tools/muster/jobs/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <system_error>

#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

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
RankChoice join(const Job& job, RankChoice StopPoints::*point) {
    RankChoice joined;
    joined.all = std::ranges::all_of(job.apps, [&](const App& app) { return (app.stops.*point).all; });
    for (const App& app : job.apps) {
        if (joined.all) break;
        const RankChoice& own = app.stops.*point;
        for (uint32_t rank = app.first_rank; own.all && rank < app.first_rank + app.ranks; ++rank)
            joined.ranks.push_back(rank);
        for (const uint32_t rank : own.ranks) {
            if (rank < job.size() && !joined.means(rank)) joined.ranks.push_back(rank);
        }
    }
    return joined;
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

/// The nodes that a program may use; empty when it may use all.
std::vector<uint32_t> nodes_of(const Job& job, const App& app) {
    std::vector<std::string> wanted = app.hosts;
    if (!app.hostfile.empty()) {
        const std::vector<std::string> more = read_hostfile(app.hostfile);
        wanted.insert(wanted.end(), more.begin(), more.end());
    }
    const std::vector<std::string>& names = job.nodes;
    std::vector<uint32_t> numbers;
    for (const std::string& text : wanted) {
        const std::string name = text.substr(0, text.find(':'));  // "node:slots"
        auto found = std::ranges::find(names, name);
        if (found == names.end() && names.size() == 1 && name == "localhost") found = names.begin();
        if (found == names.end()) throw JobError(fmt::format("there is no node '{}'", name));
        const auto number = static_cast<uint32_t>(found - names.begin());
        if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
    }
    if (job.not_on_head) {
        for (uint32_t node = 0; wanted.empty() && node < names.size(); ++node)
            numbers.push_back(node);
        std::erase(numbers, 0U);
        if (numbers.empty()) throw JobError("there is no node but the first");
    }
    std::ranges::sort(numbers);
    return numbers;
}

}  // namespace

std::optional<ProcName> Job::target() const {
    for (const App& app : apps) {
        if (debugger() && app.daemons.target) return app.daemons.target;
    }
    return std::nullopt;
}

std::vector<uint32_t> Job::ranks_on(uint32_t node) const {
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < size(); ++rank) {
        if (places[rank].node == node) ranks.push_back(rank);
    }
    return ranks;
}

std::vector<uint32_t> Job::ranks_meant(uint32_t rank) const {
    if (rank != PMIX_RANK_WILDCARD) return std::vector<uint32_t>(rank < size() ? 1 : 0, rank);
    std::vector<uint32_t> all(size());
    std::iota(all.begin(), all.end(), 0);
    return all;
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
    return !apps.empty() && std::ranges::none_of(apps, [](const App& app) { return app.argv.empty(); }) &&
           std::ranges::all_of(places, [&](const Place& place) {
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

void lay_out(Job& job, const std::string& nspace, const std::vector<std::string>& nodes) {
    job.nspace = nspace;
    job.nodes = nodes;
    MapPolicy map = read_map_policy(job.map_by);
    if (job.cpus_per_proc > 0) map.cpus = job.cpus_per_proc;
    const BindPolicy bind = read_bind_policy(job.bind_to);
    const auto count = static_cast<uint32_t>(nodes.size());
    // Reading the topology takes milliseconds: only for those who ask.
    std::optional<Topology> topology;
    auto machine = [&]() -> Topology& {
        if (!topology) topology.emplace();
        return *topology;
    };
    const uint32_t per_node = map.per_resource > 0 ? map.per_resource * machine().count(map.level) : 0;

    uint32_t size = 0;
    for (App& app : job.apps) {
        app.wdir = absolute(app.wdir);
        if (!app.pset.empty() && collides_with_jobs(app.pset, nspace)) {
            throw JobError(fmt::format(
                "--pset {}: the names of this launcher's jobs begin so; choose another", app.pset));
        }
        if (app.ranks == 0 && job.apps.size() > 1) {
            throw JobError(
                fmt::format("with several programs each needs its -n; '{}' has none", app.argv[0]));
        }
        if (app.ranks == 0) app.ranks = (per_node > 0 ? per_node : machine().count(Level::Core)) * count;
        if (app.ranks > kMostRanks || size + app.ranks > kMostRanks)
            throw JobError(fmt::format("a job has at most {} ranks", kMostRanks));
        app.first_rank = size;
        size += app.ranks;
    }
    if (per_node > 0 && size > per_node * count) {
        throw JobError(
            fmt::format("--map-by {} has room for {} ranks, not for {}", job.map_by, per_node * count, size));
    }
    if (job.input.target == InputPolicy::Target::One && job.input.rank >= size) {
        throw JobError(fmt::format("--stdin {}: the ranks are 0 to {}", job.input.rank, size - 1));
    }

    std::vector<uint32_t> used(nodes.size(), 0);
    job.places.assign(size, {});
    for (uint32_t a = 0; a < job.apps.size(); ++a) {
        const App& app = job.apps[a];
        const std::vector<uint32_t> own = nodes_of(job, app);
        for (uint32_t rank = app.first_rank; rank < app.first_rank + app.ranks; ++rank) {
            Place& place = job.places[rank];
            place.app = a;
            if (!app.node_of.empty()) {
                place.node = app.node_of[rank - app.first_rank];
            } else if (own.empty()) {
                // So few ranks stand on the first nodes, not on some in between.
                place.node = node_of(rank, size, std::min(count, size), map, per_node);
            } else {
                const auto most = std::min(static_cast<uint32_t>(own.size()), app.ranks);
                const uint32_t at = node_of(rank - app.first_rank, app.ranks, most, map, per_node);
                if (at >= own.size()) throw JobError("the nodes named have too few places for all ranks");
                place.node = own[at];
            }
            place.local_rank = place.node_rank = used[place.node]++;
            if (bind.level != Level::None) place.cpus = machine().place(place.local_rank, map, bind);
        }
    }
    job.stops = {join(job, &StopPoints::on_exec), join(job, &StopPoints::in_init),
                 join(job, &StopPoints::in_app)};
    if (job.no_oversubscribe) {
        const uint32_t cores = machine().count(Level::Core);
        if (*std::ranges::max_element(used) > cores)
            throw JobError(fmt::format("there are more ranks than the {} cores of a node", cores));
    }
}

}  // namespace muster::launcher
