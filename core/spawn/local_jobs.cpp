// SPDX-License-Identifier: BSD-3-Clause
// Starting processes on this machine: see local_jobs.hpp.
#include "core/spawn/local_jobs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/events/events.hpp"
#include "core/runtime/keys.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

using Environment = std::map<std::string, std::string>;

/// Polling interval for the end of a child where the system cannot notify of it.
constexpr std::chrono::milliseconds kLook{50};

/// Directives that have no effect here, or that the new job reads.
bool is_known(const pmix_info_t& info) {
    return key_is_any(info.key, {PMIX_SPAWN_TOOL,
                                 PMIX_DEBUG_STOP_IN_INIT,
                                 PMIX_DEBUG_STOP_IN_APP,
                                 PMIX_LAUNCH_DIRECTIVES,
                                 PMIX_LAUNCHER_DAEMON,
                                 PMIX_NOHUP,
                                 PMIX_NOTIFY_COMPLETION,
                                 PMIX_NOTIFY_JOB_EVENTS,
                                 PMIX_FWD_STDOUT,
                                 PMIX_FWD_STDERR,
                                 PMIX_PARENT_ID,
                                 PMIX_SET_ENVAR,
                                 PMIX_ADD_ENVAR,
                                 PMIX_UNSET_ENVAR,
                                 PMIX_WDIR,
                                 PMIX_SPAWNED,
                                 PMIX_REQUESTOR_IS_TOOL,
                                 PMIX_USERID,
                                 PMIX_GRPID,
                                 PMIX_EXEC_AGENT});
}

/// Directives that must not be ignored silently.
bool cannot_do(const pmix_info_t& info) {
    if (key_is_any(info.key, {PMIX_DEBUG_STOP_ON_EXEC, PMIX_DEBUGGER_DAEMONS, PMIX_FORKEXEC_AGENT,
                              PMIX_COSPAWN_APP, PMIX_DO_NOT_LAUNCH}))
        return info.value.type != PMIX_BOOL || info.value.data.flag;
    return (flags_of(info) & PMIX_INFO_REQD) != 0 && !is_known(info);
}

pmix_status_t check(InfoView infos) {
    for (const pmix_info_t& info : infos) {
        if (cannot_do(info)) return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

void change(InfoView infos, Environment& environment) {
    for (const pmix_info_t& info : infos) {
        const bool set = key_is(info.key, PMIX_SET_ENVAR), add = key_is(info.key, PMIX_ADD_ENVAR);
        if ((set || add) && info.value.type == PMIX_ENVAR && info.value.data.envar.envar != nullptr) {
            const pmix_envar_t& variable = info.value.data.envar;
            const std::string value = variable.value != nullptr ? variable.value : "";
            if (set) environment[variable.envar] = value;
            if (add) environment.emplace(variable.envar, value);
        } else if (key_is(info.key, PMIX_UNSET_ENVAR) && info.value.type == PMIX_STRING) {
            environment.erase(info.value.data.string);
        }
    }
}

void add_variable(Environment& environment, const char* text) {
    const char* equals = std::strchr(text, '=');
    if (equals != nullptr) environment[std::string(text, equals)] = equals + 1;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (std::string& text : texts)
        list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

pmix_status_t status_of_errno(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return PMIX_ERR_JOB_EXE_NOT_FOUND;
        case EACCES:
        case ENOEXEC:
            return PMIX_ERR_JOB_APP_NOT_EXECUTABLE;
        case ENOMEM:
            return PMIX_ERR_NOMEM;
        default:
            return PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    }
}

/// The owner of posix_spawn's arguments.
struct SpawnPlan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SpawnPlan() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        // The progress thread blocks signals; a program must start with none blocked.
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
};

}  // namespace

void LocalJobs::spawn(Info job_info, Apps apps, const HostDone& done) {
    pmix_status_t status = check(job_info);
    for (size_t i = 0; i < apps.size() && status == PMIX_SUCCESS; ++i)
        status = check({apps.data()[i].info, apps.data()[i].ninfo});
    if (status != PMIX_SUCCESS) return done(answer_of(status));
    const std::string nspace = std::string(runtime_.self().nspace) + ":" + std::to_string(next_++);
    Job& job = jobs_[nspace];
    job.nspace = nspace;
    const InfoView view = job_info;
    job.tool = view.is_true(PMIX_SPAWN_TOOL);
    job.nohup = view.is_true(PMIX_NOHUP);
    job.notify = view.is_true(PMIX_NOTIFY_COMPLETION) || view.is_true(PMIX_NOTIFY_JOB_EVENTS);
    status = start(job, job_info, apps);
    if (status != PMIX_SUCCESS) {
        MUSTER_LOG(runtime_.log(), Error, "job %s could not be started: %s", nspace.c_str(),
                   status_text(status));
        end_all(job);
        forget(nspace);
        return done(answer_of(status));
    }
    HostAnswer answer;
    answer.status = PMIX_SUCCESS;
    answer.nspace = nspace;
    done(std::move(answer));
}

