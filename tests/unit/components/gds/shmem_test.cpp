// SPDX-License-Identifier: BSD-3-Clause
// gds/shmem as server and client in one process: a client reads the same values from the segment as from
// gds/hash; untrusted content; a full segment.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>

#include "components/gds/shmem/layout.hpp"
#include "framework/gds/realm.hpp"
#include "tests/unit/components/gds/store_fixture.hpp"

MUSTER_COMPONENT(gds, shmem);

namespace muster {
namespace {

namespace sh = gds::shmem;

class ShmemTest : public StoreTest {
  protected:
    ~ShmemTest() override {
        for (void* instance : shmem_)
            muster_component_gds_shmem()->destroy(instance);
    }

    /// A gds/shmem in front of its own gds/hash, on a host.
    Gds* make_shmem(const char* host = "alpha", size_t limit = size_t{1} << 30) {
        limit_ = std::to_string(limit);
        const muster_host_t host_table = {
            sizeof(muster_host_t),
            this,
            [](void* self, int, const char* line) {
                static_cast<ShmemTest*>(self)->log_ += std::string(line) + "\n";
            },
            [](void* self, const char*) { return static_cast<ShmemTest*>(self)->limit_.c_str(); },
            nullptr,
            nullptr,
            nullptr};
        tables_.push_back(std::make_unique<muster_host_t>(host_table));
        void* instance = nullptr;
        char reason[256] = "";
        EXPECT_EQ(muster_component_gds_shmem()->create(tables_.back().get(), &instance, reason), PMIX_SUCCESS)
            << reason;
        shmem_.push_back(instance);
        auto* store = static_cast<Gds*>(instance);
        store->stand_before(*another_store());
        StoreContext context{host, {}, {}, pregs_.all(), {bfrops_, BufferType::NonDescribed}};
        store->set_context(std::move(context));
        return store;
    }
    static SegmentOffer offer(int fd, pmix_rank_t rank = 0) {
        return {make_proc("job", rank), getuid(), UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0))};
    }
    Gds* attached(Gds& server, pmix_rank_t rank = 0) {
        const auto fd = server.share("job");
        EXPECT_TRUE(fd.ok()) << (fd.ok() ? "" : fd.error().text);
        Gds* client = make_shmem();
        if (fd) {
            const auto result = client->attach(offer(*fd, rank));
            EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text);
        }
        return client;
    }
    /// Returns the store of a client of gds/hash.
    Gds* told(Gds& server) {
        Packer packed({bfrops_, BufferType::NonDescribed});
        EXPECT_EQ(server.pack_job("job", packed, true), PMIX_SUCCESS);
        Gds* client = another_store();
        use_host(*client, "alpha");
        Unpacker in(packed.format(), packed.view());
        EXPECT_TRUE(client->unpack_job("job", in).ok());
        return client;
    }
    /// Each known key and some more, in each realm, of each rank.
    void expect_same(Gds& server, std::vector<const char*> more = {}) {
        Gds* expected = told(server);
        Gds* actual = attached(server, 1);
        std::vector<std::string> keys;
        for (const KeyInfo& info : known_keys())
            keys.emplace_back(info.key);
        keys.insert(keys.end(), more.begin(), more.end());
        std::vector<pmix_rank_t> ranks = {PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF};
        for (pmix_rank_t rank = 0; rank < server.job_size("job").value_or(1) + 2; ++rank)
            ranks.push_back(rank);
        using LookupRealm = Lookup::Realm;
        for (const std::string& key : keys) {
            for (const pmix_rank_t rank : ranks) {
                for (const LookupRealm realm : {LookupRealm::Auto, LookupRealm::Session, LookupRealm::Job,
                                                LookupRealm::App, LookupRealm::Node, LookupRealm::Proc}) {
                    Ask ask = {.rank = rank, .realm = realm};
                    EXPECT_EQ(get(*actual, key.c_str(), ask), get(*expected, key.c_str(), ask))
                        << key << " of rank " << rank << " in realm " << static_cast<int>(realm);
                    if (realm == LookupRealm::Node) {
                        for (const uint32_t id : {0u, 1u, 7u}) {
                            ask.nodeid = id;
                            EXPECT_EQ(get(*actual, key.c_str(), ask), get(*expected, key.c_str(), ask))
                                << key << " of node " << id;
                        }
                    }
                    if (realm == LookupRealm::App) {
                        for (const uint32_t number : {0u, 1u, 5u}) {
                            ask.appnum = number;
                            EXPECT_EQ(get(*actual, key.c_str(), ask), get(*expected, key.c_str(), ask))
                                << key << " of application " << number << " rank " << rank;
                        }
                    }
                }
            }
        }
        EXPECT_EQ(actual->job_size("job"), expected->job_size("job"));
        EXPECT_EQ(actual->local_ranks("job"), expected->local_ranks("job"));
        for (const pmix_rank_t rank : ranks)
            EXPECT_EQ(actual->node_of("job", rank), expected->node_of("job", rank));
        std::string nodes, expected_nodes;
        EXPECT_EQ(actual->node_list_of("job", nodes), expected->node_list_of("job", expected_nodes));
        EXPECT_EQ(nodes, expected_nodes);
    }

    std::string log_;
    std::string limit_;
    std::vector<void*> shmem_;
    std::vector<std::unique_ptr<muster_host_t>> tables_;
};

