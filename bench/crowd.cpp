// SPDX-License-Identifier: BSD-3-Clause
// Many processes of one node under a host that answers from a thread of its own. Public API only, and only
// functions that every libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx
// (bench/performance).
//
//   crowd group  [-n PROCESSES] [-r ROUNDS]
//   crowd fence  [-n PROCESSES] [-r ROUNDS] [-b BYTES] [-k KEYS]
//   crowd events [-n LISTENERS] [-r ROUNDS] [-c BURST] [-g 1]
//
// group: all processes construct a group with a context id and destruct it, ROUNDS times (20). Prints the
// median and the 99th percentile of single calls of PMIx_Group_construct, those of the first round included.
//
// fence: each process puts KEYS values (4) of BYTES bytes (256) and commits, then fences with data, ROUNDS
// times (5), each time with other keys. Prints the fence of the slowest process from its own call on, and put
// and commit of the slowest process: medians of the rounds.
//
// events: one process reports ROUNDS events (200) to the handlers of LISTENERS others, each when all have
// handled the one before; then as many with the blocking form of PMIx_Notify_event; then BURST events (1000)
// at once. Prints medians: the call with a callback until it returns (notify) and until it calls back
// (taken), the blocking call (block), from the call until a handler runs (handled) and until the last one
// does (last); and the events of the burst, each of which all listeners handle, per second (burst), and as
// the time for 1000 of them. The range is local, with -g 1 global.
//
// All times are microseconds.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>

#include "bench/answering.hpp"
#include "bench/host.hpp"

namespace {

using namespace bench;

constexpr int kLimitSeconds = 100;
constexpr pmix_status_t kSingle = PMIX_EXTERNAL_ERR_BASE - 1;
constexpr pmix_status_t kStream = PMIX_EXTERNAL_ERR_BASE - 2;

struct Sizes {
    std::string kind;
    uint32_t processes = 64;
    int rounds = 20;
    size_t bytes = 256;
    int keys = 4;
    int burst = 1000;
    bool global = false;
};

/// Memory of all processes: counts, and a row of samples for each process.
struct Shared {
    std::atomic<uint32_t> there;    ///< listeners whose handlers are registered
    std::atomic<uint32_t> handled;  ///< by all listeners together
    std::atomic<uint32_t> over;
    int64_t samples[1];

