// SPDX-License-Identifier: BSD-3-Clause
// Clients that do to the library what programs do that know nothing of it: fork() at any moment, close
// descriptors that they did not open. One behaviour for each first word; exits with 0 when all was well.
#include <pmix.h>
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

/// What a child does; what it finds wrong is its exit status.
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
    // What the host waits for.
    expect("init", PMIx_Init(&self, nullptr, 0));
    expect("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    alarm(100);  // a process that hangs ends, whoever has forgotten it
    expect_true("a socket from the beginning", !has_socket());
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "forks") return run_forks();
    if (what == "first") return run_first(argc > 2);
    return 2;
}
