// SPDX-License-Identifier: BSD-3-Clause
// Look-ups by the Standard's rules of realms: see finder.hpp. The order in which places are looked through is
// that of gds/hash; a test holds both to the same answers.
#include "components/gds/shmem/finder.hpp"

#include "framework/preg/number.hpp"

namespace muster::gds::shmem {

namespace {

Answer given(bool set) {
    return set ? Answer::Given : Answer::Absent;
}

std::optional<uint32_t> known(uint32_t number) {
    return number == kNone ? std::nullopt : std::optional(number);
}

}  // namespace

class Finder::MapFacts {
  public:
    MapFacts(const Reader& reader, const Map& map) : reader_(reader), map_(map) {}

    const char* node_name(uint32_t node) const { return reader_.node_name(map_, node); }
    auto node_id(uint32_t node) const { return known(reader_.node_id(map_, node)); }
    auto leader(uint32_t node) const { return known(reader_.rank_on(map_, node, 0)); }
    std::optional<uint32_t> local_size(uint32_t node) const {
        // Without a map of processes the result is unknown, which differs from none.
        if (map_.placed == 0) return std::nullopt;
        return reader_.ranks_on(map_, node);
    }
    std::string peers(uint32_t node) const {
        std::string text;
        const uint32_t count = reader_.ranks_on(map_, node);
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t peer = reader_.rank_on(map_, node, i);
            if (peer == kNone) break;
            if (i != 0) text += ',';
            preg::append_number(text, peer);
        }
        return text;
    }
    auto appnum(uint32_t rank) const { return of(map_.appnum, rank); }
    auto app_rank(uint32_t rank) const { return of(map_.app_rank, rank); }
    auto global_rank(uint32_t rank) const { return of(map_.global_rank, rank); }
    auto local_rank(uint32_t rank) const { return of(map_.local_rank, rank); }
    auto node_rank(uint32_t rank) const { return of(map_.node_rank, rank); }

  private:
    std::optional<uint32_t> of(const Column& column, uint32_t rank) const {
        return known(reader_.of_rank(map_, column, rank));
    }

    const Reader& reader_;
    const Map& map_;
};

Answer Finder::stored(Kind kind, uint32_t of) {
    kind_ = kind;
    of_ = of;
    return reader_.find(key_hash_, kind, of, key_, out_) ? Answer::Given : Answer::Absent;
}

Answer Finder::posted() {
    if (!valid_rank() || own_ || lookup_.scope == PMIX_INTERNAL) return Answer::Absent;
    return stored(Kind::Posted, lookup_.rank);
}

Answer Finder::derived_job(Fact fact) {
    switch (fact) {
        case Fact::NumSlots:
        case Fact::UniverseSize: {
            constexpr std::string_view max = PMIX_MAX_PROCS, size = PMIX_JOB_SIZE;
            const bool found =
                reader_.find(Kind::Job, 0, max, out_) || reader_.find(Kind::Job, 0, size, out_);
            return given(found && out_.number(value_as_number<uint32_t>(&out_.value)));
        }
        case Fact::Offset:
            return given(has_map() && out_.rank(MapFacts(reader_, map_).global_rank(0)));
        case Fact::Nspace:
            return given(out_.string(std::string(nspace_)));
        case Fact::SessionId:
            return reader_.find(Kind::Session, 0, PMIX_SESSION_ID, out_) ? Answer::Given : Answer::Absent;
        case Fact::NodeMapRaw:
        case Fact::ProcMapRaw:
            return Answer::Unknown;
        default:
            // The writer of the segment stored all other derived values of a job.
            return Answer::Absent;
    }
}

Answer Finder::derived_node(Fact fact, uint32_t node) {
    if (node == kNone || !has_map()) return Answer::Absent;
    if (fact == Fact::Aliases) return map_.has_aliases != 0 ? Answer::Unknown : Answer::Absent;
    return given(derive_of_node(fact, MapFacts(reader_, map_), node, out_));
}

