// SPDX-License-Identifier: BSD-3-Clause
// Fences and direct modexes between the nodes.
#include "tools/muster/router.hpp"

#include <pmix_common.h>

#include <algorithm>
#include <utility>

namespace muster {

Router::Router(Loop& loop, const Job& job, Report& report, Send send)
    : loop_(loop), job_(job), report_(report), send_(std::move(send)) {}

void Router::on_message(uint32_t node, Kind kind, uint64_t id, std::string_view body) {
    switch (kind) {
        case Kind::Fence:
            fence(node, id, body);
            break;
        case Kind::Modex:
            modex(node, id, body);
            break;
        case Kind::ModexDone: {
            Reader in(body);
            const int32_t status = in.i32();
            const std::string_view bytes = in.bytes();
            answer_modex(id, in.ok() ? status : PMIX_ERROR, bytes);
            break;
        }
        default:
            break;
    }
}

void Router::fence(uint32_t node, uint64_t id, std::string_view body) {
    Reader in(body);
    std::vector<ProcName> procs = in.names();
    const uint32_t seconds = in.u32();
    std::string bytes(in.bytes());
    std::sort(procs.begin(), procs.end());
    std::set<uint32_t> nodes;
    pmix_status_t refused = in.ok() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    for (const ProcName& proc : procs) {
        if (proc.nspace != job_.nspace) {
            refused = PMIX_ERR_INVALID_NAMESPACE;
        } else if (proc.rank < job_.size()) {
            nodes.insert(job_.places[proc.rank].node);
        } else if (proc.rank == PMIX_RANK_WILDCARD) {
            for (uint32_t n = 0; n < job_.nodes.size(); ++n)
                nodes.insert(n);
        } else {
            refused = PMIX_ERR_BAD_PARAM;
        }
    }
    if (refused == PMIX_SUCCESS && !nodes.contains(node)) refused = PMIX_ERR_BAD_PARAM;
    if (refused != PMIX_SUCCESS) {
        send_(node, Kind::FenceDone, id, Writer().i32(refused).bytes({}));
        return;
    }

    // A node that has given its part already means the next fence over the same processes.
    auto found = std::find_if(fences_.begin(), fences_.end(),
                              [&](const Fence& f) { return f.procs == procs && !f.parts.contains(node); });
    if (found == fences_.end()) {
        found = fences_.emplace(fences_.end());
        found->procs = std::move(procs);
        found->nodes = std::move(nodes);
        found->begin = Report::Clock::now();
    }
    found->parts[node] = {id, std::move(bytes)};
    if (found->parts.size() == found->nodes.size()) return finish(found, PMIX_SUCCESS);
    if (hopeless(*found)) return finish(found, PMIX_ERR_LOST_CONNECTION);
    if (seconds > 0 && !found->timer) {
        found->timer =
            loop_.after(std::chrono::seconds(seconds), [this, found] { finish(found, PMIX_ERR_TIMEOUT); });
    }
}

void Router::finish(std::list<Fence>::iterator fence, int32_t status) {
    std::string together;
    if (status == PMIX_SUCCESS) {
        for (const auto& [node, part] : fence->parts)
            together += part.bytes;
        report_.fence(Report::Clock::now() - fence->begin, together.size());
    }
    const Writer answer = Writer().i32(status).bytes(together);
    for (const auto& [node, part] : fence->parts) {
        if (!send_(node, Kind::FenceDone, part.id, answer)) {
            send_(node, Kind::FenceDone, part.id, Writer().i32(PMIX_ERR_OUT_OF_RESOURCE).bytes({}));
        }
    }
    fences_.erase(fence);
}

/// Some member has ended, so that its node will never give its part.
bool Router::hopeless(const Fence& fence) const {
    auto missing = [&](uint32_t rank) {
        const uint32_t node = job_.places[rank].node;
        return !fence.parts.contains(node) && (ended_.contains(rank) || gone_.contains(node));
    };
    for (const ProcName& proc : fence.procs) {
        if (proc.rank != PMIX_RANK_WILDCARD) {
            if (missing(proc.rank)) return true;
        } else {
            for (uint32_t rank = 0; rank < job_.size(); ++rank) {
                if (missing(rank)) return true;
            }
        }
    }
    return false;
}

void Router::rank_ended(uint32_t rank) {
    ended_.insert(rank);
    for (auto fence = fences_.begin(); fence != fences_.end();) {
        const auto next = std::next(fence);
        if (hopeless(*fence)) finish(fence, PMIX_ERR_LOST_CONNECTION);
        fence = next;
    }
}

void Router::node_gone(uint32_t node) {
    gone_.insert(node);
    std::vector<uint64_t> lost;
    for (const auto& [id, modex] : modexes_) {
        if (modex.target == node) lost.push_back(id);
    }
    for (uint64_t id : lost)
        answer_modex(id, PMIX_ERR_LOST_CONNECTION, {});
}

void Router::modex(uint32_t node, uint64_t id, std::string_view body) {
    Reader in(body);
    const ProcName proc = in.name();
    const uint32_t seconds = in.u32();
    if (!in.ok() || proc.nspace != job_.nspace || proc.rank >= job_.size() ||
        gone_.contains(job_.places[proc.rank].node)) {
        send_(node, Kind::ModexDone, id, Writer().i32(PMIX_ERR_NOT_FOUND).bytes({}));
        return;
    }
    const uint64_t own = next_id_++;
    Modex& modex = modexes_[own];
    modex.asker = node;
    modex.target = job_.places[proc.rank].node;
    modex.id = id;
    if (seconds > 0) {
        modex.timer = loop_.after(std::chrono::seconds(seconds),
                                  [this, own] { answer_modex(own, PMIX_ERR_TIMEOUT, {}); });
    }
    send_(modex.target, Kind::ModexAsk, own, Writer().name(proc));
}

void Router::answer_modex(uint64_t id, int32_t status, std::string_view bytes) {
    const auto found = modexes_.find(id);
    if (found == modexes_.end()) return;
    send_(found->second.asker, Kind::ModexDone, found->second.id, Writer().i32(status).bytes(bytes));
    modexes_.erase(found);
}

}  // namespace muster
