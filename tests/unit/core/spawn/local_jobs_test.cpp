// SPDX-License-Identifier: BSD-3-Clause
// Jobs that the library starts itself: refusals before any start, registration, and notification of the end
// of a job.
#include "core/spawn/local_jobs.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/covers.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {
namespace {

class LocalJobsTest : public testing::Test {
  protected:
    LocalJobs::Registrar registrar() {
        LocalJobs::Registrar made;
        made.register_nspace = [this](const char* nspace, int32_t nlocal, InfoView info) {
            registered_.push_back(nspace);
            nlocal_ = nlocal;
            if (auto copy = Info::copy_of(info)) data_ = std::move(*copy);
            return register_status_;
        };
        made.deregister_nspace = [this](const char* nspace) { deregistered_.push_back(nspace); };
        made.register_client = [this](const pmix_proc_t&, uint32_t uid, uint32_t) {
            ++clients_;
            EXPECT_EQ(uid, geteuid());
            return PMIX_SUCCESS;
        };
        made.tool_uri = [] { return std::string("server0.0;usock:///nowhere"); };
        made.raise = [this](EventPtr event) { events_.push_back(std::move(event)); };
        return made;
    }
    static Apps program(std::vector<const char*> words, int maxprocs = 1, Info info = {},
                        const char* cwd = nullptr) {
        pmix_app_t app = PMIX_APP_STATIC_INIT;
        words.push_back(nullptr);
        app.cmd = const_cast<char*>(words[0]);
        app.argv = const_cast<char**>(words.data());
        app.maxprocs = maxprocs;
        app.cwd = const_cast<char*>(cwd);
        app.info = info.data();
        app.ninfo = info.size();
        Apps apps;
        EXPECT_EQ(Apps::copy_of(&app, 1, apps), PMIX_SUCCESS);
        return apps;
    }
    pmix_status_t spawn(Info info, Apps apps) {
        std::vector<pmix_status_t> answers;
        jobs_.spawn(std::move(info), std::move(apps), [&](const HostAnswer& answer) {
            answers.push_back(answer.status);
            nspace_ = answer.nspace;
        });
        EXPECT_EQ(answers.size(), 1U);
        return answers.empty() ? PMIX_ERROR : answers[0];
    }
    static Info with(const char* key, bool value = true, bool required = false) {
        Info info;
        info.add(key, value);
        if (required) info[0].flags |= PMIX_INFO_REQD;
        return info;
    }
    [[nodiscard]] bool until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit) return false;
            node_.turn();
            ::sched_yield();
        }
        return true;
    }
    const pmix_value_t* of_event(const char* key) { return events_.at(0)->info.view().value(key); }

    FakeNode<0> node_;
    std::vector<std::string> registered_, deregistered_;
    int32_t nlocal_ = 0;
    int clients_ = 0;
    Info data_;
    pmix_status_t register_status_ = PMIX_SUCCESS;
    std::vector<EventPtr> events_;
    std::string nspace_;
    LocalJobs jobs_{node_.process().runtime(), node_.server().fork_environment(), registrar()};
};

TEST_F(LocalJobsTest, RefuseWhatTheyCannotDo) {
    covers("TOOL-87");
    for (const char* key : {PMIX_DEBUG_STOP_ON_EXEC, PMIX_DEBUGGER_DAEMONS, PMIX_COSPAWN_APP}) {
        EXPECT_EQ(spawn(with(key), program({"true"})), PMIX_ERR_NOT_SUPPORTED) << key;
        EXPECT_EQ(spawn({}, program({"true"}, 1, with(key))), PMIX_ERR_NOT_SUPPORTED) << key;
    }
    EXPECT_EQ(spawn(with("vendor.directive", true, true), program({"true"})), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_TRUE(registered_.empty());
}

TEST_F(LocalJobsTest, SayWhyAProgramCannotBeStarted) {
    EXPECT_EQ(spawn({}, program({"/nowhere/program"})), PMIX_ERR_JOB_EXE_NOT_FOUND);
    EXPECT_EQ(spawn({}, program({"/dev/null"})), PMIX_ERR_JOB_APP_NOT_EXECUTABLE);
    EXPECT_EQ(spawn({}, program({"true"}, 1, {}, "/nowhere")), PMIX_ERR_JOB_WDIR_NOT_FOUND);
    Info folder;
    folder.add(PMIX_WDIR, "/nowhere");
    EXPECT_EQ(spawn(std::move(folder), program({"true"})), PMIX_ERR_JOB_WDIR_NOT_FOUND);
    Info agent;
    agent.add(PMIX_EXEC_AGENT, "/nowhere/agent");
    EXPECT_EQ(spawn(std::move(agent), program({"true"})), PMIX_ERR_JOB_EXE_NOT_FOUND);
    EXPECT_EQ(nspace_, "");
    EXPECT_EQ(registered_.size(), 5U);
    EXPECT_EQ(deregistered_, registered_) << "nothing is left of them";
}

TEST_F(LocalJobsTest, EndWhereTheServerDoesNotTakeTheJob) {
    register_status_ = PMIX_ERR_NOMEM;
    EXPECT_EQ(spawn({}, program({"true"})), PMIX_ERR_NOMEM);
    EXPECT_EQ(clients_, 0);
    EXPECT_EQ(deregistered_.size(), 1U);
}

TEST_F(LocalJobsTest, RegisterTheJobAndTellItsEnd) {
    Info info = with(PMIX_NOTIFY_COMPLETION);
    info.add(PMIX_PARENT_ID, make_proc("parent", 3));
    info.add(PMIX_SPAWN_TOOL, true);
    ASSERT_EQ(spawn(std::move(info), program({"true"}, 2)), PMIX_SUCCESS);
    ASSERT_EQ(registered_.size(), 1U);
    EXPECT_EQ(registered_[0], nspace_);
    EXPECT_EQ(nspace_, "server0:1");
    EXPECT_EQ(nlocal_, 2);
    EXPECT_EQ(clients_, 2);
    EXPECT_EQ(data_.view().number<uint32_t>(PMIX_JOB_SIZE), 2U);
    EXPECT_STREQ(data_.view().string(PMIX_LOCAL_PEERS), "0,1");
    EXPECT_EQ(data_.view().proc(PMIX_PARENT_ID)->rank, 3U);
    ASSERT_TRUE(until([&] { return !deregistered_.empty(); }));
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0]->status, PMIX_EVENT_JOB_END);
    EXPECT_EQ(of_event(PMIX_JOB_TERM_STATUS)->data.status, PMIX_SUCCESS);
    EXPECT_EQ(of_event(PMIX_PROCID), nullptr);
}

