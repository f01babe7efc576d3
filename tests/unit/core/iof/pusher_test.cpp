// SPDX-License-Identifier: BSD-3-Clause
// Input pushed by processes: to the host, in order, limited by a window; dropped input, input that waits
// during a suspension by the host, and the end of input.
#include "core/iof/pusher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "framework/base/unique_fd.hpp"
#include "tests/covers.hpp"
#include "tests/unit/core/in_memory/listener.hpp"
#include "tests/unit/core/in_memory/output.hpp"

namespace muster::testing_in_memory {
namespace {

class PusherInMemory : public ServicesInMemory {
  protected:
    /// The bytes have to stay until the push is answered.
    Call push(Process& process, std::shared_ptr<const std::string> bytes, Info info = {}) {
        return call(process, [&process, bytes, kept = std::move(info)](const HostDone& done) mutable {
            const ByteView view(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
            process.forwarding().pusher().push({make_proc("job", PMIX_RANK_WILDCARD)}, std::move(kept), view,
                                               [bytes, done](HostAnswer answer) { done(std::move(answer)); });
        });
    }
    Call push(Process& process, const std::string& text, Info info = {}) {
        return push(process, std::make_shared<const std::string>(text), std::move(info));
    }
    static std::string text_of(const Upcall& upcall) {
        const ByteView view = upcall.bytes.view();
        return {reinterpret_cast<const char*>(view.data()), view.size()};
    }
    static Info limit(const char* drop, uint32_t size) {
        Info info = with(drop);
        info.add(PMIX_IOF_CACHE_SIZE, size);
        return info;
    }
};

TEST_F(PusherInMemory, HandsInputToTheHostInOrder) {
    start(1);
    const Call first = push(node.client(0), "one", with("vendor.directive"));
    const Call second = push(node.client(0), "two");
    const auto one = asked("push_stdin"), two = asked("push_stdin");
    EXPECT_EQ(text_of(*one), "one");
    EXPECT_EQ(text_of(*two), "two");
    ASSERT_EQ(one->procs.size(), 2U);
    EXPECT_EQ(one->procs[0].rank, 0U);
    EXPECT_EQ(one->procs[1].rank, PMIX_RANK_WILDCARD);
    EXPECT_EQ(user_in(*one), own_user());
    EXPECT_TRUE(one->info.view().is_true("vendor.directive"));
    // In any order.
    two->answer({});
    EXPECT_EQ(status_of(second), PMIX_SUCCESS);
    EXPECT_FALSE(first.there());
    one->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(first), PMIX_ERR_NOT_FOUND);
}

TEST_F(PusherInMemory, NamesEachTargetToTheHost) {
    covers("IOF-09");
    start(2);
    Process& process = node.client(0);
    const auto bytes = std::make_shared<const std::string>("both");
    const Call pushed = call(process, [&process, bytes](const HostDone& done) {
        const ByteView view(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
        process.forwarding().pusher().push({make_proc("job", 1), make_proc("job", 0)}, {}, view, done);
    });
    const auto upcall = asked("push_stdin");
    ASSERT_EQ(upcall->procs.size(), 3U) << "the producer and two targets";
    EXPECT_EQ(upcall->procs[1].rank, 1U);
    EXPECT_EQ(upcall->procs[2].rank, 0U);
    upcall->answer({});
    EXPECT_EQ(status_of(pushed), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, EndsTheInputWithAnEmptyPush) {
    start(1);
    const Call end = push(node.client(0), "");
    const auto upcall = asked("push_stdin");
    EXPECT_EQ(upcall->bytes.view().size(), 0U);
    upcall->answer({});
    EXPECT_EQ(status_of(end), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, WaitsForTheHostWhenItsWindowIsFull) {
    start(1);
    const auto block = std::make_shared<const std::string>(100 << 10, 'x');
    std::vector<Call> calls;
    for (int i = 0; i < 4; ++i)
        calls.push_back(push(node.client(0), block));
    const auto one = asked("push_stdin"), two = asked("push_stdin");
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 2U) << "256 KiB are on the way at most";
    one->answer({});
    const auto three = asked("push_stdin");
    two->answer({});
    three->answer({});
    asked("push_stdin")->answer({});
    for (const Call& each : calls)
        EXPECT_EQ(status_of(each), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, DropsWhatIsNotTakenAsItWasAsked) {
    covers("TLO-37");
    start(1);
    Process& client = node.client(0);
    const auto block = std::make_shared<const std::string>(300 << 10, 'x');
    const Call big = push(client, block);
    const auto first = asked("push_stdin");
    // Everything after it waits.
    std::vector<Call> calls;
    calls.push_back(push(client, "0123456789", limit(PMIX_IOF_DROP_OLDEST, 6)));
    calls.push_back(push(client, "abcd", limit(PMIX_IOF_DROP_OLDEST, 6)));
    calls.push_back(push(client, "efgh", limit(PMIX_IOF_DROP_NEWEST, 8)));
    calls.push_back(push(client, "ijkl", limit(PMIX_IOF_DROP_NEWEST, 8)));
    calls.push_back(push(client, ""));
    settle();
    EXPECT_FALSE(calls[0].there());
    EXPECT_TRUE(calls[3].there()) << "nothing is left of it";
    first->answer({});
    std::string text;
    bool ended = false;
    while (!ended) {
        const auto upcall = asked("push_stdin");
        ended = upcall->bytes.view().empty();
        text += text_of(*upcall);
        upcall->answer({});
        if (HasFailure()) break;
    }
    EXPECT_EQ(text, "89abcdef");
    EXPECT_EQ(status_of(big), PMIX_SUCCESS);
    for (const Call& each : calls)
        EXPECT_EQ(status_of(each), PMIX_SUCCESS);
    EXPECT_EQ(client.forwarding().pusher().dropped(), 14U);
}

TEST_F(PusherInMemory, NeverDropsTheEndOfTheInput) {
    start(1);
    Process& client = node.client(0);
    const Call big = push(client, std::make_shared<const std::string>(300 << 10, 'x'));
    const auto first = asked("push_stdin");
    Info last = limit(PMIX_IOF_DROP_OLDEST, 4);
    last.add(PMIX_IOF_COMPLETE, true);
    const Call end = push(client, "last", std::move(last));
    const Call behind = push(client, "more", limit(PMIX_IOF_DROP_OLDEST, 4));
    Info newest = limit(PMIX_IOF_DROP_NEWEST, 4);
    newest.add(PMIX_IOF_COMPLETE, true);
    const Call too_much = push(client, "gone", std::move(newest));
    settle();
    first->answer({});
    int ends = 0;
    std::string text;
    for (int i = 0; i < 3; ++i) {
        const auto upcall = asked("push_stdin");
        ends += upcall->info.view().is_true(PMIX_IOF_COMPLETE) ? 1 : 0;
        text += text_of(*upcall);
        upcall->answer({});
    }
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(text, "more");
    for (const Call& each : {big, end, behind, too_much})
        EXPECT_EQ(status_of(each), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, RefusesWrongDirectives) {
    start(1);
    Info both = with(PMIX_IOF_DROP_OLDEST);
    both.add(PMIX_IOF_DROP_NEWEST, true);
    EXPECT_EQ(status_of(push(node.client(0), "text", std::move(both))), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(node.host.count("push_stdin"), 0U);
}

TEST_F(PusherInMemory, IsRefusedByAHostWithoutTheUpcall) {
    start(1);
    pmix_server_module_t without = FakeHost::module<0>();
    without.push_stdin = nullptr;
    node.on_loop([&] { node.server().host().set_module(&without, sizeof without); });
    EXPECT_EQ(status_of(push(node.client(0), "text")), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(PusherInMemory, WaitsWhileTheHostHasSuspendedItsProducer) {
    start(2);
    const auto suspend = [&](const pmix_proc_t& producers, bool on) {
        node.on_loop([&] { node.server().forwarder().control_input(producers, on); });
    };
    suspend(make_proc("job", 0), true);
    const Call held = push(node.client(0), "held");
    const Call second = push(node.client(0), "second");
    const Call free = push(node.client(1), "free");
    const auto upcall = asked("push_stdin");
    EXPECT_EQ(text_of(*upcall), "free");
    upcall->answer({});
    EXPECT_EQ(status_of(free), PMIX_SUCCESS);
    settle();
    EXPECT_FALSE(held.there());
    suspend(make_proc("job", PMIX_RANK_WILDCARD), false);
    const auto one = asked("push_stdin"), two = asked("push_stdin");
    EXPECT_EQ(text_of(*one) + text_of(*two), "heldsecond");
    one->answer({});
    two->answer({});
    EXPECT_EQ(status_of(held), PMIX_SUCCESS);
    EXPECT_EQ(status_of(second), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, TakesNothingMoreOfOneThatDiesWhileItIsSuspended) {
    start(2);
    node.on_loop([&] { node.server().forwarder().control_input(make_proc("job", 0), true); });
    push(node.client(0), "held");
    settle();
    node.kill("job", 0);
    settle();
    node.on_loop([&] { node.server().forwarder().control_input(make_proc("job", 0), false); });
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 0U);
}

TEST_F(PusherInMemory, IsNotReadOnWhileTheHostTakesNothing) {
    start(2);
    // Without regard to Muster's window, as other libraries push.
    const auto block = std::make_shared<const std::string>(1 << 20, 'x');
    const auto push_raw = [&] {
        return call(node.client(0), [&, block](HostDone done) {
            Upstream* upstream = node.client(0).exchange().upstream();
            Packer message = upstream->packer(Command::IofPush);
            const pmix_proc_t target = make_proc("job", 1);
            message.procs(&target, 1)
                .infos({})
                .bytes({reinterpret_cast<const uint8_t*>(block->data()), block->size()});
            ask(*upstream, std::move(message), {}, std::move(done));
        });
    };
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i)
        calls.push_back(push_raw());
    settle();
    const size_t taken = node.host.count("push_stdin");
    EXPECT_GE(taken, 8U);
    EXPECT_LE(taken, 10U) << "8 MiB wait for the host, and not much more";
    for (size_t i = 0; i < calls.size(); ++i)
        asked("push_stdin")->answer({});
    for (const Call& each : calls)
        EXPECT_EQ(status_of(each), PMIX_SUCCESS);
}

TEST_F(PusherInMemory, OfTheHostItselfGoesTheSameWay) {
    start(1);
    const Call pushed = push(node.process(), "text");
    const auto upcall = asked("push_stdin");
    EXPECT_EQ(text_of(*upcall), "text");
    EXPECT_STREQ(upcall->procs[0].nspace, "server0");
    upcall->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(pushed), PMIX_ERR_NOT_FOUND);
    node.host.returns["push_stdin"] = PMIX_ERR_BAD_PARAM;
    EXPECT_EQ(status_of(push(node.process(), "refused")), PMIX_ERR_BAD_PARAM);
}

TEST_F(PusherInMemory, EndsWithItsProcess) {
    start(1);
    Process& client = node.client(0);
    const Call first = push(client, std::make_shared<const std::string>(300 << 10, 'x'));
    const Call waits = push(client, "text");
    asked("push_stdin");
    node.on_loop([&] { node.server().close(); });
    EXPECT_EQ(status_of(first), PMIX_ERR_LOST_CONNECTION);
    ASSERT_TRUE(until([&] { return waits.there(); }));
    EXPECT_NE(waits.status(), PMIX_SUCCESS);
}

/// Stdin of this program in the hands of a test.
class StdinInMemory : public PusherInMemory {
  protected:
    StdinInMemory() : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        ::dup2(ends[0], STDIN_FILENO);
        ::close(ends[0]);
        write_.reset(ends[1]);
    }
    ~StdinInMemory() override {
        if (before_)
            ::dup2(before_.get(), STDIN_FILENO);
        else
            ::close(STDIN_FILENO);
    }
    void type(const std::string& text) {
        EXPECT_EQ(::write(write_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    Call begin(Info directives = {}) {
        Process& client = node.client(0);
        directives.add(PMIX_IOF_PUSH_STDIN, true);
        return call(client, [&client, kept = std::move(directives)](const HostDone& done) mutable {
            client.forwarding().pusher().start_stdin({make_proc("job", 0)}, std::move(kept), done);
        });
    }
    void listen(Listener& listener) {
        listener.listen(node.client(0), {PMIX_ERR_IOF_FAILURE, PMIX_ERR_IOF_COMPLETE});
        EXPECT_TRUE(until([&] { return listener.registered(); }));
    }

    UniqueFd write_;

  private:
    UniqueFd before_;
};

TEST_F(StdinInMemory, GoesToItsEnd) {
    start(1);
    Listener listener;
    listen(listener);
    EXPECT_EQ(status_of(begin()), PMIX_SUCCESS);
    EXPECT_EQ(status_of(begin()), PMIX_ERR_EXISTS);
    type("one");
    const auto one = asked("push_stdin");
    EXPECT_EQ(text_of(*one), "one");
    EXPECT_FALSE(one->info.view().has(PMIX_IOF_PUSH_STDIN));
    type("two");
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 1U) << "nothing is read before the host has taken it";
    one->answer({});
    const auto two = asked("push_stdin");
    EXPECT_EQ(text_of(*two), "two");
    two->answer({});
    write_.reset();
    const auto end = asked("push_stdin");
    EXPECT_TRUE(end->bytes.view().empty());
    EXPECT_TRUE(end->info.view().is_true(PMIX_IOF_COMPLETE));
    end->answer({});
    ASSERT_TRUE(until([&] { return !listener.heard.empty(); }));
    EXPECT_EQ(listener.heard[0].status, PMIX_ERR_IOF_COMPLETE);
    EXPECT_EQ(listener.heard.size(), 1U);
}

TEST_F(StdinInMemory, StopsWhereTheHostFails) {
    start(1);
    Listener listener;
    listen(listener);
    EXPECT_EQ(status_of(begin()), PMIX_SUCCESS);
    type("one");
    asked("push_stdin")->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    ASSERT_TRUE(until([&] { return !listener.heard.empty(); }));
    EXPECT_EQ(listener.heard[0].status, PMIX_ERR_IOF_FAILURE);
    EXPECT_FALSE(node.client(0).forwarding().pusher().reading_stdin());
}

TEST_F(StdinInMemory, IsCompleteWhereTheHostWantsNoMore) {
    start(1);
    Listener listener;
    listen(listener);
    EXPECT_EQ(status_of(begin()), PMIX_SUCCESS);
    type("one");
    asked("push_stdin")->answer(answer_of(PMIX_ERR_IOF_COMPLETE));
    asked("push_stdin")->answer(answer_of(PMIX_ERR_IOF_COMPLETE));
    ASSERT_TRUE(until([&] { return !listener.heard.empty(); }));
    EXPECT_EQ(listener.heard[0].status, PMIX_ERR_IOF_COMPLETE);
}

TEST_F(StdinInMemory, IsCollectedBySizeAndByTime) {
    start(1);
    Info directives;
    directives.add(PMIX_IOF_BUFFERING_SIZE, uint32_t{6});
    directives.add(PMIX_IOF_BUFFERING_TIME, uint32_t{10});
    EXPECT_EQ(status_of(begin(std::move(directives))), PMIX_SUCCESS);
    type("abcd");
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 0U);
    type("efgh");
    const auto full = asked("push_stdin");
    EXPECT_EQ(text_of(*full), "abcdefgh");
    full->answer({});
    settle();
    type("ij");
    settle();
    pass(std::chrono::seconds(11));
    const auto in_time = asked("push_stdin");
    EXPECT_EQ(text_of(*in_time), "ij");
    in_time->answer({});
    settle();
}

TEST_F(StdinInMemory, IsStoppedWithoutWaitingForTheHost) {
    start(1);
    Info directives;
    directives.add(PMIX_IOF_BUFFERING_SIZE, uint32_t{100});
    EXPECT_EQ(status_of(begin(std::move(directives))), PMIX_SUCCESS);
    type("rest");
    settle();
    const auto stop = [&] {
        return call(node.client(0),
                    [&](const HostDone& done) { node.client(0).forwarding().pusher().stop_stdin(done); });
    };
    EXPECT_EQ(status_of(stop()), PMIX_SUCCESS);
    EXPECT_EQ(status_of(stop()), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(text_of(*asked("push_stdin")), "rest");
    EXPECT_TRUE(asked("push_stdin")->bytes.view().empty());
}

TEST_F(StdinInMemory, RefusesWrongDirectives) {
    start(1);
    Info directives;
    directives.add(PMIX_IOF_BUFFERING_SIZE, "much");
    EXPECT_EQ(status_of(begin(std::move(directives))), PMIX_ERR_BAD_PARAM);
    write_.reset();
    ::close(STDIN_FILENO);
    EXPECT_EQ(status_of(begin()), PMIX_ERR_NOT_AVAILABLE);
}

TEST_F(StdinInMemory, MayBeAFile) {
    start(1);
    const std::string path = std::string(node.folder()) + "/input";
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
    ASSERT_EQ(::write(file.get(), "line", 4), 4);
    ::lseek(file.get(), 0, SEEK_SET);
    ::dup2(file.get(), STDIN_FILENO);
    EXPECT_EQ(status_of(begin()), PMIX_SUCCESS);
    const auto upcall = asked("push_stdin");
    EXPECT_EQ(text_of(*upcall), "line");
    upcall->answer({});
    EXPECT_TRUE(asked("push_stdin")->bytes.view().empty());
}

}  // namespace
}  // namespace muster::testing_in_memory
