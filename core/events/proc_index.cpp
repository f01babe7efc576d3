// SPDX-License-Identifier: BSD-3-Clause
// Processes of a long list: see proc_index.hpp.
#include "core/events/proc_index.hpp"

#include <algorithm>

#include "framework/base/keyed_hash.hpp"
#include "framework/base/proc.hpp"

namespace muster {
namespace {

constexpr size_t kShort = 32;

uint64_t hash_of(const char* nspace) {
    return KeyedHash().add(nspace_view(nspace)).end();
}

uint64_t hash_of(const pmix_proc_t& proc) {
    return KeyedHash().add(nspace_view(proc.nspace)).add(proc.rank).end();
}

}  // namespace

bool same_or_wildcard(const pmix_proc_t& a, const pmix_proc_t& b) {
    if (!nspace_is(a.nspace, b.nspace)) return false;
    return a.rank == b.rank || a.rank == PMIX_RANK_WILDCARD || b.rank == PMIX_RANK_WILDCARD;
}

ProcIndex::ProcIndex(const std::vector<pmix_proc_t>& procs) {
    if (procs.size() <= kShort || procs.size() > UINT32_MAX) return;
    places_.reserve(procs.size());
    for (size_t i = 0; i < procs.size(); ++i) {
        places_.emplace_back(hash_of(procs[i]), static_cast<uint32_t>(i));
        // Usually the processes of a job are adjacent.
        if (i == 0 || !nspace_is(procs[i].nspace, procs[i - 1].nspace))
            jobs_.emplace_back(hash_of(procs[i].nspace), static_cast<uint32_t>(i));
    }
    std::ranges::sort(places_);
    std::ranges::sort(jobs_);
    jobs_.erase(std::unique(jobs_.begin(), jobs_.end(),
                            [&](const Place& a, const Place& b) {
                                return a.first == b.first &&
                                       nspace_is(procs[a.second].nspace, procs[b.second].nspace);
                            }),
                jobs_.end());
}

bool ProcIndex::found(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) const {
    const uint64_t hash = hash_of(proc);
    // Another process with the same hash is possible.
    for (auto at = std::lower_bound(places_.begin(), places_.end(), Place{hash, 0});
         at != places_.end() && at->first == hash; ++at) {
        if (proc_is(procs[at->second], proc)) return true;
    }
    return false;
}

bool ProcIndex::has(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) const {
    if (places_.empty() || proc.rank == PMIX_RANK_WILDCARD) {
        return std::ranges::any_of(procs,
                                   [&](const pmix_proc_t& one) { return same_or_wildcard(one, proc); });
    }
    if (found(procs, proc)) return true;
    pmix_proc_t any = proc;
    any.rank = PMIX_RANK_WILDCARD;
    return found(procs, any);
}

bool ProcIndex::has_job(const std::vector<pmix_proc_t>& procs, const char* nspace) const {
    const auto is_of_it = [&](const pmix_proc_t& one) { return nspace_is(one.nspace, nspace); };
    if (places_.empty()) return std::ranges::any_of(procs, is_of_it);
    const uint64_t hash = hash_of(nspace);
    for (auto at = std::lower_bound(jobs_.begin(), jobs_.end(), Place{hash, 0});
         at != jobs_.end() && at->first == hash; ++at) {
        if (is_of_it(procs[at->second])) return true;
    }
    return false;
}

}  // namespace muster
