// SPDX-License-Identifier: BSD-3-Clause
// Events between a server and its host (Standard: Event Notification, and the upcalls notify_event,
// register_events, deregister_events).
#include <gtest/gtest.h>
#include <pmix.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace {

using integration::Host;

constexpr pmix_status_t kCode = PMIX_EXTERNAL_ERR_BASE - 7;
constexpr pmix_status_t kEnvironment = PMIX_EVENT_SYS_BASE;

// Upcalls and handlers have no context argument for the test.
std::mutex lock;  // guards all below
std::condition_variable changed;
struct Came {
    char handler;
    pmix_status_t status;
    pmix_proc_t source;
};
std::vector<Came> came;
std::vector<std::pair<char, std::vector<pmix_status_t>>> asked;  ///< 'r' or 'd', and the codes
std::vector<std::string> asked_keys;
std::vector<std::pair<pmix_status_t, pmix_data_range_t>> notified;

void note(char handler, pmix_status_t status, const pmix_proc_t* source) {
    std::lock_guard guard(lock);
    came.push_back({handler, status, *source});
    changed.notify_all();
}
void on_default(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t*, size_t, pmix_info_t*,
                size_t, pmix_event_notification_cbfunc_fn_t, void*) {
    note('D', status, source);  // never completes, as Slurm's does not
}
void on_single(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t*, size_t, pmix_info_t*,
               size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    note('S', status, source);
    complete(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, cbdata);
}
pmix_status_t on_register(pmix_status_t codes[], size_t n, const pmix_info_t*, size_t, pmix_op_cbfunc_t,
                          void*) {
    std::lock_guard guard(lock);
    asked.push_back({'r', {codes, codes + n}});
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_deregister(pmix_status_t codes[], size_t n, pmix_op_cbfunc_t, void*) {
    std::lock_guard guard(lock);
    asked.push_back({'d', {codes, codes + n}});
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_notify(pmix_status_t status, const pmix_proc_t*, pmix_data_range_t range, pmix_info_t*,
                        size_t, pmix_op_cbfunc_t, void*) {
    std::lock_guard guard(lock);
    notified.push_back({status, range});
    return PMIX_SUCCESS;  // and never answers: no code may wait for that
}

size_t count(char handler, pmix_status_t status) {
    std::lock_guard guard(lock);
    return static_cast<size_t>(std::count_if(came.begin(), came.end(), [&](const Came& one) {
        return one.handler == handler && one.status == status;
    }));
}
bool wait_for(char handler, pmix_status_t status) {
    std::unique_lock guard(lock);
    return changed.wait_for(guard, std::chrono::seconds(20), [&] {
        return std::any_of(came.begin(), came.end(),
                           [&](const Came& one) { return one.handler == handler && one.status == status; });
    });
}

pmix_status_t listen(pmix_status_t code, pmix_notification_fn_t function = on_single) {
    return PMIx_Register_event_handler(&code, 1, nullptr, 0, function, nullptr, nullptr);
}
pmix_status_t report(pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t range) {
    return PMIx_Notify_event(code, source, range, nullptr, 0, nullptr, nullptr);
}
pmix_proc_t proc_of(const Host::Job& job, pmix_rank_t rank) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", job.nspace.c_str());
    proc.rank = rank;
    return proc;
}

class ServerEvents : public testing::Test {
  protected:
    void SetUp() override {
        std::lock_guard guard(lock);
        came.clear();
        asked.clear();
        asked_keys.clear();
        notified.clear();
    }
};

/// The same with a job on only this node, and with one on three nodes.
class ServerEventsOfNodes : public ServerEvents, public testing::WithParamInterface<int> {
  protected:
    /// A job of `here` ranks on this node and of one rank on each other node.
    static Host::Job start_job(Host& host, uint32_t here) {
        std::vector<std::vector<pmix_rank_t>> nodes(static_cast<size_t>(GetParam()));
        for (uint32_t rank = 0; rank < here + nodes.size() - 1; ++rank)
            nodes[rank < here ? 0 : rank - here + 1].push_back(rank);
        return host.start_job_on(std::move(nodes));
    }
    /// A process on the last node.
    static pmix_proc_t last_of(const Host::Job& job) { return proc_of(job, job.size() - 1); }
};
INSTANTIATE_TEST_SUITE_P(On, ServerEventsOfNodes, testing::Values(1, 3),
                         [](const auto& test) { return std::to_string(test.param) + "_nodes"; });

TEST_P(ServerEventsOfNodes, ALostClientIsReportedToTheHost) {
    covers("EVT-51");
    Host host;
    ASSERT_GE(PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_default, nullptr, nullptr), 0);
    const auto job = start_job(host, 1);
    auto client = host.start(job, 0, {"vanish"});
    ASSERT_TRUE(wait_for('D', PMIX_ERR_LOST_CONNECTION));
    std::lock_guard guard(lock);
    EXPECT_EQ(job.nspace, came.back().source.nspace);
    EXPECT_EQ(came.back().source.rank, 0u);
}

