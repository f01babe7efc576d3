// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that measures the cost of the store: messages of PMIx_Init, calls and allocations of a
// PMIx_Get, opened files, private memory. The first word selects the behaviour; a line that begins with BAD
// reports an error.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/integration/says.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WITH_SANITIZER 1
#else
#define WITH_SANITIZER 0
#endif

namespace {

using namespace integration;

std::atomic<int> sends{0}, connects{0};
#if !WITH_SANITIZER
thread_local int allocations = 0;
#endif

}  // namespace

// Count the library's calls.

#pragma GCC visibility push(default)
extern "C" {
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
    ++sends;
    return syscall(SYS_sendmsg, fd, message, flags);
}
ssize_t send(int fd, const void* bytes, size_t size, int flags) {
    ++sends;
    return syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}
int connect(int fd, const sockaddr* address, socklen_t length) {
    ++connects;
    return static_cast<int>(syscall(SYS_connect, fd, address, length));
}
#if !WITH_SANITIZER
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* malloc(size_t size) {
    ++allocations;
    return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
    ++allocations;
    return __libc_realloc(old, size);
}
#endif
}
#pragma GCC visibility pop

namespace {

pmix_proc_t self;

pmix_proc_t rank_of(pmix_rank_t rank) {
    pmix_proc_t proc = self;
    proc.rank = rank;
    return proc;
}

void put(const char* key, const char* text) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_UINT32;
    value.data.uint32 = self.rank;
    if (text != nullptr) {
        value.type = PMIX_STRING;
        value.data.string = const_cast<char*>(text);
    }
    expect("put", PMIx_Put(PMIX_GLOBAL, key, &value));
}

pmix_info_t flag(const char* key) {
    pmix_info_t info;
    bool yes = true;
    expect("directive", PMIx_Info_load(&info, key, &yes, PMIX_BOOL));
    return info;
}

void fence_with_data() {
    const pmix_info_t collect = flag(PMIX_COLLECT_DATA);
    expect("fence", PMIx_Fence(nullptr, 0, &collect, 1));
}

int finalize() {
    expect("finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

// init: one message is sent to the server, and all job data are known after its answer.
int run_init() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    const int connected = connects, sent = sends;
    expect_true("connected " + std::to_string(connected) + " times", connected == 1);
    expect_true("sent " + std::to_string(sent) + " messages", sent == 1);
    const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD), other = rank_of(1);
    const pmix_info_t optional = flag(PMIX_OPTIONAL);
    for (const char* key : {PMIX_JOB_SIZE, PMIX_LOCAL_PEERS}) {
        pmix_value_t* value = nullptr;
        expect(key, PMIx_Get(&all, key, &optional, 1, &value));
        PMIx_Value_free(value, 1);
    }
    pmix_value_t* value = nullptr;
    expect("host name", PMIx_Get(&other, PMIX_HOSTNAME, &optional, 1, &value));
    PMIx_Value_free(value, 1);
    expect_true("asked for job data", sends == sent);
    return finalize();
}

// files: prints the component files that the process has opened after a post, a fence and a get.
int run_files() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    put("cost.text", "text");
    expect("commit", PMIx_Commit());
    fence_with_data();
    const pmix_proc_t other = rank_of(1 - self.rank);
    pmix_value_t* value = nullptr;
    expect("get", PMIx_Get(&other, "cost.text", nullptr, 0, &value));
    PMIx_Value_free(value, 1);
    std::string files;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t at = line.find("/mca_");
        if (at == std::string::npos) continue;
        const std::string name = line.substr(at + 1);
        if (files.find(name) == std::string::npos) files += " " + name;
    }
    say("FILES" + files);
    return finalize();
}

// seek RANK KEY ask|look|fence: gets a key, with a request to the server, without one, or without one after a
// fence with data; prints the value, or the error. Waits for a word first.
int run_seek(const std::vector<std::string>& words) {
    expect("init", PMIx_Init(&self, nullptr, 0));
    say("INIT");
    wait_for_word();
    if (words.at(2) == "fence") fence_with_data();
    const pmix_proc_t proc = rank_of(static_cast<pmix_rank_t>(std::stoul(words.at(0))));
    const pmix_info_t optional = flag(PMIX_OPTIONAL);
    pmix_value_t* value = nullptr;
    const pmix_status_t status =
        PMIx_Get(&proc, words.at(1).c_str(), &optional, words.at(2) == "ask" ? 0 : 1, &value);
    if (status == PMIX_SUCCESS) {
        expect_true("no text", value->type == PMIX_STRING);
        say("GOT " + std::string(value->data.string));
        PMIx_Value_free(value, 1);
    } else {
        say(std::string("NOT ") + PMIx_Error_string(status));
    }
    wait_for_word();
    return finalize();
}