    static size_t size(const Sizes& sizes) {
        return sizeof(Shared) +
               3 * sizeof(int64_t) * (sizes.processes + 1) * static_cast<size_t>(sizes.rounds);
    }
    int64_t* row(const Sizes& sizes, uint32_t rank, size_t which = 0) {
        return samples + (which * (sizes.processes + 1) + rank) * static_cast<size_t>(sizes.rounds);
    }
};

Shared& map(int fd, const Sizes& sizes) {
    void* at = mmap(nullptr, Shared::size(sizes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) die("mmap", PMIX_ERR_NOMEM);
    return *static_cast<Shared*>(at);
}

/// Sleeps until the count has reached `wanted`.
void await(std::atomic<uint32_t>& count, uint32_t wanted) {
    for (uint32_t now = count; now < wanted; now = count)
        syscall(SYS_futex, &count, FUTEX_WAIT, now, nullptr, nullptr, 0);
}
void wake(std::atomic<uint32_t>& count) {
    syscall(SYS_futex, &count, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

double microseconds_of(int64_t value) {
    return static_cast<double>(value) / 1000;
}

// --- group and fence ---

void construct_groups(const Sizes& sizes, const pmix_proc_t& self, int64_t* samples) {
    std::vector<pmix_proc_t> members(sizes.processes, self);
    for (uint32_t rank = 0; rank < sizes.processes; ++rank)
        members[rank].rank = rank;
    const pmix_info_t wanted = flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    for (int i = 0; i < sizes.rounds; ++i) {
        const std::string name = "crowd-" + std::to_string(i);
        pmix_info_t* results = nullptr;
        size_t count = 0;
        const int64_t begin = nanoseconds();
        check("PMIx_Group_construct", PMIx_Group_construct(name.c_str(), members.data(), members.size(),
                                                           &wanted, 1, &results, &count));
        samples[i] = nanoseconds() - begin;
        for (size_t k = 0; k < count; ++k)
            PMIx_Value_destruct(&results[k].value);
        free(results);
        check("PMIx_Group_destruct", PMIx_Group_destruct(name.c_str(), nullptr, 0));
    }
}

void fence_often(const Sizes& sizes, const pmix_proc_t& all, int64_t* fences, int64_t* commits) {
    std::string data(sizes.bytes, 'x');
    pmix_value_t value = bytes_value(data);
    const pmix_info_t collect = flag(PMIX_COLLECT_DATA);
    for (int i = 0; i < sizes.rounds; ++i) {
        check("PMIx_Fence", PMIx_Fence(&all, 1, nullptr, 0));
        const int64_t begin = nanoseconds();
        for (int k = 0; k < sizes.keys; ++k) {
            const std::string key = "crowd." + std::to_string(i) + "." + std::to_string(k);
            check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, key.c_str(), &value));
        }
        check("PMIx_Commit", PMIx_Commit());
        const int64_t committed = nanoseconds();
        check("PMIx_Fence", PMIx_Fence(&all, 1, &collect, 1));
        fences[i] = nanoseconds() - committed;
        commits[i] = committed - begin;
    }
}

// --- events ---

Shared* shared = nullptr;
int64_t* latencies = nullptr;
uint32_t handled_singles = 0, handled_at_end = 0;  // the first by this listener, the other by each

void on_event(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t info[], size_t count,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t complete, void* context) {
    const int64_t now = nanoseconds();
    for (size_t i = 0; status == kSingle && i < count; ++i) {
        if (strcmp(info[i].key, "bench.sent") == 0)
            latencies[handled_singles++] = now - info[i].value.data.int64;
    }
    if (complete != nullptr) complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
    // The reporter is woken by the last one of an event, and of the burst.
    const uint32_t all = ++shared->handled, listeners = shared->there;
    if (all == listeners * handled_singles || all == listeners * handled_at_end) wake(shared->handled);
}

void listen() {
    for (pmix_status_t code : {kSingle, kStream}) {
        const pmix_status_t id =
            PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr);
        if (id < 0) die("PMIx_Register_event_handler", id);
    }
    ++shared->there;
    wake(shared->there);
    await(shared->over, 1);
}

/// An event that stays as it is until it was answered.
struct Sent {
    pmix_info_t info[2];
    std::atomic<int64_t> answered{0};

