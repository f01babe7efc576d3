// SPDX-License-Identifier: BSD-3-Clause
// Admission of tools by a server in memory, and their names: with the host, without it, late, and repeated.
#include <filesystem>
#include <fstream>

#include "core/exchange/namespaces.hpp"
#include "core/query/query_server.hpp"
#include "tests/unit/core/in_memory/raw_peer.hpp"
#include "tests/unit/core/in_memory/tools.hpp"

namespace muster::testing_in_memory {
namespace {

class ToolAdmissions : public ToolsInMemory {
  protected:
    using ToolsInMemory::ToolsInMemory;

    RawPeer peer() { return RawPeer(node.server().uris()); }
    std::optional<ToolReply> reply(RawPeer& one, PeerKind kind) {
        std::optional<ReplyParser::Parsed> parsed;
        EXPECT_TRUE(until([&] { return (parsed = one.reply(kind)).has_value() || one.ended(); }));
        if (!parsed) return std::nullopt;
        return parsed->tool;
    }
    std::optional<pmix_status_t> verdict(const ConnectRequest& request) {
        RawPeer one = peer();
        EXPECT_TRUE(one.say(request));
        const auto answer = reply(one, request.kind);
        if (!answer) return std::nullopt;
        return answer->status;
    }
    static ConnectRequest named(const char* nspace, pmix_rank_t rank = 0) {
        return hello(PeerKind::ToolGivenId, nspace, rank);
    }
    static HostAnswer name(const char* nspace, pmix_rank_t rank) {
        HostAnswer answer;
        answer.proc = make_proc(nspace, rank);
        return answer;
    }
    bool knows(const char* nspace) {
        bool known = false;
        node.on_loop([&] { known = node.server().queries().namespaces().find(nspace) != nullptr; });
        return known;
    }
    void finalize(RawPeer& one) {
        Packer message(node.process().runtime().own_format());
        message.command(static_cast<uint8_t>(Command::Finalize));
        EXPECT_TRUE(one.say_frame(300, message.view()));
    }
    void without_host() {
        pmix_server_module_t without = FakeHost::module<0>();
        without.tool_connected = nullptr;
        without.tool_connected2 = nullptr;
        node.on_loop([&] { node.server().host().set_module(&without, sizeof without); });
    }
};

TEST_F(ToolAdmissions, TakeTheNameThatAToolHas) {
    RawPeer one = peer();
    EXPECT_TRUE(one.say(named("tool", 3)));
    const auto answer = reply(one, PeerKind::ToolGivenId);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, PMIX_SUCCESS);
    EXPECT_STREQ(answer->server.nspace, "server0");
    EXPECT_TRUE(knows("tool"));
    one.hang_up();
    settle();
    EXPECT_FALSE(knows("tool")) << "its namespace goes with it";
}

TEST_F(ToolAdmissions, TellTheHostWhoComes) {
    node.host.agreeable.erase("tool_connected");
    RawPeer one = peer();
    ConnectRequest request = named("tool", 3);
    Info about;
    about.add(PMIX_CMD_LINE, "tool --all");
    about.add(PMIX_USERID, uint32_t{4711});
    about.add(PMIX_NSPACE, "another");
    Packer packer(node.process().runtime().own_format());
    packer.infos(about);
    request.info_blob = packer.take();
    EXPECT_TRUE(one.say(request));
    const auto upcall = asked("tool_connected");
    const InfoView info = upcall->info;
    EXPECT_EQ(user_in(*upcall), own_user());
    EXPECT_STREQ(info.string(PMIX_NSPACE), "tool");
    EXPECT_STREQ(info.string(PMIX_CMD_LINE), "tool --all");
    EXPECT_TRUE(info.has(PMIX_VERSION_INFO));
    EXPECT_EQ(info.number<uint32_t>(PMIX_RANK), 3U);
    upcall->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    const auto answer = reply(one, PeerKind::ToolGivenId);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, PMIX_ERR_NO_PERMISSIONS);
    EXPECT_FALSE(knows("tool"));
}

