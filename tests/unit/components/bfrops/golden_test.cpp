// SPDX-License-Identifier: BSD-3-Clause
// bfrops/v41 against recorded bytes of OpenPMIx 4.2.2, 5.0.11 and 6.1.0: Muster writes the same bytes, and
// reads them back.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "framework/base/element.hpp"
#include "framework/packer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"
#include "tests/unit/components/bfrops/next_type.hpp"

namespace muster {
namespace {

using test::codec;
using test::from_hex;
using test::kDescribed;
using test::kPlain;
using test::literal;
using test::to_hex;
using test::type_of_next;

std::vector<std::vector<std::string>> read_table(const std::string& name) {
    std::ifstream file(std::string(MUSTER_TEST_DATA "/golden/") + name);
    std::vector<std::vector<std::string>> rows;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> row;
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, '\t');) {
            row.push_back(field);
        }
        rows.push_back(row);
    }
    return rows;
}

/// The values that were recorded, by their description.
class Samples {
  public:
    /// Calls `use` with the values of a description; false if there are none.
    bool with(const std::string& description,
              const std::function<void(const void*, int32_t, pmix_data_type_t)>& use) const {
        const auto found = makers_.find(description);
        if (found == makers_.end()) return false;
        found->second(use);
        return true;
    }
    size_t size() const { return makers_.size(); }

    Samples();

  private:
    using Use = std::function<void(const void*, int32_t, pmix_data_type_t)>;
    template <class T>
    void add(const char* description, pmix_data_type_t type, T value) {
        makers_[description] = [value, type](const Use& use) { use(&value, 1, type); };
    }
    template <class T>
    void add_array(const char* description, pmix_data_type_t type, std::vector<T> values) {
        makers_[description] = [values, type](const Use& use) {
            use(values.data(), static_cast<int32_t>(values.size()), type);
        };
    }
    void add_value(const char* description, pmix_data_type_t type, std::function<void(pmix_value_t&)> fill) {
        pmix_value_t value = PMIX_VALUE_STATIC_INIT;
        value.type = type;
        if (fill) fill(value);
        add(description, PMIX_VALUE, value);
    }
    void add_integers();
    void add_small();
    void add_objects();
    void add_values();

    std::map<std::string, std::function<void(const Use&)>> makers_;
    // The memory that the samples refer to.
    mutable char bytes_[4] = {1, 2, 3, '\xff'};
    pmix_proc_t proc_ = make_proc("ns1", 7);
    pmix_nspace_t nspace_ = "ns1";
    pmix_info_t infos_[2] = {PMIX_INFO_STATIC_INIT, PMIX_INFO_STATIC_INIT};
    uint32_t numbers_[3] = {1, 2, 300};
    char* strings_[3] = {literal("a"), literal("bc"), nullptr};
    char* argv_[3] = {literal("prog"), literal("x"), nullptr};
    char* env_[2] = {literal("A=1"), nullptr};
    char* keys_[3] = {literal("k1"), literal("k2"), nullptr};
    char* description_[2] = {literal("desc"), nullptr};
    uint32_t coordinates_[3] = {1, 2, 3};
    pmix_coord_t coord_ = {PMIX_COORD_LOGICAL_VIEW, coordinates_, 3};
    pmix_data_array_t info_array_ = {PMIX_INFO, 2, infos_};
    pmix_data_array_t string_array_ = {PMIX_STRING, 2, strings_};
    char packed_[2] = {2, 0x4d};
};

Samples::Samples() {
    key_load(infos_[0].key, "key.one");
    infos_[0].value.type = PMIX_STRING;
    infos_[0].value.data.string = literal("v1");
    key_load(infos_[1].key, "key.two");
    infos_[1].flags = PMIX_INFO_REQD;
    infos_[1].value.type = PMIX_UINT32;
    infos_[1].value.data.uint32 = 77;
    add_integers();
    add_small();
    add_objects();
    add_values();
}

