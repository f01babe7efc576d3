// SPDX-License-Identifier: BSD-3-Clause
// Each process of a job in the tests of events: the first word selects the test. Exits with 0 on success;
// prints the failures.
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/integration/events/kit.hpp"

namespace {

using namespace event_kit;

constexpr pmix_status_t kEnd = PMIX_EXTERNAL_ERR_BASE - 50;

// --- received events ---

struct Came {
    pmix_status_t status;
    pmix_proc_t source;
    std::map<std::string, std::string> texts;
    size_t members = 0;
    size_t handler = SIZE_MAX;
};
std::vector<Came> events;  // guarded by `lock`

void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[], size_t ninfo,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    Came came{status, *source, {}, 0, id};
    for (size_t i = 0; i < ninfo; ++i) {
        if (info[i].value.type == PMIX_STRING) came.texts[info[i].key] = info[i].value.data.string;
        if (info[i].value.type == PMIX_DATA_ARRAY && info[i].value.data.darray->type == PMIX_PROC)
            came.members = info[i].value.data.darray->size;
    }
    {
        std::lock_guard guard(lock);
        events.push_back(came);
        changed.notify_all();
    }
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

size_t count(pmix_status_t status) {
    std::lock_guard guard(lock);
    return static_cast<size_t>(
        std::count_if(events.begin(), events.end(), [&](const Came& came) { return came.status == status; }));
}
Came wait_for(pmix_status_t status, size_t number = 1) {
    std::unique_lock guard(lock);
    Came found{status, {}, {}, 0, SIZE_MAX};
    const bool came = changed.wait_for(guard, kLimit, [&] {
        size_t n = 0;
        for (const Came& one : events) {
            if (one.status == status && ++n == number) {
                found = one;
                return true;
            }
        }
        return false;
    });
    if (!came) complain("event " + std::to_string(status) + " did not come");
    return found;
}

size_t listen(pmix_status_t code, pmix_notification_fn_t function = on_event) {
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, nullptr, 0, function, nullptr, nullptr);
    if (id < 0) complain(std::string("register: ") + PMIx_Error_string(id));
    return static_cast<size_t>(id);
}
bool same_node_as_0() {
    pmix_proc_t all = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&all, PMIX_LOCAL_PEERS, nullptr, 0, &value), PMIX_SUCCESS, "local peers");
    const std::string list = "," + std::string(value->data.string) + ",";
    PMIx_Value_destruct(value);
    free(value);
    return list.find(",0,") != std::string::npos;
}

// --- the tests ---

// Rank 0 reports several events of its node without waiting: each has its callback, and all arrive in order.
void without_waiting() {
    constexpr size_t kEvents = 30;
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 34;
    if (self.rank != 0) listen(code);
    fence();
    if (self.rank == 0) {
        static std::vector<Answer> answers(kEvents);
        for (size_t i = 0; i < kEvents; ++i) {
            const std::string text = std::to_string(i);
            pmix_info_t info = info_of("test.text", text.c_str(), PMIX_STRING);
            const pmix_status_t status =
                PMIx_Notify_event(code, &self, PMIX_RANGE_LOCAL, &info, 1, on_done, &answers[i]);
            is(status, PMIX_SUCCESS, "notify, not blocking");
            is(answers[i].wait(), PMIX_SUCCESS, "answer");
            PMIx_Info_destruct(&info);
            if (i % 3 == 0) usleep(100);  // some alone, some close to the one before
        }
    } else if (same_node_as_0()) {
        for (size_t i = 0; i < kEvents; ++i)
            need(wait_for(code, i + 1).texts["test.text"] == std::to_string(i), "order of events");
    }
    fence();
}

