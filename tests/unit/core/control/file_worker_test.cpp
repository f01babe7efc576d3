// SPDX-License-Identifier: BSD-3-Clause
// The file thread: in order, parallel to the loop, and ended when idle.
#include "core/control/file_worker.hpp"
#include "framework/base/loop_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <vector>

namespace muster {
namespace {

using namespace std::chrono_literals;

class FileWorkerTest : public testing::Test {
  protected:
    FileWorkerTest() { thread_.start("test"); }
    ~FileWorkerTest() override { thread_.stop(); }

    /// On the loop, and waits for that.
    void on_loop(const std::function<void()>& what) {
        std::promise<void> done;
        loop_.post([&] {
            what();
            done.set_value();
        });
        ASSERT_EQ(done.get_future().wait_for(20s), std::future_status::ready) << "the loop is blocked";
    }

    EventLoop loop_;
    LoopThread thread_{loop_, LoopThread::Beside::Nobody};
};

TEST_F(FileWorkerTest, TheLoopIsNotBlockedByASlowTask) {
    FileWorker worker(loop_);
    std::promise<void> gate, settled;
    std::shared_future<void> open = gate.get_future().share();
    std::atomic<int> steps = 0;
    on_loop([&] {
        worker.run([&, open] {
            open.wait();
            ++steps;
        });
        worker.run([&] { ++steps; }, [&] { steps += loop_.on_loop() ? 10 : 100; });
        worker.settled([&] { settled.set_value(); });
    });
    on_loop([] {});
    EXPECT_EQ(steps, 0);
    auto all = settled.get_future();
    EXPECT_EQ(all.wait_for(0s), std::future_status::timeout);
    gate.set_value();
    ASSERT_EQ(all.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(steps, 12);
    on_loop([&] { worker.finish(); });
}

TEST_F(FileWorkerTest, SettledIsCalledAtOnceWhenIdle) {
    FileWorker worker(loop_);
    on_loop([&] {
        bool said = false;
        worker.settled([&] { said = true; });
        EXPECT_TRUE(said);
    });
}

TEST_F(FileWorkerTest, DestructionWaitsForAllTasks) {
    std::vector<int> order;
    {
        FileWorker worker(loop_);
        on_loop([&] {
            for (int i = 0; i < 100; ++i)
                worker.run([&order, i] { order.push_back(i); });
            worker.run([] {}, [&order] { order.push_back(100); });
            worker.finish();
            EXPECT_EQ(order.size(), 101U);
            // It may be used again.
            worker.run([&order] { order.push_back(101); });
        });
    }
    ASSERT_EQ(order.size(), 102U);
    for (int i = 0; i < 102; ++i)
        EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(FileWorkerTest, AFailedTaskDoesNotStopTheWorker) {
    FileWorker worker(loop_);
    std::promise<void> settled;
    on_loop([&] {
        worker.run([] { throw std::bad_alloc(); });
        worker.run([] {}, [&] { settled.set_value(); });
    });
    EXPECT_EQ(settled.get_future().wait_for(20s), std::future_status::ready);
    on_loop([&] { worker.finish(); });
}

}  // namespace
}  // namespace muster