TEST_F(ShmemTest, RegularJobReadsAsWithHash) {
    Gds* server = make_shmem();
    Info info = maps("beta,alpha,gamma", "0,1,2,3;4,5,6,7;8,9", 10);
    info.add(PMIX_UNIV_SIZE, uint32_t{12});
    info.add("my.key", "value");
    ASSERT_TRUE(server->register_job("job", 4, info).ok());
    expect_same(*server, {"my.key", "my.other"});
}

TEST_F(ShmemTest, NodesOfDifferentSizesReadAsWithHash) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 1, maps("beta,alpha,gamma,delta", "0;1,2,3;;4,5", 6)).ok());
    expect_same(*server);
}

TEST_F(ShmemTest, RanksWithoutNodeReadAsWithHash) {
    Gds* server = make_shmem();
    Info info = maps("beta,alpha", "0;1,2", 5);
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, uint32_t{4}, "proc.key", 18);
    ASSERT_TRUE(server->register_job("job", 1, info).ok());
    expect_same(*server, {"proc.key"});
}

TEST_F(ShmemTest, ScatteredJobReadsAsWithHash) {
    Gds* server = make_shmem();
    Info info = maps("beta,alpha,gamma", "0,3,5;1,4;2", 6);
    add_array(info, PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, uint32_t{9}, PMIX_UNIV_SIZE, uint32_t{32});
    add_array(info, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "gamma", PMIX_NODEID, uint32_t{2}, "node.key", 17);
    add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, uint32_t{2}, PMIX_LOCALITY_STRING, "NM0", PMIX_NODE_RANK,
              uint16_t{3}, "proc.key", 18);
    info.add(PMIX_LOCAL_CPUSETS, "0-1:2-3");
    ASSERT_TRUE(server->register_job("job", 2, info).ok());
    expect_same(*server, {"node.key", "proc.key"});
}

TEST_F(ShmemTest, SeveralApplicationsReadAsWithHash) {
    Gds* server = make_shmem();
    Info info = maps("alpha,beta", "0,1,2;3,4", 5);
    add_array(info, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, uint32_t{0}, PMIX_APP_SIZE, uint32_t{2}, PMIX_APPLDR,
              uint32_t{0});
    add_array(info, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, uint32_t{1}, PMIX_APP_SIZE, uint32_t{3}, PMIX_APPLDR,
              uint32_t{2}, PMIX_WDIR, "/there");
    ASSERT_TRUE(server->register_job("job", 3, info).ok());
    expect_same(*server);
}

TEST_F(ShmemTest, JobWithoutMapsReadsAsWithHash) {
    Gds* server = make_shmem();
    Info info;
    info.add(PMIX_JOB_SIZE, uint32_t{3});
    info.add(PMIX_LOCAL_SIZE, uint32_t{3});
    ASSERT_TRUE(server->register_job("job", 3, info).ok());
    expect_same(*server);
}

TEST_F(ShmemTest, EverythingOfAJobReadsAsWithHash) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 2, maps("alpha,beta", "0,1;2", 3)).ok());
    Gds* expected = told(*server);
    Gds* actual = attached(*server);
    const auto all = [&](Gds& store) {
        std::multimap<std::string, std::string> found;
        Lookup all_of_job = lookup(nullptr, {});
        EXPECT_EQ(
            store.find(all_of_job, [&](const Found& one) { found.emplace(one.key, text_of(one.value)); }),
            PMIX_SUCCESS);
        return found;
    };
    EXPECT_EQ(all(*actual), all(*expected));
}

