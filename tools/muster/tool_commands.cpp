// SPDX-License-Identifier: BSD-3-Clause
// Tools in muster, through the public API alone.
#include "tools/muster/tool_commands.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>

#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "tools/muster/host/bridge.hpp"
#include "tools/muster/job_data.hpp"

namespace muster {
namespace {

constexpr std::string_view kUsage =
    "Usage: muster ps [SERVER]\n"
    "       muster kill [-s SIGNAL] SERVER [JOB]...\n"
    "SERVER is the process ID of a running muster, or its URI (--report-uri). ps shows the jobs that it "
    "runs;\n"
    "kill ends jobs (JOB as ps shows it; all when none is named), or sends them the signal of this number.\n";

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
    return value;
}

void check(pmix_status_t status, const std::string& what) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw std::runtime_error(fmt::format("{}: {}", what, PMIx_Error_string(status)));
}

/// The connection with a server, while it lasts.
class Connection {
  public:
    /// `server`: a process ID or a URI; "": the one that the library finds.
    explicit Connection(const std::string& server) {
        InfoList info;
        if (const std::optional<int> pid = number(server)) {
            const auto value = static_cast<pid_t>(*pid);
            info.add(PMIX_SERVER_PIDINFO, &value, PMIX_PID);
        } else if (!server.empty()) {
            info.text(PMIX_SERVER_URI, server);
        }
        pmix_proc_t self;
        check(PMIx_tool_init(&self, info.data(), info.size()),
              server.empty() ? "no muster is found; say its process ID or URI"
                             : fmt::format("cannot connect with muster '{}'", server));
    }
    ~Connection() { PMIx_tool_finalize(); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
};

/// What a query found; frees it.
struct Found {
    pmix_info_t* info = nullptr;
    size_t count = 0;
    Found() = default;
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;
    ~Found() {
        if (info != nullptr) PMIX_INFO_FREE(info, count);
    }
};

pmix_status_t query(const char* key, const std::string& nspace, Found& found) {
    pmix_query_t question;
    PMIX_QUERY_CONSTRUCT(&question);
    PMIx_Argv_append_nosize(&question.keys, key);
    if (!nspace.empty()) {
        PMIX_QUERY_QUALIFIERS_CREATE(&question, 1);
        PMIX_INFO_LOAD(&question.qualifiers[0], PMIX_NSPACE, nspace.c_str(), PMIX_STRING);
    }
    const pmix_status_t status = PMIx_Query_info(&question, 1, &found.info, &found.count);
    PMIX_QUERY_DESTRUCT(&question);
    return status;
}

std::vector<std::string> jobs() {
    Found found;
    std::vector<std::string> names;
    const pmix_status_t status = query(PMIX_QUERY_NAMESPACES, "", found);
    check(status, "the jobs cannot be queried");
    const std::string list = found.count > 0 ? text_of(found.info[0].value) : "";
    for (size_t at = 0; at < list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        names.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

void show_job(const std::string& nspace) {
    Found found;
    // A job may end between the one query and the other.
    if (query(PMIX_QUERY_PROC_TABLE, nspace, found) != PMIX_SUCCESS || found.count == 0) return;
    const pmix_value_t& value = found.info[0].value;
    if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr ||
        value.data.darray->type != PMIX_PROC_INFO)
        return;
    const auto* table = static_cast<const pmix_proc_info_t*>(value.data.darray->array);
    for (size_t i = 0; i < value.data.darray->size; ++i) {
        const pmix_proc_info_t& proc = table[i];
        fmt::print("{:<28} {:>5} {:<12} {:>8} {:<24} {}\n", nspace, proc.proc.rank,
                   proc.hostname != nullptr ? proc.hostname : "", proc.pid,
                   PMIx_Proc_state_string(proc.state),
                   proc.executable_name != nullptr ? proc.executable_name : "");
    }
}

int ps(const std::vector<std::string>& arguments) {
    if (arguments.size() > 2) throw std::invalid_argument("ps takes one server");
    const Connection connection(arguments.size() > 1 ? arguments[1] : "");
    fmt::print("{:<28} {:>5} {:<12} {:>8} {:<24} {}\n", "JOB", "RANK", "NODE", "PID", "STATE", "PROGRAM");
    for (const std::string& nspace : jobs())
        show_job(nspace);
    return 0;
}

int kill_jobs(const std::vector<std::string>& arguments) {
    size_t next = 1;
    std::optional<int> signal_number;
    if (next < arguments.size() && arguments[next] == "-s") {
        if (next + 1 < arguments.size()) signal_number = number(arguments[next + 1]);
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
    if (arguments.empty() || (arguments[0] != "ps" && arguments[0] != "kill")) return std::nullopt;
    if (arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h")) {
        fmt::print("{}", kUsage);
        return 0;
    }
    try {
        const int status = arguments[0] == "ps" ? ps(arguments) : kill_jobs(arguments);
        return fflush(stdout) == 0 ? status : 1;
    } catch (const std::invalid_argument& error) {
        fmt::print(stderr, "muster: {} (see muster {} --help)\n", error.what(), arguments[0]);
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "muster: {}\n", error.what());
        return 1;
    }
}

}  // namespace muster
