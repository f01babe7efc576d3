// SPDX-License-Identifier: BSD-3-Clause
// One function for each setting.
#include "tools/muster/command_line/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

constexpr unsigned kMostNodes = 1024;

/// The qualifiers of PRRTE after a colon: "dir=logs:nocopy".
void output_qualifiers(std::string& value, OutputStyle& style) {
    for (size_t colon; (colon = value.rfind(':')) != std::string::npos; value.resize(colon)) {
        const std::string word = lower(value.substr(colon + 1));
        if (word == "nocopy" || word == "copy") {
            style.file_only = word == "nocopy";
        } else if (word == "raw") {
            style.raw = true;
        } else if (word == "pattern") {
            style.pattern = true;
        } else {
            return;
        }
    }
}

struct OutputWord {
    std::string_view name;
    void (*set)(OutputStyle& style, const std::string& value);
    bool has_value = false;
};

constexpr auto kOutputWords = std::to_array<OutputWord>({
    {"tag", [](OutputStyle& style, const std::string&) { style.tag = true; }},
    {"tag-detailed", [](OutputStyle& style, const std::string&) { style.detailed = true; }},
    {"tag-fullname", [](OutputStyle& style, const std::string&) { style.full_name = true; }},
    {"rank", [](OutputStyle& style, const std::string&) { style.rank = true; }},
    {"timestamp", [](OutputStyle& style, const std::string&) { style.timestamp = true; }},
    {"xml", [](OutputStyle& style, const std::string&) { style.xml = true; }},
    {"raw", [](OutputStyle& style, const std::string&) { style.raw = true; }},
    {"merge", [](OutputStyle& style, const std::string&) { style.merge = true; }},
    {"merge-stderr-to-stdout", [](OutputStyle& style, const std::string&) { style.merge = true; }},
    {"copy", [](OutputStyle& style, const std::string&) { style.file_only = false; }},
    {"nocopy", [](OutputStyle& style, const std::string&) { style.file_only = true; }},
    {"dir", [](OutputStyle& style, const std::string& value) { style.directory = value; }, true},
    {"directory", [](OutputStyle& style, const std::string& value) { style.directory = value; }, true},
    {"file", [](OutputStyle& style, const std::string& value) { style.file = value; }, true},
    {"filename", [](OutputStyle& style, const std::string& value) { style.file = value; }, true},
});

