// SPDX-License-Identifier: BSD-3-Clause
// Direct modex between two servers, and publish and lookup. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/performance).
//
//   exchange [-n PROCESSES] [-b BYTES] [-r ROUNDS] [-l LOOKUPS] [-t 1]
//
// Two hosts, each with a server of its own and joined by a socket, stand for two nodes. PROCESSES processes
// (32) of the second node put BYTES bytes (1024) and commit. One process of the first node gets from each of
// them, with one direct modex each; then it publishes and looks up LOOKUPS times (2000) what its host keeps
// in a table. The first node does so ROUNDS times (5), each time with a new host and process, as a server
// asks for the same only once; and it queries the host as often. Prints one line a round: the median of one
// direct modex, publish, lookup and query, in microseconds. With -t 1 the host answers the last three from a
// thread of its own, not inside the upcall.
//
// The hosts' threads sleep until the other host's message comes, as those of resource managers do: two of
// the wake-ups of each direct modex are not the library's.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "bench/answering.hpp"
#include "bench/host.hpp"

namespace {

using namespace bench;

constexpr int kLimitMilliseconds = 120000;
constexpr size_t kLargestMessage = size_t{64} << 10;

struct Sizes {
    uint32_t processes = 32;
    size_t bytes = 1024;
    int rounds = 5;
    int lookups = 2000;
    bool thread = false;
};

// --- the processes ---

/// Process of the second node: posts, reports, and stays until the host closes its end.
int poster(const Sizes& sizes, int to_host, int from_host) {
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    std::string data(sizes.bytes, 'x');
    pmix_value_t value = bytes_value(data);
    check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "bench.data", &value));
    check("PMIx_Commit", PMIx_Commit());
    if (write(to_host, "p", 1) != 1) return 1;
    char c = 0;
    while (read(from_host, &c, 1) == 1) {
    }
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}

/// A query of a key that only the host knows.
void ask_host() {
    char key[] = "bench.query";
    char* keys[] = {key, nullptr};
    pmix_query_t query;
    memset(&query, 0, sizeof query);
    query.keys = keys;
    pmix_info_t* results = nullptr;
    size_t count = 0;
    check("PMIx_Query_info", PMIx_Query_info(&query, 1, &results, &count));
    for (size_t i = 0; i < count; ++i)
        PMIx_Value_destruct(&results[i].value);
    free(results);
}

/// Process of the first node: measures.
int reader(const Sizes& sizes) {
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    std::vector<int64_t> modex, publish, lookup, queries;
    for (uint32_t i = 0; i < sizes.processes; ++i) {
        const pmix_proc_t other = proc_of(self.nspace, 1 + i);
        pmix_value_t* got = nullptr;
        const int64_t begin = nanoseconds();
        check("PMIx_Get", PMIx_Get(&other, "bench.data", nullptr, 0, &got));
        modex.push_back(nanoseconds() - begin);
        if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != sizes.bytes)
            die("what was got", PMIX_ERR_BAD_PARAM);
        release(got);
    }
    for (int i = 0; i < sizes.lookups; ++i) {
        const std::string name = "bench.service." + std::to_string(i);
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        check("PMIx_Info_load", PMIx_Info_load(&info, name.c_str(), "tcp://bench:1234", PMIX_STRING));
        int64_t begin = nanoseconds();
        check("PMIx_Publish", PMIx_Publish(&info, 1));
        publish.push_back(nanoseconds() - begin);
        PMIx_Value_destruct(&info.value);
        pmix_pdata_t found;
        memset(&found, 0, sizeof found);
        snprintf(found.key, sizeof found.key, "%s", name.c_str());
        begin = nanoseconds();
        check("PMIx_Lookup", PMIx_Lookup(&found, 1, nullptr, 0));
        lookup.push_back(nanoseconds() - begin);
        PMIx_Value_destruct(&found.value);
        begin = nanoseconds();
        ask_host();
        queries.push_back(nanoseconds() - begin);
    }
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    printf("exchange n=%u dmodex=%.1f publish=%.1f lookup=%.1f query=%.1f\n", sizes.processes,
           static_cast<double>(median(modex)) / 1000, static_cast<double>(median(publish)) / 1000,
           static_cast<double>(median(lookup)) / 1000, static_cast<double>(median(queries)) / 1000);
    fflush(stdout);
    return 0;
}

