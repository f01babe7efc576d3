// SPDX-License-Identifier: BSD-3-Clause
// Clients that behave like programs unaware of the library: they fork() at any moment, and close descriptors
// that they did not open. The first word selects the behaviour; exits with 0 on success.
#include <fcntl.h>
#include <pmix.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

using namespace std::chrono_literals;

pmix_proc_t self;

pmix_status_t get(const char* key, int seconds = 0) {
    pmix_info_t limit;
    memset(&limit, 0, sizeof limit);
    PMIx_Info_load(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&self, key, &limit, seconds == 0 ? 0 : 1, &value);
    if (status == PMIX_SUCCESS) PMIx_Value_free(value, 1);
    PMIX_INFO_DESTRUCT(&limit);
    return status;
}

void put(const char* key) {
    char text[] = "text";
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = text;
    expect("put", PMIx_Put(PMIX_GLOBAL, key, &value));
}

/// Whether a descriptor beyond the standard ones is a socket.
bool has_socket() {
    for (int fd = 3; fd < 256; ++fd) {
        struct stat facts {};
        if (fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode)) return true;
    }
    return false;
}

/// The child process; its exit status is the number of the error.
int be_a_child(int number) {
    alarm(20);
    if (has_socket()) return 10;
    if (number % 3 == 0) return 0;
    if (PMIx_Initialized() != 0) return 11;
    if (PMIx_Finalize(nullptr, 0) != PMIX_ERR_INIT) return 12;
    if (number % 3 == 1) execl("/bin/true", "true", nullptr);
    return 0;
}

void fork_one(int number) {
    const pid_t child = fork();
    if (child == 0) _exit(be_a_child(number));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) fail("child " + std::to_string(number) + " ended with " + std::to_string(status));
}

// forks: while other threads are in the middle of any call.
int run_forks() {
    std::atomic<bool> over{false};
    std::thread cycles([&] {
        while (!over) {
            expect("init", PMIx_Init(&self, nullptr, 0));
            put("key");
            expect("commit", PMIx_Commit());
            expect("get", get("key"));
            expect("get of nothing", get("nothing"), PMIX_ERR_NOT_FOUND);
            expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
            expect("finalize", PMIx_Finalize(nullptr, 0));
        }
    });
    std::mt19937 random(1);
    for (int number = 0; number < 300; ++number) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        fork_one(number);
    }
    over = true;
    cycles.join();
    return 0;
}

// first: while another thread makes the first call of PMIx_Init.
int run_first(bool by_tcp) {
    if (by_tcp) unsetenv("PMIX_MUSTER_URI");
    std::mt19937 random(2);
    for (int number = 0; number < 150; ++number) {
        const auto pause = std::chrono::microseconds(random() % 1500);
        const pid_t child = fork();
        if (child == 0) {
            alarm(40);
            std::thread thread([] { expect("init", PMIx_Init(&self, nullptr, 0)); });
            std::this_thread::sleep_for(pause);
            fork_one(number);
            thread.join();
            expect("get of nothing", get("nothing"), PMIX_ERR_NOT_FOUND);
            expect("finalize", PMIx_Finalize(nullptr, 0));
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) fail("process " + std::to_string(number) + " ended with " + std::to_string(status));
    }
    // The host waits for this.
    expect("init", PMIx_Init(&self, nullptr, 0));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

constexpr int kNumbers = 256;
const std::string kText(4096, 'x');

/// The program's own descriptor with a number of the library's: a file, or one end of a socket or a pipe
/// whose other end has a high number. Each contains some text, and must still contain it at the end.
struct Own {
    int fd = -1;
    int other = -1;
    ino_t inode = 0;
};

ino_t inode_of(int fd) {
    struct stat facts {};
    return fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

/// Moves the other end to a high number.
int far_away(int fd) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kNumbers);
    expect_true("no descriptor", moved >= 0);
    close(fd);
    return moved;
}

