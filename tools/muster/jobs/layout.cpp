// SPDX-License-Identifier: BSD-3-Clause
// Laying out a job: sizes of its programs, a node for each rank, processors for each rank.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "tools/muster/jobs/hosts.hpp"
#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// The choices of all programs as one of the job's ranks: "all" of a program means all its ranks.
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

/// The processors that the job uses: its own list, else that of its policy of mapping.
std::string cpus_of(const Job& job, const MapPolicy& map) {
    return job.cpu_list.empty() ? map.cpu_list : job.cpu_list;
}

/// Lays one job out.
class Layout {
  public:
    /// `busy`: processes of other jobs, by node.
    Layout(Job& job, const std::vector<uint32_t>& busy);
    void run();

  private:
    /// The nodes of one program in the order in which they get processes.
    struct Nodes {
        std::vector<NamedNode> list;
        bool named = false;       ///< the user has chosen them
        bool with_slots = false;  ///< the user has set the slots of at least one of them
    };
    /// Reading the topology takes milliseconds: only on request.
    Topology& machine() {
        if (!topology_) topology_.emplace(cpus_);
        return *topology_;
    }
    Nodes nodes_of(const App& app);
    void add_nodes(const App& app, Nodes& nodes);
    uint32_t default_ranks(const Nodes& nodes);
    void note_slots(const NamedNode& node);
    uint32_t slots(uint32_t node);
    uint32_t room(uint32_t node) const;
    uint32_t free_slots(uint32_t node);
    void size_apps();
    std::vector<uint32_t> map(const App& app, const Nodes& nodes);
    std::vector<uint32_t> blocks(const App& app, const Nodes& nodes);
    std::vector<uint32_t> fill(uint32_t ranks, const Nodes& nodes);
    std::vector<uint32_t> in_turn(const App& app, const Nodes& nodes);
    std::vector<uint32_t> span(const App& app, const Nodes& nodes);
    void check_room(const App& app, const Nodes& nodes);
    void check_slots(const App& app, const Nodes& nodes);
    void check_node(uint32_t node);
    std::vector<Place> places(uint32_t number);
    void number_locally();

    Job& job_;
    MapPolicy map_;
    BindPolicy bind_;
    RankPolicy rank_;
    std::vector<unsigned> cpus_;   ///< to be used; none: all
    std::vector<uint32_t> busy_;   ///< by node
    std::vector<uint32_t> used_;   ///< processes of this job so far, by node
    std::vector<uint32_t> slots_;  ///< by node; 0: as many as it has cores
    std::vector<uint32_t> most_;   ///< by node; 0: no bound
    std::vector<Nodes> nodes_;     ///< by program
    uint32_t per_node_ = 0;        ///< set by ppr; 0: not given
    std::optional<Topology> topology_;
};

Layout::Layout(Job& job, const std::vector<uint32_t>& busy)
    : job_(job),
      map_(read_map_policy(job.map_by)),
      bind_(read_bind_policy(job.bind_to)),
      rank_(read_rank_policy(job.rank_by)),
      cpus_(read_cpu_list(job.cpu_list = cpus_of(job, map_))),
      busy_(busy),
      used_(job.nodes.size(), 0),
      slots_(job.nodes.size(), 0),
      most_(job.nodes.size(), 0) {
    busy_.resize(job.nodes.size(), 0);
    if (job.cpus_per_proc > 0) map_.cpus = job.cpus_per_proc;
    job_.no_oversubscribe |= map_.no_oversubscribe && !job.debugger();
    job_.not_on_head |= map_.not_on_head;
    job_.display.bindings |= bind_.report;
    if (map_.hwthreads && map_.cpus > 1 && bind_.level == Level::Core) bind_.level = Level::Hwthread;
    if (map_.per_resource > 0) per_node_ = map_.per_resource * machine().count(map_.level);
    for (const App& app : job_.apps)
        nodes_.push_back(nodes_of(app));
}

Layout::Nodes Layout::nodes_of(const App& app) {
    Nodes nodes{named_nodes(job_.nodes, app.hosts, app.hostfile), true, false};
    add_nodes(app, nodes);
    if (nodes.list.empty()) {
        nodes.named = false;
        for (uint32_t node = 0; node < job_.nodes.size(); ++node)
            nodes.list.push_back({node, 0});
    }
    if (job_.not_on_head) {
        nodes.named = true;
        std::erase_if(nodes.list, [](const NamedNode& node) { return node.node == 0; });
        if (nodes.list.empty()) throw JobError("there is no node but the first");
    }
    for (const NamedNode& node : nodes.list) {
        note_slots(node);
        nodes.with_slots |= slots_[node.node] > 0 || most_[node.node] > 0;
    }
    return nodes;
}

