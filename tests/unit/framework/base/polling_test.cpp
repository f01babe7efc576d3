// SPDX-License-Identifier: BSD-3-Clause
// Polling before sleeping: its conditions, and its effect on a loop.
#include "framework/base/polling.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "framework/base/loop.hpp"
#include "framework/base/loop_callers.hpp"
#include "framework/base/loop_thread.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

TEST(Polling, IsDoneOnlyWhereAProcessorIsToSpare) {
    int looks = 0;
    const auto second = [&] { return ++looks == 2; };
    Polling polling(20s);
    EXPECT_FALSE(polling.poll(second));
    EXPECT_EQ(looks, 0);
    polling.allow(true);
    EXPECT_TRUE(polling.poll(second));
    EXPECT_EQ(looks, 2);
    polling.allow(false);
    EXPECT_FALSE(polling.poll(second));
    Polling never(0us);
    never.allow(true);
    EXPECT_FALSE(never.poll(second));
    EXPECT_EQ(looks, 2);
}

TEST(Polling, EndsWithItsLimit) {
    Polling polling(1ms);
    polling.allow(true);
    std::chrono::nanoseconds took{};
    // A yield to another process ends it early.
    for (int i = 0; i < 1000 && took < 1ms; ++i) {
        const auto begin = Polling::Clock::now();
        EXPECT_FALSE(polling.poll([] { return false; }));
        took = Polling::Clock::now() - begin;
    }
    EXPECT_GE(took, 1ms);
}

/// A loop that its callers drive, and that polls for longer than a test takes.
class PollingLoop : public testing::Test {
  protected:
    PollingLoop() { loop_.polling().allow(true); }
    /// Drives the loop until `done`; its thread, if there is one, may drive it first for a moment.
    void drive(const std::function<bool()>& done) {
        Task nothing = [] {};
        while (!callers_.run_borrowed(nothing, done)) {
            ASSERT_FALSE(loop_.stopped());
            std::this_thread::yield();
        }
    }

    EventLoop loop_{EventLoop::On::Poll, 20s};
    LoopThread thread_{loop_, LoopThread::Beside::Callers};
    LoopCallers callers_{loop_, &thread_};
};

TEST_F(PollingLoop, SeesWhatAnotherThreadDoesWithoutAWakeUp) {
    std::atomic<bool> answered{false};
    std::thread other([&] { answered = true; });
    const auto begin = Polling::Clock::now();
    drive([&] { return answered.load(); });
    EXPECT_LT(Polling::Clock::now() - begin, 10s);
    other.join();
}

TEST_F(PollingLoop, EndsWhenTheLoopStops) {
    thread_.start("polling");
    std::atomic<bool> driven{false};
    std::thread stopper([&] {
        while (!driven)
            std::this_thread::yield();
        thread_.stop();
    });
    const auto begin = Polling::Clock::now();
    drive([&] {
        driven = true;
        return false;
    });
    EXPECT_LT(Polling::Clock::now() - begin, 10s);
    stopper.join();
}

/// Processor time of this thread.
std::chrono::nanoseconds used() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(Polling, AnIdleLoopSleeps) {
    EventLoop loop(EventLoop::On::Libevent, 200us);
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    loop.polling().allow(true);
    thread.start("polling");
    const auto time = [&] {
        std::promise<std::chrono::nanoseconds> told;
        loop.post([&] { told.set_value(used()); });
        return told.get_future().get();
    };
    const auto before = time();
    std::this_thread::sleep_for(300ms);
    EXPECT_LT(time() - before, 150ms) << "200 us after the first task, and some work";
    thread.stop();
}

TEST(Polling, ManyThreadsPostToALoopThatPollsOrSleeps) {
    // At times alternately within and after its polling: no task may remain unprocessed.
    EventLoop loop(EventLoop::On::Libevent, 50us);
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    loop.polling().allow(true);
    thread.start("polling");
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
    for (std::thread& poster : threads)
        poster.join();
    EXPECT_EQ(ran, 900);
    thread.stop();
}

TEST(Polling, ACallerMayPollMemory) {
    EventLoop loop(EventLoop::On::Poll, 20s);
    LoopThread thread(loop, LoopThread::Beside::Callers);
    LoopCallers callers(loop, &thread);
    int looks = 0;
    const auto third = [&] { return ++looks == 3; };
    EXPECT_FALSE(callers.poll_for(third)) << "there is no processor to spare";
    EXPECT_EQ(looks, 0);
    loop.polling().allow(true);
    loop.need_driver();
    thread.start("polling");
    // The thread of the loop may drive it for a moment.
    for (int i = 0; i < 2000 && looks < 3; ++i) {
        if (!callers.poll_for(third)) std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(looks, 3);
    std::promise<void> ran;
    loop.post([&] { ran.set_value(); });
    EXPECT_EQ(ran.get_future().wait_for(20s), std::future_status::ready) << "it has given the loop back";
    thread.stop();
    EXPECT_FALSE(callers.poll_for([] { return true; }));
}

TEST(Polling, EventsDuringPollingAreServedInOrder) {
    EventLoop loop(EventLoop::On::Poll, 2s);  // longer than anything here takes: nothing may wait for its end
    LoopThread thread(loop, LoopThread::Beside::Callers);
    LoopCallers callers(loop, &thread);
    loop.polling().allow(true);
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT_GE(fd, 0);
    std::unique_ptr<Watch> watch, later;
    int served = 0;
    watch = loop.watch(fd, [&](EventLoop::Ready) {
        eventfd_t count = 0;
        eventfd_read(fd, &count);
        ++served;
    });
    loop.need_driver();
    thread.start("polling");
    const auto begin = Polling::Clock::now();
    const auto borrow = [&](Task task, const std::function<bool()>& done) {
        for (int i = 0; i < 100000; ++i) {
            if (callers.run_borrowed(task, done)) return;
            std::this_thread::sleep_for(100us);
        }
        ADD_FAILURE() << "the loop was never free";
    };
    // A message, a timer, and a task of another thread.
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
    thread.stop();
    ::close(fd);
}

}  // namespace
}  // namespace muster