TEST_F(ServerEvents, GlobalEventsOfApplicationsReachTheDefaultHandlerOfTheHost) {
    Host host;
    ASSERT_GE(PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_default, nullptr, nullptr), 0);
    const auto job = host.start_job(3);
    constexpr pmix_status_t kLocal = 70, kGlobal = 69;
    auto quiet = host.start(job, 0, {"notify", std::to_string(kLocal), std::to_string(PMIX_RANGE_LOCAL)});
    EXPECT_EQ(quiet.wait(), 0);
    auto information = host.start(
        job, 1, {"notify", std::to_string(PMIX_PROCESS_SET_DEFINE), std::to_string(PMIX_RANGE_GLOBAL)});
    EXPECT_EQ(information.wait(), 0);
    auto loud = host.start(job, 2, {"notify", std::to_string(kGlobal), std::to_string(PMIX_RANGE_GLOBAL)});
    EXPECT_EQ(loud.wait(), 0);
    EXPECT_TRUE(wait_for('D', kGlobal));
    EXPECT_EQ(count('D', kLocal), 0u);
    EXPECT_EQ(count('D', PMIX_PROCESS_SET_DEFINE), 0u);
}

TEST_F(ServerEvents, AClientThatFinalizesIsNotReported) {
    Host host;
    ASSERT_GE(listen(PMIX_ERR_LOST_CONNECTION), 0);
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"init"});
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
    host.deregister_job(job);
    EXPECT_EQ(count('S', PMIX_ERR_LOST_CONNECTION), 0u);
}

