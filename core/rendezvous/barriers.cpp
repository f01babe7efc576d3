// SPDX-License-Identifier: BSD-3-Clause
// When the barrier of a job is made, opened and shut: see barriers.hpp.
#include "core/rendezvous/barriers.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <vector>

#include "core/exchange/namespaces.hpp"
#include "core/rendezvous/fence.hpp"
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

int Barriers::offer(const Namespace& nspace) {
    bool made = false;
    Shared* const shared = RendezvousPages::offer(nspace, made);
    if (shared == nullptr) return -1;
    // No process has a new page yet. A process that does not map it calls the server, which shuts the gate. A
    // barrier must not wait for a departed process.
    const bool all_to_come =
        nspace.removed.empty() &&
        std::ranges::none_of(nspace.clients, [](const auto& one) { return one.second.lost; });
    if (made && all_to_come && !called_at_server(nspace.name.c_str())) open(*shared);
    return shared->page->descriptor();
}

void Barriers::joined(const Collective& fence) {
    if (const char* nspace = whole_job(fence)) call_in(nspace);
}

void Barriers::ended(const Collective& fence, const Outcome& outcome) {
    const char* nspace = whole_job(fence);
    if (nspace == nullptr || outcome.status != PMIX_SUCCESS) return;
    Shared* const shared = find(nspace);
    if (shared == nullptr) return;
    // All have called the server, and none is in the page: the only moment when the next one can begin there.
    const std::vector<Arrival>& all = fence.arrivals();
    if (shared->open || all.size() != shared->size) return;
    if (!std::ranges::all_of(
            all, [](const Arrival& one) { return static_cast<const FenceCall&>(*one.data).maps_barrier; }))
        return;
    // Some may have called the next one here already.
    if (called_at_server(nspace)) return;
    open(*shared);
}

/// Whether a fence over this job is with us.
bool Barriers::called_at_server(const char* nspace) const {
    const auto& active = collectives_.active();
    return std::ranges::any_of(active, [nspace](const auto& one) {
        if (one->kind() != CollectiveKind::Fence) return false;
        const char* job = whole_job(*one);
        return job != nullptr && nspace_is(job, nspace);
    });
}

void Barriers::all_arrived(const char* nspace) {
    Shared* const shared = find(nspace);
    if (shared == nullptr || !shared->open) return;  // then they must ask, or already do
    try {
        arrived_[nspace] = shared->openings;
        if (releases_) return;
        // Not from here: the channel that has brought the message is at work.
        runtime().loop().at_turn_end([this] { release_arrived(); });
        releases_ = true;
    } catch (const std::bad_alloc&) {
        call_in(*shared);
    }
}

void Barriers::release_arrived() {
    releases_ = false;
    for (const auto& [name, opening] : std::exchange(arrived_, {})) {
        bool taken = false;
        try {
            taken = take_what_was_sent(name);
        } catch (const std::bad_alloc&) {  // they ask
        }
        // Reading may have shut it, or ended the namespace.
        Shared* const shared = find(name.c_str());
        if (shared == nullptr || !shared->open || shared->openings != opening) continue;
        if (taken)
            shared->page->release(static_cast<int>(shared->size));
        else
            call_in(*shared);
    }
}

/// Reads all messages that the processes sent before they arrived. False if that is not possible now.
bool Barriers::take_what_was_sent(const std::string& name) {
    const Namespace* nspace = namespaces().find(name.c_str());
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

}  // namespace muster
