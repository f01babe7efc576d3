// SPDX-License-Identifier: BSD-3-Clause
// Values that follow from the map of a job and from other values.
#include <algorithm>
#include <unordered_set>

#include "components/gds/hash/find.hpp"

namespace muster::gds {

const char* key_of(Fact fact) {
    for (const KeyInfo& info : known_keys()) {
        if (info.fact == fact) return info.key.data();
    }
    return "";
}

bool Finder::derive_job(Fact fact, Derived& out) const {
    const JobMap& map = *job_->map;
    switch (fact) {
        case Fact::JobSize:
        case Fact::MaxProcs:
            return out.number(store_.size_of(*job_));
        case Fact::NumSlots: {
            const Value* max = gds::find(job_->facts, PMIX_MAX_PROCS);
            return out.number(max != nullptr ? value_as_number<uint32_t>(max->get()) : store_.size_of(*job_));
        }
        case Fact::NumNodes: {
            const uint32_t nodes = map.placed() != 0 ? map.used_nodes() : map.node_count();
            return nodes != 0 && out.number(nodes);
        }
        case Fact::JobApps: {
            const size_t apps = std::max({map.apps().size(), job_->apps.size(), size_t{1}});
            return out.number(static_cast<uint32_t>(apps));
        }
        case Fact::NodeList:
        case Fact::NodeMapRaw:
            return out.string(map.node_list());
        case Fact::ProcMapRaw:
            return out.string(map.proc_map());
        case Fact::Offset:
            return out.rank(map.global_rank(0));
        case Fact::Nspace:
            return out.string(std::string(nspace_));
        case Fact::SessionId:
            return out.number(job_->session_id);
        default:
            return false;
    }
}

/// Nodes that hold processes of any job of the session.
uint32_t Finder::session_nodes() const {
    std::unordered_set<std::string> nodes;
    for (const auto& [nspace, other] : store_.jobs_) {
        if (other.get() != job_ && (!job_->session_id || other->session_id != job_->session_id)) continue;
        const JobMap& map = *other->map;
        map.each_node_name([&](uint32_t node, std::string_view name) {
            if (map.ranks_on(node).empty()) return;
            // A node may have an id and no name.
            nodes.insert(name.empty() ? '#' + std::to_string(map.node_id(node)) : std::string(name));
        });
    }
    return static_cast<uint32_t>(nodes.size());
}

bool Finder::derive_session(Fact fact, Derived& out) const {
    switch (fact) {
        case Fact::NumNodes: {
            // A client knows only its own job; the server must be asked for others.
            if (!job_->local_procs) return false;
            const uint32_t nodes = session_nodes();
            return nodes != 0 && out.number(nodes);
        }
        case Fact::SessionId:
            return out.number(job_->session_id);
        case Fact::UniverseSize:
            return derive_job(Fact::NumSlots, out);
        default:
            return false;
    }
}

bool Finder::derive_app(Fact fact, uint32_t app, Derived& out) const {
    const JobMap& map = *job_->map;
    if (map.apps().empty()) {
        // No application was registered: the job is one.
        if (app != 0) return false;
        switch (fact) {
            case Fact::AppNumber:
                return out.number(0);
            case Fact::AppSize:
                return out.number(store_.size_of(*job_));
            case Fact::AppLeader:
                return out.rank(0);
            default:
                return derive_job(fact, out);
        }
    }
    const JobMap::App* known = map.find_app(app);
    if (known == nullptr) return false;
    switch (fact) {
        case Fact::AppNumber:
            return out.number(app);
        case Fact::AppSize:
        case Fact::MaxProcs:
            return out.number(known->size);
        case Fact::AppLeader:
            return out.rank(known->leader);
        case Fact::NumNodes:
            return map.placed() != 0 && out.number(map.app_nodes(app));
        case Fact::NodeList:
            return out.string(map.node_list(app));
        default:
            return false;
    }
}

bool Finder::derive_node(Fact fact, uint32_t node, Derived& out) const {
    if (node == JobMap::kNone) return false;
    if (fact == Fact::Aliases) return out.string(job_->map->aliases(node));
    return derive_of_node(fact, *job_->map, node, out);
}

bool Finder::derive_proc(Fact fact, pmix_rank_t rank, Derived& out) const {
    const JobMap& map = *job_->map;
    if (fact == Fact::Hostname || fact == Fact::NodeId) return derive_node(fact, map.node_of(rank), out);
    if (fact == Fact::Rank) return (rank < map.rank_end() || job_->procs.contains(rank)) && out.rank(rank);
    return derive_of_rank(fact, map, rank, out) || derive_from_name(fact, nspace_, rank, out);
}

}  // namespace muster::gds
