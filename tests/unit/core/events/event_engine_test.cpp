// SPDX-License-Identifier: BSD-3-Clause
// The handlers of one process: order, chains, results, cached events, and handlers that complete late or on
// another thread.
#include "core/events/event_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "framework/base/loop_callers.hpp"
#include "framework/base/proc.hpp"
#include "tests/covers.hpp"

namespace {

using namespace muster;

constexpr pmix_status_t kCode = PMIX_EXTERNAL_ERR_BASE - 1;
constexpr pmix_data_range_t kCustom = PMIX_RANGE_CUSTOM;
constexpr pmix_status_t kOther = PMIX_EXTERNAL_ERR_BASE - 2;

/// The arguments of one call of a handler.
struct Seen {
    size_t id;
    std::vector<std::string> results;
    std::vector<pmix_status_t> statuses;
    std::string name;
    void* object = nullptr;
    pmix_event_notification_cbfunc_fn_t complete;
    void* cbdata;
};

// The only context of a handler is its number.
std::vector<Seen> seen;
std::map<size_t, std::function<void(const Seen&)>> behaviour;

void handler(size_t id, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo,
             pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t complete,
             void* cbdata) {
    Seen one{id, {}, {}, "", nullptr, complete, cbdata};
    const InfoView infos{info, ninfo};
    if (const char* name = infos.string(PMIX_EVENT_HDLR_NAME)) one.name = name;
    if (const pmix_value_t* object = infos.value(PMIX_EVENT_RETURN_OBJECT)) one.object = object->data.ptr;
    for (size_t i = 0; i < nresults; ++i) {
        one.results.emplace_back(key_view(results[i].key));
        if (results[i].value.type == PMIX_STATUS) one.statuses.push_back(results[i].value.data.status);
    }
    seen.push_back(one);
    if (const auto found = behaviour.find(id); found != behaviour.end()) return found->second(one);
    complete(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, cbdata);
}

class Engine : public testing::Test {
  protected:
    void SetUp() override {
        seen.clear();
        behaviour.clear();
    }
    void TearDown() override { behaviour.clear(); }