Answer Finder::derived_proc(const KeyInfo& info) {
    if (info.fact == Fact::SessionId) return derived_job(info.fact);
    if (derive_from_name(info.fact, nspace_, lookup_.rank, out_)) return Answer::Given;
    if (!has_map()) return Answer::Absent;
    switch (info.fact) {
        case Fact::Hostname:
        case Fact::NodeId:
            return derived_node(info.fact, reader_.node_of(map_, lookup_.rank));
        case Fact::Rank:
            return lookup_.rank < map_.rank_end ? given(out_.rank(lookup_.rank)) : Answer::Unknown;
        default:
            return given(derive_of_rank(info.fact, MapFacts(reader_, map_), lookup_.rank, out_));
    }
}

Answer Finder::session(const KeyInfo& info) {
    if (const Answer answer = stored(Kind::Session, 0); answer != Answer::Absent) return answer;
    // How many nodes a session has, the server knows.
    if (info.fact == Fact::NumNodes) return Answer::Absent;
    if (info.fact == Fact::UniverseSize || info.fact == Fact::SessionId) return derived_job(info.fact);
    return Answer::Absent;
}

Answer Finder::job(const KeyInfo& info) {
    const Answer answer = stored(Kind::Job, 0);
    if (answer != Answer::Absent || info.fact == Fact::UniverseSize) return answer;
    return derived_job(info.fact);
}

/// Data of the host only, without derived values.
Answer Finder::host_job(const KeyInfo& info) {
    return info.fact == Fact::NodeList ? Answer::Unknown : stored(Kind::Job, 0);
}

Answer Finder::app(const KeyInfo& info) {
    if (!has_map()) return Answer::Unknown;
    uint32_t number_of = lookup_.appnum.value_or(0);
    if (!lookup_.appnum && valid_rank()) {
        number_of = reader_.of_rank(map_, map_.appnum, lookup_.rank);
        if (number_of == kNone) number_of = 0;
    }
    if (const Answer answer = stored(Kind::App, number_of); answer != Answer::Absent) return answer;
    // With several applications, or one with own facts, gds/hash decides when job-level facts hold.
    if (map_.apps > 1 || number_of != 0) return Answer::Unknown;
    switch (info.fact) {
        case Fact::AppNumber:
            return given(out_.number(0));
        case Fact::AppSize:
            return map_.apps == 0 && reader_.find(Kind::Job, 0, PMIX_JOB_SIZE, out_) ? Answer::Given
                                                                                     : Answer::Unknown;
        default:
            return Answer::Unknown;
    }
}

Answer Finder::node(const KeyInfo& info, bool of_rank) {
    if (lookup_.hostname != nullptr) return Answer::Unknown;
    has_map();
    uint32_t target = map_.own_node;
    if (lookup_.nodeid) {
        // Ids that are the indices.
        if (map_.node_id.rule != Column::Rule::Sum || map_.node_id.base != 0 ||
            *lookup_.nodeid >= map_.node_count)
            return Answer::Unknown;
        target = *lookup_.nodeid;
    } else if (of_rank && valid_rank()) {
        const uint32_t of = reader_.node_of(map_, lookup_.rank);
        if (of != kNone) target = of;
    }
    if (const Answer answer = stored(Kind::Node, target); answer != Answer::Absent) return answer;
    if (const Answer answer = derived_node(info.fact, target); answer != Answer::Absent) return answer;
    switch (info.fact) {
        case Fact::Hostname:
        case Fact::NodeId:
        case Fact::Aliases:
        case Fact::LocalSize:
        case Fact::LocalProcs:
        case Fact::NodeSize:
            return Answer::Unknown;
        default:
            return host_job(info);
    }
}

Answer Finder::find() {
    if (lookup_.key == nullptr || !lookup_.qualifiers.empty() || lookup_.session_id) return Answer::Unknown;
    key_ = key_view(lookup_.key);
    key_hash_ = hash_of(key_);
    if (!key_is_reserved(lookup_.key)) {
        if (lookup_.realm != Lookup::Realm::Proc && lookup_.realm != Lookup::Realm::Auto)
            return Answer::Unknown;
        if (!valid_rank()) return lookup_.rank == PMIX_RANK_WILDCARD ? stored(Kind::Job, 0) : Answer::Unknown;
        // Few hosts give processes their own keys.
        if (!own_) {
            if (const Answer answer = posted(); answer != Answer::Absent) return answer;
        }
        return stored(Kind::Proc, lookup_.rank);
    }
    return reserved(key_info(key_));
}

}  // namespace muster::gds::shmem