    static void on_answer(pmix_status_t status, void* self) {
        check("the answer of PMIx_Notify_event", status);
        static_cast<Sent*>(self)->answered = nanoseconds();
    }
    pmix_status_t report(const pmix_proc_t& self, pmix_status_t code, pmix_data_range_t range, bool block) {
        memset(info, 0, sizeof info);
        const bool yes = true;
        const int64_t now = nanoseconds();
        check("PMIx_Info_load", PMIx_Info_load(&info[0], "bench.sent", &now, PMIX_INT64));
        check("PMIx_Info_load", PMIx_Info_load(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL));
        return PMIx_Notify_event(code, &self, range, info, 2, block ? nullptr : on_answer, this);
    }
};

void report_events(const Sizes& sizes, const pmix_proc_t& self) {
    const uint32_t listeners = sizes.processes;
    const pmix_data_range_t range = sizes.global ? PMIX_RANGE_GLOBAL : PMIX_RANGE_LOCAL;
    await(shared->there, listeners);
    std::vector<int64_t> calls, taken, blocking, last;
    std::vector<Sent> sent(static_cast<size_t>(std::max(2 * sizes.rounds, sizes.burst)));
    uint32_t handled = 0;
    for (int i = 0; i < sizes.rounds; ++i) {
        const bool block = i % 2 == 1;
        Sent& one = sent[static_cast<size_t>(i)];
        const int64_t begin = nanoseconds();
        const pmix_status_t status = one.report(self, kSingle, range, block);
        const int64_t end = nanoseconds();
        if (status != PMIX_OPERATION_SUCCEEDED) check("PMIx_Notify_event", status);
        (block ? blocking : calls).push_back(end - begin);
        handled += listeners;
        await(shared->handled, handled);
        last.push_back(nanoseconds() - begin);
        while (!block && one.answered == 0)
            usleep(10);
        if (!block) taken.push_back(one.answered - begin);
    }
    const int64_t begin = nanoseconds();
    for (int i = 0; i < sizes.burst; ++i) {
        sent[static_cast<size_t>(i)].answered = 0;
        const pmix_status_t status = sent[static_cast<size_t>(i)].report(self, kStream, range, false);
        if (status != PMIX_OPERATION_SUCCEEDED) check("PMIx_Notify_event", status);
    }
    const int64_t called = nanoseconds() - begin;
    handled += listeners * static_cast<uint32_t>(sizes.burst);
    await(shared->handled, handled);
    const int64_t all = nanoseconds() - begin;
    for (int i = 0; i < sizes.burst; ++i) {
        while (sent[static_cast<size_t>(i)].answered == 0)
            usleep(100);
    }
    shared->over = 1;
    wake(shared->over);
    std::vector<int64_t> latency;
    for (uint32_t rank = 1; rank <= listeners; ++rank) {
        const int64_t* row = shared->row(sizes, rank);
        latency.insert(latency.end(), row, row + sizes.rounds);
    }
    printf(
        "crowd-events n=%u notify=%.1f taken=%.1f block=%.1f handled=%.1f last=%.1f burst_calls=%.0f "
        "burst_thousand=%.0f burst=%.0f\n",
        listeners, microseconds_of(median(calls)), microseconds_of(median(taken)),
        microseconds_of(median(blocking)), microseconds_of(median(latency)), microseconds_of(median(last)),
        microseconds_of(called) * 1000 / sizes.burst, microseconds_of(all) * 1000 / sizes.burst,
        1e9 * sizes.burst / static_cast<double>(all));
    fflush(stdout);
}

int client(const Sizes& sizes, int fd) {
    shared = &map(fd, sizes);
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    latencies = shared->row(sizes, self.rank);
    handled_at_end = static_cast<uint32_t>(sizes.rounds + sizes.burst);
    if (sizes.kind == "events") {
        self.rank == 0 ? report_events(sizes, self) : listen();
    } else {
        check("PMIx_Fence", PMIx_Fence(&all, 1, nullptr, 0));
        if (sizes.kind == "group") {
            construct_groups(sizes, self, latencies);
        } else {
            fence_often(sizes, all, latencies, shared->row(sizes, self.rank, 1));
        }
    }
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}

// --- the host ---

Answering* answering = nullptr;

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_notify(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*, size_t,
                        pmix_op_cbfunc_t answer, void* context) {
    answering->enqueue([=] { answer(PMIX_SUCCESS, context); });
    return PMIX_SUCCESS;
}

// One node: what its own processes brought is all there is. The data is the host's, to be freed by it.
pmix_status_t on_fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t size,
                       pmix_modex_cbfunc_t answer, void* context) {
    answering->enqueue([=] { answer(PMIX_SUCCESS, data, size, context, free, data); });
    return PMIX_SUCCESS;
}

pmix_status_t on_group(pmix_group_operation_t operation, char*, const pmix_proc_t* procs, size_t count,
                       const pmix_info_t*, size_t, pmix_info_cbfunc_t answer, void* context) {
    answering->enqueue(
        [operation, members = std::vector<pmix_proc_t>(procs, procs + count), answer, context] {
            answer_group(operation, members.data(), members.size(), answer, context);
        });
    return PMIX_SUCCESS;
}

