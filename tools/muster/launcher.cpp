// SPDX-License-Identifier: BSD-3-Clause
// The launcher's own life: its nodes, signals and time limit, the messages, and its end.
#include "tools/muster/launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pmix/muster.h>
#include <pmix_tool.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tools/muster/host/node.hpp"
#include "tools/muster/jobs/job_data.hpp"
#include "tools/muster/jobs/words.hpp"
#include "tools/muster/nodes/environment.hpp"
#include "tools/muster/nodes/process.hpp"
#include "tools/muster/services/forwards.hpp"
#include "tools/muster/services/timeout_report.hpp"

namespace muster::launcher {
namespace {

/// How long the last output waits for a reader when the job has failed.
constexpr std::chrono::milliseconds kPatience{2000};
/// A node that does not end by then is killed.
constexpr std::chrono::milliseconds kNodePatience{5000};

std::string own_hostname() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

}  // namespace

std::string rank_text(const std::vector<uint32_t>& ranks) {
    return cpu_text(std::vector<unsigned>(ranks.begin(), ranks.end()));
}

Launcher::Launcher(Options options, Initiator initiator)
    : options_(std::move(options)), initiator_(std::move(initiator)), hostname_(own_hostname()) {}

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
    server_nspace_ = fmt::format("muster-{}-{}", host, getpid());
    if (!initiator_.nspace.empty()) server_nspace_ = initiator_.nspace;
    node_names_ = node_names(options_.node_count(), hostname_);
    try {
        if (!options_.serve)
            lay_out(first_.emplace(options_.job), fmt::format("{}@1", server_nspace_), node_names_);
        if (first_) first_->wishes.forward = PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL;
        session_dir_ = make_session_dir();
    } catch (const JobError& error) {
        say(error.what());
        return 1;
    }
    const std::string parent = session_dir_.substr(0, session_dir_.rfind('/'));
    rendezvous_ = fmt::format("{}/pmix.{}.tool.{}", parent, hostname_, getpid());
    rendezvous_by_name_ = fmt::format("{}/pmix.{}.tool.{}", parent, hostname_, server_nspace_);
    adopt_orphans();
    watch_signals();
    if (!start_nodes() || !start_library()) {
        end_children(true);
        remove_session_dir(session_dir_);
        return 1;
    }
    const uint32_t size = first_ ? first_->size() : 0;
    make_parts();
    watch_initiator();
    guidance_.hold = initiator_.waits_for_us() || initiator_.pause;  // until it has sent its requests
    if (!guidance_.hold) launch_first();
    loop_->run();

    output_->finish(failure_ ? kPatience : std::chrono::milliseconds(-1));
    end_children(true);
    remove_session_dir(session_dir_);
    unlink(rendezvous_.c_str());  // where the node could not
    unlink(rendezvous_by_name_.c_str());
    if (!options_.report_uri.empty() && options_.report_uri != "-") unlink(options_.report_uri.c_str());
    if (options_.report) {
        const std::string table = report_.text(size, node_names_.size());
        [[maybe_unused]] ssize_t written = write(STDERR_FILENO, table.data(), table.size());
    }
    PMIx_tool_finalize();
    return failure_.value_or(0);
}

/// Messages are packed by the library, so this process initialises it: as a tool without a server, which has
/// no thread. After the fork of the nodes, which initialise it as servers.
bool Launcher::start_library() {
    pmix_proc_t self;
    char* why = nullptr;
    InfoList info;
    info.flag(PMIX_TOOL_DO_NOT_CONNECT, true);
    info.text(PMIX_TOOL_NSPACE, server_nspace_).rank(PMIX_TOOL_RANK, static_cast<uint32_t>(nodes_.size()));
    info.add(MUSTER_ERROR_TEXT, &why, PMIX_POINTER);
    const pmix_status_t status = PMIx_tool_init(&self, info.data(), info.size());
    const std::unique_ptr<char, decltype(&free)> text(why, free);
    if (status == PMIX_SUCCESS) return true;
    say(fmt::format("the PMIx server did not start: {} ({})", text ? text.get() : "no reason is known",
                    PMIx_Error_string(status)));
    return false;
}

