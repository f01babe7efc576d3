// SPDX-License-Identifier: BSD-3-Clause
// Admission of clients by a server in memory: names, credentials and encodings, hosts that refuse or answer
// late, and peers that disconnect meanwhile.
#include "core/server/admissions.hpp"

#include "tests/unit/core/in_memory/raw_peer.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {
namespace {

class AdmissionsInMemory : public ServicesInMemory {
  protected:
    RawPeer peer() { return RawPeer(node.server().uris()); }
    static ConnectRequest client(pmix_rank_t rank = 0, const char* nspace = "job") {
        return hello(PeerKind::Client, nspace, rank);
    }
    /// The status in the server's answer; nothing if it only closes the connection.
    std::optional<pmix_status_t> verdict(RawPeer& one, PeerKind kind = PeerKind::Client) {
        std::optional<ReplyParser::Parsed> reply;
        EXPECT_TRUE(until([&] { return (reply = one.reply(kind)).has_value() || one.ended(); }));
        if (!reply) return std::nullopt;
        return reply->tool.status;
    }
    std::optional<pmix_status_t> verdict(const ConnectRequest& request) {
        RawPeer one = peer();
        EXPECT_TRUE(one.say(request));
        return verdict(one, request.kind);
    }
    size_t connected() {
        size_t count = 0;
        node.on_loop([&] { count = node.server().peers().size(); });
        return count;
    }
    Bytes info_blob(const Info& info) {
        Packer packer(node.process().runtime().own_format());
        packer.infos(info);
        return packer.take();
    }
    /// Requests the job's data; returns whether an answer arrives.
    bool is_served(RawPeer& one) {
        Packer question(node.process().runtime().own_format());
        question.command(static_cast<uint8_t>(Command::JobInfo));
        EXPECT_TRUE(one.say_frame(101, question.view()));
        std::optional<RawPeer::Frame> frame;
        EXPECT_TRUE(until([&] { return (frame = one.frame()).has_value() || one.ended(); }));
        return frame.has_value() && frame->tag == 101;
    }
};

TEST_F(AdmissionsInMemory, LetInWhoIsRegistered) {
    node.add_job("job", 2);
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
    EXPECT_EQ(connected(), 1U);
    EXPECT_TRUE(is_served(one));
    EXPECT_EQ(node.host.count("client_connected"), 1U);
}

TEST_F(AdmissionsInMemory, RefuseWhoIsNotRegistered) {
    node.add_job("job", 1);
    EXPECT_EQ(verdict(client(1)), std::nullopt);
    EXPECT_EQ(verdict(client(0, "other")), std::nullopt);
    EXPECT_EQ(verdict(client(PMIX_RANK_WILDCARD)), std::nullopt);
    EXPECT_EQ(node.host.count("client_connected"), 0U);
    EXPECT_EQ(connected(), 0U);
}

TEST_F(AdmissionsInMemory, RefuseWrongNamesOfAnything) {
    node.add_job("job", 1);
    const auto refused = [&](const std::function<void(ConnectRequest&)>& spoil) {
        ConnectRequest request = client();
        spoil(request);
        return !verdict(request).has_value();
    };
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.version = "latest"; }));
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.buffer_type = 7; }));
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.gds = "ds12"; }));
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.gds = ""; }));
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.info_blob.append("\x01\x02\x03", 3); }));
    EXPECT_TRUE(refused([](ConnectRequest& request) { request.kind = PeerKind::Singleton; }));
    EXPECT_EQ(connected(), 0U);
    EXPECT_FALSE(refused([](ConnectRequest&) {}));
}

// OpenPMIx 3.2 sends "v3", 2.0 sends nothing.
TEST_F(AdmissionsInMemory, TellWhoseEncodingIsUnknown) {
    node.add_job("job", 1);
    for (const char* encoding : {"v3", "v99", ""}) {
        ConnectRequest request = client();
        request.version = "3.2.5";
        request.bfrops = encoding;
        EXPECT_EQ(verdict(request), PMIX_ERR_NOT_SUPPORTED) << encoding;
    }
    EXPECT_EQ(connected(), 0U);
}

