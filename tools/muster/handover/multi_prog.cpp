// SPDX-License-Identifier: BSD-3-Clause
// Several programs as srun takes them: a file with a line for each range of ranks.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/handover/command.hpp"

namespace muster::launcher {
namespace {

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

std::string multi_prog_lines(const Options& options) {
    std::string lines;
    uint32_t first = 0;
    for (size_t i = 0; i < options.job.apps.size(); ++i) {
        const uint32_t ranks = options.job.apps[i].ranks;
        std::string line =
            ranks == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + ranks - 1);
        const std::vector<std::string> words = words_of_program(options, i);
        for (const std::string& word : words)
            line += " " + quoted_for_srun(word);
        if (words.size() > kMostWords || line.size() > kLongestLine) {
            throw UsageError(fmt::format(
                "program {} has {} words and {} characters, but srun takes {} words and {} characters of "
                "each of several programs; start it by a script",
                i + 1, words.size(), line.size(), kMostWords, kLongestLine));
        }
        lines += line + "\n";
        first += ranks;
    }
    return lines;
}

}  // namespace muster::launcher
