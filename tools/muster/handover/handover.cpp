// SPDX-License-Identifier: BSD-3-Clause
// Which launcher starts the processes.
#include "tools/muster/handover/handover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tools/muster/command_line/settings.hpp"
#include "tools/muster/jobs/hosts.hpp"
#include "tools/muster/jobs/machines.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

bool in_path(std::string_view program) {
    const char* path = getenv("PATH");
    if (path == nullptr) return false;
    const std::vector<std::string> folders = split(path, ':');
    return std::ranges::any_of(folders, [&](const std::string& folder) {
        return access(fmt::format("{}/{}", folder.empty() ? "." : folder, program).c_str(), X_OK) == 0;
    });
}

/// A number of Slurm's; 0 where there is none.
unsigned slurm_number(const char* name) {
    const char* text = getenv(name);
    unsigned number = 0;
    if (text != nullptr) std::from_chars(text, text + strlen(text), number);
    return number;
}

SlurmAllocation slurm_allocation() {
    SlurmAllocation allocation;
    allocation.nodes = slurm_number("SLURM_JOB_NUM_NODES");
    if (allocation.nodes == 0) allocation.nodes = slurm_number("SLURM_NNODES");
    allocation.in_step = getenv("SLURM_STEP_ID") != nullptr;
    return allocation;
}

/// A step of several processes has as many musters, each for itself.
bool in_parallel_step() {
    return getenv("SLURM_STEP_ID") != nullptr && slurm_number("SLURM_STEP_NUM_TASKS") > 1;
}

struct Hosts {
    bool named = false;
    std::vector<std::string> others;  ///< that are not this machine
};

Hosts hosts_of(const Options& options) {
    Hosts hosts;
    for (const App& app : options.job.apps) {
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
    const char* name = getenv("MUSTER_LAUNCHER");
    if (options.handler != Handler::Automatic || name == nullptr || *name == '\0') return options.handler;
    return read_handler("MUSTER_LAUNCHER", name);
}

Handover to_srun(const Options& options, const SlurmAllocation& allocation, const std::string& why) {
    if (!in_path("srun"))
        throw std::runtime_error("--launcher srun: there is no srun in PATH; install Slurm's client");
    return {srun_command(options, allocation), why};
}

Handover to_prterun(const Options& options, const std::vector<std::string>& others) {
    if (!in_path("prterun")) {
        throw std::runtime_error(
            fmt::format("{}muster starts processes on this machine only; install PRRTE's prterun (Debian: "
                        "libprrte-bin) for "
                        "others, or start muster in an allocation of Slurm",
                        others.empty() ? "--launcher prterun: " : fmt::format("host {}: ", some_of(others))));
    }
    return {prterun_command(options),
            others.empty() ? "" : fmt::format("other machines are named ({})", some_of(others))};
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
    if (allocation.nodes > 1 && !in_parallel_step() && in_path("srun"))
        return to_srun(options, allocation,
                       fmt::format("the Slurm allocation has {} nodes", allocation.nodes));
    // The nodes of --nodes are pretended, and have names of their own.
    if (hosts.others.empty() || options.nodes > 0) return std::nullopt;
    return to_prterun(options, hosts.others);
}

std::string unused_nodes(const Options& options) {
    const SlurmAllocation allocation = slurm_allocation();
    if (options.serve || allocation.nodes < 2 || in_parallel_step() || in_path("srun")) return "";
    return fmt::format(
        "the allocation has {} nodes, and muster uses this one alone; with srun in PATH muster uses all",
        allocation.nodes);
}

}  // namespace muster::launcher
