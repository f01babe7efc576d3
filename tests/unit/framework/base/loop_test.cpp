// SPDX-License-Identifier: BSD-3-Clause
// The event loop: with its own thread, and driven by callers.
#include "framework/base/loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/loop_callers.hpp"
#include "framework/base/loop_mirror.hpp"
#include "framework/base/loop_thread.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

/// A pipe whose ends do not block.
struct Pipe {
    Pipe() { EXPECT_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0); }
    ~Pipe() {
        ::close(fds[0]);
        ::close(fds[1]);
    }
    void put() const { EXPECT_EQ(::write(fds[1], "x", 1), 1); }
    void take() const {
        char byte;
        EXPECT_EQ(::read(fds[0], &byte, 1), 1);
    }
    void fill() const {
        char block[4096] = {};
        while (::write(fds[1], block, sizeof block) > 0) {
        }
    }
    int fds[2] = {-1, -1};
};

bool readable(int fd, std::chrono::milliseconds limit = 0ms) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, static_cast<int>(limit.count())) == 1;
}

/// Waits for a condition set by another thread; false after ten seconds.
template <class T>
bool comes(std::future<T>& result) {
    return result.wait_for(10s) == std::future_status::ready;
}

TEST(LoopThread, RunsPostedTasksInOrderOnItsThread) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    std::vector<int> order;
    std::promise<void> done;
    auto finished = done.get_future();
    loop.post([&] { order.push_back(1); });  // before the start
    thread.start("a name that is too long");
    EXPECT_FALSE(loop.on_loop());
    loop.post([&] {
        order.push_back(2);
        EXPECT_TRUE(loop.on_loop());
        char name[32] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        EXPECT_STREQ(name, "a name that is ");
        loop.post([&] {
            order.push_back(4);
            done.set_value();
        });
        order.push_back(3);
    });
    ASSERT_TRUE(comes(finished));
    thread.stop();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(LoopThread, StopRunsPostedTasksAndDestroysLaterOnes) {
    auto alive = std::make_shared<int>(0);
    int ran = 0;
    {
        EventLoop loop;
        LoopThread thread(loop, LoopThread::Beside::Nobody);
        thread.start("loop");
        for (int i = 0; i < 1000; ++i)
            loop.post([&ran, alive] { ++ran; });
        thread.stop();
        EXPECT_EQ(ran, 1000);
        EXPECT_EQ(alive.use_count(), 1);
        loop.post([&ran, alive] { ++ran; });
        thread.stop();
        EXPECT_EQ(alive.use_count(), 2);
    }
    EXPECT_EQ(ran, 1000);
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(LoopThread, StartsAgainAfterStop) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    for (int round = 0; round < 20; ++round) {
        std::promise<void> done;
        auto finished = done.get_future();
        thread.start("loop");
        loop.post([&] { done.set_value(); });
        ASSERT_TRUE(comes(finished));
        thread.stop();
    }
}

TEST(LoopThread, TakesTasksFromManyThreads) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    thread.start("loop");
    constexpr int kThreads = 8, kTasks = 5000;
    int counts[kThreads] = {};  // written on the loop only
    bool in_order = true;
    std::vector<std::thread> threads;
    for (int poster = 0; poster < kThreads; ++poster) {
        threads.emplace_back([&, poster] {
            for (int i = 0; i < kTasks; ++i) {
                loop.post([&, poster, i] { in_order = in_order && counts[poster]++ == i; });
            }
        });
    }
    for (auto& poster : threads)
        poster.join();
    thread.stop();
    for (const int count : counts)
        EXPECT_EQ(count, kTasks);
    EXPECT_TRUE(in_order);
}

TEST(LoopThread, WatchesDescriptorsAndTimes) {
    Pipe pipe;
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    std::promise<void> ready, late;
    auto saw = ready.get_future(), passed = late.get_future();
    auto watch = loop.watch(pipe.fds[0], [&](EventLoop::Ready now) {
        EXPECT_TRUE(now.readable);
        EXPECT_FALSE(now.writable);
        pipe.take();
        ready.set_value();
    });
    const auto before = std::chrono::steady_clock::now();
    auto timer = loop.after(30ms, [&] { late.set_value(); });
    thread.start("loop");
    pipe.put();
    ASSERT_TRUE(comes(saw));
    ASSERT_TRUE(comes(passed));
    EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);  // the loop's clock is a coarse one
    thread.stop();
}

