// SPDX-License-Identifier: BSD-3-Clause
// The server's part in the exchange of posted data: commits of its clients, requests for the data of
// any process (answered from the store, by waiting for a local process, or by direct modex through the host),
// and the host's requests for the data of local processes. Belongs to the loop.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/modex/contribution.hpp"
#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/loop.hpp"
#include "framework/base/proc.hpp"
#include "framework/packer.hpp"
#include "framework/parameters.hpp"

namespace muster {

class CommandTable;
class Exchange;
class Host;
class Namespaces;
class Peer;
class Peers;
struct Caller;
struct GetDirectives;
struct LocalClient;

/// A request for data of `target`.
struct GetRequest {
    pmix_proc_t requester{};
    std::weak_ptr<Peer> asker;  ///< the connection of the request; none for the host's
    pmix_proc_t target{};
    std::optional<std::string> key;  ///< nothing: all that is known of the target
    Info info;                       ///< directives, as the requester gave them
    WireFormat format;               ///< in which the answer is packed
    /// When the requester's time limit expires; set when it first waits.
    std::optional<std::chrono::steady_clock::time_point> deadline;
};

/// Adds one BYTE_OBJECT of a reply to GET: the process, then its values.
void pack_object(Packer& out, const pmix_proc_t& proc, const Packer& values);

class Modex {
  public:
    /// `blob`: the items after the status of a reply to GET, if the status is PMIX_SUCCESS.
    using OnGet = std::function<void(pmix_status_t status, Bytes blob)>;
    /// `blob`: the target's values, as the host carries them to another server.
    using OnRequested = std::function<void(pmix_status_t status, Bytes blob)>;

    /// Values that other services hold and a process may get.
    struct Sources {
        /// The names of the process sets that a process is in (PMIX_PSET_NAMES); an undefined value for none.
        std::function<Value(const pmix_proc_t& proc)> process_sets;
        /// The names of the groups that a process is in, as this server and its host know them.
        std::function<void(const Caller& caller, const pmix_proc_t& proc, InfoView directives,
                           std::function<void(const std::vector<std::string>& names)> done)>
            group_names;
        /// Answers a request for the description of this node. False, with nothing done, for other requests.
        std::function<bool(const GetRequest& request, OnGet& done)> describe_node;
    };

    Modex(Exchange& exchange, Host& host, Namespaces& namespaces, const Peers& peers, Sources sources);
    ~Modex();

    /// Stores the body of a commit of a local process. PMIX_ERR_OUT_OF_RESOURCE if its posted data exceed
    /// the limit (server_base_max_committed): earlier values are kept, the rest is not.
    pmix_status_t commit(const pmix_proc_t& proc, Unpacker& body);
    /// Counts other stored data of a local process, that many times, together with its commits. False: the
    /// limit is reached.
    bool charge(const pmix_proc_t& proc, InfoView values, size_t times);
    /// Such values have been stored: answers the requests that wait for them.
    void told(const pmix_proc_t& proc, InfoView values);
    void get(GetRequest request, OnGet done);
    /// The host requests the data of a local process for another server.
    void requested(const pmix_proc_t& proc, OnRequested done);

    /// Returns the contribution of these local processes to a fence; never empty, even if no data is
    /// collected. `participants`: all of the fence. Servers of OpenPMIx 4.2 and 5.0 need another form than
    /// later ones (contribution.hpp, docs/decisions/0044); without participants it is the newer one.
    Bytes contribution(const std::vector<pmix_proc_t>& local, bool collected = true,
                       const std::vector<pmix_proc_t>& participants = {});
    /// Stores the contributions of the servers of a fence, in either form. The error gives the reason;
    /// earlier values are kept.
    pmix_status_t accept_contributions(ByteView data, const std::vector<pmix_proc_t>& participants = {});

    /// Whether a process of this user may get this server's copy of data posted by `target`: not if only the
    /// host knows the owner, and has released the data only to other users.
    bool may_give(const pmix_proc_t& requester, uint32_t uid, const pmix_proc_t& target) const;

    /// The names of the process sets that a process is in; an undefined value for none.
    Value names_of_sets(const pmix_proc_t& proc) const { return sources_.process_sets(proc); }

    /// The host has deregistered resources: processes of this node drop their copies of them.
    void tell_deregistered(InfoView info);

    /// Requests of local processes that wait for data.
    void for_each_waiting(const std::function<void(const GetRequest&)>& visit) const;

