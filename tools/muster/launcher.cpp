// SPDX-License-Identifier: BSD-3-Clause
// The launcher.
#include "tools/muster/launcher.hpp"

#include <fmt/format.h>
#include <pmix_common.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/muster/node.hpp"
#include "tools/muster/process.hpp"
#include "tools/muster/session_dir.hpp"

namespace muster {
namespace {

constexpr int kTimeoutStatus = 124;  // as timeout(1)
/// Between SIGTERM and SIGKILL to ranks that are to end.
constexpr std::chrono::milliseconds kPatience{2000};
/// A node that does not end by then is killed.
constexpr std::chrono::milliseconds kNodePatience{5000};

std::string own_hostname() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

/// "0-3,7" of a sorted list.
std::string rank_text(const std::vector<uint32_t>& ranks) {
    return cpu_text(std::vector<unsigned>(ranks.begin(), ranks.end()));
}

}  // namespace

Launcher::Launcher(Options options) : options_(std::move(options)), hostname_(own_hostname()) {}

Launcher::~Launcher() {
    if (signal_fd_ >= 0) close(signal_fd_);
}

void Launcher::say(const std::string& line) {
    const std::string text = "muster: " + line + "\n";
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

int Launcher::run() {
    // Dots in a server's namespace are not understood by all tools.
    std::string host = hostname_.substr(0, hostname_.find('.'));
    const std::string server = fmt::format("muster-{}-{}", host, getpid());
    try {
        job_ = make_job(options_, server + "@1", hostname_);
        session_dir_ = make_session_dir();
    } catch (const JobError& error) {
        say(error.what());
        return 1;
    }
    ranks_.resize(job_.size());
    ranks_left_ = job_.size();
    adopt_orphans();
    watch_signals();
    if (!fork_nodes()) {
        end_children(true);
        remove_session_dir(session_dir_);
        return 1;
    }

    loop_ = std::make_unique<Loop>();
    signals_ = loop_->on_readable(signal_fd_, [this] { on_signals(); });
    auto send = [this](uint32_t node, Kind kind, uint64_t id, const Writer& body) {
        return nodes_[node].link->send(kind, id, body);
    };
    router_ = std::make_unique<Router>(*loop_, job_, report_, send);
    output_ = std::make_unique<Output>(
        *loop_, options_.output, job_.size(),
        [send](uint32_t node, uint64_t bytes) { send(node, Kind::OutputTaken, 0, Writer().u64(bytes)); },
        [this](const std::string& what) { fail(128 + SIGPIPE, what + "; the job is ended"); });
    std::set<uint32_t> readers;
    if (options_.input.target == InputPolicy::Target::One) readers = {options_.input.rank};
    if (options_.input.target == InputPolicy::Target::All) {
        for (uint32_t rank = 0; rank < job_.size(); ++rank)
            readers.insert(rank);
    }
    input_ = std::make_unique<Input>(*loop_, readers, [this, send](uint32_t rank, std::string_view bytes) {
        const Writer target = Writer().proc({job_.number, rank});
        const uint32_t node = job_.places[rank].node;
        if (bytes.empty()) {
            send(node, Kind::InputEnd, 0, target);
        } else {
            send(node, Kind::Input, 0, Writer(target).bytes(bytes));
        }
    });
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
        nodes_[n].link = std::make_unique<Link>(
            *loop_, node_fds_[n],
            [this, n](Kind kind, uint64_t id, std::string_view body) { on_message(n, kind, id, body); },
            [this, n] { on_node_gone(n); });
    }
    if (options_.timeout > 0) {
        timeout_ =
            loop_->after(std::chrono::milliseconds(static_cast<int64_t>(options_.timeout * 1000)), [this] {
                std::vector<uint32_t> running;
                for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
                    if (!ranks_[rank].ended) running.push_back(rank);
                }
                fail(kTimeoutStatus,
                     fmt::format(
                         "the job did not end within {} seconds and is ended; still running: rank{} {}",
                         options_.timeout, running.size() == 1 ? "" : "s", rank_text(running)));
            });
    }
    loop_->run();

    output_->finish(failure_ ? kPatience : std::chrono::milliseconds(-1));
    end_children(true);
    remove_session_dir(session_dir_);
    if (options_.report) {
        const std::string table = report_.text(job_.size(), job_.nodes.size());
        [[maybe_unused]] ssize_t written = write(STDERR_FILENO, table.data(), table.size());
    }
    return failure_.value_or(0);
}