TEST_P(ServerEventsOfNodes, HostEventsReachHostHandlersButInformationNoDefaultHandler) {
    covers("EVT-50", "EVT-52");
    Host host;
    const auto job = start_job(host, 1);
    const pmix_proc_t source = last_of(job);
    ASSERT_GE(PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_default, nullptr, nullptr), 0);
    ASSERT_GE(listen(kCode), 0);
    ASSERT_GE(listen(PMIX_PROCESS_SET_DEFINE), 0);
    EXPECT_EQ(report(kCode, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_server_define_process_set(&source, 1, "set"), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_server_define_process_set(&source, 1, "set"), PMIX_ERR_EXISTS);
    EXPECT_EQ(report(PMIX_ERR_PROC_ABORTED, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_TRUE(wait_for('D', PMIX_ERR_PROC_ABORTED));
    EXPECT_EQ(count('S', kCode), 1u);
    EXPECT_EQ(count('S', PMIX_PROCESS_SET_DEFINE), 1u);
    {
        std::lock_guard guard(lock);
        EXPECT_EQ(came.back().source.nspace, job.nspace) << "the host speaks for the source that it names";
        EXPECT_EQ(came.back().source.rank, source.rank);
    }
    EXPECT_EQ(count('D', kCode), 0u);
    EXPECT_EQ(count('D', PMIX_PROCESS_SET_DEFINE), 0u);
}

TEST_P(ServerEventsOfNodes, EnvironmentEventsAreRegisteredOnceWhileHandlersExist) {
    covers("EVT-01");
    Host host([](pmix_server_module_t& module) {
        module.register_events = on_register;
        module.deregister_events = on_deregister;
    });
    const pmix_proc_t source = last_of(start_job(host, 1));
    EXPECT_GE(listen(kCode), 0);
    EXPECT_EQ(report(kCode, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_TRUE(wait_for('S', kCode)) << "an event of a job is asked of nobody";
    const pmix_status_t first = listen(kEnvironment);
    const pmix_status_t second = listen(kEnvironment);
    ASSERT_GE(first, 0);
    ASSERT_GE(second, 0);
    EXPECT_EQ(PMIx_Deregister_event_handler(static_cast<size_t>(first), nullptr, nullptr), PMIX_SUCCESS);
    {
        std::lock_guard guard(lock);
        ASSERT_EQ(asked.size(), 1u);
        EXPECT_EQ(asked[0].first, 'r');
        EXPECT_EQ(asked[0].second, std::vector<pmix_status_t>{kEnvironment});
    }
    EXPECT_EQ(PMIx_Deregister_event_handler(static_cast<size_t>(second), nullptr, nullptr), PMIX_SUCCESS);
    std::lock_guard guard(lock);
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_EQ(asked[1].first, 'd');
}

TEST_P(ServerEventsOfNodes, AnEarlierEnvironmentEventIsCached) {
    covers("EVT-04");
    Host host([](pmix_server_module_t& module) { module.register_events = on_register; });
    const auto job = start_job(host, 1);
    const pmix_proc_t affected = last_of(job);
    EXPECT_EQ(report(kEnvironment, &affected, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(count('S', kEnvironment), 0u);
    ASSERT_GE(listen(kEnvironment), 0);
    EXPECT_TRUE(wait_for('S', kEnvironment));
    EXPECT_EQ(count('S', kEnvironment), 1u);
}

pmix_status_t on_register_with_info(pmix_status_t[], size_t, const pmix_info_t info[], size_t ninfo,
                                    pmix_op_cbfunc_t, void*) {
    std::lock_guard guard(lock);
    for (size_t i = 0; i < ninfo; ++i)
        asked_keys.emplace_back(info[i].key);
    return PMIX_OPERATION_SUCCEEDED;
}

TEST_P(ServerEventsOfNodes, DirectivesOfEnvironmentEventsReachTheHost) {
    covers("EVT-02", "EVT-33", "EVT-34");
    Host host([](pmix_server_module_t& module) { module.register_events = on_register_with_info; });
    const pmix_proc_t source = last_of(start_job(host, 1));
    const std::vector<std::string> wanted = {PMIX_EVENT_TERMINATE_SESSION, PMIX_EVENT_TERMINATE_JOB,
                                             PMIX_EVENT_TERMINATE_NODE,    PMIX_EVENT_TERMINATE_PROC,
                                             PMIX_EVENT_ACTION_TIMEOUT,    PMIX_EVENT_SILENT_TERMINATION};
    std::vector<pmix_info_t> infos(wanted.size() + 1);
    const bool yes = true;
    const int seconds = 5;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const bool number = wanted[i] == PMIX_EVENT_ACTION_TIMEOUT;
        const void* value = number ? static_cast<const void*>(&seconds) : &yes;
        PMIx_Info_load(&infos[i], wanted[i].c_str(), value, number ? PMIX_INT : PMIX_BOOL);
    }
    PMIx_Info_load(&infos.back(), PMIX_EVENT_HDLR_NAME, "not for the host", PMIX_STRING);
    // One handler for both classes: the environment's and the job's.
    pmix_status_t codes[] = {kEnvironment, kCode};
    EXPECT_GE(PMIx_Register_event_handler(codes, 2, infos.data(), infos.size(), on_single, nullptr, nullptr),
              0);
    EXPECT_EQ(report(kCode, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(report(kEnvironment, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_TRUE(wait_for('S', kCode));
    EXPECT_TRUE(wait_for('S', kEnvironment));
    for (pmix_info_t& one : infos)
        PMIx_Info_destruct(&one);
    std::lock_guard guard(lock);
    EXPECT_EQ(asked_keys, wanted);
}

TEST_F(ServerEvents, EnvironmentEventsNeedTheUpcallOfTheHost) {
    Host host;
    EXPECT_EQ(listen(kEnvironment), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_GE(listen(kCode), 0);
}

TEST_F(ServerEvents, AServerEventBeyondTheNodeNeedsTheHost) {
    covers("EVT-47");
    Host host;
    EXPECT_EQ(report(kCode, nullptr, PMIX_RANGE_GLOBAL), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(report(kCode, nullptr, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    const pmix_proc_t elsewhere = proc_of(host.start_job(1), 0);
    EXPECT_EQ(report(kCode, &elsewhere, PMIX_RANGE_GLOBAL), PMIX_SUCCESS) << "the host passed it down itself";
}

TEST_P(ServerEventsOfNodes, AServerEventReachesTheHostWithoutWaiting) {
    covers("EVT-50", "EVT-51");
    Host host([](pmix_server_module_t& module) { module.notify_event = on_notify; });
    start_job(host, 1);
    EXPECT_EQ(report(kCode, nullptr, PMIX_RANGE_SESSION), PMIX_SUCCESS);
    EXPECT_EQ(report(kCode, nullptr, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    std::lock_guard guard(lock);
    ASSERT_EQ(notified.size(), 1u);
    EXPECT_EQ(notified[0].second, PMIX_RANGE_SESSION);
}

TEST_F(ServerEvents, CachedEventsAreBoundedAndDropsAreCounted) {
    Host host;
    const pmix_proc_t source = proc_of(host.start_job(1), 0);
    char key[] = "muster.events.dropped";
    char* keys[] = {key, nullptr};
    pmix_query_t query;
    memset(&query, 0, sizeof query);
    query.keys = keys;
    const auto dropped = [&] {
        pmix_info_t* results = nullptr;
        size_t n = 0;
        EXPECT_EQ(PMIx_Query_info(&query, 1, &results, &n), PMIX_SUCCESS);
        if (n != 1 || results[0].value.type != PMIX_SIZE) return SIZE_MAX;
        const size_t count = results[0].value.data.size;
        PMIx_Info_free(results, n);
        return count;
    };
    EXPECT_EQ(dropped(), 0u);
    for (int i = 0; i < 10000; ++i)
        ASSERT_EQ(report(kCode, &source, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_GT(dropped(), 0u);
    ASSERT_GE(listen(kCode), 0);
    EXPECT_GE(listen(kCode - 1), 0);  // a call that is answered after the cached events have been delivered
    EXPECT_GT(count('S', kCode), 100u);
    EXPECT_LT(count('S', kCode), 10000u);
}

TEST_F(ServerEvents, AClientIsNotifiedWhenItsServerEnds) {
    auto host = std::make_unique<Host>();
    const auto job = host->start_job(1);
    const std::string programs = std::string(INTEGRATION_CLIENT);
    auto client =
        host->start_program(job, 0, programs.substr(0, programs.rfind('/')) + "/event_client", {"lost"});
    ASSERT_EQ(client.line(), "READY");
    host.reset();
    EXPECT_EQ(client.wait(), 0);
}

TEST_P(ServerEventsOfNodes, SetsMayBeDefinedAndDeletedAtAnyTime) {
    covers("GRP-01", "GRP-02", "GRP-11");
    Host host;
    const auto job = start_job(host, 2);
    const pmix_proc_t members[] = {proc_of(job, 0), last_of(job)};
    const auto names = [&] {
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&members[1], PMIX_PSET_NAMES, nullptr, 0, &value) != PMIX_SUCCESS) return size_t{0};
        const size_t n = value->type == PMIX_DATA_ARRAY ? value->data.darray->size : 99;
        PMIx_Value_destruct(value);
        free(value);
        return n;
    };
    char one[] = "one", two[] = "two";
    EXPECT_EQ(names(), 0u);
    EXPECT_EQ(PMIx_server_define_process_set(members, 2, one), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_server_define_process_set(&members[1], 1, two), PMIX_SUCCESS);
    EXPECT_EQ(names(), 2u);
    EXPECT_EQ(PMIx_server_delete_process_set(one), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_server_delete_process_set(one), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(names(), 1u);
    EXPECT_EQ(PMIx_server_define_process_set(nullptr, 0, one), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_define_process_set(members, 2, ""), PMIX_ERR_BAD_PARAM);
}

}  // namespace