    /// A namespace was registered; a process has ended; a namespace is removed: answers waiting requests.
    void registered(const char* nspace);
    void departed(const pmix_proc_t& proc);
    /// A connection has ended: the answers to its requests are dropped.
    void forget(const std::shared_ptr<Peer>& peer);
    void deregistered(const char* nspace);
    /// The server ends: waiting and later requests are answered with PMIX_ERR_LOST_CONNECTION.
    void close();

  private:
    struct Waiting;
    using WaitingList = std::list<std::unique_ptr<Waiting>>;
    struct Waiting {
        GetRequest request;
        OnGet done;
        std::unique_ptr<Watch> time_limit;
        WaitingList::iterator place{};  ///< it moves with it from list to list
        bool asked = false;             ///< the host was asked, for its user, after this request came
        bool patient = false;  ///< the requester gave a time limit: until then missing data may still arrive
    };
    /// Repeats a request to the host whose answer lacked a key, for a requester that still waits.
    struct Again {
        std::chrono::milliseconds pause;
        std::unique_ptr<Watch> timer;
    };

    ContributionForm form_for(const std::vector<pmix_proc_t>& participants, bool collected) const;
    /// Keys that a commit has brought, where processes of this node may see them.
    using Fresh = TextSet;
    pmix_status_t take_in(LocalClient* client, const pmix_proc_t& proc, Unpacker& body, Fresh* fresh);
    pmix_status_t take_deletion(LocalClient* client, const pmix_proc_t& proc, pmix_scope_t scope,
                                const std::string& key);
    /// Processes of this node that may have a copy of the value drop it.
    void tell_deleted(const pmix_proc_t& proc, pmix_scope_t scope, const std::string& key);
    bool has_room(LocalClient& client, size_t more);
    void get_value(GetRequest request, const GetDirectives& directives, OnGet done);
    /// PMIX_GROUP_NAMES: the host may know more than this server.
    void get_group_names(GetRequest request, const GetDirectives& directives, OnGet done);
    std::optional<Bytes> try_answer(const GetRequest& request);
    std::optional<Bytes> job_level_answer(const GetRequest& request);
    void wait(GetRequest request, OnGet done, bool bounded);
    uint32_t user_of(const GetRequest& request) const;
    void ask_host(const pmix_proc_t& target);
    void host_answered(const pmix_proc_t& target, pmix_status_t status, ByteView data);
    void ask_again_later(const pmix_proc_t& target);
    void drop_withdrawn(const pmix_proc_t& target, const TextSet& given);
    void keep_foreign(const Proc& target);
    /// `fresh`: the new data, if known; null: any.
    void retry(const Proc& target, bool final_answer, const Fresh* fresh = nullptr);
    using Concerned = std::function<bool(const Proc&)>;
    WaitingList take_waiting(const Concerned& concerned);
    std::vector<std::pair<Proc, OnRequested>> take_requested(const Concerned& concerned);
    void request_again(const Concerned& concerned);
    void end_all(const Concerned& concerned, pmix_status_t verdict);
    void bound(Waiting& waiting);
    void arm(Waiting& waiting, std::chrono::milliseconds limit, pmix_status_t verdict);

    Exchange& exchange_;
    Host& host_;
    Namespaces& namespaces_;
    const Peers& peers_;
    const Sources sources_;
    const size_t most_committed_;  ///< bytes of a process
    const size_t most_at_once_;    ///< bytes of a commit, once its values are as they were before compression
    const std::optional<ContributionForm> form_;  ///< of all contributions, if a parameter sets it
    TextMap<ContributorsSeen> contributors_;      ///< by namespace that took part in a fence with them
    bool closed_ = false;
    std::unordered_map<Proc, WaitingList> waiting_;
    std::unordered_map<Proc, uint32_t> in_flight_;           ///< direct modex under way, and for which user
    std::unordered_map<Proc, std::set<uint32_t>> given_to_;  ///< users that got data from the host
    /// The processes of unregistered jobs of which the host gave data, oldest first. The list is bounded,
    /// because no deregistration removes them.
    std::deque<Proc> foreign_;
    std::unordered_map<Proc, Again> again_;
    std::unordered_map<Proc, std::vector<OnRequested>> requested_;
};

/// Enters the requests of clients that post and get data: Commit, Post, Get, RefreshCache.
void serve_modex(CommandTable& commands, Exchange& exchange, Namespaces& namespaces, Modex& modex);

}  // namespace muster
