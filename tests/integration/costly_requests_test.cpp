// SPDX-License-Identifier: BSD-3-Clause
// The cost of one request in the server's time and memory is bounded by its length.
#include <gtest/gtest.h>
#include <pmix.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
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
using muster::Value;

class CostlyRequest : public BadInput {
  protected:
    explicit CostlyRequest(const std::function<void(pmix_server_module_t&)>& change = {})
        : BadInput({{"PMIX_MCA_server_base_max_payload", "64m"},
                    {"PMIX_MCA_server_base_max_request_memory", "64m"}},
                   change) {}

    pmix_proc_t proc(pmix_rank_t rank) const { return muster::make_proc(job_.nspace, rank); }
    /// Another process is answered soon, whatever the first has requested.
    void expect_others_served() {
        Packer values(format());
        values.kval("costly.other", *Value::from(1));
        Packer message = command(static_cast<uint8_t>(Command::Commit));
        message.scope(PMIX_GLOBAL).buffer(values.view());
        const auto before = std::chrono::steady_clock::now();
        other_.ask(message);
        EXPECT_EQ(other_.answers(1).begin()->first, PMIX_SUCCESS);
        tests::expect_within(std::chrono::seconds(5), before);
    }
    /// Memory of this process, including its server, in bytes.
    static size_t resident() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
        return 0;  // mostly overhead per byte, or freed memory
#endif
        long pages = 0, rest = 0;
        FILE* file = fopen("/proc/self/statm", "r");
        if (file == nullptr) return 0;
        if (fscanf(file, "%ld %ld", &rest, &pages) != 2) pages = 0;
        fclose(file);
        return static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    }

    Asking costly_{accepted()}, other_{accepted(1)};
};

class QueryOfGroups : public CostlyRequest {
  protected:
    explicit QueryOfGroups(const std::function<void(pmix_server_module_t&)>& change = {})
        : CostlyRequest(change) {
        const pmix_proc_t self = proc(0);
        for (int i = 0; i < 10000; ++i) {
            Packer message = command(static_cast<uint8_t>(Command::GroupConstruct));
            message.string("costly.group." + std::to_string(i)).procs(&self, 1).infos({});
            costly_.ask(message);
        }
        EXPECT_EQ(costly_.answers(10000)[PMIX_SUCCESS], 10000);
    }
    static Packer query(const char* key, size_t times, const Info& qualifiers = {}) {
        std::vector<char*> keys(times, const_cast<char*>(key));
        keys.push_back(nullptr);
        pmix_query_t query{keys.data(), const_cast<pmix_info_t*>(qualifiers.view().data), qualifiers.size()};
        Packer asked = command(static_cast<uint8_t>(Command::Query));
        asked.counted(&query, 1, PMIX_QUERY);
        return asked;
    }
};

TEST_F(QueryOfGroups, DoesNotStarveOthers) {
    costly_.ask(query(PMIX_QUERY_NUM_GROUPS, 20000));
    expect_others_served();
}

