// SPDX-License-Identifier: BSD-3-Clause
// Lists of processes as runs, and hostile lists.
#include "core/exchange/proc_list.hpp"

#include <gtest/gtest.h>

#include "core/collective/collectives.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

WireFormat plain_format() {
    return {&test::codec(), BufferType::NonDescribed};
}

std::vector<pmix_proc_t> of(const std::vector<pmix_rank_t>& ranks, const char* nspace = "job") {
    std::vector<pmix_proc_t> procs;
    for (const pmix_rank_t rank : ranks)
        procs.push_back(make_proc(nspace, rank));
    return procs;
}

ProcList list_of(const std::vector<pmix_proc_t>& procs) {
    return {procs.data(), procs.size()};
}

TEST(ProcList, ConsecutiveRanksAreRuns) {
    const ProcList list = list_of(of({4, 5, 6, 7, 0, 1, 2, 3}));
    EXPECT_EQ(list.nspace(), "job");
    EXPECT_EQ(list.runs(), (std::vector<RankRun>{{4, 4}, {0, 4}}));
    EXPECT_EQ(list.size(), 8U);
    EXPECT_TRUE(same_procs(list.procs(), of({4, 5, 6, 7, 0, 1, 2, 3})));
}

TEST(ProcList, OtherListsStayUnchanged) {
    std::vector<pmix_proc_t> two = of({0, 1, 2, 3});
    two.push_back(make_proc("other", 4));
    const std::vector<std::vector<pmix_proc_t>> lists{two,
                                                      of({5, 3, 1, 0, 2, 4, 9, 7}),
                                                      of({PMIX_RANK_WILDCARD}),
                                                      of({PMIX_RANK_VALID, PMIX_RANK_VALID + 1}),
                                                      {}};
    for (const auto& procs : lists) {
        const ProcList list = list_of(procs);
        EXPECT_EQ(list.nspace(), "");
        EXPECT_EQ(list.size(), procs.size());
        EXPECT_TRUE(same_procs(list.procs(), procs));
    }
    // A name that fills its array without a terminator is valid.
    const std::string longest(PMIX_MAX_NSLEN, 'x');
    EXPECT_TRUE(same_procs(list_of(of({1, 2}, longest.c_str())).procs(), of({1, 2}, longest.c_str())));
}

TEST(ProcList, ARepeatedRankBeginsARun) {
    EXPECT_EQ(list_of(of({0, 1, 2, 3, 3, 4, 5, 6})).runs(), (std::vector<RankRun>{{0, 4}, {3, 4}}));
}

TEST(ProcList, ItsValueIsAnArrayOfProcesses) {
    const Value value = list_of(of({2, 3, 4})).to_value();
    ASSERT_EQ(value.type(), PMIX_DATA_ARRAY);
    ASSERT_EQ(value->data.darray->type, PMIX_PROC);
    ASSERT_EQ(value->data.darray->size, 3U);
    EXPECT_TRUE(proc_is(static_cast<pmix_proc_t*>(value->data.darray->array)[2], make_proc("job", 4)));
}

class RunsOnTheWire : public ::testing::Test {
  protected:
    bool read(const std::vector<uint32_t>& numbers, uint32_t end) {
        Packer out(plain_format());
        out.counted(numbers.data(), numbers.size(), PMIX_UINT32);
        Unpacker in(plain_format(), out.view());
        return unpack_runs(in, end, runs);
    }
    std::vector<RankRun> runs;
};

TEST_F(RunsOnTheWire, RoundTrip) {
    const ProcList list = list_of(of({4, 5, 6, 7, 0, 1, 2, 3}));
    Packer out(plain_format());
    list.pack_runs(out);
    Unpacker in(plain_format(), out.view());
    ASSERT_TRUE(unpack_runs(in, 8, runs));
    EXPECT_EQ(runs, list.runs());
    EXPECT_TRUE(in.at_end());
}

TEST_F(RunsOnTheWire, AreRefusedBeyondTheJobSize) {
    EXPECT_TRUE(read({0, 8}, 8));
    EXPECT_FALSE(read({}, 8));
    EXPECT_FALSE(read({0}, 8));
    EXPECT_FALSE(read({0, 0}, 8));
    EXPECT_FALSE(read({0, 9}, 8));
    EXPECT_FALSE(read({8, 1}, 8));
    EXPECT_FALSE(read({0, 8, 0, 1}, 8));
    EXPECT_FALSE(read({1, UINT32_MAX}, 8));
    EXPECT_FALSE(read({UINT32_MAX, UINT32_MAX}, UINT32_MAX));
}

}  // namespace
}  // namespace muster
