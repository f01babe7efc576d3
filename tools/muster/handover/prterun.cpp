// SPDX-License-Identifier: BSD-3-Clause
// The command line as prterun's. Spelled so that PRRTE 3 to 5 take it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "tools/muster/command_line/settings.hpp"
#include "tools/muster/handover/command.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace for_prterun {
namespace {

using enum Setting;

/// Whether the folder holds the library that this process uses, under the name by which programs load it.
bool holds_our_library(const std::string& folder) {
    Dl_info here{};
    if (folder.empty() || dladdr(reinterpret_cast<const void*>(&PMIx_Get_version), &here) == 0) return false;
    std::error_code error;
    return std::filesystem::equivalent(folder + "/libpmix.so.2", here.dli_fname, error) && !error;
}

/// LD_LIBRARY_PATH without the folder of Muster's library, or nothing if it has none. PRRTE's programs use
/// OpenPMIx's internals, and do not start with another library.
std::optional<std::string> library_path_of_prrte() {
    const char* path = getenv("LD_LIBRARY_PATH");
    if (path == nullptr) return std::nullopt;
    std::vector<std::string> folders = split(path, ':');
    if (std::erase_if(folders, holds_our_library) == 0) return std::nullopt;
    return fmt::format("{}", fmt::join(folders, ":"));
}

/// Collects prterun's options.
class Prterun {
  public:
    explicit Prterun(const Options& options) : options_(options) {}

    const Options& options() const { return options_; }
    const Job& job() const { return options_.job; }
    void add(std::initializer_list<std::string> words) { common_.insert(common_.end(), words); }
    void add_once(const std::string& word, const std::string& value = {}) {
        if (std::ranges::find(common_, word) != common_.end()) return;
        add({word});
        if (!value.empty()) add({value});
    }
    /// As it was given.
    void repeat(const Given& given) {
        const bool one_dash = given.written.size() > 2 && given.written[1] != '-';
        add({one_dash ? "-" + given.written : given.written});
        common_.insert(common_.end(), given.words.begin(), given.words.end());
    }
    void by_map() { mapped_ = true; }
    void map_modifier(const std::string& word) { modifiers_ += ":" + word; }
    void runtime(const std::string& word) { runtime_.push_back(word); }
    /// A variable that is passed as a parameter, not by -x.
    void is_parameter(const std::string& variable) { parameters_.push_back(variable); }

    Command command();

  private:
    void add_map();
    void add_output();
    void add_display();
    std::vector<std::string> of_program(size_t number, Command& command) const;

