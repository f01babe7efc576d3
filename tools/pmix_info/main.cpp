// SPDX-License-Identifier: BSD-3-Clause
// pmix_info: the installation, its components with the reason why each is used or not, and all parameters
// with their values. Options and output follow OpenPMIx's pmix_info, with --json in addition.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "framework/base/words.hpp"
#include "tools/pmix_info/report.hpp"
#include "tools/session/command_line.hpp"
#include "tools/session/standard_descriptors.hpp"

namespace {

using namespace muster;
using namespace muster::info;

struct Arguments {
    bool all = false;
    bool show_version = false;  // --version: two lines, nothing else
    bool architecture = false;
    bool configuration = false;
    bool hostname = false;
    bool selected_only = false;
    bool parsable = false;
    bool json = false;
    bool quiet_option = false;  // accepted for compatibility, without effect
    std::vector<std::string> param;
    std::vector<std::string> paths;
    std::vector<std::string> types;
    std::vector<std::string> version_of;
    std::vector<std::string> parameters;  // --pmixmca: names and values by turns
    std::string color = "auto";
};

void add_words(const std::string& list, std::vector<std::string>& out) {
    for (const std::string_view word : words_of(list, ','))
        out.emplace_back(word);
}

void define_options(tools::CommandLine& line, Arguments& given) {
    line.flag("-V,--version", given.show_version, "Print the version and exit");
    line.flag("-a,--all", given.all, "Show everything");
    line.flag("--arch", given.architecture, "Show the architecture this was built for");
    line.flag("-c,--config", given.configuration, "Show how this was built");
    line.flag("--hostname", given.hostname, "Show the host this was built on (it is not recorded)");
    line.option("--param,--params", given.param,
                "Show components and parameters of a framework: FRAMEWORK COMPONENT, or "
                "FRAMEWORK:COMPONENT,...; \"all\" for any")
        .expected(1, 2)
        .type_name("FRAMEWORK COMPONENT");
    line.option("--path", given.paths, "Show folders of the installation: all, prefix, bindir, libdir, ...")
        .expected(1, 20)
        .type_name("KIND");
    line.option(
            "--show-version", given.version_of,
            "Show versions: pmix, all, FRAMEWORK or FRAMEWORK:COMPONENT, and full, major, minor or release")
        .expected(1, 2)
        .type_name("WHAT PART");
    line.option("-t,--type", given.types,
                "Show parameters of a type: int, unsigned_int, size_t, string, bool, double")
        .expected(1, 10)
        .type_name("TYPE");
    line.option("--pmixmca", given.parameters, "Set a parameter: NAME VALUE").pairs().type_name("NAME VALUE");
    line.flag("--selected-only", given.selected_only, "Only components that are used, and their parameters");
    line.flag("--parsable,--parseable", given.parsable, "One key:value a line");
    line.flag("--json", given.json, "JSON");
    line.option("--color", given.color, "auto, never or always")
        .one_of({"auto", "never", "always"})
        .type_name("WHEN");
    line.flag("--pretty-print,--pretty,--internal,--show-failed,-v,--verbose", given.quiet_option,
              "Accepted; this is what is done anyway");
}

/// Reports errors in the names on standard error; true if there are none.
bool names_are_known(const Selection& selection, const Inventory& inventory) {
    const auto list = [](const auto& names) {
        std::string out;
        for (const auto& name : names)
            out += (out.empty() ? "" : ", ") + name;
        return out;
    };
    std::set<std::string> frameworks(Registry::frameworks().begin(), Registry::frameworks().end());
    for (const ParameterView& one : inventory.parameters)
        frameworks.emplace(one.definition->framework);
    if (selection.framework != "all" && frameworks.count(selection.framework) == 0) {
        fmt::print(stderr, "pmix_info: there is no framework \"{}\"; there are {}\n", selection.framework,
                   list(frameworks));
        return false;
    }
    std::set<std::string> components{"base"};
    const auto is_asked_for = [&](std::string_view name) {
        return selection.framework == "all" || name == selection.framework;
    };
    for (const ComponentRecord& one : inventory.components) {
        if (is_asked_for(one.framework)) components.insert(one.name);
    }
    for (const ParameterView& one : inventory.parameters) {
        if (is_asked_for(one.definition->framework) && !one.definition->component.empty()) {
            components.emplace(one.definition->component);
        }
    }
    for (const std::string& name : selection.component_names) {
        if (components.count(name) != 0) continue;
        fmt::print(stderr, "pmix_info: framework {} has no component \"{}\"; it has {}\n",
                   selection.framework, name, list(components));
        return false;
    }
    std::vector<std::string> kinds{"all"};
    for (const auto& [kind, folder] : inventory.paths)
        kinds.push_back(kind);
    for (const std::string& kind : selection.paths) {
        if (std::ranges::find(kinds, kind) != kinds.end()) continue;
        fmt::print(stderr, "pmix_info: there is no path \"{}\"; there are {}\n", kind, list(kinds));
        return false;
    }
    return true;
}

void choose_target(Selection& selection, const std::string& framework, const std::string& components) {
    selection.framework = framework;
    if (components != "all") add_words(components, selection.component_names);
}

Selection select(const Arguments& given) {
    Selection chosen;
    chosen.selected_only = given.selected_only;
    chosen.architecture = given.all || given.architecture;
    chosen.configuration = given.all || given.configuration;
    chosen.hostname = given.hostname;
    chosen.types = given.types;
    chosen.paths = given.paths;
    for (const std::string& kind : given.paths) {
        if (kind.find(',') == std::string::npos) continue;
        chosen.paths.clear();
        for (const std::string& list : given.paths)
            add_words(list, chosen.paths);
        break;
    }
    if (given.all) {
        chosen.version = chosen.components = chosen.parameters = true;
        if (chosen.paths.empty()) chosen.paths = {"all"};
    }
    if (!given.param.empty()) {
        chosen.components = chosen.parameters = true;
        const std::string& first = given.param[0];
        const size_t colon = first.find(':');
        const std::string names = given.param.size() > 1       ? given.param[1]
                                  : colon != std::string::npos ? first.substr(colon + 1)
                                                               : "all";
        choose_target(chosen, first.substr(0, colon), names);
    }
    if (!given.types.empty()) chosen.parameters = true;
    if (!given.version_of.empty()) {
        const std::string& what = given.version_of[0];
        const size_t colon = what.find(':');
        chosen.components = true;
        chosen.version = what == "pmix" || what == "all";
        if (given.version_of.size() > 1) chosen.version_part = given.version_of[1];
        choose_target(chosen, what.substr(0, colon),
                      colon == std::string::npos ? "all" : what.substr(colon + 1));
        if (what == "pmix") chosen.components = false;
    }
    const bool acted = chosen.architecture || chosen.configuration || chosen.hostname ||
                       !chosen.paths.empty() || chosen.parameters || chosen.components || chosen.version;
    if (!acted) {
        chosen.version = chosen.architecture = chosen.configuration = chosen.components = true;
        chosen.paths = {"prefix"};
    }
    return chosen;
}

int run(int argc, char** argv) {
    Arguments given;
    tools::CommandLine line("Shows what this installation of Muster is: components, parameters, paths.",
                            "pmix_info");
    define_options(line, given);
    if (const auto status = line.parse(argc, argv)) return *status;
    if (given.version_of.size() > 1) {
        const std::string& part = given.version_of[1];
        if (part != "full" && part != "major" && part != "minor" && part != "release") {
            fmt::print(stderr,
                       "pmix_info: a version has no part \"{}\"; it has full, major, minor and release\n",
                       part);
            return 1;
        }
    }

    Parameters::Sources sources = Parameters::Sources::standard();
    for (size_t i = 0; i + 1 < given.parameters.size(); i += 2) {
        sources.program.emplace_back(given.parameters[i], given.parameters[i + 1]);
    }
    Parameters parameters(std::move(sources));
    const Inventory inventory = collect(parameters);
    if (given.show_version) {
        fmt::print("pmix_info ({}) {}\n", inventory.package, inventory.version);
        return 0;
    }
    const Selection selection = select(given);
    if (!names_are_known(selection, inventory)) return 1;

    const bool color = given.color == "always" || (given.color == "auto" && isatty(STDOUT_FILENO) == 1);
    const std::unique_ptr<Report> report = given.json       ? json_report()
                                           : given.parsable ? parsable_report()
                                                            : pretty_report(color);
    report->print(inventory, selection);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    // A reader that has seen enough (head) is no reason to be killed.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        if (std::ferror(stdout) != 0) return 1;  // open_standard_descriptors() has it reported
        fmt::print(stderr, "pmix_info: {}\n", error.what());
        return 1;
    }
}
