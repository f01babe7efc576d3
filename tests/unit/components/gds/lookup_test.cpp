// SPDX-License-Identifier: BSD-3-Clause
// Posting and looking up: realms, scopes, qualifiers, pointers, resources, peers and nodes.
#include <set>
#include <sstream>

#include "tests/covers.hpp"
#include "tests/unit/components/gds/store_fixture.hpp"

namespace muster {
namespace {

using Realm = Lookup::Realm;
const std::string kNotFound = "error " + std::to_string(PMIX_ERR_NOT_FOUND);
const std::string kOutside = "error " + std::to_string(PMIX_ERR_EXISTS_OUTSIDE_SCOPE);

class Lookups : public StoreTest {
  protected:
    pmix_status_t post(pmix_rank_t rank, pmix_scope_t scope, const char* key, const char* text) {
        return store_->post(make_proc("job", rank), scope, key, *Value::from(text).get());
    }
    std::set<std::string> posted(pmix_rank_t rank, View view) {
        std::set<std::string> out;
        store_->find_posted(make_proc("job", rank), view, [&](const Found& found) {
            EXPECT_TRUE(out.insert(std::string(found.key) + "=" + text_of(found.value)).second);
        });
        return out;
    }
};

TEST_F(Lookups, PostedValuesByScope) {
    ASSERT_EQ(post(1, PMIX_LOCAL, "l", "local"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_REMOTE, "r", "remote"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_GLOBAL, "g", "global"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_INTERNAL, "i", "internal"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_LOCAL, "both", "near"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_REMOTE, "both", "far"), PMIX_SUCCESS);
    for (const char* key : {"l", "r", "g", "i"})
        EXPECT_EQ(of_rank(1, key)[0], 's') << key;
    EXPECT_EQ(get("l", {.rank = 1, .scope = PMIX_LOCAL}), "slocal");
    EXPECT_EQ(get("l", {.rank = 1, .scope = PMIX_REMOTE}), kOutside);
    EXPECT_EQ(get("r", {.rank = 1, .scope = PMIX_REMOTE}), "sremote");
    EXPECT_EQ(get("r", {.rank = 1, .scope = PMIX_LOCAL}), kOutside);
    EXPECT_EQ(get("g", {.rank = 1, .scope = PMIX_LOCAL}), "sglobal");
    EXPECT_EQ(get("g", {.rank = 1, .scope = PMIX_REMOTE}), "sglobal");
    EXPECT_EQ(get("i", {.rank = 1, .scope = PMIX_INTERNAL}), "sinternal");
    EXPECT_EQ(get("both", {.rank = 1, .scope = PMIX_LOCAL}), "snear");
    EXPECT_EQ(get("both", {.rank = 1, .scope = PMIX_REMOTE}), "sfar");
    EXPECT_EQ(get("none", {.rank = 1, .scope = PMIX_REMOTE}), kNotFound);
    EXPECT_EQ(posted(1, View::Local), (std::set<std::string>{"l=slocal", "g=sglobal", "both=snear"}));
    EXPECT_EQ(posted(1, View::Remote), (std::set<std::string>{"r=sremote", "g=sglobal", "both=sfar"}));
    EXPECT_EQ(posted(1, View::All), (std::set<std::string>{"l=slocal", "r=sremote", "g=sglobal",
                                                           "i=sinternal", "both=snear", "both=sfar"}));
    EXPECT_EQ(of_rank(2, "g"), kNotFound);
    EXPECT_EQ(get("g", {.rank = PMIX_RANK_UNDEF}), "sglobal");
    EXPECT_EQ(get("g", {.nspace = "other", .rank = 1}),
              "error " + std::to_string(PMIX_ERR_INVALID_NAMESPACE));
    EXPECT_EQ(store_->find_posted(make_proc("job", 2), View::All, {}), PMIX_ERR_NOT_FOUND);
    // The nodes of its processes are unknown; they do not count as local.
    for (const char* key :
         {PMIX_HOSTNAME, PMIX_NODEID, PMIX_HOSTNAME_ALIASES, PMIX_NODE_SIZE, PMIX_LOCAL_PROCS}) {
        for (const auto realm : {Lookup::Realm::Auto, Lookup::Realm::Node}) {
            EXPECT_EQ(get(key, {.nspace = "other", .rank = 2, .realm = realm}),
                      "error " + std::to_string(PMIX_ERR_INVALID_NAMESPACE))
                << key;
        }
    }
    EXPECT_EQ(store_->find_posted(make_proc("other", 2), View::All, {}), PMIX_ERR_INVALID_NAMESPACE);
}

TEST_F(Lookups, AValueKeepsItsAddressUntilItIsReplaced) {
    const auto address = [&](const char* key, Ask ask) {
        const void* at = nullptr;
        store_->find(lookup(key, ask),
                     [&](const Found& found) { at = found.stable ? &found.value : nullptr; });
        return at;
    };
    ASSERT_EQ(post(0, PMIX_LOCAL, "k", "value"), PMIX_SUCCESS);
    const void* const first = address("k", {.rank = 0});
    ASSERT_NE(first, nullptr);
    // A repeated commit, and the remote half of a global value, give the same value.
    ASSERT_EQ(post(0, PMIX_LOCAL, "k", "value"), PMIX_SUCCESS);
    ASSERT_EQ(post(0, PMIX_REMOTE, "k", "value"), PMIX_SUCCESS);
    EXPECT_EQ(address("k", {.rank = 0}), first);
    EXPECT_EQ(address("k", {.rank = 0, .scope = PMIX_REMOTE}), first);
    EXPECT_EQ(posted(0, View::All).size(), 1u);
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(post(0, PMIX_LOCAL, ("k" + std::to_string(i)).c_str(), "x"), PMIX_SUCCESS);
    EXPECT_EQ(address("k", {.rank = 0}), first);
    ASSERT_EQ(post(0, PMIX_GLOBAL, "k", "other"), PMIX_SUCCESS);
    EXPECT_EQ(of_rank(0, "k"), "sother");

    ASSERT_TRUE(add(maps("alpha", "0-1")));
    EXPECT_EQ(address(PMIX_HOSTNAME, {.rank = 1}), nullptr) << "derived: gone after the visit";
    const void* const pinned = address(PMIX_HOSTNAME, {.rank = 1, .pin = true});
    ASSERT_NE(pinned, nullptr);
    EXPECT_EQ(address(PMIX_HOSTNAME, {.rank = 1, .pin = true}), pinned);
    ASSERT_TRUE(add(maps("beta", "0-1")));
    EXPECT_EQ(get(PMIX_HOSTNAME, {.rank = 1, .pin = true}), "sbeta");
    EXPECT_STREQ(static_cast<const pmix_value_t*>(pinned)->data.string, "alpha") << "still readable";
}

TEST_F(Lookups, QualifiedValuesAreKeptBesideUnqualifiedOnes) {
    const auto qualified = [](const char* text, uint32_t qualifier) {
        return entries("k", text, "q", qualifier).to_value();
    };
    ASSERT_EQ(post(3, PMIX_GLOBAL, "k", "plain"), PMIX_SUCCESS);
    const auto post_qualified = [&](const Value& value) {
        return store_->post(make_proc("job", 3), PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, *value.get());
    };
    ASSERT_EQ(post_qualified(qualified("one", 1)), PMIX_SUCCESS);
    ASSERT_EQ(post_qualified(qualified("two", 2)), PMIX_SUCCESS);
    ASSERT_EQ(post_qualified(qualified("one again", 1)), PMIX_SUCCESS);
    const Info one = entries("q", uint32_t{1}), two = entries("q", uint32_t{2}),
               three = entries("q", uint32_t{3});
    EXPECT_EQ(of_rank(3, "k"), "splain");
    EXPECT_EQ(get("k", {.rank = 3, .qualifiers = one}), "sone again");
    EXPECT_EQ(get("k", {.rank = 3, .qualifiers = two}), "stwo");
    EXPECT_EQ(get("k", {.rank = 3, .qualifiers = three}), kNotFound);
    EXPECT_EQ(posted(3, View::Local).count("pmix.qual.val=[k=sone again q=u1 ]"), 1u);
    EXPECT_EQ(store_->post(make_proc("job", 3), PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, *Value::from("x").get()),
              PMIX_ERR_BAD_PARAM);
    // From the host, for the job and for a process.
    Info info;
    info.add(PMIX_QUALIFIED_VALUE, qualified("job", 1));
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(5), PMIX_QUALIFIED_VALUE,
              qualified("proc", 2));
    ASSERT_TRUE(add(info));
    EXPECT_EQ(get("k", {.qualifiers = one}), "sjob");
    EXPECT_EQ(get("k", {.rank = 5, .qualifiers = two}), "sproc");
}

TEST_F(Lookups, DataOfAProcessOutsideTheMapsIsFound) {
    // A tool stores data of a process of a job, key by key.
    const pmix_proc_t proc = make_proc("foreign", 3);
    const Value host = Value::from("beta");
    const Value size = Value::from(uint32_t{2});
    ASSERT_EQ(store_->post(proc, PMIX_GLOBAL, PMIX_HOSTNAME, *host), PMIX_SUCCESS);
    ASSERT_EQ(store_->post(proc, PMIX_GLOBAL, PMIX_LOCAL_SIZE, *size), PMIX_SUCCESS);
    for (const char* key : {PMIX_HOSTNAME, PMIX_LOCAL_SIZE}) {
        Lookup lookup;
        lookup.nspace = "foreign";
        lookup.rank = 3;
        lookup.key = key;
        EXPECT_EQ(store_->find(lookup, [](const Found&) {}), PMIX_SUCCESS) << key;
        lookup.rank = 4;
        EXPECT_NE(store_->find(lookup, [](const Found&) {}), PMIX_SUCCESS) << key;
    }
}

TEST_F(Lookups, PostRefusesInvalidProcessesAndKeys) {
    const Value value = Value::from("x");
    EXPECT_EQ(store_->post(make_proc("", 0), PMIX_GLOBAL, "k", *value.get()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->post(make_proc("job", 0), PMIX_GLOBAL, nullptr, *value.get()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->post(make_proc("job", 0), PMIX_GLOBAL, "", *value.get()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(store_->post(make_proc("job", PMIX_RANK_UNDEF), PMIX_GLOBAL, "k", *value.get()),
              PMIX_ERR_BAD_PARAM);
    EXPECT_FALSE(store_->knows("job"));
}

TEST_F(Lookups, JobLevelPostsTakeTheirRealm) {
    const pmix_proc_t all = make_proc("job", PMIX_RANK_WILDCARD);
    ASSERT_EQ(store_->post(all, PMIX_INTERNAL, PMIX_JOB_SIZE, *Value::from(2).get()), PMIX_SUCCESS);
    const Value node = entries(PMIX_HOSTNAME, "beta", PMIX_LOCAL_PEERS, "0,1").to_value();
    ASSERT_EQ(store_->post(all, PMIX_INTERNAL, PMIX_NODE_INFO_ARRAY, *node.get()), PMIX_SUCCESS);
    ASSERT_EQ(store_->post(all, PMIX_INTERNAL, "app.key", *Value::from("v").get()), PMIX_SUCCESS);
    EXPECT_EQ(get(PMIX_JOB_SIZE), "u2") << "kept in the Standard's type";
    EXPECT_EQ(of_rank(1, PMIX_HOSTNAME), "sbeta");
    EXPECT_EQ(get("app.key"), "sv");
    EXPECT_EQ(store_->job_size("job"), 2u);
    EXPECT_EQ(store_->post(all, PMIX_INTERNAL, PMIX_JOB_SIZE, *Value::from("many").get()),
              PMIX_ERR_TYPE_MISMATCH);
}

TEST_F(Lookups, NodesByNameAliasLabelAndId) {
    use_host(*store_, "alpha.cluster.org", {"login"}, 3);
    Info info = maps("alpha,beta.cluster.org,10.0.0.1", "0;1;2");
    add_array(info, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta.cluster.org", PMIX_HOSTNAME_ALIASES, "b,bb",
              PMIX_NODEID, uint32_t{8});
    ASSERT_TRUE(add(info));
    for (const char* name : {"beta.cluster.org", "b", "bb", "beta"}) {
        EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.hostname = name}), "s1") << name;
    }
    for (const char* name : {"alpha", "alpha.cluster.org", "login"}) {
        EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.hostname = name}), "s0") << name;
    }
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.hostname = "10"}), kNotFound);
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.hostname = "nowhere"}), kNotFound);
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.nodeid = 8}), "s1");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.nodeid = 77}), kNotFound);
    EXPECT_EQ(get(PMIX_HOSTNAME_ALIASES, {.hostname = "beta"}), "sb,bb");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.rank = 1}), "s0") << "of this node";
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.rank = 1, .realm = Realm::Node}), "s1")
        << "of the node of that process";
    EXPECT_EQ(get(PMIX_HOSTNAME), "salpha");
}

