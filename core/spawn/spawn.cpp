// SPDX-License-Identifier: BSD-3-Clause
// Spawn, on both sides of the wire: see spawn.hpp.
#include "core/spawn/spawn.hpp"

#include "core/client/client.hpp"
#include "core/iof/forwarding.hpp"
#include "core/server/server.hpp"
#include "framework/base/argv.hpp"
#include "framework/base/complete.hpp"

namespace muster {

namespace {

/// What is behind the last slash.
std::string_view file_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/')
        path.remove_suffix(1);
    return path.substr(path.size() > 1 ? path.rfind('/') + 1 : 0);
}

}  // namespace

Apps::~Apps() {
    data_free_elements(data_, size_, PMIX_APP);
}

pmix_status_t Apps::copy_of(const pmix_app_t* apps, size_t size, Apps& out) {
    if (apps == nullptr || size == 0) return PMIX_ERR_BAD_PARAM;
    Apps copy;
    copy.data_ = static_cast<pmix_app_t*>(data_create_elements(size, PMIX_APP));
    if (copy.data_ == nullptr) return PMIX_ERR_NOMEM;
    // Counted before it is filled: a failed copy owns nothing, and what is left is in its initial state.
    copy.size_ = size;
    for (size_t i = 0; i < size; ++i) {
        pmix_app_t& app = copy.data_[i];
        if (apps[i].ninfo > 0 && apps[i].info == nullptr) return PMIX_ERR_BAD_PARAM;
        if (apps[i].maxprocs < 0) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t status = elements_complete(&apps[i], 1, PMIX_APP); status != PMIX_SUCCESS)
            return status;
        if (const pmix_status_t status = data_copy_elements(&app, &apps[i], 1, PMIX_APP);
            status != PMIX_SUCCESS) {
            app = {};
            return status;
        }
        const bool has_arguments = app.argv != nullptr && app.argv[0] != nullptr;
        if (app.cmd == nullptr && !has_arguments) return PMIX_ERR_BAD_PARAM;
        if (app.cmd == nullptr && (app.cmd = strdup(app.argv[0])) == nullptr) return PMIX_ERR_NOMEM;
        // MPI libraries give the arguments alone (MPICH), or with the name of the program before them (Open
        // MPI).
        const std::string_view name = file_name(app.cmd);
        if ((!has_arguments || file_name(app.argv[0]) != name) &&
            argv_prepend(&app.argv, name) != PMIX_SUCCESS)
            return PMIX_ERR_NOMEM;
    }
    out = std::move(copy);
    return PMIX_SUCCESS;
}

bool Apps::read(Unpacker& in, Apps& out) {
    void* values = nullptr;
    size_t count = 0;
    if (!in.counted(&values, count, PMIX_APP)) return false;
    Apps read;
    read.data_ = static_cast<pmix_app_t*>(values);
    read.size_ = count;
    out = std::move(read);
    return true;
}

namespace {

void on_spawn(pmix_status_t status, char* nspace, void* cbdata) {
    HostAnswer answer;
    answer.status = status;
    if (nspace != nullptr) answer.nspace = nspace_view(nspace);
    Host::answer(cbdata, std::move(answer));
}

/// What the Standard wants the host to be told of who asks.
void add_requestor(Info& info, const Caller& caller) {
    caller.add_identity(info);
    if (!info.view().has(PMIX_SPAWNED)) info.add(PMIX_SPAWNED, true);
    // A tool may start a job in the name of another process.
    if (!info.view().has(PMIX_PARENT_ID)) info.add(PMIX_PARENT_ID, caller.proc);
    info.add(caller.tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT, true);
}

void spawn_by_host(Server& server, const Caller& caller, Info job_info, Apps apps, HostDone done) {
    const auto upcall = server.host().module().spawn;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    if (apps.size() == 0) return done(answer_of(PMIX_ERR_BAD_PARAM));
    struct Arguments {
        pmix_proc_t proc;
        Info info;
        Apps apps;
    };
    const auto kept =
        std::make_shared<Arguments>(Arguments{caller.proc, std::move(job_info), std::move(apps)});
    add_requestor(kept->info, caller);
    server.host().upcall("spawn", kept, bounded(server, "spawn", caller, kept->info, std::move(done)),
                         [&](void* cbdata) {
                             return upcall(&kept->proc, kept->info.data(), kept->info.size(),
                                           kept->apps.data(), kept->apps.size(), on_spawn, cbdata);
                         });
}

}  // namespace

