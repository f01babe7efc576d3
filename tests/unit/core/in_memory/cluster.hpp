// SPDX-License-Identifier: BSD-3-Clause
// Jobs on one node or two, in memory: the servers with their clients, and one host for both nodes. The host
// gathers the calls of both servers, carries events from one to the other, and answers on request of the
// test.
#pragma once

#include <gtest/gtest.h>
#include <pmix/muster.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/query/waits.hpp"
#include "framework/base/proc.hpp"
#include "tests/unit/core/in_memory/calls.hpp"
#include "tests/unit/core/in_memory/job.hpp"
#include "tests/unit/core/in_memory/listener.hpp"

namespace muster::testing_in_memory {

class Cluster {
  public:
    explicit Cluster(int nodes = 1, bool shares_memory = false) : nodes_(nodes), first_(shares_memory) {
        if (nodes == 2) second_ = std::make_unique<FakeNode<1>>(shares_memory);
    }

    int nodes() const { return nodes_; }
    /// Calls `what` with one of the nodes.
    template <class Do>
    decltype(auto) at(int node, Do what) {
        return node == 0 ? what(first_) : what(*second_);
    }
    FakeHost& host(int node = 0) { return node == 0 ? first_.host : second_->host; }
    Process& server_process(int node = 0) {
        return at(node, [](auto& one) -> Process& { return one.process(); });
    }
    Server& server(int node = 0) { return *server_process(node).server(); }
    Namespaces& namespaces(int node) { return server(node).queries().namespaces(); }
    int node_of(pmix_rank_t rank) const { return static_cast<int>(rank) % nodes_; }

    /// Registers a job, the ranks in turn on the nodes, and starts its processes.
    void start(const std::string& nspace, uint32_t size) {
        std::string names, maps[2];
        for (int node = 0; node < nodes_; ++node)
            names += (node == 0 ? "node" : ",node") + std::to_string(node);
        for (pmix_rank_t rank = 0; rank < size; ++rank) {
            std::string& map = maps[node_of(rank)];
            map += (map.empty() ? "" : ",") + std::to_string(rank);
        }
        const std::string ranks = nodes_ == 1 ? maps[0] : maps[0] + ";" + maps[1];
        for (int node = 0; node < nodes_; ++node) {
            int local = 0;
            for (pmix_rank_t rank = 0; rank < size; ++rank)
                local += node_of(rank) == node ? 1 : 0;
            at(node, [&](auto& one) {
                one.add_job(nspace.c_str(), size, names.c_str(), ranks.c_str(), local);
                for (pmix_rank_t rank = 0; rank < size; ++rank) {
                    if (node_of(rank) == node) one.register_client(nspace.c_str(), rank);
                }
            });
        }
        for (pmix_rank_t rank = 0; rank < size; ++rank) {
            at(node_of(rank), [&](auto& one) { one.add_client(nspace.c_str(), rank); });
            alive_.insert({nspace, rank});
        }
    }
    Process& process(const std::string& nspace, pmix_rank_t rank) {
        return at(node_of(rank), [&](auto& one) -> Process& { return one.client(nspace.c_str(), rank); });
    }
    bool alive(const std::string& nspace, pmix_rank_t rank) const {
        return alive_.count({nspace, rank}) != 0;
    }
    /// The process ends without PMIx_Finalize.
    void kill(const std::string& nspace, pmix_rank_t rank) {
        alive_.erase({nspace, rank});
        at(node_of(rank), [&](auto& one) { one.kill(nspace.c_str(), rank); });
    }
    /// The process finalizes, and continues to run.
    Call finalize(const std::string& nspace, pmix_rank_t rank) {
        alive_.erase({nspace, rank});
        Process& leaving = process(nspace, rank);
        return call(leaving, [&leaving](HostDone done) {
            leaving.client()->finalize(std::chrono::seconds(2), false,
                                       [done](pmix_status_t status) { done(answer_of(status)); });
        });
    }
    /// A process that has finalized initialises again.
    void restart(const std::string& nspace, pmix_rank_t rank) {
        at(node_of(rank), [&](auto& one) { one.add_client(nspace.c_str(), rank); });
        alive_.insert({nspace, rank});
    }
    /// The host reports that a process has exited.
    void exited(const std::string& nspace, pmix_rank_t rank) {
        at(node_of(rank), [&](auto& one) {
            one.on_loop([&] { one.server().deregister_client(make_proc(nspace, rank), [] {}); });
        });
    }
    /// The host deregisters the job on all nodes.
    void deregister(const std::string& nspace) {
        for (int node = 0; node < nodes_; ++node) {
            at(node, [&](auto& one) {
                one.on_loop([&] { one.server().deregister_nspace(nspace.c_str(), [] {}); });
            });
        }
    }
    /// Ends a job whose test is over.
    void end(const std::string& nspace, uint32_t size) {
        for (pmix_rank_t rank = 0; rank < size; ++rank) {
            alive_.erase({nspace, rank});
            at(node_of(rank), [&](auto& one) { one.kill(nspace.c_str(), rank); });
        }
        settle(10);
        deregister(nspace);
        operations_.clear();
        settle(10);
    }

