// SPDX-License-Identifier: BSD-3-Clause
// The command line of muster, understood as mpirun's and prun's is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/command_line/arguments.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// The launcher that starts the processes.
enum class Handler : unsigned char {
    Automatic,  ///< muster, unless the allocation or the hosts are of several machines
    Muster,
    Srun,
    Prterun
};

struct Options {
    Job job;
    double timeout = 0;  ///< seconds; 0: none
    unsigned nodes = 0;  ///< 0: not given
    bool report = false;
    bool serve = false;          ///< no program: servers for tools and their jobs
    bool quiet = false;          ///< no warnings
    bool oversubscribe = false;  ///< explicitly allowed, which is the default here
    Handler handler = Handler::Automatic;
    std::string attach;      ///< the server that runs the job, a process ID or URI; empty: this muster
    std::string scheduler;   ///< URI of the server that decides about resources; empty: none
    std::string report_uri;  ///< file for the URI of the server, "-" for standard output; empty: none
    /// Environment variables that carry parameters (PMIX_MCA_..., OMPI_MCA_...), for servers; the
    /// programs have them, too.
    std::vector<std::pair<std::string, std::string>> parameters;
    /// Messages about accepted options without effect here.
    std::vector<std::string> warnings;
    /// Options, as written, that concern other machines only.
    std::vector<std::string> without_effect;
    /// By program: the options as they were given.
    std::vector<std::vector<Given>> given;
    /// By program: the only variables that it inherits, where they are named.
    std::vector<std::optional<std::vector<std::string>>> kept;

    /// The nodes of a run on this machine.
    unsigned node_count() const { return nodes == 0 ? 1 : nodes; }
    /// The names of the library's parameters among them, a comma list.
    std::string parameter_names() const;
    /// Has the programs unset the variables of this environment that they are not to inherit.
    void forget_variables();
};

/// A parsed command line: options, or a text to print, on standard error if the status is not 0.
struct CommandLine {
    std::optional<Options> options;
    int status = 0;
    std::string text;
};

/// Reads the arguments (without the program's own name). Never throws; reads the environment for `-x NAME`.
CommandLine read_command_line(const std::vector<std::string>& arguments);

/// The text of --help.
std::string help_text();

}  // namespace muster::launcher
