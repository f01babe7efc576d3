// SPDX-License-Identifier: BSD-3-Clause
// Clients that test the guarantees of core to a process: any sequence of init and finalize, progress driven
// by the process, threads, every form of get. The first word selects the behaviour; exits with 0 on success.
#include <pmix.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

pmix_proc_t self;

struct Directives {
    std::vector<pmix_info_t> infos;
    Directives() = default;
    Directives(const Directives&) = delete;
    ~Directives() {
        for (pmix_info_t& info : infos)
            PMIx_Info_destruct(&info);
    }
    template <class T>
    Directives& add(const char* key, const T& value, pmix_data_type_t type, bool qualifier = false) {
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        expect(key, PMIx_Info_load(&info, key, &value, type));
        if (qualifier) PMIx_Info_qualifier(&info);
        infos.push_back(info);
        return *this;
    }
    Directives& text(const char* key, const char* value, bool qualifier = false) {
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        expect(key, PMIx_Info_load(&info, key, value, PMIX_STRING));
        if (qualifier) PMIx_Info_qualifier(&info);
        infos.push_back(info);
        return *this;
    }
    Directives& flag(const char* key) { return add(key, true, PMIX_BOOL); }
};

pmix_proc_t rank_of(pmix_rank_t rank) {
    pmix_proc_t proc = self;
    proc.rank = rank;
    return proc;
}

void put(pmix_scope_t scope, const std::string& key, const std::string& text) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(text.c_str());
    expect("put of " + key, PMIx_Put(scope, key.c_str(), &value));
}

struct Got {
    pmix_status_t status;
    std::string text;
    pmix_data_type_t type = PMIX_UNDEF;
};

std::string text_of(const pmix_value_t& value) {
    if (value.type == PMIX_STRING) return value.data.string == nullptr ? "" : value.data.string;
    if (value.type == PMIX_UINT32) return std::to_string(value.data.uint32);
    if (value.type == PMIX_UINT16) return std::to_string(value.data.uint16);
    if (value.type == PMIX_PROC_RANK) return std::to_string(value.data.rank);
    return "type " + std::to_string(value.type);
}

Got get(const pmix_proc_t* proc, const char* key, const Directives& directives = {}) {
    pmix_value_t* value = nullptr;
    const pmix_status_t status =
        PMIx_Get(proc, key, directives.infos.data(), directives.infos.size(), &value);
    if (status != PMIX_SUCCESS) return {status, ""};
    if (value == nullptr) fail(std::string("no value of ") + key);
    Got got{status, text_of(*value), value->type};
    PMIx_Value_destruct(value);
    free(value);
    return got;
}

void expect_got(const std::string& what, const Got& got, const std::string& wanted) {
    expect(what, got.status);
    if (got.text != wanted) fail(what + ": '" + got.text + "', not '" + wanted + "'");
}

pmix_status_t fence(int seconds, bool collect = false) {
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    Directives directives;
    if (seconds > 0) directives.add(PMIX_TIMEOUT, seconds, PMIX_INT);
    if (collect) directives.flag(PMIX_COLLECT_DATA);
    return PMIx_Fence(&all, 1, directives.infos.data(), directives.infos.size());
}

void init() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    say("INIT");
}

int finalize() {
    expect("finalize", PMIx_Finalize(nullptr, 0));
    say("END");
    return 0;
}

using Words = std::vector<std::string>;

// status: waits for a fence over the namespace and prints its status. words: TIMEOUT or 0.
int run_fence(const Words& words) {
    init();
    const pmix_status_t status = fence(std::stoi(words.at(0)));
    say(std::string("FENCE ") + PMIx_Error_string(status));
    wait_for_word();
    PMIx_Finalize(nullptr, 0);
    return 0;
}

// get RANK KEY TIMEOUT: prints its status.
int run_get(const Words& words) {
    init();
    const pmix_proc_t proc = rank_of(static_cast<pmix_rank_t>(std::stoul(words.at(0))));
    Directives directives;
    if (std::stoi(words.at(2)) > 0) directives.add(PMIX_TIMEOUT, std::stoi(words.at(2)), PMIX_INT);
    const Got got = get(&proc, words.at(1).c_str(), directives);
    say(std::string("GET ") + PMIx_Error_string(got.status));
    wait_for_word();
    PMIx_Finalize(nullptr, 0);
    return 0;
}

// --- init and finalize ---

size_t entries(const char* directory) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory))
        ++count;
    return count;
}

/// Whether there is a progress thread of the library's (a sanitizer may have threads of its own).
bool has_progress_thread() {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(thread.path() / "comm");
        std::string name;
        if (std::getline(file, name) && name == "pmix-progress") return true;
    }
    return false;
}

size_t resident_pages() {
    std::ifstream file("/proc/self/statm");
    size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident;
}

