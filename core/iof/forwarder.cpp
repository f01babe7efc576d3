// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output of a server: see forwarder.hpp.
#include "core/iof/forwarder.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/groups/process_sets.hpp"
#include "core/iof/forwarding.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Bytes that wait for a reader's socket in its channel: enough to keep it busy.
constexpr size_t kAhead = size_t{1} << 20;
/// Bytes that may wait for a tool that gets output without a pull; beyond, output is dropped.
constexpr size_t kMostUnasked = size_t{1} << 20;
/// Single processes that the registrations of one peer may name together.
constexpr size_t kMostRanks = size_t{1} << 20;
/// Limit of the output kept before any registration, for all jobs: a multiple of the limit of one channel.
constexpr size_t kEarlyShares = 64;

}  // namespace

struct Forwarder::Registration {
    explicit Registration(OverflowPolicy policy) : queue(policy) {}

    size_t id = 0;
    Caller caller;
    // A connected process ...
    PeerRef peer;
    uint32_t index = 0;
    size_t reference = 0;  ///< its own number
    // ... or a function here.
    OnPiece on_piece;

    struct Ranks {
        bool all = false;
        std::vector<pmix_rank_t> some;  ///< sorted
        bool has(pmix_rank_t rank) const { return all || std::binary_search(some.begin(), some.end(), rank); }
    };
    TextMap<Ranks> sources;
    size_t ranks = 0;                ///< how many single ones they are
    std::vector<pmix_proc_t> procs;  ///< as they were asked for
    pmix_iof_channel_t channels = 0;
    bool copy = false;
    bool unasked = false;  ///< of a job that the process has spawned
    bool over = false;     ///< the host has taken that job back
    bool active = false;   ///< the host has agreed
    bool gone = false;

    PieceQueue queue;
    bool waits = false;               ///< for its channel to drain
    std::vector<PiecePtr> unwritten;  ///< in the channel, and not yet in the socket
    uint64_t told = 0;                ///< of what was dropped

    bool wants(const OutputPiece& piece) const {
        if (!active || (channels & piece.channel) == 0) return false;
        const auto found = sources.find(nspace_view(piece.source.nspace));
        return found != sources.end() && found->second.has(piece.source.rank);
    }
};

Forwarder::Forwarder(const Services& services)
    : services_(services),
      early_limit_(services.runtime.parameters().size("pmix_iof_cache_size")),
      most_registrations_(services.runtime.parameters().size("pmix_iof_max_registrations")) {}

Forwarder::~Forwarder() = default;

// --- showing it here

std::unique_ptr<OutputSink> Forwarder::make_sink(const OutputStyle& style) {
    Forwarding& forwarding = services_.forwarding;
    return std::make_unique<OutputSink>(style, style.local.value_or(false) ? &forwarding.console() : nullptr,
                                        forwarding.find_facts(), forwarding.on_failure());
}

pmix_status_t Forwarder::set_style(InfoView directives) {
    if (const pmix_status_t status = read_style(directives, style_); status != PMIX_SUCCESS) return status;
    if (style_.local.value_or(false) || style_.to_files()) sink_ = make_sink(style_);
    return PMIX_SUCCESS;
}

void Forwarder::registered(const std::string& nspace, InfoView info) {
    OutputStyle style;
    if (read_style(info, style) != PMIX_SUCCESS) {
        MUSTER_LOG(services_.runtime.log(), Error,
                   "namespace %s: a directive about its output has a value of the wrong type; its output is "
                   "shown as usual",
                   nspace.c_str());
        return;
    }
    if (!style.marks() && !style.raw && !style.merge && !style.to_files() && !style.local) return;
    // The server's directives are the defaults of the job's.
    style = style_;
    read_style(info, style);
    Job& job = jobs_[nspace];
    const bool shown = style.local.value_or(false) || style.to_files();
    job.sink = shown ? make_sink(style) : nullptr;
    job.quiet = !shown;
}

