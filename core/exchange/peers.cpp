// SPDX-License-Identifier: BSD-3-Clause
// The connected processes: see peers.hpp.
#include "core/exchange/peers.hpp"

namespace muster {

void Peers::add(const PeerPtr& peer, const WireFormat& usual) {
    all_.push_back(peer);
    const bool is_usual =
        peer->format.bfrops == usual.bfrops && peer->format.buffer_type == usual.buffer_type;
    const MutexLock lock(formats_lock_);
    if (is_usual) {
        formats_.erase(Proc(peer->proc));
    } else {
        formats_[Proc(peer->proc)] = peer->format;
    }
}

void Peers::remove(const PeerPtr& peer) {
    std::erase(all_, peer);
}

void Peers::forget_format(const pmix_proc_t& proc) {
    const MutexLock lock(formats_lock_);
    formats_.erase(Proc(proc));
}

std::optional<WireFormat> Peers::format_of(const pmix_proc_t& proc) const {
    const MutexLock lock(formats_lock_);
    const auto found = formats_.find(Proc(proc));
    if (found == formats_.end()) return std::nullopt;
    return found->second;
}

std::string Peers::uri_of(const pmix_proc_t& proc) const {
    for (const PeerPtr& peer : all_) {
        if (peer->server_uri.empty() || peer->finalized || !nspace_is(peer->proc.nspace, proc.nspace))
            continue;
        if (proc.rank == PMIX_RANK_WILDCARD || proc.rank == peer->proc.rank) return peer->server_uri;
    }
    return {};
}

}  // namespace muster
