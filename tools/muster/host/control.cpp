// SPDX-License-Identifier: BSD-3-Clause
// The upcall job_control. The library itself cleans files up.
#include <pmix.h>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/control.hpp"

namespace muster::launcher {
namespace {

/// Adds the steps of a directive; PMIX_ERR_NOT_SUPPORTED for checkpoints, restarts
/// and the preparation of nodes.
pmix_status_t read_directive(const pmix_info_t& info, std::vector<Control::Step>& steps) {
    auto is = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
    auto add = [&](Control::Action action, int32_t number, const std::string& text) {
        steps.push_back({action, number, text});
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
    // Requests are carried out immediately: no pending one can be cancelled.
    if (is(PMIX_JOB_CTRL_CANCEL)) return PMIX_ERR_NOT_FOUND;
    if (is_any_of(info, {PMIX_JOB_CTRL_CHECKPOINT, PMIX_JOB_CTRL_RESTART, PMIX_JOB_CTRL_CHECKPOINT_EVENT,
                         PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, PMIX_JOB_CTRL_CHECKPOINT_METHOD,
                         PMIX_JOB_CTRL_PROVISION, PMIX_JOB_CTRL_PROVISION_IMAGE}))
        return PMIX_ERR_NOT_SUPPORTED;
    return check_required("job_control", {&info, 1});
}

pmix_status_t job_control(const pmix_proc_t* requestor, const pmix_proc_t targets[], size_t target_count,
                          const pmix_info_t info[], size_t count, pmix_info_cbfunc_t callback, void* data) {
    std::vector<ProcName> procs = names_of(targets, target_count);
    // Without targets, the request is for all of the requestor's job.
    if (procs.empty()) procs.push_back({name_of(*requestor).nspace, PMIX_RANK_WILDCARD});
    std::vector<Control::Step> steps;
    for (const pmix_info_t& one : Infos(info, count)) {
        const pmix_status_t status = read_directive(one, steps);
        if (status != PMIX_SUCCESS) return status;
    }
    if (steps.empty()) return PMIX_OPERATION_SUCCEEDED;
    ask_launcher(Topic::Control, pack(procs, steps), [callback, data](pmix_status_t status, Buffer&) {
        callback(status, nullptr, 0, data, nullptr, nullptr);
    });
    return PMIX_SUCCESS;
}

/// The launcher has a process set defined on every node.
void define_set(uint64_t, Buffer& in) {
    std::string name;
    std::vector<ProcName> names;
    if (!in.unpack(name, names) || names.empty()) return;
    this_node().ranks().define_set(name, to_pmix(names));
}

}  // namespace

void add_control_upcalls(pmix_server_module_t& module) {
    module.job_control = upcall<job_control>;
    this_node().on(Topic::Control, define_set);
}

}  // namespace muster::launcher
