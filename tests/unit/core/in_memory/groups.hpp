// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the tests of groups in memory: a job on one node or two, calls of all its processes, and
// handlers of group events.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/in_memory/cluster.hpp"

namespace muster::testing_in_memory {

class GroupsInMemory : public testing::Test {
  protected:
    void start(uint32_t size, int nodes = 1, bool shares_memory = false) {
        listeners_.clear();
        cluster_.emplace(nodes, shares_memory);
        cluster_->start("job", size);
        size_ = size;
    }
    Process& process(pmix_rank_t rank) { return cluster_->process("job", rank); }
    bool alive(pmix_rank_t rank) const { return cluster_->alive("job", rank); }
    static pmix_proc_t proc(pmix_rank_t rank) { return make_proc("job", rank); }
    std::vector<pmix_proc_t> all() const { return procs_of("job", ranks()); }
    std::vector<pmix_rank_t> ranks() const {
        std::vector<pmix_rank_t> list;
        for (pmix_rank_t rank = 0; rank < size_; ++rank)
            list.push_back(rank);
        return list;
    }
    static Info copy(const Info& info) {
        auto made = Info::copy_of(info);
        return made ? std::move(*made) : Info();
    }

    /// These processes construct a group of the whole job.
    Calls construct_all(const std::string& id, const std::vector<pmix_rank_t>& callers,
                        const Info& info = {}) {
        Calls calls;
        for (const pmix_rank_t rank : callers)
            calls[rank] = construct(process(rank), id, all(), copy(info));
        return calls;
    }
    Calls construct_all(const std::string& id, const Info& info = {}) {
        return construct_all(id, ranks(), info);
    }
    Calls destruct_all(const std::string& id, const std::vector<pmix_rank_t>& callers,
                       const Info& info = {}) {
        Calls calls;
        for (const pmix_rank_t rank : callers)
            calls[rank] = destruct(process(rank), id, copy(info));
        return calls;
    }
    Calls destruct_all(const std::string& id) { return destruct_all(id, ranks()); }

    /// Drives all loops, and checks that each call was answered once, with this status.
    ::testing::AssertionResult all_have(const Calls& calls, pmix_status_t status) {
        cluster_->finish();
        for (const auto& [rank, one] : calls) {
            if (one.status() != status || one.answers() != 1)
                return ::testing::AssertionFailure()
                       << "rank " << rank << " has " << one.status() << ", " << one.answers() << " times";
        }
        return ::testing::AssertionSuccess();
    }
    /// The same, and that the results name these members.
    ::testing::AssertionResult all_have(const Calls& calls, pmix_status_t status,
                                        const std::vector<pmix_rank_t>& members) {
        const auto answered = all_have(calls, status);
        if (!answered) return answered;
        for (const auto& [rank, one] : calls) {
            if (one.ranks() != members)
                return ::testing::AssertionFailure() << "rank " << rank << " has other members";
        }
        return ::testing::AssertionSuccess();
    }
    bool nobody_answered(const Calls& calls) {
        cluster_->settle();
        return std::none_of(calls.begin(), calls.end(), [](const auto& one) { return one.second.there(); });
    }

    /// A handler of a process for these codes; it lives as long as the test.
    Listener& listen(pmix_rank_t rank, std::vector<pmix_status_t> codes) {
        return listen(process(rank), std::move(codes));
    }
    Listener& listen(Process& at, std::vector<pmix_status_t> codes) {
        listeners_.emplace_back();
        Listener& made = listeners_.back();
        made.listen(at, std::move(codes));
        EXPECT_TRUE(cluster_->until([&] { return made.registered(); }));
        EXPECT_EQ(made.status(), PMIX_SUCCESS);
        return made;
    }
    /// The group as the server of a node knows it, or null.
    const Group* known(const std::string& id, int node = 0) {
        return cluster_->server_process(node).groups().find(id);
    }
    /// Whether an operation has left no state: no process waits, and no answer of the host is pending.
    ::testing::AssertionResult nothing_is_left() {
        const auto waits = cluster_->waits();
        if (!waits.empty())
            return ::testing::AssertionFailure() << waits.size() << " wait: " << waits.front();
        if (cluster_->incomplete() != 0)
            return ::testing::AssertionFailure() << cluster_->incomplete() << " operations are with the host";
        return ::testing::AssertionSuccess();
    }

    std::list<Listener> listeners_;
    std::optional<Cluster> cluster_;
    uint32_t size_ = 0;
};

/// The affected rank of an event; PMIX_RANK_UNDEF if it names none.
inline pmix_rank_t affected_by(const Listener::Heard& heard) {
    const pmix_proc_t* proc = heard.info.view().proc(PMIX_EVENT_AFFECTED_PROC);
    return proc == nullptr ? PMIX_RANK_UNDEF : proc->rank;
}

}  // namespace muster::testing_in_memory
