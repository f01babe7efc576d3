// SPDX-License-Identifier: BSD-3-Clause
// The command line of muster, understood as mpirun's and prun's is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/jobs/debug.hpp"

namespace muster::launcher {

/// Levels of the machine's topology that ranks are mapped by or bound to.
enum class Level { None, Slot, Node, Hwthread, Core, L1, L2, L3, Numa, Package };

struct MapPolicy {
    Level level = Level::Slot;
    unsigned per_resource = 0;  ///< ppr:N:<level>; 0 when not given
    unsigned cpus = 1;          ///< PE=N: units of the binding level a rank gets
    std::string text = "slot";  ///< as given
};

struct BindPolicy {
    Level level = Level::None;
    bool overload = false;  ///< more ranks than units may share them
    std::string text = "none";
};

struct OutputPolicy {
    bool tag = false;   ///< "[job,rank]<stream>: " before each line
    bool rank = false;  ///< "[rank]<stream>: "
    bool timestamp = false;
    bool merge = false;     ///< standard error goes where standard output goes
    bool copy = true;       ///< with files: also to muster's own output
    std::string directory;  ///< <directory>/<job>/rank.<N>/stdout and stderr
    std::string file;       ///< <file>.<rank>.out and .err
    static auto fields(auto& self) {
        return std::tie(self.tag, self.rank, self.timestamp, self.merge, self.copy, self.directory,
                        self.file);
    }
};

/// Which ranks read muster's standard input.
struct InputPolicy {
    enum class Target { None, One, All };
    Target target = Target::One;
    unsigned rank = 0;
    static auto fields(auto& self) { return std::tie(self.target, self.rank); }
};

/// A change of one environment variable that a spawn may ask for.
struct EnvChange {
    /// Add: only where it is not set. First: in front, and nowhere else.
    enum class Kind : unsigned { Set, Add, Unset, Prepend, Append, First };
    Kind kind = Kind::Set;
    std::string name, value;
    char separator = ':';
    static auto fields(auto& self) { return std::tie(self.kind, self.name, self.value, self.separator); }
};

/// One program with its arguments, between two ":".
struct AppSpec {
    std::optional<unsigned> ranks;
    std::string program;  ///< the file to execute; empty: argv[0]
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;
    std::vector<EnvChange> env_changes;
    std::string wdir;
    std::string pset;
    // Only spawns ask for these.
    bool session_wdir = false, index_argv = false;
    std::vector<std::string> hosts;  ///< names of the nodes to use; empty: all
    std::string hostfile;            ///< a file of such names
    std::vector<uint32_t> nodes;     ///< the numbers of these nodes, once they are known
    std::vector<uint32_t> node_of;   ///< of each rank, where that is fixed; empty: as mapped
    StopPoints stops;
    DaemonPolicy daemons;
    Agents agents;
    static auto fields(auto& self) {
        return std::tie(self.ranks, self.program, self.argv, self.env_changes, self.wdir, self.pset,
                        self.session_wdir, self.index_argv, self.hosts, self.hostfile, self.stops,
                        self.daemons, self.agents);
    }
};

struct Options {
    std::vector<AppSpec> apps;
    MapPolicy map;
    BindPolicy bind;
    OutputPolicy output;
    InputPolicy input;
    double timeout = 0;  ///< seconds; 0: none
    unsigned nodes = 1;
    bool report = false;
    bool serve = false;        ///< no program: servers for tools and what they start
    std::string attach;        ///< the server that is to run the job, a process ID or URI; empty: our own
    std::string scheduler;     ///< URI of the server that decides about resources; empty: none is asked
    std::string report_uri;    ///< file for the URI of the server, "-" for standard output; empty: none
    bool recoverable = false;  ///< the job goes on when a process fails
    bool no_oversubscribe = false;  ///< at most one rank a core of a node
    /// Environment variables that carry parameters (PMIX_MCA_..., OMPI_MCA_...), for servers and ranks.
    std::vector<std::pair<std::string, std::string>> parameters;
};

/// The policies as the command line writes them ("core:PE=2", "ppr:2:node", "none"). Throw
/// std::runtime_error with a sentence.
MapPolicy read_map_policy(const std::string& text);
BindPolicy read_bind_policy(const std::string& text);

/// What came of a command line: options; or a text to print, on standard error when the status is not 0.
struct CommandLine {
    std::optional<Options> options;
    int status = 0;
    std::string text;
};

/// Reads the arguments (without the program's own name). Never throws; looks at the environment for `-x
/// NAME`.
CommandLine read_command_line(const std::vector<std::string>& arguments);

}  // namespace muster::launcher
