// SPDX-License-Identifier: BSD-3-Clause
// Event notification (Standard: Event Notification).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/events/events.hpp"
#include "core/runtime/completion.hpp"
#include "framework/base/complete.hpp"

using namespace muster;

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                          size_t ninfo, pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void* cbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (evhdlr == nullptr || (ncodes > 0 && codes == nullptr) || (ninfo > 0 && info == nullptr))
            return PMIX_ERR_BAD_PARAM;
        HandlerSpec spec;
        if (ncodes > 0) spec.codes.assign(codes, codes + ncodes);
        spec.function = evhdlr;
        if (const pmix_status_t bad = api::check(*use, Function::RegisterEventHandler, {info, ninfo});
            bad != PMIX_SUCCESS)
            return bad;
        auto copy = Info::copy_of(info, ninfo);
        if (!copy || use->groups().expand(*copy) != PMIX_SUCCESS) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t status = spec.read_directives(*copy); status != PMIX_SUCCESS) return status;
        Events& events = use->events();
        auto kept = std::make_shared<Info>(std::move(*copy));
        return api::register_by(use, cbfunc, cbdata,
                                [&events, spec = std::move(spec), kept](const auto& done) {
                                    events.register_handler(spec, std::move(*kept), done);
                                });
    });
}

pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        Events& events = use->events();
        if (cbfunc != nullptr) {
            return api::answer_by<pmix_status_t>(
                use, api::status_to(cbfunc, cbdata),
                [&events, evhdlr_ref](const auto& done) { events.deregister_handler(evhdlr_ref, done); });
        }
        return call_and_wait<pmix_status_t>(
            use->runtime(), PMIX_ERR_WOULD_BLOCK,
            [&events, evhdlr_ref](auto deliver) { events.deregister_handler(evhdlr_ref, deliver); });
    });
}

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t* source, pmix_data_range_t range,
                                const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                void* cbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (ninfo > 0 && info == nullptr) return PMIX_ERR_BAD_PARAM;
        auto event = std::make_shared<Event>();
        event->status = status;
        // A client speaks for itself; its server takes the identity from the connection as well.
        event->source = source == nullptr || use->server() == nullptr ? use->self() : *source;
        event->range = range;
        if (const pmix_status_t checked = elements_complete(info, ninfo, PMIX_INFO); checked != PMIX_SUCCESS)
            return checked;
        if (const pmix_status_t bad =
                api::check(*use, Function::NotifyEvent, {info, ninfo}, range == PMIX_RANGE_PROC_LOCAL);
            bad != PMIX_SUCCESS)
            return bad;
        auto copy = Info::copy_of(info, ninfo);
        if (!copy) return PMIX_ERR_BAD_PARAM;
        event->info = std::move(*copy);
        if (use->groups().expand(event->info) != PMIX_SUCCESS) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t read = event->read_directives(); read != PMIX_SUCCESS) return read;
        Events& events = use->events();
        const bool waits = cbfunc == nullptr;
        bool tried = false, reported = false;
        Task report = [&] {
            tried = true;
            reported = events.report(event, waits);
        };
        if (!use->loop().on_loop()) use->runtime().run_here(report);
        if (waits) {
            if (reported) return PMIX_SUCCESS;
            return call_and_wait<pmix_status_t>(
                use->runtime(), PMIX_ERR_WOULD_BLOCK,
                [&events, event](auto deliver) { events.notify(event, deliver); });
        }
        // Not PMIX_OPERATION_SUCCEEDED, which would save the callback: programs take it for an error.
        return api::answer_by<pmix_status_t>(use, api::status_to(cbfunc, cbdata),
                                             [&events, event, tried, reported](const auto& done) {
                                                 if (reported || (!tried && events.report(event, false)))
                                                     return done(PMIX_SUCCESS);
                                                 events.notify(event, done);
                                             });
    });
}
