// SPDX-License-Identifier: BSD-3-Clause
// Clients that check for a progress thread (docs/decisions/0022-the-thread-of-a-client.md): the first word
// selects the behaviour; exits with 0 on success.
#include <pmix_server.h>
#include <pmix_tool.h>
#include <pthread.h>
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
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

using namespace std::chrono_literals;

pmix_proc_t self;

/// Waits without a call of the library, like a computing program.
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
    expect_soon("no thread " + when, has_thread);  // the thread sets its name once it runs
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

/// The result of a non-blocking call.
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

// blocking: blocking calls need no thread.
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

// cancelled: a thread that is cancelled while it drives for all leaves the loop usable for the others.
struct Cancelled {
    std::string key;
    std::atomic<bool> begun{false};
    std::atomic<pmix_status_t> status{PMIX_ERROR};
};

void* get_and_end(void* data) {
    auto* call = static_cast<Cancelled*>(data);
    call->begun = true;
    call->status = get(1, call->key);
    pthread_testcancel();
    return nullptr;
}

void* look_and_end(void* data) {
    auto* call = static_cast<Cancelled*>(data);
    pthread_cancel(pthread_self());
    call->status = get(self.rank, call->key);
    pthread_testcancel();
    return nullptr;
}

int run_cancelled() {
    init();
    // A successful lookup returns, too.
    put("own");
    Cancelled look;
    look.key = "own";
    pthread_t looking{};
    void* ended = nullptr;
    expect_true("thread", pthread_create(&looking, nullptr, look_and_end, &look) == 0);
    expect_true("join", pthread_join(looking, &ended) == 0);
    expect_true("the thread has ended as it was told", ended == PTHREAD_CANCELED);
    expect("its call", look.status);
    for (int round = 0; round < 3; ++round) {
        const std::string go = "go" + std::to_string(round);
        Cancelled call;
        call.key = "late" + std::to_string(round);
        if (self.rank == 0) {
            pthread_t thread{};
            expect_true("thread", pthread_create(&thread, nullptr, get_and_end, &call) == 0);
            // At once, perhaps before the thread has begun; or at any later point.
            if (round > 0) expect_soon("the thread does not begin", [&] { return call.begun.load(); });
            std::this_thread::sleep_for(round * 10ms);
            pthread_cancel(thread);
            put(go);
            expect("commit", PMIx_Commit());
            void* result = nullptr;
            expect_true("join", pthread_join(thread, &result) == 0);
            expect_true("the thread has ended as it was told", result == PTHREAD_CANCELED);
            expect("its call", round == 0 ? PMIX_SUCCESS : call.status.load());
        } else {
            expect("get of the other", get(0, go));
            put(call.key);
            expect("commit", PMIx_Commit());
        }
        fence();
    }
    return finalize();
}

// large: data that the server does not accept at once are nevertheless sent.
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

// anew: one thread puts a value repeatedly while another thread commits and gets it. Each value must be
// complete.
int run_anew() {
    init();
    const std::string key = "anew";
    const auto put_round = [&](int round) {
        std::string bytes(6000, static_cast<char>('a' + round % 26));
        pmix_value_t value;
        memset(&value, 0, sizeof value);
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = bytes.data();
        value.data.bo.size = bytes.size();
        expect("put", PMIx_Put(PMIX_GLOBAL, key.c_str(), &value));
    };
    const auto expect_whole = [&](pmix_rank_t rank) {
        const pmix_proc_t proc = rank_of(rank);
        pmix_value_t* value = nullptr;
        expect("get", PMIx_Get(&proc, key.c_str(), nullptr, 0, &value));
        const pmix_byte_object_t& bytes = value->data.bo;
        expect_true("a value of two puts", value->type == PMIX_BYTE_OBJECT && bytes.size == 6000 &&
                                               memcmp(bytes.bytes, bytes.bytes + 1, bytes.size - 1) == 0);
        PMIx_Value_free(value, 1);
    };
    put_round(0);
    expect("commit", PMIx_Commit());
    fence();
    std::atomic<bool> done{false};
    std::thread putter([&] {
        for (int round = 0; round < 300; ++round)
            put_round(round);
        done = true;
    });
    while (!done) {
        expect("commit", PMIx_Commit());
        expect_whole(0);
        expect_whole(1);
    }
    putter.join();
    expect("commit", PMIx_Commit());
    fence();
    expect_whole(1 - self.rank);
    return finalize();
}

// nonblocking: a callback runs on a thread while the program computes.
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

// handler: events are delivered while the program computes.
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
        std::this_thread::sleep_for(2ms);  // usually the first one drives
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

// outstanding: finalize answers pending requests.
int run_outstanding() {
    init();
    const pmix_proc_t proc = rank_of(1 - self.rank);
    Said said;
    expect("get", PMIx_Get_nb(&proc, "never", nullptr, 0, on_value, &said));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    expect_true("no answer", said.done);
    expect_true("a good answer", said.status != PMIX_SUCCESS);
    expect_no_thread("after finalize");
    // The same name once more.
    init();
    return finalize();
}

// stopped: a thread that was never started can be stopped, too.
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

/// The processors on which a thread may run, as the kernel writes them: the library's, or the caller's.
std::string allowed(bool of_library) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream name_file(thread.path() / "comm"), status(thread.path() / "status");
        std::string name;
        if (!std::getline(name_file, name)) continue;  // ended
        const bool ours = name == "pmix-progress";
        if (of_library ? !ours : thread.path().filename() != std::to_string(gettid())) continue;
        for (std::string line; std::getline(status, line);) {
            const std::string field = "Cpus_allowed_list:\t";
            if (line.starts_with(field)) return line.substr(field.size());
        }
    }
    return "";
}