TEST_F(ShmemTest, AnUpdateIsSeenByThoseWhoAreAttached) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 2, maps("alpha,beta", "0,1;2", 3)).ok());
    Gds* client = attached(*server);
    Info update;
    add_array(update, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(1), "site.port", "4711");
    ASSERT_TRUE(server->register_job("job", -1, update).ok());
    EXPECT_EQ(get(*client, "site.port", {.rank = 1}), "s4711");
    EXPECT_EQ(get(*attached(*server), "site.port", {.rank = 1}), "s4711");
    EXPECT_EQ(get(*client, PMIX_LOCAL_SIZE, {}), "u2");
}

TEST_F(ShmemTest, CachedJobDataIsRefreshedAfterRegistration) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 2, maps("alpha,beta", "0,1;2", 3)).ok());
    Gds* client = attached(*server);
    const auto everything = [&](Gds& store) {
        std::multimap<std::string, std::string> found;
        store.find(lookup(nullptr, {}),
                   [&](const Found& one) { found.emplace(one.key, text_of(one.value)); });
        return found;
    };
    std::string nodes;
    EXPECT_EQ(client->node_list_of("job", nodes), PMIX_SUCCESS);
    EXPECT_EQ(nodes, "alpha,beta");
    Info more = maps("alpha,beta,gamma", "0,1;2;3,4", 5);
    more.add("later", "value");
    for (int i = 0; i < 2; ++i) {  // the second time nothing is new
        ASSERT_TRUE(server->register_job("job", 2, more).ok());
        nodes.clear();
        EXPECT_EQ(client->node_list_of("job", nodes), PMIX_SUCCESS);
        EXPECT_EQ(nodes, "alpha,beta,gamma");
        EXPECT_EQ(everything(*client), everything(*told(*server)));
        std::vector<pmix_proc_t> peers;
        EXPECT_EQ(client->peers_on("gamma", "job", peers), PMIX_SUCCESS);
        EXPECT_EQ(peers.size(), 2U);
    }
}

TEST_F(ShmemTest, ResourcesReadAsWithHashByLaterClients) {
    Gds* server = make_shmem();
    Info job = maps("alpha,beta", "0,1;2", 3);
    job.add("site.both", "job's");
    ASSERT_TRUE(server->register_job("job", 2, job).ok());
    expect_same(*server);
    Info resources;
    resources.add("site.key", "site");
    resources.add("site.both", "site's");
    add_array(resources, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", PMIX_AVAIL_PHYS_MEMORY,
              Value::uint64(9), "node.key", "node");
    const std::vector<const char*> keys = {"site.key", "site.both", "node.key"};
    for (int i = 0; i < 2; ++i) {  // the second time nothing is new
        ASSERT_TRUE(server->register_resources(resources));
        expect_same(*server, keys);
        EXPECT_EQ(get(*attached(*server), "site.key", {}), "ssite");
        EXPECT_EQ(get(*attached(*server), "site.both", {}), "sjob's");
        EXPECT_EQ(get(*attached(*server), "node.key", {.realm = Lookup::Realm::Node, .hostname = "beta"}),
                  "snode");
    }
    ASSERT_TRUE(server->register_resources(entries("site.key", "another")));
    EXPECT_EQ(get(*attached(*server), "site.key", {}), "sanother");
    Info gone = entries("site.key", "", "site.both", "");
    add_array(gone, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", "node.key", "");
    server->deregister_resources(gone);
    expect_same(*server, keys);
    EXPECT_EQ(get(*attached(*server), "site.both", {}), "sjob's");
    server->deregister_resources(entries(PMIX_NODE_INFO_ARRAY, entries(PMIX_HOSTNAME, "beta").to_value()));
    expect_same(*server, keys);
    EXPECT_EQ(get(*attached(*server), PMIX_AVAIL_PHYS_MEMORY, {.hostname = "beta"}),
              "error " + std::to_string(PMIX_ERR_NOT_FOUND));
}

TEST_F(ShmemTest, DeregisteredResourcesAreGoneAfterTheNextRegistration) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_resources(entries("site.key", "site", "site.other", "other")));
    const Info job = maps("alpha,beta", "0,1;2", 3);
    ASSERT_TRUE(server->register_job("job", 2, job).ok());
    EXPECT_EQ(get(*attached(*server), "site.key", {}), "ssite");
    server->deregister_resources(entries("site.key", ""));
    ASSERT_TRUE(server->register_job("job", 2, job).ok());
    EXPECT_EQ(get(*attached(*server), "site.key", {}), "error " + std::to_string(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(get(*attached(*server), "site.other", {}), "sother");
}

TEST_F(ShmemTest, RepeatedRegistrationOfResourcesTakesNoSpace) {
    Gds* server = make_shmem("alpha", size_t{1} << 20);
    ASSERT_TRUE(server->register_job("job", 2, maps("alpha,beta", "0,1;2", 3)).ok());
    const Info resources = entries("site.key", std::string(1024, 'x').c_str());
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(server->register_resources(resources));
        ASSERT_TRUE(server->share("job").ok());
    }
    EXPECT_EQ(log_.find("no more room"), std::string::npos) << log_;
    EXPECT_EQ(get(*attached(*server), "site.key", {}), "s" + std::string(1024, 'x'));
}

