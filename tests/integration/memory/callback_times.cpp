// SPDX-License-Identifier: BSD-3-Clause
// callback_times ROLE ROUNDS - makes each call of the role that has a callback: on the main thread, in an
// event handler, and in the callback of another call. Status 0 if no callback begins inside its call on the
// calling thread, and few begin on other threads before the call has returned (docs/decisions/0041).
#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "tests/integration/memory/callbacks.hpp"

using namespace failing;

namespace {

constexpr pmix_status_t kPlace = -3001;  // the event whose handler makes a call

// The current call.
std::atomic<bool> inside{false}, made{false};
std::atomic<std::thread::id> caller;
std::atomic<pmix_status_t> outcome;
const std::function<pmix_status_t()>* now = nullptr;

long calls = 0, refused = 0;  // of this place
std::atomic<long> early{0}, on_caller{0};
std::set<std::string> whose;  // calls with callbacks on the calling thread

void look() {
    if (!inside) return;
    ++early;
    if (caller.load() == std::this_thread::get_id()) ++on_caller;
}

void make() {
    caller = std::this_thread::get_id();
    inside = true;
    const pmix_status_t status = (*now)();
    inside = false;
    outcome = status;
    made = true;
}

pmix_status_t count(pmix_status_t status) {
    ++calls;
    if (status != PMIX_SUCCESS) ++refused;
    return status;
}

pmix_status_t on_this_thread(const std::function<pmix_status_t()>& start) {
    now = &start;
    make();
    return count(outcome);
}

/// Makes `elsewhere` run make(), and waits for it.
pmix_status_t elsewhere(const std::function<pmix_status_t()>& start, pmix_status_t (*place)()) {
    now = &start;
    made = false;
    if (place() != PMIX_SUCCESS) std::exit(3);
    while (!made)
        std::this_thread::yield();
    return count(outcome);
}

pmix_status_t in_a_handler(const std::function<pmix_status_t()>& start) {
    return elsewhere(start, [] {
        const pmix_status_t status =
            PMIx_Notify_event(kPlace, &self, PMIX_RANGE_PROC_LOCAL, nullptr, 0, nullptr, nullptr);
        return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
    });
}

pmix_status_t in_a_callback(const std::function<pmix_status_t()>& start) {
    return elsewhere(start, [] {
        return PMIx_Notify_event(
            kCode, &self, PMIX_RANGE_PROC_LOCAL, nullptr, 0, [](pmix_status_t, void*) { make(); }, nullptr);
    });
}

void handle(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
            pmix_event_notification_cbfunc_fn_t done, void* data) {
    make();
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

const Call* find(const std::vector<Call>& all, const std::string& wanted) {
    for (const Call& call : all) {
        if (call.name == wanted) return &call;
    }
    return nullptr;
}

/// Makes each call `rounds` times at a place. `share`: one of `share` callbacks may begin early.
bool well_at(const char* place, Begin at, const std::vector<Call>& all, int rounds, long share) {
    calls = refused = 0;
    early = on_caller = 0;
    whose.clear();
    for (int round = 0; round < rounds; ++round) {
        for (const Call& call : all) {
            if (call.name == "init" || call.name == "finalize") continue;
            begin = [](const std::function<pmix_status_t()>& start) { return start(); };
            call.before();
            begin = at;
            const long before = on_caller;
            const pmix_status_t status = call.run();
            if (on_caller > before) whose.insert(call.name);
            begin = [](const std::function<pmix_status_t()>& start) { return start(); };
            if (status == PMIX_SUCCESS) call.after();
        }
    }
    std::printf("%s: %ld calls, %ld without a callback, %ld callbacks early, %ld on the calling thread\n",
                place, calls, refused, early.load(), on_caller.load());
    for (const std::string& one : whose)
        std::printf("inside its call: %s\n", one.c_str());
    return calls > refused && on_caller == 0 && early <= (share == 0 ? 0 : calls / share);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    alarm(100);
    const std::vector<Call> all = calls_of(argv[1]);
    const int rounds = std::atoi(argv[2]);
    if (find(all, "init")->run() != PMIX_SUCCESS) return 3;
    on_callback = look;
    pmix_status_t code = kPlace;
    if (PMIx_Register_event_handler(&code, 1, nullptr, 0, handle, nullptr, nullptr) < 0) return 3;
    // No library can observe when its caller records the return: some callbacks on other threads precede it.
    bool good = well_at("main thread", on_this_thread, all, rounds, 20);
    good &= well_at("handler", in_a_handler, all, rounds, 0);
    good &= well_at("callback", in_a_callback, all, rounds, 0);
    if (!callbacks_are_right()) {
        std::puts("a callback is missing, or came for a call that was refused");
        good = false;
    }
    find(all, "finalize")->run();
    return good ? 0 : 1;
}
