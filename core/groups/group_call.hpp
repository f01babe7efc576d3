// SPDX-License-Identifier: BSD-3-Clause
// The server's state of the calls that construct and destruct a group, and of their outcome.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/collective/collectives.hpp"

namespace muster {

/// A packed reply, and the peers for which it serves.
struct PackedReply {
    WireFormat format;
    PeerVersion version;
    std::string nspace;
    SharedBytes bytes;
    bool short_form = false;  ///< groups: without the members

    bool serves(const Peer& peer, bool wants_short = false) const {
        return short_form == wants_short && format.bfrops == peer.format.bfrops &&
               format.buffer_type == peer.format.buffer_type &&
               version.capabilities == peer.version.capabilities && version.major == peer.version.major &&
               version.minor == peer.version.minor && version.release == peer.version.release &&
               nspace == nspace_view(peer.proc.nspace);
    }
};

/// The members of a group as a participant named them.
struct MemberList {
    std::vector<pmix_proc_t> order;  ///< in the order of their ranks, as it sees them
    /// Whether it sent just this list: each process once, by its own name, and no other order.
    bool as_sent = false;
    Bytes packed;        ///< the sent bytes
    WireFormat format;   ///< and in which form
    std::string nspace;  ///< whose ranks it sent; empty: it named each process
};
using MemberListPtr = std::shared_ptr<const MemberList>;

/// A participant's call. In a construct `members` is never null, and most participants share one list.
struct GroupCall : ArrivalData {
    MemberListPtr members;
    bool maps_meeting = false;  ///< it could have used its job's meeting in memory
    bool met = false;           ///< it did, and one process sends the request for all that have arrived
    PeerRef asker;
};
/// The call that an arrival at one of the two collectives is.
inline const GroupCall& group_call(const Arrival& arrival) {
    return static_cast<const GroupCall&>(*arrival.data);
}

struct GroupOutcome : OutcomeData {
    MemberListPtr members;              ///< the reply omits the list for a participant that named it
    std::optional<PackedReply> packed;  ///< the last reply that was packed
};
/// The operation's part of an outcome, created if absent.
inline GroupOutcome& group_outcome(const Outcome& outcome) {
    if (!outcome.data) outcome.data = std::make_shared<GroupOutcome>();
    return static_cast<GroupOutcome&>(*outcome.data);
}

}  // namespace muster
