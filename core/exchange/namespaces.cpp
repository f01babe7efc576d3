// SPDX-License-Identifier: BSD-3-Clause
// Namespaces and their local clients: see namespaces.hpp.
#include "core/exchange/namespaces.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {

bool is_master(uint32_t uid) {
    return uid == 0 || uid == geteuid();
}

bool Namespace::is_local(pmix_rank_t rank) const {
    return clients.count(rank) != 0 || std::binary_search(mapped_ranks.begin(), mapped_ranks.end(), rank);
}

bool Namespace::knows_local_ranks() const {
    if (!registered) return synthetic || clients.empty();
    const size_t known = std::max(mapped_ranks.size(), clients.size() + removed.size());
    return nlocal < 0 || known >= static_cast<size_t>(nlocal);
}

size_t Namespace::local_count() const {
    if (nlocal >= 0) return std::max(static_cast<size_t>(nlocal), clients.size());
    return std::max(mapped_ranks.size(), clients.size());
}

std::vector<pmix_rank_t> Namespace::local_ranks() const {
    std::vector<pmix_rank_t> ranks = mapped_ranks;
    for (const auto& [rank, client] : clients) {
        if (!std::binary_search(mapped_ranks.begin(), mapped_ranks.end(), rank)) ranks.push_back(rank);
    }
    std::ranges::sort(ranks);
    return ranks;
}

Namespace* Namespaces::find(const char* name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second.get();
}

Namespace& Namespaces::get_or_add(const char* name) {
    auto& slot = by_name_[name];
    if (!slot) {
        slot = std::make_unique<Namespace>();
        slot->name = name;
        slot->number = ++newest_;
    }
    return *slot;
}

void Namespaces::remove(const char* name) {
    by_name_.erase(name);
}

LocalClient* Namespaces::client(const pmix_proc_t& proc) {
    Namespace* nspace = find(proc.nspace);
    return nspace == nullptr ? nullptr : nspace->client(proc.rank);
}

bool Namespaces::is_alive(const pmix_proc_t& proc) {
    const LocalClient* one = client(proc);
    return one != nullptr && !one->gone();
}

bool Namespaces::is_local(const pmix_proc_t& proc) {
    const Namespace* nspace = find(proc.nspace);
    return nspace != nullptr && nspace->is_local(proc.rank);
}

std::optional<uint32_t> Namespaces::owner_of(const pmix_proc_t& proc) {
    const Namespace* nspace = find(proc.nspace);
    if (nspace == nullptr || nspace->clients.empty()) return std::nullopt;
    const auto client = nspace->clients.find(proc.rank);
    return (client != nspace->clients.end() ? client : nspace->clients.begin())->second.uid;
}

bool Namespaces::may_use(uint32_t uid, const pmix_proc_t& proc) {
    return is_master(uid) || owner_of(proc).value_or(uid) == uid;
}

bool Namespaces::may_see(uint32_t uid, const std::vector<pmix_proc_t>& procs) {
    if (is_master(uid)) return true;
    bool known = false;
    const char* before = "";
    for (const pmix_proc_t& proc : procs) {
        // Lists of the processes of one job are long.
        if (nspace_is(proc.nspace, before)) continue;
        before = proc.nspace;
        const auto owner = owner_of(proc);
        if (owner == uid) return true;
        known = known || owner.has_value();
    }
    return !known;
}

SharedBytes packed_job_info(Runtime& runtime, Namespaces& namespaces, const char* name, const Peer& peer) {
    Namespace* nspace = namespaces.find(name);
    if (nspace == nullptr || !nspace->registered) return nullptr;
    const bool compact = peer.version.can(Capability::CompactJobData);
    for (const auto& packed : nspace->packed_job) {
        if (packed.compact == compact && packed.format.bfrops == peer.format.bfrops &&
            packed.format.buffer_type == peer.format.buffer_type) {
            return packed.reply;
        }
    }
    Packer reply = peer.packer();
    reply.string(nspace->name);
    if (nspace->synthetic && !runtime.store().knows(name)) {
        // A tool has no job data.
        return std::make_shared<const Bytes>(reply.take());
    }
    const pmix_status_t status = runtime.store().pack_job(name, reply, compact);
    if (status != PMIX_SUCCESS || reply.error() != PMIX_SUCCESS) {
        MUSTER_LOG(runtime.log(), Error, "the job data of %s cannot be packed for %s: %s", name,
                   peer.text().c_str(), status_text(status != PMIX_SUCCESS ? status : reply.error()));
        return nullptr;
    }
    auto shared = std::make_shared<const Bytes>(reply.take());
    nspace->packed_job.push_back({peer.format, compact, shared});
    return shared;
}

}  // namespace muster