    void turn() {
        first_.turn();
        if (second_) second_->turn();
    }
    void settle(int turns = 60) {
        for (int i = 0; i < turns; ++i)
            turn();
    }
    void pass(std::chrono::milliseconds time) {
        first_.pass(time);
        if (second_) second_->pass(time);
        settle();
    }
    /// Drives all loops until `done` holds; false on a timeout.
    [[nodiscard]] bool until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit) return false;
            turn();
        }
        return true;
    }
    /// Drives all loops and the host until both have nothing to do.
    void finish() {
        for (int round = 0; round < 12; ++round) {
            settle(20);
            carry();
        }
    }
    /// The host does the work that is pending. With `random` it defers some of it.
    void carry(std::mt19937* random = nullptr) {
        const auto later = [&] { return random != nullptr && (*random)() % 2 == 0; };
        for (int node = 0; node < nodes_; ++node) {
            while (!later()) {
                const auto event = host(node).take("notify_event");
                if (!event) break;
                pass_on(node, *event);
                event->answer(answer_of(PMIX_SUCCESS));
            }
            gather(node);
        }
        for (auto one = operations_.begin(); one != operations_.end();) {
            if (!is_complete(*one) || later()) {
                ++one;
                continue;
            }
            answer(*one);
            one = operations_.erase(one);
        }
    }
    /// Operations for which the host has some calls and waits for more. Excluded: operations that have failed
    /// on one node, of which the other node may never be notified; and those with only servers that
    /// participate for departed processes, if the host has completed without them.
    size_t incomplete() const {
        return static_cast<size_t>(
            std::count_if(operations_.begin(), operations_.end(), [](const Operation& one) {
                return std::none_of(std::begin(one.calls), std::end(one.calls), [](const auto& calls) {
                    return std::any_of(calls.begin(), calls.end(), [](const auto& each) {
                        return has_failed(*each) || each->info.view().is_true(MUSTER_GROUP_STANDIN);
                    });
                });
            }));
    }

    /// Returns the waits of the processes of all nodes, from a query.
    std::vector<std::string> waits() {
        std::vector<std::string> texts;
        for (int node = 0; node < nodes_; ++node) {
            at(node, [&](auto& one) {
                one.on_loop([&] {
                    Caller caller = Caller::host(one.process().runtime());
                    caller.uid = 0;
                    Info found;
                    answer_waits(one.server().queries(), caller, MUSTER_WAITS, {}, found);
                    for (const pmix_info_t& entry : value_as_infos(&found[0].value))
                        texts.emplace_back(value_as_infos(&entry.value).string(MUSTER_WAIT));
                });
            });
        }
        return texts;
    }

  private:
    struct Operation {
        std::string name;
        std::vector<pmix_proc_t> procs;
        std::vector<std::shared_ptr<Upcall>> calls[2];
    };

    /// Gives an event of one server's clients to the other server, if it is for processes there.
    void pass_on(int node, const Upcall& upcall) {
        if (nodes_ == 1 || upcall.range == PMIX_RANGE_RM) return;
        auto event = make_event(upcall.procs[0], upcall.number, upcall.range);
        if (auto copy = Info::copy_of(upcall.info)) event->info = std::move(*copy);
        ASSERT_EQ(event->read_directives(), PMIX_SUCCESS);
        const int other = 1 - node;
        at(other, [&](auto& one) {
            one.on_loop([&] {
                const auto is_there = [&](const pmix_proc_t& proc) {
                    return proc.rank == PMIX_RANK_WILDCARD || namespaces(other).is_local(proc);
                };
                if (event->range == PMIX_RANGE_CUSTOM &&
                    std::none_of(event->targets.begin(), event->targets.end(), is_there))
                    return;
                one.process().events().notify(event, [](pmix_status_t) {});
            });
        });
    }
    void gather(int node) {
        for (const char* name : {"group", "fence", "connect", "disconnect"}) {
            while (const auto upcall = host(node).take(name)) {
                std::string whole = upcall->name + " " + std::to_string(upcall->number) + " " + upcall->text;
                for (const pmix_proc_t& proc : upcall->procs)
                    whole += " " + Proc(proc).text();
                // Groups have names; for other operations a node may already have begun the next one.
                const auto found =
                    std::find_if(operations_.begin(), operations_.end(), [&](const Operation& one) {
                        return one.name == whole && (one.calls[node].empty() || upcall->name == "group");
                    });
                Operation& operation = found == operations_.end()
                                           ? operations_.emplace_back(Operation{whole, upcall->procs, {}})
                                           : *found;
                operation.calls[node].push_back(upcall);
            }
        }
    }
    bool takes_part(int node, const pmix_proc_t& proc) {
        return std::any_of(alive_.begin(), alive_.end(), [&](const auto& one) {
            return one.first == nspace_view(proc.nspace) && node_of(one.second) == node &&
                   (proc.rank == PMIX_RANK_WILDCARD || proc.rank == one.second);
        });
    }
    /// Whether each node with living participants has called.
    bool is_complete(const Operation& operation) {
        for (int node = 0; node < nodes_; ++node) {
            if (operation.calls[node].empty() &&
                std::any_of(operation.procs.begin(), operation.procs.end(),
                            [&](const pmix_proc_t& proc) { return takes_part(node, proc); }))
                return false;
        }
        return true;
    }
    void answer(const Operation& operation) {
        const bool wants_id = has(operation, PMIX_GROUP_ASSIGN_CONTEXT_ID);
        if (wants_id) ++context_id_;
        for (const auto& to : operation.calls) {
            for (const auto& upcall : to) {
                HostAnswer whole;
                for (const auto& from : operation.calls) {
                    for (const auto& part : from) {
                        whole.data.append(part->bytes.data(), part->bytes.size());
                        for (const pmix_info_t& one : part->info) {
                            if (key_is(one.key, PMIX_GROUP_ENDPT_DATA)) whole.info.add_copy(one);
                        }
                    }
                }
                if (wants_id) whole.info.add(PMIX_GROUP_CONTEXT_ID, context_id_);
                upcall->answer(whole);
            }
        }
    }
    static bool has_failed(const Upcall& upcall) {
        const pmix_value_t* local = upcall.info.view().value(PMIX_LOCAL_COLLECTIVE_STATUS);
        return local != nullptr && local->data.status != PMIX_SUCCESS &&
               local->data.status != PMIX_ERR_PARTIAL_SUCCESS;
    }
    static bool has(const Operation& operation, const char* key) {
        for (const auto& calls : operation.calls) {
            for (const auto& one : calls) {
                if (one->info.view().is_true(key)) return true;
            }
        }
        return false;
    }

    const int nodes_;
    FakeNode<0> first_;
    std::unique_ptr<FakeNode<1>> second_;
    std::set<std::pair<std::string, pmix_rank_t>> alive_;
    std::list<Operation> operations_;  ///< incomplete, oldest first
    size_t context_id_ = 0;
};

}  // namespace muster::testing_in_memory
