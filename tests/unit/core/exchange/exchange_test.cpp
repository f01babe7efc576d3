// SPDX-License-Identifier: BSD-3-Clause
// Requests and their answers between a process, its server and the host: a limit on pending requests, host
// modules of several forms, and late hosts.
#include "core/exchange/exchange.hpp"

#include <set>

#include "framework/base/loop_callers.hpp"
#include "tests/unit/core/in_memory/groups.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

TEST(CommandNames, AreDifferentForAllCommandsAndUnknownForTheRest) {
    std::set<std::string> names;
    size_t known = 0;
    for (int code = 0; code < 256; ++code) {
        const std::string name = command_name(static_cast<uint8_t>(code));
        if (name == "unknown") continue;
        ++known;
        names.insert(name);
    }
    EXPECT_EQ(names.size(), known);
    EXPECT_STREQ(command_name(static_cast<uint8_t>(Command::Fence)), "fence");
    EXPECT_STREQ(command_name(150), "unknown");
}

TEST(CallerIdentity, TakesThePlaceOfWhatTheCallerClaims) {
    Info info;
    info.add(PMIX_USERID, uint32_t{0});
    info.add("vendor.key", 3);
    const Caller caller{make_proc("job", 1), 1234, 567, false};
    caller.add_identity(info);
    EXPECT_EQ(info.size(), 3U);
    EXPECT_EQ(info.view().number<uint32_t>(PMIX_USERID), 1234U);
    EXPECT_EQ(info.view().number<uint32_t>(PMIX_GRPID), 567U);
    EXPECT_EQ(info.view().number<int>("vendor.key"), 3);
}

class ExchangeTest : public GroupsInMemory {};

TEST_F(ExchangeTest, RefusesMoreRequestsOfOneProcessThanMayWait) {
    const ParameterScope limit("server_base_max_requests", "3");
    start(2);
    std::vector<Call> waiting;
    for (int number = 0; number < 5; ++number)
        waiting.push_back(connect_procs(process(0), procs_of("job", {0, 1})));
    cluster_->settle();
    EXPECT_EQ(std::count_if(waiting.begin(), waiting.end(), [](const Call& one) { return one.there(); }), 2);
    EXPECT_EQ(waiting[4].status(), PMIX_ERR_OUT_OF_RESOURCE);
    // Another process has its own limit, and answered requests free space.
    Calls others;
    for (pmix_rank_t number = 0; number < 3; ++number)
        others[number] = connect_procs(process(1), procs_of("job", {0, 1}));
    ASSERT_TRUE(all_have(others, PMIX_SUCCESS));
    const Call again = connect_procs(process(0), procs_of("job", {0, 1}));
    cluster_->settle();
    EXPECT_FALSE(again.there());
}

class HostForms : public testing::Test {
  protected:
    HostForms() {
        std::memset(static_cast<void*>(&module_), 0, sizeof module_);
        current() = this;
    }
    ~HostForms() override { current() = nullptr; }

    static HostForms*& current() {
        static HostForms* test = nullptr;
        return test;
    }
    std::unique_ptr<Host> host() { return std::make_unique<Host>(loop_, log_, &module_, sizeof module_); }
    HostDone done() {
        return [this](const HostAnswer& answer) { answers_.push_back(answer.status); };
    }
    void run() {
        for (int turn = 0; turn < 5; ++turn)
            callers_.progress();
    }

    EventLoop loop_;
    LoopCallers callers_{loop_};
    Log log_{"test"};
    pmix_server_module_t module_;
    std::vector<pmix_status_t> answers_;

  public:
    pmix_status_t returns_ = PMIX_SUCCESS;  ///< what upcalls return
    size_t calls_ = 0;
};

TEST_F(HostForms, UpcallsThatTheHostDoesNotHaveAreNotSupportedOrNotMissed) {
    const auto none = host();
    none->fence({make_proc("job", 0)}, {}, {}, done());
    none->abort(make_proc("job", 0), nullptr, 1, "why", {}, done());
    none->direct_modex(make_proc("job", 0), {}, done());
    run();
    EXPECT_EQ(answers_, std::vector<pmix_status_t>(3, PMIX_ERR_NOT_SUPPORTED));
    answers_.clear();
    none->client_connected(make_proc("job", 0), nullptr, {}, done());
    none->client_finalized(make_proc("job", 0), nullptr, done());
    run();
    EXPECT_EQ(answers_, std::vector<pmix_status_t>(2, PMIX_SUCCESS));
}

TEST_F(HostForms, TheOldFormOfClientConnectedIsNotWaitedFor) {
    module_.client_connected = [](const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
        ++current()->calls_;
        return current()->returns_;
    };
    const auto old = host();
    old->client_connected(make_proc("job", 0), nullptr, {}, done());
    run();
    EXPECT_EQ(calls_, 1U);
    EXPECT_EQ(answers_, std::vector<pmix_status_t>({PMIX_SUCCESS}));
    returns_ = PMIX_ERR_NO_PERMISSIONS;
    old->client_connected(make_proc("job", 0), nullptr, {}, done());
    run();
    EXPECT_EQ(answers_.back(), PMIX_ERR_NO_PERMISSIONS);
}

TEST_F(HostForms, ADirectModexThatIsDoneAtOnceHasNoData) {
    module_.direct_modex = [](const pmix_proc_t*, const pmix_info_t[], size_t, pmix_modex_cbfunc_t, void*) {
        return static_cast<pmix_status_t>(PMIX_OPERATION_SUCCEEDED);
    };
    host()->direct_modex(make_proc("job", 0), {}, done());
    const auto kept = host();
    kept->direct_modex(make_proc("job", 0), {}, done());
    run();
    ASSERT_FALSE(answers_.empty());
    EXPECT_EQ(answers_.back(), PMIX_ERR_NOT_FOUND);
}

TEST_F(HostForms, ALateAnswerOfABoundedRequestFindsNobody) {
    const auto any = host();
    Info limit;
    limit.add(PMIX_TIMEOUT, 10);
    HostDone bounded = any->bounded("request", make_proc("job", 0), limit, done());
    loop_.skip(std::chrono::milliseconds(10900));
    run();
    EXPECT_TRUE(answers_.empty());
    loop_.skip(std::chrono::milliseconds(200));
    run();
    EXPECT_EQ(answers_, std::vector<pmix_status_t>({PMIX_ERR_TIMEOUT}));
    bounded(answer_of(PMIX_SUCCESS));
    run();
    EXPECT_EQ(answers_.size(), 1U);
    // In time, and without a limit.
    any->bounded("request", make_proc("job", 0), limit, done())(answer_of(PMIX_SUCCESS));
    any->bounded("request", make_proc("job", 0), {}, done())(answer_of(PMIX_ERR_NOT_FOUND));
    loop_.skip(std::chrono::seconds(20));
    run();
    EXPECT_EQ(answers_, std::vector<pmix_status_t>({PMIX_ERR_TIMEOUT, PMIX_SUCCESS, PMIX_ERR_NOT_FOUND}));
}

}  // namespace
}  // namespace muster::testing_in_memory
