// SPDX-License-Identifier: BSD-3-Clause
// One engine for every collective operation of the Standard (fence, connect, disconnect, group construct and
// destruct): it gathers the participants of this node, knows the missing ones, watches time limits and
// deaths, and hands over to the operation when all local participants are in. Belongs to the loop of a
// server.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/attribute/function.hpp"
#include "core/exchange/peer.hpp"
#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/loop.hpp"
#include "framework/packer.hpp"

namespace muster {

class Collectives;
class Namespaces;

enum class CollectiveKind : uint8_t { Fence, Connect, Disconnect, GroupConstruct, GroupDestruct };
const char* collective_name(CollectiveKind kind);

/// Whether two lists name the same processes in the same order.
bool same_procs(const std::vector<pmix_proc_t>& a, const std::vector<pmix_proc_t>& b);

/// An operation's own data about the call of a participant.
struct ArrivalData {
    virtual ~ArrivalData() = default;
};
/// An operation's own result for the participants, in addition to status and infos.
struct OutcomeData {
    virtual ~OutcomeData() = default;
};

/// How a collective ended.
struct Outcome {
    pmix_status_t status = PMIX_SUCCESS;
    Info info;  ///< results for the participants
    /// The operation's own; replies may add to it, as most participants get the same one.
    mutable std::shared_ptr<OutcomeData> data = nullptr;
};

/// One local participant's call.
struct Arrival {
    pmix_proc_t proc{};
    Info info;                                          ///< directives, as the participant gave them
    std::shared_ptr<const ArrivalData> data = nullptr;  ///< the operation's own
    /// Answers the participant; called once. Other participants get the same outcome.
    std::function<void(const Outcome&)> reply;
};

/// One collective under way.
class Collective {
  public:
    CollectiveKind kind() const { return kind_; }
    const std::string& id() const { return id_; }
    /// The participants, sorted and without repetition; WILDCARD entries stay.
    const std::vector<pmix_proc_t>& participants() const { return participants_; }
    const std::vector<Arrival>& arrivals() const { return arrivals_; }
    /// The participants as the first caller gave them; kept for operations with names.
    const std::vector<pmix_proc_t>& as_given() const { return given_; }
    /// The participants that called and departed before all were in (see forgets_departed()).
    const std::vector<Arrival>& withdrawn() const { return withdrawn_; }
    /// The first participant's directives; those that all must agree upon are taken from here.
    InfoView directives() const { return arrivals_.front().info; }
    /// Whether any participant gave a directive that means true.
    bool any_true(const char* key) const;
    /// Whether any participant requires a directive that only a host acts upon
    /// (core/attribute/directives.hpp).
    bool needs_host(Function function) const;
    /// Adds to the directives for the host those that participants other than the first require.
    pmix_status_t add_unmet(Function function, Info& directives) const;
    /// Whether no other node takes part.
    bool all_local() const { return all_local_; }
    /// Local participants that have not called yet and are still alive; ranks that are not known by name
    /// count in `unnamed`.
    std::vector<pmix_proc_t> missing(size_t* unnamed = nullptr) const;
    /// Status of the local part, to be passed to the host (PMIX_LOCAL_COLLECTIVE_STATUS).
    pmix_status_t local_status() const { return local_status_; }
    /// Whether the operation has got the notice that all local participants are in.
    bool handed_over() const { return handed_over_; }
    /// Whether its time limit was extended.
    bool extended() const { return extended_; }

  private:
    friend class Collectives;
    CollectiveKind kind_{};
    std::string id_;
    std::string name_;  ///< in the table of those that have an id
    std::vector<pmix_proc_t> participants_;
    std::vector<pmix_proc_t> given_;
    std::vector<Arrival> arrivals_;
    std::vector<Arrival> withdrawn_;
    std::vector<pmix_proc_t> departed_;  ///< expected here and ended without a call
    size_t noticed_ = 0;                 ///< number of these that the operation knows
    size_t expected_ = 0;
    bool settled_ = true;  ///< whether the participants expected here are known
    bool all_local_ = false;
    bool handed_over_ = false;
    bool extended_ = false;
    pmix_status_t local_status_ = PMIX_SUCCESS;
    std::chrono::milliseconds limit_{};  ///< what was given for it
    std::unique_ptr<Watch> time_limit_;
    Namespaces* namespaces_ = nullptr;
    uint64_t round_ = 0;  ///< of all collectives, in which it had its turn
    /// The position in the list of active collectives; nothing after the end.
    std::optional<std::list<std::shared_ptr<Collective>>::iterator> place_;
};

using CollectiveRef = std::weak_ptr<Collective>;

/// The specific behaviour of one kind of operation.
class CollectiveOperation {
  public:
    virtual ~CollectiveOperation() = default;
    /// A local participant has called.
    virtual void joined(const Collective&) {}
    /// All local participants have called (or ended, see Collective::local_status()). The operation calls
    /// Collectives::finish(), now or after the host's answer.
    virtual void all_local_in(const std::shared_ptr<Collective>& collective) = 0;
    /// A local participant has ended before it called. True: the collective continues without it; false: it
    /// fails for all with departure_status().
    virtual bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) = 0;
    /// A departure is tolerated; called once for each, before all_local_in().
    virtual void goes_on_without(const Collective&, const pmix_proc_t&) {}
    /// The status of the other participants if a departure is not tolerated.
    virtual pmix_status_t departure_status() const { return PMIX_ERR_LOST_CONNECTION; }
    /// Whether the call of a process that ends or finalizes before all local participants have called counts
    /// as not made.
    virtual bool forgets_departed() const { return false; }
    /// The answer to a caller that is not among the participants.
    virtual pmix_status_t status_of_stranger(const std::vector<pmix_proc_t>&, const pmix_proc_t&) const {
        return PMIX_ERR_BAD_PARAM;
    }
    /// Whether it limits its own time while the host has it.
    virtual bool limits_host() const { return false; }
    /// The time limit is over. True: the operation has dealt with it; false: all get PMIX_ERR_TIMEOUT.
    virtual bool expired(const std::shared_ptr<Collective>&) { return false; }
    /// It has ended; the callers are being answered.
    virtual void ended(const Collective&, const Outcome&) {}
};

