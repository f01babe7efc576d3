// SPDX-License-Identifier: BSD-3-Clause
// The life of the jobs: launched, running, failed or ended by command, over.
#include <fmt/format.h>
#include <pmix.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "tools/muster/jobs/display.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/launcher.hpp"
#include "tools/muster/nodes/process.hpp"
#include "tools/muster/services/forwards.hpp"

namespace muster::launcher {
namespace {

std::set<uint32_t> readers_of(const Job& job) {
    std::set<uint32_t> readers;
    for (uint32_t rank = 0; rank < job.size(); ++rank) {
        if (job.input.reads(rank)) readers.insert(rank);
    }
    return readers;
}

}  // namespace

/// By default a node has as many slots as cores.
void Launcher::count_slots(Job& job) {
    if (std::ranges::all_of(job.slots, [](const auto& slots) { return slots.first > 0; })) return;
    uint32_t each = 0;
    try {
        const Level level = read_map_policy(job.map_by).slot_level();
        if (cores_ == 0) cores_ = Topology().count(Level::Core);
        each = job.cpu_list.empty() && level == Level::Core
                   ? cores_
                   : Topology(read_cpu_list(job.cpu_list)).count(level);
    } catch (const std::exception&) {
        return;  // the job's data has no slots
    }
    for (auto& [slots, busy] : job.slots) {
        if (slots == 0) slots = each;
    }
}

JobRecord& Launcher::launch(Job job, Hub::Launched launched) {
    count_slots(job);
    JobRecord& record = jobs_.add(std::move(job));
    const uint32_t number = record.job.number;
    progress_[number].launched = std::move(launched);
    output_->add_job(record.job);
    forwards().note(record, display_text(record.job));
    if (number == 1 && !options_.serve) {
        // muster's own standard input is for the first job.
        input_ = std::make_unique<Input>(*loop_, readers_of(record.job),
                                         [this](uint32_t rank, std::string_view bytes) {
                                             hub_->give_input({1, rank}, bytes);
                                         });
    }
    hub_->ask(0, Topic::JobSetup, pack(record.job), [this, number](pmix_status_t status, Buffer& in) {
        std::string setup;
        if (status != PMIX_ERR_LOST_CONNECTION && (status != PMIX_SUCCESS || in.unpack(setup)))
            job_set_up(number, setup);
    });
    return record;
}

/// The first node has gathered the set-up data for all nodes of the job; nothing after a failure.
void Launcher::job_set_up(uint32_t number, const std::string& setup) {
    JobRecord* record = jobs_.find(number);
    if (record == nullptr || record->state != JobRecord::State::Registering) return;
    record->job.setup = setup;
    const Buffer body = pack(record->job);
    for (uint32_t node = 0; node < nodes_.size(); ++node)
        record->nodes_left.insert(node);
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
        hub_->ask(node, Topic::JobRegister, body, [this, node, number](pmix_status_t status, Buffer& in) {
            std::string error;
            if (status == PMIX_ERR_LOST_CONNECTION) return;  // which fails the job
            if (status != PMIX_SUCCESS) error = PMIx_Error_string(status);
            if (status != PMIX_SUCCESS || in.unpack(error)) job_registered(node, number, error);
        });
    }
}

void Launcher::job_registered(uint32_t node, uint32_t number, const std::string& error) {
    JobRecord* record = jobs_.find(number);
    if (record == nullptr || record->state != JobRecord::State::Registering) return;
    if (!error.empty()) {
        const std::string why = fmt::format("node {}: {}", node_names_[node], error);
        // The spawner gets a status only.
        if (number > 1 || options_.serve) say("a spawn is refused: " + why);
        launched(*record, PMIX_ERR_JOB_FAILED_TO_LAUNCH, why);
        return fail_job(*record, 1, PMIX_ERR_JOB_FAILED_TO_LAUNCH, why);
    }
    record->nodes_left.erase(node);
    if (!record->nodes_left.empty()) return;
    record->state = JobRecord::State::Starting;
    if (state_ == State::Starting) state_ = State::Running;
    if (record->job.do_not_launch) {
        launched(*record, PMIX_SUCCESS, {});
        return job_over(*record);
    }
    hub_->tell_all(Topic::JobStart, pack(number));
    if (number == 1 && input_) input_->start();
}

