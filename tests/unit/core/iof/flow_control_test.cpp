// SPDX-License-Identifier: BSD-3-Clause
// Flow control by a server of OpenPMIx 7.0: pushes that it answers with PMIX_ERR_IOF_XOFF, and its messages
// that suspend and resume the producers of input.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <deque>

#include "core/iof/messages.hpp"
#include "framework/base/unique_fd.hpp"
#include "tests/unit/core/in_memory/listener.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {
namespace {

/// The tag of flow control on the wire.
constexpr uint32_t kControlTag = 3;

/// The server of a process, in which the test plays OpenPMIx for input. All other operations use the real
/// server.
class FlowServer : public Upstream {
  public:
    struct Push {
        std::string text;
        bool ends = false;
        OnReply done;
    };

    explicit FlowServer(Client& real) : real_(real) {}

    bool connected() const override { return connected_; }
    const pmix_proc_t& server() const override { return real_.server(); }
    PeerVersion server_version() const override { return parse_version("7.0.0"); }
    std::vector<pmix_proc_t> servers() const override { return real_.servers(); }
    bool connected_to(const pmix_proc_t& server) const override { return real_.connected_to(server); }
    Packer packer(Command command) const override { return real_.packer(command); }
    void request(Packer&& message, OnReply done) override {
        Unpacker in(format(), message.view());
        uint8_t code = 0;
        PushRequest push;
        if (!in.command(code) || code != static_cast<uint8_t>(Command::IofPush) || !push.read(in))
            return real_.request(std::move(message), std::move(done));
        pushes_.push_back({{reinterpret_cast<const char*>(push.bytes.data()), push.bytes.size()},
                           push.directives.view().is_true(PMIX_IOF_COMPLETE),
                           std::move(done)});
    }
    void request_to(const pmix_proc_t& server, Packer&& message, OnReply done) override {
        real_.request_to(server, std::move(message), std::move(done));
    }
    void request_status(Packer&& message, OnStatus done) override {
        real_.request_status(std::move(message), std::move(done));
    }
    void send(Packer&& message) override { real_.send(std::move(message)); }
    void send_heartbeat() override { real_.send_heartbeat(); }
    bool too_long(size_t length) const override { return real_.too_long(length); }
    void pause(bool on) override { real_.pause(on); }
    bool busy() const override { return real_.busy(); }
    WireFormat format() const override { return real_.format(); }
    void on_message(uint32_t fixed_tag, OnMessage handler) override {
        if (fixed_tag == kControlTag) on_control_ = std::move(handler);
    }
    void on_lost(std::function<void(const pmix_proc_t& server)> listener) override {
        on_lost_.push_back(std::move(listener));
    }
    void on_primary(std::function<void()> listener) override { on_primary_.push_back(std::move(listener)); }
    Commits& commits() override { return real_.commits(); }

    size_t pushes() const { return pushes_.size(); }
    Push take() {
        Push first = std::move(pushes_.front());
        pushes_.pop_front();
        return first;
    }
    /// The server's messages and its end. On the loop of the process.
    void answer(const Push& push, pmix_status_t status) const {
        Packer reply(format());
        reply.status(status);
        Unpacker in(format(), reply.view());
        push.done(&in);
    }
    void control(const pmix_proc_t& source, bool suspend,
                 pmix_iof_channel_t channel = PMIX_FWD_STDIN_CHANNEL) const {
        Packer message(format());
        message.proc(source).items(&channel, 1, PMIX_IOF_CHANNEL).boolean(suspend).size(0);
        say(message.take());
    }
    void say(Bytes payload) const {
        Frame frame;
        frame.tag = kControlTag;
        frame.payload = std::move(payload);
        on_control_(std::move(frame));
    }
    void end() { connected_ = false; }
    void lose() {
        end();
        for (const auto& listener : on_lost_)
            listener(server());
    }
    void change() const {
        for (const auto& listener : on_primary_)
            listener();
    }

  private:
    Client& real_;
    bool connected_ = true;
    std::deque<Push> pushes_;
    OnMessage on_control_;
    std::vector<std::function<void(const pmix_proc_t&)>> on_lost_;
    std::vector<std::function<void()>> on_primary_;
};

/// A base, so that it outlives the processes.
class HasFlowServer {
  protected:
    std::unique_ptr<FlowServer> flow_;
};

class FlowControlInMemory : protected HasFlowServer, public ServicesInMemory {
  protected:
    /// Replaces the real server.
    void stand_in(Process& process) {
        flow_ = std::make_unique<FlowServer>(*node.client(0).client());
        process.forwarding().attach(*flow_);
        process.exchange().attach(*flow_);
    }
    void start_at_openpmix() {
        start(1);
        stand_in(node.client(0));
    }
    void TearDown() override {
        if (flow_) flow_->end();
    }

