// SPDX-License-Identifier: BSD-3-Clause
// The command line: split at ":", options of each part read by CLI11 up to the program's name.
#include "tools/muster/command_line/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

constexpr unsigned kMostNodes = 1024;

/// What is wrong with the command line, as a sentence.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void output_style(const std::string& given, OutputStyle& style) {
    for (const std::string& part : split(given, ',')) {
        const size_t equals = part.find('=');
        const std::string name = lower(part.substr(0, equals));
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (name == "tag") {
            style.tag = true;
        } else if (name == "rank") {
            style.rank = true;
        } else if (name == "timestamp") {
            style.timestamp = true;
        } else if (name == "merge" || name == "merge-stderr-to-stdout") {
            style.merge = true;
        } else if (name == "copy" || name == "nocopy") {
            style.file_only = name == "nocopy";
        } else if (name == "dir" || name == "directory") {
            style.directory = value;
        } else if (name == "file" || name == "filename") {
            style.file = value;
        } else {
            throw UsageError(fmt::format(
                "--output '{}': valid are tag, rank, timestamp, merge, dir=DIR, file=NAME, nocopy", part));
        }
        if (value.empty() && (name.starts_with("dir") || name.starts_with("file"))) {
            throw UsageError(fmt::format("--output {} needs a name: {}=NAME", name, name));
        }
    }
    if (!style.directory.empty() && !style.file.empty()) {
        throw UsageError("--output takes dir= or file=, not both");
    }
}

InputPolicy input_policy(const std::string& given) {
    InputPolicy policy;
    const std::string text = lower(given);
    if (text == "all") {
        policy.target = InputPolicy::Target::All;
    } else if (text == "none") {
        policy.target = InputPolicy::Target::None;
    } else {
        policy.rank = read_number(text, "--stdin (besides 'all' and 'none')", 0, kMostRanks);
    }
    return policy;
}

/// "-x NAME" passes on what the variable is here, "-x NAME=VALUE" sets it; several may be joined by commas
/// when they are names only.
void add_environment(const std::string& given, std::vector<std::pair<std::string, std::string>>& env) {
    const size_t equals = given.find('=');
    if (equals == 0 || given.empty())
        throw UsageError(fmt::format("-x takes NAME or NAME=VALUE, not '{}'", given));
    if (equals != std::string::npos) {
        env.emplace_back(given.substr(0, equals), given.substr(equals + 1));
        return;
    }
    for (const std::string& name : split(given, ',')) {
        const char* value = getenv(name.c_str());
        if (value == nullptr) throw UsageError(fmt::format("-x {}: this variable is not set here", name));
        env.emplace_back(name, value);
    }
}

/// The environment variable of a parameter given as --mca NAME VALUE: the library's own frameworks are told
/// apart from Open MPI's by name.
std::string mca_variable(const std::string& name) {
    static constexpr std::array<std::string_view, 22> kOurs = {
        "pmix",         "bfrops", "gds",   "pcompress", "pdl",  "pfexec", "pgpu", "pif",
        "pinstalldirs", "plog",   "pmdl",  "pnet",      "preg", "prm",    "psec", "psensor",
        "psquash",      "pstat",  "pstrg", "ptl",       "mca",  "pmixp"};
    const std::string framework = name.substr(0, name.find('_'));
    const bool ours = std::ranges::find(kOurs, framework) != kOurs.end();
    return (ours ? "PMIX_MCA_" : "OMPI_MCA_") + name;
}

/// Whether it is a parameter of mpirun's launcher (PRRTE or ORTE), which muster is not.
bool is_of_prrte(const std::string& name) {
    static constexpr std::array<std::string_view, 18> kFrameworks = {
        "errmgr", "ess", "filem", "grpcomm", "iof",    "odls", "oob",    "orte",  "plm",
        "prte",   "ras", "rmaps", "rml",     "routed", "rtc",  "schizo", "snapc", "state"};
    return std::ranges::find(kFrameworks, name.substr(0, name.find('_'))) != kFrameworks.end();
}

