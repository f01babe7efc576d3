// SPDX-License-Identifier: BSD-3-Clause
// Events between a server and its host: upcalls that are answered at once, late, or refused, events of the
// host, environment events, and the limits of what a server holds.
#include "core/events/event_router.hpp"
#include "core/events/events.hpp"
#include "tests/unit/core/in_memory/cluster.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

constexpr pmix_status_t kDrum = PMIX_EXTERNAL_ERR_BASE - 21;
constexpr pmix_status_t kNodeDown = PMIX_EVENT_NODE_DOWN;
constexpr pmix_status_t kNodeOffline = PMIX_EVENT_NODE_OFFLINE;

class EventHostTest : public testing::Test {
  protected:
    void start(uint32_t size, int nodes = 1) {
        cluster_.emplace(nodes);
        cluster_->start("job", size);
    }
    Process& process(pmix_rank_t rank) { return cluster_->process("job", rank); }
    FakeHost& host(int node = 0) { return cluster_->host(node); }
    void listen(Listener& listener, Process& at, std::vector<pmix_status_t> codes, Info directives = {}) {
        listener.listen(at, std::move(codes), std::move(directives));
        ASSERT_TRUE(cluster_->until([&] { return listener.registered(); }));
        ASSERT_EQ(listener.status(), PMIX_SUCCESS);
    }
    pmix_status_t notified(Process& from, std::shared_ptr<Event> event) {
        const Call one = notify(from, std::move(event));
        EXPECT_TRUE(cluster_->until([&] { return one.there(); }));
        cluster_->settle();
        return one.status();
    }
    pmix_status_t notified(pmix_rank_t rank, pmix_status_t code, pmix_data_range_t range, Info info = {}) {
        return notified(process(rank), make_event(process(rank).self(), code, range, std::move(info)));
    }
    size_t dropped() {
        size_t count = 0;
        cluster_->at(0,
                     [&](auto& node) { node.on_loop([&] { count = node.process().events().dropped(); }); });
        return count;
    }

    std::optional<Cluster> cluster_;
};

// --- events to the host ---

TEST_F(EventHostTest, TheReporterDoesNotWaitForTheHostsAnswer) {
    start(1);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL), PMIX_SUCCESS);
    const auto upcall = host().take("notify_event");
    ASSERT_TRUE(upcall);
    EXPECT_EQ(upcall->number, kDrum);
    EXPECT_EQ(upcall->range, PMIX_RANGE_GLOBAL);
    EXPECT_TRUE(proc_is(upcall->procs[0], make_proc("job", 0)));
    upcall->answer(answer_of(PMIX_ERR_NOT_SUPPORTED));
    upcall->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
}

TEST_F(EventHostTest, TheHostHearsOnlyWhatReachesBeyondTheNode) {
    start(2);
    Info local;
    local.add(PMIX_EVENT_CUSTOM_RANGE, procs_value({make_proc("job", 1)}));
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_CUSTOM, std::move(local)), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL, with(PMIX_EVENT_STAYS_LOCAL)), PMIX_SUCCESS);
    EXPECT_EQ(host().count("notify_event"), 0U);
    Info wild;
    wild.add(PMIX_EVENT_CUSTOM_RANGE, procs_value({make_proc("elsewhere", PMIX_RANK_WILDCARD)}));
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_CUSTOM, std::move(wild)), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_RM), PMIX_SUCCESS);
    EXPECT_EQ(host().count("notify_event"), 2U);
}

TEST_F(EventHostTest, ARefusalOfTheHostIsTheReportersWhereItsRangeSurelyReachesBeyond) {
    start(2, 2);
    host().returns["notify_event"] = PMIX_ERR_NOT_SUPPORTED;
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_NAMESPACE), PMIX_ERR_NOT_SUPPORTED);
    host().returns["notify_event"] = PMIX_OPERATION_SUCCEEDED;
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    host().returns["notify_event"] = PMIX_ERR_NO_PERMISSIONS;
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL), PMIX_ERR_NO_PERMISSIONS);
    start(1);
    host().returns["notify_event"] = PMIX_ERR_NOT_SUPPORTED;
    // The whole job is on this node; it is unknown whether any other process wants the event.
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL), PMIX_SUCCESS);
}

