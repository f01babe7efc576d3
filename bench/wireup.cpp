// SPDX-License-Identifier: BSD-3-Clause
// Wire-up of a job on one node: host and clients in one program, public API only, and only functions that
// every libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/compare).
//
//   wireup [-n CLIENTS] [-r ROUNDS] [-b BYTES] [-k KEYS] [-g GROUPS]
//
// In each round a server starts CLIENTS processes; each one calls PMIx_Init, puts KEYS values of BYTES bytes,
// commits, fences with collection of data, gets every key of every process, constructs and destructs GROUPS
// groups (0) of all processes, one after the other, and finalizes. Prints one line a round, in microseconds:
// the slowest process of each step (of one group), the whole job as the host sees it, and the processor time
// of the host and of all clients.
#include <fcntl.h>
#include <pmix.h>
#include <pmix_server.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

constexpr std::array<const char*, 7> kSteps{"init", "put", "fence", "get", "group", "ungroup", "finalize"};
constexpr int kLimitSeconds = 120;

struct Times {
    std::array<int64_t, kSteps.size()> step{};
};

int64_t now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

[[noreturn]] void die(const char* what, pmix_status_t status) {
    fprintf(stderr, "wireup: %s: %s\n", what, PMIx_Error_string(status));
    _exit(1);
}

void check(const char* what, pmix_status_t status) {
    if (status != PMIX_SUCCESS) die(what, status);
}

struct Sizes {
    uint32_t clients = 16;
    int rounds = 5;
    size_t bytes = 64;
    int keys = 1;
    int groups = 0;
};

// --- the client ---

int client(const Sizes& sizes, int report) {
    Times times;
    pmix_proc_t self;
    int64_t begin = now();
    const auto lap = [&](size_t step) {
        const int64_t end = now();
        times.step[step] = end - begin;
        begin = end;
    };
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    lap(0);

    std::string data(sizes.bytes, 'x');
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = data.data();
    value.data.bo.size = data.size();
    for (int k = 0; k < sizes.keys; ++k) {
        check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, ("bench." + std::to_string(k)).c_str(), &value));
    }
    check("PMIx_Commit", PMIx_Commit());
    lap(1);

    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_info_t collect;
    memset(&collect, 0, sizeof collect);
    bool yes = true;
    check("PMIx_Info_load", PMIx_Info_load(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL));
    check("PMIx_Fence", PMIx_Fence(&all, 1, &collect, 1));
    lap(2);

    for (uint32_t rank = 0; rank < sizes.clients; ++rank) {
        pmix_proc_t other = self;
        other.rank = rank;
        for (int k = 0; k < sizes.keys; ++k) {
            pmix_value_t* got = nullptr;
            check("PMIx_Get", PMIx_Get(&other, ("bench." + std::to_string(k)).c_str(), nullptr, 0, &got));
            if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != sizes.bytes)
                die("what was got", PMIX_ERR_BAD_PARAM);
            PMIx_Value_destruct(got);
            free(got);
        }
    }
    lap(3);
    std::vector<pmix_proc_t> members(sizes.clients, self);
    for (uint32_t rank = 0; rank < sizes.clients; ++rank)
        members[rank].rank = rank;
    for (int g = 0; g < sizes.groups; ++g) {
        pmix_info_t* results = nullptr;
        size_t count = 0;
        check("PMIx_Group_construct",
              PMIx_Group_construct(("bench-" + std::to_string(g)).c_str(), members.data(), members.size(),
                                   nullptr, 0, &results, &count));
        for (size_t i = 0; i < count; ++i)
            PMIx_Value_destruct(&results[i].value);
        free(results);
    }
    lap(4);
    for (int g = 0; g < sizes.groups; ++g)
        check("PMIx_Group_destruct", PMIx_Group_destruct(("bench-" + std::to_string(g)).c_str(), nullptr, 0));
    lap(5);
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    lap(6);
    return write(report, &times, sizeof times) == static_cast<ssize_t>(sizeof times) ? 0 : 1;
}

// --- the host ---

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

// One node: what its own processes brought is all there is. The data is the host's, to be freed by it.
pmix_status_t on_fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t size,
                       pmix_modex_cbfunc_t answer, void* context) {
    answer(PMIX_SUCCESS, data, size, context, free, data);
    return PMIX_SUCCESS;
}

