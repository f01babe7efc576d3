// SPDX-License-Identifier: BSD-3-Clause
// The memory that a peer can make a server use is bounded: requests without answers, answers that it does not
// read, messages that expand when they are decoded.
#include <gtest/gtest.h>
#include <pmix.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "framework/base/info.hpp"
#include "tests/integration/asking.hpp"
#include "tests/integration/bad_input.hpp"
#include "tests/integration/waits.hpp"

namespace {

using namespace integration;
using muster::Info;
using muster::Unpacker;

class GreedyPeer : public BadInput {
  protected:
    static constexpr int kRequests = 100;

    GreedyPeer()
        : BadInput({{"PMIX_MCA_server_base_max_requests", "100"},
                    {"PMIX_MCA_server_base_max_foreign_processes", "8"},
                    {"PMIX_MCA_server_base_max_group_memory", "64k"},
                    {"PMIX_MCA_server_base_max_committed", "512k"},
                    {"PMIX_MCA_pmix_event_max_codes", "100"},
                    {"PMIX_MCA_server_base_max_request_memory", "1m"},
                    {"PMIX_MCA_server_base_max_wait", "60"},
                    {"PMIX_MCA_server_base_max_decoded", "256k"}}) {}

    Packer get(pmix_rank_t rank, const char* key, const Info& directives = {}) {
        Packer message = command(static_cast<uint8_t>(Command::Get));
        message.string(job_.nspace).rank(rank).infos(directives).string(key);
        return message;
    }
    static Packer commit(const char* key, const pmix_value_t& value, Command how = Command::Commit) {
        Packer values(format());
        values.kval(key, value);
        Packer message = command(static_cast<uint8_t>(how));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        return message;
    }
};

TEST_F(GreedyPeer, IsRefusedMoreThanTheLimitOfPendingRequests) {
    Asking greedy(accepted());
    for (int i = 0; i < kRequests + 50; ++i)
        greedy.ask(get(1, "greedy.late"));
    EXPECT_EQ(greedy.answers(50), (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 50}}));
    // Requests that do not wait are served: other peers may wait for them.
    greedy.ask(commit("greedy.own", *muster::Value::from(7)));
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
    // Others are not affected.
    Asking other(accepted(1));
    other.ask(get(0, "greedy.own"));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    other.ask(commit("greedy.late", *muster::Value::from(8)));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    EXPECT_EQ(greedy.answers(kRequests), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, kRequests}}));
    // All are answered: the same number may be sent again.
    for (int i = 0; i < 2 * kRequests; ++i)
        greedy.ask(get(1, "greedy.late"));
    EXPECT_EQ(greedy.answers(2 * kRequests), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, 2 * kRequests}}));
    EXPECT_EQ(lines_with(log(), "more are refused"), 1U);
}

TEST_F(GreedyPeer, CommitsUpToItsLimit) {
    const muster::Value value = muster::Value::from(std::string(1000, 'x'));
    Asking greedy(accepted()), other(accepted(1));
    const auto put = [&](Asking& who, const std::string& key) {
        who.ask(commit(key.c_str(), *value));
        return who.answer();
    };
    int kept = 0;
    while (kept < 1000 && put(greedy, "greedy." + std::to_string(kept)) == PMIX_SUCCESS)
        ++kept;
    EXPECT_GT(kept, 150);
    EXPECT_LT(kept, 1000) << "as much as it likes";
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(put(greedy, "greedy.more"), PMIX_ERR_OUT_OF_RESOURCE);
        greedy.ask(commit("greedy.posted", *value, Command::Post));  // not answered
    }
    // Accepted values exist, refused ones do not, and a refused peer takes part in fences.
    const auto at_once = [] {
        Info directives;
        directives.add(PMIX_IMMEDIATE, true);
        return directives;
    };
    other.ask(get(0, "greedy.0"));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    for (const char* refused : {"greedy.more", "greedy.posted"}) {
        other.ask(get(0, refused, at_once()));
        EXPECT_EQ(other.answer(), PMIX_ERR_NOT_FOUND) << refused;
    }
    const pmix_proc_t both[] = {muster::make_proc(job_.nspace, 0), muster::make_proc(job_.nspace, 1)};
    for (Asking* who : {&greedy, &other}) {
        Packer fence = command(static_cast<uint8_t>(Command::Fence));
        fence.procs(both, 2).infos({});
        who->ask(fence);
    }
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    // A value that is posted again replaces the old one.
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(put(other, "other.key"), PMIX_SUCCESS) << i;
    EXPECT_EQ(lines_with(log(), "server_base_max_committed"), 1U);
}

