// SPDX-License-Identifier: BSD-3-Clause
// The client role in memory: posts, requests, abort and finalize, messages that are too long or malformed,
// the end of its server, and a process without a server.
#include "core/client/client.hpp"

#include <set>

#include "tests/unit/core/in_memory/cluster.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

class ClientTest : public testing::Test {
  protected:
    void start(uint32_t size) {
        cluster_.emplace(1);
        cluster_->start("job", size);
    }
    Process& process(pmix_rank_t rank) { return cluster_->process("job", rank); }
    Client& client(pmix_rank_t rank) { return *process(rank).client(); }
    pmix_status_t answered(const Call& one) {
        EXPECT_TRUE(cluster_->until([&] { return one.there(); }));
        return one.status();
    }
    pmix_status_t committed(pmix_rank_t rank) {
        Process& one = process(rank);
        return answered(call(one, [&one](HostDone done) {
            one.client()->commit([done](pmix_status_t status) { done(answer_of(status)); });
        }));
    }
    /// Sends a request that `fill` packs.
    template <class Fill>
    Call sent(pmix_rank_t rank, Command command, Fill fill) {
        Process& one = process(rank);
        return call(one, [&one, command, fill](HostDone done) {
            Packer message = one.client()->packer(command);
            fill(message);
            one.client()->request_status(std::move(message),
                                         [done](pmix_status_t status) { done(answer_of(status)); });
        });
    }
    std::string stored(Gds& store, pmix_rank_t owner, const char* key) {
        std::string text;
        Lookup lookup;
        lookup.nspace = "job";
        lookup.rank = owner;
        lookup.key = key;
        store.find(lookup, [&](const Found& found) {
            if (const char* value = value_as_string(&found.value)) text = value;
        });
        return text;
    }

    std::optional<Cluster> cluster_;
};

TEST_F(ClientTest, CommitsWhatWasPutInEachScope) {
    start(2);
    EXPECT_EQ(client(0).put(PMIX_GLOBAL, "global", *Value::from("one")), PMIX_SUCCESS);
    EXPECT_EQ(client(0).put(PMIX_LOCAL, "local", *Value::from("two")), PMIX_SUCCESS);
    EXPECT_EQ(client(0).put(PMIX_REMOTE, "remote", *Value::from("three")), PMIX_SUCCESS);
    EXPECT_EQ(client(0).put(PMIX_INTERNAL, "internal", *Value::from("four")), PMIX_SUCCESS);
    cluster_->settle();
    EXPECT_EQ(stored(cluster_->server().store(), 0, "global"), "");
    EXPECT_EQ(stored(process(0).store(), 0, "internal"), "four");
    EXPECT_EQ(committed(0), PMIX_SUCCESS);
    cluster_->settle();
    EXPECT_EQ(stored(cluster_->server().store(), 0, "global"), "one");
    EXPECT_EQ(stored(cluster_->server().store(), 0, "local"), "two");
    EXPECT_EQ(stored(cluster_->server().store(), 0, "internal"), "");
    EXPECT_EQ(committed(0), PMIX_SUCCESS);
}

TEST_F(ClientTest, PassesAnAbortToTheHostAndItsAnswerBack) {
    start(2);
    Process& caller = process(1);
    const Call aborted = call(caller, [&caller](HostDone done) {
        caller.client()->abort(17, "no more", {make_proc("job", 0)},
                               [done](pmix_status_t status) { done(answer_of(status)); });
    });
    cluster_->settle();
    const auto asked = cluster_->host().take("abort");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->number, 17);
    EXPECT_EQ(asked->text, "no more");
    ASSERT_EQ(asked->procs.size(), 2U);
    EXPECT_EQ(asked->procs[0].rank, 1U);
    EXPECT_EQ(asked->procs[1].rank, 0U);
    EXPECT_FALSE(aborted.there());
    asked->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(answered(aborted), PMIX_ERR_NO_PERMISSIONS);
}

TEST_F(ClientTest, SaysGoodbyeWhenTheHostHasHeardOfIt) {
    start(2);
    cluster_->host().agreeable.erase("client_finalized");
    const Call left = cluster_->finalize("job", 1);
    cluster_->settle();
    const auto asked = cluster_->host().take("client_finalized");
    ASSERT_TRUE(asked);
    EXPECT_FALSE(left.there());
    asked->answer(answer_of(PMIX_SUCCESS));
    EXPECT_EQ(answered(left), PMIX_SUCCESS);
}