// counted: inits are counted, the last finalize ends it.
int run_counted(const Words&) {
    expect_true("initialized before init", PMIx_Initialized() == 0);
    expect("finalize before init", PMIx_Finalize(nullptr, 0), PMIX_ERR_INIT);
    init();
    for (int i = 0; i < 3; ++i) {
        pmix_proc_t again;
        memset(&again, 0, sizeof again);
        expect("another init", PMIx_Init(&again, nullptr, 0));
        expect_true("another identity", PMIx_Check_procid(&again, &self));
    }
    for (int i = 0; i < 3; ++i) {
        expect("finalize", PMIx_Finalize(nullptr, 0));
        expect_true("ended too early", PMIx_Initialized() == 1);
        expect("get", get(nullptr, PMIX_RANK).status);
    }
    finalize();
    expect_true("still initialized", PMIx_Initialized() == 0);
    expect("finalize too often", PMIx_Finalize(nullptr, 0), PMIX_ERR_INIT);
    pmix_value_t* value = nullptr;
    expect("get after finalize", PMIx_Get(&self, PMIX_RANK, nullptr, 0, &value), PMIX_ERR_INIT);
    return 0;
}

// cycles N [EXTERNAL]: N times init to finalize; nothing leaks.
int run_cycles(const Words& words) {
    const int times = std::stoi(words.at(0));
    Directives directives;
    if (words.size() > 1) directives.flag(PMIX_EXTERNAL_PROGRESS);
    size_t descriptors = 0, threads = 0, pages = 0;
    for (int i = 0; i < times; ++i) {
        expect("init", PMIx_Init(&self, directives.infos.data(), directives.infos.size()));
        put(PMIX_GLOBAL, "cycle", std::to_string(i));
        expect("commit", PMIx_Commit());
        expect_got("what was put", get(&self, "cycle"), std::to_string(i));
        expect_true("no size", get(nullptr, PMIX_JOB_SIZE).status == PMIX_SUCCESS);
        expect("finalize", PMIx_Finalize(nullptr, 0));
        if (i == times / 4) {
            descriptors = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            pages = resident_pages();
        }
    }
    expect_true("descriptors are left", entries("/proc/self/fd") <= descriptors);
    expect_true("threads are left", entries("/proc/self/task") <= threads);
    // Tolerance for the heap; a leak of the runtime would be much larger.
    const size_t now = resident_pages();
    say("PAGES " + std::to_string(pages) + " " + std::to_string(now));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    expect_true("memory is left", now < pages + 256);
#endif
    say("END");
    return 0;
}

/// A fence that ends within the call, so that nothing is called back.
void expect_fence_nb(const std::string& what, const pmix_proc_t* procs, pmix_status_t wanted) {
    const auto never = [](pmix_status_t, void*) { fail("a fence that has ended was called back"); };
    expect(what, PMIx_Fence_nb(procs, procs == nullptr ? 0 : 1, nullptr, 0, never, nullptr), wanted);
}

// orphaned: the server ends while the client is idle; no call reports false success.
int run_orphaned(const Words&) {
    init();
    wait_for_word();
    const pmix_status_t first = fence(0);  // may be the call that detects the end of the server
    expect_true("a fence without the others", first == PMIX_ERR_LOST_CONNECTION || first == PMIX_ERR_UNREACH);
    expect_true("another", fence(0, true) == PMIX_ERR_UNREACH);
    put(PMIX_GLOBAL, "told.nobody", "text");
    expect_true("a commit to nobody", PMIx_Commit() == PMIX_ERR_UNREACH);
    expect("a fence of ourselves", PMIx_Fence(&self, 1, nullptr, 0));
    expect_fence_nb("one that returns", nullptr, PMIX_ERR_UNREACH);
    expect_fence_nb("one of ourselves that returns", &self, PMIX_OPERATION_SUCCEEDED);
    expect_got("what we put", get(&self, "told.nobody"), "text");
    return finalize();
}

// inflight: calls on other threads end with an error when the process finalizes.
int run_inflight(const Words&) {
    init();
    std::atomic<int> ended{0};
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    const auto start = [&](auto call) {
        threads.emplace_back([&, call] {
            if (call() == PMIX_SUCCESS) ++good;
            ++ended;
        });
    };
    for (int i = 0; i < 3; ++i) {
        start([] {
            const pmix_proc_t proc = rank_of(1);
            return get(&proc, "never.posted").status;
        });
    }
    start([] { return fence(0); });
    // Once the server has answered a later request, it has all calls that have begun; a call that begins late
    // must fail as well.
    for (int i = 0; i < 20; ++i) {
        const pmix_proc_t proc = rank_of(1);
        expect_true("a value that is nowhere",
                    get(&proc, "not.here", Directives().flag(PMIX_IMMEDIATE)).status != PMIX_SUCCESS);
    }
    expect_true("something ended too early", ended == 0);
    say("WAITING");
    finalize();
    for (auto& thread : threads)
        thread.join();
    expect_true("a call succeeded that could not", good == 0);
    return 0;
}

// forked: a child initialises again, without effect on the parent.
int run_forked(const Words&) {
    init();
    for (int i = 0; i < 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            if (PMIx_Initialized() != 0) _exit(10);
            if (PMIx_Finalize(nullptr, 0) != PMIX_ERR_INIT) _exit(11);
#ifdef __SANITIZE_THREAD__
            _exit(0);  // its runtime allows no new thread in such a child
#endif
            if (i == 0) _exit(0);
            pmix_proc_t me;
            if (PMIx_Init(&me, nullptr, 0) != PMIX_SUCCESS) _exit(12);
            if (!PMIx_Check_procid(&me, &self)) _exit(13);
            if (get(nullptr, PMIX_JOB_SIZE).status != PMIX_SUCCESS) _exit(14);
            if (PMIx_Finalize(nullptr, 0) != PMIX_SUCCESS) _exit(15);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail("child " + std::to_string(i) + " ended with " + std::to_string(status));
        put(PMIX_GLOBAL, "after.fork", std::to_string(i));
        expect("commit", PMIx_Commit());
    }
    return finalize();
}

