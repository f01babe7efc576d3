// SPDX-License-Identifier: BSD-3-Clause
// A job on one node whose processes have progress threads, and use the memory that their server shares. Their
// calls block, each on its own thread, while the test drives the server.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/client/client.hpp"
#include "core/groups/group_client.hpp"
#include "core/runtime/completion.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {

class ThreadedJob : public testing::Test {
  protected:
    ~ThreadedJob() override {
        // Each finalizes while the server is driven.
        while (!processes_.empty()) {
            drive([&] { processes_.pop_back(); });
        }
    }

    void start(uint32_t size) {
        node_.add_job("job", size);
        for (uint32_t rank = 0; rank < size; ++rank)
            processes_.push_back(node_.make_client("job", rank, false));
    }
    uint32_t size() const { return static_cast<uint32_t>(processes_.size()); }
    Process& process(pmix_rank_t rank) { return *processes_[rank]; }

    /// Runs `call` on a thread, and drives the server until it returns.
    void drive(const std::function<void()>& call) { wait(begin(call)); }
    /// A call on a thread.
    struct Running {
        std::thread thread;
        std::shared_ptr<std::atomic<bool>> over = std::make_shared<std::atomic<bool>>(false);
    };
    static Running begin(std::function<void()> call) {
        Running running;
        running.thread = std::thread([call = std::move(call), over = running.over] {
            call();
            *over = true;
        });
        return running;
    }
    void wait(Running running) {
        EXPECT_TRUE(until([&] { return running.over->load(); })) << "a call does not return";
        running.thread.join();
    }
    /// Calls on all these ranks at once.
    void together(const std::vector<pmix_rank_t>& ranks, const std::function<void(pmix_rank_t)>& call) {
        std::vector<Running> running;
        for (const pmix_rank_t rank : ranks)
            running.push_back(begin([&call, rank] { call(rank); }));
        for (Running& one : running)
            wait(std::move(one));
    }
    [[nodiscard]] bool until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit) return false;
            node_.turn();
            ::sched_yield();
        }
        return true;
    }
    std::vector<pmix_rank_t> ranks() const {
        std::vector<pmix_rank_t> list;
        for (pmix_rank_t rank = 0; rank < size(); ++rank)
            list.push_back(rank);
        return list;
    }

    // --- the C functions ---

    static Info copy(const Info& info) {
        auto made = Info::copy_of(info);
        return made ? std::move(*made) : Info();
    }
    /// Number of calls answered without the server.
    std::atomic<size_t> in_memory_{0};

    HostAnswer construct(pmix_rank_t rank, const std::string& id, const std::vector<pmix_rank_t>& members,
                         const Info& info = {}, bool by_server = false) {
        std::vector<pmix_proc_t> procs;
        for (const pmix_rank_t member : members)
            procs.push_back(make_proc("job", member));
        const auto list = std::make_shared<const ProcList>(procs.data(), procs.size());
        GroupClient& client = process(rank).group_client();
        MeetingNote note;
        if (!by_server) {
            if (auto met = client.construct_in_memory(id, list, info, note)) {
                ++in_memory_;
                return std::move(*met);
            }
        }
        return call_and_wait<HostAnswer>(
            process(rank).runtime(), answer_of(PMIX_ERR_WOULD_BLOCK),
            [&](auto deliver) { client.construct(id, list, copy(info), note, deliver); });
    }
    HostAnswer destruct(pmix_rank_t rank, const std::string& id, bool by_server = false) {
        GroupClient& client = process(rank).group_client();
        MeetingNote note;
        if (!by_server) {
            if (auto met = client.destruct_in_memory(id, {}, note)) {
                ++in_memory_;
                return std::move(*met);
            }
        }
        return call_and_wait<HostAnswer>(process(rank).runtime(), answer_of(PMIX_ERR_WOULD_BLOCK),
                                         [&](auto deliver) { client.destruct(id, {}, note, deliver); });
    }
    pmix_status_t fence(pmix_rank_t rank, bool by_server = false) {
        Client& client = *process(rank).client();
        const std::vector<pmix_proc_t> procs = {make_proc("job", PMIX_RANK_WILDCARD)};
        if (!by_server) {
            if (const auto passed = client.fence_in_memory(procs, {})) {
                ++in_memory_;
                return *passed;
            }
        }
        const auto away = client.fence_by_server(procs);
        return call_and_wait<pmix_status_t>(process(rank).runtime(), PMIX_ERR_WOULD_BLOCK,
                                            [&](auto deliver) { client.fence(procs, {}, deliver); });
    }
    void post(pmix_rank_t rank, const char* key, const char* text) {
        Client& client = *process(rank).client();
        EXPECT_EQ(client.put(PMIX_GLOBAL, key, *Value::from(text)), PMIX_SUCCESS);
        EXPECT_EQ(call_and_wait<pmix_status_t>(process(rank).runtime(), PMIX_ERR_WOULD_BLOCK,
                                               [&](auto deliver) { client.commit(deliver); }),
                  PMIX_SUCCESS);
    }

    FakeNode<0> node_{true};
    std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace muster::testing_in_memory
