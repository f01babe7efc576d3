// SPDX-License-Identifier: BSD-3-Clause
// The services of a server for its clients, and its upcalls (Standard: Server-Specific Interfaces):
// registration, authentication, connecting and finalizing, abort, fence, direct modex.
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>

#include "tests/covers.hpp"
#include "tests/descriptor_room.hpp"
#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::ModexRequest;
using integration::Process;
using integration::Upcall;

// Long enough to see that something does not happen.
constexpr double kMoment = 0.3;

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

bool is(const pmix_proc_t& proc, const Host::Job& job, pmix_rank_t rank) {
    return job.nspace == proc.nspace && proc.rank == rank;
}

/// Whether the server knows the job's data.
bool knows(const Host::Job& job) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", job.nspace.c_str());
    proc.rank = PMIX_RANK_WILDCARD;
    pmix_info_t optional;
    memset(&optional, 0, sizeof optional);
    bool yes = true;
    EXPECT_EQ(PMIx_Info_load(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&proc, PMIX_JOB_SIZE, &optional, 1, &value) != PMIX_SUCCESS) return false;
    PMIx_Value_destruct(value);
    free(value);
    return true;
}

TEST(Connected, TheDescriptorTableGrowsForManyClients) {
    // With several threads the kernel takes 10 ms for each growth of the table.
    if (!__libc_single_threaded) GTEST_SKIP() << "a sanitizer's thread is here";
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    Host host;
    EXPECT_GE(tests::descriptor_room(), static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 2048)));
}

// --- connecting and finalizing ---

TEST(Connected, BlocksTheClientUntilTheHostAnswers) {
    covers("SRV-57", "SRV-31");
    Host host;
    host.hold("connected");
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"init"});
    ASSERT_TRUE(host.wait_for("connected", 1));
    EXPECT_EQ(client.line(kMoment), "") << "PMIx_Init returned before the host has answered";
    const auto upcall = host.upcalls("connected").at(0);
    EXPECT_TRUE(is(upcall.proc, job, 0));
    EXPECT_EQ(upcall.object, Host::object(0));
    host.release("connected");
    EXPECT_EQ(client.line(), "INIT");
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
}

TEST(Connected, IsOptional) {
    covers("SRV-58", "SRV-45");
    Host host([](pmix_server_module_t& module) { module.client_connected2 = nullptr; });
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"init"});
    EXPECT_EQ(client.line(), "INIT");
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
    EXPECT_TRUE(host.upcalls("connected").empty());
    EXPECT_EQ(host.upcalls("finalized").size(), 1U);
}

TEST(Connected, ComesBeforeAnyOtherUpcallOfThatProcess) {
    covers("SRV-60");
    Host host;
    const auto job = host.start_job(1, 1);
    host.answer_modex(PMIX_ERR_NOT_FOUND, "");
    auto client = host.start(job, 0, {"get", "1", "test.posted", "1"});
    EXPECT_EQ(client.wait(), 0);
    const auto all = host.upcalls();
    ASSERT_GE(all.size(), 3U);
    EXPECT_EQ(all.front().name, "connected");
    EXPECT_EQ(all.back().name, "finalized");
}

TEST(Finalized, BlocksTheClientUntilTheHostAnswers) {
    covers("SRV-61");
    Host host;
    host.hold("finalized");
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"init"});
    EXPECT_EQ(client.line(), "INIT");
    client.go_on();
    ASSERT_TRUE(host.wait_for("finalized", 1));
    EXPECT_EQ(client.line(kMoment), "") << "PMIx_Finalize returned before the host has answered";
    EXPECT_EQ(host.upcalls("finalized").at(0).object, Host::object(0));
    host.release("finalized");
    EXPECT_EQ(client.line(), "END");
    EXPECT_EQ(client.wait(), 0);
}

