// SPDX-License-Identifier: BSD-3-Clause
// Registering jobs: arrays and maps, derived values, contradictions, hostile input.
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "framework/base/compress.hpp"
#include "framework/preg/regex2.hpp"
#include "tests/covers.hpp"
#include "tests/unit/components/gds/store_fixture.hpp"

namespace muster {
namespace {

using Register = StoreTest;

constexpr char kNoSuchKey[] = "error -46";

TEST_F(Register, JobLevelDataIsDerivedFromTheMaps) {
    covers("SRV-19");
    ASSERT_TRUE(add(maps("alpha,beta,gamma", "0-1;2,4;3")));
    EXPECT_EQ(get(PMIX_JOB_SIZE), "u5");
    EXPECT_EQ(get(PMIX_MAX_PROCS), "u5");
    EXPECT_EQ(get(PMIX_UNIV_SIZE), "u5");
    EXPECT_EQ(get(PMIX_NUM_NODES), "u3");
    EXPECT_EQ(get(PMIX_NODE_LIST), "salpha,beta,gamma");
    EXPECT_EQ(get(PMIX_JOB_NUM_APPS), "u1");
    EXPECT_EQ(get(PMIX_PROC_MAP_RAW), "s0,1;2,4;3");
    EXPECT_EQ(get(PMIX_NODE_MAP_RAW), "salpha,beta,gamma");
    EXPECT_EQ(get(PMIX_NODE_MAP), "salpha,beta,gamma");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0,1");
    EXPECT_EQ(get(PMIX_LOCAL_SIZE), "u2");
    EXPECT_EQ(get(PMIX_LOCALLDR), "r0");
    EXPECT_EQ(get(PMIX_LOCAL_PROCS), "[job:0 job:1]");
    EXPECT_EQ(get(PMIX_NODE_SIZE), "u2");
    EXPECT_EQ(get(PMIX_APP_SIZE), "u5");
    EXPECT_EQ(get(PMIX_APPLDR), "r0");
    EXPECT_EQ(get(PMIX_NSPACE), "sjob");
}

TEST_F(Register, ProcessDataIsDerivedFromTheMaps) {
    covers("SRV-19");
    ASSERT_TRUE(add(maps("alpha,beta,gamma", "0-1;2,4;3")));
    EXPECT_EQ(of_rank(4, PMIX_HOSTNAME), "sbeta");
    EXPECT_EQ(of_rank(4, PMIX_NODEID), "u1");
    EXPECT_EQ(of_rank(4, PMIX_LOCAL_RANK), "h1");
    EXPECT_EQ(of_rank(4, PMIX_NODE_RANK), "h1");
    EXPECT_EQ(of_rank(4, PMIX_APPNUM), "u0");
    EXPECT_EQ(of_rank(4, PMIX_APP_RANK), "r4");
    EXPECT_EQ(of_rank(4, PMIX_RANK), "r4");
    EXPECT_EQ(of_rank(4, PMIX_PROCID), "pjob:4");
    EXPECT_EQ(of_rank(5, PMIX_HOSTNAME), kNoSuchKey);
    EXPECT_EQ(of_rank(5, PMIX_LOCAL_RANK), kNoSuchKey);
    EXPECT_EQ(of_rank(4, PMIX_JOB_SIZE), "u5") << "job-level keys are the job's, whatever the rank";
    EXPECT_EQ(of_rank(4, PMIX_GLOBAL_RANK), kNoSuchKey) << "nothing says where the job starts in the session";
}

TEST_F(Register, NodeRanksSpanTheJobsOfANode) {
    covers("SRV-19");
    ASSERT_TRUE(add(maps("alpha,beta", "0-2;3"), 0, "first"));
    Info second = maps("beta,alpha,gamma", "0,2;1,4;3");
    add_array(second, PMIX_PROC_INFO_ARRAY, PMIX_RANK, uint32_t{4}, PMIX_NODE_RANK, uint16_t{9});
    ASSERT_TRUE(add(second, 0, "second"));
    const auto node_rank = [&](pmix_rank_t rank) {
        return get(PMIX_NODE_RANK, {.nspace = "second", .rank = rank});
    };
    EXPECT_EQ(node_rank(0), "h1") << "behind the one of the first job on beta";
    EXPECT_EQ(node_rank(2), "h2");
    EXPECT_EQ(node_rank(1), "h3");
    EXPECT_EQ(node_rank(4), "h9") << "as the host says";
    EXPECT_EQ(node_rank(3), "h0");
    EXPECT_EQ(get(PMIX_LOCAL_RANK, {.nspace = "second", .rank = 2}), "h1");
    EXPECT_EQ(get(PMIX_NODE_RANK, {.nspace = "first", .rank = 2}), "h2") << "a snapshot";
}

TEST_F(Register, ArraysOfProcessesMayDifferFromOneToTheNext) {
    // The infos of keys are cached from one process to the next by their position in the array.
    Info info = maps("alpha,beta", "0-39;40-79", 80);
    for (uint32_t rank = 0; rank < 80; ++rank) {
        const auto own = static_cast<uint16_t>(rank % 40 + 100);
        const std::string text = std::to_string(rank);
        switch (rank % 4) {
            case 0:
                add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(rank), PMIX_LOCAL_RANK, own);
                break;
            case 1:  // the same begin and end as a reserved key, or longer than one
                add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(rank), "pmix.lrank2",
                          text.c_str(), "pmix.lra", text.c_str());
                break;
            case 2:
                add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_LOCAL_RANK, own, PMIX_RANK, Value::rank(rank),
                          "pmix.lrank", own, "k", text.c_str());
                break;
            default:
                add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_CPUSET, text.c_str(), PMIX_PROCID,
                          make_proc("job", rank), PMIX_NODE_RANK, own);
                break;
        }
    }
    ASSERT_TRUE(add(info));
    for (const pmix_rank_t rank : {0u, 16u, 20u, 76u})
        EXPECT_EQ(of_rank(rank, PMIX_LOCAL_RANK), "h" + std::to_string(rank % 40 + 100));
    EXPECT_EQ(of_rank(41, PMIX_LOCAL_RANK), "h1");
    EXPECT_EQ(of_rank(41, "pmix.lrank2"), "s41");
    EXPECT_EQ(of_rank(41, "pmix.lra"), "s41");
    EXPECT_EQ(of_rank(42, PMIX_LOCAL_RANK), "h102");
    EXPECT_EQ(of_rank(42, "k"), "s42");
    EXPECT_EQ(of_rank(79, PMIX_NODE_RANK), "h139");
    EXPECT_EQ(of_rank(79, PMIX_CPUSET), "s79");
    EXPECT_EQ(of_rank(79, PMIX_LOCAL_RANK), "h39");
}

