// SPDX-License-Identifier: BSD-3-Clause
// Wire-up of a job on one node: host and clients in one program, public API only, and only functions that
// every libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/compare,
// bench/performance).
//
//   wireup [-n CLIENTS] [-r ROUNDS] [-b BYTES] [-k KEYS] [-f FENCES] [-a GETS] [-g GROUPS]
//
// In each round a server starts CLIENTS processes; each one calls PMIx_Init, meets all others in a fence,
// puts KEYS values of BYTES bytes, commits, fences with collection of data, gets every key of every process,
// gets GETS times (0) what is there already, fences FENCES times (0) without data, constructs (with a context
// id) and destructs GROUPS groups (0) of all processes, one after the other, and finalizes. Prints one line a
// round, in microseconds where nothing else is said:
//
//   started        from the start of the first process until the last one is through PMIx_Init
//   init, init_cpu PMIx_Init of the slowest process; its processor time in the median of the processes
//   exchange       put, commit and the fence with data, of the slowest process; who is through waits for the
//                  others before it goes on
//   get            every key of every process, of the slowest process; likewise
//   *_ns           nanoseconds for one get of what is there, by rank 0 alone: a fenced key, a key of the job,
//                  a derived key of a random rank (local rank, node, host name)
//   together_ns    processor time of all for one get of a fenced key while all get
//   barrier        one fence without data
//   group, ungroup construction and destruction of one group
//   private_kb, pss_kb, host_private_kb   memory of a client (median) and of the host, after the gets
//   host_written_kb   the part of the host's memory that is not a file's pages
//   finalize, total, cpu_host, cpu_clients
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include "bench/host.hpp"

namespace {

using namespace bench;

constexpr int kLimitSeconds = 120;

struct Sizes {
    uint32_t clients = 16;
    int rounds = 5;
    size_t bytes = 64;
    int keys = 1;
    int fences = 0;
    int gets = 0;
    int groups = 0;
};

/// The results of one process.
struct Report {
    int64_t init_end = 0;  // on the clock of all
    int64_t init = 0, init_cpu = 0;
    int64_t exchange = 0, get = 0, barriers = 0, construct = 0, destruct = 0, finalize = 0;
    int64_t fenced_ns = 0, job_ns = 0, derived_ns = 0;
    int64_t together_cpu = 0;
    Memory memory;
};

// --- the client ---

std::string key(int number) {
    return "bench." + std::to_string(number);
}

void get_one(const pmix_proc_t& proc, const char* name) {
    pmix_value_t* got = nullptr;
    check(name, PMIx_Get(&proc, name, nullptr, 0, &got));
    release(got);
}

/// Ranks in no order, the same on each run.
class Ranks {
  public:
    explicit Ranks(uint32_t end) : end_(end) {}
    pmix_rank_t next() {
        state_ = state_ * 1664525 + 1013904223;
        return static_cast<pmix_rank_t>((uint64_t{state_} * end_) >> 32);
    }