void display(const std::string& given, DisplayWishes& wishes) {
    for (const std::string& word : split(lower(given), ',')) {
        if (word == "map") {
            wishes.map = true;
        } else if (word == "map-detailed" || word == "map-devel") {
            wishes.detailed = true;
        } else if (word == "allocation" || word == "alloc") {
            wishes.allocation = true;
        } else if (word == "bindings" || word == "bind") {
            wishes.bindings = true;
        } else if (word == "topology" || word == "topo") {
            wishes.topology = "all";
        } else {
            throw UsageError(fmt::format(
                "--display '{}': valid are map, map-detailed, allocation, bindings, topology", word));
        }
    }
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Help with a usage line of our own: CLI11 does not know of programs and ":".
struct HelpFormat : CLI::Formatter {
    HelpFormat() { column_width(34); }
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: muster [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM2 [ARGUMENTS]]...\n"
               "       muster serve [OPTIONS]\n"
               "       muster --attach SERVER [OPTIONS] PROGRAM [ARGUMENTS]...\n"
               "       muster ps [SERVER]\n"
               "       muster top [--once] [--json] [-d SECONDS] [SERVER]\n"
               "       muster kill [-s SIGNAL] SERVER [JOB]...\n";
    }
};

/// Everything that one part of the command line may carry, and the parser for it.
struct Part {
    CLI::App parser{"Starts a parallel program: its processes find each other through PMIx.", "muster"};
    std::string ranks, wdir, pset, map, bind, input, output_file, timeout, nodes, report_uri, attach,
        scheduler, hostfile, rank, cpus, max_restarts, preload_files;
    std::vector<std::string> env, outputs, hosts, displays;
    Pairs pmix_parameters, mca_parameters, ompi_parameters;
    bool display_map = false, display_allocation = false, report_bindings = false;
    bool timeout_states = false, timeout_stacks = false;
    bool preload_program = false, continuous = false, do_not_launch = false, no_oversubscribe = false,
         report = false, recovery = false, tag = false, timestamps = false, merge = false, accepted = false,
         version = false;

