// SPDX-License-Identifier: BSD-3-Clause
// Laying a job out over nodes.
#include "tools/muster/job.hpp"

#include <gtest/gtest.h>

namespace muster {
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

TEST(LauncherJob, SRV_22_every_rank_has_a_node_and_a_local_rank) {
    for (unsigned nodes : {1u, 2u, 3u, 7u}) {
        for (unsigned ranks : {1u, 2u, 8u, 65u}) {
            const Job job = make_job(options(ranks, nodes), "job", "here");
            ASSERT_EQ(job.size(), ranks);
            unsigned seen = 0;
            for (unsigned node = 0; node < job.nodes.size(); ++node) {
                const std::vector<uint32_t> on = job.ranks_on(node);
                EXPECT_FALSE(on.empty()) << "node " << node << " of " << nodes << " serves nobody";
                for (uint32_t i = 0; i < on.size(); ++i)
                    EXPECT_EQ(job.places[on[i]].local_rank, i);
                seen += static_cast<unsigned>(on.size());
            }
            EXPECT_EQ(seen, ranks);
        }
    }
}

TEST(LauncherJob, SlotsFillBlocksAndNodesTakeTurns) {
    const Job blocks = make_job(options(4, 2), "job", "here");
    EXPECT_EQ(blocks.ranks_on(0), (std::vector<uint32_t>{0, 1}));
    MapPolicy by_node;
    by_node.level = Level::Node;
    const Job turns = make_job(options(4, 2, by_node), "job", "here");
    EXPECT_EQ(turns.ranks_on(0), (std::vector<uint32_t>{0, 2}));
}

TEST(LauncherJob, OneNodeHasTheHostsName) {
    EXPECT_EQ(make_job(options(2, 1), "job", "here").nodes, (std::vector<std::string>{"here"}));
    EXPECT_EQ(make_job(options(2, 2), "job", "here").nodes, (std::vector<std::string>{"node0", "node1"}));
}

TEST(LauncherJob, WhatDoesNotFitIsRefused) {
    MapPolicy two_each;
    two_each.level = Level::Node;
    two_each.per_resource = 2;
    EXPECT_EQ(make_job(options(4, 2, two_each), "job", "here").size(), 4u);
    EXPECT_THROW(make_job(options(5, 2, two_each), "job", "here"), JobError);
    Options input = options(2, 1);
    input.input.rank = 2;
    EXPECT_THROW(make_job(input, "job", "here"), JobError);
    Options several = options(2, 1);
    several.apps.push_back({});
    several.apps[1].argv = {"other"};
    EXPECT_THROW(make_job(several, "job", "here"), JobError);
}

TEST(LauncherJob, ProgramsFollowEachOther) {
    Options two = options(2, 1);
    two.apps.push_back(two.apps[0]);
    two.apps[1].ranks = 3;
    const Job job = make_job(two, "job", "here");
    EXPECT_EQ(job.apps[1].first_rank, 2u);
    EXPECT_EQ(job.places[4].app, 1u);
}

}  // namespace
}  // namespace muster