TEST_F(Lookups, SessionsAreSharedByTheirJobs) {
    const auto session = [](uint32_t id, uint32_t nodes) {
        Info info;
        add_array(info, PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, id, PMIX_NUM_NODES, nodes, PMIX_UNIV_SIZE,
                  uint32_t{64}, PMIX_RM_NAME, "rm");
        return info;
    };
    ASSERT_TRUE(add(session(7, 12), 0, "a"));
    Info second = maps("alpha", "0");
    second.add(PMIX_SESSION_ID, uint32_t{7});
    ASSERT_TRUE(add(second, 0, "b"));
    ASSERT_TRUE(add(session(8, 99), 0, "c"));
    for (const char* nspace : {"a", "b"}) {
        EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = nspace, .realm = Realm::Session}), "u12");
        EXPECT_EQ(get(PMIX_UNIV_SIZE, {.nspace = nspace}), "u64");
        EXPECT_EQ(get(PMIX_SESSION_ID, {.nspace = nspace}), "u7");
        EXPECT_EQ(get(PMIX_RM_NAME, {.nspace = nspace, .rank = 0}), "srm");
    }
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "b"}), "u1") << "the job's, without a realm";
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "b", .realm = Realm::Session, .session_id = 8}), "u99");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = nullptr, .realm = Realm::Session, .session_id = 8}), "u99");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "b", .realm = Realm::Session, .session_id = 9}), kNotFound);
    EXPECT_EQ(add(session(9, 1), 0, "b").status(), PMIX_ERR_BAD_PARAM) << "a job belongs to one session";
}

