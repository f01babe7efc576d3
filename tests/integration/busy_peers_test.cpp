// SPDX-License-Identifier: BSD-3-Clause
// Default limits of one peer's waiting requests: they must not keep the server from other peers.
#include <gtest/gtest.h>
#include <pmix.h>

#include <chrono>
#include <string>
#include <vector>

#include "framework/base/info.hpp"
#include "tests/bounded_time.hpp"
#include "tests/integration/asking.hpp"
#include "tests/integration/bad_input.hpp"

namespace {

using namespace integration;
using muster::Info;
using muster::Unpacker;

/// A peer with as many waiting requests as the default limits allow; it must not block the server for others.
class BusyPeer : public BadInput {
  protected:
    explicit BusyPeer(const Settings& more = {}) : BadInput(more) {}
    static constexpr auto kLimit = std::chrono::seconds(20);

    static Packer fence(const std::vector<pmix_proc_t>& procs) {
        Packer message = command(static_cast<uint8_t>(Command::Fence));
        message.procs(procs.data(), procs.size()).infos({});
        return message;
    }
    static Packer commit(const char* key, size_t size) {
        Packer values(format());
        values.kval(key, *muster::Value::from(std::string(size, 'x')));
        Packer message = command(static_cast<uint8_t>(Command::Commit));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        return message;
    }
    pmix_proc_t proc(pmix_rank_t rank) const { return muster::make_proc(job_.nspace, rank); }

    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TEST_F(BusyPeer, MayWaitInAnyNumberOfFences) {
    Asking busy(accepted()), other(accepted(1));
    // The same requests repeatedly, and each with other participants.
    for (int i = 0; i < 30000; ++i) {
        busy.ask(fence({proc(0), proc(1)}));
        busy.ask(fence({proc(0), proc(1), proc(static_cast<pmix_rank_t>(1000 + i))}));
    }
    // A later participant joins the open fences in their order.
    for (int i = 0; i < 3; ++i) {
        other.ask(fence({proc(0), proc(1)}));
        EXPECT_EQ(other.answer(), PMIX_SUCCESS);
        EXPECT_EQ(busy.answer(), PMIX_SUCCESS);
    }
    tests::expect_within(kLimit, begin_);
}

TEST_F(BusyPeer, MayPostAnyNumberOfQualifiedValues) {
    Asking busy(accepted()), other(accepted(1));
    constexpr int kParts = 10, kValues = 10000;
    const auto qualified = [](int number) {
        Info one;
        one.add("busy.key", number);
        one.add("busy.qualifier", number % (kParts * kValues / 2));
        one[1].flags |= PMIX_INFO_QUALIFIER;
        return std::move(one).to_value();
    };
    // Each twice.
    for (int part = 0; part < kParts; ++part) {
        Packer values(format());
        for (int i = 0; i < kValues; ++i)
            values.kval(PMIX_QUALIFIED_VALUE, *qualified(part * kValues + i));
        Packer message = command(static_cast<uint8_t>(Command::Commit));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        busy.ask(message);
        ASSERT_EQ(busy.answer(), PMIX_SUCCESS);
    }
    // The second has replaced the first, and each exists once.
    Info directives;
    directives.add("busy.qualifier", 7);
    directives[0].flags |= PMIX_INFO_QUALIFIER;
    Packer get = command(static_cast<uint8_t>(Command::Get));
    get.string(job_.nspace).rank(0).infos(directives).string("busy.key");
    other.ask(get);
    const auto payload = other.peer.hear_frame();
    Unpacker reply(format(), payload);
    pmix_status_t status = PMIX_ERROR;
    muster::ByteView object_bytes;
    pmix_proc_t owner{};
    ASSERT_TRUE(reply.status(status) && reply.bytes(object_bytes));
    EXPECT_EQ(status, PMIX_SUCCESS);
    Unpacker object(format(), object_bytes);
    ASSERT_TRUE(object.proc(owner));
    int seen = 0;
    while (!object.at_end()) {
        std::string key;
        muster::Value value;
        ASSERT_TRUE(object.kval(key, value));
        const muster::InfoView parts = muster::value_as_infos(value.get());
        ASSERT_EQ(parts.size, 2U);
        EXPECT_GE(muster::value_as_number<int>(&parts.data[0].value).value_or(0), kParts * kValues / 2);
        ++seen;
    }
    EXPECT_EQ(seen, kParts * kValues / 2);
    tests::expect_within(kLimit, begin_);
}

TEST_F(BusyPeer, MayRequestAnyNumberOfQualifiedValues) {
    Asking busy(accepted()), other(accepted(1));
    constexpr int kParts = 10, kValues = 10000, kRequests = 20000;
    const auto qualifier = [](int number) {
        Info one;
        one.add("busy.qualifier", number);
        one[0].flags |= PMIX_INFO_QUALIFIER;
        return one;
    };
    for (int part = 0; part < kParts; ++part) {
        Packer values(format());
        for (int i = 0; i < kValues; ++i) {
            Info one;
            one.add("busy.key", i);
            one.add_copies(qualifier(part * kValues + i));
            values.kval(PMIX_QUALIFIED_VALUE, *std::move(one).to_value());
        }
        Packer message = command(static_cast<uint8_t>(Command::Commit));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        other.ask(message);
        ASSERT_EQ(other.answer(), PMIX_SUCCESS);
    }
    Info directives = qualifier(-1);
    directives.add(PMIX_IMMEDIATE, true);
    for (int i = 0; i < kRequests; ++i) {
        Packer get = command(static_cast<uint8_t>(Command::Get));
        get.string(job_.nspace).rank(1).infos(directives).string("busy.key");
        busy.ask(get);
    }
    EXPECT_EQ(busy.answers(kRequests)[PMIX_ERR_NOT_FOUND], kRequests);
    tests::expect_within(kLimit, begin_);
}

TEST_F(BusyPeer, IsLoggedWhenAValueHasTooManyQualifiers) {
    Asking busy(accepted());
    const auto post = [&](int qualifiers, Command how) {
        Info one;
        one.add("busy.key", 1);
        for (int i = 0; i < qualifiers; ++i) {
            one.add(("busy.qualifier." + std::to_string(i)).c_str(), i);
            one[one.size() - 1].flags |= PMIX_INFO_QUALIFIER;
        }
        Packer values(format());
        values.kval(PMIX_QUALIFIED_VALUE, *std::move(one).to_value());
        Packer message = command(static_cast<uint8_t>(how));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        busy.ask(message);
    };
    // It gets no answer: only the log shows it.
    post(1025, Command::Post);
    post(1024, Command::Commit);
    EXPECT_EQ(busy.answer(), PMIX_SUCCESS);
    EXPECT_EQ(lines_with(log(), "more qualifiers"), 1U);
}

/// Each of its queries scans all waiting requests, and finds nothing to report.
class WaitingPeer : public BusyPeer {
  protected:
    WaitingPeer() {
        Info directives;
        directives.add(PMIX_TIMEOUT, 600);
        for (int i = 0; i < 60000; ++i) {
            Packer get = command(static_cast<uint8_t>(Command::Get));
            get.string(job_.nspace).rank(1).infos(directives).string("busy.never");
            busy_.ask(get);
        }
    }
    static Packer question(size_t times) {
        Info elsewhere;
        elsewhere.add(PMIX_NSPACE, "elsewhere");
        std::vector<char*> keys(times, const_cast<char*>("muster.waits"));
        keys.push_back(nullptr);
        pmix_query_t query{keys.data(), elsewhere.data(), elsewhere.size()};
        Packer asked = command(static_cast<uint8_t>(Command::Query));
        asked.counted(&query, 1, PMIX_QUERY);
        return asked;
    }
    void expect_others_served() {
        const auto before = std::chrono::steady_clock::now();
        other_.ask(commit("busy.key", 1));
        EXPECT_EQ(other_.answer(), PMIX_SUCCESS);
        tests::expect_within(std::chrono::seconds(5), before);
    }

