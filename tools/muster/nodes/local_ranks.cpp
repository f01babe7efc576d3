// SPDX-License-Identifier: BSD-3-Clause
// The processes of a node.
#include "tools/muster/nodes/local_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <set>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/jobs/words.hpp"
#include "tools/muster/nodes/environment.hpp"
#include "tools/muster/nodes/fork_agents.hpp"
#include "tools/muster/nodes/preload.hpp"
#include "tools/muster/nodes/process.hpp"

namespace muster::launcher {
namespace {

/// Output that the launcher has not yet confirmed; beyond it the ranks' pipes fill up and they wait.
constexpr uint64_t kOutputWindow = 1 << 20;
constexpr size_t kReadSize = 64 * 1024;

bool done(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

/// The process sets that a job's programs form; several may form one.
std::map<std::string, std::vector<pmix_proc_t>> sets_of(const Job& job) {
    std::map<std::string, std::vector<pmix_proc_t>> sets;
    for (const App& app : job.apps) {
        if (app.pset.empty()) continue;
        for (uint32_t i = 0; i < app.ranks; ++i)
            sets[app.pset].push_back(to_pmix({job.nspace, app.first_rank + i}));
    }
    return sets;
}

}  // namespace

LocalRanks::LocalRanks(Loop& loop, Link& link, uint32_t node, std::string dir, std::string server_nspace,
                       std::function<void(const ProcName&)> on_ended)
    : loop_(loop),
      link_(link),
      node_(node),
      dir_(std::move(dir)),
      server_nspace_(std::move(server_nspace)),
      on_ended_(std::move(on_ended)) {}

std::string LocalRanks::add(Job added) {
    const uint32_t number = added.number;
    LocalJob& local = jobs_[number];
    local.job = std::move(added);
    const Job& job = local.job;
    local.dirs.session = dir_;
    local.dirs.job = fmt::format("{}/{}", dir_, number);
    if (!make_dir(local.dirs.job))
        return fmt::format("cannot make the directory '{}': {}", local.dirs.job, strerror(errno));
    const std::vector<uint32_t> here = job.ranks_on(node_);
    InfoList info = job_data(job, node_, local.dirs, server_nspace_);
    if (const UnpackedInfo given(job.attributes); given.ok()) info.copy(given);
    pmix_status_t status = PMIx_server_register_nspace(job.nspace.c_str(), static_cast<int>(here.size()),
                                                       info.data(), info.size(), nullptr, nullptr);
    if (!done(status))
        return fmt::format("the PMIx server refused the job's data: {}", PMIx_Error_string(status));
    local.registered = true;
    UnpackedInfo setup(job.setup);
    status =
        PMIx_server_setup_local_support(job.nspace.c_str(), setup.data(), setup.size(), nullptr, nullptr);
    if (!setup.ok() || !done(status))
        return fmt::format("the PMIx server refused the job's set-up: {}", PMIx_Error_string(status));
    for (const auto& [name, members] : sets_of(job)) {
        status = define_set(name, members);
        if (!done(status) && status != PMIX_ERR_NOT_SUPPORTED)
            return fmt::format("the process set '{}' cannot be defined: {}", name, PMIx_Error_string(status));
    }
    for (uint32_t rank : here) {
        local.ranks.push_back(std::make_unique<Rank>());
        local.ranks.back()->id = {number, rank};
        local.ranks.back()->app = &job.apps[job.places[rank].app];
        const pmix_proc_t proc = to_pmix({job.nspace, rank});
        status = PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr);
        if (!done(status))
            return fmt::format("the PMIx server refused rank {}: {}", rank, PMIx_Error_string(status));
    }
    if (std::string error = preload_for(local); !error.empty()) return error;
    return add_agents(local);
}

/// Copies the files requested by the programs with ranks here.
std::string LocalRanks::preload_for(LocalJob& local) {
    std::set<uint32_t> done;
    for (const auto& rank : local.ranks) {
        if (!done.insert(local.job.places[rank->id.rank].app).second) continue;
        if (std::string error = preload_for(local, *rank); !error.empty()) return error;
    }
    return {};
}

/// Preloads the files of this rank's program.
std::string LocalRanks::preload_for(LocalJob& local, const Rank& rank) {
    const App& app = *rank.app;
    if (!app.preload_program && app.preload_files.empty()) return {};
    const uint32_t number = local.job.places[rank.id.rank].app;
    const std::string dir = local.dirs.of_app(number);
    if (!make_dir(dir)) return fmt::format("cannot make the directory '{}': {}", dir, strerror(errno));
    std::vector<std::string> sources = split(app.preload_files, ',');
    std::erase(sources, "");
    const auto absolute = [&app](const std::string& file) {
        return file[0] == '/' ? file : app.wdir + "/" + file;
    };
    for (std::string& source : sources)
        source = absolute(source);
    if (app.preload_program) {
        ProcessSpec spec;
        StartFailure failure;
        if (!describe(local, rank, spec, failure)) return failure.text;
        // The start reports a missing program.
        for (const std::string& file : program_files(spec)) {
            if (access(absolute(file).c_str(), X_OK) != 0) continue;
            sources.push_back(absolute(file));
            local.programs[number] = dir + file.substr(file.rfind('/'));
            break;
        }
    }
    for (const std::string& source : sources) {
        if (std::string error = preload(source, dir); !error.empty()) return error;
        local.preloaded[number].push_back(source.substr(source.rfind('/') + 1));
    }
    return {};
}

/// Fork/exec agents are a separate job, whose processes get the programs to start.
std::string LocalRanks::add_agents(LocalJob& local) {
    std::map<uint32_t, ProcessSpec> programs;
    for (const auto& rank : local.ranks) {
        if (rank->app->agents.fork.empty()) continue;
        StartFailure failure;
        if (!describe(local, *rank, programs[rank->id.rank], failure)) return failure.text;
    }
    if (programs.empty()) return {};
    local.has_agents = true;
    return register_agents(local.job, node_, local.dirs, server_nspace_, programs);
}

void LocalRanks::tell(const RankEvent& event) {
    link_.tell(Topic::Rank, pack(event));
}

/// That many bytes of input were accepted, or dropped; the process may refuse more.
void LocalRanks::tell_input(const Rank* rank, uint64_t bytes, bool refused) {
    link_.tell(Topic::Input, pack(rank != nullptr ? rank->id : ProcId(), bytes, refused));
}

void LocalRanks::release(const std::vector<ProcName>& procs) {
    for (const ProcName& proc : procs) {
        const Job* job = job_of(proc.nspace);
        LocalJob* local = job != nullptr ? find_job(job->number) : nullptr;
        if (local == nullptr) continue;
        for (auto& rank : local->ranks) {
            if (!rank->stopped || (proc.rank != PMIX_RANK_WILDCARD && proc.rank != rank->id.rank)) continue;
            rank->stopped = false;
            if (rank->pid > 0) kill(rank->pid, SIGCONT);
        }
    }
}

LocalRanks::LocalJob* LocalRanks::find_job(uint32_t number) {
    const auto found = jobs_.find(number);
    return found != jobs_.end() ? &found->second : nullptr;
}

const Job* LocalRanks::job_of(std::string_view nspace) const {
    for (const auto& [number, local] : jobs_) {
        if (local.registered && local.job.nspace == nspace) return &local.job;
    }
    return nullptr;
}

LocalRanks::Rank* LocalRanks::find(ProcId id) {
    LocalJob* local = find_job(id.job);
    if (local == nullptr) return nullptr;
    const auto found = std::lower_bound(local->ranks.begin(), local->ranks.end(), id,
                                        [](const auto& rank, ProcId wanted) { return rank->id < wanted; });
    return found != local->ranks.end() && (*found)->id == id ? found->get() : nullptr;
}

LocalRanks::Rank* LocalRanks::find(const ProcName& name) {
    const Job* job = job_of(name.nspace);
    return job != nullptr ? find(ProcId{job->number, name.rank}) : nullptr;
}

pmix_status_t LocalRanks::define_set(const std::string& name, std::vector<pmix_proc_t> members) {
    const pmix_status_t status = PMIx_server_define_process_set(members.data(), members.size(), name.c_str());
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED)
        sets_.emplace_back(name, std::move(members));
    return status;
}

