// SPDX-License-Identifier: BSD-3-Clause
// Packer and Unpacker over bfrops/v41: messages item by item.

#include "framework/packer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

using test::codec;
using test::from_hex;
using test::kDescribed;
using test::kPlain;
using test::to_hex;

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

/// Packing in place gives the same bytes; large values are not copied.
TEST(Packer, PacksInPlace) {
    std::string large(5000, 'x');
    std::vector<pmix_value_t> values(5, pmix_value_t PMIX_VALUE_STATIC_INIT);
    values[0].type = PMIX_BYTE_OBJECT;
    values[0].data.bo = {large.data(), large.size()};
    values[1].type = PMIX_UINT32;
    values[1].data.uint32 = 77;
    values[2].type = PMIX_COMPRESSED_BYTE_OBJECT;
    values[2].data.bo = {large.data() + 3, 20};
    values[3].type = PMIX_BYTE_OBJECT;
    values[4].type = PMIX_STRING;
    values[4].data.string = large.data();
    for (const BufferType type : {kPlain, kDescribed}) {
        Packer copied({&codec(), type}), content({&codec(), type}), placed({&codec(), type});
        Packer inner({&codec(), type});
        for (const pmix_value_t& value : values) {
            inner.kval("a.key", value);
            content.kval_in_place("a.key", value);
        }
        EXPECT_EQ(content.length(), inner.length());
        copied.byte(3).buffer(inner.view()).byte(4);
        placed.byte(3).buffer_in_place(content).byte(4);
        ASSERT_EQ(placed.error(), PMIX_SUCCESS);
        EXPECT_EQ(placed.length(), copied.length());
        Bytes joined;
        bool there = false;
        for (const ByteView part : placed.parts()) {
            joined.append(part);
            there = there || part.data() == reinterpret_cast<const uint8_t*>(large.data());
        }
        EXPECT_TRUE(there);
        EXPECT_EQ(to_hex(joined.view()), to_hex(copied.view()));
    }
    // A value that cannot be packed leaves the buffer unchanged.
    pmix_value_t bad = PMIX_VALUE_STATIC_INIT;
    bad.type = PMIX_BYTE_OBJECT;
    bad.data.bo = {nullptr, 5};
    Packer out({&codec(), kPlain});
    out.kval_in_place("a.key", bad);
    EXPECT_EQ(out.error(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(out.length(), 0U);
    EXPECT_TRUE(out.parts().empty());
}

TEST(Packer, PutsAByteObjectInPlace) {
    Bytes large, small;
    large.resize(5000);
    small.resize(7);
    for (const BufferType type : {kPlain, kDescribed}) {
        for (const Bytes* bytes : {&large, &small}) {
            Packer copied({&codec(), type}), placed({&codec(), type});
            copied.byte(3).bytes(bytes->view());
            placed.byte(3).bytes_in_place(bytes->view());
            ASSERT_EQ(placed.error(), PMIX_SUCCESS);
            EXPECT_EQ(placed.length(), copied.length());
            EXPECT_EQ(placed.tail().data(), bytes == &large ? large.data() : nullptr);
            const ByteView tail = placed.tail();
            Bytes joined = placed.take();
            joined.append(tail);
            EXPECT_EQ(to_hex(joined.view()), to_hex(copied.view()));
        }
    }
    Packer out({&codec(), kPlain});
    out.bytes_in_place({static_cast<const uint8_t*>(nullptr), 5});
    EXPECT_EQ(out.error(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(out.length(), 0U);
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

TEST(Unpacker, RefusesACountThatContradictsTheItems) {
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

TEST(Unpacker, RefusesAnyCountButOneForASingleItem) {
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