TEST_F(Lookups, NodesOfASessionAreTheUnionOverItsJobs) {
    const auto in_session = [](Info info, uint32_t id) {
        info.add(PMIX_SESSION_ID, id);
        return info;
    };
    ASSERT_TRUE(add(in_session(maps("alpha,beta", "0;1"), 7), 0, "a"));
    ASSERT_TRUE(add(in_session(maps("beta,gamma,delta", "0;1;"), 7), 0, "b"));
    ASSERT_TRUE(add(in_session(maps("omega", "0"), 8), 0, "c"));
    ASSERT_TRUE(add(maps("alpha", "0"), 0, "d"));
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "a", .realm = Realm::Session}), "u3");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "c", .realm = Realm::Session}), "u1");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "d", .realm = Realm::Session}), "u1");
    EXPECT_EQ(get(PMIX_NUM_NODES, {.nspace = "b"}), "u2") << "the job's, without a realm";
}

TEST_F(Lookups, ResourcesBelongToTheJobByDefault) {
    Info resources;
    resources.add(PMIX_CLUSTER_ID, "cluster");
    resources.add("site.key", "site");
    add_array(resources, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", PMIX_HOSTNAME_ALIASES, "bb",
              PMIX_AVAIL_PHYS_MEMORY, Value::uint64(9));
    ASSERT_TRUE(store_->register_resources(resources));
    Info info = maps("alpha,beta", "0;1");
    info.add("site.key", "mine");
    ASSERT_TRUE(add(info));
    ASSERT_TRUE(add(maps("alpha", "0"), 0, "plain"));
    EXPECT_EQ(get(PMIX_CLUSTER_ID), "scluster");
    EXPECT_EQ(get("site.key"), "smine");
    EXPECT_EQ(get("site.key", {.nspace = "plain"}), "ssite");
    EXPECT_EQ(get(PMIX_AVAIL_PHYS_MEMORY, {.hostname = "bb"}), "type15");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS, {.hostname = "bb"}), "s1");
    store_->deregister_resources(
        entries("site.key", "", PMIX_NODE_INFO_ARRAY,
                entries(PMIX_HOSTNAME, "beta", PMIX_AVAIL_PHYS_MEMORY, "").to_value()));
    EXPECT_EQ(get("site.key", {.nspace = "plain"}), kNotFound);
    EXPECT_EQ(get(PMIX_AVAIL_PHYS_MEMORY, {.hostname = "beta"}), kNotFound);
    EXPECT_EQ(get(PMIX_CLUSTER_ID), "scluster");
}

