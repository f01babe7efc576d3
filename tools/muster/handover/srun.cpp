// SPDX-License-Identifier: BSD-3-Clause
// The command line as srun's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "tools/muster/handover/command.hpp"
#include "tools/muster/jobs/hosts.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace for_srun {
namespace {

using enum Setting;

constexpr std::string_view kDigits = "0123456789abcdef";

/// Collects srun's options.
class Srun {
  public:
    Srun(const Options& options, const SlurmAllocation& allocation)
        : options_(options), allocation_(allocation) {
        for (const App& app : options.job.apps) {
            ranks_ += app.ranks;
            sized_ = sized_ && app.ranks > 0;
        }
        if (options.job.apps.size() > 1 && !sized_)
            throw UsageError("with several programs each needs its -n");
    }

    const Options& options() const { return options_; }
    const Job& job() const { return options_.job; }
    bool single() const { return job().apps.size() == 1; }
    void add(std::string word) { words_.push_back(std::move(word)); }
    /// Once, even if several options request it.
    void add_once(const std::string& word) {
        if (std::ranges::find(words_, word) == words_.end()) add(word);
    }

    /// Options of one program, which srun has for all only.
    void of_single(const Given& given) const {
        if (!single())
            throw untranslatable(given.written, "srun with several programs",
                                 "start the programs as jobs of their own");
    }

    void distribution(const std::string& order, const std::string& option) {
        if (!order_.empty() && order_ != order)
            throw untranslatable(option, "srun beside -m " + order_, "leave one of both out");
        order_ = order;
    }
    void bind(const std::string& type) { binding_ = type; }
    void use_cpus(const std::string& list, const std::string& option);
    void report_bindings() { verbose_binding_ = true; }
    void survive() { ends_on_failure_ = false; }
    void export_only(const std::vector<std::string>& names) { exported_ = names; }
    void by_hosts() { hosts_ = true; }
    void by_map() { mapped_ = true; }

    Command command();

  private:
    void place();
    void place_per_node(uint32_t each);
    void place_on_hosts();
    void size(uint32_t nodes);
    void environment(Command& command);
    void programs(Command& command);
    /// Nodes that can be used; 0: not known.
    uint32_t nodes() const { return options_.nodes > 0 ? options_.nodes : allocation_.nodes; }