TEST_F(AdmissionsInMemory, TellWhoseProofIsWrong) {
    node.add_job("job", 1);
    ConnectRequest request = client();
    request.psec = "munge";
    EXPECT_EQ(verdict(request), PMIX_ERR_INVALID_CRED);
    request = client();
    request.psec = "";
    EXPECT_EQ(verdict(request), PMIX_ERR_INVALID_CRED);
    // The process is registered for another user.
    node.on_loop([&] { node.server().register_client(make_proc("job", 1), geteuid() + 1, 1, nullptr); });
    EXPECT_EQ(verdict(client(1)), PMIX_ERR_INVALID_CRED);
}

TEST_F(AdmissionsInMemory, RefuseWhoSaysToBeAnotherUser) {
    node.add_job("job", 1);
    Info info;
    info.add(PMIX_USERID, uint32_t{geteuid() + 1});
    ConnectRequest request = client();
    request.info_blob = info_blob(info);
    EXPECT_EQ(verdict(request), PMIX_ERR_INVALID_CRED);
    info.clear();
    info.add(PMIX_GRPID, "wheel");
    request.info_blob = info_blob(info);
    EXPECT_EQ(verdict(request), PMIX_ERR_INVALID_CRED);
    info.clear();
    info.add(PMIX_USERID, uint32_t{geteuid()});
    info.add(PMIX_GRPID, uint32_t{getegid()});
    request.info_blob = info_blob(info);
    EXPECT_EQ(verdict(request), PMIX_SUCCESS);
}

TEST_F(AdmissionsInMemory, WaitForTheHost) {
    node.add_job("job", 1);
    node.host.agreeable.erase("client_connected");
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    const auto upcall = asked("client_connected");
    settle();
    EXPECT_FALSE(one.reply(PeerKind::Client).has_value());
    upcall->answer({});
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
}

