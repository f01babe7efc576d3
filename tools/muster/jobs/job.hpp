// SPDX-License-Identifier: BSD-3-Clause
// A job, in the one form that it has: the command line and the upcall spawn describe it, lay_out() places its
// ranks, and it travels to the nodes.
#pragma once

#include <pmix_common.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/output_format.hpp"
#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// Some of the ranks of a job.
struct RankChoice {
    bool all = false;
    std::vector<uint32_t> ranks;

    static auto fields(auto& self) { return std::tie(self.all, self.ranks); }
    bool any() const { return all || !ranks.empty(); }
    bool means(uint32_t rank) const { return all || std::ranges::find(ranks, rank) != ranks.end(); }
};

/// The places at which processes wait for a debugger.
struct StopPoints {
    RankChoice on_exec;  ///< before the first instruction, stopped by a signal
    RankChoice in_init;  ///< within PMIx_Init
    RankChoice in_app;   ///< at a place that the program chooses
    static auto fields(auto& self) { return std::tie(self.on_exec, self.in_init, self.in_app); }
    bool any() const { return on_exec.any() || in_init.any() || in_app.any(); }
};

/// That a program is a debugger's daemon, and how many of it there are.
struct DaemonPolicy {
    bool daemon = false;
    uint32_t per_node = 0;           ///< on each node that has a process of the target; 0: not given
    uint32_t per_proc = 0;           ///< for each process of the target; 0: not given
    std::optional<ProcName> target;  ///< the job, or the process
    static auto fields(auto& self) {
        return std::tie(self.daemon, self.per_node, self.per_proc, self.target);
    }
};

/// Commands that are started in place of a program.
struct Agents {
    std::string exec;  ///< gets the program's command line after its own, and executes the program
    std::string fork;  ///< connects as a tool, reads what to start, and starts it
    static auto fields(auto& self) { return std::tie(self.exec, self.fork); }
};

/// The display of a job's output, and its other destinations.
struct OutputPolicy {
    OutputStyle style;            ///< files that it names get the shown output
    uint32_t buffer_size = 0;     ///< number of bytes of a channel that are collected before they are shown
    uint32_t buffer_seconds = 0;  ///< or for so long
    uint32_t cache_size = 0;      ///< of a channel, kept for the tool that will ask for it; 0: no limit
    bool drop_oldest = false;     ///< bytes beyond the cache; otherwise the newest
    static auto fields(auto& self) {
        auto& style = self.style;
        return std::tie(style.tag, style.full_name, style.detailed, style.rank, style.timestamp, style.xml,
                        style.raw, style.merge, style.pattern, style.file_only, style.file, style.directory,
                        self.buffer_size, self.buffer_seconds, self.cache_size, self.drop_oldest);
    }
};

/// Which ranks read muster's standard input.
struct InputPolicy {
    enum class Target : uint32_t { None, One, All };
    Target target = Target::One;
    unsigned rank = 0;
    bool reads(uint32_t one) const { return target == Target::All || (target == Target::One && rank == one); }
    static auto fields(auto& self) { return std::tie(self.target, self.rank); }
};

/// A change of one environment variable.
struct EnvChange {
    /// Add: only where it is not set. First: in front, and nowhere else.
    enum class Kind : unsigned { Set, Add, Unset, Prepend, Append, First };
    Kind kind = Kind::Set;
    std::string name, value;
    char separator = ':';
    static auto fields(auto& self) { return std::tie(self.kind, self.name, self.value, self.separator); }
};

/// Notices about the job, and how it ends.
struct JobWishes {
    bool notify_end = false;       ///< PMIX_EVENT_JOB_END
    bool notify_events = false;    ///< its start, launch and end
    bool notify_procs = false;     ///< the end of each process
    bool notify_failures = false;  ///< the abnormal end of each process
    bool log_end = false;          ///< the same four, written down (PMIx_Log)
    bool log_events = false;
    bool log_procs = false;
    bool log_failures = false;
    bool silent = false;             ///< no event of a normal end
    bool separate = false;           ///< lives on when the job of its parent fails
    bool ends_with_tool = false;     ///< ends when the tool that spawned it has disconnected
    bool report_separately = false;  ///< its failure does not count for muster's exit status
    bool recoverable = false;        ///< lives on when a process fails
    bool continuous = false;         ///< processes that fail are started again
    bool nonzero_is_fine = false;    ///< an exit code other than 0 is no failure
    uint32_t forward = 0;            ///< channels that may be pulled (PMIX_FWD_STDOUT and similar attributes)
    uint32_t held = 0;               ///< those of them that the tool that spawns will pull
    ProcName requestor;              ///< gets the notices
    std::string log;                 ///< packed: where to it is written, and how; empty: standard error
    static auto fields(auto& self) {
        return std::tie(self.notify_end, self.notify_events, self.notify_procs, self.notify_failures,
                        self.log_end, self.log_events, self.log_procs, self.log_failures, self.silent,
                        self.separate, self.ends_with_tool, self.report_separately, self.recoverable,
                        self.continuous, self.nonzero_is_fine, self.forward, self.held, self.requestor,
                        self.log);
    }
};

