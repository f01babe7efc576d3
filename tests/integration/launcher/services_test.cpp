// SPDX-License-Identifier: BSD-3-Clause
// The services of the launcher by themselves: a store of published data, the gathering of the nodes' parts,
// and messages between nodes and launcher, intact and damaged.
#include <gtest/gtest.h>
#include <pmix_common.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/covers.hpp"
#include "tests/integration/launcher/fake_launcher.hpp"
#include "tests/integration/launcher/library.hpp"
#include "tools/muster/host/honoured.hpp"
#include "tools/muster/services/announcer.hpp"
#include "tools/muster/services/collectives.hpp"
#include "tools/muster/services/control.hpp"
#include "tools/muster/services/directory.hpp"
#include "tools/muster/services/groups.hpp"
#include "tools/muster/services/job_status.hpp"

namespace muster::launcher {
namespace {

/// A store, and requests to it in the form that nodes send.
class DirectoryTest : public WithLibrary {
  protected:
    void SetUp() override {
        host.jobs.add(job_of(4, 2));
        host.jobs.add(job_of(2, 2, "other"));
    }

    static Party party(const ProcName& who) { return {who, 0, 7, 8, false}; }
    int32_t ask(const ProcName& who, Buffer body) {
        const JobRecord& record = *host.jobs.find(who.nspace);
        const uint64_t id = next++;
        store.asked({record.job.places[who.rank].node, id}, body);
        last = id;
        return host.answers.contains(id) ? host.answers[id].status : 1;
    }
    int32_t publish(const ProcName& who, const std::string& key, uint32_t range = PMIX_RANGE_SESSION,
                    uint32_t persistence = PMIX_PERSIST_SESSION) {
        const Directory::Publication publication{{range, {}}, persistence, {}, {}, {{key, "value"}}};
        return ask(who, pack(Directory::Request::Publish, party(who), publication));
    }
    int32_t look_up(const ProcName& who, const std::vector<std::string>& keys, bool wait = false) {
        return ask(who, pack(Directory::Request::Lookup, party(who), Directory::Wish{{}, keys, wait, 0, 0}));
    }

