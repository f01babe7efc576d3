// SPDX-License-Identifier: BSD-3-Clause
// The node daemon: start-up, its messages, and its end.
#include "tools/muster/nodes/node.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pmix.h>
#include <pmix/muster.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tools/muster/host/debug.hpp"
#include "tools/muster/host/module.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/jobs/job_message.hpp"
#include "tools/muster/nodes/process.hpp"
#include "tools/muster/nodes/session_dir.hpp"

namespace muster::launcher {
namespace {

/// A rank that is gone and whose data is asked for has this long to be found in the server's store.
constexpr std::chrono::milliseconds kGoneGrace{1000};

void block_signals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
        sigdelset(&all, fault);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

void write_plan(Writer& out, const NodePlan& plan) {
    out.u32(plan.number).texts(plan.names).bytes(plan.server_nspace).bytes(plan.session_dir);
    out.u32(static_cast<uint32_t>(plan.launcher_fd));
}

bool read_plan(Reader& in, NodePlan& plan) {
    plan.number = in.u32();
    plan.names = in.texts();
    plan.server_nspace = in.bytes();
    plan.session_dir = in.bytes();
    plan.launcher_fd = static_cast<int>(in.u32());
    return in.ok() && plan.number < plan.names.size();
}

int run_node(int fd) {
    std::string bytes;
    char chunk[4096];
    lseek(fd, 0, SEEK_SET);
    for (ssize_t got = 0; (got = read(fd, chunk, sizeof chunk)) > 0;)
        bytes.append(chunk, static_cast<size_t>(got));
    close(fd);
    Reader in(bytes);
    NodePlan plan;
    if (!read_plan(in, plan) || fcntl(plan.launcher_fd, F_SETFD, FD_CLOEXEC) != 0) {
        fmt::print(stderr, "muster: what the launcher wants of this node cannot be read\n");
        return 1;
    }
    return Node(std::move(plan)).run();
}

Node::Node(NodePlan plan)
    : plan_(std::move(plan)), dir_(fmt::format("{}/node{}", plan_.session_dir, plan_.number)) {
    link_ = std::make_unique<Link>(
        loop_, plan_.launcher_fd,
        [this](Kind kind, uint64_t id, std::string_view body) { on_message(kind, id, body); },
        [this] {
            launcher_gone_ = true;
            status_ = 1;
            loop_.quit();
        });
    ranks_ = std::make_unique<LocalRanks>(loop_, *link_, plan_.number, dir_, plan_.server_nspace,
                                          [this](const ProcName& name) { rank_ended(name); });
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

    can_stop_on_exec();  // asked as long as nobody else waits for children
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
    if (!plan_.scheduler.empty()) error = join_scheduler(plan_.scheduler);
    if (!error.empty() || !join(error)) {
        link_->send(Kind::Failed, Writer().bytes(error));
        link_->flush();
        end();
        return 1;
    }
    link_->send(Kind::Ready, Writer().bytes(uri()));
    loop_.run();
    end();
    return status_;
}

bool Node::start_server(std::string& error) {
    if (!make_dir(dir_)) {
        error = fmt::format("cannot make the directory '{}': {}", dir_, strerror(errno));
        return false;
    }
    // What the library and the ranks put into "the temporary directory" of the server stays in ours.
    InfoList info;
    info.text(PMIX_SERVER_NSPACE, plan_.server_nspace);
    info.rank(PMIX_SERVER_RANK, plan_.number);
    info.text(PMIX_SERVER_TMPDIR, dir_);
    info.text(PMIX_SYSTEM_TMPDIR, dir_);
    info.text(PMIX_HOSTNAME, plan_.names[plan_.number]);
    info.u32(PMIX_NODEID, plan_.number);
    info.flag(PMIX_SERVER_SHARE_TOPOLOGY, true);
    info.flag(PMIX_SERVER_TOOL_SUPPORT, true);
    if (!plan_.rendezvous.empty()) info.text(PMIX_LAUNCHER_RENDEZVOUS_FILE, plan_.rendezvous);
    // A tool may wait for our contact data there.
    const std::string& file = plan_.initiator.file;
    if (!file.empty() && !plan_.initiator.names_server) setenv("PMIX_LAUNCHER_RNDZ_FILE", file.c_str(), 1);
    char* why = nullptr;
    info.add(MUSTER_ERROR_TEXT, &why, PMIX_POINTER);
    const pmix_status_t status = PMIx_server_init(host_module(*this), info.data(), info.size());
    const std::unique_ptr<char, decltype(&free)> text(why, free);
    unsetenv("PMIX_LAUNCHER_RNDZ_FILE");
    if (status != PMIX_SUCCESS) {
        error = fmt::format("the PMIx server did not start: {} ({})",
                            text ? text.get() : "no reason is known", PMIx_Error_string(status));
        return false;
    }
    server_runs_ = true;
    register_attributes();
    watch_releases();
    watch_tools();
    if (plan_.rendezvous.empty()) return true;
    // The library names a session file by the pretended node; tools look for one by the machine's name.
    unlink(plan_.rendezvous_by_name.c_str());  // of a muster that had our process ID, and is dead
    if (link(plan_.rendezvous.c_str(), plan_.rendezvous_by_name.c_str()) == 0) return true;
    error = fmt::format("cannot make '{}': {}", plan_.rendezvous_by_name, strerror(errno));
    return false;
}

/// Processes that the node itself holds go on when a debugger says so, as those that wait in PMIx do.
void Node::watch_releases() {
    pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    PMIx_Register_event_handler(
        &code, 1, nullptr, 0,
        [](size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t info[], size_t count, pmix_info_t[],
           size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
            on_loop([procs = targets_of(info, count), who = name_of(*source)] {
                auto& node = static_cast<Node&>(bridge());
                node.ranks_->release(procs);
                if (std::any_of(procs.begin(), procs.end(),
                                [&](const ProcName& proc) { return node.is_server(proc); }))
                    node.link_->send(Kind::Released, Writer().name(who));
            });
            if (done != nullptr) done(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, data);
        },
        nullptr, nullptr);
}

/// Where tools reach the server.
std::string Node::uri() const {
    const pmix_proc_t self = to_pmix({plan_.server_nspace, plan_.number});
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&self, PMIX_SERVER_URI, nullptr, 0, &value) != PMIX_SUCCESS) return {};
    std::string text = text_of(*value);
    PMIX_VALUE_RELEASE(value);
    return text;
}