TEST_F(Lookups, QualifiersSelectTheResourcesThatGo) {
    const auto device = [](const char* name, const char* id) {
        return entries(PMIX_FABRIC_DEVICE_NAME, name, PMIX_DEVICE_ID, id).to_value();
    };
    const auto register_both = [&] {
        Info resources;
        for (const char* host : {"alpha", "beta"}) {
            const std::string id = std::string("id-") + host;
            add_array(
                resources, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, host, "site.rack", "r7", PMIX_FABRIC_DEVICES,
                entries(PMIX_FABRIC_DEVICE, device("ib0", id.c_str()), PMIX_FABRIC_DEVICE, device("ib1", "x"))
                    .to_value());
        }
        add_array(resources, "site.cards", "one", "1", "two", "2");
        ASSERT_TRUE(store_->register_resources(resources));
    };
    const auto of_node = [&](const char* key, const char* host) {
        return get(key, {.realm = Realm::Node, .hostname = host});
    };
    const auto go = [&](const char* key, Info&& inside) {
        return store_->deregister_resources(entries(key, std::move(inside).to_value()));
    };
    ASSERT_TRUE(add(maps("alpha,beta", "0;1")));
    register_both();
    const std::string both = of_node(PMIX_FABRIC_DEVICES, "beta");
    // By its id, which is unique across nodes; the other device of that node stays.
    EXPECT_TRUE(go(PMIX_NODE_INFO_ARRAY, entries(PMIX_DEVICE_ID, "id-alpha")));
    EXPECT_NE(of_node(PMIX_FABRIC_DEVICES, "alpha").find("ib1"), std::string::npos);
    EXPECT_EQ(of_node(PMIX_FABRIC_DEVICES, "alpha").find("ib0"), std::string::npos);
    EXPECT_EQ(of_node(PMIX_FABRIC_DEVICES, "beta"), both);
    // Another value is another element.
    EXPECT_FALSE(go(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "beta", "site.rack", "r8")));
    EXPECT_TRUE(go(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "beta", "site.rack", "r7")));
    EXPECT_EQ(of_node("site.rack", "beta"), kNotFound);
    EXPECT_EQ(of_node("site.rack", "alpha"), "sr7");
    // An array without a node, and its remaining entries.
    EXPECT_TRUE(go("site.cards", entries("one", "1")));
    EXPECT_EQ(get("site.cards").find("one"), std::string::npos);
    EXPECT_TRUE(go("site.cards", entries("two", "2")));
    EXPECT_EQ(get("site.cards"), kNotFound);
    EXPECT_FALSE(go("site.cards", entries("two", "2")));
    // A key without qualifiers: all values registered under it.
    EXPECT_TRUE(store_->deregister_resources(entries(PMIX_NODE_INFO_ARRAY, "")));
    EXPECT_EQ(of_node("site.rack", "alpha"), kNotFound);
    EXPECT_EQ(of_node(PMIX_FABRIC_DEVICES, "beta"), kNotFound);
}

