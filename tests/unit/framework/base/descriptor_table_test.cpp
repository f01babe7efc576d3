// SPDX-License-Identifier: BSD-3-Clause
// Room for descriptors, made while there is one thread.
#include "framework/base/descriptor_table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/descriptor_room.hpp"

namespace muster {
namespace {

int open_descriptors() {
    int count = 0;
    for (int fd = 0; fd < 4096; ++fd) {
        const int copy = dup(fd);
        if (copy >= 0) close(copy);
        count += copy >= 0 ? 1 : 0;
    }
    return count;
}

TEST(DescriptorTable, GrowsInASingleThreadedProcess) {
    if (!__libc_single_threaded) GTEST_SKIP() << "a sanitizer's thread is here";
    const int before = open_descriptors();
    const int room_before = tests::descriptor_room();
    make_room_for_descriptors(0);
    EXPECT_EQ(tests::descriptor_room(), room_before);
    make_room_for_descriptors(1000);
    EXPECT_GE(tests::descriptor_room(), 1000);
    EXPECT_EQ(open_descriptors(), before);
}

TEST(DescriptorTable, GrowsToTheLimitOnly) {
    if (!__libc_single_threaded) GTEST_SKIP() << "a sanitizer's thread is here";
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 500);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    make_room_for_descriptors(100000);
    EXPECT_GE(tests::descriptor_room(), static_cast<int>(limit.rlim_cur));
    EXPECT_LT(tests::descriptor_room(), 2048);
}

TEST(DescriptorTable, IsUnchangedInAMultithreadedProcess) {
    std::thread([] {}).join();
    const int before = tests::descriptor_room();
    make_room_for_descriptors(static_cast<unsigned>(before) * 4);
    EXPECT_EQ(tests::descriptor_room(), before);
}

}  // namespace
}  // namespace muster
