// SPDX-License-Identifier: BSD-3-Clause
// Binding by hwloc.
#include "tools/muster/jobs/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

hwloc_obj_type_t type_of(Level level) {
    switch (level) {
        case Level::Hwthread:
            return HWLOC_OBJ_PU;
        case Level::Core:
            return HWLOC_OBJ_CORE;
        case Level::L1:
            return HWLOC_OBJ_L1CACHE;
        case Level::L2:
            return HWLOC_OBJ_L2CACHE;
        case Level::L3:
            return HWLOC_OBJ_L3CACHE;
        case Level::Numa:
            return HWLOC_OBJ_NUMANODE;
        case Level::Package:
            return HWLOC_OBJ_PACKAGE;
        default:
            return HWLOC_OBJ_MACHINE;
    }
}

std::optional<Level> level_of(const std::string& name) {
    static constexpr std::array<std::pair<std::string_view, Level>, 12> kLevels = {{
        {"none", Level::None},
        {"slot", Level::Slot},
        {"node", Level::Node},
        {"hwthread", Level::Hwthread},
        {"core", Level::Core},
        {"l1cache", Level::L1},
        {"l2cache", Level::L2},
        {"l3cache", Level::L3},
        {"numa", Level::Numa},
        {"package", Level::Package},
        {"socket", Level::Package},
        {"board", Level::Node},
    }};
    for (const auto& [text, level] : kLevels) {
        if (text == name) return level;
    }
    return std::nullopt;
}

constexpr std::string_view kObjects = "hwthread, core, l1cache, l2cache, l3cache, numa, package (or socket)";

void read_map_modifier(const std::string& word, MapPolicy& policy) {
    if (word.starts_with("pe=")) {
        policy.cpus = read_number(std::string_view(word).substr(3), "--map-by :PE", 1, kMostRanks);
    } else if (word.starts_with("pe-list=")) {
        policy.cpu_list = word.substr(8);
        if (read_cpu_list(policy.cpu_list).empty())
            throw std::runtime_error("--map-by :PE-LIST takes processors, as 0,2-3");
    } else if (word == "nooversubscribe") {
        policy.no_oversubscribe = true;
    } else if (word == "span") {
        policy.span = true;
    } else if (word == "nolocal") {
        policy.not_on_head = true;
    } else if (word == "hwtcpus") {
        policy.hwthreads = true;
    } else if (word == "ordered") {
        throw std::runtime_error(
            "--map-by :ORDERED gives each rank one of the processors; write --cpu-list CPUS --bind-to core");
    } else if (word != "oversubscribe" && word != "corecpus" && word != "inherit" && word != "noinherit") {
        // True for every job here; spawned jobs have their own policies.
        throw std::runtime_error(fmt::format(
            "--map-by modifier '{}': valid are PE=N, PE-LIST=CPUS, SPAN, NOLOCAL, HWTCPUS, CORECPUS, "
            "OVERSUBSCRIBE, NOOVERSUBSCRIBE, INHERIT and NOINHERIT",
            word));
    }
}

}  // namespace

MapPolicy read_map_policy(const std::string& given) {
    MapPolicy policy;
    policy.text = given;
    std::vector<std::string> parts = split(lower(given), ':');
    size_t modifiers = 1;
    if (parts[0] == "ppr") {
        if (parts.size() < 3)
            throw std::runtime_error("--map-by ppr is written ppr:N:node (or another level)");
        policy.per_resource = read_number(parts[1], "--map-by ppr", 1, kMostRanks);
        parts[0] = parts[2];
        modifiers = 3;
    }
    if (parts[0].starts_with("pe-list=")) {
        // In PRRTE it is a separate policy.
        read_map_modifier(parts[0], policy);
    } else if (!parts[0].empty()) {
        const std::optional<Level> level = level_of(parts[0]);
        if (!level || *level == Level::None) {
            throw std::runtime_error(
                fmt::format("--map-by '{}': valid are slot, node, {}, and ppr:N:LEVEL", given, kObjects));
        }
        policy.level = *level;
    }
    for (size_t i = modifiers; i < parts.size(); ++i)
        read_map_modifier(parts[i], policy);
    return policy;
}

BindPolicy read_bind_policy(const std::string& given) {
    BindPolicy policy;
    policy.text = given;
    const std::vector<std::string> parts = split(lower(given), ':');
    const std::optional<Level> level = level_of(parts[0]);
    if (!level || *level == Level::Slot || *level == Level::Node) {
        throw std::runtime_error(fmt::format("--bind-to '{}': valid are none, {}", given, kObjects));
    }
    policy.level = *level;
    for (size_t i = 1; i < parts.size(); ++i) {
        if (parts[i] == "overload-allowed" || parts[i] == "overload") {
            policy.overload = true;
        } else if (parts[i] == "report") {
            policy.report = true;
        } else if (parts[i] != "no-overload" && parts[i] != "if-supported") {  // which it is, here
            throw std::runtime_error(fmt::format(
                "--bind-to modifier '{}': valid are overload-allowed, no-overload, if-supported, report",
                parts[i]));
        }
    }
    return policy;
}