TEST_F(EventHostTest, PassesEventsFromOneNodeToTheOther) {
    start(4, 2);
    Listener near, far, server;
    listen(near, process(2), {kDrum});
    listen(far, process(1), {kDrum});
    listen(server, cluster_->server_process(1), {kDrum});
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(near.heard.size(), 1U);
    EXPECT_EQ(far.heard.size(), 0U);
    cluster_->finish();
    EXPECT_EQ(far.heard.size(), 1U);
    EXPECT_EQ(server.heard.size(), 1U);
    // The event does not return.
    EXPECT_EQ(near.heard.size(), 1U);
    EXPECT_EQ(host(1).count("notify_event"), 0U);
}

// --- events from the host ---

TEST_F(EventHostTest, GivesAnEventOfTheHostToItsClients) {
    start(2);
    Listener one, all;
    listen(one, process(0), {kDrum});
    listen(all, process(1), {});
    EXPECT_EQ(notified(cluster_->server_process(),
                       make_event(make_proc("elsewhere", 3), kDrum, PMIX_RANGE_NAMESPACE)),
              PMIX_SUCCESS);
    EXPECT_EQ(one.heard.size(), 1U);
    EXPECT_EQ(all.heard.size(), 1U);
    EXPECT_EQ(host().count("notify_event"), 0U);
}

TEST_F(EventHostTest, AHostsOwnEventGoesUpToo) {
    start(1);
    const pmix_proc_t self = cluster_->server_process().self();
    EXPECT_EQ(notified(cluster_->server_process(), make_event(self, kDrum, PMIX_RANGE_GLOBAL)), PMIX_SUCCESS);
    EXPECT_EQ(host().count("notify_event"), 1U);
    EXPECT_EQ(notified(cluster_->server_process(), make_event(self, kDrum, PMIX_RANGE_LOCAL)), PMIX_SUCCESS);
    EXPECT_EQ(host().count("notify_event"), 1U);
}

TEST_F(EventHostTest, AsksADefaultHandlerOfTheHostAboutFailuresAlone) {
    start(1);
    Listener all;
    listen(all, cluster_->server_process(), {});
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, PMIX_EVENT_JOB_END, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(all.heard.size(), 0U);
    EXPECT_EQ(notified(0, PMIX_ERR_PROC_ABORTED, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL), PMIX_SUCCESS);
    EXPECT_EQ(all.heard.size(), 2U);
}

TEST_F(EventHostTest, NobodyGetsAnEventWhoseRequiredDirectiveNobodyHonours) {
    start(2);
    Listener other;
    listen(other, process(1), {kDrum});
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_LOCAL, with_required(PMIX_EVENT_TERMINATE_JOB)),
              PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(host().count("notify_event"), 0U);
    host().returns["notify_event"] = PMIX_ERR_NOT_SUPPORTED;
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL, with_required(PMIX_EVENT_TERMINATE_JOB)),
              PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(host().count("notify_event"), 1U);
    EXPECT_EQ(other.heard.size(), 0U);
    host().returns["notify_event"] = PMIX_OPERATION_SUCCEEDED;
    EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_GLOBAL, with_required(PMIX_EVENT_TERMINATE_JOB)), PMIX_SUCCESS);
    EXPECT_EQ(host().count("notify_event"), 2U);
    EXPECT_EQ(other.heard.size(), 1U);
}

// --- environment events ---