// Rank 0 reports one event for each range; exactly the processes in range receive it.
void ranges() {
    const bool near = same_node_as_0();
    const bool first = self.rank == 0;
    const std::map<pmix_data_range_t, bool> mine = {
        {PMIX_RANGE_RM, false},        {PMIX_RANGE_LOCAL, near},
        {PMIX_RANGE_NAMESPACE, true},  {PMIX_RANGE_SESSION, true},
        {PMIX_RANGE_GLOBAL, true},     {PMIX_RANGE_CUSTOM, self.rank == 2 || self.rank == 5},
        {PMIX_RANGE_PROC_LOCAL, first}};
    for (const auto& [range, wanted] : mine)
        listen(PMIX_EXTERNAL_ERR_BASE - range);
    listen(kEnd);
    fence();
    if (first) {
        for (const auto& [range, wanted] : mine) {
            std::vector<pmix_info_t> infos;
            pmix_proc_t targets[] = {rank(2), rank(5)};
            pmix_data_array_t array{PMIX_PROC, 2, targets};
            if (range == PMIX_RANGE_CUSTOM)
                infos.push_back(info_of(PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY));
            notify(PMIX_EXTERNAL_ERR_BASE - range, range, infos);
        }
        notify(kEnd, PMIX_RANGE_GLOBAL);
    }
    wait_for(kEnd);  // events of one source arrive in order, so a missing event will not arrive later
    for (const auto& [range, wanted] : mine)
        need(count(PMIX_EXTERNAL_ERR_BASE - range) == (wanted ? 1 : 0),
             "range " + std::to_string(range) + ": " + std::to_string(count(PMIX_EXTERNAL_ERR_BASE - range)));
    fence();
}

void on_event_with_calls(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*,
                         size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    static Answer registered, notified;
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 30;
    is(PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr), PMIX_ERR_WOULD_BLOCK,
       "register inside a handler");
    is(PMIx_Deregister_event_handler(0, nullptr, nullptr), PMIX_ERR_WOULD_BLOCK,
       "deregister inside a handler");
    is(PMIx_Notify_event(code, &self, PMIX_RANGE_PROC_LOCAL, nullptr, 0, nullptr, nullptr),
       PMIX_ERR_WOULD_BLOCK, "notify inside a handler");
    is(PMIx_Fence(nullptr, 0, nullptr, 0), PMIX_ERR_WOULD_BLOCK, "fence inside a handler");
    is(PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, on_registered, &registered), PMIX_SUCCESS,
       "register inside a handler, not blocking");
    is(PMIx_Notify_event(code, &self, PMIX_RANGE_PROC_LOCAL, nullptr, 0, on_done, &notified), PMIX_SUCCESS,
       "notify inside a handler, not blocking");
    need(!registered.done && !notified.done, "a callback before the call returned");
    complete(PMIX_SUCCESS, nullptr, 0, nullptr, nullptr, cbdata);
}

bool delivered_early = false;
void on_registered_slowly(pmix_status_t status, size_t id, void* answer) {
    // An event that has already arrived must wait until this callback has returned.
    usleep(100000);
    delivered_early = count(PMIX_EXTERNAL_ERR_BASE - 33) > 0;
    on_registered(status, id, answer);
}

