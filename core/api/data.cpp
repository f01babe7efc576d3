// SPDX-License-Identifier: BSD-3-Clause
// Posting and getting data, and synchronising (Standard: Data Access and Sharing, Synchronization).
#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/api/call.hpp"
#include "core/api/topology.hpp"
#include "core/client/client.hpp"
#include "core/modex/get.hpp"
#include "core/runtime/completion.hpp"
#include "core/server/server.hpp"
#include "framework/base/complete.hpp"

using namespace muster;

namespace {

bool valid_key(const char* key) {
    return key != nullptr && *key != '\0' && strnlen(key, PMIX_MAX_KEYLEN + 1) <= PMIX_MAX_KEYLEN;
}

bool deletes(pmix_scope_t scope) {
    return scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_REMOTE || scope == PMIX_DEL_GLOBAL ||
           scope == PMIX_DEL_INTERNAL;
}

/// PMIx_Put with one of these scopes.
pmix_status_t delete_key(Process& process, pmix_scope_t scope, const char* key) {
    // Only this process has its value of a reserved key.
    if (key_is_reserved(key)) scope = PMIX_DEL_INTERNAL;
    if (Client* client = process.client()) return client->unput(scope, key);
    process.store().remove(process.self(), scope, key);
    return PMIX_SUCCESS;
}

/// The participants of a fence; NULL means all processes of our namespace.
std::vector<pmix_proc_t> participants(Process& process, const pmix_proc_t procs[], size_t nprocs) {
    if (procs == nullptr || nprocs == 0) return {make_proc(process.self().nspace, PMIX_RANK_WILDCARD)};
    return {procs, procs + nprocs};
}

/// Whether this process is the only one of its job. The job data remains readable after the server ended.
bool alone(Process& process) {
    return process.store().job_size(process.self().nspace).value_or(1) == 1;
}

/// A fence whose only participant is this process, which has no server.
bool only_ourselves(Process& process, const std::vector<pmix_proc_t>& procs) {
    for (const pmix_proc_t& proc : procs) {
        if (!nspace_is(proc.nspace, process.self().nspace)) return false;
        if (proc.rank != process.self().rank && (proc.rank != PMIX_RANK_WILDCARD || !alone(process)))
            return false;
    }
    return true;
}

/// The store of what processes have posted, of a server; else null.
Modex* own_modex(const Process& process) {
    Server* const server = process.server();
    return server == nullptr ? nullptr : &server->modex();
}

/// Whether the caller of a get lends the storage of the value, for a call that may have failed before it read
/// its directives.
bool gives_storage(const pmix_info_t info[], size_t ninfo) {
    const InfoView directives{info, info == nullptr ? 0 : ninfo};
    return directives.is_true(PMIX_GET_STATIC_VALUES) && !directives.is_true(PMIX_GET_POINTER_VALUES);
}

/// Whether PMIx_Get asks for the topology of our own node, which we load ourselves.
bool wants_topology(Process& process, const pmix_proc_t* proc, const char* key) {
    if (key == nullptr || !key_is(key, PMIX_TOPOLOGY2)) return false;
    if (proc == nullptr || proc_is(*proc, process.self())) return true;
    if (proc->nspace[0] != '\0' && !nspace_is(proc->nspace, process.self().nspace)) return false;
    if (proc->rank == PMIX_RANK_WILDCARD || proc->rank == PMIX_RANK_UNDEF) return true;
    const auto local = process.store().local_ranks(process.self().nspace);
    return std::ranges::find(local, proc->rank) != local.end();
}

pmix_status_t get_topology(InfoView directives, pmix_value_t** val) {
    if (directives.is_true(PMIX_GET_POINTER_VALUES)) {
        auto shared = api::shared_topology_value();
        if (shared) *val = *shared;
        return shared ? PMIX_SUCCESS : shared.status();
    }
    auto topology = api::topology_value();
    if (!topology) return topology.status();
    const bool lent = directives.is_true(PMIX_GET_STATIC_VALUES);
    if (lent && *val == nullptr) return PMIX_ERR_BAD_PARAM;
    if (!lent) *val = static_cast<pmix_value_t*>(std::malloc(sizeof(pmix_value_t)));
    if (*val == nullptr) return PMIX_ERR_NOMEM;
    **val = topology->release();
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t* val) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (!valid_key(key)) return PMIX_ERR_BAD_PARAM;
        if (deletes(scope)) return delete_key(*use, scope, key);
        if (val == nullptr) return PMIX_ERR_BAD_PARAM;
        if (scope != PMIX_LOCAL && scope != PMIX_REMOTE && scope != PMIX_GLOBAL && scope != PMIX_INTERNAL) {
            return PMIX_ERR_BAD_PARAM;
        }
        // It would block all later commits.
        if (const pmix_status_t status = value_complete(*val); status != PMIX_SUCCESS) return status;
        // Reserved keys are the host's to define, yet Open MPI puts some: we take them as facts that a
        // process keeps for itself, and does not send them (docs/decisions/0007-put-of-reserved-keys.md).
        if (key_is_reserved(key) && !key_is(key, PMIX_QUALIFIED_VALUE)) scope = PMIX_INTERNAL;
        Client* client = use->client();
        // A server's own data is where its clients and host look for it already.
        if (client == nullptr) return use->store().post(use->self(), scope, key, *val);
        return client->put(scope, key, *val);
    });
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[], pmix_value_t* val) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (!valid_key(key) || val == nullptr) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t status = value_complete(*val); status != PMIX_SUCCESS) return status;
        const pmix_proc_t target = proc == nullptr ? use->self() : *proc;
        return use->store().post(target, PMIX_INTERNAL, key, *val);
    });
}

