// SPDX-License-Identifier: BSD-3-Clause
// Hosts with unusual behaviour: one that answers at once, twice, from another thread, late, or never; one
// that ends the server, or deregisters a client or a namespace, while others wait for it.
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/waits.hpp"

namespace {

using integration::Host;
using integration::ModexRequest;
using integration::Process;
using integration::until_waiting;

pmix_proc_t process_of(const Host::Job& job, pmix_rank_t rank) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", job.nspace.c_str());
    proc.rank = rank;
    return proc;
}

std::string ended(const char* what, pmix_status_t status) {
    return std::string(what) + " " + PMIx_Error_string(status);
}

Process core_client(Host& host, const Host::Job& job, pmix_rank_t rank,
                    const std::vector<std::string>& words) {
    auto process = host.start_program(job, rank, INTEGRATION_CORE_CLIENT, words);
    EXPECT_EQ(process.line(), "INIT");
    return process;
}

void expect_end(Process& process, const std::string& line) {
    EXPECT_EQ(process.line(), line);
    process.go_on();
    EXPECT_EQ(process.wait(), 0);
}

/// A client makes all calls: connect, commit, fence with data, direct modex, finalize.
void expect_service(Host& host) {
    const auto job = host.start_job(2, 1);
    std::vector<Process> processes;
    for (const pmix_rank_t rank : job.nodes[0])
        processes.push_back(host.start(job, rank, {"fence", "2", "collect"}));
    for (Process& process : processes)
        EXPECT_EQ(process.wait(), 0);
}

/// Returns the variables of PMIx_server_setup_fork, one per line; empty on failure.
std::string fork_environment(const pmix_proc_t& proc) {
    char** variables = nullptr;
    std::string text;
    if (PMIx_server_setup_fork(&proc, &variables) == PMIX_SUCCESS) {
        for (char** variable = variables; variable != nullptr && *variable != nullptr; ++variable)
            text += std::string(*variable) + "\n";
    }
    PMIx_Argv_free(variables);
    return text;
}

// Slurm does so; its children then call exec, and its other threads continue to use the library meanwhile.
TEST(Manners, SetupForkMayRunInTheChild) {
    covers("SRV-34");
    Host host;
    const auto job = host.start_job(1, 1);
    const pmix_proc_t proc = process_of(job, 0);
    const std::string expected = fork_environment(proc);
    ASSERT_NE(expected.find("PMIX_NAMESPACE=" + job.nspace), std::string::npos);
    std::atomic<bool> over{false};
    std::thread busy([&] {
        for (int round = 0; !over; ++round) {
            const std::string name = "busy" + std::to_string(round % 4);
            pmix_info_t info;
            const uint32_t size = 1;
            PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
            PMIx_server_register_nspace(name.c_str(), 1, &info, 1, nullptr, nullptr);
            PMIx_server_deregister_nspace(name.c_str(), nullptr, nullptr);
        }
    });
    for (int round = 0; round < 20; ++round) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(30);
            const std::string text = fork_environment(proc);
            _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
        }
        close(ends[1]);
        std::string text;
        char piece[4096];
        for (ssize_t got = 0; (got = read(ends[0], piece, sizeof piece)) > 0;)
            text.append(piece, static_cast<size_t>(got));
        close(ends[0]);
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(text, expected);
    }
    over = true;
    busy.join();
}

// --- answers of upcalls ---

TEST(Manners, UpcallsMayCompleteAtOnceWithoutACallback) {
    covers("SRV-57", "SRV-61", "SRV-65");
    Host host([](pmix_server_module_t& module) {
        module.client_connected2 = [](const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t,
                                      void*) -> pmix_status_t { return PMIX_OPERATION_SUCCEEDED; };
        module.client_finalized = [](const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) -> pmix_status_t {
            return PMIX_OPERATION_SUCCEEDED;
        };
        module.abort = [](const pmix_proc_t*, void*, int, const char*, pmix_proc_t*, size_t, pmix_op_cbfunc_t,
                          void*) -> pmix_status_t { return PMIX_OPERATION_SUCCEEDED; };
        module.fence_nb = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t,
                             pmix_modex_cbfunc_t, void*) -> pmix_status_t {
            free(data);
            return PMIX_OPERATION_SUCCEEDED;
        };
        module.direct_modex = [](const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t,
                                 void*) -> pmix_status_t { return PMIX_OPERATION_SUCCEEDED; };
    });
    expect_service(host);
    const auto job = host.start_job(1, 1);
    auto aborts = host.start(job, 0, {"abort", "1", "at once"});
    EXPECT_EQ(aborts.line(), "INIT");
    EXPECT_EQ(aborts.line(), ended("ABORT", PMIX_SUCCESS));
    EXPECT_EQ(aborts.wait(), 0);
    // A direct modex that completes without data has found nothing.
    auto asks = core_client(host, job, 0, {"get", "1", "anything", "20"});
    expect_end(asks, ended("GET", PMIX_ERR_NOT_FOUND));
}