TEST_F(Register, MapsInAllForms) {
    const struct {
        const char *nodes, *procs;
    } forms[] = {{"alpha1,alpha2,beta", "0-1;2-3;4"},
                 {"raw:alpha1,alpha2,beta", "raw:0,1;2,3;4"},
                 {"pmix:alpha[1-2],beta", "pmix:2x(1)@0+2;4"},
                 {"pmix[alpha[1:1-2],beta]", "pmix[0-1;2-3;4]"}};
    for (const auto& form : forms) {
        ASSERT_TRUE(add(maps(form.nodes, form.procs), 0, form.nodes)) << form.nodes;
        EXPECT_EQ(get(PMIX_NODE_LIST, {.nspace = form.nodes}), "salpha1,alpha2,beta");
        EXPECT_EQ(get(PMIX_PROC_MAP_RAW, {.nspace = form.nodes}), "s0,1;2,3;4");
    }
    std::string names, ranks;
    for (int i = 0; i < 2000; ++i) {
        names += (i != 0 ? ",n" : "n") + std::to_string((i * 7919) % 100003);
        ranks += (i != 0 ? ";" : "") + std::to_string((i * 7) % 2000);
    }
    Bytes nodes, procs;
    ASSERT_EQ(pregs_.compress().generate_nodes(names, nodes), PMIX_SUCCESS);
    ASSERT_EQ(pregs_.compress().generate_ppn(ranks, procs), PMIX_SUCCESS);
    Info info;
    info.add(PMIX_NODE_MAP, nodes.data(), PMIX_REGEX);
    info.add(PMIX_PROC_MAP, procs.data(), PMIX_REGEX);
    ASSERT_TRUE(add(info, 0, "blob"));
    EXPECT_EQ(get(PMIX_JOB_SIZE, {.nspace = "blob"}), "u2000");
}

/// As OpenPMIx writes long lists.
void compress(pmix_regex2_t& regex) {
    Bytes block = *zlib_compress({regex.bytes, regex.len});
    std::free(regex.type);
    std::free(regex.bytes);
    regex.type = strdup("compress");
    regex.len = block.size();
    regex.bytes = block.release();
}

