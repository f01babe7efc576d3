// SPDX-License-Identifier: BSD-3-Clause
// Placement of a job on nodes.
#include "tools/muster/jobs/job.hpp"
#include "tests/covers.hpp"
#include "tools/muster/jobs/job_data.hpp"
#include "tools/muster/jobs/topology.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

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

/// The nodes of the ranks, in order: "0012".
std::string nodes_by_rank(const Job& job) {
    std::string nodes;
    for (const Place& place : job.places)
        nodes += static_cast<char>('0' + place.node);
    return nodes;
}

std::string mapped(Job job, const std::vector<std::string>& hosts, unsigned nodes = 3) {
    job.apps[0].hosts = hosts;
    return nodes_by_rank(laid_out(std::move(job), nodes));
}

/// The message and status of a refused job.
std::pair<std::string, int32_t> refusal(Job job, unsigned nodes, const std::vector<uint32_t>& busy = {}) {
    try {
        lay_out(job, "job", node_names(nodes, "here"), busy);
    } catch (const JobError& error) {
        return {error.what(), error.code};
    }
    return {};
}

TEST(LauncherJob, NodesAreFilledInTheOrderInWhichTheyAreNamed) {
    EXPECT_EQ(mapped(job_of(6), {"node2:4", "node0:2"}), "222200");
    EXPECT_EQ(mapped(job_of(3), {"node2:4", "node0:2"}), "222");
    EXPECT_EQ(mapped(job_of(4), {"node2", "node1"}), "2211");
    EXPECT_EQ(mapped(job_of(5, "node"), {"node1:4", "node0:1"}), "10111");
    EXPECT_EQ(mapped(job_of(4, "ppr:2:node"), {"node1", "node0"}), "1100");
}

TEST(LauncherJob, ProcessesBeyondTheSlotsAreSpreadEvenly) {
    EXPECT_EQ(mapped(job_of(8), {"node0:4", "node1:2"}), "00000111");
    EXPECT_EQ(mapped(job_of(9), {"node0:1", "node1:1", "node2:1"}), "000111222");
    EXPECT_EQ(mapped(job_of(5, "node"), {"node0:1", "node1:1"}), "01010");
}

TEST(LauncherJob, SlotsAreTheNumberOfProcessesByDefault) {
    EXPECT_EQ(mapped(job_of(0), {"node1:3", "node0:2"}), "11100");
    EXPECT_EQ(mapped(job_of(0), {"node1", "node1", "node0:1"}), "110");
}

TEST(LauncherJob, FilesOfNodesGiveSlots) {
    char path[] = "/tmp/muster-hostfile-XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    const std::string text = "# all\nnode1 slots=2\n\nnode0   slots=1  # few\nnode2:1 port = 7\n";
    ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(fd);
    Job job = job_of(0);
    job.apps[0].hostfile = path;
    EXPECT_EQ(mapped(job, {}), "1102");
    EXPECT_EQ(mapped(job, {"node2:2", "node0"}), "22011");
    std::ofstream(path) << "node1 slots=many\n";
    EXPECT_THROW(mapped(job, {}), std::runtime_error);
    unlink(path);
    EXPECT_THROW(mapped(job, {}), JobError);
}

/// A hostfile for one job.
class Hostfile {
  public:
    explicit Hostfile(const std::string& text) {
        close(mkstemp(path_));
        std::ofstream(path_) << text;
    }
    Hostfile(const Hostfile&) = delete;
    Hostfile& operator=(const Hostfile&) = delete;
    ~Hostfile() { unlink(path_); }
    Job job(uint32_t ranks, const std::string& map_by = "slot") const {
        Job job = job_of(ranks, map_by);
        job.apps[0].hostfile = path_;
        return job;
    }
    /// The sentence without the name of the file.
    std::string refusal() const {
        try {
            mapped(job(1), {});
        } catch (const std::exception& error) {
            std::string text = error.what();
            if (const size_t at = text.find(path_); at != std::string::npos) text.erase(at, strlen(path_));
            return text;
        }
        return {};
    }

  private:
    char path_[32] = "/tmp/muster-hostfile-XXXXXX";
};

