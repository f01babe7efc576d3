// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect, on both sides of the wire: see connect.hpp.
#include "core/spawn/connect.hpp"

#include <algorithm>

#include "core/attribute/directives.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/runtime/lookup.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {
namespace {

/// Participants of OpenPMIx 6.1 and later append their posted values and job data to the request. The host
/// gets these unchanged, since it may carry them to the other nodes.
bool is_contribution(const pmix_info_t& info) {
    return key_is(info.key, PMIX_PROC_INFO_ARRAY) || key_is(info.key, PMIX_JOB_INFO_ARRAY);
}

Info directives_for_host(const Collective& collective, const char* upcall) {
    Info info;
    const std::vector<Arrival>& arrivals = collective.arrivals();
    for (size_t i = 0; i < arrivals.size(); ++i) {
        for (const pmix_info_t& one : arrivals[i].info) {
            if (i == 0 || is_contribution(one)) info.add_copy(one);
        }
    }
    if (!info.view().has(PMIX_LOCAL_COLLECTIVE_STATUS))
        info.add(PMIX_LOCAL_COLLECTIVE_STATUS, Value::status(collective.local_status()));
    collective.add_unmet(*function_of_upcall(upcall), info);
    mark_processed(upcall, info);
    return info;
}

/// The namespaces that are in `procs` and are not `own`, each once.
std::vector<std::string> other_nspaces(const std::vector<pmix_proc_t>& procs, const char* own) {
    std::vector<std::string> names;
    ViewSet seen{nspace_view(own)};
    for (const pmix_proc_t& proc : procs) {
        if (seen.insert(nspace_view(proc.nspace)).second) names.emplace_back(nspace_view(proc.nspace));
    }
    return names;
}

// --- what a client of an OpenPMIx 6.1 server adds to its request ---

void add_own_data(Exchange& exchange, Packer& message) {
    Info posted;
    posted.add(PMIX_PROCID, exchange.self());
    exchange.store().find_posted(exchange.self(), View::Remote, [&](const Found& found) {
        if (!key_is_reserved(found.key)) posted.add_copy(found.key, found.value);
    });
    if (posted.size() == 1) return;
    Info trailer;
    trailer.add(PMIX_PROC_INFO_ARRAY, std::move(posted).to_value());
    message.info(trailer[0]);
}

void add_job_data(Exchange& exchange, const std::vector<pmix_proc_t>& procs, Packer& message) {
    const pmix_proc_t& self = exchange.self();
    if (other_nspaces(procs, self.nspace).empty()) return;
    pmix_rank_t lowest = PMIX_RANK_WILDCARD;
    for (const pmix_proc_t& proc : procs) {
        if (!nspace_is(proc.nspace, self.nspace)) continue;
        lowest = std::min(lowest, proc.rank == PMIX_RANK_WILDCARD ? 0 : proc.rank);
    }
    if (lowest != self.rank) return;
    Info job;
    const char* nspace = self.nspace;
    job.add(PMIX_NSPACE, Value::of(PMIX_PROC_NSPACE, nspace));
    const Lookup everything = lookup_of(nspace, PMIX_RANK_WILDCARD);
    exchange.store().find(everything, [&](const Found& found) { job.add_copy(found.key, found.value); });
    Info trailer;
    trailer.add(PMIX_JOB_INFO_ARRAY, std::move(job).to_value());
    message.info(trailer[0]);
}

}  // namespace

// --- the server's side ---

void Connections::add(std::vector<pmix_proc_t> participants) {
    // Sets whose namespaces are all deregistered can be dropped.
    std::erase_if(sets_, [&](const std::vector<pmix_proc_t>& set) {
        return std::ranges::none_of(
            set, [&](const pmix_proc_t& proc) { return namespaces_.find(proc.nspace) != nullptr; });
    });
    if (!has(participants)) sets_.push_back(std::move(participants));
}

void Connections::remove(const std::vector<pmix_proc_t>& participants) {
    std::erase_if(sets_, [&](const std::vector<pmix_proc_t>& set) { return same_procs(set, participants); });
}

bool Connections::has(const std::vector<pmix_proc_t>& participants) const {
    return std::ranges::any_of(
        sets_, [&](const std::vector<pmix_proc_t>& set) { return same_procs(set, participants); });
}

void ConnectionOperation::ask_host(const char* name, Upcall upcall,
                                   const std::shared_ptr<Collective>& collective,
                                   std::function<void()> done) {
    struct Arguments {
        std::vector<pmix_proc_t> procs;
        Info info;
    };
    const auto kept = std::make_shared<Arguments>(
        Arguments{collective->participants(), directives_for_host(*collective, name)});
    const auto answered = [this, collective, done = std::move(done)](const HostAnswer& answer) {
        if (answer.status == PMIX_SUCCESS) done();
        collectives_.finish(collective, {answer.status, {}});
    };
    host_.upcall(name, kept, answered, [&](void* cbdata) {
        return upcall(kept->procs.data(), kept->procs.size(), kept->info.data(), kept->info.size(),
                      Host::on_op, cbdata);
    });
}

