// SPDX-License-Identifier: BSD-3-Clause
// Options of other launchers that muster does not take, each with its replacement.
#include <array>

#include "tools/muster/command_line/option_table.hpp"

namespace muster::launcher {
namespace {

using enum Setting;

constexpr std::string_view kAllocation = "give it to salloc or sbatch, and muster inside the allocation";
constexpr std::string_view kDvm = "start the servers with 'muster serve', and jobs there with --attach";
constexpr std::string_view kDebugger =
    "the debugger's tool gives PMIX_DEBUG_STOP_IN_INIT or its like with its spawn";

constexpr auto kForeign = std::to_array<Spelling>({
    // One name, two meanings: muster reads mpirun's.
    {"c", kSlurm, OtherMeaning, "", "", "-c is the number of processes; write --cpus-per-task N"},
    {"N", kSlurm, OtherMeaning, "", "", "-N is the number of processes on each node; write --nodes K"},
    {"H", kSlurm, OtherMeaning, "", "", "-H names nodes; give --hold to sbatch"},
    {"x", kSlurm, OtherMeaning, "", "", "-x passes on a variable; give --exclude to salloc or sbatch"},
    {"s", kSlurm, OtherMeaning, "", "", "-s preloads the program; give --oversubscribe to salloc or sbatch"},
    {"oversubscribe", kSlurm, OtherMeaning, "", "",
     "--oversubscribe allows more processes than slots; give srun's to salloc or sbatch"},
    {"q", kSlurm, OtherMeaning, "", "", "-q is --quiet; give --qos to salloc or sbatch"},
    {"memory-alloc-kinds", kHydra, OtherMeaning, "", "",
     "--memory-alloc-kinds sets Open MPI's parameter; set MPICH's by -x"},
    {"output", kSlurm, OtherMeaning, "", "", "--output takes words; write --output file=NAME"},

    // Options about a launcher's daemons on other machines.
    {"prefix", kOpenMpi | kPrrte, Remote, "DIR", "", "Folder of the launcher on other machines"},
    {"noprefix", kOpenMpi | kPrrte, Remote, "", "", ""},
    {"pmix-prefix", kPrrte, Remote, "DIR", "", ""},
    {"launch-agent", kOpenMpi | kPrrte, Remote, "COMMAND", "", "The command that starts daemons"},
    {"max-vm-size", kOpenMpi | kPrrte, Remote, "N", "", "How many daemons there are"},
    {"leave-session-attached", kOpenMpi | kPrrte, Remote, "", "", "Output of the daemons"},
    {"debug-daemons debug-daemons-file", kOpenMpi | kPrrte, Remote, "", "", ""},
    {"set-sid", kPrrte, Remote, "", "", "The session of the daemons"},
    {"uniform-nodes", kOpenMpi5 | kPrrte, Remote, "", "", "All machines are alike"},
    {"hetero-nodes", kOpenMpi5, Remote, "", "", "The machines differ"},
    {"novm", kOpenMpi4, Remote, "", "", "Daemons on nodes that have processes only"},
    {"do-not-resolve fwd-mpirun-port use-regexp enable-instant-on-support", kOpenMpi4, Remote, "", "",
     "How daemons connect"},
    {"no-aggregate-help", kOpenMpi5 | kPrrte, Remote, "", "", "Messages of several daemons"},
    {"show-progress", kOpenMpi | kPrrte, Remote, "", "", "How many daemons have started"},
    {"parsable parseable", kOpenMpi5 | kPrrte | kSlurm, Remote, "", "",
     "The form of the launcher's own output"},
    {"launcher-exec bootstrap-exec", kHydra, Remote, "COMMAND", "", "The command that starts proxies"},
    {"rmk", kHydra, Remote, "NAME", "", "How an allocation is found"},
    {"iface", kHydra, Remote, "NAME", "", "The network interface of proxies"},
    {"enable-x disable-x enable-hostname-propagation disable-hostname-propagation", kHydra, Remote, "", "",
     "How proxies are started"},
    {"hybrid-hosts", kHydra, Remote, "", "", "Machines without shared paths"},
    {"localhost", kHydra, Remote, "NAME", "", "The name of this machine"},
    {"order-nodes", kHydra, Remote, "ORDER", "", "The order of machines"},
    {"topolib demux", kHydra, Remote, "NAME", "", "How the launcher is made"},

    // Refused.
    {"p", kOpenMpi5 | kPrrte | kSlurm, Refused, "WHAT", "",
     "leave it out; give Slurm's --partition to salloc"},
    {"d", kOpenMpi4 | kSlurm, Refused, "WHAT", "",
     "set --pmixmca ptl_base_verbose 5; give Slurm's --dependency to sbatch"},
    {"app", kOpenMpi | kPrrte, Refused, "FILE", "", "separate the programs by ':' on the command line"},
    {"configfile", kHydra, Refused, "FILE", "", "separate the programs by ':' on the command line"},
    {"file", kOpenMpi5, Refused, "FILE", "", "separate the programs by ':' on the command line"},
    {"multi-prog", kSlurm, Refused, "", "", "separate the programs by ':' on the command line"},
    {"rf rankfile", kMpirun, Refused, "FILE", "", "order the nodes by --host, and the ranks by --rank-by"},
    {"rankmap", kHydra, Refused, "MAP", "", "order the nodes by --host, and the ranks by --rank-by"},
    {"m distribution", kSlurm, Refused, "TYPE", "", "write --map-by and --rank-by"},
    {"cpu-bind cpu_bind", kSlurm, Refused, "TYPE", "",
     "write --bind-to, and --report-bindings for 'verbose'"},
    {"hint", kSlurm, Refused, "TYPE", "", "write --use-hwthread-cpus or --bind-to"},
    {"mem-bind", kSlurm, Refused, "TYPE", "", "start the program by 'numactl --membind=NODES'"},
    {"membind", kHydra, Refused, "TYPE", "", "start the program by 'numactl --membind=NODES'"},
    {"default-hostfile", kMpirun, Refused, "FILE", "", "write --hostfile"},
    {"display-topo", kMpirun, Refused, "", "", "write --display topology"},
    {"display-diffable-map", kOpenMpi4, Refused, "", "", "write --display map-detailed"},
    {"output-proctable", kMpirun, Refused, "", "", "'muster ps' and the tool pps show the processes"},
    {"am amca tune", kOpenMpi | kPrrte, Refused, "FILE", "",
     "give each parameter by --mca NAME VALUE, or set it in the environment"},
    {"cf cartofile", kOpenMpi4, Refused, "FILE", "", "leave it out: hwloc describes the machine"},
    {"with-ft", kOpenMpi5, Refused, "KIND", "", "write --enable-recovery --omca mpi_ft_enable 1"},
    {"gpu-support", kPrrte | kOpenMpi5, Refused, "BOOL", "",
     "give the parameter of the program's MPI by --omca or -x"},
    {"fwd-environment", kOpenMpi5 | kPrrte, Refused, "", "", "leave it out: the environment is passed on"},
    {"export", kSlurm, Refused, "NAMES", "", "write -genvlist NAMES, -genvnone or -x NAME=VALUE"},
    {"soft", kOpenMpi5, Refused, "", "", "give the number of processes by -n"},
    {"arch", kOpenMpi5, Refused, "NAME", "", "name the nodes by --host"},
    {"path", kOpenMpi | kPrrte, Refused, "DIRS", "", "write the program with its folder, or set PATH"},
    {"app-pmix-prefix", kPrrte | kOpenMpi5, Refused, "DIR", "", "set LD_LIBRARY_PATH by -x"},
    {"no-app-prefix", kPrrte | kOpenMpi5, Refused, "", "", "leave it out: no prefix is given"},
    {"tmpdir", kOpenMpi5 | kPrrte, Refused, "DIR", "", "set TMPDIR"},
    {"xterm", kOpenMpi | kPrrte, Refused, "RANKS", "", "start 'xterm -e PROGRAM' as a program of its own"},
    {"pty", kSlurm, Refused, "", "", "start 'script -qc PROGRAM /dev/null'"},
    {"debug tv", kMpirun, Refused, "", "", "start the debugger with muster as its program"},
    {"debugger", kOpenMpi4, Refused, "NAMES", "", "start the debugger with muster as its program"},
    {"debug-devel", kOpenMpi4, Refused, "", "", "set --pmixmca ptl_base_verbose 5 and its like"},
    {"stop-on-exec stop-in-init stop-in-app", kOpenMpi5 | kPrrte, Refused, "", "", kDebugger},
    {"forward-signals", kOpenMpi5 | kPrrte, Refused, "SIGNALS", "",
     "leave it out: SIGTSTP, SIGCONT, SIGUSR1 and SIGUSR2 are forwarded"},
    {"report-pid", kOpenMpi | kPrrte, Refused, "FILE", "", "the shell's $! is the process ID of muster"},
    {"report-events", kOpenMpi4, Refused, "URI", "",
     "the tool connects with muster and registers for events"},
    {"keepalive", kPrrte, Refused, "FD", "", "set PMIX_KEEPALIVE_PIPE"},
    {"xml-file", kOpenMpi4, Refused, "FILE", "", "write --output xml > FILE"},
    {"dvm hnp ompi-server", kOpenMpi | kPrrte, Refused, "WHERE", "", kDvm},
    {"dvm-uri namespace pid num-connect-retries wait-to-connect singleton", kPrrte, Refused, "WHERE", "",
     kDvm},
    {"do-not-connect system-server system-server-first system-server-only no-ready-msg daemonize", kPrrte,
     Refused, "", "", kDvm},
    {"activate alloc-id alloc-refid session-id", kPrrte, Refused, "WHAT", "",
     "ask for nodes by --scheduler, or start muster in the allocation"},
    {"outfile-pattern outfile", kHydra, Refused, "PATTERN", "", "write --output file=NAME,nocopy"},
    {"errfile-pattern errfile", kHydra, Refused, "PATTERN", "", "write --output file=NAME,nocopy"},
    {"output-from", kHydra, Refused, "RANK", "", "write --output file=NAME,nocopy; each rank has a file"},
    {"prepend-pattern", kHydra, Refused, "PATTERN", "", "write --output tag, rank or timestamp"},
    {"print-all-exitcodes", kHydra, Refused, "", "", "muster names the first process that fails"},
    {"info", kHydra, Refused, "", "", "pmix_info describes the library"},
    {"profile", kHydra | kSlurm, Refused, "", "", "write --report; use srun itself for its plugins"},
    {"nameserver", kHydra, Refused, "HOST", "", kDvm},
    {"usize", kHydra, Refused, "N", "", "give the slots by --host NAME:SLOTS"},
    {"pmi-port", kHydra, Refused, "", "", "start the program under MPICH's mpiexec, or link it with PMIx"},
    {"skip-launch-node", kHydra, Refused, "", "", "write --map-by :NOLOCAL"},
    {"gpus-per-proc gpu-subdevs-per-proc", kHydra, Refused, "N", "",
     "set the variable of the GPU's library by -x"},

    {"i input", kSlurm, Refused, "FILE", "", "write --stdin RANK < FILE"},
    {"o", kSlurm, Refused, "FILE", "", "write > FILE, or --output file=NAME"},
    {"e error", kSlurm, Refused, "FILE", "", "write 2> FILE, or --output file=NAME"},
    {"t time", kSlurm, Refused, "TIME", "", "write --timeout SECONDS"},
    {"time-min W wait", kSlurm, Refused, "TIME", "", "write --timeout SECONDS"},
    {"mpi", kSlurm, Refused, "TYPE", "", "leave it out: it is pmix"},
    {"bcast", kSlurm, Refused, "FILE", "", "write --preload-binary"},
    {"bcast-exclude compress send-libs", kSlurm, Refused, "WHAT", "", "write --preload-files"},
    {"k no-kill", kSlurm, Refused, "", "", "write --enable-recovery"},
    {"wait-for-children", kSlurm, Refused, "", "", "leave it out: muster ends the processes' descendants"},
    {"quit-on-interrupt", kSlurm, Refused, "", "", "leave it out: the first ^C ends the job"},
    {"prolog epilog task-prolog task-epilog", kSlurm, Refused, "PROGRAM", "",
     "start a script that runs it and the program"},
    {"T threads", kSlurm, Refused, "N", "",
     "leave it out: muster starts the processes of a machine by itself"},
    {"E preserve-env usage async", kSlurm, Refused, "", "", "leave it out"},
    {"r relative", kSlurm, Refused, "N", "", "name the nodes by --host"},
    {"het-group pack-group", kSlurm, Refused, "N", "", "use srun itself for jobs of several components"},
    {"slurmd-debug", kSlurm, Refused, "LEVEL", "", "use srun itself"},
    {"container container-id container-type", kSlurm, Refused, "WHAT", "",
     "start the program by the container's own command"},
    {"tres-bind gpu-bind accel-bind", kSlurm, Refused, "WHAT", "", "set SLURM_TRES_BIND or SLURM_GPU_BIND"},
    {"test-only", kSlurm, Refused, "", "", "write --do-not-launch --display map"},
    {"x11", kSlurm, Refused, "", "", "start 'ssh -X NODE PROGRAM', or use srun itself"},
    {"propagate ignore-signals oom-kill-step network msg-timeout debugger-test interactive open-mode "
     "autocomplete external-launcher treewidth mem-update uid gid context",
     kSlurm, Refused, "WHAT", "", "use srun itself"},
    {"A account acctg-freq bb bbf b begin comment cpu-freq dependency deadline delay-boot gres gres-flags "
     "hold I immediate jobid J job-name L licenses M clusters mail-type mail-user mcs-label nice partition "
     "power priority qos reboot S core-spec signal spread-job spread-segments switches thread-spec "
     "use-min-nodes wckey cluster-constraint contiguous C constraint mem mincpus reservation tmp exclude Z "
     "no-allocate exact exclusive mem-per-cpu resv-ports sockets-per-node cores-per-socket "
     "threads-per-core B extra-node-info G gpus gpu-freq cpus-per-gpu gpus-per-node gpus-per-socket "
     "gpus-per-task mem-per-gpu tres-per-task overlap ntasks-per-gpu ntasks-per-tres cluster prefer whole "
     "extra "
     "segment consolidate-segments stepmgr resources",
     kSlurm, Refused, "WHAT", "", kAllocation},
});

}  // namespace

std::span<const Spelling> foreign_options() {
    return kForeign;
}

}  // namespace muster::launcher