void Forwarder::deregistered(const std::string& nspace) {
    control_output(make_proc(nspace, PMIX_RANK_WILDCARD), kOutputChannels, false);
    if (sink_) sink_->forget(nspace);
    const auto found = jobs_.find(nspace);
    if (found == jobs_.end()) return;
    Job& job = found->second;
    for (const RegistrationPtr& registration : job.readers)
        registration->over = registration->unasked;
    if (job.sink) job.sink->finish();
    job.sink.reset();
    job.quiet = false;
    if (job.early) {
        early_bytes_ -= job.early->bytes();
        dropped_before_ += job.early->dropped() + job.early->bytes();
    }
    job.early.reset();
    if (job.idle()) jobs_.erase(found);
}

void Forwarder::show(Job* job, const PiecePtr& piece, bool on_console) {
    OutputSink* sink = job != nullptr && job->sink ? job->sink.get() : sink_.get();
    if (sink == nullptr || (job != nullptr && job->quiet)) return;
    sink->write(*piece, on_console);
    if (!on_console) return;
    Console& console = services_.forwarding.console();
    if (!console.full()) return;
    // The host's callback is delayed until a reader has read.
    if (shown_late_.empty()) {
        console.on_room([this] { const auto shown = std::exchange(shown_late_, {}); });
    }
    shown_late_.push_back(piece);
}

// --- registrations

pmix_status_t Forwarder::check(const Registration& registration, const PullRequest& request) const {
    if (request.procs.empty()) return PMIX_ERR_BAD_PARAM;
    for (const pmix_proc_t& proc : request.procs) {
        if (nspace_view(proc.nspace).empty()) return PMIX_ERR_BAD_PARAM;
    }
    for (const auto& [nspace, ranks] : registration.sources) {
        const pmix_rank_t first = ranks.all ? PMIX_RANK_WILDCARD : ranks.some.front();
        if (!may_see(registration, make_proc(nspace, first))) return PMIX_ERR_NO_PERMISSIONS;
    }
    if (services_.host.module().iof_pull == nullptr) return PMIX_ERR_NOT_SUPPORTED;
    if (registration.on_piece) return PMIX_SUCCESS;
    const auto found = shares_.find(registration.index);
    const Share share = found == shares_.end() ? Share{} : found->second;
    if (share.registrations >= most_registrations_ || registration.ranks > kMostRanks - share.ranks)
        return PMIX_ERR_OUT_OF_RESOURCE;
    return PMIX_SUCCESS;
}

void Forwarder::read_sources(Registration& registration, const std::vector<pmix_proc_t>& procs) const {
    std::unordered_set<const ProcessSet*> whole;  // those that are in with all their members
    for (const pmix_proc_t& proc : procs) {
        const std::string name(nspace_view(proc.nspace));
        const ProcessSet* set = services_.process_sets.find(name);
        if (set != nullptr && services_.namespaces.find(name.c_str()) == nullptr) {
            // Rank r of a set or group is its member r.
            const auto& members = set->members;
            const bool all = proc.rank == PMIX_RANK_WILDCARD;
            // Once is enough: a short list shall not become one of any length.
            if (all && !whole.insert(set).second) continue;
            const size_t end = all ? members.size() : std::min<size_t>(members.size(), size_t{proc.rank} + 1);
            for (size_t i = all ? 0 : proc.rank; i < end; ++i) {
                auto& ranks = registration.sources[std::string(nspace_view(members[i].nspace))];
                if (members[i].rank == PMIX_RANK_WILDCARD) ranks.all = true;
                ranks.some.push_back(members[i].rank);
            }
            continue;
        }
        auto& ranks = registration.sources[name];
        if (proc.rank == PMIX_RANK_WILDCARD) ranks.all = true;
        ranks.some.push_back(proc.rank);
    }
    for (auto& [nspace, ranks] : registration.sources) {
        if (ranks.all) ranks.some.clear();
        std::ranges::sort(ranks.some);
        registration.ranks += 1 + ranks.some.size();
    }
}

