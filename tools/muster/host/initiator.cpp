// SPDX-License-Identifier: BSD-3-Clause
// The tool that guides muster: see initiator.hpp.
#include "tools/muster/host/initiator.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pmix_tool.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/host/spawn.hpp"

namespace muster::launcher {
namespace {

constexpr int kPatience = 30;  // seconds

std::string variable(const char* name) {
    return text_of(getenv(name));
}

/// Connects to the server at a URI, or of a file.
pmix_status_t attach(const char* key, const std::string& where, pmix_proc_t& server) {
    InfoList info;
    info.text(key, where);
    info.add(PMIX_TIMEOUT, &kPatience, PMIX_INT);
    return PMIx_tool_attach_to_server(nullptr, &server, info.data(), info.size());
}

/// A value of our own job's data, or null if the server that started us did not give it.
pmix_value_t* own_value(const char* key) {
    pmix_proc_t self;
    pmix_value_t* value = nullptr;
    PMIX_LOAD_PROCID(&self, variable("PMIX_NAMESPACE").c_str(), PMIX_RANK_WILDCARD);
    pmix_info_t optional;
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, nullptr, PMIX_BOOL);
    if (PMIx_Get(&self, key, &optional, 1, &value) != PMIX_SUCCESS) value = nullptr;
    PMIX_INFO_DESTRUCT(&optional);
    return value;
}

/// The environment as the initiator left it, for as long as this lives.
class Restored {
  public:
    explicit Restored(const std::vector<std::string>& variables) {
        for (const std::string& variable : variables) {
            const size_t equals = variable.find('=');
            names_.push_back(variable.substr(0, equals));
            setenv(names_.back().c_str(), variable.c_str() + equals + 1, 1);
        }
    }
    Restored(const Restored&) = delete;
    ~Restored() {
        for (const std::string& name : names_)
            unsetenv(name.c_str());
    }

  private:
    std::vector<std::string> names_;
};

}  // namespace

Initiator Initiator::from_environment() {
    Initiator initiator;
    initiator.uri = variable("PMIX_LAUNCHER_RNDZ_URI");
    initiator.file = variable("PMIX_LAUNCHER_RNDZ_FILE");
    initiator.names_server = !initiator.file.empty() && access(initiator.file.c_str(), F_OK) == 0;
    if (initiator.waits_for_us()) initiator.nspace = variable("PMIX_NAMESPACE");
    const std::string pause = variable("PMIX_LAUNCHER_PAUSE_FOR_TOOL");
    initiator.pause = !pause.empty() && pause != "0" && pause != "false";
    const std::string pipe = variable("PMIX_KEEPALIVE_PIPE");
    const auto parsed = std::from_chars(pipe.data(), pipe.data() + pipe.size(), initiator.keepalive);
    if (parsed.ec != std::errc() || parsed.ptr != pipe.data() + pipe.size()) initiator.keepalive = -1;
    // Our children must not inherit it.
    if (initiator.keepalive >= 0) fcntl(initiator.keepalive, F_SETFD, FD_CLOEXEC);
    for (char** variable = environ; initiator.waits_for_us() && *variable != nullptr; ++variable) {
        if (strncmp(*variable, "PMIX_", 5) == 0 && strncmp(*variable, "PMIX_MCA_", 9) != 0)
            initiator.environment.emplace_back(*variable);
    }
    return initiator;
}

std::string join_initiator(const Initiator& initiator, Guidance& guidance) {
    const Restored environment(initiator.environment);
    // Another process than the initiator may have started this one: its host, which has the directives.
    pmix_proc_t server;
    std::string starter = variable("PMIX_MUSTER_URI");
    if (starter.empty()) starter = variable("PMIX_SERVER_URI41");
    const std::string name = starter.substr(0, starter.find(';') + 1);
    if (!starter.empty() && !name.empty() && !initiator.uri.starts_with(name))
        attach(PMIX_SERVER_URI, starter, server);
    pmix_proc_t parent;
    const pmix_status_t status = initiator.uri.empty()
                                     ? attach(PMIX_TOOL_ATTACHMENT_FILE, initiator.file, parent)
                                     : attach(PMIX_SERVER_URI, initiator.uri, parent);
    if (status != PMIX_SUCCESS)
        return fmt::format("the tool that started muster cannot be reached ({}): {}",
                           initiator.uri.empty() ? initiator.file : initiator.uri, PMIx_Error_string(status));
    guidance.parent = name_of(parent);
    if (pmix_value_t* stop = own_value(PMIX_DEBUG_STOP_IN_INIT)) {
        guidance.hold = stop->type != PMIX_BOOL || stop->data.flag;
        PMIX_VALUE_RELEASE(stop);
    }
    if (pmix_value_t* daemon = own_value(PMIX_LAUNCHER_DAEMON)) {
        guidance.daemon = text_of(*daemon);
        PMIX_VALUE_RELEASE(daemon);
    }
    pmix_value_t* directives = own_value(PMIX_LAUNCH_DIRECTIVES);
    if (directives == nullptr) return {};
    const std::optional<Infos> wanted = Infos::of(*directives);
    const pmix_status_t read = wanted ? read_directives(*wanted, guidance.request) : PMIX_ERR_BAD_PARAM;
    PMIX_VALUE_RELEASE(directives);
    if (read == PMIX_SUCCESS) return {};
    return fmt::format("what the tool that started muster wants of the job cannot be done: {}",
                       PMIx_Error_string(read));
}

}  // namespace muster::launcher
