// SPDX-License-Identifier: BSD-3-Clause
// Clients that look whether they have a progress thread (docs/decisions/0022-the-thread-of-a-client.md): one
// behaviour for each first word; exits with 0 when all was well.
#include <pmix.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

using namespace std::chrono_literals;

pmix_proc_t self;

/// Waits, as a program that computes does: without a call of the library.
template <class Condition>
void expect_soon(const std::string& what, const Condition& holds) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until) fail(what);
        std::this_thread::sleep_for(200us);
    }
}

/// Whether the library has a thread here (a sanitizer may have one of its own).
bool has_thread() {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(thread.path() / "comm");
        std::string name;
        if (std::getline(file, name) && name == "pmix-progress") return true;
    }
    return false;
}

void expect_thread(const std::string& when) {
    expect_soon("no thread " + when, has_thread);  // it names itself, once it runs
}

void expect_no_thread(const std::string& when) {
    expect_true("a thread " + when, !has_thread());
}

pmix_proc_t rank_of(pmix_rank_t rank) {
    pmix_proc_t proc = self;
    proc.rank = rank;
    return proc;
}

void put(const std::string& key, size_t size = 8) {
    const std::string text(size, 'x');
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(text.c_str());
    expect("put of " + key, PMIx_Put(PMIX_GLOBAL, key.c_str(), &value));
}

pmix_status_t get(pmix_rank_t rank, const std::string& key) {
    const pmix_proc_t proc = rank_of(rank);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&proc, key.c_str(), nullptr, 0, &value);
    if (status == PMIX_SUCCESS) PMIx_Value_free(value, 1);
    return status;
}

void fence() {
    expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
}

void init() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    expect_no_thread("after init");
}

int finalize() {
    expect("finalize", PMIx_Finalize(nullptr, 0));
    expect_no_thread("after finalize");
    return 0;
}

/// What a non-blocking call has said.
struct Said {
    std::atomic<bool> done{false};
    std::atomic<pmix_status_t> status{PMIX_SUCCESS};
    std::atomic<bool> by_main{false};
    const std::thread::id main = std::this_thread::get_id();

    void take(pmix_status_t code) {
        status = code;
        by_main = std::this_thread::get_id() == main;
        done = true;
    }
};

void on_value(pmix_status_t status, pmix_value_t*, void* said) {
    static_cast<Said*>(said)->take(status);
}

// blocking: what waits needs no thread.
int run_blocking() {
    init();
    const pmix_rank_t other = 1 - self.rank;
    for (int round = 0; round < 3; ++round) {
        const std::string key = "key" + std::to_string(round);
        put(key);
        expect("commit", PMIx_Commit());
        if (round != 1) fence();
        expect("get of the other", get(other, key));
        expect("get of nothing", get(self.rank, "nothing"), PMIX_ERR_NOT_FOUND);
        PMIx_Heartbeat();
    }
    expect("notification",
           PMIx_Notify_event(PMIX_ERR_TIMEOUT, &self, PMIX_RANGE_NAMESPACE, nullptr, 0, nullptr, nullptr));
    expect("another init", PMIx_Init(nullptr, nullptr, 0));
    expect("its finalize", PMIx_Finalize(nullptr, 0));
    fence();
    expect_no_thread("after calls that wait");
    const pid_t child = fork();
    if (child == 0) _exit(PMIx_Initialized());
    int status = 0;
    expect_true("child", waitpid(child, &status, 0) == child && status == 0);
    put("last");
    expect("commit", PMIx_Commit());
    expect("get after fork", get(other, "last"));
    fence();
    expect_no_thread("at the end");
    return finalize();
}

// large: what the server does not take at once goes out all the same.
int run_large() {
    init();
    const char* directory = getenv("TMPDIR");
    const std::string came =
        std::string(directory == nullptr ? "/tmp" : directory) + "/" + self.nspace + ".came";
    if (self.rank == 0) {
        put("large", size_t{16} << 20);
        expect("commit", PMIx_Commit());
        expect_soon("it does not come", [&] { return std::filesystem::remove(came); });
    } else {
        expect("get", get(0, "large"));
        std::ofstream file(came);
    }
    fence();
    return finalize();
}

