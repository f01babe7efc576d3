// SPDX-License-Identifier: BSD-3-Clause
// Decides on connections, and answers the accepted ones: see admissions.hpp. tool_admissions.cpp has the
// rules for tools.
#include "core/server/admissions.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "framework/psec.hpp"

namespace muster {
namespace {

/// Connections of one process (or of tools without a name) that may wait for the host's decision at once.
constexpr size_t kMaxHeld = 64;
/// Further connections of one process: those of its children.
constexpr size_t kMaxClones = 256;

/// send(), with descriptors that the peer gets copies of.
ssize_t send_with_descriptors(const Socket& socket, ByteView bytes, std::span<const int> descriptors) {
    iovec part = {const_cast<uint8_t*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 3)] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    return ::sendmsg(socket.fd.get(), &message, MSG_NOSIGNAL);
}

/// Sends the answer to a refused client.
void tell(const Socket& socket, pmix_status_t status) {
    const Bytes reply = build_client_reply(status, 0);
    [[maybe_unused]] const ssize_t sent = ::send(socket.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace

void Admissions::refuse(const Socket& socket, const std::string& who, const std::string& why) {
    MUSTER_LOG(runtime().registry().log("ptl"), Error, "refused %s, connected from %s: %s", who.c_str(),
               socket.peer.c_str(), why.c_str());
}

void Admissions::admit(Socket socket, ConnectRequest request, Bytes early) {
    auto admission = std::make_shared<Admission>();
    admission->socket = std::move(socket);
    admission->request = std::move(request);
    admission->early = std::move(early);
    const ConnectRequest& wanted = admission->request;
    Peer& peer = *admission->peer;
    peer.kind = wanted.kind;
    peer.version = parse_version(wanted.version);
    peer.proc = make_proc(wanted.nspace, wanted.rank);
    peer.format.bfrops = runtime().find_bfrops(wanted.bfrops);
    peer.format.buffer_type = static_cast<BufferType>(wanted.buffer_type);
    const std::string who = admission->text();

    if (peer.format.bfrops == nullptr) {
        if (peer.kind == PeerKind::Client) tell(admission->socket, PMIX_ERR_NOT_SUPPORTED);
        return refuse(admission->socket, who,
                      "it runs version " + wanted.version.substr(0, 64) + " with encoding '" +
                          wanted.bfrops.substr(0, 64) +
                          "', which no bfrops component here speaks; use OpenPMIx 4.0 or later");
    }
    if (peer.version.major == 0) {
        return refuse(admission->socket, who,
                      "its version '" + wanted.version.substr(0, 64) + "' has no known form");
    }
    if (peer.format.buffer_type != BufferType::NonDescribed &&
        peer.format.buffer_type != BufferType::FullyDescribed) {
        return refuse(admission->socket, who, "it wants an unknown type of buffers");
    }
    peer.shares = !wanted.gds.empty() && wanted.gds == runtime().store().shared_form();
    if (!peer.shares && wanted.gds != kWireStore) {
        return refuse(admission->socket, who,
                      "it wants store '" + wanted.gds +
                          "', which is not available here; set PMIX_GDS_MODULE=" + kWireStore +
                          " in its environment");
    }
    if (!wanted.info_blob.empty()) {
        Unpacker blob(peer.format, wanted.info_blob.view());
        if (!blob.infos(admission->info)) {
            return refuse(admission->socket, who, "the infos of its connect request cannot be read");
        }
        if (const char* uri = admission->info.view().string(PMIX_SERVER_URI)) peer.server_uri = uri;
    }
    const bool tool = is_tool(wanted.kind);
    if (wanted.kind != PeerKind::Client && !tool)
        return refuse(admission->socket, who, "it is neither a client that a server has started nor a tool");
    const auto let_in = tool ? &Admissions::admit_tool : &Admissions::admit_client;
    // The host may have registered it a moment ago, with the task queued after the connection.
    if (carries_identity(wanted.kind) && services_.namespaces.client(peer.proc) == nullptr &&
        runtime().loop().has_posted())
        return runtime().loop().post([this, admission, let_in] { (this->*let_in)(admission); });
    (this->*let_in)(admission);
}

void Admissions::admit_client(const std::shared_ptr<Admission>& admission) {
    const Peer& peer = *admission->peer;
    // A process that has finalized and initialises again is not a second process of the same name.
    hear_goodbye(peer.proc);
    if (auto checked = check_client(*admission); !checked) {
        if (checked.status() == PMIX_ERR_INVALID_CRED || is_of_refused(peer.proc)) {
            // Send the status: the client may retry with another credential, or must give up.
            tell(admission->socket, checked.status());
        }
        return refuse(admission->socket, admission->text(), checked.error().text);
    }
    if (!hold(admission)) return;
    LocalClient* client = services_.namespaces.client(peer.proc);
    services_.host.client_connected(peer.proc, client->server_object, std::move(admission->info),
                                    [this, admission](const HostAnswer& answer) {
                                        if (release(*admission)) complete_admission(admission, answer.status);
                                    });
    watch_held(admission);
}

bool Admissions::is_of_refused(const pmix_proc_t& proc) const {
    const Namespace* nspace = services_.namespaces.find(proc.nspace);
    return nspace != nullptr && nspace->refused != PMIX_SUCCESS;
}

Result<void> Admissions::check_client(Admission& admission) {
    if (is_of_refused(admission.peer->proc)) {
        return Error{services_.namespaces.find(admission.peer->proc.nspace)->refused,
                     "the registration of its namespace was refused"};
    }
    const LocalClient* client = services_.namespaces.client(admission.peer->proc);
    if (client == nullptr) {
        return Error{PMIX_ERR_NOT_FOUND,
                     "no such process is registered here; is PMIX_NAMESPACE and PMIX_RANK of "
                     "another server in its environment?"};
    }
    if (auto valid = check_credential(admission, client->uid, client->gid); !valid) return valid;
    if (client->clones.size() >= kMaxClones)
        return Error{PMIX_ERR_OUT_OF_RESOURCE, "it has too many connections already"};
    for (const pmix_info_t& info : admission.info.view()) {
        const bool user = key_is(info.key, PMIX_USERID);
        if (!user && !key_is(info.key, PMIX_GRPID)) continue;
        if (value_as_number<uint32_t>(&info.value) != (user ? client->uid : client->gid)) {
            return Error{PMIX_ERR_INVALID_CRED, "its PMIX_USERID or PMIX_GRPID is not the registered one"};
        }
    }
    admission.peer->uid = client->uid;
    admission.peer->gid = client->gid;
    return {};
}

Psec* Admissions::security_module(const std::string& name) {
    for (Psec* active : runtime().registry().psecs()) {
        if (name == active->name()) return active;
    }
    return nullptr;
}

Result<void> Admissions::check_credential(const Admission& admission, uint32_t uid, uint32_t gid) {
    const ConnectRequest& wanted = admission.request;
    Psec* module = security_module(wanted.psec);
    if (module == nullptr) {
        return Error{PMIX_ERR_INVALID_CRED,
                     "it offers security module '" + wanted.psec +
                         "', which is not active here; select one psec component at both ends"};
    }
    PsecClaim claim{uid, gid, admission.socket.credentials};
    return module->validate_credential(wanted.credential.view(), claim);
}

bool Admissions::hold(const std::shared_ptr<Admission>& admission) {
    const bool known = admission->registered || !is_tool(admission->request.kind);
    const Holder name(known ? admission->peer->uid : admission->request.euid, admission->peer->proc);
    if (held_[name] >= kMaxHeld) {
        refuse(admission->socket, admission->text(),
               "too many connections of this name wait for the host's decision");
        return false;
    }
    ++held_[name];
    admission->held_as = name;
    admission->held = true;
    return true;
}

void Admissions::watch_held(const std::shared_ptr<Admission>& admission) {
    // After an answer that the host has already given.
    runtime().loop().post([this, weak = std::weak_ptr<Admission>(admission)] {
        const auto held = weak.lock();
        if (!held || !held->held) return;
        held->leaves = runtime().loop().watch(held->socket.fd.get(), [this, weak](EventLoop::Ready) {
            const auto waiting = weak.lock();
            if (!waiting) return;
            char byte = 0;
            const ssize_t got = ::recv(waiting->socket.fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (got > 0) return waiting->leaves->want_read(false);  // sends early, but is connected
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
            refuse(waiting->socket, waiting->text(), "it left before the host decided");
            release(*waiting);
            waiting->socket.fd.reset();
        });
    });
}

bool Admissions::release(Admission& admission) {
    if (!admission.held) return false;
    admission.held = false;
    admission.leaves.reset();
    const auto held = held_.find(admission.held_as);
    if (--held->second == 0) held_.erase(held);
    return true;
}

/// The connections of one process have it in common, those that ended, too; and so have all tools of a user.
std::shared_ptr<Unanswered> Admissions::unanswered_of(const Peer& peer) {
    const Namespace* nspace = services_.namespaces.find(peer.proc.nspace);
    const bool named_by_host = nspace != nullptr && !nspace->synthetic;
    const auto key = named_by_host ? std::pair(std::string(nspace_view(peer.proc.nspace)), peer.proc.rank)
                                   : std::pair(std::string(), peer.uid);
    if (unanswered_.size() > 2 * services_.peers.size() + 64)
        std::erase_if(unanswered_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<Unanswered>& known = unanswered_[key];
    if (auto found = known.lock()) return found;
    auto made = std::make_shared<Unanswered>();
    made->limits.requests = runtime().parameters().size("server_base_max_requests");
    made->limits.memory = runtime().parameters().size("server_base_max_request_memory");
    known = made;
    return made;
}

void Admissions::complete_admission(std::shared_ptr<Admission> admission, pmix_status_t verdict) {
    const PeerPtr peer = admission->peer;
    LocalClient* client = services_.namespaces.client(peer->proc);  // it may have been deregistered meanwhile
    if (client == nullptr) verdict = PMIX_ERR_NOT_FOUND;
    if (verdict != PMIX_SUCCESS) {
        if (is_tool(peer->kind)) return refuse_tool(*admission, verdict, "the host does not accept it");
        const Bytes reply = build_client_reply(verdict, 0);
        // The socket's buffer is empty, so these few bytes are written at once; a closed peer is harmless.
        [[maybe_unused]] const ssize_t sent =
            ::send(admission->socket.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
        return refuse(admission->socket, "client " + peer->text(), "the host does not accept it");
    }
    peer->index = services_.peers.next_index();
    ToolReply tool;
    tool.server = runtime().self();
    if (needs_identity(peer->kind)) tool.assigned = peer->proc;
    const Bytes reply =
        is_tool(peer->kind) ? build_tool_reply(tool) : build_client_reply(PMIX_SUCCESS, peer->index);
    int shared[3];  // the store's segment, the job's barrier, and its meeting
    size_t nshared = 0;
    if (Namespace* nspace = services_.namespaces.find(peer->proc.nspace);
        peer->shares && nspace != nullptr && nspace->registered) {
        services_.describe(*nspace);
        // Without a segment the client requests its job data.
        if (const auto segment = runtime().store().share(peer->proc.nspace)) shared[nshared++] = *segment;
        // A second process of the same name would be counted as if it were the first.
        const bool first = client->peer == nullptr || client->gone();
        const int barrier = nshared == 1 && first ? services_.barriers.offer(*nspace) : -1;
        if (barrier >= 0) shared[nshared++] = barrier;
        const int meeting = barrier >= 0 ? services_.meetings.offer(*nspace) : -1;
        if (meeting >= 0) shared[nshared++] = meeting;
    }
    ssize_t sent = send_with_descriptors(admission->socket, reply.view(), {shared, nshared});
    // Not every socket takes a descriptor, nor at any time.
    if (sent < 0 && nshared > 0) sent = send_with_descriptors(admission->socket, reply.view(), {});
    if (sent != static_cast<ssize_t>(reply.size())) {
        return refuse(admission->socket, admission->text(), "it did not wait for the answer");
    }
    MUSTER_LOG(log(), Debug, "%s has connected, version %s", admission->text().c_str(),
               admission->request.version.c_str());
    Channel::Limits limits;
    limits.max_payload = runtime().parameters().size("server_base_max_payload");
    limits.max_queued = runtime().parameters().size("server_base_max_queued");
    limits.close_when_full = true;
    peer->log = &log();
    peer->unanswered = unanswered_of(*peer);
    peer->max_decoded = runtime().parameters().size("server_base_max_decoded");
    peer->channel = std::make_unique<Channel>(runtime().loop(), std::move(admission->socket), limits);
    services_.peers.add(peer, runtime().own_format());
    if (client->peer == nullptr || client->gone()) {
        client->peer = peer;
    } else {
        client->clones.push_back(peer);
    }
    client->connected = true;
    client->finalized = client->lost = false;
    const PeerRef ref = peer;
    peer->channel->start(
        [this, ref](Frame frame) {
            if (const PeerPtr from = ref.lock()) services_.on_frame(from, std::move(frame));
        },
        [this, ref](const std::string& reason) {
            if (const PeerPtr from = ref.lock()) services_.lost(from, reason);
        },
        admission->early.view());
    services_.peers.arrived(peer);
}

}  // namespace muster