    FakeLauncher host;
    Directory store{host.hub};
    uint64_t next = 1, last = 0;
};

TEST_F(DirectoryTest, AKeyIsPublishedOnceInEachRange) {
    covers("SRV-78");
    EXPECT_EQ(publish({"job", 0}, "a"), PMIX_SUCCESS);
    EXPECT_EQ(publish({"job", 1}, "a"), PMIX_ERR_DUPLICATE_KEY);
    EXPECT_EQ(publish({"other", 0}, "a"), PMIX_ERR_DUPLICATE_KEY);
    EXPECT_EQ(publish({"job", 0}, "a", PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(publish({"other", 0}, "a", PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
    EXPECT_EQ(publish({"job", 3}, "a", PMIX_RANGE_NAMESPACE), PMIX_ERR_DUPLICATE_KEY);
}

TEST_F(DirectoryTest, DataIsFoundWithinItsRangeOnly) {
    covers("SRV-76", "SRV-81");
    publish({"job", 0}, "own", PMIX_RANGE_NAMESPACE);
    publish({"job", 0}, "mine", PMIX_RANGE_PROC_LOCAL);
    EXPECT_EQ(look_up({"job", 3}, {"own"}), PMIX_SUCCESS);
    EXPECT_EQ(look_up({"other", 0}, {"own"}), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(look_up({"job", 0}, {"mine"}), PMIX_SUCCESS);
    EXPECT_EQ(look_up({"job", 1}, {"mine"}), PMIX_ERR_NOT_FOUND);
}

TEST_F(DirectoryTest, AWaitingLookupIsAnsweredWhenAllKeysArePublished) {
    EXPECT_EQ(look_up({"other", 1}, {"a", "b"}, true), 1);
    const uint64_t waiting = last;
    publish({"job", 0}, "a");
    EXPECT_FALSE(host.answers.contains(waiting));
    publish({"job", 1}, "b");
    ASSERT_TRUE(host.answers.contains(waiting));
    EXPECT_EQ(host.answers[waiting].status, PMIX_SUCCESS);
}

TEST_F(DirectoryTest, AWaitingLookupEndsWithItsProcess) {
    EXPECT_EQ(look_up({"job", 2}, {"never"}, true), 1);
    const uint64_t waiting = last;
    JobRecord& record = *host.jobs.find("job");
    record.ranks[2].ended = true;
    store.proc_ended(record, 2);
    EXPECT_TRUE(host.answers.contains(waiting));
    EXPECT_EQ(publish({"job", 0}, "never"), PMIX_SUCCESS);  // no request is answered twice
}

TEST_F(DirectoryTest, DataIsRemovedWithItsProcessOrApplication) {
    publish({"job", 1}, "of.proc", PMIX_RANGE_SESSION, PMIX_PERSIST_PROC);
    publish({"job", 1}, "of.app", PMIX_RANGE_SESSION, PMIX_PERSIST_APP);
    publish({"job", 1}, "of.session");
    JobRecord& record = *host.jobs.find("job");
    record.ranks[1].ended = true;
    store.proc_ended(record, 1);
    EXPECT_EQ(look_up({"other", 0}, {"of.proc"}), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(look_up({"other", 0}, {"of.app"}), PMIX_SUCCESS);
    for (uint32_t rank : {0u, 2u, 3u}) {
        record.ranks[rank].ended = true;
        store.proc_ended(record, rank);
    }
    EXPECT_EQ(look_up({"other", 0}, {"of.app", "of.session"}), PMIX_ERR_PARTIAL_SUCCESS);
}

TEST_F(DirectoryTest, DataIsRemovedWithItsNamespace) {
    JobRecord& record = *host.jobs.find("job");
    // Two applications: ranks 0 and 1, and 2 and 3.
    record.job.apps.resize(2);
    record.job.apps[0].ranks = record.job.apps[1].ranks = 2;
    record.job.apps[0].first_rank = 0;
    record.job.apps[1].first_rank = 2;
    record.job.places[2].app = record.job.places[3].app = 1;
    publish({"job", 1}, "of.app", PMIX_RANGE_SESSION, PMIX_PERSIST_APP);
    publish({"job", 1}, "of.nspace", PMIX_RANGE_SESSION, PMIX_PERSIST_NSPACE);
    for (uint32_t rank : {0u, 1u, 2u, 3u}) {
        record.ranks[rank].ended = true;
        store.proc_ended(record, rank);
        EXPECT_EQ(look_up({"other", 0}, {"of.app"}), rank < 1 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
        EXPECT_EQ(look_up({"other", 0}, {"of.nspace"}), rank < 3 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    }
}

TEST_F(DirectoryTest, DamagedRequestsAreAnsweredWithAnError) {
    const Directory::Publication publication{
        {PMIX_RANGE_CUSTOM, {{"job", 1}}}, PMIX_PERSIST_SESSION, {{5, 6}}, {}, {{"key", "value"}}};
    const Buffer whole = pack(Directory::Request::Publish, party({"job", 0}), publication);
    for (size_t size = 0; size < whole.rest().size(); ++size) {
        Buffer in(whole.rest().substr(0, size));
        const uint64_t id = next++;
        store.asked({0, id}, in);
        ASSERT_TRUE(host.answers.contains(id)) << size;
        EXPECT_NE(host.answers[id].status, PMIX_SUCCESS) << size;
    }
    EXPECT_EQ(look_up({"job", 1}, {"key"}), PMIX_ERR_NOT_FOUND);
}

/// Ranks 0 and 1 of the job are on node 0, 2 and 3 on node 1.
class LauncherCollectives : public WithLibrary {
  protected:
    void SetUp() override { host.jobs.add(job_of(4, 2)); }
    /// A node contributes its part; returns the number of the request.
    uint64_t add(uint32_t node, const std::vector<ProcName>& procs) {
        Buffer body = pack(Collectives::Request{{}, procs, 0}, "x");
        fences.asked({node, next}, body);
        return next++;
    }
    /// The answer; 1 if there is none yet.
    int32_t answer(uint64_t id) { return host.answers.contains(id) ? host.answers[id].status : 1; }
    void end(uint32_t rank) {
        host.jobs.find(ProcId{1, rank})->ended = true;
        fences.proc_ended(*host.jobs.find("job"), rank);
    }
    FakeLauncher host;
    size_t done = 0;
    Collectives fences{host.hub,
                       [this](const Collectives::Request&, Collectives::Clock::time_point, size_t size) {
                           EXPECT_EQ(size, 2u);
                           ++done;
                       }};
    uint64_t next = 1;
    const std::vector<ProcName> all = {{"job", PMIX_RANK_WILDCARD}};
};

TEST_F(LauncherCollectives, EndsWhenEachNodeWithAMemberHasGivenItsPart) {
    covers("SRV-71");
    const uint64_t first = add(0, all);
    const uint64_t second = add(0, all);
    EXPECT_EQ(done, 0u);
    EXPECT_EQ(answer(add(1, all)), PMIX_SUCCESS);
    EXPECT_EQ(answer(first), PMIX_SUCCESS);
    EXPECT_EQ(answer(second), 1);
    std::string together;
    EXPECT_TRUE(host.answers[first].body.unpack(together));
    EXPECT_EQ(together, "xx");
    EXPECT_EQ(answer(add(1, all)), PMIX_SUCCESS);
    EXPECT_EQ(answer(second), PMIX_SUCCESS);
    EXPECT_EQ(done, 2u);
}

TEST_F(LauncherCollectives, AMemberThatEndsBeforeItsPartFailsIt) {
    const uint64_t first = add(0, {{"job", 0}, {"job", 3}});
    end(2);  // not a member
    EXPECT_EQ(answer(first), 1);
    end(3);
    EXPECT_EQ(answer(first), PMIX_ERR_LOST_CONNECTION);
    // The same at once for late ones.
    EXPECT_EQ(answer(add(0, {{"job", 0}, {"job", 3}})), PMIX_ERR_LOST_CONNECTION);
}

TEST_F(LauncherCollectives, ATimeLimitEndsTheOperation) {
    covers("SRV-68");
    Buffer body = pack(Collectives::Request{{}, all, 1}, "x");
    const uint64_t limited = next++;
    fences.asked({0, limited}, body);
    Watch later = host.loop.after(std::chrono::milliseconds(1200), [&] { host.loop.quit(); });
    host.loop.run();
    EXPECT_EQ(answer(limited), PMIX_ERR_TIMEOUT);
    // The late node begins the next one.
    const uint64_t again = add(1, all);
    EXPECT_EQ(answer(again), 1);
    EXPECT_EQ(answer(add(0, all)), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
    EXPECT_EQ(done, 1u);
}

TEST_F(LauncherCollectives, ANodeThatIsGoneFailsThem) {
    const uint64_t first = add(0, all);
    fences.node_gone(1);
    EXPECT_EQ(answer(first), PMIX_ERR_LOST_CONNECTION);
}

TEST_F(LauncherCollectives, WhatMakesNoSenseIsRefused) {
    EXPECT_EQ(answer(add(0, {{"nobody", 0}})), PMIX_ERR_INVALID_NAMESPACE);
    EXPECT_EQ(answer(add(0, {{"job", 4}})), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(answer(add(1, {{"job", 0}})), PMIX_ERR_BAD_PARAM);  // has no member there
    EXPECT_EQ(answer(add(0, {})), PMIX_ERR_BAD_PARAM);
}

/// Groups over two nodes: ranks 0 and 1 of the job are on node 0, 2 and 3 on node 1.
class GroupsTest : public WithLibrary {
  protected:
    using Operation = GroupRequest::Operation;
    void SetUp() override { host.jobs.add(job_of(4, 2)); }
    /// A request of a node; returns its number.
    uint64_t ask(uint32_t node, const std::vector<uint32_t>& ranks, int32_t local_status = PMIX_SUCCESS,
                 Operation operation = Operation::Construct) {
        GroupRequest request;
        request.operation = operation;
        request.id = "group";
        for (const uint32_t rank : ranks)
            request.procs.push_back({"job", rank});
        request.local_status = local_status;
        Buffer body = pack(request);
        groups.asked({node, next}, body);
        return next++;
    }
    void end(uint32_t rank) {
        host.jobs.find(ProcId{1, rank})->ended = true;
        groups.proc_ended(*host.jobs.find("job"), rank);
    }
    /// Its answer; 1 if there is none yet.
    int32_t answer(uint64_t id) { return host.answers.contains(id) ? host.answers[id].status : 1; }

    FakeLauncher host;
    Groups groups{host.hub};
    uint64_t next = 1;
};

TEST_F(GroupsTest, AMemberThatEndsFailsTheConstructionForLateMembersToo) {
    const uint64_t first = ask(0, {0, 1, 2, 3});
    end(3);  // it had called, and rank 2 has not yet
    EXPECT_EQ(answer(first), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3})), PMIX_GROUP_MEMBER_FAILED);
    const uint64_t again = ask(1, {0, 1, 2});
    EXPECT_EQ(answer(again), 1);
    EXPECT_EQ(answer(ask(0, {0, 1, 2})), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
}

TEST_F(GroupsTest, ALateFailureReportDoesNotFailTheNextConstruction) {
    ask(0, {0, 1, 2, 3});
    end(3);
    const uint64_t again = ask(0, {0, 1, 2});
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3}, PMIX_GROUP_MEMBER_FAILED)), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(again), 1);
    EXPECT_EQ(answer(ask(1, {0, 1, 2})), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
}

TEST_F(GroupsTest, AFailedDestructFailsForLateMembersToo) {
    const uint64_t first = ask(0, {0, 1, 2, 3}, PMIX_SUCCESS, Operation::Destruct);
    end(3);
    EXPECT_EQ(answer(first), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(ask(1, {0, 1, 2}, PMIX_SUCCESS, Operation::Destruct)), PMIX_GROUP_MEMBER_FAILED);
}

TEST_F(GroupsTest, ADestructGoesOnWithoutAMemberThatFinalized) {
    // Its exit may be reported before its departure from the group.
    const uint64_t first = ask(0, {0, 1, 2, 3}, PMIX_SUCCESS, Operation::Destruct);
    host.jobs.find(ProcId{1, 3})->finalized = true;
    end(3);
    EXPECT_EQ(answer(first), 1);
    EXPECT_EQ(answer(ask(1, {0, 1, 2}, PMIX_SUCCESS, Operation::Destruct)), PMIX_SUCCESS);
    EXPECT_EQ(answer(first), PMIX_SUCCESS);
}

TEST_F(GroupsTest, ADestructDoesNotWaitForANodeWhoseMemberFinalized) {
    host.jobs.find(ProcId{1, 3})->finalized = true;
    const uint64_t first = ask(0, {0, 1, 3}, PMIX_SUCCESS, Operation::Destruct);
    EXPECT_EQ(answer(first), 1);
    end(3);
    EXPECT_EQ(answer(first), PMIX_SUCCESS);
    // The node takes part in its place, too late; this does not affect the next group of this name.
    EXPECT_EQ(answer(ask(1, {0, 1, 3}, PMIX_SUCCESS, Operation::Destruct)), PMIX_SUCCESS);
    const uint64_t again = ask(0, {0, 1, 2}, PMIX_SUCCESS, Operation::Destruct);
    EXPECT_EQ(answer(ask(1, {0, 1, 2}, PMIX_SUCCESS, Operation::Destruct)), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
}

TEST_F(GroupsTest, AFailureOnOneNodeFailsTheWaitingMembers) {
    const uint64_t first = ask(0, {0, 1, 2, 3});
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3}, PMIX_ERR_LOST_CONNECTION)), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(answer(first), PMIX_ERR_LOST_CONNECTION);
}

TEST(Honoured, ADirectiveIsRefusedWhereItIsRequiredAndUnknown) {
    covers("SRV-69", "SRV-74", "SRV-82", "SRV-83", "SRV-84");
    for (const char* upcall : {"fence_nb", "direct_modex", "connect", "publish", "lookup"}) {
        pmix_info_t info[2]{};
        const bool yes = true;
        PMIx_Info_load(&info[0], "test.unknown", &yes, PMIX_BOOL);
        EXPECT_EQ(check_required(upcall, {info, 1}), PMIX_SUCCESS) << upcall;
        PMIx_Info_required(&info[0]);
        EXPECT_EQ(check_required(upcall, {info, 1}), PMIX_ERR_NOT_SUPPORTED) << upcall;
        // The library has handled this one.
        PMIx_Info_processed(&info[0]);
        EXPECT_EQ(check_required(upcall, {info, 1}), PMIX_SUCCESS) << upcall;
        const char* known = honoured_by(upcall).at(0);
        PMIx_Info_load(&info[1], known, &yes, PMIX_BOOL);
        PMIx_Info_required(&info[1]);
        EXPECT_EQ(check_required(upcall, {info, 2}), PMIX_SUCCESS) << known << " at " << upcall;
    }
}

class LauncherControl : public WithLibrary {};

TEST_F(LauncherControl, ChecksTargetsBeforeItActs) {
    FakeLauncher host;
    host.jobs.add(job_of(4, 2));
    Control control(host.hub);
    auto ask = [&](const ProcName& target, int32_t number) {
        const std::vector<ProcName> targets = {{"job", 0}, target};
        const std::vector<Control::Step> steps = {{Control::Action::Signal, number, ""}};
        Buffer in = pack(targets, steps);
        const uint64_t id = host.answers.size() + 1;
        control.asked({0, id}, in);
        return host.answers[id].status;
    };
    EXPECT_EQ(ask({"nobody", 0}, 10), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(ask({"job", 4}, 10), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(ask({"job", 1}, 0), PMIX_ERR_BAD_PARAM);
    EXPECT_TRUE(host.signals.empty());
    EXPECT_EQ(ask({"job", PMIX_RANK_WILDCARD}, 10), PMIX_SUCCESS);
    ASSERT_EQ(host.signals.size(), 1u);
    EXPECT_EQ(host.signals[0].second, (std::vector<ProcId>{{1, 0}, {1, kAllRanks}}));
}

TEST_F(LauncherControl, EndsAsAnEventAsks) {
    using Action = Control::Action;
    // Jobs of four processes on two nodes, rank 1 of the first is the target: the terminated processes of
    // each.
    struct Case {
        Action action;
        std::vector<ProcId> ranks;
        bool first_ends, second_ends;
    };
    for (const Case& one :
         {Case{Action::TerminateProcs, {{1, 1}}, false, false},
          Case{Action::TerminateNodes, {{1, 0}, {1, 1}, {2, 0}, {2, 1}}, false, false},
          Case{Action::TerminateJobs, {}, true, false}, Case{Action::TerminateSession, {}, true, true}}) {
        FakeLauncher host;
        host.jobs.add(job_of(4, 2));
        host.jobs.add(job_of(4, 2, "other"));
        Control control(host.hub);
        const std::vector<ProcName> targets = {{"job", 1}};
        const std::vector<Control::Step> steps = {{Action::EndSilently, 0, ""}, {one.action, 0, ""}};
        Buffer in = pack(targets, steps);
        control.asked({0, 1}, in);
        EXPECT_EQ(host.answers[1].status, PMIX_SUCCESS);
        EXPECT_TRUE(host.signals.empty()) << "before the others have heard of it";
        Watch later = host.loop.after(std::chrono::milliseconds(1), [&] { host.loop.quit(); });
        host.loop.run();
        std::vector<ProcId> ended;
        for (const auto& [number, procs] : host.signals) {
            if (number == SIGTERM) ended.insert(ended.end(), procs.begin(), procs.end());
        }
        std::ranges::sort(ended, {}, [](const ProcId& proc) { return std::pair(proc.job, proc.rank); });
        EXPECT_EQ(ended, one.ranks);
        EXPECT_EQ(host.jobs.find(1)->ended(), one.first_ends);
        EXPECT_EQ(host.jobs.find(2)->ended(), one.second_ends);
        EXPECT_TRUE(host.jobs.find(1)->job.wishes.silent);
        EXPECT_FALSE(host.jobs.find(2)->job.wishes.silent);
    }
}

TEST_F(LauncherControl, RefusesToRedefineASet) {
    FakeLauncher host;
    Job job = job_of(4, 2);
    job.apps.resize(1);
    job.apps[0].pset = "ocean";
    JobRecord& record = host.jobs.add(std::move(job));
    Control control(host.hub);
    auto define = [&](const std::string& name) {
        const std::vector<ProcName> targets = {{"job", 0}};
        const std::vector<Control::Step> steps = {{Control::Action::DefineSet, 0, name}};
        Buffer in = pack(targets, steps);
        const uint64_t id = host.answers.size() + 1;
        control.asked({0, id}, in);
        return host.answers[id].status;
    };
    EXPECT_EQ(define("ocean"), PMIX_ERR_EXISTS);
    EXPECT_EQ(define("server@2"), PMIX_ERR_BAD_PARAM);  // the name of the next job
    EXPECT_EQ(define("ice"), PMIX_SUCCESS);
    EXPECT_EQ(define("ice"), PMIX_ERR_EXISTS);
    record.state = JobRecord::State::Ended;
    EXPECT_EQ(define("ocean"), PMIX_SUCCESS);
}

class LauncherAnnouncer : public WithLibrary {};

TEST_F(LauncherAnnouncer, NotifiesOnlyTheNodesInRange) {
    FakeLauncher host;
    host.jobs.add(job_of(4, 2));
    Announcer announcer(host.hub);
    auto notify = [&](uint32_t from, uint32_t range, const std::vector<ProcName>& targets) {
        Notice notice;
        notice.source = {"job", 0};
        notice.range = range;
        notice.targets = targets;
        Buffer in = pack(notice);
        host.told.clear();
        announcer.asked({from, host.answers.size() + 1}, in);
        return host.told;
    };
    using Nodes = std::vector<uint32_t>;
    EXPECT_EQ(notify(0, PMIX_RANGE_LOCAL, {}), Nodes{});
    EXPECT_EQ(notify(0, PMIX_RANGE_RM, {}), Nodes{});
    EXPECT_EQ(notify(0, PMIX_RANGE_GLOBAL, {}), Nodes{1});
    EXPECT_EQ(notify(1, PMIX_RANGE_NAMESPACE, {}), Nodes{0});
    EXPECT_EQ(notify(0, PMIX_RANGE_CUSTOM, {{"job", 1}}), Nodes{});
    EXPECT_EQ(notify(0, PMIX_RANGE_CUSTOM, {{"job", 3}}), Nodes{1});
    EXPECT_EQ(notify(0, PMIX_RANGE_CUSTOM, {{"a.tool", 0}}), Nodes{1});
}

TEST_F(LauncherAnnouncer, TellsOfTheFirstProcessBeforeAllAreStarted) {
    FakeLauncher host;
    Job job = job_of(4, 2);
    job.wishes.notify_events = true;
    job.wishes.requestor = {"job", 0};
    JobRecord& record = host.jobs.add(std::move(job));
    Announcer announcer(host.hub);
    announcer.job_begun(record);
    EXPECT_EQ(host.told.size(), 1U);
    announcer.job_started(record);
    EXPECT_EQ(host.told.size(), 2U);
}

class LauncherBodies : public WithLibrary {
  protected:
    /// An unpacked value packs to the same bytes, and every truncation of a message is detected.
    template <typename T>
    static T expect_whole(const T& value) {
        const Buffer body = pack(value);
        EXPECT_TRUE(body.ok());
        T read;
        Buffer in = body;
        EXPECT_TRUE(in.unpack(read));
        EXPECT_TRUE(in.rest().empty());
        EXPECT_EQ(pack(read).rest(), body.rest());
        for (size_t size = 0; size < body.rest().size(); ++size) {
            Buffer damaged(body.rest().substr(0, size));
            T ignored;
            EXPECT_FALSE(damaged.unpack(ignored)) << size;
        }
        return read;
    }
};

TEST_F(LauncherBodies, AJobTravelsWhole) {
    Job job = job_of(5, 2);
    job.number = 3;
    job.apps[0].env = {{"A", "b"}};
    job.apps[0].env_changes = {{EnvChange::Kind::Append, "PATH", "/x", ':'}};
    job.apps[0].wdir = "/";
    job.apps[0].index_argv = true;
    job.places[4].cpus = {1, 3};
    job.parent = ProcName{"parent", 2};
    job.setup = std::string("\0\1", 2);
    const Job read = expect_whole(job);
    EXPECT_TRUE(read.consistent());
    EXPECT_FALSE(Job().consistent());
    EXPECT_EQ(read.parent, job.parent);
    EXPECT_EQ(read.places[4].cpus, job.places[4].cpus);
    // A place that does not exist.
    job.places[0].node = 2;
    EXPECT_FALSE(expect_whole(job).consistent());
}

TEST_F(LauncherBodies, ADescriptionTravelsWhole) {
    Job job;
    job.parent = {"job", 1};
    job.apps.resize(2);
    job.apps[0].ranks = 2;
    job.apps[0].argv = {"a", "b"};
    job.apps[1].program = "/bin/true";
    job.apps[1].hosts = {"node0"};
    job.apps[1].env_changes = {{EnvChange::Kind::Unset, "A", "", ':'}};
    job.apps[1].daemons.daemon = true;
    job.apps[1].stops.in_init.ranks = {1, 2};
    job.map_by = "node";
    job.output.style.tag = true;
    job.job_seconds = 9;
    job.wishes.notify_end = job.wishes.recoverable = true;
    job.wishes.requestor = {"tool", 0};
    const Job read = expect_whole(job);
    EXPECT_TRUE(read.wishes.recoverable && read.output.style.tag && !read.wishes.silent);
}

TEST_F(LauncherBodies, NoticesAndStatesTravelWhole) {
    Notice notice;
    notice.code = -5;
    notice.targets = {{"job", 1}};
    notice.affected = ProcName{"job", 2};
    notice.exit_code = 3;
    notice.time = 77;
    const Notice read = expect_whole(notice);
    EXPECT_EQ(read.affected, notice.affected);
    EXPECT_EQ(read.exit_code, notice.exit_code);
    EXPECT_EQ(read.job_status, std::nullopt);

    JobStatus job;
    job.nspace = "job";
    job.programs = {"a", "b"};
    job.procs = {{0, 10, 0, 5}, {1, 11, 2, 20}};
    const JobStatus status = expect_whole(job);
    EXPECT_EQ(status.procs.size(), 2u);
    EXPECT_EQ(status.procs[1].pid, 11);
}

}  // namespace
}  // namespace muster::launcher