void Samples::add_integers() {
    add("BOOL true", PMIX_BOOL, true);
    add("BOOL false", PMIX_BOOL, false);
    add("BYTE 0xab", PMIX_BYTE, uint8_t{0xab});
    add("INT8 -5", PMIX_INT8, int8_t{-5});
    add("UINT8 200", PMIX_UINT8, uint8_t{200});
    add("INT16 0", PMIX_INT16, int16_t{0});
    add("INT16 -1", PMIX_INT16, int16_t{-1});
    add("INT16 min", PMIX_INT16, std::numeric_limits<int16_t>::min());
    add("INT16 max", PMIX_INT16, std::numeric_limits<int16_t>::max());
    add("UINT16 65535", PMIX_UINT16, uint16_t{65535});
    add("UINT16 127", PMIX_UINT16, uint16_t{127});
    add("UINT16 128", PMIX_UINT16, uint16_t{128});
    add("INT32 0", PMIX_INT32, int32_t{0});
    add("INT32 1", PMIX_INT32, int32_t{1});
    add("INT32 -1", PMIX_INT32, int32_t{-1});
    add("INT32 63", PMIX_INT32, int32_t{63});
    add("INT32 64", PMIX_INT32, int32_t{64});
    add("INT32 -64", PMIX_INT32, int32_t{-64});
    add("INT32 -65", PMIX_INT32, int32_t{-65});
    add("INT32 max", PMIX_INT32, std::numeric_limits<int32_t>::max());
    add("INT32 min", PMIX_INT32, std::numeric_limits<int32_t>::min());
    add("UINT32 0x12345678", PMIX_UINT32, uint32_t{0x12345678});
    add("UINT32 max", PMIX_UINT32, std::numeric_limits<uint32_t>::max());
    add("INT64 max", PMIX_INT64, std::numeric_limits<int64_t>::max());
    add("INT64 min", PMIX_INT64, std::numeric_limits<int64_t>::min());
    add("INT64 -2", PMIX_INT64, int64_t{-2});
    add("UINT64 max", PMIX_UINT64, std::numeric_limits<uint64_t>::max());
    add("UINT64 2^56-1", PMIX_UINT64, (uint64_t{1} << 56) - 1);
    add("UINT64 2^56", PMIX_UINT64, uint64_t{1} << 56);
    add("UINT64 2^49", PMIX_UINT64, uint64_t{1} << 49);
    add("UINT64 2^63", PMIX_UINT64, uint64_t{1} << 63);
    add("UINT64 0x0123456789abcdef", PMIX_UINT64, uint64_t{0x0123456789abcdef});
    add("INT -300", PMIX_INT, -300);
    add("UINT 300", PMIX_UINT, 300u);
    add("SIZE 1000000", PMIX_SIZE, size_t{1000000});
    add("PID 4242", PMIX_PID, pid_t{4242});
    add_array<int32_t>("INT32[3] 1,-2,300", PMIX_INT32, {1, -2, 300});
    add_array<int32_t>("INT32[0]", PMIX_INT32, {});
    add_array<uint8_t>("BYTE[4] 1,2,3,4", PMIX_BYTE, {1, 2, 3, 4});
}

