// SPDX-License-Identifier: BSD-3-Clause
// The registration of a job: data that the Standard requires of a host, and further data that Open MPI
// requests.
#include "tools/muster/jobs/job_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <pmix.h>
#include <pmix/muster.h>
#include <pmix_server.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace muster::launcher {
namespace {

/// All jobs of a launcher belong to one session.
constexpr uint32_t kSessionId = 1;

std::string joined(const auto& parts, const char* separator = ",") {
    return fmt::format("{}", fmt::join(parts, separator));
}

/// Names of the nodes that have ranks: a comma list.
std::string used_names(const Job& job) {
    std::vector<std::string> names;
    for (uint32_t n : job.used_nodes())
        names.push_back(job.nodes[n]);
    return joined(names);
}

/// Adds a list in the library's compact form.
void add_map(InfoList& info, const char* key, const std::string& list,
             pmix_status_t (*compact)(const char*, char**)) {
    char* text = nullptr;
    if (compact(list.c_str(), &text) == PMIX_SUCCESS && text != nullptr) {
        info.add(key, text, PMIX_REGEX);
        free(text);
    }
}

/// The processors of a rank that is not bound: those that this process may use.
std::vector<unsigned> own_cpus() {
    std::vector<unsigned> cpus;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

/// Bytes of memory of this machine; 0 if that is not known.
uint64_t physical_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) : 0;
}

/// The processors of a bound rank in the library's own words: cpuset and locality string.
void add_binding(InfoList& info, const std::vector<unsigned>& cpus) {
    if (cpus.empty()) return;
    char source[] = "hwloc";
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    for (unsigned cpu : cpus)
        hwloc_bitmap_set(bitmap, cpu);
    const pmix_cpuset_t set{source, bitmap};
    const auto add = [&](const char* key, pmix_status_t (*generate)(const pmix_cpuset_t*, char**)) {
        char* text = nullptr;
        if (generate(&set, &text) == PMIX_SUCCESS && text != nullptr) info.text(key, text);
        free(text);
    };
    add(PMIX_CPUSET, PMIx_server_generate_cpuset_string);
    add(PMIX_LOCALITY_STRING, PMIx_server_generate_locality_string);
    hwloc_bitmap_free(bitmap);
}