/// Registers the job with this process's own server, so that its processes may connect back, and starts them.
pmix_status_t LocalJobs::start(Job& job, const Info& job_info, const Apps& apps) {
    size_t size = 0;
    for (size_t i = 0; i < apps.size(); ++i)
        size += static_cast<size_t>(std::max(apps.data()[i].maxprocs, 1));
    Info data;
    std::string peers;
    for (size_t rank = 0; rank < size; ++rank)
        peers += (rank == 0 ? "" : ",") + std::to_string(rank);
    data.add(PMIX_JOB_SIZE, static_cast<uint32_t>(size));
    data.add(PMIX_LOCAL_SIZE, static_cast<uint32_t>(size));
    data.add(PMIX_LOCAL_PEERS, peers.c_str());
    data.add(PMIX_JOBID, job.nspace.c_str());
    data.add(PMIX_SPAWNED, true);
    const pmix_proc_t* parent = job_info.view().proc(PMIX_PARENT_ID);
    data.add(PMIX_PARENT_ID, parent != nullptr ? *parent : runtime_.self());
    for (const char* key : {PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP, PMIX_LAUNCH_DIRECTIVES,
                            PMIX_LAUNCHER_DAEMON, PMIX_SPAWN_TOOL}) {
        if (const pmix_info_t* info = job_info.find(key)) data.add_copy(*info);
    }
    for (size_t rank = 0; rank < size; ++rank) {
        Info own;
        own.add(PMIX_RANK, Value::rank(static_cast<pmix_rank_t>(rank)));
        own.add(PMIX_LOCAL_RANK, static_cast<uint16_t>(rank));
        own.add(PMIX_HOSTNAME, runtime_.hostname().c_str());
        data.add(PMIX_PROC_INFO_ARRAY, std::move(own).to_value());
    }
    pmix_status_t status = registrar_.register_nspace(job.nspace.c_str(), static_cast<int32_t>(size), data);
    pmix_rank_t rank = 0;
    for (size_t i = 0; i < apps.size() && status == PMIX_SUCCESS; ++i) {
        const pmix_app_t& app = apps.data()[i];
        for (int n = 0; n < std::max(app.maxprocs, 1) && status == PMIX_SUCCESS; ++n) {
            Child& child = job.children.emplace_back();
            child.proc = make_proc(job.nspace, rank++);
            status = registrar_.register_client(child.proc, geteuid(), getegid());
            if (status == PMIX_SUCCESS) status = start_child(job, child, job_info, app);
        }
    }
    return status;
}

