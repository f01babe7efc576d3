// SPDX-License-Identifier: BSD-3-Clause
// bfrops/v41: types of which no recorded bytes exist, or that OpenPMIx cannot send: round trips, and
// truncation at any position.

#include <gtest/gtest.h>
#include <hwloc.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <vector>

#include "framework/base/proc.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

using test::codec;
using test::expect_round_trip;
using test::from_hex;
using test::kDescribed;
using test::kPlain;
using test::literal;
using test::packed;
using test::reading;
using test::to_hex;

TEST(V41, RealsDoNotDependOnTheLocale) {
    // The bytes do not depend on whether the locale exists.
    const char* changed = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    EXPECT_EQ(packed(1.5, PMIX_DOUBLE), "0212312e35303030303000");
    double read = 0;
    const std::vector<uint8_t> bytes = from_hex("0212312e35303030303000");
    ByteReader in(bytes);
    int32_t n = 1;
    EXPECT_EQ(codec().unpack(in, kPlain, &read, &n, PMIX_DOUBLE), PMIX_SUCCESS);
    EXPECT_EQ(read, 1.5);
    if (changed != nullptr) setlocale(LC_NUMERIC, "C");
    // "1,500000", from a peer whose locale has commas.
    EXPECT_EQ(reading("0212312c35303030303000", PMIX_DOUBLE), PMIX_SUCCESS);
}

TEST(V41, RealsOfAllKinds) {
    for (const double value : std::initializer_list<double>{0.0, -0.0, 1e300, -1.7976931348623157e308,
                                                            123456.789, std::nan(""), INFINITY, -INFINITY}) {
        const std::string hex = packed(value, PMIX_DOUBLE);
        const std::vector<uint8_t> bytes = from_hex(hex);
        char expected[400];
        snprintf(expected, sizeof expected, "%f", value);
        EXPECT_NE(hex.find(to_hex({reinterpret_cast<const uint8_t*>(expected), strlen(expected) + 1})),
                  std::string::npos);
        ByteReader in(bytes);
        double read = 7;
        int32_t n = 1;
        ASSERT_EQ(codec().unpack(in, kPlain, &read, &n, PMIX_DOUBLE), PMIX_SUCCESS);
        EXPECT_TRUE(read == value || (std::isnan(read) && std::isnan(value))) << expected;
    }
    EXPECT_EQ(reading("02046100", PMIX_DOUBLE), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("0208312e3500", PMIX_FLOAT), PMIX_SUCCESS);
    EXPECT_EQ(reading("0200", PMIX_FLOAT), PMIX_SUCCESS);
}

TEST(V41, ExtendedRegexesRoundTrip) {
    // Compressed: five bytes that have zeros among them.
    std::string blob("blob:\0component=zlib:\0size=5:\0ab\0c\0", 36);
    const char* text = blob.data();
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, &text, 1, PMIX_REGEX), PMIX_SUCCESS);
    ASSERT_EQ(out.size(), 1 + 36u - 1);
    EXPECT_EQ(std::memcmp(out.data() + 1, blob.data(), 35), 0);
    ByteReader in(out.view());
    char* read = nullptr;
    int32_t n = 1;
    ASSERT_EQ(codec().unpack(in, kPlain, &read, &n, PMIX_REGEX), PMIX_SUCCESS);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(std::memcmp(read, blob.data(), 35), 0);
    free(read);
    for (size_t length = 0; length < out.size(); ++length) {
        EXPECT_EQ(reading(to_hex(out.view().first(length)), PMIX_REGEX),
                  PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    }
    for (const char* bad :
         {"blob:\0component=zlib:\0sice=5:\0aaaaa", "blob:\0component=zlib:\0size=5;\0aaaaa",
          "blob:\0component=zlib:\0size=x:\0aaaaa"}) {
        EXPECT_EQ(reading("02" + to_hex({reinterpret_cast<const uint8_t*>(bad), 35}), PMIX_REGEX),
                  PMIX_ERR_UNPACK_FAILURE);
    }
    static const char kHuge[] = "blob:\0component=c:\0size=18446744073709551615:\0a";
    EXPECT_EQ(reading("02" + to_hex({reinterpret_cast<const uint8_t*>(kHuge), sizeof kHuge - 1}), PMIX_REGEX),
              PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);

    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_REGEX;
    value.data.bo = {blob.data(), 35};
    expect_round_trip(value, PMIX_VALUE);
    pmix_byte_object_t two[2] = {{blob.data(), 35}, {literal("raw:a"), 6}};
    const pmix_data_array_t array = {PMIX_REGEX, 2, two};
    expect_round_trip(array, PMIX_DATA_ARRAY);
}