/// A loop that the test drives.
class LoopDriven : public testing::Test {
  protected:
    template <class Condition>
    bool runs_until(Condition&& condition) {
        bool expired = false;
        const auto limit = loop_.after(10s, [&] { expired = true; });
        callers_.run_until([&] { return condition() || expired; });
        return condition();
    }
    void settle() {
        for (int i = 0; i < 20; ++i)
            callers_.progress();
    }
    EventLoop loop_;
    LoopCallers callers_{loop_};
};

TEST_F(LoopDriven, RunsNothingUnlessDriven) {
    int ran = 0;
    loop_.post([&] {
        ++ran;
        EXPECT_TRUE(loop_.on_loop());
        EXPECT_FALSE(callers_.progress());
    });
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(callers_.progress());
    EXPECT_EQ(ran, 1);
    EXPECT_FALSE(loop_.on_loop());
    EXPECT_TRUE(callers_.progress());
}

TEST_F(LoopDriven, OnlyOneThreadDrives) {
    std::promise<void> entered, leave;
    auto in = entered.get_future(), out = leave.get_future();
    loop_.post([&] {
        entered.set_value();
        out.wait_for(10s);
    });
    std::thread driver([&] { callers_.progress(); });
    ASSERT_TRUE(comes(in));
    EXPECT_FALSE(callers_.progress());
    EXPECT_FALSE(loop_.on_loop());
    leave.set_value();
    driver.join();
    EXPECT_TRUE(callers_.progress());
}

TEST_F(LoopDriven, ProgressEndsWhenAPeerNeverDoes) {
    Pipe pipe;
    pipe.put();
    int calls = 0;
    const auto watch = loop_.watch(pipe.fds[0], [&](EventLoop::Ready) { ++calls; });  // stays readable
    EXPECT_TRUE(callers_.progress());
    EXPECT_EQ(calls, 1);
}

TEST_F(LoopDriven, PollFdSignalsTasks) {
    settle();
    EXPECT_FALSE(readable(callers_.poll_fd()));
    loop_.post([] {});
    EXPECT_TRUE(readable(callers_.poll_fd()));
    settle();
    EXPECT_FALSE(readable(callers_.poll_fd()));
    std::thread([&] { loop_.post([] {}); }).join();
    EXPECT_TRUE(readable(callers_.poll_fd(), 10s));
}

TEST_F(LoopDriven, PollFdSignalsDescriptors) {
    Pipe pipe;
    int reads = 0, writes = 0;
    auto reader = loop_.watch(pipe.fds[0], [&](EventLoop::Ready) {
        ++reads;
        pipe.take();
    });
    EXPECT_FALSE(readable(callers_.poll_fd()));
    pipe.put();
    EXPECT_TRUE(readable(callers_.poll_fd()));
    settle();
    EXPECT_EQ(reads, 1);
    EXPECT_FALSE(readable(callers_.poll_fd()));

    reader->want_read(false);
    pipe.put();
    EXPECT_FALSE(readable(callers_.poll_fd()));
    settle();
    EXPECT_EQ(reads, 1);
    reader->want_read(true);
    EXPECT_TRUE(readable(callers_.poll_fd()));
    settle();
    EXPECT_EQ(reads, 2);

    auto writer = loop_.watch(pipe.fds[1], [&](EventLoop::Ready now) {
        EXPECT_TRUE(now.writable);
        ++writes;
    });
    EXPECT_FALSE(readable(callers_.poll_fd()));
    writer->want_write(true);
    EXPECT_TRUE(readable(callers_.poll_fd()));
    callers_.progress();
    EXPECT_EQ(writes, 1);
    reader->want_read(false);
    pipe.fill();
    EXPECT_FALSE(readable(callers_.poll_fd()));
    writer.reset();
    reader->want_read(true);
    EXPECT_TRUE(readable(callers_.poll_fd()));
    reader.reset();
    EXPECT_FALSE(readable(callers_.poll_fd()));
}

TEST_F(LoopDriven, PollFdSignalsTimersOnce) {
    int fired = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto soon = loop_.after(20ms, [&] { ++fired; });
    const auto never = loop_.after(1h, [&] { ADD_FAILURE(); });
    const bool now = readable(callers_.poll_fd());
    EXPECT_TRUE(!now || std::chrono::steady_clock::now() - begin > 10ms);
    EXPECT_TRUE(readable(callers_.poll_fd(), 10s));
    ASSERT_TRUE(runs_until([&] { return fired == 1; }));
    settle();
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(readable(callers_.poll_fd()));  // the watch still exists, but it has called
}

