// SPDX-License-Identifier: BSD-3-Clause
// The hardware description of the node, which a server gives to clients on request if its host has not
// provided it (decision 0025).
#include <gtest/gtest.h>
#include <hwloc.h>
#include <pmix.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;

pmix_info_t share(bool yes) {
    pmix_info_t directive;
    memset(&directive, 0, sizeof directive);
    EXPECT_EQ(PMIx_Info_load(&directive, PMIX_SERVER_SHARE_TOPOLOGY, &yes, PMIX_BOOL), PMIX_SUCCESS);
    return directive;
}

const std::string kNotFound = std::string("NOT ") + PMIx_Error_string(PMIX_ERR_NOT_FOUND);

/// A file with the topology of a machine with that many packages.
void write_topology(const std::string& path, int packages) {
    const std::string machine = "package:" + std::to_string(packages) + " core:2 pu:1";
    hwloc_topology_t topology = nullptr;
    ASSERT_EQ(hwloc_topology_init(&topology), 0);
    ASSERT_EQ(hwloc_topology_set_synthetic(topology, machine.c_str()), 0);
    ASSERT_EQ(hwloc_topology_load(topology), 0);
    ASSERT_EQ(hwloc_topology_export_xml(topology, path.c_str(), 0), 0);
    hwloc_topology_destroy(topology);
}

/// Returns the answer that a client got.
std::string heard(integration::Process client) {
    EXPECT_EQ(client.line(), "INIT");
    const std::string said = client.line();
    EXPECT_EQ(client.wait(), 0);
    return said;
}

/// Returns the answer for the key that the client of a new job gets.
std::string answer(Host& host, const char* key) {
    const auto job = host.start_job(1);
    return heard(host.start(job, 0, {"topology", key, "immediate"}));
}

TEST(NodeDescription, IsTheSameForAllClients) {
    Host host;
    const auto job = host.start_job(2);
    // Both may ask while the topology is discovered.
    auto one = host.start(job, 0, {"topology", PMIX_HWLOC_XML_V2, "immediate"});
    auto other = host.start(job, 1, {"topology", PMIX_HWLOC_XML_V2, "immediate"});
    const std::string text = heard(std::move(one));
    EXPECT_EQ(text.substr(0, 4), "XML ");
    EXPECT_EQ(heard(std::move(other)), text);
    EXPECT_EQ(answer(host, PMIX_HWLOC_XML_V2), text);
}

TEST(NodeDescription, IsAvailableAsHwloc1Xml) {
    Host host;
    const std::string old_form = answer(host, PMIX_HWLOC_XML_V1);
    EXPECT_EQ(old_form.substr(0, 4), "XML ");
    EXPECT_NE(old_form, answer(host, PMIX_HWLOC_XML_V2));
}

TEST(NodeDescription, IsWithheldOnRequestOfTheHost) {
    Host host({}, {share(false)});
    EXPECT_EQ(answer(host, PMIX_HWLOC_XML_V2), kNotFound);
}

TEST(NodeDescription, IsReadWhenTheFirstProcessOfAJobConnects) {
    const std::string path = testing::TempDir() + "topology-" + std::to_string(getpid()) + ".xml";
    write_topology(path, 7);
    setenv("PMIX_MCA_pmix_hwloc_topo_file", path.c_str(), 1);
    {
        Host host({}, {share(true)});
        const auto job = host.start_job(1);
        // The registration has not discovered the topology: its processes get this one.
        write_topology(path, 11);
        const std::string text = heard(host.start(job, 0, {"topology", PMIX_HWLOC_XML_V2, "optional"}));
        EXPECT_NE(text.find("packages=11"), std::string::npos) << text;
    }
    unsetenv("PMIX_MCA_pmix_hwloc_topo_file");
    unlink(path.c_str());
}

TEST(NodeDescription, IsWithheldByParameter) {
    setenv("PMIX_MCA_server_base_describe_node", "0", 1);
    {
        Host host;
        EXPECT_EQ(answer(host, PMIX_HWLOC_XML_V2), kNotFound);
    }
    unsetenv("PMIX_MCA_server_base_describe_node");
}

TEST(NodeDescription, IsWithheldFromOtherCgroupNamespaces) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a namespace of cgroups";
    if (system("unshare --cgroup true 2>/dev/null") != 0)
        GTEST_SKIP() << "there are no namespaces of cgroups here";
    Host host;
    const auto job = host.start_job(1);
    auto client =
        host.start_program(job, 0, "/usr/bin/unshare",
                           {"--cgroup", INTEGRATION_CLIENT, "topology", PMIX_HWLOC_XML_V2, "immediate"});
    EXPECT_EQ(heard(std::move(client)), kNotFound);
}

TEST(NodeDescription, IsWithheldFromOtherUsers) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    constexpr uid_t kOther = 12345;
    if (system("setpriv --reuid=12345 --regid=12345 --clear-groups test -r " INTEGRATION_CLIENT) != 0)
        GTEST_SKIP() << "another user cannot read what was built";
    Host host;
    const auto job = host.start_job(1);
    host.deregister_client(job, 0);
    ASSERT_EQ(host.register_client(job, 0, kOther, kOther), PMIX_SUCCESS);
    auto client = host.start_program(job, 0, "/usr/bin/setpriv",
                                     {"--reuid=12345", "--regid=12345", "--clear-groups", INTEGRATION_CLIENT,
                                      "topology", PMIX_HWLOC_XML_V2, "immediate"});
    EXPECT_EQ(heard(std::move(client)), kNotFound);
}

}  // namespace