class Collectives {
  public:
    /// The number of processes of a namespace, where it is known.
    using JobSize = std::function<std::optional<uint32_t>(const char* nspace)>;

    Collectives(EventLoop& loop, Namespaces& namespaces, JobSize job_size, const Log& log);
    ~Collectives();

    void set_operation(CollectiveKind kind, std::unique_ptr<CollectiveOperation> operation);

    /// A local participant calls. `id` is the name of the collective where the operation has names (groups):
    /// all callers must name the same participants (PMIX_ERR_BAD_PARAM), and none may use it twice at a
    /// time (PMIX_ERR_EXISTS). Errors are answered through the arrival's reply.
    void arrive(CollectiveKind kind, const std::string& id, std::vector<pmix_proc_t> participants,
                Arrival arrival);
    /// The same for one that is known to name the participants of a collective that is under way. False, and
    /// nothing is done, if that has all its participants or the caller is not one of them.
    bool arrive_too(const std::shared_ptr<Collective>& collective, Arrival& arrival);

    /// From now on `reply` answers a participant that has called. False if it has not.
    static bool answer_instead(const std::shared_ptr<Collective>& collective, const pmix_proc_t& proc,
                               std::function<void(const Outcome&)> reply);

    /// Ends a collective: every local participant that has called is answered.
    void finish(const std::shared_ptr<Collective>& collective, const Outcome& outcome);
    /// Continues with the present callers, as if all had called.
    void proceed(const std::shared_ptr<Collective>& collective);
    /// Gives a collective that has reached its time limit more time.
    void extend(const std::shared_ptr<Collective>& collective, std::chrono::milliseconds time);
    /// Whether it has not ended yet.
    bool is_active(const std::shared_ptr<Collective>& collective) const;
    /// The one of this kind and name, or null.
    std::shared_ptr<Collective> find(CollectiveKind kind, const std::string& id) const;

    /// A process of this node has finalized. It stays expected, since it may initialise again and call
    /// (docs/decisions/0034).
    void finalized(const pmix_proc_t& proc);
    /// It has ended: its connection was lost, or the host has deregistered it.
    void departed(const pmix_proc_t& proc);
    /// A participant of this operation, of any node, takes no part in it any more unless it has called. A
    /// request that the host has is left to the host.
    void left(CollectiveKind kind, const std::string& id, const pmix_proc_t& proc);
    /// A namespace is deregistered: collectives that involve it end with PMIX_ERR_INVALID_NAMESPACE.
    void deregistered(const char* nspace);
    /// A namespace has more data (clients registered): expectations are recomputed.
    void registered(const char* nspace);
    /// The server ends: all current and later collectives end with PMIX_ERR_LOST_CONNECTION.
    void close();

    /// All that are under way, for queries and messages.
    const std::list<std::shared_ptr<Collective>>& active() const { return active_; }

  private:
    /// The joinable collectives of one kind, name and list of participants, oldest first; never empty. A
    /// process that has joined one of them has joined all older ones.
    using Generations = std::deque<std::shared_ptr<Collective>>;
    using Open = std::unordered_multimap<size_t, Generations>;

    void add(const std::shared_ptr<Collective>& collective);
    Open::iterator find_open(CollectiveKind kind, const std::string& id,
                             const std::vector<pmix_proc_t>& participants);
    void add_open(const std::shared_ptr<Collective>& collective);
    void remove_open(const std::shared_ptr<Collective>& collective);
    void join(const std::shared_ptr<Collective>& collective, Arrival arrival);
    void compute_expected(Collective& collective);
    CollectiveOperation& operation(const Collective& collective) {
        return *operations_[static_cast<size_t>(collective.kind_)];
    }
    void depart(const std::shared_ptr<Collective>& collective, const pmix_proc_t& proc);
    static std::optional<Arrival> withdraw(Collective& collective, const pmix_proc_t& proc);
    template <class Do>
    void for_each_active(const Do& what);
    void check(const std::shared_ptr<Collective>& collective);
    void expire(const std::shared_ptr<Collective>& collective);

    EventLoop& loop_;
    Namespaces& namespaces_;
    JobSize job_size_;
    const Log& log_;
    bool closed_ = false;
    std::unique_ptr<CollectiveOperation> operations_[5];
    std::list<std::shared_ptr<Collective>> active_;
    uint64_t round_ = 0;  // of for_each_active()
    // One process may have tens of thousands pending: lookups must not scan all of them.
    Open open_;                                   // by a hash of their common data
    TextMap<std::shared_ptr<Collective>> named_;  // by kind and name
};

}  // namespace muster
