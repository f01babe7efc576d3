// SPDX-License-Identifier: BSD-3-Clause
// Calls of groups: invitations, and how a group ends.
#include <pmix.h>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_proc_t nobody;  // has not invited this process

void construct() {
    pmix_info_t* results = nullptr;
    size_t nresults = 0;
    discard(results, nresults, PMIx_Group_construct("group", &everybody, 1, nullptr, 0, &results, &nresults));
}

void destruct() {
    PMIx_Group_destruct("group", nullptr, 0);
}

const pmix_info_t* for_a_second() {
    static const int seconds = 1;
    static pmix_info_t limit;
    if (limit.value.type == PMIX_UNDEF) PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    return &limit;
}

}  // namespace

std::vector<Call> group_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    PMIX_LOAD_PROCID(&nobody, self.nspace, 1);
    const auto around = [](Call& call, void (*before)(), void (*after)()) {
        call.before = before;
        call.after = after;
    };
    around(add("invite",
               [] {
                   pmix_info_t* results = nullptr;
                   size_t nresults = 0;
                   const pmix_status_t status =
                       PMIx_Group_invite("group", &self, 1, for_a_second(), 1, &results, &nresults);
                   return discard(results, nresults, status);
               }),
           destruct, destruct);
    around(add("invite_nb",
               [] {
                   return wait_for([](void* data) {
                       return PMIx_Group_invite_nb("group", &self, 1, for_a_second(), 1, on_info, data);
                   });
               }),
           destruct, destruct);
    add("join", [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status =
            PMIx_Group_join("group", &nobody, PMIX_GROUP_DECLINE, nullptr, 0, &results, &nresults);
        return discard(results, nresults, status);
    });
    add("join_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Group_join_nb("group", &nobody, PMIX_GROUP_DECLINE, nullptr, 0, on_info, data);
        });
    });
    around(add("leave", [] { return PMIx_Group_leave("group", nullptr, 0); }), construct, [] {});
    around(add("leave_nb",
               [] {
                   return wait_for(
                       [](void* data) { return PMIx_Group_leave_nb("group", nullptr, 0, on_status, data); });
               }),
           construct, [] {});
    around(add("destruct_nb",
               [] {
                   return wait_for([](void* data) {
                       return PMIx_Group_destruct_nb("group", nullptr, 0, on_status, data);
                   });
               }),
           construct, [] {});
    return calls.take();
}

}  // namespace failing
