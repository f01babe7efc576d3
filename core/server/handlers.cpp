// SPDX-License-Identifier: BSD-3-Clause
// The table of commands, and the handlers of what every client does: see handlers.hpp.
#include "core/server/handlers.hpp"

#include <cstring>

#include "core/control/allocation.hpp"
#include "core/credential/credential.hpp"
#include "core/exchange/exchange.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/job_reply.hpp"
#include "core/groups/construct.hpp"
#include "core/log/log.hpp"
#include "core/publish/directory.hpp"
#include "core/server/server.hpp"
#include "core/spawn/connect.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Whether a process may have the data of another one, or of its job.
bool may_read(Server& server, const Peer& peer, const pmix_proc_t& target) {
    return nspace_is(peer.proc.nspace, target.nspace) || server.namespaces().may_use(peer.uid, target);
}

}  // namespace

void Server::register_commands() {
    const auto add = [this](Command command, void (*run)(Server&, const Request&),
                            AnswerTime answer = AnswerTime::MayWait) {
        commands_.add(
            command, [this, run](const Request& request) { run(*this, request); }, answer);
    };
    add(Command::JobInfo, handle::job_info);
    add(Command::Abort, handle::abort);
    add(Command::Commit, handle::commit, AnswerTime::AtOnce);
    add(Command::Fence, handle::fence);
    add(Command::Get, handle::get);
    add(Command::Finalize, handle::finalize, AnswerTime::AtOnce);
    add(Command::RefreshCache, handle::refresh_cache);
    add(Command::ResolvePeers, handle::resolve_peers);
    add(Command::ResolveNodes, handle::resolve_nodes);
    add(Command::Post, handle::post, AnswerTime::Never);
    add(Command::AllArrived, handle::all_arrived, AnswerTime::Never);
    add(Command::Spawn, handle::spawn);
    add(Command::Query, handle::query);
    add(Command::GroupConstruct, handle::group_construct);
    add(Command::ConstructRuns, handle::group_construct_runs);
    add(Command::GroupDestruct, handle::group_destruct);
    add(Command::IofPull, handle::iof_pull);
    add(Command::IofPush, handle::iof_push);
    add(Command::IofDeregister, handle::iof_deregister);
    add(Command::GroupInvite, handle::group_invite);
    add(Command::GroupLeave, handle::group_leave);
    add(Command::GroupJoin, handle::group_decision, AnswerTime::Never);
    serve_publications(commands_, host_);
    serve_credentials(commands_, runtime_, host_);
    serve_allocations(commands_, host_);
    serve_log(commands_, runtime_, host_, namespaces_);
    serve_job_control(commands_, job_control_, runtime_.groups(), runtime_.log());
    serve_fabrics(commands_, fabrics_);
    serve_monitors(commands_, monitors_);
    serve_connections(commands_, runtime_, namespaces_, collectives_, runtime_.groups());
    serve_events(commands_, runtime_, events_, runtime_.groups(), [this](const Event& event) {
        const char* id = event.info.view().string(PMIX_GROUP_ID);
        return event.status != PMIX_GROUP_INVITED || id == nullptr ||
               group_construct_->has_room(event.source, id, event.targets.size() + 1);
    });
}

void handle::job_info(Server& server, const Request& request) {
    const PeerPtr& peer = request.peer;
    Namespace* nspace = server.namespaces().find(peer->proc.nspace);
    if (nspace == nullptr) return peer->reply_status(request.tag, PMIX_ERR_INVALID_NAMESPACE);
    if (!nspace->registered) {
        nspace->waiting.push_back([&server, ref = request.asker(), tag = request.tag] {
            const PeerPtr waiting = ref.lock();
            if (!waiting) return;
            Unpacker nothing(waiting->format, {});
            job_info(server, Request{waiting, tag, nothing});
        });
        return;
    }
    if (SharedBytes packed =
            packed_job_info(server.runtime(), server.namespaces(), peer->proc.nspace, *peer)) {
        peer->reply_shared(request.tag, std::move(packed));
    } else {
        peer->reply_status(request.tag, PMIX_ERROR);
    }
}

void handle::abort(Server& server, const Request& request) {
    pmix_status_t status = PMIX_SUCCESS;
    std::string message;
    std::vector<pmix_proc_t> procs;
    if (!request.in.status(status) || !request.in.string(message) || !request.in.procs(procs))
        return request.malformed();
    if (!request.expand(server.runtime().groups(), server.log(), procs)) return;
    const LocalClient* client = server.namespaces().client(request.peer->proc);
    server.host().abort(request.peer->proc, client == nullptr ? nullptr : client->server_object, status,
                        std::move(message), std::move(procs),
                        [answer = answer_later(request)](const HostAnswer& reply) { answer(reply.status); });
}

void handle::commit(Server& server, const Request& request) {
    request.peer->reply_status(request.tag, server.modex().commit(request.peer->proc, request.in));
}

void handle::post(Server& server, const Request& request) {
    const pmix_status_t status = server.modex().commit(request.peer->proc, request.in);
    // That there is no room for more has been written.
    if (status == PMIX_SUCCESS || status == PMIX_ERR_OUT_OF_RESOURCE) return;
    MUSTER_LOG(server.log(), Error, "what %s has committed is not kept from here on: %s",
               request.peer->text().c_str(), status_text(status));
}

