// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output: a host delivers pieces of output, and a client that pulled them counts. Public API only,
// and only functions that every libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx
// (bench/compare -p forwarding).
//
//   forwarding [-n BYTES] [-c COUNT] [-w WINDOW] [-b] [-s]
//
// COUNT pieces of BYTES bytes are delivered without waiting for each, at most WINDOW (400) at a time on the
// way, or with -b by blocking calls; with -s the host shows them on its stdout, a pipe, and its reader
// counts; then single pieces with the reader's sight of each one awaited. Prints one line: microseconds from
// the first delivery until the reader has all, per 1000 pieces, the latency of one piece, and the megabytes a
// second.
#include <fcntl.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

extern char** environ;

namespace {

constexpr int kLimitSeconds = 120;
constexpr int kSingles = 200;
const char* const kJob = "bench-forwarding";
const char* const kSource = "bench-source";

int64_t now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

[[noreturn]] void die(const char* what, pmix_status_t status) {
    fprintf(stderr, "forwarding: %s: %s\n", what, PMIx_Error_string(status));
    _exit(1);
}

void check(const char* what, pmix_status_t status) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) die(what, status);
}

pmix_proc_t name(const char* nspace, pmix_rank_t rank) {
    pmix_proc_t proc{};
    snprintf(proc.nspace, sizeof proc.nspace, "%s", nspace);
    proc.rank = rank;
    return proc;
}

// --- the reader: writes a byte to the host for each mark that it has passed

std::atomic<uint64_t> got{0};
std::atomic<uint64_t> all_bytes{0};

int to_host = 1;

void on_output(size_t, pmix_iof_channel_t, pmix_proc_t*, pmix_byte_object_t* payload, pmix_info_t*, size_t) {
    const uint64_t before = got.fetch_add(payload->size);
    const uint64_t all = all_bytes;
    if ((before < all && before + payload->size >= all) || before >= all) {
        if (write(to_host, "x", 1) != 1) _exit(2);
    }
}

std::atomic<int> registered{1};
void on_registered(pmix_status_t status, size_t, void*) {
    registered = status;
}

int reader(uint64_t bytes) {
    all_bytes = bytes;
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    const pmix_proc_t source = name(kSource, PMIX_RANK_WILDCARD);
    const pmix_status_t status =
        PMIx_IOF_pull(&source, 1, nullptr, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_registered, nullptr);
    check("PMIx_IOF_pull", status);
    while (registered == 1)
        usleep(100);
    check("registration", registered);
    if (write(to_host, "r", 1) != 1) return 2;
    char c = 0;
    while (read(0, &c, 1) == 1) {
    }
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 3;
}

// --- the host