/// The binding directives.
struct Binding {
    std::vector<pmix_info_t> infos;

    Binding(const char* list, bool required, bool external = false) {
        add(PMIX_BIND_PROGRESS_THREAD, list, PMIX_STRING);
        if (required) add(PMIX_BIND_REQUIRED, &required, PMIX_BOOL);
        if (external) add(PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL);
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    ~Binding() {
        for (pmix_info_t& info : infos)
            PMIX_INFO_DESTRUCT(&info);
    }
    void add(const char* key, const void* data, pmix_data_type_t type) {
        infos.emplace_back();
        PMIx_Info_load(&infos.back(), key, data, type);
    }
};

pmix_status_t init_as(const std::string& role, Binding& how) {
    if (role == "client") return PMIx_Init(&self, how.infos.data(), how.infos.size());
    if (role == "server") return PMIx_server_init(nullptr, how.infos.data(), how.infos.size());
    const bool alone = true;
    how.add(PMIX_TOOL_DO_NOT_CONNECT, &alone, PMIX_BOOL);
    return PMIx_tool_init(&self, how.infos.data(), how.infos.size());
}

void end_as(const std::string& role) {
    expect("end of a " + role, role == "client"   ? PMIx_Finalize(nullptr, 0)
                               : role == "server" ? PMIx_server_finalize()
                                                  : PMIx_tool_finalize());
}

/// Gives the library's thread work, so that a client starts one.
void use_thread() {
    Said said;
    expect("get", PMIx_Get_nb(&self, PMIX_RANK, nullptr, 0, on_value, &said));
    expect_soon("no answer", [&] { return said.done.load(); });
}

// bound: the library's thread has the requested binding, or initialisation fails if it was required.
int run_bound() {
    const std::string before = allowed(false);
    const std::string last = before.substr(before.find_last_of(",-") + 1);
    const char* const none = "1023";  // no test machine has that many
    // Initialised as a client the last time: the host waits for its end.
    for (const std::string role : {"server", "tool", "client"}) {
        const auto fails = [&](const char* list, bool external, pmix_status_t status) {
            Binding how(list, true, external);
            expect(role + " with " + list, init_as(role, how), status);
        };
        fails("3-1", false, PMIX_ERR_BAD_PARAM);
        fails("", false, PMIX_ERR_BAD_PARAM);
        fails(none, false, PMIX_ERR_NOT_SUPPORTED);
        fails(last.c_str(), true, PMIX_ERR_NOT_SUPPORTED);
        expect_no_thread("after these");
        const pid_t child = role == "client" ? 0 : fork();
        if (child == 0) {
            Binding how(last.c_str(), true);
            expect(role, init_as(role, how));
            if (role != "server") use_thread();
            expect_soon(role + " is not bound",
                        [&] { return allowed(true) == last; });  // it sets its name late
            expect_true("its caller is at " + allowed(false), allowed(false) == before);
            PMIx_Progress_thread_stop(nullptr, 0);
            end_as(role);
            if (role != "client") _exit(0);
        } else {
            int status = 0;
            expect_true(role, waitpid(child, &status, 0) == child && status == 0);
        }
    }
    return 0;
}

// unbound: if the binding is not required, nothing fails, and the thread has the default binding.
int run_unbound() {
    const std::string before = allowed(false);
    for (const char* list : {"no list", "1023"}) {
        const pid_t child = list[0] == 'n' ? fork() : 0;
        if (child == 0) {
            Binding how(list, false);
            const std::string role = list[0] == 'n' ? "tool" : "client";
            expect("init", init_as(role, how));
            use_thread();
            expect_soon("bound", [&] { return allowed(true) == before; });
            end_as(role);
            if (role == "tool") _exit(0);
        } else {
            int status = 0;
            expect_true("tool", waitpid(child, &status, 0) == child && status == 0);
        }
    }
    return 0;
}

// parameters: the same by parameters, without directives of the program.
int run_parameters() {
    setenv("PMIX_MCA_pmix_bind_progress_thread_reqd", "1", 1);
    setenv("PMIX_MCA_pmix_progress_thread_cpus", "1023", 1);
    expect("init", PMIx_Init(&self, nullptr, 0), PMIX_ERR_NOT_SUPPORTED);
    const std::string before = allowed(false);
    const std::string last = before.substr(before.find_last_of(",-") + 1);
    setenv("PMIX_MCA_pmix_progress_thread_cpus", last.c_str(), 1);
    init();
    use_thread();
    expect_soon("not bound", [&] { return allowed(true) == last; });
    fence();
    return finalize();
}

}  // namespace

int main(int argc, char** argv) {
    alarm(100);  // ends a hanging process that nothing else terminates
    const struct {
        const char* name;
        int (*run)();
    } behaviours[] = {
        {"blocking", run_blocking},       {"large", run_large},           {"anew", run_anew},
        {"nonblocking", run_nonblocking}, {"handler", run_handler},       {"drivers", run_drivers},
        {"outstanding", run_outstanding}, {"stopped", run_stopped},       {"bound", run_bound},
        {"unbound", run_unbound},         {"parameters", run_parameters}, {"cancelled", run_cancelled}};
    for (const auto& behaviour : behaviours) {
        if (argc == 2 && std::string(argv[1]) == behaviour.name) return behaviour.run();
    }
    return 2;
}