void Samples::add_small() {
    add("STRING hello", PMIX_STRING, literal("hello"));
    add("STRING empty", PMIX_STRING, literal(""));
    add("STRING NULL", PMIX_STRING, static_cast<char*>(nullptr));
    add_array<char*>("STRING[2] a,bc", PMIX_STRING, {literal("a"), literal("bc")});
    add("FLOAT 1.5", PMIX_FLOAT, 1.5f);
    add("DOUBLE -2.25", PMIX_DOUBLE, -2.25);
    add("DOUBLE 1e-9", PMIX_DOUBLE, 1e-9);
    add("FLOAT inf", PMIX_FLOAT, std::numeric_limits<float>::infinity());
    add("TIMEVAL 1700000000.123456", PMIX_TIMEVAL, timeval{1700000000, 123456});
    add("TIME 1700000000", PMIX_TIME, time_t{1700000000});
    add("STATUS -46", PMIX_STATUS, pmix_status_t{-46});
    add("STATUS -1", PMIX_STATUS, pmix_status_t{-1});
    add("PROC ns1:7", PMIX_PROC, proc_);
    add_array<pmix_proc_t>("PROC[2] a:WILDCARD, (empty nspace):UNDEF", PMIX_PROC,
                           {make_proc("a", PMIX_RANK_WILDCARD), make_proc("", PMIX_RANK_UNDEF)});
    add("PROC_RANK 5", PMIX_PROC_RANK, pmix_rank_t{5});
    add("PROC_RANK LOCAL_NODE", PMIX_PROC_RANK, pmix_rank_t{PMIX_RANK_LOCAL_NODE});
    add("PROC_RANK INVALID", PMIX_PROC_RANK, pmix_rank_t{PMIX_RANK_INVALID});
    add("PROC_RANK LOCAL_PEERS", PMIX_PROC_RANK, pmix_rank_t{PMIX_RANK_LOCAL_PEERS});
    makers_["PROC_NSPACE ns1"] = [this](const Use& use) { use(&nspace_, 1, PMIX_PROC_NSPACE); };
    add("PERSIST APP", PMIX_PERSIST, pmix_persistence_t{PMIX_PERSIST_APP});
    add("SCOPE GLOBAL", PMIX_SCOPE, pmix_scope_t{PMIX_GLOBAL});
    add("SCOPE LOCAL", PMIX_SCOPE, pmix_scope_t{PMIX_LOCAL});
    add("SCOPE REMOTE", PMIX_SCOPE, pmix_scope_t{PMIX_REMOTE});
    add("SCOPE INTERNAL", PMIX_SCOPE, pmix_scope_t{PMIX_INTERNAL});
    add("DATA_RANGE SESSION", PMIX_DATA_RANGE, pmix_data_range_t{PMIX_RANGE_SESSION});
    add("COMMAND 24", PMIX_COMMAND, uint8_t{24});
    add("INFO_DIRECTIVES REQD", PMIX_INFO_DIRECTIVES, pmix_info_directives_t{PMIX_INFO_REQD});
    add("DATA_TYPE PROC(22)", PMIX_DATA_TYPE, pmix_data_type_t{PMIX_PROC});
    add("PROC_STATE CONNECTED", PMIX_PROC_STATE, pmix_proc_state_t{PMIX_PROC_STATE_CONNECTED});
    add("ALLOC_DIRECTIVE NEW", PMIX_ALLOC_DIRECTIVE, pmix_alloc_directive_t{PMIX_ALLOC_NEW});
    add("IOF_CHANNEL STDOUT|STDERR", PMIX_IOF_CHANNEL,
        pmix_iof_channel_t{PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL});
    add("JOB_STATE CONNECTED", PMIX_JOB_STATE, pmix_job_state_t{PMIX_JOB_STATE_CONNECTED});
    add("LINK_STATE UP", PMIX_LINK_STATE, pmix_link_state_t{PMIX_LINK_UP});
    add("DEVTYPE GPU", PMIX_DEVTYPE, pmix_device_type_t{PMIX_DEVTYPE_GPU});
    add("LOCTYPE SHARE_NODE|SHARE_CORE", PMIX_LOCTYPE,
        pmix_locality_t{PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_CORE});
    add("STOR_MEDIUM DRAM", PMIX_STOR_MEDIUM, pmix_storage_medium_t{PMIX_STORAGE_MEDIUM_RAM});
    add("STOR_ACCESS NODE", PMIX_STOR_ACCESS, pmix_storage_accessibility_t{PMIX_STORAGE_ACCESSIBILITY_NODE});
    add("STOR_PERSIST JOB", PMIX_STOR_PERSIST, pmix_storage_persistence_t{PMIX_STORAGE_PERSISTENCE_JOB});
    add("STOR_ACCESS_TYPE RDWR", PMIX_STOR_ACCESS_TYPE, pmix_storage_access_type_t{PMIX_STORAGE_ACCESS_RDWR});
    add("RESBLOCK_DIRECTIVE 1", PMIX_RESBLOCK_DIRECTIVE, pmix_resource_block_directive_t{1});
    add("POINTER (sentinel)", PMIX_POINTER, static_cast<void*>(bytes_));
    // Their preg component decides the text: 4.2 writes the first form, the others the second.
    add("REGEX pmix[...]", PMIX_REGEX, literal("pmix[node[1:1-3],node[2:17]]"));
    add("REGEX raw:...", PMIX_REGEX, literal("raw:node1,node2,node3,node17"));
    add("PPN of 0-3;4-7", PMIX_REGEX, literal("raw:0-3;4-7"));
}

