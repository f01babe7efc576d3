// SPDX-License-Identifier: BSD-3-Clause
// Jobs on a server to which the kernel refuses a system call that there is another way for.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tests/integration/host.hpp"
#include "tests/integration/restricted.hpp"

namespace {

using namespace integration;

TEST(RefusedCalls, LetAJobRunWhereThereIsAnotherWay) {
    const struct {
        const char* name;
        long call;
        int error;
    } kCalls[] = {
        {"accept4", SYS_accept4, EPERM}, {"accept4", SYS_accept4, ENOSYS}, {"linkat", SYS_linkat, EPERM},
        {"prctl", SYS_prctl, EPERM},     {"clone3", SYS_clone3, ENOSYS},
    };
    for (const auto& refused : kCalls) {
        SCOPED_TRACE(std::string(refused.name) + ": " + strerror(refused.error));
        EXPECT_TRUE(well_apart([&] {
            alarm(30);
            refuse(refused.call, refused.error);
            Host host;
            const auto job = host.start_job(2);
            auto first = host.start(job, 0, {"fence", "2", "collect"});
            auto second = host.start(job, 1, {"fence", "2", "collect"});
            EXPECT_EQ(first.wait(), 0);
            EXPECT_EQ(second.wait(), 0);
        }));
    }
}

}  // namespace
