// SPDX-License-Identifier: BSD-3-Clause
// Calls of clients: posted data and collectives.
#include <pmix.h>
#include <unistd.h>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {

std::vector<Call> client_calls() {
    static const bool on = true;
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    const auto put = [] {
        pmix_value_t value;
        value.type = PMIX_INT;
        value.data.integer = 1;
        return PMIx_Put(PMIX_GLOBAL, "put", &value);
    };
    add("put", put);
    add("commit", [] { return PMIx_Commit(); }).before = [put] { put(); };
    add("fence", [] { return PMIx_Fence(nullptr, 0, nullptr, 0); });
    add("fence_data", [] { return PMIx_Fence(&everybody, 1, info(PMIX_COLLECT_DATA, &on, PMIX_BOOL), 1); });
    add("fence_timeout", [] {
        const int seconds = 2;
        return PMIx_Fence(&everybody, 1, info(PMIX_TIMEOUT, &seconds, PMIX_INT), 1);
    });
    add("fence_nb", [] {
        return wait_for([](void* data) { return PMIx_Fence_nb(&everybody, 1, nullptr, 0, on_status, data); });
    });
    add("connect", [] { return PMIx_Connect(&everybody, 1, nullptr, 0); }).after = [] {
        PMIx_Disconnect(&everybody, 1, nullptr, 0);
    };
    add("disconnect", [] { return PMIx_Disconnect(&everybody, 1, nullptr, 0); }).before = [] {
        PMIx_Connect(&everybody, 1, nullptr, 0);
    };
    const auto connect = [] { PMIx_Connect(&everybody, 1, nullptr, 0); };
    const auto disconnect = [] { PMIx_Disconnect(&everybody, 1, nullptr, 0); };
    add("connect_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Connect_nb(&everybody, 1, nullptr, 0, on_status, data); });
    }).after = disconnect;
    add("disconnect_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Disconnect_nb(&everybody, 1, nullptr, 0, on_status, data); });
    }).before = connect;
    // Aborts an unknown process, so that the program continues.
    add("abort", [] {
        static pmix_proc_t nobody;
        PMIX_LOAD_PROCID(&nobody, "nobody", 0);
        return PMIx_Abort(1, "over", &nobody, 1);
    });
    const auto construct = [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status =
            PMIx_Group_construct("group", &everybody, 1, nullptr, 0, &results, &nresults);
        return discard(results, nresults, status);
    };
    const auto destruct = [] { PMIx_Group_destruct("group", nullptr, 0); };
    Call& constructed = add("construct", construct);
    constructed.before = destruct;  // one whose answer was lost may exist
    constructed.after = destruct;
    Call& constructed_nb = add("construct_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Group_construct_nb("group", &everybody, 1, nullptr, 0, on_info, data);
        });
    });
    constructed_nb.before = destruct;
    constructed_nb.after = destruct;
    add("destruct", [] { return PMIx_Group_destruct("group", nullptr, 0); }).before = [construct] {
        construct();
    };
    return calls.take();
}

}  // namespace failing
