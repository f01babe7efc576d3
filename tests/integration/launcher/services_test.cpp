// SPDX-License-Identifier: BSD-3-Clause
// The services of the launcher by themselves: a store of published data, the gathering of the nodes' parts,
// and what travels between nodes and launcher, whole and damaged.
#include <gtest/gtest.h>
#include <pmix_common.h>

#include <map>

#include "tests/covers.hpp"
#include "tools/muster/jobs/job_message.hpp"
#include "tools/muster/services/announcer.hpp"
#include "tools/muster/services/control.hpp"
#include "tools/muster/services/directory.hpp"
#include "tools/muster/services/gather.hpp"
#include "tools/muster/services/groups.hpp"
#include "tools/muster/services/job_status.hpp"
#include "tools/muster/services/spawn_request.hpp"

namespace muster::launcher {
namespace {

Job job_of(unsigned ranks, unsigned nodes, const std::string& nspace = "job") {
    Options options;
    options.apps.emplace_back();
    options.apps[0].ranks = ranks;
    options.apps[0].argv = {"prog"};
    options.nodes = nodes;
    return make_job(options, nspace, node_names(nodes, "here"));
}

/// A launcher that only remembers.
class FakeHub final : public Hub {
  public:
    struct Answer {
        int32_t status;
        std::string bytes;
    };
    std::map<uint64_t, Answer> answers;
    std::vector<uint32_t> told;
    std::vector<std::pair<int, std::vector<ProcId>>> signals;

    FakeHub() { names_ = node_names(2, "here"); }
    Loop& loop() override { return loop_; }
    JobTable& jobs() override { return jobs_; }
    ProcName launcher() const override { return {"server", 0}; }
    const std::vector<std::string>& nodes() const override { return names_; }
    bool has_scheduler() const override { return false; }
    void answer(Asker asker, int32_t status, std::string_view bytes) override {
        EXPECT_FALSE(answers.contains(asker.id)) << "answered twice";
        answers[asker.id] = {status, std::string(bytes)};
    }
    void tell(uint32_t node, Topic, const Writer&) override { told.push_back(node); }
    JobRecord& launch(Job job, const OutputPolicy&, Launched) override { return jobs_.add(std::move(job)); }
    std::string next_nspace() const override { return "next"; }
    void signal(int number, const std::vector<ProcId>& procs) override {
        signals.emplace_back(number, procs);
    }
    void end_job(JobRecord& job, int32_t, bool) override { job.state = JobRecord::State::Ended; }
    void end_ranks(const std::vector<ProcId>&, bool) override {}
    void output_taken(uint32_t node, uint64_t bytes) override { taken[node] += bytes; }
    void show_output(std::optional<uint32_t> node, ProcId proc, uint32_t, std::string_view bytes) override {
        shown[proc] += bytes;
        if (node) taken[*node] += bytes.size();
    }
    void give_input(ProcId proc, std::string_view bytes) override {
        input[proc] += bytes.empty() ? std::string("<end>") : std::string(bytes);
    }
    void show(bool, std::string_view) override {}
    std::map<uint32_t, uint64_t> taken;
    std::map<ProcId, std::string> input, shown;

  private:
    Loop loop_;
    JobTable jobs_;
    std::vector<std::string> names_;
};

/// A store, and questions to it as nodes put them.
class DirectoryTest : public ::testing::Test {
  protected:
    void SetUp() override {
        hub.jobs().add(job_of(4, 2));
        hub.jobs().add(job_of(2, 2, "other"));
    }

