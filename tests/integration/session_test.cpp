// SPDX-License-Identifier: BSD-3-Clause
// The effects of PMIx_server_register_session and PMIx_server_deregister_session on clients.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "tests/integration/host.hpp"
#include "tests/integration/infos.hpp"

namespace {

using integration::Host;
using integration::Infos;
using integration::Process;
using Words = std::vector<std::string>;

const std::string kNoData = PMIx_Error_string(PMIX_ERR_NOT_FOUND);

/// The session as requested by a client whose job is not in it.
const Words kAskSession = {"get", "job", PMIX_CLUSTER_ID, "session-info=1", "session=77"};

Words operator+(Words a, const Words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

pmix_status_t register_session(uint32_t id, const char* cluster) {
    Infos info;
    info.text(PMIX_CLUSTER_ID, cluster);
    return PMIx_server_register_session(id, info.data(), info.size(), nullptr, nullptr);
}

pmix_status_t deregister_session(uint32_t id) {
    std::promise<pmix_status_t> answered;
    PMIx_server_deregister_session(
        id,
        [](pmix_status_t status, void* cbdata) {
            static_cast<std::promise<pmix_status_t>*>(cbdata)->set_value(status);
        },
        &answered);
    return answered.get_future().get();
}

void in_session(void* list, uint32_t id) {
    Infos inside, outside;
    inside.add(PMIX_SESSION_ID, &id, PMIX_UINT32);
    outside.array(PMIX_SESSION_INFO_ARRAY, inside);
    EXPECT_EQ(PMIx_Info_list_add_value(list, PMIX_SESSION_INFO_ARRAY, &outside.data()->value), PMIX_SUCCESS);
}

/// With each kind of store.
class Session : public testing::TestWithParam<const char*> {
  protected:
    Session() { setenv("PMIX_MCA_gds", GetParam(), 1); }
    ~Session() override { unsetenv("PMIX_MCA_gds"); }
    static std::string ask(Host& host, const Host::Job& job, const Words& words) {
        Process client = host.start_program(job, 0, INTEGRATION_SCRIPT_CLIENT, words);
        std::string all;
        for (std::string line = client.line(); line != "END" && !line.empty(); line = client.line())
            all += (all.empty() ? "" : " ") + line;
        EXPECT_EQ(client.wait(), 0);
        return all;
    }
};
INSTANTIATE_TEST_SUITE_P(Stores, Session, testing::Values("hash", "shmem"));

TEST_P(Session, OutlivesItsJobs) {
    Host host;
    const uint32_t other = 5;
    ASSERT_EQ(register_session(77, "cluster"), PMIX_OPERATION_SUCCEEDED);
    ASSERT_EQ(register_session(other, "another"), PMIX_OPERATION_SUCCEEDED);
    for (int i = 0; i < 2; ++i) {
        const auto job = host.start_job(1, 0, [&](void* list) { in_session(list, 77); });
        EXPECT_EQ(ask(host, job,
                      {"get", "job", PMIX_CLUSTER_ID, "get", "job", PMIX_CLUSTER_ID, "session-info=1", "get",
                       "job", PMIX_CLUSTER_ID, "session=5", "session-info=1", "get", "job", PMIX_SESSION_ID,
                       "get", "job", PMIX_CLUSTER_ID, "session-info=1"}),
                  "cluster cluster another 77 cluster");
        host.deregister_job(job);
    }
    const auto outside = host.start_job(1);
    EXPECT_EQ(ask(host, outside,
                  kAskSession + Words{"get", "job", PMIX_CLUSTER_ID, "get", "job", PMIX_SESSION_ID, "get",
                                      "job", PMIX_SESSION_ID, "session-info=1", "session=77"}),
              "cluster " + kNoData + " " + kNoData + " 77");
}

TEST_P(Session, IsReadByRunningClientsUntilItIsDeregistered) {
    Host host;
    const auto job = host.start_job(1);
    Process client =
        host.start_program(job, 0, INTEGRATION_SCRIPT_CLIENT,
                           kAskSession + Words{"wait"} + kAskSession + Words{"wait"} + kAskSession);
    EXPECT_EQ(client.line(), kNoData);
    ASSERT_EQ(client.line(), "WAITING");
    ASSERT_EQ(register_session(77, "cluster"), PMIX_OPERATION_SUCCEEDED);
    client.go_on();
    EXPECT_EQ(client.line(), "cluster");
    ASSERT_EQ(client.line(), "WAITING");
    EXPECT_EQ(deregister_session(77), PMIX_SUCCESS);
    client.go_on();
    EXPECT_EQ(client.line(), "cluster") << "what the client has already";
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(ask(host, job, kAskSession), kNoData);
}

TEST_P(Session, DataIsGoneFromItsJobsWhenItIsDeregistered) {
    Host host;
    ASSERT_EQ(register_session(77, "cluster"), PMIX_OPERATION_SUCCEEDED);
    const auto job = host.start_job(2, 0, [](void* list) { in_session(list, 77); });
    EXPECT_EQ(ask(host, job, {"get", "job", PMIX_CLUSTER_ID}), "cluster");
    EXPECT_EQ(deregister_session(77), PMIX_SUCCESS);
    EXPECT_EQ(ask(host, job, {"get", "job", PMIX_CLUSTER_ID, "get", "job", PMIX_SESSION_ID}),
              kNoData + " 77");
    EXPECT_EQ(deregister_session(77), PMIX_SUCCESS) << "again";
    ASSERT_EQ(register_session(77, "new"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(ask(host, job, {"get", "job", PMIX_CLUSTER_ID}), "new");
}

TEST_P(Session, KeepsItsFirstDescription) {
    Host host;
    ASSERT_EQ(register_session(77, "cluster"), PMIX_OPERATION_SUCCEEDED);
    ASSERT_EQ(register_session(77, "changed"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(ask(host, host.start_job(1), kAskSession), "cluster");
}

TEST_P(Session, DescribesItsNodes) {
    Host host;
    char name[256];
    ASSERT_EQ(gethostname(name, sizeof name), 0);
    Infos node, info;
    node.text(PMIX_HOSTNAME, name).text("site.rack", "r7");
    const uint32_t id = 77;
    info.add(PMIX_SESSION_ID, &id, PMIX_UINT32).array(PMIX_NODE_INFO_ARRAY, node);
    std::promise<pmix_status_t> answered;
    ASSERT_EQ(PMIx_server_register_session(
                  77, info.data(), info.size(),
                  [](pmix_status_t status, void* cbdata) {
                      static_cast<std::promise<pmix_status_t>*>(cbdata)->set_value(status);
                  },
                  &answered),
              PMIX_SUCCESS);
    EXPECT_EQ(answered.get_future().get(), PMIX_SUCCESS);
    const Words rack = {"get", "0", "site.rack", "node=1"};
    EXPECT_EQ(ask(host, host.start_job(1, 0, [](void* list) { in_session(list, 77); }), rack), "r7");
    EXPECT_EQ(ask(host, host.start_job(1), rack), kNoData);
}

TEST(SessionRegistration, RefusesBadInput) {
    EXPECT_EQ(PMIx_server_register_session(77, nullptr, 0, nullptr, nullptr), PMIX_ERR_INIT);
    Host host;
    EXPECT_EQ(PMIx_server_register_session(77, nullptr, 1, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_session(UINT32_MAX, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    const uint32_t other = 78;
    Infos info;
    info.add(PMIX_SESSION_ID, &other, PMIX_UINT32);
    EXPECT_EQ(PMIx_server_register_session(77, info.data(), 1, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    Infos nameless, node;
    node.text("site.rack", "r7");
    nameless.array(PMIX_NODE_INFO_ARRAY, node);
    EXPECT_EQ(PMIx_server_register_session(77, nameless.data(), 1, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_register_session(77, nullptr, 0, nullptr, nullptr), PMIX_OPERATION_SUCCEEDED);
    PMIx_server_deregister_session(77, nullptr, nullptr);
}

}  // namespace
