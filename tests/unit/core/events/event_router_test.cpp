// SPDX-License-Identifier: BSD-3-Clause
// Events between the processes of one server: delivery by codes and ranges, the cache for handlers that
// register later, and chains of handlers across the wire.
#include "core/events/event_router.hpp"

#include "tests/unit/core/in_memory/calls.hpp"
#include "tests/unit/core/in_memory/job.hpp"
#include "tests/unit/core/in_memory/listener.hpp"

namespace muster::testing_in_memory {
namespace {

constexpr pmix_status_t kBell = PMIX_EXTERNAL_ERR_BASE - 11;
constexpr pmix_status_t kHorn = PMIX_EXTERNAL_ERR_BASE - 12;

class EventRouterTest : public JobInMemory {
  protected:
    EventRouterTest() { node.host.agreeable.insert("notify_event"); }

    Process& process(pmix_rank_t rank) { return node.client(rank); }
    void listen(Listener& listener, Process& at, std::vector<pmix_status_t> codes, Info directives = {}) {
        listener.listen(at, std::move(codes), std::move(directives));
        ASSERT_TRUE(until([&] { return listener.registered(); }));
        ASSERT_EQ(listener.status(), PMIX_SUCCESS);
    }
    pmix_status_t notified(Process& from, pmix_status_t code, pmix_data_range_t range, Info info = {}) {
        const Call call = notify(from, code, range, std::move(info));
        EXPECT_TRUE(until([&] { return call.there(); }));
        settle();
        return call.status();
    }
    static Info to(const std::vector<pmix_proc_t>& procs) {
        Info info;
        info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(procs));
        return info;
    }
};

TEST_F(EventRouterTest, PassesAnEventToThoseWhoRegisteredItsCode) {
    start(3);
    Listener bell, horn, all;
    listen(bell, process(1), {kBell});
    listen(horn, process(1), {kHorn, kHorn - 1});
    listen(all, process(2), {});
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(bell.count(kBell), 1U);
    EXPECT_EQ(horn.heard.size(), 0U);
    EXPECT_EQ(all.count(kBell), 1U);
    ASSERT_NE(bell.last(kBell), nullptr);
    EXPECT_TRUE(proc_is(bell.last(kBell)->source, make_proc("job", 0)));
}

TEST_F(EventRouterTest, AnswersTheReporterBeforeTheEventWakesItsReceivers) {
    start(1);
    const auto order_of = [&](pmix_data_range_t range) {
        std::vector<std::string> order;
        node.on_loop([&] {
            Namespaces namespaces;
            EventRouter router(node.process().runtime(), node.server().host(), namespaces,
                               [&](const EventPtr&) { order.emplace_back("event"); }, {});
            router.from_client(make_event(make_proc("job", 0), kBell, range), [&](pmix_status_t status) {
                EXPECT_EQ(status, PMIX_SUCCESS);
                order.emplace_back("answer");
            });
        });
        return order;
    };
    for (const pmix_data_range_t range : {PMIX_RANGE_LOCAL, PMIX_RANGE_GLOBAL})
        EXPECT_EQ(order_of(range), (std::vector<std::string>{"answer", "event"})) << int{range};
}

TEST_F(EventRouterTest, KeepsAnEventFromDefaultHandlersWhereItSaysSo) {
    start(2);
    Listener all, single;
    listen(all, process(1), {});
    listen(single, process(1), {kBell});
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL, with(PMIX_EVENT_NON_DEFAULT)), PMIX_SUCCESS);
    EXPECT_EQ(all.heard.size(), 0U);
    EXPECT_EQ(single.heard.size(), 1U);
}

