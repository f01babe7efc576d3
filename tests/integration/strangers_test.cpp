// SPDX-License-Identifier: BSD-3-Clause
// Other users at a server of root's: they are nobody but themselves, however they go about it.
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "framework/packer.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace {

using integration::Host;
using integration::RawPeer;
using muster::ConnectRequest;

constexpr uid_t kStranger = 12345;

/// Runs `what` as another user; the child's exit status, -1 where it did not end by itself.
template <class What>
int as_stranger(What what) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        if (setresgid(kStranger, kStranger, kStranger) != 0 ||
            setresuid(kStranger, kStranger, kStranger) != 0)
            _exit(99);
        _exit(what());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What the process of that rank would say, if it ran as this user.
ConnectRequest claim(const Host::Job& job, pmix_rank_t rank, uint32_t uid, uint32_t gid) {
    ConnectRequest request;
    const uint32_t ids[2] = {uid, gid};
    request.psec = "native";
    request.credential.append(ids, sizeof ids);
    request.nspace = job.nspace;
    request.rank = rank;
    request.version = muster::own_wire_version();
    request.bfrops = "v41";
    request.gds = "hash";
    return request;
}

pmix_info_t external_progress() {
    pmix_info_t info;
    std::memset(&info, 0, sizeof info);
    const bool yes = true;
    EXPECT_EQ(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &yes, PMIX_BOOL), PMIX_SUCCESS);
    return info;
}

TEST(Strangers, SRV_30_one_that_hangs_up_before_the_kernel_is_asked_is_not_believed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    // Driven by hand: the server looks only when the other has gone again.
    Host host({}, {external_progress()});
    const auto job = host.start_job(1);
    const auto request = build_connect_request(claim(job, 0, geteuid(), getegid()));
    const auto environment = host.environment(job, 0);
    ASSERT_EQ(as_stranger([&] {
                  RawPeer raw(environment, RawPeer::Way::Tcp);
                  if (!raw.connected()) return 1;
                  return raw.say(request.view()) ? 0 : 2;
              }),
              0);
    for (int i = 0; i < 50; ++i)
        host.progress(0.01);
    EXPECT_TRUE(host.upcalls("connected").empty()) << "a stranger has passed for root's process";
}

}  // namespace