TEST_F(GreedyPeer, PublishesGroupDataUpToItsLimit) {
    const pmix_proc_t self = muster::make_proc(job_.nspace, 0);
    Asking greedy(accepted());
    // Data given at the construction of a group remain after it has ended.
    const auto tell = [&](const std::string& key) {
        Info told, directives;
        told.add(key.c_str(), std::string(1000, 'x').c_str());
        directives.add(PMIX_GROUP_INFO, std::move(told).to_value());
        Packer construct = command(static_cast<uint8_t>(Command::GroupConstruct));
        construct.string("told").procs(&self, 1).infos(directives);
        greedy.ask(construct);
        const pmix_status_t status = greedy.answer();
        if (status != PMIX_SUCCESS) return status;
        Packer destruct = command(static_cast<uint8_t>(Command::GroupDestruct));
        destruct.string("told").procs(&self, 1).infos({});
        greedy.ask(destruct);
        return greedy.answer();
    };
    // The same data again replace the earlier data.
    for (int i = 0; i < 300; ++i)
        ASSERT_EQ(tell("told.again"), PMIX_SUCCESS) << i;
    int told = 0;
    while (told < 1000 && tell("told." + std::to_string(told)) == PMIX_SUCCESS)
        ++told;
    EXPECT_GT(told, 50);
    EXPECT_LT(told, 1000) << "as much as it likes";
    EXPECT_EQ(tell("told.more"), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(lines_with(log(), "server_base_max_committed"), 1U);
}

TEST_F(GreedyPeer, GetsAwaitedDataWhenAGroupIsAnnounced) {
    const pmix_proc_t self = muster::make_proc(job_.nspace, 0);
    Asking telling(accepted()), greedy(accepted(1));
    Info told, directives;
    told.add("told.late", 7);
    directives.add(PMIX_GROUP_INFO, std::move(told).to_value());
    greedy.ask(get(0, "told.late"));
    // It waits: its next request is answered first.
    greedy.ask(commit("greedy.own", *muster::Value::from(7)));
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
    Packer construct = command(static_cast<uint8_t>(Command::GroupConstruct));
    construct.string("told").procs(&self, 1).infos(directives);
    telling.ask(construct);
    EXPECT_EQ(telling.answer(), PMIX_SUCCESS);
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
}

TEST_F(GreedyPeer, IsChargedForEachProcessOfAWildcard) {
    const auto large = host_->start_job(2, 998);
    RawPeer raw(host_->environment(large, 0));
    EXPECT_TRUE(
        raw.say(build_connect_request(integration::claim(large.nspace, 0, geteuid(), getegid())).view()));
    EXPECT_EQ(raw.hear(8).size(), 8U);
    Asking greedy(std::move(raw));
    const pmix_proc_t all = muster::make_proc(large.nspace, PMIX_RANK_WILDCARD);
    for (int i = 0; i < 20; ++i) {
        Packer construct = command(static_cast<uint8_t>(Command::GroupConstruct));
        construct.string("wide." + std::to_string(i)).procs(&all, 1).infos({});
        greedy.ask(construct);
    }
    // The fence waits for rank 1; a list of all processes uses a quarter of the limit.
    EXPECT_EQ(greedy.answers(15), (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 15}}));
}

