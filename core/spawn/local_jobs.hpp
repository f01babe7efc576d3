// SPDX-License-Identifier: BSD-3-Clause
// Jobs that the library itself starts, on this machine, for a launcher that has neither a server nor a host
// to ask: usually one process, an intermediate launcher that connects back as a tool (Standard: Launching
// Applications with Tools, Indirect launch). On the loop.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "core/events/event.hpp"
#include "core/setup/fork_environment.hpp"
#include "core/spawn/spawn.hpp"
#include "framework/base/loop.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

class LocalJobs {
  public:
    /// The calls of a host that the jobs need: this process is the host of their server.
    struct Registrar {
        std::function<pmix_status_t(const char* nspace, int32_t nlocalprocs, InfoView info)> register_nspace;
        std::function<void(const char* nspace)> deregister_nspace;
        std::function<pmix_status_t(const pmix_proc_t& proc, uint32_t uid, uint32_t gid)> register_client;
        /// How tools reach the server.
        std::function<std::string()> tool_uri;
        /// Raises an event of this process.
        std::function<void(EventPtr event)> raise;
    };

    LocalJobs(Runtime& runtime, ForkEnvironment& environment, Registrar registrar)
        : runtime_(runtime), environment_(environment), registrar_(std::move(registrar)) {}
    LocalJobs(const LocalJobs&) = delete;
    ~LocalJobs() { close(); }

    /// Starts the programs with the standard output and error of this process. The answer has the namespace;
    /// PMIX_ERR_NOT_SUPPORTED if a required or essential directive cannot be honoured,
    /// PMIX_ERR_JOB_EXE_NOT_FOUND and similar codes if a program cannot be started.
    void spawn(Info job_info, Apps apps, const HostDone& done);

    /// The launcher ends. Tools that it started see it by PMIX_KEEPALIVE_PIPE, other programs are ended, but
    /// for those of a job with PMIX_NOHUP.
    void close();

  private:
    struct Child {
        pmix_proc_t proc{};
        pid_t pid = -1;
        UniqueFd pidfd;
        std::unique_ptr<Watch> watch;
        UniqueFd keepalive;  ///< our end; the child notices our exit when it closes
    };
    struct Job {
        std::string nspace;
        bool tool = false;
        bool nohup = false;
        bool notify = false;  ///< of its end
        std::list<Child> children;
        size_t running = 0;
        pmix_status_t status = PMIX_SUCCESS;  ///< of its first failure
        pmix_proc_t failed{};
        int exit_code = 0;
    };
    pmix_status_t start(Job& job, const Info& job_info, const Apps& apps);
    pmix_status_t start_child(Job& job, Child& child, const Info& job_info, const pmix_app_t& app);
    void watch(Job& job, Child& child);
    void look_at(Job& job, Child& child);
    void ended(Job& job, Child& child, int status);
    void over(Job& job);
    void forget(const std::string& nspace);
    void end_all(Job& job);

    Runtime& runtime_;
    ForkEnvironment& environment_;
    const Registrar registrar_;
    unsigned next_ = 1;
    std::map<std::string, Job> jobs_;
};

}  // namespace muster