TEST_F(Lookups, KnowsNoNodeOfAnUnknownJob) {
    ASSERT_TRUE(add(maps("alpha,beta", "0;1")));
    for (const pmix_rank_t rank : {pmix_rank_t{0}, PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF}) {
        EXPECT_EQ(get(PMIX_HOSTNAME, {.nspace = "other", .rank = rank}),
                  "error " + std::to_string(PMIX_ERR_INVALID_NAMESPACE));
        EXPECT_EQ(get(PMIX_HOSTNAME, {.nspace = "", .rank = PMIX_RANK_WILDCARD}), "salpha") << "our own";
    }
}

TEST_F(Lookups, NodesOfResourcesAreFoundByNameLabelAliasAndNumber) {
    const auto add_node = [&](auto&&... facts) {
        Info resources;
        add_array(resources, PMIX_NODE_INFO_ARRAY, facts...);
        EXPECT_TRUE(store_->register_resources(resources));
    };
    add_node(PMIX_HOSTNAME, "n1.cluster", PMIX_NODEID, uint32_t{1}, PMIX_HOSTNAME_ALIASES, "one,uno", "k",
             "1");
    add_node(PMIX_HOSTNAME, "n2", PMIX_NODEID, uint32_t{2}, "k", "2");
    add_node(PMIX_NODEID, uint32_t{3}, "k", "3");  // known by its number alone
    add_node(PMIX_HOSTNAME, "10.0.0.1", "k", "4");
    add_node(PMIX_HOSTNAME, "n1.elsewhere", "k", "5");
    const auto named = [&](const char* host) { return get("k", {.realm = Realm::Node, .hostname = host}); };
    const auto numbered = [&](uint32_t id) { return get("k", {.realm = Realm::Node, .nodeid = id}); };
    ASSERT_TRUE(add(maps("alpha,beta", "0;1")));
    const std::vector<std::pair<const char*, const char*>> names = {
        {"n1.cluster", "s1"},   {"n1", "s1"}, {"one", "s1"},        {"uno", "s1"},
        {"n1.elsewhere", "s5"}, {"n2", "s2"}, {"n2.any.org", "s2"}, {"10.0.0.1", "s4"}};
    for (const auto& [name, value] : names)
        EXPECT_EQ(named(name), value) << name;
    for (const char* unknown : {"n1.cluster.org", "n", "10", "10.0.0.2", "n2x", "cluster", ""})
        EXPECT_EQ(named(unknown), kNotFound) << unknown;
    for (const uint32_t id : {1, 2, 3})
        EXPECT_EQ(numbered(id), "s" + std::to_string(id));
    EXPECT_EQ(numbered(4), kNotFound);

    // A repeated registration replaces data; two aliases are merged, and the number changes.
    add_node(PMIX_HOSTNAME, "n1.cluster", PMIX_NODEID, uint32_t{7}, PMIX_HOSTNAME_ALIASES, "uno,eins", "k",
             "6");
    for (const char* name : {"n1.cluster", "n1", "uno", "eins"})
        EXPECT_EQ(named(name), "s6") << name;
    EXPECT_EQ(named("one"), kNotFound);
    EXPECT_EQ(numbered(7), "s6");
    EXPECT_EQ(numbered(1), kNotFound);

    store_->deregister_resources(
        entries(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "n1.cluster").to_value()));
    for (const char* name : {"n1.cluster", "uno", "eins"})
        EXPECT_EQ(named(name), kNotFound) << name;
    EXPECT_EQ(named("n1"), "s5") << "the next that answers to it";
    EXPECT_EQ(numbered(7), kNotFound);
    store_->deregister_resources(entries(PMIX_NODE_INFO_ARRAY, entries(PMIX_NODEID, uint32_t{3}).to_value()));
    EXPECT_EQ(numbered(3), kNotFound);
    EXPECT_EQ(named("n2"), "s2");
}

