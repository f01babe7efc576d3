// SPDX-License-Identifier: BSD-3-Clause
// See calls.hpp.
#include "tests/integration/memory/calls.hpp"

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_server_module_t module;

std::vector<Call> all_of(std::initializer_list<std::vector<Call> (*)()> families) {
    std::vector<Call> calls;
    for (const auto& family : families) {
        std::vector<Call> more = family();
        std::move(more.begin(), more.end(), std::back_inserter(calls));
    }
    return calls;
}

std::vector<Call> calls_between(const std::string& role) {
    if (role == "client")
        return all_of({everyday_calls, service_calls, input_calls, node_calls, client_calls, group_calls});
    if (role == "tool") return all_of({everyday_calls, service_calls, input_calls, node_calls, tool_calls});
    return all_of({server_calls, host_calls, service_calls, node_calls, value_calls});
}

}  // namespace

std::vector<Call> calls_of(const std::string& role) {
    const auto as = [&](const auto& init) {
        return [init] {
            const pmix_status_t status = init();
            PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
            return status;
        };
    };
    const auto begun = [&]() -> std::function<pmix_status_t()> {
        if (role == "client") return as([] { return PMIx_Init(&self, nullptr, 0); });
        if (role == "tool")
            return as([] {
                return PMIx_tool_init(&self, info(PMIX_SERVER_URI, std::getenv("SERVER_URI"), PMIX_STRING),
                                      1);
            });
        return as([] { return PMIx_server_init(&module, nullptr, 0); });
    };
    const auto ended = [&]() -> std::function<pmix_status_t()> {
        if (role == "client") return [] { return PMIx_Finalize(nullptr, 0); };
        if (role == "tool") return [] { return PMIx_tool_finalize(); };
        return [] { return PMIx_server_finalize(); };
    };
    std::vector<Call> calls = calls_between(role);
    const auto init = begun(), finalize = ended();
    calls.push_back({"init", init, [] {}, [finalize] { finalize(); }});
    calls.push_back({"finalize", finalize, [init] {
                         if (PMIx_Initialized() == 0) init();
                     }});
    return calls;
}

}  // namespace failing
