// SPDX-License-Identifier: BSD-3-Clause
// The node daemon: start-up, its ranks, and its end.
#include "tools/muster/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pmix.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/muster/process.hpp"
#include "tools/muster/session_dir.hpp"

namespace muster {
namespace {

/// Output that the launcher has not yet confirmed; beyond it the ranks' pipes fill up and they wait.
constexpr uint64_t kOutputWindow = 1 << 20;
constexpr size_t kReadSize = 64 * 1024;
/// A rank that is gone and whose data is asked for has this long to be found in the server's store.
constexpr std::chrono::milliseconds kGoneGrace{1000};

void block_signals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
        sigdelset(&all, fault);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

pmix_proc_t to_pmix(const std::string& nspace, uint32_t rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
    return proc;
}

using Environment = std::map<std::string, std::string>;

/// The environment of a rank: defaults, the launcher's, what was asked for, and what the server adds.
pmix_status_t server_environment(const pmix_proc_t& proc, const App& app, const Environment& defaults,
                                 std::vector<std::string>& out) {
    Environment variables = defaults;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    variables["PWD"] = app.wdir;
    for (const auto& [name, value] : app.env)
        variables[name] = value;
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

}  // namespace

Node::Node(NodePlan plan)
    : plan_(std::move(plan)),
      job_(*plan_.job),
      dir_(fmt::format("{}/node{}", plan_.session_dir, plan_.number)) {
    dirs_.session = dir_;
    dirs_.job = fmt::format("{}/{}", dir_, job_.number);
    link_ = std::make_unique<Link>(
        loop_, plan_.launcher_fd,
        [this](Kind kind, uint64_t id, std::string_view body) { on_message(kind, id, body); },
        [this] {
            launcher_gone_ = true;
            status_ = 1;
            loop_.quit();
        });
}

Node::~Node() = default;

int Node::run() {
    setpgid(0, 0);
    adopt_orphans();
    block_signals();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, 0);
    dup2(null, 1);
    close(null);

    std::string error;
    if (!start_server(error)) {
        link_->send(Kind::Failed, Writer().bytes(error));
        link_->flush();
        return 1;
    }
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    signal_fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    signals_ = loop_.on_readable(signal_fd_, [this] { on_signal(); });
    link_->send(Kind::Ready);
    loop_.run();
    end();
    return status_;
}

bool Node::start_server(std::string& error) {
    if (!make_dir(dir_) || !make_dir(dirs_.job)) {
        error = fmt::format("cannot make the directory '{}': {}", dirs_.job, strerror(errno));
        return false;
    }
    // What the library and the ranks put into "the temporary directory" of the server stays in ours.
    InfoList info;
    info.text(PMIX_SERVER_NSPACE, plan_.server_nspace);
    info.rank(PMIX_SERVER_RANK, plan_.number);
    info.text(PMIX_SERVER_TMPDIR, dir_);
    info.text(PMIX_SYSTEM_TMPDIR, dir_);
    info.text(PMIX_HOSTNAME, job_.nodes[plan_.number]);
    info.u32(PMIX_NODEID, plan_.number);
    const pmix_status_t status = PMIx_server_init(host_module(loop_, *this), info.data(), info.size());
    if (status != PMIX_SUCCESS) {
        error = fmt::format("the PMIx server did not start: {}", PMIx_Error_string(status));
        return false;
    }
    server_runs_ = true;
    error = register_job();
    return error.empty();
}

/// Makes the job and its local ranks known to the server; the reason when that fails.
std::string Node::register_job() {
    const std::vector<uint32_t> local = job_.ranks_on(plan_.number);
    InfoList info = job_data(job_, plan_.number, dirs_);
    pmix_status_t status = PMIx_server_register_nspace(job_.nspace.c_str(), static_cast<int>(local.size()),
                                                       info.data(), info.size(), nullptr, nullptr);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        return fmt::format("the PMIx server refused the job's data: {}", PMIx_Error_string(status));
    }
    for (const App& app : job_.apps) {
        if (app.pset.empty()) continue;
        std::vector<pmix_proc_t> members;
        for (uint32_t i = 0; i < app.ranks; ++i)
            members.push_back(to_pmix(job_.nspace, app.first_rank + i));
        status = PMIx_server_define_process_set(members.data(), members.size(), app.pset.c_str());
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED &&
            status != PMIX_ERR_NOT_SUPPORTED) {
            return fmt::format("the process set '{}' cannot be defined: {}", app.pset,
                               PMIx_Error_string(status));
        }
    }
    ranks_.reserve(local.size());  // watches point at the elements
    for (uint32_t rank : local) {
        ranks_.emplace_back().rank = rank;
        const pmix_proc_t proc = to_pmix(job_.nspace, rank);
        status = PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr);
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
            return fmt::format("the PMIx server refused rank {}: {}", rank, PMIx_Error_string(status));
        }
    }
    return {};
}