TEST_F(GreedyPeer, HasABoundedNumberOfGroups) {
    // A group of one process does not wait.
    const auto with = [](Command code, const std::string& id, const pmix_proc_t& self) {
        Packer message = command(static_cast<uint8_t>(code));
        message.string(id).procs(&self, 1).infos({});
        return message;
    };
    const auto event = [](pmix_status_t code, const std::string& id, const pmix_proc_t& self,
                          const pmix_proc_t& to) {
        const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
        Info info;
        info.add(PMIX_GROUP_ID, id.c_str());
        info.add(PMIX_GROUP_MEMBERSHIP, muster::Value::array(&self, 1, PMIX_PROC));
        info.add(PMIX_EVENT_CUSTOM_RANGE, muster::Value::array(&to, 1, PMIX_PROC));
        Packer message = command(static_cast<uint8_t>(Command::Notify));
        message.status(code).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        return message;
    };
    const pmix_proc_t self = muster::make_proc(job_.nspace, 0), beside = muster::make_proc(job_.nspace, 1);
    const auto other_job = host_->start_job(1);
    const pmix_proc_t other_self = muster::make_proc(other_job.nspace, 0);
    Asking greedy(accepted());
    const auto make = [&](const std::string& id) {
        greedy.ask(with(Command::GroupConstruct, id, self));
        return greedy.answer();
    };
    int made = 0;
    while (made < 1000 && make("group." + std::to_string(made)) == PMIX_SUCCESS)
        ++made;
    EXPECT_GT(made, 50);
    EXPECT_LT(made, 1000) << "as many as it likes";
    EXPECT_EQ(make("one.more"), PMIX_ERR_OUT_OF_RESOURCE);
    greedy.ask(event(PMIX_GROUP_INVITED, "invited", self, beside));
    EXPECT_EQ(greedy.answer(), PMIX_ERR_OUT_OF_RESOURCE);
    // A group that it declares complete is not kept either: its name is free.
    greedy.ask(event(PMIX_GROUP_CONSTRUCT_COMPLETE, "said", self, self));
    greedy.answer();
    EXPECT_EQ(make("said"), PMIX_ERR_OUT_OF_RESOURCE);
    // Another job is not affected.
    RawPeer raw(host_->environment(other_job, 0));
    EXPECT_TRUE(
        raw.say(build_connect_request(integration::claim(other_job.nspace, 0, geteuid(), getegid())).view()));
    EXPECT_EQ(raw.hear(8).size(), 8U);
    Asking other(std::move(raw));
    other.ask(with(Command::GroupConstruct, "of.others", other_self));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    // A destruct frees space.
    greedy.ask(with(Command::GroupDestruct, "group.0", self));
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
    EXPECT_EQ(make("one.more"), PMIX_SUCCESS);
    EXPECT_EQ(make("two.more"), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(lines_with(log(), "server_base_max_group_memory"), 1U);
}

TEST_F(GreedyPeer, IsRefusedAListThatExceedsTheLimitAfterGroupExpansion) {
    Asking greedy(accepted());
    const pmix_proc_t self = muster::make_proc(job_.nspace, 0);
    const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
    std::vector<pmix_proc_t> members{self}, named;
    for (pmix_rank_t rank = 1000; rank < 1800; ++rank)
        members.push_back(muster::make_proc(job_.nspace, rank));
    for (const char* id : {"one", "two"}) {
        Info info;
        info.add(PMIX_GROUP_ID, id);
        info.add(PMIX_GROUP_MEMBERSHIP, muster::Value::array(members.data(), members.size(), PMIX_PROC));
        info.add(PMIX_EVENT_CUSTOM_RANGE, muster::Value::array(&self, 1, PMIX_PROC));
        Packer message = command(static_cast<uint8_t>(Command::Notify));
        message.status(PMIX_GROUP_CONSTRUCT_COMPLETE).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        greedy.ask(message);
        EXPECT_EQ(greedy.answer(), PMIX_SUCCESS);
        named.push_back(muster::make_proc(id, PMIX_RANK_WILDCARD));
    }
    Packer fence = command(static_cast<uint8_t>(Command::Fence));
    fence.procs(named.data(), named.size()).infos({});
    greedy.ask(fence);
    EXPECT_EQ(greedy.answer(), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(lines_with(log(), "names would take too much memory"), 1U);
}

TEST_F(GreedyPeer, IsLoggedOnceUntilItIsBelowItsLimit) {
    Asking greedy(accepted()), other(accepted(1));
    const auto fill = [&](const char* key) {
        greedy.ask(get(1, (std::string(key) + ".one").c_str()));
        for (int i = 1; i < kRequests + 5; ++i)
            greedy.ask(get(1, key));
        EXPECT_EQ(greedy.answers(5), (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 5}}));
    };
    const auto give = [&](const std::string& key, int answers) {
        other.ask(commit(key.c_str(), *muster::Value::from(1)));
        EXPECT_EQ(other.answer(), PMIX_SUCCESS);
        EXPECT_EQ(greedy.answers(answers), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, answers}}));
    };
    fill("greedy.first");
    give("greedy.first.one", 1);
    for (int i = 0; i < 3; ++i)
        greedy.ask(get(1, "greedy.first"));
    EXPECT_EQ(greedy.answers(2), (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 2}}));
    give("greedy.first", kRequests);
    fill("greedy.second");
    EXPECT_EQ(lines_with(log(), "more are refused"), 2U) << "of the first and of the second time";
}

