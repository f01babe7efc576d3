// SPDX-License-Identifier: BSD-3-Clause
// Registrations that contradict themselves, are of wrong types, too large, too deep: refused with the name of
// the attribute, without any change.
#include "tests/covers.hpp"
#include "tests/unit/components/gds/store_fixture.hpp"

namespace muster {
namespace {

class Hostile : public StoreTest {
  protected:
    /// Registers an existing job again; expects a refusal that names `key`, and an unchanged job.
    void refused(const Info& info, pmix_status_t status, const char* key) {
        ASSERT_TRUE(add(maps("alpha,beta", "0-1;2", 3)));
        Info with;
        with.add("fresh", "x");  // first, so that a partial registration would be visible
        ASSERT_EQ(with.add_copies(info), PMIX_SUCCESS);
        for (const char* nspace : {"job", "new"}) {
            SCOPED_TRACE(nspace);
            const Result<void> result = add(with, 0, nspace);
            EXPECT_EQ(result.status(), status) << result.error().text;
            EXPECT_NE(result.error().text.find(key), std::string::npos) << result.error().text;
        }
        EXPECT_FALSE(store_->knows("new"));
        EXPECT_EQ(get("fresh"), "error -46");
        EXPECT_EQ(get(PMIX_JOB_SIZE), "u3");
        EXPECT_EQ(of_rank(2, PMIX_HOSTNAME), "sbeta");
        EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0,1");
    }
    static Info one(const char* key, Value value) {
        Info info;
        info.add(key, std::move(value));
        return info;
    }
    static Info array(const char* key, Info&& inside) { return one(key, std::move(inside).to_value()); }
};

TEST_F(Hostile, MapsThatContradictThemselves) {
    refused(maps("alpha,beta", "0;1;2"), PMIX_ERR_BAD_PARAM, PMIX_PROC_MAP);
    refused(maps("alpha,beta", "0"), PMIX_ERR_BAD_PARAM, PMIX_PROC_MAP);
    refused(maps("alpha,beta", "0-2;2-3"), PMIX_ERR_BAD_PARAM, PMIX_PROC_MAP);
    refused(maps("alpha", "0,0"), PMIX_ERR_BAD_PARAM, PMIX_PROC_MAP);
    refused(maps("alpha", "x"), PMIX_ERR_BAD_PARAM, PMIX_PROC_MAP);
    refused(maps("pmix:a[", "0"), PMIX_ERR_BAD_PARAM, PMIX_NODE_MAP);
    refused(maps("pmix[a[1:", "0"), PMIX_ERR_BAD_PARAM, PMIX_NODE_MAP);
    refused(maps("alpha", "0-4000000000"), PMIX_ERR_OUT_OF_RESOURCE, PMIX_PROC_MAP);
    refused(maps("alpha", "3000000000"), PMIX_ERR_OUT_OF_RESOURCE, PMIX_PROC_MAP);
    refused(maps("pmix:a[1-999999999]", "0"), PMIX_ERR_OUT_OF_RESOURCE, PMIX_NODE_MAP);
}

TEST_F(Hostile, ArraysThatContradictTheMaps) {
    const auto with = [](const char* key, Info&& inside) {
        Info info = maps("alpha,beta", "0-1;2");
        info.add(key, std::move(inside).to_value());
        return info;
    };
    refused(with(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, Value::rank(0), PMIX_HOSTNAME, "beta")),
            PMIX_ERR_BAD_PARAM, PMIX_HOSTNAME);
    refused(with(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "beta", PMIX_LOCAL_PEERS, "0,2")),
            PMIX_ERR_BAD_PARAM, PMIX_LOCAL_PEERS);
    refused(with(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "alpha", PMIX_LOCAL_PEERS, "0")),
            PMIX_ERR_BAD_PARAM, PMIX_LOCAL_PEERS);
    refused(with(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "beta", PMIX_LOCAL_SIZE, uint32_t{2})),
            PMIX_ERR_BAD_PARAM, PMIX_LOCAL_SIZE);
    Info loose = maps("alpha,beta", "0-1;2");
    loose.add(PMIX_LOCAL_SIZE, uint32_t{5});
    refused(loose, PMIX_ERR_BAD_PARAM, PMIX_LOCAL_SIZE);
    Info ids = maps("alpha,beta", "0-1;2");
    add_array(ids, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "alpha", PMIX_NODEID, uint32_t{4});
    add_array(ids, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", PMIX_NODEID, uint32_t{4});
    refused(ids, PMIX_ERR_BAD_PARAM, PMIX_NODE_INFO_ARRAY);
}

