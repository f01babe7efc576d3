// SPDX-License-Identifier: BSD-3-Clause
// gds/hash: posting, forgetting, and the simple questions.
#include "components/gds/hash/hash_store.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string_view>

#include "components/gds/hash/find.hpp"
#include "components/gds/hash/registration.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/own_component.hpp"
#include "framework/base/words.hpp"

namespace muster::gds {

const Job* HashStore::job(std::string_view nspace) const {
    const auto at = jobs_.find(nspace);
    return at == jobs_.end() ? nullptr : at->second.get();
}

bool HashStore::is_own_host(std::string_view host) const {
    if (same_host(context_.hostname, host)) return true;
    return std::find(context_.aliases.begin(), context_.aliases.end(), host) != context_.aliases.end();
}

uint32_t HashStore::node_by_name(const JobMap& map, std::string_view host) const {
    const uint32_t node = map.find_node(host);
    if (node != JobMap::kNone) return node;
    if (is_own_host(host)) return own_node(map);
    const ResourceNode* known = resources_.node(host, {});
    return known != nullptr && known->name != host ? map.find_node(known->name) : JobMap::kNone;
}

uint32_t HashStore::own_node(const JobMap& map) const {
    uint32_t node = map.find_node(context_.hostname);
    for (size_t i = 0; node == JobMap::kNone && i < context_.aliases.size(); ++i)
        node = map.find_node(context_.aliases[i]);
    if (node == JobMap::kNone && context_.hostname.empty() && context_.nodeid)
        node = map.find_node_id(*context_.nodeid);
    return node;
}

std::optional<uint32_t> HashStore::size_of(const Job& job) const {
    if (const Value* size = gds::find(job.facts, PMIX_JOB_SIZE))
        return value_as_number<uint32_t>(size->get());
    if (job.map->placed() != 0) return job.map->placed();
    if (job.map->rank_end() != 0) return job.map->rank_end();
    return std::nullopt;
}

void HashStore::set_context(StoreContext context) {
    const std::unique_lock lock(content_guard_);
    context_ = std::move(context);
}

Result<void> HashStore::register_job(const char* nspace, int32_t nlocalprocs, InfoView info) {
    if (nspace == nullptr) return Error{PMIX_ERR_BAD_PARAM, "a namespace must have a name"};
    if (nlocalprocs < -1)
        return Error{PMIX_ERR_BAD_PARAM,
                     "the number of local processes is less than -1 (which is an update)"};
    try {
        Registration registration(*this, Source::Host);
        std::optional<uint32_t> local_procs;
        if (nlocalprocs >= 0) local_procs = static_cast<uint32_t>(nlocalprocs);
        Result<void> result = registration.read(nspace_view(nspace), info, local_procs);
        return result ? registration.commit() : result;
    } catch (const std::bad_alloc&) {
        return Error{PMIX_ERR_NOMEM, "no memory for the data of a namespace"};
    }
}

namespace {

/// Per value.
constexpr size_t kMostQualifiers = 1024;
/// Values that differ in qualifiers of types alone that have no hash here: each is compared with all of them.
constexpr size_t kMostAlike = 4096;

/// Equal for what value_compare() finds equal.
size_t hash_of(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_STRING:
            return value.data.string == nullptr ? 0 : TextHash()(value.data.string);
        case PMIX_PROC:
            if (value.data.proc == nullptr) return 0;
            return KeyedHash()
                .add(nspace_view(value.data.proc->nspace))
                .add(uint64_t{value.data.proc->rank})
                .end();
        case PMIX_FLOAT:
            return std::hash<float>()(value.data.fval);
        case PMIX_DOUBLE:
            return std::hash<double>()(value.data.dval);
        case PMIX_BOOL:
            return value.data.flag ? 1 : 0;
        default:
            break;
    }
    if (const auto number = value_as_number<int64_t>(&value)) return static_cast<size_t>(*number);
    return value_as_number<uint64_t>(&value).value_or(0);
}

}  // namespace

