// SPDX-License-Identifier: BSD-3-Clause
// Job control of a server with a fake host: the library's own actions, the requests to the host, and their
// identity.
#include "core/control/job_control.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/control/cleanup.hpp"
#include "core/control/file_worker.hpp"
#include "core/exchange/namespaces.hpp"
#include "framework/base/loop_callers.hpp"

namespace muster {
namespace {

struct Asked {
    size_t calls = 0;
    std::vector<pmix_proc_t> targets;
    std::vector<std::string> keys;
    std::optional<uint32_t> uid;
    pmix_status_t answer = PMIX_OPERATION_SUCCEEDED;
} asked;

pmix_status_t control(const pmix_proc_t*, const pmix_proc_t targets[], size_t ntargets,
                      const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t, void*) {
    ++asked.calls;
    if (targets != nullptr) asked.targets.assign(targets, targets + ntargets);
    for (size_t i = 0; i < ndirs; ++i)
        asked.keys.emplace_back(directives[i].key);
    asked.uid = InfoView{directives, ndirs}.number<uint32_t>(PMIX_USERID);
    return asked.answer;
}

class JobControlTest : public testing::Test {
  protected:
    JobControlTest() {
        asked = {};
        std::memset(static_cast<void*>(&module_), 0, sizeof module_);
        module_.job_control = control;
        host_.set_module(&module_, sizeof module_);
        Namespace& job = namespaces_.get_or_add("job");
        job.registered = true;
        job.nlocal = 1;
        job.clients[0].proc = make_proc("job", 0);
        caller_.proc = make_proc("job", 0);
        caller_.uid = 4711;
    }

    pmix_status_t request(Info directives, std::vector<pmix_proc_t> targets = {}) {
        std::optional<pmix_status_t> status;
        control_.request(caller_, std::move(targets), std::move(directives),
                         [&](const HostAnswer& answer) { status = answer.status; });
        for (int turn = 0; turn < 10 && !status; ++turn)
            callers_.progress();
        return status.value_or(PMIX_ERR_TIMEOUT);
    }
    static Info with(const char* key, const char* text) {
        Info info;
        info.add(key, text);
        return info;
    }
    static Info killing() {
        Info info;
        info.add(PMIX_JOB_CTRL_KILL, true);
        return info;
    }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    Log log_{"test"};
    pmix_server_module_t module_;
    Host host_{loop_, log_, nullptr, 0};
    Namespaces namespaces_;
    FileWorker files_{loop_};
    Cleanups cleanups_{files_};
    JobControl control_{host_, namespaces_, cleanups_};
    Caller caller_;
};

TEST_F(JobControlTest, PassesTheCallerToTheHost) {
    Info directives = killing();
    directives.add(PMIX_USERID, uint32_t{0});  // what a process claims
    EXPECT_EQ(request(std::move(directives), {make_proc("job", PMIX_RANK_WILDCARD)}), PMIX_SUCCESS);
    EXPECT_EQ(asked.calls, 1U);
    EXPECT_EQ(asked.uid, 4711U);
    ASSERT_EQ(asked.targets.size(), 1U);
    EXPECT_EQ(asked.targets[0].rank, PMIX_RANK_WILDCARD);
}

TEST_F(JobControlTest, ReturnsTheErrorOfTheHost) {
    asked.answer = PMIX_ERR_NO_PERMISSIONS;
    EXPECT_EQ(request(killing()), PMIX_ERR_NO_PERMISSIONS);
}

TEST_F(JobControlTest, IsNotSupportedByAHostWithoutTheUpcall) {
    module_.job_control = nullptr;
    host_.set_module(&module_, sizeof module_);
    EXPECT_EQ(request(killing()), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(JobControlTest, RegistersCleanupWithoutTheHost) {
    EXPECT_EQ(request(with(PMIX_REGISTER_CLEANUP, "/tmp/muster-no-such-file")), PMIX_SUCCESS);
    EXPECT_EQ(asked.calls, 0U);
}

TEST_F(JobControlTest, RefusesAPathThatIsNotAbsoluteBeforeItAsksTheHost) {
    Info directives = with(PMIX_REGISTER_CLEANUP, "relative");
    directives.add(PMIX_JOB_CTRL_KILL, true);
    EXPECT_EQ(request(std::move(directives)), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(asked.calls, 0U);
}

TEST_F(JobControlTest, PassesOtherDirectivesToTheHost) {
    Info directives = with(PMIX_REGISTER_CLEANUP, "/tmp/muster-no-such-file");
    directives.add(PMIX_JOB_CTRL_KILL, true);
    EXPECT_EQ(request(std::move(directives)), PMIX_SUCCESS);
    EXPECT_EQ(asked.calls, 1U);
}

TEST_F(JobControlTest, EndsWhenTheServerCloses) {
    host_.close();
    EXPECT_EQ(request(killing()), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(asked.calls, 0U);
}

}  // namespace
}  // namespace muster