void forms() {
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 31;
    const size_t id = listen(code);
    need(listen(code) != id, "two handlers with one number");
    notify(code, PMIX_RANGE_PROC_LOCAL);
    wait_for(code);
    is(PMIx_Deregister_event_handler(id, nullptr, nullptr), PMIX_SUCCESS, "deregister");
    is(PMIx_Deregister_event_handler(id, nullptr, nullptr), PMIX_ERR_BAD_PARAM, "deregister again");
    Answer again;
    is(PMIx_Deregister_event_handler(999999, on_done, &again), PMIX_SUCCESS, "deregister, not blocking");
    is(again.wait(), PMIX_ERR_BAD_PARAM, "answer for an unknown number");

    listen(PMIX_EXTERNAL_ERR_BASE - 32, on_event_with_calls);
    notify(PMIX_EXTERNAL_ERR_BASE - 32, PMIX_RANGE_PROC_LOCAL);
    wait_for(PMIX_EXTERNAL_ERR_BASE - 30);

    notify(PMIX_EXTERNAL_ERR_BASE - 33, PMIX_RANGE_PROC_LOCAL);
    pmix_status_t held = PMIX_EXTERNAL_ERR_BASE - 33;
    Answer slow;
    is(PMIx_Register_event_handler(&held, 1, nullptr, 0, on_event, on_registered_slowly, &slow), PMIX_SUCCESS,
       "register, not blocking");
    is(slow.wait(), PMIX_SUCCESS, "registration");
    need(wait_for(held).handler == slow.id, "another id than that of the callback");
    need(!delivered_early, "an event before the registration's callback had returned");

    is(PMIx_Notify_event(code, &self, PMIX_RANGE_CUSTOM, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
       "custom range without a list");
    is(PMIx_Notify_event(code, &self, PMIX_RANGE_INVALID, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
       "invalid range");
    is(PMIx_Register_event_handler(nullptr, 1, nullptr, 0, on_event, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
       "codes that are not there");
    bool yes = true;
    pmix_info_t first = info_of(PMIX_EVENT_HDLR_FIRST, &yes, PMIX_BOOL);
    pmix_status_t some = code;
    need(PMIx_Register_event_handler(&some, 1, &first, 1, on_event, nullptr, nullptr) >= 0, "first handler");
    need(PMIx_Register_event_handler(&some, 1, &first, 1, on_event, nullptr, nullptr) < 0,
         "a second first handler");
    without_waiting();
}

// Events from before the registration are delivered, in order, with all their infos.
void held() {
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 40;
    bool yes = true;
    if (self.rank == 1) {
        for (int i = 0; i < 20; ++i) {
            const std::string text = std::to_string(i);
            std::vector<pmix_info_t> infos{info_of("test.text", text.c_str(), PMIX_STRING)};
            if (i % 2 == 1) infos.push_back(info_of(PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL));
            notify(code, PMIX_RANGE_NAMESPACE, infos);
        }
        notify(kEnd, PMIX_RANGE_NAMESPACE);
    } else {
        listen(kEnd);
        wait_for(kEnd);  // the others have reached this process's server before
        listen(code);
        for (size_t i = 0; i < 10; ++i) {
            const Came came = wait_for(code, i + 1);
            need(came.texts.count("test.text") > 0 && came.texts.at("test.text") == std::to_string(2 * i),
                 "order of what was held, at " + std::to_string(i));
            need(came.source.rank == 1 && strcmp(came.source.nspace, self.nspace) == 0, "source");
        }
        const size_t second = listen(code);
        is(PMIx_Deregister_event_handler(second, nullptr, nullptr), PMIX_SUCCESS, "deregister");
        need(count(code) == 10, "what was held came twice, or what was not to be held came");
    }
    fence();
}

std::atomic<bool> held_up{false};  // until SIGUSR1, which another thread may receive

void on_event_slowly(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t* results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    const auto end = std::chrono::steady_clock::now() + kLimit;
    while (held_up && std::chrono::steady_clock::now() < end)
        usleep(1000);
    usleep(100);
    on_event(id, status, source, info, ninfo, results, nresults, complete, cbdata);
}

size_t dropped() {
    char key[] = "muster.events.dropped";
    char* keys[] = {key, nullptr};
    pmix_query_t query;
    memset(&query, 0, sizeof query);
    query.keys = keys;
    pmix_info_t* results = nullptr;
    size_t n = 0;
    is(PMIx_Query_info(&query, 1, &results, &n), PMIX_SUCCESS, "query of what was dropped");
    const size_t count = n == 1 && results[0].value.type == PMIX_SIZE ? results[0].value.data.size : SIZE_MAX;
    PMIx_Info_free(results, n);
    return count;
}

size_t resident_pages() {
    size_t whole = 0, resident = 0;
    if (FILE* file = fopen(("/proc/" + std::to_string(getppid()) + "/statm").c_str(), "r")) {
        if (fscanf(file, "%zu %zu", &whole, &resident) != 2) resident = 0;
        fclose(file);
    }
    return resident;
}

void put_pid() {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_PID;
    value.data.pid = getpid();
    is(PMIx_Put(PMIX_GLOBAL, "test.pid", &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
}
pid_t pid_of(pmix_rank_t number) {
    const pmix_proc_t proc = rank(number);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&proc, "test.pid", nullptr, 0, &value);
    is(status, PMIX_SUCCESS, "get");
    if (status != PMIX_SUCCESS) return getpid();
    const pid_t pid = value->data.pid;
    PMIx_Value_destruct(value);
    free(value);
    return pid;
}

// Rank 0 floods a handler of rank 1 that takes 100 us for each. The others are served meanwhile. The slow one
// gets all events, in order. If the server has little space for it, and it handles nothing before all have
// been reported, it gets the first ones, and dropped events are counted.
void flood(int total, bool bounded) {
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 60;
    listen(kEnd);
    if (self.rank == 1) {
        held_up = bounded;
        signal(SIGUSR1, [](int) { held_up = false; });
        put_pid();
        listen(code, on_event_slowly);
    }
    if (self.rank == 2) listen(code);
    fence();
    const size_t before = resident_pages();
    if (self.rank == 0) {
        const std::string padding(bounded ? 4000 : 20, 'x');
        std::vector<pmix_info_t> infos(2);
        bool yes = true;
        infos[1] = info_of(PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
        for (int i = 0; i < total; ++i) {
            const std::string text = std::to_string(i) + " " + padding;
            infos[0] = info_of("test.text", text.c_str(), PMIX_STRING);
            const bool at_end = i == total - 1;
            // Occasionally a blocking call, so that the flood's own queue stays short.
            if (at_end || i % 256 == 0) {
                notify(code, PMIX_RANGE_LOCAL, infos);
            } else {
                const pmix_status_t status = PMIx_Notify_event(
                    code, &self, PMIX_RANGE_LOCAL, infos.data(), infos.size(), [](pmix_status_t, void*) {},
                    nullptr);
                is(status, PMIX_SUCCESS, "notify");
            }
            PMIx_Info_destruct(&infos[0]);
        }
        need(resident_pages() < before + 20000,
             "the server has grown by " + std::to_string((resident_pages() - before) / 256) + " MiB");
        if (bounded) need(dropped() > 0, "nothing was counted");
        kill(pid_of(1), SIGUSR1);
    }
    std::vector<pmix_proc_t> quick{rank(0), rank(2), rank(3)};
    if (self.rank != 1) {
        is(PMIx_Fence(quick.data(), quick.size(), nullptr, 0), PMIX_SUCCESS, "fence of the quick ones");
        need(count(code) == (self.rank == 2 ? static_cast<size_t>(total) : 0) || bounded,
             "events of a quick one");
    } else {
        // Enough time for the slowest machine: only missing events are an error.
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
        size_t came = 0;
        const auto all = static_cast<size_t>(bounded ? 2 : total);
        while ((came = count(code)) < all && std::chrono::steady_clock::now() < end)
            usleep(10000);
        need(came >= all, std::to_string(came) + " events came");
    }
    fence();
    std::lock_guard guard(lock);
    int last = -1;
    for (const Came& one : events) {
        if (one.status != code) continue;
        const int number = atoi(one.texts.at("test.text").c_str());
        if (number <= last || (!bounded && number != last + 1))
            complain("order at " + std::to_string(number));
        last = number;
    }
}

// Every number is a valid code, and can be delivered to a process.
void codes() {
    const std::vector<pmix_status_t> all = {PMIX_EXTERNAL_ERR_BASE - 70, 12345678, 1, INT32_MAX,
                                            PMIX_ERR_TIMEOUT};
    for (const pmix_status_t code : all)
        listen(code);
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 71;
    pmix_proc_t affected = rank(3);
    pmix_info_t only = info_of(PMIX_EVENT_AFFECTED_PROC, &affected, PMIX_PROC);
    need(PMIx_Register_event_handler(&code, 1, &only, 1, on_event, nullptr, nullptr) >= 0,
         "affected process");
    fence();
    if (self.rank == 1) {
        for (const pmix_status_t one : all)
            notify(one, PMIX_RANGE_GLOBAL);
        std::vector<pmix_proc_t> others{rank(2), rank(4)};
        pmix_data_array_t array{PMIX_PROC, others.size(), others.data()};
        notify(code, PMIX_RANGE_GLOBAL, {info_of(PMIX_EVENT_AFFECTED_PROCS, &array, PMIX_DATA_ARRAY)});
        others = {rank(2), rank(3)};
        notify(code, PMIX_RANGE_GLOBAL, {info_of(PMIX_EVENT_AFFECTED_PROCS, &array, PMIX_DATA_ARRAY)});
        notify(code, PMIX_RANGE_GLOBAL, {info_of(PMIX_EVENT_AFFECTED_PROC, &affected, PMIX_PROC)});
    }
    for (const pmix_status_t one : all)
        wait_for(one);
    wait_for(code, 2);
    fence();
    need(count(code) == 2, "events of other processes");
}

// A job has ended before any registration: a process that registers with the job's name gets the event of
// this job and no other.
void late_end() {
    const auto job = [](const char* name) {
        pmix_proc_t proc;
        PMIx_Load_procid(&proc, name, PMIX_RANK_WILDCARD);
        return proc;
    };
    const pmix_status_t code = PMIX_EVENT_JOB_END;
    if (self.rank == 1) {
        for (const char* name : {"job-a", "job-b", "job-c"}) {
            pmix_proc_t ended = job(name);
            notify(code, PMIX_RANGE_NAMESPACE,
                   {info_of("test.text", name, PMIX_STRING),
                    info_of(PMIX_EVENT_AFFECTED_PROC, &ended, PMIX_PROC)});
        }
        notify(kEnd, PMIX_RANGE_NAMESPACE);
    } else {
        listen(kEnd);
        wait_for(kEnd);  // the others have reached this process's server before
        pmix_proc_t wanted = job("job-b");
        pmix_info_t only = info_of(PMIX_EVENT_AFFECTED_PROC, &wanted, PMIX_PROC);
        pmix_status_t some = code;
        need(PMIx_Register_event_handler(&some, 1, &only, 1, on_event, nullptr, nullptr) >= 0, "one job");
        need(wait_for(code).texts["test.text"] == "job-b", "the end of another job");
        pmix_proc_t both[] = {job("job-c"), job("job-d")};
        pmix_data_array_t array{PMIX_PROC, 2, both};
        only = info_of(PMIX_EVENT_AFFECTED_PROCS, &array, PMIX_DATA_ARRAY);
        need(PMIx_Register_event_handler(&some, 1, &only, 1, on_event, nullptr, nullptr) >= 0, "two jobs");
        need(wait_for(code, 2).texts["test.text"] == "job-c", "the end of another job than of these two");
        need(count(code) == 2, "the end of a job that was not asked for");
    }
    fence();
}

// A handler's arguments stay valid until it completes, long after its return, despite later events. A
// reporter owns its arguments again in the callback.
struct Given {
    pmix_info_t* info;
    size_t count;
    pmix_event_notification_cbfunc_fn_t complete;
    void* context;
};
std::vector<Given> given;  // guarded by `lock`
void on_event_later(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t*,
                    size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    std::lock_guard guard(lock);
    given.push_back({info, ninfo, complete, cbdata});
    changed.notify_all();
}

void lent() {
    constexpr size_t kEvents = 50;
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 80;
    if (self.rank == 2) listen(code, on_event_later);
    fence();
    if (self.rank == 0) {
        struct Report {
            std::vector<pmix_info_t> infos;
            Answer* answered;
        };
        std::vector<Answer> answers(kEvents);
        for (size_t i = 0; i < kEvents; ++i) {
            auto* report =
                new Report{{info_of("test.text", std::to_string(i).c_str(), PMIX_STRING)}, &answers[i]};
            const auto done = [](pmix_status_t status, void* data) {
                auto* mine = static_cast<Report*>(data);
                PMIx_Info_destruct(&mine->infos[0]);
                Answer* const answer = mine->answered;
                delete mine;
                answer->deliver(status, 0);
            };
            is(PMIx_Notify_event(code, &self, PMIX_RANGE_NAMESPACE, report->infos.data(),
                                 report->infos.size(), done, report),
               PMIX_SUCCESS, "notify");
        }
        for (Answer& answer : answers)
            is(answer.wait(), PMIX_SUCCESS, "answer");
    }
    if (self.rank == 2) {
        std::unique_lock guard(lock);
        need(changed.wait_for(guard, kLimit, [] { return given.size() == kEvents; }), "events that are kept");
        for (size_t i = 0; i < given.size(); ++i) {
            bool found = false;
            for (size_t k = 0; k < given[i].count; ++k) {
                const pmix_info_t& info = given[i].info[k];
                found = found || (strcmp(info.key, "test.text") == 0 && info.value.type == PMIX_STRING &&
                                  info.value.data.string == std::to_string(i));
            }
            need(found, "what was given is not what it was, at " + std::to_string(i));
        }
        for (const Given& one : given)
            one.complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, one.context);
    }
    fence();
}

// A host that cannot forward events: the reporter gets an error if it matters.
void no_host() {
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 45;
    const auto report = [&](pmix_data_range_t range) {
        return PMIx_Notify_event(code, &self, range, nullptr, 0, nullptr, nullptr);
    };
    pmix_proc_t all = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&all, PMIX_NUM_NODES, nullptr, 0, &value), PMIX_SUCCESS, "number of nodes");
    const bool alone = value->data.uint32 == 1;
    PMIx_Value_destruct(value);
    free(value);
    is(report(PMIX_RANGE_RM), PMIX_ERR_NOT_SUPPORTED, "range RM");
    is(report(PMIX_RANGE_LOCAL), PMIX_SUCCESS, "range local");
    is(report(PMIX_RANGE_NAMESPACE), alone ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED, "range namespace");
    fence();
}

// The server ends: an event reports it, and handlers still serve this process.
void lost() {
    listen(PMIX_ERR_LOST_CONNECTION);
    printf("READY\n");
    fflush(stdout);
    wait_for(PMIX_ERR_LOST_CONNECTION);
    listen(kEnd);
    notify(kEnd, PMIX_RANGE_PROC_LOCAL);
    wait_for(kEnd);
    is(PMIx_Notify_event(kEnd, &self, PMIX_RANGE_LOCAL, nullptr, 0, nullptr, nullptr), PMIX_ERR_UNREACH,
       "notify without a server");
}

std::vector<std::string> own_sets() {
    std::vector<std::string> names;
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&self, PMIX_PSET_NAMES, nullptr, 0, &value) != PMIX_SUCCESS) return names;
    if (value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_STRING) {
        char** const array = static_cast<char**>(value->data.darray->array);
        names.assign(array, array + value->data.darray->size);
    } else {
        complain("PMIX_PSET_NAMES is no array of strings");
    }
    PMIx_Value_destruct(value);
    free(value);
    return names;
}