void Forwarder::pull(const PeerPtr& peer, PullRequest request, OnPulled done) {
    OverflowPolicy policy;
    if (const pmix_status_t status = policy.read(request.directives, early_limit_); status != PMIX_SUCCESS)
        return done(status, 0);
    auto registration = std::make_shared<Registration>(policy);
    registration->caller = Caller::of(*peer);
    registration->peer = peer;
    registration->index = peer->index;
    registration->reference = request.reference;
    add(registration, std::move(request), std::move(done));
}

void Forwarder::pull(PullRequest request, OnPiece on_piece, OnPulled done) {
    auto registration = std::make_shared<Registration>(OverflowPolicy{});
    registration->caller = Caller::host(services_.runtime);
    registration->on_piece = std::move(on_piece);
    add(registration, std::move(request), std::move(done));
}

void Forwarder::add(const RegistrationPtr& registration, PullRequest request, OnPulled done) {
    const auto channels = readable_channels(request.channels);
    if (!channels) return done(channels.status(), 0);
    registration->channels = *channels;
    read_sources(*registration, request.procs);
    if (const pmix_status_t status = check(*registration, request); status != PMIX_SUCCESS)
        return done(status, 0);
    registration->id = next_id_++;
    registration->procs = std::move(request.procs);
    const InfoView directives = request.directives;
    registration->copy = directives.is_true(PMIX_IOF_COPY) && !directives.is_true(PMIX_IOF_REDIRECT);
    by_id_[registration->id] = registration;
    if (!registration->on_piece) {
        Share& share = shares_[registration->index];
        ++share.registrations;
        share.ranks += registration->ranks;
    }
    for (const auto& [nspace, ranks] : registration->sources)
        jobs_[nspace].readers.push_back(registration);
    upcall_pull(std::move(request.directives), registration->caller, *registration,
                [this, registration, done = std::move(done)](const HostAnswer& answer) {
                    if (registration->gone) return done(PMIX_ERR_LOST_CONNECTION, 0);
                    if (answer.status != PMIX_SUCCESS) {
                        remove(registration);
                        return done(answer.status, 0);
                    }
                    done(PMIX_SUCCESS, registration->id);
                    activate(registration);
                });
}

void Forwarder::activate(const RegistrationPtr& registration) {
    registration->active = true;
    for (const auto& [nspace, ranks] : registration->sources) {
        const auto found = jobs_.find(nspace);
        if (found == jobs_.end() || !found->second.early) continue;
        // The rest is kept in order for later registrations.
        auto kept =
            std::make_unique<PieceQueue>(OverflowPolicy{OverflowPolicy::When::DropOldest, early_limit_});
        dropped_before_ += found->second.early->dropped();
        early_bytes_ -= found->second.early->bytes();
        while (const PiecePtr piece = found->second.early->pop()) {
            if (registration->wants(*piece) && may_see(*registration, piece->source)) {
                give(registration, piece);
            } else {
                kept->push(piece);
            }
        }
        early_bytes_ += kept->bytes();
        if (kept->empty()) kept.reset();
        found->second.early = std::move(kept);
    }
}

void Forwarder::remove(const RegistrationPtr& registration) {
    if (std::exchange(registration->gone, true)) return;
    registration->active = false;
    by_id_.erase(registration->id);
    for (const auto& [nspace, ranks] : registration->sources) {
        const auto found = jobs_.find(nspace);
        if (found == jobs_.end()) continue;
        std::erase(found->second.readers, registration);
        if (found->second.idle()) jobs_.erase(found);
    }
    if (!registration->on_piece) {
        Share& share = shares_[registration->index];
        --share.registrations;
        share.ranks -= registration->ranks;
    }
    dropped_before_ += registration->queue.dropped();
    // Host callbacks run when these go; nothing is touched afterwards.
    const auto unwritten = std::exchange(registration->unwritten, {});
    const PieceQueue queued = std::exchange(registration->queue, PieceQueue(OverflowPolicy{}));
}

