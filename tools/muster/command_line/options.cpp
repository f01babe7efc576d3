// SPDX-License-Identifier: BSD-3-Clause
// The complete command line: the programs, and common settings.
#include "tools/muster/command_line/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/muster/command_line/settings.hpp"
#include "tools/muster/jobs/topology.hpp"

namespace muster::launcher {
namespace {

/// The file that a relative path means where muster is called, or nothing: it is looked for in the directory
/// in which the program runs.
std::string program_here(const std::string& name) {
    if (name[0] == '/' || name.find('/') == std::string::npos) return "";
    std::error_code error;
    const std::filesystem::path file = std::filesystem::current_path(error) / name;
    return !error && std::filesystem::exists(file, error) ? file.string() : "";
}

bool has(const std::vector<Given>& options, Setting setting) {
    return std::ranges::any_of(options, [&](const Given& given) { return given.setting() == setting; });
}

/// Removes the variables that a program is not to inherit.
void forget_others(const std::vector<std::string>& keep, App& app) {
    std::vector<EnvChange> changes;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::string name(text.substr(0, text.find('=')));
        const bool set = std::ranges::any_of(app.env, [&](const auto& own) { return own.first == name; });
        if (!set && std::ranges::find(keep, name) == keep.end())
            changes.push_back({EnvChange::Kind::Unset, name, {}, ':'});
    }
    app.env_changes.insert(app.env_changes.begin(), changes.begin(), changes.end());
}

/// Reads the programs one after the other.
class Programs {
  public:
    explicit Programs(Options& options) : options_(options) {}

    void read(GivenProgram program) {
        App app;
        Draft draft{options_, app, map_, common_, {}, {}, keep_common_, {}};
        for (const Given& given : program.options)
            apply(given, draft);
        app.argv = std::move(program.argv);
        if (!app.wdir.empty() && !app.argv.empty()) app.program = program_here(app.argv[0]);
        // -x of the first program counts for all programs, as with mpirun.
        if (options_.job.apps.empty()) first_ = draft.first;
        own_.push_back(options_.job.apps.empty() ? draft.own : draft.first);
        if (!options_.job.apps.empty())
            own_.back().insert(own_.back().end(), draft.own.begin(), draft.own.end());
        keep_.push_back(std::move(draft.keep));
        options_.given.push_back(std::move(program.options));
        options_.job.apps.push_back(std::move(app));
    }

    void finish() {
        const std::string map = map_.policy + map_.modifiers;
        if (!map.empty()) options_.job.map_by = read_map_policy(map).text;
        for (size_t i = 0; i < own_.size(); ++i) {
            App& app = options_.job.apps[i];
            for (const Pairs* variables : {&options_.parameters, &common_, &first_, &own_[i]})
                app.env.insert(app.env.end(), variables->begin(), variables->end());
            options_.kept.push_back(keep_[i] ? keep_[i] : keep_common_);
        }
        if (options_.without_effect.empty()) return;
        std::string names;
        std::ranges::sort(options_.without_effect);
        for (size_t i = 0; i < options_.without_effect.size(); ++i) {
            const std::string& name = options_.without_effect[i];
            if (i > 0 && options_.without_effect[i - 1] == name) continue;
            names += (names.empty() ? "" : ", ") + name;
        }
        options_.warnings.push_back(fmt::format("{}: of no effect here", names));
    }

  private:
    Options& options_;
    MapWords map_;
    Pairs common_, first_;
    std::vector<Pairs> own_;  ///< by program
    std::optional<std::vector<std::string>> keep_common_;
    std::vector<std::optional<std::vector<std::string>>> keep_;  ///< by program
};

void check_together(const Options& options) {
    if (!options.attach.empty() &&
        (options.nodes != 0 || !options.report_uri.empty() || !options.scheduler.empty() || options.report))
        throw UsageError(
            "--nodes, --scheduler, --report-uri and --report are for the muster that runs, not for --attach");
    if (options.serve && !options.attach.empty())
        throw UsageError("serve has servers of its own and takes no --attach");
}

CommandLine read_programs(const std::vector<std::string>& arguments) {
    Options options;
    options.serve = !arguments.empty() && arguments[0] == "serve";
    std::vector<GivenProgram> programs =
        split_arguments({arguments.begin() + (options.serve ? 1 : 0), arguments.end()});
    Programs reader(options);
    for (size_t i = 0; i < programs.size(); ++i) {
        if (has(programs[i].options, Setting::Help)) return {std::nullopt, 0, help_text()};
        if (has(programs[i].options, Setting::Version))
            return {std::nullopt, 0, "muster (Muster) " MUSTER_VERSION "\n"};
        if (options.serve && (programs.size() > 1 || !programs[i].argv.empty()))
            throw UsageError("serve starts no program; tools do that");
        if (!options.serve && programs[i].argv.empty()) {
            throw UsageError(programs.size() == 1
                                 ? "no program is given: muster -n 4 PROGRAM (see muster --help)"
                                 : fmt::format("no program is given in part {}", i + 1));
        }
        reader.read(std::move(programs[i]));
    }
    reader.finish();
    check_together(options);
    if (options.serve) {
        options.job.apps.clear();
        options.kept.clear();
    }
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

void Options::forget_variables() {
    for (size_t i = 0; i < kept.size(); ++i) {
        if (kept[i]) forget_others(*kept[i], job.apps[i]);
    }
}

CommandLine read_command_line(const std::vector<std::string>& arguments) {
    try {
        return read_programs(arguments);
    } catch (const std::exception& error) {
        return {std::nullopt, 2, fmt::format("muster: {}\n", error.what())};
    }
}

}  // namespace muster::launcher
