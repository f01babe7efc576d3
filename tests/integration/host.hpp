// SPDX-License-Identifier: BSD-3-Clause
// A host for tests: a PMIx server in this process, with a module of upcalls that records its calls and
// answers later, from its own thread; and the client processes that it starts. Public API only.
#pragma once

#include <pmix_server.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace integration {

/// One recorded upcall.
struct Upcall {
    std::string name;
    pmix_proc_t proc{};
    void* object = nullptr;
    int status = 0;
    std::string text;
    std::vector<pmix_proc_t> procs;  ///< of a modex: the requestor, whose user is `status`
    std::vector<std::string> keys;   ///< of its infos
    std::string data;
    bool empty_list = false;  ///< of an abort: an array of no process, which is not NULL
};

/// A client process. Ended and waited for by the destructor.
class Process {
  public:
    Process(pid_t pid, int output, int input) : pid_(pid), output_(output), input_(input) {}
    Process(Process&& other) noexcept;
    Process(const Process&) = delete;
    ~Process();

    /// The next line of its output, waiting at most `seconds`; empty if none arrived.
    std::string line(double seconds = 20);
    /// Releases it (clients wait for a line at some steps).
    void go_on();
    /// Its exit status (128 + signal for a signal), or -1 after `seconds`; it is killed then.
    int wait(double seconds = 30);
    /// Sends it a signal.
    void signal(int number);

  private:
    pid_t pid_;
    int output_;
    int input_;
    std::string buffer_;
};

class Host {
  public:
    /// `change` may take entries out of the module before the server starts.
    explicit Host(const std::function<void(pmix_server_module_t&)>& change = {},
                  const std::vector<pmix_info_t>& directives = {});
    ~Host();
    Host(const Host&) = delete;

    /// The nodes of a job's ranks: nodes[0] is this machine.
    struct Job {
        std::string nspace;
        std::vector<std::vector<pmix_rank_t>> nodes;
        uint32_t size() const;
        uint32_t local() const { return static_cast<uint32_t>(nodes[0].size()); }
    };
    /// A job of `here` ranks on this node and `elsewhere` on another one, ranks in that order. Registers it
    /// with its maps and sizes, and what `more` adds (a list for PMIx_Info_list_add), and all ranks of this
    /// node as clients; the object of a rank is object(rank).
    Job start_job(uint32_t here, uint32_t elsewhere = 0, const std::function<void(void* list)>& more = {});
    /// The same with the ranks of each node given; the first node is this one.
    Job start_job_on(std::vector<std::vector<pmix_rank_t>> nodes,
                     const std::function<void(void* list)>& more = {});
    pmix_status_t register_job(const Job& job, const std::function<void(void* list)>& more = {});
    pmix_status_t register_client(const Job& job, pmix_rank_t rank, uid_t uid, gid_t gid);
    void deregister_client(const Job& job, pmix_rank_t rank);
    void deregister_job(const Job& job);
    static void* object(pmix_rank_t rank);

    /// The environment of a client from PMIx_server_setup_fork.
    std::vector<std::string> environment(const Job& job, pmix_rank_t rank);
    /// Runs integration_client with these words.
    Process start(const Job& job, pmix_rank_t rank, const std::vector<std::string>& words);
    /// Runs another program; `more`: further variables, "NAME=value".
    Process start_program(const Job& job, pmix_rank_t rank, const std::string& program,
                          const std::vector<std::string>& words, const std::vector<std::string>& more = {});

    /// For a host with PMIX_EXTERNAL_PROGRESS: waits up to that long for work, and does it.
    void progress(double seconds);

    /// Upcalls of that name so far (all for ""), in order.
    std::vector<Upcall> upcalls(const std::string& name = "");
    /// Waits until there are `count` of that name.
    bool wait_for(const std::string& name, size_t count, double seconds = 20);
    /// Answers to this upcall are kept back until release().
    void hold(const std::string& name);
    void release(const std::string& name);
    /// Sets the answer of the direct modex upcall.
    void answer_modex(pmix_status_t status, std::string data);
    /// Sets the fence upcall's answer, which replaces the received data.
    void answer_fence(pmix_status_t status, std::string data);

    struct State;

  private:
    std::unique_ptr<State> state_;
};

/// A process's posted data as the server passes it to hosts of other nodes (PMIx_server_dmodex_request).
/// `done`: whether the data have arrived.
class ModexRequest {
  public:
    ModexRequest(const Host::Job& job, pmix_rank_t rank);
    bool done(double seconds);
    pmix_status_t status() const;
    std::string data() const;

    struct Answer;

  private:
    std::shared_ptr<Answer> answer_;
};

}  // namespace integration