TEST_F(EventHostTest, TheHostJudgesRequiredDirectivesOfEachRegistration) {
    start(1);
    Listener plain, strict, refused;
    listen(plain, process(0), {kNodeDown});
    // The code is already registered with the host, but the directive needs another request.
    listen(strict, process(0), {kNodeDown}, with_required("muster.test.unknown"));
    EXPECT_EQ(host().count("register_events"), 2U);
    // Codes of applications are not registered with the host.
    refused.listen(process(0), {kDrum}, with_required("muster.test.unknown"));
    ASSERT_TRUE(cluster_->until([&] { return refused.registered(); }));
    EXPECT_EQ(refused.status(), PMIX_ERR_NOT_SUPPORTED);
    host().agreeable.erase("register_events");
    host().returns["register_events"] = PMIX_ERR_NOT_SUPPORTED;
    refused.listen(process(0), {kNodeDown}, with_required("muster.test.unknown"));
    ASSERT_TRUE(cluster_->until([&] { return refused.registered(); }));
    EXPECT_EQ(refused.status(), PMIX_ERR_NOT_SUPPORTED);
    // The other handlers keep the code.
    EXPECT_EQ(host().count("deregister_events"), 0U);
}

TEST_F(EventHostTest, RegistersACodeOfTheEnvironmentOnceAndWithTheHostsAgreement) {
    start(2);
    host().agreeable.clear();
    Listener first, second;
    Info directives;
    directives.add("vendor.key", 5);
    directives.add(PMIX_EVENT_HDLR_NAME, "mine");
    first.listen(process(0), {kDrum, kNodeDown}, std::move(directives));
    cluster_->settle();
    EXPECT_FALSE(first.registered());
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->codes, std::vector<pmix_status_t>({kNodeDown}));
    EXPECT_EQ(asked->info.view().number<int>("vendor.key"), 5);
    EXPECT_FALSE(asked->info.view().has(PMIX_EVENT_HDLR_NAME));
    // Events before the host's consent are delivered.
    const Call early =
        notify(cluster_->server_process(), make_event(make_proc("host", 0), kNodeDown, PMIX_RANGE_LOCAL));
    ASSERT_TRUE(cluster_->until([&] { return early.there(); }));
    EXPECT_EQ(first.heard.size(), 0U);
    asked->answer(answer_of(PMIX_SUCCESS));
    ASSERT_TRUE(cluster_->until([&] { return first.registered(); }));
    EXPECT_EQ(first.status(), PMIX_SUCCESS);
    cluster_->settle();
    EXPECT_EQ(first.heard.size(), 1U);
    second.listen(process(1), {kNodeDown});
    ASSERT_TRUE(cluster_->until([&] { return second.registered(); }));
    EXPECT_EQ(host().count("register_events"), 1U);
    // The last deregistration deregisters it with the host.
    first.stop(process(0));
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 0U);
    cluster_->kill("job", 1);
    cluster_->settle();
    const auto withdrawn = host().take("deregister_events");
    ASSERT_TRUE(withdrawn);
    EXPECT_EQ(withdrawn->codes, std::vector<pmix_status_t>({kNodeDown}));
}

TEST_F(EventHostTest, ARefusedRegistrationLeavesNothingBehind) {
    start(2);
    host().agreeable.clear();
    Listener refused, second;
    refused.listen(process(0), {kNodeDown, kNodeOffline});
    cluster_->settle();
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    asked->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    ASSERT_TRUE(cluster_->until([&] { return refused.registered(); }));
    EXPECT_EQ(refused.status(), PMIX_ERR_NO_PERMISSIONS);
    EXPECT_EQ(
        notified(cluster_->server_process(), make_event(make_proc("host", 0), kNodeDown, PMIX_RANGE_LOCAL)),
        PMIX_SUCCESS);
    EXPECT_EQ(refused.heard.size(), 0U);
    second.listen(process(1), {kNodeDown});
    cluster_->settle();
    EXPECT_EQ(host().count("register_events"), 2U);
}