/// Tells the launcher what the tool wants that has started muster, where there is one.
bool Node::join(std::string& error) {
    const Initiator& initiator = plan_.initiator;
    if (!initiator.waits_for_us() && !initiator.pause) return true;
    Guidance guidance;
    if (initiator.waits_for_us()) error = join_initiator(initiator, guidance);
    if (!error.empty()) return false;
    guidance.hold |= initiator.pause;
    Writer body;
    write_guidance(body, guidance);
    link_->send(Kind::Guided, body);
    return true;
}

/// Gathers what the job's nodes are to be given: of this one node, for all.
void Node::set_up(const Job& job) {
    struct Question {
        Node* node;
        uint32_t job;
        InfoList info;  // read until the answer comes
    };
    auto question = std::make_unique<Question>(Question{this, job.number, {}});
    InfoList& info = question->info;
    info.flag(PMIX_SETUP_APP_ALL, true);
    add_maps(info, job);
    // As other hosts do: a network of the job's own, with a key that only its processes get.
    InfoList network;
    network.text(PMIX_ALLOC_FABRIC_ID, job.nspace + ".net");
    network.flag(PMIX_ALLOC_FABRIC_SEC_KEY, true);
    info.array(PMIX_ALLOC_FABRIC, network);
    const pmix_status_t status = PMIx_server_setup_application(
        job.nspace.c_str(), info.data(), info.size(),
        [](pmix_status_t, pmix_info_t* found, size_t count, void* data, pmix_op_cbfunc_t release,
           void* release_data) {
            const std::unique_ptr<Question> asked(static_cast<Question*>(data));
            asked->node->loop_.post(
                [node = asked->node, body = Writer().u32(asked->job).bytes(packed(found, count, PMIX_INFO))] {
                    node->link_->send(Kind::SetUp, body);
                });
            if (release != nullptr) release(PMIX_SUCCESS, release_data);
        },
        question.get());
    if (status == PMIX_SUCCESS) {
        (void)question.release();  // the callback has it
    } else {
        link_->send(Kind::SetUp, Writer().u32(job.number).bytes({}));
    }
}

void Node::on_signal() {
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM) {
            status_ = 1;
            loop_.quit();
        }
    }
    ranks_->reap();
}

void Node::rank_ended(const ProcName& name) {
    std::vector<uint64_t> waiting;
    for (const auto& [id, wanted] : asked_) {
        if (wanted == name) waiting.push_back(id);
    }
    for (uint64_t id : waiting)
        modex_answered(id, PMIX_ERR_NOT_FOUND, {});
}

void Node::answered(uint64_t id, pmix_status_t status, std::string_view bytes) {
    const auto found = answers_.find(id);
    if (found == answers_.end()) return;
    const Done done = std::move(found->second);
    answers_.erase(found);
    done(status, bytes);
}

