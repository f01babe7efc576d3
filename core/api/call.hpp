// SPDX-License-Identifier: BSD-3-Clause
// The common form of the calls that a service answers: arguments are checked and copied by `prepare`, which
// fills a Start; then the blocking form waits, the other one has its callback called.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/api/instance.hpp"
#include "core/attribute/directives.hpp"
#include "core/exchange/exchange.hpp"
#include "core/runtime/completion.hpp"
#include "core/server/server.hpp"

namespace muster::api {

/// The work of a call that runs on the loop.
struct Start {
    std::function<void(Process&, HostDone)> run;
    bool alone = false;  ///< can do something without a server and a host
};

/// The service of this process's own server role, or null.
template <class Service>
Service* own(Process& process, Service& (Server::*service)()) {
    Server* server = process.server();
    return server == nullptr ? nullptr : &(server->*service)();
}

/// A deep copy that outlives the call, or null for what cannot be copied (null with entries, too).
std::shared_ptr<Info> keep_infos(const pmix_info_t info[], size_t ninfo);

/// Checks the directives of a call (check_directives()) and logs the reason of a refusal.
/// `alone`: only this process sees them.
pmix_status_t check(Process& process, Function function, InfoView directives, bool alone = false);
/// A deep copy of checked directives that outlives the call. PMIX_ERR_BAD_PARAM for what cannot be copied.
pmix_status_t keep_directives(Process& process, Function function, const pmix_info_t info[], size_t ninfo,
                              std::shared_ptr<Info>& kept);

/// Keys of a NULL-ended array; no keys for null.
std::vector<std::string> keep_keys(char* const* keys);

/// Runs `start` on the loop; an exception becomes the answer.
void run(Process& process, const Start& start, HostDone done);

/// Waits for the answer. PMIX_ERR_WOULD_BLOCK on the loop itself.
template <class Prepare>
pmix_status_t call(HostAnswer& answer, const Prepare& prepare) {
    return with_process([&](const Use& use) -> pmix_status_t {
        Start start;
        if (const pmix_status_t status = prepare(*use, start); status != PMIX_SUCCESS) return status;
        if (!start.alone && !use->exchange().can_ask()) return PMIX_ERR_UNREACH;
        Process& process = *use;
        answer = call_and_wait<HostAnswer>(
            use->runtime(), answer_of(PMIX_ERR_WOULD_BLOCK),
            [&process, start](auto deliver) { run(process, start, std::move(deliver)); });
        return answer.status;
    });
}

/// The end of a call that is answered by a callback, `function(Status, More...)`: has `work(done)` begun on
/// the loop, and `function` called there exactly once, but never inside the call. An exception: it is not.
template <class Status, class... More, class Function, class Work>
pmix_status_t answer_by(const Use& use, Function function, Work work) {
    Once<Function, Status, More...> done(std::move(function));
    const auto left = done.left();
    use->loop().post([done = std::move(done), work = std::move(work)]() mutable {
        done.begin();
        work(std::move(done));
    });
    *left = true;
    return PMIX_SUCCESS;
}

/// The C callback as what takes a status. Not null.
inline auto status_to(pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return [cbfunc, cbdata](pmix_status_t status) { cbfunc(status, cbdata); };
}

/// A registration, which `work(done)` begins and `done(status, id)` ends. The callback is given both; without
/// one the call waits, and returns the id in place of success.
template <class Work>
pmix_status_t register_by(const Use& use, pmix_hdlr_reg_cbfunc_t cbfunc, void* cbdata, const Work& work) {
    if (cbfunc != nullptr) {
        return answer_by<pmix_status_t, size_t>(
            use, [cbfunc, cbdata](pmix_status_t status, size_t id) { cbfunc(status, id, cbdata); }, work);
    }
    return call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [work](auto deliver) {
        work([deliver](pmix_status_t status, size_t id) {
            deliver(status == PMIX_SUCCESS ? static_cast<pmix_status_t>(id) : status);
        });
    });
}

/// Has `done` called on the loop, after this call has returned PMIX_SUCCESS; any other status: it is not.
template <class Prepare>
pmix_status_t launch(HostDone done, const Prepare& prepare) {
    return with_process([&](const Use& use) -> pmix_status_t {
        Start start;
        if (const pmix_status_t status = prepare(*use, start); status != PMIX_SUCCESS) return status;
        if (!start.alone && !use->exchange().can_ask()) return PMIX_ERR_UNREACH;
        Process& process = *use;
        return answer_by<HostAnswer>(
            use, std::move(done),
            [&process, start = std::move(start)](const HostDone& answer) { run(process, start, answer); });
    });
}

/// The C callbacks as what takes an answer. Null callbacks are allowed.
HostDone to_callback(pmix_op_cbfunc_t cbfunc, void* cbdata);
/// The infos live until the caller releases them.
HostDone to_callback(pmix_info_cbfunc_t cbfunc, void* cbdata);

/// The results of a blocking call: passed to the caller, which frees them with PMIx_Info_free.
void give_results(HostAnswer& answer, pmix_info_t** results, size_t* nresults);

/// A blocking call with results; there are none after a failure.
template <class Prepare>
pmix_status_t call_for_results(const Prepare& prepare, pmix_info_t** results, size_t* nresults) {
    HostAnswer answer;
    const pmix_status_t status = call(answer, prepare);
    give_results(answer, results, nresults);
    return status;
}

/// For functions that block where they are given no callback.
template <class Prepare>
pmix_status_t call_or_launch(pmix_op_cbfunc_t cbfunc, void* cbdata, const Prepare& prepare) {
    if (cbfunc != nullptr) return launch(to_callback(cbfunc, cbdata), prepare);
    HostAnswer answer;
    return call(answer, prepare);
}

/// The preparation of most calls: their directives are checked and copied, and `work(process, directives,
/// done)` is done with the copy.
template <class Work>
pmix_status_t keep_and_start(Process& process, Start& start, Function function, const pmix_info_t info[],
                             size_t ninfo, Work work) {
    std::shared_ptr<Info> kept;
    const pmix_status_t status = keep_directives(process, function, info, ninfo, kept);
    start.run = [work = std::move(work), kept](Process& on_loop, HostDone done) {
        work(on_loop, std::move(*kept), std::move(done));
    };
    return status;
}

/// The same as what prepares. `valid`: whether the other arguments are. `alone`: as in Start.
template <class Work>
auto with_infos(Function function, bool valid, const pmix_info_t info[], size_t ninfo, Work work,
                bool alone = false) {
    return [=](Process& process, Start& start) -> pmix_status_t {
        if (!valid) return PMIX_ERR_BAD_PARAM;
        start.alone = alone;
        return keep_and_start(process, start, function, info, ninfo, work);
    };
}

}  // namespace muster::api