TEST(Finalized, IsNotCalledForAClientThatExitsWithoutFinalize) {
    covers("SRV-62");
    Host host;
    const auto job = host.start_job(2);
    auto gone = host.start(job, 0, {"vanish"});
    EXPECT_EQ(gone.wait(), 0);
    // Another client connects and finalizes after it: by then the server has processed the first one's end.
    auto other = host.start(job, 1, {"init"});
    EXPECT_EQ(other.line(), "INIT");
    other.go_on();
    EXPECT_EQ(other.wait(), 0);
    const auto finalized = host.upcalls("finalized");
    ASSERT_EQ(finalized.size(), 1U);
    EXPECT_TRUE(is(finalized[0].proc, job, 1));
}

// --- admission ---

TEST(Clients, OfAnotherUserOrGroupAreRefused) {
    covers("SRV-30");
    Host host;
    Host::Job job{"job-of-someone-else", {{0, 1, 2}}};
    ASSERT_EQ(host.register_job(job), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(job, 0, geteuid() + 1, getegid()), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(job, 1, geteuid(), getegid() + 1), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(job, 2, geteuid(), getegid()), PMIX_SUCCESS);
    for (const pmix_rank_t rank : {0U, 1U}) {
        auto client = host.start(job, rank, {"refused"});
        EXPECT_EQ(client.line().rfind("REFUSED ", 0), 0U);
        EXPECT_EQ(client.wait(), 0);
    }
    auto good = host.start(job, 2, {"init"});
    EXPECT_EQ(good.line(), "INIT");
    good.go_on();
    EXPECT_EQ(good.wait(), 0);
    EXPECT_EQ(host.upcalls("connected").size(), 1U);
}

TEST(Clients, AreRefusedOnceDeregistered) {
    covers("SRV-32", "SRV-33");
    Host host;
    const auto job = host.start_job(2);
    host.deregister_client(job, 0);
    auto client = host.start(job, 0, {"refused"});
    EXPECT_EQ(client.wait(), 0);
    auto other = host.start(job, 1, {"init"});
    EXPECT_EQ(other.line(), "INIT");
    other.go_on();
    EXPECT_EQ(other.wait(), 0);
}

TEST(Nspace, RemovesItsClientsAndDataWhenDeregistered) {
    covers("SRV-26", "SRV-27", "SRV-33");
    Host host;
    const auto job = host.start_job(1);
    EXPECT_TRUE(knows(job));
    // The environment dates from the time when the job was registered.
    const auto variables = host.environment(job, 0);
    host.deregister_job(job);
    EXPECT_FALSE(knows(job));
    auto client = host.start(job, 0, {"refused"});
    EXPECT_EQ(client.wait(), 0);
    EXPECT_TRUE(host.upcalls("connected").empty());
}

TEST(SetupFork, SetsTheEnvironmentToConnect) {
    covers("SRV-34", "SRV-36");
    Host host;
    const auto job = host.start_job(1);
    std::map<std::string, std::string> found;
    for (const auto& variable : host.environment(job, 0)) {
        const size_t at = variable.find('=');
        found.emplace(variable.substr(0, at), variable.substr(at + 1));
    }
    EXPECT_EQ(found["PMIX_NAMESPACE"], job.nspace);
    EXPECT_EQ(found["PMIX_RANK"], "0");
    EXPECT_NE(found["PMIX_SERVER_URI41"].find(";"), std::string::npos);
    // Flux looks for one of the older names to find out whether there is a server.
    for (const char* older :
         {"PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21"})
        EXPECT_EQ(found[older], found["PMIX_SERVER_URI41"]) << older;
    EXPECT_NE(found["PMIX_SECURITY_MODE"].find("native"), std::string::npos);
}

// --- data of the server and the job at clients ---

TEST(OwnServer, IsKnownToTheClient) {
    Host host;
    const auto job = host.start_job(1);
    std::string server;
    for (const auto& variable : host.environment(job, 0)) {
        const std::string name = "PMIX_SERVER_URI41=";
        if (variable.rfind(name, 0) == 0)
            server = variable.substr(name.size(), variable.find(';') - name.size());
    }
    auto client = host.start(job, 0, {"own_server"});
    EXPECT_EQ(client.line(), "INIT");
    EXPECT_EQ(client.line(), "SERVER " + server);
    EXPECT_EQ(client.wait(), 0);
}