TEST_F(LoopDriven, ATimerOfZeroFiresAtOnce) {
    bool fired = false;
    const auto now = loop_.after(0ms, [&] { fired = true; });
    EXPECT_TRUE(readable(callers_.poll_fd(), 10s));
    settle();
    EXPECT_TRUE(fired);
}

TEST_F(LoopDriven, TimersFireInOrderAndCanBeCancelled) {
    std::vector<int> order;
    std::unique_ptr<Watch> first, second, third, cancelled;
    std::chrono::steady_clock::time_point begin;
    // All are set within less time than the distance between them, and a clock tick.
    do {
        begin = std::chrono::steady_clock::now();
        third = loop_.after(60ms, [&] { order.push_back(3); });
        first = loop_.after(20ms, [&] { order.push_back(1); });
        second = loop_.after(40ms, [&] {
            order.push_back(2);
            second.reset();  // in its own call
        });
        cancelled = loop_.after(30ms, [&] { ADD_FAILURE(); });
    } while (std::chrono::steady_clock::now() - begin > 5ms);
    cancelled.reset();
    ASSERT_TRUE(runs_until([&] { return order.size() == 3; }));
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(LoopDriven, AWatchMayBeDestroyedInItsCallback) {
    Pipe pipe;
    auto held = std::make_shared<int>(0);
    std::unique_ptr<Watch> watch;
    int calls = 0;
    watch = loop_.watch(pipe.fds[0], [&, held](EventLoop::Ready) {
        ++calls;
        watch.reset();
        EXPECT_GE(held.use_count(), 2);  // the function object lives to its end
    });
    pipe.put();
    settle();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(held.use_count(), 1);
}

TEST_F(LoopDriven, AWatchMayDestroyAnotherThatIsReady) {
    Pipe one, two;
    std::unique_ptr<Watch> a, b;
    int calls = 0;
    a = loop_.watch(one.fds[0], [&](EventLoop::Ready) {
        ++calls;
        b.reset();
        a.reset();
    });
    b = loop_.watch(two.fds[0], [&](EventLoop::Ready) {
        ++calls;
        a.reset();
        b.reset();
    });
    one.put();
    two.put();
    settle();
    EXPECT_EQ(calls, 1);
}

TEST_F(LoopDriven, WantsMayChangeInTheCallback) {
    Pipe pipe;
    int calls = 0;
    std::unique_ptr<Watch> watch;
    watch = loop_.watch(pipe.fds[0], [&](EventLoop::Ready) {
        if (++calls == 2) watch->want_read(false);
    });
    pipe.put();
    settle();
    EXPECT_EQ(calls, 2);
    watch->want_read(true);
    settle();
    EXPECT_GT(calls, 2);
}

TEST_F(LoopDriven, WakeMakesTheDriverCheckAgain) {
    std::atomic<bool> flag{false};
    std::thread other([&] {
        // The driver reads the flag, whether it is set before or during the wait.
        flag = true;
        loop_.wake();
    });
    EXPECT_TRUE(runs_until([&] { return flag.load(); }));
    other.join();
}

TEST_F(LoopDriven, SeveralThreadsTakeTurnsInWaiting) {
    constexpr int kThreads = 6, kRounds = 200;
    std::atomic<int> finished{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < kRounds; ++round) {
                std::atomic<bool> answered{false};
                // As a request: a task on the loop that posts another one.
                loop_.post([&] { loop_.post([&] { answered = true; }); });
                callers_.run_until([&] { return answered.load(); });
            }
            ++finished;
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(finished, kThreads);
}

TEST_F(LoopDriven, AWaiterTakesOverWhenTheDriverLeaves) {
    // The second thread's answer comes after the first has left the loop.
    std::atomic<bool> first{false}, second{false};
    std::thread early([&] { callers_.run_until([&] { return first.load(); }); });
    std::thread late([&] { callers_.run_until([&] { return second.load(); }); });
    loop_.post([&] { first = true; });
    early.join();
    loop_.post([&] { second = true; });
    late.join();
}

/// While it lives, the process cannot open further descriptors.
class NoDescriptors {
  public:
    NoDescriptors() {
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &old_), 0);
        const int lowest = dup(0);
        EXPECT_GE(lowest, 0);
        ::close(lowest);
        rlimit tight = old_;
        tight.rlim_cur = static_cast<rlim_t>(lowest);
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    }
    ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &old_), 0); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit old_{};
};

