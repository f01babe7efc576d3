// SPDX-License-Identifier: BSD-3-Clause
// Tools: PMIx_tool_init and its company (Standard: Tool-Specific APIs).

// This file defines one of the functions that the header replaces by those with the module's size.
#define PMIX_SERVER_MODULE_UNSIZED
#include <pmix_tool.h>

#include <cstddef>
#include <cstdlib>

#include "core/api/call.hpp"
#include "core/client/client.hpp"
#include "core/control/init_hold.hpp"
#include "core/runtime/completion.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/server/server.hpp"
#include "core/tool/tool.hpp"

using namespace muster;

namespace {

constexpr std::chrono::seconds kGoodbye{2};

/// The size of the module in the oldest supported headers (docs/decisions/0001-server-module-size.md).
constexpr size_t kOldestModuleSize = offsetof(pmix_server_module_t, client_connected2) + sizeof(void*);

/// `primary`: the server is the one that is asked from now on.
pmix_status_t attach(pmix_proc_t* self, const pmix_info_t info[], size_t ninfo, bool primary,
                     pmix_proc_t* server) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad = api::check(*use, Function::ToolAttachToServer, {info, ninfo});
            bad != PMIX_SUCCESS)
            return bad;
        const pmix_status_t status = use->attach({info, ninfo}, primary, server);
        if (status == PMIX_SUCCESS && self != nullptr) *self = use->self();
        return status;
    });
}

pmix_status_t set_module(const pmix_server_module_t* module, size_t size) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (module == nullptr) return PMIX_ERR_BAD_PARAM;
        // A tool that is no launcher has no server that would call the module. The Python module of
        // OpenPMIx 5.0 gives one in every tool, and takes the status as that of its initialization.
        if (use->server() == nullptr) return use->tool() != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
        Host& host = use->server()->host();
        if (use->loop().on_loop()) {
            host.set_module(module, size);
            return PMIX_SUCCESS;
        }
        return call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            host.set_module(module, size);
            deliver(PMIX_SUCCESS);
        });
    });
}

}  // namespace

pmix_status_t PMIx_tool_init(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        const InfoView directives{info, ninfo};
        bool made = false;  // by this call, which has tried to connect
        const auto make = [&] {
            auto process = Process::create_tool(directives);
            made = process.ok();
            return process;
        };
        pmix_status_t status = instance::initialize(make, directives);
        if (status != PMIX_SUCCESS) return status;
        pmix_status_t held = PMIX_SUCCESS;
        {
            const Use use;
            if (!use) return PMIX_ERR_INIT;
            use->runtime().catch_up();
            if (!made && use->tool() != nullptr && !use->client()->connected() &&
                !directives.is_true(PMIX_TOOL_DO_NOT_CONNECT)) {
                // Another init of a tool without a server: it searches for one.
                status = use->attach(directives, true, nullptr);
            }
            if (proc != nullptr) *proc = use->self();
            if (made) held = hold_in_init(use->exchange(), use->events());
        }
        if (held != PMIX_SUCCESS) {
            instance::finalize();
            return held;
        }
        return status;
    });
}

pmix_status_t PMIx_tool_finalize(void) {
    return guard([&]() -> pmix_status_t {
        pmix_status_t goodbye = PMIX_SUCCESS;
        const pmix_status_t status = instance::finalize(false, &goodbye);
        return status == PMIX_SUCCESS ? goodbye : status;
    });
}

bool PMIx_tool_is_connected(void) {
    const Use use;
    if (!use || use->client() == nullptr) return false;
    use->runtime().catch_up();
    return use->client()->connected();
}

pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t* myproc, pmix_proc_t* server, pmix_info_t info[],
                                         size_t ninfo) {
    return attach(myproc, info, ninfo, false, server);
}

pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo) {
    return attach(proc, info, ninfo, true, nullptr);
}

pmix_status_t PMIx_tool_disconnect(const pmix_proc_t* server) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (server == nullptr) return PMIX_ERR_BAD_PARAM;
        if (use->client() == nullptr) return PMIX_ERR_NOT_FOUND;
        use->runtime().catch_up();
        Client& client = *use->client();
        return call_and_wait<pmix_status_t>(
            use->runtime(), PMIX_ERR_WOULD_BLOCK,
            [&client, which = *server](auto deliver) { client.disconnect(which, kGoodbye, deliver); });
    });
}

pmix_status_t PMIx_tool_get_servers(pmix_proc_t* servers[], size_t* nservers) {
    return guard([&]() -> pmix_status_t {
        if (servers != nullptr) *servers = nullptr;
        if (nservers != nullptr) *nservers = 0;
        const Use use;
        if (!use) return PMIX_ERR_INIT;
        if (servers == nullptr || nservers == nullptr) return PMIX_ERR_BAD_PARAM;
        if (use->client() == nullptr) return PMIX_ERR_UNREACH;
        use->runtime().catch_up();
        auto all = std::make_shared<std::vector<pmix_proc_t>>();
        const pmix_status_t status = call_and_wait<pmix_status_t>(
            use->runtime(), PMIX_ERR_WOULD_BLOCK, [all, client = use->client()](auto deliver) {
                *all = client->servers();
                deliver(all->empty() ? PMIX_ERR_UNREACH : PMIX_SUCCESS);
            });
        if (status != PMIX_SUCCESS) return status;
        auto* array = static_cast<pmix_proc_t*>(std::calloc(all->size(), sizeof(pmix_proc_t)));
        if (array == nullptr) return PMIX_ERR_NOMEM;
        std::ranges::copy(*all, array);
        *servers = array;
        *nservers = all->size();
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_tool_set_server(const pmix_proc_t* server, pmix_info_t info[], size_t ninfo) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (server == nullptr || (ninfo > 0 && info == nullptr)) return PMIX_ERR_BAD_PARAM;
        if (use->tool() == nullptr) return PMIX_ERR_NOT_SUPPORTED;
        const InfoView view{info, ninfo};
        if (const pmix_status_t bad = api::check(*use, Function::ToolSetServer, view); bad != PMIX_SUCCESS)
            return bad;
        use->runtime().catch_up();
        return use->tool()->set_server(*server, view.is_true(PMIX_WAIT_FOR_CONNECTION), read_timeout(view));
    });
}

pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t* module) {
    return set_module(module, kOldestModuleSize);
}

pmix_status_t PMIx_tool_set_server_module_sized(pmix_server_module_t* module, size_t module_size) {
    return set_module(module, module_size);
}