/// No machine can be added to a run, but its nodes may be named so.
void Layout::add_nodes(const App& app, Nodes& nodes) {
    std::vector<NamedNode> more;
    try {
        more = named_nodes(job_.nodes, app.added_hosts, app.added_hostfile);
    } catch (const std::exception& error) {
        throw JobError(fmt::format("no node can be added: {}", error.what()), PMIX_ERR_JOB_ALLOC_FAILED);
    }
    for (const NamedNode& node : more) {
        note_slots(node);
        const bool there = std::ranges::find(nodes.list, node.node, &NamedNode::node) != nodes.list.end();
        if (!nodes.list.empty() && !there) nodes.list.push_back(node);
    }
}

/// The programs of a job share the slots.
void Layout::note_slots(const NamedNode& node) {
    slots_[node.node] = std::max(slots_[node.node], node.slots);
    if (!job_.debugger()) most_[node.node] = std::max(most_[node.node], node.most);
}

uint32_t Layout::slots(uint32_t node) {
    const uint32_t slots = slots_[node] > 0 ? slots_[node] : machine().count(map_.slot_level());
    return most_[node] > 0 ? std::min(slots, most_[node]) : slots;
}

/// The processes that may be added to a node beyond its slots, too.
uint32_t Layout::room(uint32_t node) const {
    if (most_[node] == 0) return UINT32_MAX;
    return most_[node] - std::min(busy_[node] + used_[node], most_[node]);
}

uint32_t Layout::free_slots(uint32_t node) {
    const uint32_t taken = busy_[node] + used_[node];
    return slots(node) - std::min(taken, slots(node));
}

uint32_t Layout::default_ranks(const Nodes& nodes) {
    uint64_t ranks = 0;
    for (const NamedNode& node : nodes.list)
        ranks += per_node_ > 0 ? per_node_ : slots(node.node);
    return static_cast<uint32_t>(std::min<uint64_t>(ranks, UINT32_MAX));
}

void Layout::size_apps() {
    uint32_t size = 0;
    for (size_t a = 0; a < job_.apps.size(); ++a) {
        App& app = job_.apps[a];
        app.wdir = absolute(app.wdir);
        if (!app.pset.empty() && collides_with_jobs(app.pset, job_.nspace)) {
            throw JobError(fmt::format(
                "--pset {}: the names of this launcher's jobs begin so; choose another", app.pset));
        }
        if (app.ranks == 0 && job_.apps.size() > 1) {
            throw JobError(
                fmt::format("with several programs each needs its -n; '{}' has none", app.argv[0]));
        }
        if (app.ranks == 0) app.ranks = default_ranks(nodes_[a]);
        if (app.ranks > kMostRanks || size + app.ranks > kMostRanks)
            throw JobError(fmt::format("a job has at most {} ranks", kMostRanks));
        app.first_rank = size;
        size += app.ranks;
    }
    const auto count = static_cast<uint32_t>(job_.nodes.size());
    if (per_node_ > 0 && size > per_node_ * count) {
        throw JobError(fmt::format("--map-by {} has room for {} ranks, not for {}", job_.map_by,
                                   per_node_ * count, size));
    }
    if (job_.input.target == InputPolicy::Target::One && job_.input.rank >= size)
        throw JobError(fmt::format("--stdin {}: the ranks are 0 to {}", job_.input.rank, size - 1));
    job_.places.assign(size, {});
}

/// The node of each process of a program, in the order of mapping.
std::vector<uint32_t> Layout::map(const App& app, const Nodes& nodes) {
    if (!app.node_of.empty()) return app.node_of;
    check_room(app, nodes);
    if (job_.no_oversubscribe) check_slots(app, nodes);
    if (per_node_ > 0) return blocks(app, nodes);
    if (map_.span && map_.level != Level::Slot && map_.level != Level::Node) return span(app, nodes);
    if (map_.level == Level::Node) return in_turn(app, nodes);
    if (nodes.with_slots) return fill(app.ranks, nodes);
    std::vector<uint32_t> even = blocks(app, nodes);
    if (!job_.no_oversubscribe) return even;
    const bool fits = std::ranges::all_of(nodes.list, [&](const NamedNode& node) {
        return std::ranges::count(even, node.node) <= free_slots(node.node);
    });
    return fits ? even : fill(app.ranks, nodes);
}

