// SPDX-License-Identifier: BSD-3-Clause
// Calls about the output and input of other processes.
#include <pmix.h>
#include <pmix_tool.h>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

// Only stderr is pulled: stdout of a process belongs to the harness.
size_t puller = 0;

void on_pull(pmix_status_t status, size_t id, void* data) {
    puller = id;
    on_status(status, data);
}

pmix_status_t pull() {
    return wait_for([](void* data) {
        return PMIx_IOF_pull(&everybody, 1, nullptr, 0, PMIX_FWD_STDERR_CHANNEL, on_output, on_pull, data);
    });
}

pmix_status_t end_pull(pmix_op_cbfunc_t done, void* data) {
    return PMIx_IOF_deregister(puller, nullptr, 0, done, data);
}

}  // namespace

std::vector<Call> input_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    const auto forget = [] { end_pull(nullptr, nullptr); };
    add("pull", pull).after = forget;
    add("pull_blocking", [] {
        const pmix_status_t id =
            PMIx_IOF_pull(&everybody, 1, nullptr, 0, PMIX_FWD_STDERR_CHANNEL, on_output, nullptr, nullptr);
        puller = static_cast<size_t>(id);
        return id < 0 ? id : PMIX_SUCCESS;
    }).after = forget;
    add("end_pull", [] { return end_pull(nullptr, nullptr); }).before = [] { pull(); };
    add("end_pull_nb", [] { return wait_for([](void* data) { return end_pull(on_status, data); }); }).before =
        [] { pull(); };
    static char text[] = "x";
    static pmix_byte_object_t bytes{text, 1};
    add("push", [] { return PMIx_IOF_push(&everybody, 1, &bytes, nullptr, 0, nullptr, nullptr); });
    add("push_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_IOF_push(&everybody, 1, &bytes, nullptr, 0, on_status, data); });
    });
    return calls.take();
}

}  // namespace failing
