// SPDX-License-Identifier: BSD-3-Clause
// Forwarding in the launcher: see forwards.hpp.
#include "tools/muster/services/forwards.hpp"

#include <algorithm>
#include <iterator>

namespace muster::launcher {
namespace {

/// Limit of input that waits for slow ranks before the pushing processes wait.
constexpr uint64_t kInputWindow = 1 << 20;
/// Time for which output is kept for the tool that has spawned its job and requested it.
constexpr std::chrono::seconds kHeld{5};

}  // namespace

bool Forwards::Pull::wants(const ProcName& proc, uint32_t channel) const {
    return (channels & channel) != 0 && names(procs, proc);
}

void Forwards::asked(Asker asker, Buffer& in) {
    Request request{};
    in.unpack(request);
    switch (request) {
        case Request::Pull:
            return pull(asker, in, false);
        case Request::Stop:
            return pull(asker, in, true);
        case Request::Push:
            return push(asker, in);
    }
    hub_.answer(asker, PMIX_ERR_BAD_PARAM);
}

void Forwards::pull(Asker asker, Buffer& in, bool stop) {
    Pull wanted;
    wanted.node = asker.node;
    if (!in.unpack(wanted.procs, wanted.channels, wanted.copy)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    if (stop) {
        const auto found = std::ranges::find_if(pulls_, [&](const Pull& pull) {
            return pull.node == wanted.node && pull.procs == wanted.procs && pull.channels == wanted.channels;
        });
        if (found == pulls_.end()) return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
        pulls_.erase(found);
        return hub_.answer(asker, PMIX_SUCCESS);
    }
    std::vector<uint32_t> jobs;
    for (const ProcName& proc : wanted.procs) {
        const JobRecord* record = hub_.jobs.find(proc.nspace);
        if (record == nullptr || record->job.ranks_meant(proc.rank).empty())
            return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
        // Its spawn did not ask for forwarding (Standard: PMIX_FWD_STDOUT).
        if ((record->job.wishes.forward & wanted.channels) == 0)
            return hub_.answer(asker, PMIX_ERR_NOT_SUPPORTED);
        jobs.push_back(record->job.number);
    }
    pulls_.push_back(std::move(wanted));
    // Before the kept output: it registers the reader there.
    hub_.answer(asker, PMIX_SUCCESS);
    for (const uint32_t job : jobs)
        release(job);
}

/// Keeps the output for the tool that has spawned the job, if that will ask for it.
bool Forwards::hold(const JobRecord& job, uint32_t node, ProcId proc, uint32_t channel,
                    std::string_view bytes) {
    if ((job.job.wishes.held & channel) == 0) return false;
    Held& held = held_[proc.job];
    if (!held.limit) held.limit = hub_.loop.after(kHeld, [this, number = proc.job] { release(number); });
    held.pieces.push_back({node, proc, channel, std::string(bytes)});
    const OutputPolicy& policy = job.job.output;
    uint64_t& size = held.sizes[channel];
    size += bytes.size();
    if (policy.cache_size == 0 || size <= policy.cache_size) return true;
    uint64_t excess = size - policy.cache_size;
    size = policy.cache_size;
    auto piece = policy.drop_oldest ? held.pieces.begin() : std::prev(held.pieces.end());
    while (excess > 0) {
        const uint64_t dropped = piece->channel == channel ? std::min(excess, piece->bytes.size()) : 0;
        piece->bytes.erase(policy.drop_oldest ? 0 : piece->bytes.size() - dropped, dropped);
        if (dropped > 0) hub_.output_taken(piece->node, dropped);
        excess -= dropped;
        // An empty piece would be an end.
        piece = dropped > 0 && piece->bytes.empty() ? held.pieces.erase(piece) : std::next(piece);
    }
    return true;
}

/// From here on output of the job is sent to its current readers.
void Forwards::release(uint32_t job) {
    if (JobRecord* record = hub_.jobs.find(job)) record->job.wishes.held = 0;
    const auto found = held_.find(job);
    if (found == held_.end()) return;
    const Held held = std::move(found->second);
    held_.erase(found);
    for (const Held::Output& piece : held.pieces)
        output(piece.node, piece.proc, piece.channel, piece.bytes);
}

void Forwards::release() {
    while (!held_.empty())
        release(held_.begin()->first);
}

void Forwards::note(const JobRecord& record, std::string_view text) {
    if (text.empty()) return;
    const Job& job = record.job;
    const bool wanted = (job.wishes.forward & PMIX_FWD_STDERR_CHANNEL) != 0 &&
                        std::ranges::any_of(pulls_, [&](const Pull& pull) {
                            return pull.wants({job.nspace, 0}, PMIX_FWD_STDERR_CHANNEL);
                        });
    if (!wanted && (job.wishes.held & PMIX_FWD_STDERR_CHANNEL) == 0) return hub_.show(true, text);
    output(kNobody, {job.number, 0}, PMIX_FWD_STDERR_CHANNEL, text);
}

void Forwards::output(uint32_t node, ProcId proc, uint32_t channel, std::string_view bytes) {
    const JobRecord* record = hub_.jobs.find(proc.job);
    if (record == nullptr || hold(*record, node, proc, channel, bytes)) return;
    const ProcName name{record->job.nspace, proc.rank};
    Piece piece{node, bytes.size(), {}};
    bool taken_away = false;
    for (const Pull& pull : pulls_) {
        if ((record->job.wishes.forward & channel) == 0 || !pull.wants(name, channel)) continue;
        taken_away = taken_away || !pull.copy;
        // The library there delivers it to each reader.
        if (std::ranges::find(piece.nodes, pull.node) == piece.nodes.end()) piece.nodes.push_back(pull.node);
    }
    if (piece.nodes.empty()) return hub_.show_output(node, proc, channel, bytes, true);
    const uint64_t number = next_piece_++;
    const auto nodes = piece.nodes;
    pieces_.emplace(number, std::move(piece));
    for (const uint32_t reader : nodes)
        hub_.tell(reader, Topic::Forward, pack(number, name, channel, bytes));
    // The node gets the acknowledgement when the tools have the output.
    hub_.show_output(std::nullopt, proc, channel, bytes, !taken_away);
}

void Forwards::told(uint32_t node, Buffer& in) {
    uint64_t number = 0;
    if (in.unpack(number)) taken(number, node);
}

void Forwards::taken(uint64_t number, uint32_t node) {
    const auto found = pieces_.find(number);
    if (found == pieces_.end()) return;
    Piece& piece = found->second;
    std::erase(piece.nodes, node);
    if (!piece.nodes.empty()) return;
    if (piece.size > 0) hub_.output_taken(piece.source, piece.size);
    pieces_.erase(found);
}

void Forwards::proc_ended(JobRecord& job, uint32_t rank) {
    if (job.ranks[rank].restarting) return;
    // After all its output: the node reports the end last.
    for (const uint32_t channel : {PMIX_FWD_STDOUT_CHANNEL, PMIX_FWD_STDERR_CHANNEL})
        output(job.job.places[rank].node, {job.job.number, rank}, channel, {});
}

void Forwards::node_gone(uint32_t node) {
    std::erase_if(pulls_, [node](const Pull& pull) { return pull.node == node; });
    std::erase_if(waiting_, [node](const Asker& asker) { return asker.node == node; });
    std::vector<uint64_t> numbers;
    for (const auto& [number, piece] : pieces_)
        numbers.push_back(number);
    for (const uint64_t number : numbers)
        taken(number, node);
}

void Forwards::push(Asker asker, Buffer& in) {
    std::vector<ProcName> targets;
    bool last = false;
    std::string bytes;
    if (!in.unpack(targets, last, bytes) || targets.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    std::vector<ProcId> ranks;
    for (const ProcName& target : targets) {
        const JobRecord* record = hub_.jobs.find(target.nspace);
        if (record == nullptr) return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
        const InputPolicy& input = record->job.input;
        bool any = false;
        for (uint32_t rank : record->job.ranks_meant(target.rank)) {
            if (!input.reads(rank)) continue;
            any = true;
            if (!record->ranks[rank].ended) ranks.push_back({record->job.number, rank});
        }
        // It was started without a way in (Standard: PMIX_FWD_STDIN).
        if (!any) return hub_.answer(asker, PMIX_ERR_NOT_SUPPORTED);
    }
    for (const ProcId& rank : ranks) {
        if (!bytes.empty()) {
            pushed_ += bytes.size();
            hub_.give_input(rank, bytes);
        }
        if (last) hub_.give_input(rank, {});
    }
    waiting_.push_back(asker);
    answer_pushes();
}

uint64_t Forwards::input_taken(uint64_t bytes) {
    const uint64_t ours = std::min(bytes, pushed_);
    pushed_ -= ours;
    answer_pushes();
    return bytes - ours;
}

void Forwards::answer_pushes() {
    while (!waiting_.empty() && pushed_ <= kInputWindow) {
        const Asker asker = waiting_.front();
        waiting_.pop_front();
        hub_.answer(asker, PMIX_SUCCESS);
    }
}

}  // namespace muster::launcher
