// SPDX-License-Identifier: BSD-3-Clause
// Tools in muster, through the public API alone.
#include "tools/muster/command_line/tool_commands.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>

#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "tools/muster/command_line/connection.hpp"
#include "tools/muster/command_line/top.hpp"
#include "tools/muster/exchange/attributes.hpp"

namespace muster::launcher {
namespace {

constexpr std::string_view kUsage =
    "Usage: muster ps [SERVER]\n"
    "       muster kill [-s SIGNAL] SERVER [JOB]...\n"
    "       muster top [--once] [--json] [-d SECONDS] [SERVER]\n"
    "SERVER is the process ID of a running muster, or its URI (--report-uri). ps shows the jobs that it "
    "runs;\n"
    "kill ends jobs (JOB as ps shows it; all when none is named), or sends them the signal of this number.\n"
    "top shows the processes again and again, with their memory and what each one waits for: every 2 "
    "seconds, "
    "or\n"
    "as -d says, until q or ^C; once where --once or --json (which writes JSON) says so, or where the output "
    "is no terminal.\n";

void show_process(const std::string& nspace, const pmix_proc_info_t& proc) {
    fmt::print("{:<28} {:>5} {:<12} {:>8} {:<24} {}\n", nspace, proc.proc.rank, text_of(proc.hostname),
               proc.pid, PMIx_Proc_state_string(proc.state), text_of(proc.executable_name));
}

int ps(const std::vector<std::string>& arguments) {
    if (arguments.size() > 2) throw std::invalid_argument("ps takes one server");
    const Connection connection(arguments.size() > 1 ? arguments[1] : "");
    fmt::print("{:<28} {:>5} {:<12} {:>8} {:<24} {}\n", "JOB", "RANK", "NODE", "PID", "STATE", "PROGRAM");
    for (const std::string& nspace : jobs()) {
        for_each_process(nspace, [&](const pmix_proc_info_t& process) { show_process(nspace, process); });
    }
    return 0;
}

int kill_jobs(const std::vector<std::string>& arguments) {
    size_t next = 1;
    std::optional<int> signal_number;
    if (next < arguments.size() && arguments[next] == "-s") {
        if (next + 1 < arguments.size()) signal_number = positive_number(arguments[next + 1]);
        if (!signal_number || *signal_number >= NSIG)
            throw std::invalid_argument("-s takes the number of a signal");
        next += 2;
    }
    if (next >= arguments.size()) throw std::invalid_argument("kill needs a server");
    const Connection connection(arguments[next]);
    std::vector<std::string> names(arguments.begin() + static_cast<std::ptrdiff_t>(next) + 1,
                                   arguments.end());
    if (names.empty()) names = jobs();
    for (const std::string& name : names) {
        const pmix_proc_t target = to_pmix({name, PMIX_RANK_WILDCARD});
        InfoList info;
        if (!signal_number) {
            info.flag(PMIX_JOB_CTRL_TERMINATE, true);
        } else if (*signal_number == SIGKILL) {
            info.flag(PMIX_JOB_CTRL_KILL, true);
        } else {
            info.add(PMIX_JOB_CTRL_SIGNAL, &*signal_number, PMIX_INT);
        }
        Found found;
        check(PMIx_Job_control(&target, 1, info.data(), info.size(), &found.info, &found.count),
              fmt::format("job '{}'", name));
    }
    return 0;
}

}  // namespace

std::optional<int> run_tool_command(const std::vector<std::string>& arguments) {
    if (arguments.empty() || (arguments[0] != "ps" && arguments[0] != "kill" && arguments[0] != "top"))
        return std::nullopt;
    if (arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h")) {
        fmt::print("{}", kUsage);
        return 0;
    }
    try {
        const int status = arguments[0] == "ps"    ? ps(arguments)
                           : arguments[0] == "top" ? top(arguments)
                                                   : kill_jobs(arguments);
        return status;
    } catch (const std::invalid_argument& error) {
        fmt::print(stderr, "muster: {} (see muster {} --help)\n", error.what(), arguments[0]);
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "muster: {}\n", error.what());
        return 1;
    }
}

}  // namespace muster::launcher
