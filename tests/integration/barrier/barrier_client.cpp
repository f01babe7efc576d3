// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that fences. Arguments: a word, the size of the job, and a file of 4 KiB that all map,
// in which each process records its progress.
//   meet ROUNDS WAYS    fences; WAYS are letters, one of which is chosen at random for each round and rank:
//                       p plain, f collecting "false", t with a time limit, c collecting data,
//                       n non-blocking, o a non-blocking one followed by a plain one, w two threads at once
//   posts ROUNDS        posts, fences with or without data, and at once gets the data of the next rank
//   alone ROUNDS        fences once, says "ready", waits for a line, fences ROUNDS times, says "met",
//                       waits in a fence and prints its status
//   late                fences once, says "ready", and fences again when it gets a line
//   leaves              the same, but finalizes instead (PMIx_Finalize)
//   handles             waits in a fence while rank 1 sends it an event, and rank 1 waits for its delivery
//   ruins               fences once, says "ready", and writes random words into the page, until killed
//   visits              does nothing
#include <fcntl.h>
#include <pmix.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>

namespace {

pmix_proc_t self;
uint32_t job_size = 0;
std::atomic<uint32_t>* at = nullptr;  // of each rank
constexpr uint32_t kHeard = 1000;     // not one of a rank

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

[[noreturn]] void fail(const std::string& what) {
    say(what + " of " + std::string(self.nspace) + "." + std::to_string(self.rank));
    _exit(1);
}

void expect(const std::string& what, pmix_status_t status) {
    if (status != PMIX_SUCCESS) fail(what + ": " + PMIx_Error_string(status));
}

void wait_for_word() {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
    }
}

pmix_proc_t rank(pmix_rank_t number) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, self.nspace, number);
    return proc;
}

pmix_status_t fence_with(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, key, value, type);
    const pmix_status_t status = PMIx_Fence(nullptr, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return status;
}

struct Later {
    std::atomic<bool> done{false};
    pmix_status_t status = PMIX_SUCCESS;
    static void callback(pmix_status_t status, void* data) {
        auto* later = static_cast<Later*>(data);
        later->status = status;
        later->done = true;
    }
    void wait() const {
        while (!done)
            usleep(50);
        expect("non-blocking fence", status);
    }
};

/// Number of fences of this way; all ways of one round have the same number.
void fence(char way) {
    const pmix_proc_t all = rank(PMIX_RANK_WILDCARD);
    const bool yes = true, no = false;
    const int limit = 100;
    Later later;
    switch (way) {
        case 'p':
            return expect("fence", PMIx_Fence(&all, 1, nullptr, 0));
        case 'f':
            return expect("fence without data", fence_with(PMIX_COLLECT_DATA, &no, PMIX_BOOL));
        case 'c':
            return expect("fence with data", fence_with(PMIX_COLLECT_DATA, &yes, PMIX_BOOL));
        case 't':
            return expect("fence with a time limit", fence_with(PMIX_TIMEOUT, &limit, PMIX_INT));
        case 'n':
            expect("Fence_nb", PMIx_Fence_nb(nullptr, 0, nullptr, 0, Later::callback, &later));
            return later.wait();
        default:
            fail("unknown way");
    }
}

void expect_all(uint32_t round) {
    for (uint32_t number = 0; number < job_size; ++number) {
        if (at[number] < round)
            fail("rank " + std::to_string(number) + " is behind a fence that is over, number " +
                 std::to_string(round));
    }
}

void meet(uint32_t rounds, const std::string& ways) {
    std::mt19937 random(self.rank + 1);
    const std::string twice = "ow";
    for (uint32_t round = 1; round <= rounds; ++round) {
        // Occasionally two fences at once.
        const bool two = ways.find_first_of(twice) != std::string::npos && round % 5 == 0;
        char way = 0;
        do {
            way = ways[random() % ways.size()];
        } while ((twice.find(way) != std::string::npos) != two);
        if (random() % 30 == 0) usleep(random() % 300);
        at[self.rank] = round;
        Later later;
        if (way == 'o') {
            expect("Fence_nb", PMIx_Fence_nb(nullptr, 0, nullptr, 0, Later::callback, &later));
            fence('p');
            later.wait();
        } else if (way == 'w') {
            std::thread other([] { fence('p'); });
            fence(random() % 2 == 0 ? 'p' : 't');
            other.join();
        } else {
            fence(way);
        }
        expect_all(round);
    }
}

