// SPDX-License-Identifier: BSD-3-Clause
// The node daemon: start-up, its messages, and its end.
#include "tools/muster/host/node.hpp"

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
#include <sstream>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/spawn.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/nodes/environment.hpp"
#include "tools/muster/nodes/process.hpp"
#include "tools/muster/nodes/stacks.hpp"

namespace muster::launcher {
namespace {

/// Time to find the data of an ended rank in the server's store.
constexpr std::chrono::milliseconds kGoneGrace{1000};

void block_signals() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
        sigdelset(&all, fault);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

Node* the_node = nullptr;

}  // namespace

std::string plan_text(const NodePlan& plan) {
    std::string text =
        fmt::format("{}\n{}\n{}\n{}", plan.number, plan.launcher_fd, plan.server_nspace, plan.session_dir);
    for (const std::string& name : plan.names)
        text += "\n" + name;
    return text;
}

std::optional<NodePlan> read_plan(const std::string& text) {
    std::istringstream lines(text);
    NodePlan plan;
    lines >> plan.number >> plan.launcher_fd >> std::ws;
    std::getline(lines, plan.server_nspace);
    std::getline(lines, plan.session_dir);
    for (std::string name; std::getline(lines, name);)
        plan.names.push_back(name);
    return plan.number < plan.names.size() ? std::optional(plan) : std::nullopt;
}

int run_node(int fd) {
    std::string text;
    char chunk[4096];
    lseek(fd, 0, SEEK_SET);
    for (ssize_t got = 0; (got = read(fd, chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<size_t>(got));
    close(fd);
    std::optional<NodePlan> plan = read_plan(text);
    if (!plan || fcntl(plan->launcher_fd, F_SETFD, FD_CLOEXEC) != 0) {
        fmt::print(stderr, "muster: the launcher's plan for this node cannot be read\n");
        return 1;
    }
    return Node(std::move(*plan)).run();
}

Node& this_node() {
    return *the_node;
}

Node::Node(NodePlan plan)
    : plan_(std::move(plan)), dir_(fmt::format("{}/node{}", plan_.session_dir, plan_.number)) {
    the_node = this;
    link_ = std::make_unique<Link>(
        loop_, plan_.launcher_fd,
        [this](Topic topic, uint64_t question, Buffer& in) {
            const auto found = handlers_.find(topic);
            if (found != handlers_.end()) return found->second(question, in);
            if (question != 0) link_->answer(question, PMIX_ERR_NOT_SUPPORTED);
        },
        [this] {
            launcher_gone_ = true;
            status_ = 1;
            loop_.quit();
        });
    ranks_ = std::make_unique<LocalRanks>(loop_, *link_, plan_.number, dir_, plan_.server_nspace,
                                          [this](const ProcName& name) { rank_ended(name); });
    handle_jobs();
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

    can_stop_on_exec();  // asked while no other thread waits for children
    std::string error;
    if (!start_server(error)) {
        fail(error);
        return 1;
    }
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    signal_fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd_ < 0) {
        fail(fmt::format("signals cannot be watched: {}", strerror(errno)));
        end();
        return 1;
    }
    signals_ = loop_.on_readable(signal_fd_, [this] { on_signal(); });
    if (!plan_.scheduler.empty()) error = join_scheduler(plan_.scheduler);
    if (!error.empty() || !join(error)) {
        fail(error);
        end();
        return 1;
    }
    link_->tell(Topic::Ready, pack(uri()));
    loop_.run();
    end();
    return status_;
}

void Node::fail(const std::string& why) {
    link_->tell(Topic::Failure, Buffer(why));
    link_->flush();
}

bool Node::start_server(std::string& error) {
    if (!make_dir(dir_)) {
        error = fmt::format("cannot make the directory '{}': {}", dir_, strerror(errno));
        return false;
    }
    // Files of the library and the ranks in "the temporary directory" of the server stay in the node's own.
    InfoList info;
    info.text(PMIX_SERVER_NSPACE, plan_.server_nspace);
    info.rank(PMIX_SERVER_RANK, plan_.number);
    info.text(PMIX_SERVER_TMPDIR, dir_);
    info.text(PMIX_SYSTEM_TMPDIR, dir_);
    info.text(PMIX_HOSTNAME, plan_.names[plan_.number]);
    info.u32(PMIX_NODEID, plan_.number);
    info.flag(PMIX_SERVER_SHARE_TOPOLOGY, true);
    info.flag(PMIX_SERVER_TOOL_SUPPORT, true);
    // A node's word is enough.
    if (plan_.number == 0) info.text(MUSTER_CHECK_PARAMETERS, plan_.parameters);
    if (!plan_.rendezvous.empty()) info.text(PMIX_LAUNCHER_RENDEZVOUS_FILE, plan_.rendezvous);
    // A tool may wait for our contact data there.
    const std::string& file = plan_.initiator.file;
    if (!file.empty() && !plan_.initiator.names_server) setenv("PMIX_LAUNCHER_RNDZ_FILE", file.c_str(), 1);
    char* why = nullptr;
    info.add(MUSTER_ERROR_TEXT, &why, PMIX_POINTER);
    const pmix_status_t status = PMIx_server_init(host_module(), info.data(), info.size());
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
    if (::link(plan_.rendezvous.c_str(), plan_.rendezvous_by_name.c_str()) == 0) return true;
    error = fmt::format("cannot make '{}': {}", plan_.rendezvous_by_name, strerror(errno));
    return false;
}

/// Releases the processes that the node itself holds, at the debugger's event that PMIx's waits use, too.
void Node::watch_releases() {
    pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    PMIx_Register_event_handler(
        &code, 1, nullptr, 0,
        [](size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t info[], size_t count, pmix_info_t[],
           size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
            on_loop([procs = Infos(info, count).procs(PMIX_EVENT_CUSTOM_RANGE), who = name_of(*source)] {
                Node& here = this_node();
                here.ranks_->release(procs);
                if (std::ranges::any_of(procs, [&](const ProcName& proc) { return here.is_server(proc); }))
                    here.link_->tell(Topic::Release, pack(who));
            });
            if (done != nullptr) done(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, data);
        },
        nullptr, nullptr);
}

/// The URI at which tools reach the server.
std::string Node::uri() const {
    const pmix_proc_t self = to_pmix({plan_.server_nspace, plan_.number});
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&self, PMIX_SERVER_URI, nullptr, 0, &value) != PMIX_SUCCESS) return {};
    std::string text = text_of(*value);
    PMIX_VALUE_RELEASE(value);
    return text;
}

