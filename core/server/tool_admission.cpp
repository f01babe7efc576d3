// SPDX-License-Identifier: BSD-3-Clause
// Tools at a server: how they find it, and who of them is let in (Standard: Tools and Debuggers, Connection
// Mechanisms).
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/discovery/rendezvous_search.hpp"
#include "core/exchange/exchange.hpp"
#include "core/groups/construct.hpp"
#include "core/server/admission.hpp"
#include "framework/base/status.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

/// Tools of one user, not the server's own, that may be connected at once.
constexpr size_t kMaxForeignTools = 256;

void on_tool_answer(pmix_status_t status, pmix_proc_t* proc, void* cbdata) {
    HostAnswer answer;
    answer.status = status;
    if (proc != nullptr) answer.proc = *proc;
    Host::answer(cbdata, std::move(answer));
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t wrote = ::write(fd, text.data(), text.size());
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) text.remove_prefix(static_cast<size_t>(wrote));
    }
    return true;
}

/// PMIX_TCP_REPORT_URI: "-" is standard output, "+" standard error, a number a descriptor that the host was
/// started with (it gets the name of the variable for clients, too, and is closed, as those who wait at its
/// other end know it of OpenPMIx), and all else a file.
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
    tools_.system = info.is_true(PMIX_SERVER_SYSTEM_SUPPORT);
    const bool session = info.is_true(PMIX_SERVER_SESSION_SUPPORT);
    // A launcher is there for others to connect to.
    const bool tools = info.is_true(PMIX_SERVER_TOOL_SUPPORT) || runtime_.role() == Runtime::Role::Tool;
    tools_.allowed = tools || session || tools_.system;
    tools_.remote = info.is_true(PMIX_SERVER_REMOTE_CONNECTIONS);
    tools_.foreign = info.is_true(PMIX_SERVER_ALLOW_FOREIGN_TOOLS);

    // The first URI is the one that all tools understand: of TCP, where that is listened on.
    const std::string self =
        std::string(runtime_.self().nspace) + "." + std::to_string(runtime_.self().rank) + ";";
    std::vector<std::string> uris;
    for (const std::string& uri : acceptor_->uris()) {
        const bool plain = uri.compare(0, 3, "tcp") == 0;
        uris.insert(plain ? uris.begin() : uris.end(), self + uri);
    }
    std::string security;
    for (const Psec* module : runtime_.registry().psecs())
        security += (security.empty() ? "" : ",") + std::string(module->name());
    rendezvous_files_ = std::make_unique<RendezvousFiles>(
        rendezvous_text(uris, own_wire_version(), security),
        tools_.foreign ? RendezvousFiles::Reach::Everyone : RendezvousFiles::Reach::User);
    tool_uri_ = uris.front();
    const Value uri = Value::from(uris.front().c_str());
    runtime_.store().post(runtime_.self(), PMIX_INTERNAL, PMIX_SERVER_URI, *uri);

    Log& log = runtime_.registry().log("ptl");
    // Those that a server of its own name or number needs; another living server's file stays and is left to
    // it.
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
        if (tools_.system) {
            // There is one system server on a node.
            auto made =
                rendezvous_files_->add(runtime_.system_directory() + "/" + system_rendezvous_name(host));
            if (!made && made.status() != PMIX_ERR_NO_PERMISSIONS) return made.error();
            // Who has taken the name first keeps tools away (they do not believe the file), but not the
            // server.
            if (!made) MUSTER_LOG(log, Error, "%s", made.error().text.c_str());
        }
    }
    // Somebody waits for these.
    const char* const named[] = {info.string(PMIX_LAUNCHER_RENDEZVOUS_FILE),
                                 secure_getenv("PMIX_LAUNCHER_RNDZ_FILE")};
    for (const char* given : named) {
        if (given == nullptr || *given == '\0') continue;
        tools_.allowed = true;
        if (auto made = rendezvous_files_->add(given); !made) return made.error();
    }
    if (const char* where = info.string(PMIX_TCP_REPORT_URI); where != nullptr && *where != '\0') {
        tools_.allowed = true;
        if (auto told = report_uri(where, uris.front(), *rendezvous_files_); !told) return told.error();
    }
    return {};
}

