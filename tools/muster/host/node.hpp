// SPDX-License-Identifier: BSD-3-Clause
// A node daemon: a PMIx server with its host side, and the ranks of one (pretended) node. A separate process,
// forked from the launcher before that has any thread. It communicates with the launcher by a Link.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/exchange/link.hpp"
#include "tools/muster/host/initiator.hpp"
#include "tools/muster/nodes/local_ranks.hpp"

namespace muster::launcher {

/// The parameters of a node.
struct NodePlan {
    uint32_t number = 0;
    std::vector<std::string> names;  ///< of all nodes
    std::string server_nspace;
    std::string rendezvous;          ///< rendezvous file of this node for tools; empty: none
    std::string rendezvous_by_name;  ///< the same by the server's namespace
    std::string session_dir;         ///< of the run; the node makes its own below
    int launcher_fd = -1;
    std::string scheduler;   ///< of the first node: the scheduler's URI; empty: none
    Initiator initiator;     ///< of the first node: the tool that guides muster
    std::string parameters;  ///< of the first node: the names of those of the command line, a comma list
};

/// The plan of a node that is a separate program, as text; nothing if that is damaged.
std::string plan_text(const NodePlan& plan);
std::optional<NodePlan> read_plan(const std::string& text);

/// Runs the node whose plan is in the file `fd` (which is closed). Returns the exit status.
int run_node(int fd);

class Node {
  public:
    /// Handles a question of the launcher, or a notice (0).
    using Handler = std::function<void(uint64_t question, Buffer& in)>;

    explicit Node(NodePlan plan);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Serves until the launcher sends Quit or ends; nothing of the node is left then. The exit status.
    int run();

    Loop& loop() { return loop_; }
    const NodePlan& plan() const { return plan_; }
    Link& link() { return *link_; }
    LocalRanks& ranks() { return *ranks_; }
    /// The name of this node's server.
    ProcName server() const { return {plan_.server_nspace, plan_.number}; }
    /// Whether this is one of the servers themselves.
    bool is_server(const ProcName& proc) const { return proc.nspace == plan_.server_nspace; }
    /// A name for a tool without one, unique among all nodes.
    ProcName name_of_tool();
    /// Handles a topic. Before run(), or on the loop.
    void on(Topic topic, Handler handler) { handlers_[topic] = std::move(handler); }

  private:
    bool start_server(std::string& error);
    void handle_jobs();
    void on_signal();
    void watch_releases();
    bool join(std::string& error);
    void set_up(uint64_t question, const Job& job);
    std::string uri() const;
    void fail(const std::string& why);
    void rank_ended(const ProcName& name);
    void end();
    void modex_asked(uint64_t question, const ProcName& proc);
    void modex_answered(uint64_t question, pmix_status_t status, std::string_view bytes);

    NodePlan plan_;
    std::string dir_;
    Loop loop_;
    std::map<Topic, Handler> handlers_;
    std::unique_ptr<Link> link_;
    std::unique_ptr<LocalRanks> ranks_;
    int signal_fd_ = -1;
    Watch signals_;
    bool server_runs_ = false;
    bool launcher_gone_ = false;
    int status_ = 0;
    uint32_t next_tool_ = 1;
    std::map<uint64_t, ProcName> asked_;  ///< modexes of our own ranks, by the launcher's question
    std::vector<Watch> asked_timers_;
};

/// The node of this process: the C interface has no place for an owner.
Node& this_node();

}  // namespace muster::launcher