/// Sends the launcher the directives of the tool that started muster, if there is one.
bool Node::join(std::string& error) {
    const Initiator& initiator = plan_.initiator;
    if (!initiator.waits_for_us() && !initiator.pause) return true;
    Guidance guidance;
    if (initiator.waits_for_us()) error = join_initiator(initiator, guidance);
    if (!error.empty()) return false;
    guidance.hold |= initiator.pause;
    link_->tell(Topic::Guidance, pack(guidance));
    return true;
}

/// Collects the set-up data of all nodes of the job, on this one node.
void Node::set_up(uint64_t number, const Job& job) {
    struct Question {
        Node* node;
        uint64_t number;
        InfoList info;  // read until the answer arrives
    };
    auto question = std::make_unique<Question>(Question{this, number, {}});
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
                [node = asked->node, number = asked->number, body = pack(packed(found, count, PMIX_INFO))] {
                    node->link_->answer(number, PMIX_SUCCESS, body);
                });
            if (release != nullptr) release(PMIX_SUCCESS, release_data);
        },
        question.get());
    if (status == PMIX_SUCCESS) {
        (void)question.release();  // the callback has it
    } else {
        link_->answer(number, status);
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

/// Handles the topics about jobs and ranks.
void Node::handle_jobs() {
    on(Topic::JobSetup, [this](uint64_t question, Buffer& in) {
        Job job;
        if (in.unpack(job) && job.consistent()) return set_up(question, job);
        link_->answer(question, PMIX_ERR_BAD_PARAM);
    });
    on(Topic::JobRegister, [this](uint64_t question, Buffer& in) {
        Job job;
        const bool readable = in.unpack(job) && job.consistent();
        const std::string error =
            readable ? ranks_->add(std::move(job)) : "the description of the job is damaged";
        link_->answer(question, PMIX_SUCCESS, pack(error));
    });
    on(Topic::JobStart, [this](uint64_t, Buffer& in) {
        uint32_t job = 0;
        if (in.unpack(job)) ranks_->start(job);
    });
    on(Topic::Restart, [this](uint64_t, Buffer& in) {
        ProcId proc;
        uint32_t reincarnation = 0;
        if (in.unpack(proc, reincarnation)) ranks_->restart(proc, reincarnation);
    });
    on(Topic::Stacks, [this](uint64_t question, Buffer& in) {
        std::vector<ProcId> procs;
        if (!in.unpack(procs)) return link_->answer(question, PMIX_ERR_BAD_PARAM);
        Stacks::trace(loop_, ranks_->running(procs),
                      [this, question](const std::string& problem, const Stacks::Traces& traces) {
                          link_->answer(question, PMIX_SUCCESS, pack(problem, traces));
                      });
    });
    on(Topic::JobForget, [this](uint64_t, Buffer& in) {
        uint32_t job = 0;
        if (in.unpack(job)) ranks_->forget(job);
    });
    on(Topic::Signal, [this](uint64_t, Buffer& in) {
        int number = 0;
        std::vector<ProcId> procs;
        bool last = false;
        if (in.unpack(number, procs, last)) ranks_->signal(number, procs, last);
    });
    on(Topic::Input, [this](uint64_t, Buffer& in) {
        ProcId proc;
        std::string bytes;
        if (in.unpack(proc, bytes)) ranks_->give_input(proc, bytes);
    });
    on(Topic::Output, [this](uint64_t, Buffer& in) {
        uint64_t bytes = 0;
        if (in.unpack(bytes)) ranks_->output_taken(bytes);
    });
    on(Topic::Modex, [this](uint64_t question, Buffer& in) {
        ProcName proc;
        if (in.unpack(proc)) return modex_asked(question, proc);
        link_->answer(question, PMIX_ERR_BAD_PARAM);
    });
    on(Topic::Quit, [this](uint64_t, Buffer&) { loop_.quit(); });
}

/// Ends whatever is left, the server last.
void Node::end() {
    if (launcher_gone_) ranks_->signal(SIGKILL, {}, true);
    end_children(launcher_gone_);
    ranks_->drain();
    link_->give_up();
    if (server_runs_) {
        ranks_->deregister();
        PMIx_server_finalize();
        if (!plan_.rendezvous.empty()) unlink(plan_.rendezvous_by_name.c_str());
    }
    link_->flush();
    // The launcher removes the directory of the run. If it has ended, the last node does.
    if (launcher_gone_) {
        remove_session_dir(dir_);
        rmdir(plan_.session_dir.c_str());
    }
}

ProcName Node::name_of_tool() {
    return {fmt::format("{}.tool{}.{}", plan_.server_nspace, plan_.number, next_tool_++), 0};
}

/// A rank of another node requests the posted data of a rank of ours, or waits for it.
void Node::modex_asked(uint64_t question, const ProcName& name) {
    const LocalRanks::Rank* rank = ranks_->find(name);
    if (rank == nullptr) {
        return link_->answer(question, PMIX_ERR_NOT_FOUND);
    }
    struct Asked {
        Node* node;
        uint64_t question;
    };
    asked_.emplace(question, name);
    auto asked = std::make_unique<Asked>(Asked{this, question});
    const pmix_proc_t proc = to_pmix(name);
    const pmix_status_t status = PMIx_server_dmodex_request(
        &proc,
        [](pmix_status_t answer, char* data, size_t size, void* context) {
            const std::unique_ptr<Asked> done(static_cast<Asked*>(context));
            std::string bytes(data != nullptr ? data : "", data != nullptr ? size : 0);
            done->node->loop_.post(
                [node = done->node, number = done->question, answer, bytes = std::move(bytes)] {
                    node->modex_answered(number, answer, bytes);
                });
        },
        asked.get());
    if (status != PMIX_SUCCESS) return modex_answered(question, status, {});
    (void)asked.release();  // the callback has it
    if (rank->pid < 0) {
        asked_timers_.push_back(
            loop_.after(kGoneGrace, [this, question] { modex_answered(question, PMIX_ERR_NOT_FOUND, {}); }));
    }
}

void Node::modex_answered(uint64_t question, pmix_status_t status, std::string_view bytes) {
    if (asked_.erase(question) != 0) link_->answer(question, status, pack(bytes));
}

}  // namespace muster::launcher