TEST_F(EventHostTest, NobodyIsToldOfACodeForWhichTheHostHasStillToAgree) {
    for (const pmix_status_t first_answer : {PMIX_SUCCESS, PMIX_ERR_NO_PERMISSIONS}) {
        start(2);
        host().agreeable.clear();
        Listener first, same_process, other_process;
        first.listen(process(0), {kNodeDown});
        same_process.listen(process(0), {kNodeDown, kDrum});
        other_process.listen(process(1), {kNodeOffline, kNodeDown});
        cluster_->settle();
        EXPECT_FALSE(first.registered() || same_process.registered() || other_process.registered());
        const auto asked = host().take("register_events");
        ASSERT_TRUE(asked);
        EXPECT_EQ(host().count("register_events"), 1U);
        asked->answer(answer_of(first_answer));
        ASSERT_TRUE(cluster_->until([&] { return first.registered(); }));
        EXPECT_EQ(first.status(), first_answer);
        cluster_->settle();
        // If the host has refused, each registration gets its own answer.
        while (const auto again = host().take("register_events")) {
            again->answer(answer_of(PMIX_SUCCESS));
            cluster_->settle();
        }
        ASSERT_TRUE(same_process.registered() && other_process.registered());
        EXPECT_EQ(same_process.status(), PMIX_SUCCESS);
        EXPECT_EQ(other_process.status(), PMIX_SUCCESS);
        EXPECT_EQ(notified(cluster_->server_process(),
                           make_event(make_proc("host", 0), kNodeDown, PMIX_RANGE_LOCAL)),
                  PMIX_SUCCESS);
        EXPECT_EQ(first.heard.size(), first_answer == PMIX_SUCCESS ? 1U : 0U);
        EXPECT_EQ(same_process.heard.size(), 1U);
        EXPECT_EQ(other_process.heard.size(), 1U);
    }
}

TEST_F(EventHostTest, TheHostsAgreementWithAProcessThatHasGoneIsTakenBack) {
    start(2);
    host().agreeable.clear();
    Listener gone;
    gone.listen(process(1), {kNodeDown});
    cluster_->settle();
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    cluster_->kill("job", 1);
    cluster_->settle();
    asked->answer(answer_of(PMIX_SUCCESS));
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 1U);
}

TEST_F(EventHostTest, AnAgreementThatComesWithTheEndOfTheProcessIsTakenBack) {
    start(2);
    host().agreeable.clear();
    for (const bool answered_first : {true, false}) {
        Listener gone;
        const pmix_rank_t rank = answered_first ? 0 : 1;
        gone.listen(process(rank), {kNodeDown});
        cluster_->settle();
        const auto asked = host().take("register_events");
        ASSERT_TRUE(asked);
        if (answered_first) asked->answer(answer_of(PMIX_SUCCESS));
        cluster_->kill("job", rank);
        if (!answered_first) asked->answer(answer_of(PMIX_SUCCESS));
        cluster_->settle();
        EXPECT_TRUE(host().take("deregister_events"));
    }
}

TEST_F(EventHostTest, RefusalsTakeBackWhatOthersGaveUpMeanwhile) {
    start(2);
    host().agreeable.erase("deregister_events");
    Listener first;
    listen(first, process(0), {kNodeDown});
    host().agreeable.erase("register_events");
    Listener second;
    second.listen(process(1), {kNodeOffline, kNodeDown});
    cluster_->settle();
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->codes, std::vector<pmix_status_t>({kNodeOffline}));
    first.stop(process(0));
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 0U);
    asked->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    cluster_->settle();
    const auto withdrawn = host().take("deregister_events");
    ASSERT_TRUE(withdrawn);
    EXPECT_EQ(withdrawn->codes, std::vector<pmix_status_t>({kNodeDown}));
}

TEST_F(EventHostTest, TheHostCountsEachCodeOfAProcessOnce) {
    start(1);
    host().agreeable.erase("deregister_events");
    Listener first, second;
    listen(first, process(0), {kNodeDown});
    Info directives;
    directives.add("vendor.key", 5);  // makes the library send another request
    listen(second, process(0), {kNodeDown}, std::move(directives));
    first.stop(process(0));
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 0U);
    second.stop(process(0));
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 1U);
}

