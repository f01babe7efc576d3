// SPDX-License-Identifier: BSD-3-Clause
// The upcalls about events, and the events from other nodes.
#include <pmix.h>

#include <algorithm>
#include <memory>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/announcer.hpp"
#include "tools/muster/services/control.hpp"
#include "tools/muster/services/groups.hpp"

namespace muster::launcher {
namespace {

/// muster raises all its events in any case; the library selects the handlers.
pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t info[], size_t count,
                              pmix_op_cbfunc_t, void*) {
    const pmix_status_t status = check_required("register_events", {info, count});
    return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
}

/// The actions that an event requests from the host: of several ends the widest one.
pmix_status_t read_wishes(const Infos& infos, std::vector<Control::Step>& steps) {
    using Action = Control::Action;
    const int64_t seconds = infos.integer(PMIX_EVENT_ACTION_TIMEOUT).value_or(0);
    if (seconds < 0 || seconds > INT32_MAX) return PMIX_ERR_BAD_PARAM;
    const std::pair<const char*, Action> ends[] = {{PMIX_EVENT_TERMINATE_SESSION, Action::TerminateSession},
                                                   {PMIX_EVENT_TERMINATE_JOB, Action::TerminateJobs},
                                                   {PMIX_EVENT_TERMINATE_NODE, Action::TerminateNodes},
                                                   {PMIX_EVENT_TERMINATE_PROC, Action::TerminateProcs}};
    const auto end =
        std::ranges::find_if(ends, [&](const auto& entry) { return infos.is_true(entry.first); });
    if (infos.is_true(PMIX_EVENT_SILENT_TERMINATION)) steps.push_back({Action::EndSilently, 0, {}});
    if (end != std::end(ends)) steps.push_back({end->second, static_cast<int32_t>(seconds), {}});
    return PMIX_SUCCESS;
}

/// The processes that it is about: those that it names, else its source.
std::vector<ProcName> affected_by(const ProcName& source, const Infos& infos) {
    for (const char* key : {PMIX_EVENT_AFFECTED_PROCS, PMIX_EVENT_AFFECTED_PROC}) {
        if (std::vector<ProcName> procs = infos.procs(key); !procs.empty()) return procs;
    }
    return {source};
}

pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t range,
                           pmix_info_t info[], size_t count, pmix_op_cbfunc_t callback, void* data) {
    std::vector<Control::Step> steps;
    if (const pmix_status_t bad = read_wishes({info, count}, steps); bad != PMIX_SUCCESS) return bad;
    if (code == PMIX_READY_FOR_DEBUG) {
        const std::string place = Infos(info, count).text(PMIX_BREAKPOINT);
        on_loop([body = pack(name_of(*source), place), callback, data] {
            this_node().link().tell(Topic::Debug, body);
            if (callback != nullptr) callback(PMIX_SUCCESS, data);
        });
        return PMIX_SUCCESS;
    }
    Notice notice;
    notice.code = code;
    notice.source = name_of(*source);
    notice.range = range;
    notice.targets = Infos(info, count).procs(PMIX_EVENT_CUSTOM_RANGE);
    notice.info = packed(info, count, PMIX_INFO);
    // The end follows the event.
    Link::Done done = done_op(callback, data);
    if (!steps.empty()) {
        done = [done, wishes = pack(affected_by(notice.source, {info, count}), steps)](pmix_status_t status,
                                                                                       Buffer& in) {
            if (status != PMIX_SUCCESS) return done(status, in);
            this_node().link().ask(Topic::Control, wishes, done);
        };
    }
    ask_launcher(Topic::Event, pack(notice), std::move(done));
    return PMIX_SUCCESS;
}

/// The attributes of an event, alive until the library has passed it on.
struct Announced {
    pmix_proc_t source{};
    std::optional<GroupDeparture> departure;  ///< of an event that a process has left a group
    std::unique_ptr<UnpackedInfo> given;
    InfoList made;
};

void add_facts(InfoList& info, const Notice& notice) {
    if (!notice.targets.empty()) info.procs(PMIX_EVENT_CUSTOM_RANGE, notice.targets);
    if (notice.non_default) info.flag(PMIX_EVENT_NON_DEFAULT, true);
    if (notice.affected) {
        info.proc(PMIX_EVENT_AFFECTED_PROC, *notice.affected);
        if (notice.affected->rank != PMIX_RANK_WILDCARD) info.proc(PMIX_PROCID, *notice.affected);
    }
    if (!notice.nspace.empty()) info.text(PMIX_NSPACE, notice.nspace);
    if (!notice.breakpoint.empty()) info.text(PMIX_BREAKPOINT, notice.breakpoint);
    if (notice.exit_code) info.add(PMIX_EXIT_CODE, &*notice.exit_code, PMIX_INT);
    if (notice.job_status) info.add(PMIX_JOB_TERM_STATUS, &*notice.job_status, PMIX_STATUS);
    if (!notice.tree_root.empty()) {
        info.text(PMIX_SPAWN_TREE_ROOT, notice.tree_root);
        info.u32(PMIX_SPAWN_TREE_ACTIVE, notice.tree_active);
    }
    const auto time = static_cast<time_t>(notice.time);
    info.add(PMIX_EVENT_TIMESTAMP, &time, PMIX_TIME);
}

/// Tells the launcher that a process has left a group. The library starts no further operation with it, and
/// the launcher completes operations that this node started earlier without it.
void tell_departure(const GroupDeparture& departure) {
    on_loop([body = pack(departure)] { this_node().link().tell(Topic::Group, body); });
}

/// An event of another node, or of the launcher.
void on_notice(uint64_t, Buffer& in) {
    Notice notice;
    if (!in.unpack(notice)) return;
    auto kept = std::make_unique<Announced>();
    kept->source = to_pmix(notice.source);
    pmix_info_t* info = nullptr;
    size_t count = 0;
    if (notice.time == 0) {
        kept->given = std::make_unique<UnpackedInfo>(notice.info);
        if (!kept->given->ok()) return;
        info = kept->given->data();
        count = kept->given->size();
    } else {
        add_facts(kept->made, notice);
        info = kept->made.data();
        count = kept->made.size();
    }
    if (notice.code == PMIX_GROUP_LEFT) {
        if (const pmix_info_t* id = Infos(info, count).find(PMIX_GROUP_ID))
            kept->departure = GroupDeparture{text_of(id->value), notice.source};
    }
    const pmix_status_t status = PMIx_Notify_event(
        notice.code, &kept->source, static_cast<pmix_data_range_t>(notice.range), info, count,
        [](pmix_status_t, void* data) {
            const std::unique_ptr<Announced> done(static_cast<Announced*>(data));
            if (done->departure) tell_departure(*done->departure);
        },
        kept.get());
    if (status == PMIX_SUCCESS) (void)kept.release();  // the callback has it
}

}  // namespace

void add_event_upcalls(pmix_server_module_t& module) {
    module.register_events = register_events;
    module.deregister_events = deregister_events;
    module.notify_event = upcall<notify_event>;
    this_node().on(Topic::Event, on_notice);
}

}  // namespace muster::launcher