TEST_F(QueryOfGroups, IsAnsweredCompletely) {
    costly_.ask(query(PMIX_QUERY_NUM_GROUPS, 30));
    const auto payload = costly_.peer.hear_frame();
    Unpacker reply(format(), payload);
    pmix_status_t status = PMIX_ERROR;
    Info found;
    ASSERT_TRUE(reply.status(status) && reply.infos(found));
    EXPECT_EQ(status, PMIX_SUCCESS);
    ASSERT_EQ(found.size(), 30U);
    for (size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(muster::value_as_number<size_t>(&found[i].value), 10000U);
    // It is served again.
    costly_.ask(query(PMIX_QUERY_NUM_GROUPS, 1));
    EXPECT_EQ(costly_.answer(), PMIX_SUCCESS);
}

TEST_F(QueryOfGroups, IsBounded) {
    costly_.ask(query(PMIX_QUERY_GROUP_NAMES, 10));
    EXPECT_EQ(costly_.answer(), PMIX_SUCCESS);
    costly_.ask(query(PMIX_QUERY_GROUP_NAMES, 4000));
    EXPECT_EQ(costly_.answers(1).begin()->first, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_LT(resident(), size_t{1} << 30);
}

TEST_F(QueryOfGroups, DoesNotRepeatItsQualifiers) {
    Info qualifiers;
    qualifiers.add("costly.qualifier", std::string(1000000, 'x').c_str());
    costly_.ask(query(PMIX_QUERY_NUM_GROUPS, 3000, qualifiers));
    expect_others_served();
    EXPECT_LT(resident(), size_t{1} << 30);
}

/// The host does not answer.
class QueryOfASilentHost : public QueryOfGroups {
  protected:
    QueryOfASilentHost()
        : QueryOfGroups([](pmix_server_module_t& module) {
              module.query = [](pmix_proc_t*, pmix_query_t*, size_t, pmix_info_cbfunc_t, void*) {
                  return PMIX_SUCCESS;
              };
          }) {}
};

TEST_F(QueryOfASilentHost, CountsEarlierResults) {
    Info here;
    here.add(PMIX_QUERY_LOCAL_ONLY, true);
    std::vector<char*> names(100, const_cast<char*>(PMIX_QUERY_GROUP_NAMES));
    names.push_back(nullptr);
    char* unknown[] = {const_cast<char*>("costly.unknown"), nullptr};
    pmix_query_t queries[] = {{names.data(), here.data(), here.size()}, {unknown, nullptr, 0}};
    Packer asked = command(static_cast<uint8_t>(Command::Query));
    asked.counted(queries, 2, PMIX_QUERY);
    for (int i = 0; i < 6; ++i)
        costly_.ask(asked);
    // At most two fit at the same time.
    EXPECT_EQ(costly_.answers(4)[PMIX_ERR_OUT_OF_RESOURCE], 4);
    expect_others_served();
}

TEST_F(CostlyRequest, ThatNamesAGroupInEachOfItsInfos) {
    std::vector<pmix_proc_t> members{proc(0)};
    for (int i = 1; i < 1000; ++i)
        members.push_back(muster::make_proc("job." + std::to_string(i), 1));
    const pmix_proc_t self = proc(0);
    const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
    Info complete;
    complete.add(PMIX_GROUP_ID, "costly.group");
    complete.add(PMIX_GROUP_MEMBERSHIP, Value::array(members.data(), members.size(), PMIX_PROC));
    complete.add(PMIX_EVENT_CUSTOM_RANGE, Value::array(&self, 1, PMIX_PROC));
    Packer said = command(static_cast<uint8_t>(Command::Notify));
    said.status(PMIX_GROUP_CONSTRUCT_COMPLETE).items(&range, 1, PMIX_DATA_RANGE).infos(complete);
    costly_.ask(said);
    EXPECT_EQ(costly_.answer(), PMIX_SUCCESS);
    const pmix_proc_t all = muster::make_proc("costly.group", PMIX_RANK_WILDCARD);
    const auto event = [&](int times) {
        Info infos;
        for (int i = 0; i < times; ++i)
            infos.add(PMIX_EVENT_AFFECTED_PROCS, Value::array(&all, 1, PMIX_PROC));
        const pmix_data_range_t local = PMIX_RANGE_LOCAL;
        Packer message = command(static_cast<uint8_t>(Command::Notify));
        message.status(PMIX_ERR_PROC_ABORTED).items(&local, 1, PMIX_DATA_RANGE).infos(infos);
        return message;
    };
    costly_.ask(event(10));
    EXPECT_EQ(costly_.answer(), PMIX_SUCCESS);
    costly_.ask(event(10000));
    expect_others_served();
    EXPECT_EQ(costly_.answers(1).begin()->first, PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_LT(resident(), size_t{1} << 30);
}

TEST_F(CostlyRequest, ThatNamesManyEndsToCleanUpAt) {
    constexpr pmix_rank_t kEnds = 20;
    const auto job = host_->start_job(kEnds);
    std::string paths;
    for (int i = 0; i < 60000; ++i)
        paths += "/costly/" + std::string(300, 'x') + std::to_string(i) + ",";
    Info directives;
    directives.add(PMIX_REGISTER_CLEANUP, paths.c_str());
    std::vector<pmix_proc_t> ends;
    for (pmix_rank_t rank = 0; rank < kEnds; ++rank)
        ends.push_back(muster::make_proc(job.nspace, rank));
    Packer message = command(static_cast<uint8_t>(Command::JobControl));
    message.procs(ends.data(), ends.size()).infos(directives);
    const size_t before = resident();
    costly_.ask(message);
    expect_others_served();
    EXPECT_EQ(costly_.answers(1).begin()->first, PMIX_SUCCESS);
    // Not once for each end.
    EXPECT_LT(resident(), before + 10 * paths.size());
}

TEST_F(CostlyRequest, ThatFencesManyProcessesOfALargeJob) {
    const auto job = host_->start_job(4000);
    std::vector<pmix_proc_t> procs{proc(0)};
    for (pmix_rank_t rank = 4000; rank < 500000; ++rank)
        procs.push_back(muster::make_proc(job.nspace, rank));
    Packer message = command(static_cast<uint8_t>(Command::Fence));
    message.procs(procs.data(), procs.size()).infos({});
    costly_.ask(message);
    expect_others_served();
}

}  // namespace