    const Options& options_;
    const SlurmAllocation& allocation_;
    std::vector<std::string> words_ = {"srun", "--mpi=pmix"};
    std::string order_, binding_;
    std::string cpu_mask_;  ///< of all ranks, as srun writes it
    std::optional<std::vector<std::string>> exported_;
    std::optional<std::string> host_list_;  ///< a node for each rank
    bool verbose_binding_ = false, ends_on_failure_ = true, hosts_ = false, mapped_ = false;
    uint32_t ranks_ = 0;
    bool sized_ = true;
};

void map_by(Srun& srun, const Given& given) {
    srun.by_map();
    const MapPolicy policy = read_map_policy(srun.job().map_by);
    const auto refuse = [&](const std::string& what, std::string_view cure) {
        throw untranslatable(given.written + " " + what, "srun", cure);
    };
    if (policy.span) refuse(":SPAN", "leave it out");
    if (!policy.cpu_list.empty()) srun.use_cpus(policy.cpu_list, given.written);
    if (policy.cpus > 1) srun.add_once(fmt::format("--cpus-per-task={}", policy.cpus));
    if (policy.hwthreads) srun.add_once("--hint=multithread");
    if (policy.not_on_head) srun.add_once("--relative=1");
    if (lower(policy.text).find(":oversubscribe") != std::string::npos) srun.add_once("--overcommit");
    if (policy.per_resource > 0) {
        switch (policy.level) {
            case Level::Slot:
            case Level::Node:
                return;  // depends on the number of ranks
            case Level::Package:
                return srun.add_once(fmt::format("--ntasks-per-socket={}", policy.per_resource));
            case Level::Core:
                return srun.add_once(fmt::format("--ntasks-per-core={}", policy.per_resource));
            default:
                return refuse(srun.job().map_by, "write ppr:N:node, ppr:N:package or ppr:N:core");
        }
    }
    switch (policy.level) {
        case Level::Slot:
            // Modifiers alone do not determine the order.
            if (!policy.text.starts_with(':')) srun.distribution("block", given.written);
            return;
        case Level::Node:
            return srun.distribution("cyclic", given.written);
        case Level::Core:
            return srun.distribution("block:block", given.written);
        case Level::Package:
            return srun.distribution("block:cyclic", given.written);
        default:
            return refuse(srun.job().map_by, "write slot, node, core or package");
    }
}

void rank_by(Srun& srun, const Given& given) {
    switch (read_rank_policy(given.value())) {
        case RankPolicy::Slot:
            return srun.distribution("block", given.written);
        case RankPolicy::Node:
            return srun.distribution("cyclic", given.written);
        default:
            throw untranslatable(given.written + " " + given.value(), "srun", "write slot or node");
    }
}

void bind_to(Srun& srun, const Given& given) {
    const BindPolicy policy = read_bind_policy(given.value());
    if (policy.overload) srun.add_once("--overcommit");
    if (policy.report) srun.report_bindings();
    switch (policy.level) {
        case Level::None:
            return srun.bind("none");
        case Level::Hwthread:
            return srun.bind("threads");
        case Level::Core:
            return srun.bind("cores");
        case Level::Numa:
            return srun.bind("ldoms");
        case Level::Package:
            return srun.bind("sockets");
        default:
            throw untranslatable(given.written + " " + given.value(), "srun",
                                 "write none, hwthread, core, numa or package");
    }
}

void output(Srun& srun, const Given& given) {
    const OutputStyle& style = srun.job().output.style;
    const auto refuse = [&](bool wanted, std::string_view word, std::string_view cure) {
        if (wanted) throw untranslatable(fmt::format("{} ({})", given.written, word), "srun", cure);
    };
    refuse(style.timestamp, "timestamp", "pipe the output through 'ts'");
    refuse(style.merge, "merge", "write 2>&1 behind the command");
    refuse(style.xml, "xml", "write --output rank");
    refuse(style.pattern, "pattern", "write --output file=NAME");
    if (style.tag || style.rank || style.detailed || style.full_name) srun.add_once("--label");
    if (style.raw) srun.add_once("--unbuffered");
    if (!style.to_files()) return;
    std::string name = style.file + ".slurm.pmix.%j.%s.%t";
    if (!style.directory.empty()) {
        std::error_code error;
        std::filesystem::create_directories(style.directory, error);
        name = style.directory + "/slurm.pmix.%j.%s.rank.%t";
    }
    name = std::filesystem::absolute(name).string();
    srun.add_once("--output=" + name + ".stdout");
    srun.add_once("--error=" + name + ".stderr");
}

void display(Srun& srun, const Given& given) {
    const DisplayWishes& wishes = srun.job().display;
    if (wishes.bindings) srun.report_bindings();
    const std::string value = lower(given.value());
    if (value != "bind" && value != "bindings")
        throw untranslatable(given.written + " " + value, "srun",
                             "'scontrol show job' shows the allocation, and --label the ranks");
}

void runtime(Srun& srun, const Given& given) {
    const JobWishes& wishes = srun.job().wishes;
    if (wishes.recoverable || wishes.nonzero_is_fine) srun.survive();
    const std::string text = lower(given.value());
    for (const std::string_view word : {"continuous", "autorestart", "max-restarts", "donotlaunch"}) {
        if (text.find(word) != std::string::npos)
            throw untranslatable(fmt::format("{} {}", given.written, word), "srun", "leave it out");
    }
}

void timeout(Srun& srun, const Given&) {
    const auto seconds = static_cast<uint64_t>(std::ceil(srun.options().timeout));
    srun.add_once(fmt::format("--time={}:{:02}", seconds / 60, seconds % 60));
}

void input(Srun& srun, const Given&) {
    const InputPolicy& policy = srun.job().input;
    if (policy.target == InputPolicy::Target::All) srun.add_once("--input=all");
    if (policy.target == InputPolicy::Target::None) srun.add_once("--input=none");
    if (policy.target == InputPolicy::Target::One) srun.add_once(fmt::format("--input={}", policy.rank));
}

constexpr auto kRows = std::to_array<Translation<Srun>>({
    {Ranks, "-n N"},
    {Env, "the environment"},
    {OwnEnv, "the environment"},
    {CommonEnv, "the environment"},
    {KeepEnv, "--export=NAMES",
     [](Srun& s, const Given& g) {
         s.of_single(g);
         s.export_only(*s.options().kept[0]);
     }},
    {CommonKeepEnv, "--export=NAMES",
     [](Srun& s, const Given&) { s.export_only(s.options().kept[0].value_or(std::vector<std::string>())); }},
    {UnsetEnv, "the environment"},
    {AppendEnv, "the environment"},
    {PrependEnv, "the environment"},
    {WorkingDirectory, "--chdir=DIR"},
    {SessionDirectory, "", nullptr, "write --wdir"},
    {ProcessSet, "", nullptr, "leave it out: Slurm has no process sets"},
    {Hosts, "-m arbitrary and SLURM_HOSTFILE, or -w NODES", [](Srun& s, const Given&) { s.by_hosts(); }},
    {Hostfile, "as --host", [](Srun& s, const Given&) { s.by_hosts(); }},
    {AddedHosts, "", nullptr, "name all nodes by --host"},
    {AddedHostfile, "", nullptr, "name all nodes by --host"},
    {IndexArgv, "", nullptr, "the program finds its rank through PMIx"},
    {MaxRestarts, "", nullptr, "leave it out, or requeue the job by sbatch --requeue"},
    {PreloadProgram, "--bcast",
     [](Srun& s, const Given& g) {
         s.of_single(g);
         s.add_once("--bcast");
     }},
    {PreloadFiles, "", nullptr, "copy the files by sbcast first"},
    {MapBy, "--ntasks-per-node, -m and -c, by the policy", map_by},
    {RankBy, "-m block or -m cyclic", rank_by},
    {BindTo, "--cpu-bind=TYPE", bind_to},
    {CpuList, "--cpu-bind=mask_cpu:MASK", [](Srun& s, const Given& g) { s.use_cpus(g.value(), g.written); }},
    {Oversubscribe, "--overcommit", [](Srun& s, const Given&) { s.add_once("--overcommit"); }},
    {NoOversubscribe, "the default"},
    {Nodes, "-N K"},
    {Output, "--label, --output=FILE, --error=FILE", output},
    {Display, "bindings: --cpu-bind=verbose", display},
    {Input, "--input=WHO", input},
    {Timeout, "--time=M:S", timeout},
    {SpawnTimeout, "--immediate=SECONDS",
     [](Srun& s, const Given&) { s.add_once(fmt::format("--immediate={}", s.job().spawn_seconds)); }},
    {TimeoutStates, "", nullptr, "leave it out; 'scontrol listpids' shows processes"},
    {TimeoutStacks, "", nullptr, "leave it out"},
    {Recovery, "--kill-on-bad-exit=0", [](Srun& s, const Given&) { s.survive(); }},
    {Continuous, "", nullptr, "leave it out, or requeue the job by sbatch --requeue"},
    {Runtime, "recoverable: --kill-on-bad-exit=0", runtime},
    {ReportChildrenSeparately, "the default"},
    {DoNotLaunch, "", nullptr, "leave it out"},
    {PmixParameter, "the environment"},
    {OmpiParameter, "the environment"},
    {AnyParameter, "the environment"},
    {PrteParameter, "nothing"},
    {Report, "", nullptr, "leave it out; 'sacct' shows the times of steps"},
    {ReportUri, "", nullptr, "leave it out; a tool names the process ID of a slurmstepd"},
    {Attach, "", nullptr, "a muster that runs starts the job"},
    {Scheduler, "", nullptr, "leave it out; Slurm is the scheduler"},
    {Launcher, "nothing"},
    {Quiet, "--quiet", [](Srun& s, const Given&) { s.add_once("--quiet"); }},
    {Verbose, "-v", [](Srun& s, const Given&) { s.add_once("-v"); }},
    {Version, "nothing"},
    {Help, "nothing"},
    {Accepted, "nothing"},
    {Remote, "nothing"},
    {Refused, "nothing"},
    {OtherMeaning, "nothing"},
});

/// One mask counts for all ranks.
void Srun::use_cpus(const std::string& list, const std::string& option) {
    std::string digits;
    for (const unsigned cpu : read_cpu_list(list)) {
        if (digits.size() <= cpu / 4) digits.resize(cpu / 4 + 1, '0');
        char& digit = digits[cpu / 4];
        const unsigned value = static_cast<unsigned>(kDigits.find(digit)) | 1U << cpu % 4;
        digit = kDigits[value];
    }
    const std::string mask = "mask_cpu:0x" + std::string(digits.rbegin(), digits.rend());
    if (!cpu_mask_.empty() && cpu_mask_ != mask)
        throw untranslatable(option, "srun beside another list of processors", "give one list");
    cpu_mask_ = mask;
}

/// Exactly N ranks on each node, the last of which may have fewer.
void Srun::place_per_node(uint32_t each) {
    if (!sized_) {
        if (nodes() == 0) return add(fmt::format("--ntasks-per-node={}", each));
        ranks_ = each * nodes();
        sized_ = true;
    }
    const uint32_t used = (ranks_ + each - 1) / each;
    if (nodes() > 0 && used > nodes()) {
        throw UsageError(fmt::format("--map-by {} has room for {} ranks on {} nodes, not for {}",
                                     job().map_by, each * nodes(), nodes(), ranks_));
    }
    if (ranks_ % each == 0) {
        add(fmt::format("--ntasks-per-node={}", each));
    } else {
        distribution(fmt::format("plane={}", each), "--map-by " + job().map_by);
    }
    size(used);
}

void Srun::size(uint32_t nodes) {
    if (sized_) add(fmt::format("-n{}", ranks_));
    if (nodes > 0) add(fmt::format("-N{}", nodes));
}

/// A node for each rank, as muster would choose it.
void Srun::place_on_hosts() {
    std::vector<std::string> names;
    Job job = options_.job;
    bool with_slots = true;
    for (App& app : job.apps) {
        const std::vector<Mention> mentions = mentioned_hosts(app.hosts, app.hostfile);
        for (const Mention& mention : mentions) {
            if (std::ranges::find(names, mention.name) == names.end()) names.push_back(mention.name);
            with_slots = with_slots && mention.slots.has_value();
        }
    }
    if (!with_slots && !sized_) {
        add(fmt::format("-w{}", fmt::join(names, ",")));
        return size(static_cast<uint32_t>(names.size()));
    }
    for (App& app : job.apps)
        app.wdir = "/";  // is not looked at
    // Slots that are not given are those of the allocation, which the layout does not know: even blocks.
    job.bind_to = "none";
    job.rank_by = "";
    lay_out(job, "job", names);
    std::string list;
    for (const Place& place : job.places)
        list += names[place.node] + "\n";
    host_list_ = list;
    order_ = "arbitrary";
    ranks_ = job.size();
    sized_ = true;
    // Slurm 23.11 and later refuse -N together with this order.
    size(0);
}

void Srun::place() {
    if (hosts_) return place_on_hosts();
    const MapPolicy policy = read_map_policy(job().map_by);
    const bool per_node =
        policy.per_resource > 0 && (policy.level == Level::Node || policy.level == Level::Slot);
    if (mapped_ && per_node) return place_per_node(policy.per_resource);
    uint32_t used = nodes();
    if (policy.not_on_head && options_.nodes == 0 && used > 1) --used;
    size(sized_ ? std::min(used, ranks_) : used);
}

void Srun::environment(Command& command) {
    if (host_list_) command.environment.emplace_back("SLURM_HOSTFILE", nameless_file(*host_list_));
    // That of the allocation contradicts -n.
    if (sized_) command.environment.emplace_back("SLURM_NTASKS_PER_NODE", std::nullopt);
    if (!exported_) return add("--export=ALL");
    std::vector<std::string> names = *exported_;
    for (size_t i = 0; i < job().apps.size(); ++i) {
        for (const auto& [name, value] : job().apps[i].env)
            names.push_back(name);
    }
    add(names.empty() ? "--export=NONE" : fmt::format("--export={}", fmt::join(names, ",")));
}

void Srun::programs(Command& command) {
    if (!single()) {
        add("--multi-prog");
        add(nameless_file(multi_prog_lines(options_)));
        return;
    }
    const App& app = job().apps[0];
    for (auto& change : environment_of(options_, 0))
        command.environment.push_back(std::move(change));
    if (!app.wdir.empty()) add("--chdir=" + std::filesystem::absolute(app.wdir).string());
    add(app.program.empty() ? app.argv[0] : app.program);
    for (size_t i = 1; i < app.argv.size(); ++i)
        add(app.argv[i]);
}

Command Srun::command() {
    Command command;
    place();
    if (!order_.empty()) add("-m" + order_);
    if (!cpu_mask_.empty()) {
        if (!binding_.empty() && binding_ != "none")
            throw untranslatable("--bind-to", "srun beside a list of processors", "leave one of both out");
        binding_ = cpu_mask_;
    }
    if (verbose_binding_) binding_ = binding_.empty() ? "verbose" : "verbose," + binding_;
    if (!binding_.empty()) add("--cpu-bind=" + binding_);
    if (allocation_.step_size > 0) add("--overlap");
    add(ends_on_failure_ ? "--kill-on-bad-exit=1" : "--kill-on-bad-exit=0");
    const auto has_input = [](const std::string& word) { return word.starts_with("--input="); };
    if (std::ranges::none_of(words_, has_input)) add("--input=0");
    environment(command);
    programs(command);
    command.words = std::move(words_);
    return command;
}

// Slurm 22.05 to 26.05: slurmstepd drops further words without an error, srun refuses longer lines.
constexpr size_t kMostWords = 126, kLongestLine = 16 * 1024 - 2;

/// A word as srun reads it: only quotes keep '%' and blanks.
std::string quoted_for_srun(const std::string& word) {
    if (word.find('\n') != std::string::npos)
        throw UsageError(
            "srun takes several programs as lines of a file, but an argument has a line break; start the "
            "programs "
            "by scripts");
    return quoted(word, "-_=+./,:@^");
}

/// The program with its environment and its directory, which srun has for all programs only.
std::vector<std::string> words_of_program(const Options& options, size_t number) {
    const App& app = options.job.apps[number];
    std::vector<std::string> words;
    for (const auto& [name, value] : environment_of(options, number)) {
        if (value) {
            words.push_back(name + "=" + *value);
        } else {
            words.insert(words.begin(), {"-u", name});
        }
    }
    if (!app.wdir.empty()) words.insert(words.begin(), {"-C", std::filesystem::absolute(app.wdir).string()});
    if (!words.empty()) words.insert(words.begin(), "/usr/bin/env");
    words.push_back(app.program.empty() ? app.argv[0] : app.program);
    words.insert(words.end(), app.argv.begin() + 1, app.argv.end());
    return words;
}

}  // namespace
}  // namespace for_srun