// Slurm registers each process with the server's own node.
TEST_F(Hostile, NodeIdsThatContradictTheMapsAreIgnored) {
    Info ids = maps("alpha,beta", "0-1;2");
    add_array(ids, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "alpha", PMIX_NODEID, uint32_t{4});
    add_array(ids, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(2), PMIX_NODEID, uint32_t{4});
    ASSERT_TRUE(add(ids));
    EXPECT_EQ(of_rank(2, PMIX_HOSTNAME), "sbeta");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0,1");
}

TEST_F(Hostile, WrongTypes) {
    for (const char* key : {PMIX_NODE_INFO_ARRAY, PMIX_APP_INFO_ARRAY, PMIX_PROC_INFO_ARRAY,
                            PMIX_JOB_INFO_ARRAY, PMIX_SESSION_INFO_ARRAY}) {
        refused(one(key, Value::from("text")), PMIX_ERR_TYPE_MISMATCH, key);
        refused(one(key, Value::from(7)), PMIX_ERR_TYPE_MISMATCH, key);
        const uint32_t numbers[] = {1, 2};
        refused(one(key, Value::array(numbers, 2, PMIX_UINT32)), PMIX_ERR_TYPE_MISMATCH, key);
        pmix_value_t null = {};
        null.type = PMIX_DATA_ARRAY;
        pmix_info_t raw = {};
        key_load(raw.key, key);
        raw.value = null;
        EXPECT_EQ(store_->register_job("job2", 0, {&raw, 1}).status(), PMIX_ERR_TYPE_MISMATCH);
        pmix_data_array_t lie = {PMIX_INFO, 5, nullptr};
        raw.value.data.darray = &lie;
        EXPECT_EQ(store_->register_job("job2", 0, {&raw, 1}).status(), PMIX_ERR_TYPE_MISMATCH);
        EXPECT_FALSE(store_->knows("job2"));
    }
    for (const char* key : {PMIX_JOB_SIZE, PMIX_NUM_NODES, PMIX_UNIV_SIZE, PMIX_MAX_PROCS, PMIX_JOB_NUM_APPS,
                            PMIX_NPROC_OFFSET, PMIX_SESSION_ID}) {
        refused(one(key, Value::from("text")), PMIX_ERR_TYPE_MISMATCH, key);
        refused(one(key, Value::from(-1)), PMIX_ERR_TYPE_MISMATCH, key);
    }
    for (const char* key : {PMIX_NODE_MAP, PMIX_PROC_MAP, PMIX_ANL_MAP, PMIX_LOCAL_PEERS}) {
        refused(one(key, Value::from(7)), PMIX_ERR_TYPE_MISMATCH, key);
    }
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, "zero")), PMIX_ERR_BAD_PARAM,
            PMIX_PROC_INFO_ARRAY);
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, Value::rank(0), PMIX_LOCAL_RANK, "x")),
            PMIX_ERR_TYPE_MISMATCH, PMIX_LOCAL_RANK);
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, Value::rank(0), PMIX_HOSTNAME, 3)),
            PMIX_ERR_TYPE_MISMATCH, PMIX_HOSTNAME);
    refused(array(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, 3)), PMIX_ERR_TYPE_MISMATCH,
            PMIX_NODE_INFO_ARRAY);
    refused(array(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "x", PMIX_HOSTNAME_ALIASES, 3)),
            PMIX_ERR_TYPE_MISMATCH, PMIX_HOSTNAME_ALIASES);
    refused(array(PMIX_APP_INFO_ARRAY, entries(PMIX_APPNUM, uint32_t{0}, PMIX_APP_SIZE, "x")),
            PMIX_ERR_TYPE_MISMATCH, PMIX_APP_SIZE);
}

