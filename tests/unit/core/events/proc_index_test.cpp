// SPDX-License-Identifier: BSD-3-Clause
// Lookup of a process in a long list, compared with a linear search.
#include "core/events/proc_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "framework/base/proc.hpp"
#include "tests/bounded_time.hpp"

namespace muster {
namespace {

std::vector<pmix_proc_t> list_of(size_t count, unsigned jobs, unsigned ranks, bool wildcards) {
    std::mt19937 random(static_cast<unsigned>(count) * 31 + jobs);
    std::vector<pmix_proc_t> procs;
    for (size_t i = 0; i < count; ++i) {
        const std::string nspace = "job." + std::to_string(2 * (random() % jobs));
        const bool all = wildcards && random() % 20 == 0;
        procs.push_back(make_proc(nspace, all ? PMIX_RANK_WILDCARD : 2 * (random() % ranks)));
    }
    return procs;
}

TEST(ProcIndex, EqualsALinearSearch) {
    for (const size_t count : {0, 1, 31, 32, 33, 100, 2000}) {
        for (const bool wildcards : {false, true}) {
            const auto procs = list_of(count, 7, 50, wildcards);
            const ProcIndex index(procs);
            size_t found = 0;
            for (unsigned job = 0; job < 16; ++job) {
                const std::string nspace = "job." + std::to_string(job);
                for (unsigned rank = 0; rank <= 101; ++rank) {
                    const pmix_proc_t proc = make_proc(nspace, rank == 101 ? PMIX_RANK_WILDCARD : rank);
                    const bool there = std::any_of(procs.begin(), procs.end(), [&](const auto& one) {
                        return same_or_wildcard(one, proc);
                    });
                    ASSERT_EQ(index.has(procs, proc), there) << count << " " << nspace << ":" << rank;
                    found += there ? 1 : 0;
                }
                const bool known = std::any_of(procs.begin(), procs.end(), [&](const auto& one) {
                    return nspace_is(one.nspace, nspace.c_str());
                });
                ASSERT_EQ(index.has_job(procs, nspace.c_str()), known) << count << " " << nspace;
            }
            EXPECT_EQ(found > 0, count > 0);
        }
    }
}

TEST(ProcIndex, IsSearchedInConstantTime) {
    std::vector<pmix_proc_t> procs;
    for (pmix_rank_t rank = 0; rank < 200000; ++rank)
        procs.push_back(make_proc(rank % 2 == 0 ? "even" : "odd", rank));
    const ProcIndex index(procs);
    const auto begin = std::chrono::steady_clock::now();
    for (pmix_rank_t rank = 0; rank < 200000; ++rank) {
        ASSERT_EQ(index.has(procs, make_proc("even", rank)), rank % 2 == 0);
        ASSERT_FALSE(index.has_job(procs, "none"));
    }
    tests::expect_within(std::chrono::seconds(10), begin);
}

TEST(ProcIndex, OfAShortListTakesNoMemory) {
    EXPECT_EQ(ProcIndex(list_of(32, 3, 10, true)).cost(), 0U);
    EXPECT_GE(ProcIndex(list_of(33, 3, 10, true)).cost(), 33 * sizeof(uint64_t));
}

}  // namespace
}  // namespace muster