TEST_F(ShmemTest, PostedDataIsVisibleAtOnceWithinItsScope) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 2, maps("alpha,beta", "0,1;2", 3)).ok());
    const auto post = [&](pmix_rank_t rank, pmix_scope_t scope, const char* key, int value) {
        EXPECT_EQ(server->post(make_proc("job", rank), scope, key, *Value::from(value)), PMIX_SUCCESS);
    };
    post(1, PMIX_GLOBAL, "early", 1);  // before there is a segment
    post(1, PMIX_REMOTE, "hidden.early", 1);
    EXPECT_EQ(server->post_remote(make_proc("job", 2), "early", *Value::from(2)), PMIX_SUCCESS);
    Gds* client = attached(*server, 0);
    post(1, PMIX_LOCAL, "late", 3);
    post(1, PMIX_REMOTE, "hidden", 4);
    EXPECT_EQ(server->post_remote(make_proc("job", 2), "late", *Value::from(5)), PMIX_SUCCESS);
    EXPECT_EQ(get(*client, "early", {.rank = 1}), "i1");
    EXPECT_EQ(get(*client, "early", {.rank = 2}), "i2");
    EXPECT_EQ(get(*client, "late", {.rank = 1}), "i3");
    EXPECT_EQ(get(*client, "late", {.rank = 2}), "i5");
    const std::string none = "error " + std::to_string(PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(get(*client, "hidden", {.rank = 1}), none);
    EXPECT_EQ(get(*client, "hidden.early", {.rank = 1}), none);
    EXPECT_EQ(get(*client, "late", {.rank = 0}), none);
    post(1, PMIX_GLOBAL, "late", 6);
    EXPECT_EQ(get(*client, "late", {.rank = 1}), "i6");
    server->forget(make_proc("job", 1));
    EXPECT_EQ(get(*client, "late", {.rank = 1}), none);
    EXPECT_EQ(get(*client, "late", {.rank = 2}), "i5");
}

