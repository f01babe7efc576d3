// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output of a server in memory: registrations, output written before any registration, and the ends
// of readers and jobs.
#include "core/iof/forwarder.hpp"

#include "core/exchange/namespaces.hpp"
#include "core/groups/process_sets.hpp"
#include "core/iof/forwarding.hpp"
#include "core/query/query_server.hpp"
#include "tests/covers.hpp"
#include "tests/unit/core/in_memory/output.hpp"
#include "tests/unit/core/in_memory/parameter_scope.hpp"

namespace muster::testing_in_memory {
namespace {

class ForwarderInMemory : public OutputInMemory {};

TEST_F(ForwarderInMemory, BringsWhatWasAskedForAndNoMore) {
    start(3);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1)), PMIX_SUCCESS);
    EXPECT_EQ(node.host.count("iof_pull"), 1U);
    deliver(1, "one ");
    deliver(2, "another's ");
    deliver(1, "diagnosis ", PMIX_FWD_STDDIAG_CHANNEL);
    deliver(1, "error ", PMIX_FWD_STDERR_CHANNEL);
    deliver(1, "two");
    EXPECT_TRUE(hears(reader, "one two"));
    EXPECT_EQ(reader.text(PMIX_FWD_STDERR_CHANNEL), "error ");
    EXPECT_EQ(reader.pieces.size(), 3U);
}

TEST_F(ForwarderInMemory, TellsTheHostWhoAsksForWhat) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader;
    reader.pull(node.client(1), all_of("job"), with("vendor.directive"), PMIX_FWD_STDERR_CHANNEL);
    const auto upcall = asked("iof_pull");
    EXPECT_EQ(upcall->number, PMIX_FWD_STDERR_CHANNEL);
    ASSERT_EQ(upcall->procs.size(), 1U);
    EXPECT_EQ(upcall->procs[0].rank, PMIX_RANK_WILDCARD);
    EXPECT_EQ(user_in(*upcall), own_user());
    EXPECT_TRUE(upcall->info.view().is_true("vendor.directive"));
    EXPECT_EQ(reader.answers, 0);
    upcall->answer({});
    ASSERT_TRUE(until([&] { return reader.answers == 1; }));
    EXPECT_EQ(reader.status, PMIX_SUCCESS);
}

TEST_F(ForwarderInMemory, KeepsWhatComesWhileTheHostDecides) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader;
    reader.pull(node.client(0), one_of("job", 1));
    const auto upcall = asked("iof_pull");
    deliver(1, "first ");
    deliver(1, "second ");
    settle();
    EXPECT_TRUE(reader.pieces.empty());
    upcall->answer({});
    deliver(1, "third");
    EXPECT_TRUE(hears(reader, "first second third"));
}

TEST_F(ForwarderInMemory, BringsNothingAfterARefusal) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader;
    reader.pull(node.client(0), one_of("job", 1));
    const auto upcall = asked("iof_pull");
    deliver(1, "text");
    upcall->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    ASSERT_TRUE(until([&] { return reader.answers == 1; }));
    EXPECT_EQ(reader.status, PMIX_ERR_NO_PERMISSIONS);
    deliver(1, "more");
    settle();
    EXPECT_TRUE(reader.pieces.empty());
    // Another reader may still refer to it.
    node.host.agreeable.insert("iof_pull");
    OutputReader second;
    ASSERT_EQ(pull(second, node.client(0), one_of("job", 1)), PMIX_SUCCESS);
    EXPECT_TRUE(hears(second, "textmore"));
}

TEST_F(ForwarderInMemory, GivesUpAHostThatDoesNotAnswer) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader;
    reader.pull(node.client(0), one_of("job", 1), with_timeout(5));
    const auto upcall = asked("iof_pull");
    pass(std::chrono::seconds(7));
    ASSERT_TRUE(until([&] { return reader.answers == 1; }));
    EXPECT_EQ(reader.status, PMIX_ERR_TIMEOUT);
    upcall->answer({});
    settle();
    EXPECT_EQ(reader.answers, 1);
}