void handle::fence(Server& server, const Request& request) {
    std::vector<pmix_proc_t> procs;
    Arrival arrival;
    if (!request.in.procs(procs) || !request.in.infos(arrival.info)) return request.malformed();
    if (request.peer->version.muster != 0 && !request.in.at_end() &&
        !request.in.boolean(arrival.maps_barrier))
        return request.malformed();
    if (procs.empty()) procs.push_back(make_proc(request.peer->proc.nspace, PMIX_RANK_WILDCARD));
    if (!request.expand(server.runtime().groups(), server.log(), procs)) return;
    arrival.proc = request.peer->proc;
    arrival.reply = [answer = answer_later(request)](const Outcome& outcome) { answer(outcome.status); };
    server.collectives().arrive(CollectiveKind::Fence, "", std::move(procs), std::move(arrival));
}

void handle::all_arrived(Server& server, const Request& request) {
    server.barriers().all_arrived(request.peer->proc.nspace);
}

void handle::get(Server& server, const Request& request) {
    GetRequest get;
    std::string nspace;
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    if (!request.in.string(nspace) || !request.in.rank(rank) || !request.in.infos(get.info))
        return request.malformed();
    if (!request.in.at_end()) {
        std::string key;
        bool none = false;
        if (!request.in.string(key, none)) return request.malformed();
        if (!none) get.key = std::move(key);
    }
    get.requester = request.peer->proc;
    get.asker = request.peer;
    get.target = make_proc(nspace, rank);
    get.format = request.peer->format;
    if (!may_read(server, *request.peer, get.target))
        return request.peer->reply_status(request.tag, PMIX_ERR_NO_PERMISSIONS);
    server.modex().get(std::move(get),
                       [ref = request.asker(), tag = request.tag](pmix_status_t status, Bytes blob) {
                           const PeerPtr peer = ref.lock();
                           if (!peer) return;
                           Packer reply = peer->packer();
                           reply.status(status);
                           if (status == PMIX_SUCCESS) reply.raw(blob.view());
                           peer->reply(tag, std::move(reply));
                       });
}

void handle::finalize(Server& server, const Request& request) {
    const PeerPtr& peer = request.peer;
    LocalClient* client = server.namespaces().client(peer->proc);
    const bool again = peer->finalized;
    peer->finalized = true;
    server.forwarder().forget(peer);
    if (again || client == nullptr || client->peer != peer)
        return peer->reply_status(request.tag, PMIX_SUCCESS);
    client->finalized = true;
    server.departed(peer->proc, false);
    if (server.namespaces().find(peer->proc.nspace)->synthetic) {
        // A tool that the host has let in, not registered: it hears of the end, and is not waited for.
        server.host().client_finalized(peer->proc, nullptr, [](const HostAnswer&) {});
        return peer->reply_status(request.tag, PMIX_SUCCESS);
    }
    server.host().client_finalized(
        peer->proc, client->server_object,
        [answer = answer_later(request)](const HostAnswer&) { answer(PMIX_SUCCESS); });
}

void handle::refresh_cache(Server& server, const Request& request) {
    std::string nspace;
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    if (!request.in.string(nspace) || !request.in.rank(rank)) return request.malformed();
    const pmix_proc_t target = make_proc(nspace, rank);
    const bool job_level = rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF;
    if (!may_read(server, *request.peer, target) ||
        (!job_level && !server.modex().may_give(request.peer->proc, request.peer->uid, target)))
        return request.peer->reply_status(request.tag, PMIX_ERR_NO_PERMISSIONS);
    Packer reply = request.peer->packer();
    Packer values = request.peer->packer();
    const Gds& store = server.runtime().store();
    pmix_status_t status = PMIX_SUCCESS;
    if (job_level) {
        status = store.pack_job(nspace.c_str(), values, false);
    } else {
        const View view = server.namespaces().is_local(target) ? View::Local : View::All;
        status =
            store.find_posted(target, view, [&](const Found& found) { values.kval(found.key, found.value); });
    }
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.raw(values.view());
    request.peer->reply(request.tag, std::move(reply));
}

void handle::resolve_peers(Server& server, const Request& request) {
    std::string node, nspace;
    bool any_node = false, any_nspace = false;
    if (!request.in.string(node, any_node) || !request.in.string(nspace, any_nspace))
        return request.malformed();
    std::vector<pmix_proc_t> procs;
    const pmix_status_t status = server.runtime().store().peers_on(
        any_node ? nullptr : node.c_str(), any_nspace ? nullptr : nspace.c_str(), procs);
    Packer reply = request.peer->packer();
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.procs(procs.data(), procs.size());
    request.peer->reply(request.tag, std::move(reply));
}

void handle::resolve_nodes(Server& server, const Request& request) {
    std::string nspace;
    bool any_nspace = false;
    if (!request.in.string(nspace, any_nspace)) return request.malformed();
    std::vector<std::string> nodes;
    const pmix_status_t status =
        server.runtime().store().nodes_of(any_nspace ? nullptr : nspace.c_str(), nodes);
    std::string list;
    for (const std::string& node : nodes)
        list += (list.empty() ? "" : ",") + node;
    Packer reply = request.peer->packer();
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.string(list);
    request.peer->reply(request.tag, std::move(reply));
}

}  // namespace muster
