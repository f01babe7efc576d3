// SPDX-License-Identifier: BSD-3-Clause
// One look-up in a segment by the Standard's rules of realms, for the questions that processes ask often.
// What it does not decide, it says so, and the store behind is asked instead.
#pragma once

#include "components/gds/shmem/reader.hpp"
#include "framework/gds.hpp"
#include "framework/gds/realm.hpp"

namespace muster::gds::shmem {

enum class Answer {
    Given,   ///< in the item
    Absent,  ///< the segment does not have it
    Unknown  ///< not decided here
};

class Finder {
  public:
    Finder(const Reader& reader, std::string_view nspace, const Lookup& lookup, bool own)
        : reader_(reader), nspace_(nspace), lookup_(lookup), own_(own) {}

    /// `lookup.nspace` is the segment's; `own`: what the process itself has posted is not looked for.
    Answer find(Item& out);

    /// Where it was found, for those who keep a copy.
    Kind kind() const { return kind_; }
    uint32_t of() const { return of_; }

  private:
    Answer stored(Kind kind, uint32_t of, Item& out);
    Answer posted(Item& out);
    Answer session(const KeyInfo& info, Item& out);
    Answer job(const KeyInfo& info, Item& out);
    Answer said_of_job(const KeyInfo& info, Item& out);
    Answer app(const KeyInfo& info, Item& out);
    Answer node(const KeyInfo& info, bool of_rank, Item& out);
    Answer proc(const KeyInfo& info, Item& out);
    Answer reserved(const KeyInfo& info, Item& out);

    Answer derived_job(Fact fact, Item& out);
    Answer derived_node(Fact fact, uint32_t node, Item& out);
    Answer derived_proc(Fact fact, Item& out);
    Answer number(uint32_t value, Item& out) const;
    Answer small(uint32_t value, Item& out) const;
    Answer rank(uint32_t value, Item& out) const;
    Answer text(const char* value, Item& out) const;

    bool valid_rank() const { return lookup_.rank < PMIX_RANK_VALID; }
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
    std::string_view key_;
    uint64_t key_hash_ = 0;
    Map map_;  ///< since has_map(): most look-ups need none
    bool looked_for_map_ = false;
    bool has_map_ = false;
    Kind kind_ = Kind::Job;
    uint32_t of_ = 0;
};

}  // namespace muster::gds::shmem