void Launcher::watch_signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2}) {
        // nohup is respected.
        struct sigaction current;
        if (number == SIGHUP && sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN)
            continue;
        sigaddset(&wanted, number);
    }
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal_fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Forks a process for each node; the sockets to them are in node_fds_.
bool Launcher::fork_nodes() {
    nodes_.resize(job_.nodes.size());
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            say(fmt::format("cannot talk to node {}: {}", job_.nodes[n], strerror(errno)));
            return false;
        }
        const pid_t pid = fork();
        if (pid == 0) {
            close(pair[0]);
            for (int fd : node_fds_)
                close(fd);
            close(signal_fd_);
            NodePlan plan;
            plan.job = &job_;
            plan.number = n;
            plan.server_nspace = job_.nspace.substr(0, job_.nspace.rfind('@'));
            plan.session_dir = session_dir_;
            plan.input = options_.input;
            plan.merge_output = options_.output.merge;
            plan.launcher_fd = pair[1];
            int status = 1;
            try {
                status = Node(std::move(plan)).run();
            } catch (const std::exception& error) {
                say(fmt::format("node {}: {}", job_.nodes[n], error.what()));
            }
            _exit(status);
        }
        close(pair[1]);
        if (pid < 0) {
            say(fmt::format("cannot start node {}: {}", job_.nodes[n], strerror(errno)));
            close(pair[0]);
            return false;
        }
        nodes_[n].pid = pid;
        node_fds_.push_back(pair[0]);
    }
    return true;
}

void Launcher::on_message(uint32_t node, Kind kind, uint64_t id, std::string_view body) {
    Reader in(body);
    switch (kind) {
        case Kind::Ready:
            node_ready(node);
            break;
        case Kind::Failed:
            fail(1, fmt::format("node {}: {}", job_.nodes[node], in.bytes()));
            break;
        case Kind::Started: {
            RankState* rank = rank_of(in.proc());
            if (rank == nullptr) break;
            rank->pid = static_cast<pid_t>(in.u32());
            report_.rank_started();
            break;
        }
        case Kind::NotStarted: {
            const ProcId proc = in.proc();
            const int status = in.i32();
            rank_not_started(proc, status, std::string(in.bytes()));
            break;
        }
        case Kind::Connected:
            rank_connected(in.proc());
            break;
        case Kind::Finalized:
            if (RankState* rank = rank_of(in.proc())) {
                rank->finalized = true;
                report_.rank_finalized();
            }
            break;
        case Kind::Aborted: {
            const ProcId proc = in.proc();
            const int status = in.i32();
            const std::string text(in.bytes());
            rank_aborted(proc, status, text, in.names());
            break;
        }
        case Kind::Exited: {
            const ProcId proc = in.proc();
            rank_exited(proc, in.i32());
            break;
        }
        case Kind::Output: {
            const ProcId proc = in.proc();
            const bool error = in.u32() == PMIX_FWD_STDERR_CHANNEL;
            const std::string_view bytes = in.bytes();
            if (rank_of(proc) != nullptr && in.ok()) output_->write(node, proc, error, bytes);
            break;
        }
        case Kind::InputTaken:
            input_->taken(in.u64());
            break;
        case Kind::InputRefused:
            input_->refused(in.proc().rank);
            break;
        default:
            router_->on_message(node, kind, id, body);
            break;
    }
}

Launcher::RankState* Launcher::rank_of(ProcId proc) {
    return proc.job == job_.number && proc.rank < ranks_.size() ? &ranks_[proc.rank] : nullptr;
}

std::string Launcher::describe(uint32_t rank) const {
    return fmt::format("rank {} on {} (pid {})", rank, job_.nodes[job_.places[rank].node], ranks_[rank].pid);
}

void Launcher::node_ready(uint32_t node) {
    nodes_[node].ready = true;
    if (state_ != State::Starting) return;
    if (!std::all_of(nodes_.begin(), nodes_.end(), [](const NodeState& n) { return n.ready; })) return;
    state_ = State::Running;
    report_.servers_ready();
    for (NodeState& other : nodes_)
        other.link->send(Kind::Start);
    input_->start();
}

void Launcher::rank_not_started(ProcId proc, int status, const std::string& why) {
    if (rank_of(proc) == nullptr) return;
    if (!why.empty()) {
        fail(status,
             fmt::format("rank {} on {}: {}", proc.rank, job_.nodes[job_.places[proc.rank].node], why));
    }
    rank_ended(proc.rank);
}

void Launcher::rank_connected(ProcId proc) {
    RankState* rank = rank_of(proc);
    if (rank == nullptr || rank->connected) return;
    rank->connected = true;
    report_.rank_connected();
}

void Launcher::rank_exited(ProcId proc, int status) {
    const RankState* rank = rank_of(proc);
    if (rank == nullptr || rank->ended) return;
    report_.rank_ended();
    if (!rank->dismissed) {
        const std::string who = describe(proc.rank);
        if (WIFSIGNALED(status)) {
            fail(128 + WTERMSIG(status),
                 fmt::format("{} was ended by {}", who, signal_text(WTERMSIG(status))));
        } else if (WEXITSTATUS(status) != 0) {
            fail(WEXITSTATUS(status), fmt::format("{} exited with status {}{}", who, WEXITSTATUS(status),
                                                  rank->connected ? "" : " before it called PMIx_Init"));
        } else if (rank->connected && !rank->finalized) {
            fail(1, fmt::format("{} exited with status 0 without calling PMIx_Finalize", who));
        }
    }
    rank_ended(proc.rank);
}