/// Releases the host to define its set once all are ready.
void ask_host(const char* key) {
    fence();
    if (self.rank != 0) return;
    pmix_info_t info;
    std::memset(&info, 0, sizeof info);
    is(PMIx_Info_load(&info, key, nullptr, PMIX_BOOL), PMIX_SUCCESS, key);
    is(PMIx_Publish(&info, 1), PMIX_SUCCESS, key);
}

void sets() {
    using Names = std::vector<std::string>;
    need(PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_event, nullptr, nullptr) >= 0, "default");
    fence();
    need(count(PMIX_PROCESS_SET_DEFINE) == 0, "an event of a set without a registration for it");
    need(own_sets() == Names{"ocean"}, "sets at the start");
    // One process does not register for the end of sets, and has only a default handler.
    const bool unregistered = self.rank == 2;
    if (!unregistered) listen(PMIX_PROCESS_SET_DELETE);
    listen(PMIX_PROCESS_SET_DEFINE);
    const Came ocean = wait_for(PMIX_PROCESS_SET_DEFINE);
    need(ocean.texts.count(PMIX_PSET_NAME) > 0 && ocean.texts.at(PMIX_PSET_NAME) == "ocean" &&
             ocean.members == 6,
         "the event of the first set");
    ask_host("minihost.define");
    const Came late = wait_for(PMIX_PROCESS_SET_DEFINE, 2);
    need(late.texts.count(PMIX_PSET_NAME) > 0 && late.texts.at(PMIX_PSET_NAME) == "late" && late.members == 2,
         "the event of the second set");
    const bool member = self.rank == 1 || self.rank == 2;
    need(own_sets() == (member ? Names{"ocean", "late"} : Names{"ocean"}),
         "sets after the second was defined");
    ask_host("minihost.delete");
    if (unregistered) {
        for (int i = 0; i < 1000 && own_sets() != Names{"ocean"}; ++i)
            usleep(10000);
        need(count(PMIX_PROCESS_SET_DELETE) == 0, "the end of a set without a registration for it");
        need(own_sets() == Names{"ocean"}, "sets after the second was deleted");
        return fence();
    }
    const Came gone = wait_for(PMIX_PROCESS_SET_DELETE);
    need(gone.texts.count(PMIX_PSET_NAME) > 0 && gone.texts.at(PMIX_PSET_NAME) == "late",
         "the event of its end");
    need(own_sets() == Names{"ocean"}, "sets after the second was deleted");
    fence();
}