// nonblocking: a callback comes while the program computes, from a thread.
int run_nonblocking() {
    init();
    const pmix_rank_t other = 1 - self.rank;
    const pmix_proc_t proc = rank_of(other);
    Said said;
    expect("get", PMIx_Get_nb(&proc, "later", nullptr, 0, on_value, &said));
    expect_thread("after a non-blocking call");
    put("later");
    expect("commit", PMIx_Commit());
    expect_soon("no answer", [&] { return said.done.load(); });
    expect("answer", said.status);
    fence();
    expect_thread("once there was one");
    return finalize();
}

std::atomic<int> events{0};

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[], size_t,
              pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
    ++events;
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

// handler: events come while the program computes.
int run_handler() {
    init();
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
    if (self.rank == 0) {
        expect_true("registration",
                    PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr) >= 0);
        expect_thread("after a registration");
    }
    fence();
    if (self.rank == 1) {
        expect("notification",
               PMIx_Notify_event(code, &self, PMIX_RANGE_LOCAL, nullptr, 0, nullptr, nullptr));
        expect_no_thread("after a notification");
    } else {
        expect_soon("no event", [] { return events == 1; });
    }
    fence();
    return finalize();
}

// drivers: of two calls that wait, the one that drives returns first.
int run_drivers() {
    init();
    if (self.rank == 0) {
        std::atomic<int> answers{0};
        std::thread first([&] {
            expect("first", get(1, "first"));
            ++answers;
        });
        std::this_thread::sleep_for(2ms);  // mostly the first one drives
        std::thread second([&] {
            expect("second", get(1, "second"));
            ++answers;
        });
        expect_thread("for the second that waits");
        put("waiting");
        expect("commit", PMIx_Commit());
        first.join();
        put("one");
        expect("commit", PMIx_Commit());
        second.join();
        expect_true("answers", answers == 2);
    } else {
        expect("waiting", get(0, "waiting"));
        put("first");
        expect("commit", PMIx_Commit());
        expect("one", get(0, "one"));
        put("second");
        expect("commit", PMIx_Commit());
    }
    fence();
    return finalize();
}

// outstanding: finalize answers what was asked.
int run_outstanding() {
    init();
    const pmix_proc_t proc = rank_of(1 - self.rank);
    Said said;
    expect("get", PMIx_Get_nb(&proc, "never", nullptr, 0, on_value, &said));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    expect_true("no answer", said.done);
    expect_true("a good answer", said.status != PMIX_SUCCESS);
    expect_no_thread("after finalize");
    // And the same name once more.
    init();
    return finalize();
}

// stopped: a thread that was never there can be stopped, too.
int run_stopped() {
    init();
    put("before");
    PMIx_Progress_thread_stop(nullptr, 0);
    expect("commit", PMIx_Commit(), PMIX_ERR_WOULD_BLOCK);
    Said said;
    const pmix_proc_t proc = rank_of(1 - self.rank);
    expect("get", PMIx_Get_nb(&proc, PMIX_RANK, nullptr, 0, on_value, &said));
    expect_no_thread("after it was stopped");
    expect_true("answer", !said.done);
    expect("finalize", PMIx_Finalize(nullptr, 0));
    expect_true("no answer", said.done);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    alarm(100);  // a process that hangs ends, whoever has forgotten it
    const struct {
        const char* name;
        int (*run)();
    } behaviours[] = {{"blocking", run_blocking}, {"large", run_large},     {"nonblocking", run_nonblocking},
                      {"handler", run_handler},   {"drivers", run_drivers}, {"outstanding", run_outstanding},
                      {"stopped", run_stopped}};
    for (const auto& behaviour : behaviours) {
        if (argc == 2 && std::string(argv[1]) == behaviour.name) return behaviour.run();
    }
    return 2;
}