/// Ranks on the packages of this node, by rank; none for a rank that is not bound within one package.
std::map<uint32_t, uint16_t> package_ranks(const Job& job, const std::vector<uint32_t>& local) {
    std::map<uint32_t, uint16_t> ranks;
    if (std::ranges::all_of(local, [&](uint32_t rank) { return job.places[rank].cpus.empty(); }))
        return ranks;
    pmix_topology_t shared{};
    if (PMIx_Load_topology(&shared) != PMIX_SUCCESS) return ranks;
    const std::unique_ptr<char, decltype(&free)> source(shared.source, free);
    auto* const topology = static_cast<hwloc_topology_t>(shared.topology);
    std::map<unsigned, uint16_t> next;  // by package
    for (const uint32_t rank : local) {
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        for (const unsigned cpu : job.places[rank].cpus)
            hwloc_bitmap_set(cpus, cpu);
        const bool bound = hwloc_bitmap_iszero(cpus) == 0;
        hwloc_obj_t package = nullptr;
        while (bound &&
               (package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != nullptr) {
            if (hwloc_bitmap_isincluded(cpus, package->cpuset) == 0) continue;
            ranks[rank] = next[package->logical_index]++;
            break;
        }
        hwloc_bitmap_free(cpus);
    }
    return ranks;
}

/// The names of a node, its own first.
std::string aliases_of(const Job& job, uint32_t node) {
    const std::string& name = job.nodes[node];
    std::vector<std::string> names{name};
    if (const size_t dot = name.find('.'); dot != std::string::npos && dot > 0)
        names.push_back(name.substr(0, dot));
    // Simulated nodes share one machine, which therefore is no name of any.
    if (job.nodes.size() == 1 && name != "localhost") names.emplace_back("localhost");
    return joined(names);
}

/// The slots of a node; 0 if unknown.
uint32_t slots_of(const Job& job, uint32_t node) {
    return node < job.slots.size() ? job.slots[node].first : 0;
}

/// The slots of all nodes, and at least the number of processes that run when the job starts.
uint32_t universe_size(const Job& job) {
    uint32_t slots = 0, running = job.size();
    for (const auto& [all, busy] : job.slots) {
        slots += all;
        running += busy;
    }
    return std::max(slots, running);
}

/// The ranks of one node, as the job's data of that node has them.
void add_local_ranks(InfoList& info, const std::vector<uint32_t>& ranks) {
    info.u32(PMIX_LOCAL_SIZE, static_cast<uint32_t>(ranks.size()));
    info.u32(PMIX_NODE_SIZE, static_cast<uint32_t>(ranks.size()));
    info.text(PMIX_LOCAL_PEERS, joined(ranks));
    if (!ranks.empty()) info.rank(PMIX_LOCALLDR, ranks.front());
}

InfoList node_data(const Job& job, uint32_t node) {
    InfoList info;
    info.text(PMIX_HOSTNAME, job.nodes[node]);
    info.u32(PMIX_NODEID, node);
    const std::vector<uint32_t> ranks = job.ranks_on(node);
    info.text(PMIX_HOSTNAME_ALIASES, aliases_of(job, node));
    add_local_ranks(info, ranks);
    const uint32_t slots = slots_of(job, node);
    if (slots > 0) info.u32(PMIX_MAX_PROCS, slots).u32(PMIX_NUM_SLOTS, slots);
    info.flag(PMIX_NODE_OVERSUBSCRIBED, slots > 0 && ranks.size() > slots);
    return info;
}

/// Data that all jobs of this launcher share.
InfoList session_data(const Job& job, uint32_t node, const std::string& server_nspace) {
    InfoList info;
    info.u32(PMIX_SESSION_ID, kSessionId);
    info.u32(PMIX_UNIV_SIZE, universe_size(job));
    info.u32(PMIX_MAX_PROCS, universe_size(job)).u32(PMIX_NUM_SLOTS, universe_size(job));
    info.text(PMIX_ALLOCATED_NODELIST, joined(job.nodes));
    info.u32(PMIX_NUM_ALLOCATED_NODES, static_cast<uint32_t>(job.nodes.size()));
    info.text(PMIX_CLUSTER_ID, server_nspace)
        .text(PMIX_RM_NAME, "muster")
        .text(PMIX_RM_VERSION, MUSTER_VERSION)
        .text(PMIX_SERVER_HOSTNAME, job.nodes[node]);
    return info;
}

std::string command_line(const Job& job) {
    std::vector<std::string> programs;
    for (const App& app : job.apps)
        programs.push_back(joined(app.argv, " "));
    return joined(programs, " : ");
}

InfoList app_data(const Job& job, uint32_t number) {
    const App& app = job.apps[number];
    InfoList info;
    info.u32(PMIX_APPNUM, number);
    info.u32(PMIX_APP_SIZE, app.ranks);
    info.rank(PMIX_APPLDR, app.first_rank);
    info.text(PMIX_WDIR, app.wdir);
    info.text(PMIX_APP_ARGV, joined(app.argv, " "));
    if (!app.pset.empty()) info.text(PMIX_PSET_NAME, app.pset);
    return info;
}

InfoList proc_data(const Job& job, uint32_t rank, uint32_t own_node, const JobDirs& dirs) {
    const Place& place = job.places[rank];
    InfoList info;
    info.rank(PMIX_RANK, rank);
    info.u32(PMIX_APPNUM, place.app);
    info.rank(PMIX_APP_RANK, rank - job.apps[place.app].first_rank);
    info.rank(PMIX_GLOBAL_RANK, job.offset + rank);
    // PMIX_NODE_RANK counts those of other jobs on the node too, which the server knows.
    info.u16(PMIX_LOCAL_RANK, place.local_rank);
    info.u16(PMIX_NODE_RANK, place.node_rank);
    info.u32(PMIX_NODEID, place.node);
    info.text(PMIX_HOSTNAME, job.nodes[place.node]);
    info.u32(PMIX_REINCARNATION, 0);
    if (const std::string& pset = job.apps[place.app].pset; !pset.empty()) info.text(PMIX_PSET_NAME, pset);
    add_binding(info, place.cpus);
    if (place.node == own_node) info.text(PMIX_PROCDIR, dirs.of_rank(rank));
    return info;
}

/// A choice of ranks in the form that most libraries understand: all of them, one, or else several.
void add_choice(InfoList& info, const char* key, const RankChoice& choice) {
    if (choice.all) {
        info.flag(key, true);
    } else if (choice.ranks.size() == 1) {
        info.rank(key, choice.ranks[0]);
    } else if (!choice.ranks.empty()) {
        info.array(key, choice.ranks.data(), choice.ranks.size(), PMIX_PROC_RANK);
    }
}

void add_debugging(InfoList& info, const Job& job) {
    add_choice(info, PMIX_DEBUG_STOP_IN_INIT, job.stops.in_init);
    add_choice(info, PMIX_DEBUG_STOP_IN_APP, job.stops.in_app);
    if (!job.debugger()) return;
    info.flag(PMIX_DEBUGGER_DAEMONS, true);
    const pmix_status_t release = PMIX_DEBUGGER_RELEASE;
    info.add(MUSTER_DEBUG_RELEASE, &release, PMIX_STATUS);
    if (const std::optional<ProcName> target = job.target()) info.proc(PMIX_DEBUG_TARGET, *target);
}

}  // namespace

void add_maps(InfoList& info, const Job& job) {
    std::vector<std::string> ranks;
    for (uint32_t n : job.used_nodes())
        ranks.push_back(joined(job.ranks_on(n)));
    add_map(info, PMIX_NODE_MAP, used_names(job), PMIx_generate_regex);
    add_map(info, PMIX_PROC_MAP, joined(ranks, ";"), PMIx_generate_ppn);
}

