// SPDX-License-Identifier: BSD-3-Clause
// Look-ups by the Standard's rules of realms: see finder.hpp. The order in which places are looked through is
// that of gds/hash; a test holds both to the same answers.
#include "components/gds/shmem/finder.hpp"

#include "framework/preg/number.hpp"

namespace muster::gds::shmem {

Answer Finder::number(uint32_t value, Item& out) const {
    if (value == kNone) return Answer::Absent;
    out.value = {};
    out.value.type = PMIX_UINT32;
    out.value.data.uint32 = value;
    return Answer::Given;
}

Answer Finder::small(uint32_t value, Item& out) const {
    if (value > UINT16_MAX) return Answer::Absent;
    out.value = {};
    out.value.type = PMIX_UINT16;
    out.value.data.uint16 = static_cast<uint16_t>(value);
    return Answer::Given;
}

Answer Finder::rank(uint32_t value, Item& out) const {
    if (value == kNone) return Answer::Absent;
    out.value = {};
    out.value.type = PMIX_PROC_RANK;
    out.value.data.rank = value;
    return Answer::Given;
}

Answer Finder::text(const char* value, Item& out) const {
    if (value == nullptr || *value == '\0') return Answer::Absent;
    out.value = {};
    out.value.type = PMIX_STRING;
    out.value.data.string = const_cast<char*>(value);
    return Answer::Given;
}

Answer Finder::stored(Kind kind, uint32_t of, Item& out) {
    kind_ = kind;
    of_ = of;
    return reader_.find(key_hash_, kind, of, key_, out) ? Answer::Given : Answer::Absent;
}

Answer Finder::posted(Item& out) {
    if (!valid_rank() || own_ || lookup_.scope == PMIX_INTERNAL) return Answer::Absent;
    return stored(Kind::Posted, lookup_.rank, out);
}

Answer Finder::derived_job(Fact fact, Item& out) {
    switch (fact) {
        case Fact::NumSlots:
        case Fact::UniverseSize: {
            constexpr std::string_view max = PMIX_MAX_PROCS, size = PMIX_JOB_SIZE;
            const bool found = reader_.find(Kind::Job, 0, max, out) || reader_.find(Kind::Job, 0, size, out);
            const auto count = found ? value_as_number<uint32_t>(&out.value) : std::nullopt;
            return number(count.value_or(kNone), out);
        }
        case Fact::Offset:
            return has_map() ? rank(reader_.of_rank(map_, map_.global_rank, 0), out) : Answer::Absent;
        case Fact::Nspace:
            out.text = nspace_;
            return text(out.text.c_str(), out);
        case Fact::SessionId:
            return reader_.find(Kind::Session, 0, PMIX_SESSION_ID, out) ? Answer::Given : Answer::Absent;
        case Fact::NodeMapRaw:
        case Fact::ProcMapRaw:
            return Answer::Unknown;
        default:
            // What else follows for a job was worked out when the segment was written.
            return Answer::Absent;
    }
}

Answer Finder::derived_node(Fact fact, uint32_t node, Item& out) {
    if (node == kNone || !has_map()) return Answer::Absent;
    switch (fact) {
        case Fact::Hostname:
            return text(reader_.node_name(map_, node), out);
        case Fact::NodeId:
            return number(reader_.node_id(map_, node), out);
        case Fact::Aliases:
            return map_.has_aliases != 0 ? Answer::Unknown : Answer::Absent;
        case Fact::LocalPeers: {
            const uint32_t count = reader_.ranks_on(map_, node);
            for (uint32_t i = 0; i < count; ++i) {
                const uint32_t peer = reader_.rank_on(map_, node, i);
                if (peer == kNone) break;
                if (i != 0) out.text += ',';
                preg::append_number(out.text, peer);
            }
            return text(out.text.c_str(), out);
        }
        case Fact::LocalLeader:
            return rank(reader_.rank_on(map_, node, 0), out);
        case Fact::LocalSize:
            // Without a map of processes nothing is known, which is not the same as none.
            return map_.placed != 0 ? number(reader_.ranks_on(map_, node), out) : Answer::Absent;
        default:
            return Answer::Absent;
    }
}

Answer Finder::derived_proc(Fact fact, Item& out) {
    switch (fact) {
        case Fact::Nspace:
            out.text = nspace_;
            return text(out.text.c_str(), out);
        case Fact::ProcId:
            out.proc = make_proc(nspace_, lookup_.rank);
            out.value = {};
            out.value.type = PMIX_PROC;
            out.value.data.proc = &out.proc;
            return Answer::Given;
        default:
            break;
    }
    if (!has_map()) return Answer::Absent;
    const auto column = [&](const Column& of) { return reader_.of_rank(map_, of, lookup_.rank); };
    switch (fact) {
        case Fact::AppNumber:
            return number(column(map_.appnum), out);
        case Fact::AppRank:
            return rank(column(map_.app_rank), out);
        case Fact::GlobalRank:
            return rank(column(map_.global_rank), out);
        case Fact::LocalRank:
            return small(column(map_.local_rank), out);
        case Fact::NodeRank:
            return small(column(map_.node_rank), out);
        case Fact::Hostname:
        case Fact::NodeId:
            return derived_node(fact, reader_.node_of(map_, lookup_.rank), out);
        case Fact::Rank:
            if (lookup_.rank < map_.rank_end) return rank(lookup_.rank, out);
            return Answer::Unknown;
        default:
            return Answer::Absent;
    }
}

Answer Finder::session(const KeyInfo& info, Item& out) {
    if (const Answer answer = stored(Kind::Session, 0, out); answer != Answer::Absent) return answer;
    // How many nodes a session has, the server knows.
    if (info.fact == Fact::NumNodes) return Answer::Absent;
    if (info.fact == Fact::UniverseSize || info.fact == Fact::SessionId) return derived_job(info.fact, out);
    return Answer::Absent;
}

Answer Finder::job(const KeyInfo& info, Item& out) {
    const Answer answer = stored(Kind::Job, 0, out);
    if (answer != Answer::Absent || info.fact == Fact::UniverseSize) return answer;
    return derived_job(info.fact, out);
}

/// What the host said, not what follows from it.
Answer Finder::said_of_job(const KeyInfo& info, Item& out) {
    return info.fact == Fact::NodeList ? Answer::Unknown : stored(Kind::Job, 0, out);
}

Answer Finder::app(const KeyInfo& info, Item& out) {
    if (!has_map()) return Answer::Unknown;
    uint32_t number_of = lookup_.appnum.value_or(0);
    if (!lookup_.appnum && valid_rank()) {
        number_of = reader_.of_rank(map_, map_.appnum, lookup_.rank);
        if (number_of == kNone) number_of = 0;
    }
    if (const Answer answer = stored(Kind::App, number_of, out); answer != Answer::Absent) return answer;
    // Several applications, or one with facts of its own: gds/hash tells when job-level facts hold for it.
    if (map_.apps > 1 || number_of != 0) return Answer::Unknown;
    switch (info.fact) {
        case Fact::AppNumber:
            return number(0, out);
        case Fact::AppSize:
            return map_.apps == 0 && reader_.find(Kind::Job, 0, PMIX_JOB_SIZE, out) ? Answer::Given
                                                                                    : Answer::Unknown;
        default:
            return Answer::Unknown;
    }
}

Answer Finder::node(const KeyInfo& info, bool of_rank, Item& out) {
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
    if (const Answer answer = stored(Kind::Node, target, out); answer != Answer::Absent) return answer;
    if (const Answer answer = derived_node(info.fact, target, out); answer != Answer::Absent) return answer;
    switch (info.fact) {
        case Fact::Hostname:
        case Fact::NodeId:
        case Fact::Aliases:
        case Fact::LocalSize:
        case Fact::LocalProcs:
        case Fact::NodeSize:
            return Answer::Unknown;
        default:
            return said_of_job(info, out);
    }
}

Answer Finder::proc(const KeyInfo& info, Item& out) {
    // What holds for all processes alike may stand at job level.
    if (!valid_rank()) return job(info, out);
    if (const Answer answer = stored(Kind::Proc, lookup_.rank, out); answer != Answer::Absent) return answer;
    if (const Answer answer = derived_proc(info.fact, out); answer != Answer::Absent) return answer;
    if (info.fact == Fact::SessionId) {
        if (const Answer answer = derived_job(info.fact, out); answer != Answer::Absent) return answer;
    }
    if (const Answer answer = posted(out); answer != Answer::Absent) return answer;
    return said_of_job(info, out);
}

Answer Finder::reserved(const KeyInfo& info, Item& out) {
    using Realm = Lookup::Realm;
    switch (info.realm) {
        case Realm::Session: {
            const Answer answer = session(info, out);
            return answer != Answer::Absent ? answer : stored(Kind::Job, 0, out);
        }
        case Realm::Job:
            return job(info, out);
        case Realm::App:
            return app(info, out);
        case Realm::Node: {
            // The name and id of a process's node count as the process's own.
            const bool of_proc = info.fact == Fact::Hostname || info.fact == Fact::NodeId;
            const bool named = lookup_.nodeid || lookup_.hostname != nullptr;
            if (valid_rank() && !named) {
                if (const Answer answer = stored(Kind::Proc, lookup_.rank, out); answer != Answer::Absent)
                    return answer;
                has_map();
                if (of_proc && reader_.node_of(map_, lookup_.rank) == kNone) return posted(out);
            }
            const Answer answer = node(info, of_proc, out);
            return answer == Answer::Absent && valid_rank() && !named ? posted(out) : answer;
        }
        case Realm::Proc:
            return proc(info, out);
        case Realm::Auto:
            break;
    }
    if (valid_rank()) {
        if (const Answer answer = stored(Kind::Proc, lookup_.rank, out); answer != Answer::Absent)
            return answer;
        if (const Answer answer = posted(out); answer != Answer::Absent) return answer;
    }
    if (const Answer answer = job(info, out); answer != Answer::Absent) return answer;
    if (const Answer answer = session(info, out); answer != Answer::Absent) return answer;
    has_map();
    return stored(Kind::Node, map_.own_node, out);
}

Answer Finder::find(Item& out) {
    using Realm = Lookup::Realm;
    if (lookup_.key == nullptr || !lookup_.qualifiers.empty() || lookup_.session_id) return Answer::Unknown;
    key_ = key_view(lookup_.key);
    key_hash_ = hash_of(key_);
    if (!key_is_reserved(lookup_.key)) {
        switch (lookup_.realm) {
            case Realm::Proc:
            case Realm::Auto:
                break;
            default:
                return Answer::Unknown;
        }
        if (!valid_rank())
            return lookup_.rank == PMIX_RANK_WILDCARD ? stored(Kind::Job, 0, out) : Answer::Unknown;
        // Few hosts give keys of their own to processes.
        if (!own_) {
            if (const Answer answer = posted(out); answer != Answer::Absent) return answer;
        }
        return stored(Kind::Proc, lookup_.rank, out);
    }
    const KeyInfo& info = key_info(key_);
    switch (lookup_.realm) {
        case Realm::Session:
            return session(info, out);
        case Realm::Job:
            return job(info, out);
        case Realm::App:
            return app(info, out);
        case Realm::Node:
            return node(info, true, out);
        case Realm::Proc:
            return valid_rank() ? proc(info, out) : reserved(info, out);
        case Realm::Auto:
            break;
    }
    return reserved(info, out);
}

}  // namespace muster::gds::shmem
