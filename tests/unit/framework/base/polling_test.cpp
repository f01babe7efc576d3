// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping: when it is done, when it is better left, and what a loop does with it.
#include "framework/base/polling.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "framework/base/loop.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

/// A machine on which to read the clock takes time, of which there are two for each look, and yielding as
/// much as it is told.
struct Simulated {
    Polling::Clock::time_point now{1h};
    std::chrono::nanoseconds away = 0ns;  // while it yields
    bool another = false;                 // whether another thread runs then
    long switches = 0;
    int looks = 0;
    int asked = 0;  // how often for the switches
    std::function<void()> on_yield;
};
Simulated simulated;
constexpr int kLooksOfFiftyMicroseconds = 50000 / (2 * 250);

const Polling::Machine kSimulatedMachine{[] { return simulated.now += 250ns; },
                                         [] {
                                             simulated.now += simulated.away;
                                             simulated.switches += simulated.another ? 1 : 0;
                                             ++simulated.looks;
                                             if (simulated.on_yield) simulated.on_yield();
                                         },
                                         [] {
                                             ++simulated.asked;
                                             return simulated.switches;
                                         }};

/// Polls to the end, and says how often it has looked: -1 where it does not begin.
int poll(Polling& polling, bool found = false) {
    simulated.looks = 0;
    if (!polling.begin()) return -1;
    while (polling.go_on() && simulated.looks < 10000) {
    }
    polling.end(found);
    return simulated.looks;
}

/// Somebody computes on its processor: runs for the shortest slice of the scheduler's.
void let_another_compute() {
    simulated.another = true;
    simulated.away = 700us;
}

TEST(PollingRules, TakesNoMoreThanItsLimitWhereNobodyElseRuns) {
    simulated = {};
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    EXPECT_NEAR(poll(polling), kLooksOfFiftyMicroseconds, 1);
}

TEST(PollingRules, ShortVisitsAreLentTime) {
    // Those through whom the message goes run for a moment each, and the answer is due after the last of
    // them.
    simulated = {};
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    for (const auto visit : {45us, 90us}) {
        simulated.on_yield = [visit] {
            simulated.another = !simulated.another;
            simulated.away = simulated.another ? visit : 0us;
        };
        // Of the two clocks of each look one belongs to the visit, at every other look.
        constexpr int kLooks = kLooksOfFiftyMicroseconds * 4 / 3;
        EXPECT_NEAR(poll(polling), kLooks, 2) << "its own time, and no more than that";
        EXPECT_NEAR(poll(polling), kLooks, 2) << "nobody was in the way";
    }
    EXPECT_EQ(simulated.asked, 0) << "which takes as long as a look";
}

TEST(PollingRules, WhoSharesItsProcessorWithAnotherWhoPollsSleeps) {
    simulated = {};
    simulated.another = true;
    simulated.away = 3us;
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    // That is no pause, and no sign that it is of no use.
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(poll(polling), 6) << i;
    // Who finds itself alone now and then does not.
    simulated.on_yield = [] { simulated.away = simulated.looks % 5 == 0 ? 0us : 3us; };
    EXPECT_GT(poll(polling), 50);
}

TEST(PollingRules, WhereToYieldTakesLongNobodyPollsForThat) {
    simulated = {};
    simulated.away = 3us;
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    EXPECT_NEAR(poll(polling), 20, 5) << "the limit is one of that time, too";
    EXPECT_EQ(simulated.asked, 2) << "once it seems that somebody is there, and once more";
}

TEST(PollingRules, AMachineThatStoodStillIsPausedFor) {
    // Whether that was another thread is not asked at each look.
    simulated = {};
    simulated.away = 300us;
    Polling polling(1ms, kSimulatedMachine);
    polling.allow(true);
    EXPECT_EQ(poll(polling), 1);
    EXPECT_EQ(poll(polling), -1);
    simulated.now += 1ms;
    EXPECT_EQ(poll(polling), 1);
}

