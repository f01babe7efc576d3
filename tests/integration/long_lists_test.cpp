// SPDX-License-Identifier: BSD-3-Clause
// The cost of a list of processes is proportional to its length, whatever its content: one message cannot
// block the server for others.
#include <gtest/gtest.h>
#include <pmix.h>

#include <chrono>

#include "framework/base/info.hpp"
#include "tests/bounded_time.hpp"
#include "tests/integration/bad_input.hpp"

namespace {

using namespace integration;
using muster::Info;
using muster::Value;

class LongLists : public BadInput {
  protected:
    LongLists() : BadInput({{"PMIX_MCA_server_base_max_payload", "64m"}}) {}

    /// Others are served soon after this message.
    void expect_soon_through(const Packer& message) {
        RawPeer long_winded = accepted(), other = accepted(1);
        ASSERT_TRUE(long_winded.say_frame(101, message.view()));
        const auto begun = std::chrono::steady_clock::now();
        // The server is reading it by now, or soon; a second one follows.
        ASSERT_TRUE(long_winded.say_frame(102, question().view()));
        for (int answers = 0; answers < 1;) {
            const auto header = long_winded.hear(muster::Channel::kHeaderSize, 100);
            ASSERT_EQ(header.size(), muster::Channel::kHeaderSize);
            long_winded.hear(muster::load_be32(&header[8]));
            if (muster::load_be32(&header[4]) == 102) ++answers;
        }
        tests::expect_within(std::chrono::seconds(8), begun);
        ASSERT_TRUE(other.say_frame(103, question().view()));
        EXPECT_FALSE(other.hear_frame().empty());
    }
    Packer question() const {
        Packer message = command(static_cast<uint8_t>(Command::ResolveNodes));
        message.string(job_.nspace);
        return message;
    }
    /// The sender, and a process of each of `count` unknown jobs.
    std::vector<pmix_proc_t> of_many_jobs(size_t count) const {
        std::vector<pmix_proc_t> procs{muster::make_proc(job_.nspace, 0)};
        while (procs.size() < count)
            procs.push_back(muster::make_proc("job." + std::to_string(procs.size()), 1));
        return procs;
    }
    static Packer event(pmix_status_t code, const std::vector<pmix_proc_t>& targets,
                        const std::vector<pmix_proc_t>& members) {
        Info info;
        info.add(PMIX_GROUP_ID, "long.group");
        info.add(PMIX_GROUP_MEMBERSHIP, Value::array(members.data(), members.size(), PMIX_PROC));
        info.add(PMIX_EVENT_CUSTOM_RANGE, Value::array(targets.data(), targets.size(), PMIX_PROC));
        const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
        Packer message = command(static_cast<uint8_t>(Command::Notify));
        message.status(code).items(&range, 1, PMIX_DATA_RANGE).infos(info);
        return message;
    }
};

TEST_F(LongLists, OfOneRepeatedJob) {
    constexpr pmix_rank_t kRanks = 100000;
    std::vector<pmix_rank_t> elsewhere;
    for (pmix_rank_t rank = 1; rank < kRanks; ++rank)
        elsewhere.push_back(rank);
    const auto large = host_->start_job_on({{0}, elsewhere});
    std::vector<pmix_proc_t> procs(1000, muster::make_proc(large.nspace, PMIX_RANK_WILDCARD));
    procs.push_back(muster::make_proc(job_.nspace, 0));
    procs.push_back(muster::make_proc(job_.nspace, 1));
    Packer message = command(static_cast<uint8_t>(Command::GroupConstruct));
    message.string("long.group").procs(procs.data(), procs.size()).infos({});
    expect_soon_through(message);
}

TEST_F(LongLists, OfProcessesOfManyJobs) {
    const auto procs = of_many_jobs(150000);
    for (const Command code : {Command::Connect, Command::Disconnect, Command::Fence}) {
        Packer message = command(static_cast<uint8_t>(code));
        message.procs(procs.data(), procs.size()).infos({});
        expect_soon_through(message);
    }
}

TEST_F(LongLists, OfInvitedProcesses) {
    expect_soon_through(event(PMIX_GROUP_INVITED, of_many_jobs(100000), {}));
}

TEST_F(LongLists, OfMembersNamedByTheirGroupId) {
    const auto members = of_many_jobs(150000);
    expect_soon_through(event(PMIX_GROUP_CONSTRUCT_COMPLETE, {members.front()}, members));
    std::vector<pmix_proc_t> named{muster::make_proc(job_.nspace, 1)};
    for (pmix_rank_t rank = 0; rank < members.size(); ++rank)
        named.push_back(muster::make_proc("long.group", rank));
    Packer message = command(static_cast<uint8_t>(Command::Fence));
    message.procs(named.data(), named.size()).infos({});
    expect_soon_through(message);
}

TEST_F(LongLists, GroupsOfFinishedJobsAreRemoved) {
    // No process has destructed the group; its name is free after the job.
    for (int i = 0; i < 2; ++i) {
        const auto job = host_->start_job(1);
        ConnectRequest request = honest();
        request.nspace = job.nspace;
        RawPeer raw(host_->environment(job, 0));
        ASSERT_TRUE(raw.say(build_connect_request(request).view()));
        ASSERT_EQ(raw.hear(8).size(), 8U);
        const pmix_proc_t self = muster::make_proc(job.nspace, 0);
        Packer message = command(static_cast<uint8_t>(Command::GroupConstruct));
        message.string("long.lasting").procs(&self, 1).infos({});
        ASSERT_TRUE(raw.say_frame(101, message.view()));
        const auto payload = raw.hear_frame();
        muster::Unpacker in(format(), payload);
        pmix_status_t status = PMIX_ERR_TIMEOUT;
        in.status(status);
        EXPECT_EQ(status, PMIX_SUCCESS) << "of job " << i;
        raw.hang_up();
        host_->deregister_job(job);
    }
}

TEST_F(LongLists, OfQueryKeys) {
    for (const char* key : {PMIX_QUERY_NUM_GROUPS, PMIX_QUERY_GROUP_NAMES, "long.unknown"}) {
        std::vector<char*> keys(100000, const_cast<char*>(key));
        keys.push_back(nullptr);
        const pmix_query_t query{keys.data(), nullptr, 0};
        Packer message = command(static_cast<uint8_t>(Command::Query));
        message.counted(&query, 1, PMIX_QUERY);
        expect_soon_through(message);
    }
}

}  // namespace