TEST_F(AdmissionsInMemory, TellWhatTheHostSays) {
    node.add_job("job", 1);
    node.host.agreeable.erase("client_connected");
    RawPeer late = peer();
    EXPECT_TRUE(late.say(client()));
    asked("client_connected")->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(verdict(late), PMIX_ERR_NO_PERMISSIONS);
    node.host.returns["client_connected"] = PMIX_ERR_OUT_OF_RESOURCE;
    EXPECT_EQ(verdict(client()), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(connected(), 0U);
}

TEST_F(AdmissionsInMemory, ForgetWhoLeavesBeforeTheHostDecides) {
    node.add_job("job", 1);
    node.host.agreeable.erase("client_connected");
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    const auto upcall = asked("client_connected");
    settle();
    one.hang_up();
    settle();
    upcall->answer({});
    settle();
    EXPECT_EQ(connected(), 0U);
}

TEST_F(AdmissionsInMemory, KeepWhoTalksBeforeItsTurn) {
    node.add_job("job", 1);
    node.host.agreeable.erase("client_connected");
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    const auto upcall = asked("client_connected");
    settle();
    Packer question(node.process().runtime().own_format());
    question.command(static_cast<uint8_t>(Command::JobInfo));
    EXPECT_TRUE(one.say_frame(105, question.view()));
    settle();
    upcall->answer({});
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
    std::optional<RawPeer::Frame> frame;
    EXPECT_TRUE(until([&] { return (frame = one.frame()).has_value(); }));
    EXPECT_EQ(frame->tag, 105U);
}

TEST_F(AdmissionsInMemory, AnswerWhatComesWithTheRequest) {
    node.add_job("job", 1);
    RawPeer one = peer();
    Bytes both = build_connect_request(client());
    Packer question(node.process().runtime().own_format());
    question.command(static_cast<uint8_t>(Command::JobInfo));
    uint8_t header[Channel::kHeaderSize] = {};
    store_be32(&header[4], 111);
    store_be32(&header[8], static_cast<uint32_t>(question.length()));
    both.append(header, sizeof header);
    both.append(question.view());
    EXPECT_TRUE(one.say(both.view()));
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
    std::optional<RawPeer::Frame> frame;
    EXPECT_TRUE(until([&] { return (frame = one.frame()).has_value(); }));
    EXPECT_EQ(frame->tag, 111U);
}

TEST_F(AdmissionsInMemory, TellWhoseNamespaceWasRefused) {
    node.register_client("job", 0);
    RawPeer early = peer();
    EXPECT_TRUE(early.say(client()));
    EXPECT_EQ(verdict(early), PMIX_SUCCESS);
    Packer question(node.process().runtime().own_format());
    question.command(static_cast<uint8_t>(Command::JobInfo));
    EXPECT_TRUE(early.say_frame(101, question.view()));
    settle();
    EXPECT_FALSE(early.frame().has_value());
    const auto register_nspace = [&](const char* ranks) {
        Info info;
        info.add(PMIX_JOB_SIZE, 2U);
        info.add(PMIX_NODE_MAP, "node0");
        info.add(PMIX_PROC_MAP, ranks);
        pmix_status_t status = PMIX_ERROR;
        node.on_loop([&] { status = node.server().register_nspace("job", 2, info); });
        return status;
    };
    ASSERT_EQ(register_nspace("0,0"), PMIX_ERR_BAD_PARAM);
    std::optional<RawPeer::Frame> frame;
    ASSERT_TRUE(until([&] { return (frame = early.frame()).has_value(); }));
    pmix_status_t told = PMIX_SUCCESS;
    EXPECT_TRUE(Unpacker(node.process().runtime().own_format(), frame->payload).status(told));
    EXPECT_EQ(told, PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(verdict(client()), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(verdict(client(1)), PMIX_ERR_BAD_PARAM);
    node.on_loop([&] {
        EXPECT_EQ(node.server().register_client(make_proc("job", 1), 0, 0, nullptr), PMIX_ERR_BAD_PARAM);
        EXPECT_EQ(node.server().refusal("job"), PMIX_ERR_BAD_PARAM);
    });
    ASSERT_EQ(register_nspace("0,1"), PMIX_SUCCESS);
    RawPeer late = peer();
    EXPECT_TRUE(late.say(client()));
    EXPECT_EQ(verdict(late), PMIX_SUCCESS);
    EXPECT_TRUE(is_served(late));
}

TEST_F(AdmissionsInMemory, RefuseWhoIsDeregisteredMeanwhile) {
    node.add_job("job", 1);
    node.host.agreeable.erase("client_connected");
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    const auto upcall = asked("client_connected");
    node.on_loop([&] { node.server().deregister_client(make_proc("job", 0), [] {}); });
    upcall->answer({});
    EXPECT_EQ(verdict(one), PMIX_ERR_NOT_FOUND);
}

TEST_F(AdmissionsInMemory, BoundWhatWaitsForTheHost) {
    node.add_job("job", 2);
    node.host.agreeable.erase("client_connected");
    std::vector<RawPeer> peers;
    for (int i = 0; i < 65; ++i) {
        peers.push_back(peer());
        EXPECT_TRUE(peers.back().say(client()));
        settle();
    }
    EXPECT_EQ(node.host.count("client_connected"), 64U);
    EXPECT_TRUE(peers.back().ended());
    // Another process has its own limit.
    RawPeer other = peer();
    EXPECT_TRUE(other.say(client(1)));
    EXPECT_TRUE(until([&] { return node.host.count("client_connected") == 65; }));
    // Once they are answered, requests are accepted again.
    while (const auto upcall = node.host.take("client_connected"))
        upcall->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(verdict(other), PMIX_ERR_NO_PERMISSIONS);
    RawPeer again = peer();
    EXPECT_TRUE(again.say(client()));
    asked("client_connected")->answer({});
    EXPECT_EQ(verdict(again), PMIX_SUCCESS);
}

TEST_F(AdmissionsInMemory, BoundTheConnectionsOfAProcess) {
    node.add_job("job", 1);
    std::vector<RawPeer> peers;
    for (int i = 0; i < 257; ++i) {
        peers.push_back(peer());
        EXPECT_TRUE(peers.back().say(client()));
        EXPECT_EQ(verdict(peers.back()), PMIX_SUCCESS);
    }
    EXPECT_EQ(verdict(client()), std::nullopt);
    peers[100].hang_up();
    settle();
    EXPECT_EQ(verdict(client()), PMIX_SUCCESS);
}

TEST_F(AdmissionsInMemory, KnowAProcessThatFinalizesAndComesAgain) {
    start(2);
    for (int round = 0; round < 3; ++round) {
        const Call left = call(node.client(0), [&](HostDone done) {
            node.client(0).client()->finalize(std::chrono::seconds(2), false,
                                              [done](pmix_status_t status) { done(answer_of(status)); });
        });
        EXPECT_EQ(status_of(left), PMIX_SUCCESS);
        EXPECT_EQ(node.host.count("client_finalized"), static_cast<size_t>(round) + 1);
        node.add_client("job", 0);
        settle();
        EXPECT_EQ(connected(), 2U);
    }
}

TEST_F(AdmissionsInMemory, EndTheConnectionOfWhoSpeaksNoProtocol) {
    node.add_job("job", 1);
    RawPeer garbage = peer();
    Bytes bytes;
    bytes.append("GET / HTTP/1.1\r\n\r\n", 18);
    EXPECT_TRUE(garbage.say(bytes.view()));
    EXPECT_TRUE(until([&] { return garbage.ended(); }));
    // The same for a message without a command.
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
    EXPECT_TRUE(one.say_frame(100, {}));
    EXPECT_TRUE(until([&] { return one.ended(); }));
}

TEST_F(AdmissionsInMemory, DropWhoSaysNothing) {
    RawPeer silent = peer(), half = peer();
    settle();
    const Bytes whole = build_connect_request(client());
    EXPECT_TRUE(half.say(whole.view().first(20)));
    settle();
    pass(std::chrono::seconds(20));
    EXPECT_FALSE(silent.ended());
    pass(std::chrono::seconds(11));
    EXPECT_TRUE(until([&] { return silent.ended() && half.ended(); }));
}

TEST_F(AdmissionsInMemory, AnswerUnknownAndTruncatedCommands) {
    node.add_job("job", 1);
    RawPeer one = peer();
    EXPECT_TRUE(one.say(client()));
    EXPECT_EQ(verdict(one), PMIX_SUCCESS);
    for (int code = 0; code < 256; ++code) {
        const auto command = static_cast<Command>(code);
        // These have no answer, end the connection, or need only their number.
        if (command == Command::Post || command == Command::AllArrived || command == Command::Report ||
            command == Command::GroupJoin || command == Command::DeregisterEvents ||
            command == Command::Finalize || command == Command::JobInfo || command == Command::Commit)
            continue;
        Packer message(node.process().runtime().own_format());
        message.command(static_cast<uint8_t>(code));
        EXPECT_TRUE(one.say_frame(200 + static_cast<uint32_t>(code), message.view()));
        std::optional<RawPeer::Frame> frame;
        ASSERT_TRUE(until([&] { return (frame = one.frame()).has_value() || one.ended(); })) << code;
        ASSERT_TRUE(frame.has_value()) << code;
        EXPECT_EQ(frame->tag, 200U + static_cast<uint32_t>(code));
        Unpacker in(node.process().runtime().own_format(), frame->payload);
        pmix_status_t status = PMIX_SUCCESS;
        EXPECT_TRUE(in.status(status));
        EXPECT_NE(status, PMIX_SUCCESS) << code;
    }
    EXPECT_TRUE(is_served(one)) << "the connection lives on";
}

TEST_F(AdmissionsInMemory, AnswerEachPeerOnceInEveryOrder) {
    // Two connections of one process, the host's answers, and the end of each connection.
    node.host.agreeable.erase("client_connected");
    int round = 0;
    in_every_order(6, [&](const std::vector<size_t>& order) {
        const std::string job = "job" + std::to_string(++round);
        node.add_job(job.c_str(), 1);
        std::optional<RawPeer> peers[2];
        std::shared_ptr<Upcall> upcalls[2];
        bool left[2] = {false, false}, let_in[2] = {false, false};
        for (const size_t step : order) {
            const size_t who = step % 2;
            if (step < 2) {
                peers[who].emplace(node.server().uris());
                EXPECT_TRUE(peers[who]->say(client(0, job.c_str())));
                upcalls[who] = asked("client_connected");
            } else if (step < 4 && upcalls[who]) {
                upcalls[who]->answer({});
                let_in[who] = !left[who];
                upcalls[who] = nullptr;
            } else if (step >= 4 && peers[who]) {
                peers[who]->hang_up();
                left[who] = true;
            }
            for (int turn = 0; turn < 8; ++turn)
                node.turn();
        }
        size_t expected = 0;
        for (size_t who = 0; who < 2; ++who) {
            if (upcalls[who]) {
                upcalls[who]->answer({});
                let_in[who] = !left[who];
            }
            expected += let_in[who] && !left[who] ? 1 : 0;
        }
        settle();
        EXPECT_EQ(connected(), expected);
        for (size_t who = 0; who < 2; ++who) {
            if (!let_in[who] || left[who]) continue;
            EXPECT_EQ(verdict(*peers[who]), PMIX_SUCCESS);
        }
        node.on_loop([&] { node.server().deregister_nspace(job.c_str(), [] {}); });
        settle();
        EXPECT_EQ(connected(), 0U);
    });
}

}  // namespace
}  // namespace muster::testing_in_memory