/// Starts one rank a turn of the loop, so that those already started are served meanwhile.
void Node::start_next() {
    if (next_start_ == ranks_.size()) return;
    Rank& rank = ranks_[next_start_++];
    const ProcId id{job_.number, rank.rank};
    std::string error;
    int status = 0;
    if (no_more_starts_) {
        link_->send(Kind::NotStarted, Writer().proc(id).i32(0).bytes(""));
    } else if (start_rank(rank, error, status)) {
        link_->send(Kind::Started, Writer().proc(id).u32(static_cast<uint32_t>(rank.pid)));
        feed(rank);
    } else {
        no_more_starts_ = true;
        link_->send(Kind::NotStarted, Writer().proc(id).i32(status).bytes(error));
    }
    loop_.post([this] { start_next(); });
}

bool Node::start_rank(Rank& rank, std::string& error, int& status) {
    const Place& place = job_.places[rank.rank];
    const App& app = job_.apps[place.app];
    const std::string dir = dirs_.of_rank(rank.rank);
    status = 1;
    if (!make_dir(dir)) {
        error = fmt::format("cannot make the directory '{}': {}", dir, strerror(errno));
        return false;
    }
    ProcessSpec spec;
    spec.argv = app.argv;
    spec.wdir = app.wdir;
    spec.cpus = place.cpus;
    spec.merge_stderr = plan_.merge_output;
    spec.with_stdin = plan_.input.target == InputPolicy::Target::All ||
                      (plan_.input.target == InputPolicy::Target::One && plan_.input.rank == rank.rank);

    const pmix_proc_t proc = to_pmix(job_.nspace, rank.rank);
    Environment defaults;
    if (job_.nodes.size() > 1) {
        // Open MPI names its shared memory by host name and local rank, which is not one process where one
        // machine pretends to be several nodes.
        defaults["OMPI_MCA_btl_vader_backing_directory"] = dir_;
    }
    const pmix_status_t answer = server_environment(proc, app, defaults, spec.env);
    if (answer != PMIX_SUCCESS) {
        error = fmt::format("the PMIx server gave no environment: {}", PMIx_Error_string(answer));
        return false;
    }

    Process process = start_process(spec);
    if (process.pid < 0) {
        error = process.error;
        status = process.status;
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

void Node::watch_output(Rank& rank, Pipe& pipe, uint32_t channel) {
    if (pipe.fd < 0) return;
    fcntl(pipe.fd, F_SETFL, O_NONBLOCK);
    pipe.watch = loop_.on_readable(
        pipe.fd, [this, &rank, &pipe, channel] { read_output(rank, pipe, channel, false); });
    if (output_paused_) pipe.watch.enable(false);
}

void Node::on_signal() {
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM) {
            status_ = 1;
            loop_.quit();
        }
    }
    reap();
}

void Node::reap() {
    struct Ended {
        Rank* rank;
        int status;
    };
    std::vector<Ended> ended;
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (Rank* rank = rank_of_pid(pid)) {
            rank->pid = -1;
            ended.push_back({rank, status});
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
        link_->send(Kind::Exited, Writer().proc({job_.number, rank.rank}).i32(end.status));
        if (!rank.connected && !no_more_starts_) {
            // It will take part in nothing; the server need not wait for it. Of others the data stays to be
            // read.
            const pmix_proc_t proc = to_pmix(job_.nspace, rank.rank);
            PMIx_server_deregister_client(
                &proc, [](pmix_status_t, void*) {}, nullptr);
        }
        std::vector<uint64_t> waiting;
        for (const auto& [id, name] : asked_) {
            if (rank_of(name) == &rank) waiting.push_back(id);
        }
        for (uint64_t id : waiting)
            modex_answered(id, PMIX_ERR_NOT_FOUND, {});
    }
}

