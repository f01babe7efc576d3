// SPDX-License-Identifier: BSD-3-Clause
// Bad peers: a server refuses or drops a peer with a false identity, or with partial, no or malformed input,
// with one line in the log. The server and all other peers continue.
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <pmix.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>

#include "tests/covers.hpp"
#include "tests/integration/bad_input.hpp"

namespace {

using namespace integration;

// --- the handshake ---

class OtherUser : public BadInput, public testing::WithParamInterface<RawPeer::Way> {};

TEST_P(OtherUser, ConnectionsAreRefusedForAnyClaimedUser) {
    covers("SRV-30");
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    if (GetParam() == RawPeer::Way::Tcp) {
        const int diagnosis = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        if (diagnosis < 0)
            GTEST_SKIP() << "the kernel does not say who is at the other end of a TCP connection";
        close(diagnosis);
    }
    const auto request = build_connect_request(honest());
    const auto environment = host_->environment(job_, 0);
    const pid_t child = fork();
    if (child == 0) {
        // It claims to be root, as its job was registered; the kernel reports another user.
        if (setresgid(12345, 12345, 12345) != 0 || setresuid(12345, 12345, 12345) != 0) _exit(2);
        RawPeer raw(environment, GetParam());
        if (!raw.connected())
            _exit(GetParam() == RawPeer::Way::Tcp ? 3 : 0);  // the file's mode may exclude it as well
        raw.say(request.view());
        const auto reply = raw.hear(8);
        const bool accepted = reply.size() == 8 && reply[0] == 0;
        _exit(accepted ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(host_->upcalls("connected").empty());
    EXPECT_EQ(lines_with(log(), "refused client"), 1U);
}

INSTANTIATE_TEST_SUITE_P(By, OtherUser, testing::Values(RawPeer::Way::Local, RawPeer::Way::Tcp),
                         [](const auto& test) {
                             return std::string(test.param == RawPeer::Way::Local ? "socket" : "tcp");
                         });

TEST_F(BadInput, AWrongCredentialIsRefusedWithOneMessage) {
    covers("SRV-30");
    std::vector<std::string> credentials{"", "1234567", "123456789", std::string(8, '\x7f'),
                                         std::string(100000, 'c')};
    for (const std::string& credential : credentials) {
        ConnectRequest request = honest();
        request.credential = Bytes();
        request.credential.append(credential.data(), credential.size());
        expect_refused(request, ("credential of " + std::to_string(credential.size())).c_str());
    }
    EXPECT_TRUE(host_->upcalls("connected").empty());
    EXPECT_EQ(lines_with(log(), "refused client"), credentials.size());
}

TEST_F(BadInput, WrongNamesAreRefusedWithOneMessage) {
    size_t tried = 0;
    const auto with = [&](const char* what, auto change) {
        ConnectRequest request = honest();
        change(request);
        expect_refused(request, what);
        ++tried;
    };
    for (const char* name : {"none", "munge", "", "native,none", "dummy_handshake"})
        with("security", [&](ConnectRequest& request) { request.psec = name; });
    for (const char* name : {"v99", "", "V41", "%s%n"})
        with("encoding", [&](ConnectRequest& request) { request.bfrops = name; });
    for (const char* name : {"ds21", "", "shmem9", "../hash"})
        with("store", [&](ConnectRequest& request) { request.gds = name; });
    for (const char* text : {"", "garbage", "v", "-1.-1", "%n%n%n"})
        with("version", [&](ConnectRequest& request) { request.version = text; });
    with("version", [&](ConnectRequest& request) { request.version = std::string(50000, '.'); });
    for (const uint8_t type : {uint8_t{0}, uint8_t{7}, uint8_t{255}})
        with("buffers", [&](ConnectRequest& request) { request.buffer_type = type; });
    for (const pmix_rank_t rank : {3U, PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF, PMIX_RANK_INVALID})
        with("rank", [&](ConnectRequest& request) { request.rank = rank; });
    with("namespace", [&](ConnectRequest& request) { request.nspace = "job of somebody"; });
    with("namespace", [&](ConnectRequest& request) { request.nspace = ""; });
    with("info", [&](ConnectRequest& request) {
        const std::string rubbish = "\x05\xff\xff\xff\xff\xff\xffrubbish";
        request.info_blob.append(rubbish.data(), rubbish.size());
    });
    for (const char* key : {PMIX_USERID, PMIX_GRPID}) {
        // Also after a valid one.
        for (const uint32_t first : {0U, 1U}) {
            with("user", [&](ConnectRequest& request) {
                const uint32_t mine = muster::key_is(key, PMIX_USERID) ? geteuid() : getegid();
                muster::Info claims;
                claims.add(key, mine + first);
                claims.add(key, mine + 1);
                Packer packed(format());
                packed.infos(claims);
                request.info_blob.append(packed.view().data(), packed.view().size());
            });
        }
    }
    EXPECT_TRUE(host_->upcalls("connected").empty());
    const std::string text = log();
    EXPECT_EQ(lines_with(text, "refused") + lines_with(text, "dropped"), tried) << text;
}

TEST_F(BadInput, PartialHandshakesAreDropped) {
    const Bytes whole = build_connect_request(honest());
    size_t tried = 0;
    for (size_t length = 0; length < whole.size(); length += 5, ++tried) {
        RawPeer raw = peer();
        ASSERT_TRUE(raw.say(whole.view().first(length)));
        raw.hang_up();
    }
    expect_health();
    const std::string text = log();
    EXPECT_EQ(lines_with(text, "dropped a connection"), tried) << text;
}

TEST_F(BadInput, SilentConnectionsTimeOutWithoutBlockingOthers) {
    const Bytes whole = build_connect_request(honest());
    std::vector<RawPeer> silent;
    for (size_t i = 0; i < 20; ++i) {
        silent.push_back(peer());
        ASSERT_TRUE(silent.back().say(whole.view().first(i * 2)));
    }
    expect_health();
    for (RawPeer& raw : silent)
        EXPECT_TRUE(raw.dropped());
    EXPECT_EQ(lines_with(log(), "it said nothing in time"), silent.size());
}

TEST_F(BadInput, AcceptPausesWhenDescriptorsRunOutAndResumesLater) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto environment = host_->environment(job_, 0);
    // One descriptor is left, which the peer's end uses; none is left for the server's end.
    const int free = dup(STDERR_FILENO);
    ASSERT_GE(free, 0);
    close(free);
    rlimit tight = limit;
    tight.rlim_cur = static_cast<rlim_t>(free) + 1;
    const auto written = [] {
        struct stat facts {};
        return fstat(STDERR_FILENO, &facts) == 0 ? facts.st_size : 0;
    };
    const off_t before = written();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto begin = std::chrono::steady_clock::now();
    RawPeer waits(environment);
    // Waits for the server's message, and leaves time for an endless repetition.
    for (int i = 0; i < 20000 && written() == before; ++i)
        usleep(1000);
    EXPECT_NE(written(), before) << "the server does not look";
    usleep(500000);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(waits.connected());
    expect_health();
    const std::string text = log();
    const size_t lines = lines_with(text, "Too many open files");
    EXPECT_GE(lines, 1U) << text;
    EXPECT_LT(lines, static_cast<size_t>(4 + took / std::chrono::milliseconds(100)));
}

TEST_F(BadInput, ConnectionsWaitWithoutSpinningWhenNoDescriptorIsAllowed) {
    const auto environment = host_->environment(job_, 0);
    const auto request = build_connect_request(honest());
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    // In a separate process, without that limit.
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        char byte = 0;
        if (read(go[0], &byte, 1) != 1) _exit(2);
        RawPeer raw(environment);
        if (!raw.connected() || !raw.say(request.view())) _exit(3);
        _exit(raw.hear(8, 60).size() == 8 ? 0 : 4);
    }
    close(go[0]);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlimit none = limit;
    none.rlim_cur = 1;
    const auto written = [] {
        struct stat facts {};
        return fstat(STDERR_FILENO, &facts) == 0 ? facts.st_size : 0;
    };
    const off_t before = written();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(write(go[1], "g", 1), 1);
    for (int i = 0; i < 20000 && written() == before; ++i)
        usleep(1000);
    EXPECT_NE(written(), before) << "the server does not look";
    usleep(500000);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    close(go[1]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "it was not let in later";
    expect_health();
    const size_t lines = lines_with(log(), "Too many open files");
    EXPECT_GE(lines, 1U);
    EXPECT_LT(lines, static_cast<size_t>(4 + took / std::chrono::milliseconds(100)));
}

TEST_F(BadInput, GarbageIsDropped) {
    std::mt19937 random(20260117);
    for (int i = 0; i < 200; ++i) {
        RawPeer raw = peer();
        ASSERT_TRUE(raw.connected());
        std::vector<uint8_t> bytes(random() % 3000);
        for (uint8_t& byte : bytes)
            byte = static_cast<uint8_t>(random());
        // Half of them with a valid header.
        if (i % 2 == 0 && bytes.size() >= 16) {
            std::fill(bytes.begin(), bytes.begin() + 16, uint8_t{0});
            std::fill(bytes.begin(), bytes.begin() + 8, uint8_t{0xff});
            const uint32_t length = static_cast<uint32_t>(bytes.size() - 16);
            std::memcpy(&bytes[8], &length, sizeof length);
        }
        raw.say(bytes);
        raw.hang_up();
    }
    RawPeer browser = peer();
    browser.say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(browser.dropped());
    EXPECT_TRUE(host_->upcalls("connected").empty());
}

// --- requests ---

TEST_F(BadInput, UnknownCommandsAreAnsweredAndTheConnectionStaysOpen) {
    RawPeer raw = accepted();
    uint32_t tag = 100;
    for (const uint8_t code : {uint8_t{36}, uint8_t{99}, uint8_t{255}}) {
        const Packer request = command(code);
        ASSERT_TRUE(raw.say_frame(++tag, request.view()));
        const auto reply = raw.hear_frame();
        muster::Unpacker in(format(), reply);
        pmix_status_t status = PMIX_SUCCESS;
        ASSERT_TRUE(in.status(status)) << int(code);
        EXPECT_EQ(status, PMIX_ERR_NOT_SUPPORTED);
    }
    EXPECT_EQ(lines_with(log(), "which is not known here"), 3U);
}

TEST_F(BadInput, MalformedMessagesCloseTheConnectionWithOneMessage) {
    RawPeer empty = accepted(0);
    ASSERT_TRUE(empty.say_frame(101, {}));
    EXPECT_TRUE(empty.dropped());
    RawPeer huge = accepted(1);
    std::vector<uint8_t> header(16, 0);
    muster::store_be32(&header[8], 0x7fffffff);
    ASSERT_TRUE(huge.say(header));
    EXPECT_TRUE(huge.dropped());
    expect_health();
    const std::string text = log();
    EXPECT_EQ(lines_with(text, "cannot be read"), 1U) << text;
    EXPECT_EQ(lines_with(text, "more than the limit"), 1U) << text;
}

TEST_F(BadInput, TruncatedRequestsOfEveryCommandAreAnsweredWithAnError) {
    // A value of every type used in requests; truncated at each byte.
    Packer tail(format());
    const pmix_proc_t proc = [&] {
        pmix_proc_t all;
        memset(&all, 0, sizeof all);
        snprintf(all.nspace, sizeof all.nspace, "%s", job_.nspace.c_str());
        all.rank = 0;
        return all;
    }();
    muster::Info info;
    info.add(PMIX_TIMEOUT, 1);
    tail.procs(&proc, 1).infos(info).string("text").status(-1).size(3);
    for (uint8_t code = 0; code < 42; ++code) {
        if (code == static_cast<uint8_t>(Command::Finalize)) continue;
        RawPeer raw = accepted(0);
        uint32_t tag = 100;
        for (size_t length = 0; length <= tail.length(); length += 3) {
            Packer request = command(code);
            request.raw(tail.view().first(length));
            if (!raw.say_frame(++tag, request.view())) break;
        }
        raw.hang_up();
    }
    expect_health();
}

/// The bytes that a client of the capture sent, in pieces.
std::vector<std::vector<uint8_t>> said_in(const std::string& name) {
    std::ifstream file(std::string(MUSTER_TEST_DATA) + "/golden/" + name + ".cap");
    EXPECT_TRUE(file.good()) << name;
    std::vector<std::vector<uint8_t>> pieces;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("C1 > ", 0) == 0) pieces.push_back(muster::test::from_hex(line.substr(5)));
    }
    return pieces;
}

