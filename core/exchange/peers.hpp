// SPDX-License-Identifier: BSD-3-Clause
// The processes that are connected to this server. Belongs to the loop, except where noted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exchange/peer.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

class Peers {
  public:
    /// All connected peers, in no order.
    const std::vector<PeerPtr>& all() const { return all_; }
    size_t size() const { return all_.size(); }

    /// `usual`: the encoding of peers that ask for nothing else.
    void add(const PeerPtr& peer, const WireFormat& usual);
    void remove(const PeerPtr& peer);
    /// Forgets the protocol of the process.
    void forget_format(const pmix_proc_t& proc);

    /// The encoding that a connected process has asked for; nothing if it is the usual one. Any thread.
    std::optional<WireFormat> format_of(const pmix_proc_t& proc) const;
    /// The URI of the server of a connected tool; "" if there is none. PMIX_RANK_WILDCARD: any rank.
    std::string uri_of(const pmix_proc_t& proc) const;

    /// Number of the next peer.
    uint32_t next_index() { return next_index_++; }

    /// Calls `listener` when a process has connected.
    void on_arrival(std::function<void(const PeerPtr&)> listener) {
        arrival_listeners_.push_back(std::move(listener));
    }
    void arrived(const PeerPtr& peer) const {
        for (const auto& listener : arrival_listeners_)
            listener(peer);
    }

  private:
    std::vector<PeerPtr> all_;
    uint32_t next_index_ = 1;
    std::vector<std::function<void(const PeerPtr&)>> arrival_listeners_;
    mutable Mutex formats_lock_;
    std::unordered_map<Proc, WireFormat> formats_
        MUSTER_GUARDED_BY(formats_lock_);  ///< of peers with another than the usual
};

}  // namespace muster
