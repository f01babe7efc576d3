// SPDX-License-Identifier: BSD-3-Clause
// The processes of one node, of all jobs: makes jobs known to the node's server, starts their ranks, passes
// output and input on, signals the ranks and sees their end. On the node's loop.
#pragma once

#include <pmix_common.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/exchange/link.hpp"
#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/job_data.hpp"
#include "tools/muster/nodes/process.hpp"

namespace muster::launcher {

class LocalRanks {
  public:
    struct Pipe {
        int fd = -1;
        Watch watch;
    };
    struct Rank {
        ProcId id;
        const App* app = nullptr;
        pid_t pid = -1;  ///< -1: not started, or ended and waited for
        bool started = false;
        bool connected = false;  ///< initialised, and not finalized since
        bool stopped = false;    ///< before its first instruction, until it is released
        Pipe out, err;
        Pipe in;
        std::string input;  ///< not yet taken by the process
        bool input_ended = false;
    };

    /// `dir`: the node's own directory. `server_nspace`: the namespace of the nodes' servers.
    /// `on_ended(name)`: this process has ended, and its earlier events were processed.
    LocalRanks(Loop& loop, Link& link, uint32_t node, std::string dir, std::string server_nspace,
               std::function<void(const ProcName& name)> on_ended);

    /// Makes a job and its local ranks known to the server; the reason when that fails.
    std::string add(Job job);
    void start(uint32_t job);
    /// A process that has failed is started for the `reincarnation`-th time again; on its node, or elsewhere.
    void restart(ProcId id, uint32_t reincarnation);
    /// The job has ended everywhere.
    void forget(uint32_t job);
    const Job* job_of(std::string_view nspace) const;
    Rank* find(ProcId id);
    Rank* find(const ProcName& name);

    /// Defines a process set at the server of this node.
    /// @return the server's status.
    pmix_status_t define_set(const std::string& name, std::vector<pmix_proc_t> members);
    /// The names of the process sets, in the order of their definition; `local`: of those with a process
    /// here.
    std::vector<std::string> set_names(bool local);

    /// Sends a signal to ranks (none named: to all). `last`: no further process of their jobs is started.
    void signal(int number, const std::vector<ProcId>& procs, bool last);
    /// Lets processes go on that were stopped at their start; a rank may be PMIX_RANK_WILDCARD.
    void release(const std::vector<ProcName>& procs);
    /// The rank has called PMIx_Finalize.
    void finalized(Rank& rank);
    /// The process IDs of those of these that run here.
    std::vector<std::pair<ProcId, pid_t>> running(const std::vector<ProcId>& procs);
    /// Reaps ended processes.
    void reap();
    /// Input for a rank; none: its end.
    void give_input(ProcId id, std::string_view bytes);
    /// The launcher has written that many bytes.
    void output_taken(uint64_t bytes);
    /// Reads the rest of the pipes; all processes have ended.
    void drain();
    /// The server is about to end.
    void deregister();

  private:
    struct LocalJob {
        Job job;
        JobDirs dirs;
        std::vector<std::unique_ptr<Rank>> ranks;  ///< in order; watches point at them
        size_t next_start = 0;                     ///< index of the rank that is started next
        bool no_more_starts = false;
        bool registered = false;
        std::map<uint32_t, std::string> programs;                ///< preloaded, by number of the program
        std::map<uint32_t, std::vector<std::string>> preloaded;  ///< names of files, likewise
        bool has_agents = false;  ///< the namespace of the agents is registered, too
    };

    void tell(const RankEvent& event);
    void tell_input(const Rank* rank, uint64_t bytes, bool refused);
    void start_next(uint32_t job);
    void start_now(LocalJob& local, Rank& rank);
    bool renew(LocalJob& local, Rank& rank, StartFailure& failure);
    bool describe(const LocalJob& local, const Rank& rank, ProcessSpec& spec, StartFailure& failure);
    std::string add_agents(LocalJob& local);
    std::string preload_for(LocalJob& local);
    std::string preload_for(LocalJob& local, const Rank& rank);
    bool start_rank(LocalJob& local, Rank& rank, StartFailure& failure);
    void watch_output(Rank& rank, Pipe& pipe, uint32_t channel);
    void read_output(Rank& rank, Pipe& pipe, uint32_t channel, bool all);
    void send_output(const Rank& rank, uint32_t channel, std::string_view bytes);
    void pause_output(bool pause);
    void feed(Rank& rank);
    void close_input(Rank& rank, bool refused);
    static void report_end(const ProcName& name, int status, bool connected);
    void deregister_rank(const Rank& rank);
    LocalJob* find_job(uint32_t number);

    Loop& loop_;
    Link& link_;
    const uint32_t node_;
    const std::string dir_;
    const std::string server_nspace_;
    std::function<void(const ProcName&)> on_ended_;
    std::map<uint32_t, LocalJob> jobs_;
    std::vector<std::pair<std::string, std::vector<pmix_proc_t>>> sets_;
    uint64_t output_in_flight_ = 0;
    bool output_paused_ = false;
};

}  // namespace muster::launcher