TEST_F(Lookups, EverythingForANullKey) {
    Info info = maps("alpha,beta", "0;1");
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), PMIX_CPUSET, "x");
    ASSERT_TRUE(add(info));
    ASSERT_EQ(post(1, PMIX_GLOBAL, "k", "v"), PMIX_SUCCESS);
    const auto everything = [&](Ask ask) {
        std::set<std::string> out;
        store_->find(lookup(nullptr, ask), [&](const Found& found) {
            out.insert(std::string(found.key) + "=" + text_of(found.value));
        });
        return out;
    };
    EXPECT_EQ(everything({.rank = 1}),
              (std::set<std::string>{"k=sv", "pmix.cpuset=sx", "pmix.hname=sbeta", "pmix.nodeid=u1",
                                     "pmix.lrank=h0", "pmix.nrank=h0", "pmix.appnum=u0", "pmix.apprank=r1"}));
    const auto job = everything({});
    EXPECT_EQ(job.count("pmix.job.size=u2"), 1u);
    EXPECT_EQ(job.count("pmix.nlist=salpha,beta"), 1u);
    EXPECT_EQ(everything({.realm = Realm::Node, .hostname = "beta"}),
              (std::set<std::string>{"pmix.hname=sbeta", "pmix.nodeid=u1", "pmix.lpeers=s1", "pmix.lldr=r1",
                                     "pmix.local.size=u1"}));
    EXPECT_EQ(everything({.rank = 7}).size(), 0u);
    EXPECT_EQ(get(nullptr, {.rank = 7}), kNotFound);
}

