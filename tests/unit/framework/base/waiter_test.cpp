// SPDX-License-Identifier: BSD-3-Clause
// Waiters for descriptors and times: both kinds behave alike.
#include "framework/base/waiter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster {
namespace {

using namespace std::chrono_literals;

using Clock = std::chrono::steady_clock;

class EachWaiter : public ::testing::TestWithParam<std::unique_ptr<Waiter> (*)()> {
  protected:
    void SetUp() override {
        waiter_ = GetParam()();
        ASSERT_NE(waiter_, nullptr);
        for (auto& pair : sockets_) {
            ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
        }
    }
    void TearDown() override {
        for (auto& pair : sockets_) {
            for (const int fd : pair)
                if (fd >= 0) ::close(fd);
        }
    }

    std::unique_ptr<Watch::Impl> watch(int fd, std::function<void(EventLoop::Ready)> on_ready) {
        auto watch = new_watch();
        watch->fd = fd;
        watch->interest = POLLIN;
        watch->on_ready = std::move(on_ready);
        waiter_->set(*watch);
        return watch;
    }
    std::unique_ptr<Watch::Impl> after(std::chrono::milliseconds delay, std::function<void()> on_time) {
        return at(Clock::now() + delay, std::move(on_time));
    }
    std::unique_ptr<Watch::Impl> at(Clock::time_point deadline, std::function<void()> on_time) {
        auto watch = new_watch();
        watch->deadline = deadline;
        watch->on_time = std::move(on_time);
        waiter_->set(*watch);
        return watch;
    }
    void put(int pair) { ASSERT_EQ(::write(sockets_[pair][1], "x", 1), 1); }

    std::unique_ptr<Waiter> waiter_;
    int sockets_[2][2] = {{-1, -1}, {-1, -1}};

  private:
    std::unique_ptr<Watch::Impl> new_watch() {
        auto watch = std::make_unique<Watch::Impl>();
        watch->waiter = waiter_.get();
        watch->ran = &ran_;
        watch->busy = &busy_;
        return watch;
    }

    bool ran_ = false;
    bool busy_ = false;
};

TEST_P(EachWaiter, FiresReadyDescriptorsEachTime) {
    std::string fired;
    const auto a = watch(sockets_[0][0], [&](EventLoop::Ready ready) {
        fired += ready.readable ? 'r' : '-';
        fired += ready.writable ? 'w' : '-';
    });
    waiter_->turn(false);
    EXPECT_EQ(fired, "");
    put(0);
    waiter_->turn(true);
    waiter_->turn(false);
    EXPECT_EQ(fired, "r-r-");
    a->interest = POLLOUT;
    waiter_->set(*a);
    waiter_->turn(true);
    EXPECT_EQ(fired, "r-r--w");
    a->interest = 0;
    waiter_->set(*a);
    waiter_->turn(false);
    EXPECT_EQ(fired, "r-r--w");
    a->interest = POLLIN | POLLOUT;
    waiter_->set(*a);
    waiter_->turn(true);
    EXPECT_EQ(fired, "r-r--wrw");
}

TEST_P(EachWaiter, ReportsAnEndByTheRequestedInterest) {
    int reads = 0, writes = 0;
    const auto a = watch(sockets_[0][0], [&](EventLoop::Ready ready) {
        reads += ready.readable ? 1 : 0;
        writes += ready.writable ? 1 : 0;
    });
    ::close(std::exchange(sockets_[0][1], -1));
    waiter_->turn(true);
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(writes, 0);
    a->interest = POLLOUT;
    waiter_->set(*a);
    waiter_->turn(true);
    EXPECT_EQ(writes, 1);
}

TEST_P(EachWaiter, ACallbackMayDestroyItsWatchAndAnother) {
    int fired = 0;
    std::unique_ptr<Watch::Impl> a, b;
    const auto both_go = [&](EventLoop::Ready) {
        ++fired;
        a.reset();
        b.reset();
    };
    a = watch(sockets_[0][0], both_go);
    b = watch(sockets_[1][0], both_go);
    put(0);
    put(1);
    waiter_->turn(true);
    EXPECT_EQ(fired, 1);
    waiter_->turn(false);
    EXPECT_EQ(fired, 1);
}

TEST_P(EachWaiter, DoesNotFireAfterTheInterestIsRemoved) {
    int fired = 0;
    std::unique_ptr<Watch::Impl> a, b;
    const auto one = [&](EventLoop::Ready) {
        ++fired;
        for (Watch::Impl* watch : {a.get(), b.get()}) {
            watch->interest = 0;
            waiter_->set(*watch);
        }
    };
    a = watch(sockets_[0][0], one);
    b = watch(sockets_[1][0], one);
    put(0);
    put(1);
    waiter_->turn(true);
    EXPECT_EQ(fired, 1);
}

TEST_P(EachWaiter, TimersFireOnceInOrder) {
    std::string order;
    std::unique_ptr<Watch::Impl> a, b, c, never;
    Clock::time_point begin;
    // In steps that are longer than any tick of a clock. Timers that are due when set have no order: all are
    // set before the first is due.
    do {
        begin = Clock::now();
        c = at(begin + 60ms, [&] { order += 'c'; });
        a = at(begin + 20ms, [&] { order += 'a'; });
        never = at(begin + 40ms, [&] { order += 'x'; });
        b = at(begin + 40ms, [&] { order += 'b'; });
    } while (Clock::now() - begin > 15ms);
    never.reset();
    while (order.size() < 3)
        waiter_->turn(true);
    EXPECT_EQ(order, "abc");
    waiter_->turn(false);
    EXPECT_EQ(order, "abc");
}

TEST_P(EachWaiter, ATimerMayCancelAndAddTimers) {
    std::string order;
    std::unique_ptr<Watch::Impl> a, b, c;
    const auto cancel_and_add = [&] {
        order += 'a';
        b.reset();
        a.reset();
        c = after(0ms, [&] { order += 'c'; });
    };
    Clock::time_point begin;
    do {
        begin = Clock::now();
        a = at(begin + 20ms, cancel_and_add);
        b = at(begin + 40ms, [&] { order += 'b'; });
    } while (Clock::now() - begin > 15ms);
    std::this_thread::sleep_until(begin + 60ms);  // both are over
    while (order.find('c') == std::string::npos)
        waiter_->turn(true);
    EXPECT_EQ(order, "ac");
}

TEST_P(EachWaiter, TimersFireBesideReadyDescriptors) {
    int fired = 0;
    bool over = false;
    const auto a = watch(sockets_[0][0], [&](EventLoop::Ready) { ++fired; });
    const auto end = after(2ms, [&] { over = true; });
    put(0);
    while (!over)
        waiter_->turn(true);
    EXPECT_GT(fired, 0);
}

INSTANTIATE_TEST_SUITE_P(Waiters, EachWaiter, ::testing::Values(&make_poll_waiter, &make_libevent_waiter),
                         [](const auto& each) { return each.index == 0 ? "Poll" : "Libevent"; });

}  // namespace
}  // namespace muster