/// All that needs the loop.
void Launcher::make_parts() {
    loop_ = std::make_unique<Loop>();
    signals_ = loop_->on_readable(signal_fd_, [this] { on_signals(); });
    hub_ = std::make_unique<Hub>(Hub{
        .loop = *loop_,
        .jobs = jobs_,
        .launcher = {server_nspace_, PMIX_RANK_WILDCARD},
        .nodes = node_names_,
        .has_scheduler = !options_.scheduler.empty(),
        .ask =
            [this](uint32_t node, Topic topic, const Buffer& body, Link::Done done) {
                Buffer none;
                if (!nodes_[node].link) return done(PMIX_ERR_LOST_CONNECTION, none);
                nodes_[node].link->ask(topic, body, std::move(done));
            },
        .tell =
            [this](uint32_t node, Topic topic, const Buffer& body) {
                if (nodes_[node].link) nodes_[node].link->tell(topic, body);
            },
        .give_answer = [this](
                           Asker asker, int32_t status,
                           const Buffer& body) { nodes_[asker.node].link->answer(asker.id, status, body); },
        .launch = [this](Job job, Hub::Launched launched) -> JobRecord& {
            return launch(std::move(job), std::move(launched));
        },
        .end_job = [this](JobRecord& job, int32_t status, bool at_once) { end_job(job, status, at_once); },
        .show_output =
            [this](std::optional<uint32_t> node, ProcId proc, uint32_t channel, std::string_view bytes,
                   bool shown) {
                output_->write(node.value_or(kNobody), proc, channel == PMIX_FWD_STDERR_CHANNEL, bytes,
                               shown);
            },
        .note = [this](const JobRecord& job, std::string_view text) { forwards().note(job, text); },
        .show = [this](bool error, std::string_view text) { output_->show_text(error, text); }});
    output_ = std::make_unique<Output>(
        *loop_,
        [this](uint32_t node, uint64_t bytes) {
            if (node != kNobody) hub_->output_taken(node, bytes);
        },
        [this](const std::string& what) { fail(128 + SIGPIPE, what + "; the job is ended"); },
        [this](ProcId proc) { return jobs_.find(proc)->pid; });
    services_ = make_services(*hub_, report_);
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
        if (nodes_[n].fd >= 0) connect_node(n);
    }
    if (options_.timeout > 0) {
        timeout_ = loop_->after(std::chrono::milliseconds(static_cast<int64_t>(options_.timeout * 1000)),
                                [this] { on_timeout(); });
    }
}

void Launcher::on_timeout() {
    std::string running;
    for (const auto& [number, record] : jobs_.all()) {
        std::vector<uint32_t> ranks;
        for (uint32_t rank = 0; rank < record->ranks.size(); ++rank) {
            if (!record->ranks[rank].ended) ranks.push_back(rank);
        }
        if (ranks.empty()) continue;
        running += fmt::format("{}rank{} {}", running.empty() ? "" : "; ", ranks.size() == 1 ? "" : "s",
                               rank_text(ranks));
        if (number > 1) running += fmt::format(" of job {}", number);
    }
    const std::string why = fmt::format(
        "the job did not end within {} seconds and is ended; still running: {}", options_.timeout, running);
    std::vector<const JobRecord*> jobs;
    for (const auto& [number, record] : jobs_.all()) {
        if (!record->ended()) jobs.push_back(record.get());
    }
    report_timeout(*hub_, jobs, options_.job.on_timeout, [this, why] {
        if (!ending()) fail(kTimeoutStatus, why);
    });
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
    ::signal(SIGPIPE, SIG_IGN);
    signal_fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd_ < 0)
        throw std::runtime_error(fmt::format("signals cannot be watched: signalfd4: {}", strerror(errno)));
}

/// Starts the nodes, or, if a tool controls muster, only the first: the tool may set the program of the
/// others.
bool Launcher::start_nodes() {
    nodes_.resize(node_names_.size());
    const uint32_t count = initiator_.waits_for_us() ? 1 : static_cast<uint32_t>(nodes_.size());
    for (uint32_t n = 0; n < count; ++n) {
        if (!start_node(n)) return false;
    }
    return true;
}