TEST(Fence, ACallerThatIsNoParticipantDoesNotWait) {
    Host host;
    auto client = host.start(host.start_job(2), 1, {"fence_of_others", "0"});
    EXPECT_EQ(client.wait(), 0);
}

TEST(JobData, IsDerivedFromTheMaps) {
    covers("SRV-19");
    Host host;
    const auto job = host.start_job(2, 2);
    auto client = host.start(job, 1, {"facts", "4"});
    EXPECT_EQ(client.line(), "INIT");
    std::multimap<std::string, std::string> facts;
    for (std::string line = client.line(); !line.empty() && line != "END"; line = client.line()) {
        const size_t at = line.find(' ');
        facts.emplace(line.substr(0, at), line.substr(at + 1));
    }
    EXPECT_EQ(client.wait(), 0);
    const auto all = [&](const std::string& name) {
        std::string text;
        const auto range = facts.equal_range(name);
        for (auto it = range.first; it != range.second; ++it)
            text += (text.empty() ? "" : " ") + it->second;
        return text;
    };
    char hostname[256] = "";
    gethostname(hostname, sizeof hostname - 1);
    const std::string here = hostname;
    EXPECT_EQ(all("job.size"), "4");
    EXPECT_EQ(all("num.nodes"), "2");
    EXPECT_EQ(all("local.size"), "2");
    EXPECT_EQ(all("local.peers"), "0,1");
    EXPECT_EQ(all("local.leader"), "0");
    EXPECT_EQ(all("node.list"), here + ",elsewhere1");
    EXPECT_EQ(all("local.rank"), "0 1 0 1");
    EXPECT_EQ(all("node.rank"), "0 1 0 1");
    EXPECT_EQ(all("nodeid"), "0 0 1 1");
    EXPECT_EQ(all("hostname"), here + " " + here + " elsewhere1 elsewhere1");
}

TEST(JobData, IsNotStoredOnRequestOfTheHost) {
    covers("SRV-08");
    Host host;
    const auto job = host.start_job(1, 0, [](void* list) {
        bool yes = true;
        EXPECT_EQ(PMIx_Info_list_add(list, PMIX_REGISTER_NODATA, &yes, PMIX_BOOL), PMIX_SUCCESS);
    });
    EXPECT_FALSE(knows(job));
    EXPECT_TRUE(knows(host.start_job(1)));
}

TEST(JobData, IsAvailableToTheHostByClientFunctions) {
    covers("SRV-01");
    Host host;
    const auto job = host.start_job(3);
    EXPECT_EQ(PMIx_Initialized(), 1);
    pmix_proc_t* procs = nullptr;
    size_t count = 0;
    ASSERT_EQ(PMIx_Resolve_peers(nullptr, job.nspace.c_str(), &procs, &count), PMIX_SUCCESS);
    EXPECT_EQ(count, 3U);
    free(procs);
    char* nodes = nullptr;
    ASSERT_EQ(PMIx_Resolve_nodes(job.nspace.c_str(), &nodes), PMIX_SUCCESS);
    char hostname[256] = "";
    gethostname(hostname, sizeof hostname - 1);
    EXPECT_STREQ(nodes, hostname);
    free(nodes);
}

TEST(JobData, TopologyIsSharedOnRequestOfTheHost) {
    pmix_info_t share;
    memset(&share, 0, sizeof share);
    bool yes = true;
    ASSERT_EQ(PMIx_Info_load(&share, PMIX_SERVER_SHARE_TOPOLOGY, &yes, PMIX_BOOL), PMIX_SUCCESS);
    Host host({}, {share});
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"topology", PMIX_HWLOC_XML_V2});
    EXPECT_EQ(client.wait(), 0) << client.line(0) << client.line(0);
}

// --- abort ---