/// Sends on what a rank has written; at its end closes the pipe. `all`: the rank is gone, take what there is.
void Node::read_output(Rank& rank, Pipe& pipe, uint32_t channel, bool all) {
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

void Node::send_output(const Rank& rank, uint32_t channel, std::string_view bytes) {
    output_in_flight_ += bytes.size();
    link_->send(Kind::Output, Writer().proc({job_.number, rank.rank}).u32(channel).bytes(bytes));
    if (output_in_flight_ < kOutputWindow || output_paused_) return;
    output_paused_ = true;
    for (Rank& other : ranks_) {
        other.out.watch.enable(false);
        other.err.watch.enable(false);
    }
}

void Node::output_taken(uint64_t bytes) {
    output_in_flight_ -= std::min(bytes, output_in_flight_);
    if (!output_paused_ || output_in_flight_ > kOutputWindow / 2) return;
    output_paused_ = false;
    for (Rank& rank : ranks_) {
        rank.out.watch.enable(true);
        rank.err.watch.enable(true);
    }
}

/// Writes to a rank's standard input what it takes; the rest when it can take more.
void Node::feed(Rank& rank) {
    size_t done = 0;
    while (rank.in.fd >= 0 && done < rank.input.size()) {
        const ssize_t n = write(rank.in.fd, rank.input.data() + done, rank.input.size() - done);
        if (n > 0) {
            done += static_cast<size_t>(n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return close_input(rank, true);
        }
    }
    if (!rank.started) return;
    rank.input.erase(0, done);
    if (done > 0) link_->send(Kind::InputTaken, Writer().u64(done));
    if (rank.in.fd < 0) return;
    if (!rank.input.empty()) {
        if (!rank.in.watch) rank.in.watch = loop_.on_writable(rank.in.fd, [this, &rank] { feed(rank); });
        return;
    }
    rank.in.watch.cancel();
    if (rank.input_ended) close_input(rank, false);
}

void Node::close_input(Rank& rank, bool refused) {
    if (rank.in.fd < 0) return;
    rank.in.watch.cancel();
    close(rank.in.fd);
    rank.in.fd = -1;
    if (!rank.input.empty()) link_->send(Kind::InputTaken, Writer().u64(rank.input.size()));
    rank.input.clear();
    if (refused) link_->send(Kind::InputRefused, Writer().proc({job_.number, rank.rank}));
}

void Node::signal_ranks(int number, const std::vector<ProcId>& procs) {
    for (Rank& rank : ranks_) {
        const ProcId id{job_.number, rank.rank};
        if (rank.pid > 0 && (procs.empty() || std::find(procs.begin(), procs.end(), id) != procs.end())) {
            kill(-rank.pid, number);
        }
    }
}

void Node::on_message(Kind kind, uint64_t id, std::string_view body) {
    Reader in(body);
    switch (kind) {
        case Kind::Start:
            start_next();
            break;
        case Kind::Signal: {
            const int number = in.i32();
            std::vector<ProcId> procs;
            for (uint32_t left = in.count(2 * sizeof(uint32_t)); left > 0; --left)
                procs.push_back(in.proc());
            if (!in.ok()) break;
            no_more_starts_ |= number == SIGTERM || number == SIGKILL;
            signal_ranks(number, procs);
            break;
        }
        case Kind::Input: {
            Rank* rank = rank_of(in.proc());
            const std::string_view bytes = in.bytes();
            if (rank == nullptr || (rank->started && rank->in.fd < 0)) {
                link_->send(Kind::InputTaken, Writer().u64(bytes.size()));
            } else {
                rank->input.append(bytes);
                feed(*rank);
            }
            break;
        }
        case Kind::InputEnd:
            if (Rank* rank = rank_of(in.proc())) {
                rank->input_ended = true;
                feed(*rank);
            }
            break;
        case Kind::OutputTaken:
            output_taken(in.u64());
            break;
        case Kind::FenceDone:
        case Kind::ModexDone: {
            const auto found = answers_.find(id);
            const int32_t status = in.i32();
            const std::string_view bytes = in.bytes();
            if (found == answers_.end()) break;
            const DataAnswer answer = found->second;
            answers_.erase(found);
            answer(in.ok() ? status : PMIX_ERROR, bytes);
            break;
        }
        case Kind::ModexAsk:
            modex_asked(id, in.name());
            break;
        case Kind::Quit:
            loop_.quit();
            break;
        default:
            break;
    }
}

/// Ends whatever is left, the server last.
void Node::end() {
    if (launcher_gone_) signal_ranks(SIGKILL, {});
    end_children(launcher_gone_);
    for (Rank& rank : ranks_) {
        close_input(rank, false);
        read_output(rank, rank.out, PMIX_FWD_STDOUT_CHANNEL, true);
        read_output(rank, rank.err, PMIX_FWD_STDERR_CHANNEL, true);
    }
    for (const auto& [id, answer] : answers_)
        answer(PMIX_ERR_LOST_CONNECTION, {});
    answers_.clear();
    if (server_runs_) {
        PMIx_server_deregister_nspace(job_.nspace.c_str(), nullptr, nullptr);
        PMIx_server_finalize();
    }
    link_->flush();
    // The launcher removes the directory of the run; if it cannot any more, who is last does.
    if (launcher_gone_) {
        remove_session_dir(dir_);
        rmdir(plan_.session_dir.c_str());
    }
}

Node::Rank* Node::rank_of(ProcId id) {
    if (id.job != job_.number) return nullptr;
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), id.rank,
                                        [](const Rank& r, uint32_t rank) { return r.rank < rank; });
    return found != ranks_.end() && found->rank == id.rank ? &*found : nullptr;
}