TEST_F(ForwarderInMemory, RefusesWhatMakesNoSenseWithoutAskingTheHost) {
    start(2);
    const auto refused = [&](std::vector<pmix_proc_t> procs, pmix_iof_channel_t channels, Info info = {}) {
        OutputReader reader;
        return pull(reader, node.client(0), std::move(procs), std::move(info), channels);
    };
    EXPECT_EQ(refused(all_of("job"), PMIX_FWD_STDIN_CHANNEL), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(refused(all_of("job"), 0), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused(all_of("job"), 0x40), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused({}, PMIX_FWD_STDOUT_CHANNEL), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(refused(all_of(""), PMIX_FWD_STDOUT_CHANNEL), PMIX_ERR_BAD_PARAM);
    Info both = with(PMIX_IOF_DROP_OLDEST);
    both.add(PMIX_IOF_DROP_NEWEST, true);
    EXPECT_EQ(refused(all_of("job"), PMIX_FWD_STDOUT_CHANNEL, std::move(both)), PMIX_ERR_BAD_PARAM);
    Info size;
    size.add(PMIX_IOF_CACHE_SIZE, "much");
    EXPECT_EQ(refused(all_of("job"), PMIX_FWD_STDOUT_CHANNEL, std::move(size)), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(node.host.count("iof_pull"), 0U);
    EXPECT_EQ(refused(all_of("job"), PMIX_FWD_ALL_CHANNELS), PMIX_SUCCESS);
}

TEST_F(ForwarderInMemory, IsNotSupportedByAHostWithoutTheUpcall) {
    start(1);
    pmix_server_module_t without = FakeHost::module<0>();
    without.iof_pull = nullptr;
    without.push_stdin = nullptr;
    node.on_loop([&] { node.server().host().set_module(&without, sizeof without); });
    OutputReader reader;
    EXPECT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(ForwarderInMemory, TellsTheEndOfAChannelOnce) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1)), PMIX_SUCCESS);
    deliver(1, "last words", PMIX_FWD_STDOUT_CHANNEL, true);
    deliver(1, "", PMIX_FWD_STDERR_CHANNEL);
    ASSERT_TRUE(until([&] { return reader.pieces.size() == 2; }));
    settle();
    EXPECT_EQ(reader.ends(), 2U);
    EXPECT_EQ(reader.text(), "last words");
}

TEST_F(ForwarderInMemory, GivesEarlyOutputToWhoAsksFirstAndLeavesTheRest) {
    start(3);
    deliver(1, "of one ");
    deliver(2, "of two");
    deliver(1, "error", PMIX_FWD_STDERR_CHANNEL);
    OutputReader first, second, third;
    ASSERT_EQ(pull(first, node.client(0), one_of("job", 1), {}, PMIX_FWD_STDOUT_CHANNEL), PMIX_SUCCESS);
    EXPECT_TRUE(hears(first, "of one "));
    ASSERT_EQ(pull(second, node.client(0), all_of("job")), PMIX_SUCCESS);
    EXPECT_TRUE(hears(second, "of two"));
    EXPECT_EQ(second.text(PMIX_FWD_STDERR_CHANNEL), "error");
    ASSERT_EQ(pull(third, node.client(0), all_of("job")), PMIX_SUCCESS);
    settle();
    EXPECT_TRUE(third.pieces.empty());
}

TEST_F(ForwarderInMemory, ForgetsEarlyOutputOfAJobThatIsOver) {
    start(1);
    node.add_job("other", 1);
    deliver(make_proc("other", 0), "text");
    EXPECT_EQ(dropped(), 0U);
    node.on_loop([&] { node.server().deregister_nspace("other", [] {}); });
    EXPECT_EQ(dropped(), 4U);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("other")), PMIX_SUCCESS);
    settle();
    EXPECT_TRUE(reader.pieces.empty());
}