TEST_F(EventHostTest, AsksTheHostForTheCodesOfItsOwnHandlers) {
    start(1);
    host().agreeable.clear();
    Listener own;
    own.listen(cluster_->server_process(), {kNodeDown});
    cluster_->settle();
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    asked->answer(answer_of(PMIX_SUCCESS));
    ASSERT_TRUE(cluster_->until([&] { return own.registered(); }));
    own.stop(cluster_->server_process());
    cluster_->settle();
    EXPECT_EQ(host().count("deregister_events"), 1U);
}

/// Registrations, deregistrations, deaths and answers of the host in any order: at the end the host has
/// deregistered each code as often as it has accepted it.
TEST_F(EventHostTest, BalancesItsUpcallsInAnyOrder) {
    start(1);
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        host().agreeable = {"client_connected", "client_finalized", "notify_event"};
        const std::string nspace = "env" + std::to_string(seed);
        constexpr uint32_t kSize = 3;
        cluster_->start(nspace, kSize);
        std::map<pmix_status_t, int> balance;
        std::list<std::shared_ptr<Upcall>> open;
        std::list<Listener> listeners[kSize];
        const auto answer_one = [&] {
            const auto one = std::next(open.begin(), static_cast<long>(random() % open.size()));
            const bool agrees = random() % 4 != 0;
            if (agrees) {
                for (const pmix_status_t code : (*one)->codes)
                    ++balance[code];
            }
            (*one)->answer(answer_of(agrees ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE));
            open.erase(one);
        };
        const auto collect = [&] {
            while (const auto one = host().take("register_events"))
                open.push_back(one);
            while (const auto one = host().take("deregister_events")) {
                for (const pmix_status_t code : one->codes)
                    --balance[code];
                one->answer(answer_of(PMIX_SUCCESS));
            }
        };
        for (int step = 0; step < 30; ++step) {
            const pmix_rank_t rank = random() % kSize;
            if (cluster_->alive(nspace, rank)) {
                Process& at = cluster_->process(nspace, rank);
                switch (random() % 6) {
                    case 0:
                        if (random() % 4 == 0) cluster_->kill(nspace, rank);
                        break;
                    case 1:
                        for (Listener& one : listeners[rank]) {
                            if (one.registered() && one.status() == PMIX_SUCCESS && random() % 2 == 0)
                                one.stop(at);
                        }
                        break;
                    default:
                        listeners[rank].emplace_back();
                        if (random() % 2 == 0)
                            listeners[rank].back().listen(at, {kNodeDown});
                        else
                            listeners[rank].back().listen(at, {kNodeOffline, kNodeDown, kDrum});
                }
            }
            cluster_->settle(static_cast<int>(random() % 4));
            collect();
            if (!open.empty() && random() % 2 == 0) answer_one();
        }
        for (int round = 0; round < 10; ++round) {
            cluster_->settle(10);
            collect();
            while (!open.empty())
                answer_one();
        }
        for (pmix_rank_t rank = 0; rank < kSize; ++rank) {
            for (Listener& one : listeners[rank])
                EXPECT_TRUE(one.registered() || !cluster_->alive(nspace, rank)) << "rank " << rank;
        }
        cluster_->end(nspace, kSize);
        collect();
        for (const auto& [code, count] : balance)
            EXPECT_EQ(count, 0) << code;
    }
}

// --- limits ---

