// SPDX-License-Identifier: BSD-3-Clause
// Process sets, defined by the host (Standard: Process Sets and Groups).
#include <pmix_server.h>

#include "core/api/instance.hpp"
#include "core/runtime/completion.hpp"
#include "core/server/server.hpp"

using namespace muster;

namespace {

/// Runs `work(sets)` on the loop and waits for its status; at once when called on the loop.
template <class Work>
pmix_status_t on_sets(Work work) {
    return with_server([&](const Use& use) -> pmix_status_t {
        ProcessSets& sets = use->server()->process_sets();
        if (use->loop().on_loop()) return work(sets);
        return call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            deliver(guard([&] { return work(sets); }));
        });
    });
}

}  // namespace

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t* members, size_t nmembers,
                                             const char* pset_name) {
    if (members == nullptr || nmembers == 0 || pset_name == nullptr) return PMIX_ERR_BAD_PARAM;
    return on_sets([&](ProcessSets& sets) { return sets.define(pset_name, {members, members + nmembers}); });
}

pmix_status_t PMIx_server_delete_process_set(char* pset_name) {
    if (pset_name == nullptr) return PMIX_ERR_BAD_PARAM;
    return on_sets([&](ProcessSets& sets) { return sets.remove(pset_name); });
}
