// SPDX-License-Identifier: BSD-3-Clause
// Data of the session and its nodes apart from jobs (PMIx_server_register_resources,
// PMIx_server_deliver_inventory). A host may deliver an inventory of each node of a large machine, and each
// job asks for all of its nodes: they are found by name and number, without a linear search.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "components/gds/hash/job.hpp"

namespace muster::gds {

struct ResourceNode {
    std::string name;  ///< may be empty; then there is a number
    std::optional<uint32_t> id;
    std::vector<std::string> aliases;
    Table facts;
    uint64_t order = 0;  ///< given by Resources: of two that answer to one name the first counts

    /// Whether it answers to that name.
    bool is(std::string_view host) const;
};

/// Removes the entries' values from a table, except those that identify the node: values of the same key and
/// value (any value for an empty one), arrays with such an element, and such elements of the elements of
/// arrays. Returns whether anything was removed.
bool remove_named(Table& facts, InfoView entries);
/// Whether an array names an element of its subject.
bool names_elements(InfoView entries);
/// The same of the elements of one value: nothing if nothing was removed, an undefined one where nothing
/// is left.
std::optional<Value> without_named(const pmix_value_t& value, InfoView entries);

/// Not safe for threads: HashStore::content_guard_ is around it.
class Resources {
  public:
    Resources() = default;
    Resources(const Resources&) = delete;
    Resources& operator=(const Resources&) = delete;

    Table facts;

    bool no_nodes() const { return nodes_.empty(); }
    /// The first node of that name or alias; by number if the node or the request has no name.
    const ResourceNode* node(std::string_view host, std::optional<uint32_t> id) const {
        return find(host, id);
    }
    /// Adds a node, or new data to a known node. If it throws std::bad_alloc, some data may be missing,
    /// and a new node is not added.
    void add(ResourceNode node);
    /// Removes the entries' values of a node, or of all nodes if no entry names a node; the whole node if
    /// they name nothing else, or if nothing else is left. Returns whether anything was removed.
    bool remove(InfoView entries);

  private:
    /// By texts owned by the nodes.
    using Names = std::unordered_multimap<std::string_view, ResourceNode*, TextHash>;

    bool remove_from(ResourceNode& node, InfoView entries);
    ResourceNode* find(std::string_view host, std::optional<uint32_t> id) const;
    void enter(ResourceNode& node);
    void leave(const ResourceNode& node);
    void rename(ResourceNode& node, std::vector<std::string> aliases);
    void renumber(ResourceNode& node, uint32_t id);

    std::map<uint64_t, ResourceNode> nodes_;  // by their order; they stay where they are
    uint64_t next_ = 0;
    Names by_name_;   // names and aliases
    Names by_label_;  // the first labels of names that have more
    std::unordered_multimap<uint32_t, ResourceNode*> by_id_;
};

}  // namespace muster::gds