void Samples::add_objects() {
    const pmix_byte_object_t object = {bytes_, sizeof bytes_};
    add("BYTE_OBJECT 010203ff", PMIX_BYTE_OBJECT, object);
    add("BYTE_OBJECT empty", PMIX_BYTE_OBJECT, pmix_byte_object_t{nullptr, 0});
    add("COMPRESSED_STRING bytes 010203ff", PMIX_COMPRESSED_STRING, object);
    add("COMPRESSED_BYTE_OBJECT bytes 010203ff", PMIX_COMPRESSED_BYTE_OBJECT, object);
    add("ENVAR PATH /bin :", PMIX_ENVAR, pmix_envar_t{literal("PATH"), literal("/bin"), ':'});
    add("PROC_INFO ns1:7 host1 exe pid99 RUNNING", PMIX_PROC_INFO,
        pmix_proc_info_t{proc_, literal("host1"), literal("exe"), 99, 0, PMIX_PROC_STATE_RUNNING});
    add_array<pmix_info_t>("INFO key.one=STRING v1", PMIX_INFO, {infos_[0]});
    add_array<pmix_info_t>("INFO[2] key.one=v1, key.two=UINT32 77 REQUIRED", PMIX_INFO,
                           {infos_[0], infos_[1]});
    add("DATA_ARRAY UINT32 {1,2,300}", PMIX_DATA_ARRAY, pmix_data_array_t{PMIX_UINT32, 3, numbers_});
    add("DATA_ARRAY INFO x2", PMIX_DATA_ARRAY, info_array_);
    add("DATA_ARRAY INFO x0", PMIX_DATA_ARRAY, pmix_data_array_t{PMIX_INFO, 0, infos_});
    add("DATA_ARRAY of DATA_ARRAY STRING{a,bc}", PMIX_DATA_ARRAY,
        pmix_data_array_t{PMIX_DATA_ARRAY, 1, &string_array_});
    pmix_pdata_t pdata = PMIX_LOOKUP_STATIC_INIT;
    pdata.proc = proc_;
    key_load(pdata.key, "pk");
    pdata.value.type = PMIX_STRING;
    pdata.value.data.string = literal("pv");
    add("PDATA ns1:7 pk=STRING pv", PMIX_PDATA, pdata);
    add("APP prog{prog,x} env{A=1} cwd /w max 4 info{key.one}", PMIX_APP,
        pmix_app_t{literal("prog"), argv_, env_, literal("/w"), 4, infos_, 1});
    add("APP all empty", PMIX_APP, pmix_app_t PMIX_APP_STATIC_INIT);
    add("QUERY {k1,k2} qual{key.one}", PMIX_QUERY, pmix_query_t{keys_, infos_, 1});
    add("COORD LOGICAL {1,2,3}", PMIX_COORD, coord_);
    pmix_regattr_t regattr = {literal("NAME"), "pmix.name", PMIX_STRING, description_};
    add("REGATTR NAME pmix.name STRING {desc}", PMIX_REGATTR, regattr);
    add("GEOMETRY 2 uu os {coord}", PMIX_GEOMETRY,
        pmix_geometry_t{2, literal("uu"), literal("os"), &coord_, 1});
    add("DEVICE_DIST uu os NETWORK 10 200", PMIX_DEVICE_DIST,
        pmix_device_distance_t{literal("uu"), literal("os"), PMIX_DEVTYPE_NETWORK, 10, 200});
    add("ENDPOINT uu os 010203ff", PMIX_ENDPOINT, pmix_endpoint_t{literal("uu"), literal("os"), object});
    add("DATA_BUFFER holding UINT32 77", PMIX_DATA_BUFFER,
        pmix_data_buffer_t{packed_, packed_ + 2, packed_, 2, 2});
    add("DEVICE uu os GPU", PMIX_DEVICE, pmix_device_t{literal("uu"), literal("os"), PMIX_DEVTYPE_GPU});
    add("RESOURCE_UNIT GPU 3", PMIX_RESOURCE_UNIT, pmix_resource_unit_t{PMIX_DEVTYPE_GPU, 3});
    add("NODE_PID host1 3 99", PMIX_NODE_PID, pmix_node_pid_t{literal("host1"), 3, 99});
}