std::vector<std::string> LocalRanks::set_names(bool local) {
    std::vector<std::string> names;
    for (const auto& [name, members] : sets_) {
        if (!local || std::ranges::any_of(members, [this](const pmix_proc_t& member) {
                return find(ProcName{member.nspace, member.rank}) != nullptr;
            }))
            names.push_back(name);
    }
    return names;
}

void LocalRanks::forget(uint32_t number) {
    LocalJob* local = find_job(number);
    if (local == nullptr || !local->registered) return;
    local->registered = false;
    for (auto& [name, members] : sets_of(local->job)) {
        PMIx_server_delete_process_set(std::string(name).data());
        std::erase_if(sets_, [&set = name](const auto& one) { return one.first == set; });
    }
    PMIx_server_deregister_nspace(
        local->job.nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
    if (local->has_agents)
        PMIx_server_deregister_nspace(
            agents_nspace(local->job).c_str(), [](pmix_status_t, void*) {}, nullptr);
    remove_session_dir(local->dirs.job);
    // Grandchildren may still write: their pipes are read as long as there are any.
    const bool open = std::ranges::any_of(
        local->ranks, [](const auto& rank) { return rank->out.fd >= 0 || rank->err.fd >= 0; });
    if (!open) jobs_.erase(number);
}

void LocalRanks::start(uint32_t number) {
    start_next(number);
}

/// Starts one rank a turn of the loop, so that those already started are served meanwhile.
void LocalRanks::start_next(uint32_t number) {
    LocalJob* local = find_job(number);
    if (local == nullptr || local->next_start == local->ranks.size()) return;
    start_now(*local, *local->ranks[local->next_start++]);
    loop_.post([this, number] { start_next(number); });
}

void LocalRanks::start_now(LocalJob& local, Rank& rank) {
    StartFailure failure;
    if (local.no_more_starts) {
        tell({RankEvent::Kind::NotStarted, rank.id, 0, PMIX_ERR_JOB_CANCELED});
    } else if (renew(local, rank, failure) && start_rank(local, rank, failure)) {
        tell({RankEvent::Kind::Started, rank.id, rank.pid});
        feed(rank);
        if (rank.stopped) {
            link_.tell(Topic::Debug, pack(ProcName{local.job.nspace, rank.id.rank}, kExecBreakpoint));
        }
    } else {
        local.no_more_starts = true;
        tell({RankEvent::Kind::NotStarted, rank.id, failure.status, failure.code, failure.text});
    }
}

/// Nothing of the process that had this rank is left for the one that gets it, where there was one.
bool LocalRanks::renew(LocalJob& local, Rank& rank, StartFailure& failure) {
    if (!rank.started) return true;
    for (Pipe* pipe : {&rank.out, &rank.err}) {
        pipe->watch.cancel();
        if (pipe->fd >= 0) close(pipe->fd);
        pipe->fd = -1;
    }
    rank.started = rank.connected = rank.stopped = false;
    rank.input_ended = true;  // the first process has had it
    remove_session_dir(local.dirs.of_rank(rank.id.rank));
    const pmix_proc_t proc = to_pmix({local.job.nspace, rank.id.rank});
    PMIx_server_deregister_client(
        &proc, [](pmix_status_t, void*) {}, nullptr);
    const pmix_status_t status =
        PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr);
    if (done(status)) return true;
    failure.text = fmt::format("the PMIx server refused to have it again: {}", PMIx_Error_string(status));
    return false;
}

