// SPDX-License-Identifier: BSD-3-Clause
// How tools find the server: rendezvous files and reported URIs (Standard: Tools and Debuggers, Connection
// Mechanisms). See server.hpp.
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/discovery/rendezvous_search.hpp"
#include "core/server/server.hpp"
#include "framework/psec.hpp"
#include "framework/ptl/transports.hpp"

namespace muster {
namespace {

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t wrote = ::write(fd, text.data(), text.size());
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) text.remove_prefix(static_cast<size_t>(wrote));
    }
    return true;
}

/// PMIX_TCP_REPORT_URI: "-" is standard output, "+" standard error, a number a descriptor that the host was
/// started with (it gets the name of the variable for clients, too, and is closed, as readers of OpenPMIx's
/// output expect), and all else a file.
Result<void> report_uri(const std::string& where, const std::string& uri, RendezvousFiles& files) {
    int fd = -1;
    const auto number = std::from_chars(where.data(), where.data() + where.size(), fd);
    const bool descriptor = number.ec == std::errc() && number.ptr == where.data() + where.size() && fd >= 0;
    bool told = true;
    if (where == "-" || where == "+") {
        told = write_all(where == "-" ? STDOUT_FILENO : STDERR_FILENO, uri + "\n");
    } else if (descriptor) {
        const std::string text = "PMIX_SERVER_URI41;" + uri;
        told = write_all(fd, {text.c_str(), text.size() + 1});
        if (told && fd > STDERR_FILENO) ::close(fd);
    } else {
        return files.add(where);
    }
    if (told) return {};
    return Error{PMIX_ERR_FILE_WRITE_FAILURE, "the server's address cannot be written to '" + where +
                                                  "' (PMIX_TCP_REPORT_URI): " + std::strerror(errno)};
}

}  // namespace

Result<void> Server::open_to_tools(InfoView info) {
    ToolPolicy policy;
    policy.system = info.is_true(PMIX_SERVER_SYSTEM_SUPPORT);
    const bool session = info.is_true(PMIX_SERVER_SESSION_SUPPORT);
    // A launcher exists to accept connections.
    const bool tools = info.is_true(PMIX_SERVER_TOOL_SUPPORT) || runtime_.role() == Runtime::Role::Tool;
    policy.allowed = tools || session || policy.system;
    policy.remote = info.is_true(PMIX_SERVER_REMOTE_CONNECTIONS);
    policy.foreign = info.is_true(PMIX_SERVER_ALLOW_FOREIGN_TOOLS);

    // The first URI is one that all tools understand, where there is one.
    const std::string self =
        std::string(runtime_.self().nspace) + "." + std::to_string(runtime_.self().rank) + ";";
    std::vector<std::string> uris;
    for (const std::string& uri : acceptor_->uris()) {
        const bool universal = transport_is(runtime_.registry(), &Ptl::universal, uri);
        uris.insert(universal ? uris.begin() : uris.end(), self + uri);
    }
    std::string security;
    for (const Psec* module : runtime_.registry().psecs())
        security += (security.empty() ? "" : ",") + std::string(module->name());
    rendezvous_files_ = std::make_unique<RendezvousFiles>(
        rendezvous_text(uris, own_wire_version(), security),
        policy.foreign ? RendezvousFiles::Reach::Everyone : RendezvousFiles::Reach::User);
    tool_uri_ = uris.front();
    const Value uri = Value::from(uris.front().c_str());
    runtime_.store().post(runtime_.self(), PMIX_INTERNAL, PMIX_SERVER_URI, *uri);

    Log& log = runtime_.registry().log("ptl");
    // The files named by this server's name or process ID. A file of another living server is not replaced.
    const auto offer = [&](const std::string& path) {
        if (auto made = rendezvous_files_->add(path); !made)
            MUSTER_LOG(log, Warning, "%s", made.error().text.c_str());
    };
    for (const std::string& host : rendezvous_hosts(runtime_.hostname())) {
        const std::string& folder = runtime_.session_directory();
        if (tools) {
            offer(folder + "/" + session_rendezvous_name(host, std::to_string(getpid())));
            if (std::string(runtime_.self().nspace).find('/') == std::string::npos)
                offer(folder + "/" + session_rendezvous_name(host, runtime_.self().nspace));
        }
        if (session) offer(folder + "/" + session_rendezvous_name(host));
        if (policy.system) {
            // There is one system server on a node.
            auto made =
                rendezvous_files_->add(runtime_.system_directory() + "/" + system_rendezvous_name(host));
            if (!made && made.status() != PMIX_ERR_NO_PERMISSIONS) return made.error();
            // A foreign file of that name stops tools, which do not trust it, but not the server.
            if (!made) MUSTER_LOG(log, Error, "%s", made.error().text.c_str());
        }
    }
    // The program that named these waits for them.
    const char* const named[] = {info.string(PMIX_LAUNCHER_RENDEZVOUS_FILE),
                                 secure_getenv("PMIX_LAUNCHER_RNDZ_FILE")};
    for (const char* given : named) {
        if (given == nullptr || *given == '\0') continue;
        policy.allowed = true;
        if (auto made = rendezvous_files_->add(given); !made) return made.error();
    }
    if (const char* where = info.string(PMIX_TCP_REPORT_URI); where != nullptr && *where != '\0') {
        policy.allowed = true;
        if (auto told = report_uri(where, uris.front(), *rendezvous_files_); !told) return told.error();
    }
    admissions_.set_tool_policy(policy);
    return {};
}

}  // namespace muster