class Mutated : public BadInput, public testing::WithParamInterface<const char*> {};

TEST_P(Mutated, CapturesDoNotStopTheServer) {
    Host::Job recorded{"goldns", {{0, 1}}};
    ASSERT_EQ(host_->register_job(recorded), PMIX_SUCCESS);
    for (const pmix_rank_t rank : {0U, 1U})
        ASSERT_EQ(host_->register_client(recorded, rank, geteuid(), getegid()), PMIX_SUCCESS);
    auto pieces = said_in(GetParam());
    ASSERT_GT(pieces.size(), 1U);
    // The recorded client was root; it is replaced by the user of this test.
    const uint32_t ids[2] = {geteuid(), getegid()};
    std::memcpy(&pieces[0][16 + sizeof "native" + 4], ids, sizeof ids);
    const auto environment = host_->environment(recorded, 0);
    for (uint32_t seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        RawPeer raw(environment);
        ASSERT_TRUE(raw.connected()) << seed;
        for (size_t i = 0; i < pieces.size(); ++i) {
            auto bytes = pieces[i];
            // The handshake itself only occasionally, so that the later frames are reached.
            const bool spoil = i == 0 ? seed % 10 == 9 : random() % 2 == 0;
            for (uint32_t n = spoil && !bytes.empty() ? 1 + random() % 4 : 0; n > 0; --n) {
                uint8_t& byte = bytes[random() % bytes.size()];
                byte = random() % 2 == 0 ? static_cast<uint8_t>(random())
                                         : static_cast<uint8_t>(byte ^ (1U << random() % 8));
            }
            if (spoil && random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
            if (!raw.say(bytes)) break;
            // A peer that does not wait for the answer is refused.
            if (i == 0) raw.hear(8, spoil ? 0.02 : 10);
        }
        raw.hang_up();
    }
    size_t let_in = 0;
    for (const auto& upcall : host_->upcalls("connected"))
        let_in += recorded.nspace == upcall.proc.nspace ? 1U : 0U;
    EXPECT_GE(let_in, 100U) << "the requests did not reach the server";
    expect_health();
}

INSTANTIATE_TEST_SUITE_P(Of, Mutated,
                         testing::Values("4.2.2-abort-rank0", "4.2.2-group-rank0", "5.0.11-basic-rank0",
                                         "5.0.11-fully-described-rank0", "6.1.0-basic-rank0",
                                         "6.1.0-services-rank0", "6.1.0-put-group-rank1",
                                         "6.1.0-spawn-resolve-rank0"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), '.', '_');
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

// --- clients that die ---

TEST_F(BadInput, AFenceFailsWhenAClientIsKilledBeforeIt) {
    auto dies = host_->start(job_, 0, {"init"});
    ASSERT_EQ(dies.line(), "INIT");
    auto waits = host_->start(job_, 1, {"fence", "0", "not", std::to_string(PMIX_ERR_LOST_CONNECTION)});
    ASSERT_EQ(waits.line(), "INIT");
    ASSERT_EQ(waits.line(), "FENCING");
    dies.signal(SIGKILL);
    EXPECT_EQ(waits.wait(), 0);
    EXPECT_EQ(lines_with(log(), "lost the connection to client"), 1U);
}

TEST_F(BadInput, AClientKilledInAFenceDoesNotFailOtherProcesses) {
    const auto job = host_->start_job(2, 1);  // the host takes part
    host_->hold("fence");
    auto dies = host_->start(job, 0, {"fence", "0", "collect"});
    auto lives = host_->start(job, 1, {"fence", "0", "collect"});
    ASSERT_TRUE(host_->wait_for("fence", 1));
    dies.signal(SIGKILL);
    EXPECT_EQ(dies.wait(), 128 + SIGKILL);
    host_->release("fence");
    EXPECT_EQ(lives.wait(), 0);
}

TEST_F(BadInput, AClientKilledInAGetDoesNotFailOtherProcesses) {
    auto dies = host_->start(job_, 0, {"get", "1", "test.posted", "1"});
    ASSERT_EQ(dies.line(), "INIT");
    auto posts = host_->start(job_, 1, {"post"});
    ASSERT_EQ(posts.line(), "INIT");
    dies.signal(SIGKILL);
    EXPECT_EQ(dies.wait(), 128 + SIGKILL);
    posts.go_on();
    EXPECT_EQ(posts.line(), "POSTED");
    posts.go_on();
    EXPECT_EQ(posts.wait(), 0);
}

TEST_F(BadInput, GetsFailWhenTheClientIsKilledBeforeItsCommit) {
    auto dies = host_->start(job_, 0, {"post"});
    ASSERT_EQ(dies.line(), "INIT");
    auto asks = host_->start(job_, 1, {"get", "0", "test.posted", "1"});
    ASSERT_EQ(asks.line(), "INIT");
    EXPECT_EQ(asks.line(0.2), "") << "nothing is posted yet";
    integration::ModexRequest request(job_, 0);
    dies.signal(SIGKILL);
    EXPECT_EQ(asks.line(), std::string("NOT ") + PMIx_Error_string(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(asks.wait(), 0);
    EXPECT_TRUE(request.done(10));
    EXPECT_NE(request.status(), PMIX_SUCCESS);
}

TEST_F(BadInput, CommittedDataOutlivesTheClient) {
    auto dies = host_->start(job_, 0, {"post"});
    ASSERT_EQ(dies.line(), "INIT");
    dies.go_on();
    ASSERT_EQ(dies.line(), "POSTED");
    dies.signal(SIGKILL);
    EXPECT_EQ(dies.wait(), 128 + SIGKILL);
    auto asks = host_->start(job_, 1, {"get", "0", "test.posted", "1"});
    ASSERT_EQ(asks.line(), "INIT");
    EXPECT_EQ(asks.line(), "GOT everywhere");
    EXPECT_EQ(asks.wait(), 0);
}

TEST_F(BadInput, AFenceWithManyWildcardsTakesLinearTime) {
    RawPeer raw = accepted();
    constexpr size_t kMany = 45000;
    std::vector<pmix_proc_t> procs;
    for (size_t i = 0; i < kMany; ++i) {
        procs.push_back(muster::make_proc("w" + std::to_string(i), PMIX_RANK_WILDCARD));
        procs.push_back(muster::make_proc("r" + std::to_string(i), 0));
    }
    Packer fence = command(static_cast<uint8_t>(Command::Fence));
    fence.procs(procs.data(), procs.size()).infos({});
    ASSERT_TRUE(raw.say_frame(101, fence.view()));
    EXPECT_FALSE(raw.hear_frame().empty()) << "it compares each with each";
}

TEST_F(BadInput, ConnectionsOfAProcessAreBounded) {
    std::vector<RawPeer> all;
    bool refused = false;
    while (!refused && all.size() < 400) {
        RawPeer raw = peer();
        ASSERT_TRUE(raw.connected());
        ASSERT_TRUE(raw.say(build_connect_request(honest()).view()));
        refused = raw.hear(8).size() < 8;
        all.push_back(std::move(raw));
    }
    EXPECT_TRUE(refused);
    EXPECT_EQ(lines_with(log(), "too many connections already"), 1U);
}

TEST_F(BadInput, OnlyTheFirstConnectionOfAProcessGetsItsBarrierSlot) {
    ConnectRequest request = honest();
    for (const std::string& variable : host_->environment(job_, 0)) {
        if (variable.starts_with("PMIX_MUSTER_STORE="))
            request.gds = variable.substr(strlen("PMIX_MUSTER_STORE="));
    }
    const auto given = [&] {
        RawPeer raw = peer();
        raw.say(build_connect_request(request).view());
        const size_t count = raw.hear_descriptors();
        return std::pair(std::move(raw), count);
    };
    const auto first = given(), second = given();
    if (first.second == 0) GTEST_SKIP() << "nothing is shared here";
    EXPECT_EQ(first.second, 3U) << "the store, the barrier, the meeting of groups";
    EXPECT_EQ(second.second, 1U) << "a second one would be counted as if it were the first";
}

TEST_F(BadInput, SilentConnectionsDoNotExhaustDescriptors) {
    struct rlimit before {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit few = before;
    few.rlim_cur = 256;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    {
        std::vector<RawPeer> silent;
        for (int i = 0; i < 60; ++i)
            silent.push_back(peer());
        EXPECT_TRUE(silent.front().dropped());
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_GT(lines_with(log(), "too many others wait"), 0U);
}

}  // namespace