TEST_F(EventRouterTest, KeepsEachRange) {
    node.add_job("job", 2);
    node.add_job("other", 1);
    for (const auto& [nspace, rank] : {std::pair("job", 0), std::pair("job", 1), std::pair("other", 0)})
        node.add_client(nspace, static_cast<pmix_rank_t>(rank));
    Listener self, mate, other, server;
    listen(self, node.client("job", 0), {kBell});
    listen(mate, node.client("job", 1), {kBell});
    listen(other, node.client("other", 0), {kBell});
    listen(server, node.process(), {kBell});
    struct Expected {
        pmix_data_range_t range;
        size_t self, mate, other, server;
    };
    for (const Expected& one : std::vector<Expected>{{PMIX_RANGE_PROC_LOCAL, 1, 0, 0, 0},
                                                     {PMIX_RANGE_NAMESPACE, 1, 1, 0, 1},
                                                     {PMIX_RANGE_LOCAL, 1, 1, 1, 1},
                                                     {PMIX_RANGE_SESSION, 1, 1, 1, 1},
                                                     {PMIX_RANGE_GLOBAL, 1, 1, 1, 1},
                                                     {PMIX_RANGE_RM, 0, 0, 0, 0}}) {
        SCOPED_TRACE(static_cast<int>(one.range));
        for (Listener* each : {&self, &mate, &other, &server})
            each->heard.clear();
        EXPECT_EQ(notified(node.client("job", 0), kBell, one.range), PMIX_SUCCESS);
        EXPECT_EQ(self.heard.size(), one.self);
        EXPECT_EQ(mate.heard.size(), one.mate);
        EXPECT_EQ(other.heard.size(), one.other);
        EXPECT_EQ(server.heard.size(), one.server);
    }
    for (Listener* each : {&self, &mate, &other, &server})
        each->heard.clear();
    EXPECT_EQ(notified(node.client("job", 0), kBell, PMIX_RANGE_CUSTOM,
                       to({make_proc("other", PMIX_RANK_WILDCARD)})),
              PMIX_SUCCESS);
    EXPECT_EQ(self.heard.size() + mate.heard.size(), 0U);
    EXPECT_EQ(other.heard.size(), 1U);
}

TEST_F(EventRouterTest, TellsSessionsApart) {
    for (const auto& [name, session] : {std::pair("job", 7U), std::pair("same", 7U), std::pair("far", 8U)}) {
        Info info;
        info.add(PMIX_JOB_SIZE, 1U);
        info.add(PMIX_SESSION_ID, session);
        info.add(PMIX_NODE_MAP, "node0");
        info.add(PMIX_PROC_MAP, "0");
        node.on_loop([&] { EXPECT_EQ(node.server().register_nspace(name, 1, info), PMIX_SUCCESS); });
        node.register_client(name, 0);
        node.add_client(name, 0);
    }
    Listener same, far;
    listen(same, node.client("same", 0), {kBell});
    listen(far, node.client("far", 0), {kBell});
    EXPECT_EQ(notified(node.client("job", 0), kBell, PMIX_RANGE_SESSION), PMIX_SUCCESS);
    EXPECT_EQ(same.heard.size(), 1U);
    EXPECT_EQ(far.heard.size(), 0U);
}

TEST_F(EventRouterTest, RefusesDirectivesThatContradictARange) {
    start(1);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_CUSTOM), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL, to({make_proc("job", 0)})), PMIX_ERR_BAD_PARAM);
    Info wrong;
    wrong.add(PMIX_EVENT_AFFECTED_PROC, "not a process");
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL, std::move(wrong)), PMIX_ERR_BAD_PARAM);
    Listener listener;
    Info range;
    const pmix_data_range_t custom = PMIX_RANGE_CUSTOM;
    range.add(PMIX_RANGE, &custom, PMIX_DATA_RANGE);
    listener.listen(process(0), {kBell}, std::move(range));
    EXPECT_EQ(listener.status(), PMIX_ERR_BAD_PARAM);
}