    void on_loop(const std::function<void()>& work) {
        bool done = false;
        loop_.post([&] {
            work();
            done = true;
        });
        while (!done)
            callers_.progress();
    }
    pmix_status_t try_add(std::vector<pmix_status_t> codes, Info info, size_t& id) {
        HandlerSpec spec;
        spec.codes = std::move(codes);
        spec.function = handler;
        if (const pmix_status_t read = spec.read_directives(info); read != PMIX_SUCCESS) return read;
        pmix_status_t status = PMIX_SUCCESS;
        on_loop([&] {
            status = engine_->add(spec, id);
            if (status == PMIX_SUCCESS) engine_->activate(id);
        });
        return status;
    }
    size_t add(std::vector<pmix_status_t> codes, Info info = {}) {
        size_t id = SIZE_MAX;
        EXPECT_EQ(try_add(std::move(codes), std::move(info), id), PMIX_SUCCESS);
        return id;
    }
    template <class T>
    static Info with(const char* key, T&& value) {
        Info info;
        info.add(key, std::forward<T>(value));
        return info;
    }
    static std::shared_ptr<Event> event(pmix_status_t status = kCode, Info info = {}) {
        auto made = std::make_shared<Event>();
        made->status = status;
        made->source = make_proc("job", 1);
        made->info = std::move(info);
        EXPECT_EQ(made->read_directives(), PMIX_SUCCESS);
        return made;
    }
    void deliver(const EventPtr& one) {
        on_loop([&] { engine_->deliver(one, true); });
    }
    static std::vector<size_t> order() {
        std::vector<size_t> ids;
        for (const Seen& one : seen)
            ids.push_back(one.id);
        return ids;
    }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    std::vector<pmix_status_t> gone_;
    std::unique_ptr<EventEngine> engine_ = std::make_unique<EventEngine>(
        loop_, 4096, 4096,
        [](const HandlerSpec& spec, const pmix_proc_t& source) {
            return spec.range != PMIX_RANGE_CUSTOM || among(spec.range_procs, source);
        },
        [this](const std::vector<pmix_status_t>& codes) {
            gone_.insert(gone_.end(), codes.begin(), codes.end());
        });
};

using Ids = std::vector<size_t>;

TEST_F(Engine, OrdersHandlersByCategory) {
    covers("EVT-10", "EVT-11", "EVT-26");
    const size_t all = add({});
    const size_t last = add({kCode}, with(PMIX_EVENT_HDLR_LAST, true));
    const size_t multi = add({kCode, kOther});
    const size_t single = add({kCode});
    const size_t first = add({kCode, kOther}, with(PMIX_EVENT_HDLR_FIRST, true));
    deliver(event());
    EXPECT_EQ(order(), (Ids{first, single, multi, all, last}));
    seen.clear();
    deliver(event(kOther));
    EXPECT_EQ(order(), (Ids{first, multi, all})) << "last is not registered for that code";
}

TEST_F(Engine, AllowsOneFirstAndOneLastHandler) {
    covers("EVT-14", "EVT-15");
    for (const char* key : {PMIX_EVENT_HDLR_FIRST, PMIX_EVENT_HDLR_LAST}) {
        const size_t id = add({kCode}, with(key, true));
        size_t second = 0;
        EXPECT_EQ(try_add({kOther}, with(key, true), second), PMIX_ERR_EVENT_REGISTRATION);
        on_loop([&] { EXPECT_TRUE(engine_->remove(id)); });
        EXPECT_EQ(try_add({kOther}, with(key, true), second), PMIX_SUCCESS);
    }
}

TEST_F(Engine, OrdersHandlersWithinACategory) {
    covers("EVT-27", "EVT-29");
    const size_t a = add({kCode}, with(PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, true));
    const size_t z = add({kCode}, with(PMIX_EVENT_HDLR_LAST_IN_CATEGORY, true));
    const size_t m = add({kCode});
    const size_t b = add({kCode}, with(PMIX_EVENT_HDLR_PREPEND, true));
    const size_t y = add({kCode}, with(PMIX_EVENT_HDLR_APPEND, true));
    deliver(event());
    EXPECT_EQ(order(), (Ids{a, b, m, y, z}));
    size_t id = 0;
    EXPECT_EQ(try_add({kCode}, with(PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, true), id),
              PMIX_ERR_EVENT_REGISTRATION);
    EXPECT_EQ(try_add({kCode}, with(PMIX_EVENT_HDLR_LAST_IN_CATEGORY, true), id),
              PMIX_ERR_EVENT_REGISTRATION);
}

TEST_F(Engine, OrdersHandlersBeforeAndAfterOthers) {
    covers("EVT-12", "EVT-28");
    const size_t target = add({kCode}, with(PMIX_EVENT_HDLR_NAME, "target"));
    const size_t plain = add({kCode});
    const size_t after = add({kCode}, with(PMIX_EVENT_HDLR_AFTER, "target"));
    const size_t before = add({kCode}, with(PMIX_EVENT_HDLR_BEFORE, target));
    const size_t lost = add({kCode}, with(PMIX_EVENT_HDLR_BEFORE, "nobody"));
    deliver(event());
    const Ids ids = order();
    ASSERT_EQ(ids.size(), 5u);
    const auto at = [&](size_t id) { return std::find(ids.begin(), ids.end(), id) - ids.begin(); };
    EXPECT_LT(at(before), at(target));
    EXPECT_LT(at(target), at(after));
    EXPECT_LT(at(lost), 5);
    EXPECT_LT(at(plain), 5);
}

TEST_F(Engine, PassesResultsAlongTheChain) {
    covers("EVT-18", "EVT-19");
    const size_t late = add({kCode, kOther}, with(PMIX_EVENT_HDLR_NAME, "late"));
    add({});
    const size_t early = add({kCode}, with(PMIX_EVENT_HDLR_NAME, "early"));
    behaviour[early] = [](const Seen& call) {
        Info result = with("given", "text");
        call.complete(PMIX_EVENT_PARTIAL_ACTION_TAKEN, result.data(), result.size(), nullptr, nullptr,
                      call.cbdata);
    };
    behaviour[late] = [](const Seen& call) {
        call.complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, call.cbdata);
    };
    deliver(event());
    ASSERT_EQ(order(), (Ids{early, late}));
    EXPECT_TRUE(seen[0].results.empty());
    EXPECT_EQ(seen[1].results, (std::vector<std::string>{"early", "given"}));
    EXPECT_EQ(seen[1].statuses, (std::vector<pmix_status_t>{PMIX_EVENT_PARTIAL_ACTION_TAKEN}));
    // The third handler gets the results of both handlers before it.
    behaviour[late] = [](const Seen& call) {
        Info result = with("more", "text");
        call.complete(PMIX_SUCCESS, result.data(), result.size(), nullptr, nullptr, call.cbdata);
    };
    deliver(event());
    ASSERT_EQ(seen.size(), 5u);
    EXPECT_EQ(seen[4].results, (std::vector<std::string>{"early", "given", "late", "more"}));
    EXPECT_EQ(seen[4].statuses, (std::vector<pmix_status_t>{PMIX_EVENT_PARTIAL_ACTION_TAKEN, PMIX_SUCCESS}));
}

