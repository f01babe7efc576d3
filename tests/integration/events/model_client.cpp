// SPDX-License-Identifier: BSD-3-Clause
// Two libraries in one process declare their programming model in PMIx_Init. A handler of that code gets both
// events, including one from before its registration; a default handler gets neither.
#include <cstdlib>

#include "tests/integration/events/kit.hpp"

namespace {

using namespace event_kit;

std::vector<std::string> models;  // guarded by `lock`
int defaults = 0;                 // guarded by `lock`

void on_model(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[], size_t ninfo,
              pmix_info_t[], size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    is(status, PMIX_MODEL_DECLARED, "the code");
    need(source->rank == self.rank, "the source");
    {
        std::lock_guard guard(lock);
        for (size_t i = 0; i < ninfo; ++i) {
            if (PMIx_Check_key(info[i].key, PMIX_MODEL_LIBRARY_NAME))
                models.emplace_back(info[i].value.data.string);
        }
    }
    changed.notify_all();
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

void on_default(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[],
                size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    {
        std::lock_guard guard(lock);
        defaults += status == PMIX_MODEL_DECLARED ? 1 : 0;
    }
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

pmix_status_t init(pmix_proc_t* who, const char* model, const char* library) {
    pmix_info_t info[] = {info_of(PMIX_PROGRAMMING_MODEL, model, PMIX_STRING),
                          info_of(PMIX_MODEL_LIBRARY_NAME, library, PMIX_STRING)};
    const pmix_status_t status = PMIx_Init(who, info, 2);
    for (pmix_info_t& one : info)
        PMIx_Info_destruct(&one);
    return status;
}

}  // namespace

int main() {
    is(init(&self, "MPI", "one"), PMIX_SUCCESS, "init");
    need(PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_default, nullptr, nullptr) >= 0, "default");
    pmix_status_t code = PMIX_MODEL_DECLARED;
    need(PMIx_Register_event_handler(&code, 1, nullptr, 0, on_model, nullptr, nullptr) >= 0, "handler");
    pmix_proc_t again;
    is(init(&again, "OpenMP", "two"), PMIX_SUCCESS, "second init");
    need(PMIx_Check_procid(&again, &self), "the same name");
    {
        std::unique_lock guard(lock);
        need(changed.wait_for(guard, kLimit, [] { return models.size() >= 2; }), "both models");
        need(models == std::vector<std::string>{"one", "two"}, "the order of the models");
        need(defaults == 0, "a default handler heard of it");
    }
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "last finalize");
    return failed ? 1 : 0;
}
