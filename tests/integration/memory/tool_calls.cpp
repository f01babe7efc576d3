// SPDX-License-Identifier: BSD-3-Clause
// Calls of tools: the servers that they know.
#include <pmix.h>
#include <pmix_tool.h>

#include <cstdlib>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_proc_t server;

/// The server that the harness has started, a second time.
pmix_status_t attach() {
    return PMIx_tool_attach_to_server(&self, &server,
                                      info(PMIX_SERVER_URI, std::getenv("SERVER_URI"), PMIX_STRING), 1);
}

void detach() {
    PMIx_tool_disconnect(&server);
}

void stay_attached() {
    if (!PMIx_tool_is_connected()) attach();
}

}  // namespace

std::vector<Call> tool_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    Call& attached = add("attach", attach);
    attached.before = detach;
    attached.after = detach;
    Call& connected = add("connect_to_server", [] {
        return PMIx_tool_connect_to_server(&self,
                                           info(PMIX_SERVER_URI, std::getenv("SERVER_URI"), PMIX_STRING), 1);
    });
    connected.before = detach;
    connected.after = detach;
    add("disconnect", [] { return PMIx_tool_disconnect(&server); }).before = [] { attach(); };
    add("set_server", [] { return PMIx_tool_set_server(&server, nullptr, 0); }).before = [] { attach(); };
    add("get_servers", [] {
        pmix_proc_t* servers = nullptr;
        size_t count = 0;
        const pmix_status_t status = PMIx_tool_get_servers(&servers, &count);
        if (servers != nullptr) PMIX_PROC_FREE(servers, count);
        return status;
    }).before = stay_attached;
    add("set_server_module", [] {
        static pmix_server_module_t module;
        return PMIx_tool_set_server_module(&module);
    });
    return calls.take();
}

}  // namespace failing