TEST(PollingRules, WhoComputesIsLeftAlone) {
    simulated = {};
    let_another_compute();
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    EXPECT_EQ(poll(polling), 1) << "it looks once more and stops";
    // Each pause is twice as long as the one before, up to 20 ms.
    for (const auto pause : {1ms, 2ms, 4ms, 8ms, 16ms, 20ms, 20ms}) {
        simulated.now += pause - 10us;
        EXPECT_EQ(poll(polling), -1) << pause.count();
        simulated.now += 10us;
        EXPECT_EQ(poll(polling), 1) << pause.count();
    }
    // They are short again once nobody was there for long.
    simulated.now += 20ms + 4 * 20ms;
    EXPECT_EQ(poll(polling), 1);
    simulated.now += 1ms;
    EXPECT_EQ(poll(polling), 1);
}

TEST(PollingRules, WhatIsFoundShortensThePause) {
    simulated = {};
    let_another_compute();
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    poll(polling);
    simulated.now += 1ms;
    poll(polling);
    simulated.now += 2ms;
    simulated.another = false;
    simulated.away = 0ns;
    EXPECT_GT(poll(polling, true), 1);
    EXPECT_GT(poll(polling, true), 1);
    let_another_compute();
    EXPECT_EQ(poll(polling), 1);
    simulated.now += 1ms - 10us;
    EXPECT_EQ(poll(polling), -1);
    simulated.now += 10us;
    EXPECT_EQ(poll(polling), 1) << "a millisecond, not four";
}

TEST(PollingRules, IsPassedOverWhereItFindsNothing) {
    simulated = {};
    Polling polling(50us, kSimulatedMachine);
    polling.allow(true);
    for (int i = 0; i < 3; ++i)
        EXPECT_GT(poll(polling), 1) << i;
    EXPECT_GT(poll(polling, true), 1);
    for (int i = 0; i < 4; ++i)
        EXPECT_GT(poll(polling), 1) << i << ": what was found counts anew";
    for (int i = 0; i < 16; ++i)
        EXPECT_FALSE(polling.begin()) << i;
    EXPECT_GT(poll(polling), 1);
    EXPECT_FALSE(polling.begin()) << "it is still of no use";
}

/// A loop that is driven by whoever calls, on the simulated machine.
struct PollingLoop : testing::Test {
    EventLoop loop{EventLoop::Drive::Thread};
    std::unique_ptr<Watch> watch;
    int fd = -1;
    int served = 0;

    void SetUp() override {
        simulated = {};
        loop.share();
        loop.poll_first(50us, kSimulatedMachine);
        loop.may_poll(true);
        fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ASSERT_GE(fd, 0);
        watch = loop.watch(fd, [this](EventLoop::Ready) {
            eventfd_t count = 0;
            eventfd_read(fd, &count);
            ++served;
        });
    }
    void TearDown() override {
        watch.reset();
        ::close(fd);
        simulated = {};
    }
    /// Drives the loop until `done`. Its thread, where there is one, has it first for a moment: to see what
    /// there is to wait for.
    void drive(const std::function<bool()>& done) {
        EventLoop::Task nothing = [] {};
        while (!loop.run_borrowed(nothing, done)) {
            ASSERT_FALSE(loop.stopped());
            std::this_thread::yield();
        }
    }
};

TEST_F(PollingLoop, BeginsAnewWhenSomethingHasCome) {
    simulated.on_yield = [this] {
        if (simulated.looks == 60 || simulated.looks == 150) eventfd_write(fd, 1);
    };
    drive([this] { return served == 2; });
    EXPECT_EQ(simulated.looks, 150) << "more than fit into one time of polling, which are 100";
}

TEST_F(PollingLoop, EndsWhenTheCallersConditionHolds) {
    // By another thread's doing, which wakes nobody who polls.
    std::atomic<bool> answered{false};
    simulated.on_yield = [&] { answered = simulated.looks >= 5; };
    drive([&] { return answered.load(); });
    EXPECT_EQ(simulated.looks, 5);
}