TEST_F(ShmemTest, AServerReadsTheSegmentAsGdsHashWould) {
    // Space for some values, so that gds/hash behind it keeps the others.
    for (const size_t limit : {size_t{1} << 30, size_t{192} << 10}) {
        Gds* server = make_shmem("alpha", limit);
        Gds* hash = another_store();
        use_host(*hash, "alpha");
        for (Gds* store : {server, hash})
            ASSERT_TRUE(store->register_job("job", 2, maps("alpha,beta", "0,1;2-9", 10)).ok());
        const auto remote = [&](pmix_rank_t rank, const std::string& key, const Value& value) {
            for (Gds* store : {server, hash}) {
                EXPECT_EQ(store->post_remote(make_proc("job", rank), key.c_str(), *value), PMIX_SUCCESS)
                    << key;
            }
        };
        const auto compare = [&](const char* when) {
            const auto posted = [](Gds& store, pmix_rank_t rank, View view) {
                std::multimap<std::string, std::string> found;
                const pmix_status_t status =
                    store.find_posted(make_proc("job", rank), view,
                                      [&](const Found& one) { found.emplace(one.key, text_of(one.value)); });
                found.emplace("status", std::to_string(status));
                return found;
            };
            const auto all = [](Gds& store, const Lookup& what) {
                std::multimap<std::string, std::string> found;
                const pmix_status_t status =
                    store.find(what, [&](const Found& one) { found.emplace(one.key, text_of(one.value)); });
                found.emplace("status", std::to_string(status));
                return found;
            };
            for (const pmix_rank_t rank : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, PMIX_RANK_UNDEF}) {
                for (const View view : {View::Local, View::Remote, View::All})
                    EXPECT_EQ(posted(*server, rank, view), posted(*hash, rank, view)) << when << rank;
                for (const char* key : {"early", "a", "big", "gone", "pmix.x", "once", "nothing"}) {
                    for (const pmix_scope_t scope :
                         {PMIX_SCOPE_UNDEF, PMIX_LOCAL, PMIX_REMOTE, PMIX_GLOBAL, PMIX_INTERNAL}) {
                        // If several ranks have the key, any value is correct.
                        if (rank == PMIX_RANK_UNDEF && std::string(key) != "once") continue;
                        for (const bool pin : {false, true}) {
                            const Lookup what = lookup(key, {.rank = rank, .scope = scope, .pin = pin});
                            EXPECT_EQ(all(*server, what), all(*hash, what))
                                << when << key << " of " << rank << ", scope " << scope;
                        }
                    }
                }
                if (rank == PMIX_RANK_UNDEF) continue;
                EXPECT_EQ(all(*server, lookup(nullptr, {.rank = rank})),
                          all(*hash, lookup(nullptr, {.rank = rank})))
                    << when << rank;
            }
        };
        const auto local = [&](pmix_rank_t rank, pmix_scope_t scope, const char* key, const Value& value) {
            for (Gds* store : {server, hash})
                EXPECT_EQ(store->post(make_proc("job", rank), scope, key, *value), PMIX_SUCCESS) << key;
        };
        remote(2, "early", Value::from(1));
        remote(2, "pmix.x", Value::from(2));
        local(4, PMIX_GLOBAL, "early", Value::from(40));
        compare("before, ");
        attached(*server);
        compare("shared, ");
        const std::string much(60000, 'x'), more(70000, 'y');
        remote(2, "early", Value::from(3));
        remote(2, "a", Value::from("text"));
        remote(3, "a", Value::from(4));
        remote(9, "once", Value::from(5));
        remote(2, "big", Value::from(much.c_str()));
        remote(2, "pmix.x", Value::from(6));
        compare("posted, ");
        for (const std::string& text : {more, much, more})
            remote(2, "big", Value::from(text.c_str()));
        remote(3, "big", Value::from(7));
        compare("again, ");
        const auto qualified_value = [] {
            Info qualified;
            qualified.add("gone", 1);
            qualified.add("of", "x");
            return std::move(qualified).to_value();
        };
        remote(3, PMIX_QUALIFIED_VALUE, qualified_value());
        // Processes of this node: global values are in the segment only, until a value with another scope is
        // posted.
        for (const pmix_rank_t rank : {4u, 5u, 6u, 7u, 8u, 9u}) {
            local(rank, PMIX_GLOBAL, "a", Value::from("mine"));
            local(rank, PMIX_GLOBAL, "big", Value::from(more.c_str()));
            local(rank, PMIX_GLOBAL, "a", Value::from("mine again"));
        }
        compare("of this node, ");
        local(5, PMIX_REMOTE, "a", Value::from("for others"));
        local(6, PMIX_LOCAL, "a", Value::from("for these"));
        local(7, PMIX_INTERNAL, "a", Value::from("for me"));
        local(8, PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, qualified_value());
        local(9, PMIX_GLOBAL, "pmix.x", Value::from(9));
        compare("and otherwise, ");
        for (const pmix_rank_t rank : {4u, 5u, 6u, 7u, 8u})
            local(rank, PMIX_GLOBAL, "a", Value::from(static_cast<int>(rank)));
        remote(8, "early", Value::from(80));
        local(8, PMIX_GLOBAL, "early", Value::from(81));
        compare("and for all, ");
        for (Gds* store : {server, hash})
            store->forget(make_proc("job", 7));
        local(7, PMIX_GLOBAL, "once", Value::from(1));
        compare("and anew, ");
        for (Gds* store : {server, hash})
            store->forget(make_proc("job", 7));
        remote(1, "a", Value::from("of a group"));
        for (Gds* store : {server, hash})
            EXPECT_EQ(store->post(make_proc("job", 1), PMIX_REMOTE, "a", *Value::from(8)), PMIX_SUCCESS);
        compare("by others, ");
        for (Gds* store : {server, hash})
            store->forget(make_proc("job", 2));
        compare("forgotten, ");
        for (Gds* store : {server, hash})
            store->deregister("job");
        compare("deregistered, ");
    }
}