/// Forks a process for a node; our end of the socket to it is in its state.
bool Launcher::start_node(uint32_t n) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        say(fmt::format("cannot talk to node {}: {}", node_names_[n], strerror(errno)));
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        for (const NodeState& node : nodes_) {
            if (node.fd >= 0) close(node.fd);
        }
        NodePlan plan;
        plan.number = n;
        plan.names = node_names_;
        plan.server_nspace = server_nspace_;
        if (n == 0) {
            plan.rendezvous = rendezvous_;
            plan.rendezvous_by_name = rendezvous_by_name_;
            plan.initiator = initiator_;
            plan.scheduler = options_.scheduler;
            plan.parameters = options_.parameter_names();
        }
        plan.session_dir = session_dir_;
        plan.launcher_fd = pair[1];
        run_node(std::move(plan));
    }
    close(pair[1]);
    if (pid < 0) {
        say(fmt::format("cannot start node {}: {}", node_names_[n], strerror(errno)));
        close(pair[0]);
        return false;
    }
    nodes_[n].pid = pid;
    nodes_[n].fd = pair[0];
    nodes_[n].gone = false;
    return true;
}

/// In the new process: becomes the node, as a separate program if this one already has a loop.
void Launcher::run_node(NodePlan plan) {
    if (!loop_) {
        close(signal_fd_);
        int status = 1;
        try {
            status = Node(std::move(plan)).run();
        } catch (const std::exception& error) {
            say(fmt::format("node {}: {}", node_names_[plan.number], error.what()));
        }
        _exit(status);
    }
    // A file, since the library of the new program does not run yet.
    const std::string text = plan_text(plan);
    const int file = memfd_create("muster-node", 0);
    const bool written =
        file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    fcntl(plan.launcher_fd, F_SETFD, 0);
    restore_signals();
    std::vector<std::string> words = words_of(guidance_.daemon.empty() ? "/proc/self/exe" : guidance_.daemon);
    words.insert(words.end(), {kNodeOption, std::to_string(file)});
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (written) execvp(arguments[0], arguments.data());
    say(fmt::format("'{}' cannot be started as node {}: {}", words[0], node_names_[plan.number],
                    strerror(errno)));
    _exit(127);
}

/// Takes part in the loop from here on.
void Launcher::connect_node(uint32_t n) {
    nodes_[n].link = std::make_unique<Link>(
        *loop_, std::exchange(nodes_[n].fd, -1),
        [this, n](Topic topic, uint64_t question, Buffer& in) { on_message(n, topic, question, in); },
        [this, n] { on_node_gone(n); });
}

void Launcher::on_message(uint32_t node, Topic topic, uint64_t question, Buffer& in) {
    if (const auto found = services_.find(topic); found != services_.end()) {
        if (question != 0) return found->second->asked({node, question}, in);
        return found->second->told(node, in);
    }
    if (question != 0) return hub_->answer({node, question}, PMIX_ERR_NOT_SUPPORTED);
    switch (topic) {
        case Topic::Ready: {
            std::string uri;
            if (in.unpack(uri)) node_ready(node, uri);
            break;
        }
        case Topic::Failure:
            fail(1, fmt::format("node {}: {}", node_names_[node], in.rest()));
            break;
        case Topic::Guidance: {
            Guidance guidance;
            if (in.unpack(guidance)) guided(std::move(guidance));
            break;
        }
        case Topic::Release: {
            ProcName who;
            if (in.unpack(who)) released(who);
            break;
        }
        case Topic::Rank: {
            RankEvent event;
            if (in.unpack(event)) on_rank(event);
            break;
        }
        case Topic::Output: {
            ProcId proc;
            uint32_t channel = 0;
            std::string bytes;
            if (in.unpack(proc, channel, bytes) && jobs_.find(proc) != nullptr)
                forwards().output(node, proc, channel, bytes);
            break;
        }
        case Topic::Input: {
            ProcId proc;
            uint64_t bytes = 0;
            bool refused = false;
            if (!in.unpack(proc, bytes, refused)) break;
            const uint64_t taken = forwards().input_taken(bytes);
            if (taken > 0 && input_) input_->taken(taken);
            if (refused && proc.job == 1 && input_) input_->refused(proc.rank);
            break;
        }
        default:
            break;
    }
}