void Samples::add_values() {
    add_value("VALUE UNDEF", PMIX_UNDEF, nullptr);
    add_value("VALUE BOOL true", PMIX_BOOL, [](auto& v) { v.data.flag = true; });
    add_value("VALUE STRING str", PMIX_STRING, [](auto& v) { v.data.string = literal("str"); });
    add_value("VALUE INT -1", PMIX_INT, [](auto& v) { v.data.integer = -1; });
    add_value("VALUE SIZE 9", PMIX_SIZE, [](auto& v) { v.data.size = 9; });
    add_value("VALUE UINT16 3", PMIX_UINT16, [](auto& v) { v.data.uint16 = 3; });
    add_value("VALUE PID 12", PMIX_PID, [](auto& v) { v.data.pid = 12; });
    add_value("VALUE DOUBLE 0.5", PMIX_DOUBLE, [](auto& v) { v.data.dval = 0.5; });
    add_value("VALUE PROC ns1:7", PMIX_PROC, [this](auto& v) { v.data.proc = &proc_; });
    add_value("VALUE PROC_RANK 4", PMIX_PROC_RANK, [](auto& v) { v.data.rank = 4; });
    add_value("VALUE BYTE_OBJECT 010203ff", PMIX_BYTE_OBJECT, [this](auto& v) { v.data.bo = {bytes_, 4}; });
    add_value("VALUE ENVAR", PMIX_ENVAR, [](auto& v) {
        v.data.envar = {literal("PATH"), literal("/bin"), ':'};
    });
    add_value("VALUE PROC_NSPACE ns1", PMIX_PROC_NSPACE, [this](auto& v) { v.data.nspace = &nspace_; });
    add_value("VALUE STATUS -25", PMIX_STATUS, [](auto& v) { v.data.status = -25; });
    add_value("VALUE POINTER", PMIX_POINTER, [this](auto& v) { v.data.ptr = &proc_; });
    add_value("VALUE TIMEVAL", PMIX_TIMEVAL, [](auto& v) { v.data.tv = {1700000000, 123456}; });
    add_value("VALUE DATA_ARRAY INFO x2", PMIX_DATA_ARRAY, [this](auto& v) { v.data.darray = &info_array_; });
}

/// Room for any one sample, and its end.
struct Elements {
    alignas(16) uint8_t memory[4096];
    int32_t n = 0;
    pmix_data_type_t type = PMIX_UNDEF;
    ~Elements() {
        if (type == PMIX_REGEX) {
            free(*reinterpret_cast<char**>(memory));
        } else if (n > 0) {
            data_destruct_elements(memory, static_cast<size_t>(n), type);
        }
    }
};

/// Whether a line is not about bfrops, or depends on the machine.
bool is_other(const std::string& description) {
    for (const char* prefix : {"TOPO", "PROC_CPUSET", "REGEX text", "PPN text", "Data_compress"}) {
        if (description.starts_with(prefix)) return true;
    }
    return false;
}

class GoldenTypes : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTypes, RoundTripTheRecordedBytes) {
    const Samples samples;
    size_t lines = 0;
    for (const auto& row : read_table("types.tsv")) {
        ASSERT_EQ(row.size(), 4u);
        if (!row[0].starts_with(GetParam()) || is_other(row[2])) continue;
        std::string description = row[2];
        const std::string& hex = row[3];
        if (description.starts_with("REGEX of")) {
            description = from_hex(hex)[1] == 'p' ? "REGEX pmix[...]" : "REGEX raw:...";
        }
        if (description == "DATA_ARRAY UNDEF") continue;  // has a test of its own
        ++lines;
        SCOPED_TRACE(description);
        EXPECT_TRUE(codec().speaks(row[1]));
        const bool known =
            samples.with(description, [&](const void* values, int32_t n, pmix_data_type_t type) {
                Bytes out;
                ASSERT_EQ(codec().pack(out, kPlain, values, n, type), PMIX_SUCCESS);
                EXPECT_EQ(to_hex(out.view()), hex);

                const std::vector<uint8_t> recorded = from_hex(hex);
                ByteReader in(recorded);
                Elements read;
                read.n = 7;
                ASSERT_EQ(codec().unpack(in, kPlain, read.memory, &read.n, type), PMIX_SUCCESS);
                read.type = type;
                EXPECT_EQ(read.n, n);
                EXPECT_TRUE(in.at_end());
                const bool comparable =
                    type != PMIX_REGEX && type != PMIX_POINTER && description != "VALUE POINTER";
                if (comparable && n > 0 && description != "VALUE UNDEF") {
                    const bool rounded = description == "DOUBLE 1e-9";
                    const pmix_value_cmp_t order =
                        data_compare_elements(values, read.memory, static_cast<size_t>(n), type);
                    if (order != PMIX_VALUE_COMPARISON_NOT_AVAIL) {
                        EXPECT_EQ(order == PMIX_EQUAL, !rounded);
                    }
                }
                Bytes again;
                ASSERT_EQ(codec().pack(again, kPlain, read.memory, read.n, type), PMIX_SUCCESS);
                EXPECT_EQ(to_hex(again.view()), hex);
            });
        EXPECT_TRUE(known) << "no sample";
    }
    EXPECT_GE(lines, 115u);
}

