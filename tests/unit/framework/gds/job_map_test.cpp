// SPDX-License-Identifier: BSD-3-Clause
// The map of a job: built from maps and from single values, derived values, its size, its wire format.
#include "framework/gds/job_map.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "framework/gds/realm.hpp"
#include "framework/preg/rank_list.hpp"
#include "tests/covers.hpp"

namespace muster {
namespace {

ByteView view(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

JobMap from_maps(std::string_view nodes, std::string_view procs) {
    JobMapBuilder builder;
    const Result<void> read = builder.read_maps({}, view(nodes), view(procs));
    EXPECT_TRUE(read) << read.error().text;
    return std::move(builder).build();
}

JobMap again(const JobMap& map) {
    Bytes bytes;
    map.encode(bytes);
    Result<JobMap> back = JobMap::decode(bytes.view());
    EXPECT_TRUE(back) << back.error().text;
    return std::move(*back);
}

/// The results of all queries, as text.
std::string describe(const JobMap& map) {
    std::string out = map.node_list() + " " + map.proc_map() + " " + std::to_string(map.used_nodes()) + "/" +
                      std::to_string(map.rank_end());
    const auto put = [&out](const char* name, std::optional<uint32_t> value) {
        out += name + (value ? std::to_string(*value) : "-");
    };
    for (uint32_t node = 0; node < map.node_count(); ++node) {
        out += " | " + std::string(map.node_name(node)) + "#" + std::to_string(map.node_id(node)) + "(" +
               map.aliases(node) + ")";
    }
    for (pmix_rank_t rank = 0; rank < map.rank_end(); ++rank) {
        out += " | " + std::to_string(rank);
        put(" n", map.node_of(rank) == JobMap::kNone ? std::nullopt : std::optional(map.node_of(rank)));
        put(" l", map.local_rank(rank));
        put(" k", map.node_rank(rank));
        put(" g", map.global_rank(rank));
        put(" a", map.appnum(rank));
        put(" r", map.app_rank(rank));
    }
    return out;
}

TEST(JobMap, SizesAreDerivedFromTheMaps) {
    covers("SRV-19");
    const JobMap map = from_maps("a,b", "0,2;1");
    EXPECT_EQ(
        describe(map),
        "a,b 0,2;1 2/3 | a#0() | b#1() | 0 n0 l0 k0 g- a0 r0 | 1 n1 l0 k0 g- a0 r1 | 2 n0 l1 k1 g- a0 r2");
    EXPECT_EQ(map.find_node("b"), 1u);
    EXPECT_EQ(map.find_node("c"), JobMap::kNone);
    EXPECT_EQ(map.find_node(""), JobMap::kNone);
    EXPECT_EQ(map.find_node_id(1), 1u);
    EXPECT_EQ(map.find_node_id(2), JobMap::kNone);
    EXPECT_EQ(map.node_of(3), JobMap::kNone);
    EXPECT_EQ(map.peers(0), "0,2");
}

TEST(JobMap, ANodeNamedTwiceIsOne) {
    const JobMap map = from_maps("a,b,a", "0;1;2");
    EXPECT_EQ(map.node_count(), 2u);
    EXPECT_EQ(map.peers(0), "0,2");
}

TEST(JobMap, ListsOnlyNodesWithProcessesInOrder) {
    EXPECT_EQ(from_maps("a,b,c,d,e,f", "0;1;;2;;3").node_list(), "a,b,d,f");
    EXPECT_EQ(from_maps("a,b,c", ";0;").node_list(), "b");
    EXPECT_EQ(from_maps("n1,n2,n3,n7,n8", "0;1;2;3;4").node_list(), "n1,n2,n3,n7,n8");
    EXPECT_EQ(from_maps("n1,n2,n3,n7,n8", "0;;1;2;").node_list(), "n1,n3,n7");
    JobMapBuilder builder;
    builder.node("b");
    builder.node("a");
    builder.add_node();  // without a name
    builder.node("c");
    EXPECT_EQ(std::move(builder).build().node_list(), "b,a,c");
    JobMapBuilder late;
    late.add_node();
    late.node("b");
    late.set_name(0, "z");
    EXPECT_EQ(std::move(late).build().node_list(), "z,b");
    std::string before = "login";
    from_maps("a,b", "0;1").append_nodes(before);
    EXPECT_EQ(before, "login,a,b");
}

TEST(JobMap, GivenValuesOverrideDerivedOnes) {
    JobMapBuilder builder;
    ASSERT_TRUE(builder.read_maps({}, view("a,b"), view("0-2;3-5")));
    builder.set_id(builder.node("b"), 0);
    builder.add_alias(0, "x");
    for (pmix_rank_t rank = 0; rank < 6; ++rank) {
        builder.set_app(rank, rank < 2 || rank == 5 ? 7 : 3);
        builder.set_global_rank(rank, 100 + rank);
        builder.set_local_rank(rank, rank % 3);
        builder.set_node_rank(rank, rank == 4 ? 9 : rank % 3);
    }
    const JobMap map = std::move(builder).build();
    const std::string text = describe(map);
    EXPECT_EQ(text,
              "a,b 0,1,2;3,4,5 2/6 | a#1(x) | b#0() | 0 n0 l0 k0 g100 a7 r0 | 1 n0 l1 k1 g101 a7 r1 | 2 n0 "
              "l2 k2 g102 a3 "
              "r0 | 3 n1 l0 k0 g103 a3 r1 | 4 n1 l1 k9 g104 a3 r2 | 5 n1 l2 k2 g105 a7 r2");
    EXPECT_EQ(describe(again(map)), text);
    ASSERT_NE(map.find_app(7), nullptr);
    EXPECT_EQ(map.find_app(7)->size, 3u);
    EXPECT_EQ(map.find_app(3)->leader, 2u);
    EXPECT_EQ(map.app_nodes(7), 2u);
    EXPECT_EQ(map.node_list(3), "a,b");
    EXPECT_EQ(map.peers(1, 7), "5");
    EXPECT_EQ(describe(std::move(*std::make_unique<JobMapBuilder>(map)).build()), text) << "built on again";
}

TEST(JobMap, ApplicationsAreSetForRangesOfRanks) {
    JobMapBuilder builder;
    ASSERT_TRUE(builder.read_maps({}, view("a,b"), view("0-4;5-9")));
    EXPECT_TRUE(builder.set_apps(0, 2, 1));
    EXPECT_TRUE(builder.set_apps(4, 9, 0));
    EXPECT_TRUE(builder.set_apps(6, 7, 1));
    EXPECT_TRUE(builder.set_apps(9, 9, 5)) << "none of them";
    EXPECT_FALSE(builder.set_apps(0, JobMapBuilder::kMaxRank + 1, 5));
    const JobMap map = std::move(builder).build();
    const auto apps = [](const JobMap& of) {
        std::string out;
        for (pmix_rank_t rank = 0; rank < of.rank_end(); ++rank) {
            const std::optional<uint32_t> app = of.appnum(rank), place = of.app_rank(rank);
            out += !app ? "- " : std::to_string(*app) + "." + std::to_string(*place) + " ";
        }
        return out;
    };
    EXPECT_EQ(apps(map), "1.0 1.1 - - 0.0 0.1 1.2 0.2 0.3 - ");
    EXPECT_EQ(map.apps().size(), 2u);
    EXPECT_EQ(map.find_app(0)->size, 4u);
    EXPECT_EQ(map.find_app(1)->leader, 0u);
    EXPECT_EQ(apps(again(map)), apps(map));
    EXPECT_EQ(apps(std::move(*std::make_unique<JobMapBuilder>(map)).build()), apps(map)) << "built on again";
}

TEST(JobMap, ValuesOfOneRankDoNotAffectOthers) {
    JobMapBuilder builder;
    ASSERT_TRUE(builder.read_maps({}, view("a"), view("0-2")));
    builder.set_local_rank(2, 7);
    builder.set_global_rank(1, 50);
    builder.set_app(1, 4);
    const JobMap map = std::move(builder).build();
    EXPECT_EQ(describe(map),
              "a 0,1,2 1/3 | a#0() | 0 n0 l0 k0 g- a- r- | 1 n0 l1 k1 g50 a4 r0 | 2 n0 l7 k7 g- a- r-");
    EXPECT_EQ(describe(again(map)), describe(map));
}

TEST(JobMap, RoundTripsInAllShapes) {
    const struct {
        const char *nodes, *procs;
    } shapes[] = {{"a", "0"},
                  {"a,b,c", "0-3;4-7;8-11"},
                  {"a,b,c", "0,3,6;1,4,7;2,5,8"},
                  {"a,b,c", "0,3,6;1,4;2,5"},
                  {"a,b", ";0"},
                  {"n1,n2,x9", "5,1;0;3"},
                  {"a,b,c", "2;1;0"},
                  {"a,b,c", "0,2,4,5,6,9;1,3;7,8"},
                  {"a,b,c,d", "0,2,3,7;10,12,13,17;20,22,23,27;1"},
                  {"a,b,c", "3,5,7;4,6,8;0"},
                  {"a,b,c,d", "0,9,10,20;;1;2"}};
    for (const auto& shape : shapes) {
        const JobMap map = from_maps(shape.nodes, shape.procs);
        EXPECT_EQ(describe(again(map)), describe(map)) << shape.procs;
    }
    JobMapBuilder odd;
    odd.node("a,b");
    odd.node("c[1]");
    odd.add_node();
    odd.place(1, 2);
    odd.set_app_rank(1, 5);
    const JobMap map = std::move(odd).build();
    EXPECT_EQ(describe(again(map)), describe(map));
    EXPECT_EQ(describe(again(JobMap())), describe(JobMap()));
}

TEST(JobMap, DoesNotDependOnTheOrderOfCalls) {
    // In order, in reverse order, rank by rank, moved there, and registered again.
    const auto expect_same = [](const JobMap& map, const JobMap& other) {
        EXPECT_EQ(describe(map), describe(other));
        EXPECT_EQ(map.block(), other.block());
    };
    const std::vector<std::vector<pmix_rank_t>> nodes = {{0, 1}, {2, 3}, {}, {4}};
    const JobMap in_order = from_maps("a,b,c,d", "0-1;2-3;;4");
    EXPECT_EQ(in_order.block(), std::nullopt) << "c is empty, d is not";
    expect_same(in_order, again(in_order));
    JobMapBuilder backwards;
    for (const char* name : {"a", "b", "c", "d"})
        backwards.node(name);
    for (uint32_t node = 4; node-- != 0;) {
        for (const pmix_rank_t rank : nodes[node])
            EXPECT_TRUE(backwards.place(rank, node));
    }
    EXPECT_FALSE(backwards.place(3, 0)) << "it is on b";
    EXPECT_TRUE(backwards.place(3, 1)) << "said twice";
    const JobMap built = std::move(backwards).build();
    expect_same(in_order, built);

    JobMapBuilder moved(built);
    EXPECT_TRUE(moved.placed(4));
    EXPECT_FALSE(moved.placed(5));
    EXPECT_TRUE(moved.replace(0, 3));
    EXPECT_EQ(moved.node_of(0), 3u);
    EXPECT_EQ(moved.node_of(1), 0u);
    JobMapBuilder back(std::move(moved).build());
    EXPECT_TRUE(back.replace(0, 0));
    expect_same(in_order, std::move(back).build());

    JobMapBuilder more(built);
    EXPECT_EQ(more.place_new(5, 6, 3), std::nullopt);
    EXPECT_EQ(more.place_new(6, 8, 2), 6u) << "that one is on d";
    EXPECT_EQ(more.place_new(9, 10, 0), std::nullopt);
    const JobMap grown = std::move(more).build();
    EXPECT_EQ(grown.peers(0), "0,1,9,10");
    EXPECT_EQ(grown.peers(3), "4,5,6");
    EXPECT_EQ(grown.node_of(7), JobMap::kNone);
    EXPECT_EQ(grown.rank_end(), 11u);
}

TEST(JobMap, RecognizesOnlyRealBlocks) {
    EXPECT_EQ(from_maps("a,b,c", "0-3;4-7;8").block(), 4u);
    EXPECT_EQ(from_maps("a,b,c", "0-3;4-7;").block(), 4u);
    EXPECT_EQ(from_maps("a", "0-3").block(), 4u);
    EXPECT_EQ(from_maps("a,b,c", "0-3;4-5;6-8").block(), std::nullopt);
    EXPECT_EQ(from_maps("a,b", "0-3;4-9").block(), std::nullopt);
    EXPECT_EQ(from_maps("a,b", ";0-3").block(), std::nullopt);
    EXPECT_EQ(from_maps("a,b", "4-7;0-3").block(), std::nullopt);
    JobMapBuilder larger;
    EXPECT_TRUE(larger.read_maps({}, view("a,b"), view("0-1;2-3")));
    larger.set_rank_end(6);
    EXPECT_EQ(std::move(larger).build().block(), std::nullopt) << "two ranks are nowhere";
}

TEST(JobMap, ALongNameRoundTrips) {
    const std::string label(63, 'n');
    const std::string name = label + "1." + label + "." + label;
    const JobMap map = from_maps(name + "," + label + "2." + label + "." + label, "0;1");
    EXPECT_EQ(describe(again(map)), describe(map));
    EXPECT_EQ(again(map).node_name(0), name);
}

TEST(JobMap, MalformedFormsAreRefused) {
    const JobMap map = from_maps("n1,n2,n3", "0-3;4-7;8-11");
    Bytes bytes;
    map.encode(bytes);
    for (size_t cut = 0; cut < bytes.size(); ++cut)
        EXPECT_FALSE(JobMap::decode(bytes.view().first(cut))) << cut;
    for (size_t at = 0; at < bytes.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            Bytes bad(bytes.view());
            bad.data()[at] = static_cast<uint8_t>(bad.data()[at] ^ (1 << bit));
            [[maybe_unused]] const Result<JobMap> read = JobMap::decode(bad.view());
        }
    }
    // One node "a"; ranks that follow in steps: end, 0, how many, the first, (step, how often).
    const auto ranks = [](std::initializer_list<uint8_t> told) {
        Bytes form(view(std::string_view("\1\1\1\1a\0\0", 7)));
        for (const uint8_t byte : told)
            form.push_back(byte);
        for (int empty = 0; empty < 6; ++empty)
            form.push_back(0);
        return static_cast<bool>(JobMap::decode(form.view()));
    };
    EXPECT_TRUE(ranks({9, 0, 4, 1, 2, 3}));
    EXPECT_FALSE(ranks({9, 0, 4, 1, 0, 3})) << "a step of nothing";
    EXPECT_FALSE(ranks({9, 0, 4, 1, 2, 0})) << "no step";
    EXPECT_FALSE(ranks({9, 0, 4, 1, 2, 4})) << "more than there are";
    EXPECT_TRUE(ranks({9, 0, 2, 0, 0xff, 0xff, 0xff, 7, 1})) << "the highest rank there is";
    EXPECT_FALSE(ranks({9, 0, 2, 1, 0xff, 0xff, 0xff, 7, 1})) << "one higher";
    Bytes newer(bytes.view());
    newer.data()[0] = 2;
    EXPECT_NE(JobMap::decode(newer.view()).error().text.find("version"), std::string::npos);
}

TEST(JobMap, AJobOfAHundredThousandProcessesTakesOneMegabyte) {
    std::string nodes, blocks, cyclic;
    for (int node = 0; node < 1000; ++node) {
        nodes += (node != 0 ? ",node" : "node") + std::to_string(node) + ".cluster.org";
        blocks += (node != 0 ? ";" : "") + std::to_string(100 * node) + "-" + std::to_string(100 * node + 99);
        for (int i = 0; i < 100; ++i)
            cyclic += (i != 0 ? "," : node != 0 ? ";" : "") + std::to_string(1000 * i + node);
    }
    for (const std::string& procs : {blocks, cyclic}) {
        JobMapBuilder builder;
        ASSERT_TRUE(builder.read_maps({}, view(nodes), view(procs)));
        // As hosts do: the values of every rank, which repeat the map.
        JobMap plain = std::move(builder).build();
        JobMapBuilder full(plain);
        for (pmix_rank_t rank = 0; rank < 100000; ++rank) {
            full.set_local_rank(rank, *plain.local_rank(rank));
            full.set_node_rank(rank, *plain.local_rank(rank));
            full.set_app(rank, 0);
            full.set_app_rank(rank, rank);
            full.set_global_rank(rank, rank);
            full.set_id(plain.node_of(rank), plain.node_of(rank));
        }
        const JobMap map = std::move(full).build();
        EXPECT_EQ(map.placed(), 100000u);
        EXPECT_EQ(map.global_rank(99999), 99999u);
        EXPECT_EQ(map.app_rank(99999), 99999u);
        EXPECT_LT(map.memory(), size_t{2} << 20);
        Bytes bytes;
        map.encode(bytes);
        EXPECT_LT(bytes.size(), 256u);
    }
}

/// The preg components' form of "4x(1)@0+2", in rows.
Result<void> read_rows(JobMapBuilder& builder, std::string_view nodes, std::string_view procs) {
    muster_preg_t table = {};
    table.struct_size = sizeof table;
    table.parse_nodes = [](void*, const char*, size_t, const muster_preg_name_sink_t*) {
        return pmix_status_t{PMIX_ERR_NOT_SUPPORTED};
    };
    table.parse_node_rows = [](void*, const char* text, size_t size,
                               const muster_preg_name_row_sink_t* sink) {
        return preg::parse_names({text, size}, preg::kDefaultLimit, *sink, preg::Brackets::Strict);
    };
    table.parse_ppn_rows = [](void*, const char* text, size_t size, const muster_preg_rank_row_sink_t* sink) {
        return preg::parse_ranks({text, size}, preg::kDefaultLimit, *sink, true);
    };
    Preg preg(&table, "rows");
    Preg* const all[] = {&preg};
    return builder.read_maps(all, view(nodes), view(procs));
}

/// All names of a list of nodes, and the ranks of each, written out.
std::string written_out(std::string_view nodes, bool ranks) {
    std::string out;
    if (ranks) {
        const muster_preg_rank_sink_t sink = {&out,
                                              [](void* data, uint32_t first, uint32_t last) {
                                                  auto& text = *static_cast<std::string*>(data);
                                                  for (uint32_t rank = first; rank <= last; ++rank) {
                                                      if (!text.empty() && text.back() != ';') text += ',';
                                                      text += std::to_string(rank);
                                                  }
                                                  return pmix_status_t{PMIX_SUCCESS};
                                              },
                                              [](void* data) {
                                                  *static_cast<std::string*>(data) += ';';
                                                  return pmix_status_t{PMIX_SUCCESS};
                                              }};
        EXPECT_EQ(preg::parse_ranks(nodes, preg::kDefaultLimit, sink, true), PMIX_SUCCESS);
    } else {
        const muster_preg_name_sink_t sink = {&out, [](void* data, const char* name, size_t length) {
                                                  static_cast<std::string*>(data)->append(name, length) +=
                                                      ',';
                                                  return pmix_status_t{PMIX_SUCCESS};
                                              }};
        EXPECT_EQ(preg::parse_names(nodes, preg::kDefaultLimit, sink), PMIX_SUCCESS);
    }
    if (!out.empty()) out.pop_back();
    return out;
}

TEST(JobMap, RowsOfNodesEqualSingleNodes) {
    const struct {
        const char *nodes, *procs;
    } shapes[] = {
        {"n[0-11]", "12x(1)@0+2"},
        {"n[008-011].x", "4x(1)@0+2"},
        {"n[8-11]1", "4x(0)@0+1"},
        {"n[0-3],n[4-6]", "7x(1)@0+2"},
        {"n[0-3],n[2-5]", "8x(1)@0+2"},           // two are named twice
        {"n[0-3],n1[0-3]", "8x(1)@0+2"},          // n10 is not n1
        {"n1[0-3],n[10-12]", "7x(1)@0+2"},        // but n10 is n10
        {"n[1-2]1,n[1-2]", "4x(1)@0+2"},          // suffixes that are digits
        {"n[1-3]x,n[1-3]y", "6x(1)@0+2"},         // suffixes that differ
        {"m[1-3],n[1-3],l[1-3]", "9x(1)@0+2"},    // not ascending
        {"n[1-3],login,n[4-5],n3", "7x(1)@0+2"},  // rows and single ones
        {"n[1-3,5,8-9]", "6x(1)@0+2"},            // gaps
        {"n[1-3],n[010-012]", "6x(1)@0+2"},       // numbers of another width
        {"r[0-11]n[08-10]", "36x(1)@0+2"},        // a prefix for each rack
        {"r[0-11]n[08-10].x1", "36x(1)@0+2"},     // a suffix with a digit
        {"n[1-3].x1,n[4-6].x2", "6x(1)@0+2"},     // other suffixes
        {"a[1-3],b[1-3],a[4-6]", "9x(1)@0+2"},    // a prefix that comes again
        {"n[7-9],n[07-10]", "7x(1)@0+2"},         // two ways to write a number
        {"n[0-3]", "2x(1)@0+2;4;5,6"},
        {"n[0-5]", "0-1;3x(1)@2+2;8;9"},
        {"n[0-5]", "3x(1)@2+2;0;1;8"},  // out of order
        {"n[0-5]", "6x(0)@0+3"},        // with gaps
        {"n[0-3],m,n[4-6]", "8x(2)@0+3"},
        {"[0-99]", "100x(0)@0+1"},
    };
    for (const auto& shape : shapes) {
        JobMapBuilder builder;
        const Result<void> read = read_rows(builder, shape.nodes, shape.procs);
        ASSERT_TRUE(read) << shape.nodes << ": " << read.error().text;
        const JobMap map = std::move(builder).build();
        const JobMap plain = from_maps(written_out(shape.nodes, false), written_out(shape.procs, true));
        EXPECT_EQ(describe(map), describe(plain)) << shape.nodes;
        EXPECT_EQ(describe(again(map)), describe(plain)) << shape.nodes;
        for (const JobMap& one : {map, again(map), plain}) {
            for (uint32_t node = 0; node < one.node_count(); ++node) {
                EXPECT_EQ(one.find_node(one.node_name(node)), node) << shape.nodes;
                EXPECT_EQ(one.find_node(std::string(one.node_name(node)) + ".cluster"),
                          shape.nodes[0] == '[' || one.node_name(node).find('.') != std::string_view::npos
                              ? JobMap::kNone
                              : node)
                    << shape.nodes;
            }
            for (const char* other :
                 {"n",       "n12", "n007",      "n010",     "n10",   "a5",
                  "b2",      "b4",  "r11n10.x1", "r1n08.x2", "n4.x1", "n4.x2",
                  "n0008.x", "n8",  "nx",        "n-1",      "m0",    "n99999999999999999999",
                  "n1",      "10",  "n011",      "n5.x",     "r0n8",  "r11n08",
                  ".",       "n.x"}) {
                EXPECT_EQ(one.find_node(other), plain.find_node(other)) << other << " in " << shape.nodes;
            }
        }
    }
}

TEST(JobMap, RowsMayBeAddedTo) {
    JobMapBuilder builder;
    ASSERT_TRUE(read_rows(builder, "n[08-11].x", "4x(1)@0+2"));
    EXPECT_EQ(builder.find_node("n09"), 1u) << "by its label";
    EXPECT_EQ(builder.find_node("n9"), JobMapBuilder::kNone);
    EXPECT_EQ(builder.node("n10.x"), 2u);
    EXPECT_EQ(builder.node("n12.x"), 4u);
    EXPECT_EQ(builder.node("n08.x"), 0u) << "still found, after one that is in no row";
    builder.add_alias(1, "other");
    const JobMap map = std::move(builder).build();
    JobMapBuilder more(map);
    ASSERT_TRUE(read_rows(more, "n[08-12].x,other,n[13-14].x", "8x(0)@0+1").status() == PMIX_SUCCESS);
    const JobMap grown = std::move(more).build();
    EXPECT_EQ(grown.node_count(), 7u);
    EXPECT_EQ(grown.find_node("n14"), 6u);
    EXPECT_EQ(grown.peers(1), "1,5") << "its other name";
    EXPECT_EQ(describe(again(grown)), describe(grown));
}

TEST(JobMap, RowsKeepTheRulesOfProcessMaps) {
    const auto refused = [](const char* nodes, const char* procs) {
        JobMapBuilder builder;
        const Result<void> read = read_rows(builder, nodes, procs);
        return read ? std::string() : read.error().text;
    };
    EXPECT_NE(refused("n[0-3]", "5x(0)@0+1").find("more entries"), std::string::npos);
    EXPECT_NE(refused("n[0-3]", "3x(0)@0+1").find("3 entries"), std::string::npos);
    EXPECT_NE(refused("n[0-3]", "4x(2)@0+1").find("rank 1 twice"), std::string::npos);
    EXPECT_NE(refused("n[0-3]", "0;3x(0)@0+1").find("rank 0 twice"), std::string::npos);
    EXPECT_NE(refused("n[0-3]", "4x(0)@16777213+1").find("rank 16777216, which is too high"),
              std::string::npos);
    EXPECT_EQ(refused("n[0-3]", "4x(0)@0+1"), "");
}

TEST(JobMap, RefusesRanksOutOfRange) {
    JobMapBuilder builder;
    const uint32_t node = builder.node("a");
    EXPECT_FALSE(builder.place(JobMapBuilder::kMaxRank, node));
    EXPECT_FALSE(builder.place(PMIX_RANK_WILDCARD, node));
    EXPECT_FALSE(builder.set_local_rank(PMIX_RANK_UNDEF, 0));
    EXPECT_TRUE(builder.place(3, node));
    EXPECT_TRUE(builder.place(3, node));
    EXPECT_FALSE(builder.place(3, builder.node("b")));
}

TEST(SameHost, ByWholeNameOrFirstLabel) {
    EXPECT_TRUE(same_host("a", "a"));
    EXPECT_TRUE(same_host("a", "a.b.c"));
    EXPECT_TRUE(same_host("a.b", "a"));
    EXPECT_FALSE(same_host("a.b", "a.c"));
    EXPECT_FALSE(same_host("a", "ab.c"));
    EXPECT_FALSE(same_host("10", "10.0.0.1"));
    EXPECT_FALSE(same_host("", ".b"));
}

TEST(Realms, EachKeyIsListedOnce) {
    const auto keys = known_keys();
    for (size_t i = 1; i < keys.size(); ++i)
        EXPECT_LT(keys[i - 1].key, keys[i].key);
    for (const KeyInfo& info : keys)
        EXPECT_EQ(&key_info(info.key), &info);
    EXPECT_EQ(key_info("pmix.nothing").realm, Lookup::Realm::Auto);
    EXPECT_EQ(key_info(PMIX_UNIV_SIZE).realm, Lookup::Realm::Session);
    EXPECT_EQ(key_info(PMIX_MAX_PROCS).realm, Lookup::Realm::Job);
    EXPECT_EQ(key_info(PMIX_APP_SIZE).realm, Lookup::Realm::App);
    EXPECT_EQ(key_info(PMIX_HOSTNAME).realm, Lookup::Realm::Node);
    EXPECT_EQ(key_info(PMIX_LOCAL_RANK).realm, Lookup::Realm::Proc);
}

}  // namespace
}  // namespace muster