// singleton: no server.
int run_singleton(const Words&) {
    expect("init", PMIx_Init(&self, nullptr, 0), PMIX_ERR_UNREACH);
    expect_true("not initialized", PMIx_Initialized() == 1);
    expect_true("rank", self.rank == 0);
    expect_true("namespace", strncmp(self.nspace, "singleton.", 10) == 0);
    expect("second init", PMIx_Init(nullptr, nullptr, 0));
    expect("second finalize", PMIx_Finalize(nullptr, 0));
    put(PMIX_GLOBAL, "alone", "yes");
    expect("commit", PMIx_Commit());
    expect_got("what was put", get(&self, "alone"), "yes");
    expect_got("job size", get(nullptr, PMIX_JOB_SIZE), "1");
    expect_got("local rank", get(&self, PMIX_LOCAL_RANK), "0");
    expect("unknown key", get(&self, "nothing").status, PMIX_ERR_NOT_FOUND);
    expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
    const pmix_proc_t other = rank_of(1);
    expect("fence with nobody there", PMIx_Fence(&other, 1, nullptr, 0), PMIX_ERR_UNREACH);
    pmix_proc_t stranger = self;  // of our rank in another job
    stranger.nspace[0] = 'x';
    expect("fence with another job", PMIx_Fence(&stranger, 1, nullptr, 0), PMIX_ERR_UNREACH);
    expect_fence_nb("fence that returns", nullptr, PMIX_OPERATION_SUCCEEDED);
    expect_fence_nb("fence with nobody there that returns", &other, PMIX_ERR_UNREACH);
    expect("abort", PMIx_Abort(1, "nobody hears", nullptr, 0), PMIX_ERR_UNREACH);
    finalize();
    return 0;
}

// stopped: the progress thread is stopped; calls that need it return an error, and finalize still notifies
// the server.
int run_stopped(const Words&) {
    init();
    const auto ignore = [](pmix_status_t, pmix_value_t*, void*) {};
    expect("get", PMIx_Get_nb(&self, PMIX_RANK, nullptr, 0, ignore, nullptr));  // needs a thread
    // The thread sets its name once it runs.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!has_progress_thread() && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
    expect_true("no progress thread", has_progress_thread());
    put(PMIX_GLOBAL, "before", "yes");
    PMIx_Progress_thread_stop(nullptr, 0);
    expect_got("what is known here", get(&self, "before"), "yes");
    expect("commit", PMIx_Commit(), PMIX_ERR_WOULD_BLOCK);
    PMIx_Progress_thread_stop(nullptr, 0);
    return finalize();
}

// --- progress by the process ---

struct Called {
    std::atomic<bool> there{false};
    pmix_status_t status = PMIX_ERROR;
    std::string text;
};

void on_value(pmix_status_t status, pmix_value_t* value, void* context) {
    auto* called = static_cast<Called*>(context);
    called->status = status;
    if (value != nullptr) called->text = text_of(*value);
    called->there = true;
}

void on_done(pmix_status_t status, void* context) {
    auto* called = static_cast<Called*>(context);
    called->status = status;
    called->there = true;
}

