// SPDX-License-Identifier: BSD-3-Clause
// Keys that are deleted (PMIX_DEL_LOCAL and so on as scopes of PMIx_Put), between processes of one node.
// Processes of other nodes: delete_nodes.
#include <gtest/gtest.h>
#include <pmix.h>

#include <cstdlib>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::ModexRequest;
using integration::Process;

const std::string kGone = PMIx_Error_string(PMIX_ERR_NOT_FOUND);

/// With each kind of store.
class Deletion : public testing::TestWithParam<const char*> {
  protected:
    Deletion() { setenv("PMIX_MCA_gds", GetParam(), 1); }
    ~Deletion() override { unsetenv("PMIX_MCA_gds"); }
    static Process start(Host& host, const Host::Job& job, pmix_rank_t rank,
                         const std::vector<std::string>& words) {
        return host.start_program(job, rank, INTEGRATION_SCRIPT_CLIENT, words);
    }
    static void expect_lines(Process& process, const std::vector<std::string>& lines) {
        for (const std::string& line : lines)
            EXPECT_EQ(process.line(), line);
        EXPECT_EQ(process.line(), "END");
        EXPECT_EQ(process.wait(), 0);
    }
};
INSTANTIATE_TEST_SUITE_P(Stores, Deletion, testing::Values("hash", "shmem"));

TEST_P(Deletion, ReachesReadersOfTheNodeWithTheCommit) {
    Host host;
    const auto job = host.start_job(2);
    auto owner =
        start(host, job, 0,
              {"put",   "global", "k",      "one", "put",    "global", "other", "kept",   "commit", "fence",
               "fence", "delete", "global", "k",   "get",    "0",      "k",     "commit", "fence",  "fence",
               "put",   "global", "k",      "two", "commit", "fence",  "get",   "0",      "k"});
    auto reader = start(host, job, 1,
                        {"fence", "get",   "0",     "k",           "get", "0", "other", "fence",      "fence",
                         "get",   "0",     "k",     "immediate=1", "get", "0", "k",     "optional=1", "get",
                         "0",     "other", "fence", "fence",       "get", "0", "k"});
    expect_lines(reader, {"one", "kept", kGone, kGone, "kept", "two"});
    expect_lines(owner, {kGone, "two"});
}

TEST_P(Deletion, ConcernsTheReadersOfItsScope) {
    Host host;
    const auto job = host.start_job(2);
    auto owner =
        start(host, job, 0, {"put",   "global", "l",      "one", "put",    "global",   "r",      "one",
                             "put",   "global", "mine",   "one", "commit", "fence",    "delete", "local",
                             "l",     "delete", "remote", "r",   "delete", "internal", "mine",   "commit",
                             "fence", "wait",   "get",    "0",   "mine",   "get",      "0",      "l"});
    auto reader = start(host, job, 1,
                        {"fence", "fence", "get", "0", "l", "immediate=1", "get", "0", "r", "immediate=1",
                         "get", "0", "mine"});
    expect_lines(reader, {kGone, "one", "one"});
    ASSERT_EQ(owner.line(), "WAITING");
    ModexRequest request(job, 0);
    ASSERT_TRUE(request.done(20));
    const std::string data = request.data();
    EXPECT_NE(data.find(std::string("l\0", 2)), std::string::npos);
    EXPECT_EQ(data.find(std::string("r\0", 2)), std::string::npos);
    owner.go_on();
    expect_lines(owner, {"one", "one"});
}

TEST_P(Deletion, StandsBeforeWhatIsPutInTheSameCommit) {
    Host host;
    const auto job = host.start_job(2);
    auto owner = start(host, job, 0, {"put",    "global", "again", "one",    "put",    "global", "half",
                                      "one",    "commit", "fence", "delete", "global", "again",  "put",
                                      "global", "again",  "two",   "put",    "global", "never",  "one",
                                      "delete", "global", "never", "put",    "global", "half",   "two",
                                      "delete", "local",  "half",  "commit", "fence"});
    auto reader = start(host, job, 1,
                        {"fence", "fence", "get", "0", "again", "get", "0", "never", "immediate=1", "get",
                         "0", "half", "immediate=1"});
    expect_lines(reader, {"two", kGone, kGone});
    expect_lines(owner, {});
}

TEST_P(Deletion, OfOneKeyTakesNoEffectBeforeTheCommit) {
    Host host;
    const auto job = host.start_job(2);
    auto owner = start(host, job, 0,
                       {"put", "global", "k", "one", "commit", "fence", "delete", "global", "k", "delete",
                        "global", "never.there", "fence"});
    auto reader = start(host, job, 1, {"fence", "fence", "get", "0", "k"});
    expect_lines(reader, {"one"});
    expect_lines(owner, {});
}

}  // namespace
