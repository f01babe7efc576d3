// SPDX-License-Identifier: BSD-3-Clause
// The processes of a node.
#include "tools/muster/local_ranks.hpp"

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

#include "tools/muster/host/bridge.hpp"
#include "tools/muster/process.hpp"
#include "tools/muster/session_dir.hpp"

namespace muster {
namespace {

/// Output that the launcher has not yet confirmed; beyond it the ranks' pipes fill up and they wait.
constexpr uint64_t kOutputWindow = 1 << 20;
constexpr size_t kReadSize = 64 * 1024;

using Environment = std::map<std::string, std::string>;

bool done(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

/// Takes a part out of a list.
void remove_part(std::string& list, const std::string& part, char separator) {
    std::string left;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(separator, at), list.size());
        if (list.compare(at, end - at, part) != 0) {
            if (!left.empty()) left += separator;
            left.append(list, at, end - at);
        }
        at = end + 1;
    }
    list = std::move(left);
}

void apply(const EnvChange& change, Environment& variables) {
    const auto found = variables.find(change.name);
    switch (change.kind) {
        case EnvChange::Kind::Set:
            variables[change.name] = change.value;
            break;
        case EnvChange::Kind::Add:
            variables.emplace(change.name, change.value);
            break;
        case EnvChange::Kind::Unset:
            // "NAME*": all that begin so.
            if (change.name.ends_with('*')) {
                const std::string begin = change.name.substr(0, change.name.size() - 1);
                std::erase_if(variables, [&](const auto& entry) { return entry.first.starts_with(begin); });
            } else {
                variables.erase(change.name);
            }
            break;
        case EnvChange::Kind::First:
            if (found != variables.end()) remove_part(found->second, change.value, change.separator);
            [[fallthrough]];
        case EnvChange::Kind::Prepend:
        case EnvChange::Kind::Append:
            if (found == variables.end() || found->second.empty()) {
                variables[change.name] = change.value;
            } else if (change.kind != EnvChange::Kind::Append) {
                found->second = change.value + change.separator + found->second;
            } else {
                found->second += change.separator + change.value;
            }
            break;
    }
}

/// The environment of a rank: defaults, the launcher's, what was asked for, and what the server adds.
pmix_status_t server_environment(const pmix_proc_t& proc, const App& app, const std::string& wdir,
                                 const Environment& defaults, std::vector<std::string>& out) {
    Environment variables = defaults;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    variables["PWD"] = wdir;
    for (const auto& [name, value] : app.env)
        variables[name] = value;
    for (const EnvChange& change : app.env_changes)
        apply(change, variables);
    // The library extends the array by realloc, as the Standard's argv functions do.
    auto** env = static_cast<char**>(calloc(variables.size() + 1, sizeof(char*)));
    if (env == nullptr) return PMIX_ERR_NOMEM;
    size_t count = 0;
    for (const auto& [name, value] : variables)
        env[count++] = strdup(fmt::format("{}={}", name, value).c_str());
    const pmix_status_t status = PMIx_server_setup_fork(&proc, &env);
    for (char** variable = env; *variable != nullptr; ++variable) {
        out.emplace_back(*variable);
        free(*variable);
    }
    free(env);
    return status;
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
        status = PMIx_server_define_process_set(members.data(), members.size(), name.c_str());
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
    return {};
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

void LocalRanks::forget(uint32_t number) {
    LocalJob* local = find_job(number);
    if (local == nullptr || !local->registered) return;
    local->registered = false;
    for (auto& [name, members] : sets_of(local->job))
        PMIx_server_delete_process_set(std::string(name).data());
    PMIx_server_deregister_nspace(
        local->job.nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
    remove_session_dir(local->dirs.job);
    // Grandchildren may still write: their pipes are read as long as there are any.
    const bool open = std::any_of(local->ranks.begin(), local->ranks.end(),
                                  [](const auto& rank) { return rank->out.fd >= 0 || rank->err.fd >= 0; });
    if (!open) jobs_.erase(number);
}

void LocalRanks::start(uint32_t number) {
    start_next(number);
}

/// Starts one rank a turn of the loop, so that those already started are served meanwhile.
void LocalRanks::start_next(uint32_t number) {
    LocalJob* local = find_job(number);
    if (local == nullptr || local->next_start == local->ranks.size()) return;
    Rank& rank = *local->ranks[local->next_start++];
    StartFailure failure;
    if (local->no_more_starts) {
        link_.send(Kind::NotStarted, Writer().proc(rank.id).i32(0).i32(PMIX_ERR_JOB_CANCELED).bytes(""));
    } else if (start_rank(*local, rank, failure)) {
        link_.send(Kind::Started, Writer().proc(rank.id).u32(static_cast<uint32_t>(rank.pid)));
        feed(rank);
    } else {
        local->no_more_starts = true;
        link_.send(Kind::NotStarted,
                   Writer().proc(rank.id).i32(failure.status).i32(failure.code).bytes(failure.text));
    }
    loop_.post([this, number] { start_next(number); });
}

bool LocalRanks::start_rank(LocalJob& local, Rank& rank, StartFailure& failure) {
    const Job& job = local.job;
    const std::string dir = local.dirs.of_rank(rank.id.rank);
    if (!make_dir(dir)) {
        failure.text = fmt::format("cannot make the directory '{}': {}", dir, strerror(errno));
        return false;
    }
    ProcessSpec spec;
    spec.program = rank.app->program;
    spec.argv = rank.app->argv;
    if (rank.app->index_argv) {
        if (spec.program.empty()) spec.program = spec.argv[0];
        spec.argv[0] += fmt::format("-{}", rank.id.rank);
    }
    spec.wdir = rank.app->session_wdir ? local.dirs.session : rank.app->wdir;
    spec.cpus = job.places[rank.id.rank].cpus;
    spec.merge_stderr = job.merge_output;
    spec.with_stdin = job.input.target == InputPolicy::Target::All ||
                      (job.input.target == InputPolicy::Target::One && job.input.rank == rank.id.rank);

    const pmix_proc_t proc = to_pmix({job.nspace, rank.id.rank});
    Environment defaults;
    if (job.nodes.size() > 1) {
        // Open MPI names its shared memory by host name and local rank, which is not one process where one
        // machine pretends to be several nodes.
        defaults["OMPI_MCA_btl_vader_backing_directory"] = dir_;
    }
    const pmix_status_t answer = server_environment(proc, *rank.app, spec.wdir, defaults, spec.env);
    if (answer != PMIX_SUCCESS) {
        failure.text = fmt::format("the PMIx server gave no environment: {}", PMIx_Error_string(answer));
        return false;
    }

    Process process = start_process(spec);
    if (process.pid < 0) {
        failure = process.failure;
        return false;
    }
    rank.pid = process.pid;
    rank.started = true;
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
    // What a rank did before its end (PMIx_Finalize, PMIx_Abort) is posted by now; it comes first.
    loop_.run_posted();
    // Those that a signal ended are named first: the others may have failed for their sake.
    std::stable_sort(ended.begin(), ended.end(), [](const Ended& a, const Ended& b) {
        return WIFSIGNALED(a.status) && !WIFSIGNALED(b.status);
    });
    for (const Ended& end : ended) {
        Rank& rank = *end.rank;
        close_input(rank, true);
        read_output(rank, rank.out, PMIX_FWD_STDOUT_CHANNEL, true);
        read_output(rank, rank.err, PMIX_FWD_STDERR_CHANNEL, true);
        link_.send(Kind::Exited, Writer().proc(rank.id).i32(end.status));
        const LocalJob* local = find_job(rank.id.job);
        if (!rank.connected && local != nullptr && !local->no_more_starts) {
            // It will take part in nothing; the server need not wait for it. Of others the data stays to be
            // read.
            const pmix_proc_t proc = to_pmix(end.name);
            PMIx_server_deregister_client(
                &proc, [](pmix_status_t, void*) {}, nullptr);
        }
        on_ended_(end.name);
    }
}

/// Sends on what a rank has written; at its end closes the pipe. `all`: the rank is gone, take what there is.
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
    link_.send(Kind::Output, Writer().proc(rank.id).u32(channel).bytes(bytes));
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
        link_.send(Kind::InputTaken, Writer().u64(bytes.size()));
    } else {
        rank->input.append(bytes);
        feed(*rank);
    }
}

void LocalRanks::end_input(ProcId id) {
    if (Rank* rank = find(id)) {
        rank->input_ended = true;
        feed(*rank);
    }
}

/// Writes to a rank's standard input what it takes; the rest when it can take more.
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
    if (written > 0) link_.send(Kind::InputTaken, Writer().u64(written));
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
    if (!rank.input.empty()) link_.send(Kind::InputTaken, Writer().u64(rank.input.size()));
    rank.input.clear();
    if (refused) link_.send(Kind::InputRefused, Writer().proc(rank.id));
}

void LocalRanks::signal(int number, const std::vector<ProcId>& procs, bool last) {
    auto meant = [&](ProcId id) {
        return procs.empty() || std::any_of(procs.begin(), procs.end(), [&](ProcId proc) {
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
        local.registered = false;
    }
}

}  // namespace muster