/// Even blocks, as if each node had just enough slots; ppr: the given number on each. If no nodes are named,
/// the blocks are those of the whole job.
std::vector<uint32_t> Layout::blocks(const App& app, const Nodes& nodes) {
    const uint32_t first = nodes.named ? 0 : app.first_rank;
    const uint32_t size = nodes.named ? app.ranks : job_.size();
    // A few ranks are placed on the first nodes, not on some in between.
    const auto most = std::min(static_cast<uint32_t>(nodes.list.size()), size);
    std::vector<uint32_t> mapped;
    for (uint32_t rank = first; rank < first + app.ranks; ++rank) {
        const auto at =
            per_node_ > 0 ? rank / per_node_ : static_cast<uint32_t>(uint64_t{rank} * most / size);
        if (at >= nodes.list.size()) throw JobError("the nodes named have too few places for all ranks");
        mapped.push_back(nodes.list[at].node);
    }
    return mapped;
}

/// The free slots of each node in turn of the nodes; processes beyond them evenly over all nodes with free
/// room.
std::vector<uint32_t> Layout::fill(uint32_t ranks, const Nodes& nodes) {
    std::vector<uint32_t> shares;
    for (const NamedNode& node : nodes.list) {
        shares.push_back(std::min(ranks, free_slots(node.node)));
        ranks -= shares.back();
    }
    while (ranks > 0) {  // check_room() was passed
        std::vector<size_t> open;
        for (size_t i = 0; i < shares.size(); ++i) {
            if (shares[i] < room(nodes.list[i].node)) open.push_back(i);
        }
        for (size_t i = 0; i < open.size(); ++i) {
            const auto left = static_cast<uint32_t>(open.size() - i);
            const uint32_t more =
                std::min((ranks + left - 1) / left, room(nodes.list[open[i]].node) - shares[open[i]]);
            shares[open[i]] += more;
            ranks -= more;
        }
    }
    std::vector<uint32_t> mapped;
    for (size_t i = 0; i < shares.size(); ++i)
        mapped.insert(mapped.end(), shares[i], nodes.list[i].node);
    return mapped;
}

/// One process a node in turn. Full nodes are skipped while others have free slots, if slots count.
std::vector<uint32_t> Layout::in_turn(const App& app, const Nodes& nodes) {
    const bool limited = nodes.with_slots || job_.no_oversubscribe;
    std::vector<uint32_t> free, rooms;
    uint64_t all = 0;
    for (const NamedNode& node : nodes.list) {
        free.push_back(limited ? free_slots(node.node) : 0);
        all += free.back();
        rooms.push_back(room(node.node));
    }
    std::vector<uint32_t> mapped;
    // If no nodes are named, the round robin continues over all applications.
    size_t at = nodes.named ? 0 : app.first_rank;
    for (; mapped.size() < app.ranks; ++at) {
        const size_t i = at % nodes.list.size();
        if (rooms[i] == 0 || (all > 0 && free[i] == 0)) continue;
        if (all > 0) --free[i], --all;
        if (rooms[i] != UINT32_MAX) --rooms[i];
        mapped.push_back(nodes.list[i].node);
    }
    return mapped;
}

/// The objects of the first node, those of the second, ... in turn.
std::vector<uint32_t> Layout::span(const App& app, const Nodes& nodes) {
    const uint64_t each = machine().count(map_.level);
    const uint64_t first = nodes.named ? 0 : app.first_rank;
    std::vector<uint32_t> mapped;
    for (uint64_t i = first; i < first + app.ranks; ++i)
        mapped.push_back(nodes.list[i / each % nodes.list.size()].node);
    return mapped;
}

/// Bounds of nodes (max_slots) hold where oversubscription is allowed, too.
void Layout::check_room(const App& app, const Nodes& nodes) {
    uint64_t all = 0;
    std::string list;
    for (const NamedNode& node : nodes.list) {
        all += room(node.node);
        list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", job_.nodes[node.node], most_[node.node]);
    }
    if (app.ranks <= all) return;
    throw JobError(
        fmt::format("'{}' is to have {} processes, but max_slots leaves room for {} on its nodes ({}); "
                    "start fewer, or raise max_slots",
                    app.argv[0], app.ranks, all, list),
        PMIX_ERR_OUT_OF_RESOURCE);
}