void LocalRanks::restart(ProcId id, uint32_t reincarnation) {
    LocalJob* local = find_job(id.job);
    if (local == nullptr || !local->registered) return;
    InfoList facts, info;
    facts.rank(PMIX_RANK, id.rank).u32(PMIX_REINCARNATION, reincarnation);
    info.array(PMIX_PROC_INFO_ARRAY, facts);
    // More data of the job; its processes here are as many as they were.
    PMIx_server_register_nspace(local->job.nspace.c_str(), -1, info.data(), info.size(), nullptr, nullptr);
    if (Rank* rank = find(id)) start_now(*local, *rank);
}

/// All that is needed to start a rank, or in `failure` why that cannot be had.
bool LocalRanks::describe(const LocalJob& local, const Rank& rank, ProcessSpec& spec, StartFailure& failure) {
    const Job& job = local.job;
    spec.program = rank.app->program;
    spec.argv = rank.app->argv;
    if (rank.app->index_argv) {
        if (spec.program.empty()) spec.program = spec.argv[0];
        spec.argv[0] += fmt::format("-{}", rank.id.rank);
    }
    const auto preloaded = local.programs.find(job.places[rank.id.rank].app);
    if (preloaded != local.programs.end()) spec.program = preloaded->second;
    if (!rank.app->agents.exec.empty()) {
        if (preloaded != local.programs.end()) spec.argv[0] = preloaded->second;
        // It becomes the program itself.
        const std::vector<std::string> agent = words_of(rank.app->agents.exec);
        spec.program.clear();
        spec.argv.insert(spec.argv.begin(), agent.begin(), agent.end());
    }
    spec.wdir = rank.app->session_wdir ? local.dirs.session : rank.app->wdir;
    spec.cpus = job.places[rank.id.rank].cpus;
    spec.merge_stderr = job.output.style.merge;
    spec.with_stdin = job.input.reads(rank.id.rank);
    spec.stop_on_exec = job.stops.on_exec.means(rank.id.rank);

    const pmix_proc_t proc = to_pmix({job.nspace, rank.id.rank});
    Environment defaults;
    if (job.nodes.size() > 1) {
        // Open MPI names its shared memory by host name and local rank, which is not one process where one
        // machine pretends to be several nodes.
        defaults["OMPI_MCA_btl_vader_backing_directory"] = dir_;
    }
    const pmix_status_t answer = server_environment(proc, *rank.app, spec.wdir, defaults, spec.env);
    if (answer == PMIX_SUCCESS) return true;
    failure.text = fmt::format("the PMIx server gave no environment: {}", PMIx_Error_string(answer));
    return false;
}

