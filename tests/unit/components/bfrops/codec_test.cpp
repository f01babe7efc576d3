// SPDX-License-Identifier: BSD-3-Clause
// bfrops/v41 where no recorded bytes exist: the rules of the interface, types that OpenPMIx cannot send, and
// input that no honest peer sends.

#include <gtest/gtest.h>
#include <hwloc.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <vector>

#include "components/bfrops/v41/flex.hpp"
#include "framework/base/element.hpp"
#include "framework/base/hwloc_object.hpp"
#include "framework/packer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

using test::codec;
using test::from_hex;
using test::to_hex;

constexpr auto kPlain = BufferType::NonDescribed;
constexpr auto kDescribed = BufferType::FullyDescribed;

template <class T>
std::string packed(const T& value, pmix_data_type_t type, BufferType buffer_type = kPlain) {
    Bytes out;
    const pmix_status_t status = codec().pack(out, buffer_type, &value, 1, type);
    return status == PMIX_SUCCESS ? to_hex(out.view()) : "status " + std::to_string(status);
}

/// Reads one value; the status alone is what matters.
pmix_status_t reading(const std::string& hex, pmix_data_type_t type, BufferType buffer_type = kPlain) {
    const std::vector<uint8_t> bytes = from_hex(hex);
    ByteReader in(bytes);
    alignas(16) uint8_t memory[4096];
    int32_t n = 1;
    const pmix_status_t status = codec().unpack(in, buffer_type, memory, &n, type);
    if (status == PMIX_SUCCESS) {
        EXPECT_TRUE(in.at_end());
        if (type != PMIX_REGEX) data_destruct_elements(memory, 1, type);
    } else {
        EXPECT_EQ(in.position(), 0u);
        EXPECT_EQ(n, 0);
    }
    return status;
}

/// Reads what was written and says whether it is the same.
template <class T>
void expect_round_trip(const T& value, pmix_data_type_t type) {
    for (const BufferType buffer_type : {kPlain, kDescribed}) {
        Bytes out;
        ASSERT_EQ(codec().pack(out, buffer_type, &value, 1, type), PMIX_SUCCESS);
        ByteReader in(out.view());
        T copy;
        int32_t n = 1;
        ASSERT_EQ(codec().unpack(in, buffer_type, &copy, &n, type), PMIX_SUCCESS);
        EXPECT_TRUE(in.at_end());
        EXPECT_EQ(data_compare_elements(&value, &copy, 1, type), PMIX_EQUAL);
        data_destruct_elements(&copy, 1, type);

        // Cut anywhere, it is refused and nothing leaks.
        for (size_t length = 0; length < out.size(); ++length) {
            ByteReader cut(out.view().first(length));
            n = 1;
            EXPECT_NE(codec().unpack(cut, buffer_type, &copy, &n, type), PMIX_SUCCESS) << length;
            EXPECT_EQ(cut.position(), 0u);
        }
    }
}

char* literal(const char* text) {
    return const_cast<char*>(text);
}

TEST(V41, SpeaksTheNamesOfItsVersions) {
    EXPECT_STREQ(codec().name(), "v41");
    for (const char* name : {"v41", "v51", "v61", "v4"}) {
        EXPECT_TRUE(codec().speaks(name));
    }
    for (const char* name : {"", "v3", "v40", "v411", "V41", "v20"}) {
        EXPECT_FALSE(codec().speaks(name));
    }
}

TEST(Flex, EveryLengthThereAndBack) {
    for (int bits = 0; bits <= 64; ++bits) {
        const uint64_t number = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - (bits % 2);
        uint8_t bytes[9];
        const uint8_t* end = v41::put_flex(bytes, number);
        uint64_t read = ~number;
        EXPECT_EQ(v41::get_flex(bytes, end, &read), end);
        EXPECT_EQ(read, number);
        EXPECT_EQ(v41::get_flex(bytes, end - 1, &read), nullptr);
    }
}

TEST(V41, NumbersThatDoNotFitAreRefused) {
    EXPECT_EQ(reading("02ffff03", PMIX_UINT16), PMIX_SUCCESS);
    EXPECT_EQ(reading("02808004", PMIX_UINT16), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("02808004", PMIX_INT16), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("028080808010", PMIX_UINT32), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("028080808010", PMIX_INT32), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("028080808010", PMIX_UINT64), PMIX_SUCCESS);
    // More bytes than needed are no error.
    EXPECT_EQ(reading("02818000", PMIX_UINT16), PMIX_SUCCESS);
}