TEST_F(Hostile, ArraysWithoutTheirSubject) {
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_HOSTNAME, "alpha")), PMIX_ERR_BAD_PARAM,
            PMIX_PROC_INFO_ARRAY);
    refused(array(PMIX_PROC_INFO_ARRAY, {}), PMIX_ERR_BAD_PARAM, PMIX_PROC_INFO_ARRAY);
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, Value::rank(PMIX_RANK_WILDCARD))),
            PMIX_ERR_BAD_PARAM, PMIX_PROC_INFO_ARRAY);
    refused(array(PMIX_PROC_INFO_ARRAY, entries(PMIX_RANK, Value::rank(0), PMIX_PROCID, make_proc("job", 1))),
            PMIX_ERR_BAD_PARAM, PMIX_PROC_INFO_ARRAY);
    refused(array(PMIX_NODE_INFO_ARRAY, entries(PMIX_LOCAL_SIZE, uint32_t{1})), PMIX_ERR_BAD_PARAM,
            PMIX_NODE_INFO_ARRAY);
    refused(array(PMIX_APP_INFO_ARRAY, entries(PMIX_WDIR, "/")), PMIX_ERR_BAD_PARAM, PMIX_APP_INFO_ARRAY);
    refused(array(PMIX_SESSION_INFO_ARRAY, entries(PMIX_UNIV_SIZE, uint32_t{1})), PMIX_ERR_BAD_PARAM,
            PMIX_SESSION_INFO_ARRAY);
    refused(one(PMIX_NSPACE, Value::from("other")), PMIX_ERR_BAD_PARAM, PMIX_NSPACE);
    refused(one(PMIX_QUALIFIED_VALUE, Value::from("x")), PMIX_ERR_BAD_PARAM, PMIX_QUALIFIED_VALUE);
    refused(one(PMIX_ANL_MAP, Value::from("(vector,(0,1,2)")), PMIX_ERR_BAD_PARAM, PMIX_ANL_MAP);
    refused(one(PMIX_ANL_MAP, Value::from("(vector,(0,999999999,999999999))")), PMIX_ERR_OUT_OF_RESOURCE,
            PMIX_ANL_MAP);
    refused(one(PMIX_JOB_SIZE, Value::from(uint32_t{UINT32_MAX})), PMIX_ERR_OUT_OF_RESOURCE, PMIX_JOB_SIZE);
}