pmix_status_t LocalJobs::start_child(Job& job, Child& child, const Info& job_info, const pmix_app_t& app) {
    Environment environment;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
        add_variable(environment, *variable);
    if (job.tool) environment["PMIX_LAUNCHER_RNDZ_URI"] = registrar_.tool_uri();
    int pipe[2] = {-1, -1};
    if (!job.nohup) {
        if (::pipe2(pipe, O_CLOEXEC) != 0) return PMIX_ERR_OUT_OF_RESOURCE;
        child.keepalive.reset(pipe[1]);
    }
    const UniqueFd keepalive(pipe[0]);
    if (!job.nohup) {
        if (!keepalive || !child.keepalive) return PMIX_ERR_OUT_OF_RESOURCE;
        environment["PMIX_KEEPALIVE_PIPE"] = std::to_string(keepalive.get());
    }
    const InfoView own{app.info, app.ninfo};
    change(job_info, environment);
    change(own, environment);
    for (char** variable = app.env; variable != nullptr && *variable != nullptr; ++variable)
        add_variable(environment, *variable);
    for (auto& [name, value] : environment_.of(child.proc, app.env))
        environment[name] = value;
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment)
        variables.push_back(name + "=" + value);

    std::vector<std::string> words;
    std::string program = app.cmd;
    const char* agent = own.string(PMIX_EXEC_AGENT);
    if (agent == nullptr) agent = job_info.view().string(PMIX_EXEC_AGENT);
    if (agent != nullptr) words.emplace_back(program = agent);
    for (char** word = app.argv; word != nullptr && *word != nullptr; ++word)
        words.emplace_back(*word);

    SpawnPlan plan;
    const char* wdir = app.cwd != nullptr ? app.cwd : own.string(PMIX_WDIR);
    if (wdir == nullptr) wdir = job_info.view().string(PMIX_WDIR);
    if (wdir != nullptr) {
        if (::access(wdir, X_OK) != 0) return PMIX_ERR_JOB_WDIR_NOT_FOUND;
        posix_spawn_file_actions_addchdir_np(&plan.actions, wdir);
    }
    // Onto itself: so it stays open for the program.
    if (keepalive) posix_spawn_file_actions_adddup2(&plan.actions, keepalive.get(), keepalive.get());
    const std::vector<char*> argv = pointers(words), env = pointers(variables);
    const int error =
        ::posix_spawnp(&child.pid, program.c_str(), &plan.actions, &plan.attributes, argv.data(), env.data());
    if (error != 0) {
        child.pid = -1;
        return status_of_errno(error);
    }
    ++job.running;
    watch(job, child);
    return PMIX_SUCCESS;
}

void LocalJobs::watch(Job& job, Child& child) {
    child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
    if (child.pidfd) {
        ::fcntl(child.pidfd.get(), F_SETFD, FD_CLOEXEC);
        child.watch =
            runtime_.loop().watch(child.pidfd.get(), [this, &job, &child](auto) { look_at(job, child); });
    } else {
        child.watch = runtime_.loop().after(kLook, [this, &job, &child] { look_at(job, child); });
    }
}

void LocalJobs::look_at(Job& job, Child& child) {
    int status = 0;
    const pid_t got = ::waitpid(child.pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
        if (!child.pidfd) watch(job, child);
        return;
    }
    // A host that waits for all its children may consume the status.
    ended(job, child, got < 0 ? 0 : status);
}

void LocalJobs::ended(Job& job, Child& child, int status) {
    const auto keep = std::move(child.watch);  // its callback is running
    child.pid = -1;
    child.pidfd.reset();
    child.keepalive.reset();
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0 && job.status == PMIX_SUCCESS) {
        job.status = WIFSIGNALED(status) ? PMIX_ERR_JOB_ABORTED_BY_SIG : PMIX_ERR_JOB_NON_ZERO_TERM;
        job.failed = child.proc;
        job.exit_code = code;
    }
    if (--job.running == 0) over(job);
}

/// All of its processes have ended.
void LocalJobs::over(Job& job) {
    if (job.notify) {
        auto event = make_event(PMIX_EVENT_JOB_END, runtime_.self(), PMIX_RANGE_PROC_LOCAL);
        event->info.add(PMIX_EVENT_NON_DEFAULT, true);
        event->info.add(PMIX_NSPACE, job.nspace.c_str());
        event->info.add(PMIX_EVENT_AFFECTED_PROC, make_proc(job.nspace, PMIX_RANK_WILDCARD));
        event->info.add(PMIX_JOB_TERM_STATUS, Value::status(job.status));
        event->info.add(PMIX_EXIT_CODE, job.exit_code);
        if (job.status != PMIX_SUCCESS) event->info.add(PMIX_PROCID, job.failed);
        const time_t now = ::time(nullptr);
        event->info.add(PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME);
        if (event->read_directives() == PMIX_SUCCESS) registrar_.raise(std::move(event));
    }
    // Event handlers can still read the data of the job.
    runtime_.loop().post([this, nspace = job.nspace] { forget(nspace); });
}

void LocalJobs::forget(const std::string& nspace) {
    if (jobs_.erase(nspace) != 0) registrar_.deregister_nspace(nspace.c_str());
}

void LocalJobs::end_all(Job& job) {
    for (Child& child : job.children) {
        child.watch.reset();
        if (child.pid <= 0) continue;
        ::kill(child.pid, SIGTERM);
        ::waitpid(child.pid, nullptr, WNOHANG);
    }
}

void LocalJobs::close() {
    for (auto& [nspace, job] : jobs_) {
        if (!job.tool && !job.nohup) end_all(job);
    }
    jobs_.clear();
}

}  // namespace muster