TEST(Abort, BlocksUntilTheHostAnswers) {
    covers("SRV-63", "SRV-64");
    Host host;
    host.hold("abort");
    const auto job = host.start_job(2);
    auto client = host.start(job, 1, {"abort", "17", "that is all"});
    EXPECT_EQ(client.line(), "INIT");
    ASSERT_TRUE(host.wait_for("abort", 1));
    EXPECT_EQ(client.line(kMoment), "");
    const auto upcall = host.upcalls("abort").at(0);
    EXPECT_TRUE(is(upcall.proc, job, 1));
    EXPECT_EQ(upcall.object, Host::object(1));
    EXPECT_EQ(upcall.status, 17);
    EXPECT_EQ(upcall.text, "that is all");
    // NULL means the whole namespace; a server may also list all its processes.
    EXPECT_FALSE(upcall.empty_list);
    if (!upcall.procs.empty()) {
        EXPECT_EQ(upcall.procs.size(), 1U);
        EXPECT_TRUE(is(upcall.procs[0], job, PMIX_RANK_WILDCARD));
    }
    host.release("abort");
    EXPECT_EQ(client.line(), std::string("ABORT ") + PMIx_Error_string(PMIX_SUCCESS));
    EXPECT_EQ(client.wait(), 0);
}

TEST(Abort, PassesTheListOfProcessesToTheHost) {
    covers("SRV-63");
    Host host;
    const auto job = host.start_job(3);
    auto client = host.start(job, 0, {"abort", "3", "some", "1", "2"});
    EXPECT_EQ(client.wait(), 0);
    const auto upcalls = host.upcalls("abort");
    ASSERT_EQ(upcalls.size(), 1U);
    ASSERT_EQ(upcalls[0].procs.size(), 2U);
    EXPECT_TRUE(is(upcalls[0].procs[0], job, 1));
    EXPECT_TRUE(is(upcalls[0].procs[1], job, 2));
}

TEST(Abort, IsNotSupportedWithoutTheUpcall) {
    covers("SRV-46");
    Host host([](pmix_server_module_t& module) { module.abort = nullptr; });
    const auto job = host.start_job(1);
    auto client = host.start(job, 0, {"abort", "1", "in vain"});
    EXPECT_EQ(client.line(), "INIT");
    EXPECT_EQ(client.line(), std::string("ABORT ") + PMIx_Error_string(PMIX_ERR_NOT_SUPPORTED));
    EXPECT_EQ(client.wait(), 0);
}

// --- fence ---

TEST(Fence, CallsTheHostOnceWhenAllLocalParticipantsArrived) {
    covers("SRV-65", "SRV-23", "SRV-66");
    Host host;
    host.hold("fence");
    const auto job = host.start_job(2, 1);
    auto first = host.start(job, 0, {"fence", "2", "collect"});
    EXPECT_EQ(first.line(), "INIT");
    EXPECT_EQ(first.line(), "FENCING");
    // The second one has not started yet.
    EXPECT_FALSE(host.wait_for("fence", 1, kMoment));
    auto second = host.start(job, 1, {"fence", "2", "collect"});
    ASSERT_TRUE(host.wait_for("fence", 1));
    EXPECT_EQ(first.line(kMoment), "") << "the fence ended before the host has answered";
    EXPECT_EQ(host.upcalls("fence").size(), 1U);
    const auto upcall = host.upcalls("fence").at(0);
    ASSERT_EQ(upcall.procs.size(), 1U);
    EXPECT_TRUE(is(upcall.procs[0], job, PMIX_RANK_WILDCARD));
    EXPECT_TRUE(has(upcall.keys, PMIX_COLLECT_DATA));
    EXPECT_TRUE(has(upcall.keys, PMIX_TIMEOUT));
    EXPECT_TRUE(has(upcall.keys, "test.directive"));
    EXPECT_FALSE(upcall.data.empty());
    host.release("fence");
    EXPECT_EQ(first.line(), "FENCED");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
}