TEST(V41, PidsCarryTheirWidthOnceARun) {
    const pid_t pids[3] = {1, 2, 300};
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, pids, 3, PMIX_PID), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(out.view()), "060e0102ac02");
    pid_t read[3] = {};
    int32_t n = 3;
    ByteReader in(out.view());
    ASSERT_EQ(codec().unpack(in, kPlain, read, &n, PMIX_PID), PMIX_SUCCESS);
    EXPECT_EQ(read[2], 300);
    out.clear();
    ASSERT_EQ(codec().pack(out, kPlain, pids, 0, PMIX_PID), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(out.view()), "000e");
    EXPECT_EQ(reading("020901", PMIX_PID), PMIX_ERR_UNPACK_FAILURE);
}

TEST(V41, PointersAreOneSentinelAndReadAsNull) {
    const void* pointers[3] = {&pointers, &pointers, nullptr};
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, pointers, 3, PMIX_POINTER), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(out.view()), "0601");
    ByteReader in(out.view());
    void* read[3] = {&read, &read, &read};
    int32_t n = 3;
    ASSERT_EQ(codec().unpack(in, kPlain, read, &n, PMIX_POINTER), PMIX_SUCCESS);
    EXPECT_EQ(read[0], nullptr);
    EXPECT_EQ(read[2], nullptr);
}

TEST(V41, ManyPointersFromFewBytesAreRefused) {
    // An array of 2^31 pointers: eleven bytes here, 16 GiB there.
    EXPECT_EQ(reading("021f808080800801", PMIX_DATA_ARRAY), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("021f0301", PMIX_DATA_ARRAY), PMIX_SUCCESS);
}

TEST(V41, ArraysOfNoTypeAreReadInBothFormsAndNeverWritten) {
    const pmix_data_array_t none = PMIX_DATA_ARRAY_STATIC_INIT;
    EXPECT_EQ(packed(none, PMIX_DATA_ARRAY), "021800");
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_DATA_ARRAY;
    EXPECT_EQ(packed(value, PMIX_VALUE), "02271800");
    EXPECT_EQ(reading("020000", PMIX_DATA_ARRAY), PMIX_SUCCESS);
    EXPECT_EQ(reading("0200", PMIX_DATA_ARRAY), PMIX_SUCCESS);

    // Within infos: {"a", array of no type without a count}, {"b", true}.
    const std::vector<uint8_t> bytes = from_hex(
        "0404610000270004620000"
        "0101");
    ByteReader in(bytes);
    pmix_info_t infos[2];
    int32_t n = 2;
    ASSERT_EQ(codec().unpack(in, kPlain, infos, &n, PMIX_INFO), PMIX_SUCCESS);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(infos[0].value.type, PMIX_DATA_ARRAY);
    EXPECT_STREQ(infos[1].key, "b");
    EXPECT_TRUE(infos[1].value.data.flag);
    data_destruct_elements(infos, 2, PMIX_INFO);
}

TEST(V41, FlagsOfOneLibraryStayAtHome) {
    pmix_info_t info = PMIX_INFO_STATIC_INIT;
    key_load(info.key, "k");
    info.flags = PMIX_INFO_REQD | PMIX_INFO_ARRAY_END | PMIX_INFO_REQD_PROCESSED | PMIX_INFO_QUALIFIER |
                 PMIX_INFO_PERSISTENT | PMIX_INFO_DIR_RESERVED;
    EXPECT_EQ(packed(info, PMIX_INFO), "02046b000900");
    // A borrowed value must not come from a wire: nobody would free it.
    const std::vector<uint8_t> bytes = from_hex(
        "02046b001f0304"
        "6100");
    ByteReader in(bytes);
    int32_t n = 1;
    ASSERT_EQ(codec().unpack(in, kPlain, &info, &n, PMIX_INFO), PMIX_SUCCESS);
    EXPECT_EQ(info.flags, pmix_info_directives_t{PMIX_INFO_REQD | PMIX_INFO_QUALIFIER});
    data_destruct_elements(&info, 1, PMIX_INFO);
}