bool LocalRanks::start_rank(LocalJob& local, Rank& rank, StartFailure& failure) {
    const std::string dir = local.dirs.of_rank(rank.id.rank);
    if (!make_dir(dir)) {
        failure.text = fmt::format("cannot make the directory '{}': {}", dir, strerror(errno));
        return false;
    }
    const uint32_t app = local.job.places[rank.id.rank].app;
    for (const std::string& name : local.preloaded[app]) {
        failure.text = share_file(local.dirs.of_app(app), name, dir);
        if (!failure.text.empty()) return false;
    }
    ProcessSpec spec;
    if (!describe(local, rank, spec, failure)) return false;
    if (!rank.app->agents.fork.empty() && !replace_by_agent(local.job, rank.id.rank, spec, failure))
        return false;

    Process process = start_process(spec);
    if (process.pid < 0) {
        failure = process.failure;
        return false;
    }
    rank.pid = process.pid;
    rank.started = true;
    rank.stopped = spec.stop_on_exec;
    rank.in.fd = process.stdin_fd;
    rank.out.fd = process.stdout_fd;
    rank.err.fd = process.stderr_fd;
    watch_output(rank, rank.out, PMIX_FWD_STDOUT_CHANNEL);
    watch_output(rank, rank.err, PMIX_FWD_STDERR_CHANNEL);
    if (rank.in.fd >= 0) fcntl(rank.in.fd, F_SETFL, O_NONBLOCK);
    return true;
}

void LocalRanks::watch_output(Rank& rank, Pipe& pipe, uint32_t channel) {
    if (pipe.fd < 0) return;
    fcntl(pipe.fd, F_SETFL, O_NONBLOCK);
    pipe.watch = loop_.on_readable(
        pipe.fd, [this, &rank, &pipe, channel] { read_output(rank, pipe, channel, false); });
    if (output_paused_) pipe.watch.enable(false);
}