void Launcher::on_rank(const RankEvent& event) {
    RankState* rank = jobs_.find(event.proc);
    if (rank == nullptr) return;
    JobRecord& record = *jobs_.find(event.proc.job);
    switch (event.kind) {
        case RankEvent::Kind::Started:
            return rank_started(record, *rank, event.status);
        case RankEvent::Kind::NotStarted:
            return rank_not_started(record, event);
        case RankEvent::Kind::Connected:
            if (rank->connected && !rank->finalized) return;
            rank->connected = true;
            rank->finalized = false;  // it may initialise again
            return report_.rank_connected();
        case RankEvent::Kind::Finalized:
            rank->finalized = true;
            return report_.rank_finalized();
        case RankEvent::Kind::Aborted:
            return rank_aborted(record, *rank, event);
        case RankEvent::Kind::Exited:
            return rank_exited(record, *rank, event);
    }
}

void Launcher::rank_started(JobRecord& record, RankState& rank, pid_t pid) {
    if (rank.started && !rank.restarting) return;
    const bool first = !std::exchange(record.begun, true);
    rank.pid = pid;
    rank.started = true;
    report_.rank_started();
    if (std::exchange(rank.restarting, false)) return;
    for (auto& [topic, service] : services_) {
        if (first) service->job_begun(record);
    }
    start_settled(record);
}

void Launcher::rank_not_started(JobRecord& record, const RankEvent& event) {
    const uint32_t rank = event.proc.rank;
    if (!event.text.empty()) {
        launched(record, event.code, event.text);
        fail_job(
            record, event.status, event.code,
            fmt::format("rank {} on {}: {}", rank, node_names_[record.job.places[rank].node], event.text));
    }
    if (!record.ranks[rank].restarting) start_settled(record);
    rank_ended(record, rank);
}

/// The status of a job that was ended during its start: a time-out or a cancellation.
static int32_t why_not_started(const JobRecord& record) {
    return record.term_status == PMIX_ERR_TIMEOUT ? PMIX_ERR_TIMEOUT : PMIX_ERR_JOB_CANCELED;
}

/// One more rank is started or abandoned.
void Launcher::start_settled(JobRecord& record) {
    if (record.ranks_to_start == 0 || --record.ranks_to_start > 0) return;
    if (record.state == JobRecord::State::Starting) record.state = JobRecord::State::Running;
    // A job whose first processes have failed before the last one was started still counts as started.
    const bool started =
        std::ranges::all_of(record.ranks, [](const RankState& rank) { return rank.started; });
    for (auto& [topic, service] : services_) {
        if (started) service->job_started(record);
    }
    launched(record, started ? PMIX_SUCCESS : why_not_started(record), {});
}

void Launcher::launched(JobRecord& record, int32_t status, const std::string& why) {
    const auto found = progress_.find(record.job.number);
    if (found == progress_.end() || !found->second.launched) return;
    const Hub::Launched tell = std::exchange(found->second.launched, nullptr);
    tell(record, status, why);
}

std::string Launcher::describe(ProcId proc) {
    const JobRecord& record = *jobs_.find(proc.job);
    return fmt::format("rank {}{} on {} (pid {})", proc.rank,
                       proc.job > 1 ? fmt::format(" of job {}", proc.job) : "",
                       node_names_[record.job.places[proc.rank].node], record.ranks[proc.rank].pid);
}

/// The failure of a process that has ended without a request, if any.
std::optional<Launcher::RankFailure> Launcher::failure_of(const JobRecord& record, ProcId proc) {
    const RankState& rank = record.ranks[proc.rank];
    const int status = rank.status;
    const std::string who = describe(proc);
    if (WIFSIGNALED(status))
        return RankFailure{128 + WTERMSIG(status), PMIX_ERR_JOB_ABORTED_BY_SIG,
                           fmt::format("{} was ended by {}", who, signal_text(WTERMSIG(status)))};
    if (WEXITSTATUS(status) != 0 && !record.job.wishes.nonzero_is_fine)
        return RankFailure{WEXITSTATUS(status), PMIX_ERR_JOB_NON_ZERO_TERM,
                           fmt::format("{} exited with status {}{}", who, WEXITSTATUS(status),
                                       rank.connected ? "" : " before it called PMIx_Init")};
    if (rank.connected && !rank.finalized)
        return RankFailure{1, PMIX_ERR_JOB_TERM_WO_SYNC,
                           fmt::format("{} exited with status 0 without calling PMIx_Finalize", who)};
    return std::nullopt;
}

