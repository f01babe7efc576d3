// SPDX-License-Identifier: BSD-3-Clause
// Messages between launcher and nodes: round trips, and detection of damage.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "tests/integration/launcher/library.hpp"
#include "tools/muster/exchange/link.hpp"

namespace muster::launcher {
namespace {

class LauncherMessage : public WithLibrary {};

TEST_F(LauncherMessage, ReadsWhatWasPacked) {
    const std::vector<ProcName> procs = {{"a", 1}, {"job.b", 0xfffffffe}, {"", 0}};
    const std::optional<uint32_t> none;
    Buffer body = pack(ProcId{1, 7}, -5, uint64_t{1} << 40, std::string("x\0y", 3), procs, true, none,
                       std::set<std::string>{"b", "a"});
    ProcId id;
    int32_t number = 0;
    uint64_t large = 0;
    std::string text;
    std::vector<ProcName> read;
    bool flag = false;
    std::optional<uint32_t> absent = 3;
    std::set<std::string> names;
    EXPECT_TRUE(body.unpack(id, number, large, text, read, flag, absent, names));
    EXPECT_EQ(id, (ProcId{1, 7}));
    EXPECT_EQ(number, -5);
    EXPECT_EQ(large, uint64_t{1} << 40);
    EXPECT_EQ(text, std::string("x\0y", 3));
    EXPECT_EQ(read, procs);
    EXPECT_TRUE(flag);
    EXPECT_EQ(absent, none);
    EXPECT_EQ(names, (std::set<std::string>{"a", "b"}));
    EXPECT_TRUE(body.rest().empty());
    EXPECT_FALSE(body.unpack(number));
    EXPECT_FALSE(body.ok());
}

TEST_F(LauncherMessage, DetectsEveryTruncation) {
    const Buffer body = pack(std::vector<ProcName>{{"nspace", 3}, {"other", 4}}, "data");
    for (size_t size = 0; size < body.rest().size(); ++size) {
        Buffer in(body.rest().substr(0, size));
        std::vector<ProcName> names;
        std::string text;
        EXPECT_FALSE(in.unpack(names, text)) << size;
    }
}

TEST_F(LauncherMessage, CountsAreCheckedBeforeAnythingIsAllocated) {
    Buffer body = pack(0xffffffffu);
    std::vector<ProcName> names;
    EXPECT_FALSE(body.unpack(names));
    EXPECT_TRUE(names.empty());
    Buffer long_text = pack(~uint64_t{0});
    std::string text;
    EXPECT_FALSE(long_text.unpack(text));
    EXPECT_TRUE(text.empty());
}

TEST_F(LauncherMessage, ACopyHoldsWhatIsNotUnpacked) {
    Buffer body = pack(1u, 2u);
    uint32_t first = 0, second = 0;
    ASSERT_TRUE(body.unpack(first));
    Buffer copy = body;
    EXPECT_TRUE(copy.unpack(second));
    EXPECT_EQ(second, 2u);
    EXPECT_TRUE(body.unpack(first));
    EXPECT_EQ(first, 2u);
}

/// Two ends of a link on one loop.
class LinkTest : public WithLibrary {
  protected:
    void SetUp() override {
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        here = std::make_unique<Link>(
            loop, fds[0], [](Topic, uint64_t, Buffer&) {}, [this] { here_closed = true; });
    }
    void make_there(Link::OnMessage on_message) {
        there = std::make_unique<Link>(loop, fds[1], std::move(on_message), [this] {
            there_closed = true;
            loop.quit();
        });
    }
    /// Runs until there is an answer, or an end is closed.
    void run() {
        const Watch limit = loop.after(std::chrono::seconds(10), [this] { loop.quit(); });
        loop.run();
    }
    Loop loop;
    int fds[2] = {-1, -1};
    std::unique_ptr<Link> here, there;
    bool here_closed = false, there_closed = false;
};

TEST_F(LinkTest, AQuestionIsAnsweredOnce) {
    make_there([this](Topic topic, uint64_t question, Buffer& in) {
        uint32_t number = 0;
        EXPECT_EQ(topic, Topic::Modex);
        EXPECT_TRUE(in.unpack(number));
        there->answer(question, PMIX_ERR_NOT_FOUND, pack(number + 1));
    });
    int answers = 0;
    uint32_t number = 0;
    here->ask(Topic::Modex, pack(4u), [&](pmix_status_t status, Buffer& in) {
        ++answers;
        EXPECT_EQ(status, PMIX_ERR_NOT_FOUND);
        EXPECT_TRUE(in.unpack(number));
        loop.quit();
    });
    run();
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(number, 5u);
    here->give_up();
    EXPECT_EQ(answers, 1);
}

TEST_F(LinkTest, AQuestionFailsWhenThePeerEnds) {
    make_there([](Topic, uint64_t, Buffer&) {});
    pmix_status_t answer = PMIX_SUCCESS;
    here->ask(Topic::Fence, {}, [&](pmix_status_t status, Buffer&) {
        answer = status;
        loop.quit();
    });
    there.reset();
    run();
    EXPECT_EQ(answer, PMIX_ERR_LOST_CONNECTION);
    EXPECT_TRUE(here_closed);
    answer = PMIX_SUCCESS;
    here->ask(Topic::Fence, {}, [&](pmix_status_t status, Buffer&) { answer = status; });
    EXPECT_EQ(answer, PMIX_ERR_LOST_CONNECTION);
}

TEST_F(LinkTest, ADamagedBodyEndsTheLink) {
    make_there([](Topic, uint64_t, Buffer& in) {
        std::vector<ProcName> names;
        EXPECT_FALSE(in.unpack(names));
    });
    here->tell(Topic::Rank, pack(0xffffffffu));
    run();
    EXPECT_TRUE(there_closed);
}

TEST_F(LinkTest, AnAnswerToNoQuestionEndsTheLink) {
    make_there([](Topic, uint64_t, Buffer&) { ADD_FAILURE(); });
    here->answer(77, PMIX_SUCCESS);
    run();
    EXPECT_TRUE(there_closed);
}

TEST_F(LinkTest, AHeaderThatIsNoneEndsTheLink) {
    make_there([](Topic, uint64_t, Buffer&) { ADD_FAILURE(); });
    const std::string bytes(64, '\xff');
    ASSERT_EQ(write(fds[0], bytes.data(), bytes.size()), 64);
    run();
    EXPECT_TRUE(there_closed);
}

}  // namespace
}  // namespace muster::launcher