TEST(EventLoop, NeedsOneDescriptorWhereThereAreFew) {
    const int lowest = dup(0);
    ASSERT_GE(lowest, 0);
    ::close(lowest);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (const int left : {1, 2, 3}) {
        rlimit tight = before;
        tight.rlim_cur = static_cast<rlim_t>(lowest + left);
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
        bool ran = false;
        {
            EventLoop loop;
            LoopCallers callers(loop);
            loop.post([&] { ran = true; });
            callers.progress();
        }
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        EXPECT_TRUE(ran) << left;
    }
}

/// A loop whose thread lends it to callers that wait.
class LoopShared : public ::testing::Test {
  protected:
    LoopShared() {
        loop_.need_driver();
        thread_.start("shared");
    }
    ~LoopShared() override { thread_.stop(); }  // before the called object is destroyed

    /// Borrows the loop for `task` until `done` holds; the loop may have its thread's attention for a moment.
    void borrow(Task task, const std::function<bool()>& done) {
        for (int i = 0; i < 100000; ++i) {
            if (callers_.run_borrowed(task, done)) return;
            std::this_thread::sleep_for(100us);
        }
        ADD_FAILURE() << "the loop was never free";
    }

    Pipe pipe_;
    EventLoop loop_{EventLoop::On::Poll};
    LoopThread thread_{loop_, LoopThread::Beside::Callers};
    LoopCallers callers_{loop_, &thread_};
    std::unique_ptr<Watch> watch_;
};

TEST(EventLoop, LeavesAFileOfTheProgramThatHasItsNumberInNoMirror) {
    // The program has closed the loop's wake-up descriptor, and a pipe has its number when the mirror is
    // created.
    EventLoop loop(EventLoop::On::Poll);
    loop.wait_to_take();
    const int number = loop.wake_fd();
    const Pipe pipe;
    pipe.put();
    ASSERT_EQ(::dup2(pipe.fds[0], number), number);
    LoopMirror mirror(true);
    ASSERT_TRUE(mirror.ok());
    loop.show_in(&mirror);
    ASSERT_TRUE(mirror.wait(0ms));
    loop.turn(false);
    EXPECT_NE(loop.wake_fd(), number);
    EXPECT_FALSE(mirror.wait(0ms)) << "the pipe keeps the mirror readable";
    loop.show_in(nullptr);
    loop.give();
    ::close(number);
}

TEST_F(LoopShared, ABorrowerRunsItsAwaitedTask) {
    const auto self = std::this_thread::get_id();
    std::vector<std::thread::id> who;
    bool on_loop = false, came = false;
    borrow(
        [&] {
            who.push_back(std::this_thread::get_id());
            on_loop = loop_.on_loop();
            watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {
                who.push_back(std::this_thread::get_id());
                pipe_.take();
                came = true;
            });
            pipe_.put();
        },
        [&] { return came; });
    EXPECT_TRUE(on_loop);
    EXPECT_FALSE(loop_.on_loop());
    EXPECT_EQ(who, (std::vector{self, self}));
    borrow([&] { watch_.reset(); }, [] { return true; });
}

TEST_F(LoopShared, ItsThreadServesBetweenBorrowers) {
    std::promise<std::thread::id> first, second;
    auto by_watch = first.get_future();
    auto by_task = second.get_future();
    borrow(
        [&] {
            watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {
                pipe_.take();
                first.set_value(std::this_thread::get_id());
            });
        },
        [] { return true; });
    pipe_.put();
    ASSERT_TRUE(comes(by_watch));
    EXPECT_NE(by_watch.get(), std::this_thread::get_id());
    loop_.post([&] { second.set_value(std::this_thread::get_id()); });
    ASSERT_TRUE(comes(by_task));
    EXPECT_NE(by_task.get(), std::this_thread::get_id());
    borrow([&] { watch_.reset(); }, [] { return true; });
}

