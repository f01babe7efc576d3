// SPDX-License-Identifier: BSD-3-Clause
// Groups that their members construct and destruct together (Standard: Process Sets and Groups).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/exchange/group_table.hpp"
#include "core/groups/group_client.hpp"

using namespace muster;
using namespace muster::api;

namespace {

/// A call of PMIx_Group_construct, as it was made.
struct Construct {
    std::string id;
    ProcListPtr members;
    std::shared_ptr<Info> info;
    MeetingNote note;

    pmix_status_t read(Process& process, const char* grp, const pmix_proc_t procs[], size_t nprocs,
                       const pmix_info_t directives[], size_t ndirs) {
        if (process.exchange().upstream() == nullptr) return PMIX_ERR_UNREACH;
        // No members at all: others add this process (PMIX_GROUP_ADD_MEMBERS).
        if (!valid_group_id(grp) || (procs == nullptr) != (nprocs == 0)) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad =
                keep_directives(process, Function::GroupConstruct, directives, ndirs, info);
            bad != PMIX_SUCCESS)
            return bad;
        id = grp;
        members = std::make_shared<const ProcList>(procs, nprocs);
        return PMIX_SUCCESS;
    }
    std::optional<HostAnswer> in_memory(Process& process) {
        return process.group_client().construct_in_memory(id, members, *info, note);
    }
    void operator()(Process& process, HostDone done) const {
        process.group_client().construct(id, members, std::move(*info), note, std::move(done));
    }
};

/// A call of PMIx_Group_destruct.
struct Destruct {
    std::string id;
    std::shared_ptr<Info> info;
    MeetingNote note;

    pmix_status_t read(Process& process, const char* grp, const pmix_info_t directives[], size_t ndirs) {
        if (process.exchange().upstream() == nullptr) return PMIX_ERR_UNREACH;
        if (!valid_group_id(grp)) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad =
                keep_directives(process, Function::GroupDestruct, directives, ndirs, info);
            bad != PMIX_SUCCESS)
            return bad;
        id = grp;
        return PMIX_SUCCESS;
    }
    std::optional<HostAnswer> in_memory(Process& process) {
        return process.group_client().destruct_in_memory(id, *info, note);
    }
    void operator()(Process& process, HostDone done) const {
        process.group_client().destruct(id, std::move(*info), note, std::move(done));
    }
};

/// The blocking form: in memory where that can be, else by the server.
template <class Call, class... Arguments>
pmix_status_t call_group(HostAnswer& answer, Arguments... arguments) {
    return with_process([&](const Use& use) -> pmix_status_t {
        Call call;
        if (const pmix_status_t bad = call.read(*use, arguments...); bad != PMIX_SUCCESS) return bad;
        if (auto met = call.in_memory(*use)) {
            answer = std::move(*met);
            return answer.status;
        }
        Process& process = *use;
        Start start;
        start.run = std::move(call);
        answer = call_and_wait<HostAnswer>(
            use->runtime(), answer_of(PMIX_ERR_WOULD_BLOCK),
            [&process, start](auto deliver) { run(process, start, std::move(deliver)); });
        // It was there when the call began.
        if (answer.status == PMIX_ERR_UNREACH && !use->exchange().can_ask())
            answer.status = PMIX_ERR_LOST_CONNECTION;
        return answer.status;
    });
}

template <class Call, class... Arguments>
pmix_status_t launch_group(HostDone done, Arguments... arguments) {
    return launch(std::move(done), [&](Process& process, Start& start) -> pmix_status_t {
        Call call;
        const pmix_status_t status = call.read(process, arguments...);
        if (status == PMIX_SUCCESS) start.run = std::move(call);
        return status;
    });
}

}  // namespace

pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t directives[], size_t ndirs, pmix_info_t** results,
                                   size_t* nresults) {
    HostAnswer answer;
    const pmix_status_t status = call_group<Construct>(answer, grp, procs, nprocs, directives, ndirs);
    give_results(answer, results, nresults);
    return status;
}

pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                      void* cbdata) {
    return launch_group<Construct>(to_callback(cbfunc, cbdata), grp, procs, nprocs, directives, ndirs);
}

pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t directives[], size_t ndirs) {
    HostAnswer answer;
    return call_group<Destruct>(answer, grp, directives, ndirs);
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t directives[], size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch_group<Destruct>(to_callback(cbfunc, cbdata), grp, directives, ndirs);
}