    static Writer begin(Directory::Request request, const ProcName& who) {
        return Writer().u32(static_cast<uint32_t>(request)).name(who).u32(7).u32(8).u32(0);
    }
    int32_t ask(const ProcName& who, const Writer& body) {
        const JobRecord& record = *hub.jobs().find(who.nspace);
        Reader in(body.body());
        const uint64_t id = next++;
        store.asked({record.job.places[who.rank].node, id}, in);
        last = id;
        return hub.answers.contains(id) ? hub.answers[id].status : 1;
    }
    int32_t publish(const ProcName& who, const std::string& key, uint32_t range = PMIX_RANGE_SESSION,
                    uint32_t persistence = PMIX_PERSIST_SESSION) {
        Writer body = begin(Directory::Request::Publish, who);
        write_range(body, {range, {}});
        body.u32(persistence).u32(0).u32(0).u32(1).bytes(key).bytes("value");
        return ask(who, body);
    }
    int32_t look_up(const ProcName& who, const std::vector<std::string>& keys, bool wait = false) {
        Writer body = begin(Directory::Request::Lookup, who);
        body.u32(0).u32(wait ? 1 : 0).u32(0).u32(0).texts(keys);
        return ask(who, body);
    }

    FakeHub hub;
    Directory store{hub};
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

TEST_F(DirectoryTest, AWaitingLookupIsAnsweredWhenAllIsThere) {
    EXPECT_EQ(look_up({"other", 1}, {"a", "b"}, true), 1);
    const uint64_t waiting = last;
    publish({"job", 0}, "a");
    EXPECT_FALSE(hub.answers.contains(waiting));
    publish({"job", 1}, "b");
    ASSERT_TRUE(hub.answers.contains(waiting));
    EXPECT_EQ(hub.answers[waiting].status, PMIX_SUCCESS);
}

TEST_F(DirectoryTest, WhoWaitsAndEndsIsAnsweredAndForgotten) {
    EXPECT_EQ(look_up({"job", 2}, {"never"}, true), 1);
    const uint64_t waiting = last;
    JobRecord& record = *hub.jobs().find("job");
    record.ranks[2].ended = true;
    store.proc_ended(record, 2);
    EXPECT_TRUE(hub.answers.contains(waiting));
    EXPECT_EQ(publish({"job", 0}, "never"), PMIX_SUCCESS);  // nobody is answered a second time
}

TEST_F(DirectoryTest, DataGoesWithItsProcessOrApplication) {
    publish({"job", 1}, "of.proc", PMIX_RANGE_SESSION, PMIX_PERSIST_PROC);
    publish({"job", 1}, "of.app", PMIX_RANGE_SESSION, PMIX_PERSIST_APP);
    publish({"job", 1}, "of.session");
    JobRecord& record = *hub.jobs().find("job");
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

TEST_F(DirectoryTest, DamagedQuestionsAreAnsweredWithAnError) {
    Writer whole = begin(Directory::Request::Publish, {"job", 0});
    write_range(whole, {PMIX_RANGE_CUSTOM, {{"job", 1}}});
    whole.u32(PMIX_PERSIST_SESSION).u32(1).u32(2).u32(5).u32(6).u32(0).u32(1).bytes("key").bytes("value");
    for (size_t size = 0; size < whole.body().size(); ++size) {
        Reader in(std::string_view(whole.body()).substr(0, size));
        const uint64_t id = next++;
        store.asked({0, id}, in);
        ASSERT_TRUE(hub.answers.contains(id)) << size;
        EXPECT_NE(hub.answers[id].status, PMIX_SUCCESS) << size;
    }
    EXPECT_EQ(look_up({"job", 1}, {"key"}), PMIX_ERR_NOT_FOUND);
}

class GatherTest : public ::testing::Test {
  protected:
    GatherTest()
        : gather(loop, jobs, [this](int32_t status, const Gather::Operation& operation) {
              done.emplace_back(status, operation.parts.size());
          }) {
        jobs.add(job_of(4, 2));  // ranks 0 and 1 on node 0
    }
    int32_t add(uint32_t node, const std::vector<ProcName>& procs) {
        return gather.add("op", procs, 0, node, {1, "x"});
    }
    Loop loop;
    JobTable jobs;
    std::vector<std::pair<int32_t, size_t>> done;
    Gather gather;
    const std::vector<ProcName> all = {{"job", PMIX_RANK_WILDCARD}};
};

TEST_F(GatherTest, EndsWhenEachNodeWithAMemberHasGivenItsPart) {
    covers("SRV-71");
    EXPECT_EQ(add(0, all), PMIX_SUCCESS);
    EXPECT_EQ(add(0, all), PMIX_SUCCESS);  // the next one
    EXPECT_TRUE(done.empty());
    EXPECT_EQ(add(1, all), PMIX_SUCCESS);
    EXPECT_EQ(done.size(), 1u);
    EXPECT_EQ(add(1, all), PMIX_SUCCESS);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[1], (std::pair<int32_t, size_t>(PMIX_SUCCESS, 2)));
}

TEST_F(GatherTest, AMemberThatEndsBeforeItsPartFailsIt) {
    add(0, {{"job", 0}, {"job", 3}});
    jobs.find(ProcId{1, 2})->ended = true;  // not a member
    gather.proc_ended();
    EXPECT_TRUE(done.empty());
    jobs.find(ProcId{1, 3})->ended = true;
    gather.proc_ended();
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].first, PMIX_ERR_LOST_CONNECTION);
    // And so at once for those that come too late.
    add(0, {{"job", 0}, {"job", 3}});
    EXPECT_EQ(done.size(), 2u);
}

TEST_F(GatherTest, WhatMakesNoSenseIsRefused) {
    EXPECT_EQ(add(0, {{"nobody", 0}}), PMIX_ERR_INVALID_NAMESPACE);
    EXPECT_EQ(add(0, {{"job", 4}}), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(add(1, {{"job", 0}}), PMIX_ERR_BAD_PARAM);  // has no member there
    EXPECT_EQ(add(0, {}), PMIX_ERR_BAD_PARAM);
}

/// Groups over two nodes: ranks 0 and 1 of the job are on node 0, 2 and 3 on node 1.
class GroupsTest : public ::testing::Test {
  protected:
    using Operation = GroupRequest::Operation;
    void SetUp() override { hub.jobs().add(job_of(4, 2)); }
    /// What a node asks; its number.
    uint64_t ask(uint32_t node, const std::vector<uint32_t>& ranks, int32_t local_status = PMIX_SUCCESS,
                 Operation operation = Operation::Construct) {
        GroupRequest request;
        request.operation = operation;
        request.id = "group";
        for (const uint32_t rank : ranks)
            request.procs.push_back({"job", rank});
        request.local_status = local_status;
        Writer body;
        request.write(body);
        Reader in(body.body());
        groups.asked({node, next}, in);
        return next++;
    }
    void end(uint32_t rank) {
        hub.jobs().find(ProcId{1, rank})->ended = true;
        groups.proc_ended(*hub.jobs().find("job"), rank);
    }
    /// Its answer; 1 while there is none.
    int32_t answer(uint64_t id) { return hub.answers.contains(id) ? hub.answers[id].status : 1; }

    FakeHub hub;
    Groups groups{hub};
    uint64_t next = 1;
};

TEST_F(GroupsTest, AMemberThatEndsFailsTheConstructionAlsoOfWhoComesLater) {
    const uint64_t first = ask(0, {0, 1, 2, 3});
    end(3);  // it had called, and rank 2 has not yet
    EXPECT_EQ(answer(first), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3})), PMIX_GROUP_MEMBER_FAILED);
    const uint64_t again = ask(1, {0, 1, 2});
    EXPECT_EQ(answer(again), 1);
    EXPECT_EQ(answer(ask(0, {0, 1, 2})), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
}