void Launcher::node_ready(uint32_t node, const std::string& uri) {
    nodes_[node].ready = true;
    if (node == 0) uri_ = uri;
    if (!std::ranges::all_of(nodes_, [](const NodeState& n) { return n.ready; })) return;
    report_.servers_ready();
    if (state_ == State::Starting && options_.serve) state_ = State::Running;
    say_uri();
    say_ready();
}

/// Writes the address for tools, if requested.
void Launcher::say_uri() {
    if (options_.serve) say(fmt::format("ready for tools and jobs, as process {}", getpid()));
    if (options_.report_uri.empty()) return;
    const std::string line = uri_ + "\n";
    if (options_.report_uri == "-") return output_->show_text(false, line);
    // Whole or not at all: a tool may be waiting for it.
    const std::string unfinished = options_.report_uri + ".new";
    FILE* file = fopen(unfinished.c_str(), "we");
    const bool written = file != nullptr && fputs(line.c_str(), file) >= 0;
    const bool closed = file != nullptr && fclose(file) == 0;
    if (!written || !closed || rename(unfinished.c_str(), options_.report_uri.c_str()) != 0)
        fail(1, fmt::format("'{}' cannot be written: {}", options_.report_uri, strerror(errno)));
}

void Launcher::on_node_gone(uint32_t node) {
    NodeState& state = nodes_[node];
    if (state.gone) return;
    state.gone = true;
    for (auto& [topic, service] : services_)
        service->node_gone(node);
    if (state_ != State::Quitting) {
        if (!failed_) fail(1, fmt::format("the server of node {} ended unexpectedly", node_names_[node]));
        for (auto& [number, record] : jobs_.all()) {
            for (uint32_t rank : record->job.ranks_on(node))
                rank_ended(*record, rank);
        }
    }
    if (std::ranges::all_of(nodes_, [](const NodeState& n) { return n.gone; })) loop_->quit();
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
                hub_->signal(SIGKILL, {}, true);
            } else if (options_.serve) {
                end_all();  // as it is meant to end
            } else {
                fail(128 + number, fmt::format("the job is ended by {}", signal_text(number)));
            }
            break;
        case SIGTSTP:
            hub_->signal(SIGTSTP, {});
            for (NodeState& node : nodes_) {
                if (node.link) node.link->flush();
            }
            raise(SIGSTOP);
            break;
        case SIGCONT:
            hub_->signal(SIGCONT, {});
            if (input_) input_->resume();
            break;
        case SIGUSR1:
        case SIGUSR2:
            hub_->signal(number, {});
            break;
        default:  // SIGCHLD: the end of a node is seen on its link
            break;
    }
}

void Launcher::fail(int status, const std::string& why) {
    if (failed_) return;
    failed_ = true;
    if (!failure_) failure_ = status;
    say(why);
    end_all();
}

void Launcher::end_all() {
    if (ending()) return;
    state_ = State::Ending;
    timeout_.cancel();
    for (auto& [number, record] : jobs_.all())
        fail_job(*record, failure_.value_or(0), PMIX_ERR_JOB_ABORTED_BY_SYS_EVENT, {});
    if (jobs_.all_ended()) quit_nodes();
}

/// Kills nodes that do not obey, with a hanging server for example; their ranks die with them.
void Launcher::kill_nodes_later() {
    stuck_ = loop_->after(kNodePatience, [this] {
        for (const NodeState& node : nodes_) {
            if (!node.gone && node.pid > 0) kill(node.pid, SIGKILL);
        }
    });
}

void Launcher::quit_nodes() {
    if (state_ == State::Quitting) return;
    state_ = State::Quitting;
    forwards().release();
    progress_.clear();
    timeout_.cancel();
    hub_->tell_all(Topic::Quit, {});
    kill_nodes_later();
}

}  // namespace muster::launcher
