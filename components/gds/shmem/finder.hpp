// SPDX-License-Identifier: BSD-3-Clause
// One look-up in a segment by the Standard's rules of realms, for the questions that processes ask often.
// An undecided look-up returns Unknown, and the other store is asked.
#pragma once

#include "components/gds/shmem/reader.hpp"
#include "framework/gds.hpp"
#include "framework/gds/realm_search.hpp"

namespace muster::gds::shmem {

enum class Answer {
    Absent,  ///< the segment does not have it
    Given,   ///< in the item
    Unknown  ///< not decided here
};

class Finder : private RealmSearch<Finder, Answer> {
  public:
    /// `lookup.nspace` is the segment's; `own`: the process's own posted values are not searched. The value
    /// is stored in `out`.
    Finder(const Reader& reader, std::string_view nspace, const Lookup& lookup, bool own, Item& out)
        : reader_(reader), nspace_(nspace), lookup_(lookup), own_(own), out_(out) {}

    Answer find();

    /// The position of the found entry, for callers that keep a copy.
    Kind kind() const { return kind_; }
    uint32_t of() const { return of_; }

  private:
    friend RealmSearch;
    /// The map, as derive_of_node and derive_of_rank ask it.
    class MapFacts;

    // For RealmSearch.
    const Lookup& lookup() const { return lookup_; }
    Answer session(const KeyInfo& info);
    Answer job(const KeyInfo& info);
    Answer app(const KeyInfo& info);
    Answer node(const KeyInfo& info, bool of_rank);
    Answer host_proc() { return stored(Kind::Proc, lookup_.rank); }
    Answer host_job(const KeyInfo& info);
    Answer host_own_node() {
        has_map();
        return stored(Kind::Node, map_.own_node);
    }
    Answer derived_proc(const KeyInfo& info);
    Answer posted();
    static bool knows_job() { return true; }
    bool knows_node() {
        has_map();
        return reader_.node_of(map_, lookup_.rank) != kNone;
    }

    Answer stored(Kind kind, uint32_t of);
    Answer derived_job(Fact fact);
    Answer derived_node(Fact fact, uint32_t node);
    bool has_map() {
        if (!looked_for_map_) {
            looked_for_map_ = true;
            has_map_ = reader_.map(map_);
            if (!has_map_) {
                map_ = {};
                map_.own_node = kNone;
            }
        }
        return has_map_;
    }

    const Reader& reader_;
    std::string_view nspace_;
    const Lookup& lookup_;
    bool own_;
    Item& out_;
    std::string_view key_;
    uint64_t key_hash_ = 0;
    Map map_;  ///< since has_map(): most lookups need none
    bool looked_for_map_ = false;
    bool has_map_ = false;
    Kind kind_ = Kind::Job;
    uint32_t of_ = 0;
};

}  // namespace muster::gds::shmem
