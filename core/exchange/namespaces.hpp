// SPDX-License-Identifier: BSD-3-Clause
// The namespaces that the host has registered, and the clients of each on this node. Belongs to the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/exchange/peer.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class Gds;

/// Users with access to all namespaces: root, and the server's own.
bool is_master(uint32_t uid);

/// Memory of the committed data of a process, in bytes.
struct Committed {
    size_t found = 0;       ///< when it was last looked through
    size_t since = 0;       ///< later data; some of it replaces earlier data
    bool refusing = false;  ///< its lack of space was logged
};

/// One process of this node, as the host registered it.
struct LocalClient {
    pmix_proc_t proc{};
    uint32_t uid = 0;
    uint32_t gid = 0;
    void* server_object = nullptr;  ///< the host's, handed back in upcalls
    PeerPtr peer;                   ///< its first connection; null while there is none
    std::vector<PeerPtr> clones;    ///< further connections (children that share its identity)
    uint64_t commits = 0;           ///< how often it has committed
    Committed committed;
    TextSet deleted;         ///< keys that processes of other nodes must not find any more
    bool connected = false;  ///< it has connected at least once
    bool finalized = false;  ///< it has finalized
    bool lost = false;       ///< its connection broke without finalize
    bool gone() const { return finalized || lost; }
};

struct Namespace {
    std::string name;
    uint64_t number = 0;                   ///< in the order of arrival
    int32_t nlocal = -1;                   ///< processes on this node as registered; -1 while not registered
    bool registered = false;               ///< register_nspace was called
    pmix_status_t refused = PMIX_SUCCESS;  ///< and failed; do not wait for it
    bool described = false;                ///< its data have been completed (NodeDescription)
    bool synthetic = false;                ///< of a singleton or a tool, and removed with it
    std::map<pmix_rank_t, LocalClient> clients;
    std::set<pmix_rank_t> removed;               ///< deregistered clients: no operation waits for them
    std::set<pmix_rank_t> removed_in_order;      ///< those of them that had finalized
    std::vector<pmix_rank_t> mapped_ranks;       ///< ranks of this node by the job's map, sorted
    std::vector<std::function<void()>> waiting;  ///< run once the namespace is registered
    /// Replies to the request for job data, one for each form.
    struct PackedJob {
        WireFormat format;
        bool compact;
        SharedBytes reply;
    };
    std::vector<PackedJob> packed_job;

    LocalClient* client(pmix_rank_t rank) {
        const auto found = clients.find(rank);
        return found == clients.end() ? nullptr : &found->second;
    }
    bool is_local(pmix_rank_t rank) const;
    /// Whether each process of this node is known by its rank, be it by the map or as a client; until then
    /// a rank that is not local may still become so.
    bool knows_local_ranks() const;
    /// How many processes of this node there are, as far as it is known.
    size_t local_count() const;
    /// Their ranks; may be short of local_count() while clients are still being registered.
    std::vector<pmix_rank_t> local_ranks() const;
};

class Namespaces {
  public:
    Namespace* find(const char* name);
    Namespace& get_or_add(const char* name);
    void remove(const char* name);
    LocalClient* client(const pmix_proc_t& proc);
    /// Whether it is a client of this node that has not ended.
    bool is_alive(const pmix_proc_t& proc);
    /// Whether the process runs on this node (registered, or mapped here).
    bool is_local(const pmix_proc_t& proc);
    /// The user of a process, or of its job if the process is not registered here. Nothing for processes of
    /// other nodes: only the host knows the owner.
    std::optional<uint32_t> owner_of(const pmix_proc_t& proc);
    /// Whether processes of this user may access data of `proc`: it belongs to the same user or an unknown
    /// owner; root and the server's own user have access to all.
    bool may_use(uint32_t uid, const pmix_proc_t& proc);
    /// The same for an object of several processes, such as a group: true for the owner of one of them, or if
    /// no owner is known.
    bool may_see(uint32_t uid, const std::vector<pmix_proc_t>& procs);
    /// The number of the newest.
    uint64_t newest() const { return newest_; }
    auto begin() { return by_name_.begin(); }
    auto end() { return by_name_.end(); }

  private:
    TextMap<std::unique_ptr<Namespace>> by_name_;
    uint64_t newest_ = 0;
};

class Namespaces;
class Runtime;

/// The name of a registered namespace and its job data in the form of `peer`, cached for all peers with the
/// same form. Null if the namespace is unknown or cannot be packed; the log has the reason of the latter. On
/// the loop.
SharedBytes packed_job_info(Runtime& runtime, Namespaces& namespaces, const char* nspace, const Peer& peer);

}  // namespace muster