TEST_F(Lookups, PeersAndNodesOfOneJobAndOfAll) {
    ASSERT_TRUE(add(maps("alpha,beta", "0-1;2"), 0, "a"));
    ASSERT_TRUE(add(maps("beta,gamma", "0;1"), 0, "b"));
    const auto peers = [&](const char* node, const char* nspace) {
        std::vector<pmix_proc_t> found;
        const pmix_status_t status = store_->peers_on(node, nspace, found);
        std::set<std::string> out;
        for (const pmix_proc_t& proc : found)
            out.insert(proc_text(proc));
        if (status != PMIX_SUCCESS) out.insert("error " + std::to_string(status));
        return out;
    };
    using Set = std::set<std::string>;
    EXPECT_EQ(peers("alpha", "a"), (Set{"a:0", "a:1"}));
    EXPECT_EQ(peers(nullptr, "a"), (Set{"a:0", "a:1", "a:2"})) << "no node: all of them";
    EXPECT_EQ(peers("beta", nullptr), (Set{"a:2", "b:0"}));
    EXPECT_EQ(peers("gamma", "a"), Set{}) << "a node without processes of the job";
    EXPECT_EQ(peers("alpha", "b"), Set{}) << "this node, likewise";
    EXPECT_EQ(peers("nowhere", "a"), Set{kNotFound});
    EXPECT_EQ(peers("beta", "nobody"), Set{"error " + std::to_string(PMIX_ERR_INVALID_NAMESPACE)});
    std::string nodes;
    EXPECT_EQ(store_->node_list_of("a", nodes), PMIX_SUCCESS);
    EXPECT_EQ(nodes, "alpha,beta");
    nodes.clear();
    EXPECT_EQ(store_->node_list_of(nullptr, nodes), PMIX_SUCCESS);
    std::istringstream names(nodes);
    std::multiset<std::string> all;
    for (std::string name; std::getline(names, name, ',');)
        all.insert(name);
    EXPECT_EQ(all, (std::multiset<std::string>{"alpha", "beta", "gamma"}));
    EXPECT_EQ(store_->node_list_of("nobody", nodes), PMIX_ERR_INVALID_NAMESPACE);
    EXPECT_EQ(store_->local_ranks("a"), (std::vector<pmix_rank_t>{0, 1}));
    EXPECT_EQ(store_->node_of("a", 2), 1u);
    EXPECT_EQ(store_->node_of("a", 9), std::nullopt);
    EXPECT_EQ(get(PMIX_NODE_SIZE, {.nspace = "a", .hostname = "beta"}), "u2");
}

TEST_F(Lookups, DeregisteringAndForgetting) {
    covers("SRV-27");
    ASSERT_TRUE(add(maps("alpha", "0-1")));
    ASSERT_EQ(post(0, PMIX_GLOBAL, "k", "v"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_GLOBAL, "k", "v"), PMIX_SUCCESS);
    store_->forget(make_proc("job", 0));
    EXPECT_EQ(of_rank(0, "k"), kNotFound);
    EXPECT_EQ(of_rank(1, "k"), "sv");
    EXPECT_EQ(of_rank(0, PMIX_HOSTNAME), "salpha") << "what the maps say of it stays";
    store_->forget(make_proc("job", PMIX_RANK_WILDCARD));
    EXPECT_EQ(get(PMIX_JOB_SIZE), kNotFound);
    EXPECT_EQ(of_rank(1, "k"), "sv");
    store_->deregister("job");
    EXPECT_FALSE(store_->knows("job"));
    EXPECT_EQ(of_rank(1, "k"), "error " + std::to_string(PMIX_ERR_INVALID_NAMESPACE));
    EXPECT_TRUE(store_->namespaces().empty());
    store_->deregister("job");
    store_->forget(make_proc("job", 0));
    // An unregistered job is removed with its last process.
    ASSERT_EQ(post(0, PMIX_GLOBAL, "k", "v"), PMIX_SUCCESS);
    ASSERT_EQ(post(1, PMIX_GLOBAL, "k", "v"), PMIX_SUCCESS);
    store_->forget(make_proc("job", 0));
    EXPECT_TRUE(store_->knows("job"));
    store_->forget(make_proc("job", 1));
    EXPECT_FALSE(store_->knows("job"));
}

}  // namespace
}  // namespace muster
