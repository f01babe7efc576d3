// SPDX-License-Identifier: BSD-3-Clause
// Harmless errors of hosts and clients: every registration and every service with bad arguments; namespaces
// deregistered and clients killed while they wait for an upcall; answers that arrive after that.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/hostile_infos.hpp"

namespace {

using integration::each_hostile;
using integration::Host;
using integration::Process;

pmix_proc_t process_of(const std::string& nspace, pmix_rank_t rank) {
    pmix_proc_t proc;
    PMIx_Load_procid(&proc, nspace.c_str(), rank);
    return proc;
}

/// Upcalls that are kept until the test answers them.
struct Pending {
    struct One {
        std::string name;
        std::function<void(pmix_status_t)> answer;
    };
    std::mutex lock;  // guards all below
    std::condition_variable changed;
    std::vector<One> open;
    bool hold = false;
    int calls = 0;

    pmix_status_t take(const char* name, std::function<void(pmix_status_t)> answer) {
        std::unique_lock guard(lock);
        ++calls;
        if (!hold) return PMIX_ERR_NOT_SUPPORTED;
        open.push_back({name, std::move(answer)});
        changed.notify_all();
        return PMIX_SUCCESS;
    }
    bool wait_for(const std::string& name) {
        std::unique_lock guard(lock);
        return changed.wait_for(guard, std::chrono::seconds(30),
                                [&] { return !open.empty() && open.back().name == name; });
    }
    void answer_all(pmix_status_t status) {
        std::vector<One> all;
        {
            std::lock_guard guard(lock);
            all.swap(open);
        }
        for (const One& one : all)
            one.answer(status);
    }
};
Pending* pending = nullptr;

auto as_op(pmix_op_cbfunc_t done, void* data) {
    return [=](pmix_status_t status) { done(status, data); };
}
auto as_info(pmix_info_cbfunc_t done, void* data) {
    // An answer with a count that does not match.
    return [=](pmix_status_t status) { done(status, nullptr, 3, data, nullptr, nullptr); };
}

/// A module that keeps every upcall of a service.
void keep_all(pmix_server_module_t& module) {
    module.publish = [](const pmix_proc_t*, const pmix_info_t*, size_t, pmix_op_cbfunc_t done, void* data) {
        return pending->take("publish", as_op(done, data));
    };
    module.lookup = [](const pmix_proc_t*, char**, const pmix_info_t*, size_t, pmix_lookup_cbfunc_t done,
                       void* data) {
        return pending->take("lookup", [=](pmix_status_t status) { done(status, nullptr, 3, data); });
    };
    module.unpublish = [](const pmix_proc_t*, char**, const pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                          void* data) { return pending->take("unpublish", as_op(done, data)); };
    module.spawn = [](const pmix_proc_t*, const pmix_info_t*, size_t, const pmix_app_t*, size_t,
                      pmix_spawn_cbfunc_t done, void* data) {
        return pending->take("spawn", [=](pmix_status_t status) { done(status, nullptr, data); });
    };
    module.connect = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                        void* data) { return pending->take("connect", as_op(done, data)); };
    module.disconnect = [](const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                           void* data) { return pending->take("disconnect", as_op(done, data)); };
    module.query = [](pmix_proc_t*, pmix_query_t*, size_t, pmix_info_cbfunc_t done, void* data) {
        return pending->take("query", as_info(done, data));
    };
    module.allocate = [](const pmix_proc_t*, pmix_alloc_directive_t, const pmix_info_t*, size_t,
                         pmix_info_cbfunc_t done,
                         void* data) { return pending->take("allocate", as_info(done, data)); };
    module.job_control = [](const pmix_proc_t*, const pmix_proc_t*, size_t, const pmix_info_t*, size_t,
                            pmix_info_cbfunc_t done,
                            void* data) { return pending->take("control", as_info(done, data)); };
    module.monitor = [](const pmix_proc_t*, const pmix_info_t*, pmix_status_t, const pmix_info_t*, size_t,
                        pmix_info_cbfunc_t done,
                        void* data) { return pending->take("monitor", as_info(done, data)); };
    module.log2 = [](const pmix_proc_t*, const pmix_info_t*, size_t, const pmix_info_t*, size_t,
                     pmix_op_cbfunc_t done, void* data) { return pending->take("log", as_op(done, data)); };
    module.get_credential = [](const pmix_proc_t*, const pmix_info_t*, size_t, pmix_credential_cbfunc_t done,
                               void* data) {
        return pending->take("credential", [=](pmix_status_t status) {
            pmix_byte_object_t nothing{nullptr, 99};
            done(status, &nothing, nullptr, 3, data);
        });
    };
    module.validate_credential = [](const pmix_proc_t*, const pmix_byte_object_t*, const pmix_info_t*, size_t,
                                    pmix_validation_cbfunc_t done, void* data) {
        return pending->take("validate", [=](pmix_status_t status) { done(status, nullptr, 3, data); });
    };
    module.fabric = [](const pmix_proc_t*, pmix_fabric_operation_t, const pmix_info_t*, size_t,
                       pmix_info_cbfunc_t done,
                       void* data) { return pending->take("fabric", as_info(done, data)); };
    module.session_control = [](const pmix_proc_t*, uint32_t, const pmix_info_t*, size_t,
                                pmix_info_cbfunc_t done,
                                void* data) { return pending->take("session", as_info(done, data)); };
    module.resource_block = [](const pmix_proc_t*, pmix_resource_block_directive_t, const char*,
                               const pmix_resource_unit_t*, size_t, const pmix_info_t*, size_t,
                               pmix_op_cbfunc_t done,
                               void* data) { return pending->take("block", as_op(done, data)); };
}