    Asking busy_{accepted()}, other_{accepted(1)};
};

TEST_F(WaitingPeer, ManyShortQueriesDoNotStarveOthers) {
    const Packer asked = question(1);
    Bytes questions;
    while (questions.size() < 150000) {
        std::vector<uint8_t> header(muster::Channel::kHeaderSize);
        muster::store_be32(&header[4], 7);
        muster::store_be32(&header[8], static_cast<uint32_t>(asked.view().size()));
        questions.append(header.data(), header.size());
        questions.append(asked.view());
    }
    ASSERT_TRUE(busy_.peer.say(questions.view()));
    expect_others_served();
}

TEST_F(WaitingPeer, ALargeQueryDoesNotStarveOthers) {
    busy_.ask(question(3000));
    expect_others_served();
}

TEST_F(WaitingPeer, GetsAllQueryResultsInOneMessage) {
    busy_.ask(question(10));
    const auto payload = busy_.peer.hear_frame();
    Unpacker reply(format(), payload);
    pmix_status_t status = PMIX_ERROR;
    Info found;
    ASSERT_TRUE(reply.status(status) && reply.infos(found));
    EXPECT_EQ(status, PMIX_SUCCESS);
    EXPECT_EQ(found.size(), 10U);
    // It is served again.
    busy_.ask(commit("busy.key", 1));
    EXPECT_EQ(busy_.answer(), PMIX_SUCCESS);
}

TEST_F(BusyPeer, MayNameALargeSetAgainAndAgain) {
    std::vector<pmix_proc_t> members;
    for (pmix_rank_t rank = 0; rank < 6000; ++rank)
        members.push_back(proc(rank));
    const char* set = "s";
    ASSERT_EQ(PMIx_server_define_process_set(members.data(), members.size(), set), PMIX_SUCCESS);
    Asking busy(accepted());
    const std::vector<pmix_proc_t> sources(60000, muster::make_proc(set, PMIX_RANK_WILDCARD));
    const pmix_iof_channel_t channels = PMIX_FWD_STDOUT_CHANNEL;
    Packer pull = command(static_cast<uint8_t>(Command::IofPull));
    pull.procs(sources.data(), sources.size()).infos({}).items(&channels, 1, PMIX_IOF_CHANNEL).size(1);
    const auto before = std::chrono::steady_clock::now();
    busy.ask(pull);
    EXPECT_EQ(busy.answers(1).count(PMIX_ERR_TIMEOUT), 0U);
    tests::expect_within(std::chrono::seconds(5), before);
}

TEST_F(BusyPeer, MayWaitForAnyNumberOfKeys) {
    Asking busy(accepted()), other(accepted(1));
    other.ask(commit("busy.large", 900000));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    Info directives;
    directives.add(PMIX_TIMEOUT, 60);
    for (int i = 0; i < 3000; ++i) {
        Packer get = command(static_cast<uint8_t>(Command::Get));
        get.string(job_.nspace).rank(1).infos(directives).string("busy.never");
        busy.ask(get);
    }
    Packer get = command(static_cast<uint8_t>(Command::Get));
    get.string(job_.nspace).rank(1).infos(directives).string("busy.199");
    busy.ask(get);
    for (int i = 0; i < 200; ++i) {
        other.ask(commit(("busy." + std::to_string(i)).c_str(), 1));
        ASSERT_EQ(other.answer(), PMIX_SUCCESS);
    }
    EXPECT_EQ(busy.answer(), PMIX_SUCCESS);
    tests::expect_within(kLimit, begin_);
}

class CuriousPeer : public BusyPeer {
  protected:
    CuriousPeer() : BusyPeer({{"PMIX_MCA_server_base_max_request_memory", "16m"}}) {}
};

TEST_F(CuriousPeer, RepeatedKeysInAQueryAreBounded) {
    Asking curious(accepted());
    curious.ask(commit("busy.large", 900000));
    EXPECT_EQ(curious.answer(), PMIX_SUCCESS);
    Info about;
    about.add(PMIX_PROCID, proc(0));
    const auto ask = [&](size_t times) {
        std::vector<char*> keys(times, const_cast<char*>("busy.large"));
        keys.push_back(nullptr);
        pmix_query_t query{keys.data(), about.data(), about.size()};
        Packer asked = command(static_cast<uint8_t>(Command::Query));
        asked.counted(&query, 1, PMIX_QUERY);
        curious.ask(asked);
        return curious.answer();
    };
    EXPECT_EQ(ask(10), PMIX_SUCCESS);
    EXPECT_EQ(ask(1000), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(ask(10), PMIX_SUCCESS);
    EXPECT_EQ(lines_with(log(), "would take too much memory"), 1U);
}

/// A peer with a higher limit of waiting requests.
class BusierPeer : public BusyPeer {
  protected:
    BusierPeer() : BusyPeer({{"PMIX_MCA_server_base_max_requests", "1000000"}}) {}
};

TEST_F(BusierPeer, RequestsMayTimeOutInAnyOrder) {
    Asking busy(accepted());
    constexpr int kRequests = 140000;
    // The first request waits longest.
    for (int i = 0; i < kRequests; ++i) {
        Info directives;
        directives.add(PMIX_TIMEOUT, i < kRequests / 2 ? 600 : 1);
        Packer get = command(static_cast<uint8_t>(Command::Get));
        get.string(job_.nspace).rank(1).infos(directives).string("busy.never");
        busy.ask(get);
    }
    EXPECT_EQ(busy.answers(kRequests / 2)[PMIX_ERR_TIMEOUT], kRequests / 2);
    tests::expect_within(2 * kLimit, begin_);
}

TEST_F(BusyPeer, MayRequestDataOfRemoteScope) {
    Asking busy(accepted()), other(accepted(1));
    for (int i = 0; i < 20; ++i) {
        other.ask(commit(("busy.large." + std::to_string(i)).c_str(), 900000));
        ASSERT_EQ(other.answer(), PMIX_SUCCESS);
    }
    Packer values(format());
    values.kval("busy.remote", *muster::Value::from(1));
    Packer post = command(static_cast<uint8_t>(Command::Commit));
    post.scope(PMIX_REMOTE).buffer(values.view());
    other.ask(post);
    ASSERT_EQ(other.answer(), PMIX_SUCCESS);
    Info directives;
    directives.add(PMIX_IMMEDIATE, true);
    constexpr int kRequests = 12000;
    for (int i = 0; i < kRequests; ++i) {
        Packer get = command(static_cast<uint8_t>(Command::Get));
        get.string(job_.nspace).rank(1).infos(directives).string("busy.remote");
        busy.ask(get);
    }
    EXPECT_EQ(busy.answers(kRequests)[PMIX_ERR_NOT_FOUND], kRequests);
    tests::expect_within(kLimit, begin_);
}

}  // namespace