void Forwarder::stop(const PeerPtr& peer, size_t id, Info directives, const HostDone& done) {
    const auto found = by_id_.find(id);
    const RegistrationPtr registration = found == by_id_.end() ? nullptr : found->second;
    if (registration == nullptr || registration->peer.lock() != peer ||
        (peer == nullptr) != static_cast<bool>(registration->on_piece)) {
        return done(answer_of(PMIX_ERR_NOT_FOUND));
    }
    remove(registration);
    stop_host(*registration, std::move(directives));
    done({});
}

void Forwarder::forget(const PeerPtr& peer) {
    std::vector<RegistrationPtr> ended;
    for (const auto& [id, registration] : by_id_) {
        if (!registration->on_piece && registration->index == peer->index) ended.push_back(registration);
    }
    for (const RegistrationPtr& registration : ended) {
        remove(registration);
        stop_host(*registration, {});
    }
    shares_.erase(peer->index);
    gate_.forget(Caller::of(*peer).proc);
}

bool Forwarder::may_see(const Registration& registration, const pmix_proc_t& source) const {
    return registration.on_piece != nullptr || services_.namespaces.may_use(registration.caller.uid, source);
}

// --- the host

void Forwarder::upcall_pull(Info directives, const Caller& caller, const Registration& registration,
                            HostDone done) {
    struct OutputRequest : HostRequest {
        std::vector<pmix_proc_t> procs;
    };
    const auto upcall = services_.host.module().iof_pull;
    const pmix_iof_channel_t channels = registration.channels;
    ask_host(services_.host, caller, "iof_pull", "a request for output", upcall,
             OutputRequest{{std::move(directives)}, registration.procs}, std::move(done),
             [&](OutputRequest& asked, void* cbdata) {
                 return upcall(asked.procs.data(), asked.procs.size(), asked.info.data(), asked.info.size(),
                               channels, Host::on_op, cbdata);
             });
}

void Forwarder::stop_host(const Registration& registration, Info directives) {
    if (registration.procs.empty()) return;  // the host was not asked
    directives.add(PMIX_IOF_STOP, true);
    upcall_pull(std::move(directives), registration.caller, registration, [this](const HostAnswer& answer) {
        if (answer.status != PMIX_SUCCESS && answer.status != PMIX_ERR_LOST_CONNECTION)
            MUSTER_LOG(services_.runtime.log(), Info, "the host did not stop forwarding output: %s",
                       status_text(answer.status));
    });
}

// --- the way of a piece

size_t Forwarder::output_gate(const pmix_proc_t& source, pmix_iof_channel_t channels) const {
    for (size_t gate = 0; gate < kOutputGates; ++gate) {
        if ((channels & channel_of(gate)) != 0 && output_gates_[gate].suspended(source)) return gate;
    }
    return kOutputGates;
}

void Forwarder::control_output(const pmix_proc_t& sources, pmix_iof_channel_t channels, bool suspend) {
    for (size_t gate = 0; gate < kOutputGates; ++gate) {
        if ((channels & channel_of(gate)) != 0) output_gates_[gate].apply(sources, suspend);
    }
}

void Forwarder::deliver(const PiecePtr& piece) {
    if (closed_) return;
    // Output that the host relays for another server is shown and written there.
    const bool shown_here =
        !piece->info.has(PMIX_IOF_LOCAL_OUTPUT) || piece->info.is_true(PMIX_IOF_LOCAL_OUTPUT);
    if (const size_t gate = output_gate(piece->source, piece->channel); gate != kOutputGates) {
        // The host waits for the end of its call meanwhile, and keeps the bytes.
        return output_gates_[gate].hold(piece->source, [this, piece](pmix_status_t status) {
            if (status == PMIX_SUCCESS) deliver(piece);
        });
    }
    const auto found = jobs_.find(nspace_view(piece->source.nspace));
    Job* job = found == jobs_.end() ? nullptr : &found->second;
    bool wanted = false, redirected = false, some_unasked = false;
    if (job != nullptr) {
        // A reader of this process may change the list.
        std::vector<RegistrationPtr> readers;
        for (const RegistrationPtr& registration : job->readers) {
            if (!registration->wants(*piece) || !may_see(*registration, piece->source)) continue;
            redirected = redirected || (!registration->copy && !registration->unasked);
            some_unasked = some_unasked || registration->unasked;
            readers.push_back(registration);
        }
        if (some_unasked && readers.size() > 1) leave_to_pulls(readers);
        wanted = !readers.empty();
        // A tool that shows the output of its spawned job replaces this server's console, not the files of
        // the job.
        if (!redirected && shown_here) show(job, piece, !some_unasked);
        for (const RegistrationPtr& registration : readers)
            give(registration, piece);
    } else if (shown_here) {
        show(nullptr, piece, true);
    }
    if (proc_is(piece->source, services_.runtime.self())) return give_to_tools(*piece);
    if (!wanted) keep_early(piece);
}

