// SPDX-License-Identifier: BSD-3-Clause
// Questions about a job.
#include "tools/muster/jobs/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace muster::launcher {
std::optional<ProcName> Job::target() const {
    for (const App& app : apps) {
        if (debugger() && app.daemons.target) return app.daemons.target;
    }
    return std::nullopt;
}

std::string Job::ranked_by() const {
    if (!rank_by.empty()) return rank_by;
    return map_by.starts_with("node") ? "node" : "slot";
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

}  // namespace muster::launcher