pmix_status_t on_connect(const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t done, void* data) {
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}
pmix_status_t on_finalize(const pmix_proc_t*, void*, pmix_op_cbfunc_t done, void* data) {
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}
pmix_status_t on_pull(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_iof_channel_t,
                      pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

struct Flow {
    std::mutex lock;  // guards done
    std::condition_variable changed;
    size_t done = 0;
};
void on_done(pmix_status_t, void* data) {
    auto* flow = static_cast<Flow*>(data);
    const std::lock_guard guard(flow->lock);
    ++flow->done;
    flow->changed.notify_all();
}

void wait_for(Flow& flow, size_t count) {
    std::unique_lock guard(flow.lock);
    if (!flow.changed.wait_for(guard, std::chrono::seconds(kLimitSeconds),
                               [&] { return flow.done >= count; }))
        die("the library kept what was delivered", PMIX_ERR_TIMEOUT);
}

void await(int fd) {
    pollfd ready{fd, POLLIN, 0};
    char c = 0;
    if (poll(&ready, 1, kLimitSeconds * 1000) != 1 || read(fd, &c, 1) != 1)
        die("the reader did not get all", PMIX_ERR_TIMEOUT);
}

/// A job of one process here; with all that OpenPMIx's clients look for.
void register_job(const char* job) {
    char hostname[256] = "localhost";
    gethostname(hostname, sizeof hostname - 1);
    char* nodes = nullptr;
    char* procs = nullptr;
    check("PMIx_generate_regex", PMIx_generate_regex(hostname, &nodes));
    check("PMIx_generate_ppn", PMIx_generate_ppn("0", &procs));
    const uint32_t one = 1, zero = 0;
    const uint16_t first = 0;
    const pmix_rank_t rank = 0;
    pmix_info_t of_rank[5]{};
    PMIx_Info_load(&of_rank[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIx_Info_load(&of_rank[1], PMIX_LOCAL_RANK, &first, PMIX_UINT16);
    PMIx_Info_load(&of_rank[2], PMIX_NODE_RANK, &first, PMIX_UINT16);
    PMIx_Info_load(&of_rank[3], PMIX_NODEID, &zero, PMIX_UINT32);
    PMIx_Info_load(&of_rank[4], PMIX_HOSTNAME, hostname, PMIX_STRING);
    pmix_data_array_t array{PMIX_INFO, 5, of_rank};
    pmix_info_t info[9]{};
    size_t n = 0;
    for (const char* key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_NUM_NODES, PMIX_LOCAL_SIZE})
        PMIx_Info_load(&info[n++], key, &one, PMIX_UINT32);
    PMIx_Info_load(&info[n++], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIx_Info_load(&info[n++], PMIX_PROC_MAP, procs, PMIX_REGEX);
    PMIx_Info_load(&info[n++], PMIX_LOCAL_PEERS, "0", PMIX_STRING);
    PMIx_Info_load(&info[n++], PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    check("PMIx_server_register_nspace", PMIx_server_register_nspace(job, 1, info, n, nullptr, nullptr));
    free(nodes);
    free(procs);
}

struct Delivery {
    size_t bytes = 64;
    size_t count = 0;
    size_t window = 400;
    bool blocking = false;
    bool shown = false;  ///< on the host's stdout, instead of by a client
};

/// The reader of a pipe: what passes counts as on_output() does.
[[noreturn]] void read_shown(int from) {
    static char room[1 << 16];
    for (;;) {
        const ssize_t size = read(from, room, sizeof room);
        if (size <= 0) _exit(size == 0 ? 0 : 1);
        pmix_byte_object_t payload{room, static_cast<size_t>(size)};
        on_output(0, 0, nullptr, &payload, nullptr, 0);
    }
}

/// The reader of this process's stdout, which is a pipe from now on.
pid_t start_shown(const Delivery& wanted, const int (&up)[2], const int (&down)[2]) {
    int shown[2];
    if (pipe2(shown, O_CLOEXEC) != 0) die("pipe2", PMIX_ERROR);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        close(down[1]);
        close(shown[1]);
        to_host = up[1];
        all_bytes = static_cast<uint64_t>(wanted.bytes) * wanted.count;
        if (write(to_host, "r", 1) != 1) _exit(2);
        read_shown(shown[0]);
    }
    dup2(shown[1], 1);
    close(shown[0]);
    close(shown[1]);
    return pid;
}

/// A client that pulls the output.
pid_t start_client(const char* program, const pmix_proc_t& client, const Delivery& wanted, const int (&up)[2],
                   const int (&down)[2]) {
    size_t variables = 0;
    while (environ[variables] != nullptr)
        ++variables;
    auto** env = static_cast<char**>(calloc(variables + 1, sizeof(char*)));
    for (size_t i = 0; i < variables; ++i)
        env[i] = strdup(environ[i]);
    check("PMIx_server_setup_fork", PMIx_server_setup_fork(&client, &env));
    const std::string size_text = std::to_string(static_cast<uint64_t>(wanted.bytes) * wanted.count);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        execle(program, program, "-R", size_text.c_str(), nullptr, env);
        _exit(127);
    }
    return pid;
}

int host(const char* program, const Delivery& wanted) {
    const size_t bytes = wanted.bytes, count = wanted.count, window = wanted.window;
    const bool blocking = wanted.blocking;
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) return 1;
    const int own_stdout = dup(1);
    pid_t pid = wanted.shown ? start_shown(wanted, up, down) : -1;
    static pmix_server_module_t module;
    module.client_connected2 = on_connect;
    module.client_finalized = on_finalize;
    module.iof_pull = on_pull;
    pmix_info_t shown{};
    PMIx_Info_load(&shown, PMIX_IOF_LOCAL_OUTPUT, &wanted.shown, PMIX_BOOL);
    check("PMIx_server_init", PMIx_server_init(&module, &shown, 1));
    for (const char* job : {kJob, kSource})
        register_job(job);
    const pmix_proc_t client = name(kJob, 0);
    check("PMIx_server_register_client",
          PMIx_server_register_client(&client, geteuid(), getegid(), nullptr, nullptr, nullptr));
    if (!wanted.shown) pid = start_client(program, client, wanted, up, down);
    close(up[1]);
    close(down[0]);
    await(up[0]);

    const pmix_proc_t source = name(kSource, 0);
    std::string text(bytes, 'x');
    for (size_t i = 79; i < bytes; i += 80)
        text[i] = '\n';
    text.back() = '\n';
    const pmix_byte_object_t piece{text.data(), text.size()};
    Flow flow;
    const int64_t begin = now();
    for (size_t i = 0; i < count; ++i) {
        check("PMIx_server_IOF_deliver",
              PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &piece, nullptr, 0,
                                      blocking ? nullptr : on_done, &flow));
        if (!blocking && i >= window && i % (1 + window / 6) == 0) wait_for(flow, i - window);
    }
    await(up[0]);
    const int64_t stream = now() - begin;
    const size_t before = blocking ? 0 : count;
    wait_for(flow, before);
    std::vector<int64_t> singles;
    for (int i = 0; i < kSingles; ++i) {
        const int64_t sent = now();
        check("PMIx_server_IOF_deliver",
              PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &piece, nullptr, 0, on_done, &flow));
        await(up[0]);
        singles.push_back(now() - sent);
    }
    std::sort(singles.begin(), singles.end());
    close(down[1]);
    int status = 0;
    if (!wanted.shown) waitpid(pid, &status, 0);
    PMIx_server_finalize();
    dup2(own_stdout, 1);
    if (wanted.shown) waitpid(pid, &status, 0);
    printf("forwarding %zu thousand=%.1f latency=%lld mbps=%.0f\n", bytes,
           static_cast<double>(stream) * 1000 / static_cast<double>(count),
           static_cast<long long>(singles[singles.size() / 2]),
           static_cast<double>(bytes) * static_cast<double>(count) / static_cast<double>(stream));
    fflush(stdout);
    return status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Delivery wanted;
    for (int option = 0; (option = getopt(argc, argv, "n:c:w:bsR:")) != -1;) {
        const size_t value = optarg == nullptr ? 0 : strtoull(optarg, nullptr, 10);
        if (option == 'R') return reader(value);
        if (option == 'n') wanted.bytes = value;
        if (option == 'c') wanted.count = value;
        if (option == 'w') wanted.window = value;
        if (option == 'b') wanted.blocking = true;
        if (option == 's') wanted.shown = true;
    }
    if (wanted.bytes == 0 || wanted.window == 0) return 2;
    if (wanted.count == 0)
        wanted.count = std::max<size_t>(std::min<size_t>(20000, 500000000 / wanted.bytes),
                                        200000 / (1 + wanted.bytes / 512));
    return host("/proc/self/exe", wanted);
}