TEST_F(LoopShared, TasksPostedBeforeRunBeforeTheBorrowersOwn) {
    for (int round = 0; round < 200; ++round) {
        std::vector<int> order;
        loop_.post([&] { order.push_back(1); });
        loop_.post([&] { order.push_back(2); });
        borrow([&] { order.push_back(3); }, [] { return true; });
        ASSERT_EQ(order, (std::vector{1, 2, 3}));
    }
}

TEST_F(LoopShared, OnlyOneBorrowsAndRunsTheTasksOfOthers) {
    std::atomic<bool> begun{false}, end{false};
    std::promise<std::thread::id> ran;
    auto by = ran.get_future();
    std::thread borrower([&] { borrow([&] { begun = true; }, [&] { return end.load(); }); });
    while (!begun)
        std::this_thread::yield();
    Task task = [] { FAIL(); };
    EXPECT_FALSE(callers_.run_borrowed(task, [] { return true; }));
    loop_.post([&] { ran.set_value(std::this_thread::get_id()); });
    EXPECT_TRUE(comes(by));
    EXPECT_EQ(by.get(), borrower.get_id());
    end = true;
    callers_.wake();
    borrower.join();
}

TEST_F(LoopShared, StopEndsABorrowerThatStillWaits) {
    std::atomic<bool> begun{false};
    std::thread borrower([&] { borrow([&] { begun = true; }, [] { return false; }); });
    while (!begun)
        std::this_thread::yield();
    thread_.stop();
    borrower.join();
    Task task = [] { FAIL(); };
    EXPECT_FALSE(callers_.run_borrowed(task, [] { return true; }));
}

TEST_F(LoopShared, TimersFireInBorrowersAndInItsThread) {
    bool came = false;
    borrow([&] { watch_ = loop_.after(1ms, [&] { came = true; }); }, [&] { return came; });
    std::promise<void> later;
    auto served = later.get_future();
    borrow([&] { watch_ = loop_.after(1ms, [&] { later.set_value(); }); }, [] { return true; });
    EXPECT_TRUE(comes(served));
}

TEST_F(LoopShared, TimersFireInItsThreadWithoutDescriptors) {
    std::promise<void> begun, later, sooner;
    auto serves = begun.get_future(), served = later.get_future(), served_sooner = sooner.get_future();
    loop_.post([&] { begun.set_value(); });
    ASSERT_TRUE(comes(serves));
    {
        const NoDescriptors none;
        std::unique_ptr<Watch> second;
        borrow(
            [&] {
                watch_ = loop_.after(40ms, [&] { later.set_value(); });
                second = loop_.after(1ms, [&] { sooner.set_value(); });
            },
            [] { return true; });
        EXPECT_TRUE(comes(served_sooner));
        EXPECT_TRUE(comes(served));
        borrow([&] { second.reset(); }, [] { return true; });
    }
}

TEST_F(LoopShared, ManyThreadsWaitAtOnce) {
    // Each waits for its own task, like a blocking call: it borrows the loop, or another borrower runs the
    // task.
    std::vector<std::thread> threads;
    std::atomic<int> ran{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int call = 0; call < 500; ++call) {
                auto done = std::make_shared<std::promise<void>>();
                auto result = done->get_future();
                Task task = [&, done] {
                    ++ran;
                    done->set_value();
                };
                if (!callers_.run_borrowed(task, [] { return true; })) loop_.post(std::move(task));
                ASSERT_TRUE(comes(result));
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(ran, 2000);
}

TEST_F(LoopShared, ACallerMayRunOneTaskItself) {
    std::thread::id by;
    bool at_end = false;
    Task task = [&] {
        EXPECT_TRUE(loop_.on_loop());
        by = std::this_thread::get_id();
        loop_.at_turn_end([&] { at_end = true; });
        // From now on the loop's thread handles the descriptor.
        watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {});
    };
    for (int i = 0; i < 100000 && !callers_.run_here(task); ++i)
        std::this_thread::sleep_for(100us);
    EXPECT_EQ(by, std::this_thread::get_id());
    EXPECT_TRUE(at_end);
    EXPECT_FALSE(loop_.on_loop());
    borrow([&] { watch_.reset(); }, [] { return true; });
}

