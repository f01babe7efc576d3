// SPDX-License-Identifier: BSD-3-Clause
// Code that the benchmarks' hosts and clients share: clocks, memory, answers to calls, lists of infos, the
// registration of a job and the start of its processes. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so that the same binary runs on Muster and on OpenPMIx.
#pragma once

#include <fcntl.h>
#include <pmix.h>
#include <pmix_server.h>
#include <spawn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

extern char** environ;

namespace bench {

/// The name under which errors are reported.
inline const char* program = "bench";

/// Nanoseconds of a clock that all processes of the machine share.
inline int64_t nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

inline int64_t microseconds() {
    return nanoseconds() / 1000;
}

/// Microseconds of processor time of ourselves (RUSAGE_SELF) or of the children that were waited for.
inline int64_t processor_time(int who) {
    rusage usage;
    getrusage(who, &usage);
    const auto time = [](const timeval& t) { return int64_t{t.tv_sec} * 1000000 + t.tv_usec; };
    return time(usage.ru_utime) + time(usage.ru_stime);
}

struct Memory {
    int64_t private_kb = 0;  ///< pages that are ours alone
    int64_t written_kb = 0;  ///< those of them that no file can give back: neither code nor constants
    int64_t share_kb = 0;    ///< those, and our share of what several processes have (PSS)
};

inline Memory memory_in_use() {
    Memory memory;
    FILE* file = fopen("/proc/self/smaps_rollup", "re");
    if (file == nullptr) return memory;
    char line[256];
    while (fgets(line, sizeof line, file) != nullptr) {
        long kb = 0;
        if (sscanf(line, "Pss: %ld", &kb) == 1) memory.share_kb = kb;
        if (sscanf(line, "Private_Clean: %ld", &kb) == 1) memory.private_kb += kb;
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1) {
            memory.private_kb += kb;
            memory.written_kb = kb;
        }
    }
    fclose(file);
    return memory;
}

[[noreturn]] inline void die(const char* what, pmix_status_t status) {
    fprintf(stderr, "%s: %s: %s\n", program, what, PMIx_Error_string(status));
    _exit(1);
}

inline void check(const char* what, pmix_status_t status) {
    if (status != PMIX_SUCCESS) die(what, status);
}

template <class T>
T median(std::vector<T> values) {
    if (values.empty()) return T{};
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

inline pmix_proc_t proc_of(const char* nspace, pmix_rank_t rank) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", nspace);
    proc.rank = rank;
    return proc;
}

inline void release(pmix_value_t* value) {
    PMIx_Value_destruct(value);
    free(value);
}

/// A value that borrows the bytes.
inline pmix_value_t bytes_value(std::string& data) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = data.data();
    value.data.bo.size = data.size();
    return value;
}

inline pmix_info_t info(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t made;
    memset(&made, 0, sizeof made);
    check(key, PMIx_Info_load(&made, key, value, type));
    return made;
}

/// A directive that is a flag.
inline pmix_info_t flag(const char* key, bool on = true) {
    return info(key, &on, PMIX_BOOL);
}

/// An array of infos as one info; the infos are destructed.
inline pmix_info_t array_of(const char* key, pmix_info_t* facts, size_t count) {
    pmix_data_array_t array{PMIX_INFO, count, facts};
    const pmix_info_t made = info(key, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < count; ++i)
        PMIx_Value_destruct(&facts[i].value);
    return made;
}

/// A process as hosts describe it in an array: five keys, or the nine that PRRTE and Slurm give.
inline pmix_info_t process_array(uint32_t rank, uint16_t local, uint32_t node, const char* host, bool nine) {
    const uint32_t zero = 0;
    pmix_info_t facts[] = {
        info(PMIX_RANK, &rank, PMIX_PROC_RANK),      info(PMIX_LOCAL_RANK, &local, PMIX_UINT16),
        info(PMIX_NODE_RANK, &local, PMIX_UINT16),   info(PMIX_NODEID, &node, PMIX_UINT32),
        info(PMIX_HOSTNAME, host, PMIX_STRING),      info(PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK),
        info(PMIX_APPNUM, &zero, PMIX_UINT32),       info(PMIX_APP_RANK, &rank, PMIX_PROC_RANK),
        info(PMIX_REINCARNATION, &zero, PMIX_UINT32)};
    return array_of(PMIX_PROC_INFO_ARRAY, facts, nine ? 9 : 5);
}

/// A host's answer for a group whose members are all here: a group gets the next number.
inline void answer_group(pmix_group_operation_t operation, const pmix_proc_t* procs, size_t count,
                         pmix_info_cbfunc_t answer, void* context) {
    static std::atomic<size_t> next{1};
    if (operation != PMIX_GROUP_CONSTRUCT) return answer(PMIX_SUCCESS, nullptr, 0, context, nullptr, nullptr);
    auto* results = static_cast<pmix_info_t*>(calloc(2, sizeof(pmix_info_t)));
    const size_t number = next++;
    pmix_data_array_t members{PMIX_PROC, count, const_cast<pmix_proc_t*>(procs)};
    check("PMIx_Info_load", PMIx_Info_load(&results[0], PMIX_GROUP_CONTEXT_ID, &number, PMIX_SIZE));
    check("PMIx_Info_load", PMIx_Info_load(&results[1], PMIX_GROUP_MEMBERSHIP, &members, PMIX_DATA_ARRAY));
    answer(
        PMIX_SUCCESS, results, 2, context,
        [](void* owned) {
            auto* infos = static_cast<pmix_info_t*>(owned);
            for (size_t i = 0; i < 2; ++i)
                PMIx_Value_destruct(&infos[i].value);
            free(infos);
        },
        results);
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
    std::mutex lock_;  // guards all below
    std::condition_variable signal_;
    pmix_status_t status_ = PMIX_SUCCESS;
    bool there_ = false;
};