constexpr const char* kServices[] = {"publish",  "lookup",  "unpublish", "spawn", "query",
                                     "allocate", "control", "monitor",   "log",   "credential",
                                     "validate", "fabric",  "session",   "block"};

class BadUpcalls : public ::testing::Test {
  protected:
    void SetUp() override { pending = &pending_; }
    void TearDown() override { pending = nullptr; }

    static void expect_service(Host& host) {
        const auto job = host.start_job(2, 1);
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0])
            processes.push_back(host.start(job, rank, {"fence", "2", "collect"}));
        for (Process& process : processes)
            EXPECT_EQ(process.wait(), 0);
    }
    static Process ask(Host& host, const Host::Job& job, pmix_rank_t rank,
                       const std::vector<std::string>& words) {
        std::vector<std::string> all{"one"};
        all.insert(all.end(), words.begin(), words.end());
        return host.start_program(job, rank, SERVICES_CLIENT, all);
    }
    static std::string upper(std::string text) {
        for (char& c : text)
            c = static_cast<char>(toupper(c));
        return text;
    }
    /// The output of a client that the server has dropped.
    static void expect_ended(Process& process, const std::string& what) {
        const std::string line = process.line(30);
        EXPECT_EQ(line.rfind(upper(what) + " ", 0), 0U) << what << ": " << line;
        EXPECT_EQ(line.find(" SUCCESS"), std::string::npos) << line;
        process.wait();
    }
    Pending pending_;
};

TEST_F(BadUpcalls, DeregisteringTheNamespaceFailsPendingHostCalls) {
    covers("SRV-33");
    Host host(keep_all);
    pending_.hold = true;
    for (const char* service : kServices) {
        const auto job = host.start_job(1);
        auto client = ask(host, job, 0, {service});
        ASSERT_TRUE(pending_.wait_for(service)) << service;
        host.deregister_job(job);
        expect_ended(client, service);
        // The answer is late, and its counts are wrong.
        pending_.answer_all(PMIX_SUCCESS);
    }
    const auto one = host.start_job(1);
    const auto two = host.start_job(1);
    auto connects = host.start_program(one, 0, SERVICES_CLIENT, {"connect", two.nspace});
    auto other = host.start_program(two, 0, SERVICES_CLIENT, {"connect", one.nspace});
    ASSERT_TRUE(pending_.wait_for("connect"));
    host.deregister_job(two);
    expect_ended(other, "connect");
    // The host has been notified of the end itself: its answer applies to the other participant.
    pending_.answer_all(PMIX_ERR_LOST_CONNECTION);
    expect_ended(connects, "connect");
    expect_service(host);
}

TEST_F(BadUpcalls, AClientKilledInAServiceCallDoesNotStopTheServer) {
    Host host(keep_all);
    pending_.hold = true;
    for (const char* service : kServices) {
        const auto job = host.start_job(2);
        auto gone = ask(host, job, 0, {service});
        ASSERT_TRUE(pending_.wait_for(service)) << service;
        auto stays = ask(host, job, 1, {"fence"});
        gone.signal(SIGKILL);
        EXPECT_EQ(gone.wait(), 128 + SIGKILL);
        expect_ended(stays, "fence");
        pending_.answer_all(PMIX_SUCCESS);
    }
    expect_service(host);
}

