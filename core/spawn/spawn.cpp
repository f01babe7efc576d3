// SPDX-License-Identifier: BSD-3-Clause
// Spawn, on both sides of the wire: see spawn.hpp.
#include "core/spawn/spawn.hpp"

#include <pmix/muster.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"
#include "core/spawn/local_jobs.hpp"
#include "framework/base/argv.hpp"
#include "framework/base/complete.hpp"
#include "framework/base/element.hpp"

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
                // Its output follows this answer.
                if (output) forwarding.puller().spawned(answer.nspace, *output, server);
                if (in.at_end()) return;
                const auto stored = exchange.store().unpack_job(answer.nspace.c_str(), in);
                // The job runs nevertheless; missing data is fetched on request.
                if (!stored)
                    MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", answer.nspace.c_str(),
                               stored.error().text.c_str());
            },
            std::move(done));
    } else if (Host* host = exchange.host()) {
        // A launcher without a host starts the job itself.
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
            // After the answer: it tells the tool the job and the style of the output.
            if (answer.status == PMIX_SUCCESS) forwarder.spawned(peer, answer.nspace, unasked);
        });
}

}  // namespace

void serve_spawns(CommandTable& commands, Exchange& exchange, Host& host, Forwarder& forwarder) {
    commands.add(Command::Spawn, [&exchange, &host, &forwarder](const Request& request) {
        handle_spawn(exchange, host, forwarder, request);
    });
}

namespace {

/// Returns the part after the last slash.
std::string_view file_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/')
        path.remove_suffix(1);
    return path.substr(path.size() > 1 ? path.rfind('/') + 1 : 0);
}

}  // namespace

pmix_status_t Apps::copy_of(const pmix_app_t* apps, size_t size, Apps& out) {
    if (apps == nullptr || size == 0) return PMIX_ERR_BAD_PARAM;
    Apps copy;
    copy.data_ = static_cast<pmix_app_t*>(data_create_elements(size, PMIX_APP));
    if (copy.data_ == nullptr) return PMIX_ERR_NOMEM;
    // Counted before it is filled: a failed copy owns nothing, and the rest is in its initial state.
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

namespace {

bool is_forwarded(std::string_view name) {
    return !name.empty() && !name.starts_with("PMIX_") && !name.starts_with("MUSTER_") && name != "PWD" &&
           name != "OLDPWD" && name != "_";
}

/// The name of a variable, "NAME=value"; all of it if there is no value.
std::string_view name_of_variable(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

bool forwards(InfoView info) {
    return info.is_true(PMIX_FWD_ENVIRONMENT) && !info.is_true(PMIX_ENVARS_HARVESTED);
}

void add_missing(char**& variables, char** environment) {
    std::set<std::string, std::less<>> own;
    for (char** one = variables; one != nullptr && *one != nullptr; ++one)
        own.emplace(name_of_variable(*one));
    std::vector<const char*> missing;
    for (char** one = environment; one != nullptr && *one != nullptr; ++one) {
        const std::string_view name = name_of_variable(*one);
        if (name.size() < std::strlen(*one) && is_forwarded(name) && !own.contains(name))
            missing.push_back(*one);
    }
    const size_t before = own.empty() ? 0 : argv_count(variables);
    auto** whole =
        static_cast<char**>(std::realloc(variables, (before + missing.size() + 1) * sizeof(char*)));
    if (whole == nullptr) throw std::bad_alloc();
    variables = whole;
    for (size_t i = 0; i <= missing.size(); ++i)
        whole[before + i] = nullptr;
    for (size_t i = 0; i < missing.size(); ++i) {
        whole[before + i] = strdup(missing[i]);
        if (whole[before + i] == nullptr) throw std::bad_alloc();
    }
}

}  // namespace

void Apps::forward_environment(InfoView job_info, char** environment) {
    if (job_info.is_true(PMIX_ENVARS_HARVESTED)) return;
    for (size_t i = 0; i < size_; ++i) {
        if (forwards(job_info) || forwards({data_[i].info, data_[i].ninfo}))
            add_missing(data_[i].env, environment);
    }
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

}  // namespace muster
