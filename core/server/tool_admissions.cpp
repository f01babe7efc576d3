// SPDX-License-Identifier: BSD-3-Clause
// Tools that connect, and which of them are admitted (Standard: Tools and Debuggers, Connection Mechanisms).
// See admissions.hpp.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "core/exchange/exchange.hpp"
#include "core/server/admissions.hpp"
#include "framework/base/status.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

/// Tools of one user, not the server's own, that may be connected at once.
constexpr size_t kMaxForeignTools = 256;

/// The number that the kernel shows for groups that it cannot name.
constexpr uint32_t kGroupWithoutRights = 65534;

void on_tool_answer(pmix_status_t status, pmix_proc_t* proc, void* cbdata) {
    HostAnswer answer;
    answer.status = status;
    if (proc != nullptr) answer.proc = *proc;
    Host::answer(cbdata, std::move(answer));
}

}  // namespace

void Admissions::refuse_tool(const Admission& admission, pmix_status_t status, const std::string& why) {
    ToolReply reply;
    reply.status = status;
    const Bytes bytes = build_tool_reply(reply);
    // The socket's buffer is empty, so these few bytes are written at once; a closed tool is harmless.
    [[maybe_unused]] const ssize_t sent =
        ::send(admission.socket.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    refuse(admission.socket, admission.text(), why);
}

size_t Admissions::tools_of(uint32_t uid) const {
    return static_cast<size_t>(std::ranges::count_if(
        services_.peers.all(), [&](const PeerPtr& peer) { return is_tool(peer->kind) && peer->uid == uid; }));
}

/// The group of a tool whose credential is valid. Over TCP the kernel reports only the user. The system's
/// database is not queried: that can take long, and would block the server.
uint32_t Admissions::proved_group(const Admission& admission) {
    const ConnectRequest& wanted = admission.request;
    const auto& kernel = admission.socket.credentials;
    if (!kernel) return wanted.egid;  // the security module has vouched for it
    if (kernel->gid != PeerCredentials::kNoGid) return kernel->gid;
    if (auto owner = security_module(wanted.psec)->identify_credential(wanted.credential.view()))
        return owner->gid;
    if (is_master(kernel->uid)) return wanted.egid;
    return kGroupWithoutRights;
}

Result<void> Admissions::check_tool(Admission& admission) {
    const ConnectRequest& wanted = admission.request;
    const pmix_proc_t& proc = admission.peer->proc;
    if (wanted.kind == PeerKind::LegacyTool || wanted.kind == PeerKind::LegacyLauncher)
        return Error{PMIX_ERR_NOT_SUPPORTED, "it has the protocol of OpenPMIx 2; use OpenPMIx 4.0 or later"};
    const LocalClient* client = carries_identity(wanted.kind) ? services_.namespaces.client(proc) : nullptr;
    const Namespace* nspace =
        carries_identity(wanted.kind) ? services_.namespaces.find(proc.nspace) : nullptr;
    const bool started_here = wanted.kind == PeerKind::ToolClient || wanted.kind == PeerKind::LauncherClient;
    if (client != nullptr && started_here && !nspace->synthetic) {
        admission.registered = true;
        return check_client(admission);
    }
    if (!tools_.allowed)
        return Error{PMIX_ERR_NOT_SUPPORTED, "the host accepts no tools (PMIX_SERVER_TOOL_SUPPORT)"};
    if (!admission.socket.local && !tools_.remote)
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     "the host accepts no tools on other nodes (PMIX_SERVER_REMOTE_CONNECTIONS)"};
    if (auto valid = check_credential(admission, wanted.euid, wanted.egid); !valid) return valid;
    admission.request.egid = proved_group(admission);
    if (wanted.euid != geteuid() && !tools_.foreign)
        return Error{
            PMIX_ERR_NO_PERMISSIONS,
            "it runs as user " + std::to_string(wanted.euid) +
                ", and the host accepts tools of its own user only (PMIX_SERVER_ALLOW_FOREIGN_TOOLS)"};
    if (!is_master(wanted.euid) && tools_of(wanted.euid) >= kMaxForeignTools)
        return Error{PMIX_ERR_OUT_OF_RESOURCE, "its user has too many tools here already"};
    if (!carries_identity(wanted.kind)) return {};
    if (nspace_is(proc.nspace, runtime().self().nspace) && !started_here)
        return Error{PMIX_ERR_EXISTS, "its namespace is the server's"};
    if (proc.rank >= PMIX_RANK_VALID) return Error{PMIX_ERR_BAD_PARAM, "its rank is not that of a process"};
    if (nspace == nullptr) return {};
    if (!nspace->synthetic) return Error{PMIX_ERR_EXISTS, "its namespace is that of a job"};
    if (client != nullptr && client->finalized) {
        // It has finalized and connects again before the end of its first connection was detected.
        if (const PeerPtr old = client->peer) services_.drop(old);
        services_.forget_tool(proc);
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
void Admissions::hear_goodbye(const pmix_proc_t& proc) {
    const LocalClient* before = services_.namespaces.client(proc);
    const PeerPtr old = before == nullptr ? nullptr : before->peer;
    if (old && old->channel) old->channel->read_now();
}

void Admissions::admit_tool(const std::shared_ptr<Admission>& admission) {
    const ConnectRequest& wanted = admission->request;
    if (carries_identity(wanted.kind)) hear_goodbye(admission->peer->proc);
    if (auto checked = check_tool(*admission); !checked)
        return refuse_tool(*admission, checked.status(), checked.error().text);
    const pmix_server_module_t& module = services_.host.module();
    if (module.tool_connected == nullptr && module.tool_connected2 == nullptr) {
        if (admission->registered) return complete_admission(admission, PMIX_SUCCESS);
        // A tool that starts others has no host to decide; the process with the name that it gave is
        // the one for which it waits.
        if (runtime().role() == Runtime::Role::Tool && carries_identity(wanted.kind) &&
            wanted.euid == geteuid())
            return name_tool(admission, PMIX_SUCCESS, admission->peer->proc, services_.namespaces.newest());
        return refuse_tool(*admission, PMIX_ERR_NOT_SUPPORTED,
                           "the host has no upcall that decides on tools");
    }
    if (!hold(admission)) return;
    auto kept = std::make_shared<Info>(std::move(admission->info));
    const Caller caller{admission->peer->proc, wanted.euid, wanted.egid, true};
    Info about;
    for (size_t i = 0; i < kept->size(); ++i) {
        // The facts of the connection override the tool's own claims.
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
    services_.host.upcall(
        "tool_connected", kept,
        [this, admission, asked = services_.namespaces.newest()](const HostAnswer& answer) {
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

void Admissions::name_tool(const std::shared_ptr<Admission>& admission, pmix_status_t verdict,
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
            return refuse_tool(*admission, PMIX_ERR_NOT_SUPPORTED,
                               "the host gave it no namespace or no valid rank");
        // The host reuses a name once its tool has ended, which may not be known here yet.
        hear_goodbye(proc);
        const LocalClient* before = services_.namespaces.client(proc);
        if (const PeerPtr old = before == nullptr ? nullptr : before->peer; old && old->finalized) {
            services_.drop(old);
            services_.forget_tool(proc);
        }
    }
    // Other tools may have connected before the host's answer. An empty namespace that the host registered
    // since the request belongs to this tool (PRRTE passes a tool's job data in this way).
    const Namespace* there = services_.namespaces.find(proc.nspace);
    const bool for_it = there != nullptr && there->number > asked && there->clients.empty();
    if (there != nullptr && !for_it && (!there->synthetic || services_.namespaces.client(proc) != nullptr))
        return refuse_tool(*admission, PMIX_ERR_EXISTS, "the name " + proc_text(proc) + " is taken");
    Namespace& nspace = services_.namespaces.get_or_add(proc.nspace);
    nspace.synthetic = nspace.registered = true;
    LocalClient& client = nspace.clients[proc.rank];
    client.proc = proc;
    client.uid = admission->peer->uid = wanted.euid;
    client.gid = admission->peer->gid = wanted.egid;
    complete_admission(admission, PMIX_SUCCESS);
    // It may have left while the host was thinking.
    if (LocalClient* made = services_.namespaces.client(proc); made != nullptr && !made->connected)
        services_.forget_tool(proc);
}

}  // namespace muster
