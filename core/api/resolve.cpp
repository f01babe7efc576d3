// SPDX-License-Identifier: BSD-3-Clause
// The peers on a node and the nodes of a job (Standard: PMIx_Resolve_peers, PMIx_Resolve_nodes).
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "core/api/instance.hpp"
#include "core/runtime/completion.hpp"

using namespace muster;

namespace {

const char* or_null(const char* text) {
    return text == nullptr || *text == '\0' ? nullptr : text;
}

/// Asks our server about a namespace that is unknown here. `read` reads the reply after its status.
pmix_status_t ask_server(Process& process, Command command, std::initializer_list<const char*> arguments,
                         const ReadReply& read) {
    Upstream* upstream = process.exchange().upstream();
    if (upstream == nullptr) return PMIX_ERR_NOT_FOUND;
    return call_and_wait<pmix_status_t>(process.runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
        Packer message = upstream->packer(command);
        for (const char* argument : arguments)
            message.string(argument);
        ask(*upstream, std::move(message), read,
            [deliver](const HostAnswer& answer) { deliver(answer.status); });
    });
}

/// Whether an answer of the store is no answer, so that the server should be asked.
bool unknown_here(pmix_status_t status) {
    return status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_INVALID_NAMESPACE;
}

}  // namespace

pmix_status_t PMIx_Resolve_peers(const char* nodename, const pmix_nspace_t nspace, pmix_proc_t** procs,
                                 size_t* nprocs) {
    return guard([&]() -> pmix_status_t {
        if (procs == nullptr || nprocs == nullptr) return PMIX_ERR_BAD_PARAM;
        *procs = nullptr;
        *nprocs = 0;
        const Use use;
        if (!use) return PMIX_ERR_INIT;
        const char* node = or_null(nodename);
        const char* job = or_null(nspace);
        std::vector<pmix_proc_t> found;
        pmix_status_t status = use->store().peers_on(node, job, found);
        if (unknown_here(status)) {
            status = ask_server(*use, Command::ResolvePeers, {node, job},
                                [&](Unpacker& in, HostAnswer&) { in.procs(found); });
        }
        if (status != PMIX_SUCCESS) return status;
        if (found.empty()) return PMIX_SUCCESS;
        auto* array = static_cast<pmix_proc_t*>(std::malloc(found.size() * sizeof(pmix_proc_t)));
        if (array == nullptr) return PMIX_ERR_NOMEM;
        std::memcpy(array, found.data(), found.size() * sizeof(pmix_proc_t));
        *procs = array;
        *nprocs = found.size();
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char** nodelist) {
    return guard([&]() -> pmix_status_t {
        if (nodelist == nullptr) return PMIX_ERR_BAD_PARAM;
        *nodelist = nullptr;
        const Use use;
        if (!use) return PMIX_ERR_INIT;
        const char* job = or_null(nspace);
        std::string list;
        pmix_status_t status = use->store().node_list_of(job, list);
        if (unknown_here(status)) {
            status = ask_server(*use, Command::ResolveNodes, {job},
                                [&](Unpacker& in, HostAnswer&) { in.string(list); });
        }
        if (status != PMIX_SUCCESS) return status;
        *nodelist = strdup(list.c_str());
        return *nodelist == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
    });
}