void output(const std::string& given, OutputStyle& style) {
    for (const std::string& part : split(given, ',')) {
        const size_t equals = part.find('=');
        const std::string name = lower(part.substr(0, equals));
        std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        const auto* const word = std::ranges::find(kOutputWords, name, &OutputWord::name);
        if (word == kOutputWords.end()) {
            throw UsageError(fmt::format(
                "--output '{}': valid are tag, tag-detailed, tag-fullname, rank, timestamp, xml, raw, merge, "
                "dir=DIR, file=NAME, nocopy",
                part));
        }
        if (word->has_value) output_qualifiers(value, style);
        if (word->has_value && value.empty())
            throw UsageError(fmt::format("--output {} needs a name: {}=NAME", name, name));
        word->set(style, value);
    }
    if (!style.directory.empty() && !style.file.empty())
        throw UsageError("--output takes dir= or file=, not both");
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

bool truth(const std::string& text) {
    const std::string word = lower(text);
    if (word.empty() || word == "1" || word == "t" || word == "true" || word == "y" || word == "yes")
        return true;
    if (word == "0" || word == "f" || word == "false" || word == "n" || word == "no") return false;
    throw UsageError(fmt::format("'{}' is neither true nor false", text));
}

/// The words of PRRTE's --runtime-options.
void runtime(const std::string& given, Draft& draft) {
    JobWishes& wishes = draft.options.job.wishes;
    for (const std::string& part : split(given, ',')) {
        const size_t equals = part.find('=');
        const std::string name = lower(part.substr(0, equals));
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (name == "recoverable") {
            wishes.recoverable = truth(value);
        } else if (name == "continuous" || name == "autorestart") {
            wishes.continuous = truth(value);
        } else if (name == "max-restarts") {
            draft.app.max_restarts = read_number(value, "--runtime-options max-restarts", 0, INT32_MAX);
        } else if (name == "donotlaunch") {
            draft.options.job.do_not_launch = truth(value);
        } else if (name == "error-nonzero-status" || name == "abort-nonzero-status") {
            wishes.nonzero_is_fine = !truth(value);
        } else if (name == "report-child-jobs-separately") {
            wishes.report_separately = truth(value);
        } else if (name != "notifyerrors" && name != "show-progress") {
            throw UsageError(fmt::format(
                "--runtime-options '{}': valid are recoverable, continuous, max-restarts=N, donotlaunch, "
                "error-nonzero-status, report-child-jobs-separately",
                part));
        }
    }
}

/// "NAME" forwards the variable, "NAME=VALUE" sets it, "NAME*" forwards all with that prefix; several names
/// are separated by commas.
void add_environment(const std::string& given, const std::string& option, Pairs& env) {
    const size_t equals = given.find('=');
    if (equals == 0 || given.empty())
        throw UsageError(fmt::format("{} takes NAME or NAME=VALUE, not '{}'", option, given));
    if (equals != std::string::npos) {
        env.emplace_back(given.substr(0, equals), given.substr(equals + 1));
        return;
    }
    for (const std::string& name : split(given, ',')) {
        if (name.ends_with('*')) continue;  // they are inherited
        const char* value = getenv(name.c_str());
        if (value == nullptr)
            throw UsageError(fmt::format("{} {}: this variable is not set here", option, name));
        env.emplace_back(name, value);
    }
}

/// "NAME" or "NAMEc", where c is the separator, and "=VALUE".
void change_environment(const Given& given, EnvChange::Kind kind, Draft& draft) {
    const std::string text = given.value();
    const size_t equals = text.find('=');
    EnvChange change{kind, text.substr(0, equals), "", ':'};
    if (equals != std::string::npos) change.value = text.substr(equals + 1);
    if (kind != EnvChange::Kind::Unset && !change.name.empty() &&
        std::string_view(":;,|/ ").find(change.name.back()) != std::string_view::npos) {
        change.separator = change.name.back();
        change.name.pop_back();
    }
    if (change.name.empty()) throw UsageError(fmt::format("{} needs the name of a variable", given.written));
    draft.app.env_changes.push_back(std::move(change));
}

std::vector<std::string> kept(const std::string& list) {
    std::vector<std::string> names;
    for (const std::string& name : split(list, ',')) {
        if (!name.empty()) names.push_back(name);
    }
    return names;
}

/// Frameworks, and the parts of the library that have parameters.
constexpr std::array<std::string_view, 25> kFrameworksOfPmix = {
    "server",  "client",  "tool",         "pmix",  "bfrops", "gds",  "pcompress", "pdl", "pfexec",
    "pgpu",    "pif",     "pinstalldirs", "plog",  "pmdl",   "pnet", "preg",      "prm", "psec",
    "psensor", "psquash", "pstat",        "pstrg", "ptl",    "mca",  "pmixp"};

/// The prefix of the environment variable that sets a parameter of --mca NAME VALUE: "PMIX_MCA_" where the
/// name begins with a framework of PMIx, "OMPI_MCA_" otherwise.
std::string_view prefix_of(std::string_view framework) {
    const bool ours = std::ranges::find(kFrameworksOfPmix, framework) != kFrameworksOfPmix.end();
    return ours ? "PMIX_MCA_" : "OMPI_MCA_";
}

/// Whether one letter is missing, added or wrong, or two neighbours are swapped.
bool is_one_slip_from(std::string_view given, std::string_view meant) {
    while (!given.empty() && !meant.empty() && given.front() == meant.front()) {
        given.remove_prefix(1);
        meant.remove_prefix(1);
    }
    while (!given.empty() && !meant.empty() && given.back() == meant.back()) {
        given.remove_suffix(1);
        meant.remove_suffix(1);
    }
    if (given.size() == 2 && meant.size() == 2) return given[0] == meant[1] && given[1] == meant[0];
    return given.size() <= 1 && meant.size() <= 1;
}

/// The framework of PMIx meant by a misspelt one; "" if it may be one of Open MPI.
std::string_view meant_by(std::string_view framework) {
    // Frameworks of Open MPI whose names are as similar.
    constexpr std::array<std::string_view, 12> kOfOpenMpi = {
        "btl", "compress", "dl", "if", "installdirs", "mtl", "plm", "pml", "rds", "sds", "sec", "sensor"};
    if (std::ranges::find(kOfOpenMpi, framework) != kOfOpenMpi.end()) return "";
    const auto found = std::ranges::find_if(
        kFrameworksOfPmix, [&](std::string_view known) { return is_one_slip_from(framework, known); });
    return found == kFrameworksOfPmix.end() ? "" : *found;
}

/// --mca NAME VALUE does nothing here where the framework is misspelt: the server is not given the parameter.
void warn_of_misspelt_framework(const Given& given, std::string_view name, Options& options) {
    const std::string_view framework = name.substr(0, name.find('_'));
    const std::string_view meant = meant_by(framework);
    if (meant.empty()) return;
    std::string warning = fmt::format("{} {}: no framework is called {}; did you mean {}?", given.written,
                                      name, framework, meant);
    if (std::ranges::find(options.warnings, warning) == options.warnings.end())
        options.warnings.push_back(std::move(warning));
}

void parameter(const Given& given, Draft& draft) {
    const std::string text = given.value();
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    Options& options = draft.options;
    const Setting setting = given.setting();
    const std::string_view prefix = setting == Setting::PmixParameter ? "PMIX_MCA_"
                                    : setting == Setting::OmpiParameter
                                        ? "OMPI_MCA_"
                                        : prefix_of(name.substr(0, name.find('_')));
    options.parameters.emplace_back(std::string(prefix) + name, value);
    if (prefix == "OMPI_MCA_" && setting == Setting::AnyParameter)
        warn_of_misspelt_framework(given, name, options);
    if (setting == Setting::AnyParameter && is_parameter_of_prrte(name))
        options.warnings.push_back(
            fmt::format("{} {} {} is a parameter of another launcher (PRRTE) and does nothing here",
                        given.written, name, value));
}

void map_by(const Given& given, Draft& draft) {
    const std::string text = given.value();
    read_map_policy(text);
    // "ppr:2:node" is one policy, "core" another.
    size_t end = text.find(':');
    for (int more = lower(text).starts_with("ppr:") ? 2 : 0; more > 0 && end != std::string::npos; --more)
        end = text.find(':', end + 1);
    end = std::min(end, text.size());
    const bool modifiers_alone = lower(text).starts_with("pe-list=");
    const std::string policy = modifiers_alone ? "" : text.substr(0, end);
    MapWords& map = draft.map;
    if (!policy.empty() && !map.policy.empty() && policy != map.policy) {
        throw UsageError(fmt::format("{}: ranks are mapped by {} ({}) already; give one of both",
                                     given.written, map.policy, map.given_by));
    }
    if (!policy.empty()) {
        map.policy = policy;
        map.given_by = given.written;
    }
    map.modifiers += modifiers_alone ? ":" + text : text.substr(end);
}

void timeout(const Given& given, double& seconds) {
    const std::string text = given.value();
    char* end = nullptr;
    seconds = strtod(text.c_str(), &end);
    if (*end != '\0' || !(seconds > 0) || seconds > 1e9)
        throw UsageError(fmt::format("{} takes a number of seconds, not '{}'", given.written, text));
}

/// A comma list of files with the names that they have from everywhere.
std::string absolute_files(const std::string& list) {
    std::string files;
    for (const std::string& file : split(list, ',')) {
        if (!file.empty()) files += (files.empty() ? "" : ",") + std::filesystem::absolute(file).string();
    }
    return files;
}

void add_hosts(const std::string& list, std::vector<std::string>& hosts) {
    for (const std::string& host : split(list, ','))
        hosts.push_back(host);
}

void bind_to(const Given& given, Draft& draft) {
    draft.options.job.bind_to = read_bind_policy(given.value()).text;
}

struct Rule {
    Setting setting;
    void (*apply)(const Given& given, Draft& draft);
};

using enum Setting;

constexpr auto kRules = std::to_array<Rule>({
    {Ranks, [](const Given& g, Draft& d) { d.app.ranks = read_number(g.value(), g.written, 1, kMostRanks); }},
    {Env, [](const Given& g, Draft& d) { add_environment(g.value(), g.written, d.first); }},
    {OwnEnv, [](const Given& g, Draft& d) { add_environment(g.value(), g.written, d.own); }},
    {CommonEnv, [](const Given& g, Draft& d) { add_environment(g.value(), g.written, d.common); }},
    {KeepEnv, [](const Given& g, Draft& d) { d.keep = kept(g.value()); }},
    {CommonKeepEnv, [](const Given& g, Draft& d) { d.keep_common = kept(g.value()); }},
    {UnsetEnv, [](const Given& g, Draft& d) { change_environment(g, EnvChange::Kind::Unset, d); }},
    {AppendEnv, [](const Given& g, Draft& d) { change_environment(g, EnvChange::Kind::Append, d); }},
    {PrependEnv, [](const Given& g, Draft& d) { change_environment(g, EnvChange::Kind::Prepend, d); }},
    {WorkingDirectory, [](const Given& g, Draft& d) { d.app.wdir = g.value(); }},
    {SessionDirectory, [](const Given&, Draft& d) { d.app.session_wdir = true; }},
    {ProcessSet, [](const Given& g, Draft& d) { d.app.pset = g.value(); }},
    {Hosts, [](const Given& g, Draft& d) { add_hosts(g.value(), d.app.hosts); }},
    {Hostfile, [](const Given& g, Draft& d) { d.app.hostfile = g.value(); }},
    {AddedHosts, [](const Given& g, Draft& d) { add_hosts(g.value(), d.app.added_hosts); }},
    {AddedHostfile, [](const Given& g, Draft& d) { d.app.added_hostfile = g.value(); }},
    {IndexArgv, [](const Given&, Draft& d) { d.app.index_argv = true; }},
    {MaxRestarts,
     [](const Given& g, Draft& d) { d.app.max_restarts = read_number(g.value(), g.written, 0, INT32_MAX); }},
    {PreloadProgram, [](const Given&, Draft& d) { d.app.preload_program = true; }},
    {PreloadFiles, [](const Given& g, Draft& d) { d.app.preload_files = absolute_files(g.value()); }},
    {MapBy, map_by},
    {RankBy,
     [](const Given& g, Draft& d) {
         if (read_rank_policy(g.value()) != RankPolicy::Mapped) d.options.job.rank_by = lower(g.value());
     }},
    {BindTo, bind_to},
    {CpuList,
     [](const Given& g, Draft& d) {
         if (!read_cpu_list(g.value()).empty()) d.options.job.cpu_list = g.value();
     }},
    {NoOversubscribe, [](const Given&, Draft& d) { d.options.job.no_oversubscribe = true; }},
    {Oversubscribe, [](const Given&, Draft& d) { d.options.oversubscribe = true; }},
    {Nodes, [](const Given& g, Draft& d) { d.options.nodes = read_number(g.value(), g.written, 1, kMostNodes); }},
    {Output, [](const Given& g, Draft& d) { output(g.value(), d.options.job.output.style); }},
    {Display, [](const Given& g, Draft& d) { display(g.value(), d.options.job.display); }},
    {Input, [](const Given& g, Draft& d) { d.options.job.input = input_policy(g.value()); }},
    {Timeout, [](const Given& g, Draft& d) { timeout(g, d.options.timeout); }},
    {SpawnTimeout,
     [](const Given& g, Draft& d) {
         d.options.job.spawn_seconds = read_number(g.value(), g.written, 1, INT32_MAX);
     }},
    {TimeoutStates, [](const Given&, Draft& d) { d.options.job.on_timeout.states = true; }},
    {TimeoutStacks, [](const Given&, Draft& d) { d.options.job.on_timeout.stacks = true; }},
    {Recovery, [](const Given&, Draft& d) { d.options.job.wishes.recoverable = true; }},
    {Continuous, [](const Given&, Draft& d) { d.options.job.wishes.continuous = true; }},
    {Runtime, [](const Given& g, Draft& d) { runtime(g.value(), d); }},
    {ReportChildrenSeparately, [](const Given&, Draft& d) { d.options.job.wishes.report_separately = true; }},
    {DoNotLaunch, [](const Given&, Draft& d) { d.options.job.do_not_launch = true; }},
    {PmixParameter, parameter},
    {OmpiParameter, parameter},
    {AnyParameter, parameter},
    {PrteParameter, [](const Given& g, Draft& d) { d.options.without_effect.push_back(g.written); }},
    {Report, [](const Given&, Draft& d) { d.options.report = true; }},
    {ReportUri, [](const Given& g, Draft& d) { d.options.report_uri = g.value(); }},
    {Attach, [](const Given& g, Draft& d) { d.options.attach = g.value(); }},
    {Scheduler, [](const Given& g, Draft& d) { d.options.scheduler = g.value(); }},
    {Launcher, [](const Given& g, Draft& d) { d.options.handler = read_handler(g.written, g.value()); }},
    {Quiet, [](const Given&, Draft& d) { d.options.quiet = true; }},
    {Verbose, [](const Given&, Draft& d) { display("allocation,map", d.options.job.display); }},
    {Version, [](const Given&, Draft&) {}},
    {Help, [](const Given&, Draft&) {}},
    {Accepted, [](const Given&, Draft&) {}},
    {Remote, [](const Given& g, Draft& d) { d.options.without_effect.push_back(g.written); }},
    {Refused, [](const Given&, Draft&) {}},
    {OtherMeaning, [](const Given&, Draft&) {}},
});

/// Rules are unordered: the compiler finds a setting without one.
constexpr bool complete() {
    for (size_t setting = 0; setting <= static_cast<size_t>(OtherMeaning); ++setting) {
        size_t rules = 0;
        for (const Rule& rule : kRules)
            rules += rule.setting == static_cast<Setting>(setting) ? 1 : 0;
        if (rules != 1) return false;
    }
    return true;
}
static_assert(complete(), "each setting has one rule");

}  // namespace