TEST_F(BadUpcalls, ConnectAndDisconnectFailWhenAParticipantIsKilled) {
    Host host(keep_all);
    pending_.hold = true;
    host.hold("modex");
    // Connect and disconnect, before and after the host was asked.
    for (const bool late : {false, true}) {
        const auto one = host.start_job(1);
        const auto two = host.start_job(1);
        auto stays = host.start_program(one, 0, SERVICES_CLIENT, {"connect", two.nspace});
        auto gone = late ? host.start_program(two, 0, SERVICES_CLIENT, {"connect", one.nspace})
                         : host.start(two, 0, {"init"});
        if (late) {
            ASSERT_TRUE(pending_.wait_for("connect"));
        } else {
            EXPECT_EQ(gone.line(), "INIT");
        }
        gone.signal(SIGKILL);
        EXPECT_EQ(gone.wait(), 128 + SIGKILL);
        if (late) pending_.answer_all(PMIX_ERR_LOST_CONNECTION);
        expect_ended(stays, "connect");
    }
    {
        const auto one = host.start_job(1);
        const auto two = host.start_job(1);
        auto stays = host.start_program(one, 0, SERVICES_CLIENT, {"connect", two.nspace});
        auto gone = host.start_program(two, 0, SERVICES_CLIENT, {"connect", one.nspace});
        ASSERT_TRUE(pending_.wait_for("connect"));
        pending_.answer_all(PMIX_SUCCESS);
        EXPECT_EQ(stays.line(), "CONNECT SUCCESS 1");
        ASSERT_TRUE(pending_.wait_for("disconnect"));
        gone.signal(SIGKILL);
        EXPECT_EQ(gone.wait(), 128 + SIGKILL);
        // The host is processing the disconnect by now, and it succeeds.
        pending_.answer_all(PMIX_SUCCESS);
        EXPECT_EQ(stays.line(), "DISCONNECT SUCCESS");
        EXPECT_EQ(stays.wait(), 0);
    }
    {
        const auto job = host.start_job(2, 1);
        auto gone = ask(host, job, 0, {"get", "2"});
        ASSERT_TRUE(host.wait_for("modex", 1));
        auto stays = ask(host, job, 1, {"get", "0"});
        EXPECT_EQ(stays.line(0.2), "") << "its process may still post it";
        gone.signal(SIGKILL);
        EXPECT_EQ(gone.wait(), 128 + SIGKILL);
        expect_ended(stays, "get");
        host.release("modex");
    }
    expect_service(host);
}

TEST_F(BadUpcalls, BadArgumentsOfClientsDoNotStopTheServer) {
    Host host(keep_all);
    const auto job = host.start_job(1);
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"hostile"});
    size_t calls = 0;
    for (std::string line = client.line(60); line != "END"; line = client.line(60)) {
        ASSERT_FALSE(line.empty()) << "the client hangs, or has died";
        EXPECT_EQ(line.rfind("TRIED ", 0), 0U) << line;
        ++calls;
    }
    EXPECT_GE(calls, 20U);
    EXPECT_EQ(client.wait(), 0);
    {
        std::lock_guard guard(pending_.lock);
        EXPECT_GT(pending_.calls, 100) << "hardly anything reached the host";
    }
    expect_service(host);
}

TEST_F(BadUpcalls, BadArgumentsOfTheHostDoNotStopTheServer) {
    Host host(keep_all);
    for (const auto& one : integration::service_calls(process_of("somebody", 0))) {
        each_hostile([&](const std::string& what, pmix_info_t* infos, size_t count) {
            const pmix_status_t status = one.call(infos, count);
            EXPECT_TRUE(infos != nullptr || status == PMIX_ERR_BAD_PARAM) << one.name << " " << what;
        });
    }
    expect_service(host);
}

