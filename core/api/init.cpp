// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Init, PMIx_Finalize and their company (Standard: Client Initialization and Finalization).
#include <pmix.h>
#include <unistd.h>

#include <optional>

#include "core/api/instance.hpp"
#include "core/api/topology.hpp"
#include "core/client/client.hpp"
#include "core/control/init_hold.hpp"
#include "core/runtime/completion.hpp"
#include "framework/ptl/handshake.hpp"

using namespace muster;

namespace {

struct InitContext {
    InfoView info;
    bool made = false;   ///< this call has made the runtime
    bool alone = false;  ///< no server started us, and none was found
};

Result<std::unique_ptr<Runtime>> make_client(void* data) {
    auto& context = *static_cast<InitContext*>(data);
    auto contact = ServerContact::from_environment();
    if (!contact) return contact.error();
    Runtime::Options options;
    options.role = Runtime::Role::Client;
    options.info = context.info;
    auto runtime = Runtime::create(options);
    if (!runtime) return runtime;
    auto client = std::make_unique<Client>(**runtime);
    Client& role = *client;
    (*runtime)->set_client(std::move(client));
    if (*contact) {
        if (auto connected = role.connect(**contact); !connected) {
            MUSTER_LOG((*runtime)->log(), Error, "%s", connected.error().text.c_str());
            (*runtime)->stop();
            return connected.error();
        }
    } else {
        role.become_singleton();
        context.alone = true;
    }
    // Until here the calling thread has driven the loop.
    (*runtime)->start();
    (*runtime)->note_own_facts();
    context.made = true;
    return runtime;
}

void say_goodbye(Runtime& runtime, void* data) {
    const auto& info = *static_cast<const InfoView*>(data);
    Client* client = runtime.client();
    if (client == nullptr) return;
    if (client->connected()) {
        if (info.is_true(PMIX_EMBED_BARRIER)) {
            call_and_wait<pmix_status_t>(runtime.loop(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
                client->fence({make_proc(runtime.self().nspace, PMIX_RANK_WILDCARD)}, {}, deliver);
            });
        }
        call_and_wait<pmix_status_t>(runtime.loop(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            client->finalize(std::chrono::seconds(2), false, deliver);
        });
    }
    call_and_wait<pmix_status_t>(runtime.loop(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
        client->close();
        deliver(PMIX_SUCCESS);
    });
}

}  // namespace

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        InitContext context;
        context.info = {info, ninfo};
        const pmix_status_t status = instance::initialize(make_client, &context, context.info);
        if (status != PMIX_SUCCESS) return status;
        pmix_status_t held = PMIX_SUCCESS;
        {
            const Use use;
            if (!use) return PMIX_ERR_INIT;
            if (proc != nullptr) *proc = use->self();
            if (context.made && !context.alone) held = hold_in_init(*use);
        }
        if (held != PMIX_SUCCESS) {
            instance::finalize(say_goodbye, &context.info);
            return held;
        }
        // Initialised all the same (docs/decisions/0005-init-without-a-server.md).
        return context.alone ? PMIX_ERR_UNREACH : PMIX_SUCCESS;
    });
}

PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        InfoView view{info, info == nullptr ? 0 : ninfo};
        const pmix_status_t status = instance::finalize(say_goodbye, &view);
        // Where nothing was initialised, it may be a child of fork(), whose parent's threads held locks.
        if (status != PMIX_ERR_INIT && !instance::initialized()) api::forget_topology();
        return status;
    });
}

PMIX_EXPORT int PMIx_Initialized(void) {
    return instance::initialized() ? 1 : 0;
}

PMIX_EXPORT const char* PMIx_Get_version(void) {
    return "Muster " MUSTER_VERSION " (PMIx Standard: 5.0, OpenPMIx API: 6.1)";
}

PMIX_EXPORT void PMIx_Progress(void) {
    const Use use;
    if (use) use->loop().progress();
}

PMIX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t*, size_t) {
    const Use use;
    // A handler cannot end the thread that it runs on.
    if (use && !use->loop().on_loop()) use->loop().stop();
}

PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[], size_t nprocs) {
    return guard([&]() -> pmix_status_t {
        const Use use;
        if (!use) return PMIX_ERR_INIT;
        if (nprocs > 0 && procs == nullptr) return PMIX_ERR_BAD_PARAM;
        Client* client = use->client();
        if (client == nullptr || !client->connected()) return PMIX_ERR_UNREACH;
        return call_and_wait<pmix_status_t>(use->loop(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            client->abort(status, msg, {procs, procs + nprocs}, deliver);
        });
    });
}

}  // extern "C"