TEST_F(EventRouterTest, ReadsAnEventOfAClientWithCare) {
    start(2);
    // A server may receive events that a client's library would refuse.
    const auto sent = [&](auto fill) {
        Process& from = process(0);
        const Call call = testing_in_memory::call(from, [&from, fill](HostDone done) {
            Packer message = from.client()->packer(Command::Notify);
            fill(message);
            from.client()->request_status(std::move(message),
                                          [done](pmix_status_t status) { done(answer_of(status)); });
        });
        EXPECT_TRUE(until([&] { return call.there(); }));
        return call.status();
    };
    const pmix_data_range_t local = PMIX_RANGE_LOCAL, none = PMIX_RANGE_INVALID;
    EXPECT_EQ(sent([&](Packer& out) { out.status(kBell).items(&none, 1, PMIX_DATA_RANGE).infos({}); }),
              PMIX_ERR_BAD_PARAM);
    EXPECT_NE(sent([&](Packer& out) { out.status(kBell); }), PMIX_SUCCESS);
    EXPECT_EQ(sent([&](Packer& out) { out.status(kBell).items(&local, 1, PMIX_DATA_RANGE).infos({}); }),
              PMIX_SUCCESS);
}

TEST_F(EventRouterTest, HoldsAnEventForHandlersThatComeLater) {
    start(2);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kHorn, PMIX_RANGE_NAMESPACE, with(PMIX_EVENT_DO_NOT_CACHE)), PMIX_SUCCESS);
    Listener first;
    listen(first, process(1), {kBell, kHorn});
    settle();
    EXPECT_EQ(first.count(kBell), 1U);
    EXPECT_EQ(first.count(kHorn), 0U);
    // Once each: neither another handler of the process nor the same code gets it again.
    Listener second;
    listen(second, process(1), {kBell});
    settle();
    EXPECT_EQ(second.heard.size(), 0U);
    // A restricted handler does not consume events of other handlers.
    Listener mine;
    listen(mine, process(0), {kBell}, with(PMIX_EVENT_HDLR_FIRST));
    settle();
    EXPECT_EQ(mine.heard.size(), 1U);
}

TEST_F(EventRouterTest, GivesTheNextLifeOfAProcessNoEventThatItHad) {
    start(2);
    Listener first, next, all;
    listen(first, process(1), {kBell});
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kHorn, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(first.heard.size(), 1U);
    for (int life = 0; life < 2; ++life) {
        Call over;
        on(process(1), [&] {
            process(1).client()->finalize(std::chrono::seconds(2), false,
                                          [done = over.deliver()](auto status) { done(answer_of(status)); });
        });
        ASSERT_TRUE(until([&] { return over.there(); }));
        if (life == 0) {
            EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
        }
        node.add_client("job", 1);
    }
    EXPECT_EQ(first.heard.size(), 1U);
    listen(next, process(1), {kBell});
    settle();
    EXPECT_EQ(next.heard.size(), 1U) << "what came between the lives";
    listen(all, process(1), {kHorn});
    settle();
    EXPECT_EQ(all.heard.size(), 1U) << "what no life has had";
}