INSTANTIATE_TEST_SUITE_P(Versions, GoldenTypes, testing::Values("4.2.2", "5.0.11", "6.1.0"),
                         [](const auto& version) {
                             std::string name = version.param;
                             for (char& c : name) {
                                 if (c == '.') c = '_';
                             }
                             return name;
                         });

TEST(GoldenTypes, EverySampleWasRecorded) {
    const Samples samples;
    std::map<std::string, int> seen;
    for (const auto& row : read_table("types.tsv")) {
        if (!is_other(row[2])) ++seen[row[2]];
    }
    // One regex line stands for two samples; the array of no type is read but never written.
    EXPECT_EQ(samples.size(), seen.size() - 1 + 2 - 1);
}

/// Reads a fully described message item by item, without knowing what it is, and writes it again.
std::string rewrite(ByteView message, pmix_status_t& status) {
    ByteReader in(message);
    Bytes out;
    status = PMIX_SUCCESS;
    while (!in.at_end()) {
        const pmix_data_type_t type = type_of_next(codec(), in);
        if (type == PMIX_KVAL) {
            std::string_view key;
            KeyValue pair;
            status = codec().unpack_kval(in, kDescribed, &key, &pair.value);
            if (status != PMIX_SUCCESS) break;
            std::string copy(key);
            pair.key = copy.data();
            status = codec().pack(out, kDescribed, &pair, 1, type);
            data_destruct_elements(&pair.value, 1, PMIX_VALUE);
        } else if (type == PMIX_BUFFER) {
            PackedBuffer buffer;
            ByteView view;
            status = codec().unpack_buffer(in, kDescribed, &buffer.type, &view);
            if (status != PMIX_SUCCESS) break;
            EXPECT_EQ(buffer.type, kDescribed);
            // Its content is also a message.
            EXPECT_EQ(rewrite(view, status), to_hex(view));
            if (status != PMIX_SUCCESS) break;
            buffer.content = {const_cast<char*>(reinterpret_cast<const char*>(view.data())), view.size()};
            status = codec().pack(out, kDescribed, &buffer, 1, type);
        } else {
            void* values = nullptr;
            int32_t n = 0;
            status = codec().unpack_array(in, kDescribed, &values, &n, type);
            if (status != PMIX_SUCCESS) break;
            status = codec().pack(out, kDescribed, values, n, type);
            data_free_elements(values, static_cast<size_t>(n), type);
        }
        if (status != PMIX_SUCCESS) break;
    }
    return to_hex(out.view());
}

TEST(GoldenDescribed, EveryMessageRoundTrips) {
    size_t messages = 0;
    size_t marks = 0;
    for (const auto& row : read_table("described.tsv")) {
        ++messages;
        SCOPED_TRACE(row[0] + " " + row[1] + " " + row[2].substr(0, 200));
        const std::vector<uint8_t> message = from_hex(row[2]);
        pmix_status_t status = PMIX_SUCCESS;
        const std::string again = rewrite(message, status);
        EXPECT_EQ(status, PMIX_SUCCESS);
        ASSERT_EQ(again.size(), row[2].size());
        for (size_t i = 0; i < again.size(); ++i) {
            if (again[i] == row[2][i]) continue;
            // 4.2 marks the ends of its own arrays; the test drops the mark.
            ASSERT_TRUE(row[0] == "4.2.2" && row[2][i] == '2' && again[i] == '0') << "at digit " << i;
            ++marks;
        }
    }
    EXPECT_GE(messages, 60u);
    EXPECT_LE(marks, 8u);
}

class GoldenBlobs : public testing::Test {
  protected:
    static Unpacker unpacker(ByteView bytes) { return Unpacker({&codec(), kPlain}, bytes); }

    static std::vector<uint8_t> blob(const std::string& version, const std::string& kind) {
        for (const auto& row : read_table("hostblobs.tsv")) {
            if (row[0] == version && row[1] == kind) return from_hex(row[2]);
        }
        return {};
    }
};