void posts(uint32_t rounds) {
    const pmix_proc_t next = rank((self.rank + 1) % job_size);
    const bool yes = true;
    pmix_info_t directives[2];
    PMIX_INFO_LOAD(&directives[0], PMIX_OPTIONAL, &yes, PMIX_BOOL);  // no request is sent
    PMIX_INFO_LOAD(&directives[1], PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
    for (uint32_t round = 1; round <= rounds; ++round) {
        pmix_value_t value;
        value.type = PMIX_UINT32;
        value.data.uint32 = round;
        const std::string key = "barrier." + std::to_string(round);
        for (int i = 0; i < 100; ++i)  // keep the server busy before the relevant request
            expect("put", PMIx_Put(PMIX_LOCAL, ("barrier.other." + std::to_string(i)).c_str(), &value));
        expect("put", PMIx_Put(PMIX_LOCAL, key.c_str(), &value));
        expect("put", PMIx_Put(PMIX_LOCAL, "barrier.round", &value));
        std::string much(round % 8 == 0 ? 400000 : 0, 'x');  // more than a socket takes at once
        pmix_value_t large;
        large.type = PMIX_BYTE_OBJECT;
        large.data.bo = {much.data(), much.size()};
        expect("put", PMIx_Put(PMIX_LOCAL, "barrier.much", &large));
        expect("commit", PMIx_Commit());
        fence(round % 2 == 0 ? 'p' : 'c');
        pmix_value_t* got = nullptr;
        expect("get", PMIx_Get(&next, key.c_str(), directives, 1, &got));
        PMIX_VALUE_RELEASE(got);
        expect("get", PMIx_Get(&next, "barrier.much", directives, 1, &got));
        if (got->data.bo.size != much.size()) fail("what was much");
        PMIX_VALUE_RELEASE(got);
        expect("get", PMIx_Get(&next, "barrier.round", &directives[1], 1, &got));
        if (got->data.uint32 != round) fail("an old value");
        PMIX_VALUE_RELEASE(got);
        fence('p');
    }
    PMIX_INFO_DESTRUCT(&directives[0]);
    PMIX_INFO_DESTRUCT(&directives[1]);
}

void heard(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
           pmix_event_notification_cbfunc_fn_t done, void* data) {
    at[kHeard] = 1;
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

void handles() {
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 5;
    if (self.rank == 0 && PMIx_Register_event_handler(&code, 1, nullptr, 0, heard, nullptr, nullptr) < 0)
        fail("handler");
    fence('p');
    if (self.rank == 1) {
        usleep(20000);  // so that the others usually wait already; both orders are valid
        expect("notify", PMIx_Notify_event(code, &self, PMIX_RANGE_NAMESPACE, nullptr, 0, nullptr, nullptr));
        while (at[kHeard] == 0)
            usleep(100);
    }
    fence('p');
}

/// Returns the mapping of the job's barrier, from /proc/self/maps.
void* meeting_place() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        if (line.find("memfd:pmix:barrier:") != std::string::npos)
            return reinterpret_cast<void*>(std::strtoull(line.c_str(), nullptr, 16));
    }
    return nullptr;
}

[[noreturn]] void ruins() {
    void* place = meeting_place();
    if (place == nullptr) fail("no memory");
    auto* words = static_cast<std::atomic<uint64_t>*>(place);
    std::mt19937_64 random(1);
    for (uint64_t i = 0;; ++i) {
        words[random() % 4 == 0 ? random() % 512 : 0] = random() % 8 == 0 ? random() : random() % 1000;
        if (i % 64 == 0) madvise(place, static_cast<size_t>(sysconf(_SC_PAGESIZE)), MADV_REMOVE);
        if (i % 16 == 0) usleep(100);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) return 2;
    const std::string what = words[1];
    job_size = static_cast<uint32_t>(std::strtoul(words[2], nullptr, 10));
    const int fd = open(words[3], O_RDWR | O_CLOEXEC);
    void* notes = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (notes == MAP_FAILED) return 2;
    at = static_cast<std::atomic<uint32_t>*>(notes);
    const auto number = static_cast<uint32_t>(count > 4 ? std::strtoul(words[4], nullptr, 10) : 0);
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) fail("init");
    if (what == "meet") meet(number, words[5]);
    if (what == "posts") posts(number);
    if (what == "handles") handles();
    if (what == "visits") usleep(30000);
    if (what == "alone" || what == "late" || what == "leaves" || what == "ruins") {
        fence('p');
        say("ready");
    }
    if (what == "ruins") ruins();
    if (what == "alone") {
        wait_for_word();
        for (uint32_t round = 0; round < number; ++round)
            fence('p');
        at[self.rank] = 1;
        say(PMIx_Error_string(PMIx_Fence(nullptr, 0, nullptr, 0)));
        at[self.rank] = 2;
    }
    if (what == "late" || what == "leaves") wait_for_word();
    if (what == "late") fence('p');
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}