TEST_F(Register, MapsAsEncodedLists) {
    std::string names, ranks;
    for (int i = 0; i < 2000; ++i) {
        names += (i != 0 ? ",n" : "n") + std::to_string(i);
        ranks += (i != 0 ? ";" : "") + std::to_string(i);
    }
    for (const auto& [nodes, procs, size] :
         {std::tuple{std::string("alpha1,alpha2"), std::string("0,1;2"), "u3"},
          std::tuple{names, ranks, "u2000"}}) {
        pmix_regex2_t node_map = *generate_regex2(nodes), proc_map = *generate_regex2(procs);
        if (nodes == names) {
            compress(node_map);
            compress(proc_map);
        }
        Info info;
        info.add(PMIX_NODE_MAP, &node_map, PMIX_REGEX2);
        info.add(PMIX_PROC_MAP, &proc_map, PMIX_REGEX2);
        ASSERT_TRUE(add(info, 0, "job"));
        EXPECT_EQ(get(PMIX_JOB_SIZE, {.nspace = "job"}), size);
        EXPECT_EQ(get(PMIX_NODE_LIST, {.nspace = "job"}), "s" + nodes);
        store_->deregister("job");
        data_destruct_elements(&node_map, 1, PMIX_REGEX2);
        data_destruct_elements(&proc_map, 1, PMIX_REGEX2);
    }
}

TEST_F(Register, AMapCountsMoreThanASizeThatIsLess) {
    Info info = maps("alpha", "0,1,2");
    info.add(PMIX_JOB_SIZE, uint32_t{2});
    ASSERT_TRUE(add(info, 3));
    EXPECT_EQ(get(PMIX_JOB_SIZE), "u3");
    EXPECT_EQ(store_->job_size("job"), 3U);
    EXPECT_EQ(of_rank(2, PMIX_LOCAL_RANK), "h2");
}

TEST_F(Register, AnUpdateAddsToWhatIsKnown) {
    Info update;
    add_array(update, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), "site.port", "4711", PMIX_CPUSET,
              "hwloc:0x2");
    update.add(PMIX_GROUP_CONTEXT_ID, size_t{12});
    // The first belongs to an unknown job.
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(add(update, -1));
        EXPECT_EQ(of_rank(1, "site.port"), "s4711");
        EXPECT_EQ(of_rank(1, PMIX_CPUSET), "shwloc:0x2");
        EXPECT_EQ(get(PMIX_GROUP_CONTEXT_ID), "type4");
        ASSERT_TRUE(add(maps("alpha", "0,1", 2), 2));
        EXPECT_EQ(of_rank(1, PMIX_NODE_RANK), "h1");
        EXPECT_EQ(get(PMIX_LOCAL_SIZE), "u2");
    }
}

TEST_F(Register, AnAttributeWithANullPointerIsRefused) {
    Info info = maps("alpha1", "0");
    info.add(PMIX_PARENT_ID, nullptr, PMIX_PROC);
    EXPECT_FALSE(add(info, 0, "hollow"));
}

TEST_F(Register, ArraysAloneAreEnough) {
    covers("SRV-12");
    Info info;
    info.add(PMIX_JOB_SIZE, uint32_t{3});
    add_array(info, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", PMIX_NODEID, uint32_t{7}, PMIX_LOCAL_PEERS,
              "1,2", PMIX_LOCAL_SIZE, uint32_t{2}, PMIX_AVAIL_PHYS_MEMORY, Value::uint64(5));
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(0), PMIX_HOSTNAME, "alpha", PMIX_NODEID,
              uint32_t{4}, PMIX_LOCAL_RANK, uint16_t{0}, PMIX_GLOBAL_RANK, Value::rank(100), PMIX_CPUSET,
              "hwloc:0x1");
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), PMIX_GLOBAL_RANK, Value::rank(101),
              PMIX_LOCAL_RANK, uint16_t{9});
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(2), PMIX_GLOBAL_RANK, Value::rank(102));
    ASSERT_TRUE(add(info));
    EXPECT_EQ(of_rank(0, PMIX_HOSTNAME), "salpha");
    EXPECT_EQ(of_rank(0, PMIX_NODEID), "u4");
    EXPECT_EQ(of_rank(2, PMIX_NODEID), "u7");
    EXPECT_EQ(of_rank(2, PMIX_HOSTNAME), "sbeta");
    EXPECT_EQ(of_rank(2, PMIX_LOCAL_RANK), "h1");
    EXPECT_EQ(of_rank(1, PMIX_LOCAL_RANK), "h9") << "what the host says counts";
    EXPECT_EQ(of_rank(2, PMIX_GLOBAL_RANK), "r102");
    EXPECT_EQ(of_rank(0, PMIX_CPUSET), "shwloc:0x1");
    EXPECT_EQ(get(PMIX_LOCAL_SIZE, {.realm = Lookup::Realm::Node, .nodeid = 7}), "u2");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.realm = Lookup::Realm::Node, .hostname = "beta"}), "s1,2");
    EXPECT_EQ(get(PMIX_AVAIL_PHYS_MEMORY, Ask{"job", 2, Lookup::Realm::Node}), "type15");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0");
}

