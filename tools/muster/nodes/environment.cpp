// SPDX-License-Identifier: BSD-3-Clause
// Environments of processes: see environment.hpp.
#include "tools/muster/nodes/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix_server.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// Takes a part out of a list.
void remove_part(std::string& list, const std::string& part, char separator) {
    std::vector<std::string> parts = split(list, separator);
    std::erase(parts, part);
    list = fmt::format("{}", fmt::join(parts, std::string(1, separator)));
}

void apply(const EnvChange& change, Environment& variables) {
    const auto found = variables.find(change.name);
    switch (change.kind) {
        case EnvChange::Kind::Set:
            variables[change.name] = change.value;
            break;
        case EnvChange::Kind::Add:
            variables.emplace(change.name, change.value);
            break;
        case EnvChange::Kind::Unset:
            // "NAME*": all that begin so.
            if (change.name.ends_with('*')) {
                const std::string begin = change.name.substr(0, change.name.size() - 1);
                std::erase_if(variables, [&](const auto& entry) { return entry.first.starts_with(begin); });
            } else {
                variables.erase(change.name);
            }
            break;
        case EnvChange::Kind::First:
            if (found != variables.end()) remove_part(found->second, change.value, change.separator);
            [[fallthrough]];
        case EnvChange::Kind::Prepend:
        case EnvChange::Kind::Append:
            if (found == variables.end() || found->second.empty()) {
                variables[change.name] = change.value;
            } else if (change.kind != EnvChange::Kind::Append) {
                found->second = change.value + change.separator + found->second;
            } else {
                found->second += change.separator + change.value;
            }
            break;
    }
}

}  // namespace

pmix_status_t server_environment(const pmix_proc_t& proc, const App& app, const std::string& wdir,
                                 const Environment& defaults, std::vector<std::string>& out) {
    Environment variables = defaults;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    variables["PWD"] = wdir;
    for (const auto& [name, value] : app.env)
        variables[name] = value;
    for (const EnvChange& change : app.env_changes)
        apply(change, variables);
    // The library extends the array by realloc, as the Standard's argv functions do.
    auto** env = static_cast<char**>(calloc(variables.size() + 1, sizeof(char*)));
    if (env == nullptr) return PMIX_ERR_NOMEM;
    size_t count = 0;
    for (const auto& [name, value] : variables)
        env[count++] = strdup(fmt::format("{}={}", name, value).c_str());
    const pmix_status_t status = PMIx_server_setup_fork(&proc, &env);
    for (char** variable = env; *variable != nullptr; ++variable) {
        out.emplace_back(*variable);
        free(*variable);
    }
    free(env);
    return status;
}

std::string make_session_dir() {
    const char* parent = getenv("TMPDIR");
    std::string path =
        std::string(parent != nullptr && parent[0] != '\0' ? parent : "/tmp") + "/muster-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
        throw JobError(fmt::format("cannot make a directory '{}': {}; set TMPDIR to one that can be written",
                                   path, strerror(errno)));
    }
    std::error_code error;
    const std::filesystem::path full = std::filesystem::absolute(path, error);
    return error ? path : full.string();
}

bool make_dir(const std::string& path) {
    return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

void remove_session_dir(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
}

}  // namespace muster::launcher