TEST_F(ToolAdmissions, GiveANameToWhoHasNone) {
    node.host.agreeable.erase("tool_connected");
    RawPeer one = peer(), second = peer();
    EXPECT_TRUE(one.say(hello(PeerKind::ToolNeedsId)));
    asked("tool_connected")->answer(name("given", 5));
    const auto answer = reply(one, PeerKind::ToolNeedsId);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->assigned.has_value());
    EXPECT_STREQ(answer->assigned->nspace, "given");
    EXPECT_EQ(answer->assigned->rank, 5U);
    // The same name for another tool is refused, a different one is accepted.
    EXPECT_TRUE(second.say(hello(PeerKind::ToolNeedsId)));
    asked("tool_connected")->answer(name("given", 5));
    EXPECT_EQ(reply(second, PeerKind::ToolNeedsId)->status, PMIX_ERR_EXISTS);
    RawPeer third = peer();
    EXPECT_TRUE(third.say(hello(PeerKind::LauncherNeedsId)));
    asked("tool_connected")->answer(name("given", 6));
    EXPECT_EQ(reply(third, PeerKind::LauncherNeedsId)->status, PMIX_SUCCESS);
    EXPECT_EQ(connected(), 2U);
}

TEST_F(ToolAdmissions, RefuseWhoTheHostGivesNoName) {
    node.host.agreeable.erase("tool_connected");
    for (const auto& [nspace, rank] :
         {std::pair<const char*, pmix_rank_t>{"", 0}, {"given", PMIX_RANK_WILDCARD}}) {
        RawPeer one = peer();
        EXPECT_TRUE(one.say(hello(PeerKind::ToolNeedsId)));
        asked("tool_connected")->answer(name(nspace, rank));
        EXPECT_EQ(reply(one, PeerKind::ToolNeedsId)->status, PMIX_ERR_NOT_SUPPORTED);
    }
}

TEST_F(ToolAdmissions, GiveAnEndedToolsNameAgain) {
    node.host.agreeable.erase("tool_connected");
    RawPeer first = peer();
    EXPECT_TRUE(first.say(hello(PeerKind::ToolNeedsId)));
    asked("tool_connected")->answer(name("given", 0));
    EXPECT_EQ(reply(first, PeerKind::ToolNeedsId)->status, PMIX_SUCCESS);
    RawPeer second = peer();
    EXPECT_TRUE(second.say(hello(PeerKind::ToolNeedsId)));
    const auto upcall = asked("tool_connected");
    // Its finalize is unread, and its connection still open.
    finalize(first);
    upcall->answer(name("given", 0));
    EXPECT_EQ(reply(second, PeerKind::ToolNeedsId)->status, PMIX_SUCCESS);
    settle();
    EXPECT_EQ(connected(), 1U);
    EXPECT_TRUE(knows("given"));
}

TEST_F(ToolAdmissions, LetANamedToolComeAgain) {
    RawPeer first = peer();
    EXPECT_TRUE(first.say(named("tool")));
    EXPECT_EQ(reply(first, PeerKind::ToolGivenId)->status, PMIX_SUCCESS);
    EXPECT_EQ(verdict(named("tool")), PMIX_ERR_EXISTS) << "while it is there";
    finalize(first);
    RawPeer second = peer();
    EXPECT_TRUE(second.say(named("tool")));
    EXPECT_EQ(reply(second, PeerKind::ToolGivenId)->status, PMIX_SUCCESS);
    settle();
    EXPECT_EQ(node.host.count("client_finalized"), 1U);
    EXPECT_EQ(connected(), 1U);
    first.hang_up();
    settle();
    EXPECT_TRUE(knows("tool"));
}

