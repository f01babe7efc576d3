// SPDX-License-Identifier: BSD-3-Clause
// Queries in turns: see query_turns.hpp.
#include "core/query/query_turns.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "core/query/query_server.hpp"

namespace muster {
namespace {

/// Processing time of a query before others are served.
constexpr std::chrono::milliseconds kTurnTime{5};

size_t memory_of(InfoView answers) {
    size_t memory = 0;
    for (const pmix_info_t& one : answers) {
        size_t value = 0;
        memory += sizeof one;
        if (value_size(&one.value, &value) == PMIX_SUCCESS) memory += value;
    }
    return memory;
}

}  // namespace

QueryTurns::QueryTurns(QueryServer& server, const Caller& caller, std::optional<Asker> asker)
    : server_(server),
      caller_(caller),
      asker_(std::move(asker)),
      left_(proc_is(caller.proc, server.runtime().self())
                ? SIZE_MAX
                : server.runtime().parameters().size("server_base_max_request_memory")) {}

void QueryTurns::begin() {
    until_ = std::chrono::steady_clock::now() + kTurnTime;
}

bool QueryTurns::is_over() const {
    return asker_ && std::chrono::steady_clock::now() >= until_;
}

bool QueryTurns::has_gone() const {
    if (!asker_) return false;
    const PeerPtr peer = asker_->lock();
    if (!peer || !peer->channel || !peer->channel->is_open()) return true;
    // A paused channel does not report the end of its peer.
    pollfd one{peer->channel->fd(), POLLRDHUP, 0};
    return paused_ && poll(&one, 1, 0) > 0;
}

bool QueryTurns::later(std::function<void()> next) {
    const PeerPtr peer = asker_ ? asker_->lock() : nullptr;
    if (peer && !std::exchange(paused_, true)) peer->pause(Peer::Pause::Query, true);
    if (!peer || has_gone()) {
        end();
        return false;
    }
    // One at a time: further queries of this peer wait.
    server_.runtime().loop().post([ref = PeerRef(peer), next = std::move(next)] {
        if (ref.lock()) next();
    });
    return true;
}

void QueryTurns::end() {
    if (!std::exchange(paused_, false)) return;
    if (const PeerPtr peer = asker_->lock()) peer->pause(Peer::Pause::Query, false);
}

void QueryTurns::count(InfoView found) {
    const size_t memory = memory_of(found);
    too_much_ = too_much_ || memory > left_;
    left_ -= std::min(memory, left_);
    // It may wait for the host with this, and others of the same process likewise.
    if (asker_) too_much_ = !asker_->keeps(memory) || too_much_;
}

bool QueryTurns::is_too_much() const {
    return too_much_;
}

void QueryTurns::refuse(const HostDone& done) const {
    MUSTER_LOG(server_.log(), Error,
               "the answer to a query of %s would take too much memory: it is refused "
               "(server_base_max_request_memory)",
               proc_text(caller_.proc).c_str());
    done(answer_of(PMIX_ERR_OUT_OF_RESOURCE));
}

}  // namespace muster
