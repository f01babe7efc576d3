// SPDX-License-Identifier: BSD-3-Clause
// gds: the data store. Keeps job-level data (sessions, jobs, applications, nodes, processes) and what
// processes posted, and answers lookups on any thread without the progress thread. Callers must not assume
// the location of a value: a visitor accesses values while the store holds them, and derived values (node of
// a rank, local rank, peers) is computed from the maps, not stored per rank. C++ interface, locked to this
// version of the library.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"
#include "framework/base/value.hpp"
#include "framework/packer.hpp"

namespace muster {

class JobMap;
class Preg;

/// One question to the store.
struct Lookup {
    /// The realm of information. Auto follows the Standard's rules for reserved keys: the realm
    /// that the key belongs to, of the process that is named; other keys are the process's own posted data.
    enum class Realm : uint8_t { Auto, Session, Job, App, Node, Proc };

    const char* nspace = nullptr;
    pmix_rank_t rank = PMIX_RANK_UNDEF;  ///< WILDCARD: job level
    const char* key = nullptr;           ///< nullptr: everything that is known of (nspace, rank)
    Realm realm = Realm::Auto;
    std::optional<uint32_t> session_id;  ///< Realm::Session
    std::optional<uint32_t> appnum;      ///< Realm::App; nothing: of `rank`, else 0
    std::optional<uint32_t> nodeid;  ///< Realm::Node; nothing: hostname, else of `rank`, else our own node
    const char* hostname = nullptr;  ///< Realm::Node
    pmix_scope_t scope = PMIX_SCOPE_UNDEF;  ///< posted data only of this scope; UNDEF: any
    InfoView qualifiers;                    ///< entries that must match those the value was put with
    bool pin = false;  ///< also keep derived values, so that they are `stable` (PMIX_GET_POINTER_VALUES)
};

/// A value that was found. `stable`: it keeps its address until its namespace is deregistered or the key is
/// posted again or removed, so that a pointer to it may be returned (PMIX_GET_POINTER_VALUES); otherwise it
/// is invalid after the visit.
struct Found {
    const char* key;
    const pmix_value_t& value;
    bool stable;
    Value* copy = nullptr;  ///< if not null, owner of `value`, which the visitor may move from
};
using Visitor = std::function<void(const Found&)>;

/// Scopes of what one process posted, as a peer may see it.
enum class View : uint8_t {
    Local,   ///< peers on the same node: LOCAL and GLOBAL
    Remote,  ///< peers on other nodes: REMOTE and GLOBAL
    All
};

/// The location of this process; given once after creation.
struct StoreContext {
    std::string hostname;
    std::vector<std::string> aliases;  ///< other names of this node
    std::optional<uint32_t> nodeid;
    std::vector<Preg*> pregs;  ///< forms of maps that can be read (Registry::pregs()); outlive the store
    WireFormat format;         ///< in which values are kept that have parts of their own; may be empty
};

/// One value of a job for a client of this node. `of`: application number, index of the node in
/// the job's map, or rank; 0 for sessions and jobs.
struct JobFact {
    Lookup::Realm realm;
    uint32_t of;
    const char* key;
    const pmix_value_t& value;
    /// From register_resources or a session that other jobs share, and removed when that is deregistered.
    bool resource = false;
};
using JobFactVisitor = std::function<void(const JobFact&)>;

/// The data that a process needs to attach a segment.
struct SegmentOffer {
    pmix_proc_t self{};          ///< the process; the segment must be its namespace's
    std::optional<uid_t> owner;  ///< the required owner of the segment: the server's user
    UniqueFd fd;
};

class Gds {
  public:
    virtual ~Gds() = default;
    /// Name in the handshake: "hash", "shmem".
    virtual const char* name() const = 0;
    virtual void set_context(StoreContext context) = 0;

    // --- filling; one thread at a time (the loop), readers continue meanwhile ---

    /// The data of a job as the host registers it (PMIx_server_register_nspace): job-level keys, node and
    /// proc maps in any regex form, session, node, app and proc arrays. Called again for a known job it adds
    /// and replaces; with `nlocalprocs` -1 that number stays as it is. A map counts more than a size that is
    /// less. On failure nothing has changed; the error names the attribute.
    virtual Result<void> register_job(const char* nspace, int32_t nlocalprocs, InfoView info) = 0;
    /// Session-level data that belongs to no job (PMIx_server_register_resources).
    virtual Result<void> register_resources(InfoView info) = 0;
    /// Removes it again (PMIx_server_deregister_resources). Returns whether anything was removed.
    virtual bool deregister_resources(InfoView info) = 0;
    /// Client: drops its copies of deregistered data; the server is asked for the rest.
    virtual void forget_resources(InfoView info) = 0;
    /// A session, with the host's data about it and its nodes (PMIx_server_register_session). No effect if
    /// the session is known, also from a job's data.
    virtual Result<void> register_session(uint32_t id, InfoView info) = 0;
    /// Forgets the data of a session; its jobs stay.
    virtual void deregister_session(uint32_t id) = 0;
    /// Posts or replaces one value of a process. Rank WILDCARD: job level, any attribute of register_job.
    /// Qualified values (PMIX_QUALIFIED_VALUE) are kept separately from the unqualified. LOCAL and REMOTE
    /// values of one key are kept apart, GLOBAL (and UNDEF) counts as both, INTERNAL as neither.
    virtual pmix_status_t post(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                               const pmix_value_t& value) = 0;
    /// Removes a key that a process posted, with its qualified values, for the readers that `scope` names
    /// (PMIX_DEL_LOCAL and so on). Rank WILDCARD: the job-level value. Returns whether there was anything.
    virtual bool remove(const pmix_proc_t& proc, pmix_scope_t scope, const char* key) = 0;
    /// Forgets a job with all its processes posted.
    virtual void deregister(const char* nspace) = 0;
    /// Removes the data of one process (a new copy follows).
    virtual void forget(const pmix_proc_t& proc) = 0;

