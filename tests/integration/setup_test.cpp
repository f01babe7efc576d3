// SPDX-License-Identifier: BSD-3-Clause
// Set-up of jobs: data gathered at the launch of a job, received on each node, and available to its
// processes; inventories; fabrics. The single server plays both nodes in turn.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace integration {
namespace {

/// Stores deep copies of a callback's infos.
struct Gathered {
    std::mutex lock;
    std::condition_variable changed;
    bool done = false;
    pmix_status_t status = PMIX_ERROR;
    std::vector<pmix_info_t> infos;

    ~Gathered() {
        for (pmix_info_t& info : infos)
            PMIx_Info_destruct(&info);
    }
    void take(pmix_status_t given, pmix_info_t info[], size_t ninfo) {
        std::lock_guard guard(lock);
        status = given;
        for (size_t i = 0; i < ninfo; ++i) {
            infos.emplace_back();
            PMIx_Info_xfer(&infos.back(), &info[i]);
        }
        done = true;
        changed.notify_all();
    }
    pmix_status_t wait(pmix_status_t returned) {
        if (returned != PMIX_SUCCESS) return returned;
        std::unique_lock guard(lock);
        return changed.wait_for(guard, std::chrono::seconds(60), [&] { return done; }) ? status
                                                                                       : PMIX_ERR_TIMEOUT;
    }
};

class JobSetup : public testing::Test {
  protected:
    void SetUp() override {
        setenv("PMIX_MCA_pnet_tcp_static_ports", "tcp:lo:32000-32007", 1);
        setenv("PMIX_MCA_pnet_tcp_include", "PNET_JOB_*", 1);
        setenv("PNET_JOB_VARIABLE", "carried", 1);
    }
    static pmix_status_t setup_application(const std::string& nspace, std::vector<pmix_info_t> directives,
                                           Gathered& gathered) {
        const auto taken = [](pmix_status_t status, pmix_info_t info[], size_t ninfo, void* data,
                              pmix_op_cbfunc_t release, void* release_data) {
            static_cast<Gathered*>(data)->take(status, info, ninfo);
            if (release != nullptr) release(PMIX_SUCCESS, release_data);
        };
        const pmix_status_t status = gathered.wait(PMIx_server_setup_application(
            nspace.c_str(), directives.data(), directives.size(), taken, &gathered));
        for (pmix_info_t& directive : directives)
            PMIx_Info_destruct(&directive);
        return status;
    }
    /// Ports for each of two ranks on this node, with a key.
    static std::vector<pmix_info_t> directives(const char* type, bool required) {
        void* inner = PMIx_Info_list_start();
        const size_t ports = 2;
        PMIx_Info_list_add(inner, PMIX_ALLOC_FABRIC_ID, "my.net", PMIX_STRING);
        PMIx_Info_list_add(inner, PMIX_ALLOC_FABRIC_TYPE, type, PMIX_STRING);
        PMIx_Info_list_add(inner, PMIX_ALLOC_FABRIC_ENDPTS, &ports, PMIX_SIZE);
        PMIx_Info_list_add(inner, PMIX_ALLOC_FABRIC_SEC_KEY, nullptr, PMIX_BOOL);
        pmix_data_array_t array;
        PMIx_Info_list_convert(inner, &array);
        PMIx_Info_list_release(inner);
        std::vector<pmix_info_t> all(4);
        PMIx_Info_load(&all[0], PMIX_ALLOC_FABRIC, &array, PMIX_DATA_ARRAY);
        PMIx_Data_array_destruct(&array);
        if (required) all[0].flags |= PMIX_INFO_REQD;
        char host[256] = "localhost";
        gethostname(host, sizeof host - 1);
        PMIx_Info_load(&all[1], PMIX_NODE_MAP, host, PMIX_STRING);
        PMIx_Info_load(&all[2], PMIX_PROC_MAP, "0-1", PMIX_STRING);
        PMIx_Info_load(&all[3], PMIX_SETUP_APP_ALL, nullptr, PMIX_BOOL);
        return all;
    }
};

TEST_F(JobSetup, PortsKeysAndVariablesReachTheRanks) {
    covers("SRV-36", "SRV-40", "SRV-43");
    Host host;
    const auto job = host.start_job(2);
    Gathered gathered;
    ASSERT_EQ(setup_application(job.nspace, directives("tcp", false), gathered), PMIX_SUCCESS);
    unsetenv("PNET_JOB_VARIABLE");  // only gathered data count from here on
    ASSERT_EQ(PMIx_server_setup_local_support(job.nspace.c_str(), gathered.infos.data(),
                                              gathered.infos.size(), nullptr, nullptr),
              PMIX_OPERATION_SUCCEEDED);
    Process client = host.start_program(job, 0, SERVICES_CLIENT, {"network"});
    EXPECT_EQ(client.line(),
              "NETWORK SUCCESS 32000-32003 key32 SUCCESS 127.0.0.1:32002 127.0.0.1:32003 carried");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(JobSetup, AJobWithoutANamespaceGetsVariablesOnly) {
    Host host;
    Gathered gathered, refused;
    std::vector<pmix_info_t> variables(1);
    PMIx_Info_load(&variables[0], PMIX_SETUP_APP_ENVARS, nullptr, PMIX_BOOL);
    ASSERT_EQ(setup_application("", variables, gathered), PMIX_SUCCESS);
    unsetenv("PNET_JOB_VARIABLE");  // only gathered data count from here on
    // Its data are equivalent to those of a named job.
    const auto job = host.start_job(2);
    ASSERT_EQ(PMIx_server_setup_local_support(job.nspace.c_str(), gathered.infos.data(),
                                              gathered.infos.size(), nullptr, nullptr),
              PMIX_OPERATION_SUCCEEDED);
    const auto environment = host.environment(job, 0);
    EXPECT_NE(std::find(environment.begin(), environment.end(), "PNET_JOB_VARIABLE=carried"),
              environment.end());
    EXPECT_EQ(setup_application("", directives("tcp", false), refused), PMIX_ERR_BAD_PARAM);
}

TEST_F(JobSetup, PortsAreReleasedWhenTheJobIsDeregistered) {
    Host host;
    const auto first = host.start_job(2);
    const auto second = host.start_job(2);
    const auto third = host.start_job(2);
    Gathered one, two, refused, later;
    ASSERT_EQ(setup_application(first.nspace, directives("tcp", false), one), PMIX_SUCCESS);
    ASSERT_EQ(setup_application(second.nspace, directives("tcp", false), two), PMIX_SUCCESS);
    EXPECT_EQ(setup_application(third.nspace, directives("tcp", false), refused), PMIX_ERR_OUT_OF_RESOURCE);
    host.deregister_job(first);
    EXPECT_EQ(setup_application(third.nspace, directives("tcp", false), later), PMIX_SUCCESS);
}

TEST_F(JobSetup, ARequiredRequestThatNoComponentSupportsIsRefused) {
    Host host;
    const auto job = host.start_job(2);
    Gathered passed_over, refused, unknown;
    EXPECT_EQ(setup_application(job.nspace, directives("quantum", false), passed_over), PMIX_SUCCESS);
    EXPECT_EQ(setup_application(job.nspace, directives("quantum", true), refused), PMIX_ERR_NOT_SUPPORTED);
    std::vector<pmix_info_t> strange(1);
    PMIx_Info_load(&strange[0], "strange.directive", nullptr, PMIX_BOOL);
    strange[0].flags |= PMIX_INFO_REQD;
    EXPECT_EQ(setup_application(job.nspace, std::move(strange), unknown), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(JobSetup, DataIsCachedUntilTheJobIsRegistered) {
    Host host;
    const auto first = host.start_job(2);
    Gathered gathered;
    ASSERT_EQ(setup_application(first.nspace, directives("tcp", false), gathered), PMIX_SUCCESS);
    Host::Job later = first;
    later.nspace = "later";
    ASSERT_EQ(PMIx_server_setup_local_support("later", gathered.infos.data(), gathered.infos.size(), nullptr,
                                              nullptr),
              PMIX_OPERATION_SUCCEEDED);
    ASSERT_EQ(host.register_job(later), PMIX_SUCCESS);
    ASSERT_EQ(host.register_client(later, 0, geteuid(), getegid()), PMIX_SUCCESS);
    Process client = host.start_program(later, 0, SERVICES_CLIENT, {"network"});
    EXPECT_EQ(client.line().rfind("NETWORK SUCCESS 32000-32003 key32", 0), 0U);
    client.wait();
}

TEST_F(JobSetup, AnotherServerStoresADeliveredInventory) {
    Host host;
    Gathered inventory;
    ASSERT_EQ(inventory.wait(PMIx_server_collect_inventory(
                  nullptr, 0,
                  [](pmix_status_t status, pmix_info_t* info, size_t ninfo, void* data,
                     pmix_release_cbfunc_t release, void* release_data) {
                      static_cast<Gathered*>(data)->take(status, info, ninfo);
                      if (release != nullptr) release(release_data);
                  },
                  &inventory)),
              PMIX_SUCCESS);
    ASSERT_FALSE(inventory.infos.empty());
    EXPECT_EQ(PMIx_server_deliver_inventory(inventory.infos.data(), inventory.infos.size(), nullptr, 0,
                                            nullptr, nullptr),
              PMIX_OPERATION_SUCCEEDED);
    // The host finds the node's devices and topology there now.
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    for (const char* key : {PMIX_FABRIC_DEVICES, PMIX_HWLOC_XML_V2}) {
        pmix_info_t where[2];
        PMIx_Info_load(&where[0], PMIX_NODE_INFO, nullptr, PMIX_BOOL);
        PMIx_Info_load(&where[1], PMIX_HOSTNAME, name, PMIX_STRING);
        pmix_proc_t proc;
        PMIx_Load_procid(&proc, "", PMIX_RANK_UNDEF);
        pmix_value_t* value = nullptr;
        EXPECT_EQ(PMIx_Get(&proc, key, where, 2, &value), PMIX_SUCCESS) << key;
        if (value != nullptr) PMIx_Value_free(value, 1);
        for (pmix_info_t& one : where)
            PMIx_Info_destruct(&one);
    }
    // A foreign or broken inventory changes nothing.
    char bytes[] = "nonsense";
    pmix_byte_object_t broken{bytes, sizeof bytes};
    pmix_info_t info;
    PMIx_Info_load(&info, inventory.infos[0].key, &broken, PMIX_BYTE_OBJECT);
    EXPECT_NE(PMIx_server_deliver_inventory(&info, 1, nullptr, 0, nullptr, nullptr),
              PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&info);
}

TEST_F(JobSetup, AFabricUnknownToTheHostIsDescribedByTheNetworkComponent) {
    Host host;
    const auto job = host.start_job(1);
    Process client = host.start_program(job, 0, SERVICES_CLIENT, {"fabric", "lo"});
    EXPECT_EQ(client.line(), "FABRIC SUCCESS tcp SUCCESS same SUCCESS empty NOT_SUPPORTED");
    client.wait();
    Process other = host.start_program(job, 0, SERVICES_CLIENT, {"fabric", "no.such.plane"});
    EXPECT_EQ(other.line(), "FABRIC NOT_SUPPORTED");
    other.wait();
}

}  // namespace
}  // namespace integration