// external SIZE: all calls that need progress, by PMIx_Progress after polling, and by blocking calls on
// threads.
int run_external(const Words& words) {
    const auto size = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    Directives external;
    external.flag(PMIX_EXTERNAL_PROGRESS);
    expect("init", PMIx_Init(&self, external.infos.data(), external.infos.size()));
    say("INIT");
    expect_true("a thread was started", !has_progress_thread());
    pmix_value_t* value = nullptr;
    expect("descriptor", PMIx_Get(&self, "muster.progress.fd", nullptr, 0, &value));
    expect_true("type of the descriptor", value->type == PMIX_INT);
    const int descriptor = value->data.integer;
    PMIx_Value_destruct(value);
    free(value);
    const auto drive = [descriptor](Called& called) {
        while (!called.there) {
            pollfd ready{descriptor, POLLIN, 0};
            if (poll(&ready, 1, 20000) != 1) fail("nothing to progress");
            PMIx_Progress();
        }
    };

    put(PMIX_GLOBAL, "external", "of " + std::to_string(self.rank));
    expect("commit", PMIx_Commit());
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    Called fenced;
    expect("fence_nb", PMIx_Fence_nb(&all, 1, nullptr, 0, on_done, &fenced));
    expect_true("called before it returned", !fenced.there);
    drive(fenced);
    expect("fence_nb's end", fenced.status);
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        const pmix_proc_t proc = rank_of(rank);
        Called got;
        expect("get_nb", PMIx_Get_nb(&proc, "external", nullptr, 0, on_value, &got));
        drive(got);
        expect("get_nb's end", got.status);
        expect_true("value", got.text == "of " + std::to_string(rank));
    }
    // A time limit is also signalled by the descriptor.
    const pmix_proc_t next = rank_of((self.rank + 1) % size);
    Directives limited;
    limited.add(PMIX_TIMEOUT, 1, PMIX_INT);
    Called timed;
    expect("get_nb", PMIx_Get_nb(&next, "never", limited.infos.data(), 1, on_value, &timed));
    drive(timed);
    expect_true("the time limit", timed.status == PMIX_ERR_TIMEOUT);

    // Blocking calls drive the loop themselves, from several threads at once.
    expect("fence", fence(30));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t, size] {
            for (int i = 0; i < 20; ++i) {
                const pmix_proc_t proc = rank_of(static_cast<pmix_rank_t>(i) % size);
                const std::string key = "thread." + std::to_string(t) + "." + std::to_string(i);
                put(PMIX_GLOBAL, key, key);
                expect("commit", PMIx_Commit());
                Directives refresh;
                refresh.flag(PMIX_GET_REFRESH_CACHE);
                expect_got("external", get(&proc, "external", refresh),
                           "of " + std::to_string(static_cast<pmix_rank_t>(i) % size));
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    expect("fence", fence(30));
    expect_true("a thread was started", !has_progress_thread());
    return finalize();
}

// --- get ---

// gets SIZE HERE: a job of SIZE ranks, the first HERE of them on this node; every form of get.
int run_gets(const Words& words) {
    const auto size = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    const std::string total = words.at(0), here = words.at(1);
    init();
    put(PMIX_GLOBAL, "global", "g" + std::to_string(self.rank));
    put(PMIX_LOCAL, "local", "l" + std::to_string(self.rank));
    put(PMIX_REMOTE, "remote", "r" + std::to_string(self.rank));
    put(PMIX_INTERNAL, "internal", "i" + std::to_string(self.rank));
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    const pmix_proc_t other = rank_of(self.rank == 0 ? 1 : 0);
    const std::string number = std::to_string(other.rank);

    // Unknown names of processes and keys.
    expect_got("NULL proc", get(nullptr, PMIX_JOB_SIZE), total);
    expect_got("NULL proc, own rank", get(nullptr, PMIX_RANK), std::to_string(self.rank));
    expect_got("NULL proc, own key", get(nullptr, "global"), "g" + std::to_string(self.rank));
    pmix_proc_t unnamed = self;
    unnamed.nspace[0] = '\0';
    expect_got("empty namespace", get(&unnamed, "global"), "g" + std::to_string(self.rank));
    const Got everything = get(nullptr, nullptr);
    expect("NULL proc and key", everything.status);
    expect_true("NULL key is an array", everything.type == PMIX_DATA_ARRAY);
    const Got of_other = get(&other, nullptr);
    expect("NULL key of another", of_other.status);
    expect_true("NULL key of another is an array", of_other.type == PMIX_DATA_ARRAY);

    // Scopes.
    expect_got("local", get(&other, "local"), "l" + number);
    expect_got("global", get(&other, "global"), "g" + number);
    Directives limited;
    limited.add(PMIX_TIMEOUT, 1, PMIX_INT);
    expect_true("remote data of a local process", get(&other, "remote", limited).status != PMIX_SUCCESS);
    expect_true("internal data of another", get(&other, "internal", limited).status != PMIX_SUCCESS);
    expect_got("own internal data", get(&self, "internal"), "i" + std::to_string(self.rank));
    const pmix_scope_t internal = PMIX_INTERNAL, local = PMIX_LOCAL;
    Directives in_internal, in_local;
    in_internal.add(PMIX_DATA_SCOPE, internal, PMIX_SCOPE);
    in_local.add(PMIX_DATA_SCOPE, local, PMIX_SCOPE);
    expect_got("scope internal", get(&self, "internal", in_internal), "i" + std::to_string(self.rank));
    expect("scope local has no internal", get(&self, "internal", in_local).status,
           PMIX_ERR_EXISTS_OUTSIDE_SCOPE);
    expect_got("scope local", get(&self, "local", in_local), "l" + std::to_string(self.rank));

    // Missing keys.
    Directives optional, immediate;
    optional.flag(PMIX_OPTIONAL);
    immediate.flag(PMIX_IMMEDIATE);
    expect("optional", get(&other, "nothing", optional).status, PMIX_ERR_NOT_FOUND);
    expect("immediate", get(&other, "nothing", immediate).status, PMIX_ERR_NOT_FOUND);
    expect("timeout", get(&other, "nothing", limited).status, PMIX_ERR_TIMEOUT);
    expect("own key never put", get(&self, "nothing").status, PMIX_ERR_NOT_FOUND);
    expect("reserved key never given", get(&all, "pmix.no.such.key").status, PMIX_ERR_NOT_FOUND);
    const pmix_proc_t nobody = rank_of(size + 7);
    expect_true("reserved key of an unknown rank", get(&nobody, PMIX_LOCAL_RANK).status != PMIX_SUCCESS);
    expect_true("key of an unknown rank", get(&nobody, "global", limited).status != PMIX_SUCCESS);
    pmix_proc_t strangers = all;
    snprintf(strangers.nspace, sizeof strangers.nspace, "no-such-job");
    expect_true("job of nobody", get(&strangers, PMIX_JOB_SIZE, immediate).status != PMIX_SUCCESS);

    // The form of returned values.
    pmix_value_t place;
    pmix_value_t* given = &place;
    memset(&place, 0, sizeof place);
    Directives in_place;
    in_place.flag(PMIX_GET_STATIC_VALUES);
    expect("static", PMIx_Get(&other, "global", in_place.infos.data(), 1, &given));
    expect_true("static value", given == &place && text_of(place) == "g" + number);
    PMIx_Value_destruct(&place);
    given = nullptr;
    expect("static without storage", PMIx_Get(&other, "global", in_place.infos.data(), 1, &given),
           PMIX_ERR_BAD_PARAM);
    Directives pointer;
    pointer.flag(PMIX_GET_POINTER_VALUES);
    pmix_value_t* seen = nullptr;
    expect("pointer", PMIx_Get(&all, PMIX_JOB_SIZE, pointer.infos.data(), 1, &seen));
    expect_true("pointer value", seen != nullptr && text_of(*seen) == total);
    // Stored, posted, derived: nobody frees these, so repeated calls must not allocate more.
    for (const char* key : {"global", PMIX_JOB_SIZE, PMIX_LOCAL_RANK}) {
        pmix_value_t* again = nullptr;
        const pmix_proc_t* of = strcmp(key, PMIX_JOB_SIZE) == 0 ? &all : &other;
        expect("pointer", PMIx_Get(of, key, pointer.infos.data(), 1, &seen));
        expect("pointer again", PMIx_Get(of, key, pointer.infos.data(), 1, &again));
        expect_true("the same pointer", seen == again);
    }

    // Realms.
    Directives session, job, app, node, node_by_id, node_by_name, bad_app;
    session.flag(PMIX_SESSION_INFO);
    job.flag(PMIX_JOB_INFO);
    app.flag(PMIX_APP_INFO).add(PMIX_APPNUM, uint32_t{0}, PMIX_UINT32);
    bad_app.flag(PMIX_APP_INFO).add(PMIX_APPNUM, uint32_t{77}, PMIX_UINT32);
    node.flag(PMIX_NODE_INFO);
    node_by_id.flag(PMIX_NODE_INFO).add(PMIX_NODEID, uint32_t{1}, PMIX_UINT32);
    node_by_name.flag(PMIX_NODE_INFO).text(PMIX_HOSTNAME, "elsewhere1");
    expect_got("session", get(nullptr, PMIX_UNIV_SIZE, session), total);
    expect_got("job", get(nullptr, PMIX_JOB_SIZE, job), total);
    expect_got("app", get(nullptr, PMIX_APP_SIZE, app), total);
    expect("app that is none", get(nullptr, PMIX_APP_SIZE, bad_app).status, PMIX_ERR_NOT_FOUND);
    expect_got("own node", get(nullptr, PMIX_LOCAL_SIZE, node), here);
    const std::string there = std::to_string(std::stoul(total) - std::stoul(here));
    if (there != "0") {
        expect_got("node by number", get(&all, PMIX_LOCAL_SIZE, node_by_id), there);
        expect_got("node by name", get(&all, PMIX_LOCAL_SIZE, node_by_name), there);
        const pmix_proc_t last = rank_of(size - 1);
        expect_got("host of one elsewhere", get(&last, PMIX_HOSTNAME), "elsewhere1");
    }
    expect_got("local rank of another", get(&other, PMIX_LOCAL_RANK), number);
    // All keys of a realm, by only the qualifier or the key of its array.
    const auto within = [&](const char* array, const Directives& realm, const char* key) {
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&all, array, realm.infos.data(), realm.infos.size(), &value) != PMIX_SUCCESS ||
            value->type != PMIX_DATA_ARRAY)
            return std::string("no array");
        const auto* infos = static_cast<const pmix_info_t*>(value->data.darray->array);
        const auto* end = infos + value->data.darray->size;
        const auto* found =
            std::find_if(infos, end, [&](const pmix_info_t& one) { return PMIX_CHECK_KEY(&one, key); });
        std::string text = found == end ? "not in it" : text_of(found->value);
        PMIx_Value_destruct(value);
        free(value);
        return text;
    };
    const auto all_of = [&](const char* array, const Directives& realm, const char* key,
                            const std::string& wanted) {
        expect_true(array, within(nullptr, realm, key) == wanted);
        expect_true(array, within(array, {}, key) == wanted);
    };
    all_of(PMIX_NODE_INFO_ARRAY, node, PMIX_LOCAL_SIZE, here);
    all_of(PMIX_APP_INFO_ARRAY, app, PMIX_APP_SIZE, total);
    all_of(PMIX_SESSION_INFO_ARRAY, session, PMIX_UNIV_SIZE, total);
    all_of(PMIX_JOB_INFO_ARRAY, job, PMIX_JOB_SIZE, total);
    if (there != "0") {
        Directives elsewhere;
        elsewhere.text(PMIX_HOSTNAME, "elsewhere1");
        expect_true("array of another node",
                    within(PMIX_NODE_INFO_ARRAY, elsewhere, PMIX_LOCAL_SIZE) == there);
    }

    // Internal values of the process.
    pmix_value_t mine;
    memset(&mine, 0, sizeof mine);
    mine.type = PMIX_UINT32;
    mine.data.uint32 = 42;
    expect("store", PMIx_Store_internal(&other, "mine", &mine));
    expect_got("stored", get(&other, "mine", optional), "42");

    // Invalid arguments.
    pmix_value_t* none = nullptr;
    expect("no place", PMIx_Get(&self, "global", nullptr, 0, nullptr), PMIX_ERR_BAD_PARAM);
    expect("infos missing", PMIx_Get(&self, "global", nullptr, 2, &none), PMIX_ERR_BAD_PARAM);
    expect("empty key", PMIx_Get(&self, "", nullptr, 0, &none), PMIX_ERR_BAD_PARAM);
    const std::string long_key(PMIX_MAX_KEYLEN + 1, 'k');
    expect("long key", PMIx_Get(&self, long_key.c_str(), nullptr, 0, &none), PMIX_ERR_BAD_PARAM);
    expect("long put", PMIx_Put(PMIX_GLOBAL, long_key.c_str(), &mine), PMIX_ERR_BAD_PARAM);
    expect("reserved put", PMIx_Put(PMIX_GLOBAL, "pmix.mine", &mine), PMIX_SUCCESS);
    expect("put of nothing", PMIx_Put(PMIX_GLOBAL, "key", nullptr), PMIX_ERR_BAD_PARAM);
    expect("put nowhere", PMIx_Put(PMIX_SCOPE_UNDEF, "key", &mine), PMIX_ERR_BAD_PARAM);
    expect("get_nb without callback", PMIx_Get_nb(&self, "global", nullptr, 0, nullptr, nullptr),
           PMIX_ERR_BAD_PARAM);
    expect("fence", fence(30));
    return finalize();
}

