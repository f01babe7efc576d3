// SPDX-License-Identifier: BSD-3-Clause
// The choice of the launcher that starts the processes.
#include "tools/muster/handover/handover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/muster/command_line/settings.hpp"
#include "tools/muster/jobs/hosts.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

constexpr const char* kLauncherVariable = "MUSTER_LAUNCHER";

bool in_path(std::string_view program) {
    const char* path = getenv("PATH");
    if (path == nullptr) return false;
    const std::vector<std::string> folders = split(path, ':');
    return std::ranges::any_of(folders, [&](const std::string& folder) {
        return access(fmt::format("{}/{}", folder.empty() ? "." : folder, program).c_str(), X_OK) == 0;
    });
}

/// A number from Slurm; 0 if there is none.
unsigned slurm_number(const char* name) {
    const char* text = getenv(name);
    unsigned number = 0;
    if (text != nullptr) std::from_chars(text, text + strlen(text), number);
    return number;
}

const char* slurm_text(const char* name, const char* older) {
    const char* text = getenv(name);
    if (text == nullptr) text = getenv(older);
    return text == nullptr ? "" : text;
}

/// Whether the node is another machine. slurmd names its node, which need not have the machine's name.
bool is_elsewhere(const std::string& node) {
    const char* own = getenv("SLURMD_NODENAME");
    return own == nullptr ? !is_this_machine(node) : node != own;
}

/// The processes of the step that muster is one of.
unsigned step_size() {
    // The steps of shells have the highest numbers: batch, interactive, extern.
    constexpr unsigned kLeastOfShells = 0xfffffff0;
    const char* text = getenv("SLURM_STEP_ID");
    if (text == nullptr || slurm_number("SLURM_STEP_ID") >= kLeastOfShells) return 0;
    return std::max(1U, slurm_number("SLURM_STEP_NUM_TASKS"));
}

SlurmAllocation slurm_allocation() {
    SlurmAllocation allocation;
    allocation.nodes = slurm_number("SLURM_JOB_NUM_NODES");
    if (allocation.nodes == 0) allocation.nodes = slurm_number("SLURM_NNODES");
    if (allocation.nodes == 0) return allocation;
    allocation.node_list = slurm_text("SLURM_JOB_NODELIST", "SLURM_NODELIST");
    allocation.step_size = step_size();
    allocation.elsewhere =
        allocation.nodes == 1 && !allocation.node_list.empty() && is_elsewhere(allocation.node_list);
    return allocation;
}

/// Whether muster, started here without srun, would leave nodes of the allocation alone.
bool exceeds_this_machine(const SlurmAllocation& allocation) {
    return allocation.nodes > 1 || allocation.elsewhere;
}

std::string description(const SlurmAllocation& allocation) {
    if (allocation.elsewhere) return fmt::format("the Slurm allocation is node {}", allocation.node_list);
    return fmt::format("the Slurm allocation has {} nodes", allocation.nodes);
}

struct Hosts {
    bool named = false;
    std::vector<std::string> others;  ///< that are not this machine
};

/// A pipe is read once, by the launcher that starts the processes.
bool can_be_read_again(const std::string& file) {
    std::error_code error;
    return !std::filesystem::exists(file, error) || std::filesystem::is_regular_file(file, error);
}

Hosts hosts_of(const Options& options) {
    Hosts hosts;
    for (const App& app : options.job.apps) {
        if (!can_be_read_again(app.hostfile)) continue;
        for (const Mention& mention : mentioned_hosts(app.hosts, app.hostfile)) {
            hosts.named = true;
            const bool known = std::ranges::find(hosts.others, mention.name) != hosts.others.end();
            if (!known && !is_this_machine(mention.name)) hosts.others.push_back(mention.name);
        }
    }
    return hosts;
}

/// "n1, n2 and 3 more".
std::string some_of(const std::vector<std::string>& names) {
    constexpr size_t kShown = 4;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
    return text;
}

Handler wanted(const Options& options) {
    const char* name = getenv(kLauncherVariable);
    if (options.handler != Handler::Automatic || name == nullptr || *name == '\0') return options.handler;
    return read_handler(kLauncherVariable, name);
}

/// Another muster below the launcher is not to hand over again.
Handover final(Command command, std::string why, std::vector<std::string> warnings) {
    command.environment.emplace_back(kLauncherVariable, "muster");
    return {std::move(command), std::move(why), std::move(warnings)};
}

Handover to_srun(const Options& options, const SlurmAllocation& allocation, std::string why) {
    if (!in_path("srun"))
        throw std::runtime_error("--launcher srun: there is no srun in PATH; install Slurm's client");
    return final(srun_command(options, allocation), std::move(why), options.warnings);
}

Handover to_prterun(const Options& options, const std::vector<std::string>& others) {
    if (!in_path("prterun")) {
        throw std::runtime_error(fmt::format(
            "{}muster starts processes on this machine only; install PRRTE's prterun (package openmpi-bin or "
            "libprrte-bin) for others, or start muster in an allocation of Slurm",
            others.empty() ? "--launcher prterun: " : fmt::format("host {}: ", some_of(others))));
    }
    return final(prterun_command(options),
                 others.empty() ? "" : fmt::format("other machines are named ({})", some_of(others)), {});
}

}  // namespace

std::optional<Handover> handover(const Options& options, bool guided) {
    const Handler handler = wanted(options);
    if (handler == Handler::Muster) return std::nullopt;
    const bool own = options.serve || !options.attach.empty();
    if (own || guided) {
        if (options.handler != Handler::Automatic)
            throw UsageError("--launcher: serve, --attach and tools that guide muster need muster itself");
        return std::nullopt;
    }
    const SlurmAllocation allocation = slurm_allocation();
    const Hosts hosts = hosts_of(options);
    if (handler == Handler::Srun) return to_srun(options, allocation, "");
    if (handler == Handler::Prterun) return to_prterun(options, hosts.others);
    if (hosts.named && hosts.others.empty()) return std::nullopt;
    if (allocation.step_size > 0) return std::nullopt;
    if (exceeds_this_machine(allocation) && in_path("srun"))
        return to_srun(options, allocation, description(allocation));
    // The nodes of --nodes are simulated, and have their own names.
    if (hosts.others.empty() || options.nodes > 0) return std::nullopt;
    return to_prterun(options, hosts.others);
}

std::string unused_nodes(const Options& options) {
    const bool wants_muster = options.serve || options.handler != Handler::Automatic;
    const SlurmAllocation allocation = slurm_allocation();
    // The processes of a larger step have a muster each.
    if (wants_muster || !exceeds_this_machine(allocation) || allocation.step_size > 1) return "";
    if (allocation.step_size == 0 && in_path("srun")) return "";
    return fmt::format("{}, and muster uses this machine alone; {}", description(allocation),
                       allocation.step_size > 0 ? "--launcher srun uses all inside a step"
                                                : "with srun in PATH muster uses all");
}

}  // namespace muster::launcher