TEST_F(ToolAdmissions, RefuseNamesThatAreNotTheirs) {
    node.add_job("job", 2);
    EXPECT_EQ(verdict(named("job", 7)), PMIX_ERR_EXISTS);
    EXPECT_EQ(verdict(named("server0", 1)), PMIX_ERR_EXISTS);
    EXPECT_EQ(verdict(named("tool", PMIX_RANK_WILDCARD)), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(verdict(hello(PeerKind::LegacyTool)), PMIX_ERR_NOT_SUPPORTED);
    ConnectRequest unproven = named("tool");
    unproven.psec = "unknown";
    EXPECT_EQ(verdict(unproven), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(node.host.count("tool_connected"), 0U);
}

TEST_F(ToolAdmissions, LetInAToolThatTheHostHasStarted) {
    node.add_job("job", 2);
    RawPeer one = peer();
    EXPECT_TRUE(one.say(hello(PeerKind::ToolClient, "job", 1)));
    EXPECT_EQ(reply(one, PeerKind::ToolClient)->status, PMIX_SUCCESS);
    one.hang_up();
    settle();
    EXPECT_TRUE(knows("job"));
    without_host();
    RawPeer again = peer();
    EXPECT_TRUE(again.say(hello(PeerKind::LauncherClient, "job", 1)));
    EXPECT_EQ(reply(again, PeerKind::LauncherClient)->status, PMIX_SUCCESS);
}

TEST_F(ToolAdmissions, NeedAHostThatDecides) {
    without_host();
    EXPECT_EQ(verdict(named("tool")), PMIX_ERR_NOT_SUPPORTED);
}

TEST_F(ToolAdmissions, TakeWhatTheHostRegistersWhileItIsAsked) {
    node.host.agreeable.erase("tool_connected");
    RawPeer one = peer();
    EXPECT_TRUE(one.say(hello(PeerKind::ToolNeedsId)));
    const auto upcall = asked("tool_connected");
    Info job;
    job.add(PMIX_JOB_SIZE, uint32_t{1});
    node.on_loop([&] { node.server().register_nspace("given", 1, job); });
    upcall->answer(name("given", 0));
    EXPECT_EQ(reply(one, PeerKind::ToolNeedsId)->status, PMIX_SUCCESS);
    // A namespace that was registered earlier is a separate job.
    node.add_job("job", 2);
    RawPeer second = peer();
    EXPECT_TRUE(second.say(hello(PeerKind::ToolNeedsId)));
    asked("tool_connected")->answer(name("job", 0));
    EXPECT_EQ(reply(second, PeerKind::ToolNeedsId)->status, PMIX_ERR_EXISTS);
}

TEST_F(ToolAdmissions, ForgetWhoLeavesWhileTheHostDecides) {
    node.host.agreeable.erase("tool_connected");
    for (int i = 0; i < 5; ++i) {
        RawPeer one = peer();
        EXPECT_TRUE(one.say(named("tool")));
        const auto upcall = asked("tool_connected");
        settle();
        one.hang_up();
        if (i % 2 == 0) settle();
        upcall->answer({});
        settle();
        EXPECT_FALSE(knows("tool"));
        EXPECT_EQ(connected(), 0U);
    }
}

TEST_F(ToolAdmissions, BoundToolsWithoutNamesThatWaitForTheHost) {
    node.host.agreeable.erase("tool_connected");
    std::vector<RawPeer> peers;
    for (int i = 0; i < 65; ++i) {
        peers.push_back(peer());
        EXPECT_TRUE(peers.back().say(hello(PeerKind::ToolNeedsId)));
        settle();
    }
    EXPECT_EQ(node.host.count("tool_connected"), 64U);
    EXPECT_TRUE(peers.back().ended());
    for (pmix_rank_t rank = 0; const auto upcall = node.host.take("tool_connected"); ++rank)
        upcall->answer(name("given", rank));
    settle();
    EXPECT_EQ(connected(), 64U);
}

TEST_F(ToolAdmissions, RemoveTheFilesOfAToolWhenItEnds) {
    for (const bool says_goodbye : {true, false}) {
        const TemporaryFolder folder;
        const std::string file = std::string(folder.path()) + "/file";
        std::ofstream(file) << "of the tool";
        RawPeer one = peer();
        EXPECT_TRUE(one.say(named("tool")));
        ASSERT_TRUE(reply(one, PeerKind::ToolGivenId).has_value());
        Packer message(node.process().runtime().own_format());
        message.command(static_cast<uint8_t>(Command::JobControl));
        Info what;
        what.add(PMIX_REGISTER_CLEANUP, file.c_str());
        message.procs(nullptr, 0).infos(what);
        EXPECT_TRUE(one.say_frame(301, message.view()));
        settle();
        EXPECT_TRUE(std::filesystem::exists(file));
        if (says_goodbye) finalize(one);
        one.hang_up();
        EXPECT_TRUE(until([&] { return !std::filesystem::exists(file); }));
    }
}

TEST_F(ToolAdmissions, TellToolsWhatTheServerItselfWrites) {
    RawPeer one = peer();
    EXPECT_TRUE(one.say(named("tool")));
    EXPECT_EQ(reply(one, PeerKind::ToolGivenId)->status, PMIX_SUCCESS);
    auto piece = std::make_shared<OutputPiece>();
    piece->source = node.process().self();
    piece->channel = PMIX_FWD_STDOUT_CHANNEL;
    piece->own_bytes.append("text", 4);
    piece->bytes = piece->own_bytes.view();
    node.on_loop([&] { node.server().forwarder().deliver(piece); });
    std::optional<RawPeer::Frame> frame;
    EXPECT_TRUE(until([&] { return (frame = one.frame()).has_value(); }));
    EXPECT_EQ(frame->tag, tag::kIof);
}

TEST_F(ToolAdmissions, GiveEachNameOnceInEveryOrder) {
    node.host.agreeable.erase("tool_connected");
    // Two tools to which the host assigns one name: they connect, are answered, and disconnect in every
    // order.
    in_every_order(6, [&](const std::vector<size_t>& order) {
        std::optional<RawPeer> peers[2];
        std::shared_ptr<Upcall> upcalls[2];
        bool left[2] = {false, false};
        for (const size_t step : order) {
            const size_t who = step % 2;
            if (step < 2) {
                peers[who].emplace(node.server().uris());
                EXPECT_TRUE(peers[who]->say(hello(PeerKind::ToolNeedsId)));
                upcalls[who] = asked("tool_connected");
            } else if (step < 4 && upcalls[who]) {
                std::exchange(upcalls[who], nullptr)->answer(name("one", 0));
            } else if (step >= 4 && peers[who]) {
                peers[who]->hang_up();
                left[who] = true;
            }
            for (int turn = 0; turn < 8; ++turn)
                node.turn();
        }
        for (const auto& upcall : upcalls) {
            if (upcall) upcall->answer(name("one", 0));
        }
        settle();
        size_t in = 0;
        for (size_t who = 0; who < 2; ++who) {
            if (left[who]) continue;
            const auto answer = reply(*peers[who], PeerKind::ToolNeedsId);
            ASSERT_TRUE(answer.has_value());
            EXPECT_TRUE(answer->status == PMIX_SUCCESS || answer->status == PMIX_ERR_EXISTS);
            in += answer->status == PMIX_SUCCESS ? 1 : 0;
        }
        EXPECT_LE(in, 1U);
        EXPECT_EQ(connected(), in);
        EXPECT_EQ(knows("one"), in == 1);
        for (auto& one : peers)
            if (one) one->hang_up();
        settle();
        EXPECT_FALSE(knows("one"));
    });
}

/// A server that does not accept tools.
class ToolsNotAllowed : public ToolAdmissions {
  protected:
    ToolsNotAllowed() : ToolAdmissions(Info()) {}
};

TEST_F(ToolsNotAllowed, AreRefusedWithoutAskingTheHost) {
    EXPECT_EQ(verdict(named("tool")), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(verdict(hello(PeerKind::ToolNeedsId)), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(node.host.count("tool_connected"), 0U);
    node.add_job("job", 1);
    RawPeer started = peer();
    EXPECT_TRUE(started.say(hello(PeerKind::ToolClient, "job", 0)));
    EXPECT_EQ(reply(started, PeerKind::ToolClient)->status, PMIX_SUCCESS) << "one that the host has started";
}

}  // namespace
}  // namespace muster::testing_in_memory