TEST_F(Engine, PassesEachHandlerItsOwnNameAndObject) {
    covers("EVT-25", "EVT-31");
    int object = 0;
    Info info = with(PMIX_EVENT_HDLR_NAME, "mine");
    info.add(PMIX_EVENT_RETURN_OBJECT, Value::pointer(&object));
    add({kCode, kOther});
    add({kCode}, std::move(info));
    deliver(event());
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].name, "mine");
    EXPECT_EQ(seen[0].object, &object);
    EXPECT_EQ(seen[1].name, "");
    EXPECT_EQ(seen[1].object, nullptr);
}

TEST_F(Engine, NonDefaultEventsSkipDefaultHandlers) {
    covers("EVT-07", "EVT-48");
    add({});
    const size_t single = add({kCode});
    deliver(event(kCode, with(PMIX_EVENT_NON_DEFAULT, true)));
    EXPECT_EQ(order(), (Ids{single}));
}

TEST_F(Engine, FiltersBySourceRangeAndAffectedProcesses) {
    covers("EVT-09", "EVT-30");
    const auto list = [](pmix_rank_t rank) {
        const pmix_proc_t proc = make_proc("job", rank);
        return Value::array(&proc, 1, PMIX_PROC);
    };
    Info here, elsewhere;
    here.add(PMIX_EVENT_CUSTOM_RANGE, list(1));
    elsewhere.add(PMIX_EVENT_CUSTOM_RANGE, list(2));
    const size_t near = add({kCode}, std::move(here));
    add({kCode}, std::move(elsewhere));
    const size_t affected =
        add({kOther}, with(PMIX_EVENT_AFFECTED_PROC, make_proc("job", PMIX_RANK_WILDCARD)));
    add({kOther}, with(PMIX_EVENT_AFFECTED_PROC, make_proc("job", 8)));
    deliver(event());
    deliver(event(kOther, with(PMIX_EVENT_AFFECTED_PROC, make_proc("job", 7))));
    EXPECT_EQ(order(), (Ids{near, affected}));
}

