// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are described apart from any job: see resources.hpp.
#include "components/gds/hash/resources.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "framework/gds/realm.hpp"

namespace muster::gds {
namespace {

/// "node7" of "node7.cluster.org"; empty if there is no dot.
std::string_view first_label(std::string_view name) {
    return name.substr(0, name.find('.') == std::string_view::npos ? 0 : name.find('.'));
}

template <class Names>
void take_out(Names& names, std::string_view text, const ResourceNode& node) {
    const auto range = names.equal_range(text);
    // Two of its names may be equal: compares the addresses of the texts.
    const auto at = std::find_if(range.first, range.second, [&](const auto& entry) {
        return entry.second == &node && entry.first.data() == text.data();
    });
    if (at != range.second) names.erase(at);
}

template <class Numbers>
void take_out(Numbers& numbers, std::optional<uint32_t> id, const ResourceNode& node) {
    if (!id) return;
    const auto range = numbers.equal_range(*id);
    const auto at =
        std::find_if(range.first, range.second, [&](const auto& entry) { return entry.second == &node; });
    if (at != range.second) numbers.erase(at);
}

}  // namespace

bool ResourceNode::is(std::string_view host) const {
    return std::find(aliases.begin(), aliases.end(), host) != aliases.end() || same_host(name, host);
}

ResourceNode* Resources::find(std::string_view host, std::optional<uint32_t> id) const {
    if (nodes_.empty()) return nullptr;  // as mostly
    ResourceNode* first = nullptr;
    const auto consider = [&](const auto& range, const auto& fits) {
        for (auto at = range.first; at != range.second; ++at) {
            if ((first == nullptr || at->second->order < first->order) && fits(*at->second))
                first = at->second;
        }
    };
    if (!host.empty()) {
        const auto named = [&](const ResourceNode& node) { return !node.name.empty() && node.is(host); };
        consider(by_name_.equal_range(host), named);
        const std::string_view label = first_label(host);
        consider(label.empty() ? by_label_.equal_range(host) : by_name_.equal_range(label), named);
    }
    if (id) {
        consider(by_id_.equal_range(*id),
                 [&](const ResourceNode& node) { return host.empty() || node.name.empty(); });
    }
    return first;
}

void Resources::enter(ResourceNode& node) {
    if (!node.name.empty()) by_name_.emplace(node.name, &node);
    if (const std::string_view label = first_label(node.name); !label.empty())
        by_label_.emplace(label, &node);
    for (const std::string& alias : node.aliases)
        by_name_.emplace(alias, &node);
    if (node.id) by_id_.emplace(*node.id, &node);
}

void Resources::leave(const ResourceNode& node) {
    take_out(by_name_, node.name, node);
    take_out(by_label_, first_label(node.name), node);
    for (const std::string& alias : node.aliases)
        take_out(by_name_, alias, node);
    take_out(by_id_, node.id, node);
}

/// The texts stay where they are when a vector of them is moved.
void Resources::rename(ResourceNode& node, std::vector<std::string> aliases) {
    if (aliases == node.aliases) return;
    try {
        for (const std::string& alias : aliases)
            by_name_.emplace(alias, &node);
    } catch (const std::bad_alloc&) {
        for (const std::string& alias : aliases)
            take_out(by_name_, alias, node);
        throw;
    }
    for (const std::string& alias : node.aliases)
        take_out(by_name_, alias, node);
    node.aliases = std::move(aliases);
}

void Resources::renumber(ResourceNode& node, uint32_t id) {
    if (node.id == id) return;
    by_id_.emplace(id, &node);
    take_out(by_id_, node.id, node);
    node.id = id;
}

void Resources::add(ResourceNode node) {
    if (ResourceNode* known = find(node.name, node.id)) {
        if (node.id) renumber(*known, *node.id);
        if (!node.aliases.empty()) rename(*known, std::move(node.aliases));
        known->facts.reserve(known->facts.size() + node.facts.size());
        move_in(known->facts, node.facts);
        return;
    }
    node.order = next_++;
    ResourceNode& added = nodes_.emplace(node.order, std::move(node)).first->second;
    try {
        enter(added);
    } catch (const std::bad_alloc&) {
        leave(added);
        nodes_.erase(added.order);
        throw;
    }
}

namespace {

bool is_identifier(const pmix_info_t& entry) {
    const Fact which = key_info(key_view(entry.key)).fact;
    return which == Fact::Hostname || which == Fact::NodeId;
}

/// Without a value an entry means its key with any.
bool is_open(const pmix_value_t& value) {
    return value.type == PMIX_UNDEF ||
           (value.type == PMIX_STRING && (value.data.string == nullptr || *value.data.string == '\0'));
}

bool matches(InfoView entries, std::string_view key, const pmix_value_t& value) {
    return std::any_of(entries.begin(), entries.end(), [&](const pmix_info_t& entry) {
        return !is_identifier(entry) && key_view(entry.key) == key &&
               (is_open(entry.value) || value_compare(&entry.value, &value) == PMIX_EQUAL);
    });
}

/// The element itself, or one within it.
bool is_named(InfoView entries, std::string_view key, const pmix_value_t& value) {
    if (matches(entries, key, value)) return true;
    const InfoView inside = value_as_infos(&value);
    return std::any_of(inside.begin(), inside.end(), [&](const pmix_info_t& one) {
        return matches(entries, key_view(one.key), one.value);
    });
}

}  // namespace

bool names_elements(InfoView entries) {
    return !std::all_of(entries.begin(), entries.end(), is_identifier);
}

std::optional<Value> without_named(const pmix_value_t& value, InfoView entries) {
    const InfoView inside = value_as_infos(&value);
    const auto named = [&](const pmix_info_t& one) {
        return is_named(entries, key_view(one.key), one.value);
    };
    if (std::none_of(inside.begin(), inside.end(), named)) return std::nullopt;
    Info left;
    bool any = false;
    for (const pmix_info_t& one : inside) {
        if (named(one)) continue;
        any = any || !is_identifier(one);
        left.add_copy(one.key, one.value);
    }
    return any ? std::move(left).to_value() : Value();
}

bool remove_named(Table& facts, InfoView entries) {
    bool any = false;
    for (auto fact = facts.begin(); fact != facts.end();) {
        const pmix_value_t& value = *fact->second.get();
        std::optional<Value> left;
        if (is_named(entries, fact->first, value)) {
            left.emplace();
        } else {
            left = without_named(value, entries);
        }
        any = any || left.has_value();
        if (!left) {
            ++fact;
        } else if (left->type() == PMIX_UNDEF) {
            fact = facts.erase(fact);
        } else {
            fact->second = std::move(*left);
            ++fact;
        }
    }
    return any;
}

bool Resources::remove_from(ResourceNode& node, InfoView entries) {
    if (names_elements(entries)) {
        if (!remove_named(node.facts, entries)) return false;
        if (!node.facts.empty()) return true;
    }
    leave(node);
    nodes_.erase(node.order);
    return true;
}

bool Resources::remove(InfoView entries) {
    const char* host = entries.string(PMIX_HOSTNAME);
    const std::optional<uint32_t> id = entries.number<uint32_t>(PMIX_NODEID);
    if (host != nullptr || id) {
        ResourceNode* known = find(host != nullptr ? host : std::string_view(), id);
        return known != nullptr && remove_from(*known, entries);
    }
    bool any = false;
    for (auto node = nodes_.begin(); node != nodes_.end();) {
        const auto at = node++;
        any = remove_from(at->second, entries) || any;
    }
    return any;
}

}  // namespace muster::gds