TEST_F(LoopShared, TasksPostedByTheLoopAlwaysRun) {
    for (int round = 0; round < 200; ++round) {
        // By a caller that leaves at once, by one that drives, and by the thread: each posts from the loop.
        std::promise<void> borrowed, here, thread, after;
        auto all = {borrowed.get_future().share(), here.get_future().share(), thread.get_future().share(),
                    after.get_future().share()};
        borrow([&] { loop_.post([&] { borrowed.set_value(); }); }, [] { return true; });
        Task task = [&] { loop_.post([&] { here.set_value(); }); };
        for (int i = 0; i < 100000 && !callers_.run_here(task); ++i)
            std::this_thread::sleep_for(100us);
        loop_.post([&] {
            loop_.post([&] {
                thread.set_value();
                loop_.post([&] { after.set_value(); });
            });
        });
        for (const auto& one : all)
            ASSERT_EQ(one.wait_for(20s), std::future_status::ready) << round;
    }
    // The borrower itself waits for the inner task.
    bool done = false;
    borrow([&] { loop_.post([&] { loop_.post([&] { done = true; }); }); }, [&] { return done; });
}

TEST_F(LoopShared, NoCallerRunsATaskBesideABorrowerOrAfterStop) {
    std::atomic<bool> begun{false}, end{false};
    std::thread borrower([&] { borrow([&] { begun = true; }, [&] { return end.load(); }); });
    while (!begun)
        std::this_thread::yield();
    Task task = [] { FAIL(); };
    EXPECT_FALSE(callers_.run_here(task));
    end = true;
    callers_.wake();
    borrower.join();
    thread_.stop();
    EXPECT_FALSE(callers_.run_here(task));
}

/// A loop whose thread is deferred until it is needed.
class LoopPutOff : public ::testing::Test {
  protected:
    ~LoopPutOff() override {
        thread_.stop();
        watch_.reset();
    }

    void start() { thread_.start("put-off"); }
    /// Its thread, if it runs, may be busy for a moment.
    void drive(Task task) {
        while (!callers_.run_borrowed(task, [] { return true; }))
            std::this_thread::sleep_for(100us);
    }
    /// A thread of this name, which the thread sets when it runs.
    static bool has_thread() {
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
            std::ifstream file(thread.path() / "comm");
            std::string name;
            if (std::getline(file, name) && name == "put-off") return true;
        }
        return false;
    }
    /// Whether ran_ is set without a caller that drives the loop.
    bool runs() {
        auto done = ran_.get_future();
        return comes(done);
    }
    /// Runs on the loop's thread, and checks that it is not the current one.
    void serves() {
        std::promise<std::thread::id> ran;
        auto by = ran.get_future();
        loop_.post([&] { ran.set_value(std::this_thread::get_id()); });
        ASSERT_TRUE(comes(by));
        EXPECT_NE(by.get(), std::this_thread::get_id());
        EXPECT_TRUE(has_thread());
    }

    Pipe pipe_;
    EventLoop loop_{EventLoop::On::Poll};
    LoopThread thread_{loop_, LoopThread::Beside::Callers};
    LoopCallers callers_{loop_, &thread_};
    std::unique_ptr<Watch> watch_;
    std::promise<void> ran_;
};

TEST_F(LoopPutOff, HasNoThreadForBorrowers) {
    start();
    bool came = false;
    Task wait = [&] {
        watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {
            pipe_.take();
            came = true;
        });
        watch_->let_wait();
        pipe_.put();
    };
    EXPECT_TRUE(callers_.run_borrowed(wait, [&] { return came; }));
    bool on_time = false;
    std::unique_ptr<Watch> timer;
    Task later = [&] { timer = loop_.after(1ms, [&] { on_time = true; }); };
    EXPECT_TRUE(callers_.run_borrowed(later, [&] { return on_time; }));
    timer.reset();
    EXPECT_TRUE(callers_.run_here(wait = [] {}));
    // Events that can wait are handled by the next driver.
    pipe_.put();
    came = false;
    std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(came);
    EXPECT_TRUE(callers_.run_borrowed(wait, [&] { return came; }));
    EXPECT_FALSE(has_thread());
    thread_.stop();
    EXPECT_FALSE(has_thread());
    EXPECT_TRUE(loop_.stopped());
}

TEST_F(LoopPutOff, StartsForATaskOfAnotherThread) {
    start();
    serves();
    drive([] {});  // and can still be borrowed
    serves();
}

