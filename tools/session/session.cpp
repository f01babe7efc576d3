// SPDX-License-Identifier: BSD-3-Clause
// A tool's session with a server: see session.hpp.
#include "tools/session/session.hpp"

#include <fmt/core.h>
#include <pmix/muster.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

namespace muster::tools {
namespace {

/// An array of infos that frees its contents.
class Directives {
  public:
    ~Directives() {
        for (pmix_info_t& info : infos_)
            PMIx_Info_destruct(&info);
    }
    void add(const char* key, const void* data, pmix_data_type_t type) {
        pmix_info_t info;
        std::memset(&info, 0, sizeof info);
        PMIx_Info_load(&info, key, data, type);
        infos_.push_back(info);
    }
    pmix_info_t* data() { return infos_.empty() ? nullptr : infos_.data(); }
    size_t size() const { return infos_.size(); }

  private:
    std::vector<pmix_info_t> infos_;
};

std::optional<pid_t> read_pid(const std::string& text) {
    std::string number = text;
    if (text.compare(0, 5, "file:") == 0) {
        number.clear();
        std::ifstream(text.substr(5)) >> number;
    }
    char* end = nullptr;
    const long value = std::strtol(number.c_str(), &end, 10);
    if (number.empty() || *end != '\0' || value <= 0 || value > INT32_MAX) return std::nullopt;
    return static_cast<pid_t>(value);
}

}  // namespace

void define_session_options(CommandLine& line, SessionOptions& options) {
    line.option("--uri", options.uri, "URI of the server to connect to, or file:FILENAME that holds it");
    line.option("--namespace", options.nspace, "Namespace of the server to connect to");
    line.option("--pid", options.pid, "PID of the server to connect to, or file:FILENAME that holds it");
    line.flag("--system-server-first", options.system_first,
              "Look for a system server first, and connect to it where there is one");
    line.flag("--system-server", options.system_only, "Connect to a system server and to no other");
    line.option("--tmpdir", options.tmpdir, "Folder below which servers leave their rendezvous files");
    line.option("--wait-to-connect", options.delay, "Seconds between attempts to connect");
    line.option("--num-connect-retries", options.attempts, "How often to try to connect");
    line.option("--pmixmca", options.parameters, "Set a parameter: NAME VALUE")
        .pairs()
        .type_name("NAME VALUE");
    line.flag("--json", options.json, "Write JSON");
    line.flag("-v,--verbose", options.verbose, "Say more");
    line.version("Muster " MUSTER_VERSION);
}

Session::Session(const char* program, const SessionOptions& options, Otherwise otherwise)
    : program_(program) {
    std::signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i + 1 < options.parameters.size(); i += 2)
        setenv(("PMIX_MCA_" + options.parameters[i]).c_str(), options.parameters[i + 1].c_str(), 1);
    Directives directives;
    const bool yes = true;
    if (!options.pid.empty()) {
        const auto pid = read_pid(options.pid);
        if (!pid) {
            fmt::print(stderr, "{}: --pid {}: neither a process number nor file:FILENAME with one\n", program,
                       options.pid);
            return;
        }
        directives.add(PMIX_SERVER_PIDINFO, &*pid, PMIX_PID);
    } else if (!options.nspace.empty()) {
        directives.add(PMIX_SERVER_NSPACE, options.nspace.c_str(), PMIX_STRING);
    } else if (!options.uri.empty()) {
        directives.add(PMIX_SERVER_URI, options.uri.c_str(), PMIX_STRING);
    } else if (options.system_only) {
        directives.add(PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL);
    } else if (options.system_first) {
        directives.add(PMIX_CONNECT_SYSTEM_FIRST, &yes, PMIX_BOOL);
    } else if (options.do_not_connect) {
        directives.add(PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
    } else {
        directives.add(
            otherwise == Otherwise::Optional ? PMIX_TOOL_CONNECT_OPTIONAL : PMIX_CONNECT_SYSTEM_FIRST, &yes,
            PMIX_BOOL);
    }
    if (!options.tmpdir.empty()) {
        directives.add(PMIX_SERVER_TMPDIR, options.tmpdir.c_str(), PMIX_STRING);
        directives.add(PMIX_SYSTEM_TMPDIR, options.tmpdir.c_str(), PMIX_STRING);
    }
    if (options.delay) directives.add(PMIX_CONNECT_RETRY_DELAY, &*options.delay, PMIX_UINT32);
    if (options.attempts) directives.add(PMIX_CONNECT_MAX_RETRIES, &*options.attempts, PMIX_UINT32);
    char* why = nullptr;
    directives.add(MUSTER_ERROR_TEXT, &why, PMIX_POINTER);
    const pmix_status_t status = PMIx_tool_init(&self_, directives.data(), directives.size());
    const std::unique_ptr<char, decltype(&std::free)> text(why, &std::free);
    if (status == PMIX_ERR_UNREACH) {
        failed("no server to connect to (--pmixmca tool_base_verbose 5 shows what was tried)", status);
    } else if (status != PMIX_SUCCESS) {
        failed(text ? text.get() : "cannot connect", status);
    } else {
        ok_ = true;
    }
}

Session::~Session() {
    if (ok_) PMIx_tool_finalize();
}

int Session::failed(const char* what, pmix_status_t status) const {
    fmt::print(stderr, "{}: {}: {} ({})\n", program_, what, PMIx_Error_string(status), status);
    return 1;
}

}  // namespace muster::tools
