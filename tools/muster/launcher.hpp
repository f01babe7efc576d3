// SPDX-License-Identifier: BSD-3-Clause
// The launcher itself: forks the node daemons, has them start the ranks, passes on what they say, decides
// when the job has failed and sees to it that nothing of it is left.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/muster/input.hpp"
#include "tools/muster/job.hpp"
#include "tools/muster/link.hpp"
#include "tools/muster/loop.hpp"
#include "tools/muster/options.hpp"
#include "tools/muster/output.hpp"
#include "tools/muster/report.hpp"
#include "tools/muster/router.hpp"

namespace muster {

class Launcher {
  public:
    explicit Launcher(Options options);
    ~Launcher();

    /// Runs the job to its end. The exit status.
    int run();

  private:
    enum class State {
        Starting,  ///< servers come up
        Running,
        Ending,   ///< the job has failed, its ranks are being ended
        Quitting  ///< no rank is left; the nodes end
    };
    struct RankState {
        pid_t pid = -1;
        bool connected = false;
        bool finalized = false;
        bool dismissed = false;  ///< another rank asked for its end; its status does not matter
        bool ended = false;
    };
    struct NodeState {
        pid_t pid = -1;
        std::unique_ptr<Link> link;
        bool ready = false;
        bool gone = false;
    };

    bool fork_nodes();
    void watch_signals();
    void on_message(uint32_t node, Kind kind, uint64_t id, std::string_view body);
    void on_node_gone(uint32_t node);
    void on_signals();
    void on_signal(int number);
    void node_ready(uint32_t node);
    void rank_not_started(ProcId proc, int status, const std::string& why);
    void rank_connected(ProcId proc);
    void rank_exited(ProcId proc, int status);
    void rank_aborted(ProcId proc, int status, const std::string& text, const std::vector<ProcName>& targets);
    void rank_ended(uint32_t rank);
    RankState* rank_of(ProcId proc);
    std::string describe(uint32_t rank) const;

    /// The job has failed: says why (the first time), remembers the status, ends all ranks.
    void fail(int status, const std::string& why);
    void end_ranks();
    void signal_ranks(int number, const std::vector<ProcId>& procs = {});
    void quit_nodes();
    void kill_nodes_later();
    void say(const std::string& line);
    bool ended() const { return state_ == State::Ending || state_ == State::Quitting; }

    const Options options_;
    Report report_;
    std::string hostname_;
    std::string session_dir_;
    Job job_;
    std::vector<int> node_fds_;
    std::vector<NodeState> nodes_;
    // Made after the nodes were forked, so that they inherit nothing of it.
    std::unique_ptr<Loop> loop_;
    std::unique_ptr<Output> output_;
    std::unique_ptr<Input> input_;
    std::unique_ptr<Router> router_;
    int signal_fd_ = -1;
    Watch signals_, timeout_, force_, stuck_;
    State state_ = State::Starting;
    std::vector<RankState> ranks_;
    uint32_t ranks_left_ = 0;
    std::optional<int> failure_;  ///< exit status of the first failure
    int interrupts_ = 0;
};

}  // namespace muster
