// SPDX-License-Identifier: BSD-3-Clause
// The command line of another launcher, and the data of muster's that its translation needs.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {

/// A program to execute in place of muster.
struct Command {
    std::vector<std::string> words;
    /// Changes of the environment: a value, or none if the variable is removed.
    std::vector<std::pair<std::string, std::optional<std::string>>> environment;

    /// As a shell takes it.
    std::string text() const;
    /// Does not return, but throws std::runtime_error where the program cannot be executed.
    [[noreturn]] void execute() const;
};

/// The allocation, as Slurm's environment variables describe it.
struct SlurmAllocation {
    unsigned nodes = 0;     ///< 0: none
    std::string node_list;  ///< as Slurm writes it: "n[1-3]"
    /// Number of processes of muster's own step, 0 outside of a step. Shells of salloc and sbatch do not
    /// count as steps.
    unsigned step_size = 0;
    bool elsewhere = false;  ///< its one node is another machine
};

/// Translation of options to those of another launcher. There is one row for each setting.
struct Rendering {
    Setting setting;
    std::string_view becomes;  ///< for the reference; empty: refused
    std::string_view cure;     ///< of what is refused
};

/// The same with the function that passes the setting to the collector of the launcher's options; null:
/// nothing to pass.
template <class Collector>
struct Translation {
    Setting setting;
    std::string_view becomes;
    void (*translate)(Collector& to, const Given& given) = nullptr;
    std::string_view cure = {};
};

/// A setting without a counterpart in srun or prterun.
UsageError untranslatable(std::string_view option, std::string_view launcher, std::string_view cure);

/// Translates all options that were given. Throws UsageError for one that is refused.
template <class Collector>
void translate(const Options& options, std::span<const Translation<Collector>> rows,
               std::string_view launcher, Collector& to) {
    for (const std::vector<Given>& program : options.given) {
        for (const Given& given : program) {
            const auto& row = *std::ranges::find(rows, given.setting(), &Translation<Collector>::setting);
            if (row.becomes.empty()) throw untranslatable(given.written, launcher, row.cure);
            if (row.translate != nullptr) row.translate(to, given);
        }
    }
}

template <class Collector>
std::vector<Rendering> renderings_of(std::span<const Translation<Collector>> rows) {
    std::vector<Rendering> all;
    for (const auto& row : rows)
        all.push_back({row.setting, row.becomes, row.cure});
    return all;
}

/// A word in single quotes, unless it has letters, digits and `plain` alone.
std::string quoted(const std::string& word, std::string_view plain = "-_=+./,:@%^");

/// A file without a name, and the path by which the launcher opens it after the execution.
std::string nameless_file(const std::string& text);

/// The changes that the options of a program make in the environment, in order.
std::vector<std::pair<std::string, std::optional<std::string>>> environment_of(const Options& options,
                                                                               size_t program);

/// The programs as lines of the file that srun --multi-prog reads. Throws UsageError where such a file cannot
/// express them.
std::string multi_prog_lines(const Options& options);

Command srun_command(const Options& options, const SlurmAllocation& allocation);
Command prterun_command(const Options& options);

const std::vector<Rendering>& srun_renderings();
const std::vector<Rendering>& prterun_renderings();

/// A table of all options in Markdown, as docs/reference/options.md has it, for muster --help options.
std::string options_page();

}  // namespace muster::launcher