TEST_F(Engine, CachedEventsReachLaterHandlersOnceInOrder) {
    covers("EVT-03");
    deliver(event(kCode, with("n", 1)));
    deliver(event(kCode, with("n", 2)));
    deliver(event(kCode, with(PMIX_EVENT_DO_NOT_CACHE, true)));
    EXPECT_TRUE(seen.empty());
    add({kOther});
    EXPECT_TRUE(seen.empty());
    add({kCode});
    EXPECT_EQ(seen.size(), 2u);
    add({kCode});
    EXPECT_EQ(seen.size(), 2u);
    for (int i = 0; i < 100; ++i)
        deliver(event(kOther + 100));
    EXPECT_GT(engine_->dropped(), 0u) << "what is held is bounded";
    EXPECT_LT(engine_->dropped(), 100u);
}

TEST_F(Engine, AHandlerMayCompleteLaterFromAnotherThreadAndTwice) {
    covers("EVT-17");
    const size_t slow = add({kCode});
    const size_t next = add({kCode, kOther});
    behaviour[slow] = [](const Seen&) {};
    deliver(event());
    deliver(event(kOther));
    EXPECT_EQ(order(), (Ids{slow, next})) << "one chain that waits holds up no other";
    const Seen call = seen[0];
    static std::atomic<int> released;
    released = 0;
    std::thread([&] {
        Info result = with("given", 1);
        const auto release = [](pmix_status_t, void*) { ++released; };
        call.complete(PMIX_SUCCESS, result.data(), 1, release, nullptr, call.cbdata);
        call.complete(PMIX_SUCCESS, result.data(), 1, release, nullptr, call.cbdata);
    }).join();
    on_loop([] {});
    ASSERT_EQ(order(), (Ids{slow, next, next}));
    EXPECT_EQ(released, 1);
    EXPECT_EQ(seen[2].results, (std::vector<std::string>{"UNKNOWN", "given"}));
}

TEST_F(Engine, CallsNoHandlerAfterItsDeregistration) {
    covers("EVT-42");
    const size_t second = add({kCode});
    const size_t first = add({kCode});
    behaviour[first] = [&](const Seen& call) {
        EXPECT_TRUE(engine_->remove(second));
        EXPECT_TRUE(engine_->remove(first));
        EXPECT_FALSE(engine_->remove(first)) << "unknown by now";
        size_t added = 0;
        HandlerSpec spec;
        spec.codes = {kCode};
        spec.function = handler;
        EXPECT_EQ(engine_->add(spec, added), PMIX_SUCCESS);
        engine_->activate(added);
        call.complete(PMIX_SUCCESS, nullptr, 0, nullptr, nullptr, call.cbdata);
    };
    deliver(event());
    EXPECT_EQ(order(), (Ids{first}));
    deliver(event());
    EXPECT_EQ(seen.size(), 2u);
    EXPECT_NE(seen[1].id, first);
}

TEST_F(Engine, AOneShotHandlerRunsOnce) {
    add({kCode}, with(PMIX_EVENT_ONESHOT, true));
    deliver(event());
    deliver(event());
    EXPECT_EQ(seen.size(), 1u);
    EXPECT_EQ(gone_, (std::vector<pmix_status_t>{kCode}));
}

TEST_F(Engine, CompletionAfterDestructionIsIgnored) {
    const size_t slow = add({kCode});
    behaviour[slow] = [](const Seen&) {};
    deliver(event());
    engine_.reset();
    seen[0].complete(PMIX_SUCCESS, nullptr, 0, nullptr, nullptr, seen[0].cbdata);
    on_loop([] {});
    EXPECT_EQ(seen.size(), 1u);
}

TEST_F(Engine, FirstAndLastHandlersNeedAMatchingCode) {
    covers("EVT-16");
    const size_t last = add({kCode}, with(PMIX_EVENT_HDLR_LAST, true));
    const size_t first = add({kCode}, with(PMIX_EVENT_HDLR_FIRST, true));
    const size_t other = add({kOther});
    const size_t one = add({kCode});
    deliver(event(kOther));
    EXPECT_EQ(order(), (Ids{other}));
    seen.clear();
    deliver(event());
    EXPECT_EQ(order(), (Ids{first, one, last}));
    seen.clear();
    behaviour[one] = [](const Seen& call) {
        call.complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, call.cbdata);
    };
    deliver(event());
    EXPECT_EQ(order(), (Ids{first, one}));
}