  private:
    uint32_t end_;
    uint32_t state_ = 1;
};

/// Nanoseconds for one of `count` calls.
template <class Call>
int64_t each_ns(int count, Call call) {
    const int64_t begin = nanoseconds();
    for (int i = 0; i < count; ++i)
        call();
    return (nanoseconds() - begin) / count;
}

void get_many(const pmix_proc_t& self, const Sizes& sizes, Report& report,
              const std::function<void()>& barrier) {
    pmix_proc_t other = self;
    Ranks ranks(sizes.clients);
    const auto fenced = [&] {
        other.rank = ranks.next();
        get_one(other, "bench.0");
    };
    if (self.rank == 0) {
        report.fenced_ns = each_ns(sizes.gets, fenced);
        other.rank = PMIX_RANK_WILDCARD;
        report.job_ns = each_ns(sizes.gets, [&] { get_one(other, PMIX_UNIV_SIZE); });
        size_t turn = 0;
        report.derived_ns = each_ns(sizes.gets, [&] {
            constexpr std::array<const char*, 3> kKeys{PMIX_LOCAL_RANK, PMIX_NODEID, PMIX_HOSTNAME};
            other.rank = ranks.next();
            get_one(other, kKeys[turn++ % kKeys.size()]);
        });
    }
    barrier();
    const int64_t before = processor_time(RUSAGE_SELF);
    for (int i = 0; i < sizes.gets; ++i)
        fenced();
    report.together_cpu = processor_time(RUSAGE_SELF) - before;
    barrier();
}

int client(const Sizes& sizes, int to_host) {
    Report report;
    pmix_proc_t self;
    const int64_t cpu = processor_time(RUSAGE_SELF);
    int64_t begin = microseconds();
    const auto lap = [&] {
        const int64_t end = microseconds();
        return end - std::exchange(begin, end);
    };
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    report.init = lap();
    report.init_end = begin;
    report.init_cpu = processor_time(RUSAGE_SELF) - cpu;

    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    const auto barrier = [&] { check("PMIx_Fence", PMIx_Fence(&all, 1, nullptr, 0)); };
    // The exchange must not include the start of the last processes.
    barrier();

    std::string data(sizes.bytes, 'x');
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = data.data();
    value.data.bo.size = data.size();
    lap();
    for (int k = 0; k < sizes.keys; ++k)
        check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, key(k).c_str(), &value));
    check("PMIx_Commit", PMIx_Commit());
    pmix_info_t collect;
    memset(&collect, 0, sizeof collect);
    bool yes = true;
    check("PMIx_Info_load", PMIx_Info_load(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL));
    check("PMIx_Fence", PMIx_Fence(&all, 1, &collect, 1));
    report.exchange = lap();

    // A finished process waits for the others: its next step would take the processor from them.
    barrier();
    lap();
    for (uint32_t rank = 0; rank < sizes.clients; ++rank) {
        pmix_proc_t other = self;
        other.rank = rank;
        for (int k = 0; k < sizes.keys; ++k) {
            pmix_value_t* got = nullptr;
            check("PMIx_Get", PMIx_Get(&other, key(k).c_str(), nullptr, 0, &got));
            if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != sizes.bytes)
                die("what was got", PMIX_ERR_BAD_PARAM);
            release(got);
        }
    }
    report.get = lap();
    barrier();
    report.memory = memory_in_use();
    if (sizes.gets > 0) {
        barrier();
        get_many(self, sizes, report, barrier);
    }
    if (sizes.fences > 0 || sizes.groups > 0) barrier();

    lap();
    for (int i = 0; i < sizes.fences; ++i)
        barrier();
    report.barriers = lap();
    if (sizes.fences > 0) barrier();  // or the last fence would wait for the end of other processes
    std::vector<pmix_proc_t> members(sizes.clients, self);
    for (uint32_t rank = 0; rank < sizes.clients; ++rank)
        members[rank].rank = rank;
    pmix_info_t wanted;
    memset(&wanted, 0, sizeof wanted);
    check("PMIx_Info_load", PMIx_Info_load(&wanted, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL));
    for (int g = 0; g < sizes.groups; ++g) {
        pmix_info_t* results = nullptr;
        size_t count = 0;
        check("PMIx_Group_construct",
              PMIx_Group_construct(("bench-" + std::to_string(g)).c_str(), members.data(), members.size(),
                                   &wanted, 1, &results, &count));
        for (size_t i = 0; i < count; ++i)
            PMIx_Value_destruct(&results[i].value);
        free(results);
    }
    report.construct = lap();
    for (int g = 0; g < sizes.groups; ++g)
        check("PMIx_Group_destruct", PMIx_Group_destruct(("bench-" + std::to_string(g)).c_str(), nullptr, 0));
    report.destruct = lap();
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    report.finalize = lap();
    return write(to_host, &report, sizeof report) == static_cast<ssize_t>(sizeof report) ? 0 : 1;
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