void Launcher::rank_exited(JobRecord& record, RankState& rank, const RankEvent& event) {
    if (rank.ended || rank.restarting) return;
    const ProcId proc = event.proc;
    rank.status = event.status;
    report_.rank_ended();
    const std::optional<RankFailure> failure = rank.dismissed ? std::nullopt : failure_of(record, proc);
    if (failure && may_restart(record, proc.rank)) return restart_later(record, proc.rank, failure->why);
    const bool nonzero = !WIFSIGNALED(rank.status) && WEXITSTATUS(rank.status) != 0;
    if (!rank.dismissed && !record.failed_rank && (failure || nonzero)) record.failed_rank = proc.rank;
    if (failure) rank_failed(record, *failure);
    rank_ended(record, proc.rank);
}

void Launcher::rank_failed(JobRecord& record, const RankFailure& failure) {
    const auto& [status, term_status, why] = failure;
    if (!record.job.wishes.recoverable) return fail_job(record, status, term_status, why);
    if (record.ended()) return;
    if (!record.first_status) record.first_status = status;
    if (++record.ranks_failed == record.job.size()) {
        return fail_job(record, *record.first_status, term_status,
                        why + "; no process of the job ended well");
    }
    say(why + "; the job goes on");
}

bool Launcher::may_restart(const JobRecord& record, uint32_t rank) const {
    if (record.ended() || ending() || record.ranks[rank].aborted) return false;
    const uint32_t most = record.job.apps[record.job.places[rank].app].max_restarts;
    if (most == kNotSaid) return record.job.wishes.continuous;
    return record.ranks[rank].reincarnation < most;
}

/// The first time at once; a process that fails repeatedly waits longer each time, so that others can run.
void Launcher::restart_later(JobRecord& record, uint32_t rank, const std::string& why) {
    constexpr uint32_t kMostDoublings = 7;
    constexpr std::chrono::milliseconds kFirstDelay{10};
    RankState& state = record.ranks[rank];
    const uint32_t times = ++state.reincarnation;
    const uint32_t most = record.job.apps[record.job.places[rank].app].max_restarts;
    const std::string limit = most == kNotSaid ? std::string() : fmt::format(" of {}", most);
    say(fmt::format("{}; it is started again (restart {}{})", why, times, limit));
    // All its operations end as if it had ended for good.
    state.restarting = state.ended = true;
    for (auto& [topic, service] : services_)
        service->proc_ended(record, rank);
    state.ended = state.connected = state.finalized = state.paused = false;
    const auto delay =
        times == 1 ? std::chrono::milliseconds(0) : kFirstDelay * (1U << std::min(times - 2, kMostDoublings));
    progress_[record.job.number].restarts[rank] =
        loop_->after(delay, [this, job = record.job.number, rank] { restart(job, rank); });
}

void Launcher::restart(uint32_t job, uint32_t rank) {
    JobRecord& record = *jobs_.find(job);
    progress_[job].restarts.erase(rank);
    if (record.ended() || record.ranks[rank].dismissed) return rank_ended(record, rank);
    hub_->tell_all(Topic::Restart, pack(ProcId{job, rank}, record.ranks[rank].reincarnation));
}

void Launcher::rank_aborted(JobRecord& own, RankState& rank, const RankEvent& event) {
    const ProcId proc = event.proc;
    const int status = event.status;
    // The jobs that are meant as a whole, and single ranks of others.
    std::set<uint32_t> whole;
    std::map<uint32_t, std::set<uint32_t>> some;
    if (event.targets.empty()) whole.insert(proc.job);
    for (const ProcName& target : event.targets) {
        JobRecord* record = target.nspace.empty() ? &own : jobs_.find(target.nspace);
        if (record == nullptr) continue;
        if (target.rank == PMIX_RANK_WILDCARD) whole.insert(record->job.number);
        if (target.rank < record->job.size()) some[record->job.number].insert(target.rank);
    }
    for (const auto& [number, ranks] : some) {
        if (ranks.size() == jobs_.find(number)->job.size()) whole.insert(number);
    }
    const std::string tail = event.text.empty() ? "" : ": " + event.text;
    if (whole.contains(proc.job)) rank.aborted = true;
    for (uint32_t number : whole) {
        const int code = (status & 0xff) != 0 ? status & 0xff : 1;
        fail_job(*jobs_.find(number), code, PMIX_ERR_JOB_ABORTED,
                 fmt::format("{} called PMIx_Abort with status {}{}", describe(proc), status, tail));
    }
    for (const auto& [number, ranks] : some) {
        if (whole.contains(number) || jobs_.find(number)->ended()) continue;
        const std::vector<uint32_t> sorted(ranks.begin(), ranks.end());
        say(fmt::format("{} called PMIx_Abort for rank{} {}{}{}", describe(proc),
                        sorted.size() == 1 ? "" : "s", rank_text(sorted),
                        number != proc.job ? fmt::format(" of job {}", number) : "", tail));
        std::vector<ProcId> procs;
        for (uint32_t target : sorted) {
            procs.push_back({number, target});
            jobs_.find(procs.back())->dismissed = true;
        }
        hub_->signal(SIGCONT, procs);
        hub_->signal(SIGKILL, procs);
    }
}