struct SmallCache {
    ParameterScope size{"pmix_iof_cache_size", "100"};
    ParameterScope registrations{"pmix_iof_max_registrations", "3"};
};
class SmallForwarder : private SmallCache, public ForwarderInMemory {};

TEST_F(SmallForwarder, KeepsTheNewestOfWhatNobodyAskedFor) {
    start(2);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(*deliver(1, std::string(30, static_cast<char>('0' + i))), 1) << "the host gets it back";
    EXPECT_EQ(dropped(), 200U);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    EXPECT_TRUE(hears(
        reader, std::string(10, '6') + std::string(30, '7') + std::string(30, '8') + std::string(30, '9')));
}

TEST_F(SmallForwarder, BoundsEarlyOutputOfAllJobsTogether) {
    covers("IOF-35");
    start(1);
    for (int job = 0; job < 80; ++job)
        deliver(make_proc("job" + std::to_string(job), 0), std::string(100, 'x'));
    EXPECT_EQ(dropped(), 16U * 100) << "64 channels are kept";
}

TEST_F(SmallForwarder, BoundsTheRegistrationsOfAProcess) {
    start(2);
    OutputReader readers[4], others;
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(pull(readers[i], node.client(0), all_of("job")), PMIX_SUCCESS);
    EXPECT_EQ(pull(readers[3], node.client(0), all_of("job")), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(pull(others, node.client(1), all_of("job")), PMIX_SUCCESS);
    EXPECT_EQ(status_of(readers[0].stop(node.client(0))), PMIX_SUCCESS);
    readers[3].answers = 0;
    EXPECT_EQ(pull(readers[3], node.client(0), all_of("job")), PMIX_SUCCESS);
}

TEST_F(ForwarderInMemory, BringsNothingAfterDeregistration) {
    start(2);
    OutputReader reader, stays;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    ASSERT_EQ(pull(stays, node.client(0), all_of("job")), PMIX_SUCCESS);
    deliver(1, "before ");
    ASSERT_TRUE(hears(reader, "before "));
    node.host.agreeable.erase("iof_pull");
    const Call stopped = reader.stop(node.client(0));
    EXPECT_EQ(status_of(stopped), PMIX_SUCCESS) << "it does not wait for the host";
    EXPECT_TRUE(asked("iof_pull")->info.view().is_true(PMIX_IOF_STOP));
    deliver(1, "behind");
    EXPECT_TRUE(hears(stays, "before behind"));
    EXPECT_EQ(reader.text(), "before ");
    EXPECT_EQ(status_of(reader.stop(node.client(0))), PMIX_ERR_BAD_PARAM) << "it is stopped already";
}

TEST_F(ForwarderInMemory, LetsNobodyStopTheReaderOfAnother) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    // The server's number of the only registration.
    const auto stop = [&](size_t id) {
        return call(node.client(1), [&, id](HostDone done) {
            Upstream* upstream = node.client(1).exchange().upstream();
            Packer message = upstream->packer(Command::IofDeregister);
            message.infos({}).size(id);
            ask(*upstream, std::move(message), {}, std::move(done));
        });
    };
    EXPECT_EQ(status_of(stop(1)), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(status_of(stop(99)), PMIX_ERR_NOT_FOUND);
    deliver(1, "text");
    EXPECT_TRUE(hears(reader, "text"));
}

TEST_F(ForwarderInMemory, AnswersAReaderThatDiesBeforeTheHostDecides) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader;
    reader.pull(node.client(0), one_of("job", 1));
    const auto upcall = asked("iof_pull");
    const auto text = deliver(1, "text");
    node.kill("job", 0);
    const auto stop = asked("iof_pull");
    EXPECT_TRUE(stop->info.view().is_true(PMIX_IOF_STOP));
    upcall->answer({});
    stop->answer(answer_of(PMIX_ERR_NOT_FOUND));
    settle();
    EXPECT_EQ(*text, 1);
    node.host.agreeable.insert("iof_pull");
    OutputReader second;
    ASSERT_EQ(pull(second, node.client(1), one_of("job", 1)), PMIX_SUCCESS);
    EXPECT_TRUE(hears(second, "text"));
}

