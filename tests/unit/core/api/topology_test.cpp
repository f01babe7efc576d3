// SPDX-License-Identifier: BSD-3-Clause
// The C functions for topologies, cpusets, localities and distances, as a program calls them.
#include <gtest/gtest.h>
#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/unit/core/topology/hwloc_fixture.hpp"

namespace {

// Objects made from these are freed at the end of the test.
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

// A machine with devices on both of its packages, as a caller's topology.
class TopologyApiOrigin : public testing::Test {
  protected:
    void SetUp() override {
        hwloc_topology_t raw = nullptr;
        ASSERT_EQ(hwloc_topology_init(&raw), 0);
        machine_.reset(raw);
        const std::string xml = muster::machine_with_devices();
        ASSERT_EQ(hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
        ASSERT_EQ(hwloc_topology_set_xmlbuffer(raw, xml.c_str(), static_cast<int>(xml.size()) + 1), 0);
        ASSERT_EQ(hwloc_topology_load(raw), 0);
        topology_.source = source_.data();
        topology_.topology = raw;
    }
    // The distances of eth0 and mlx5_0, which are on different packages.
    pmix_status_t from(const pmix_value_t& origin, int& eth0, int& mlx5_0) {
        pmix_info_t info[3] = {PMIX_INFO_STATIC_INIT, PMIX_INFO_STATIC_INIT, PMIX_INFO_STATIC_INIT};
        PMIx_Info_load(&info[0], PMIX_DEVICE_ID, "eth0", PMIX_STRING);
        PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "mlx5_0", PMIX_STRING);
        PMIx_Load_key(info[2].key, PMIX_DEVICE_DIST_ORIGIN);
        PMIx_Value_xfer(&info[2].value, &origin);
        pmix_device_distance_t* distances = nullptr;
        size_t count = 0;
        const pmix_status_t status = PMIx_Compute_distances(&topology_, nullptr, info, 3, &distances, &count);
        for (size_t i = 0; i < count; ++i) {
            EXPECT_EQ(distances[i].mindist, distances[i].maxdist) << distances[i].osname;
            (std::strcmp(distances[i].osname, "eth0") == 0 ? eth0 : mlx5_0) = distances[i].mindist;
        }
        PMIx_Device_distance_free(distances, count);
        for (pmix_info_t& one : info)
            PMIx_Info_destruct(&one);
        return status;
    }
    pmix_status_t from(const char* origin, int& eth0, int& mlx5_0) {
        pmix_value_t value = PMIX_VALUE_STATIC_INIT;
        PMIx_Value_load(&value, origin, PMIX_STRING);
        const pmix_status_t status = from(value, eth0, mlx5_0);
        PMIx_Value_destruct(&value);
        return status;
    }

    muster::Machine machine_{nullptr, hwloc_topology_destroy};
    std::string source_ = "hwloc";
    pmix_topology_t topology_ = PMIX_TOPOLOGY_STATIC_INIT;
};

TEST_F(TopologyApiOrigin, CountsDistancesFromTheDevice) {
    int eth0 = -1, mlx5_0 = -1;
    ASSERT_EQ(from("eth0", eth0, mlx5_0), PMIX_SUCCESS);
    EXPECT_EQ(eth0, 0);
    EXPECT_GT(mlx5_0, 0);
    ASSERT_EQ(from("0000:82:00.0", eth0, mlx5_0), PMIX_SUCCESS);
    EXPECT_GT(eth0, 0);
    EXPECT_EQ(mlx5_0, 0);
}

TEST_F(TopologyApiOrigin, RefusesWhatNamesNoDevice) {
    int eth0 = -1, mlx5_0 = -1;
    EXPECT_EQ(from("eth7", eth0, mlx5_0), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(from("", eth0, mlx5_0), PMIX_ERR_BAD_PARAM);
    pmix_value_t number = PMIX_VALUE_STATIC_INIT;
    number.type = PMIX_UINT32;
    number.data.uint32 = 7;
    EXPECT_EQ(from(number, eth0, mlx5_0), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(eth0, -1);
    EXPECT_EQ(mlx5_0, -1);
}

}  // namespace