TEST_F(LocalJobsTest, TellTheFirstFailureOfAJob) {
    ASSERT_EQ(spawn(with(PMIX_NOTIFY_COMPLETION), program({"sh", "-c", "exit 7"})), PMIX_SUCCESS);
    ASSERT_TRUE(until([&] { return !events_.empty(); }));
    EXPECT_EQ(of_event(PMIX_JOB_TERM_STATUS)->data.status, PMIX_ERR_JOB_NON_ZERO_TERM);
    EXPECT_EQ(value_as_number<int>(of_event(PMIX_EXIT_CODE)), 7);
    EXPECT_NE(of_event(PMIX_PROCID), nullptr);
}

TEST_F(LocalJobsTest, TellTheSignalThatEndedAProcess) {
    ASSERT_EQ(spawn(with(PMIX_NOTIFY_JOB_EVENTS), program({"sh", "-c", "kill -9 $$"})), PMIX_SUCCESS);
    ASSERT_TRUE(until([&] { return !events_.empty(); }));
    EXPECT_EQ(of_event(PMIX_JOB_TERM_STATUS)->data.status, PMIX_ERR_JOB_ABORTED_BY_SIG);
    EXPECT_EQ(value_as_number<int>(of_event(PMIX_EXIT_CODE)), 128 + 9);
}

TEST_F(LocalJobsTest, GiveProgramsTheVariablesThatWereAskedFor) {
    covers("TOOL-64");
    Info info;
    const auto variable = [&](const char* key, const char* name, const char* value) {
        pmix_envar_t one{const_cast<char*>(name), const_cast<char*>(value), ':'};
        info.add(key, Value::of(PMIX_ENVAR, &one));
    };
    ::setenv("MUSTER_TEST_KEPT", "kept", 1);
    ::setenv("MUSTER_TEST_GONE", "there", 1);
    variable(PMIX_SET_ENVAR, "MUSTER_TEST_SET", "set");
    variable(PMIX_ADD_ENVAR, "MUSTER_TEST_KEPT", "other");
    variable(PMIX_ADD_ENVAR, "MUSTER_TEST_ADDED", "added");
    info.add(PMIX_UNSET_ENVAR, "MUSTER_TEST_GONE");
    info.add(PMIX_NOTIFY_COMPLETION, true);
    info.add(PMIX_SPAWN_TOOL, true);
    info.add(PMIX_WDIR, "/");
    const char* script =
        "test \"$MUSTER_TEST_SET$MUSTER_TEST_KEPT$MUSTER_TEST_ADDED$MUSTER_TEST_GONE$PMIX_RANK$PWD\" = "
        "setkeptadded0/ && test -n \"$PMIX_KEEPALIVE_PIPE\" && "
        "test \"$PMIX_LAUNCHER_RNDZ_URI\" = 'server0.0;usock:///nowhere'";
    ASSERT_EQ(spawn(std::move(info), program({"sh", "-c", script})), PMIX_SUCCESS);
    ASSERT_TRUE(until([&] { return !events_.empty(); }));
    EXPECT_EQ(of_event(PMIX_JOB_TERM_STATUS)->data.status, PMIX_SUCCESS);
    ::unsetenv("MUSTER_TEST_KEPT");
    ::unsetenv("MUSTER_TEST_GONE");
}

TEST_F(LocalJobsTest, EndWithTheLauncher) {
    // It reads the pipe that closes with its launcher: no process is left even if it is not terminated.
    ASSERT_EQ(spawn(with(PMIX_NOTIFY_COMPLETION), program({"sh", "-c", "exec sleep 60"})), PMIX_SUCCESS);
    jobs_.close();
    for (int turn = 0; turn < 20; ++turn)
        node_.turn();
    EXPECT_TRUE(events_.empty());
}

TEST_F(LocalJobsTest, LetJobsWithNohupOutliveTheLauncher) {
    covers("TOOL-65", "TOOL-81");
    char folder[] = "/tmp/muster-local-jobs-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    const std::string fifo = std::string(folder) + "/go", file = std::string(folder) + "/pid";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const UniqueFd go(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(go);
    const std::string script = "test -z \"$PMIX_KEEPALIVE_PIPE\" || exit 1; echo $$ >" + file + ".new; mv " +
                               file + ".new " + file + "; read line <" + fifo + "; exit 5";
    ASSERT_EQ(spawn(with(PMIX_NOHUP), program({"sh", "-c", script.c_str()})), PMIX_SUCCESS);
    ASSERT_TRUE(until([&] { return ::access(file.c_str(), F_OK) == 0; })) << "it has no pipe that ends it";
    jobs_.close();
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::write(go.get(), "go\n", 3), 3);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << "it was ended";
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::testing_in_memory
