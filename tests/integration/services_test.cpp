// SPDX-License-Identifier: BSD-3-Clause
// The services between clients and their host: arguments of the upcalls, results, and hosts without the
// upcall or with late or missing answers (Standard: Server-Specific Interfaces).
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace {

using integration::Host;

/// The arguments of this file's upcalls, and their state.
struct Seen {
    std::mutex lock;
    std::condition_variable changed;
    std::map<std::string, int> calls;
    std::map<std::string, std::vector<std::string>> keys;  ///< of the infos of an upcall's last call
    std::map<std::string, uint32_t> uids;
    std::map<std::string, std::pair<std::string, pmix_rank_t>> published;  ///< key: value and owner
    std::vector<std::thread> threads;

    void note(const std::string& name, const pmix_info_t info[], size_t ninfo) {
        std::lock_guard guard(lock);
        ++calls[name];
        keys[name].clear();
        for (size_t i = 0; i < ninfo; ++i) {
            keys[name].push_back(info[i].key);
            if (std::strcmp(info[i].key, PMIX_USERID) == 0) uids[name] = info[i].value.data.uint32;
        }
        changed.notify_all();
    }
    bool has(const std::string& name, const std::string& key) {
        std::lock_guard guard(lock);
        return std::count(keys[name].begin(), keys[name].end(), key) == 1;
    }
    int count(const std::string& name) {
        std::lock_guard guard(lock);
        return calls[name];
    }
};
Seen* seen = nullptr;

class Services : public ::testing::Test {
  protected:
    void SetUp() override { seen = &seen_; }
    void TearDown() override {
        for (std::thread& thread : seen_.threads)
            thread.join();
        seen = nullptr;
    }
    /// Runs the client with these words and returns its first line.
    static std::string ask(Host& host, const Host::Job& job, pmix_rank_t rank,
                           const std::vector<std::string>& words) {
        auto client = host.start_program(job, rank, SERVICES_CLIENT, words);
        const std::string line = client.line();
        EXPECT_EQ(client.wait(), 0) << line;
        return line;
    }
    Seen seen_;
};

pmix_status_t on_publish(const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t,
                         void*) {
    seen->note("publish", info, ninfo);
    for (size_t i = 0; i < ninfo; ++i) {
        if (info[i].value.type == PMIX_STRING)
            seen->published[info[i].key] = {info[i].value.data.string, proc->rank};
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/// Answers later, from its own thread, and twice.
pmix_status_t on_lookup(const pmix_proc_t*, char** keys, const pmix_info_t info[], size_t ninfo,
                        pmix_lookup_cbfunc_t done, void* context) {
    seen->note("lookup", info, ninfo);
    std::vector<std::string> wanted;
    for (; *keys != nullptr; ++keys)
        wanted.emplace_back(*keys);
    seen->threads.emplace_back([wanted, done, context] {
        std::vector<pmix_pdata_t> found;
        for (const std::string& key : wanted) {
            const auto entry = seen->published.find(key);
            if (entry == seen->published.end()) continue;
            pmix_pdata_t data{};
            snprintf(data.key, sizeof data.key, "%s", key.c_str());
            data.proc.rank = entry->second.second;
            data.value.type = PMIX_STRING;
            data.value.data.string = entry->second.first.data();
            found.push_back(data);
        }
        done(PMIX_SUCCESS, found.data(), found.size(), context);
        done(PMIX_ERR_NOT_FOUND, nullptr, 0, context);
    });
    return PMIX_SUCCESS;
}

pmix_status_t on_unpublish(const pmix_proc_t*, char** keys, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t, void*) {
    seen->note(keys == nullptr ? "unpublish all" : "unpublish", info, ninfo);
    if (keys != nullptr) seen->published.erase(*keys);
    return PMIX_OPERATION_SUCCEEDED;
}

void with_directory(pmix_server_module_t& module) {
    module.publish = on_publish;
    module.lookup = on_lookup;
    module.unpublish = on_unpublish;
}

TEST_F(Services, PublishAndLookupPassTheUserAndGroupOfTheCaller) {
    covers("SRV-75", "SRV-80", "SRV-49");
    Host host(with_directory);
    const auto job = host.start_job(2);
    EXPECT_EQ(ask(host, job, 0, {"publish", "test.key", "text"}), "PUBLISH SUCCESS");
    EXPECT_TRUE(seen_.has("publish", PMIX_USERID));
    EXPECT_TRUE(seen_.has("publish", PMIX_GRPID));
    EXPECT_EQ(seen_.uids["publish"], geteuid()) << "the client's own claim was passed on";
    EXPECT_EQ(ask(host, job, 1, {"lookup", "test.key"}), "LOOKUP SUCCESS text@0");
    EXPECT_TRUE(seen_.has("lookup", PMIX_USERID));
    EXPECT_TRUE(seen_.has("lookup", PMIX_GRPID));
    EXPECT_EQ(ask(host, job, 1, {"unpublish", "test.key"}), "UNPUBLISH SUCCESS");
    EXPECT_TRUE(seen_.has("unpublish", PMIX_USERID));
    EXPECT_EQ(ask(host, job, 1, {"unpublish", "all"}), "UNPUBLISH SUCCESS");
    EXPECT_EQ(seen_.count("unpublish all"), 1);
}

TEST_F(Services, ALookupReportsPartialSuccess) {
    Host host(with_directory);
    const auto job = host.start_job(1);
    seen_.published["test.one"] = {"1", 0};
    EXPECT_EQ(ask(host, job, 0, {"lookup", "test.one", "test.two"}), "LOOKUP PARTIAL_SUCCESS 1@0 -");
    EXPECT_EQ(ask(host, job, 0, {"lookup", "test.two"}), "LOOKUP NOT_FOUND -");
}

TEST_F(Services, ACallTimesOutWhenTheHostNeverAnswers) {
    Host host([](pmix_server_module_t& module) {
        module.lookup = [](const pmix_proc_t*, char**, const pmix_info_t info[], size_t ninfo,
                           pmix_lookup_cbfunc_t, void*) {
            seen->note("lookup", info, ninfo);
            return PMIX_SUCCESS;
        };
    });
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"lookup_timeout", "test.key"}), "LOOKUP TIMEOUT -");
    EXPECT_TRUE(seen_.has("lookup", PMIX_TIMEOUT));
}