// --- a handler that runs while its process fences, and constructs a group ---

std::atomic<int> begun = 0, returned = 0;

/// Completes long before it returns, like the handlers of OpenPMIx's Python module, which wait for a lock.
void linger(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t*, size_t,
            pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
    ++begun;
    usleep(300000);  // longer than the concurrent operation takes
    ++returned;
}

void lingering() {
    const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 36;
    if (self.rank == 1) listen(code, linger);
    fence();
    const auto beside_the_handler = [&](int number, const char* what, auto operation) {
        if (self.rank == 0) notify(code, PMIX_RANGE_NAMESPACE);
        for (int i = 0; self.rank == 1 && begun < number && i < 3000; ++i)
            usleep(1000);
        operation();
        if (self.rank == 1) need(returned == number, std::string(what) + " before the handler returned");
    };
    const pmix_proc_t all = rank(PMIX_RANK_WILDCARD);
    beside_the_handler(1, "a fence ended", fence);
    beside_the_handler(2, "a group was constructed", [&] {
        is(PMIx_Group_construct("lingering", &all, 1, nullptr, 0, nullptr, nullptr), PMIX_SUCCESS, "group");
    });
    beside_the_handler(3, "a group was destructed", [&] {
        is(PMIx_Group_destruct("lingering", nullptr, 0), PMIX_SUCCESS, "end of the group");
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    alarm(argc > 2 ? 600 : 50);
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS) return 2;
    const std::string what = argv[1];
    if (what == "ranges") ranges();
    if (what == "forms") forms();
    if (what == "held") held();
    if (what == "no_host") no_host();
    if (what == "codes") codes();
    if (what == "late_end") late_end();
    if (what == "lent") lent();
    if (what == "flood") flood(argc > 2 ? atoi(argv[2]) : 2000, false);
    if (what == "flood_bounded") flood(argc > 2 ? atoi(argv[2]) : 2000, true);
    if (what == "lost") lost();
    if (what == "sets") sets();
    if (what == "lingering") lingering();
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