    Part() {
        parser.formatter(std::make_shared<HelpFormat>());
        parser.footer(
            "Options of one program stand before its name; those marked (job) count for all and are best "
            "given first.\n"
            "The exit status is that of the first process that failed (128 + signal number when a signal "
            "ended it), 127\n"
            "when a program is not found, 126 when it cannot be executed, 124 after --timeout.");
        parser
            .add_option("-n,-c,--n,--np", ranks, "Number of processes of this program (default: one a core)")
            ->type_name("N");
        parser.add_option("-x", env, "Pass on an environment variable: NAME, or NAME=VALUE")
            ->type_name("NAME[=VALUE]")
            ->allow_extra_args(false);
        parser.add_option("--wdir,--wd", wdir, "Working directory of this program")->type_name("DIR");
        parser.add_option("--pset", pset, "Name of the process set that this program's processes form")
            ->type_name("NAME");
        parser.add_option("-H,--host", hosts, "Nodes for this program, in this order: NAME[:SLOTS],...")
            ->type_name("NODES")
            ->allow_extra_args(false);
        parser
            .add_option("--hostfile,--machinefile", hostfile,
                        "File of nodes for this program, one a line: NAME [slots=SLOTS] [max_slots=MOST]")
            ->type_name("FILE");
        parser.add_flag(
            "--nooversubscribe", no_oversubscribe,
            "(job) Refuse more processes than slots; a node has as many slots as cores, unless given");
        parser
            .add_option("--map-by", map,
                        "(job) Where ranks go: slot, node, core, package, ..., ppr:N:LEVEL; :PE=N gives a "
                        "rank N units")
            ->type_name("WHERE");
        parser
            .add_option("--rank-by", rank,
                        "(job) Order of the ranks: slot, node, fill, span (default: as mapped)")
            ->type_name("ORDER");
        parser.add_option("--cpu-list", cpus, "(job) Processors to use, as 0,2-3")->type_name("LIST");
        parser
            .add_option("--bind-to", bind,
                        "(job) What a rank is bound to: none, hwthread, core, numa, package, ...")
            ->type_name("WHAT");
        parser
            .add_option("--nodes", nodes,
                        "(job) Spread the job over this many nodes, all pretended on this machine")
            ->type_name("K");
        parser
            .add_option("--output", outputs, "(job) tag, rank, timestamp, merge, dir=DIR, file=NAME, nocopy")
            ->type_name("WORDS")
            ->allow_extra_args(false);
        parser.add_flag("--tag-output", tag, "(job) Same as --output tag");
        parser.add_flag("--timestamp-output", timestamps, "(job) Same as --output timestamp");
        parser.add_flag("--merge-stderr-to-stdout", merge, "(job) Same as --output merge");
        parser.add_option("--output-filename", output_file, "(job) Same as --output dir=DIR")
            ->type_name("DIR");
        parser
            .add_option("--display", displays,
                        "(job) Show on standard error: map, map-detailed, allocation, bindings, topology")
            ->type_name("WORDS")
            ->allow_extra_args(false);
        parser.add_flag("--display-map", display_map, "(job) Same as --display map");
        parser.add_flag("--display-allocation", display_allocation, "(job) Same as --display allocation");
        parser.add_flag("--report-bindings", report_bindings, "(job) Same as --display bindings");
        parser
            .add_option("--stdin", input, "(job) Who reads the standard input: a rank (default 0), all, none")
            ->type_name("WHO");
        parser.add_option("--timeout", timeout, "(job) End the job after this many seconds")
            ->type_name("SECONDS");
        parser.add_flag("--report-state-on-timeout", timeout_states,
                        "(job) After --timeout show the states of the processes");
        parser.add_flag("--get-stack-traces", timeout_stacks,
                        "(job) After --timeout show the stacks of the processes");
        parser
            .add_option("--scheduler", scheduler,
                        "(job) Ask the PMIx server at this URI for the resources that spawns want")
            ->type_name("URI");
        parser
            .add_option("--attach", attach,
                        "(job) Have a muster that runs already start the job: its process ID, or URI")
            ->type_name("SERVER");
        parser
            .add_option(
                "--report-uri", report_uri,
                "(job) Write the URI at which tools reach the server into this file; - is standard output")
            ->type_name("FILE");
        parser.add_flag("--enable-recovery", recovery,
                        "(job) Go on when a process fails: the others are told by an event");
        parser.add_flag("--continuous", continuous, "(job) Start processes that fail again");
        parser.add_flag("--do-not-launch", do_not_launch,
                        "(job) Prepare the job and show what is to be displayed, but start no process");
        parser
            .add_option("--max-restarts", max_restarts,
                        "Start a process of this program that fails again, at most so often")
            ->type_name("N");
        parser.add_flag("--preload-binary", preload_program,
                        "Copy this program into the session's directory and execute the copy");
        parser
            .add_option("--preload-files", preload_files,
                        "Copy these files into the session's directory of each process: FILE,...")
            ->type_name("FILES");
        parser.add_flag("--report", report, "(job) Print a table of times at the end");
        parser
            .add_option("--pmixmca,--gpmixmca", pmix_parameters,
                        "(job) Parameter of the PMIx library: NAME VALUE")
            ->type_name("NAME VALUE")
            ->allow_extra_args(false);
        parser.add_option("--omca", ompi_parameters, "(job) Parameter of Open MPI: NAME VALUE")
            ->type_name("NAME VALUE")
            ->allow_extra_args(false);
        parser
            .add_option("--mca,--gmca", mca_parameters,
                        "(job) Parameter of either, told apart by name: NAME VALUE")
            ->type_name("NAME VALUE")
            ->allow_extra_args(false);
        parser.add_flag("--oversubscribe,--allow-run-as-root", accepted,
                        "Accepted for mpirun's sake; always so");
        parser.add_flag("-V,--version", version, "Print the version");
    }