TEST(Fence, CopiesTheDataOfTheHostBeforeTheCallbackReturns) {
    covers("SRV-56", "SRV-72");
    // The host of these tests overwrites its data as soon as the callback has returned.
    Host host;
    const auto job = host.start_job(2, 1);
    auto first = host.start(job, 0, {"fence", "2", "collect"});
    auto second = host.start(job, 1, {"fence", "2", "collect"});
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(host.upcalls("fence").size(), 1U);
}

TEST(Fence, SucceedsWithoutDataOfTheHost) {
    covers("SRV-72");
    Host host;
    host.answer_fence(PMIX_SUCCESS, "");
    const auto job = host.start_job(1, 1);
    auto client = host.start(job, 0, {"fence", "1", "not"});
    EXPECT_EQ(client.wait(), 0);
}

TEST(Fence, ReturnsTheErrorOfTheHost) {
    covers("SRV-69");
    Host host;
    host.answer_fence(PMIX_ERR_NOT_SUPPORTED, "");
    const auto job = host.start_job(1, 1);
    auto client = host.start(job, 0, {"fence", "0", "collect", std::to_string(PMIX_ERR_NOT_SUPPORTED)});
    EXPECT_EQ(client.wait(), 0);
}

TEST(Fence, SurvivesMalformedDataOfTheHost) {
    Host host;
    std::string garbage(1000, '\0');
    for (size_t i = 0; i < garbage.size(); ++i)
        garbage[i] = static_cast<char>(i * 37 + 11);
    host.answer_fence(PMIX_SUCCESS, garbage);
    const auto job = host.start_job(1, 1);
    auto client = host.start(job, 0, {"fence", "0", "collect"});
    client.wait();
    auto next = host.start(host.start_job(1), 0, {"init"});
    EXPECT_EQ(next.line(), "INIT") << "the server lives on";
    next.go_on();
    EXPECT_EQ(next.wait(), 0);
}

TEST(Fence, OfASubsetDoesNotWaitForOtherProcesses) {
    covers("SRV-59");
    Host host;
    const auto job = host.start_job(2);
    auto client = host.start(job, 0, {"init"});
    EXPECT_EQ(client.line(), "INIT");
    client.go_on();
    EXPECT_EQ(client.wait(), 0) << "rank 1 was registered and never came";
}

TEST(Fence, OfASubsetWaitsForClientsNotYetRegistered) {
    covers("SRV-65");
    Host host;
    // The processes of neither node are registered: a host may start each process before it registers the
    // next.
    const Host::Job job{"unmapped", {{0, 1, 2}, {3}}};
    const uint32_t size = job.size();
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    const auto registered = [](pmix_status_t status, void* promise) {
        static_cast<std::promise<pmix_status_t>*>(promise)->set_value(status);
    };
    std::promise<pmix_status_t> done;
    ASSERT_EQ(PMIx_server_register_nspace(job.nspace.c_str(), static_cast<int>(job.local()), &info, 1,
                                          registered, &done),
              PMIX_SUCCESS);
    ASSERT_EQ(done.get_future().get(), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(job, 0, geteuid(), getegid()), PMIX_SUCCESS);
    auto first = host.start(job, 0, {"fence_and_get", "3", "0", "1", "3"});
    ASSERT_TRUE(host.wait_for("modex", 1)) << "asked for behind the fence";
    EXPECT_TRUE(host.upcalls("fence").empty()) << "rank 1 may be of this node";
    ASSERT_EQ(host.register_client(job, 2, geteuid(), getegid()), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(job, 1, geteuid(), getegid()), PMIX_SUCCESS);
    auto second = host.start(job, 1, {"fence_and_get", "3", "0", "1", "3"});
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    EXPECT_EQ(host.upcalls("fence").size(), 1u);
    host.deregister_job(job);
}

// --- direct modex ---

/// Returns the posted values of rank 0 in the form that its server gives to other nodes.
std::string posted_by(Process& poster, const Host::Job& job) {
    EXPECT_EQ(poster.line(), "INIT");
    poster.go_on();
    EXPECT_EQ(poster.line(), "POSTED");
    ModexRequest blob(job, 0);
    EXPECT_TRUE(blob.done(20));
    return blob.data();
}

