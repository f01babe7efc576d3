// SPDX-License-Identifier: BSD-3-Clause
// Spawn, on both sides of the wire: see spawn.hpp.
#include "core/spawn/spawn.hpp"

#include <pmix/muster.h>

#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"
#include "core/spawn/local_jobs.hpp"

namespace muster {

namespace {

void on_spawn(pmix_status_t status, char* nspace, void* cbdata) {
    HostAnswer answer = answer_of(status);
    if (nspace != nullptr) answer.nspace = nspace_view(nspace);
    Host::answer(cbdata, std::move(answer));
}

/// Adds the attributes of the requestor that the Standard requires for the host.
void add_requestor(Info& info, const Caller& caller) {
    if (!info.view().has(PMIX_SPAWNED)) info.add(PMIX_SPAWNED, true);
    // A tool may start a job in the name of another process.
    if (!info.view().has(PMIX_PARENT_ID)) info.add(PMIX_PARENT_ID, caller.proc);
    info.add(caller.tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT, true);
}

void spawn_by_host(Host& host, const Caller& caller, Info job_info, Apps apps, HostDone done) {
    struct SpawnRequest : HostRequest {
        Apps apps;
    };
    const auto upcall = host.module().spawn;
    if (upcall != nullptr && apps.size() == 0) return done(answer_of(PMIX_ERR_BAD_PARAM));
    add_requestor(job_info, caller);
    ask_host(host, caller, "spawn", "spawn", upcall, SpawnRequest{{std::move(job_info)}, std::move(apps)},
             std::move(done), [&](SpawnRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.info.data(), asked.info.size(), asked.apps.data(),
                               asked.apps.size(), on_spawn, cbdata);
             });
}

}  // namespace

void spawn(Exchange& exchange, Forwarding& forwarding, LocalJobs* local, Info job_info, Apps apps,
           HostDone done) {
    if (Upstream* client = exchange.upstream()) {
        // Servers send a job's output without a request: OpenPMIx always, Muster by a directive.
        const bool only_asked = client->server_version().can(Capability::AskedOutput);
        std::shared_ptr<const JobOutput> output;  // only a tool shows any
        if (exchange.runtime().role() == Runtime::Role::Tool)
            output = std::make_shared<JobOutput>(forwarding.puller().output_of(job_info));
        const bool shows = output && output->shown();
        if (!only_asked || shows) exchange.loop().need_driver();
        if (only_asked && shows) job_info.add(MUSTER_IOF_UNASKED, true);
        Packer message = client->packer(Command::Spawn);
        message.infos(job_info).counted(apps.data(), apps.size(), PMIX_APP);
        ask(
            *client, std::move(message),
            [&exchange, &forwarding, output, server = client->server()](Unpacker& in, HostAnswer& answer) {
                if (!in.string(answer.nspace) || answer.status != PMIX_SUCCESS) return;
                // Its output follows behind this answer.
                if (output) forwarding.puller().spawned(answer.nspace, *output, server);
                if (in.at_end()) return;
                const auto stored = exchange.store().unpack_job(answer.nspace.c_str(), in);
                // The job runs all the same; what is missing is fetched when it is asked for.
                if (!stored)
                    MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", answer.nspace.c_str(),
                               stored.error().text.c_str());
            },
            std::move(done));
    } else if (Host* host = exchange.host()) {
        // A launcher without a host starts itself what it is asked to.
        if (local != nullptr && host->module().spawn == nullptr)
            return local->spawn(std::move(job_info), std::move(apps), done);
        spawn_by_host(*host, Caller::host(exchange.runtime()), std::move(job_info), std::move(apps),
                      std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

namespace {

void handle_spawn(Exchange& exchange, Host& host, Forwarder& forwarder, const Request& request) {
    Info job_info;
    Apps apps;
    if (!request.in.infos(job_info) || !Apps::read(request.in, apps)) return request.malformed();
    pmix_iof_channel_t unasked = 0;
    if (Forwarder::takes_unasked(*request.peer, job_info)) {
        unasked = unasked_channels(job_info);
        if (!job_info.view().has(MUSTER_IOF_UNASKED)) job_info.add(MUSTER_IOF_UNASKED, true);
    }
    spawn_by_host(
        host, Caller::of(*request.peer), std::move(job_info), std::move(apps),
        [&exchange, &forwarder, ref = request.asker(), tag = request.tag, unasked](const HostAnswer& answer) {
            const PeerPtr peer = ref.lock();
            if (!peer) return;
            Packer reply = peer->packer();
            reply.status(answer.status);
            reply.string(answer.status == PMIX_SUCCESS ? answer.nspace.c_str() : nullptr);
            if (answer.status == PMIX_SUCCESS && exchange.store().knows(answer.nspace.c_str())) {
                Packer job = peer->packer();
                const bool compact = peer->version.can(Capability::CompactJobData);
                if (exchange.store().pack_job(answer.nspace.c_str(), job, compact) == PMIX_SUCCESS &&
                    job.error() == PMIX_SUCCESS) {
                    reply.raw(job.view());
                }
            }
            peer->reply(tag, std::move(reply));
            // Behind the answer: whose output comes, and how it is to look, the tool knows from that.
            if (answer.status == PMIX_SUCCESS) forwarder.spawned(peer, answer.nspace, unasked);
        });
}

}  // namespace

void serve_spawns(CommandTable& commands, Exchange& exchange, Host& host, Forwarder& forwarder) {
    commands.add(Command::Spawn, [&exchange, &host, &forwarder](const Request& request) {
        handle_spawn(exchange, host, forwarder, request);
    });
}

}  // namespace muster