// commits: more than a socket holds, and no call waits for the server; the last value counts. Two ranks.
int run_commits(const Words&) {
    init();
    const pmix_proc_t other = rank_of(1 - self.rank);
    constexpr int kCommits = 50;
    for (int i = 0; i < kCommits; ++i) {
        put(PMIX_GLOBAL, "large", std::string(100000, static_cast<char>('a' + i % 26)));
        put(PMIX_GLOBAL, "count", std::to_string(i));
        expect("commit", PMIx_Commit());
    }
    expect("fence", fence(30));
    Directives immediate;
    immediate.flag(PMIX_IMMEDIATE);
    expect_got("the last", get(&other, "count", immediate), std::to_string(kCommits - 1));
    expect_got("the large one", get(&other, "large", immediate),
               std::string(100000, static_cast<char>('a' + (kCommits - 1) % 26)));
    return finalize();
}

pmix_status_t publish(const std::string& text) {
    Directives data;
    data.text("too.long", text.c_str());
    return PMIx_Publish(data.infos.data(), data.infos.size());
}

// toolong: messages beyond the server's limit of 64 kB. Two ranks.
int run_too_long(const Words&) {
    init();
    const pmix_proc_t other = rank_of(1 - self.rank);
    const std::string more(100000, 'm');
    put(PMIX_GLOBAL, "before", "before");
    expect("commit", PMIx_Commit());
    put(PMIX_GLOBAL, "small", "small");
    put(PMIX_GLOBAL, "large", more);
    expect("commit of too much", PMIx_Commit(), PMIX_ERR_OUT_OF_RESOURCE);
    expect("commit of as much", PMIx_Commit(), PMIX_ERR_OUT_OF_RESOURCE);
    expect("publish of too much", publish(more), PMIX_ERR_OUT_OF_RESOURCE);
    expect("fence", fence(30));
    Directives immediate;
    immediate.flag(PMIX_IMMEDIATE);
    expect_got("what came before", get(&other, "before", immediate), "before");
    expect_true("nothing of it is there", get(&other, "small", immediate).status != PMIX_SUCCESS);
    expect("fence", fence(30));
    // A smaller message succeeds.
    put(PMIX_GLOBAL, "large", "less");
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    expect_got("what was small", get(&other, "small", immediate), "small");
    expect_got("what was large", get(&other, "large", immediate), "less");
    expect("fence", fence(30));
    return finalize();
}