TEST_F(EventRouterTest, ReplaysToADefaultHandlerWhatConcernsItsJobAlone) {
    node.add_job("job", 2);
    node.add_job("other", 1);
    node.add_client("job", 0);
    node.add_client("job", 1);
    node.add_client("other", 0);
    EXPECT_EQ(notified(node.client("job", 0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(node.client("job", 0), kHorn, PMIX_RANGE_LOCAL, with(PMIX_EVENT_NON_DEFAULT)),
              PMIX_SUCCESS);
    Listener mate, stranger, single;
    listen(mate, node.client("job", 1), {});
    listen(stranger, node.client("other", 0), {});
    settle();
    EXPECT_EQ(mate.heard.size(), 1U);
    EXPECT_EQ(stranger.heard.size(), 0U);
    listen(single, node.client("other", 0), {kBell});
    settle();
    EXPECT_EQ(single.heard.size(), 1U);
}

TEST_F(EventRouterTest, ForgetsWhatIsHeldForANamespaceThatIsDeregistered) {
    start(2);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_CUSTOM, to({make_proc("job", 1)})), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    node.kill("job", 0);
    node.kill("job", 1);
    settle();
    node.on_loop([&] { node.server().deregister_nspace("job", [] {}); });
    start(2);
    Listener listener;
    listen(listener, process(1), {kBell});
    settle();
    EXPECT_EQ(listener.heard.size(), 1U);
}

TEST_F(EventRouterTest, StopsWithTheLastHandlerOfACode) {
    start(2);
    Listener one, two, all;
    listen(one, process(1), {kBell});
    listen(two, process(1), {kBell, kHorn});
    listen(all, process(1), {});
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(one.heard.size() + two.heard.size() + all.heard.size(), 3U);
    auto stopped = two.stop(process(1));
    ASSERT_TRUE(until([&] { return *stopped == PMIX_SUCCESS; }));
    stopped = all.stop(process(1));
    ASSERT_TRUE(until([&] { return *stopped == PMIX_SUCCESS; }));
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kHorn, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(one.heard.size(), 2U);
    EXPECT_EQ(two.heard.size() + all.heard.size(), 2U);
    stopped = two.stop(process(1));
    settle();
    EXPECT_EQ(*stopped, PMIX_ERR_BAD_PARAM);
    // The event that arrived without a handler for its code is cached.
    Listener again;
    listen(again, process(1), {kHorn});
    settle();
    EXPECT_EQ(again.heard.size(), 1U);
}

TEST_F(EventRouterTest, GivesAOneShotHandlerOneEvent) {
    start(2);
    Listener once;
    listen(once, process(1), {kBell}, with(PMIX_EVENT_ONESHOT));
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(once.heard.size(), 1U);
}

TEST_F(EventRouterTest, RunsAChainUntilAHandlerCompletesTheAction) {
    start(2);
    Listener first, middle, last;
    Info name;
    name.add(PMIX_EVENT_HDLR_NAME, "first");
    name.add(PMIX_EVENT_HDLR_FIRST, true);
    listen(first, process(1), {kBell}, std::move(name));
    listen(middle, process(1), {kBell});
    listen(last, process(1), {kBell}, with(PMIX_EVENT_HDLR_LAST));
    first.holds = true;
    first.adds.add("found", 1);
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(middle.heard.size(), 0U);
    ASSERT_EQ(first.held(), 1U);
    first.complete();
    settle();
    ASSERT_EQ(middle.heard.size(), 1U);
    EXPECT_EQ(middle.heard[0].results, std::vector<std::string>({"first", "found"}));
    EXPECT_EQ(last.heard.size(), 1U);
    first.holds = false;
    middle.returns = PMIX_EVENT_ACTION_COMPLETE;
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(middle.heard.size(), 2U);
    EXPECT_EQ(last.heard.size(), 1U);
}

TEST_F(EventRouterTest, KeepsTheRestrictionsOfHandlers) {
    start(3);
    Listener of_two, about_two, own, rm, node_wide, job_wide;
    Info custom;
    custom.add(PMIX_EVENT_CUSTOM_RANGE, procs_value({make_proc("job", 2)}));
    listen(of_two, process(1), {kBell}, std::move(custom));
    Info affected;
    affected.add(PMIX_EVENT_AFFECTED_PROC, make_proc("job", 2));
    listen(about_two, process(1), {kBell}, std::move(affected));
    const auto in = [](pmix_data_range_t range) {
        Info info;
        info.add(PMIX_RANGE, &range, PMIX_DATA_RANGE);
        return info;
    };
    listen(own, process(1), {kBell}, in(PMIX_RANGE_PROC_LOCAL));
    listen(rm, process(1), {kBell}, in(PMIX_RANGE_RM));
    listen(node_wide, process(1), {kBell}, in(PMIX_RANGE_LOCAL));
    listen(job_wide, process(1), {kBell}, in(PMIX_RANGE_NAMESPACE));
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(of_two.heard.size() + about_two.heard.size() + own.heard.size() + rm.heard.size(), 0U);
    EXPECT_EQ(node_wide.heard.size(), 1U);
    EXPECT_EQ(job_wide.heard.size(), 1U);
    Info about;
    about.add(PMIX_EVENT_AFFECTED_PROCS, procs_value({make_proc("job", 0), make_proc("job", 2)}));
    EXPECT_EQ(notified(process(2), kBell, PMIX_RANGE_LOCAL, std::move(about)), PMIX_SUCCESS);
    EXPECT_EQ(of_two.heard.size(), 1U);
    EXPECT_EQ(about_two.heard.size(), 1U);
    EXPECT_EQ(notified(process(1), kBell, PMIX_RANGE_PROC_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(own.heard.size(), 1U);
    EXPECT_EQ(notified(node.process(), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(rm.heard.size(), 1U);
}

TEST_F(EventRouterTest, ForgetsTheCodesOfAProcessThatIsLost) {
    start(3);
    Listener gone, stays;
    listen(gone, process(2), {kBell});
    listen(stays, process(1), {kBell});
    node.kill("job", 2);
    settle();
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(gone.heard.size(), 0U);
    EXPECT_EQ(stays.heard.size(), 1U);
}

TEST_F(EventRouterTest, TellsTheHostOfALostProcessAndOfNoneThatSaidGoodbye) {
    start(2);
    Listener server, mate;
    listen(server, node.process(), {PMIX_ERR_LOST_CONNECTION});
    listen(mate, process(0), {});
    node.kill("job", 1);
    settle();
    ASSERT_EQ(server.heard.size(), 1U);
    EXPECT_TRUE(proc_is(server.heard[0].source, make_proc("job", 1)));
    const pmix_proc_t* affected = server.heard[0].info.view().proc(PMIX_EVENT_AFFECTED_PROC);
    ASSERT_NE(affected, nullptr);
    EXPECT_EQ(affected->rank, 1U);
    EXPECT_EQ(mate.heard.size(), 0U);
    Process& leaving = process(0);
    const Call left = call(leaving, [&leaving](HostDone done) {
        leaving.client()->finalize(std::chrono::seconds(2), false,
                                   [done](pmix_status_t status) { done(answer_of(status)); });
    });
    ASSERT_TRUE(until([&] { return left.there(); }));
    node.kill("job", 0);
    settle();
    EXPECT_EQ(server.heard.size(), 1U);
}

TEST_F(EventRouterTest, TellsAProcessThatItsServerIsLost) {
    start(1);
    Listener listener;
    listen(listener, process(0), {PMIX_ERR_LOST_CONNECTION});
    node.on_loop([&] { node.server().close(); });
    ASSERT_TRUE(until([&] { return !listener.heard.empty(); }));
    EXPECT_TRUE(proc_is(listener.heard[0].source, node.process().self()));
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_LOCAL), PMIX_ERR_UNREACH);
    // Without a server a handler still serves its process.
    Listener own;
    listen(own, process(0), {kBell});
    EXPECT_EQ(notified(process(0), kBell, PMIX_RANGE_PROC_LOCAL), PMIX_SUCCESS);
    EXPECT_EQ(own.heard.size(), 1U);
}

TEST_F(EventRouterTest, ReportsSilentlyWhatNobodyHereHandles) {
    start(2);
    Listener mate;
    listen(mate, process(1), {kBell});
    const auto reported = [&](pmix_data_range_t range) {
        bool taken = false;
        on(process(0),
           [&] { taken = process(0).events().report(make_event(process(0).self(), kBell, range), false); });
        settle();
        return taken;
    };
    EXPECT_TRUE(reported(PMIX_RANGE_LOCAL));
    EXPECT_EQ(mate.heard.size(), 1U);
    EXPECT_FALSE(reported(PMIX_RANGE_GLOBAL));
    Listener own;
    listen(own, process(0), {kBell});
    settle();
    // The reported event was cached for it.
    EXPECT_EQ(own.heard.size(), 1U);
    EXPECT_FALSE(reported(PMIX_RANGE_LOCAL));
}

TEST_F(EventRouterTest, ReportsSilentlyEachEventThatItsReporterWaitsFor) {
    start(2);
    Listener mate;
    listen(mate, process(1), {kBell});
    int taken = 0;
    on(process(0), [&] {
        for (int i = 0; i < 3; ++i) {
            const auto event = make_event(process(0).self(), kBell, PMIX_RANGE_LOCAL);
            if (process(0).events().report(event, true)) ++taken;
        }
    });
    settle();
    EXPECT_EQ(taken, 3);
    EXPECT_EQ(mate.heard.size(), 3U);
}

}  // namespace
}  // namespace muster::testing_in_memory