TEST_F(Services, AMissingUpcallReturnsNotSupported) {
    covers("SRV-46");
    Host host;
    const auto job = host.start_job(1);
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"each"});
    size_t lines = 0;
    for (std::string line = client.line(); line != "END" && !line.empty(); line = client.line(), ++lines) {
        // The library has its own credentials.
        const char* expected = line.starts_with("CREDENTIAL") ? " SUCCESS" : " NOT_SUPPORTED";
        EXPECT_NE(line.find(expected), std::string::npos) << line;
    }
    EXPECT_EQ(lines, 15U);
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Services, SpawnPassesTheRequesterAndReturnsTheDataOfTheNewJob) {
    covers("SRV-50");
    static Host* the_host = nullptr;
    static pmix_proc_t parent;
    static std::string command;
    static std::mutex lock;  // guards parent and command, which the upcall sets on another thread
    Host host([](pmix_server_module_t& module) {
        module.spawn = [](const pmix_proc_t*, const pmix_info_t info[], size_t ninfo, const pmix_app_t apps[],
                          size_t, pmix_spawn_cbfunc_t done, void* context) {
            seen->note("spawn", info, ninfo);
            std::lock_guard guard(lock);
            for (size_t i = 0; i < ninfo; ++i) {
                if (std::strcmp(info[i].key, PMIX_PARENT_ID) == 0) parent = *info[i].value.data.proc;
            }
            command = apps[0].cmd;
            seen->threads.emplace_back([done, context] {
                Host::Job job{"spawned-job", {{0, 1, 2}}};
                the_host->register_job(job);
                char nspace[] = "spawned-job";
                done(PMIX_SUCCESS, nspace, context);
            });
            return PMIX_SUCCESS;
        };
    });
    the_host = &host;
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"spawn", "program"}), "SPAWN SUCCESS spawned-job 3");
    for (const char* key : {PMIX_USERID, PMIX_GRPID, PMIX_SPAWNED, PMIX_PARENT_ID, PMIX_REQUESTOR_IS_CLIENT})
        EXPECT_TRUE(seen_.has("spawn", key)) << key;
    std::lock_guard guard(lock);
    EXPECT_EQ(parent.nspace, job.nspace);
    EXPECT_EQ(command, "program");
}