    const Options& options_;
    std::vector<std::string> common_ = {"prterun"}, runtime_, parameters_;
    std::string modifiers_;
    bool mapped_ = false;
    std::optional<std::string> library_path_ =
        library_path_of_prrte();  ///< where it differs from that of ranks
};

void parameter(Prterun& prterun, const Given& given) {
    const std::string text = given.value();
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    const auto is_set = [&](const std::string& variable) {
        return std::ranges::find(prterun.options().parameters, std::pair(variable, value)) !=
               prterun.options().parameters.end();
    };
    if (given.setting() == PrteParameter) {
        prterun.add({"--prtemca", name, value});
    } else if (given.setting() == AnyParameter && is_parameter_of_prrte(name)) {
        prterun.add({"--prtemca", name, value});
        prterun.is_parameter("OMPI_MCA_" + name);
    } else if (given.setting() != OmpiParameter && is_set("PMIX_MCA_" + name)) {
        prterun.add({"--pmixmca", name, value});
        prterun.is_parameter("PMIX_MCA_" + name);
    }
    // Parameters of Open MPI are variables of the programs.
}

void bind_to(Prterun& prterun, const Given& given) {
    // PRRTE 3 has no modifier for the report, which --display also requests.
    std::string text;
    for (const std::string& part : split(given.value(), ':')) {
        if (lower(part) != "report") text += (text.empty() ? "" : ":") + part;
    }
    prterun.add_once("--bind-to", text);
}

void runtime(Prterun& prterun, const Given& given) {
    for (const std::string& word : split(given.value(), ','))
        prterun.runtime(word);
}

void verbatim(Prterun& prterun, const Given& given) {
    if ((given.spelling->of & kPrrte) != 0) prterun.repeat(given);
}

constexpr auto kRows = std::to_array<Translation<Prterun>>({
    {Ranks, "-n N"},
    {Env, "-x NAME=VALUE"},
    {OwnEnv, "-x NAME=VALUE"},
    {CommonEnv, "-x NAME=VALUE"},
    {KeepEnv, "", nullptr, "start muster by 'env -i NAME=VALUE ...'"},
    {CommonKeepEnv, "", nullptr, "start muster by 'env -i NAME=VALUE ...'"},
    {UnsetEnv, "the environment",
     [](Prterun& p, const Given& g) {
         if (p.job().apps.size() > 1)
             throw untranslatable(g.written, "prterun with several programs",
                                  "start muster by 'env -u NAME'");
     }},
    {AppendEnv, "-x NAME=VALUE"},
    {PrependEnv, "-x NAME=VALUE"},
    {WorkingDirectory, "--wdir DIR"},
    {SessionDirectory, "--set-cwd-to-session-dir"},
    {ProcessSet, "--pset NAME"},
    {Hosts, "--host NODES"},
    {Hostfile, "--hostfile FILE"},
    {AddedHosts, "--add-host NODES"},
    {AddedHostfile, "--add-hostfile FILE"},
    {IndexArgv, "", nullptr, "the program finds its rank through PMIx"},
    {MaxRestarts, "--runtime-options max-restarts=N",
     [](Prterun& p, const Given& g) { p.runtime("max-restarts=" + g.value()); }},
    {PreloadProgram, "--preload-binary"},
    {PreloadFiles, "--preload-files FILES"},
    {MapBy, "--map-by WHERE", [](Prterun& p, const Given&) { p.by_map(); }},
    {RankBy, "--rank-by ORDER", [](Prterun& p, const Given& g) { p.add_once("--rank-by", g.value()); }},
    {BindTo, "--bind-to WHAT", bind_to},
    {CpuList, "--map-by PE-LIST=LIST",
     [](Prterun& p, const Given& g) { p.map_modifier("PE-LIST=" + g.value()); }},
    {Oversubscribe, "--map-by :OVERSUBSCRIBE",
     [](Prterun& p, const Given&) { p.map_modifier("OVERSUBSCRIBE"); }},
    {NoOversubscribe, "--map-by :NOOVERSUBSCRIBE",
     [](Prterun& p, const Given&) { p.map_modifier("NOOVERSUBSCRIBE"); }},
    {Nodes, "", nullptr, "name the nodes by --host"},
    {Output, "--output WORDS"},
    {Display, "--display WORDS"},
    {Input, "--stdin WHO", [](Prterun& p, const Given& g) { p.add_once("--stdin", g.value()); }},
    {Timeout, "--timeout SECONDS",
     [](Prterun& p, const Given&) {
         p.add_once("--timeout", fmt::format("{}", static_cast<uint64_t>(std::ceil(p.options().timeout))));
     }},
    {SpawnTimeout, "--spawn-timeout SECONDS",
     [](Prterun& p, const Given& g) { p.add_once("--spawn-timeout", g.value()); }},
    {TimeoutStates, "--report-state-on-timeout",
     [](Prterun& p, const Given&) { p.add_once("--report-state-on-timeout"); }},
    {TimeoutStacks, "--get-stack-traces", [](Prterun& p, const Given&) { p.add_once("--get-stack-traces"); }},
    {Recovery, "--runtime-options recoverable", [](Prterun& p, const Given&) { p.runtime("recoverable"); }},
    {Continuous, "--runtime-options continuous", [](Prterun& p, const Given&) { p.runtime("continuous"); }},
    {Runtime, "--runtime-options WORDS", runtime},
    {ReportChildrenSeparately, "--runtime-options report-child-jobs-separately",
     [](Prterun& p, const Given&) { p.runtime("report-child-jobs-separately"); }},
    {DoNotLaunch, "--runtime-options donotlaunch",
     [](Prterun& p, const Given&) { p.runtime("donotlaunch"); }},
    {PmixParameter, "--pmixmca NAME VALUE", parameter},
    {OmpiParameter, "-x OMPI_MCA_NAME=VALUE", parameter},
    {AnyParameter, "--pmixmca, --prtemca or -x, by the name", parameter},
    {PrteParameter, "--prtemca NAME VALUE", parameter},
    {Report, "", nullptr, "leave it out"},
    {ReportUri, "--report-uri FILE",
     [](Prterun& p, const Given& g) { p.add_once("--report-uri", g.value()); }},
    {Attach, "", nullptr, "a muster that runs starts the job"},
    {Scheduler, "", nullptr, "leave it out"},
    {Launcher, "nothing"},
    {Quiet, "nothing"},
    {Verbose, "--display allocation,map"},
    {Version, "nothing"},
    {Help, "nothing"},
    {Accepted, "as given, where prterun has it", verbatim},
    {Remote, "as given, where prterun has it", verbatim},
    {Refused, "nothing"},
    {OtherMeaning, "nothing"},
});

void Prterun::add_map() {
    // The default is prterun's own.
    std::vector<std::string> words = split((mapped_ ? job().map_by : "") + modifiers_, ':');
    const auto lists = [](const std::string& word) { return lower(word).starts_with("pe-list="); };
    // A list of processors is a policy there.
    if (const auto list = std::ranges::find_if(words, lists); list != words.end()) {
        const std::string policy = *list;
        words.erase(list);
        if (!words[0].empty() && lower(words[0]) != "slot") {
            throw untranslatable("a list of processors", "prterun beside --map-by " + words[0],
                                 "leave one of both out");
        }
        if (std::ranges::any_of(words, lists))
            throw untranslatable("a list of processors", "prterun beside another", "give one list");
        words[0] = policy;
    }
    const std::string map = fmt::format("{}", fmt::join(words, ":"));
    if (!map.empty()) add({"--map-by", map});
}

void Prterun::add_output() {
    const OutputStyle& style = job().output.style;
    std::vector<std::string> words;
    const auto flag = [&](bool wanted, const char* word) {
        if (wanted) words.emplace_back(word);
    };
    flag(style.tag, "tag");
    flag(style.detailed, "tag-detailed");
    flag(style.full_name, "tag-fullname");
    flag(style.rank, "rank");
    flag(style.timestamp, "timestamp");
    flag(style.xml, "xml");
    flag(style.merge, "merge-stderr-to-stdout");
    const auto absolute = [](const std::string& file) { return std::filesystem::absolute(file).string(); };
    if (!style.directory.empty()) words.push_back("dir=" + absolute(style.directory));
    if (!style.file.empty()) words.push_back("file=" + absolute(style.file));
    if (words.empty()) return;
    std::string text = fmt::format("{}", fmt::join(words, ","));
    if (style.to_files() && style.file_only) text += ":nocopy";
    if (style.raw) text += ":raw";
    if (style.pattern) text += ":pattern";
    add({"--output", text});
}

void Prterun::add_display() {
    const DisplayWishes& wishes = job().display;
    std::vector<std::string> words;
    if (wishes.allocation) words.emplace_back("allocation");
    if (wishes.map) words.emplace_back("map");
    if (wishes.detailed) words.emplace_back("map-devel");
    if (wishes.bindings || read_bind_policy(job().bind_to).report) words.emplace_back("bind");
    if (!wishes.topology.empty()) words.emplace_back("topo");
    if (!words.empty()) add({"--display", fmt::format("{}", fmt::join(words, ","))});
}

std::vector<std::string> Prterun::of_program(size_t number, Command& command) const {
    const App& app = job().apps[number];
    std::vector<std::string> words;
    const auto option = [&](bool given, std::initializer_list<std::string> text) {
        if (given) words.insert(words.end(), text);
    };
    option(app.ranks > 0, {"-n", fmt::format("{}", app.ranks)});
    option(!app.hosts.empty(), {"--host", fmt::format("{}", fmt::join(app.hosts, ","))});
    option(!app.hostfile.empty(), {"--hostfile", app.hostfile});
    option(!app.added_hosts.empty(), {"--add-host", fmt::format("{}", fmt::join(app.added_hosts, ","))});
    option(!app.added_hostfile.empty(), {"--add-hostfile", app.added_hostfile});
    if (!app.wdir.empty()) option(true, {"--wdir", std::filesystem::absolute(app.wdir).string()});
    option(app.session_wdir, {"--set-cwd-to-session-dir"});
    option(!app.pset.empty(), {"--pset", app.pset});
    option(app.preload_program, {"--preload-binary"});
    option(!app.preload_files.empty(), {"--preload-files", app.preload_files});
    if (library_path_) option(true, {"-x", fmt::format("LD_LIBRARY_PATH={}", getenv("LD_LIBRARY_PATH"))});
    for (const auto& [name, value] : environment_of(options_, number)) {
        if (!value) {
            command.environment.emplace_back(name, value);
        } else if (std::ranges::find(parameters_, name) == parameters_.end()) {
            option(true, {"-x", name + "=" + *value});
        }
    }
    words.push_back(app.program.empty() ? app.argv[0] : app.program);
    words.insert(words.end(), app.argv.begin() + 1, app.argv.end());
    return words;
}

Command Prterun::command() {
    add_map();
    add_output();
    add_display();
    if (!runtime_.empty()) add({"--runtime-options", fmt::format("{}", fmt::join(runtime_, ","))});
    Command command;
    for (size_t i = 0; i < job().apps.size(); ++i) {
        if (i > 0) add({":"});
        const std::vector<std::string> words = of_program(i, command);
        common_.insert(common_.end(), words.begin(), words.end());
    }
    if (library_path_) {
        const bool empty = library_path_->empty();
        command.environment.emplace_back("LD_LIBRARY_PATH", empty ? std::nullopt : library_path_);
    }
    command.words = std::move(common_);
    return command;
}

}  // namespace
}  // namespace for_prterun

Command prterun_command(const Options& options) {
    for_prterun::Prterun prterun(options);
    translate<for_prterun::Prterun>(options, for_prterun::kRows, "prterun", prterun);
    return prterun.command();
}

const std::vector<Rendering>& prterun_renderings() {
    static const std::vector<Rendering> kAll = renderings_of<for_prterun::Prterun>(for_prterun::kRows);
    return kAll;
}

}  // namespace muster::launcher
