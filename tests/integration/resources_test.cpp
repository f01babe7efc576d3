// SPDX-License-Identifier: BSD-3-Clause
// The effect of PMIx_server_deregister_resources on clients of running jobs.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/integration/host.hpp"
#include "tests/integration/infos.hpp"

namespace {

using integration::Host;
using integration::Infos;
using integration::Process;

const std::string kAbsent = PMIx_Error_string(PMIX_ERR_NOT_FOUND);

/// With each kind of store.
class Resources : public testing::TestWithParam<const char*> {
  protected:
    Resources() {
        setenv("PMIX_MCA_gds", GetParam(), 1);
        EXPECT_EQ(gethostname(name_, sizeof name_), 0);
    }
    ~Resources() override { unsetenv("PMIX_MCA_gds"); }
    void add(Infos& info, const char* rack, const char* device) const {
        Infos inside, node;
        inside.text(PMIX_FABRIC_DEVICE_NAME, device).text(PMIX_FABRIC_DEVICE_VENDOR, "acme");
        node.text(PMIX_HOSTNAME, name_).text("site.rack", rack).array(PMIX_FABRIC_DEVICE, inside);
        info.array(PMIX_NODE_INFO_ARRAY, node);
    }
    static pmix_status_t deregister(Infos& info) {
        return PMIx_server_deregister_resources(info.data(), info.size(), nullptr, nullptr);
    }
    char name_[256] = {};
};
INSTANTIATE_TEST_SUITE_P(Stores, Resources, testing::Values("hash", "shmem"));

/// Sends a query, after another request to the server whose answer follows everything that the server has
/// sent before.
const std::vector<std::string> kAskAll = {
    "get", "1", "never.there", "immediate=1", "get", "job", "site.key",         "get",   "job", "site.other",
    "get", "0", "site.rack",   "node=1",      "get", "0",   PMIX_FABRIC_DEVICE, "node=1"};

TEST_P(Resources, AreGoneFromRunningJobs) {
    Host host;
    Infos all;
    all.text("site.key", "one").text("site.other", "kept");
    add(all, "r7", "ib0");
    ASSERT_EQ(PMIx_server_register_resources(all.data(), all.size(), nullptr, nullptr),
              PMIX_OPERATION_SUCCEEDED);
    const auto job = host.start_job(2);
    std::vector<std::string> words;
    for (int i = 0; i < 4; ++i) {
        words.insert(words.end(), kAskAll.begin(), kAskAll.end());
        words.emplace_back("wait");
    }
    Process client = host.start_program(job, 0, INTEGRATION_SCRIPT_CLIENT, words);
    const std::string array = "type " + std::to_string(PMIX_DATA_ARRAY);
    const auto expect = [&](const std::vector<std::string>& values) {
        EXPECT_EQ(client.line(), kAbsent);
        for (const std::string& value : values)
            EXPECT_EQ(client.line(), value);
        ASSERT_EQ(client.line(), "WAITING");
    };
    expect({"one", "kept", "r7", array});

    // A key, and one device of a node.
    Infos key, device, node;
    device.text(PMIX_HOSTNAME, name_).text(PMIX_FABRIC_DEVICE_NAME, "ib0");
    key.text("site.key", "").array(PMIX_NODE_INFO_ARRAY, device);
    ASSERT_EQ(deregister(key), PMIX_OPERATION_SUCCEEDED);
    client.go_on();
    expect({kAbsent, "kept", "r7", kAbsent});

    // Deregistering a missing entry changes nothing; then the whole node.
    Infos other;
    device.text("site.rack", "r8");
    other.array(PMIX_NODE_INFO_ARRAY, device);
    ASSERT_EQ(deregister(other), PMIX_OPERATION_SUCCEEDED);
    client.go_on();
    expect({kAbsent, "kept", "r7", kAbsent});
    Infos whole;
    node.text(PMIX_HOSTNAME, name_);
    whole.array(PMIX_NODE_INFO_ARRAY, node);
    ASSERT_EQ(deregister(whole), PMIX_OPERATION_SUCCEEDED);
    client.go_on();
    expect({kAbsent, "kept", kAbsent, kAbsent});
    client.go_on();
    EXPECT_EQ(client.line(), "END");
    EXPECT_EQ(client.wait(), 0);

    // Clients of the same job that connect later.
    Process later = host.start_program(job, 0, INTEGRATION_SCRIPT_CLIENT, {"get", "job", "site.key"});
    EXPECT_EQ(later.line(), kAbsent);
}

}  // namespace