pmix_status_t PMIx_Commit(void) {
    return with_process([&](const Use& use) -> pmix_status_t {
        Client* client = use->client();
        if (client == nullptr) return PMIX_SUCCESS;
        if (!client->connected()) return alone(*use) ? PMIX_SUCCESS : PMIX_ERR_UNREACH;  // no server
        EventLoop& loop = use->loop();
        std::optional<pmix_status_t> posted;
        Task task = [&] { posted = client->post_staged(); };
        if (!loop.on_loop() && use->runtime().run_here(task) && posted) return *posted;
        return call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK,
                                            [client](auto deliver) { client->commit(deliver); });
    });
}

pmix_status_t PMIx_Get(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t ninfo,
                       pmix_value_t** val) {
    const pmix_status_t status = guard([&]() -> pmix_status_t {
        const Hold use;  // get_blocking() does it if it waits
        if (!use) return PMIX_ERR_INIT;
        if (val == nullptr) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad = api::check(*use, Function::Get, {info, ninfo}); bad != PMIX_SUCCESS)
            return bad;
        if (wants_topology(*use, proc, key)) return get_topology({info, ninfo}, val);
        return get_blocking(use->exchange(), own_modex(*use), proc, key, {info, ninfo}, val);
    });
    // Callers free the value, except in their own storage.
    if (status != PMIX_SUCCESS && val != nullptr && !gives_storage(info, ninfo)) *val = nullptr;
    return status;
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t* proc, const char key[], const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t cbfunc, void* cbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
        pmix_status_t status = api::check(*use, Function::Get, {info, ninfo});
        if (status != PMIX_SUCCESS) return status;
        auto call = std::make_shared<GetCall>();
        status = call->prepare(use->exchange(), own_modex(*use), proc, key, {info, ninfo});
        if (status != PMIX_SUCCESS) return status;
        if (status = call->detach(); status != PMIX_SUCCESS) return status;
        const bool keep = call->directives().pointer;
        const auto give = [cbfunc, cbdata, keep](pmix_status_t code, pmix_value_t* value) {
            cbfunc(code, value, cbdata);
            if (value == nullptr || keep) return;
            value_destruct(value);
            std::free(value);
        };
        if (wants_topology(*use, proc, key)) {
            return api::answer_by<pmix_status_t, pmix_value_t*>(use, give, [keep](const auto& done) {
                Info how;
                if (keep) how.add(PMIX_GET_POINTER_VALUES, true);
                pmix_value_t* value = nullptr;
                const pmix_status_t code = get_topology(how, &value);
                done(code, value);
            });
        }
        return api::answer_by<pmix_status_t, pmix_value_t*>(use, give, [call](const auto& done) {
            pmix_value_t* value = nullptr;
            pmix_status_t code = call->must_refresh() ? PMIX_ERR_NOT_FOUND : call->look(&value);
            if (code == PMIX_SUCCESS) return done(code, value);
            if (code = call->may_ask(); code != PMIX_SUCCESS) return done(code, nullptr);
            GetCall::ask(call, done);
        });
    });
}

pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (const pmix_status_t bad = api::check(*use, Function::Fence, {info, ninfo}); bad != PMIX_SUCCESS)
            return bad;
        auto all = participants(*use, procs, nprocs);
        Client* client = use->client();
        if (client == nullptr || !client->connected())
            return only_ourselves(*use, all) ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
        // A fence through the server that begins while a handler runs ends after the handler, because the
        // progress thread executes both. Programs rely on that: OpenPMIx's Python module calls PMIx_Finalize
        // with a lock that the handler needs until it has returned.
        const uint64_t handler = use->loop().on_loop() ? 0 : use->events().engine().running();
        if (const auto ended = client->fence_in_memory(all, {info, ninfo})) {
            if (handler != 0) use->events().engine().await_return(handler);
            return *ended;
        }
        const auto status =
            call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
                client->fence(std::move(all), {info, ninfo}, deliver);
            });
        // It was there when the call began.
        return status == PMIX_ERR_UNREACH && !client->connected() ? PMIX_ERR_LOST_CONNECTION : status;
    });
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad = api::check(*use, Function::Fence, {info, ninfo}); bad != PMIX_SUCCESS)
            return bad;
        auto all = participants(*use, procs, nprocs);
        Client* client = use->client();
        if (client == nullptr || !client->connected()) {
            return only_ourselves(*use, all) ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_UNREACH;
        }
        auto directives = Info::copy_of(info, ninfo);
        if (!directives) return PMIX_ERR_BAD_PARAM;
        auto kept = std::make_shared<Info>(std::move(*directives));
        auto away = client->fence_by_server(all);
        return api::answer_by<pmix_status_t>(
            use, api::status_to(cbfunc, cbdata),
            [client, all = std::move(all), away = std::move(away), kept](const auto& done) mutable {
                client->fence(std::move(all), *kept, done);
            });
    });
}
