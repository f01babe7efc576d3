// SPDX-License-Identifier: BSD-3-Clause
// The C functions for topologies, cpusets, localities and distances, as a program calls them.
#include <gtest/gtest.h>
#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Everything that a test makes of these ends with it.
struct Cpuset : pmix_cpuset_t {
    Cpuset() : pmix_cpuset_t(PMIX_CPUSET_STATIC_INIT) {}
    ~Cpuset() { PMIx_Cpuset_destruct(this); }
};
struct LoadedTopology : pmix_topology_t {
    LoadedTopology() : pmix_topology_t(PMIX_TOPOLOGY_STATIC_INIT) {}
    ~LoadedTopology() { PMIx_Topology_destruct(this); }
};

TEST(TopologyApi, LoadsTheTopologyOnce) {
    LoadedTopology first, second;
    ASSERT_EQ(PMIx_Load_topology(&first), PMIX_SUCCESS);
    ASSERT_EQ(PMIx_Load_topology(&second), PMIX_SUCCESS);
    EXPECT_EQ(first.topology, second.topology);
    EXPECT_EQ(std::string(first.source).rfind("hwloc:", 0), 0U);
}

TEST(TopologyApi, SurvivesDestructOfATopology) {
    void* handle = nullptr;
    {
        LoadedTopology loaded;
        ASSERT_EQ(PMIx_Load_topology(&loaded), PMIX_SUCCESS);
        handle = loaded.topology;
    }
    EXPECT_GE(hwloc_get_nbobjs_by_type(static_cast<hwloc_topology_t>(handle), HWLOC_OBJ_PU), 1);
}

TEST(TopologyApi, GivesOnlyTheWantedMaker) {
    LoadedTopology hwloc, other;
    hwloc.source = strdup("HWLOC");
    other.source = strdup("likwid");
    EXPECT_EQ(PMIx_Load_topology(&hwloc), PMIX_SUCCESS);
    EXPECT_STREQ(hwloc.source, "HWLOC");
    EXPECT_EQ(PMIx_Load_topology(&other), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(PMIx_Load_topology(nullptr), PMIX_ERR_BAD_PARAM);
}

TEST(TopologyApi, CpusetRoundTripsAsText) {
    Cpuset own, again, third;
    ASSERT_EQ(PMIx_Get_cpuset(&own, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    EXPECT_STREQ(own.source, "hwloc");
    char* text = nullptr;
    ASSERT_EQ(PMIx_server_generate_cpuset_string(&own, &text), PMIX_SUCCESS);
    ASSERT_EQ(PMIx_Parse_cpuset_string(text, &again), PMIX_SUCCESS);
    ASSERT_EQ(PMIx_server_generate_cpuset(text, &third), PMIX_SUCCESS);
    const auto bitmap = [](const Cpuset& cpuset) { return static_cast<hwloc_const_bitmap_t>(cpuset.bitmap); };
    EXPECT_TRUE(hwloc_bitmap_isequal(bitmap(own), bitmap(again)));
    EXPECT_TRUE(hwloc_bitmap_isequal(bitmap(own), bitmap(third)));
    free(text);
}

TEST(TopologyApi, NonBlockingDistancesNeedInit) {
    const auto never = [](pmix_status_t, pmix_device_distance_t*, size_t, void*, pmix_release_cbfunc_t,
                          void*) { ADD_FAILURE() << "called though the call failed"; };
    EXPECT_EQ(PMIx_Compute_distances_nb(nullptr, nullptr, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Compute_distances_nb(nullptr, nullptr, nullptr, 0, never, nullptr), PMIX_ERR_INIT);
}

TEST(TopologyApi, RefusesNullAndMalformedArguments) {
    Cpuset cpuset;
    char* text = nullptr;
    pmix_locality_t locality = 0;
    EXPECT_EQ(PMIx_Get_cpuset(nullptr, PMIX_CPUBIND_PROCESS), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Get_cpuset(&cpuset, 99), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Parse_cpuset_string(nullptr, &cpuset), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Parse_cpuset_string("hwloc:9-1", &cpuset), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(cpuset.bitmap, nullptr);
    EXPECT_EQ(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Get_relative_locality(nullptr, "hwloc:SK0", &locality), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Compute_distances(nullptr, nullptr, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM);
}

TEST(TopologyApi, ComparesLocalityStrings) {
    Cpuset own;
    ASSERT_EQ(PMIx_Get_cpuset(&own, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    char* text = nullptr;
    ASSERT_EQ(PMIx_server_generate_locality_string(&own, &text), PMIX_SUCCESS);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(std::string(text).rfind("hwloc:", 0), 0U);
    pmix_locality_t locality = PMIX_LOCALITY_UNKNOWN;
    ASSERT_EQ(PMIx_Get_relative_locality(text, text, &locality), PMIX_SUCCESS);
    EXPECT_TRUE(locality & PMIX_LOCALITY_SHARE_NODE);
    EXPECT_TRUE(locality & PMIX_LOCALITY_SHARE_HWTHREAD);
    free(text);
}

TEST(TopologyApi, ReportsTheDistancesOfDevices) {
    pmix_device_distance_t* distances = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Compute_distances(nullptr, nullptr, nullptr, 0, &distances, &count);
    if (status == PMIX_ERR_NOT_FOUND) {
        EXPECT_EQ(count, 0U);
        GTEST_SKIP() << "this machine shows no device";
    }
    ASSERT_EQ(status, PMIX_SUCCESS);
    ASSERT_GE(count, 1U);
    for (size_t i = 0; i < count; ++i) {
        EXPECT_NE(distances[i].uuid, nullptr);
        EXPECT_NE(distances[i].osname, nullptr);
        EXPECT_LE(distances[i].mindist, distances[i].maxdist);
    }
    PMIx_Device_distance_free(distances, count);
}

}  // namespace