TEST_F(ShmemTest, EveryTypeOfValueRoundTrips) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
    Gds* client = attached(*server, 0);
    std::vector<Value> values;
    values.push_back(Value::from(true));
    values.push_back(Value::from(-7));
    values.push_back(Value::from(uint16_t{65535}));
    values.push_back(Value::from(3.25));
    values.push_back(Value::status(PMIX_ERR_TIMEOUT));
    values.push_back(Value::from(""));
    values.push_back(Value::from("some text"));
    values.push_back(Value::from(make_proc("other", 3)));
    char bytes[5000];
    std::memset(bytes, 'x', sizeof bytes);
    values.push_back(Value::from(pmix_byte_object_t{bytes, sizeof bytes}));
    values.push_back(Value::from(pmix_byte_object_t{nullptr, 0}));
    const uint32_t numbers[] = {1, 2, 3};
    values.push_back(Value::array(numbers, 3, PMIX_UINT32));
    Info inside;
    inside.add("a", 1);
    inside.add("b", "text");
    values.push_back(std::move(inside).to_value());
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string key = "key" + std::to_string(i);
        ASSERT_EQ(server->post(make_proc("job", 1), PMIX_GLOBAL, key.c_str(), *values[i]), PMIX_SUCCESS);
        bool seen = false;
        for (const bool pin : {false, true}) {
            client->find(lookup(key.c_str(), {.rank = 1, .pin = pin}), [&](const Found& found) {
                seen = true;
                EXPECT_EQ(value_compare(&found.value, values[i].get()), PMIX_EQUAL) << key;
                EXPECT_EQ(found.stable, pin);
            });
            EXPECT_TRUE(seen) << key;
        }
    }
}

TEST_F(ShmemTest, TheCopyOfALargePostedValueIsGivenAway) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
    Gds* client = attached(*server, 0);
    for (const size_t size : {size_t{100}, size_t{5000}}) {
        const std::string text(size, 'x');
        ASSERT_EQ(server->post(make_proc("job", 1), PMIX_GLOBAL, "text", *Value::from(text)), PMIX_SUCCESS);
        for (const Gds* store : {client, server}) {
            Lookup lookup;
            lookup.nspace = "job";
            lookup.rank = 1;
            lookup.key = "text";
            Value kept;
            ASSERT_EQ(store->find(lookup,
                                  [&](const Found& found) {
                                      EXPECT_STREQ(found.value.data.string, text.c_str());
                                      if (found.copy != nullptr) kept = std::move(*found.copy);
                                  }),
                      PMIX_SUCCESS);
            EXPECT_EQ(kept.type(), size > 1000 ? PMIX_STRING : PMIX_UNDEF);
            if (kept.type() == PMIX_STRING) {
                EXPECT_STREQ(kept->data.string, text.c_str());
            }
        }
    }
}

TEST_F(ShmemTest, GrowthAndReplacementLoseNothing) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
    Gds* client = attached(*server, 0);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 5000; ++i) {
            const std::string key = "key" + std::to_string(i);
            ASSERT_EQ(server->post(make_proc("job", 1), PMIX_GLOBAL, key.c_str(), *Value::from(i + round)),
                      PMIX_SUCCESS);
        }
        for (int i = 0; i < 5000; ++i)
            ASSERT_EQ(get(*client, ("key" + std::to_string(i)).c_str(), {.rank = 1}),
                      "i" + std::to_string(i + round));
    }
}

