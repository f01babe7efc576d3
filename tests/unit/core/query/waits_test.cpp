// SPDX-License-Identifier: BSD-3-Clause
// The query of waits: collectives, requests for data, groups and invitations, and the permission to see them.
#include "core/query/waits.hpp"

#include <pmix/muster.h>

#include "core/modex/get.hpp"
#include "core/query/query_server.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {
namespace {

class WaitsInMemory : public ServicesInMemory {
  protected:
    /// Returns the wait of each process: "job:0 fence: ...".
    std::vector<std::string> waits(uint32_t uid = 0, Info qualifiers = {}) {
        std::vector<std::string> list;
        node.on_loop([&] {
            Caller caller = Caller::host(node.process().runtime());
            caller.uid = uid;
            Info found;
            EXPECT_TRUE(answer_waits(node.server().queries(), caller, MUSTER_WAITS, qualifiers, found));
            for (const pmix_info_t& one : found.view().infos(MUSTER_WAITS)) {
                const InfoView entry = value_as_infos(&one.value);
                list.push_back(Proc(*entry.proc(PMIX_PROCID)).text() + " " + entry.string(MUSTER_WAIT));
            }
        });
        std::sort(list.begin(), list.end());
        return list;
    }
    /// A get whose answer is of no interest.
    void get(uint32_t rank, const pmix_proc_t& target, const char* key) {
        Process& process = node.client(rank);
        auto asks = std::make_shared<GetCall>();
        EXPECT_EQ(asks->prepare(process.exchange(), nullptr, &target, key, {}), PMIX_SUCCESS);
        EXPECT_EQ(asks->detach(), PMIX_SUCCESS);
        process.loop().post([asks] {
            GetCall::ask(asks, [](pmix_status_t, pmix_value_t* value) {
                if (value == nullptr) return;
                value_destruct(value);
                std::free(value);
            });
        });
    }
    static std::vector<pmix_proc_t> all() { return {make_proc("job", PMIX_RANK_WILDCARD)}; }
};

TEST_F(WaitsInMemory, IsAnotherKeyThanOthers) {
    node.on_loop([&] {
        Info found;
        const Caller caller = Caller::host(node.process().runtime());
        EXPECT_FALSE(answer_waits(node.server().queries(), caller, "other", {}, found));
    });
    EXPECT_TRUE(waits().empty());
}

TEST_F(WaitsInMemory, NamesWhoIsMissingInAFence) {
    // One of its processes is on another node.
    node.add_job("job", 4, "node0,node1", "0,1,2;3", 3);
    for (uint32_t rank = 0; rank < 3; ++rank) {
        node.register_client("job", rank);
        node.add_client("job", rank);
    }
    const Call calls[3] = {fence(node.client(0), all()), fence(node.client(1), all()), {}};
    settle();
    ASSERT_EQ(waits(), (std::vector<std::string>{"job:0 fence: 2 of 3 are in, not job:2",
                                                 "job:1 fence: 2 of 3 are in, not job:2"}));
    const Call last = fence(node.client(2), all());
    const auto upcall = asked("fence");
    ASSERT_EQ(waits().size(), 3U);
    EXPECT_EQ(waits()[0], "job:0 fence: all of this node are in, the host has not answered");
    upcall->answer({});
    EXPECT_EQ(status_of(last), PMIX_SUCCESS);
    EXPECT_EQ(status_of(calls[0]), PMIX_SUCCESS);
    EXPECT_TRUE(waits().empty());
}

TEST_F(WaitsInMemory, NamesTheFirstOfMany) {
    node.add_job("job", 20);
    node.add_client("job", 0);
    fence(node.client(0), all());
    settle();
    const auto list = waits();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_NE(list[0].find("1 of 20 are in, not job:1 job:2"), std::string::npos) << list[0];
    EXPECT_NE(list[0].find(" others"), std::string::npos) << list[0];
}

TEST_F(WaitsInMemory, NamesTheDataThatIsMissing) {
    start(2);
    get(0, make_proc("job", 1), "port");
    settle();
    EXPECT_EQ(waits(), std::vector<std::string>{"job:0 get: 'port' of job:1"});
}

TEST_F(WaitsInMemory, NamesTheGroupThatIsMade) {
    start(3);
    construct(node.client(0), "group", procs_of("job", {0, 1, 2}));
    settle();
    const auto list = waits();
    ASSERT_EQ(list.size(), 1U);
    EXPECT_NE(list[0].find("group"), std::string::npos) << list[0];
    EXPECT_NE(list[0].find("1 of 3 are in, not job:1 job:2"), std::string::npos) << list[0];
}

TEST_F(WaitsInMemory, NamesWhoHasNotAnsweredAnInvitation) {
    start(3);
    node.host.agreeable.insert("notify_event");
    invite(node.client(0), "party", procs_of("job", {1, 2}));
    settle();
    const auto list = waits();
    ASSERT_FALSE(list.empty());
    EXPECT_NE(list[0].find("party"), std::string::npos) << list[0];
    EXPECT_NE(list[0].find("job:1"), std::string::npos) << list[0];
}

TEST_F(WaitsInMemory, AreToldToTheirOwnUserAndOfTheJobThatIsMeant) {
    start(2);
    node.add_job("other", 2);
    node.add_client("other", 0);
    fence(node.client(0), all());
    fence(node.client("other", 0), {make_proc("other", PMIX_RANK_WILDCARD)});
    settle();
    EXPECT_EQ(waits().size(), 2U);
    Info only;
    only.add(PMIX_NSPACE, "other");
    const auto list = waits(0, std::move(only));
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].substr(0, 7), "other:0");
    EXPECT_TRUE(waits(geteuid() + 4711).empty());
}

}  // namespace
}  // namespace muster::testing_in_memory