void Launcher::rank_aborted(ProcId proc, int status, const std::string& text,
                            const std::vector<ProcName>& targets) {
    RankState* rank = rank_of(proc);
    if (rank == nullptr) return;
    std::vector<ProcId> procs;
    bool all = targets.empty();
    for (const ProcName& target : targets) {
        if (target.nspace != job_.nspace) continue;
        if (target.rank == PMIX_RANK_WILDCARD) all = true;
        if (target.rank < job_.size()) procs.push_back({job_.number, target.rank});
    }
    if (all || procs.size() == job_.size()) {
        const int code = (status & 0xff) != 0 ? status & 0xff : 1;
        fail(code, fmt::format("{} called PMIx_Abort with status {}{}{}", describe(proc.rank), status,
                               text.empty() ? "" : ": ", text));
        return;
    }
    if (procs.empty() || ended()) return;
    std::vector<uint32_t> numbers;
    for (const ProcId& target : procs) {
        ranks_[target.rank].dismissed = true;
        numbers.push_back(target.rank);
    }
    std::sort(numbers.begin(), numbers.end());
    say(fmt::format("{} called PMIx_Abort for rank{} {}{}{}", describe(proc.rank),
                    numbers.size() == 1 ? "" : "s", rank_text(numbers), text.empty() ? "" : ": ", text));
    signal_ranks(SIGCONT, procs);
    signal_ranks(SIGKILL, procs);
}

void Launcher::rank_ended(uint32_t rank) {
    RankState& state = ranks_[rank];
    if (state.ended) return;
    state.ended = true;
    router_->rank_ended(rank);
    if (--ranks_left_ == 0) quit_nodes();
}

void Launcher::on_node_gone(uint32_t node) {
    NodeState& state = nodes_[node];
    if (state.gone) return;
    state.gone = true;
    router_->node_gone(node);
    if (state_ != State::Quitting) {
        if (!failure_) fail(1, fmt::format("the server of node {} ended unexpectedly", job_.nodes[node]));
        for (uint32_t rank : job_.ranks_on(node))
            rank_ended(rank);
    }
    if (std::all_of(nodes_.begin(), nodes_.end(), [](const NodeState& n) { return n.gone; })) loop_->quit();
}

void Launcher::on_signals() {
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info)
        on_signal(static_cast<int>(info.ssi_signo));
}

void Launcher::on_signal(int number) {
    switch (number) {
        case SIGINT:
        case SIGTERM:
        case SIGHUP:
        case SIGQUIT:
            if (++interrupts_ > 1) {
                signal_ranks(SIGKILL);
            } else {
                fail(128 + number, fmt::format("the job is ended by {}", signal_text(number)));
            }
            break;
        case SIGTSTP:
            signal_ranks(SIGTSTP);
            for (NodeState& node : nodes_)
                node.link->flush();
            raise(SIGSTOP);
            break;
        case SIGCONT:
            signal_ranks(SIGCONT);
            input_->resume();
            break;
        case SIGUSR1:
        case SIGUSR2:
            signal_ranks(number);
            break;
        default:  // SIGCHLD: the end of a node is seen on its link
            break;
    }
}

void Launcher::fail(int status, const std::string& why) {
    if (failure_) return;
    failure_ = status;
    say(why);
    end_ranks();
}

void Launcher::end_ranks() {
    if (ended()) return;
    const bool started = state_ == State::Running;
    state_ = State::Ending;
    timeout_.cancel();
    if (!started) return quit_nodes();
    signal_ranks(SIGTERM);
    signal_ranks(SIGCONT);  // those that are stopped see it, too
    force_ = loop_->after(kPatience, [this] {
        signal_ranks(SIGKILL);
        kill_nodes_later();
    });
}

/// A node that does not do as it is told, its server hanging perhaps, is killed; its ranks die with it.
void Launcher::kill_nodes_later() {
    stuck_ = loop_->after(kNodePatience, [this] {
        for (const NodeState& node : nodes_) {
            if (!node.gone) kill(node.pid, SIGKILL);
        }
    });
}

void Launcher::signal_ranks(int number, const std::vector<ProcId>& procs) {
    Writer body;
    body.i32(number).u32(static_cast<uint32_t>(procs.size()));
    for (const ProcId& proc : procs)
        body.proc(proc);
    for (NodeState& node : nodes_)
        node.link->send(Kind::Signal, body);
}

void Launcher::quit_nodes() {
    if (state_ == State::Quitting) return;
    state_ = State::Quitting;
    force_.cancel();
    timeout_.cancel();
    for (NodeState& node : nodes_)
        node.link->send(Kind::Quit);
    kill_nodes_later();
}

}  // namespace muster