void Launcher::rank_ended(JobRecord& record, uint32_t rank) {
    RankState& state = record.ranks[rank];
    if (state.ended) return;
    state.ended = true;
    for (auto& [topic, service] : services_)
        service->proc_ended(record, rank);
    if (--record.ranks_left == 0) job_over(record);
}

void Launcher::job_over(JobRecord& record) {
    record.state = JobRecord::State::Ended;
    launched(record, why_not_started(record), {});
    for (auto& [topic, service] : services_)
        service->job_ended(record);
    progress_.erase(record.job.number);
    if (jobs_.all_ended() && (!options_.serve || ending())) return quit_nodes();
    // The first job's data stays for those that were spawned by it.
    if (record.job.number == 1 && !options_.serve) return;
    hub_->tell_all(Topic::JobForget, pack(record.job.number));
}

/// The jobs that it has spawned and that do not live on without it.
std::vector<JobRecord*> Launcher::children_of(const JobRecord& record) {
    std::vector<JobRecord*> children;
    for (auto& [number, other] : jobs_.all()) {
        const bool child = other->job.parent && other->job.parent->nspace == record.job.nspace;
        if (child && !other->job.wishes.separate) children.push_back(other.get());
    }
    return children;
}

void Launcher::fail_job(JobRecord& record, int status, int32_t term_status, const std::string& why) {
    if (record.ended() || record.failure) return;
    record.failure = status;
    record.term_status = term_status;
    // The spawner of a job that could not be started gets the status, and decides.
    const auto progress = progress_.find(record.job.number);
    const bool told = progress == progress_.end() || !progress->second.launched;
    const bool unborn = record.job.number > 1 && record.ranks_to_start > 0 && told;
    if (!why.empty() && !unborn) say(why);
    if (!failure_ && !unborn && !options_.serve && !record.job.wishes.report_separately) failure_ = status;
    end_ranks_of(record);
    // Its children go with it, and those that are connected to it.
    std::vector<JobRecord*> others = children_of(record);
    for (uint32_t number : record.linked)
        others.push_back(jobs_.find(number));
    for (JobRecord* other : others)
        fail_job(*other, status, PMIX_ERR_JOB_ABORTED, {});
}

void Launcher::end_ranks_of(JobRecord& record) {
    if (record.ended()) return;
    const bool started =
        record.state == JobRecord::State::Starting || record.state == JobRecord::State::Running;
    record.state = JobRecord::State::Ending;
    if (!started) {
        for (uint32_t rank = 0; rank < record.job.size(); ++rank)
            rank_ended(record, rank);
        return;
    }
    const std::vector<ProcId> all = {{record.job.number, kAllRanks}};
    hub_->signal(SIGTERM, all, true);
    hub_->signal(SIGCONT, all, true);  // those that are stopped see it, too
    progress_[record.job.number].force = loop_->after(kEndPatience, [this, all] {
        hub_->signal(SIGKILL, all, true);
        if (ending()) kill_nodes_later();
    });
    // No process has these ranks now, and none will.
    std::vector<uint32_t> waiting;
    for (const auto& [rank, watch] : progress_[record.job.number].restarts)
        waiting.push_back(rank);
    progress_[record.job.number].restarts.clear();
    for (const uint32_t rank : waiting)
        rank_ended(record, rank);
}

void Launcher::end_job(JobRecord& record, int32_t term_status, bool at_once) {
    if (record.ended()) return;
    record.term_status = term_status;
    for (RankState& rank : record.ranks)
        rank.dismissed = true;
    if (record.job.number == 1 && !failure_ && !options_.serve) {
        failure_ = 128 + (at_once ? SIGKILL : SIGTERM);
        say(fmt::format("the job was ended on request: {}", PMIx_Error_string(term_status)));
    }
    end_ranks_of(record);
    if (at_once) hub_->signal(SIGKILL, {{record.job.number, kAllRanks}}, true);
    for (JobRecord* child : children_of(record))
        end_job(*child, term_status, at_once);
}

Forwards& Launcher::forwards() {
    return static_cast<Forwards&>(*services_.at(Topic::Forward));
}

}  // namespace muster::launcher
