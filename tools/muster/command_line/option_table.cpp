// SPDX-License-Identifier: BSD-3-Clause
// The options that muster takes.
#include "tools/muster/command_line/option_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace muster::launcher {
namespace {

using enum Setting;

constexpr auto kTaken = std::to_array<Spelling>({
    {"n", kMuster | kMpirun | kHydra | kSlurm, Ranks, "N", "",
     "Number of processes of this program (default: one a core)"},
    {"c", kMuster | kMpirun, Ranks, "N", "", ""},
    {"np", kMuster | kMpirun | kHydra, Ranks, "N", "", ""},
    {"ntasks", kSlurm, Ranks, "N", "", ""},

    {"x", kMuster | kMpirun, Env, "NAME[=VALUE]", "",
     "Pass on an environment variable: NAME, NAME=VALUE, or NAME* for all that begin so"},
    {"set-env", kPrrte | kOpenMpi5, Env, "NAME=VALUE", "", ""},
    {"env", kHydra, OwnEnv, "NAME VALUE", "%=%", "Set an environment variable of this program"},
    {"genv", kMuster | kHydra, CommonEnv, "NAME VALUE", "%=%", "(job) Set an environment variable"},
    {"genvlist", kMuster | kHydra, CommonKeepEnv, "NAMES", "",
     "(job) Pass on no other variables of the environment: NAME,..."},
    {"genvnone", kMuster | kHydra, CommonKeepEnv, "", ",", "(job) Pass on no variable of the environment"},
    {"genvall", kMuster | kHydra, Accepted, "", "", "(job) Pass on the environment, which is the default"},
    {"envlist", kHydra, KeepEnv, "NAMES", "", "Pass on no other variables of the environment: NAME,..."},
    {"envnone", kHydra, KeepEnv, "", ",", "Pass on no variable of the environment"},
    {"envall", kHydra, Accepted, "", "", "Pass on the environment, which is the default"},
    {"unset-env", kMuster | kPrrte | kOpenMpi5, UnsetEnv, "NAME", "", "Remove an environment variable"},
    {"append-env", kPrrte | kOpenMpi5, AppendEnv, "NAME[SEPARATOR] VALUE", "%=%",
     "Append a value to an environment variable"},
    {"prepend-env", kPrrte | kOpenMpi5, PrependEnv, "NAME[SEPARATOR] VALUE", "%=%",
     "Put a value in front of an environment variable"},

    {"wdir", kMuster | kMpirun | kHydra, WorkingDirectory, "DIR", "", "Working directory of this program"},
    {"wd", kMuster | kMpirun, WorkingDirectory, "DIR", "", ""},
    {"D chdir", kSlurm, WorkingDirectory, "DIR", "", ""},
    {"set-cwd-to-session-dir", kOpenMpi4 | kPrrte, SessionDirectory, "", "",
     "The session's directory of each process is its working directory"},
    {"pset", kMuster | kOpenMpi5 | kPrrte, ProcessSet, "NAME", "",
     "Name of the process set that this program's processes form"},
    {"H host", kMuster | kMpirun, Hosts, "NODES", "",
     "Nodes for this program, in this order: NAME[:SLOTS],..."},
    {"hosts hostlist machine machines machinelist", kHydra, Hosts, "NODES", "", ""},
    {"w nodelist", kSlurm, Hosts, "NODES", "", ""},
    {"hostfile machinefile", kMuster | kMpirun, Hostfile, "FILE", "",
     "File of nodes for this program, one a line: NAME [slots=SLOTS] [max_slots=MOST]"},
    {"f", kHydra, Hostfile, "FILE", "", ""},
    {"F nodefile", kSlurm, Hostfile, "FILE", "", ""},
    {"add-host", kPrrte, AddedHosts, "NODES", "", "Nodes of the run besides those that --host names"},
    {"add-hostfile", kPrrte, AddedHostfile, "FILE", "", "File of nodes of the run besides those of --host"},
    {"nooversubscribe", kMuster | kMpirun, NoOversubscribe, "", "",
     "(job) Refuse more processes than slots; a node has as many slots as cores, unless given"},
    {"oversubscribe", kMuster | kMpirun, Oversubscribe, "", "",
     "(job) Allow more processes than slots, which is the default"},
    {"O overcommit", kSlurm, Oversubscribe, "", "", ""},

    {"map-by", kMuster | kMpirun | kHydra, MapBy, "WHERE", "",
     "(job) Where ranks go: slot, node, core, package, ..., ppr:N:LEVEL; modifiers: :PE=N gives a rank N "
     "units, :SPAN, :NOLOCAL, :HWTCPUS, :PE-LIST=CPUS, :OVERSUBSCRIBE, :NOOVERSUBSCRIBE"},
    {"mapby", kOpenMpi5 | kPrrte, MapBy, "WHERE", "", ""},
    {"N npernode", kMuster | kMpirun, MapBy, "N", "ppr:%:node",
     "(job) Processes on each node; same as --map-by ppr:N:node"},
    {"ppn", kMuster | kHydra, MapBy, "N", "ppr:%:node", ""},
    {"ntasks-per-node tasks-per-node", kSlurm, MapBy, "N", "ppr:%:node", ""},
    {"pernode", kMpirun, MapBy, "", "ppr:1:node", "(job) Same as --map-by ppr:1:node"},
    {"npersocket", kMpirun, MapBy, "N", "ppr:%:package", "(job) Same as --map-by ppr:N:package"},
    {"ntasks-per-socket", kSlurm, MapBy, "N", "ppr:%:package", ""},
    {"ntasks-per-core", kSlurm, MapBy, "N", "ppr:%:core", "(job) Same as --map-by ppr:N:core"},
    {"ppr", kMpirun, MapBy, "N:LEVEL", "ppr:%", "(job) Same as --map-by ppr:N:LEVEL"},
    {"byslot", kMpirun, MapBy, "", "slot", "(job) Same as --map-by slot"},
    {"bycore", kMpirun, MapBy, "", "core", "(job) Same as --map-by core"},
    {"bynode", kMpirun, MapBy, "", "node", "(job) Same as --map-by node"},
    {"cpus-per-proc cpus-per-rank", kMpirun, MapBy, "N", ":PE=%", "(job) Same as --map-by :PE=N"},
    {"cpus-per-task", kSlurm, MapBy, "N", ":PE=%", ""},
    {"use-hwthread-cpus", kMuster | kMpirun, MapBy, "", ":HWTCPUS",
     "(job) Slots and the units of PE are hardware threads; same as --map-by :HWTCPUS"},
    {"nolocal", kMpirun, MapBy, "", ":NOLOCAL", "(job) No process on the first node"},
    {"rank-by", kMuster | kMpirun, RankBy, "ORDER", "",
     "(job) Order of the ranks: slot, node, fill, span (default: as mapped)"},
    {"rankby", kOpenMpi5 | kPrrte, RankBy, "ORDER", "", ""},
    {"cpu-list cpu-set", kMuster | kMpirun, CpuList, "LIST", "", "(job) Processors to use, as 0,2-3"},
    {"bind-to", kMuster | kMpirun | kHydra, BindTo, "WHAT", "",
     "(job) What a rank is bound to: none, hwthread, core, numa, package, ...; modifiers: "
     ":overload-allowed, :if-supported, :report"},
    {"bindto", kOpenMpi5 | kPrrte, BindTo, "WHAT", "", ""},
    {"bind-to-core", kMpirun, BindTo, "", "core", "(job) Same as --bind-to core"},
    {"bind-to-socket", kOpenMpi4, BindTo, "", "package", "(job) Same as --bind-to package"},
    {"nodes", kMuster | kSlurm, Nodes, "K", "",
     "(job) Spread the job over this many nodes: of the Slurm allocation, else pretended on this machine"},

    {"output", kMuster | kOpenMpi5 | kPrrte, Output, "WORDS", "",
     "(job) tag, rank, timestamp, merge, dir=DIR, file=NAME, nocopy"},
    {"tag-output", kMuster | kMpirun, Output, "", "tag", "(job) Same as --output tag"},
    {"timestamp-output", kMuster | kMpirun, Output, "", "timestamp", "(job) Same as --output timestamp"},
    {"merge-stderr-to-stdout", kMuster | kMpirun, Output, "", "merge", "(job) Same as --output merge"},
    {"output-filename", kMuster | kMpirun, Output, "DIR", "dir=%", "(job) Same as --output dir=DIR"},
    {"output-directory", kOpenMpi5 | kPrrte, Output, "DIR", "dir=%", ""},
    {"l", kMuster | kHydra | kSlurm, Output, "", "rank", "(job) Same as --output rank"},
    {"prepend-rank", kHydra, Output, "", "rank", ""},
    {"label", kSlurm, Output, "", "rank", ""},
    {"xml", kMpirun, Output, "", "xml", "(job) Same as --output xml"},
    {"display", kMuster | kOpenMpi5 | kPrrte, Display, "WORDS", "",
     "(job) Show on standard error: map, map-detailed, allocation, bindings, topology"},
    {"display-map", kMuster | kMpirun, Display, "", "map", "(job) Same as --display map"},
    {"display-devel-map", kMpirun, Display, "", "map-detailed", "(job) Same as --display map-detailed"},
    {"display-allocation", kMuster | kMpirun, Display, "", "allocation",
     "(job) Same as --display allocation"},
    {"display-devel-allocation", kMpirun, Display, "", "allocation", ""},
    {"report-bindings", kMuster | kMpirun, Display, "", "bindings", "(job) Same as --display bindings"},
    {"stdin", kMuster | kMpirun, Input, "WHO", "",
     "(job) Who reads the standard input: a rank (default 0), all, none"},

    {"timeout", kMuster | kMpirun, Timeout, "SECONDS", "", "(job) End the job after this many seconds"},
    {"report-state-on-timeout", kMuster | kMpirun, TimeoutStates, "", "",
     "(job) After --timeout show the states of the processes"},
    {"get-stack-traces", kMuster | kMpirun, TimeoutStacks, "", "",
     "(job) After --timeout show the stacks of the processes"},
    {"spawn-timeout", kOpenMpi5 | kPrrte, SpawnTimeout, "SECONDS", "",
     "(job) End the job if it has not started after this many seconds"},
    {"scheduler", kMuster, Scheduler, "URI", "",
     "(job) Ask the PMIx server at this URI for the resources that spawns want"},
    {"attach", kMuster, Attach, "SERVER", "",
     "(job) Have a muster that runs already start the job: its process ID, or URI"},
    {"report-uri", kMuster | kMpirun, ReportUri, "FILE", "",
     "(job) Write the URI at which tools reach the server into this file; - is standard output"},
    {"launcher", kMuster | kHydra, Launcher, "WHO", "",
     "(job) Who starts the processes: auto (default), muster, srun, prterun"},
    {"bootstrap", kHydra, Launcher, "WHO", "", ""},
    {"enable-recovery", kMuster | kMpirun, Recovery, "", "",
     "(job) Continue when a process fails: the others receive an event"},
    {"disable-auto-cleanup", kHydra, Recovery, "", "", ""},
    {"disable-recovery", kOpenMpi, Accepted, "", "",
     "(job) End the job when a process fails, which is the default"},
    {"enable-auto-cleanup", kHydra, Accepted, "", "", ""},
    {"K kill-on-bad-exit", kSlurm, Accepted, "", "", ""},
    {"continuous", kMuster | kMpirun, Continuous, "", "", "(job) Start processes that fail again"},
    {"do-not-launch", kMuster | kMpirun, DoNotLaunch, "", "",
     "(job) Prepare the job and show what is to be displayed, but start no process"},
    {"max-restarts", kMuster | kMpirun, MaxRestarts, "N", "",
     "Start a process of this program that fails again, at most so often"},
    {"rtos runtime-options", kOpenMpi5 | kPrrte, Runtime, "WORDS", "",
     "(job) recoverable, continuous, max-restarts=N, donotlaunch, error-nonzero-status=false, "
     "report-child-jobs-separately"},
    {"report-child-jobs-separately", kMpirun, ReportChildrenSeparately, "", "",
     "(job) The exit status does not depend on spawned jobs"},
    {"index-argv-by-rank", kOpenMpi4, IndexArgv, "", "", "Append the rank to the program's argv[0]"},
    {"s preload-binary", kMuster | kMpirun, PreloadProgram, "", "",
     "Copy this program into the session's directory and execute the copy"},
    {"preload-files", kMuster | kMpirun, PreloadFiles, "FILES", "",
     "Copy these files into the session's directory of each process: FILE,..."},
    {"report", kMuster, Report, "", "", "(job) Print a table of times at the end"},
    {"pmixmca", kMuster | kOpenMpi5 | kPrrte, PmixParameter, "NAME VALUE", "%=%",
     "(job) Parameter of the PMIx library: NAME VALUE"},
    {"gpmixmca", kMuster | kPrrte, PmixParameter, "NAME VALUE", "%=%", ""},
    {"omca", kMuster | kOpenMpi5, OmpiParameter, "NAME VALUE", "%=%",
     "(job) Parameter of Open MPI: NAME VALUE"},
    {"gomca", kOpenMpi5, OmpiParameter, "NAME VALUE", "%=%", ""},
    {"initial-errhandler", kOpenMpi5, OmpiParameter, "NAME", "mpi_initial_errhandler=%",
     "(job) Same as --omca mpi_initial_errhandler NAME"},
    {"memory-alloc-kinds", kOpenMpi5 | kPrrte, OmpiParameter, "KINDS", "mpi_memory_alloc_kinds=%",
     "(job) Same as --omca mpi_memory_alloc_kinds KINDS"},
    {"display-comm", kOpenMpi5, OmpiParameter, "", "ompi_display_comm=mpi_init",
     "(job) Same as --omca ompi_display_comm mpi_init"},
    {"display-comm-finalize", kOpenMpi5, OmpiParameter, "", "ompi_display_comm=mpi_finalize",
     "(job) Same as --omca ompi_display_comm mpi_finalize"},
    {"stream-buffering", kOpenMpi5, OmpiParameter, "N", "ompi_stream_buffering=%",
     "(job) Same as --omca ompi_stream_buffering N"},
    {"mca gmca", kMuster | kMpirun, AnyParameter, "NAME VALUE", "%=%",
     "(job) Parameter of either, distinguished by name: NAME VALUE"},
    {"prtemca", kMuster | kOpenMpi5 | kPrrte, PrteParameter, "NAME VALUE", "%=%",
     "(job) Parameter of PRRTE, which does nothing on one machine: NAME VALUE"},
    {"allow-run-as-root", kMuster | kMpirun, Accepted, "", "", "Accepted for mpirun's sake; always so"},
    {"personality", kMpirun, Accepted, "NAME", "", "Accepted for mpirun's sake; it makes no difference"},
    {"u unbuffered", kSlurm, Accepted, "", "", "Accepted for srun's sake; always so"},
    {"X disable-status", kSlurm, Accepted, "", "", ""},
    {"q", kMuster | kOpenMpi4, Quiet, "", "", "(job) Say nothing of what does no harm"},
    {"quiet", kMuster | kOpenMpi4 | kSlurm, Quiet, "", "", ""},
    {"Q", kSlurm, Quiet, "", "", ""},
    {"v verbose", kMuster | kMpirun | kHydra | kSlurm, Verbose, "", "",
     "(job) Say what is started where; same as --display allocation,map"},
    {"V version", kMuster | kMpirun | kSlurm, Version, "", "", "Print the version"},
    {"h help", kMuster | kMpirun | kSlurm, Help, "", "", "Print this help; --help options: all options"},
});

}  // namespace

std::span<const Spelling> taken_options() {
    return kTaken;
}

std::vector<const Spelling*> all_options() {
    std::vector<const Spelling*> all;
    for (const std::span<const Spelling> table : {taken_options(), foreign_options()}) {
        for (const Spelling& spelling : table)
            all.push_back(&spelling);
    }
    return all;
}

const Spelling* find_option(std::string_view name) {
    for (const Spelling* spelling : all_options()) {
        if (spelling->setting == OtherMeaning) continue;
        const std::vector<std::string_view> names = words_in(spelling->names);
        if (std::ranges::find(names, name) != names.end()) return spelling;
    }
    return nullptr;
}

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    for (size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string_view::npos;) {
        const size_t end = std::min(text.find(' ', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

std::string dashed(std::string_view name) {
    return (name.size() == 1 ? "-" : "--") + std::string(name);
}

}  // namespace muster::launcher
