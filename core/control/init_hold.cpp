// SPDX-License-Identifier: BSD-3-Clause
// Stopping in init: see init_hold.hpp.
#include "core/control/init_hold.hpp"

#include "core/client/client.hpp"
#include "core/events/events.hpp"
#include "core/runtime/completion.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Somebody waits; kept by whoever may end that.
struct Hold {
    std::function<void(pmix_status_t)> deliver;
};

void on_release(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t[],
                size_t, pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
    const pmix_value_t* object = InfoView{info, ninfo}.value(PMIX_EVENT_RETURN_OBJECT);
    if (object != nullptr && object->type == PMIX_POINTER)
        static_cast<Hold*>(object->data.ptr)->deliver(PMIX_SUCCESS);
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

void say_ready(Runtime& runtime, const std::shared_ptr<Hold>& hold) {
    auto event = std::make_shared<Event>();
    event->status = PMIX_READY_FOR_DEBUG;
    event->source = runtime.self();
    event->range = PMIX_RANGE_CUSTOM;
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    event->info.add(PMIX_BREAKPOINT, "pmix-init");
    event->info.add(PMIX_EVENT_CUSTOM_RANGE, runtime.client()->server());
    if (const pmix_status_t read = event->read_directives(); read != PMIX_SUCCESS) return hold->deliver(read);
    runtime.events().notify(std::move(event), [&runtime](pmix_status_t status) {
        // Whoever holds us knows the job's data as well, and will let us go.
        if (status != PMIX_SUCCESS)
            MUSTER_LOG(runtime.log(), Warning, "%s could not say that it is ready for a debugger: %s",
                       proc_text(runtime.self()).c_str(), status_text(status));
    });
}

}  // namespace

Result<bool> stop_means(const pmix_value_t& value, const pmix_proc_t& proc) {
    const auto is = [&](pmix_rank_t rank) { return rank == PMIX_RANK_WILDCARD || rank == proc.rank; };
    switch (value.type) {
        case PMIX_UNDEF:
            return true;
        case PMIX_BOOL:
            return value.data.flag;
        case PMIX_PROC_RANK:
            return is(value.data.rank);
        case PMIX_PROC:
            return value.data.proc != nullptr && is(value.data.proc->rank);
        case PMIX_DATA_ARRAY:
            break;
        default:
            return Error{PMIX_ERR_BAD_PARAM,
                         "a stop attribute is neither yes or no, nor a rank, nor an array"};
    }
    const pmix_data_array_t* array = value.data.darray;
    if (array == nullptr || (array->type != PMIX_PROC_RANK && array->type != PMIX_PROC))
        return Error{PMIX_ERR_BAD_PARAM, "a stop attribute is an array of other things than processes"};
    for (size_t i = 0; array->array != nullptr && i < array->size; ++i) {
        const bool meant = array->type == PMIX_PROC_RANK
                               ? is(static_cast<const pmix_rank_t*>(array->array)[i])
                               : is(static_cast<const pmix_proc_t*>(array->array)[i].rank);
        if (meant) return true;
    }
    return false;
}

pmix_status_t hold_in_init(Runtime& runtime) {
    Lookup lookup;
    lookup.nspace = runtime.self().nspace;
    lookup.rank = PMIX_RANK_WILDCARD;
    lookup.key = PMIX_DEBUG_STOP_IN_INIT;
    lookup.realm = Lookup::Realm::Job;
    Result<bool> meant = false;
    runtime.store().find(lookup,
                         [&](const Found& found) { meant = stop_means(found.value, runtime.self()); });
    if (!meant) {
        MUSTER_LOG(runtime.log(), Error, "PMIX_DEBUG_STOP_IN_INIT: %s", meant.error().text.c_str());
        return meant.status();
    }
    // Nobody could let us go.
    if (!*meant || runtime.client() == nullptr || !runtime.client()->connected()) return PMIX_SUCCESS;
    return call_and_wait<pmix_status_t>(
        runtime.loop(), PMIX_ERR_WOULD_BLOCK, [&runtime](std::function<void(pmix_status_t)> deliver) {
            const auto hold = std::make_shared<Hold>(Hold{std::move(deliver)});
            // Which keeps it for the handler, too: the client's listeners stay.
            runtime.client()->on_lost([&runtime, hold](const pmix_proc_t&) {
                if (runtime.client()->servers().empty()) hold->deliver(PMIX_ERR_UNREACH);
            });
            HandlerSpec spec;
            spec.codes = {PMIX_DEBUGGER_RELEASE};
            spec.function = on_release;
            spec.name = "WAIT-FOR-DEBUGGER";
            spec.return_object = hold.get();
            spec.one_shot = true;
            runtime.events().register_handler(std::move(spec), {},
                                              [&runtime, hold](pmix_status_t status, size_t) {
                                                  if (status != PMIX_SUCCESS) return hold->deliver(status);
                                                  say_ready(runtime, hold);
                                              });
        });
}

}  // namespace muster
