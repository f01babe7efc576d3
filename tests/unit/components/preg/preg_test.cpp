// SPDX-License-Identifier: BSD-3-Clause
// The preg components through their facade: the forms that they write and read, the choice among them,
// hostile input.
#include <gtest/gtest.h>

#include "tests/covers.hpp"
#include "tests/unit/components/preg/instances.hpp"

namespace muster {
namespace {

using namespace std::string_view_literals;

ByteView view(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
std::string_view text(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class PregTest : public testing::Test {
  protected:
    std::string names(std::string_view regex, const std::vector<Preg*>* with = nullptr) {
        std::string out;
        const muster_preg_name_sink_t sink = {&out, [](void* data, const char* name, size_t length) {
                                                  auto& all = *static_cast<std::string*>(data);
                                                  if (!all.empty()) all += ',';
                                                  all.append(name, length);
                                                  return pmix_status_t{PMIX_SUCCESS};
                                              }};
        const Result<void> read = parse_node_regex(with != nullptr ? *with : pregs_.all(), view(regex), sink);
        return read ? out : "error " + std::to_string(read.status());
    }
    std::string ranks(std::string_view regex) {
        std::string out;
        const muster_preg_rank_sink_t sink = {
            &out,
            [](void* data, uint32_t first, uint32_t last) {
                *static_cast<std::string*>(data) += std::to_string(first) + "-" + std::to_string(last) + " ";
                return pmix_status_t{PMIX_SUCCESS};
            },
            [](void* data) {
                *static_cast<std::string*>(data) += "; ";
                return pmix_status_t{PMIX_SUCCESS};
            }};
        const Result<void> read = parse_ppn_regex(pregs_.all(), view(regex), sink);
        return read ? out : "error " + std::to_string(read.status());
    }

    PregInstances pregs_;
    PregInstances muster_only_{std::map<std::string, std::string>{{"generate", "true"}}};
};

const std::string kBad = "error " + std::to_string(PMIX_ERR_BAD_PARAM);

TEST_F(PregTest, EncodesTheExamplesOfTheStandard) {
    covers("SRV-04", "SRV-06");
    const Bytes nodes = std::move(*generate_node_regex(
        muster_only_.all(), "odin009.org,odin010.org,odin011.org,odin012.org,odin[102-107].org"));
    EXPECT_EQ(text(nodes), "pmix:odin[009-012,102-107].org\0"sv);
    const Bytes ppn = std::move(*generate_ppn_regex(muster_only_.all(), "1-4;2-5;8,10,11,12;6,7,9"));
    EXPECT_EQ(text(ppn), "pmix:2x(3);8,10-12;6-7,9\0"sv);
    EXPECT_EQ(ranks(text(ppn)), "1-4 ; 2-5 ; 8-8 10-12 ; 6-7 9-9 ; ");
}

TEST_F(PregTest, WritesWhatEveryOpenPmixReads) {
    covers("SRV-03");
    const auto nodes = [&](std::string_view list) {
        return std::string(text(std::move(*generate_node_regex(pregs_.all(), list))));
    };
    const auto ppn = [&](std::string_view list) {
        return std::string(text(std::move(*generate_ppn_regex(pregs_.all(), list))));
    };
    EXPECT_EQ(nodes("odin[009-011].org,vm"), "raw:odin009.org,odin010.org,odin011.org,vm\0"sv);
    EXPECT_EQ(nodes("a[x"), "raw:a[x\0"sv);
    EXPECT_EQ(nodes("9][1-2]a[1,x"), "raw:9][1-2]a[1,x\0"sv) << "not 9]1a[1,9]2a[1,x";
    EXPECT_EQ(ppn("0-3;4,6-7;;8"), "raw:0,1,2,3;4,6,7;;8\0"sv);
    EXPECT_EQ(ppn("0;1"), "raw:0;1\0"sv);
    const std::string long_list = ppn("0-999;1000-1999");
    EXPECT_TRUE(long_list.starts_with("raw:0,1,2,"sv));
    EXPECT_TRUE(long_list.ends_with(",1998,1999\0"sv));
    // An expression beyond the limit is kept raw, which Muster reads.
    PregInstances small(std::map<std::string, std::string>{{"max_entries", "3"}});
    EXPECT_EQ(text(std::move(*generate_node_regex(small.all(), "n[1-4]"))), "raw:n[1-4]\0"sv);
    EXPECT_EQ(text(std::move(*generate_ppn_regex(small.all(), "0-3"))), "raw:0-3\0"sv);
}

TEST_F(PregTest, EveryFormSupportsRows) {
    for (const std::string_view regex :
         {"node[1-3]"sv, "raw:node[1-3]"sv, "pmix[node[1:1-3]]"sv, "pmix:node[1-3]"sv}) {
        uint64_t names = 0;
        const muster_preg_name_row_sink_t sink = {
            {&names, [](void*, const char*, size_t) { return pmix_status_t{PMIX_ERROR}; }},
            [](void* data, const char*, size_t, uint64_t, uint64_t count, size_t, const char*, size_t) {
                *static_cast<uint64_t*>(data) += count;
                return pmix_status_t{PMIX_SUCCESS};
            }};
        EXPECT_TRUE(parse_node_regex(pregs_.all(), view(regex), sink)) << regex;
        EXPECT_EQ(names, 3u) << regex;
    }
    uint64_t nodes = 0;
    const muster_preg_rank_row_sink_t sink = {
        {&nodes, [](void*, uint32_t, uint32_t) { return pmix_status_t{PMIX_ERROR}; },
         [](void*) { return pmix_status_t{PMIX_ERROR}; }},
        [](void* data, uint64_t count, uint32_t, uint32_t, uint32_t) {
            *static_cast<uint64_t*>(data) += count;
            return pmix_status_t{PMIX_SUCCESS};
        }};
    EXPECT_TRUE(parse_ppn_regex(pregs_.all(), view("pmix:5x(3)@0+4"), sink));
    EXPECT_EQ(nodes, 5u);
}

TEST_F(PregTest, EveryFormOfEveryVersionIsRead) {
    for (const std::string_view regex :
         {"node1,node2,node3,node17"sv, "raw:node1,node2,node3,node17"sv, "raw:node1,node2,node3,node17\0"sv,
          "raw:\0node1,node2,node3,node17\0"sv, "pmix[node[1:1-3],node[2:17]]"sv,
          "pmix[node[1:1-3],node[2:17]]\0"sv, "pmix:node[1-3,17]\0"sv, "pmix:\0node[1-3,17]\0"sv,
          "node[1-3,17]"sv, "raw:node[1-3],node17"sv}) {
        EXPECT_EQ(names(regex), "node1,node2,node3,node17") << regex;
    }
    for (const std::string_view regex : {"0-3;4,7"sv, "raw:0-3;4,7"sv, "raw:0,1,2,3;4,7\0"sv,
                                         "pmix[0-3;4,7]"sv, "pmix:0-3;4,7\0"sv, "pmix:1x(3)@0+9;4,7"sv}) {
        const std::string read = ranks(regex);
        EXPECT_TRUE(read == "0-3 ; 4-4 7-7 ; " || read == "0-0 1-1 2-2 3-3 ; 4-4 7-7 ; ")
            << regex << ": " << read;
    }
}

TEST_F(PregTest, LongListsAreCompressedWhenThatIsShorter) {
    std::string list;
    for (unsigned i = 0; i < 5000; ++i)
        list += (i != 0 ? ",n" : "n") + std::to_string(i * 2654435761u % 5000) + "-ib";
    const Bytes regex = std::move(*generate_node_regex(muster_only_.all(), list));
    EXPECT_TRUE(text(regex).starts_with("blob:\0component=zlib:\0size="sv));
    EXPECT_LT(regex.size(), list.size() / 2);
    EXPECT_EQ(names(text(regex)), list);
    // A list that the documented form expresses in a few bytes is not kept raw.
    list.clear();
    for (int i = 0; i < 5000; ++i)
        list += (i != 0 ? ",n" : "n") + std::to_string(i) + "-ib";
    EXPECT_EQ(text(std::move(*generate_node_regex(muster_only_.all(), list))), "pmix:n[0-4999]-ib\0"sv);
}

TEST_F(PregTest, CompressedListsHaveTheirRangesWrittenOut) {
    Bytes ppn;
    ASSERT_EQ(muster_only_.compress().generate_ppn("0-999;1000-1999", ppn), PMIX_SUCCESS);
    EXPECT_NE(ranks(text(ppn)).find("998-998 999-999 ; 1000-1000 "), std::string::npos);
}

TEST_F(PregTest, ReadsCompressedFormsOfOtherLibraries) {
    Bytes made;
    const std::string list = "alpha,beta," + std::string(600, 'x');
    ASSERT_EQ(muster_only_.compress().generate_nodes(list, made), PMIX_SUCCESS);
    const std::string good(text(made));
    EXPECT_EQ(names(good), list);
    const std::string stream = good.substr(good.find(":\0"sv, good.find("size=")) + 2);
    const auto with = [&](std::string_view head, size_t size, std::string_view end) {
        return std::string(head) + std::to_string(size) + std::string(end) + stream;
    };
    EXPECT_EQ(names(with("blob\0component=zlib:\0size:"sv, stream.size(), "\0"sv)), list);
    EXPECT_EQ(names(with("blob:\0component=zlib:\0size="sv, stream.size(), ":\0"sv) + "trailing"), list);
    for (const std::string& bad :
         {with("blob:\0component=zlib:\0size="sv, stream.size() + 1, ":\0"sv),
          with("blob:\0component=zlib:\0size="sv, 3, ":\0"sv),
          with("blob:\0component=zlib:\0size=-"sv, 3, ":\0"sv),
          with("blob:\0component=zlib:\0length="sv, stream.size(), ":\0"sv),
          std::string("blob:\0component=zlib:\0size=99999999999999999999:\0x"sv),
          std::string("blob:\0component=zlib:\0"sv), good.substr(0, good.size() - 1)}) {
        EXPECT_EQ(names(bad), kBad);
    }
    EXPECT_EQ(names("blob:\0component=lz4:\0size=1:\0x"sv),
              "error " + std::to_string(PMIX_ERR_NOT_SUPPORTED));
    // A length beyond the stream is detected before anything is allocated.
    std::string bomb = good;
    const size_t at = good.size() - stream.size();
    bomb[at + 2] = '\x7f';
    EXPECT_EQ(names(bomb), kBad);
    bomb[at + 3] = '\x7f';
    EXPECT_EQ(names(bomb), "error " + std::to_string(PMIX_ERR_OUT_OF_RESOURCE));
}

TEST_F(PregTest, LimitsAreParameters) {
    PregInstances small({{"generate", "true"}, {"max_entries", "3"}, {"max_size", "700"}, {"min_size", "8"}});
    EXPECT_EQ(names("pmix:a[1-3]", &small.all()), "a1,a2,a3");
    const std::string over = "error " + std::to_string(PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(names("pmix:a[1-4]", &small.all()), over);
    EXPECT_EQ(names("raw:a,b,c,d", &small.all()), over);
    Bytes made;
    ASSERT_EQ(muster_only_.compress().generate_nodes(std::string(800, 'x'), made), PMIX_SUCCESS);
    EXPECT_EQ(names(text(made), &small.all()), over);
    Bytes none;
    EXPECT_EQ(small.compress().generate_nodes(std::string(800, 'x'), none), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(small.compress().generate_nodes("short", none), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(PregTest, MalformedFormsAreNotReadAsPlainLists) {
    for (const std::string_view regex :
         {"pmix[a"sv, "pmix["sv, "pmix[]"sv, "pmix[a[1:1-2]"sv, "pmix:a["sv, "pmix:a[2-1]"sv}) {
        EXPECT_EQ(names(regex), kBad) << regex;
    }
    for (const std::string_view regex : {"pmix[0-"sv, "pmix:2x("sv, "raw:x"sv, "0,1,x"sv})
        EXPECT_EQ(ranks(regex), kBad) << regex;
    EXPECT_EQ(names("a\0b"sv), "error " + std::to_string(PMIX_ERR_NOT_SUPPORTED));
}

TEST_F(PregTest, PlainListsWorkWithoutComponents) {
    const std::vector<Preg*> none;
    EXPECT_EQ(names("a,b[1-2]", &none), "a,b1,b2");
    EXPECT_EQ(text(std::move(*generate_node_regex(none, "a,b"))), "a,b\0"sv);
}

// A component of an older interface, whose table ends before the last functions.
TEST_F(PregTest, ATableMayBeShort) {
    muster_preg_t table = {};
    table.struct_size = offsetof(muster_preg_t, generate_ppn);
    Preg preg(&table, "old");
    Bytes out;
    EXPECT_EQ(preg.generate_nodes("a", out), PMIX_ERR_NOT_SUPPORTED);
    table.parse_nodes = [](void*, const char*, size_t, const muster_preg_name_sink_t*) {
        return pmix_status_t{PMIX_SUCCESS};
    };
    const muster_preg_name_sink_t sink = {};
    EXPECT_EQ(preg.parse_nodes(view("a"), sink), PMIX_ERR_NOT_SUPPORTED) << "beyond the size given";
    table.struct_size = offsetof(muster_preg_t, parse_node_rows);
    EXPECT_EQ(preg.parse_nodes(view("a"), muster_preg_name_row_sink_t{}), PMIX_SUCCESS) << "name by name";
}

}  // namespace
}  // namespace muster