std::string anl_map(const Job& job) {
    struct Block {
        uint32_t node, nodes, ranks;
        bool operator==(const Block&) const = default;
    };
    const std::vector<uint32_t> used = job.used_nodes();
    std::vector<Block> blocks;
    for (uint32_t rank = 0; rank < job.size();) {
        const uint32_t node = job.places[rank].node;
        uint32_t end = rank + 1;
        while (end < job.size() && job.places[end].node == node)
            ++end;
        const auto index = static_cast<uint32_t>(std::ranges::find(used, node) - used.begin());
        const uint32_t ranks = end - rank;
        const bool follows = !blocks.empty() && blocks.back().ranks == ranks &&
                             blocks.back().node + blocks.back().nodes == index;
        if (follows) {
            ++blocks.back().nodes;
        } else {
            blocks.push_back({index, 1, ranks});
        }
        rank = end;
    }
    std::string text = "(vector";
    for (const Block& block : blocks)
        text += fmt::format(",({},{},{})", block.node, block.nodes, block.ranks);
    return text + ")";
}

InfoList job_data(const Job& job, uint32_t node, const JobDirs& dirs, const std::string& server_nspace) {
    const std::vector<uint32_t> nodes = job.used_nodes();
    const std::string names = used_names(job);
    const std::vector<uint32_t> local = job.ranks_on(node);

    InfoList info;
    info.array(PMIX_SESSION_INFO_ARRAY, session_data(job, node, server_nspace));
    info.text(PMIX_SERVER_NSPACE, server_nspace);
    info.rank(PMIX_SERVER_RANK, node);
    info.text(PMIX_NSPACE, job.nspace);
    info.text(PMIX_JOBID, job.nspace);
    info.flag(PMIX_SPAWNED, job.parent.has_value());
    if (job.parent) info.proc(PMIX_PARENT_ID, *job.parent);
    info.u32(PMIX_JOB_SIZE, job.size());
    info.u32(PMIX_MAX_PROCS, job.size());
    info.u32(PMIX_NUM_NODES, static_cast<uint32_t>(nodes.size()));
    info.u32(PMIX_JOB_NUM_APPS, static_cast<uint32_t>(job.apps.size()));
    info.rank(PMIX_NPROC_OFFSET, job.offset);
    info.text(PMIX_NODE_LIST, names);
    info.text(PMIX_ALLOCATED_NODELIST, joined(job.nodes));
    info.text(PMIX_CMD_LINE, command_line(job));
    add_maps(info, job);
    info.text(PMIX_ANL_MAP, anl_map(job));
    info.text(PMIX_MAPBY, job.map_by);
    info.text(PMIX_RANKBY, job.ranked_by());
    if (!job.cpu_list.empty()) info.text(PMIX_CPU_LIST, job.cpu_list);
    info.text(PMIX_BINDTO, job.bind_to);
    info.u32(PMIX_CPUS_PER_PROC, std::max(job.cpus_per_proc, 1U));
    info.text(PMIX_SERVER_HOSTNAME, job.nodes[node]);
    info.u32(PMIX_NUM_ALLOCATED_NODES, static_cast<uint32_t>(job.nodes.size()));
    info.flag(PMIX_HOSTNAME_KEEP_FQDN, true);
    info.u32(PMIX_USERID, geteuid()).u32(PMIX_GRPID, getegid());
    // Data of this node.
    add_local_ranks(info, local);
    const std::string unbound = cpu_text(own_cpus());
    std::vector<std::string> cpusets;
    std::vector<ProcName> procs;
    for (uint32_t rank : local) {
        const std::vector<unsigned>& cpus = job.places[rank].cpus;
        cpusets.push_back(cpus.empty() ? unbound : cpu_text(cpus));
        procs.push_back({job.nspace, rank});
    }
    info.text(PMIX_LOCAL_CPUSETS, fmt::format("{}", fmt::join(cpusets, ":")));
    info.procs(PMIX_LOCAL_PROCS, procs);
    if (const uint64_t memory = physical_memory(); memory != 0) info.u64(PMIX_AVAIL_PHYS_MEMORY, memory);
    info.text(PMIX_TMPDIR, dirs.session);
    info.text(PMIX_NSDIR, dirs.job);
    info.flag(PMIX_TDIR_RMCLEAN, true);

    add_debugging(info, job);
    for (uint32_t n : nodes)
        info.array(PMIX_NODE_INFO_ARRAY, node_data(job, n));
    for (uint32_t a = 0; a < job.apps.size(); ++a)
        info.array(PMIX_APP_INFO_ARRAY, app_data(job, a));
    const std::map<uint32_t, uint16_t> on_packages = package_ranks(job, local);
    for (uint32_t r = 0; r < job.size(); ++r) {
        InfoList proc = proc_data(job, r, node, dirs);
        if (const auto found = on_packages.find(r); found != on_packages.end())
            proc.u16(PMIX_PACKAGE_RANK, found->second);
        info.array(PMIX_PROC_INFO_ARRAY, proc);
    }
    return info;
}

std::string cpu_text(const std::vector<unsigned>& cpus) {
    std::string text;
    for (size_t i = 0; i < cpus.size();) {
        size_t end = i;
        while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1)
            ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
        if (end > i) text += fmt::format("-{}", cpus[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace muster::launcher
