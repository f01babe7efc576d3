// SPDX-License-Identifier: BSD-3-Clause
// Laying a job out over nodes.
#include "tools/muster/jobs/job.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::launcher {
namespace {

Options options(unsigned ranks, unsigned nodes, MapPolicy map = {}) {
    Options made;
    made.apps.emplace_back();
    made.apps[0].ranks = ranks;
    made.apps[0].argv = {"prog"};
    made.nodes = nodes;
    made.map = std::move(map);
    return made;
}

Job lay_out(const Options& options) {
    return make_job(options, "job", node_names(options.nodes, "here"));
}

TEST(LauncherJob, EveryRankHasANodeAndALocalRank) {
    covers("SRV-22");
    for (unsigned nodes : {1u, 2u, 3u, 7u}) {
        for (unsigned ranks : {1u, 2u, 8u, 65u}) {
            const Job job = lay_out(options(ranks, nodes));
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

TEST(LauncherJob, SlotsFillBlocksAndNodesTakeTurns) {
    const Job blocks = lay_out(options(4, 2));
    EXPECT_EQ(blocks.ranks_on(0), (std::vector<uint32_t>{0, 1}));
    MapPolicy by_node;
    by_node.level = Level::Node;
    const Job turns = lay_out(options(4, 2, by_node));
    EXPECT_EQ(turns.ranks_on(0), (std::vector<uint32_t>{0, 2}));
}

TEST(LauncherJob, SetsAreNotNamedLikeJobs) {
    covers("GRP-18");
    Options set = options(2, 1);
    for (const char* name : {"host-1", "host-1@1", "host-1@99"}) {
        set.apps[0].pset = name;
        EXPECT_THROW(make_job(set, "host-1@1", {"here"}), JobError) << name;
    }
    for (const char* name : {"host", "host-11", "ocean", ""}) {
        set.apps[0].pset = name;
        EXPECT_EQ(make_job(set, "host-1@1", {"here"}).apps[0].pset, name);
    }
}

TEST(LauncherJob, OneNodeHasTheHostsName) {
    EXPECT_EQ(lay_out(options(2, 1)).nodes, (std::vector<std::string>{"here"}));
    EXPECT_EQ(lay_out(options(2, 2)).nodes, (std::vector<std::string>{"node0", "node1"}));
}

TEST(LauncherJob, WhatDoesNotFitIsRefused) {
    MapPolicy two_each;
    two_each.level = Level::Node;
    two_each.per_resource = 2;
    EXPECT_EQ(lay_out(options(4, 2, two_each)).size(), 4u);
    EXPECT_THROW(lay_out(options(5, 2, two_each)), JobError);
    Options input = options(2, 1);
    input.input.rank = 2;
    EXPECT_THROW(lay_out(input), JobError);
    Options several = options(2, 1);
    several.apps.push_back({});
    several.apps[1].argv = {"other"};
    EXPECT_THROW(lay_out(several), JobError);
}

TEST(LauncherJob, ProgramsFollowEachOther) {
    Options two = options(2, 1);
    two.apps.push_back(two.apps[0]);
    two.apps[1].ranks = 3;
    const Job job = lay_out(two);
    EXPECT_EQ(job.apps[1].first_rank, 2u);
    EXPECT_EQ(job.places[4].app, 1u);
}

}  // namespace
}  // namespace muster::launcher