TEST_F(Services, AHostThatCannotStopTheProgramFailsTheSpawn) {
    covers("TOOL-89");
    Host host([](pmix_server_module_t& module) {
        module.spawn = [](const pmix_proc_t*, const pmix_info_t[], size_t, const pmix_app_t apps[], size_t,
                          pmix_spawn_cbfunc_t, void*) -> pmix_status_t {
            const bool stops =
                apps[0].ninfo == 1 && PMIx_Check_key(apps[0].info[0].key, PMIX_DEBUG_STOP_IN_APP);
            return stops ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
        };
    });
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"spawn", "program", "stop"}), "SPAWN NOT_SUPPORTED  0");
}

void with_connect(pmix_server_module_t& module) {
    module.connect = [](const pmix_proc_t[], size_t, const pmix_info_t info[], size_t ninfo,
                        pmix_op_cbfunc_t done, void* context) {
        seen->note("connect", info, ninfo);
        seen->threads.emplace_back([done, context] { done(PMIX_SUCCESS, context); });
        return PMIX_SUCCESS;
    };
    module.disconnect = [](const pmix_proc_t[], size_t, const pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t, void*) {
        seen->note("disconnect", info, ninfo);
        return PMIX_OPERATION_SUCCEEDED;
    };
}

TEST_F(Services, ConnectCallsTheHostOnceAndReturnsTheDataOfTheOtherJobs) {
    Host host(with_connect);
    const auto one = host.start_job(2);
    const auto two = host.start_job(1);
    auto first = host.start_program(one, 0, SERVICES_CLIENT, {"connect", two.nspace});
    auto second = host.start_program(one, 1, SERVICES_CLIENT, {"connect", two.nspace});
    auto third = host.start_program(two, 0, SERVICES_CLIENT, {"connect", one.nspace});
    EXPECT_EQ(first.line(), "CONNECT SUCCESS 1");
    EXPECT_EQ(second.line(), "CONNECT SUCCESS 1");
    EXPECT_EQ(third.line(), "CONNECT SUCCESS 2");
    for (auto* client : {&first, &second, &third}) {
        EXPECT_EQ(client->line(), "DISCONNECT SUCCESS");
        EXPECT_EQ(client->wait(), 0);
    }
    EXPECT_EQ(seen_.count("connect"), 1);
    EXPECT_EQ(seen_.count("disconnect"), 1);
}

TEST_F(Services, DisconnectFailsWithoutConnect) {
    Host host(with_connect);
    const auto one = host.start_job(1);
    const auto two = host.start_job(1);
    auto first = host.start_program(one, 0, SERVICES_CLIENT, {"disconnect", two.nspace});
    auto second = host.start_program(two, 0, SERVICES_CLIENT, {"disconnect", one.nspace});
    EXPECT_EQ(first.line(), "DISCONNECT INVALID_OPERATION");
    EXPECT_EQ(second.line(), "DISCONNECT INVALID_OPERATION");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(seen_.count("disconnect"), 0);
}

TEST_F(Services, ConnectFailsWhenAParticipantDies) {
    Host host(with_connect);
    const auto one = host.start_job(1);
    const auto two = host.start_job(1);
    auto waiting = host.start_program(one, 0, SERVICES_CLIENT, {"connect", two.nspace});
    auto gone = host.start(two, 0, {"vanish"});
    EXPECT_EQ(gone.wait(), 0);
    EXPECT_EQ(waiting.line(), "CONNECT LOST_CONNECTION 0");
    waiting.wait();
    EXPECT_EQ(seen_.count("connect"), 0);
}