void ConnectOperation::all_local_in(const std::shared_ptr<Collective>& collective) {
    const auto upcall = host_.module().connect;
    if (upcall == nullptr) return collectives_.finish(collective, {PMIX_ERR_NOT_SUPPORTED, {}});
    ask_host("connect", upcall, collective,
             [this, collective] { connections_->add(collective->participants()); });
}

void DisconnectOperation::all_local_in(const std::shared_ptr<Collective>& collective) {
    const auto upcall = host_.module().disconnect;
    if (upcall == nullptr) return collectives_.finish(collective, {PMIX_ERR_NOT_SUPPORTED, {}});
    if (!connections_->has(collective->participants()))
        return collectives_.finish(collective, {PMIX_ERR_INVALID_OPERATION, {}});
    ask_host("disconnect", upcall, collective,
             [this, collective] { connections_->remove(collective->participants()); });
}

namespace {

void arrive(Runtime& runtime, Namespaces& namespaces, Collectives& collectives, const GroupTable& groups,
            const Request& request, CollectiveKind kind) {
    std::vector<pmix_proc_t> procs;
    Arrival arrival;
    if (!request.in.procs(procs) || !request.in.infos(arrival.info)) return request.malformed();
    while (!request.in.at_end()) {
        if (!request.in.info(arrival.info)) return request.malformed();
    }
    if (procs.empty()) return request.peer->reply_status(request.tag, PMIX_ERR_BAD_PARAM);
    if (!request.expand(groups, runtime.log(), procs)) return;
    arrival.proc = request.peer->proc;
    arrival.reply = [&runtime, &namespaces, kind, ref = request.asker(), tag = request.tag,
                     others = other_nspaces(procs, request.peer->proc.nspace)](const Outcome& outcome) {
        const PeerPtr peer = ref.lock();
        if (!peer) return;
        Packer reply = peer->packer();
        reply.status(outcome.status);
        if (kind == CollectiveKind::Connect && outcome.status == PMIX_SUCCESS) {
            for (const std::string& name : others) {
                if (const SharedBytes job = packed_job_info(runtime, namespaces, name.c_str(), *peer))
                    reply.bytes(job->view());
            }
        }
        peer->reply(tag, std::move(reply));
    };
    collectives.arrive(kind, "", std::move(procs), std::move(arrival));
}

}  // namespace

void serve_connections(CommandTable& commands, Runtime& runtime, Namespaces& namespaces,
                       Collectives& collectives, const GroupTable& groups) {
    commands.add(Command::Connect, [&](const Request& request) {
        arrive(runtime, namespaces, collectives, groups, request, CollectiveKind::Connect);
    });
    commands.add(Command::Disconnect, [&](const Request& request) {
        arrive(runtime, namespaces, collectives, groups, request, CollectiveKind::Disconnect);
    });
}

// --- the client's side ---

void connect(Exchange& exchange, std::vector<pmix_proc_t> procs, Info info, HostDone done) {
    Upstream* client = exchange.upstream();
    if (client == nullptr) return done(answer_of(PMIX_ERR_UNREACH));
    if (!client->server_version().can(Capability::GroupNames) && !exchange.groups().expand(procs))
        return done(answer_of(PMIX_ERR_BAD_PARAM));
    Packer message = client->packer(Command::Connect);
    message.procs(procs.data(), procs.size()).infos(info);
    const PeerVersion version = client->server_version();
    if (!version.can(Capability::GroupDetails) && version.at_least(6, 1)) {
        add_own_data(exchange, message);
        add_job_data(exchange, procs, message);
    }
    ask(
        *client, std::move(message),
        [&exchange](Unpacker& in, HostAnswer& answer) {
            while (!in.at_end()) {
                ByteView bytes;
                if (!in.bytes(bytes)) return;
                Unpacker job(in.format(), bytes);
                std::string nspace;
                if (!job.string(nspace)) continue;
                if (const auto stored = exchange.store().unpack_job(nspace.c_str(), job); !stored) {
                    MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", nspace.c_str(),
                               stored.error().text.c_str());
                    answer.status = stored.status();
                }
            }
        },
        std::move(done));
}

void disconnect(Exchange& exchange, std::vector<pmix_proc_t> procs, Info info, HostDone done) {
    Upstream* client = exchange.upstream();
    if (client == nullptr) return done(answer_of(PMIX_ERR_UNREACH));
    if (!client->server_version().can(Capability::GroupNames) && !exchange.groups().expand(procs))
        return done(answer_of(PMIX_ERR_BAD_PARAM));
    Packer message = client->packer(Command::Disconnect);
    message.procs(procs.data(), procs.size()).infos(info);
    ask(*client, std::move(message), {}, std::move(done));
}

}  // namespace muster