TEST_F(PollingLoop, EndsWhenTheLoopIsToStop) {
    std::thread stopper;
    simulated.on_yield = [&] {
        if (simulated.looks != 5) return;
        stopper = std::thread([&] { loop.stop(); });
        while (!loop.stopped())
            std::this_thread::yield();
    };
    loop.start_when_needed("polling");
    drive([] { return false; });
    EXPECT_EQ(simulated.looks, 5);
    stopper.join();
}

TEST_F(PollingLoop, RunsWhatWasPostedAtItsLastLook) {
    // Too late for that look, and without a wake-up, as the thread seemed to be looking.
    bool ran = false;
    simulated.on_yield = [&] {
        if (simulated.looks != 5) return;
        std::thread([&] { loop.post([&] { ran = true; }); }).join();
        simulated.now += 1h;
    };
    drive([&] { return ran; });
    EXPECT_EQ(simulated.looks, 5);
}

TEST_F(PollingLoop, DoesNotBeginWhereNothingIsLikelyToCome) {
    // Times come of themselves: nobody answers them.
    int times = 0;
    std::unique_ptr<Watch> later;
    std::function<void()> on_time = [&] {
        if (++times < 3) later = loop.after(1ms, on_time);
    };
    later = loop.after(1ms, on_time);
    drive([&] { return times == 3; });
    // Fewer where the first time comes meanwhile, by the clock on the wall.
    EXPECT_LE(simulated.looks, kLooksOfFiftyMicroseconds + 1) << "for the call itself";
}

/// Puts this thread, and those that it starts, on one processor while it lives.
class OnOneProcessor {
  public:
    OnOneProcessor() {
        cpu_set_t one;
        CPU_ZERO(&one);
        EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
        for (size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
            if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
        }
        EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    }
    OnOneProcessor(const OnOneProcessor&) = delete;
    OnOneProcessor& operator=(const OnOneProcessor&) = delete;
    ~OnOneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }

  private:
    cpu_set_t before_{};
};

TEST(Polling, LetsOthersRunBetweenItsLooks) {
    const OnOneProcessor here;
    std::atomic<bool> end{false}, runs{false};
    std::thread other([&] {
        runs = true;
        while (!end)
            sched_yield();
    });
    while (!runs)
        sched_yield();
    const long before = Polling::kMachine.switches();
    for (int i = 0; i < 100; ++i)
        Polling::kMachine.yield();
    EXPECT_GE(Polling::kMachine.switches() - before, 50);
    end = true;
    other.join();
}

TEST(Polling, OnlyWhereAProcessorIsToSpare) {
    Polling polling(50us);
    EXPECT_FALSE(polling.begin());
    polling.allow(true);
    EXPECT_TRUE(polling.begin());
    polling.end(true);
    polling.allow(false);
    EXPECT_FALSE(polling.begin());
    Polling never(0us);
    never.allow(true);
    EXPECT_FALSE(never.begin());
}

TEST(Polling, EndsInTime) {
    Polling polling(1ms);
    polling.allow(true);
    ASSERT_TRUE(polling.begin());
    const auto end = Polling::Clock::now() + 1ms;
    while (polling.go_on()) {
    }
    EXPECT_GE(Polling::Clock::now(), end - 1ms);
    polling.end(false);
}

TEST(Polling, EndsWhereAnotherThreadWantsTheProcessor) {
    const OnOneProcessor here;
    std::atomic<bool> end{false};
    std::thread other([&] {  // on the same processor, as it inherits that
        while (!end) {
        }
    });
    Polling polling(60s);
    polling.allow(true);
    ASSERT_TRUE(polling.begin());
    const auto begin = Polling::Clock::now();
    while (polling.go_on()) {
    }
    EXPECT_LT(Polling::Clock::now() - begin, 50s);
    polling.end(false);
    end = true;
    other.join();
}

