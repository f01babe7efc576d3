// SPDX-License-Identifier: BSD-3-Clause
// A server and its clients with psec/munge: accepted and refused clients, and the order in which the two
// lists are tried.
#include <gtest/gtest.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/munge/munged.hpp"

namespace integration {
namespace {

class MungeJob : public testing::Test {
  protected:
    void SetUp() override {
        if (!Munged::installed()) GTEST_SKIP() << "munged is not installed";
        ASSERT_EQ(munged_.emplace().error(), "");
        setenv("PMIX_MCA_psec_munge_socket", munged_->socket().c_str(), 1);
    }
    static void use(const char* modules) { setenv("PMIX_MCA_psec", modules, 1); }
    static std::string run(Host& host, const Host::Job& job, pmix_rank_t rank,
                           const std::vector<std::string>& words) {
        Process client = host.start_program(job, rank, MUNGE_CLIENT, words);
        std::string line = client.line();
        client.wait();
        return line;
    }

    std::optional<Munged> munged_;
};

TEST_F(MungeJob, AClientWithAMungeCredentialIsAccepted) {
    covers("SRV-30");
    use("munge");
    Host host;
    const auto job = host.start_job(2);
    EXPECT_EQ(run(host, job, 0, {"plain"}), "INIT PMIX_SUCCESS");
    EXPECT_EQ(run(host, job, 1, {"plain"}), "INIT PMIX_SUCCESS");
}

TEST_F(MungeJob, AClientThatIsRegisteredForAnotherUserIsRefused) {
    covers("SRV-30");
    use("munge");
    Host host;
    const auto job = host.start_job(1);
    host.deregister_client(job, 0);
    ASSERT_EQ(host.register_client(job, 0, geteuid() + 1, getegid()), PMIX_SUCCESS);
    EXPECT_NE(run(host, job, 0, {"plain"}), "INIT PMIX_SUCCESS");
    EXPECT_TRUE(host.upcalls("connected").empty());
}

TEST_F(MungeJob, AClientCannotDowngradeItsServer) {
    use("munge");
    Host host;
    const auto job = host.start_job(1);
    EXPECT_NE(run(host, job, 0, {"as", "native"}), "INIT PMIX_SUCCESS");
    EXPECT_NE(run(host, job, 0, {"as", "none"}), "INIT PMIX_SUCCESS");
    EXPECT_EQ(run(host, job, 0, {"as", "munge,native"}), "INIT PMIX_SUCCESS");
}

TEST_F(MungeJob, TheFirstSharedComponentInTheServersOrderIsUsed) {
    use("munge,native");
    Host host;
    const auto job = host.start_job(1);
    const auto environment = host.environment(job, 0);
    EXPECT_NE(std::find(environment.begin(), environment.end(), "PMIX_SECURITY_MODE=munge,native"),
              environment.end());
    EXPECT_EQ(run(host, job, 0, {"as", "native"}), "INIT PMIX_SUCCESS");
    EXPECT_EQ(run(host, job, 0, {"as", "munge"}), "INIT PMIX_SUCCESS");
    EXPECT_NE(run(host, job, 0, {"as", "none"}), "INIT PMIX_SUCCESS");
}

TEST_F(MungeJob, TheNextSharedComponentIsUsedWhenTheDaemonIsDown) {
    use("munge,native");
    Host host;
    const auto job = host.start_job(1);
    munged_->kill();
    EXPECT_EQ(run(host, job, 0, {"plain"}), "INIT PMIX_SUCCESS");
    EXPECT_NE(run(host, job, 0, {"as", "munge"}), "INIT PMIX_SUCCESS");
}

TEST_F(MungeJob, AServerThatRequiresMungeDoesNotStartWithoutTheDaemon) {
    use("munge");
    munged_->kill();
    pmix_server_module_t module = {};
    EXPECT_EQ(PMIx_server_init(&module, nullptr, 0), PMIX_ERR_NOT_AVAILABLE);
}

TEST_F(MungeJob, CredentialsForApplications) {
    Host host;
    const auto job = host.start_job(1);
    const std::string ids = " uid=" + std::to_string(geteuid()) + " gid=" + std::to_string(getegid());
    EXPECT_EQ(run(host, job, 0, {"credential"}),
              std::string("PMIX_SUCCESS type=munge") + ids + " " + PMIx_Error_string(PMIX_ERR_INVALID_CRED));
}

}  // namespace
}  // namespace integration
