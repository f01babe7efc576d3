// SPDX-License-Identifier: BSD-3-Clause
// The launcher itself: forks the node daemons, makes them register and start jobs, forwards their messages,
// decides when a job has failed and cleans up after it. launcher.cpp has the life cycle of the launcher,
// launcher_jobs.cpp that of the jobs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/base/report.hpp"
#include "tools/muster/command_line/options.hpp"
#include "tools/muster/exchange/link.hpp"
#include "tools/muster/host/initiator.hpp"
#include "tools/muster/jobs/input.hpp"
#include "tools/muster/jobs/job_table.hpp"
#include "tools/muster/jobs/output.hpp"
#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Forwards;
struct NodePlan;

class Launcher {
  public:
    /// `initiator`: the tool that guides us, if there is one.
    explicit Launcher(Options options, Initiator initiator = {});
    ~Launcher();
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    /// Runs the job, and those that it spawns, to their end. The exit status.
    int run();

  private:
    enum class State {
        Starting,  ///< servers start
        Running,
        Ending,   ///< all jobs are being ended
        Quitting  ///< no rank is left; the nodes end
    };
    struct NodeState {
        pid_t pid = -1;
        int fd = -1;  ///< until there is a link
        std::unique_ptr<Link> link;
        bool ready = false;
        bool gone = true;  ///< not started, or ended
    };
    /// How a process has failed: the exit status of muster, the status of the job, a sentence.
    struct RankFailure {
        int status;
        int32_t term_status;
        std::string why;
    };
    /// The state of a job while it is launched or ended.
    struct Progress {
        Hub::Launched launched;
        Watch force;
        std::map<uint32_t, Watch> restarts;  ///< of ranks with a pending restart
    };

    bool start_nodes();
    bool start_node(uint32_t number);
    [[noreturn]] void run_node(NodePlan plan);
    void connect_node(uint32_t number);
    void make_parts();
    void watch_signals();
    bool start_library();
    void on_message(uint32_t node, Topic topic, uint64_t question, Buffer& in);
    void on_node_gone(uint32_t node);
    void on_signals();
    void on_signal(int number);
    void on_timeout();
    void node_ready(uint32_t node, const std::string& uri);
    void say_uri();
    void end_all();
    /// Ends everything: reports the reason (the first time), stores the status, ends all jobs.
    void fail(int status, const std::string& why);
    void quit_nodes();
    void kill_nodes_later();
    void say(const std::string& line);
    bool ending() const { return state_ == State::Ending || state_ == State::Quitting; }

    // The tool that guides us (launcher_guided.cpp).
    void watch_initiator();
    void guided(Guidance guidance);
    void released(const ProcName& who);
    void say_ready();
    void launch_first();

    // The jobs.
    void count_slots(Job& job);
    void job_set_up(uint32_t number, const std::string& setup);
    void job_registered(uint32_t node, uint32_t number, const std::string& error);
    void on_rank(const RankEvent& event);
    void rank_started(JobRecord& record, RankState& rank, pid_t pid);
    void rank_not_started(JobRecord& record, const RankEvent& event);
    std::optional<RankFailure> failure_of(const JobRecord& record, ProcId proc);
    void rank_exited(JobRecord& record, RankState& rank, const RankEvent& event);
    bool may_restart(const JobRecord& record, uint32_t rank) const;
    void restart_later(JobRecord& record, uint32_t rank, const std::string& why);
    void restart(uint32_t job, uint32_t rank);
    void rank_aborted(JobRecord& record, RankState& rank, const RankEvent& event);
    void rank_ended(JobRecord& record, uint32_t rank);
    void start_settled(JobRecord& record);
    void launched(JobRecord& record, int32_t status, const std::string& why);
    /// A process has failed, and with it the job, unless it can recover and another process is left.
    void rank_failed(JobRecord& record, const RankFailure& failure);
    /// The job has failed: reports the reason (the first time), stores the status, ends it and the jobs that
    /// depend on it.
    void fail_job(JobRecord& record, int status, int32_t term_status, const std::string& why);
    std::vector<JobRecord*> children_of(const JobRecord& record);
    void end_ranks_of(JobRecord& record);
    void job_over(JobRecord& record);
    std::string describe(ProcId proc);

    JobRecord& launch(Job job, Hub::Launched launched);
    void end_job(JobRecord& job, int32_t term_status, bool at_once);
    Forwards& forwards();

    const Options options_;
    const Initiator initiator_;
    // Before all that watches on it. Made after the nodes were forked, so that they inherit nothing of it;
    // later ones are executed.
    std::unique_ptr<Loop> loop_;
    Guidance guidance_;
    Watch keepalive_;
    std::optional<Job> first_;  ///< the job of the command line, until it is launched
    Report report_;
    std::string hostname_;
    std::string server_nspace_;
    std::string session_dir_;
    std::string rendezvous_;          ///< the file by which tools find us by our process ID
    std::string rendezvous_by_name_;  ///< the same by the server's namespace
    std::string uri_;                 ///< of node 0's server
    std::vector<std::string> node_names_;
    JobTable jobs_;
    uint32_t cores_ = 0;  ///< of a node; 0: not counted yet
    std::map<uint32_t, Progress> progress_;
    std::vector<NodeState> nodes_;
    std::unique_ptr<Output> output_;
    std::unique_ptr<Input> input_;
    std::unique_ptr<Hub> hub_;
    std::map<Topic, std::unique_ptr<Service>> services_;
    int signal_fd_ = -1;
    Watch signals_, timeout_, stuck_;
    State state_ = State::Starting;
    std::optional<int> failure_;  ///< exit status of the first failure
    bool failed_ = false;         ///< fail() was called
    int interrupts_ = 0;
};

/// The first of two words that a node's program is started with; the second is for launcher::run_node.
inline constexpr const char* kNodeOption = "--node-of-launcher";

/// "0-3,7" of a sorted list.
std::string rank_text(const std::vector<uint32_t>& ranks);

}  // namespace muster::launcher
