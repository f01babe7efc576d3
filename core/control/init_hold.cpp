// SPDX-License-Identifier: BSD-3-Clause
// Stopping in init: see init_hold.hpp.
#include "core/control/init_hold.hpp"

#include "core/events/events.hpp"
#include "core/runtime/completion.hpp"
#include "core/runtime/lookup.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// A waiting process; shared by the events that may end the wait.
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

void say_ready(Exchange& exchange, Events& events, const std::shared_ptr<Hold>& hold) {
    auto event = make_event(PMIX_READY_FOR_DEBUG, exchange.self(), PMIX_RANGE_CUSTOM);
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    event->info.add(PMIX_BREAKPOINT, "pmix-init");
    event->info.add(PMIX_EVENT_CUSTOM_RANGE, exchange.attached()->server());
    if (const pmix_status_t read = event->read_directives(); read != PMIX_SUCCESS) return hold->deliver(read);
    events.notify(std::move(event), [&exchange](pmix_status_t status) {
        // The debugger knows the job's data as well, and will release this process.
        if (status != PMIX_SUCCESS)
            MUSTER_LOG(exchange.log(), Warning, "%s could not say that it is ready for a debugger: %s",
                       proc_text(exchange.self()).c_str(), status_text(status));
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
            return Error{PMIX_ERR_BAD_PARAM, "the value is neither a bool, a rank nor an array"};
    }
    const pmix_data_array_t* array = value.data.darray;
    if (array == nullptr || (array->type != PMIX_PROC_RANK && array->type != PMIX_PROC))
        return Error{PMIX_ERR_BAD_PARAM, "the array has neither ranks nor processes"};
    for (size_t i = 0; array->array != nullptr && i < array->size; ++i) {
        const bool meant = array->type == PMIX_PROC_RANK
                               ? is(static_cast<const pmix_rank_t*>(array->array)[i])
                               : is(static_cast<const pmix_proc_t*>(array->array)[i].rank);
        if (meant) return true;
    }
    return false;
}

pmix_status_t hold_in_init(Exchange& exchange, Events& events) {
    Lookup lookup = lookup_of(exchange.self().nspace, PMIX_RANK_WILDCARD, PMIX_DEBUG_STOP_IN_INIT);
    lookup.realm = Lookup::Realm::Job;
    Result<bool> meant = false;
    exchange.store().find(lookup,
                          [&](const Found& found) { meant = stop_means(found.value, exchange.self()); });
    if (!meant) {
        MUSTER_LOG(exchange.log(), Error, "PMIX_DEBUG_STOP_IN_INIT: %s", meant.error().text.c_str());
        return meant.status();
    }
    // Without a server nothing could release this process.
    Upstream* const upstream = exchange.upstream();
    if (!*meant || upstream == nullptr) return PMIX_SUCCESS;
    return call_and_wait<pmix_status_t>(
        exchange.runtime(), PMIX_ERR_WOULD_BLOCK,
        [&exchange, &events, upstream](std::function<void(pmix_status_t)> deliver) {
            const auto hold = std::make_shared<Hold>(Hold{std::move(deliver)});
            // The listener, which stays, keeps `hold` for the handler too.
            upstream->on_lost([upstream, hold](const pmix_proc_t&) {
                if (upstream->servers().empty()) hold->deliver(PMIX_ERR_UNREACH);
            });
            HandlerSpec spec;
            spec.codes = {PMIX_DEBUGGER_RELEASE};
            spec.function = on_release;
            spec.name = "WAIT-FOR-DEBUGGER";
            spec.return_object = hold.get();
            spec.one_shot = true;
            events.register_handler(std::move(spec), {},
                                    [&exchange, &events, hold](pmix_status_t status, size_t) {
                                        if (status != PMIX_SUCCESS) return hold->deliver(status);
                                        say_ready(exchange, events, hold);
                                    });
        });
}

}  // namespace muster