// refresh: a refresh returns values that another process has changed. Two ranks.
int run_refresh(const Words&) {
    init();
    const pmix_proc_t other = rank_of(1 - self.rank);
    put(PMIX_GLOBAL, "changing", "old");
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    expect_got("first", get(&other, "changing"), "old");
    expect("fence", fence(30));
    put(PMIX_GLOBAL, "changing", "new");
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    Directives refresh;
    refresh.flag(PMIX_GET_REFRESH_CACHE);
    expect_got("refreshed", get(&other, "changing", refresh), "new");
    expect_got("remembered", get(&other, "changing"), "new");
    expect("fence", fence(30));
    return finalize();
}

// qualified: the same key with several qualifiers. Two ranks.
int run_qualified(const Words&) {
    init();
    const auto post = [](const char* mode, const char* text) {
        Directives entries;
        entries.text("speed", text);
        entries.text("mode", mode, true);
        pmix_data_array_t array{PMIX_INFO, entries.infos.size(), entries.infos.data()};
        pmix_value_t value;
        memset(&value, 0, sizeof value);
        value.type = PMIX_DATA_ARRAY;
        value.data.darray = &array;
        expect("qualified put", PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &value));
    };
    post("slow", "one");
    post("fast", "nine");
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    const pmix_proc_t other = rank_of(1 - self.rank);
    const pmix_proc_t own = self;
    for (const pmix_proc_t* proc : {&own, &other}) {
        Directives slow, fast, neither;
        slow.text("mode", "slow", true).add(PMIX_TIMEOUT, 20, PMIX_INT);
        fast.text("mode", "fast", true);
        neither.text("mode", "no such", true);
        neither.flag(PMIX_IMMEDIATE);
        expect_got("slow", get(proc, "speed", slow), "one");
        expect_got("fast", get(proc, "speed", fast), "nine");
        expect_true("neither", get(proc, "speed", neither).status != PMIX_SUCCESS);
    }
    expect("fence", fence(30));
    return finalize();
}