TEST_F(BadUpcalls, BadArgumentsOfRegistrationsDoNotStopTheServer) {
    Host host;
    const auto job = host.start_job(1);
    const pmix_proc_t proc = process_of(job.nspace, 0);
    const auto taken = [](pmix_status_t, pmix_info_t*, size_t, void*, pmix_op_cbfunc_t release, void* data) {
        if (release != nullptr) release(PMIX_SUCCESS, data);
    };
    const auto collected = [](pmix_status_t, pmix_info_t*, size_t, void*, pmix_release_cbfunc_t release,
                              void* data) {
        if (release != nullptr) release(data);
    };
    char text[] = "output";
    const pmix_byte_object_t output{text, sizeof text};
    const std::vector<integration::InfoCall> calls = {
        {"register_nspace",
         [](pmix_info_t* infos, size_t count) {
             const pmix_status_t status =
                 PMIx_server_register_nspace("hostile", 1, infos, count, nullptr, nullptr);
             PMIx_server_deregister_nspace("hostile", nullptr, nullptr);
             return status;
         }},
        {"register_resources",
         [](pmix_info_t* infos, size_t count) {
             const pmix_status_t status = PMIx_server_register_resources(infos, count, nullptr, nullptr);
             PMIx_server_deregister_resources(infos, count, nullptr, nullptr);
             return status;
         }},
        {"deregister_resources",
         [](pmix_info_t* infos, size_t count) {
             return PMIx_server_deregister_resources(infos, count, nullptr, nullptr);
         }},
        {"setup_application",
         [&](pmix_info_t* infos, size_t count) {
             const pmix_status_t status =
                 PMIx_server_setup_application("hostile", infos, count, taken, nullptr);
             // Its infos are in use until its callback: the next task on the loop runs after it.
             PMIx_server_deregister_resources(nullptr, 0, nullptr, nullptr);
             PMIx_server_deregister_nspace("hostile", nullptr, nullptr);
             return status;
         }},
        {"setup_local_support",
         [](pmix_info_t* infos, size_t count) {
             const pmix_status_t status =
                 PMIx_server_setup_local_support("hostile", infos, count, nullptr, nullptr);
             PMIx_server_deregister_nspace("hostile", nullptr, nullptr);
             return status;
         }},
        {"deliver_inventory",
         [](pmix_info_t* infos, size_t count) {
             return PMIx_server_deliver_inventory(infos, count, nullptr, 0, nullptr, nullptr);
         }},
        {"IOF_deliver",
         [&](pmix_info_t* infos, size_t count) {
             return PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &output, infos, count, nullptr,
                                            nullptr);
         }},
    };
    for (const auto& one : calls) {
        each_hostile([&](const std::string& what, pmix_info_t* infos, size_t count) {
            const pmix_status_t status = one.call(infos, count);
            EXPECT_TRUE(infos != nullptr || status == PMIX_ERR_BAD_PARAM) << one.name << " " << what;
        });
    }
    EXPECT_EQ(PMIx_server_collect_inventory(nullptr, 3, collected, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_collect_inventory(nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);

    // Names: none, empty, without a terminator; ranks that are no process; no output location.
    const std::string endless(PMIX_MAX_NSLEN + 20, 'n');
    for (const char* name : {static_cast<const char*>(nullptr), "", endless.c_str()}) {
        EXPECT_EQ(PMIx_server_register_nspace(name, 1, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
        if (name == nullptr || *name != '\0') {
            EXPECT_EQ(PMIx_server_setup_application(name, nullptr, 0, taken, nullptr), PMIX_ERR_BAD_PARAM);
        }
        EXPECT_EQ(PMIx_server_setup_local_support(name, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
        PMIx_server_deregister_nspace(name, nullptr, nullptr);
    }
    pmix_proc_t bad = proc;
    memset(bad.nspace, 'n', sizeof bad.nspace);
    char** environment = nullptr;
    const auto posted = [](pmix_status_t, char*, size_t, void*) {};
    for (const pmix_proc_t* who : {static_cast<const pmix_proc_t*>(nullptr), &std::as_const(bad)}) {
        EXPECT_EQ(PMIx_server_register_client(who, 0, 0, nullptr, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
        EXPECT_EQ(PMIx_server_setup_fork(who, &environment), PMIX_ERR_BAD_PARAM);
        EXPECT_EQ(PMIx_server_dmodex_request(who, posted, nullptr), PMIX_ERR_BAD_PARAM);
        PMIx_server_deregister_client(who, nullptr, nullptr);
    }
    EXPECT_EQ(environment, nullptr);
    for (const pmix_rank_t rank : {PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF, PMIX_RANK_INVALID}) {
        const pmix_proc_t nobody = process_of(job.nspace, rank);
        EXPECT_EQ(PMIx_server_register_client(&nobody, 0, 0, nullptr, nullptr, nullptr), PMIX_ERR_BAD_PARAM)
            << rank;
    }
    EXPECT_EQ(PMIx_server_setup_application("a", nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Register_attributes(nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    char* locality = nullptr;
    EXPECT_EQ(PMIx_server_generate_locality_string(nullptr, &locality), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_generate_cpuset_string(nullptr, &locality), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_define_process_set(nullptr, 3, "set"), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_define_process_set(&proc, 1, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_NE(PMIx_server_delete_process_set(nullptr), PMIX_SUCCESS);
    char* regex = nullptr;
    EXPECT_EQ(PMIx_generate_regex(nullptr, &regex), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_generate_ppn(nullptr, &regex), PMIX_ERR_BAD_PARAM);
    expect_service(host);
}

}  // namespace
