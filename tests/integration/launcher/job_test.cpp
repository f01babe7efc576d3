// SPDX-License-Identifier: BSD-3-Clause
// Laying a job out over nodes.
#include "tools/muster/jobs/job.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::launcher {
namespace {

Job job_of(unsigned ranks, const std::string& map_by = "slot") {
    Job job;
    job.apps.emplace_back();
    job.apps[0].ranks = ranks;
    job.apps[0].argv = {"prog"};
    job.map_by = map_by;
    return job;
}

Job laid_out(Job job, unsigned nodes) {
    lay_out(job, "job", node_names(nodes, "here"));
    return job;
}

TEST(LauncherJob, EveryRankHasANodeAndALocalRank) {
    covers("SRV-22");
    for (unsigned nodes : {1u, 2u, 3u, 7u}) {
        for (unsigned ranks : {1u, 2u, 8u, 65u}) {
            const Job job = laid_out(job_of(ranks), nodes);
            ASSERT_EQ(job.size(), ranks);
            unsigned seen = 0;
            EXPECT_EQ(job.used_nodes().size(), std::min(nodes, ranks));
            for (uint32_t node : job.used_nodes()) {
                const std::vector<uint32_t> on = job.ranks_on(node);
                for (uint32_t i = 0; i < on.size(); ++i)
                    EXPECT_EQ(job.places[on[i]].local_rank, i);
                seen += static_cast<unsigned>(on.size());
            }
            EXPECT_EQ(seen, ranks);
        }
    }
}

TEST(LauncherJob, MapsBySlotAndByNode) {
    const Job blocks = laid_out(job_of(4), 2);
    EXPECT_EQ(blocks.ranks_on(0), (std::vector<uint32_t>{0, 1}));
    const Job turns = laid_out(job_of(4, "node"), 2);
    EXPECT_EQ(turns.ranks_on(0), (std::vector<uint32_t>{0, 2}));
}

TEST(LauncherJob, RefusesSetsNamedLikeJobs) {
    covers("GRP-18");
    Job set = job_of(2);
    for (const char* name : {"host-1", "host-1@1", "host-1@99"}) {
        set.apps[0].pset = name;
        EXPECT_THROW(lay_out(set, "host-1@1", {"here"}), JobError) << name;
    }
    for (const char* name : {"host", "host-11", "ocean", ""}) {
        set.apps[0].pset = name;
        EXPECT_NO_THROW(lay_out(set, "host-1@1", {"here"})) << name;
    }
}

TEST(LauncherJob, OneNodeHasTheHostsName) {
    EXPECT_EQ(laid_out(job_of(2), 1).nodes, (std::vector<std::string>{"here"}));
    EXPECT_EQ(laid_out(job_of(2), 2).nodes, (std::vector<std::string>{"node0", "node1"}));
}

TEST(LauncherJob, RefusesMoreProcessesThanSlots) {
    EXPECT_EQ(laid_out(job_of(4, "ppr:2:node"), 2).size(), 4u);
    EXPECT_THROW(laid_out(job_of(5, "ppr:2:node"), 2), JobError);
    EXPECT_THROW(laid_out(job_of(2, "moon"), 1), std::runtime_error);
    Job input = job_of(2);
    input.input.rank = 2;
    EXPECT_THROW(laid_out(input, 1), JobError);
    EXPECT_THROW(laid_out(job_of(0xffffffff), 1), JobError);
    Job wide = job_of(0x55555556);
    wide.apps.resize(3, wide.apps[0]);  // together so many that the count wraps
    EXPECT_THROW(laid_out(wide, 1), JobError);
    Job several = job_of(2);
    several.apps.push_back({});
    several.apps[1].argv = {"other"};
    EXPECT_THROW(laid_out(several, 1), JobError);
}

TEST(LauncherJob, ProgramsFollowEachOther) {
    Job two = job_of(2);
    two.apps.push_back(two.apps[0]);
    two.apps[1].ranks = 3;
    const Job job = laid_out(two, 1);
    EXPECT_EQ(job.apps[1].first_rank, 2u);
    EXPECT_EQ(job.places[4].app, 1u);
}

}  // namespace
}  // namespace muster::launcher
