// SPDX-License-Identifier: BSD-3-Clause
// Job data on the wire: data from OpenPMIx's servers, data for OpenPMIx's and Muster's clients, hostile
// bytes.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/unit/components/gds/store_fixture.hpp"

namespace muster {
namespace {

class Wire : public StoreTest {
  protected:
    WireFormat format(BufferType type = BufferType::NonDescribed) const { return {bfrops_, type}; }

    Bytes pack(Gds& store, bool compact, const char* nspace = "job") {
        Packer packer(format());
        EXPECT_EQ(store.pack_job(nspace, packer, compact), PMIX_SUCCESS);
        return packer.take();
    }
    Result<void> unpack(Gds& store, ByteView bytes, const char* nspace = "job") {
        Unpacker in(format(), bytes);
        return store.unpack_job(nspace, in);
    }
    /// Key and value of all top-level items, with blobs unpacked.
    std::multimap<std::string, std::string> items(const Bytes& bytes) {
        std::multimap<std::string, std::string> out;
        Unpacker in(format(), bytes.view());
        while (!in.at_end()) {
            std::string key;
            Value value;
            if (!in.kval(key, value)) {
                ADD_FAILURE() << "cannot be read behind " << key;
                break;
            }
            if (key == PMIX_PROC_BLOB) {
                Unpacker blob(format(),
                              {reinterpret_cast<uint8_t*>(value->data.bo.bytes), value->data.bo.size});
                pmix_rank_t rank = 0;
                blob.rank(rank);
                std::set<std::string> facts;
                while (!blob.at_end() && !blob.failed()) {
                    std::string fact;
                    Value of;
                    if (blob.kval(fact, of)) facts.insert(fact + "=" + text_of(*of));
                }
                std::string text = std::to_string(rank) + ":";
                for (const std::string& fact : facts)
                    text += " " + fact;
                out.emplace(key, text);
            } else {
                out.emplace(key, text_of(*value));
            }
        }
        return out;
    }