TEST_F(GroupsTest, AFailureThatIsToldLateLeavesTheNextTryAlone) {
    ask(0, {0, 1, 2, 3});
    end(3);
    const uint64_t again = ask(0, {0, 1, 2});
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3}, PMIX_GROUP_MEMBER_FAILED)), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(again), 1);
    EXPECT_EQ(answer(ask(1, {0, 1, 2})), PMIX_SUCCESS);
    EXPECT_EQ(answer(again), PMIX_SUCCESS);
}

TEST_F(GroupsTest, ADestructThatAMemberFailsFailsForWhoComesLater) {
    const uint64_t first = ask(0, {0, 1, 2, 3}, PMIX_SUCCESS, Operation::Destruct);
    end(3);
    EXPECT_EQ(answer(first), PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(answer(ask(1, {0, 1, 2}, PMIX_SUCCESS, Operation::Destruct)), PMIX_GROUP_MEMBER_FAILED);
}

TEST_F(GroupsTest, AFailureAtOneNodeFailsThoseThatAreIn) {
    const uint64_t first = ask(0, {0, 1, 2, 3});
    EXPECT_EQ(answer(ask(1, {0, 1, 2, 3}, PMIX_ERR_LOST_CONNECTION)), PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(answer(first), PMIX_ERR_LOST_CONNECTION);
}

TEST(LauncherControl, ChecksTargetsBeforeItActs) {
    FakeHub hub;
    hub.jobs().add(job_of(4, 2));
    Control control(hub);
    auto ask = [&](const ProcName& target, int32_t number) {
        const Writer body = Writer().names({{"job", 0}, target}).u32(1).u32(0).i32(number).bytes("");
        Reader in(body.body());
        const uint64_t id = hub.answers.size() + 1;
        control.asked({0, id}, in);
        return hub.answers[id].status;
    };
    EXPECT_EQ(ask({"nobody", 0}, 10), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(ask({"job", 4}, 10), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(ask({"job", 1}, 0), PMIX_ERR_BAD_PARAM);
    EXPECT_TRUE(hub.signals.empty());
    EXPECT_EQ(ask({"job", PMIX_RANK_WILDCARD}, 10), PMIX_SUCCESS);
    ASSERT_EQ(hub.signals.size(), 1u);
    EXPECT_EQ(hub.signals[0].second, (std::vector<ProcId>{{1, 0}, {1, kAllRanks}}));
}

TEST(LauncherControl, SetsKeepTheirNames) {
    FakeHub hub;
    Job job = job_of(4, 2);
    job.apps.resize(1);
    job.apps[0].pset = "ocean";
    JobRecord& record = hub.jobs().add(std::move(job));
    Control control(hub);
    auto define = [&](const std::string& name) {
        const Writer body = Writer().names({{"job", 0}}).u32(1).u32(5).i32(0).bytes(name);
        Reader in(body.body());
        const uint64_t id = hub.answers.size() + 1;
        control.asked({0, id}, in);
        return hub.answers[id].status;
    };
    EXPECT_EQ(define("ocean"), PMIX_ERR_EXISTS);
    EXPECT_EQ(define("next"), PMIX_ERR_BAD_PARAM);  // what the next job is called
    EXPECT_EQ(define("ice"), PMIX_SUCCESS);
    EXPECT_EQ(define("ice"), PMIX_ERR_EXISTS);
    record.state = JobRecord::State::Ended;
    EXPECT_EQ(define("ocean"), PMIX_SUCCESS);
}

TEST(LauncherAnnouncer, TellsTheNodesInRangeAlone) {
    FakeHub hub;
    hub.jobs().add(job_of(4, 2));
    Announcer announcer(hub);
    auto notify = [&](uint32_t from, uint32_t range, const std::vector<ProcName>& targets) {
        Notice notice;
        notice.source = {"job", 0};
        notice.range = range;
        notice.targets = targets;
        Writer body;
        write_notice(body, notice);
        Reader in(body.body());
        hub.told.clear();
        announcer.asked({from, hub.answers.size() + 1}, in);
        return hub.told;
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

/// Every beginning of a message is noticed as damaged.
template <typename Read>
void expect_noticed(const Writer& body, Read read) {
    for (size_t size = 0; size < body.body().size(); ++size) {
        Reader in(std::string_view(body.body()).substr(0, size));
        read(in);
        EXPECT_FALSE(in.ok()) << size;
    }
}

TEST(LauncherMessage, AJobTravelsWhole) {
    Job job = job_of(5, 2);
    job.number = 3;
    job.apps[0].env = {{"A", "b"}};
    job.apps[0].env_changes = {{EnvChange::Kind::Append, "PATH", "/x", ':'}};
    job.apps[0].wdir = "/";
    job.apps[0].index_argv = true;
    job.places[4].cpus = {1, 3};
    job.parent = ProcName{"parent", 2};
    job.setup = std::string("\0\1", 2);
    Writer body;
    write_job(body, job);
    Reader in(body.body());
    Job read;
    ASSERT_TRUE(read_job(in, read));
    Writer again;
    write_job(again, read);
    EXPECT_EQ(body.body(), again.body());
    EXPECT_EQ(read.parent, job.parent);
    EXPECT_EQ(read.places[4].cpus, job.places[4].cpus);
    expect_noticed(body, [](Reader& damaged) {
        Job ignored;
        EXPECT_FALSE(read_job(damaged, ignored));
    });
    // A place that does not exist.
    job.places[0].node = 2;
    Writer wrong;
    write_job(wrong, job);
    Reader contradiction(wrong.body());
    Job ignored;
    EXPECT_FALSE(read_job(contradiction, ignored));
}

TEST(LauncherMessage, ASpawnTravelsWhole) {
    SpawnRequest request;
    request.parent = {"job", 1};
    request.apps.resize(2);
    request.apps[0].ranks = 2;
    request.apps[0].argv = {"a", "b"};
    request.apps[1].program = "/bin/true";
    request.apps[1].hosts = {"node0"};
    request.apps[1].env_changes = {{EnvChange::Kind::Unset, "A", "", ':'}};
    request.map_by = "node";
    request.output.tag = true;
    request.job_seconds = 9;
    request.wishes.notify_end = request.wishes.recoverable = true;
    request.wishes.requestor = {"tool", 0};
    Writer body;
    write_spawn(body, request);
    Reader in(body.body());
    SpawnRequest read;
    ASSERT_TRUE(read_spawn(in, read));
    Writer again;
    write_spawn(again, read);
    EXPECT_EQ(body.body(), again.body());
    EXPECT_TRUE(read.wishes.recoverable && read.output.tag && !read.wishes.silent);
    expect_noticed(body, [](Reader& damaged) {
        SpawnRequest ignored;
        EXPECT_FALSE(read_spawn(damaged, ignored));
    });
}

TEST(LauncherMessage, NoticesAndStatesTravelWhole) {
    Notice notice;
    notice.code = -5;
    notice.targets = {{"job", 1}};
    notice.affected = ProcName{"job", 2};
    notice.exit_code = 3;
    notice.time = 77;
    Writer body;
    write_notice(body, notice);
    Reader in(body.body());
    const Notice read = read_notice(in);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(read.affected, notice.affected);
    EXPECT_EQ(read.exit_code, notice.exit_code);
    EXPECT_EQ(read.job_status, std::nullopt);
    expect_noticed(body, [](Reader& damaged) { read_notice(damaged); });

    JobStatus job;
    job.nspace = "job";
    job.programs = {"a", "b"};
    job.procs = {{0, 10, 0, 5}, {1, 11, 2, 20}};
    Writer status;
    write_job_status(status, job);
    Reader status_in(status.body());
    const JobStatus status_read = read_job_status(status_in);
    EXPECT_TRUE(status_in.ok());
    EXPECT_EQ(status_read.procs.size(), 2u);
    EXPECT_EQ(status_read.procs[1].pid, 11);
    expect_noticed(status, [](Reader& damaged) { read_job_status(damaged); });
}

}  // namespace
}  // namespace muster::launcher