// memory SIZE: prints the number of allocated bytes after lookups of data of many ranks.
int run_memory(uint32_t size) {
    expect("init", PMIx_Init(&self, nullptr, 0));
    const pmix_info_t optional = flag(PMIX_OPTIONAL);
    uint32_t next = 1;
    for (int i = 0; i < 2000; ++i) {
        next = next * 1664525 + 1013904223;
        const pmix_proc_t proc = rank_of((next >> 8) % size);
        for (const char* key : {PMIX_HOSTNAME, PMIX_LOCAL_RANK, PMIX_NODEID, PMIX_APPNUM}) {
            pmix_value_t* value = nullptr;
            expect(key, PMIx_Get(&proc, key, &optional, 1, &value));
            PMIx_Value_free(value, 1);
        }
    }
    const struct mallinfo2 used = mallinfo2();
    say("USES " + std::to_string(used.uordblks + used.hblkhd));
    return finalize();
}

// --- gets ---

std::atomic<int> calls{0}, last_call{-1};
void on_call(int, siginfo_t* what, void*) {
    ++calls;
    last_call = what->si_syscall;
}

/// From here on the kernel refuses all system calls of this thread, and each call is counted; the thread can
/// only end.
void be_watched() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {std::size(program), program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        fail("no filter of calls can be had");
}

struct Question {
    const char* what;
    pmix_rank_t rank;
    const char* key;
    int of_copy, of_static;  ///< allocations of the value itself
    int took_copy = 0, took_static = 0, took_pointer = 0;
    pmix_status_t status = PMIX_SUCCESS;
};

struct Round {
    std::vector<Question> questions;
    pmix_info_t statics, pointers;

    int allocated_by(const std::function<void()>& body) const {
#if WITH_SANITIZER
        body();
        return 0;
#else
        const int before = allocations;
        body();
        return allocations - before;
#endif
    }
    void ask(Question& one) const {
        const pmix_proc_t proc = rank_of(one.rank);
        pmix_value_t place, *value = nullptr;
        const auto get = [&](const pmix_info_t* how) {
            const pmix_status_t status = PMIx_Get(&proc, one.key, how, how != nullptr ? 1 : 0, &value);
            if (status != PMIX_SUCCESS) one.status = status;
            return status == PMIX_SUCCESS;
        };
        bool there = false;
        one.took_copy = allocated_by([&] { there = get(nullptr); });
        if (there) PMIx_Value_free(value, 1);
        memset(&place, 0, sizeof place);
        value = &place;
        one.took_static = allocated_by([&] { there = get(&statics); });
        if (there) PMIx_Value_destruct(&place);
        value = nullptr;
        one.took_pointer = allocated_by([&] { there = get(&pointers); });
    }
    static void* run(void* round) {
        auto& mine = *static_cast<Round*>(round);
        for (int i = 0; i < 3; ++i) {
            // The first lookups, and the allocator, may need system calls.
            if (i == 2 && !WITH_SANITIZER) be_watched();
            for (Question& one : mine.questions)
                mine.ask(one);
        }
        // No other call is possible from here on.
        while (!WITH_SANITIZER)
            syscall(SYS_exit, 0);
        return nullptr;
    }
};

// gets: values in the store are read without a system call, and without an allocation except the value's.
int run_gets() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    put("cost.number", nullptr);
    put("cost.text", "a text that is too long for any object to have room for it in itself");
    expect("commit", PMIx_Commit());
    fence_with_data();
    const pmix_rank_t other = 1 - self.rank;
    Round round{{{"a number of another", other, "cost.number", 1, 0},
                 {"a text of another", other, "cost.text", 2, 1},
                 {"a number of its own", self.rank, "cost.number", 1, 0},
                 {"a text of its own", self.rank, "cost.text", 2, 1},
                 {"the job's size", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 1, 0},
                 {"a local rank", other, PMIX_LOCAL_RANK, 1, 0},
                 {"a node's number", other, PMIX_NODEID, 1, 0},
                 {"a host's name", other, PMIX_HOSTNAME, 2, 1},
                 {"local peers", PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, 2, 1}},
                flag(PMIX_GET_STATIC_VALUES),
                flag(PMIX_GET_POINTER_VALUES)};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_call;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, nullptr);
    pthread_t thread;
    expect_true("no thread", pthread_create(&thread, nullptr, Round::run, &round) == 0);
    pthread_join(thread, nullptr);
    for (const Question& one : round.questions) {
        expect(std::string("get of ") + one.what, one.status);
        const auto check = [&](const char* how, int took, int may) {
            expect_true(std::string(one.what) + " " + how + " takes " + std::to_string(took) + " allocations",
                        took <= may);
        };
        check("as a copy", one.took_copy, one.of_copy);
        check("in our place", one.took_static, one.of_static);
        check("by a pointer", one.took_pointer, 0);
    }
    expect_true("the kernel was called " + std::to_string(calls) + " times, the last time for number " +
                    std::to_string(last_call),
                calls == 0);
    return finalize();
}

}  // namespace

int main(int argc, char** argv) {
    alarm(60);
    const std::vector<std::string> words(argv + 2, argv + argc);
    const std::string what = argv[1];
    if (what == "init") return run_init();
    if (what == "files") return run_files();
    if (what == "seek") return run_seek(words);
    if (what == "memory") return run_memory(static_cast<uint32_t>(std::stoul(words.at(0))));
    if (what == "gets") return run_gets();
    fail("no behaviour " + what);
}
