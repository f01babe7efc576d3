// SPDX-License-Identifier: BSD-3-Clause
// The table of commands, and the requests that belong to the server itself. See server.hpp.
#include "core/control/allocation.hpp"
#include "core/credential/credential.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/log/log.hpp"
#include "core/publish/directory.hpp"
#include "core/rendezvous/fence.hpp"
#include "core/server/server.hpp"
#include "core/spawn/connect.hpp"
#include "core/spawn/spawn.hpp"

namespace muster {

void Server::register_commands() {
    const auto add = [this](Command command, void (Server::*run)(const Request&),
                            AnswerTime answer = AnswerTime::MayWait) {
        commands_.add(
            command, [this, run](const Request& request) { (this->*run)(request); }, answer);
    };
    add(Command::JobInfo, &Server::job_info);
    add(Command::Abort, &Server::abort);
    add(Command::Finalize, &Server::finalize, AnswerTime::AtOnce);
    add(Command::ResolvePeers, &Server::resolve_peers);
    add(Command::ResolveNodes, &Server::resolve_nodes);
    serve_modex(commands_, exchange_, namespaces_, modex_);
    serve_fences(commands_, exchange_, collectives_, barriers_);
    serve_groups(commands_, groups_);
    serve_queries(commands_, queries_);
    serve_forwarding(commands_, forwarder_);
    serve_spawns(commands_, exchange_, host_, forwarder_);
    serve_publications(commands_, host_);
    serve_credentials(commands_, runtime_, host_);
    serve_allocations(commands_, host_);
    serve_log(commands_, runtime_, host_, namespaces_);
    serve_job_control(commands_, job_control_, exchange_.groups(), runtime_.log());
    serve_fabrics(commands_, fabrics_);
    serve_monitors(commands_, monitors_);
    serve_connections(commands_, runtime_, namespaces_, collectives_, exchange_.groups());
    serve_events(commands_, runtime_, event_router_, exchange_.groups(), [this](const Event& event) {
        const char* id = event.info.view().string(PMIX_GROUP_ID);
        return event.status != PMIX_GROUP_INVITED || id == nullptr ||
               groups_.group_construct().has_room(event.source, id, event.targets.size() + 1);
    });
}

void Server::job_info(const Request& request) {
    const PeerPtr& peer = request.peer;
    Namespace* nspace = namespaces_.find(peer->proc.nspace);
    if (nspace == nullptr) return peer->reply_status(request.tag, PMIX_ERR_INVALID_NAMESPACE);
    if (nspace->refused != PMIX_SUCCESS) return peer->reply_status(request.tag, nspace->refused);
    if (!nspace->registered) {
        nspace->waiting.push_back([this, ref = request.asker(), tag = request.tag] {
            const PeerPtr waiting = ref.lock();
            if (!waiting) return;
            Unpacker nothing(waiting->format, {});
            job_info(Request{waiting, tag, nothing});
        });
        return;
    }
    node_description_.describe(*nspace, store());
    if (SharedBytes packed = packed_job_info(runtime_, namespaces_, peer->proc.nspace, *peer)) {
        peer->reply_shared(request.tag, std::move(packed));
    } else {
        peer->reply_status(request.tag, PMIX_ERROR);
    }
}

void Server::abort(const Request& request) {
    pmix_status_t status = PMIX_SUCCESS;
    std::string message;
    std::vector<pmix_proc_t> procs;
    if (!request.in.status(status) || !request.in.string(message) || !request.in.procs(procs))
        return request.malformed();
    if (!request.expand(exchange_.groups(), log(), procs)) return;
    const LocalClient* client = namespaces_.client(request.peer->proc);
    host_.abort(request.peer->proc, client == nullptr ? nullptr : client->server_object, status,
                std::move(message), std::move(procs),
                [answer = answer_later(request)](const HostAnswer& reply) { answer(reply.status); });
}

void Server::finalize(const Request& request) {
    const PeerPtr& peer = request.peer;
    LocalClient* client = namespaces_.client(peer->proc);
    const bool again = peer->finalized;
    peer->finalized = true;
    forwarder_.forget(peer);
    if (again || client == nullptr || client->peer != peer)
        return peer->reply_status(request.tag, PMIX_SUCCESS);
    client->finalized = true;
    departed(peer->proc, false);
    if (namespaces_.find(peer->proc.nspace)->synthetic) {
        // The host accepted this tool without registering it: notify the host of the end, and do not wait.
        host_.client_finalized(peer->proc, nullptr, [](const HostAnswer&) {});
        return peer->reply_status(request.tag, PMIX_SUCCESS);
    }
    host_.client_finalized(peer->proc, client->server_object,
                           [answer = answer_later(request)](const HostAnswer&) { answer(PMIX_SUCCESS); });
}

void Server::resolve_peers(const Request& request) {
    std::string node, nspace;
    bool any_node = false, any_nspace = false;
    if (!request.in.string(node, any_node) || !request.in.string(nspace, any_nspace))
        return request.malformed();
    std::vector<pmix_proc_t> procs;
    const pmix_status_t status = runtime_.store().peers_on(any_node ? nullptr : node.c_str(),
                                                           any_nspace ? nullptr : nspace.c_str(), procs);
    Packer reply = request.peer->packer();
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.procs(procs.data(), procs.size());
    request.peer->reply(request.tag, std::move(reply));
}

void Server::resolve_nodes(const Request& request) {
    std::string nspace;
    bool any_nspace = false;
    if (!request.in.string(nspace, any_nspace)) return request.malformed();
    std::string list;
    const pmix_status_t status = runtime_.store().node_list_of(any_nspace ? nullptr : nspace.c_str(), list);
    Packer reply = request.peer->packer();
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.string(list);
    request.peer->reply(request.tag, std::move(reply));
}

}  // namespace muster