// fences SIZE: subsets, several at once, in an individual order. SIZE ranks, at least three.
int run_fences(const Words& words) {
    const auto size = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    init();
    // Pairs (0,1) (1,2) ... (size-1,0), all at once, each rank in its own order.
    for (int round = 0; round < 5; ++round) {
        std::vector<std::unique_ptr<Called>> called;
        std::vector<pmix_rank_t> firsts{self.rank, (self.rank + size - 1) % size};
        if ((self.rank + static_cast<pmix_rank_t>(round)) % 2 == 0) std::swap(firsts[0], firsts[1]);
        for (const pmix_rank_t first : firsts) {
            const pmix_proc_t pair[2] = {rank_of((first + 1) % size), rank_of(first)};
            called.push_back(std::make_unique<Called>());
            expect("fence_nb", PMIx_Fence_nb(pair, 2, nullptr, 0, on_done, called.back().get()));
        }
        // The same one twice, in addition to the whole job.
        const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
        for (int i = 0; i < 2; ++i) {
            called.push_back(std::make_unique<Called>());
            expect("fence_nb", PMIx_Fence_nb(&all, 1, nullptr, 0, on_done, called.back().get()));
        }
        for (const auto& one : called) {
            while (!one->there)
                std::this_thread::yield();
            expect("fence's end", one->status);
        }
    }
    // A fence with a missing participant times out for each caller.
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
    if (self.rank != 0) {
        std::vector<pmix_proc_t> named;
        for (pmix_rank_t rank = 0; rank < size; ++rank)
            named.push_back(rank_of(rank));
        Directives limited;
        limited.add(PMIX_TIMEOUT, 1, PMIX_INT);
        expect("fence without rank 0", PMIx_Fence(named.data(), size, limited.infos.data(), 1),
               PMIX_ERR_TIMEOUT);
    }
    expect("fence", fence(30));
    const pmix_proc_t alone = self;
    expect("fence of one", PMIx_Fence(&alone, 1, nullptr, 0));
    const pmix_proc_t others[2] = {rank_of((self.rank + 1) % size), rank_of((self.rank + 2) % size)};
    expect("fence without oneself", PMIx_Fence(others, 2, nullptr, 0));
    expect("infos missing", PMIx_Fence(&all, 1, nullptr, 1), PMIX_ERR_BAD_PARAM);
    expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
    return finalize();
}

// threads SIZE: everything at once.
int run_threads(const Words& words) {
    const auto size = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    init();
    put(PMIX_GLOBAL, "first", "yes");
    expect("commit", PMIx_Commit());
    expect("fence", fence(30));
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([t, size] {
            for (int i = 0; i < 50; ++i) {
                const pmix_proc_t proc = rank_of(static_cast<pmix_rank_t>(t + i) % size);
                const std::string key = std::to_string(t) + "." + std::to_string(i);
                Directives optional, refresh;
                optional.flag(PMIX_OPTIONAL);
                refresh.flag(PMIX_GET_REFRESH_CACHE);
                put(PMIX_GLOBAL, key, key);
                if (i % 7 == 0) expect("commit", PMIx_Commit());
                expect_got("own", get(&self, key.c_str()), key);
                expect_got("first", get(&proc, "first"), "yes");
                expect_got("first", get(&proc, "first", refresh), "yes");
                expect("size", get(nullptr, PMIX_JOB_SIZE).status);
                get(&proc, key.c_str(), optional);
                pmix_proc_t* peers = nullptr;
                size_t count = 0;
                expect("peers", PMIx_Resolve_peers(nullptr, self.nspace, &peers, &count));
                free(peers);
                char* nodes = nullptr;
                expect("nodes", PMIx_Resolve_nodes(self.nspace, &nodes));
                free(nodes);
                expect("init", PMIx_Init(nullptr, nullptr, 0));
                expect("finalize", PMIx_Finalize(nullptr, 0));
            }
        });
    }
    for (int i = 0; i < 20; ++i)
        expect("fence", fence(30, i % 2 == 0));
    for (auto& thread : threads)
        thread.join();
    expect("fence", fence(30));
    return finalize();
}

/// A failed get returns nothing that its caller could free.
void expect_no_value(const std::string& what, const pmix_proc_t* proc, const char* key,
                     const pmix_info_t* info, size_t ninfo) {
    int other = 0;
    auto* value = reinterpret_cast<pmix_value_t*>(&other);
    expect_true(what + " succeeded", PMIx_Get(proc, key, info, ninfo, &value) != PMIX_SUCCESS);
    expect_true(what + " left a value", value == nullptr);
}