    static pmix_proc_t everyone() { return make_proc("", PMIX_RANK_WILDCARD); }
    Call push(Process& process, const std::string& text, Info info = {}) {
        auto bytes = std::make_shared<const std::string>(text);
        return call(process, [&process, bytes, kept = std::move(info)](const HostDone& done) mutable {
            const ByteView view(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
            process.forwarding().pusher().push({make_proc("job", 0)}, std::move(kept), view,
                                               [bytes, done](HostAnswer answer) { done(std::move(answer)); });
        });
    }
    Call push(const std::string& text) { return push(node.client(0), text); }
    FlowServer::Push pushed() {
        EXPECT_TRUE(until([&] { return flow_->pushes() > 0; })) << "nothing is pushed";
        return flow_->pushes() > 0 ? flow_->take() : FlowServer::Push{"", false, [](Unpacker*) {}};
    }
    void answer(const FlowServer::Push& push, pmix_status_t status) {
        on(node.client(0), [&] { flow_->answer(push, status); });
        settle();
    }
    void control(const pmix_proc_t& source, bool suspend,
                 pmix_iof_channel_t channel = PMIX_FWD_STDIN_CHANNEL) {
        on(node.client(0), [&] { flow_->control(source, suspend, channel); });
        settle();
    }
    bool suspended() {
        const Call probe = push("probe");
        settle();
        if (flow_->pushes() > 0) answer(flow_->take(), PMIX_SUCCESS);
        return !probe.there();
    }
};

TEST_F(FlowControlInMemory, TakesAPushThatSuspendsAndKeepsTheNext) {
    start_at_openpmix();
    const Call first = push("one");
    answer(pushed(), PMIX_ERR_IOF_XOFF);
    EXPECT_FALSE(first.there()) << "the program shall not send on";
    const Call second = push("two");
    const Call end = push("");
    settle();
    EXPECT_EQ(flow_->pushes(), 0U);
    control(node.client(0).self(), false);
    EXPECT_EQ(status_of(first), PMIX_SUCCESS) << "the host has the bytes";
    const auto two = pushed(), last = pushed();
    EXPECT_EQ(two.text, "two");
    EXPECT_EQ(last.text, "");
    answer(two, PMIX_SUCCESS);
    answer(last, PMIX_ERR_IOF_COMPLETE);
    EXPECT_EQ(status_of(second), PMIX_SUCCESS);
    EXPECT_EQ(status_of(end), PMIX_ERR_IOF_COMPLETE);
}

TEST_F(FlowControlInMemory, AnswersPushesOnTheWayWhenTheyAreResumed) {
    start_at_openpmix();
    const Call one = push("one"), two = push("two"), three = push("three");
    const auto first = pushed(), second = pushed(), third = pushed();
    control(node.client(0).self(), true);
    answer(first, PMIX_SUCCESS);
    answer(second, PMIX_ERR_IOF_XOFF);
    answer(third, PMIX_ERR_NO_PERMISSIONS);
    EXPECT_FALSE(one.there());
    EXPECT_FALSE(two.there());
    EXPECT_EQ(status_of(three), PMIX_ERR_NO_PERMISSIONS) << "a failure does not wait";
    control(everyone(), false);
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    EXPECT_EQ(status_of(two), PMIX_SUCCESS);
}

TEST_F(FlowControlInMemory, ObeysMessagesThatNameThisProcess) {
    start_at_openpmix();
    const pmix_proc_t self = node.client(0).self();
    control(self, false);
    EXPECT_FALSE(suspended());
    for (const pmix_proc_t& source : {make_proc("job", 1), make_proc("other", PMIX_RANK_WILDCARD)}) {
        control(source, true);
        EXPECT_FALSE(suspended()) << proc_text(source);
    }
    control(self, true, PMIX_FWD_STDOUT_CHANNEL);
    EXPECT_FALSE(suspended());
    on(node.client(0), [&] {
        Bytes garbage;
        garbage.append("\xff\xff\xff", 3);
        flow_->say(std::move(garbage));
        flow_->say({});
    });
    EXPECT_FALSE(suspended());
    for (const pmix_proc_t& source : {self, make_proc("job", PMIX_RANK_WILDCARD), everyone()}) {
        control(source, true);
        EXPECT_TRUE(suspended()) << proc_text(source);
        control(make_proc("job", 1), false);
        EXPECT_EQ(flow_->pushes(), 0U);
        control(source, false);
        EXPECT_EQ(flow_->pushes(), 1U) << proc_text(source);
        answer(flow_->take(), PMIX_SUCCESS);
    }
}

TEST_F(FlowControlInMemory, GoesOnWhereItsServerCannotResumeIt) {
    start_at_openpmix();
    control(everyone(), true);
    const Call to_another = push("one");
    settle();
    on(node.client(0), [&] { flow_->change(); });
    answer(pushed(), PMIX_ERR_IOF_XOFF);
    const Call to_none = push("two");
    settle();
    EXPECT_FALSE(to_another.there());
    on(node.client(0), [&] { flow_->lose(); });
    EXPECT_EQ(status_of(to_another), PMIX_SUCCESS);
    EXPECT_EQ(status_of(to_none), PMIX_ERR_UNREACH);
}

TEST_F(FlowControlInMemory, LeavingTheServerEndsTheSuspension) {
    start(1);
    Client& client = *node.client(0).client();
    on(node.client(0), [&] { node.client(0).forwarding().control_input(everyone(), true); });
    const Call held = push("text");
    settle();
    EXPECT_FALSE(held.there());
    const Call left = call(node.client(0), [&](const HostDone& done) {
        client.disconnect(client.server(), std::chrono::seconds(1),
                          [done](pmix_status_t status) { done(answer_of(status)); });
    });
    EXPECT_EQ(status_of(left), PMIX_SUCCESS);
    EXPECT_EQ(status_of(held), PMIX_ERR_UNREACH);
}

TEST_F(FlowControlInMemory, EndsWithItsProcess) {
    start_at_openpmix();
    const Call taken = push("one");
    answer(pushed(), PMIX_ERR_IOF_XOFF);
    const Call kept = push("two");
    settle();
    on(node.client(0), [&] { node.client(0).forwarding().finish(); });
    EXPECT_EQ(status_of(taken), PMIX_SUCCESS);
    EXPECT_EQ(status_of(kept), PMIX_ERR_LOST_CONNECTION);
}

TEST_F(FlowControlInMemory, PassesThroughALauncher) {
    start(1);
    // The server of the job in its role as a tool of another server.
    stand_in(node.process());
    const auto told = [&](const pmix_proc_t& source, bool suspend) {
        node.on_loop([&] { flow_->control(source, suspend); });
    };
    told(make_proc("job", PMIX_RANK_WILDCARD), true);
    const Call free = push("free");
    asked("push_stdin")->answer({});
    EXPECT_EQ(status_of(free), PMIX_SUCCESS) << "a server names its own producers";
    told(everyone(), true);
    const Call own = push(node.process(), "own"), held = push("held");
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 1U);
    EXPECT_EQ(flow_->pushes(), 0U);
    told(everyone(), false);
    asked("push_stdin")->answer({});
    EXPECT_EQ(status_of(held), PMIX_SUCCESS);
    node.on_loop([&] { flow_->answer(flow_->take(), PMIX_SUCCESS); });
    EXPECT_EQ(status_of(own), PMIX_SUCCESS);
    // Its host may do the same; a suspension by a server ends with that server.
    node.on_loop([&] { node.process().forwarding().control_input(make_proc("job", 0), true); });
    const Call of_itself = push(node.process(), "of itself");
    settle();
    ASSERT_EQ(flow_->pushes(), 1U);
    node.on_loop([&] { flow_->answer(flow_->take(), PMIX_SUCCESS); });
    EXPECT_EQ(status_of(of_itself), PMIX_SUCCESS);
    node.on_loop([&] { node.process().forwarding().control_input(node.process().self(), true); });
    const Call suspended = push(node.process(), "by its host");
    settle();
    EXPECT_EQ(flow_->pushes(), 0U);
    node.on_loop([&] { node.process().forwarding().control_input(everyone(), false); });
    settle();
    EXPECT_EQ(flow_->pushes(), 1U);
    told(everyone(), true);
    const Call until_lost = push("until it is lost");
    settle();
    EXPECT_EQ(node.host.count("push_stdin"), 2U);
    node.on_loop([&] { flow_->lose(); });
    asked("push_stdin")->answer({});
    EXPECT_EQ(status_of(until_lost), PMIX_SUCCESS);
}

/// Stdin of this program in the hands of a test.
class StdinFlowInMemory : public FlowControlInMemory {
  protected:
    StdinFlowInMemory() : before_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {}
    ~StdinFlowInMemory() override {
        if (before_)
            ::dup2(before_.get(), STDIN_FILENO);
        else
            ::close(STDIN_FILENO);
    }
    void make_pipe() {
        int ends[2] = {-1, -1};
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        ::dup2(ends[0], STDIN_FILENO);
        ::close(ends[0]);
        write_.reset(ends[1]);
    }
    void type(const std::string& text) {
        EXPECT_EQ(::write(write_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    static int unread() {
        int size = -1;
        EXPECT_EQ(::ioctl(STDIN_FILENO, FIONREAD, &size), 0);
        return size;
    }
    void begin(Info directives = {}) {
        if (!flow_) start_at_openpmix();
        listener_.listen(node.client(0), {PMIX_ERR_IOF_FAILURE, PMIX_ERR_IOF_COMPLETE});
        EXPECT_TRUE(until([&] { return listener_.registered(); }));
        directives.add(PMIX_IOF_PUSH_STDIN, true);
        const Call begun = call(node.client(0), [&](const HostDone& done) {
            node.client(0).forwarding().pusher().start_stdin({make_proc("job", 0)}, std::move(directives),
                                                             done);
        });
        EXPECT_EQ(status_of(begun), PMIX_SUCCESS);
    }
    /// The input is delivered completely without a failure.
    void expect_end() {
        const auto end = pushed();
        EXPECT_TRUE(end.ends);
        answer(end, PMIX_SUCCESS);
        ASSERT_TRUE(until([&] { return !listener_.heard.empty(); }));
        EXPECT_EQ(listener_.heard.front().status, PMIX_ERR_IOF_COMPLETE);
        EXPECT_EQ(listener_.heard.size(), 1U);
    }

    UniqueFd write_;
    Listener listener_;

  private:
    UniqueFd before_;
};

TEST_F(StdinFlowInMemory, IsNotReadBetweenXoffAndXon) {
    make_pipe();
    begin();
    type("one");
    const auto one = pushed();
    EXPECT_EQ(one.text, "one");
    answer(one, PMIX_ERR_IOF_XOFF);
    type("two");
    settle();
    EXPECT_EQ(unread(), 3) << "the bytes stay in the pipe";
    EXPECT_EQ(flow_->pushes(), 0U);
    control(node.client(0).self(), false);
    const auto two = pushed();
    EXPECT_EQ(two.text, "two");
    answer(two, PMIX_SUCCESS);
    write_.reset();
    expect_end();
}

TEST_F(StdinFlowInMemory, IsNotReadAfterAMessage) {
    make_pipe();
    begin();
    settle();
    control(everyone(), true);
    type("one");
    settle();
    EXPECT_EQ(unread(), 3);
    control(everyone(), false);
    const auto one = pushed();
    // While a piece is in flight.
    control(everyone(), true);
    answer(one, PMIX_SUCCESS);
    type("two");
    write_.reset();
    settle();
    EXPECT_EQ(unread(), 3);
    control(everyone(), false);
    const auto two = pushed();
    EXPECT_EQ(one.text + two.text, "onetwo");
    answer(two, PMIX_SUCCESS);
    expect_end();
}

TEST_F(StdinFlowInMemory, IsNotReadWhereItBeginsSuspended) {
    make_pipe();
    start_at_openpmix();
    control(everyone(), true);
    begin();
    type("one");
    settle();
    EXPECT_EQ(unread(), 3);
    control(everyone(), false);
    EXPECT_EQ(pushed().text, "one");
}

TEST_F(StdinFlowInMemory, KeepsWhatItHasCollected) {
    make_pipe();
    Info directives;
    directives.add(PMIX_IOF_BUFFERING_SIZE, uint32_t{100});
    directives.add(PMIX_IOF_BUFFERING_TIME, uint32_t{10});
    begin(std::move(directives));
    type("collected");
    settle();
    control(everyone(), true);
    pass(std::chrono::seconds(11));
    EXPECT_EQ(flow_->pushes(), 0U);
    control(everyone(), false);
    const auto piece = pushed();
    EXPECT_EQ(piece.text, "collected");
    answer(piece, PMIX_SUCCESS);
    write_.reset();
    expect_end();
}

TEST_F(StdinFlowInMemory, WaitsAsAFile) {
    const UniqueFd file(::open(node.folder(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
    const std::string block(6000, 'x');
    ASSERT_EQ(::write(file.get(), block.data(), block.size()), 6000);
    ::lseek(file.get(), 0, SEEK_SET);
    ::dup2(file.get(), STDIN_FILENO);
    begin();
    const auto one = pushed();
    answer(one, PMIX_ERR_IOF_XOFF);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 4096);
    on(node.client(0), [&] {
        // The next read is due by then.
        flow_->control(everyone(), false);
        flow_->control(everyone(), true);
    });
    settle();
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 4096);
    control(everyone(), false);
    const auto two = pushed();
    EXPECT_EQ((one.text + two.text).size(), block.size());
    answer(two, PMIX_ERR_IOF_XOFF);
    control(everyone(), false);
    expect_end();
}

}  // namespace
}  // namespace muster::testing_in_memory
