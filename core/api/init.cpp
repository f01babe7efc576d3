// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Init, PMIx_Finalize and their company (Standard: Client Initialization and Finalization).
#include <pmix.h>
#include <unistd.h>

#include "core/api/call.hpp"
#include "core/client/client.hpp"
#include "core/control/init_hold.hpp"
#include "core/events/event.hpp"
#include "core/runtime/completion.hpp"

using namespace muster;

pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        const InfoView directives{info, ninfo};
        bool made = false;   // by this call
        bool alone = false;  // no server has started this process, and none was found
        const auto make = [&] {
            auto process = Process::create_client(directives);
            made = process.ok();
            alone = made && !(*process)->client()->connected();
            return process;
        };
        const pmix_status_t status = instance::initialize(make, directives);
        if (status != PMIX_SUCCESS) return status;
        pmix_status_t held = PMIX_SUCCESS;
        {
            const Use use;
            if (!use) return PMIX_ERR_INIT;
            if (proc != nullptr) *proc = use->self();
            if (EventPtr model = model_declared(use->self(), directives)) {
                use->loop().post([events = &use->events(), model = std::move(model)] {
                    events->notify(model, [](pmix_status_t) {});
                });
            }
            if (made && !alone) held = hold_in_init(use->exchange(), use->events());
        }
        if (held != PMIX_SUCCESS) {
            instance::finalize(directives.is_true(PMIX_EMBED_BARRIER));
            return held;
        }
        // Initialised nevertheless (docs/decisions/0005-init-without-a-server.md).
        return alone ? PMIX_ERR_UNREACH : PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        const InfoView directives{info, info == nullptr ? 0 : ninfo};
        const pmix_status_t bad =
            with_process([&](const Use& use) { return api::check(*use, Function::Finalize, directives); });
        if (bad != PMIX_SUCCESS) return bad;
        return instance::finalize(directives.is_true(PMIX_EMBED_BARRIER));
    });
}

int PMIx_Initialized(void) {
    return instance::initialized() ? 1 : 0;
}

const char* PMIx_Get_version(void) {
    return "Muster " MUSTER_VERSION " (PMIx Standard: 5.0, OpenPMIx API: 7.0)";
}

void PMIx_Progress(void) {
    const Use use;
    if (use) use->runtime().progress();
}

void PMIx_Progress_thread_stop(const pmix_info_t*, size_t) {
    const Use use;
    // A handler cannot end the thread that it runs on.
    if (use && !use->loop().on_loop()) use->runtime().stop();
}

pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[], size_t nprocs) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (nprocs > 0 && procs == nullptr) return PMIX_ERR_BAD_PARAM;
        Client* client = use->client();
        if (client == nullptr || !client->connected()) return PMIX_ERR_UNREACH;
        return call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            client->abort(status, msg, {procs, procs + nprocs}, deliver);
        });
    });
}
