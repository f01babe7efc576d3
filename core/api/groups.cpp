// SPDX-License-Identifier: BSD-3-Clause
// Groups that their members construct and destruct together (Standard: Process Sets and Groups).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/groups/group_client.hpp"
#include "core/groups/group_table.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto constructing(const char* grp, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                  size_t ninfo) {
    return [=](Runtime& runtime, Start& start) -> pmix_status_t {
        if (connected_client(runtime) == nullptr) return PMIX_ERR_UNREACH;
        // No members at all: others add this process (PMIX_GROUP_ADD_MEMBERS).
        if (!valid_group_id(grp) || (procs == nullptr) != (nprocs == 0)) return PMIX_ERR_BAD_PARAM;
        const auto kept = keep_infos(info, ninfo);
        if (!kept) return PMIX_ERR_BAD_PARAM;
        auto all = std::make_shared<const std::vector<pmix_proc_t>>(procs, procs + nprocs);
        start.run = [id = std::string(grp), all, kept](Runtime& loop_runtime, HostDone done) {
            group_construct(loop_runtime, id, all, std::move(*kept), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

auto destructing(const char* grp, const pmix_info_t info[], size_t ninfo) {
    return [=](Runtime& runtime, Start& start) -> pmix_status_t {
        if (connected_client(runtime) == nullptr) return PMIX_ERR_UNREACH;
        const auto kept = keep_infos(info, ninfo);
        if (!valid_group_id(grp) || !kept) return PMIX_ERR_BAD_PARAM;
        start.run = [id = std::string(grp), kept](Runtime& loop_runtime, HostDone done) {
            group_destruct(loop_runtime, id, std::move(*kept), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

}  // namespace

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                               const pmix_info_t directives[], size_t ndirs,
                                               pmix_info_t** results, size_t* nresults) {
    if (results != nullptr) *results = nullptr;
    if (nresults != nullptr) *nresults = 0;
    HostAnswer answer;
    const pmix_status_t status = call(answer, constructing(grp, procs, nprocs, directives, ndirs));
    give_results(answer, results, nresults);
    return status;
}

PMIX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                                  const pmix_info_t directives[], size_t ndirs,
                                                  pmix_info_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), constructing(grp, procs, nprocs, directives, ndirs));
}

PMIX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t directives[],
                                              size_t ndirs) {
    HostAnswer answer;
    return call(answer, destructing(grp, directives, ndirs));
}

PMIX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t directives[],
                                                 size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), destructing(grp, directives, ndirs));
}

}  // extern "C"