void Server::refuse_tool(const Admission& admission, pmix_status_t status, const std::string& why) {
    ToolReply reply;
    reply.status = status;
    const Bytes bytes = build_tool_reply(reply);
    // The socket's buffer is empty, so these few bytes go in one piece; the tool may be gone, which is as
    // well.
    [[maybe_unused]] const ssize_t sent =
        ::send(admission.socket.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    refuse(admission.socket, admission.text(), why);
}

size_t Server::tools_of(uint32_t uid) const {
    return static_cast<size_t>(
        std::count_if(peers_.all().begin(), peers_.all().end(),
                      [&](const PeerPtr& peer) { return is_tool(peer->kind) && peer->uid == uid; }));
}

Result<void> Server::check_tool(Admission& admission) {
    const ConnectRequest& wanted = admission.request;
    const pmix_proc_t& proc = admission.peer->proc;
    if (wanted.kind == PeerKind::LegacyTool || wanted.kind == PeerKind::LegacyLauncher)
        return Error{PMIX_ERR_NOT_SUPPORTED, "tools of version 2 are not spoken to"};
    const LocalClient* client = carries_identity(wanted.kind) ? namespaces_.client(proc) : nullptr;
    const Namespace* nspace = carries_identity(wanted.kind) ? namespaces_.find(proc.nspace) : nullptr;
    const bool started_here = wanted.kind == PeerKind::ToolClient || wanted.kind == PeerKind::LauncherClient;
    if (client != nullptr && started_here && !nspace->synthetic) {
        admission.registered = true;
        return check_client(admission);
    }
    if (!tools_.allowed) return Error{PMIX_ERR_NOT_SUPPORTED, "the host has not opened this server to tools"};
    if (!admission.socket.local && !tools_.remote)
        return Error{PMIX_ERR_NOT_SUPPORTED, "the host has not opened this server to tools on other nodes"};
    if (auto valid = check_credential(admission, wanted.euid, wanted.egid); !valid) return valid;
    if (wanted.euid != geteuid() && !tools_.foreign)
        return Error{
            PMIX_ERR_NO_PERMISSIONS,
            "it runs as user " + std::to_string(wanted.euid) +
                ", and the host lets in tools of its own user only (PMIX_SERVER_ALLOW_FOREIGN_TOOLS)"};
    if (!is_master(wanted.euid) && tools_of(wanted.euid) >= kMaxForeignTools)
        return Error{PMIX_ERR_OUT_OF_RESOURCE, "its user has too many tools here already"};
    if (!carries_identity(wanted.kind)) return {};
    if (nspace_is(proc.nspace, runtime_.self().nspace) && !started_here)
        return Error{PMIX_ERR_EXISTS, "its namespace is the server's"};
    if (proc.rank >= PMIX_RANK_VALID) return Error{PMIX_ERR_BAD_PARAM, "its rank is none"};
    if (nspace == nullptr) return {};
    if (!nspace->synthetic) return Error{PMIX_ERR_EXISTS, "its namespace is that of a job"};
    if (client != nullptr && client->finalized) {
        // It has said goodbye and comes again, faster than we have seen the end of its first connection.
        if (const PeerPtr old = client->peer) drop(old);
        forget_tool(proc);
        return {};
    }
    if (client != nullptr) return Error{PMIX_ERR_EXISTS, "a process of this name is connected already"};
    for (const auto& [rank, other] : nspace->clients) {
        if (other.uid != wanted.euid || other.gid != wanted.egid)
            return Error{PMIX_ERR_EXISTS, "its namespace is that of another user's tool"};
    }
    return {};
}

/// A process that finalizes does not wait for the answer: when it connects again, the request to finalize may
/// still be unread on its former connection.
void Server::hear_goodbye(const pmix_proc_t& proc) {
    const LocalClient* before = namespaces_.client(proc);
    const PeerPtr old = before == nullptr ? nullptr : before->peer;
    if (old && old->channel) old->channel->read_now();
}

void Server::admit_tool(const std::shared_ptr<Admission>& admission) {
    const ConnectRequest& wanted = admission->request;
    if (carries_identity(wanted.kind)) hear_goodbye(admission->peer->proc);
    if (auto checked = check_tool(*admission); !checked)
        return refuse_tool(*admission, checked.status(), checked.error().text);
    const pmix_server_module_t& module = host_.module();
    if (module.tool_connected == nullptr && module.tool_connected2 == nullptr) {
        if (admission->registered) return complete_admission(admission, PMIX_SUCCESS);
        // A tool that starts others has no host to decide; what comes under the name that somebody gave it is
        // what it waits for.
        if (runtime_.role() == Runtime::Role::Tool && carries_identity(wanted.kind) &&
            wanted.euid == geteuid())
            return name_tool(admission, PMIX_SUCCESS, admission->peer->proc, namespaces_.newest());
        return refuse_tool(*admission, PMIX_ERR_NOT_SUPPORTED,
                           "the host has no upcall that decides on tools");
    }
    if (!hold(admission)) return;
    auto kept = std::make_shared<Info>(std::move(admission->info));
    const Caller caller{admission->peer->proc, wanted.euid, wanted.egid, true};
    Info about;
    for (size_t i = 0; i < kept->size(); ++i) {
        // What the connection itself says counts more than what the tool says.
        const char* key = (*kept)[i].key;
        if (!key_is(key, PMIX_NSPACE) && !key_is(key, PMIX_RANK) && !key_is(key, PMIX_VERSION_INFO))
            about.add_move((*kept)[i]);
    }
    *kept = std::move(about);
    kept->add(PMIX_VERSION_INFO, wanted.version.c_str());
    caller.add_identity(*kept);
    if (carries_identity(wanted.kind)) {
        kept->add(PMIX_NSPACE, static_cast<const char*>(admission->peer->proc.nspace));
        kept->add(PMIX_RANK, Value::rank(admission->peer->proc.rank));
    }
    host_.upcall(
        "tool_connected", kept,
        [this, admission, asked = namespaces_.newest()](const HostAnswer& answer) {
            if (release(*admission)) name_tool(admission, answer.status, answer.proc, asked);
        },
        [&](void* cbdata) -> pmix_status_t {
            if (module.tool_connected2 != nullptr)
                return module.tool_connected2(kept->data(), kept->size(), on_tool_answer, cbdata);
            module.tool_connected(kept->data(), kept->size(), on_tool_answer, cbdata);
            return PMIX_SUCCESS;
        });
    watch_held(admission);
}

void Server::name_tool(const std::shared_ptr<Admission>& admission, pmix_status_t verdict,
                       const pmix_proc_t& assigned, uint64_t asked) {
    if (verdict != PMIX_SUCCESS)
        return refuse_tool(*admission, verdict,
                           std::string("the host does not accept it: ") + status_text(verdict));
    const ConnectRequest& wanted = admission->request;
    pmix_proc_t& proc = admission->peer->proc;
    if (admission->registered) return complete_admission(admission, PMIX_SUCCESS);
    if (needs_identity(wanted.kind)) {
        proc = make_proc(nspace_view(assigned.nspace), assigned.rank);
        if (proc.nspace[0] == '\0' || proc.rank >= PMIX_RANK_VALID)
            return refuse_tool(*admission, PMIX_ERR_NOT_SUPPORTED, "the host has given it no name");
        // The host gives a name again once its tool has ended, of which we may not have heard.
        hear_goodbye(proc);
        const LocalClient* before = namespaces_.client(proc);
        if (const PeerPtr old = before == nullptr ? nullptr : before->peer; old && old->finalized) {
            drop(old);
            forget_tool(proc);
        }
    }
    // The host took its time; others may have come meanwhile. What it has registered since it was asked, and
    // nobody is in, is for this tool (PRRTE says in this way what a tool is to know of its job).
    const Namespace* there = namespaces_.find(proc.nspace);
    const bool for_it = there != nullptr && there->number > asked && there->clients.empty();
    if (there != nullptr && !for_it && (!there->synthetic || namespaces_.client(proc) != nullptr))
        return refuse_tool(*admission, PMIX_ERR_EXISTS, "the name " + proc_text(proc) + " is taken");
    Namespace& nspace = namespaces_.get_or_add(proc.nspace);
    nspace.synthetic = nspace.registered = true;
    LocalClient& client = nspace.clients[proc.rank];
    client.proc = proc;
    client.uid = admission->peer->uid = wanted.euid;
    client.gid = admission->peer->gid = wanted.egid;
    complete_admission(admission, PMIX_SUCCESS);
    // It may have left while the host was thinking.
    if (LocalClient* made = namespaces_.client(proc); made != nullptr && !made->connected) forget_tool(proc);
}

void Server::forget_tool(const pmix_proc_t& proc) {
    Namespace* nspace = namespaces_.find(proc.nspace);
    if (nspace == nullptr || !nspace->synthetic) return;
    const pmix_proc_t gone = proc;  // may stand in what is erased
    nspace->clients.erase(gone.rank);
    if (!nspace->clients.empty()) return;
    collectives_.deregistered(gone.nspace);
    modex_.deregistered(gone.nspace);
    event_router_.deregistered(gone.nspace);
    namespaces_.remove(gone.nspace);
    groups_.group_destruct().deregistered();
    runtime_.store().deregister(gone.nspace);
}

}  // namespace muster
