// SPDX-License-Identifier: BSD-3-Clause
// The table of all options.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/muster/command_line/option_table.hpp"
#include "tools/muster/handover/command.hpp"

namespace muster::launcher {
namespace {

std::string launchers(unsigned of) {
    constexpr std::array<std::pair<unsigned, std::string_view>, 6> kNames = {{{kMuster, "muster"},
                                                                              {kOpenMpi4, "Open MPI 4"},
                                                                              {kOpenMpi5, "Open MPI 5"},
                                                                              {kPrrte, "PRRTE"},
                                                                              {kHydra, "hydra"},
                                                                              {kSlurm, "srun"}}};
    std::string text;
    for (const auto& [bit, name] : kNames) {
        if ((of & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    }
    return text;
}

/// For a cell of a table.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text)
        escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    return escaped;
}

std::string here(const Spelling& spelling, std::string_view text) {
    switch (spelling.setting) {
        case Setting::Refused:
            return fmt::format("refused: {}", text);
        case Setting::OtherMeaning:
            return fmt::format("read otherwise: {}", text);
        case Setting::Remote:
        case Setting::PrteParameter:
            return fmt::format("warned of: {}", text);
        case Setting::Accepted:
            return fmt::format("taken: {}", text);
        default:
            return fmt::format("{}: {}", (spelling.of & kMuster) != 0 ? "taken" : "translated", text);
    }
}

std::string elsewhere(Setting setting, const std::vector<Rendering>& renderings) {
    if (setting == Setting::Refused || setting == Setting::OtherMeaning) return "";
    const Rendering& found = *std::ranges::find(renderings, setting, &Rendering::setting);
    if (found.becomes.empty()) return fmt::format("refused: {}", found.cure);
    return std::string(found.becomes);
}

}  // namespace

std::string options_page() {
    std::string page =
        "| option | of | on this machine | with srun | with prterun |\n"
        "|---|---|---|---|---|\n";
    std::string_view text;
    for (const Spelling* spelling : all_options()) {
        if (!spelling->text.empty()) text = spelling->text;
        std::string names;
        for (const std::string_view name : words_in(spelling->names))
            names += fmt::format("{}{}", names.empty() ? "" : ", ", dashed(name));
        if (!spelling->takes.empty()) names += fmt::format(" {}", spelling->takes);
        page +=
            fmt::format("| `{}` | {} | {} | {} | {} |\n", cell(names), launchers(spelling->of),
                        cell(here(*spelling, text)), cell(elsewhere(spelling->setting, srun_renderings())),
                        cell(elsewhere(spelling->setting, prterun_renderings())));
    }
    return page;
}

}  // namespace muster::launcher
