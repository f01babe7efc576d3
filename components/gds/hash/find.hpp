// SPDX-License-Identifier: BSD-3-Clause
// Answers to one look-up in gds/hash, and values that follow from a job's map.
#pragma once

#include "components/gds/hash/hash_store.hpp"

namespace muster::gds {

/// A value that was computed, with the memory that it points to. Not to be copied or moved.
struct Derived {
    pmix_value_t value = {};
    std::string text;
    std::vector<pmix_proc_t> procs;
    pmix_data_array_t array = {};

    bool number(std::optional<uint32_t> n) {
        if (!n) return false;
        value.type = PMIX_UINT32;
        value.data.uint32 = *n;
        return true;
    }
    bool small(std::optional<uint32_t> n) {
        if (!n || *n > UINT16_MAX) return false;
        value.type = PMIX_UINT16;
        value.data.uint16 = static_cast<uint16_t>(*n);
        return true;
    }
    bool rank(std::optional<uint32_t> n) {
        if (!n) return false;
        value.type = PMIX_PROC_RANK;
        value.data.rank = *n;
        return true;
    }
    /// Empty text is no answer.
    bool string(std::string&& of) {
        if (of.empty()) return false;
        text = std::move(of);
        value.type = PMIX_STRING;
        value.data.string = text.data();
        return true;
    }
};

/// Job-level facts that follow from the rest, in the order in which a reply names them.
inline constexpr Fact kDerivedJobFacts[] = {Fact::JobSize, Fact::MaxProcs, Fact::JobApps, Fact::NumNodes,
                                            Fact::NodeList};
/// The same of a process and a node.
inline constexpr Fact kDerivedProcFacts[] = {Fact::AppNumber,  Fact::LocalRank, Fact::NodeRank,
                                             Fact::GlobalRank, Fact::AppRank,   Fact::NodeId,
                                             Fact::Hostname};
inline constexpr Fact kDerivedNodeFacts[] = {Fact::LocalPeers, Fact::LocalLeader, Fact::LocalSize};

const char* key_of(Fact fact);

class Finder {
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
    struct NodeTarget {
        uint32_t index = JobMap::kNone;
        bool own = false;
        const ResourceNode* resource = nullptr;
    };
    NodeTarget target_node(bool of_rank) const;
    uint32_t target_app() const;
    uint32_t session_nodes() const;
    bool valid_rank() const { return lookup_->rank < PMIX_RANK_VALID; }

    bool give(const char* key, const pmix_value_t& value, bool stable);
    bool give_stored(const Table& table, std::string_view key);
    bool give_derived(const KeyInfo& info, const Derived& derived, char realm, uint32_t of);
    bool give_posted(const Posted& posted, const char* key);
    void give_all(const Table& table);

    bool find_session(const KeyInfo& info);
    bool find_job(const KeyInfo& info);
    bool find_app(const KeyInfo& info);
    bool find_node(const KeyInfo& info, bool of_rank);
    bool find_proc(const KeyInfo& info);
    bool find_reserved(const KeyInfo& info);
    bool find_posted();
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