/// Whether all processes have ended well.
bool run(const Sizes& sizes, const std::string& nspace, int fd) {
    const uint32_t count = sizes.processes + (sizes.kind == "events" ? 1 : 0);
    register_job(nspace.c_str(), {{own_hostname()}, {count}}, 0);
    for (uint32_t rank = 0; rank < count; ++rank)
        register_client(proc_of(nspace.c_str(), rank));
    std::vector<std::string> words{"crowd",    sizes.kind,
                                   "-n",       std::to_string(sizes.processes),
                                   "-r",       std::to_string(sizes.rounds),
                                   "-b",       std::to_string(sizes.bytes),
                                   "-k",       std::to_string(sizes.keys),
                                   "-c",       std::to_string(sizes.burst),
                                   "--client", std::to_string(fd)};
    if (sizes.global) words.insert(words.end(), {"-g", "1"});
    std::vector<pid_t> children;
    for (uint32_t rank = 0; rank < count; ++rank)
        children.push_back(start(proc_of(nspace.c_str(), rank), words, {fd}));
    bool good = true;
    for (size_t i = 0; i < children.size(); ++i) {
        int status = 0;
        waitpid(-1, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        for (const pid_t child : good ? children : std::vector<pid_t>())
            kill(child, SIGKILL);
        good = false;
    }
    return good;
}

void print_fences(const Sizes& sizes, Shared& memory) {
    const auto slowest = [&](size_t which) {
        std::vector<int64_t> rounds(static_cast<size_t>(sizes.rounds));
        for (size_t i = 0; i < rounds.size(); ++i)
            for (uint32_t rank = 0; rank < sizes.processes; ++rank)
                rounds[i] = std::max(rounds[i], memory.row(sizes, rank, which)[i]);
        return microseconds_of(median(rounds));
    };
    printf("crowd-fence n=%u fence_alone=%.0f commit=%.0f\n", sizes.processes, slowest(0), slowest(1));
}

void print_groups(const Sizes& sizes, Shared& memory) {
    const int64_t* first = memory.row(sizes, 0);
    std::vector<int64_t> all(first, first + sizes.processes * static_cast<size_t>(sizes.rounds));
    std::sort(all.begin(), all.end());
    printf("crowd-group n=%u construct=%.0f construct_p99=%.0f\n", sizes.processes,
           microseconds_of(all[all.size() / 2]), microseconds_of(all[all.size() * 99 / 100]));
}

void init_server() {
    static pmix_server_module_t module;
    module.client_connected = on_client;
    module.client_finalized = on_client;
    module.fence_nb = on_fence;
    module.group = on_group;
    module.notify_event = on_notify;
    check("PMIx_server_init", PMIx_server_init(&module, nullptr, 0));
}

int host(const Sizes& sizes) {
    const int fd = memfd_create("bench-crowd", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(Shared::size(sizes))) != 0) {
        perror("crowd");
        return 1;
    }
    bool good = true;
    alarm(kLimitSeconds);
    {
        Answering thread;
        answering = &thread;
        init_server();
        good = run(sizes, "crowd-" + std::to_string(getpid()), fd);
        if (good && sizes.kind == "group") print_groups(sizes, map(fd, sizes));
        if (good && sizes.kind == "fence") print_fences(sizes, map(fd, sizes));
        fflush(stdout);
        check("PMIx_server_finalize", PMIx_server_finalize());
    }
    if (!good) fprintf(stderr, "crowd: a process failed\n");
    return good ? 0 : 1;
}

int usage() {
    fprintf(stderr,
            "usage: crowd group|fence|events [-n PROCESSES] [-r ROUNDS] [-b BYTES] [-k KEYS] [-c BURST] [-g "
            "1]\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    program = "crowd";
    Sizes sizes;
    if (argc < 2) return usage();
    sizes.kind = argv[1];
    if (sizes.kind != "group" && sizes.kind != "fence" && sizes.kind != "events") return usage();
    if (sizes.kind == "fence") sizes.rounds = 5;
    if (sizes.kind == "events") sizes.rounds = 200;
    int fd = -1;
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        const long number = strtol(argv[i + 1], nullptr, 10);
        if (option == "--client") {
            fd = static_cast<int>(number);
        } else if (number <= 0) {
            return usage();
        } else if (option == "-n") {
            sizes.processes = static_cast<uint32_t>(number);
        } else if (option == "-r") {
            sizes.rounds = static_cast<int>(number);
        } else if (option == "-b") {
            sizes.bytes = static_cast<size_t>(number);
        } else if (option == "-k") {
            sizes.keys = static_cast<int>(number);
        } else if (option == "-g") {
            sizes.global = true;
        } else if (option == "-c") {
            sizes.burst = static_cast<int>(number);
        } else {
            return usage();
        }
    }
    return fd >= 0 ? client(sizes, fd) : host(sizes);
}
