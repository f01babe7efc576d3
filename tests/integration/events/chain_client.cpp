// SPDX-License-Identifier: BSD-3-Clause
// Each process of a job in the tests of handler chains: rank 0 reports, and in every process, on any node,
// the expected handlers run in order. The first word selects the test. Exits with 0 on success; prints the
// failures.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "tests/integration/events/kit.hpp"

namespace {

using namespace event_kit;

constexpr pmix_status_t kCode = PMIX_EXTERNAL_ERR_BASE - 1;
constexpr pmix_status_t kOther = PMIX_EXTERNAL_ERR_BASE - 2;
constexpr pmix_status_t kThird = PMIX_EXTERNAL_ERR_BASE - 3;
constexpr pmix_status_t kEnd = PMIX_EXTERNAL_ERR_BASE - 50;
bool yes = true;

/// The arguments of one call of a handler.
struct Call {
    std::string handler;
    std::vector<std::string> results;
    std::vector<pmix_status_t> statuses;
    std::string name;
    void* object = nullptr;
    pmix_event_notification_cbfunc_fn_t complete = nullptr;
    void* cbdata = nullptr;

    void end(pmix_status_t status, pmix_info_t* given = nullptr) const {
        complete(status, given, given != nullptr ? 1 : 0, nullptr, nullptr, cbdata);
    }
};
using Behaviour = std::function<void(const Call&)>;
struct Handler {
    std::string name;
    Behaviour behaviour;
};
std::map<size_t, Handler> handlers;  // guarded by `lock`
std::vector<Call> calls;             // guarded by `lock`
size_t ends = 0;                     // guarded by `lock`

void on_event(size_t id, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo,
              pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t complete,
              void* cbdata) {
    Call call;
    call.complete = complete;
    call.cbdata = cbdata;
    for (size_t i = 0; i < ninfo; ++i) {
        if (PMIx_Check_key(info[i].key, PMIX_EVENT_HDLR_NAME)) call.name = info[i].value.data.string;
        if (PMIx_Check_key(info[i].key, PMIX_EVENT_RETURN_OBJECT)) call.object = info[i].value.data.ptr;
    }
    for (size_t i = 0; i < nresults; ++i) {
        call.results.emplace_back(results[i].key);
        if (results[i].value.type == PMIX_STATUS) call.statuses.push_back(results[i].value.data.status);
    }
    Behaviour behaviour;
    {
        std::lock_guard guard(lock);
        call.handler = handlers[id].name;
        behaviour = handlers[id].behaviour;
        calls.push_back(call);
        changed.notify_all();
    }
    if (behaviour) return behaviour(call);
    call.end(PMIX_EVENT_NO_ACTION_TAKEN);
}
void on_end(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
            pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    {
        std::lock_guard guard(lock);
        ++ends;
        changed.notify_all();
    }
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

pmix_status_t try_add(const std::vector<pmix_status_t>& codes, std::vector<pmix_info_t> infos) {
    std::vector<pmix_status_t> copy(codes);
    return PMIx_Register_event_handler(copy.empty() ? nullptr : copy.data(), copy.size(), infos.data(),
                                       infos.size(), on_event, nullptr, nullptr);
}
size_t add(const std::string& name, const std::vector<pmix_status_t>& codes,
           const std::vector<pmix_info_t>& infos = {}, Behaviour behaviour = {}) {
    const pmix_status_t id = try_add(codes, infos);
    if (id < 0) complain("register " + name + ": " + PMIx_Error_string(id));
    std::lock_guard guard(lock);
    handlers[static_cast<size_t>(id)] = {name, std::move(behaviour)};
    return static_cast<size_t>(id);
}
void remove(size_t id) {
    is(PMIx_Deregister_event_handler(id, nullptr, nullptr), PMIX_SUCCESS, "deregister");
}
void remove_all() {
    std::map<size_t, Handler> all;
    {
        std::lock_guard guard(lock);
        all.swap(handlers);
    }
    for (const auto& [id, handler] : all)
        remove(id);
}
pmix_info_t flag(const char* key) {
    return info_of(key, &yes, PMIX_BOOL);
}

/// Rank 0 reports these; the names of the handlers that ran here, in order, once all is over.
std::vector<std::string> order_after(const std::vector<pmix_status_t>& codes,
                                     const std::vector<pmix_info_t>& infos = {}) {
    size_t seen;
    {
        std::lock_guard guard(lock);
        calls.clear();
        seen = ends;
    }
    fence();
    if (self.rank == 0) {
        for (const pmix_status_t code : codes)
            notify(code, PMIX_RANGE_NAMESPACE, infos);
        notify(kEnd, PMIX_RANGE_NAMESPACE, {flag(PMIX_EVENT_NON_DEFAULT)});
    }
    std::vector<std::string> names;
    {
        std::unique_lock guard(lock);
        if (!changed.wait_for(guard, kLimit, [&] { return ends > seen; })) complain("the end did not come");
        for (const Call& call : calls)
            names.push_back(call.handler);
    }
    fence();
    return names;
}
void expect(const std::vector<std::string>& came, const std::vector<std::string>& wanted,
            const std::string& what) {
    if (came == wanted) return;
    std::string list;
    for (const std::string& name : came)
        list += " " + name;
    complain(what + ":" + list);
}

// --- the tests ---

void categories() {
    add("default", {});
    add("last", {kCode}, {flag(PMIX_EVENT_HDLR_LAST)});
    add("multi", {kCode, kOther});
    add("single", {kCode});
    add("first", {kCode, kOther}, {flag(PMIX_EVENT_HDLR_FIRST)});
    expect(order_after({kCode}), {"first", "single", "multi", "default", "last"}, "categories");
    expect(order_after({kOther}), {"first", "multi", "default"}, "last is not registered for that code");
    expect(order_after({kThird}), {"default"}, "nor is first for this one");
    remove_all();
}

void one_first_one_last() {
    for (const char* key : {PMIX_EVENT_HDLR_FIRST, PMIX_EVENT_HDLR_LAST}) {
        const size_t id = add("one", {kCode}, {flag(key)});
        is(try_add({kOther}, {flag(key)}), PMIX_ERR_EVENT_REGISTRATION, std::string("a second ") + key);
        {
            std::lock_guard guard(lock);
            handlers.erase(id);
        }
        remove(id);
        add("two", {kOther}, {flag(key)});
    }
    add("stops", {kCode}, {}, [](const Call& call) { call.end(PMIX_EVENT_ACTION_COMPLETE); });
    expect(order_after({kOther}), {"two", "two"}, "the new ones");
    expect(order_after({kCode}), {"stops"}, "the old ones are no more");
    remove_all();
    add("last", {kCode}, {flag(PMIX_EVENT_HDLR_LAST)});
    add("stops", {kCode}, {}, [](const Call& call) { call.end(PMIX_EVENT_ACTION_COMPLETE); });
    expect(order_after({kCode}), {"stops"}, "the last of a chain that has ended");
    remove_all();
}

void places() {
    add("a", {kCode}, {flag(PMIX_EVENT_HDLR_FIRST_IN_CATEGORY)});
    add("z", {kCode}, {flag(PMIX_EVENT_HDLR_LAST_IN_CATEGORY)});
    add("m", {kCode});
    add("b", {kCode}, {flag(PMIX_EVENT_HDLR_PREPEND)});
    add("y", {kCode}, {flag(PMIX_EVENT_HDLR_APPEND)});
    expect(order_after({kCode}), {"a", "b", "m", "y", "z"}, "places in a category");
    remove_all();

    const size_t target = add("target", {kCode}, {info_of(PMIX_EVENT_HDLR_NAME, "target", PMIX_STRING)});
    add("plain", {kCode});
    add("after", {kCode}, {info_of(PMIX_EVENT_HDLR_AFTER, "target", PMIX_STRING)});
    add("before", {kCode}, {info_of(PMIX_EVENT_HDLR_BEFORE, &target, PMIX_SIZE)});
    add("lost", {kCode}, {info_of(PMIX_EVENT_HDLR_BEFORE, "nobody", PMIX_STRING)});
    const auto names = order_after({kCode});
    const auto at = [&](const char* name) { return std::find(names.begin(), names.end(), name); };
    need(names.size() == 5 && at("plain") != names.end() && at("lost") != names.end(), "all of them run");
    need(at("before") < at("target") && at("target") < at("after"), "before and after");
    remove_all();
}

void results() {
    pmix_info_t text = info_of("given", "text", PMIX_STRING);
    add("late", {kCode, kOther}, {}, [](const Call& call) { call.end(PMIX_EVENT_ACTION_COMPLETE); });
    add("never", {});
    add("early", {kCode}, {info_of(PMIX_EVENT_HDLR_NAME, "early", PMIX_STRING)},
        [&](const Call& call) { call.end(PMIX_EVENT_PARTIAL_ACTION_TAKEN, &text); });
    expect(order_after({kCode}), {"early", "late"}, "a chain that is ended");
    {
        std::lock_guard guard(lock);
        need(calls.size() == 2 && calls[0].results.empty(), "results before the first handler");
        need(calls.size() == 2 && calls[1].results == std::vector<std::string>{"early", "given"} &&
                 calls[1].statuses == std::vector<pmix_status_t>{PMIX_EVENT_PARTIAL_ACTION_TAKEN},
             "results of the first handler");
    }
    remove_all();

    int object = 0;
    add("anonymous", {kCode, kOther});
    pmix_info_t given;
    memset(&given, 0, sizeof given);
    PMIx_Load_key(given.key, PMIX_EVENT_RETURN_OBJECT);
    given.value.type = PMIX_POINTER;
    given.value.data.ptr = &object;
    add("named", {kCode}, {info_of(PMIX_EVENT_HDLR_NAME, "mine", PMIX_STRING), given});
    expect(order_after({kCode}), {"named", "anonymous"}, "named and not");
    {
        std::lock_guard guard(lock);
        need(calls.size() == 2 && calls[0].name == "mine" && calls[0].object == &object,
             "its name and object");
        need(calls.size() == 2 && calls[1].name.empty() && calls[1].object == nullptr,
             "no other handler's name and object");
    }
    remove_all();
}

void later() {
    // The slow handler blocks nothing; the second event's chain overtakes it meanwhile.
    add("slow", {kCode}, {}, [](const Call&) {});
    add("next", {kCode, kOther});
    expect(order_after({kCode, kOther}), {"slow", "next"}, "one chain that waits holds up another");
    Call slow;
    {
        std::lock_guard guard(lock);
        slow = calls[0];
    }
    std::thread([&] {
        slow.end(PMIX_SUCCESS);
        slow.end(PMIX_SUCCESS);
    }).join();
    {
        std::unique_lock guard(lock);
        need(changed.wait_for(guard, kLimit, [] { return calls.size() == 3; }), "the chain goes on");
    }
    expect(order_after({kOther}), {"next"}, "completed twice");
    remove_all();
}

void removed_in_a_chain() {
    const size_t second = add("second", {kCode});
    static Call under_way;
    add("first", {kCode}, {}, [second](const Call& call) {
        under_way = call;
        const auto gone = [](pmix_status_t status, void*) {
            is(status, PMIX_SUCCESS, "deregister in a chain");
            under_way.end(PMIX_SUCCESS);
        };
        is(PMIx_Deregister_event_handler(second, gone, nullptr), PMIX_SUCCESS, "deregister inside a handler");
    });
    expect(order_after({kCode}), {"first"}, "a handler that was deregistered before its turn");
    {
        std::lock_guard guard(lock);
        handlers.erase(second);
    }
    remove_all();
}

void who() {
    add("default", {});
    add("single", {kCode});
    expect(order_after({kCode}, {flag(PMIX_EVENT_NON_DEFAULT)}), {"single"}, "not for default handlers");
    expect(order_after({kOther}, {flag(PMIX_EVENT_NON_DEFAULT)}), {}, "for nobody");
    remove_all();

    pmix_proc_t source = rank(0);
    pmix_proc_t other = rank(1);
    pmix_data_array_t from_source{PMIX_PROC, 1, &source};
    pmix_data_array_t from_other{PMIX_PROC, 1, &other};
    add("of 0", {kCode}, {info_of(PMIX_EVENT_CUSTOM_RANGE, &from_source, PMIX_DATA_ARRAY)});
    add("of 1", {kCode}, {info_of(PMIX_EVENT_CUSTOM_RANGE, &from_other, PMIX_DATA_ARRAY)});
    expect(order_after({kCode}), {"of 0"}, "source ranges");
    remove_all();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    alarm(50);
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    pmix_status_t end = kEnd;
    need(PMIx_Register_event_handler(&end, 1, nullptr, 0, on_end, nullptr, nullptr) >= 0, "register the end");
    const std::string what = argv[1];
    if (what == "order") {
        categories();
        one_first_one_last();
        places();
    } else if (what == "results") {
        results();
        later();
        removed_in_a_chain();
    } else if (what == "who") {
        who();
    } else {
        complain("what?");
    }
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
