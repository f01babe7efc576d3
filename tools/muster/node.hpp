// SPDX-License-Identifier: BSD-3-Clause
// A node daemon: a PMIx server with its host side, and the ranks of one (pretended) node. A process of its
// own, forked from the launcher before that has any thread; it knows the job from the launcher's memory, and
// talks to it by a Link.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/muster/host.hpp"
#include "tools/muster/job.hpp"
#include "tools/muster/job_data.hpp"
#include "tools/muster/link.hpp"
#include "tools/muster/loop.hpp"

namespace muster {

/// What a node is told when it is forked.
struct NodePlan {
    const Job* job = nullptr;
    uint32_t number = 0;
    std::string server_nspace;
    std::string session_dir;  ///< of the run; the node makes its own below
    InputPolicy input;
    bool merge_output = false;
    int launcher_fd = -1;
};

class Node final : private HostDuties {
  public:
    explicit Node(NodePlan plan);
    ~Node() override;

    /// Serves until the launcher says Quit or is gone; nothing of the node is left then. The exit status.
    int run();

  private:
    struct Pipe {
        int fd = -1;
        Watch watch;
    };
    struct Rank {
        uint32_t rank = 0;
        pid_t pid = -1;  ///< -1: not started, or ended and waited for
        bool started = false;
        bool connected = false;
        Pipe out, err;
        Pipe in;
        std::string input;  ///< not yet taken by the process
        bool input_ended = false;
    };

    bool start_server(std::string& error);
    std::string register_job();
    void start_next();
    bool start_rank(Rank& rank, std::string& error, int& status);
    void watch_output(Rank& rank, Pipe& pipe, uint32_t channel);

    void on_message(Kind kind, uint64_t id, std::string_view body);
    void on_signal();
    void reap();
    void read_output(Rank& rank, Pipe& pipe, uint32_t channel, bool all);
    void send_output(const Rank& rank, uint32_t channel, std::string_view bytes);
    void output_taken(uint64_t bytes);
    void feed(Rank& rank);
    void close_input(Rank& rank, bool refused);
    void signal_ranks(int number, const std::vector<ProcId>& procs);
    void end();
    Rank* rank_of(ProcId id);
    Rank* rank_of(const ProcName& name);
    Rank* rank_of_pid(pid_t pid);

    void client_connected(const ProcName& proc) override;
    void client_finalized(const ProcName& proc) override;
    void abort(const ProcName& proc, int status, const std::string& text,
               const std::vector<ProcName>& targets, StatusAnswer answer) override;
    void fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes, DataAnswer answer) override;
    void direct_modex(const ProcName& proc, uint32_t seconds, DataAnswer answer) override;
    void modex_asked(uint64_t id, const ProcName& proc);
    void modex_answered(uint64_t id, pmix_status_t status, std::string_view bytes);

    NodePlan plan_;
    const Job& job_;
    std::string dir_;
    JobDirs dirs_;
    Loop loop_;
    std::unique_ptr<Link> link_;
    int signal_fd_ = -1;
    Watch signals_;
    bool server_runs_ = false;
    bool launcher_gone_ = false;
    int status_ = 0;
    std::vector<Rank> ranks_;
    size_t next_start_ = 0;  ///< index of the rank that is started next
    bool no_more_starts_ = false;
    uint64_t output_in_flight_ = 0;
    bool output_paused_ = false;
    uint64_t next_id_ = 1;
    std::map<uint64_t, DataAnswer> answers_;  ///< fences and modexes that the launcher is to answer
    std::map<uint64_t, ProcName> asked_;      ///< modexes asked of our own ranks, by the launcher's id
    std::vector<Watch> asked_timers_;
};

}  // namespace muster
