// SPDX-License-Identifier: BSD-3-Clause
// Lists of processors: valid ones, refused ones, and threads bound to them.
#include "framework/base/cpu_list.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "framework/base/loop_thread.hpp"

namespace muster {
namespace {

std::string numbers(const cpu_set_t& processors) {
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &processors)) text += (text.empty() ? "" : " ") + std::to_string(cpu);
    }
    return text;
}

std::string read(std::string_view text) {
    const auto processors = read_cpu_list(text);
    return processors ? numbers(*processors) : "refused";
}

TEST(CpuList, NumbersAndRanges) {
    EXPECT_EQ(read("0"), "0");
    EXPECT_EQ(read("0-3,8"), "0 1 2 3 8");
    EXPECT_EQ(read("5,1-1,4-6"), "1 4 5 6");
    EXPECT_EQ(read("1023"), "1023");
    const auto all = read_cpu_list("0-1023");
    ASSERT_TRUE(all);
    EXPECT_EQ(CPU_COUNT(&*all), CPU_SETSIZE);
}

TEST(CpuList, AnythingElseIsRefused) {
    for (const char* text : {"",
                             ",",
                             "0,",
                             ",0",
                             "0,,1",
                             "-1",
                             "1-",
                             "3-1",
                             "1-2-3",
                             "+1",
                             " 1",
                             "1 ",
                             "0x1",
                             "a",
                             "1a",
                             "1024",
                             "0-1024",
                             "4294967296",
                             "18446744073709551616",
                             "99999999999999999999999-1",
                             "0;1",
                             "0-3 8"}) {
        EXPECT_EQ(read(text), "refused") << "'" << text << "'";
    }
    EXPECT_EQ(read(std::string_view("0\0001", 3)), "refused");
    std::string long_one = "0";
    while (long_one.size() < (size_t{1} << 20))
        long_one += ",0-1023";
    EXPECT_EQ(read(long_one), "refused") << "no list is as long";
}

/// One of the processors that this thread may use.
cpu_set_t one_of_mine() {
    cpu_set_t mine, one;
    CPU_ZERO(&one);
    EXPECT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &mine)) CPU_SET(cpu, &one);
    }
    return one;
}

/// One that this machine does not have.
cpu_set_t none_here() {
    cpu_set_t none;
    CPU_ZERO(&none);
    CPU_SET(CPU_SETSIZE - 1, &none);
    return none;
}

/// Returns the affinity of the loop's thread.
cpu_set_t thread_of(EventLoop& loop) {
    std::promise<cpu_set_t> told;
    loop.post([&] {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        sched_getaffinity(0, sizeof mine, &mine);
        told.set_value(mine);
    });
    return told.get_future().get();
}

TEST(CpuList, ReportsWhetherAThreadCanBeBound) {
    const cpu_set_t one = one_of_mine(), none = none_here();
    cpu_set_t both = none, before, after;
    CPU_OR(&both, &one, &none);
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_TRUE(can_bind_to(one));
    EXPECT_TRUE(can_bind_to(both)) << "to those of them that there are";
    EXPECT_FALSE(can_bind_to(none));
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the caller stays where it was";
}

TEST(CpuList, TheThreadOfALoopIsBoundOnEachStart) {
    const cpu_set_t one = one_of_mine();
    for (const bool when_needed : {false, true}) {
        EventLoop loop;
        LoopThread thread(loop, when_needed ? LoopThread::Beside::Callers : LoopThread::Beside::Nobody);
        thread.bind(one);
        for (int round = 0; round < 2; ++round) {
            thread.start("bound");
            const cpu_set_t there = thread_of(loop);
            EXPECT_TRUE(CPU_EQUAL(&there, &one)) << numbers(there);
            thread.stop();
        }
    }
}

TEST(CpuList, ALoopStartsItsThreadWhenBindingFails) {
    EventLoop loop;
    LoopThread thread(loop, LoopThread::Beside::Nobody);
    thread.bind(none_here());
    thread.start("unbound");
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    const cpu_set_t there = thread_of(loop);
    EXPECT_TRUE(CPU_EQUAL(&there, &mine));
    thread.stop();
}

}  // namespace
}  // namespace muster
