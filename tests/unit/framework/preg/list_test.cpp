// SPDX-License-Identifier: BSD-3-Clause
// Lists of names and ranks: the documented short forms, reading them back, hostile input.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"
#include "tests/covers.hpp"

namespace muster::preg {
namespace {

struct Names {
    std::vector<std::string> all;
    muster_preg_name_sink_t sink{this, [](void* self, const char* name, size_t length) {
                                     static_cast<Names*>(self)->all.emplace_back(name, length);
                                     return pmix_status_t{PMIX_SUCCESS};
                                 }};
    std::string joined() const {
        std::string out;
        for (const std::string& name : all)
            out += (out.empty() ? "" : ",") + name;
        return out;
    }
};

struct Ranks {
    std::string text;
    bool fresh = true;
    size_t nodes = 0;
    muster_preg_rank_sink_t sink{this,
                                 [](void* self, uint32_t first, uint32_t last) {
                                     auto* ranks = static_cast<Ranks*>(self);
                                     for (uint64_t r = first; r <= last; ++r) {
                                         if (!ranks->fresh) ranks->text += ',';
                                         ranks->fresh = false;
                                         ranks->text += std::to_string(r);
                                     }
                                     return pmix_status_t{PMIX_SUCCESS};
                                 },
                                 [](void* self) {
                                     auto* ranks = static_cast<Ranks*>(self);
                                     ranks->text += ';';
                                     ranks->fresh = true;
                                     ++ranks->nodes;
                                     return pmix_status_t{PMIX_SUCCESS};
                                 }};
};

/// The arguments of a sink that takes rows.
struct RowsOfNames {
    Names names;
    size_t rows = 0;
    muster_preg_name_row_sink_t sink{
        {this,
         [](void* self, const char* name, size_t length) {
             static_cast<RowsOfNames*>(self)->names.all.emplace_back(name, length);
             return pmix_status_t{PMIX_SUCCESS};
         }},
        [](void* self, const char* prefix, size_t prefix_length, uint64_t first, uint64_t count, size_t width,
           const char* suffix, size_t suffix_length) {
            const NameRow row{{prefix, prefix_length}, first, count, width, {suffix, suffix_length}};
            auto* into = static_cast<RowsOfNames*>(self);
            ++into->rows;
            size_t bytes = 0;
            RowNames each(row);
            for (uint64_t i = 0; i < count; ++i, each.next()) {
                into->names.all.emplace_back(each.name());
                EXPECT_EQ(nth_name(row, i), each.name());
                EXPECT_EQ(place_in(row, each.name()), i);
                bytes += each.name().size();
            }
            EXPECT_EQ(row.size(SIZE_MAX), bytes);
            EXPECT_EQ(row.size(bytes), bytes);
            EXPECT_EQ(row.size(bytes - 1), std::nullopt);
            return pmix_status_t{PMIX_SUCCESS};
        }};
};

/// Returns the expansion of a list, which is the same by names and by rows.
std::string expand(std::string_view text, pmix_status_t* status = nullptr, size_t limit = kDefaultLimit,
                   Brackets brackets = Brackets::Strict) {
    Names names;
    const pmix_status_t rc = parse_names(text, limit, names.sink, brackets);
    RowsOfNames rows;
    EXPECT_EQ(parse_names(text, limit, rows.sink, brackets), rc) << text;
    if (rc == PMIX_SUCCESS) {
        EXPECT_EQ(rows.names.joined(), names.joined()) << text;
    }
    if (status != nullptr) *status = rc;
    return names.joined();
}

TEST(NameRow, IsAppendedAsItsNamesOneByOne) {
    for (const uint64_t first : {0, 1, 8, 9, 10, 11, 95, 99, 100, 990, 99999, 123456}) {
        for (const uint64_t count : {1, 2, 9, 10, 11, 19, 20, 21, 90, 1000, 10007}) {
            for (const size_t width : {1, 2, 5, 8}) {
                for (const char* suffix : {"", "-ib0"}) {
                    const NameRow row{"cn", first, count, width, suffix};
                    std::string wanted = "login", list = wanted;
                    RowNames each(row);
                    for (uint64_t i = 0; i < count; ++i, each.next()) {
                        wanted += ',';
                        wanted += each.name();
                    }
                    append_names(list, row);
                    ASSERT_EQ(list, wanted) << first << " " << count << " " << width;
                }
            }
        }
    }
    std::string list;
    append_names(list, {"cn", 7, 0, 1, ""});
    EXPECT_EQ(list, "");
    append_names(list, {"cn", 7, 2, 1, ""});
    EXPECT_EQ(list, "cn7,cn8");
}

TEST(NameRow, MatchesOnlyItsOwnNames) {
    const NameRow row{"n", 8, 4, 3, ".x"};
    EXPECT_EQ(place_in(row, "n008.x"), 0u);
    EXPECT_EQ(place_in(row, "n011.x"), 3u);
    for (const char* other : {"", "n", "n.x", "n8.x", "n0008.x", "n007.x", "n012.x", "n008", "m008.x",
                              "n0a8.x", "n-08.x", "n99999999999999999999.x", "n008.x.x"}) {
        EXPECT_EQ(place_in(row, other), std::nullopt) << other;
    }
    const NameRow plain{"", 0, 11, 0, ""};
    EXPECT_EQ(place_in(plain, "0"), 0u);
    EXPECT_EQ(place_in(plain, "10"), 10u);
    EXPECT_EQ(place_in(plain, "00"), std::nullopt);
    EXPECT_EQ(place_in(plain, "01"), std::nullopt);
}

struct NameCase {
    const char* list;
    const char* shortened;
    const char* names;  ///< nullptr: the list itself
};

class ShortenNames : public testing::TestWithParam<NameCase> {};

TEST_P(ShortenNames, KeepsOrderZerosPrefixesAndSuffixes) {
    covers("SRV-03");
    std::string out;
    ASSERT_TRUE(shorten_names(GetParam().list, out));
    EXPECT_EQ(out, GetParam().shortened);
    pmix_status_t status;
    EXPECT_EQ(expand(out, &status), GetParam().names != nullptr ? GetParam().names : GetParam().list);
    EXPECT_EQ(status, PMIX_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ShortenNames,
    testing::Values(
        NameCase{
            "odin009.org,odin010.org,odin011.org,odin012.org,odin[102-107].org", "odin[009-012,102-107].org",
            "odin009.org,odin010.org,odin011.org,odin012.org,odin102.org,odin103.org,odin104.org,odin105.org,"
            "odin106.org,odin107.org"},
        NameCase{"vm", "vm", nullptr}, NameCase{"n1,n2,n3", "n[1-3]", nullptr},
        NameCase{"n8,n9,n10,n11", "n[8-11]", nullptr}, NameCase{"n08,n09,n10", "n[08-10]", nullptr},
        NameCase{"n8,n9,n010", "n[8-9,010]", nullptr}, NameCase{"n9,n10,n09", "n[9-10,09]", nullptr},
        NameCase{"n098,n099,n100,n101", "n[098-101]", nullptr},
        NameCase{"n3,n1,n2,n2", "n[3,1-2,2]", nullptr}, NameCase{"a,a,a", "a,a,a", nullptr},
        NameCase{"a1,a1", "a[1,1]", nullptr}, NameCase{"a1,b1,a2", "a1,b1,a2", nullptr},
        NameCase{"r1n1,r1n2,r1n3,r2n1,r2n2", "r1n[1-3],r2n[1-2]", nullptr},
        NameCase{"r1n7,r2n7,r3n7", "r[1-3]n7", nullptr},
        NameCase{"10.0.0.1,10.0.0.2", "10.0.0.[1-2]", nullptr}, NameCase{"1,2,3", "[1-3]", nullptr},
        NameCase{"x[1-2]y,x3y", "x[1-3]y", "x1y,x2y,x3y"},
        NameCase{"x1y,x[2-4,9]y", "x[1-4,9]y", "x1y,x2y,x3y,x4y,x9y"},
        NameCase{"r1n[1-2],r2n[1-2]", "r[1-2]n[1-2]", "r1n1,r1n2,r2n1,r2n2"},
        NameCase{"r08n1,r08n2,r09n1,r09n2,r10n1,r10n2,r20n1,r20n2", "r[08-10,20]n[1-2]", nullptr},
        NameCase{"r1n1,r1n2,r2n1,r2n2,r3n1", "r[1-2]n[1-2],r3n1", nullptr},
        NameCase{"r8n1,r8n2,r9n1,r9n2,r10n1,r10n2,r20n1,r20n2", "r[8-10,20]n[1-2]", nullptr},
        NameCase{"r0n0,r0n1,r1n0,r1n1,r2n0,r2n1,r2n2,r3n0,r3n1", "r[0-1]n[0-1],r2n[0-2],r3n[0-1]", nullptr},
        NameCase{"r0n0,r0n1,r1n0,r1n1,r2n0,r2n1,r3n0", "r[0-2]n[0-1],r3n0", nullptr},
        NameCase{"r0n0,r0n1,r1n0,r1n1,r2n0,r2n1x", "r[0-1]n[0-1],r2n0,r2n1x", nullptr},
        NameCase{"r08n0,r08n1,r09n0,r09n1,r10n0,r10n1,x", "r[08-10]n[0-1],x", nullptr},
        NameCase{"r1n1,r2n1,r1n2,r2n2", "r[1-2]n1,r[1-2]n2", nullptr},
        NameCase{"r1n1p1,r1n1p2,r1n2p1,r1n2p2,r2n1p1,r2n1p2", "r1n[1-2]p[1-2],r2n1p[1-2]", nullptr},
        NameCase{"r1n1,r1n2,x,r2n1,r2n2", "r1n[1-2],x,r2n[1-2]", nullptr},
        NameCase{"n1,n2,n1,n2", "n[1-2,1-2]", nullptr},
        NameCase{"n8x,n9x,n10x,n11x,n12,n13x", "n[8-11]x,n12,n13x", nullptr},
        NameCase{"a998,a999,a1000,a1001,a1002y", "a[998-1001],a1002y", nullptr},
        NameCase{"x[1-2]5,x35,x45", "x[1-4]5", "x15,x25,x35,x45"},
        NameCase{"n999999999999999998,n999999999999999999,n1000000000000000000",
                 "n[999999999999999998-999999999999999999],n1000000000000000000", nullptr},
        NameCase{"n123456789012345678901234,n1", "n123456789012345678901234,n1", nullptr},
        NameCase{"node-a,node-b,login:1,login:2", "node-a,node-b,login:[1-2]", nullptr},
        NameCase{"a:,b", "a:,b", nullptr}));

TEST(ShortenNames, EncodesRunsOfAnyLength) {
    // Entries of 1 to 30 bytes, numbers that gain a digit, runs that end within ten or in the middle of an
    // entry.
    for (const char* prefix : {"", "n", "node-of-rack", "a-prefix-that-fills-words-"}) {
        for (const char* suffix : {"", "x", "-ib", "-ib0", ".cluster.org", ".a.b.c.d.e.f.g"}) {
            for (const int first : {0, 7, 95, 998}) {
                for (const int count : {2, 3, 4, 12, 13, 35}) {
                    std::string list;
                    for (int i = 0; i < count; ++i)
                        list += prefix + std::to_string(first + i) + suffix + ",";
                    list.pop_back();
                    for (const char* more : {"", ",other", ",n5q", ",n", ",node-of-rack1"}) {
                        for (const size_t cut : {size_t{0}, size_t{1}, std::string(suffix).size() + 1}) {
                            const std::string whole = list.substr(0, list.size() - cut) + more;
                            if (whole.find(",,") != std::string::npos || whole.back() == ',') continue;
                            std::string out;
                            ASSERT_TRUE(shorten_names(whole, out)) << whole;
                            ASSERT_EQ(expand(out), whole) << out;
                        }
                    }
                }
            }
        }
    }
}

/// Unordered numbers, the same in each run.
class Numbers {
  public:
    explicit Numbers(uint64_t seed) : state_(seed) {}
    uint32_t below(uint32_t end) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<uint32_t>(state_ >> 33) % end;
    }

  private:
    uint64_t state_;
};

/// Racks with nodes, and ports of nodes, with gaps and irregularities here and there.
std::string some_cluster(Numbers& numbers) {
    const uint32_t width = numbers.below(4), ports = 1 + numbers.below(3), first = numbers.below(120);
    const uint32_t nodes = 2 + numbers.below(40), irregular = 3 + numbers.below(40);
    const std::string suffix = numbers.below(2) == 0 ? "" : ".org";
    std::string list;
    for (uint32_t node = first; node < first + nodes; ++node) {
        for (uint32_t port = 0; port < ports + (numbers.below(irregular) == 0 ? 1U : 0U); ++port) {
            if (numbers.below(irregular) == 0) continue;
            std::string number = std::to_string(numbers.below(irregular) == 0 ? node * 2 : node);
            if (number.size() < width) number.insert(0, width - number.size(), '0');
            list += (list.empty() ? "n" : ",n") + number;
            if (ports > 1) list += "p" + std::to_string(port);
            list += suffix;
        }
    }
    return list;
}

TEST(ShortenNames, KeepsListsWithIrregularities) {
    Numbers numbers(7);
    for (int i = 0; i < 20000; ++i) {
        const std::string list = some_cluster(numbers);
        std::string out;
        if (list.empty()) continue;
        ASSERT_TRUE(shorten_names(list, out)) << list;
        ASSERT_EQ(expand(out), list) << out;
    }
}

TEST(ShortenNames, DeclinesNamesThatTheFormCannotEncode) {
    for (const char* list : {"a[x]", "a]", "a[1", "a[3-1]", "a[1-010]", "a[1]b[2]", "a,,b", ",", "a[]"}) {
        std::string out;
        EXPECT_FALSE(shorten_names(list, out)) << list;
    }
}

TEST(ParseNames, SeveralBracketsGiveEachCombination) {
    EXPECT_EQ(expand("r[1-2]n[08-09,3]x"), "r1n08x,r1n09x,r1n3x,r2n08x,r2n09x,r2n3x");
}

TEST(ParseNames, NumbersGrowByADigit) {
    EXPECT_EQ(expand("n[8-11]x,n[98-101]"), "n8x,n9x,n10x,n11x,n98,n99,n100,n101");
    EXPECT_EQ(expand("n[08-11],m[098-101].y"), "n08,n09,n10,n11,m098.y,m099.y,m100.y,m101.y");
    EXPECT_EQ(expand("[98-101]"), "98,99,100,101");
}

TEST(ParseNames, BracketsWithoutRangesArePartOfANameWhenLenient) {
    pmix_status_t status;
    EXPECT_EQ(expand("a[x],b[,c]d", &status, kDefaultLimit, Brackets::Lenient), "a[x],b[,c]d");
    EXPECT_EQ(status, PMIX_SUCCESS);
    EXPECT_EQ(expand("a[1-2],,b[", &status, kDefaultLimit, Brackets::Lenient), "a1,a2,b[");
    EXPECT_EQ(status, PMIX_SUCCESS);
}

TEST(ParseNames, RefusesBrokenBracketsWhenStrict) {
    for (const char* text : {"a[", "a]", "a[]", "a[1-]", "a[-1]", "a[2-1]", "a[1", "a[x]", "a[1,]", "a[1;2]",
                             "a[1234567890123456789]", "a[1]]"}) {
        pmix_status_t status;
        expand(text, &status);
        EXPECT_EQ(status, PMIX_ERR_BAD_PARAM) << text;
    }
}

TEST(ParseNames, StopsAtItsLimits) {
    pmix_status_t status;
    Names names;
    EXPECT_EQ(parse_names("n[1-11]", 10, names.sink), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(names.all.size(), 10u);
    expand("a[0-999999999999999999]", &status, 1000);
    EXPECT_EQ(status, PMIX_ERR_OUT_OF_RESOURCE);
    expand("a[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]", &status, 1000);
    EXPECT_EQ(status, PMIX_ERR_OUT_OF_RESOURCE);
    // Few names, but long ones.
    expand("a[0-99]" + std::string(10000, 'x'), &status, 1000);
    EXPECT_EQ(status, PMIX_ERR_OUT_OF_RESOURCE);
    // A sink may stop the iteration.
    muster_preg_name_sink_t stop{nullptr,
                                 [](void*, const char*, size_t) { return pmix_status_t{PMIX_ERR_NOMEM}; }};
    EXPECT_EQ(parse_names("a,b", 10, stop), PMIX_ERR_NOMEM);
}

TEST(ParseNames, ConsecutiveNumbersAreRows) {
    RowsOfNames rows;
    EXPECT_EQ(parse_names("a,n[8-11,20]x,r[1-2]n[08-10]", 20, rows.sink), PMIX_SUCCESS);
    EXPECT_EQ(rows.names.joined(), "a,n8x,n9x,n10x,n11x,n20x,r1n08,r1n09,r1n10,r2n08,r2n09,r2n10");
    EXPECT_EQ(rows.rows, 4u) << "n20x is a row, too";
}

TEST(ParseNames, ManyOpenBracketsTakeLinearTime) {
    std::string text;
    for (int i = 0; i < 200000; ++i)
        text += "a[,";
    text += "]";
    Names names;
    EXPECT_EQ(parse_names(text, kDefaultLimit, names.sink), PMIX_SUCCESS);
    text = std::string(1000000, '[');
    EXPECT_EQ(parse_names(text, kDefaultLimit, names.sink), PMIX_SUCCESS);
}

TEST(ParseNamesWithDigits, ReadsTheFormsOfOpenPmix) {
    const struct {
        const char* text;
        const char* names;
    } cases[] = {{"node[1:1-3],node[2:17]", "node1,node2,node3,node17"},
                 {"odin[3:9-12,102].org", "odin009.org,odin010.org,odin011.org,odin012.org,odin102.org"},
                 {"[2:1-2]", "01,02"},
                 {"alpha,beta[1:7]", "alpha,beta7"},
                 {"n[1:9-10]", "n9,n10"}};
    for (const auto& one : cases) {
        Names names;
        EXPECT_EQ(parse_names_with_digits(one.text, kDefaultLimit, {names.sink, nullptr}), PMIX_SUCCESS)
            << one.text;
        EXPECT_EQ(names.joined(), one.names);
    }
    for (const char* text :
         {"a[1-3]", "a[:1]", "a[1:]", "a[99:1]", "a[1:2", "a]1:2[", "a[1:x]", "a[1:1-2]b[1:2]"}) {
        Names names;
        EXPECT_EQ(parse_names_with_digits(text, kDefaultLimit, {names.sink, nullptr}), PMIX_ERR_BAD_PARAM)
            << text;
    }
}

/// The arguments of a sink that takes rows.
struct RowsOfRanks {
    Ranks ranks;
    muster_preg_rank_row_sink_t sink{
        {&ranks, ranks.sink.ranks, ranks.sink.next_node},
        [](void* self, uint64_t count, uint32_t first, uint32_t span, uint32_t step) {
            auto* into = static_cast<Ranks*>(self);
            for (; count != 0; --count, first += step) {
                into->sink.ranks(into, first, first + span);
                into->sink.next_node(into);
            }
            return pmix_status_t{PMIX_SUCCESS};
        }};
};

struct RankCase {
    const char* list;
    const char* shortened;
};
class ShortenRanks : public testing::TestWithParam<RankCase> {};

TEST_P(ShortenRanks, KeepsTheRanksOfEachNode) {
    covers("SRV-06");
    std::string out;
    ASSERT_TRUE(shorten_ranks(GetParam().list, out));
    EXPECT_EQ(out, GetParam().shortened);
    Ranks plain, back;
    ASSERT_EQ(parse_ranks(GetParam().list, kDefaultLimit, plain.sink), PMIX_SUCCESS);
    ASSERT_EQ(parse_ranks(out, kDefaultLimit, back.sink, true), PMIX_SUCCESS);
    EXPECT_EQ(back.text, plain.text);
    RowsOfRanks rows;
    ASSERT_EQ(parse_ranks(out, kDefaultLimit, rows.sink, true), PMIX_SUCCESS);
    EXPECT_EQ(rows.ranks.text, plain.text);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ShortenRanks,
    testing::Values(
        RankCase{"1-4;2-5;8,10,11,12;6,7,9", "2x(3);8,10-12;6-7,9"}, RankCase{"0", "0"},
        RankCase{"0,1,2,3", "0-3"}, RankCase{"0-3;4-7", "0-3;4-7"},
        RankCase{"0-3;4-7;8-11;12-15", "4x(3)@0+4"}, RankCase{"0;1;2;3;4;5", "6x(0)@0+1"},
        RankCase{"1;2;3;4", "4x(0)"}, RankCase{"1-2;3-4;5-6;7-8", "4x(1)@1+2"},
        RankCase{"0,2;1,3", "0,2;1,3"}, RankCase{"3,2,1", "3,2,1"}, RankCase{"0-1;;2-3", "0-1;;2-3"},
        RankCase{"0;1;2;3;9-10;11-12;13-14;15-16;5,7", "0;1;2;3;4x(1)@9+2;5,7"},
        RankCase{"8;9;10;11;12,13;98;99;100;101;102;103-104", "8;9;10;11;12-13;5x(0)@98+1;103-104"},
        RankCase{"8-9;10-11;12-13;14-15;16-18;20", "4x(1)@8+2;16-18;20"},
        RankCase{"1-50;101-150;201-250;301-350;401-450;501-550;601-650", "7x(49)@1+100"},
        RankCase{"7;6;5", "7;6;5"}, RankCase{"0,4;1,5;2,6", "0,4;1,5;2,6"},
        RankCase{"0,40;1,41;2,42;3,43", "4x(0)@0+1,(0)@40+1"},
        RankCase{"1-2,9;2-3,11;3-4,13;4-5,15;7,8-9", "4x(1),(0)@9+2;7-9"},
        RankCase{"5-7;8;9-10;11-13;14-15;16;17;18;19;20-23;24;25-27;28;29-30;31;32-33;34-35;36-39;"
                 "40;41-42;43;44-46;47;48-49;60;62-63",
                 "@5:3,1,2,3,2,1*4,4,1,3,1,2,1,2*2,4,1,2,1,3,1,2;60;62-63"},
        RankCase{" 0 , 1 ;2", "0-1;2"}));

/// Blocks of ranks, round-robin ranks, and nodes without ranks.
std::string some_placement(Numbers& numbers) {
    std::string list;
    uint32_t rank = numbers.below(200);
    const uint32_t nodes = 1 + numbers.below(80), most = 1 + numbers.below(5),
                   irregular = 2 + numbers.below(60);
    for (uint32_t node = 0; node < nodes; ++node) {
        if (node != 0) list += ';';
        if (numbers.below(irregular) == 0) rank = numbers.below(1000);
        if (nodes > 1 && numbers.below(irregular) == 0) continue;
        const uint32_t count = numbers.below(irregular) == 0 ? most : 1 + numbers.below(most);
        list += std::to_string(rank);
        if (count > 1) list += "-" + std::to_string(rank + count - 1);
        rank += count;
        if (most == 2) list += "," + std::to_string(10000 + node) + "-" + std::to_string(10001 + node);
    }
    return list;
}

TEST(ShortenRanks, KeepsIrregularPlacements) {
    Numbers numbers(11);
    for (int i = 0; i < 20000; ++i) {
        const std::string list = some_placement(numbers);
        std::string out;
        if (!shorten_ranks(list, out)) continue;
        Ranks plain, back;
        ASSERT_EQ(parse_ranks(list, kDefaultLimit, plain.sink), PMIX_SUCCESS) << list;
        ASSERT_EQ(parse_ranks(out, kDefaultLimit, back.sink, true), PMIX_SUCCESS) << out;
        ASSERT_EQ(back.text, plain.text) << list << "\n" << out;
        RowsOfRanks rows;
        ASSERT_EQ(parse_ranks(out, kDefaultLimit, rows.sink, true), PMIX_SUCCESS) << out;
        ASSERT_EQ(rows.ranks.text, plain.text) << out;
    }
}

TEST(ShortenRanks, DeclinesMalformedRanks) {
    for (const char* list : {"a", "0-", "-1", "1-0", "0,", "0,,1", "0 1", "4294967295", "1x(2)", "0:1"}) {
        std::string out;
        EXPECT_FALSE(shorten_ranks(list, out)) << list;
    }
}

TEST(ShortenRanks, DeclinesOneNodeWithoutRanks) {
    Ranks plain;
    ASSERT_EQ(parse_ranks(" ", kDefaultLimit, plain.sink), PMIX_SUCCESS);
    std::string out;
    EXPECT_FALSE(shorten_ranks(" ", out)) << "nothing stands for no node";
    EXPECT_TRUE(shorten_ranks("", out));
    EXPECT_TRUE(shorten_ranks(" ;", out));
    EXPECT_EQ(out, ";");
}

TEST(ParseRanks, RefusesHostileInput) {
    Ranks ranks;
    EXPECT_EQ(parse_ranks("0-4000000000", 1000, ranks.sink), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(parse_ranks("0-4294967290", SIZE_MAX, ranks.sink), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks(std::string(100, ';'), 50, ranks.sink), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(parse_ranks("999999999999x(0)", 1000, ranks.sink, true), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(parse_ranks("3x(2)@4294967200+100", 1000, ranks.sink, true), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks("2x(3)", 1000, ranks.sink, false), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks("@0:1*1001", 1000, ranks.sink, true), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(parse_ranks("@0:1001", 1000, ranks.sink, true), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(parse_ranks("@4294967000:200,200", 1000, ranks.sink, true), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks("@1:4294967295", SIZE_MAX, ranks.sink, true), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks("@1:65536*65536", SIZE_MAX, ranks.sink, true), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(parse_ranks("2x(0)@0+1,(0)@4294967290+9", 1000, ranks.sink, true), PMIX_ERR_BAD_PARAM);
    for (const char* text : {"@", "@1", "@1:", "@1:,", "@1:0", "@1:1,", "@1:1*", "@1:1*x", "@:1", "@1:1;@",
                             "2x(1),", "2x(1),1", "2x(1)@1+1,()"}) {
        EXPECT_EQ(parse_ranks(text, 1000, ranks.sink, true), PMIX_ERR_BAD_PARAM) << text;
    }
    EXPECT_EQ(parse_ranks("@1:2,2", 1000, ranks.sink, false), PMIX_ERR_BAD_PARAM);
    for (const char* text : {"2x", "2x(", "2x()", "2x(1)@", "2x(1)@1", "2x(1)@1+", "2x(1)9", "x(1)"}) {
        EXPECT_EQ(parse_ranks(text, 1000, ranks.sink, true), PMIX_ERR_BAD_PARAM) << text;
    }
}

TEST(Lists, AMillionEntriesTakeLinearTime) {
    std::string names, ranks;
    for (int i = 0; i < 1000000; ++i) {
        names += "node" + std::to_string(i) + ".cluster.org,";
        ranks += std::to_string(4 * i) + "-" + std::to_string(4 * i + 3) + ";";
    }
    names.pop_back();
    ranks.pop_back();
    std::string short_names, short_ranks;
    ASSERT_TRUE(shorten_names(names, short_names));
    EXPECT_EQ(short_names, "node[0-999999].cluster.org");
    ASSERT_TRUE(shorten_ranks(ranks, short_ranks));
    EXPECT_EQ(short_ranks, "1000000x(3)@0+4");
    Names back;
    ASSERT_EQ(parse_names(short_names, kDefaultLimit, back.sink), PMIX_SUCCESS);
    EXPECT_EQ(back.all.size(), 1000000u);
    EXPECT_EQ(back.all.back(), "node999999.cluster.org");
}

}  // namespace
}  // namespace muster::preg