/// Descriptions of the job that are shown when it is launched.
struct DisplayWishes {
    bool map = false;
    bool detailed = false;  ///< the map, with a line for each process
    bool allocation = false;
    bool bindings = false;
    std::string topology;  ///< of these nodes: a comma list, or "all"; empty: of none
    static auto fields(auto& self) {
        return std::tie(self.map, self.detailed, self.allocation, self.bindings, self.topology);
    }
};

/// Reports that muster writes when the job reaches its time limit.
struct TimeoutWishes {
    bool states = false;  ///< of its processes
    bool stacks = false;
    static auto fields(auto& self) { return std::tie(self.states, self.stacks); }
};

/// A number that the user has not given.
inline constexpr uint32_t kNotSaid = UINT32_MAX;

/// One program of a job; its ranks are `first_rank` and the `ranks` - 1 that follow.
struct App {
    std::string program;  ///< the file to execute; empty: argv[0]
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;  ///< set over the launcher's own
    std::vector<EnvChange> env_changes;                    ///< made last, in order
    std::string wdir;                                      ///< absolute, once it is laid out
    bool session_wdir = false;                             ///< the session's directory instead
    bool index_argv = false;                               ///< "-<rank>" is appended to argv[0]
    std::string pset;                                      ///< empty: none
    std::vector<std::string> hosts;                        ///< the nodes to use, NAME[:SLOTS]; empty: all
    std::string hostfile;                                  ///< a file of such names
    std::vector<std::string> added_hosts;                  ///< nodes to use besides, NAME[:SLOTS]
    std::string added_hostfile;                            ///< a file of such names
    StopPoints stops;
    DaemonPolicy daemons;
    bool disconnected = false;  ///< a separate job, unknown to the others of the request
    Agents agents;
    bool preload_program = false;      ///< copied into the job's directory, and executed there
    std::string preload_files;         ///< a comma list of files to be copied so
    uint32_t max_restarts = kNotSaid;  ///< of one process that fails
    uint32_t ranks = 0;                ///< 0: as many as there are slots, until it is placed
    uint32_t first_rank = 0;
    std::vector<uint32_t> node_of;  ///< of each rank, where the launcher has fixed that; does not travel
    static auto fields(auto& self) {
        return std::tie(self.program, self.argv, self.env, self.env_changes, self.wdir, self.session_wdir,
                        self.index_argv, self.pset, self.hosts, self.hostfile, self.added_hosts,
                        self.added_hostfile, self.preload_program, self.preload_files, self.max_restarts,
                        self.stops, self.daemons, self.disconnected, self.agents, self.ranks,
                        self.first_rank);
    }
};

/// The place of one rank.
struct Place {
    uint32_t app = 0;
    uint32_t node = 0;
    uint32_t local_rank = 0;
    uint32_t node_rank = 0;      ///< among the processes of all jobs on the node
    std::vector<unsigned> cpus;  ///< the system's numbers of the processors it is bound to; empty: not bound
    static auto fields(auto& self) {
        return std::tie(self.app, self.node, self.local_rank, self.node_rank, self.cpus);
    }
};