TEST_F(GreedyPeer, IsRefusedRequestsThatTakeMoreMemory) {
    Asking greedy(accepted());
    Info directives;
    directives.add("greedy.text", std::string(size_t{100} << 10, 'x').c_str());
    for (int i = 0; i < 20; ++i)
        greedy.ask(get(1, "greedy.late", directives));
    EXPECT_EQ(greedy.answers(9), (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 9}}));
    EXPECT_TRUE(until_waiting(11));
    // They are answered: other requests are accepted.
    Asking other(accepted(1));
    other.ask(commit("greedy.late", *muster::Value::from(8)));
    EXPECT_EQ(other.answer(), PMIX_SUCCESS);
    EXPECT_EQ(greedy.answers(11), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, 11}}));
    for (int i = 0; i < 11; ++i)
        greedy.ask(get(1, "greedy.later", directives));
    EXPECT_TRUE(until_waiting(11));
}

TEST_F(GreedyPeer, ReleasesItsRequestsWhenItDisconnects) {
    RawPeer first = accepted();
    for (int round = 0; round < 3; ++round) {
        // Another connection of the same process: its end is not the process's.
        Asking second(accepted());
        for (int i = 0; i < 20; ++i)
            second.ask(get(1, "greedy.late"));
        ASSERT_TRUE(until_waiting(20));
        second.peer.hang_up();
        ASSERT_TRUE(until_waiting(0)) << "requests of a connection that has ended are kept";
    }
}

TEST_F(GreedyPeer, CannotExceedItsLimitByReconnecting) {
    RawPeer first = accepted();
    const auto fence = [&] {
        const pmix_proc_t both[2] = {muster::make_proc(job_.nspace, 0), muster::make_proc(job_.nspace, 1)};
        Packer message = command(static_cast<uint8_t>(Command::Fence));
        message.procs(both, 2).infos({});
        return message;
    };
    // Each of them waits for the other process, even if the connection ends.
    constexpr int kMore = 60;
    {
        Asking gone(accepted());
        for (int i = 0; i < kMore; ++i)
            gone.ask(fence());
        gone.ask(commit("greedy.gone", *muster::Value::from(1)));
        EXPECT_EQ(gone.answer(), PMIX_SUCCESS);
        gone.peer.hang_up();
    }
    Asking again(accepted());
    for (int i = 0; i < kMore; ++i)
        again.ask(fence());
    EXPECT_EQ(again.answers(2 * kMore - kRequests),
              (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 2 * kMore - kRequests}}));
    // When they are finished, it may send the same number again.
    Asking other(accepted(1));
    for (int i = 0; i < kRequests; ++i)
        other.ask(fence());
    EXPECT_EQ(other.answers(kRequests), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, kRequests}}));
    EXPECT_EQ(again.answers(kRequests - kMore),
              (std::map<pmix_status_t, int>{{PMIX_SUCCESS, kRequests - kMore}}));
    for (int i = 0; i < kRequests; ++i)
        again.ask(get(1, "greedy.late"));
    EXPECT_TRUE(until_waiting(kRequests));
}

