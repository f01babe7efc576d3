// SPDX-License-Identifier: BSD-3-Clause
// The server role: its parts, registrations, and the end of peers. See server.hpp.
#include "core/server/server.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/events/events.hpp"
#include "core/groups/construct.hpp"
#include "core/iof/forwarding.hpp"
#include "core/query/group_query.hpp"
#include "core/rendezvous/fence.hpp"
#include "core/spawn/connect.hpp"
#include "framework/base/info.hpp"

namespace muster {

Server::Server(const Parts& parts, const pmix_server_module_t* module, size_t size)
    : exchange_(parts.exchange),
      runtime_(parts.exchange.runtime()),
      events_(parts.events),
      forwarding_(parts.forwarding),
      host_(runtime_.loop(), runtime_.log(), module, size),
      files_(runtime_.loop()),
      modex_(exchange_, host_, namespaces_, peers_, modex_sources()),
      collectives_(
          runtime_.loop(), namespaces_,
          [this](const char* nspace) { return runtime_.store().job_size(nspace); }, runtime_.log()),
      event_router_(runtime_, host_, namespaces_, [this](EventPtr event) { events_.raise(std::move(event)); },
                    {.held_bytes = runtime_.parameters().size("pmix_event_cache_size"),
                     .queued_bytes = runtime_.parameters().size("pmix_event_queue_size"),
                     .codes = runtime_.parameters().size("pmix_event_max_codes")}),
      groups_({.exchange = exchange_,
               .host = host_,
               .namespaces = namespaces_,
               .peers = peers_,
               .collectives = collectives_,
               .modex = modex_,
               .router = event_router_,
               .events = events_}),
      monitors_(
          runtime_, host_, namespaces_, peers_, files_,
          [this](const auto& event, auto taken) { event_router_.from_client(event, std::move(taken)); }),
      forwarder_({.runtime = runtime_,
                  .host = host_,
                  .namespaces = namespaces_,
                  .peers = peers_,
                  .process_sets = groups_.process_sets(),
                  .forwarding = forwarding_}),
      queries_({.exchange = exchange_,
                .host = host_,
                .namespaces = namespaces_,
                .modex = modex_,
                .collectives = collectives_,
                .barriers = barriers_,
                .groups = groups_,
                .host_attributes = host_attributes_,
                .events = events_,
                .forwarder = forwarder_,
                .forwarding = forwarding_}),
      admissions_({.exchange = exchange_,
                   .host = host_,
                   .namespaces = namespaces_,
                   .peers = peers_,
                   .barriers = barriers_,
                   .meetings = groups_.meetings(),
                   .describe = [this](Namespace& nspace) { node_description_.describe(nspace, store()); },
                   .on_frame = [this](const PeerPtr& peer, Frame frame) { on_frame(peer, std::move(frame)); },
                   .lost = [this](const PeerPtr& peer, const std::string& reason) { lost(peer, reason); },
                   .drop = [this](const PeerPtr& peer) { drop(peer); },
                   .forget_tool = [this](const pmix_proc_t& proc) { forget_tool(proc); }}) {
    // A server is the only one of its node, and most of its clients wait: it may poll as with one of them.
    runtime_.set_company(2);
    collectives_.set_operation(CollectiveKind::Fence,
                               std::make_unique<FenceOperation>(host_, collectives_, modex_, barriers_));
    auto connections = std::make_shared<Connections>(namespaces_);
    collectives_.set_operation(CollectiveKind::Connect,
                               std::make_unique<ConnectOperation>(host_, collectives_, connections));
    collectives_.set_operation(CollectiveKind::Disconnect,
                               std::make_unique<DisconnectOperation>(host_, collectives_, connections));
    register_commands();
}

Modex::Sources Server::modex_sources() {
    Modex::Sources sources;
    sources.process_sets = [this](const pmix_proc_t& proc) { return process_sets().names_value(proc); };
    sources.group_names = [this](const Caller& caller, const pmix_proc_t& proc, InfoView directives,
                                 std::function<void(const std::vector<std::string>&)> done) {
        group_names(queries_, caller, &proc, directives, std::move(done));
    };
    sources.describe_node = [this](const GetRequest& request, Modex::OnGet& done) {
        if (!node_description_.offers(request)) return false;
        node_description_.answer(request, std::move(done));
        return true;
    };
    return sources;
}

LocalJobs::Registrar Server::registrar() {
    LocalJobs::Registrar registrar;
    registrar.register_nspace = [this](const char* nspace, int32_t nlocalprocs, InfoView info) {
        return register_nspace(nspace, nlocalprocs, info);
    };
    registrar.deregister_nspace = [this](const char* nspace) { end_namespace(nspace); };
    registrar.register_client = [this](const pmix_proc_t& proc, uint32_t uid, uint32_t gid) {
        return register_client(proc, uid, gid, nullptr);
    };
    registrar.tool_uri = [this] { return tool_uri_; };
    registrar.raise = [this](EventPtr event) { events_.raise(std::move(event)); };
    return registrar;
}

Server::~Server() = default;

void Server::join() {
    exchange_.serve(host_);
    events_.serve(event_router_, namespaces_);
    forwarding_.serve(forwarder_);
}

Result<std::unique_ptr<Server>> Server::create(const Parts& parts, const pmix_server_module_t* module,
                                               size_t size, InfoView info) {
    Runtime& runtime = parts.exchange.runtime();
    // A tool that is also a server already has a name; for it that attribute names the server to find.
    if (runtime.role() == Runtime::Role::Server) {
        const char* nspace = info.string(PMIX_SERVER_NSPACE);
        const std::string own_name = nspace != nullptr ? nspace : "pmix-server-" + std::to_string(getpid());
        if (own_name.size() > PMIX_MAX_NSLEN) {
            return Error{PMIX_ERR_BAD_PARAM, "PMIX_SERVER_NSPACE has more than 255 characters"};
        }
        runtime.set_self(make_proc(own_name, info.number<uint32_t>(PMIX_SERVER_RANK).value_or(0)));
    }

    // Without one, no client could ever prove itself.
    if (runtime.registry().psecs().empty())
        return Error{PMIX_ERR_NOT_AVAILABLE, runtime.registry().why_none("psec")};

    std::unique_ptr<Server> server(new Server(parts, module, size));
    if (server->forwarder_.set_style(info) != PMIX_SUCCESS) {
        return Error{PMIX_ERR_BAD_PARAM,
                     "a directive about output (PMIX_IOF_...) has a value of the wrong type"};
    }
    server->acceptor_ = std::make_unique<Acceptor>(
        runtime, [self = server.get()](Socket socket, ConnectRequest request, Bytes early) {
            self->admissions_.admit(std::move(socket), std::move(request), std::move(early));
        });
    if (info.has(PMIX_SERVER_ENABLE_MONITORING) && !info.is_true(PMIX_SERVER_ENABLE_MONITORING))
        server->monitors_.leave_to_host();
    ListenOptions options;
    options.directory = runtime.session_directory();
    options.remote = info.is_true(PMIX_SERVER_REMOTE_CONNECTIONS);
    if (auto opened = server->acceptor_->open(options, info.is_true(PMIX_SINGLE_LISTENER)); !opened)
        return opened.error();
    if (auto opened = server->open_to_tools(info); !opened) return opened.error();
    return server;
}

// --- calls of the host ---

pmix_status_t Server::register_nspace(const char* name, int32_t nlocalprocs, InfoView info) {
    // All keys searched here, in one pass: nearly all infos of a large job are arrays of its processes, and
    // each pass over 100,000 of them takes a millisecond. The host owns the values.
    std::vector<pmix_info_t> directives;
    std::copy_if(info.begin(), info.end(), std::back_inserter(directives),
                 [](const pmix_info_t& each) { return !info_is(each, PMIX_PROC_INFO_ARRAY); });
    const InfoView asked{directives.data(), directives.size()};
    if (asked.is_true(PMIX_REGISTER_NODATA)) {
        Namespace& nspace = namespaces_.get_or_add(name);
        nspace.nlocal = nlocalprocs;
    } else {
        if (auto stored = runtime_.store().register_job(name, nlocalprocs, info); !stored) {
            MUSTER_LOG(log(), Error, "namespace %s was not registered: %s", name,
                       stored.error().text.c_str());
            refuse_namespace(name, stored.status());
            return stored.status();
        }
    }
    // Data of a job that the host has yet to register; no local process waits for more.
    if (const Namespace* known = namespaces_.find(name);
        nlocalprocs < 0 && (known == nullptr || !known->registered))
        return PMIX_SUCCESS;
    Namespace& nspace = namespaces_.get_or_add(name);
    if (nlocalprocs >= 0) nspace.nlocal = nlocalprocs;
    nspace.mapped_ranks = runtime_.store().local_ranks(name);
    nspace.registered = true;
    nspace.refused = PMIX_SUCCESS;
    nspace.packed_job.clear();
    forwarder_.registered(name, asked);
    job_networks_.registered(name);
    run_waiting(nspace);
    modex_.registered(name);
    barriers_.registered(name);
    groups_.registered(name);
    collectives_.registered(name);
    return PMIX_SUCCESS;
}

void Server::run_waiting(Namespace& nspace) {
    for (const auto& task : std::exchange(nspace.waiting, {}))
        task();
}

/// Waiting and later clients of the namespace get the status; a failed update changes nothing.
void Server::refuse_namespace(const char* name, pmix_status_t status) {
    Namespace& nspace = namespaces_.get_or_add(name);
    if (nspace.registered) return;
    nspace.refused = status;
    has_refused_ = true;
    run_waiting(nspace);
}

pmix_status_t Server::refusal(const char* nspace) {
    const Namespace* known = namespaces_.find(nspace);
    return known == nullptr ? PMIX_SUCCESS : known->refused;
}

void Server::deregister_nspace(const char* name, std::function<void()> done) {
    end_namespace(name);
    files_.settled(std::move(done));
}

void Server::end_namespace(const char* name) {
    if (Namespace* nspace = namespaces_.find(name)) {
        barriers_.deregistered(name);
        groups_.deregistered(name);
        collectives_.deregistered(name);
        modex_.deregistered(name);
        event_router_.deregistered(name);
        auto waiting = std::move(nspace->waiting);
        for (auto& [rank, client] : nspace->clients) {
            if (client.connected && !client.gone()) {
                client.lost = true;
                departed(client.proc, true);
            }
            // Finalized connections may still wait for the answer, and are closed by the peer.
            if (client.peer && !client.peer->finalized) drop(client.peer);
            for (const PeerPtr& clone : client.clones) {
                if (!clone->finalized) drop(clone);
            }
        }
        namespaces_.remove(name);
        groups_.group_destruct().deregistered();
        // Their requests find no namespace now and are refused.
        for (const auto& task : waiting)
            task();
    }
    cleanups_.ended(name);
    forwarder_.deregistered(name);
    job_environments_.forget(name);
    job_networks_.forget(name);
    runtime_.store().deregister(name);
}

/// Data that all jobs share has changed: drops the packed job data, so that later clients get the new data.
void Server::forget_packed_jobs() {
    for (auto& [name, nspace] : namespaces_)
        nspace->packed_job.clear();
}

pmix_status_t Server::register_session(uint32_t id, InfoView info) {
    const auto stored = runtime_.store().register_session(id, info);
    if (!stored)
        MUSTER_LOG(log(), Error, "session %u was not registered: %s", id, stored.error().text.c_str());
    return stored.status();
}

void Server::deregister_session(uint32_t id) {
    runtime_.store().deregister_session(id);
    forget_packed_jobs();
}

pmix_status_t Server::register_resources(InfoView info) {
    const auto stored = runtime_.store().register_resources(info);
    if (!stored) MUSTER_LOG(log(), Error, "resources were not registered: %s", stored.error().text.c_str());
    forget_packed_jobs();
    return stored.status();
}

void Server::deregister_resources(InfoView info) {
    if (!runtime_.store().deregister_resources(info)) return;
    forget_packed_jobs();
    modex_.tell_deregistered(info);
}

pmix_status_t Server::register_client(const pmix_proc_t& proc, uint32_t uid, uint32_t gid,
                                      void* server_object) {
    if (const pmix_status_t refused = refusal(proc.nspace); refused != PMIX_SUCCESS) return refused;
    Namespace& nspace = namespaces_.get_or_add(proc.nspace);
    LocalClient& client = nspace.clients[proc.rank];
    client.proc = proc;
    client.uid = uid;
    client.gid = gid;
    client.server_object = server_object;
    nspace.removed.erase(proc.rank);
    nspace.removed_in_order.erase(proc.rank);
    groups_.began(proc);
    collectives_.registered(proc.nspace);
    return PMIX_SUCCESS;
}

void Server::deregister_client(const pmix_proc_t& proc, std::function<void()> done) {
    end_client(proc);
    files_.settled(std::move(done));
}

void Server::end_client(const pmix_proc_t& proc) {
    Namespace* nspace = namespaces_.find(proc.nspace);
    if (nspace == nullptr) return;
    LocalClient* client = nspace->client(proc.rank);
    if (client == nullptr) return;
    const bool was_there = !client->gone();
    client->lost = client->lost || was_there;
    nspace->removed.insert(proc.rank);
    if (!client->lost) nspace->removed_in_order.insert(proc.rank);
    groups_.exited(proc);
    if (was_there) {
        departed(client->proc, true);
    } else if (client->finalized) {
        // It finalized, and will not initialise again.
        barriers_.call_in(proc.nspace);
        collectives_.departed(proc);
        groups_.departed(proc, true);
    }
    end_connections(*client);
    event_router_.exited(proc);
    nspace->clients.erase(proc.rank);
    cleanups_.ended(proc);
}

void Server::end_connections(LocalClient& client) {
    if (client.peer) drop(client.peer);
    for (const PeerPtr& clone : client.clones)
        drop(clone);
    client.peer.reset();
    client.clones.clear();
}

void Server::close() {
    local_jobs_.close();
    modex_.close();
    collectives_.close();
    forwarder_.close();
    files_.finish();
    host_.close();
    // After the answers to all that is posted by now.
    runtime_.loop().post([this] {
        for (const PeerPtr& peer : std::vector(peers_.all()))
            drop(peer);
    });
}

std::vector<std::string> Server::uris() const {
    return acceptor_->uris();
}

// --- peers ---

void Server::lost(const PeerPtr& peer, const std::string& reason) {
    const PeerPtr keep = peer;
    drop(keep);
    LocalClient* client = namespaces_.client(keep->proc);
    if (client == nullptr) return;
    if (client->peer != keep) {
        std::erase(client->clones, keep);
        return;
    }
    client->peer.reset();
    if (client->finalized) return forget_tool(keep->proc);
    MUSTER_LOG(log(), Error, "lost the connection to %s %s: %s", is_tool(keep->kind) ? "tool" : "client",
               keep->text().c_str(), reason.c_str());
    client->lost = true;
    departed(keep->proc, true);
    event_router_.lost(keep->proc);
    forget_tool(keep->proc);
}

void Server::forget_tool(const pmix_proc_t& proc) {
    Namespace* nspace = namespaces_.find(proc.nspace);
    if (nspace == nullptr || !nspace->synthetic) return;
    const pmix_proc_t gone = proc;  // may be in an erased entry
    nspace->clients.erase(gone.rank);
    cleanups_.ended(gone);
    event_router_.exited(gone);
    if (!nspace->clients.empty()) return;
    cleanups_.ended(gone.nspace);
    collectives_.deregistered(gone.nspace);
    modex_.deregistered(gone.nspace);
    event_router_.deregistered(gone.nspace);
    namespaces_.remove(gone.nspace);
    groups_.group_destruct().deregistered();
    runtime_.store().deregister(gone.nspace);
}

void Server::departed(const pmix_proc_t& proc, bool lost) {
    const pmix_proc_t gone = proc;  // the services may free where it came from
    // A service that runs out of memory must not keep the others from handling the departure.
    const auto each = [&](const auto& tell) {
        try {
            tell();
        } catch (const std::bad_alloc&) {
            MUSTER_LOG(log(), Error, "memory is short at the end of %s:%u", gone.nspace, gone.rank);
        }
    };
    // A finalized process may use its files until the host reports its end.
    each([&] {
        if (lost) cleanups_.ended(gone);
    });
    each([&] { monitors_.departed(gone); });
    each([&] { modex_.departed(gone); });
    each([&] { barriers_.call_in(gone.nspace); });
    each([&] { groups_.departing(gone); });
    each([&] { lost ? collectives_.departed(gone) : collectives_.finalized(gone); });
    each([&] { event_router_.departed(); });
    each([&] { groups_.departed(gone, lost); });
}

void Server::drop(const PeerPtr& peer) {
    const PeerPtr keep = peer;
    if (keep->channel) keep->channel->close();
    const LocalClient* client = namespaces_.client(keep->proc);
    if (client == nullptr || client->peer == keep) peers_.forget_format(keep->proc);
    forwarder_.forget(keep);
    modex_.forget(keep);
    peers_.remove(keep);
    try {
        // Frames of this peer may be on the stack: the channel is destroyed after they are processed.
        runtime_.loop().post([keep] { keep->channel.reset(); });
    } catch (const std::bad_alloc&) {
        return;  // it is destroyed with the peer
    }
}

}  // namespace muster