/// A process with an explicit pull does not also get the output by its implicit registration.
void Forwarder::leave_to_pulls(std::vector<RegistrationPtr>& readers) {
    const std::vector<RegistrationPtr> all = readers;
    std::erase_if(readers, [&](const RegistrationPtr& one) {
        return one->unasked && std::ranges::any_of(all, [&](const RegistrationPtr& other) {
                   return !other->unasked && !other->on_piece && other->index == one->index;
               });
    });
}

void Forwarder::keep_early(const PiecePtr& piece) {
    if (early_limit_ == 0) return;
    if (early_bytes_ + piece->bytes.size() > kEarlyShares * early_limit_) {
        dropped_before_ += piece->bytes.size();
        return;
    }
    auto& early = jobs_[std::string(nspace_view(piece->source.nspace))].early;
    if (!early)
        early = std::make_unique<PieceQueue>(OverflowPolicy{OverflowPolicy::When::DropOldest, early_limit_});
    early_bytes_ -= early->bytes();
    early->push(piece);
    early_bytes_ += early->bytes();
}

/// Tools of the server's user get this server's own output without a pull, under reference 0.
void Forwarder::give_to_tools(const OutputPiece& piece) {
    for (const PeerPtr& peer : services_.peers.all()) {
        if (!is_tool(peer->kind) || !is_master(peer->uid) || peer->finalized || !peer->channel) continue;
        if (peer->channel->queued() > kMostUnasked) {
            dropped_before_ += piece.bytes.size();
            continue;
        }
        Packer message = peer->packer();
        write_output(message, piece, 0, {});
        if (message.error() == PMIX_SUCCESS) peer->send(tag::kIof, message.take());
    }
}

void Forwarder::give(const RegistrationPtr& registration, const PiecePtr& piece) {
    if (registration->on_piece) return registration->on_piece(*piece);
    const PeerPtr peer = registration->peer.lock();
    if (!peer || !peer->channel || peer->finalized) return;
    if (registration->queue.empty() && peer->channel->queued() <= kAhead) {
        send(registration, *peer, piece);
    } else {
        registration->queue.push(piece);
        pump(registration);
    }
}

void Forwarder::pump(const RegistrationPtr& registration) {
    const PeerPtr peer = registration->peer.lock();
    if (!peer || !peer->channel || registration->gone) return;
    std::vector<PiecePtr> done;  // host callbacks run when these go, at the end
    while (peer->channel->queued() <= kAhead) {
        PiecePtr piece = registration->queue.pop();
        if (!piece) break;
        send(registration, *peer, piece);
        done.push_back(std::move(piece));
    }
    if (!registration->queue.empty()) wait_for_room(registration, *peer);
}

void Forwarder::send(const RegistrationPtr& registration, Peer& peer, const PiecePtr& piece) {
    Info note;
    if (const uint64_t dropped = registration->queue.dropped(); dropped > registration->told)
        note.add(MUSTER_IOF_DROPPED, static_cast<size_t>(dropped - registration->told));
    registration->told = registration->queue.dropped();
    Packer message = peer.packer();
    // A piece that the host waits for stays where it is until it is in the socket.
    const bool waits = registration->queue.policy().when == OverflowPolicy::When::Wait;
    write_output(message, *piece, registration->reference, note, waits);
    if (message.error() != PMIX_SUCCESS) {
        MUSTER_LOG(services_.runtime.log(), Error, "output of %s for %s cannot be packed: %s",
                   proc_text(piece->source).c_str(), peer.text().c_str(), status_text(message.error()));
        return;
    }
    const ByteView tail = message.tail();
    peer.channel->send_kept_soon(0, tag::kIof, message.take(), {tail, tail.empty() ? nullptr : piece});
    // The host may consider it delivered only when it is in the socket, unless it does not wait.
    if (!waits || peer.channel->queued() == 0) return;
    registration->unwritten.push_back(piece);
    wait_for_room(registration, peer);
}