void Node::on_message(Kind kind, uint64_t id, std::string_view body) {
    Reader in(body);
    switch (kind) {
        case Kind::Setup: {
            Job job;
            if (read_job(in, job)) set_up(job);
            break;
        }
        case Kind::Register: {
            Job job;
            const bool readable = read_job(in, job);
            const uint32_t number = job.number;
            const std::string error =
                readable ? ranks_->add(std::move(job)) : "the description of the job is damaged";
            link_->send(Kind::Registered, Writer().u32(number).bytes(error));
            break;
        }
        case Kind::Start:
            ranks_->start(in.u32());
            break;
        case Kind::Forget:
            ranks_->forget(in.u32());
            break;
        case Kind::Signal: {
            const int number = in.i32();
            std::vector<ProcId> procs;
            for (uint32_t left = in.count(2 * sizeof(uint32_t)); left > 0; --left)
                procs.push_back(in.proc());
            const bool last = in.u32() != 0;
            if (in.ok()) ranks_->signal(number, procs, last);
            break;
        }
        case Kind::Input: {
            const ProcId proc = in.proc();
            ranks_->give_input(proc, in.bytes());
            break;
        }
        case Kind::InputEnd:
            ranks_->end_input(in.proc());
            break;
        case Kind::OutputTaken:
            ranks_->output_taken(in.u64());
            break;
        case Kind::FenceDone:
        case Kind::ModexDone:
        case Kind::Answer: {
            const int32_t status = in.i32();
            const std::string_view bytes = in.bytes();
            answered(id, in.ok() ? status : PMIX_ERROR, bytes);
            break;
        }
        case Kind::Tell: {
            const auto found = told_.find(static_cast<Topic>(in.u32()));
            if (found != told_.end()) found->second(in);
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
    if (launcher_gone_) ranks_->signal(SIGKILL, {}, true);
    end_children(launcher_gone_);
    ranks_->drain();
    for (const auto& [id, done] : std::map<uint64_t, Done>(std::move(answers_)))
        done(PMIX_ERR_LOST_CONNECTION, {});
    if (server_runs_) {
        ranks_->deregister();
        PMIx_server_finalize();
        if (!plan_.rendezvous.empty()) unlink(plan_.rendezvous_by_name.c_str());
    }
    link_->flush();
    // The launcher removes the directory of the run; if it cannot any more, who is last does.
    if (launcher_gone_) {
        remove_session_dir(dir_);
        rmdir(plan_.session_dir.c_str());
    }
}

void Node::ask(Topic topic, const Writer& body, Done done) {
    const uint64_t id = next_id_++;
    if (!link_->send(Kind::Ask, id, Writer().u32(static_cast<uint32_t>(topic)).raw(body)))
        return done(PMIX_ERR_OUT_OF_RESOURCE, {});
    answers_.emplace(id, std::move(done));
}

void Node::tell(Topic topic, const Writer& body) {
    link_->send(Kind::Tell, Writer().u32(static_cast<uint32_t>(topic)).raw(body));
}

void Node::on_tell(Topic topic, OnTell handler) {
    told_[topic] = std::move(handler);
}

ProcName Node::name_of_tool() {
    return {fmt::format("{}.tool{}.{}", plan_.server_nspace, plan_.number, next_tool_++), 0};
}

void Node::client_connected(const ProcName& proc) {
    LocalRanks::Rank* rank = ranks_->find(proc);
    if (rank == nullptr) return;
    rank->connected = true;
    link_->send(Kind::Connected, Writer().proc(rank->id));
}

void Node::client_finalized(const ProcName& proc) {
    LocalRanks::Rank* rank = ranks_->find(proc);
    if (rank == nullptr) return;
    link_->send(Kind::Finalized, Writer().proc(rank->id));
    ranks_->finalized(*rank);
}

void Node::abort(const ProcName& proc, int status, const std::string& text,
                 const std::vector<ProcName>& targets) {
    if (const LocalRanks::Rank* rank = ranks_->find(proc))
        link_->send(Kind::Aborted, Writer().proc(rank->id).i32(status).bytes(text).names(targets));
}

void Node::fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes, Done done) {
    const uint64_t id = next_id_++;
    if (!link_->send(Kind::Fence, id, Writer().names(procs).u32(seconds).bytes(bytes)))
        return done(PMIX_ERR_OUT_OF_RESOURCE, {});
    answers_.emplace(id, std::move(done));
}

void Node::direct_modex(const ProcName& proc, uint32_t seconds, Done done) {
    const uint64_t id = next_id_++;
    link_->send(Kind::Modex, id, Writer().name(proc).u32(seconds));
    answers_.emplace(id, std::move(done));
}

/// Another node's rank wants what a rank of ours has posted, or will post.
void Node::modex_asked(uint64_t id, const ProcName& name) {
    const LocalRanks::Rank* rank = ranks_->find(name);
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
    const pmix_proc_t proc = to_pmix(name);
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

}  // namespace muster::launcher