Own make_own(const std::string& kind, int number) {
    Own own;
    int fds[2] = {-1, -1};
    if (kind == "files") {
        fds[0] = memfd_create("own", 0);
        expect_true("write", write(fds[0], kText.data(), kText.size()) == ssize_t(kText.size()));
        expect_true("seek", lseek(fds[0], 100, SEEK_SET) == 100);
    } else if (kind == "sockets") {
        expect_true("sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        expect_true("write", write(fds[1], kText.data(), kText.size()) == ssize_t(kText.size()));
    } else {
        expect_true("pipe", pipe(fds) == 0);
        expect_true("write", write(fds[1], kText.data(), kText.size()) == ssize_t(kText.size()));
    }
    // Both ends have high numbers for a moment, so that the number is free.
    own.fd = far_away(fds[0]);
    if (fds[1] >= 0) own.other = far_away(fds[1]);
    expect_true("a number", dup2(own.fd, number) == number);
    close(own.fd);
    own.fd = number;
    own.inode = inode_of(number);
    return own;
}

void expect_untouched(const Own& own) {
    const std::string name = "own descriptor " + std::to_string(own.fd);
    expect_true(name + " is closed", inode_of(own.fd) == own.inode);
    std::string text(kText.size() + 1, '\0');
    if (own.other < 0) {
        expect_true(name + " was read", lseek(own.fd, 0, SEEK_CUR) == 100);
        expect_true(name + " was written",
                    pread(own.fd, text.data(), text.size(), 0) == ssize_t(kText.size()));
    } else {
        fcntl(own.fd, F_SETFL, fcntl(own.fd, F_GETFL) | O_NONBLOCK);
        fcntl(own.other, F_SETFL, fcntl(own.other, F_GETFL) | O_NONBLOCK);
        expect_true(name + " was read", read(own.fd, text.data(), text.size()) == ssize_t(kText.size()));
        char byte = 0;
        expect_true(name + " was written", read(own.other, &byte, 1) < 0);
    }
    expect_true(name + " has other text", text.substr(0, kText.size()) == kText);
}

double processor_time() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[], size_t,
              pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

void on_value(pmix_status_t status, pmix_value_t*, void* said) {
    *static_cast<std::atomic<pmix_status_t>*>(said) = status;
}

bool is_loss(pmix_status_t status) {
    return status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_UNREACH;
}

// closed: the program closes all unknown descriptors, and opens its own under these numbers. `when`: the
// library has no thread at that time, it has one, or a call waits.
int run_closed(const std::string& kind, const std::string& when) {
    expect("init", PMIx_Init(&self, nullptr, 0));
    put("key");
    expect("commit", PMIx_Commit());
    expect("get of nothing", get("nothing"), PMIX_ERR_NOT_FOUND);
    std::atomic<pmix_status_t> waited{PMIX_OPERATION_IN_PROGRESS}, called{PMIX_OPERATION_IN_PROGRESS};
    std::thread waits;
    if (when == "thread") {
        pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
        expect_true("registration",
                    PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr) >= 0);
        pmix_proc_t other = self;
        other.rank = 1;
        expect("get", PMIx_Get_nb(&other, "never", nullptr, 0, on_value, &called));
    } else if (when == "waiting") {
        waits = std::thread([&] {
            pmix_proc_t other = self;
            other.rank = 1;
            pmix_value_t* value = nullptr;
            waited = PMIx_Get(&other, "never", nullptr, 0, &value);
        });
    }
    std::this_thread::sleep_for(50ms);  // it usually waits by now; in any case it must end
    std::vector<int> numbers;
    for (int fd = 3; fd < kNumbers; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) numbers.push_back(fd);
    }
    expect_true("nothing to close", numbers.size() >= 3);
    for (const int number : numbers)
        close(number);
    std::vector<Own> owns;
    if (kind != "nothing") {
        for (const int number : numbers)
            owns.push_back(make_own(kind, number));
    }
    const double before = processor_time();
    std::this_thread::sleep_for(2500ms);  // it computes, without a call and without activity of the library
    expect_true("it keeps a processor busy", processor_time() - before < 0.5);
    if (when == "waiting") {
        waits.join();
        expect_true(std::string("the call that waits: ") + PMIx_Error_string(waited), is_loss(waited));
    } else if (when == "thread") {
        while (called == PMIX_OPERATION_IN_PROGRESS)  // main()'s alarm is its limit
            std::this_thread::sleep_for(10ms);
        expect_true(std::string("the callback: ") + PMIx_Error_string(called), is_loss(called));
    }
    expect("get of what is here", get("key"));
    pmix_proc_t other = self;
    other.rank = 1;
    pmix_value_t* value = nullptr;
    const pmix_status_t got = PMIx_Get(&other, "never", nullptr, 0, &value);
    expect_true(std::string("get: ") + PMIx_Error_string(got), is_loss(got) || got == PMIX_ERR_NOT_FOUND);
    put("another");
    expect_true("commit", PMIx_Commit() != PMIX_ERR_WOULD_BLOCK);
    const pmix_status_t fenced = PMIx_Fence(nullptr, 0, nullptr, 0);
    expect_true(std::string("fence: ") + PMIx_Error_string(fenced), is_loss(fenced));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    for (const Own& own : owns)
        expect_untouched(own);
    // Again, without any effect of the first.
    expect("init", PMIx_Init(&self, nullptr, 0));
    expect("get of nothing", get("nothing"), PMIX_ERR_NOT_FOUND);
    expect("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

// full: after its start the program has no descriptor left. `when` as above.
int run_full(const std::string& when) {
    expect("init", PMIx_Init(&self, nullptr, 0));
    if (when == "thread") {
        pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
        expect_true("registration",
                    PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr) >= 0);
    }
    const int lowest = dup(0);
    close(lowest);
    rlimit none{};
    none.rlim_cur = none.rlim_max = static_cast<rlim_t>(lowest);
    expect_true("setrlimit", setrlimit(RLIMIT_NOFILE, &none) == 0);
    expect_true("a descriptor", dup(0) < 0);
    self.rank = 1;
    expect("get of what nobody posts", get("never", 1), PMIX_ERR_TIMEOUT);
    self.rank = 0;
    put("key");
    expect("commit", PMIx_Commit());
    expect("get", get("key"));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

}  // namespace

#ifdef __SANITIZE_THREAD__
// A child of fork() has none of the other threads. It cannot join them, and its clean-up at the start does
// not race with their earlier accesses, although no lock orders them: forget_in_child() is called when one of
// them may hold any lock. The sanitizer finds these functions only if they are exported, which is not the
// default of these sources.

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() {
    return "report_thread_leaks=0";
}
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions() {
    return "race:forget_in_child";
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

int main(int argc, char** argv) {
    alarm(100);  // ends a hanging process that nothing else terminates
    expect_true("a socket from the beginning", !has_socket());
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "forks") return run_forks();
    if (what == "first") return run_first(argc > 2);
    if (what == "closed" && argc == 4) return run_closed(argv[2], argv[3]);
    if (what == "full" && argc == 3) return run_full(argv[2]);
    return 2;
}
