// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that checks its data, and whether they were mapped or sent:
//   life SIZE BYTES mapped|sent|any [NAME=VALUE]
//                        all steps, with values of that many bytes, with NAME=VALUE in its environment
//   reads SIZE           posts, says "ready", and reads until it is killed; a line of input makes it
//                        read everything once more and say "still"
//   outlives SIZE FILE   says "ready", continues to read after the end of its server, and writes the result
//                        to FILE
#include <pmix.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

pmix_proc_t self;
uint32_t job_size = 0;

[[noreturn]] void fail(const std::string& what) {
    std::printf("%s of %s.%u\n", what.c_str(), self.nspace, self.rank);
    std::fflush(stdout);
    _exit(1);
}

pmix_proc_t rank(pmix_rank_t number) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, self.nspace, number);
    return proc;
}

bool is_mapped() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        if (line.find("memfd:pmix:" + std::string(self.nspace)) != std::string::npos) return true;
    }
    return false;
}

std::string text_of(pmix_rank_t number, size_t size) {
    return std::string(size, static_cast<char>('a' + number % 26));
}

void post(size_t size) {
    pmix_value_t value;
    std::string text = text_of(self.rank, size);
    PMIX_VALUE_LOAD(&value, text.data(), PMIX_STRING);
    for (const char* key : {"store.one", "store.two"}) {
        if (PMIx_Put(PMIX_GLOBAL, key, &value) != PMIX_SUCCESS) fail("put");
    }
    PMIX_VALUE_DESTRUCT(&value);
    value.type = PMIX_UINT32;
    value.data.uint32 = self.rank;
    if (PMIx_Put(PMIX_REMOTE, "store.elsewhere", &value) != PMIX_SUCCESS) fail("put");
    if (PMIx_Commit() != PMIX_SUCCESS) fail("commit");
    pmix_info_t collect;
    bool yes = true;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (PMIx_Fence(nullptr, 0, &collect, 1) != PMIX_SUCCESS) fail("fence");
    PMIX_INFO_DESTRUCT(&collect);
}

/// Checks the values of all processes; `optional`: without a request to the server.
void look(size_t size, bool optional) {
    pmix_info_t here, never;
    const bool yes = true;
    PMIX_INFO_LOAD(&here, PMIX_OPTIONAL, &optional, PMIX_BOOL);
    PMIX_INFO_LOAD(&never, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    for (pmix_rank_t number = 0; number < job_size; ++number) {
        const pmix_proc_t proc = rank(number);
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&proc, "store.two", &here, 1, &value) != PMIX_SUCCESS) fail("get");
        if (value->type != PMIX_STRING || text_of(number, size) != value->data.string) fail("value");
        PMIX_VALUE_RELEASE(value);
        if (PMIx_Get(&proc, PMIX_LOCAL_RANK, &here, 1, &value) != PMIX_SUCCESS) fail("local rank");
        if (value->type != PMIX_UINT16 || value->data.uint16 != number) fail("local rank's value");
        PMIX_VALUE_RELEASE(value);
        if (PMIx_Get(&proc, PMIX_HOSTNAME, &here, 1, &value) != PMIX_SUCCESS) fail("host name");
        PMIX_VALUE_RELEASE(value);
        // Values for other nodes are not visible here.
        if (number != self.rank && PMIx_Get(&proc, "store.elsewhere", &never, 1, &value) == PMIX_SUCCESS)
            fail("what is not for this node");
    }
    PMIX_INFO_DESTRUCT(&here);
    PMIX_INFO_DESTRUCT(&never);
}

int life(size_t size, const std::string& how) {
    const bool mapped = how == "mapped";
    if (how != "any" && is_mapped() != mapped) fail(mapped ? "nothing is mapped" : "something is mapped");
    pmix_proc_t all = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &value) != PMIX_SUCCESS) fail("job size");
    if (value->data.uint32 != job_size) fail("job size's value");
    PMIX_VALUE_RELEASE(value);
    post(size);
    if (!mapped || size > 10000) look(size, false);
    if (mapped && size <= 10000) look(size, true);
    char* nodes = nullptr;
    if (PMIx_Resolve_nodes(self.nspace, &nodes) != PMIX_SUCCESS) fail("nodes");
    free(nodes);
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    const std::string what = words[1];
    job_size = static_cast<uint32_t>(std::strtoul(words[2], nullptr, 10));
    if (count > 5) putenv(words[5]);
    if (const char* files = getenv("STORE_CLIENT_FILES")) {
        // Limits the number of descriptors; the messages must remain readable.
        const rlim_t most = std::strtoul(files, nullptr, 10);
        const rlimit limit = {most, most};
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
        dup2(STDOUT_FILENO, STDERR_FILENO);
    }
    if (const char* space = getenv("STORE_CLIENT_SPACE")) {
        // Limits the address space.
        const rlim_t most = std::strtoul(space, nullptr, 10);
        const rlimit limit = {most, most};
        if (setrlimit(RLIMIT_AS, &limit) != 0) fail("setrlimit");
        dup2(STDOUT_FILENO, STDERR_FILENO);
    }
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) fail("init");
    if (what == "life") return life(std::strtoul(words[3], nullptr, 10), words[4]);
    post(100);
    std::puts("ready");
    std::fflush(stdout);
    if (what == "reads") {
        pollfd word = {STDIN_FILENO, POLLIN, 0};
        for (;;) {
            char byte = 0;
            const bool asked = poll(&word, 1, 0) == 1 && ::read(STDIN_FILENO, &byte, 1) == 1;
            for (int i = 0; i < 20; ++i)
                look(100, true);
            if (!asked) continue;
            std::puts("still");
            std::fflush(stdout);
        }
    }
    char byte = 0;
    [[maybe_unused]] const ssize_t got = read(STDIN_FILENO, &byte, 1);  // its end: the server has gone
    for (int i = 0; i < 1000; ++i)
        look(100, true);
    std::ofstream(words[3]) << "went on" << std::endl;
    return 0;
}