std::vector<std::pair<ProcId, pid_t>> LocalRanks::running(const std::vector<ProcId>& procs) {
    std::vector<std::pair<ProcId, pid_t>> found;
    for (const ProcId& proc : procs) {
        const Rank* rank = find(proc);
        if (rank != nullptr && rank->pid > 0) found.emplace_back(proc, rank->pid);
    }
    return found;
}

void LocalRanks::reap() {
    struct Ended {
        ProcName name;
        Rank* rank;
        int status;
    };
    std::vector<Ended> ended;
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (auto& [number, local] : jobs_) {
            for (auto& rank : local.ranks) {
                if (rank->pid != pid) continue;
                rank->pid = -1;
                ended.push_back({{local.job.nspace, rank->id.rank}, rank.get(), status});
            }
        }
    }
    if (ended.empty()) return;
    // Calls of a rank before its end (PMIx_Finalize, PMIx_Abort) are posted by now; they are processed first.
    loop_.run_posted();
    // Processes killed by a signal are first: they may have made the others fail.
    std::ranges::stable_sort(ended, [](const Ended& a, const Ended& b) {
        return WIFSIGNALED(a.status) && !WIFSIGNALED(b.status);
    });
    for (const Ended& end : ended) {
        Rank& rank = *end.rank;
        close_input(rank, true);
        read_output(rank, rank.out, PMIX_FWD_STDOUT_CHANNEL, true);
        read_output(rank, rank.err, PMIX_FWD_STDERR_CHANNEL, true);
        tell({RankEvent::Kind::Exited, rank.id, end.status});
        report_end(end.name, end.status, rank.connected);
        if (!rank.connected) deregister_rank(rank);
        on_ended_(end.name);
    }
}

/// Reports the end of a process to the library of this node: events about the failed member of a group carry
/// it. No process of the job gets this event itself.
void LocalRanks::report_end(const ProcName& name, int status, bool connected) {
    pmix_status_t code = PMIX_EVENT_PROC_TERMINATED;
    if (WIFSIGNALED(status)) {
        code = PMIX_ERR_PROC_ABORTED_BY_SIG;
    } else if (WEXITSTATUS(status) != 0) {
        code = PMIX_ERR_EXIT_NONZERO_TERM;
    } else if (connected) {
        code = PMIX_ERR_PROC_TERM_WO_SYNC;
    }
    const int exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    const time_t now = time(nullptr);
    auto facts = std::make_unique<InfoList>();
    facts->proc(PMIX_EVENT_AFFECTED_PROC, name).proc(PMIX_PROCID, name);
    facts->add(PMIX_EXIT_CODE, &exit_code, PMIX_INT);
    facts->add(PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME);
    facts->flag(PMIX_EVENT_DO_NOT_CACHE, true);
    const pmix_status_t told = PMIx_Notify_event(
        code, nullptr, PMIX_RANGE_PROC_LOCAL, facts->data(), facts->size(),
        [](pmix_status_t, void* kept) { const std::unique_ptr<InfoList> done(static_cast<InfoList*>(kept)); },
        facts.get());
    if (told == PMIX_SUCCESS) (void)facts.release();  // the callback has it
}

void LocalRanks::finalized(Rank& rank) {
    rank.connected = false;
    if (rank.started && rank.pid < 0) deregister_rank(rank);
}

/// The process of a rank has ended without a connection to the server, which must no longer expect it in
/// collectives. Data that the rank has posted stays readable. The end of a connection has the same effect.
void LocalRanks::deregister_rank(const Rank& rank) {
    const LocalJob* local = find_job(rank.id.job);
    if (local == nullptr || !local->registered || local->no_more_starts) return;
    const pmix_proc_t proc = to_pmix({local->job.nspace, rank.id.rank});
    PMIx_server_deregister_client(
        &proc, [](pmix_status_t, void*) {}, nullptr);
}

/// Forwards the output of a rank; closes the pipe at its end. `all`: the rank has ended, read everything.
void LocalRanks::read_output(Rank& rank, Pipe& pipe, uint32_t channel, bool all) {
    char buffer[kReadSize];
    while (pipe.fd >= 0) {
        const ssize_t n = read(pipe.fd, buffer, sizeof buffer);
        if (n > 0) {
            send_output(rank, channel, {buffer, static_cast<size_t>(n)});
            if (!all) return;
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            pipe.watch.cancel();
            close(pipe.fd);
            pipe.fd = -1;
        }
    }
}

