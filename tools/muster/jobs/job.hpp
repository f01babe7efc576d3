// SPDX-License-Identifier: BSD-3-Clause
// A job: its programs, its ranks, and the node, place and processors of each.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/command_line/options.hpp"
#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// One program of a job; its ranks are `first_rank` and the `ranks` - 1 that follow.
struct App {
    std::string program;  ///< the file to execute; empty: argv[0]
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;  ///< set over the launcher's own
    std::string wdir;                                      ///< absolute
    bool session_wdir = false;                             ///< the session's directory instead
    bool index_argv = false;                               ///< "-<rank>" is appended to argv[0]
    std::vector<EnvChange> env_changes;                    ///< made last, in order
    std::string pset;                                      ///< empty: none
    Agents agents;
    uint32_t first_rank = 0;
    uint32_t ranks = 0;
    static auto fields(auto& self) {
        return std::tie(self.program, self.argv, self.env, self.wdir, self.session_wdir, self.index_argv,
                        self.env_changes, self.pset, self.agents, self.first_rank, self.ranks);
    }
};

/// Where one rank runs.
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
    uint32_t number = 1;
    std::string nspace;
    std::vector<App> apps;
    std::vector<Place> places;       ///< by rank
    std::vector<std::string> nodes;  ///< host names of all nodes that there are, by number
    std::string map_by, bind_to;     ///< as given, for those who ask
    InputPolicy input;
    bool merge_output = false;
    uint32_t offset = 0;             ///< processes of the jobs before this one
    std::optional<ProcName> parent;  ///< who spawned it
    std::string setup;               ///< what the first node's server gathered for all (packed)
    std::string attributes;          ///< more job data (packed pmix_info_t), as the spawner gave it
    StopPoints stops;
    bool debugger = false;           ///< debugger daemons: they do not count among the other processes
    std::optional<ProcName> target;  ///< of debugger daemons

    static auto fields(auto& self) {
        return std::tie(self.number, self.nspace, self.nodes, self.apps, self.places, self.map_by,
                        self.bind_to, self.input, self.merge_output, self.offset, self.parent, self.setup,
                        self.attributes, self.stops, self.debugger, self.target);
    }

    uint32_t size() const { return static_cast<uint32_t>(places.size()); }
    /// Ranks on a node, in order.
    std::vector<uint32_t> ranks_on(uint32_t node) const;
    /// The nodes that have ranks, in order.
    std::vector<uint32_t> used_nodes() const;
    /// False for a job from a peer whose places name programs or nodes that it does not have.
    bool consistent() const;
};

/// What has happened to a process, as its node tells the launcher.
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

/// A job that cannot be laid out as asked for: says why in a sentence.
struct JobError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Names of the nodes that there are: the host's own when there is one, else node0, node1, ...
std::vector<std::string> node_names(unsigned nodes, const std::string& hostname);

/// Whether a process set of this name could be taken for a job of the launcher that has this one
/// (LAUNCHER@NUMBER), now or later.
bool collides_with_jobs(const std::string& set, const std::string& nspace);

/// Lays the programs out over `usable` of the nodes (empty: over all). Throws JobError.
Job make_job(const Options& options, const std::string& nspace, const std::vector<std::string>& nodes,
             const std::vector<uint32_t>& usable = {});

}  // namespace muster::launcher
