// SPDX-License-Identifier: BSD-3-Clause
// The upcall job_control. What concerns files to be cleaned up the library does itself.
#include <pmix.h>

#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/control.hpp"

namespace muster::launcher {
namespace {

/// Adds what a directive asks for; PMIX_ERR_NOT_SUPPORTED for what this host cannot do: checkpoints, restarts
/// and the preparation of nodes.
pmix_status_t read_directive(const pmix_info_t& info, Writer& steps, uint32_t& count) {
    auto is = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
    auto add = [&](Control::Action action, int32_t number, const std::string& text) {
        steps.u32(static_cast<uint32_t>(action)).i32(number).bytes(text);
        ++count;
        return PMIX_SUCCESS;
    };
    if (is(PMIX_JOB_CTRL_SIGNAL)) {
        const std::optional<int64_t> number = integer_of(info.value);
        if (!number || *number <= 0 || *number > INT32_MAX) return PMIX_ERR_BAD_PARAM;
        return add(Control::Action::Signal, static_cast<int32_t>(*number), {});
    }
    if (is(PMIX_JOB_CTRL_DEFINE_PSET)) {
        const std::string name = text_of(info.value);
        return name.empty() ? PMIX_ERR_BAD_PARAM : add(Control::Action::DefineSet, 0, name);
    }
    const std::pair<const char*, Control::Action> flags[] = {
        {PMIX_JOB_CTRL_PAUSE, Control::Action::Pause},
        {PMIX_JOB_CTRL_RESUME, Control::Action::Resume},
        {PMIX_JOB_CTRL_TERMINATE, Control::Action::Terminate},
        {PMIX_JOB_CTRL_KILL, Control::Action::Kill},
    };
    for (const auto& [key, action] : flags) {
        if (is(key)) return is_true(info) ? add(action, 0, {}) : PMIX_SUCCESS;
    }
    // Requests are carried out at once, so there is none left to be cancelled.
    if (is(PMIX_JOB_CTRL_CANCEL)) return PMIX_ERR_NOT_FOUND;
    for (const char* key : {PMIX_JOB_CTRL_CHECKPOINT, PMIX_JOB_CTRL_RESTART, PMIX_JOB_CTRL_CHECKPOINT_EVENT,
                            PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, PMIX_JOB_CTRL_CHECKPOINT_METHOD,
                            PMIX_JOB_CTRL_PROVISION, PMIX_JOB_CTRL_PROVISION_IMAGE}) {
        if (is(key)) return PMIX_ERR_NOT_SUPPORTED;
    }
    for (const char* key :
         {PMIX_JOB_CTRL_ID, PMIX_JOB_CTRL_PREEMPTIBLE, PMIX_USERID, PMIX_GRPID, PMIX_TIMEOUT,
          PMIX_REGISTER_CLEANUP, PMIX_REGISTER_CLEANUP_DIR, PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_EMPTY,
          PMIX_CLEANUP_IGNORE, PMIX_CLEANUP_LEAVE_TOPDIR}) {
        if (is(key)) return PMIX_SUCCESS;
    }
    return PMIX_INFO_IS_REQUIRED(&info) ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

pmix_status_t job_control(const pmix_proc_t* requestor, const pmix_proc_t targets[], size_t target_count,
                          const pmix_info_t info[], size_t count, pmix_info_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        std::vector<ProcName> procs = names_of(targets, target_count);
        // None named: all of the requestor's job.
        if (procs.empty()) procs.push_back({name_of(*requestor).nspace, PMIX_RANK_WILDCARD});
        Writer steps;
        uint32_t step_count = 0;
        for (size_t i = 0; i < count; ++i) {
            const pmix_status_t status = read_directive(info[i], steps, step_count);
            if (status != PMIX_SUCCESS) return status;
        }
        if (step_count == 0) return PMIX_OPERATION_SUCCEEDED;
        on_loop([body = Writer().names(procs).u32(step_count).raw(steps), callback, data] {
            bridge().ask(Topic::Control, body, [callback, data](pmix_status_t status, std::string_view) {
                callback(status, nullptr, 0, data, nullptr, nullptr);
            });
        });
        return PMIX_SUCCESS;
    });
}

/// The launcher has a process set defined on every node.
void define_set(Reader& in) {
    const std::string name(in.bytes());
    std::vector<pmix_proc_t> members;
    for (const ProcName& member : in.names())
        members.push_back(to_pmix(member));
    if (in.ok() && !members.empty())
        PMIx_server_define_process_set(members.data(), members.size(), name.c_str());
}

}  // namespace

void add_control_upcalls(pmix_server_module_t& module) {
    module.job_control = job_control;
    bridge().on_tell(Topic::Control, define_set);
}

}  // namespace muster::launcher