TEST_F(Hostile, NamesAndCounts) {
    covers("SRV-07");
    EXPECT_EQ(store_->register_job(nullptr, 0, {}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->register_job("", 0, {}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->register_job("job", -2, {}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->register_job("job", 0, {nullptr, 3}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_FALSE(store_->knows("job"));
    EXPECT_TRUE(store_->register_job("job", 4, {}));
    EXPECT_TRUE(store_->knows("job"));
    EXPECT_EQ(get(PMIX_LOCAL_SIZE), "u4") << "what the host said, where no map does";
    EXPECT_EQ(get(PMIX_JOB_SIZE), "error -46");
}

TEST_F(Hostile, NestedAHundredDeep) {
    for (const char* key : {PMIX_JOB_INFO_ARRAY, PMIX_SESSION_INFO_ARRAY, PMIX_PROC_INFO_ARRAY,
                            PMIX_NODE_INFO_ARRAY, PMIX_APP_INFO_ARRAY, "other.key"}) {
        SCOPED_TRACE(key);
        // Built by hand, because the copy functions refuse it too.
        pmix_info_t levels[100] = {};
        pmix_data_array_t arrays[100] = {};
        for (int i = 0; i < 100; ++i) {
            key_load(levels[i].key, key);
            if (i == 99) {
                levels[i].value.type = PMIX_BOOL;
                break;
            }
            arrays[i] = {PMIX_INFO, 1, &levels[i + 1]};
            levels[i].value.type = PMIX_DATA_ARRAY;
            levels[i].value.data.darray = &arrays[i];
        }
        const Result<void> result = store_->register_job("deep", 0, {levels, 1});
        EXPECT_EQ(result.status(), PMIX_ERR_BAD_PARAM) << result.error().text;
        EXPECT_FALSE(store_->knows("deep"));
        EXPECT_NE(store_->post(make_proc("deep", PMIX_RANK_WILDCARD), PMIX_GLOBAL, key, levels[0].value),
                  PMIX_SUCCESS);
        EXPECT_NE(store_->post(make_proc("deep", 0), PMIX_GLOBAL, "k", levels[0].value), PMIX_SUCCESS);
    }
}

TEST_F(Hostile, NoDataRegistersTheNamespaceOnly) {
    covers("SRV-08");
    Info info = maps("alpha", "0-1");
    info.add(PMIX_REGISTER_NODATA, true);
    ASSERT_TRUE(add(info));
    EXPECT_TRUE(store_->knows("job"));
    EXPECT_EQ(get(PMIX_JOB_SIZE), "error -46");
}

TEST_F(Hostile, DuplicatesAreReplacedAndRegisteringAgainAdds) {
    Info info = maps("alpha", "0-1");
    info.add("k", "first");
    info.add("k", "second");
    info.add(PMIX_NODE_MAP, "alpha,beta");
    info.add(PMIX_PROC_MAP, "0;1");
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get("k"), "ssecond");
    EXPECT_EQ(of_rank(1, PMIX_HOSTNAME), "sbeta");
    Info more;
    more.add("k", "third");
    more.add("j", "new");
    add_array(more, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), PMIX_CPUSET, "c");
    ASSERT_TRUE(add(more));
    EXPECT_EQ(get("k"), "sthird");
    EXPECT_EQ(get("j"), "snew");
    EXPECT_EQ(of_rank(1, PMIX_CPUSET), "sc");
    EXPECT_EQ(of_rank(1, PMIX_HOSTNAME), "sbeta") << "the maps of before still hold";
    ASSERT_TRUE(add(maps("beta,gamma,alpha", "0-2;3;4")));
    EXPECT_EQ(of_rank(1, PMIX_LOCAL_RANK), "h1");
    EXPECT_EQ(of_rank(4, PMIX_HOSTNAME), "salpha");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s4");
    EXPECT_EQ(of_rank(1, PMIX_CPUSET), "sc");
}

TEST_F(Hostile, HierarchiesOfArrays) {
    Info app = entries(PMIX_APPNUM, uint32_t{1}, PMIX_WDIR, "/one");
    add_array(app, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), PMIX_CPUSET, "c");
    Info job = maps("alpha,beta", "0;1");
    job.add(PMIX_APP_INFO_ARRAY, std::move(app).to_value());
    Info other = entries(PMIX_NSPACE, "second", PMIX_JOB_SIZE, uint32_t{9});
    Info session = entries(PMIX_SESSION_ID, uint32_t{4}, PMIX_RM_NAME, "rm");
    session.add(PMIX_JOB_INFO_ARRAY, std::move(job).to_value());
    session.add(PMIX_JOB_INFO_ARRAY, std::move(other).to_value());
    Info info;
    info.add(PMIX_SESSION_INFO_ARRAY, std::move(session).to_value());
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get(PMIX_RM_NAME), "srm");
    EXPECT_EQ(get(PMIX_JOB_SIZE), "u2");
    EXPECT_EQ(of_rank(1, PMIX_APPNUM), "u1");
    EXPECT_EQ(of_rank(1, PMIX_WDIR), "s/one");
    EXPECT_EQ(of_rank(1, PMIX_CPUSET), "sc");
    EXPECT_EQ(get(PMIX_JOB_SIZE, {.nspace = "second"}), "u9");
}

TEST_F(Hostile, ThisNodeIsFoundByItsPeersUnderAnotherName) {
    Info info = maps("cn-1,cn-2", "0-1;2-3");
    info.add(PMIX_LOCAL_PEERS, "2,3");
    info.add(PMIX_LOCAL_SIZE, uint32_t{2});
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s2,3");
    EXPECT_EQ(get(PMIX_HOSTNAME), "scn-2");
    EXPECT_EQ(store_->local_ranks("job"), (std::vector<pmix_rank_t>{2, 3}));
}

TEST_F(Hostile, AnlMapPlacesBlocks) {
    Info info;
    info.add(PMIX_NODE_MAP, "alpha,beta");
    info.add(PMIX_ANL_MAP, "(vector,(0,2,2),(1,1,1))");
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get(PMIX_PROC_MAP_RAW), "s0,1;2,3,4");
}

}  // namespace
}  // namespace muster
