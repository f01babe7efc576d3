// SPDX-License-Identifier: BSD-3-Clause
// Look-ups by the Standard's rules of realms.
#include "components/gds/hash/find.hpp"

#include <algorithm>

namespace muster::gds {

// --- giving ---

bool Finder::give(const char* key, const pmix_value_t& value, bool stable) {
    found_ = true;
    (*visit_)(Found{key, value, stable});
    return true;
}

bool Finder::give_stored(const Table& table, std::string_view key) {
    const auto at = table.find(key);
    return at != table.end() && give(at->first.c_str(), *at->second.get(), true);
}

bool Finder::give_derived(const KeyInfo& info, const Derived& derived, char realm, uint32_t of) {
    if (!lookup_->pin || job_ == nullptr) return give(info.key.data(), derived.value, false);
    std::string name(info.key);
    name += realm;
    name += std::to_string(of);
    const MutexLock lock(store_.pins_guard_);
    if (!job_->pins) job_->pins = std::make_unique<Job::Pins>();
    const Value*& pinned = job_->pins->latest[name];
    if (pinned == nullptr || value_compare(pinned->get(), &derived.value) != PMIX_EQUAL) {
        std::optional<Value> copy = Value::copy_of(&derived.value);
        if (!copy) return false;
        pinned = &job_->pins->values.emplace_back(std::move(*copy));
    }
    return give(info.key.data(), *pinned->get(), true);
}

void Finder::give_all(const Table* table) {
    if (table == nullptr) return;
    for (const auto& [key, value] : *table)
        give(key.c_str(), *value.get(), true);
}

/// Gives the values of these facts that derive(fact, derived) finds, but for those in the tables.
template <class Derive>
void Finder::give_derived_of(std::span<const Fact> facts, std::initializer_list<const Table*> given,
                             char realm, uint32_t of, Derive&& derive) {
    for (const Fact fact : facts) {
        const KeyInfo& info = key_info(key_of(fact));
        const auto has_key = [&](const Table* table) {
            return table != nullptr && table->contains(info.key);
        };
        Derived derived;
        if (std::none_of(given.begin(), given.end(), has_key) && derive(fact, derived))
            give_derived(info, derived, realm, of);
    }
}

// --- realms ---

Finder::NodeTarget Finder::target_node(bool of_rank) const {
    static const JobMap no_map;
    const JobMap& map = job_ != nullptr ? *job_->map : no_map;
    NodeTarget target;
    if (lookup_->nodeid || lookup_->hostname != nullptr) {
        if (lookup_->nodeid) {
            target.index = map.find_node_id(*lookup_->nodeid);
            target.own = store_.context_.nodeid == lookup_->nodeid;
            name_resource(target, {}, lookup_->nodeid);
        } else {
            target.index = store_.node_by_name(map, lookup_->hostname);
            target.own = store_.is_own_host(lookup_->hostname);
            name_resource(target, lookup_->hostname, {});
        }
        target.own = target.own || (target.index != JobMap::kNone && target.index == store_.own_node(map));
    } else if (of_rank && valid_rank() && map.node_of(lookup_->rank) != JobMap::kNone) {
        target.index = map.node_of(lookup_->rank);
        target.own = target.index == store_.own_node(map);
    } else if (job_ != nullptr || lookup_->nspace == nullptr || *lookup_->nspace == '\0') {
        target.index = store_.own_node(map);
        target.own = true;
    }
    // The node of a process of an unknown job is unknown: it is not this node.
    const bool any = !store_.resources_.no_nodes() || !store_.session_nodes_.empty();
    if (target.resource == nullptr && target.in_session == nullptr && any) {
        if (target.index != JobMap::kNone) {
            name_resource(target, map.node_name(target.index), map.node_id(target.index));
        } else if (target.own) {
            name_resource(target, store_.context_.hostname, store_.context_.nodeid);
        }
    }
    return target;
}

void Finder::name_resource(NodeTarget& target, std::string_view host, std::optional<uint32_t> id) const {
    target.resource = store_.resources_.node(host, id);
    std::optional<uint32_t> session = lookup_->session_id;
    if (!session && job_ != nullptr) session = job_->session_id;
    target.in_session = store_.session_node(session, host, id);
}

uint32_t Finder::target_app() const {
    if (lookup_->appnum) return *lookup_->appnum;
    if (valid_rank()) return job_->map->appnum(lookup_->rank).value_or(0);
    return 0;
}

bool Finder::session(const KeyInfo& info) {
    std::optional<uint32_t> id = lookup_->session_id;
    if (!id && job_ != nullptr) id = job_->session_id;
    if (id) {
        const Table* known = table_in(store_.sessions_, *id);
        if (give_from(known)) return true;
        if (known != nullptr && info.fact == Fact::SessionId && lookup_->session_id)
            return give(info.key.data(), *Value::from(*id).get(), false);
        // Another session's: data of this job is not an answer.
        if (job_ == nullptr || (lookup_->session_id && job_->session_id != lookup_->session_id)) return false;
    }
    if (job_ != nullptr && give_stored(job_->session, key_)) return true;
    if (give_stored(store_.resources_.facts, key_)) return true;
    Derived derived;
    return job_ != nullptr && derive_session(info.fact, derived) && give_derived(info, derived, 's', 0);
}

bool Finder::job(const KeyInfo& info) {
    if (job_ == nullptr) return give_stored(store_.resources_.facts, key_);
    if (give_stored(job_->facts, key_)) return true;
    Derived derived;
    if (derive_job(info.fact, derived)) return give_derived(info, derived, 'j', 0);
    return give_stored(store_.resources_.facts, key_);
}

bool Finder::app(const KeyInfo& info) {
    if (job_ == nullptr) return false;
    const uint32_t app = target_app();
    // Data that the host gave without an application belongs to the only one.
    if (give_from(table_in(job_->apps, app))) return true;
    if (info.fact == Fact::LocalSize || info.fact == Fact::LocalPeers || info.fact == Fact::LocalLeader) {
        const uint32_t node = target_node(false).index;
        if (node == JobMap::kNone) return false;
        Derived derived;
        uint32_t count = 0;
        for (const pmix_rank_t rank : job_->map->ranks_on(node)) {
            if (job_->map->appnum(rank) != app) continue;
            if (count++ == 0 && info.fact == Fact::LocalLeader) derived.rank(rank);
        }
        if (info.fact == Fact::LocalSize) derived.number(count);
        if (info.fact == Fact::LocalPeers) derived.string(job_->map->peers(node, app));
        return derived.value.type != PMIX_UNDEF && give_derived(info, derived, 'a', app);
    }
    if (job_->map->single_app() && job_->apps.size() <= 1 && app == 0 && give_stored(job_->facts, key_))
        return true;
    Derived derived;
    return derive_app(info.fact, app, derived) && give_derived(info, derived, 'a', app);
}

bool Finder::node(const KeyInfo& info, bool of_rank) {
    const NodeTarget target = target_node(of_rank);
    Derived derived;
    std::vector<pmix_proc_t> procs;  // where the value is a list of them
    pmix_data_array_t array = {};
    if (job_ != nullptr) {
        if (target.index != JobMap::kNone && give_from(table_in(job_->nodes, target.index))) return true;
        if (target.own && give_stored(job_->own_node, key_)) return true;
        if (derive_node(info.fact, target.index, derived))
            return give_derived(info, derived, 'n', target.index);
    }
    for (const ResourceNode* each : {target.resource, target.in_session}) {
        if (each != nullptr && give_stored(each->facts, key_)) return true;
    }
    // Each of the two may carry the name.
    const ResourceNode* const described = target.resource != nullptr ? target.resource : target.in_session;
    // The node itself, whether or not the job has a part in it.
    const auto host = [&]() -> std::string {
        if (job_ != nullptr && target.index != JobMap::kNone) return job_->map->node_name(target.index);
        if (target.own) return store_.context_.hostname;
        if (described != nullptr) return described->name;
        return lookup_->hostname != nullptr ? lookup_->hostname : "";
    };
    switch (info.fact) {
        case Fact::Hostname:
            if ((target.own || described != nullptr) && derived.string(host())) break;
            return false;
        case Fact::NodeId:
            if (target.own && derived.number(store_.context_.nodeid)) break;
            if (described != nullptr && derived.number(described->id)) break;
            return false;
        case Fact::Aliases: {
            const std::vector<std::string>* aliases = target.own             ? &store_.context_.aliases
                                                      : described != nullptr ? &described->aliases
                                                                             : nullptr;
            std::string text;
            for (size_t i = 0; aliases != nullptr && i < aliases->size(); ++i)
                text += (i != 0 ? "," : "") + (*aliases)[i];
            if (derived.string(std::move(text))) break;
            return false;
        }
        case Fact::LocalSize:
            if (job_ != nullptr && target.own && job_->map->placed() == 0 &&
                derived.number(job_->local_procs))
                break;
            return false;
        case Fact::LocalProcs:
        case Fact::NodeSize: {
            if (host().empty()) return false;
            for (const auto& [nspace, other] : store_.jobs_) {
                const uint32_t node = store_.node_by_name(*other->map, host());
                if (node == JobMap::kNone) continue;
                for (const pmix_rank_t rank : other->map->ranks_on(node))
                    procs.push_back(make_proc(nspace, rank));
            }
            if (procs.empty()) return false;
            if (info.fact == Fact::NodeSize) {
                derived.number(static_cast<uint32_t>(procs.size()));
            } else {
                array = {PMIX_PROC, procs.size(), procs.data()};
                derived.value.type = PMIX_DATA_ARRAY;
                derived.value.data.darray = &array;
            }
            break;
        }
        default:
            // Given at job level by hosts that do not distinguish realms.
            return (job_ != nullptr && give_stored(job_->facts, key_)) ||
                   give_stored(store_.resources_.facts, key_);
    }
    return give_derived(info, derived, 'n', target.index);
}

bool Finder::host_proc() {
    return job_ != nullptr && give_from(table_in(job_->procs, lookup_->rank));
}

bool Finder::derived_proc(const KeyInfo& info) {
    Derived derived;
    if (derive_proc(info.fact, lookup_->rank, derived))
        return give_derived(info, derived, 'p', lookup_->rank);
    return info.fact == Fact::SessionId && derive_session(info.fact, derived) &&
           give_derived(info, derived, 's', 0);
}

/// A key that a process posted, or that the host gave to processes.
void Finder::find_unreserved() {
    if (job_ == nullptr) return;
    if (valid_rank()) {
        if (!host_proc()) posted();
    } else if (!give_stored(job_->facts, key_) && !give_stored(store_.resources_.facts, key_)) {
        posted();
    }
}

// --- posted data ---

bool Finder::give_posted(const Posted& posted, const char* key) {
    const auto value = [&]() -> const Value* {
        switch (lookup_->scope) {
            case PMIX_LOCAL:
                return posted.local.get();
            case PMIX_REMOTE:
                return posted.remote.get();
            case PMIX_INTERNAL:
                return posted.internal.get();
            default:
                if (posted.internal) return posted.internal.get();
                return posted.local ? posted.local.get() : posted.remote.get();
        }
    }();
    outside_scope_ = outside_scope_ || value == nullptr;
    return value != nullptr && give(key, *value->get(), true);
}

bool Finder::posted() {
    if (job_ == nullptr) return false;
    if (valid_rank()) {
        const auto table = job_->posted.find(lookup_->rank);
        if (table == job_->posted.end()) return false;
        const auto at = table->second.keys.find(key_);
        return at != table->second.keys.end() && give_posted(at->second, at->first.c_str());
    }
    if (lookup_->rank != PMIX_RANK_UNDEF) return false;
    for (const auto& [rank, table] : job_->posted) {
        const auto at = table.keys.find(key_);
        if (at != table.keys.end() && give_posted(at->second, at->first.c_str())) return true;
    }
    return false;
}

namespace {
bool is_marked(const pmix_info_t& entry) {
    return (entry.flags & PMIX_INFO_QUALIFIER) != 0;
}

bool any_marked(InfoView directives) {
    return std::any_of(directives.begin(), directives.end(), is_marked);
}

/// Whether the qualifiers among the directives of a call are those of a value: entries that are marked, or
/// all where none is.
bool asked_for(InfoView directives, InfoView qualifiers) {
    if (!any_marked(directives)) return same_qualifiers(directives, qualifiers);
    size_t count = 0;
    for (const pmix_info_t& entry : directives) {
        if (!is_marked(entry)) continue;
        const pmix_info_t* other = qualifiers.find(entry.key);
        if (other == nullptr || value_compare(&entry.value, &other->value) != PMIX_EQUAL) return false;
        ++count;
    }
    return count == qualifiers.size;
}
}  // namespace

bool Finder::find_qualified() {
    if (job_ == nullptr) return false;
    const auto fits = [&](const Qualified& one) {
        if (one.key != key_ || one.value == nullptr || !asked_for(lookup_->qualifiers, one.qualifiers))
            return false;
        const bool seen =
            (lookup_->scope != PMIX_LOCAL || one.local) && (lookup_->scope != PMIX_REMOTE || one.remote);
        if (!seen) outside_scope_ = true;
        return seen && give(one.key.c_str(), *one.value->get(), true);
    };
    if (!valid_rank()) return std::any_of(job_->qualified.begin(), job_->qualified.end(), fits);
    const auto posted = job_->posted.find(lookup_->rank);
    if (posted == job_->posted.end()) return false;
    const PostedTable& table = posted->second;
    // A process may have posted any number of them.
    const InfoView wanted = lookup_->qualifiers;
    const auto [first, last] = table.places.equal_range(hash_of(key_, wanted, any_marked(wanted)));
    for (auto place = first; place != last; ++place) {
        if (fits(table.qualified[place->second])) return true;
    }
    return std::any_of(table.qualified.begin() + static_cast<ptrdiff_t>(table.placed), table.qualified.end(),
                       fits);
}

// --- everything ---

void Finder::everything_of_rank() {
    const pmix_rank_t rank = lookup_->rank;
    const Table* facts = table_in(job_->procs, rank);
    give_all(facts);
    give_derived_of(kDerivedProcFacts, {facts}, 'p', rank,
                    [&](Fact fact, Derived& out) { return derive_proc(fact, rank, out); });
    const auto posted = job_->posted.find(lookup_->rank);
    if (posted == job_->posted.end()) return;
    for (const auto& [key, value] : posted->second.keys)
        give_posted(value, key.c_str());
}

template <class Fill>
void Finder::array_of(const char* key, Fill&& fill) {
    Info entries;
    fill(entries);
    if (entries.empty()) return;
    const Value array = std::move(entries).to_value();
    give(key, *array.get(), false);
}

void Finder::everything_of_job() {
    give_all(&job_->facts);
    give_derived_of(kDerivedJobFacts, {&job_->facts}, 'j', 0,
                    [&](Fact fact, Derived& out) { return derive_job(fact, out); });
    for (const auto& [key, value] : store_.resources_.facts) {
        if (!job_->facts.contains(key)) give(key.c_str(), *value.get(), true);
    }
    const auto copy = [](Info& entries, const Table& table) {
        for (const auto& [key, value] : table)
            entries.add_copy(key.c_str(), *value.get());
    };
    array_of(PMIX_SESSION_INFO_ARRAY, [&](Info& entries) {
        entries.add(PMIX_SESSION_ID, job_->session_id.value_or(UINT32_MAX));
        copy(entries, job_->session);
        const Table* session = job_->session_id ? table_in(store_.sessions_, *job_->session_id) : nullptr;
        if (session != nullptr) copy(entries, *session);
    });
    const uint32_t own = store_.own_node(*job_->map);
    for (uint32_t node = 0; node < job_->map->node_count(); ++node) {
        array_of(PMIX_NODE_INFO_ARRAY, [&](Info& entries) {
            const Table* table = table_in(job_->nodes, node);
            for (const Fact fact : kEveryNodeFact) {
                Derived derived;
                if (table != nullptr && table->contains(key_of(fact))) continue;
                if (derive_node(fact, node, derived)) entries.add_copy(key_of(fact), derived.value);
            }
            if (table != nullptr) copy(entries, *table);
            if (node == own) copy(entries, job_->own_node);
        });
    }
    for (const auto& [number, table] : job_->apps) {
        array_of(PMIX_APP_INFO_ARRAY, [&, app = number, facts = &table](Info& entries) {
            entries.add(PMIX_APPNUM, app);
            copy(entries, *facts);
        });
    }
}

void Finder::find_everything() {
    using Realm = Lookup::Realm;
    if (job_ == nullptr) return;
    switch (lookup_->realm) {
        case Realm::Session: {
            const std::optional<uint32_t> id = lookup_->session_id ? lookup_->session_id : job_->session_id;
            const Table* session = id ? table_in(store_.sessions_, *id) : nullptr;
            Derived number;
            if ((session != nullptr || id == job_->session_id) && number.number(id))
                give(PMIX_SESSION_ID, number.value, false);
            give_all(session);
            if (!lookup_->session_id || lookup_->session_id == job_->session_id) give_all(&job_->session);
            return;
        }
        case Realm::Node: {
            const NodeTarget target = target_node(true);
            const Table* table = table_in(job_->nodes, target.index);
            const Table* own = target.own ? &job_->own_node : nullptr;
            give_all(table);
            give_all(own);
            if (target.resource != nullptr) give_all(&target.resource->facts);
            if (target.in_session != nullptr) give_all(&target.in_session->facts);
            give_derived_of(kEveryNodeFact, {table, own}, 'n', target.index,
                            [&](Fact fact, Derived& out) { return derive_node(fact, target.index, out); });
            return;
        }
        case Realm::App: {
            const uint32_t app = target_app();
            const Table* table = table_in(job_->apps, app);
            give_all(table);
            give_derived_of(kEveryAppFact, {table}, 'a', app,
                            [&](Fact fact, Derived& out) { return derive_app(fact, app, out); });
            return;
        }
        case Realm::Job:
            everything_of_job();
            return;
        case Realm::Auto:
        case Realm::Proc:
            if (valid_rank()) {
                everything_of_rank();
            } else {
                everything_of_job();
            }
            return;
    }
}

pmix_status_t Finder::find(const Lookup& lookup, const Visitor& visit) {
    lookup_ = &lookup;
    visit_ = &visit;
    if (lookup.key == nullptr) {
        find_everything();
    } else {
        key_ = key_view(lookup.key);
        const KeyInfo& info = key_info(key_);
        const bool of_proc = lookup.realm == Lookup::Realm::Proc || lookup.realm == Lookup::Realm::Auto;
        if (!lookup.qualifiers.empty()) {
            find_qualified();
        } else if (of_proc && !key_is_reserved(lookup.key)) {
            find_unreserved();
        } else {
            reserved(info);
        }
    }
    if (found_) return PMIX_SUCCESS;
    if (outside_scope_) return PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    return job_ == nullptr ? PMIX_ERR_INVALID_NAMESPACE : PMIX_ERR_NOT_FOUND;
}

}  // namespace muster::gds
