// SPDX-License-Identifier: BSD-3-Clause
// Answers to one look-up in gds/hash, and values that follow from a job's map.
#pragma once

#include "components/gds/hash/hash_store.hpp"
#include "framework/gds/derived.hpp"
#include "framework/gds/realm_search.hpp"

namespace muster::gds {

/// Job-level facts that follow from the rest, in the order in which a reply names them.
inline constexpr Fact kDerivedJobFacts[] = {Fact::JobSize, Fact::MaxProcs, Fact::JobApps, Fact::NumNodes,
                                            Fact::NodeList};
/// The same of a process and a node.
inline constexpr Fact kDerivedProcFacts[] = {Fact::AppNumber,  Fact::LocalRank, Fact::NodeRank,
                                             Fact::GlobalRank, Fact::AppRank,   Fact::NodeId,
                                             Fact::Hostname};
inline constexpr Fact kDerivedNodeFacts[] = {Fact::LocalPeers, Fact::LocalLeader, Fact::LocalSize};

inline constexpr Fact kEveryNodeFact[] = {Fact::Hostname, Fact::NodeId, Fact::LocalPeers, Fact::LocalLeader,
                                          Fact::LocalSize};
inline constexpr Fact kEveryAppFact[] = {Fact::AppNumber, Fact::AppSize, Fact::AppLeader, Fact::NumNodes};

const char* key_of(Fact fact);

/// The table of a number, or null.
template <class Tables>
const Table* table_in(const Tables& tables, uint32_t number) {
    const auto at = tables.find(number);
    return at == tables.end() ? nullptr : &at->second;
}

class Finder : private RealmSearch<Finder, bool> {
  public:
    /// Under the store's shared lock. `job` may be null.
    Finder(const HashStore& store, std::string_view nspace, const Job* job)
        : store_(store), nspace_(nspace), job_(job) {}

    pmix_status_t find(const Lookup& lookup, const Visitor& visit);

    // Values that follow from others; false when they do not.
    bool derive_job(Fact fact, Derived& out) const;
    bool derive_session(Fact fact, Derived& out) const;
    bool derive_app(Fact fact, uint32_t app, Derived& out) const;
    bool derive_node(Fact fact, uint32_t node, Derived& out) const;
    bool derive_proc(Fact fact, pmix_rank_t rank, Derived& out) const;

  private:
    friend RealmSearch;
    struct NodeTarget {
        uint32_t index = JobMap::kNone;
        bool own = false;
        const ResourceNode* resource = nullptr;    ///< as register_resources describes it
        const ResourceNode* in_session = nullptr;  ///< as register_session does
    };
    void name_resource(NodeTarget& target, std::string_view host, std::optional<uint32_t> id) const;
    NodeTarget target_node(bool of_rank) const;
    uint32_t target_app() const;
    uint32_t session_nodes() const;

    bool give(const char* key, const pmix_value_t& value, bool stable);
    bool give_stored(const Table& table, std::string_view key);
    bool give_derived(const KeyInfo& info, const Derived& derived, char realm, uint32_t of);
    bool give_posted(const Posted& posted, const char* key);
    bool give_from(const Table* table) { return table != nullptr && give_stored(*table, key_); }
    void give_all(const Table* table);
    template <class Derive>
    void give_derived_of(std::span<const Fact> facts, std::initializer_list<const Table*> given, char realm,
                         uint32_t of, Derive&& derive);

    // For RealmSearch.
    const Lookup& lookup() const { return *lookup_; }
    bool session(const KeyInfo& info);
    bool job(const KeyInfo& info);
    bool app(const KeyInfo& info);
    bool node(const KeyInfo& info, bool of_rank);
    bool host_proc();
    bool host_job(const KeyInfo&) { return job_ != nullptr && give_stored(job_->facts, key_); }
    bool host_own_node() { return job_ != nullptr && give_stored(job_->own_node, key_); }
    bool derived_proc(const KeyInfo& info);
    bool posted();
    bool knows_job() const { return job_ != nullptr; }
    bool knows_node() const { return job_->map->node_of(lookup_->rank) != JobMap::kNone; }

    void find_unreserved();
    bool find_qualified();
    void find_everything();
    void everything_of_rank();
    void everything_of_job();
    template <class Give>
    void array_of(const char* key, Give&& fill);

    const HashStore& store_;
    std::string_view nspace_;
    const Job* job_;
    const Lookup* lookup_ = nullptr;
    const Visitor* visit_ = nullptr;
    std::string_view key_;
    bool outside_scope_ = false;
    bool found_ = false;
};

}  // namespace muster::gds