void Layout::check_slots(const App& app, const Nodes& nodes) {
    uint64_t all = 0, free = 0;
    std::string list;
    for (const NamedNode& node : nodes.list) {
        all += slots(node.node);
        free += free_slots(node.node);
        list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", job_.nodes[node.node], slots(node.node));
    }
    if (app.ranks <= free) return;
    const std::string taken = free < all ? fmt::format(", {} of them in use", all - free) : std::string();
    throw JobError(
        fmt::format("'{}' is to have {} processes, but its nodes have {} slots ({}){}; start fewer, "
                    "name more slots, or allow oversubscription",
                    app.argv[0], app.ranks, all, list, taken),
        PMIX_ERR_OUT_OF_RESOURCE);
}

/// Checks that each node has space for a fixed number of processes.
void Layout::check_node(uint32_t node) {
    if (room(node) == 0) {
        throw JobError(
            fmt::format("--map-by {} puts more processes on node {} than its max_slots={} leaves room "
                        "for; start fewer, or raise max_slots",
                        job_.map_by, job_.nodes[node], most_[node]),
            PMIX_ERR_OUT_OF_RESOURCE);
    }
    if (!job_.no_oversubscribe || busy_[node] + used_[node] < slots(node)) return;
    throw JobError(
        fmt::format("--map-by {} puts more processes on node {} than its {} free slots; start fewer, name "
                    "more slots, or allow oversubscription",
                    job_.map_by, job_.nodes[node], slots(node) - std::min(busy_[node], slots(node))),
        PMIX_ERR_OUT_OF_RESOURCE);
}

/// The places of a program's processes in the order of their ranks.
std::vector<Place> Layout::places(uint32_t number) {
    struct Mapped {
        Place place;
        std::array<size_t, 3> key;  ///< ranks ascend with it
    };
    const Nodes& nodes = nodes_[number];
    const std::vector<uint32_t> before = used_;
    std::vector<Mapped> mapped;
    std::map<std::pair<uint32_t, unsigned>, size_t> in_domain;
    std::vector<size_t> orders(job_.nodes.size(), 0);  // by node
    for (size_t i = 0; i < nodes.list.size(); ++i)
        orders[nodes.list[i].node] = i;
    for (const uint32_t node : map(job_.apps[number], nodes)) {
        check_node(node);
        const uint32_t index = used_[node]++;
        const bool by_object = rank_ == RankPolicy::Fill || rank_ == RankPolicy::Span;
        const unsigned domain = by_object ? machine().domain(index, map_) : 0;
        const size_t order = orders[node], nth = index - before[node];
        const size_t nth_in_domain = by_object ? in_domain[{node, domain}]++ : 0;
        Mapped& one = mapped.emplace_back();
        one.place.app = number;
        one.place.node = node;
        one.place.cpus = cpus_;
        if (bind_.level != Level::None) one.place.cpus = machine().place(index, map_, bind_);
        const std::array<size_t, 3> keys[] = {
            {0, 0, 0}, {order, 0, 0}, {nth, order, 0}, {order, domain, 0}, {nth_in_domain, order, domain}};
        one.key = keys[static_cast<size_t>(rank_)];
    }
    std::ranges::stable_sort(mapped, {}, &Mapped::key);
    std::vector<Place> places;
    for (Mapped& one : mapped)
        places.push_back(std::move(one.place));
    return places;
}

void Layout::number_locally() {
    std::vector<uint32_t> next(job_.nodes.size(), 0);
    for (Place& place : job_.places)
        place.local_rank = place.node_rank = next[place.node]++;
}

void Layout::run() {
    size_apps();
    if (!cpus_.empty()) machine();  // which checks them
    for (uint32_t node = 0; node < job_.nodes.size(); ++node)
        job_.slots.emplace_back(
            job_.display.allocation || topology_ || most_[node] > 0 ? slots(node) : slots_[node],
            busy_[node]);
    uint32_t rank = 0;
    for (uint32_t a = 0; a < job_.apps.size(); ++a) {
        for (Place& place : places(a))
            job_.places[rank++] = std::move(place);
    }
    number_locally();
    job_.stops = {join(job_, &StopPoints::on_exec), join(job_, &StopPoints::in_init),
                  join(job_, &StopPoints::in_app)};
}

}  // namespace

void lay_out(Job& job, const std::string& nspace, const std::vector<std::string>& nodes,
             const std::vector<uint32_t>& busy) {
    job.nspace = nspace;
    job.nodes = nodes;
    Layout(job, busy).run();
}

}  // namespace muster::launcher