// outputs: the outputs of failed calls.
int run_outputs(const Words&) {
    expect_no_value("a get before init", nullptr, PMIX_RANK, nullptr, 0);
    init();
    const std::string too_long(PMIX_MAX_KEYLEN + 1, 'k');
    pmix_proc_t stranger;
    PMIx_Load_procid(&stranger, "no.such.job", 0);
    Directives now, optional, wrong, lent;
    now.flag(PMIX_IMMEDIATE);
    optional.flag(PMIX_OPTIONAL);
    wrong.add(PMIX_DATA_SCOPE, true, PMIX_BOOL);
    const auto none = [&](const std::string& what, const pmix_proc_t* proc, const char* key,
                          const Directives& with) {
        expect_no_value(what, proc, key, with.infos.data(), with.infos.size());
    };
    none("a get of an absent key", &self, "nothing", {});
    none("a get of an absent reserved key", &self, "pmix.nothing", {});
    none("an optional one", &self, "nothing", optional);
    none("an immediate one", &self, "pmix.nothing", now);
    none("a get of a key that is too long", &self, too_long.c_str(), {});
    none("a get of a key without letters", &self, "", {});
    none("a get with a wrong directive", &self, PMIX_RANK, wrong);
    none("a get of a stranger", &stranger, "nothing", now);
    expect_no_value("a get with directives that are not there", &self, PMIX_RANK, nullptr, 1);
    // The location of a process of an unknown job is unknown.
    for (const char* key :
         {PMIX_HOSTNAME, PMIX_NODEID, PMIX_NODE_SIZE, PMIX_LOCAL_SIZE, PMIX_APPNUM, PMIX_SESSION_ID})
        none(std::string("a stranger's ") + key, &stranger, key, now);
    pmix_query_t query;
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_HOSTNAME);
    PMIx_Query_qualifiers_create(&query, 1);
    expect("qualifier", PMIx_Info_load(&query.qualifiers[0], PMIX_PROCID, &stranger, PMIX_PROC));
    auto* results = reinterpret_cast<pmix_info_t*>(&query);
    size_t count = 1;
    expect_true("a query about a stranger", PMIx_Query_info(&query, 1, &results, &count) != PMIX_SUCCESS);
    expect_true("it left results", results == nullptr && count == 0);
    PMIx_Query_destruct(&query);
    // The caller keeps its own storage.
    lent.flag(PMIX_GET_STATIC_VALUES);
    pmix_value_t room;
    PMIx_Value_construct(&room);
    pmix_value_t* value = &room;
    expect_true("a get into lent storage",
                PMIx_Get(&self, "nothing", lent.infos.data(), lent.infos.size(), &value) != PMIX_SUCCESS);
    expect_true("the lent storage", value == &room);
    return finalize();
}

// hollow: a value without its object is refused, and does not affect others.
int run_hollow(const Words&) {
    init();
    for (const pmix_data_type_t type : {PMIX_PROC, PMIX_COORD, PMIX_PROC_INFO, PMIX_GEOMETRY, PMIX_REGEX}) {
        pmix_value_t value;
        memset(&value, 0, sizeof value);
        value.type = type;
        expect("put of a hollow value", PMIx_Put(PMIX_GLOBAL, "hollow", &value), PMIX_ERR_BAD_PARAM);
        expect("keeping one", PMIx_Store_internal(&self, "hollow", &value), PMIX_ERR_BAD_PARAM);
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        PMIx_Load_key(info.key, "hollow");
        info.value = value;
        expect("publishing one", PMIx_Publish(&info, 1), PMIX_ERR_BAD_PARAM);
        expect("telling of one",
               PMIx_Notify_event(-3000, &self, PMIX_RANGE_LOCAL, &info, 1, nullptr, nullptr),
               PMIX_ERR_BAD_PARAM);
        // And inside of another.
        pmix_data_array_t array{PMIX_INFO, 1, &info};
        pmix_value_t outer;
        memset(&outer, 0, sizeof outer);
        outer.type = PMIX_DATA_ARRAY;
        outer.data.darray = &array;
        expect("put of an array of one", PMIx_Put(PMIX_GLOBAL, "hollow", &outer), PMIX_ERR_BAD_PARAM);
    }
    put(PMIX_GLOBAL, "whole", std::to_string(self.rank));
    expect("commit", PMIx_Commit());
    expect("fence", fence(0, true));
    const pmix_proc_t other = rank_of(1 - self.rank);
    expect_got("what the other has put", get(&other, "whole"), std::to_string(other.rank));
    return finalize();
}

}  // namespace

int main(int argc, char** argv) {
    alarm(100);  // ends a hanging process that nothing else terminates
    if (argc < 2) return 2;
    const Words words(argv + 2, argv + argc);
    const struct {
        const char* name;
        int (*run)(const Words&);
    } behaviours[] = {{"fence", run_fence},         {"get", run_get},
                      {"counted", run_counted},     {"cycles", run_cycles},
                      {"inflight", run_inflight},   {"orphaned", run_orphaned},
                      {"forked", run_forked},       {"singleton", run_singleton},
                      {"stopped", run_stopped},     {"external", run_external},
                      {"gets", run_gets},           {"refresh", run_refresh},
                      {"qualified", run_qualified}, {"fences", run_fences},
                      {"threads", run_threads},     {"commits", run_commits},
                      {"toolong", run_too_long},    {"outputs", run_outputs},
                      {"hollow", run_hollow}};
    for (const auto& behaviour : behaviours) {
        if (std::string(argv[1]) == behaviour.name) return behaviour.run(words);
    }
    say(std::string("BAD no behaviour ") + argv[1]);
    return 2;
}