// --- the hosts ---

int between_hosts = -1;

/// A message between the hosts; a request has no data.
struct Message {
    pmix_proc_t proc;
    pmix_status_t status;
    bool question;
    void* asked;  // of the one that asked
};

void send_message(const Message& message, const char* data, size_t size) {
    iovec parts[2] = {{const_cast<Message*>(&message), sizeof message}, {const_cast<char*>(data), size}};
    msghdr whole;
    memset(&whole, 0, sizeof whole);
    whole.msg_iov = parts;
    whole.msg_iovlen = 2;
    if (sendmsg(between_hosts, &whole, MSG_NOSIGNAL) < 0) {
        perror("exchange: the other host");
        _exit(1);
    }
}

/// A get of a process here that waits for the other host.
struct Asked {
    pmix_modex_cbfunc_t answer;
    void* context;
};

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t*, size_t, pmix_modex_cbfunc_t answer,
                       void* context) {
    send_message({*proc, PMIX_SUCCESS, true, new Asked{answer, context}}, nullptr, 0);
    return PMIX_SUCCESS;
}

void on_data(pmix_status_t status, char* data, size_t size, void* context) {
    const std::unique_ptr<Message> message(static_cast<Message*>(context));
    message->status = status;
    message->question = false;
    send_message(*message, data, size);
}

/// Answers the other host, and takes its answers, until it has gone.
void serve_other_host() {
    std::vector<char> buffer(kLargestMessage);
    for (;;) {
        const ssize_t got = recv(between_hosts, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < static_cast<ssize_t>(sizeof(Message))) return;
        Message message;
        memcpy(static_cast<void*>(&message), buffer.data(), sizeof message);
        if (message.question) {
            auto kept = std::make_unique<Message>(message);
            const pmix_status_t status = PMIx_server_dmodex_request(&message.proc, on_data, kept.get());
            if (status == PMIX_SUCCESS) {
                [[maybe_unused]] Message* handed_over = kept.release();
            } else {
                on_data(status, nullptr, 0, kept.release());
            }
            continue;
        }
        const std::unique_ptr<Asked> asked(static_cast<Asked*>(message.asked));
        const size_t size = static_cast<size_t>(got) - sizeof message;
        char* copy = static_cast<char*>(malloc(size + 1));
        memcpy(copy, buffer.data() + sizeof message, size);
        asked->answer(message.status, copy, size, asked->context, free, copy);
    }
}

/// The thread that answers, with -t 1; else null.
Answering* answering = nullptr;

/// Answers, here or there.
void answer_with(Answering::Task task) {
    answering == nullptr ? task() : answering->enqueue(std::move(task));
}

std::mutex published_lock;  // guards published
std::map<std::string, std::string> published;

pmix_status_t on_publish(const pmix_proc_t*, const pmix_info_t info[], size_t count, pmix_op_cbfunc_t answer,
                         void* context) {
    {
        const std::lock_guard lock(published_lock);
        for (size_t i = 0; i < count; ++i) {
            if (info[i].value.type == PMIX_STRING) published[info[i].key] = info[i].value.data.string;
        }
    }
    answer_with([=] { answer(PMIX_SUCCESS, context); });
    return PMIX_SUCCESS;
}

void find(const pmix_proc_t& proc, const std::string& key, pmix_lookup_cbfunc_t answer, void* context) {
    pmix_pdata_t found;
    memset(&found, 0, sizeof found);
    found.proc = proc;
    snprintf(found.key, sizeof found.key, "%s", key.c_str());
    {
        const std::lock_guard lock(published_lock);
        const auto at = published.find(key);
        if (at == published.end()) return answer(PMIX_ERR_NOT_FOUND, nullptr, 0, context);
        found.value.type = PMIX_STRING;
        found.value.data.string = strdup(at->second.c_str());
    }
    answer(PMIX_SUCCESS, &found, 1, context);
    free(found.value.data.string);
}