void Forwarder::wait_for_room(const RegistrationPtr& registration, Peer& peer) {
    if (std::exchange(registration->waits, true)) return;
    peer.channel->on_drained([this, weak = std::weak_ptr<Registration>(registration)] {
        const RegistrationPtr waiting = weak.lock();
        if (!waiting) return;
        waiting->waits = false;
        const auto written = std::exchange(waiting->unwritten, {});
        pump(waiting);
    });
}

uint64_t Forwarder::dropped() const {
    uint64_t sum = dropped_before_;
    for (const auto& [id, registration] : by_id_)
        sum += registration->queue.dropped();
    for (const auto& [nspace, job] : jobs_)
        sum += job.early ? job.early->dropped() : 0;
    return sum;
}

bool Forwarder::takes_unasked(const Peer& peer, InfoView directives) {
    return is_tool(peer.kind) &&
           (!peer.version.can(Capability::AskedOutput) || directives.is_true(MUSTER_IOF_UNASKED));
}

void Forwarder::spawned(const PeerPtr& peer, const std::string& nspace, pmix_iof_channel_t channels) {
    if (channels == 0 || nspace.empty()) return;
    auto registration = std::make_shared<Registration>(OverflowPolicy{});
    registration->unasked = true;
    registration->channels = channels;
    drop_over(peer->index);
    Share& share = shares_[peer->index];
    if (share.registrations >= most_registrations_) return;
    registration->id = next_id_++;
    registration->caller = Caller::of(*peer);
    registration->peer = peer;
    registration->index = peer->index;
    read_sources(*registration, {make_proc(nspace, PMIX_RANK_WILDCARD)});
    ++share.registrations;
    share.ranks += registration->ranks;
    by_id_[registration->id] = registration;
    jobs_[nspace].readers.push_back(registration);
    activate(registration);
}

/// Ended jobs of that peer without output in flight. Not at their end: hosts may deliver the rest of their
/// output later.
void Forwarder::drop_over(uint32_t index) {
    std::vector<RegistrationPtr> over;
    for (const auto& [id, registration] : by_id_) {
        if (registration->over && registration->index == index && registration->queue.empty() &&
            registration->unwritten.empty())
            over.push_back(registration);
    }
    for (const RegistrationPtr& registration : over)
        remove(registration);
}

void Forwarder::close() {
    closed_ = true;
    gate_.close();
    for (InputGate& gate : output_gates_)
        gate.close();
    if (sink_) sink_->finish();
    for (const auto& [nspace, job] : jobs_) {
        if (job.sink) job.sink->finish();
    }
    std::vector<RegistrationPtr> all;
    for (const auto& [id, registration] : by_id_)
        all.push_back(registration);
    for (const RegistrationPtr& registration : all)
        remove(registration);
    const auto shown = std::exchange(shown_late_, {});
}

Result<pmix_iof_channel_t> readable_channels(pmix_iof_channel_t channels) {
    // "All available": the one that cannot be read is not.
    if (channels == PMIX_FWD_ALL_CHANNELS) return kOutputChannels;
    if ((channels & PMIX_FWD_STDIN_CHANNEL) != 0)
        return Error{PMIX_ERR_NOT_SUPPORTED, "PMIX_FWD_STDIN_CHANNEL cannot be pulled; use PMIx_IOF_push"};
    if (channels == 0 || (channels & ~kOutputChannels) != 0)
        return Error{PMIX_ERR_BAD_PARAM, "unknown channel; give stdout, stderr or stddiag"};
    return channels;
}

}  // namespace muster
