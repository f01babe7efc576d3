// SPDX-License-Identifier: BSD-3-Clause
// The order in which a store searches the realms.
#include "framework/gds/realm_search.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

/// A store with a value in only one realm; it records the realms of the lookups.
class Asked : private RealmSearch<Asked, bool> {
  public:
    Lookup question;
    std::string has;
    bool job_known = true, node_known = true;

    std::string search(const char* key) {
        order_.clear();
        reserved(key_info(key));
        return order_;
    }

  private:
    friend RealmSearch;
    bool at(const char* place) {
        order_ += (order_.empty() ? "" : " ") + std::string(place);
        return has == place;
    }
    const Lookup& lookup() const { return question; }
    bool session(const KeyInfo&) { return at("session"); }
    bool job(const KeyInfo&) { return at("job"); }
    bool app(const KeyInfo&) { return at("app"); }
    bool node(const KeyInfo&, bool of_rank) { return at(of_rank ? "rank's-node" : "node"); }
    bool host_proc() { return at("host-proc"); }
    bool host_job(const KeyInfo&) { return at("host-job"); }
    bool host_own_node() { return at("own-node"); }
    bool derived_proc(const KeyInfo&) { return at("derived-proc"); }
    bool posted() { return at("posted"); }
    bool knows_job() const { return job_known; }
    bool knows_node() const { return node_known; }

    std::string order_;
};

TEST(RealmSearch, LooksWhereTheKeyBelongs) {
    Asked store;
    store.question.rank = 3;
    EXPECT_EQ(store.search(PMIX_UNIV_SIZE), "session host-job");
    EXPECT_EQ(store.search(PMIX_JOB_SIZE), "job");
    EXPECT_EQ(store.search(PMIX_APP_SIZE), "app");
    EXPECT_EQ(store.search(PMIX_LOCAL_SIZE), "host-proc node posted");
    EXPECT_EQ(store.search(PMIX_HOSTNAME), "host-proc rank's-node posted");
    EXPECT_EQ(store.search(PMIX_LOCAL_RANK), "host-proc derived-proc posted host-job");
    EXPECT_EQ(store.search("pmix.unheard"), "host-proc posted job session own-node");
}

TEST(RealmSearch, EndsWhereTheValueIs) {
    Asked store;
    store.question.rank = 3;
    store.has = "posted";
    EXPECT_EQ(store.search(PMIX_LOCAL_RANK), "host-proc derived-proc posted");
    store.has = "job";
    EXPECT_EQ(store.search("pmix.unheard"), "host-proc posted job");
}

TEST(RealmSearch, FollowsTheRealmThatTheCallerNames) {
    Asked store;
    store.question.rank = 3;
    store.question.realm = Lookup::Realm::Node;
    EXPECT_EQ(store.search(PMIX_JOB_SIZE), "rank's-node");
    store.question.realm = Lookup::Realm::Proc;
    EXPECT_EQ(store.search(PMIX_JOB_SIZE), "host-proc derived-proc posted host-job");
    store.question.realm = Lookup::Realm::Auto;
    store.question.nodeid = 0;
    EXPECT_EQ(store.search(PMIX_HOSTNAME), "rank's-node");
}

TEST(RealmSearch, AsksTheJobForAllProcesses) {
    Asked store;
    store.question.rank = PMIX_RANK_WILDCARD;
    EXPECT_EQ(store.search(PMIX_LOCAL_RANK), "job");
    store.job_known = false;
    EXPECT_EQ(store.search(PMIX_LOCAL_RANK), "");
}

TEST(RealmSearch, TakesAProcessOfAnUnknownNodeAtItsWord) {
    Asked store;
    store.question.rank = 3;
    store.node_known = false;
    EXPECT_EQ(store.search(PMIX_HOSTNAME), "host-proc posted");
    EXPECT_EQ(store.search(PMIX_LOCAL_SIZE), "host-proc node posted");
}

}  // namespace
}  // namespace muster