pmix_status_t on_lookup(const pmix_proc_t* proc, char** keys, const pmix_info_t[], size_t,
                        pmix_lookup_cbfunc_t answer, void* context) {
    answer_with(
        [owner = *proc, key = std::string(keys[0]), answer, context] { find(owner, key, answer, context); });
    return PMIX_SUCCESS;
}

pmix_status_t on_query(pmix_proc_t*, pmix_query_t[], size_t, pmix_info_cbfunc_t answer, void* context) {
    answer_with([=] {
        pmix_info_t found;
        memset(&found, 0, sizeof found);
        const uint32_t number = 42;
        check("PMIx_Info_load", PMIx_Info_load(&found, "bench.query", &number, PMIX_UINT32));
        answer(PMIX_SUCCESS, &found, 1, context, nullptr, nullptr);
    });
    return PMIX_SUCCESS;
}

pmix_status_t on_client(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

/// Waits until everything that `count` processes write has come; false when they have gone before.
bool await(int fd, uint32_t count) {
    while (count > 0) {
        pollfd ready{fd, POLLIN, 0};
        char c = 0;
        if (poll(&ready, 1, kLimitMilliseconds) != 1 || read(fd, &c, 1) != 1) return false;
        --count;
    }
    return true;
}

bool reap(const std::vector<pid_t>& children) {
    bool good = true;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return good;
}

/// The words of a process of ours: options, its role, the descriptors that it gets.
std::vector<std::string> words_for(const char* role, const Sizes& sizes,
                                   std::initializer_list<int> descriptors) {
    std::vector<std::string> words{"exchange",
                                   "-n",
                                   std::to_string(sizes.processes),
                                   "-b",
                                   std::to_string(sizes.bytes),
                                   "-r",
                                   std::to_string(sizes.rounds),
                                   "-l",
                                   std::to_string(sizes.lookups),
                                   role};
    for (const int fd : descriptors)
        words.push_back(std::to_string(fd));
    return words;
}

/// The job data of both hosts.
struct Job {
    std::string directory, nspace;
    Layout layout;
};

void init_server(const Job& job, uint32_t node) {
    static pmix_server_module_t module;
    module.client_connected = on_client;
    module.client_finalized = on_client;
    module.direct_modex = on_modex;
    module.publish = on_publish;
    module.lookup = on_lookup;
    module.query = on_query;
    const std::string own = job.directory + "/" + std::to_string(getpid());
    mkdir(own.c_str(), 0700);
    List directives;
    directives.add(PMIX_SERVER_TMPDIR, own.c_str(), PMIX_STRING);
    directives.add(PMIX_HOSTNAME, job.layout.nodes[node].c_str(), PMIX_STRING);
    pmix_data_array_t& array = directives.array();
    check("PMIx_server_init", PMIx_server_init(&module, static_cast<pmix_info_t*>(array.array), array.size));
    register_job(job.nspace.c_str(), job.layout, node);
}

/// The host of those that post: says `go` when they have, and ends them when `stop` is closed. Serves one
/// host after the other, each at its socket.
int second_host(const Sizes& sizes, const Job& job, const std::vector<int>& sockets, int go, int stop) {
    init_server(job, 1);
    std::thread other_hosts([&] {
        for (const int fd : sockets) {
            between_hosts = fd;
            serve_other_host();
            close(fd);
        }
    });
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) return 1;
    const std::vector<std::string> words = words_for("--poster", sizes, {up[1], down[0]});
    std::vector<pid_t> children;
    for (uint32_t i = 0; i < sizes.processes; ++i) {
        const pmix_proc_t proc = proc_of(job.nspace.c_str(), 1 + i);
        register_client(proc);
        children.push_back(start(proc, words, {up[1], down[0]}));
    }
    close(up[1]);
    close(down[0]);
    if (await(up[0], sizes.processes) && write(go, "g", 1) == 1) {
        char c = 0;
        while (read(stop, &c, 1) == 1) {
        }
    }
    close(down[1]);
    const bool good = reap(children);
    other_hosts.join();
    check("PMIx_server_finalize", PMIx_server_finalize());
    return good ? 0 : 1;
}

