// SPDX-License-Identifier: BSD-3-Clause
// Data that the host registers apart from jobs: resources, and sessions with their nodes.
#include <algorithm>
#include <mutex>

#include "components/gds/hash/registration.hpp"
#include "framework/base/info.hpp"
#include "framework/base/words.hpp"

namespace muster::gds {
namespace {

/// A node array. `where` is for messages.
Result<ResourceNode> read_node(const pmix_info_t& entry, std::string_view where) {
    const Result<InfoView> infos = infos_of(entry, where);
    if (!infos) return infos.error();
    ResourceNode node;
    if (const char* host = (*infos).string(PMIX_HOSTNAME)) node.name = host;
    node.id = (*infos).number<uint32_t>(PMIX_NODEID);
    if (node.name.empty() && !node.id)
        return attribute_error(PMIX_ERR_BAD_PARAM, entry, where, "must contain PMIX_HOSTNAME or PMIX_NODEID");
    if (const char* aliases = (*infos).string(PMIX_HOSTNAME_ALIASES)) {
        const auto words = words_of(aliases, ',');
        node.aliases.assign(words.begin(), words.end());
    }
    for (const pmix_info_t& fact : *infos) {
        const Fact which = key_info(key_view(fact.key)).fact;
        if (which == Fact::Hostname || which == Fact::NodeId || which == Fact::Aliases) continue;
        if (auto kept = keep(node.facts, fact, where); !kept) return kept.error();
    }
    return node;
}

/// Values and nodes, outside of the store.
struct Read {
    Table facts;
    std::vector<ResourceNode> nodes;

    Result<void> add(const pmix_info_t& entry, std::string_view where) {
        if (key_info(key_view(entry.key)).fact != Fact::NodeArray) return keep(facts, entry, where);
        Result<ResourceNode> node = read_node(entry, where);
        if (!node) return node.error();
        nodes.push_back(std::move(*node));
        return {};
    }
};

/// The attributes of a session, also those in a session array.
Result<void> read_session(uint32_t id, InfoView info, bool nested, Read& read) {
    const std::string where = "session " + std::to_string(id);
    for (const pmix_info_t& entry : info) {
        const Fact fact = key_info(key_view(entry.key)).fact;
        if (fact == Fact::SessionId) {
            if (value_as_number<uint32_t>(&entry.value) != id)
                return Error{PMIX_ERR_BAD_PARAM,
                             "PMIX_SESSION_ID among the attributes of " + where + " must be its number"};
            continue;
        }
        Result<void> result;
        if (fact == Fact::SessionArray && !nested) {
            const Result<InfoView> inside = infos_of(entry, where);
            if (!inside) return inside.error();
            result = read_session(id, *inside, true, read);
        } else {
            result = read.add(entry, where);
        }
        if (!result) return result;
    }
    return {};
}

}  // namespace

Result<void> HashStore::register_resources(InfoView info) {
    try {
        Read read;
        for (const pmix_info_t& entry : info) {
            if (auto added = read.add(entry, "resources"); !added) return added;
        }
        const std::unique_lock lock(content_guard_);
        resources_.facts.reserve(resources_.facts.size() + read.facts.size());
        move_in(resources_.facts, read.facts);
        for (ResourceNode& node : read.nodes)
            resources_.add(std::move(node));
        return {};
    } catch (const std::bad_alloc&) {
        return Error{PMIX_ERR_NOMEM, "no memory for resources"};
    }
}

namespace {

/// One entry of a deregistration that is about facts, not about nodes.
bool remove_fact(Table& facts, const pmix_info_t& entry) {
    const auto at = facts.find(key_view(entry.key));
    if (at == facts.end()) return false;
    const InfoView inside = value_as_infos(&entry.value);
    if (inside.empty() || !names_elements(inside)) {
        facts.erase(at);
        return true;
    }
    std::optional<Value> left = without_named(*at->second.get(), inside);
    if (!left) return false;
    if (left->type() == PMIX_UNDEF) {
        facts.erase(at);
    } else {
        at->second = std::move(*left);
    }
    return true;
}

}  // namespace

bool HashStore::deregister_resources(InfoView info) {
    const std::unique_lock lock(content_guard_);
    bool any = false;
    for (const pmix_info_t& entry : info) {
        if (key_info(key_view(entry.key)).fact == Fact::NodeArray) {
            any = resources_.remove(value_as_infos(&entry.value)) || any;
        } else {
            any = remove_fact(resources_.facts, entry) || any;
        }
    }
    return any;
}

void HashStore::forget_resources(InfoView info) {
    const std::unique_lock lock(content_guard_);
    for (auto& [nspace, job] : jobs_) {
        for (const pmix_info_t& entry : info) {
            if (key_info(key_view(entry.key)).fact != Fact::NodeArray) {
                if (const auto at = job->facts.find(key_view(entry.key)); at != job->facts.end())
                    job->facts.erase(at);
                continue;
            }
            const InfoView inside = value_as_infos(&entry.value);
            const char* host = inside.string(PMIX_HOSTNAME);
            const std::optional<uint32_t> id = inside.number<uint32_t>(PMIX_NODEID);
            const bool named = host != nullptr || id;
            const uint32_t node = host != nullptr ? node_by_name(*job->map, host)
                                  : id            ? job->map->find_node_id(*id)
                                                  : JobMap::kNone;
            const auto forget = [&](Table& facts) {
                if (names_elements(inside)) {
                    remove_named(facts, inside);
                } else {
                    facts.clear();
                }
            };
            for (auto& [index, facts] : job->nodes) {
                if (!named || index == node) forget(facts);
            }
            if (!named || node == own_node(*job->map)) forget(job->own_node);
        }
    }
}

Result<void> HashStore::register_session(uint32_t id, InfoView info) {
    if (id == UINT32_MAX) return Error{PMIX_ERR_BAD_PARAM, "UINT32_MAX is not a session ID"};
    try {
        Read read;
        if (auto done = read_session(id, info, false, read); !done) return done;
        const std::unique_lock lock(content_guard_);
        if (sessions_.contains(id)) return {};
        if (!read.nodes.empty()) {
            try {
                Resources& nodes = session_nodes_[id];
                for (ResourceNode& node : read.nodes)
                    nodes.add(std::move(node));
                sessions_.emplace(id, std::move(read.facts));
            } catch (const std::bad_alloc&) {
                session_nodes_.erase(id);
                throw;
            }
        } else {
            sessions_.emplace(id, std::move(read.facts));
        }
        return {};
    } catch (const std::bad_alloc&) {
        return Error{PMIX_ERR_NOMEM, "no memory for a session"};
    }
}

void HashStore::deregister_session(uint32_t id) {
    const std::unique_lock lock(content_guard_);
    sessions_.erase(id);
    session_nodes_.erase(id);
}

const ResourceNode* HashStore::session_node(std::optional<uint32_t> session, std::string_view host,
                                            std::optional<uint32_t> id) const {
    if (!session || session_nodes_.empty()) return nullptr;
    const auto nodes = session_nodes_.find(*session);
    return nodes == session_nodes_.end() ? nullptr : nodes->second.node(host, id);
}

}  // namespace muster::gds