    /// A job with data of every kind, on two nodes.
    void register_all() {
        Info info = maps("alpha,beta", "0-1;2-3", 4);
        info.add(PMIX_JOBID, "j1");
        info.add("host.extra", "extra");
        info.add(PMIX_UNIV_SIZE, uint32_t{8});
        info.add(PMIX_NPROC_OFFSET, Value::rank(10));
        info.add(PMIX_NODE_SIZE, uint32_t{3});
        add_array(info, PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "beta", PMIX_NODEID, uint32_t{5},
                  PMIX_AVAIL_PHYS_MEMORY, Value::uint64(77), PMIX_HOSTNAME_ALIASES, "b1,b2");
        add_array(info, PMIX_APP_INFO_ARRAY, PMIX_APPNUM, uint32_t{0}, PMIX_WDIR, "/w");
        add_array(info, PMIX_PROC_INFO_ARRAY, PMIX_RANK, Value::rank(2), PMIX_CPUSET, "hwloc:0x3");
        ASSERT_TRUE(add(info, 2));
    }
    /// Expects the data of register_all() that a client on `host` must find.
    void expect_all(Gds& store) {
        EXPECT_EQ(get(store, PMIX_JOB_SIZE, {}), "u4");
        EXPECT_EQ(get(store, PMIX_JOBID, {}), "sj1");
        EXPECT_EQ(get(store, "host.extra", {}), "sextra");
        EXPECT_EQ(get(store, PMIX_UNIV_SIZE, {}), "u8");
        EXPECT_EQ(get(store, PMIX_NUM_NODES, {}), "u2");
        EXPECT_EQ(get(store, PMIX_NODE_LIST, {}), "salpha,beta");
        EXPECT_EQ(get(store, PMIX_LOCAL_PEERS, {}), "s0,1");
        EXPECT_EQ(get(store, PMIX_LOCAL_SIZE, {}), "u2");
        EXPECT_EQ(get(store, PMIX_NODE_SIZE, {}), "u3");
        EXPECT_EQ(get(store, PMIX_WDIR, {}), "s/w");
        EXPECT_EQ(get(store, PMIX_HOSTNAME, {.rank = 3}), "sbeta");
        EXPECT_EQ(get(store, PMIX_NODEID, {.rank = 3}), "u5");
        EXPECT_EQ(get(store, PMIX_LOCAL_RANK, {.rank = 3}), "h1");
        EXPECT_EQ(get(store, PMIX_GLOBAL_RANK, {.rank = 3}), "r13");
        EXPECT_EQ(get(store, PMIX_CPUSET, {.rank = 2}), "shwloc:0x3");
        EXPECT_EQ(get(store, PMIX_AVAIL_PHYS_MEMORY, {.hostname = "b2"}), "type15");
        EXPECT_EQ(get(store, PMIX_LOCAL_PEERS, {.nodeid = 5}), "s2,3");
    }
};

TEST_F(Wire, RepliesOfOpenPmixServersAreRead) {
    std::ifstream file(MUSTER_TEST_DATA "/golden/jobdata.tsv");
    size_t replies = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream in(line);
        std::string name, hex;
        int type = 0;
        in >> name >> type >> hex;
        SCOPED_TRACE(name);
        Bytes bytes;
        for (size_t i = 0; i + 1 < hex.size(); i += 2) {
            bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
        }
        Gds& client = *another_store();
        use_host(client, "vm");
        Unpacker unpacker({bfrops_, static_cast<BufferType>(type)}, bytes.view());
        std::string nspace;
        ASSERT_TRUE(unpacker.string(nspace));
        ASSERT_EQ(nspace, "goldns");
        const Result<void> taken = client.unpack_job("goldns", unpacker);
        ASSERT_TRUE(taken) << taken.error().text;
        const bool remote = name.find("remote") != std::string::npos;
        const Ask job{.nspace = "goldns"};
        EXPECT_EQ(get(client, PMIX_JOB_SIZE, job), remote ? "u4" : "u2");
        EXPECT_EQ(get(client, PMIX_UNIV_SIZE, job), remote ? "u4" : "u2");
        EXPECT_EQ(get(client, PMIX_JOBID, job), "sgoldjob");
        EXPECT_EQ(get(client, "host.extra", job), "sextra-value");
        EXPECT_EQ(get(client, PMIX_LOCAL_PEERS, job), "s0,1");
        EXPECT_EQ(get(client, PMIX_LOCAL_SIZE, job), "u2");
        EXPECT_EQ(get(client, PMIX_NODE_LIST, job), remote ? "svm,node2" : "svm");
        EXPECT_EQ(get(client, PMIX_LOCAL_RANK, {.nspace = "goldns", .rank = 1}), "h1");
        EXPECT_EQ(get(client, PMIX_HOSTNAME, {.nspace = "goldns", .rank = 1}), "svm");
        EXPECT_EQ(get(client, PMIX_APPNUM, {.nspace = "goldns", .rank = 1}), "u0");
        if (remote) {
            EXPECT_EQ(get(client, PMIX_HOSTNAME, {.nspace = "goldns", .rank = 3}), "snode2");
            EXPECT_EQ(get(client, PMIX_LOCAL_RANK, {.nspace = "goldns", .rank = 3}), "h3")
                << "as that host said";
            EXPECT_EQ(get(client, PMIX_LOCAL_PEERS, {.nspace = "goldns", .nodeid = 1}), "s2,3");
        }
        ++replies;
    }
    EXPECT_EQ(replies, 8u);
}

TEST_F(Wire, OpenPmixClientsGetTheKeysOfTheirOwnServers) {
    register_all();
    const auto sent = items(pack(*store_, false));
    const auto all_of = [&](const char* key) {
        std::vector<std::string> out;
        for (auto [at, end] = sent.equal_range(key); at != end; ++at)
            out.push_back(at->second);
        return out;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(all_of(PMIX_JOB_SIZE), Texts{"u4"});
    EXPECT_EQ(all_of(PMIX_MAX_PROCS), Texts{"u4"});
    EXPECT_EQ(all_of(PMIX_JOB_NUM_APPS), Texts{"u1"});
    EXPECT_EQ(all_of(PMIX_NUM_NODES), Texts{"u2"});
    EXPECT_EQ(all_of(PMIX_NODE_LIST), Texts{"salpha,beta"});
    EXPECT_EQ(all_of(PMIX_JOBID), Texts{"sj1"});
    EXPECT_EQ(all_of("host.extra"), Texts{"sextra"});
    EXPECT_EQ(all_of(PMIX_SESSION_INFO_ARRAY), Texts{"[pmix.session.id=u4294967295 pmix.univ.size=u8 ]"});
    EXPECT_EQ(all_of(PMIX_NODE_INFO_ARRAY),
              (Texts{"[pmix.hname=salpha pmix.nodeid=u0 pmix.node.size=u3 pmix.lpeers=s0,1 pmix.lldr=r0 "
                     "pmix.local.size=u2 ]",
                     "[pmix.hname=sbeta pmix.nodeid=u5 pmix.alias=sb1,b2 pmix.pmem=type15 pmix.lpeers=s2,3 "
                     "pmix.lldr=r2 pmix.local.size=u2 ]"}));
    EXPECT_EQ(all_of(PMIX_APP_INFO_ARRAY)[0].find("[pmix.appnum=u0 pmix.wdir=s/w "), 0u);
    const Texts blobs = all_of(PMIX_PROC_BLOB);
    ASSERT_EQ(blobs.size(), 4u);
    EXPECT_EQ(blobs[2],
              "2: pmix.appnum=u0 pmix.apprank=r2 pmix.cpuset=shwloc:0x3 pmix.grank=r12 pmix.hname=sbeta "
              "pmix.lrank=h0 "
              "pmix.nodeid=u5 pmix.nrank=h0");
    EXPECT_TRUE(all_of(PMIX_NODE_MAP).empty());
    EXPECT_TRUE(all_of("muster.job.map").empty());
}

TEST_F(Wire, BothFormsHaveTheSameData) {
    register_all();
    for (const bool compact : {false, true}) {
        SCOPED_TRACE(compact);
        Gds& client = *another_store();
        use_host(client, "alpha");
        const Bytes bytes = pack(*store_, compact);
        const Result<void> taken = unpack(client, bytes.view());
        ASSERT_TRUE(taken) << taken.error().text;
        expect_all(client);
    }
}

TEST_F(Wire, TheCompactFormOfALargeJobIsSmall) {
    ASSERT_TRUE(add(maps("pmix:n[0-999]", "pmix:1000x(99)@0+100")));
    const Bytes bytes = pack(*store_, true);
    EXPECT_LT(bytes.size(), 400u);
    Gds& client = *another_store();
    ASSERT_TRUE(unpack(client, bytes.view()));
    EXPECT_EQ(get(client, PMIX_HOSTNAME, {.rank = 99999}), "sn999");
    EXPECT_EQ(get(client, PMIX_LOCAL_RANK, {.rank = 99998}), "h98");
    EXPECT_EQ(get(client, PMIX_JOB_SIZE, {}), "u100000");
}

TEST_F(Wire, ProcDataArraysAndMapBlobsAreRead) {
    Packer packer(format());
    packer.kval(PMIX_JOB_SIZE, *Value::from(uint32_t{3}).get());
    Packer blob(format());
    blob.size(2).kval("alpha", *Value::from("0,2").get()).kval("beta", *Value::from("1").get());
    Bytes inside = blob.take();
    const pmix_byte_object_t object = {reinterpret_cast<char*>(inside.data()), inside.size()};
    packer.kval(PMIX_MAP_BLOB, *Value::from(object).get());
    packer.kval(PMIX_PROC_DATA, *entries(PMIX_RANK, Value::rank(2), "x", "y").to_value().get());
    packer.kval(PMIX_LOCAL_SIZE, *Value::from(uint32_t{2}).get());
    const Bytes bytes = packer.take();
    ASSERT_TRUE(unpack(*store_, bytes.view()));
    EXPECT_EQ(of_rank(2, PMIX_HOSTNAME), "salpha");
    EXPECT_EQ(of_rank(1, PMIX_HOSTNAME), "sbeta");
    EXPECT_EQ(of_rank(2, "x"), "sy");
    EXPECT_EQ(get(PMIX_LOCAL_PEERS), "s0,2");
}

TEST_F(Wire, MalformedRepliesChangeNothing) {
    register_all();
    for (const bool compact : {false, true}) {
        const Bytes good = pack(*store_, compact);
        Gds& client = *another_store();
        for (size_t cut = 1; cut < good.size(); ++cut) {
            // A reply truncated between two items is shorter but valid.
            Unpacker probe(format(), good.view().first(cut));
            std::string key;
            Value value;
            while (!probe.at_end() && probe.kval(key, value)) {
            }
            if (!probe.failed()) continue;
            EXPECT_FALSE(unpack(client, good.view().first(cut)));
            ASSERT_FALSE(client.knows("job"));
        }
        // Each byte inverted: refused or accepted, without a crash.
        for (size_t at = 0; at < good.size(); ++at) {
            Bytes bad(good.view());
            bad.data()[at] = static_cast<uint8_t>(~bad.data()[at]);
            Gds& victim = *another_store();
            [[maybe_unused]] const Result<void> taken = unpack(victim, bad.view());
            victim.deregister("job");
        }
    }
    expect_all(*store_);
}

TEST_F(Wire, ContradictoryRepliesAreAccepted) {
    Info info = maps("alpha,beta", "0;1", 2);
    ASSERT_TRUE(add(info));
    Packer packer(format());
    packer.kval(PMIX_PROC_DATA, *entries(PMIX_RANK, Value::rank(1), PMIX_HOSTNAME, "alpha").to_value().get());
    const Bytes bytes = packer.take();
    ASSERT_TRUE(unpack(*store_, bytes.view()));
    EXPECT_EQ(of_rank(1, PMIX_HOSTNAME), "salpha");
}

TEST_F(Wire, AnUnknownNamespaceCannotBePacked) {
    Packer packer(format());
    EXPECT_EQ(store_->pack_job("other", packer, false), PMIX_ERR_INVALID_NAMESPACE);
}

}  // namespace
}  // namespace muster
