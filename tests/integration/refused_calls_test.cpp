// SPDX-License-Identifier: BSD-3-Clause
// Jobs on a server whose system call is refused, and which has an alternative for it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "framework/base/unique_fd.hpp"
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

/// Connects to the first local socket that a client of the host is given, and stays connected.
muster::UniqueFd connect_to(Host& host) {
    for (const std::string& variable : host.environment(host.start_job(1), 0)) {
        const size_t at = variable.find("usock://");
        if (at == std::string::npos) continue;
        const std::string path = variable.substr(at + 8, variable.find_first_of(";,\n", at) - at - 8);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        muster::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        return fd;
    }
    ADD_FAILURE() << "no local socket";
    return {};
}

double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(RefusedCalls, LeaveTheLoopIdleWhereNothingCanBeAccepted) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        refuse(SYS_accept4, EPERM);
        refuse(SYS_accept, EPERM);
        Host host;
        const auto waiting = connect_to(host);
        const double began = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        while (seconds_of(CLOCK_MONOTONIC) < began + 1)
            usleep(10000);
        // A loop that retries at once uses the whole second.
        EXPECT_LT(seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used, 0.3);
    }));
}

}  // namespace