/// Next to the same greedy processes.
class GreedyTools : public GreedyPeer {
  protected:
    GreedyTools() {
        host_.reset();
        pmix_info_t tools;
        memset(&tools, 0, sizeof tools);
        const bool yes = true;
        EXPECT_EQ(PMIx_Info_load(&tools, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL), PMIX_SUCCESS);
        const auto let_in = [](pmix_server_module_t& module) {
            module.tool_connected = [](pmix_info_t*, size_t, pmix_tool_connection_cbfunc_t done,
                                       void* context) { done(PMIX_SUCCESS, nullptr, context); };
        };
        host_ = std::make_unique<Host>(let_in, std::vector{tools});
        job_ = host_->start_job(3);
    }

    Asking tool(const char* name) {
        RawPeer raw = peer();
        ConnectRequest request = honest();
        request.kind = muster::PeerKind::ToolGivenId;
        request.euid = geteuid();
        request.egid = getegid();
        request.nspace = name;
        EXPECT_TRUE(raw.say(build_connect_request(request).view()));
        const muster::ReplyParser parser{request.kind, true};
        std::vector<uint8_t> reply;
        while (const size_t wanted = parser.wanted(reply)) {
            const auto more = raw.hear(wanted);
            reply.insert(reply.end(), more.begin(), more.end());
            if (more.size() < wanted) break;
        }
        const auto parsed = parser.parse(reply);
        EXPECT_TRUE(parsed.ok() && parsed->tool.status == PMIX_SUCCESS) << "not let in";
        return Asking(std::move(raw));
    }
};

TEST_F(GreedyTools, OfOneUserShareTheirLimit) {
    constexpr int kMore = 60;
    Asking first(tool("greedy.one")), second(tool("greedy.two")), client(accepted());
    for (int i = 0; i < kMore; ++i)
        first.ask(get(1, "greedy.late"));
    ASSERT_TRUE(until_waiting(kMore));
    for (int i = 0; i < kMore; ++i)
        second.ask(get(1, "greedy.late"));
    EXPECT_EQ(second.answers(2 * kMore - kRequests),
              (std::map<pmix_status_t, int>{{PMIX_ERR_OUT_OF_RESOURCE, 2 * kMore - kRequests}}));
    // Processes of jobs, each registered by the host, have their own limit.
    client.ask(get(1, "greedy.late"));
    EXPECT_TRUE(until_waiting(kRequests + 1));
    // The other tool may use the requests that the first one has freed.
    first.peer.hang_up();
    ASSERT_TRUE(until_waiting(kRequests + 1 - kMore));
    for (int i = 0; i < kMore; ++i)
        second.ask(get(1, "greedy.late"));
    EXPECT_TRUE(until_waiting(kRequests + 1));
}

TEST_F(GreedyPeer, IsBoundedInDataOfUnregisteredProcesses) {
    Packer values(format());
    values.kval("greedy.key", *muster::Value::from("given"));
    const auto bytes = values.view();
    host_->answer_modex(PMIX_SUCCESS, std::string(bytes.begin(), bytes.end()));
    Asking greedy(accepted());
    const auto asked_for = [&](int number) {
        const size_t before = host_->upcalls("modex").size();
        Packer message = command(static_cast<uint8_t>(Command::Get));
        // Processes of many jobs, and of one that has fewer processes.
        message.string(number % 2 == 0 ? "elsewhere." + std::to_string(number) : std::string(job_.nspace));
        message.rank(static_cast<pmix_rank_t>(1000 + number)).infos({}).string("greedy.key");
        greedy.ask(message);
        EXPECT_EQ(greedy.answer(), PMIX_SUCCESS) << number;
        return host_->upcalls("modex").size() != before;
    };
    constexpr int kKept = 8;
    for (int i = 0; i < 3 * kKept; ++i)
        EXPECT_TRUE(asked_for(i)) << i;
    for (int i = 2 * kKept; i < 3 * kKept; ++i)
        EXPECT_FALSE(asked_for(i)) << i << " is kept";
    for (int i = 0; i < kKept; ++i)
        EXPECT_TRUE(asked_for(i)) << i << " is forgotten";
}

