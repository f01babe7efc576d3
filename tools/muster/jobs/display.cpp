// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of a job.
#include "tools/muster/jobs/display.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/muster/jobs/job_data.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

std::string plural(size_t count, const std::string& one, const std::string& many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string binding_of(const Place& place) {
    return place.cpus.empty() ? "not bound" : fmt::format("processors {}", cpu_text(place.cpus));
}

std::string map_text(const Job& job) {
    std::string text = fmt::format("Map of job {}: {} on {}, mapped by {}, ranked by {}, bound to {}\n",
                                   job.nspace, plural(job.size(), "process", "processes"),
                                   plural(job.used_nodes().size(), "node", "nodes"), job.map_by,
                                   job.ranked_by(), job.bind_to);
    for (const uint32_t node : job.used_nodes()) {
        const std::vector<uint32_t> ranks = job.ranks_on(node);
        text += fmt::format("  {}: {} {}\n", job.nodes[node], ranks.size() == 1 ? "rank" : "ranks",
                            cpu_text(std::vector<unsigned>(ranks.begin(), ranks.end())));
        for (size_t i = 0; job.display.detailed && i < ranks.size(); ++i) {
            const Place& place = job.places[ranks[i]];
            const App& app = job.apps[place.app];
            text += fmt::format("    rank {}: program {} ({}), local rank {}, node rank {}, {}\n", ranks[i],
                                place.app, app.argv[0], place.local_rank, place.node_rank, binding_of(place));
        }
    }
    return text;
}

std::string allocation_text(const Job& job) {
    std::string text =
        fmt::format("Allocation of job {}: {}\n", job.nspace, plural(job.nodes.size(), "node", "nodes"));
    for (size_t node = 0; node < job.nodes.size() && node < job.slots.size(); ++node) {
        const auto [all, busy] = job.slots[node];
        text += fmt::format("  {}: {}, {} in use by other jobs\n", job.nodes[node],
                            plural(all, "slot", "slots"), busy);
    }
    return text;
}

std::string bindings_text(const Job& job) {
    std::string text = fmt::format("Bindings of job {}\n", job.nspace);
    for (uint32_t rank = 0; rank < job.size(); ++rank) {
        const Place& place = job.places[rank];
        text += fmt::format("  rank {} on {}: {}\n", rank, job.nodes[place.node], binding_of(place));
    }
    return text;
}

std::string level_counts(const Job& job) {
    static constexpr std::array<std::pair<Level, std::string_view>, 4> kLevels = {
        {{Level::Package, "packages"},
         {Level::Numa, "NUMA nodes"},
         {Level::Core, "cores"},
         {Level::Hwthread, "hwthreads"}}};
    std::string counts;
    try {
        const Topology machine(read_cpu_list(job.cpu_list));
        for (const auto& [level, name] : kLevels)
            counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", machine.count(level), name);
    } catch (const JobError& error) {
        return error.what();
    }
    return counts;
}

/// The processors of one machine, which all nodes are.
std::string topology_text(const Job& job) {
    const std::string counts = level_counts(job);
    std::string text = fmt::format("Topology of the nodes of job {}\n", job.nspace);
    const std::vector<std::string> hosts = split(job.display.topology, ',');
    for (const std::string& node : job.nodes) {
        if (job.display.topology == "all" || std::ranges::find(hosts, node) != hosts.end())
            text += fmt::format("  {}: {}\n", node, counts);
    }
    return text;
}

}  // namespace

std::string display_text(const Job& job) {
    const DisplayWishes& wishes = job.display;
    std::string text;
    if (wishes.allocation) text += allocation_text(job);
    if (!wishes.topology.empty()) text += topology_text(job);
    if (wishes.map || wishes.detailed) text += map_text(job);
    if (wishes.bindings) text += bindings_text(job);
    return text;
}

}  // namespace muster::launcher