TEST(LauncherJob, MaxSlotsBoundsNodesBeyondTheirSlots) {
    const Hostfile file("node0 slots=1 max_slots=2\nnode1 slots = 2 max-slots = 3\nnode2 slots_max=1\n");
    EXPECT_EQ(mapped(file.job(3), {}), "011");
    EXPECT_EQ(mapped(file.job(6), {}), "001112");
    EXPECT_EQ(mapped(file.job(6, "node"), {}), "012101");
    EXPECT_EQ(mapped(file.job(6, "node"), {"node1:9", "node0:1"}), "102110");
    const auto [text, status] = refusal(file.job(7), 3);
    EXPECT_EQ(status, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_NE(
        text.find("7 processes, but max_slots leaves room for 6 on its nodes (node0: 2, node1: 3, node2: 1)"),
        std::string::npos)
        << text;
    // Processes of other jobs count, and so do those of a preceding program.
    EXPECT_EQ(refusal(file.job(5), 3, {1}).first, "");
    EXPECT_NE(refusal(file.job(6), 3, {1}).first.find("leaves room for 5"), std::string::npos);
    Job two = file.job(4);
    two.apps.push_back(two.apps[0]);
    EXPECT_EQ(refusal(two, 3).second, PMIX_ERR_OUT_OF_RESOURCE);
    two.apps[1].ranks = 2;
    EXPECT_EQ(refusal(two, 3).first, "");
    // A number of processes for each node.
    EXPECT_EQ(refusal(file.job(6, "ppr:2:node"), 3).second, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_NE(refusal(file.job(6, "ppr:2:node"), 3).first.find("node node2 than its max_slots=1"),
              std::string::npos);
    // A node without a bound takes the rest.
    const Hostfile open("node0 max_slots=1\nnode1 slots=1\n");
    EXPECT_EQ(mapped(open.job(5), {}), "01111");
    EXPECT_EQ(mapped(open.job(5, "node"), {}), "01111");
}

TEST(LauncherJob, HostfilesAreChecked) {
    EXPECT_EQ(Hostfile("node0 slots=1\nnode1 max_slot=3\n").refusal(),
              "file of nodes '', line 2: unknown word 'max_slot=3'; valid are slots=N and max_slots=N");
    EXPECT_EQ(Hostfile("# one\n\nnode1 slots\n").refusal(),
              "file of nodes '', line 3: unknown word 'slots'; valid are slots=N and max_slots=N");
    EXPECT_EQ(Hostfile("node0 slots=4 max_slots=2\n").refusal(),
              "file of nodes '', line 1: host 'node0' has 4 slots, but max_slots=2; give it no more slots "
              "than that");
    EXPECT_TRUE(Hostfile("node0 max_slots=x\n").refusal().starts_with("file of nodes '', line 1: max_slots"));
    EXPECT_TRUE(Hostfile("node0 slots=0\n").refusal().starts_with("file of nodes '', line 1: slots"));
    EXPECT_TRUE(Hostfile("node0:x\n").refusal().starts_with("file of nodes '', line 1: the slots of host"));
    EXPECT_EQ(Hostfile("node0 username=me port=22 cores-per-socket=4 count=1 cpu_max=2\n").refusal(), "");
}

TEST(LauncherJob, MapsInArgonneNotation) {
    const auto anl = [](uint32_t ranks, const std::string& map_by, uint32_t nodes) {
        return anl_map(laid_out(job_of(ranks, map_by), nodes));
    };
    EXPECT_EQ(anl(4, "slot", 2), "(vector,(0,2,2))");
    EXPECT_EQ(anl(3, "slot", 2), "(vector,(0,1,2),(1,1,1))");
    EXPECT_EQ(anl(4, "node", 2), "(vector,(0,2,1),(0,2,1))");
    EXPECT_EQ(anl(3, "slot", 1), "(vector,(0,1,3))");
}

TEST(LauncherJob, HostsAreChecked) {
    EXPECT_THROW(mapped(job_of(1), {"moon"}), JobError);
    EXPECT_THROW(mapped(job_of(1), {"node0:"}), std::runtime_error);
    EXPECT_THROW(mapped(job_of(1), {"node0:0"}), std::runtime_error);
    EXPECT_EQ(mapped(job_of(2), {"localhost:2"}, 1), "00");
}

TEST(LauncherJob, RefusesToOversubscribeWhereThatIsForbidden) {
    Job job = job_of(6);
    job.no_oversubscribe = true;
    job.apps[0].hosts = {"node1:4", "node0:2"};
    EXPECT_EQ(nodes_by_rank(laid_out(job, 2)), "111100");
    job.apps[0].ranks = 7;
    const auto [text, status] = refusal(job, 2);
    EXPECT_EQ(status, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_NE(text.find("7 processes, but its nodes have 6 slots (node1: 4, node0: 2)"), std::string::npos)
        << text;
    // Another job has some of them.
    job.apps[0].ranks = 4;
    EXPECT_EQ(refusal(job, 2, {0, 2}).first, "");
    EXPECT_NE(refusal(job, 2, {0, 3}).first.find("3 of them in use"), std::string::npos);
    // A node may have too few of them although all nodes together have enough.
    job.map_by = "ppr:3:node";
    EXPECT_EQ(refusal(job, 2).second, PMIX_SUCCESS);
    job.apps[0].ranks = 6;
    EXPECT_EQ(refusal(job, 2).second, PMIX_ERR_OUT_OF_RESOURCE);
    // As a modifier of the mapping.
    Job other = job_of(3, "slot:nooversubscribe");
    other.apps[0].hosts = {"node0:2"};
    EXPECT_EQ(refusal(other, 1).second, PMIX_ERR_JOB_FAILED_TO_MAP);  // no such node
    other.apps[0].hosts = {"here:2"};
    EXPECT_EQ(refusal(other, 1).second, PMIX_ERR_OUT_OF_RESOURCE);
}

TEST(LauncherJob, ANodeHasAsManySlotsAsCores) {
    Job job = job_of(0);
    const uint32_t cores = laid_out(job, 1).size();
    job.no_oversubscribe = true;
    job.apps[0].ranks = 2 * cores;
    EXPECT_EQ(refusal(job, 2).second, PMIX_SUCCESS);
    EXPECT_EQ(refusal(job, 1).second, PMIX_ERR_OUT_OF_RESOURCE);
    job.apps[0].ranks = cores + 1;
    EXPECT_EQ(refusal(job, 2, {cores - 1, 0}).second, PMIX_SUCCESS);
    EXPECT_EQ(refusal(job, 2, {cores, 0}).second, PMIX_ERR_OUT_OF_RESOURCE);
}

TEST(LauncherJob, ProgramsOfAJobShareTheSlots) {
    Job job = job_of(2);
    job.apps[0].hosts = {"node0:3", "node1:2"};
    job.apps.push_back(job.apps[0]);
    EXPECT_EQ(nodes_by_rank(laid_out(job, 2)), "0001");
}

TEST(LauncherJob, RanksAreNumberedByTheRankingPolicy) {
    const auto ranked = [](const std::string& map_by, const std::string& rank_by,
                           const std::vector<std::string>& hosts = {}) {
        Job job = job_of(5, map_by);
        job.rank_by = rank_by;
        return mapped(job, hosts, 2);
    };
    EXPECT_EQ(ranked("slot", ""), "00011");
    EXPECT_EQ(ranked("node", ""), "01010");
    EXPECT_EQ(ranked("slot", "node"), "01010");
    EXPECT_EQ(ranked("node", "slot"), "00011");
    EXPECT_EQ(ranked("node", "FILL"), "00011");
    EXPECT_EQ(ranked("slot", "span"), "01010");
    EXPECT_EQ(ranked("slot", "node", {"node1:3", "node0:2"}), "10101");
    EXPECT_EQ(ranked("slot", "slot", {"node1:3", "node0:2"}), "11100");
    EXPECT_THROW(ranked("slot", "moon"), std::runtime_error);
    // Each program has its own ranks.
    Job two = job_of(4);
    two.rank_by = "node";
    two.apps.push_back(two.apps[0]);
    const Job job = laid_out(two, 2);
    EXPECT_EQ(nodes_by_rank(job).size(), 8U);
    EXPECT_EQ(job.places[3].app, 0U);
    EXPECT_EQ(job.places[4].app, 1U);
    for (const uint32_t node : job.used_nodes()) {
        const std::vector<uint32_t> on = job.ranks_on(node);
        for (uint32_t i = 0; i < on.size(); ++i)
            EXPECT_EQ(job.places[on[i]].local_rank, i);
    }
}

TEST(LauncherJob, RanksFillOrSpanTheObjectsThatTheyAreMappedTo) {
    if (Topology().count(Level::Hwthread) < 2) GTEST_SKIP() << "one processor";
    Job job = job_of(4, "hwthread");
    job.bind_to = "hwthread:overload-allowed";
    std::vector<unsigned> two = laid_out(job, 1).places[0].cpus;  // two processors
    two.push_back(laid_out(job, 1).places[1].cpus[0]);
    job.cpu_list = fmt::format("{},{}", two[0], two[1]);
    const auto cpus = [&](const std::string& rank_by, unsigned nodes) {
        job.rank_by = rank_by;
        std::string places;
        for (const Place& place : laid_out(job, nodes).places)
            places += fmt::format("{}{} ", place.node == 0 ? "a" : "b", place.cpus[0] == two[0] ? 0 : 1);
        return places;
    };
    EXPECT_EQ(cpus("slot", 1), "a0 a1 a0 a1 ");
    EXPECT_EQ(cpus("fill", 1), "a0 a0 a1 a1 ");
    job.apps[0].ranks = 8;
    EXPECT_EQ(cpus("fill", 2), "a0 a0 a1 a1 b0 b0 b1 b1 ");
    EXPECT_EQ(cpus("span", 2), "a0 a1 b0 b1 a0 a1 b0 b1 ");
    EXPECT_EQ(cpus("node", 2), "a0 b0 a1 b1 a0 b0 a1 b1 ");
}

TEST(LauncherJob, ProcessesUseTheProcessorsOfTheList) {
    Job job = job_of(2);
    job.bind_to = "hwthread:overload-allowed";
    const unsigned first = laid_out(job, 1).places[0].cpus.at(0);
    job.cpu_list = std::to_string(first);
    for (const Place& place : laid_out(job, 1).places)
        EXPECT_EQ(place.cpus, std::vector<unsigned>{first});
    // Slots are counted among them.
    job.bind_to = "none";
    job.no_oversubscribe = true;
    EXPECT_EQ(refusal(job, 1).second, PMIX_ERR_OUT_OF_RESOURCE);
    job.no_oversubscribe = false;
    for (const Place& place : laid_out(job, 1).places)
        EXPECT_EQ(place.cpus, std::vector<unsigned>{first});
    job.cpu_list = "60000";
    EXPECT_EQ(refusal(job, 1).second, PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(read_cpu_list("3,0-2,1"), (std::vector<unsigned>{0, 1, 2, 3}));
    EXPECT_TRUE(read_cpu_list("").empty());
    for (const char* wrong : {"a", "1-", "-1", "2-1", "1,,2", "1-2-3", "99999999"})
        EXPECT_THROW(read_cpu_list(wrong), std::runtime_error) << wrong;
}

TEST(LauncherJob, AddedNodesAreThoseOfTheRun) {
    Job job = job_of(4);
    job.apps[0].hosts = {"node1:1"};
    job.apps[0].added_hosts = {"node0:3"};
    EXPECT_EQ(nodes_by_rank(laid_out(job, 3)), "1000");
    job.apps[0].hosts.clear();
    EXPECT_EQ(laid_out(job, 3).places[0].node, 0U);
    job.apps[0].added_hosts = {"moon"};
    const auto [text, status] = refusal(job, 3);
    EXPECT_EQ(status, PMIX_ERR_JOB_ALLOC_FAILED);
    EXPECT_NE(text.find("there is no node 'moon'; the nodes are node0, node1, node2"), std::string::npos)
        << text;
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
    wide.apps.resize(3, wide.apps[0]);  // together so many that the count overflows
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