TEST(Modex, IsAnsweredWhenTheProcessCommits) {
    covers("SRV-37", "SRV-38");
    Host host;
    const auto job = host.start_job(1, 1);
    ModexRequest early(job, 0);  // before a process exists
    auto client = host.start(job, 0, {"post"});
    EXPECT_EQ(client.line(), "INIT");
    EXPECT_FALSE(early.done(kMoment)) << "answered before anything was posted";
    client.go_on();
    EXPECT_EQ(client.line(), "POSTED");
    ASSERT_TRUE(early.done(20));
    EXPECT_EQ(early.status(), PMIX_SUCCESS);
    EXPECT_NE(early.data().find("test.posted"), std::string::npos);
    EXPECT_NE(early.data().find("test.remote"), std::string::npos);
    EXPECT_EQ(early.data().find("test.local"), std::string::npos) << "what is local does not leave the node";
    ModexRequest late(job, 0);
    ASSERT_TRUE(late.done(20));
    EXPECT_EQ(late.data(), early.data());
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
}

TEST(Modex, RequestsDataOnceWithTheDirectives) {
    covers("SRV-73", "SRV-39");
    Host host;
    const auto job = host.start_job(1, 1);
    // The values of this process represent the data of the remote one.
    auto poster = host.start(job, 0, {"post"});
    const std::string data = posted_by(poster, job);
    host.answer_modex(PMIX_SUCCESS, data);

    const auto asking = host.start_job(1, 1);
    auto client = host.start(asking, 0, {"get", "1", "test.posted", "2"});
    EXPECT_EQ(client.line(), "INIT");
    EXPECT_EQ(client.line(), "GOT everywhere");
    EXPECT_EQ(client.line(), "GOT everywhere");
    EXPECT_EQ(client.wait(), 0);
    const auto upcalls = host.upcalls("modex");
    ASSERT_EQ(upcalls.size(), 1U) << "the second time it is known already";
    EXPECT_TRUE(is(upcalls[0].proc, asking, 1));
    EXPECT_TRUE(has(upcalls[0].keys, PMIX_TIMEOUT));
    ASSERT_EQ(upcalls[0].procs.size(), 1U) << "the host is to know who asks";
    EXPECT_TRUE(is(upcalls[0].procs[0], asking, 0));
    EXPECT_EQ(static_cast<uid_t>(upcalls[0].status), geteuid());
    EXPECT_TRUE(has(upcalls[0].keys, PMIX_GRPID));
    poster.go_on();
    EXPECT_EQ(poster.wait(), 0);
}

TEST(Modex, RetriesUntilTheTimeoutForDataCommittedLater) {
    covers("SRV-39");
    Host host;
    const auto job = host.start_job(1, 1);
    auto poster = host.start(job, 0, {"post"});
    const std::string data = posted_by(poster, job);
    // At first the remote process has committed only another key.
    host.answer_modex(PMIX_SUCCESS, "");
    auto client = host.start(job, 0, {"get", "1", "test.posted", "1"});
    EXPECT_EQ(client.line(), "INIT");
    ASSERT_TRUE(host.wait_for("modex", 2)) << "the host is not asked again";
    host.answer_modex(PMIX_SUCCESS, data);
    EXPECT_EQ(client.line(), "GOT everywhere");
    EXPECT_EQ(client.wait(), 0);
    poster.go_on();
    EXPECT_EQ(poster.wait(), 0);
}

TEST(Modex, ReturnsTheErrorOfTheHost) {
    covers("SRV-74");
    Host host;
    const auto job = host.start_job(1, 1);
    host.answer_modex(PMIX_ERR_NO_PERMISSIONS, "");
    auto client = host.start(job, 0, {"get", "1", "test.posted", "1"});
    EXPECT_EQ(client.line(), "INIT");
    EXPECT_EQ(client.line(), std::string("NOT ") + PMIx_Error_string(PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(client.wait(), 0);
}

}  // namespace
