// SPDX-License-Identifier: BSD-3-Clause
// Events from one client to a handler of another on the same node. Public API only, and only functions that
// every libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/performance).
//
//   events [-n SINGLES] [-c COUNT]
//
// SINGLES events (500), each sent when the one before was handled: from before PMIx_Notify_event until the
// handler runs. Then COUNT events (5000) with no more than a few hundred unanswered. Prints one line: the
// median latency in microseconds, and microseconds until all were handled, per 1000 events.
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <system_error>

#include "bench/host.hpp"

namespace {

using namespace bench;

constexpr int kLimitMilliseconds = 60000;
constexpr int kOnTheWay = 200;
constexpr pmix_status_t kSingle = PMIX_EXTERNAL_ERR_BASE - 1;
constexpr pmix_status_t kStream = PMIX_EXTERNAL_ERR_BASE - 2;

struct Sizes {
    int singles = 500;
    int count = 5000;
};

/// A byte from the other process.
void await(int fd) {
    pollfd ready{fd, POLLIN, 0};
    char c = 0;
    if (poll(&ready, 1, kLimitMilliseconds) != 1 || read(fd, &c, 1) != 1)
        die("the other process", PMIX_ERR_TIMEOUT);
}
void tell(int fd) {
    if (write(fd, "x", 1) != 1) _exit(2);
}

// --- who hears

int to_sender = -1;
int wanted = 0;
std::vector<int64_t> latencies;  // of the library's thread until the last came

void on_event(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t info[], size_t count,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t complete, void* context) {
    const int64_t now = nanoseconds();
    static int came = 0;
    const bool answer = status == kSingle || ++came == wanted;
    for (size_t i = 0; status == kSingle && i < count; ++i) {
        if (strcmp(info[i].key, "bench.sent") == 0) latencies.push_back(now - info[i].value.data.int64);
    }
    if (complete != nullptr) complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
    if (answer) tell(to_sender);
}

int hear(const Sizes& sizes, int out, int in) {
    to_sender = out;
    wanted = sizes.count;
    latencies.reserve(static_cast<size_t>(sizes.singles));
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    for (pmix_status_t code : {kSingle, kStream}) {
        const pmix_status_t id =
            PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr);
        if (id < 0) die("PMIx_Register_event_handler", id);
    }
    tell(out);
    await(in);  // all have come
    const double latency = static_cast<double>(median(latencies)) / 1000;
    if (write(out, &latency, sizeof latency) != static_cast<ssize_t>(sizeof latency)) return 1;
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}

// --- who reports

std::atomic<int> answered{0};
void on_answer(pmix_status_t, void*) {
    ++answered;
}

void report(pmix_proc_t* self, pmix_status_t code) {
    // They stay as they are until the answer: there are more of them than events on the way.
    static std::array<std::array<pmix_info_t, 2>, 1024> kept;
    static size_t next = 0;
    auto& info = kept[next++ % kept.size()];
    const int64_t now = nanoseconds();
    const bool yes = true;
    check("PMIx_Info_load", PMIx_Info_load(&info[0], "bench.sent", &now, PMIX_INT64));
    check("PMIx_Info_load", PMIx_Info_load(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL));
    check("PMIx_Notify_event",
          PMIx_Notify_event(code, self, PMIX_RANGE_LOCAL, info.data(), info.size(), on_answer, nullptr));
}

int send(const Sizes& sizes, int out, int in) {
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    await(in);  // the handlers are there
    for (int i = 0; i < sizes.singles; ++i) {
        report(&self, kSingle);
        await(in);
    }
    const int before = sizes.singles;
    const int64_t begin = nanoseconds();
    for (int i = 0; i < sizes.count; ++i) {
        report(&self, kStream);
        while (before + i - answered > kOnTheWay)
            usleep(50);
    }
    await(in);
    const int64_t all = nanoseconds() - begin;
    tell(out);
    double latency = 0;
    if (read(in, &latency, sizeof latency) != static_cast<ssize_t>(sizeof latency)) return 1;
    printf("events event=%.1f events_thousand=%.1f\n", latency, static_cast<double>(all) / sizes.count);
    fflush(stdout);
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}

// --- the host

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_notify(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*, size_t,
                        pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

int host(const Sizes& sizes) {
    char directory[] = "/tmp/bench-events-XXXXXX";
    int forth[2], back[2];
    if (mkdtemp(directory) == nullptr || pipe2(forth, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) {
        perror("events");
        return 1;
    }
    static pmix_server_module_t module;
    module.client_connected = on_client;
    module.client_finalized = on_client;
    module.notify_event = on_notify;
    {
        List directives;
        directives.add(PMIX_SERVER_TMPDIR, directory, PMIX_STRING);
        pmix_data_array_t& array = directives.array();
        check("PMIx_server_init",
              PMIx_server_init(&module, static_cast<pmix_info_t*>(array.array), array.size));
    }
    const std::string nspace = "events-" + std::to_string(getpid());
    register_job(nspace.c_str(), {{own_hostname()}, {2}}, 0);
    std::vector<pid_t> children;
    for (pmix_rank_t rank = 0; rank < 2; ++rank) {
        const pmix_proc_t proc = proc_of(nspace.c_str(), rank);
        register_client(proc);
        const int out = rank == 0 ? forth[1] : back[1];
        const int in = rank == 0 ? back[0] : forth[0];
        children.push_back(
            start(proc,
                  {"events", "-n", std::to_string(sizes.singles), "-c", std::to_string(sizes.count),
                   rank == 0 ? "--send" : "--hear", std::to_string(out), std::to_string(in)},
                  {out, in}));
    }
    for (const int fd : {forth[0], forth[1], back[0], back[1]})
        close(fd);
    bool good = true;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    check("PMIx_server_finalize", PMIx_server_finalize());
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    program = "events";
    Sizes sizes;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (option.starts_with("--") && i + 2 < argc) {
            const int out = atoi(argv[i + 1]), in = atoi(argv[i + 2]);
            return option == "--send" ? send(sizes, out, in) : hear(sizes, out, in);
        }
        const long number = i + 1 < argc ? strtol(argv[i + 1], nullptr, 10) : 0;
        if (option == "-n" && number > 0) {
            sizes.singles = static_cast<int>(number);
        } else if (option == "-c" && number > 0) {
            sizes.count = static_cast<int>(number);
        } else {
            fprintf(stderr, "usage: events [-n SINGLES] [-c COUNT]\n");
            return 2;
        }
    }
    return host(sizes);
}