Command srun_command(const Options& options, const SlurmAllocation& allocation) {
    for_srun::Srun srun(options, allocation);
    translate<for_srun::Srun>(options, for_srun::kRows, "srun", srun);
    return srun.command();
}

std::string multi_prog_lines(const Options& options) {
    std::string lines;
    uint32_t first = 0;
    for (size_t i = 0; i < options.job.apps.size(); ++i) {
        const uint32_t ranks = options.job.apps[i].ranks;
        std::string line =
            ranks == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + ranks - 1);
        const std::vector<std::string> words = for_srun::words_of_program(options, i);
        for (const std::string& word : words)
            line += " " + for_srun::quoted_for_srun(word);
        if (words.size() > for_srun::kMostWords || line.size() > for_srun::kLongestLine) {
            throw UsageError(fmt::format(
                "program {} has {} words and {} characters, but srun takes {} words and {} characters of "
                "each of several programs; start it by a script",
                i + 1, words.size(), line.size(), for_srun::kMostWords, for_srun::kLongestLine));
        }
        lines += line + "\n";
        first += ranks;
    }
    return lines;
}

const std::vector<Rendering>& srun_renderings() {
    static const std::vector<Rendering> kAll = renderings_of<for_srun::Srun>(for_srun::kRows);
    return kAll;
}

}  // namespace muster::launcher