TEST_F(Register, SeveralApplications) {
    covers("SRV-13");
    Info info = maps("alpha,beta", "0-2;3-5", 6);
    info.add(PMIX_JOB_NUM_APPS, uint32_t{2});
    add_array(info, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, uint32_t{0}, PMIX_APP_SIZE, uint32_t{2}, PMIX_APPLDR,
              Value::rank(0), PMIX_WDIR, "/a");
    add_array(info, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, uint32_t{1}, PMIX_APP_SIZE, uint32_t{4}, PMIX_APPLDR,
              Value::rank(2), PMIX_WDIR, "/b");
    ASSERT_TRUE(add(info));
    EXPECT_EQ(of_rank(1, PMIX_APPNUM), "u0");
    EXPECT_EQ(of_rank(2, PMIX_APPNUM), "u1");
    EXPECT_EQ(of_rank(5, PMIX_APP_RANK), "r3");
    EXPECT_EQ(of_rank(5, PMIX_WDIR), "s/b");
    EXPECT_EQ(get(PMIX_WDIR, {.appnum = 0}), "s/a");
    EXPECT_EQ(get(PMIX_APP_SIZE, {.realm = Lookup::Realm::App, .appnum = 1}), "u4");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.realm = Lookup::Realm::App, .appnum = 0}), "u1");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.realm = Lookup::Realm::App, .appnum = 1}), "u2");
    EXPECT_EQ(get(PMIX_NODE_LIST, {.realm = Lookup::Realm::App, .appnum = 0}), "salpha");
    EXPECT_EQ(get(PMIX_LOCAL_SIZE, {.realm = Lookup::Realm::App, .appnum = 1}), "u1");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.realm = Lookup::Realm::App, .appnum = 0}), "s0,1");
    EXPECT_EQ(get(PMIX_APP_SIZE, {.appnum = 2}), kNoSuchKey);
}

TEST_F(Register, NodeDataIsKeptPerApplication) {
    covers("SRV-13");
    const auto of_app = [](uint32_t app, const char* size, const char* node, const char* peers,
                           uint32_t count) {
        Info info = entries(PMIX_APPNUM, app, PMIX_WDIR, size);
        add_array(info, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, node, PMIX_LOCAL_PEERS, peers, PMIX_LOCAL_SIZE,
                  count, PMIX_AVAIL_PHYS_MEMORY, Value::uint64(5));
        return info;
    };
    Info info = maps("alpha,beta", "0-2;3-5", 6);
    info.add(PMIX_JOB_NUM_APPS, uint32_t{2});
    info.add(PMIX_APP_INFO_ARRAY, of_app(0, "/a", "alpha", "0,1", 2).to_value());
    info.add(PMIX_APP_INFO_ARRAY, of_app(1, "/b", "alpha", "2", 1).to_value());
    info.add(PMIX_APP_INFO_ARRAY, of_app(1, "/b", "beta", "3,4,5", 3).to_value());
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get(PMIX_LOCAL_SIZE), "u3");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0,1,2");
    const auto of = [&](const char* key, uint32_t app, const char* node) {
        return get(key, {.realm = Lookup::Realm::App, .appnum = app, .hostname = node});
    };
    EXPECT_EQ(of(PMIX_LOCAL_SIZE, 0, "alpha"), "u2");
    EXPECT_EQ(of(PMIX_LOCAL_SIZE, 1, "alpha"), "u1");
    EXPECT_EQ(of(PMIX_LOCAL_PEERS, 1, "beta"), "s3,4,5");
    EXPECT_EQ(of_rank(2, PMIX_APPNUM), "u1");
    EXPECT_EQ(get(PMIX_AVAIL_PHYS_MEMORY, {.realm = Lookup::Realm::Node, .hostname = "beta"}), "type15");
}

}  // namespace
}  // namespace muster