    /// Splits `arguments` into options (in CLI11's spelling: mpirun's "-np" becomes "--np") and the program.
    void read(const std::vector<std::string>& arguments, std::vector<std::string>& program) {
        std::vector<std::string> options;
        size_t i = 0;
        for (; i < arguments.size(); ++i) {
            std::string word = arguments[i];
            if (word.size() < 2 || word[0] != '-') break;
            if (word == "--") {
                ++i;
                break;
            }
            const size_t equals = word.find('=');
            const std::string name = word.substr(0, equals);
            const CLI::Option* option = parser.get_option_no_throw(name);
            if (option == nullptr && name[1] != '-' && name.size() > 2) {
                option = parser.get_option_no_throw("-" + name);
                if (option != nullptr) word.insert(0, 1, '-');
            }
            if (option == nullptr) {
                throw UsageError(fmt::format("{} is not an option of muster (see muster --help)", name));
            }
            options.push_back(word);
            const bool flag = option->get_items_expected_max() == 0;
            for (int left = flag || equals != std::string::npos ? 0 : option->get_type_size(); left > 0;
                 --left) {
                if (++i >= arguments.size()) throw UsageError(fmt::format("{} needs a value", name));
                options.push_back(arguments[i]);
            }
        }
        std::ranges::reverse(options);
        parser.parse(options);
        program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(std::min(i, arguments.size())),
                       arguments.end());
    }

    void into(Options& options) const {
        Job& job = options.job;
        OutputStyle& style = job.output.style;
        if (!map.empty()) job.map_by = read_map_policy(map).text;
        if (!bind.empty()) job.bind_to = read_bind_policy(bind).text;
        if (!rank.empty() && read_rank_policy(rank) != RankPolicy::Mapped) job.rank_by = lower(rank);
        if (!cpus.empty() && !read_cpu_list(cpus).empty()) job.cpu_list = cpus;
        for (const std::string& text : displays)
            display(text, job.display);
        job.display.map |= display_map;
        job.display.allocation |= display_allocation;
        job.display.bindings |= report_bindings;
        job.on_timeout.states |= timeout_states;
        job.on_timeout.stacks |= timeout_stacks;
        job.no_oversubscribe |= no_oversubscribe;
        if (!nodes.empty()) options.nodes = read_number(nodes, "--nodes", 1, kMostNodes);
        for (const std::string& text : outputs)
            output_style(text, style);
        if (!output_file.empty()) style.directory = output_file;
        style.tag |= tag;
        style.timestamp |= timestamps;
        style.merge |= merge;
        options.report |= report;
        job.wishes.recoverable |= recovery;
        job.wishes.continuous |= continuous;
        job.do_not_launch |= do_not_launch;
        if (!input.empty()) job.input = input_policy(input);
        if (!report_uri.empty()) options.report_uri = report_uri;
        if (!attach.empty()) options.attach = attach;
        if (!scheduler.empty()) options.scheduler = scheduler;
        if (!options.attach.empty() &&
            (!nodes.empty() || !report_uri.empty() || !scheduler.empty() || report))
            throw UsageError(
                "--nodes, --scheduler, --report-uri and --report are for the muster that runs, not for "
                "--attach");
        if (!timeout.empty()) {
            char* end = nullptr;
            options.timeout = strtod(timeout.c_str(), &end);
            if (*end != '\0' || !(options.timeout > 0) || options.timeout > 1e9) {
                throw UsageError(fmt::format("--timeout takes a number of seconds, not '{}'", timeout));
            }
        }
        for (const auto& [name, value] : pmix_parameters)
            options.parameters.emplace_back("PMIX_MCA_" + name, value);
        for (const auto& [name, value] : ompi_parameters)
            options.parameters.emplace_back("OMPI_MCA_" + name, value);
        for (const auto& [name, value] : mca_parameters) {
            options.parameters.emplace_back(mca_variable(name), value);
            if (is_of_prrte(name))
                options.warnings.push_back(fmt::format(
                    "--mca {} {} is a parameter of another launcher (PRRTE) and does nothing here", name,
                    value));
        }
    }
};