/// The host of the one that measures: one round.
int first_host(const Sizes& sizes, const Job& job, int other) {
    between_hosts = other;
    std::optional<Answering> thread;
    if (sizes.thread) answering = &thread.emplace();
    init_server(job, 0);
    std::thread other_host(serve_other_host);
    const pmix_proc_t proc = proc_of(job.nspace.c_str(), 0);
    register_client(proc);
    const bool good = reap({start(proc, words_for("--reader", sizes, {}), {})});
    shutdown(other, SHUT_RDWR);
    other_host.join();
    check("PMIx_server_finalize", PMIx_server_finalize());
    return good ? 0 : 1;
}

/// Starts the hosts, each as a process of its own.
int run(const Sizes& sizes) {
    char directory[] = "/tmp/bench-exchange-XXXXXX";
    int go[2], stop[2];
    if (mkdtemp(directory) == nullptr || pipe2(go, O_CLOEXEC) != 0 || pipe2(stop, O_CLOEXEC) != 0) {
        perror("exchange");
        return 1;
    }
    const Job job{directory,
                  "exchange-" + std::to_string(getpid()),
                  {{"bench-node-0", "bench-node-1"}, {1, sizes.processes}}};
    std::vector<int> first_ends, second_ends;
    for (int i = 0; i < sizes.rounds; ++i) {
        int sockets[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
            perror("exchange");
            return 1;
        }
        first_ends.push_back(sockets[0]);
        second_ends.push_back(sockets[1]);
    }
    const auto close_all = [](const std::vector<int>& descriptors) {
        for (const int fd : descriptors)
            close(fd);
    };
    const pid_t second = fork();
    if (second == 0) {
        close_all(first_ends);
        close(go[0]);
        close(stop[1]);
        _exit(second_host(sizes, job, second_ends, go[1], stop[0]));
    }
    close_all(second_ends);
    close(go[1]);
    close(stop[0]);
    bool good = await(go[0], 1);
    for (int i = 0; i < sizes.rounds; ++i) {
        const int other = first_ends[static_cast<size_t>(i)];
        const pid_t first = good ? fork() : -1;
        if (first == 0) _exit(first_host(sizes, job, other));
        good = first > 0 && reap({first});
        close(other);
    }
    close(stop[1]);
    good = reap({second}) && good;
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    program = "exchange";
    Sizes sizes;
    std::string role;
    std::vector<int> descriptors;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option.starts_with("--")) {
            role = option;
            continue;
        }
        if (!role.empty()) {
            descriptors.push_back(atoi(argv[i]));
            continue;
        }
        const long number = i + 1 < argc ? strtol(argv[++i], nullptr, 10) : 0;
        if (option == "-n" && number > 0) {
            sizes.processes = static_cast<uint32_t>(number);
        } else if (option == "-b" && number > 0) {
            sizes.bytes = static_cast<size_t>(number);
        } else if (option == "-r" && number > 0) {
            sizes.rounds = static_cast<int>(number);
        } else if (option == "-l" && number > 0) {
            sizes.lookups = static_cast<int>(number);
        } else if (option == "-t" && number > 0) {
            sizes.thread = true;
        } else {
            fprintf(stderr, "usage: exchange [-n PROCESSES] [-b BYTES] [-r ROUNDS] [-l LOOKUPS] [-t 1]\n");
            return 2;
        }
    }
    if (role == "--poster" && descriptors.size() == 2) return poster(sizes, descriptors[0], descriptors[1]);
    if (role == "--reader") return reader(sizes);
    return run(sizes);
}