/// Processor time of this thread.
std::chrono::nanoseconds used() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(Polling, ALoopThatHasNothingToDoSleeps) {
    EventLoop loop(EventLoop::Drive::Thread);
    loop.poll_first(200us);
    loop.may_poll(true);
    loop.start("polling");
    const auto time = [&] {
        std::promise<std::chrono::nanoseconds> told;
        loop.post([&] { told.set_value(used()); });
        return told.get_future().get();
    };
    const auto before = time();
    std::this_thread::sleep_for(300ms);
    EXPECT_LT(time() - before, 150ms) << "200 us after the first task, and some work";
    loop.stop();
}

TEST(Polling, ManyThreadsPostToALoopThatPollsOrSleeps) {
    // At times that are now within its polling, now after it: none of the tasks may be left behind.
    EventLoop loop(EventLoop::Drive::Thread);
    loop.poll_first(50us);
    loop.may_poll(true);
    loop.start("polling");
    std::vector<std::thread> threads;
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            for (int call = 0; call < 300; ++call) {
                auto done = std::make_shared<std::promise<void>>();
                auto result = done->get_future();
                loop.post([&, done] {
                    ++ran;
                    done->set_value();
                });
                ASSERT_EQ(result.wait_for(20s), std::future_status::ready);
                if (call % 3 == i) std::this_thread::sleep_for(std::chrono::microseconds(call));
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(ran, 900);
    loop.stop();
}

TEST(Polling, ACallerLooksForWhatTheLoopDoesNotWatch) {
    EventLoop loop(EventLoop::Drive::Thread);
    loop.share();
    loop.poll_first(20s);
    int looks = 0;
    const auto third = [&] { return ++looks == 3; };
    EXPECT_FALSE(loop.poll_for(third)) << "there is no processor to spare";
    EXPECT_EQ(looks, 0);
    loop.may_poll(true);
    loop.start("polling");
    // Another program may want the processor: then it pauses.
    bool found = false;
    for (int i = 0; i < 2000 && !found && looks < 3; ++i) {
        found = loop.poll_for(third);
        if (!found) std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(looks, 3);
    std::promise<void> ran;
    loop.post([&] { ran.set_value(); });
    EXPECT_EQ(ran.get_future().wait_for(20s), std::future_status::ready) << "it has given the loop back";
    loop.stop();
    EXPECT_FALSE(loop.poll_for([] { return true; }));
}

TEST(Polling, WhatComesMeanwhileIsServedInOrder) {
    EventLoop loop(EventLoop::Drive::Thread);
    loop.share();
    loop.poll_first(2s);  // longer than anything here takes: nothing may wait for its end
    loop.may_poll(true);
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT_GE(fd, 0);
    std::unique_ptr<Watch> watch, later;
    int served = 0;
    watch = loop.watch(fd, [&](EventLoop::Ready) {
        eventfd_t count = 0;
        eventfd_read(fd, &count);
        ++served;
    });
    loop.start("polling");
    const auto begin = Polling::Clock::now();
    const auto borrow = [&](const EventLoop::Task& task, const std::function<bool()>& done) {
        for (int i = 0; i < 100000; ++i) {
            EventLoop::Task copy = task;
            if (loop.run_borrowed(copy, done)) return;
            std::this_thread::sleep_for(100us);
        }
        ADD_FAILURE() << "the loop was never free";
    };
    // A message, a time, and what another thread posts.
    borrow([&] { eventfd_write(fd, 1); }, [&] { return served == 1; });
    bool timed = false;
    borrow([&] { later = loop.after(1ms, [&] { timed = true; }); }, [&] { return timed; });
    bool posted = false;
    std::thread other;
    borrow([&] { other = std::thread([&] { loop.post([&] { posted = true; }); }); }, [&] { return posted; });
    other.join();
    borrow(
        [&] {
            watch.reset();
            later.reset();
        },
        [] { return true; });
    EXPECT_LT(Polling::Clock::now() - begin, 20s);
    loop.stop();
    ::close(fd);
}

}  // namespace
}  // namespace muster