// All members are here: there is nobody else to ask.
pmix_status_t on_group(pmix_group_operation_t, char*, const pmix_proc_t*, size_t, const pmix_info_t*, size_t,
                       pmix_info_cbfunc_t answer, void* context) {
    answer(PMIX_SUCCESS, nullptr, 0, context, nullptr, nullptr);
    return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t, void*) {
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t on_abort(const pmix_proc_t*, void*, int, const char*, pmix_proc_t*, size_t, pmix_op_cbfunc_t,
                       void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

/// Waits for the answer to one call of the host.
class Answer {
  public:
    static void arrived(pmix_status_t status, void* self) {
        auto* answer = static_cast<Answer*>(self);
        std::lock_guard lock(answer->lock_);
        answer->status_ = status;
        answer->there_ = true;
        answer->signal_.notify_all();
    }
    void wait(const char* what, pmix_status_t returned) {
        if (returned == PMIX_OPERATION_SUCCEEDED) return;
        check(what, returned);
        std::unique_lock lock(lock_);
        signal_.wait(lock, [this] { return there_; });
        check(what, status_);
    }

  private:
    std::mutex lock_;
    std::condition_variable signal_;
    pmix_status_t status_ = PMIX_SUCCESS;
    bool there_ = false;
};

/// A list of infos that becomes an array.
class List {
  public:
    ~List() {
        if (array_.array != nullptr) PMIx_Data_array_destruct(&array_);
        PMIx_Info_list_release(list_);
    }
    void add(const char* key, const void* value, pmix_data_type_t type) {
        check(key, PMIx_Info_list_add(list_, key, value, type));
    }
    pmix_data_array_t& array() {
        check("PMIx_Info_list_convert", PMIx_Info_list_convert(list_, &array_));
        return array_;
    }

  private:
    void* list_ = PMIx_Info_list_start();
    pmix_data_array_t array_ = {};
};

void register_job(const pmix_nspace_t nspace, const Sizes& sizes) {
    char hostname[256] = "localhost";
    gethostname(hostname, sizeof hostname - 1);
    std::string ranks;
    for (uint32_t rank = 0; rank < sizes.clients; ++rank)
        ranks += (rank > 0 ? "," : "") + std::to_string(rank);
    char *nodes = nullptr, *procs = nullptr;
    check("PMIx_generate_regex", PMIx_generate_regex(hostname, &nodes));
    check("PMIx_generate_ppn", PMIx_generate_ppn(ranks.c_str(), &procs));

    List job;
    const uint32_t one = 1;
    const uint32_t zero = 0;
    job.add(PMIX_UNIV_SIZE, &sizes.clients, PMIX_UINT32);
    job.add(PMIX_JOB_SIZE, &sizes.clients, PMIX_UINT32);
    job.add(PMIX_MAX_PROCS, &sizes.clients, PMIX_UINT32);
    job.add(PMIX_NUM_NODES, &one, PMIX_UINT32);
    job.add(PMIX_NODE_MAP, nodes, PMIX_REGEX);
    job.add(PMIX_PROC_MAP, procs, PMIX_REGEX);
    job.add(PMIX_LOCAL_SIZE, &sizes.clients, PMIX_UINT32);
    job.add(PMIX_LOCAL_PEERS, ranks.c_str(), PMIX_STRING);
    for (uint32_t rank = 0; rank < sizes.clients; ++rank) {
        List proc;
        const auto local = static_cast<uint16_t>(rank);
        const pmix_rank_t name = rank;
        proc.add(PMIX_RANK, &name, PMIX_PROC_RANK);
        proc.add(PMIX_LOCAL_RANK, &local, PMIX_UINT16);
        proc.add(PMIX_NODE_RANK, &local, PMIX_UINT16);
        proc.add(PMIX_NODEID, &zero, PMIX_UINT32);
        proc.add(PMIX_HOSTNAME, hostname, PMIX_STRING);
        job.add(PMIX_PROC_DATA, &proc.array(), PMIX_DATA_ARRAY);
    }
    pmix_data_array_t& array = job.array();
    Answer answer;
    answer.wait("PMIx_server_register_nspace",
                PMIx_server_register_nspace(nspace, static_cast<int>(sizes.clients),
                                            static_cast<pmix_info_t*>(array.array), array.size,
                                            Answer::arrived, &answer));
    free(nodes);
    free(procs);
}

// Starts one client; what it measured comes through the pipe.
pid_t start(const pmix_proc_t& proc, char* const* arguments, int report) {
    char** environment = nullptr;
    size_t count = 0;
    while (environ[count] != nullptr)
        ++count;
    environment = static_cast<char**>(calloc(count + 1, sizeof(char*)));
    for (size_t i = 0; i < count; ++i)
        environment[i] = strdup(environ[i]);
    check("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &environment));
    const pid_t child = fork();
    if (child == 0) {
        fcntl(report, F_SETFD, 0);
        execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    for (size_t i = 0; environment[i] != nullptr; ++i)
        free(environment[i]);
    free(environment);
    return child;
}

int64_t processor_time(int who) {
    rusage usage;
    getrusage(who, &usage);
    const auto time = [](const timeval& t) { return int64_t{t.tv_sec} * 1000000 + t.tv_usec; };
    return time(usage.ru_utime) + time(usage.ru_stime);
}

bool round(const Sizes& sizes, int number) {
    pmix_nspace_t nspace;
    memset(nspace, 0, sizeof nspace);
    snprintf(nspace, sizeof nspace, "wireup-%d-%d", getpid(), number);
    register_job(nspace, sizes);
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    memcpy(proc.nspace, nspace, sizeof proc.nspace);
    for (proc.rank = 0; proc.rank < sizes.clients; ++proc.rank) {
        Answer answer;
        answer.wait(
            "PMIx_server_register_client",
            PMIx_server_register_client(&proc, getuid(), getgid(), nullptr, Answer::arrived, &answer));
    }

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        perror("wireup: pipe");
        return false;
    }
    std::vector<std::string> words{"wireup",
                                   "--client",
                                   std::to_string(ends[1]),
                                   "-n",
                                   std::to_string(sizes.clients),
                                   "-b",
                                   std::to_string(sizes.bytes),
                                   "-k",
                                   std::to_string(sizes.keys)};
    if (sizes.groups > 0) {
        words.insert(words.end(), {"-g", std::to_string(sizes.groups)});
    }
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);

    const int64_t begin = now();
    const int64_t host_before = processor_time(RUSAGE_SELF);
    const int64_t clients_before = processor_time(RUSAGE_CHILDREN);
    std::vector<pid_t> children;
    for (proc.rank = 0; proc.rank < sizes.clients; ++proc.rank) {
        children.push_back(start(proc, arguments.data(), ends[1]));
    }
    close(ends[1]);

    Times slowest;
    uint32_t reports = 0;
    Times one;
    const int64_t limit = begin + int64_t{kLimitSeconds} * 1000000;
    for (;;) {
        pollfd ready{ends[0], POLLIN, 0};
        const int64_t left = limit - now();
        if (left <= 0 || poll(&ready, 1, static_cast<int>(left / 1000) + 1) == 0) {
            fprintf(stderr, "wireup: the clients take longer than %d s; %u of %u have ended\n", kLimitSeconds,
                    reports, sizes.clients);
            for (const pid_t child : children)
                kill(child, SIGKILL);
            break;
        }
        const ssize_t got = read(ends[0], &one, sizeof one);
        if (got < 0 && errno == EINTR) continue;
        if (got != static_cast<ssize_t>(sizeof one)) break;
        ++reports;
        for (size_t i = 0; i < kSteps.size(); ++i)
            slowest.step[i] = std::max(slowest.step[i], one.step[i]);
    }
    close(ends[0]);
    bool good = reports == sizes.clients;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    const int64_t total = now() - begin;
    const int64_t host_time = processor_time(RUSAGE_SELF) - host_before;
    const int64_t clients_time = processor_time(RUSAGE_CHILDREN) - clients_before;

    Answer gone;
    PMIx_server_deregister_nspace(nspace, Answer::arrived, &gone);
    gone.wait("PMIx_server_deregister_nspace", PMIX_SUCCESS);
    if (!good) {
        fprintf(stderr, "wireup: a client failed\n");
        return false;
    }
    printf("wireup n=%u", sizes.clients);
    for (size_t i = 0; i < kSteps.size(); ++i) {
        const bool group = i == 4 || i == 5;
        if (group && sizes.groups == 0) continue;
        // Of one group.
        const int64_t time = group ? slowest.step[i] / sizes.groups : slowest.step[i];
        printf(" %s=%lld", kSteps[i], static_cast<long long>(time));
    }
    printf(" total=%lld cpu_host=%lld cpu_clients=%lld\n", static_cast<long long>(total),
           static_cast<long long>(host_time), static_cast<long long>(clients_time));
    fflush(stdout);
    return true;
}

int host(const Sizes& sizes) {
    pmix_server_module_t module;
    memset(&module, 0, sizeof module);
    module.client_connected = on_client;
    module.client_finalized = on_client;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.direct_modex = on_modex;
    module.group = on_group;
    check("PMIx_server_init", PMIx_server_init(&module, nullptr, 0));
    bool good = true;
    for (int i = 0; i < sizes.rounds && good; ++i)
        good = round(sizes, i);
    check("PMIx_server_finalize", PMIx_server_finalize());
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Sizes sizes;
    int report = -1;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const long number = i + 1 < argc ? strtol(argv[++i], nullptr, 10) : 0;
        if (option == "--client" && number > 0) {
            report = static_cast<int>(number);  // of a host: where to write what was measured
        } else if (option == "-n" && number > 0) {
            sizes.clients = static_cast<uint32_t>(number);
        } else if (option == "-r" && number > 0) {
            sizes.rounds = static_cast<int>(number);
        } else if (option == "-b" && number > 0) {
            sizes.bytes = static_cast<size_t>(number);
        } else if (option == "-k" && number > 0) {
            sizes.keys = static_cast<int>(number);
        } else if (option == "-g" && number > 0) {
            sizes.groups = static_cast<int>(number);
        } else {
            fprintf(stderr, "usage: wireup [-n CLIENTS] [-r ROUNDS] [-b BYTES] [-k KEYS] [-g GROUPS]\n");
            return 2;
        }
    }
    return report >= 0 ? client(sizes, report) : host(sizes);
}