void LocalRanks::send_output(const Rank& rank, uint32_t channel, std::string_view bytes) {
    output_in_flight_ += bytes.size();
    link_.tell(Topic::Output, pack(rank.id, channel, bytes));
    if (output_in_flight_ >= kOutputWindow && !output_paused_) pause_output(true);
}

void LocalRanks::pause_output(bool pause) {
    output_paused_ = pause;
    for (auto& [number, local] : jobs_) {
        for (auto& rank : local.ranks) {
            rank->out.watch.enable(!pause);
            rank->err.watch.enable(!pause);
        }
    }
}

void LocalRanks::output_taken(uint64_t bytes) {
    output_in_flight_ -= std::min(bytes, output_in_flight_);
    if (output_paused_ && output_in_flight_ <= kOutputWindow / 2) pause_output(false);
}

void LocalRanks::give_input(ProcId id, std::string_view bytes) {
    Rank* rank = find(id);
    if (rank == nullptr || (rank->started && rank->in.fd < 0)) {
        if (!bytes.empty()) tell_input(rank, bytes.size(), false);
    } else if (bytes.empty()) {
        rank->input_ended = true;
        feed(*rank);
    } else {
        rank->input.append(bytes);
        feed(*rank);
    }
}

/// Writes to a rank's standard input as much as it accepts; the rest later.
void LocalRanks::feed(Rank& rank) {
    size_t written = 0;
    while (rank.in.fd >= 0 && written < rank.input.size()) {
        const ssize_t n = write(rank.in.fd, rank.input.data() + written, rank.input.size() - written);
        if (n > 0) {
            written += static_cast<size_t>(n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return close_input(rank, true);
        }
    }
    if (!rank.started) return;
    rank.input.erase(0, written);
    if (written > 0) tell_input(&rank, written, false);
    if (rank.in.fd < 0) return;
    if (!rank.input.empty()) {
        if (!rank.in.watch) rank.in.watch = loop_.on_writable(rank.in.fd, [this, &rank] { feed(rank); });
        return;
    }
    rank.in.watch.cancel();
    if (rank.input_ended) close_input(rank, false);
}

void LocalRanks::close_input(Rank& rank, bool refused) {
    if (rank.in.fd < 0) return;
    rank.in.watch.cancel();
    close(rank.in.fd);
    rank.in.fd = -1;
    if (refused || !rank.input.empty()) tell_input(&rank, rank.input.size(), refused);
    rank.input.clear();
}

void LocalRanks::signal(int number, const std::vector<ProcId>& procs, bool last) {
    auto meant = [&](ProcId id) {
        return procs.empty() || std::ranges::any_of(procs, [&](ProcId proc) {
                   return proc == id || (proc.job == id.job && proc.rank == kAllRanks);
               });
    };
    for (auto& [job, local] : jobs_) {
        local.no_more_starts |= last && meant({job, kAllRanks});
        for (auto& rank : local.ranks) {
            if (rank->pid > 0 && meant(rank->id)) kill(-rank->pid, number);
        }
    }
}

void LocalRanks::drain() {
    for (auto& [number, local] : jobs_) {
        for (auto& rank : local.ranks) {
            close_input(*rank, false);
            read_output(*rank, rank->out, PMIX_FWD_STDOUT_CHANNEL, true);
            read_output(*rank, rank->err, PMIX_FWD_STDERR_CHANNEL, true);
        }
    }
}

void LocalRanks::deregister() {
    for (auto& [number, local] : jobs_) {
        if (local.registered) PMIx_server_deregister_nspace(local.job.nspace.c_str(), nullptr, nullptr);
        if (local.registered && local.has_agents)
            PMIx_server_deregister_nspace(agents_nspace(local.job).c_str(), nullptr, nullptr);
        local.registered = false;
    }
}

}  // namespace muster::launcher
