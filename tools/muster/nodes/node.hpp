// SPDX-License-Identifier: BSD-3-Clause
// A node daemon: a PMIx server with its host side, and the ranks of one (pretended) node. A process of its
// own, forked from the launcher before that has any thread; it is told of jobs, and talks to the launcher, by
// a Link.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/muster/exchange/link.hpp"
#include "tools/muster/host/bridge.hpp"
#include "tools/muster/initiator.hpp"
#include "tools/muster/loop.hpp"
#include "tools/muster/nodes/local_ranks.hpp"

namespace muster::launcher {

/// What a node is told when it is forked.
struct NodePlan {
    uint32_t number = 0;
    std::vector<std::string> names;  ///< of all nodes
    std::string server_nspace;
    std::string rendezvous;          ///< a file by which tools find this node; empty: none
    std::string rendezvous_by_name;  ///< the same by the server's namespace
    std::string session_dir;         ///< of the run; the node makes its own below
    int launcher_fd = -1;
    std::string scheduler;  ///< of the first node: the URI of who decides about resources; empty: nobody
    Initiator initiator;    ///< of the first node: the tool that guides muster
};

/// What a node is told that is a program of its own: bytes in a file, and back. False when they are damaged.
void write_plan(Writer& out, const NodePlan& plan);
bool read_plan(Reader& in, NodePlan& plan);

/// Runs the node whose plan the file `fd` (which is closed) holds. The exit status.
int run_node(int fd);

class Node final : private Bridge {
  public:
    explicit Node(NodePlan plan);
    ~Node() override;

    /// Serves until the launcher says Quit or is gone; nothing of the node is left then. The exit status.
    int run();

  private:
    bool start_server(std::string& error);
    void on_message(Kind kind, uint64_t id, std::string_view body);
    void on_signal();
    void watch_releases();
    bool join(std::string& error);
    void set_up(const Job& job);
    std::string uri() const;
    void rank_ended(const ProcName& name);
    void answered(uint64_t id, pmix_status_t status, std::string_view bytes);
    void end();

    Loop& loop() override { return loop_; }
    uint32_t number() const override { return plan_.number; }
    const std::vector<std::string>& node_names() const override { return plan_.names; }
    ProcName server() const override { return {plan_.server_nspace, plan_.number}; }
    bool is_server(const ProcName& proc) const override { return proc.nspace == plan_.server_nspace; }
    ProcName name_of_tool() override;
    const Job* job_of(std::string_view nspace) const override { return ranks_->job_of(nspace); }
    void ask(Topic topic, const Writer& body, Done done) override;
    void tell(Topic topic, const Writer& body) override;
    void on_tell(Topic topic, OnTell handler) override;
    void client_connected(const ProcName& proc) override;
    void client_finalized(const ProcName& proc) override;
    void abort(const ProcName& proc, int status, const std::string& text,
               const std::vector<ProcName>& targets) override;
    void fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes, Done done) override;
    void direct_modex(const ProcName& proc, uint32_t seconds, Done done) override;
    void modex_asked(uint64_t id, const ProcName& proc);
    void modex_answered(uint64_t id, pmix_status_t status, std::string_view bytes);

    NodePlan plan_;
    std::string dir_;
    Loop loop_;
    std::unique_ptr<Link> link_;
    std::unique_ptr<LocalRanks> ranks_;
    int signal_fd_ = -1;
    Watch signals_;
    bool server_runs_ = false;
    bool launcher_gone_ = false;
    int status_ = 0;
    uint64_t next_id_ = 1;
    uint32_t next_tool_ = 1;
    std::map<uint64_t, Done> answers_;    ///< what the launcher is to answer
    std::map<uint64_t, ProcName> asked_;  ///< modexes asked of our own ranks, by the launcher's id
    std::vector<Watch> asked_timers_;
    std::map<Topic, OnTell> told_;
};

}  // namespace muster::launcher