TEST_F(ShmemTest, AFullSegmentIsReportedOnceAndDropsTheOldValue) {
    Gds* server = make_shmem("alpha", size_t{128} << 10);
    ASSERT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
    Gds* client = attached(*server, 0);
    ASSERT_EQ(server->post(make_proc("job", 1), PMIX_GLOBAL, "big", *Value::from("small")), PMIX_SUCCESS);
    EXPECT_EQ(get(*client, "big", {.rank = 1}), "ssmall");
    const std::string big(300000, 'x');
    log_.clear();
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(server->post(make_proc("job", 1), PMIX_GLOBAL, "big", *Value::from(big.c_str())),
                  PMIX_SUCCESS);
    EXPECT_EQ(get(*client, "big", {.rank = 1}), "error " + std::to_string(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(get(*server, "big", {.rank = 1}), "s" + big);
    EXPECT_NE(log_.find("gds_shmem_limit"), std::string::npos) << log_;
    EXPECT_EQ(log_.find("no more room"), log_.rfind("no more room")) << log_;
}

TEST_F(ShmemTest, AJobLargerThanTheLimitIsNotShared) {
    Gds* server = make_shmem("alpha", size_t{64} << 10);
    std::string nodes = "alpha", procs = "0";
    for (int i = 1; i < 20000; ++i) {
        nodes += ",node" + std::to_string(i);
        procs += ";" + std::to_string(i);
    }
    ASSERT_TRUE(server->register_job("job", 1, maps(nodes.c_str(), procs.c_str())).ok());
    EXPECT_EQ(server->share("job").status(), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(server->share("job").status(), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_NE(log_.find("no segment for namespace job"), std::string::npos) << log_;
}

TEST_F(ShmemTest, AServerWithoutDescriptorsSharesNothing) {
    Gds* server = make_shmem();
    ASSERT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
    rlimit before{}, none{};
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    const auto shared = server->share("job");
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(shared.status(), PMIX_ERR_OUT_OF_RESOURCE);
}

/// A process whose kernel does not know F_SEAL_FUTURE_WRITE, as Linux before 5.1.
bool forget_that_seal() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_ADD_SEALS, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {std::size(program), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(ShmemTest, SharesWithoutFutureWriteSeals) {
    const pid_t child = fork();
    if (child == 0) {
        EXPECT_TRUE(forget_that_seal());
        Gds* server = make_shmem();
        EXPECT_TRUE(server->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
        const auto fd = server->share("job");
        EXPECT_TRUE(fd.ok());
        if (fd) {
            struct stat facts {};
            EXPECT_EQ(fcntl(*fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
            EXPECT_EQ(fcntl(*fd, F_GETFL) & O_ACCMODE, O_RDONLY);
            EXPECT_EQ(fstat(*fd, &facts), 0);
            EXPECT_EQ(facts.st_mode & 0777U, 0600U);
        }
        EXPECT_EQ(get(*attached(*server), PMIX_JOB_SIZE, {}), "u2");
        std::fflush(nullptr);
        _exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(ShmemTest, ABlockMappedJobTakesLittleMoreThanItsNodeNames) {
    // 100,000 ranks on 1,000 nodes: as many on each, or fewer on the first.
    for (const int missing : {0, 99}) {
        log_.clear();
        Gds* server = make_shmem();
        std::string nodes, procs;
        int rank = 0;
        for (int node = 0; node < 1000; ++node) {
            nodes += (node != 0 ? "," : "") + ("n" + std::to_string(node));
            if (node != 0) procs += ';';
            for (int i = 0; i < (node == 0 ? 100 - missing : 100); ++i)
                procs += (i != 0 ? "," : "") + std::to_string(rank++);
        }
        ASSERT_TRUE(
            server->register_job("job", 1, maps(nodes.c_str(), procs.c_str(), static_cast<uint32_t>(rank)))
                .ok());
        Gds* client = attached(*server, 0);
        const auto last = static_cast<pmix_rank_t>(rank - 1);
        EXPECT_EQ(get(*client, PMIX_HOSTNAME, {.rank = last}), "sn999");
        EXPECT_EQ(get(*client, PMIX_LOCAL_RANK, {.rank = last - 1}), "h98");
        const size_t at = log_.find(" holds ");
        ASSERT_NE(at, std::string::npos) << log_;
        EXPECT_LT(std::stoul(log_.substr(at + 7)), 64u * 1024) << log_;
    }
}

// --- content that a client must not trust ---

class ShmemRefusal : public ShmemTest {
  protected:
    void SetUp() override {
        server_ = make_shmem();
        ASSERT_TRUE(server_->register_job("job", 1, maps("alpha", "0,1", 2)).ok());
        const auto fd = server_->share("job");
        ASSERT_TRUE(fd.ok());
        fd_ = *fd;
        content_.resize(64 * 1024);
        ASSERT_EQ(pread(fd_, content_.data(), content_.size(), 0), static_cast<ssize_t>(content_.size()));
    }
    /// A memfd with this content and these seals.
    static UniqueFd file(const std::string& content, int seals) {
        UniqueFd fd(memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        EXPECT_EQ(write(fd.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
        EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
        return fd;
    }
    pmix_status_t attach_status(SegmentOffer what) { return make_shmem()->attach(std::move(what)).status(); }
    pmix_status_t attach_content(int seals = kAll) {
        return attach_status({make_proc("job", 0), getuid(), file(content_, seals)});
    }
    static constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | 0x10 | F_SEAL_SEAL;
    sh::Header& header() { return *reinterpret_cast<sh::Header*>(content_.data()); }

    Gds* server_ = nullptr;
    int fd_ = -1;
    std::string content_;
};

TEST_F(ShmemRefusal, OfUnsealedForeignOrIncompatibleSegments) {
    EXPECT_EQ(attach_content(), PMIX_SUCCESS);
    EXPECT_EQ(attach_content(F_SEAL_SHRINK), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(attach_content(F_SEAL_GROW | 0x10 | F_SEAL_SEAL), PMIX_ERR_BAD_PARAM);
    // If only the mode prevents writing, it must be that of the server's file.
    for (const auto& [mode, owner, status] :
         {std::tuple(0600U, std::optional(getuid()), PMIX_SUCCESS),
          std::tuple(0620U, std::optional(getuid()), PMIX_ERR_BAD_PARAM),
          std::tuple(0602U, std::optional(getuid()), PMIX_ERR_BAD_PARAM),
          std::tuple(0600U, std::optional<uid_t>(), PMIX_ERR_BAD_PARAM)}) {
        UniqueFd fd = file(content_, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        ASSERT_EQ(fchmod(fd.get(), mode), 0);
        EXPECT_EQ(attach_status({make_proc("job", 0), owner, std::move(fd)}), status) << std::oct << mode;
    }
    SegmentOffer others = offer(fd_);
    others.owner = getuid() + 1;
    EXPECT_EQ(attach_status(std::move(others)), PMIX_ERR_BAD_PARAM);
    SegmentOffer other_job = offer(fd_);
    other_job.self = make_proc("job2", 0);
    EXPECT_EQ(attach_status(std::move(other_job)), PMIX_ERR_BAD_PARAM);
    EXPECT_NE(attach_status({make_proc("job", 0), getuid(), UniqueFd(open("/dev/null", O_RDONLY))}),
              PMIX_SUCCESS);
    EXPECT_NE(attach_status({make_proc("job", 0), getuid(), UniqueFd()}), PMIX_SUCCESS);
    header().layout++;
    EXPECT_EQ(attach_content(), PMIX_ERR_BAD_PARAM);
    header().layout--;
    header().magic ^= 1;
    EXPECT_EQ(attach_content(), PMIX_ERR_BAD_PARAM);
    header().magic ^= 1;
    header().machine ^= 0xff;
    EXPECT_EQ(attach_content(), PMIX_ERR_BAD_PARAM);
    content_.resize(100);
    EXPECT_EQ(attach_content(), PMIX_ERR_BAD_PARAM);
    content_.clear();
    EXPECT_EQ(attach_content(), PMIX_ERR_BAD_PARAM);
}

TEST_F(ShmemRefusal, ClientDescriptorsAreReadOnly) {
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0), MAP_FAILED);
    EXPECT_NE(ftruncate(fd_, 0), 0);
    EXPECT_NE(pwrite(fd_, "x", 1, 0), 1);
}

TEST_F(ShmemRefusal, CorruptSegmentsDoNotCrashReaders) {
    const std::string good = content_;
    unsigned seed = 12345;
    const auto random = [&] { return (seed = seed * 1103515245 + 12345) >> 8; };
    for (int round = 0; round < 60; ++round) {
        content_ = good;
        // The used part is at the beginning; whole words give offsets and lengths far out of range.
        for (int i = 0; i < 40; ++i) {
            const uint64_t word = round % 2 == 0 ? random() : ~uint64_t{0} << (random() % 64);
            std::memcpy(&content_[random() % 20000 / 8 * 8 + sizeof(sh::Header) - 16], &word, sizeof word);
        }
        Gds* client = make_shmem();
        ASSERT_TRUE(client->attach({make_proc("job", 0), getuid(), file(content_, kAll)}).ok());
        for (const KeyInfo& info : known_keys()) {
            for (const pmix_rank_t rank : {PMIX_RANK_WILDCARD, 0u, 1u, 4000000000u})
                client->find(lookup(std::string(info.key).c_str(), {.rank = rank}), [](const Found& found) {
                    Value copy = Value::copy_of(&found.value).value_or(Value());
                });
        }
        client->local_ranks("job");
    }
}

TEST_F(ShmemRefusal, MissingPagesAreNotAllocated) {
    // A sealed file with a hole at the position of its table.
    const uint64_t far = 1 << 20;
    header().table = far;
    UniqueFd fd(memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(fd.get(), 2 << 20), 0);
    ASSERT_EQ(pwrite(fd.get(), content_.data(), content_.size(), 0), static_cast<ssize_t>(content_.size()));
    ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, kAll), 0);
    struct stat before {
    }, after{};
    fstat(fd.get(), &before);
    Gds* client = make_shmem();
    const int look = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
    ASSERT_TRUE(client->attach({make_proc("job", 0), getuid(), std::move(fd)}).ok());
    EXPECT_EQ(get(*client, "key", {.rank = 1}), "error " + std::to_string(PMIX_ERR_NOT_FOUND));
    fstat(look, &after);
    close(look);
    EXPECT_EQ(before.st_blocks, after.st_blocks);
}

}  // namespace
}  // namespace muster
