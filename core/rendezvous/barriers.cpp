// SPDX-License-Identifier: BSD-3-Clause
// When the barrier of a job is made, opened and shut: see barriers.hpp.
#include "core/rendezvous/barriers.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <vector>

#include "core/exchange/namespaces.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {
namespace {

/// Fences of a whole job are those over its WILDCARD rank; one that names all ranks is another fence.
const char* whole_job(const Collective& fence) {
    const std::vector<pmix_proc_t>& participants = fence.participants();
    if (participants.size() != 1 || participants.front().rank != PMIX_RANK_WILDCARD) return nullptr;
    return participants.front().nspace;
}

}  // namespace

uint32_t Barriers::size_of(const Namespace& nspace) const {
    if (!nspace.registered || nspace.synthetic) return 0;
    const auto size = runtime_.store().job_size(nspace.name.c_str());
    return size && *size > 1 && *size == nspace.local_count() ? *size : 0;
}

int Barriers::offer(const Namespace& nspace) {
    if (!runtime_.parameters().boolean("pmix_shared_barrier")) return -1;
    const auto found = shared_.find(nspace.name);
    if (found != shared_.end()) return found->second.memory ? found->second.memory->descriptor() : -1;
    const uint32_t size = size_of(nspace);
    if (size == 0) return -1;
    Shared& shared = shared_[nspace.name];
    auto memory = BarrierMemory::create("pmix:barrier:" + nspace.name);
    if (!memory) {
        MUSTER_LOG(runtime_.log(), Error,
                   "namespace %s has no barrier in memory (%s); its fences go by this server",
                   nspace.name.c_str(), memory.error().text.c_str());
        return -1;
    }
    shared.memory = std::move(*memory);
    shared.size = size;
    // Nobody has it yet. Who will not map it comes to us, and with that shuts it. For one that has gone
    // already nobody is to wait.
    const bool all_to_come =
        nspace.removed.empty() && std::none_of(nspace.clients.begin(), nspace.clients.end(),
                                               [](const auto& one) { return one.second.lost; });
    if (all_to_come && !called_at_server(nspace.name.c_str())) open(shared);
    return shared.memory->descriptor();
}

void Barriers::open(Shared& shared) {
    shared.memory->open();
    shared.open = true;
}

void Barriers::call_in(Shared& shared) {
    shared.arrived = false;
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
    if (called_at_server(nspace)) return;
    open(shared);
}

/// Whether a fence over this job is with us.
bool Barriers::called_at_server(const char* nspace) const {
    const auto& active = collectives_.active();
    return std::any_of(active.begin(), active.end(), [nspace](const auto& one) {
        if (one->kind() != CollectiveKind::Fence) return false;
        const char* job = whole_job(*one);
        return job != nullptr && nspace_is(job, nspace);
    });
}

void Barriers::all_arrived(const char* nspace) {
    const auto found = shared_.find(nspace);
    if (found == shared_.end() || !found->second.open) return;  // then they are to ask, or do already
    found->second.arrived = true;
    if (std::exchange(releases_, true)) return;
    try {
        // Not from here: the channel of whoever told us is at work.
        runtime_.loop().at_turn_end([this] { release_arrived(); });
    } catch (const std::bad_alloc&) {
        releases_ = false;
        call_in(found->second);
    }
}

void Barriers::release_arrived() {
    releases_ = false;
    try {
        std::vector<std::string> names;
        for (const auto& [name, shared] : shared_) {
            if (shared.arrived) names.push_back(name);
        }
        for (const std::string& name : names) {
            const bool taken = take_what_was_sent(name);
            const auto found = shared_.find(name);
            if (found == shared_.end() || !std::exchange(found->second.arrived, false)) continue;
            if (taken) {
                found->second.memory->release(static_cast<int>(found->second.size));
            } else {
                call_in(found->second);
            }
        }
    } catch (const std::bad_alloc&) {
        for (auto& [name, shared] : shared_) {
            if (shared.arrived) call_in(shared);
        }
    }
}

/// What the processes had sent before they arrived has come in on their sockets: all of it is read. False
/// where that is not possible now.
bool Barriers::take_what_was_sent(const std::string& name) {
    const Namespace* nspace = namespaces_.find(name.c_str());
    if (nspace == nullptr) return false;
    std::vector<PeerPtr> peers;
    for (const auto& [rank, client] : nspace->clients) {
        if (client.peer) peers.push_back(client.peer);
    }
    // Mostly there is little left, and to look into each socket would be a call for each.
    std::vector<pollfd> sockets;
    for (const PeerPtr& peer : peers)
        sockets.push_back({peer->channel ? peer->channel->fd() : -1, POLLIN, 0});
    const bool known = poll(sockets.data(), sockets.size(), 0) >= 0;
    for (size_t i = 0; i < peers.size(); ++i) {
        Channel* channel = peers[i]->channel.get();
        if (channel == nullptr || (known && sockets[i].revents == 0 && !channel->holds_back())) continue;
        if (!channel->read_now()) return false;
    }
    return true;
}

void Barriers::registered(const char* name) {
    const auto found = shared_.find(name);
    if (found == shared_.end()) return;
    const Namespace* nspace = namespaces_.find(name);
    if (nspace != nullptr && size_of(*nspace) == found->second.size) return;
    // Processes count on the size that it had.
    call_in(found->second);
    found->second.memory.reset();
}

void Barriers::deregistered(const char* nspace) {
    const auto found = shared_.find(nspace);
    if (found == shared_.end()) return;
    if (found->second.open) found->second.memory->end(static_cast<int>(found->second.size));
    shared_.erase(found);
}

}  // namespace muster
