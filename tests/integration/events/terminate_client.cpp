// SPDX-License-Identifier: BSD-3-Clause
// terminate_client ATTRIBUTE: rank 1 reports an event that requests a termination from the host, after a
// second. All processes get the event, and wait for their end; the remaining ones get the event of the end of
// rank 1. Run by terminate_test.
#include <unistd.h>

#include <cstdio>

#include "tests/integration/events/kit.hpp"

namespace {

using namespace event_kit;

constexpr pmix_status_t kCode = -4711;
bool heard = false;  // guarded by `lock`
bool ended = false;  // guarded by `lock`

void on_event(size_t, pmix_status_t code, const pmix_proc_t*, pmix_info_t info[], size_t count, pmix_info_t[],
              size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    {
        const std::lock_guard guard(lock);
        heard |= code == kCode;
        for (size_t i = 0; i < count; ++i) {
            if (code == PMIX_ERR_PROC_KILLED_BY_CMD && PMIx_Check_key(info[i].key, PMIX_EVENT_AFFECTED_PROC))
                ended |= info[i].value.data.proc->rank == 1;
        }
    }
    changed.notify_all();
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

void wait_until(const bool& what, const char* name) {
    std::unique_lock guard(lock);
    need(changed.wait_for(guard, kLimit, [&] { return what; }), name);
    printf("rank %u %s\n", self.rank, name);
    fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    alarm(50);
    if (argc != 2 || PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    pmix_status_t codes[] = {kCode, PMIX_ERR_PROC_KILLED_BY_CMD};
    need(PMIx_Register_event_handler(codes, 2, nullptr, 0, on_event, nullptr, nullptr) >= 0, "handler");
    is(PMIx_Fence(nullptr, 0, nullptr, 0), PMIX_SUCCESS, "fence");
    if (self.rank == 1) {
        const bool yes = true;
        const int seconds = 1;
        std::vector<pmix_info_t> infos = {info_of(PMIx_Get_attribute_string(argv[1]), &yes, PMIX_BOOL),
                                          info_of(PMIX_EVENT_ACTION_TIMEOUT, &seconds, PMIX_INT)};
        for (pmix_info_t& info : infos)
            PMIx_Info_required(&info);
        notify(kCode, PMIX_RANGE_NAMESPACE, infos);
    }
    wait_until(heard, "heard of it");
    if (self.rank == 1) pause();
    wait_until(ended, "is left");
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