TEST(V41, Statistics) {
    pmix_proc_stats_t process = PMIX_PROC_STATS_STATIC_INIT;
    process.node = literal("n1");
    process.proc = make_proc("ns", 3);
    process.pid = 77;
    process.cmd = literal("cmd");
    process.state = 'R';
    process.time = {12, 500};
    process.priority = -5;
    process.num_threads = 40000;
    process.pss = 1.5f;
    process.vsize = 2.5f;
    process.rss = 3.5f;
    process.peak_vsize = 4.5f;
    process.processor = 3;
    process.sample_time = {99, 1};
    expect_round_trip(process, PMIX_PROC_STATS);

    pmix_disk_stats_t disks[2] = {{literal("sda"), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                  PMIX_DISK_STATS_STATIC_INIT};
    pmix_net_stats_t net = {literal("eth0"), 1, 2, 3, 4, 5, 6};
    expect_round_trip(disks[0], PMIX_DISK_STATS);
    expect_round_trip(net, PMIX_NET_STATS);
    pmix_node_stats_t node = PMIX_NODE_STATS_STATIC_INIT;
    node.node = literal("n1");
    node.la = 0.5f;
    node.mapped = 12.25f;
    node.sample_time = {5, 6};
    node.diskstats = disks;
    node.ndiskstats = 2;
    node.netstats = &net;
    node.nnetstats = 1;
    expect_round_trip(node, PMIX_NODE_STATS);
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_NODE_STATS;
    value.data.ndstats = &node;
    expect_round_trip(value, PMIX_VALUE);
}

TEST(V41, EveryBoxedTypeInAValue) {
    uint32_t numbers[2] = {1, 2};
    pmix_coord_t coord = {PMIX_COORD_PHYSICAL_VIEW, numbers, 2};
    pmix_geometry_t geometry = {1, literal("u"), nullptr, &coord, 1};
    pmix_device_t device = {literal("u"), literal("o"), PMIX_DEVTYPE_GPU};
    pmix_device_distance_t distance = {literal("u"), literal("o"), PMIX_DEVTYPE_GPU, 1, 2};
    pmix_endpoint_t endpoint = {literal("u"), literal("o"), {literal("xyz"), 3}};
    pmix_resource_unit_t unit = {PMIX_DEVTYPE_CPU, 4};
    pmix_node_pid_t node_pid = {literal("h"), 1, 2};
    uint8_t bytes[] = {1, 0, 2};
    pmix_regex2_t regex2 = {literal("raw"), bytes, sizeof bytes};
    char* description[2] = {literal("d"), nullptr};
    pmix_regattr_t regattr = {literal("N"), "n", PMIX_BOOL, description};
    pmix_data_buffer_t buffer = {literal("abc"), nullptr, nullptr, 3, 3};
    const auto check = [](pmix_data_type_t type, void* pointer) {
        SCOPED_TRACE(type);
        pmix_value_t value = PMIX_VALUE_STATIC_INIT;
        value.type = type;
        value.data.ptr = pointer;
        expect_round_trip(value, PMIX_VALUE);
    };
    check(PMIX_COORD, &coord);
    check(PMIX_GEOMETRY, &geometry);
    check(PMIX_DEVICE, &device);
    check(PMIX_DEVICE_DIST, &distance);
    check(PMIX_ENDPOINT, &endpoint);
    check(PMIX_RESOURCE_UNIT, &unit);
    check(PMIX_NODE_PID, &node_pid);
    check(PMIX_REGEX2, &regex2);
    check(PMIX_REGATTR, &regattr);
    check(PMIX_DATA_BUFFER, &buffer);
}

// As OpenPMIx 7 writes them: the name, a length, the bytes; one byte.
TEST(V41, WritesTheTypesOfOpenPmix7) {
    uint8_t bytes[] = {'a', ',', 'b', 0};
    const pmix_regex2_t regex = {literal("raw"), bytes, sizeof bytes};
    EXPECT_EQ(packed(regex, PMIX_REGEX2),
              "020872617700"
              "04"
              "612c6200");
    expect_round_trip(regex, PMIX_REGEX2);
    const pmix_alloc_inheritance_t inheritance = PMIX_ALLOC_INHERIT_CHILD;
    EXPECT_EQ(packed(inheritance, PMIX_ALLOC_INHERIT), "0202");
}

TEST(V41, Cpusets) {
    pmix_cpuset_t cpuset = {literal("hwloc"), hwloc_bitmap_alloc()};
    hwloc_bitmap_list_sscanf(static_cast<hwloc_bitmap_t>(cpuset.bitmap), "0,2-3");
    EXPECT_EQ(packed(cpuset, PMIX_PROC_CPUSET), "020c302c322d3300");
    expect_round_trip(cpuset, PMIX_PROC_CPUSET);
    hwloc_bitmap_list_sscanf(static_cast<hwloc_bitmap_t>(cpuset.bitmap), "8-");
    expect_round_trip(cpuset, PMIX_PROC_CPUSET);
    hwloc_bitmap_free(static_cast<hwloc_bitmap_t>(cpuset.bitmap));
    cpuset.bitmap = nullptr;
    EXPECT_EQ(packed(cpuset, PMIX_PROC_CPUSET), "0200");
    expect_round_trip(cpuset, PMIX_PROC_CPUSET);
    const pmix_cpuset_t foreign = {literal("other"), &cpuset};
    EXPECT_EQ(packed(foreign, PMIX_PROC_CPUSET), "status " + std::to_string(PMIX_ERR_NOT_SUPPORTED));

    const auto list = [](const char* text) {
        Bytes out;
        EXPECT_EQ(codec().pack(out, kPlain, &text, 1, PMIX_STRING), PMIX_SUCCESS);
        return reading(to_hex(out.view()), PMIX_PROC_CPUSET);
    };
    for (const char* bad :
         {"a", "1,", "-1", "1;2", "1,,2", "0-x", "1048577", "0-4294967295", "99999999999999999999"}) {
        EXPECT_EQ(list(bad), PMIX_ERR_UNPACK_FAILURE) << bad;
    }
    for (const char* good : {"", "0", "0-7", "1,3,5-6", "8-", "1048576"}) {
        EXPECT_EQ(list(good), PMIX_SUCCESS) << good;
    }
}

TEST(V41, Topologies) {
    hwloc_topology_t raw = nullptr;
    ASSERT_EQ(hwloc_topology_init(&raw), 0);
    ASSERT_EQ(hwloc_topology_set_synthetic(raw, "pack:2 core:2 pu:2"), 0);
    ASSERT_EQ(hwloc_topology_load(raw), 0);
    const pmix_topology_t topology = {literal("hwloc"), raw};
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, &topology, 1, PMIX_TOPO), PMIX_SUCCESS);
    pmix_topology_t read;
    int32_t n = 1;
    ByteReader trusted(out.view());
    ASSERT_EQ(codec().unpack_trusted(trusted, kPlain, &read, &n, PMIX_TOPO), PMIX_SUCCESS);
    EXPECT_TRUE(trusted.at_end());
    EXPECT_STREQ(read.source, "hwloc");
    ASSERT_NE(read.topology, nullptr);
    EXPECT_EQ(hwloc_get_nbobjs_by_type(static_cast<hwloc_topology_t>(read.topology), HWLOC_OBJ_PU), 8);
    Bytes again;
    ASSERT_EQ(codec().pack(again, kPlain, &read, 1, PMIX_TOPO), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(again.view()), to_hex(out.view()));
    data_destruct_elements(&read, 1, PMIX_TOPO);
    hwloc_topology_destroy(raw);

    // From a peer it is ignored.
    ByteReader from_peer(out.view());
    ASSERT_EQ(codec().unpack(from_peer, kPlain, &read, &n, PMIX_TOPO), PMIX_SUCCESS);
    EXPECT_TRUE(from_peer.at_end());
    EXPECT_STREQ(read.source, "hwloc");
    EXPECT_EQ(read.topology, nullptr);
    data_destruct_elements(&read, 1, PMIX_TOPO);
    for (const size_t length : {size_t{1}, size_t{2}, size_t{40}, out.size() - 1}) {
        EXPECT_NE(reading(to_hex(out.view().first(length)), PMIX_TOPO), PMIX_SUCCESS);
    }
    EXPECT_EQ(reading("0200", PMIX_TOPO), PMIX_SUCCESS);
    // No XML, and its flags.
    const std::vector<uint8_t> text = from_hex("0206616200" + std::string(128, '0'));
    ByteReader bad(text);
    EXPECT_EQ(codec().unpack_trusted(bad, kPlain, &read, &n, PMIX_TOPO), PMIX_ERR_UNPACK_FAILURE);
}

}  // namespace
}  // namespace muster