TEST_F(GreedyPeer, RegistersABoundedNumberOfCodes) {
    Asking greedy(accepted());
    const auto of_codes = [](int first, int count) {
        std::vector<pmix_status_t> codes;
        for (int i = 0; i < count; ++i)
            codes.push_back(PMIX_EXTERNAL_ERR_BASE - first - i);
        return codes;
    };
    const auto register_codes = [&](int first, int count) {
        const auto codes = of_codes(first, count);
        Packer message = command(static_cast<uint8_t>(Command::RegisterEvents));
        message.counted(codes.data(), codes.size(), PMIX_STATUS).infos({});
        greedy.ask(message);
        return greedy.answer();
    };
    EXPECT_EQ(register_codes(0, 101), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(register_codes(0, 60), PMIX_SUCCESS);
    EXPECT_EQ(register_codes(0, 100), PMIX_SUCCESS) << "some of them it has already";
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(register_codes(100, 1), PMIX_ERR_OUT_OF_RESOURCE);
    // Deregistered codes free space, any number of times.
    for (int first = 0; first < 1000; first += 100) {
        Packer message = command(static_cast<uint8_t>(Command::DeregisterEvents));
        for (const pmix_status_t code : of_codes(first, 100))
            message.status(code);
        greedy.ask(message);
        EXPECT_EQ(register_codes(first + 100, 100), PMIX_SUCCESS);
    }
    Asking other(accepted(1));
    EXPECT_EQ(lines_with(log(), "pmix_event_max_codes"), 1U);
}

TEST_F(GreedyPeer, IsNotReadFromWhileItDoesNotRead) {
    Asking greedy(accepted());
    const std::string large(size_t{100} << 10, 'x');
    greedy.ask(commit("greedy.large", *muster::Value::from(large.c_str())));
    ASSERT_EQ(greedy.answer(), PMIX_SUCCESS);
    Info directives;
    directives.add("greedy.text", std::string(size_t{10} << 10, 'x').c_str());
    const Packer message = get(0, "greedy.large", directives);
    int asked = 0;
    // 200 MB of answers, less than what may be queued (server_base_max_queued).
    while (asked < 2000 && greedy.peer.takes_more(0.5)) {
        greedy.ask(message);
        ++asked;
    }
    EXPECT_LT(asked, 500) << "it goes on asking and is answered, but does not read";
    EXPECT_EQ(greedy.answers(asked), (std::map<pmix_status_t, int>{{PMIX_SUCCESS, asked}}));
    greedy.ask(message);
    EXPECT_EQ(greedy.answer(), PMIX_SUCCESS) << "it reads again, but is not read from";
}

TEST_F(GreedyPeer, IsRefusedMessagesThatExpandTooFar) {
    Asking greedy(accepted());
    const std::vector<pmix_proc_t> procs(500, muster::make_proc("n", 1));
    const auto several = [&](size_t count) {
        Info infos;
        for (size_t i = 0; i < count; ++i)
            infos.add_copy("i", *muster::Value::array(procs.data(), procs.size(), PMIX_PROC));
        return get(1, "greedy.none", infos);
    };
    greedy.ask(several(4));
    greedy.ask(several(1));
    EXPECT_EQ(greedy.answer(), PMIX_ERR_UNPACK_FAILURE);
    EXPECT_TRUE(until_waiting(1)) << "the one of 130 kB";

    // The limit applies to the sum of a message's parts.
    Packer message = command(static_cast<uint8_t>(Command::Commit));
    for (int i = 0; i < 4; ++i) {
        Packer values(format());
        values.kval("greedy.many", *muster::Value::array(procs.data(), procs.size(), PMIX_PROC));
        message.scope(PMIX_GLOBAL).buffer(values.view());
    }
    greedy.ask(message);
    EXPECT_EQ(greedy.answer(), PMIX_ERR_UNPACK_FAILURE);
}

}  // namespace
