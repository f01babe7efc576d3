// SPDX-License-Identifier: BSD-3-Clause
// The text of muster --help, made of the table of options.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "tools/muster/command_line/option_table.hpp"
#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {
namespace {

constexpr std::string_view kHelpHead =
    "Starts a parallel program: its processes find each other through PMIx.\n"
    "Usage: muster [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM2 [ARGUMENTS]]...\n"
    "       muster serve [OPTIONS]\n"
    "       muster --attach SERVER [OPTIONS] PROGRAM [ARGUMENTS]...\n"
    "       muster ps [SERVER]\n"
    "       muster top [--once] [--json] [-d SECONDS] [SERVER]\n"
    "       muster kill [-s SIGNAL] SERVER [JOB]...\n"
    "       muster --help options\n"
    "\n"
    "Options:\n";

constexpr std::string_view kHelpEnd =
    "\n"
    "Options of one program stand before its name; those marked (job) count for all and are best given "
    "first.\n"
    "On several machines (a Slurm allocation, --host) muster becomes srun or prterun.\n"
    "The exit status is that of the first process that failed (128 + signal number when a signal ended "
    "it), 127\n"
    "when a program is not found, 126 when it cannot be executed, 124 after --timeout.\n";

constexpr size_t kHelpColumn = 34, kHelpWidth = 110;

/// The text after the names, in lines of limited length.
std::string indented(std::string_view text, size_t column) {
    std::string out;
    size_t at = column;
    for (const std::string_view word : words_in(text)) {
        if (at > kHelpColumn && at + 1 + word.size() > kHelpWidth) {
            out += "\n" + std::string(kHelpColumn, ' ');
            at = kHelpColumn;
        } else if (at > kHelpColumn) {
            out += ' ';
            ++at;
        }
        out += word;
        at += word.size();
    }
    return out + "\n";
}

std::string entry(const std::string& names, const Spelling& spelling) {
    std::string head = "  " + names;
    if (!spelling.takes.empty()) head += " " + std::string(spelling.takes);
    if (head.size() + 2 > kHelpColumn)
        return head + "\n" + std::string(kHelpColumn, ' ') + indented(spelling.text, kHelpColumn);
    head.resize(kHelpColumn, ' ');
    return head + indented(spelling.text, kHelpColumn);
}

}  // namespace

std::string help_text() {
    std::string text(kHelpHead);
    const std::span<const Spelling> table = taken_options();
    for (size_t i = 0; i < table.size();) {
        std::string names;
        const Spelling& head = table[i];
        do {
            if ((table[i].of & kMuster) != 0) {
                for (const std::string_view name : words_in(table[i].names))
                    names += (names.empty() ? "" : ",") + dashed(name);
            }
        } while (++i < table.size() && table[i].text.empty());
        if (!names.empty()) text += entry(names, head);
    }
    return text + std::string(kHelpEnd);
}

}  // namespace muster::launcher