TEST(V41, RealsDoNotDependOnTheLocale) {
    // Whether there is such a locale or not, the bytes are these.
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

TEST(V41, StringsHaveToEndWhereTheySay) {
    EXPECT_EQ(reading("0204616100", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // no terminator in its place
    EXPECT_EQ(reading("0206610062", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // nor here
    EXPECT_EQ(reading("0206006100", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // one too early
    EXPECT_EQ(reading("0201", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);        // length -1
    EXPECT_EQ(reading("02feffffff0f61", PMIX_STRING), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(V41, NamesThatAreTooLongAreRefused) {
    const auto proc_of = [](size_t length) {
        Bytes out;
        const std::string nspace(length, 'n');
        const char* text = nspace.c_str();
        codec().pack(out, kPlain, &text, 1, PMIX_STRING);
        out.push_back(0);
        return to_hex(out.view());
    };
    EXPECT_EQ(reading(proc_of(PMIX_MAX_NSLEN), PMIX_PROC), PMIX_SUCCESS);
    EXPECT_EQ(reading(proc_of(PMIX_MAX_NSLEN + 1), PMIX_PROC), PMIX_ERR_UNPACK_FAILURE);
    // A namespace that fills its array needs no terminator in memory.
    pmix_nspace_t full;
    std::memset(full, 'x', sizeof full);
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, &full, 1, PMIX_PROC_NSPACE), PMIX_SUCCESS);
    EXPECT_EQ(out.size(), 1 + 2 + sizeof full);
}

TEST(V41, CountsAreCheckedBeforeMemoryIsTaken) {
    for (const char* hex : {"feffffff0f", "feffffff0f0000", "20000000"}) {
        for (const pmix_data_type_t type : {PMIX_INFO, PMIX_STRING, PMIX_UINT8, PMIX_NODE_STATS, PMIX_APP}) {
            const std::vector<uint8_t> bytes = from_hex(hex);
            ByteReader in(bytes);
            void* values = this;
            int32_t n = 7;
            EXPECT_NE(codec().unpack_array(in, kPlain, &values, &n, type), PMIX_SUCCESS);
            EXPECT_EQ(values, nullptr);
            EXPECT_EQ(n, 0);
            EXPECT_EQ(in.position(), 0u);
        }
    }
    EXPECT_EQ(reading("01", PMIX_UINT8), PMIX_ERR_UNPACK_FAILURE);  // count -1
    EXPECT_EQ(reading("0218ffffffffffffffffff", PMIX_DATA_ARRAY), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(reading("020ef0ffffffffffffffff", PMIX_DATA_ARRAY), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(reading("02ffffffffffffffffff", PMIX_BYTE_OBJECT), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(reading("0200ffffffffffffffffff", PMIX_COORD), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(reading("0200feffffff0f", PMIX_APP), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(V41, ArraysNestSoDeepAndNoDeeper) {
    const auto nested = [](int depth) {
        std::string hex = "02";
        for (int i = 1; i < depth; ++i) {
            hex += "2701";
        }
        return hex + "0c0107";
    };
    EXPECT_EQ(reading(nested(1), PMIX_DATA_ARRAY), PMIX_SUCCESS);
    EXPECT_EQ(reading(nested(kMaxNesting), PMIX_DATA_ARRAY), PMIX_SUCCESS);
    EXPECT_EQ(reading(nested(kMaxNesting + 1), PMIX_DATA_ARRAY), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading(nested(1000000), PMIX_DATA_ARRAY), PMIX_ERR_UNPACK_FAILURE);

    // Writing: an array that contains itself.
    pmix_data_array_t self = {PMIX_DATA_ARRAY, 1, &self};
    EXPECT_EQ(packed(self, PMIX_DATA_ARRAY), "status " + std::to_string(PMIX_ERR_BAD_PARAM));
}

TEST(V41, UnknownTypes) {
    EXPECT_EQ(reading("0263", PMIX_VALUE), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(reading("0215"
                      "00",
                      PMIX_VALUE),
              PMIX_ERR_UNKNOWN_DATA_TYPE);  // a value in a value
    EXPECT_EQ(reading("021a"
                      "0100",
                      PMIX_VALUE),
              PMIX_ERR_UNKNOWN_DATA_TYPE);  // a buffer
    EXPECT_EQ(reading("021c"
                      "01"
                      "0000",
                      PMIX_DATA_ARRAY),
              PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(reading("0200", 29), PMIX_ERR_UNKNOWN_DATA_TYPE);
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_INFO;
    EXPECT_EQ(packed(value, PMIX_VALUE), "status " + std::to_string(PMIX_ERR_UNKNOWN_DATA_TYPE));
    value.type = 300;
    EXPECT_EQ(packed(value, PMIX_VALUE), "status " + std::to_string(PMIX_ERR_UNKNOWN_DATA_TYPE));
}

TEST(V41, NullWhereSomethingHasToBeIsRefusedAndWritesNothing) {
    Bytes out;
    out.push_back(0xee);
    const char* text = nullptr;
    EXPECT_EQ(codec().pack(out, kPlain, &text, 1, PMIX_REGEX), PMIX_ERR_BAD_PARAM);
    const pmix_byte_object_t object = {nullptr, 3};
    EXPECT_EQ(codec().pack(out, kDescribed, &object, 1, PMIX_BYTE_OBJECT), PMIX_ERR_BAD_PARAM);
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_PROC;
    EXPECT_EQ(codec().pack(out, kDescribed, &value, 1, PMIX_VALUE), PMIX_ERR_BAD_PARAM);
    const pmix_data_array_t array = {PMIX_INFO, 2, nullptr};
    EXPECT_EQ(codec().pack(out, kPlain, &array, 1, PMIX_DATA_ARRAY), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(codec().pack(out, kPlain, nullptr, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(codec().pack(out, kPlain, &value, -1, PMIX_VALUE), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(codec().pack(out, kDescribed, &value, 1, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(to_hex(out.view()), "ee");
}

TEST(V41, DescribedItemsAreCheckedAgainstTheirType) {
    const uint32_t number = 7;
    EXPECT_EQ(packed(number, PMIX_UINT32, kDescribed), "09020e07");
    EXPECT_EQ(reading("09020e07", PMIX_UINT32, kDescribed), PMIX_SUCCESS);
    EXPECT_EQ(reading("09020907", PMIX_UINT32, kDescribed), PMIX_ERR_PACK_MISMATCH);
    EXPECT_EQ(reading("0e020e07", PMIX_UINT32, kDescribed), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(reading("0902", PMIX_UINT32, kDescribed), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(reading("", PMIX_UINT32, kDescribed), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(V41, ExtendedRegexesComeWhole) {
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
    check(PMIX_REGATTR, &regattr);
    check(PMIX_DATA_BUFFER, &buffer);
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

    // From a peer it is passed over.
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
    // No XML at all, and its flags.
    const std::vector<uint8_t> text = from_hex("0206616200" + std::string(128, '0'));
    ByteReader bad(text);
    EXPECT_EQ(codec().unpack_trusted(bad, kPlain, &read, &n, PMIX_TOPO), PMIX_ERR_UNPACK_FAILURE);
}

TEST(V41, ViewsPointIntoTheInput) {
    Packer out({&codec(), kDescribed});
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_UINT32;
    value.data.uint32 = 5;
    const uint8_t content[3] = {1, 2, 3};
    out.string("text").string(nullptr).bytes(content).buffer(content).kval("key", value);
    ASSERT_EQ(out.error(), PMIX_SUCCESS);
    const ByteView all = out.view();
    Unpacker in({&codec(), kDescribed}, all);
    std::string text;
    bool is_null = true;
    EXPECT_TRUE(in.string(text, is_null));
    EXPECT_EQ(text, "text");
    EXPECT_FALSE(is_null);
    EXPECT_TRUE(in.string(text, is_null));
    EXPECT_TRUE(is_null);
    EXPECT_EQ(text, "");
    ByteView view;
    EXPECT_TRUE(in.bytes(view));
    EXPECT_EQ(to_hex(view), "010203");
    EXPECT_TRUE(view.data() > all.data() && view.data() < all.data() + all.size());
    BufferType type = kPlain;
    EXPECT_TRUE(in.buffer(type, view));
    EXPECT_EQ(type, kDescribed);
    EXPECT_EQ(to_hex(view), "010203");
    std::string_view key;
    Value read;
    EXPECT_TRUE(in.kval(key, read));
    EXPECT_EQ(key, "key");
    EXPECT_EQ(read.get()->data.uint32, 5u);
    EXPECT_TRUE(in.at_end());
    EXPECT_FALSE(in.kval(key, read));
    EXPECT_EQ(in.error(), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(V41, BuffersAndPairsAsElements) {
    char content[2] = {7, 8};
    const PackedBuffer buffers[2] = {{kPlain, {content, 2}}, {kDescribed, {nullptr, 0}}};
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, buffers, 2, PMIX_BUFFER), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(out.view()), "04010207080200");
    PackedBuffer read[2];
    int32_t n = 2;
    ByteReader in(out.view());
    ASSERT_EQ(codec().unpack(in, kPlain, read, &n, PMIX_BUFFER), PMIX_SUCCESS);
    EXPECT_EQ(read[0].content.size, 2u);
    EXPECT_EQ(read[1].type, kDescribed);
    free(read[0].content.bytes);
    EXPECT_EQ(reading("020300", PMIX_BUFFER), PMIX_ERR_UNPACK_FAILURE);  // no such buffer type

    KeyValue pairs[2];
    const std::vector<uint8_t> bytes = from_hex("0404610001010462000300");
    ByteReader pairs_in(bytes);
    n = 2;
    ASSERT_EQ(codec().unpack(pairs_in, kPlain, pairs, &n, PMIX_KVAL), PMIX_SUCCESS);
    EXPECT_STREQ(pairs[1].key, "b");
    EXPECT_TRUE(pairs[0].value.data.flag);
    free(pairs[0].key);
    free(pairs[1].key);
    // The second is cut: the first is not leaked.
    ByteReader cut(ByteView(bytes).first(bytes.size() - 1));
    n = 2;
    EXPECT_EQ(codec().unpack(cut, kPlain, pairs, &n, PMIX_KVAL), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(Packer, RemembersItsFirstFailure) {
    Packer out({&codec(), kPlain});
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = 300;
    out.command(4).kval("k", value).status(-1).raw({});
    EXPECT_EQ(out.error(), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(to_hex(out.view()), "0204");
}

TEST(Packer, CountedArrays) {
    Packer out({&codec(), kPlain});
    pmix_info_t infos[2] = {PMIX_INFO_STATIC_INIT, PMIX_INFO_STATIC_INIT};
    key_load(infos[0].key, "a");
    key_load(infos[1].key, "b");
    const pmix_proc_t proc = make_proc("ns", 2);
    out.infos({infos, 2}).infos({}).procs(&proc, 1).info(infos[1]);
    EXPECT_EQ(to_hex(out.view()),
              "0202040461000000046200000002000201"
              "02066e730002"
              "020462000000");
    Unpacker in(out.format(), out.view());
    Info read;
    std::vector<pmix_proc_t> procs;
    EXPECT_TRUE(in.infos(read));
    EXPECT_EQ(read.size(), 2u);
    EXPECT_TRUE(in.infos(read));
    EXPECT_TRUE(read.empty());
    EXPECT_TRUE(in.procs(procs));
    ASSERT_EQ(procs.size(), 1u);
    EXPECT_EQ(procs[0].rank, 2u);
    EXPECT_TRUE(in.info(read));
    EXPECT_EQ(read.size(), 1u);
    EXPECT_TRUE(in.at_end());
}

TEST(Unpacker, CountAndItemHaveToAgree) {
    for (const char* hex : {"02030a0102030405", "0201", "020200",
                            "02ffffffffffffffffff0401"
                            "02"}) {
        const std::vector<uint8_t> bytes = from_hex(hex);
        Unpacker in({&codec(), kPlain}, bytes);
        void* values = this;
        size_t n = 9;
        EXPECT_FALSE(in.counted(&values, n, PMIX_UINT8)) << hex;
        EXPECT_EQ(values, nullptr);
        EXPECT_EQ(n, 0u);
    }
}

TEST(Unpacker, OneMeansOne) {
    for (const char* hex : {"00",
                            "04610061"
                            "00"}) {
        const std::vector<uint8_t> bytes = from_hex(hex);
        Unpacker in({&codec(), kPlain}, bytes);
        std::string text = "before";
        EXPECT_FALSE(in.string(text));
        EXPECT_EQ(text, "before");
    }
    const std::vector<uint8_t> two = from_hex("040461000004620000");
    Unpacker in({&codec(), kPlain}, two);
    pmix_value_t value;
    EXPECT_FALSE(in.item(&value, PMIX_STRING));
    EXPECT_TRUE(in.failed());
}

}  // namespace
}  // namespace muster