void spawn(Runtime& runtime, Info job_info, Apps apps, HostDone done) {
    if (Client* client = connected_client(runtime)) {
        // Servers send a job's output unasked: others always, ours where they are told.
        const bool ours = client->server_version().muster != 0;
        std::shared_ptr<const JobOutput> output;  // only a tool shows any
        if (runtime.role() == Runtime::Role::Tool)
            output = std::make_shared<JobOutput>(runtime.forwarding().puller().output_of(job_info));
        const bool shows = output && output->shown();
        if (!ours || shows) runtime.loop().need_thread();
        if (ours && shows) job_info.add(kUnaskedOutputKey, true);
        Packer message = client->packer(Command::Spawn);
        message.infos(job_info).counted(apps.data(), apps.size(), PMIX_APP);
        ask(
            *client, std::move(message),
            [&runtime, output, server = client->server()](Unpacker& in, HostAnswer& answer) {
                if (!in.string(answer.nspace) || answer.status != PMIX_SUCCESS) return;
                // Its output follows behind this answer.
                if (output) runtime.forwarding().puller().spawned(answer.nspace, *output, server);
                if (in.at_end()) return;
                const auto stored = runtime.store().unpack_job(answer.nspace.c_str(), in);
                // The job runs all the same; what is missing is fetched when it is asked for.
                if (!stored)
                    MUSTER_LOG(runtime.log(), Error, "job data of %s: %s", answer.nspace.c_str(),
                               stored.error().text.c_str());
            },
            std::move(done));
    } else if (Server* server = runtime.server()) {
        // A launcher without a host starts itself what it is asked to.
        if (runtime.role() == Runtime::Role::Tool && server->host().module().spawn == nullptr)
            return server->local_jobs().spawn(std::move(job_info), std::move(apps), done);
        spawn_by_host(*server, Caller::host(runtime), std::move(job_info), std::move(apps), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void handle::spawn(Server& server, const Request& request) {
    Info job_info;
    Apps apps;
    if (!request.in.infos(job_info) || !Apps::read(request.in, apps)) return request.malformed();
    pmix_iof_channel_t unasked = 0;
    if (Forwarder::takes_unasked(*request.peer, job_info)) {
        unasked = unasked_channels(job_info);
        if (!job_info.view().has(kUnaskedOutputKey)) job_info.add(kUnaskedOutputKey, true);
    }
    spawn_by_host(
        server, Caller::of(*request.peer), std::move(job_info), std::move(apps),
        [&server, ref = request.asker(), tag = request.tag, unasked](const HostAnswer& answer) {
            const PeerPtr peer = ref.lock();
            if (!peer) return;
            Packer reply = peer->packer();
            reply.status(answer.status);
            reply.string(answer.status == PMIX_SUCCESS ? answer.nspace.c_str() : nullptr);
            if (answer.status == PMIX_SUCCESS && server.runtime().store().knows(answer.nspace.c_str())) {
                Packer job = peer->packer();
                const bool compact = peer->version.muster != 0;
                if (server.runtime().store().pack_job(answer.nspace.c_str(), job, compact) == PMIX_SUCCESS &&
                    job.error() == PMIX_SUCCESS) {
                    reply.raw(job.view());
                }
            }
            peer->reply(tag, std::move(reply));
            // Behind the answer: whose output comes, and how it is to look, the tool knows from that.
            if (answer.status == PMIX_SUCCESS) server.forwarder().spawned(peer, answer.nspace, unasked);
        });
}

}  // namespace muster