TEST_F(Engine, TheEndOfAChainReturnsTheResultsOfItsHandlers) {
    const size_t early = add({kCode}, with(PMIX_EVENT_HDLR_NAME, "early"));
    const size_t slow = add({kCode, kOther}, with(PMIX_EVENT_HDLR_NAME, "slow"));
    behaviour[early] = [](const Seen& call) {
        const Info given = with("test.given", 7);
        call.complete(PMIX_SUCCESS, const_cast<pmix_info_t*>(given.data()), given.size(), nullptr, nullptr,
                      call.cbdata);
    };
    behaviour[slow] = [](const Seen&) {};
    size_t ended = 0;
    const auto on_end = [&](const Info& results, bool answered) {
        ++ended;
        EXPECT_TRUE(answered);
        EXPECT_TRUE(results.view().has("test.given"));
        const pmix_value_t* status = results.view().value("slow");
        ASSERT_NE(status, nullptr);
        EXPECT_EQ(status->data.status, PMIX_EVENT_ACTION_COMPLETE);
    };
    on_loop([&] { engine_->deliver(event(), true, on_end); });
    EXPECT_EQ(ended, 0u) << "before the slow handler has completed";
    std::thread([&] {
        seen[1].complete(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, seen[1].cbdata);
    }).join();
    on_loop([] {});
    EXPECT_EQ(ended, 1u);
    bool answered = true;
    on_loop([&] {
        engine_->deliver(event(kOther + 100), true, [&](const Info&, bool asked) { answered = asked; });
    });
    EXPECT_FALSE(answered) << "nobody handles this one";
}

TEST_F(Engine, EventsBehindAPendingHandlerAreBounded) {
    const size_t slow = add({kCode});
    behaviour[slow] = [](const Seen&) {};
    for (int i = 0; i < 1000; ++i)
        deliver(event());
    const size_t taken = seen.size();
    EXPECT_GE(taken, 1u);
    EXPECT_LT(taken, 100u);
    EXPECT_EQ(engine_->dropped(), 1000 - taken);
    for (const Seen& one : std::vector(seen))
        one.complete(PMIX_SUCCESS, nullptr, 0, nullptr, nullptr, one.cbdata);
    on_loop([] {});
    deliver(event());
    EXPECT_EQ(seen.size(), taken + 1) << "there is room again";
}

TEST_F(Engine, RefusesContradictoryDirectives) {
    covers("EVT-46");
    size_t id = 0;
    EXPECT_EQ(try_add({kCode}, with(PMIX_EVENT_HDLR_NAME, 3), id), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(try_add({kCode}, with(PMIX_EVENT_AFFECTED_PROC, "job:1"), id), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(try_add({kCode}, with(PMIX_RANGE, Value::of(PMIX_DATA_RANGE, &kCustom)), id),
              PMIX_ERR_BAD_PARAM);
    Info both = with(PMIX_EVENT_HDLR_FIRST, true);
    both.add(PMIX_EVENT_HDLR_LAST, true);
    EXPECT_EQ(try_add({kCode}, std::move(both), id), PMIX_ERR_BAD_PARAM);
    Event custom;
    custom.range = PMIX_RANGE_CUSTOM;
    EXPECT_EQ(custom.read_directives(), PMIX_ERR_BAD_PARAM);
    custom.info.add(PMIX_EVENT_CUSTOM_RANGE, make_proc("job", 1));
    EXPECT_EQ(custom.read_directives(), PMIX_SUCCESS);
    custom.range = PMIX_RANGE_LOCAL;
    EXPECT_EQ(custom.read_directives(), PMIX_ERR_BAD_PARAM);
    custom.range = PMIX_RANGE_INVALID;
    EXPECT_EQ(custom.read_directives(), PMIX_ERR_BAD_PARAM);
}

}  // namespace