TEST_F(Services, AQueryMergesResultsOfLibraryAndHost) {
    Host host([](pmix_server_module_t& module) {
        module.query = [](pmix_proc_t*, pmix_query_t* queries, size_t, pmix_info_cbfunc_t done,
                          void* context) {
            seen->note("query", queries[0].qualifiers, queries[0].nqual);
            EXPECT_EQ(queries[0].keys[1], nullptr) << "what the library knows was asked of the host";
            const std::string key = queries[0].keys[0];
            seen->threads.emplace_back([done, context, key] {
                if (key != PMIX_QUERY_QUEUE_LIST)
                    return done(PMIX_ERR_NOT_FOUND, nullptr, 0, context, nullptr, nullptr);
                pmix_info_t info{};
                PMIx_Info_load(&info, key.c_str(), "queues", PMIX_STRING);
                done(PMIX_SUCCESS, &info, 1, context, nullptr, nullptr);
                PMIx_Info_destruct(&info);
            });
            return PMIX_SUCCESS;
        };
    });
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"query", PMIX_QUERY_QUEUE_LIST, PMIX_QUERY_STABLE_ABI_VERSION}),
              std::string("QUERY SUCCESS ") + PMIX_QUERY_STABLE_ABI_VERSION + "=0.0 " +
                  PMIX_QUERY_QUEUE_LIST + "=queues");
    EXPECT_TRUE(seen_.has("query", PMIX_USERID));
    EXPECT_EQ(ask(host, job, 0, {"query", "test.unknown"}), "QUERY NOT_FOUND");
    EXPECT_EQ(ask(host, job, 0, {"query", "test.unknown", PMIX_QUERY_STABLE_ABI_VERSION}),
              std::string("QUERY PARTIAL_SUCCESS ") + PMIX_QUERY_STABLE_ABI_VERSION + "=0.0");
}

TEST_F(Services, LogEntriesReachTheHostWithTheirSource) {
    covers("SRV-52");
    Host host([](pmix_server_module_t& module) {
        module.log = [](const pmix_proc_t*, const pmix_info_t data[], size_t ndata,
                        const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t done, void* context) {
            seen->note("log", directives, ndirs);
            EXPECT_EQ(ndata, 1U);
            EXPECT_STREQ(data[0].key, PMIX_LOG_JOB_RECORD);
            done(PMIX_SUCCESS, context);
        };
    });
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"log"}), "LOG SUCCESS");
    for (const char* key : {PMIX_USERID, PMIX_GRPID, PMIX_LOG_SOURCE})
        EXPECT_TRUE(seen_.has("log", key)) << key;
}