TEST_F(ForwarderInMemory, HasTheOutputOfAProcessSetByItsMembers) {
    start(3);
    const std::vector<pmix_proc_t> members = {make_proc("job", 2), make_proc("job", 1)};
    node.on_loop([&] { node.server().process_sets().define("set", members); });
    OutputReader whole, second;
    ASSERT_EQ(pull(whole, node.client(0), all_of("set")), PMIX_SUCCESS);
    ASSERT_EQ(pull(second, node.client(0), {make_proc("set", 1), make_proc("set", 1)}), PMIX_SUCCESS);
    deliver(0, "zero ");
    deliver(1, "one ");
    deliver(2, "two");
    EXPECT_TRUE(hears(whole, "one two"));
    EXPECT_TRUE(hears(second, "one "));
    settle();
    EXPECT_EQ(second.pieces.size(), 1U);
}

TEST_F(ForwarderInMemory, ShowsNoUserTheOutputOfAnother) {
    start(1);
    node.on_loop([&] {
        node.server().register_nspace("theirs", 1, {});
        node.server().register_client(make_proc("theirs", 0), 4711, 4711, nullptr);
    });
    const auto pulled = [&](uint32_t uid, const char* nspace) {
        auto peer = std::make_shared<Peer>();
        peer->proc = make_proc("tool", uid);
        peer->uid = uid;
        peer->index = uid;
        PullRequest request;
        request.procs = all_of(nspace);
        request.channels = PMIX_FWD_STDOUT_CHANNEL;
        std::vector<pmix_status_t> statuses;
        node.on_loop([&] {
            node.server().forwarder().pull(peer, std::move(request),
                                           [&](pmix_status_t status, size_t) { statuses.push_back(status); });
        });
        EXPECT_TRUE(until([&] { return !statuses.empty(); }));
        node.on_loop([&] { node.server().forwarder().forget(peer); });
        return statuses.at(0);
    };
    EXPECT_EQ(pulled(4711, "theirs"), PMIX_SUCCESS);
    EXPECT_EQ(pulled(4712, "theirs"), PMIX_ERR_NO_PERMISSIONS);
    EXPECT_EQ(pulled(0, "theirs"), PMIX_SUCCESS) << "root is a stranger to nobody";
}

TEST_F(ForwarderInMemory, ServesAReaderOfTheHostItself) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.process(), all_of("job")), PMIX_SUCCESS);
    deliver(1, "text");
    EXPECT_TRUE(hears(reader, "text"));
    EXPECT_EQ(status_of(reader.stop(node.process())), PMIX_SUCCESS);
    deliver(1, "more");
    settle();
    EXPECT_EQ(reader.text(), "text");
}

TEST_F(ForwarderInMemory, EndsWithTheServer) {
    start(2);
    node.host.agreeable.erase("iof_pull");
    OutputReader reader, waits;
    reader.pull(node.client(0), all_of("job"));
    asked("iof_pull")->answer({});
    ASSERT_TRUE(until([&] { return reader.answers == 1; }));
    waits.pull(node.process(), all_of("job"));
    asked("iof_pull");
    const auto kept = deliver(1, std::string(3 << 20, 'x'));
    node.on_loop([&] { node.server().close(); });
    ASSERT_TRUE(until([&] { return waits.answers == 1; }));
    EXPECT_EQ(waits.status, PMIX_ERR_LOST_CONNECTION);
    EXPECT_EQ(*kept, 1);
    EXPECT_EQ(*deliver(1, "late"), 1) << "and nothing is kept afterwards";
}

}  // namespace
}  // namespace muster::testing_in_memory