TEST_F(LoopPutOff, StartsForARemainingTask) {
    start();
    drive([&] { loop_.post([&] { ran_.set_value(); }); });
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, StartsForARemainingTimer) {
    start();
    drive([&] { watch_ = loop_.after(2ms, [&] { ran_.set_value(); }); });
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, StartsForATimerSetBeforeStart) {
    watch_ = loop_.after(2ms, [&] { ran_.set_value(); });
    start();
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, StartsForAReadableDescriptor) {
    start();
    drive([&] {
        watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {
            pipe_.take();
            ran_.set_value();
        });
    });
    pipe_.put();
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, StartsForAWritableDescriptor) {
    start();
    drive([&] {
        watch_ = loop_.watch(pipe_.fds[1], [&](EventLoop::Ready now) {
            if (!now.writable) return;
            watch_->want_write(false);
            ran_.set_value();
        });
        watch_->let_wait();
    });
    EXPECT_FALSE(has_thread());
    drive([&] { watch_->want_write(true); });
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, StartsOnRequest) {
    EXPECT_TRUE(loop_.need_driver());
    start();
    serves();
}

TEST_F(LoopPutOff, StartsForASecondWaiter) {
    start();
    std::atomic<bool> begun{false}, end{false};
    std::thread borrower([&] {
        Task task = [&] { begun = true; };
        EXPECT_TRUE(callers_.run_borrowed(task, [&] { return end.load(); }));
    });
    while (!begun)
        std::this_thread::yield();
    // The awaited input arrives after the driver has gone.
    loop_.post([&] {
        watch_ = loop_.watch(pipe_.fds[0], [&](EventLoop::Ready) {
            pipe_.take();
            ran_.set_value();
        });
        watch_->let_wait();
        end = true;
    });
    borrower.join();
    pipe_.put();
    EXPECT_TRUE(runs());
}

TEST_F(LoopPutOff, RunsRemainingTasksOnTheStoppingThread) {
    start();
    std::vector<int> order;
    thread_.stop([&] {
        EXPECT_TRUE(loop_.on_loop());
        order.push_back(1);
    });
    EXPECT_EQ(order, std::vector{1});
    Task never = [] { FAIL(); };
    EXPECT_FALSE(callers_.run_borrowed(never, [] { return true; }));
    loop_.post([&] { order.push_back(2); });
    EXPECT_FALSE(has_thread());
    // No caller waits for the task posted meanwhile.
    start();
    serves();
    EXPECT_EQ(order, (std::vector{1, 2}));
    thread_.stop([&] { order.push_back(3); });
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_FALSE(has_thread());
}

TEST_F(LoopPutOff, TheThreadKeepsTheLoopWhenDescriptorsAreExhausted) {
    start();
    {
        const NoDescriptors none;
        loop_.post([&] { ran_.set_value(); });
        EXPECT_TRUE(runs());
    }
    Task never = [] { FAIL(); };
    EXPECT_FALSE(callers_.run_borrowed(never, [] { return true; }));
    serves();
}

TEST(LoopThread, RunsTasksPostedByTasks) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    thread.start("alone");
    std::promise<int> told;
    int left = 1000;
    const std::function<void()> task = [&] { --left == 0 ? told.set_value(left) : loop.post(task); };
    loop.post(task);
    auto result = told.get_future();
    EXPECT_EQ(result.wait_for(20s), std::future_status::ready);
    thread.stop();
}

}  // namespace
TEST(LoopThread, SurvivesATaskThatRunsOutOfMemory) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    thread.start("test");
    std::promise<void> done;
    loop.post([] { throw std::bad_alloc(); });
    loop.post([&] { done.set_value(); });
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    thread.stop();
}

TEST(EventLoop, FiresDueTimersWhenTheClockJumpsAhead) {
    EventLoop loop;
    LoopCallers callers(loop);
    std::vector<int> called;
    const auto hour = loop.after(std::chrono::hours(1), [&] { called.push_back(1); });
    const auto day = loop.after(std::chrono::hours(24), [&] { called.push_back(2); });
    const auto before = loop.now();
    callers.progress();
    EXPECT_TRUE(called.empty());
    loop.skip(std::chrono::hours(1));
    EXPECT_GE(loop.now() - before, std::chrono::hours(1));
    callers.progress();
    EXPECT_EQ(called, std::vector<int>{1});
    const auto later = loop.after(std::chrono::hours(1), [&] { called.push_back(3); });
    loop.skip(std::chrono::hours(23));
    callers.progress();
    EXPECT_EQ(called, (std::vector<int>{1, 3, 2}));
}

}  // namespace muster