TEST(Manners, ARefusedUpcallFailsTheCallOfTheClient) {
    covers("SRV-69", "SRV-74");
    Host host([](pmix_server_module_t& module) {
        module.fence_nb = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t,
                             pmix_modex_cbfunc_t, void*) -> pmix_status_t {
            free(data);
            return PMIX_ERR_NOT_SUPPORTED;
        };
        module.direct_modex = [](const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t,
                                 void*) -> pmix_status_t { return PMIX_ERR_NOT_SUPPORTED; };
    });
    const auto job = host.start_job(1, 1);
    auto fences = core_client(host, job, 0, {"fence", "20"});
    expect_end(fences, ended("FENCE", PMIX_ERR_NOT_SUPPORTED));
    auto asks = core_client(host, job, 0, {"get", "1", "anything", "20"});
    expect_end(asks, ended("GET", PMIX_ERR_NOT_SUPPORTED));
}

TEST(Manners, AHostMayRejectAClient) {
    covers("SRV-57");
    Host host([](pmix_server_module_t& module) {
        module.client_connected2 = [](const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                                      void* context) -> pmix_status_t {
            done(PMIX_ERR_NO_PERMISSIONS, context);
            return PMIX_SUCCESS;
        };
    });
    auto client = host.start(host.start_job(1), 0, {"refused"});
    EXPECT_EQ(client.line(), ended("REFUSED", PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(client.wait(), 0);
}

TEST(Manners, ASecondCallbackInsideTheUpcallIsIgnored) {
    static std::atomic<int> answers{0};
    static std::atomic<int> released{0};
    answers = released = 0;
    auto host = std::make_unique<Host>([](pmix_server_module_t& module) {
        module.client_connected2 = [](const pmix_proc_t*, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                                      void* context) -> pmix_status_t {
            done(PMIX_SUCCESS, context);
            done(PMIX_ERROR, context);
            return PMIX_SUCCESS;
        };
        module.client_finalized = [](const pmix_proc_t*, void*, pmix_op_cbfunc_t done,
                                     void* context) -> pmix_status_t {
            done(PMIX_SUCCESS, context);
            done(PMIX_SUCCESS, context);
            return PMIX_OPERATION_SUCCEEDED;  // and a third time
        };
        module.fence_nb = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t size,
                             pmix_modex_cbfunc_t done, void* context) -> pmix_status_t {
            const auto release = [](void*) { ++released; };
            done(PMIX_SUCCESS, data, size, context, release, nullptr);
            done(PMIX_ERROR, data, size, context, release, nullptr);
            answers += 2;
            free(data);
            return PMIX_SUCCESS;
        };
    });
    expect_service(*host);
    host.reset();
    EXPECT_GT(answers, 0);
    EXPECT_EQ(released, answers) << "each answer's data is given back";
}

// --- a host that behaves like Slurm ---

/// The state of such a host for its module's functions, which have no context.
struct Step {
    std::mutex lock;  ///< held while a fence is answered, and taken to free the data of the answer
    std::atomic<int> fences{0};
    std::atomic<int> alone{0};  ///< of the fences, those that Slurm would answer without the other nodes
    std::atomic<int> released{0};
    std::atomic<int> stuck{0};
    std::atomic<int> events{0};
} step;

void step_release(void* data) {
    // Slurm would hang here, and with it the progress thread.
    bool taken = false;
    for (int i = 0; i < 5000 && !taken; ++i) {
        taken = step.lock.try_lock();
        if (!taken) usleep(1000);
    }
    if (taken) {
        step.lock.unlock();
    } else {
        ++step.stuck;
    }
    free(data);
    ++step.released;
}

pmix_status_t step_fence(const pmix_proc_t*, size_t, const pmix_info_t* info, size_t count, char* data,
                         size_t size, pmix_modex_cbfunc_t done, void* context) {
    const std::lock_guard guard(step.lock);
    const bool told = std::any_of(info, info + count, [](const pmix_info_t& directive) {
        return PMIx_Check_key(directive.key, PMIX_COLLECT_DATA);
    });
    if (!told || size == 0) ++step.alone;
    // The first is answered inside the upcall, the next by another thread of the host.
    if (step.fences++ % 2 == 0) {
        done(PMIX_SUCCESS, data, size, context, step_release, data);
    } else {
        std::thread([=] {
            const std::lock_guard later(step.lock);
            done(PMIX_SUCCESS, data, size, context, step_release, data);
        }).detach();
    }
    return PMIX_SUCCESS;
}

// Open MPI 4.1 calls PMIx_Get, before it asks the other node, from the thread that must answer.
TEST(Manners, AHostMayCallGetInsideItsDirectModexUpcall) {
    static std::atomic<pmix_status_t> looked{PMIX_SUCCESS};
    Host host([](pmix_server_module_t& module) {
        module.direct_modex = [](const pmix_proc_t* proc, const pmix_info_t*, size_t,
                                 pmix_modex_cbfunc_t done, void* context) -> pmix_status_t {
            std::thread([proc = *proc, done, context] {
                pmix_value_t* value = nullptr;
                looked = PMIx_Get(&proc, "modex", nullptr, 0, &value);
                done(PMIX_ERR_NOT_SUPPORTED, nullptr, 0, context, nullptr, nullptr);
            }).detach();
            return PMIX_SUCCESS;
        };
    });
    auto asks = core_client(host, host.start_job(1, 1), 0, {"get", "1", "anything", "20"});
    expect_end(asks, ended("GET", PMIX_ERR_NOT_SUPPORTED));
    EXPECT_EQ(looked, PMIX_ERR_NOT_FOUND);
}

// Slurm 22.05: the old upcall for connecting clients, never answered; a node id that contradicts the map; a
// fence waits for other nodes only if it has data and names PMIX_COLLECT_DATA; the data of a fence are
// released under the lock under which it was answered; any event in its default handler kills the job, and
// the handler never completes.
TEST(Manners, AHostThatActsLikeSlurmServesItsJob) {
    covers("SRV-57", "SRV-65");
    step.fences = step.alone = step.released = step.stuck = step.events = 0;
    auto host = std::make_unique<Host>([](pmix_server_module_t& module) {
        module = {};
        module.client_connected = [](const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) -> pmix_status_t {
            return PMIX_SUCCESS;
        };
        module.fence_nb = step_fence;
        module.direct_modex = [](const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t done,
                                 void* context) -> pmix_status_t {
            done(PMIX_ERR_NOT_FOUND, nullptr, 0, context, nullptr, nullptr);
            return PMIX_SUCCESS;
        };
    });
    ASSERT_GE(PMIx_Register_event_handler(
                  nullptr, 0, nullptr, 0,
                  [](size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
                     pmix_event_notification_cbfunc_fn_t, void*) { ++step.events; },
                  nullptr, nullptr),
              0);
    for (int round = 0; round < 2; ++round) {
        const auto job = host->start_job(2, 1, [](void* list) {
            const pmix_rank_t rank = 0;
            const uint32_t wrong = 7;
            pmix_info_t about[2];
            PMIX_INFO_LOAD(&about[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
            PMIX_INFO_LOAD(&about[1], PMIX_NODEID, &wrong, PMIX_UINT32);
            pmix_data_array_t array{PMIX_INFO, 2, about};
            EXPECT_EQ(PMIx_Info_list_add(list, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
        });
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0])
            processes.push_back(host->start(job, rank, {"fence", "2", round == 0 ? "collect" : "bare"}));
        for (Process& process : processes)
            EXPECT_EQ(process.wait(), 0);
        host->deregister_job(job);
    }
    host.reset();
    EXPECT_GE(step.fences, 2);
    EXPECT_EQ(step.alone, 0) << "a fence that such a host does not let the nodes make together";
    EXPECT_EQ(step.released, step.fences);
    EXPECT_EQ(step.stuck, 0) << "the data was given back inside the host's own call";
    EXPECT_EQ(step.events, 0) << "nothing went wrong, so nothing may reach the default handler";
}

// --- late or missing answers ---

struct Kept {
    std::mutex lock;
    pmix_modex_cbfunc_t done = nullptr;
    void* context = nullptr;
    int released = 0;
} kept;

pmix_status_t keep_fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t,
                         pmix_modex_cbfunc_t done, void* context) {
    free(data);
    std::lock_guard guard(kept.lock);
    kept.done = done;
    kept.context = context;
    return PMIX_SUCCESS;
}

bool fence_is_there() {
    for (int i = 0; i < 20000; ++i) {
        {
            std::lock_guard guard(kept.lock);
            if (kept.done != nullptr) return true;
        }
        usleep(1000);
    }
    return false;
}

TEST(Manners, ACallbackAfterServerFinalizeIsIgnored) {
    kept.done = nullptr;  // remains of an earlier run
    kept.released = 0;
    {
        Host host([](pmix_server_module_t& module) { module.fence_nb = keep_fence; });
        auto client = core_client(host, host.start_job(1, 1), 0, {"fence", "0"});
        ASSERT_TRUE(fence_is_there());
    }
    char data[4] = "abc";
    const auto release = [](void* context) { ++*static_cast<int*>(context); };
    kept.done(PMIX_SUCCESS, data, sizeof data, kept.context, release, &kept.released);
    EXPECT_EQ(kept.released, 1);
    // It does not reach the next server of this process either.
    Host next;
    kept.done(PMIX_ERROR, nullptr, 0, kept.context, nullptr, nullptr);
    expect_service(next);
}

TEST(Manners, ACallTimesOutWhenTheHostNeverAnswers) {
    covers("SRV-68", "SRV-74");
    Host host;
    host.hold("fence");
    host.hold("modex");
    const auto job = host.start_job(2, 1);
    auto first = core_client(host, job, 0, {"fence", "1"});
    auto second = core_client(host, job, 1, {"fence", "1"});
    // Both before the first ends: the second may be late, and would not wait for an ended process.
    EXPECT_EQ(first.line(), ended("FENCE", PMIX_ERR_TIMEOUT));
    EXPECT_EQ(second.line(), ended("FENCE", PMIX_ERR_TIMEOUT));
    for (Process* process : {&first, &second}) {
        process->go_on();
        EXPECT_EQ(process->wait(), 0);
    }
    const auto another = host.start_job(1, 1);
    auto asks = core_client(host, another, 0, {"get", "1", "anything", "1"});
    expect_end(asks, ended("GET", PMIX_ERR_TIMEOUT));
    // The late answers have no effect.
    host.release("fence");
    host.release("modex");
    expect_service(host);
}

TEST(Manners, RegisteringTheJobAgainDoesNotExtendATimeout) {
    Host host;
    const auto job = host.start_job(2);
    auto asks = core_client(host, job, 0, {"get", "1", "anything", "1"});
    std::string said;
    for (int i = 0; i < 200 && said.empty(); ++i) {
        EXPECT_EQ(host.register_job(job), PMIX_SUCCESS);
        said = asks.line(0.1);
    }
    EXPECT_EQ(said, ended("GET", PMIX_ERR_TIMEOUT));
    asks.go_on();
    EXPECT_EQ(asks.wait(), 0);
}

TEST(Manners, AClientMayEndBeforeTheHostAnswers) {
    covers("SRV-57");
    Host host;
    host.hold("connected");
    const auto job = host.start_job(2);
    auto gives_up = host.start(job, 0, {"init"});
    ASSERT_TRUE(host.wait_for("connected", 1));
    gives_up.signal(SIGKILL);
    EXPECT_EQ(gives_up.wait(), 128 + SIGKILL);
    host.release("connected");
    auto again = host.start(job, 0, {"init"});
    EXPECT_EQ(again.line(), "INIT");
    again.go_on();
    EXPECT_EQ(again.wait(), 0);
}

TEST(Manners, ADepartedClientHoldsNoDescriptorWhileTheHostDoesNotAnswer) {
    covers("SRV-57");
    const auto descriptors = [] {
        const auto all = std::filesystem::directory_iterator("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    Host host;
    host.hold("connected");
    const auto job = host.start_job(2);
    const auto before = descriptors();
    for (size_t i = 1; i <= 5; ++i) {
        auto gives_up = host.start(job, 0, {"init"});
        ASSERT_TRUE(host.wait_for("connected", i));
        gives_up.signal(SIGKILL);
        EXPECT_EQ(gives_up.wait(), 128 + SIGKILL);
    }
    for (int i = 0; descriptors() > before && i < 1000; ++i)
        usleep(10000);
    EXPECT_LE(descriptors(), before);
    host.release("connected");
}

TEST(Manners, TheModuleAndInfosMayBeFreedAfterInit) {
    covers("SRV-55");
    static pmix_server_module_t* given = nullptr;
    std::vector<pmix_info_t> directives(1);
    memset(directives.data(), 0, sizeof(pmix_info_t));
    ASSERT_EQ(PMIx_Info_load(directives.data(), PMIX_SERVER_NSPACE, "given-and-gone", PMIX_STRING),
              PMIX_SUCCESS);
    Host host([](pmix_server_module_t& module) { given = &module; }, directives);
    memset(static_cast<void*>(given), 0xee, sizeof *given);
    PMIx_Info_destruct(directives.data());
    expect_service(host);
}

// --- departures while others wait ---

TEST(Ends, DeregisteringANamespaceFailsItsFencesAndGets) {
    covers("SRV-27", "SRV-33");
    Host host;
    const auto job = host.start_job(3);
    auto fences = core_client(host, job, 0, {"fence", "0"});
    auto asks = core_client(host, job, 1, {"get", "2", "never.posted", "0"});
    ModexRequest request(job, 2);
    ASSERT_TRUE(until_waiting(2));
    host.deregister_job(job);
    expect_end(fences, ended("FENCE", PMIX_ERR_INVALID_NAMESPACE));
    // A deregistered object is not found.
    const std::string answer = asks.line();
    EXPECT_TRUE(answer.rfind("GET ", 0) == 0 && answer != ended("GET", PMIX_SUCCESS)) << answer;
    asks.go_on();
    EXPECT_EQ(asks.wait(), 0);
    EXPECT_TRUE(request.done(20));
    EXPECT_EQ(request.status(), PMIX_ERR_INVALID_NAMESPACE);
    EXPECT_TRUE(host.upcalls("finalized").empty()) << "their connections were closed";
    expect_service(host);
}

TEST(Ends, DeregisteringAClientFailsRequestsThatWaitForIt) {
    covers("SRV-33");
    Host host;
    const auto job = host.start_job(4);
    auto gone = core_client(host, job, 3, {"fence", "0"});
    auto fences = core_client(host, job, 0, {"fence", "0"});
    auto asks = core_client(host, job, 1, {"get", "2", "never.posted", "0"});
    ModexRequest request(job, 2);
    ASSERT_TRUE(until_waiting(3));
    host.deregister_client(job, 2);  // never connected
    expect_end(fences, ended("FENCE", PMIX_ERR_LOST_CONNECTION));
    expect_end(asks, ended("GET", PMIX_ERR_NOT_FOUND));
    EXPECT_TRUE(request.done(20));
    EXPECT_EQ(request.status(), PMIX_ERR_NOT_FOUND);
    host.deregister_client(job, 3);  // connected, its call has ended with the others'
    EXPECT_EQ(gone.line(), ended("FENCE", PMIX_ERR_LOST_CONNECTION));
    gone.go_on();
    EXPECT_EQ(gone.wait(), 0);
    // From now on no process waits for them.
    auto later = core_client(host, job, 0, {"get", "2", "never.posted", "0"});
    expect_end(later, ended("GET", PMIX_ERR_NOT_FOUND));
    auto later_fence = core_client(host, job, 1, {"fence", "0"});
    expect_end(later_fence, ended("FENCE", PMIX_ERR_LOST_CONNECTION));
    // Until the host registers it again.
    ASSERT_EQ(host.register_client(job, 2, geteuid(), getegid()), PMIX_SUCCESS);
    auto back = host.start(job, 2, {"init"});
    EXPECT_EQ(back.line(), "INIT");
    back.go_on();
    EXPECT_EQ(back.wait(), 0);
}

TEST(Ends, ServerFinalizeFailsCallsOfTheHost) {
    std::atomic<pmix_status_t> got{PMIX_SUCCESS};
    std::thread asker;
    std::unique_ptr<ModexRequest> request;
    {
        Host host;
        host.hold("modex");
        const auto job = host.start_job(1, 1);
        request = std::make_unique<ModexRequest>(job, 0);
        asker = std::thread([&got, proc = process_of(job, 1)] {
            pmix_value_t* value = nullptr;
            const int seconds = 60;
            pmix_info_t patience;
            PMIX_INFO_LOAD(&patience, PMIX_TIMEOUT, &seconds, PMIX_INT);
            got = PMIx_Get(&proc, "never.answered", &patience, 1, &value);
        });
        ASSERT_TRUE(host.wait_for("modex", 1));
    }
    asker.join();
    EXPECT_NE(got, PMIX_SUCCESS);
    EXPECT_TRUE(request->done(20));
    EXPECT_NE(request->status(), PMIX_SUCCESS);
}

TEST(Ends, ServerFinalizeFailsCallsOfItsClients) {
    std::unique_ptr<Process> fences, asks, works;
    {
        Host host;
        const auto job = host.start_job(3);
        works = std::make_unique<Process>(core_client(host, job, 2, {"orphaned"}));
        fences = std::make_unique<Process>(core_client(host, job, 0, {"fence", "0"}));
        asks = std::make_unique<Process>(core_client(host, job, 1, {"get", "2", "never.posted", "0"}));
        ASSERT_TRUE(until_waiting(2));
    }
    expect_end(*fences, ended("FENCE", PMIX_ERR_LOST_CONNECTION));
    expect_end(*asks, ended("GET", PMIX_ERR_LOST_CONNECTION));
    works->go_on();
    EXPECT_EQ(works->line(), "END");
    EXPECT_EQ(works->wait(), 0);
}

TEST(Ends, AServerMayBeInitializedAndFinalizedManyTimes) {
    for (int i = 0; i < 30; ++i) {
        Host host;
        if (i % 10 != 0) continue;
        auto client = host.start(host.start_job(1), 0, {"init"});
        EXPECT_EQ(client.line(), "INIT");
        client.go_on();
        EXPECT_EQ(client.wait(), 0);
    }
}

// --- the host as a separate process ---

TEST(HostItself, MayPutGetAndFence) {
    covers("SRV-01");
    Host host;
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_UINT32;
    value.data.uint32 = 7;
    EXPECT_EQ(PMIx_Put(PMIX_GLOBAL, "host.key", &value), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Commit(), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Fence(nullptr, 0, nullptr, 0), PMIX_SUCCESS);
    pmix_value_t* found = nullptr;
    ASSERT_EQ(PMIx_Get(nullptr, "host.key", nullptr, 0, &found), PMIX_SUCCESS);
    EXPECT_EQ(found->data.uint32, 7U);
    PMIx_Value_destruct(found);
    free(found);
}

TEST(HostItself, WrongArgumentsAreRefused) {
    Host host;
    const auto job = host.start_job(1);
    const std::string long_name(PMIX_MAX_NSLEN + 1, 'n');
    pmix_proc_t proc = process_of(job, 0);
    EXPECT_EQ(PMIx_server_register_nspace(nullptr, 1, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_nspace("", 1, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_nspace(long_name.c_str(), 1, nullptr, 0, nullptr, nullptr),
              PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_nspace("job", 1, nullptr, 3, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_client(nullptr, 0, 0, nullptr, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_setup_fork(&proc, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_dmodex_request(&proc, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    // Deregistering a missing entry is not an error.
    PMIx_server_deregister_nspace("no-such-job", nullptr, nullptr);
    proc.rank = 99;
    PMIx_server_deregister_client(&proc, nullptr, nullptr);
    expect_service(host);
}

}  // namespace