Handler read_handler(const std::string& option, const std::string& name) {
    struct Name {
        std::string_view name;
        Handler handler;
    };
    // The last two as hydra calls them.
    static constexpr auto kNames = std::to_array<Name>({{"auto", Handler::Automatic},
                                                        {"muster", Handler::Muster},
                                                        {"srun", Handler::Srun},
                                                        {"prterun", Handler::Prterun},
                                                        {"fork", Handler::Muster},
                                                        {"slurm", Handler::Srun}});
    const auto* const found = std::ranges::find(kNames, std::string_view(name), &Name::name);
    if (found == kNames.end())
        throw UsageError(fmt::format("{} '{}': valid are auto, muster, srun, prterun", option, name));
    return found->handler;
}

bool is_parameter_of_prrte(std::string_view name) {
    static constexpr std::array<std::string_view, 18> kFrameworks = {
        "errmgr", "ess", "filem", "grpcomm", "iof",    "odls", "oob",    "orte",  "plm",
        "prte",   "ras", "rmaps", "rml",     "routed", "rtc",  "schizo", "snapc", "state"};
    return std::ranges::find(kFrameworks, name.substr(0, name.find('_'))) != kFrameworks.end();
}

void apply(const Given& given, Draft& draft) {
    std::ranges::find(kRules, given.setting(), &Rule::setting)->apply(given, draft);
}

}  // namespace muster::launcher