std::vector<std::vector<std::string>> parts_of(const std::vector<std::string>& arguments) {
    std::vector<std::vector<std::string>> parts(1);
    for (const std::string& argument : arguments) {
        if (argument == ":") {
            parts.emplace_back();
        } else {
            parts.back().push_back(argument);
        }
    }
    return parts;
}

/// The file that a relative path means where muster is called, or nothing: it is looked for in the directory
/// in which the program runs.
std::string program_here(const std::string& name) {
    if (name[0] == '/' || name.find('/') == std::string::npos) return "";
    std::error_code error;
    const std::filesystem::path file = std::filesystem::current_path(error) / name;
    return !error && std::filesystem::exists(file, error) ? file.string() : "";
}

/// A comma list of files with the names that they have from everywhere.
std::string absolute_files(const std::string& list) {
    std::string files;
    for (const std::string& file : split(list, ',')) {
        if (!file.empty()) files += (files.empty() ? "" : ",") + std::filesystem::absolute(file).string();
    }
    return files;
}

CommandLine read_parts(const std::vector<std::string>& arguments) {
    Options options;
    // What -x of the first part says counts for all, as with mpirun.
    std::vector<std::pair<std::string, std::string>> common;
    options.serve = !arguments.empty() && arguments[0] == "serve";
    const std::vector<std::vector<std::string>> parts =
        parts_of({arguments.begin() + (options.serve ? 1 : 0), arguments.end()});
    for (size_t i = 0; i < parts.size(); ++i) {
        Part part;
        App app;
        try {
            part.read(parts[i], app.argv);
        } catch (const CLI::CallForHelp&) {
            return {std::nullopt, 0, part.parser.help()};
        } catch (const CLI::ParseError& error) {
            throw UsageError(error.what());
        }
        if (part.version) return {std::nullopt, 0, "muster (Muster) " MUSTER_VERSION "\n"};
        if (options.serve) {
            if (!app.argv.empty()) throw UsageError("serve starts no program; tools do that");
            part.into(options);
            if (!options.attach.empty())
                throw UsageError("serve has servers of its own and takes no --attach");
            return {std::move(options), 0, ""};
        }
        if (app.argv.empty()) {
            throw UsageError(parts.size() == 1
                                 ? "no program is given: muster -n 4 PROGRAM (see muster --help)"
                                 : fmt::format("no program is given in part {}", i + 1));
        }
        if (!part.ranks.empty()) app.ranks = read_number(part.ranks, "-n", 1, kMostRanks);
        app.wdir = part.wdir;
        if (!app.wdir.empty()) app.program = program_here(app.argv[0]);
        app.pset = part.pset;
        if (!part.max_restarts.empty())
            app.max_restarts = read_number(part.max_restarts, "--max-restarts", 0, INT32_MAX);
        app.preload_program = part.preload_program;
        app.preload_files = absolute_files(part.preload_files);
        app.hostfile = part.hostfile;
        for (const std::string& text : part.hosts) {
            for (const std::string& host : split(text, ','))
                app.hosts.push_back(host);
        }
        app.env = common;
        for (const std::string& text : part.env)
            add_environment(text, app.env);
        if (i == 0) common = app.env;
        part.into(options);
        options.job.apps.push_back(std::move(app));
    }
    for (App& app : options.job.apps)
        app.env.insert(app.env.begin(), options.parameters.begin(), options.parameters.end());
    return {std::move(options), 0, ""};
}

}  // namespace

std::string Options::parameter_names() const {
    constexpr std::string_view kOurs = "PMIX_MCA_";
    std::string names;
    for (const auto& [name, value] : parameters) {
        if (!name.starts_with(kOurs)) continue;
        if (!names.empty()) names += ',';
        names += name.substr(kOurs.size());
    }
    return names;
}

CommandLine read_command_line(const std::vector<std::string>& arguments) {
    try {
        return read_parts(arguments);
    } catch (const std::exception& error) {
        return {std::nullopt, 2, fmt::format("muster: {}\n", error.what())};
    }
}

}  // namespace muster::launcher