size_t hash_of(std::string_view key, InfoView qualifiers, bool marked) {
    size_t hash = TextHash()(key);
    for (const pmix_info_t& one : qualifiers) {
        if (marked && (flags_of(one) & PMIX_INFO_QUALIFIER) == 0) continue;
        hash += KeyedHash().add(key_view(one.key)).add(uint64_t{hash_of(one.value)}).end();
    }
    return hash;
}

pmix_status_t HashStore::post(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                              const pmix_value_t& value) {
    const std::string_view nspace = nspace_view(proc.nspace);
    const std::string_view name = key_view(key);
    if (nspace.empty() || name.empty()) return PMIX_ERR_BAD_PARAM;
    try {
        if (proc.rank == PMIX_RANK_WILDCARD) {
            pmix_info_t info = {};
            key_load(info.key, name);
            info.value = value;  // borrowed: copied by the registration
            Registration registration(*this, Source::Peer);
            Result<void> result = registration.read(nspace, {&info, 1});
            if (result) result = registration.commit();
            return result.status();
        }
        if (proc.rank >= PMIX_RANK_VALID) return PMIX_ERR_BAD_PARAM;

        const bool local = scope != PMIX_REMOTE && scope != PMIX_INTERNAL;
        const bool remote = scope != PMIX_LOCAL && scope != PMIX_INTERNAL;
        std::optional<Qualified> qualified;
        std::shared_ptr<const Value> copy;
        if (name == PMIX_QUALIFIED_VALUE) {
            Result<Qualified> read = read_qualified(value);
            if (!read) return read.status();
            qualified = std::move(*read);
            qualified->local = local;
            qualified->remote = remote;
        } else {
            pmix_value_t raw;
            const pmix_status_t status = value_copy(&raw, &value);
            if (status != PMIX_SUCCESS) return status;
            copy = std::make_shared<const Value>(Value::adopt(raw));
        }

        const std::unique_lock lock(content_guard_);
        auto at = jobs_.find(nspace);
        if (at == jobs_.end()) at = jobs_.emplace(nspace, std::make_unique<Job>()).first;
        PostedTable& table = at->second->posted[proc.rank];
        if (qualified) {
            if (qualified->qualifiers.size() > kMostQualifiers) return PMIX_ERR_OUT_OF_RESOURCE;
            const auto hash = [](const Qualified& one) { return hash_of(one.key, one.qualifiers, false); };
            for (; table.placed < table.qualified.size(); ++table.placed)
                table.places.emplace(hash(table.qualified[table.placed]), table.placed);
            const auto [first, last] = table.places.equal_range(hash(*qualified));
            size_t alike = 0;
            for (auto place = first; place != last; ++place, ++alike) {
                Qualified& known = table.qualified[place->second];
                if (known.key != qualified->key || !same_qualifiers(known.qualifiers, qualified->qualifiers))
                    continue;
                qualified->local = qualified->local || known.local;
                qualified->remote = qualified->remote || known.remote;
                known = std::move(*qualified);
                return PMIX_SUCCESS;
            }
            if (alike >= kMostAlike) return PMIX_ERR_OUT_OF_RESOURCE;
            table.qualified.push_back(std::move(*qualified));
            return PMIX_SUCCESS;
        }
        auto entry = table.keys.find(name);
        if (entry == table.keys.end()) entry = table.keys.emplace(name, Posted{}).first;
        Posted& posted = entry->second;
        const auto same = [&copy](const std::shared_ptr<const Value>& other) {
            return other && value_compare(other->get(), copy->get()) == PMIX_EQUAL;
        };
        // A commit repeats all values, and global ones in two parts: an equal value is kept and shared, so
        // that pointers to it stay valid.
        if (same(posted.local)) {
            copy = posted.local;
        } else if (same(posted.remote)) {
            copy = posted.remote;
        }
        if (scope == PMIX_INTERNAL && !same(posted.internal)) posted.internal = copy;
        if (local) posted.local = copy;
        if (remote) posted.remote = copy;
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

namespace {

bool remove_qualified(Qualified& one, pmix_scope_t scope) {
    if (one.value == nullptr) return false;
    const bool kept = !one.local && !one.remote;  // PMIX_INTERNAL
    if (scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_GLOBAL) one.local = false;
    if (scope == PMIX_DEL_REMOTE || scope == PMIX_DEL_GLOBAL) one.remote = false;
    if (one.local || one.remote || kept != (scope == PMIX_DEL_INTERNAL)) return false;
    one.value.reset();
    return true;
}

}  // namespace

bool HashStore::remove(const pmix_proc_t& proc, pmix_scope_t scope, const char* key) {
    const std::string_view name = key_view(key);
    std::shared_ptr<const Value> local, remote, internal;  // destroyed without the lock
    const std::unique_lock lock(content_guard_);
    const auto job = jobs_.find(nspace_view(proc.nspace));
    if (job == jobs_.end()) return false;
    if (proc.rank == PMIX_RANK_WILDCARD) {
        Table& facts = job->second->facts;
        const auto at = facts.find(name);
        if (at == facts.end()) return false;
        facts.erase(at);
        return true;
    }
    const auto posted = job->second->posted.find(proc.rank);
    if (posted == job->second->posted.end()) return false;
    PostedTable& table = posted->second;
    bool any = false;
    for (Qualified& one : table.qualified)
        any = (one.key == name && remove_qualified(one, scope)) || any;
    const auto at = table.keys.find(name);
    if (at == table.keys.end()) return any;
    if (scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_GLOBAL) local = std::move(at->second.local);
    if (scope == PMIX_DEL_REMOTE || scope == PMIX_DEL_GLOBAL) remote = std::move(at->second.remote);
    if (scope == PMIX_DEL_INTERNAL) internal = std::move(at->second.internal);
    const Posted& left = at->second;
    if (!left.local && !left.remote && !left.internal) table.keys.erase(at);
    return any || local || remote || internal;
}

void HashStore::deregister(const char* nspace) {
    decltype(jobs_)::node_type gone;  // destroyed without the lock
    const std::unique_lock lock(content_guard_);
    if (const auto at = jobs_.find(nspace_view(nspace)); at != jobs_.end()) gone = jobs_.extract(at);
}

void HashStore::forget(const pmix_proc_t& proc) {
    const std::unique_lock lock(content_guard_);
    const auto at = jobs_.find(nspace_view(proc.nspace));
    if (at == jobs_.end()) return;
    Job& job = *at->second;
    if (proc.rank == PMIX_RANK_WILDCARD) {
        // Job level: data posted by processes stays.
        Job fresh;
        fresh.posted = std::move(job.posted);
        fresh.pins = std::move(job.pins);
        job = std::move(fresh);
        return;
    }
    job.posted.erase(proc.rank);
    job.procs.erase(proc.rank);
    if (job.empty()) jobs_.erase(at);
}

pmix_status_t HashStore::find(const Lookup& lookup, const Visitor& visit) const {
    try {
        const std::string_view nspace = nspace_view(lookup.nspace);
        const std::shared_lock lock(content_guard_);
        return Finder(*this, nspace, job(nspace)).find(lookup, visit);
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

pmix_status_t HashStore::find_posted(const pmix_proc_t& proc, View view, const Visitor& visit) const {
    const std::shared_lock lock(content_guard_);
    const Job* known = job(nspace_view(proc.nspace));
    if (known == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
    const auto at = known->posted.find(proc.rank);
    if (at == known->posted.end()) return PMIX_ERR_NOT_FOUND;
    bool any = false;
    const auto give = [&](const char* key, const std::shared_ptr<const Value>& value) {
        if (!value) return;
        any = true;
        visit(Found{key, *value->get(), true});
    };
    for (const auto& [key, posted] : at->second.keys) {
        if (view != View::Remote) give(key.c_str(), posted.local);
        if (view == View::Remote || (view == View::All && posted.remote != posted.local))
            give(key.c_str(), posted.remote);
        if (view == View::All) give(key.c_str(), posted.internal);
    }
    for (const Qualified& one : at->second.qualified) {
        if (one.value == nullptr) continue;
        if ((view == View::Local && !one.local) || (view == View::Remote && !one.remote)) continue;
        const Value array = one.as_given();
        any = true;
        visit(Found{PMIX_QUALIFIED_VALUE, *array.get(), false});
    }
    return any ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

bool HashStore::knows(const char* nspace) const {
    const std::shared_lock lock(content_guard_);
    return job(nspace_view(nspace)) != nullptr;
}

std::optional<uint32_t> HashStore::job_size(const char* nspace) const {
    const std::shared_lock lock(content_guard_);
    const Job* known = job(nspace_view(nspace));
    return known != nullptr ? size_of(*known) : std::nullopt;
}

std::optional<uint32_t> HashStore::node_of(const char* nspace, pmix_rank_t rank) const {
    const std::shared_lock lock(content_guard_);
    const Job* known = job(nspace_view(nspace));
    if (known == nullptr) return std::nullopt;
    const uint32_t node = known->map->node_of(rank);
    return node != JobMap::kNone ? std::optional(node) : std::nullopt;
}

std::vector<pmix_rank_t> HashStore::local_ranks(const char* nspace) const {
    const std::shared_lock lock(content_guard_);
    const Job* known = job(nspace_view(nspace));
    const uint32_t node = known != nullptr ? own_node(*known->map) : JobMap::kNone;
    if (node == JobMap::kNone) return {};
    const auto ranks = known->map->ranks_on(node);
    return {ranks.begin(), ranks.end()};
}

pmix_status_t HashStore::peers_on(const char* node, const char* nspace, std::vector<pmix_proc_t>& out) const {
    const std::shared_lock lock(content_guard_);
    bool known_node = node == nullptr || is_own_host(node) || resources_.node(node, {}) != nullptr;
    const auto add = [&](const std::string& of, const Job& job) {
        const auto add_node = [&](uint32_t at) {
            for (const pmix_rank_t rank : job.map->ranks_on(at))
                out.push_back(make_proc(of, rank));
        };
        if (node == nullptr) {
            for (uint32_t at = 0; at < job.map->node_count(); ++at)
                add_node(at);
            return;
        }
        const uint32_t at = node_by_name(*job.map, node);
        if (at == JobMap::kNone) return;
        known_node = true;
        add_node(at);
    };
    if (nspace != nullptr && *nspace != '\0') {
        const auto at = jobs_.find(nspace_view(nspace));
        if (at == jobs_.end()) return PMIX_ERR_INVALID_NAMESPACE;
        // A node of another job only: known, and empty.
        for (auto other = jobs_.begin(); !known_node && other != jobs_.end(); ++other) {
            known_node = node_by_name(*other->second->map, node) != JobMap::kNone;
        }
        add(at->first, *at->second);
    } else {
        for (const auto& [of, job] : jobs_)
            add(of, *job);
    }
    return known_node ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

pmix_status_t HashStore::node_list_of(const char* nspace, std::string& list) const {
    const std::shared_lock lock(content_guard_);
    const size_t before = list.size();
    if (nspace != nullptr && *nspace != '\0') {
        const Job* known = job(nspace_view(nspace));
        if (known == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        known->map->append_nodes(list);
    } else if (jobs_.size() == 1) {
        jobs_.begin()->second->map->append_nodes(list);
    } else {
        TextSet seen;
        for (const auto& [of, job] : jobs_)
            job->map->append_nodes(list, [&](std::string_view name) { return seen.emplace(name).second; });
    }
    return list.size() == before ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
}

std::vector<std::string> HashStore::namespaces() const {
    const std::shared_lock lock(content_guard_);
    std::vector<std::string> out;
    for (const auto& [nspace, job] : jobs_)
        out.push_back(nspace);
    return out;
}

}  // namespace muster::gds

static std::unique_ptr<muster::Gds> make(muster::sdk::Host) {
    return std::make_unique<muster::gds::HashStore>();
}

MUSTER_COMPONENT(gds, hash) {
    static const muster_component_t descriptor =
        muster::object_component<make>("gds", 1, muster::own_component("hash", 10));
    return &descriptor;
}