struct Job {
    // As described.
    std::vector<App> apps;
    std::string map_by = "slot", bind_to = "none";  ///< as --map-by and --bind-to take them
    std::string rank_by;                            ///< as --rank-by takes it; empty: in the order of mapping
    std::string cpu_list;                           ///< the processors to use; empty: all
    uint32_t cpus_per_proc = 0;                     ///< 0: according to map_by
    bool no_oversubscribe = false;                  ///< at most as many ranks as a node has slots
    bool not_on_head = false;                       ///< nothing on the first node
    bool do_not_launch = false;                     ///< prepared, but no process is started
    InputPolicy input;
    OutputPolicy output;
    JobWishes wishes;
    DisplayWishes display;
    TimeoutWishes on_timeout;
    uint32_t spawn_seconds = 0;      ///< to start it; 0: no limit
    uint32_t job_seconds = 0;        ///< to run it; 0: no limit
    std::optional<ProcName> parent;  ///< the process that spawned it
    std::string attributes;          ///< more job data (packed pmix_info_t)
    std::string allocation;          ///< attributes for the scheduler (packed); empty: it is not asked
    bool needs_allocation = false;   ///< does not start without
    // As laid out and launched.
    uint32_t number = 1;
    std::string nspace;
    std::vector<std::string> nodes;  ///< host names of all nodes, by number
    std::vector<Place> places;       ///< by rank
    /// By node: its slots (0: as many as it has cores, until the launch) and the processes of other jobs.
    std::vector<std::pair<uint32_t, uint32_t>> slots;
    StopPoints stops;     ///< of all programs together
    uint32_t offset = 0;  ///< processes of the jobs before this one
    std::string setup;    ///< data that the first node's server gathers for all nodes (packed)

    static auto fields(auto& self) {
        return std::tie(self.apps, self.map_by, self.bind_to, self.rank_by, self.cpu_list, self.cpus_per_proc,
                        self.no_oversubscribe, self.not_on_head, self.do_not_launch, self.input, self.output,
                        self.wishes, self.display, self.on_timeout, self.spawn_seconds, self.job_seconds,
                        self.parent, self.attributes, self.allocation, self.needs_allocation, self.number,
                        self.nspace, self.nodes, self.places, self.slots, self.stops, self.offset,
                        self.setup);
    }

    uint32_t size() const { return static_cast<uint32_t>(places.size()); }
    /// Whether these are debugger daemons, which do not count among the other processes.
    bool debugger() const { return !apps.empty() && apps[0].daemons.daemon; }
    /// The order of ranks, in a word of --rank-by.
    std::string ranked_by() const;
    /// The target job or process of debugger daemons.
    std::optional<ProcName> target() const;
    /// The ranks that the rank of a name means: all for the wildcard, none if there is no such rank.
    std::vector<uint32_t> ranks_meant(uint32_t rank) const;
    /// Ranks on a node, in order.
    std::vector<uint32_t> ranks_on(uint32_t node) const;
    /// The nodes that have ranks, in order.
    std::vector<uint32_t> used_nodes() const;
    /// False for a job from a peer that lacks a program or its words, or whose placement names missing
    /// programs or nodes.
    bool consistent() const;
};

/// A change of a process, reported by its node to the launcher.
struct RankEvent {
    enum class Kind : uint32_t { Started, NotStarted, Connected, Finalized, Aborted, Exited };
    Kind kind{};
    ProcId proc;
    int32_t status = 0;  ///< the process ID, or the status of the abort, of waitpid, or of a shell
    int32_t code = 0;    ///< PMIx's status where it was not started
    std::string text{};  ///< why it was not started, or of the abort
    std::vector<ProcName> targets{};  ///< processes to be ended by the abort; none: the whole job
    static auto fields(auto& self) {
        return std::tie(self.kind, self.proc, self.status, self.code, self.text, self.targets);
    }
};

/// A job that cannot be placed as requested, with the reason as a sentence.
struct JobError : std::runtime_error {
    explicit JobError(const std::string& text, int32_t status = PMIX_ERR_JOB_FAILED_TO_MAP)
        : std::runtime_error(text), code(status) {}
    int32_t code;  ///< as PMIx gives it
};

/// Names of the nodes: the host's own if there is one, otherwise node0, node1, ...
std::vector<std::string> node_names(unsigned nodes, const std::string& hostname);

/// Whether a process set of this name could be taken for a job of the launcher that has this one
/// (LAUNCHER@NUMBER), now or later.
bool collides_with_jobs(const std::string& set, const std::string& nspace);

/// Gives the job its name and its ranks their places on the nodes. `busy`: the processes of other jobs, by
/// node; none if it is shorter. Throws JobError, or std::runtime_error for an invalid policy.
void lay_out(Job& job, const std::string& nspace, const std::vector<std::string>& nodes,
             const std::vector<uint32_t>& busy = {});

/// PMIX_BREAKPOINT of a process that waits before its first instruction.
inline constexpr const char* kExecBreakpoint = "exec";

}  // namespace muster::launcher