/// A separate directory, removed at the end.
struct Scratch {
    std::string path;
    Scratch() {
        const char* base = std::getenv("TMPDIR");
        path = std::string(base == nullptr ? "/tmp" : base) + "/muster-services-XXXXXX";
        if (mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~Scratch() { rmdir(path.c_str()); }
    std::string file(const std::string& name) const {
        const std::string full = path + "/" + name;
        std::ofstream(full) << "x";
        return full;
    }
};

bool exists(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0;
}

TEST_F(Services, RegisteredFilesAreRemovedWhenTheProcessEnds) {
    Scratch scratch;
    Host host;
    const auto job = host.start_job(1);
    const std::string file = scratch.file("left");
    const std::string directory = scratch.path + "/tree";
    ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
    std::ofstream(directory + "/inner") << "x";
    EXPECT_EQ(ask(host, job, 0, {"cleanup", file}), "CLEANUP SUCCESS");
    EXPECT_EQ(ask(host, job, 0, {"cleanup_dir", directory}), "CLEANUP SUCCESS");
    EXPECT_TRUE(exists(file)) << "a process that said goodbye may still use its files";
    host.deregister_client(job, 0);
    EXPECT_FALSE(exists(file));
    EXPECT_FALSE(exists(directory));
}

TEST_F(Services, ARelativePathIsNotCleanedUp) {
    Host host;
    const auto job = host.start_job(1);
    EXPECT_EQ(ask(host, job, 0, {"cleanup", "relative"}), "CLEANUP BAD_PARAM");
}

/// An event handler of the host.
void on_alert(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t info[], size_t ninfo,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done, void* context) {
    seen->note("alert " + std::to_string(status), info, ninfo);
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

TEST_F(Services, MissingHeartbeatsGenerateAnEvent) {
    Host host;
    pmix_status_t code = PMIX_MONITOR_HEARTBEAT_ALERT;
    ASSERT_GE(PMIx_Register_event_handler(&code, 1, nullptr, 0, on_alert, nullptr, nullptr), 0);
    const auto job = host.start_job(1);
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"heartbeat", "stay"});
    EXPECT_EQ(client.line(), "MONITOR SUCCESS");
    const std::string name = "alert " + std::to_string(PMIX_MONITOR_HEARTBEAT_ALERT);
    std::unique_lock guard(seen_.lock);
    EXPECT_TRUE(
        seen_.changed.wait_for(guard, std::chrono::seconds(20), [&] { return seen_.calls[name] > 0; }));
    guard.unlock();
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Services, DataOfSetupApplicationReachesTheProcesses) {
    covers("SRV-40", "SRV-42", "SRV-43");
    setenv("PMIX_MCA_server_base_forward_environment", "TEST_FORWARD_*", 1);
    setenv("TEST_FORWARD_ONE", "first", 1);
    struct Gathered {
        std::mutex lock;
        std::condition_variable changed;
        bool done = false;
        std::vector<std::pair<std::string, std::string>> variables;
        pmix_info_t* info = nullptr;
        size_t ninfo = 0;
        pmix_op_cbfunc_t release = nullptr;
        void* release_data = nullptr;
    } gathered;
    Host host;
    const auto job = host.start_job(1);
    pmix_info_t want{};
    PMIx_Info_load(&want, PMIX_SETUP_APP_ENVARS, nullptr, PMIX_BOOL);
    const auto taken = [](pmix_status_t status, pmix_info_t info[], size_t ninfo, void* data,
                          pmix_op_cbfunc_t release, void* release_data) {
        auto& target = *static_cast<Gathered*>(data);
        EXPECT_EQ(status, PMIX_SUCCESS);
        std::lock_guard guard(target.lock);
        target.info = info;
        target.ninfo = ninfo;
        target.release = release;
        target.release_data = release_data;
        target.done = true;
        target.changed.notify_all();
    };
    ASSERT_EQ(PMIx_server_setup_application(job.nspace.c_str(), &want, 1, taken, &gathered), PMIX_SUCCESS);
    {
        std::unique_lock guard(gathered.lock);
        ASSERT_TRUE(
            gathered.changed.wait_for(guard, std::chrono::seconds(20), [&] { return gathered.done; }));
    }
    ASSERT_EQ(gathered.ninfo, 1U);
    EXPECT_STREQ(gathered.info[0].key, PMIX_SET_ENVAR);
    EXPECT_EQ(
        PMIx_server_setup_local_support(job.nspace.c_str(), gathered.info, gathered.ninfo, nullptr, nullptr),
        PMIX_OPERATION_SUCCEEDED);
    gathered.release(PMIX_SUCCESS, gathered.release_data);
    const auto environment = host.environment(job, 0);
    EXPECT_EQ(std::count(environment.begin(), environment.end(), "TEST_FORWARD_ONE=first"), 1);
    unsetenv("PMIX_MCA_server_base_forward_environment");
    unsetenv("TEST_FORWARD_ONE");
}

TEST_F(Services, AHostMayCallClientFunctionsThatReachItsOwnUpcalls) {
    covers("SRV-01");
    Host host(with_directory);
    pmix_info_t info{};
    PMIx_Info_load(&info, "test.host", "by the host", PMIX_STRING);
    EXPECT_EQ(PMIx_Publish(&info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    pmix_pdata_t data{};
    snprintf(data.key, sizeof data.key, "test.host");
    EXPECT_EQ(PMIx_Lookup(&data, 1, nullptr, 0), PMIX_SUCCESS);
    ASSERT_EQ(data.value.type, PMIX_STRING);
    EXPECT_STREQ(data.value.data.string, "by the host");
    PMIx_Value_destruct(&data.value);
    pmix_info_t* results = nullptr;
    size_t count = 0;
    EXPECT_EQ(PMIx_Allocation_request(PMIX_ALLOC_NEW, nullptr, 0, &results, &count), PMIX_ERR_NOT_SUPPORTED);
}

}  // namespace
