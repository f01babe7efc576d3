// SPDX-License-Identifier: BSD-3-Clause
// bfrops/v41: the rules of the interface, the corner cases of the encoding, and input that no correct peer
// sends.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "components/bfrops/v41/flex.hpp"
#include "framework/base/proc.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

using test::codec;
using test::from_hex;
using test::kDescribed;
using test::kPlain;
using test::packed;
using test::reading;
using test::to_hex;

TEST(V41, AnswersToTheNamesOfItsVersions) {
    EXPECT_STREQ(codec().name(), "v41");
    for (const char* name : {"v41", "v51", "v61", "v4"}) {
        EXPECT_TRUE(codec().speaks(name));
    }
    for (const char* name : {"", "v3", "v40", "v411", "V41", "v20"}) {
        EXPECT_FALSE(codec().speaks(name));
    }
}

TEST(Flex, EveryLengthRoundTrips) {
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
    // Surplus bytes are not an error.
    EXPECT_EQ(reading("02818000", PMIX_UINT16), PMIX_SUCCESS);
}

TEST(V41, AnArrayOfPidsHasItsWidthOnce) {
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

TEST(V41, PrivateFlagsAreNeitherSentNorAccepted) {
    pmix_info_t info = PMIX_INFO_STATIC_INIT;
    key_load(info.key, "k");
    info.flags = PMIX_INFO_REQD | PMIX_INFO_ARRAY_END | PMIX_INFO_REQD_PROCESSED | PMIX_INFO_QUALIFIER |
                 PMIX_INFO_PERSISTENT | PMIX_INFO_DIR_RESERVED;
    EXPECT_EQ(packed(info, PMIX_INFO), "02046b000900");
    // Unpacking must not yield a borrowed value: nobody would free it.
    const std::vector<uint8_t> bytes = from_hex(
        "02046b001f0304"
        "6100");
    ByteReader in(bytes);
    int32_t n = 1;
    ASSERT_EQ(codec().unpack(in, kPlain, &info, &n, PMIX_INFO), PMIX_SUCCESS);
    EXPECT_EQ(info.flags, pmix_info_directives_t{PMIX_INFO_REQD | PMIX_INFO_QUALIFIER});
    data_destruct_elements(&info, 1, PMIX_INFO);
}

TEST(V41, UnterminatedStringsAreRefused) {
    EXPECT_EQ(reading("0204616100", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // no terminator in its place
    EXPECT_EQ(reading("0206610062", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // nor here
    EXPECT_EQ(reading("0206006100", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);  // one too early
    EXPECT_EQ(reading("0201", PMIX_STRING), PMIX_ERR_UNPACK_FAILURE);        // length -1
    EXPECT_EQ(reading("02feffffff0f61", PMIX_STRING), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

TEST(V41, AnArrayOfStringsEqualsItsSingleStrings) {
    const std::string large(70000, 'x');
    std::vector<const char*> texts;
    Bytes one_by_one;
    for (int i = 0; i < 200; ++i) {
        texts.push_back(i % 7 == 3 ? nullptr : i == 150 ? large.c_str() : &"a text of some length"[i % 22]);
        Bytes one;
        ASSERT_EQ(codec().pack(one, kPlain, &texts.back(), 1, PMIX_STRING), PMIX_SUCCESS);
        one_by_one.append(one.view().subspan(1));  // without its count
    }
    Bytes out;
    ASSERT_EQ(codec().pack(out, kPlain, texts.data(), 200, PMIX_STRING), PMIX_SUCCESS);
    EXPECT_EQ(to_hex(out.view().subspan(2)), to_hex(one_by_one.view()));
    std::vector<char*> back(200);
    int32_t n = 200;
    ByteReader in(out.view());
    ASSERT_EQ(codec().unpack(in, kPlain, back.data(), &n, PMIX_STRING), PMIX_SUCCESS);
    for (size_t i = 0; i < back.size(); ++i) {
        EXPECT_STREQ(back[i], texts[i]);
        std::free(back[i]);
    }
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

TEST(V41, CountsAreCheckedBeforeAllocation) {
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

TEST(V41, TheItemsOfAMessageShareItsMemoryLimit) {
    // Arrays of 4096 pointers, which are one byte on the wire, however many they are.
    const std::vector<uint8_t> one = from_hex(
        "02046b00271f8020"
        "01");
    std::vector<uint8_t> message;
    for (int i = 0; i < 64; ++i)
        message.insert(message.end(), one.begin(), one.end());
    ByteReader in(message);
    std::string_view key;
    pmix_value_t value;
    size_t read = 0;
    while (codec().unpack_kval(in, kPlain, &key, &value) == PMIX_SUCCESS) {
        ++read;
        data_destruct_elements(&value, 1, PMIX_VALUE);
    }
    EXPECT_GE(read, 1u);
    EXPECT_LT(read, 16u) << "each item takes as much as a whole message may";
    EXPECT_EQ(in.memory_taken(), read * (4096 * sizeof(void*) + sizeof(pmix_data_array_t)));
    // A limit set by the caller applies as well.
    ByteReader limited(message);
    limited.limit_memory(4096 * sizeof(void*));
    EXPECT_EQ(codec().unpack_kval(limited, kPlain, &key, &value), PMIX_ERR_UNPACK_FAILURE);
}

TEST(V41, NestingOfArraysIsLimited) {
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

TEST(V41, NullPointersAreRefusedWithoutOutput) {
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

}  // namespace
}  // namespace muster