Node::Rank* Node::rank_of(const ProcName& name) {
    return name.nspace == job_.nspace ? rank_of(ProcId{job_.number, name.rank}) : nullptr;
}

Node::Rank* Node::rank_of_pid(pid_t pid) {
    for (Rank& rank : ranks_) {
        if (rank.pid == pid) return &rank;
    }
    return nullptr;
}

void Node::client_connected(const ProcName& proc) {
    Rank* rank = rank_of(proc);
    if (rank == nullptr) return;
    rank->connected = true;
    link_->send(Kind::Connected, Writer().proc({job_.number, rank->rank}));
}

void Node::client_finalized(const ProcName& proc) {
    if (const Rank* rank = rank_of(proc))
        link_->send(Kind::Finalized, Writer().proc({job_.number, rank->rank}));
}

void Node::abort(const ProcName& proc, int status, const std::string& text,
                 const std::vector<ProcName>& targets, StatusAnswer answer) {
    if (const Rank* rank = rank_of(proc)) {
        link_->send(Kind::Aborted,
                    Writer().proc({job_.number, rank->rank}).i32(status).bytes(text).names(targets));
    }
    answer(PMIX_SUCCESS);
}

void Node::fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes, DataAnswer answer) {
    const uint64_t id = next_id_++;
    if (link_->send(Kind::Fence, id, Writer().names(procs).u32(seconds).bytes(bytes))) {
        answers_.emplace(id, answer);
    } else {
        answer(PMIX_ERR_OUT_OF_RESOURCE, {});
    }
}

void Node::direct_modex(const ProcName& proc, uint32_t seconds, DataAnswer answer) {
    const uint64_t id = next_id_++;
    link_->send(Kind::Modex, id, Writer().name(proc).u32(seconds));
    answers_.emplace(id, answer);
}

/// Another node's rank wants what a rank of ours has posted, or will post.
void Node::modex_asked(uint64_t id, const ProcName& name) {
    const Rank* rank = rank_of(name);
    if (rank == nullptr) {
        link_->send(Kind::ModexDone, id, Writer().i32(PMIX_ERR_NOT_FOUND).bytes({}));
        return;
    }
    struct Question {
        Node* node;
        uint64_t id;
    };
    asked_.emplace(id, name);
    auto* question = new Question{this, id};
    const pmix_proc_t proc = to_pmix(name.nspace, name.rank);
    const pmix_status_t status = PMIx_server_dmodex_request(
        &proc,
        [](pmix_status_t answer, char* data, size_t size, void* context) {
            std::unique_ptr<Question> asked(static_cast<Question*>(context));
            std::string bytes(data != nullptr ? data : "", data != nullptr ? size : 0);
            asked->node->loop_.post(
                [node = asked->node, number = asked->id, answer, bytes = std::move(bytes)] {
                    node->modex_answered(number, answer, bytes);
                });
        },
        question);
    if (status != PMIX_SUCCESS) {
        delete question;
        modex_answered(id, status, {});
    } else if (rank->pid < 0) {
        asked_timers_.push_back(
            loop_.after(kGoneGrace, [this, id] { modex_answered(id, PMIX_ERR_NOT_FOUND, {}); }));
    }
}

void Node::modex_answered(uint64_t id, pmix_status_t status, std::string_view bytes) {
    if (asked_.erase(id) == 0) return;
    if (!link_->send(Kind::ModexDone, id, Writer().i32(status).bytes(bytes))) {
        link_->send(Kind::ModexDone, id, Writer().i32(PMIX_ERR_OUT_OF_RESOURCE).bytes({}));
    }
}

}  // namespace muster
