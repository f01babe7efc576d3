// SPDX-License-Identifier: BSD-3-Clause
// Spawn in memory: the arguments of the host, the returned data of the new job, and calls whose host or
// caller ends early.
#include "core/spawn/spawn.hpp"

#include "core/iof/forwarding.hpp"
#include "tests/unit/core/in_memory/output.hpp"

namespace muster::testing_in_memory {
namespace {

class SpawnInMemory : public OutputInMemory {
  protected:
    static Apps apps(const char* command = "program") {
        pmix_app_t app = PMIX_APP_STATIC_INIT;
        app.cmd = const_cast<char*>(command);
        app.maxprocs = 2;
        Apps made;
        EXPECT_EQ(Apps::copy_of(&app, 1, made), PMIX_SUCCESS);
        return made;
    }
    static Call spawn_by(Process& process, Info info = {}, Apps programs = apps()) {
        return call(process, [&process, kept = std::move(info),
                              programs = std::move(programs)](const HostDone& done) mutable {
            spawn(process.exchange(), process.forwarding(), nullptr, std::move(kept), std::move(programs),
                  done);
        });
    }
    static HostAnswer started(const char* nspace) {
        HostAnswer answer;
        answer.nspace = nspace;
        return answer;
    }
    /// Whether a process knows a job without a request.
    static bool knows(Process& process, const char* nspace) { return process.store().knows(nspace); }
};

TEST_F(SpawnInMemory, TellsTheHostWhoAsks) {
    start(1);
    const Call spawned = spawn_by(node.client(0), with("vendor.directive"));
    const auto upcall = asked("spawn");
    ASSERT_EQ(upcall->keys.size(), 1U);
    EXPECT_EQ(upcall->keys[0], "program");
    const InfoView info = upcall->info;
    EXPECT_EQ(user_in(*upcall), own_user());
    EXPECT_TRUE(info.is_true(PMIX_SPAWNED));
    EXPECT_TRUE(info.is_true(PMIX_REQUESTOR_IS_CLIENT));
    EXPECT_FALSE(info.has(PMIX_REQUESTOR_IS_TOOL));
    EXPECT_TRUE(info.is_true("vendor.directive"));
    ASSERT_NE(info.proc(PMIX_PARENT_ID), nullptr);
    EXPECT_STREQ(info.proc(PMIX_PARENT_ID)->nspace, "job");
    upcall->answer(started("child"));
    EXPECT_EQ(status_of(spawned), PMIX_SUCCESS);
    EXPECT_EQ(spawned.answer().nspace, "child");
    EXPECT_FALSE(knows(node.client(0), "child")) << "the server knows nothing of it yet";
}

TEST_F(SpawnInMemory, LeavesTheParentThatTheCallerNames) {
    start(1);
    Info info;
    info.add(PMIX_PARENT_ID, make_proc("other", 7));
    info.add(PMIX_USERID, uint32_t{4711});
    const Call spawned = spawn_by(node.client(0), std::move(info));
    const auto upcall = asked("spawn");
    EXPECT_EQ(upcall->info.view().proc(PMIX_PARENT_ID)->rank, 7U);
    EXPECT_EQ(user_in(*upcall), own_user()) << "what a process claims does not count";
    upcall->answer(started("child"));
    EXPECT_EQ(status_of(spawned), PMIX_SUCCESS);
}

TEST_F(SpawnInMemory, BringsTheDataOfTheNewJob) {
    start(1);
    const Call spawned = spawn_by(node.client(0));
    const auto upcall = asked("spawn");
    node.add_job("child", 2);
    upcall->answer(started("child"));
    EXPECT_EQ(status_of(spawned), PMIX_SUCCESS);
    ASSERT_TRUE(knows(node.client(0), "child"));
    EXPECT_EQ(node.client(0).store().job_size("child"), 2U);
}

TEST_F(SpawnInMemory, PassesOnThatTheHostRefuses) {
    start(1);
    const Call late = spawn_by(node.client(0));
    asked("spawn")->answer(answer_of(PMIX_ERR_JOB_EXE_NOT_FOUND));
    EXPECT_EQ(status_of(late), PMIX_ERR_JOB_EXE_NOT_FOUND);
    EXPECT_EQ(late.answer().nspace, "");
    node.host.returns["spawn"] = PMIX_ERR_NO_PERMISSIONS;
    EXPECT_EQ(status_of(spawn_by(node.client(0))), PMIX_ERR_NO_PERMISSIONS);
    EXPECT_EQ(status_of(spawn_by(node.process())), PMIX_ERR_NO_PERMISSIONS);
}

TEST_F(SpawnInMemory, GivesUpAHostThatIsLate) {
    start(1);
    const Call spawned = spawn_by(node.client(0), with_timeout(10));
    const auto upcall = asked("spawn");
    EXPECT_EQ(upcall->info.view().number<int>(PMIX_TIMEOUT), 10);
    pass(std::chrono::seconds(12));
    EXPECT_EQ(status_of(spawned), PMIX_ERR_TIMEOUT);
    upcall->answer(started("child"));
    settle();
    EXPECT_EQ(spawned.answers(), 1);
}

TEST_F(SpawnInMemory, OutlivesItsCaller) {
    start(2);
    spawn_by(node.client(0));
    const auto upcall = asked("spawn");
    node.kill("job", 0);
    settle();
    upcall->answer(started("child"));
    settle();
    const Call next = spawn_by(node.client(1));
    asked("spawn")->answer(started("next"));
    EXPECT_EQ(status_of(next), PMIX_SUCCESS);
}

TEST_F(SpawnInMemory, EndsWithTheServer) {
    start(1);
    const Call spawned = spawn_by(node.client(0));
    const auto upcall = asked("spawn");
    node.on_loop([&] { node.server().close(); });
    EXPECT_EQ(status_of(spawned), PMIX_ERR_LOST_CONNECTION);
    upcall->answer(started("child"));
    settle();
    EXPECT_EQ(status_of(spawn_by(node.client(0))), PMIX_ERR_UNREACH);
}

TEST_F(SpawnInMemory, NeedsApplicationsAndTheUpcall) {
    start(1);
    EXPECT_EQ(status_of(spawn_by(node.client(0), {}, Apps())), PMIX_ERR_BAD_PARAM);
    pmix_server_module_t without = FakeHost::module<0>();
    without.spawn = nullptr;
    node.on_loop([&] { node.server().host().set_module(&without, sizeof without); });
    EXPECT_EQ(status_of(spawn_by(node.client(0))), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(status_of(spawn_by(node.process())), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(node.host.count("spawn"), 0U);
}

TEST_F(SpawnInMemory, OfTheHostItselfIsAskedOfTheHost) {
    const Call spawned = spawn_by(node.process());
    const auto upcall = asked("spawn");
    EXPECT_STREQ(upcall->info.view().proc(PMIX_PARENT_ID)->nspace, "server0");
    upcall->answer(started("child"));
    EXPECT_EQ(status_of(spawned), PMIX_SUCCESS);
    EXPECT_EQ(spawned.answer().nspace, "child");
}

TEST_F(SpawnInMemory, IsAnsweredAtOnceWhereTheHostIs) {
    start(1);
    node.host.agreeable.insert("spawn");
    EXPECT_EQ(status_of(spawn_by(node.client(0))), PMIX_SUCCESS);
}

TEST_F(SpawnInMemory, RefusesARequestThatCannotBeRead) {
    start(1);
    const auto ask_raw = [&](bool apps) {
        return call(node.client(0), [&, apps](HostDone done) {
            Upstream* upstream = node.client(0).exchange().upstream();
            Packer message = upstream->packer(Command::Spawn);
            if (apps) message.infos({}).string("no application");
            ask(*upstream, std::move(message), {}, std::move(done));
        });
    };
    EXPECT_NE(status_of(ask_raw(false)), PMIX_SUCCESS);
    EXPECT_NE(status_of(ask_raw(true)), PMIX_SUCCESS);
    EXPECT_EQ(node.host.count("spawn"), 0U);
}

TEST_F(SpawnInMemory, IsAnsweredOnceInEveryOrder) {
    start(2);
    int number = 0;
    // Two callers; the host answers each, and registers one of the jobs at some time.
    in_every_order(5, [&](const std::vector<size_t>& order) {
        const std::string first = "first" + std::to_string(++number),
                          second = "second" + std::to_string(number);
        Call calls[2];
        std::shared_ptr<Upcall> upcalls[2];
        bool answered[2] = {false, false};
        const auto answer = [&](int which) {
            if (!upcalls[which] || answered[which]) return;
            answered[which] = true;
            upcalls[which]->answer(started(which == 0 ? first.c_str() : second.c_str()));
        };
        for (const size_t step : order) {
            if (step < 2) {
                calls[step] = spawn_by(node.client(static_cast<uint32_t>(step)));
                upcalls[step] = asked("spawn");
            } else if (step == 2) {
                node.add_job(first.c_str(), 3);
            } else {
                answer(static_cast<int>(step) - 3);
            }
            settle();
        }
        answer(0);
        answer(1);
        EXPECT_EQ(status_of(calls[0]), PMIX_SUCCESS);
        EXPECT_EQ(status_of(calls[1]), PMIX_SUCCESS);
        EXPECT_EQ(calls[0].answer().nspace, first);
        EXPECT_EQ(calls[1].answer().nspace, second);
        EXPECT_FALSE(knows(node.client(1), second.c_str()));
    });
}

}  // namespace
}  // namespace muster::testing_in_memory