    // --- reading; any thread ---

    /// Visits the value (all values for a NULL key). PMIX_SUCCESS when at least one was visited,
    /// PMIX_ERR_NOT_FOUND, PMIX_ERR_INVALID_NAMESPACE for a namespace that is unknown here,
    /// PMIX_ERR_EXISTS_OUTSIDE_SCOPE when it was posted, but not in the scope that was asked for.
    /// The visitor must not call the store.
    virtual pmix_status_t find(const Lookup& lookup, const Visitor& visit) const = 0;
    /// Visits the values that a process posted, visible from `view`. NOT_FOUND if it has posted nothing
    /// (yet).
    virtual pmix_status_t find_posted(const pmix_proc_t& proc, View view, const Visitor& visit) const = 0;

    virtual bool knows(const char* nspace) const = 0;
    virtual std::optional<uint32_t> job_size(const char* nspace) const = 0;
    /// Node of a rank as an index into the job's node list; nothing if no map has it.
    virtual std::optional<uint32_t> node_of(const char* nspace, pmix_rank_t rank) const = 0;
    /// Ranks of the job on this node (from the map), in order.
    virtual std::vector<pmix_rank_t> local_ranks(const char* nspace) const = 0;
    /// Processes of `nspace` (nullptr: of all known jobs) on `node` (name or alias; nullptr: on all nodes).
    /// PMIX_ERR_NOT_FOUND when the node is unknown; an empty list when it has none.
    virtual pmix_status_t peers_on(const char* node, const char* nspace,
                                   std::vector<pmix_proc_t>& out) const = 0;
    /// Appends the names of the nodes of `nspace` (nullptr: of all known jobs), without repetition, to a list
    /// with commas.
    virtual pmix_status_t node_list_of(const char* nspace, std::string& list) const = 0;
    virtual std::vector<std::string> namespaces() const = 0;

    // --- job data between server and client; loop ---

    /// Server: the body of the reply to a client's request for job data, after the namespace
    /// (docs/reference/wire.md 7.1). `compact`: the client is also Muster, and gets the maps instead of a
    /// blob for each rank.
    virtual pmix_status_t pack_job(const char* nspace, Packer& out, bool compact) const = 0;
    /// Client: stores such a body. The error gives the reason of a refusal.
    virtual Result<void> unpack_job(const char* nspace, Unpacker& in) = 0;

    // --- sharing with the processes of this node (docs/explanation/store.md); loop, or before it runs ---

    /// Name of the store behind this one, which keeps the data that this one does not. Empty for none.
    virtual const char* behind() const { return ""; }
    /// Gives that store, before anything else is called; it outlives this one.
    virtual void stand_before(Gds& /*other*/) {}
    /// The name of the shared form in the handshake: both sides must use the same. Empty if nothing is
    /// shared.
    virtual std::string shared_form() const { return {}; }
    /// Server: the descriptor that clients of this namespace map; owned by the store. PMIX_ERR_NOT_SUPPORTED
    /// if nothing is shared, PMIX_ERR_NOT_FOUND for a namespace that is not registered; any other error means
    /// that job data must be sent to clients.
    virtual Result<int> share(const char* /*nspace*/) {
        return Error{PMIX_ERR_NOT_SUPPORTED, "this store shares nothing"};
    }
    /// Client: maps it. After an error nothing has changed, and the server must be asked.
    virtual Result<void> attach(SegmentOffer /*offer*/) {
        return Error{PMIX_ERR_NOT_SUPPORTED, "this store shares nothing"};
    }
    /// Server: a value that a process of another node posted, which all processes of this node may see.
    virtual pmix_status_t post_remote(const pmix_proc_t& proc, const char* key, const pmix_value_t& value) {
        return post(proc, PMIX_REMOTE, key, value);
    }
    /// Server: visits the data that local clients get about a job, except values derived from its map; the
    /// map is passed to `with_map` first. PMIX_ERR_INVALID_NAMESPACE, PMIX_ERR_NOT_SUPPORTED. The visitors
    /// must not call the store.
    virtual pmix_status_t describe_job(
        const char* /*nspace*/, const std::function<void(const JobMap&, uint32_t own_node)>& /*with_map*/,
        const JobFactVisitor& /*visit*/) const {
        return PMIX_ERR_NOT_SUPPORTED;
    }
};

}  // namespace muster
