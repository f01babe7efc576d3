// SPDX-License-Identifier: BSD-3-Clause
// When the barrier of a job is made, opened and shut: see barriers.hpp.
#include "core/barrier/barriers.hpp"

#include <algorithm>

#include "core/server/server.hpp"

namespace muster {
namespace {

/// Fences of a whole job are those over its WILDCARD rank; one that names all ranks is another fence.
const char* whole_job(const Collective& fence) {
    const std::vector<pmix_proc_t>& participants = fence.participants();
    if (participants.size() != 1 || participants.front().rank != PMIX_RANK_WILDCARD) return nullptr;
    return participants.front().nspace;
}

}  // namespace

/// How many processes the job has, when all of them are here; else 0.
uint32_t Barriers::size_of(const Namespace& nspace) const {
    if (!nspace.registered || nspace.synthetic) return 0;
    const auto size = server_.runtime().store().job_size(nspace.name.c_str());
    return size && *size > 1 && *size == nspace.local_count() ? *size : 0;
}

int Barriers::offer(const Namespace& nspace) {
    if (!server_.runtime().parameters().boolean("pmix_shared_barrier")) return -1;
    const auto found = shared_.find(nspace.name);
    if (found != shared_.end()) return found->second.memory ? found->second.memory->descriptor() : -1;
    const uint32_t size = size_of(nspace);
    if (size == 0) return -1;
    Shared& shared = shared_[nspace.name];
    auto memory = BarrierMemory::create("pmix:barrier:" + nspace.name);
    if (!memory) {
        MUSTER_LOG(server_.log(), Error,
                   "namespace %s has no barrier in memory (%s); its fences go by this server",
                   nspace.name.c_str(), memory.error().text.c_str());
        return -1;
    }
    shared.memory = std::move(*memory);
    shared.size = size;
    return shared.memory->descriptor();
}

void Barriers::call_in(Shared& shared) {
    if (!std::exchange(shared.open, false)) return;
    shared.memory->shut(static_cast<int>(shared.size));
}

void Barriers::call_in(const char* nspace) {
    if (const auto found = shared_.find(nspace); found != shared_.end()) call_in(found->second);
}

void Barriers::call_in_all() {
    for (auto& [name, shared] : shared_)
        call_in(shared);
}

void Barriers::joined(const Collective& fence) {
    if (const char* nspace = whole_job(fence)) call_in(nspace);
}

void Barriers::ended(const Collective& fence, const Outcome& outcome) {
    const char* nspace = whole_job(fence);
    if (nspace == nullptr || outcome.status != PMIX_SUCCESS) return;
    const auto found = shared_.find(nspace);
    if (found == shared_.end() || !found->second.memory) return;
    // All are here, and none is in memory: the only moment when the next one can be begun there.
    Shared& shared = found->second;
    const std::vector<Arrival>& all = fence.arrivals();
    if (shared.open || all.size() != shared.size) return;
    if (!std::all_of(all.begin(), all.end(), [](const Arrival& one) { return one.maps_barrier; })) return;
    // Some may have called the next one here already.
    for (const auto& other : server_.collectives().active()) {
        if (other->kind() == CollectiveKind::Fence && same_procs(other->participants(), fence.participants()))
            return;
    }
    shared.memory->open();
    shared.open = true;
}

void Barriers::registered(const char* name) {
    const auto found = shared_.find(name);
    if (found == shared_.end()) return;
    const Namespace* nspace = server_.namespaces().find(name);
    if (nspace != nullptr && size_of(*nspace) == found->second.size) return;
    // Processes count on the size that it had.
    call_in(found->second);
    found->second.memory.reset();
}

void Barriers::deregistered(const char* nspace) {
    call_in(nspace);
    shared_.erase(nspace);
}

}  // namespace muster