/// A list of infos that becomes an array.
class List {
  public:
    List() = default;
    List(const List&) = delete;
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

inline std::string own_hostname() {
    char hostname[256] = "localhost";
    gethostname(hostname, sizeof hostname - 1);
    return hostname;
}

/// The layout of a job: names of nodes, and the number of processes of each, in the order of ranks.
struct Layout {
    std::vector<std::string> nodes;
    std::vector<uint32_t> processes;

    uint32_t size() const {
        uint32_t all = 0;
        for (const uint32_t count : processes)
            all += count;
        return all;
    }
};

/// Registers a job with the server of node `here`, with all that OpenPMIx's clients look for.
inline void register_job(const char* nspace, const Layout& layout, size_t here) {
    std::string names, places, peers;
    uint32_t rank = 0;
    for (size_t node = 0; node < layout.nodes.size(); ++node) {
        std::string list;
        for (uint32_t i = 0; i < layout.processes[node]; ++i, ++rank)
            list += (i > 0 ? "," : "") + std::to_string(rank);
        names += (node > 0 ? "," : "") + layout.nodes[node];
        places += (node > 0 ? ";" : "") + list;
        if (node == here) peers = list;
    }
    char *nodes = nullptr, *procs = nullptr;
    check("PMIx_generate_regex", PMIx_generate_regex(names.c_str(), &nodes));
    check("PMIx_generate_ppn", PMIx_generate_ppn(places.c_str(), &procs));

    List job;
    const uint32_t size = layout.size();
    const auto node_count = static_cast<uint32_t>(layout.nodes.size());
    job.add(PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    job.add(PMIX_JOB_SIZE, &size, PMIX_UINT32);
    job.add(PMIX_MAX_PROCS, &size, PMIX_UINT32);
    job.add(PMIX_NUM_NODES, &node_count, PMIX_UINT32);
    job.add(PMIX_NODE_MAP, nodes, PMIX_REGEX);
    job.add(PMIX_PROC_MAP, procs, PMIX_REGEX);
    job.add(PMIX_LOCAL_SIZE, &layout.processes[here], PMIX_UINT32);
    job.add(PMIX_LOCAL_PEERS, peers.c_str(), PMIX_STRING);
    rank = 0;
    for (uint32_t node = 0; node < node_count; ++node) {
        for (uint32_t i = 0; i < layout.processes[node]; ++i, ++rank) {
            List proc;
            const auto local = static_cast<uint16_t>(i);
            proc.add(PMIX_RANK, &rank, PMIX_PROC_RANK);
            proc.add(PMIX_LOCAL_RANK, &local, PMIX_UINT16);
            proc.add(PMIX_NODE_RANK, &local, PMIX_UINT16);
            proc.add(PMIX_NODEID, &node, PMIX_UINT32);
            proc.add(PMIX_HOSTNAME, layout.nodes[node].c_str(), PMIX_STRING);
            job.add(PMIX_PROC_DATA, &proc.array(), PMIX_DATA_ARRAY);
        }
    }
    pmix_data_array_t& array = job.array();
    Answer answer;
    answer.wait("PMIx_server_register_nspace",
                PMIx_server_register_nspace(nspace, static_cast<int>(layout.processes[here]),
                                            static_cast<pmix_info_t*>(array.array), array.size,
                                            Answer::arrived, &answer));
    free(nodes);
    free(procs);
}

inline void register_client(const pmix_proc_t& proc) {
    Answer answer;
    answer.wait("PMIx_server_register_client",
                PMIx_server_register_client(&proc, getuid(), getgid(), nullptr, Answer::arrived, &answer));
}

inline void deregister_job(const char* nspace) {
    Answer gone;
    PMIx_server_deregister_nspace(nspace, Answer::arrived, &gone);
    gone.wait("PMIx_server_deregister_nspace", PMIX_SUCCESS);
}

/// Starts this program as a process of the job; `kept`: descriptors that stay open in it.
inline pid_t start(const pmix_proc_t& proc, const std::vector<std::string>& words,
                   std::initializer_list<int> kept) {
    char** environment = nullptr;
    size_t count = 0;
    while (environ[count] != nullptr)
        ++count;
    environment = static_cast<char**>(calloc(count + 1, sizeof(char*)));
    for (size_t i = 0; i < count; ++i)
        environment[i] = strdup(environ[i]);
    check("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &environment));
    std::vector<char*> arguments;
    for (const auto& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    // As the machine's own figure is taken (bench/limits): a fork would copy the host's page tables, which is
    // no part of what is measured.
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int fd : kept)
        posix_spawn_file_actions_adddup2(&actions, fd, fd);  // which stays open then
    pid_t child = -1;
    if (posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environment) != 0)
        die("posix_spawn", PMIX_ERROR);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; environment[i] != nullptr; ++i)
        free(environment[i]);
    free(environment);
    return child;
}

}  // namespace bench