TEST_F(ClientTest, DoesNotWaitForEverForTheAnswerToItsGoodbye) {
    start(1);
    cluster_->host().agreeable.erase("client_finalized");
    const Call left = cluster_->finalize("job", 0);
    cluster_->settle();
    EXPECT_FALSE(left.there());
    cluster_->pass(std::chrono::milliseconds(2100));
    EXPECT_EQ(answered(left), PMIX_ERR_TIMEOUT);
    EXPECT_EQ(left.answers(), 1);
}

TEST_F(ClientTest, AnswersWhatIsOpenWhenItsServerEnds) {
    start(2);
    const Call waiting = fence(process(0), {make_proc("job", PMIX_RANK_WILDCARD)});
    const Call asked = connect_procs(process(1), {make_proc("job", PMIX_RANK_WILDCARD)});
    cluster_->settle();
    std::vector<pmix_proc_t> lost;
    client(0).on_lost([&](const pmix_proc_t& server) { lost.push_back(server); });
    cluster_->at(0, [](auto& node) { node.on_loop([&] { node.server().close(); }); });
    EXPECT_EQ(answered(waiting), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(answered(asked), PMIX_ERR_LOST_CONNECTION);
    ASSERT_TRUE(cluster_->until([&] { return !client(0).connected(); }));
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_TRUE(client(0).servers().empty());
    EXPECT_EQ(client(0).put(PMIX_GLOBAL, "late", *Value::from("one")), PMIX_SUCCESS);
    EXPECT_EQ(committed(0), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(answered(sent(0, Command::Fence, [](Packer&) {})), PMIX_ERR_UNREACH);
    EXPECT_EQ(answered(construct(process(0), "g", {make_proc("job", 0)})), PMIX_ERR_UNREACH);
    EXPECT_EQ(answered(destruct(process(0), "g")), PMIX_ERR_UNREACH);
    EXPECT_EQ(answered(connect_procs(process(0), {make_proc("job", 0)})), PMIX_ERR_UNREACH);
    EXPECT_EQ(answered(disconnect_procs(process(0), {make_proc("job", 0)})), PMIX_ERR_UNREACH);
}

TEST_F(ClientTest, KnowsItsServer) {
    start(1);
    const pmix_proc_t server = cluster_->server_process().self();
    EXPECT_TRUE(proc_is(client(0).server(), server));
    EXPECT_TRUE(client(0).connected_to(server));
    EXPECT_TRUE(client(0).connected_to(make_proc(server.nspace, PMIX_RANK_WILDCARD)));
    EXPECT_FALSE(client(0).connected_to(make_proc("another", 0)));
    EXPECT_EQ(client(0).set_primary(server), PMIX_SUCCESS);
    EXPECT_EQ(client(0).set_primary(make_proc("another", 0)), PMIX_ERR_NOT_FOUND);
    ASSERT_EQ(client(0).servers().size(), 1U);
    Process& one = process(0);
    const Call other = call(one, [&one](HostDone done) {
        one.client()->request_to(make_proc("another", 0), one.client()->packer(Command::Fence),
                                 [done](Unpacker* reply) {
                                     done(answer_of(reply == nullptr ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS));
                                 });
    });
    EXPECT_EQ(answered(other), PMIX_ERR_NOT_FOUND);
    const Call none = call(one, [&one](HostDone done) {
        one.client()->disconnect(make_proc("another", 0), std::chrono::seconds(1),
                                 [done](pmix_status_t status) { done(answer_of(status)); });
    });
    EXPECT_EQ(answered(none), PMIX_ERR_NOT_FOUND);
    const Call away = call(one, [&one, server](HostDone done) {
        one.client()->disconnect(server, std::chrono::seconds(1),
                                 [done](pmix_status_t status) { done(answer_of(status)); });
    });
    EXPECT_EQ(answered(away), PMIX_SUCCESS);
    EXPECT_FALSE(client(0).connected());
}

TEST_F(ClientTest, DoesNotSendWhatItsServerDoesNotTake) {
    const ParameterScope limit("server_base_max_payload", "100000");
    start(2);
    const std::string text(200000, 'x');
    EXPECT_EQ(answered(sent(0, Command::Fence, [&](Packer& out) { out.string(text); })),
              PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(client(0).put(PMIX_GLOBAL, "long", *Value::from(text.c_str())), PMIX_SUCCESS);
    EXPECT_EQ(committed(0), PMIX_ERR_OUT_OF_RESOURCE);
    // The connection still works.
    EXPECT_EQ(committed(1), PMIX_SUCCESS);
    EXPECT_TRUE(client(0).connected());
}

TEST_F(ClientTest, IgnoresAnAnswerToNoRequest) {
    start(1);
    cluster_->at(0, [](auto& node) {
        node.on_loop([&] {
            for (const PeerPtr& peer : node.server().peers().all()) {
                peer->reply_status(tag::kFirstDynamic + 4000, PMIX_SUCCESS);
                peer->send(tag::kIof, Bytes());
                peer->send(77, Bytes());
            }
        });
    });
    cluster_->settle();
    EXPECT_TRUE(client(0).connected());
    EXPECT_EQ(committed(0), PMIX_SUCCESS);
}

TEST_F(ClientTest, DropsAnEventThatCannotBeRead) {
    start(1);
    Listener all;
    all.listen(process(0), {});
    ASSERT_TRUE(cluster_->until([&] { return all.registered(); }));
    cluster_->at(0, [](auto& node) {
        node.on_loop([&] {
            for (const PeerPtr& peer : node.server().peers().all())
                peer->reply_status(tag::kEvent, PMIX_SUCCESS);
        });
    });
    cluster_->settle();
    EXPECT_TRUE(all.heard.empty());
    EXPECT_TRUE(client(0).connected());
}

/// Each command with random bytes: the server answers, or ignores commands without an answer, and serves the
/// next request.
TEST_F(ClientTest, ItsServerLivesThroughRequestsThatCannotBeRead) {
    start(1);
    const std::set<int> silent = {static_cast<int>(Command::DeregisterEvents),
                                  static_cast<int>(Command::GroupJoin), static_cast<int>(Command::Post),
                                  static_cast<int>(Command::AllArrived), static_cast<int>(Command::Report)};
    for (int code = 0; code < 256; ++code) {
        if (code == static_cast<int>(Command::JobInfo) || code == static_cast<int>(Command::Finalize))
            continue;
        SCOPED_TRACE(command_name(static_cast<uint8_t>(code)));
        for (const bool empty : {true, false}) {
            const Call one = sent(0, static_cast<Command>(code), [empty](Packer& out) {
                if (!empty) out.size(SIZE_MAX).boolean(true);
            });
            cluster_->settle(4);
            const bool answers = silent.count(code) == 0;
            if (answers && !one.there()) cluster_->settle();
            if (!answers) {
                EXPECT_FALSE(one.there());
            }
            ASSERT_TRUE(client(0).connected());
        }
    }
    EXPECT_EQ(committed(0), PMIX_SUCCESS);
}

TEST_F(ClientTest, ASingletonIsItsOwnJob) {
    Info directives;
    directives.add(PMIX_EXTERNAL_PROGRESS, true);
    auto made = Process::create_client(directives);
    ASSERT_TRUE(made);
    Process& alone = **made;
    EXPECT_FALSE(alone.client()->connected());
    EXPECT_EQ(alone.store().job_size(alone.self().nspace), std::optional<uint32_t>(1));
    EXPECT_EQ(alone.self().rank, 0U);
    EXPECT_EQ(alone.client()->put(PMIX_GLOBAL, "key", *Value::from("text")), PMIX_SUCCESS);
    const Call sent_nowhere = call(alone, [&alone](HostDone done) {
        alone.client()->commit([done](pmix_status_t status) { done(answer_of(status)); });
    });
    const Call said = notify(alone, PMIX_EXTERNAL_ERR_BASE - 1, PMIX_RANGE_GLOBAL);
    for (int turn = 0; turn < 50; ++turn)
        alone.runtime().progress();
    EXPECT_EQ(sent_nowhere.status(), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(said.status(), PMIX_ERR_UNREACH);
    EXPECT_EQ(alone.say_goodbye(), PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster::testing_in_memory
