// SPDX-License-Identifier: BSD-3-Clause
// muster: starts a parallel program on this machine and serves its processes through PMIx.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/command_line/connection.hpp"
#include "tools/muster/command_line/tool_commands.hpp"
#include "tools/muster/handover/handover.hpp"
#include "tools/muster/host/node.hpp"
#include "tools/muster/launcher.hpp"
#include "tools/muster/nodes/process.hpp"
#include "tools/session/standard_descriptors.hpp"

namespace {

/// Removes the variables of an outer server: this muster's servers and ranks are not its clients. Parameters
/// stay.
void forget_outer_server() {
    std::vector<std::string> names;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (text.starts_with("PMIX_") && !text.starts_with("PMIX_MCA_"))
            names.emplace_back(text.substr(0, text.find('=')));
    }
    for (const std::string& name : names)
        unsetenv(name.c_str());
}

void warn(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        fprintf(stderr, "muster: %s\n", warning.c_str());
}

/// Executes another launcher, and returns where muster starts the processes itself.
void hand_over(const muster::launcher::Options& options, bool guided) {
    const auto handover = muster::launcher::handover(options, guided);
    if (!handover) return;
    if (!options.quiet) {
        warn(handover->warnings);
        fprintf(stderr, "muster: %s%srunning %s\n", handover->why.c_str(), handover->why.empty() ? "" : ": ",
                handover->command.text().c_str());
    }
    forget_outer_server();
    muster::launcher::restore_signals();
    handover->command.execute();
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    muster::launcher::remember_signals();
    try {
        if (argc == 3 && strcmp(argv[1], muster::launcher::kNodeOption) == 0)
            return muster::launcher::run_node(atoi(argv[2]));
        if (argc == 3 && strcmp(argv[1], "--help") == 0 && strcmp(argv[2], "options") == 0)
            return fputs(muster::launcher::options_page().c_str(), stdout) < 0 ? 1 : 0;
        if (const auto status = muster::launcher::run_tool_command({argv + 1, argv + argc})) return *status;
        muster::launcher::CommandLine line = muster::launcher::read_command_line({argv + 1, argv + argc});
        if (!line.options) {
            fputs(line.text.c_str(), line.status == 0 ? stdout : stderr);
            return line.status;
        }
        muster::launcher::Initiator initiator = muster::launcher::Initiator::from_environment();
        hand_over(*line.options, initiator.waits_for_us() || initiator.pause);
        if (!line.options->quiet) warn(line.options->warnings);
        forget_outer_server();
        for (const auto& [name, value] : line.options->parameters)
            setenv(name.c_str(), value.c_str(), 1);
        line.options->forget_variables();
        if (!line.options->attach.empty()) return muster::launcher::run_attached(*line.options);
        if (const std::string unused = muster::launcher::unused_nodes(*line.options); !unused.empty())
            fprintf(stderr, "muster: %s\n", unused.c_str());
        return muster::launcher::Launcher(std::move(*line.options), std::move(initiator)).run();
    } catch (const muster::launcher::UsageError& error) {
        fprintf(stderr, "muster: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fprintf(stderr, "muster: %s\n", error.what());
        return 1;
    }
}
