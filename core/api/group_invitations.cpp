// SPDX-License-Identifier: BSD-3-Clause
// Groups that one process invites others to, and leaving groups (Standard: Process Sets and Groups).
#include <pmix.h>

#include <cstring>

#include "core/api/call.hpp"
#include "core/exchange/group_table.hpp"
#include "core/groups/invitation.hpp"
#include "core/groups/leave.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto inviting(const char* grp, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
              size_t ndirs) {
    return [=](Process& process, Start& start) -> pmix_status_t {
        if (!valid_group_id(grp) || procs == nullptr || nprocs == 0) return PMIX_ERR_BAD_PARAM;
        // A group's name is in the place of a namespace.
        if (nspace_is(grp, process.self().nspace)) return PMIX_ERR_BAD_PARAM;
        std::vector<pmix_proc_t> all(procs, procs + nprocs);
        for (const pmix_proc_t& proc : all) {
            if (nspace_view(proc.nspace).empty() || nspace_is(proc.nspace, grp)) return PMIX_ERR_BAD_PARAM;
        }
        const auto work = [id = std::string(grp), all = std::move(all)](Process& on_loop, Info kept,
                                                                        HostDone done) {
            on_loop.invitations().invite(id, all, std::move(kept), std::move(done));
        };
        return keep_and_start(process, start, Function::GroupInvite, directives, ndirs, work);
    };
}

/// The caller's number, which may lie outside the enumeration.
int number_of(const pmix_group_opt_t& opt) {
    static_assert(sizeof opt == sizeof(int));
    int number = 0;
    memcpy(&number, &opt, sizeof number);
    return number;
}

auto joining(const char* grp, const pmix_proc_t* leader, int opt, const pmix_info_t directives[],
             size_t ndirs) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        if (!valid_group_id(grp) || (opt != PMIX_GROUP_ACCEPT && opt != PMIX_GROUP_DECLINE))
            return PMIX_ERR_BAD_PARAM;
        std::optional<pmix_proc_t> who;
        if (leader != nullptr) who = *leader;
        if (who && (nspace_view(who->nspace).empty() || !PMIX_RANK_IS_VALID(who->rank)))
            return PMIX_ERR_BAD_PARAM;
        const auto work = [id = std::string(grp), who, accept = opt == PMIX_GROUP_ACCEPT](
                              Process& process, Info kept, HostDone done) {
            process.invitations().join(id, who, accept, std::move(kept), std::move(done));
        };
        return keep_and_start(caller, start, Function::GroupJoin, directives, ndirs, work);
    };
}

auto leaving(const char* grp, const pmix_info_t directives[], size_t ndirs) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        if (!valid_group_id(grp) || (ndirs > 0 && directives == nullptr)) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad = check(caller, Function::GroupLeave, {directives, ndirs});
            bad != PMIX_SUCCESS)
            return bad;
        start.run = [id = std::string(grp)](Process& process, HostDone done) {
            leave_group(process.exchange(), process.events(), process.invitations(), id, std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

}  // namespace

pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                const pmix_info_t directives[], size_t ndirs, pmix_info_t** results,
                                size_t* nresults) {
    return call_for_results(inviting(grp, procs, nprocs, directives, ndirs), results, nresults);
}

pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                   void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), inviting(grp, procs, nprocs, directives, ndirs));
}

pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t* leader, pmix_group_opt_t opt,
                              const pmix_info_t directives[], size_t ndirs, pmix_info_t** results,
                              size_t* nresults) {
    return call_for_results(joining(grp, leader, number_of(opt), directives, ndirs), results, nresults);
}

pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t* leader, pmix_group_opt_t opt,
                                 const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                 void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), joining(grp, leader, number_of(opt), directives, ndirs));
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t directives[], size_t ndirs) {
    HostAnswer answer;
    return call(answer, leaving(grp, directives, ndirs));
}

pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t directives[], size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), leaving(grp, directives, ndirs));
}
