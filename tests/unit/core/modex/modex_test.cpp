// SPDX-License-Identifier: BSD-3-Clause
// Modex in memory: requests for data that arrives before them, after them, never, or from the host.
#include "core/modex/modex.hpp"

#include "core/modex/get.hpp"
#include "framework/pcompress.hpp"
#include "framework/registry.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {
namespace {

struct Got {
    pmix_status_t status = PMIX_SUCCESS;
    std::string text;
};

class ModexInMemory : public JobInMemory {
  protected:
    void post(uint32_t rank, const char* key, const char* text, pmix_scope_t scope = PMIX_GLOBAL) {
        Client& client = *node.client(rank).client();
        ASSERT_EQ(client.put(scope, key, *Value::from(text)), PMIX_SUCCESS);
        bool sent = false;
        on(node.client(rank), [&] { client.commit([&](pmix_status_t) { sent = true; }); });
        ASSERT_TRUE(until([&] { return sent; }));
    }
    Later<Got> get(uint32_t rank, const pmix_proc_t& target, const char* key, Info directives = {}) {
        Later<Got> later;
        Process& process = node.client(rank);
        auto call = std::make_shared<GetCall>();
        const pmix_status_t prepared = call->prepare(process.exchange(), nullptr, &target, key, directives);
        EXPECT_EQ(prepared, PMIX_SUCCESS);
        EXPECT_EQ(call->detach(), PMIX_SUCCESS);
        process.loop().post([call, deliver = later.deliver()] {
            if (const pmix_status_t refused = call->may_ask(); refused != PMIX_SUCCESS)
                return deliver({refused, {}});
            GetCall::ask(call, [deliver](pmix_status_t status, pmix_value_t* value) {
                const char* text = value == nullptr ? nullptr : value_as_string(value);
                deliver({status, text == nullptr ? "" : text});
                if (value == nullptr) return;
                value_destruct(value);
                std::free(value);
            });
        });
        return later;
    }
};

TEST_F(ModexInMemory, GetWaitsForALocalCommit) {
    start(2);
    auto first = get(0, make_proc("job", 1), "port");
    settle();
    EXPECT_FALSE(first.there());
    post(1, "port", "4711");
    ASSERT_TRUE(until([&] { return first.there(); }));
    EXPECT_EQ(first->status, PMIX_SUCCESS);
    EXPECT_EQ(first->text, "4711");
}

TEST_F(ModexInMemory, GetFindsWhatAnUpdateOfTheNamespaceAdds) {
    start(2);
    Info update;
    Info proc;
    proc.add(PMIX_RANK, Value::rank(1));
    proc.add("site.port", "4711");
    proc.add(PMIX_CPUSET, "hwloc:0x2");
    update.add(PMIX_PROC_INFO_ARRAY, std::move(proc).to_value());
    auto waits = get(0, make_proc("job", 1), "site.port");
    settle();
    EXPECT_FALSE(waits.there());
    node.on_loop([&] { EXPECT_EQ(node.server().register_nspace("job", -1, update), PMIX_SUCCESS); });
    auto reserved = get(0, make_proc("job", 1), PMIX_CPUSET);
    ASSERT_TRUE(until([&] { return waits.there() && reserved.there(); }));
    EXPECT_EQ(waits->text, "4711");
    EXPECT_EQ(reserved->text, "hwloc:0x2");
}

// As servers of OpenPMIx 7.0 send it.
TEST_F(ModexInMemory, TakesInWhatAnotherServerHasCompressedByZstd) {
    start(1);
    node.add_job("other", 2, "elsewhere", "0,1", 0);
    pmix_status_t status = PMIX_ERROR;
    bool there = false;
    node.on_loop([&] {
        Runtime& runtime = node.process().runtime();
        const auto all = runtime.registry().pcompress();
        const auto zstd = std::ranges::find(all, "zstd", &Pcompress::name);
        if (zstd == all.end()) return;
        there = true;
        const WireFormat format = runtime.own_format();
        Packer object(format);
        object.proc(make_proc("other", 1)).kval("port", *Value::from(std::string(10000, '7').c_str()));
        Packer content(format);
        content.byte(1).bytes(object.view());
        Result<Bytes> small = (*zstd)->compress(content.view());
        ASSERT_TRUE(small.ok());
        Packer envelope(format);
        envelope.boolean(true).bytes(small->view());
        Packer whole(format);
        whole.bytes(envelope.view());
        status = node.server().modex().accept_contributions(whole.view(),
                                                            {make_proc("other", PMIX_RANK_WILDCARD)});
    });
    if (!there) GTEST_SKIP() << "the component pcompress/zstd is not built";
    EXPECT_EQ(status, PMIX_SUCCESS);
    auto got = get(0, make_proc("other", 1), "port");
    ASSERT_TRUE(until([&] { return got.there(); }));
    EXPECT_EQ(got->text, std::string(10000, '7'));
}

TEST_F(ModexInMemory, GetOfAMissingKeyTimesOut) {
    start(2);
    Info directives;
    directives.add(PMIX_TIMEOUT, 60);
    auto never = get(0, make_proc("job", 1), "port", std::move(directives));
    settle();
    pass(std::chrono::seconds(59));
    EXPECT_FALSE(never.there());
    pass(std::chrono::seconds(2));
    ASSERT_TRUE(until([&] { return never.there(); }));
    EXPECT_EQ(never->status, PMIX_ERR_TIMEOUT);
}

TEST_F(ModexInMemory, GetFailsWhenItsTargetDies) {
    start(2);
    auto first = get(0, make_proc("job", 1), "port");
    settle();
    node.kill("job", 1);
    ASSERT_TRUE(until([&] { return first.there(); }));
    EXPECT_NE(first->status, PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster::testing_in_memory