TEST_F(EventHostTest, RefusesMoreCodesThanOneProcessMayHave) {
    const ParameterScope limit("pmix_event_max_codes", "4");
    start(2);
    Listener some, more, fits, other;
    listen(some, process(0), {kDrum, kDrum - 1, kDrum - 2});
    more.listen(process(0), {kDrum - 3, kDrum - 4});
    ASSERT_TRUE(cluster_->until([&] { return more.registered(); }));
    EXPECT_EQ(more.status(), PMIX_ERR_OUT_OF_RESOURCE);
    listen(fits, process(0), {kDrum, kDrum - 3});
    listen(other, process(1), {kDrum, kDrum - 1, kDrum - 2, kDrum - 3});
    // Deregistered codes free space.
    some.stop(process(0));
    cluster_->settle();
    Listener again;
    listen(again, process(0), {kDrum - 5, kDrum - 6});
    Listener too_many;
    too_many.listen(process(1), {kDrum - 7, kDrum - 8, kDrum - 9, kDrum - 10, kDrum - 11});
    ASSERT_TRUE(cluster_->until([&] { return too_many.registered(); }));
    EXPECT_EQ(too_many.status(), PMIX_ERR_OUT_OF_RESOURCE);
}

TEST_F(EventHostTest, RefusesCodesThatFitWhenTheHostWasAskedAndDoNotWhenItHasAnswered) {
    const ParameterScope limit("pmix_event_max_codes", "2");
    start(1);
    host().agreeable.clear();
    Listener slow, quick;
    slow.listen(process(0), {kNodeDown, kNodeOffline});
    cluster_->settle();
    const auto asked = host().take("register_events");
    ASSERT_TRUE(asked);
    listen(quick, process(0), {kDrum});
    asked->answer(answer_of(PMIX_SUCCESS));
    ASSERT_TRUE(cluster_->until([&] { return slow.registered(); }));
    EXPECT_EQ(slow.status(), PMIX_ERR_OUT_OF_RESOURCE);
    cluster_->settle();
    const auto withdrawn = host().take("deregister_events");
    ASSERT_TRUE(withdrawn);
    EXPECT_EQ(withdrawn->codes.size(), 2U);
}

TEST_F(EventHostTest, GivesUpTheOldestEventsThatItHoldsAndCountsThem) {
    const ParameterScope limit("pmix_event_cache_size", "20000");
    start(2);
    std::string text(900, 'x');
    for (int number = 0; number < 40; ++number) {
        Info info;
        info.add("number", number);
        info.add("text", text.c_str());
        EXPECT_EQ(notified(0, kDrum, PMIX_RANGE_LOCAL, std::move(info)), PMIX_SUCCESS);
    }
    EXPECT_GT(dropped(), 0U);
    Listener late;
    listen(late, process(1), {kDrum});
    cluster_->settle();
    ASSERT_GT(late.heard.size(), 0U);
    EXPECT_LT(late.heard.size(), 40U);
    EXPECT_EQ(late.heard.back().info.view().number<int>("number"), 39);
    // One larger than the whole limit.
    const std::string huge(30000, 'x');
    Info info;
    info.add("text", huge.c_str());
    const size_t before = dropped();
    EXPECT_EQ(notified(0, kDrum - 1, PMIX_RANGE_LOCAL, std::move(info)), PMIX_SUCCESS);
    EXPECT_GT(dropped(), before);
}

TEST_F(EventHostTest, GivesUpEventsForAProcessThatDoesNotRead) {
    const ParameterScope limit("pmix_event_queue_size", "50000");
    start(1);
    Listener deaf;
    listen(deaf, process(0), {kDrum});
    const std::string text(20000, 'x');
    // Only the server is driven.
    cluster_->at(0, [&](auto& node) {
        for (int number = 0; number < 200; ++number) {
            node.on_loop([&] {
                Info info;
                info.add("text", text.c_str());
                auto event = make_event(make_proc("host", 0), kDrum, PMIX_RANGE_LOCAL, std::move(info));
                EXPECT_EQ(event->read_directives(), PMIX_SUCCESS);
                node.process().events().notify(event, [](pmix_status_t) {});
            });
        }
    });
    EXPECT_GT(dropped(), 0U);
    ASSERT_TRUE(cluster_->until([&] { return !deaf.heard.empty(); }));
    cluster_->settle();
    EXPECT_LT(deaf.heard.size(), 200U);
}

}  // namespace
}  // namespace muster::testing_in_memory