TEST_F(GoldenBlobs, DirectModexIsAListOfKeysAndValues) {
    for (const char* version : {"4.2.2", "5.0.11", "6.1.0"}) {
        SCOPED_TRACE(version);
        const std::vector<uint8_t> bytes = blob(version, "dmodex");
        ASSERT_FALSE(bytes.empty());
        Unpacker in = unpacker(bytes);
        std::map<std::string, Value> values;
        while (!in.at_end()) {
            std::string key;
            Value value;
            ASSERT_TRUE(in.kval(key, value)) << in.error();
            values[key] = std::move(value);
        }
        ASSERT_EQ(values.size(), 3u);
        EXPECT_EQ(values["g.u32"].get()->data.uint32, 0x12345678u);
        EXPECT_EQ(values["r.bo"].get()->data.bo.size, 4u);
        // A long string: 4.2.2 sends it uncompressed, the others compress it.
        EXPECT_EQ(values["g.big"].type(),
                  version == std::string("4.2.2") ? PMIX_STRING : PMIX_COMPRESSED_STRING);
    }
}

TEST_F(GoldenBlobs, FenceOfVersions4And5HasAMapOfKeys) {
    for (const char* version : {"4.2.2", "5.0.11"}) {
        SCOPED_TRACE(version);
        const std::vector<uint8_t> bytes = blob(version, "fence");
        Unpacker in = unpacker(bytes);
        ByteView of_server;
        ASSERT_TRUE(in.bytes(of_server));
        EXPECT_TRUE(in.at_end());
        Unpacker server = unpacker(of_server);
        uint8_t flags = 0;
        uint32_t nkeys = 0;
        ASSERT_TRUE(server.byte(flags) && server.uint32(nkeys));
        EXPECT_EQ(flags, 3);
        void* block = nullptr;
        size_t n = 0;
        ASSERT_TRUE(server.items(&block, n, PMIX_STRING));
        ASSERT_EQ(n, nkeys);
        EXPECT_STREQ(static_cast<char**>(block)[0], "g.u32");
        data_free_elements(block, n, PMIX_STRING);
        std::set<pmix_rank_t> ranks;
        while (!server.at_end()) {
            ByteView of_rank;
            ASSERT_TRUE(server.bytes(of_rank));
            Unpacker rank = unpacker(of_rank);
            pmix_rank_t number = PMIX_RANK_UNDEF;
            ASSERT_TRUE(rank.rank(number));
            ranks.insert(number);
            while (!rank.at_end()) {
                uint32_t key = 99;
                pmix_value_t value;
                ASSERT_TRUE(rank.uint32(key) && rank.item(&value, PMIX_VALUE));
                EXPECT_LT(key, nkeys);
                value_destruct(&value);
            }
        }
        EXPECT_EQ(ranks, (std::set<pmix_rank_t>{0, 1}));
    }
}

TEST_F(GoldenBlobs, FenceOfVersion6IsProcessesWithTheirKeys) {
    const std::vector<uint8_t> bytes = blob("6.1.0", "fence");
    Unpacker in = unpacker(bytes);
    ByteView of_server;
    ASSERT_TRUE(in.bytes(of_server));
    EXPECT_TRUE(in.at_end());
    Unpacker server = unpacker(of_server);
    bool compressed = true;
    ByteView content;
    ASSERT_TRUE(server.boolean(compressed) && server.bytes(content) && server.at_end());
    ASSERT_FALSE(compressed);
    Unpacker ranks = unpacker(content);
    uint8_t collected = 0;
    ASSERT_TRUE(ranks.byte(collected));
    EXPECT_EQ(collected, 1);
    int processes = 0;
    while (!ranks.at_end()) {
        ByteView of_rank;
        ASSERT_TRUE(ranks.bytes(of_rank));
        Unpacker rank = unpacker(of_rank);
        pmix_proc_t proc;
        ASSERT_TRUE(rank.proc(proc));
        EXPECT_STREQ(proc.nspace, "goldns");
        int keys = 0;
        for (; !rank.at_end(); ++keys) {
            std::string_view key;
            Value value;
            ASSERT_TRUE(rank.kval(key, value));
        }
        EXPECT_EQ(keys, 3);
        ++processes;
    }
    EXPECT_EQ(processes, 2);
}

}  // namespace
}  // namespace muster