pmix_status_t on_group(pmix_group_operation_t operation, char*, const pmix_proc_t* procs, size_t count,
                       const pmix_info_t*, size_t, pmix_info_cbfunc_t answer, void* context) {
    answer_group(operation, procs, count, answer, context);
    return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t, void*) {
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t on_abort(const pmix_proc_t*, void*, int, const char*, pmix_proc_t*, size_t, pmix_op_cbfunc_t,
                       void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

bool round(const Sizes& sizes, int number) {
    const std::string nspace = "wireup-" + std::to_string(getpid()) + "-" + std::to_string(number);
    register_job(nspace.c_str(), {{own_hostname()}, {sizes.clients}}, 0);
    for (uint32_t rank = 0; rank < sizes.clients; ++rank)
        register_client(proc_of(nspace.c_str(), rank));

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
                                   std::to_string(sizes.keys),
                                   "-f",
                                   std::to_string(sizes.fences),
                                   "-a",
                                   std::to_string(sizes.gets),
                                   "-g",
                                   std::to_string(sizes.groups)};

    const int64_t begin = microseconds();
    const int64_t host_before = processor_time(RUSAGE_SELF);
    const int64_t clients_before = processor_time(RUSAGE_CHILDREN);
    std::vector<pid_t> children;
    for (uint32_t rank = 0; rank < sizes.clients; ++rank)
        children.push_back(start(proc_of(nspace.c_str(), rank), words, {ends[1]}));
    close(ends[1]);

    std::vector<Report> reports;
    const int64_t limit = begin + int64_t{kLimitSeconds} * 1000000;
    for (;;) {
        pollfd ready{ends[0], POLLIN, 0};
        const int64_t left = limit - microseconds();
        if (left <= 0 || poll(&ready, 1, static_cast<int>(left / 1000) + 1) == 0) {
            fprintf(stderr, "wireup: the clients take longer than %d s; %zu of %u have ended\n",
                    kLimitSeconds, reports.size(), sizes.clients);
            for (const pid_t child : children)
                kill(child, SIGKILL);
            break;
        }
        Report one;
        const ssize_t got = read(ends[0], &one, sizeof one);
        if (got < 0 && errno == EINTR) continue;
        if (got != static_cast<ssize_t>(sizeof one)) break;
        reports.push_back(one);
    }
    close(ends[0]);
    bool good = reports.size() == sizes.clients;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    const int64_t total = microseconds() - begin;
    const int64_t host_time = processor_time(RUSAGE_SELF) - host_before;
    const int64_t clients_time = processor_time(RUSAGE_CHILDREN) - clients_before;

    const Memory memory = memory_in_use();
    deregister_job(nspace.c_str());
    if (!good) {
        fprintf(stderr, "wireup: a client failed\n");
        return false;
    }
    const auto all = [&](auto member) {
        std::vector<int64_t> values;
        for (const Report& one : reports)
            values.push_back(member(one));
        return values;
    };
    const auto say = [](const char* name, int64_t value) {
        printf(" %s=%lld", name, static_cast<long long>(value));
    };
    const auto slowest = [&](const char* name, int64_t Report::*member, int64_t parts = 1) {
        if (parts == 0) return;
        const auto values = all([member](const Report& one) { return one.*member; });
        say(name, *std::max_element(values.begin(), values.end()) / parts);
    };
    printf("wireup n=%u", sizes.clients);
    const auto ends_of_init = all([](const Report& one) { return one.init_end; });
    say("started", *std::max_element(ends_of_init.begin(), ends_of_init.end()) - begin);
    slowest("init", &Report::init);
    say("init_cpu", median(all([](const Report& one) { return one.init_cpu; })));
    slowest("exchange", &Report::exchange);
    slowest("get", &Report::get);
    if (sizes.gets > 0) {
        slowest("fenced_ns", &Report::fenced_ns);
        slowest("job_ns", &Report::job_ns);
        slowest("derived_ns", &Report::derived_ns);
        int64_t together = 0;
        for (const Report& one : reports)
            together += one.together_cpu;
        say("together_ns", together * 1000 / (int64_t{sizes.gets} * sizes.clients));
    }
    slowest("barrier", &Report::barriers, sizes.fences);
    slowest("group", &Report::construct, sizes.groups);
    slowest("ungroup", &Report::destruct, sizes.groups);
    slowest("finalize", &Report::finalize);
    say("total", total);
    say("cpu_host", host_time);
    say("cpu_clients", clients_time);
    say("private_kb", median(all([](const Report& one) { return one.memory.private_kb; })));
    say("pss_kb", median(all([](const Report& one) { return one.memory.share_kb; })));
    say("host_private_kb", memory.private_kb);
    say("host_written_kb", memory.written_kb);
    printf("\n");
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
    program = "wireup";
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
        } else if (option == "-f" && number >= 0) {
            sizes.fences = static_cast<int>(number);
        } else if (option == "-a" && number >= 0) {
            sizes.gets = static_cast<int>(number);
        } else if (option == "-g" && number >= 0) {
            sizes.groups = static_cast<int>(number);
        } else {
            fprintf(stderr,
                    "usage: wireup [-n CLIENTS] [-r ROUNDS] [-b BYTES] [-k KEYS] [-f FENCES] [-a GETS] [-g "
                    "GROUPS]\n");
            return 2;
        }
    }
    return report >= 0 ? client(sizes, report) : host(sizes);
}