RankPolicy read_rank_policy(const std::string& given) {
    static constexpr std::array<std::pair<std::string_view, RankPolicy>, 5> kPolicies = {{
        {"", RankPolicy::Mapped},
        {"slot", RankPolicy::Slot},
        {"node", RankPolicy::Node},
        {"fill", RankPolicy::Fill},
        {"span", RankPolicy::Span},
    }};
    for (const auto& [text, policy] : kPolicies) {
        if (text == lower(given)) return policy;
    }
    throw std::runtime_error(fmt::format("--rank-by '{}': valid are slot, node, fill, span", given));
}

std::vector<unsigned> read_cpu_list(const std::string& given) {
    std::vector<unsigned> cpus;
    if (given.empty()) return cpus;
    constexpr unsigned kMost = 1U << 16;
    for (const std::string& part : split(given, ',')) {
        const size_t dash = part.find('-');
        const std::string first = part.substr(0, dash);
        const unsigned begin = read_number(first, "--cpu-list", 0, kMost);
        const unsigned end = dash == std::string::npos
                                 ? begin
                                 : read_number(part.substr(dash + 1), "--cpu-list", begin, kMost);
        for (unsigned cpu = begin; cpu <= end; ++cpu)
            cpus.push_back(cpu);
    }
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());  // clang 14 has no std::ranges::unique
    return cpus;
}

struct Topology::Impl {
    hwloc_topology_t topology = nullptr;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (topology != nullptr) hwloc_topology_destroy(topology);
    }

    /// Processor sets of all objects of a level within `inside`; the whole machine where the level is not
    /// known here.
    std::vector<hwloc_const_cpuset_t> objects(Level level, hwloc_const_cpuset_t inside) const {
        std::vector<hwloc_const_cpuset_t> found;
        hwloc_obj_t object = nullptr;
        while ((object = hwloc_get_next_obj_by_type(topology, type_of(level), object)) != nullptr) {
            if (hwloc_bitmap_iszero(object->cpuset) == 0 &&
                hwloc_bitmap_isincluded(object->cpuset, inside) != 0) {
                found.push_back(object->cpuset);
            }
        }
        if (found.empty()) {
            // For units larger than the domain, or a level that this machine lacks: the objects that cover
            // the domain.
            object = nullptr;
            while ((object = hwloc_get_next_obj_by_type(topology, type_of(level), object)) != nullptr) {
                if (hwloc_bitmap_isincluded(inside, object->cpuset) != 0) found.push_back(object->cpuset);
            }
        }
        if (found.empty()) found.push_back(inside);
        return found;
    }

    void restrict(const std::vector<unsigned>& cpus) const {
        const hwloc_const_cpuset_t usable = hwloc_topology_get_topology_cpuset(topology);
        const auto wanted = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>(
            hwloc_bitmap_alloc(), hwloc_bitmap_free);
        for (const unsigned cpu : cpus) {
            if (hwloc_bitmap_isset(usable, cpu) == 0)
                throw JobError(fmt::format("--cpu-list: there is no processor {} that muster may use", cpu),
                               PMIX_ERR_BAD_PARAM);
            hwloc_bitmap_set(wanted.get(), cpu);
        }
        if (hwloc_topology_restrict(topology, wanted.get(), 0) != 0)
            throw JobError("--cpu-list: the topology cannot be restricted to these processors");
    }
};

Topology::Topology(const std::vector<unsigned>& cpus) : impl_(std::make_unique<Impl>()) {
    if (hwloc_topology_init(&impl_->topology) != 0) throw JobError("cannot read the machine's topology");
    if (hwloc_topology_load(impl_->topology) != 0) throw JobError("cannot read the machine's topology");
    // Ranks inherit this process's permitted processors, so only these are offered to them.
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(impl_->topology, mine, HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_iszero(mine) == 0) {
        hwloc_topology_restrict(impl_->topology, mine, 0);
    }
    hwloc_bitmap_free(mine);
    if (!cpus.empty()) impl_->restrict(cpus);
}

Topology::~Topology() = default;

unsigned Topology::count(Level level) const {
    return static_cast<unsigned>(
        impl_->objects(level, hwloc_topology_get_topology_cpuset(impl_->topology)).size());
}

unsigned Topology::domain(unsigned index, const MapPolicy& map) const {
    return (map.per_resource > 0 ? index / map.per_resource : index) % count(map.level);
}

std::vector<unsigned> Topology::place(unsigned index, const MapPolicy& map, const BindPolicy& bind) const {
    hwloc_const_cpuset_t machine = hwloc_topology_get_topology_cpuset(impl_->topology);
    const auto domains = impl_->objects(map.level, machine);
    const size_t count = domains.size();
    const size_t in_domain = map.per_resource > 0 ? index % map.per_resource : index / count;
    const auto units = impl_->objects(bind.level, domains[domain(index, map)]);
    const size_t first = in_domain * map.cpus;
    if (first + map.cpus > units.size() && !bind.overload) {
        throw JobError(
            fmt::format("--bind-to {}: there are too few here for all ranks ({} for the {} that are mapped "
                        "to one place); "
                        "start fewer, or say --bind-to {}:overload-allowed",
                        bind.text, units.size(), first + map.cpus, bind.text));
    }
    std::vector<unsigned> cpus;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (size_t i = first; i < first + map.cpus; ++i)
        hwloc_bitmap_or(set, set, units[i % units.size()]);
    for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
        cpus.push_back(static_cast<unsigned>(cpu));
    }
    hwloc_bitmap_free(set);
    return cpus;
}

}  // namespace muster::launcher
